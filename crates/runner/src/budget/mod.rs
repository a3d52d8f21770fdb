//! Usage of agents, and whether their budgets have something left. It is kept in a file, so that a resumed run knows
//! earlier spending, including that of agents that a crash ended.

mod budget_scope;
mod spend_record;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use interlock_core::id::{AssignmentId, Name, QuestionId};
use serde::{Deserialize, Serialize};

use interlock_agents::Usage;
use interlock_agents::team::BudgetLimit;
use interlock_system::clock;
use interlock_system::files;
use spend_record::{BudgetQuestion, RunningTurn, SpendRecord, TurnSpending};

pub(crate) use budget_scope::BudgetScope;
pub(crate) use spend_record::SpendTotal;

/// Between two lines of a running turn that reports new usage.
const OFTEN: Duration = Duration::from_secs(1);
/// The same, if only the time has changed.
const SELDOM: Duration = Duration::from_secs(15);

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum BudgetLedgerLine {
    Spent(TurnSpending),
    /// The loss of an assignment is about to ask a person whether the scope may spend more.
    Asks {
        asks: BudgetScope,
        assignment: AssignmentId,
        times: u32,
    },
    /// No question was asked.
    Unasked {
        unasked: BudgetScope,
    },
    /// A person was asked whether the scope may spend more. `times`: how often more had been granted before.
    Asked {
        asked: BudgetScope,
        question: QuestionId,
        times: u32,
    },
}

/// An allowance that is used up.
pub(super) struct ExceededBudget {
    pub(super) whose: BudgetScope,
    pub(super) why: String,
}

pub(super) struct BudgetLedger {
    path: PathBuf,
    book: Mutex<SpendRecord>,
}

