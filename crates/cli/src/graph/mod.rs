//! `interlock workflow graph`: a workflow as a picture.

mod dot;
mod edge_text;
mod mermaid;
mod svg;
#[cfg(test)]
mod tests;

use interlock_core::graph::graph;
use interlock_core::workflow::Workflow;

/// The format of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GraphFormat {
    Svg,
    Mermaid,
    Dot,
}

pub(crate) fn render(workflow: &Workflow, format: GraphFormat) -> String {
    let graph = graph(workflow);
    match format {
        GraphFormat::Svg => svg::write(&graph),
        GraphFormat::Mermaid => mermaid::write(&graph),
        GraphFormat::Dot => dot::write(&graph),
    }
}
