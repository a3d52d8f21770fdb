//! Graphviz.

use interlock_core::graph::{EdgeKind, GraphEdge, GraphNode, GraphTable, NodeKind, WorkflowGraph};

use super::edge_text;

pub(super) fn write(graph: &WorkflowGraph) -> String {
    let title = std::iter::once(&graph.name).chain(&graph.about).map(|text| escape(text)).collect::<Vec<_>>();
    let mut lines = vec![
        format!("digraph {} {{", quoted(&graph.name)),
        format!("  graph [rankdir=TB, fontname=\"sans-serif\", labelloc=t, label=\"{}\"];", title.join("\\n")),
        "  node [fontname=\"sans-serif\", fontsize=11];".to_owned(),
        "  edge [fontname=\"monospace\", fontsize=9];".to_owned(),
    ];
    for (index, lane) in graph.lanes.iter().enumerate() {
        lines.push(format!("  subgraph cluster_{index} {{"));
        lines.push(format!("    label={}; style=\"rounded,dashed\"; color=\"#818b98\";", quoted(lane)));
        let own = graph.nodes.iter().filter(|node| node.lane == Some(index));
        lines.extend(own.map(|node| format!("    {}", statement(node))));
        lines.push("  }".to_owned());
    }
    lines.extend(graph.nodes.iter().filter(|node| node.lane.is_none()).map(|node| format!("  {}", statement(node))));
    lines.extend(graph.edges.iter().map(|edge| format!("  {}", arrow(graph, edge))));
    for (index, table) in graph.tables.iter().enumerate() {
        lines.push(format!("  {}", note(index, table)));
        // Not drawn: without it the table would stand above the first box.
        lines.extend(edge_text::lowest(graph).map(|node| format!("  {} -> table_{index} [style=invis];", node.id)));
    }
    lines.push("}".to_owned());
    lines.join("\n") + "\n"
}

fn note(index: usize, table: &GraphTable) -> String {
    let rows = std::iter::once(table.title.clone()).chain(table.rows.iter().map(edge_text::row));
    let text: String = rows.map(|line| escape(&line) + "\\l").collect();
    format!("table_{index} [shape=note, fontsize=9, label=\"{text}\"];")
}

fn statement(node: &GraphNode) -> String {
    let lines = std::iter::once(node.title.clone()).chain(node.lines.iter().map(edge_text::line));
    let text = lines.map(|line| escape(&line)).collect::<Vec<_>>().join("\\n");
    let (shape, style, colours) = look(node.kind);
    let dashed = if node.optional { ",dashed" } else { "" };
    format!("{} [label=\"{text}\", shape={shape}, style=\"{style}{dashed}\", {colours}];", node.id)
}

/// Shape, style, colours.
fn look(kind: NodeKind) -> (&'static str, &'static str, &'static str) {
    let plain = "fillcolor=\"#f6f8fa\", color=\"#818b98\"";
    let ours = "fillcolor=\"#e6f6f4\", color=\"#1b7c83\"";
    let authors = "fillcolor=\"#eef4ff\", color=\"#4f7bd0\"";
    let dark = "fillcolor=\"#59636e\", color=\"#59636e\", fontcolor=\"#ffffff\"";
    let done = "fillcolor=\"#dafbe1\", color=\"#1a7f37\"";
    match kind {
        NodeKind::Role | NodeKind::Phase => ("box", "rounded,filled", plain),
        NodeKind::Authors => ("box", "rounded,filled", "peripheries=2, fillcolor=\"#eef4ff\", color=\"#4f7bd0\""),
        NodeKind::Validator | NodeKind::Gate => ("hexagon", "filled", ours),
        NodeKind::Merge => ("component", "filled", authors),
        NodeKind::Question => ("box", "rounded,filled", "fillcolor=\"#fbefff\", color=\"#8250df\""),
        NodeKind::Join => ("box", "filled", dark),
        NodeKind::Groups => ("box3d", "filled", plain),
        NodeKind::Start => ("oval", "filled", dark),
        NodeKind::GroupCompleted | NodeKind::SessionCompleted => ("oval", "filled", done),
        NodeKind::GroupDeferred => ("oval", "filled,dashed", plain),
    }
}

fn arrow(graph: &WorkflowGraph, edge: &GraphEdge) -> String {
    let id = |index: usize| graph.nodes.get(index).map_or("", |node| node.id.as_str());
    let text = edge_text::lines(edge).iter().map(|line| escape(line) + "\\l").collect::<String>();
    let colour = match edge.kind {
        EdgeKind::Forward => "color=\"#59636e\", weight=2",
        EdgeKind::Rework => "color=\"#bc4c00\"",
        EdgeKind::Consult => "color=\"#0969da\", style=dashed",
        EdgeKind::Escalation => "color=\"#cf222e\", style=bold",
        EdgeKind::Question => "color=\"#8250df\", style=dotted",
    };
    let both = if edge.returns { ", dir=both" } else { "" };
    let label = if text.is_empty() { String::new() } else { format!(", label=\"{text}\"") };
    format!("{} -> {} [{colour}{both}{label}];", id(edge.from), id(edge.to))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escape(text))
}

/// For a quoted string: what would end it, start an escape or break the line.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control.is_control() => out.push(' '),
            other => out.push(other),
        }
    }
    out
}
