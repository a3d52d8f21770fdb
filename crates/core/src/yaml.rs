//! YAML as a tree in which every node knows its place.
//!
//! The subset that workflow files use: one document, maps, lists and scalars. Tags,
//! anchors and aliases are refused, so a file cannot grow when it is read.

use std::collections::BTreeMap;
use std::sync::Arc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span as Marks};

use crate::code::Code;
use crate::problem::{Place, Problem};

const MAX_BYTES: usize = 1 << 20;
const MAX_DEPTH: usize = 32;
const MAX_NODES: usize = 100_000;

#[derive(Clone, Debug)]
pub struct Node {
    pub place: Place,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub enum Value {
    Null,
    Scalar(Arc<str>),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Node {
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|(k, _)| k.text() == Some(key)).map(|(_, v)| v),
            Value::Null | Value::Scalar(_) | Value::List(_) => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        self.scalar().map(|text| &**text)
    }

    pub(crate) fn scalar(&self) -> Option<&Arc<str>> {
        match &self.value {
            Value::Scalar(text) => Some(text),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// The usual name of this kind of node.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Scalar(_) => "a single value",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

/// Reads one document. Problems that leave the tree readable are reported beside it.
pub fn parse(file: &str, text: &str, problems: &mut Vec<Problem>) -> Option<Node> {
    let file: Arc<str> = Arc::from(file);
    if text.len() > MAX_BYTES {
        let place = Place { file, line: 1, column: 1, length: 1 };
        let message = format!("the file has {} bytes; a workflow has at most {MAX_BYTES}", text.len());
        problems.push(Problem::new(Code::TooLarge, message).at(place));
        return None;
    }
    if let Err(problem) = refuse_deep_flow(&file, text) {
        problems.push(problem);
        return None;
    }
    let mut builder = YamlBuilder { file, stack: Vec::new(), root: None, nodes: 0, problems };
    for event in Parser::new_from_str(text.trim_start_matches('\u{feff}')) {
        match event {
            Ok((event, marks)) => builder.take(&event, marks).ok()?,
            Err(error) => {
                let place = builder.place_at(error.marker());
                builder.problems.push(Problem::new(Code::YamlSyntax, error.info().to_owned()).at(place));
                return None;
            }
        }
    }
    if builder.root.is_none() {
        let place = Place { file: builder.file.clone(), line: 1, column: 1, length: 1 };
        builder.problems.push(Problem::new(Code::YamlSyntax, "there is nothing in the file").at(place));
    }
    builder.root
}

/// The scanner itself would spend quadratic time on thousands of open brackets.
fn refuse_deep_flow(file: &Arc<str>, text: &str) -> Result<(), Problem> {
    let mut depth = 0usize;
    for (number, line) in text.lines().enumerate() {
        for (column, character) in line.chars().enumerate() {
            match character {
                // A comment opens nothing. A `#` inside a text is taken for one: that only makes the check milder.
                '#' => break,
                '[' | '{' => depth = depth.saturating_add(1),
                ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > 4 * MAX_DEPTH {
                let at = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1);
                let place = Place { file: file.clone(), line: at(number), column: at(column), length: 1 };
                return Err(Problem::new(Code::TooLarge, "too many brackets are open here").at(place));
            }
        }
    }
    Ok(())
}

enum OpenCollection {
    List(Place, Vec<Node>),
    Map(Place, MapEntries, Option<Node>),
}

/// The entries of a map so far, and the line of each key: a large map is not searched for every key.
#[derive(Default)]
struct MapEntries {
    list: Vec<(Node, Node)>,
    lines: BTreeMap<Arc<str>, u32>,
}

/// The document cannot be read on; the reason is among the problems.
struct UnreadableYaml;

struct YamlBuilder<'p> {
    file: Arc<str>,
    stack: Vec<OpenCollection>,
    root: Option<Node>,
    nodes: usize,
    problems: &'p mut Vec<Problem>,
}

impl YamlBuilder<'_> {
    fn place_at(&self, mark: &Marker) -> Place {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Place {
            file: self.file.clone(),
            line: number(mark.line()).max(1),
            column: number(mark.col()).saturating_add(1),
            length: 1,
        }
    }

    fn place(&self, marks: Marks) -> Place {
        let mut place = self.place_at(&marks.start);
        if marks.end.line() == marks.start.line() {
            let length = marks.end.col().saturating_sub(marks.start.col());
            place.length = u32::try_from(length).unwrap_or(1).max(1);
        }
        place
    }

    fn take(&mut self, event: &Event<'_>, marks: Marks) -> Result<(), UnreadableYaml> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => match &self.root {
                None => Ok(()),
                Some(_) => self.refuse(marks, "a workflow file has one document"),
            },
            Event::Alias(_) => self.refuse(marks, "aliases are not part of the workflow language"),
            Event::Scalar(text, style, anchor, tag) => {
                self.no_extras(*anchor, tag.is_some(), marks)?;
                let plain = matches!(style, ScalarStyle::Plain);
                let value = if plain && matches!(text.as_ref(), "" | "~" | "null" | "Null" | "NULL") {
                    Value::Null
                } else {
                    Value::Scalar(Arc::from(text.as_ref()))
                };
                let place = self.place(marks);
                self.add(Node { place, value })
            }
            Event::SequenceStart(anchor, tag) => {
                self.no_extras(*anchor, tag.is_some(), marks)?;
                let place = self.place(marks);
                self.open(OpenCollection::List(place, Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                self.no_extras(*anchor, tag.is_some(), marks)?;
                let place = self.place(marks);
                self.open(OpenCollection::Map(place, MapEntries::default(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(marks),
        }
    }

    fn no_extras(&mut self, anchor: usize, tagged: bool, marks: Marks) -> Result<(), UnreadableYaml> {
        if anchor != 0 {
            return self.refuse(marks, "anchors are not part of the workflow language");
        }
        if tagged {
            return self.refuse(marks, "tags are not part of the workflow language");
        }
        Ok(())
    }

    fn refuse(&mut self, marks: Marks, message: &str) -> Result<(), UnreadableYaml> {
        let place = self.place(marks);
        self.problems.push(Problem::new(Code::YamlFeature, message).at(place));
        Err(UnreadableYaml)
    }

    fn open(&mut self, open: OpenCollection) -> Result<(), UnreadableYaml> {
        if self.stack.len() >= MAX_DEPTH {
            let (OpenCollection::List(place, _) | OpenCollection::Map(place, _, _)) = open;
            let message = format!("nested deeper than {MAX_DEPTH} levels");
            self.problems.push(Problem::new(Code::TooLarge, message).at(place));
            return Err(UnreadableYaml);
        }
        self.stack.push(open);
        Ok(())
    }

    fn close(&mut self, marks: Marks) -> Result<(), UnreadableYaml> {
        let end = self.place_at(&marks.end);
        let whole = |mut place: Place| {
            // A list or map on one line is underlined as a whole.
            if place.line == end.line {
                place.length = end.column.saturating_sub(place.column).max(1);
            }
            place
        };
        match self.stack.pop() {
            Some(OpenCollection::List(place, items)) => {
                self.add(Node { place: whole(place), value: Value::List(items) })
            }
            Some(OpenCollection::Map(place, entries, _)) => {
                self.add(Node { place: whole(place), value: Value::Map(entries.list) })
            }
            None => Err(UnreadableYaml),
        }
    }

    fn add(&mut self, node: Node) -> Result<(), UnreadableYaml> {
        self.nodes = self.nodes.saturating_add(1);
        if self.nodes > MAX_NODES {
            let message = format!("more than {MAX_NODES} values");
            self.problems.push(Problem::new(Code::TooLarge, message).at(node.place));
            return Err(UnreadableYaml);
        }
        match self.stack.last_mut() {
            None => self.root = Some(node),
            Some(OpenCollection::List(_, items)) => items.push(node),
            Some(OpenCollection::Map(_, entries, key)) => match key.take() {
                None => *key = Some(node),
                Some(key) => entries.insert(key, node, self.problems),
            },
        }
        Ok(())
    }
}

impl MapEntries {
    fn insert(&mut self, key: Node, value: Node, problems: &mut Vec<Problem>) {
        let Value::Scalar(text) = &key.value else {
            let message = format!("a key is a single value, not {}", key.kind());
            problems.push(Problem::new(Code::WrongType, message).at(key.place));
            return;
        };
        if let Some(line) = self.lines.get(text) {
            let help = format!("the first is in line {line}");
            problems.push(Problem::new(Code::DuplicateKey, format!("`{text}` stands twice")).help(help).at(key.place));
            return;
        }
        self.lines.insert(text.clone(), key.place.line);
        self.list.push((key, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<Code> {
        let mut problems = Vec::new();
        parse("t.yaml", text, &mut problems);
        problems.into_iter().map(|problem| problem.code).collect()
    }

    #[test]
    fn places_count_from_one_in_characters() {
        let mut problems = Vec::new();
        let root = parse("t.yaml", "ä: 1\nname: [x, ünï]\n", &mut problems).unwrap();
        let Value::List(items) = &root.get("name").unwrap().value else { panic!("a list") };
        assert_eq!((items[1].place.line, items[1].place.column, items[1].place.length), (2, 11, 3));
        assert!(problems.is_empty());
    }

    #[test]
    fn what_is_not_in_the_subset_is_refused() {
        assert_eq!(codes("a: &x 1\nb: *x\n"), [Code::YamlFeature]);
        assert_eq!(codes("a: !!str 1\n"), [Code::YamlFeature]);
        assert_eq!(codes("a: 1\n---\nb: 1\n"), [Code::YamlFeature]);
        assert_eq!(codes("a: 1\na: 2\na: 3\n"), [Code::DuplicateKey, Code::DuplicateKey]);
        assert_eq!(codes("a: [1\n"), [Code::YamlSyntax]);
        assert_eq!(codes("[a]: 1\n"), [Code::WrongType]);
    }

    #[test]
    fn depth_and_size_are_bounded() {
        assert_eq!(codes(&"[".repeat(100_000)), [Code::TooLarge]);
        assert_eq!(codes(&"- ".repeat(200)), [Code::TooLarge]);
        assert_eq!(codes(&"a".repeat(MAX_BYTES + 1)), [Code::TooLarge]);
    }
}
