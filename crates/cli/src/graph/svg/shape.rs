//! Shape and size of each kind of box.

use interlock_core::graph::{GraphNode, NodeKind};

use super::rank::BoxSize;
use super::route::Rect;
use super::text::{TextBlock, TextStyle};
use super::xml::{TextAnchor, XmlWriter, number};

const PADDING: f64 = 12.0;
const ABOVE: f64 = 7.0;
/// The cut corners of a gate.
const CORNER: f64 = 12.0;
/// Room for the sign of a person.
const PERSON: f64 = 22.0;
/// How far the second outline of a stack stands out.
const STACK: f64 = 5.0;

/// One box with its text.
pub(super) struct NodeShape<'a> {
    pub(super) node: &'a GraphNode,
    pub(super) text: TextBlock,
}

impl<'a> NodeShape<'a> {
    pub(super) fn new(node: &'a GraphNode) -> Self {
        let text = match node.kind {
            NodeKind::Join => TextBlock::default(),
            NodeKind::Start
            | NodeKind::Role
            | NodeKind::Authors
            | NodeKind::Validator
            | NodeKind::Phase
            | NodeKind::Gate
            | NodeKind::Merge
            | NodeKind::Question
            | NodeKind::Groups
            | NodeKind::GroupCompleted
            | NodeKind::GroupDeferred
            | NodeKind::SessionCompleted => TextBlock::of_node(node),
        };
        Self { node, text }
    }

    /// The room it takes, if it is at least `least` wide.
    pub(super) fn size(&self, least: f64) -> BoxSize {
        let sides = match self.node.kind {
            NodeKind::Gate | NodeKind::Validator => 2.0 * (PADDING + CORNER / 2.0),
            NodeKind::Question => 2.0 * PADDING + PERSON,
            NodeKind::Merge => 2.0 * (PADDING + 6.0),
            NodeKind::Start | NodeKind::GroupCompleted | NodeKind::GroupDeferred | NodeKind::SessionCompleted => {
                2.0 * (PADDING + 6.0)
            }
            NodeKind::Authors | NodeKind::Groups => 2.0 * (PADDING + STACK),
            NodeKind::Role | NodeKind::Phase | NodeKind::Join => 2.0 * PADDING,
        };
        let stacked = if self.is_stack() { 2.0 * STACK } else { 0.0 };
        let height = if self.node.kind == NodeKind::Join { 8.0 } else { self.text.height() + 2.0 * ABOVE + stacked };
        let narrowest = if self.node.kind == NodeKind::Join { 120.0 } else { 60.0 };
        BoxSize { width: (self.text.width() + sides).max(least + 2.0 * self.inset()).max(narrowest).ceil(), height }
    }

    /// How far from its corners an arrow may touch it.
    pub(super) fn inset(&self) -> f64 {
        match self.node.kind {
            NodeKind::Gate | NodeKind::Validator => CORNER + 4.0,
            NodeKind::Start | NodeKind::GroupCompleted | NodeKind::GroupDeferred | NodeKind::SessionCompleted => 16.0,
            NodeKind::Authors | NodeKind::Groups => STACK + 10.0,
            NodeKind::Join => 6.0,
            NodeKind::Role | NodeKind::Phase | NodeKind::Merge | NodeKind::Question => 12.0,
        }
    }

    /// The sheet that carries the text.
    fn front(&self, rect: Rect) -> Rect {
        if !self.is_stack() {
            return rect;
        }
        let out = 2.0 * STACK;
        Rect { y: rect.y + out, width: rect.width - out, height: rect.height - out, ..rect }
    }

    fn is_stack(&self) -> bool {
        matches!(self.node.kind, NodeKind::Authors | NodeKind::Groups)
    }

