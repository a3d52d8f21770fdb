//! What came of a command is bound to the tree it ran on: what has passed is not run again on the same tree, and on another
//! tree nothing is known.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use interlock_core::id::Name;
use interlock_core::workflow::{Gate, GateRun, GateValues};

use crate::checks::{self, Manner, Outcome};
use crate::failure::Failure;
use crate::files;
use crate::git::{Hash, Workspace, remove};
use crate::process::Control;
use crate::run::crew::{Call, Crew};
use crate::run::neighbours::Neighbour;

/// A command that has to pass, and how long it may take.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) command: Vec<Name>,
    pub(super) timeout: Option<Duration>,
    /// The group whose plan has it, if that is another's.
    whose: Option<Name>,
}

impl Check {
    fn line(&self) -> String {
        checks::line(&self.command)
    }

    fn is_same(&self, other: &Check) -> bool {
        self.command == other.command && self.timeout == other.timeout
    }
}

/// Where, on what, which command, and how long it might have taken.
type Subject = (PathBuf, Hash, Vec<Name>, Option<Duration>);

#[derive(Default)]
pub(super) struct Checks {
    /// What has passed: a failure may be the machine's, and is worth another look. By the folder, too: what git ignores is
    /// there as well, and an agent may have put it there.
    passed: Mutex<BTreeMap<Subject, Outcome>>,
}

impl Checks {
    /// The folder is emptied: what commands have made there is gone, and what they have shown with it.
    fn forget(&self, folder: &Path) {
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        passed.retain(|(of, ..), _| of != folder);
    }
}

impl Crew {
    /// Runs commands on a tree that is laid out in a workspace, each on exactly this tree; the first that fails ends it.
    pub(super) fn check(
        &self,
        tree: &Hash,
        checks: &[Check],
        workspace: &Workspace,
        control: &Control,
    ) -> Result<Option<Outcome>, Failure> {
        let mut output = String::new();
        for check in checks {
            let Some(result) = self.check_one(tree, check, workspace, control)? else { return Ok(None) };
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
        workspace: &Workspace,
        control: &Control,
    ) -> Result<Option<Outcome>, Failure> {
        let subject = (workspace.folder.clone(), tree.clone(), check.command.clone(), check.timeout);
        let held = || self.checks.passed.lock().unwrap_or_else(PoisonError::into_inner);
        // What commands have left there for another tree says nothing of this one.
        held().retain(|(folder, of, ..), _| *folder != workspace.folder || of == tree);
        if let Some(result) = held().get(&subject) {
            return Ok(Some(result.clone()));
        }
        let result = checks::run(&check.command, &self.manner(&workspace.folder, check.timeout), control)?;
        // What the command left behind is nobody's work, and the next one speaks for the same tree.
        workspace.put_back(tree)?;
        if let Some(result) = result.as_ref().filter(|result| result.passed) {
            held().insert(subject, result.clone());
        }
        Ok(result)
    }

    /// The commands that have to pass on what a merge gives: those that completion will ask for, of the group itself and of
    /// those whose work is in already, or they would have passed on files that are no more.
    pub(super) fn checks_of_merge(&self, call: &Call) -> Result<Vec<Check>, Failure> {
        let own = call.group.is_some().then(|| self.checks_of_call(call));
        let mut checks = own.unwrap_or_default();
        for neighbour in &call.neighbours {
            let values = self.gate_values(Some(&neighbour.group), neighbour.domain.as_ref());
            let more = self.checks_of_plan(&neighbour.checks, Some(&neighbour.group), values);
            let is_new = |check: &Check| !checks.iter().any(|known| known.is_same(check));
            if more.iter().any(is_new) && self.is_in(neighbour, call)? {
                add(&mut checks, more);
            }
        }
        Ok(checks)
    }

    /// The commands that a claim that tests pass is held against: in a group, those of the group. Outside of groups those of
    /// everything merged, and those of the session once no group is at work, nor `planned` with the claim.
    pub(super) fn checks_of_claim(&self, call: &Call, planned: bool) -> Result<Vec<Check>, Failure> {
        if call.group.is_some() {
            return Ok(self.checks_of_call(call));
        }
        let mut checks = self.checks_of_merge(call)?;
        if call.whole && !planned {
            add(
                &mut checks,
                self.checks_of_gates(
                    &self.workflow.requirements().session_gates,
                    &[],
                    None,
                    self.gate_values(None, None),
                ),
            );
        }
        Ok(checks)
    }

    fn is_in(&self, neighbour: &Neighbour, call: &Call) -> Result<bool, Failure> {
        Ok(self.site.is_in(&neighbour.group, &call.open, neighbour.done)?)
    }

    fn checks_of_call(&self, call: &Call) -> Vec<Check> {
        self.checks_of_plan(&call.checks, None, self.gate_values(call.group.as_ref(), call.domain.as_ref()))
    }

    /// What the placeholders of gates stand for in a group, or in the session.
    pub(super) fn gate_values<'v>(&'v self, group: Option<&'v Name>, domain: Option<&'v Name>) -> GateValues<'v> {
        GateValues {
            feature_directory: &self.feature_directory,
            session: &self.session,
            group: group.map_or("", Name::as_str),
            domain: domain.map_or("", Name::as_str),
        }
    }

    fn checks_of_plan(&self, plan: &[Vec<Name>], whose: Option<&Name>, values: GateValues<'_>) -> Vec<Check> {
        let needed: Vec<Name> = self.workflow.requirements().gates.into_iter().map(|(name, _)| name).collect();
        self.checks_of_gates(&needed, plan, whose, values)
    }

    fn checks_of_gates(
        &self,
        names: &[Name],
        plan: &[Vec<Name>],
        whose: Option<&Name>,
        values: GateValues<'_>,
    ) -> Vec<Check> {
        let gates = names.iter().filter_map(|name| self.workflow.gates.iter().find(|gate| gate.name == *name));
        gates.flat_map(|gate| of_gate(gate, plan, whose, values)).collect()
    }

    /// Runs the commands that make a workspace ready, once for each that is new. What failed, if something did: the files
    /// in it may be to blame, and whoever made them has to know.
    pub(super) fn make_ready(
        &self,
        workspace: &Workspace,
        tree: &Hash,
        control: &Control,
    ) -> Result<Option<Outcome>, Failure> {
        if self.team.prepare.is_empty() || workspace.ready().exists() {
            return Ok(None);
        }
        let failed = self.prepare(workspace, tree, control)?;
        if failed.is_none() && !control.is_stopped() {
            mark_ready(workspace, tree.as_str())?;
        }
        Ok(failed)
    }

    fn prepare(&self, workspace: &Workspace, tree: &Hash, control: &Control) -> Result<Option<Outcome>, Failure> {
        let mut failed = None;
        for command in &self.team.prepare {
            let words: Vec<Name> = command.iter().map(|word| Name::new(word)).collect();
            match checks::run(&words, &self.manner(&workspace.folder, None), control)? {
                Some(result) if result.passed => continue,
                result => failed = result,
            }
            break;
        }
        if !self.team.prepare.is_empty() {
            // What it changes beside what git ignores would be taken for the agent's work.
            workspace.put_back(tree)?;
        }
        Ok(failed)
    }

    /// Runs commands on a commit where merges are tried. `None`: it was stopped. To be called while the merges are held.
    ///
    /// What git ignores stays there as long as all goes well, or everything would be built anew for each merge. What fails
    /// among what others have left is tried again from nothing, and nothing of what failed is there for the next.
    pub(super) fn check_apart(
        &self,
        commit: &Hash,
        checks: &[Check],
        control: &Control,
    ) -> Result<Option<Outcome>, Failure> {
        let tree = &self.site.vault.tree(commit)?;
        let workspace = self.site.merge_bench()?;
        let made_for = files::read_plain(&workspace.ready()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        // Until it is known how it goes.
        remove(&workspace.ready()).map_err(crate::git::Error::from)?;
        if let Some(made_for) = made_for {
            workspace.show(commit, &self.site.project)?;
            let result = self.check(tree, checks, &workspace, control)?;
            let is_its_own = made_for == tree.as_str();
            let Some(result) = result else { return Ok(None) };
            if result.passed {
                mark_ready(&workspace, if is_its_own { tree.as_str() } else { OF_SEVERAL })?;
            }
            if result.passed || is_its_own || !result.ended {
                return Ok(Some(result));
            }
        }
        self.checks.forget(&workspace.folder);
        workspace.begin_anew()?;
        workspace.show(commit, &self.site.project)?;
        if let Some(failed) = self.prepare(&workspace, tree, control)? {
            return Ok(Some(failed));
        }
        let result = self.check(tree, checks, &workspace, control)?;
        if result.as_ref().is_some_and(|result| result.passed) {
            mark_ready(&workspace, tree.as_str())?;
        }
        Ok(result)
    }

    fn manner<'f>(&'f self, folder: &'f Path, timeout: Option<Duration>) -> Manner<'f> {
        let mark = format!("{}/check", self.mark);
        Manner { folder, timeout, lock: Some(self.lock.clone()), mark, variables: &self.team.checks.env }
    }
}

