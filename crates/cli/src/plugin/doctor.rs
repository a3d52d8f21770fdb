//! Whether a client is set up as it should be: every hook where it belongs, agreed to, and able to reach the store.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;

use crate::plugin::{ClientSetup, claude, codex, gemini, home};
use interlock_app::context::AppContext;
use interlock_app::doctor_report::{DoctorCheck, DoctorProblem};
use interlock_app::error::CommandError;
use interlock_engine::LoadedSession;
use interlock_hooks::HookClient;

/// Sessions that are looked at for hooks that have come.
const LATEST: usize = 5;

fn problem(message: impl Into<String>, help: impl Into<String>) -> DoctorProblem {
    DoctorProblem { message: message.into(), help: Some(help.into()) }
}

pub(crate) fn examine(setup: &ClientSetup, place: &AppContext) -> Vec<DoctorCheck> {
    let looked_at = [
        ("client", client(setup.client)),
        ("files", files(setup)),
        ("program", program(setup)),
        ("store", store(place)),
        ("consent", consent(setup)),
        ("seen", seen(setup.client, place)),
    ];
    looked_at.into_iter().map(|(what, found)| DoctorCheck { what: what.to_owned(), found }).collect()
}

/// The versions that the hooks were tried with.
const fn tested(client: HookClient) -> &'static str {
    match client {
        HookClient::Claude => "2.1.325",
        HookClient::Codex => "0.166.0",
        HookClient::Gemini => "0.61.0",
    }
}

fn client(client: HookClient) -> Result<String, DoctorProblem> {
    let output = Command::new(client.name()).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output.map_err(|error| {
        problem(format!("`{}` cannot be run: {error}", client.name()), format!("install {}", client.title()))
    })?;
    let said = String::from_utf8_lossy(&output.stdout);
    let version = said.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
    let version = version.unwrap_or("of an unknown version").to_owned();
    let tested = tested(client);
    Ok(match version == tested {
        true => format!("{} {version}", client.title()),
        false => format!("{} {version}; the hooks were tried with {tested}", client.title()),
    })
}

fn files(setup: &ClientSetup) -> Result<String, DoctorProblem> {
    let help = format!("`interlock plugin install {}` writes what is missing", setup.client.name());
    let changes = setup.install().map_err(|failure| problem(failure.message(), help.clone()))?;
    let (missing, differs): (Vec<_>, Vec<_>) = changes.edits.iter().partition(|edit| edit.before.is_none());
    let list = |edits: &[&crate::plugin::FileEdit]| {
        let names: Vec<String> = edits.iter().map(|edit| named(&edit.path, &setup.project)).collect();
        names.join(", ")
    };
    match (missing.as_slice(), differs.as_slice()) {
        ([], []) => Ok(format!("as the workflow `{}` and this version would have them", setup.workflow.name)),
        (missing, []) => Err(problem(format!("not there: {}", list(missing)), help)),
        ([], differs) => Err(problem(format!("not as they should be: {}", list(differs)), help)),
        (missing, differs) => {
            let message = format!("not there: {}; not as they should be: {}", list(missing), list(differs));
            Err(problem(message, help))
        }
    }
}

fn named(path: &Path, project: &Path) -> String {
    path.strip_prefix(project).unwrap_or(path).display().to_string()
}

/// The program that the hooks call must be one that the client can find and run.
fn program(setup: &ClientSetup) -> Result<String, DoctorProblem> {
    let path = PathBuf::from(&setup.program);
    let found = match path.is_absolute() {
        true => Some(path),
        false => {
            let folders = env::var_os("PATH").unwrap_or_default();
            env::split_paths(&folders).map(|folder| folder.join(&path)).find(|path| path.is_file())
        }
    };
    let help = "put `interlock` where the client finds it, and install again";
    let found = found.ok_or_else(|| problem(format!("`{}` is not in PATH", setup.program), help))?;
    let runs =
        Command::new(&found).arg("--version").stdin(Stdio::null()).output().is_ok_and(|ran| ran.status.success());
    match runs {
        true => Ok(found.display().to_string()),
        false => Err(problem(format!("{} cannot be run", found.display()), help)),
    }
}