impl BudgetLedger {
    /// Reads what was spent so far; a line that a crash cut short is passed over.
    pub(super) fn open(path: &Path) -> Self {
        let mut book = SpendRecord::default();
        let mut turns = BTreeMap::new();
        let bytes = files::read_plain(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        for line in text.lines().filter_map(|line| serde_json::from_str::<BudgetLedgerLine>(line).ok()) {
            match line {
                BudgetLedgerLine::Spent(entry) => drop(turns.insert(entry.turn, entry)),
                BudgetLedgerLine::Asks { asks, assignment, times } => {
                    book.intended.insert(asks, (assignment, times));
                }
                BudgetLedgerLine::Unasked { unasked } => {
                    book.intended.remove(&unasked);
                }
                BudgetLedgerLine::Asked { asked, question, times } => {
                    book.intended.remove(&asked);
                    book.asked.insert(question, BudgetQuestion { whose: asked, times });
                }
            }
        }
        turns.values().for_each(|entry| book.settle(entry));
        Self { path: path.to_owned(), book: Mutex::new(book) }
    }

    /// An agent is at work from now on. What its turn is known by.
    pub(super) fn begin(&self, assignment: &str, role: &Name, group: Option<&Name>) -> u64 {
        let now = clock::now().0;
        let mut book = self.book();
        book.last_turn = book.last_turn.saturating_add(1);
        let turn = book.last_turn;
        let entry = TurnSpending {
            turn,
            assignment: assignment.to_owned(),
            role: role.clone(),
            group: group.cloned(),
            input_tokens: 0,
            output_tokens: 0,
            cost: None,
            from: now,
            to: now,
        };
        book.live.insert(turn, RunningTurn { entry, written: Instant::now(), is_news: false });
        turn
    }

    /// Records the usage of a running turn so far.
    pub(super) fn record_usage(&self, turn: u64, usage: &Usage) {
        if let Some(live) = self.book().live.get_mut(&turn) {
            live.entry.used(usage);
            live.is_news = true;
        }
    }

    /// It has ended. How long it was at work.
    pub(super) fn end(&self, turn: u64, usage: &Usage) -> Duration {
        let mut book = self.book();
        let Some(RunningTurn { mut entry, .. }) = book.live.remove(&turn) else { return Duration::ZERO };
        entry.used(usage);
        entry.to = clock::now().0.max(entry.from);
        book.settle(&entry);
        let length = Duration::from_millis(entry.to.abs_diff(entry.from));
        self.write(&BudgetLedgerLine::Spent(entry));
        length
    }

    /// Writes down what is under way, where it is time to: if the run is killed, it has been used up all the same.
    pub(super) fn keep(&self) {
        let now = clock::now().0;
        for live in self.book().live.values_mut() {
            let often = if live.is_news { OFTEN } else { SELDOM };
            if live.written.elapsed() >= often {
                live.entry.to = now.max(live.entry.from);
                (live.written, live.is_news) = (Instant::now(), false);
                self.write(&BudgetLedgerLine::Spent(live.entry.clone()));
            }
        }
    }

    /// Whether the caller asks a person about this budget, by the loss of its assignment. If not, another caller
    /// already does. The intent is written first: the question is a decision, and a run may be killed right after it.
    pub(super) fn claim_question(&self, whose: &BudgetScope, assignment: AssignmentId) -> bool {
        let mut book = self.book();
        let is_first = !book.is_held(whose) && book.asking.insert(whose.clone());
        if is_first {
            let times = book.granted.get(whose).copied().unwrap_or(0);
            self.write(&BudgetLedgerLine::Asks { asks: whose.clone(), assignment, times });
        }
        is_first
    }

    /// Settles the questions that a killed run was about to ask. `find` returns the question that the loss of an
    /// assignment asked, if there is one.
    pub(super) fn recall(&self, find: impl Fn(AssignmentId) -> Option<QuestionId>) {
        let mut book = self.book();
        for (whose, (assignment, times)) in std::mem::take(&mut book.intended) {
            match find(assignment) {
                Some(question) => {
                    self.write(&BudgetLedgerLine::Asked { asked: whose.clone(), question, times });
                    book.asked.insert(question, BudgetQuestion { whose, times });
                }
                // It may still be lost, and for another reason.
                None => self.write(&BudgetLedgerLine::Unasked { unasked: whose }),
            }
        }
    }

    /// A person was asked, if the workflow has a question for it.
    pub(super) fn record_question(&self, whose: &BudgetScope, question: Option<QuestionId>) {
        let mut book = self.book();
        book.asking.remove(whose);
        let Some(question) = question else { return self.write(&BudgetLedgerLine::Unasked { unasked: whose.clone() }) };
        let times = book.granted.get(whose).copied().unwrap_or(0);
        book.asked.insert(question, BudgetQuestion { whose: whose.clone(), times });
        self.write(&BudgetLedgerLine::Asked { asked: whose.clone(), question, times });
    }

    /// Questions whose answers have not been looked at.
    pub(super) fn awaited(&self) -> Vec<QuestionId> {
        self.book().asked.keys().copied().collect()
    }

    /// The answer is there: if it gives the work out again, it may spend the same once more.
    pub(super) fn answered(&self, question: QuestionId, grants: bool) {
        let mut book = self.book();
        let Some(BudgetQuestion { whose, times }) = book.asked.remove(&question) else { return };
        if grants {
            let granted = book.granted.entry(whose).or_default();
            *granted = (*granted).max(times.saturating_add(1));
        }
    }

    /// Whether a person has to answer first.
    pub(super) fn is_held(&self, whose: &BudgetScope) -> bool {
        self.book().is_held(whose)
    }

    pub(super) fn spent(&self, whose: &BudgetScope) -> SpendTotal {
        self.book().spent(whose, clock::now().0)
    }

    /// The spending of each role.
    pub(super) fn by_role(&self) -> Vec<(Name, SpendTotal)> {
        let roles = self.book().roles();
        roles.into_iter().map(|role| (role.clone(), self.spent(&BudgetScope::Role(role)))).collect()
    }

    /// Whether the budget of a scope is used up.
    pub(super) fn exceeded(&self, whose: &BudgetScope, allowance: &BudgetLimit) -> Option<ExceededBudget> {
        let (spent, times) = self.stands(whose);
        let exceeded = allowance.exceeded(&spent.usage, spent.time, times)?;
        Some(ExceededBudget { whose: whose.clone(), why: format!("the budget of {whose} is used up: {exceeded}") })
    }

    /// The working time that a scope has left. `None`: there is no limit.
    pub(super) fn time_left(&self, whose: &BudgetScope, allowance: &BudgetLimit) -> Option<Duration> {
        let (spent, times) = self.stands(whose);
        Some(allowance.time?.saturating_mul(times).saturating_sub(spent.time))
    }

    /// The spending of a scope, and how often it has received its allowance.
    fn stands(&self, whose: &BudgetScope) -> (SpendTotal, u32) {
        let book = self.book();
        let granted = book.granted.get(whose).copied().unwrap_or(0);
        (book.spent(whose, clock::now().0), granted.saturating_add(1))
    }

    fn write(&self, line: &BudgetLedgerLine) {
        let Ok(mut line) = serde_json::to_string(line) else { return };
        line.push('\n');
        // Spending that cannot be written still counts for this run.
        let _ = files::add_plain(&self.path, line.as_bytes());
    }

    fn book(&self) -> MutexGuard<'_, SpendRecord> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn place(test: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("interlock-purse-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        folder.join("spent.jsonl")
    }

    fn tokens(purse: &BudgetLedger, whose: &BudgetScope) -> u64 {
        purse.spent(whose).usage.output_tokens
    }

    fn used(output_tokens: u64) -> Usage {
        Usage { output_tokens, ..Usage::default() }
    }

