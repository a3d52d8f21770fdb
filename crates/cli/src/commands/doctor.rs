//! `interlock doctor`

use std::env;
use std::path::Path;

use clap::Args;
use serde_json::json;

use crate::commands::examples;
use crate::commands::run::{self, TEAM_FILE};
use interlock_agents::find_program;
use interlock_agents::team::{AgentTeam, RoleAgent, examine};
use interlock_app::context::{AppContext, keyring};
use interlock_app::doctor_report::{self, DoctorCheck, DoctorProblem};
use interlock_app::error::CommandError;
use interlock_app::error::CommandResult;
use interlock_app::library;
use interlock_app::output::CommandOutput;
use interlock_runner::git::ProjectRepo;
use interlock_store::Store as _;

/// Say what is missing before anything starts
///
/// Looks at git, the project, the store and its keys, the agents file and whether it fits the workflow, and every program
/// that a run would start. Exit code 5 if something that a run needs is missing.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock doctor                    # the team of agents.yaml"
    "interlock doctor --agents codex     # one client for every role"
))]
pub(crate) struct DoctorCommand {
    /// Who plays the roles: scripted, claude, codex, gemini, or an agents file
    #[arg(long, value_name = "NAME or FILE")]
    agents: Option<String>,
}

impl DoctorCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let mut findings = vec![project(place), store(place), keys(place)];
        findings.extend(self.team(place));
        doctor_report::print_report(&findings, json!({}), output)
    }

    fn team(&self, place: &AppContext) -> Vec<DoctorCheck> {
        let here = std::env::current_dir().unwrap_or_default();
        let folder = place.project().unwrap_or(here);
        let what = self.agents.clone().unwrap_or_else(|| TEAM_FILE.to_owned());
        match run::team(self.agents.as_deref(), &folder) {
            Err(failure) => vec![DoctorCheck { what, found: Err(of(&failure)) }],
            Ok(team) => {
                let mut findings =
                    vec![DoctorCheck { what, found: Ok("can be read".to_owned()) }, workspaces(&team, &folder)];
                findings.extend(agents(&team));
                findings.extend(fit(&team, place));
                findings.extend(programs(&team, &folder));
                findings
            }
        }
    }
}

fn project(place: &AppContext) -> DoctorCheck {
    let here = std::env::current_dir().unwrap_or_default();
    let folder = place.project().unwrap_or(here);
    let found = ProjectRepo::of(&folder).and_then(|project| {
        let head = project.head()?;
        let waiting = match project.uncommitted()? {
            0 => String::new(),
            1 => "; 1 file is not committed, and agents will not see that".to_owned(),
            files => format!("; {files} files are not committed, and agents will not see that"),
        };
        Ok(format!("{} at {}{waiting}", project.root.display(), head.short()))
    });
    let found = found.map_err(|error| DoctorProblem { message: error.message, help: error.help });
    DoctorCheck { what: "git repository".to_owned(), found }
}

fn store(place: &AppContext) -> DoctorCheck {
    let found = match place.store() {
        Ok(store) => Ok(store.path().display().to_string()),
        Err(_) if place.file().is_err() => Ok("none yet; `interlock run` makes one".to_owned()),
        Err(failure) => Err(of(&failure)),
    };
    DoctorCheck { what: "store".to_owned(), found }
}

fn keys(place: &AppContext) -> DoctorCheck {
    let held = || -> Result<String, CommandError> {
        let Ok(mut store) = place.store() else { return Ok("made with the store".to_owned()) };
        let identity = store.view()?.identity()?;
        keyring()?.chain(&identity)?;
        Ok("here".to_owned())
    };
    DoctorCheck { what: "keys".to_owned(), found: held().map_err(|failure| of(&failure)) }
}

fn workspaces(team: &AgentTeam, folder: &Path) -> DoctorCheck {
    let project = ProjectRepo::of(folder).map_or_else(|_| folder.to_owned(), |project| project.root);
    let found = run::apart(team, &project).and_then(|path| {
        std::fs::create_dir_all(&path).map_err(|error| interlock_store::StoreError::unwritable(&path, &error))?;
        Ok(path.display().to_string())
    });
    DoctorCheck { what: "workspaces".to_owned(), found: found.map_err(|failure| of(&failure)) }
}

fn agents(team: &AgentTeam) -> Vec<DoctorCheck> {
    team.everybody()
        .into_iter()
        .map(|(name, part)| DoctorCheck { what: format!("agent {name}"), found: program(part) })
        .collect()
}

