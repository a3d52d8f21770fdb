//! Other ways to forbidden actions: a rule of one's own, the words of a shell, a tool that no rule names.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::cheats::{NEXT, denied, each, step};
use crate::scene::{Answer, CLIENTS, Client, Talk, planned};
use crate::team::Team;

/// A session with rules that a model wrote would let it do everything, in every session.
#[test]
fn a_model_brings_no_rules_of_its_own() {
    each("own_rules", |talk, session| {
        let team = talk.team;
        let own = fs::read_to_string(team.project().join("interlock.yaml")).unwrap();
        let file = team.file("loose.yaml", &format!("{own}\norchestrator: {{ writes: all }}\n"));
        let file = file.display();
        for command in [
            format!("interlock session start --title Fast --workflow {file}"),
            format!("interlock session start --workflow={file} --title Fast"),
            format!("interlock --json session start --title Fast --workflow '{file}' | jq ."),
            "interlock session start --title Fast --workflow \"$W\"".to_owned(),
        ] {
            denied(talk, session, "E0117", "a person starts the session", || talk.runs(&command, None));
        }
        for command in ["", " --workflow delivery-team", " --workflow interlock.yaml", " --workflow ./interlock.yaml"] {
            talk.runs(&format!("interlock session start --title More{command}"), None).passes();
        }
        let less = talk.runs("interlock session start --title More --workflow feature", None).denied();
        assert!(less.contains("E0355"), "{less}");
        // A person may. Then every session that is under way has its say, whichever came first.
        team.ask(&["session", "start", "--title", "Loose", "--workflow", &file.to_string()]).done();
        assert!(talk.writes("src/a.rs", None).denied().contains("E0702"));
        assert!(talk.runs("rm -rf src", None).denied().contains("E0702"));
        team.ask(&["cancel", session]).done();
        talk.writes("src/a.rs", None).passes();
        talk.runs("rm -rf src", None).passes();
    });
}

#[test]
fn without_a_session_a_model_brings_no_rules_either() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_first_rules_{}", client.name()));
        let talk = Talk::begun(&team, client, "c-1");
        let reason = talk.runs("interlock session start --title x --workflow /tmp/w.yaml", None).denied();
        assert!(reason.starts_with("Interlock (E0117): "), "{reason}");
        talk.runs("interlock session start --title x", None).passes();
    }
}

/// Requirements are the project's or a person's to drop, with a session under way or without one.
#[test]
fn model_that_drops_a_requirement_is_denied() {
    each("dropped", |talk, session| {
        for words in ["--set testing=disabled", "--set=testing=minimal", "--investigation", "--set \"$S\"", "$OPTIONS"]
        {
            let command = format!("interlock session start --title Fast {words}");
            denied(talk, session, "E0355", "let a person start the session", || talk.runs(&command, None));
        }
        talk.runs("interlock session start --title More --set testing=full", None).passes();
        talk.runs("interlock session start --title \"$TITLE\"", None).passes();
    });
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_first_dropped_{}", client.name()));
        let talk = Talk::begun(&team, client, "c-1");
        for words in ["session start --title x", "run mission.md"] {
            let reason = talk.runs(&format!("interlock {words} --set testing=disabled"), None).denied();
            assert!(reason.starts_with("Interlock (E0355): "), "{reason}");
        }
    }
}

/// What is not known to look is not for a model.
#[test]
fn of_interlocks_commands_a_model_has_those_that_look() {
    each("interlock", |talk, session| {
        for command in ["serve", "backup x.db", "complete s", "audit export", "import bazinga x", "resume", "init"] {
            denied(talk, session, "E0704", NEXT, || talk.runs(&format!("interlock {command}"), None));
        }
        for command in
            ["session list", "log s --full", "why s.d1", "workflow show", "audit verify", "gate s.g1", "--help"]
        {
            talk.runs(&format!("interlock {command}"), None).passes();
        }
        let developer = talk.starts("developer", "Build LOGIN.");
        denied(talk, session, "E0704", "End with your handoff", || {
            talk.runs("interlock session start --title x", Some(&developer))
        });
        for command in [
            "if true; then interlock answer q; fi",
            "{ interlock answer q; }",
            "! interlock answer q",
            "for i in 1; do interlock answer q; done",
            "echo \"$(interlock answer q)\"",
            "env -u FOO interlock answer q",
            "sudo -u root interlock answer q",
            "ls # don't\ninterlock answer q",
            "echo 'interlock answer q' | sh",
            "interlock answer q 'unclosed",
        ] {
            denied(talk, session, "E0704", "End with your handoff", || talk.runs(command, Some(&developer)));
        }
        talk.runs("interlock session show s", Some(&developer)).passes();
    });
}

