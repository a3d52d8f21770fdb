//! The table in `docs/cheating.md` lists every test here, and no other.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../docs/cheating.md");

/// Every test of this crate but those of the page, as `module::name`.
fn tests() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cheats");
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let bodies = text.split("#[test]\nfn ").skip(1).filter(|_| module != "page");
        found.extend(bodies.map(|body| format!("{module}::{}", body.split('(').next().unwrap())));
    }
    found
}

fn rows() -> Vec<[&'static str; 4]> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| ") && line.contains("::"));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        cells.try_into().unwrap_or_else(|cells| panic!("four cells in {cells:?}"))
    })
    .collect()
}

#[test]
fn the_page_lists_every_cheat() {
    let rows = rows();
    let listed: BTreeSet<String> = rows.iter().map(|row| row[3].trim_matches('`').to_owned()).collect();
    assert_eq!(listed.len(), rows.len(), "no test stands in two rows");
    let tests = tests();
    assert!(tests.len() >= 45, "{} ways to cheat", tests.len());
    assert_eq!(listed, tests);
    for [way, outcome, code, test] in rows {
        assert!(!way.is_empty() && !outcome.is_empty() && !code.is_empty(), "{test}");
    }
}
