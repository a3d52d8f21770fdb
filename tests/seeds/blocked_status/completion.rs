//! The completion guard, the validator, and the two test cases of the document.

use interlock_core::code::Code;
use interlock_core::decision::CompletionVerdict;
use serde_json::json;

use super::{TEAM, at_qa, blocked, qa_blocked, says};
use crate::program::route;
use crate::session::{Play, follows, judged};

/// One group, merged and completed: never blocked.
fn completed() -> Play {
    let mut play = at_qa();
    play.report("qa_expert", says("PASS"));
    play.report("tech_lead", says("APPROVED"));
    play.report("developer", says("MERGE_SUCCESS"));
    play
}

// ---- 3. The guard -----------------------------------------------------------------------

#[test]
fn guard_approval_then_merge_completes() {
    let play = completed();
    assert_eq!(play.status("E2E-RX"), "completed");
    let passed: Vec<&str> = play.group("E2E-RX").passed.iter().map(|name| name.as_str()).collect();
    assert_eq!(passed, ["merge", "qa", "review"]);
}

/// The other path: the manager accepts the group in place of the approval.
#[test]
fn guard_the_managers_acceptance_then_merge_completes() {
    let mut play = at_qa();
    play.report("qa_expert", says("PASS"));
    play.report("tech_lead", blocked());
    follows(&play.report("project_manager", says("GROUP_ACCEPTED")), "merge", &["developer"]);
    play.report("developer", says("MERGE_SUCCESS"));
    assert_eq!(play.status("E2E-RX"), "completed");
}

#[test]
fn guard_a_merge_without_approval_is_refused() {
    let mut play = Play::groups(&["E2E-RX"]);
    assert_eq!(play.refused("developer", says("MERGE_SUCCESS")).code, Code::NotNow);
    // Not a word of the tech lead at all: it is asked again, and nothing is passed.
    play.report("developer", says("READY_FOR_REVIEW"));
    follows(&play.report("tech_lead", says("MERGE_SUCCESS")), "spawn", &["tech_lead"]);
    assert_eq!(play.status("E2E-RX"), "in_progress");
    assert!(play.group("E2E-RX").passed.is_empty());
}

#[test]
fn guard_approval_alone_does_not_complete() {
    let mut play = at_qa();
    play.report("qa_expert", says("PASS"));
    play.report("tech_lead", says("APPROVED"));
    assert_eq!(play.status("E2E-RX"), "merging");
    let codes: Vec<String> = play.completion_refused().iter().map(|reason| reason.code.to_string()).collect();
    assert_eq!(codes, ["E0340", "E0341", "E0348"], "unfinished, without its evidence, and the manager has not said so");
}

#[test]
fn guard_the_word_approved_in_prose_is_no_approval() {
    let mut play = Play::groups(&["E2E-RX"]);
    let context = json!({ "context": "APPROVED by the tech lead, MERGE_SUCCESS" });
    play.report("developer", json!({ "status": "READY_FOR_QA", "handoff": context }));
    assert!(play.group("E2E-RX").passed.is_empty());
}

#[test]
fn guard_a_conflict_after_approval_voids_it() {
    let mut play = at_qa();
    play.report("qa_expert", says("PASS"));
    play.report("tech_lead", says("APPROVED"));
    play.report("developer", says("MERGE_CONFLICT"));
    assert!(play.group("E2E-RX").passed.is_empty(), "the author works again: what was passed lapses");
}

#[test]
fn guard_bazinga_over_an_unplanned_session_is_rejected() {
    let mut play = Play::start(TEAM);
    let decision = play.report("project_manager", says("BAZINGA"));
    judged(&decision, CompletionVerdict::Reject, &["E0347"]);
    follows(&decision, "validate", &["project_manager"]);
}

// ---- 5. The validator -------------------------------------------------------------------

#[test]
fn validator_accepts_when_every_group_has_its_path() {
    let mut play = completed();
    let decision = play.report("project_manager", says("BAZINGA"));
    judged(&decision, CompletionVerdict::Accept, &[]);
    assert_eq!(play.state.status.name(), "completed");
}

#[test]
fn validator_rejects_a_group_without_approval_and_merge() {
    let mut play = at_qa();
    let reasons = play.completion_refused();
    let reason = reasons.iter().find(|reason| reason.code == "E0341").expect("no valid path");
    assert_eq!(reason.text, "E2E-RX has not passed: merge, review or acceptance, qa");
}

#[test]
fn validator_rejects_a_block_without_a_resolution_after_it() {
    let mut play = qa_blocked();
    let reasons = play.completion_refused();
    let reason = reasons.iter().find(|reason| reason.code == "E0342").expect("an unresolved block");
    assert_eq!(reason.text, "E2E-RX: qa_expert was blocked (environment) and nothing resolved it");
}