#[test]
fn a_write_is_seen_by_whatever_words_it_is_hidden() {
    let team = Team::new("hooks_words");
    let (talk, session) = planned(&team, Client::Claude, &["LOGIN"]);
    for command in [
        "echo x >& src/a.rs",
        "ls # what's here\nrm -rf src",
        "echo $'\\'' ; rm -rf src #'",
        "cat <<EOF\nit's\nEOF\nrm -rf src # '",
        "sort -uo src/a.rs src/a.rs",
        "uniq /etc/passwd src/a.rs",
        "tree -o src/a.rs",
        "git grep -Orm fn",
        "rg --pre ./x fn",
        "GIT_EXTERNAL_DIFF=./x git diff",
        "PATH=/tmp/x:$PATH ls",
        "./ls",
        "if true; then rm x; fi",
    ] {
        denied(&talk, &session, "E0702", NEXT, || talk.runs(command, None));
    }
    for command in ["if test -f a; then cat a; fi # it's", "for f in src/*; do head -1 $f; done", "cat <<'E'\nit's\nE"]
    {
        talk.runs(command, None).passes();
    }
}

/// A command that brings a patch is a command as well.
#[test]
fn a_patch_hides_no_command() {
    let team = Team::new("hooks_patch");
    let (talk, session) = planned(&team, Client::Codex, &["LOGIN"]);
    let patch = |path: &str| format!("<<'EOF'\n*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\nEOF");
    let brought = |before: &str, path: &str| talk.runs(&format!("{before} {}", patch(path)), None);
    denied(&talk, &session, "E0702", NEXT, || brought("rm -rf src; cat", "/tmp/x"));
    denied(&talk, &session, "E0703", NEXT, || brought("rm -rf .interlock; cat", "/tmp/x"));
    denied(&talk, &session, "E0704", NEXT, || brought("interlock answer q; cat", "/tmp/x"));
    denied(&talk, &session, "E0703", NEXT, || brought("cd src && apply_patch", "../.interlock/x"));
    let project = team.project().display().to_string();
    denied(&talk, &session, "E0702", NEXT, || brought("cd / && apply_patch", &format!("{}/src/x", &project[1..])));
    brought("apply_patch", "/tmp/x").passes();
    brought("cd /tmp && apply_patch", "src/x").passes();
    for field in ["input", "patch"] {
        let input = json!({ field: "*** Begin Patch\n*** Add File:\tsrc/b.rs\n+x\n*** End Patch" });
        denied(&talk, &session, "E0702", NEXT, || talk.tool(("apply_patch", input), None));
    }
    for (tool, input) in [
        ("shell", json!({ "command": ["rm", "-rf", "src"] })),
        ("exec_command", json!({ "cmd": "rm -rf src" })),
        ("write_stdin", json!({ "session_id": 1, "chars": "rm -rf src\n" })),
    ] {
        denied(&talk, &session, "E0702", NEXT, || talk.tool((tool, input), None));
    }
    talk.tool(("write_stdin", json!({ "session_id": 1, "chars": "" })), None).passes();
}

