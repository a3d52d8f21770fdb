//! People beside a run: who stop it, start it twice, answer it, or take work away from it.

use std::fs;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::scene::{Scene, finish};

/// Waits for the first word of an agent.
#[track_caller]
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}: not within 30 s");
        thread::sleep(Duration::from_millis(10));
    }
}

fn send(run: &Child, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(run.id()).unwrap()).unwrap(), signal).unwrap();
}

const SLEEPS_FIRST: &str = "if TURN == 1:\n    note('began')\n    time.sleep(1000)\nwork(); say('READY_FOR_QA')";

#[test]
fn a_run_that_is_asked_to_stop_leaves_nothing_and_goes_on_later() {
    let scene = Scene::new("stop").agent("developer", SLEEPS_FIRST);
    let run = scene.start();
    until("began", || scene.noted("began") == "x");
    send(&run, Signal::INT);
    let ran = finish(run);
    assert!(ran.exit > 0 && ran.text().contains("E0609"), "{}", ran.text());
    assert_eq!(scene.left(), Vec::<String>::new());
    scene.completes();
    assert_eq!(scene.said()[1], "developer READY_FOR_QA", "being stopped is no failure of the agent");
}

#[test]
fn a_session_has_one_run() {
    let scene = Scene::new("twice").agent("developer", SLEEPS_FIRST);
    let run = scene.start();
    until("began", || scene.noted("began") == "x");
    let second = finish(scene.start());
    assert!(second.exit > 0 && second.text().contains("E0606"), "{}", second.text());
    send(&run, Signal::TERM);
    finish(run);
    scene.completes();
}

/// A run that has ended has no repository any more: created again, it would not contain the result.
#[test]
fn the_result_of_a_session_that_has_ended_is_not_overwritten() {
    let scene = Scene::new("ended");
    scene.completes();
    let (session, result) = (scene.session(), scene.result());
    let agents = scene.path("agents.yaml").display().to_string();
    let again = scene.ask(&["run", "--session", &session, "--agents", &agents, "--no-wait"]);
    assert!(again.exit > 0 && again.text().contains("has ended"), "{}", again.text());
    assert_eq!(scene.result(), result);
}

/// A person works on the branch with the result while the session goes on.
#[test]
fn what_a_person_adds_to_the_result_is_not_overwritten() {
    let scene = Scene::new("added").agent("developer", SLEEPS_FIRST);
    let run = scene.start();
    until("began", || scene.noted("began") == "x");
    send(&run, Signal::INT);
    finish(run);
    let branch = format!("interlock/{}", scene.session());
    let tree = scene.git(&["rev-parse", "HEAD^{tree}"]);
    let commit = scene.git(&["commit-tree", &tree, "-p", &branch, "-m", "By Ann"]);
    scene.git(&["update-ref", &format!("refs/heads/{branch}"), &commit]);
    let ran = scene.run();
    assert!(ran.exit > 0 && ran.text().contains("rename it"), "{}", ran.text());
    assert_eq!(scene.git(&["rev-parse", &branch]), commit);
    scene.git(&["branch", "--move", &branch, "anns"]);
    scene.completes();
    assert!(scene.result().contains(&"work/g.txt".to_owned()));
}

/// A git that was killed leaves its locks.
#[test]
fn locks_of_a_git_that_was_killed_hold_nobody_up() {
    let scene = Scene::new("locks").agent("developer", SLEEPS_FIRST);
    let mut run = scene.start();
    until("began", || scene.noted("began") == "x");
    run.kill().unwrap();
    run.wait().unwrap();
    let vault = scene.site().join("repository.git");
    for lock in ["packed-refs.lock", "index-g.lock", "HEAD.lock", "config.lock"] {
        fs::write(vault.join(lock), "").unwrap();
    }
    scene.completes();
}

