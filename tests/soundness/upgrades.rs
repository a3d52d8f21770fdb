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
