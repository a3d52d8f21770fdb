//! Hooks that are removed, cannot be run, do not answer, or were not consented to. The store still refuses what a
//! client then lets through; and unwatched work is reported as unwatched.

use serde_json::{Value as Json, json};

use crate::client::Client;
use crate::hands::Hands;
use crate::models::Step;
use crate::orchestrator::{Attempt, OVER, Then, When};
use crate::scene::{Scene, put};
use crate::team;

const TOKEN: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Shortcuts that no hook holds back here.
fn shortcuts(hands: Hands) -> Vec<Attempt> {
    let program = env!("CARGO_BIN_EXE_interlock");
    let approved = team::whole("project_manager", &team::fields("project_manager", 1));
    vec![
        Attempt::new(When::First, "a report without a token", move |_, session| {
            let report = json!({ "assignment": format!("{session}.a1"), "token": TOKEN, "handoff": approved });
            hands.call("report_handoff", report)
        }),
        Attempt::new(When::First, "the end, asked for", move |turn, session| {
            hands.run(turn, &format!("{program} complete {session}"))
        }),
        Attempt::new(When::First, "the end, by SQL", move |turn, _| {
            hands.run(turn, "sqlite3 .interlock/interlock.db \"UPDATE sessions SET status = 'completed'\" 2>&1")
        }),
    ]
}

fn claim(hands: Hands) -> Attempt {
    Attempt::new(When::First, "a claim of its own", move |_, session| {
        hands.call("claim_assignment", json!({ "assignment": format!("{session}.a1") }))
    })
}

fn spawn(hands: Hands) -> Attempt {
    let kind = hands.kind("project_manager");
    Attempt::new(When::First, "the role whose turn it is", move |_, session| {
        hands.spawn(&kind, &format!("Do assignment {session}.a1."))
    })
}

/// The store has refused the shortcuts, although no hook watched.
#[track_caller]
fn the_store_refuses(scene: &Scene) {
    let answer = |what: &str| scene.orchestrator.answer(what);
    assert!(answer("a report without a token").contains("E030"), "{}", answer("a report without a token"));
    assert!(answer("the end, asked for").contains("REJECT"), "{}", answer("the end, asked for"));
    let sql = answer("the end, by SQL");
    assert!(sql.contains("interlock:") || sql.contains("refused"), "{sql}");
}

/// The session was driven to its end by the model alone, and says so.
#[track_caller]
fn nobody_has_watched(scene: &Scene) {
    let shown = scene.shown();
    assert_eq!(shown["status"], "completed", "{shown:#}");
    let watch = &shown["watch"];
    assert_eq!((&watch["watched"], &watch["unwatched"]), (&json!(0), &json!(8)), "{watch:#}");
    assert_eq!(watch["conversations"], json!([]), "{watch:#}");
    let text = scene.interlock(&["session", "show", &scene.orchestrator.session()]).stdout;
    assert!(text.contains("watched: 0 of 8 handoffs"), "{text}");
    assert!(text.contains("no hook of a client was ever seen"), "{text}");
}

/// What `plugin doctor` finds wrong: each thing with what it says of it.
#[track_caller]
fn doctor_names(scene: &Scene, what: &str, words: &str) {
    let found = scene.interlock(&["--json", "plugin", "doctor", scene.client.name()]);
    assert_eq!(found.exit, Some(5), "{found:#?}");
    let found = found.json();
    let findings = found["findings"].as_array().expect("findings");
    let finding = findings.iter().find(|finding| finding["what"] == what).expect("it was looked at");
    assert_eq!(finding["ok"], false, "{found:#}");
    assert!(finding["problem"].as_str().is_some_and(|problem| problem.contains(words)), "{finding:#}");
}

/// The file that has the hooks of a client, and nothing but hooks in it that matters here.
fn hooks_file(client: Client) -> &'static str {
    match client {
        Client::Claude => ".claude/skills/interlock/hooks/hooks.json",
        Client::Gemini => ".gemini/settings.json",
        Client::Codex | Client::CodexAcp => ".codex/hooks.json",
    }
}

