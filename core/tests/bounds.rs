//! Every cycle of a workflow is counted by a loop, or the workflow is refused.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "tests and benchmarks are not the core")]

use interlock_core::bounds::unbounded_cycles;
use interlock_core::code::Code;
use interlock_core::workflow::{BUILTINS, load, load_builtin};

/// The messages about cycles of a workflow that loads without errors.
fn cycles(text: &str) -> Vec<String> {
    let loaded = load("w.yaml", text, &|_| None);
    let workflow = loaded.workflow.unwrap_or_else(|| panic!("{:#?}", loaded.problems));
    let problems = unbounded_cycles(&workflow);
    assert!(problems.iter().all(|problem| problem.code == Code::UnboundedCycle && problem.at.is_some()));
    problems.into_iter().map(|problem| problem.message).collect()
}

#[test]
fn built_in_workflows_have_no_unbounded_cycle() {
    for builtin in BUILTINS {
        let loaded = load_builtin(builtin.name).unwrap();
        if loaded.is_abstract {
            continue;
        }
        let problems = unbounded_cycles(&loaded.workflow.unwrap());
        assert!(problems.is_empty(), "{}: {:#?}", builtin.name, problems);
    }
}

const TEAM: &str = "workflow: w\nlanguage: 1\nextends: delivery-team\n";

#[test]
fn way_back_without_loop_is_reported_with_its_cycle() {
    let text = format!("{TEAM}routes:\n  tech_lead:\n    POLISH: {{ respawn: author }}\n");
    let found = cycles(&text);
    assert!(found.iter().any(|message| message.ends_with(" → tech_lead POLISH → developer")), "{found:#?}");
}

#[test]
fn way_back_with_loop_is_sound() {
    let text = format!(
        "{TEAM}routes:\n  tech_lead:\n    POLISH: {{ respawn: author, loop: polishing }}\nloops: {{ polishing: 2 }}\n"
    );
    assert_eq!(cycles(&text), [""; 0]);
}

/// Every kind of way back, in a workflow whose other ways are bounded.
#[test]
fn each_verb_that_leads_back_is_reported_without_loop() {
    for (route, part) in [
        ("developer: { AGAIN: { respawn: self } }", "developer AGAIN → developer"),
        ("qa_expert: { BACK: { spawn: author } }", "qa_expert BACK → "),
        ("tech_lead: { HINT: { return: blocked_agent } }", "tech_lead (helping) HINT → "),
        ("tech_lead: { HINT: { consult: developer } }", "tech_lead (helping) HINT → developer (helping)"),
        ("project_manager: { MORE: { start: groups } }", "project_manager MORE → project_manager"),
        ("project_manager: { FINISHED: { validate: validator } }", "project_manager FINISHED → validator "),
    ] {
        let text = format!("{TEAM}routes:\n  {route}\n");
        let found = cycles(&text);
        assert!(found.iter().any(|message| message.contains(part)), "{route}: {found:#?}");
    }
}

const PHASED: &str = "
workflow: w
language: 1
roles:
  builder: { is: [author] }
  tester: {}
phases:
  - { phase: building, role: builder }
  - { phase: proof, gate: proof }
  - { phase: testing, role: tester }
routes:
  any:
    complete: { advance: phase }
    wrong: WRONG
gates:
  proof: { run: [make], fail: FAIL }
completion: { group: { gates: [proof] } }
LOOPS
";

fn phased(wrong: &str, fail: &str, loops: &str) -> String {
    PHASED.replace("WRONG", wrong).replace("FAIL", fail).replace("LOOPS", loops)
}

#[test]
fn goto_without_loop_is_reported() {
    let text = phased("{ goto: building }", "{ ask: clarify }", "");
    let found = cycles(&text);
    assert!(found.iter().any(|message| message.contains("builder wrong → builder")), "{found:#?}");
}

#[test]
fn failing_gate_without_loop_is_reported() {
    let text = phased("{ goto: building, loop: again }", "{ goto: building }", "loops: { again: 3 }");
    let found = cycles(&text);
    assert!(found.iter().any(|message| message.contains("gate `proof` fail → builder")), "{found:#?}");
}

#[test]
fn phases_whose_ways_back_are_counted_are_sound() {
    let text = phased("{ goto: building, loop: again }", "{ goto: building, loop: again }", "loops: { again: 3 }");
    assert_eq!(cycles(&text), [""; 0]);
}

/// A person answers `clarify`: the rounds are counted by the loop `clarifying` of every workflow.
#[test]
fn rounds_with_people_are_counted_by_default() {
    let text = phased("{ ask: clarify }", "{ ask: clarify }", "");
    assert_eq!(cycles(&text), [""; 0]);
}

const FLAGGED: &str = "
workflow: w
language: 1
roles:
  lead: {}
  builder: { is: [author] }
begin: { spawn: lead }
groups:
  flags: { kind: [code, research] }
  begin: { spawn: builder }
  ended: { spawn: lead }
routes:
  lead:
    PLANNED: { start: groups, loop: planning }
    DONE: { end: session }
    BACK: { when: { kind: SECOND }, spawn: author }
  builder:
    READY: { when: { kind: code }, spawn: lead }
    OK: { complete: group }
loops: { planning: 4 }
gates: { checks: { run: plan, fail: { respawn: author, loop: planning } } }
completion: { group: { gates: [checks] } }
";

#[test]
fn cycle_that_needs_two_values_of_one_flag_is_sound() {
    assert_eq!(cycles(&FLAGGED.replace("SECOND", "research")), [""; 0]);
    assert_eq!(cycles(&FLAGGED.replace("SECOND", "code")).len(), 1);
}

/// Many roles that all help each other: the orders of waiting are too many to explore, and the check still ends.
#[test]
fn check_of_a_workflow_with_many_consults_ends() {
    let roles: Vec<String> = (0..12).map(|n| format!("  r{n}: {{}}")).collect();
    let rows: Vec<String> = (0..12)
        .map(|n| {
            let others = (0..12).filter(|other| *other != n);
            let asks: Vec<String> = others.map(|other| format!("ASK_{other}: {{ consult: r{other} }}")).collect();
            format!("  r{n}: {{ {}, BACK: {{ return: blocked_agent, loop: helping }} }}", asks.join(", "))
        })
        .collect();
    let text = FLAGGED
        .replace("  lead: {}\n", &format!("  lead: {{}}\n{}\n", roles.join("\n")))
        .replace("routes:\n", &format!("routes:\n{}\n", rows.join("\n")))
        .replace("    OK:", "    HELP: { consult: r0 }\n    OK:")
        .replace("loops: {", "loops: { helping: 3,")
        .replace("SECOND", "research");
    assert_eq!(cycles(&text), [""; 0]);
    let free = text.replace("return: blocked_agent, loop: helping", "return: blocked_agent");
    assert!(!cycles(&free).is_empty());
}
