//! The gates of completed groups, checked again on the tree that the session completes with.
//!
//! A gate speaks for one tree. Others merge, people edit, and files go after it has passed, so every gate that completion
//! needs must have passed on the final tree. One run checks all gates that have not; the program that runs it does not
//! repeat commands that have passed on that tree.

use std::collections::BTreeMap;

use crate::checkout::{GroupGate, shown_tree};
use crate::code::Code;
use crate::decide::draft::DecisionDraft;
use crate::decide::report::interlock;
use crate::decide::rule_context::RuleContext;
use crate::decision::{DecisionAction, JudgementReason};
use crate::event::StateChange;
use crate::id::Name;
use crate::rejection::Rejection;
use crate::state::{GatePurpose, GateRun, Group, GroupEnd, GroupProgress, SessionStatus};
use crate::workflow::{self, GateIx};

/// Groups named in one reason.
const MOST_NAMED: usize = 10;

impl DecisionDraft<'_> {
    /// Records what a run has shown: its own gate, or every gate that it checked again.
    pub(crate) fn gates_pass(&mut self, run: &GateRun) {
        let tree = self.cx.tree.cloned();
        if run.again.is_empty() {
            self.push(StateChange::GatePassed { group: run.group.clone(), gate: run.gate.clone(), tree });
            return;
        }
        for GroupGate { group, gate } in &run.again {
            let (group, gate, tree) = (Some(group.clone()), gate.clone(), tree.clone());
            self.push(StateChange::GatePassed { group, gate, tree });
        }
    }

    /// Opens the next gate that has not passed on the final tree: those of completed groups first, all in one run, then
    /// those of the session. `false`: all have.
    pub(crate) fn opens_final_gate(&mut self, purpose: GatePurpose) -> bool {
        let again = self.gates_to_recheck();
        let first = again.first().and_then(|first| self.cx.workflow.gate_named(&first.gate));
        let Some(gate) = first.or_else(|| self.open_session_gates().first().copied()) else { return false };
        self.action = DecisionAction::Gate;
        self.push(StateChange::Session { status: SessionStatus::Validating });
        self.open_gates(self.session_slot(), gate, purpose, again);
        true
    }

    /// Gates that completion needs of a completed group, and that have not passed on the tree that is there now. Where that
    /// tree is not known, these are all of them.
    pub(crate) fn gates_to_recheck(&self) -> Vec<GroupGate> {
        let groups = self.cx.state.groups.iter().chain(&self.planned).filter(|group| self.completes_with(group));
        let mut stale = Vec::new();
        for group in groups {
            for gate in self.cx.workflow.completion.gates.iter().map(|ix| self.cx.workflow.gate(*ix)) {
                let nothing_to_run = matches!(gate.run, workflow::GateCommandSource::Plan) && group.checks.is_empty();
                let tree = self.tree_of_pass(Some(group), &gate.name);
                if !nothing_to_run && (tree.is_none() || tree != self.cx.tree) {
                    stale.push(GroupGate { group: group.id.clone(), gate: gate.name.clone() });
                }
            }
        }
        stale
    }

    /// Gates that have to pass before the end, one reason each: those of completed groups on the final tree, and the session's.
    pub(crate) fn final_gate_reasons(&self) -> Vec<JudgementReason> {
        let mut groups: BTreeMap<Name, Vec<String>> = BTreeMap::new();
        for GroupGate { group, gate } in self.gates_to_recheck() {
            groups.entry(gate).or_default().push(group.to_string());
        }
        let of_groups = groups.iter().map(|(gate, groups)| {
            let more = groups.len().saturating_sub(MOST_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let named: Vec<&str> = groups.iter().take(MOST_NAMED).map(String::as_str).collect();
            let text = format!("gate `{gate}` has to pass on the final tree for {}{more}", named.join(", "));
            JudgementReason::new(Code::GateMissing, None, text)
        });
        let of_session = self.open_session_gates().into_iter().map(|gate| self.gate_reason(gate));
        of_groups.chain(of_session).collect()
    }

    /// Has a gate passed on the tree that is there now? One that is asked for while no tree is known has, if it has passed.
    pub(crate) fn gate_holds(&self, group: &Group, gate: GateIx) -> bool {
        let name = &self.cx.workflow.gate(gate).name;
        let other_tree = |tree: &Name| self.tree_of_pass(Some(group), name).is_some_and(|passed| passed != tree);
        self.gate_done(group, gate) && !self.cx.tree.is_some_and(other_tree)
    }

    /// The tree that a gate last passed on, as this decision leaves it. `None` for `group` is the session.
    pub(crate) fn tree_of_pass<'t>(&'t self, group: Option<&'t Group>, gate: &Name) -> Option<&'t Name> {
        let id = group.map(|group| &group.id);
        let now = self.changes.iter().rev().find_map(|change| {
            let StateChange::GatePassed { group: of, gate: name, tree } = change else { return None };
            (of.as_ref() == id && name == gate).then_some(tree.as_ref())
        });
        let trees = group.map_or(&self.cx.state.gate_trees, |group| &group.gate_trees);
        now.unwrap_or_else(|| trees.get(gate))
    }

    fn completes_with(&self, group: &Group) -> bool {
        let ended_now = self.changes.iter().rev().find_map(|change| {
            let StateChange::GroupEnded { group: other, end } = change else { return None };
            (*other == group.id).then_some(end)
        });
        match (&group.progress, ended_now) {
            (_, Some(end)) | (GroupProgress::Ended(end), None) => *end == GroupEnd::Completed,
            (
                GroupProgress::Pending
                | GroupProgress::Working
                | GroupProgress::Arrived
                | GroupProgress::AwaitingConfirmation,
                None,
            ) => false,
        }
    }

    /// All gates were checked again: on to the verdict or the end, or back with the one that failed.
    pub(crate) fn after_recheck(
        &mut self,
        situation: &RuleContext<'_>,
        run: &GateRun,
        passed: bool,
        failed: Option<&GroupGate>,
    ) -> Result<(), Rejection> {
        let reason = self.recheck_reason(run, failed);
        if passed {
            let tree = self.cx.tree.map_or("unknown", shown_tree);
            let gates = if run.again.len() == 1 { "1 gate" } else { &format!("{} gates", run.again.len()) };
            self.because.push(Name::from(format!("{gates} of completed groups passed on the final tree {tree}")));
        }
        match (&run.purpose, passed) {
            (GatePurpose::Validation(validator), _) => {
                let Some(role) = self.cx.workflow.role_named(validator) else {
                    return Err(Rejection::new(Code::NoRole, format!("the workflow has no role `{validator}`")));
                };
                match passed {
                    true => self.judge_again(situation, role, &interlock()),
                    false => self.apply_verdict(situation, role, vec![reason], &interlock()),
                }
            }
            (GatePurpose::Completion | GatePurpose::Phase, true) => self.end_session(),
            (GatePurpose::Completion | GatePurpose::Phase, false) => {
                // Completed groups stay completed, so no author can be asked: a person decides.
                self.ask_about_the_end(&[reason]);
                Ok(())
            }
        }
    }

    fn recheck_reason(&self, run: &GateRun, failed: Option<&GroupGate>) -> JudgementReason {
        let tree = self.cx.tree.map_or("unknown", shown_tree);
        let blamed = failed.or(run.again.first());
        let (group, gate) = blamed.map_or((None, &run.gate), |blamed| (Some(&blamed.group), &blamed.gate));
        let of = group.map_or_else(String::new, |group| format!("{group}: "));
        let text = format!("{of}gate `{gate}` passed earlier and failed on the final tree {tree}");
        JudgementReason::new(Code::GateMissing, group, text)
    }
}
