//! Merges that agents make, work outside of groups, and the commands that a merge has to pass.

use crate::yard::{Yard, script};

const BY_AGENT: &str = "agents: { s: { client: scripted } }\nroles: { any: s }\nmerge: agent\n";

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

#[test]
fn a_merge_by_an_agent_that_conflicts_goes_back_with_both_sides() {
    let groups = "{ id: one, title: One }, { id: two, title: Two }";
    // Two merges while one is at its own: what it has made then does not go together with it.
    let more = "  - { role: developer, attempt: 1, does: [{ write: same, text: \"{group}\\n\" }], says: { status: READY_FOR_QA } }\n  \
                - { role: developer, attempt: 2, does: [{ write: same, text: \"both\\n\" }], says: { status: MERGE_SUCCESS } }\n";
    let yard = Yard::new(
        "agents_conflict",
        &[("scripted.yaml", &script(groups, more)), ("agents.yaml", BY_AGENT), ("m.md", "# Two\n")],
    );
    let ended = yard.run(&["m.md", "--no-wait"]);
    assert_eq!(ended["status"], "completed");
    assert_eq!(yard.result(ended["session"].as_str().expect("a session"), "same"), "both");
}

/// The manager writes outside of groups while a group is merged.
#[test]
fn work_of_the_session_that_conflicts_goes_back_to_its_agent() {
    let workflow = "workflow: ours\nlanguage: 1\nextends: delivery-team\nroles:\n  project_manager: { writes: all }\n";
    let groups = "{ id: one, title: One }";
    let manager = r#"#!/usr/bin/env python3
import json, os, sys, subprocess
E = os.environ; sys.stdin.read()
group, turns = E.get('INTERLOCK_GROUP'), os.path.join(E['HOME'], 'turns')
open(turns, 'a').write('x'); turn = os.path.getsize(turns)
def say(status, **more):
    doc = dict(agent='project_manager', output_type='r', timestamp='2026-01-01T00:00:00Z', feature_directory='.', skills_invoked=[],
               status=status, handoff=dict(next_agent=None, context='done'), **more)
    json.dump(doc, open(os.path.join(E['INTERLOCK_OUTPUT'], 'handoff.json'), 'w'))
if turn == 1: say('PLANNING_COMPLETE', groups=[dict(id='one', title='One')])
elif turn == 2:
    open('same', 'w').write('manager\n'); say('BAZINGA')
    # Somebody else's work comes in while it is at its own.
    vault = os.path.abspath('../../repository.git')
    git = lambda *words, **more: subprocess.run(['git', '--git-dir', vault, '-c', 'user.name=x', '-c', 'user.email=x', *words], check=True, capture_output=True, text=True, **more).stdout.strip()
    blob = git('hash-object', '-w', '--stdin', input='other\n')
    tip = git('rev-parse', 'refs/heads/integration')
    tree = git('mktree', input=git('ls-tree', tip) + '\n100644 blob %s\tsame\n' % blob)
    open(os.path.join(vault, 'refs/heads/integration'), 'w').write(git('commit-tree', tree, '-p', tip, '-m', 'other') + '\n')
else:
    text = open('same').read()
    assert '<<<<<<<' in text and 'manager' in text and 'other' in text, text
    open('same', 'w').write('other and manager\n'); say('BAZINGA')
"#;
    let yard = Yard::new(
        "own_conflict",
        &[("scripted.yaml", &script(groups, "")), ("interlock.yaml", workflow), ("m.md", "# One\n")],
    );
    let program = yard.path("../manager.py");
    std::fs::write(&program, manager).expect("a program");
    let program = program.display();
    yard.write(
        "agents.yaml",
        &format!("agents: {{ s: {{ client: scripted }}, m: {{ client: command, command: [python3, \"{program}\"] }} }}\nroles: {{ any: s, project_manager: m }}\n"),
    );
    let ended = yard.run(&["m.md", "--no-wait"]);
    assert_eq!(ended["status"], "completed");
    assert_eq!(yard.result(ended["session"].as_str().expect("a session"), "same"), "other and manager");
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
