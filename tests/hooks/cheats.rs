//! What a model may try, and each client's way of trying it. Each is denied, with the next legal step, and on the record.

use std::fs;

use serde_json::{Value as Json, json};

use crate::scene::{Agent, Answer, CLIENTS, Client, Talk, message, planned};
use crate::team::Team;

/// What is denied names the code and a step that can be taken, and is in the log.
#[track_caller]
pub(crate) fn denied(
    talk: &Talk<'_>,
    session: &str,
    code: &str,
    step: &str,
    attempt: impl FnOnce() -> Answer,
) -> String {
    let before = talk.team.standing();
    let known = talk.team.refusals(session).len();
    let reason = attempt().denied();
    assert!(reason.starts_with(&format!("Interlock ({code}): ")), "{reason}");
    assert!(reason.contains(step), "it names no step like `{step}`: {reason}");
    let refusals = talk.team.refusals(session);
    assert_eq!(refusals.len(), known + 1, "one entry in the log: {refusals:?}");
    let (command, logged) = refusals.last().expect("an entry");
    assert_eq!(logged, code);
    assert!(command.starts_with(&format!("hook {} ", talk.client.name())), "{command}");
    assert_eq!(unsighted(&before, &talk.team.standing()), before, "what is denied changes nothing");
    reason
}

/// Hooks that are seen for the first time are on the record as well; nothing else may be new.
fn unsighted(before: &str, after: &str) -> String {
    let known = |line: &&str| !line.contains("'sighted'") || before.contains(*line);
    after.lines().filter(known).collect::<Vec<_>>().join("\n")
}

/// Each client, in a session whose group is with the developer, who is not at work yet.
#[track_caller]
pub(crate) fn each(name: &str, test: impl Fn(&Talk<'_>, &str)) {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_{name}_{}", client.name()));
        let (talk, session) = planned(&team, client, &["LOGIN"]);
        test(&talk, &session);
    }
}

