//! Judges what happens in a conversation by the sessions that are under way.

use std::cell::OnceCell;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use interlock_core::code::Code;
use interlock_core::command::Command;
use interlock_core::event::Refusal;
use interlock_core::id::Name;
use interlock_core::watch::{Sighting, Via};
use interlock_core::workflow::Workflow;

use crate::client::Client;
use crate::ground::{Ground, secrets};
use crate::happening::{Agent, Happening, Scene, Verdict};
use crate::memory::{self, Memory};
use crate::steps;
use interlock_app::error::{CommandExit, CommandError};
use interlock_app::context::AppContext;
use interlock_app::context::workspaces;
use interlock_engine::{Engine, LoadedSession, Request, Operation};
use interlock_runner::gates::GateFiles;
use interlock_runner::scope::{ProtectedPaths, files_in_project};

/// More sessions than these no conversation can have to do with.
const MOST: usize = 64;

/// A session that is under way.
pub(super) struct Course {
    pub(super) live: LoadedSession,
    pub(super) workflow: Arc<Workflow>,
    /// Files of the workflow that lie in the project.
    own_files: Vec<String>,
    project: PathBuf,
    /// Built when it is first needed: most hooks change no file.
    protected: OnceCell<ProtectedPaths>,
}

impl Course {
    pub(super) fn protected(&self) -> &ProtectedPaths {
        self.protected.get_or_init(|| {
            let scripts = GateFiles::of(&self.workflow, &[], &self.project).scripts;
            ProtectedPaths::new(&self.workflow, &self.own_files, &scripts)
        })
    }
}

pub(super) struct Judge {
    pub(super) client: Client,
    pub(super) scene: Scene,
    pub(super) engine: Engine,
    pub(super) memory: Memory,
    pub(super) ground: Ground,
    pub(super) courses: Vec<Course>,
    pub(super) project: PathBuf,
    /// While this is there nobody else claims.
    _alone: Option<File>,
}

/// What was found: the answer, and what of it goes into the log.
pub(super) enum Finding {
    Pass,
    Answer(Verdict),
    /// Something was turned down, in this session if it is about one.
    Refuse {
        code: Code,
        what: String,
        about: Option<Name>,
        /// What the model is told beyond that: what it may do.
        instead: String,
    },
}

impl Finding {
    pub(super) fn refuse(code: Code, what: impl Into<String>, instead: impl Into<String>) -> Self {
        Finding::Refuse { code, what: what.into(), about: None, instead: instead.into() }
    }
}

impl Judge {
    /// Opens what it takes to judge. Whoever may claim does so alone: two who look at the same moment would both find
    /// an assignment free.
    pub(super) fn open(client: Client, mut scene: Scene, place: &AppContext, claims: bool) -> Result<Self, CommandError> {
        let mut engine = place.with_short_timeout().engine()?.via(Via::Hook(Name::new(client.name())));
        let own = engine.own_folder();
        let folder = own.join("hooks");
        let alone = if claims { memory::claims_alone(&folder).map(Some) } else { Ok(None) };
        let opened = alone
            .and_then(|alone| Ok((alone, Memory::open(folder, &format!("{} {}", client.name(), scene.conversation))?)));
        let (alone, memory) = opened.map_err(|error| {
            let message = format!("what the hooks know cannot be kept in {}: {error}", own.display());
            CommandError::new(CommandExit::Unavailable, Code::OutputFailed, message)
        })?;
        if client.one_at_a_time() {
            scene.agent = memory.at_work().map(|held| Agent { id: String::new(), kind: held.role.to_string() });
        }
        let under_way: Vec<Name> = {
            let mut view = engine.store().view()?;
            view.sessions_under_way(MOST)?.into_iter().map(|session| session.id).collect()
        };
        let (project, store) = (place.project()?, place.folder()?);
        let mut courses = Vec::with_capacity(under_way.len());
        for session in under_way {
            let (live, workflow) = engine.load_session(&session)?;
            let pinned = engine.store().view()?.workflow(workflow.hash)?;
            let own_files = pinned.map(|pinned| files_in_project(&pinned.sources, &project)).unwrap_or_default();
            courses.push(Course { live, workflow, own_files, project: project.clone(), protected: OnceCell::new() });
        }
        let ground = Ground::new(&project, &store, &secrets(), workspaces().ok().as_deref());
        Ok(Self { client, scene, engine, memory, ground, courses, project, _alone: alone })
    }

    pub(super) fn judge(mut self, happening: &Happening) -> Result<Verdict, CommandError> {
        self.memory.notes.seen.insert(Name::new(&self.scene.event));
        // These come from the main conversation, whoever is at work.
        if self.client.one_at_a_time() && matches!(happening, Happening::Begins { .. } | Happening::Stops { .. }) {
            self.scene.agent = None;
        }
        let finding = self.find(happening)?;
        let verdict = match finding {
            Finding::Pass => Verdict::Pass,
            Finding::Answer(verdict) => verdict,
            Finding::Refuse { code, what, about, instead } => {
                self.refuse(code, &what, about)?;
                let number = code.number();
                Verdict::Deny(format!("Interlock ({number}): {what}. {instead}").trim_end().to_owned())
            }
        };
        self.memory.keep().map_err(|error| {
            CommandError::new(CommandExit::Unavailable, Code::OutputFailed, format!("what the hooks know cannot be kept: {error}"))
        })?;
        Ok(verdict)
    }

