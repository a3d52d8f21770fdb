//! Row and horizontal position of every node, by the layered layout of `dagre`.

use std::collections::BTreeSet;

use dagre::graph::{Graph as Layered, GraphOptions};
use dagre::layout::types::LabelPos;
use dagre::{Align, EdgeLabel, LayoutOptions, NodeLabel};
use interlock_core::graph::{EdgeKind, GraphEdge, WorkflowGraph};

use super::back_edges;

/// Boxes, and lines beside each other, keep this distance.
const BETWEEN_BOXES: f64 = 34.0;
const BETWEEN_LINES: f64 = 18.0;

/// Same coordinate, for numbers that were computed twice.
const NEAR: f64 = 0.01;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BoxSize {
    pub(super) width: f64,
    pub(super) height: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RowPosition {
    pub(super) row: usize,
    pub(super) x: f64,
}

/// An arrow from the upper to the lower of its ends, whichever way it points.
#[derive(Clone, Debug)]
pub(super) struct RankedEdge {
    pub(super) edge: usize,
    pub(super) upper: usize,
    pub(super) lower: usize,
    /// Where it crosses the rows between its ends, from the top.
    pub(super) passes: Vec<RowPosition>,
    /// Which of them carries the label.
    pub(super) label: Option<usize>,
}

impl RankedEdge {
    fn new(edge: usize, upper: usize, lower: usize) -> Self {
        Self { edge, upper, lower, passes: Vec::new(), label: None }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct RankedGraph {
    pub(super) nodes: Vec<Option<RowPosition>>,
    pub(super) chains: Vec<RankedEdge>,
    pub(super) rows: usize,
}

/// The upper and the lower end of every arrow.
pub(super) fn ends(graph: &WorkflowGraph) -> Vec<(usize, usize)> {
    let order = flow(graph);
    let down = |edge: &GraphEdge| order.get(edge.from) <= order.get(edge.to);
    graph.edges.iter().map(|edge| if down(edge) { (edge.from, edge.to) } else { (edge.to, edge.from) }).collect()
}

/// The order that the layout starts from. Another order leads to other solutions.
#[derive(Clone, Debug)]
pub(super) struct LayoutOrder {
    pub(super) nodes: Vec<usize>,
    pub(super) edges: Vec<usize>,
}

/// Nodes that no arrow touches get no place.
pub(super) fn rank(
    graph: &WorkflowGraph,
    ends: &[(usize, usize)],
    order: &LayoutOrder,
    nodes: &[BoxSize],
    labels: &[Option<BoxSize>],
) -> RankedGraph {
    let chain = |edge: &usize| ends.get(*edge).map(|(upper, lower)| RankedEdge::new(*edge, *upper, *lower));
    let all: Vec<RankedEdge> = order.edges.iter().filter_map(chain).collect();
    let in_gutter = |chain: &RankedEdge| graph.edges.get(chain.edge).is_some_and(|edge| back_edges::takes(graph, edge));
    let (back, layered): (Vec<RankedEdge>, Vec<RankedEdge>) = all.iter().cloned().partition(in_gutter);
    let ranked = layer(graph, layered, order, nodes, labels);
    back_edges::add(ranked, back, nodes, labels).unwrap_or_else(|| layer(graph, all, order, nodes, labels))
}

fn layer(
    graph: &WorkflowGraph,
    chains: Vec<RankedEdge>,
    order: &LayoutOrder,
    nodes: &[BoxSize],
    labels: &[Option<BoxSize>],
) -> RankedGraph {
    let mut layered: Layered<NodeLabel, EdgeLabel> =
        Layered::with_options(GraphOptions { directed: true, multigraph: true, compound: false });
    let touched: BTreeSet<usize> = chains.iter().flat_map(|chain| [chain.upper, chain.lower]).collect();
    for index in order.nodes.iter().filter(|index| touched.contains(index)) {
        let Some(size) = nodes.get(*index) else { continue };
        let label = NodeLabel { width: size.width, height: size.height, ..NodeLabel::default() };
        layered.set_node(key(*index), Some(label));
    }
    for chain in &chains {
        let size = labels.get(chain.edge).copied().flatten().unwrap_or(BoxSize { width: 0.0, height: 0.0 });
        let forward = graph.edges.get(chain.edge).is_some_and(|edge| edge.kind == EdgeKind::Forward);
        let label = EdgeLabel {
            width: size.width,
            height: size.height,
            labelpos: LabelPos::Center,
            weight: if forward { 2 } else { 1 },
            ..EdgeLabel::default()
        };
        layered.set_edge(key(chain.upper), key(chain.lower), Some(label), Some(&key(chain.edge)));
    }
    let options = LayoutOptions {
        nodesep: BETWEEN_BOXES,
        edgesep: BETWEEN_LINES,
        // The stages of a pipeline stand under each other, not under the middle of what they lead to.
        align: graph.is_pipeline().then_some(Align::UL),
        tie_keep_first: true,
        ..LayoutOptions::default()
    };
    dagre::layout(&mut layered, Some(options));
    read(&layered, nodes.len(), chains)
}

fn key(index: usize) -> String {
    index.to_string()
}

fn read(layered: &Layered<NodeLabel, EdgeLabel>, nodes: usize, mut chains: Vec<RankedEdge>) -> RankedGraph {
    let at = |index: usize| {
        let label = layered.node(&key(index))?;
        Some((label.x?, label.y?))
    };
    let points = |chain: &RankedEdge| {
        let label = layered.edge(&key(chain.upper), &key(chain.lower), Some(&key(chain.edge)));
        label.map(|label| (label.points.clone(), label.x.zip(label.y))).unwrap_or_default()
    };
    let mut rows: Vec<f64> = (0..nodes).filter_map(at).map(|(_, y)| y).collect();
    for chain in &chains {
        // The first and the last lie on the boxes' borders, which are drawn elsewhere.
        let (points, _) = points(chain);
        rows.extend(points.iter().skip(1).rev().skip(1).map(|point| point.y));
    }
    rows.sort_by(f64::total_cmp);
    rows.dedup_by(|a, b| (*a - *b).abs() < NEAR);
    let row = |y: f64| rows.iter().position(|one| (one - y).abs() < NEAR);
    let placed: Vec<Option<RowPosition>> =
        (0..nodes).map(|index| at(index).and_then(|(x, y)| Some(RowPosition { row: row(y)?, x: x.round() }))).collect();
    for chain in &mut chains {
        let (points, label) = points(chain);
        let between = |place: &RowPosition| {
            let row_of = |node: usize| placed.get(node).copied().flatten().map(|place| place.row);
            row_of(chain.upper).is_some_and(|upper| upper < place.row)
                && row_of(chain.lower).is_some_and(|lower| place.row < lower)
        };
        let passes = points.iter().filter_map(|point| Some(RowPosition { row: row(point.y)?, x: point.x.round() }));
        let mut passes: Vec<RowPosition> = passes.filter(between).collect();
        passes.sort_by_key(|place| place.row);
        passes.dedup_by_key(|place| place.row);
        let passes = without_holes(passes);
        chain.label = label.and_then(|(_, y)| {
            let row = row(y)?;
            passes.iter().position(|pass| pass.row == row)
        });
        chain.passes = passes;
    }
    RankedGraph { nodes: placed, chains, rows: rows.len() }
}

/// Fills the rows for which the layout gives no position: the chain crosses them in a straight line.
fn without_holes(passes: Vec<RowPosition>) -> Vec<RowPosition> {
    let mut whole: Vec<RowPosition> = Vec::new();
    for pass in passes {
        if let Some(last) = whole.last().copied() {
            whole.extend((last.row + 1..pass.row).map(|row| RowPosition { row, x: last.x }));
        }
        whole.push(pass);
    }
    whole
}

/// A number for each node so that forward arrows go down as far as they can.
///
/// Cycles are cut here and not by the library, which would cut them where it first
/// meets them: the picture should run the way the work does.
fn flow(graph: &WorkflowGraph) -> Vec<(usize, usize)> {
    let count = graph.nodes.len();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); count];
    for edge in graph.edges.iter().filter(|edge| matches!(edge.kind, EdgeKind::Forward | EdgeKind::Question)) {
        if let Some(list) = next.get_mut(edge.from) {
            list.push(edge.to);
        }
    }
    let finished = depth_first(&next);
    // In reverse order of finishing every arrow that is not cut leads to a later node.
    let mut place = vec![0usize; count];
    for (position, node) in finished.iter().rev().enumerate() {
        if let Some(slot) = place.get_mut(*node) {
            *slot = position;
        }
    }
    let mut depth = vec![0usize; count];
    for node in finished.iter().rev() {
        let own = depth.get(*node).copied().unwrap_or(0);
        for target in next.get(*node).into_iter().flatten() {
            if place.get(*target) > place.get(*node)
                && let Some(slot) = depth.get_mut(*target)
            {
                *slot = (*slot).max(own + 1);
            }
        }
    }
    depth.into_iter().zip(place).collect()
}

/// Nodes in the order in which a depth-first search leaves them.
fn depth_first(next: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; next.len()];
    let mut finished = Vec::new();
    for root in 0..next.len() {
        let mut stack = vec![(root, 0usize)];
        while let Some((node, child)) = stack.pop() {
            if child == 0 {
                match seen.get_mut(node) {
                    Some(seen) if !*seen => *seen = true,
                    Some(_) | None => continue,
                }
            }
            match next.get(node).and_then(|list| list.get(child)) {
                Some(target) => {
                    stack.push((node, child + 1));
                    stack.push((*target, 0));
                }
                None => finished.push(node),
            }
        }
    }
    finished
}
