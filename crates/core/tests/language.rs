//! The mistakes that a workflow file may not contain: each has its code, and the correct file loads.

use interlock_core::workflow::load;

/// A workflow without phases that loads; each test breaks one thing.
const SOUND: &str = r#"
workflow: sound
language: 1
settings: { mode: [a, b] }
roles:
  lead: {}
  maker: { is: [author], escalates_to: lead }
  judge: { by: interlock }
begin: { spawn: lead }
groups:
  begin: { spawn: maker }
  ended: { spawn: lead }
routes:
  lead:
    PLAN: { start: groups, loop: planning }
    FINE: { merge: author, passes: [review] }
    BACK: { respawn: author, loop: review }
    OVER: { validate: judge, loop: planning }
  maker:
    DONE: { spawn: lead }
  judge:
    ACCEPT: { end: session }
    REJECT: { spawn: lead }
merge:
  MERGED: { complete: group, passes: [merge] }
loops:
  planning: 5
  review: { measure: blocking_findings, escalate_at: { iteration: 3 } }
gates:
  lint: { run: [make, lint], fail: { respawn: author, loop: review } }
  planned: { run: plan, fail: { respawn: author, loop: review } }
completion:
  group: { needs: [merge, review], gates: [lint, planned] }
"#;

/// Of errors and warnings.
fn codes(text: &str) -> Vec<&'static str> {
    load("t.yaml", text, &|_| None).problems.iter().map(|problem| problem.code.number()).collect()
}

fn broken(from: &str, to: &str) -> Vec<&'static str> {
    assert!(SOUND.contains(from), "{from}");
    codes(&SOUND.replace(from, to))
}

#[test]
fn the_sound_file_loads() {
    assert_eq!(codes(SOUND), [""; 0]);
}

#[test]
fn nobody_reports_at_a_gate_so_nobody_can_be_asked_again() {
    let gate = "lint: { run: [make, lint], fail: { respawn: author, loop: review } }";
    assert_eq!(broken(gate, "lint: { run: [make, lint], fail: { respawn: self, loop: review } }"), ["E0121"]);
}

#[test]
fn an_opening_always_holds_at_last() {
    assert_eq!(broken("ended: { spawn: lead }", "ended: { when: { mode: b }, spawn: lead }"), ["E0106"]);
    let both = "ended: [{ when: { mode: b }, spawn: lead }, { spawn: lead }]";
    assert_eq!(broken("ended: { spawn: lead }", both), [""; 0]);
}

#[test]
fn a_gate_of_the_session_has_a_command_of_its_own() {
    let session = "  group: { needs: [merge, review], gates: [lint, planned] }\n  session: { gates: [planned] }";
    assert_eq!(broken("  group: { needs: [merge, review], gates: [lint, planned] }", session), ["E0122"]);
}

#[test]
fn findings_that_completion_does_not_need_would_stay_open() {
    assert_eq!(broken("needs: [merge, review]", "needs: [merge]"), ["E0126"]);
}

#[test]
fn a_domain_is_told_by_a_plan() {
    let text = "workflow: t\nlanguage: 1\nextends: phased\nphases:\n  - { phase: implementation, role: \"{domain}-developer\" }\n  - { phase: merge, merge: author }\n";
    assert_eq!(codes(text), ["E0135"]);
}

#[test]
fn a_key_that_is_misspelt_is_reported_once() {
    assert_eq!(broken("DONE: { spawn: lead }", "DONE: { spwan: lead }"), ["E0104"]);
}

#[test]
fn what_cannot_be_read_is_reported_once_and_not_missed_as_well() {
    for (from, to, code) in [
        ("completion:", "completon:", "E0104"),
        ("group: { needs", "groop: { needs", "E0104"),
        ("needs: [merge, review]", "neds: [merge, review]", "E0104"),
        ("begin: { spawn: lead }\ngroups:", "begn: { spawn: lead }\ngroups:", "E0104"),
        ("begin: { spawn: maker }", "begin: { spwan: maker }", "E0104"),
        ("ended: { spawn: lead }", "endet: { spawn: lead }", "E0104"),
        ("FINE: { merge: author", "FINE: { mrge: author", "E0104"),
        ("FINE: { merge: author", "FINE: { merge: [author, lead]", "E0105"),
        ("planning: 5", "planning: many", "E0105"),
        ("escalate_at: { iteration: 3 }", "escalate_at: { itertion: 3 }", "E0104"),
        ("escalates_to: lead", "escalates_to: [lead, judge]", "E0105"),
    ] {
        assert_eq!(broken(from, to), [code], "{to}");
    }
    assert_eq!(codes("workflow: t\nlanguage: 1\nextends: feature\ngroups: { at_most: many }\n"), ["E0105"]);
}

