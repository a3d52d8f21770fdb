//! Reports that Interlock makes itself: a workflow asks fields of agents, and never of Interlock.

use crate::yard::{Yard, script};

const WRAPPER: &str = r#"steps:
  - { role: claude, group: session, says: { status: complete, summary: Selected 1 tool of 40, groups: [{ id: get-issue, title: Get issue }] } }
  - role: claude
    says: { status: complete, summary: Found 4 inputs and 850 tokens, artifacts: [schema.md], verification: { tool_called: true, input_schema_documented: true, output_schema_documented: true, token_count_measured: true } }
  - role: tool-lead
    group: session
    says: { status: complete, summary: Designed 1 tool with Result and Zod, artifacts: [shared.md], verification: { patterns_referenced: true, decisions_documented: true, shared_utilities_identified: true, token_strategy_defined: true } }
  - role: tool-lead
    says: { status: complete, summary: Designed 4 filters, artifacts: [tool.md], verification: { patterns_referenced: true, shared_patterns_applied: true, tool_specific_decisions: true, token_target_calculated: true } }
  - { role: tool-tester, does: [{ write: get.test.ts, text: t }], says: { status: complete, summary: Wrote 18 tests that fail, files_modified: [get.test.ts] } }
  - role: tool-developer
    does: [{ write: get.ts, text: x }]
    says: { status: complete, summary: Built 1 tool with 18 of 18 tests, skills_invoked: [gateway-typescript, developing-with-tdd], files_modified: [get.ts], verification: { tests_passed: true, build_success: true, lint_passed: true, coverage_percent: 89 } }
  - role: tool-reviewer
    says: { status: complete, summary: Reviewed 2 files with 0 findings, artifacts: [review.md], verification: { architecture_adherence: true, typescript_patterns: true, documentation_present: true, security_implemented: true, tests_verified: true, build_verified: true } }
"#;

#[test]
fn merge_of_a_workflow_that_requires_a_summary_is_recorded() {
    let yard = Yard::new("own_report_wrapper", &[("scripted.yaml", WRAPPER), ("m.md", "# Wrap\n")]);
    let ended = yard.run(&["m.md", "--workflow", "mcp-wrapper", "--agents", "scripted", "--no-wait"]);
    assert_eq!(ended["status"], "completed", "{ended}");
    assert_eq!(yard.result(ended["session"].as_str().expect("a session"), "get.ts"), "x");
}

#[test]
fn merge_of_a_workflow_that_requires_many_fields_is_recorded() {
    let workflow = "workflow: strict\nextends: delivery-team\nlanguage: 1\nhandoff:\n  \
                    require: [summary, notes_for_future, verification.lint]\n  skills: [careful]\n  missing_skills: refuse\n";
    let fields = "summary: Did 1 thing of 1, notes_for_future: none so far, verification: { lint: true }, skills_invoked: [careful]";
    // Two groups that conflict: a merge that fails is reported by Interlock, too.
    let more = "  - { role: developer, attempt: 1, does: [{ write: a.txt, text: \"{group}\\n\" }], says: { status: READY_FOR_QA } }\n  \
                - { role: developer, does: [{ write: a.txt, text: \"both\\n\" }], says: { status: READY_FOR_QA } }";
    let script = script("{ id: one, title: One }, { id: two, title: Two }", more)
        .replace("says: { status", &format!("says: {{ {fields}, status"));
    let yard = Yard::new(
        "own_report_strict",
        &[("a.txt", "a\n"), ("strict.yaml", workflow), ("scripted.yaml", &script), ("m.md", "# Two\n")],
    );
    let ended = yard.run(&["m.md", "--workflow", "strict.yaml", "--agents", "scripted", "--no-wait"]);
    assert_eq!(ended["status"], "completed", "{ended}");
    let statuses = yard.statuses(ended["session"].as_str().expect("a session"));
    assert!(statuses.iter().any(|status| status == "MERGE_CONFLICT"), "{statuses:?}");
}
