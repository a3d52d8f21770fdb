//! How wide text will be, without asking a font.
//!
//! The picture is drawn with whatever fonts the reader has, so widths are those of
//! the widest common ones: text may come out narrower than its box, never wider.

use interlock_core::graph::{Edge, Label, Mark, Node};

/// Longer names are cut in the picture; the whole name is in its tooltip.
const LONGEST: usize = 44;

/// How wide what is said on arrows, and in boxes about themselves, may be before it is broken.
const WIDEST_LABEL: f64 = 176.0;
const WIDEST_NOTE: f64 = 270.0;

/// One look of text; its name is its class in the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Face {
    Title,
    /// A title on a dark box.
    OnDark,
    Note,
    Code,
    Detail,
    Sign(Mark),
    Heading,
    About,
    TableTitle,
    Lane,
}

impl Face {
    pub(super) fn class(self) -> &'static str {
        match self {
            Face::Title => "title",
            Face::OnDark => "title light-text",
            Face::Note => "note",
            Face::Code => "code",
            Face::Detail => "detail",
            Face::Sign(Mark::Note) => "note",
            Face::Sign(Mark::Again) => "sign rework-ink",
            Face::Sign(Mark::Back) => "sign consult-ink",
            Face::Sign(Mark::Up) => "sign escalation-ink",
            Face::Sign(Mark::Stop) => "sign stop-ink",
            Face::Heading => "heading",
            Face::About => "about",
            Face::TableTitle => "table-title",
            Face::Lane => "lane-name",
        }
    }

    fn size(self) -> f64 {
        match self {
            Face::Heading => 20.0,
            Face::Title | Face::OnDark | Face::About => 13.0,
            Face::TableTitle => 12.0,
            Face::Note | Face::Code | Face::Detail | Face::Sign(_) | Face::Lane => 11.0,
        }
    }

    fn line(self) -> f64 {
        match self {
            Face::Heading => 28.0,
            Face::Title | Face::OnDark | Face::About | Face::TableTitle => 18.0,
            Face::Note | Face::Code | Face::Detail | Face::Sign(_) | Face::Lane => 15.0,
        }
    }

    fn width_of(self, character: char) -> f64 {
        let em = match self {
            Face::Code => fixed(character),
            Face::Title | Face::OnDark | Face::Heading | Face::TableTitle | Face::Lane => proportional(character) * 1.1,
            Face::Note | Face::Detail | Face::About => proportional(character),
            Face::Sign(_) => 1.0,
        };
        em * self.size()
    }
}

fn fixed(character: char) -> f64 {
    if is_wide(character) { 1.05 } else { 0.605 }
}

fn proportional(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | '\'' | '.' | ',' | ':' | ';' | '|' | '!' => 0.34,
        'f' | 't' | 'r' | ' ' | '(' | ')' | '[' | ']' | '/' | '-' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '→' | '←' | '≤' => 0.95,
        'a'..='z' | '0'..='9' | '_' | '{' | '}' | '"' => 0.63,
        'A'..='Z' => 0.72,
        other if is_wide(other) => 1.05,
        _ => 0.8,
    }
}

/// Scripts whose characters fill a square.
fn is_wide(character: char) -> bool {
    u32::from(character) >= 0x1100
}

#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) face: Face,
}

/// Spans that stand on one line.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) spans: Vec<Span>,
}

impl Row {
    pub(super) fn one(text: &str, face: Face) -> Self {
        Self { spans: vec![Span { text: clean(text), face }] }
    }

    pub(super) fn width(&self) -> f64 {
        let gaps = self.spans.len().saturating_sub(1) as f64 * SPAN_GAP;
        self.spans.iter().map(|span| width(&span.text, span.face)).sum::<f64>() + gaps
    }

    pub(super) fn height(&self) -> f64 {
        self.spans.iter().map(|span| span.face.line()).fold(0.0, f64::max)
    }
}

/// Between the spans of a row.
pub(super) const SPAN_GAP: f64 = 5.0;

pub(super) fn width(text: &str, face: Face) -> f64 {
    text.chars().map(|character| face.width_of(character)).sum()
}

/// Rows under each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub(super) rows: Vec<Row>,
}

impl Block {
    pub(super) fn width(&self) -> f64 {
        self.rows.iter().map(Row::width).fold(0.0, f64::max)
    }

    pub(super) fn height(&self) -> f64 {
        self.rows.iter().map(Row::height).sum()
    }

    pub(super) fn of_node(node: &Node) -> Self {
        let mut rows = vec![Row::one(&node.title, Face::Title)];
        for line in &node.lines {
            match line.mark {
                Mark::Note => rows.extend(label_rows(&line.label, WIDEST_NOTE)),
                mark @ (Mark::Again | Mark::Back | Mark::Up | Mark::Stop) => {
                    let mut own = label_rows(&line.label, WIDEST_LABEL);
                    if let Some(first) = own.first_mut() {
                        first.spans.insert(0, Span { text: mark.sign().to_owned(), face: Face::Sign(mark) });
                    }
                    rows.append(&mut own);
                }
            }
        }
        Self { rows }
    }

    pub(super) fn of_edge(edge: &Edge) -> Self {
        let mut rows: Vec<Row> = edge.labels.iter().flat_map(|label| label_rows(label, WIDEST_LABEL)).collect();
        if edge.more > 0 {
            rows.push(Row::one(&format!("+{} more", edge.more), Face::Detail));
        }
        Self { rows }
    }

    /// A text broken at spaces, no line wider than `most`.
    pub(super) fn wrapped(text: &str, face: Face, most: f64) -> Self {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace().map(clean) {
            match lines.last_mut() {
                Some(line) if width(&format!("{line} {word}"), face) <= most => {
                    line.push(' ');
                    line.push_str(&word);
                }
                Some(_) | None => lines.push(word),
            }
        }
        Self { rows: lines.into_iter().map(|text| Row { spans: vec![Span { text, face }] }).collect() }
    }
}

/// The status and its detail on one line, or on several.
fn label_rows(label: &Label, widest: f64) -> Vec<Row> {
    let code = (!label.text.is_empty()).then(|| Span { text: clean(&label.text), face: Face::Code });
    let detail = (!label.detail.is_empty()).then(|| Span { text: clean(&label.detail), face: Face::Detail });
    let row = Row { spans: code.clone().into_iter().chain(detail).collect() };
    if row.width() <= widest && label.detail.chars().count() <= LONGEST {
        return vec![row];
    }
    let code = code.map(|span| Row { spans: vec![span] });
    code.into_iter().chain(Block::wrapped(&label.detail, Face::Detail, widest).rows).collect()
}

/// One line of bounded length.
pub(super) fn clean(text: &str) -> String {
    let mut kept: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    if kept.chars().count() > LONGEST {
        kept = kept.chars().take(LONGEST - 1).collect();
        kept.push('…');
    }
    kept
}
