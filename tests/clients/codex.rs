//! Codex.

use serde_json::{Value as Json, json};

use crate::client::Client::Codex;
use crate::models::{Script, Step, Turn};
use crate::scene::{Run, Scene};
use crate::{handoff, prompt, refuses, work, worker};

/// The sandbox lets it write into its folder, but neither commit nor open a socket.
const BASE: [&str; 4] = ["exec", "--json", "--sandbox", "workspace-write"];
const FREE: [&str; 3] = ["exec", "--json", "--dangerously-bypass-approvals-and-sandbox"];

fn run(scene: &Scene, base: &[&str], more: &[&str], prompt: &str) -> Run {
    scene.run(Codex, &[base, more, &["-"]].concat(), prompt)
}

/// The last thing of a kind that the agent did.
fn item<'a>(run: &'a Run, kind: &str) -> &'a Json {
    let mut items = run.all("item.completed").into_iter().map(|line| &line["item"]);
    items.rfind(|item| item["type"] == kind).unwrap_or_else(|| panic!("no {kind} in {run:#?}"))
}

fn last_words(run: &Run) -> &Json {
    &item(run, "agent_message")["text"]
}

#[test]
fn works_hands_in_and_goes_on_where_it_was() {
    let Some(scene) = Scene::new(worker()) else { return };
    let first = run(&scene, &BASE, &[], &prompt("s.a1", "developer", "Do it."));
    assert_eq!(first.exit, Some(0), "{first:#?}");
    assert_eq!(last_words(&first), &json!(handoff("s.a1", "developer", 0)));
    assert!(first.last("turn.completed")["usage"]["output_tokens"].is_number());
    let thread = first.last("thread.started")["thread_id"].as_str().expect("a thread has an id");

    let second = run(&scene, &BASE, &["resume", thread], &prompt("s.a2", "developer", "Once more."));
    assert_eq!(second.exit, Some(0), "{second:#?}");
    assert_eq!(second.last("thread.started")["thread_id"], json!(thread));
    assert_eq!(last_words(&second), &json!(handoff("s.a2", "developer", 1)));
    assert_eq!(scene.file("work.txt"), "s.a1\ns.a2\n");
    scene.nobody_else_was_asked();
}

#[test]
fn a_conversation_that_is_not_there_is_no_event_at_all() {
    let Some(scene) = Scene::new(worker()) else { return };
    let lost = run(&scene, &BASE, &["resume", "01a1e47c-0000-7a61-b5f6-a4c6954f940d"], "Do it.");
    assert_eq!((lost.exit, lost.lines.len()), (Some(1), 0), "{lost:#?}");
    assert!(lost.stderr.contains("no rollout found for thread id"), "{lost:#?}");
}

/// What git keeps is read-only in the sandbox, unless it is told otherwise.
#[test]
fn it_can_commit_only_where_its_sandbox_lets_it() {
    const COMMIT: &str = "git -c user.name=A -c user.email=a@example.com commit --quiet --allow-empty --message M";
    let commit = |turn: &Turn| if turn.fresh_results == 0 { turn.run(COMMIT) } else { work(turn) };
    let Some(scene) = Scene::new(Script::new(commit)) else { return };
    let git = scene.repository().join(".git");
    let told = ["--config", &format!("sandbox_workspace_write.writable_roots=[{git:?}]")];
    for (base, more, lets) in [(&BASE[..], &[][..], false), (&BASE, &told, true), (&FREE, &[], true)] {
        let committed = run(&scene, base, more, &prompt("s.a1", "developer", "Commit."));
        assert_eq!(committed.exit, Some(0), "{committed:#?}");
        let given = scene.models.turns().pop().expect("the model was asked").tool_results;
        assert_eq!(given[0].contains("Read-only file system"), !lets, "{given:?}");
    }
    assert_eq!(scene.file(".git/logs/HEAD").lines().count(), 2, "those that it lets commit have committed");
}

/// Lines of type `error` come for every attempt; it is over with `turn.failed`.
#[test]
fn a_rate_limit_is_in_its_events() {
    let Some(scene) = Scene::new(refuses(Step::rate_limited(1))) else { return };
    let limited = run(&scene, &BASE, &[], &prompt("s.a1", "developer", "Do it."));
    assert_eq!(limited.exit, Some(1), "{limited:#?}");
    let status = "exceeded retry limit, last status: 429 Too Many Requests";
    assert_eq!(limited.all("error")[0]["message"], json!(format!("Reconnecting... 1/1 ({status})")));
    assert_eq!(limited.last("turn.failed")["error"]["message"], json!(status));
}

#[test]
fn a_provider_in_trouble_is_in_its_events() {
    for (status, expected) in [(500, "high demand"), (529, "unexpected status 529")] {
        let Some(scene) = Scene::new(refuses(Step::overloaded(status))) else { return };
        let failed = run(&scene, &BASE, &[], &prompt("s.a1", "developer", "Do it."));
        assert_eq!(failed.exit, Some(1), "{failed:#?}");
        let message = failed.last("turn.failed")["error"]["message"].to_string();
        assert!(message.contains(expected), "{message}");
    }
}
