//! Whole sessions by hooks alone: no command and no tool of Interlock's is called by the model.

use serde_json::{Value as Json, json};

use crate::scene::{Answer, CLIENTS, Client, Talk, message, plan};
use crate::team::Team;

fn whole_session(client: Client) {
    let team = Team::new(&format!("hooks_whole_session_{}", client.name()));
    let session = team.start("Add login");
    let talk = Talk::begun(&team, client, "c-1");
    let told = talk.plays("project_manager", "Plan it.", "PLANNING_COMPLETE", plan(&["LOGIN", "LOGOUT"]));
    assert!(told.contains("`project_manager` has handed off"), "{told}");
    assert!(told.contains("side by side") && told.contains("`developer` for group LOGOUT"), "{told}");
    for group in ["LOGIN", "LOGOUT"] {
        let told = talk.plays("developer", &format!("Build {group}."), "READY_FOR_QA", json!({}));
        assert!(told.contains(&format!("`qa_expert` for group {group}")), "{told}");
        talk.plays("qa_expert", &format!("Test {group}."), "PASS", json!({}));
    }
    let issue =
        json!({ "id": "TL-1", "title": "No check", "location": "a.rs:4", "severity": "HIGH", "blocking": true });
    let told = talk.plays("tech_lead", "Review LOGIN.", "CHANGES_REQUESTED", json!({ "issues": [issue] }));
    assert!(told.contains("`developer` for group LOGIN"), "{told}");
    let answers = json!({ "issue_responses": [{ "id": "TL-1", "response": "fixed" }] });
    talk.plays("developer", "Rework LOGIN.", "READY_FOR_QA", answers);
    talk.plays("qa_expert", "Test LOGIN again.", "PASS", json!({}));
    for group in ["LOGIN", "LOGOUT"] {
        talk.plays("tech_lead", &format!("Review {group}."), "APPROVED", json!({}));
        talk.plays("developer", &format!("Merge {group}."), "MERGE_SUCCESS", json!({}));
        assert_eq!(team.group_status(&session, group), "completed");
    }
    let open = talk.stops(false).denied();
    assert!(open.contains("start sub-agent `project_manager`"), "{open}");
    let told = talk.plays("project_manager", "Is it done?", "BAZINGA", json!({}));
    assert!(told.contains("Nothing is left to do."), "{told}");
    talk.stops(false).passes();
    assert_eq!(team.status(&session), "completed");
    all_watched(&team, &session, client, 13);
}

/// The session shows that everything was watched, and its last decision has said so.
fn all_watched(team: &Team, session: &str, client: Client, handoffs: u64) {
    let watch = team.show(session)["watch"].clone();
    assert_eq!((&watch["watched"], &watch["unwatched"]), (&json!(handoffs), &json!(0)), "{watch}");
    assert_eq!(watch["handoffs"], json!({ format!("hook:{}", client.name()): handoffs }), "{watch}");
    let conversation = &watch["conversations"][0];
    assert_eq!((&conversation["client"], &conversation["conversation"]), (&json!(client.name()), &json!("c-1")));
    assert_eq!(conversation["never_seen"], json!([]), "{watch}");
    assert!(conversation["seen"].as_array().unwrap().contains(&json!(client.before_tool())), "{watch}");
    let log = team.log(session);
    let because: Vec<&Json> = log.iter().filter(|event| event["data"]["decision"].is_object()).collect();
    let last = because.last().unwrap()["data"]["decision"]["because"].to_string();
    let statement = format!("watched: {handoffs} of {handoffs} handoffs, from the start of the agent to its end");
    assert!(last.contains(&statement), "{last}");
    assert!(!last.contains("never seen") && !last.contains("not watched"), "{last}");
    assert!(team.ask(&["audit", "verify"]).done()["valid"].as_bool().unwrap());
}

#[test]
fn a_whole_session_in_claude() {
    whole_session(Client::Claude);
}

#[test]
fn a_whole_session_in_codex() {
    whole_session(Client::Codex);
}

#[test]
fn a_whole_session_in_gemini() {
    whole_session(Client::Gemini);
}

/// What a sub-agent is told is the assignment, how it hands off here, and what the orchestrator has to say, as data.
#[test]
fn a_sub_agent_is_told_its_assignment() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_told_{}", client.name()));
        let session = team.start("Add login");
        let talk = Talk::begun(&team, client, "c-1");
        let agent = talk.starts("project_manager", "Plan as little as you can.");
        assert_eq!(agent.assignment(), format!("{session}.a1"));
        assert!(agent.prompt.contains("PLANNING_COMPLETE"), "what may be reported: {}", agent.prompt);
        let (before, returned) = agent.prompt.split_once("\n## Return\n").expect("the return format comes last");
        assert!(returned.contains("End with it as the last JSON block of your message."), "{returned}");
        for absent in ["interlock report", "INTERLOCK_TOKEN", "hand_off", "handoff.json"] {
            assert!(!agent.prompt.contains(absent), "{absent}: {}", agent.prompt);
        }
        let added = before.split("## Added by the orchestrator").nth(1).expect("what the orchestrator adds");
        assert!(added.contains("```text\n") && added.contains("Plan as little as you can."), "{added}");
        let shown = team.show(&session);
        let via: Vec<Json> =
            team.log(&session).iter().map(|event| event["data"]["cause"]["claimed"]["via"].clone()).collect();
        assert!(via.contains(&json!({ "hook": client.name() })), "{shown}");
    }
}

