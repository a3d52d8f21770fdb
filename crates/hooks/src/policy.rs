//! Judges what happens in a conversation by the sessions that are under way.

use std::cell::OnceCell;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use interlock_core::code::Code;
use interlock_core::command::Command;
use interlock_core::event::RefusedCommand;
use interlock_core::id::Name;
use interlock_core::provenance::{Channel, HookSeen};
use interlock_core::workflow::Workflow;

use crate::client::HookClient;
use crate::event::{HookAnswer, HookContext, HookEvent, SubAgent};
use crate::memory::{self, ConversationMemory};
use crate::next_steps;
use crate::path_ownership::{PathOwnership, secrets};
use interlock_app::context::AppContext;
use interlock_app::context::workspaces;
use interlock_app::error::{CommandError, CommandExit};
use interlock_engine::{Engine, LoadedSession, Operation, Request};
use interlock_runner::gates::GateFiles;
use interlock_runner::scope::{ProtectedPaths, files_in_project};

/// More sessions than these no conversation can have to do with.
const MOST: usize = 64;

/// A session that is under way.
pub(super) struct ActiveSession {
    pub(super) live: LoadedSession,
    pub(super) workflow: Arc<Workflow>,
    /// Files of the workflow that lie in the project.
    own_files: Vec<String>,
    project: PathBuf,
    /// Built when it is first needed: most hooks change no file.
    protected: OnceCell<ProtectedPaths>,
}

impl ActiveSession {
    pub(super) fn protected(&self) -> &ProtectedPaths {
        self.protected.get_or_init(|| {
            let scripts = GateFiles::of(&self.workflow, &[], &self.project).scripts;
            ProtectedPaths::new(&self.workflow, &self.own_files, &scripts)
        })
    }
}

pub(super) struct HookPolicy {
    pub(super) client: HookClient,
    pub(super) scene: HookContext,
    pub(super) engine: Engine,
    pub(super) memory: ConversationMemory,
    pub(super) ground: PathOwnership,
    pub(super) courses: Vec<ActiveSession>,
    pub(super) project: PathBuf,
    /// The lock that keeps other hooks from claiming, if this hook may claim.
    _alone: Option<File>,
}

/// The result of a check: the answer, and the refusal that goes into the log.
pub(super) enum HookDecision {
    Pass,
    Answer(HookAnswer),
    /// Something was turned down, in this session if it is about one.
    Refuse {
        code: Code,
        what: String,
        about: Option<Name>,
        /// The text for the model after the refusal: the actions that are allowed.
        instead: String,
    },
}

impl HookDecision {
    pub(super) fn refuse(code: Code, what: impl Into<String>, instead: impl Into<String>) -> Self {
        HookDecision::Refuse { code, what: what.into(), about: None, instead: instead.into() }
    }
}

impl HookPolicy {
    /// Opens everything that a decision needs. A hook that may claim locks out the others, because two hooks that look
    /// at the same time would both find an assignment free.
    pub(super) fn open(
        client: HookClient,
        mut scene: HookContext,
        place: &AppContext,
        claims: bool,
    ) -> Result<Self, CommandError> {
        let mut engine = place.with_short_timeout().engine()?.via(Channel::Hook(Name::new(client.name())));
        let own = engine.own_folder();
        let folder = own.join("hooks");
        let alone = if claims { memory::claims_alone(&folder).map(Some) } else { Ok(None) };
        let opened = alone.and_then(|alone| {
            Ok((alone, ConversationMemory::open(folder, &format!("{} {}", client.name(), scene.conversation))?))
        });
        let (alone, memory) = opened.map_err(|error| {
            let message = format!("what the hooks know cannot be kept in {}: {error}", own.display());
            CommandError::new(CommandExit::Unavailable, Code::OutputFailed, message)
        })?;
        if client.one_at_a_time() {
            scene.agent = memory.at_work().map(|held| SubAgent { id: String::new(), kind: held.role.to_string() });
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
            courses.push(ActiveSession {
                live,
                workflow,
                own_files,
                project: project.clone(),
                protected: OnceCell::new(),
            });
        }
        let ground = PathOwnership::new(&project, &store, &secrets(), workspaces().ok().as_deref());
        Ok(Self { client, scene, engine, memory, ground, courses, project, _alone: alone })
    }

