//! JSON in which every value knows its place.
//!
//! serde_json reads it. A raw value borrows from the text, so its offset in the text is its place. Values are parsed
//! one level at a time, so deep nesting costs nothing unless it is read.

use std::fmt;
use std::sync::Arc;

use interlock_core::code::Code;
use interlock_core::problem::{Place, Problem};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The text that everything is borrowed from.
#[derive(Clone)]
struct JsonSource<'a> {
    file: Arc<str>,
    pub text: &'a str,
    /// Where each line begins.
    lines: Arc<[usize]>,
}

/// A value and where it is.
#[derive(Clone)]
pub(super) struct LocatedJson<'a> {
    source: JsonSource<'a>,
    raw: &'a str,
}

/// A key of an object with its value.
pub(super) struct JsonField<'a> {
    pub(super) name: String,
    pub(super) key: LocatedJson<'a>,
    pub(super) value: LocatedJson<'a>,
}

struct JsonMembers<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for JsonMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = JsonMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(JsonMembers(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// Reads a document: well-formed to its end, or a problem at the place where it is not.
pub(super) fn parse<'a>(file: &str, text: &'a str) -> Result<LocatedJson<'a>, Problem> {
    let newlines = text.match_indices('\n').map(|(offset, _)| offset.saturating_add(1));
    let source = JsonSource { file: Arc::from(file), text, lines: std::iter::once(0).chain(newlines).collect() };
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    match serde_json::from_str::<&RawValue>(body) {
        Ok(raw) => Ok(LocatedJson { source, raw: raw.get() }),
        Err(error) => {
            let place = source.place_of(source.offset_of(body).saturating_add(offset_in(body, &error)), 1);
            let text = error.to_string();
            let said = text.rsplit_once(" at line ").map_or(text.as_str(), |(said, _)| said);
            Err(Problem::new(Code::ImportFailed, format!("this is not JSON: {said}")).at(place))
        }
    }
}

/// serde_json counts columns in bytes; 0 is the end of the line before.
fn offset_in(body: &str, error: &serde_json::Error) -> usize {
    let before: usize = body.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    before.saturating_add(error.column()).saturating_sub(1).min(body.len())
}

impl JsonSource<'_> {
    fn offset_of(&self, part: &str) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }

    fn place_of(&self, offset: usize, length: usize) -> Place {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset = offset.saturating_sub(1);
        }
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let in_line = self.text.get(start..offset).unwrap_or_default().trim_start_matches('\u{feff}');
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Place {
            file: self.file.clone(),
            line: number(line),
            column: number(in_line.chars().count()).saturating_add(1),
            length: number(length).max(1),
        }
    }
}

impl<'a> LocatedJson<'a> {
    pub(super) fn place(&self) -> Place {
        let first_line = self.raw.lines().next().unwrap_or_default();
        self.source.place_of(self.source.offset_of(self.raw), first_line.chars().count())
    }

    /// The common name of this kind of value.
    pub(super) fn kind(&self) -> &'static str {
        match self.raw.as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "a list",
            Some(b'"') => "text",
            Some(b't' | b'f') => "true or false",
            Some(b'n') => "null",
            Some(_) => "a number",
            None => "nothing",
        }
    }

    pub(super) fn is_null(&self) -> bool {
        self.raw == "null"
    }

    pub(super) fn text(&self) -> Option<String> {
        serde_json::from_str(self.raw).ok()
    }

    pub(super) fn truth(&self) -> Option<bool> {
        serde_json::from_str(self.raw).ok()
    }

    pub(super) fn number(&self) -> Option<u32> {
        serde_json::from_str(self.raw).ok()
    }

    pub(super) fn items(&self) -> Option<Vec<LocatedJson<'a>>> {
        let items: Vec<&'a RawValue> = serde_json::from_str(self.raw).ok()?;
        Some(items.into_iter().map(|raw| self.within(raw)).collect())
    }

    pub(super) fn fields(&self) -> Option<Vec<JsonField<'a>>> {
        let JsonMembers(members) = serde_json::from_str(self.raw).ok()?;
        let field = |(key, value): (&'a RawValue, &'a RawValue)| {
            let key = self.within(key);
            // A key with half a surrogate pair is no text; what is written stands for it.
            JsonField { name: key.text().unwrap_or_else(|| key.raw.to_owned()), value: self.within(value), key }
        };
        Some(members.into_iter().map(field).collect())
    }

    fn within(&self, raw: &'a RawValue) -> LocatedJson<'a> {
        LocatedJson { source: self.source.clone(), raw: raw.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(place: &Place) -> (u32, u32, u32) {
        (place.line, place.column, place.length)
    }

    #[test]
    fn every_value_and_key_knows_its_place() {
        let root = parse("t.json", "\u{feff}{\r\n  \"ä\": [1, \"ünï\"]\r\n}").unwrap();
        let fields = root.fields().unwrap();
        assert_eq!(fields[0].name, "ä");
        assert_eq!(at(&fields[0].key.place()), (2, 3, 3));
        let items = fields[0].value.items().unwrap();
        assert_eq!(at(&items[0].place()), (2, 9, 1));
        assert_eq!(at(&items[1].place()), (2, 12, 5));
        assert_eq!(at(&root.place()), (1, 1, 1));
    }

    #[test]
    fn what_is_not_json_is_refused_where_it_goes_wrong() {
        let problem = |text| parse("t.json", text).err().expect("not JSON");
        let place = |text| problem(text).at.map(|place| (place.line, place.column)).unwrap();
        assert_eq!(place(""), (1, 1));
        assert_eq!(place("{\n  \"a\": 1,\n}"), (3, 1));
        assert_eq!(place("{\n  \"ü\": nul\n}"), (2, 11));
        assert_eq!(place("{} {}"), (1, 4));
        assert_eq!(problem("{").message, "this is not JSON: EOF while parsing an object");
        assert_eq!(problem("{").code, Code::ImportFailed);
    }

    #[test]
    fn deep_nesting_is_neither_a_crash_nor_slow() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(parse("t.json", &deep).unwrap().items().unwrap().len(), 1);
    }
}