/// In Claude a sub-agent works inside of the conversation, or the conversation would stop without it.
#[test]
fn claude_starts_its_sub_agents_in_the_foreground() {
    let team = Team::new("hooks_foreground");
    team.start("Add login");
    let talk = Talk::begun(&team, Client::Claude, "c-1");
    let input =
        json!({ "description": "d", "prompt": "p", "subagent_type": "project_manager", "run_in_background": true });
    let Answer::Input(input) = talk.tool(("Agent", input), None) else { panic!("it does not start") };
    assert_eq!((&input["run_in_background"], &input["description"]), (&json!(false), &json!("d")));
}

/// Out of a plugin, roles are called by the name of the plugin first, and so they are named to the model.
#[test]
fn roles_of_a_plugin_go_by_its_name() {
    let team = Team::new("hooks_plugin_names");
    let session = team.start("Add login");
    let talk = Talk::new(&team, Client::Claude, "c-1");
    let hook = |event: &str, payload: &Json| {
        let mut command = talk.command(event, &[]);
        let run = crate::team::run(command.env("CLAUDE_PLUGIN_ROOT", "/opt/interlock"), &payload.to_string());
        talk.read(event, &run)
    };
    let told = hook("SessionStart", &talk.payload("SessionStart")).told();
    assert!(told.contains("start sub-agent `interlock:project_manager`"), "{told}");
    let input = json!({ "description": "d", "prompt": "p", "subagent_type": "interlock:project_manager" });
    let spawn = hook("PreToolUse", &talk.tool_payload("PreToolUse", "Agent", &input, None));
    assert!(matches!(spawn, Answer::Input(_)), "{spawn:?}");
    let mut started = talk.payload("SubagentStart");
    (started["agent_id"], started["agent_type"]) = (json!("a-1"), json!("interlock:project_manager"));
    hook("SubagentStart", &started).passes();
    let mut stop = talk.payload("SubagentStop");
    (stop["agent_id"], stop["agent_type"]) = (json!("a-1"), json!("interlock:project_manager"));
    stop["last_assistant_message"] = json!(message("project_manager", "PLANNING_COMPLETE", plan(&["LOGIN"])));
    hook("SubagentStop", &stop).passes();
    assert_eq!(team.open(&session), [("developer".to_owned(), "LOGIN".to_owned())]);
}

/// Codex sends the second kind of its tools by other names.
#[test]
fn codex_starts_sub_agents_by_both_of_its_tools() {
    let team = Team::new("hooks_codex_v2");
    let session = team.start("Add login");
    let talk = Talk::begun(&team, Client::Codex, "c-1");
    let input = json!({ "task_name": "one", "message": "gAAAAA-encrypted", "agent_type": "project_manager" });
    talk.tool(("collaborationspawn_agent", input), None).passes();
    let mut started = talk.payload("SubagentStart");
    (started["agent_id"], started["agent_type"]) = (json!("a-1"), json!("project_manager"));
    let prompt = talk.hook("SubagentStart", &started).told();
    assert!(prompt.starts_with(&format!("# Assignment {session}.a1:")), "{prompt}");
    let refused =
        talk.tool(("collaborationspawn_agent", json!({ "task_name": "two", "agent_type": "developer" })), None);
    assert!(refused.denied().contains("E0701"));
}

/// A model that claims beside the hooks is told so in the end.
#[test]
fn what_was_not_watched_is_stated() {
    let team = Team::new("hooks_not_watched");
    let session = team.start("Add login");
    let talk = Talk::begun(&team, Client::Claude, "c-1");
    talk.plays("project_manager", "", "PLANNING_COMPLETE", plan(&["LOGIN"]));
    team.plays(&session, "developer", "LOGIN", "READY_FOR_QA", json!({}));
    talk.plays("qa_expert", "", "PASS", json!({}));
    talk.plays("tech_lead", "", "APPROVED", json!({}));
    talk.plays("developer", "", "MERGE_SUCCESS", json!({}));
    talk.plays("project_manager", "", "BAZINGA", json!({}));
    let watch = team.show(&session)["watch"].clone();
    assert_eq!((&watch["watched"], &watch["unwatched"]), (&json!(5), &json!(1)), "{watch}");
    assert_eq!(watch["handoffs"], json!({ "command": 1, "hook:claude": 5 }));
    let log = team.log(&session);
    let said = log.last().unwrap()["data"]["decision"]["because"].to_string();
    assert!(said.contains("watched: 5 of 6 handoffs") && said.contains("not watched: 1 by command"), "{said}");
}

/// The hooks that a client should send and never did are named.
#[test]
fn a_hook_that_was_taken_out_is_missed() {
    let team = Team::new("hooks_taken_out");
    let session = team.start("Add login");
    // No SessionStart, and no SubagentStart.
    let talk = Talk::new(&team, Client::Claude, "c-1");
    let agent = talk.asked("project_manager", "");
    talk.ends(&agent, &message("project_manager", "PLANNING_COMPLETE", plan(&["LOGIN"]))).passes();
    let missing = team.show(&session)["watch"]["conversations"][0]["never_seen"].clone();
    assert_eq!(missing, json!(["SessionStart", "SubagentStart"]));
}
