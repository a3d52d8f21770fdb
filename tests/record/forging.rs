//! Text of agents and persons cannot forge a line of output.
//!
//! The same session is played twice: once with hostile text in every field that an agent or a person writes, once with
//! the same text in which an underscore replaces every character that could end a line or control a terminal. Every
//! command must print the same number of lines, and each line must be the same up to the foreign text in it.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use crate::team::{Team, run};
use crate::tty::Tty;

/// Marks the beginning of foreign text.
const MARK: char = '§';

const HOSTILE: [&str; 4] = [
    "§x\n    9  2026-01-01 00:00:00  d9: ACCEPT\nFORGED",
    "§x\r\nFORGED\r\rFORGED\u{2028}FORGED\u{2029}FORGED\u{85}FORGED\u{b}\u{c}FORGED",
    "§x\u{1b}[2J\u{1b}[1;1HFORGED\u{9b}2J\u{202e}FORGED\u{2066}\u{200b}",
    "§x\n\n  LOGIN  completed  FORGED\n  = help: FORGED\nerror[E0000]: FORGED\n| FORGED",
];

fn harmless(text: &str) -> String {
    let keeps = |c: char| c.is_ascii_graphic() || c == ' ' || c == MARK;
    text.chars().map(|c| if keeps(c) { c } else { '_' }).collect()
}

/// Plays a session in which every text is this one, and returns what every command prints for people.
fn play(test: &str, text: &str) -> Vec<(String, String)> {
    let team = Team::new(test);
    let session = team.start(text);
    let question =
        json!({ "questions": [{ "text": text, "category": text, "options": ["yes", text], "impact": text }] });
    team.plays(&session, "project_manager", "-", "NEEDS_CLARIFICATION", question);
    let mut shown = Vec::new();
    let mut show = |name: &str, arguments: &[&str]| {
        let printed = run(&mut team.command(arguments), "");
        shown.push((name.to_owned(), format!("{}{}", printed.stdout, printed.stderr).replace(&session, "S")));
    };
    show("question list", &["question", "list"]);
    show("question in session show", &["session", "show", &session]);
    let open = team.ask(&["question", "list"]).done()["questions"][0]["question"].as_str().unwrap().to_owned();
    show("answer without an answer", &["answer", &open]);
    show("answer that is no option", &["answer", &open, "--option", text]);
    show("answer", &["answer", &open, "--text", text, "--as", text]);
    let groups = json!([{ "id": "LOGIN", "title": text }, { "id": "LOGOUT", "title": text }]);
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", json!({ "groups": groups }));
    let blocked = json!({ "attempted": [text], "blocked_reason": "environment",
        "handoff": { "context": text, "next_agent": null } });
    team.plays(&session, "developer", "LOGIN", "BLOCKED", blocked);
    // A status is shown without the characters that `harmless` replaces by `_`.
    team.plays(&session, "developer", "LOGOUT", &text.replace('_', ""), json!({}));
    let issue = json!({ "id": text, "title": text, "location": text, "severity": "HIGH", "blocking": true });
    team.plays(&session, "tech_lead", "LOGOUT", "CHANGES_REQUESTED", json!({ "issues": [issue] }));
    show("defer", &["defer", &session, "LOGIN", "--why", text, "--as", text]);
    show("defer no group", &["defer", &session, text, "--why", text, "--as", text]);
    show("override", &["override", &session, "LOGOUT", "--to", text, "--why", text, "--as", text]);
    show("override to a role", &["override", &session, "LOGOUT", "--to", "tech_lead", "--why", text, "--as", text]);
    let lead = team.claim(&session, "tech_lead", "LOGOUT");
    let wrong = json!({ "agent": text, "status": text.replace('_', ""), "timestamp": text, "handoff": {},
        "issues": [{ "id": text }], "questions": [{ "options": [text] }] });
    let mut command = team.command(&["report", "--assignment", &lead.assignment, "-"]);
    let refused = run(command.env("INTERLOCK_TOKEN", &lead.token), &serde_json::to_string_pretty(&wrong).unwrap());
    assert_eq!(refused.exit, 4, "{refused}");
    shown.push(("report that is refused".to_owned(), refused.stderr.replace(&session, "S")));
    let sql = text.replace('\'', "''");
    team.sql(&format!("UPDATE groups SET status = '{sql}', title = '{sql}';"));
    team.sql(&format!("INSERT INTO evidence VALUES (1, '{sql}', 'pass', '{sql}', 1);"));
    let mut show = |name: &str, arguments: &[&str]| {
        let printed = run(&mut team.command(arguments), "");
        shown.push((name.to_owned(), format!("{}{}", printed.stdout, printed.stderr).replace(&session, "S")));
    };
    for (name, arguments) in [
        ("log", &["log", &session][..]),
        ("log -v", &["log", &session, "-v"]),
        ("log --full", &["log", &session, "--full"]),
        ("session show", &["session", "show", &session]),
        ("session next", &["session", "next", &session]),
        ("session list", &["session", "list"]),
        ("decisions", &["decisions"]),
        ("complete", &["complete", &session, "--as", text]),
        ("audit verify", &["audit", "verify"]),
        ("rebuild", &["rebuild"]),
        ("why of no decision", &["why", "x.d1"]),
        ("log of no session", &["log", text]),
    ] {
        show(name, arguments);
    }
    for decision in 1..=decisions(&team, &session) {
        show(&format!("why d{decision}"), &["why", &format!("{session}.d{decision}")]);
    }
    show("cancel", &["cancel", &session, "--as", text]);
    show("watch", &["watch", &session]);
    shown
}