/// Changes the handlers of a client's hooks.
fn change_hooks(scene: &Scene, change: impl Fn(&mut Json)) {
    let name = hooks_file(scene.client);
    let mut settings: Json = serde_json::from_str(&scene.file(name).expect("hooks are installed")).expect("JSON");
    let events = settings["hooks"].as_object_mut().expect("hooks are installed");
    for group in events.values_mut().flat_map(|groups| groups.as_array_mut().expect("a list")) {
        change(&mut group["hooks"][0]);
    }
    scene.put(name, &settings.to_string());
}

fn take_hooks_out(scene: &Scene) {
    let name = hooks_file(scene.client);
    let mut settings: Json = serde_json::from_str(&scene.file(name).expect("hooks are installed")).expect("JSON");
    settings["hooks"] = json!({});
    scene.put(name, &settings.to_string());
}

fn driven(client: Client, plugin: bool) -> Vec<Attempt> {
    shortcuts(Hands { plugin, ..Hands::of(client) })
}

fn hooks_taken_out(client: Client) {
    let Some(scene) = Scene::new(Hands::of(client), Then::Drives, driven(client, true)) else { return };
    take_hooks_out(&scene);
    doctor_names(&scene, "files", hooks_file(client));
    let run = scene.run(&[]);
    assert_eq!(run.exit, Some(0), "{run:#?}");
    the_store_refuses(&scene);
    nobody_has_watched(&scene);
}

#[test]
fn claude_without_hooks_is_not_watched_and_the_store_refuses() {
    hooks_taken_out(Client::Claude);
}

#[test]
fn codex_without_hooks_is_not_watched_and_the_store_refuses() {
    hooks_taken_out(Client::Codex);
}

#[test]
fn gemini_without_hooks_is_not_watched_and_the_store_refuses() {
    hooks_taken_out(Client::Gemini);
}

/// A client in an untrusted project loads neither hooks nor server; the user has a server of Interlock's elsewhere.
#[test]
fn claude_in_a_project_without_trust_is_not_watched() {
    let client = Client::Claude;
    let Some(scene) = Scene::bare(Hands { plugin: false, ..Hands::of(client) }, Then::Drives, driven(client, false))
    else {
        return;
    };
    scene.interlock(&["plugin", "install", "claude", "--yes"]);
    doctor_names(&scene, "consent", "does not trust");
    let servers = json!({ "mcpServers": { "interlock": {
        "type": "stdio", "command": env!("CARGO_BIN_EXE_interlock"), "args": ["mcp"],
    } } });
    let run = scene.run(&["--mcp-config", &servers.to_string()]);
    assert_eq!(run.exit, Some(0), "{run:#?}");
    the_store_refuses(&scene);
    nobody_has_watched(&scene);
}

/// Codex runs no hook without consent, and does not say so; the server it starts.
#[test]
fn codex_without_consent_is_not_watched() {
    let client = Client::Codex;
    let Some(scene) = Scene::new(Hands::of(client), Then::Drives, driven(client, true)) else { return };
    let file = scene.home().join("codex/config.toml");
    let config = std::fs::read_to_string(&file).expect("a config");
    let (before, _) = config.split_once("[hooks.state").expect("consent was written");
    put(&file, before);
    doctor_names(&scene, "consent", "its user has not agreed");
    let run = scene.run(&[]);
    assert_eq!(run.exit, Some(0), "{run:#?}");
    the_store_refuses(&scene);
    nobody_has_watched(&scene);
}

#[test]
fn gemini_in_a_folder_without_trust_is_not_watched() {
    let client = Client::Gemini;
    let Some(scene) = Scene::bare(Hands { plugin: false, ..Hands::of(client) }, Then::Drives, driven(client, false))
    else {
        return;
    };
    scene.interlock(&["plugin", "install", "gemini", "--yes"]);
    doctor_names(&scene, "consent", "does not trust");
    let file = scene.home().join("gemini/.gemini/settings.json");
    let mut settings: Json = serde_json::from_str(&std::fs::read_to_string(&file).expect("settings")).expect("JSON");
    settings["mcpServers"] = json!({ "interlock": { "command": env!("CARGO_BIN_EXE_interlock"), "args": ["mcp"] } });
    put(&file, &settings.to_string());
    let run = scene.run(&["--skip-trust"]);
    assert_eq!(run.exit, Some(0), "{run:#?}");
    the_store_refuses(&scene);
    nobody_has_watched(&scene);
}

