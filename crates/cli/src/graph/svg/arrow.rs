//! Lines, arrowheads, labels.

use interlock_core::graph::{EdgeKind, GraphEdge};

use super::route::{Point, Rect, RoutedEdge};
use super::text::TextBlock;
use super::xml::{TextAnchor, XmlWriter, number};

const ROUNDING: f64 = 7.0;
const HEAD: f64 = 8.0;
const HALF_HEAD: f64 = 4.2;

pub(super) fn class(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Forward => "forward",
        EdgeKind::Rework => "rework",
        EdgeKind::Consult => "consult",
        EdgeKind::Escalation => "escalation",
        EdgeKind::Question => "question-line",
    }
}

/// The line and its heads. A halo keeps lines that cross apart.
pub(super) fn line(xml: &mut XmlWriter, edge: &GraphEdge, line: &RoutedEdge, what: &str) {
    xml.open("g", &[("class", format!("edge {}", class(edge.kind)))]);
    xml.element("title", &[], what);
    let mut points = line.points.clone();
    let heads = [shorten(&mut points, true), edge.returns.then(|| shorten(&mut points, false)).flatten()];
    let path = path(&points);
    xml.empty("path", &[("class", "halo".to_owned()), ("d", path.clone())]);
    xml.empty("path", &[("class", "line".to_owned()), ("d", path)]);
    for (tip, base) in heads.into_iter().flatten() {
        head(xml, tip, base);
    }
    xml.close("g");
}

pub(super) fn label(xml: &mut XmlWriter, edge: &GraphEdge, rect: Rect, text: &TextBlock) {
    xml.open("g", &[("class", format!("edge {}", class(edge.kind)))]);
    xml.empty(
        "rect",
        &[
            ("class", "label".to_owned()),
            ("x", number(rect.x)),
            ("y", number(rect.y)),
            ("width", number(rect.width)),
            ("height", number(rect.height)),
            ("rx", "5".to_owned()),
        ],
    );
    let mut y = rect.y + (rect.height - text.height()) / 2.0;
    for row in &text.rows {
        xml.row(row, rect.centre().x, y + row.height() * 0.72, TextAnchor::Middle);
        y += row.height();
    }
    xml.close("g");
}

/// Ends the line where its head begins; tells the tip and the base of the head.
fn shorten(points: &mut [Point], at_end: bool) -> Option<(Point, Point)> {
    let (last, before) = if at_end {
        match points {
            [.., before, last] => (last, before),
            [] | [_] => return None,
        }
    } else {
        match points {
            [first, second, ..] => (first, second),
            [] | [_] => return None,
        }
    };
    let tip = *last;
    let down = if before.y < last.y { -HEAD } else { HEAD };
    last.y += down;
    Some((tip, *last))
}

pub(super) fn head(xml: &mut XmlWriter, tip: Point, base: Point) {
    // Heads are as wide across as the way they point is not.
    let (dx, dy) = if (tip.x - base.x).abs() > (tip.y - base.y).abs() { (0.0, HALF_HEAD) } else { (HALF_HEAD, 0.0) };
    let corners = [(tip.x, tip.y), (base.x - dx, base.y - dy), (base.x + dx, base.y + dy)];
    let points: Vec<String> = corners.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
    xml.empty("polygon", &[("class", "head".to_owned()), ("points", points.join(" "))]);
}

/// Through all points, with rounded corners.
pub(super) fn path(points: &[Point]) -> String {
    let mut out = String::new();
    for (index, point) in points.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| points.get(index));
        let after = points.get(index + 1);
        match (before, after) {
            (None, _) => out.push_str(&format!("M {} {}", number(point.x), number(point.y))),
            (Some(_), None) => out.push_str(&format!(" L {} {}", number(point.x), number(point.y))),
            (Some(before), Some(after)) => {
                let radius = ROUNDING.min(distance(*before, *point) / 2.0).min(distance(*point, *after) / 2.0);
                let (into, out_of) = (towards(*point, *before, radius), towards(*point, *after, radius));
                out.push_str(&format!(
                    " L {} {} Q {} {} {} {}",
                    number(into.x),
                    number(into.y),
                    number(point.x),
                    number(point.y),
                    number(out_of.x),
                    number(out_of.y)
                ));
            }
        }
    }
    out
}

fn distance(a: Point, b: Point) -> f64 {
    (a.x - b.x).hypot(a.y - b.y)
}

fn towards(from: Point, to: Point, by: f64) -> Point {
    let length = distance(from, to);
    let part = if length > 0.0 { by / length } else { 0.0 };
    Point { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
}
