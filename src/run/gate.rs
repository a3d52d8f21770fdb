//! Gates: declared commands, run on exactly the files that they are to speak for.

use interlock_core::command::{Command, GateFinished};
use interlock_core::id::{AssignmentId, GateRunId, Name};
use interlock_core::state::{GatePurpose, State};
use interlock_core::workflow::{Gate, Workflow};

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
    /// It is a phase of the group's; else completion asks for it.
    is_phase: bool,
    checks: Vec<Check>,
    open: Vec<AssignmentId>,
}

impl Errand {
    pub(super) fn new(run: GateRunId, awaited: &interlock_core::state::GateRun, state: &State, crew: &Crew) -> Self {
        let workflow: &Workflow = &crew.workflow;
        let gate = workflow.gates.iter().find(|gate| gate.name == awaited.gate);
        // Those of the session that have passed before: somebody may have worked outside of groups since.
        let is_earlier = |gate: &&Gate| awaited.group.is_none() && state.gates_passed.contains(&gate.name);
        let earlier = workflow.gates.iter().filter(is_earlier);
        let group = awaited.group.as_ref().and_then(|name| state.group(name));
        let values = crew.gate_values(awaited.group.as_ref(), group.and_then(|group| group.flags.get("domain")));
        let plan = group.map_or(&[][..], |group| group.checks.as_slice());
        Self {
            run,
            gate: awaited.gate.clone(),
            group: awaited.group.clone(),
            is_phase: awaited.purpose == GatePurpose::Phase,
            checks: gate.into_iter().chain(earlier).flat_map(|gate| of_gate(gate, plan, None, values)).collect(),
            open: state.open.iter().copied().collect(),
        }
    }
}

pub(super) fn take(crew: &Crew, errand: &Errand, control: &Control) -> Result<Over, Failure> {
    let held = crew.site.merging();
    let whole = crew.site.vault.integration()?;
    let commit = subject(crew, errand, &whole)?;
    let tree = crew.site.vault.tree(&commit)?;
    let Some(result) = crew.check_apart(&commit, &errand.checks, control)? else { return Ok(Over::Stopped) };
    if let Some(group) = errand.group.as_ref().filter(|_| !result.passed && commit == whole) {
        // Its author has to see the files that it fails on.
        crew.site.vault.bring_onto(group, &whole)?;
    }
    drop(held);
    let finished = GateFinished {
        run: errand.run,
        passed: result.passed,
        tree: Name::new(tree.as_str()),
        output: Name::from(result.output),
    };
    settled(crew.order(Wish::Simple(Command::GateFinished(finished))))
}

/// The commit that the gate is to speak for: everything merged, once the work of the group is in that; what others have merged
/// since then is part of what the gate has to hold for. Else what the group has come to.
fn subject(crew: &Crew, errand: &Errand, whole: &Hash) -> Result<Hash, Failure> {
    let Some(group) = &errand.group else { return Ok(whole.clone()) };
    let head = crew.site.head(group, &errand.open)?;
    let is_in = match errand.is_phase {
        true => crew.site.vault.merged(group)?.is_some() && crew.site.vault.contains(whole, &head)?,
        false => crew.site.vault.contains(whole, &head)?,
    };
    Ok(if is_in { whole.clone() } else { head })
}
