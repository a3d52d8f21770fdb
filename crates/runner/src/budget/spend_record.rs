//! The sums: what was used up by whom, with what those at work have used so far.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use interlock_core::id::{AssignmentId, Name, QuestionId};
use serde::{Deserialize, Serialize};

use crate::budget::BudgetScope;
use interlock_agents::Usage;

/// One turn of one agent, as far as it has come.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TurnSpending {
    /// A turn that is under way is written down again and again: the last line of its number counts.
    pub(super) turn: u64,
    pub(super) assignment: String,
    pub(super) role: Name,
    pub(super) group: Option<Name>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cost: Option<f64>,
    /// In milliseconds since 1970: when it began, and until when it is known to have been at work.
    pub(super) from: i64,
    pub(super) to: i64,
}

impl TurnSpending {
    pub(super) fn used(&mut self, usage: &Usage) {
        self.input_tokens = usage.input_tokens;
        self.output_tokens = usage.output_tokens;
        self.cost = usage.cost;
    }

    /// The scopes whose budgets it counts for.
    fn accounts(&self) -> impl Iterator<Item = BudgetScope> + '_ {
        let (role, group) = (BudgetScope::Role(self.role.clone()), self.group.clone().map(BudgetScope::Group));
        [BudgetScope::Session, role, BudgetScope::Assignment(self.assignment.clone())].into_iter().chain(group)
    }

    fn is_of(&self, whose: &BudgetScope) -> bool {
        match whose {
            BudgetScope::Session => true,
            BudgetScope::Role(role) => *role == self.role,
            BudgetScope::Group(group) => Some(group) == self.group.as_ref(),
            BudgetScope::Assignment(assignment) => *assignment == self.assignment,
        }
    }
}

/// The spending of one scope.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SpendTotal {
    pub(crate) usage: Usage,
    /// In which at least one agent was at work.
    pub(crate) time: Duration,
    pub(crate) turns: u32,
}

impl SpendTotal {
    fn add(&mut self, entry: &TurnSpending) {
        self.usage.input_tokens = self.usage.input_tokens.saturating_add(entry.input_tokens);
        self.usage.output_tokens = self.usage.output_tokens.saturating_add(entry.output_tokens);
        if let Some(cost) = entry.cost {
            self.usage.cost = Some(self.usage.cost.unwrap_or(0.0) + cost);
        }
        self.turns = self.turns.saturating_add(1);
    }
}

/// Times that do not overlap, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkPeriods(Vec<(i64, i64)>);

impl WorkPeriods {
    fn add(&mut self, from: i64, to: i64) {
        let first = self.0.partition_point(|(_, end)| *end < from);
        let last = self.0.partition_point(|(start, _)| *start <= to);
        let joined = self.0.get(first..last).unwrap_or_default();
        let from = joined.first().map_or(from, |(start, _)| from.min(*start));
        let to = joined.last().map_or(to, |(_, end)| to.max(*end));
        self.0.splice(first..last, [(from, to)]);
    }

    /// All of it, and from `since` until `now` as well.
    fn length(&self, since: Option<i64>, now: i64) -> Duration {
        let since = since.unwrap_or(i64::MAX);
        let before = self.0.iter().map(|(from, to)| (*to).min(since).saturating_sub(*from).max(0)).sum::<i64>();
        let all = before.saturating_add(now.saturating_sub(since).max(0));
        Duration::from_millis(u64::try_from(all).unwrap_or(0))
    }
}

/// A turn that is under way.
pub(super) struct RunningTurn {
    pub(super) entry: TurnSpending,
    /// When it was written down, and whether there is more to tell since.
    pub(super) written: Instant,
    pub(super) is_news: bool,
}

/// A question on a budget that is used up.
pub(super) struct BudgetQuestion {
    pub(super) whose: BudgetScope,
    /// How often it had been granted once more by then.
    pub(super) times: u32,
}

#[derive(Default)]
pub(super) struct SpendRecord {
    settled: BTreeMap<BudgetScope, (SpendTotal, WorkPeriods)>,
    pub(super) live: BTreeMap<u64, RunningTurn>,
    pub(super) last_turn: u64,
    /// How often a person has granted an allowance once more: by whom it is for.
    pub(super) granted: BTreeMap<BudgetScope, u32>,
    /// Scopes whose question is about to be asked.
    pub(super) asking: BTreeSet<BudgetScope>,
    /// Questions that a killed run was about to ask: the assignment whose loss asks, and how often more had been
    /// granted.
    pub(super) intended: BTreeMap<BudgetScope, (AssignmentId, u32)>,
    /// Questions whose answers have not been looked at.
    pub(super) asked: BTreeMap<QuestionId, BudgetQuestion>,
}

impl SpendRecord {
    /// A turn is over.
    pub(super) fn settle(&mut self, entry: &TurnSpending) {
        self.last_turn = self.last_turn.max(entry.turn);
        for account in entry.accounts() {
            let (spent, spans) = self.settled.entry(account).or_default();
            spent.add(entry);
            spans.add(entry.from, entry.to);
        }
    }

    pub(super) fn spent(&self, whose: &BudgetScope, now: i64) -> SpendTotal {
        let (mut spent, none) = (SpendTotal::default(), WorkPeriods::default());
        let spans = self.settled.get(whose).map_or(&none, |(settled, spans)| {
            spent = *settled;
            spans
        });
        let mut since = None::<i64>;
        for live in self.live.values().filter(|live| live.entry.is_of(whose)) {
            spent.add(&live.entry);
            since = Some(since.map_or(live.entry.from, |earliest| earliest.min(live.entry.from)));
        }
        spent.time = spans.length(since, now);
        spent
    }

    /// The roles of turns that are over.
    pub(super) fn roles(&self) -> Vec<Name> {
        let roles = self.settled.keys().filter_map(|account| match account {
            BudgetScope::Role(role) => Some(role.clone()),
            BudgetScope::Session | BudgetScope::Group(_) | BudgetScope::Assignment(_) => None,
        });
        roles.collect()
    }

    /// Whether a person has to answer first.
    pub(super) fn is_held(&self, whose: &BudgetScope) -> bool {
        self.asking.contains(whose) || self.asked.values().any(|asked| asked.whose == *whose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(spans: &[(i64, i64)], since: Option<i64>, now: i64) -> u128 {
        let mut all = WorkPeriods::default();
        spans.iter().for_each(|(from, to)| all.add(*from, *to));
        all.length(since, now).as_millis()
    }

    #[test]
    fn time_in_which_several_work_counts_once() {
        assert_eq!(length(&[], None, 100), 0);
        assert_eq!(length(&[(0, 10), (5, 20), (30, 40)], None, 100), 30);
        assert_eq!(length(&[(30, 40), (0, 10), (8, 32)], None, 100), 40, "in whatever order they are told");
        assert_eq!(length(&[(0, 10), (20, 30), (40, 50), (5, 45)], None, 100), 50);
        assert_eq!(length(&[(0, 10), (20, 30)], Some(25), 40), 30, "with those who are at work");
        assert_eq!(length(&[(0, 10)], Some(60), 50), 10, "a clock that was set back takes nothing away");
    }
}