    pub(super) fn judge(mut self, happening: &HookEvent) -> Result<HookAnswer, CommandError> {
        self.memory.notes.seen.insert(Name::new(&self.scene.event));
        // These events come from the main conversation, even while an agent is at work.
        if self.client.one_at_a_time() && matches!(happening, HookEvent::Begins { .. } | HookEvent::Stops { .. }) {
            self.scene.agent = None;
        }
        let finding = self.find(happening)?;
        let verdict = match finding {
            HookDecision::Pass => HookAnswer::Pass,
            HookDecision::Answer(verdict) => verdict,
            HookDecision::Refuse { code, what, about, instead } => {
                self.refuse(code, &what, about)?;
                let number = code.number();
                HookAnswer::Deny(format!("Interlock ({number}): {what}. {instead}").trim_end().to_owned())
            }
        };
        self.memory.keep().map_err(|error| {
            CommandError::new(
                CommandExit::Unavailable,
                Code::OutputFailed,
                format!("what the hooks know cannot be kept: {error}"),
            )
        })?;
        Ok(verdict)
    }

    fn find(&mut self, happening: &HookEvent) -> Result<HookDecision, CommandError> {
        match happening {
            HookEvent::Begins { anew } => {
                if *anew && self.scene.agent.is_none() {
                    self.memory.mark_all_adrift();
                }
                Ok(self.restated())
            }
            // A client that starts agents beside the conversation also reports their prompts as this event.
            HookEvent::Prompted => {
                if self.scene.agent.is_none() {
                    self.memory.mark_all_adrift();
                }
                Ok(HookDecision::Pass)
            }
            HookEvent::Spawns(spawn) => self.handle_spawn(spawn),
            HookEvent::Recalls => Ok(self.handle_recall()),
            HookEvent::Started => Ok(self.handle_start()),
            HookEvent::Ends(end) => self.handle_end(end),
            HookEvent::Returned { call, failed } => Ok(self.handle_return(call.as_deref(), *failed)),
            HookEvent::Linked { call, agent } => Ok(self.link_agent(call, agent.as_deref())),
            HookEvent::Waited { failed } => Ok(self.handle_wait(failed)),
            HookEvent::Reads { paths, whole } => Ok(self.check_read(paths, *whole)),
            HookEvent::Edits(paths) => Ok(self.check_edit(paths, &self.scene.folder)),
            HookEvent::Runs(run) => Ok(self.check_command(run)),
            HookEvent::Calls(tool) => Ok(self.check_tool_call(tool)),
            HookEvent::Touches(paths) => Ok(self.check_touched_paths(paths)),
            HookEvent::Stops { again } => self.handle_stop(*again),
            HookEvent::Unclear(_) | HookEvent::Other => Ok(HookDecision::Pass),
        }
    }

    /// The summary for a conversation that begins or has lost its context.
    fn restated(&self) -> HookDecision {
        if self.scene.agent.is_some() || self.courses.is_empty() {
            return HookDecision::Pass;
        }
        HookDecision::Answer(HookAnswer::Tell(next_steps::restated(&self.courses, self.scene.prefix)))
    }

    /// Everything that may be done now.
    pub(super) fn next(&self) -> String {
        next_steps::next(&self.courses, self.scene.prefix)
    }

    /// The session that this conversation has most to do with.
    fn main_course(&self) -> Option<&ActiveSession> {
        let named = self.courses.iter().find(|course| self.takes_part(course));
        named.or_else(|| self.courses.first())
    }

    pub(super) fn takes_part(&self, course: &ActiveSession) -> bool {
        course.live.state.watch.conversations.contains_key(self.scene.conversation.as_str())
    }

    /// Records a refusal in the log of the session, with the hooks that were seen.
    fn refuse(&mut self, code: Code, what: &str, about: Option<Name>) -> Result<(), CommandError> {
        let Some(course) = self.main_course() else { return Ok(()) };
        // A conversation does not come to take part in a session because something was turned down.
        let sights = self.takes_part(course) || course.live.state.watch.conversations.is_empty();
        let session = course.live.id.clone();
        let by = match &self.scene.agent {
            Some(agent) => format!("{} of {}", agent.kind, self.client.title()),
            None => self.client.title().to_owned(),
        };
        let refusal = RefusedCommand {
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
            self.record_hooks_seen(&session)?;
        }
        self.engine.execute(&Request { session, task: Operation::Deny(refusal) })?;
        Ok(())
    }

    /// Notes in a session which hooks of this conversation have come.
    pub(super) fn record_hooks_seen(&mut self, session: &Name) -> Result<(), CommandError> {
        let Some(course) = self.courses.iter().find(|course| course.live.id == *session) else { return Ok(()) };
        let known = course.live.state.watch.conversations.get(self.scene.conversation.as_str());
        let new = self.memory.notes.seen.iter().filter(|hook| known.is_none_or(|known| !known.seen.contains(*hook)));
        let sighting = |hook: &Name| HookSeen {
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
