//! Two with the same secret, at the same time.

use std::fs;
use std::process::Child;

use serde_json::{Value as Json, json};

use crate::project::{Project, run, text};

const RACES: usize = 20;

fn both(children: [Child; 2]) -> [(Option<i32>, Json); 2] {
    children.map(|child| {
        let output = child.wait_with_output().unwrap();
        (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
    })
}

fn piped(mut command: std::process::Command) -> Child {
    command.stdout(std::process::Stdio::piped()).spawn().unwrap()
}

#[test]
fn the_same_report_twice_at_once_is_decided_once() {
    let project = Project::new("same");
    let session = project.planned(1);
    let maker = project.handoff("maker", "MADE", &json!({}));
    let checker = project.handoff("checker", "AGAIN", &json!({}));
    let mut assignment = format!("{session}.a2");
    for race in 0..RACES {
        let token = project.claim(&assignment);
        let handoff = if race.is_multiple_of(2) { &maker } else { &checker };
        let [first, second] = both([(); 2].map(|()| piped(project.reporting(&assignment, &token, handoff))));
        assert_eq!((first.0, second.0), (Some(0), Some(0)), "{first:?} {second:?}");
        let repeated = [&first.1["repeated"], &second.1["repeated"]];
        assert!(repeated == [true, false] || repeated == [false, true], "{first:?} {second:?}");
        for field in ["decision", "next", "action", "rule", "seq"] {
            assert_eq!(first.1[field], second.1[field]);
        }
        assignment = text(&first.1["next"][0]["assignment"]);
    }
    assert_eq!(project.verified(), 3 + 2 * u64::try_from(RACES).unwrap());
}

#[test]
fn two_reports_that_differ_are_decided_once_and_refused_once() {
    let project = Project::new("differ");
    let session = project.planned(1);
    let one = project.handoff("maker", "MADE", &json!({}));
    let other = project.root().join("other.json");
    fs::write(&other, fs::read_to_string(&one).unwrap().replace("as asked", "otherwise")).unwrap();
    let checker = project.handoff("checker", "AGAIN", &json!({}));
    let mut assignment = format!("{session}.a2");
    for _ in 0..RACES {
        let token = project.claim(&assignment);
        let ended = both([&one, &other].map(|handoff| piped(project.reporting(&assignment, &token, handoff))));
        let decided: Vec<_> = ended.iter().filter(|(exit, _)| *exit == Some(0)).collect();
        let refused: Vec<_> = ended.iter().filter(|(exit, _)| *exit == Some(3)).collect();
        assert_eq!((decided.len(), refused.len()), (1, 1), "{ended:?}");
        assert!(text(&refused[0].1["error"]["code"]).starts_with("E03"), "{ended:?}");
        let next = text(&decided[0].1["next"][0]["assignment"]);
        let token = project.claim(&next);
        let done = run(&mut project.reporting(&next, &token, &checker)).done();
        assignment = text(&done["next"][0]["assignment"]);
    }
    // Twice a claim and a report, and the refusal.
    assert_eq!(project.verified(), 3 + 5 * u64::try_from(RACES).unwrap());
}

#[test]
fn of_two_who_claim_at_once_one_token_holds() {
    let project = Project::new("claims");
    let session = project.planned(1);
    let made = project.handoff("maker", "MADE", &json!({}));
    let assignment = format!("{session}.a2");
    let claims = both([(); 2].map(|()| piped(project.command(&["claim", &assignment]))));
    let exits = claims.each_ref().map(|(_, claim)| {
        let token = text(&claim["token"]);
        run(&mut project.reporting(&assignment, &token, &made)).exit
    });
    let mut exits = exits.to_vec();
    exits.sort_unstable();
    assert!(exits == [Some(0), Some(3)], "{claims:?} {exits:?}");
    assert_eq!(project.verified(), 7);
}
