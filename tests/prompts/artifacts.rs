//! Every claimed artifact reaches later roles as it was claimed, whatever else has its name.

use std::fs;

use serde_json::json;

use crate::scene::{Scene, with_context};

/// The lines of the list of artifacts in a prompt.
fn artifacts(prompt: &str) -> Vec<&str> {
    let (_, list) = prompt.split_once("artifacts:\n").expect("a list of artifacts");
    list.lines().take_while(|line| line.starts_with("- ")).map(|line| &line[2..]).collect()
}

#[test]
fn claimed_artifacts_are_listed_beside_documents_of_the_same_name() {
    let scene = Scene::start("prompts-artifacts", "delivery-team");
    for folder in ["docs", "src"] {
        fs::create_dir_all(scene.team.project().join(folder)).expect("a folder");
        fs::write(scene.team.project().join(folder).join("a.md"), "Of the project").expect("a file");
    }
    let groups = json!({ "groups": [{ "id": "A", "title": "A" }] });
    scene.plays("project_manager", "-", "PLANNING_COMPLETE", "One group.", groups);
    let developer = scene.desk("developer", "A");
    for folder in ["x", "y"] {
        fs::create_dir_all(developer.output.join(folder)).expect("a folder");
        developer.leave(&format!("{folder}/s.md"), "A schema");
    }
    developer.leave("a.md", "A document");
    let claimed = json!([
        "docs/a.md",
        "src/a.md",
        "OUTPUT_DIRECTORY/x/s.md",
        ".features/f/y/s.md",
        ".features/f/z/s.md",
        "q/a.md",
        "gone.md",
        "a.md"
    ]);
    let more = json!({ "artifacts": claimed, "feature_directory": ".features/f" });
    scene.report(&developer, "READY_FOR_QA", with_context("Ready with documents.", more));
    let qa = scene.desk("qa_expert", "A");
    let output = developer.output.display().to_string();
    let expected = [
        format!("{output}/a.md"),
        format!("{output}/x/s.md"),
        format!("{output}/y/s.md"),
        "docs/a.md".to_owned(),
        "src/a.md".to_owned(),
        format!("OUTPUT_DIRECTORY/x/s.md ({output}/x/s.md)"),
        format!(".features/f/y/s.md ({output}/y/s.md)"),
        format!(".features/f/z/s.md (claimed; s.md is in {output}/x/s.md and {output}/y/s.md)"),
        format!("q/a.md (claimed; a.md is in {output}/a.md)"),
        "gone.md (claimed, but not found)".to_owned(),
    ];
    assert_eq!(artifacts(&qa.prompt), expected, "{}", qa.prompt);
}
