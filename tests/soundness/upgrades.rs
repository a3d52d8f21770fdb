//! `session upgrade` to a workflow that demands less: named, asked for, recorded, shown.

use crate::cycles::{problems, project};
use crate::team::run;

const SAME: &str = "workflow: mine\nlanguage: 1\nextends: delivery-team\n";

#[test]
fn upgrade_to_weaker_workflow_is_refused_with_each_dropped_requirement() {
    let team = project("upgrade_to_weaker_workflow_is_refused_with_each_dropped_requirement", SAME);
    let s = team.start("T");
    let weaker = format!(
        "{SAME}completion: {{ group: {{ needs: [review], once_blocked: [], gates: [] }} }}\nloops: {{ managing: 50 }}\n\
         routes: {{ developer: {{ SELF_APPROVED: {{ merge: author, passes: [review], loop: managing }} }} }}\n"
    );
    std::fs::write(team.project().join("interlock.yaml"), weaker).unwrap();
    let refused = team.ask(&["session", "upgrade", &s, "--workflow", "interlock.yaml"]);
    assert_eq!((refused.exit, refused.code().as_str()), (3, "E0360"), "{refused}");
    let dropped = problems(&refused.json(), "E0360").join("\n");
    for part in [
        "evidence `merge` is no longer needed",
        "`acceptance` is no longer needed of groups that were once blocked",
        "gate `checks` (checks of the plan) no longer has to pass",
        "`review` can also be passed by developer",
    ] {
        assert!(dropped.contains(part), "{part}: {dropped}");
    }
    let before = team.show(&s);
    assert_eq!(before["upgrades"], serde_json::json!([]), "nothing has changed: {before}");
    // Asked for, it is done, recorded and shown.
    team.ask(&["session", "upgrade", &s, "--workflow", "interlock.yaml", "--weaker"]).done();
    let shown = run(&mut team.command(&["session", "show", &s]), "").stdout;
    assert!(shown.contains("moved by ann from "), "{shown}");
    assert!(shown.contains("dropped: gate `checks` (checks of the plan) no longer has to pass for a group"), "{shown}");
    let log = team.ask(&["log", &s]).done().to_string();
    assert!(log.contains("evidence `merge` is no longer needed"), "{log}");
}

#[test]
fn upgrade_to_stricter_workflow_needs_no_flag() {
    let team = project("upgrade_to_stricter_workflow_needs_no_flag", SAME);
    let s = team.start("T");
    std::fs::write(team.project().join("interlock.yaml"), format!("{SAME}loops: {{ managing: 5 }}\n")).unwrap();
    let moved = team.ask(&["session", "upgrade", &s, "--workflow", "interlock.yaml"]).done();
    assert_eq!(moved["dropped"], serde_json::json!([]));
}

/// Weakenings that leave needs and gates as they are.
#[test]
fn upgrade_that_loosens_other_parts_is_refused_and_takes_the_operator_key() {
    let team = project("upgrade_that_loosens_other_parts_is_refused_and_takes_the_operator_key", SAME);
    let s = team.start("T");
    for (more, sentence) in [
        ("settings: { testing: [disabled, full, minimal] }\n", "setting `testing` is `disabled` by default"),
        ("test_files: []\n", "are no longer pointed out as tests"),
        ("protected: [interlock.yaml]\n", "are no longer protected"),
        ("roles: { developer: { owns: [\".github/**\"] } }\n", "developer owns protected paths `.github/**`"),
        (
            "completion: { group: { needs: [{ need: merge, when: { kind: code } }, { any_of: [review, acceptance] }, { need: review, when: { security_sensitive: true } }, { need: qa, when: { testing: full, kind: code } }] } }\n",
            "evidence `merge` is needed in fewer cases than before",
        ),
    ] {
        std::fs::write(team.project().join("interlock.yaml"), format!("{SAME}{more}")).unwrap();
        let refused = team.ask(&["session", "upgrade", &s, "--workflow", "interlock.yaml"]);
        assert_eq!((refused.exit, refused.code().as_str()), (3, "E0360"), "{more}: {refused}");
        let dropped = problems(&refused.json(), "E0360").join("\n");
        assert!(dropped.contains(sentence), "{more}: {dropped}");
        let keyless = team.ask_without_keys(&["session", "upgrade", &s, "--workflow", "interlock.yaml", "--weaker"]);
        assert_eq!(keyless.code(), "E0512", "{more}: {keyless}");
    }
}

/// Another way to the same end: a session that starts with a weaker workflow than the project's.
#[test]
fn start_with_a_weaker_workflow_than_the_projects_takes_the_operator_key() {
    let team = project("start_with_a_weaker_workflow_than_the_projects_takes_the_operator_key", SAME);
    let weaker = format!("{SAME}completion: {{ group: {{ gates: [] }} }}\n");
    std::fs::write(team.project().join("weaker.yaml"), weaker).unwrap();
    let start = ["session", "start", "--title", "T", "--workflow", "weaker.yaml"];
    let spawner = team.keys().join("spawner.key");
    let refused = run(team.command(&start).arg("--json").env("INTERLOCK_KEY_FILE", spawner), "");
    assert_eq!(refused.code(), "E0355", "{refused}");
    assert!(refused.to_string().contains("gate `checks` (checks of the plan) no longer has to pass"), "{refused}");
    let started = team.ask(&start).done();
    let shown = team.show(started["session"].as_str().expect("a session"));
    assert!(shown["dropped_requirements"].to_string().contains("gate `checks`"), "{shown}");
}
