//! What came of a command is bound to the tree it ran on: the same command on the same tree is not run twice, and on
//! another tree nothing is known.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use interlock_core::id::Name;
use interlock_core::workflow::{Gate, GateRun};

use crate::checks::{self, Manner, Outcome};
use crate::failure::Failure;
use crate::git::{Hash, Workspace};
use crate::process::Control;
use crate::run::crew::{Call, Crew};

/// A command that has to pass, and how long it may take.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Check {
    pub(super) command: Vec<Name>,
    pub(super) timeout: Option<Duration>,
}

/// Where, on what, and which command.
type Subject = (PathBuf, Hash, Check);

#[derive(Default)]
pub(super) struct Checks {
    /// By the folder, too: what git ignores is there as well, and an agent may have put it there.
    known: Mutex<BTreeMap<Subject, Outcome>>,
}

impl Crew {
    /// Runs commands on a tree that is laid out in `folder`; the first that fails ends it.
    pub(super) fn check(
        &self,
        tree: &Hash,
        checks: &[Check],
        folder: &Path,
        control: &Control,
    ) -> Result<Option<Outcome>, Failure> {
        let mut output = String::new();
        for check in checks {
            let Some(result) = self.check_one(tree, check, folder, control)? else { return Ok(None) };
            output.push_str(&result.output);
            if !result.passed {
                return Ok(Some(Outcome { output, ..result }));
            }
        }
        Ok(Some(Outcome { passed: true, output, failed: None, ended: true }))
    }

    /// `None`: it was stopped.
    fn check_one(
        &self,
        tree: &Hash,
        check: &Check,
        folder: &Path,
        control: &Control,
    ) -> Result<Option<Outcome>, Failure> {
        let known = (folder.to_owned(), tree.clone(), check.clone());
        let held = || self.checks.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = held().get(&known) {
            return Ok(Some(result.clone()));
        }
        let result = checks::run(&check.command, &self.manner(folder, check.timeout), control)?;
        // A time-out says as much of the machine as of the tree.
        if let Some(result) = result.as_ref().filter(|result| result.ended) {
            held().insert(known, result.clone());
        }
        Ok(result)
    }

    /// The commands that have to pass on the work of a group: those that completion will ask for.
    pub(super) fn checks_for(&self, call: &Call) -> Vec<Check> {
        let needed = self.workflow.requirements().gates;
        let gates = needed.iter().filter_map(|(name, _)| self.workflow.gates.iter().find(|gate| gate.name == *name));
        gates.flat_map(|gate| of_gate(gate, &call.checks)).collect()
    }

    /// Runs the commands that make a workspace ready, once for each that is new. What failed, if something did: the files
    /// in it may be to blame, and whoever made them has to know.
    pub(super) fn make_ready(&self, workspace: &Workspace, control: &Control) -> Result<Option<Outcome>, Failure> {
        if self.team.prepare.is_empty() || self.site.is_ready(workspace) {
            return Ok(None);
        }
        for command in &self.team.prepare {
            let words: Vec<Name> = command.iter().map(|word| Name::new(word)).collect();
            match checks::run(&words, &self.manner(&workspace.folder, None), control)? {
                Some(result) if !result.passed => return Ok(Some(result)),
                Some(_) => {}
                None => return Ok(None),
            }
        }
        self.site.mark_ready(workspace)?;
        Ok(None)
    }

    /// Runs commands on a tree in a workspace of its own, made ready first. `None`: it was stopped.
    pub(super) fn check_apart(
        &self,
        tree: &Hash,
        checks: &[Check],
        control: &Control,
    ) -> Result<Option<Outcome>, Failure> {
        let workspace = self.site.merge_bench(tree)?;
        match self.make_ready(&workspace, control)? {
            Some(failed) => Ok(Some(failed)),
            None => self.check(tree, checks, &workspace.folder, control),
        }
    }

    fn manner<'f>(&self, folder: &'f Path, timeout: Option<Duration>) -> Manner<'f> {
        Manner { folder, timeout, lock: Some(self.lock.clone()), mark: format!("{}/check", self.mark) }
    }
}

/// What a gate runs, each with the gate's time.
pub(super) fn of_gate(gate: &Gate, plan: &[Vec<Name>]) -> Vec<Check> {
    let commands = match &gate.run {
        GateRun::Plan => plan,
        GateRun::Command(command) => std::slice::from_ref(command),
    };
    let timeout = gate.timeout.map(|time| Duration::from_millis(time.milliseconds()));
    commands.iter().map(|command| Check { command: command.clone(), timeout }).collect()
}