/// Where the workflow requires it, unwatched work does not count.
fn unwatched_work_is_refused(client: Client) {
    let hands = Hands::of(client);
    let Some(scene) = Scene::new(Hands::of(client), Then::Stops, vec![claim(hands)]) else { return };
    scene.requires_watching();
    take_hooks_out(&scene);
    let run = scene.run(&[]);
    assert_eq!(run.exit, Some(0), "{run:#?}");
    let answer = scene.orchestrator.answer("a claim of its own");
    assert!(answer.contains("E0349") && answer.contains("plugin install"), "{answer}");
    assert_eq!(scene.shown()["status"], "active");
}

#[test]
fn claude_without_hooks_cannot_claim_where_watching_is_required() {
    unwatched_work_is_refused(Client::Claude);
}

#[test]
fn codex_without_hooks_cannot_claim_where_watching_is_required() {
    unwatched_work_is_refused(Client::Codex);
}

#[test]
fn gemini_without_hooks_cannot_claim_where_watching_is_required() {
    unwatched_work_is_refused(Client::Gemini);
}

/// Hooks that cannot be run: the program is gone, or is no program any more.
fn hooks_that_cannot_run(client: Client, program: &str) {
    let hands = Hands::of(client);
    // Where the hooks cannot run, the session is started by a person.
    let Some(scene) = Scene::new(Hands::of(client), Then::Stops, vec![spawn(hands), claim(hands)]) else { return };
    scene.start_session();
    scene.put("no-program", "This cannot be run.\n");
    let program = program.replace("PROJECT", &scene.project().display().to_string());
    change_hooks(&scene, |handler| {
        let command =
            handler["command"].as_str().expect("a command").replace(env!("CARGO_BIN_EXE_interlock"), &program);
        handler["command"] = json!(command);
    });
    doctor_names(&scene, "files", hooks_file(client));
    let bypass: &[&str] = if client == Client::Codex { &["--dangerously-bypass-hook-trust"] } else { &[] };
    let run = scene.run(bypass);
    assert_eq!(run.exit, Some(0), "{run:#?}");
    for what in ["the role whose turn it is", "a claim of its own"] {
        let answer = scene.orchestrator.answer(what);
        let blocked = ["blocked", "blocking", "hook error"].iter().any(|word| answer.contains(word));
        assert!(blocked, "{what}: {answer}\n{run:#?}");
    }
    let subs = scene.models.turns().iter().filter(|turn| turn.role().is_some()).count();
    assert_eq!(subs, 0, "nobody was started");
    let shown = scene.shown();
    assert_eq!(shown["watch"]["conversations"], json!([]), "{shown:#}");
}

#[test]
fn claude_starts_nobody_when_its_hooks_are_missing() {
    hooks_that_cannot_run(Client::Claude, "/nowhere/interlock");
}

#[test]
fn claude_starts_nobody_when_its_hooks_are_no_programs() {
    hooks_that_cannot_run(Client::Claude, "PROJECT/no-program");
}

#[test]
fn codex_starts_nobody_when_its_hooks_are_missing() {
    hooks_that_cannot_run(Client::Codex, "/nowhere/interlock");
}

#[test]
fn codex_starts_nobody_when_its_hooks_are_no_programs() {
    hooks_that_cannot_run(Client::Codex, "PROJECT/no-program");
}

#[test]
fn gemini_starts_nobody_when_its_hooks_are_missing() {
    hooks_that_cannot_run(Client::Gemini, "/nowhere/interlock");
}

#[test]
fn gemini_starts_nobody_when_its_hooks_are_no_programs() {
    hooks_that_cannot_run(Client::Gemini, "PROJECT/no-program");
}

