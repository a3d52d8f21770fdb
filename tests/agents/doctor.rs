//! What is missing is said before anything starts.

use serde_json::Value as Json;

use crate::client::{self, Client};
use crate::models::{Script, Step};
use crate::scene::Scene;

fn silent() -> Script {
    Script::new(|_| Step::say("Nobody asked."))
}

/// What is said of one thing.
#[track_caller]
fn finding<'a>(found: &'a Json, what: &str) -> &'a Json {
    let list = found["findings"].as_array().expect("findings");
    list.iter().find(|finding| finding["what"] == what).unwrap_or_else(|| panic!("no {what} in {found:#}"))
}

#[test]
fn finds_every_client_and_its_version() {
    let Some(scene) = Scene::with_clients(silent()) else { return };
    for (client, name) in [(Client::Claude, "claude"), (Client::Codex, "codex"), (Client::Gemini, "gemini")] {
        let program = client::programs().join(client.name());
        let team = scene.team(&scene.agent(client, &format!("client: {name}, program: {:?}", program.display())));
        let run = scene.interlock(&["--json", "doctor", "--agents", &team]);
        assert_eq!(run.exit, Some(0), "{run:#?}");
        let found = run.json();
        let agent = finding(&found, "agent it")["found"].as_str().expect("it was found");
        let version = agent.strip_prefix(&program.display().to_string()).expect("it says where");
        assert!(version.starts_with(" (") && version.contains(|c: char| c.is_ascii_digit()), "{agent}");
    }
}

/// Also those that a client keeps out of its help: it is asked itself, and starts nothing by that.
#[test]
fn names_flags_that_a_client_does_not_have() {
    let Some(scene) = Scene::with_clients(silent()) else { return };
    for (client, name, hidden) in [
        (Client::Claude, "claude", "--max-turns, \"5\", --append-system-prompt-file, x, --permission-prompt-tool=y"),
        (Client::Codex, "codex", "--oss"),
        (Client::Gemini, "gemini", "--fake-responses, x"),
    ] {
        let program = client::programs().join(name);
        let team = |flag: &str| {
            let agent = format!("client: {name}, program: {:?}, flags: [{flag}]", program.display());
            scene.team(&scene.agent(client, &agent))
        };
        let run = scene.interlock(&["--json", "doctor", "--agents", &team("--skip-everything, -Z")]);
        assert_eq!(run.exit, Some(5), "{run:#?}");
        let found = run.json();
        let problem = finding(&found, "agent it")["problem"].as_str().unwrap_or_default();
        assert!(problem.ends_with("has no `--skip-everything`, `-Z`"), "{problem}");
        let run = scene.interlock(&["--json", "doctor", "--agents", &team(hidden)]);
        assert_eq!(run.exit, Some(0), "{name}: {run:#?}");
    }
    assert!(scene.models.turns().is_empty(), "a model was asked");
}

#[test]
fn names_a_program_that_is_not_there() {
    let scene = Scene::new(silent());
    let team = scene.team("{ client: claude, program: claude-of-nobody }");
    let run = scene.interlock(&["--json", "doctor", "--agents", &team]);
    assert_eq!(run.exit, Some(5), "{run:#?}");
    let found = run.json();
    let agent = finding(&found, "agent it");
    assert_eq!(agent["ok"], false);
    assert!(agent["problem"].as_str().is_some_and(|problem| problem.contains("`claude-of-nobody`")), "{agent}");
    let text = scene.interlock(&["doctor", "--agents", &team]);
    assert_eq!(text.exit, Some(5));
    assert!(text.stdout.contains("claude-of-nobody"), "{text:#?}");
}

#[test]
fn names_clients_that_it_does_not_know_and_flags_that_are_not_ones_own() {
    let scene = Scene::new(silent());
    for (agent, code, word) in [
        ("{ client: claud }", "E0602", "claud"),
        ("{ client: claude, flags: [--output-format, text] }", "E0603", "--output-format"),
        ("{ client: codex, flags: [--json] }", "E0603", "--json"),
        ("{ client: claude, flags: [--print, --resume] }", "E0603", "--resume"),
        ("{ client: acp }", "E0603", "command"),
    ] {
        let team = scene.team(agent);
        let run = scene.interlock(&["--json", "doctor", "--agents", &team]);
        assert_eq!(run.exit, Some(5), "{run:#?}");
        assert!(run.stdout.contains(code) && run.stdout.contains(word), "{code} {word}: {run:#?}");
        let run = scene.interlock(&["--json", "run", "mission.md", "--agents", &team]);
        assert_eq!(run.exit, Some(4), "{run:#?}");
        assert!(run.stdout.contains(code) && run.stdout.contains(word), "{code} {word}: {run:#?}");
    }
}
