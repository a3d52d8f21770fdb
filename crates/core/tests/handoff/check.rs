//! The fields that every handoff has, statuses, blocked handoffs, phases, skills, paths and questions.

use interlock_core::code::Code;
use interlock_core::handoff::{OrchestrationMode, context_of_prompt};
use serde_json::json;

use crate::fixture::{HandoffCase, check_alone, custom, problems, refuses, smallest, warnings, with, workflow};

#[test]
fn the_common_fields_are_required_and_typed() {
    let workflow = workflow("delivery-team");
    let valid = smallest("developer", "READY_FOR_QA");
    refuses(
        &HandoffCase::of(&workflow, "developer"),
        &valid,
        &[
            (json!({ "agent": null }), &[(Code::FieldMissing, "agent")]),
            (json!({ "agent": 7 }), &[(Code::FieldType, "agent")]),
            (json!({ "agent": "qa_expert" }), &[(Code::WrongAgent, "agent")]),
            (json!({ "output_type": " " }), &[(Code::FieldMissing, "output_type")]),
            (json!({ "timestamp": null }), &[(Code::FieldMissing, "timestamp")]),
            (json!({ "timestamp": "2026-01-18T15:42:00" }), &[(Code::BadTimestamp, "timestamp")]),
            (json!({ "timestamp": 1768750920 }), &[(Code::FieldType, "timestamp")]),
            (json!({ "feature_directory": null }), &[(Code::FieldMissing, "feature_directory")]),
            (json!({ "skills_invoked": null }), &[(Code::FieldMissing, "skills_invoked")]),
            (json!({ "skills_invoked": "tdd" }), &[(Code::FieldType, "skills_invoked")]),
            (json!({ "skills_invoked": ["tdd", 1] }), &[(Code::FieldType, "skills_invoked[1]")]),
            (json!({ "library_skills_read": [""] }), &[(Code::FieldMissing, "library_skills_read[0]")]),
            (json!({ "status": null }), &[(Code::FieldMissing, "status")]),
            (json!({ "handoff.context": null }), &[(Code::NoContext, "handoff.context")]),
            (json!({ "handoff.context": "  " }), &[(Code::NoContext, "handoff.context")]),
            (json!({ "handoff.next_agent": 1 }), &[(Code::FieldType, "handoff.next_agent")]),
            (json!({ "handoff": null }), &[(Code::FieldMissing, "handoff")]),
            (json!({ "handoff": "x" }), &[(Code::FieldType, "handoff")]),
            (json!({ "verification": [] }), &[(Code::FieldType, "verification")]),
            (json!({ "acknowledge": "A" }), &[(Code::FieldType, "acknowledge")]),
            (json!({ "accept": [1] }), &[(Code::FieldType, "accept[0]")]),
        ],
    );
}

#[test]
fn everything_wrong_is_listed_at_once_in_order_of_the_file() {
    let workflow = workflow("delivery-team");
    let broken = json!({
        "agent": "qa_expert", "output_type": "x", "timestamp": "now", "skills_invoked": 1, "status": "BLOCKED",
        "handoff": { "next_agent": "tech_lead" },
    });
    let checked = HandoffCase::of(&workflow, "developer").check(&broken);
    let mut codes = problems(&checked);
    let lines: Vec<u32> = checked.problems.iter().map(|problem| problem.at.as_ref().unwrap().line).collect();
    assert!(lines.is_sorted(), "{lines:?}");
    codes.sort();
    assert_eq!(
        codes,
        [
            (Code::FieldMissing, "feature_directory"),
            (Code::FieldType, "skills_invoked"),
            (Code::WrongAgent, "agent"),
            (Code::NextAgent, "handoff.next_agent"),
            (Code::BadTimestamp, "timestamp"),
            (Code::NothingAttempted, "attempted"),
            (Code::NoContext, "handoff.context"),
        ]
    );
}

#[test]
fn slips_of_the_block_are_listed_with_the_rest() {
    let workflow = workflow("delivery-team");
    let output = r#"{ "agent": "developer", // me
  "output_type": "x", "timestamp": "now", "feature_directory": "x", "skills_invoked": [],
  "status": "READY_FOR_QA", "status": "BLOCKED", "handoff": { "context": "x", } }"#;
    let checked = HandoffCase::of(&workflow, "developer").check_text(output);
    let codes: Vec<Code> = checked.problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, [Code::HandoffSyntax, Code::BadTimestamp, Code::DuplicateKey, Code::HandoffSyntax]);
    assert!(checked.handoff.is_none());
}

