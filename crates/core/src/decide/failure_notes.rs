//! Failing tests that a report states with a status of success.
//!
//! Where a measure counts failing tests, the workflow sends such work back. Everywhere else the work goes on, so the
//! statement is kept: for the next reader, and for the summary.

use crate::decide::apply_rule::sends_back;
use crate::decide::draft::DecisionDraft;
use crate::decide::rule_context::RuleContext;
use crate::event::StateChange;
use crate::handoff::Handoff;
use crate::id::Name;
use crate::state::FailureStatement;
use crate::workflow::{AssignmentTask, LoopMeasure, Rule, RuleVerb};

impl DecisionDraft<'_> {
    /// Keeps what this report states of failing tests, and ends the statements that it refutes.
    pub(super) fn note_stated_failures(&mut self, situation: &RuleContext<'_>, rule: &Rule, handoff: &Handoff) {
        let Some(group) = situation.group.filter(|_| !self.preview) else { return };
        let measured = situation.ledger.find_stated_measure(LoopMeasure::FailingTests);
        let mut statements = group.stated_failures.clone();
        if measured == Some(0) {
            statements.clear();
        } else if handoff.states_tests_pass() {
            statements.retain(|statement| !refutes(situation, handoff, statement));
        }
        let tests = handoff.failing_tests.as_deref().unwrap_or_default();
        if measured.is_none() && !tests.is_empty() && lets_work_go_on(situation, rule) {
            let (by, phase) = (handoff.role.clone(), handoff.phase.clone());
            statements.retain(|statement| statement.by != by || statement.phase != phase);
            let statement = FailureStatement { by, phase, status: handoff.said.clone(), tests: tests.to_vec() };
            self.because.push(Name::from(format!("failing tests reported by {statement}")));
            statements.push(statement);
        }
        if statements != group.stated_failures {
            self.push(StateChange::FailuresStated { group: group.id.clone(), statements });
        }
    }
}

/// A role takes back its own statement. A later phase takes back those before it: tests that are written first fail until
/// the work is done.
fn refutes(situation: &RuleContext<'_>, handoff: &Handoff, statement: &FailureStatement) -> bool {
    let workflow = situation.workflow();
    let stage = |name: &Option<Name>| {
        let phase = name.as_ref().and_then(|name| workflow.phase_named(name));
        phase.map(|phase| workflow.phase(phase).stage)
    };
    let later = stage(&handoff.phase).zip(stage(&statement.phase)).is_some_and(|(own, other)| own > other);
    statement.by == handoff.role || later
}

/// The report passes evidence, leaves its phase, or delivers work to the next role.
fn lets_work_go_on(situation: &RuleContext<'_>, rule: &Rule) -> bool {
    // A checkpoint asks a person before the phase is left; other questions are no success.
    let stops = matches!(rule.verb, RuleVerb::Ask(_) | RuleVerb::Escalate(_) | RuleVerb::Consult(_)) && !rule.leaves;
    !stops && situation.task != AssignmentTask::Consult && !rule.blocks && rule.counted.is_none() && !sends_back(rule)
}
