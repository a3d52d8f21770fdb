use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use interlock_core::handoff::{self, Checked, Expect, Extracted};
use interlock_core::problem::Problem;
use interlock_core::workflow::{Task, Workflow};
use serde_json::{Value, json};

use crate::cli::values::Context;
use crate::cli::{Ending, examples};
use crate::failure::{Exit, Failure, Sources};
use crate::output::{NAME, Output, Text, complain};
use crate::{input, library, report};

/// Above what agents write in a long session.
const LARGEST_OUTPUT: u64 = 256 << 20;
const LARGEST_PROMPT: u64 = 16 << 20;

/// Find the handoff in an agent's output and check it
///
/// The output may be Markdown with a JSON block at its end, or JSON alone. Every problem is listed with its line. With a
/// workflow, a role and a phase, the handoff is held against what they ask for; without, against what all handoffs have.
/// Exits with 0 if the handoff is valid and with 4 if it is not.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock handoff check output.md --workflow delivery-team --role developer"
    "interlock handoff check output.md --workflow mcp-wrapper --role tool-developer --phase implementation --json"
    "some-agent | interlock handoff check - --workflow feature --role frontend-developer --context direct"
))]
pub(crate) struct Check {
    /// What the agent wrote; `-` reads stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// The name of a built-in workflow, or a file
    #[arg(long, value_name = "NAME or FILE", value_hint = ValueHint::FilePath)]
    pub(crate) workflow: Option<String>,

    /// The role of the assignment; as the handoff says if absent
    #[arg(long)]
    pub(crate) role: Option<String>,

    /// The phase of the assignment, in a workflow with phases
    #[arg(long)]
    pub(crate) phase: Option<String>,

    /// How the agent was started; read from the prompt if absent
    #[arg(long, value_enum)]
    pub(crate) context: Option<Context>,

    /// The prompt that the agent was given: an output directory or an orchestrator named in it tells the context
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) prompt: Option<PathBuf>,
}

impl Check {
    pub(crate) fn run(&self, output: Output) -> Ending {
        let workflow = self.workflow.as_deref().map(library::runnable).transpose()?;
        if let (Some(workflow), Some(phase)) = (&workflow, &self.phase) {
            known_phase(workflow, phase)?;
        }
        let context = self.context()?;
        let bytes = input::bytes(&self.file, LARGEST_OUTPUT)?;
        let file = self.file.display().to_string();
        let (checked, extracted) = match handoff::extract(&file, &bytes) {
            Ok(extracted) => {
                let expect = Expect {
                    role: self.role.as_deref(),
                    phase: self.phase.as_deref(),
                    task: self.task(workflow.as_ref(), &extracted),
                    context,
                    groups: &[],
                };
                (handoff::check(workflow.as_ref(), &expect, &extracted), Some(extracted))
            }
            Err(problems) => (Checked { handoff: None, status: None, problems, warnings: Vec::new() }, None),
        };
        let exit = if checked.is_valid() { Exit::Done } else { Exit::Invalid };
        if output.json {
            output.document(&document(&checked, extracted.as_ref()))?;
            return Ok(exit);
        }
        let sources: Sources = [(file, String::from_utf8_lossy(&bytes).into_owned())].into_iter().collect();
        let mut told: Vec<Problem> = checked.problems.iter().chain(&checked.warnings).cloned().collect();
        report::sort(&mut told);
        if !told.is_empty() {
            complain(&report::problems(&told, &sources));
        }
        if exit == Exit::Done {
            output.text(&verdict(&checked))?;
        }
        Ok(exit)
    }

    /// A status that only merges have is held against what merges ask for.
    fn task(&self, workflow: Option<&Workflow>, extracted: &Extracted) -> Task {
        let word = |key: &str| extracted.json.get(key).and_then(Value::as_str);
        let role = self.role.as_deref().or_else(|| word("agent")).unwrap_or_default();
        workflow.map_or(Task::Work, |workflow| workflow.task_of(role, word("status").unwrap_or_default()))
    }

    /// As told, or as the prompt shows; an agent that Interlock starts is orchestrated.
    fn context(&self) -> Result<handoff::Context, Failure> {
        match (self.context, &self.prompt) {
            (Some(Context::Orchestrated), _) | (None, None) => Ok(handoff::Context::Orchestrated),
            (Some(Context::Direct), _) => Ok(handoff::Context::Direct),
            (None, Some(prompt)) => Ok(handoff::context_of_prompt(&input::text(prompt, LARGEST_PROMPT)?)),
        }
    }
}

pub(crate) fn known_phase(workflow: &Workflow, phase: &str) -> Result<(), Failure> {
    if workflow.phase_named(phase).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = workflow.phases.iter().map(|phase| phase.name.as_str()).collect();
    let message = format!("`{}` has no phase `{phase}`", workflow.name);
    Err(Failure::new(Exit::Invalid, interlock_core::code::Code::UnknownPhase, message)
        .maybe_help(interlock_core::suggest::help(phase, names)))
}

pub(crate) fn document(checked: &Checked, extracted: Option<&Extracted>) -> Value {
    let list = |problems: &[Problem]| -> Vec<Value> {
        problems
            .iter()
            .map(|problem| {
                json!({
                    "code": problem.code,
                    "message": problem.message,
                    "help": problem.help,
                    "field": problem.field,
                    "at": problem.at.as_ref().map(|at| json!({ "line": at.line, "column": at.column })),
                })
            })
            .collect()
    };
    json!({
        "valid": checked.is_valid(),
        "status": checked.status,
        "handoff": extracted.map(|extracted| &*extracted.json),
        "problems": list(&checked.problems),
        "warnings": list(&checked.warnings),
    })
}

fn verdict(checked: &Checked) -> Text {
    let mut text = Text::default();
    text.push("valid");
    if let Some(status) = &checked.status {
        text.push(": ");
        text.paint(NAME, status);
    }
    if !checked.warnings.is_empty() {
        let count = checked.warnings.len();
        // Writing to memory cannot fail.
        let _ = write!(text, ", with {count} warning{}", if count == 1 { "" } else { "s" });
    }
    text.push("\n");
    text
}
