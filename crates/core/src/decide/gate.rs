//! A gate's commands have run.

use crate::checkout::GroupGate;
use crate::code::Code;
use crate::command::GateFinished;
use crate::decide::choose::choose_rule;
use crate::decide::draft::DecisionDraft;
use crate::decide::findings_ledger::FindingsLedger;
use crate::decide::report::{RouteAssumptions, interlock};
use crate::decide::rule_context::RuleContext;
use crate::decide::{DecideOutcome, DecisionContext};
use crate::decision::{JudgementReason, Warning};
use crate::event::{EventCause, StateChange};
use crate::id::{GateRunId, Name};
use crate::rejection::Rejection;
use crate::state::{GatePurpose, GateRun};
use crate::workflow::{AssignmentTask, RuleIx};

pub(super) fn finished(cx: &DecisionContext<'_>, result: &GateFinished) -> Result<DecideOutcome, Rejection> {
    let Some(run) = cx.state.gate_runs.get(&result.run) else {
        let allowed = cx.state.gate_runs.keys().map(ToString::to_string).collect();
        let message = format!("no gate run {} waits for a result", result.run);
        return Err(Rejection::new(Code::NoGateRun, message).allowed(allowed));
    };
    if result.tree.is_empty() {
        // Without a tree, the result would not cover any known version of the files.
        let message = format!("the result of gate run {} does not name the tree that its commands ran on", result.run);
        return Err(Rejection::new(Code::GateWithoutTree, message));
    }
    let outcome = (&result.output, result.checkout.failed.as_ref());
    let mut draft = route_gate(cx, (result.run, run), result.passed, outcome, None)?;
    draft.warnings.extend(result.checkout.warnings(&result.tree).into_iter().map(Warning::plain));
    Ok(draft.finish(EventCause::GateFinished {
        run: result.run,
        gate: run.gate.clone(),
        passed: result.passed,
        tree: result.tree.clone(),
        output: result.output.clone(),
        checkout: result.checkout.clone(),
    }))
}

pub(crate) fn route_gate<'a>(
    cx: &DecisionContext<'a>,
    (id, run): (GateRunId, &'a GateRun),
    passed: bool,
    (output, failed): (&Name, Option<&GroupGate>),
    given: Option<&'a RouteAssumptions>,
) -> Result<DecisionDraft<'a>, Rejection> {
    let situation = RuleContext::of_gate(cx, run, given);
    let mut draft = DecisionDraft::new(*cx, Name::from(format!("gates.{}", run.gate)));
    draft.gate_output = Some(output.clone());
    draft.preview = given.is_some();
    draft.push(StateChange::GateClosed { run: id });
    // A pass in a phase is the leaving of that phase; completion has runs of its own.
    if passed && run.purpose != GatePurpose::Phase {
        draft.gates_pass(run);
    }
    if !run.again.is_empty() {
        draft.after_recheck(&situation, run, passed, failed)?;
        return Ok(draft);
    }
    if let GatePurpose::Validation(validator) = &run.purpose {
        draft.after_validation_gate(&situation, validator, &run.gate, passed)?;
        return Ok(draft);
    }
    let word = if passed { "PASS" } else { "FAIL" };
    let rules = cx.workflow.gate_named(&run.gate).and_then(|gate| cx.workflow.by_gate.get(&gate));
    let candidates: Vec<RuleIx> = rules
        .into_iter()
        .flatten()
        .copied()
        .filter(|ix| cx.workflow.rule(*ix).status == cx.workflow.status_index.get(word).copied())
        .filter(|ix| cx.workflow.rule(*ix).phase.is_some() == (passed && situation.phase.is_some()))
        .collect();
    match choose_rule(&situation, &candidates) {
        Some(chosen) => draft.apply_chosen_rule(&situation, chosen, &interlock())?,
        None => {
            draft.because.push(Name::from(format!("gate `{}` failed and no entry of its `fail` holds here", run.gate)));
            draft.put_question(&situation, cx.workflow.stuck, false, None)?;
        }
    }
    Ok(draft)
}

impl<'a> RuleContext<'a> {
    fn of_gate(cx: &DecisionContext<'a>, run: &'a GateRun, given: Option<&'a RouteAssumptions>) -> Self {
        let group = run.group.as_ref().and_then(|name| cx.state.group(name));
        let lane = group.map_or(&cx.state.lane, |group| &group.lane);
        let phase = lane.part(run.part).and_then(|part| part.phase.as_ref());
        let phase = phase.filter(|_| run.purpose == GatePurpose::Phase);
        Self {
            cx: *cx,
            group,
            lane,
            part: run.part,
            reporter: None,
            task: AssignmentTask::Work,
            phase: phase.and_then(|name| cx.workflow.phase_named(name)),
            handoff: None,
            reason: None,
            ledger: FindingsLedger::of(group),
            given,
            is_stale: false,
            awaiting: &[],
        }
    }
}

impl DecisionDraft<'_> {
    fn after_validation_gate(
        &mut self,
        situation: &RuleContext<'_>,
        validator: &Name,
        gate: &Name,
        passed: bool,
    ) -> Result<(), Rejection> {
        let Some(role) = self.cx.workflow.role_named(validator) else {
            return Err(Rejection::new(Code::NoRole, format!("the workflow has no role `{validator}`")));
        };
        if passed {
            return self.judge_again(situation, role, &interlock());
        }
        let text = format!("gate `{gate}` failed on the session's tree");
        self.apply_verdict(situation, role, vec![JudgementReason::new(Code::GateMissing, None, text)], &interlock())
    }
}
