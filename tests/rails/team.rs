//! The sub-agents: one group, whose tester reports it blocked. One of them submits a handoff that is not accepted, and
//! another tries to fix the work instead of reviewing it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value as Json, json};

use crate::hands::Hands;
use crate::models::{Step, Turn};

pub(crate) const ADVICE: &str = "Take the key from the vault of the team";
/// How a handoff begins that was sent back.
pub(crate) const SENT_BACK: &str = "Interlock has not accepted your handoff";

pub(crate) struct Team {
    hands: Hands,
    /// The assignments that each role has had.
    seen: Mutex<BTreeMap<String, Vec<String>>>,
}

impl Team {
    pub(crate) fn new(hands: Hands) -> Self {
        Self { hands, seen: Mutex::default() }
    }

    /// What a sub-agent does next.
    pub(crate) fn next(&self, turn: &Turn, role: &str, assignment: &str) -> Step {
        let time = self.time(role, assignment);
        match (role, time, turn.tool_results.len()) {
            // Its first work is written down, and its first handoff says nothing.
            ("developer", 0, 0) => self.hands.run(turn, "echo opened with the key > login.txt"),
            ("developer", 0, _) if !heard(turn, SENT_BACK) => end(turn, "It is done, and all tests pass."),
            // The reviewer would rather do it itself.
            ("tech_lead", 0, 0) => self.hands.write(turn, "login.txt", "written by the reviewer"),
            _ => end(turn, &format!("This is how it went.\n\n```json\n{}\n```\n", whole(role, &fields(role, time)))),
        }
    }

    /// How often the role was at work before.
    fn time(&self, role: &str, assignment: &str) -> usize {
        let mut seen = self.seen.lock().expect("no turn panicked");
        let of_role = seen.entry(role.to_owned()).or_default();
        if !of_role.iter().any(|known| known == assignment) {
            of_role.push(assignment.to_owned());
        }
        of_role.iter().position(|known| known == assignment).unwrap_or_default()
    }
}

fn heard(turn: &Turn, words: &str) -> bool {
    turn.prompt.contains(words) || turn.told.contains(words) || turn.tool_results.iter().any(|it| it.contains(words))
}

/// The last words; where an agent ends by a tool, by that.
fn end(turn: &Turn, words: &str) -> Step {
    match turn.tools.iter().any(|tool| tool == "complete_task") {
        true => Step::Tool { name: "complete_task".to_owned(), input: json!({ "result": words }) },
        false => Step::say(words),
    }
}

/// What each role reports, the first time and the times after.
pub(crate) fn fields(role: &str, time: usize) -> Json {
    match (role, time) {
        ("project_manager", 0) => {
            json!({ "status": "PLANNING_COMPLETE", "groups": [{ "id": "login", "title": "A login" }] })
        }
        ("project_manager", _) => {
            json!({ "status": "BAZINGA", "completion_summary": "It is done.", "accept": ["login"] })
        }
        ("developer", 0) => json!({ "status": "READY_FOR_QA", "files_changed": ["login.txt"] }),
        ("developer", _) => json!({ "status": "MERGE_SUCCESS" }),
        ("qa_expert", 0) => json!({
            "status": "BLOCKED", "blocked_reason": "environment", "attempted": ["looked for a key"],
            "handoff": { "next_agent": null, "context": "There is no key.",
                "blockers": [{ "type": "environment", "description": "no key", "resolution": "somebody gives one" }] },
        }),
        ("qa_expert", _) => json!({ "status": "PASS", "test_progression": { "still_failing": [] } }),
        ("tech_lead", 0) => json!({ "status": "UNBLOCKING_GUIDANCE", "guidance": ADVICE }),
        ("tech_lead", _) => json!({ "status": "APPROVED", "issues": [] }),
        other => panic!("nobody expected {other:?}"),
    }
}

/// What every handoff has, and these.
pub(crate) fn whole(role: &str, fields: &Json) -> Json {
    let mut handoff = json!({
        "agent": role, "output_type": "report", "timestamp": "2026-01-18T15:42:00Z", "feature_directory": ".",
        "skills_invoked": [], "summary": "As the script says.",
        "handoff": { "next_agent": null, "context": "As the script says." },
    });
    for (key, value) in fields.as_object().into_iter().flatten() {
        handoff[key] = value.clone();
    }
    handoff
}
