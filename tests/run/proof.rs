//! What Interlock has seen pass holds for what is merged, and for nothing else.

use std::fs;

use crate::merging::{BY_AGENT, with_agent};
use crate::yard::{Yard, script};

fn merges(statuses: &[String]) -> Vec<&str> {
    statuses.iter().map(String::as_str).filter(|status| status.starts_with("MERGE")).collect()
}

/// `two` undoes what `one` has shown, and then not.
const UNDONE: &str = "  - { role: developer, group: one, attempt: 1, does: [{ write: shared, text: \"good\\n\" }], says: { status: READY_FOR_QA } }\n  \
                      - { role: developer, group: two, attempt: 1, does: [{ write: shared, text: \"bad\\n\" }], says: { status: READY_FOR_QA } }\n  \
                      - { role: developer, group: two, attempt: 3, does: [{ write: shared, text: \"good and bad\\n\" }], says: { status: READY_FOR_QA } }\n  \
                      - { role: developer, says: { status: MERGE_SUCCESS } }";

#[test]
fn what_a_merged_group_has_shown_holds_for_every_later_merge() {
    let groups = "{ id: one, title: One, checks: [[grep, good, shared]] }, { id: two, title: Two, depends_on: [one], checks: [[test, -d, .]] }";
    let script = script(groups, UNDONE);
    for (test, team) in
        [("shown", "agents: { s: { client: scripted } }\nroles: { any: s }\n"), ("shown_by_agent", BY_AGENT)]
    {
        let yard = Yard::new(test, &[("scripted.yaml", &script), ("agents.yaml", team), ("m.md", "# Two\n")]);
        let ended = yard.run(&["m.md", "--no-wait"]);
        assert_eq!(ended["status"], "completed");
        let session = ended["session"].as_str().expect("a session");
        assert_eq!(merges(&yard.statuses(session)), ["MERGE_SUCCESS", "MERGE_TEST_FAILURE", "MERGE_SUCCESS"]);
        assert_eq!(yard.result(session, "shared"), "good and bad");
        let store = fs::read(yard.path(".interlock/interlock.db")).expect("a store");
        let told = "`grep good shared`, a check of one, which is merged already, fails";
        assert!(store.windows(told.len()).any(|bytes| bytes == told.as_bytes()), "its author knows whose it is");
    }
}

/// What completes is what is merged, and not where the group began.
#[test]
fn a_group_that_changes_nothing_is_held_against_what_is_merged() {
    let groups = "{ id: one, title: One, checks: [[test, '!', -e, wrong]] }, { id: two, title: Two }";
    let more = "  - { role: developer, group: two, does: [{ write: wrong, text: x }], says: { status: READY_FOR_QA } }\n  \
                - { role: developer, group: one, attempt: 1, does: [{ wait: 3s }], says: { status: NOTHING_TO_DO } }\n  \
                - { role: developer, group: one, does: [{ remove: wrong }], says: { status: READY_FOR_QA } }";
    let yard = Yard::new("nothing_changed", &[("scripted.yaml", &script(groups, more)), ("m.md", "# Two\n")]);
    let ended = yard.run(&["m.md", "--agents", "scripted", "--no-wait"]);
    assert_eq!(ended["status"], "completed");
    let session = ended["session"].as_str().expect("a session");
    let files = yard.git(&["ls-tree", "--name-only", &format!("interlock/{session}")]);
    assert!(!files.contains("wrong"), "{files}");
}

