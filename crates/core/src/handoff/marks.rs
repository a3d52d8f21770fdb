//! Recognizes metadata without reading all of it.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

/// The fields that tell metadata from other JSON. `timestamp` is in too much other JSON.
const MARKS: [&str; 6] = ["agent", "output_type", "feature_directory", "skills_invoked", "status", "handoff"];

/// How far a block that cannot be read is searched for the marks.
const SEARCHED: usize = 64 * 1024;

/// The next place of each mark, as a key, in a text that cannot be read. It only ever moves
/// forward, so asking at every brace of a text costs no more than asking once.
pub(crate) struct MarkLookahead<'a> {
    bytes: &'a [u8],
    end: usize,
    /// `None`: not looked for yet.
    next: [Option<usize>; MARKS.len()],
}

impl<'a> MarkLookahead<'a> {
    pub(crate) fn new(bytes: &'a [u8], end: usize) -> Self {
        Self { bytes, end, next: [None; MARKS.len()] }
    }

    /// How many of the marks come up soon after `start`.
    pub(crate) fn within(&mut self, start: usize) -> usize {
        let limit = start.saturating_add(SEARCHED).min(self.end);
        let mut count: usize = 0;
        for (mark, next) in MARKS.iter().zip(&mut self.next) {
            let known = next.filter(|at| *at >= start);
            let at = known.unwrap_or_else(|| next_key(self.bytes, mark, start, self.end).unwrap_or(usize::MAX));
            *next = Some(at);
            count = count.saturating_add(usize::from(at < limit));
        }
        count
    }
}

fn next_key(bytes: &[u8], mark: &str, start: usize, end: usize) -> Option<usize> {
    let text = bytes.get(start..end)?;
    let word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let found = memchr::memmem::find_iter(text, mark.as_bytes()).find(|at| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        let mut after = text.get(at.saturating_add(mark.len())..).unwrap_or_default().iter();
        let ends = !word(before) && !word(after.as_slice().first());
        ends && after
            .find(|byte| !matches!(byte, b' ' | b'\t' | b'"' | b'\''))
            .is_none_or(|byte| matches!(byte, b':' | b'\n' | b'\r'))
    });
    found.map(|at| start.saturating_add(at))
}

/// Reads over an object that begins at `start`: where it ends and how many marks it has, or
/// where it stops being one. Nothing is kept, so it takes no memory.
pub(crate) fn skim(bytes: &[u8], start: usize) -> Result<(usize, usize), usize> {
    let rest = bytes.get(start..).unwrap_or_default();
    let mut stream = serde_json::Deserializer::from_slice(rest).into_iter::<MarkSet>();
    match stream.next() {
        Some(Ok(MarkSet(marks))) => {
            Ok((start.saturating_add(stream.byte_offset()), usize::try_from(marks.count_ones()).unwrap_or_default()))
        }
        None => Err(rest.len()),
        Some(Err(error)) => {
            let line = match error.line().checked_sub(2) {
                None => 0,
                Some(nth) => memchr::memchr_iter(b'\n', rest).nth(nth).map_or(0, |at| at.saturating_add(1)),
            };
            Err(line.saturating_add(error.column()).min(rest.len()))
        }
    }
}

/// The marks among the keys of an object, a bit each.
struct MarkSet(u8);

struct MarkKey(u8);

impl<'de> Deserialize<'de> for MarkKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Key;
        impl Visitor<'_> for Key {
            type Value = MarkKey;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a key")
            }

            fn visit_str<E>(self, key: &str) -> Result<MarkKey, E> {
                Ok(MarkKey(MARKS.iter().position(|mark| *mark == key).map_or(0, |at| 1 << at)))
            }
        }
        deserializer.deserialize_str(Key)
    }
}

impl<'de> Deserialize<'de> for MarkSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = MarkSet;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MarkSet, A::Error> {
                let mut marks = 0;
                while let Some(MarkKey(mark)) = map.next_key()? {
                    marks |= mark;
                    map.next_value::<IgnoredAny>()?;
                }
                Ok(MarkSet(marks))
            }
        }
        deserializer.deserialize_map(Object)
    }
}
