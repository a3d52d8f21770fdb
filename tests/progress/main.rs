//! The example flow of the routing reference, with its counters: progress, escalation, re-raised findings.

#[path = "../team/mod.rs"]
mod team;

use serde_json::{Value as Json, json};
use team::Team;
use team::incident::plan;

/// A group that has come to its first review.
fn to_review(test: &str) -> (Team, String) {
    let team = Team::new(test);
    let session = team.start("Progress");
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", plan(&["AUTH"]));
    team.plays(&session, "developer", "AUTH", "READY_FOR_REVIEW", json!({}));
    (team, session)
}

/// Iteration, passages without progress and open blocking findings, or failing tests, of a loop.
fn counters(team: &Team, session: &str, counted: &str) -> (u64, u64, u64) {
    let group = team.group(session, "AUTH");
    let standing = &group["loops"][counted];
    let number = |name: &str| standing[name].as_u64().unwrap_or_else(|| panic!("{name} in {standing}"));
    (number("iteration"), number("no_progress"), number("blocking"))
}

fn issue(id: &str, title: &str) -> Json {
    json!({ "id": id, "title": title, "location": format!("src/auth.rs:{title}"), "severity": "HIGH", "blocking": true })
}

/// Issues with these titles; the ids change from one review to the next.
fn issues(review: u32, titles: &[&str]) -> Json {
    let issues: Vec<Json> =
        titles.iter().enumerate().map(|(index, title)| issue(&format!("TL-{review}-{index}"), title)).collect();
    json!({ "issues": issues })
}

/// The author answers that all findings of a review are fixed. The reviewer decides whether they are.
fn answers(review: u32, count: usize) -> Json {
    let answer = |index: usize| json!({ "id": format!("TL-{review}-{index}"), "response": "fixed" });
    json!({ "issue_responses": (0..count).map(answer).collect::<Vec<_>>() })
}

fn requests(team: &Team, session: &str, changes: Json) -> Json {
    team.plays(session, "tech_lead", "AUTH", "CHANGES_REQUESTED", changes)
}

