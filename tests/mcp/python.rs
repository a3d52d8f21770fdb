//! The official Python client, installed once below `target`.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::client::NEWEST;
use crate::serve::Served;
use crate::team::Team;

const REQUIREMENTS: &str = include_str!("requirements.txt");
/// What the client calls them, and the version that comes of it.
const MODES: [(&str, &str); 2] = [("legacy", "2025-11-25"), ("auto", NEWEST)];
/// One test installs it, the others wait.
static INSTALLING: Mutex<()> = Mutex::new(());

/// The interpreter that has the client. `None`: it cannot be had here.
fn python() -> Option<PathBuf> {
    let _alone = INSTALLING.lock();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("mcp-python");
    let (python, done) = (folder.join("bin/python"), folder.join("installed.txt"));
    if std::fs::read_to_string(&done).is_ok_and(|installed| installed == REQUIREMENTS) {
        return Some(python);
    }
    let make = Command::new("python3").args(["-m", "venv"]).arg(&folder).output();
    let install = || {
        let list = root.join("tests/mcp/requirements.txt");
        Command::new(&python).args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(list).output()
    };
    match make.and_then(|made| if made.status.success() { install() } else { Ok(made) }) {
        Ok(output) if output.status.success() => {
            std::fs::write(done, REQUIREMENTS).expect("a note of what is installed");
            Some(python)
        }
        other => {
            let why =
                other.map_or_else(|error| error.to_string(), |output| String::from_utf8_lossy(&output.stderr).into());
            // Straight to stderr: of tests that pass, what `eprintln` prints is not shown.
            let _ = writeln!(io::stderr(), "\nSKIPPED, NOTHING IS PROVEN ABOUT THE PYTHON CLIENT OF MCP: {why}");
            None
        }
    }
}

/// Drives a session to its end over what the two arguments name.
fn drives(team: &Team, over: [&OsStr; 2], mode: &str, version: &str) {
    let Some(python) = python() else { return };
    let drive = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/drive.py");
    // With the environment of the team, and nothing else.
    let mut command = Command::new(&python);
    command.arg(drive).args(over).arg(mode).env_clear();
    let environment = team.command(&[]);
    command.envs(environment.get_envs().filter_map(|(name, value)| value.map(|value| (name, value))));
    let output = command.output().expect("python starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{mode}: {stdout}{stderr}");
    let words: Vec<&str> = stdout.split_whitespace().collect();
    assert_eq!(words[1..], ["completed", version], "{mode}");
    assert_eq!(team.status(words[0]), "completed");
    assert!(team.ask(&["audit", "verify"]).done()["valid"].as_bool().unwrap());
}

#[test]
fn the_python_client_drives_a_whole_session() {
    for (mode, version) in MODES {
        let team = Team::new(&format!("mcp_the_python_client_{mode}"));
        drives(&team, [env!("CARGO_BIN_EXE_interlock").as_ref(), team.project().as_os_str()], mode, version);
    }
}

#[test]
fn the_python_client_drives_a_whole_session_over_http() {
    for (mode, version) in MODES {
        let team = Team::new(&format!("mcp_the_python_client_over_http_{mode}"));
        let served = Served::new(&team);
        let word = |name: &str| OsStr::new(served.told[name].as_str().expect("text"));
        drives(&team, [word("mcp"), word("token_file")], mode, version);
        assert_eq!(served.stop(), (Some(0), String::new()));
    }
}
