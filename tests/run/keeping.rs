//! What is made ready, what is kept, and who is told.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::budgets::with_claude;
use crate::yard::{Yard, script};

fn agents(more: &str) -> String {
    format!("agents: {{ s: {{ client: scripted }} }}\nroles: {{ any: s }}\n{more}\n")
}

/// The folder of the session.
fn site(ended: &Json) -> PathBuf {
    Path::new(ended["report"].as_str().expect("a report")).parent().expect("a folder").to_owned()
}

#[test]
fn workspaces_are_kept_as_told() {
    for (keep, is_kept) in [("always", true), ("failed", false), ("never", false)] {
        let script = script("{ id: one, title: One }", "");
        let file = agents(&format!("keep: {keep}"));
        let files = [("scripted.yaml", script.as_str()), ("agents.yaml", &file), ("m.md", "# One\n")];
        let ended = Yard::new(&format!("keep_{keep}"), &files).run(&["m.md", "--no-wait"]);
        assert_eq!(site(&ended).join("work/one").exists(), is_kept, "{keep}");
        assert_eq!(site(&ended).join("repository.git").exists(), is_kept, "{keep}");
        assert!(site(&ended).join("transcripts").exists(), "what agents printed stays");
    }
}

#[test]
fn what_went_wrong_is_kept_unless_nothing_is() {
    let more = "  - { role: developer, prints: nothing }\n  - { role: senior_software_engineer, prints: nothing }\n  - { role: project_manager, group: one, prints: nothing }";
    for (keep, is_kept) in [("failed", true), ("never", false)] {
        let script = script("{ id: one, title: One }, { id: two, title: Two }", more);
        let defaults = "{ stuck: { after: 50ms, option: drop }, nothing_completed: { after: 50ms, option: confirm } }";
        let file = agents(&format!("keep: {keep}\ndefaults: {defaults}"));
        let files = [("scripted.yaml", script.as_str()), ("agents.yaml", &file), ("m.md", "# One\n")];
        let yard = Yard::new(&format!("keep_{keep}_failed"), &files);
        let output = yard.ask(&["run", "m.md", "--json"]);
        let ended: Json = serde_json::from_slice(&output.stdout).expect("a document");
        assert_eq!(ended["groups"][0]["status"], "cancelled", "{ended}");
        assert_eq!(site(&ended).join("work/one").exists(), is_kept, "{keep}");
    }
}

#[test]
fn a_session_that_is_given_up_at_once_leaves_no_branch() {
    let more = "  - { role: developer, does: [{ wait: 60s }], says: { status: READY_FOR_QA } }";
    let script = script("{ id: one, title: One }", more);
    let file = agents("keep: never");
    let yard = Yard::new("given_up", &[("scripted.yaml", &script), ("agents.yaml", &file), ("m.md", "# One\n")]);
    yard.ask(&["init"]);
    let run = yard.start(&["m.md"]);
    let session = yard.until("the developer is at work", || {
        let list: Json = serde_json::from_slice(&yard.ask(&["session", "list", "--json"]).stdout).ok()?;
        let session = list["sessions"][0]["session"].as_str()?.to_owned();
        let next = yard.json(&["session", "next", &session]);
        (next["assignments"][0]["role"] == "developer" && next["assignments"][0]["claimed"] == true).then_some(session)
    });
    assert_eq!(
        yard.git(&["branch", "--list", "interlock/*", "--format=%(refname:short)"]),
        format!("interlock/{session}")
    );
    yard.ask(&["cancel", &session, "--yes"]);
    yard.ask(&["cancel", &session]);
    let output = run.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("result   none: nothing was merged"), "{text}");
    assert_eq!(yard.git(&["branch", "--list", "interlock/*"]), "");
}

