//! The language of the error pages: words that are retired stay out, and every page has the same sections.
//!
//! Only prose is checked. Blocks show what the program prints and what users write.

use super::fence::{ErrorPage, read_error_pages};

/// A retired word or phrase, and the word that replaces it.
const RETIRED: &[(&[&str], &str)] = &[
    (&["give in", "gives in", "giving in", "given in", "gave in"], "submit"),
    (&["hand in", "hands in", "handing in", "handed in"], "submit"),
    (&["take in", "takes in", "taking in", "taken in", "took in"], "accept"),
    (&["mend", "mends", "mending", "mended"], "fix"),
    (&["put right", "puts right"], "repair"),
    (&["anew"], "again"),
    (&["told", "said", "asked", "came of it", "comes of it", "come of it"], "reported, recorded, result"),
    (&["nobody", "nobody's", "somebody", "somebody's"], "the role or the person, by name"),
    (&["whoever", "whatever"], "the role, person or thing, by name"),
    (&["climb", "climbs", "climbed", "rung", "rungs"], "escalate"),
    (&["stand in for", "stands in for"], "override"),
    (&["passage", "passages"], "iteration"),
];

/// The prose of a page as single words in lower case, without blocks and inline code.
fn prose_words(page: &ErrorPage) -> String {
    let mut lines: Vec<&str> = page.text.lines().collect();
    for block in page.blocks.iter().rev() {
        lines.drain(block.first_line - 1..(block.first_line + block.line_count + 1).min(lines.len()));
    }
    let text = lines.join(" ");
    let outside_code: Vec<&str> = text.split('`').step_by(2).collect();
    let lower = outside_code.join(" ` ").to_lowercase();
    let words = lower.split(|character: char| !character.is_alphanumeric() && character != '\'');
    format!(" {} ", words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
}

fn retired_words_on(page: &ErrorPage) -> Vec<String> {
    let words = prose_words(page);
    let mut found = Vec::new();
    for (retired, replacement) in RETIRED {
        for word in retired.iter().filter(|word| words.contains(&format!(" {word} "))) {
            found.push(format!("{}: `{word}` is retired; write: {replacement}", page.code));
        }
    }
    found
}

#[test]
fn prose_of_error_pages_has_no_retired_words() {
    let found: Vec<String> = read_error_pages().iter().flat_map(retired_words_on).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn error_pages_have_an_example_and_a_fix() {
    let mut missing = Vec::new();
    for page in read_error_pages() {
        let headings: Vec<&str> = page.text.lines().filter(|line| line.starts_with("## ")).collect();
        for heading in ["## Example", "## How to fix it"] {
            if !headings.contains(&heading) {
                missing.push(format!("{} has no section `{heading}`", page.code));
            }
        }
        for heading in headings.iter().filter(|heading| !["## Example", "## How to fix it", "## Why"].contains(heading))
        {
            missing.push(format!("{} has another section: `{heading}`", page.code));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn retired_words_in_prose_are_found_and_in_blocks_are_not() {
    let page = |text: &str| ErrorPage {
        code: "E0000".to_owned(),
        path: std::path::PathBuf::new(),
        text: text.to_owned(),
        blocks: super::fence::parse_blocks(text),
    };
    assert_eq!(retired_words_on(&page("Give\nin, and mend it.\n")).len(), 2);
    assert!(retired_words_on(&page("Fix it.\n\n```console\nnobody mends it\n```\n\nUse `told`.\n")).is_empty());
}
