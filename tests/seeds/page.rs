//! `docs/conformance.md` lists every test of the five documents, and nothing else.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The headings of the page, and the modules that they stand for.
const DOCUMENTS: &[(&str, &str)] = &[
    ("Blocked agent routing", "blocked_routing"),
    ("BLOCKED status handling", "blocked_status"),
    ("Integration agent handoffs", "integration_handoffs"),
    ("Workflow routing reference", "routing_reference"),
    ("MCP wrapper agent handoffs", "wrapper_handoffs"),
];

/// The tests of a module, without the path to them.
fn tests_of(module: &str) -> BTreeSet<String> {
    let this = env::current_exe().expect("this program");
    let output = Command::new(this).args(["--list", "--format", "terse"]).output().expect("the tests are listed");
    let list = String::from_utf8(output.stdout).expect("UTF-8");
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test")?.strip_prefix(module)?.strip_prefix("::"));
    let names: Vec<&str> = tests.map(|test| test.rsplit("::").next().unwrap_or(test)).collect();
    let unique: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(names.len(), unique.len(), "two tests of {module} have the same name");
    unique
}

/// The names in the last column of the tables below a heading.
fn listed(page: &str, heading: &str) -> BTreeSet<String> {
    let lines = page.lines().skip_while(|line| *line != format!("## {heading}")).skip(1);
    let rows = lines.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.trim_end_matches('|').rsplit('|').next());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[test]
fn docs_list_every_test() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/conformance.md");
    let page = fs::read_to_string(&file).expect("the page");
    for (heading, module) in DOCUMENTS {
        let (tests, listed) = (tests_of(module), listed(&page, heading));
        let missing: Vec<_> = tests.difference(&listed).collect();
        let gone: Vec<_> = listed.difference(&tests).collect();
        assert!(!tests.is_empty(), "{module} has tests");
        assert!(missing.is_empty() && gone.is_empty(), "{heading}: not listed {missing:#?}, not there {gone:#?}");
    }
}
