//! Mermaid, as code hosts and editors show it.

use interlock_core::graph::{EdgeKind, GraphEdge, GraphNode, GraphTable, NodeKind, WorkflowGraph};

use super::edge_text;

pub(super) fn write(graph: &WorkflowGraph) -> String {
    let mut lines = vec!["---".to_owned(), format!("title: {}", title(&graph.name)), "---".to_owned()];
    lines.push("flowchart TD".to_owned());
    for (index, lane) in graph.lanes.iter().enumerate() {
        lines.push(format!("  subgraph lane_{index}[\"{}\"]", escape(lane)));
        lines.extend(
            graph.nodes.iter().filter(|node| node.lane == Some(index)).map(|node| format!("    {}", shape(node))),
        );
        lines.push("  end".to_owned());
    }
    lines.extend(graph.nodes.iter().filter(|node| node.lane.is_none()).map(|node| format!("  {}", shape(node))));
    lines.extend(graph.edges.iter().map(|edge| format!("  {}", arrow(graph, edge))));
    for (index, table) in graph.tables.iter().enumerate() {
        lines.push(format!("  {}", note(index, table)));
        // Not drawn: without it the table would stand above the first box.
        lines.extend(edge_text::lowest(graph).map(|node| format!("  {} ~~~ note_{index}", node.id)));
    }
    lines.extend(styles(graph));
    lines.join("\n") + "\n"
}

/// A scalar of YAML in which nothing has a meaning.
fn title(name: &str) -> String {
    serde_json::Value::from(name.replace(char::is_control, " ")).to_string()
}

fn shape(node: &GraphNode) -> String {
    let (open, close) = match node.kind {
        NodeKind::Role | NodeKind::Phase | NodeKind::Authors | NodeKind::Join => ("[", "]"),
        NodeKind::Validator | NodeKind::Gate => ("{{", "}}"),
        NodeKind::Merge | NodeKind::Groups => ("[[", "]]"),
        NodeKind::Question => ("(", ")"),
        NodeKind::Start | NodeKind::GroupCompleted | NodeKind::GroupDeferred | NodeKind::SessionCompleted => {
            ("([", "])")
        }
    };
    let rows = std::iter::once(node.title.clone()).chain(node.lines.iter().map(edge_text::line));
    let optional = if node.optional { ":::optional" } else { "" };
    format!("{}{open}\"{}\"{close}{optional}", node.id, joined(rows))
}

fn arrow(graph: &WorkflowGraph, edge: &GraphEdge) -> String {
    let id = |index: usize| graph.nodes.get(index).map_or("", |node| node.id.as_str());
    let line = match (edge.kind, edge.returns) {
        (EdgeKind::Forward | EdgeKind::Rework, false) => "-->",
        (EdgeKind::Forward | EdgeKind::Rework, true) => "<-->",
        (EdgeKind::Consult | EdgeKind::Question, false) => "-.->",
        (EdgeKind::Consult | EdgeKind::Question, true) => "<-.->",
        (EdgeKind::Escalation, false) => "==>",
        (EdgeKind::Escalation, true) => "<==>",
    };
    let rows = edge_text::lines(edge);
    let label = if rows.is_empty() { String::new() } else { format!("|\"{}\"|", joined(rows)) };
    format!("{} {line}{label} {}", id(edge.from), id(edge.to))
}

fn note(index: usize, table: &GraphTable) -> String {
    let rows = std::iter::once(table.title.clone()).chain(table.rows.iter().map(edge_text::row));
    format!("note_{index}[\"{}\"]:::note", joined(rows))
}

fn joined(rows: impl IntoIterator<Item = String>) -> String {
    rows.into_iter().map(|row| escape(&row)).collect::<Vec<_>>().join("<br/>")
}

fn styles(graph: &WorkflowGraph) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for kind in EdgeKind::ALL {
        let own = graph.edges.iter().enumerate().filter(|(_, edge)| edge.kind == kind);
        let numbers: Vec<String> = own.map(|(index, _)| index.to_string()).collect();
        if !numbers.is_empty() {
            lines.push(format!("  linkStyle {} stroke:{}", numbers.join(","), colour(kind)));
        }
    }
    let looks = [
        ("authors", NodeKind::Authors, "fill:#eef4ff,stroke:#4f7bd0,color:#1f2328"),
        ("gate", NodeKind::Gate, "fill:#e6f6f4,stroke:#1b7c83,color:#1f2328"),
        ("validator", NodeKind::Validator, "fill:#e6f6f4,stroke:#1b7c83,color:#1f2328"),
        ("merge", NodeKind::Merge, "fill:#eef4ff,stroke:#4f7bd0,color:#1f2328"),
        ("question", NodeKind::Question, "fill:#fbefff,stroke:#8250df,color:#1f2328"),
        ("join", NodeKind::Join, "fill:#59636e,stroke:#59636e,color:#ffffff"),
        ("start", NodeKind::Start, "fill:#59636e,stroke:#59636e,color:#ffffff"),
        ("completed", NodeKind::GroupCompleted, "fill:#dafbe1,stroke:#1a7f37,color:#1f2328"),
        ("ended", NodeKind::SessionCompleted, "fill:#dafbe1,stroke:#1a7f37,color:#1f2328"),
        ("deferred", NodeKind::GroupDeferred, "stroke-dasharray:4 3"),
    ];
    for (name, kind, look) in looks {
        let ids: Vec<&str> = graph.nodes.iter().filter(|node| node.kind == kind).map(|node| node.id.as_str()).collect();
        if !ids.is_empty() {
            lines.push(format!("  classDef {name} {look}"));
            lines.push(format!("  class {} {name}", ids.join(",")));
        }
    }
    lines.push("  classDef optional stroke-dasharray:5 3".to_owned());
    lines.push("  classDef note text-align:left".to_owned());
    lines
}

fn colour(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Forward => "#59636e",
        EdgeKind::Rework => "#bc4c00",
        EdgeKind::Consult => "#0969da",
        EdgeKind::Escalation => "#cf222e",
        EdgeKind::Question => "#8250df",
    }
}

/// Replaces characters that could end a string, start markup or begin a list by character codes.
fn escape(text: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for character in text.chars() {
        match character {
            control if control.is_control() => out.push(' '),
            ' ' | '_' | ',' | ':' | '/' | '(' | ')' | '{' | '}' | '\'' => out.push(character),
            '-' | '.' | '+' if before.is_alphabetic() => out.push(character),
            // With nothing between, it and an `n` would be taken for a line break.
            '\\' => out.push_str("#92;\u{200B}"),
            sign if sign.is_ascii_punctuation() => out.push_str(&format!("#{};", u32::from(sign))),
            other => out.push(other),
        }
        before = character;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_gets_out_of_its_string() {
        assert_eq!(escape("a\"]-->b"), "a#34;#93;#45;#45;#62;b");
        assert_eq!(escape("- 1. qa-lead's"), "#45; 1#46; qa-lead's");
        assert_eq!(escape("`x` <b>&#1;\n;"), "#96;x#96; #60;b#62;#38;#35;1#59; #59;");
        assert_eq!(title("a: \"b\"\n- c"), "\"a: \\\"b\\\" - c\"");
    }
}
