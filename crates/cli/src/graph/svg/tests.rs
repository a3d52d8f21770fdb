//! The drawing itself: well-formed, nothing on top of anything else.

use std::sync::OnceLock;

use interlock_core::graph::{EdgeKind, GraphEdge, GraphLabel, GraphNode, NodeKind, WorkflowGraph, graph};
use roxmltree::{Document, Node as Element};

use super::super::tests::{HOSTILE, NAMES, built_in, workflow};
use super::super::{GraphFormat, render};
use super::route::Rect;
use super::write;

/// Drawn once: looking for the best arrangement takes its time.
fn pictures() -> &'static [(String, String)] {
    static PICTURES: OnceLock<Vec<(String, String)>> = OnceLock::new();
    PICTURES.get_or_init(|| {
        let mut all: Vec<(String, String)> =
            NAMES.iter().map(|name| ((*name).to_owned(), write(&graph(&built_in(name))))).collect();
        all.push(("hostile".to_owned(), render(&workflow(HOSTILE), GraphFormat::Svg)));
        all.push(("two ways back from one row".to_owned(), write(&graph(&workflow(TWO_WAYS)))));
        // The first of them once had two lines on each other.
        all.extend([357].into_iter().chain(0..40).map(|seed| (format!("made up {seed}"), write(&made_up(seed)))));
        all
    })
}

/// Two phases beside each other, each with its own way back.
const TWO_WAYS: &str = "
workflow: two ways
language: 1
roles: { designer: { is: [author] }, left: {}, right: {} }
loops: { tries: 3 }
routes:
  any: { done: { advance: phase } }
  left: { NOT_GOOD_ENOUGH: { goto: design, loop: tries } }
  right: { SOMETHING_IS_MISSING: { goto: design, loop: tries } }
phases:
  - { phase: design, role: designer }
  - { together: [{ phase: one, role: left }, { phase: other, role: right }] }
";

/// Some graph or other: all kinds of boxes and arrows, back and forth, with and without labels.
fn made_up(seed: u64) -> WorkflowGraph {
    let mut state = seed;
    let mut below = move |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let kinds = [
        NodeKind::Start,
        NodeKind::Role,
        NodeKind::Authors,
        NodeKind::Gate,
        NodeKind::Merge,
        NodeKind::Question,
        NodeKind::Join,
        NodeKind::Groups,
        NodeKind::GroupCompleted,
        NodeKind::Phase,
    ];
    // Every third is a pipeline, the others have no phases.
    let kinds = if seed.is_multiple_of(3) { &kinds[..] } else { &kinds[..kinds.len() - 1] };
    let count = 1 + below(12);
    let nodes = (0..count).map(|index| GraphNode {
        id: format!("n{index}"),
        kind: kinds[below(kinds.len())],
        title: "x".repeat(1 + below(30)),
        lines: Vec::new(),
        optional: below(4) == 0,
        lane: None,
    });
    let nodes: Vec<GraphNode> = nodes.collect();
    let mut edges: Vec<GraphEdge> = Vec::new();
    for _ in 0..below(24) {
        let (from, to, kind) = (below(count), below(count), EdgeKind::ALL[below(5)]);
        let labels =
            (0..below(3)).map(|_| GraphLabel { text: "S".repeat(1 + below(20)), detail: String::new() }).collect();
        let known = edges.iter().any(|edge| (edge.from, edge.to, edge.kind) == (from, to, kind));
        if from != to && !known {
            edges.push(GraphEdge { from, to, kind, labels, more: below(3), returns: below(2) == 0 });
        }
    }
    WorkflowGraph { name: format!("made up {seed}"), about: None, nodes, edges, lanes: Vec::new(), tables: Vec::new() }
}

fn number(element: Element<'_, '_>, name: &str) -> f64 {
    let text = element.attribute(name).unwrap_or_else(|| panic!("no {name}"));
    text.parse().unwrap_or_else(|_| panic!("{name} is `{text}`"))
}

