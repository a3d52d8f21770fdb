//! Ways round the rules that were once open. Each stays shut.

#![allow(clippy::needless_pass_by_value, reason = "json!({…}) reads better without a reference")]

use std::collections::BTreeMap;
use std::sync::Arc;

use interlock_core::code::Code;
use interlock_core::command::{
    AnswerChoice, AnswerQuestion, ClaimAssignment, Command, DecisionInputs, LeaseExpired, LossReason, RecordLoss,
    StartSession, SubmitReport,
};
use interlock_core::decide::{DecideOutcome, decide};
use interlock_core::decision::Decision;
use interlock_core::handoff::{ExpectedHandoff, OrchestrationMode, check, extract};
use interlock_core::id::{AssignmentId, Digest, Name, Timestamp};
use interlock_core::rejection::Rejection;
use interlock_core::state::{GroupStatus, State};
use interlock_core::workflow::{Workflow, load_builtin};
use serde_json::{Value, json};

struct LoopholeScenario {
    workflow: Workflow,
    state: State,
    last: Option<Command>,
}

impl LoopholeScenario {
    fn new(workflow: &str) -> Self {
        let workflow = load_builtin(workflow).and_then(|loaded| loaded.workflow).expect("it loads");
        let mut play = Self { workflow, state: State::default(), last: None };
        let (session, title) = (Name::new("s"), Name::new("t"));
        play.take(&Command::Start(StartSession {
            session,
            title,
            settings: BTreeMap::new(),
            mission: None,
            investigation: false,
            by: None,
            dropped: Vec::new(),
            allow: None,
        }))
        .expect("it starts");
        play
    }

    fn decide(&self, command: &Command) -> Result<DecideOutcome, Rejection> {
        decide(&self.workflow, &self.state, command, &DecisionInputs { now: Timestamp(1) })
    }

    fn take(&mut self, command: &Command) -> Result<Option<Decision>, Rejection> {
        match self.decide(command)? {
            DecideOutcome::Decided(event) => {
                self.state.apply(&event);
                Ok(event.decision)
            }
            DecideOutcome::Repeated(_) => Ok(None),
        }
    }

    fn find(&self, role: &str) -> AssignmentId {
        let mut open = self.state.open.iter().copied();
        open.find(|id| self.state.assignments[id].role == role).unwrap_or_else(|| panic!("{role} holds nothing"))
    }

    /// The role claims what it has, and reports.
    fn tries(&mut self, role: &str, status: &str, more: &Value) -> Result<Option<Decision>, Rejection> {
        let assignment = self.find(role);
        let token = Digest::of(role.as_bytes());
        self.take(&Command::Claim(ClaimAssignment { assignment, token, prompt: None, lease_until: None, via: None }))
            .expect("it can be claimed");
        let held = &self.state.assignments[&assignment];
        let (phase, task) = (held.phase.clone(), held.task);
        let mut handoff = json!({
            "agent": role, "output_type": "x", "timestamp": "2026-01-18T15:42:00Z", "feature_directory": "x",
            "skills_invoked": [], "status": status, "attempted": ["all"], "files_modified": ["a"],
            "handoff": { "next_agent": null, "context": "go on" },
        });
        handoff.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        let extracted = extract("h", handoff.to_string().as_bytes()).expect("it is JSON");
        let phase = phase.as_deref();
        let expect =
            ExpectedHandoff { role: Some(role), phase, task, context: OrchestrationMode::Orchestrated, groups: &[] };
        let checked = check(Some(&self.workflow), &expect, &extracted);
        let handoff = Arc::new(checked.handoff.unwrap_or_else(|| panic!("{:?}", checked.problems)));
        let command = Command::Report(SubmitReport { assignment, token, handoff, observed: None, via: None });
        let result = self.take(&command);
        self.last = Some(command);
        result
    }

