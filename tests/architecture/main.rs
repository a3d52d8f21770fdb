//! The walls between the crates are where ARCHITECTURE.md says.

mod words;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

const PAGE: &str = include_str!("../../ARCHITECTURE.md");

/// The crates of the workspace and what each depends on, without `interlock-` and without what only tests need.
fn crate_graph() -> BTreeMap<String, Vec<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let printed = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .expect("cargo runs");
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    let metadata: Json = serde_json::from_slice(&printed.stdout).expect("cargo prints JSON");
    let short = |name: &Json| {
        let name = name.as_str().expect("a name");
        name.strip_prefix("interlock-").unwrap_or(name).to_owned()
    };
    let packages = metadata["packages"].as_array().expect("packages");
    let edges = |package: &Json| {
        let all = package["dependencies"].as_array().expect("dependencies");
        let own = all.iter().filter(|one| one["kind"].is_null() && one["path"].is_string());
        let mut names: Vec<String> = own.map(|one| short(&one["name"])).collect();
        names.sort();
        names
    };
    packages.iter().map(|package| (short(&package["name"]), edges(package))).collect()
}

/// The graph of the page: `crate -> crates that it depends on`.
fn documented_graph() -> BTreeMap<String, Vec<String>> {
    let line = |line: &str| {
        let (name, needs) = line.split_once("->")?;
        Some((name.trim().to_owned(), needs.split_whitespace().map(str::to_owned).collect()))
    };
    let block = PAGE.split("```text\n").nth(1).expect("the page has the graph");
    block.split("```").next().expect("its end").lines().filter_map(line).collect()
}

#[test]
fn crate_graph_matches_the_architecture_page() {
    let (found, documented) = (crate_graph(), documented_graph());
    for (name, needs) in &found {
        assert_eq!(Some(needs), documented.get(name), "the edges of `{name}`: change the design, or ARCHITECTURE.md");
    }
    assert_eq!(found.len(), documented.len(), "crates of the page that do not exist: {documented:?}");
}

/// Front ends share what lies below them, and nothing else.
#[test]
fn front_ends_do_not_depend_on_each_other() {
    const FRONT_ENDS: [&str; 3] = ["hooks", "server", "cli"];
    for (name, needs) in crate_graph() {
        let known: Vec<&String> = needs.iter().filter(|need| FRONT_ENDS.contains(&need.as_str())).collect();
        // The command line starts the others.
        assert!(known.is_empty() || name == "cli" || name == "interlock", "{name} depends on {known:?}");
    }
}