#[test]
fn every_mistake_is_reported_in_one_run() {
    let text = SOUND
        .replace("escalates_to: lead", "escalates_to: leed")
        .replace("loop: planning }\n    FINE", "loop: plannig }\n    FINE")
        .replace("needs: [merge, review]", "needs: [merge, review, blessing]");
    assert_eq!(codes(&text), ["E0110", "E0111", "E0126"]);
}

#[test]
fn an_alternative_that_never_comes_to_its_turn_is_an_error() {
    assert_eq!(
        broken(
            "DONE: { spawn: lead }",
            "DONE: [{ spawn: lead }, { when: { mode: b }, respawn: self, loop: planning }]"
        ),
        ["E0137"]
    );
}

#[test]
fn an_example_that_does_not_come_out_is_an_error() {
    let wrong = "\nexamples:\n  - { role: maker, status: DONE, expect: { spawn: maker } }\n";
    let right = "\nexamples:\n  - { role: maker, status: done, expect: { spawn: lead } }\n";
    assert_eq!(codes(&format!("{SOUND}{wrong}")), ["E0131"]);
    assert_eq!(codes(&format!("{SOUND}{right}")), [""; 0]);
}

#[test]
fn the_hash_is_of_what_decides() {
    let hash = |text: &str| load("t.yaml", text, &|_| None).workflow.expect("it loads").hash;
    let moved = SOUND.replace("begin: { spawn: lead }\ngroups:", "groups:") + "begin: { spawn: lead }\n";
    assert_eq!(hash(SOUND), hash(&moved), "the order of keys decides nothing");
    assert_eq!(hash(SOUND), hash(&SOUND.replace("language: 1", "language: 1\nabout: another sentence")));
    assert_ne!(hash(SOUND), hash(&SOUND.replace("planning: 5", "planning: 6")));
}

#[test]
fn a_length_of_time_is_read_once_and_for_all() {
    let roles = |deadline: &str| SOUND.replace("lead: {}\n", &format!("lead: {{ deadline: {deadline} }}\n"));
    let gate = |timeout: &str| SOUND.replace("run: plan,", &format!("run: plan, timeout: {timeout},"));
    let loaded = load("t.yaml", &gate("1h30m"), &|_| None).workflow.expect("it loads");
    assert_eq!(loaded.gates[1].timeout.map(|timeout| timeout.milliseconds()), Some(5_400_000));
    let loaded = load("t.yaml", &roles("2d"), &|_| None).workflow.expect("it loads");
    let lead = loaded.roles.iter().find(|role| role.name == "lead").expect("it is declared");
    assert_eq!(lead.deadline.map(|deadline| deadline.milliseconds()), Some(172_800_000));
    for wrong in ["90", "soon", "30 m", "30m1h", "0s", "366d", "[5m]", "{ m: 5 }"] {
        for text in [roles(wrong), gate(wrong)] {
            assert_eq!(codes(&text), ["E0138"], "{wrong}");
        }
    }
    let problem = &load("t.yaml", &gate("90"), &|_| None).problems[0];
    let place = problem.at.as_ref().expect("it has a place");
    assert_eq!((place.line, place.column, place.length), (31, 34, 2));
    assert!(problem.help.as_ref().is_some_and(|help| help.contains("1h30m")));
}

#[test]
fn an_alias_is_no_status_of_a_role_that_has_what_it_means() {
    let aliases = |aliases: &str| codes(&format!("{SOUND}aliases: {{ {aliases} }}\n"));
    assert_eq!(aliases("FINE: BACK"), ["E0124"], "the lead has both");
    assert_eq!(aliases("fine: FINE"), ["E0124"], "another spelling needs no alias");
    assert_eq!(aliases("DONE: FINE"), [""; 0], "only the maker has DONE, and it has no FINE");
    assert_eq!(aliases("LGTM: [FINE, BACK]"), ["E0124"]);
    assert_eq!(aliases("LGTM: [FINE, DONE]"), [""; 0]);
}

#[test]
fn what_nothing_uses_is_warned_about() {
    let unused = |text: &str| {
        let loaded = load("t.yaml", text, &|_| None);
        assert!(loaded.workflow.is_some(), "a warning does not keep a file from loading: {:?}", loaded.problems);
        loaded.problems.into_iter().map(|problem| (problem.code.number(), problem.message)).collect::<Vec<_>>()
    };
    let told = |message: &str| vec![("E0139", message.to_owned())];
    let idle = SOUND.replace("loops:\n", "loops:\n  idle: 3\n");
    assert_eq!(unused(&idle), told("nothing is counted in loop `idle`"));
    let blessed = SOUND.replace("passes: [merge]", "passes: [merge, blessing]");
    assert_eq!(unused(&blessed), told("`blessing` is passed, and completion does not need it"));
    assert_eq!(unused(&idle.replace("language: 1\n", "language: 1\nabstract: true\n")), []);
    assert_eq!(unused("workflow: t\nlanguage: 1\nextends: delivery-team\nloops: { qa: 3 }\n"), []);
}