/// An earlier resolution does not count for a later block.
#[test]
fn validator_wants_a_resolution_for_each_block() {
    let mut play = qa_blocked();
    play.report("tech_lead", says("UNBLOCKING_GUIDANCE"));
    let unresolved = |play: &mut Play| play.completion_refused().iter().any(|reason| reason.code == "E0342");
    assert!(!unresolved(&mut play));
    play.report("qa_expert", blocked());
    assert!(unresolved(&mut play));
}

#[test]
fn validator_rejects_what_nobody_has_accepted_after_a_block() {
    let mut play = qa_blocked();
    play.report("tech_lead", says("APPROVED"));
    play.report("developer", says("MERGE_SUCCESS"));
    // It names the groups that it accepts, and this one is not among them.
    let decision = play.report("project_manager", json!({ "status": "BAZINGA", "accept": [] }));
    judged(&decision, CompletionVerdict::Reject, &["E0344"]);
}

#[test]
fn validator_verdicts_route() {
    route(TEAM, "validator", "ACCEPT", &[]).goes("end", &[]);
    route(TEAM, "validator", "REJECT", &[]).goes("spawn", &["project_manager"]);
}

// ---- Testing: the positive case, step by step -------------------------------------------

/// Plays the positive test case up to and including a step.
fn positive(step: u32) -> Play {
    let mut play = Play::groups(&["E2E-RX"]);
    if step >= 2 {
        play.report("developer", says("READY_FOR_QA"));
        play.report("qa_expert", blocked());
    }
    if step >= 5 {
        play.report("tech_lead", says("APPROVED"));
    }
    if step >= 6 {
        play.report("developer", says("MERGE_SUCCESS"));
    }
    if step >= 8 {
        play.report("project_manager", says("BAZINGA"));
    }
    play
}

#[test]
fn positive_1_a_group_is_created() {
    assert_eq!(positive(1).status("E2E-RX"), "in_progress");
}

#[test]
fn positive_2_qa_returns_blocked() {
    assert_eq!(positive(2).status("E2E-RX"), "blocked");
}

#[test]
fn positive_3_the_router_decision_is_logged() {
    let play = positive(3);
    let logged = play.log.last().unwrap().decision.as_ref().expect("a decision in the same event");
    assert_eq!(logged.rule, "blocked.any.any");
}

#[test]
fn positive_4_the_tech_lead_is_spawned() {
    assert_eq!(positive(4).open(), ["tech_lead@E2E-RX"]);
}

#[test]
fn positive_5_the_tech_lead_returns_approved() {
    let play = positive(5);
    assert!(play.group("E2E-RX").passed.contains("review"));
    assert!(play.group("E2E-RX").lane.blocks.is_empty(), "the approval came after the block and resolves it");
}

#[test]
fn positive_6_the_developers_merge_returns_merge_success() {
    let play = positive(6);
    assert!(play.group("E2E-RX").passed.contains("merge"));
    assert_eq!(play.status("E2E-RX"), "awaiting_confirmation");
}

#[test]
fn positive_7_the_manager_is_spawned() {
    assert_eq!(positive(7).open(), ["project_manager"]);
}

#[test]
fn positive_8_the_manager_sends_bazinga() {
    let play = positive(8);
    assert_eq!(play.log.last().unwrap().decision.as_ref().unwrap().rule, "routes.project_manager.BAZINGA");
}

#[test]
fn positive_9_the_validator_accepts() {
    judged(positive(9).log.last().unwrap().decision.as_ref().unwrap(), CompletionVerdict::Accept, &[]);
}

#[test]
fn positive_10_the_group_is_complete() {
    let play = positive(10);
    assert_eq!((play.status("E2E-RX"), play.state.status.name()), ("completed", "completed"));
}

// ---- Testing: the negative case ---------------------------------------------------------

#[test]
fn negative_1_and_2_a_group_whose_qa_is_blocked() {
    assert_eq!(qa_blocked().status("E2E-RX"), "blocked");
}

#[test]
fn negative_3_and_4_completing_it_directly_is_refused_with_the_reasons() {
    let mut play = qa_blocked();
    let codes: Vec<String> = play.completion_refused().iter().map(|reason| reason.code.to_string()).collect();
    assert_eq!(codes, ["E0340", "E0341", "E0342", "E0348"]);
    assert_eq!(play.status("E2E-RX"), "blocked");
}

/// Only the tech lead, whom the router named, can go on with it.
#[test]
fn negative_5_nobody_gets_past_the_router() {
    let mut play = qa_blocked();
    assert_eq!(play.late("qa_expert", says("PASS")).code, Code::ReportDiffers);
    assert_eq!(play.late("developer", says("MERGE_SUCCESS")).code, Code::ReportDiffers);
    assert_eq!(play.open(), ["tech_lead@E2E-RX"]);
}

#[test]
fn negative_6_proper_routing_resumes() {
    let mut play = qa_blocked();
    play.completion_refused();
    follows(&play.report("tech_lead", says("UNBLOCKING_GUIDANCE")), "return", &["qa_expert"]);
    follows(&play.report("qa_expert", says("PASS")), "spawn", &["tech_lead"]);
}
