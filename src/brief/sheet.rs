//! What is never cut: who, what for, why, and what to return; and the template that it is set in.

use std::sync::LazyLock;

use interlock_core::event::Cause;
use interlock_core::handoff::mandatory_skills;
use interlock_core::workflow::{Task, Writes};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};
use serde::Serialize;

use crate::brief::back::Back;
use crate::brief::piece::Piece;
use crate::brief::{Brief, data};

const TEMPLATE: &str = include_str!("prompt.md.j2");

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    templates.set_auto_escape_callback(|_| AutoEscape::None);
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    templates.set_syntax(syntax.expect("the syntax of templates is sound"));
    templates.add_template("prompt", TEMPLATE).expect("the template of prompts is sound");
    templates
});

#[derive(Debug, Serialize)]
pub(super) struct Sheet {
    /// `SESSION.aN`
    reference: String,
    session: String,
    workflow: String,
    role: String,
    group: Option<String>,
    phase: Option<String>,
    attempt: u32,
    task: &'static str,
    output_directory: String,
    todo: Vec<String>,
    /// What the role does, in the workflow's words.
    about: Option<String>,
    may_change: String,
    in_a_run: bool,
    led_here: Vec<String>,
    skills: Vec<String>,
    skills_refuse: bool,
    back: Back,
}

impl Sheet {
    pub(super) fn of(brief: &Brief<'_>) -> Self {
        let (assignment, workflow) = (brief.assignment, brief.workflow);
        let session = brief.state.session.as_ref().map(|session| data::code(&session.id)).unwrap_or_default();
        let skills = mandatory_skills(workflow, &assignment.role, assignment.phase.as_deref());
        let reference = format!("{session}.{}", brief.id);
        Self {
            back: Back::of(brief, &reference),
            reference,
            session,
            workflow: data::code(&workflow.name),
            role: assignment.role.to_string(),
            group: assignment.group.as_deref().map(data::code),
            phase: assignment.phase.as_ref().map(ToString::to_string),
            attempt: assignment.attempt,
            task: match assignment.task {
                Task::Work => "work",
                Task::Consult => "consult",
                Task::Merge => "merge",
            },
            output_directory: data::line(brief.output_directory),
            todo: brief.todo(),
            about: brief.role().and_then(|role| role.about.as_deref()).map(data::text),
            may_change: brief.may_change(),
            in_a_run: brief.in_a_run,
            led_here: brief.led_here(),
            skills: skills.into_iter().map(ToString::to_string).collect(),
            skills_refuse: workflow.handoff.refuse_missing_skills,
        }
    }

    pub(super) fn render(&self, pieces: &[Piece]) -> String {
        let template = TEMPLATES.get_template("prompt").expect("it was added");
        template
            .render(context! { sheet => Serde(self), pieces => Serde(pieces) })
            .expect("the template names only what is there")
    }
}

