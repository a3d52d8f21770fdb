//! The quick start of the README, as people type it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

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
    assert_eq!(session.len(), 4, "with the gates of all groups on the final tree: {session:?}");
    let report = text.lines().find_map(|line| line.trim().strip_prefix("report ")).expect("a report").trim();
    let report = std::fs::read_to_string(report).expect("it is there");
    assert_tells(&report);
    assert_tells_why(&report);
    insta::assert_snapshot!("report", steady(&report));
    insta::assert_snapshot!("why", explanations(&text, &home));
    insta::assert_snapshot!("prompts", prompts(&place));
    let (_, next) = text.split_once("To look around:").expect("what to type next");
    let looked = Command::new("sh").args(["-euc", next]).env("HOME", &home).output().expect("sh");
    let seen = String::from_utf8_lossy(&looked.stdout);
    assert!(looked.status.success(), "{seen}{}", String::from_utf8_lossy(&looked.stderr));
    assert!(seen.contains("completed") && seen.contains("Event log verified"), "{seen}");
    // Either group may be the second to merge, and meet the conflict.
    insta::assert_snapshot!(
        by_group(&text)
            .lines()
            .filter(|line| line.starts_with("exchange") || line.starts_with("session"))
            .collect::<Vec<_>>()
            .join("\n")
    );
}

/// The prompts of the quick start, as its agents read them. What comes after the first merge depends on which group is first.
fn prompts(place: &Path) -> String {
    let made = std::fs::read_dir(place).expect("a folder").flatten().map(|entry| entry.path().join("shop"));
    let project = made.into_iter().find(|path| path.is_dir()).expect("the project");
    let store = rusqlite::Connection::open(project.join(".interlock/interlock.db")).expect("the store");
    let mut query = store.prepare("SELECT body FROM prompts ORDER BY event").expect("the prompts");
    let bodies = query.query_map([], |row| row.get::<_, String>(0)).expect("rows").map(|body| body.expect("a prompt"));
    let before_merge = |body: &String| !body.contains("MERGE_") && !body.contains("Groups of the session");
    let mut shown: Vec<String> = bodies.filter(before_merge).map(|body| steady_prompt(&body)).collect();
    // Groups run side by side: by their place, in the order of each.
    shown.sort_by_key(|body| body.lines().nth(2).map(|line| line.split('`').nth(1).map(str::to_owned)));
    shown.join("\n=====\n\n")
}

/// Numbers, folders and commits are others each time. The mission is the same in all of them.
fn steady_prompt(prompt: &str) -> String {
    let line = |line: &str| {
        if line.starts_with("OUTPUT_DIRECTORY: ") {
            return "OUTPUT_DIRECTORY: …".to_owned();
        }
        match (line.strip_prefix("# Assignment ").and_then(|rest| rest.split_once(": ")), line.split_once(" (")) {
            (Some((_, rest)), _) => format!("# Assignment …: {rest}"),
            (None, Some(("files changed", rest))) if rest.contains("..") => "files changed (…):".to_owned(),
            (None, _) => line.to_owned(),
        }
    };
    let text = prompt.lines().map(line).collect::<Vec<_>>().join("\n");
    let (before, rest) = text.split_once("## Mission\n\n```text\n").expect("the mission");
    let (_, after) = rest.split_once("\n```\n").expect("its end");
    format!("{before}## Mission\n\n…\n{after}")
}

/// `interlock why` of every decision about the session and `exchange`. The other groups run side by side.
fn explanations(text: &str, home: &std::path::Path) -> String {
    let (_, next) = text.split_once("To look around:").expect("what to type next");
    let ask = |question: &str| {
        let commands = next.lines().filter(|line| line.contains("cd ") || line.contains("export "));
        let typed = format!("{}\n{question}", commands.collect::<Vec<_>>().join("\n"));
        let mut shell = Command::new("sh");
        shell.args(["-euc", &typed]).env("HOME", home).env("INTERLOCK", env!("CARGO_BIN_EXE_interlock"));
        String::from_utf8(shell.output().expect("sh").stdout).expect("UTF-8")
    };
    let listed: Json = serde_json::from_str(&ask("\"$INTERLOCK\" decisions --json")).expect("decisions");
    let decisions = listed["decisions"].as_array().expect("decisions");
    let ours = decisions.iter().filter(|decision| decision["group"].is_null() || decision["group"] == "exchange");
    let shown = ours.map(|decision| {
        let (id, session) = (decision["decision"].as_str().unwrap(), decision["session"].as_str().unwrap());
        let why = ask(&format!("\"$INTERLOCK\" why {id}"));
        assert!(why.lines().all(|line| line.chars().count() <= 80), "{why}");
        // Numbers, times and trees are others each time.
        let (_, rest) = why.split_once('\n').expect("a title");
        let same = rest.lines().filter(|line| !line.starts_with("observed"));
        without_lines(&same.collect::<Vec<_>>().join("\n").replace(session, "SESSION")).trim().to_owned()
    });
    shown.collect::<Vec<_>>().join("\n\n----\n\n")
}

