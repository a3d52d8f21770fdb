//! Reads fields by their dotted paths, and notes what is wrong with them.

use serde_json::Value as Json;

use crate::code::Code;
use crate::handoff::{Extracted, is_something};
use crate::id::Name;
use crate::problem::Problem;

pub(super) struct Reader<'a> {
    extracted: &'a Extracted,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(extracted: &'a Extracted) -> Self {
        Self { extracted, problems: extracted.problems.clone(), warnings: extracted.warnings.clone() }
    }

    /// The value at a dotted path; `null` counts as absent.
    pub(super) fn get(&self, path: &str) -> Option<&'a Json> {
        let found = path.split('.').try_fold(&*self.extracted.json, |value, key| value.get(key))?;
        Some(found).filter(|value| !value.is_null())
    }

    pub(super) fn whole(&self) -> &'a Json {
        &self.extracted.json
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.get(path).is_some_and(is_something)
    }

    pub(super) fn problem(&mut self, problem: Problem, path: &str) {
        let place = self.extracted.place(path);
        self.problems.push(problem.field(path).at(place));
    }

    pub(super) fn wrong(&mut self, code: Code, path: &str, message: impl Into<String>) {
        self.problem(Problem::new(code, message), path);
    }

    pub(super) fn warn(&mut self, code: Code, path: &str, message: impl Into<String>) {
        let place = self.extracted.place(path);
        self.warnings.push(Problem::warning(code, message).field(path).at(place));
    }

    fn wrong_type(&mut self, path: &str, wanted: &str, value: &Json) {
        self.wrong(Code::FieldType, path, format!("`{path}` is {wanted}, not {}", kind(value)));
    }

    /// A text that must be there and say something.
    pub(super) fn required_text(&mut self, path: &str) -> Option<&'a str> {
        match self.get(path) {
            None => {
                self.wrong(Code::FieldMissing, path, format!("`{path}` is missing"));
                None
            }
            Some(Json::String(text)) if text.trim().is_empty() => {
                self.wrong(Code::FieldMissing, path, format!("`{path}` is empty"));
                None
            }
            Some(Json::String(text)) => Some(text),
            Some(other) => {
                self.wrong_type(path, "a text", other);
                None
            }
        }
    }

    /// A text that may be absent.
    pub(super) fn text(&mut self, path: &str) -> Option<&'a str> {
        match self.get(path)? {
            Json::String(text) => Some(text),
            other => {
                self.wrong_type(path, "a text", other);
                None
            }
        }
    }

    pub(super) fn list(&mut self, path: &str) -> Option<&'a [Json]> {
        match self.get(path)? {
            Json::Array(items) => Some(items),
            other => {
                self.wrong_type(path, "a list", other);
                None
            }
        }
    }

    /// A list of texts; each entry must say something.
    pub(super) fn texts(&mut self, path: &str) -> Option<Vec<&'a str>> {
        let items = self.list(path)?;
        let mut texts = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item {
                Json::String(text) if !text.trim().is_empty() => texts.push(text.as_str()),
                Json::String(_) => self.wrong(Code::FieldMissing, &at(path, index), "this entry is empty"),
                other => self.wrong_type(&at(path, index), "a text", other),
            }
        }
        Some(texts)
    }

    pub(super) fn names(&mut self, path: &str) -> Option<Vec<Name>> {
        self.texts(path).map(|texts| texts.into_iter().map(Name::new).collect())
    }

    /// A list of objects, each with its path.
    pub(super) fn objects(&mut self, path: &str) -> Option<Vec<(String, &'a Json)>> {
        let items = self.list(path)?;
        let mut objects = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if item.is_object() {
                objects.push((at(path, index), item));
            } else {
                self.wrong_type(&at(path, index), "an object", item);
            }
        }
        Some(objects)
    }

    pub(super) fn is_object(&mut self, path: &str) {
        if let Some(other) = self.get(path).filter(|value| !value.is_object()) {
            self.wrong_type(path, "an object", other);
        }
    }

    /// A field of an object in a list, that must be a text and say something.
    pub(super) fn member(&mut self, code: Code, object: &'a Json, path: &str, key: &str) -> Option<&'a str> {
        match object.get(key) {
            Some(Json::String(text)) if !text.trim().is_empty() => Some(text),
            Some(Json::String(_) | Json::Null) | None => {
                self.wrong(code, path, format!("`{key}` is missing or empty"));
                None
            }
            Some(other) => {
                self.wrong_type(&format!("{path}.{key}"), "a text", other);
                None
            }
        }
    }
}

pub(super) fn at(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

/// What people call this kind of value.
pub(super) fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

/// A single value, as text: how declared values are compared.
pub(super) fn scalar(value: &Json) -> Option<String> {
    match value {
        Json::Bool(flag) => Some(flag.to_string()),
        Json::Number(number) => Some(number.to_string()),
        Json::String(text) => Some(text.clone()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}
