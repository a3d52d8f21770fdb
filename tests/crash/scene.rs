//! A store in which every command under test has something to do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value as Json, json};

use crate::project::{Project, Run, run, text};

/// What is stopped on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Act {
    Start,
    Claim,
    Report,
    Answer,
}

pub(crate) const ACTS: [Act; 4] = [Act::Start, Act::Claim, Act::Report, Act::Answer];

pub(crate) struct Scene {
    pub(crate) project: Project,
    /// The store before any of it.
    store: Vec<u8>,
    events: u64,
    claim: String,
    report: (String, String),
    handoff: PathBuf,
    question: String,
}

/// A copy of the store for one act.
pub(crate) struct Copy<'a> {
    scene: &'a Scene,
    folder: PathBuf,
}

impl Drop for Copy<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

impl Scene {
    pub(crate) fn new(name: &str) -> Self {
        Self::reporting(name, &json!({}))
    }

    /// A scene whose report says more.
    pub(crate) fn reporting(name: &str, more: &Json) -> Self {
        let project = Project::new(name);
        let claim = format!("{}.a1", project.start());
        let report = format!("{}.a1", project.start());
        let report = (report.clone(), project.claim(&report));
        let asking = project.start();
        let asks = project.handoff("lead", "CLEAR", &json!({}));
        let token = project.claim(&format!("{asking}.a1"));
        let asked = run(&mut project.reporting(&format!("{asking}.a1"), &token, &asks)).done();
        assert_eq!(asked["action"], "ask");
        let mut plan = crate::project::plan(2);
        more.as_object().into_iter().flatten().for_each(|(name, value)| plan[name] = value.clone());
        let handoff = project.handoff("lead", "PLANNED", &plan);
        let events = project.verified();
        let store = fs::read(project.store()).unwrap();
        Self { store, events, claim, report, handoff, question: format!("{asking}.q1"), project }
    }

    pub(crate) fn copy(&self, name: &str) -> Copy<'_> {
        let folder = self.project.root().join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("interlock.db"), &self.store).unwrap();
        Copy { scene: self, folder }
    }
}

impl Copy<'_> {
    /// All files of the store begin with this.
    pub(crate) fn store(&self) -> PathBuf {
        self.folder.join("interlock.db")
    }

    pub(crate) fn mark(&self) -> PathBuf {
        self.folder.join("mark")
    }

    pub(crate) fn command(&self, act: Act) -> Command {
        let Scene { project, claim, report, handoff, question, .. } = self.scene;
        let mut command = match act {
            Act::Start => {
                project.command(&["session", "start", "--title", "T", "--workflow", &name(&project.workflow())])
            }
            Act::Claim => project.command(&["claim", claim]),
            Act::Report => project.reporting(&report.0, &report.1, handoff),
            Act::Answer => project.command(&["answer", question, "--option", "retry"]),
        };
        command.env("INTERLOCK_STORE", self.store());
        command
    }

    /// Whether the whole of the act is stored. Half of it never is.
    #[track_caller]
    pub(crate) fn is_whole(&self) -> bool {
        match self.scene.project.verified_on(&self.store()) - self.scene.events {
            0 => false,
            1 => true,
            more => panic!("{more} events of one act"),
        }
    }

    /// What was stopped is asked for again, and comes to what it would have come to.
    #[track_caller]
    pub(crate) fn again(&self, act: Act, whole: bool) {
        let again = run(&mut self.command(act));
        let expected = match (act, whole) {
            (Act::Start | Act::Claim, _) => {
                again.done();
                1 + u64::from(whole)
            }
            (Act::Report, _) => {
                self.is_decision(&again, whole);
                1
            }
            (Act::Answer, false) => {
                again.done();
                1
            }
            // It was answered, and that it was asked again is on the record.
            (Act::Answer, true) => {
                assert_eq!((again.exit, again.code().as_str()), (Some(3), "E0317"));
                2
            }
        };
        let events = self.scene.project.looked_at(&self.store());
        assert_eq!(events - self.scene.events, expected, "{act:?}, {whole}");
    }

    #[track_caller]
    fn is_decision(&self, run: &Run, repeated: bool) {
        let decision = run.done();
        let session = self.scene.report.0.strip_suffix(".a1").unwrap();
        assert_eq!(decision["repeated"], json!(repeated));
        assert_eq!(text(&decision["decision"]), format!("{session}.d2"));
        let roles: Vec<_> = decision["next"].as_array().unwrap().iter().map(|next| &next["role"]).collect();
        assert_eq!(roles, ["maker", "maker"]);
    }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}
