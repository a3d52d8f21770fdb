//! The workflow file.

use std::collections::BTreeSet;

use crate::bazinga::examples;
use crate::bazinga::machine::*;
use crate::bazinga::roles::BazingaRoles;
use crate::bazinga::rows::{ACCEPTANCE, RouteEntry, RowMapping, RowTarget, replaced};
use crate::bazinga::yaml::{comment, list, map, name, sentence};

/// Groups at work at once, where the file does not say; the original's own default.
const AT_MOST: u32 = 4;
pub(super) fn workflow(rows: &RowMapping<'_>) -> String {
    let mut writer = WorkflowWriter { rows, used: BTreeSet::from(["merging", "unclear"]), out: String::new() };
    writer.header();
    writer.roles();
    writer.groups();
    writer.overrides();
    writer.routes();
    writer.merge();
    writer.blocked();
    writer.aliases();
    writer.loops();
    writer.completion();
    writer.line("");
    writer.line("examples:");
    for example in examples::examples(rows) {
        writer.line(&format!("  - {example}"));
    }
    writer.out
}

pub(super) fn at_most(machine: &BazingaMachine) -> u32 {
    let batches = machine.rows().filter(|(_, row)| row.action == TransitionAction::SpawnBatch);
    batches.filter_map(|(_, row)| row.max_parallel).min().unwrap_or(AT_MOST)
}

/// The testing modes of BAZINGA, and any other that the file has a rule for.
pub(super) fn modes(machine: &BazingaMachine) -> Vec<&str> {
    let mut modes = vec!["full", "minimal", "disabled"];
    for rule in &machine.testing {
        if !modes.contains(&rule.mode.as_str()) {
            modes.push(&rule.mode);
        }
    }
    modes
}

/// Groups are code or research.
pub(super) fn has_kinds(machine: &BazingaMachine, cast: &BazingaRoles) -> bool {
    machine.research.as_ref().is_some_and(|rule| rule.agent != cast.starter)
}

pub(super) struct WorkflowWriter<'a> {
    pub(super) rows: &'a RowMapping<'a>,
    /// Loops that some entry names.
    pub(super) used: BTreeSet<&'static str>,
    pub(super) out: String,
}