/// Whether the team fits the workflow that a new session would have.
fn fit(team: &AgentTeam, place: &AppContext) -> Vec<DoctorCheck> {
    let loaded = run::workflow(None, place).and_then(|name| library::pinnable(&name));
    let workflow = match loaded {
        Ok((workflow, _)) => workflow,
        Err(failure) => return vec![DoctorCheck { what: "workflow".to_owned(), found: Err(of(&failure)) }],
    };
    let mut wrong = told(&team.strangers(&workflow));
    let unplayed = team.unplayed(&workflow);
    wrong.extend((!unplayed.is_empty()).then(|| run::nobody_plays(&unplayed)));
    let mut findings = vec![finding("roles", &wrong, format!("all of {} are played", workflow.name))];
    if !team.defaults.is_empty() {
        findings.push(finding("defaults", &told(&team.wrong_defaults(&workflow)), "have their questions".to_owned()));
    }
    // No reason not to start, and worth knowing.
    let loose = team.unstructured(&workflow).into_iter();
    findings.extend(loose.map(|words| DoctorCheck { what: "structured".to_owned(), found: Ok(words) }));
    findings
}

/// Checks the programs that a run starts beside agents, and the usage that it cannot count.
fn programs(team: &AgentTeam, folder: &Path) -> Vec<DoctorCheck> {
    let path = env::var("PATH").unwrap_or_default();
    let missing = |program: &String| {
        let program = if program.contains('/') { folder.join(program).display().to_string() } else { program.clone() };
        find_program(&program, Some(&path)).is_none().then(|| format!("the program `{program}` is not there"))
    };
    let told = match team.notify.is_any() {
        true => "people can be told",
        false => "nothing is set: questions are asked in the terminal of the run alone",
    };
    let mut findings = vec![finding("notify", &team.notify.wrong(), told.to_owned())];
    let prepare = team.prepare.run.iter().filter_map(|line| line.first());
    let wrong: Vec<String> = prepare.filter_map(missing).collect();
    findings.push(finding("prepare", &wrong, format!("{} commands", team.prepare.run.len())));
    let untold: Vec<String> = team.untold().into_iter().collect();
    // No reason not to start, and worth knowing.
    findings.extend(untold.into_iter().map(|words| DoctorCheck { what: "budget".to_owned(), found: Ok(words) }));
    findings
}

fn told(problems: &[interlock_core::problem::Problem]) -> Vec<String> {
    problems.iter().map(line_with_help).collect()
}

fn line_with_help(problem: &interlock_core::problem::Problem) -> String {
    let help = problem.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
    format!("{}{help}", line(problem))
}

/// A problem of a file in one line, with its place.
fn line(problem: &interlock_core::problem::Problem) -> String {
    let at = problem.at.as_ref().map_or(String::new(), |at| format!("{}:{}:{}: ", at.file, at.line, at.column));
    format!("{at}{}: {}", problem.code, problem.message)
}

fn finding(what: &str, wrong: &[String], sound: String) -> DoctorCheck {
    let found = match wrong {
        [] => Ok(sound),
        wrong => Err(DoctorProblem { message: wrong.join("\n"), help: None }),
    };
    DoctorCheck { what: what.to_owned(), found }
}

/// Is the program there, and does it know its flags?
fn program(part: &RoleAgent) -> Result<String, DoctorProblem> {
    let examine::FoundAgent { place, version, doubts } =
        examine::agent(part).map_err(|problem| DoctorProblem { message: problem.message, help: problem.help })?;
    let found = version.map_or_else(|| place.clone(), |version| format!("{place} ({version})"));
    // No reason not to start, and worth knowing.
    Ok([found].into_iter().chain(doubts).collect::<Vec<_>>().join("; "))
}

fn of(failure: &CommandError) -> DoctorProblem {
    let json = failure.json();
    let field =
        |name: &str| json.pointer(&format!("/error/{name}")).and_then(|value| value.as_str()).map(str::to_owned);
    // Of a file, everything that is wrong with it.
    let problems: Vec<&interlock_core::problem::Problem> = failure.problems().collect();
    match problems.as_slice() {
        [] => {
            let (code, message) = (field("code").unwrap_or_default(), field("message").unwrap_or_default());
            DoctorProblem { message: format!("{code}: {message}"), help: field("help") }
        }
        [only] => DoctorProblem { message: line(only), help: field("help") },
        all => {
            let lines: Vec<String> = all.iter().map(|problem| line_with_help(problem)).collect();
            DoctorProblem { message: lines.join("\n"), help: None }
        }
    }
}