#[test]
fn keys_are_not_read_by_a_way_round() {
    each("round", |talk, session| {
        let team = talk.team;
        let developer = talk.starts("developer", "Build LOGIN.");
        let elsewhere = team.project().parent().unwrap().join("elsewhere");
        symlink(team.config(), &elsewhere).unwrap();
        let elsewhere = elsewhere.display().to_string();
        for by in [None, Some(&developer)] {
            for command in [
                "cat ~/con*/*/*/operator.key".to_owned(),
                "cat ~ann/config/interlock/x/operator.key".to_owned(),
                "head ~/config/interloc[k]/*/operator.key".to_owned(),
                "cd ~/config && cat */*/operator.key".to_owned(),
                "grep -r . ~/config".to_owned(),
                "cd ~ && rg token".to_owned(),
                "for f in ~/config/*/*/*.key; do cat $f; done".to_owned(),
                "tar cz ~ | base64".to_owned(),
                format!("cat {elsewhere}/interlock/*/operator.key"),
                format!("cat {elsewhere}/*/*/hooks/*.json"),
            ] {
                denied(talk, session, "E0703", step(talk, by), || talk.runs(&command, by));
            }
            talk.runs("grep -rn fn src; ls ~", by).passes();
        }
    });
    let team = Team::new("hooks_round_tools");
    let (claude, session) = planned(&team, Client::Claude, &["LOGIN"]);
    let link = team.project().parent().unwrap().join("link");
    symlink(team.keys(), &link).unwrap();
    let read = |tool: &str, input| claude.tool((tool, input), None);
    denied(&claude, &session, "E0703", NEXT, || read("Read", json!({ "file_path": link.join("operator.key") })));
    denied(&claude, &session, "E0703", NEXT, || read("Grep", json!({ "pattern": ".", "path": team.config() })));
    denied(&claude, &session, "E0703", NEXT, || read("Glob", json!({ "pattern": team.keys().join("**") })));
    read("Grep", json!({ "pattern": ".", "path": "src" })).passes();
    read("Glob", json!({ "pattern": "**/*.rs" })).passes();
    let gemini = Talk::begun(&team, Client::Gemini, "c-2");
    let read = |tool: &str, input| gemini.tool((tool, input), None);
    denied(&gemini, &session, "E0703", NEXT, || {
        read("grep_search", json!({ "pattern": ".", "dir_path": team.config() }))
    });
    let all = json!({ "include": [team.keys().join("**")] });
    denied(&gemini, &session, "E0703", NEXT, || read("read_many_files", all));
}

/// What agents run every day can take the store with it.
#[test]
fn everyday_commands_leave_the_store_where_it_is() {
    each("everyday", |talk, session| {
        fs::create_dir_all(talk.team.project().join(".claude/skills/interlock")).unwrap();
        fs::create_dir_all(talk.team.project().join("target")).unwrap();
        let developer = talk.starts("developer", "Build LOGIN.");
        let by = Some(&developer);
        for command in [
            "git clean -fdx",
            "git clean -xfd .",
            "git stash -a",
            "git stash push --all",
            "find . -delete",
            "find . -name '*.db' -delete",
            "find . -type f -exec rm {} +",
            "rm -rf .inter*",
            "rm -rf .i* .cl*",
            "rm -rf ../*",
            "rm -rf $PWD",
            "rm -rf \"$(pwd)/.interlock\"",
            "rsync -a --delete /tmp/e/ ./",
            "git rm -r .claude",
            "mv -t /tmp .claude",
            "chmod -R 000 .",
            "python3 -c \"open('.interlock/interlock.db','w')\"",
            "python3 - <<EOF\nopen('.interlock/interlock.db','w')\nEOF",
            "node -e \"require('fs').writeFileSync('.claude/settings.json','')\"",
            "tar -C.interlock -xf a",
        ] {
            let reason = denied(talk, session, "E0703", "in your handoff", || talk.runs(command, by));
            assert!(reason.contains("is left alone"), "{command}: {reason}");
        }
        let reason = talk.runs("git clean -fdx", by).denied();
        assert!(reason.contains("Leave out -x and -X"), "{reason}");
        let reason = talk.runs("git stash -a", by).denied();
        assert!(reason.contains("git stash -u"), "{reason}");
        for command in [
            "git clean -fd",
            "git clean -fdx target",
            "git stash -u",
            "find . -name '*.pyc' -delete",
            "find . -type f -exec grep -l x {} +",
            "rm -rf target src/*",
            "cat .interlock/sessions/x/handoff.json",
            "cargo build && git commit -am 'interlock works'",
        ] {
            talk.runs(command, by).passes();
        }
        let own = format!(".interlock/sessions/{session}/{}.1", developer.assignment().rsplit('.').next().unwrap());
        talk.runs(&format!("cat > {own}/handoff.json <<'EOF'\n{{}}\nEOF"), by).passes();
    });
}

