//! `interlock gate`

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use interlock_core::code::Code;
use interlock_core::command::{Command, GateFinished};
use interlock_core::id::Name;
use interlock_core::rejection::Rejection;

use crate::commands::{examples, run};
use interlock_agents::team::AgentTeam;
use interlock_app::context::AppContext;
use interlock_app::decision;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::output::{CommandOutput, print_diagnostics};
use interlock_engine::{Engine, GateRef, LoadedSession, Operation, Request};
use interlock_runner::gates::{
    self, CheckRoom, CheckSubject, GateCommand, GateOutcome, GateSession, ObjectsOf, PassedCommands, PlainProject,
};
use interlock_runner::git::ProjectRepo;
use interlock_system::process::ProcessControl;
use interlock_system::text::TerminalText;

/// Most uncommitted files that the record names.
const MOST_NAMED: usize = 20;

/// Run a gate that waits, in a clean checkout of the project's files as they are now (takes the spawner key)
///
/// For sessions that a client or a script drives; `interlock run` runs gates by itself. The commands come from the workflow
/// or from the plan. Interlock runs them in a checkout of exactly one tree: every file that git does not ignore, committed or
/// not, and what `prepare` of the agents file makes. The result counts for that tree only, and names the uncommitted files.
/// Commands that have passed on the same tree are not repeated.
#[derive(Args)]
#[command(after_help = examples!("interlock gate add-login-4f2k.g1"))]
pub(crate) struct GateRunCommand {
    #[arg(value_name = "GATE", value_parser = GateRef::parse)]
    gate: GateRef,
}

impl GateRunCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let GateRef { session, id } = &self.gate;
        let mut engine = place.engine()?;
        let (live, workflow) = engine.load_session(session)?;
        let Some(awaited) = live.state.gate_runs.get(id) else { return Err(no_such(&live, &self.gate)) };
        let feature_directory = engine.feature_directory(session);
        let gate_session = GateSession { id: session, feature_directory: &feature_directory };
        let commands = gates::commands_of_run(awaited, &live.state, &workflow, gate_session);
        let (tree, mut result) = check_by_hand(&mut engine, place, session, &commands, output)?;
        result.checkout.failed = gates::blamed_gate(awaited, result.failed.as_ref());
        let GateOutcome { passed, output: said, checkout, .. } = result;
        let finished = GateFinished { run: *id, passed, tree, output: Name::from(said), checkout };
        let task = Operation::Simple(Command::GateFinished(finished));
        let done = engine.execute(&Request { session: session.clone(), task })?;
        decision::print_committed(output, &done)
    }
}

/// Runs the commands on the files of the project as they are now, and names those files by their tree.
fn check_by_hand(
    engine: &mut Engine,
    place: &AppContext,
    session: &Name,
    commands: &[GateCommand],
    output: CommandOutput,
) -> Result<(Name, GateOutcome), CommandError> {
    let folder = place.project()?;
    let mark = format!("gate/{}", std::process::id());
    let begins = |line: &str| {
        if !output.json {
            let mut text = TerminalText::default();
            text.line(format_args!("running {line}"));
            print_diagnostics(&text);
        }
    };
    let team = run::team_if_any(&folder)?;
    let passed = PassedCommands::default();
    passed.learn(&engine.load_history(session)?);
    let prepare = team.as_ref().map(|team| team.prepare.clone()).unwrap_or_default();
    let variables = team.as_ref().map(|team| team.checks.env.clone()).unwrap_or_default();
    let room = CheckRoom {
        root: checkouts(place, team.as_ref(), session)?,
        prepare: &prepare,
        variables: &variables,
        lock: None,
        mark,
        key: engine.checkout_key(session),
        passed: &passed,
    };
    let store = std::path::absolute(place.folder()?).unwrap_or_default();
    if !folder.ancestors().any(has_repository) {
        let project = PlainProject { folder: &folder, store: &store };
        return room.check_copy(&project, commands, &ProcessControl::new(), &begins)?.ok_or_else(stopped);
    }
    let project = ProjectRepo::of(&folder)?;
    let scratch = store.join(format!("gate-{}", std::process::id()));
    let result = check_project(&project, &scratch, &room, commands, &begins);
    let _ = fs::remove_dir_all(&scratch);
    result
}

/// An empty `.git`, which a client that was killed may leave above the project, is no repository. Git passes over it too.
fn has_repository(folder: &Path) -> bool {
    let git = folder.join(".git");
    git.is_file() || git.join("HEAD").exists()
}

fn check_project(
    project: &ProjectRepo,
    scratch: &Path,
    room: &CheckRoom<'_>,
    commands: &[GateCommand],
    begins: &dyn Fn(&str),
) -> Result<(Name, GateOutcome), CommandError> {
    let uncommitted = project.uncommitted_files()?;
    let tree = project.tree_now(scratch)?;
    let objects = scratch.join("objects");
    let (head, objects) = (project.head_if_any(), ObjectsOf::Project(&objects));
    let subject = CheckSubject { tree: &tree, commit: head.as_ref(), project, objects, keeps_caches: true };
    let mut result = room.check(&subject, commands, &ProcessControl::new(), begins)?.ok_or_else(stopped)?;
    result.checkout.uncommitted_count = u64::try_from(uncommitted.len()).unwrap_or(u64::MAX);
    result.checkout.uncommitted = uncommitted.into_iter().take(MOST_NAMED).map(Name::from).collect();
    Ok((Name::new(tree.as_str()), result))
}

fn stopped() -> CommandError {
    CommandError::new(CommandExit::Unavailable, Code::RunStopped, "the gate was stopped before its end")
}

fn checkouts(place: &AppContext, team: Option<&AgentTeam>, session: &Name) -> Result<PathBuf, CommandError> {
    Ok(interlock_runner::checkouts(&run::root(place, team, session)?))
}

fn no_such(live: &LoadedSession, gate: &GateRef) -> CommandError {
    let waiting = live.state.gate_runs.keys().map(|id| format!("{}.{id}", live.id)).collect();
    Rejection::new(Code::NoGateRun, format!("no gate run {gate} waits for a result")).allowed(waiting).into()
}