impl WorkflowWriter<'_> {
    pub(super) fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// An empty line, a comment about the key, and the key.
    pub(super) fn section(&mut self, key: &str, about: &[&str]) {
        self.line("");
        for line in about {
            self.line(&comment(line));
        }
        self.line(&format!("{key}:"));
    }

    /// A remark of the original.
    pub(super) fn remark(&mut self, indent: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.line(&format!("{indent}{}", comment(text)));
        }
    }

    fn header(&mut self) {
        let machine = self.rows.machine;
        let version = machine.version.as_ref().map(|version| format!(", version {version}")).unwrap_or_default();
        self.line(&comment(&format!(
            "Imported from BAZINGA's transitions.json{version}, by `interlock import bazinga`."
        )));
        self.line("# Tables, limits and agents are those of that file; what it lacks is as in the built-in");
        self.line("# `delivery-team`, and comments say where a choice was made.");
        self.line("");
        self.line("workflow: bazinga");
        self.line("language: 1");
        if let Some(about) = machine.about.as_ref().filter(|about| !about.trim().is_empty()) {
            self.line(&format!("about: {}", sentence(about)));
        }
        self.section("settings", &[]);
        self.line(&format!("  testing: {}", list(modes(machine))));
    }

    fn roles(&mut self) {
        let (machine, cast) = (self.rows.machine, self.rows.cast);
        self.section("roles", &["No escalates_to: a person is asked."]);
        for role in &cast.roles {
            self.remark("  ", machine.agent(role).and_then(|agent| agent.about.as_deref()));
            if cast.only_named.contains(role) {
                self.line("  # Named as a next agent; it has no statuses of its own in the original.");
            }
            if cast.added.contains(role) {
                self.line("  # Not in the original; a workflow needs it.");
            }
            let mut keys = Vec::new();
            if *role == cast.validator {
                keys.push(("by", "interlock".to_owned()));
            }
            if cast.is_author(role) {
                keys.push(("is", "[author]".to_owned()));
            }
            if let Some(above) = cast.ladder.get(role) {
                keys.push(("escalates_to", name(above)));
            }
            let research = machine.research.as_ref().filter(|rule| rule.agent == *role);
            if let Some(count) = research.and_then(|rule| rule.max_parallel) {
                keys.push(("at_most", count.to_string()));
            }
            self.line(&format!("  {}: {}", name(role), map(keys)));
        }
    }

    fn groups(&mut self) {
        let (machine, cast) = (self.rows.machine, self.rows.cast);
        self.line("");
        self.line(&format!("begin: {{ spawn: {} }}", name(&cast.manager)));
        self.section("groups", &["Running groups count towards the limit; waiting ones start as others end."]);
        self.line(&format!("  at_most: {}", at_most(machine)));
        let mut flags = Vec::new();
        if machine.security.is_some() {
            flags.push(("security_sensitive", "[false, true]".to_owned()));
        }
        let research = machine.research.as_ref().filter(|rule| rule.agent != cast.starter);
        if has_kinds(machine, cast) {
            flags.push(("kind", "[code, research]".to_owned()));
        }
        if !flags.is_empty() {
            self.line("  # Said in the plan, group by group; nothing is guessed from a title.");
            self.line(&format!("  flags: {}", map(flags)));
        }
        self.line("  begin:");
        if let Some(rule) = research {
            self.remark("    ", rule.about.as_deref());
            self.line(&format!("    - {{ when: {{ kind: research }}, spawn: {} }}", name(&rule.agent)));
        }
        self.line(&format!("    - {{ spawn: {} }}", name(&cast.starter)));
        let ended = format!("{{ spawn: {}, with: [group_summaries, deferred_groups] }}", name(&cast.manager));
        self.line(&format!("  ended: {ended}"));
    }

    fn overrides(&mut self) {
        let (machine, cast) = (self.rows.machine, self.rows.cast);
        let mut lines = Vec::new();
        for mode in &machine.testing {
            for role in replaced(machine, mode).into_iter().filter(|role| *role != cast.validator) {
                let because = mode.about.clone().unwrap_or_else(|| format!("testing is {}", mode.mode));
                lines.push(stands_in(("testing", name(&mode.mode)), role, &mode.takes, &because));
            }
        }
        if let Some(rule) = &machine.security {
            let because = rule.about.clone().unwrap_or_else(|| format!("security work goes to {}", rule.agent));
            for role in cast.plain.iter().filter(|role| **role != rule.agent) {
                lines.push(stands_in(("security_sensitive", "true".to_owned()), role, &rule.agent, &because));
            }
        }
        if lines.is_empty() {
            return;
        }
        self.section("overrides", &["In this order, to every role that a route arrives at."]);
        for line in lines {
            self.line(&line);
        }
    }

    fn routes(&mut self) {
        let (machine, cast) = (self.rows.machine, self.rows.cast);
        self.section(
            "routes",
            &[
                "Every way that could be gone round is counted by a loop. `consult` was chosen where the status",
                "asks for help (the agent goes on afterwards), `spawn` where it hands its work over.",
            ],
        );
        for role in &cast.roles {
            let mut lines: Vec<(String, Vec<String>, RouteEntry)> = Vec::new();
            for (agent, row) in machine.rows().filter(|(agent, _)| agent.name == *role) {
                if let RowTarget::Routes(entry) = self.rows.home(agent, row) {
                    lines.push((row.status.clone(), row.note.iter().map(|note| comment(note)).collect(), *entry));
                }
            }
            for (status, why, entry) in self.rows.added(role) {
                let own = machine.rows().filter(|(agent, row)| agent.name == *role && row.status == ACCEPTANCE);
                let notes = own.filter(|_| status == ACCEPTANCE).filter_map(|(_, row)| row.note.as_deref());
                let comments = std::iter::once(why).chain(notes).map(comment).collect();
                lines.push((status.to_owned(), comments, entry));
            }
            if lines.is_empty() {
                continue;
            }
            self.line(&format!("  {}:", name(role)));
            let width = lines.iter().map(|(status, _, _)| name(status).chars().count()).max().unwrap_or(0).min(30);
            for (status, comments, entry) in lines {
                for comment in comments {
                    self.line(&format!("    {comment}"));
                }
                self.used.extend(entry.counted);
                let key = format!("{}:", name(&status));
                self.line(&format!("    {key:<pad$} {}", flow(&entry), pad = width.saturating_add(1)));
            }
        }
    }
}

fn stands_in(guard: (&str, String), instead_of: &str, takes: &str, because: &str) -> String {
    let keys = [
        ("when", map([guard])),
        ("instead_of", name(instead_of)),
        ("use", name(takes)),
        ("because", sentence(because)),
    ];
    format!("  - {}", map(keys))
}

/// An entry in one line.
fn flow(entry: &RouteEntry) -> String {
    let mut keys: Vec<(&str, String)> = Vec::new();
    keys.extend(entry.when.map(|(guard, value)| ("when", map([(guard, value.to_owned())]))));
    keys.push((entry.verb, name(&entry.target)));
    if let Some((verb, target)) = &entry.otherwise {
        keys.push(("otherwise", map([(*verb, name(target))])));
    }
    keys.extend(entry.counted.map(|counted| ("loop", counted.to_owned())));
    keys.extend(entry.passes.map(|pass| ("passes", list([pass]))));
    keys.extend(entry.require.map(|field| ("require", list([field]))));
    if entry.without_groups {
        keys.push(("without_groups", "true".to_owned()));
    }
    keys.extend(entry.model.as_ref().map(|model| ("model", name(model))));
    if !entry.with.is_empty() {
        keys.push(("with", list(&entry.with)));
    }
    keys.extend(entry.because.map(|because| ("because", sentence(because))));
    map(keys)
}
