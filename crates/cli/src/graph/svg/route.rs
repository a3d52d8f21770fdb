//! From rows to coordinates: heights, lines with right angles, labels on them.

use super::ports::{EdgePorts, ports};
use super::rank::{BoxSize, RankedEdge, RankedGraph, RowPosition};
use super::tracks::{SidewaysLine, tracks};

/// Between a row and the first line that turns below it: room for an arrowhead.
const CLEARANCE: f64 = 16.0;
const BETWEEN_TRACKS: f64 = 10.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// A rectangle by its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Rect {
    pub(super) fn around(centre: Point, size: BoxSize) -> Self {
        let (x, y) = (centre.x - size.width / 2.0, centre.y - size.height / 2.0);
        Self { x, y, width: size.width, height: size.height }
    }

    pub(super) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.height
    }

    pub(super) fn centre(&self) -> Point {
        Point { x: self.x + self.width / 2.0, y: self.y + self.height / 2.0 }
    }
}

/// An arrow as drawn, from where it starts to where it points.
#[derive(Clone, Debug)]
pub(super) struct RoutedEdge {
    pub(super) edge: usize,
    pub(super) points: Vec<Point>,
    pub(super) label: Option<Rect>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct RoutedGraph {
    pub(super) nodes: Vec<Option<Rect>>,
    pub(super) lines: Vec<RoutedEdge>,
}

/// Everything that the boxes of one row have in common.
#[derive(Clone, Copy, Debug, Default)]
struct RowBand {
    top: f64,
    height: f64,
}

impl RowBand {
    fn middle(self) -> f64 {
        self.top + self.height / 2.0
    }

    fn bottom(self) -> f64 {
        self.top + self.height
    }
}

pub(super) fn route(ranked: &RankedGraph, nodes: &[BoxSize], inset: &[f64], labels: &[Option<BoxSize>]) -> RoutedGraph {
    let ports = ports(ranked, nodes, inset);
    let label_of = |chain: &RankedEdge| labels.get(chain.edge).copied().flatten();
    let heights = heights(ranked, nodes, &label_of);
    let gaps: Vec<RowGap> = (0..ranked.rows).map(|row| gap(ranked, &ports, row)).collect();
    let mut bands: Vec<RowBand> = Vec::new();
    let mut top = 0.0;
    for (height, gap) in heights.iter().zip(&gaps) {
        let band = RowBand { top, height: *height };
        top = band.bottom() + gap.height();
        bands.push(band);
    }
    let band = |row: usize| bands.get(row).copied().unwrap_or_default();
    let rect = |index: usize, size: &BoxSize| {
        let place = ranked.nodes.get(index).copied().flatten()?;
        Some(Rect::around(Point { x: place.x, y: band(place.row).middle() }, *size))
    };
    let boxes: Vec<Option<Rect>> = nodes.iter().enumerate().map(|(index, size)| rect(index, size)).collect();
    let mut lines = Vec::new();
    for (index, chain) in ranked.chains.iter().enumerate() {
        let ports = ports.get(index).copied().unwrap_or_default();
        let Some(points) = points(chain, ports, &boxes, &bands, &gaps, index) else { continue };
        let label = chain.label.and_then(|at| chain.passes.get(at)).zip(label_of(chain));
        let label = label.map(|(pass, size)| Rect::around(Point { x: pass.x, y: band(pass.row).middle() }, size));
        lines.push(RoutedEdge { edge: chain.edge, points, label });
    }
    RoutedGraph { nodes: boxes, lines }
}

fn heights(ranked: &RankedGraph, nodes: &[BoxSize], label_of: &dyn Fn(&RankedEdge) -> Option<BoxSize>) -> Vec<f64> {
    let mut heights = vec![0.0f64; ranked.rows];
    let mut grow = |place: &RowPosition, height: f64| {
        if let Some(slot) = heights.get_mut(place.row) {
            *slot = slot.max(height);
        }
    };
    for (place, size) in ranked.nodes.iter().zip(nodes) {
        if let Some(place) = place {
            grow(place, size.height);
        }
    }
    for chain in &ranked.chains {
        if let (Some(pass), Some(size)) = (chain.label.and_then(|at| chain.passes.get(at)), label_of(chain)) {
            grow(pass, size.height);
        }
    }
    heights
}

/// The lines between one row and the next.
struct RowGap {
    /// The chain of each, and its shift.
    chains: Vec<(usize, SidewaysLine)>,
    tracks: Vec<Option<usize>>,
    used: usize,
}

impl RowGap {
    fn height(&self) -> f64 {
        2.0 * CLEARANCE + self.used.saturating_sub(1) as f64 * BETWEEN_TRACKS
    }

    /// The shift of a chain, and how far down it turns.
    fn of(&self, chain: usize) -> Option<(SidewaysLine, Option<f64>)> {
        let place = self.chains.binary_search_by_key(&chain, |(index, _)| *index).ok()?;
        let (_, shift) = self.chains.get(place)?;
        let track = self.tracks.get(place).copied().flatten();
        Some((*shift, track.map(|track| CLEARANCE + track as f64 * BETWEEN_TRACKS)))
    }
}

fn gap(ranked: &RankedGraph, ports: &[EdgePorts], row: usize) -> RowGap {
    let mut chains = Vec::new();
    for (index, chain) in ranked.chains.iter().enumerate() {
        let ports = ports.get(index).copied().unwrap_or_default();
        let stops = stops(ranked, chain, ports);
        let above = stops.iter().find(|stop| stop.row == row);
        let below = stops.iter().find(|stop| stop.row == row + 1);
        if let (Some(above), Some(below)) = (above, below) {
            chains.push((index, SidewaysLine { from: above.x, to: below.x }));
        }
    }
    let shifts: Vec<SidewaysLine> = chains.iter().map(|(_, shift)| *shift).collect();
    let (tracks, used) = tracks(&shifts);
    RowGap { chains, tracks, used }
}

/// Every row that a chain touches, with where.
fn stops(ranked: &RankedGraph, chain: &RankedEdge, ports: EdgePorts) -> Vec<RowPosition> {
    let row = |node: usize| ranked.nodes.get(node).copied().flatten().map(|place| place.row);
    let upper = row(chain.upper).map(|row| RowPosition { row, x: ports.upper });
    let lower = row(chain.lower).map(|row| RowPosition { row, x: ports.lower });
    upper.into_iter().chain(chain.passes.iter().copied()).chain(lower).collect()
}

fn points(
    chain: &RankedEdge,
    ports: EdgePorts,
    boxes: &[Option<Rect>],
    bands: &[RowBand],
    gaps: &[RowGap],
    index: usize,
) -> Option<Vec<Point>> {
    let upper = boxes.get(chain.upper).copied().flatten()?;
    let lower = boxes.get(chain.lower).copied().flatten()?;
    let mut points = vec![Point { x: ports.upper, y: upper.bottom() }];
    for (gap, band) in gaps.iter().zip(bands) {
        let Some((shift, Some(turn))) = gap.of(index) else { continue };
        let y = band.bottom() + turn;
        points.push(Point { x: shift.from, y });
        points.push(Point { x: shift.to, y });
    }
    points.push(Point { x: ports.lower, y: lower.y });
    Some(points)
}
