//! Problems as people read them: what, where, the line itself, and what to do.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use interlock_core::problem::{Place, Problem, ProblemGroup, Severity, group_problems};

use crate::error::SourceTexts;
use interlock_system::sanitise;
use interlock_system::text::{GUTTER, HEADING, TerminalText, columns};

/// A longer line is cut: agents write megabytes without a line break.
const LONGEST_LINE: usize = 400;
/// Characters of a cut line that are kept on each side of its problem.
const AROUND: usize = 100;

/// By place; what has no place comes last.
pub fn sort(problems: &mut [Problem]) {
    problems.sort_by(|a, b| (a.at.is_none(), &a.at, a.severity).cmp(&(b.at.is_none(), &b.at, b.severity)));
}

/// All of them, and how many there were.
pub fn problems(problems: &[Problem], sources: &SourceTexts) -> TerminalText {
    let mut text = TerminalText::default();
    let mut lines = SourceLines::new(sources);
    let groups = group_problems(problems);
    for group in &groups {
        one(&mut text, group, &[], &mut lines);
        text.push("\n");
    }
    let errors = groups.iter().filter(|group| group.first.is_error()).count();
    let warnings = groups.len() - errors;
    let counted: Vec<String> = [(errors, "error"), (warnings, "warning")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}{}", if count == 1 { "" } else { "s" }))
        .collect();
    let telling = problems.iter().find(|problem| problem.is_error()).or(problems.first());
    if let Some(problem) = telling {
        text.line(format_args!("{}; `interlock explain {}` says more", counted.join(", "), problem.code));
    }
    text
}

/// One problem without a place, and what belongs to it: each note has a name and a text.
pub(crate) fn problem(text: &mut TerminalText, problem: &Problem, notes: &[(String, String)]) {
    let group = ProblemGroup::alone(problem);
    one(text, &group, notes, &mut SourceLines::new(&SourceTexts::default()));
}

/// How many lines of the source one mistake shows. Of the others it shows the place only.
const QUOTED_PLACES: usize = 5;

fn one(text: &mut TerminalText, group: &ProblemGroup<'_>, notes: &[(String, String)], lines: &mut SourceLines<'_>) {
    let problem = group.first;
    let level = level_of(problem);
    let title = level.clone().primary_title(sanitise::line(&group.message()).into_owned()).id(problem.code.number());
    text.push_rendered(&renderer().render(&[Group::with_title(title)]));
    text.push("\n");
    let mut indent = 1;
    let places = places_of(group);
    for (index, (place, elements)) in places.iter().enumerate() {
        // The message names every element already.
        let elements = Some(elements.join(", ")).filter(|elements| places.len() > 1 && !elements.is_empty());
        let quotes = index < QUOTED_PLACES;
        indent = indent.max(show_place(text, (place, level.clone()), elements.as_deref(), quotes, lines));
    }
    let field = problem.field.as_deref().filter(|field| group.others.is_empty() && !problem.message.contains(field));
    let field = field.filter(|_| problem.subject.is_none()).map(|field| ("field", field));
    let notes = notes.iter().map(|(name, note)| (name.as_str(), note.as_str()));
    let help = group.help.map(|help| ("help", help));
    for (name, note) in field.into_iter().chain(notes).chain(help) {
        text.put(" ".repeat(indent + 1));
        text.paint(GUTTER, "=");
        text.push(" ");
        text.paint(HEADING, name);
        let below = indent + name.chars().count() + 5;
        for (index, line) in note.lines().enumerate() {
            match index {
                0 => text.line(format_args!(": {}", sanitise::line(line))),
                // A list in a help text is indented.
                _ => text.line(format_args!("{:below$}| {line}", "")),
            }
        }
    }
}

/// Each place once, with the elements that have the problem there: several fields can be missing from one object.
fn places_of<'g>(group: &ProblemGroup<'g>) -> Vec<(&'g Place, Vec<&'g str>)> {
    let mut places: Vec<(&Place, Vec<&str>)> = Vec::new();
    let mut known: BTreeMap<&Place, usize> = BTreeMap::new();
    for member in group.members() {
        let Some(place) = &member.at else { continue };
        let index = *known.entry(place).or_insert(places.len());
        if index == places.len() {
            places.push((place, Vec::new()));
        }
        let element = member.subject.as_ref().map(|own| own.element.as_str());
        places[index].1.extend(element);
    }
    places
}

