//! Merges that agents make, work outside of groups, and the commands that a merge has to pass.

use crate::yard::{Yard, script};

pub(crate) const BY_AGENT: &str = "agents: { s: { client: scripted } }\nroles: { any: s }\nmerge: agent\n";

fn gate(line: &str) -> String {
    format!(
        "workflow: ours\nlanguage: 1\nextends: delivery-team\ngates:\n  lint: {{ {line}, fail: {{ respawn: author, loop: merging, with: [gate_output] }} }}\n\
         completion:\n  group: {{ needs: [merge, {{ any_of: [review, acceptance] }}], once_blocked: [acceptance], gates: [lint] }}\n"
    )
}

#[test]
fn a_merge_by_an_agent_that_fails_its_checks_does_not_land() {
    let groups = "{ id: one, title: One, checks: [[test, -f, right]] }";
    let more = "  - { role: developer, attempt: 1, does: [{ write: broken, text: x }], says: { status: READY_FOR_QA } }\n  \
                - { role: developer, attempt: 2, says: { status: MERGE_SUCCESS } }\n  \
                - { role: developer, attempt: 3, does: [{ write: right, text: x }, { remove: broken }], says: { status: READY_FOR_QA } }\n  \
                - { role: developer, attempt: 4, says: { status: MERGE_SUCCESS } }";
    let yard = Yard::new(
        "false_merge",
        &[("scripted.yaml", &script(groups, more)), ("agents.yaml", BY_AGENT), ("m.md", "# One\n")],
    );
    let ended = yard.run(&["m.md", "--no-wait"]);
    assert_eq!(ended["status"], "completed");
    let session = ended["session"].as_str().expect("a session");
    let statuses = yard.statuses(session);
    let merges: Vec<&str> = statuses.iter().map(String::as_str).filter(|status| status.starts_with("MERGE")).collect();
    assert_eq!(merges, ["MERGE_TEST_FAILURE", "MERGE_SUCCESS"], "{statuses:?}");
    let history = yard.git(&["log", "--format=%H", "--first-parent", &format!("interlock/{session}")]);
    for commit in history.lines() {
        let files = yard.git(&["ls-tree", "--name-only", commit]);
        assert!(!files.contains("broken") || files.contains("right"), "it was in the result: {files}");
    }
}

/// An agent in Python.
const AGENT: &str = r#"
import json, os, sys, subprocess
E = os.environ; sys.stdin.read()
turns = os.path.join(E['HOME'], 'turns')
open(turns, 'a').write('x'); TURN = os.path.getsize(turns)
def put(text): open('same', 'w').write(text)
def say(status, **more):
    doc = dict(agent=E['INTERLOCK_ROLE'], output_type='r', timestamp='2026-01-01T00:00:00Z', feature_directory='.', skills_invoked=[],
               status=status, handoff=dict(next_agent=None, context='done'), **more)
    json.dump(doc, open(os.path.join(E['INTERLOCK_OUTPUT'], 'handoff.json'), 'w'))
def settle(text):
    before = open('same').read()
    assert '<<<<<<<' in before and 'mine' in before and 'other' in before, before
    put(text)
"#;

pub(crate) fn with_agent(test: &str, role: &str, body: &str, more: &str) -> Yard {
    let script = script("{ id: one, title: One }", "");
    let yard = Yard::new(test, &[("scripted.yaml", &script), ("m.md", "# One\n")]);
    let program = yard.path("../agent.py");
    std::fs::write(&program, format!("{AGENT}{body}")).expect("a program");
    let program = program.display();
    yard.write(
        "agents.yaml",
        &format!("agents: {{ s: {{ client: scripted }}, m: {{ client: command, command: [python3, \"{program}\"] }} }}\nroles: {{ any: s, {role}: m }}\n{more}\n"),
    );
    yard
}

#[test]
fn a_merge_by_an_agent_that_conflicts_goes_back_with_both_sides() {
    let body = "
GROUP, ATTEMPT, AGAIN = E['INTERLOCK_GROUP'], E['INTERLOCK_ATTEMPT'], os.path.join(E['HOME'], 'again')
if ATTEMPT == '1': put({'one': 'other\\n', 'two': 'mine\\n'}[GROUP]); say('READY_FOR_QA')
elif GROUP == 'one': say('MERGE_SUCCESS')
elif not os.path.exists(AGAIN): open(AGAIN, 'w'); say('MERGE_SUCCESS')
elif ATTEMPT == '2': settle('both\\n'); say('MERGE_SUCCESS')
elif ATTEMPT == '3': assert open('same').read() == 'both\\n'; say('READY_FOR_QA')
else: say('MERGE_SUCCESS')
";
    let yard = with_agent("agents_conflict", "developer", body, "merge: agent");
    yard.write("scripted.yaml", &script("{ id: one, title: One }, { id: two, title: Two }", ""));
    let output = yard.ask(&["run", "m.md", "--no-wait", "--parallel", "1"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("the marks of a merge conflict are still in `same`"), "{text}");
    let session = yard.json(&["session", "list"])["sessions"][0]["session"].as_str().expect("a session").to_owned();
    assert_eq!(yard.result(&session, "same"), "both");
    let statuses = yard.statuses(&session);
    let from = statuses.iter().position(|status| status == "MERGE_CONFLICT").expect("the resolution is not merged");
    let after = ["READY_FOR_QA", "PASS", "APPROVED", "MERGE_SUCCESS"];
    assert_eq!(statuses[from + 1..from + 5], after, "tested and approved again: {statuses:?}");
}

#[test]
fn a_gate_keeps_its_time_when_the_merge_runs_it() {
    let more = "  - { role: developer, attempt: 1, does: [{ write: slow, text: x }], says: { status: READY_FOR_QA } }\n  - { role: developer, does: [{ write: quick, text: x }], says: { status: READY_FOR_QA } }";
    let workflow = gate("run: [sh, -c, \"test -f quick || sleep 120\"], timeout: 1s");
    let script = script("{ id: one, title: One }", more);
    let yard =
        Yard::new("gate_time", &[("scripted.yaml", &script), ("interlock.yaml", &workflow), ("m.md", "# One\n")]);
    let began = std::time::Instant::now();
    let ended = yard.run(&["m.md", "--agents", "scripted", "--no-wait"]);
    assert!(began.elapsed().as_secs() < 60);
    assert_eq!(ended["status"], "completed");
    let statuses = yard.statuses(ended["session"].as_str().expect("a session"));
    assert!(statuses.iter().any(|status| status == "MERGE_TEST_FAILURE"), "{statuses:?}");
}

#[test]
fn a_false_claim_is_found_against_a_gate_of_the_workflow() {
    let more = "  - { role: developer, attempt: 1, does: [{ write: wrong, text: x }], says: { status: READY_FOR_QA, tests_passed: true } }\n  - { role: developer, does: [{ write: right, text: x }], says: { status: READY_FOR_QA, tests_passed: true } }";
    let workflow = gate("run: [test, -f, right]");
    let script = script("{ id: one, title: One }", more);
    let yard =
        Yard::new("gate_claim", &[("scripted.yaml", &script), ("interlock.yaml", &workflow), ("m.md", "# One\n")]);
    let ended = yard.run(&["m.md", "--agents", "scripted", "--no-wait"]);
    let statuses = yard.statuses(ended["session"].as_str().expect("a session"));
    assert!(statuses.iter().any(|status| status == "false_claim"), "{statuses:?}");
}
