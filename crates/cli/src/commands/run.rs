//! `interlock run`

use std::env;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use interlock_core::code::Code;
use interlock_core::command::Command;
use interlock_core::event::EventCause;
use interlock_core::id::{Digest, Name};
use interlock_core::problem::Problem;
use interlock_core::provenance::Channel;
use interlock_core::state::SessionStatus;
use interlock_core::workflow::Workflow;

use crate::commands::examples;
use crate::commands::init;
use crate::commands::pause;
use crate::commands::run_note;
use interlock_agents as agents;
use interlock_agents::play;
use interlock_agents::team::{self, AgentTeam, TeamSource};
use interlock_app::context::{AppContext, person, workspaces};
use interlock_app::diagnostics;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit, SourceTexts};
use interlock_app::input;
use interlock_app::output::{CommandOutput, print_diagnostics};
use interlock_app::session_start::{SessionStartRequest, allowed_by_person, read_mission, workflow_name};
use interlock_app::setting::SettingArgument;
use interlock_engine::{Engine, LoadedSession, Operation, Request};
use interlock_runner as run;
use interlock_runner::git::ProjectRepo;
use interlock_system::files;
use interlock_system::text::TerminalText;

/// The file that a project keeps its team in.
pub(super) const TEAM_FILE: &str = "agents.yaml";
const LARGEST_TEAM: u64 = 1 << 20;

/// Drive a session to its end with real agents
///
/// Starts a session for MISSION.md, or goes on with one that has not ended. Agents work in copies of the project, each
/// group in its own; your checkout is never touched. The result is a branch, interlock/SESSION. Stop it at any time and
/// run it again: it goes on where it was. Questions appear here, and can be answered here or with `interlock answer`.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock run mission.md --agents claude     # one client plays every role"
    "interlock run mission.md                     # the team of agents.yaml"
    "interlock run --agents scripted              # a rehearsal: no model, no account"
    "interlock run                                # go on with the session that has not ended"
))]
pub(crate) struct RunCommand {
    /// What is to be done, for every agent to read; its first line is the title
    #[arg(value_name = "MISSION.md")]
    mission: Option<PathBuf>,

    /// Who plays the roles: scripted, claude, codex, gemini, or an agents file; agents.yaml of the project if not said
    #[arg(long, value_name = "NAME or FILE")]
    agents: Option<String>,

    /// How many agents are at work at once; as the agents file says, or 4
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=512))]
    pub parallel: Option<u32>,

    /// Go on with this session
    #[arg(long, value_name = "SESSION", conflicts_with = "mission")]
    pub session: Option<String>,

    /// The workflow of a new session: a built-in name or a file; interlock.yaml of the project if none is named. One that
    /// demands less than interlock.yaml takes the operator key
    #[arg(long, value_name = "NAME or FILE")]
    pub workflow: Option<String>,

    /// A setting of the workflow, for a new session; may be repeated. One that drops a requirement takes the operator key
    #[arg(long, value_name = "NAME=VALUE", value_parser = SettingArgument::parse)]
    set: Vec<SettingArgument>,

    /// Declare a new session an investigation: it may end without groups (takes the operator key)
    #[arg(long)]
    investigation: bool,

    /// Who drops a requirement, declares an investigation or allows protected paths
    #[arg(long = "as", value_name = "NAME")]
    by: Option<String>,
    /// Allow agents to change protected paths that fit this pattern, such as ".github/workflows/**"; may be repeated (takes
    /// the operator key)
    #[arg(long, value_name = "GLOB")]
    allow: Vec<String>,

    /// End when only people can go on, instead of waiting for them
    #[arg(long)]
    no_wait: bool,
}

