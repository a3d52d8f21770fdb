//! How the groups stand: who is at work, what waits and for what. Those that have not begun, and those that are done, are
//! but counted.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use interlock_core::id::Name;
use interlock_core::state::{Group, GroupProgress, GroupStatus, Lane, PartHolder, State};
use interlock_core::workflow::AssignmentTask;

use crate::budget::BudgetScope;
use crate::run_context::RunContext;
use crate::tui::ActiveWork;

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ActivityKind {
    /// A person has to say something.
    Asks,
    Works,
    Waits,
}

/// One line of the picture.
pub(super) struct ActivityLine {
    pub(super) mark: ActivityKind,
    pub(super) group: Option<Name>,
    pub(super) what: String,
    pub(super) attempt: Option<u32>,
    pub(super) time: Duration,
    pub(super) account: Option<BudgetScope>,
    pub(super) doing: String,
}

/// How many groups there are of each kind.
#[derive(Default)]
pub(super) struct GroupCounts {
    pub(super) all: usize,
    pub(super) done: usize,
    pub(super) deferred: usize,
    pub(super) cancelled: usize,
    pub(super) pending: usize,
    pub(super) blocked: usize,
}

#[derive(Default)]
pub(super) struct ViewModel {
    seq: Option<u64>,
    pub(super) counts: GroupCounts,
    /// Groups that have begun and are not over, by their place in the plan; and since when they stand as they do.
    open: BTreeMap<usize, (GroupStatus, Vec<PartHolder>, Instant)>,
}

/// A place in the plan, and the work in progress there, if any. The session itself comes first.
type PlanPosition<'a> = (ActivityKind, Option<usize>, Option<&'a ActiveWork>);

impl ViewModel {
    /// Looks at the groups again, if anything has happened.
    pub(super) fn look(&mut self, state: &State) {
        if self.seq == Some(state.seq) {
            return;
        }
        self.seq = Some(state.seq);
        self.counts = GroupCounts { all: state.groups.len(), ..GroupCounts::default() };
        let mut before = std::mem::take(&mut self.open);
        for (index, group) in state.groups.iter().enumerate() {
            let status = group.status();
            match status {
                GroupStatus::Completed => self.counts.done += 1,
                GroupStatus::DeferredExternal => self.counts.deferred += 1,
                GroupStatus::Cancelled => self.counts.cancelled += 1,
                GroupStatus::Pending => self.counts.pending += 1,
                GroupStatus::Blocked => self.counts.blocked += 1,
                _ => {}
            }
            if group.ended() || status == GroupStatus::Pending {
                continue;
            }
            let holders: Vec<PartHolder> = group.lane.parts.iter().map(|part| part.holder.clone()).collect();
            let same = before.remove(&index).filter(|(was, held, _)| *was == status && *held == holders);
            let since = same.map_or_else(Instant::now, |(_, _, since)| since);
            self.open.insert(index, (status, holders, since));
        }
    }

    /// The lines for which there is room, in the order of the plan, and how many are left out: at work, and waiting.
    pub(super) fn lines(
        &self,
        (state, crew, paused): (&State, &RunContext, bool),
        rows: &[&ActiveWork],
        space: usize,
    ) -> (Vec<ActivityLine>, [usize; 2]) {
        let mut seats: Vec<PlanPosition<'_>> =
            rows.iter().map(|row| (ActivityKind::Works, place(state, row.group.as_ref()), Some(*row))).collect();
        let busy: BTreeSet<Option<usize>> = seats.iter().map(|(_, place, _)| *place).collect();
        let session = Some(None).filter(|_| state.lane.is_open());
        let idle = session.into_iter().chain(self.open.keys().copied().map(Some)).filter(|place| !busy.contains(place));
        seats.extend(idle.map(|place| (self.mark(state, place), place, None)));
        // Those who do not fit are those of whom there is least to say.
        seats.sort_by_key(|(mark, place, _)| (*mark, *place));
        let hidden = seats.split_off(space.min(seats.len()));
        seats.sort_by_key(|(_, place, _)| *place);
        let working = hidden.iter().filter(|(mark, _, _)| *mark == ActivityKind::Works).count();
        let lines = seats.into_iter().map(|(mark, place, row)| match row {
            Some(row) => at_work(row, place.and_then(|place| state.groups.get(place))),
            None => self.waits(mark, place, (state, crew, paused)),
        });
        (lines.collect(), [working, hidden.len() - working])
    }

