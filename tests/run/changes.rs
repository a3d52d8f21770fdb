//! The observed diff: what an author claims and what its files show.

use std::fs;

use serde_json::Value as Json;

use crate::yard::{Yard, script};

/// An agent in Python. It keeps each prompt, counts its turns by role, and submits a handoff with `say`.
const AGENT: &str = r"
import json, os, sys
E = os.environ; PROMPT = sys.stdin.read(); HOME, ROLE = E['HOME'], E['INTERLOCK_ROLE']
ATTEMPT, TURN = int(E['INTERLOCK_ATTEMPT']), 1
while os.path.exists(os.path.join(HOME, 'prompt-%s-%d' % (ROLE, TURN))): TURN += 1
open(os.path.join(HOME, 'prompt-%s-%d' % (ROLE, TURN)), 'w').write(PROMPT)
def put(name, text='x\n'):
    if os.path.dirname(name): os.makedirs(os.path.dirname(name), exist_ok=True)
    open(name, 'w').write(text)
def say(status, **more):
    doc = dict(agent=ROLE, output_type='r', timestamp='2026-01-01T00:00:00Z', feature_directory='.', skills_invoked=[],
               status=status, handoff=dict(next_agent=None, context='done'), **more)
    json.dump(doc, open(os.path.join(E['INTERLOCK_OUTPUT'], 'handoff.json'), 'w'))
";

const DEVELOPER: &[&str] = &["developer"];

/// A project of one group in which these roles are played by a Python program.
pub(crate) fn project(test: &str, roles: &[&str], body: &str, files: &[(&str, &str)]) -> Yard {
    let script = script("{ id: one, title: One }", "");
    let all: Vec<(&str, &str)> = [("scripted.yaml", script.as_str()), ("m.md", "# One\n"), ("old.txt", "old\n")]
        .into_iter()
        .chain(files.iter().copied())
        .collect();
    let yard = Yard::new(test, &all);
    let program = yard.path("../agent.py");
    fs::write(&program, format!("{AGENT}{body}")).expect("a program");
    let played: Vec<String> = roles.iter().map(|role| format!(", {role}: p")).collect();
    let agents = format!(
        "agents: {{ s: {{ client: scripted }}, p: {{ client: command, command: [python3, \"{}\"] }} }}\nroles: {{ any: s{} }}\n",
        program.display(),
        played.concat()
    );
    yard.write("agents.yaml", &agents);
    yard
}

