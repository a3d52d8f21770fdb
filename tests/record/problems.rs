//! One mistake is one message, and each message names its element.

use serde_json::json;

use crate::team::{Team, run};
use crate::{planned, submit_for_people};

#[test]
fn problem_of_a_list_names_its_element() {
    let team = Team::new("record-elements");
    let session = team.start("Add login");
    let manager = team.claim(&session, "project_manager", "-");
    let groups = json!([{ "id": "titles" }, { "id": "colours", "title": "Colours" }, { "title": "No id" }]);
    let handoff = json!({ "status": "PLANNING_COMPLETE", "handoff": { "context": "Three." }, "groups": groups });
    let run = team.give(&manager, &handoff.to_string());
    let error = run.json()["error"].clone();
    let messages: Vec<&str> =
        error["problems"].as_array().unwrap().iter().filter_map(|problem| problem["message"].as_str()).collect();
    assert_eq!(messages, ["group `titles`: `title` is missing", "group 3: `id` is missing"], "{run}");
    for problem in error["problems"].as_array().unwrap() {
        assert!(problem["at"]["line"].is_u64() && problem["at"]["column"].is_u64(), "{problem}");
        assert!(problem["element"].is_string(), "{problem}");
    }
}

#[test]
fn finding_without_a_location_is_named_by_number_and_id() {
    let (team, session) = planned("findings", &["LOGIN"]);
    team.plays(&session, "developer", "LOGIN", "READY_FOR_REVIEW", json!({}));
    let lead = team.claim(&session, "tech_lead", "LOGIN");
    let whole = json!({ "id": "R1-1", "title": "T", "location": "a.rs:1", "severity": "HIGH", "blocking": true });
    let broken = json!({ "id": "R1-3", "title": "T", "severity": "HIGH", "blocking": true });
    let run = team.report(&lead, "CHANGES_REQUESTED", json!({ "issues": [whole, broken] }));
    assert_eq!(run.json()["error"]["message"], "issue 2 `R1-3`: `location` is missing", "{run}");
}

/// The same mistake in many elements is one message, with every element and one help.
#[test]
fn same_mistake_in_many_elements_is_one_message() {
    let team = Team::new("record-grouped");
    let session = team.start("Add login");
    let manager = team.claim(&session, "project_manager", "-");
    let groups: Vec<_> = ["a", "b", "c"].iter().map(|id| json!({ "id": id })).collect();
    let handoff = json!({ "status": "PLANNING_COMPLETE", "handoff": { "context": "Three." }, "groups": groups });
    let text = serde_json::to_string_pretty(&handoff).unwrap();
    let run = submit_for_people(&team, &manager, &text);
    assert_eq!(run.exit, 4, "{run}");
    assert_eq!(run.stderr.matches("error[").count(), 1, "{run}");
    assert_eq!(run.stderr.matches("= help").count(), 1, "{run}");
    for id in ["group `a`", "group `b`", "group `c`"] {
        assert!(run.stderr.contains(id), "{id}: {run}");
    }
    assert_eq!(run.stderr.matches("-->").count(), 3, "every place: {run}");
    insta::assert_snapshot!("same_mistake_in_many_elements", run.stderr);
}