    fn says(&mut self, role: &str, status: &str, more: Value) -> Decision {
        let result = self.tries(role, status, &more);
        result.unwrap_or_else(|refused| panic!("{role} {status}: {refused:?}")).expect("a decision")
    }

    fn status(&self) -> GroupStatus {
        self.state.groups[0].status()
    }
}

fn issue(id: &str, title: &str, severity: &str, blocking: bool) -> Value {
    json!({ "id": id, "title": title, "location": "a.rs:1", "severity": severity, "blocking": blocking })
}

/// The author rejects these findings.
fn rejected(ids: &[&str]) -> Value {
    let reason = "The name is part of the public interface.";
    let responses: Vec<Value> =
        ids.iter().map(|id| json!({ "id": id, "response": "rejected", "reason": reason })).collect();
    json!({ "issue_responses": responses })
}

/// The author's answer to these findings.
fn fixed(ids: &[&str]) -> Value {
    let responses: Vec<Value> = ids.iter().map(|id| json!({ "id": id, "response": "fixed" })).collect();
    json!({ "issue_responses": responses })
}

fn team(group: Value) -> LoopholeScenario {
    let mut play = LoopholeScenario::new("delivery-team");
    play.says("project_manager", "PLANNING_COMPLETE", json!({ "groups": [group] }));
    play
}

#[test]
fn changes_requested_while_a_merge_waits_void_the_approval_even_at_the_top_of_the_ladder() {
    let sse = "senior_software_engineer";
    let mut play = team(json!({ "id": "G1", "title": "g", "security_sensitive": true }));
    for open in (1..=4).rev() {
        play.says(sse, "READY_FOR_REVIEW", fixed(&["F0", "F1", "F2", "F3"]));
        let issues: Vec<Value> = (0..open).map(|n| issue(&format!("F{n}"), &format!("t{n}"), "HIGH", true)).collect();
        play.says("tech_lead", "CHANGES_REQUESTED", json!({ "issues": issues }));
    }
    play.says(sse, "READY_FOR_REVIEW", fixed(&["F0"]));
    play.says("tech_lead", "APPROVED", json!({ "issues": [] }));
    play.says("qa_expert", "PASS", json!({}));
    play.says(sse, "MERGE_BLOCKED", json!({}));
    let late = json!({ "issues": [issue("F9", "a hole", "CRITICAL", true)] });
    assert_eq!(play.says("tech_lead", "CHANGES_REQUESTED", late).next[0].role, "project_manager");
    assert!(play.state.groups[0].passed.is_empty(), "the review has lapsed");
    assert_eq!(play.says("project_manager", "CONTINUE", json!({})).next[0].role, sse);
    let refused = play.tries(sse, "MERGE_SUCCESS", &json!({})).expect_err("it is work again, not a merge");
    assert_eq!(refused.code, Code::NotNow);
    assert_ne!(play.status(), GroupStatus::Completed);
}

#[test]
fn an_acceptance_before_a_block_does_not_confirm_it() {
    let mut play = team(json!({ "id": "G1", "title": "g" }));
    play.says("developer", "READY_FOR_REVIEW", json!({}));
    play.says("tech_lead", "UNBLOCKING_GUIDANCE", json!({ "external": true }));
    play.says("project_manager", "GROUP_ACCEPTED", json!({}));
    play.says("qa_expert", "PASS", json!({}));
    play.says("developer", "BLOCKED", json!({}));
    play.says("investigator", "ROOT_CAUSE_FOUND", json!({}));
    play.says("tech_lead", "UNBLOCKING_GUIDANCE", json!({}));
    play.says("developer", "MERGE_SUCCESS", json!({}));
    assert_eq!(play.status(), GroupStatus::AwaitingConfirmation);
}

fn backend_in_review() -> LoopholeScenario {
    let mut play = LoopholeScenario::new("feature");
    play.says("planner", "complete", json!({ "groups": [{ "id": "G1", "title": "g", "domain": "backend" }] }));
    play.says("backend-lead", "complete", json!({}));
    play.says("backend-developer", "complete", json!({}));
    play
}

