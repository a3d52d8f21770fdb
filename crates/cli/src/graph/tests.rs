//! The text formats of the built-ins, and names that mean harm.

use interlock_core::workflow::{Workflow, load, load_builtin};

use super::{GraphFormat, render};

pub(super) const NAMES: [&str; 4] = ["delivery-team", "feature", "integration", "mcp-wrapper"];

pub(super) fn built_in(name: &str) -> Workflow {
    load_builtin(name).expect("a built-in").workflow.expect("it loads")
}

pub(super) fn workflow(text: &str) -> Workflow {
    let loaded = load("test.yaml", text, &|_| None);
    let problems: Vec<String> = loaded.problems.iter().map(|problem| format!("{problem} {:?}", problem.at)).collect();
    loaded.workflow.unwrap_or_else(|| panic!("{problems:#?}"))
}

/// Every name in it is an attack on one of the formats.
pub(super) const HOSTILE: &str = r##"
workflow: "ho\"stile <script>alert(1)</script> `x` & 'y'"
language: 1
about: "one\ntwo <b>bold</b> & \"quoted\" \\N \\l ]]> --> end"
roles:
  "<script>alert(1)</script>": { is: [author], escalates_to: "quo\"te'd `tick`" }
  "quo\"te'd `tick`": {}
  "new\nline\\n\u0007": {}
  "- 1. list | pipe ; semi # hash": {}
  "end": {}
  "日本語の役割": {}
  "one name that goes on and on and never stops because somebody thought that this would be funny": {}
begin: { spawn: "end" }
groups: { begin: { spawn: "<script>alert(1)</script>" }, ended: { spawn: "end" } }
routes:
  "end":
    "go \"on\" <b>": { start: groups }
    "x|y": { spawn: "new\nline\\n\u0007" }
    fin: { end: session }
  "<script>alert(1)</script>":
    "`done`": { spawn: "- 1. list | pipe ; semi # hash" }
    "help\nme": { consult: "日本語の役割" }
  "- 1. list | pipe ; semi # hash":
    OK: { complete: group }
    "no\"]": { respawn: author }
  "日本語の役割":
    "わかりました": { return: blocked_agent }
    long: { spawn: "one name that goes on and on and never stops because somebody thought that this would be funny" }
"##;

#[test]
fn mermaid_of_the_built_ins() {
    for name in NAMES {
        insta::assert_snapshot!(format!("mermaid-{name}"), render(&built_in(name), GraphFormat::Mermaid));
    }
}

#[test]
fn dot_of_the_built_ins() {
    for name in NAMES {
        insta::assert_snapshot!(format!("dot-{name}"), render(&built_in(name), GraphFormat::Dot));
    }
}

/// The strings of a line, and what stands between them.
fn strings(line: &str, escapes: bool) -> (Vec<String>, String) {
    let (mut inside, mut outside) = (Vec::new(), String::new());
    let mut open: Option<String> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (&mut open, character) {
            (Some(text), '\\') if escapes => {
                text.push('\\');
                text.extend(characters.next());
            }
            (Some(_), '"') => inside.extend(open.take()),
            (Some(text), other) => text.push(other),
            (None, '"') => open = Some(String::new()),
            (None, other) => outside.push(other),
        }
    }
    assert_eq!(open, None, "a string that does not end: {line}");
    (inside, outside)
}

#[test]
fn no_name_gets_out_of_a_string_of_dot() {
    let dot = render(&workflow(HOSTILE), GraphFormat::Dot);
    let mut texts = String::new();
    for line in dot.lines() {
        let (inside, outside) = strings(line, true);
        let plain = |letter: char| letter.is_ascii_alphanumeric() || " _[]{}=,;->".contains(letter);
        assert!(outside.chars().all(plain), "{outside}");
        for text in inside {
            // Every backslash is an escape that we wrote: a break, a quote or a backslash.
            let unescaped = text.replace("\\\\", "").replace("\\\"", "").replace("\\n", "").replace("\\l", "");
            assert!(!unescaped.contains('\\'), "{text}");
            texts.push_str(&text);
        }
    }
    assert!(texts.contains("new line\\\\n "), "the name itself is kept: {texts}");
    assert!(texts.contains("<script>alert(1)</script>"));
}

#[test]
fn no_name_gets_out_of_a_string_of_mermaid() {
    let mermaid = render(&workflow(HOSTILE), GraphFormat::Mermaid);
    let mut lines = mermaid.lines();
    assert_eq!(lines.next(), Some("---"));
    let title = lines.next().and_then(|line| line.strip_prefix("title: ")).expect("a title");
    let title: String = serde_json::from_str(title).expect("a string that YAML reads as JSON does");
    assert!(title.starts_with("ho\"stile <script>"), "{title}");
    assert_eq!((lines.next(), lines.next()), (Some("---"), Some("flowchart TD")));
    for line in lines {
        let (inside, outside) = strings(line, false);
        let outside = outside.replace("<-.->", "");
        let plain = |letter: char| letter.is_ascii_alphanumeric() || " _[](){}:-.>=,|~#".contains(letter);
        assert!(outside.chars().all(plain), "{outside}");
        for text in inside {
            let text = text.replace("<br/>", " ");
            assert!(!text.contains(['<', '>', '`', '|', '&', '\\']), "{text}");
        }
    }
    assert!(mermaid.contains("#60;script#62;alert(1)#60;/script#62;"));
}

#[test]
fn ids_of_mermaid_are_no_words_of_its_own() {
    let mermaid = render(&workflow(HOSTILE), GraphFormat::Mermaid);
    assert!(mermaid.contains("  role_end[\"end\"]"), "{mermaid}");
    let words = ["end", "graph", "subgraph", "class", "classDef", "style", "click", "default"];
    for line in mermaid.lines().skip(4) {
        let first = line.trim().split([' ', '[', '(', '{']).next().unwrap_or_default();
        assert!(
            ["end", "subgraph", "linkStyle", "classDef", "class"].contains(&first) || !words.contains(&first),
            "{line}"
        );
    }
}
