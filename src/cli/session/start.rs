//! `interlock session start`

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use interlock_core::code::Code;
use interlock_core::command::Allow;
use interlock_core::id::Name;
use interlock_core::workflow::Workflow;
use serde_json::json;

use crate::cli::place::{Place, person};
use crate::cli::values::Pair;
use crate::cli::{Ending, examples};
use interlock_engine::{Done, Engine, Error, Order, Task, session_id};
use crate::failure::{Exit, Failure, Sources};
use crate::output::{Output, complain};
use interlock_system::text::{HEADING, NAME, Text};
use interlock_system::clock;
use crate::decision;
use crate::input;
use crate::library;
use crate::report;

/// A mission is read by every agent; more than this none reads to its end.
pub(crate) const LARGEST_MISSION: u64 = 1 << 20;
/// Names tried before giving up: each has a million others beside it.
const TRIES: usize = 8;

/// Start a session (takes the spawner key)
///
/// The workflow is pinned: editing its file never changes a session that runs.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock session start --title \"Add login\""
    "interlock session start --title \"Add login\" --mission login.md --set testing=minimal"
))]
pub(crate) struct Start {
    /// What is to be done, in a few words
    #[arg(long, value_name = "TEXT")]
    title: String,

    /// The workflow: a built-in name or a file; interlock.yaml of the project if none is named. One that demands less than
    /// interlock.yaml takes the operator key
    #[arg(long, value_name = "NAME or FILE")]
    workflow: Option<String>,

    /// A setting of the workflow; may be repeated. One that drops a requirement takes the operator key
    #[arg(long, value_name = "NAME=VALUE", value_parser = Pair::parse)]
    set: Vec<Pair>,

    /// The whole of what is to be done, for every agent to read
    #[arg(long, value_name = "FILE")]
    mission: Option<PathBuf>,

    /// Declare an investigation: the session may end without groups (takes the operator key)
    #[arg(long)]
    investigation: bool,

    /// Who drops a requirement, declares an investigation or allows protected paths
    #[arg(long = "as", value_name = "NAME")]
    by: Option<String>,
    /// Allow agents to change protected paths that fit this pattern; may be repeated (takes the operator key)
    #[arg(long, value_name = "GLOB")]
    allow: Vec<String>,
}

impl Start {
    pub(crate) fn run(&self, output: Output, place: &Place) -> Ending {
        if self.title.trim().is_empty() {
            return Err(Failure::new(Exit::Usage, Code::BadArgument, "a session needs a title"));
        }
        let mission = match &self.mission {
            Some(path) => Some(read_mission(path)?),
            None => None,
        };
        let workflow = workflow_name(self.workflow.as_deref(), place)?;
        let by = person(self.by.as_deref());
        let beginning = Beginning {
            title: &self.title,
            workflow: &workflow,
            settings: &self.set,
            mission,
            investigation: self.investigation,
            allow: allowed_by_person(&self.allow, &by),
            by: Some(by),
            own: workflow_name(None, place).ok(),
        };
        let (done, workflow) = beginning.begin(&mut place.engine()?, |_| Ok(()))?;
        let next = done.event.decision.iter().flat_map(|decided| &decided.next);
        let next: Vec<_> = next.map(|next| decision::next_json(next, &done.session)).collect();
        let warnings: Vec<_> = workflow.completion_warning().into_iter().collect();
        if output.json {
            let hash = workflow.hash.to_string();
            let document = json!({
                "session": done.session, "workflow": workflow.name, "workflow_hash": hash, "next": next,
                "warnings": warnings,
            });
            output.document(&document)?;
            return Ok(Exit::Done);
        }
        if !warnings.is_empty() {
            complain(&report::problems(&warnings, &Sources::default()));
        }
        let mut text = Text::default();
        text.paint(HEADING, "session ");
        text.paint(NAME, &done.session);
        text.push("\n");
        decision::next_text(&mut text, done.event.decision.as_ref(), &done.session);
        output.text(&text)?;
        Ok(Exit::Done)
    }
}