#[test]
fn questions_that_interlock_asks_cannot_be_taken_away() {
    for name in ["clarify", "stuck", "unfinished"] {
        let found = codes(&format!("{SOUND}questions: {{ {name}: null }}\n"));
        assert!(found.contains(&"E0106"), "{name}: {found:?}");
    }
    let found = codes("workflow: t\nlanguage: 1\nabstract: true\nquestions: { stuck: null }\n");
    assert!(found.contains(&"E0106"), "{found:?}");
    let worded = "questions: { stuck: { text: \"{because} What now?\" } }\n";
    assert_eq!(codes(&format!("{SOUND}{worded}")), [""; 0]);
}

#[test]
fn every_mistake_is_told_at_once_wherever_the_others_stand() {
    // A key that cannot be read a line below is no reason to keep quiet about an entry without a verb.
    let two = "PLAN: { loop: planning }\n    FINE: { merge: author, passes: [review], colour: red }";
    let rows = "PLAN: { start: groups, loop: planning }\n    FINE: { merge: author, passes: [review] }";
    assert_eq!(broken(rows, two), ["E0104", "E0120"]);
    let both = "PLAN: { loop: planning, wiht: [a] }";
    assert_eq!(broken("PLAN: { start: groups, loop: planning }", both), ["E0104", "E0120"]);
    let nested = "PLAN: { loop: planning, otherwise: { spwan: lead } }";
    assert_eq!(broken("PLAN: { start: groups, loop: planning }", nested), ["E0104", "E0120"]);
    // Most likely the verb itself.
    assert_eq!(broken("PLAN: { start: groups,", "PLAN: { strat: groups,"), ["E0104"]);
    assert_eq!(broken("PLAN: { start: groups,", "PLAN: { start: [groups],"), ["E0105"]);
    // Missing keys of the whole file are reported beside values elsewhere that cannot be read.
    assert_eq!(broken("begin: { spawn: lead }\ngroups:", "overrides: [3]\ngroups:"), ["E0105", "E0130"]);
}

#[test]
fn a_status_that_nothing_follows_is_an_error() {
    for from in ["BACK: { respawn: author, loop: review }", "MERGED: { complete: group, passes: [merge] }"] {
        let to = format!("{} []", from.split_once(' ').unwrap().0);
        assert!(broken(from, &to).contains(&"E0120"), "{to}");
    }
    let problems =
        load("t.yaml", &SOUND.replace("{ respawn: author, loop: review }\n    OVER", "[]\n    OVER"), &|_| None);
    let problem = problems.problems.iter().find(|problem| problem.code.number() == "E0120").expect("it is told");
    assert!(problem.help.as_deref().is_some_and(|help| help.contains("null")), "{problem:?}");
    let at = problem.at.as_ref().expect("a place");
    assert_eq!(
        SOUND.lines().nth(at.line as usize - 1).map(|line| &line[at.column as usize - 1..]),
        Some("{ respawn: author, loop: review }")
    );
}

#[test]
fn a_number_that_cannot_be_is_underlined_itself() {
    for (from, to) in [("lead: {}", "lead: { at_most: 0 }"), ("groups:\n", "groups:\n  at_most: 0\n")] {
        let text = SOUND.replacen(from, to, 1);
        let loaded = load("t.yaml", &text, &|_| None);
        let at = loaded.problems[0].at.clone().expect("a place");
        let line = text.lines().nth(at.line as usize - 1).expect("a line");
        assert!(line[at.column as usize - 1..].starts_with('0'), "{line} at {}", at.column);
    }
}

#[test]
fn need_with_a_condition_on_settings_loads() {
    let needs = "needs: [merge, review]";
    for need in ["{ need: review, when: { mode: a } }", "{ any_of: [review], when: { mode: [a] } }"] {
        assert_eq!(broken(needs, &format!("needs: [merge, {need}, review]")), [""; 0], "{need}");
    }
}

#[test]
fn need_that_is_written_wrongly_is_an_error() {
    let needs = "needs: [merge, review]";
    for (need, code) in [
        ("{ need: review, any_of: [review] }", "E0105"),
        ("{ when: { mode: a } }", "E0105"),
        ("{ need: review, when: { weather: fine } }", "E0115"),
        ("{ need: review, when: { mode: c } }", "E0116"),
        ("{ need: review, unless: { mode: a } }", "E0104"),
    ] {
        assert!(broken(needs, &format!("needs: [merge, {need}, review]")).contains(&code), "{need}");
    }
}

#[test]
fn excuse_that_nothing_accepts_is_an_error() {
    let done = "DONE: { spawn: lead }";
    assert!(broken(done, "DONE: { spawn: lead, excuses: [review] }").contains(&"E0150"));
    assert!(broken(done, "DONE: { respawn: self, loop: review, excuses: [review] }").contains(&"E0121"));
}