impl RunCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let (session, ended) = self.drive(output, place)?;
        let is_over = ended.is_over();
        let told = tell(output, ended);
        if is_over && told.is_ok() {
            run_note::forget(place, &session);
        }
        told
    }

    /// The command for a session that has ended and still needs its cleanup.
    pub(super) fn for_ended_session(session: &Name, agents: Option<String>) -> Self {
        Self {
            mission: None,
            agents,
            parallel: None,
            session: Some(session.to_string()),
            workflow: None,
            set: Vec::new(),
            investigation: false,
            by: None,
            allow: Vec::new(),
            no_wait: true,
        }
    }

    /// Runs without output to people: the caller reports the outcome.
    pub(super) fn quietly(&self, place: &AppContext) -> Result<run::RunOutcome, CommandError> {
        let (session, ended) = self.drive(CommandOutput { json: true }, place)?;
        ended.remove_note();
        run_note::forget(place, &session);
        Ok(ended)
    }

    fn drive(&self, output: CommandOutput, place: &AppContext) -> Result<(Name, run::RunOutcome), CommandError> {
        self.set_up(place)?;
        let project = place.project()?;
        let team = team(self.agents.as_deref(), &project)?;
        let repository = repository(&project)?;
        apart(&team, &repository.root)?;
        // The cleanup of a session that has ended needs no agent.
        let is_over = self.is_over(place, &team)?;
        let doubts = if is_over { Vec::new() } else { can_start(&team)? };
        let (session, workflow) = self.session(place, &team)?;
        let root = root(place, Some(&team), &session)?;
        if !is_over {
            run_note::remember(place, &session, self.agents.as_deref())?;
        }
        let place = &place.via(Channel::Run);
        let engine = || place.engine_with(run::outputs(&root));
        let run = run::SessionRun {
            engines: (engine()?, engine()?),
            parallel: self.parallel.unwrap_or(team.parallel),
            paused: pause::mark(place, &session)?,
            session: session.clone(),
            workflow,
            team,
            doubts,
            project: repository,
            wait: !self.no_wait,
            output,
            root,
        };
        Ok((session, run.drive()?))
    }

    /// Whether the session to drive has ended already.
    fn is_over(&self, place: &AppContext, team: &AgentTeam) -> Result<bool, CommandError> {
        let mut engine = place.engine()?;
        let session = match &self.session {
            Some(named) => Some(Name::new(named)),
            None => {
                let mission = self.mission()?;
                self.unfinished(&mut engine, mission.as_deref(), |id| root(place, Some(team), id))?
            }
        };
        let Some(session) = session else { return Ok(false) };
        let (live, _) = engine.load_session(&session)?;
        Ok(matches!(live.state.status, SessionStatus::Completed | SessionStatus::Cancelled))
    }

    fn mission(&self) -> Result<Option<String>, CommandError> {
        self.mission.as_deref().map(read_mission).transpose()
    }

    /// A project that has no store yet gets one.
    fn set_up(&self, place: &AppContext) -> Result<(), CommandError> {
        let file = match place.file() {
            Err(fault) if fault.code == Code::NoStore => place.file_for(&env::current_dir().unwrap_or_default()),
            // A run that was killed may have begun one.
            Ok(file) if fs::metadata(&file).is_ok_and(|about| about.len() == 0) => file,
            _ => return Ok(()),
        };
        repository(&env::current_dir().unwrap_or_default())?;
        // The checkout is the user's: the folder of the store keeps itself out of the repository.
        let ignore = file.with_file_name(".gitignore");
        let folder = ignore.parent().unwrap_or(Path::new(""));
        let put = fs::create_dir_all(folder).and_then(|()| files::put_new(&ignore, b"*\n"));
        put.map_err(|error| interlock_store::StoreError::unwritable(&ignore, &error))?;
        init::make_store(&file).map(|_| ())
    }

    /// The session to drive: as named, the one of this mission, the one that has not ended, or a new one.
    fn session(&self, place: &AppContext, team: &AgentTeam) -> Result<(Name, Arc<Workflow>), CommandError> {
        // Two that look for the same session at once would both begin one.
        let _alone = alone(place)?;
        let mut engine = place.engine()?;
        if let Some(named) = &self.session {
            let (live, workflow) = engine.load_session(named)?;
            fits(team, &workflow)?;
            self.allow_paths(&mut engine, &live)?;
            return Ok((live.id, workflow));
        }
        let mission = self.mission()?;
        if let Some(found) = self.unfinished(&mut engine, mission.as_deref(), |id| root(place, Some(team), id))? {
            let (live, workflow) = engine.load_session(&found)?;
            fits(team, &workflow)?;
            self.allow_paths(&mut engine, &live)?;
            return Ok((live.id, workflow));
        }
        let rehearsal =
            team.everybody().values().all(|part| part.setup.command.get(1).is_some_and(|word| word == play::WORD));
        if mission.is_none() && !rehearsal {
            return Err(CommandError::new(
                CommandExit::Usage,
                Code::BadArgument,
                "there is nothing to do: no mission, and no session that goes on",
            )
            .help("write what is to be done into a file, and name it: interlock run mission.md"));
        }
        let title = mission.as_deref().map_or_else(|| "Rehearsal".to_owned(), title);
        let workflow = workflow(self.workflow.as_deref(), place)?;
        let by = person(self.by.as_deref());
        let beginning = SessionStartRequest {
            title: &title,
            workflow: &workflow,
            settings: &self.set,
            mission,
            investigation: self.investigation,
            allow: allowed_by_person(&self.allow, &by),
            by: Some(by),
            own: workflow_name(None, place).ok(),
        };
        let (done, workflow) = beginning.begin(&mut engine, |workflow| fits(team, workflow))?;
        if let Some(warning) = workflow.completion_warning() {
            print_diagnostics(&diagnostics::problems(&[warning], &SourceTexts::default()));
        }
        Ok((done.session, workflow))
    }

    /// Records what the person allows in a session that goes on. Patterns that are allowed already are not recorded again.
    fn allow_paths(&self, engine: &mut Engine, live: &LoadedSession) -> Result<(), CommandError> {
        let is_known = |pattern: &str| live.state.allowed_paths().any(|known| known.as_str() == pattern);
        let new: Vec<String> = self.allow.iter().filter(|pattern| !is_known(pattern)).cloned().collect();
        if let Some(allow) = allowed_by_person(&new, &person(self.by.as_deref())) {
            engine.execute(&Request { session: live.id.clone(), task: Operation::Simple(Command::Allow(allow)) })?;
        }
        Ok(())
    }

    /// A session that has not ended: of this mission, or the only one.
    ///
    /// One that has ended is not finished either, as long as its result was not handed over.
    fn unfinished(
        &self,
        engine: &mut Engine,
        mission: Option<&str>,
        root: impl Fn(&Name) -> Result<PathBuf, CommandError>,
    ) -> Result<Option<Name>, CommandError> {
        let sessions = engine.store().view()?.sessions()?;
        let mut open: Vec<Name> = Vec::new();
        for session in sessions {
            let is_open = session.status == "active" || session.status == "validating";
            if is_open || !run::is_handed_over(&root(&session.id)?) {
                open.push(session.id);
            }
        }
        if let Some(mission) = mission {
            let digest = Digest::of(mission.as_bytes());
            let is_it = |events: &[interlock_core::event::Event]| matches!(events.first().map(|event| &event.cause), Some(EventCause::Started { mission: Some(of), .. }) if *of == digest);
            for session in open {
                if is_it(&engine.load_history(&session)?) {
                    return Ok(Some(session));
                }
            }
            return Ok(None);
        }
        if open.len() > 1 {
            let message = format!("{} sessions have not ended", open.len());
            return Err(CommandError::new(CommandExit::Usage, Code::BadArgument, message)
                .help("name one with --session")
                .allowed(open.iter().map(ToString::to_string)));
        }
        Ok(open.pop())
    }
}

