//! The tables and the legend, as cards beside or below the picture.

use interlock_core::graph::{EdgeKind, GraphTable, NodeLineMark, WorkflowGraph};

use super::arrow;
use super::rank::BoxSize;
use super::route::{Point, Rect};
use super::text::{TextBlock, TextRow, TextStyle};
use super::xml::{TextAnchor, XmlWriter, number};

const PADDING: f64 = 12.0;
const BETWEEN: f64 = 16.0;
const WIDEST_LEFT: f64 = 190.0;
const WIDEST_RIGHT: f64 = 310.0;
const SAMPLE: f64 = 44.0;

enum CardCell {
    Text(TextBlock),
    /// A piece of line as it is drawn.
    Sample(EdgeKind),
    Dashed,
}

pub(super) struct PanelCard {
    title: TextRow,
    rows: Vec<(CardCell, TextBlock)>,
    left: f64,
}

impl PanelCard {
    pub(super) fn of_table(table: &GraphTable) -> Self {
        let rows: Vec<(CardCell, TextBlock)> = table
            .rows
            .iter()
            .map(|(what, of_it)| {
                let left = TextBlock::wrapped(what, TextStyle::Code, WIDEST_LEFT);
                (CardCell::Text(left), TextBlock::wrapped(of_it, TextStyle::Note, WIDEST_RIGHT))
            })
            .collect();
        Self::new(&table.title, rows)
    }

    /// Only what the picture has is explained.
    pub(super) fn legend(graph: &WorkflowGraph) -> Option<Self> {
        let mut rows: Vec<(CardCell, TextBlock)> = Vec::new();
        let words = |text: &str| TextBlock::wrapped(text, TextStyle::Note, WIDEST_RIGHT);
        for kind in EdgeKind::ALL {
            if graph.edges.iter().any(|edge| edge.kind == kind) {
                rows.push((CardCell::Sample(kind), words(kind.meaning())));
            }
        }
        let has = |mark: NodeLineMark| graph.nodes.iter().any(|node| node.lines.iter().any(|line| line.mark == mark));
        for mark in [NodeLineMark::Again, NodeLineMark::Back, NodeLineMark::Up, NodeLineMark::Stop]
            .into_iter()
            .filter(|mark| has(*mark))
        {
            let sign = TextBlock { rows: vec![TextRow::one(mark.sign(), TextStyle::Sign(mark))] };
            rows.push((CardCell::Text(sign), words(mark.meaning())));
        }
        if graph.nodes.iter().any(|node| node.optional) {
            rows.push((CardCell::Dashed, words("left out unless its condition holds")));
        }
        if graph.edges.iter().flat_map(|edge| &edge.labels).any(|label| label.detail.contains('≤')) {
            let sample = TextBlock { rows: vec![TextRow::one("loop ≤n", TextStyle::Detail)] };
            rows.push((CardCell::Text(sample), words("counted: iteration n escalates instead")));
        }
        (!rows.is_empty()).then(|| Self::new("What the lines mean", rows))
    }

    fn new(title: &str, rows: Vec<(CardCell, TextBlock)>) -> Self {
        let left = rows.iter().map(|(left, _)| left_width(left)).fold(0.0, f64::max);
        let title = TextBlock::wrapped(title, TextStyle::TableTitle, WIDEST_LEFT + WIDEST_RIGHT);
        Self { title: title.rows.into_iter().next().unwrap_or_default(), rows, left }
    }

    pub(super) fn size(&self) -> BoxSize {
        let right = self.rows.iter().map(|(_, block)| block.width()).fold(0.0, f64::max);
        let gap = if self.left > 0.0 { PADDING } else { 0.0 };
        let width = (self.left + gap + right).max(self.title.width()) + 2.0 * PADDING;
        let rows: f64 = self.rows.iter().map(row_height).sum();
        BoxSize { width, height: self.title.height() + 8.0 + rows + 2.0 * PADDING - 4.0 }
    }

