//! Where arrows meet boxes: spread along the upper and lower sides, in the order of where they go.

use super::rank::{BoxSize, RankedEdge, RankedGraph, RowPosition};

/// Two arrows on one side keep this distance where the box is wide enough.
pub(super) const BETWEEN_PORTS: f64 = 16.0;

/// Where it is not, they stand at least this close.
const CLOSEST: f64 = 9.0;

/// A step to the side that is smaller than this only looks like a mistake.
const TINY: f64 = 3.0;

/// Where a chain leaves its upper box and enters its lower one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EdgePorts {
    pub(super) upper: f64,
    pub(super) lower: f64,
}

/// How many arrows the fuller side of a box has to take.
pub(super) fn most_on_a_side(nodes: usize, ends: &[(usize, usize)]) -> Vec<usize> {
    let mut both = vec![(0usize, 0usize); nodes];
    for (upper, lower) in ends.iter().copied() {
        if let Some(sides) = both.get_mut(upper) {
            sides.1 += 1;
        }
        if let Some(sides) = both.get_mut(lower) {
            sides.0 += 1;
        }
    }
    both.into_iter().map(|(above, below)| above.max(below)).collect()
}

/// `inset` is how far from its corners a box may be touched.
pub(super) fn ports(ranked: &RankedGraph, sizes: &[BoxSize], inset: &[f64]) -> Vec<EdgePorts> {
    let mut ports = vec![EdgePorts::default(); ranked.chains.len()];
    for (index, place) in ranked.nodes.iter().enumerate() {
        let (Some(place), Some(size), Some(inset)) = (place, sizes.get(index), inset.get(index)) else { continue };
        let half = (size.width / 2.0 - inset).max(0.0);
        let below = side(ranked, |chain| chain.upper == index, |chain| (chain.passes.first(), chain.lower));
        for (chain, x) in spread(&below, place.x, half) {
            if let Some(ports) = ports.get_mut(chain) {
                ports.upper = x;
            }
        }
        let above = side(ranked, |chain| chain.lower == index, |chain| (chain.passes.last(), chain.upper));
        for (chain, x) in spread(&above, place.x, half) {
            if let Some(ports) = ports.get_mut(chain) {
                ports.lower = x;
            }
        }
    }
    ports
}

/// The chains of one side with where each wants to go, from left to right.
fn side<'a>(
    ranked: &'a RankedGraph,
    belongs: impl Fn(&RankedEdge) -> bool,
    next: impl Fn(&'a RankedEdge) -> (Option<&'a RowPosition>, usize),
) -> Vec<(usize, f64)> {
    let mut wanted = Vec::new();
    for (index, chain) in ranked.chains.iter().enumerate().filter(|(_, chain)| belongs(chain)) {
        let (pass, end) = next(chain);
        let end = ranked.nodes.get(end).copied().flatten().map(|place| place.x);
        wanted.push((index, pass.map(|pass| pass.x).or(end).unwrap_or(0.0)));
    }
    wanted.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    wanted
}

/// As near to where each wants to go as the side and the neighbours allow.
///
/// Lines that can go straight do; those from further out share what is left beside them.
fn spread(wanted: &[(usize, f64)], centre: f64, half: f64) -> Vec<(usize, f64)> {
    let (left, right) = (centre - half, centre + half);
    let before = wanted.iter().filter(|(_, x)| *x < left).count();
    let after = wanted.iter().filter(|(_, x)| *x > right).count();
    let inside = wanted.get(before..wanted.len() - after).unwrap_or_default();
    let gaps = wanted.len().saturating_sub(1).max(1) as f64;
    let apart = BETWEEN_PORTS.min(2.0 * half / gaps);
    // Inner ports may use the whole side except the room that the outer ports need at their closest.
    let closest = CLOSEST.min(apart);
    let mut places: Vec<f64> = inside.iter().map(|(_, x)| *x).collect();
    let (from, to) = (left + before as f64 * closest, right - after as f64 * closest);
    let inner = (to - from).max(0.0) / inside.len().saturating_sub(1).max(1) as f64;
    push_apart(&mut places, from, to, apart.min(inner));
    let first = places.first().copied().unwrap_or(right - after as f64 * closest + closest);
    let last = places.last().copied().unwrap_or(left + before as f64 * closest - closest);
    let step = |count: usize, room: f64| if count == 0 { apart } else { apart.min(room / count as f64) };
    let from_left = step(before, first - left);
    let from_right = step(after, right - last);
    let lefts = (0..before).map(|index| left + index as f64 * from_left);
    let rights = (0..after).rev().map(|index| right - index as f64 * from_right);
    let mut all: Vec<(usize, f64)> =
        wanted.iter().map(|(chain, _)| *chain).zip(lefts.chain(places).chain(rights)).collect();
    straighten(&mut all, wanted, closest);
    all
}

/// Takes out steps so small that they look like mistakes, where the neighbours leave the room.
fn straighten(places: &mut [(usize, f64)], wanted: &[(usize, f64)], closest: f64) {
    for (index, (_, wish)) in wanted.iter().enumerate() {
        let at = |index: Option<usize>| index.and_then(|index| places.get(index)).map(|(_, x)| *x);
        let clear_before = at(index.checked_sub(1)).is_none_or(|before| wish - before >= closest);
        let clear_after = at(index.checked_add(1)).is_none_or(|after| after - wish >= closest);
        let near = at(Some(index)).is_some_and(|x| (wish - x).abs() < TINY);
        if let (true, Some(place)) = (near && clear_before && clear_after, places.get_mut(index)) {
            place.1 = *wish;
        }
    }
}

/// Moves places, which are in order, between two ends and away from each other.
fn push_apart(places: &mut [f64], left: f64, right: f64, apart: f64) {
    let mut least = left;
    for x in places.iter_mut() {
        *x = x.max(least);
        least = *x + apart;
    }
    let mut most = right;
    for x in places.iter_mut().rev() {
        *x = x.min(most);
        most = *x - apart;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(wanted: &[f64]) -> Vec<f64> {
        let wanted: Vec<(usize, f64)> = wanted.iter().copied().enumerate().collect();
        spread(&wanted, 100.0, 40.0).into_iter().map(|(_, x)| x).collect()
    }

    #[test]
    fn a_line_that_can_go_straight_does() {
        assert_eq!(places(&[100.0]), [100.0]);
        assert_eq!(places(&[0.0, 0.0, 100.0, 300.0]), [60.0, 76.0, 100.0, 140.0]);
    }

    #[test]
    fn lines_that_want_the_same_place_stand_beside_each_other() {
        let found = places(&[100.0, 100.0, 100.0]);
        assert!(found.windows(2).all(|pair| pair[1] - pair[0] >= BETWEEN_PORTS - 0.01), "{found:?}");
    }

    #[test]
    fn a_crowded_side_leaves_room_between_all_of_them() {
        let found = places(&[0.0, 0.0, 130.0, 131.0, 132.0, 133.0, 300.0]);
        assert!(found.windows(2).all(|pair| pair[1] - pair[0] >= CLOSEST - 0.01), "{found:?}");
    }

    #[test]
    fn all_stay_on_the_side_and_in_order() {
        let found = places(&[0.0, 0.0, 0.0, 0.0, 62.0, 63.0, 130.0, 300.0, 300.0]);
        assert!(found.iter().all(|x| (60.0..=140.0).contains(x)), "{found:?}");
        assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "{found:?}");
    }
}