/// Held while a session is looked for, and begun if there is none. The system lets go of it when the process ends.
fn alone(place: &AppContext) -> Result<File, CommandError> {
    let path = place.folder()?.join("starting.lock");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let held = file.and_then(|file| file.lock().map(|()| file));
    held.map_err(|error| interlock_store::StoreError::unwritable(&path, &error).into())
}

/// The workflow of a new session. Without any file of its own, a project has the usual one.
pub(super) fn workflow(named: Option<&str>, place: &AppContext) -> Result<String, CommandError> {
    match workflow_name(named, place) {
        Err(_) if named.is_none() => Ok("delivery-team".to_owned()),
        name => name,
    }
}

/// Checks before the start that every role has an agent, and that every default answer has a question.
fn fits(team: &AgentTeam, workflow: &Workflow) -> Result<(), CommandError> {
    let wrong = team.wrong_defaults(workflow);
    if !wrong.is_empty() {
        return Err(CommandError::invalid(wrong, [team.source.clone()].into_iter().collect()));
    }
    let unplayed = team.unplayed(workflow);
    if unplayed.is_empty() {
        return Ok(());
    }
    Err(CommandError::new(CommandExit::Invalid, Code::NoAgentFor, nobody_plays(&unplayed))
        .help("give these roles to agents, or add `any: NAME` under `roles`"))
}

pub(super) fn nobody_plays(roles: &[Name]) -> String {
    let roles: Vec<String> = roles.iter().map(|role| format!("`{role}`")).collect();
    format!("nobody plays {}", roles.join(", "))
}

/// Nothing starts before everybody could. What may not be right all the same.
fn can_start(team: &AgentTeam) -> Result<Vec<String>, CommandError> {
    let (mut problems, mut doubts) = (Vec::new(), Vec::new());
    for (name, part) in team.everybody() {
        match team::examine::agent(part) {
            Ok(found) => doubts.extend(found.doubts.into_iter().map(|doubt| format!("agent `{name}`: {doubt}"))),
            Err(problem) => problems.push(format!("agent `{name}`: {}", problem.message)),
        }
    }
    if problems.is_empty() {
        return Ok(doubts);
    }
    Err(CommandError::new(CommandExit::Unavailable, Code::ProgramMissing, problems.join("; "))
        .help("`interlock doctor` says more"))
}

/// Where the folders of all sessions are.
fn above(team: &AgentTeam) -> Result<PathBuf, CommandError> {
    match &team.folder {
        Some(folder) => Ok(folder.value.clone()),
        None => workspaces(),
    }
}