pub(crate) fn prompt(yard: &Yard, role: &str, turn: u32) -> String {
    let path = yard.path(&format!("../prompt-{role}-{turn}"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The output of a run, its exit code and its session.
#[track_caller]
pub(crate) fn run(yard: &Yard, more: &[&str]) -> (String, Option<i32>, String) {
    let arguments: Vec<&str> = ["run", "m.md", "--no-wait"].iter().chain(more).copied().collect();
    let output = yard.ask(&arguments);
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let sessions = yard.json(&["session", "list"]);
    let session = sessions["sessions"][0]["session"].as_str().unwrap_or_else(|| panic!("{text}")).to_owned();
    (text, output.status.code(), session)
}

/// A group with nothing to do is no result: a person confirms the end of a session that has no other.
#[track_caller]
fn confirm_nothing_completed(yard: &Yard, session: &str) {
    let shown = yard.json(&["session", "show", session]);
    assert_eq!(shown["questions"][0]["name"], "nothing_completed", "{shown:#}");
    yard.json(&["answer", &format!("{session}.q1"), "--option", "confirm", "--as", "ann"]);
    assert_eq!(yard.json(&["session", "show", session])["status"], "completed");
}

fn has(statuses: &[String], wanted: &str) -> bool {
    statuses.iter().any(|status| status == wanted)
}

#[test]
fn claim_of_unchanged_files_is_sent_back_with_the_list() {
    let body = "
put('real.txt')
if TURN == 1: say('READY_FOR_QA', files_modified=['real.txt', 'ghost.rs', './old.txt:3', '/elsewhere/x.rs'])
else: say('READY_FOR_QA', files_modified=['./real.txt:1-2'], dev_output=dict(files_created=[dict(path='real.txt')]))
";
    let yard = project("claim_unchanged", DEVELOPER, body, &[]);
    let (text, code, session) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    let back = prompt(&yard, "developer", 2);
    assert!(back.contains("E0250") && back.contains("`ghost.rs` in `files_modified`, which does not exist"), "{back}");
    assert!(
        back.contains("`old.txt` in `files_modified`;") || back.contains("`old.txt` in `files_modified`."),
        "{back}"
    );
    assert!(back.contains("The diff of the work has `real.txt`") && !back.contains("elsewhere"), "{back}");
    assert!(!has(&yard.statuses(&session), "false_claim"));
}

#[test]
fn claim_of_unchanged_files_that_is_repeated_is_a_false_claim() {
    let body = "
put('real.txt')
if ATTEMPT == 1: say('READY_FOR_QA', files_modified=['real.txt', 'ghost.rs'])
else: say('READY_FOR_QA', files_modified=['real.txt'])
";
    let yard = project("claim_repeated", DEVELOPER, body, &[]);
    let (text, code, session) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(has(&yard.statuses(&session), "false_claim"), "{text}");
    assert!(yard.json(&["log", &session]).to_string().contains("`ghost.rs` in `files_modified`"), "{text}");
}

/// A claim is compared with the whole diff of the group, ignored files are not denied, and an unnamed file is pointed out.
#[test]
fn claims_are_fair_and_unnamed_files_are_a_warning() {
    let body = "
if TURN == 1: put('first.txt'); say('PARTIAL', files_modified=['first.txt'])
else: put('second.txt'); put('third.txt'); put('cache/x'); say('READY_FOR_QA', files_modified=['first.txt', 'second.txt', 'cache/x', 'a few words'])
";
    let yard = project("claims_fair", DEVELOPER, body, &[(".gitignore", "cache/\n")]);
    let (text, code, session) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    let log = yard.json(&["log", &session]);
    let events = log["events"].as_array().expect("events");
    let reported = |event: &&Json| event["data"]["cause"]["reported"]["status"] == "READY_FOR_QA";
    let event = events.iter().find(reported).unwrap_or_else(|| panic!("{log}"));
    let warnings = event["data"]["decision"]["warnings"].to_string();
    assert!(
        warnings.contains("E0251") && warnings.contains("`third.txt`") && !warnings.contains("second"),
        "{warnings}"
    );
    let observed = &event["data"]["cause"]["reported"]["observed"];
    let paths: Vec<&str> =
        observed["files"].as_array().expect("files").iter().filter_map(|file| file["path"].as_str()).collect();
    assert_eq!(paths, ["first.txt", "second.txt", "third.txt"]);
    let group = &yard.json(&["session", "show", &session])["groups"][0];
    assert_eq!((&group["diff"]["files"], &group["diff"]["tree"]), (&3.into(), &observed["tree"]), "{group}");
    assert!(!has(&yard.statuses(&session), "false_claim"));
}

#[test]
fn author_with_an_empty_diff_is_sent_back_once_and_is_then_a_false_claim() {
    let body = "
if ATTEMPT == 1: say('READY_FOR_QA')
else: put('real.txt'); say('READY_FOR_QA')
";
    let yard = project("empty_diff", DEVELOPER, body, &[]);
    let (text, code, session) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    let back = prompt(&yard, "developer", 2);
    assert!(back.contains("E0365") && back.contains("the diff of group `one` is empty"), "{back}");
    let statuses = yard.statuses(&session);
    assert!(has(&statuses, "false_claim"), "{statuses:?}");
    assert_eq!(yard.result(&session, "real.txt"), "x");
}

/// The row of the issue: claims, no work, and a lead that approves.
#[test]
fn author_that_never_changes_a_file_completes_nothing() {
    let body = "say('READY_FOR_QA', files_modified=['old.txt', 'ghost.rs'])\n";
    let yard = project("never_changes", &["developer", "senior_software_engineer"], body, &[]);
    let (text, code, session) = run(&yard, &[]);
    assert_ne!(code, Some(0), "{text}");
    let statuses = yard.statuses(&session);
    assert!(!has(&statuses, "MERGE_SUCCESS") && !has(&statuses, "READY_FOR_QA"), "{statuses:?}");
    assert_ne!(yard.json(&["session", "show", &session])["status"], "completed");
}

/// Work that is undone after it was reported leaves nothing to approve or to merge.
#[test]
fn approval_of_an_emptied_diff_is_refused() {
    let workflow = "workflow: ours\nlanguage: 1\nextends: delivery-team\nroles:\n  tech_lead: { writes: all }\n";
    let body = "
if ROLE == 'developer': put('real.txt'); say('READY_FOR_QA')
else:
    if os.path.exists('real.txt'): os.remove('real.txt')
    say('APPROVED', issues=[])
";
    let yard = project("emptied", &["developer", "tech_lead"], body, &[("interlock.yaml", workflow)]);
    let (text, code, session) = run(&yard, &[]);
    assert_ne!(code, Some(0), "{text}");
    assert!(!has(&yard.statuses(&session), "MERGE_SUCCESS"), "{text}");
    assert!(yard.json(&["log", &session]).to_string().contains("changes no file, and its completion requires changes"));
}

/// An author that finds nothing to change says so, the manager accepts that by name, and every end names both.
#[test]
fn group_with_nothing_to_do_completes_when_the_manager_accepts_it() {
    let yard = project("nothing_to_do", DEVELOPER, "say('NOTHING_TO_DO')\n", &[]);
    let (text, _, session) = run(&yard, &[]);
    confirm_nothing_completed(&yard, &session);
    assert!(text.contains("changes  one: no file was changed; accepted by project_manager"), "{text}");
    let report = yard.json(&["log", &session]).to_string();
    assert!(report.contains("the merge is empty: group `one` changes no file"), "{report}");
    let complete = yard.json(&["complete", &session]);
    assert_eq!(complete["changes"][0], "one: no file was changed; accepted by project_manager");
}

/// Security work takes the reviewer first and the manager after it.
#[test]
fn security_group_with_nothing_to_do_is_reviewed_accepted_and_completed() {
    let body = "
if ROLE == 'project_manager' and TURN == 1:
    say('PLANNING_COMPLETE', groups=[dict(id='one', title='One', security_sensitive=True)])
elif ROLE == 'project_manager' and 'INTERLOCK_GROUP' in E: say('GROUP_ACCEPTED')
elif ROLE == 'project_manager': say('BAZINGA')
elif ROLE == 'tech_lead': say('APPROVED', issues=[])
else: say('NOTHING_TO_DO')
";
    let played = &["senior_software_engineer", "tech_lead", "project_manager"];
    let yard = project("nothing_to_do_secure", played, body, &[]);
    let (text, _, session) = run(&yard, &[]);
    confirm_nothing_completed(&yard, &session);
    assert!(text.contains("changes  one: no file was changed; accepted by project_manager"), "{text}");
    let statuses = yard.statuses(&session);
    assert!(has(&statuses, "APPROVED") && has(&statuses, "GROUP_ACCEPTED"), "{statuses:?}");
    assert!(!has(&statuses, "bad_handoff"), "{statuses:?}");
}

/// Acceptance is of what the author stated. Over claims that were false there is nothing to accept.
#[test]
fn manager_cannot_accept_an_empty_diff_that_its_author_did_not_state() {
    let body = "say('READY_FOR_QA')\n";
    let yard = project("not_stated", &["developer", "senior_software_engineer"], body, &[]);
    let (text, code, session) = run(&yard, &[]);
    assert_ne!(code, Some(0), "{text}");
    assert!(text.contains("E0365: group `one` changes no file, and its completion requires changes"), "{text}");
    assert!(!has(&yard.statuses(&session), "MERGE_SUCCESS"), "{text}");
}

/// Otherwise work could be merged without tests or review.
#[test]
fn statement_of_nothing_to_do_over_a_diff_is_refused() {
    let body = "
put('real.txt')
say('NOTHING_TO_DO' if TURN == 1 else 'READY_FOR_QA')
";
    let yard = project("something_done", DEVELOPER, body, &[]);
    let (text, code, session) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    let back = prompt(&yard, "developer", 2);
    assert!(back.contains("E0367") && back.contains("group `one` changes `real.txt`"), "{back}");
    assert!(!has(&yard.statuses(&session), "NOTHING_TO_DO"));
}

const PHASES: &str = "workflow: ours\nlanguage: 1\nloops: { merging: 3 }\nroles:\n  maker: { is: [author] }\n  tester: { is: [author] }\n  reader: {}\n\
                      phases:\n  - { phase: build, role: maker, changes: required }\n  - { phase: testing, role: tester, changes: required }\n  - { phase: reading, role: reader }\n  - { phase: merge, merge: author }\nmerge: { MERGE_SUCCESS: { advance: phase }, MERGE_CONFLICT: { goto: build, loop: merging }, MERGE_TEST_FAILURE: { goto: build, loop: merging }, MERGE_BLOCKED: { ask: clarify } }\nroutes: { any: { complete: { advance: phase } } }\n";

/// The diff of an earlier phase is not the work of a later one.
#[test]
fn phase_that_requires_changes_refuses_a_report_without_any() {
    let body = "
if ROLE == 'maker' and TURN > 1: put('made.txt')
if ROLE == 'tester' and TURN > 1: put('tests/made_test.py')
say('complete')
";
    let yard = project("phases", &["maker", "tester", "reader"], body, &[("interlock.yaml", PHASES)]);
    let (text, code, session) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    let (maker, tester) = (prompt(&yard, "maker", 2), prompt(&yard, "tester", 2));
    assert!(maker.contains("E0365") && maker.contains("is empty"), "{maker}");
    assert!(tester.contains("E0365: phase `testing` must change files, and it changed none"), "{tester}");
    assert!(!has(&yard.statuses(&session), "false_claim"));
    assert_eq!(yard.result(&session, "tests/made_test.py"), "x");
}

#[test]
fn changed_and_deleted_tests_are_named_to_the_reviewer_and_in_the_summary() {
    let body = "
if ROLE == 'developer':
    put('src/a.py'); put('tests/test_a.py', 'pass\\n'); put('tests/test_new.py'); os.remove('src/b.spec.ts'); say('READY_FOR_QA')
else: say('APPROVED', issues=[])
";
    let files = [("tests/test_a.py", "assert 1 == 2\n"), ("src/b.spec.ts", "x\n"), ("src/a.py", "old\n")];
    let yard = project("changed_tests", &["developer", "tech_lead"], body, &files);
    let (text, code, session) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    let lead = prompt(&yard, "tech_lead", 1);
    assert!(
        lead.contains("test src/b.spec.ts was deleted") && lead.contains("test tests/test_a.py was modified"),
        "{lead}"
    );
    assert!(!lead.contains("test tests/test_new.py was"), "{lead}");
    let named = "one: existing tests were changed: src/b.spec.ts (deleted), tests/test_a.py (modified)";
    assert!(text.contains(&format!("  changes  {named}")), "{text}");
    let complete = yard.json(&["complete", &session]);
    assert_eq!(complete["changes"], serde_json::json!([named]));
}

#[test]
fn session_without_an_observed_diff_says_so_where_it_completes() {
    let yard = project("by_hand", DEVELOPER, "", &[]);
    yard.json(&["init"]);
    let session = yard.json(&["session", "start", "--title", "By hand", "--workflow", "delivery-team"]);
    let session = session["session"].as_str().expect("a session");
    let mut last = Json::Null;
    let mut turn = |status: &str, more: Json| {
        let open = yard.json(&["session", "show", session])["assignments"][0].clone();
        let name = open["assignment"].as_str().expect("an assignment");
        let claimed = yard.json(&["claim", name]);
        let mut handoff = serde_json::json!({
            "agent": open["role"], "output_type": "r", "timestamp": "2026-01-01T00:00:00Z", "feature_directory": ".",
            "skills_invoked": [], "status": status, "handoff": { "next_agent": null, "context": "done as asked" },
        });
        handoff.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        yard.write("handoff.json", &handoff.to_string());
        let mut command = yard.command(&["report", "--assignment", name, "handoff.json", "--json"]);
        command.env("INTERLOCK_TOKEN", claimed["token"].as_str().expect("a token"));
        let output = command.output().expect("the program starts");
        last = serde_json::from_slice(&output.stdout).expect("a document");
        assert!(output.status.success(), "{last}");
    };
    turn("PLANNING_COMPLETE", serde_json::json!({ "groups": [{ "id": "one", "title": "One" }] }));
    turn("READY_FOR_QA", serde_json::json!({ "files_modified": ["ghost.rs"] }));
    turn("PASS", serde_json::json!({ "test_progression": { "still_failing": [] } }));
    turn("APPROVED", serde_json::json!({ "issues": [] }));
    turn("MERGE_SUCCESS", serde_json::json!({}));
    turn("BAZINGA", serde_json::json!({}));
    let sentence = "changes not observed: Interlock did not start the authors, so no diff was compared";
    assert!(last["because"].to_string().contains(sentence), "{last}");
    assert_eq!(yard.json(&["complete", session])["changes"], serde_json::json!([sentence]));
    let shown = yard.ask(&["session", "show", session]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains(sentence));
}

/// A plan cannot call code research: what such a group may change is declared, and everything else is undone.
#[test]
fn research_group_that_changes_code_is_sent_back() {
    let body = "
if TURN == 1: put('src/b.py'); put('docs/answer.md'); say('READY_FOR_REVIEW')
else: say('READY_FOR_REVIEW')
";
    let yard = project("research_code", &["requirements_engineer"], body, &[]);
    yard.write("scripted.yaml", &script("{ id: one, title: One, kind: research }", ""));
    let (text, _, session) = run(&yard, &[]);
    let back = prompt(&yard, "requirements_engineer", 2);
    assert!(back.contains("E0620") && back.contains("`kind: research`") && back.contains("src/b.py"), "{back}");
    assert!(text.contains("one: planned as research by project_manager: done without `qa`"), "{text}");
    let log = yard.json(&["log", &session]).to_string();
    assert!(log.contains("docs/answer.md") && !log.contains(r#""path":"src/b.py""#), "{log}");
}

/// A person may let the group change code. Then it is judged as code.
#[test]
fn research_group_whose_code_a_person_allows_is_tested() {
    let body = "put('src/b.py'); say('READY_FOR_REVIEW')\n";
    let yard = project("research_allowed", &["requirements_engineer"], body, &[]);
    yard.write("scripted.yaml", &script("{ id: one, title: One, kind: research }", ""));
    let (text, code, session) = run(&yard, &["--allow", "src/**"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(has(&yard.statuses(&session), "PASS"), "{text}");
    assert!(!text.contains("planned as research"), "{text}");
}

#[test]
fn instructions_for_agents_that_change_are_named() {
    let body = "put('AGENTS.md'); put('a.txt'); say('READY_FOR_QA')\n";
    let yard = project("instructions", DEVELOPER, body, &[]);
    let (text, code, _) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("instructions for agents were changed: AGENTS.md (added)"), "{text}");
}

/// Two groups make the same change: the second merge brings nothing, and everyone is told.
#[test]
fn merge_of_changes_that_were_merged_before_is_an_exception() {
    let body = "put('same.txt'); say('READY_FOR_QA')\n";
    let yard = project("same_change", DEVELOPER, body, &[]);
    yard.write("scripted.yaml", &script("{ id: one, title: One }, { id: two, title: Two }", ""));
    let (text, code, session) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    let told = "its merge changed nothing: the same changes were merged before";
    assert!(text.contains(told), "{text}");
    assert!(yard.json(&["session", "show", &session])["exceptions"].to_string().contains(told));
}
