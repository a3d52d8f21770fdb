//! The official Python client, installed once below `target`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::client::NEWEST;
use crate::team::Team;

const REQUIREMENTS: &str = include_str!("requirements.txt");

/// The interpreter that has the client. `None`: it cannot be had here.
fn python() -> Option<PathBuf> {
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

#[test]
fn the_python_client_drives_a_whole_session() {
    let Some(python) = python() else { return };
    for (mode, version) in [("legacy", "2025-11-25"), ("auto", NEWEST)] {
        let team = Team::new(&format!("mcp_the_python_client_{mode}"));
        let program = env!("CARGO_BIN_EXE_interlock");
        let drive = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/drive.py");
        // With the environment of the team, and nothing else.
        let mut command = Command::new(&python);
        command.arg(drive).arg(program).arg(team.project()).arg(mode).env_clear();
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
}
