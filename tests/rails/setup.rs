//! What `plugin install` leaves behind is what the clients themselves take it for.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value as Json, json};

use crate::client::Client;
use crate::hands::Hands;
use crate::orchestrator::Then;
use crate::scene::Scene;

fn scene(client: Client) -> Option<Scene> {
    Scene::new(Hands::of(client), Then::Stops, Vec::new())
}

#[track_caller]
fn doctor_is_content(scene: &Scene) {
    let found = scene.interlock(&["--json", "plugin", "doctor", scene.client.name()]);
    assert_eq!((found.exit, &found.json()["ok"]), (Some(0), &json!(true)), "{found:#?}");
}

#[test]
fn claude_takes_it_for_a_good_plugin() {
    let Some(scene) = scene(Client::Claude) else { return };
    doctor_is_content(&scene);
    let validated = scene.client(&["plugin", "validate", ".claude/skills/interlock"], "");
    assert_eq!(validated.exit, Some(0), "{validated:#?}");
    let listed = scene.client(&["plugin", "list", "--json"], "");
    assert!(listed.stdout.contains("interlock"), "{listed:#?}");
}

/// The hashes that we write are those that Codex computes.
#[test]
fn codex_trusts_every_hook_by_its_own_account() {
    let Some(scene) = scene(Client::Codex) else { return };
    doctor_is_content(&scene);
    // It shows the hooks of a project only once the project is trusted; that it does itself when it is run.
    scene.run(&[]);
    let hooks = listed_hooks(&scene);
    assert_eq!(hooks.len(), 7, "{hooks:#?}");
    for hook in &hooks {
        assert_eq!((&hook["trustStatus"], &hook["enabled"]), (&json!("trusted"), &json!(true)), "{hook:#}");
    }
    let servers = scene.client(&["mcp", "list"], "");
    assert!(servers.stdout.contains("interlock"), "{servers:#?}");
}

/// What `hooks/list` of the client's own server says of the project.
fn listed_hooks(scene: &Scene) -> Vec<Json> {
    let mut server =
        scene.command(&["app-server"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("codex");
    let mut stdin = server.stdin.take().expect("a pipe");
    let lines = BufReader::new(server.stdout.take().expect("a pipe")).lines();
    let mut send = |message: Json| writeln!(stdin, "{message}").expect("the server listens");
    send(json!({ "id": 1, "method": "initialize", "params": { "clientInfo": { "name": "t", "version": "1" } } }));
    send(json!({ "method": "initialized" }));
    send(json!({ "id": 2, "method": "hooks/list", "params": { "cwds": [scene.project()] } }));
    let messages = lines.map_while(Result::ok).filter_map(|line| serde_json::from_str::<Json>(&line).ok());
    let answer = messages.into_iter().find(|message| message["id"] == 2).expect("an answer");
    server.kill().expect("a child can be killed");
    server.wait().expect("a child can be waited for");
    answer["result"]["data"][0]["hooks"].as_array().unwrap_or_else(|| panic!("no hooks in {answer:#}")).clone()
}

#[test]
fn gemini_lists_the_server_and_runs_the_hooks() {
    let Some(scene) = scene(Client::Gemini) else { return };
    doctor_is_content(&scene);
    let servers = scene.client(&["mcp", "list"], "");
    let said = format!("{}{}", servers.stdout, servers.stderr);
    assert!(said.contains("interlock"), "{said}");
}

/// How often the newest request says how this session stands.
fn restated(scene: &Scene) -> usize {
    let told = format!("How the sessions stand:\n\n{} (active): Add login", scene.orchestrator.session());
    let turn = scene.models.turns().pop().expect("the model was asked");
    turn.told.matches(&told).count() + turn.prompt.matches(&told).count()
}

/// A conversation that is taken up again, or that has lost its memory, is told how the session stands.
#[test]
fn claude_that_goes_on_or_forgets_is_told_how_the_session_stands() {
    const CONVERSATION: &str = "5d6f1c7e-52a4-4d0e-9a55-0c1f0f3b7a10";
    let Some(scene) = scene(Client::Claude) else { return };
    let run = |flag: &str, prompt: &str| {
        let run = scene.asked(&[flag, CONVERSATION], prompt);
        assert_eq!(run.exit, Some(0), "{run:#?}");
        run.stdout
    };
    run("--session-id", "Add a login to this project.");
    assert_eq!(restated(&scene), 0, "when it began there was no session");
    run("--resume", "Go on.");
    assert_eq!(restated(&scene), 1, "{:#?}", scene.models.turns().last());
    // What was said before goes with the memory; it is said again behind that.
    let compacted = run("--resume", "/compact");
    let answered = |line: &str| line.contains("hook_response") && line.contains("SessionStart:compact");
    let told = compacted.lines().find(|line| answered(line)).unwrap_or_else(|| panic!("no such hook in {compacted}"));
    assert!(told.contains("How the sessions stand"), "{told}");
    run("--resume", "Go on.");
    assert_eq!(restated(&scene), 1, "{:#?}", scene.models.turns().last());
    let shown = scene.shown();
    let seen = &shown["watch"]["conversations"][0]["seen"];
    assert!(seen.as_array().is_some_and(|seen| seen.contains(&json!("SessionStart"))), "{shown:#}");
}

/// Everything that was put in goes out again, and the client is as it was.
#[test]
fn what_is_uninstalled_is_gone_for_the_client() {
    let Some(scene) = scene(Client::Claude) else { return };
    let out = scene.interlock(&["plugin", "uninstall", "claude", "--yes"]);
    assert_eq!(out.exit, Some(0), "{out:#?}");
    let doctor = scene.interlock(&["plugin", "doctor", "claude"]);
    assert_eq!(doctor.exit, Some(5), "{doctor:#?}");
    assert!(doctor.stdout.contains("not there: .claude/skills/interlock/"), "{doctor:#?}");
    let run = scene.run(&[]);
    assert_eq!(run.exit, Some(0), "{run:#?}");
    let offered = scene.models.asked().iter().any(|asked| asked.body.to_string().contains("interlock:developer"));
    assert!(!offered, "no role is offered");
}
