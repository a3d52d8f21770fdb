//! A session whose prompts are read: claims, reports, and what each prompt has.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::team::{Holder, Run, Team, handoff};

pub(crate) struct Scene {
    pub(crate) team: Team,
    pub(crate) session: String,
}

/// A claimed assignment: its holder, its prompt and where its documents go.
pub(crate) struct Desk {
    pub(crate) holder: Holder,
    pub(crate) prompt: String,
    pub(crate) output: PathBuf,
}

impl Desk {
    /// The text is in the prompt, or in a file that the prompt names.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.prompt.contains(text) || self.named_files().iter().any(|file| file.contains(text))
    }

    fn named_files(&self) -> Vec<String> {
        let names = self.prompt.split('`').filter(|name| name.ends_with(".md") && Path::new(name).is_absolute());
        names.filter_map(|name| fs::read_to_string(name).ok()).collect()
    }

    #[track_caller]
    pub(crate) fn must_have(&self, texts: &[&str]) {
        for text in texts {
            assert!(self.has(text), "{} does not learn: {text}\n\n{}", self.holder.role, self.prompt);
        }
    }

    /// Leaves a document for later roles.
    pub(crate) fn leave(&self, name: &str, text: &str) {
        fs::write(self.output.join(name), text).expect("a document");
    }
}

impl Scene {
    pub(crate) fn start(test: &str, workflow: &str) -> Self {
        Self::start_in(Team::new(test), workflow)
    }

    /// A session of a workflow that the project has itself.
    pub(crate) fn of_project(test: &str, workflow: &str) -> Self {
        let team = Team::new(test);
        fs::write(team.project().join("interlock.yaml"), workflow).expect("a workflow");
        Self::start_in(team, "interlock.yaml")
    }

    fn start_in(team: Team, workflow: &str) -> Self {
        let mission = team.file("mission.md", "Wrap the Linear server so that agents use few tokens.");
        let mission = mission.display().to_string();
        let start = ["session", "start", "--title", "A session", "--workflow", workflow, "--mission", &mission];
        let started = team.ask(&start).done();
        let session = started["session"].as_str().expect("a session").to_owned();
        Self { team, session }
    }

    #[track_caller]
    pub(crate) fn desk(&self, role: &str, group: &str) -> Desk {
        let assignment = self.team.assignment(&self.session, role, group);
        let claimed = self.team.ask(&["claim", &assignment]).done();
        let text = |key: &str| claimed[key].as_str().expect("a text").to_owned();
        Desk {
            holder: Holder { assignment, role: role.to_owned(), token: text("token") },
            prompt: text("prompt"),
            output: PathBuf::from(text("output_directory")),
        }
    }

    /// Reports for a holder, with the fewest fields added.
    pub(crate) fn try_report(&self, desk: &Desk, status: &str, more: Json) -> Run {
        self.team.give(&desk.holder, &handoff(&desk.holder.role, status, more).to_string())
    }

    #[track_caller]
    pub(crate) fn report(&self, desk: &Desk, status: &str, more: Json) -> Json {
        let run = self.try_report(desk, status, more);
        assert_eq!(run.exit, 0, "{} reports {status}: {run}", desk.holder.role);
        run.json()
    }

    /// Claims and reports with a context.
    #[track_caller]
    pub(crate) fn plays(&self, role: &str, group: &str, status: &str, context: &str, more: Json) -> Desk {
        let desk = self.desk(role, group);
        self.report(&desk, status, with_context(context, more));
        desk
    }
}

pub(crate) fn with_context(context: &str, mut more: Json) -> Json {
    more["handoff"]["context"] = json!(context);
    more["handoff"]["next_agent"] = json!(null);
    more
}
