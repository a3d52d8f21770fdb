//! A drawing that needs nothing else: no script, no font, no second file.
//!
//! `dagre` says who stands in which row and in which order (`rank`); the lines are
//! drawn here with right angles between the rows (`ports`, `tracks`, `route`), so that
//! none of them runs through a box or on top of another.

mod arrow;
mod back_edges;
mod edge_lists;
mod panel;
mod ports;
mod rank;
mod route;
mod search;
mod shape;
mod style;
#[cfg(test)]
mod tests;
mod text;
mod tracks;
mod xml;

use interlock_core::graph::WorkflowGraph;

use super::edge_text;
use panel::PanelCard;
use ports::BETWEEN_PORTS;
use rank::BoxSize;
use route::{Rect, RoutedEdge, RoutedGraph};
use search::LayoutProblem;
use shape::NodeShape;
use text::{TextBlock, TextRow, TextStyle};
use xml::{TextAnchor, XmlWriter, number};

const MARGIN: f64 = 28.0;
/// Around the boxes of a lane; its name stands above them.
const LANE_ABOVE: f64 = 26.0;
const LANE_BELOW: f64 = 16.0;
const LANE_SIDE: f64 = 20.0;
const LABEL_SIDE: f64 = 7.0;
const LABEL_ABOVE: f64 = 3.0;
/// The least width that boxes without arrows fill before they start another row.
const LOOSE_WIDTH: f64 = 900.0;

struct SvgDrawing<'a> {
    shapes: Vec<NodeShape<'a>>,
    labels: Vec<TextBlock>,
    boxes: Vec<Rect>,
    lines: Vec<RoutedEdge>,
    lanes: Vec<(usize, Rect)>,
    size: BoxSize,
}

pub(super) fn write(graph: &WorkflowGraph) -> String {
    let graph = &edge_lists::listed(graph);
    let picture = picture(graph);
    let mut cards: Vec<PanelCard> = PanelCard::legend(graph).into_iter().collect();
    cards.extend(graph.tables.iter().map(PanelCard::of_table));
    let (places, size) = panel::arrange(&cards, picture.size);
    let header = header(graph, size.width);
    let offset = MARGIN + header.height() + 18.0;
    let whole = BoxSize { width: size.width.max(header.width()) + 2.0 * MARGIN, height: offset + size.height + MARGIN };

    let mut xml = XmlWriter::default();
    open(&mut xml, graph, whole);
    let mut y = MARGIN;
    for row in &header.rows {
        xml.row(row, MARGIN, y + row.height() * 0.72, TextAnchor::Start);
        y += row.height();
    }
    xml.open("g", &[("transform", format!("translate({} {})", number(MARGIN), number(offset)))]);
    draw(&mut xml, graph, &picture);
    for (card, rect) in cards.iter().zip(places) {
        card.draw(&mut xml, rect);
    }
    xml.close("g");
    xml.close("svg");
    xml.finish()
}

fn open(xml: &mut XmlWriter, graph: &WorkflowGraph, size: BoxSize) {
    let (width, height) = (number(size.width.ceil()), number(size.height.ceil()));
    xml.open(
        "svg",
        &[
            ("xmlns", "http://www.w3.org/2000/svg".to_owned()),
            ("width", width.clone()),
            ("height", height.clone()),
            ("viewBox", format!("0 0 {width} {height}")),
            ("role", "img".to_owned()),
            ("aria-labelledby", "graph-title graph-desc".to_owned()),
        ],
    );
    xml.element("title", &[("id", "graph-title".to_owned())], &format!("Workflow {}", graph.name));
    xml.element("desc", &[("id", "graph-desc".to_owned())], &describe(graph));
    xml.style(style::SHEET);
    xml.empty("rect", &[("class", "page".to_owned()), ("width", width), ("height", height)]);
}

/// The picture in words, for those who cannot see it.
fn describe(graph: &WorkflowGraph) -> String {
    let mut sentences: Vec<String> = graph.about.iter().cloned().collect();
    for edge in &graph.edges {
        sentences.push(format!("{}.", edge_text::sentence(graph, edge)));
    }
    sentences.join(" ")
}

