//! How wide text will be, without asking a font.
//!
//! The picture is drawn with whatever fonts the reader has, so widths are those of
//! the widest common ones: text may come out narrower than its box, never wider.

use interlock_core::graph::{GraphEdge, GraphLabel, GraphNode, NodeLineMark};

/// Longer names are cut in the picture; the whole name is in its tooltip.
const LONGEST: usize = 44;

/// Widest line of an arrow's label and of a box's note before it is wrapped.
const WIDEST_LABEL: f64 = 176.0;
const WIDEST_NOTE: f64 = 270.0;

/// One look of text; its name is its class in the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextStyle {
    Title,
    /// A title on a dark box.
    OnDark,
    Note,
    Code,
    Detail,
    Sign(NodeLineMark),
    Heading,
    About,
    TableTitle,
    Lane,
}

impl TextStyle {
    pub(super) fn class(self) -> &'static str {
        match self {
            TextStyle::Title => "title",
            TextStyle::OnDark => "title light-text",
            TextStyle::Note => "note",
            TextStyle::Code => "code",
            TextStyle::Detail => "detail",
            TextStyle::Sign(NodeLineMark::Note) => "note",
            TextStyle::Sign(NodeLineMark::Again) => "sign rework-ink",
            TextStyle::Sign(NodeLineMark::Back) => "sign consult-ink",
            TextStyle::Sign(NodeLineMark::Up) => "sign escalation-ink",
            TextStyle::Sign(NodeLineMark::Stop) => "sign stop-ink",
            TextStyle::Heading => "heading",
            TextStyle::About => "about",
            TextStyle::TableTitle => "table-title",
            TextStyle::Lane => "lane-name",
        }
    }

    fn size(self) -> f64 {
        match self {
            TextStyle::Heading => 20.0,
            TextStyle::Title | TextStyle::OnDark | TextStyle::About => 13.0,
            TextStyle::TableTitle => 12.0,
            TextStyle::Note | TextStyle::Code | TextStyle::Detail | TextStyle::Sign(_) | TextStyle::Lane => 11.0,
        }
    }

    fn line(self) -> f64 {
        match self {
            TextStyle::Heading => 28.0,
            TextStyle::Title | TextStyle::OnDark | TextStyle::About | TextStyle::TableTitle => 18.0,
            TextStyle::Note | TextStyle::Code | TextStyle::Detail | TextStyle::Sign(_) | TextStyle::Lane => 15.0,
        }
    }

    fn width_of(self, character: char) -> f64 {
        let em = match self {
            TextStyle::Code => fixed(character),
            TextStyle::Title | TextStyle::OnDark | TextStyle::Heading | TextStyle::TableTitle | TextStyle::Lane => {
                proportional(character) * 1.1
            }
            TextStyle::Note | TextStyle::Detail | TextStyle::About => proportional(character),
            TextStyle::Sign(_) => 1.0,
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
pub(super) struct TextSpan {
    pub(super) text: String,
    pub(super) face: TextStyle,
}

/// Spans that stand on one line.
#[derive(Clone, Debug, Default)]
pub(super) struct TextRow {
    pub(super) spans: Vec<TextSpan>,
}

impl TextRow {
    pub(super) fn one(text: &str, face: TextStyle) -> Self {
        Self { spans: vec![TextSpan { text: clean(text), face }] }
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

pub(super) fn width(text: &str, face: TextStyle) -> f64 {
    text.chars().map(|character| face.width_of(character)).sum()
}

/// Rows under each other.
#[derive(Clone, Debug, Default)]
pub(super) struct TextBlock {
    pub(super) rows: Vec<TextRow>,
}

impl TextBlock {
    pub(super) fn width(&self) -> f64 {
        self.rows.iter().map(TextRow::width).fold(0.0, f64::max)
    }

    pub(super) fn height(&self) -> f64 {
        self.rows.iter().map(TextRow::height).sum()
    }

    pub(super) fn of_node(node: &GraphNode) -> Self {
        let mut rows = vec![TextRow::one(&node.title, TextStyle::Title)];
        for line in &node.lines {
            match line.mark {
                NodeLineMark::Note => rows.extend(label_rows(&line.label, WIDEST_NOTE)),
                mark @ (NodeLineMark::Again | NodeLineMark::Back | NodeLineMark::Up | NodeLineMark::Stop) => {
                    let mut own = label_rows(&line.label, WIDEST_LABEL);
                    if let Some(first) = own.first_mut() {
                        first.spans.insert(0, TextSpan { text: mark.sign().to_owned(), face: TextStyle::Sign(mark) });
                    }
                    rows.append(&mut own);
                }
            }
        }
        Self { rows }
    }

    pub(super) fn of_edge(edge: &GraphEdge) -> Self {
        let mut rows: Vec<TextRow> = edge.labels.iter().flat_map(|label| label_rows(label, WIDEST_LABEL)).collect();
        if edge.more > 0 {
            rows.push(TextRow::one(&format!("+{} more", edge.more), TextStyle::Detail));
        }
        Self { rows }
    }

    /// A text broken at spaces, no line wider than `most`.
    pub(super) fn wrapped(text: &str, face: TextStyle, most: f64) -> Self {
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
        Self { rows: lines.into_iter().map(|text| TextRow { spans: vec![TextSpan { text, face }] }).collect() }
    }
}

/// The status and its detail on one line, or on several.
fn label_rows(label: &GraphLabel, widest: f64) -> Vec<TextRow> {
    let code = (!label.text.is_empty()).then(|| TextSpan { text: clean(&label.text), face: TextStyle::Code });
    let detail = (!label.detail.is_empty()).then(|| TextSpan { text: clean(&label.detail), face: TextStyle::Detail });
    let row = TextRow { spans: code.clone().into_iter().chain(detail).collect() };
    if row.width() <= widest && label.detail.chars().count() <= LONGEST {
        return vec![row];
    }
    let code = code.map(|span| TextRow { spans: vec![span] });
    code.into_iter().chain(TextBlock::wrapped(&label.detail, TextStyle::Detail, widest).rows).collect()
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
