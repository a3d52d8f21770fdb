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
    let output = command.output().expect("sh");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for promised in ["BLOCKED", "FAIL", "CHANGES_REQUESTED", "MERGE_CONFLICT", "DEFERRED_EXTERNAL", "REJECT", "ACCEPT"]
    {
        assert!(text.contains(promised), "{promised}: {text}");
    }
    assert!(text.contains("exchange         deferred_external"), "{text}");
    let session: Vec<&str> = text.lines().filter(|line| line.contains("session ")).collect();
    assert_eq!(session.len(), 3, "{session:?}");
    // Either group may be the second to merge, and meet the conflict.
    insta::assert_snapshot!(
        by_group(&text)
            .lines()
            .filter(|line| line.starts_with("exchange") || line.starts_with("session"))
            .collect::<Vec<_>>()
            .join("\n")
    );
}