/// The messages and helps of a file with a mistake.
fn advice(from: &str, to: &str) -> Vec<(&'static str, String)> {
    assert!(SOUND.contains(from), "{from}");
    let loaded = load("t.yaml", &SOUND.replace(from, to), &|_| None);
    loaded
        .problems
        .iter()
        .map(|problem| (problem.code.number(), format!("{}: {}", problem.message, problem.advice())))
        .collect()
}

/// With phases: `review` goes back while its loop measures something.
const PHASED: &str = r#"
workflow: phased
language: 1
roles:
  planner: {}
  maker: { is: [author] }
  critic: {}
phases:
  - { phase: plan, role: planner, per: session, plans: groups }
  - { phase: build, role: maker }
  - { phase: review, role: critic, rework: { goto: build, loop: review } }
loops:
  review: { measure: blocking_findings, escalate_at: { iteration: 5, no_progress: 2 } }
completion:
  group: { needs: [] }
"#;

fn phased(from: &str, to: &str) -> Vec<&'static str> {
    assert!(PHASED.contains(from), "{from}");
    let errors = load("t.yaml", &PHASED.replace(from, to), &|_| None).problems;
    errors.iter().filter(|problem| problem.is_error()).map(|problem| problem.code.number()).collect()
}

#[test]
fn measure_that_is_stated_but_wrong_is_reported_once() {
    assert_eq!(phased("language", "language"), [""; 0]);
    assert_eq!(phased("measure: blocking_findings", "measure: blocking_finding"), ["E0129"]);
    assert_eq!(phased("measure: blocking_findings", "mesure: blocking_findings"), ["E0104"]);
    assert_eq!(phased("measure: blocking_findings", "measure: [a, b]"), ["E0105"]);
    let whole = "review: { measure: blocking_findings, escalate_at: { iteration: 5, no_progress: 2 } }";
    assert_eq!(phased(whole, "review: five"), ["E0105"]);
    assert_eq!(phased(whole, "review: [5]"), ["E0105"]);
    assert_eq!(phased("escalate_at: { iteration: 5, no_progress: 2 }", "escalate_at: 5"), ["E0105"]);
    assert_eq!(phased(whole, "review: 5"), ["E0129"], "no measure is stated here");
}

#[test]
fn value_of_a_wrong_shape_is_answered_with_the_right_one() {
    let lint = "lint: { run: [make, lint], fail: { respawn: author, loop: review } }";
    for (from, to, shape) in [
        ("run: [make, lint]", "run: \"\"", r#"`run: ["npm", "test"]`"#),
        ("run: [make, lint]", "run: \"  \"", r#"`run: ["npm", "test"]`"#),
        ("run: [make, lint]", "run: []", r#"["npm", "test"]"#),
        ("run: [make, lint]", "run: { cmd: npm }", r#"["npm", "test"]"#),
        (lint, "lint: npm test", r#"{ run: ["npm", "test"]"#),
        ("escalate_at: { iteration: 3 }", "escalate_at: 5", "{ iteration: 5, no_progress: 2 }"),
        ("begin: { spawn: lead }", "begin: lead", "{ spawn: ROLE }"),
        ("settings: { mode: [a, b] }", "settings: mode", "{ NAME: [NAME] }"),
        ("  planning: 5", "  planning: [5]", "escalate_at: { iteration: 5"),
        (
            "group: { needs: [merge, review], gates: [lint, planned] }",
            "group: merge",
            "{ needs: [NAME], gates: [GATE] }",
        ),
        ("gates: [lint, planned] }", "gates: [lint, planned], changes: yes }", "`required`"),
        ("is: [author]", "is: { author: true }", "`NAME`"),
        ("  maker: { is: [author], escalates_to: lead }", "  maker: author", "{ is: author, escalates_to: ROLE }"),
    ] {
        let found = advice(from, to);
        assert!(found.iter().any(|(code, text)| *code == "E0105" && text.contains(shape)), "{to}: {found:?}");
    }
    let rework = PHASED.replace("rework: { goto: build, loop: review }", "rework: build");
    let problems = load("t.yaml", &rework, &|_| None).problems;
    assert!(problems.iter().any(|problem| problem.advice().contains("{ goto: PHASE, loop: LOOP }")), "{problems:?}");
}

#[test]
fn unknown_key_of_an_entry_lists_the_usual_keys_first() {
    let found = advice("fail: { respawn: author, loop: review } }\n  planned", "fail: { zebra: lead } }\n  planned");
    let (_, text) = found.iter().find(|(code, _)| *code == "E0104").expect("the key is unknown");
    assert!(text.contains("the keys here are: when, spawn, respawn") && text.contains("consult"), "{text}");
}
