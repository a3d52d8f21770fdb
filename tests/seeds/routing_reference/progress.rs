//! Steps 1 to 5 and the example flow: what counts as progress, when work moves up, what the next one is told.

use serde_json::{Value as Json, json};

use super::{TEAM, changes, finding, in_review, says};
use crate::each;
use crate::program::{merged, route};
use crate::session::{Play, fact, follows, warns};

/// Reviews with these blocking findings, one after the other; the author answers each.
fn reviewed(reviews: &[&[&str]]) -> Play {
    let mut play = in_review();
    for names in reviews {
        play.report("tech_lead", changes(names));
        let author = play.group("AUTH").author.clone().unwrap();
        if play.open() == [format!("{author}@AUTH")] {
            play.report(&author, fixes(names));
        }
    }
    play
}

/// The author answers every finding of the last review with `fixed`.
fn fixes(names: &[&str]) -> Json {
    let responses: Vec<Json> = names.iter().map(|name| json!({ "id": name, "response": "fixed" })).collect();
    json!({ "status": "READY_FOR_REVIEW", "issue_responses": responses })
}

/// Iteration, no-progress count and open findings, as the developer's counter has them.
fn counted(play: &Play) -> (u32, u32, u32) {
    let counter = play.counter("AUTH", "review", "developer");
    (counter.iteration, counter.no_progress, counter.measure.unwrap())
}

fn failing(tests: &[&str]) -> Json {
    json!({ "status": "FAIL", "test_progression": { "still_failing": tests } })
}

fn tested(runs: &[&[&str]]) -> Play {
    let mut play = Play::groups(&["AUTH"]);
    for tests in runs {
        play.report("developer", says("READY_FOR_QA"));
        play.report("qa_expert", failing(tests));
    }
    play
}

// ---- Step 1 ------------------------------------------------------------------------------

#[test]
fn step_1_progress_is_fewer_blocking_issues_and_not_any_fix() {
    let mut play = in_review();
    play.report("tech_lead", changes(&["a", "b"]));
    let claim = json!({ "total_blocking": 2, "fixed": 1, "rejected_with_reason": 0, "unaddressed": 1 });
    play.report("developer", merged(fixes(&["a"]), json!({ "blocking_summary": claim })));
    // One was fixed, and another one came: as many as before.
    play.report("tech_lead", changes(&["b", "c"]));
    assert_eq!(counted(&play), (2, 1, 2));
}

#[test]
fn step_1_what_the_author_claims_is_compared_and_not_counted() {
    let mut play = in_review();
    play.report("tech_lead", changes(&["a", "b"]));
    let claim = json!({ "total_blocking": 5, "fixed": 5, "rejected_with_reason": 0, "unaddressed": 0 });
    let decision = play.report("developer", json!({ "status": "READY_FOR_REVIEW", "blocking_summary": claim }));
    warns(&decision, "the author counts 5 blocking findings, the ledger 2");
    assert_eq!((counted(&play), play.group("AUTH").blocking_findings()), ((1, 0, 2), 2));
}

#[test]
fn step_1_accepted_rejections_do_not_block() {
    let mut play = in_review();
    play.report("tech_lead", changes(&["a", "b", "c"]));
    let rejected = json!([{ "id": "a", "response": "rejected", "reason": "by design" }]);
    play.report("developer", json!({ "status": "READY_FOR_REVIEW", "issue_responses": rejected }));
    let accepted = json!({ "iteration_tracking": { "iteration": 2, "rejections_accepted": ["a"] } });
    play.report("tech_lead", merged(changes(&["b", "c"]), accepted));
    assert_eq!(counted(&play), (2, 0, 2));
}

#[test]
fn step_1_qa_progress_is_fewer_failing_tests() {
    let play = tested(&[&["t1", "t2", "t3"], &["t1", "t2"]]);
    let counter = play.counter("AUTH", "qa", "developer");
    assert_eq!((counter.iteration, counter.no_progress, counter.measure), (2, 0, Some(2)));
}

#[test]
fn step_1_qa_as_many_failing_tests_are_no_progress() {
    let play = tested(&[&["t1", "t2"], &["t1", "t3"]]);
    assert_eq!(play.counter("AUTH", "qa", "developer").no_progress, 1);
}

