//! Commands that decide, stopped at every call.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::project::{Dice, Strike, run};
use crate::scene::{ACTS, Act, Copy, Scene};

/// Commands that are killed at some moment, beside those killed at every call.
const MOMENTS: u64 = 320;
/// No command can do with fewer calls; if one does, the library was not loaded.
const FEWEST: u32 = 20;

/// Strikes at every call of an act, from the first, in steps.
fn at_every_call(
    scene: &Scene,
    kind: &str,
    act: Act,
    step: usize,
    check: impl Fn(&Copy<'_>, &crate::project::Run),
) -> u32 {
    for at in (1..).step_by(step) {
        let copy = scene.copy(&format!("{kind}-{act:?}-{at}"));
        let store = copy.store();
        let strike = Strike { root: &store, kind, at };
        let (run, struck) = strike.run(&mut copy.command(act), &copy.mark());
        let Some(struck) = struck else {
            run.done();
            assert!(at > FEWEST, "only {at} calls");
            return at;
        };
        eprintln!("{act:?} {kind} at {at}, {struck}: exit {:?}, signal {:?}", run.exit, run.signal);
        check(&copy, &run);
    }
    unreachable!("no command goes on for ever")
}

/// The call failed: the command says so and nothing is stored, or it did not matter and everything is.
fn fails_whole(copy: &Copy<'_>, run: &crate::project::Run, act: Act) {
    let whole = copy.is_whole();
    if run.exit == Some(0) {
        run.done();
    } else {
        let code = run.unavailable();
        assert!(matches!(code.as_str(), "E0505" | "E0506" | "E0509"), "{run:?}");
    }
    assert_eq!(whole, run.exit == Some(0), "what is said and what is stored: {run:?}");
    copy.again(act, whole);
}

#[test]
fn a_process_that_ends_at_any_call_leaves_all_or_nothing() {
    let scene = Scene::new("killed");
    for act in ACTS {
        at_every_call(&scene, "kill", act, 1, |copy, run| {
            assert_eq!(run.signal, Some(9), "{run:?}");
            let whole = copy.is_whole();
            copy.again(act, whole);
        });
    }
}

#[test]
fn an_error_of_the_disk_at_any_call_leaves_all_or_nothing() {
    let scene = Scene::new("eio");
    for act in ACTS {
        at_every_call(&scene, "eio", act, 1, |copy, run| fails_whole(copy, run, act));
    }
}

#[test]
fn a_disk_that_is_full_from_any_call_on_leaves_all_or_nothing() {
    let scene = Scene::new("full");
    for act in ACTS {
        at_every_call(&scene, "full", act, 1, |copy, run| fails_whole(copy, run, act));
    }
}

#[test]
fn a_write_that_is_cut_short_leaves_all_or_nothing() {
    let scene = Scene::new("short");
    for act in ACTS {
        at_every_call(&scene, "short", act, 1, |copy, run| fails_whole(copy, run, act));
    }
}

/// More than SQLite keeps in memory is written before the commit; an error there ends the transaction at once.
#[test]
fn a_large_report_is_stored_whole_or_not_at_all() {
    let scene = Scene::reporting("large", &json!({ "notes": "x".repeat(3 << 20) }));
    let calls = at_every_call(&scene, "full", Act::Report, 149, |copy, run| fails_whole(copy, run, Act::Report));
    assert!(calls > 500, "it fits into memory: {calls} calls");
}

#[test]
fn a_process_killed_at_any_moment_leaves_all_or_nothing() {
    let scene = Scene::new("moments");
    let mut dice = Dice(20);
    for act in ACTS {
        let copy = scene.copy(&format!("measured-{act:?}"));
        let before = Instant::now();
        run(&mut copy.command(act)).done();
        let whole = u64::try_from(before.elapsed().as_micros()).unwrap();
        for moment in 0..MOMENTS / 4 {
            let copy = scene.copy(&format!("{act:?}-{moment}"));
            let mut child = copy.command(act).stdout(std::process::Stdio::null()).spawn().unwrap();
            // The moment is what is tested; nothing is waited for.
            thread::sleep(Duration::from_micros(dice.roll(whole + whole / 8)));
            child.kill().unwrap();
            child.wait().unwrap();
            let whole = copy.is_whole();
            copy.again(act, whole);
        }
    }
}
