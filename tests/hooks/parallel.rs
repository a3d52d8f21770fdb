//! Many at once: sub-agents of one role, hooks of one conversation, conversations of one session.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Barrier;
use std::thread;

use serde_json::{Value as Json, json};

use crate::scene::{Agent, Answer, CLIENTS, Client, Talk, message, plan, planned};
use crate::team::{Run, Team, run};

/// Two developers at work in one conversation end in the other order than they began, each with its own group.
#[test]
fn two_sub_agents_of_one_role_are_told_apart() {
    for client in [Client::Claude, Client::Codex] {
        let team = Team::new(&format!("hooks_two_of_a_role_{}", client.name()));
        let (talk, session) = planned(&team, client, &["LOGIN", "LOGOUT"]);
        let mut login = talk.asked("developer", "Build LOGIN.");
        // Codex carries calls out one after the other; with Claude Code agents begin in any order.
        let in_order = client == Client::Codex;
        if in_order {
            talk.begins(&mut login);
        }
        let mut logout = talk.asked("developer", "Build LOGOUT.");
        talk.begins(&mut logout);
        if !in_order {
            talk.begins(&mut login);
        }
        assert_ne!(login.assignment(), logout.assignment());
        // Both may write, and where they leave their handoffs too.
        for agent in [&login, &logout] {
            talk.writes("src/a.rs", Some(agent)).passes();
            let number = agent.assignment().rsplit('.').next().unwrap();
            talk.writes(&format!(".interlock/sessions/{session}/{number}.1/handoff.json"), Some(agent)).passes();
        }
        talk.ends(&logout, &message("developer", "READY_FOR_REVIEW", json!({}))).passes();
        let open: BTreeSet<_> = team.open(&session).into_iter().collect();
        let expected = [("developer", "LOGIN"), ("tech_lead", "LOGOUT")];
        assert_eq!(open, expected.map(|(role, group)| (role.to_owned(), group.to_owned())).into());
        talk.ends(&login, &message("developer", "READY_FOR_QA", json!({}))).passes();
        assert!(team.open(&session).contains(&("qa_expert".to_owned(), "LOGIN".to_owned())));
        let told = [talk.back(&login), talk.back(&logout)];
        if client == Client::Claude {
            for (told, agent) in told.into_iter().zip([&login, &logout]) {
                let told = told.told();
                assert!(told.contains(&format!("has handed off {};", agent.assignment())), "{told}");
            }
        }
        let watch = team.show(&session)["watch"].clone();
        assert_eq!((&watch["watched"], &watch["unwatched"]), (&json!(3), &json!(0)), "{watch}");
    }
}

/// Codex may say which agent a call has started before that one starts; then they start in any order.
#[test]
fn a_call_of_codex_that_comes_back_first_names_its_agent() {
    let team = Team::new("hooks_named_first");
    let (talk, _) = planned(&team, Client::Codex, &["LOGIN", "LOGOUT"]);
    let mut login = talk.asked("developer", "Build LOGIN.");
    talk.names(&login);
    let mut logout = talk.asked("developer", "Build LOGOUT.");
    talk.names(&logout);
    talk.begins(&mut logout);
    talk.begins(&mut login);
    for (agent, group) in [(&login, "LOGIN"), (&logout, "LOGOUT")] {
        assert!(agent.prompt.contains(&format!("Work on group `{group}`.")), "{}", agent.prompt);
    }
}

/// Codex sends no message about a failed call after the first one; the same agent can be requested again.
#[test]
fn a_call_of_codex_that_has_started_nobody_can_be_made_again() {
    let team = Team::new("hooks_a_call_that_failed");
    let (talk, session) = planned(&team, Client::Codex, &["LOGIN", "LOGOUT"]);
    let failed = talk.asked("developer", "Build LOGIN.");
    let logout = talk.starts("developer", "Build LOGOUT.");
    assert!(logout.prompt.contains("Work on group `LOGOUT`."), "{}", logout.prompt);
    let login = talk.starts("developer", "Build LOGIN.");
    assert!(login.prompt.contains("Work on group `LOGIN`.") && login.call != failed.call, "{}", login.prompt);
    // An agent that has started is at work, whatever is requested.
    talk.cannot_start("developer", "Build LOGIN.");
    talk.ends(&login, &message("developer", "READY_FOR_QA", json!({}))).passes();
    assert!(team.open(&session).contains(&("qa_expert".to_owned(), "LOGIN".to_owned())));
}

/// Nothing tells sub-agents of Gemini apart, so a second one has to wait.
#[test]
fn in_gemini_one_works_at_a_time() {
    let team = Team::new("hooks_one_at_a_time");
    let (talk, session) = planned(&team, Client::Gemini, &["LOGIN", "LOGOUT"]);
    let login = talk.starts("developer", "Build LOGIN.");
    let reason = talk.cannot_start("developer", "Build LOGOUT.");
    assert!(reason.contains("one sub-agent works at a time") && reason.contains("wait for"), "{reason}");
    talk.ends(&login, &message("developer", "READY_FOR_QA", json!({}))).passes();
    talk.back(&login).told();
    talk.plays("developer", "Build LOGOUT.", "READY_FOR_QA", json!({}));
    assert_eq!(team.open(&session).iter().filter(|(role, _)| role == "qa_expert").count(), 2);
}

/// Runs all of them at the same moment.
fn at_once(hooks: Vec<(&Talk<'_>, &'static str, Json)>) -> Vec<(Answer, Run)> {
    let gate = Barrier::new(hooks.len());
    thread::scope(|scope| {
        let started: Vec<_> = hooks
            .into_iter()
            .map(|(talk, event, payload)| {
                let (gate, client, mut command) = (&gate, talk.client, talk.command(event, &[]));
                scope.spawn(move || {
                    gate.wait();
                    let run = run(&mut command, &payload.to_string());
                    (Answer::of(client, event, &run).unwrap_or_else(|error| panic!("{error}")), run)
                })
            })
            .collect();
        started.into_iter().map(|hook| hook.join().expect("a hook")).collect()
    })
}