// ---- Step 2 ------------------------------------------------------------------------------

#[test]
fn step_2_before_the_first_review_nothing_is_counted() {
    assert!(in_review().group("AUTH").lane.counters.is_empty());
    let decision = route(TEAM, "tech_lead", "CHANGES_REQUESTED", &[]).goes("respawn", &["developer"]);
    assert_eq!((&decision["facts"]["loop.review.no_progress"], &decision["warnings"]), (&json!(0), &json!([])));
}

#[test]
fn step_2_iteration_no_progress_and_open_issues_are_in_the_state() {
    let play = reviewed(&[&["a", "b"], &["a", "b"]]);
    assert_eq!(counted(&play), (2, 1, 2));
}

// ---- Step 3 ------------------------------------------------------------------------------

/// Reviews, and the no-progress count after the last.
fn no_progress(reviews: &[&[&str]], expected: u32) {
    let play = reviewed(reviews);
    let (iteration, no_progress, _) = counted(&play);
    assert_eq!((iteration as usize, no_progress), (reviews.len(), expected));
}

each! { no_progress:
    step_3_the_first_iteration_is_always_progress(&[&["a", "b", "c"]], 0);
    step_3_zero_blocking_is_progress(&[&["a"], &[]], 0);
    step_3_zero_blocking_after_zero_is_progress(&[&["a"], &[], &[]], 0);
    step_3_fewer_blocking_resets_the_count(&[&["a", "b"], &["a", "b"], &["a"]], 0);
    step_3_as_many_blocking_increments_the_count(&[&["a", "b"], &["a", "b"]], 1);
    step_3_more_blocking_increments_the_count(&[&["a"], &["a", "b"]], 1);
    step_3_the_iteration_always_grows(&[&["a", "b", "c"], &["a", "b"], &["a"]], 0);
}

// ---- Step 4 ------------------------------------------------------------------------------

#[test]
fn step_4_the_developer_without_progress_twice_is_escalated_to_the_senior() {
    let facts = ["--fact", "author=developer", "--fact", "loop.review.no_progress=2"];
    route(TEAM, "tech_lead", "CHANGES_REQUESTED", &facts).goes("spawn", &["senior_software_engineer"]);
    let mut play = reviewed(&[&["a", "b"], &["a", "b"]]);
    let decision = play.report("tech_lead", changes(&["a", "b"]));
    follows(&decision, "spawn", &["senior_software_engineer"]);
    assert!(decision.escalated);
    assert_eq!(counted(&play), (3, 2, 2));
}

#[test]
fn step_4_the_senior_starts_with_counters_of_its_own() {
    let play = reviewed(&[&["a"], &["a"], &["a"], &["a"]]);
    let counter = play.counter("AUTH", "review", "senior_software_engineer");
    assert_eq!((counter.iteration, counter.no_progress), (1, 0));
    assert_eq!(counted(&play), (3, 2, 1), "the developer's stay as they were");
}

#[test]
fn step_4_the_senior_without_progress_twice_goes_to_the_manager() {
    let facts = ["--fact", "author=senior_software_engineer", "--fact", "loop.review.no_progress=2"];
    route(TEAM, "tech_lead", "CHANGES_REQUESTED", &facts).goes("spawn", &["project_manager"]);
    let mut play = reviewed(&[&["a"], &["a"], &["a"], &["a"], &["a"]]);
    follows(&play.report("tech_lead", changes(&["a"])), "spawn", &["project_manager"]);
}

#[test]
fn step_4_the_fifth_iteration_is_escalated_whatever_the_progress() {
    let mut play = reviewed(&[&["a", "b", "c", "d", "e"], &["a", "b", "c", "d"], &["a", "b", "c"], &["a", "b"]]);
    let decision = play.report("tech_lead", changes(&["a"]));
    follows(&decision, "spawn", &["senior_software_engineer"]);
    assert_eq!((counted(&play), decision.escalated), ((5, 0, 1), true));
}