/// In the place of the tree that a workspace was made ready for, when commands have run on others since.
const OF_SEVERAL: &str = "several";

fn mark_ready(workspace: &Workspace, made_for: &str) -> Result<(), Failure> {
    // An agent may have left a link there.
    let path = workspace.ready();
    let written = remove(&path).and_then(|()| fs::write(&path, made_for));
    Ok(written.map_err(crate::git::Error::from)?)
}

/// What several ask for is asked for once.
fn add(checks: &mut Vec<Check>, more: Vec<Check>) {
    for check in more {
        if !checks.iter().any(|known| known.is_same(&check)) {
            checks.push(check);
        }
    }
}

/// The group whose check a command is, if that is another's.
pub(super) fn whose<'a>(checks: &'a [Check], command: &str) -> Option<&'a Name> {
    checks.iter().find(|check| check.line() == command).and_then(|check| check.whose.as_ref())
}

/// What a gate runs, each with the gate's time.
pub(super) fn of_gate(gate: &Gate, plan: &[Vec<Name>], whose: Option<&Name>, values: GateValues<'_>) -> Vec<Check> {
    let timeout = gate.timeout.map(|time| Duration::from_millis(time.milliseconds()));
    let check =
        |command: &Vec<Name>, whose: Option<&Name>| Check { command: command.clone(), timeout, whose: whose.cloned() };
    match &gate.run {
        GateRun::Plan => plan.iter().map(|command| check(command, whose)).collect(),
        // It is everybody's.
        GateRun::Command(command) => vec![check(&values.fill(command), None)],
    }
}
