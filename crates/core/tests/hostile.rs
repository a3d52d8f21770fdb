//! A short run of what the fuzz targets do: broken files, hostile expressions, and
//! whatever can be made of the built-in workflows by cutting and doubling.

use interlock_core::handoff::{ExpectedHandoff, OrchestrationMode, check, extract};
use interlock_core::workflow::{AssignmentTask, BUILTINS, load};
use proptest::prelude::*;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// A built-in workflow, spoilt: a piece cut out, doubled, or replaced by something sharp.
fn spoilt() -> impl Strategy<Value = String> {
    let sharp = prop_oneof![
        Just(String::new()),
        Just("[".repeat(200)),
        Just("{ a: { a: ".repeat(50)),
        Just("&a [*a, *a]".to_owned()),
        Just("999999999999999999999999".to_owned()),
        Just("null".to_owned()),
        Just("\u{0}\u{feff}\u{202e}".to_owned()),
        Just("? - : |\n".to_owned()),
        "[a-z_{}:\\[\\], ]{0,40}",
    ];
    (0..BUILTINS.len(), any::<u16>(), 0usize..300, sharp).prop_map(|(which, at, length, sharp)| {
        let text: Vec<char> = BUILTINS[which].text.chars().collect();
        let at = usize::from(at) % text.len();
        let end = (at + length).min(text.len());
        let (head, tail): (String, String) = (text[..at].iter().collect(), text[end..].iter().collect());
        format!("{head}{sharp}{tail}")
    })
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn a_spoilt_workflow_loads_or_says_why(text in spoilt()) {
        let loaded = load("spoilt.yaml", &text, &|_| None);
        prop_assert!(loaded.workflow.is_some() || !loaded.problems.is_empty());
    }

    #[test]
    fn any_text_is_a_workflow_or_says_why(text in "\\PC{0,400}") {
        let loaded = load("any.yaml", &text, &|_| None);
        prop_assert!(loaded.workflow.is_some() || !loaded.problems.is_empty());
    }

    #[test]
    fn any_expression_gives_a_value_or_an_error(text in "[a-z0-9.()!&|<>=?: '\\[\\]+*/%-]{0,120}") {
        let quoted = text.replace('\'', "''");
        let file = format!(
            "workflow: t\nlanguage: 1\nextends: delivery-team\nfacts:\n  derived: {{ values: [false, true], cel: 'handoff.a {quoted}' }}\n"
        );
        if let Some(workflow) = load("t.yaml", &file, &|_| None).workflow {
            let handoff = r#"{"agent":"developer","status":"PARTIAL","a":[1,2.5,"x",{"b":null}],"handoff":{"context":"c"}}"#;
            let extracted = extract("h.json", handoff.as_bytes()).expect("it is JSON");
            let expect =
                ExpectedHandoff { role: None, phase: None, task: AssignmentTask::Work, context: OrchestrationMode::Orchestrated, groups: &[] };
            check(Some(&workflow), &expect, &extracted);
        }
    }
}

/// Time is bounded by size: each of these would be minutes, or the stack, if it were not.
#[test]
fn sharp_files_end_soon() {
    let bombs = [
        "[".repeat(1_000_000),
        "{a: ".repeat(250_000),
        "- ".repeat(500_000),
        "a: &a [x]\n".to_owned() + &"b: *a\n".repeat(100_000),
        "? ".repeat(500_000),
        format!("workflow: t\nlanguage: 1\nabout: {}\n", "x".repeat(900_000)),
        format!("workflow: t\nlanguage: {}\n", "9".repeat(100_000)),
        "\"".repeat(900_000),
        "|\n".repeat(400_000),
    ];
    for bomb in &bombs {
        let loaded = load("bomb.yaml", bomb, &|_| None);
        assert!(loaded.workflow.is_none() && !loaded.problems.is_empty());
    }
}

/// A megabyte of rows, such that every one concerns every other.
#[test]
fn files_that_multiply_are_refused_before_they_do() {
    let many = |count: usize, line: fn(usize) -> String| (0..count).map(line).collect::<String>();
    let head = "workflow: t\nlanguage: 1\nextends: ";
    let phases = many(800, |n| format!("  - {{ phase: p{n}, role: backend-developer }}\n"))
        + "  - { phase: implementation, role: backend-developer }\n";
    let roles = many(20_000, |n| format!("  r{n}: {{}}\n"));
    let statuses = |count| many(count, |n| format!("    S{n}: {{ respawn: self, loop: retry }}\n"));
    let advancing = many(10_000, |n| format!("    S{n}: {{ advance: phase }}\n"));
    for text in [
        format!("{head}phased\nphases:\n{phases}routes:\n  any:\n{advancing}"),
        format!("{head}delivery-team\nroles:\n{roles}"),
        format!("{head}delivery-team\nroutes:\n  any:\n{}", statuses(15_000)),
        format!("{head}delivery-team\nloops:\n{}", many(30_000, |n| format!("  l{n}: 3\n"))),
        format!("{head}delivery-team\naliases:\n{}", many(30_000, |n| format!("  a{n}: APPROVED\n"))),
        format!(
            "{head}delivery-team\nquestions:\n{}",
            many(9_000, |n| format!("  q{n}: {{ text: t, answer: {{ redo: work }} }}\n"))
        ),
    ] {
        let loaded = load("many.yaml", &text, &|_| None);
        assert!(loaded.workflow.is_none());
        let codes: Vec<&str> = loaded.problems.iter().map(|problem| problem.code.number()).collect();
        assert_eq!(codes, ["E0107"], "{}", &text[..60]);
    }
}
