//! What a workflow says of its orchestrator.

use std::fs;

use serde_json::{Value as Json, json};

use crate::scene::{CLIENTS, Talk, message, plan};
use crate::team::{Team, run};

fn team_with(name: &str, orchestrator: &str) -> Team {
    let team = Team::new(name);
    let text = format!("workflow: own\nlanguage: 1\nextends: delivery-team\norchestrator: {orchestrator}\n");
    fs::write(team.project().join("interlock.yaml"), text).expect("a workflow");
    team
}

fn start(team: &Team) -> String {
    let started = team.ask(&["session", "start", "--title", "T", "--workflow", "interlock.yaml"]).done();
    started["session"].as_str().expect("a session").to_owned()
}

/// One request to the MCP server, and its answer.
fn mcp(team: &Team, tool: &str, arguments: &Json) -> Json {
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": tool, "arguments": arguments } }),
    ];
    let said = run(&mut team.command(&["mcp"]), &lines.map(|line| format!("{line}\n")).concat());
    let answer = said.stdout.lines().map(|line| serde_json::from_str::<Json>(line).expect("JSON"));
    answer.into_iter().find(|answer| answer["id"] == 2).unwrap_or_else(|| panic!("no answer: {said}"))["result"].clone()
}

#[test]
fn where_watching_is_required_only_watchers_claim_and_report() {
    for client in CLIENTS {
        let team = team_with(&format!("hooks_required_{}", client.name()), "{ watched: required }");
        let session = start(&team);
        assert_eq!(team.show(&session)["watch"]["required"], true);
        let id = format!("{session}.a1");
        let claim = team.ask(&["claim", &id]);
        assert_eq!((claim.exit, claim.code().as_str()), (3, "E0349"), "{claim}");
        assert!(claim.json()["error"]["help"].as_str().unwrap().contains("interlock run"), "{claim}");
        let told = mcp(&team, "claim_assignment", &json!({ "assignment": id }));
        assert_eq!((&told["isError"], &told["structuredContent"]["code"]), (&json!(true), &json!("E0349")), "{told}");
        let talk = Talk::begun(&team, client, "c-1");
        let manager = talk.starts("project_manager", "");
        // With the token of a hook a command gives nothing in either.
        let notes: Json = serde_json::from_slice(&fs::read(&talk.known()[0]).unwrap()).unwrap();
        let token = notes["held"][0]["token"].as_str().unwrap();
        let good = crate::team::handoff("project_manager", "PLANNING_COMPLETE", plan(&["LOGIN"]));
        let mut command = team.command(&["report", "--assignment", &id, "-", "--json"]);
        let report = run(command.env("INTERLOCK_TOKEN", token), &good.to_string());
        assert_eq!((report.exit, report.code().as_str()), (3, "E0349"), "{report}");
        let report = mcp(&team, "report_handoff", &json!({ "assignment": id, "token": token, "handoff": good }));
        assert_eq!(report["structuredContent"]["code"], "E0349", "{report}");
        talk.ends(&manager, &message("project_manager", "PLANNING_COMPLETE", plan(&["LOGIN"]))).passes();
        assert_eq!(team.open(&session), [("developer".to_owned(), "LOGIN".to_owned())]);
    }
}

#[test]
fn where_watching_is_told_anybody_may_claim() {
    let team = team_with("hooks_watched_told", "{ watched: told }");
    let session = start(&team);
    assert_eq!(team.show(&session)["watch"]["required"], false);
    team.ask(&["claim", &format!("{session}.a1")]).done();
}

#[test]
fn an_orchestrator_writes_what_the_workflow_lets_it() {
    for client in CLIENTS {
        let team = team_with(&format!("hooks_writes_{}", client.name()), "{ writes: [docs/**, '*.md'] }");
        start(&team);
        let talk = Talk::begun(&team, client, "c-1");
        for path in ["docs/a.md", "docs/deep/b.txt", "README.md"] {
            talk.writes(path, None).passes();
        }
        for path in ["src/a.rs", "src/docs/a.md", "docs.md/x", "docs/../src/a.rs"] {
            assert!(talk.writes(path, None).denied().contains("E0702"), "{path}");
        }
        // The writes of a command cannot be predicted, so this role may only read.
        talk.runs("echo x > src/a.rs", None).denied();
    }
}

#[test]
fn an_orchestrator_that_may_write_everything_may_run_everything() {
    let team = team_with("hooks_writes_all", "{ writes: all }");
    start(&team);
    let talk = Talk::begun(&team, crate::scene::Client::Claude, "c-1");
    talk.writes("src/a.rs", None).passes();
    talk.runs("cargo fmt", None).passes();
    talk.writes(".interlock/interlock.db", None).denied();
    talk.runs("interlock answer q1 yes", None).denied();
}
