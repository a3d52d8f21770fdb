//! How long agents may take, and how many of a role are at work at once.

use std::fs;

use crate::yard::{Yard, script};

/// A developer that is a script of the test; `deadline` and the rest of the agents file as given.
fn with_developer(test: &str, program: &str, more: &str) -> Yard {
    let senior =
        "  - { role: senior_software_engineer, does: [{ write: one.txt, text: x }], says: { status: READY_FOR_QA } }";
    let script = script("{ id: one, title: One }", senior);
    let yard = Yard::new(test, &[("scripted.yaml", &script), ("m.md", "# One\n")]);
    let path = yard.path("../developer.sh");
    fs::write(&path, program).expect("a program");
    let path = path.display();
    let text = format!(
        "agents: {{ s: {{ client: scripted }}, d: {{ client: command, command: [sh, \"{path}\"] }} }}\n{more}\n"
    );
    yard.write("agents.yaml", &text);
    yard
}

const HANDOFF: &str = r#"{"agent":"developer","output_type":"r","timestamp":"2026-01-01T00:00:00Z","feature_directory":".","skills_invoked":[],"status":"READY_FOR_QA","handoff":{"next_agent":null,"context":"x"}}"#;

const WORKFLOW: &str = "workflow: ours\nlanguage: 1\nextends: delivery-team\nroles:\n  developer: { is: [author, engineer], escalates_to: senior_software_engineer, deadline: 4s }\n";

fn statuses(yard: &Yard) -> Vec<String> {
    let list = yard.json(&["session", "list"]);
    yard.statuses(list["sessions"][0]["session"].as_str().expect("a session"))
}

#[test]
fn a_role_that_takes_longer_than_its_deadline_is_lost() {
    let yard = with_developer("deadline", "exec sleep 60\n", "roles: { any: s, developer: d }");
    yard.write("interlock.yaml", &WORKFLOW.replace("4s", "300ms"));
    let began = std::time::Instant::now();
    yard.ask(&["run", "m.md", "--no-wait"]);
    assert!(began.elapsed().as_secs() < 45);
    let log =
        yard.json(&["log", yard.json(&["session", "list"])["sessions"][0]["session"].as_str().expect("a session")]);
    assert!(log.to_string().contains("it took too long"), "{log}");
}

#[test]
fn waiting_for_a_rate_limit_takes_nothing_of_the_deadline() {
    // The first time it meets a limit; then it takes less than its deadline, but not less than what is left after the wait.
    let program = format!(
        "cat > /dev/null\necho x >> \"$HOME/n\"\nif [ $(wc -l < \"$HOME/n\") -le 1 ]; then exit 75; fi\nsleep 1\necho w > w.txt\nprintf '%s' '{HANDOFF}' > \"$INTERLOCK_OUTPUT/handoff.json\"\n"
    );
    let yard = with_developer("rate_limit", &program, "roles: { any: s, developer: d }\nretry: { first: 4s }");
    yard.write("interlock.yaml", WORKFLOW);
    assert_eq!(yard.run(&["m.md", "--no-wait"])["status"], "completed");
    assert!(!statuses(&yard).contains(&"no_handoff".to_owned()), "{:?}", statuses(&yard));
}

#[test]
fn a_deadline_is_for_all_conversations_of_an_assignment() {
    // Each takes a second, and none is good: three corrections would take four.
    let program = "cat > /dev/null\nsleep 1\necho '{}' > \"$INTERLOCK_OUTPUT/handoff.json\"\n";
    let yard = with_developer("conversations", program, "roles: { any: s, developer: { agent: d, deadline: 2s } }");
    yard.ask(&["run", "m.md", "--no-wait"]);
    let said = statuses(&yard);
    assert!(said.contains(&"no_handoff".to_owned()) && !said.contains(&"bad_handoff".to_owned()), "{said:?}");
}

#[test]
fn no_more_of_a_role_are_at_work_than_its_part_says() {
    let more = "  - { role: developer, does: [{ run: [sh, -c, \"echo b >> ../../../log; sleep 0.3; echo e >> ../../../log\"] }, { write: \"{group}.txt\", text: x }], says: { status: READY_FOR_QA } }";
    let groups = "{ id: a, title: A }, { id: b, title: B }, { id: c, title: C }";
    let agents =
        "agents: { s: { client: scripted } }\nroles: { any: s, developer: { agent: s, parallel: 1 } }\nkeep: always\n";
    let yard =
        Yard::new("per_role", &[("scripted.yaml", &script(groups, more)), ("agents.yaml", agents), ("m.md", "# M\n")]);
    let ended = yard.run(&["m.md", "--parallel", "8"]);
    let report = ended["report"].as_str().expect("a report");
    let log = std::path::Path::new(report).parent().and_then(std::path::Path::parent).expect("the store's").join("log");
    assert_eq!(fs::read_to_string(log).expect("a log").replace('\n', ""), "bebebe");
}
