//! What each option of an open question leads to: the decision itself, taken on a copy and put into words.

use crate::command::{Answer, Choice, Command, Inputs};
use crate::decide::{Outcome, decide};
use crate::decision::{Decision, Verdict, WaitsFor};
use crate::event::{Change, Event};
use crate::id::{Name, QuestionId, Timestamp};
use crate::state::{End, SessionStatus, State};
use crate::workflow::{Task, Workflow};

/// An option of a question and its effect. `option: None` is an answer in free words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionEffect {
    pub option: Option<Name>,
    pub effect: String,
}

/// The effects of every option of an open question, in the question's order. Options that would be refused say why.
pub fn option_effects(workflow: &Workflow, state: &State, id: QuestionId) -> Vec<OptionEffect> {
    let Some(question) = state.questions.get(&id).filter(|question| question.open) else { return Vec::new() };
    let effect = |choice: Choice| {
        let answer = Answer { question: id, choice, by: Name::new("a person"), allow: Vec::new() };
        match decide(workflow, state, &Command::Answer(answer), &Inputs { now: Timestamp(0) }) {
            Ok(Outcome::Decided(event)) => describe(&event),
            Ok(Outcome::Repeated(_)) => "no change".to_owned(),
            Err(rejection) => format!("refused: {}", rejection.message),
        }
    };
    let mut effects: Vec<OptionEffect> = question
        .options
        .iter()
        .map(|option| OptionEffect {
            option: Some(option.clone()),
            effect: effect(Choice::Option { name: option.clone(), text: None }),
        })
        .collect();
    let declared = workflow.question_named(&question.name).map(|ix| workflow.question(ix));
    if declared.is_some_and(|declared| declared.free.is_some()) {
        effects.push(OptionEffect { option: None, effect: effect(Choice::Text(Name::new("…"))) });
    }
    effects
}

fn describe(event: &Event) -> String {
    let mut parts: Vec<String> = event.changes.iter().filter_map(ended).collect();
    parts.extend(event.changes.iter().filter_map(assigned));
    parts.extend(event.decision.iter().flat_map(follows));
    if parts.is_empty() { "the session goes on".to_owned() } else { parts.join("; ") }
}

/// Groups and sessions that end, and deferrals that are acknowledged.
fn ended(change: &Change) -> Option<String> {
    if let Change::GroupEnded { group, end } = change {
        return Some(match end {
            End::Completed => format!("completes group {group}"),
            End::Deferred { .. } => format!("defers group {group}"),
            End::Cancelled { .. } => format!("cancels group {group}; its work is not merged"),
        });
    }
    if let Change::AwaitsConfirmation { group } = change {
        return Some(format!("group {group} then waits for confirmation"));
    }
    if let Change::DeferralNamed { group, .. } = change {
        return Some(format!("acknowledges that group {group} stays undone"));
    }
    let Change::Session { status } = change else { return None };
    match status {
        SessionStatus::Active | SessionStatus::Validating => None,
        SessionStatus::Completed => Some("completes the session".to_owned()),
        SessionStatus::Cancelled => Some("cancels the session; open work is not merged".to_owned()),
    }
}

fn assigned(change: &Change) -> Option<String> {
    let Change::Assigned { role, group, task, attempt, .. } = change else { return None };
    let on = group.as_ref().map(|group| format!(" {group}")).unwrap_or_default();
    let work = match task {
        Task::Work if group.is_some() => format!("{role} works on{on}"),
        Task::Work => format!("{role} works on the session"),
        Task::Consult => format!("{role} helps{}", if on.is_empty() { on } else { format!(" with{on}") }),
        Task::Merge => format!("{role} merges{on}"),
    };
    let attempt = if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
    Some(format!("{work}{attempt}"))
}

fn follows(decision: &Decision) -> Vec<String> {
    let mut parts = Vec::new();
    parts.extend(decision.gate.as_ref().map(|gate| format!("gate {} runs", gate.gate)));
    parts.extend(decision.question.as_ref().map(|put| format!("a person is asked: {}", put.name)));
    parts.extend(decision.waits_for.map(|waits| match waits {
        WaitsFor::Phase => "waits for the other phases".to_owned(),
        WaitsFor::Groups => "waits for the other groups".to_owned(),
    }));
    parts.extend(decision.judgement.as_ref().map(|judgement| match judgement.verdict {
        Verdict::Accept => "the validator accepts".to_owned(),
        Verdict::Reject => "the validator rejects".to_owned(),
    }));
    parts
}