#[test]
fn work_outside_of_groups_does_not_undo_what_groups_have_shown() {
    let body = "
if TURN == 1: say('PLANNING_COMPLETE', groups=[dict(id='one', title='One', checks=[['grep', '-q', 'one', 'one.txt']])])
elif TURN == 2: open('one.txt', 'w').write('nothing\\n'); say('BAZINGA')
else: put('mine\\n'); open('one.txt', 'w').write('one and more\\n'); say('BAZINGA')
";
    let yard = with_agent("own_undoing", "project_manager", body, "");
    yard.write(
        "interlock.yaml",
        "workflow: ours\nlanguage: 1\nextends: delivery-team\nroles:\n  project_manager: { writes: all }\n",
    );
    let output = yard.ask(&["run", "m.md", "--no-wait"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("the handoff goes back: `grep -q one one.txt`, a check of one,"),
        "{text}"
    );
    let sessions = yard.json(&["session", "list"]);
    let session = sessions["sessions"][0]["session"].as_str().expect("a session");
    assert_eq!(yard.result(session, "one.txt"), "one and more");
}

const PREPARED: &str = "agents: { s: { client: scripted } }\nroles: { any: s }\nprepare: [[cp, needs, have.ready]]\n";

/// What was made ready for the files of others is made ready again.
#[test]
fn a_group_that_needs_other_things_made_ready_is_merged() {
    let groups = "{ id: one, title: One, checks: [[test, -d, .]] }, { id: two, title: Two, depends_on: [one], checks: [[cmp, needs, have.ready]] }";
    let more = "  - { role: developer, group: two, does: [{ write: needs, text: \"more\\n\" }, { run: [cp, needs, have.ready], expect: pass }], says: { status: READY_FOR_QA, tests_passed: true } }";
    let script = script(groups, more);
    let files = [
        ("scripted.yaml", script.as_str()),
        ("agents.yaml", PREPARED),
        (".gitignore", "*.ready\n"),
        ("needs", "little\n"),
        ("m.md", "# Two\n"),
    ];
    let yard = Yard::new("made_ready_again", &files);
    let ended = yard.run(&["m.md", "--no-wait"]);
    assert_eq!(ended["status"], "completed");
    let statuses = yard.statuses(ended["session"].as_str().expect("a session"));
    assert_eq!(merges(&statuses), ["MERGE_SUCCESS", "MERGE_SUCCESS"], "{statuses:?}");
}

#[test]
fn each_command_runs_on_the_files_that_it_speaks_for() {
    let groups = "{ id: one, title: One, checks: [[sh, -c, echo mended > work; touch left], [sh, -c, grep mended work && test ! -e left]] }";
    let more = "  - { role: developer, attempt: 1, does: [{ write: work, text: broken }], says: { status: READY_FOR_QA } }\n  \
                - { role: developer, does: [{ write: work, text: it is mended }], says: { status: READY_FOR_QA } }";
    let yard = Yard::new("each_command", &[("scripted.yaml", &script(groups, more)), ("m.md", "# One\n")]);
    let ended = yard.run(&["m.md", "--agents", "scripted", "--no-wait"]);
    assert_eq!(ended["status"], "completed");
    let session = ended["session"].as_str().expect("a session");
    assert_eq!(merges(&yard.statuses(session)), ["MERGE_TEST_FAILURE", "MERGE_SUCCESS"]);
    assert_eq!(yard.result(session, "work"), "it is mended");
}

#[test]
fn a_command_that_failed_is_run_again_when_the_same_files_come_back() {
    let groups = "{ id: one, title: One, checks: [[sh, -c, echo x >> $HOME/runs; test $(wc -l < $HOME/runs) -gt 1]] }";
    let yard = Yard::new("run_again", &[("scripted.yaml", &script(groups, "")), ("m.md", "# One\n")]);
    let ended = yard.run(&["m.md", "--agents", "scripted", "--no-wait"]);
    assert_eq!(ended["status"], "completed");
    let statuses = yard.statuses(ended["session"].as_str().expect("a session"));
    assert_eq!(merges(&statuses), ["MERGE_TEST_FAILURE", "MERGE_SUCCESS"], "{statuses:?}");
    let runs = fs::read_to_string(yard.path("../runs")).expect("it ran").lines().count();
    assert_eq!(runs, 2, "what has passed is not run again for the same files");
}

#[test]
fn what_a_failing_merge_leaves_behind_helps_no_other() {
    let sound = "test -e cache/ok || grep -q mended work\n";
    let groups = "{ id: one, title: One, checks: [[sh, test.sh]] }";
    let more = format!(
        "  - {{ role: developer, attempt: 1, does: [{{ write: test.sh, text: \"mkdir cache; touch cache/ok; false\\n\" }}, {{ write: work, text: broken }}], says: {{ status: READY_FOR_QA }} }}\n  \
         - {{ role: developer, attempt: 3, does: [{{ write: test.sh, text: {sound:?} }}], says: {{ status: READY_FOR_QA }} }}\n  \
         - {{ role: developer, does: [{{ write: work, text: mended }}], says: {{ status: READY_FOR_QA }} }}"
    );
    let script = script(groups, &more);
    let files =
        [("scripted.yaml", script.as_str()), (".gitignore", "cache/\n"), ("test.sh", sound), ("m.md", "# One\n")];
    let yard = Yard::new("left_behind", &files);
    let ended = yard.run(&["m.md", "--agents", "scripted", "--no-wait"]);
    assert_eq!(ended["status"], "completed");
    let session = ended["session"].as_str().expect("a session");
    let statuses = yard.statuses(session);
    assert_eq!(merges(&statuses), ["MERGE_TEST_FAILURE", "MERGE_TEST_FAILURE", "MERGE_SUCCESS"], "{statuses:?}");
    assert_eq!(yard.result(session, "work"), "mended");
}

#[test]
fn what_makes_a_workspace_ready_is_nobodys_work() {
    let file =
        "agents: { s: { client: scripted } }\nroles: { any: s }\nprepare: [[sh, -c, echo made >> kept; touch other]]\n";
    let script = script("{ id: one, title: One, checks: [[test, -d, .]] }", "");
    let files =
        [("scripted.yaml", script.as_str()), ("agents.yaml", file), ("kept", "as it was\n"), ("m.md", "# One\n")];
    let yard = Yard::new("nobodys_work", &files);
    let output = yard.ask(&["run", "m.md", "--no-wait"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && !text.contains("goes back"), "{text}");
    let sessions = yard.json(&["session", "list"]);
    let session = sessions["sessions"][0]["session"].as_str().expect("a session");
    assert_eq!(yard.git(&["diff", "--name-only", "main", &format!("interlock/{session}")]), "one.txt");
}

/// The session has requirements beyond its groups: the role that reports for all of it is checked against them, once no
/// agent is at work.
#[test]
fn a_false_claim_is_found_outside_of_groups() {
    let workflow = "workflow: ours\nlanguage: 1\nextends: delivery-team\ngates:\n  all: { run: [test, -f, one.txt], fail: { spawn: project_manager, loop: validation, with: [gate_output] } }\n  \
                    more: { run: [test, -f, nowhere], fail: { spawn: project_manager, loop: validation, with: [gate_output] } }\n\
                    completion:\n  session: { gates: [all, more] }\n";
    let more = "  - { role: project_manager, group: session, attempt: 1, says: { status: PLANNING_COMPLETE, tests_passed: true, groups: [{ id: one, title: One }] } }\n  \
                - { role: project_manager, group: session, attempt: 2, says: { status: BAZINGA, testsPassed: true } }";
    let script = script("", more);
    let yard = Yard::new("outside", &[("scripted.yaml", &script), ("interlock.yaml", workflow), ("m.md", "# One\n")]);
    yard.ask(&["run", "m.md", "--agents", "scripted", "--no-wait"]);
    let sessions = yard.json(&["session", "list"]);
    let statuses = yard.statuses(sessions["sessions"][0]["session"].as_str().expect("a session"));
    let said: Vec<&str> = statuses.iter().map(String::as_str).collect();
    assert_eq!(said.first(), Some(&"PLANNING_COMPLETE"), "{said:?}");
    let claimed = said.iter().position(|status| *status == "false_claim").expect("it is found");
    assert_eq!(said.get(claimed - 1), Some(&"MERGE_SUCCESS"), "{said:?}");
}

fn with_checks(test: &str, checks: &str, team: &str) -> Yard {
    let script = script(&format!("{{ id: one, title: One, checks: {checks} }}"), "");
    let file = format!("agents: {{ s: {{ client: scripted }} }}\nroles: {{ any: s }}\n{team}\n");
    Yard::new(test, &[("scripted.yaml", &script), ("agents.yaml", &file), ("m.md", "# One\n")])
}

#[test]
fn secrets_of_the_environment_do_not_reach_what_agents_wrote() {
    let yard =
        with_checks("secrets", "[[sh, -c, env > $HOME/seen]]", "checks: { env: [DATABASE_URL, MY_*, DEPLOY_KEY] }");
    let mut command = yard.command(&["run", "m.md", "--no-wait"]);
    for name in
        ["GOOGLE_API_KEY", "CARGO_REGISTRY_TOKEN", "NPM_TOKEN", "NODE_AUTH_TOKEN", "MY_TOKEN", "LC_SECRET", "OTHER"]
    {
        command.env(name, "secret");
    }
    for name in ["GOCACHE", "CARGO_HOME", "DATABASE_URL", "MY_MODE", "DEPLOY_KEY"] {
        command.env(name, "wanted");
    }
    assert!(command.output().expect("it runs").status.success());
    let seen = fs::read_to_string(yard.path("../seen")).expect("what was seen");
    assert!(!seen.contains("=secret"), "{seen}");
    assert_eq!(seen.matches("=wanted").count(), 5, "{seen}");
}

#[test]
fn a_team_may_want_no_commands_of_a_plan() {
    let yard = with_checks("unwanted", "[[touch, here]]", "checks: { plan: false }\ncorrections: 1");
    let output = yard.ask(&["run", "m.md", "--no-wait"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("the handoff goes back: `groups[0].checks`: here a plan brings no commands"), "{text}");
    let sessions = yard.json(&["session", "list"]);
    let statuses = yard.statuses(sessions["sessions"][0]["session"].as_str().expect("a session"));
    assert!(
        statuses.contains(&"bad_handoff".to_owned()) && !statuses.contains(&"PLANNING_COMPLETE".to_owned()),
        "{statuses:?}"
    );
}

/// A gate of the session that has passed is looked at again when another one is awaited.
#[test]
fn gates_of_the_session_hold_together_for_its_end() {
    let body = "
if TURN == 1: say('PLANNING_COMPLETE', groups=[dict(id='one', title='One')])
elif TURN == 2: say('BAZINGA')
elif TURN == 3: os.remove('one.txt'); put('mine\\n'); say('BAZINGA')
else: open('one.txt', 'w').write('again\\n'); say('BAZINGA')
";
    let yard = with_agent("together", "project_manager", body, "");
    yard.write(
        "interlock.yaml",
        "workflow: ours\nlanguage: 1\nextends: delivery-team\nroles:\n  project_manager: { writes: all }\ngates:\n  \
         all: { run: [test, -f, one.txt], fail: { spawn: project_manager, loop: validation, with: [gate_output] } }\n  \
         more: { run: [test, -f, same], fail: { spawn: project_manager, loop: validation, with: [gate_output] } }\n\
         completion:\n  session: { gates: [all, more] }\n",
    );
    let ended = yard.run(&["m.md", "--no-wait"]);
    assert_eq!(ended["status"], "completed");
    assert_eq!(yard.result(ended["session"].as_str().expect("a session"), "one.txt"), "again");
}

/// Also of an agent that began in a workspace that had just been made ready.
#[test]
fn nothing_is_left_of_an_agent_that_handed_nothing_in() {
    let body = "
if TURN == 1: put('left\\n')
elif os.path.exists('same'): say('BLOCKED')
else: open('one.txt', 'w').write('one\\n'); say('READY_FOR_QA')
";
    let yard = with_agent("nothing_left", "developer", body, "prepare: [[\"true\"]]");
    let ended = yard.run(&["m.md", "--no-wait"]);
    let statuses = yard.statuses(ended["session"].as_str().expect("a session"));
    assert_eq!(statuses[1..3], ["no_handoff", "READY_FOR_QA"], "{statuses:?}");
}

/// Versions from tags, hooks on what was changed: many commands ask git where they are.
#[test]
fn commands_find_a_repository_where_merges_are_tried() {
    let groups = "{ id: one, title: One, checks: [[git, rev-parse, --verify, HEAD], [git, diff, --exit-code, HEAD], [git, cat-file, -e, \"HEAD:one.txt\"]] }";
    let yard = Yard::new("asks_git", &[("scripted.yaml", &script(groups, "")), ("m.md", "# One\n")]);
    let ended = yard.run(&["m.md", "--agents", "scripted", "--no-wait"]);
    assert_eq!(ended["status"], "completed");
    assert_eq!(merges(&yard.statuses(ended["session"].as_str().expect("a session"))), ["MERGE_SUCCESS"]);
}

/// Ignored files that one command makes are there for the next one of the same gate, and for no other group.
#[test]
fn ignored_file_made_by_a_check_reaches_only_later_checks_of_its_group() {
    let groups = "{ id: one, title: One, checks: [[touch, out], [test, -e, out]] }, \
                  { id: two, title: Two, depends_on: [one], checks: [[test, \"!\", -e, out]] }";
    let files = [("scripted.yaml", &*script(groups, "")), (".gitignore", "out\nscripted.yaml\n"), ("m.md", "# Two\n")];
    let yard = Yard::new("shared_in_gate", &files);
    let ended = yard.run(&["m.md", "--agents", "scripted", "--no-wait"]);
    assert_eq!(ended["status"], "completed");
    let statuses = yard.statuses(ended["session"].as_str().expect("a session"));
    assert_eq!(merges(&statuses), ["MERGE_SUCCESS", "MERGE_SUCCESS"], "{statuses:?}");
}
