//! Evidence in runs: QA that never reports, groups with nothing to do, investigations.

use serde_json::json;

use crate::changes;
use crate::yard::{Yard, script};

const ONE: &str = "{ id: one, title: One }";

fn yard(test: &str, more: &str) -> Yard {
    Yard::new(test, &[("scripted.yaml", &script(ONE, more)), ("m.md", "# Evidence\n")])
}

/// Runs until only a person can go on. The options of the question, and its id.
fn asked(yard: &Yard) -> (Vec<String>, String) {
    let run = yard.ask(&["run", "m.md", "--agents", "scripted", "--no-wait"]);
    assert_eq!(run.status.code(), Some(3), "{}", String::from_utf8_lossy(&run.stderr));
    let list = yard.json(&["question", "list"]);
    let question = &list["questions"][0];
    let id = question["question"].as_str().unwrap_or_else(|| panic!("no question in {list}")).to_owned();
    let options = question["options"].as_array().expect("options").iter();
    (options.map(|option| option.as_str().expect("a name").to_owned()).collect(), id)
}

#[test]
fn qa_that_never_reports_ends_at_a_person() {
    let yard = yard("qa_never_reports", "  - { role: qa_expert, prints: nothing }");
    let (options, id) = asked(&yard);
    assert_eq!(options, ["defer", "drop", "retry", "stop"], "none of them is evidence");
    let session = id.split('.').next().expect("a session");
    let statuses = yard.statuses(session);
    assert_eq!(statuses.iter().filter(|status| *status == "no_handoff").count(), 3, "{statuses:?}");
    assert!(!statuses.contains(&"APPROVED".to_owned()), "no other role stands for QA: {statuses:?}");
}

#[test]
fn group_with_nothing_to_do_completes_and_the_summary_says_so() {
    let more = "  - { role: developer, says: { status: NOTHING_TO_DO, handoff: { next_agent: null, context: The field is there since May. } } }";
    let yard = yard("nothing_to_do", more);
    let (_, id) = asked(&yard);
    yard.json(&["answer", &id, "--option", "confirm", "--as", "ann"]);
    let session = id.split('.').next().expect("a session");
    assert_eq!(yard.json(&["session", "show", session])["status"], "completed");
    let exceptions = yard.json(&["complete", session])["exceptions"].clone();
    assert_eq!(exceptions[0]["text"], "no work was completed; ann confirmed that", "{exceptions:#}");
    let text = exceptions[1]["text"].as_str().expect("an exception");
    assert!(text.starts_with("nothing to do, reported by developer (The field is there since May.)"), "{text}");
    assert!(text.ends_with("accepted by project_manager"), "{text}");
    let statuses = yard.statuses(session);
    assert!(!statuses.contains(&"PASS".to_owned()), "there is nothing to test: {statuses:?}");
}

const ONLY_LOOKS: &str = "  - { role: project_manager, group: session, says: { status: INVESTIGATION_ONLY, investigation_answers: [none] } }";

#[test]
fn investigation_that_was_not_declared_waits_for_a_person() {
    let yard = yard("undeclared", ONLY_LOOKS);
    let (options, id) = asked(&yard);
    assert_eq!(options, ["confirm", "go on", "stop"]);
    yard.json(&["answer", &id, "--option", "confirm", "--as", "ann"]);
    let session = id.split('.').next().expect("a session");
    assert_eq!(yard.json(&["session", "show", session])["status"], "completed");
    let complete = yard.json(&["complete", session]);
    assert_eq!(complete["exceptions"], json!([{ "text": "nothing was completed; ann confirmed that" }]));
}

#[test]
fn declared_investigation_runs_to_its_end() {
    let yard = yard("declared", ONLY_LOOKS);
    let run = yard.run(&["m.md", "--agents", "scripted", "--investigation", "--as", "ann"]);
    assert_eq!(run["status"], "completed");
    assert_eq!(run["exceptions"][0]["text"], "declared an investigation by ann: it may end without groups", "{run:#}");
}

/// QA fails the tree, and its author delivers the same files again: an approval does not make up for that.
#[test]
fn failed_tree_that_is_delivered_again_does_not_complete() {
    let body = "
if ROLE == 'developer':
    put('work.txt', 'bad')
    say('READY_FOR_QA')
if ROLE == 'qa_expert':
    if TURN == 1: say('FAIL', test_progression={'still_failing': ['t']})
    else: say('BLOCKED', attempted=['npm test'], blocked_reason='environment')
";
    let yard = changes::project("failed_again", &["developer", "qa_expert"], body, &[]);
    let (text, code, session) = changes::run(&yard, &[]);
    assert_eq!(code, Some(3), "{text}");
    assert_eq!(yard.json(&["session", "show", &session])["groups"][0]["failed_evidence"], json!(["qa"]), "{text}");
    let refused = yard.ask(&["override", &session, "one", "--waive", "qa", "--why", "the lab is closed"]);
    let refused = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.contains("E0351"), "{refused}");
}

/// A tree that failed is back after another one passed.
#[test]
fn failed_tree_that_comes_back_does_not_complete() {
    let body = "
if ROLE == 'developer':
    put('work.txt', ['bad', 'good', 'bad'][min(TURN, 3) - 1])
    say('READY_FOR_QA', issue_responses=[{ 'id': 'R1', 'response': 'fixed' }] if TURN > 2 else [])
if ROLE == 'qa_expert':
    if TURN == 1: say('FAIL', test_progression={'still_failing': ['t']})
    elif TURN == 2: say('PASS', test_progression={'still_failing': []})
    else: say('BLOCKED', attempted=['npm test'], blocked_reason='environment')
if ROLE == 'tech_lead':
    issue = { 'id': 'R1', 'title': 'T', 'location': 'work.txt:1', 'severity': 'HIGH', 'blocking': True }
    if TURN == 1: say('CHANGES_REQUESTED', issues=[issue])
    else: say('APPROVED')
";
    let yard = changes::project("failed_is_back", &["developer", "qa_expert", "tech_lead"], body, &[]);
    let (text, code, session) = changes::run(&yard, &[]);
    assert_eq!(code, Some(3), "{text}");
    assert_eq!(yard.json(&["session", "show", &session])["groups"][0]["failed_evidence"], json!(["qa"]), "{text}");
}

const TESTER_WRITES: &str =
    "workflow: ours\nlanguage: 1\nextends: delivery-team\nroles: { qa_expert: { writes: [\"tests/**\"] } }\n";

/// An approval applies to the tree that the reviewer saw, even if the tree is changed afterwards.
#[test]
fn tests_that_qa_writes_after_an_approval_are_reviewed_again() {
    let body = "
if ROLE == 'developer': put('real.txt'); say('READY_FOR_REVIEW')
else: put('tests/test_real.py'); say('PASS')
";
    let files = [("interlock.yaml", TESTER_WRITES)];
    let yard = changes::project("tester_writes", &["developer", "qa_expert"], body, &files);
    let (text, code, session) = changes::run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    let statuses = yard.statuses(&session);
    let last_pass = statuses.iter().rposition(|status| status == "PASS").expect("a PASS");
    let last_approval = statuses.iter().rposition(|status| status == "APPROVED").expect("an approval");
    assert!(last_approval > last_pass, "{statuses:?}");
}
