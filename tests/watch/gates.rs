//! `interlock gate`: in a clean checkout of one tree, and for that tree only.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::team::Team;
use crate::{before_the_gate, git};

fn put(team: &Team, name: &str, text: &str) {
    fs::write(team.project().join(name), text).expect("a file");
}

fn gate(team: &Team, session: &str, number: u32) -> Json {
    team.ask(&["gate", &format!("{session}.g{number}")]).done()
}

fn bazinga(team: &Team, session: &str) -> Json {
    team.plays(session, "project_manager", "-", "BAZINGA", json!({}))
}

/// The author works on a group again, up to the gate.
fn work_again(team: &Team, session: &str) {
    team.plays(session, "developer", "login", "READY_FOR_QA", json!({}));
    team.plays(session, "qa_expert", "login", "PASS", json!({}));
    team.plays(session, "tech_lead", "login", "APPROVED", json!({}));
    team.plays(session, "developer", "login", "MERGE_SUCCESS", json!({}));
}

fn gate_results(team: &Team, session: &str) -> Vec<Json> {
    let log = team.log(session);
    let finished = log.iter().filter(|event| event["kind"] == "gate_finished");
    finished.map(|event| event["data"]["cause"]["gate_finished"].clone()).collect()
}

fn lines_of(team: &Team, name: &str) -> usize {
    fs::read_to_string(team.project().join("..").join(name)).map_or(0, |text| text.lines().count())
}

/// The folder that the checkouts of a session are made in.
fn checkouts(team: &Team, session: &str) -> PathBuf {
    let state = team.project().join("../.local/state/interlock");
    let store = fs::read_dir(state).expect("checkouts").flatten().next().expect("of this store").path();
    store.join(session).join("checkouts")
}

#[test]
fn gate_with_git_ignored_file_fails() {
    let team = Team::new("gate-ignored");
    let session = before_the_gate(&team, &json!([["test", "-f", "built"]]));
    put(&team, ".gitignore", ".interlock\nbuilt\n");
    put(&team, "built", "by an agent");
    let failed = gate(&team, &session, 1);
    assert_eq!(failed["next"][0]["role"], "developer", "{failed}");
    assert_eq!(gate_results(&team, &session)[0]["passed"], false);
}

#[test]
fn session_whose_tested_file_was_deleted_does_not_complete() {
    let team = Team::new("gate-deleted");
    let session = before_the_gate(&team, &json!([["test", "-f", "built"]]));
    put(&team, "built", "yes");
    gate(&team, &session, 1);
    assert_eq!(team.group_status(&session, "login"), "completed");
    fs::remove_file(team.project().join("built")).expect("it was there");
    let asked = bazinga(&team, &session);
    assert_eq!(asked["action"], "gate", "the gates are checked again: {asked}");
    assert_eq!(team.status(&session), "validating");
    let rejected = gate(&team, &session, 2);
    assert_ne!(team.status(&session), "completed");
    let reasons = rejected["judgement"]["reasons"].to_string();
    assert!(reasons.contains("login: gate `checks` passed earlier and failed on the final tree"), "{rejected}");
    put(&team, "built", "yes");
    bazinga(&team, &session);
    gate(&team, &session, 3);
    assert_eq!(team.status(&session), "completed");
}

#[test]
fn gate_that_passed_on_the_same_tree_is_not_repeated() {
    let team = Team::new("gate-repeated");
    let session = before_the_gate(&team, &json!([["sh", "-c", "echo x >> $HOME/runs"]]));
    gate(&team, &session, 1);
    bazinga(&team, &session);
    gate(&team, &session, 2);
    assert_eq!(team.status(&session), "completed");
    assert_eq!(lines_of(&team, "runs"), 1);
    let results = gate_results(&team, &session);
    assert_eq!(results[0]["tree"], results[1]["tree"]);
    assert_eq!(results[0]["checkout"]["passed"], json!([["sh", "-c", "echo x >> $HOME/runs"]]));
    assert!(results[1]["output"].as_str().expect("output").contains("passed on this tree before"), "{}", results[1]);
}

