//! Beginning, stopping, and taking over: which conversation is held to what.

use serde_json::json;

use crate::scene::{CLIENTS, Client, Talk, age, message, plan, planned};
use crate::team::Team;

#[test]
fn a_conversation_does_not_stop_over_open_work() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_stop_{}", client.name()));
        let (talk, session) = planned(&team, client, &["LOGIN"]);
        for again in [false, true, true] {
            let reason = talk.stops(again).denied();
            assert!(reason.starts_with("Interlock (E0705): there is open work"), "{reason}");
            assert!(reason.contains("Next: start sub-agent `developer` for group LOGIN"), "{reason}");
        }
        assert_eq!(team.refusals(&session).iter().filter(|(_, code)| code == "E0705").count(), 3);
        // One that does not move is let go, and held again once something was decided.
        talk.stops(true).passes();
        talk.plays("developer", "", "READY_FOR_QA", json!({}));
        let reason = talk.stops(false).denied();
        assert!(reason.contains("`qa_expert`"), "{reason}");
    }
}

/// What only a person can answer is said once; then the conversation stops, for the person to speak.
#[test]
fn a_question_is_put_to_the_person_once() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_question_{}", client.name()));
        let session = team.start("Add login");
        let talk = Talk::begun(&team, client, "c-1");
        let asks = json!({ "clarification_question": "Which mail server?" });
        let told = talk.plays("project_manager", "", "NEEDS_CLARIFICATION", asks);
        assert!(told.contains("ask_person"), "{told}");
        let reason = talk.stops(false).denied();
        assert!(reason.contains("E0705") && reason.contains("a question waits for the person"), "{reason}");
        assert!(reason.contains(&format!("put question {session}.q1 to the person with ask_person")), "{reason}");
        talk.stops(true).passes();
    }
}

#[test]
fn a_conversation_that_begins_is_told_how_things_stand() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_begins_{}", client.name()));
        let new = Talk::new(&team, client, "c-0");
        new.hook(client.begin(), &new.payload(client.begin())).passes();
        let (talk, session) = planned(&team, client, &["LOGIN", "LOGOUT"]);
        for source in ["startup", "resume", "compact", "clear"] {
            let mut payload = talk.payload(client.begin());
            payload["source"] = json!(source);
            let told = talk.hook(client.begin(), &payload).told();
            assert!(told.contains("You orchestrate") && told.contains(&session), "{told}");
            assert!(told.contains("- group LOGIN: ") && told.contains("- group LOGOUT: "), "{told}");
            assert!(told.contains("start sub-agent `developer` for group LOGOUT"), "{told}");
        }
        team.ask(&["cancel", &session]).done();
        talk.hook(client.begin(), &talk.payload(client.begin())).passes();
    }
}

/// In Gemini the start of a session keeps commands from being understood if anything is said; so nothing is.
#[test]
fn gemini_is_told_with_the_first_prompt() {
    let team = Team::new("hooks_gemini_begins");
    team.start("Add login");
    let talk = Talk::new(&team, Client::Gemini, "c-1");
    talk.hook("SessionStart", &talk.payload("SessionStart")).passes();
    assert!(talk.hook("BeforeAgent", &talk.payload("BeforeAgent")).told().contains("`project_manager`"));
}

/// Sub-agents of Codex work beside the conversation, also while it is shortened: they are not gone.
#[test]
fn a_conversation_that_is_shortened_keeps_its_sub_agents() {
    let team = Team::new("hooks_compact");
    let (talk, session) = planned(&team, Client::Codex, &["LOGIN"]);
    let developer = talk.starts("developer", "Build LOGIN.");
    let mut payload = talk.payload("SessionStart");
    payload["source"] = json!("compact");
    let told = talk.hook("SessionStart", &payload).told();
    assert!(told.contains("wait for sub-agent `developer`"), "{told}");
    assert!(talk.cannot_start("developer", "Build LOGIN.").contains("at work already"));
    // When the program is started again they are.
    payload["source"] = json!("resume");
    talk.hook("SessionStart", &payload).told();
    let again = talk.starts("developer", "Build LOGIN.");
    assert_eq!(again.assignment(), developer.assignment());
    talk.ends(&again, &message("developer", "READY_FOR_QA", json!({}))).passes();
    assert_eq!(team.open(&session), [("qa_expert".to_owned(), "LOGIN".to_owned())]);
}

/// Where a conversation sees to a session, another one in the same project may stop.
#[test]
fn a_conversation_that_has_no_part_in_it_may_stop() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_bystander_{}", client.name()));
        let session = team.start("Add login");
        // No conversation drives the session yet, so the present one does.
        let first = Talk::begun(&team, client, "c-1");
        first.stops(false).denied();
        let other = Talk::begun(&team, client, "c-2");
        other.stops(false).passes();
        // Nor does it take part because something was denied it.
        other.writes("src/a.rs", None).denied();
        other.stops(false).passes();
        let watch = team.show(&session)["watch"].clone();
        assert_eq!(watch["conversations"].as_array().map(Vec::len), Some(1), "{watch}");
        first.stops(true).denied();
        // Once it has started a sub-agent it has a part.
        other.plays("project_manager", "", "PLANNING_COMPLETE", plan(&["LOGIN"]));
        other.stops(false).denied();
    }
}

/// What `interlock run` works on, no conversation has to see to.
#[test]
fn work_of_a_run_holds_no_conversation() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_beside_run_{}", client.name()));
        let session = team.start("Add login");
        let talk = Talk::begun(&team, client, "c-1");
        talk.stops(false).denied();
        crate::reach::claim_as_run(&team, &session);
        talk.stops(false).passes();
        let reason = talk.cannot_start("project_manager", "");
        assert!(reason.contains("at work already"), "{reason}");
    }
}

/// Who was quiet for long is taken for gone, and its assignment can be started elsewhere; before that it cannot.
#[test]
fn work_of_a_quiet_conversation_is_taken_over() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_takeover_{}", client.name()));
        let (first, session) = planned(&team, client, &["LOGIN"]);
        let developer = first.starts("developer", "Build LOGIN.");
        let file = first.known().remove(0);
        let second = Talk::begun(&team, client, "c-2");
        age(&file, 9);
        assert!(second.cannot_start("developer", "").contains("at work already"));
        age(&file, 11);
        let again = second.starts("developer", "");
        assert_eq!(again.assignment(), developer.assignment());
        // A conversation that comes back no longer drives the session, and may stop.
        first.ends(&developer, &message("developer", "READY_FOR_REVIEW", json!({}))).passes();
        assert_eq!(team.open(&session), [("developer".to_owned(), "LOGIN".to_owned())]);
        second.ends(&again, &message("developer", "READY_FOR_QA", json!({}))).passes();
        assert_eq!(team.open(&session), [("qa_expert".to_owned(), "LOGIN".to_owned())]);
    }
}

/// A claim that was made by a command belongs to the caller of that command.
#[test]
fn what_somebody_has_claimed_by_a_command_is_not_taken() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_by_command_{}", client.name()));
        let session = team.start("Add login");
        team.claim(&session, "project_manager", "-");
        let talk = Talk::begun(&team, client, "c-1");
        assert!(talk.cannot_start("project_manager", "").contains("at work already"));
    }
}