#[test]
fn a_reviewer_cannot_play_down_the_finding_of_another() {
    let mut play = backend_in_review();
    play.says("backend-reviewer", "complete", json!({ "issues": [issue("R1", "race", "CRITICAL", true)] }));
    let second = play.says("backend-security", "complete", json!({ "issues": [issue("S1", "race", "LOW", false)] }));
    assert_eq!(second.next[0].role, "backend-developer", "the finding still holds the work back");
}

#[test]
fn an_id_settles_only_the_finding_of_its_own_review() {
    let mut play = backend_in_review();
    play.says("backend-reviewer", "complete", json!({ "issues": [issue("R1", "naming", "HIGH", true)] }));
    play.says("backend-security", "complete", json!({ "issues": [issue("R1", "injection", "CRITICAL", true)] }));
    play.says("backend-developer", "complete", rejected(&["R1"]));
    let accepts = json!({ "issues": [], "iteration_tracking": { "iteration": 2, "rejections_accepted": ["R1"] } });
    play.says("backend-reviewer", "complete", accepts);
    let again = json!({ "issues": [issue("R1", "injection", "CRITICAL", true)] });
    assert_eq!(play.says("backend-security", "complete", again).next[0].role, "backend-developer");
}

#[test]
fn a_first_review_may_block_on_minor_findings_whoever_reviewed_before() {
    let mut play = backend_in_review();
    play.says("backend-reviewer", "complete", json!({ "issues": [] }));
    let minor = json!({ "issues": [issue("S1", "weak hash", "MEDIUM", true)] });
    assert_eq!(play.says("backend-security", "complete", minor).next[0].role, "backend-developer");
}

/// The reviewer raised this, the author rejected it, and the reviewer accepted that.
fn naming() -> Value {
    issue("R1", "naming", "HIGH", true)
}

fn injection() -> Value {
    issue("S1", "injection", "CRITICAL", true)
}

/// In the third review: a finding of the reviewer is settled for good, one of security was open at the last.
fn with_a_settled_finding() -> LoopholeScenario {
    let mut play = backend_in_review();
    play.says("backend-reviewer", "complete", json!({ "issues": [naming()] }));
    play.says("backend-security", "complete", json!({ "issues": [injection()] }));
    play.says("backend-developer", "complete", rejected(&["R1"]));
    let accepts = json!({ "issues": [], "iteration_tracking": { "iteration": 2, "rejections_accepted": ["R1"] } });
    play.says("backend-reviewer", "complete", accepts);
    play.says("backend-security", "complete", json!({ "issues": [injection()] }));
    play.says("backend-developer", "complete", fixed(&["S1"]));
    play
}

#[test]
fn in_a_phase_a_review_with_nothing_but_settled_findings_goes_back_to_the_reviewer_once() {
    let mut play = with_a_settled_finding();
    let again = play.says("backend-reviewer", "complete", json!({ "issues": [naming()] }));
    assert_eq!((again.action.name(), again.next[0].role.as_str()), ("respawn", "backend-reviewer"));
    assert!(again.rule.ends_with("@review/settled"), "{}", again.rule);
    assert!(again.warnings.iter().any(|warning| warning.code.as_deref() == Some("E0236")), "{:?}", again.warnings);
    assert_eq!(play.says("backend-reviewer", "complete", json!({ "issues": [] })).action.name(), "wait");
    let over = play.says("backend-security", "complete", json!({ "issues": [] }));
    assert_eq!(over.next[0].role, "test-lead", "the stage is left once both say that nothing is open");
}

