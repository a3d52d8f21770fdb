//! What may be spent: one question for each time a budget is used up, and a person's answer is what grants more.

use std::fs;
use std::path::PathBuf;

use serde_json::Value as Json;

use crate::yard::{Yard, script};

/// Says what it uses, as Claude Code does, and then that it is done. `BEATS`: it goes on talking for so long first.
pub(crate) const CLAUDE: &str = r#"#!/usr/bin/env python3
import json, os, sys, time
if '--version' in sys.argv: sys.exit(print('2.1.325 (Claude Code)'))
if '--help' in sys.argv: sys.exit(print('  --model'))
sys.stdin.read()
E = os.environ
def out(**event): print(json.dumps(event), flush=True)
def says(text, **more): out(type='assistant', session_id='c', message=dict(id='m', content=[dict(type='text', text=text)], **more))
usage = dict(input_tokens=0, output_tokens=int(E.get('TOKENS', '0')))
says('at it', usage=usage)
for _ in range(int(E.get('BEATS', '0'))):
    time.sleep(0.05)
    says('still at it')
open(E.get('INTERLOCK_GROUP', 'session') + '.txt', 'w').write('x')
handoff = dict(agent=E['INTERLOCK_ROLE'], output_type='r', timestamp='2026-01-01T00:00:00Z', feature_directory='.',
               skills_invoked=[], status='READY_FOR_QA', handoff=dict(next_agent=None, context='done'))
out(type='result', subtype='success', is_error=False, result=json.dumps(handoff), usage=usage,
    total_cost_usd=float(E.get('COST', '0')), permission_denials=json.loads(E.get('DENIALS', '[]')))
"#;

/// A project whose developer is a client that tells what it uses.
pub(crate) fn with_claude(test: &str, groups: &str, set: &str, more: &str) -> Yard {
    use std::os::unix::fs::PermissionsExt as _;
    let yard = Yard::new(test, &[("scripted.yaml", &script(groups, "")), ("m.md", "# Spend\n")]);
    let program = yard.path("../claude.py");
    fs::write(&program, CLAUDE).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it may run");
    let program = program.display();
    yard.write(
        "agents.yaml",
        &format!("agents: {{ s: {{ client: scripted }}, c: {{ client: claude, program: \"{program}\", set: {{ {set} }} }} }}\n{more}\n"),
    );
    yard
}

fn questions(yard: &Yard) -> Vec<Json> {
    yard.json(&["question", "list"])["questions"].as_array().cloned().unwrap_or_default()
}

/// Runs until only a person can go on. The questions that there are then.
#[track_caller]
fn stops(yard: &Yard, arguments: &[&str]) -> Vec<Json> {
    let words: Vec<&str> = ["run", "m.md", "--no-wait"].iter().chain(arguments).copied().collect();
    let output = yard.ask(&words);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{text}{}", String::from_utf8_lossy(&output.stderr));
    questions(yard)
}

fn session(yard: &Yard) -> String {
    yard.json(&["session", "list"])["sessions"][0]["session"].as_str().expect("a session").to_owned()
}

fn halts(yard: &Yard) -> usize {
    yard.statuses(&session(yard)).iter().filter(|status| *status == "halted").count()
}

fn spent_file(yard: &Yard) -> Option<PathBuf> {
    let stores = fs::read_dir(yard.path("../.local/state/interlock")).ok()?.flatten();
    let sessions = stores.flat_map(|store| fs::read_dir(store.path()).into_iter().flatten().flatten());
    sessions.map(|session| session.path().join("spent.jsonl")).find(|path| path.exists())
}

const FOUR: &str = "{ id: a, title: A }, { id: b, title: B }, { id: c, title: C }, { id: d, title: D }";