/// 1. The tech lead requests changes with three blocking issues. 3. The developer fixes two and rejects one.
/// 7. The tech lead finds two fixed, accepts the rejection, and approves.
#[test]
fn the_example_flow() {
    let (team, s) = to_review("the_example_flow");
    assert_eq!(counters(&team, &s, "review"), (0, 0, 0));

    // 1, 2: three blocking issues; the first review always counts as progress.
    let decided = requests(&team, &s, issues(1, &["login", "logout", "session"]));
    assert_eq!((&decided["action"], &decided["next"][0]["role"]), (&json!("respawn"), &json!("developer")));
    assert_eq!(counters(&team, &s, "review"), (1, 0, 3));

    // 3, 4: what the author claims is kept with its finding, and is not counted.
    let responses = json!({
        "issue_responses": [
            { "id": "TL-1-0", "response": "fixed" },
            { "id": "TL-1-1", "response": "fixed" },
            { "id": "TL-1-2", "response": "rejected", "reason": "the session is closed by the gateway" },
        ],
        "blocking_summary": { "total_blocking": 3, "fixed": 2, "rejected_with_reason": 1, "unaddressed": 0 },
    });
    let decided = team.plays(&s, "developer", "AUTH", "READY_FOR_REVIEW", responses);
    assert_eq!(decided["next"][0]["role"], "tech_lead");
    assert_eq!(counters(&team, &s, "review"), (1, 0, 3));
    let findings = team.group(&s, "AUTH")["findings"].clone();
    assert_eq!((&findings[2]["status"], &findings[2]["response"]["response"]), (&json!("open"), &json!("rejected")));

    // 5: progress, because the reviewer has fewer open: no iteration without it.
    let verdicts = json!({ "iteration_tracking": { "iteration": 2, "rejections_accepted": ["TL-1-2"], "rejections_overruled": [] } });
    let decided = team.plays(&s, "tech_lead", "AUTH", "APPROVED", verdicts);
    // 7: two fixed, one rejection accepted: approved, and QA is asked for what is still missing.
    assert_eq!(decided["next"][0]["role"], "qa_expert");
    assert_eq!(counters(&team, &s, "review"), (1, 0, 0), "an approval is no passage of the loop");
    let findings = team.group(&s, "AUTH")["findings"].clone();
    let statuses: Vec<&str> =
        findings.as_array().unwrap().iter().map(|finding| finding["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["closed", "closed", "accepted"]);
    team.plays(&s, "qa_expert", "AUTH", "PASS", json!({}));
    team.plays(&s, "developer", "AUTH", "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(&s, "AUTH"), "completed");
}

#[test]
fn fewer_open_findings_are_progress() {
    let (team, s) = to_review("fewer_open_findings_are_progress");
    requests(&team, &s, issues(1, &["login", "logout", "session"]));
    team.plays(&s, "developer", "AUTH", "READY_FOR_REVIEW", answers(1, 3));
    requests(&team, &s, issues(2, &["login", "logout", "session"]));
    assert_eq!(counters(&team, &s, "review"), (2, 1, 3), "as many as before: no progress");
    team.plays(&s, "developer", "AUTH", "READY_FOR_REVIEW", answers(2, 3));
    let decided = requests(&team, &s, issues(3, &["session"]));
    assert_eq!(counters(&team, &s, "review"), (3, 0, 1), "progress sets the passages without it back");
    assert_eq!(decided["next"][0]["role"], "developer");
}

#[test]
fn no_progress_twice_moves_the_work_up() {
    let (team, s) = to_review("no_progress_twice_moves_the_work_up");
    let stuck = ["login", "logout"];
    requests(&team, &s, issues(1, &stuck));
    assert_eq!(counters(&team, &s, "review"), (1, 0, 2));
    team.plays(&s, "developer", "AUTH", "READY_FOR_REVIEW", json!({}));
    requests(&team, &s, issues(2, &stuck));
    assert_eq!(counters(&team, &s, "review"), (2, 1, 2));
    team.plays(&s, "developer", "AUTH", "READY_FOR_REVIEW", json!({}));
    let decided = requests(&team, &s, issues(3, &stuck));
    assert_eq!(
        (&decided["next"][0]["role"], &decided["escalated"]),
        (&json!("senior_software_engineer"), &json!(true))
    );
    let roles = team.group(&s, "AUTH")["loops"]["review"]["roles"].clone();
    assert_eq!(
        roles["developer"],
        json!({ "iteration": 3, "no_progress": 2 }),
        "no counter is ever set back by climbing"
    );

    // The senior starts afresh; stuck as well, it is for the manager.
    let mut decided = Json::Null;
    for review in 4..=6 {
        team.plays(&s, "senior_software_engineer", "AUTH", "READY_FOR_REVIEW", json!({}));
        decided = requests(&team, &s, issues(review, &stuck));
    }
    assert_eq!(
        (&decided["next"][0]["role"], &decided["escalated"]),
        (&json!("project_manager"), &json!(true)),
        "{decided}"
    );
}

#[test]
fn the_cap_moves_the_work_up_whatever_the_progress() {
    let (team, s) = to_review("the_cap_moves_the_work_up_whatever_the_progress");
    let mut all = vec!["a", "b", "c", "d", "e", "f"];
    for review in 1..=5 {
        let decided = requests(&team, &s, issues(review, &all));
        assert_eq!(counters(&team, &s, "review").1, 0, "each had fewer than the one before");
        let role = if review < 5 { "developer" } else { "senior_software_engineer" };
        assert_eq!(decided["next"][0]["role"], role, "review {review}");
        if review < 5 {
            team.plays(&s, "developer", "AUTH", "READY_FOR_REVIEW", answers(review, all.len()));
            all.pop();
        }
    }
}

#[test]
fn failing_tests_are_the_measure_of_the_tests() {
    let team = Team::new("failing_tests_are_the_measure_of_the_tests");
    let s = team.start("Tests");
    team.plays(&s, "project_manager", "-", "PLANNING_COMPLETE", plan(&["AUTH"]));
    let fails = |tests: &[&str]| {
        team.plays(&s, "developer", "AUTH", "READY_FOR_QA", json!({}));
        team.plays(&s, "qa_expert", "AUTH", "FAIL", json!({ "test_progression": { "still_failing": tests } }))
    };
    fails(&["a", "b", "c"]);
    assert_eq!(counters(&team, &s, "qa"), (1, 0, 3));
    fails(&["a", "b"]);
    assert_eq!(counters(&team, &s, "qa"), (2, 0, 2));
    fails(&["a", "b"]);
    assert_eq!(counters(&team, &s, "qa"), (3, 1, 2));
    let decided = fails(&["a", "c"]);
    assert_eq!(counters(&team, &s, "review"), (0, 0, 0), "each loop has its own");
    assert_eq!(
        (&decided["next"][0]["role"], &decided["escalated"]),
        (&json!("senior_software_engineer"), &json!(true))
    );
    let roles = team.group(&s, "AUTH")["loops"]["qa"]["roles"].clone();
    assert_eq!(roles["developer"], json!({ "iteration": 4, "no_progress": 2 }));
}

/// Once its rejection was accepted, a finding is settled for good: raised again, it does not block.
#[test]
fn a_settled_finding_is_not_raised_again() {
    let (team, s) = to_review("a_settled_finding_is_not_raised_again");
    requests(&team, &s, issues(1, &["login", "logout"]));
    let rejected = json!({ "issue_responses": [
        { "id": "TL-1-0", "response": "fixed" }, { "id": "TL-1-1", "response": "rejected", "reason": "by design" },
    ] });
    team.plays(&s, "developer", "AUTH", "READY_FOR_REVIEW", rejected);
    let mut second = issues(2, &["login"]);
    second["iteration_tracking"] = json!({ "iteration": 2, "rejections_accepted": ["TL-1-1"] });
    requests(&team, &s, second);
    assert_eq!(counters(&team, &s, "review"), (2, 0, 1));
    team.plays(&s, "developer", "AUTH", "READY_FOR_REVIEW", json!({}));
    let decided = requests(&team, &s, issues(3, &["login", "logout"]));
    let warned: Vec<&str> =
        decided["warnings"].as_array().unwrap().iter().filter_map(|warning| warning["code"].as_str()).collect();
    assert!(warned.contains(&"E0236"), "{decided}");
    assert_eq!(counters(&team, &s, "review"), (3, 1, 1), "accepted automatically: it is not counted");
}

/// The fallback of the document for an unknown status.
#[test]
fn an_unknown_status_goes_to_the_tech_lead() {
    let team = Team::new("an_unknown_status_goes_to_the_tech_lead");
    let s = team.start("Unknown");
    team.plays(&s, "project_manager", "-", "PLANNING_COMPLETE", plan(&["AUTH"]));
    let decided = team.plays(&s, "developer", "AUTH", "ALL_GOOD", json!({}));
    assert_eq!((&decided["next"][0]["role"], &decided["warnings"][0]["code"]), (&json!("tech_lead"), &json!("E0227")));
}
