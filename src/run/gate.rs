//! Gates: declared commands, run on exactly the files that they are to speak for.

use std::time::Duration;

use interlock_core::command::{Command, GateFinished};
use interlock_core::id::{AssignmentId, GateRunId, Name};
use interlock_core::state::{GatePurpose, State};
use interlock_core::workflow::{GateRun, Workflow};

use crate::engine::Task as Wish;
use crate::failure::Failure;
use crate::git::{Hash, Workspace};
use crate::process::Control;
use crate::run::crew::{Crew, Over, settled};

/// A gate whose result is awaited.
#[derive(Clone, Debug)]
pub(super) struct Errand {
    pub(super) run: GateRunId,
    pub(super) gate: Name,
    pub(super) group: Option<Name>,
    /// On the work of a group that has not been merged.
    pub(super) unmerged: bool,
    commands: Vec<Vec<Name>>,
    timeout: Option<Duration>,
    open: Vec<AssignmentId>,
}

impl Errand {
    pub(super) fn new(
        run: GateRunId,
        awaited: &interlock_core::state::GateRun,
        state: &State,
        workflow: &Workflow,
    ) -> Self {
        let gate = workflow.gates.iter().find(|gate| gate.name == awaited.gate);
        let group = awaited.group.as_ref().and_then(|name| state.group(name));
        let commands = match gate.map(|gate| &gate.run) {
            Some(GateRun::Command(command)) => vec![command.clone()],
            Some(GateRun::Plan) => group.map(|group| group.checks.clone()).unwrap_or_default(),
            None => Vec::new(),
        };
        Self {
            run,
            gate: awaited.gate.clone(),
            group: awaited.group.clone(),
            unmerged: awaited.group.is_some() && awaited.purpose == GatePurpose::Phase,
            commands,
            timeout: gate.and_then(|gate| gate.timeout).map(|time| Duration::from_millis(time.milliseconds())),
            open: state.open.iter().copied().collect(),
        }
    }
}

pub(super) fn take(crew: &Crew, errand: &Errand, control: &Control) -> Result<Over, Failure> {
    let commit = subject(crew, errand)?;
    let tree = crew.site.vault.tree(&commit)?;
    let workspace: Workspace = crew.site.merge_bench(&tree)?;
    crew.make_ready(&workspace, control)?;
    let Some(result) = crew.check(&tree, &errand.commands, &workspace.folder, errand.timeout, control)? else {
        return Ok(Over::Stopped);
    };
    let finished = GateFinished {
        run: errand.run,
        passed: result.passed,
        tree: Name::new(tree.as_str()),
        output: Name::from(result.output),
    };
    settled(crew.order(Wish::Simple(Command::GateFinished(finished))))
}

/// The commit that the gate is to speak for: what the group was merged as, or has come to, or everything merged.
fn subject(crew: &Crew, errand: &Errand) -> Result<Hash, Failure> {
    let vault = &crew.site.vault;
    Ok(match &errand.group {
        Some(group) if errand.unmerged => crew.site.head(group, &errand.open)?,
        Some(group) => match vault.merged(group)? {
            Some(merged) => merged,
            None => crew.site.head(group, &errand.open)?,
        },
        None => vault.integration()?,
    })
}
