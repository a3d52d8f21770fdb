//! `agents.yaml` and `interlock doctor`: what is wrong is known before anything starts.

use crate::yard::{Yard, script};

#[test]
fn every_problem_of_an_agents_file_is_told_at_once() {
    let file = "agents:\n  a: { client: cluade }\n  b: { client: claude, flags: [--output-format, text] }\n  c: { client: command }\nroles:\n  any: d\n  developer: { agent: b, budget: { cost: lots } }\nparallel: 0\nkeep: some\nmerges: agent\n";
    let yard = Yard::new("agents_file", &[("agents.yaml", file), ("m.md", "# M\n")]);
    let output = yard.ask(&["run", "m.md"]);
    assert_eq!(output.status.code(), Some(4));
    let text = String::from_utf8_lossy(&output.stderr).replace(&*yard.project().to_string_lossy(), "PROJECT");
    insta::assert_snapshot!(text);
}

#[test]
fn the_doctor_says_what_is_missing() {
    let file = "agents: { a: { client: codex, program: no-such-codex } }\nroles: { any: a }\n";
    let yard = Yard::new("doctor", &[("agents.yaml", file)]);
    let output = yard.ask(&["doctor"]);
    assert_eq!(output.status.code(), Some(5));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("missing agent a") && text.contains("the program `no-such-codex` is not there"), "{text}");
    yard.write("agents.yaml", "agents: { a: { client: scripted } }\nroles: { any: a }\n");
    assert_eq!(yard.ask(&["doctor"]).status.code(), Some(0));
}

#[test]
fn the_doctor_says_where_in_the_file() {
    let file = "agents:\n  a: { client: scripted }\n  g: { client: gemini, structured: true }\nroles: { any: a }\nparallel: 0\n\
                budget: { session: { tokens: 0 } }\n";
    let yard = Yard::new("doctor_places", &[("agents.yaml", file)]);
    let text = String::from_utf8_lossy(&yard.ask(&["doctor"]).stdout).into_owned();
    let path = yard.path("agents.yaml").display().to_string();
    for found in [
        "3:36: E0603: agent `g`: the client `gemini` cannot hold its model to a schema",
        "5:11: E0105: this is at least 1",
        "6:30: E0105: this is at least 1",
    ] {
        assert!(text.contains(&format!("{path}:{found}")), "{found}: {text}");
    }
    yard.write("agents.yaml", "agents: { a: { client: scripted } }\nroles: { any: a }\nparallel: 0\n");
    let text = String::from_utf8_lossy(&yard.ask(&["doctor"]).stdout).into_owned();
    assert!(text.contains(&format!("{path}:3:11: E0105")), "of one problem as well: {text}");
    yard.write("agents.yaml", "agents: { a: { client: scripted } }\nroles: { any: a }\n");
    let text = String::from_utf8_lossy(&yard.ask(&["doctor"]).stdout).into_owned();
    assert!(
        text.contains("nothing is set: questions are asked in the terminal") && !text.contains("can be told"),
        "{text}"
    );
}