    fn class(&self) -> &'static str {
        match self.node.kind {
            NodeKind::Start => "start",
            NodeKind::Role => "role",
            NodeKind::Authors => "authors",
            NodeKind::Validator => "validator",
            NodeKind::Phase => "phase",
            NodeKind::Gate => "gate",
            NodeKind::Merge => "merge",
            NodeKind::Question => "question",
            NodeKind::Join => "join",
            NodeKind::Groups => "groups",
            NodeKind::GroupCompleted | NodeKind::SessionCompleted => "end",
            NodeKind::GroupDeferred => "deferred",
        }
    }

    pub(super) fn draw(&self, xml: &mut XmlWriter, rect: Rect) {
        let optional = if self.node.optional { " optional" } else { "" };
        xml.open("g", &[("class", format!("node {}{optional}", self.class())), ("id", self.node.id.clone())]);
        xml.element("title", &[], &self.node.title);
        self.outline(xml, rect);
        let person = if self.node.kind == NodeKind::Question { PERSON } else { 0.0 };
        let front = self.front(rect);
        let middle = front.x + (front.width + person) / 2.0;
        let mut y = front.y + (front.height - self.text.height()) / 2.0;
        for row in &self.text.rows {
            let mut row = row.clone();
            if self.node.kind == NodeKind::Start {
                row.spans.iter_mut().for_each(|span| span.face = TextStyle::OnDark);
            }
            xml.row(&row, middle, y + row.height() * 0.72, TextAnchor::Middle);
            y += row.height();
        }
        xml.close("g");
    }

    fn outline(&self, xml: &mut XmlWriter, rect: Rect) {
        match self.node.kind {
            NodeKind::Gate | NodeKind::Validator => cut_corners(xml, rect),
            NodeKind::Authors | NodeKind::Groups => {
                let front = self.front(rect);
                for back in [2.0, 1.0] {
                    let behind = Rect { x: front.x + back * STACK, y: front.y - back * STACK, ..front };
                    rounded(xml, "behind", behind, 8.0);
                }
                rounded(xml, "box", front, 8.0);
            }
            NodeKind::Start | NodeKind::GroupCompleted | NodeKind::GroupDeferred | NodeKind::SessionCompleted => {
                rounded(xml, "box", rect, (rect.height / 2.0).min(16.0));
            }
            NodeKind::Merge => {
                rounded(xml, "box", rect, 4.0);
                for x in [rect.x + 6.0, rect.right() - 6.0] {
                    let ends =
                        [("x1", number(x)), ("x2", number(x)), ("y1", number(rect.y)), ("y2", number(rect.bottom()))];
                    let mut attributes = vec![("class", "box".to_owned())];
                    attributes.extend(ends);
                    xml.empty("line", &attributes);
                }
            }
            NodeKind::Question => {
                rounded(xml, "box", rect, 12.0);
                person(xml, rect);
            }
            NodeKind::Join => rounded(xml, "box", rect, 3.0),
            NodeKind::Role | NodeKind::Phase => rounded(xml, "box", rect, 8.0),
        }
    }
}

fn rounded(xml: &mut XmlWriter, class: &str, rect: Rect, radius: f64) {
    xml.empty(
        "rect",
        &[
            ("class", class.to_owned()),
            ("x", number(rect.x)),
            ("y", number(rect.y)),
            ("width", number(rect.width)),
            ("height", number(rect.height)),
            ("rx", number(radius)),
        ],
    );
}

fn cut_corners(xml: &mut XmlWriter, rect: Rect) {
    let (left, right, top, bottom) = (rect.x, rect.right(), rect.y, rect.bottom());
    let middle = rect.centre().y;
    let corners = [
        (left + CORNER, top),
        (right - CORNER, top),
        (right, middle),
        (right - CORNER, bottom),
        (left + CORNER, bottom),
        (left, middle),
    ];
    let points: Vec<String> = corners.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
    xml.empty("polygon", &[("class", "box".to_owned()), ("points", points.join(" "))]);
}

/// Head and shoulders, at the left of the box.
fn person(xml: &mut XmlWriter, rect: Rect) {
    let (x, y) = (rect.x + PADDING + 8.0, rect.centre().y);
    xml.empty(
        "circle",
        &[("class", "person".to_owned()), ("cx", number(x)), ("cy", number(y - 6.0)), ("r", "4.5".to_owned())],
    );
    let shoulders = format!("M {} {} a 8 8 0 0 1 16 0 z", number(x - 8.0), number(y + 9.0));
    xml.empty("path", &[("class", "person".to_owned()), ("d", shoulders)]);
}