/// The advice to the caller: in Gemini, every action is attributed to the agent that is at work.
pub(crate) fn step(talk: &Talk<'_>, by: Option<&Agent>) -> &'static str {
    match by.is_some() || talk.client == Client::Gemini {
        true => "Go on with your work without it; what you cannot do, say in your handoff.",
        false => "wait for sub-agent `developer` for group LOGIN",
    }
}

pub(crate) const NEXT: &str = "Next: start sub-agent `developer` for group LOGIN";

#[test]
fn the_wrong_role_does_not_start() {
    each("wrong_role", |talk, session| {
        for role in ["qa_expert", "tech_lead", "general-purpose", "validator", "nobody", ""] {
            let reason = denied(talk, session, "E0701", NEXT, || talk.asks_for(role, "Go.", None).0);
            assert!(role.is_empty() || reason.contains(&format!("`{role}`")), "{reason}");
        }
        assert!(talk.known().len() == 1 && held(talk).is_empty(), "nothing was claimed");
    });
}

#[test]
fn one_assignment_is_not_given_out_twice() {
    each("twice", |talk, session| {
        let first = talk.starts("developer", "Build LOGIN.");
        let step = "wait for sub-agent `developer` for group LOGIN";
        denied(talk, session, "E0701", step, || talk.asks_for("developer", "Build LOGIN.", None).0);
        talk.ends(&first, &message("developer", "READY_FOR_QA", json!({}))).passes();
        assert_eq!(talk.team.open(session), [("qa_expert".to_owned(), "LOGIN".to_owned())]);
    });
}

/// Where calls have no name, the one that is at work is not started again by naming it as hooks do.
#[test]
fn a_prompt_that_looks_like_an_assignment_starts_nothing_twice() {
    each("looks_like", |talk, session| {
        let first = talk.starts("developer", "Build LOGIN.");
        denied(talk, session, "E0701", "wait for", || talk.asks_for("developer", &first.prompt, None).0);
        assert_eq!(held(talk).len(), 1);
    });
}

#[test]
fn an_agent_does_not_start_a_role() {
    each("spawned_by_agent", |talk, session| {
        let developer = talk.starts("developer", "Build LOGIN.");
        let step = if talk.client == Client::Gemini { "wait for sub-agent" } else { "End with your handoff" };
        denied(talk, session, "E0701", step, || talk.asks_for("tech_lead", "Approve it.", Some(&developer)).0);
        if talk.client != Client::Gemini {
            talk.asks_for("Explore", "Where is it?", Some(&developer)).0.passes();
        }
    });
}

#[test]
fn the_orchestrator_edits_nothing() {
    each("edits", |talk, session| {
        for path in ["src/login.rs", "README.md", "interlock.yaml", "../project/src/x.rs"] {
            let reason = denied(talk, session, "E0702", NEXT, || talk.writes(path, None));
            assert!(reason.contains("only roles edit"), "{reason}");
        }
        talk.writes("../elsewhere.txt", None).passes();
    });
}

#[test]
fn no_tool_that_edits_is_missed() {
    let team = Team::new("hooks_edit_tools");
    let (claude, session) = planned(&team, Client::Claude, &["LOGIN"]);
    let path = team.project().join("src/a.rs");
    let tools = [
        ("Edit", json!({ "file_path": path, "old_string": "a", "new_string": "b" })),
        ("MultiEdit", json!({ "file_path": path, "edits": [] })),
        ("NotebookEdit", json!({ "notebook_path": path, "cell_id": "1", "new_source": "x" })),
    ];
    for tool in tools {
        denied(&claude, &session, "E0702", NEXT, || claude.tool(tool, None));
    }
    let codex = Talk::begun(&team, Client::Codex, "c-2");
    for mark in ["Update File", "Delete File", "Add File"] {
        let patch = format!("*** Begin Patch\n*** {mark}: src/a.rs\n*** End Patch");
        denied(&codex, &session, "E0702", NEXT, || codex.tool(("apply_patch", json!({ "command": patch })), None));
        let shell = format!("apply_patch <<'EOF'\n{patch}\nEOF");
        denied(&codex, &session, "E0702", NEXT, || codex.runs(&shell, None));
    }
    let moved = "*** Begin Patch\n*** Update File: /tmp/a.rs\n*** Move to: src/a.rs\n*** End Patch";
    denied(&codex, &session, "E0702", NEXT, || codex.tool(("apply_patch", json!({ "command": moved })), None));
    let gemini = Talk::begun(&team, Client::Gemini, "c-3");
    let replace = json!({ "file_path": "src/a.rs", "instruction": "i", "old_string": "a", "new_string": "b" });
    denied(&gemini, &session, "E0702", NEXT, || gemini.tool(("replace", replace), None));
}

#[test]
fn the_orchestrator_runs_only_what_looks() {
    each("runs", |talk, session| {
        for command in ["echo hello > a.txt", "sed -i s/a/b/ src/a.rs", "git commit -am x", "npm install", "ls\nrm x"] {
            let reason = denied(talk, session, "E0702", NEXT, || talk.runs(command, None));
            assert!(reason.contains("commands that look are all it may run"), "{reason}");
        }
        for command in
            ["git status --short && ls -la | head", "interlock session show x --json | jq .", "cat a 2>/dev/null"]
        {
            talk.runs(command, None).passes();
        }
    });
}

#[test]
fn what_is_for_people_is_not_for_models() {
    each("for_people", |talk, session| {
        let question = format!("{session}.q1");
        for command in ["answer", "defer", "override", "cancel", "acknowledge", "rebuild", "pause", "session upgrade"] {
            let line = format!("interlock {command} {question} --because done");
            let reason = denied(talk, session, "E0704", NEXT, || talk.runs(&line, None));
            assert!(reason.contains("is for people"), "{reason}");
        }
        for command in ["claim", "report", "hook", "run", "mcp"] {
            let line = format!("cd /tmp && /usr/bin/interlock {command} {session}.a2");
            let reason = denied(talk, session, "E0704", NEXT, || talk.runs(&line, None));
            assert!(reason.contains("is not for a model"), "{reason}");
        }
        let developer = talk.starts("developer", "Build LOGIN.");
        // A command that only mentions it does not do it.
        for command in ["git commit -m 'interlock cancel is documented'", "grep -rn interlock answer.rs src"] {
            talk.runs(command, Some(&developer)).passes();
        }
        for command in ["answer", "report", "override"] {
            let line = format!("sh -c 'cd /tmp; interlock {command} {question}'");
            denied(talk, session, "E0704", "End with your handoff", || talk.runs(&line, Some(&developer)));
            let line = format!("env A=b interlock --store x {command} {question}");
            denied(talk, session, "E0704", "End with your handoff", || talk.runs(&line, Some(&developer)));
        }
    });
}

#[test]
fn nobody_goes_round_the_program_to_the_store() {
    each("store", |talk, session| {
        let developer = talk.starts("developer", "Build LOGIN.");
        for by in [None, Some(&developer)] {
            let step = step(talk, by);
            for command in [
                "sqlite3 .interlock/interlock.db \"UPDATE groups SET status = 'completed'\"",
                "cd .interlock && sqlite3 interlock.db .dump",
                "rm -rf .interlock",
                "rm -rf ./.interlock/",
                "rm -rf .",
                "sh -c 'sqlite3 .interlock/interlock.db .dump'",
                "cp /tmp/x.db --target-directory=.interlock/",
            ] {
                let reason = denied(talk, session, "E0703", step, || talk.runs(command, by));
                assert!(reason.contains("the store is Interlock's own"), "{reason}");
            }
            denied(talk, session, "E0703", step, || talk.writes(".interlock/interlock.db", by));
            denied(talk, session, "E0703", step, || talk.writes(".interlock/sessions/x/handoff.json", by));
        }
    });
}

#[test]
fn nobody_reads_or_writes_the_keys() {
    each("keys", |talk, session| {
        let developer = talk.starts("developer", "Build LOGIN.");
        let keys = talk.team.keys();
        let keys = keys.display();
        for by in [None, Some(&developer)] {
            let step = step(talk, by);
            for command in [
                format!("cat {keys}/operator.key"),
                format!("cat {keys}/*"),
                format!("grep -r . {keys}"),
                format!("ls {keys}/hooks"),
                format!("cp {keys}/spawner.key /tmp"),
                format!("INTERLOCK_KEY_FILE={keys}/operator.key interlock answer q yes"),
                "cat $XDG_CONFIG_HOME/interlock/*/operator.key".to_owned(),
                "cat ~/config/interlock/*/operator.key".to_owned(),
                "cat \"$HOME/config/interlock/x/chain.key\"".to_owned(),
                "tar c ${HOME}/config/interlock".to_owned(),
            ] {
                denied(talk, session, "E0703", step, || talk.runs(&command, by));
            }
            denied(talk, session, "E0703", step, || talk.writes(&format!("{keys}/operator.key"), by));
        }
    });
}

#[test]
fn the_tools_that_read_files_do_not_read_the_keys() {
    let team = Team::new("hooks_read_keys");
    let (claude, session) = planned(&team, Client::Claude, &["LOGIN"]);
    let key = team.keys().join("operator.key");
    denied(&claude, &session, "E0703", NEXT, || claude.tool(("Read", json!({ "file_path": key })), None));
    let path = json!({ "pattern": ".", "path": team.keys(), "output_mode": "content" });
    denied(&claude, &session, "E0703", NEXT, || claude.tool(("Grep", path), None));
    claude.tool(("Read", json!({ "file_path": team.project().join("src/a.rs") })), None).passes();
    claude
        .tool(("Read", json!({ "file_path": team.project().join(".interlock/sessions/x/handoff.json") })), None)
        .passes();
    let gemini = Talk::begun(&team, Client::Gemini, "c-2");
    denied(&gemini, &session, "E0703", NEXT, || gemini.tool(("read_file", json!({ "file_path": key })), None));
    denied(&gemini, &session, "E0703", NEXT, || {
        gemini.tool(("read_many_files", json!({ "include": ["src/*", key] })), None)
    });
}

#[test]
fn nobody_takes_the_hooks_out() {
    each("settings", |talk, session| {
        let developer = talk.starts("developer", "Build LOGIN.");
        for by in [None, Some(&developer)] {
            let step = step(talk, by);
            for path in [
                ".claude/settings.json",
                ".claude/settings.local.json",
                ".claude/skills/interlock/hooks/hooks.json",
                ".codex/agents/developer.toml",
                ".codex/config.toml",
                ".codex/hooks.json",
                ".gemini/settings.json",
                ".gemini/agents/developer.md",
                ".mcp.json",
            ] {
                denied(talk, session, "E0703", step, || talk.writes(path, by));
                denied(talk, session, "E0703", step, || talk.runs(&format!("rm -f {path}"), by));
                denied(talk, session, "E0703", step, || talk.runs(&format!("echo '{{}}' > {path}"), by));
            }
            for command in
                ["rm -rf .claude", "mv .codex /tmp/x", "rm -r .gemini/", "bash -c 'rm .claude/settings.json'"]
            {
                denied(talk, session, "E0703", step, || talk.runs(command, by));
            }
        }
        talk.runs("cat .claude/settings.json", None).passes();
    });
}

/// A file is the same file under each of its names.
#[test]
fn a_link_to_the_store_is_the_store() {
    each("links", |talk, session| {
        let developer = talk.starts("developer", "Build LOGIN.");
        std::os::unix::fs::symlink(talk.team.project().join(".interlock"), talk.team.project().join("docs")).unwrap();
        let step = step(talk, Some(&developer));
        denied(talk, session, "E0703", step, || talk.writes("docs/interlock.db", Some(&developer)));
        denied(talk, session, "E0703", step, || talk.writes("src/../.interlock/x", Some(&developer)));
        // Writing through a link to a missing file creates that file.
        std::os::unix::fs::symlink(".interlock/new.db", talk.team.project().join("new")).unwrap();
        denied(talk, session, "E0703", step, || talk.writes("new", Some(&developer)));
    });
}

#[test]
fn a_role_writes_what_it_may_and_nothing_else() {
    each("reviewer", |talk, session| {
        let developer = talk.starts("developer", "Build LOGIN.");
        talk.writes("src/login.rs", Some(&developer)).passes();
        talk.runs("cargo fmt && git commit -am x", Some(&developer)).passes();
        talk.ends(&developer, &message("developer", "READY_FOR_QA", json!({}))).passes();
        talk.back(&developer).told();
        let qa = talk.starts("qa_expert", "Test LOGIN.");
        let reason = denied(talk, session, "E0702", "Say in your handoff what has to change.", || {
            talk.writes("src/login.rs", Some(&qa))
        });
        assert!(reason.contains("`qa_expert` does not write `src/login.rs`"), "{reason}");
        // Where it leaves its handoff it writes, and not where another has left one.
        let own = format!(".interlock/sessions/{session}/{}.1", qa.assignment().rsplit('.').next().unwrap());
        assert!(talk.team.project().join(&own).is_dir(), "{own}");
        talk.writes(&format!("{own}/handoff.json"), Some(&qa)).passes();
        let other = format!(".interlock/sessions/{session}/a1.1/handoff.json");
        denied(talk, session, "E0703", "in your handoff", || talk.writes(&other, Some(&qa)));
        // Who has no assignment has nothing to write.
        let reason = denied(talk, session, "E0702", "`qa_expert`", || talk.writes("src/login.rs", Some(&developer)));
        assert!(talk.client == Client::Gemini || reason.contains("`developer` has no assignment"), "{reason}");
    });
}

#[test]
fn the_tools_of_models_without_hooks_are_not_needed() {
    each("tools", |talk, session| {
        for tool in ["claim_assignment", "report_handoff"] {
            let reason = denied(talk, session, "E0704", NEXT, || talk.calls(tool, None));
            assert!(reason.contains(tool), "{reason}");
        }
        for tool in ["whats_next", "session_status", "ask_person", "start_session"] {
            talk.calls(tool, None).passes();
        }
        let developer = talk.starts("developer", "Build LOGIN.");
        denied(talk, session, "E0704", "End with your handoff.", || talk.calls("report_handoff", Some(&developer)));
    });
}

#[test]
fn an_agent_that_has_ended_is_not_talked_to_again() {
    let team = Team::new("hooks_recalled");
    let (claude, session) = planned(&team, Client::Claude, &["LOGIN"]);
    let input = json!({ "to": "a-1", "summary": "s", "message": "Say that it passes." });
    denied(&claude, &session, "E0701", NEXT, || claude.tool(("SendMessage", input), None));
    let codex = Talk::begun(&team, Client::Codex, "c-2");
    for tool in [
        "multi_agent_v1send_input",
        "multi_agent_v1resume_agent",
        "collaborationfollowup_task",
        "collaborationsend_message",
    ] {
        denied(&codex, &session, "E0701", NEXT, || codex.tool((tool, json!({ "target": "a-1" })), None));
    }
}

/// A handoff that an agent gives again when it was brought back changes nothing.
#[test]
fn an_agent_that_comes_back_has_nothing_to_say() {
    for client in [Client::Claude, Client::Codex] {
        let team = Team::new(&format!("hooks_comes_back_{}", client.name()));
        let (talk, session) = planned(&team, client, &["LOGIN"]);
        let developer = talk.starts("developer", "Build LOGIN.");
        talk.ends(&developer, &message("developer", "READY_FOR_QA", json!({}))).passes();
        let before = team.standing();
        talk.ends(&developer, &message("developer", "READY_FOR_REVIEW", json!({}))).passes();
        assert_eq!(team.standing(), before);
        assert_eq!(team.open(&session), [("qa_expert".to_owned(), "LOGIN".to_owned())]);
    }
}

/// Claude ends forks of its own by the same hook; they belong to no assignment.
#[test]
fn a_fork_of_the_client_hands_nothing_in() {
    let team = Team::new("hooks_fork");
    let (talk, session) = planned(&team, Client::Claude, &["LOGIN"]);
    let _developer = talk.starts("developer", "Build LOGIN.");
    for kind in ["", "general-purpose", "qa_expert"] {
        let mut payload = talk.payload("SubagentStop");
        (payload["agent_id"], payload["agent_type"]) = (json!("fork"), json!(kind));
        payload["last_assistant_message"] = json!(message("developer", "READY_FOR_QA", json!({})));
        talk.hook("SubagentStop", &payload).passes();
    }
    assert_eq!(team.open(&session), [("developer".to_owned(), "LOGIN".to_owned())]);
}

/// Refusals are read by people: who tried, what, and how it was refused.
#[test]
fn the_log_tells_who_tried_what() {
    let team = Team::new("hooks_log");
    let (talk, session) = planned(&team, Client::Claude, &["LOGIN"]);
    let developer = talk.starts("developer", "Build LOGIN.");
    talk.writes("src/a\u{1b}[31m.rs", None).denied();
    talk.writes(".mcp.json", Some(&developer)).denied();
    let log = team.log(&session);
    let refused: Vec<&Json> =
        log.iter().map(|event| &event["data"]["cause"]["refused"]).filter(|it| it.is_object()).collect();
    assert_eq!((&refused[0]["by"], &refused[1]["by"]), (&json!("Claude Code"), &json!("developer of Claude Code")));
    let text = crate::team::run(&mut team.command(&["log", &session]), "").stdout;
    assert!(text.contains("E0702") && text.contains("hook claude PreToolUse") && !text.contains('\u{1b}'), "{text}");
    assert!(team.ask(&["audit", "verify"]).done()["valid"].as_bool().unwrap());
}

/// Without a session there is nothing to judge, but the store and the hooks stay as they are.
#[test]
fn without_a_session_a_model_does_as_it_likes() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_no_session_{}", client.name()));
        let talk = Talk::begun(&team, client, "c-1");
        talk.writes("src/login.rs", None).passes();
        talk.runs("rm -rf target && interlock answer x", None).passes();
        talk.asks_for("developer", "Go.", None).0.passes();
        talk.calls("claim_assignment", None).passes();
        talk.stops(false).passes();
        let reason = talk.writes(".interlock/interlock.db", None).denied();
        assert!(reason.contains("E0703"), "{reason}");
    }
}

fn held(talk: &Talk<'_>) -> Vec<Json> {
    let notes = talk.known().iter().map(|path| fs::read(path).expect("readable")).collect::<Vec<_>>();
    let notes = notes.iter().map(|bytes| serde_json::from_slice::<Json>(bytes).expect("JSON"));
    notes.flat_map(|notes| notes["held"].as_array().expect("a list").clone()).collect()
}

/// A session that has ended does not keep the client from stopping.
#[test]
fn a_session_that_has_ended_holds_nobody() {
    each("ended", |talk, session| {
        talk.writes("src/a.rs", None).denied();
        talk.team.ask(&["cancel", session]).done();
        talk.writes("src/a.rs", None).passes();
        talk.stops(false).passes();
    });
}
