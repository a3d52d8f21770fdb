//! Reads `agents.yaml`: every problem at once, each with its place.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use interlock_core::code::Code;
use interlock_core::id::Name;
use interlock_core::problem::{Place, Problem};
use interlock_core::suggest;
use interlock_core::workflow;
use interlock_core::workflow::record::{Decode as _, PlacedValue};
use interlock_core::yaml;

use crate::AgentClient;
use crate::AgentSetup;
use crate::play;
use crate::team::doc::{AgentDoc, AllowanceDoc, PartDoc, TeamDoc};
use crate::team::{
    AgentTeam, BudgetLimit, CheckSettings, DefaultAnswer, DefaultReply, NotificationSettings, PrepareSettings,
    RetryPolicy, RoleAgent, TeamResult, WorkspaceRetention,
};
use interlock_system::process::ProcessLimits;

/// The file of a team, and its text.
pub struct TeamSource {
    pub name: String,
    pub text: String,
    /// The folder that paths in the file are relative to.
    pub folder: PathBuf,
}

impl TeamSource {
    /// A team of one client that plays every role.
    pub fn single(client: &str, folder: &Path) -> Self {
        let text = format!("agents: {{ {client}: {{ client: {client} }} }}\nroles: {{ any: {client} }}\n");
        Self { name: format!("--agents {client}"), text, folder: folder.to_owned() }
    }

    /// A program that the file names by a path of its own is where the file is, wherever it is started from.
    fn path(&self, program: &str) -> String {
        let is_relative = program.contains('/') && !program.starts_with(['/', '{']);
        let path = || self.folder.join(program).display().to_string();
        if is_relative { path() } else { program.to_owned() }
    }

    fn resolved(&self, line: &[String]) -> Vec<String> {
        let program = line.first().map(|program| self.path(program));
        program.into_iter().chain(line.iter().skip(1).cloned()).collect()
    }
}

pub fn open(source: &TeamSource) -> TeamResult {
    let mut problems = Vec::new();
    let doc =
        yaml::parse(&source.name, &source.text, &mut problems).and_then(|node| TeamDoc::decode(&node, &mut problems));
    let Some(doc) = doc else { return Err(problems) };
    let mut reader = TeamReader { source, problems, agents: BTreeMap::new(), unknown: Vec::new(), scripts: Vec::new() };
    reader.agents(&doc);
    let team = reader.team(&doc);
    if reader.problems.is_empty() { Ok(team) } else { Err(reader.problems) }
}

struct TeamReader<'a> {
    source: &'a TeamSource,
    problems: Vec<Problem>,
    agents: BTreeMap<Name, AgentDefinition>,
    /// Agents with an unknown client. Each is reported once, not for each role.
    unknown: Vec<Name>,
    /// Files that scripted agents play, and that commands of agents name.
    scripts: Vec<PathBuf>,
}

#[derive(Clone)]
struct AgentDefinition {
    client: &'static dyn AgentClient,
    setup: AgentSetup,
    structured: bool,
    tool: bool,
}