#[test]
fn a_question_is_no_grant_and_nothing_starts_until_it_is_answered() {
    let roles = "roles: { any: s, developer: c }\nbudget: { session: { cost: 1 } }";
    let yard = with_claude("no_grant", FOUR, "COST: \"0.6\"", roles);
    let asked = stops(&yard, &["--parallel", "1"]);
    assert_eq!((asked.len(), halts(&yard)), (1, 1), "{asked:?}");
    let text = asked[0]["text"].as_str().expect("a text");
    assert!(text.contains("the budget of the session is used up: $1.20 of $1.00"), "{text}");
    // To go on without an answer spends nothing more, and asks nothing more.
    let again = stops(&yard, &["--parallel", "1"]);
    assert_eq!((again.len(), halts(&yard)), (1, 1), "{again:?}");
    // An answer that ends the work is no grant either: the next role asks.
    yard.json(&["answer", asked[0]["question"].as_str().expect("an id"), "--option", "drop"]);
    let next = stops(&yard, &["--parallel", "1"]);
    assert_eq!((next.len(), halts(&yard)), (1, 2), "{next:?}");
    // One that gives the work out again grants the same once more: two dollars, of which the rest stays below.
    yard.json(&["answer", next[0]["question"].as_str().expect("an id"), "--option", "retry"]);
    let output = yard.ask(&["run", "m.md", "--no-wait", "--json", "--parallel", "1"]);
    let ended: Json = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!((&ended["status"], halts(&yard)), (&"completed".into(), 2), "{ended}");
    let cost = ended["spent"]["cost_usd"].as_f64().expect("a cost");
    assert!((cost - 1.8).abs() < 1e-9, "{ended}");
}

/// As a run leaves it that is killed right after the decision that asks.
#[test]
fn a_question_that_a_killed_run_could_not_note_is_asked_once_and_its_answer_grants() {
    let roles = "roles: { any: s, developer: c }\nbudget: { session: { cost: 1 } }";
    let yard = with_claude("asked_once", FOUR, "COST: \"0.6\"", roles);
    assert_eq!(stops(&yard, &["--parallel", "1"]).len(), 1);
    let file = spent_file(&yard).expect("what was spent");
    let text = fs::read_to_string(&file).expect("lines");
    let kept: String =
        text.lines().filter(|line| !line.contains("\"question\"")).flat_map(|line| [line, "\n"]).collect();
    assert_ne!(kept, text);
    fs::write(&file, kept).expect("it is written");
    let asked = stops(&yard, &["--parallel", "1"]);
    assert_eq!((asked.len(), halts(&yard)), (1, 1), "{asked:?}");
    yard.json(&["answer", asked[0]["question"].as_str().expect("an id"), "--option", "retry"]);
    let next = stops(&yard, &["--parallel", "1"]);
    let text = next[0]["text"].as_str().expect("a text");
    assert!(text.contains("$2.40 of $2.00"), "it was granted once more: {text}");
}

#[test]
fn what_agents_at_work_have_used_counts_for_all_of_them() {
    let roles = "roles: { any: s, developer: c }\nbudget: { session: { tokens: 100 } }";
    let yard = with_claude("shared", FOUR, "TOKENS: \"40\", BEATS: \"600\"", roles);
    let began = std::time::Instant::now();
    let asked = stops(&yard, &["--parallel", "4"]);
    assert!(began.elapsed().as_secs() < 25, "they were ended in the middle");
    assert_eq!((asked.len(), halts(&yard)), (1, 1), "{asked:?}");
    let log = yard.json(&["log", &session(&yard)]).to_string();
    let freed = log.matches("\"lease_expired\":").count();
    assert!((2..=3).contains(&freed), "the others wait for the same answer: {freed} in {log}");
    assert!(!log.contains("no_handoff") && !log.contains("\"loop\":\"retry\""), "and nobody failed: {log}");
}

#[test]
fn a_budget_of_tokens_for_each_assignment_of_a_role_is_a_question() {
    let roles =
        "roles: { any: s, developer: { agent: c, each: { tokens: 30 } } }\nbudget: { assignment: { tokens: 50 } }";
    let yard = with_claude("tokens", "{ id: one, title: One }", "TOKENS: \"40\", BEATS: \"600\"", roles);
    let asked = stops(&yard, &[]);
    assert_eq!(asked.len(), 1);
    assert!(asked[0]["text"].as_str().is_some_and(|text| text.contains("40 of 30 tokens")), "{asked:?}");
}

