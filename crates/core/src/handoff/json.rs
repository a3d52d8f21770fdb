//! Strict JSON, with the place of every value and key.
//!
//! Why not a crate: `serde_json` has no places and lets a repeated key win in
//! silence; `jsonc-parser` has places but takes raw line breaks in strings and
//! Unicode spaces, so the two would disagree about what JSON is. Here only the
//! structure is read; what a string or a number means is still `serde_json`'s word.

use serde_json::{Map, Number, Value as Json};

/// No deeper than `serde_json` itself reads, so whatever recurses over the value is safe.
pub(crate) const MAX_DEPTH: usize = 120;

/// Enough to fix a block in one go without flooding the reader.
const MAX_FAULTS: usize = 20;

/// Bytes of the text that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ByteSpan {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Where a value stands, and what is in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ValueSpans {
    pub(crate) at: ByteSpan,
    pub(crate) inside: ValueChildren,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ValueChildren {
    Nothing,
    List(Vec<ValueSpans>),
    Map(Vec<ObjectMember>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ObjectMember {
    pub(crate) key: Box<str>,
    pub(crate) key_at: ByteSpan,
    pub(crate) value: ValueSpans,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct JsonFault {
    pub(crate) kind: JsonFaultKind,
    pub(crate) at: ByteSpan,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum JsonFaultKind {
    // Read past: the rest is still understood.
    Comment,
    TrailingComma,
    RepeatedKey(Box<str>),
    Imprecise(Number),
    // The end of reading.
    SingleQuotes,
    FancyQuotes,
    BareKey(Box<str>),
    Word(Box<str>),
    LineBreakInString,
    ControlInString,
    OpenString,
    Escape,
    BadNumber,
    NumberTooBig,
    NoComma,
    NoColon,
    Open(char),
    TooDeep,
    Ellipsis,
    Unexpected(char),
    End,
}

#[derive(Clone, Debug)]
pub(crate) struct ParsedJson {
    pub(crate) value: Json,
    pub(crate) spans: ValueSpans,
    /// Where the value ends.
    pub(crate) end: usize,
    /// Faults that the reader could skip.
    pub(crate) faults: Vec<JsonFault>,
}

/// Reads one value that begins at `start`; what comes after it is not looked at.
pub(crate) fn parse(text: &str, start: usize) -> Result<ParsedJson, Vec<JsonFault>> {
    let mut reader = LenientJsonReader { text, bytes: text.as_bytes(), at: start, faults: Vec::new() };
    reader.skip();
    match reader.value(0) {
        Ok((value, spans)) => Ok(ParsedJson { value, spans, end: reader.at, faults: reader.faults }),
        Err(fault) => {
            reader.faults.push(fault);
            Err(reader.faults)
        }
    }
}

/// The position of the first character after the value, if there is one. Comments are skipped and reported.
pub(crate) fn after(text: &str, end: usize) -> (Option<usize>, Vec<JsonFault>) {
    let mut reader = LenientJsonReader { text, bytes: text.as_bytes(), at: end, faults: Vec::new() };
    reader.skip();
    (reader.peek().map(|_| reader.at), reader.faults)
}

struct LenientJsonReader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    faults: Vec<JsonFault>,
}

type JsonReadResult<T> = Result<T, JsonFault>;

impl LenientJsonReader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn ahead(&self, by: usize) -> Option<u8> {
        self.bytes.get(self.at.saturating_add(by)).copied()
    }

    fn step(&mut self, by: usize) {
        self.at = self.at.saturating_add(by).min(self.bytes.len());
    }

    fn span(&self, start: usize) -> ByteSpan {
        ByteSpan { start, end: self.at }
    }

    /// The character here.
    fn here(&self) -> Option<char> {
        self.text.get(self.at..).and_then(|rest| rest.chars().next())
    }

    fn fault<T>(&self, kind: JsonFaultKind, start: usize, length: usize) -> JsonReadResult<T> {
        let end = start.saturating_add(length).min(self.bytes.len());
        Err(JsonFault { kind, at: ByteSpan { start, end } })
    }

    /// Nothing that could stand here does.
    fn unexpected<T>(&self) -> JsonReadResult<T> {
        let Some(character) = self.here() else {
            return self.fault(JsonFaultKind::End, self.at, 0);
        };
        let kind = match character {
            '\'' => JsonFaultKind::SingleQuotes,
            '“' | '”' | '„' | '‘' | '’' | '«' | '»' => JsonFaultKind::FancyQuotes,
            '…' => JsonFaultKind::Ellipsis,
            '.' if self.ahead(1) == Some(b'.') => JsonFaultKind::Ellipsis,
            other => JsonFaultKind::Unexpected(other),
        };
        self.fault(kind, self.at, character.len_utf8())
    }

    fn note(&mut self, kind: JsonFaultKind, at: ByteSpan) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(JsonFault { kind, at });
        }
    }

    /// Over white space, and over comments, which are noted.
    fn skip(&mut self) {
        loop {
            match (self.peek(), self.ahead(1)) {
                (Some(b' ' | b'\t' | b'\n' | b'\r'), _) => self.step(1),
                (Some(b'#'), _) | (Some(b'/'), Some(b'/')) => {
                    let start = self.at;
                    while self.peek().is_some_and(|byte| byte != b'\n' && byte != b'\r') {
                        self.step(1);
                    }
                    self.note(JsonFaultKind::Comment, self.span(start));
                }
                (Some(b'/'), Some(b'*')) => {
                    let start = self.at;
                    let rest = self.bytes.get(start.saturating_add(2)..).unwrap_or_default();
                    let length = memchr::memmem::find(rest, b"*/").map_or(rest.len(), |at| at.saturating_add(2));
                    self.step(length.saturating_add(2));
                    self.note(JsonFaultKind::Comment, self.span(start));
                }
                _ => return,
            }
        }
    }

    fn value(&mut self, depth: usize) -> JsonReadResult<(Json, ValueSpans)> {
        if depth > MAX_DEPTH {
            return self.fault(JsonFaultKind::TooDeep, self.at, 1);
        }
        let start = self.at;
        let (value, inside) = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => (Json::String(self.string()?), ValueChildren::Nothing),
            Some(b'-' | b'+' | b'0'..=b'9') => (Json::Number(self.number()?), ValueChildren::Nothing),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$') => (self.word()?, ValueChildren::Nothing),
            _ => return self.unexpected(),
        };
        Ok((value, ValueSpans { at: self.span(start), inside }))
    }

    fn object(&mut self, depth: usize) -> JsonReadResult<(Json, ValueChildren)> {
        let open = self.at;
        let mut values = Map::new();
        let mut members: Vec<ObjectMember> = Vec::new();
        self.step(1);
        loop {
            let comma = self.at.saturating_sub(1);
            self.skip();
            if self.peek() == Some(b'}') {
                self.trailing_comma(comma, !members.is_empty());
                self.step(1);
                return Ok((Json::Object(values), ValueChildren::Map(members)));
            }
            let key_start = self.at;
            let key = self.key(open)?;
            let key_at = self.span(key_start);
            self.skip();
            match self.peek() {
                Some(b':') => self.step(1),
                None => return self.fault(JsonFaultKind::Open('{'), open, 1),
                Some(_) => return self.fault(JsonFaultKind::NoColon, self.at, 1),
            }
            self.skip();
            if self.peek().is_none() {
                return self.fault(JsonFaultKind::Open('{'), open, 1);
            }
            let (value, spans) = self.value(depth.saturating_add(1))?;
            if values.contains_key(&key) {
                self.note(JsonFaultKind::RepeatedKey(key.as_str().into()), key_at);
            } else {
                values.insert(key.clone(), value);
            }
            members.push(ObjectMember { key: key.into(), key_at, value: spans });
            if self.next_or_end(open, '{', b'}')? {
                return Ok((Json::Object(values), ValueChildren::Map(members)));
            }
        }
    }

    fn array(&mut self, depth: usize) -> JsonReadResult<(Json, ValueChildren)> {
        let open = self.at;
        let mut values = Vec::new();
        let mut items = Vec::new();
        self.step(1);
        loop {
            let comma = self.at.saturating_sub(1);
            self.skip();
            match self.peek() {
                Some(b']') => {
                    self.trailing_comma(comma, !items.is_empty());
                    self.step(1);
                    return Ok((Json::Array(values), ValueChildren::List(items)));
                }
                None => return self.fault(JsonFaultKind::Open('['), open, 1),
                Some(_) => {}
            }
            let (value, spans) = self.value(depth.saturating_add(1))?;
            values.push(value);
            items.push(spans);
            if self.next_or_end(open, '[', b']')? {
                return Ok((Json::Array(values), ValueChildren::List(items)));
            }
        }
    }

    fn trailing_comma(&mut self, comma: usize, there_is_one: bool) {
        if there_is_one {
            self.note(JsonFaultKind::TrailingComma, ByteSpan { start: comma, end: comma.saturating_add(1) });
        }
    }

    /// After an element: over the comma (`false`), or over the end (`true`).
    fn next_or_end(&mut self, open: usize, opener: char, closer: u8) -> JsonReadResult<bool> {
        let after_value = self.at;
        self.skip();
        match self.peek() {
            Some(b',') => {
                self.step(1);
                Ok(false)
            }
            Some(byte) if byte == closer => {
                self.step(1);
                Ok(true)
            }
            None => self.fault(JsonFaultKind::Open(opener), open, 1),
            Some(b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => {
                self.fault(JsonFaultKind::NoComma, after_value.saturating_sub(1), 1)
            }
            Some(_) => self.unexpected(),
        }
    }

    fn key(&mut self, open: usize) -> JsonReadResult<String> {
        match self.peek() {
            Some(b'"') => self.string(),
            None => self.fault(JsonFaultKind::Open('{'), open, 1),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$') => {
                let start = self.at;
                let word = self.bare_word();
                self.fault(JsonFaultKind::BareKey(word.as_str().into()), start, word.len())
            }
            Some(_) => self.unexpected(),
        }
    }

    fn string(&mut self) -> JsonReadResult<String> {
        let start = self.at;
        let mut escaped = false;
        self.step(1);
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
            self.step(plain.unwrap_or(rest.len()));
            match self.peek() {
                Some(b'"') => break self.step(1),
                Some(b'\\') => {
                    escaped = true;
                    self.step(2);
                }
                Some(b'\n' | b'\r') => {
                    return self.fault(JsonFaultKind::LineBreakInString, start, self.at.saturating_sub(start));
                }
                Some(_) => return self.fault(JsonFaultKind::ControlInString, self.at, 1),
                None => return self.fault(JsonFaultKind::OpenString, start, 1),
            }
        }
        let literal = self.text.get(start..self.at).unwrap_or_default();
        if !escaped {
            // Without escapes the only quotes are the two at the ends.
            return Ok(literal.trim_matches('"').to_owned());
        }
        match serde_json::from_str(literal) {
            Ok(text) => Ok(text),
            Err(_) => self.fault(JsonFaultKind::Escape, start, literal.len()),
        }
    }

    fn number(&mut self) -> JsonReadResult<Number> {
        let start = self.at;
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')) {
            self.step(1);
        }
        let literal = self.text.get(start..self.at).unwrap_or_default();
        let Ok(number) = serde_json::from_str::<Number>(literal) else {
            let huge = literal.parse::<f64>().is_ok_and(f64::is_infinite) && !literal.contains(['i', 'I']);
            let kind = if huge { JsonFaultKind::NumberTooBig } else { JsonFaultKind::BadNumber };
            return self.fault(kind, start, literal.len());
        };
        let whole = literal.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
        if whole && number.is_f64() && literal != "-0" {
            self.note(JsonFaultKind::Imprecise(number.clone()), self.span(start));
        }
        Ok(number)
    }

    fn word(&mut self) -> JsonReadResult<Json> {
        let start = self.at;
        let word = self.bare_word();
        match word.as_str() {
            "true" => Ok(Json::Bool(true)),
            "false" => Ok(Json::Bool(false)),
            "null" => Ok(Json::Null),
            other => self.fault(JsonFaultKind::Word(other.into()), start, other.len()),
        }
    }

    fn bare_word(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-')) {
            self.step(1);
        }
        self.text.get(start..self.at).unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kinds(text: &str) -> Vec<JsonFaultKind> {
        let faults = match parse(text, 0) {
            Ok(parsed) => parsed.faults,
            Err(faults) => faults,
        };
        faults.into_iter().map(|fault| fault.kind).collect()
    }

    #[test]
    fn every_value_and_key_has_its_place() {
        let text = r#"{"a": [1, {"b": "x"}]}"#;
        let parsed = parse(text, 0).unwrap();
        let ValueChildren::Map(members) = &parsed.spans.inside else { panic!("a map") };
        let [a] = members.as_slice() else { panic!("one member") };
        assert_eq!(&text[a.key_at.start..a.key_at.end], "\"a\"");
        let ValueChildren::List(items) = &a.value.inside else { panic!("a list") };
        assert_eq!(&text[items[1].at.start..items[1].at.end], r#"{"b": "x"}"#);
        let ValueChildren::Map(members) = &items[1].inside else { panic!("a map") };
        assert_eq!(&text[members[0].value.at.start..members[0].value.at.end], "\"x\"");
    }

    #[test]
    fn comments_and_trailing_commas_are_all_noted_and_read_past() {
        let text = "{ // one\n \"a\": [1, 2,], /* two */\n # three\n \"b\": {},\n}";
        let parsed = parse(text, 0).unwrap();
        assert_eq!(parsed.value, serde_json::json!({"a": [1, 2], "b": {}}));
        let marked: Vec<&str> = parsed.faults.iter().map(|fault| &text[fault.at.start..fault.at.end]).collect();
        assert_eq!(marked, ["// one", ",", "/* two */", "# three", ","]);
    }

    #[test]
    fn a_key_said_twice_is_noted_at_the_second() {
        let text = r#"{"status": "a", "status": "b"}"#;
        let parsed = parse(text, 0).unwrap();
        assert_eq!(parsed.value, serde_json::json!({"status": "a"}));
        assert_eq!(parsed.faults[0].kind, JsonFaultKind::RepeatedKey("status".into()));
        assert_eq!(parsed.faults[0].at.start, 16);
    }

    #[test]
    fn each_slip_has_its_own_name() {
        use JsonFaultKind as Is;
        let table: &[(&str, Is)] = &[
            ("{'a': 1}", Is::SingleQuotes),
            ("{“a”: 1}", Is::FancyQuotes),
            ("{a: 1}", Is::BareKey("a".into())),
            (r#"{"a": True}"#, Is::Word("True".into())),
            ("{\"a\": \"x\ny\"}", Is::LineBreakInString),
            ("{\"a\": \"x\ty\"}", Is::ControlInString),
            (r#"{"a": "x"#, Is::OpenString),
            (r#"{"a": "\q"}"#, Is::Escape),
            (r#"{"a": "\ud800"}"#, Is::Escape),
            (r#"{"a": 01}"#, Is::BadNumber),
            (r#"{"a": +1}"#, Is::BadNumber),
            (r#"{"a": 0x1F}"#, Is::BadNumber),
            (r#"{"a": 1e999}"#, Is::NumberTooBig),
            (r#"{"a": 1 "b": 2}"#, Is::NoComma),
            (r#"{"a" 1}"#, Is::NoColon),
            (r#"{"a": 1, "#, Is::Open('{')),
            (r#"{"a": [1"#, Is::Open('[')),
            (r#"{"a": ...}"#, Is::Ellipsis),
            (r#"{"a": 1, ...}"#, Is::Ellipsis),
            (r#"{"a": }"#, Is::Unexpected('}')),
            (r#"{"a": 1]"#, Is::Unexpected(']')),
            ("", Is::End),
        ];
        for (text, expected) in table {
            assert_eq!(kinds(text), std::slice::from_ref(expected), "{text}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(kinds(&deep(MAX_DEPTH)), []);
        assert_eq!(kinds(&deep(MAX_DEPTH + 1)), [JsonFaultKind::TooDeep]);
        assert_eq!(kinds(&"[".repeat(1_000_000)), [JsonFaultKind::TooDeep]);
        assert!(serde_json::from_str::<Json>(&deep(MAX_DEPTH)).is_ok(), "what is read here, serde_json reads as well");
    }

    #[test]
    fn a_whole_number_that_cannot_be_kept_exactly_is_noted() {
        assert!(matches!(kinds("[123456789012345678901234567890]")[..], [JsonFaultKind::Imprecise(_)]));
        assert_eq!(kinds("[18446744073709551615, -9223372036854775808, 1.5e300, -0]"), []);
    }

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            any::<i64>().prop_map(Json::from),
            any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Json::from),
            any::<String>().prop_map(Json::String),
        ];
        leaf.prop_recursive(6, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_serde_json_writes_is_read_back(value in any_json(), pretty: bool) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            let parsed = parse(&text, 0).unwrap();
            prop_assert_eq!(parsed.faults, vec![]);
            prop_assert_eq!(parsed.end, text.len());
            prop_assert_eq!(parsed.value, serde_json::from_str::<Json>(&text).unwrap());
        }

        #[test]
        fn what_is_read_without_a_fault_is_what_serde_json_reads(text in r#"[\[\]{}:,"a1e.\-+ \\ntrue]{0,24}"#) {
            if let Ok(parsed) = parse(&text, 0) {
                let rest = text.get(parsed.end..).unwrap();
                if parsed.faults.is_empty() && rest.trim().is_empty() {
                    prop_assert_eq!(serde_json::from_str::<Json>(&text).unwrap(), parsed.value);
                }
            } else {
                prop_assert!(serde_json::from_str::<Json>(&text).is_err());
            }
        }
    }
}