#[test]
fn the_context_is_not_needed_when_nobody_comes_next() {
    let workflow = workflow("mcp-wrapper");
    let last = with(
        smallest("tool-reviewer", "complete"),
        json!({ "handoff": { "next_phase": "complete" }, "phase": "review", "summary": "Reviewed get-issue: 18 of 18 tests pass" }),
    );
    let case = HandoffCase { role: Some("tool-reviewer"), ..HandoffCase::of(&workflow, "tool-reviewer") };
    assert_eq!(problems(&case.check(&last)), []);
    let not_last = with(last, json!({ "handoff.next_phase": "merge" }));
    assert_eq!(problems(&case.check(&not_last)), [(Code::NoContext, "handoff.context")]);
    // A role in the middle of the pipeline cannot become the last by claiming so.
    let early = json!({ "handoff": { "next_phase": "complete" }, "phase": "testing", "summary": "Wrote 18 tests for get-issue" });
    let early = with(smallest("tool-tester", "complete"), early);
    for phase in [None, Some("testing")] {
        let case = HandoffCase { phase, ..HandoffCase::of(&workflow, "tool-tester") };
        assert!(problems(&case.check(&early)).contains(&(Code::NoContext, "handoff.context")), "{phase:?}");
    }
}

#[test]
fn a_status_that_asks_nothing_may_say_that_it_has_no_questions() {
    let feature = workflow("feature");
    let none = with(smallest("frontend-lead", "complete"), json!({ "questions": [] }));
    assert_eq!(problems(&HandoffCase::of(&feature, "frontend-lead").check(&none)), []);
    let team = workflow("delivery-team");
    let none = with(smallest("developer", "READY_FOR_QA"), json!({ "questions": [] }));
    assert_eq!(problems(&HandoffCase::of(&team, "developer").check(&none)), []);
}

#[test]
fn the_next_phase_is_a_text_in_every_workflow() {
    let team = workflow("delivery-team");
    let wrong = with(smallest("developer", "READY_FOR_QA"), json!({ "handoff.next_phase": 3 }));
    assert_eq!(problems(&HandoffCase::of(&team, "developer").check(&wrong)), [(Code::FieldType, "handoff.next_phase")]);
}

#[test]
fn a_status_is_read_without_regard_to_its_spelling() {
    let workflow = workflow("integration");
    let case = HandoffCase::of(&workflow, "integration-lead");
    for spelling in ["needs-review", "NEEDS_REVIEW", "Needs Review", " needs_review "] {
        let checked = case.check(&smallest("integration-lead", spelling));
        assert_eq!(problems(&checked), [], "{spelling}");
        assert_eq!(checked.status.as_deref(), Some("needs_review"));
        assert_eq!(warnings(&checked), [(Code::StatusSpelling, "status")], "{spelling}");
        assert_eq!(checked.handoff.unwrap().said.as_str(), spelling, "what was said is kept");
    }
    assert_eq!(warnings(&case.check(&smallest("integration-lead", "needs_review"))), []);
}

#[test]
fn an_alias_means_the_status_that_the_role_has() {
    let workflow = workflow("delivery-team");
    for (role, meant) in [("developer", "PARTIAL"), ("investigator", "INVESTIGATION_INCOMPLETE")] {
        let checked = HandoffCase::of(&workflow, role).check(&smallest(role, "incomplete"));
        assert_eq!(checked.status.as_deref(), Some(meant));
    }
}

#[test]
fn an_unknown_status_is_refused_or_routed_as_the_workflow_says() {
    let strict = workflow("feature");
    let checked = HandoffCase::of(&strict, "frontend-lead").check(&smallest("frontend-lead", "complet"));
    assert_eq!(problems(&checked), [(Code::UnknownStatus, "status")]);
    assert!(checked.problems[0].help.as_ref().unwrap().contains("complete"), "{:?}", checked.problems[0].help);
    let lenient = workflow("delivery-team");
    let checked = HandoffCase::of(&lenient, "qa_expert").check(&smallest("qa_expert", "LOOKS_FINE"));
    assert_eq!((problems(&checked), warnings(&checked)), (vec![], vec![(Code::UnknownStatus, "status")]));
    assert_eq!(checked.handoff.unwrap().status, None);
    for reserved in ["no_handoff", "bad_handoff", "NO-HANDOFF"] {
        let checked = HandoffCase::of(&lenient, "qa_expert").check(&smallest("qa_expert", reserved));
        assert_eq!(problems(&checked), [(Code::UnknownStatus, "status")], "{reserved} is Interlock's to say");
    }
}