impl TeamReader<'_> {
    fn agents(&mut self, doc: &TeamDoc) {
        for (name, place, agent) in doc.agents.iter() {
            let Some(client) = self.client(agent) else {
                self.unknown.push(name.clone());
                continue;
            };
            let setup = self.setup(client, agent);
            for problem in client.check(&setup) {
                self.report(Code::BadAgent, place, format!("agent `{name}`: {problem}"));
            }
            let structured = agent.structured.as_ref().is_some_and(|at| at.value);
            if let Some(at) = agent.structured.as_ref().filter(|at| at.value && !client.takes_schemas()) {
                let message =
                    format!("agent `{name}`: the client `{}` cannot hold its model to a schema", agent.client.value);
                let problem = Problem::new(Code::BadAgent, message).help("leave `structured` out");
                self.problems.push(problem.at(at.place.clone()));
            }
            let by_file = self.choice(agent.handoff.as_ref(), &["tool", "file"]) == 1;
            let tool = client.takes_tools() && !by_file;
            self.agents.insert(name.clone(), AgentDefinition { client, setup, structured, tool });
        }
    }

    fn client(&mut self, agent: &AgentDoc) -> Option<&'static dyn AgentClient> {
        let wanted = agent.client.value.as_str();
        let found = if wanted == play::CLIENT { crate::client("command") } else { crate::client(wanted) };
        if found.is_none() {
            let known: Vec<&str> = crate::clients().iter().map(|client| client.name()).chain([play::CLIENT]).collect();
            let problem = Problem::new(Code::UnknownClient, format!("there is no client `{wanted}`"));
            let help = suggest::help(wanted, known.iter().copied());
            self.problems.push(problem.maybe_help(help).at(agent.client.place.clone()));
        }
        found
    }

    fn setup(&mut self, client: &dyn AgentClient, agent: &AgentDoc) -> AgentSetup {
        let command = match &agent.script {
            _ if agent.client.value == play::CLIENT => self.script(agent),
            Some(script) => {
                let message = format!("only the client `{}` has a script", play::CLIENT);
                self.report(Code::BadAgent, &script.place, message);
                Vec::new()
            }
            None => {
                let line = agent.command.as_ref().map(|line| self.source.resolved(&line.0)).unwrap_or_default();
                let files = line.iter().map(|word| self.source.folder.join(word)).filter(|path| path.is_file());
                self.scripts.extend(files);
                line
            }
        };
        let allowed = client.variables().iter().copied().chain(agent.env.iter().map(String::as_str));
        let mut environment = environment(allowed);
        environment.extend(agent.set.iter().map(|(name, _, value)| (name.to_string(), value.clone())));
        AgentSetup {
            program: agent.program.as_deref().map(|program| self.source.path(program)),
            model: agent.model.clone(),
            flags: agent.flags.clone(),
            environment,
            command,
        }
    }

    /// A scripted agent is this program, in a role of its own.
    fn script(&mut self, agent: &AgentDoc) -> Vec<String> {
        let script = agent.script.as_ref().map(|script| self.source.folder.join(script.value.as_str()));
        let found = script.or_else(|| play::find(&self.source.folder));
        match found {
            Some(path) if path.is_file() => {
                self.scripts.push(path.clone());
                play::command(Some(&path))
            }
            Some(path) => {
                let place = agent.script.as_ref().map_or(&agent.place, |script| &script.place);
                self.report(Code::BadAgent, place, format!("there is no script {}", path.display()));
                Vec::new()
            }
            None => play::command(None),
        }
    }

    fn team(&mut self, doc: &TeamDoc) -> AgentTeam {
        let mut parts = BTreeMap::new();
        for (role, _, part) in doc.roles.iter() {
            if let Some(part) = self.part(part) {
                parts.insert(role.clone(), part);
            }
        }
        let any = parts.remove("any");
        let budget = doc.budget.as_ref();
        let session_budget = self.allowance(budget.and_then(|budget| budget.session.as_ref()));
        let group_budget = self.allowance(budget.and_then(|budget| budget.group.as_ref()));
        let usual = self.allowance(budget.and_then(|budget| budget.role.as_ref()));
        let each = self.allowance(budget.and_then(|budget| budget.assignment.as_ref()));
        let with_budget =
            |part: RoleAgent| RoleAgent { budget: part.budget.or(usual), each: part.each.or(each), ..part };
        let named = doc.roles.iter().filter(|(role, _, _)| **role != "any");
        AgentTeam {
            source: (self.source.name.clone(), self.source.text.clone()),
            scripts: std::mem::take(&mut self.scripts),
            named: named.map(|(role, place, _)| PlacedValue { value: role.clone(), place: place.clone() }).collect(),
            parts: parts.into_iter().map(|(role, part)| (role, with_budget(part))).collect(),
            any: any.map(with_budget),
            parallel: self.positive(doc.parallel.as_ref()).unwrap_or(4),
            corrections: doc.corrections.as_ref().map_or(3, |at| at.value),
            retry: retry(doc),
            limits: limits(doc),
            session_budget,
            group_budget,
            merge_by_agent: self.choice(doc.merge.as_ref(), &["interlock", "agent"]) == 1,
            prepare: PrepareSettings::read(doc.prepare.as_ref(), &mut self.problems),
            checks: checks(doc),
            keep: match self.choice(doc.keep.as_ref(), &["failed", "never", "always"]) {
                1 => WorkspaceRetention::Never,
                2 => WorkspaceRetention::Always,
                _ => WorkspaceRetention::Failed,
            },
            notify: notify(doc, self.source),
            defaults: self.defaults(doc),
            folder: doc.folder.as_ref().map(|folder| PlacedValue {
                value: self.source.folder.join(folder.value.as_str()),
                place: folder.place.clone(),
            }),
        }
    }

    fn defaults(&mut self, doc: &TeamDoc) -> BTreeMap<Name, DefaultAnswer> {
        let mut defaults = BTreeMap::new();
        for (name, place, default) in doc.defaults.iter() {
            let answer = match (&default.option, &default.text) {
                (Some(option), None) => DefaultReply::Option(option.clone()),
                (None, Some(text)) if !text.value.trim().is_empty() => DefaultReply::Text(text.clone()),
                _ => {
                    let message = format!("the default of `{name}` takes either an `option` or a `text`");
                    self.problems.push(Problem::new(Code::BadAgent, message).at(place.clone()));
                    continue;
                }
            };
            defaults.insert(name.clone(), DefaultAnswer { after: length(default.after), answer, place: place.clone() });
        }
        defaults
    }

    fn part(&mut self, part: &PartDoc) -> Option<RoleAgent> {
        let name = &part.agent;
        if self.unknown.contains(&name.value) {
            return None;
        }
        let Some(agent) = self.agents.get(&name.value).cloned() else {
            let known: Vec<&str> = self.agents.keys().map(Name::as_str).collect();
            let problem = Problem::new(Code::UnknownAgent, format!("there is no agent `{}`", name.value));
            let help = suggest::help(&name.value, known.iter().copied());
            self.problems.push(problem.maybe_help(help).at(name.place.clone()));
            return None;
        };
        let AgentDefinition { client, mut setup, structured, tool } = agent;
        setup.model = part.model.clone().or(setup.model);
        Some(RoleAgent {
            agent: name.value.clone(),
            client,
            setup,
            structured,
            tool,
            deadline: part.deadline.map(length),
            budget: self.allowance(part.budget.as_ref()),
            each: self.allowance(part.each.as_ref()),
            parallel: self.positive(part.parallel.as_ref()),
        })
    }

    fn allowance(&mut self, doc: Option<&AllowanceDoc>) -> BudgetLimit {
        let Some(doc) = doc else { return BudgetLimit::default() };
        let cost = doc.cost.as_ref().and_then(|cost| {
            let parsed = cost.value.parse::<f64>().ok().filter(|cost| cost.is_finite() && *cost > 0.0);
            if parsed.is_none() {
                self.report(Code::WrongType, &cost.place, "`cost` is an amount of dollars above 0, such as 2.50");
            }
            parsed
        });
        let tokens = self.positive(doc.tokens.as_ref()).map(u64::from);
        BudgetLimit { cost, tokens, time: doc.time.map(length) }
    }

    fn positive(&mut self, number: Option<&PlacedValue<u32>>) -> Option<u32> {
        let at = number?;
        if at.value == 0 {
            self.report(Code::WrongType, &at.place, "this is at least 1");
            return None;
        }
        Some(at.value)
    }

    /// The index of the word; 0 if it is missing.
    fn choice(&mut self, word: Option<&PlacedValue<Name>>, words: &[&str]) -> usize {
        let Some(at) = word else { return 0 };
        words.iter().position(|word| at.value == **word).unwrap_or_else(|| {
            self.report(Code::WrongType, &at.place, format!("this is one of {}", words.join(", ")));
            0
        })
    }

    fn report(&mut self, code: Code, place: &Place, message: impl Into<String>) {
        self.problems.push(Problem::new(code, message).at(place.clone()));
    }
}