/// A workflow that starts sixteen groups at once.
fn wide(name: &str) -> Team {
    let team = Team::new(name);
    let text = "workflow: wide\nlanguage: 1\nextends: delivery-team\ngroups: { at_most: 16 }\n";
    fs::write(team.project().join("wide.yaml"), text).expect("a workflow");
    team
}

fn start_wide(team: &Team) -> String {
    let started = team.ask(&["session", "start", "--title", "T", "--workflow", "wide.yaml"]).done();
    started["session"].as_str().expect("a session").to_owned()
}

fn groups() -> Vec<String> {
    (1..=16).map(|n| format!("G{n}")).collect()
}

/// Sixteen spawns of one conversation at once: each gets an assignment of its own, and none is lost from what is held.
#[test]
fn sixteen_hooks_of_one_conversation_at_once() {
    for client in [Client::Claude, Client::Codex] {
        let team = wide(&format!("hooks_sixteen_{}", client.name()));
        let session = start_wide(&team);
        let talk = Talk::begun(&team, client, "c-1");
        let groups = groups();
        let names: Vec<&str> = groups.iter().map(String::as_str).collect();
        talk.plays("project_manager", "", "PLANNING_COMPLETE", plan(&names));
        // Codex makes its calls one after the other; what its agents do, they do at once.
        let mut agents: Vec<Agent> = Vec::new();
        if client == Client::Codex {
            agents.extend(groups.iter().map(|group| talk.starts("developer", &format!("Build {group}."))));
        } else {
            let spawn = |group: &String| json!({ "subagent_type": "developer", "prompt": format!("Build {group}.") });
            let payload = |group: &String| talk.tool_payload("PreToolUse", "Agent", &spawn(group), None);
            for (answer, run) in at_once(groups.iter().map(|group| (&talk, "PreToolUse", payload(group))).collect()) {
                assert!(matches!(answer, Answer::Input(_)), "{answer:?} {run}");
            }
        }
        let notes = || serde_json::from_slice::<Json>(&fs::read(&talk.known()[0]).unwrap()).unwrap();
        let before = notes();
        let held = before["held"].as_array().unwrap();
        let unique: BTreeSet<String> = held.iter().map(|held| held["assignment"].to_string()).collect();
        let tokens: BTreeSet<&str> = held.iter().map(|held| held["token"].as_str().unwrap()).collect();
        assert_eq!((held.len(), unique.len(), tokens.len()), (16, 16, 16));
        let claims = team.log(&session).iter().filter(|event| event["kind"] == "claimed").count();
        assert_eq!(claims, 17, "each was claimed once");
        // And they end at once, each with its own.
        if client == Client::Claude {
            agents.extend(held.iter().map(|held| told_apart(&talk, held)));
        }
        let ends = agents.iter().map(|agent| {
            let (event, payload) = talk.ending(agent, &message("developer", "READY_FOR_QA", json!({})));
            (&talk, event, payload)
        });
        for (answer, _) in at_once(ends.collect()) {
            answer.passes();
        }
        assert_eq!(team.open(&session).iter().filter(|(role, _)| role == "qa_expert").count(), 16);
        let after = notes();
        assert_eq!(
            after["held"].as_array().map(Vec::len),
            Some(0),
            "none of them has overwritten what another has kept"
        );
        let told: BTreeSet<String> =
            after["decided"].as_array().unwrap().iter().map(|told| told[0].to_string()).collect();
        assert_eq!(told.len(), 16, "what was decided for each call waits to be told");
        let watch = team.show(&session)["watch"].clone();
        assert_eq!((&watch["watched"], &watch["unwatched"]), (&json!(17), &json!(0)), "{watch}");
        assert!(team.ask(&["audit", "verify"]).done()["valid"].as_bool().unwrap());
    }
}

/// The sub-agent of this entry, with what its client has written down of it.
fn told_apart(talk: &Talk<'_>, held: &Json) -> Agent {
    let prompt = held["prompt"].as_str().expect("a prompt").to_owned();
    talk.with_prompt("developer", held["call"].as_str().expect("a call"), prompt)
}

/// Sixteen conversations ask for one assignment at the same moment, and one gets it.
#[test]
fn sixteen_conversations_at_once_make_one_claim() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_race_{}", client.name()));
        let session = team.start("Add login");
        let talks: Vec<Talk<'_>> = (0..16).map(|n| Talk::new(&team, client, &format!("c-{n}"))).collect();
        let event = client.before_tool();
        let spawns = talks.iter().map(|talk| {
            let (tool, input) = match client {
                Client::Claude => ("Agent", json!({ "prompt": "p", "subagent_type": "project_manager" })),
                Client::Codex => ("spawn_agent", json!({ "message": "p", "agent_type": "project_manager" })),
                Client::Gemini => ("invoke_agent", json!({ "agent_name": "project_manager", "prompt": "p" })),
            };
            (talk, event, talk.tool_payload(event, tool, &input, None))
        });
        let answers = at_once(spawns.collect());
        let started = answers.iter().filter(|(answer, _)| matches!(answer, Answer::Input(_) | Answer::Pass)).count();
        assert_eq!(started, 1, "{:?}", answers.iter().map(|(answer, _)| answer).collect::<Vec<_>>());
        let claims = team.log(&session).iter().filter(|event| event["kind"] == "claimed").count();
        assert_eq!(claims, 1);
    }
}
