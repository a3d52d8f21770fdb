//! Gates: which commands have to pass, and how they are run in a clean checkout of one tree.
//!
//! The same for `interlock run` and `interlock gate`. A command that has passed on a tree, with the same `prepare`, is not
//! repeated: the log says so, and survives a crash.

mod copy;
mod kept;
mod lent;
mod plain;
mod room;
mod scripts;
mod slot;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use interlock_core::checkout::{GateCheckout, GroupGate};
use interlock_core::event::{Cause, Event};
use interlock_core::id::Name;
use interlock_core::state::{GateRun as AwaitedRun, Group, State};
use interlock_core::workflow::{Gate, GateRun, GateValues, Workflow};

use crate::checks;

pub(crate) use plain::PlainProject;
pub(crate) use room::{CheckRoom, CheckSubject, ObjectsOf};
pub(crate) use scripts::GateFiles;

/// A command that has to pass, and the gate that asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GateCommand {
    pub(crate) command: Vec<Name>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) gate: Name,
    /// The group whose plan has it. Commands of the workflow belong to no group.
    pub(crate) group: Option<Name>,
}

impl GateCommand {
    pub(crate) fn line(&self) -> String {
        checks::line(&self.command)
    }

    /// Do both ask for the same thing?
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.command == other.command && self.timeout == other.timeout
    }
}

/// The outcome of the commands of a gate on one tree.
#[derive(Clone, Debug)]
pub(crate) struct GateOutcome {
    pub(crate) passed: bool,
    pub(crate) output: String,
    /// The command that failed, of a gate or of `prepare`, as people read it.
    pub(crate) failed_line: String,
    /// The command that failed. `None` where a command of `prepare` did.
    pub(crate) failed: Option<GateCommand>,
    /// What the record keeps of it.
    pub(crate) checkout: GateCheckout,
}

impl GateOutcome {
    pub(crate) fn nothing_yet(checkout: GateCheckout) -> Self {
        Self { passed: true, output: String::new(), failed_line: String::new(), failed: None, checkout }
    }

    /// The group whose plan has the command that failed, if that is another group than this.
    pub(crate) fn other_group(&self, own: Option<&Name>) -> Option<&Name> {
        self.failed.as_ref().and_then(|failed| failed.group.as_ref()).filter(|group| Some(*group) != own)
    }

    /// A command that is not repeated.
    fn add_known(&mut self, command: &GateCommand) {
        let _ = writeln!(self.output, "$ {}\npassed on this tree before, not repeated", command.line());
        self.checkout.passed.push(command.command.clone());
    }
}

/// The session whose gates run: what the placeholders of their commands stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GateSession<'a> {
    pub(crate) id: &'a str,
    /// The directory that all roles of the session share.
    pub(crate) feature_directory: &'a str,
}

impl<'a> GateSession<'a> {
    /// For a gate of this group, or of the session.
    pub(crate) fn values(self, group: Option<&'a Name>, domain: Option<&'a Name>) -> GateValues<'a> {
        GateValues {
            feature_directory: self.feature_directory,
            session: self.id,
            group: group.map_or("", Name::as_str),
            domain: domain.map_or("", Name::as_str),
        }
    }
}

/// The domain that the plan has for a group.
pub(crate) fn domain_of(group: &Group) -> Option<&Name> {
    group.flags.get("domain")
}

/// The commands of one gate, each with the gate's time limit.
pub(crate) fn commands_of_gate(
    gate: &Gate,
    plan: &[Vec<Name>],
    group: Option<&Name>,
    values: GateValues<'_>,
) -> Vec<GateCommand> {
    let timeout = gate.timeout.map(|time| Duration::from_millis(time.milliseconds()));
    let of = |command: Vec<Name>, group: Option<&Name>| {
        let group = group.cloned();
        GateCommand { command, timeout, gate: gate.name.clone(), group }
    };
    match &gate.run {
        GateRun::Plan => plan.iter().map(|command| of(command.clone(), group)).collect(),
        GateRun::Command(command) => vec![of(values.fill(command), None)],
    }
}

/// The commands that a waiting gate run has to pass: its own, or those of all gates that it checks again.
pub(crate) fn commands_of_run(
    run: &AwaitedRun,
    state: &State,
    workflow: &Workflow,
    session: GateSession<'_>,
) -> Vec<GateCommand> {
    let own = [(run.group.as_ref(), &run.gate)];
    let pairs: Vec<(Option<&Name>, &Name)> = match run.again.as_slice() {
        [] => own.to_vec(),
        again => again.iter().map(|pair| (Some(&pair.group), &pair.gate)).collect(),
    };
    let mut commands = Vec::new();
    for (group, name) in pairs {
        let Some(gate) = workflow.gates.iter().find(|gate| gate.name == *name) else { continue };
        let known = group.and_then(|group| state.group(group));
        let planned = known.map_or(&[][..], |group| group.checks.as_slice());
        let values = session.values(group, known.and_then(domain_of));
        add_commands(&mut commands, commands_of_gate(gate, planned, group, values));
    }
    commands
}

/// Adds commands; one that several ask for is asked for once.
pub(crate) fn add_commands(commands: &mut Vec<GateCommand>, more: Vec<GateCommand>) {
    for command in more {
        if !commands.iter().any(|known| known.is_same(&command)) {
            commands.push(command);
        }
    }
}

/// The gate of a completed group that a command failed for, among those that a run checks again.
pub(crate) fn blamed_gate(run: &AwaitedRun, failed: Option<&GateCommand>) -> Option<GroupGate> {
    let failed = failed?;
    let is_it =
        |pair: &&GroupGate| pair.gate == failed.gate && failed.group.as_ref().is_none_or(|group| pair.group == *group);
    run.again.iter().find(is_it).cloned()
}

/// A tree, a command, and the hash of `prepare`.
type PassedCommand = (String, Vec<Name>, Option<Name>);

/// Commands that are known to have passed. Failures are not kept: they may be the machine's.
#[derive(Default)]
pub(crate) struct PassedCommands(Mutex<BTreeSet<PassedCommand>>);

impl PassedCommands {
    /// Reads from the log what has passed.
    pub(crate) fn learn(&self, history: &[Event]) {
        for event in history {
            let Cause::GateFinished { tree, checkout, .. } = &event.cause else { continue };
            for command in &checkout.passed {
                self.add(tree, command, checkout.prepare.as_ref());
            }
        }
    }

    fn add(&self, tree: &str, command: &[Name], prepare: Option<&Name>) {
        self.held().insert((tree.to_owned(), command.to_vec(), prepare.cloned()));
    }

    fn has(&self, tree: &str, command: &[Name], prepare: Option<&Name>) -> bool {
        self.held().contains(&(tree.to_owned(), command.to_vec(), prepare.cloned()))
    }

    fn held(&self) -> std::sync::MutexGuard<'_, BTreeSet<PassedCommand>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