impl Brief<'_> {
    fn todo(&self) -> Vec<String> {
        let place = match (&self.assignment.phase, &self.assignment.group) {
            (Some(phase), Some(group)) => format!("phase `{phase}` of group `{group}`"),
            (Some(phase), None) => format!("phase `{phase}` of the session"),
            (None, Some(group)) => format!("group `{group}`"),
            (None, None) => "the session as a whole".to_owned(),
        };
        let role = &self.assignment.role;
        match self.assignment.task {
            Task::Work => vec![format!("Do what `{role}` does, for {place}, and report how it went.")],
            Task::Consult => self.who_waits(&place),
            Task::Merge => vec![
                format!(
                    "Merge the work of {place}: bring exactly what was approved into the branch that the session collects its work on, run the checks on the merged tree, and report how it went."
                ),
                "Change nothing else on the way. A conflict or a failing test is reported, not talked away.".to_owned(),
            ],
        }
    }

    /// Exactly what it may change: whatever else is changed is held against it where somebody looks.
    fn may_change(&self) -> String {
        let whose =
            if self.assignment.group.is_some() { "the files of your group" } else { "the files of the project" };
        let undone = |what: &str| match self.in_a_run {
            true => format!(" {what} you change is undone, and your handoff goes back."),
            false => String::new(),
        };
        match self.role().map(|role| &role.writes) {
            Some(Writes::Everything) => format!("You may change {whose}."),
            Some(Writes::Only(patterns)) => {
                let patterns: Vec<String> =
                    patterns.iter().map(|pattern| format!("`{}`", data::code(pattern))).collect();
                format!("You may change only files whose paths fit {}.{}", patterns.join(", "), undone("Whatever else"))
            }
            Some(Writes::Nothing) | None => {
                format!("You may change no file of the project: you look, judge and report.{}", undone("What"))
            }
        }
    }

    fn who_waits(&self, place: &str) -> Vec<String> {
        let lane = self.lane();
        let mut lines = vec![format!("Somebody waits for your help on {place}."), String::new()];
        let waiting = lane.part(self.assignment.part).map_or(&[][..], |part| part.waiting.as_slice());
        for seat in waiting.iter().rev() {
            let task = match seat.task {
                Task::Work => "its work",
                Task::Consult => "helping somebody else",
                Task::Merge => "a merge",
            };
            let block = lane.blocks.iter().rfind(|block| block.part == self.assignment.part && block.role == seat.role);
            let why = match block.map(|block| block.reason.as_deref()) {
                Some(Some(reason)) => format!("it is blocked: {}", data::code(reason)),
                Some(None) => "it is blocked".to_owned(),
                None => "it asked for help".to_owned(),
            };
            lines.push(format!("- `{}` waits with {task}; {why}.", seat.role));
        }
        lines.push(String::new());
        lines.push("Settle what holds it up and report that. You are not asked to do its work in its place: when you have helped, it goes on with what you hand off.".to_owned());
        lines
    }

    /// The cause in Interlock's own words, the rule, and the reasons that the workflow gives.
    fn led_here(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for event in [self.origin, self.lost].into_iter().flatten() {
            lines.push(format!("- {}.", self.happened(&event.cause)));
            let Some(decision) = &event.decision else { continue };
            lines.push(format!("- Decision {} by rule `{}`.", decision.id, decision.rule));
            // What a person gave as the reason, and what programs printed, is shown as their words and not as Interlock's.
            let quoted = match &event.cause {
                Cause::Overridden { why, .. } | Cause::Waived { why, .. } => Some(why),
                Cause::Lost { note, .. } => note.as_ref(),
                _ => None,
            };
            let own = decision.because.iter().filter(|because| Some(*because) != quoted);
            lines.extend(own.map(|because| format!("- Because: {}", data::line(because))));
        }
        lines
    }

    fn happened(&self, cause: &Cause) -> String {
        match cause {
            Cause::Started { .. } => "The session has just been started".to_owned(),
            Cause::Planned { .. } => "A person has added groups to the plan".to_owned(),
            Cause::Reported { status, .. } => {
                let who = self.reporter().map_or_else(|| "Somebody".to_owned(), |role| format!("`{role}`"));
                let role = self.reporter().and_then(|role| self.workflow.role_named(role));
                match role.and_then(|role| self.workflow.status_of(role, status)) {
                    Some(status) => format!("{who} has reported `{}`", self.workflow.status_name(status)),
                    None => format!("{who} has reported a status that it does not have"),
                }
            }
            Cause::Lost { status, .. } => {
                format!("An attempt ended without a handoff that could be taken (`{status}`): it counts for nothing")
            }
            Cause::Merged { .. } => "Interlock has tried the merge itself".to_owned(),
            Cause::Answered { .. } => "A person has answered a question".to_owned(),
            Cause::GateFinished { gate, passed: true, .. } => format!("Gate `{gate}` has passed"),
            Cause::GateFinished { gate, passed: false, .. } => format!("Gate `{gate}` has failed"),
            Cause::Deferred { .. } => "A person has deferred a group".to_owned(),
            Cause::Acknowledged { .. } => "A person has acknowledged a deferred group".to_owned(),
            Cause::Overridden { .. } => "A person has sent the work to you, past the workflow's own way".to_owned(),
            Cause::Waived { evidence, .. } => format!("A person has waived `{evidence}` for this tree"),
            Cause::Accepted { .. } => "A person has accepted a group".to_owned(),
            Cause::CompletionAsked { .. } => "The end of the session was asked for".to_owned(),
            Cause::Cancelled { .. } => "Something was cancelled".to_owned(),
            Cause::Claimed { .. }
            | Cause::LeaseExpired { .. }
            | Cause::Upgraded { .. }
            | Cause::Sighted(_)
            | Cause::Allowed { .. }
            | Cause::Refused(_) => "The assignment was given out again".to_owned(),
        }
    }
}