/// A missing object is one mistake, not one for each field that it would have.
#[test]
fn missing_object_is_one_problem() {
    let (team, session) = planned("object", &["LOGIN"]);
    let developer = team.claim(&session, "developer", "LOGIN");
    for handoff in [r#"{ "status": "READY_FOR_QA" }"#, r#"{ "status": "READY_FOR_QA", "handoff": "done" }"#] {
        let run = team.give(&developer, handoff);
        let problems = run.json()["error"]["problems"].as_array().unwrap().clone();
        assert_eq!(problems.len(), 1, "{handoff}: {run}");
        assert_eq!(problems[0]["field"], "handoff", "{run}");
    }
    let run = team.give(&developer, r#"{ "status": "READY_FOR_QA", "handoff": {}, "test_progression": 3 }"#);
    let problems = run.json()["error"]["problems"].as_array().unwrap().clone();
    let fields: Vec<_> = problems.iter().map(|problem| problem["field"].as_str().unwrap()).collect();
    assert_eq!(fields, ["handoff.context", "test_progression"], "{run}");
}

/// Several fields that are missing at the same level are one message as well.
#[test]
fn missing_fields_are_one_message() {
    let team = Team::new("record-missing");
    let file = team.file("bare.json", r#"{ "handoff": { "context": "x" }, "status": "READY_FOR_QA" }"#);
    let mut command = team.command(&["handoff", "check", &file.display().to_string(), "--workflow", "delivery-team"]);
    let run = crate::team::run(command.args(["--role", "developer"]), "");
    assert_eq!(run.exit, 4, "{run}");
    assert_eq!(run.stderr.matches("error[").count(), 1, "{run}");
    for field in ["agent", "output_type", "timestamp", "feature_directory", "skills_invoked"] {
        assert!(run.stderr.contains(&format!("`{field}`")), "{field}: {run}");
    }
}

/// A report with an unknown status says nothing about the work, so its route may neither pass nor end anything.
#[test]
fn fallback_that_passes_or_ends_something_is_refused() {
    let team = Team::new("record-fallback");
    let check = |entry: &str| {
        let text = format!("workflow: mine\nlanguage: 1\nextends: delivery-team\nunknown_status: {entry}\n");
        let file = team.file("mine.yaml", &text).display().to_string();
        team.ask(&["check", &file])
    };
    for entry in [
        "{ spawn: tech_lead, passes: [review] }",
        "{ merge: author, passes: [review] }",
        "{ return: blocked_agent, otherwise: { spawn: tech_lead } }",
        "{ consult: tech_lead, otherwise: { return: blocked_agent } }",
        "{ defer: group }",
        "{ start: groups }",
        "{ validate: validator }",
        "{ end: session }",
    ] {
        let run = check(entry);
        assert_eq!(run.exit, 4, "{entry}: {run}");
        let problems = run.json()["error"]["problems"].as_array().unwrap().clone();
        assert!(problems.iter().any(|problem| problem["code"] == "E0170"), "{entry}: {run}");
    }
    for entry in [
        "{ spawn: tech_lead, loop: unclear }",
        "{ consult: tech_lead, otherwise: { spawn: tech_lead }, loop: unclear }",
        "{ ask: clarify }",
    ] {
        assert_eq!(check(entry).exit, 0, "{entry}: {}", check(entry));
    }
}

/// A reason without a word would be a record that explains nothing.
#[test]
fn reason_of_a_person_without_a_word_is_refused() {
    let (team, session) = planned("blank-reason", &["LOGIN"]);
    team.plays(&session, "developer", "LOGIN", "READY_FOR_QA", json!({}));
    for blank in ["", " ", "\n", "\u{a0}\u{3000}", "\u{3164}\u{200b}"] {
        for arguments in [
            &["override", &session, "LOGIN", "--waive", "qa", "--why", blank][..],
            &["override", &session, "LOGIN", "--to", "tech_lead", "--why", blank],
            &["defer", &session, "LOGIN", "--why", blank],
        ] {
            let refused = team.ask(arguments);
            assert_eq!((refused.exit, refused.code().as_str()), (4, "E0261"), "{arguments:?}: {refused}");
        }
    }
    assert_eq!(team.show(&session)["groups"][0]["status"], "in_progress");
}

/// Each help can be followed: it names what the command takes.
#[test]
fn override_without_a_way_names_both_ways() {
    let (team, session) = planned("override-how", &["LOGIN"]);
    let refused = run(&mut team.command(&["override", &session, "LOGIN", "--why", "x"]), "");
    assert_eq!(refused.exit, 2, "{refused}");
    assert!(refused.stderr.contains("--to <ROLE>|--waive <EVIDENCE>"), "{refused}");
    let both = run(&mut team.command(&["override", &session, "LOGIN", "--why", "x", "--to", "a", "--waive", "qa"]), "");
    assert_eq!(both.exit, 2, "{both}");
    let waived = team.ask(&["override", &session, "LOGIN", "--waive", "review", "--why", "x"]);
    assert_eq!(waived.code(), "E0352", "{waived}");
    assert!(waived.json()["error"]["message"].as_str().unwrap().contains("is an approval"), "{waived}");
}

#[test]
fn command_of_a_gate_in_a_wrong_form_is_shown_as_it_has_to_be() {
    let team = Team::new("record-gate-run");
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/errors/E0144.md")).unwrap();
    let example = page.split("```yaml right\n").nth(1).and_then(|text| text.split("```").next()).unwrap();
    for (run_text, help) in [
        ("npm test", "`run: [\"npm\", \"test\"]`"),
        ("[npm test, npm run lint]", "`run: [\"npm\", \"test\"]`"),
        ("[[npm, test], [npm, run, lint]]", "declare a gate for each command"),
        ("\"a && b\"", "`run: [\"sh\", \"-c\", \"a && b\"]`"),
        ("[npm, test]", "take `required` out"),
    ] {
        let file = team.project().join("gate.yaml");
        std::fs::write(&file, example.replace("run: plan", &format!("run: {run_text}"))).unwrap();
        let checked = run(&mut team.command(&["check", file.to_str().unwrap()]), "");
        assert_eq!(checked.exit, 4, "{run_text}: {checked}");
        assert!(checked.stderr.contains(help) || checked.stdout.contains(help), "{run_text}: {checked}");
    }
}

/// Several fields can be missing from one object, which is quoted once.
#[test]
fn place_of_several_missing_fields_is_quoted_once() {
    let (team, session) = planned("fields", &["LOGIN"]);
    let developer = team.claim(&session, "developer", "LOGIN");
    let run = submit_for_people(&team, &developer, "{ \"agent\": \"developer\" }");
    assert_eq!(run.exit, 4, "{run}");
    assert!(run.stderr.contains("is missing: `status`, ") || run.stderr.contains("missing: `"), "{run}");
    let places: Vec<&str> = run.stderr.lines().filter(|line| line.contains("-->")).collect();
    let mut once = places.clone();
    once.dedup();
    assert_eq!(places, once, "{run}");
}

#[test]
fn list_of_what_there_is_stands_once() {
    let team = Team::new("record-list-once");
    let session = team.start("Add login");
    let other = team.start("Tidy the docs");
    let run = run(&mut team.command(&["session", "show", "zzzz"]), "");
    assert!(run.stderr.contains(&session) && run.stderr.contains(&other), "{run}");
    assert_eq!(run.stderr.matches(&other).count(), 1, "{run}");
}

#[test]
fn argument_that_cannot_be_understood_is_refused_with_its_code_in_text() {
    let team = Team::new("record-usage");
    for arguments in [&["why", "x"][..], &["session", "shwo"], &["answer"], &["log", "--nothing"]] {
        let run = run(&mut team.command(arguments), "");
        assert!(run.stderr.starts_with("error[E0402]: "), "{arguments:?}: {run}");
    }
}
