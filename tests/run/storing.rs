//! Files as the user's repository stores them: filters, line ends, large files, attributes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::yard::{Yard, script};

/// The developer's step, in a script in which everybody else does the usual.
fn yard(test: &str, developer: &str) -> Yard {
    let more = format!("  - {{ role: developer, does: [{developer}], says: {{ status: READY_FOR_QA }} }}");
    Yard::new(
        test,
        &[("scripted.yaml", &script("{ id: one, title: One }", &more)), ("m.md", "# One\n"), ("a.txt", "a\n")],
    )
}

#[track_caller]
fn run(yard: &Yard) -> String {
    let ended = yard.run(&["m.md", "--agents", "scripted", "--no-wait"]);
    assert_eq!(ended["status"], "completed");
    ended["session"].as_str().expect("a session").to_owned()
}

fn commit(yard: &Yard, what: &[&str]) {
    yard.git(&[&["add", "--"], what].concat());
    yard.git(&["commit", "-q", "-m", "More"]);
}

/// Files that were never normalised are unchanged, and stay as they are; changes of an agent are stored as git would.
#[test]
fn line_ends_that_were_never_normalised_are_nobodys_change() {
    let yard = yard("crlf", "{ write: mine.txt, text: \"mine\\n\" }, { write: y.txt, text: \"c\\r\\n\" }");
    for file in ["x.txt", "y.txt", "sub/z.txt"] {
        yard.write(file, "a\r\nb\r\n");
    }
    commit(&yard, &["x.txt", "y.txt", "sub"]);
    yard.write(".gitattributes", "*.txt text\n");
    commit(&yard, &[".gitattributes"]);
    let session = run(&yard);
    let changed = yard.git(&["diff", "--name-only", "main", &format!("interlock/{session}")]);
    assert_eq!(changed, "mine.txt\ny.txt");
    assert_eq!(yard.git(&["cat-file", "-s", &format!("interlock/{session}:x.txt")]), "6");
    assert_eq!(
        yard.git(&["cat-file", "-s", &format!("interlock/{session}:y.txt")]),
        "2",
        "stored as the attribute says"
    );
}

/// The same where what is laid out is not what is stored.
#[test]
fn only_the_mode_of_a_file_changed() {
    let yard = yard("crlf_mode", "{ run: [chmod, +x, x.txt] }");
    yard.write("x.txt", "a\r\nb\n");
    commit(&yard, &["x.txt"]);
    yard.write(".gitattributes", "*.txt text eol=crlf\n");
    commit(&yard, &[".gitattributes"]);
    let session = run(&yard);
    let raw = yard.git(&["diff", "--raw", "--no-renames", "main", &format!("interlock/{session}")]);
    assert!(raw.starts_with(":100644 100755") && raw.lines().count() == 1, "{raw}");
    assert_eq!(yard.git(&["cat-file", "-s", &format!("interlock/{session}:x.txt")]), "5", "{raw}");
}

/// As `git-crypt` is set up: in the configuration of the user's repository, which no clone has.
#[test]
fn what_the_users_repository_would_encrypt_is_not_committed_in_plain() {
    let yard =
        yard("crypt", "{ run: [sh, -c, \"cat secret1 > saw; echo new secret > secret2; echo x > private.txt\"] }");
    // Keys lie beside the repository that a filter is called for.
    let key = "test -f $(git rev-parse --git-dir)/git-crypt/key &&";
    for (name, to) in [("clean", "a-z A-Z"), ("smudge", "A-Z a-z")] {
        yard.git(&["config", &format!("filter.crypt.{name}"), &format!("{key} tr {to} # \"quoted\" \\ ;")]);
    }
    yard.git(&["config", "filter.crypt.required", "true"]);
    yard.git(&["config", "filter.so \"odd\" \\ a.name.clean", "false"]);
    yard.write(".git/git-crypt/key", "x");
    yard.write(".git/info/attributes", "secret* filter=crypt\n");
    yard.write(".git/info/exclude", "private.txt\n");
    yard.write("secret1", "old secret\n");
    commit(&yard, &["secret1"]);
    let session = run(&yard);
    let stored = |file: &str| yard.git(&["cat-file", "blob", &format!("interlock/{session}:{file}")]);
    assert_eq!((stored("secret1"), stored("secret2")), ("OLD SECRET".into(), "NEW SECRET".into()));
    assert_eq!(stored("saw"), "old secret", "agents see files as their users do");
    let files = yard.git(&["ls-tree", "--name-only", &format!("interlock/{session}")]);
    assert!(!files.contains("private.txt"), "{files}");
}

