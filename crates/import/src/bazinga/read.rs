//! From JSON to the state machine; every mistake in the file at once, each with its place.

use std::collections::BTreeMap;

use interlock_core::code::Code;
use interlock_core::problem::{Place, Problem};
use interlock_core::suggest;
use interlock_core::workflow::normalise_status;

use crate::bazinga::machine::*;
use crate::json::{JsonField, LocatedJson};

/// Names that mean something of their own in the workflow language.
const RESERVED: &[&str] = &["user", "author", "self", "any", "blocked_agent"];

/// Far beyond any team; what is checked below takes time with the square of these.
const MAX_AGENTS: usize = 100;
const MAX_ROWS: usize = 1_000;
const MAX_ALIASES: usize = 100;

const ROW_FIELDS: &[&str] = &[
    "next_agent",
    "action",
    "include_context",
    "fallback_agent",
    "model_override",
    "max_parallel",
    "then",
    "escalation_check",
    "iteration_budget_check",
    "mandatory_review",
    "bypass_qa",
    "_note",
];

pub(super) fn read(root: &LocatedJson<'_>, problems: &mut Vec<Problem>) -> BazingaMachine {
    let mut reader = MachineReader { machine: BazingaMachine::default(), problems };
    let fields = reader.fields(root, "the file");
    if !fields.iter().any(|field| !field.name.starts_with('_')) && root.fields().is_some() {
        reader.wrong(root.place(), "there is no agent in this file").help_last("an agent is a key such as `developer`");
    }
    for field in &fields {
        match field.name.as_str() {
            "_special_rules" => reader.special_rules(&field.value),
            "_status_aliases" => reader.aliases(&field.value),
            "_description" => {
                reader.machine.about = field.value.text();
                reader.aside("_description", UnroutedField::Comment);
            }
            "_version" => {
                reader.machine.version = field.value.text();
                reader.aside("_version", UnroutedField::Comment);
            }
            "_changelog" => reader.aside("_changelog", UnroutedField::Remark),
            name if name.starts_with('_') => reader.aside(name, UnroutedField::Unknown),
            _ => reader.agent(field),
        }
    }
    reader.not_too_many(root);
    reader.machine
}

struct MachineReader<'p> {
    machine: BazingaMachine,
    problems: &'p mut Vec<Problem>,
}

