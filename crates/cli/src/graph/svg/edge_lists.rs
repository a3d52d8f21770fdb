//! A workflow with more arrows than anybody can follow: every box lists its own.

use std::borrow::Cow;

use interlock_core::graph::{GraphLabel, NodeLine, NodeLineMark, WorkflowGraph};

use super::super::edge_text;

/// Above this, lines only hide each other, and laying them out takes seconds.
const MOST_ARROWS: usize = 150;
/// More than this in one box are counted and not listed.
const MOST_LINES: usize = 14;

pub(super) fn listed(graph: &WorkflowGraph) -> Cow<'_, WorkflowGraph> {
    if graph.edges.len() <= MOST_ARROWS {
        return Cow::Borrowed(graph);
    }
    let mut listed = graph.clone();
    listed.edges.clear();
    for (index, node) in listed.nodes.iter_mut().enumerate() {
        let own: Vec<NodeLine> = graph
            .edges
            .iter()
            .filter(|edge| edge.from == index)
            .map(|edge| {
                let target = graph.nodes.get(edge.to).map_or("", |node| node.title.as_str());
                let text = format!("{} {target}", edge_text::does(edge.kind));
                NodeLine {
                    mark: NodeLineMark::Note,
                    label: GraphLabel { text, detail: edge_text::lines(edge).join("; ") },
                }
            })
            .collect();
        let shown = if own.len() > MOST_LINES { MOST_LINES - 1 } else { own.len() };
        let left = own.len() - shown;
        node.lines.extend(own.into_iter().take(shown));
        if left > 0 {
            let label = GraphLabel { text: String::new(), detail: format!("+{left} more") };
            node.lines.push(NodeLine { mark: NodeLineMark::Note, label });
        }
    }
    Cow::Owned(listed)
}