/// A filter of the user's may lie in the project. What an agent makes of that file is not what runs.
#[test]
fn an_agent_does_not_decide_what_a_filter_is() {
    let yard = yard(
        "own_filter",
        "{ run: [sh, -c, \"for f in tools/up tools/down; do echo 'touch $HOME/sprung; cat' > $f; done; echo new > new.x\"] }",
    );
    yard.write(".gitattributes", "*.x filter=x\n");
    for (name, tool, to) in [("clean", "up", "a-z A-Z"), ("smudge", "down", "A-Z a-z")] {
        yard.write(&format!("tools/{tool}"), &format!("#!/bin/sh\nexec tr {to}\n"));
        fs::set_permissions(yard.path(&format!("tools/{tool}")), fs::Permissions::from_mode(0o755))
            .expect("may be run");
        let shell = if tool == "up" { "" } else { "sh " };
        yard.git(&["config", &format!("filter.x.{name}"), &format!("{shell}tools/{tool}")]);
    }
    yard.write("old.x", "old\n");
    commit(&yard, &["."]);
    let session = run(&yard);
    assert_eq!(yard.git(&["cat-file", "blob", &format!("interlock/{session}:new.x")]), "NEW");
    assert!(!yard.path("../sprung").exists(), "what an agent wrote ran as a filter");
}

#[test]
fn line_ends_are_stored_as_the_user_has_it() {
    let yard = yard("autocrlf", "{ write: new.txt, text: \"a\\r\\n\" }");
    yard.git(&["config", "core.autocrlf", "input"]);
    let session = run(&yard);
    assert_eq!(yard.git(&["cat-file", "-s", &format!("interlock/{session}:new.txt")]), "2");
}

const CLEAN: &str = r#"#!/bin/sh
d=$(git rev-parse --git-common-dir)/lfs; mkdir -p $d; cat > $d/new.$$; h=$(sha256sum < $d/new.$$ | cut -c1-64)
o=$d/objects/$(echo $h | cut -c1-2)/$(echo $h | cut -c3-4); mkdir -p $o; mv $d/new.$$ $o/$h; echo "pointer $h"
"#;
const SMUDGE: &str = r#"#!/bin/sh
read w h; d=$(git rev-parse --git-common-dir); o=$(echo $h | cut -c1-2)/$(echo $h | cut -c3-4)/$h
for f in $d/lfs $(for a in $(cat $d/objects/info/alternates 2>/dev/null); do echo $a/../lfs; done); do
    test -f $f/objects/$o && exec cat $f/objects/$o
done
echo "no object $h" >&2; exit 2
"#;

/// As Git LFS does it, which keeps large files beside the repository that it is called for.
#[test]
fn large_files_that_agents_add_come_with_the_result() {
    // One that is not what its name says, and a link: neither is the user's.
    let false_ones = "o=../../repository.git/lfs/objects/aa/bb; mkdir -p $o; printf x > $o/aabb$(printf '%060d' 0); ln -s /etc/passwd $o/aabb$(printf '%060d' 1)";
    let yard =
        yard("lfs", &format!("{{ run: [sh, -c, \"cat old.bin > saw; echo brand new > new.bin; {false_ones}\"] }}"));
    for (name, text) in [("clean", CLEAN), ("smudge", SMUDGE)] {
        let path = yard.path(&format!("../{name}"));
        fs::write(&path, text).expect("a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("may be run");
        yard.git(&["config", "--global", &format!("filter.lfs.{name}"), &path.display().to_string()]);
    }
    yard.git(&["config", "--global", "filter.lfs.required", "true"]);
    yard.write(".gitattributes", "*.bin filter=lfs\n");
    yard.write("old.bin", "old\n");
    commit(&yard, &[".gitattributes", "old.bin"]);
    let session = run(&yard);
    assert_eq!(yard.result(&session, "saw"), "old");
    yard.git(&["checkout", "-q", &format!("interlock/{session}")]);
    assert_eq!(fs::read_to_string(yard.path("new.bin")).expect("it is there"), "brand new\n");
    let planted = fs::read_dir(yard.path(".git/lfs/objects/aa/bb")).into_iter().flatten().count();
    assert_eq!(planted, 0, "what agents put there is nobody's large file");
}
