//! `interlock import bazinga`, held against what the original decided.
//!
//! `router-decisions.jsonl` is what BAZINGA's router answered, run for real. The imported
//! workflow must answer every line the same, or as one of the listed deviations says.

mod model;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use interlock_core::decision::Decision;
use interlock_core::id::Name;
use interlock_core::route::{RouteError, RouteQuery, RouteSource, route};
use interlock_core::workflow::{self, Workflow};
use model::{Deviation, Line, Model, Outcome, goes};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/bazinga/transitions.json");
const ORIGINAL: &str = include_str!("../data/bazinga/transitions.json");
const DECISIONS: &str = include_str!("../data/bazinga/router-decisions.jsonl");
const IMPORTED: &str = include_str!("../data/bazinga/imported.yaml");

fn interlock(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_interlock")).args(arguments).output().expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn imported() -> Workflow {
    let loaded = workflow::load("imported.yaml", IMPORTED, &|_| None);
    assert!(loaded.problems.is_empty(), "{:#?}", loaded.problems);
    loaded.workflow.expect("it has no problems")
}

fn lines() -> Vec<Line> {
    DECISIONS.lines().map(Line::read).collect()
}

/// The facts of a line, by the names that `route` has for them.
fn facts(line: &Line) -> Vec<(&'static str, String)> {
    vec![
        ("testing", line.testing.clone()),
        ("security_sensitive", line.security.to_string()),
        ("loop.qa.no_progress", line.qa_attempts.to_string()),
        ("loop.review.no_progress", line.review_attempts.to_string()),
        ("groups.pending", line.pending.to_string()),
        ("groups.in_progress", line.in_progress.to_string()),
        ("group.status", line.group_status.clone()),
    ]
}

fn query(line: &Line, more: &[(&str, &str)]) -> RouteQuery {
    let mut given: BTreeMap<Name, Name> =
        facts(line).into_iter().map(|(name, value)| (Name::new(name), Name::from(value))).collect();
    given.extend(more.iter().map(|(name, value)| (Name::new(name), Name::new(value))));
    RouteQuery {
        source: RouteSource::Role(Name::new(&line.role)),
        status: Name::new(&line.status),
        reason: None,
        phase: None,
        given,
        scope: None,
        undeclared_roles: true,
    }
}

fn outcome(answer: &Result<Decision, RouteError>) -> Outcome {
    match answer {
        Ok(decision) => {
            let roles: BTreeSet<&str> = decision.next.iter().map(|next| next.role.as_str()).collect();
            assert!(roles.len() <= 1, "{roles:?}");
            Outcome::Goes(decision.action.name(), roles.first().map(|role| (*role).to_owned()))
        }
        Err(RouteError::Query(_)) => Outcome::UnknownRole,
        Err(RouteError::Workflow(_)) => Outcome::Refused,
    }
}

#[test]
fn every_recorded_decision_comes_out_the_same_or_as_a_listed_deviation() {
    let (workflow, model) = (imported(), Model::read(ORIGINAL));
    let mut counts: BTreeMap<Option<Deviation>, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in lines() {
        let expected = model.expect(&line, None);
        let came = outcome(&route(&workflow, &query(&line, &[])));
        let same = came == line.original;
        if came != expected.outcome || (!same && expected.deviations.is_empty()) {
            wrong.push(format!("{line:?}\n  came to {came:?}, not to {:?}", expected.outcome));
        } else {
            *counts.entry(expected.deviations.first().copied().filter(|_| !same)).or_default() += 1;
        }
    }
    println!("{:6} lines", lines().len());
    for (deviation, count) in &counts {
        println!("{count:6} {}", deviation.map_or("the same".to_owned(), |deviation| format!("{deviation:?}")));
    }
    assert!(wrong.is_empty(), "{} lines are neither:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(counts, counts_in_the_documentation());
}

/// The table in the documentation is the list of deviations, and its counts are these.
fn counts_in_the_documentation() -> BTreeMap<Option<Deviation>, usize> {
    let page = include_str!("../../docs/import-bazinga.md");
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let name = cells.next()?.strip_prefix('`')?.strip_suffix('`')?.to_owned();
        Some((name, cells.last_number()?))
    });
    let rows: BTreeMap<String, usize> = rows.collect();
    let named = Deviation::ALL.iter().map(|deviation| (format!("{deviation:?}"), Some(*deviation)));
    let named: BTreeMap<String, Option<Deviation>> = named.chain([("Same".to_owned(), None)]).collect();
    let known = |name: &str| *named.get(name).unwrap_or_else(|| panic!("`{name}` is no deviation"));
    rows.iter().map(|(name, count)| (known(name), *count)).collect()
}

