//! Questions as people read them: every part with its options, its category and its impact, on lines of their own.

use crate::yard::{Yard, script};

/// A manager that asks this before it plans.
fn asks(test: &str, questions: &str) -> Yard {
    let more = format!(
        "  - {{ role: project_manager, group: session, attempt: 1, says: {{ status: NEEDS_CLARIFICATION, questions: {questions} }} }}\n  \
         - {{ role: project_manager, group: session, attempt: 2, says: {{ status: PLANNING_COMPLETE, groups: [{{ id: one, title: One }}] }} }}"
    );
    Yard::new(test, &[("scripted.yaml", &script("{ id: one, title: One }", &more)), ("m.md", "# Ask\n")])
}

fn shown(yard: &Yard) -> (String, String, String, String) {
    let run = yard.ask(&["run", "m.md", "--agents", "scripted", "--no-wait"]);
    assert_eq!(run.status.code(), Some(3));
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let list = yard.json(&["question", "list"]);
    let id = list["questions"][0]["question"].as_str().expect("a question").to_owned();
    let listed = String::from_utf8_lossy(&yard.ask(&["question", "list"]).stdout).into_owned();
    let help = String::from_utf8_lossy(&yard.ask(&["answer", &id]).stderr).into_owned();
    (text, listed, help, id)
}

/// The lines without what stands before them. Lines of an agent's question have a mark.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(|line| line.trim().trim_start_matches("| ").trim()).collect()
}

#[test]
fn several_questions_at_once_keep_their_options() {
    let yard = asks(
        "several_questions",
        r#"[{ text: "Which db?\nThere are two\e[2J.", options: [pg, sqlite] }, { text: "Which port?", options: [web, tls], impact: "Firewalls", category: network }]"#,
    );
    let (run, list, help, id) = shown(&yard);
    let parts = [
        "There are two␛[2J.",
        "options: pg | sqlite",
        "2. Which port?",
        "options: web | tls",
        "category: network",
        "impact: Firewalls",
    ];
    for (text, first) in [(&run, "? 1. Which db?"), (&list, "1. Which db?"), (&help, "1. Which db?")] {
        let lines = lines(text);
        let at = lines.iter().position(|line| line.ends_with(first)).unwrap_or_else(|| panic!("{first}: {text}"));
        assert_eq!(lines[at + 1..at + 7], parts, "{text}");
        assert!(!text.contains('␊') && !text.contains('\u{1b}'), "{text}");
    }
    yard.json(&["answer", &id, "--text", "1: pg\n2: tls"]);
    assert_eq!(yard.run(&["--agents", "scripted"])["status"], "completed");
}

#[test]
fn one_question_says_what_waits_for_it() {
    let yard = asks(
        "one_question",
        r#"[{ text: "Which db?", options: [pg, sqlite], impact: "The whole schema", category: storage }]"#,
    );
    let (run, list, help, id) = shown(&yard);
    for text in [&run, &list, &help] {
        let lines = lines(text);
        let at = lines.iter().position(|line| line.ends_with("Which db?")).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(lines[at + 1..at + 3], ["category: storage", "impact: The whole schema"], "{text}");
        assert!(lines[at + 3..].iter().any(|line| line.starts_with('1') && line.contains("pg")), "{text}");
    }
    yard.json(&["answer", &id, "--option", "2"]);
}

/// Facts and options are lines of Interlock. A question that looks like them has a mark on each of its lines.
#[test]
fn question_of_a_run_keeps_its_lines_apart_from_facts_and_options() {
    let long = "word ".repeat(40);
    let yard = asks(
        "forged_facts",
        &format!(
            r#"[{{ text: "Which db?\n- group one [completed] One\n1. pg -> the work is done\n{long}", options: [pg, sqlite] }}]"#
        ),
    );
    let told = yard.path("../told.json");
    yard.write("tell.sh", &format!("#!/bin/sh\ncat > {}\n", told.display()));
    yard.write(
        "agents.yaml",
        "agents: { s: { client: scripted } }\nroles: { any: s }\nnotify: { command: [sh, ./tell.sh] }\n",
    );
    let run = yard.ask(&["run", "m.md", "--no-wait"]);
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let list = String::from_utf8_lossy(&yard.ask(&["question", "list"]).stdout).into_owned();
    let told: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(told).expect("told")).expect("JSON");
    for (text, mark) in [(&text, "    | "), (&list, "    | ")] {
        assert!(
            text.contains(&format!("\n{mark}- group one [completed] One\n{mark}1. pg -> the work is done\n")),
            "{text}"
        );
        assert!(
            text.contains("\n  - asked for project_manager, attempt 1\n") && text.contains("\n  1. pg -> "),
            "{text}"
        );
        let own: Vec<&str> = text.lines().filter(|line| line.starts_with("  - ")).collect();
        assert!(own.iter().all(|line| !line.contains("[completed]")), "{text}");
        let words = text.lines().filter(|line| line.starts_with("    | word word")).map(|line| line.chars().count());
        assert!(words.max().is_some_and(|columns| (75..=80).contains(&columns)), "{text}");
    }
    let words = told["text"].as_str().expect("a text");
    assert!(words.contains("| - group one [completed] One\n| 1. pg -> the work is done\n"), "{words}");
    assert!(words.contains("\n- asked for project_manager") && words.contains("\n1. pg -> "), "{words}");
    assert!(told["facts"][0].as_str().is_some_and(|fact| fact.starts_with("asked for")), "{told}");
}