/// Four groups at 40 cents for each developer: the third has used 1.20, and others than developers go on.
#[test]
fn a_budget_of_a_role_is_for_all_its_assignments_together() {
    let more = "roles: { any: s, developer: { agent: c, budget: { cost: 1 } } }\nbudget: { role: { cost: 0.3 } }";
    let yard = with_claude("role", FOUR, "TOKENS: \"40\", COST: \"0.4\"", more);
    let asked = stops(&yard, &["--parallel", "1"]);
    assert_eq!((asked.len(), halts(&yard)), (1, 1), "{asked:?}");
    let text = asked[0]["text"].as_str().expect("a text");
    assert!(text.contains("the budget of role developer is used up: $1.20 of $1.00"), "{text}");
    let completed = |yard: &Yard| {
        let shown = yard.json(&["session", "show", &session(yard)]);
        let groups = shown["groups"].as_array().expect("groups").clone();
        groups.iter().filter(|group| group["status"] == "completed").count()
    };
    assert_eq!(completed(&yard), 3, "what needs no developer any more goes on to its end");
    yard.json(&["answer", asked[0]["question"].as_str().expect("an id"), "--option", "retry"]);
    let ended = yard.run(&["m.md", "--no-wait", "--parallel", "1"]);
    assert_eq!((&ended["status"], halts(&yard)), (&"completed".into(), 1), "{ended}");
    assert_eq!(ended["spent_by_role"]["developer"]["output_tokens"], 160, "{ended}");
}

#[test]
fn time_in_which_several_are_at_work_counts_once() {
    let more = "  - { role: developer, does: [{ wait: 2s }, { write: \"{group}.txt\", text: x }], says: { status: READY_FOR_QA } }";
    let agents = "agents: { s: { client: scripted } }\nroles: { any: s }\nbudget: { session: { time: 7500ms } }\n";
    let yard =
        Yard::new("together", &[("scripted.yaml", &script(FOUR, more)), ("agents.yaml", agents), ("m.md", "# M\n")]);
    assert_eq!(yard.run(&["m.md", "--no-wait", "--parallel", "4"])["status"], "completed");
}

#[test]
fn an_agent_that_says_nothing_is_ended_by_a_budget_of_time() {
    let more = "  - { role: developer, does: [{ wait: 60s }], says: { status: READY_FOR_QA } }";
    let agents = "agents: { s: { client: scripted } }\nroles: { any: s }\nbudget: { group: { time: 1s } }\n";
    let script = script("{ id: one, title: One }", more);
    let yard = Yard::new("silent", &[("scripted.yaml", &script), ("agents.yaml", agents), ("m.md", "# M\n")]);
    let began = std::time::Instant::now();
    let asked = stops(&yard, &[]);
    assert!(began.elapsed().as_secs() < 40);
    assert!(asked[0]["text"].as_str().is_some_and(|text| text.contains("the budget of group one")), "{asked:?}");
}

#[test]
fn what_an_agent_used_that_a_kill_ended_is_counted() {
    let roles = "roles: { any: s, developer: c }\nbudget: { session: { tokens: 50 } }";
    let yard = with_claude("killed", "{ id: one, title: One }", "TOKENS: \"40\", BEATS: \"100\"", roles);
    yard.ask(&["init"]);
    let mut run = yard.start(&["m.md", "--no-wait"]);
    yard.until("what it uses is written down", || {
        let text = fs::read_to_string(spent_file(&yard)?).ok()?;
        text.contains("\"output_tokens\":40").then_some(())
    });
    run.kill().expect("it is at work");
    run.wait().expect("it ends");
    let asked = stops(&yard, &[]);
    assert!(asked[0]["text"].as_str().is_some_and(|text| text.contains("80 of 50 tokens")), "{asked:?}");
}

#[test]
fn a_budget_that_cannot_be_reached_is_told_of_before_anything_starts() {
    let agents = "agents: { s: { client: scripted } }\nroles: { any: { agent: s, budget: { cost: 2.50 } } }\n";
    let script = script("{ id: one, title: One }", "");
    let yard = Yard::new("untold", &[("scripted.yaml", &script), ("agents.yaml", agents), ("m.md", "# M\n")]);
    for words in [&["doctor"][..], &["run", "m.md"]] {
        let output = yard.ask(words);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(text.contains("agent `s` is not known to tell its cost") && text.contains("`time`"), "{text}");
    }
}