#[test]
fn the_role_is_known_and_not_interlocks_own() {
    let workflow = workflow("delivery-team");
    let any = HandoffCase { role: None, ..HandoffCase::of(&workflow, "developer") };
    assert!(any.check(&smallest("developer", "READY_FOR_QA")).handoff.is_some(), "`agent` tells the role");
    for role in ["validator", "designer"] {
        assert_eq!(problems(&any.check(&smallest(role, "ACCEPT"))), [(Code::WrongAgent, "agent")], "{role}");
    }
}

#[test]
fn a_blocked_handoff_says_why_and_what_was_tried() {
    let workflow = workflow("feature");
    let valid = with(
        smallest("frontend-developer", "blocked"),
        json!({ "blocked_reason": "security_concern", "attempted": ["looked for a sanitiser"] }),
    );
    refuses(
        &HandoffCase::of(&workflow, "frontend-developer"),
        &valid,
        &[
            (json!({ "attempted": null }), &[(Code::NothingAttempted, "attempted")]),
            (json!({ "attempted": [] }), &[(Code::NothingAttempted, "attempted")]),
            (json!({ "attempted": [" "] }), &[(Code::FieldMissing, "attempted[0]")]),
            (json!({ "attempted": "a lot" }), &[(Code::FieldType, "attempted")]),
            (json!({ "blocked_reason": null }), &[(Code::NoReason, "blocked_reason")]),
            (json!({ "blocked_reason": "weather" }), &[(Code::FieldValue, "blocked_reason")]),
            (json!({ "handoff.next_agent": "frontend-security" }), &[(Code::NextAgent, "handoff.next_agent")]),
            (json!({ "handoff.context": null }), &[(Code::NoContext, "handoff.context")]),
            (
                json!({ "handoff.blockers": [{}] }),
                &[
                    (Code::NoBlockers, "handoff.blockers[0]"),
                    (Code::NoBlockers, "handoff.blockers[0]"),
                    (Code::NoBlockers, "handoff.blockers[0]"),
                ],
            ),
        ],
    );
    let checked = HandoffCase::of(&workflow, "frontend-developer")
        .check(&with(valid, json!({ "status": "complete", "files_modified": ["a"] })));
    assert!(warnings(&checked).contains(&(Code::NoReason, "blocked_reason")), "a reason without a block is odd");
}

#[test]
fn where_the_status_routes_a_reason_is_optional_and_kept() {
    let workflow = workflow("delivery-team");
    let blocked = with(smallest("developer", "BLOCKED"), json!({ "attempted": ["x"] }));
    let case = HandoffCase::of(&workflow, "developer");
    assert!(case.check(&blocked).is_valid());
    let with_reason = with(blocked.clone(), json!({ "blocked_reason": "environment" }));
    assert_eq!(case.check(&with_reason).handoff.unwrap().reason.as_deref(), Some("environment"));
    let unknown = with(blocked, json!({ "blocked_reason": "weather" }));
    assert_eq!(problems(&case.check(&unknown)), [(Code::FieldValue, "blocked_reason")]);
}

#[test]
fn blockers_are_listed_where_the_workflow_asks_for_them() {
    let workflow = workflow("mcp-wrapper");
    let blocker = json!({ "type": "t", "description": "d", "resolution": "r" });
    let valid = with(
        smallest("tool-lead", "blocked"),
        json!({
            "blocked_reason": "architecture_decision", "attempted": ["x"], "phase": "architecture",
            "summary": "Blocked on list-issues: 12K tokens, pagination or truncation", "handoff.blockers": [blocker],
        }),
    );
    refuses(
        &HandoffCase::of(&workflow, "tool-lead").in_phase("tool_architecture"),
        &valid,
        &[
            (json!({ "handoff.blockers": null }), &[(Code::NoBlockers, "handoff.blockers")]),
            (json!({ "handoff.blockers": [] }), &[(Code::NoBlockers, "handoff.blockers")]),
            (json!({ "phase": null }), &[(Code::FieldMissing, "phase")]),
            (json!({ "phase": "review" }), &[(Code::WrongPhase, "phase")]),
            (json!({ "summary": null }), &[(Code::FieldMissing, "summary")]),
        ],
    );
}

