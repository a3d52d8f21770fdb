//! Which groups can start, are at work, or have arrived.
//!
//! Kept beside the groups, so that a decision asks for what it needs and goes through
//! none of the others. A decision lays a roster of its own over the state's: what it
//! moves counts, and the state's stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::Name;
use crate::state::group::{Group, GroupEnd, GroupProgress};

/// Where a group stands that is not pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupPosition {
    /// At work: an assignment, a gate or a question is open.
    Busy,
    /// It waits before this stage of the session.
    Arrived(usize),
    Completed,
    /// Merged, but a manager has to accept it.
    AwaitsConfirmation,
    /// Deferred or cancelled.
    Dropped,
}

impl GroupPosition {
    /// `None`: it is pending.
    fn of(group: &Group) -> Option<Self> {
        match &group.progress {
            GroupProgress::Pending => None,
            GroupProgress::Working => Some(GroupPosition::Busy),
            GroupProgress::Arrived => Some(GroupPosition::Arrived(usize::from(group.lane.stage.unwrap_or(0)))),
            GroupProgress::AwaitingConfirmation => Some(GroupPosition::AwaitsConfirmation),
            GroupProgress::Ended(GroupEnd::Completed) => Some(GroupPosition::Completed),
            GroupProgress::Ended(GroupEnd::Deferred { .. } | GroupEnd::Cancelled { .. }) => {
                Some(GroupPosition::Dropped)
            }
        }
    }
}

/// The state of a group as a dependency of other groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DependencyState {
    Met,
    Open,
    /// It will never be met.
    Lost,
}

/// The classes of groups that can be queried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GroupClass {
    /// Pending, with every dependency met.
    Ready,
    /// Pending, with a dependency that will never be met.
    Doomed,
    Busy,
    Arrived,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RosterEntry {
    /// `None`: it is pending.
    place: Option<GroupPosition>,
    /// Dependencies that may still be met.
    open: usize,
    /// Dependencies that will never be met.
    lost: usize,
}

impl RosterEntry {
    fn standing(self) -> DependencyState {
        match self.place {
            Some(GroupPosition::Completed | GroupPosition::Arrived(_)) => DependencyState::Met,
            Some(GroupPosition::Dropped) => DependencyState::Lost,
            Some(GroupPosition::Busy | GroupPosition::AwaitsConfirmation) | None => DependencyState::Open,
        }
    }

    fn class(self) -> Option<GroupClass> {
        match self.place {
            None if self.lost > 0 => Some(GroupClass::Doomed),
            None => (self.open == 0).then_some(GroupClass::Ready),
            Some(GroupPosition::Busy) => Some(GroupClass::Busy),
            Some(GroupPosition::Arrived(_)) => Some(GroupClass::Arrived),
            Some(GroupPosition::Completed | GroupPosition::AwaitsConfirmation | GroupPosition::Dropped) => None,
        }
    }

    fn add(&mut self, dependency: DependencyState) {
        match dependency {
            DependencyState::Met => {}
            DependencyState::Open => self.open = self.open.saturating_add(1),
            DependencyState::Lost => self.lost = self.lost.saturating_add(1),
        }
    }

    fn remove(&mut self, dependency: DependencyState) {
        match dependency {
            DependencyState::Met => {}
            DependencyState::Open => self.open = self.open.saturating_sub(1),
            DependencyState::Lost => self.lost = self.lost.saturating_sub(1),
        }
    }
}

/// Entries by the group's place in the plan.
#[derive(Clone, Debug, PartialEq)]
enum RosterEntries {
    Every(Vec<RosterEntry>),
    Few(BTreeMap<usize, RosterEntry>),
}

impl Default for RosterEntries {
    fn default() -> Self {
        RosterEntries::Every(Vec::new())
    }
}

impl RosterEntries {
    fn get(&self, index: usize) -> Option<RosterEntry> {
        match self {
            RosterEntries::Every(list) => list.get(index).copied(),
            RosterEntries::Few(map) => map.get(&index).copied(),
        }
    }

    fn insert(&mut self, index: usize, entry: RosterEntry) {
        match self {
            RosterEntries::Every(list) => match list.get_mut(index) {
                Some(old) => *old = entry,
                None => list.push(entry),
            },
            RosterEntries::Few(map) => {
                map.insert(index, entry);
            }
        }
    }
}

/// Groups by their place in the plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Roster<'a> {
    /// The roster below, for groups that have no entry here.
    below: Option<&'a Roster<'a>>,
    entries: RosterEntries,
    classes: BTreeSet<(GroupClass, usize)>,
    /// Groups at work, those below included.
    busy: usize,
    index: BTreeMap<Name, usize>,
    /// The groups that depend on a group.
    dependents: BTreeMap<usize, Vec<usize>>,
    /// The groups that depend on a name that no group has yet.
    awaiting: BTreeMap<Name, Vec<usize>>,
}

