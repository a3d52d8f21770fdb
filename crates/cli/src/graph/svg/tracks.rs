//! The space between two rows: each line that moves sideways gets a height of its own.

/// A line that comes from above at `from` and goes on below at `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SidewaysLine {
    pub(super) from: f64,
    pub(super) to: f64,
}

impl SidewaysLine {
    fn left(self) -> f64 {
        self.from.min(self.to)
    }

    fn right(self) -> f64 {
        self.from.max(self.to)
    }

    pub(super) fn is_straight(self) -> bool {
        (self.from - self.to).abs() < STRAIGHT
    }

    fn spans(self, x: f64) -> bool {
        self.left() - CLEAR < x && x < self.right() + CLEAR
    }

    /// How often the two cross if `self` runs above `other`.
    fn crossings_above(self, other: SidewaysLine) -> usize {
        let own_drop = usize::from(other.spans(self.to));
        let other_drop = usize::from(self.spans(other.from));
        // Two lines on top of each other are worse than any crossing.
        let covered = if self.covers_below(other) { 8 } else { 0 };
        own_drop + other_drop + covered
    }

    /// Would it lie on the other if it ran above it?
    fn covers_below(self, other: SidewaysLine) -> bool {
        (self.to - other.from).abs() < CLEAR
    }
}

/// Nearer than this is the same place: less than what a picture's numbers show.
const STRAIGHT: f64 = 0.05;

/// Lines keep at least this distance where they run side by side.
const CLEAR: f64 = 7.0;

/// Tracks are improved by swapping neighbours; more rounds than this change nothing that shows.
const ROUNDS: usize = 24;

/// A track for each shift, counted from above, and how many there are.
pub(super) fn tracks(shifts: &[SidewaysLine]) -> (Vec<Option<usize>>, usize) {
    let mut order: Vec<usize> =
        shifts.iter().enumerate().filter(|(_, shift)| !shift.is_straight()).map(|(index, _)| index).collect();
    let at = |index: usize| shifts.get(index).copied().unwrap_or(SidewaysLine { from: 0.0, to: 0.0 });
    order.sort_by(|a, b| first_guess(at(*a), at(*b)));
    for _ in 0..ROUNDS {
        let mut better = false;
        for place in 1..order.len() {
            let (Some(above), Some(below)) = (order.get(place - 1).copied(), order.get(place).copied()) else {
                continue;
            };
            if at(above).crossings_above(at(below)) > at(below).crossings_above(at(above)) {
                order.swap(place - 1, place);
                better = true;
            }
        }
        if !better {
            break;
        }
    }
    let order = uncovered(order, at);
    let mut tracks: Vec<Option<usize>> = vec![None; shifts.len()];
    let mut used = 0;
    for (place, index) in order.iter().enumerate() {
        let earlier = order.iter().take(place).filter(|other| meet(at(*index), at(**other)));
        let track = earlier.filter_map(|other| tracks.get(*other).copied().flatten()).map(|track| track + 1).max();
        if let Some(slot) = tracks.get_mut(*index) {
            *slot = Some(track.unwrap_or(0));
        }
        used = used.max(track.unwrap_or(0) + 1);
    }
    (tracks, used)
}

/// The same order, but a line that begins where another ends has turned off above it.
fn uncovered(order: Vec<usize>, at: impl Fn(usize) -> SidewaysLine) -> Vec<usize> {
    let mut left = order;
    let mut sorted = Vec::new();
    while !left.is_empty() {
        let free = |one: &usize| left.iter().all(|other| other == one || !at(*one).covers_below(at(*other)));
        // Two that change places have no such order; the first goes first.
        let next = left.iter().position(free).unwrap_or(0);
        sorted.push(left.remove(next));
    }
    sorted
}

/// Lines to the right run above those to their left, and the reverse: then they do not cross.
fn first_guess(a: SidewaysLine, b: SidewaysLine) -> std::cmp::Ordering {
    match (a.to > a.from, b.to > b.from) {
        (true, true) => b.from.total_cmp(&a.from),
        (false, false) => a.from.total_cmp(&b.from),
        (true, false) => std::cmp::Ordering::Less,
        (false, true) => std::cmp::Ordering::Greater,
    }
}

fn meet(a: SidewaysLine, b: SidewaysLine) -> bool {
    a.left() - CLEAR < b.right() && b.left() - CLEAR < a.right()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shift(from: f64, to: f64) -> SidewaysLine {
        SidewaysLine { from, to }
    }

    #[test]
    fn a_line_straight_down_needs_no_track() {
        assert_eq!(tracks(&[shift(10.0, 10.0)]), (vec![None], 0));
    }

    #[test]
    fn lines_that_do_not_meet_share_a_track() {
        assert_eq!(tracks(&[shift(0.0, 50.0), shift(100.0, 150.0)]), (vec![Some(0), Some(0)], 1));
    }

    #[test]
    fn lines_that_overlap_are_ordered_so_that_they_do_not_cross() {
        let (found, used) = tracks(&[shift(0.0, 100.0), shift(50.0, 150.0)]);
        assert_eq!((found, used), (vec![Some(1), Some(0)], 2));
        let (found, used) = tracks(&[shift(100.0, 0.0), shift(150.0, 50.0)]);
        assert_eq!((found, used), (vec![Some(0), Some(1)], 2));
    }

    #[test]
    fn nor_does_one_of_many_lie_on_another() {
        let shifts =
            [shift(0.0, 100.0), shift(100.0, 300.0), shift(50.0, 250.0), shift(300.0, 60.0), shift(60.0, 400.0)];
        let (found, _) = tracks(&shifts);
        for (above, upper) in shifts.iter().zip(&found) {
            for (below, lower) in shifts.iter().zip(&found).filter(|(_, lower)| upper < *lower) {
                assert!(!above.covers_below(*below), "{above:?} at {upper:?} and {below:?} at {lower:?}");
            }
        }
    }

    #[test]
    fn a_line_never_lies_on_another() {
        // The first ends where the second begins: the second must have turned off before.
        let (found, _) = tracks(&[shift(0.0, 100.0), shift(100.0, 200.0)]);
        assert_eq!(found, vec![Some(1), Some(0)]);
    }
}