    fn find(&mut self, happening: &Happening) -> Result<Finding, CommandError> {
        match happening {
            Happening::Begins { anew } => {
                if *anew && self.scene.agent.is_none() {
                    self.memory.all_adrift();
                }
                Ok(self.restated())
            }
            // A client that starts agents beside the conversation calls what they are told a prompt, too.
            Happening::Prompted => {
                if self.scene.agent.is_none() {
                    self.memory.all_adrift();
                }
                Ok(Finding::Pass)
            }
            Happening::Spawns(spawn) => self.spawns(spawn),
            Happening::Recalls => Ok(self.recalls()),
            Happening::Started => Ok(self.started()),
            Happening::Ends(end) => self.ends(end),
            Happening::Returned { call, failed } => Ok(self.returned(call.as_deref(), *failed)),
            Happening::Linked { call, agent } => Ok(self.linked(call, agent.as_deref())),
            Happening::Waited { failed } => Ok(self.waited(failed)),
            Happening::Reads { paths, whole } => Ok(self.reads(paths, *whole)),
            Happening::Edits(paths) => Ok(self.edits(paths, &self.scene.folder)),
            Happening::Runs(run) => Ok(self.runs(run)),
            Happening::Calls(tool) => Ok(self.calls(tool)),
            Happening::Touches(paths) => Ok(self.touched(paths)),
            Happening::Stops { again } => self.stops(*again),
            Happening::Unclear(_) | Happening::Other => Ok(Finding::Pass),
        }
    }

    /// What a conversation that begins, or has lost its memory, has to know.
    fn restated(&self) -> Finding {
        if self.scene.agent.is_some() || self.courses.is_empty() {
            return Finding::Pass;
        }
        Finding::Answer(Verdict::Tell(steps::restated(&self.courses, self.scene.prefix)))
    }

    /// Everything that may be done now.
    pub(super) fn next(&self) -> String {
        steps::next(&self.courses, self.scene.prefix)
    }

    /// The session that this conversation has most to do with.
    fn main_course(&self) -> Option<&Course> {
        let named = self.courses.iter().find(|course| self.takes_part(course));
        named.or_else(|| self.courses.first())
    }

    pub(super) fn takes_part(&self, course: &Course) -> bool {
        course.live.state.watch.conversations.contains_key(self.scene.conversation.as_str())
    }

    /// What was turned down goes into the log of the session, with the hooks that were seen.
    fn refuse(&mut self, code: Code, what: &str, about: Option<Name>) -> Result<(), CommandError> {
        let Some(course) = self.main_course() else { return Ok(()) };
        // A conversation does not come to take part in a session because something was turned down.
        let sights = self.takes_part(course) || course.live.state.watch.conversations.is_empty();
        let session = course.live.id.clone();
        let by = match &self.scene.agent {
            Some(agent) => format!("{} of {}", agent.kind, self.client.title()),
            None => self.client.title().to_owned(),
        };
        let refusal = Refusal {
            command: Name::from(format!("hook {} {}", self.client.name(), self.scene.event)),
            code: Name::new(code.number()),
            message: Name::new(what),
            by: Some(Name::from(by)),
            about,
            digest: None,
            status: None,
            problems: Vec::new(),
        };
        if sights {
            self.sighted(&session)?;
        }
        self.engine.execute(&Request { session, task: Operation::Deny(refusal) })?;
        Ok(())
    }

    /// Notes in a session which hooks of this conversation have come.
    pub(super) fn sighted(&mut self, session: &Name) -> Result<(), CommandError> {
        let Some(course) = self.courses.iter().find(|course| course.live.id == *session) else { return Ok(()) };
        let known = course.live.state.watch.conversations.get(self.scene.conversation.as_str());
        let new = self.memory.notes.seen.iter().filter(|hook| known.is_none_or(|known| !known.seen.contains(*hook)));
        let sighting = |hook: &Name| Sighting {
            client: Name::new(self.client.name()),
            conversation: Name::new(&self.scene.conversation),
            hook: hook.clone(),
            expects: self.client.expects().iter().map(|hook| Name::new(hook)).collect(),
        };
        let orders: Vec<Request> = new
            .map(|hook| Request { session: session.clone(), task: Operation::Simple(Command::Sight(sighting(hook))) })
            .collect();
        let orders: Vec<&Request> = orders.iter().collect();
        for done in self.engine.execute_all(&orders) {
            done?;
        }
        Ok(())
    }
}
