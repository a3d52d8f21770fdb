//! Every requirement that another version of a workflow drops is named, and no stronger version is called weaker.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "tests and benchmarks are not the core")]

use interlock_core::workflow::{BUILTINS, Workflow, dropped_requirements, load};

const TEAM: &str = r#"workflow: w
language: 1
settings: { mode: [full, light] }
roles:
  planner: {}
  writer: { is: [author], escalates_to: senior }
  senior: { is: [author] }
  reviewer: { skills: [x], writes: ["docs/**"] }
  helper: {}
  validator: { by: interlock }
begin: { spawn: planner }
groups: { flags: { kind: [code, doc] }, begin: { spawn: writer }, ended: { spawn: planner } }
overrides: [{ when: { kind: doc }, instead_of: writer, use: senior }]
facts: { calm: [true, false] }
routes:
  planner:
    PLANNED: { start: groups, loop: planning, require: [groups] }
    DONE: { validate: validator, loop: planning }
    ACC: { merge: author, passes: [acceptance], loop: planning }
  writer: { WRITTEN: { spawn: reviewer, changes: required }, NOTHING: { spawn: planner, changes: none } }
  senior: { WRITTEN: { spawn: reviewer } }
  reviewer:
    OK:
      - { when: { kind: doc }, spawn: planner }
      - { when: { mode: full }, merge: author, passes: [review], verify: [looked] }
      - { merge: author, passes: [review] }
    NO: { respawn: author, loop: review }
    HM: { ask: hm }
  helper: { HELP: { spawn: author, loop: planning } }
  validator: { ACCEPT: { end: session }, REJECT: { spawn: planner } }
merge: { MERGED: { complete: group, passes: [merge] } }
blocked: { status: BLOCKED, reasons: [a, b], table: { any: { any: helper } }, loop: planning, require: [attempted] }
questions: { hm: { text: "?", options: { go: { redo: work }, drop: { cancel: group } } } }
loops: { planning: 5, review: { measure: blocking_findings, escalate_at: { iteration: 4, no_progress: 2 } } }
gates: { t: { run: [sh, t.sh], fail: { respawn: author, loop: planning } } }
completion:
  group: { needs: [{ need: review, when: { mode: full, kind: code } }, merge], once_blocked: [acceptance], gates: [t], changes: { when: { kind: code } } }
handoff: { skills: [s], missing_skills: refuse }
"#;

const PHASED: &str = r#"workflow: p
language: 1
settings: { mode: [full, light] }
roles: { maker: { is: [author] }, hand: { is: [author] }, tester: {}, reader: { skills: [x] }, other: {}, twin: { skills: [x] } }
loops: { merging: 3, review: { measure: blocking_findings, escalate_at: { iteration: 4, no_progress: 2 } } }
phases:
  - { phase: build, role: maker, changes: required }
  - { phase: check, gate: t }
  - { phase: testing, role: tester, require: [test_results], skills: [y] }
  - { phase: reading, role: reader, when: { mode: full }, rework: { goto: build, loop: review } }
  - { phase: merge, merge: author }
checkpoints: [{ after: [testing], ask: approve, when: { mode: full } }]
gates: { t: { run: [sh, t.sh], fail: { goto: build, loop: merging } } }
merge: { MERGE_SUCCESS: { advance: phase }, MERGE_CONFLICT: { goto: build, loop: merging }, MERGE_TEST_FAILURE: { goto: build, loop: merging }, MERGE_BLOCKED: { ask: clarify } }
questions: { approve: { text: "Go on?", options: { yes: { advance: phase }, no: { goto: build, loop: merging } } } }
routes:
  any: { complete: { advance: phase } }
handoff: { missing_skills: refuse }
"#;

fn compile(text: &str) -> Result<Workflow, Vec<String>> {
    let loaded = load("interlock.yaml", text, &|_| None);
    let problems = loaded.problems.iter().map(|problem| problem.message.clone()).collect();
    loaded.workflow.ok_or(problems)
}

fn dropped(text: &str, edited: &str) -> Vec<String> {
    let compiled = |text: &str| compile(text).unwrap_or_else(|problems| panic!("{problems:#?}"));
    dropped_requirements(&compiled(text), &compiled(edited)).iter().map(ToString::to_string).collect()
}