/// The line of a rule changes with every change of the workflow above it.
fn without_lines(text: &str) -> String {
    let mut parts = text.split(".yaml:");
    let mut steady = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        steady.push_str(".yaml:LINE");
        steady.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    steady
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
        // At the end the gates of all groups are checked once more, for the session.
        let is_final = row[6].contains("on the final tree");
        assert!(row[1] == "Interlock" && (row[2] != "–" || is_final), "{row:?}");
    }
    for row in of("`routes.tech_lead.") {
        assert!(row[1] == "tech\\_lead" && row[2] != "–", "{row:?}");
    }
    let rejected: Vec<_> = rows.iter().filter(|row| row[4].contains("REJECT")).collect();
    assert!(rejected.iter().any(|row| row[6].contains("exchange")), "why it was rejected: {rejected:?}");
    assert!(rows.len() > 20 && rows.iter().all(|row| !row[5].contains('\\')), "{report}");
}

/// What went wrong on the way, and outcome, is in the section of its group.
fn assert_tells_why(report: &str) {
    let section = |group: &str| {
        let (_, rest) = report.split_once(&format!("\n## {group}: ")).unwrap_or_else(|| panic!("{group}: {report}"));
        rest.split("\n## ").next().unwrap_or_default()
    };
    for (group, told) in [
        ("discounts", "- **qa\\_expert**: FAIL: rounded in the shop's favour, not the customer's\n"),
        ("discounts", "- **failing tests**: discounted(999, 10) is 900, not 899\n"),
        (
            "receipt",
            "| R1: Amounts are divided as floats | high, blocking | `shop/receipt.py:5` | tech\\_lead | fixed |",
        ),
        ("receipt", "| rejected, and the rejection accepted: The mission asks for plain text; columns would break"),
        ("exchange", "- **blocked**: developer (external\\_dependency): There is no access to the bank's rates.\n"),
        (
            "exchange",
            "- **deferred**: by project\\_manager: The bank opens its rates to us on the first of next month.\n",
        ),
    ] {
        assert!(section(group).contains(told), "{told}: {}", section(group));
    }
    for group in ["discounts", "receipt"] {
        assert!(section(group).contains("- **gate**: checks passed\n"), "{}", section(group));
    }
    let conflict = "- **conflict**: MERGE\\_CONFLICT in shop/\\_\\_init\\_\\_.py\n";
    assert_eq!(report.matches(conflict).count(), 1, "{report}");
    assert!(report.contains("cost not told"), "{report}");
    let rows = report.lines().filter(|line| line.contains(".d") && line.starts_with("| "));
    let silent: Vec<&str> = rows.filter(|line| line.ends_with("|  |")).collect();
    assert!(silent.is_empty(), "every decision says why: {silent:?}");
}

/// What is the same every time: not the names that are drawn, hashes and times, nor who of two merges first.
fn steady(report: &str) -> String {
    let session = report.split('`').nth(1).expect("the session");
    let ours = |line: &&str| {
        let of_two = ["discounts", "receipt"]
            .iter()
            .any(|group| line.starts_with(&format!("| {group} |")) || line.contains(&format!(" | {group} | ")));
        !of_two && !line.contains("turn") && !line.starts_with("| decision |")
    };
    let sections =
        report.split("\n## ").filter(|part| !part.starts_with("discounts: ") && !part.starts_with("receipt: "));
    let text = sections.collect::<Vec<_>>().join("\n## ");
    let lines = text.lines().filter(ours).map(|line| match line.strip_prefix(&format!("| {session}.d")) {
        // The number depends on how the groups come to run.
        Some(row) => format!("| d… |{}", row.split_once('|').map_or("", |(_, rest)| rest)),
        None => line.replace(session, "SESSION"),
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    // Either side of the conflict may be merged first.
    let (before, after) = text.split_once("final tree ").expect("the gates at the end");
    format!("{before}final tree …{}", after.trim_start_matches(|letter: char| letter.is_ascii_hexdigit()))
}
