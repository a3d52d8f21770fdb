//! Gemini CLI.

use serde_json::json;

use crate::client::Client::Gemini;
use crate::models::Step;
use crate::scene::{Run, Scene};
use crate::{handoff, prompt, refuses, worker};

/// A prompt on stdin is enough for it to run without a terminal. With a model named, it does not ask one which to use.
const BASE: [&str; 7] =
    ["--output-format", "stream-json", "--approval-mode", "yolo", "--skip-trust", "--model", "gemini-2.5-flash"];

fn run(scene: &Scene, more: &[&str], prompt: &str) -> Run {
    scene.run(Gemini, &[&BASE[..], more].concat(), prompt)
}

/// Its words come in pieces.
fn words(run: &Run) -> String {
    let messages = run.all("message").into_iter().filter(|line| line["role"] == "assistant");
    messages.filter_map(|line| line["content"].as_str()).collect()
}

#[test]
fn works_hands_in_and_goes_on_where_it_was() {
    let Some(scene) = Scene::new(worker()) else { return };
    let first = run(&scene, &[], &prompt("s.a1", "developer", "Do it."));
    assert_eq!(first.exit, Some(0), "{first:#?}");
    assert_eq!(first.last("result")["status"], json!("success"));
    assert_eq!(words(&first), handoff("s.a1", "developer", 0));
    let session = first.last("init")["session_id"].as_str().expect("a session has an id");

    let second = run(&scene, &["--resume", session], &prompt("s.a2", "developer", "Once more."));
    assert_eq!(second.exit, Some(0), "{second:#?}");
    assert_eq!(second.last("init")["session_id"], json!(session));
    assert_eq!(words(&second), handoff("s.a2", "developer", 1));
    assert_eq!(scene.file("work.txt"), "s.a1\ns.a2\n");
    scene.nobody_else_was_asked();
}

#[test]
fn a_conversation_that_is_not_there_is_no_event_at_all() {
    let Some(scene) = Scene::new(worker()) else { return };
    let lost = run(&scene, &["--resume", "5d6f1c7e-52a4-4d0e-9a55-0c1f0f3b7a10"], "Do it.");
    assert_eq!((lost.exit, lost.lines.len()), (Some(42), 0), "{lost:#?}");
    assert!(lost.stderr.contains("Error resuming session"), "{lost:#?}");
}

/// How long the limit lasts is in the message. The exit code is what is left of the status in a byte.
#[test]
fn a_rate_limit_is_in_its_events() {
    let Some(scene) = Scene::new(refuses(Step::rate_limited(7))) else { return };
    let limited = run(&scene, &[], &prompt("s.a1", "developer", "Do it."));
    assert_eq!(limited.exit, Some(429 % 256), "{limited:#?}");
    let result = limited.last("result");
    assert_eq!(result["status"], json!("error"));
    let message = result["error"]["message"].as_str().expect("an error has a message");
    assert!(message.contains("rate limit") && message.contains("Suggested retry after 7s."), "{message}");
    assert_eq!(scene.models.turns().len(), 1);
}

#[test]
fn a_provider_in_trouble_is_in_its_events() {
    let Some(scene) = Scene::new(refuses(Step::overloaded(500))) else { return };
    let failed = run(&scene, &[], &prompt("s.a1", "developer", "Do it."));
    assert_eq!(failed.exit, Some(500 % 256), "{failed:#?}");
    let message = failed.last("result")["error"]["message"].to_string();
    assert!(message.contains("500") && message.contains("Overloaded"), "{message}");
}
