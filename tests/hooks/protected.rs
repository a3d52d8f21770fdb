//! Protected paths in a client: edits and commands that change them are denied unless the role owns them.

use std::fs;

use crate::scene::{CLIENTS, Talk, plan};
use crate::team::Team;

const WORKFLOW: &str = "workflow: own\nlanguage: 1\nextends: delivery-team\nroles:\n  qa_expert: { escalates_to: tech_lead, writes: all, owns: [\".github/workflows/**\"] }\n";

fn start(team: &Team, more: &[&str]) -> String {
    fs::create_dir_all(team.project().join("flows")).expect("a folder");
    fs::write(team.project().join("flows/own.yaml"), WORKFLOW).expect("a workflow");
    let arguments = ["session", "start", "--title", "T", "--workflow", "flows/own.yaml"];
    let started = team.ask(&arguments.iter().chain(more).copied().collect::<Vec<_>>()).done();
    started["session"].as_str().expect("a session").to_owned()
}

#[test]
fn edit_of_a_protected_path_is_denied_unless_the_role_owns_it() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_protected_{}", client.name()));
        let session = start(&team, &[]);
        let talk = Talk::begun(&team, client, "c-1");
        talk.plays("project_manager", "Plan it.", "PLANNING_COMPLETE", plan(&["LOGIN"]));
        let developer = talk.starts("developer", "");
        for path in [".github/workflows/ci.yml", "interlock.yaml", "agents.yaml", "Jenkinsfile", "flows/own.yaml"] {
            let denied = talk.writes(path, Some(&developer)).denied();
            assert!(denied.contains("E0620") && denied.contains(path), "{path}: {denied}");
            assert!(denied.contains("developer does not own it") && denied.contains("--allow '"), "{denied}");
        }
        for path in ["src/a.rs", "AGENTS.md", ".github/CODEOWNERS", "docs/agents.yaml"] {
            talk.writes(path, Some(&developer)).passes();
        }
        for command in
            ["echo x > .github/workflows/ci.yml", "sed -i s/a/b/ agents.yaml", "rm -rf .github", "cp x Jenkinsfile"]
        {
            let denied = talk.runs(command, Some(&developer)).denied();
            assert!(denied.contains("E0620"), "{command}: {denied}");
        }
        for command in ["cat .github/workflows/ci.yml", "cargo test agents", "ls .github"] {
            talk.runs(command, Some(&developer)).passes();
        }
        let denied = talk.writes(".github/workflows/ci.yml", Some(&developer)).denied();
        assert!(denied.contains("protected by `.github/workflows/**`; owned by qa_expert"), "{denied}");
        assert!(denied.contains("--allow '.github/workflows/**'"), "{denied}");
        let refused = team.refusals(&session);
        assert!(refused.iter().any(|(_, code)| code == "E0620"), "{refused:?}");
        talk.ends(&developer, &crate::scene::message("developer", "READY_FOR_QA", serde_json::json!({}))).passes();
        let tester = talk.starts("qa_expert", "");
        talk.writes(".github/workflows/ci.yml", Some(&tester)).passes();
        assert!(talk.writes(".gitlab-ci.yml", Some(&tester)).denied().contains("E0620"));
    }
}

#[test]
fn protected_path_that_a_person_allowed_may_be_edited() {
    let client = CLIENTS[0];
    let team = Team::new("hooks_allowed");
    let session = start(&team, &["--allow", ".github/**"]);
    assert_eq!(team.show(&session)["allowed_paths"][0]["pattern"], ".github/**");
    let talk = Talk::begun(&team, client, "c-1");
    talk.plays("project_manager", "Plan it.", "PLANNING_COMPLETE", plan(&["LOGIN"]));
    let developer = talk.starts("developer", "");
    talk.writes(".github/workflows/ci.yml", Some(&developer)).passes();
    assert!(talk.writes("agents.yaml", Some(&developer)).denied().contains("E0620"));
}

/// The spawner key starts sessions, and allows nothing.
#[test]
fn session_start_with_allowed_paths_takes_the_operator_key() {
    let team = Team::new("hooks_allow_key");
    start(&team, &[]);
    let talk = Talk::begun(&team, CLIENTS[0], "c-1");
    let denied = talk.runs("interlock session start --title T --allow=.github/**", None).denied();
    assert!(denied.contains("E0704"), "{denied}");
    let keys = team.keys();
    fs::remove_file(keys.join("operator.key")).expect("a key");
    let run = team.ask(&["session", "start", "--title", "T", "--workflow", "flows/own.yaml", "--allow", ".github/**"]);
    assert_ne!(run.exit, 0, "{run}");
    assert_eq!(team.ask(&["session", "list"]).done()["sessions"].as_array().map(Vec::len), Some(1));
}
