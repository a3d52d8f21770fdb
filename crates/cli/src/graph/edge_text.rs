//! Lines of text that every format shows alike.

use interlock_core::graph::{EdgeKind, GraphEdge, GraphLabel, GraphNode, NodeKind, NodeLine, WorkflowGraph};

/// `FAIL  qa ≤5`: the status, then what goes with it.
pub(super) fn label(label: &GraphLabel) -> String {
    match (label.text.is_empty(), label.detail.is_empty()) {
        (true, _) => label.detail.clone(),
        (false, true) => label.text.clone(),
        (false, false) => format!("{} · {}", label.text, label.detail),
    }
}

pub(super) fn line(line: &NodeLine) -> String {
    let sign = line.mark.sign();
    if sign.is_empty() { label(&line.label) } else { format!("{sign} {}", label(&line.label)) }
}

/// One line for each label of an arrow, and one for those left out.
pub(super) fn lines(edge: &GraphEdge) -> Vec<String> {
    let more = (edge.more > 0).then(|| format!("+{} more", edge.more));
    edge.labels.iter().map(label).chain(more).collect()
}

/// A row of a table: `review: 5`.
pub(super) fn row((what, of_it): &(String, String)) -> String {
    if what.is_empty() { format!("  {of_it}") } else { format!("{what}: {of_it}") }
}

/// The meaning of an arrow of this kind for its target.
pub(super) fn does(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Forward => "goes on to",
        EdgeKind::Rework => "goes back to",
        EdgeKind::Consult => "asks",
        EdgeKind::Escalation => "goes up to",
        EdgeKind::Question => "asks a person for",
    }
}

/// An arrow in words: `developer asks tech_lead (NEEDS_VALIDATION)`.
pub(super) fn sentence(graph: &WorkflowGraph, edge: &GraphEdge) -> String {
    let title = |index: usize| graph.nodes.get(index).map_or("", |node| node.title.as_str());
    let said = lines(edge).join("; ");
    let said = if said.is_empty() { said } else { format!(" ({said})") };
    format!("{} {} {}{said}", title(edge.from), does(edge.kind), title(edge.to))
}

/// The box that the work comes to last: notes stand below it.
pub(super) fn lowest(graph: &WorkflowGraph) -> Option<&GraphNode> {
    let kind = if graph.is_pipeline() { NodeKind::SessionCompleted } else { NodeKind::GroupCompleted };
    graph.nodes.iter().rfind(|node| node.kind == kind).or(graph.nodes.last())
}