fn retry(doc: &TeamDoc) -> RetryPolicy {
    let retry = doc.retry.as_ref();
    RetryPolicy {
        tries: retry.and_then(|retry| retry.tries.as_ref()).map_or(20, |at| at.value),
        first: retry.and_then(|retry| retry.first).map_or(Duration::from_secs(2), length),
        longest: retry.and_then(|retry| retry.longest).map_or(Duration::from_secs(120), length),
    }
}

fn limits(doc: &TeamDoc) -> ProcessLimits {
    let usual = ProcessLimits { time: Some(Duration::from_secs(2 * 3600)), ..ProcessLimits::default() };
    let Some(limits) = &doc.limits else { return usual };
    ProcessLimits {
        time: limits.time.map(length).or(usual.time),
        silence: limits.silence.map(length),
        output: limits.output.as_ref().map_or(usual.output, |at| u64::from(at.value) << 20),
        grace: limits.grace.map_or(usual.grace, length),
        ..usual
    }
}

fn checks(doc: &TeamDoc) -> CheckSettings {
    let checks = doc.checks.as_ref();
    CheckSettings {
        env: checks.map(|checks| checks.env.clone()).unwrap_or_default(),
        by_plan: checks.and_then(|checks| checks.plan).unwrap_or(true),
    }
}

fn notify(doc: &TeamDoc, source: &TeamSource) -> NotificationSettings {
    let Some(notify) = &doc.notify else { return NotificationSettings::default() };
    NotificationSettings {
        desktop: notify.desktop,
        command: notify.command.as_ref().map(|line| source.resolved(&line.0)),
        webhook_env: notify.webhook_env.as_ref().map(|at| at.value.clone()),
    }
}

fn length(duration: workflow::Duration) -> Duration {
    Duration::from_millis(duration.milliseconds())
}

/// The variables of this program's environment that a list of names lets through. Its own secrets are never included.
pub fn environment<'a>(allowed: impl Iterator<Item = &'a str>) -> BTreeMap<String, String> {
    let names: Vec<&str> = allowed.collect();
    let all = env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    all.filter(|(name, _)| crate::lets_through(&names, name)).collect()
}
