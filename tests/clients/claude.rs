//! Claude Code.

use serde_json::json;

use crate::client::Client::Claude;
use crate::models::Step;
use crate::scene::{Run, Scene};
use crate::{handoff, prompt, refuses, worker};

const SESSION: &str = "5d6f1c7e-52a4-4d0e-9a55-0c1f0f3b7a10";

/// As root, `--dangerously-skip-permissions` is refused; naming the tools is enough.
const BASE: [&str; 6] =
    ["-p", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash,Edit,Glob,Grep,Read,Write"];

fn run(scene: &Scene, more: &[&str], prompt: &str) -> Run {
    scene.run(Claude, &[&BASE[..], more].concat(), prompt)
}

#[test]
fn works_hands_in_and_goes_on_where_it_was() {
    let Some(scene) = Scene::new(worker()) else { return };
    let first = run(&scene, &["--session-id", SESSION], &prompt("s.a1", "developer", "Do it."));
    assert_eq!(first.exit, Some(0), "{first:#?}");
    let result = first.last("result");
    assert_eq!((&result["is_error"], &result["terminal_reason"]), (&json!(false), &json!("completed")));
    assert_eq!(result["result"], json!(handoff("s.a1", "developer", 0)));
    assert_eq!(result["permission_denials"], json!([]));
    assert_eq!(first.last("system")["session_id"], json!(SESSION));

    let second = run(&scene, &["--resume", SESSION], &prompt("s.a2", "developer", "Once more."));
    assert_eq!(second.exit, Some(0), "{second:#?}");
    assert_eq!(second.last("result")["session_id"], json!(SESSION));
    assert_eq!(second.last("result")["result"], json!(handoff("s.a2", "developer", 1)));
    assert_eq!(scene.file("work.txt"), "s.a1\ns.a2\n");
    scene.nobody_else_was_asked();
}

#[test]
fn a_conversation_that_is_not_there_is_an_error_of_its_own() {
    let Some(scene) = Scene::new(worker()) else { return };
    let lost = run(&scene, &["--resume", SESSION], &prompt("s.a1", "developer", "Do it."));
    assert_eq!(lost.exit, Some(1), "{lost:#?}");
    assert_eq!(lost.last("result")["subtype"], json!("error_during_execution"));
    assert!(lost.stderr.contains("No conversation found with session ID"), "{lost:#?}");
    assert!(scene.models.turns().is_empty());
}

#[test]
fn what_it_may_not_do_is_denied_and_it_ends_well_all_the_same() {
    let Some(scene) = Scene::new(worker()) else { return };
    let denied = scene.run(Claude, &BASE[..4], &prompt("s.a1", "developer", "Do it."));
    assert_eq!(denied.exit, Some(0), "{denied:#?}");
    let result = denied.last("result");
    assert_eq!((&result["is_error"], &result["permission_denials"][0]["tool_name"]), (&json!(false), &json!("Bash")));
    assert!(!scene.repository().join("work.txt").exists());
}

/// It tries again by itself, says when, and calls the end of it a success with `is_error`.
#[test]
fn a_rate_limit_is_in_its_events() {
    let Some(scene) = Scene::new(refuses(Step::rate_limited(1))) else { return };
    let limited = run(&scene, &[], &prompt("s.a1", "developer", "Do it."));
    assert_eq!(limited.exit, Some(1), "{limited:#?}");
    let retries: Vec<_> = limited.all("system").into_iter().filter(|line| line["subtype"] == "api_retry").collect();
    assert_eq!(retries.len(), 1, "{limited:#?}");
    assert_eq!((&retries[0]["error_status"], &retries[0]["retry_delay_ms"]), (&json!(429), &json!(1000)));
    let result = limited.last("result");
    assert_eq!((&result["is_error"], &result["subtype"]), (&json!(true), &json!("success")));
    assert_eq!((&result["terminal_reason"], &result["api_error_status"]), (&json!("api_error"), &json!(429)));
    assert_eq!(scene.models.turns().len(), 2);
}

/// One that lasts long it does not wait for. How long it lasts is not in its events.
#[test]
fn a_long_rate_limit_ends_it_at_once() {
    let Some(scene) = Scene::new(refuses(Step::rate_limited(3600))) else { return };
    let limited = run(&scene, &[], &prompt("s.a1", "developer", "Do it."));
    assert_eq!((limited.exit, &limited.last("result")["api_error_status"]), (Some(1), &json!(429)), "{limited:#?}");
    assert_eq!(scene.models.turns().len(), 1);
}

#[test]
fn an_overloaded_provider_is_in_its_events() {
    let Some(scene) = Scene::new(refuses(Step::overloaded(529))) else { return };
    let result = run(&scene, &[], &prompt("s.a1", "developer", "Do it."));
    assert_eq!(result.exit, Some(1), "{result:#?}");
    assert_eq!(result.last("result")["api_error_status"], json!(529));
    assert_eq!(result.last("result")["api_error_type"], json!("overloaded_error"));
}