/// Cancelled after its run has stopped: no process would clear away its files.
#[test]
fn a_session_that_is_cancelled_after_its_run_was_stopped_is_left_as_told() {
    let more = "  - { role: developer, does: [{ wait: 60s }], says: { status: READY_FOR_QA } }";
    let script = script("{ id: one, title: One }", more);
    for (keep, stopped_by) in [("never", "-INT"), ("never", "-KILL"), ("always", "-INT")] {
        // A team that is named, and lies elsewhere.
        let yard = Yard::new("cancelled_later", &[("scripted.yaml", &script), ("m.md", "# One\n")]);
        yard.ask(&["init"]);
        yard.write("../team/scripted.yaml", &script);
        yard.write("../team/a.yaml", &agents(&format!("keep: {keep}\nlimits: {{ grace: 200ms }}")));
        let run = yard.start(&["m.md", "--agents", "../team/a.yaml"]);
        let session = yard.until("the developer is at work", || {
            let list: Json = serde_json::from_slice(&yard.ask(&["session", "list", "--json"]).stdout).ok()?;
            let session = list["sessions"][0]["session"].as_str()?.to_owned();
            let next = yard.json(&["session", "next", &session]);
            let first = &next["assignments"][0];
            (first["role"] == "developer" && first["claimed"] == true).then_some(session)
        });
        let pid = run.id().to_string();
        let stopped = std::process::Command::new("kill").args([stopped_by, &pid]).status().expect("kill");
        assert!(stopped.success());
        run.wait_with_output().expect("it ends");
        let cancelled = yard.json(&["cancel", &session]);
        assert_eq!(cancelled["rule"], "cancel", "{cancelled}");
        let state = yard.path("../.local/state/interlock");
        let store = fs::read_dir(state).expect("a store").flatten().next().expect("of this project").path();
        let is_there = |name: &str| store.join(&session).join(name).exists();
        let branches = yard.git(&["branch", "--list", "interlock/*"]);
        let kept = keep == "always";
        assert_eq!((is_there("work"), is_there("repository.git"), !branches.is_empty()), (kept, kept, kept), "{keep}");
        assert!(is_there("report.md") && !is_there("ended.json"));
        assert!(!yard.path(".interlock/runs").join(&session).exists());
    }
}

#[test]
fn prepare_without_keeps_runs_once_in_each_workspace_and_for_each_checked_tree() {
    let more = "  - { role: developer, does: [{ run: [test, -f, made.ready], expect: pass }, { write: \"{group}.txt\", text: x }], says: { status: READY_FOR_QA } }";
    let groups =
        "{ id: one, title: One, checks: [[test, -f, made.ready]] }, { id: two, title: Two, depends_on: [one] }";
    let script = script(groups, more);
    let file = agents("prepare: [[sh, -c, \"echo x >> made.ready; echo x >> $HOME/prepared\"]]");
    let files =
        [("scripted.yaml", script.as_str()), ("agents.yaml", &file), (".gitignore", "*.ready\n"), ("m.md", "# M\n")];
    let yard = Yard::new("prepare", &files);
    assert_eq!(yard.run(&["m.md", "--no-wait"])["status"], "completed");
    let times = fs::read_to_string(yard.path("../prepared")).expect("it ran").lines().count();
    assert_eq!(times, 5, "of two groups, of the session, and for the trees of two merges");
}

