//! `interlock run`: drives a session to its end with real agents.
//!
//! One thread is the scheduler: it reads the state of the session, starts the work that may start, and informs
//! people. Each piece of work (a turn of an agent, a merge, a gate) has a thread of its own that ends with one
//! decision through the group commit. The scheduler reads all that it knows from the store, so it can be killed at
//! any point and started again.

mod budget;
pub mod check_command;
mod checks;
mod conflicts;
mod finish;
mod gate;
pub mod gates;
pub mod git;
mod line_editor;
mod merge;
mod notify;
mod observe;
mod other_groups;
mod questions;
mod run_context;
mod run_report;
mod scheduler;
pub mod scope;
mod terminal;
mod tui;
mod turn;
mod turn_workspace;
mod user_refs;
mod workspaces;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use interlock_core::code::Code;
use interlock_core::id::Name;
use interlock_core::workflow::Workflow;

use crate::git::{ProjectRepo, RegisterKey};
use budget::BudgetLedger;
use interlock_agents::team::AgentTeam;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::output::CommandOutput;
use interlock_engine::{CommandQueue, Engine};
use interlock_system::clock;
use interlock_system::process;
use run_context::RunContext;
use scheduler::Scheduler;
use tui::RunView;
use workspaces::SessionWorkspaces;

pub use finish::{RunOutcome, is_handed_over};
pub use workspaces::checkouts;

/// How long the agents of a run that was killed may take to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// The inputs of a run.
pub struct SessionRun {
    pub session: Name,
    pub workflow: Arc<Workflow>,
    pub team: AgentTeam,
    /// Warnings that people should see.
    pub doubts: Vec<String>,
    /// To decide with, and to look with.
    pub engines: (Engine, Engine),
    pub project: ProjectRepo,
    /// The session's own folder.
    pub root: PathBuf,
    pub parallel: u32,
    /// A file that is there while nothing new may start.
    pub paused: PathBuf,
    /// Wait for people; else the run ends when only they can go on.
    pub wait: bool,
    pub output: CommandOutput,
}

impl SessionRun {
    pub fn drive(self) -> Result<RunOutcome, CommandError> {
        fs::create_dir_all(&self.root).map_err(|error| unusable(&self.root, &error))?;
        let held = hold(&self.root, &self.session)?;
        let family = format!("{}/", self.root.display());
        settle_the_last_run(&self.root, &family)?;
        // Without it, processes that a killed supervisor leaves behind would become children of the system's first
        // process.
        process::become_subreaper().map_err(|error| unusable(&self.root, &error))?;
        process::own_no_others();
        let mark = format!("{family}{}", clock::suffix(12));
        git::set_mark(format!("{mark}/git"));
        let (deciding, mut looking) = self.engines;
        if let Some(ended) = finish::catch_up(&mut looking, &self.session, &self.root)? {
            return Ok(ended);
        }
        let desk = CommandQueue::open(deciding)?;
        let Some(caller) = desk.caller() else {
            return Err(CommandError::new(CommandExit::Bug, Code::Bug, "the desk is closed before anybody came"));
        };
        let key = RegisterKey::new(looking.register_key(&self.session));
        let sources = sources(&mut looking, &self.workflow)?;
        let scripts = self.team.scripts.iter().map(|path| (path.display().to_string(), String::new()));
        let own: Vec<(String, String)> =
            sources.iter().cloned().chain([self.team.source.clone()]).chain(scripts).collect();
        let checks = checks::RunChecks { passed: Default::default(), key: looking.checkout_key(&self.session) };
        let crew = Arc::new(RunContext {
            observer: observe::ChangeObserver::new(&self.workflow, &own, &self.team.prepare.run, &self.project.root),
            site: SessionWorkspaces::open(&self.root, &self.session, self.project, key)?,
            purse: BudgetLedger::open(&self.root.join("spent.jsonl")),
            checks,
            cut_short: std::sync::Mutex::default(),
            told: std::sync::atomic::AtomicBool::default(),
            feature_directory: looking.feature_directory(&self.session),
            session: self.session,
            sources,
            workflow: self.workflow,
            team: self.team,
            desk: caller,
            lock: self.root.join("agents.lock"),
            paused: self.paused,
            waits: self.wait,
            mark,
        });
        let view = RunView::new(self.output, &crew.session);
        let conductor = Scheduler::new(Arc::clone(&crew), looking, view, self.parallel);
        let ended = conductor.conduct(self.doubts);
        drop(crew);
        desk.close();
        drop(held);
        ended
    }
}

/// The files of a workflow, as they were pinned.
fn sources(looking: &mut Engine, workflow: &Workflow) -> Result<Vec<(String, String)>, CommandError> {
    let pinned = looking.store().view()?.workflow(workflow.hash)?;
    Ok(pinned.map(|pinned| pinned.sources).unwrap_or_default())
}

/// Where agents see their output folders, for the prompts.
pub fn outputs(root: &Path) -> String {
    workspaces::outputs(root).display().to_string()
}

/// Only one run drives a session. The system lets go of it when the process ends, however it does.
fn hold(root: &Path, session: &Name) -> Result<File, CommandError> {
    let path = root.join("run.lock");
    let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path);
    let mut file = file.map_err(|error| unusable(&path, &error))?;
    match file.try_lock() {
        Ok(()) => {
            use std::io::Write as _;
            let noted = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
            noted.map_err(|error| unusable(&path, &error))?;
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => {
            let by = fs::read_to_string(&path).unwrap_or_default();
            let by = if by.is_empty() { "another process".to_owned() } else { format!("process {by}") };
            let message = format!("session {session} is being run by {by}");
            Err(CommandError::new(CommandExit::Refused, Code::AlreadyRunning, message)
                .help("wait for it, or stop it there with Ctrl-C"))
        }
        Err(TryLockError::Error(error)) => Err(unusable(&path, &error)),
    }
}

/// Before anything starts, nothing of an earlier run may live: its keepers end their agents, and hold a lock until they
/// have; what is left after that is known by its mark.
fn settle_the_last_run(root: &Path, family: &str) -> Result<(), CommandError> {
    let path = root.join("agents.lock");
    let file = OpenOptions::new().create(true).append(true).open(&path).map_err(|error| unusable(&path, &error))?;
    let until = Instant::now() + PATIENCE;
    while file.try_lock().is_err() {
        if Instant::now() >= until {
            process::end_marked_processes(family);
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    process::end_marked_processes(family);
    Ok(())
}

fn unusable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::new(CommandExit::Unavailable, Code::OutputFailed, format!("{}: {error}", path.display()))
}