#[test]
fn in_a_direct_context_the_table_names_who_helps() {
    let workflow = workflow("feature");
    let blocked = |agent: &str, reason: &str, next: serde_json::Value| {
        let next = if next.is_null() { json!({}) } else { json!({ "handoff.next_agent": next }) };
        with(with(smallest(agent, "blocked"), json!({ "blocked_reason": reason, "attempted": ["x"] })), next)
    };
    let check = |agent: &str, reason: &str, next: serde_json::Value| {
        HandoffCase::of(&workflow, agent).direct().check(&blocked(agent, reason, next))
    };
    assert_eq!(problems(&check("backend-developer", "architecture_decision", json!("backend-lead"))), []);
    assert_eq!(problems(&check("python-developer", "test_failures", json!("backend-tester"))), []);
    assert_eq!(problems(&check("tool-developer", "missing_requirements", json!(null))), []);
    let wrong = check("backend-developer", "architecture_decision", json!("backend-tester"));
    assert_eq!(problems(&wrong), [(Code::NextAgent, "handoff.next_agent")]);
    assert!(wrong.problems[0].help.as_ref().unwrap().contains("backend-lead"));
    let missing = check("backend-developer", "security_concern", json!(null));
    assert!(missing.problems[0].help.as_ref().unwrap().contains("backend-security"));
    let person = check("tool-developer", "out_of_scope", json!("tool-lead"));
    assert!(person.problems[0].help.as_ref().unwrap().contains("null"));
}

#[test]
fn a_prompt_tells_the_context() {
    for (prompt, context) in [
        ("Fix it.\n\nOUTPUT_DIRECTORY: .claude/.output/x/", OrchestrationMode::Orchestrated),
        ("You were spawned by orchestrating-feature-development.", OrchestrationMode::Orchestrated),
        ("claude task --agent frontend-developer: fix the form", OrchestrationMode::Direct),
        ("", OrchestrationMode::Direct),
    ] {
        assert_eq!(context_of_prompt(prompt), context, "{prompt}");
    }
}

#[test]
fn skills_that_were_not_invoked_are_warned_of_or_refused() {
    let workflow = workflow("feature");
    let handoff = with(smallest("frontend-lead", "complete"), json!({ "skills_invoked": [] }));
    let checked = HandoffCase::of(&workflow, "frontend-lead").in_phase("architecture").check(&handoff);
    assert!(checked.is_valid());
    let missing: Vec<&str> = checked.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert!(missing[0].contains("persisting-agent-outputs") && missing[1].contains("writing-plans"), "{missing:?}");
    let strict = custom(
        "workflow: w\nlanguage: 1\nroles: { dev: { is: [author], skills: [tdd] } }\nbegin: { spawn: dev }\n\
         groups: { begin: { spawn: dev }, ended: { spawn: dev } }\nhandoff: { skills: [common], missing_skills: refuse }\n\
         routes: { dev: { DONE: { complete: group, passes: [x] }, PLAN: { start: groups, loop: plan }, END: { end: session } } }\n\
         loops: { plan: 3 }\ncompletion: { group: { needs: [x] } }\n",
    );
    let handoff = with(smallest("dev", "PLAN"), json!({ "skills_invoked": ["common"] }));
    assert_eq!(problems(&HandoffCase::of(&strict, "dev").check(&handoff)), [(Code::SkillMissing, "skills_invoked")]);
}

