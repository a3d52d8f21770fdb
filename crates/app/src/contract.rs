//! The expected form of a handoff, for the tool that an agent hands off with: a run writes it,
//! `interlock mcp --handoff` reads it.
//!
//! It lies in the agent's own folder and contains no secret. It decides nothing: changing it gains an agent nothing,
//! because the run checks the handoff against the session again when the agent has ended.

use std::fs;
use std::io;
use std::path::Path;

use interlock_core::handoff::{self, CheckedHandoff, ExpectedHandoff, KnownFields, OrchestrationMode};
use interlock_core::id::Name;
use interlock_core::workflow::{AssignmentTask, load_pinned};
use serde::{Deserialize, Serialize};

use interlock_system::clock;

const FILE: &str = "contract.json";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandoffContract {
    pub role: Name,
    pub phase: Option<Name>,
    pub task: AssignmentTask,
    /// Which a plan may depend on.
    pub groups: Vec<Name>,
    /// The folder of the session's outputs.
    pub outputs: String,
    /// The files of the workflow.
    pub workflow: Vec<(String, String)>,
}

impl HandoffContract {
    /// Removes a file of the same name from an earlier attempt first: it may be a link to another place.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let path = folder.join(FILE);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::write(&path, serde_json::to_vec(self)?),
        }
    }

    pub fn read(folder: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(folder.join(FILE))?)?)
    }

    /// The statuses of the role with their meanings, for the description of the tool.
    pub fn statuses(&self) -> String {
        let Some(workflow) = load_pinned(&self.workflow).workflow else { return String::new() };
        let guide = workflow.role_named(&self.role).map(|ix| workflow.status_meanings(ix)).unwrap_or_default();
        let line = |(status, means): &(Name, Option<Name>)| match means {
            Some(means) => format!("{status} ({means})"),
            None => status.to_string(),
        };
        let lines: Vec<String> = guide.iter().map(line).collect();
        if lines.is_empty() { String::new() } else { format!(" Statuses: {}.", lines.join("; ")) }
    }

    /// Everything that is wrong with what an agent wrote, as the run will find it.
    pub fn check(&self, bytes: &[u8]) -> CheckedHandoff {
        let extracted = match handoff::extract("handoff", bytes) {
            Ok(extracted) => extracted,
            Err(problems) => return CheckedHandoff { handoff: None, status: None, problems, warnings: Vec::new() },
        };
        let expect = ExpectedHandoff {
            role: Some(&self.role),
            phase: self.phase.as_deref(),
            task: self.task,
            context: OrchestrationMode::Orchestrated,
            groups: &self.groups,
        };
        let workflow = load_pinned(&self.workflow).workflow;
        let (role, phase, task) = (self.role.as_str(), self.phase.as_deref(), self.task);
        let known = KnownFields { role, phase, task, now: clock::now(), directory: &self.outputs };
        let filled = workflow.as_ref().map(|workflow| extracted.fill_in(workflow, &known));
        handoff::check(workflow.as_ref(), &expect, filled.as_ref().unwrap_or(&extracted))
    }
}