impl<'a> Roster<'a> {
    pub(crate) fn over(below: &'a Roster<'a>) -> Self {
        Self { below: Some(below), entries: RosterEntries::Few(BTreeMap::new()), busy: below.busy, ..Self::default() }
    }

    pub(crate) fn of(groups: &[Group]) -> Self {
        let mut roster = Self::default();
        for (index, group) in groups.iter().enumerate() {
            roster.add(index, group);
        }
        roster
    }

    pub(crate) fn index_of(&self, name: &str) -> Option<usize> {
        let below = || self.below.and_then(|below| below.index_of(name));
        self.index.get(name).copied().or_else(below)
    }

    pub(crate) fn add(&mut self, index: usize, group: &Group) {
        let mut entry = RosterEntry { place: GroupPosition::of(group), ..RosterEntry::default() };
        for name in &group.depends_on {
            entry.add(self.standing(name));
            match self.index_of(name) {
                Some(dependency) => self.dependents.entry(dependency).or_default().push(index),
                None => self.awaiting.entry(name.clone()).or_default().push(index),
            }
        }
        self.index.insert(group.id.clone(), index);
        self.put(index, None, entry);
        if let Some(awaiting) = self.awaiting.remove(&group.id) {
            self.dependents.insert(index, awaiting);
            self.shift(index, DependencyState::Lost, entry.standing());
        }
    }

    /// The group is as it is now.
    pub(crate) fn update(&mut self, index: usize, group: &Group) {
        self.set(index, GroupPosition::of(group));
    }

    /// `None`: it is pending again.
    pub(crate) fn set(&mut self, index: usize, place: Option<GroupPosition>) {
        let Some(old) = self.entry(index).filter(|old| old.place != place) else { return };
        let new = RosterEntry { place, ..old };
        self.put(index, Some(old), new);
        self.shift(index, old.standing(), new.standing());
    }

    pub(crate) fn place(&self, index: usize) -> Option<GroupPosition> {
        self.entry(index)?.place
    }

    pub(crate) fn busy(&self) -> usize {
        self.busy
    }

    pub(crate) fn is_lost(&self, name: &str) -> bool {
        self.standing(name) == DependencyState::Lost
    }

    /// Does a pending group depend on this one?
    pub(crate) fn is_waited_for(&self, name: &str) -> bool {
        let index = self.index_of(name);
        index.is_some_and(|index| self.dependents_of(index).any(|other| self.place(other).is_none()))
    }

    pub(crate) fn first(&self, class: GroupClass) -> Option<usize> {
        self.not_moved(class).next().into_iter().chain(self.own(class).next()).min()
    }

    /// In the order of the plan, so many at most.
    pub(crate) fn some(&self, class: GroupClass, most: usize) -> Vec<usize> {
        let mut found: Vec<usize> = self.not_moved(class).take(most).chain(self.own(class).take(most)).collect();
        found.sort_unstable();
        found.truncate(most);
        found
    }

    /// Those below that have no entry here.
    fn not_moved(&self, class: GroupClass) -> impl Iterator<Item = usize> {
        let below = self.below.into_iter().flat_map(move |below| below.own(class));
        below.filter(|index| self.entries.get(*index).is_none())
    }

    fn own(&self, class: GroupClass) -> impl Iterator<Item = usize> {
        self.classes.range((class, 0)..=(class, usize::MAX)).map(|(_, index)| *index)
    }

    fn entry(&self, index: usize) -> Option<RosterEntry> {
        let below = || self.below.and_then(|below| below.entry(index));
        self.entries.get(index).or_else(below)
    }

    fn standing(&self, name: &str) -> DependencyState {
        self.index_of(name).and_then(|index| self.entry(index)).map_or(DependencyState::Lost, RosterEntry::standing)
    }

    fn dependents_of(&self, index: usize) -> impl Iterator<Item = usize> {
        let below = self.below.and_then(|below| below.dependents.get(&index));
        below.into_iter().chain(self.dependents.get(&index)).flatten().copied()
    }

    fn put(&mut self, index: usize, old: Option<RosterEntry>, new: RosterEntry) {
        self.entries.insert(index, new);
        let (old, new) = (old.and_then(RosterEntry::class), new.class());
        if let Some(class) = old.filter(|_| old != new) {
            self.classes.remove(&(class, index));
        }
        self.classes.extend(new.map(|class| (class, index)));
        let (was_busy, is_busy) = (old == Some(GroupClass::Busy), new == Some(GroupClass::Busy));
        self.busy = self.busy.saturating_add(usize::from(is_busy)).saturating_sub(usize::from(was_busy));
    }

    /// Those that depend on a group take note of what it is to them now.
    fn shift(&mut self, group: usize, old: DependencyState, new: DependencyState) {
        if old == new {
            return;
        }
        let dependents: Vec<usize> = self.dependents_of(group).collect();
        for index in dependents {
            let Some(before) = self.entry(index) else { continue };
            let mut entry = before;
            entry.remove(old);
            entry.add(new);
            self.put(index, Some(before), entry);
        }
    }
}
