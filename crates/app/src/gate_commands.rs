//! Which commands a gate needs.

use std::time::Duration;

use interlock_core::checkout::GroupGate;
use interlock_core::id::Name;
use interlock_core::state::{GateRun as AwaitedRun, Group, State};
use interlock_core::workflow::{Gate, GateCommandSource, GateValues, Workflow};

/// A command as people read it.
pub fn line(command: &[Name]) -> String {
    let words: Vec<&str> = command.iter().map(Name::as_str).collect();
    words.join(" ")
}

/// A command that has to pass, and the gate that asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateCommand {
    pub command: Vec<Name>,
    pub timeout: Option<Duration>,
    pub gate: Name,
    /// The group whose plan has it. Commands of the workflow belong to no group.
    pub group: Option<Name>,
}

impl GateCommand {
    pub fn line(&self) -> String {
        line(&self.command)
    }

    /// Do both ask for the same thing?
    pub fn is_same(&self, other: &Self) -> bool {
        self.command == other.command && self.timeout == other.timeout
    }
}

/// The session whose gates run: what the placeholders of their commands stand for.
#[derive(Clone, Copy, Debug)]
pub struct GateSession<'a> {
    pub id: &'a str,
    /// The directory that all roles of the session share.
    pub feature_directory: &'a str,
}

impl<'a> GateSession<'a> {
    /// For a gate of this group, or of the session.
    pub fn values(self, group: Option<&'a Name>, domain: Option<&'a Name>) -> GateValues<'a> {
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
pub fn commands_of_gate(
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
        GateCommandSource::Plan => plan.iter().map(|command| of(command.clone(), group)).collect(),
        GateCommandSource::Command(command) => vec![of(values.fill(command), None)],
    }
}

/// The commands that a waiting gate run has to pass: its own, or those of all gates that it checks again.
pub fn commands_of_run(
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
pub fn add_commands(commands: &mut Vec<GateCommand>, more: Vec<GateCommand>) {
    for command in more {
        if !commands.iter().any(|known| known.is_same(&command)) {
            commands.push(command);
        }
    }
}

/// The gate of a completed group that a command failed for, among those that a run checks again.
pub fn blamed_gate(run: &AwaitedRun, failed: Option<&GateCommand>) -> Option<GroupGate> {
    let failed = failed?;
    let is_it =
        |pair: &&GroupGate| pair.gate == failed.gate && failed.group.as_ref().is_none_or(|group| pair.group == *group);
    run.again.iter().find(is_it).cloned()
}
