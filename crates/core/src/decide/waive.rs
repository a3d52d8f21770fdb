//! A person lets one tree of a group do without evidence that it needs.
//!
//! The waiver completes nothing: the group still has to be approved, merged and accepted.

use crate::code::Code;
use crate::command::WaiveEvidence;
use crate::decide::choose::choose_rule;
use crate::decide::draft::DecisionDraft;
use crate::decide::needs::{failed_evidence, needs_of};
use crate::decide::rule_context::RuleContext;
use crate::decide::validate::person;
use crate::decide::{DecideOutcome, DecisionContext};
use crate::decision::DecisionAction;
use crate::event::{BlockerResolution, ClosureKind, EventCause, StateChange};
use crate::id::Name;
use crate::rejection::Rejection;
use crate::state::{ExcuseKind, Group, GroupProgress, PartHolder};
use crate::workflow::{AssignmentTask, PassIx, RoleIx, RuleIx, Workflow};

pub(super) fn waive(cx: &DecisionContext<'_>, waive: &WaiveEvidence) -> Result<DecideOutcome, Rejection> {
    let group = cx.open_group(&waive.group)?;
    let evidence = waivable(cx, group, &waive.evidence)?;
    has_a_tree(cx, group)?;
    let mut draft = DecisionDraft::new(*cx, Name::new("override"));
    draft.about = Some(group.id.clone());
    draft.action = DecisionAction::Wait;
    draft.because.push(waive.why.clone());
    draft.record_excuse(group, evidence, ExcuseKind::Waived, &waive.by, &waive.why);
    draft.go_on_without(group, evidence, &waive.by)?;
    let (group, evidence) = (waive.group.clone(), waive.evidence.clone());
    Ok(draft.finish(EventCause::Waived { group, evidence, why: waive.why.clone(), by: waive.by.clone() }))
}

/// Only evidence that a role is asked for, that is missing, and that did not fail. An approval cannot be waived.
fn waivable(cx: &DecisionContext<'_>, group: &Group, name: &Name) -> Result<PassIx, Rejection> {
    let workflow = cx.workflow;
    let once_blocked = &workflow.completion.once_blocked;
    let of_role = |ix: &PassIx| {
        let pass = workflow.pass(*ix);
        !pass.approves && !once_blocked.contains(ix) && pass.roles.iter().next().is_some()
    };
    let needed: Vec<PassIx> =
        needs_of(cx, group).flat_map(|(_, need)| need.options.iter().copied()).filter(of_role).collect();
    let missing = |ix: &PassIx| {
        let name = &workflow.pass(*ix).name;
        !group.passed.contains(name) && group.excused.iter().all(|excuse| excuse.evidence != *name)
    };
    let refused = |message: String| {
        let open = needed.iter().filter(|ix| missing(ix)).map(|ix| workflow.pass(*ix).name.to_string()).collect();
        Err(Rejection::new(Code::WaiverImpossible, message).allowed(open))
    };
    if once_blocked.is_empty() {
        return refused(
            "this workflow names nothing that accepts a group, so a waiver could not be confirmed".to_owned(),
        );
    }
    let needed_at_all = |name: &Name| {
        let mut options = needs_of(cx, group).flat_map(|(_, need)| &need.options);
        options.any(|ix| workflow.pass(*ix).name == *name)
    };
    match needed.iter().find(|ix| workflow.pass(**ix).name == *name) {
        None => refused(match needed_at_all(name) {
            true => format!("`{name}` cannot be waived: it is an approval, an acceptance or a merge"),
            false => format!("group `{}` needs no evidence `{name}`", group.id),
        }),
        Some(_) if group.failed.contains(name) => Err(failed_evidence(workflow, group, name)),
        Some(ix) if !missing(ix) => refused(format!("group `{}` has `{name}` already, or it is waived", group.id)),
        Some(ix) => Ok(*ix),
    }
}