fn store(place: &AppContext) -> Result<String, DoctorProblem> {
    let opened = place.engine().and_then(|_| Ok(place.file()?.display().to_string()));
    opened.map_err(|failure| {
        let help = failure.json()["error"]["help"].as_str().unwrap_or("`interlock init` makes a store").to_owned();
        problem(format!("{}: {}", failure.code().number(), failure.message()), help)
    })
}

/// Each client has its own way of not running what its user has not agreed to, and none of them says so.
fn consent(setup: &ClientSetup) -> Result<String, DoctorProblem> {
    match setup.client {
        HookClient::Claude => claude_trusts(&setup.project),
        HookClient::Codex => codex_agrees(setup),
        HookClient::Gemini => match gemini::trusts(&setup.project) {
            true => Ok("the folder is trusted".to_owned()),
            false => Err(problem(
                "Gemini CLI loads no settings of a folder that it does not trust, hooks among them; --skip-trust does not help",
                "start `gemini` here once and trust the folder, or set GEMINI_CLI_TRUST_WORKSPACE=true",
            )),
        },
    }
}

fn claude_trusts(project: &Path) -> Result<String, DoctorProblem> {
    let named = env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let file = named.unwrap_or_else(home).join(".claude.json");
    let known: Json =
        fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let trusted = |folder: &Path| known["projects"][folder.display().to_string()]["hasTrustDialogAccepted"] == true;
    match project.ancestors().any(trusted) {
        true => Ok("the project is trusted".to_owned()),
        false => Err(problem(
            "Claude Code loads no plugin of a project that it does not trust",
            format!(
                "start `claude` here once and trust the project; without a dialog: claude --plugin-dir {}",
                claude::FOLDER
            ),
        )),
    }
}

fn codex_agrees(setup: &ClientSetup) -> Result<String, DoctorProblem> {
    let help = "`interlock plugin install codex` writes the consent, or review them with /hooks in Codex";
    let wanted = codex::consents(&codex::HookCaller::of(setup)).map_err(|why| problem(why, help))?;
    let text = fs::read_to_string(codex::user_config()).unwrap_or_default();
    let config: toml_edit::DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| problem(error.to_string(), help))?;
    let state = config.get("hooks").and_then(|hooks| hooks.get("state"));
    let agreed = |key: &str, hash: &str| {
        let known = state.and_then(|state| state.get(key)).and_then(|known| known.get("trusted_hash"));
        known.and_then(toml_edit::Item::as_str) == Some(hash)
    };
    let missing = wanted.iter().filter(|consent| !agreed(&consent.key, &consent.hash)).count();
    match missing {
        0 => Ok("Codex has its user's consent to each hook".to_owned()),
        count => {
            Err(problem(format!("Codex does not run {count} of the hooks: its user has not agreed to them"), help))
        }
    }
}

/// Which hooks of this client have come in the last sessions.
fn seen(client: HookClient, place: &AppContext) -> Result<String, DoctorProblem> {
    let sessions = latest(place).unwrap_or_default();
    let mut hooks: Vec<String> = Vec::new();
    let mut conversations = 0;
    for live in &sessions {
        let of_client = live.state.watch.conversations.values().filter(|known| known.client == client.name());
        for conversation in of_client {
            conversations += 1;
            hooks.extend(conversation.seen.iter().map(|hook| hook.to_string()));
        }
    }
    hooks.sort();
    hooks.dedup();
    Ok(match conversations {
        0 => "no conversation of this client has taken part in a session yet".to_owned(),
        count => format!("{} in {count} conversations", hooks.join(", ")),
    })
}

fn latest(place: &AppContext) -> Result<Vec<LoadedSession>, CommandError> {
    let mut engine = place.engine()?;
    let names: Vec<_> = engine.store().view()?.sessions()?.into_iter().take(LATEST).map(|session| session.id).collect();
    names.iter().map(|session| Ok(engine.load_session(session)?.0)).collect()
}