/// Every edit that does not drop what its sentence says, so that one failure hides no other.
#[track_caller]
fn assert_weaker(text: &str, cases: &[(&str, &str, &str)]) {
    let mut wrong = Vec::new();
    for (old, new, sentence) in cases {
        let edited = text.replacen(old, new, 1);
        let lines = match compile(&edited) {
            Ok(_) => dropped(text, &edited),
            Err(problems) => problems,
        };
        if edited == text || !lines.iter().any(|line| line.contains(sentence)) {
            wrong.push((old, new, lines));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[track_caller]
fn assert_not_weaker(text: &str, cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (old, new) in cases {
        let edited = text.replacen(old, new, 1);
        let lines = match compile(&edited) {
            Ok(_) => dropped(text, &edited),
            Err(problems) => problems,
        };
        if edited == text || !lines.is_empty() {
            wrong.push((old, new, lines));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn default_or_value_that_drops_a_requirement_is_named() {
    assert_weaker(
        TEAM,
        &[
            ("mode: [full, light]", "mode: [light, full]", "setting `mode` is `light` by default and no longer `full`"),
            ("kind: [code, doc]", "kind: [doc, code]", "flag `kind` is `doc` by default"),
            ("kind: [code, doc]", "kind: [code, doc, chore]", "flag `kind` can be `chore`"),
            ("options: { go: { redo: work }, drop:", "options: { drop:", "a person can no longer answer `go`"),
        ],
    );
}

#[test]
fn weaker_completion_is_named() {
    assert_weaker(
        TEAM,
        &[
            (
                "{ need: review, when: { mode: full, kind: code } }",
                "{ any_of: [review, acceptance] }",
                "evidence `review` is no longer needed",
            ),
            (
                "merge], once_blocked",
                "{ need: merge, when: { mode: full } }], once_blocked",
                "`merge` is needed in fewer cases",
            ),
            ("once_blocked: [acceptance], ", "", "`acceptance` is no longer needed of groups that were once blocked"),
            ("gates: [t], ", "", "gate `t` (sh t.sh) no longer has to pass for a group"),
            ("run: [sh, t.sh]", "run: [sh, other.sh]", "gate `t` (sh t.sh) no longer has to pass"),
            (", changes: { when: { kind: code } } }", " }", "with an empty diff in more cases"),
            (
                "changes: { when: { kind: code } }",
                "changes: { when: { kind: code }, unless: [acceptance] }",
                "empty diff",
            ),
            (
                "measure: blocking_findings, escalate_at: { iteration: 4, no_progress: 2 }",
                "escalate_at: { iteration: 4 }",
                "loop `review` no longer measures",
            ),
        ],
    );
}

#[test]
fn entry_that_demands_less_or_allows_more_is_named() {
    assert_weaker(
        TEAM,
        &[
            ("changes: none }", "changes: none, excuses: [review] }", "`NOTHING` of writer excuses evidence `review`"),
            (
                "passes: [review], verify: [looked]",
                "passes: [review]",
                "`OK` of reviewer no longer requires `verification.looked`",
            ),
            (
                "when: { mode: full }, merge: author",
                "when: { mode: full, calm: true }, merge: author",
                "`OK` of reviewer no longer requires `verification.looked`",
            ),
            (
                "      - { when: { kind: doc }, spawn: planner }\n",
                "",
                "`review` can be passed by reviewer with `OK` in more cases",
            ),
            ("require: [groups]", "with: [groups]", "`PLANNED` of planner no longer requires `groups`"),
            (", changes: required }", " }", "`WRITTEN` of writer no longer requires changes"),
            (", changes: none }", " }", "`NOTHING` of writer no longer requires an empty diff"),
            (
                "{ validate: validator, loop: planning }",
                "{ validate: validator, loop: planning, without_groups: true }",
                "without groups",
            ),
            (
                "DONE: { validate: validator, loop: planning }",
                "DONE: { end: session }",
                "`DONE` of planner ends the session",
            ),
            (
                "HM: { ask: hm }",
                "HM: { spawn: helper, loop: planning }\n    HX: { ask: hm }",
                "a person is no longer asked after `HM`",
            ),
            (
                "HELP: { spawn",
                "SKIP: { merge: author, passes: [review], loop: planning }, HELP: { spawn",
                "`review` can also be passed by helper",
            ),
            ("passes: [merge] }", "passes: [merge, review] }", "`review` can"),
            (
                "fail: { respawn: author, loop: planning }",
                "fail: { complete: group }",
                "work goes on after `fail` of gate `t`",
            ),
            (
                "go: { redo: work }",
                "go: { merge: author, passes: [review] }",
                "`review` can also be passed by question `hm`",
            ),
            (", require: [attempted]", "", "every blocked handoff no longer requires `attempted`"),
        ],
    );
}

#[test]
fn weaker_roles_skills_and_paths_are_named() {
    let top = "handoff: { skills";
    let with = |more: &str| format!("{more}\nhandoff: {{ skills");
    assert_weaker(
        TEAM,
        &[
            ("missing_skills: refuse", "missing_skills: warn", "mandatory skills is no longer refused"),
            ("skills: [s], ", "", "every handoff no longer requires skill `s`"),
            ("skills: [x], ", "", "reviewer no longer requires skill `x`"),
            ("writes: [\"docs/**\"]", "writes: all", "reviewer may write more files"),
            ("writes: [\"docs/**\"]", "is: [author]", "reviewer becomes an author"),
            (
                "overrides: [{ when: { kind: doc }, instead_of: writer, use: senior }]\n",
                "",
                "work of writer is given to senior in fewer cases",
            ),
            (top, &with("test_files: []"), "are no longer pointed out as tests"),
            (top, &with("protected: [interlock.yaml]"), "paths `.interlock*/**` are no longer protected"),
            (
                "helper: {}",
                "helper: { owns: [\".github/workflows/**\"] }",
                "helper owns protected paths `.github/workflows/**`",
            ),
            (top, &with("orchestrator: { writes: all }"), "the orchestrator may write more files"),
            (
                "instead_of: writer, use: senior }]",
                "instead_of: writer, use: senior }, { instead_of: reviewer, use: writer }]",
                "work of reviewer is given to writer, an author",
            ),
        ],
    );
}

#[test]
fn weaker_phases_are_named() {
    assert_weaker(
        PHASED,
        &[
            (
                "checkpoints: [{ after: [testing], ask: approve, when: { mode: full } }]\n",
                "",
                "a person is asked `approve` after phase `testing` in fewer cases",
            ),
            (", changes: required", "", "phase `build` no longer requires changes"),
            ("require: [test_results], ", "", "phase `testing` no longer requires `test_results`"),
            (", skills: [y]", "", "phase `testing` no longer requires skill `y`"),
            (
                "role: reader,",
                "role: other,",
                "phase `reading` is given to other, where it no longer requires skill `x`",
            ),
            ("role: reader,", "role: hand,", "phase `reading` is given to hand, an author"),
            ("  - { phase: check, gate: t }\n", "", "phase `check` is gone"),
            (
                "role: tester, require",
                "role: tester, when: { mode: full }, require",
                "phase `testing` is left out in more cases",
            ),
            (
                "fail: { goto: build, loop: merging }",
                "fail: { advance: phase }",
                "work goes on after `fail` of gate `t`",
            ),
            ("mode: [full, light]", "mode: [light, full]", "setting `mode` is `light` by default"),
            (
                "no: { goto: build, loop: merging }",
                "no: { advance: phase }",
                "work goes on after `no` of question `approve`",
            ),
            (", rework: { goto: build, loop: review }", "", "phase `reading` no longer sends work back"),
        ],
    );
}

#[test]
fn stronger_or_equal_workflow_is_not_called_weaker() {
    assert_not_weaker(
        TEAM,
        &[
            ("planning: 5", "planning: 50"),
            ("merge], once_blocked", "merge, acceptance], once_blocked"),
            ("{ need: review, when: { mode: full, kind: code } }", "review"),
            ("{ need: review, when: { mode: full, kind: code } }", "{ need: review, when: { mode: full } }"),
            ("verify: [looked]", "verify: [looked, again]"),
            ("require: [attempted]", "require: [attempted, options]"),
            ("skills: [s]", "skills: [s, s2]"),
            ("writes: [\"docs/**\"]", "writes: [\"docs/*.md\"]"),
            ("writes: [\"docs/**\"]", "writes: none"),
            ("gates: { t:", "gates: { u: { run: [make], fail: { respawn: author, loop: planning } }, t:"),
            ("NOTHING: { spawn: planner, changes: none }", "GONE: { spawn: planner, changes: none }"),
            ("helper: {}", "helper: {}\n  novice: { is: [author] }"),
            ("handoff: { skills", "aliases: { LGTM: OK }\nhandoff: { skills"),
            ("text: \"?\"", "text: \"Really?\""),
        ],
    );
    assert_not_weaker(
        PHASED,
        &[
            (
                "  - { phase: merge, merge: author }",
                "  - { phase: last, role: other }\n  - { phase: merge, merge: author }",
            ),
            (", when: { mode: full }, rework", ", rework"),
            ("ask: approve, when: { mode: full } }", "ask: approve }"),
            ("role: reader,", "role: twin,"),
        ],
    );
}

/// A wider pattern covers narrower ones, and a workflow that protects more paths may name their owner.
#[test]
fn wider_protection_with_an_owner_is_not_called_weaker() {
    let some = format!("{TEAM}protected: [\".claude/settings*.json\", \"ci/**\"]\n");
    let wider = some.replace("[\".claude/settings*.json\", \"ci/**\"]", "[\".claude/**\", \"ci/**\", \"x\"]");
    assert_eq!(dropped(&some, &wider), Vec::<String>::new());
    let owned = some.replace("\"ci/**\"]", "\"ci/**\", \"deploy/**\"]");
    let owned = owned.replace("helper: {}", "helper: { owns: [\"deploy/**\"] }");
    assert_eq!(dropped(&some, &owned), Vec::<String>::new());
}

#[test]
fn workflow_compared_with_itself_drops_nothing() {
    for shipped in BUILTINS {
        assert_eq!(dropped(shipped.text, shipped.text), Vec::<String>::new(), "{}", shipped.name);
    }
}