/// Where it is, and the line itself. Returns how wide the numbers of lines are.
fn show_place(
    text: &mut TerminalText,
    (place, level): (&Place, Level<'static>),
    element: Option<&str>,
    quotes: bool,
    lines: &mut SourceLines<'_>,
) -> usize {
    let quote = lines.quote(place).filter(|_| quotes);
    let indent = if quote.is_some() { place.line.to_string().len() } else { 1 };
    text.put(" ".repeat(indent));
    text.paint(GUTTER, "-->");
    // The renderer would count the column in the line that it is given, and that may be a part of the real one.
    text.put(format_args!(" {}:{}:{}", sanitise::line(&place.file), place.line, place.column));
    if let Some(element) = element {
        text.put(format_args!("  {}", sanitise::line(element)));
    }
    text.push("\n");
    if let Some(quote) = quote {
        let marked = AnnotationKind::Primary.span(quote.marked);
        let snippet = Snippet::source(quote.line).line_start(at(place.line)).annotation(marked);
        text.push_rendered(&renderer().render(&[Group::with_level(level).element(snippet)]));
        text.push("\n");
    }
    indent
}

fn level_of(problem: &Problem) -> Level<'static> {
    match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    }
}

fn renderer() -> Renderer {
    Renderer::styled().hyperlink(false).term_width(columns(&io::stderr(), 140))
}

fn at(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A line to show, and the bytes of it to underline.
struct QuotedLine {
    line: String,
    marked: Range<usize>,
}

/// The lines of the sources. None is kept: an agent may have written millions of them.
struct SourceLines<'s> {
    sources: &'s SourceTexts,
    /// Where the last line that was looked for begins, by its file: problems come in order.
    last: BTreeMap<String, (u32, usize)>,
}

impl<'s> SourceLines<'s> {
    fn new(sources: &'s SourceTexts) -> Self {
        Self { sources, last: BTreeMap::new() }
    }

    fn line(&mut self, place: &Place) -> Option<&'s str> {
        let source = self.sources.get(&place.file)?;
        let source = source.strip_prefix('\u{feff}').unwrap_or(source);
        let last = self.last.get(&*place.file).filter(|(line, _)| *line <= place.line);
        let (line, start) = last.copied().unwrap_or((1, 0));
        let rest = source.get(start..)?;
        let start = match at(place.line).checked_sub(at(line))? {
            0 => start,
            further => start + memchr::memchr_iter(b'\n', rest.as_bytes()).nth(further - 1)? + 1,
        };
        self.last.insert(place.file.to_string(), (place.line, start));
        source.get(start..)?.lines().next()
    }

    fn quote(&mut self, place: &Place) -> Option<QuotedLine> {
        let line = self.line(place)?;
        let start = at(place.column).saturating_sub(1);
        let end = start.saturating_add(at(place.length).max(1));
        let (line, start, end) = cut(line, start, end);
        let line = sanitise::source_line(&line).into_owned();
        let marked = byte_of(&line, start)..byte_of(&line, end);
        Some(QuotedLine { line, marked })
    }
}

/// The part of a line around what is to be underlined; places count in characters.
fn cut(line: &str, start: usize, end: usize) -> (String, usize, usize) {
    if line.chars().nth(LONGEST_LINE).is_none() {
        return (line.to_owned(), start, end);
    }
    let from = start.saturating_sub(AROUND);
    let until = end.min(start.saturating_add(AROUND));
    let mut part = String::new();
    if from > 0 {
        part.push('…');
    }
    let before = from.saturating_sub(part.chars().count());
    let mut rest = line.chars().skip(from);
    part.extend(rest.by_ref().take(until - from + AROUND));
    if rest.next().is_some() {
        part.push('…');
    }
    (part, start - before, until - before)
}

fn byte_of(line: &str, character: usize) -> usize {
    line.char_indices().nth(character).map_or(line.len(), |(byte, _)| byte)
}

#[cfg(test)]
mod tests {
    use interlock_core::code::Code;

    use super::*;

    fn place(line: u32, column: u32, length: u32) -> Place {
        Place { file: "w.yaml".into(), line, column, length }
    }

    fn rendered(source: &str, list: &[Problem]) -> String {
        let sources = SourceTexts::from_iter([("w.yaml".to_owned(), source.to_owned())]);
        anstream::adapter::strip_str(problems(list, &sources).as_str()).to_string()
    }

