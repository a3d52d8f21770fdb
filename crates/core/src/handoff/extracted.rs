//! A metadata block that was found: its value, and the place of every field of it.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::handoff::FilledFields;
use crate::handoff::json::{ByteSpan, ValueChildren, ValueSpans};
use crate::id::Digest;
use crate::problem::{Place, Problem};

/// The metadata block of an agent's output. `check` holds it against a workflow.
#[derive(Clone, Debug)]
pub struct ExtractedHandoff {
    pub json: Arc<Json>,
    /// Of the content, whatever the order of its keys: the same handoff again has the same digest.
    pub digest: Digest,
    /// Faults of a block that could still be read: comments, a repeated key.
    pub problems: Vec<Problem>,
    pub warnings: Vec<Problem>,
    /// The handoff as submitted, before fields were filled in.
    pub submitted: Arc<Json>,
    pub filled_in: FilledFields,
    pub(crate) source: OutputExcerpt,
    pub(crate) spans: ValueSpans,
}

/// A piece of the output that begins at the beginning of a line.
#[derive(Clone, Debug)]
pub(crate) struct OutputExcerpt {
    pub(crate) file: Arc<str>,
    pub text: Arc<str>,
    /// The line of the output that the piece begins with, counted from 1.
    pub(crate) first_line: usize,
    /// Where each line of the piece begins.
    lines: Vec<usize>,
}

impl OutputExcerpt {
    pub(crate) fn new(file: &str, text: Arc<str>, first_line: usize) -> Self {
        let breaks = memchr::memchr2_iter(b'\n', b'\r', text.as_bytes());
        let inside = breaks.filter(|at| !is_first_half(text.as_bytes(), *at)).map(|at| at.saturating_add(1));
        let lines = std::iter::once(0).chain(inside).collect();
        Self { file: Arc::from(file), text, first_line, lines }
    }

    pub(crate) fn place(&self, span: ByteSpan) -> Place {
        let line = self.lines.partition_point(|start| *start <= span.start).saturating_sub(1);
        let line_start = self.lines.get(line).copied().unwrap_or_default();
        let line_end = self.lines.get(line.saturating_add(1)).copied().unwrap_or(self.text.len());
        let characters = |start: usize, end: usize| self.text.get(start..end).map_or(0, |text| text.chars().count());
        Place {
            file: Arc::clone(&self.file),
            line: small(self.first_line.saturating_add(line)),
            column: small(characters(line_start, span.start).saturating_add(1)),
            length: small(characters(span.start, span.end.min(line_end)).max(1)),
        }
    }
}

/// The first byte of a line end that has two.
pub(crate) fn is_first_half(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'\r') && bytes.get(at.saturating_add(1)) == Some(&b'\n')
}

pub(crate) fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl ExtractedHandoff {
    /// Where a field stands, by its dotted path such as `handoff.blockers[1].type`. A field
    /// that is not there has the place of the nearest one around it.
    pub fn place(&self, path: &str) -> Place {
        let mut here = &self.spans;
        let mut key = None;
        for step in steps(path) {
            let next = match (&here.inside, step) {
                (ValueChildren::Map(members), FieldPathStep::Key(name)) => members
                    .iter()
                    .find(|member| &*member.key == name)
                    .map(|member| (Some(member.key_at), &member.value)),
                (ValueChildren::List(items), FieldPathStep::Index(index)) => items.get(index).map(|item| (None, item)),
                (
                    ValueChildren::Nothing | ValueChildren::List(_) | ValueChildren::Map(_),
                    FieldPathStep::Key(_) | FieldPathStep::Index(_),
                ) => None,
            };
            let Some((next_key, value)) = next else {
                return self.source.place(opening(key, here));
            };
            (key, here) = (next_key, value);
        }
        match &here.inside {
            ValueChildren::Nothing => self.source.place(here.at),
            ValueChildren::List(_) | ValueChildren::Map(_) => self.source.place(opening(key, here)),
        }
    }
}

/// The part of a list or a map to underline: its key, or else its first bracket.
fn opening(key: Option<ByteSpan>, value: &ValueSpans) -> ByteSpan {
    key.unwrap_or(ByteSpan { start: value.at.start, end: value.at.start.saturating_add(1).min(value.at.end) })
}

enum FieldPathStep<'a> {
    Key(&'a str),
    Index(usize),
}

fn steps(path: &str) -> impl Iterator<Item = FieldPathStep<'_>> {
    path.split('.').flat_map(|part| {
        let (key, indices) = part.split_once('[').map_or((part, ""), |(key, rest)| (key, rest));
        let first = (!key.is_empty()).then_some(FieldPathStep::Key(key));
        let rest =
            indices.split('[').filter_map(|text| text.trim_end_matches(']').parse().ok().map(FieldPathStep::Index));
        first.into_iter().chain(rest)
    })
}
