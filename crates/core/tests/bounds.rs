//! Every cycle of a workflow is counted by a loop, or the workflow is refused.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "tests and benchmarks are not the core")]

use interlock_core::bounds::{dead_ends, unbounded_cycles};
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
fn built_in_workflows_have_no_unbounded_cycle_and_no_dead_end() {
    for builtin in BUILTINS {
        let loaded = load_builtin(builtin.name).unwrap();
        if loaded.is_abstract {
            continue;
        }
        let workflow = loaded.workflow.unwrap();
        let problems = [unbounded_cycles(&workflow), dead_ends(&workflow)].concat();
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

const LAST_PER_SESSION: &str = "
workflow: w
language: 1
roles: { builder: { is: [author] }, closer: {} }
phases:
  - { phase: build, role: builder }
  - { phase: close, per: session, role: closer }
routes: { any: { complete: { advance: phase } } }
gates: { g: { run: [make], fail: FAIL } }
completion: { group: { gates: [g] } }
";

#[test]
fn completion_gate_after_last_session_phase_is_reported_without_loop() {
    let found = cycles(&LAST_PER_SESSION.replace("FAIL", "{ goto: build }"));
    assert_eq!(found, ["no loop bounds this cycle: builder complete → gate `g` fail → builder"]);
    let bounded = LAST_PER_SESSION.replace("FAIL", "{ goto: build, loop: proving }");
    assert_eq!(cycles(&format!("{bounded}loops: {{ proving: 2 }}\n")), [""; 0]);
}

#[test]
fn way_back_across_session_phase_is_reported_unless_that_phase_is_counted() {
    let text = "
workflow: w
language: 1
roles: { builder: { is: [author] }, lead: {}, tester: {} }
phases:
  - { phase: build, role: builder }
  - { phase: look, per: session, role: lead }
  - { phase: test, role: tester }
routes:
  any: { complete: { advance: phase } }
  tester: { wrong: { goto: build } }
";
    let found = cycles(text);
    assert_eq!(found, ["no loop bounds this cycle: builder complete → tester wrong → builder"]);
    let counted = text.replace("  tester:", "  lead: { complete: { advance: phase, loop: looking } }\n  tester:");
    assert_eq!(cycles(&format!("{counted}loops: {{ looking: 2 }}\n")), [""; 0]);
}

#[test]
fn every_cycle_of_a_knot_is_reported_at_once() {
    let text = "
workflow: w
language: 1
roles: { builder: { is: [author] }, tester: {} }
phases:
  - { phase: build, role: builder }
  - { phase: test, role: tester }
routes:
  any: { complete: { advance: phase } }
  builder: { again: { goto: build } }
  tester: { wrong: { goto: build }, worse: { goto: build } }
";
    let found = cycles(text);
    for part in ["builder again → builder", "tester wrong → builder", "tester worse → builder"] {
        assert!(found.iter().any(|message| message.ends_with(part)), "{part}: {found:#?}");
    }
    assert_eq!(found.len(), 3, "{found:#?}");
}

/// The messages about dead ends of a workflow that loads without errors.
fn dead(text: &str) -> Vec<String> {
    let loaded = load("w.yaml", text, &|_| None);
    let workflow = loaded.workflow.unwrap_or_else(|| panic!("{:#?}", loaded.problems));
    let problems = dead_ends(&workflow);
    assert!(problems.iter().all(|problem| problem.code == Code::DeadEnd && problem.at.is_some()));
    problems.into_iter().map(|problem| problem.message).collect()
}

#[test]
fn author_that_a_completion_gate_sends_back_works_in_its_phase() {
    let text = LAST_PER_SESSION.replace("FAIL", "{ respawn: author }");
    assert_eq!(cycles(&text), ["no loop bounds this cycle: builder complete → gate `g` fail → builder"]);
    assert_eq!(dead(&text), [""; 0]);
}

#[test]
fn role_without_a_status_that_leads_on_is_reported() {
    let outside = LAST_PER_SESSION.replace("FAIL", "{ spawn: closer }");
    assert_eq!(dead(&outside), ["closer has work outside of every phase and has no status that leads on"]);
    let silent = "
workflow: w
language: 1
roles: { builder: { is: [author] }, mute: {} }
phases: [{ phase: build, role: builder }, { phase: look, role: builder }]
routes: { builder: { complete: { advance: phase }, odd: { spawn: mute } } }
";
    let found = dead(silent);
    let mute = "mute has work in phase `build` and has no status that leads on";
    assert!(found.iter().any(|message| message == mute), "{found:#?}");
}

#[test]
fn completion_that_always_lacks_its_evidence_is_reported() {
    let text = "
workflow: w
language: 1
roles: { planner: {}, writer: { is: [author] }, helper: {} }
begin: { spawn: planner }
groups: { begin: { spawn: writer }, ended: { spawn: planner } }
completion: { group: { needs: [w] } }
loops: { p: 3 }
routes:
  planner: { PLANNED: { start: groups, loop: p }, DONE: { end: session } }
  writer: { OK: { complete: group } }
  helper: { A: { spawn: author, passes: [w] } }
";
    assert_eq!(dead(text), ["writer has work and can only complete the group, which needs `w`"]);
    assert_eq!(dead(&text.replace("{ OK: {", "{ HELP: { spawn: helper, loop: p }, OK: {")), [""; 0]);
}

#[test]
fn session_phase_that_is_left_uncounted_by_another_way_bounds_nothing() {
    let text = "
workflow: w
language: 1
roles: { builder: { is: [author] }, lead: {}, deputy: {}, tester: {} }
phases:
  - { phase: build, role: builder }
  - { phase: look, per: session, role: lead }
  - { phase: test, role: tester }
routes:
  any: { complete: { advance: phase } }
  lead: { complete: { advance: phase, loop: looking }, pass_on: { spawn: deputy } }
  tester: { wrong: { goto: build } }
loops: { looking: 2 }
";
    assert_eq!(cycles(text), ["no loop bounds this cycle: builder complete → tester wrong → builder"]);
    assert_eq!(cycles(&text.replace(", pass_on: { spawn: deputy }", "")), [""; 0]);
}
