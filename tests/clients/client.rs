//! The real clients, installed once, each with a home of its own that knows nothing but the scripted model.
//!
//! Other suites take this in with `#[path]`: it needs nothing of this one.

#![allow(dead_code, reason = "each suite that shares this uses a part of it")]

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value as Json, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    Claude,
    Codex,
    /// Also an ACP agent, with `--acp`.
    Gemini,
    /// An ACP agent that drives Codex.
    CodexAcp,
}

/// What `install.sh` exits with where there is no npm.
const NO_NPM: i32 = 3;

/// The folder that the clients are installed in; they are installed first if they are not. `None`: there is no npm,
/// and `INTERLOCK_SKIP_CLIENTS` says that this will do.
pub(crate) fn installed() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(install).as_deref()
}

fn install() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(root.join("tests/clients/install.sh")).output().expect("install.sh starts");
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(NO_NPM) {
        let may_skip = std::env::var_os("INTERLOCK_SKIP_CLIENTS").is_some_and(|set| !set.is_empty());
        assert!(
            may_skip,
            "{said}\nInstall npm, or say INTERLOCK_SKIP_CLIENTS=1: then nothing is proven about real clients."
        );
        // Straight to stderr: of tests that pass, what `eprintln` prints is not shown.
        let _ = writeln!(io::stderr(), "\nSKIPPED, NOTHING IS PROVEN ABOUT REAL CLIENTS: {said}");
        return None;
    }
    assert!(output.status.success(), "the clients cannot be installed: {said}");
    Some(std::env::var_os("INTERLOCK_CLIENTS").map_or_else(|| root.join("target/clients"), |at| root.join(at)))
}

/// Where the programs `claude`, `codex`, `gemini` and `codex-acp` are.
pub(crate) fn programs() -> PathBuf {
    installed().expect("a test that runs clients has asked whether they are installed").join("node_modules/.bin")
}

impl Client {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::CodexAcp => "codex-acp",
        }
    }

    /// The program, with nothing of the test runner's environment.
    pub(crate) fn command(self, home: &Path, url: &str) -> Command {
        let mut command = Command::new(programs().join(self.name()));
        command.env_clear().envs(self.environment(home, url));
        command
    }

    /// Writes the client's settings into a home, and gives the environment in which it uses them and the scripted model
    /// at this address: nothing is asked of anybody else, and the client soon gives up if the model refuses.
    pub(crate) fn environment(self, home: &Path, url: &str) -> Vec<(&'static str, String)> {
        let mut environment = common(home, url);
        environment.extend(match self {
            Self::Claude => claude(home, url),
            Self::Codex | Self::CodexAcp => codex(home, url),
            Self::Gemini => gemini(home, url),
        });
        environment
    }
}

fn common(home: &Path, url: &str) -> Vec<(&'static str, String)> {
    let temporary = home.join("tmp");
    fs::create_dir_all(&temporary).expect("a folder for what is temporary");
    let rest = std::env::var("PATH").unwrap_or_default();
    // An older Node of the system gives way to the one that was installed with the clients.
    let node = programs().join("../../node/bin");
    vec![
        ("HOME", home.display().to_string()),
        ("TMPDIR", temporary.display().to_string()),
        ("PATH", format!("{}:{}:{rest}", programs().display(), node.display())),
        ("TERM", "xterm-256color".to_owned()),
        // Connections to other hosts go through the scripted model, so that the tests see them.
        ("HTTPS_PROXY", url.to_owned()),
        ("NO_PROXY", "127.0.0.1".to_owned()),
    ]
}

fn claude(home: &Path, url: &str) -> Vec<(&'static str, String)> {
    let on = || "1".to_owned();
    vec![
        ("CLAUDE_CONFIG_DIR", home.join("claude").display().to_string()),
        ("ANTHROPIC_BASE_URL", url.to_owned()),
        ("ANTHROPIC_API_KEY", "dummy".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", on()),
        ("DISABLE_TELEMETRY", on()),
        ("DISABLE_AUTOUPDATER", on()),
        ("DISABLE_ERROR_REPORTING", on()),
        // Ten otherwise, which takes minutes.
        ("CLAUDE_CODE_MAX_RETRIES", on()),
    ]
}

fn codex(home: &Path, url: &str) -> Vec<(&'static str, String)> {
    let folder = home.join("codex");
    let settings = format!(
        r#"model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
apps = false
plugins = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 1
"#
    );
    write(&folder.join("config.toml"), &settings);
    vec![("CODEX_HOME", folder.display().to_string()), ("SCRIPTED_API_KEY", "dummy".to_owned())]
}

fn gemini(home: &Path, url: &str) -> Vec<(&'static str, String)> {
    let settings: Json = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        // It tries ten times otherwise, which takes minutes.
        "general": { "maxAttempts": 1, "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
    });
    write(&home.join("gemini/.gemini/settings.json"), &settings.to_string());
    vec![
        ("GEMINI_CLI_HOME", home.join("gemini").display().to_string()),
        ("GEMINI_API_KEY", "dummy".to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", url.to_owned()),
        // Else it starts itself again as a child, only to have more memory.
        ("GEMINI_CLI_NO_RELAUNCH", "true".to_owned()),
    ]
}

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().expect("settings lie in a folder")).expect("a folder for settings");
    fs::write(file, text).expect("settings");
}
