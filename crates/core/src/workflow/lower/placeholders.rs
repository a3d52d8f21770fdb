//! Placeholders that nothing would fill in, and checks that no plan could bring.

use std::collections::BTreeSet;

use crate::code::Code;
use crate::handoff;
use crate::id::Name;
use crate::problem::Problem;
use crate::suggest;
use crate::workflow::doc::RunDoc;
use crate::workflow::lower::Lowering;
use crate::workflow::model::*;
use crate::workflow::placeholder::{GATE_PLACEHOLDERS, QUESTION_PLACEHOLDERS, placeholders};
use crate::workflow::record::PlacedValue;
use serde_json::Value as Json;

/// The warning about a workflow that completes whatever comes to its end.
fn nothing_needed(phased: bool) -> Problem {
    let (message, help) = if phased {
        (
            "a group completes by leaving its last phase: no evidence and no gate is needed",
            "declare a gate under `gates`, and name it in `completion.group.gates`; or add `passes: [NAME]` to an entry, and name that in `completion.group.needs`",
        )
    } else {
        (
            "nothing is needed to complete a group: no evidence and no gate",
            "add `passes: [NAME]` to the entry that shows it, and name it in `completion.group.needs`; or declare a gate under `gates`, and name it in `completion.group.gates`",
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

/// The fields that the language knows of every handoff, by their dotted paths.
fn common_fields() -> BTreeSet<String> {
    fn add(schema: &Json, path: &str, fields: &mut BTreeSet<String>) {
        let members = schema.get("properties").and_then(Json::as_object);
        for (name, member) in members.into_iter().flatten() {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            add(member, &path, fields);
            fields.insert(path);
        }
    }
    let mut fields = BTreeSet::new();
    add(&handoff::schema(None), "", &mut fields);
    fields
}

/// The workflow names the field, or an object of its own that the field is in. The members of common objects are known.
fn is_declared(named: &BTreeSet<Name>, common: &BTreeSet<String>, field: &str) -> bool {
    let above = field.match_indices('.').filter_map(|(at, _)| field.get(..at));
    named.contains(field) || above.into_iter().any(|path| named.contains(path) && !common.contains(path))
}

impl Lowering<'_> {
    pub(super) fn gate_placeholders(&mut self) {
        let doc = self.doc;
        for (_, _, gate) in doc.gates.iter() {
            let RunDoc::Command(words) = &gate.run else { continue };
            for word in words {
                for name in placeholders(&word.value).into_iter().filter(|name| !GATE_PLACEHOLDERS.contains(name)) {
                    let near = suggest::closest(name, GATE_PLACEHOLDERS.iter().copied()).map(str::to_owned);
                    self.unknown_placeholder(word, name, GATE_PLACEHOLDERS, near);
                }
            }
        }
    }

    /// A question may show fields that the language knows, and fields that the workflow passes on or asks of a handoff.
    pub(super) fn question_placeholders(&mut self) {
        let doc = self.doc;
        let (named, common) = (self.fields_named(), common_fields());
        for (_, _, question) in doc.questions.iter() {
            for name in placeholders(&question.text.value) {
                let known = QUESTION_PLACEHOLDERS.contains(&name) || common.contains(name);
                if known || is_declared(&named, &common, name) {
                    continue;
                }
                let mut listed: Vec<&str> = QUESTION_PLACEHOLDERS.to_vec();
                for field in ["handoff.context", "summary"].into_iter().chain(named.iter().map(Name::as_str)) {
                    if !listed.contains(&field) {
                        listed.push(field);
                    }
                }
                let near = listed.iter().copied().chain(common.iter().map(String::as_str));
                let near = suggest::closest(name, near).map(str::to_owned);
                self.unknown_placeholder(&question.text, name, &listed, near);
            }
        }
    }

    /// Fields of handoffs that some entry, phase or declaration of the file names.
    fn fields_named(&self) -> BTreeSet<Name> {
        let demands = self.rules.iter().map(|rule| &rule.demands).chain(self.phases.iter().map(|phase| &phase.demands));
        let claims = demands.flat_map(|demands| &demands.verify);
        let claims = claims.chain(self.doc.handoff.iter().flat_map(|doc| &doc.verify).map(|at| &at.value));
        let claims: BTreeSet<Name> = claims.map(|claim| Name::from(format!("verification.{claim}"))).collect();
        let rules = self.rules.iter().flat_map(|rule| rule.with.iter().chain(&rule.demands.require));
        let phases = self.phases.iter().flat_map(|phase| &phase.demands.require);
        let every = self.doc.handoff.iter().flat_map(|doc| &doc.require).map(|at| &at.value);
        let facts = self.guards.iter().filter(|guard| guard.source == GuardSource::Fact).map(|guard| &guard.name);
        rules.chain(phases).chain(every).chain(facts).cloned().chain(claims).collect()
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
            RuleVerb::Spawn(target)
            | RuleVerb::Respawn(target)
            | RuleVerb::Consult(target)
            | RuleVerb::Escalate(target) => target == RoleTarget::Author,
            RuleVerb::Merge => true,
            RuleVerb::Return
            | RuleVerb::Goto(_)
            | RuleVerb::Start
            | RuleVerb::Ask(_)
            | RuleVerb::Complete
            | RuleVerb::Defer
            | RuleVerb::Validate(_)
            | RuleVerb::End
            | RuleVerb::CancelGroup
            | RuleVerb::CancelSession
            | RuleVerb::Redo
            | RuleVerb::Acknowledge
            | RuleVerb::Join
            | RuleVerb::Rework(_)
            | RuleVerb::Leave => false,
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
            PhasePerformer::Role(role) => Some(*role),
            PhasePerformer::ByDomain(_) | PhasePerformer::Gate(_) | PhasePerformer::Merge => None,
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
                let help =
                    "take `required` out, or write `run: plan` to run the checks that each group of the plan brings";
                self.problems.push(Problem::new(Code::VerbNotHere, message).help(help).at(place.clone()));
            }
            let planned = self.phases.is_empty() || self.phases.iter().any(|phase| phase.plans);
            if !planned && !doc.is_abstract {
                let message = format!("gate `{name}` requires checks of the plan, and no phase `plans: groups`");
                self.report(Code::BadPhase, place, message);
            }
        }
    }

    fn unknown_placeholder(&mut self, text: &PlacedValue<Name>, name: &str, known: &[&str], near: Option<String>) {
        let list: Vec<String> = known.iter().map(|known| format!("{{{known}}}")).collect();
        let near = near.map(|near| format!("did you mean `{{{near}}}`? "));
        let help = format!(
            "{}known here: {}; write `{{{{{name}}}}}` for the plain text",
            near.unwrap_or_default(),
            list.join(", ")
        );
        let problem = Problem::new(Code::UnknownPlaceholder, format!("nothing fills in `{{{name}}}`")).help(help);
        self.problems.push(problem.at(text.place.clone()));
    }
}
