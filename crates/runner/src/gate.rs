//! Gates: declared commands, run on exactly the files that they are to speak for.

use interlock_core::command::{Command, GateFinished};
use interlock_core::id::{AssignmentId, GateRunId, Name};
use interlock_core::state::{GatePurpose, GateRun, State};

use crate::gates::{self, GateCommand};
use crate::git::GitHash;
use crate::run_context::{JobOutcome, RunContext, job_outcome};
use interlock_app::error::CommandError;
use interlock_engine::Operation as Wish;
use interlock_system::process::ProcessControl;

/// A gate whose result is awaited.
#[derive(Clone, Debug)]
pub(super) struct GateJob {
    pub(super) run: GateRunId,
    awaited: GateRun,
    commands: Vec<GateCommand>,
    open: Vec<AssignmentId>,
}

impl GateJob {
    pub(super) fn new(run: GateRunId, awaited: &GateRun, state: &State, crew: &RunContext) -> Self {
        let commands = gates::commands_of_run(awaited, state, &crew.workflow, crew.gate_session());
        Self { run, awaited: awaited.clone(), commands, open: state.open.iter().copied().collect() }
    }

    pub(super) fn title(&self) -> String {
        match self.awaited.again.as_slice() {
            [] => format!("gate {}", self.awaited.gate),
            again => format!("{} gates on the final tree", again.len()),
        }
    }
}

pub(super) fn run_gate(
    crew: &RunContext,
    errand: &GateJob,
    control: &ProcessControl,
) -> Result<JobOutcome, CommandError> {
    let held = crew.site.merging();
    let whole = crew.site.vault.integration()?;
    let commit = subject(crew, errand, &whole)?;
    let tree = crew.site.vault.tree(&commit)?;
    let result = match commit == whole {
        true => crew.check_merge(&commit, &errand.commands, control)?,
        false => crew.check_work(&tree, &commit, &errand.commands, control)?,
    };
    let Some(mut result) = result else { return Ok(JobOutcome::Stopped) };
    if let Some(group) = errand.awaited.group.as_ref().filter(|_| !result.passed && commit == whole) {
        // Its author has to see the files that it fails on.
        crew.site.vault.set_merge_target(group, &whole)?;
    }
    drop(held);
    result.checkout.failed = gates::blamed_gate(&errand.awaited, result.failed.as_ref());
    let finished = GateFinished {
        run: errand.run,
        passed: result.passed,
        tree: Name::new(tree.as_str()),
        output: Name::from(result.output),
        checkout: result.checkout,
    };
    job_outcome(crew.submit_operation(Wish::Simple(Command::GateFinished(finished))))
}

/// The commit that the gate is to speak for: everything merged, once the work of the group is in that; what others have merged
/// since then is part of what the gate has to hold for. Else what the group has come to.
fn subject(crew: &RunContext, errand: &GateJob, whole: &GitHash) -> Result<GitHash, CommandError> {
    let Some(group) = &errand.awaited.group else { return Ok(whole.clone()) };
    let head = crew.site.head(group, &errand.open)?;
    let is_in = match errand.awaited.purpose {
        GatePurpose::Phase => crew.site.vault.merged(group)?.is_some() && crew.site.vault.contains(whole, &head)?,
        GatePurpose::Completion | GatePurpose::Validation(_) => crew.site.vault.contains(whole, &head)?,
    };
    Ok(if is_in { whole.clone() } else { head })
}
