//! How a session is started: its workflow, its settings, its mission.

use std::path::Path;
use std::sync::Arc;

use interlock_core::code::Code;
use interlock_core::command::AllowPaths;
use interlock_core::id::Name;
use interlock_core::workflow::Workflow;
use interlock_engine::{Committed, Engine, EngineError, Operation, Request, session_id};
use interlock_system::clock;

use crate::context::AppContext;
use crate::error::{CommandError, CommandExit};
use crate::input;
use crate::library;
use crate::setting::SettingArgument;

/// A mission is read by every agent; more than this none reads to its end.
pub const LARGEST_MISSION: u64 = 1 << 20;
/// Names tried before giving up: each has a million others beside it.
const TRIES: usize = 8;

/// A mission that is too long is refused: cut, it would be another mission.
pub fn read_mission(path: &Path) -> Result<String, CommandError> {
    let bytes = input::bytes(path, LARGEST_MISSION)?;
    let read = bytes.len() as u64;
    if read > LARGEST_MISSION {
        let whole = path.metadata().ok().filter(|file| file.is_file()).map(|file| file.len().max(read));
        let size = whole.map_or_else(|| format!("more than {LARGEST_MISSION} bytes"), |size| format!("{size} bytes"));
        let message =
            format!("{}: the mission has {size}; the limit is {LARGEST_MISSION} bytes (1 MiB)", path.display());
        let help = "shorten it; files of the project can be named in it, and agents read them";
        return Err(CommandError::new(CommandExit::Usage, Code::BadArgument, message).help(help));
    }
    input::to_text(path, bytes)
}

/// A session that is to be started.
pub struct SessionStartRequest<'a> {
    pub title: &'a str,
    pub workflow: &'a str,
    pub settings: &'a [SettingArgument],
    pub mission: Option<String>,
    pub investigation: bool,
    /// The person at the keyboard; `None` for a model, which may not drop a requirement.
    pub by: Option<Name>,
    /// The workflow file of the project, where it has one: another workflow is compared with it.
    pub own: Option<String>,
    /// Protected paths that a person allows.
    pub allow: Option<AllowPaths>,
}

/// Patterns from the command line, and the person who runs it.
pub fn allowed_by_person(patterns: &[String], by: &Name) -> Option<AllowPaths> {
    let paths: Vec<Name> = patterns.iter().map(|pattern| Name::new(pattern)).collect();
    (!paths.is_empty()).then(|| AllowPaths { paths, by: by.clone() })
}

impl SessionStartRequest<'_> {
    /// `fits`: whether it can be driven by that workflow; nothing is started if not.
    pub fn begin(
        self,
        engine: &mut Engine,
        fits: impl Fn(&Workflow) -> Result<(), CommandError>,
    ) -> Result<(Committed, Arc<Workflow>), CommandError> {
        let is_pinned = |hash| Ok(engine.store().view()?.workflow(hash)?.is_some());
        let (workflow, pinned) = library::pinnable_unless(self.workflow, is_pinned)?;
        fits(&workflow)?;
        let own = self.own.filter(|own| own != self.workflow);
        let dropped = own.map_or_else(Vec::new, |own| library::dropped_by_workflow(&own, &workflow));
        let workflow = Arc::new(workflow);
        let settings = self.settings.iter().map(|pair| (Name::new(&pair.name), Name::new(&pair.value))).collect();
        let task = Operation::Start {
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
pub fn workflow_name(named: Option<&str>, place: &AppContext) -> Result<String, CommandError> {
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
            Err(CommandError::new(CommandExit::Usage, Code::BadArgument, message)
                .help("name one with --workflow; `interlock workflow list` shows those built in"))
        }
    }
}

/// Starts it under the first name that is free.
fn start(engine: &mut Engine, title: &str, task: &Operation) -> Result<Committed, CommandError> {
    let mut last = None;
    for _ in 0..TRIES {
        let order = Request { session: session_id(title, &clock::suffix(4)), task: task.clone() };
        match engine.execute(&order) {
            Err(EngineError::Refused(rejection)) if rejection.code == Code::SessionExists => last = Some(rejection),
            other => return Ok(other?),
        }
    }
    Err(last
        .map_or_else(|| CommandError::from(EngineError::internal_error()), |rejection| CommandError::from(*rejection)))
}