/// A client that says its flags, breaks on one, and says why it cannot say its version.
#[test]
fn what_a_client_says_of_itself_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let yard = Yard::new("of_itself", &[("scripted.yaml", &script("{ id: one, title: One }", "")), ("m.md", "# M\n")]);
    let program = yard.path("../claude.sh");
    let client = |version: &str| {
        let text = format!(
            "#!/bin/sh\ncase \"$*\" in\n*--version*) {version} ;;\n*--help*) echo '  --model' ;;\n'-p --odd') kill -9 $$ ;;\n\
             '-p --none') echo \"error: unknown option '--none'\" >&2; exit 1 ;;\n'-p --hidden') echo 'no prompt' >&2; exit 1 ;;\nesac\n"
        );
        std::fs::write(&program, text).expect("a program");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it may run");
    };
    let flags = |flags: &str| {
        let text = format!(
            "agents: {{ s: {{ client: scripted }}, c: {{ client: claude, program: {:?}, flags: [{flags}] }} }}\n\
             roles: {{ any: s, investigator: c }}\n",
            program.display()
        );
        yard.write("agents.yaml", &text);
    };
    let doctor = || {
        let output = yard.ask(&["doctor"]);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    client("echo; echo 2.1");
    flags("--hidden");
    let (exit, text) = doctor();
    assert!(exit == Some(0) && text.contains("claude.sh (2.1)\n"), "{text}");
    flags("--none, --hidden");
    let (exit, text) = doctor();
    assert!(exit == Some(5) && text.contains("has no `--none`\n"), "{text}");
    // A flag that the help does not list holds nothing up, and is reported.
    flags("--odd");
    let (exit, text) = doctor();
    assert!(exit == Some(0) && text.contains("`--odd` is not in the help of"), "{text}");
    let output = yard.ask(&["run", "m.md"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("agent `c`: `--odd` is not in the help of"), "{text}");
    client("echo starting >&2; echo 'no node here' >&2; echo >&2; exit 1");
    let (exit, text) = doctor();
    assert!(exit == Some(5) && text.contains("--version fails: no node here\n"), "{text}");
}

#[test]
fn the_doctor_finds_what_does_not_fit() {
    let file = "agents: { a: { client: scripted } }\nroles: { project_manager: a, develper: { agent: a, budget: { time: 1h } } }\n\
                notify: { webhook_env: NO_SUCH_VARIABLE, command: [no-such-teller] }\nprepare: [[no-such-npm, ci]]\n\
                defaults: { stuk: { after: 1s, option: retry }, stuck: { after: 1s, option: retri } }\n";
    let yard = Yard::new("does_not_fit", &[("agents.yaml", file), ("m.md", "# M\n")]);
    let output = yard.ask(&["doctor"]);
    assert_eq!(output.status.code(), Some(5));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for found in [
        "workflow `delivery-team` has no role `develper`; did you mean `developer`?",
        "nobody plays `developer`",
        "has no question `stuk`; did you mean `stuck`?",
        "question `stuck` has no option `retri`; did you mean `retry`?",
        "the variable `NO_SUCH_VARIABLE` is not set",
        "the program `no-such-teller` is not there",
        "the program `no-such-npm` is not there",
    ] {
        assert!(text.contains(found), "{found}: {text}");
    }
}

#[test]
fn what_does_not_fit_is_refused_before_a_session_is_made() {
    let yard = Yard::new("no_session", &[("m.md", "# M\n")]);
    yard.ask(&["init"]);
    let refused = |file: &str, code: &str| {
        yard.write("agents.yaml", file);
        let output = yard.ask(&["run", "m.md"]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(4) && text.contains(code), "{text}");
        assert_eq!(yard.json(&["session", "list"])["sessions"], serde_json::json!([]));
        text
    };
    refused("agents: { a: { client: scripted } }\nroles: { project_manager: a }\n", "E0607");
    let text = refused(
        "agents: { a: { client: scripted } }\nroles: { any: a }\ndefaults:\n  stuk: { after: 1s, option: retry }\n  stuck: { after: 1s, option: retri }\n",
        "E0603",
    );
    assert!(text.contains("agents.yaml:4:3") && text.contains("agents.yaml:5:31"), "each with its place: {text}");
}

#[test]
fn workspaces_in_the_project_itself_are_refused() {
    let yard = Yard::new("inside", &[("m.md", "# M\n")]);
    let refused = |folder: &str| {
        let file = format!("agents: {{ a: {{ client: scripted }} }}\nroles: {{ any: a }}\nfolder: {folder}\n");
        yard.write("agents.yaml", &file);
        let output = yard.ask(&["run", "m.md"]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(4) && text.contains("E0603"), "{text}");
        assert!(text.contains("agents.yaml:3:9") && text.contains("cannot be made in the project"), "{text}");
        let output = yard.ask(&["doctor"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.code() == Some(5) && text.contains("agents.yaml:3:9: E0603"), "{text}");
    };
    refused("work/agents");
    std::os::unix::fs::symlink(yard.project(), yard.path("../link")).expect("a link");
    refused("../link/agents");
    yard.write("agents.yaml", "agents: { a: { client: scripted } }\nroles: { any: a }\nfolder: ../project-agents\n");
    assert_eq!(yard.run(&["m.md"])["status"], "completed");
    // Also where it is not configured, as with a repository of the whole home.
    yard.write("agents.yaml", "agents: { a: { client: scripted } }\nroles: { any: a }\n");
    let output = yard.command(&["run", "m.md"]).env("XDG_STATE_HOME", yard.path("state")).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(4) && text.contains("`folder` in the agents file"), "{text}");
}

#[test]
fn a_program_beside_the_agents_file_is_found_from_anywhere() {
    use std::os::unix::fs::PermissionsExt as _;
    let file = "agents: { s: { client: scripted }, a: { client: command, command: [./agent.sh] } }\nroles: { any: s, developer: a }\n";
    let script = crate::yard::script("{ id: one, title: One }", "");
    let agent = "#!/bin/sh\ncat > /dev/null\necho x > one.txt\nprintf '{\"agent\":\"developer\",\"output_type\":\"r\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"feature_directory\":\".\",\"skills_invoked\":[],\"status\":\"READY_FOR_QA\",\"handoff\":{\"next_agent\":null,\"context\":\"x\"}}' > \"$INTERLOCK_OUTPUT/handoff.json\"\n";
    let files =
        [("agents.yaml", file), ("scripted.yaml", &script), ("agent.sh", agent), ("sub/x", "x"), ("m.md", "# M\n")];
    let yard = Yard::new("beside", &files);
    std::fs::set_permissions(yard.path("agent.sh"), std::fs::Permissions::from_mode(0o755)).expect("it may run");
    yard.git(&["commit", "-q", "-a", "-m", "It may run"]);
    yard.ask(&["init"]);
    let from_below = |words: &[&str]| yard.command(words).current_dir(yard.path("sub")).output().expect("it runs");
    let output = from_below(&["doctor"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let output = from_below(&["run", "../m.md"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn files_that_are_not_committed_are_told_of() {
    let yard = Yard::new("uncommitted", &[("m.md", "# M\n")]);
    yard.write("m.md", "# Changed\n");
    let output = yard.ask(&["run", "m.md", "--agents", "scripted"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text.matches("1 uncommitted change that agents do not see").count(), 1, "{text}");
}

#[test]
fn a_folder_without_git_is_refused_with_help() {
    // Outside of this project, whose repository would be found.
    let folder = std::env::temp_dir().join(format!("interlock-no-git-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let yard = Yard::new("no_git", &[]);
    let run = |folder: &std::path::Path| {
        let output = yard.command(&["run", "--agents", "scripted"]).current_dir(folder).output().expect("it runs");
        assert_eq!(output.status.code(), Some(5));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let text = run(&folder);
    assert!(text.contains("E0605") && text.contains("git init"), "{text}");
    std::process::Command::new("git").args(["init", "-q"]).current_dir(&folder).status().expect("git");
    let text = run(&folder);
    assert!(text.contains("E0605") && text.contains("no commit yet"), "{text}");
    assert!(!folder.join(".interlock").exists(), "no store is made where nothing can be run");
    std::fs::remove_dir_all(&folder).expect("it is ours");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::process::Command::new("git").args(["init", "-q", "--bare"]).current_dir(&folder).status().expect("git");
    let text = run(&folder);
    assert!(text.contains("E0605") && text.contains("is a bare repository") && !text.contains("git init"), "{text}");
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

#[test]
fn prepare_that_keeps_what_it_cannot_make_is_refused() {
    let team =
        |prepare: &str| format!("agents: {{ a: {{ client: scripted }} }}\nroles: {{ any: a }}\nprepare: {prepare}\n");
    let yard = Yard::new("keeps", &[("m.md", "# M\n")]);
    for (prepare, problem) in [
        ("{ keeps: [node_modules] }", "`prepare` has no command in `run` that makes `node_modules`"),
        ("{ run: [[\"true\"]], keeps: [../elsewhere] }", "`../elsewhere` is not a folder inside of the project"),
        ("{ run: [[\"true\"]], caches: [/tmp] }", "`/tmp` is not a folder inside of the project"),
        ("{ run: [[\"true\"]], keeps: [.git/hooks] }", "`.git/hooks` is not a folder inside of the project"),
        ("{ run: [[\"true\"]], inputs: [\"[a\"] }", "`[a` is not a pattern"),
    ] {
        yard.write("agents.yaml", &team(prepare));
        let output = yard.ask(&["run", "m.md"]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(4) && text.contains("E0603") && text.contains(problem), "{text}");
    }
}