    pub(super) fn draw(&self, xml: &mut XmlWriter, rect: Rect) {
        xml.open("g", &[("class", "table".to_owned())]);
        xml.empty(
            "rect",
            &[
                ("class", "card".to_owned()),
                ("x", number(rect.x)),
                ("y", number(rect.y)),
                ("width", number(rect.width)),
                ("height", number(rect.height)),
                ("rx", "8".to_owned()),
            ],
        );
        let x = rect.x + PADDING;
        let mut y = rect.y + PADDING - 2.0;
        xml.row(&self.title, x, y + self.title.height() * 0.72, TextAnchor::Start);
        y += self.title.height() + 8.0;
        let right = if self.left > 0.0 { x + self.left + PADDING } else { x };
        for row in &self.rows {
            match &row.0 {
                CardCell::Text(block) => text(xml, block, x, y),
                CardCell::Sample(kind) => sample(xml, *kind, x, y + 7.5),
                CardCell::Dashed => dashed(xml, x, y + 1.5),
            }
            text(xml, &row.1, right, y);
            y += row_height(row);
        }
        xml.close("g");
    }
}

fn left_width(left: &CardCell) -> f64 {
    match left {
        CardCell::Text(block) => block.width(),
        CardCell::Sample(_) | CardCell::Dashed => SAMPLE,
    }
}

fn row_height((left, right): &(CardCell, TextBlock)) -> f64 {
    let left = match left {
        CardCell::Text(block) => block.height(),
        CardCell::Sample(_) | CardCell::Dashed => 15.0,
    };
    left.max(right.height()) + 3.0
}

fn text(xml: &mut XmlWriter, block: &TextBlock, x: f64, y: f64) {
    let mut y = y;
    for row in &block.rows {
        xml.row(row, x, y + row.height() * 0.72, TextAnchor::Start);
        y += row.height();
    }
}

fn sample(xml: &mut XmlWriter, kind: EdgeKind, x: f64, y: f64) {
    xml.open("g", &[("class", arrow::class(kind).to_owned())]);
    let both = matches!(kind, EdgeKind::Consult | EdgeKind::Question);
    let (from, to) = (if both { x + 8.0 } else { x }, x + SAMPLE - 8.0);
    let path = arrow::path(&[Point { x: from, y }, Point { x: to, y }]);
    xml.empty("path", &[("class", "line".to_owned()), ("d", path)]);
    arrow::head(xml, Point { x: x + SAMPLE, y }, Point { x: to, y });
    if both {
        arrow::head(xml, Point { x, y }, Point { x: from, y });
    }
    xml.close("g");
}

fn dashed(xml: &mut XmlWriter, x: f64, y: f64) {
    xml.open("g", &[("class", "optional".to_owned())]);
    xml.empty(
        "rect",
        &[
            ("class", "box".to_owned()),
            ("x", number(x)),
            ("y", number(y)),
            ("width", number(SAMPLE)),
            ("height", "12".to_owned()),
            ("rx", "4".to_owned()),
        ],
    );
    xml.close("g");
}

/// Cards in columns: beside a tall picture, below a wide one.
pub(super) fn arrange(cards: &[PanelCard], picture: BoxSize) -> (Vec<Rect>, BoxSize) {
    let widest = cards.iter().map(|card| card.size().width).fold(0.0, f64::max);
    let beside = picture.width < picture.height * 1.25;
    let all: f64 = cards.iter().map(|card| card.size().height + BETWEEN).sum();
    let columns = if beside {
        (all / picture.height.max(400.0)).ceil().max(1.0)
    } else {
        ((picture.width + BETWEEN) / (widest + BETWEEN)).floor().max(1.0)
    };
    let columns = (columns as usize).min(cards.len().max(1));
    let mut heights = vec![0.0f64; columns];
    let (left, top) = if beside { (picture.width + 2.0 * BETWEEN, 0.0) } else { (0.0, picture.height + 2.0 * BETWEEN) };
    let mut rects = Vec::new();
    for card in cards {
        // The shortest column, the first of several.
        let mut column = 0;
        for (index, height) in heights.iter().enumerate() {
            if heights.get(column).is_some_and(|best| height < best) {
                column = index;
            }
        }
        let size = BoxSize { width: widest, ..card.size() };
        let filled = heights.get(column).copied().unwrap_or(0.0);
        let x = left + column as f64 * (widest + BETWEEN);
        rects.push(Rect { x, y: top + filled, width: size.width, height: size.height });
        if let Some(slot) = heights.get_mut(column) {
            *slot += size.height + BETWEEN;
        }
    }
    let right = rects.iter().map(Rect::right).fold(picture.width, f64::max);
    let bottom = rects.iter().map(Rect::bottom).fold(picture.height, f64::max);
    (rects, BoxSize { width: right, height: bottom })
}