#[test]
fn a_workspace_that_cannot_be_made_ready_at_all_ends_the_run() {
    let script = script("{ id: one, title: One }", "");
    let file = agents("prepare: [[sh, -c, \"echo no luck; exit 1\"]]");
    let yard = Yard::new("unprepared", &[("scripted.yaml", &script), ("agents.yaml", &file), ("m.md", "# M\n")]);
    let output = yard.ask(&["run", "m.md"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(5) && text.contains("no luck") && text.contains("`prepare`"), "{text}");
}

/// Its files break what makes workspaces ready: it comes back to it, and the run goes on.
#[test]
fn an_author_who_breaks_what_makes_workspaces_ready_hears_of_it() {
    let more = "  - { role: developer, attempt: 1, does: [{ write: broken, text: x }], says: { status: READY_FOR_QA } }\n  \
                - { role: developer, does: [{ remove: broken }, { write: mended, text: x }], says: { status: READY_FOR_QA } }";
    let script = script("{ id: one, title: One, checks: [[test, -e, m.md]] }", more);
    let file = agents("prepare: [[sh, -c, \"if test -e broken; then echo it is broken; exit 1; fi\"]]");
    let yard = Yard::new("broken", &[("scripted.yaml", &script), ("agents.yaml", &file), ("m.md", "# M\n")]);
    let ended = yard.run(&["m.md", "--no-wait"]);
    assert_eq!(ended["status"], "completed");
    let session = ended["session"].as_str().expect("a session");
    assert!(yard.statuses(session).contains(&"MERGE_TEST_FAILURE".to_owned()));
    let files = yard.git(&["ls-tree", "--name-only", &format!("interlock/{session}")]);
    assert!(files.contains("mended") && !files.contains("broken"), "{files}");
}

#[test]
fn the_desktop_is_told_of_a_question() {
    let more = "  - { role: project_manager, group: session, attempt: 1, says: { status: NEEDS_CLARIFICATION, questions: [{ text: \"Which <b>&\\e[31m?\" }], handoff: { next_agent: null, context: \"Which colour?\" } } }";
    let script = script("{ id: one, title: One }", more);
    let file = agents("notify: { desktop: true }");
    let yard = Yard::new("desktop", &[("scripted.yaml", &script), ("agents.yaml", &file), ("m.md", "# Ask\n")]);
    let program = yard.path("../bin/notify-send");
    fs::create_dir_all(program.parent().expect("a folder")).expect("a folder");
    let told = yard.path("../told");
    let text = format!(
        "#!/bin/sh\nfor word in \"$@\"; do echo \"$word\"; done > '{0}.part'; mv '{0}.part' '{0}'\n",
        told.display()
    );
    fs::write(&program, text).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it may run");
    let path = format!("{}:{}", program.parent().expect("a folder").display(), std::env::var("PATH").expect("a path"));
    let output = yard.command(&["run", "m.md", "--no-wait"]).env("PATH", path).output().expect("it runs");
    assert_eq!(output.status.code(), Some(3));
    let told = yard.until("it is told", || fs::read_to_string(&told).ok());
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines[0] == "--" && lines[1].starts_with("Interlock: ask-") && lines[2] == "Which &lt;b&gt;&amp;␛[31m?",
        "{told}"
    );
}

const ASKS: &str = "  - { role: project_manager, group: session, attempt: 1, says: { status: NEEDS_CLARIFICATION, questions: [{ text: \"Which?\" }], handoff: { next_agent: null, context: \"Which colour?\" } } }";

#[test]
fn people_are_told_of_a_question_once_however_often_the_run_starts() {
    let script = script("{ id: one, title: One }", ASKS);
    let file = agents("notify: { command: [sh, -c, \"sleep 0.3; echo x >> $HOME/told\"] }");
    let yard = Yard::new("told_once", &[("scripted.yaml", &script), ("agents.yaml", &file), ("m.md", "# Ask\n")]);
    for _ in 0..3 {
        assert_eq!(yard.ask(&["run", "m.md", "--no-wait"]).status.code(), Some(3));
        assert_eq!(fs::read_to_string(yard.path("../told")).expect("told").lines().count(), 1);
    }
}

#[test]
fn a_message_that_does_not_arrive_is_told_and_sent_again_by_the_next_run() {
    let script = script("{ id: one, title: One }", ASKS);
    let more = "notify: { command: [sh, -c, \"echo x >> $HOME/tried; exit 7\"], webhook_env: NO_SUCH_VARIABLE, desktop: true }";
    let file = agents(more);
    let yard = Yard::new("not_told", &[("scripted.yaml", &script), ("agents.yaml", &file), ("m.md", "# Ask\n")]);
    let bin = yard.path("../bin");
    fs::create_dir_all(&bin).expect("a folder");
    for program in ["git", "sh"] {
        std::os::unix::fs::symlink(format!("/usr/bin/{program}"), bin.join(program)).expect("a link");
    }
    for times in 1..=2 {
        let output = yard.command(&["run", "m.md", "--no-wait"]).env("PATH", &bin).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(3), "{text}");
        for told in [
            "notify: the program `notify-send` is not there",
            "notify: the program `curl` is not there",
            "notify: the variable `NO_SUCH_VARIABLE` is not set: no webhook is told",
            "notify: the command was not told of q1: `sh` failed (exit status: 7)",
            "notify: the desktop was not told of q1: `notify-send`: ",
        ] {
            assert_eq!(text.matches(told).count(), 1, "{told}: {text}");
        }
        assert_eq!(fs::read_to_string(yard.path("../tried")).expect("tried").lines().count(), times);
    }
}

