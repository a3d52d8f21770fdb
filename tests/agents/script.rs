//! The model's turns in a session of `delivery-team`: two groups, one of which fails in every way that does not count
//! as a failure of the group.
//!
//! - `docs` is built, but its first handoff is not accepted; its tester forgets the handoff; and its reviewer
//!   tries to
//!   change it.
//! - `login` is blocked, investigated by an agent whose questions get no answer, and unblocked; then the
//!   provider refuses;
//!   then it is built.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::models::{Script, Step, Turn};

/// What the tech lead advises, and by which the developer of `login` can go on.
const ADVICE: &str = "Take the key from the vault of the team";
/// How a handoff begins that was sent back.
pub(crate) const SENT_BACK: &str = "Your handoff was not accepted";
/// How long the model thinks while a test kills the run.
pub(crate) const THINKING: Duration = Duration::from_millis(1500);

/// How the provider refuses: this often, with this.
#[derive(Clone)]
pub(crate) struct Refusal {
    pub(crate) times: u32,
    pub(crate) step: Step,
}

/// Tools that write a whole file: the tool, the field with the path, and the field with the text.
const WRITERS: [(&str, &str, &str); 2] = [("Write", "file_path", "content"), ("write_file", "file_path", "content")];

/// Tools that ask a person.
const QUESTIONS: [&str; 3] = ["AskUserQuestion", "ask_user", "request_user_input"];

pub(crate) fn delivery(refusal: Refusal) -> Script {
    let left = AtomicU32::new(refusal.times);
    Script::new(move |turn| {
        let refused =
            is_late(turn) && left.try_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok();
        if refused { refusal.step.clone() } else { next(turn) }
    })
}

/// A manager that finds nothing to do, and says so with the tool that takes the handoff.
pub(crate) fn structured() -> Script {
    Script::new(|turn| {
        let handoff =
            whole(turn, &json!({ "status": "INVESTIGATION_ONLY", "investigation_answers": "Nothing to do." }));
        match turn.fresh_results {
            0 => Step::Tool { name: "StructuredOutput".to_owned(), input: handoff },
            _ => Step::say("Handed in."),
        }
    })
}

/// The same manager, with the tool of MCP that every client is given: first with a handoff that is not valid.
pub(crate) fn with_tool() -> Script {
    Script::new(|turn| {
        let tool = turn.tools.iter().find(|tool| tool.contains("interlock_agent") && tool.ends_with("hand_off"));
        let Some(tool) = tool else { return Step::say(format!("There is no tool among {:?}", turn.tools)) };
        let hand_off = |handoff: Json| Step::Tool { name: tool.clone(), input: json!({ "handoff": handoff }) };
        match turn.fresh_results {
            0 => hand_off(json!({ "agent": "project_manager", "status": "INVESTIGATION_ONLY", "timestamp": "soon" })),
            1 => hand_off(whole(
                turn,
                &json!({ "status": "INVESTIGATION_ONLY", "investigation_answers": "Nothing to do." }),
            )),
            _ => Step::say("Handed off."),
        }
    })
}

/// The developer of `login` has written its file, and not submitted its handoff yet.
fn is_late(turn: &Turn) -> bool {
    turn.role() == Some("developer") && turn.group() == Some("login") && is_advised(turn) && turn.fresh_results == 1
}

fn is_advised(turn: &Turn) -> bool {
    turn.prompt.contains(ADVICE)
}

fn next(turn: &Turn) -> Step {
    let role = turn.role().expect("the prompt says which role it is");
    match (role, turn.group()) {
        ("project_manager", None) => manager(turn),
        ("developer", Some("docs")) => writer_of_docs(turn),
        ("developer", Some("login")) => writer_of_login(turn),
        ("investigator", Some("login")) => investigator(turn),
        ("tech_lead", Some("docs")) => meddler(turn),
        ("tech_lead", Some("login")) => lead_of_login(turn),
        ("qa_expert", Some("docs")) if !turn.prompt.contains(SENT_BACK) => {
            Step::say("All tests pass, as far as I can see.")
        }
        ("qa_expert", Some(_)) => say(turn, &json!({ "status": "PASS", "test_progression": { "still_failing": [] } })),
        other => panic!("nobody expected {other:?}"),
    }
}

fn manager(turn: &Turn) -> Step {
    if led_here(turn).is_empty() {
        let groups = json!([
            { "id": "docs", "title": "A page", "checks": [["grep", "-q", "written by hand", "docs.txt"]] },
            { "id": "login", "title": "A login" },
        ]);
        return say(turn, &json!({ "status": "PLANNING_COMPLETE", "groups": groups }));
    }
    say(turn, &json!({ "status": "BAZINGA", "completion_summary": "Both are done.", "accept": ["login"] }))
}

fn writer_of_docs(turn: &Turn) -> Step {
    match (turn.prompt.contains(SENT_BACK), turn.fresh_results) {
        (false, 0) => write(turn, "docs.txt", "written by hand"),
        (false, 1) => hand_in(turn, &json!({ "agent": "developer", "status": "BLOCKED", "timestamp": "soon" })),
        (true, 0) => hand_in(turn, &whole(turn, &json!({ "status": "READY_FOR_QA", "files_changed": ["docs.txt"] }))),
        _ => Step::say("Handed in."),
    }
}