/// A waiver speaks for one tree, so there must be one, and its author must be done with it.
fn has_a_tree(cx: &DecisionContext<'_>, group: &Group) -> Result<(), Rejection> {
    let author = |role: &Name| cx.workflow.role_named(role).is_some_and(|ix| cx.workflow.role(ix).author);
    let holds = |holder: &PartHolder| match holder {
        PartHolder::Assignment(id) => {
            cx.state.assignments.get(id).is_some_and(|given| given.task == AssignmentTask::Work && author(&given.role))
        }
        PartHolder::Nobody | PartHolder::Question(_) | PartHolder::Gate(_) | PartHolder::Done => false,
    };
    let waits = |part: &crate::state::LanePart| {
        part.waiting.iter().any(|seat| seat.task == AssignmentTask::Work && author(&seat.role))
    };
    let at_work = group.lane.parts.iter().any(|part| holds(&part.holder) || waits(part));
    let (message, help) = match group.progress {
        GroupProgress::Working if !at_work => return Ok(()),
        GroupProgress::Pending | GroupProgress::Working => (
            format!("the author of group `{}` has not delivered its work yet", group.id),
            "a waiver holds for one tree: waive it once the author has reported",
        ),
        GroupProgress::Arrived | GroupProgress::AwaitingConfirmation | GroupProgress::Ended(_) => (
            format!("group `{}` is past the point where `--waive` helps", group.id),
            "`interlock session show SESSION` says what it waits for; `interlock accept` accepts it",
        ),
    };
    Err(Rejection::new(Code::WaiverImpossible, message).help(help))
}

/// The rules by which a role passes this evidence.
fn passing(workflow: &Workflow, role: RoleIx, evidence: PassIx) -> Vec<RuleIx> {
    let own = |ix: &RuleIx| {
        let rule = workflow.rule(*ix);
        let reported =
            matches!(&rule.source, crate::workflow::RuleSource::Roles { roles, .. } if roles.contains(role.index()));
        reported && !rule.climbs && rule.passes.contains(&evidence)
    };
    (0..workflow.rules.len()).map(RuleIx::new).filter(own).collect()
}

impl DecisionDraft<'_> {
    /// Where the role that was to pass it holds the group, work goes on as if it had, without the evidence.
    fn go_on_without(&mut self, group: &Group, evidence: PassIx, by: &Name) -> Result<(), Rejection> {
        let (cx, voice) = (self.cx, person(by));
        let state = cx.state;
        let passer = |role: &Name| {
            let found = cx.workflow.role_named(role);
            found.filter(|ix| cx.workflow.pass(evidence).roles.contains(ix.index()))
        };
        for part in &group.lane.parts {
            let (situation, closing) = match part.holder {
                PartHolder::Assignment(id) => {
                    let Some(given) = state.assignments.get(&id).filter(|given| passer(&given.role).is_some()) else {
                        continue;
                    };
                    let closed =
                        StateChange::Closed { assignment: id, how: ClosureKind::Voided, digest: None, via: None };
                    (RuleContext::of_assignment(&cx, given, None, None)?, closed)
                }
                PartHolder::Question(id) => {
                    let asked = state.questions.get(&id);
                    let by_passer = |asked: &&crate::state::Question| {
                        asked.asker.as_ref().is_some_and(|seat| passer(&seat.role).is_some())
                    };
                    let Some(asked) = asked.filter(by_passer) else { continue };
                    (RuleContext::of_question(&cx, asked, None), StateChange::QuestionClosed { question: id })
                }
                PartHolder::Nobody | PartHolder::Gate(_) | PartHolder::Done => continue,
            };
            let Some(role) = situation.reporter else { continue };
            let Some(chosen) = choose_rule(&situation, &passing(cx.workflow, role, evidence)) else { continue };
            self.push(closing);
            let blocks = group.lane.blocks.iter().filter(|block| block.role == cx.workflow.role(role).name);
            for block in blocks {
                let (group, role) = (Some(group.id.clone()), block.role.clone());
                self.push(StateChange::Unblocked { group, part: block.part, role, by: BlockerResolution::Person });
            }
            self.because.push(Name::from(format!("work goes on as after {}", chosen.rule.id)));
            return self.apply_verb(&situation, chosen.rule, &voice);
        }
        Ok(())
    }
}
