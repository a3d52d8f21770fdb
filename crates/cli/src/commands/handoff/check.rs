use std::path::PathBuf;

use clap::{Args, ValueHint};
use interlock_core::handoff::{self, CheckedHandoff, ExpectedHandoff, ExtractedHandoff, KnownFields};
use interlock_core::problem::Problem;
use interlock_core::workflow::{AssignmentTask, Workflow};
use serde_json::Value;

use crate::commands::examples;
use crate::commands::values::ContextArg;
use interlock_app::diagnostics;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit, SourceTexts};
use interlock_app::handoff_check::{check_extracted, document, known_phase};
use interlock_app::input;
use interlock_app::library;
use interlock_app::output::{CommandOutput, print_diagnostics};
use interlock_system::clock;
use interlock_system::sanitise;
use interlock_system::text::{NAME, TerminalText};

/// Above what agents write in a long session.
const LARGEST_OUTPUT: u64 = 256 << 20;
const LARGEST_PROMPT: u64 = 16 << 20;

/// Find the handoff in an agent's output and check it
///
/// The output may be Markdown with a JSON block at its end, or JSON alone. Every problem is listed with its line. With a
/// workflow, a role and a phase, the handoff is held against what they ask for; without, against what all handoffs have.
/// An agent with an assignment may leave out `agent`, `output_type`, `timestamp`, `feature_directory`, `phase` and, where
/// no skill is mandatory, `skills_invoked`: `--filled` checks a handoff that way.
/// Exits with 0 if the handoff is valid and with 4 if it is not.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock handoff check output.md --workflow delivery-team --role developer"
    "interlock handoff check output.md --workflow mcp-wrapper --role tool-developer --phase implementation --json"
    "interlock handoff check output.md --workflow delivery-team --role developer --filled"
    "some-agent | interlock handoff check - --workflow feature --role frontend-developer --context direct"
))]
pub(crate) struct HandoffCheckCommand {
    /// What the agent wrote; `-` reads stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// The name of a built-in workflow, or a file
    #[arg(long, value_name = "NAME or FILE", value_hint = ValueHint::FilePath)]
    pub(crate) workflow: Option<String>,

    /// The role of the assignment; as the handoff says if absent
    #[arg(long)]
    pub(crate) role: Option<String>,

    /// The phase of the assignment, in a workflow with phases; as the handoff says if absent
    #[arg(long)]
    pub(crate) phase: Option<String>,

    /// How the agent was started; read from the prompt if absent
    #[arg(long, value_enum)]
    pub(crate) context: Option<ContextArg>,

    /// Check as for an assignment of the role: fields that Interlock fills in may be absent
    #[arg(long, requires_all = ["workflow", "role"])]
    pub(crate) filled: bool,

    /// The prompt that the agent was given: an output directory or an orchestrator named in it tells the context
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) prompt: Option<PathBuf>,
}

impl HandoffCheckCommand {
    pub(crate) fn run(&self, output: CommandOutput) -> CommandResult {
        let workflow = self.workflow.as_deref().map(library::runnable).transpose()?;
        if let (Some(workflow), Some(phase)) = (&workflow, &self.phase) {
            known_phase(workflow, phase)?;
        }
        let context = self.context()?;
        let bytes = input::bytes(&self.file, LARGEST_OUTPUT)?;
        let file = self.file.display().to_string();
        let (checked, extracted) = match handoff::extract(&file, &bytes) {
            Ok(extracted) => {
                let extracted = self.filled_in(workflow.as_ref(), extracted);
                let expect = ExpectedHandoff {
                    role: self.role.as_deref(),
                    phase: self.phase.as_deref(),
                    task: self.task(workflow.as_ref(), &extracted),
                    context,
                    groups: &[],
                };
                (check_extracted(workflow.as_ref(), &expect, &extracted), Some(extracted))
            }
            Err(problems) => (CheckedHandoff { handoff: None, status: None, problems, warnings: Vec::new() }, None),
        };
        let exit = if checked.is_valid() { CommandExit::Done } else { CommandExit::Invalid };
        if output.json {
            output.document(&document(&checked, extracted.as_ref()))?;
            return Ok(exit);
        }
        // A document can be a hundred megabytes, so it is copied only if it is not valid UTF-8.
        let text =
            String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let sources: SourceTexts = [(file, text)].into_iter().collect();
        let mut told: Vec<Problem> = checked.problems.iter().chain(&checked.warnings).cloned().collect();
        diagnostics::sort(&mut told);
        if !told.is_empty() {
            print_diagnostics(&diagnostics::problems(&told, &sources));
        }
        if exit == CommandExit::Done {
            output.text(&verdict(&checked))?;
        }
        Ok(exit)
    }

    /// With `--filled`, the handoff as a report for an assignment would complete it.
    fn filled_in(&self, workflow: Option<&Workflow>, extracted: ExtractedHandoff) -> ExtractedHandoff {
        let (true, Some(workflow), Some(role)) = (self.filled, workflow, self.role.as_deref()) else {
            return extracted;
        };
        let phases = self.phase.as_deref().map(|phase| workflow.phases_called(phase, role)).unwrap_or_default();
        let phase = phases.first().map(|phase| workflow.phase_name(*phase).as_str());
        let task = self.task(Some(workflow), &extracted);
        extracted.fill_in(workflow, &KnownFields { role, phase, task, now: clock::now(), directory: "." })
    }

    /// A status that only merges have is held against what merges ask for.
    fn task(&self, workflow: Option<&Workflow>, extracted: &ExtractedHandoff) -> AssignmentTask {
        let word = |key: &str| extracted.json.get(key).and_then(Value::as_str);
        let role = self.role.as_deref().or_else(|| word("agent")).unwrap_or_default();
        workflow.map_or(AssignmentTask::Work, |workflow| workflow.task_of(role, word("status").unwrap_or_default()))
    }

    /// The mode from the flag, or from the prompt. An agent that Interlock starts is orchestrated.
    fn context(&self) -> Result<handoff::OrchestrationMode, CommandError> {
        match (self.context, &self.prompt) {
            (Some(ContextArg::Orchestrated), _) | (None, None) => Ok(handoff::OrchestrationMode::Orchestrated),
            (Some(ContextArg::Direct), _) => Ok(handoff::OrchestrationMode::Direct),
            (None, Some(prompt)) => Ok(handoff::context_of_prompt(&input::text(prompt, LARGEST_PROMPT)?)),
        }
    }
}

fn verdict(checked: &CheckedHandoff) -> TerminalText {
    let mut text = TerminalText::default();
    text.push("valid");
    if let Some(status) = &checked.status {
        text.push(": ");
        text.paint(NAME, sanitise::line(status));
    }
    if !checked.warnings.is_empty() {
        let count = checked.warnings.len();
        text.put(format_args!(", with {count} warning{}", if count == 1 { "" } else { "s" }));
    }
    text.push("\n");
    text
}
