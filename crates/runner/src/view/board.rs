//! How the groups stand: who is at work, what waits and for what. Those that have not begun, and those that are done, are
//! but counted.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use interlock_core::id::Name;
use interlock_core::state::{Group, GroupStatus, Holder, Lane, Progress, State};
use interlock_core::workflow::Task;

use crate::crew::Crew;
use crate::purse::Account;
use crate::view::Row;

/// What kind of line it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// A person has to say something.
    Asks,
    Works,
    Waits,
}

/// One line of the picture.
pub(super) struct Entry {
    pub(super) mark: Mark,
    pub(super) group: Option<Name>,
    pub(super) what: String,
    pub(super) attempt: Option<u32>,
    pub(super) time: Duration,
    pub(super) account: Option<Account>,
    pub(super) doing: String,
}

/// How many groups there are of each kind.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) all: usize,
    pub(super) done: usize,
    pub(super) deferred: usize,
    pub(super) cancelled: usize,
    pub(super) pending: usize,
    pub(super) blocked: usize,
}

#[derive(Default)]
pub(super) struct Board {
    seq: Option<u64>,
    pub(super) counts: Counts,
    /// Groups that have begun and are not over, by their place in the plan; and since when they stand as they do.
    open: BTreeMap<usize, (GroupStatus, Vec<Holder>, Instant)>,
}

/// A place in the plan, and who is at work there, if anybody is. The session itself comes first.
type Seat<'a> = (Mark, Option<usize>, Option<&'a Row>);

impl Board {
    /// Looks at the groups again, if anything has happened.
    pub(super) fn look(&mut self, state: &State) {
        if self.seq == Some(state.seq) {
            return;
        }
        self.seq = Some(state.seq);
        self.counts = Counts { all: state.groups.len(), ..Counts::default() };
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
            let holders: Vec<Holder> = group.lane.parts.iter().map(|part| part.holder.clone()).collect();
            let same = before.remove(&index).filter(|(was, held, _)| *was == status && *held == holders);
            let since = same.map_or_else(Instant::now, |(_, _, since)| since);
            self.open.insert(index, (status, holders, since));
        }
    }

    /// The lines for which there is room, in the order of the plan, and how many are left out: at work, and waiting.
    pub(super) fn lines(
        &self,
        (state, crew, paused): (&State, &Crew, bool),
        rows: &[&Row],
        space: usize,
    ) -> (Vec<Entry>, [usize; 2]) {
        let mut seats: Vec<Seat<'_>> =
            rows.iter().map(|row| (Mark::Works, place(state, row.group.as_ref()), Some(*row))).collect();
        let busy: BTreeSet<Option<usize>> = seats.iter().map(|(_, place, _)| *place).collect();
        let session = Some(None).filter(|_| state.lane.is_open());
        let idle = session.into_iter().chain(self.open.keys().copied().map(Some)).filter(|place| !busy.contains(place));
        seats.extend(idle.map(|place| (self.mark(state, place), place, None)));
        // Those who do not fit are those of whom there is least to say.
        seats.sort_by_key(|(mark, place, _)| (*mark, *place));
        let hidden = seats.split_off(space.min(seats.len()));
        seats.sort_by_key(|(_, place, _)| *place);
        let working = hidden.iter().filter(|(mark, _, _)| *mark == Mark::Works).count();
        let lines = seats.into_iter().map(|(mark, place, row)| match row {
            Some(row) => at_work(row, place.and_then(|place| state.groups.get(place))),
            None => self.waits(mark, place, (state, crew, paused)),
        });
        (lines.collect(), [working, hidden.len() - working])
    }

    fn mark(&self, state: &State, place: Option<usize>) -> Mark {
        let asks = match place {
            None => state.lane.asks(),
            Some(index) => {
                matches!(self.open.get(&index), Some((GroupStatus::AwaitingPerson | GroupStatus::Blocked, _, _)))
            }
        };
        if asks { Mark::Asks } else { Mark::Waits }
    }

    /// Somebody on whom nobody is at work.
    fn waits(&self, mark: Mark, place: Option<usize>, (state, crew, paused): (&State, &Crew, bool)) -> Entry {
        let group = place.and_then(|index| state.groups.get(index));
        let lane = group.map_or(&state.lane, |group| &group.lane);
        let (what, attempt, doing) = waiting_for(lane, group, (state, crew, paused));
        let since = place.and_then(|index| self.open.get(&index)).map(|(_, _, since)| *since);
        let name = group.map(|group| group.id.clone());
        Entry {
            mark,
            account: name.clone().map(Account::Group),
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

fn at_work(row: &Row, group: Option<&Group>) -> Entry {
    let blocked = group.filter(|group| group.status() == GroupStatus::Blocked).and_then(|group| block(&group.lane));
    Entry {
        mark: Mark::Works,
        group: row.group.clone(),
        what: row.what.clone(),
        attempt: Some(row.attempt),
        time: row.since.elapsed(),
        account: row.account.clone().or_else(|| row.group.clone().map(Account::Group)),
        doing: if row.doing.is_empty() { blocked.unwrap_or_default() } else { row.doing.clone() },
    }
}

/// Who is blocked, and by what.
fn block(lane: &Lane) -> Option<String> {
    let block = lane.blocks.last()?;
    let why = block.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    Some(format!("{} is blocked{why}", block.role))
}

/// What it is that nobody does yet, the attempt, and why not.
fn waiting_for(
    lane: &Lane,
    group: Option<&Group>,
    (state, crew, paused): (&State, &Crew, bool),
) -> (String, Option<u32>, String) {
    let holder = lane.parts.iter().map(|part| &part.holder).min_by_key(|holder| match holder {
        Holder::Question(_) => 0,
        Holder::Assignment(_) | Holder::Gate(_) => 1,
        Holder::Nobody | Holder::Done => 2,
    });
    let later = if paused { "paused" } else { "waits for a place" };
    match holder {
        Some(Holder::Question(id)) => {
            let text = state.questions.get(id).map_or("", |question| question.text.as_str());
            ("waits for you".to_owned(), None, format!("{id}: {}", text.lines().next().unwrap_or_default()))
        }
        Some(Holder::Assignment(id)) => {
            let Some(given) = state.assignments.get(id) else { return (String::new(), None, later.to_owned()) };
            let merges = given.task == Task::Merge && !crew.team.merge_by_agent;
            let what = if merges { "merge".to_owned() } else { given.role.to_string() };
            let held = !merges && crew.is_held(&given.role, group.map(|group| &group.id));
            let why = if held { "waits for an answer on its budget" } else { later };
            (what, Some(given.attempt), why.to_owned())
        }
        Some(Holder::Gate(run)) => {
            let gate = state.gate_runs.get(run).map_or("", |run| run.gate.as_str());
            (format!("gate {gate}"), None, later.to_owned())
        }
        Some(Holder::Nobody | Holder::Done) | None => {
            let word = match group.map(|group| &group.progress) {
                Some(Progress::Arrived) => "waits for the other groups".to_owned(),
                Some(Progress::AwaitingConfirmation) => "waits to be accepted".to_owned(),
                _ => block(lane).unwrap_or_default(),
            };
            (group.map_or("", |group| group.status().name()).replace('_', " "), None, word)
        }
    }
}