    fn mark(&self, state: &State, place: Option<usize>) -> ActivityKind {
        let asks = match place {
            None => state.lane.asks(),
            Some(index) => {
                matches!(self.open.get(&index), Some((GroupStatus::AwaitingPerson | GroupStatus::Blocked, _, _)))
            }
        };
        if asks { ActivityKind::Asks } else { ActivityKind::Waits }
    }

    /// The line of a group, or of the session, without work in progress.
    fn waits(
        &self,
        mark: ActivityKind,
        place: Option<usize>,
        (state, crew, paused): (&State, &RunContext, bool),
    ) -> ActivityLine {
        let group = place.and_then(|index| state.groups.get(index));
        let lane = group.map_or(&state.lane, |group| &group.lane);
        let (what, attempt, doing) = waiting_for(lane, group, (state, crew, paused));
        let since = place.and_then(|index| self.open.get(&index)).map(|(_, _, since)| *since);
        let name = group.map(|group| group.id.clone());
        ActivityLine {
            mark,
            account: name.clone().map(BudgetScope::Group),
            group: name,
            what,
            attempt,
            time: since.map_or(Duration::ZERO, |since| since.elapsed()),
            doing,
        }
    }
}

fn place(state: &State, group: Option<&Name>) -> Option<usize> {
    group.and_then(|name| state.group_ix(name))
}

fn at_work(row: &ActiveWork, group: Option<&Group>) -> ActivityLine {
    let blocked = group.filter(|group| group.status() == GroupStatus::Blocked).and_then(|group| block(&group.lane));
    ActivityLine {
        mark: ActivityKind::Works,
        group: row.group.clone(),
        what: row.what.clone(),
        attempt: Some(row.attempt),
        time: row.since.elapsed(),
        account: row.account.clone().or_else(|| row.group.clone().map(BudgetScope::Group)),
        doing: if row.doing.is_empty() { blocked.unwrap_or_default() } else { row.doing.clone() },
    }
}

/// The blocked role, and the reason.
fn block(lane: &Lane) -> Option<String> {
    let block = lane.blocks.last()?;
    let why = block.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    Some(format!("{} is blocked{why}", block.role))
}

/// The work that waits, its attempt, and why it waits.
fn waiting_for(
    lane: &Lane,
    group: Option<&Group>,
    (state, crew, paused): (&State, &RunContext, bool),
) -> (String, Option<u32>, String) {
    let holder = lane.parts.iter().map(|part| &part.holder).min_by_key(|holder| match holder {
        PartHolder::Question(_) => 0,
        PartHolder::Assignment(_) | PartHolder::Gate(_) => 1,
        PartHolder::Nobody | PartHolder::Done => 2,
    });
    let later = if paused { "paused" } else { "waits for a place" };
    match holder {
        Some(PartHolder::Question(id)) => {
            let text = state.questions.get(id).map_or("", |question| question.text.as_str());
            ("waits for you".to_owned(), None, format!("{id}: {}", text.lines().next().unwrap_or_default()))
        }
        Some(PartHolder::Assignment(id)) => {
            let Some(given) = state.assignments.get(id) else { return (String::new(), None, later.to_owned()) };
            let merges = given.task == AssignmentTask::Merge && !crew.team.merge_by_agent;
            let what = if merges { "merge".to_owned() } else { given.role.to_string() };
            let held = !merges && crew.is_held(&given.role, group.map(|group| &group.id));
            let why = if held { "waits for an answer on its budget" } else { later };
            (what, Some(given.attempt), why.to_owned())
        }
        Some(PartHolder::Gate(run)) => {
            let gate = state.gate_runs.get(run).map_or("", |run| run.gate.as_str());
            (format!("gate {gate}"), None, later.to_owned())
        }
        Some(PartHolder::Nobody | PartHolder::Done) | None => {
            let word = match group.map(|group| &group.progress) {
                Some(GroupProgress::Arrived) => "waits for the other groups".to_owned(),
                Some(GroupProgress::AwaitingConfirmation) => "waits to be accepted".to_owned(),
                _ => block(lane).unwrap_or_default(),
            };
            (group.map_or("", |group| group.status().name()).replace('_', " "), None, word)
        }
    }
}
