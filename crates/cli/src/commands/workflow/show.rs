use clap::{Args, ValueHint};
use interlock_core::id::Name;
use interlock_core::workflow::{Guard, LoadedWorkflow, Role, Workflow};
use serde_json::{Map, Value as Json, json};

use crate::commands::examples;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::library;
use interlock_app::output::CommandOutput;
use interlock_system::text::{HEADING, NAME, TerminalText};

/// Show a workflow: the file, or what it was compiled to
///
/// Without options, the file as it is written, ready to be kept and edited. With `--compiled`, what the file and all
/// that it extends come to: the names that `when` can test, the roles with their statuses, and the rules in the order
/// in which they are tried, each with the id that decisions cite and its place.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock workflow show delivery-team > interlock.yaml"
    "interlock workflow show feature --compiled"
    "interlock workflow show mine.yaml --json | jq '.rules[].id'"
))]
pub(crate) struct WorkflowShowCommand {
    /// The name of a built-in workflow, or a file
    #[arg(value_name = "NAME or FILE", value_hint = ValueHint::FilePath)]
    workflow: String,

    /// Show what the workflow was compiled to
    #[arg(long)]
    compiled: bool,
}

impl WorkflowShowCommand {
    pub(crate) fn run(&self, output: CommandOutput) -> CommandResult {
        let mut loaded = library::open(&self.workflow)?;
        let (file, source) = loaded.sources.first().cloned().unwrap_or_default();
        let workflow = match loaded.workflow.take() {
            Some(workflow) => workflow,
            None if self.compiled || output.json => {
                return Err(CommandError::invalid(loaded.problems, loaded.sources.into_iter().collect()));
            }
            // The file can be shown whatever is wrong with it.
            None => return output.data(&source).map(|()| CommandExit::Done),
        };
        if output.json {
            output.document(&document(&workflow, &loaded, &file, &source))?;
        } else if self.compiled {
            output.text(&compiled(&workflow))?;
        } else {
            output.data(&source)?;
        }
        Ok(CommandExit::Done)
    }
}

fn document(workflow: &Workflow, loaded: &LoadedWorkflow, file: &str, source: &str) -> Json {
    let guards = workflow.guards.iter().map(|guard| {
        json!({ "name": guard.name, "source": guard.source, "values": guard.values, "required": guard.required })
    });
    let roles = workflow.roles.iter().map(|role| {
        json!({
            "name": role.name,
            "about": role.about,
            "is": role.classes,
            "escalates_to": above(workflow, role),
            "at_most": role.at_most,
            "by_interlock": role.by_interlock,
            "statuses": guide(workflow, role).iter().map(|(status, _)| status).collect::<Vec<_>>(),
            "means": means(workflow, role),
        })
    });
    let rules = workflow.rules.iter().map(|rule| json!({ "id": rule.id, "at": rule.place }));
    json!({
        "name": workflow.name,
        "about": workflow.about,
        "hash": workflow.hash,
        "abstract": loaded.is_abstract,
        "file": file,
        "guards": guards.collect::<Vec<_>>(),
        "roles": roles.collect::<Vec<_>>(),
        "phases": workflow.phases.iter().map(|phase| &phase.name).collect::<Vec<_>>(),
        "loops": workflow.loops.iter().map(|item| &item.name).collect::<Vec<_>>(),
        "gates": workflow.gates.iter().map(|gate| &gate.name).collect::<Vec<_>>(),
        "questions": workflow.questions.iter().map(|question| &question.name).collect::<Vec<_>>(),
        "rules": rules.collect::<Vec<_>>(),
        "text": source,
    })
}

fn compiled(workflow: &Workflow) -> TerminalText {
    let mut text = TerminalText::default();
    text.paint(HEADING, &workflow.name);
    text.push("\n");
    for line in workflow.about.as_deref().unwrap_or_default().lines() {
        text.line(line);
    }
    text.line(format_args!("hash {}", workflow.hash));
    section(&mut text, "Names that `when` can test", &workflow.guards, |text, guard: &Guard| {
        let values: Vec<&str> = guard.values.iter().map(|value| &**value).collect();
        let source = format!("{:?}", guard.source).to_lowercase();
        row(text, &guard.name, &format!(" ({source}): {}", values.join(", ")));
    });
    section(&mut text, "Roles", &workflow.roles, |text, role: &Role| {
        let above = if role.by_interlock { "played by Interlock" } else { above(workflow, role) };
        let classes = role.classes.iter().map(|class| format!("{class}, ")).collect::<String>();
        row(text, &role.name, &format!(" ({classes}{}{above})", if role.by_interlock { "" } else { "then " }));
        for (status, means) in guide(workflow, role) {
            let means = means.map(|means| format!(": {means}")).unwrap_or_default();
            row(text, "", &format!("    {status}{means}"));
        }
    });
    section(&mut text, "Phases", &workflow.phases, |text, phase| row(text, &phase.name, ""));
    section(&mut text, "Loops", &workflow.loops, |text, item| {
        let stuck = item.limit.no_progress.map(|count| format!(", or no progress for {count}")).unwrap_or_default();
        row(text, &item.name, &format!(": escalates at iteration {}{stuck}", item.limit.iteration));
    });
    section(&mut text, "Gates", &workflow.gates, |text, gate| row(text, &gate.name, ""));
    section(&mut text, "Questions", &workflow.questions, |text, question| {
        let free = question.free.map(|_| "free text");
        let options: Vec<&str> = question.options.iter().map(|(option, _)| &**option).chain(free).collect();
        row(text, &question.name, &format!(": {}", options.join(", ")));
    });
    section(&mut text, "Rules, in the order in which they are tried", &workflow.rules, |text, rule| {
        row(text, &rule.id, &format!("  {}:{}", rule.place.file, rule.place.line));
    });
    text
}

fn section<T>(text: &mut TerminalText, title: &str, items: &[T], one: impl Fn(&mut TerminalText, &T)) {
    if items.is_empty() {
        return;
    }
    text.push("\n");
    text.paint(HEADING, title);
    text.push("\n");
    for item in items {
        text.push("  ");
        one(text, item);
    }
}

fn row(text: &mut TerminalText, name: &str, rest: &str) {
    if !name.is_empty() {
        text.paint(NAME, name);
    }
    text.line(format_args!("{rest}"));
}

/// The role that stuck work of this role escalates to.
fn above<'w>(workflow: &'w Workflow, role: &Role) -> &'w str {
    role.escalates_to.map_or("user", |rung| &workflow.role(rung).name)
}

/// The statuses of a role with their meanings, the usual one first.
fn guide(workflow: &Workflow, role: &Role) -> Vec<(Name, Option<Name>)> {
    workflow.role_named(&role.name).map(|ix| workflow.status_meanings(ix)).unwrap_or_default()
}

fn means(workflow: &Workflow, role: &Role) -> Map<String, Json> {
    let noted =
        guide(workflow, role).into_iter().filter_map(|(status, means)| Some((status.to_string(), json!(means?))));
    noted.collect()
}
