//! The groups that a plan brings.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::code::Code;
use crate::handoff::PlannedGroup;
use crate::handoff::check::ExpectedHandoff;
use crate::handoff::check::reader::{HandoffReader, scalar};
use crate::id::Name;
use crate::naming;
use crate::problem::Problem;
use crate::workflow::{GuardSource, Workflow};

const MOST_GROUPS: usize = 1000;
/// Characters that only a shell would interpret.
const SHELL: &[char] = &['"', '\'', '`', '$', '|', '&', ';', '<', '>', '(', ')', '*', '?', '\\', '#', '~'];

impl HandoffReader<'_> {
    pub(super) fn plan(
        &mut self,
        workflow: Option<&Workflow>,
        expect: &ExpectedHandoff<'_>,
    ) -> Option<Vec<PlannedGroup>> {
        let objects = self.objects("groups")?;
        if objects.len() > MOST_GROUPS {
            let message = format!("{} groups are more than the {MOST_GROUPS} that a plan can have", objects.len());
            self.wrong(Code::BadPlan, "groups", message);
            return None;
        }
        let mut groups: Vec<PlannedGroup> = Vec::new();
        let mut paths: Vec<String> = Vec::new();
        let mut ids: BTreeSet<Name> = BTreeSet::new();
        let mut keys: BTreeMap<String, Name> = BTreeMap::new();
        for (path, object) in objects {
            let id = self.member(Code::BadPlan, object, &path, "id").map(str::trim).map(Name::new);
            let title = self.member(Code::BadPlan, object, &path, "title");
            if let Some(id) = &id {
                ids.insert(id.clone());
                self.group_id(id, &path, keys.insert(naming::group_key(id), id.clone()));
            }
            if let Some(problem) = title.and_then(naming::check_title) {
                self.problem(problem, &format!("{path}.title"));
            }
            let flags = self.flags(workflow, object, &path);
            let depends_on = self.dependencies(object, &path);
            let checks = self.checks(object, &path);
            if let (Some(id), Some(title)) = (id, title) {
                groups.push(PlannedGroup { id, title: Name::new(title), flags, depends_on, checks });
                paths.push(path);
            }
        }
        for (group, path) in groups.iter().zip(&paths) {
            for dependency in &group.depends_on {
                let known = ids.contains(dependency) || expect.groups.contains(dependency);
                if !known || *dependency == group.id {
                    let message = format!("`{}` depends on `{dependency}`, which is no other group", group.id);
                    self.wrong(Code::BadPlan, &format!("{path}.depends_on"), message);
                }
            }
        }
        if let Some(problem) = circle(&groups) {
            self.problem(problem, "groups");
        }
        Some(groups)
    }

    fn group_id(&mut self, id: &str, path: &str, taken_by: Option<Name>) {
        let path = format!("{path}.id");
        if let Some(problem) = naming::check_group_id(id) {
            self.problem(problem, &path);
        }
        match taken_by {
            Some(other) if other == id => {
                self.wrong(Code::RepeatedId, &path, format!("`{id}` is the id of another group"));
            }
            Some(other) => {
                let message =
                    format!("`{id}` and `{other}` differ only in case; ids must differ without regard to case");
                self.wrong(Code::RepeatedId, &path, message);
            }
            None => {}
        }
    }

    fn flags(&mut self, workflow: Option<&Workflow>, object: &Json, path: &str) -> BTreeMap<Name, Name> {
        let mut flags = BTreeMap::new();
        let guards = workflow.map_or(&[][..], |workflow| workflow.guards.as_slice());
        for guard in guards.iter().filter(|guard| guard.source == GuardSource::Flag) {
            let field = format!("{path}.{}", guard.name);
            let value = object.get(guard.name.as_str()).filter(|value| !value.is_null());
            let known = value.and_then(scalar).filter(|text| guard.values.iter().any(|known| known == text.as_str()));
            match (value, known) {
                (_, Some(text)) => {
                    flags.insert(guard.name.clone(), Name::from(text));
                }
                (None, None) if !guard.required => {}
                (Some(_) | None, None) => {
                    let values: Vec<&str> = guard.values.iter().map(Name::as_str).collect();
                    let message = format!("`{}` is one of {}", guard.name, values.join(", "));
                    self.problem(Problem::new(Code::BadPlan, message), &field);
                }
            }
        }
        flags
    }

    fn dependencies(&mut self, object: &Json, path: &str) -> Vec<Name> {
        let Some(value) = object.get("depends_on").filter(|value| !value.is_null()) else { return Vec::new() };
        let texts: Option<Vec<Name>> =
            value.as_array().and_then(|items| items.iter().map(|item| item.as_str().map(Name::new)).collect());
        texts.unwrap_or_else(|| {
            self.wrong(Code::BadPlan, &format!("{path}.depends_on"), "`depends_on` is a list of group ids");
            Vec::new()
        })
    }

    /// Commands: a list of words, or one text without anything that only a shell understands.
    fn checks(&mut self, object: &Json, path: &str) -> Vec<Vec<Name>> {
        let Some(value) = object.get("checks").filter(|value| !value.is_null()) else { return Vec::new() };
        let path = format!("{path}.checks");
        let Some(items) = value.as_array() else {
            self.wrong(Code::BadPlan, &path, "`checks` is a list of commands");
            return Vec::new();
        };
        let mut commands = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match command(item) {
                Some(words) => commands.push(words),
                None => {
                    let help = "write it as a list: [\"sh\", \"-c\", \"…\"] if a shell is meant";
                    let message = "a check is a program and its arguments; it is not run by a shell";
                    let problem = Problem::new(Code::BadPlan, message).help(help);
                    self.problem(problem, &format!("{path}[{index}]"));
                }
            }
        }
        commands
    }
}

