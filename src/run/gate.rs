//! Gates: declared commands, run on exactly the files that they are to speak for.

use interlock_core::command::{Command, GateFinished};
use interlock_core::id::{AssignmentId, GateRunId, Name};
use interlock_core::state::{GatePurpose, State};
use interlock_core::workflow::Workflow;

use crate::engine::Task as Wish;
use crate::failure::Failure;
use crate::git::Hash;
use crate::process::Control;
use crate::run::checks::{Check, of_gate};
use crate::run::crew::{Crew, Over, settled};

/// A gate whose result is awaited.
#[derive(Clone, Debug)]
pub(super) struct Errand {
    pub(super) run: GateRunId,
    pub(super) gate: Name,
    pub(super) group: Option<Name>,
    /// On the work of a group that has not been merged.
    pub(super) unmerged: bool,
    checks: Vec<Check>,
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
        let plan = group.map_or(&[][..], |group| group.checks.as_slice());
        Self {
            run,
            gate: awaited.gate.clone(),
            group: awaited.group.clone(),
            unmerged: awaited.group.is_some() && awaited.purpose == GatePurpose::Phase,
            checks: gate.map(|gate| of_gate(gate, plan)).unwrap_or_default(),
            open: state.open.iter().copied().collect(),
        }
    }
}

pub(super) fn take(crew: &Crew, errand: &Errand, control: &Control) -> Result<Over, Failure> {
    let commit = subject(crew, errand)?;
    let tree = crew.site.vault.tree(&commit)?;
    let Some(result) = crew.check_apart(&tree, &errand.checks, control)? else { return Ok(Over::Stopped) };
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