/// An option that only the handoff could have brought, and did not.
#[test]
fn a_default_that_is_refused_is_tried_once() {
    let more = "  - { role: project_manager, group: session, attempt: 1, says: { status: NEEDS_CLARIFICATION, questions: [{ text: \"Which?\", options: [red, blue] }], handoff: { next_agent: null, context: \"Which colour?\" } } }";
    let script = script("{ id: one, title: One }", more);
    let file = agents(
        "defaults: { clarify: { after: 50ms, option: green } }\nnotify: { command: [sh, -c, \"echo x >> $HOME/told\"] }",
    );
    let yard = Yard::new("default_once", &[("scripted.yaml", &script), ("agents.yaml", &file), ("m.md", "# Ask\n")]);
    yard.ask(&["init"]);
    let mut run = yard.start(&["m.md"]);
    yard.until("people are told", || fs::read_to_string(yard.path("../told")).ok());
    std::thread::sleep(std::time::Duration::from_millis(1500));
    run.kill().expect("it waits for ever");
    let output = run.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.matches("`green` is not an option").count(), 1, "{text}");
    assert_eq!(fs::read_to_string(yard.path("../told")).expect("told").lines().count(), 1);
}

#[test]
fn what_a_client_was_not_allowed_is_told_beside_its_handoff() {
    let denied = "DENIALS: '[{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"rm -rf x\"}}]'";
    let yard = with_claude("denied", "{ id: one, title: One }", denied, "roles: { any: s, developer: c }");
    let output = yard.ask(&["run", "m.md"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("developer: Bash was not allowed: rm -rf x"), "{text}");
}

#[test]
fn a_title_is_one_line_of_the_summary() {
    let title = "T\\n\\n  result   branch main (all good)\\n  take     git push --force";
    let script = script(&format!("{{ id: one, title: \"{title}\" }}"), "");
    let yard = Yard::new("forged", &[("scripted.yaml", &script), ("m.md", "# One\n")]);
    let output = yard.ask(&["run", "m.md", "--agents", "scripted"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    for word in ["  result ", "  take "] {
        assert_eq!(text.lines().filter(|line| line.starts_with(word)).count(), 1, "{text}");
    }
}

/// Git moves no branch that is checked out. The result is on another, and reported with everything else.
#[test]
fn a_result_whose_branch_is_checked_out_is_on_another() {
    let checkout = "cd $HOME/project; git checkout -q $(git branch --list 'interlock/*' --format='%(refname:short)')";
    let more = format!(
        "  - {{ role: developer, does: [{{ run: [sh, -c, \"echo x > x.txt; {checkout}\"] }}], says: {{ status: READY_FOR_QA }} }}"
    );
    let script = script("{ id: one, title: One }", &more);
    let yard = Yard::new("checked_out", &[("scripted.yaml", &script), ("m.md", "# One\n")]);
    let output = yard.ask(&["run", "m.md", "--agents", "scripted", "--no-wait"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let own = yard.git(&["symbolic-ref", "--short", "HEAD"]);
    assert!(text.contains(&format!("{own} is checked out, or was changed")), "{text}");
    assert!(text.contains(&format!("git merge {own}-2")), "{text}");
    assert_eq!(yard.git(&["show", &format!("{own}-2:x.txt")]), "x");
    assert_eq!(yard.git(&["diff", "--name-only", "main", &own]), "", "what is checked out is as it was");
}

/// Looking at what there is so far is no reason not to go on.
#[test]
fn a_session_goes_on_while_its_branch_is_checked_out() {
    let more = "  - { role: developer, prints: nothing }\n  - { role: senior_software_engineer, prints: nothing }\n  - { role: project_manager, group: one, prints: nothing }";
    let script = script("{ id: one, title: One }", more);
    let yard = Yard::new("looked_at", &[("scripted.yaml", &script), ("m.md", "# One\n")]);
    let run = || {
        let output = yard.ask(&["run", "m.md", "--agents", "scripted", "--no-wait"]);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(run().contains("1 question waits for a person"));
    let branch = yard.git(&["branch", "--list", "interlock/*", "--format=%(refname:short)"]);
    yard.git(&["checkout", "-q", &branch]);
    let said = run();
    assert!(said.contains("1 question waits for a person"), "{said}");
    assert_eq!(yard.git(&["branch", "--list", "interlock/*", "--format=%(refname:short)"]), branch);
}