fn header(graph: &WorkflowGraph, width: f64) -> TextBlock {
    let mut rows = vec![TextRow::one(&graph.name, TextStyle::Heading)];
    if let Some(about) = &graph.about {
        rows.extend(TextBlock::wrapped(about, TextStyle::About, width.max(500.0)).rows);
    }
    TextBlock { rows }
}

fn picture(graph: &WorkflowGraph) -> SvgDrawing<'_> {
    let shapes: Vec<NodeShape<'_>> = graph.nodes.iter().map(NodeShape::new).collect();
    let labels: Vec<TextBlock> = graph.edges.iter().map(TextBlock::of_edge).collect();
    let ends = rank::ends(graph);
    let most = ports::most_on_a_side(shapes.len(), &ends);
    let least = |index: usize| most.get(index).map_or(0.0, |ports| *ports as f64 * BETWEEN_PORTS);
    let sizes: Vec<BoxSize> = shapes.iter().enumerate().map(|(index, shape)| shape.size(least(index))).collect();
    let inset: Vec<f64> = shapes.iter().map(NodeShape::inset).collect();
    let label_sizes: Vec<Option<BoxSize>> = labels.iter().map(label_size).collect();

    let task = LayoutProblem { graph, ends: &ends, nodes: &sizes, inset: &inset, labels: &label_sizes };
    let mut routed = search::best(&task);
    turn(graph, &mut routed);
    let boxes = place_loose(&routed, &sizes);
    let mut picture = SvgDrawing {
        shapes,
        labels,
        boxes,
        lines: routed.lines,
        lanes: Vec::new(),
        size: BoxSize { width: 0.0, height: 0.0 },
    };
    picture.lanes = lanes(graph, &picture.boxes);
    settle(graph, &mut picture);
    picture
}

fn label_size(block: &TextBlock) -> Option<BoxSize> {
    let size = BoxSize { width: block.width() + 2.0 * LABEL_SIDE, height: block.height() + 2.0 * LABEL_ABOVE };
    (!block.rows.is_empty()).then_some(size)
}

/// Lines come from the top; arrows point where they point.
fn turn(graph: &WorkflowGraph, routed: &mut RoutedGraph) {
    for line in &mut routed.lines {
        let from = graph.edges.get(line.edge).and_then(|edge| routed.nodes.get(edge.from)).copied().flatten();
        let starts_there = from.zip(line.points.first()).is_some_and(|(rect, first)| {
            first.y >= rect.y && first.y <= rect.bottom() && first.x >= rect.x && first.x <= rect.right()
        });
        if !starts_there {
            line.points.reverse();
        }
    }
}

/// Boxes that no arrow touches stand in rows below the others.
fn place_loose(routed: &RoutedGraph, sizes: &[BoxSize]) -> Vec<Rect> {
    let placed = || routed.nodes.iter().flatten();
    let loose = routed.nodes.iter().zip(sizes).filter(|(rect, _)| rect.is_none()).map(|(_, size)| size);
    let area: f64 = loose.map(|size| (size.width + MARGIN) * (size.height + MARGIN)).sum();
    let right = placed().map(Rect::right).fold(LOOSE_WIDTH.max(area.sqrt() * 1.3), f64::max);
    let (mut x, mut y, mut tallest) = (0.0f64, placed().map(Rect::bottom).fold(0.0, f64::max), 0.0f64);
    if y > 0.0 {
        y += MARGIN;
    }
    let mut boxes = Vec::new();
    for (rect, size) in routed.nodes.iter().zip(sizes) {
        boxes.push(rect.unwrap_or_else(|| {
            if x > 0.0 && x + size.width > right {
                y += tallest + MARGIN;
                (x, tallest) = (0.0, 0.0);
            }
            let rect = Rect { x, y, width: size.width, height: size.height };
            x = rect.right() + MARGIN;
            tallest = tallest.max(size.height);
            rect
        }));
    }
    boxes
}

