//! What the pages of `docs/errors/` show is what the program does.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::harness::Folder;

/// A fenced block that says of itself what comes of it.
struct Block {
    page: String,
    language: String,
    wrong: bool,
    /// `name=value`: options of the command.
    options: Vec<String>,
    text: String,
}

impl Block {
    fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }

    /// A failure, unless what was said is just what the page says: its own code, or nothing.
    fn unless_as_told(&self, said: &[&str]) -> Option<String> {
        let as_told = if self.wrong { said.contains(&self.page.as_str()) } else { said.is_empty() };
        let kind = if self.wrong { "wrong" } else { "right" };
        (!as_told).then(|| format!("{} ({kind}): {said:?}\n{}", self.page, self.text))
    }
}

fn blocks(language: &str) -> Vec<Block> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/errors");
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let page = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(info) = line.strip_prefix("```").map(|info| info.trim_start_matches('`')) else { continue };
            let fence = &line[..line.len() - info.len()];
            let text: String =
                lines.by_ref().take_while(|line| *line != fence).map(|line| format!("{line}\n")).collect();
            let mut words = info.split(' ');
            let (Some(of), Some(outcome @ ("wrong" | "right"))) = (words.next(), words.next()) else { continue };
            let options = words.map(str::to_owned).collect();
            all.push(Block { page: page.clone(), language: of.to_owned(), wrong: outcome == "wrong", options, text });
        }
    }
    all.retain(|block| block.language == language);
    all.sort_by(|a, b| (&a.page, a.wrong).cmp(&(&b.page, b.wrong)));
    all
}

fn codes(problems: &Json) -> Vec<&str> {
    problems.as_array().into_iter().flatten().filter_map(|problem| problem["code"].as_str()).collect()
}

#[test]
fn workflows_on_the_pages_do_what_the_pages_say() {
    let mut folder = Folder::new("pages_workflows");
    let mut failures = Vec::new();
    let mut checked = 0;
    for block in blocks("yaml") {
        folder = folder.with("mine.yaml", &block.text);
        let result = folder.interlock(&["check", "mine.yaml", "--json"]).json();
        let mut said = codes(&result["error"]["problems"]);
        said.extend(codes(&result["error"]["warnings"]));
        said.extend(codes(&result["warnings"]));
        failures.extend(block.unless_as_told(&said));
        checked += 1;
    }
    assert!(checked > 50, "only {checked} workflows were found");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The fewest fields of a handoff in this situation; the fragments on the pages are laid over it.
fn least(role: &str, phase: Option<&str>) -> Json {
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
        "handoff": { "next_agent": null, "context": "What the next one has to know." },
    })
}

fn laid_over(base: &mut Json, fragment: Json) {
    match (base, fragment) {
        (Json::Object(base), Json::Object(fragment)) => {
            for (key, value) in fragment {
                laid_over(base.entry(key).or_insert(Json::Null), value);
            }
        }
        (base, fragment) => *base = fragment,
    }
}

/// What an agent would have given in: a page shows the whole output, or only the fields that matter.
fn output_of(block: &Block) -> String {
    if block.language == "markdown" {
        return block.text.clone();
    }
    let fragment = serde_json::from_str(&block.text).unwrap_or_else(|error| panic!("{}: {error}", block.page));
    let mut handoff = least(block.option("role").expect("a page names the role"), block.option("phase"));
    laid_over(&mut handoff, fragment);
    handoff.to_string()
}

#[test]
fn handoffs_on_the_pages_do_what_the_pages_say() {
    let mut folder = Folder::new("pages_handoffs");
    let blocks: Vec<Block> = ["json", "markdown"].into_iter().flat_map(blocks).collect();
    assert!(blocks.len() > 40, "only {} handoffs were found", blocks.len());
    let mut failures = Vec::new();
    for block in &blocks {
        folder = folder.with("output.md", output_of(block));
        let mut arguments = vec!["handoff".to_owned(), "check".to_owned(), "output.md".to_owned(), "--json".to_owned()];
        arguments.extend(block.options.iter().map(|option| format!("--{option}")));
        if block.option("workflow").is_none() {
            arguments.push("--workflow=delivery-team".to_owned());
        }
        let result = folder.interlock(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).json();
        let mut said = codes(&result["problems"]);
        said.extend(codes(&result["warnings"]));
        said.dedup();
        failures.extend(
            block.unless_as_told(&said).or_else(|| {
                (said.len() > 1).then(|| format!("{} shows more than its own mistake: {said:?}", block.page))
            }),
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