#[test]
fn gate_in_an_unclean_checkout_names_the_files_and_the_tree() {
    let team = Team::new("gate-unclean");
    let session = before_the_gate(&team, &json!([["test", "-f", "new\nline"]]));
    put(&team, ".gitignore", ".interlock\n");
    put(&team, "known", "as committed");
    git(&team, &["add", ".gitignore", "known", "interlock.yaml"]);
    git(&team, &["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "First"]);
    put(&team, "known", "changed");
    put(&team, "new\nline", "untracked");
    let passed = gate(&team, &session, 1);
    let warnings = passed["warnings"].to_string();
    let result = &gate_results(&team, &session)[0];
    let tree = result["tree"].as_str().expect("a tree");
    assert!(warnings.contains(&format!("ran on tree {}", &tree[..12])), "{warnings}");
    assert!(warnings.contains("with 2 files that are not committed: `known`, `new\\\\nline`"), "{warnings}");
    assert_eq!(result["checkout"]["uncommitted_count"], 2, "{result}");
}

#[test]
fn gate_that_writes_files_leaves_the_project_as_it_was() {
    let team = Team::new("gate-writes");
    let session = before_the_gate(&team, &json!([["sh", "-c", "echo spoilt > kept; touch left-behind"]]));
    put(&team, "kept", "as it was");
    gate(&team, &session, 1);
    assert_eq!(team.group_status(&session, "login"), "completed");
    assert_eq!(fs::read_to_string(team.project().join("kept")).expect("a file"), "as it was");
    assert!(!team.project().join("left-behind").exists());
}

#[test]
fn gate_without_git_runs_on_a_copy_and_says_so() {
    // Outside of this repository.
    let root = std::env::temp_dir().join(format!("interlock-gate-no-git-{}", std::process::id()));
    let team = Team::new(root.to_str().expect("UTF-8"));
    let session = before_the_gate(&team, &json!([["sh", "-c", "test -f built && touch left-behind"]]));
    fs::remove_dir_all(team.project().join(".git")).expect("a repository");
    // A client that was killed may leave an empty one above the project.
    fs::create_dir_all(root.join(".git")).expect("a folder");
    put(&team, "built", "yes");
    let passed = gate(&team, &session, 1);
    assert!(passed["warnings"].to_string().contains("not in a git repository"), "{passed}");
    assert_eq!(gate_results(&team, &session)[0]["checkout"]["without_git"], true);
    assert!(!team.project().join("left-behind").exists());
    bazinga(&team, &session);
    fs::remove_file(team.project().join("built")).expect("it was there");
    gate(&team, &session, 2);
    assert_ne!(team.status(&session), "completed");
    fs::remove_dir_all(root).expect("the folder of the test");
}

#[test]
fn files_planted_in_the_checkout_are_gone_when_the_gate_runs() {
    let team = Team::new("gate-planted");
    let clean = "test ! -e planted && test ! -e planted.o && test ! -e folder && test ! -L link && ! grep -q evil known && test ! -e sub/x && ! git config --get evil.set";
    let session = before_the_gate(&team, &json!([["test", "-f", "absent"], ["sh", "-c", clean]]));
    put(&team, ".gitignore", ".interlock\n*.o\n");
    put(&team, "known", "good");
    gate(&team, &session, 1);
    let folder = checkouts(&team, &session).join("1");
    assert_eq!(fs::read_to_string(folder.join("known")).expect("a checkout"), "good");
    let modified = fs::metadata(folder.join("known")).and_then(|found| found.modified()).expect("a time");
    for name in ["planted", "planted.o"] {
        fs::write(folder.join(name), "x").expect("a planted file");
    }
    fs::create_dir(folder.join("folder")).expect("a planted folder");
    fs::create_dir(team.project().join("../outside")).expect("a folder");
    symlink(team.project().join("../outside"), folder.join("link")).expect("a planted link");
    // The same length and the same time: git would not look at it again.
    fs::write(folder.join("known"), "evil").expect("a changed file");
    let file = fs::File::options().write(true).open(folder.join("known")).expect("it is there");
    file.set_modified(modified).expect("its time");
    if folder.join(".git/config").exists() {
        fs::write(folder.join(".git/config"), "[evil]\nset = true\n").expect("a configuration");
    }
    put(&team, "absent", "now there");
    work_again(&team, &session);
    gate(&team, &session, 2);
    assert_eq!(team.group_status(&session, "login"), "completed", "{:?}", gate_results(&team, &session));
}

#[test]
fn link_in_place_of_the_checkout_is_not_followed() {
    let team = Team::new("gate-link");
    let session = before_the_gate(&team, &json!([["test", "-f", "absent"]]));
    gate(&team, &session, 1);
    let folder = checkouts(&team, &session);
    let outside = team.project().join("../outside");
    fs::create_dir(&outside).expect("a folder");
    fs::write(outside.join("absent"), "of somebody else").expect("a file");
    fs::remove_dir_all(folder.join("1")).expect("a checkout");
    symlink(&outside, folder.join("1")).expect("a link");
    let _ = fs::remove_file(folder.join("1.index"));
    symlink(outside.join("absent"), folder.join("1.index")).expect("a link");
    work_again(&team, &session);
    gate(&team, &session, 2);
    assert_eq!(gate_results(&team, &session)[1]["passed"], false);
    assert_eq!(fs::read_to_string(outside.join("absent")).expect("untouched"), "of somebody else");
}

fn team_file(team: &Team, prepare: &str) {
    put(
        team,
        "agents.yaml",
        &format!("agents: {{ s: {{ client: scripted }} }}\nroles: {{ any: s }}\nprepare: {prepare}\n"),
    );
    put(team, "scripted.yaml", "steps: []\n");
}

#[test]
fn prepare_result_is_kept_per_inputs_and_cannot_be_poisoned_by_a_check() {
    let team = Team::new("gate-kept");
    let check = "grep -q sound deps/lib && echo poison > deps/lib && test -e wanted";
    let session = before_the_gate(&team, &json!([["sh", "-c", check]]));
    put(&team, ".gitignore", ".interlock\ndeps\n");
    put(&team, "lock", "sound\n");
    team_file(
        &team,
        "{ run: [[sh, -c, \"echo x >> $HOME/prepared; mkdir deps; cp lock deps/lib\"]], inputs: [lock], keeps: [deps] }",
    );
    gate(&team, &session, 1);
    put(&team, "wanted", "1");
    work_again(&team, &session);
    gate(&team, &session, 2);
    assert_eq!(team.group_status(&session, "login"), "completed", "{:?}", gate_results(&team, &session));
    assert_eq!(lines_of(&team, "prepared"), 1, "the lock file did not change");
    // Another process of the user writes into what is kept: it is made again.
    let kept = fs::read_dir(checkouts(&team, &session)).expect("checkouts").flatten().map(|entry| entry.path());
    let kept =
        kept.into_iter().find(|path| path.is_dir() && path.to_string_lossy().contains("prepared-")).expect("kept");
    fs::write(kept.join("0/lib"), "poison").expect("a poisoned file");
    put(&team, "wanted", "2");
    bazinga(&team, &session);
    gate(&team, &session, 3);
    assert_eq!(team.status(&session), "completed", "{:?}", gate_results(&team, &session));
    assert_eq!(lines_of(&team, "prepared"), 2);
}

#[test]
fn prepare_result_of_changed_inputs_is_made_again() {
    let team = Team::new("gate-inputs");
    let session = before_the_gate(&team, &json!([["cmp", "lock", "deps/lib"]]));
    put(&team, ".gitignore", ".interlock\ndeps\n");
    put(&team, "lock", "one\n");
    team_file(
        &team,
        "{ run: [[sh, -c, \"echo x >> $HOME/prepared; mkdir deps; cp lock deps/lib\"]], inputs: [lock], keeps: [deps] }",
    );
    gate(&team, &session, 1);
    put(&team, "lock", "two\n");
    bazinga(&team, &session);
    gate(&team, &session, 2);
    assert_eq!(team.status(&session), "completed");
    assert_eq!(lines_of(&team, "prepared"), 2);
    let results = gate_results(&team, &session);
    assert_ne!(results[0]["checkout"]["prepare"], results[1]["checkout"]["prepare"]);
}

#[test]
fn cache_is_filled_by_prepare_and_by_no_check() {
    let team = Team::new("gate-caches");
    let session = before_the_gate(&team, &json!([["sh", "-c", "test ! -e cache/planted && touch cache/planted"]]));
    put(&team, ".gitignore", ".interlock\ncache\n");
    let prepare = "test -e cache/warm || echo x >> $HOME/cold; mkdir -p cache; touch cache/warm";
    team_file(&team, &format!("{{ run: [[sh, -c, {prepare:?}]], caches: [cache] }}"));
    gate(&team, &session, 1);
    assert_eq!(team.group_status(&session, "login"), "completed");
    put(&team, "more", "another tree");
    bazinga(&team, &session);
    gate(&team, &session, 2);
    assert_eq!(team.status(&session), "completed", "{:?}", gate_results(&team, &session));
    assert_eq!(lines_of(&team, "cold"), 1, "the second time it was warm");
}

/// A tool that rewrites files of its cache costs a copy, and never lets a check write what the next one reads.
#[test]
fn cache_that_a_check_rewrites_is_restored_and_stays_warm() {
    let team = Team::new("gate-cache-rewritten");
    let check = "grep -qx warm cache/state && echo poison > cache/state";
    let session = before_the_gate(&team, &json!([["sh", "-c", check]]));
    put(&team, ".gitignore", ".interlock\ncache\n");
    let prepare =
        "test -e cache/state || echo x >> $HOME/cold; mkdir -p cache; test -e cache/state || echo warm > cache/state";
    team_file(&team, &format!("{{ run: [[sh, -c, {prepare:?}]], caches: [cache] }}"));
    gate(&team, &session, 1);
    put(&team, "more", "another tree");
    bazinga(&team, &session);
    gate(&team, &session, 2);
    assert_eq!(team.status(&session), "completed", "{:?}", gate_results(&team, &session));
    assert_eq!(lines_of(&team, "cold"), 1, "the second time it was warm");
}

const PIPELINE: &str = "\
workflow: pipeline
language: 1
extends: phased
roles: { planner: {}, builder: { is: [author] } }
phases:
  - { phase: planning, per: session, role: planner, plans: groups }
  - { phase: implementation, role: builder }
";

/// With phases no role reports the end, so that a person hears of a gate that fails there.
#[test]
fn pipeline_whose_tested_file_was_deleted_asks_a_person() {
    let team = Team::new("gate-pipeline");
    git(&team, &["init", "-q"]);
    put(&team, "interlock.yaml", PIPELINE);
    let session = team.start("Login");
    let groups = json!([
        { "id": "one", "title": "One", "checks": [["test", "-f", "built"]] },
        { "id": "two", "title": "Two", "depends_on": ["one"] },
    ]);
    let skills = json!({ "skills_invoked": ["persisting-agent-outputs"] });
    let with_groups = json!({ "skills_invoked": ["persisting-agent-outputs"], "groups": groups });
    team.plays(&session, "planner", "-", "complete", with_groups);
    put(&team, "built", "yes");
    team.plays(&session, "builder", "one", "complete", skills.clone());
    gate(&team, &session, 1);
    fs::remove_file(team.project().join("built")).expect("it was there");
    team.plays(&session, "builder", "two", "complete", skills);
    gate(&team, &session, 2);
    let next = team.ask(&["session", "next", &session]).done();
    let question = &next["questions"][0];
    assert!(question["text"].as_str().expect("a question").contains("failed on the final tree"), "{next}");
    put(&team, "built", "yes");
    let id = question["question"].as_str().expect("an id");
    team.ask(&["answer", id, "--option", "acknowledge"]).done();
    gate(&team, &session, 3);
    assert_eq!(team.status(&session), "completed");
}
