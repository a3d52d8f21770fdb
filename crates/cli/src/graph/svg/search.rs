//! Looks for a good picture among several.
//!
//! The layered layout settles for the first arrangement that it cannot improve step
//! by step, and which one that is depends on the order of what it is given. So it is
//! asked several times, in orders that are the same every time the program runs.

use interlock_core::graph::WorkflowGraph;

use super::rank::{self, BoxSize, LayoutOrder};
use super::route::{self, Rect, RoutedEdge, RoutedGraph};

/// How much work all attempts together may be; one grows with the square of its arrows.
const EFFORT: usize = 60_000;
const MOST_TRIES: usize = 40;

/// A crossing weighs as much as this much of width.
const CROSSING: f64 = 90.0;

/// The input of the layout search.
pub(super) struct LayoutProblem<'a> {
    pub(super) graph: &'a WorkflowGraph,
    /// The upper and lower end of every arrow.
    pub(super) ends: &'a [(usize, usize)],
    pub(super) nodes: &'a [BoxSize],
    pub(super) inset: &'a [f64],
    pub(super) labels: &'a [Option<BoxSize>],
}

pub(super) fn best(task: &LayoutProblem<'_>) -> RoutedGraph {
    let first = natural(task.graph);
    let arrows = task.graph.edges.len();
    // A pipeline has an order, and what matters there is that it is kept.
    let tries = if task.graph.is_pipeline() { 0 } else { EFFORT.checked_div(arrows * arrows).unwrap_or(0) };
    let tries = tries.min(MOST_TRIES);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(tries.max(1));
    let share = |worker: usize| {
        let seeds = (0..=tries).skip(worker).step_by(workers);
        let tried = seeds.map(|seed| {
            let order = if seed == 0 { first.clone() } else { shuffled(&first, seed as u64) };
            let routed = attempt(task, &order);
            (cost(&routed), seed, routed)
        });
        tried.min_by(better)
    };
    let found: Vec<Option<(f64, usize, RoutedGraph)>> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..workers).map(|worker| scope.spawn(move || share(worker))).collect();
        let own = share(0);
        others.into_iter().map(|other| other.join().unwrap_or_default()).chain([own]).collect()
    });
    found.into_iter().flatten().min_by(better).map(|(_, _, routed)| routed).unwrap_or_default()
}

/// Of two that cost the same the earlier, so that the number of workers does not show.
fn better(a: &(f64, usize, RoutedGraph), b: &(f64, usize, RoutedGraph)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

fn attempt(task: &LayoutProblem<'_>, order: &LayoutOrder) -> RoutedGraph {
    let ranked = rank::rank(task.graph, task.ends, order, task.nodes, task.labels);
    route::route(&ranked, task.nodes, task.inset, task.labels)
}

/// Boxes as they come, arrows with the most important kind first.
fn natural(graph: &WorkflowGraph) -> LayoutOrder {
    let mut edges: Vec<usize> = (0..graph.edges.len()).collect();
    edges.sort_by_key(|index| graph.edges.get(*index).map(|edge| edge.kind));
    LayoutOrder { nodes: (0..graph.nodes.len()).collect(), edges }
}

fn shuffled(order: &LayoutOrder, seed: u64) -> LayoutOrder {
    let mut state = seed;
    LayoutOrder { nodes: shuffle(&order.nodes, &mut state), edges: shuffle(&order.edges, &mut state) }
}

/// Knuth's shuffle, with his multiplier for the numbers.
fn shuffle(list: &[usize], state: &mut u64) -> Vec<usize> {
    let mut list = list.to_vec();
    for last in (1..list.len()).rev() {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        list.swap(last, (*state >> 33) as usize % (last + 1));
    }
    list
}

/// Less is better: narrow, short lines, few crossings.
fn cost(routed: &RoutedGraph) -> f64 {
    let boxes = routed.nodes.iter().flatten().chain(routed.lines.iter().filter_map(|line| line.label.as_ref()));
    let right = boxes.clone().map(Rect::right).fold(0.0, f64::max);
    let left = boxes.map(|rect| rect.x).fold(right, f64::min);
    let length: f64 = routed.lines.iter().flat_map(|line| line.points.windows(2)).map(reach).sum();
    (right - left) + length / 8.0 + CROSSING * crossings(&routed.lines) as f64
}

fn reach(pair: &[route::Point]) -> f64 {
    match pair {
        [a, b] => (a.x - b.x).abs() + (a.y - b.y).abs(),
        _ => 0.0,
    }
}

/// How often a level piece of one line meets an upright piece of another.
fn crossings(lines: &[RoutedEdge]) -> usize {
    let mut level: Vec<(usize, f64, f64, f64)> = Vec::new();
    let mut upright: Vec<(usize, f64, f64, f64)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        for pair in line.points.windows(2) {
            let [a, b] = pair else { continue };
            if (a.y - b.y).abs() < (a.x - b.x).abs() {
                level.push((index, a.y, a.x.min(b.x), a.x.max(b.x)));
            } else {
                upright.push((index, a.x, a.y.min(b.y), a.y.max(b.y)));
            }
        }
    }
    let meets = |one: &(usize, f64, f64, f64), other: &(usize, f64, f64, f64)| {
        one.0 != other.0 && one.2 < other.1 && other.1 < one.3 && other.2 < one.1 && one.1 < other.3
    };
    level.iter().map(|one| upright.iter().filter(|other| meets(one, other)).count()).sum()
}

#[cfg(test)]
mod tests {
    use super::super::route::Point;
    use super::*;

    #[test]
    fn a_crossing_is_counted_once_and_touching_is_none() {
        let line = |points: &[(f64, f64)]| RoutedEdge {
            edge: 0,
            points: points.iter().map(|(x, y)| Point { x: *x, y: *y }).collect(),
            label: None,
        };
        let level = line(&[(0.0, 10.0), (20.0, 10.0)]);
        assert_eq!(crossings(&[level.clone(), line(&[(10.0, 0.0), (10.0, 20.0)])]), 1);
        assert_eq!(crossings(&[level, line(&[(10.0, 10.0), (10.0, 20.0)])]), 0);
    }

    #[test]
    fn a_shuffle_keeps_every_element_and_is_the_same_every_time() {
        let list: Vec<usize> = (0..20).collect();
        let once = shuffle(&list, &mut 7);
        assert_eq!(once, shuffle(&list, &mut 7));
        assert_ne!(once, list);
        let mut sorted = once;
        sorted.sort_unstable();
        assert_eq!(sorted, list);
    }
}
