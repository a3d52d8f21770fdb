//! The handoff of an agent: in its last message, or in the file that its prompt names; and the treatment of a
//! bad one.

use std::fs;

use serde_json::json;

use crate::scene::{Answer, CLIENTS, Client, Talk, message, planned};
use crate::team::Team;

/// Every problem goes back at once, and the agent may fix it.
#[test]
fn a_bad_handoff_goes_back_with_every_problem() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_sent_back_{}", client.name()));
        let (talk, session) = planned(&team, client, &["LOGIN"]);
        let developer = talk.starts("developer", "Build LOGIN.");
        let bad =
            "```json\n{ \"agent\": \"qa_expert\", \"status\": \"READY_FOR_QA\", \"timestamp\": \"yesterday\" }\n```";
        let back = talk.ends(&developer, bad).denied();
        assert!(back.contains("The assignment is still yours"), "{back}");
        let problems = back.lines().filter(|line| line.starts_with("- E")).count();
        assert_eq!(problems, 3, "every problem at once: {back}");
        for field in ["timestamp", "`handoff`", "qa_expert"] {
            assert!(back.contains(field), "{field} in {back}");
        }
        talk.ends(&developer, &message("developer", "READY_FOR_QA", json!({}))).passes();
        assert_eq!(team.open(&session), [("qa_expert".to_owned(), "LOGIN".to_owned())]);
    }
}

/// A status that the role does not have comes back twice with the statuses that are allowed; then the fallback applies.
#[test]
fn unknown_status_is_sent_back_twice_before_the_fallback() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_unknown_status_{}", client.name()));
        let (talk, session) = planned(&team, client, &["LOGIN"]);
        let developer = talk.starts("developer", "Build LOGIN.");
        for _ in 0..2 {
            let back = talk.ends(&developer, &message("developer", "DONE", json!({}))).denied();
            assert!(back.contains("E0380") && back.contains("`DONE`"), "{back}");
            assert!(back.contains("READY_FOR_QA") && back.contains("BLOCKED"), "{back}");
        }
        talk.ends(&developer, &message("developer", "DONE", json!({}))).passes();
        assert_eq!(team.open(&session), [("tech_lead".to_owned(), "LOGIN".to_owned())]);
        let returned: Vec<String> = team.refusals(&session).into_iter().map(|(_, code)| code).collect();
        assert_eq!(returned, ["E0380", "E0380"]);
    }
}

/// After three times the attempt is lost, and the workflow says what follows.
#[test]
fn a_handoff_that_stays_bad_is_lost_and_routed() {
    for client in CLIENTS {
        for (last, status) in
            [("Believe me, it is done.", "no_handoff"), ("```json\n{\"agent\": \"developer\"}\n```", "bad_handoff")]
        {
            let team = Team::new(&format!("hooks_lost_{status}_{}", client.name()));
            let (talk, session) = planned(&team, client, &["LOGIN"]);
            let developer = talk.starts("developer", "Build LOGIN.");
            for _ in 0..3 {
                assert!(matches!(talk.ends(&developer, last), Answer::Deny(_)), "{status} goes back three times");
            }
            talk.ends(&developer, last).passes();
            let log = team.log(&session);
            let lost: Vec<_> = log.iter().filter(|event| event["kind"] == "lost").collect();
            assert_eq!(lost.len(), 1, "{log:?}");
            assert_eq!(lost[0]["data"]["cause"]["lost"]["status"], status);
            let told = talk.back(&developer).told();
            assert!(told.contains("decision ") && told.contains("Next: start sub-agent `developer`"), "{told}");
            // Another agent takes over, with an attempt of its own.
            let again = talk.starts("developer", "Build LOGIN.");
            assert_ne!(again.assignment(), developer.assignment());
            let left = again.prompt.split("## What your last attempt left").nth(1);
            let left = left.unwrap_or_else(|| panic!("the lost attempt in {}", again.prompt));
            assert!(left.contains(&format!("its output:\n{last}\n")), "the last message: {left}");
            assert_eq!(left.contains("/lost/handoff.json"), status == "bad_handoff", "{left}");
            talk.ends(&again, &message("developer", "READY_FOR_QA", json!({}))).passes();
            assert_eq!(team.open(&session), [("qa_expert".to_owned(), "LOGIN".to_owned())]);
        }
    }
}

