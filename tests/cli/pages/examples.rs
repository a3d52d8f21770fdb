//! Blocks marked `wrong` report the code of their page; blocks marked `right` report nothing.

use serde_json::{Value as Json, json};

use super::fence::{FencedBlock, read_error_pages};
use crate::harness::Folder;

/// A block that is marked `wrong` or `right`.
struct MarkedExample {
    code: String,
    wrong: bool,
    block: FencedBlock,
}

impl MarkedExample {
    /// The failure message, unless the program reports the page's own code, or nothing for `right`.
    fn mismatch(&self, reported: &[&str]) -> Option<String> {
        let expected = if self.wrong { reported.contains(&self.code.as_str()) } else { reported.is_empty() };
        let kind = if self.wrong { "wrong" } else { "right" };
        (!expected).then(|| format!("{} ({kind}): {reported:?}\n{}", self.code, self.block.text))
    }
}

fn marked_examples(languages: &[&str]) -> Vec<MarkedExample> {
    let mut examples = Vec::new();
    for page in read_error_pages() {
        for block in page.blocks {
            let wrong = block.has_mark("wrong");
            if languages.contains(&block.language.as_str()) && (wrong || block.has_mark("right")) {
                examples.push(MarkedExample { code: page.code.clone(), wrong, block });
            }
        }
    }
    examples
}

fn reported_codes(problems: &Json) -> Vec<&str> {
    problems.as_array().into_iter().flatten().filter_map(|problem| problem["code"].as_str()).collect()
}

#[test]
fn workflow_examples_on_error_pages_report_their_code() {
    let mut folder = Folder::new("pages_workflows");
    let mut failures = Vec::new();
    let mut checked = 0;
    for example in marked_examples(&["yaml"]) {
        folder = folder.with("mine.yaml", &example.block.text);
        let result = folder.interlock(&["check", "mine.yaml", "--json"]).json();
        let mut reported = reported_codes(&result["error"]["problems"]);
        reported.extend(reported_codes(&result["error"]["warnings"]));
        reported.extend(reported_codes(&result["warnings"]));
        failures.extend(example.mismatch(&reported));
        checked += 1;
    }
    assert!(checked > 50, "only {checked} workflows were found");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The smallest handoff that a role may submit. Pages show only the fields that matter.
pub(super) fn minimal_handoff(role: &str, phase: Option<&str>) -> Json {
    let status = match (phase, role) {
        (Some(_), _) => "complete",
        (None, "tech_lead") => "APPROVED",
        (None, "project_manager") => "CONTINUE",
        (None, _) => "READY_FOR_QA",
    };
    json!({
        "agent": role,
        "output_type": "report",
        "timestamp": "2026-01-18T15:42:00Z",
        "feature_directory": ".output/example",
        "skills_invoked": [
            "persisting-agent-outputs", "gateway-typescript", "developing-with-tdd", "verifying-before-completion"
        ],
        "status": status,
        "handoff": { "next_agent": null, "context": "The login form is in src/login.rs; 12 tests cover it." },
    })
}

fn merge_fields(base: &mut Json, fragment: Json) {
    match (base, fragment) {
        (Json::Object(base), Json::Object(fragment)) => {
            for (key, value) in fragment {
                merge_fields(base.entry(key).or_insert(Json::Null), value);
            }
        }
        (base, fragment) => *base = fragment,
    }
}

/// The whole output of an agent: Markdown as it is, JSON merged into the smallest handoff of its role.
pub(super) fn agent_output(code: &str, block: &FencedBlock) -> String {
    let Some(role) = block.option("role").filter(|_| block.language == "json") else { return block.text.clone() };
    let fragment = serde_json::from_str(&block.text).unwrap_or_else(|error| panic!("{code}: {error}"));
    let mut handoff = minimal_handoff(role, block.option("phase"));
    merge_fields(&mut handoff, fragment);
    format!("{handoff:#}\n")
}

#[test]
fn handoff_examples_on_error_pages_report_their_code() {
    let mut folder = Folder::new("pages_handoffs");
    let examples = marked_examples(&["json", "markdown"]);
    assert!(examples.len() > 40, "only {} handoffs were found", examples.len());
    let mut failures = Vec::new();
    for example in &examples {
        let MarkedExample { code, block, .. } = example;
        folder = folder.with("output.md", agent_output(code, block));
        let mut arguments = vec!["handoff".to_owned(), "check".to_owned(), "output.md".to_owned(), "--json".to_owned()];
        arguments.extend(block.options.iter().map(|option| format!("--{option}")));
        if block.option("workflow").is_none() {
            arguments.push("--workflow=delivery-team".to_owned());
        }
        let result = folder.interlock(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).json();
        let mut reported = reported_codes(&result["problems"]);
        reported.extend(reported_codes(&result["warnings"]));
        reported.dedup();
        let more = || (reported.len() > 1).then(|| format!("{code} reports more than its own code: {reported:?}"));
        failures.extend(example.mismatch(&reported).or_else(more));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