#[test]
fn step_4_the_fifth_iteration_of_the_senior_goes_to_the_manager() {
    let facts = ["--fact", "author=senior_software_engineer", "--fact", "loop.review.iteration=5"];
    route(TEAM, "tech_lead", "CHANGES_REQUESTED", &facts).goes("spawn", &["project_manager"]);
}

#[test]
fn step_4_otherwise_the_feedback_loop_goes_on() {
    for facts in [["--fact", "loop.review.no_progress=1"], ["--fact", "loop.review.iteration=4"]] {
        let decision = route(TEAM, "tech_lead", "CHANGES_REQUESTED", &facts).goes("respawn", &["developer"]);
        assert_eq!(decision["escalated"], false);
    }
}

#[test]
fn step_4_qa_without_progress_twice_is_escalated_too() {
    let mut play = tested(&[&["t1"], &["t1"]]);
    play.report("developer", says("READY_FOR_QA"));
    follows(&play.report("qa_expert", failing(&["t1"])), "spawn", &["senior_software_engineer"]);
}

// ---- Step 5 ------------------------------------------------------------------------------

#[test]
fn step_5_the_respawn_names_the_review_iteration() {
    let mut play = reviewed(&[&["a", "b"]]);
    let decision = play.report("tech_lead", changes(&["a"]));
    assert_eq!(fact(&decision, "loop.review.iteration"), 2);
}

#[test]
fn step_5_the_respawn_names_the_no_progress_count() {
    let mut play = reviewed(&[&["a"]]);
    let decision = play.report("tech_lead", changes(&["a"]));
    assert_eq!(fact(&decision, "loop.review.no_progress"), 1);
}

#[test]
fn step_5_four_iterations_come_before_escalation() {
    let mut play = in_review();
    for names in [&["a", "b", "c", "d"][..], &["a", "b", "c"], &["a", "b"], &["a"]] {
        follows(&play.report("tech_lead", changes(names)), "respawn", &["developer"]);
        play.report("developer", fixes(names));
    }
    follows(&play.report("tech_lead", changes(&["e"])), "spawn", &["senior_software_engineer"]);
}

#[test]
fn step_5_prior_issues_are_kept_for_the_next_attempt() {
    let play = reviewed(&[&["a", "b"]]);
    let titles: Vec<&str> = play.group("AUTH").findings.iter().map(|finding| finding.title.as_str()).collect();
    assert_eq!(titles, ["a is wrong", "b is wrong"]);
}

#[test]
fn step_5_the_authors_responses_are_kept_for_the_next_review() {
    let mut play = in_review();
    play.report("tech_lead", changes(&["a"]));
    let responses = json!([{ "id": "a", "response": "rejected", "reason": "as designed" }]);
    play.report("developer", json!({ "status": "READY_FOR_REVIEW", "issue_responses": responses }));
    play.report("tech_lead", changes(&["a"]));
    let response = play.group("AUTH").findings[0].response.as_ref().expect("a response");
    assert_eq!(response.reason.as_deref(), Some("as designed"));
}

/// One step before the escalation, not after it.
#[test]
fn step_5_high_risk_is_said_one_step_before_no_progress_escalates() {
    let mut play = reviewed(&[&["a"]]);
    let decision = play.report("tech_lead", changes(&["a"]));
    warns(&decision, "HIGH RISK: the next review iteration without progress escalates to senior_software_engineer");
}

#[test]
fn step_5_warnings_begin_at_iteration_three() {
    let second = route(TEAM, "tech_lead", "CHANGES_REQUESTED", &["--fact", "loop.review.iteration=2"]).json();
    assert_eq!(second["warnings"], json!([]));
    let third = route(TEAM, "tech_lead", "CHANGES_REQUESTED", &["--fact", "loop.review.iteration=3"]).json();
    assert!(third["warnings"][0]["message"].as_str().is_some_and(|text| text.contains("iteration 3")), "{third:#}");
}

#[test]
fn step_5_the_final_iteration_is_called_so() {
    let facts = ["--fact", "loop.review.iteration=4"];
    let decision = route(TEAM, "tech_lead", "CHANGES_REQUESTED", &facts).goes("respawn", &["developer"]);
    let text = decision["warnings"][0]["message"].as_str().expect("a warning");
    assert!(text.starts_with("FINAL ITERATION"), "{text}");
}