/// What was left in the output folder counts if the message has no handoff, and only then.
#[test]
fn a_handoff_that_was_left_as_a_file_is_taken() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_file_{}", client.name()));
        let (talk, session) = planned(&team, client, &["LOGIN", "LOGOUT"]);
        let folder = |id: &str| {
            let number = id.rsplit('.').next().unwrap();
            team.project().join(format!(".interlock/sessions/{session}/{number}.1"))
        };
        let login = talk.starts("developer", "Build LOGIN.");
        assert!(login.prompt.contains(&folder(login.assignment()).display().to_string()), "{}", login.prompt);
        let left = crate::team::handoff("developer", "READY_FOR_REVIEW", json!({}));
        fs::write(folder(login.assignment()).join("handoff.json"), left.to_string()).unwrap();
        talk.ends(&login, "It is in the file.").passes();
        talk.back(&login).told();
        assert!(team.open(&session).contains(&("tech_lead".to_owned(), "LOGIN".to_owned())));
        let logout = talk.starts("developer", "Build LOGOUT.");
        fs::write(folder(logout.assignment()).join("handoff.json"), left.to_string()).unwrap();
        talk.ends(&logout, &message("developer", "READY_FOR_QA", json!({}))).passes();
        assert!(team.open(&session).contains(&("qa_expert".to_owned(), "LOGOUT".to_owned())));
    }
}

/// An agent that is gone without a word leaves its assignment open, and the model is told so.
#[test]
fn an_agent_that_failed_can_be_started_again() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_failed_{}", client.name()));
        let (talk, session) = planned(&team, client, &["LOGIN"]);
        let developer = talk.starts("developer", "Build LOGIN.");
        let event = client.after_tool();
        match client {
            Client::Codex => {
                let mut payload = talk.tool_payload(event, "multi_agent_v1wait_agent", &json!({}), None);
                payload["tool_response"] = json!({ "status": { &developer.id: { "errored": "500" } } });
                talk.hook(event, &payload).passes();
            }
            Client::Claude | Client::Gemini => {
                let told = talk.back(&developer).told();
                assert!(told.contains("ended without a handoff") && told.contains("is still open"), "{told}");
            }
        }
        let again = talk.starts("developer", "Build LOGIN.");
        assert_eq!(again.assignment(), developer.assignment());
        talk.ends(&again, &message("developer", "READY_FOR_QA", json!({}))).passes();
        assert_eq!(team.open(&session), [("qa_expert".to_owned(), "LOGIN".to_owned())]);
    }
}

/// An agent that was taken for gone while another works does not block that one's handoff.
#[test]
fn a_sub_agent_that_is_gone_is_not_mistaken_for_one_at_work() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_gone_{}", client.name()));
        let (talk, session) = planned(&team, client, &["LOGIN", "LOGOUT"]);
        let gone = talk.asked("developer", "Build LOGIN.");
        assert!(client == Client::Codex || gone.prompt.contains("LOGIN"));
        // The person has stopped it, and says something else.
        talk.hook(client.begin(), &talk.payload(client.begin())).told();
        let logout = talk.starts("developer", "Build LOGOUT.");
        talk.ends(&logout, &message("developer", "READY_FOR_QA", json!({}))).passes();
        let open = team.open(&session);
        assert!(open.contains(&("qa_expert".to_owned(), "LOGOUT".to_owned())), "{open:?}");
        assert!(open.contains(&("developer".to_owned(), "LOGIN".to_owned())), "{open:?}");
        talk.back(&logout).told();
        let again = talk.starts("developer", "Build LOGIN.");
        talk.ends(&again, &message("developer", "READY_FOR_QA", json!({}))).passes();
        assert!(team.open(&session).contains(&("qa_expert".to_owned(), "LOGIN".to_owned())));
    }
}

/// A status that does not fit now goes back with those that do.
#[test]
fn a_handoff_out_of_turn_goes_back_with_what_is_accepted() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_out_of_turn_{}", client.name()));
        let session = team.start("Add login");
        let talk = Talk::begun(&team, client, "c-1");
        let manager = talk.starts("project_manager", "");
        let back = talk.ends(&manager, &message("project_manager", "GROUP_ACCEPTED", json!({}))).denied();
        assert!(back.contains("accepted now: ") && back.contains("PLANNING_COMPLETE"), "{back}");
        assert_eq!(team.open(&session), [("project_manager".to_owned(), "-".to_owned())]);
    }
}

/// An agent that is closed before its end is gone, and its assignment can be started again.
#[test]
fn an_agent_of_codex_that_was_closed_can_be_started_again() {
    let team = Team::new("hooks_closed");
    let (talk, session) = planned(&team, Client::Codex, &["LOGIN"]);
    let first = talk.starts("developer", "Build LOGIN.");
    assert!(talk.cannot_start("developer", "Build LOGIN.").contains("at work already"));
    let close = json!({ "target": first.id });
    talk.hook("PostToolUse", &talk.tool_payload("PostToolUse", "multi_agent_v1close_agent", &close, None)).passes();
    let second = talk.starts("developer", "Build LOGIN.");
    assert_eq!(first.assignment(), second.assignment());
    talk.ends(&second, &message("developer", "READY_FOR_QA", json!({}))).passes();
    assert_eq!(team.open(&session), [("qa_expert".to_owned(), "LOGIN".to_owned())]);
}
