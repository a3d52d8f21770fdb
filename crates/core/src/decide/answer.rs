//! A person answers a question.

use crate::code::Code;
use crate::command::{AnswerChoice, AnswerQuestion};
use crate::decide::choose::choose_rule;
use crate::decide::draft::DecisionDraft;
use crate::decide::findings_ledger::FindingsLedger;
use crate::decide::report::RouteAssumptions;
use crate::decide::rule_context::RuleContext;
use crate::decide::validate::person;
use crate::decide::{DecideOutcome, DecisionContext};
use crate::event::{BlockerResolution, EventCause, StateChange};
use crate::id::{Name, QuestionId};
use crate::rejection::Rejection;
use crate::state::{Question, State};
use crate::suggest;
use crate::workflow::{AssignmentTask, PhasePerformer, QuestionIx, RuleVerb, StatusIx, Workflow};

pub(super) fn answer(cx: &DecisionContext<'_>, answer: &AnswerQuestion) -> Result<DecideOutcome, Rejection> {
    let Some(question) = cx.state.questions.get(&answer.question) else {
        let allowed = cx.state.open_questions.iter().map(ToString::to_string).collect();
        let message = format!("there is no question {}", answer.question);
        return Err(Rejection::new(Code::NoQuestion, message).allowed(allowed));
    };
    if !question.open {
        let message = format!("question {} has been answered, or is no longer needed", answer.question);
        return Err(Rejection::new(Code::QuestionClosed, message));
    }
    let mut draft = route_answer(cx, (answer.question, question), &answer.choice, &answer.by, None)?;
    draft.allow_paths(&answer.allow, &answer.by)?;
    let (option, text) = match &answer.choice {
        AnswerChoice::Option { name, text } => (Some(name.clone()), text.clone()),
        AnswerChoice::Text(text) => (None, Some(text.clone())),
    };
    Ok(draft.finish(EventCause::Answered { question: answer.question, option, text, by: answer.by.clone() }))
}

pub(crate) fn route_answer<'a>(
    cx: &DecisionContext<'a>,
    (id, question): (QuestionId, &'a Question),
    choice: &AnswerChoice,
    by: &Name,
    given: Option<&'a RouteAssumptions>,
) -> Result<DecisionDraft<'a>, Rejection> {
    let (ix, status) = meaning(cx, question, choice)?;
    let situation = RuleContext::of_question(cx, question, given);
    let candidates = cx.workflow.by_answer.get(&(ix, status)).map_or(&[][..], Vec::as_slice);
    let Some(chosen) = choose_rule(&situation, candidates) else {
        return Err(no_option(cx, question, "this option cannot be taken here"));
    };
    let mut draft = DecisionDraft::new(*cx, chosen.rule.id.clone());
    draft.preview = given.is_some();
    draft.answering = Some(question);
    draft.answer_text = match choice {
        AnswerChoice::Option { text, .. } => text.clone(),
        AnswerChoice::Text(text) => Some(text.clone()),
    };
    draft.push(StateChange::QuestionClosed { question: id });
    if let Some(seat) = question.asker.as_ref().filter(|seat| seat.blocked) {
        let (group, role) = (question.group.clone(), seat.role.clone());
        draft.push(StateChange::Unblocked { group, part: question.part, role, by: BlockerResolution::Person });
    }
    if let Some(gate) = gate_left_failed(cx.workflow, cx.state, question, chosen.rule.verb) {
        draft.push(StateChange::GateWaived { group: question.group.clone(), gate, by: by.clone() });
    }
    draft.apply_chosen_rule(&situation, chosen, &person(by))?;
    Ok(draft)
}

/// The gate whose failure led to a question, where the work goes on without it: no answer makes a gate pass.
pub(super) fn gate_left_failed(
    workflow: &Workflow,
    state: &State,
    question: &Question,
    verb: RuleVerb,
) -> Option<Name> {
    if question.asker.is_some() || !matches!(verb, RuleVerb::Leave | RuleVerb::Join) {
        return None;
    }
    let part = state.lane_of(question.group.as_ref())?.part(question.part)?;
    let phase = workflow.phase_named(part.phase.as_ref()?)?;
    match workflow.phase(phase).performer {
        PhasePerformer::Gate(gate) => Some(workflow.gate(gate).name.clone()),
        PhasePerformer::Role(_) | PhasePerformer::ByDomain(_) | PhasePerformer::Merge => None,
    }
}

/// The declared option, or the free answer, that a choice means.
fn meaning(
    cx: &DecisionContext<'_>,
    question: &Question,
    choice: &AnswerChoice,
) -> Result<(QuestionIx, StatusIx), Rejection> {
    let Some(ix) = cx.workflow.question_named(&question.name) else {
        return Err(no_option(cx, question, "the workflow no longer has this question"));
    };
    let declared = cx.workflow.question(ix);
    let status = match choice {
        AnswerChoice::Option { name, .. } => {
            let own = declared.options.iter().find(|(option, _)| option == name && question.options.contains(option));
            let offered = question.options.contains(name);
            own.map(|(_, status)| *status).or(declared.free.filter(|_| offered))
        }
        AnswerChoice::Text(text) => declared.free.filter(|_| !text.trim().is_empty()),
    };
    status.map(|status| (ix, status)).ok_or_else(|| match choice {
        AnswerChoice::Option { name, .. } => {
            no_option(cx, question, &format!("`{name}` is not an option of this question"))
        }
        AnswerChoice::Text(_) => no_option(cx, question, "this question takes one of its options"),
    })
}

fn no_option(cx: &DecisionContext<'_>, question: &Question, message: &str) -> Rejection {
    let free = cx.workflow.question_named(&question.name).and_then(|ix| cx.workflow.question(ix).free);
    let mut rejection =
        Rejection::new(Code::NoOption, message).allowed(question.options.iter().map(ToString::to_string).collect());
    rejection.help = match free {
        Some(_) => Some("it takes free text as well".to_owned()),
        None => suggest::help("", question.options.iter().map(Name::as_str)),
    };
    rejection
}

impl<'a> RuleContext<'a> {
    pub(super) fn of_question(
        cx: &DecisionContext<'a>,
        question: &'a Question,
        given: Option<&'a RouteAssumptions>,
    ) -> Self {
        let group = question.group.as_ref().and_then(|name| cx.state.group(name));
        let lane = group.map_or(&cx.state.lane, |group| &group.lane);
        let phase = lane.part(question.part).and_then(|part| part.phase.as_ref());
        let asker = question.asker.as_ref();
        Self {
            cx: *cx,
            group,
            lane,
            part: question.part,
            reporter: asker.and_then(|seat| cx.workflow.role_named(&seat.role)),
            task: asker.map_or(AssignmentTask::Work, |seat| seat.task),
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
