//! What is about to be changed, run or called, and by whom.

use std::path::{Path, PathBuf};

use interlock_core::code::Code;
use interlock_core::workflow::Writes;

use crate::hooks::ground::{Whose, expanded};
use crate::hooks::judge::{Course, Finding, Judge};
use crate::hooks::memory::Held;
use crate::hooks::shell::Line;
use crate::hooks::steps::short;
use crate::scope::outside;

/// What people do, and no model: by the first words of the command.
const FOR_PEOPLE: &[&str] = &[
    "answer",
    "defer",
    "acknowledge",
    "override",
    "cancel",
    "rebuild",
    "init",
    "pause",
    "resume",
    "session upgrade",
    "plugin install",
    "plugin uninstall",
];
/// What hooks do in a model's place.
const FOR_HOOKS: &[&str] = &["claim", "report", "hook", "run", "mcp"];
/// Tools that would give a model the token of an assignment, or take a handoff from it.
const TOOLS_FOR_HOOKS: &[&str] = &["claim_assignment", "report_handoff"];

impl Judge {
    pub(super) fn edits(&self, paths: &[PathBuf]) -> Finding {
        let own = self.own_output();
        for path in paths {
            match self.ground.whose(path, &self.scene.folder, &own) {
                Whose::Nobody(why) | Whose::Secret(why) => return self.not_here(path, why),
                Whose::Elsewhere => {}
                Whose::Project(inside) => {
                    if let Some(refused) = self.edits_project(&inside) {
                        return refused;
                    }
                }
            }
        }
        Finding::Pass
    }

    /// What may be read at all: everything but keys.
    pub(super) fn reads(&self, paths: &[PathBuf]) -> Finding {
        for path in paths {
            if let Whose::Secret(why) = self.ground.whose(path, &self.scene.folder, &[]) {
                return self.not_here(path, why);
            }
        }
        Finding::Pass
    }

    fn not_here(&self, path: &Path, why: &str) -> Finding {
        let what = format!("{} is left alone: {why}", named(path));
        let instead = match (&self.scene.agent, self.courses.is_empty()) {
            (_, true) => String::new(),
            (Some(_), false) => "Go on with your work without it; what you cannot do, say in your handoff.".to_owned(),
            (None, false) => self.next(),
        };
        Finding::refuse(Code::NotToBeTouched, what, instead)
    }

    fn edits_project(&self, inside: &Path) -> Option<Finding> {
        let file = inside.display().to_string();
        let (course, role) = match self.role() {
            Some((course, role)) => (course, Some(role)),
            None => (self.courses.first()?, None),
        };
        let writes = role.map_or(&course.workflow.orchestrator.writes, |(_, writes)| writes);
        if outside(&[file], writes).is_empty() {
            return None;
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
        Some(Finding::refuse(Code::NotYoursToWrite, what, instead))
    }

    /// The role that is at work here, and what it may write.
    fn role(&self) -> Option<(&Course, (&str, &Writes))> {
        // Where it is not known yet which of several is this one, they are of one role.
        let held = self.holding().next()?;
        let course = self.courses.iter().find(|course| course.live.id == held.session)?;
        let role = course.workflow.roles.iter().find(|role| role.name == held.role)?;
        Some((course, (&role.name, &role.writes)))
    }

    /// What the agent that this happens in holds, or may hold.
    fn holding(&self) -> impl Iterator<Item = &Held> {
        let fitting = self.scene.agent.as_ref().map(|agent| self.fitting(agent)).unwrap_or_default();
        fitting.into_iter().filter_map(|index| self.memory.notes.held.get(index))
    }

    fn own_output(&self) -> Vec<PathBuf> {
        let folder = |held: &Held| {
            let course = self.courses.iter().find(|course| course.live.id == held.session)?;
            let given = course.live.state.assignments.get(&held.assignment)?;
            Some(self.engine.output_directory(&held.session, held.assignment, given.attempt))
        };
        self.holding().filter_map(folder).collect()
    }

    pub(super) fn runs(&self, command: &str) -> Finding {
        let line = Line::read(command);
        if let Some((path, why)) = self.touches(&line) {
            return self.not_here(&path, why);
        }
        if self.courses.is_empty() {
            return Finding::Pass;
        }
        if let Some(refused) = self.runs_interlock(&line) {
            return refused;
        }
        self.runs_as_orchestrator(&line)
    }

    /// The first path in a command that is not to be touched, and why.
    fn touches(&self, line: &Line) -> Option<(PathBuf, &'static str)> {
        let own = self.own_output();
        let looks = line.only_looks();
        for from in line.folders(&self.scene.folder) {
            for path in line.paths().into_iter().map(expanded) {
                match self.ground.whose(&path, &from, &own) {
                    Whose::Secret(why) => return Some((path, why)),
                    Whose::Nobody(why) if !looks => return Some((path, why)),
                    Whose::Nobody(_) | Whose::Project(_) | Whose::Elsewhere => {}
                }
            }
            for path in line.taken_away().into_iter().map(expanded) {
                if let Some(why) = self.ground.holds(&path, &from) {
                    return Some((path, why));
                }
            }
        }
        None
    }

    fn runs_interlock(&self, line: &Line) -> Option<Finding> {
        for words in line.of_interlock() {
            let asked = |list: &[&str]| {
                list.iter()
                    .any(|known| words.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
            };
            if asked(FOR_PEOPLE) {
                let what = format!("`interlock {}` is for people", short(&words));
                return Some(Finding::refuse(Code::ForOthers, what, self.instead()));
            }
            if asked(FOR_HOOKS) {
                let what = format!("`interlock {}` is not for a model: its hooks do it", short(&words));
                return Some(Finding::refuse(Code::ForOthers, what, self.instead()));
            }
        }
        None
    }

    fn runs_as_orchestrator(&self, line: &Line) -> Finding {
        let writes = self.courses.first().map(|course| &course.workflow.orchestrator.writes);
        if self.scene.agent.is_some() || writes == Some(&Writes::Everything) || line.only_looks() {
            return Finding::Pass;
        }
        let what = "only roles change things, and the orchestrator is none: commands that look are all it may run";
        Finding::refuse(Code::NotYoursToWrite, what, self.next())
    }

    pub(super) fn calls(&self, tool: &str) -> Finding {
        if self.courses.is_empty() || !TOOLS_FOR_HOOKS.contains(&tool) {
            return Finding::Pass;
        }
        let what =
            format!("`{tool}` is not needed here: the hooks claim when a sub-agent starts, and give in when it ends");
        Finding::refuse(Code::ForOthers, what, self.instead())
    }

    fn instead(&self) -> String {
        match self.scene.agent {
            Some(_) => "End with your handoff.".to_owned(),
            None => self.next(),
        }
    }
}

fn named(path: &Path) -> String {
    format!("`{}`", short(&path.display().to_string()))
}
