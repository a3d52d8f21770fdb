//! `init`, stopped at every call: what is half made can be made again.

use std::fs;
use std::path::Path;

use crate::project::{Project, Strike, WORKFLOW, run};

const FEWEST: u32 = 40;

/// What is stored under the keys' folder.
fn keys(project: &Project) -> usize {
    fs::read_dir(project.home().join(".config/interlock")).map_or(0, Iterator::count)
}

fn stopped_at_every_call(kind: &str) {
    for at in 1.. {
        let project = Project::empty(&format!("init-{kind}"));
        let strike = Strike { root: &project.made(), kind, at };
        let (stopped, struck) = strike.run(&mut project.command(&project.init()), &project.root().join("mark"));
        let Some(struck) = struck else {
            stopped.done();
            assert!(at > FEWEST, "only {at} calls");
            return;
        };
        eprintln!("init {kind} at {at}, {struck}: exit {:?}", stopped.exit);
        if !matches!(stopped.exit, Some(0) | None) {
            let code = stopped.unavailable();
            assert!(matches!(code.as_str(), "E0401" | "E0505" | "E0506" | "E0509"), "{stopped:?}");
        }
        run(&mut project.command(&project.init())).done();
        assert_eq!(fs::read_to_string(project.folder().join("interlock.yaml")).unwrap(), WORKFLOW);
        let ignored = fs::read_to_string(project.folder().join(".gitignore")).unwrap();
        assert!(ignored.lines().any(|line| line == ".interlock/"), "{ignored:?}");
        project.start();
        assert_eq!(project.looked_at(&project.store()), 1);
        if stopped.exit.is_some() {
            let left: Vec<_> = names(&project.folder()).into_iter().filter(|name| name.contains("partial")).collect();
            assert_eq!(left, Vec::<String>::new(), "{stopped:?}");
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn an_init_that_was_killed_can_be_repeated() {
    stopped_at_every_call("kill");
}

#[test]
fn an_init_on_a_failing_disk_can_be_repeated() {
    stopped_at_every_call("eio");
}

#[test]
fn an_init_on_a_full_disk_can_be_repeated() {
    stopped_at_every_call("short");
}

#[test]
fn two_inits_at_once_make_one_store_with_one_set_of_keys() {
    for _ in 0..40 {
        let project = Project::empty("twice");
        let arguments = project.init();
        let inits: Vec<_> = std::thread::scope(|scope| {
            let both: Vec<_> = (0..3).map(|_| scope.spawn(|| project.run(&arguments))).collect();
            both.into_iter().map(|init| init.join().unwrap().done()).collect()
        });
        let made = inits.iter().filter(|init| init["created"] == true).count();
        assert_eq!((made, keys(&project)), (1, 1), "{inits:?}");
        project.start();
        assert_eq!(project.verified(), 1);
    }
}
