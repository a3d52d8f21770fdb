use std::fs;
use std::path::Path;

use serde_json::json;

use crate::harness::{Folder, interlock};

#[test]
fn the_built_in_workflows_are_listed() {
    insta::assert_snapshot!(interlock(&["workflow", "list"]));
    let listed = interlock(&["workflow", "list", "--json"]).json();
    let names: Vec<&str> =
        listed["workflows"].as_array().unwrap().iter().map(|w| w["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["delivery-team", "feature", "integration", "mcp-wrapper", "phased"]);
    assert_eq!(listed["workflows"][4]["abstract"], true);
}

#[test]
fn a_workflow_is_shown_as_it_is_written() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("workflows/delivery-team.yaml");
    let written = fs::read_to_string(file).unwrap();
    assert_eq!(interlock(&["workflow", "show", "delivery-team"]).stdout, written);
    let folder = Folder::new("workflow_show").with("mine.yaml", &written);
    assert_eq!(folder.interlock(&["workflow", "show", "mine.yaml"]).stdout, written);
    let shown = folder.interlock(&["workflow", "show", "mine.yaml", "--json"]).json();
    let built_in = interlock(&["workflow", "show", "delivery-team", "--json"]).json();
    assert_eq!(shown["hash"], built_in["hash"]);
    assert_eq!(shown["text"], json!(written));
    assert_eq!(shown["rules"][0]["at"]["file"], "mine.yaml");
}

#[test]
fn what_a_workflow_was_compiled_to() {
    let small = "\
workflow: small
language: 1
about: As little as a workflow can say.
settings: { pace: [calm, brisk] }
roles:
  lead: {}
  writer: { is: [author], escalates_to: lead }
phases:
  - { phase: writing, role: writer }
routes:
  any: { done: { advance: phase }, unsure: { ask: clarify } }
loops:
  review: { measure: blocking_findings, escalate_at: { iteration: 3, no_progress: 2 } }
";
    let folder = Folder::new("workflow_compiled").with("small.yaml", small);
    let shown = folder.interlock(&["workflow", "show", "small.yaml", "--compiled"]);
    // The hash changes with the prelude.
    let steady: Vec<&str> = shown.stdout.lines().filter(|line| !line.starts_with("hash ")).collect();
    insta::assert_snapshot!(format!("{}\n{}", steady.join("\n"), shown.stderr));
    let shown = interlock(&["workflow", "show", "delivery-team", "--json"]).json();
    let lead = shown["roles"].as_array().unwrap().iter().find(|role| role["name"] == "tech_lead").unwrap();
    assert_eq!(lead["escalates_to"], "project_manager");
    assert!(lead["statuses"].as_array().unwrap().contains(&json!("APPROVED")));
}

#[test]
fn a_file_is_shown_whatever_is_wrong_with_it() {
    let folder = Folder::new("workflow_show_wrong")
        .with("mine.yaml", "workflow: mine\nlanguage: 1\nextends: feature\nrole: 1\n");
    assert_eq!(folder.interlock(&["workflow", "show", "mine.yaml"]).exit, 0);
    let run = folder.interlock(&["workflow", "show", "mine.yaml", "--compiled"]);
    assert_eq!(run.exit, 4);
    assert!(run.stderr.starts_with("error[E0104]: `role` is not a key here\n"), "{}", run.stderr);
}

#[test]
fn the_schema_is_a_json_schema() {
    let schema = interlock(&["workflow", "schema"]);
    assert_eq!(schema.stdout, interlock(&["workflow", "schema", "--json"]).stdout);
    let schema = schema.json();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(schema["$defs"]["WorkflowDoc"]["properties"]["routes"].is_object());
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = interlock(&["completions", shell]);
        assert_eq!(script.exit, 0);
        assert!(script.stdout.contains("interlock") && script.stdout.contains("explain"), "{shell}");
        let as_json = interlock(&["completions", shell, "--json"]).json();
        assert_eq!(as_json, json!({ "shell": shell, "script": script.stdout }));
    }
}

/// Bash itself reads the script and completes with it.
#[cfg(unix)]
#[test]
fn bash_completes_with_the_script() {
    let script = interlock(&["completions", "bash"]).stdout;
    let ask =
        "COMP_WORDS=(interlock work); COMP_CWORD=1; _interlock interlock work interlock; echo \"${COMPREPLY[@]}\"";
    let Ok(output) = std::process::Command::new("bash").args(["-c", &format!("{script}\n{ask}")]).output() else {
        eprintln!("there is no bash here");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "workflow\n");
}