trait LastNumber {
    fn last_number(self) -> Option<usize>;
}

impl<'a, I: Iterator<Item = &'a str>> LastNumber for I {
    fn last_number(self) -> Option<usize> {
        self.filter_map(|cell| cell.replace(',', "").parse().ok()).last()
    }
}

#[test]
fn the_lines_cover_every_transition_of_the_file() {
    let seen: BTreeSet<(String, String)> = lines().into_iter().map(|line| (line.role, line.status)).collect();
    let missing: Vec<_> = Model::read(ORIGINAL).pairs().difference(&seen).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_is_passed_on_is_what_the_original_passed_on() {
    let workflow = imported();
    let mut compared = 0;
    for line in lines().into_iter().filter(|line| !line.context.is_empty()) {
        let Ok(decision) = route(&workflow, &query(&line, &[])) else { continue };
        if outcome(&Ok(decision.clone())) != line.original {
            continue;
        }
        let context: Vec<&str> = decision.context.iter().map(Name::as_str).collect();
        match line.status.as_str() {
            // One list for all who are blocked; what a handoff does not have is only noted.
            "BLOCKED" => assert!(line.context.iter().all(|field| context.contains(&field.as_str())), "{line:?}"),
            _ => assert_eq!(context, line.context, "{line:?}"),
        }
        if line.status == "ESCALATE_TO_OPUS" {
            assert_eq!(decision.next[0].model.as_deref(), line.model.as_deref());
        }
        compared += 1;
    }
    assert!(compared > 1_300, "{compared}");
}

#[test]
fn a_batch_starts_as_many_as_there_are_slots() {
    let (workflow, model) = (imported(), Model::read(ORIGINAL));
    let (mut same, mut fewer) = (0, 0);
    // A pending group of its own is one more in the original; here it is counted where all are.
    for line in lines().into_iter().filter(|line| line.role == "project_manager" && line.group_status != "pending") {
        let Some(started) = line.started else { continue };
        let Ok(decision) = route(&workflow, &query(&line, &[])) else { continue };
        assert_eq!(decision.next.len(), line.pending.min(model.slots(&line)), "{line:?}");
        if decision.next.len() == started {
            same += 1;
        } else {
            fewer += 1;
        }
        assert!(decision.next.len() <= started, "{line:?}");
    }
    println!("{same} batches of the same size, {fewer} smaller because of what is running");
    assert_eq!((same, fewer), (35, 17));
}

#[test]
fn guidance_returns_to_whoever_was_blocked() {
    let (workflow, model) = (imported(), Model::read(ORIGINAL));
    let mut returned = 0;
    for line in lines().into_iter().filter(|line| line.role == "tech_lead" && line.status.starts_with("UNBLOCKING")) {
        // QA does not wait for anything where there is none.
        let blocked = if line.testing == "full" { "qa_expert" } else { "investigator" };
        let came = outcome(&route(&workflow, &query(&line, &[("blocked_agent", blocked)])));
        assert_eq!(came, model.expect(&line, Some(blocked)).outcome, "{line:?}");
        returned += usize::from(came == goes("return", blocked));
    }
    assert_eq!(returned, 81);
}

#[test]
fn rejected_work_goes_back_to_its_author_and_up_from_there() {
    let workflow = imported();
    let mut back = 0;
    for line in lines().into_iter().filter(|line| matches!(&*line.status, "FAIL" | "CHANGES_REQUESTED")) {
        let attempts = if line.role == "qa_expert" { line.qa_attempts } else { line.review_attempts };
        for author in ["senior_software_engineer", "requirements_engineer"] {
            let came = outcome(&route(&workflow, &query(&line, &[("author", author)])));
            let expected = if attempts < 2 { goes("respawn", author) } else { goes("spawn", "project_manager") };
            assert_eq!(came, expected, "{line:?}");
            back += usize::from(attempts < 2);
        }
    }
    assert!(back > 50, "{back}");
}

#[test]
fn every_loop_of_the_original_has_an_end() {
    let workflow = imported();
    let loops = [
        ("developer", "PARTIAL", "partial", "senior_software_engineer"),
        ("developer", "INCOMPLETE", "partial", "senior_software_engineer"),
        ("senior_software_engineer", "PARTIAL", "partial", "project_manager"),
        ("requirements_engineer", "PARTIAL", "partial", "project_manager"),
        ("investigator", "HYPOTHESIS_ELIMINATED", "hypotheses", "tech_lead"),
        ("investigator", "NEED_MORE_ANALYSIS", "hypotheses", "tech_lead"),
        ("tech_lead", "ESCALATE_TO_OPUS", "second_opinion", "project_manager"),
    ];
    for (role, status, counter, above) in loops {
        let ask = |iteration: u32| {
            let counter = Name::from(format!("loop.{counter}.iteration"));
            let given = BTreeMap::from([(counter, Name::from(iteration.to_string()))]);
            let query = RouteQuery {
                source: RouteSource::Role(Name::new(role)),
                status: Name::new(status),
                reason: None,
                phase: None,
                given,
                scope: None,
                undeclared_roles: true,
            };
            outcome(&route(&workflow, &query))
        };
        assert_eq!(ask(1), goes("respawn", role), "{status}");
        assert_eq!(ask(20), goes("spawn", above), "{status}");
    }
}

#[test]
fn spelling_makes_no_difference() {
    let workflow = imported();
    for line in lines().into_iter().filter(|line| line.status.contains('_')) {
        let spelt = Line { status: format!(" {} ", line.status.to_lowercase().replace('_', "-")), ..line.clone() };
        let expected = outcome(&route(&workflow, &query(&line, &[])));
        // `_note` and `_description` are no statuses, however they are written.
        assert_eq!(outcome(&route(&workflow, &query(&spelt, &[]))), expected, "{line:?}");
    }
}

#[test]
fn the_program_imports_the_file_and_tells_what_had_no_effect() {
    let (code, stdout, stderr) = interlock(&["import", "bazinga", FILE]);
    assert_eq!((code, stdout.as_str()), (Some(0), IMPORTED));
    for note in include_str!("../data/bazinga/notes.txt").lines() {
        assert!(stderr.contains(note), "{note}\n{stderr}");
    }
    let (code, _, _) = interlock(&["import", "bazinga", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
    assert_eq!(code, Some(4));
}

#[test]
fn the_program_routes_a_sample_as_the_library_does() {
    let workflow = imported();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/bazinga/imported.yaml");
    for line in lines().into_iter().step_by(50) {
        let facts: Vec<String> = facts(&line).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut arguments = vec!["route", "--json", "--workflow", file, "--role", &line.role, "--status", &line.status];
        for fact in &facts {
            arguments.extend([if fact.starts_with("testing=") { "--set" } else { "--fact" }, fact]);
        }
        let (code, stdout, stderr) = interlock(&arguments);
        let answer: serde_json::Value =
            serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
        match outcome(&route(&workflow, &query(&line, &[]))) {
            Outcome::Goes(action, role) => {
                assert_eq!(code, Some(0), "{line:?}: {stdout}");
                assert_eq!(answer["action"], action, "{line:?}");
                assert_eq!(answer["next"][0]["role"].as_str(), role.as_deref(), "{line:?}");
            }
            Outcome::UnknownRole => assert_eq!(code, Some(4), "{line:?}: {stdout}"),
            Outcome::Refused => assert_eq!(code, Some(3), "{line:?}: {stdout}"),
            Outcome::Fails => unreachable!("Interlock always has an answer"),
        }
    }
}
