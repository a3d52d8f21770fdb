//! The live view, on a terminal of its own.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::budgets::with_claude;
use crate::tty::Tty;
use crate::yard::{Yard, script};

/// A run of the program on a terminal.
fn watch(yard: &Yard, arguments: &[&str], size: (usize, usize), more: &[(&str, &str)]) -> Tty {
    let program: Vec<&str> = [env!("CARGO_BIN_EXE_interlock"), "run"].iter().chain(arguments).copied().collect();
    Tty::start(&program, size, |command| set(command, yard, more))
}

pub(crate) fn set(command: &mut Command, yard: &Yard, more: &[(&str, &str)]) {
    command.current_dir(yard.project()).env("HOME", yard.path("..")).env("USER", "ann");
    command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME").envs(more.iter().copied());
}

fn groups(count: usize) -> String {
    (0..count).map(|n| format!("{{ id: g{n}, title: G{n} }}")).collect::<Vec<_>>().join(", ")
}

/// A developer that takes its time, on each of so many groups.
fn slow(test: &str, count: usize, wait: &str) -> Yard {
    let more = format!(
        "  - {{ role: developer, does: [{{ say: \"thinks about a very long sentence that goes on and on\", wait: {wait} }}, {{ write: \"{{group}}.txt\", text: x }}], says: {{ status: READY_FOR_QA }} }}"
    );
    Yard::new(test, &[("scripted.yaml", &script(&groups(count), &more)), ("m.md", "# Live\n")])
}

#[test]
fn who_is_at_work_is_drawn_and_not_too_often() {
    // An agent that would clear the screen if it could.
    let more = "  - { role: qa_expert, does: [{ say: \"\\e[2Jgone\", wait: 300ms }], says: { status: PASS, test_progression: { still_failing: [] } } }";
    let yard = Yard::new("live", &[("scripted.yaml", &script(&groups(12), more)), ("m.md", "# Live\n")]);
    let began = Instant::now();
    let mut tty = watch(&yard, &["m.md", "--agents", "scripted", "--parallel", "8"], (120, 40), &[]);
    assert_eq!(tty.end(), Some(0), "{}", tty.text());
    let (text, seconds) = (tty.stream(), began.elapsed().as_secs_f64());
    let pictures = text.matches("groups done").count();
    assert!(pictures >= 3, "it draws: {text}");
    assert!((pictures as f64) < 15.0 * seconds + 1.0, "{pictures} pictures in {seconds} s");
    assert!(text.contains("␛[2Jgone") && !text.contains("\u{1b}[2J"), "words of agents are no commands: {text}");
    let seen = tty.text();
    assert!(seen.contains("completed") && !seen.contains("groups done"), "the last picture goes: {seen}");
}

#[test]
fn without_colours_the_picture_is_drawn_in_its_place_all_the_same() {
    let yard = slow("no_color", 3, "400ms");
    let mut tty = watch(&yard, &["m.md", "--agents", "scripted"], (100, 30), &[("NO_COLOR", "1")]);
    assert_eq!(tty.end(), Some(0), "{}", tty.text());
    let (stream, seen) = (tty.stream(), tty.text());
    assert!(stream.matches("groups done").count() >= 3 && !seen.contains("groups done"), "{seen}");
    assert!(!stream.replace("\u{1b}[J", "").replace("\u{1b}[K", "").contains("m\u{1b}[0m"), "{stream}");
    let styles = stream
        .split('\u{1b}')
        .skip(1)
        .filter(|part| part.trim_start_matches(['[', ';', '0', '1', '2', '3', '6']).starts_with('m'));
    assert_eq!(styles.count(), 0, "{stream}");
}

#[test]
fn a_terminal_that_takes_no_escapes_gets_none() {
    let yard = slow("dumb", 2, "300ms");
    let mut tty = watch(&yard, &["m.md", "--agents", "scripted"], (100, 30), &[("TERM", "dumb")]);
    assert_eq!(tty.end(), Some(0), "{}", tty.text());
    let stream = tty.stream();
    assert!(!stream.contains('\u{1b}') && !stream.contains("groups done"), "{stream}");
    assert!(stream.contains("developer READY_FOR_QA"), "{stream}");
}

#[test]
fn a_narrow_terminal_is_not_broken_nor_one_that_becomes_narrow() {
    let yard = slow("narrow", 6, "700ms");
    let arguments = ["m.md", "--agents", "scripted", "--parallel", "3"];
    let mut tty = watch(&yard, &arguments, (34, 7), &[]);
    let seen = tty.until("● g1");
    assert_eq!(seen.matches("groups done").count(), 1, "{seen}");
    assert!(seen.lines().any(|line| line.starts_with("  … ")), "what does not fit is counted: {seen}");
    tty.resize(26, 7);
    std::thread::sleep(Duration::from_millis(600));
    let seen = tty.text();
    assert_eq!(seen.matches("groups done").count(), 1, "{seen}");
    assert_eq!(tty.end(), Some(0), "{}", tty.text());
    assert!(!tty.text().contains("groups done"), "{}", tty.text());
}

#[test]
fn groups_on_which_nobody_is_at_work_are_shown_too() {
    let yard = slow("waiting_groups", 3, "1s");
    let mut tty = watch(&yard, &["m.md", "--agents", "scripted", "--parallel", "1"], (100, 30), &[]);
    let seen = tty.until("waits for a place");
    let row =
        |group: &str| seen.lines().find(|line| line.contains(&format!(" {group} "))).unwrap_or_default().to_owned();
    assert!(row("g0").contains("● g0") && row("g0").contains("developer") && row("g0").contains("#1"), "{seen}");
    assert!(row("g2").contains("○ g2") && row("g2").contains("waits for a place"), "{seen}");
    assert_eq!(tty.end(), Some(0), "{}", tty.text());
}

#[test]
fn what_a_group_has_spent_is_shown_as_far_as_it_is_told() {
    let roles = "roles: { any: s, developer: c }";
    let set = "TOKENS: \"12345\", BEATS: \"40\", COST: \"0.25\"";
    let yard = with_claude("spending", "{ id: one, title: One }", set, roles);
    let mut tty = watch(&yard, &["m.md"], (100, 30), &[]);
    let seen = tty.until_so("tokens", |seen| seen.matches("12k tok").count() == 2);
    assert!(
        seen.lines().any(|line| line.starts_with("● one ") && line.contains("12k tok  ") && line.contains("at it")),
        "{seen}"
    );
    assert_eq!(tty.end(), Some(0), "{}", tty.text());
    assert!(tty.stream().contains(" · $0.25 · 12k tok"), "{}", tty.stream());
}
