//! What people do to a run: answer, pause, stop.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value as Json;

use crate::yard::{Yard, script};

/// The developer needs to know something.
const ASKS: &str = "  - { role: project_manager, group: session, attempt: 1, says: { status: NEEDS_CLARIFICATION, questions: [{ text: \"Which?\", options: [red, blue] }], handoff: { next_agent: null, context: \"Which colour?\" } } }\n  - { role: project_manager, group: session, attempt: 2, says: { status: PLANNING_COMPLETE, groups: [{ id: one, title: One }] } }";

fn question(yard: &Yard) -> Option<String> {
    let output = yard.ask(&["question", "list", "--json"]);
    let list: Json = serde_json::from_slice(&output.stdout).ok()?;
    Some(list["questions"][0]["question"].as_str()?.to_owned())
}

#[test]
fn a_question_is_answered_from_elsewhere_while_the_run_waits() {
    let yard =
        Yard::new("a_question", &[("scripted.yaml", &script("{ id: one, title: One }", ASKS)), ("m.md", "# Ask\n")]);
    yard.ask(&["init"]);
    let run = yard.start(&["m.md", "--agents", "scripted"]);
    let id = yard.until("a question", || question(&yard));
    yard.json(&["answer", &id, "--text", "red"]);
    let output = run.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(&format!("interlock answer {id}")), "the terminal says how: {text}");
}

#[test]
fn a_run_that_does_not_wait_says_what_waits() {
    let yard =
        Yard::new("no_wait", &[("scripted.yaml", &script("{ id: one, title: One }", ASKS)), ("m.md", "# Ask\n")]);
    let output = yard.ask(&["run", "m.md", "--agents", "scripted", "--no-wait"]);
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("E0609") && said.contains("1 question waits for a person"), "{said}");
    let text = String::from_utf8_lossy(&output.stdout);
    let end = text.split("\n\n").skip(1).collect::<String>();
    let session = yard.json(&["session", "list"])["sessions"][0]["session"].as_str().expect("a session").to_owned();
    assert!(end.contains("waits    q1  Which?") && end.contains("1  red"), "{end}");
    assert!(end.contains(&format!("interlock answer {session}.q1 --option N")), "{end}");
    assert!(end.contains("nothing is merged yet") && !text.contains("git merge"), "{end}");
}

#[test]
fn a_question_with_a_default_answers_itself_and_people_are_told() {
    let told = "told.json";
    let agents = format!(
        "agents: {{ s: {{ client: scripted }} }}\nroles: {{ any: s }}\ndefaults: {{ stuck: {{ after: 200ms, option: drop }}, nothing_completed: {{ after: 200ms, option: confirm }} }}\n\
         notify: {{ command: [sh, -c, \"cat > {told}.new; test -e {told} || mv {told}.new {told}\"] }}\n"
    );
    let more = "  - { role: developer, prints: nothing }\n  - { role: senior_software_engineer, prints: nothing }\n  - { role: project_manager, group: one, prints: nothing }";
    let yard = Yard::new(
        "a_default",
        &[
            ("scripted.yaml", &script("{ id: one, title: One }, { id: two, title: Two }", more)),
            ("agents.yaml", &agents),
            ("m.md", "# Ask\n"),
        ],
    );
    let run = yard.command(&["run", "m.md", "--json"]).output().expect("the program");
    let ended: Json = serde_json::from_slice(&run.stdout).expect("a document");
    assert_eq!(ended["groups"][0]["status"], "cancelled", "{ended}");
    let message = yard
        .until("the command is told", || fs::read_to_string(yard.path(told)).ok().filter(|text| text.ends_with('}')));
    let message: Json = serde_json::from_str(&message).expect("JSON");
    assert_eq!(message["kind"], "question");
    assert!(
        message["options"].as_array().is_some_and(|options| options.iter().any(|option| option == "drop")),
        "{message}"
    );
}

/// Agents achieve nothing on `one`, and the question what to do has the default.
fn with_default(test: &str, default: &str) -> Yard {
    let agents = format!("agents: {{ s: {{ client: scripted }} }}\nroles: {{ any: s }}\ndefaults: {{ {default} }}\n");
    let more = "  - { role: developer, group: one, prints: nothing }\n  - { role: senior_software_engineer, group: one, prints: nothing }\n  - { role: project_manager, group: one, prints: nothing }";
    let script = script("{ id: one, title: One }, { id: two, title: Two }", more);
    Yard::new(test, &[("scripted.yaml", &script), ("agents.yaml", &agents), ("m.md", "# Ask\n")])
}