#[test]
fn what_was_settled_with_one_reviewer_cannot_be_raised_again_by_another() {
    let mut play = with_a_settled_finding();
    let again = play.says("backend-security", "complete", json!({ "issues": [naming()] }));
    assert!(again.rule.ends_with("/settled"), "{}", again.rule);
    assert_eq!(again.next[0].role, "backend-security", "it goes back to who raised it");
    assert!(again.warnings.iter().any(|warning| warning.code.as_deref() == Some("E0236")), "{:?}", again.warnings);
    assert_eq!(play.state.groups[0].blocking_findings(), 0);
}

#[test]
fn an_acceptance_does_not_settle_what_another_reviewer_has_open() {
    let mut play = backend_in_review();
    play.says("backend-reviewer", "complete", json!({ "issues": [naming()] }));
    play.says("backend-security", "complete", json!({ "issues": [naming()] }));
    play.says("backend-developer", "complete", rejected(&["R1"]));
    let accepts = json!({ "issues": [], "iteration_tracking": { "iteration": 2, "rejections_accepted": ["R1"] } });
    play.says("backend-reviewer", "complete", accepts);
    assert_eq!(play.state.groups[0].blocking_findings(), 1, "security has not accepted anything");
    let stays = play.says("backend-security", "complete", json!({ "issues": [naming()] }));
    assert_eq!(stays.next[0].role, "backend-developer", "and keeps it open");
    play.says("backend-developer", "complete", fixed(&["R1"]));
    play.says("backend-reviewer", "complete", json!({ "issues": [] }));
    play.says("backend-security", "complete", json!({ "issues": [] }));
    assert_eq!(play.state.groups[0].blocking_findings(), 0);
}

#[test]
fn in_a_phase_a_reviewer_that_insists_on_settled_findings_goes_to_a_person() {
    let mut play = with_a_settled_finding();
    play.says("backend-reviewer", "complete", json!({ "issues": [naming()] }));
    let up = play.says("backend-reviewer", "complete", json!({ "issues": [naming()] }));
    assert_eq!(up.question.expect("a question").name, "stuck", "nobody stands above the reviewer");
    assert!(up.escalated);
}

#[test]
fn in_a_phase_findings_of_another_reviewer_send_the_work_back_at_once() {
    let mut play = with_a_settled_finding();
    play.says("backend-security", "complete", json!({ "issues": [injection()] }));
    let back = play.says("backend-reviewer", "complete", json!({ "issues": [naming()] }));
    assert_eq!(back.next[0].role, "backend-developer", "there is something to fix, so the work goes back");
}

#[test]
fn in_a_phase_new_findings_beside_settled_ones_count() {
    let mut play = with_a_settled_finding();
    let both = json!({ "issues": [naming(), issue("R2", "data loss", "CRITICAL", true)] });
    assert_eq!(play.says("backend-reviewer", "complete", both).action.name(), "wait");
    assert_eq!(play.says("backend-security", "complete", json!({ "issues": [] })).next[0].role, "backend-developer");
}

#[test]
fn in_a_phase_a_late_nitpick_holds_nothing_up() {
    let mut play = with_a_settled_finding();
    let minor = json!({ "issues": [issue("R3", "a comma", "LOW", true)] });
    assert_eq!(play.says("backend-reviewer", "complete", minor).action.name(), "wait");
}

#[test]
fn the_report_that_ended_the_session_is_still_recognised() {
    let mut play = LoopholeScenario::new("delivery-team");
    play.says("project_manager", "INVESTIGATION_ONLY", json!({}));
    assert!(!play.state.ended(), "a person has to confirm that nothing was to be done");
    let (by, choice) = (Name::new("ann"), AnswerChoice::Option { name: Name::new("confirm"), text: None });
    let question = *play.state.open_questions.first().expect("a question");
    play.take(&Command::Answer(AnswerQuestion { question, choice, by, allow: Vec::new() })).expect("it is confirmed");
    assert!(play.state.ended());
    let again = play.last.take().expect("the report");
    assert!(matches!(play.decide(&again), Ok(DecideOutcome::Repeated(_))));
}

