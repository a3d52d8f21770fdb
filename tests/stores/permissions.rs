//! Stores that this user may not write, or not even see. Run as root, the program is started as `nobody`.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use crate::project::{Run, run};
use crate::{Victim, beside};

/// Starts the program as a user that file modes apply to. `None`: not possible here.
struct Somebody<'a> {
    victim: &'a Victim,
    root: bool,
}

impl<'a> Somebody<'a> {
    fn new(victim: &'a Victim) -> Option<Self> {
        let root = fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0);
        if root {
            let to_nobody = Command::new("chown").args(["-R", "65534:65534"]).arg(victim.project.root()).status();
            let able =
                Command::new("setpriv").args(["--reuid=65534", "--regid=65534", "--clear-groups", "true"]).status();
            if !to_nobody.is_ok_and(|ended| ended.success()) || !able.is_ok_and(|ended| ended.success()) {
                eprintln!("SKIPPED: this runs as root, and setpriv cannot make it somebody else");
                return None;
            }
            // The user `nobody` may not have access to the build folder of the tests.
            fs::copy(env!("CARGO_BIN_EXE_interlock"), victim.project.root().join("interlock")).unwrap();
        }
        Some(Self { victim, root })
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let plain = self.victim.project.command(arguments);
        if !self.root {
            return run(&mut { plain });
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(self.victim.project.root().join("interlock")).args(plain.get_args());
        command.env_clear().env("HOME", self.victim.project.home()).env("PATH", "/usr/bin:/bin");
        run(command.current_dir(self.victim.project.root()).env("INTERLOCK_STORE", self.victim.project.store()))
    }
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Modes of the file and of its folder, and what a claim and a look are told.
#[test]
fn what_may_not_be_written_is_said_and_left_alone() {
    let victim = Victim::new("modes");
    let Some(somebody) = Somebody::new(&victim) else { return };
    let (store, claim) = (victim.project.store(), format!("{}.a2", victim.session));
    let folder = store.parent().unwrap();
    for (file, around, claiming, looking) in [
        (0o444, 0o755, Some("E0505"), None),
        (0o644, 0o555, Some("E0505"), Some("E0505")),
        (0o444, 0o555, Some("E0505"), Some("E0505")),
        (0o000, 0o755, Some("E0509"), Some("E0509")),
        (0o644, 0o000, Some("E0509"), Some("E0509")),
    ] {
        eprintln!("file {file:o} in folder {around:o}");
        allow(&store, file);
        allow(folder, around);
        for (command, code) in [(&["claim", &claim][..], claiming), (&["session", "list"][..], looking)] {
            let run = somebody.run(command);
            match code {
                Some(code) => assert_eq!(run.unavailable(), code, "{run:?}"),
                None => drop(run.done()),
            }
        }
        allow(folder, 0o755);
        allow(&store, 0o644);
        // A reader of a file that may not be written leaves files of the same mode beside it.
        for ending in ["-wal", "-shm"] {
            let _ = fs::remove_file(beside(&store, ending));
        }
        assert!(fs::read(&store).unwrap() == victim.store, "the store has been changed");
    }
    somebody.run(&["claim", &claim]).done();
}

/// A disk that is mounted read-only; only root can make one.
#[test]
fn a_store_on_a_read_only_disk_is_not_written() {
    let victim = Victim::new("mounted");
    let folder = victim.project.folder();
    let script = r#"mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" && exec "$@""#;
    let mounted = |arguments: &[&str]| {
        let plain = victim.project.command(arguments);
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", script]).arg(&folder).arg(plain.get_program()).args(plain.get_args());
        run(command.env("HOME", victim.project.home()).env_remove("XDG_CONFIG_HOME").env_remove("INTERLOCK_STORE"))
    };
    let able = Command::new("unshare").args(["-m", "sh", "-c", script]).arg(&folder).arg("true").status();
    if !able.is_ok_and(|ended| ended.success()) {
        eprintln!("SKIPPED: nothing can be mounted read-only here");
        return;
    }
    let claim = format!("{}.a2", victim.session);
    assert_eq!(mounted(&["claim", &claim]).unavailable(), "E0505");
    assert_eq!(mounted(&["session", "list"]).unavailable(), "E0505");
    assert!(fs::read(victim.project.store()).unwrap() == victim.store, "the store has been changed");
    victim.project.claim(&claim);
}