#[test]
fn phases_ask_for_fields_and_claims_of_what_leaves_them() {
    let workflow = workflow("mcp-wrapper");
    let claims = json!({ "tests_passed": true, "build_success": true, "lint_passed": true, "coverage_percent": 89 });
    let valid = with(
        smallest("tool-developer", "complete"),
        json!({
            "phase": "implementation", "summary": "Implemented get-issue.ts, 18 of 18 tests pass",
            "files_modified": ["a.ts"], "verification": claims,
        }),
    );
    refuses(
        &HandoffCase::of(&workflow, "tool-developer").in_phase("implementation"),
        &valid,
        &[
            (json!({ "files_modified": [] }), &[(Code::FieldMissing, "files_modified")]),
            (
                json!({ "verification.coverage_percent": null }),
                &[(Code::FieldMissing, "verification.coverage_percent")],
            ),
            (json!({ "verification.tests_passed": false }), &[(Code::ClaimNotMade, "verification.tests_passed")]),
            (json!({ "verification.tests_passed": "true" }), &[(Code::ClaimNotMade, "verification.tests_passed")]),
        ],
    );
    let called = with(valid, json!({ "handoff.next_phase": "reveiw" }));
    let checked = HandoffCase::of(&workflow, "tool-developer").in_phase("implementation").check(&called);
    assert!(warnings(&checked).contains(&(Code::FieldValue, "handoff.next_phase")));
}

#[test]
fn a_vague_summary_is_warned_of() {
    let workflow = workflow("delivery-team");
    let case = HandoffCase::of(&workflow, "developer");
    let vague = with(smallest("developer", "READY_FOR_QA"), json!({ "summary": "Added wrapper" }));
    assert_eq!(warnings(&case.check(&vague)), [(Code::VagueSummary, "summary")]);
    let clear = with(
        vague,
        json!({ "summary": "Implemented get-issue wrapper with Zod validation, achieved 89% test coverage" }),
    );
    assert_eq!(warnings(&case.check(&clear)), []);
}

#[test]
fn paths_are_what_they_should_be() {
    let workflow = workflow("delivery-team");
    refuses(
        &HandoffCase::of(&workflow, "developer"),
        &with(
            smallest("developer", "READY_FOR_QA"),
            json!({
                "source_files_verified": ["a.go", "a.go:87", "a.go:1-50"], "files_modified": [".claude/a.ts"],
                "artifacts": ["out/a.md", "/abs/a.md"], "feature_directory": "/abs/dir",
            }),
        ),
        &[
            (json!({ "source_files_verified": ["a:9-3"] }), &[(Code::BadSourceReference, "source_files_verified[0]")]),
            (json!({ "files_modified": ["a", "/etc/passwd"] }), &[(Code::PathNotRelative, "files_modified[1]")]),
            (json!({ "files_modified": ["../a"] }), &[(Code::PathNotRelative, "files_modified[0]")]),
            (json!({ "artifacts": ["a\u{0}"] }), &[(Code::PathNotRelative, "artifacts[0]")]),
        ],
    );
}

#[test]
fn questions_can_be_answered() {
    let workflow = workflow("feature");
    let case = HandoffCase::of(&workflow, "frontend-lead");
    let asking = smallest("frontend-lead", "needs_clarification");
    let question = json!({ "text": "Which one?", "category": "auth", "options": ["a", "b"], "impact": "all" });
    let valid = with(asking.clone(), json!({ "questions": [question, { "text": "Why?" }] }));
    let asked = case.check(&valid).handoff.unwrap().questions;
    assert_eq!(asked.len(), 2);
    assert_eq!((asked[0].options.len(), asked[0].impact.as_deref()), (2, Some("all")));
    let many: Vec<_> = (0..11).map(|number| json!({ "text": format!("{number}?") })).collect();
    let options: Vec<_> = (0..11).map(|number| number.to_string()).collect();
    refuses(
        &case,
        &valid,
        &[
            (json!({ "questions": [] }), &[(Code::BadQuestion, "questions")]),
            (json!({ "questions": many }), &[(Code::BadQuestion, "questions")]),
            (json!({ "questions": [{ "text": " " }] }), &[(Code::BadQuestion, "questions[0]")]),
            (
                json!({ "questions": [{ "text": "a", "options": ["one"] }] }),
                &[(Code::BadQuestion, "questions[0].options")],
            ),
            (
                json!({ "questions": [{ "text": "a", "options": options }] }),
                &[(Code::BadQuestion, "questions[0].options")],
            ),
            (
                json!({ "questions": [{ "text": "a", "options": ["x", "x"] }] }),
                &[(Code::BadQuestion, "questions[0].options")],
            ),
            (
                json!({ "questions": [{ "text": "a", "options": ["x", 1] }] }),
                &[(Code::BadQuestion, "questions[0].options"), (Code::BadQuestion, "questions[0].options")],
            ),
            (json!({ "questions": [{ "text": "a", "options": "x" }] }), &[(Code::FieldType, "questions[0].options")]),
            (json!({ "questions": "why?" }), &[(Code::FieldType, "questions")]),
            (json!({ "handoff.options": ["one"] }), &[(Code::BadQuestion, "handoff.options")]),
        ],
    );
    let offered = with(asking, json!({ "handoff.options": ["API key", "OAuth2"] }));
    let asked = case.check(&offered).handoff.unwrap().questions;
    assert_eq!((asked.len(), asked[0].text.as_str(), asked[0].options.len()), (1, "what to know", 2));
}