fn has_class(element: Element<'_, '_>, class: &str) -> bool {
    element.attribute("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
}

fn with_class<'a, 'd>(document: &'a Document<'d>, class: &'a str) -> impl Iterator<Item = Element<'a, 'd>> {
    document.descendants().filter(move |element| has_class(*element, class))
}

fn pairs(text: &str) -> Vec<(f64, f64)> {
    let numbers: Vec<f64> = text.split([' ', ',']).filter_map(|part| part.parse().ok()).collect();
    numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

fn bounds(points: &[(f64, f64)]) -> Rect {
    let least = |values: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(values).fold(f64::INFINITY, f64::min);
    let most = |values: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(values).fold(f64::NEG_INFINITY, f64::max);
    let (x, y) = (least(&|point| point.0), least(&|point| point.1));
    Rect { x, y, width: most(&|point| point.0) - x, height: most(&|point| point.1) - y }
}

/// All that is drawn of a box.
fn outline(element: Element<'_, '_>) -> Rect {
    let mut points = Vec::new();
    for shape in element.descendants().filter(|shape| has_class(*shape, "box") || has_class(*shape, "behind")) {
        match shape.tag_name().name() {
            "rect" => {
                let (x, y) = (number(shape, "x"), number(shape, "y"));
                points.extend([(x, y), (x + number(shape, "width"), y + number(shape, "height"))]);
            }
            "polygon" => points.extend(pairs(shape.attribute("points").expect("corners"))),
            "line" => {
                points.extend([(number(shape, "x1"), number(shape, "y1")), (number(shape, "x2"), number(shape, "y2"))]);
            }
            other => panic!("an outline is not made of {other}"),
        }
    }
    bounds(&points)
}

fn rect(element: Element<'_, '_>) -> Rect {
    let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| number(element, name));
    Rect { x, y, width, height }
}

/// By more than the rounding of coordinates.
fn overlap(a: &Rect, b: &Rect) -> bool {
    const ROUNDING: f64 = 0.2;
    a.x + ROUNDING < b.right()
        && b.x + ROUNDING < a.right()
        && a.y + ROUNDING < b.bottom()
        && b.y + ROUNDING < a.bottom()
}

/// The straight pieces of the lines. Where a line turns it touches its corner, which is near enough.
fn pieces(document: &Document<'_>) -> Vec<(usize, Rect)> {
    let mut pieces = Vec::new();
    for (index, group) in
        with_class(document, "edge").filter(|group| group.children().any(|part| has_class(part, "line"))).enumerate()
    {
        let line = group.children().find(|part| has_class(*part, "line")).expect("a line");
        let points = pairs(&line.attribute("d").expect("a path").replace(['M', 'L', 'Q'], ""));
        for pair in points.windows(2) {
            pieces.push((index, bounds(pair)));
        }
    }
    pieces
}

#[test]
fn a_picture_is_well_formed_and_needs_nothing_else() {
    for (name, svg) in pictures() {
        let document = Document::parse(svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(document.root_element().tag_name().name(), "svg");
        for element in document.descendants().filter(Element::is_element) {
            assert_ne!(element.tag_name().name(), "script", "{name}");
            for attribute in element.attributes() {
                let (key, value) = (attribute.name(), attribute.value());
                assert!(!key.starts_with("on") && key != "href", "{name}: {key}");
                assert!(!value.contains("url("), "{name}: {value}");
            }
        }
        let sheet = document.descendants().find(|element| element.has_tag_name("style")).and_then(|style| style.text());
        let sheet = sheet.expect("a style sheet");
        assert!(!sheet.contains("url(") && !sheet.contains("@import"), "{name}");
        assert!(sheet.contains("prefers-color-scheme: dark"), "{name}");
    }
}

#[test]
fn a_picture_is_described_for_those_who_cannot_see_it() {
    let (_, svg) = &pictures()[0];
    let document = Document::parse(svg).expect("well-formed");
    let root = document.root_element();
    assert_eq!(
        (root.attribute("role"), root.attribute("aria-labelledby")),
        (Some("img"), Some("graph-title graph-desc"))
    );
    let text = |id: &str| {
        document.descendants().find(|element| element.attribute("id") == Some(id)).and_then(|element| element.text())
    };
    assert_eq!(text("graph-title"), Some("Workflow delivery-team"));
    let described = text("graph-desc").expect("a description");
    assert!(described.contains("qa_expert goes back to author (FAIL · qa ≤5)."), "{described}");
}

#[test]
fn no_two_boxes_overlap() {
    for (name, svg) in pictures() {
        let document = Document::parse(svg).expect("well-formed");
        let boxes: Vec<Rect> = with_class(&document, "node").map(outline).collect();
        assert!(!boxes.is_empty(), "{name}");
        for (index, one) in boxes.iter().enumerate() {
            for other in &boxes[index + 1..] {
                assert!(!overlap(one, other), "{name}: {one:?} and {other:?}");
            }
        }
    }
}

#[test]
fn every_label_is_in_the_picture_and_on_nothing_else() {
    for (name, svg) in pictures() {
        let document = Document::parse(svg).expect("well-formed");
        let size = pairs(document.root_element().attribute("viewBox").expect("a size"))[1];
        let moved = document.descendants().find_map(|element| element.attribute("transform")).expect("a place");
        let (dx, dy) = pairs(moved.trim_start_matches("translate(").trim_end_matches(')'))[0];
        let boxes: Vec<Rect> = with_class(&document, "node").map(outline).collect();
        let labels: Vec<Rect> = with_class(&document, "label").map(rect).collect();
        let cards: Vec<Rect> = with_class(&document, "card").map(rect).collect();
        for (index, label) in labels.iter().enumerate() {
            assert!(label.x + dx >= 0.0 && label.right() + dx <= size.0, "{name}: {label:?}");
            assert!(label.y + dy >= 0.0 && label.bottom() + dy <= size.1, "{name}: {label:?}");
            for other in boxes.iter().chain(&cards).chain(&labels[index + 1..]) {
                assert!(!overlap(label, other), "{name}: {label:?} and {other:?}");
            }
        }
        for card in &cards {
            assert!(boxes.iter().all(|one| !overlap(one, card)), "{name}: {card:?}");
            assert!(card.right() + dx <= size.0 && card.bottom() + dy <= size.1, "{name}: {card:?}");
        }
    }
}

#[test]
fn every_arrow_is_drawn_with_its_labels() {
    for name in NAMES {
        let graph = graph(&built_in(name));
        let (_, svg) = pictures().iter().find(|(other, _)| other == name).expect("drawn");
        let document = Document::parse(svg).expect("well-formed");
        let lines =
            with_class(&document, "line").filter(|line| line.parent().is_some_and(|group| has_class(group, "edge")));
        assert_eq!(lines.count(), graph.edges.len(), "{name}");
        let labelled = graph.edges.iter().filter(|edge| !edge.labels.is_empty()).count();
        assert_eq!(with_class(&document, "label").count(), labelled, "{name}");
        for label in graph.edges.iter().flat_map(|edge| &edge.labels).filter(|label| !label.text.is_empty()) {
            let said = document.descendants().any(|element| element.text() == Some(label.text.as_str()));
            assert!(said, "{name}: {label:?}");
        }
    }
}

#[test]
fn no_line_runs_through_a_box_or_anothers_label() {
    for (name, svg) in pictures() {
        let document = Document::parse(svg).expect("well-formed");
        let boxes: Vec<Rect> = with_class(&document, "node").map(outline).collect();
        let labels: Vec<Rect> = with_class(&document, "label").map(rect).collect();
        for (index, piece) in pieces(&document) {
            // Lines end on the borders of their boxes, so a box is what is inside its border.
            let through = boxes.iter().find(|one| overlap(&piece, &shrunk(one, 1.0)));
            assert_eq!(through, None, "{name}: line {index}, {piece:?}");
            // A line runs through the middle of its own label.
            let crossed = labels.iter().find(|label| {
                let middle = (label.x + label.width / 2.0 - piece.x).abs() < 0.2 && piece.width < 0.2;
                overlap(&grown(&piece), label) && !middle
            });
            assert_eq!(crossed, None, "{name}: line {index}, {piece:?}");
        }
    }
}

/// A line has no area: it gets the width of its stroke.
fn grown(rect: &Rect) -> Rect {
    Rect { x: rect.x - 0.5, y: rect.y - 0.5, width: rect.width + 1.0, height: rect.height + 1.0 }
}

fn shrunk(rect: &Rect, by: f64) -> Rect {
    Rect { x: rect.x + by, y: rect.y + by, width: rect.width - 2.0 * by, height: rect.height - 2.0 * by }
}

#[test]
fn no_line_lies_on_another() {
    for (name, svg) in pictures() {
        let document = Document::parse(svg).expect("well-formed");
        let pieces = pieces(&document);
        for (index, (line, piece)) in pieces.iter().enumerate() {
            for (other_line, other) in &pieces[index + 1..] {
                let upright = piece.width < 0.2 && other.width < 0.2 && (piece.x - other.x).abs() < 2.0;
                let shared = piece.bottom().min(other.bottom()) - piece.y.max(other.y);
                assert!(line == other_line || !upright || shared < 1.0, "{name}: {piece:?} and {other:?}");
                let level = piece.height < 0.2 && other.height < 0.2 && (piece.y - other.y).abs() < 2.0;
                let shared = piece.right().min(other.right()) - piece.x.max(other.x);
                assert!(line == other_line || !level || shared < 1.0, "{name}: {piece:?} and {other:?}");
            }
        }
    }
}

#[test]
fn the_stages_of_a_pipeline_stand_under_each_other() {
    let ends = ["merge_merge", "gate_checks", "done_session_completed"];
    for (name, stages) in [
        ("integration", ["phase_architecture", "phase_implementation", "phase_review", "phase_testing"]),
        ("mcp-wrapper", ["phase_tool_selection", "phase_schema_discovery", "phase_implementation", "phase_review"]),
    ] {
        let (_, svg) = pictures().iter().find(|(other, _)| other == name).expect("drawn");
        let document = Document::parse(svg).expect("well-formed");
        let place = |id: &&str| {
            let group = document.descendants().find(|element| element.attribute("id") == Some(id)).expect("a box");
            outline(group).centre()
        };
        let places: Vec<_> = stages.iter().chain(&ends).map(place).collect();
        assert!(places.windows(2).all(|pair| pair[0].y < pair[1].y), "{name}: {places:?}");
        assert!(places.windows(2).all(|pair| (pair[0].x - pair[1].x).abs() < 1.0), "{name}: {places:?}");
    }
}

#[test]
fn names_come_out_as_they_went_in() {
    let (_, svg) = pictures().iter().find(|(name, _)| name == "hostile").expect("drawn");
    let document = Document::parse(svg).expect("well-formed");
    let texts: Vec<&str> = document
        .descendants()
        .filter(|element| element.has_tag_name("text"))
        .filter_map(|element| element.text())
        .collect();
    for name in [
        "<script>alert(1)</script>",
        "quo\"te'd `tick`",
        "- 1. list | pipe ; semi # hash",
        "日本語の役割",
        "new line\\n ",
    ] {
        assert!(texts.contains(&name), "{name}: {texts:?}");
    }
    let cut = texts.iter().find(|text| text.starts_with("one name that")).expect("the long one");
    assert!(cut.ends_with('…') && cut.chars().count() < 50, "{cut}");
}

fn crowd(roles: usize, routes: usize) -> String {
    let mut text = "workflow: crowd\nlanguage: 1\nroles:\n".to_owned();
    (0..roles).for_each(|role| text.push_str(&format!("  r{role}: {{}}\n")));
    text.push_str("begin: { spawn: r0 }\ngroups: { begin: { spawn: r0 }, ended: { spawn: r0 } }\nroutes:\n");
    for role in 0..roles {
        text.push_str(&format!("  r{role}:\n"));
        for route in 0..routes {
            let to = (role * 7 + route * 13 + 1) % roles;
            text.push_str(&format!("    S{route}: {{ spawn: r{to} }}\n"));
        }
    }
    text
}

#[test]
fn one_role_and_a_hundred_can_be_drawn() {
    let one = write(&graph(&workflow(&crowd(1, 1))));
    assert!(Document::parse(&one).is_ok());
    let hundred = graph(&workflow(&crowd(100, 4)));
    let svg = write(&hundred);
    let document = Document::parse(&svg).expect("well-formed");
    assert_eq!(with_class(&document, "node").count(), hundred.nodes.len());
    let said = document.descendants().any(|element| element.text() == Some("goes on to r14"));
    assert!(said, "too many for lines: every box lists its own");
}

#[test]
fn nothing_at_all_can_be_drawn() {
    let empty = WorkflowGraph {
        name: String::new(),
        about: None,
        nodes: Vec::new(),
        edges: Vec::new(),
        lanes: Vec::new(),
        tables: Vec::new(),
    };
    assert!(Document::parse(&write(&empty)).is_ok());
}

#[test]
fn the_same_picture_comes_out_every_time() {
    for (name, svg) in pictures().iter().filter(|(name, _)| NAMES.contains(&name.as_str())) {
        assert!(*svg == write(&graph(&built_in(name))), "{name}");
    }
}