fn writer_of_login(turn: &Turn) -> Step {
    if !is_advised(turn) {
        let blocked = json!({
            "status": "BLOCKED", "blocked_reason": "environment", "attempted": ["looked for a key in the project"],
            "handoff": { "next_agent": null, "context": "There is no key.",
                "blockers": [{ "type": "environment", "description": "no key", "resolution": "somebody gives one" }] },
        });
        return match turn.fresh_results {
            0 => Step::After(THINKING, Box::new(hand_in(turn, &whole(turn, &blocked)))),
            _ => Step::say("I cannot go on."),
        };
    }
    match turn.fresh_results {
        0 => write(turn, "login.txt", "opened with the key"),
        1 => hand_in(turn, &whole(turn, &json!({ "status": "READY_FOR_QA", "files_changed": ["login.txt"] }))),
        _ => Step::say("Handed in."),
    }
}

fn investigator(turn: &Turn) -> Step {
    match turn.fresh_results {
        0 => ask(turn).unwrap_or_else(|| turn.run("ls")),
        _ => say(
            turn,
            &json!({ "status": "ROOT_CAUSE_FOUND", "root_cause": "The key is elsewhere.", "evidence": ["ls"] }),
        ),
    }
}

/// Uses the tool that the client has for questions to people. No person is there.
fn ask(turn: &Turn) -> Option<Step> {
    let tool = QUESTIONS.iter().find(|tool| turn.tools.iter().any(|name| name == *tool))?;
    let option = |label: &str| json!({ "label": label, "description": label });
    let question = json!({
        "id": "key", "question": "Where is the key?", "header": "Key", "type": "choice", "multiSelect": false,
        "options": [option("Here"), option("There")],
    });
    Some(Step::Tool { name: (*tool).to_owned(), input: json!({ "questions": [question] }) })
}

fn lead_of_login(turn: &Turn) -> Step {
    if led_here(turn).contains("`investigator` reported") {
        return say(turn, &json!({ "status": "UNBLOCKING_GUIDANCE", "guidance": ADVICE }));
    }
    say(turn, &json!({ "status": "APPROVED", "issues": [] }))
}

/// A reviewer that would rather do it itself: first with the tool for it, then behind everybody's back.
fn meddler(turn: &Turn) -> Step {
    match (turn.prompt.contains(SENT_BACK), turn.fresh_results) {
        (false, 0) => write(turn, "docs.txt", "written by the reviewer"),
        (false, 1) => turn.run("echo written by the reviewer > docs.txt; echo more > more.txt"),
        _ => say(turn, &json!({ "status": "APPROVED", "issues": [] })),
    }
}

/// What led to the assignment, in the newest prompt: its own line, or the last report in it.
fn led_here(turn: &Turn) -> &str {
    let (_, prompt) = turn.prompt.rsplit_once("# Assignment ").unwrap_or_default();
    let is_cause = |line: &&str| line.starts_with("Why now: ");
    let is_report = |line: &&str| line.starts_with("## `") && line.contains("` reported `");
    prompt.lines().find(is_cause).or_else(|| prompt.lines().rfind(is_report)).unwrap_or_default()
}

/// A file of the workspace, with the tool that the client has for it.
fn write(turn: &Turn, path: &str, text: &str) -> Step {
    let whole = match turn.system.split_once("Primary working directory: ") {
        // Claude Code wants a whole path, and says where it works.
        Some((_, folder)) => format!("{}/{path}", folder.lines().next().unwrap_or_default()),
        None => path.to_owned(),
    };
    put(turn, &whole, text)
}

fn put(turn: &Turn, path: &str, text: &str) -> Step {
    match WRITERS.iter().find(|(tool, ..)| turn.tools.iter().any(|name| name == tool)) {
        Some((tool, file, content)) => {
            Step::Tool { name: (*tool).to_owned(), input: json!({ *file: path, *content: text }) }
        }
        None => turn.run(&format!("cat > '{path}' <<'END'\n{text}\nEND")),
    }
}

/// Leaves the handoff where the prompt says.
fn hand_in(turn: &Turn, handoff: &Json) -> Step {
    let (_, after) = turn.prompt.rsplit_once("OUTPUT_DIRECTORY: ").expect("the prompt says where");
    let folder = after.lines().next().unwrap_or_default();
    put(turn, &format!("{folder}/handoff.json"), &handoff.to_string())
}

/// The handoff as the last message: roles that change nothing may not be able to write it.
fn say(turn: &Turn, fields: &Json) -> Step {
    Step::say(format!("This is how it went.\n\n```json\n{}\n```\n", whole(turn, fields)))
}

/// What every handoff has, and these.
fn whole(turn: &Turn, fields: &Json) -> Json {
    let mut handoff = json!({
        "agent": turn.role(), "output_type": "report", "timestamp": "2026-01-18T15:42:00Z", "feature_directory": ".",
        "skills_invoked": [], "summary": "As the script says.",
        "handoff": { "next_agent": null, "context": "As the script says." },
    });
    for (key, value) in fields.as_object().into_iter().flatten() {
        handoff[key] = value.clone();
    }
    handoff
}
