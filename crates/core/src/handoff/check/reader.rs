//! Reads fields by their dotted paths, and notes what is wrong with them.

use serde_json::Value as Json;

use crate::code::Code;
use crate::handoff::{ExtractedHandoff, is_something};
use crate::id::Name;
use crate::problem::Problem;

/// More problems than this help no reader, and a hostile handoff could produce a million.
const MOST_PROBLEMS: usize = 100;

/// A longer id is not repeated in messages.
const LONGEST_SHOWN_ID: usize = 80;

pub(super) struct HandoffReader<'a> {
    extracted: &'a ExtractedHandoff,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
    /// Problems and warnings beyond those that are listed.
    unlisted: (usize, usize),
}

impl<'a> HandoffReader<'a> {
    pub(super) fn new(extracted: &'a ExtractedHandoff) -> Self {
        let (problems, warnings) = (extracted.problems.clone(), extracted.warnings.clone());
        Self { extracted, problems, warnings, unlisted: (0, 0) }
    }

    /// All that was noted, in the order of the file.
    pub(super) fn into_problems(self) -> (Vec<Problem>, Vec<Problem>) {
        let listed = |mut list: Vec<Problem>, more: usize| {
            list.sort_by(|a, b| a.at.cmp(&b.at));
            if let Some(last) = list.last().filter(|_| more > 0) {
                let severity = last.severity;
                let message = format!("and {more} more that are not listed");
                list.push(Problem { severity, ..Problem::new(last.code, message) });
            }
            list
        };
        (listed(self.problems, self.unlisted.0), listed(self.warnings, self.unlisted.1))
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
        if self.problems.len() >= MOST_PROBLEMS {
            self.unlisted.0 = self.unlisted.0.saturating_add(1);
            return;
        }
        if self.is_known(path) {
            return;
        }
        let place = self.extracted.place(path);
        let problem = match self.element(path) {
            Some(element) => problem.of_element(element),
            None => problem,
        };
        self.problems.push(problem.field(path).at(place));
    }

    /// Is this field, or one around it, known to be missing or of the wrong type? That is the one mistake to name.
    fn is_known(&self, path: &str) -> bool {
        let broken = |problem: &&Problem| matches!(problem.code, Code::FieldMissing | Code::FieldType);
        self.problems
            .iter()
            .filter(broken)
            .filter_map(|problem| problem.field.as_deref())
            .any(|field| path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '['])))
    }

    /// The element of a list that a path leads into, as people call it: by its id, or else by its number.
    fn element(&self, path: &str) -> Option<String> {
        let (list, rest) = path.split_once('[')?;
        let index: usize = rest.split(']').next()?.parse().ok()?;
        let number = index.saturating_add(1);
        let object = self.get(list).and_then(|list| list.get(index));
        let id = object.and_then(|object| object.get("id")).and_then(Json::as_str).map(str::trim);
        let id = id.filter(|id| !id.is_empty() && id.chars().count() <= LONGEST_SHOWN_ID);
        let noun = match list {
            "groups" => return Some(id.map_or_else(|| format!("group {number}"), |id| format!("group `{id}`"))),
            "issues" => "issue",
            "issue_responses" => "response",
            "questions" => "question",
            "handoff.blockers" => "blocker",
            other => return Some(format!("entry {number} of `{other}`")),
        };
        Some(id.map_or_else(|| format!("{noun} {number}"), |id| format!("{noun} {number} `{id}`")))
    }

    pub(super) fn wrong(&mut self, code: Code, path: &str, message: impl Into<String>) {
        self.problem(Problem::new(code, message), path);
    }

    pub(super) fn warn(&mut self, code: Code, path: &str, message: impl Into<String>) {
        self.warning(Problem::warning(code, message), path);
    }

    pub(super) fn warning(&mut self, warning: Problem, path: &str) {
        if self.warnings.len() >= MOST_PROBLEMS {
            self.unlisted.1 = self.unlisted.1.saturating_add(1);
            return;
        }
        let place = self.extracted.place(path);
        let warning = match self.element(path) {
            Some(element) => warning.of_element(element),
            None => warning,
        };
        self.warnings.push(warning.field(path).at(place));
    }

    pub(super) fn wrong_type(&mut self, path: &str, wanted: &str, value: &Json) {
        // The element is named before the message, so the field is named within it.
        let inside = path.split_once(']').map(|(_, inside)| inside.trim_start_matches('.'));
        let message = match inside {
            Some("") => format!("this is {}; it must be {wanted}", kind(value)),
            Some(field) => format!("`{field}` is {}; it must be {wanted}", kind(value)),
            None => format!("`{path}` is {}; it must be {wanted}", kind(value)),
        };
        self.wrong(Code::FieldType, path, message);
    }

    /// A text that must be there and say something.
    pub(super) fn required_text(&mut self, path: &str) -> Option<&'a str> {
        match self.get(path) {
            None => {
                self.problem(Problem::of_field(Code::FieldMissing, path, "missing"), path);
                None
            }
            Some(Json::String(text)) if text.trim().is_empty() => {
                self.problem(Problem::of_field(Code::FieldMissing, path, "empty"), path);
                None
            }
            Some(Json::String(text)) => Some(text),
            Some(other @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_))) => {
                self.wrong_type(path, "a text", other);
                None
            }
        }
    }

    /// A text that may be absent.
    pub(super) fn text(&mut self, path: &str) -> Option<&'a str> {
        let value = self.get(path)?;
        if value.as_str().is_none() {
            self.wrong_type(path, "a text", value);
        }
        value.as_str()
    }

    pub(super) fn list(&mut self, path: &str) -> Option<&'a [Json]> {
        let value = self.get(path)?;
        if value.as_array().is_none() {
            self.wrong_type(path, "a list", value);
        }
        value.as_array().map(Vec::as_slice)
    }

    /// A list of texts; each entry must say something.
    pub(super) fn texts(&mut self, path: &str) -> Option<Vec<&'a str>> {
        let items = self.list(path)?;
        Some(self.texts_of(items, path))
    }

    pub(super) fn texts_of(&mut self, items: &'a [Json], path: &str) -> Vec<&'a str> {
        let mut texts = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item.as_str() {
                Some(text) if !text.trim().is_empty() => texts.push(text),
                Some(_) => self.wrong(Code::FieldMissing, &at(path, index), "this entry is empty"),
                None => self.wrong_type(&at(path, index), "a text", item),
            }
        }
        texts
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
                let how = if object.get(key).is_some_and(Json::is_string) { "empty" } else { "missing" };
                self.wrong(code, path, format!("`{key}` is {how}"));
                None
            }
            Some(other @ (Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_))) => {
                self.wrong_type(&format!("{path}.{key}"), "a text", other);
                None
            }
        }
    }
}

impl<'a> HandoffReader<'a> {
    /// A field of an object in a list, that may be absent.
    pub(super) fn maybe_member(&mut self, object: &'a Json, path: &str, key: &str) -> Option<&'a str> {
        let value = object.get(key).filter(|value| !value.is_null())?;
        if value.as_str().is_none() {
            self.wrong_type(&format!("{path}.{key}"), "a text", value);
        }
        value.as_str()
    }
}

pub(super) fn at(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

/// The usual name of this kind of value.
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