/// Gemini names the folder that a command is run in.
#[test]
fn a_command_is_judged_where_it_is_run() {
    let team = Team::new("hooks_dir_path");
    let (gemini, session) = planned(&team, Client::Gemini, &["LOGIN"]);
    let developer = gemini.starts("developer", "Build LOGIN.");
    for folder in [".interlock", &team.project().join(".interlock").display().to_string()] {
        for command in ["rm interlock.db", "rm -f *"] {
            let input = json!({ "command": command, "dir_path": folder });
            denied(&gemini, &session, "E0703", "in your handoff", || {
                gemini.tool(("run_shell_command", input), Some(&developer))
            });
        }
    }
}

#[test]
fn what_sets_a_client_up_for_its_user_is_left_alone() {
    each("of_user", |talk, session| {
        let developer = talk.starts("developer", "Build LOGIN.");
        let home = talk.team.project().parent().unwrap().to_owned();
        for by in [None, Some(&developer)] {
            for file in [".claude/settings.json", ".claude.json", ".codex/config.toml", ".gemini/trustedFolders.json"] {
                let path = home.join(file).display().to_string();
                denied(talk, session, "E0703", step(talk, by), || talk.writes(&path, by));
                denied(talk, session, "E0703", step(talk, by), || talk.runs(&format!("echo x > ~/{file}"), by));
            }
        }
        talk.writes(&home.join(".claude/notes.md").display().to_string(), None).passes();
    });
}

/// Tools that write, run or start, and that are none of the usual ones.
#[test]
fn a_tool_is_judged_by_what_it_does() {
    let team = Team::new("hooks_other_tools");
    let (talk, session) = planned(&team, Client::Claude, &["LOGIN"]);
    let tool = |name: &str, input| talk.tool((name, input), None);
    let (project, keys) = (team.project(), team.keys());
    denied(&talk, &session, "E0702", NEXT, || tool("Monitor", json!({ "command": "rm -rf src", "description": "d" })));
    denied(&talk, &session, "E0703", NEXT, || tool("PowerShell", json!({ "command": "rm -r .interlock" })));
    denied(&talk, &session, "E0701", NEXT, || tool("Workflow", json!({ "script": "agent('do it all')" })));
    let write = json!({ "path": project.join("src/a.rs"), "content": "" });
    denied(&talk, &session, "E0702", NEXT, || tool("mcp__filesystem__write_file", write));
    for (name, path) in
        [("write_file", project.join(".interlock/interlock.db")), ("read_text_file", keys.join("x.key"))]
    {
        let input = json!({ "path": path, "content": "" });
        denied(&talk, &session, "E0703", NEXT, || tool(&format!("mcp__filesystem__{name}"), input));
    }
    let nested = json!({ "edits": [{ "uri": format!("file://{}", project.join(".mcp.json").display()) }] });
    denied(&talk, &session, "E0703", NEXT, || tool("mcp__x__batch", nested));
    denied(&talk, &session, "E0702", NEXT, || tool("mcp__shell__run_command", json!({ "command": "rm -rf src" })));
    for name in ["claim_assignment", "report_handoff"] {
        denied(&talk, &session, "E0704", NEXT, || tool(&format!("mcp__il__{name}"), json!({ "assignment": "x" })));
    }
    for (name, input) in [
        ("mcp__filesystem__read_text_file", json!({ "path": project.join("src/a.rs") })),
        ("mcp__demo__add", json!({ "a": 1, "b": 2 })),
        ("WebSearch", json!({ "query": "x" })),
    ] {
        assert_eq!(tool(name, input), Answer::Pass, "{name}");
    }
}