/// Workspaces lie outside of the project: git and other tools in them would find what is above them.
pub(super) fn apart(team: &AgentTeam, project: &Path) -> Result<PathBuf, CommandError> {
    let above = above(team)?;
    if !real(&above).starts_with(real(project)) {
        return Ok(above);
    }
    let message = format!("workspaces cannot be made in the project itself: {}", above.display());
    let help = "name a folder outside of it with `folder` in the agents file";
    match &team.folder {
        None => Err(CommandError::new(CommandExit::Invalid, Code::BadAgent, message).help(help)),
        Some(folder) => {
            let problem = Problem::new(Code::BadAgent, message).help(help).at(folder.place.clone());
            Err(CommandError::invalid(vec![problem], [team.source.clone()].into_iter().collect()))
        }
    }
}

/// Where a path leads, as far as it is there.
fn real(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = whole.ancestors().find_map(|folder| Some((folder, fs::canonicalize(folder).ok()?)));
    match there {
        Some((folder, real)) => whole.strip_prefix(folder).map_or_else(|_| real.clone(), |rest| real.join(rest)),
        None => whole,
    }
}

/// The folder of a session's workspaces.
pub(super) fn root(place: &AppContext, team: Option<&AgentTeam>, session: &Name) -> Result<PathBuf, CommandError> {
    let above = team.map_or_else(workspaces, above)?;
    let mut store = place.store()?;
    let identity = interlock_store::Store::view(&mut store)?.identity()?;
    let root = above.join(identity.id.as_str()).join(session.as_str());
    Ok(std::path::absolute(&root).unwrap_or(root))
}

/// The team of the project, if it has an agents file.
pub(super) fn team_if_any(project: &Path) -> Result<Option<AgentTeam>, CommandError> {
    project.join(TEAM_FILE).exists().then(|| team(None, project)).transpose()
}

/// The team that is named, or the project's.
pub(super) fn team(named: Option<&str>, project: &Path) -> Result<AgentTeam, CommandError> {
    let source = source(named, project)?;
    team::open(&source).map_err(|problems| {
        let sources = [(source.name.clone(), source.text.clone())].into_iter().collect();
        CommandError::invalid(problems, sources)
    })
}

fn source(named: Option<&str>, project: &Path) -> Result<TeamSource, CommandError> {
    let path = match named {
        Some(name)
            if name == play::CLIENT
                || agents::client(name).is_some_and(|client| !matches!(client.name(), "acp" | "command")) =>
        {
            return Ok(TeamSource::single(name, project));
        }
        Some(path) => PathBuf::from(path),
        None => project.join(TEAM_FILE),
    };
    if named.is_none() && !path.exists() {
        let message = format!("who plays the roles? The project has no {TEAM_FILE}");
        return Err(CommandError::new(CommandExit::Usage, Code::NoAgentFor, message)
            .help("name a client: --agents claude, codex, gemini or scripted; docs/agents.md describes the file"));
    }
    let text = input::text(&path, LARGEST_TEAM)?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    Ok(TeamSource { name: path.display().to_string(), text, folder: std::path::absolute(&folder).unwrap_or(folder) })
}

/// The first line of a mission that says something.
fn title(mission: &str) -> String {
    let line = mission.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
    line.unwrap_or("Mission").chars().take(120).collect()
}

/// A repository with something to start from.
fn repository(folder: &Path) -> Result<ProjectRepo, CommandError> {
    let found = ProjectRepo::of(folder).and_then(|project| project.head().map(|_| project));
    found.map_err(|error| not_a_repository(&error))
}

pub(super) fn not_a_repository(error: &interlock_runner::git::GitError) -> CommandError {
    CommandError::new(CommandExit::Unavailable, Code::NotARepository, error.message.clone())
        .maybe_help(error.help.clone())
}

fn tell(output: CommandOutput, ended: run::RunOutcome) -> CommandResult {
    let exit = if ended.status == SessionStatus::Completed { CommandExit::Done } else { CommandExit::Refused };
    if output.json {
        let mut document = ended.document.clone();
        document["stopped"] = serde_json::json!(ended.stopped);
        document["report"] = serde_json::json!(ended.report.as_ref().map(|path| path.display().to_string()));
        output.document(&document)?;
        ended.remove_note();
        return Ok(exit);
    }
    output.text(&ended.text)?;
    if let Some(report) = &ended.report {
        let mut text = TerminalText::default();
        text.line(format_args!("  report   {}", report.display()));
        output.text(&text)?;
    }
    ended.remove_note();
    match ended.stopped {
        Some(why) => Err(CommandError::new(exit, Code::RunStopped, why).help("interlock run goes on where it was")),
        None => Ok(exit),
    }
}
