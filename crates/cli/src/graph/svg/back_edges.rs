//! Beside a pipeline: the ways back, to the left of it.
//!
//! Given to the layered layout they would push the stages out of line; a pipeline
//! reads best when its stages stand under each other.

use std::collections::BTreeMap;

use interlock_core::graph::{EdgeKind, GraphEdge, WorkflowGraph};

use super::rank::{BoxSize, RankedEdge, RankedGraph, RowPosition};

/// Between the boxes, the labels and the first line.
const BETWEEN: f64 = 18.0;
const BETWEEN_LINES: f64 = 14.0;

/// Is this arrow drawn in the gutter?
pub(super) fn takes(graph: &WorkflowGraph, edge: &GraphEdge) -> bool {
    graph.is_pipeline() && edge.kind == EdgeKind::Rework
}

/// A way back between two rows.
struct BackEdge {
    upper: usize,
    lower: usize,
    chain: RankedEdge,
    label: f64,
}

/// Adds the ways back to what the layered layout has placed; `None` if one has no row to turn in.
pub(super) fn add(
    mut ranked: RankedGraph,
    back: Vec<RankedEdge>,
    nodes: &[BoxSize],
    labels: &[Option<BoxSize>],
) -> Option<RankedGraph> {
    let row = |node: usize| ranked.nodes.get(node).copied().flatten().map(|place| place.row);
    let mut ways: Vec<BackEdge> = Vec::new();
    for chain in back {
        let (upper, lower) = (row(chain.upper)?, row(chain.lower)?);
        if lower < upper + 2 {
            return None;
        }
        let label = labels.get(chain.edge).copied().flatten().map_or(0.0, |size| size.width);
        ways.push(BackEdge { upper, lower, chain, label });
    }
    // Short ways inside long ones: then they do not cross.
    ways.sort_by_key(|way| (way.lower - way.upper, way.chain.edge));
    let boxes = left_edge(&ranked, nodes, labels) - BETWEEN;
    let label_places = label_places(&ways, boxes);
    let widest = ways.iter().zip(&label_places).map(|(way, x)| x - way.label / 2.0).fold(boxes, f64::min);
    let mut taken: Vec<Vec<(usize, usize)>> = Vec::new();
    for (way, label_x) in ways.into_iter().zip(label_places) {
        let free = taken.iter().position(|lines| lines.iter().all(|other| way.lower < other.0 || other.1 < way.upper));
        let line = free.unwrap_or(taken.len());
        match taken.get_mut(line) {
            Some(lines) => lines.push((way.upper, way.lower)),
            None => taken.push(vec![(way.upper, way.lower)]),
        }
        let x = widest - BETWEEN - line as f64 * BETWEEN_LINES;
        let mut chain = way.chain;
        chain.passes = (way.upper + 1..way.lower - 1).map(|row| RowPosition { row, x }).collect();
        chain.label = (way.label > 0.0).then_some(chain.passes.len());
        chain.passes.push(RowPosition { row: way.lower - 1, x: if way.label > 0.0 { label_x } else { x } });
        ranked.chains.push(chain);
    }
    ranked.chains.sort_by_key(|chain| chain.edge);
    Some(ranked)
}

/// Labels stand beside the boxes, one row above where the way starts, further out if another is there.
fn label_places(ways: &[BackEdge], boxes: f64) -> Vec<f64> {
    let mut filled: BTreeMap<usize, f64> = BTreeMap::new();
    let mut places = Vec::new();
    for way in ways {
        let right = filled.entry(way.lower).or_insert(boxes);
        places.push(*right - way.label / 2.0);
        *right -= way.label + BETWEEN;
    }
    places
}

fn left_edge(ranked: &RankedGraph, nodes: &[BoxSize], labels: &[Option<BoxSize>]) -> f64 {
    let boxes = ranked.nodes.iter().zip(nodes);
    let boxes = boxes.filter_map(|(place, size)| place.map(|place| place.x - size.width / 2.0));
    let lines = ranked.chains.iter().flat_map(|chain| {
        let width = labels.get(chain.edge).copied().flatten().map_or(0.0, |size| size.width);
        chain.passes.iter().map(move |pass| pass.x - width / 2.0)
    });
    boxes.chain(lines).fold(f64::INFINITY, f64::min)
}
