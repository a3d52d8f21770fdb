//! The command line of the MCP inspector, installed once below `target`: one process, and one server, for each call.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value as Json, json};

use crate::team::{Team, handoff};

const PACKAGE: &str = "@modelcontextprotocol/inspector@0.15.0";

/// The program, if it can be had here.
fn inspector() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("mcp-inspector");
    let (program, done) = (folder.join("node_modules/.bin/mcp-inspector"), folder.join("installed.txt"));
    if fs::read_to_string(&done).is_ok_and(|installed| installed == PACKAGE) {
        return Some(program);
    }
    fs::create_dir_all(&folder).expect("a folder below target");
    let install = ["install", "--silent", "--no-audit", "--no-fund", "--prefix"];
    match Command::new("npm").args(install).arg(&folder).arg(PACKAGE).output() {
        Ok(output) if output.status.success() => {
            fs::write(done, PACKAGE).expect("a note of what is installed");
            Some(program)
        }
        other => {
            let why =
                other.map_or_else(|error| error.to_string(), |output| String::from_utf8_lossy(&output.stderr).into());
            // Straight to stderr: of tests that pass, what `eprintln` prints is not shown.
            let _ = writeln!(io::stderr(), "\nSKIPPED, NOTHING IS PROVEN ABOUT THE MCP INSPECTOR: {why}");
            None
        }
    }
}

struct Inspector<'a> {
    program: PathBuf,
    team: &'a Team,
}

impl Inspector<'_> {
    fn ask(&self, arguments: &[String]) -> Json {
        let mut command = Command::new(&self.program);
        command.args(["--cli", env!("CARGO_BIN_EXE_interlock"), "mcp"]).args(arguments);
        let environment = self.team.command(&[]);
        command.current_dir(self.team.project());
        command.envs(environment.get_envs().filter_map(|(name, value)| value.map(|value| (name, value))));
        let output = command.output().expect("the inspector starts");
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {stdout}{stderr}");
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"))
    }

    fn call(&self, tool: &str, given: &[(&str, &str)]) -> Json {
        let mut arguments: Vec<String> = ["--method", "tools/call", "--tool-name", tool].map(str::to_owned).into();
        for (name, value) in given {
            arguments.extend(["--tool-arg".to_owned(), format!("{name}={value}")]);
        }
        let result = self.ask(&arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// Claims what comes next, and reports this for it: the decision.
    fn plays(&self, decided: &Json, status: &str, more: Json) -> Json {
        let next = decided["next"].as_array().expect("a list");
        let [next] = next.as_slice() else { panic!("one thing comes next: {decided}") };
        let assignment = next["assignment"].as_str().expect("an id");
        let token = self.call("claim_assignment", &[("assignment", assignment)])["token"].take();
        let block = handoff(next["role"].as_str().expect("a role"), status, more);
        let written = format!("Done.\n\n```json\n{block}\n```\n");
        let token = token.as_str().expect("a token");
        self.call("report_handoff", &[("assignment", assignment), ("token", token), ("handoff", &written)])
    }
}

#[test]
fn the_inspector_drives_a_whole_session() {
    let Some(program) = inspector() else { return };
    let team = &Team::new("mcp_the_inspector_drives_a_whole_session");
    let inspector = Inspector { program, team };
    let listed = inspector.ask(&["--method".to_owned(), "tools/list".to_owned()]);
    assert_eq!(listed["tools"].as_array().map(Vec::len), Some(8));
    let mut decided = inspector.call("start_session", &[("title", "Add login")]);
    let session = decided["session"].as_str().expect("a session").to_owned();
    let plan = json!({ "groups": [{ "id": "LOGIN", "title": "Log in" }] });
    for (status, more) in [
        ("PLANNING_COMPLETE", plan),
        ("READY_FOR_QA", json!({})),
        ("PASS", json!({})),
        ("APPROVED", json!({})),
        ("MERGE_SUCCESS", json!({})),
        ("BAZINGA", json!({})),
    ] {
        decided = inspector.plays(&decided, status, more);
    }
    assert_eq!(decided["judgement"]["verdict"], "ACCEPT", "{decided}");
    assert_eq!(team.status(&session), "completed");
}