#[test]
fn fields_of_ones_own_are_kept_and_the_digest_is_of_the_content() {
    let workflow = workflow("delivery-team");
    let case = HandoffCase::of(&workflow, "developer");
    let own =
        with(smallest("developer", "READY_FOR_QA"), json!({ "dev_output": { "b": [1, 2.50], "a": null }, "x": 1 }));
    let handoff = case.check(&own).handoff.unwrap();
    assert_eq!(*handoff.json, own);
    let mut turned = serde_json::Map::new();
    own.as_object().unwrap().iter().rev().for_each(|(key, value)| {
        turned.insert(key.clone(), value.clone());
    });
    let again = case.check(&turned.into()).handoff.unwrap();
    assert_eq!(again.digest, handoff.digest, "the order of keys is not content");
    let other = case.check(&with(own, json!({ "x": 2 }))).handoff.unwrap();
    assert_ne!(other.digest, handoff.digest);
}

#[test]
fn without_a_workflow_the_common_part_is_checked() {
    let checked = check_alone(&smallest("anyone", "anything"));
    assert!(checked.is_valid() && checked.handoff.is_none(), "a handoff is made for a workflow");
    let checked = check_alone(&smallest("anyone", "Blocked"));
    let mut codes = problems(&checked);
    codes.sort();
    assert_eq!(codes, [(Code::NothingAttempted, "attempted"), (Code::NoReason, "blocked_reason")]);
}

/// Numbers that a parser which is off by the last bit reads otherwise, and then once more otherwise.
const MANY_DIGITS: &[&str] = &[
    "9007199254740993.5",
    "0.12345678901234568",
    "122.416294033786585",
    "-122.416294033786585",
    "3.1415926535897932384626433832795",
    "1.7976931348623157e308",
    "2.2250738585072011e-308",
    "5e-324",
    "31.245270191439438",
    "121.48791951161945",
    "100.78399658203125",
    "0.30000000000000004",
];

#[test]
fn numbers_are_the_same_however_often_they_are_read() {
    let workflow = workflow("delivery-team");
    let case = HandoffCase::of(&workflow, "developer");
    for digits in MANY_DIGITS {
        let text = smallest("developer", "READY_FOR_QA").to_string().replacen('{', &format!("{{\"n\":{digits},"), 1);
        let first = case.check_text(&text).handoff.unwrap();
        assert_eq!(first.json["n"].as_f64(), digits.parse().ok(), "{digits} is the nearest number there is");
        let again = case.check_text(&first.json.to_string()).handoff.unwrap();
        assert_eq!(first.digest, again.digest, "{digits} changes when it is written and read");
    }
}

/// The JSON Schema crate of these tests asks for exact numbers too, and Cargo gives one crate to both: in a test run
/// numbers are exact whatever is asked for. The program is built without it.
#[test]
fn the_program_itself_asks_for_exact_numbers() {
    for manifest in [include_str!("../../Cargo.toml"), include_str!("../../../../Cargo.toml")] {
        let asked = manifest.lines().find(|line| line.starts_with("serde_json = "));
        assert!(asked.is_some_and(|line| line.contains("\"float_roundtrip\"")), "{asked:?}");
    }
}

#[test]
fn a_role_that_there_is_not_is_one_problem() {
    let workflow = workflow("delivery-team");
    for agent in ["developer", "nobody"] {
        let checked = HandoffCase::of(&workflow, "nobody").check(&smallest(agent, "READY_FOR_QA"));
        assert_eq!(problems(&checked), [(Code::WrongAgent, "agent")], "{agent}");
        assert_eq!(checked.problems[0].message, "`delivery-team` has no role `nobody`");
    }
}
