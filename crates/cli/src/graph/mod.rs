//! `interlock workflow graph`: a workflow as a picture.

mod dot;
mod mermaid;
mod svg;
#[cfg(test)]
mod tests;
mod words;

use interlock_core::graph::graph;
use interlock_core::workflow::Workflow;

/// What a picture is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Svg,
    Mermaid,
    Dot,
}

pub(crate) fn render(workflow: &Workflow, format: Format) -> String {
    let graph = graph(workflow);
    match format {
        Format::Svg => svg::write(&graph),
        Format::Mermaid => mermaid::write(&graph),
        Format::Dot => dot::write(&graph),
    }
}
