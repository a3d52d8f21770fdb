//! What the pages of `docs/errors/` show is what the program does.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use crate::harness::Folder;

/// A fenced block that says of itself what comes of it.
struct Block {
    page: String,
    language: String,
    wrong: bool,
    text: String,
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
            all.push(Block { page: page.clone(), language: of.to_owned(), wrong: outcome == "wrong", text });
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
        let page = block.page.as_str();
        let as_told = match block.wrong {
            true => said.contains(&page),
            false => said.is_empty(),
        };
        if !as_told {
            failures.push(format!(
                "{} ({}): {said:?}\n{}",
                block.page,
                if block.wrong { "wrong" } else { "right" },
                block.text
            ));
        }
        checked += 1;
    }
    assert!(checked > 50, "only {checked} workflows were found");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
