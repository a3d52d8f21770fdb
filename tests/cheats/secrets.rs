//! By what could be overheard: no secret stands where an agent can read it.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use crate::team::incident::Incident;
use crate::team::{Run, handoff};

/// A token as its holder has it, and as bytes.
fn shows(bytes: &[u8], token: &str) -> bool {
    let raw: Vec<u8> =
        (0..token.len()).step_by(2).map(|at| u8::from_str_radix(&token[at..at + 2], 16).unwrap()).collect();
    let has = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    has(token.as_bytes()) || has(token.to_uppercase().as_bytes()) || has(&raw)
}

#[track_caller]
fn silent(run: &Run, tokens: &[String]) {
    for token in tokens {
        assert!(!shows(format!("{}{}", run.stdout, run.stderr).as_bytes(), token), "a token in {run}");
    }
}

fn tokens(incident: &Incident) -> Vec<String> {
    incident.holders.values().chain([&incident.spent]).map(|holder| holder.token.clone()).collect()
}

#[test]
fn read_a_token_in_what_commands_print() {
    let incident = Incident::new("read_a_token_in_what_commands_print");
    let (team, session, tokens) = (&incident.team, incident.session.as_str(), tokens(&incident));
    let decision = format!("{session}.d5");
    for arguments in [
        &["log", session][..],
        &["log", session, "--full"],
        &["why", &decision],
        &["session", "show", session],
        &["session", "next", session],
        &["session", "list"],
        &["question", "list"],
        &["audit", "verify"],
        &["audit", "export", session],
        &["complete", session],
    ] {
        silent(&team.ask(arguments), &tokens);
        silent(&crate::team::run(&mut team.command(arguments), ""), &tokens);
    }
}

#[test]
fn learn_the_next_token_by_reporting() {
    let incident = Incident::new("learn_the_next_token_by_reporting");
    let (team, session) = (&incident.team, incident.session.as_str());
    let reported = team.report(incident.holder("PAT-VIP"), "READY_FOR_QA", json!({}));
    assert!(reported.done()["next"][0]["assignment"].is_string());
    assert!(!reported.stdout.contains("token"), "{reported}");
    let refused = team.report(incident.holder("PAT-VIP"), "READY_FOR_REVIEW", json!({}));
    silent(&refused, &tokens(&incident));
    let next = team.claim(session, "qa_expert", "PAT-VIP");
    silent(&reported, &[next.token]);
}

#[test]
fn read_a_token_in_the_store() {
    let incident = Incident::new("read_a_token_in_the_store");
    let (team, tokens) = (&incident.team, tokens(&incident));
    let backup = team.file("x", "").with_file_name("backup.db");
    team.ask(&["backup", &backup.display().to_string()]).done();
    let mut files = vec![backup];
    collect(&team.project(), &mut files);
    assert!(files.iter().any(|file| file.ends_with("interlock.db")), "{files:?}");
    for file in files {
        let bytes = fs::read(&file).unwrap();
        assert!(!tokens.iter().any(|token| shows(&bytes, token)), "a token in {}", file.display());
    }
}

#[test]
fn read_a_key_in_the_project() {
    let Incident { team, .. } = &Incident::new("read_a_key_in_the_project");
    let keys = ["operator", "spawner", "chain"].map(|kind| {
        let line = fs::read_to_string(team.keys().join(format!("{kind}.key"))).unwrap();
        line.trim().rsplit(':').next().unwrap().to_owned()
    });
    let mut files = Vec::new();
    collect(&team.project(), &mut files);
    for file in files {
        let bytes = fs::read(&file).unwrap();
        assert!(!keys.iter().any(|key| shows(&bytes, key)), "a key in {}", file.display());
    }
}

fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

#[test]
fn read_the_keys_as_another_user() {
    let Incident { team, .. } = &Incident::new("read_the_keys_as_another_user");
    // The folder of a copy says nothing; a fresh one is as `init` made it.
    let fresh = crate::team::Team::new("read_the_keys_as_another_user-2");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&fresh.keys()), 0o700);
    for kind in ["operator", "spawner", "chain"] {
        assert_eq!(mode(&fresh.keys().join(format!("{kind}.key"))), 0o600, "{kind}");
    }
    assert!(!team.keys().starts_with(team.project()), "never in the repository");
}

#[test]
fn read_a_token_among_the_processes() {
    let incident = Incident::new("read_a_token_among_the_processes");
    let (team, holder) = (&incident.team, incident.holder("PAT-VIP"));
    let mut command = team.command(&["report", "--assignment", &holder.assignment, "-", "--json"]);
    let mut child =
        command.env("INTERLOCK_TOKEN", &holder.token).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // It waits for its standard input, so it can be looked at.
    let arguments = fs::read(format!("/proc/{}/cmdline", child.id())).unwrap();
    let text = handoff("developer", "READY_FOR_QA", json!({})).to_string();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(!shows(&arguments, &holder.token));
    // And there is no way to put it there.
    let usage = team.ask(&["report", "--assignment", &holder.assignment, "--token", &holder.token, "-"]);
    assert_eq!(usage.exit, 2, "{usage}");
}