/// A mission that is too long is refused: cut, it would be another mission.
pub(crate) fn read_mission(path: &Path) -> Result<String, Failure> {
    let bytes = input::bytes(path, LARGEST_MISSION)?;
    let read = bytes.len() as u64;
    if read > LARGEST_MISSION {
        let whole = path.metadata().ok().filter(|file| file.is_file()).map(|file| file.len().max(read));
        let size = whole.map_or_else(|| format!("more than {LARGEST_MISSION} bytes"), |size| format!("{size} bytes"));
        let message =
            format!("{}: the mission has {size}; the limit is {LARGEST_MISSION} bytes (1 MiB)", path.display());
        let help = "shorten it; files of the project can be named in it, and agents read them";
        return Err(Failure::new(Exit::Usage, Code::BadArgument, message).help(help));
    }
    input::to_text(path, bytes)
}

/// A session that is to be started.
pub(crate) struct Beginning<'a> {
    pub(crate) title: &'a str,
    pub(crate) workflow: &'a str,
    pub(crate) settings: &'a [Pair],
    pub(crate) mission: Option<String>,
    pub(crate) investigation: bool,
    /// The person at the keyboard; `None` for a model, which may not drop a requirement.
    pub(crate) by: Option<Name>,
    /// The workflow file of the project, where it has one: another workflow is compared with it.
    pub(crate) own: Option<String>,
    /// Protected paths that a person allows.
    pub(crate) allow: Option<Allow>,
}

/// Patterns from the command line, and the person who runs it.
pub(crate) fn allowed_by_person(patterns: &[String], by: &Name) -> Option<Allow> {
    let paths: Vec<Name> = patterns.iter().map(|pattern| Name::new(pattern)).collect();
    (!paths.is_empty()).then(|| Allow { paths, by: by.clone() })
}

impl Beginning<'_> {
    /// `fits`: whether it can be driven by that workflow; nothing is started if not.
    pub(crate) fn begin(
        self,
        engine: &mut Engine,
        fits: impl Fn(&Workflow) -> Result<(), Failure>,
    ) -> Result<(Done, Arc<Workflow>), Failure> {
        let is_pinned = |hash| Ok(engine.store().view()?.workflow(hash)?.is_some());
        let (workflow, pinned) = library::pinnable_unless(self.workflow, is_pinned)?;
        fits(&workflow)?;
        let own = self.own.filter(|own| own != self.workflow);
        let dropped = own.map_or_else(Vec::new, |own| library::dropped_by_workflow(&own, &workflow));
        let workflow = Arc::new(workflow);
        let settings = self.settings.iter().map(|pair| (Name::new(&pair.name), Name::new(&pair.value))).collect();
        let task = Task::Start {
            pinned: Arc::new(pinned),
            workflow: Arc::clone(&workflow),
            title: Name::new(self.title.trim()),
            settings,
            mission: self.mission,
            investigation: self.investigation,
            by: self.by,
            dropped,
            allow: self.allow,
        };
        Ok((start(engine, self.title, &task)?, workflow))
    }
}

/// As named; otherwise the file of the project, beside the store or here.
pub(crate) fn workflow_name(named: Option<&str>, place: &Place) -> Result<String, Failure> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let store = place.file()?;
    let project = store.parent().and_then(Path::parent).map(|folder| folder.join(library::PROJECT_FILE));
    match project.filter(|path| path.exists()) {
        Some(path) => Ok(path.display().to_string()),
        None if Path::new(library::PROJECT_FILE).exists() => Ok(library::PROJECT_FILE.to_owned()),
        None => {
            let message = format!("no workflow is named, and the project has no {}", library::PROJECT_FILE);
            Err(Failure::new(Exit::Usage, Code::BadArgument, message)
                .help("name one with --workflow; `interlock workflow list` shows those built in"))
        }
    }
}

/// Starts it under the first name that is free.
fn start(engine: &mut Engine, title: &str, task: &Task) -> Result<Done, Failure> {
    let mut last = None;
    for _ in 0..TRIES {
        let order = Order { session: session_id(title, &clock::suffix(4)), task: task.clone() };
        match engine.execute(&order) {
            Err(Error::Refused(rejection)) if rejection.code == Code::SessionExists => last = Some(rejection),
            other => return Ok(other?),
        }
    }
    Err(last.map_or_else(|| Failure::from(Error::lost()), |rejection| Failure::from(*rejection)))
}