#[test]
fn a_run_that_does_not_wait_for_people_waits_for_a_default() {
    let yard = with_default("no_wait_default", "stuck: { after: 2s, option: drop }");
    let output = yard.ask(&["run", "m.md", "--no-wait"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("\"the default of the agents file\": drop"), "{text}");
}

#[test]
fn a_default_counts_from_when_the_question_was_asked() {
    let yard = with_default("since_asked", "");
    assert_eq!(yard.ask(&["run", "m.md", "--no-wait"]).status.code(), Some(3));
    std::thread::sleep(Duration::from_secs(3));
    // Counted from the start of the run, it would take three seconds more.
    let agents = fs::read_to_string(yard.path("agents.yaml")).expect("a file");
    yard.write("agents.yaml", &agents.replace("defaults: {  }", "defaults: { stuck: { after: 3s, option: drop } }"));
    let began = std::time::Instant::now();
    let run = yard.start(&["m.md"]);
    yard.until("it is answered", || {
        let list = yard.json(&["question", "list"]);
        list["questions"].as_array().is_some_and(Vec::is_empty).then_some(())
    });
    assert!(began.elapsed() < Duration::from_millis(2900), "{:?}", began.elapsed());
    assert!(run.wait_with_output().expect("it ends").status.success());
}

#[test]
fn a_default_that_is_refused_is_told_of_once() {
    // A question of the manager's that brings options of its own: which, the file cannot know.
    let agents = "agents: { s: { client: scripted } }\nroles: { any: s }\ndefaults: { clarify: { after: 10ms, option: green } }\n";
    let yard = Yard::new(
        "refused_default",
        &[("scripted.yaml", &script("{ id: one, title: One }", ASKS)), ("agents.yaml", agents), ("m.md", "# Ask\n")],
    );
    let output = yard.ask(&["run", "m.md", "--no-wait"]);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let said = "q1: the default of `clarify` in the agents file, `green`, was refused: ";
    assert_eq!(text.matches(said).count(), 1, "{text}");
    assert!(text.contains("`green` is not an option of this question; possible: red, blue"), "{text}");
}

#[test]
fn words_are_a_default_where_the_question_takes_them() {
    let agents = "agents: { s: { client: scripted } }\nroles: { any: s }\ndefaults: { clarify: { after: 10ms, text: \"as you like\" } }\n";
    let yard = Yard::new(
        "default_text",
        &[("scripted.yaml", &script("{ id: one, title: One }", ASKS)), ("agents.yaml", agents), ("m.md", "# Ask\n")],
    );
    let output = yard.ask(&["run", "m.md", "--no-wait"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("\"the default of the agents file\": as you like"), "{text}");
    let wrong = |default: &str| {
        yard.write(
            "agents.yaml",
            &format!("agents: {{ s: {{ client: scripted }} }}\nroles: {{ any: s }}\ndefaults: {{ {default} }}\n"),
        );
        let output = yard.ask(&["run", "m.md"]);
        assert_eq!(output.status.code(), Some(4));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let said = wrong("stuck: { after: 1s, text: whatever }");
    assert!(said.contains("E0603") && said.contains("question `stuck` takes no text"), "{said}");
    for default in ["stuck: { after: 1s }", "stuck: { after: 1s, option: drop, text: drop }"] {
        let said = wrong(default);
        assert!(said.contains("E0603") && said.contains("takes either an `option` or a `text`"), "{said}");
    }
}

#[test]
fn a_budget_that_is_used_up_is_a_question() {
    let agents =
        "agents: { s: { client: scripted } }\nroles: { any: s, developer: { agent: s, budget: { time: 300ms } } }\n";
    let more = "  - { role: developer, attempt: 1, does: [{ say: begins, wait: 2s }, { say: more, wait: 30s }], says: { status: READY_FOR_QA } }";
    let yard = Yard::new(
        "a_budget",
        &[("scripted.yaml", &script("{ id: one, title: One }", more)), ("agents.yaml", agents), ("m.md", "# Long\n")],
    );
    let output = yard.ask(&["run", "m.md", "--no-wait"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{text}");
    let list = yard.json(&["question", "list"]);
    assert!(list["questions"][0]["text"].as_str().is_some_and(|text| text.contains("budget")), "{list}");
}

#[test]
fn a_second_run_is_refused_and_a_stopped_one_goes_on() {
    let more = "  - { role: developer, attempt: 1, does: [{ wait: 3s }, { write: slow, text: x }], says: { status: READY_FOR_QA } }";
    let yard =
        Yard::new("a_second_run", &[("scripted.yaml", &script("{ id: one, title: One }", more)), ("m.md", "# Slow\n")]);
    yard.ask(&["init"]);
    let run = yard.start(&["m.md", "--agents", "scripted"]);
    yard.until("the developer is at work", || {
        let list = yard.ask(&["session", "list", "--json"]);
        let list: Json = serde_json::from_slice(&list.stdout).ok()?;
        let session = list["sessions"][0]["session"].as_str()?.to_owned();
        let next = yard.json(&["session", "next", &session]);
        (next["assignments"][0]["role"] == "developer" && next["assignments"][0]["claimed"] == true).then_some(())
    });
    let second = yard.ask(&["run", "m.md", "--agents", "scripted"]);
    assert!(String::from_utf8_lossy(&second.stderr).contains("E0606"), "{}", String::from_utf8_lossy(&second.stderr));
    let stopped = Command::new("kill").args(["-INT", &run.id().to_string()]).status().expect("kill");
    assert!(stopped.success());
    let output = run.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("E0609"));
    let ended = yard.run(&["m.md", "--agents", "scripted"]);
    assert_eq!(ended["status"], "completed");
    assert_eq!(yard.json(&["session", "list"])["sessions"].as_array().map(Vec::len), Some(1), "the same session");
}

#[test]
fn nothing_starts_in_a_paused_session() {
    let yard = Yard::new("paused", &[("scripted.yaml", &script("{ id: one, title: One }", "")), ("m.md", "# Pause\n")]);
    yard.ask(&["init"]);
    let session = yard.json(&["session", "start", "--title", "Pause", "--mission", "m.md"]);
    let session = session["session"].as_str().expect("a session").to_owned();
    yard.json(&["pause", &session]);
    let mut run = yard.start(&["m.md", "--agents", "scripted"]);
    std::thread::sleep(Duration::from_millis(800));
    assert!(run.try_wait().expect("a process").is_none(), "it waits");
    let next = yard.json(&["session", "next", &session]);
    assert_eq!(next["assignments"][0]["claimed"], false, "nobody was started");
    yard.json(&["resume", &session]);
    assert!(run.wait_with_output().expect("it ends").status.success());
}

/// A client that is told to come back later, as often as `refusals` says.
fn refused(test: &str, refusals: u32) -> Yard {
    let agent = format!(
        "echo x >> \"$HOME/turns\"\ncat > /dev/null\ntest $(wc -l < \"$HOME/turns\") -gt {refusals} || exit 75\n\
         echo x > one.txt\necho '{{\"agent\":\"developer\",\"output_type\":\"r\",\"timestamp\":\"2026-01-01T00:00:00Z\",\
         \"feature_directory\":\".\",\"skills_invoked\":[],\"status\":\"READY_FOR_QA\",\"handoff\":{{\"next_agent\":null,\
         \"context\":\"done\"}}}}' > \"$INTERLOCK_OUTPUT/handoff.json\"\n"
    );
    let agents = "agents: { s: { client: scripted }, c: { client: command, command: [sh, ./agent.sh] } }\n\
                  roles: { any: s, developer: c }\nretry: { first: 700ms, longest: 700ms }\n";
    let script = script("{ id: one, title: One }", "");
    let files = [("scripted.yaml", script.as_str()), ("agent.sh", &agent), ("agents.yaml", agents), ("m.md", "# M\n")];
    let yard = Yard::new(test, &files);
    let path = yard.path("agent.sh").display().to_string();
    yard.write("agents.yaml", &agents.replace("./agent.sh", &format!("{path:?}")));
    yard.ask(&["init"]);
    yard
}

fn turns(yard: &Yard) -> usize {
    fs::read_to_string(yard.path("../turns")).unwrap_or_default().lines().count()
}

/// Waits until the client was refused once, and pauses then. The session.
fn pause_after_the_first(yard: &Yard) -> String {
    yard.until("the client is refused", || (turns(yard) == 1).then_some(()));
    let list = yard.json(&["session", "list"]);
    let session = list["sessions"][0]["session"].as_str().expect("a session").to_owned();
    yard.json(&["pause", &session]);
    session
}

#[test]
fn a_pause_also_holds_what_is_tried_again() {
    let yard = refused("paused_retry", 2);
    let mut run = yard.start(&["m.md"]);
    let session = pause_after_the_first(&yard);
    std::thread::sleep(Duration::from_millis(2500));
    assert!(run.try_wait().expect("a process").is_none(), "it waits");
    assert_eq!(turns(&yard), 1, "nothing starts while it is paused");
    yard.json(&["resume", &session]);
    let output = run.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(turns(&yard), 3);
    let log = yard.json(&["log", &session]).to_string();
    assert!(!log.contains("lease_expired"), "it is the same attempt: {log}");
}

#[test]
fn a_run_that_waits_for_nobody_does_not_wait_for_the_end_of_a_pause() {
    let yard = refused("paused_no_wait", 1);
    let ends = |run: std::process::Child| {
        let output = run.wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(3) && text.contains("E0609") && text.contains("is paused"), "{text}");
    };
    let run = yard.start(&["m.md", "--no-wait"]);
    let session = pause_after_the_first(&yard);
    ends(run);
    // Also where nothing is at work from the beginning.
    ends(yard.start(&["m.md", "--no-wait"]));
    assert_eq!(turns(&yard), 1);
    yard.json(&["resume", &session]);
    assert_eq!(yard.run(&["m.md", "--no-wait"])["status"], "completed");
    assert_eq!(turns(&yard), 2);
}

/// The address is in the environment, and a local server is told.
#[test]
fn a_webhook_is_told_of_a_question() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/hook?secret=s3cret", listener.local_addr().expect("an address"));
    let agents = "agents: { s: { client: scripted } }\nroles: { any: s }\nnotify: { webhook_env: TEAM_WEBHOOK }\n";
    let script = script("{ id: one, title: One }", ASKS);
    let yard = Yard::new("a_webhook", &[("scripted.yaml", &script), ("agents.yaml", agents), ("m.md", "# Ask\n")]);
    let mut run = yard.command(&["run", "m.md"]);
    let mut run = run.env("TEAM_WEBHOOK", &address).stdout(Stdio::null()).spawn().expect("the program");
    let (mut stream, _) = listener.accept().expect("somebody calls");
    let mut told = String::new();
    let mut chunk = [0; 4096];
    while !told.contains("\"kind\":\"question\"") {
        let count = stream.read(&mut chunk).expect("it is read");
        assert!(count > 0, "{told}");
        told.push_str(&String::from_utf8_lossy(&chunk[..count]));
    }
    stream.write_all(b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n").expect("an answer");
    assert!(told.starts_with("POST /hook?secret=s3cret HTTP/1.1\r\n"), "{told}");
    run.kill().expect("it waits for ever");
    run.wait().expect("it ends");
}

#[test]
fn a_markdown_file_will_do_as_a_handoff() {
    let agent = "#!/bin/sh\ncat > /dev/null\nprintf 'I am done.\\n\\n```json\\n{\"agent\":\"tech_lead\",\"output_type\":\"r\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"feature_directory\":\".\",\"skills_invoked\":[],\"status\":\"APPROVED\",\"issues\":[],\"handoff\":{\"next_agent\":null,\"context\":\"fine\"}}\\n```\\n' > \"$INTERLOCK_OUTPUT/review.md\"\n";
    let agents = "agents: { s: { client: scripted }, m: { client: command, command: [sh, \"{{here}}\"] } }\nroles: { any: s, tech_lead: m }\n";
    let script = script("{ id: one, title: One }", "");
    let yard = Yard::new("markdown", &[("scripted.yaml", &script), ("lead.sh", agent), ("m.md", "# One\n")]);
    let lead = yard.path("lead.sh");
    yard.write("agents.yaml", &agents.replace("{{here}}", &lead.display().to_string()));
    assert_eq!(yard.run(&["m.md"])["status"], "completed");
}