    #[test]
    fn those_at_work_count_for_all_of_them_and_once() {
        let path = place("shared");
        let purse = BudgetLedger::open(&path);
        let (role, one) = (Name::new("developer"), Name::new("one"));
        let [first, second] = ["s.a1", "s.a2"].map(|name| purse.begin(name, &role, Some(&one)));
        let [a1, a2] = ["s.a1", "s.a2"].map(|name| BudgetScope::Assignment(name.to_owned()));
        let whole = [BudgetScope::Session, BudgetScope::Group(one), BudgetScope::Role(role.clone())];
        purse.record_usage(first, &used(30));
        purse.record_usage(first, &used(40));
        purse.record_usage(second, &used(7));
        assert_eq!(whole.each_ref().map(|whose| tokens(&purse, whose)), [47, 47, 47]);
        assert_eq!([&a1, &a2].map(|whose| tokens(&purse, whose)), [40, 7]);
        let others = [BudgetScope::Group(Name::new("two")), BudgetScope::Role(Name::new("tester"))];
        assert_eq!(others.each_ref().map(|whose| tokens(&purse, whose)), [0, 0]);
        let limit = BudgetLimit { tokens: Some(45), ..BudgetLimit::default() };
        assert!(purse.exceeded(&BudgetScope::Session, &limit).is_some() && purse.exceeded(&a1, &limit).is_none());
        purse.end(first, &used(41));
        assert_eq!(whole.each_ref().map(|whose| tokens(&purse, whose)), [48, 48, 48]);
        // A turn that was written and never ended counts once, with its last reported usage.
        purse.book().live.values_mut().for_each(|live| live.written -= OFTEN);
        purse.keep();
        purse.keep();
        let text = fs::read_to_string(&path).expect("lines");
        assert_eq!(text.lines().count(), 2, "{text}");
        drop(purse);
        let again = BudgetLedger::open(&path);
        assert_eq!([&whole[2], &a2].map(|whose| tokens(&again, whose)), [48, 7]);
        assert!(again.begin("s.a3", &role, None) > second, "numbers are not used again");
    }

    #[test]
    fn what_a_killed_run_was_about_to_ask_is_asked_once() {
        let path = place("intended");
        let killed = || {
            let purse = BudgetLedger::open(&path);
            assert!(purse.claim_question(&BudgetScope::Session, AssignmentId(7)));
        };
        killed();
        // The run was killed before the decision, so no question was asked. A later loss for another reason does not
        // count as one.
        BudgetLedger::open(&path).recall(|_| None);
        let again = BudgetLedger::open(&path);
        again.recall(|_| Some(QuestionId(9)));
        assert_eq!((again.awaited(), again.is_held(&BudgetScope::Session)), (Vec::new(), false));
        killed();
        // After it: the question is known, then and later.
        let find = |id| (id == AssignmentId(7)).then_some(QuestionId(3));
        for _ in 0..2 {
            let again = BudgetLedger::open(&path);
            again.recall(find);
            assert!(
                again.is_held(&BudgetScope::Session) && !again.claim_question(&BudgetScope::Session, AssignmentId(8))
            );
            assert_eq!(again.awaited(), [QuestionId(3)]);
        }
    }

    #[test]
    fn a_budget_is_granted_by_an_answer_and_once_for_each_time_it_is_used_up() {
        let path = place("granted");
        let purse = BudgetLedger::open(&path);
        let limit = BudgetLimit { tokens: Some(10), ..BudgetLimit::default() };
        let turn = purse.begin("s.a1", &Name::new("developer"), None);
        purse.end(turn, &used(15));
        let is_over = |purse: &BudgetLedger| purse.exceeded(&BudgetScope::Session, &limit).is_some();
        let asks = |purse: &BudgetLedger| purse.claim_question(&BudgetScope::Session, AssignmentId(1));
        assert!(asks(&purse) && !asks(&purse), "one asks");
        purse.record_question(&BudgetScope::Session, Some(QuestionId(4)));
        assert!(is_over(&purse) && purse.is_held(&BudgetScope::Session), "a question is no grant");
        let again = BudgetLedger::open(&path);
        assert_eq!(again.awaited(), [QuestionId(4)]);
        for purse in [&purse, &again] {
            purse.answered(QuestionId(4), false);
            assert!(
                is_over(purse) && !purse.is_held(&BudgetScope::Session),
                "an answer that ends the work is none either"
            );
        }
        assert!(asks(&purse));
        purse.record_question(&BudgetScope::Session, Some(QuestionId(5)));
        purse.answered(QuestionId(5), true);
        assert!(!is_over(&purse));
        let again = BudgetLedger::open(&path);
        assert_eq!(again.awaited(), [QuestionId(4), QuestionId(5)]);
        again.answered(QuestionId(4), true);
        again.answered(QuestionId(5), true);
        let twice = BudgetLimit { tokens: Some(8), ..BudgetLimit::default() };
        assert!(!is_over(&again) && again.exceeded(&BudgetScope::Session, &twice).is_none());
        let thrice = BudgetLimit { tokens: Some(7), ..BudgetLimit::default() };
        assert!(again.exceeded(&BudgetScope::Session, &thrice).is_some(), "both were about the same time");
    }
}
