//! The files inside the program were parsed at build time (`build.rs` writes these bytes).
//!
//! For each text its tree: its length; every string once; the nodes, parents first. All numbers are LEB128.

use std::sync::Arc;

use crate::problem::Place;
use crate::workflow::builtin::shipped;
use crate::yaml::{Node, Value};

static TREES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/trees"));

/// The tree of this very text, if it is one that ships; it may have come into a file of another name.
pub(crate) fn tree(file: &str, text: &str) -> Option<Node> {
    let index = shipped().position(|builtin| builtin.text == text)?;
    let mut reader = PackedReader { bytes: TREES, file: Arc::from(file), strings: Vec::new() };
    for _ in 0..index {
        let length = reader.number()?;
        reader.take(length)?;
    }
    let _length = reader.number()?;
    reader.strings = reader.list(PackedReader::string)?;
    reader.node()
}

struct PackedReader {
    bytes: &'static [u8],
    file: Arc<str>,
    strings: Vec<Arc<str>>,
}

impl PackedReader {
    fn take(&mut self, length: u32) -> Option<&'static [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(usize::try_from(length).ok()?)?;
        self.bytes = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        let mut number = 0;
        for shift in [0, 7, 14, 21, 28] {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn list<T>(&mut self, one: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = usize::try_from(self.number()?).ok()?;
        // A list grown by itself has room to spare, which would be most of the memory here.
        let mut list = Vec::with_capacity(count);
        for _ in 0..count {
            list.push(one(self)?);
        }
        Some(list)
    }

    fn string(&mut self) -> Option<Arc<str>> {
        let length = self.number()?;
        std::str::from_utf8(self.take(length)?).ok().map(Arc::from)
    }

    fn node(&mut self) -> Option<Node> {
        let kind = self.number()?;
        let (line, column, length) = (self.number()?, self.number()?, self.number()?);
        let place = Place { file: self.file.clone(), line, column, length };
        let value = match kind {
            0 => Value::Null,
            1 => {
                let index = usize::try_from(self.number()?).ok()?;
                Value::Scalar(self.strings.get(index)?.clone())
            }
            2 => Value::List(self.list(Self::node)?),
            3 => Value::Map(self.list(|reader| Some((reader.node()?, reader.node()?)))?),
            _ => return None,
        };
        Some(Node { place, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::builtin::Builtin;

    #[test]
    fn a_tree_is_what_the_text_says() {
        for Builtin { text, .. } in shipped() {
            let mut problems = Vec::new();
            let read = crate::yaml::parse("mine.yaml", text, &mut problems).unwrap();
            assert_eq!(format!("{:?}", tree("mine.yaml", text).unwrap()), format!("{read:?}"));
        }
    }

    #[test]
    fn another_text_has_no_tree() {
        for Builtin { file, text, .. } in shipped() {
            assert!(tree(file, &format!("{text}\n")).is_none());
        }
    }
}