impl MachineReader<'_> {
    fn wrong(&mut self, place: Place, message: impl Into<String>) -> &mut Self {
        self.problems.push(Problem::new(Code::ImportFailed, message).at(place));
        self
    }

    fn not_too_many(&mut self, root: &LocatedJson<'_>) {
        let machine = &self.machine;
        let counts = [
            ("agents", machine.agents.len(), MAX_AGENTS),
            ("transitions", machine.rows().count(), MAX_ROWS),
            ("aliases", machine.aliases.len(), MAX_ALIASES),
        ];
        for (what, count, most) in counts.into_iter().filter(|(_, count, most)| count > most) {
            self.wrong(root.place(), format!("{count} {what}; at most {most} can be imported"));
        }
    }

    fn help_last(&mut self, help: impl Into<String>) {
        if let Some(problem) = self.problems.pop() {
            self.problems.push(problem.help(help));
        }
    }

    fn aside(&mut self, path: impl Into<String>, aside: UnroutedField) {
        self.machine.asides.push((path.into(), aside));
    }

    /// The fields of an object. A duplicate key is a problem, because its first value would be lost silently.
    fn fields<'a>(&mut self, value: &LocatedJson<'a>, what: &str) -> Vec<JsonField<'a>> {
        let Some(fields) = value.fields() else {
            self.wrong(value.place(), format!("{what} is an object, not {}", value.kind()));
            return Vec::new();
        };
        let mut seen: BTreeMap<String, Place> = BTreeMap::new();
        for field in &fields {
            if let Some(first) = seen.get(&field.name) {
                let help = format!("the first is in line {}", first.line);
                self.wrong(field.key.place(), format!("`{}` stands twice", field.name)).help_last(help);
            }
            seen.entry(field.name.clone()).or_insert_with(|| field.key.place());
        }
        fields
    }

    /// A value of a known field, or a problem that says what belongs there. `null` is not there.
    fn value<'a, T>(
        &mut self,
        fields: &[JsonField<'a>],
        name: &str,
        wanted: &str,
        read: impl Fn(&LocatedJson<'a>) -> Option<T>,
    ) -> Option<T> {
        let field = fields.iter().find(|field| field.name == name).filter(|field| !field.value.is_null())?;
        let read = read(&field.value);
        if read.is_none() {
            let message = format!("`{name}` is {wanted}, not {}", field.value.kind());
            self.wrong(field.value.place(), message);
        }
        read
    }

    fn name_in(&mut self, fields: &[JsonField<'_>], name: &str) -> Option<String> {
        self.value(fields, name, "a name", |value| value.text().filter(|text| !text.trim().is_empty()))
    }

    fn count_in(&mut self, fields: &[JsonField<'_>], name: &str) -> Option<u32> {
        self.value(fields, name, "a whole number from 1", |value| value.number().filter(|number| *number > 0))
    }

    fn truth_in(&mut self, fields: &[JsonField<'_>], name: &str) -> Option<bool> {
        self.value(fields, name, "true or false", LocatedJson::truth)
    }

    fn names_in(&mut self, fields: &[JsonField<'_>], name: &str) -> Vec<String> {
        let items = self.value(fields, name, "a list of names", LocatedJson::items).unwrap_or_default();
        let mut names = Vec::new();
        for item in items {
            match item.text().filter(|text| !text.trim().is_empty()) {
                Some(text) if names.contains(&text) => {}
                Some(text) => names.push(text),
                None => {
                    self.wrong(item.place(), format!("`{name}` lists names, not {}", item.kind()));
                }
            }
        }
        names
    }

    fn agent(&mut self, field: &JsonField<'_>) {
        self.agent_name(&field.name, &field.key.place());
        let mut agent = BazingaAgent { name: field.name.clone(), about: None, rows: Vec::new() };
        for row in self.fields(&field.value, &format!("agent `{}`", field.name)) {
            let path = format!("{}.{}", field.name, row.name);
            if row.name == "_description" || row.name == "_note" {
                agent.about = row.value.text().or(agent.about);
                self.aside(path, UnroutedField::Comment);
            } else if row.name.starts_with('_') {
                self.aside(path, UnroutedField::Unknown);
            } else if row.name.trim().is_empty() {
                self.wrong(row.key.place(), "a status needs a name");
            } else if let Some(row) = self.row(&path, &row) {
                agent.rows.push(row);
            }
        }
        self.one_spelling(&agent);
        self.machine.agents.push(agent);
    }

    fn agent_name(&mut self, name: &str, place: &Place) {
        if name.trim().is_empty() {
            self.wrong(place.clone(), "an agent needs a name");
        } else if RESERVED.contains(&name) || name.contains("{domain}") {
            let message = format!("`{name}` cannot be an agent: it has a meaning of its own in a workflow");
            self.wrong(place.clone(), message).help_last("rename the agent");
        }
    }

    /// Statuses are compared without regard to case, spaces and hyphens here.
    fn one_spelling(&mut self, agent: &BazingaAgent) {
        let mut seen: BTreeMap<String, &TransitionRow> = BTreeMap::new();
        for row in &agent.rows {
            if let Some(first) = seen.insert(normalise_status(&row.status), row) {
                let message = format!("`{}` and `{}` are one status", first.status, row.status);
                let help = format!("the first is in line {}; keep one of them", first.place.line);
                self.wrong(row.place.clone(), message).help_last(help);
            }
        }
    }

    fn row(&mut self, path: &str, field: &JsonField<'_>) -> Option<TransitionRow> {
        let fields = self.fields(&field.value, &format!("`{path}`"));
        field.value.fields()?;
        for extra in fields.iter().filter(|extra| !ROW_FIELDS.contains(&extra.name.as_str())) {
            self.aside(format!("{path}.{}", extra.name), UnroutedField::Unknown);
        }
        if fields.iter().any(|field| field.name == "_note") {
            self.aside(format!("{path}._note"), UnroutedField::Comment);
        }
        let action = self.action(path, field, &fields);
        let next = self.next(path, action, field, &fields);
        Some(TransitionRow {
            status: field.name.clone(),
            with: self.names_in(&fields, "include_context"),
            note: fields.iter().find(|field| field.name == "_note").and_then(|field| field.value.text()),
            model: self.name_in(&fields, "model_override"),
            fallback: self.name_in(&fields, "fallback_agent"),
            max_parallel: self.count_in(&fields, "max_parallel"),
            then: self.name_in(&fields, "then"),
            escalation_check: self.truth_in(&fields, "escalation_check").unwrap_or(false),
            iteration_budget_check: self.truth_in(&fields, "iteration_budget_check"),
            mandatory_review: self.truth_in(&fields, "mandatory_review"),
            bypass_qa: self.truth_in(&fields, "bypass_qa"),
            place: field.key.place(),
            action: action?,
            next: next?,
        })
    }

    fn action(&mut self, path: &str, row: &JsonField<'_>, fields: &[JsonField<'_>]) -> Option<TransitionAction> {
        let Some(field) = fields.iter().find(|field| field.name == "action") else {
            self.wrong(row.key.place(), format!("`{path}` has no `action`"));
            return None;
        };
        let text = field.value.text().unwrap_or_default();
        let known = TransitionAction::ALL.iter().find(|(name, _)| *name == text).map(|(_, action)| *action);
        if known.is_none() {
            let message = match field.value.text() {
                Some(text) => format!("there is no action `{text}`"),
                None => format!("`action` is a name, not {}", field.value.kind()),
            };
            let help = suggest::help(&text, TransitionAction::ALL.iter().map(|(name, _)| *name));
            self.wrong(field.value.place(), message).help_last(help.unwrap_or_default());
        }
        known
    }

    fn next(
        &mut self,
        path: &str,
        action: Option<TransitionAction>,
        row: &JsonField<'_>,
        fields: &[JsonField<'_>],
    ) -> Option<TransitionTarget> {
        let field = fields.iter().find(|field| field.name == "next_agent");
        let name = self.name_in(fields, "next_agent");
        match (name.as_deref(), field) {
            (Some(RETURN), _) => Some(TransitionTarget::Blocked),
            (Some(name), Some(field)) if name.starts_with('_') => {
                let message = format!("`{name}` is no agent, and no target that is known here");
                self.wrong(field.value.place(), message).help_last(format!("there is one such target: {RETURN}"));
                None
            }
            (Some(name), Some(field)) => {
                self.agent_name(name, &field.value.place());
                Some(TransitionTarget::Agent(name.to_owned()))
            }
            (_, Some(field)) if !field.value.is_null() => None,
            (_, field) if action.is_some_and(TransitionAction::needs_agent) => {
                let place = field.map_or_else(|| row.key.place(), |field| field.value.place());
                self.wrong(place, format!("`{path}` starts an agent, but `next_agent` names none"));
                None
            }
            (_, _) => Some(TransitionTarget::Nobody),
        }
    }

    fn special_rules(&mut self, value: &LocatedJson<'_>) {
        for rule in self.fields(value, "`_special_rules`") {
            let path = format!("_special_rules.{}", rule.name);
            let known: &[&str] = match rule.name.as_str() {
                "escalation_after_failures" => &["threshold", "escalation_agent"],
                "security_sensitive" => &["force_agent", "mandatory_review"],
                "research_tasks" => &["agent", "max_parallel"],
                name if name.starts_with("testing_mode_") => &["affected_statuses", "override_next_agent"],
                _ => {
                    self.aside(path, UnroutedField::Unknown);
                    continue;
                }
            };
            let fields = self.fields(&rule.value, &format!("`{path}`"));
            if rule.value.fields().is_none() {
                continue;
            }
            for field in &fields {
                match field.name.as_str() {
                    "description" | "_note" => self.aside(format!("{path}.{}", field.name), UnroutedField::Comment),
                    name if known.contains(&name) => {}
                    name => self.aside(format!("{path}.{name}"), UnroutedField::Unknown),
                }
            }
            self.special_rule(&rule, &fields);
        }
    }

    fn special_rule(&mut self, rule: &JsonField<'_>, fields: &[JsonField<'_>]) {
        let about = fields.iter().find(|field| field.name == "description").and_then(|field| field.value.text());
        match rule.name.strip_prefix("testing_mode_") {
            Some("") => {
                self.wrong(rule.key.place(), "`testing_mode_` must end with the name of a mode");
            }
            Some(mode) => {
                let affected = self.names_in(fields, "affected_statuses");
                if let Some(takes) = self.agent_in(rule, fields, "override_next_agent") {
                    let mode = mode.to_owned();
                    self.machine.testing.push(TestingMode { mode, affected, takes, about });
                }
            }
            None if rule.name == "escalation_after_failures" => {
                let threshold = self.count_in(fields, "threshold");
                self.machine.escalation = self.agent_in(rule, fields, "escalation_agent").map(|agent| EscalationRule {
                    threshold,
                    agent,
                    about,
                });
            }
            None if rule.name == "security_sensitive" => {
                let mandatory_review = self.truth_in(fields, "mandatory_review");
                self.machine.security = self.agent_in(rule, fields, "force_agent").map(|agent| SecurityRule {
                    agent,
                    mandatory_review,
                    about,
                });
            }
            None => {
                let max_parallel = self.count_in(fields, "max_parallel");
                self.machine.research =
                    self.agent_in(rule, fields, "agent").map(|agent| ResearchRule { agent, max_parallel, about });
            }
        }
    }

    /// The agent that a special rule names; without one the rule says nothing.
    fn agent_in(&mut self, rule: &JsonField<'_>, fields: &[JsonField<'_>], name: &str) -> Option<String> {
        let field = fields.iter().find(|field| field.name == name).filter(|field| !field.value.is_null());
        if field.is_none() {
            self.wrong(rule.key.place(), format!("`{}` needs `{name}`", rule.name));
        }
        let agent = self.name_in(fields, name)?;
        let place = field?.value.place();
        self.agent_name(&agent, &place);
        self.machine.named.push((agent.clone(), place));
        Some(agent)
    }

    fn aliases(&mut self, value: &LocatedJson<'_>) {
        for field in self.fields(value, "`_status_aliases`") {
            if field.name.starts_with('_') {
                self.aside(format!("_status_aliases.{}", field.name), UnroutedField::Remark);
                continue;
            }
            match field.value.text().filter(|text| !text.trim().is_empty() && !field.name.trim().is_empty()) {
                Some(meant) => self.machine.aliases.push(ImportedAlias { alias: field.name, meant }),
                None => {
                    let message = format!("alias `{}` stands for a status, not {}", field.name, field.value.kind());
                    self.wrong(field.value.place(), message);
                }
            }
        }
    }
}
