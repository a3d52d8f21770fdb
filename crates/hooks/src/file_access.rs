//! Checks of the files that an agent or the orchestrator is about to change or read.

use std::path::{Path, PathBuf};

use interlock_core::code::Code;
use interlock_core::id::Name;
use interlock_core::workflow::{Role, WritePermission};

use crate::globs::fitting;
use crate::memory::ClaimedAssignment;
use crate::next_steps::short;
use crate::path_ownership::{PathOwner, expanded};
use crate::policy::{ActiveSession, HookDecision, HookPolicy};
use interlock_runner::scope::files_outside_of;

impl HookPolicy {
    /// Checks changes of files. Paths are relative to `from`.
    pub(super) fn check_edit(&self, paths: &[PathBuf], from: &Path) -> HookDecision {
        let own = self.own_output();
        for path in paths {
            match self.ground.whose(&expanded(&path.to_string_lossy()), from, &own) {
                PathOwner::Nobody(why) | PathOwner::Secret(why) => return self.refuse_path(path, why, ""),
                PathOwner::Elsewhere => {}
                PathOwner::Project(inside) => {
                    if let Some(refused) = self.edits_project(&inside) {
                        return refused;
                    }
                }
            }
        }
        HookDecision::Pass
    }

    /// Checks reads of files. Everything but keys may be read.
    pub(super) fn check_read(&self, paths: &[PathBuf], whole: bool) -> HookDecision {
        let from = &self.scene.folder;
        for path in paths {
            for fits in fitting(&path.to_string_lossy(), from) {
                if let PathOwner::Secret(why) = self.ground.whose(&fits, from, &[]) {
                    return self.refuse_path(path, why, "");
                }
                if let Some(why) = self.ground.holds_keys(&fits, from).filter(|_| whole) {
                    return self.refuse_path(path, why, "");
                }
            }
        }
        HookDecision::Pass
    }

    /// Checks the paths that an unknown tool receives. Paths that may not be changed are refused.
    pub(super) fn check_touched_paths(&self, paths: &[PathBuf]) -> HookDecision {
        let own = self.own_output();
        for path in paths {
            let real = expanded(&path.to_string_lossy());
            if let PathOwner::Nobody(why) | PathOwner::Secret(why) = self.ground.whose(&real, &self.scene.folder, &own)
            {
                return self.refuse_path(path, why, "");
            }
        }
        HookDecision::Pass
    }

    /// `help` says what would do instead, beyond what may be done at all.
    pub(super) fn refuse_path(&self, path: &Path, why: &str, help: &str) -> HookDecision {
        let what = format!("{} is left alone: {why}", named(path));
        let instead = match (&self.scene.agent, self.courses.is_empty()) {
            (_, true) => String::new(),
            (Some(_), false) => "Go on with your work without it; what you cannot do, say in your handoff.".to_owned(),
            (None, false) => self.next(),
        };
        HookDecision::refuse(Code::NotToBeTouched, what, format!("{help} {instead}").trim().to_owned())
    }

    fn edits_project(&self, inside: &Path) -> Option<HookDecision> {
        let file = [inside.display().to_string()];
        let role = self.role();
        let allowed = match role {
            Some((_, writes)) => files_outside_of(&file, writes).is_empty(),
            None => self.orchestrators().all(|writes| files_outside_of(&file, writes).is_empty()),
        };
        if allowed {
            return self.refuse_protected(inside, false);
        }
        let what = match (role, &self.scene.agent) {
            (Some((name, _)), _) => format!("`{name}` does not write {}", named(inside)),
            (None, Some(agent)) => {
                format!(
                    "only roles edit, and `{}` has no assignment: {} stays as it is",
                    short(&agent.kind),
                    named(inside)
                )
            }
            (None, None) => format!("only roles edit, and the orchestrator is none: {} stays as it is", named(inside)),
        };
        let instead = match role {
            Some(_) => "Say in your handoff what has to change.".to_owned(),
            None => self.next(),
        };
        Some(HookDecision::refuse(Code::NotYoursToWrite, what, instead))
    }

    /// Refuses a protected path that the role at work does not own. `leads_on`: everything below the path is meant as well.
    pub(super) fn refuse_protected(&self, inside: &Path, leads_on: bool) -> Option<HookDecision> {
        let path = inside.to_str()?;
        let at_work = self.role_at_work();
        let refused_by = |course: &ActiveSession, role: Option<&Role>| {
            let allowed: Vec<Name> = course.live.state.allowed_paths().cloned().collect();
            course.protected().refused([(path, leads_on)], role, &allowed).pop()
        };
        let refused = match at_work {
            Some((course, role)) => refused_by(course, Some(role)),
            None => self.courses.iter().find_map(|course| refused_by(course, None)),
        }?;
        let who = at_work.map_or("the orchestrator", |(_, role)| role.name.as_str());
        let (path, why) = (named(inside), refused.why());
        let what = format!("{path} judges or configures the work, and {who} does not own it ({why})");
        let instead = format!(
            "Leave it as it is. If the work needs the change, report that you are blocked and name the path. A person allows it: \
             `interlock answer QUESTION --allow '{pattern}'`, or `interlock session start --allow '{pattern}'`.",
            pattern = refused.allowing()
        );
        Some(HookDecision::refuse(Code::ProtectedPath, what, instead))
    }

    /// The write permissions of the orchestrator, one for each session under way. All of them must allow a write.
    pub(super) fn orchestrators(&self) -> impl Iterator<Item = &WritePermission> {
        self.courses.iter().map(|course| &course.workflow.orchestrator.writes)
    }

    /// The role that is at work here, and what it may write.
    fn role(&self) -> Option<(&str, &WritePermission)> {
        self.role_at_work().map(|(_, role)| (role.name.as_str(), &role.writes))
    }

    fn role_at_work(&self) -> Option<(&ActiveSession, &Role)> {
        // Where it is not known yet which of several is this one, they are of one role.
        let held = self.holding().next()?;
        let course = self.courses.iter().find(|course| course.live.id == held.session)?;
        let role = course.workflow.roles.iter().find(|role| role.name == held.role)?;
        Some((course, role))
    }

    /// The assignments that the agent of this event holds or may hold.
    fn holding(&self) -> impl Iterator<Item = &ClaimedAssignment> {
        let fitting = self.scene.agent.as_ref().map(|agent| self.fitting(agent)).unwrap_or_default();
        fitting.into_iter().filter_map(|index| self.memory.notes.held.get(index))
    }

    pub(super) fn own_output(&self) -> Vec<PathBuf> {
        let folder = |held: &ClaimedAssignment| {
            let course = self.courses.iter().find(|course| course.live.id == held.session)?;
            let given = course.live.state.assignments.get(&held.assignment)?;
            Some(self.engine.output_directory(&held.session, held.assignment, given.attempt))
        };
        self.holding().filter_map(folder).collect()
    }
}

pub(super) fn named(path: &Path) -> String {
    format!("`{}`", short(&path.display().to_string()))
}