/// The hooks run, but cannot reach the store: what they cannot judge they hold back, and a turn still ends.
fn hooks_that_cannot_judge(client: Client) {
    let hands = Hands::of(client);
    let Some(scene) = Scene::new(Hands::of(client), Then::Stops, vec![spawn(hands), claim(hands)]) else { return };
    scene.start_session();
    let keys = scene.lose_keys();
    doctor_names(&scene, "store", "chain key");
    let run = scene.run(&[]);
    assert_eq!(run.exit, Some(0), "{run:#?}");
    for what in ["the role whose turn it is", "a claim of its own"] {
        let answer = scene.orchestrator.answer(what);
        assert!(answer.contains("E0706") && answer.contains("plugin doctor"), "{what}: {answer}");
    }
    assert!(scene.models.turns().len() < 8, "it is held back from stopping once");
    keys.find_again();
    assert_eq!(scene.shown()["status"], "active");
}

#[test]
fn claude_starts_nobody_when_its_hooks_cannot_judge() {
    hooks_that_cannot_judge(Client::Claude);
}

#[test]
fn codex_starts_nobody_when_its_hooks_cannot_judge() {
    hooks_that_cannot_judge(Client::Codex);
}

#[test]
fn gemini_starts_nobody_when_its_hooks_cannot_judge() {
    hooks_that_cannot_judge(Client::Gemini);
}

/// Hooks that do not answer in time.
fn hang(scene: &Scene) {
    let second = if scene.client == Client::Gemini { json!(1000) } else { json!(1) };
    change_hooks(scene, |handler| {
        handler["command"] = json!("exec sleep 30");
        handler["timeout"] = second.clone();
    });
}

/// Claude Code is told to hold back then; only the end of a turn it lets through.
#[test]
fn claude_starts_nobody_when_its_hooks_hang() {
    let client = Client::Claude;
    let hands = Hands::of(client);
    let Some(scene) = Scene::new(Hands::of(client), Then::Stops, vec![spawn(hands), claim(hands)]) else { return };
    scene.start_session();
    hang(&scene);
    let run = scene.run(&[]);
    assert_eq!(run.exit, Some(0), "{run:#?}");
    for what in ["the role whose turn it is", "a claim of its own"] {
        let answer = scene.orchestrator.answer(what);
        assert!(answer.contains("timed out") && answer.contains("onFailure"), "{what}: {answer}");
    }
    assert_eq!(scene.shown()["watch"]["conversations"], json!([]));
}

/// The other two let everything through then, and know no way to be told otherwise; what follows is not watched.
fn hanging_hooks_watch_nothing(client: Client, flags: &[&str]) {
    let hands = Hands::of(client);
    let Some(scene) = Scene::new(Hands::of(client), Then::Stops, vec![claim(hands)]) else { return };
    scene.start_session();
    hang(&scene);
    let run = scene.run(flags);
    assert_eq!(run.exit, Some(0), "{run:#?}");
    let answer = scene.orchestrator.answer("a claim of its own");
    assert!(answer.contains("# Assignment"), "{answer}");
    let shown = scene.shown();
    assert_eq!(shown["watch"]["conversations"], json!([]), "{shown:#}");
    assert_eq!(shown["status"], "active", "{shown:#}");
}

#[test]
fn codex_lets_through_what_hanging_hooks_do_not_see() {
    hanging_hooks_watch_nothing(Client::Codex, &["--dangerously-bypass-hook-trust"]);
}

#[test]
fn gemini_lets_through_what_hanging_hooks_do_not_see() {
    hanging_hooks_watch_nothing(Client::Gemini, &[]);
}

/// The model has nothing but words left.
#[test]
fn words_alone_complete_nothing() {
    let client = Client::Claude;
    let over = Attempt::new(When::First, "words", |_, _| Step::say(OVER));
    let Some(scene) = Scene::new(Hands::of(client), Then::Stops, vec![over]) else { return };
    take_hooks_out(&scene);
    let run = scene.run(&[]);
    assert_eq!(run.exit, Some(0), "{run:#?}");
    let shown = scene.shown();
    assert_eq!(shown["status"], "active", "{shown:#}");
}
