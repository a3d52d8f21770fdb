//! The quick start of the README, as people type it.

use std::collections::BTreeMap;
use std::process::Command;

/// What happened on each group, in its order: groups run side by side, so the order between them is not fixed.
fn by_group(text: &str) -> String {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text.lines().filter(|line| line.contains('→')) {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        if let Some((group, rest)) = words.split_first() {
            groups.entry((*group).to_owned()).or_default().push(rest.join(" "));
        }
    }
    let lines = groups.iter().flat_map(|(group, lines)| lines.iter().map(move |line| format!("{group}: {line}")));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_quick_start_goes_every_way_that_it_promises() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/quickstart/run.sh");
    let place = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("quickstart");
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).expect("a folder");
    let mut command = Command::new("sh");
    command.arg(script).env("INTERLOCK", env!("CARGO_BIN_EXE_interlock")).env("TMPDIR", &place);
    // A user who signs, without a key, and whose hooks refuse.
    let home = place.join("home");
    std::fs::create_dir_all(home.join("hooks")).expect("a folder");
    let settings =
        format!("[commit]\ngpgsign = true\n[gpg]\nprogram = false\n[core]\nhooksPath = {}/hooks\n", home.display());
    std::fs::write(home.join(".gitconfig"), settings).expect("settings");
    let hook = home.join("hooks/pre-commit");
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").expect("a hook");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it may run");
    command.env("HOME", &home).env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
    let output = command.output().expect("sh");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for promised in ["BLOCKED", "FAIL", "CHANGES_REQUESTED", "MERGE_CONFLICT", "DEFERRED_EXTERNAL", "REJECT", "ACCEPT"]
    {
        assert!(text.contains(promised), "{promised}: {text}");
    }
    assert!(text.contains("exchange         deferred_external"), "{text}");
    let session: Vec<&str> = text.lines().filter(|line| line.contains("session  ")).collect();
    assert_eq!(session.len(), 3, "{session:?}");
    let report = text.lines().find_map(|line| line.trim().strip_prefix("report ")).expect("a report").trim();
    assert_tells(&std::fs::read_to_string(report).expect("it is there"));
    let (_, next) = text.split_once("To look around:").expect("what to type next");
    let looked = Command::new("sh").args(["-euc", next]).env("HOME", &home).output().expect("sh");
    let seen = String::from_utf8_lossy(&looked.stdout);
    assert!(looked.status.success(), "{seen}{}", String::from_utf8_lossy(&looked.stderr));
    assert!(seen.contains("completed") && seen.contains("The log is what it was"), "{seen}");
    // Either group may be the second to merge, and meet the conflict.
    insta::assert_snapshot!(
        by_group(&text)
            .lines()
            .filter(|line| line.starts_with("exchange") || line.starts_with("session"))
            .collect::<Vec<_>>()
            .join("\n")
    );
}

/// Each decision with who, on what and why.
fn assert_tells(report: &str) {
    let rows: Vec<Vec<&str>> = report
        .lines()
        .filter(|line| line.contains(".d") && line.starts_with("| "))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    let of = |rule: &str| rows.iter().filter(|row| row[5].contains(rule)).collect::<Vec<_>>();
    for row in of("`merge.").iter().chain(&of("gates.")) {
        assert!(row[1] == "Interlock" && row[2] != "–", "{row:?}");
    }
    for row in of("`routes.tech_lead.") {
        assert!(row[1] == "tech\\_lead" && row[2] != "–", "{row:?}");
    }
    let rejected: Vec<_> = rows.iter().filter(|row| row[4].contains("REJECT")).collect();
    assert!(rejected.iter().any(|row| row[6].contains("exchange")), "why it was rejected: {rejected:?}");
    assert!(rows.len() > 20 && rows.iter().all(|row| !row[5].contains('\\')), "{report}");
}
