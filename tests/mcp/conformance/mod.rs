//! The conformance suite of MCP, against `interlock serve` and against a server with the tools that the suite wants.
//!
//! A list of a revision is what its authors froze as required. What of it `interlock serve` cannot pass, because it has
//! no such tool, is in `product-*.yaml`; the suite fails as well if one of these passes. The fixture has them all, behind
//! the same door and the same transport.

mod fixture;
mod needs_input;

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value as Json;

use crate::serve::Served;
use crate::team::Team;

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
/// What the suite runs beside and does not count, and the fixture passes all the same.
const BEYOND: [(&str, &[&str]); 2] = [
    ("2025-11-25", &["server-session-lifecycle", "json-schema-2020-12", "server-sse-polling"]),
    ("2026-07-28", &["json-schema-2020-12", "http-header-validation", "http-custom-header-server-validation"]),
];

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/conformance").join(name)
}

/// Where the suite is. `None`: it cannot be had here.
fn suite() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("mcp-conformance");
    let output = Command::new(here("install.sh")).env("INTERLOCK_MCP_CONFORMANCE", &folder).output();
    let output = output.expect("bash is there");
    if output.status.success() {
        return Some(folder);
    }
    let why = String::from_utf8_lossy(&output.stderr);
    // Straight to stderr: of tests that pass, what `eprintln` prints is not shown.
    let _ = writeln!(io::stderr(), "\nSKIPPED, NOTHING IS PROVEN ABOUT THE CONFORMANCE SUITE OF MCP: {why}");
    None
}

/// A process that ends with the test.
struct Beside(Child);

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Beside {
    /// Starts it, and waits for a line that it prints.
    fn start(command: &mut Command, wanted: impl Fn(&str) -> Option<u16>) -> (Self, u16) {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let port = lines.map_while(Result::ok).find_map(|line| wanted(&line));
        (Self(child), port.expect("it says where it listens"))
    }
}

/// Runs the checks that a revision requires, and returns where the suite left their results. The suite cannot send a
/// token, so a proxy adds it.
fn conforms(suite: &Path, server: SocketAddr, token: &str, revision: &str, expected: Option<PathBuf>) -> PathBuf {
    let results = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mcp_conformance_{}_{revision}", server.port()));
    let _ = fs::remove_dir_all(&results);
    let node = suite.join("node/bin/node");
    let mut proxy = Command::new(&node);
    proxy.arg(here("proxy.mjs")).arg(server.port().to_string()).env("TOKEN", token);
    let (_proxy, port) = Beside::start(&mut proxy, |line| line.parse().ok());
    let mut command = Command::new(&node);
    command.arg(suite.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
    command.args(["server", "--url", &format!("http://localhost:{port}/mcp"), "--requirements", revision]);
    command.arg("--output-dir").arg(&results);
    if let Some(expected) = expected {
        command.arg("--expected-failures").arg(expected);
    }
    let output = command.output().expect("node starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{revision}: {stdout}{stderr}");
    assert!(stdout.contains("✓ dns-rebinding-protection"), "it ran: {stdout}");
    results
}

/// The checks of one scenario.
fn checks(results: &Path, scenario: &str) -> Vec<Json> {
    let named = |path: &PathBuf| path.to_string_lossy().contains(&format!("server-{scenario}-2"));
    let mut folders = fs::read_dir(results).expect("results").map(|entry| entry.expect("a folder").path());
    let checks = folders.find(named).expect("the scenario ran").join("checks.json");
    serde_json::from_slice(&fs::read(checks).expect("checks")).expect("a list of checks")
}

#[test]
fn what_is_offered_conforms() {
    let Some(suite) = suite() else { return };
    let team = Team::new("mcp_what_is_offered_conforms");
    let served = Served::new(&team);
    for revision in REVISIONS {
        let expected = here(&format!("product-{revision}.yaml"));
        let results = conforms(&suite, served.address, &served.token, revision, Some(expected));
        if revision == "2026-07-28" {
            // Of this one, most can be checked without a tool of the suite's own.
            let checks = checks(&results, "server-stateless");
            let (fine, failed): (Vec<_>, Vec<_>) = checks.iter().partition(|check| check["status"] != "FAILURE");
            assert!(
                fine.len() > 20 && failed.iter().all(|check| check["details"]["untestable"] == true),
                "{failed:#?}"
            );
        }
        fs::remove_dir_all(results).expect("results");
    }
    assert_eq!(served.stop(), (Some(0), String::new()));
}

#[test]
fn whatever_a_tool_does_conforms() {
    let Some(suite) = suite() else { return };
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--ignored", "--exact", "--nocapture", fixture::TEST]).env(fixture::ASKED, "1");
    let (_fixture, port) = Beside::start(&mut command, |line| line.strip_prefix(fixture::LISTENS)?.parse().ok());
    for revision in REVISIONS {
        let server = SocketAddr::from(([127, 0, 0, 1], port));
        let results = conforms(&suite, server, fixture::TOKEN, revision, None);
        for scenario in BEYOND.iter().filter(|(of, _)| *of == revision).flat_map(|(_, scenarios)| *scenarios) {
            let checks = checks(&results, scenario);
            assert!(
                !checks.is_empty() && checks.iter().all(|check| check["status"] != "FAILURE"),
                "{scenario}: {checks:#?}"
            );
        }
        fs::remove_dir_all(results).expect("results");
    }
}