/// An agent that talks all the time must not keep the run from seeing that the session was cancelled.
#[test]
fn what_others_decide_is_seen_while_an_agent_talks() {
    let script =
        "note('began')\nend = time.time() + 60\nwhile time.time() < end: print('talk', flush=True); time.sleep(0.01)";
    let scene = Scene::new("talks").agent("developer", script);
    let run = scene.start();
    until("began", || scene.noted("began") == "x");
    let start = Instant::now();
    let cancelled = scene.ask(&["cancel", &scene.session(), "--yes"]);
    let cancelled = if cancelled.exit == 0 { cancelled } else { scene.ask(&["cancel", &scene.session()]) };
    assert_eq!(cancelled.exit, 0, "{}", cancelled.text());
    finish(run);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!(scene.left(), Vec::<String>::new());
}

#[test]
fn a_question_is_answered_from_elsewhere_while_the_run_waits() {
    let script = "
if TURN == 1: say('NEEDS_CLARIFICATION', clarification_question='Which?', questions=[{'text': 'Which?', 'options': ['all', 'some']}])
elif TURN == 2: note('prompt', PROMPT.decode()); say('PLANNING_COMPLETE', groups=[{'id': 'g', 'title': 'The work'}])
else: say('BAZINGA')";
    let scene = Scene::new("answer").agent("project_manager", script);
    let run = scene.start_waiting();
    until("a question", || {
        scene.find_site().is_some()
            && scene.ask(&["answer", &format!("{}.q1", scene.session()), "--text", "all of them", "--as", "ann"]).exit
                == 0
    });
    let ran = finish(run);
    assert_eq!(ran.exit, 0, "{}", ran.text());
    assert!(scene.noted("prompt").contains("all of them"), "{}", scene.noted("prompt"));
}

/// No person is there; the agents file decides.
#[test]
fn a_question_with_a_default_answers_itself() {
    let script = "if TURN == 1: sys.exit(78)\nwork(); say('READY_FOR_QA')";
    let scene =
        Scene::new("default").agent("developer", script).with("defaults: { stuck: { after: 1s, option: retry } }");
    let ran = finish(scene.start_waiting());
    assert_eq!(ran.exit, 0, "{}", ran.text());
    assert_eq!(scene.said()[1..3], ["developer halted", "developer READY_FOR_QA"]);
}

#[test]
fn time_that_is_used_up_needs_a_person() {
    let script = "time.sleep(60 if TURN == 1 else 0); work(); say('READY_FOR_QA')";
    let scene = Scene::new("budget").agent("developer", script).with("budget: { group: { time: 2s } }");
    let ran = scene.run();
    assert!(ran.exit > 0, "{}", ran.text());
    assert_eq!(scene.said()[1..], ["developer halted"]);
    assert!(scene.notes_of_losses()[0].contains("budget of group g is used up"), "{:?}", scene.notes_of_losses());
    let answered = scene.ask(&["answer", &format!("{}.q1", scene.session()), "--option", "retry"]);
    assert_eq!(answered.exit, 0, "{}", answered.text());
    scene.completes();
}

/// Without its repository a session would go on from nothing, and what was merged would be missing from the result.
#[test]
fn a_repository_that_is_gone_is_missed() {
    let script = "if TURN == 1:\n    import shutil\n    shutil.rmtree(os.path.dirname(os.path.dirname(os.getcwd())))\nwork(); say('READY_FOR_QA')";
    let scene = Scene::new("nothing").agent("developer", script);
    let first = scene.run();
    assert!(first.exit > 0, "{}", first.text());
    let again = scene.run();
    assert!(again.exit > 0 && again.text().contains("is gone"), "{}", again.text());
}

/// A branch of this name leaves no room for `interlock/SESSION`: known before agents have worked for hours.
#[test]
fn a_branch_that_is_in_the_way_is_known_at_the_beginning() {
    let scene = Scene::new("branch").agent("developer", "work(); say('READY_FOR_QA')");
    scene.git(&["branch", "interlock"]);
    let ran = scene.run();
    assert!(ran.exit > 0 && ran.text().contains("refs/heads/interlock"), "{}", ran.text());
    assert_eq!(scene.noted("turns-developer"), "");
}
