//! The outcome of each option of an open question. The decision is made on a copy of the state and described in words.

use crate::command::{AnswerChoice, AnswerQuestion, Command, DecisionInputs};
use crate::decide::answer::gate_left_failed;
use crate::decide::{DecideOutcome, decide};
use crate::decision::{CompletionVerdict, Decision, WaitsFor};
use crate::event::{Event, StateChange};
use crate::id::{Name, QuestionId, Timestamp};
use crate::state::{FindingStatus, GroupEnd, HeldReport, Question, SessionStatus, State};
use crate::workflow::{AssignmentTask, Workflow};

/// Groups named in an effect.
const MOST_GROUPS: usize = 12;

/// Characters shown of a question that follows.
const MOST_OF_QUESTION: usize = 160;

/// An option of a question and its effect. `option: None` is an answer in free words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionEffect {
    pub option: Option<Name>,
    pub effect: String,
}

/// The effects of every option of an open question, in the question's order. Options that would be refused say why.
pub fn option_effects(workflow: &Workflow, state: &State, id: QuestionId) -> Vec<OptionEffect> {
    let Some(question) = state.questions.get(&id).filter(|question| question.open) else { return Vec::new() };
    let effect = |choice: AnswerChoice| {
        let answer = AnswerQuestion { question: id, choice, by: Name::new("a person"), allow: Vec::new() };
        match decide(workflow, state, &Command::Answer(answer), &DecisionInputs { now: Timestamp(0) }) {
            Ok(DecideOutcome::Decided(event)) => {
                let mut parts: Vec<String> = failed_gate(workflow, state, question, &event).into_iter().collect();
                parts.extend(describe(&event));
                parts.extend(dropped_plan(question, &event));
                if parts.is_empty() { "the session goes on".to_owned() } else { parts.join("; ") }
            }
            Ok(DecideOutcome::Repeated(_)) => "no change".to_owned(),
            Err(rejection) => format!("refused: {}", rejection.message),
        }
    };
    let mut effects: Vec<OptionEffect> = question
        .options
        .iter()
        .map(|option| OptionEffect {
            option: Some(option.clone()),
            effect: effect(AnswerChoice::Option { name: option.clone(), text: None }),
        })
        .collect();
    let declared = workflow.question_named(&question.name).map(|ix| workflow.question(ix));
    if declared.is_some_and(|declared| declared.free.is_some()) {
        effects.push(OptionEffect { option: None, effect: effect(AnswerChoice::Text(Name::new("an answer"))) });
    }
    effects
}

fn describe(event: &Event) -> Vec<String> {
    let mut parts: Vec<String> = event.changes.iter().filter_map(ended).collect();
    parts.extend(event.changes.iter().filter_map(settled));
    parts.extend(event.changes.iter().filter_map(counted_again));
    parts.extend(planned(&event.changes));
    parts.extend(event.changes.iter().filter_map(assigned));
    parts.extend(event.decision.iter().flat_map(follows));
    parts
}

fn failed_gate(workflow: &Workflow, state: &State, question: &Question, event: &Event) -> Option<String> {
    let rule = event.decision.as_ref().and_then(|decision| workflow.rule_index.get(&decision.rule))?;
    let gate = gate_left_failed(workflow, state, question, workflow.rule(*rule).verb)?;
    Some(format!("gate {gate} stays failed; the work goes on"))
}

/// Groups and sessions that end, and deferrals that are acknowledged.
fn ended(change: &StateChange) -> Option<String> {
    if let StateChange::GroupEnded { group, end } = change {
        return Some(match end {
            GroupEnd::Completed => format!("completes group {group}"),
            GroupEnd::Deferred { .. } => format!("defers group {group}"),
            GroupEnd::Cancelled { .. } => format!("cancels group {group}; its work is not merged"),
        });
    }
    if let StateChange::AwaitsConfirmation { group } = change {
        return Some(format!("group {group} then waits for confirmation"));
    }
    if let StateChange::DeferralNamed { group, .. } = change {
        return Some(format!("acknowledges that group {group} stays undone"));
    }
    let StateChange::Session { status } = change else { return None };
    match status {
        SessionStatus::Active | SessionStatus::Validating => None,
        SessionStatus::Completed => Some("completes the session".to_owned()),
        SessionStatus::Cancelled => Some("cancels the session; open work is not merged".to_owned()),
    }
}

