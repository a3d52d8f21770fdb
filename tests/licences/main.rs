//! Every crate that goes into the program comes under a licence that `deny.toml` allows.
//!
//! `cargo deny check licenses` reads the same list and looks at more (texts of licences, other platforms); it is long to
//! install, so this runs always, and that where it is at hand.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The list `allow` of `deny.toml`.
fn allowed() -> Vec<String> {
    let text = fs::read_to_string(root().join("deny.toml")).unwrap();
    let (_, rest) = text.split_once("allow = [").expect("deny.toml lists what is allowed");
    let (list, _) = rest.split_once(']').expect("the list ends");
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The crates that the program is built from, on this platform: those are all here, so nothing has to be fetched.
fn crates() -> Vec<Json> {
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo names its host");
    let metadata =
        cargo(&["metadata", "--format-version=1", "--locked", "--offline", &format!("--filter-platform={host}")]);
    let metadata: Json = serde_json::from_str(&metadata).unwrap();
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let mut used: Vec<&Json> = metadata["workspace_members"].as_array().unwrap().iter().collect();
    let mut done = 0;
    while let Some(id) = used.get(done) {
        let node = nodes.iter().find(|node| node["id"] == **id).expect("every crate has its place in the graph");
        for needed in node["deps"].as_array().unwrap().iter().filter(|needed| !for_tests_only(needed)) {
            if !used.contains(&&needed["pkg"]) {
                used.push(&needed["pkg"]);
            }
        }
        done += 1;
    }
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages.filter(|package| used.contains(&&package["id"])).cloned().collect()
}

/// What only tests need does not go into the program; cargo-deny passes over it too.
fn for_tests_only(needed: &Json) -> bool {
    needed["dep_kinds"].as_array().unwrap().iter().all(|kind| kind["kind"] == "dev")
}

/// An SPDX expression; `/` is how `OR` was once written.
struct Expression<'a> {
    words: Vec<&'a str>,
    allowed: &'a [String],
}

/// Does the list allow what the expression says?
fn allows(allowed: &[String], expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words: Vec<&str> = spaced.split_whitespace().collect();
    words.reverse();
    let mut expression = Expression { words, allowed };
    let result = expression.any();
    result && expression.words.is_empty()
}

impl Expression<'_> {
    fn next_is(&mut self, word: &str) -> bool {
        self.words.pop_if(|next| *next == word).is_some()
    }

    fn any(&mut self) -> bool {
        let mut result = self.every();
        while self.next_is("OR") {
            result |= self.every();
        }
        result
    }

    fn every(&mut self) -> bool {
        let mut result = self.one();
        while self.next_is("AND") {
            result &= self.one();
        }
        result
    }

    fn one(&mut self) -> bool {
        if self.next_is("(") {
            let result = self.any();
            return self.next_is(")") && result;
        }
        let mut licence = self.words.pop().unwrap_or_default().to_owned();
        if self.next_is("WITH") {
            licence = format!("{licence} WITH {}", self.words.pop().unwrap_or_default());
        }
        self.allowed.contains(&licence)
    }
}

#[test]
fn every_crate_has_a_licence_that_is_allowed() {
    let (allowed, crates) = (allowed(), crates());
    assert!(allowed.len() > 5 && crates.len() > 50, "{} licences, {} crates", allowed.len(), crates.len());
    let refused: Vec<String> = crates
        .iter()
        .filter(|item| !item["license"].as_str().is_some_and(|expression| allows(&allowed, expression)))
        .map(|item| format!("{} {}: {}", item["name"], item["version"], item["license"]))
        .collect();
    assert!(refused.is_empty(), "deny.toml does not allow:\n{}", refused.join("\n"));
}

#[test]
fn expressions_are_read_as_spdx_says() {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
    for fine in [
        "MIT",
        "GPL-3.0 OR MIT",
        "GPL-3.0/MIT",
        "MIT AND ISC",
        "(MIT OR GPL-3.0) AND ISC",
        "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        "GPL-3.0 AND GPL-2.0 OR MIT",
    ] {
        assert!(allows(&allowed, fine), "{fine}");
    }
    for not in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT AND GPL-3.0) OR GPL-2.0",
        "Apache-2.0",
        "MIT WITH LLVM-exception",
        "MIT ISC",
        "(MIT",
        "MIT AND (GPL-3.0 OR GPL-2.0)",
    ] {
        assert!(!allows(&allowed, not), "{not}");
    }
}