/// A band behind the boxes of each lane; none at all if they would overlap.
fn lanes(graph: &WorkflowGraph, boxes: &[Rect]) -> Vec<(usize, Rect)> {
    let mut bands: Vec<(usize, Rect)> = Vec::new();
    for index in 0..graph.lanes.len() {
        let own = graph.nodes.iter().zip(boxes).filter(|(node, _)| node.lane == Some(index)).map(|(_, rect)| rect);
        let top = own.clone().map(|rect| rect.y).fold(f64::INFINITY, f64::min);
        let bottom = own.map(Rect::bottom).fold(f64::NEG_INFINITY, f64::max);
        let above = bands.last().map_or(f64::NEG_INFINITY, |(_, rect)| rect.bottom());
        let band = Rect { x: 0.0, y: top - LANE_ABOVE, width: 0.0, height: bottom - top + LANE_ABOVE + LANE_BELOW };
        if !top.is_finite() || band.y < above {
            return Vec::new();
        }
        bands.push((index, band));
    }
    bands
}

/// Moves everything so that the picture begins at zero.
fn settle(graph: &WorkflowGraph, picture: &mut SvgDrawing<'_>) {
    let side = if picture.lanes.is_empty() { 0.0 } else { LANE_SIDE };
    let labels = picture.lines.iter().filter_map(|line| line.label);
    let points = picture.lines.iter().flat_map(|line| &line.points);
    let rects = || picture.boxes.iter().copied().chain(labels.clone());
    let left =
        rects().map(|rect| rect.x).chain(points.clone().map(|point| point.x - 4.0)).fold(f64::INFINITY, f64::min);
    let right = rects().map(|rect| rect.right()).chain(points.map(|point| point.x + 4.0)).fold(0.0, f64::max);
    let tops = picture.boxes.iter().chain(picture.lanes.iter().map(|(_, rect)| rect));
    let top = tops.clone().map(|rect| rect.y).fold(f64::INFINITY, f64::min);
    let bottom = tops.map(Rect::bottom).fold(0.0, f64::max);
    let (left, top) = (if left.is_finite() { left } else { 0.0 }, if top.is_finite() { top } else { 0.0 });
    // The first box of a lane is entered from above: its name must not stand there.
    let names = graph.lanes.iter().map(|name| text::width(name, TextStyle::Lane)).fold(0.0, f64::max);
    let entered = picture.boxes.iter().map(|rect| rect.centre().x).fold(f64::INFINITY, f64::min) - left;
    let extra = if picture.lanes.is_empty() { 0.0 } else { (names + LANE_SIDE - entered).max(0.0) };
    let (dx, dy) = (side + extra - left, -top);
    picture.size = BoxSize { width: right - left + 2.0 * side + extra, height: bottom - top };
    let moved = |rect: &mut Rect| {
        rect.x += dx;
        rect.y += dy;
    };
    picture.boxes.iter_mut().for_each(moved);
    for (_, band) in &mut picture.lanes {
        band.y += dy;
        band.width = picture.size.width;
    }
    for line in &mut picture.lines {
        line.label.iter_mut().for_each(moved);
        for point in &mut line.points {
            point.x += dx;
            point.y += dy;
        }
    }
}

/// Behind to front: lanes, lines, boxes, labels.
fn draw(xml: &mut XmlWriter, graph: &WorkflowGraph, picture: &SvgDrawing<'_>) {
    for (index, rect) in &picture.lanes {
        lane(xml, graph.lanes.get(*index).map_or("", String::as_str), *rect);
    }
    for line in &picture.lines {
        if let Some(edge) = graph.edges.get(line.edge) {
            arrow::line(xml, edge, line, &edge_text::sentence(graph, edge));
        }
    }
    for (shape, rect) in picture.shapes.iter().zip(&picture.boxes) {
        shape.draw(xml, *rect);
    }
    for line in &picture.lines {
        let (edge, text) = (graph.edges.get(line.edge), picture.labels.get(line.edge));
        if let (Some(edge), Some(text), Some(rect)) = (edge, text, line.label) {
            arrow::label(xml, edge, rect, text);
        }
    }
}

fn lane(xml: &mut XmlWriter, name: &str, rect: Rect) {
    xml.empty(
        "rect",
        &[
            ("class", "lane".to_owned()),
            ("x", number(rect.x)),
            ("y", number(rect.y)),
            ("width", number(rect.width)),
            ("height", number(rect.height)),
            ("rx", "10".to_owned()),
        ],
    );
    xml.row(&TextRow::one(name, TextStyle::Lane), rect.x + LANE_SIDE - 6.0, rect.y + 17.0, TextAnchor::Start);
}
