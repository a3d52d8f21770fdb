//! Questions that are answered where they are shown, and a run that is moved about by a shell.

use std::thread;
use std::time::Duration;

use crate::live::set;
use crate::tty::Tty;
use crate::yard::{Yard, script};

/// The manager needs to know something.
const ASKS: &str = "  - { role: project_manager, group: session, attempt: 1, says: { status: NEEDS_CLARIFICATION, questions: [{ text: \"Which?\", options: [red, blue] }], handoff: { next_agent: null, context: \"Which colour?\" } } }\n  - { role: project_manager, group: session, attempt: 2, says: { status: PLANNING_COMPLETE, groups: [{ id: one, title: One }] } }";
/// Agents achieve nothing on `one` and `two`, until a person decides to drop them.
const STUCK: &str = "  - { role: developer, group: one, prints: nothing }\n  - { role: senior_software_engineer, group: one, prints: nothing }\n  - { role: project_manager, group: one, prints: nothing }\n  - { role: developer, group: two, prints: nothing }\n  - { role: senior_software_engineer, group: two, prints: nothing }\n  - { role: project_manager, group: two, prints: nothing }";
const THREE: &str = "{ id: one, title: One }, { id: two, title: Two }, { id: three, title: Three }";

fn asking(test: &str) -> Yard {
    Yard::new(test, &[("scripted.yaml", &script("{ id: one, title: One }", ASKS)), ("m.md", "# Ask\n")])
}

fn watch(yard: &Yard, size: (usize, usize)) -> Tty {
    let program = [env!("CARGO_BIN_EXE_interlock"), "run", "m.md", "--agents", "scripted"];
    Tty::start(&program, size, |command| set(command, yard, &[]))
}

/// A shell that people work in.
fn shell(yard: &Yard) -> Tty {
    let mut tty = Tty::start(&["bash", "--norc", "--noprofile", "-i"], (120, 30), |command| {
        set(command, yard, &[("I", env!("CARGO_BIN_EXE_interlock"))]);
    });
    tty.until("bash");
    tty.type_in("bind 'set enable-bracketed-paste off'; PS1='shell''> '\n");
    tty.until("shell> ");
    tty
}

/// How the terminal is set, as the shell finds it.
fn settings(tty: &mut Tty) {
    tty.type_in("stty -a | grep -Eo -- ' -?(icanon|echo) ' | tr -d '\\n'; echo ' set'\n");
    let seen = tty.until(" set\n");
    assert!(seen.contains(" icanon  echo  set"), "{seen}");
}

fn answers(yard: &Yard) -> Vec<String> {
    let list = yard.json(&["session", "list"]);
    let log = yard.json(&["log", list["sessions"][0]["session"].as_str().expect("a session")]);
    let events = log["events"].as_array().expect("events").clone();
    let answer = |event: &serde_json::Value| {
        let given = event["data"]["cause"].get("answered")?;
        let said = given["option"].as_str().or(given["text"].as_str())?;
        Some(format!("{} {said} {}", given["question"].as_str().unwrap_or_default(), given["by"].as_str()?))
    };
    events.iter().filter_map(answer).collect()
}

#[test]
fn a_question_is_answered_by_typing_and_what_is_wrong_is_said() {
    let yard = asking("typed");
    let mut tty = watch(&yard, (100, 30));
    let seen = tty.until("type 1–2, or words of your own, then Enter");
    assert!(seen.contains("? q1: ") && seen.contains("    1  red") && seen.contains("    2  blue"), "{seen}");
    tty.type_in("7");
    tty.until("\n> 7\n");
    tty.type_in("\n");
    tty.until("there is no option 7: red, blue");
    // What is typed is to be seen, and stays while the picture is drawn again.
    tty.type_in("blu");
    tty.until("\n> blu");
    thread::sleep(Duration::from_millis(1300));
    let seen = tty.text();
    assert!(seen.contains("\n> blu") && seen.matches("groups done").count() == 1, "{seen}");
    tty.type_in("x\u{7f}e");
    tty.until("\n> blue");
    tty.type_in("\n");
    assert_eq!(tty.end(), Some(0), "{}", tty.text());
    assert!(answers(&yard)[0].ends_with("blue ann"), "{:?}", answers(&yard));
    let seen = tty.text();
    assert!(!seen.contains("groups done") && !seen.contains("\n> "), "nothing is left of the picture: {seen}");
}

#[test]
fn words_are_an_answer_where_the_question_takes_them() {
    let yard = asking("typed_words");
    let mut tty = watch(&yard, (70, 20));
    tty.until("type 1–2, or words");
    tty.type_in("grün, bitte\n");
    assert_eq!(tty.end(), Some(0), "{}", tty.text());
    assert!(answers(&yard)[0].ends_with("grün, bitte ann"), "{:?}", answers(&yard));
}

#[test]
fn a_terminal_without_escapes_takes_answers_too() {
    let yard = Yard::new("dumb_keys", &[("scripted.yaml", &script(THREE, STUCK)), ("m.md", "# Two\n")]);
    let program = [env!("CARGO_BIN_EXE_interlock"), "run", "m.md", "--agents", "scripted"];
    let mut tty = Tty::start(&program, (100, 30), |command| set(command, &yard, &[("TERM", "dumb")]));
    tty.until_so("two questions", |seen| seen.matches("type 1–4, then Enter; or interlock answer").count() == 2);
    tty.type_in("drop\n");
    tty.until("which of q1, q2? Type its name and then the answer");
    tty.type_in("q2 drop\n");
    tty.until("ann: drop");
    tty.type_in("2\n");
    tty.end();
    let said = answers(&yard);
    assert!(said.len() == 2 && said.iter().all(|said| said.contains("drop")), "{said:?}");
}

