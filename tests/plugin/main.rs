//! Setting clients up, as a person does: the real program on settings that a user has already.

#[path = "../team/mod.rs"]
mod team;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use team::{Run, Team, run};

const CLIENTS: [&str; 3] = ["claude", "codex", "gemini"];
const ROLES: [&str; 7] = [
    "developer",
    "investigator",
    "project_manager",
    "qa_expert",
    "requirements_engineer",
    "senior_software_engineer",
    "tech_lead",
];

/// Every file below a folder but the store, with what is in it.
fn files(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.components().any(|part| part.as_os_str() == ".interlock" || part.as_os_str() == "config") {
                let text = fs::read_to_string(&path).expect("a text");
                found.insert(path, text);
            }
        }
    }
    found
}

fn home(team: &Team) -> PathBuf {
    team.project().parent().expect("a home").to_owned()
}

fn plugin(team: &Team, words: &[&str]) -> Run {
    let words: Vec<&str> = ["plugin"].iter().chain(words).copied().collect();
    run(&mut team.command(&words), "")
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// Settings that people have, with comments and hooks of their own.
fn somebodys_settings(team: &Team) {
    let project = team.project();
    put(
        &project.join(".gemini/settings.json"),
        "{\n  // the look\n  \"theme\": \"dark\",\n  \"hooks\": {\n    \"BeforeTool\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"./mine.sh\" }] }\n    ]\n  }\n}\n",
    );
    put(
        &project.join(".codex/hooks.json"),
        "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"beep\" }] }\n    ]\n  }\n}\n",
    );
    put(&project.join(".codex/config.toml"), "# ours\n[mcp_servers.other] # keep\ncommand = \"other\"\n");
    put(
        &home(team).join(".codex/config.toml"),
        "model = \"gpt\" # mine\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n",
    );
    put(&project.join(".claude/settings.json"), "{ \"permissions\": { \"allow\": [] } }\n");
}

#[test]
fn what_is_installed_and_taken_out_again_leaves_every_byte_as_it_was() {
    let team = Team::new("plugin-there-and-back");
    somebodys_settings(&team);
    there_and_back(&team);
}

#[test]
fn where_nothing_was_nothing_is_left() {
    there_and_back(&Team::new("plugin-from-nothing"));
}

fn there_and_back(team: &Team) {
    let before = files(&home(team));
    for client in CLIENTS {
        let installed = plugin(team, &["install", client]);
        assert_eq!(installed.exit, 0, "{installed}");
        let with = files(&home(team));
        assert_ne!(with, before, "{client} writes something");
        for (path, text) in &before {
            let kept = with.get(path).unwrap_or_else(|| panic!("{client} removed {}", path.display()));
            for line in text.lines().map(|line| line.trim().trim_end_matches(',')) {
                assert!(kept.contains(line), "{client} lost `{line}` of {}", path.display());
            }
        }
        let again = plugin(team, &["install", client]);
        assert!(again.stdout.contains("everything is installed already"), "{again}");
        assert_eq!(files(&home(team)), with, "{client}: installing twice changes nothing");
        let out = plugin(team, &["uninstall", client]);
        assert_eq!(out.exit, 0, "{out}");
        assert_eq!(files(&home(team)), before, "{client}");
    }
}

/// Consent that the user gave to hooks of others in the same file is not ours to take.
#[test]
fn consent_to_hooks_of_others_stays() {
    let team = Team::new("plugin-consent");
    let file = team.project().join(".codex/hooks.json");
    put(&file, "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"beep\"}]}]}}\n");
    let real = fs::canonicalize(team.project()).expect("a project").join(".codex/hooks.json");
    let config = home(&team).join(".codex/config.toml");
    put(&config, &format!("[hooks.state.\"{}:stop:0:0\"]\ntrusted_hash = \"sha256:ab\"\n", real.display()));
    let before = files(&home(&team));
    plugin(&team, &["install", "codex"]);
    assert_ne!(files(&home(&team)), before);
    plugin(&team, &["uninstall", "codex"]);
    assert_eq!(files(&home(&team)), before);
    // Also where our own are gone already.
    plugin(&team, &["install", "codex"]);
    let before = fs::read_to_string(&config).expect("a file");
    assert_eq!(before.matches("trusted_hash").count(), 8, "{before}");
    fs::remove_file(&file).expect("a file");
    plugin(&team, &["uninstall", "codex"]);
    let after = fs::read_to_string(&config).expect("a file");
    assert!(after.contains("sha256:ab") && after.matches("trusted_hash").count() == 1, "{after}");
}

/// Hooks ask the store of the project that they were written for.
#[test]
fn hooks_are_for_the_project_that_they_were_written_for() {
    let (team, other) = (Team::new("plugin-project"), Team::new("plugin-other-project"));
    team.start("Add login");
    let event = |client: &str| if client == "gemini" { "BeforeTool" } else { "PreToolUse" };
    for (client, file, variable) in [
        ("claude", ".claude/skills/interlock/hooks/hooks.json", "CLAUDE_PROJECT_DIR"),
        ("codex", ".codex/hooks.json", ""),
        ("gemini", ".gemini/settings.json", "GEMINI_PROJECT_DIR"),
    ] {
        plugin(&team, &["install", client]);
        let hooks: Json =
            serde_json::from_str(&fs::read_to_string(team.project().join(file)).expect("hooks")).expect("JSON");
        let command = hooks["hooks"][event(client)][0]["hooks"][0]["command"].as_str().expect("a command").to_owned();
        let tool = if client == "gemini" { "run_shell_command" } else { "Bash" };
        let payload = serde_json::json!({
            "session_id": "c", "cwd": other.project(), "tool_name": tool, "tool_input": { "command": "rm -rf x" },
        });
        let called = |folder: &Path| {
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", &command]).current_dir(other.project()).env("HOME", home(&team));
            shell.env("XDG_CONFIG_HOME", team.config()).env_remove("CLAUDE_PROJECT_DIR");
            if !variable.is_empty() {
                shell.env(variable, folder);
            }
            run(&mut shell, &payload.to_string())
        };
        let denied = called(&team.project());
        assert!(denied.stdout.contains("E0702"), "{client}: {denied}");
        if !variable.is_empty() {
            // The other project has a store, whose keys are not this user's.
            assert!(called(&other.project()).stderr.contains("E0511"), "{client}");
        }
    }
}

#[test]
fn the_roles_that_a_client_offers_are_the_roles_of_the_workflow() {
    let team = Team::new("plugin-roles");
    let folders =
        [("claude", ".claude/skills/interlock/agents"), ("codex", ".codex/agents"), ("gemini", ".gemini/agents")];
    for (client, folder) in folders {
        plugin(&team, &["install", client]);
        let names = |folder: &str| {
            let entries = fs::read_dir(team.project().join(folder)).expect("roles").flatten();
            let mut names: Vec<String> =
                entries.map(|entry| entry.path().file_stem().expect("a name").to_string_lossy().into_owned()).collect();
            names.sort();
            names
        };
        assert_eq!(names(folder), ROLES, "{client}");
        // Another workflow has other roles: those that are gone are removed, those of the user are not.
        let own = team.project().join(folder).join("mine.md");
        fs::write(&own, "my own agent").expect("a file");
        let stale = plugin(&team, &["doctor", client, "--workflow", "feature"]);
        assert!(stale.stdout.contains("missing files"), "{stale}");
        plugin(&team, &["install", client, "--workflow", "feature"]);
        let now = names(folder);
        assert!(
            now.iter().any(|name| name == "frontend-developer") && !now.iter().any(|name| name == "qa_expert"),
            "{now:?}"
        );
        // In the plugin's own folder nothing is anybody else's.
        assert_eq!(own.exists(), client != "claude", "{client}");
    }
}

#[test]
fn nothing_is_written_before_it_is_shown_and_nothing_at_all_by_a_dry_run() {
    let team = Team::new("plugin-dry");
    for client in CLIENTS {
        let before = files(&home(&team));
        let dry = plugin(&team, &["install", client, "--dry-run"]);
        assert_eq!(dry.exit, 0, "{dry}");
        assert!(dry.stdout.contains("+++ b/") && dry.stdout.contains("nothing was written"), "{dry}");
        assert_eq!(files(&home(&team)), before, "{client}");
        let json: Json = team.ask(&["plugin", "install", client]).done();
        assert_eq!((&json["client"], &json["written"]), (&client.into(), &true.into()));
        for file in json["files"].as_array().expect("files") {
            let path = file["path"].as_str().expect("a path");
            assert!(
                Path::new(path).is_file() && file["diff"].as_str().is_some_and(|diff| diff.contains("+++ ")),
                "{file}"
            );
        }
    }
}

#[test]
fn settings_that_cannot_be_read_are_left_alone() {
    let team = Team::new("plugin-broken");
    let broken = [
        ("gemini", ".gemini/settings.json", "{ \"theme\": "),
        ("gemini", ".gemini/settings.json", "{ \"hooks\": [] }"),
        ("codex", ".codex/hooks.json", "[]"),
        ("codex", ".codex/config.toml", "= nothing"),
    ];
    for (client, file, text) in broken {
        let path = team.project().join(file);
        put(&path, text);
        let before = files(&home(&team));
        let refused = team.ask(&["plugin", "install", client]);
        assert_eq!((refused.exit, refused.code().as_str()), (4, "E0708"), "{refused}");
        assert!(refused.json()["error"]["message"].as_str().is_some_and(|message| message.contains(file)), "{refused}");
        assert_eq!(files(&home(&team)), before, "{file}: {text}");
        fs::remove_file(&path).expect("a file");
    }
}

#[test]
fn a_file_of_somebody_else_in_the_place_of_a_role_is_kept_and_named() {
    let team = Team::new("plugin-theirs");
    for (client, file) in [("codex", ".codex/agents/developer.toml"), ("gemini", ".gemini/agents/developer.md")] {
        let path = team.project().join(file);
        put(&path, "name = \"developer\"\n");
        let installed = plugin(&team, &["install", client]);
        assert!(installed.stdout.contains("kept ") && installed.stdout.contains(file), "{installed}");
        plugin(&team, &["uninstall", client]);
        assert_eq!(fs::read_to_string(&path).expect("kept"), "name = \"developer\"\n");
    }
}

#[test]
fn doctor_says_what_is_missing_and_how_to_mend_it() {
    let team = Team::new("plugin-doctor");
    let finding = |client: &str, what: &str| {
        let run = team.ask(&["plugin", "doctor", client]);
        let json = run.json();
        assert_eq!((run.exit == 0, &json["ok"]), (json["ok"] == true, &json["ok"]));
        let found =
            json["findings"].as_array().expect("findings").iter().find(|finding| finding["what"] == what).cloned();
        found.unwrap_or_else(|| panic!("{what} is not looked at: {json}"))
    };
    for client in CLIENTS {
        let before = finding(client, "files");
        assert_eq!(before["ok"], false, "{before}");
        assert!(before["help"].as_str().is_some_and(|help| help.contains("interlock plugin install")), "{before}");
        plugin(&team, &["install", client]);
        assert_eq!(finding(client, "files")["ok"], true);
        assert_eq!(finding(client, "program")["ok"], true);
        assert_eq!(finding(client, "store")["ok"], true);
    }
    // Codex has the consent that the installation has shown; the others trust a folder only when their user says so.
    assert_eq!(finding("codex", "consent")["ok"], true);
    assert_eq!(finding("gemini", "consent")["ok"], false);
    assert_eq!(finding("claude", "consent")["ok"], false);
    let hooks = team.project().join(".codex/hooks.json");
    let changed = fs::read_to_string(&hooks).expect("hooks").replace(" --hold", "");
    fs::write(&hooks, changed).expect("hooks");
    assert_eq!(finding("codex", "files")["ok"], false);
    fs::remove_file(home(&team).join(".codex/config.toml")).expect("consent");
    assert_eq!(finding("codex", "consent")["ok"], false);
    fs::remove_file(team.store()).expect("a store");
    assert_eq!(finding("codex", "store")["ok"], false);
}

#[test]
fn a_program_with_a_space_in_its_path_is_called_as_one_word() {
    let team = Team::new("plugin-space");
    let folder = home(&team).join("my programs");
    fs::create_dir_all(&folder).expect("a folder");
    let program = folder.join("interlock");
    fs::copy(env!("CARGO_BIN_EXE_interlock"), &program).expect("a copy");
    let mut command = std::process::Command::new(&program);
    command.args(["plugin", "install", "claude"]).env_clear().current_dir(team.project());
    command.env("HOME", home(&team)).env("XDG_CONFIG_HOME", team.config());
    assert_eq!(run(&mut command, "").exit, 0);
    let hooks = team.project().join(".claude/skills/interlock/hooks/hooks.json");
    let hooks: Json = serde_json::from_str(&fs::read_to_string(hooks).expect("hooks")).expect("JSON");
    let command = hooks["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().expect("a command").to_owned();
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", &command])
        .current_dir(team.project())
        .env("HOME", home(&team))
        .env("XDG_CONFIG_HOME", team.config());
    let payload = serde_json::json!({ "session_id": "c", "cwd": team.project(), "stop_hook_active": false });
    let called = run(&mut shell, &payload.to_string());
    assert_eq!((called.exit, called.stderr.as_str()), (0, ""), "{called}");
    // It is still ours to take out.
    let mut command = std::process::Command::new(&program);
    command.args(["plugin", "uninstall", "claude"]).env_clear().current_dir(team.project());
    command.env("HOME", home(&team)).env("XDG_CONFIG_HOME", team.config());
    assert_eq!(run(&mut command, "").exit, 0);
    assert!(!team.project().join(".claude").exists());
}
