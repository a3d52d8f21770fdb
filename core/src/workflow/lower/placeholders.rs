//! Placeholders that nothing would fill in, and checks that no plan could bring.

use std::collections::BTreeSet;

use crate::code::Code;
use crate::id::Name;
use crate::problem::Problem;
use crate::suggest;
use crate::workflow::doc::RunDoc;
use crate::workflow::lower::Lowering;
use crate::workflow::model::*;
use crate::workflow::placeholder::{GATE_PLACEHOLDERS, QUESTION_PLACEHOLDERS, placeholders};
use crate::workflow::record::At;

/// Fields that every handoff may have; below these objects any path is a field.
const HANDOFF_FIELDS: &[&str] = &[
    "agent",
    "artifacts",
    "attempted",
    "blocked_reason",
    "feature_directory",
    "files_modified",
    "output_type",
    "phase",
    "skills_invoked",
    "source_files_verified",
    "status",
    "summary",
    "timestamp",
];
const HANDOFF_OBJECTS: &[&str] = &["handoff.", "verification.", "test_progression.", "iteration_tracking."];

/// The warning about a workflow that completes whatever comes to its end.
fn nothing_needed(phased: bool) -> Problem {
    let (message, help) = if phased {
        (
            "a group completes by leaving its last phase: no evidence and no gate is needed",
            "declare what must hold as well, such as `completion: { group: { gates: [checks] } }`",
        )
    } else {
        (
            "nothing is needed to complete a group: no evidence and no gate",
            "declare it, such as `completion: { group: { needs: [review], gates: [checks] } }`",
        )
    };
    Problem::warning(Code::NothingNeeded, message).help(help)
}

impl Workflow {
    /// The warning at the start of a session, if nothing is needed to complete a group.
    pub fn completion_warning(&self) -> Option<Problem> {
        let needs = !self.completion.needs.is_empty() || !self.completion.gates.is_empty();
        (!needs).then(|| nothing_needed(self.has_phases()))
    }
}

