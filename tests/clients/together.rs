//! Several clients at the same time on one scripted model: each is given the answers that its prompt calls for.

use std::thread;

use serde_json::json;

use crate::client::Client;
use crate::models::Turn;
use crate::scene::Scene;
use crate::{prompt, worker};

const RUNS: [(Client, &str, &[&str]); 3] = [
    (Client::Claude, "developer", &["-p", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"]),
    (Client::Codex, "qa_expert", &["exec", "--json", "--sandbox", "workspace-write", "-"]),
    (
        Client::Gemini,
        "tech_lead",
        &["--output-format", "stream-json", "--approval-mode", "yolo", "--skip-trust", "--model", "gemini-2.5-flash"],
    ),
];

#[test]
fn each_client_is_told_what_its_prompt_calls_for() {
    let Some(scene) = Scene::new(worker()) else { return };
    thread::scope(|scope| {
        for (number, (client, role, arguments)) in RUNS.iter().enumerate() {
            let scene = &scene;
            scope.spawn(move || {
                let run = scene.run(*client, arguments, &prompt(&format!("s.a{number}"), role, "Do it."));
                let expected = json!({ "assignment": format!("s.a{number}"), "role": role }).to_string();
                let expected = expected.trim_matches(['{', '}']).replace('"', "\\\"");
                assert!(run.stdout.contains(&expected), "{expected} is not in {run:#?}");
            });
        }
    });
    let mut written: Vec<String> = scene.file("work.txt").lines().map(str::to_owned).collect();
    written.sort();
    assert_eq!(written, ["s.a0", "s.a1", "s.a2"]);
    assert!(scene.models.turns().iter().all(|turn| turn.group() == Some("login")));
    scene.nobody_else_was_asked();
}

#[test]
fn of_several_assignments_in_a_conversation_the_newest_counts() {
    let text = [prompt("s.a1", "developer", "Do it."), prompt("s.a2", "tech_lead", "Look at it.")].concat();
    let turn = Turn { prompt: text, ..Turn::default() };
    assert_eq!((turn.assignment(), turn.role(), turn.group()), (Some("s.a2"), Some("tech_lead"), Some("login")));
}
