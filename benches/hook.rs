//! How long `interlock hook` keeps a client waiting, beside `interlock --version` in the same run.
//!
//! `cargo bench --bench hook`. Interleaved, 300 rounds; the 95th of a hundred. The goal: at most 10 ms beyond the start of
//! the process. A round plays one piece of work: an edit that passes, one that is denied (and goes into the log), a
//! sub-agent that starts (a claim) and its end (a report).

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value as Json, json};

const ROUNDS: usize = 300;
const WORKFLOW: &str = include_str!("../tests/project/rounds.yaml");

fn main() {
    let scene = Scene::new();
    let mut times: [Vec<f64>; 5] = Default::default();
    for round in 0..ROUNDS {
        let (role, status) = if round % 2 == 0 { ("maker", "MADE") } else { ("checker", "AGAIN") };
        times[0].push(scene.timed(&mut scene.command(&["--version"]), "", "interlock"));
        let call = format!("call-{round}");
        let spawn = scene.tool("Agent", json!({ "prompt": "Go.", "subagent_type": role }), &call, None);
        times[3].push(scene.hook("PreToolUse", &spawn, "updatedInput"));
        scene.hook("SubagentStart", &scene.payload("SubagentStart", Some((&call, role))), "");
        let inside = scene.tool("Write", scene.file("src/a.rs"), "w", Some((&call, role)));
        // A maker writes, a checker does not.
        if role == "maker" {
            times[1].push(scene.hook("PreToolUse", &inside, ""));
        }
        let outside = scene.tool("Write", scene.file("src/a.rs"), "w", None);
        times[2].push(scene.hook("PreToolUse", &outside, "deny"));
        let mut end = scene.payload("SubagentStop", Some((&call, role)));
        end["last_assistant_message"] = json!(message(role, status, json!({})));
        times[4].push(scene.hook("SubagentStop", &end, ""));
    }
    let [start, passed, denied, claimed, reported] = times;
    let (middle, slow) = (at(&start, 50), at(&start, 95));
    println!("{ROUNDS} rounds; load {}", fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    println!("interlock --version            {middle:>6.2} ms, 95 of 100 within {slow:>6.2} ms");
    for (name, times) in [
        ("PreToolUse, an edit passes", passed),
        ("PreToolUse, an edit is denied", denied),
        ("PreToolUse, a spawn claims", claimed),
        ("SubagentStop, a report", reported),
    ] {
        let (median, within) = (at(&times, 50), at(&times, 95));
        let beyond = (median - middle, within - middle);
        println!(
            "{name:<30} {median:>6.2} ms, 95 of 100 within {within:>6.2} ms: {:.2} and {:.2} ms beyond",
            beyond.0, beyond.1
        );
    }
}

fn at(times: &[f64], percent: usize) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

/// A project with a session in which one group alternates between two roles as long as reports are submitted.
struct Scene {
    root: PathBuf,
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

impl Scene {
    fn new() -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-hook-{}", std::process::id()));
        let scene = Self { root };
        fs::create_dir_all(scene.project()).expect("a folder");
        fs::write(scene.project().join("rounds.yaml"), WORKFLOW).expect("a workflow");
        scene.timed(&mut scene.command(&["init", "--workflow", "rounds.yaml"]), "", "");
        scene.timed(&mut scene.command(&["session", "start", "--title", "T"]), "", "");
        let spawn = scene.tool("Agent", json!({ "prompt": "Plan.", "subagent_type": "lead" }), "call-lead", None);
        scene.hook("PreToolUse", &spawn, "updatedInput");
        let mut end = scene.payload("SubagentStop", Some(("call-lead", "lead")));
        let groups = json!({ "groups": [{ "id": "G1", "title": "a group" }] });
        end["last_assistant_message"] = json!(message("lead", "PLANNED", groups));
        scene.hook("SubagentStop", &end, "");
        scene
    }

    fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    fn file(&self, path: &str) -> Json {
        json!({ "file_path": self.project().join(path), "content": "x\n" })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
        command.args(arguments).env_clear().env("HOME", &self.root).current_dir(self.project());
        command
    }

    fn payload(&self, event: &str, agent: Option<(&str, &str)>) -> Json {
        let mut payload = json!({ "session_id": "c-1", "cwd": self.project(), "hook_event_name": event });
        if let Some((id, kind)) = agent {
            (payload["agent_id"], payload["agent_type"]) = (json!(id), json!(kind));
        }
        payload
    }

    fn tool(&self, tool: &str, input: Json, call: &str, agent: Option<(&str, &str)>) -> Json {
        let mut payload = self.payload("PreToolUse", agent);
        (payload["tool_name"], payload["tool_input"], payload["tool_use_id"]) = (json!(tool), input, json!(call));
        payload
    }

    /// How long a hook takes; it must answer with this in it, or with nothing.
    fn hook(&self, event: &str, payload: &Json, answers: &str) -> f64 {
        self.timed(&mut self.command(&["hook", "claude", event]), &payload.to_string(), answers)
    }

    fn timed(&self, command: &mut Command, input: &str, says: &str) -> f64 {
        let start = Instant::now();
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = started.expect("the program starts");
        let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
        let output = child.wait_with_output().expect("the program ends");
        let took = start.elapsed().as_secs_f64() * 1000.0;
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        let hook = command.get_args().next().is_some_and(|first| first == "hook");
        assert!(said.contains(says) && !(hook && says.is_empty() && !said.is_empty()), "{command:?}: {said}");
        took
    }
}

fn message(role: &str, status: &str, more: Json) -> String {
    let mut handoff = json!({
        "agent": role, "output_type": "work", "timestamp": "2026-01-01T00:00:00Z", "feature_directory": "f",
        "skills_invoked": [], "status": status, "handoff": { "next_agent": null, "context": "as asked" },
    });
    if let (Json::Object(handoff), Json::Object(more)) = (&mut handoff, more) {
        handoff.extend(more);
    }
    format!("Done.\n\n```json\n{handoff:#}\n```\n")
}