    /// The text above the carets of the first underline.
    fn underlined(source: &str, at: Place) -> String {
        let shown = rendered(source, &[Problem::new(Code::UnknownKey, "wrong").at(at)]);
        let lines: Vec<&str> = shown.lines().collect();
        let carets = lines.iter().position(|line| line.contains('^')).expect("an underline");
        let width =
            |text: &str| text.chars().map(|c| unicode_width::UnicodeWidthChar::width(c).unwrap_or(0)).sum::<usize>();
        let (left, right) = (lines[carets].find('^').unwrap(), width(lines[carets]));
        let mut column = 0;
        let mut found = String::new();
        for character in lines[carets - 1].chars() {
            if column >= left && column < right {
                found.push(character);
            }
            column += unicode_width::UnicodeWidthChar::width(character).unwrap_or(0);
        }
        found
    }

    #[test]
    fn a_problem_shows_its_line() {
        let source = "routes:\n  developer:\n    DONE: { spwan: qa }\n";
        let problem = Problem::new(Code::UnknownKey, "`spwan` is not a key here").help("did you mean `spawn`?");
        insta::assert_snapshot!(rendered(source, &[problem.at(place(3, 13, 5))]));
    }

    #[test]
    fn all_problems_are_shown_and_counted() {
        let mut list = vec![
            Problem::new(Code::UnknownRole, "no role is called `qa`").at(place(3, 20, 2)),
            Problem::warning(Code::NeverReached, "never taken").at(place(2, 3, 9)),
            Problem::new(Code::MissingKey, "`workflow` is missing"),
            Problem::new(Code::UnknownKey, "`spwan` is not a key here").at(place(3, 13, 5)),
        ];
        sort(&mut list);
        insta::assert_snapshot!(rendered("routes:\n  developer:\n    DONE: { spwan: qa }\n", &list));
    }

    #[test]
    fn underlines_stand_under_what_they_mean() {
        assert_eq!(underlined("a: spwan\n", place(1, 4, 5)), "spwan");
        assert_eq!(underlined("\ta:\tspwan\n", place(1, 5, 5)), "spwan");
        assert_eq!(underlined("ä: ünï, spwan\n", place(1, 9, 5)), "spwan");
        assert_eq!(underlined("役割: 開発者\n", place(1, 5, 3)), "開発者");
        assert_eq!(underlined("a: \u{1b}[31m spwan\n", place(1, 10, 5)), "spwan");
        assert_eq!(underlined("\u{feff}spwan: 1\r\n", place(1, 1, 5)), "spwan");
    }

    #[test]
    fn places_outside_the_text_do_no_harm() {
        let source = "a: 1\n";
        for at in [
            place(1, 5, 1),
            place(1, 90, 1),
            place(7, 1, 1),
            place(0, 0, 0),
            place(1, 2, 900),
            place(u32::MAX, u32::MAX, u32::MAX),
        ] {
            let shown = rendered(source, &[Problem::new(Code::YamlSyntax, "wrong").at(at)]);
            assert!(shown.starts_with("error[E0101]: wrong\n"), "{shown}");
        }
    }

    #[test]
    fn an_endless_line_is_cut_around_its_problem() {
        let source = format!("{}spwan{}\n", "x".repeat(3_000_000), "y".repeat(100_000));
        assert_eq!(underlined(&source, place(1, 3_000_001, 5)), "spwan");
        let shown = rendered(&source, &[Problem::new(Code::UnknownKey, "wrong").at(place(1, 3_000_001, 5))]);
        assert!(shown.contains("w.yaml:1:3000001"), "{shown}");
        assert!(shown.len() < 2_000);
    }

    #[test]
    fn hostile_text_cannot_reach_a_terminal() {
        let hostile = "\u{1b}]52;c;aGk=\u{7}\n\u{9b}2J\r";
        let sources = SourceTexts::from_iter([(hostile.to_owned(), hostile.to_owned())]);
        let at = Place { file: hostile.into(), line: 1, column: 3, length: 4 };
        let list = [Problem::new(Code::UnknownKey, hostile).help(hostile).field(hostile).at(at)];
        let shown = problems(&list, &sources);
        // Only the renderer's own colours are left.
        let plain = anstream::adapter::strip_str(shown.as_str()).to_string();
        assert!(plain.contains("␛]52;c;aGk=␇"), "{plain}");
        assert!(!plain.chars().any(|character| character.is_control() && character != '\n'), "{plain}");
        assert!(!shown.as_str().contains("\u{1b}]"));
    }
}