fn nitpick(severity: &str) {
    let mut play = reviewed(&[&["a"]]);
    let mut new = finding("n", "style");
    new["severity"] = json!(severity);
    let decision =
        play.report("tech_lead", json!({ "status": "CHANGES_REQUESTED", "issues": [finding("a", "a"), new] }));
    warns(&decision, "n is new and minor: it cannot block after the first review");
    assert_eq!(play.group("AUTH").blocking_findings(), 1);
}

each! { nitpick:
    step_5_a_new_medium_issue_cannot_block_after_the_first_review("MEDIUM");
    step_5_a_new_low_issue_cannot_block_after_the_first_review("LOW");
}

#[test]
fn step_5_a_new_high_issue_still_blocks() {
    let mut play = reviewed(&[&["a"]]);
    play.report("tech_lead", changes(&["a", "b"]));
    assert_eq!(play.group("AUTH").blocking_findings(), 2);
}

// ---- Example flow ------------------------------------------------------------------------

/// Three blocking issues; the developer fixes two and rejects one.
fn example_flow(step: u32) -> Play {
    let mut play = in_review();
    follows(&play.report("tech_lead", changes(&["a", "b", "c"])), "respawn", &["developer"]);
    if step >= 3 {
        let responses = json!([
            { "id": "a", "response": "fixed" },
            { "id": "b", "response": "fixed" },
            { "id": "c", "response": "rejected", "reason": "it cannot happen" },
        ]);
        let summary = json!({ "total_blocking": 3, "fixed": 2, "rejected_with_reason": 1, "unaddressed": 0 });
        let handoff =
            json!({ "status": "READY_FOR_REVIEW", "issue_responses": responses, "blocking_summary": summary });
        let decision = play.report("developer", handoff);
        follows(&decision, "spawn", &["tech_lead"]);
        assert!(decision.warnings.is_empty(), "the summary fits the ledger: {:?}", decision.warnings);
    }
    play
}

#[test]
fn example_1_and_2_three_blocking_issues_are_iteration_one() {
    let play = example_flow(2);
    assert_eq!(counted(&play), (1, 0, 3));
}

#[test]
fn example_3_and_4_the_developers_answer_is_read_and_compared() {
    let play = example_flow(4);
    let answered = play.group("AUTH").findings.iter().filter(|finding| finding.response.is_some()).count();
    assert_eq!(answered, 3);
}

/// Counted when the review confirms it: the author's claim alone moves nothing.
#[test]
fn example_5_two_fixed_is_progress_in_iteration_two() {
    let mut play = example_flow(5);
    assert_eq!(counted(&play), (1, 0, 3));
    let overruled = json!({ "iteration_tracking": { "iteration": 2, "rejections_overruled": ["c"] } });
    play.report("tech_lead", merged(changes(&[]), overruled));
    assert_eq!(counted(&play), (2, 0, 1));
}

#[test]
fn example_6_the_tech_lead_reviews_again() {
    let play = example_flow(6);
    let open = play.state.assignments[play.state.open.first().unwrap()].clone();
    assert_eq!((open.role.as_str(), open.attempt), ("tech_lead", 2));
}

#[test]
fn example_7_two_fixed_and_one_rejection_accepted_is_approved() {
    let mut play = example_flow(7);
    let tracking = json!({ "iteration": 2, "rejections_accepted": ["c"], "rejections_overruled": [] });
    let decision = play.report("tech_lead", json!({ "status": "APPROVED", "iteration_tracking": tracking }));
    follows(&decision, "spawn", &["qa_expert"]);
    assert_eq!(play.group("AUTH").blocking_findings(), 0);
    follows(&play.report("qa_expert", says("PASS")), "merge", &["developer"]);
}

#[test]
fn example_7_an_issue_that_is_still_open_is_not_approved() {
    let mut play = example_flow(7);
    let open = json!({ "status": "APPROVED", "issues": [finding("c2", "c")] });
    let rejection = play.refused("tech_lead", open);
    assert_eq!(rejection.code.number(), "E0311");
}