fn decisions(team: &Team, session: &str) -> usize {
    team.ask(&["decisions", session]).done()["decisions"].as_array().map_or(0, Vec::len)
}

/// Ids and times differ between two sessions; what people can be made to believe does not.
fn normalise(text: &str) -> String {
    let mut normal = String::new();
    for line in text.split('\n') {
        let (ours, foreign) = line.split_at(line.find(MARK).unwrap_or(line.len()));
        let shown = |c: char| match c {
            c if c.is_ascii_digit() => '0',
            c if c.is_ascii() || c == '→' => c,
            _ => '_',
        };
        let mut digits: Vec<char> = ours.chars().map(shown).collect();
        digits.dedup_by(|a, b| (*a, *b) == ('0', '0'));
        // A time without a fraction of a second is printed without one.
        let digits = digits.into_iter().collect::<String>().replace("0.0Z", "0Z");
        // An underline is as long as the text above it.
        let words: Vec<&str> = digits.split_whitespace().map(|word| word.trim_end_matches('^')).collect();
        let _ = writeln!(normal, "{}{}", words.join(" "), if foreign.is_empty() { "" } else { "§" });
    }
    normal
}

#[test]
fn hostile_text_in_every_field_prints_as_many_lines_as_harmless_text() {
    for (index, hostile) in HOSTILE.iter().enumerate() {
        let printed = play(&format!("record-forging-hostile-{index}"), hostile);
        let expected = play(&format!("record-forging-harmless-{index}"), &harmless(hostile));
        assert_eq!(printed.len(), expected.len());
        for ((name, printed), (_, expected)) in printed.iter().zip(&expected) {
            let (printed, expected) = (&normalise(printed), &normalise(expected));
            let forged = |line: &&str| line.trim_start().starts_with("FORGED");
            assert_eq!(printed.lines().find(forged), None, "{name}: {printed}");
            // A question and a whole report are shown in lines of their own, each with a mark.
            let unmarked = |text: &str| -> Vec<String> {
                let marked = |line: &&str| line.starts_with('|');
                text.lines().filter(|line| !marked(line)).map(str::to_owned).collect()
            };
            let question = name.contains("question") || name.starts_with("answer") || name == "log --full";
            if question {
                assert!(unmarked(printed).len() <= unmarked(expected).len(), "{name}:\n{printed}\n---\n{expected}");
            } else {
                assert_eq!(printed, expected, "{name}");
            }
        }
    }
}