/// Groups that wait for each other would never start.
pub(crate) fn circle(groups: &[PlannedGroup]) -> Option<Problem> {
    let index: BTreeMap<&Name, usize> = groups.iter().enumerate().map(|(at, group)| (&group.id, at)).collect();
    let mut waits_for: Vec<usize> = Vec::new();
    let mut waited_on: Vec<Vec<usize>> = vec![Vec::new(); groups.len()];
    for (at, group) in groups.iter().enumerate() {
        let named = group.depends_on.iter().filter_map(|name| index.get(name).copied());
        let others: BTreeSet<usize> = named.filter(|other| *other != at).collect();
        waits_for.push(others.len());
        for other in others {
            if let Some(list) = waited_on.get_mut(other) {
                list.push(at);
            }
        }
    }
    let mut free: Vec<usize> = (0..groups.len()).filter(|at| waits_for.get(*at) == Some(&0)).collect();
    while let Some(done) = free.pop() {
        for at in waited_on.get(done).into_iter().flatten() {
            if let Some(count) = waits_for.get_mut(*at) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    free.push(*at);
                }
            }
        }
    }
    let stuck = groups.iter().zip(&waits_for).filter(|(_, count)| **count > 0).map(|(group, _)| group.id.as_str());
    let stuck: Vec<&str> = stuck.take(10).collect();
    let message = format!("these groups depend on each other in a circle: {}", stuck.join(", "));
    (!stuck.is_empty()).then(|| Problem::new(Code::BadPlan, message).field("groups"))
}

fn command(item: &Json) -> Option<Vec<Name>> {
    let words: Vec<Name> = match item {
        Json::String(text) if text.contains(SHELL) => return None,
        Json::String(text) => text.split_whitespace().map(Name::new).collect(),
        Json::Array(words) => words.iter().map(|word| word.as_str().map(Name::new)).collect::<Option<_>>()?,
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => return None,
    };
    let program = words.first().is_some_and(|program| !program.trim().is_empty());
    (program && words.iter().all(|word| !word.contains('\0'))).then_some(words)
}