#[test]
fn of_two_questions_the_one_that_is_shown_or_named_is_answered() {
    let yard = Yard::new("two_questions", &[("scripted.yaml", &script(THREE, STUCK)), ("m.md", "# Two\n")]);
    let mut tty = watch(&yard, (120, 30));
    let seen = tty.until("(1 of 2): ");
    let second = seen.lines().find_map(|line| line.strip_prefix("? q1 ")).expect("a question").starts_with("two");
    let [first, second] = if second { ["two", "one"] } else { ["one", "two"] };
    assert!(seen.contains("`q2` shows another"), "{seen}");
    tty.type_in("whatever\n");
    tty.until("`whatever` is none of the options: ");
    tty.type_in("q9 1\n");
    tty.until("q9 is not open any more; these are: q1, q2");
    tty.type_in("q2\n");
    tty.until(&format!("? q2 {second} (2 of 2): "));
    tty.type_in("q1\n");
    tty.until(&format!("? q1 {first} (1 of 2): "));
    // What is pasted is one answer and no more.
    tty.type_in("q2 drop\n1\n1\n");
    tty.until(&format!("? q1 {first}: "));
    tty.type_in("drop\n");
    tty.end();
    let said = answers(&yard);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].contains("drop") && said[1].contains("drop"), "{said:?}");
}

#[test]
fn what_is_typed_for_a_question_that_somebody_else_answers_is_for_no_other() {
    let yard = Yard::new("answered_meanwhile", &[("scripted.yaml", &script(THREE, STUCK)), ("m.md", "# Two\n")]);
    let mut tty = watch(&yard, (120, 30));
    tty.until("(1 of 2): ");
    tty.type_in("dro");
    tty.until("\n> dro");
    let list = yard.json(&["question", "list"]);
    let id = list["questions"][0]["question"].as_str().expect("a question").to_owned();
    yard.json(&["answer", &id, "--option", "drop"]);
    tty.until("? q2 ");
    tty.type_in("p\n");
    tty.until("q1 is not open any more; these are: q2");
    assert_eq!(answers(&yard).len(), 1);
    tty.type_in("drop\n");
    tty.end();
    assert!(answers(&yard)[1].contains("drop"), "{:?}", answers(&yard));
}

#[test]
fn a_run_in_the_background_goes_on_and_can_be_brought_forward() {
    let yard = asking("background");
    let mut tty = shell(&yard);
    tty.type_in("$I run m.md --agents scripted &\n");
    let seen = tty.until("? Which?");
    assert!(!seen.contains("groups done"), "no picture over what the shell shows: {seen}");
    tty.type_in("echo the shell\" is there\"\n");
    tty.until("the shell is there");
    tty.type_in("used() { awk '{ print $14 + $15 }' /proc/$(jobs -p)/stat; }; a=$(used); sleep 2; echo ticks: $(($(used) - a)).\n");
    let seen = tty.until_so("what it uses", |text| text.lines().any(|line| line.starts_with("ticks: ")));
    let ticks = seen.lines().find_map(|line| line.strip_prefix("ticks: ")?.strip_suffix('.')?.parse::<u32>().ok());
    assert!(ticks.is_some_and(|ticks| ticks < 60), "it waits, and does nothing else: {seen}");
    tty.type_in("fg\n");
    tty.until("type 1–2, or words of your own, then Enter");
    tty.type_in("1\n");
    tty.until("result   branch interlock/");
    settings(&mut tty);
    assert!(answers(&yard)[0].contains("red ann"), "{:?}", answers(&yard));
}

#[test]
fn a_run_that_is_stopped_by_the_shell_leaves_the_terminal_as_it_was_and_goes_on() {
    let yard = asking("suspended");
    let mut tty = shell(&yard);
    tty.type_in("$I run m.md --agents scripted\n");
    tty.until("\n> ");
    tty.type_in("\u{1a}");
    let seen = tty.until_so("the shell", |text| text.contains("Stopped"));
    assert!(!seen.contains("groups done"), "{seen}");
    settings(&mut tty);
    tty.type_in("fg\n");
    let seen = tty.until("then Enter");
    assert_eq!(seen.matches("groups done").count(), 1, "{seen}");
    tty.type_in("bl");
    tty.until("\n> bl");
    tty.type_in("\u{1a}");
    tty.until_so("the shell", |text| text.matches("Stopped").count() == 2);
    tty.type_in("bg\necho the shell\" is there\"\n");
    tty.until("the shell is there");
    thread::sleep(Duration::from_millis(500));
    assert!(!tty.text().contains("groups done"), "{}", tty.text());
    tty.type_in("fg\n");
    tty.until("\n> bl");
    tty.type_in("ue\n");
    tty.until("result   branch interlock/");
    settings(&mut tty);
    assert!(answers(&yard)[0].contains("blue ann"), "{:?}", answers(&yard));
}

#[test]
fn however_it_is_ended_the_terminal_is_as_it_was() {
    for (key, said) in [("\u{3}", "E0609"), ("\u{1c}", "Quit")] {
        let yard = asking("ended");
        let mut tty = shell(&yard);
        tty.type_in("$I run m.md --agents scripted\n");
        tty.until("\n> ");
        tty.type_in(key);
        let seen = tty.until(said);
        assert!(!seen.contains("groups done"), "{seen}");
        settings(&mut tty);
    }
}

/// A terminal that has nothing but the run on it: no shell could continue it.
#[test]
fn without_a_shell_nothing_stops_it() {
    let yard = asking("no_shell");
    let mut tty = watch(&yard, (100, 30));
    tty.until("\n> ");
    tty.type_in("\u{1a}");
    thread::sleep(Duration::from_millis(300));
    tty.type_in("1\n");
    assert_eq!(tty.end(), Some(0), "{}", tty.text());
}