/// Blanks that fill the rest of a terminal's line would put the text after them where a line of the program begins.
#[test]
fn padded_text_in_every_field_is_printed_without_its_padding() {
    let blanks = ["   ", "\t\t\t", "\u{a0}\u{2003}\u{3000}", "\u{2800}\u{3164}\u{ffa0}"].map(|blank| blank.repeat(3));
    let text = format!("§x{}  H  completed  FORGED", blanks.join("FORGED"));
    for (name, printed) in play("record-forging-padded", &text) {
        for line in printed.lines() {
            // Source lines and documents are quoted as they are, behind a mark.
            let quoted =
                line.trim_start_matches([' ', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']).starts_with('|');
            let padded = ["§x  ", "FORGED  FORGED", "FORGED  H", "H  completed"].iter().any(|own| line.contains(own));
            let block = name.contains("question") || name.starts_with("log");
            let body = line.split_once("| ").map_or("", |(_, body)| body.trim_start());
            assert!(!block || !body.contains("  ") && line.chars().count() <= 120, "{name}: {printed}");
            assert!(quoted || !padded && !line.contains(['\u{a0}', '\u{2800}', '\u{3164}']), "{name}: {printed}");
        }
    }
}

#[test]
fn long_text_on_a_terminal_is_broken_with_a_mark() {
    let team = Team::new("record-forging-terminal");
    let session = team.start("Add login");
    // Seen at 80 columns, each text would put `FORGED` at the beginning of a line.
    let fill = |from: usize| format!("{}.{}H FORGED", " ".repeat(4), "_".repeat(400).split_at(from).0);
    let groups: Vec<Json> =
        (20..80).map(|from| json!({ "id": format!("G{from}"), "title": format!("x{}", fill(from)) })).collect();
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", json!({ "groups": groups }));
    let unknown = format!("DONE{}", fill(150));
    team.plays(&session, "developer", "G20", &unknown, json!({}));
    team.ask(&["override", &session, "G21", "--to", "tech_lead", "--why", &unknown, "--as", "ann"]).done();
    for arguments in [&["session", "show", &session][..], &["decisions", &session], &["log", &session]] {
        let program: Vec<&str> = [env!("CARGO_BIN_EXE_interlock")].iter().chain(arguments).copied().collect();
        let mut tty = Tty::start(&program, (80, 50), |command| {
            let ours = team.command(&[]);
            // The screen cannot read a style that is cut between two reads.
            command.current_dir(team.project()).env("NO_COLOR", "1");
            for (name, value) in ours.get_envs() {
                command.env(name, value.unwrap_or_default());
            }
        });
        assert_eq!(tty.end(), Some(0), "{}", tty.text());
        let seen = tty.text();
        assert!(seen.contains("FORGED"), "{seen}");
        for line in seen.lines() {
            let begins = line.trim_start();
            let marked = begins.starts_with("| ");
            let forged = begins.starts_with(['H', 'F', '_', '.']);
            assert!(marked || !forged, "{arguments:?}: {line:?} in\n{seen}");
        }
    }
}

/// JSON has no line that a text could forge either: one document, or one line for each event.
#[test]
fn hostile_text_in_json_lines_stays_in_its_line() {
    let team = Team::new("record-forging-json");
    let session = team.start(HOSTILE[1]);
    team.ask(&["cancel", &session, "--as", HOSTILE[0]]).done();
    let printed = run(team.command(&["log", &session, "--follow"]).arg("--json"), "");
    let lines: Vec<Json> = printed.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 2, "{printed}");
}

/// Long text is wrapped. Wherever it breaks, its rest must not look like a line of the program.
#[test]
fn wrapped_text_cannot_imitate_a_line() {
    let team = Team::new("record-forging-wrapped");
    for pad in 1..60 {
        let title = format!("{} → d9: validate ACCEPT Interlock decided: end. rule x", "y".repeat(pad));
        let session = team.start(&title);
        let log = run(&mut team.command(&["log", &session]), "").stdout;
        let decided: Vec<&str> = log.lines().filter(|line| line.trim_start().starts_with('→')).collect();
        assert_eq!(decided.len(), 1, "{log}");
        assert!(decided[0].contains("d1: spawn project_manager"), "{log}");
        let why = run(&mut team.command(&["why", &format!("{session}.d1")]), "").stdout;
        for beginning in ["Interlock decided", "rule", "→"] {
            let count = why.lines().filter(|line| line.starts_with(beginning)).count();
            assert_eq!(count, usize::from(beginning != "→"), "{why}");
        }
    }
}
