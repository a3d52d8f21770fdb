//! `interlock gate`

use std::fs;
use std::time::Duration;

use clap::Args;
use interlock_core::code::Code;
use interlock_core::command::{Command, GateFinished};
use interlock_core::id::Name;
use interlock_core::rejection::Rejection;

use crate::checks::{self, Manner};
use crate::cli::place::Place;
use crate::cli::{Ending, examples};
use crate::decision;
use crate::engine::{GateRef, Live, Order, Task};
use crate::failure::{Exit, Failure};
use crate::git::Project;
use crate::output::{Output, Text, complain};
use crate::process::Control;
use crate::standing;

/// Run a gate that waits, on the files of the project as they are now (takes the spawner key)
///
/// For sessions that a client or a script drives; `interlock run` runs gates by itself. The commands are the workflow's, or
/// the plan's; nobody can say what came of them but Interlock. The result is bound to the exact files that they ran on.
#[derive(Args)]
#[command(after_help = examples!("interlock gate add-login-4f2k.g1"))]
pub(crate) struct Gate {
    #[arg(value_name = "GATE", value_parser = GateRef::parse)]
    gate: GateRef,
}

impl Gate {
    pub(crate) fn run(&self, output: Output, place: &Place) -> Ending {
        let GateRef { session, id } = &self.gate;
        let mut engine = place.engine()?;
        let (live, workflow) = engine.look(session)?;
        let Some(run) = live.state.gate_runs.get(id) else { return Err(no_such(&live, &self.gate)) };
        let gate = workflow.gates.iter().find(|gate| gate.name == run.gate);
        let timeout = gate.and_then(|gate| gate.timeout).map(|time| Duration::from_millis(time.milliseconds()));
        let commands = standing::gate_commands(run, &live, &workflow, &engine.feature_directory(session));
        let project = Project::of(&place.project()?)?;
        let scratch = place.folder()?.join(format!("gate-{}", std::process::id()));
        let finished = run_all(&project, &scratch, &commands, timeout, output);
        let _ = fs::remove_dir_all(&scratch);
        let (passed, tree, said) = finished?;
        let finished = GateFinished { run: *id, passed, tree, output: Name::from(said) };
        let task = Task::Simple(Command::GateFinished(finished));
        let done = engine.execute(&Order { session: session.clone(), task })?;
        decision::tell(output, &done)
    }
}

/// Runs the commands, the first that fails ends it; and holds the files against what they were.
fn run_all(
    project: &Project,
    scratch: &std::path::Path,
    commands: &[Vec<Name>],
    timeout: Option<Duration>,
    output: Output,
) -> Result<(bool, Name, String), Failure> {
    let before = project.tree_now(scratch)?;
    let mut said = String::new();
    let mut passed = true;
    for command in commands {
        if !output.json {
            let words: Vec<&str> = command.iter().map(Name::as_str).collect();
            let mut text = Text::default();
            text.line(format_args!("running {}", words.join(" ")));
            complain(&text);
        }
        let mark = format!("gate/{}", std::process::id());
        let manner = Manner { folder: &project.root, timeout, lock: None, mark, variables: &[] };
        let Some(outcome) = checks::run(command, &manner, &Control::new())? else { break };
        said.push_str(&outcome.output);
        passed = outcome.passed;
        if !passed {
            break;
        }
    }
    let after = project.tree_now(scratch)?;
    if before != after {
        let message = "the files have changed while the gate ran, so its result speaks for nothing";
        return Err(Failure::new(Exit::Refused, Code::GateMissing, message)
            .help("nothing was recorded; what the commands write belongs into .gitignore. Run the gate again"));
    }
    Ok((passed, Name::new(before.as_str()), said))
}

fn no_such(live: &Live, gate: &GateRef) -> Failure {
    let waiting = live.state.gate_runs.keys().map(|id| format!("{}.{id}", live.id)).collect();
    Rejection::new(Code::NoGateRun, format!("no gate run {gate} waits for a result")).allowed(waiting).into()
}
