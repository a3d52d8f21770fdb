//! Repositories as people have them.

use std::process::Command;

use serde_json::Value as Json;

use crate::yard::Yard;

/// Rehearses in another folder than the yard's project.
fn rehearse_in(yard: &Yard, folder: &str) -> Json {
    let mut command = yard.command(&["run", "--agents", "scripted", "--json"]);
    let output = command.current_dir(yard.path(folder)).output().expect("the program");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&text).expect("a document")
}

fn git_in(yard: &Yard, folder: &str, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(yard.path(folder)).output().expect("git");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").trim_end().to_owned()
}

fn branch(ended: &Json) -> String {
    ended["branch"].as_str().expect("a branch").to_owned()
}

#[test]
fn a_clone_that_was_cut_short_will_do() {
    let yard = Yard::new("shallow", &[("a.txt", "a\n")]);
    for n in 0..3 {
        yard.write("a.txt", &format!("{n}\n"));
        yard.git(&["commit", "-q", "-a", "-m", "more"]);
    }
    let from = format!("file://{}", yard.project().display());
    yard.git(&["clone", "-q", "--depth", "1", &from, "../short"]);
    let ended = rehearse_in(&yard, "../short");
    assert_eq!(
        git_in(&yard, "../short", &["log", "--oneline", "-1", "--format=%P", &branch(&ended)]).split(' ').count(),
        2
    );
}

#[test]
fn a_linked_worktree_will_do_and_the_others_are_left_alone() {
    let yard = Yard::new("linked", &[("a.txt", "a\n")]);
    yard.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    yard.write("a.txt", "not committed\n");
    let before = yard.git(&["status", "--porcelain"]);
    let ended = rehearse_in(&yard, "../side");
    assert_eq!(yard.git(&["status", "--porcelain"]), before);
    assert_eq!(yard.git(&["show", &format!("{}:a.txt", branch(&ended))]), "a", "agents see what was committed");
}

#[test]
fn hashes_of_the_other_kind_will_do() {
    let yard = Yard::new("sha256", &[("a.txt", "a\n")]);
    std::fs::create_dir_all(yard.path("../other")).expect("a folder");
    git_in(&yard, "../other", &["init", "-q", "--object-format=sha256"]);
    let identity = ["-c", "user.name=T", "-c", "user.email=t@example.invalid"];
    git_in(&yard, "../other", &[&identity[..], &["commit", "-q", "--allow-empty", "-m", "The beginning"]].concat());
    let ended = rehearse_in(&yard, "../other");
    assert_eq!(ended["commit"].as_str().map(str::len), Some(64));
}

/// Stash, hooks and refs of the user stay the user's.
#[test]
fn nothing_of_the_users_own_leaks_in_or_changes() {
    let more = "  - { role: developer, attempt: 1, does: [{ run: [sh, -c, \"git stash list > stash.txt; git branch -a > refs.txt; git commit -q --allow-empty -m x; true\"] }], says: { status: READY_FOR_QA } }";
    let script = crate::yard::script("{ id: one, title: One }", more);
    let yard = Yard::new("own", &[("a.txt", "a\n"), ("scripted.yaml", &script), ("m.md", "# One\n")]);
    for hook in ["pre-commit", "post-commit", "reference-transaction", "post-checkout"] {
        let path = yard.path(&format!(".git/hooks/{hook}"));
        std::fs::write(&path, "#!/bin/sh\ntouch \"$HOME/hook-ran\"\n").expect("a hook");
        Command::new("chmod").arg("+x").arg(&path).status().expect("chmod");
    }
    yard.write("a.txt", "stashed\n");
    yard.git(&["stash", "push", "-q"]);
    let _ = std::fs::remove_file(yard.path("../hook-ran"));
    let refs = yard.git(&["for-each-ref"]);
    let ended = yard.run(&["m.md", "--agents", "scripted"]);
    let session = ended["session"].as_str().expect("a session");
    assert_eq!(yard.result(session, "stash.txt"), "");
    assert!(!yard.result(session, "refs.txt").contains("main"), "{}", yard.result(session, "refs.txt"));
    assert!(!yard.path("../hook-ran").exists(), "no hook of the user ran");
    let mut after: Vec<String> = yard.git(&["for-each-ref"]).lines().map(str::to_owned).collect();
    after.retain(|line| !line.contains("refs/heads/interlock/"));
    assert_eq!(after.join("\n"), refs);
}

/// A submodule is another repository. Files that were there already, and files that git ignores there, are not counted
/// as changes.
#[test]
fn what_is_written_into_a_submodule_goes_back() {
    let more = "  - { role: developer, does: [{ run: [sh, -c, \"test -f lib/lib.txt && echo x > lib/built.o; test -f lib/extra.txt || echo mine > lib/extra.txt; echo x > mine.txt\"] }], says: { status: READY_FOR_QA } }";
    let script = crate::yard::script("{ id: one, title: One }", more);
    let agents = "agents: { s: { client: scripted } }\nroles: { any: s }\nprepare: [[git, -c, protocol.file.allow=always, submodule, --quiet, update, --init]]\ncorrections: 2\n";
    let yard = Yard::new("submodule", &[("scripted.yaml", &script), ("agents.yaml", agents), ("m.md", "# One\n")]);
    std::fs::create_dir_all(yard.path("../lib")).expect("a folder");
    std::fs::write(yard.path("../lib/lib.txt"), "lib\n").expect("a file");
    std::fs::write(yard.path("../lib/.gitignore"), "*.o\n").expect("a file");
    git_in(&yard, "../lib", &["init", "-q"]);
    git_in(&yard, "../lib", &["add", "-A"]);
    let identity = ["-c", "user.name=T", "-c", "user.email=t@example.invalid"];
    git_in(&yard, "../lib", &[&identity[..], &["commit", "-q", "-m", "A library"]].concat());
    let from = yard.path("../lib").canonicalize().expect("a path").display().to_string();
    yard.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from, "lib"]);
    yard.git(&["commit", "-q", "-m", "With a submodule"]);
    let output = yard.ask(&["run", "m.md", "--no-wait"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let back: Vec<&str> = text.lines().filter(|line| line.contains("written into submodules")).collect();
    assert!(back.len() == 1 && back[0].ends_with("or do without: `lib/extra.txt`"), "{text}");
}

/// A clone may leave out objects that it can get from its remote later. Agents need all files, and have no remote.
#[test]
fn a_partial_clone_will_do_if_its_files_are_here() {
    let yard = Yard::new("partial", &[("big/one", "1\n"), ("small/two", "2\n")]);
    yard.write("big/one", "another\n");
    yard.git(&["commit", "-q", "-a", "-m", "more"]);
    yard.git(&["config", "uploadpack.allowFilter", "true"]);
    let from = format!("file://{}", yard.project().display());
    yard.git(&["clone", "-q", "--filter=blob:none", "--sparse", &from, "../part"]);
    let mut command = yard.command(&["run", "--agents", "scripted"]);
    let output = command.current_dir(yard.path("../part")).output().expect("the program");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("2 of the files of its commit are not here"), "{said}");
    assert!(git_in(&yard, "../part", &["branch", "--list", "interlock/*"]).is_empty(), "a session was begun");
    git_in(&yard, "../part", &["fetch", "-q", "--refetch", "--no-filter"]);
    rehearse_in(&yard, "../part");
    // What only the history has may be missing.
    yard.git(&["clone", "-q", "--filter=blob:none", &from, "../whole"]);
    rehearse_in(&yard, "../whole");
}