/// Findings that the answer settles although they are open.
fn settled(change: &StateChange) -> Option<String> {
    let StateChange::Reviewed { group, findings, .. } = change else { return None };
    let accepted = findings.iter().filter(|(_, finding)| finding.status == FindingStatus::Accepted);
    let names: Vec<&str> = accepted.map(|(_, finding)| finding.id.as_str()).collect();
    (!names.is_empty()).then(|| format!("accepts {group} with these findings open: {}", names.join(", ")))
}

fn counted_again(change: &StateChange) -> Option<String> {
    let StateChange::CounterReset { counted, .. } = change else { return None };
    Some(format!("loop {counted} counts from 1 again"))
}

/// Groups that the answer adds to the session.
fn planned(changes: &[StateChange]) -> Option<String> {
    let names: Vec<&str> = changes
        .iter()
        .filter_map(|change| {
            let StateChange::GroupPlanned { group, .. } = change else { return None };
            Some(group.id.as_str())
        })
        .collect();
    let listed = names.get(..MOST_GROUPS).unwrap_or(&names).join(", ");
    match names.len() {
        0 => None,
        1 => Some(format!("plans group {listed}")),
        count if count > MOST_GROUPS => Some(format!("plans {count} groups: {listed}, …")),
        count => Some(format!("plans {count} groups: {listed}")),
    }
}

/// A plan that the question holds and the answer neither starts nor holds on to.
fn dropped_plan(question: &Question, event: &Event) -> Option<String> {
    let groups = question.held.as_ref().and_then(|held| held.groups.as_ref())?;
    let keeps = |change: &StateChange| {
        let holds = |held: &HeldReport| held.groups.is_some();
        matches!(change, StateChange::GroupPlanned { .. })
            || matches!(change, StateChange::Asked { held: Some(held), .. } if holds(held))
    };
    let plural = if groups.len() == 1 { "" } else { "s" };
    (!event.changes.iter().any(keeps)).then(|| format!("the planned group{plural} will not start"))
}

fn assigned(change: &StateChange) -> Option<String> {
    let StateChange::Assigned { role, group, task, attempt, .. } = change else { return None };
    let on = group.as_ref().map(|group| format!(" {group}")).unwrap_or_default();
    let work = match task {
        AssignmentTask::Work if group.is_some() => format!("{role} works on{on}"),
        AssignmentTask::Work => format!("{role} works on the session"),
        AssignmentTask::Consult => format!("{role} helps{}", if on.is_empty() { on } else { format!(" with{on}") }),
        AssignmentTask::Merge => format!("{role} merges{on}"),
    };
    let attempt = if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
    Some(format!("{work}{attempt}"))
}

/// The first line of a question, as far as it fits into an effect.
fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let head: String = line.chars().take(MOST_OF_QUESTION).collect();
    if head.len() < text.trim().len() { format!("{head} …") } else { head }
}

fn follows(decision: &Decision) -> Vec<String> {
    let mut parts = Vec::new();
    parts.extend(decision.gate.as_ref().map(|gate| format!("gate {} runs", gate.gate)));
    parts.extend(decision.question.as_ref().map(|put| format!("a person is asked: {}", first_line(&put.text))));
    parts.extend(decision.waits_for.map(|waits| match waits {
        WaitsFor::Phase => "waits for the other phases".to_owned(),
        WaitsFor::Groups => "waits for the other groups".to_owned(),
    }));
    parts.extend(decision.judgement.as_ref().map(|judgement| match judgement.verdict {
        CompletionVerdict::Accept => "the validator accepts".to_owned(),
        CompletionVerdict::Reject => "the validator rejects".to_owned(),
    }));
    parts
}