#[test]
fn a_manager_that_planned_nothing_is_not_done() {
    let mut play = LoopholeScenario::new("delivery-team");
    let decision = play.says("project_manager", "BAZINGA", json!({}));
    let reasons = decision.judgement.expect("a verdict").reasons;
    assert_eq!(reasons[0].code, "E0347");
    assert!(!play.state.ended());
}

#[test]
fn what_waited_for_an_accepted_group_starts_by_itself() {
    let groups =
        json!({ "groups": [{ "id": "G1", "title": "a" }, { "id": "G2", "title": "b", "depends_on": ["G1"] }] });
    let mut play = LoopholeScenario::new("delivery-team");
    play.says("project_manager", "PLANNING_COMPLETE", groups);
    play.says("developer", "BLOCKED", json!({}));
    play.says("investigator", "ROOT_CAUSE_FOUND", json!({}));
    play.says("tech_lead", "APPROVED", json!({}));
    play.says("qa_expert", "PASS", json!({}));
    play.says("developer", "MERGE_SUCCESS", json!({}));
    assert_eq!(play.status(), GroupStatus::AwaitingConfirmation);
    let decision = play.says("project_manager", "BAZINGA", json!({ "accept": ["G1"] }));
    assert_eq!(decision.next[0].group.as_deref(), Some("G2"));
    assert_eq!(play.status(), GroupStatus::Completed);
}

/// Only QA passes `qa`: no other role is asked in its place when its reports are lost.
#[test]
fn lost_reports_of_qa_end_at_a_person_who_can_only_retry() {
    let mut play = team(json!({ "id": "G1", "title": "g" }));
    play.says("developer", "READY_FOR_QA", json!({}));
    let mut last = None;
    for _ in 0..3 {
        let lost = RecordLoss { assignment: play.find("qa_expert"), loss: LossReason::BadHandoff, note: None };
        last = play.take(&Command::Lost(lost)).expect("it is lost");
    }
    let question = last.and_then(|decision| decision.question).expect("a question");
    assert_eq!(question.name, "stuck");
    let id = *play.state.open_questions.first().expect("a question");
    for option in &play.state.questions[&id].options {
        let mut after = LoopholeScenario { workflow: play.workflow.clone(), state: play.state.clone(), last: None };
        let choice = AnswerChoice::Option { name: option.clone(), text: None };
        let answer = AnswerQuestion { question: id, choice, by: Name::new("ann"), allow: Vec::new() };
        after.take(&Command::Answer(answer)).unwrap_or_else(|refused| panic!("{option}: {refused:?}"));
        assert!(after.state.groups[0].passed.is_empty(), "{option} is no evidence");
    }
}

/// A holder that died with its spawner: another attempt, another token, and no step of any counter.
#[test]
fn a_holder_that_is_gone_leaves_an_attempt_that_counts_in_no_loop() {
    let mut play = team(json!({ "id": "login", "title": "Login" }));
    let assignment = play.find("developer");
    let token = Digest::of(b"first");
    let claim = ClaimAssignment { assignment, token, prompt: None, lease_until: None, via: None };
    play.take(&Command::Claim(claim)).expect("it can be claimed");
    let expired = |holder_gone| Command::LeaseExpired(LeaseExpired { assignment, holder_gone });
    assert_eq!(
        play.take(&expired(false)).unwrap_err().code,
        Code::LeaseHolds,
        "without a time there is none to wait for"
    );
    let counters = play.state.groups[0].lane.counters.clone();
    play.take(&expired(true)).expect("whoever says so knows");
    let held = &play.state.assignments[&assignment];
    assert_eq!((held.attempt, held.token), (2, None));
    assert_eq!(play.state.groups[0].lane.counters, counters);
    assert_eq!(play.take(&expired(true)).unwrap_err().code, Code::NotClaimed, "once");
    let next = play.says("developer", "READY_FOR_REVIEW", json!({}));
    assert_eq!(next.next[0].role, "tech_lead");
}