impl Lowering<'_> {
    pub(super) fn gate_placeholders(&mut self) {
        let doc = self.doc;
        for (_, _, gate) in doc.gates.iter() {
            let RunDoc::Command(words) = &gate.run else { continue };
            for word in words {
                for name in placeholders(&word.value).into_iter().filter(|name| !GATE_PLACEHOLDERS.contains(name)) {
                    self.unknown_placeholder(word, name, GATE_PLACEHOLDERS);
                }
            }
        }
    }

    /// A question may show whatever the workflow passes on or asks of a handoff.
    pub(super) fn question_placeholders(&mut self) {
        let doc = self.doc;
        let named = self.fields_named();
        for (_, _, question) in doc.questions.iter() {
            for name in placeholders(&question.text.value) {
                let below = HANDOFF_OBJECTS.iter().any(|object| name.starts_with(object));
                let known = QUESTION_PLACEHOLDERS.contains(&name) || HANDOFF_FIELDS.contains(&name);
                if !below && !known && !named.contains(name) {
                    let mut known: Vec<&str> = QUESTION_PLACEHOLDERS.to_vec();
                    known.extend(["handoff.context", "summary"]);
                    known.extend(named.iter().map(Name::as_str));
                    self.unknown_placeholder(&question.text, name, &known);
                }
            }
        }
    }

    /// Fields of handoffs that some entry, phase or declaration of the file names.
    fn fields_named(&self) -> BTreeSet<Name> {
        let rules = self.rules.iter().flat_map(|rule| rule.with.iter().chain(&rule.demands.require));
        let phases = self.phases.iter().flat_map(|phase| &phase.demands.require);
        let every = self.doc.handoff.iter().flat_map(|doc| &doc.require).map(|at| &at.value);
        let facts = self.guards.iter().filter(|guard| guard.source == GuardSource::Fact).map(|guard| &guard.name);
        rules.chain(phases).chain(every).chain(facts).cloned().collect()
    }

    /// A workflow that asks for no evidence completes whatever comes to its end.
    ///
    /// `before`: problems that were there before. What could not be read may have been a need.
    pub(super) fn completion_needs_something(&mut self, before: usize) {
        let needs = !self.completion.needs.is_empty() || !self.completion.gates.is_empty();
        let failed = before > 0 || self.problems.iter().any(Problem::is_error);
        if !needs && !self.doc.is_abstract && !failed {
            let place = self.doc.completion.as_ref().map_or(&self.doc.workflow.place, |doc| &doc.place).clone();
            self.problems.push(nothing_needed(!self.phases.is_empty()).at(place));
        }
    }

    /// Entries for the author hold nowhere if no role is one.
    pub(super) fn work_has_an_author(&mut self) {
        let known = self.problems.iter().any(|problem| problem.code == Code::NoAuthorRole);
        let has_author = self.roles.iter().any(|role| role.author) || self.doc.unread.any_of(&["roles"]);
        if self.doc.is_abstract || known || has_author {
            return;
        }
        let for_author = |rule: &&Rule| match rule.verb {
            Verb::Spawn(target) | Verb::Respawn(target) | Verb::Consult(target) | Verb::Escalate(target) => {
                target == Target::Author
            }
            Verb::Merge => true,
            Verb::Return
            | Verb::Goto(_)
            | Verb::Start
            | Verb::Ask(_)
            | Verb::Complete
            | Verb::Defer
            | Verb::Validate(_)
            | Verb::End
            | Verb::CancelGroup
            | Verb::CancelSession
            | Verb::Redo
            | Verb::Acknowledge
            | Verb::Join
            | Verb::Rework(_)
            | Verb::Leave => false,
        };
        if let Some(rule) = self.rules.iter().find(for_author) {
            let message = format!("`{}` sends work to the author, and no role is one", rule.id);
            let place = rule.place.clone();
            self.problems.push(Problem::new(Code::NoAuthorRole, message).help(self.author_help()).at(place));
        }
    }

    /// Names a role that could be the author: one that begins the work of groups.
    pub(super) fn author_help(&self) -> String {
        let begins = self.group_begin.first().map(|opening| opening.role);
        let works = self.phases.iter().find_map(|phase| match &phase.performer {
            Performer::Role(role) => Some(*role),
            Performer::ByDomain(_) | Performer::Gate(_) | Performer::Merge => None,
        });
        match begins.or(works).and_then(|ix| self.roles.get(ix.index())) {
            Some(role) => {
                format!("declare the role that does the work as author, such as `{}: {{ is: [author] }}`", role.name)
            }
            None => "add `is: [author]` to the role that does the work".to_owned(),
        }
    }

    pub(super) fn required_checks_are_planned(&mut self) {
        let doc = self.doc;
        for (name, place, gate) in doc.gates.iter().filter(|(_, _, gate)| gate.required) {
            if !matches!(gate.run, RunDoc::Plan) {
                let message = format!("gate `{name}` runs a command of its own: `required` belongs to `run: plan`");
                self.report(Code::VerbNotHere, place, message);
            }
            let planned = self.phases.is_empty() || self.phases.iter().any(|phase| phase.plans);
            if !planned && !doc.is_abstract {
                let message = format!("gate `{name}` requires checks of the plan, and no phase `plans: groups`");
                self.report(Code::BadPhase, place, message);
            }
        }
    }

    fn unknown_placeholder(&mut self, text: &At<Name>, name: &str, known: &[&str]) {
        let list: Vec<String> = known.iter().map(|known| format!("{{{known}}}")).collect();
        let near = suggest::closest(name, known.iter().copied()).map(|near| format!("did you mean `{{{near}}}`? "));
        let help = format!(
            "{}known here: {}; write `{{{{{name}}}}}` for the plain text",
            near.unwrap_or_default(),
            list.join(", ")
        );
        let problem = Problem::new(Code::UnknownPlaceholder, format!("nothing fills in `{{{name}}}`")).help(help);
        self.problems.push(problem.at(text.place.clone()));
    }
}
