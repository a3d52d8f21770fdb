//! Which commands have to pass in a run, and the room that they run in.

use std::fs;

use interlock_core::id::Name;
use interlock_core::workflow::GateValues;

use crate::check_command::{self, CheckOutcome, CommandSettings};
use crate::gates::{
    CheckRoom, CheckSubject, GateCommand, GateOutcome, GateSession, ObjectsOf, PassedCommands, add_commands,
    commands_of_gate,
};
use crate::git::{GitHash, Workspace};
use crate::other_groups::OtherGroup;
use crate::run_context::{AssignmentJob, RunContext};
use interlock_app::error::CommandError;
use interlock_system::files::remove;
use interlock_system::process::ProcessControl;

/// Results of commands, and the key that seals what is kept for later ones.
pub(super) struct RunChecks {
    pub(super) passed: PassedCommands,
    pub(super) key: [u8; 32],
}

impl RunContext {
    /// Runs commands in a clean checkout of a commit that is merged, or would be. `None`: it was stopped.
    pub(super) fn check_merge(
        &self,
        commit: &GitHash,
        commands: &[GateCommand],
        control: &ProcessControl,
    ) -> Result<Option<GateOutcome>, CommandError> {
        let tree = &self.site.vault.tree(commit)?;
        self.check(tree, commit, true, commands, control)
    }

    /// Runs commands in a clean checkout of an agent's work. They see the `commit` that it stands on when they ask git.
    pub(super) fn check_work(
        &self,
        tree: &GitHash,
        commit: &GitHash,
        commands: &[GateCommand],
        control: &ProcessControl,
    ) -> Result<Option<GateOutcome>, CommandError> {
        self.check(tree, commit, false, commands, control)
    }

    fn check(
        &self,
        tree: &GitHash,
        commit: &GitHash,
        keeps_caches: bool,
        commands: &[GateCommand],
        control: &ProcessControl,
    ) -> Result<Option<GateOutcome>, CommandError> {
        let room = CheckRoom {
            root: self.site.checkouts(),
            prepare: &self.team.prepare,
            variables: &self.team.checks.env,
            lock: Some(self.lock.clone()),
            mark: self.check_mark(),
            key: self.checks.key,
            passed: &self.checks.passed,
        };
        let objects = ObjectsOf::Session(&self.site.vault);
        let subject = CheckSubject { tree, commit: Some(commit), project: &self.site.project, objects, keeps_caches };
        room.check(&subject, commands, control, &|_| {})
    }

    /// The commands that have to pass on what a merge gives: those that completion will ask for, of the group itself and of
    /// those whose work is in already, or they would have passed on files that are no more.
    pub(super) fn checks_of_merge(&self, call: &AssignmentJob) -> Result<Vec<GateCommand>, CommandError> {
        let own = call.group.is_some().then(|| self.checks_of_call(call));
        let mut checks = own.unwrap_or_default();
        for neighbour in &call.neighbours {
            let values = self.gate_session().values(Some(&neighbour.group), neighbour.domain.as_ref());
            let more = self.checks_of_plan(&neighbour.checks, Some(&neighbour.group), values);
            let is_new = |check: &GateCommand| !checks.iter().any(|known| known.is_same(check));
            if more.iter().any(is_new) && self.is_in(neighbour, call)? {
                add_commands(&mut checks, more);
            }
        }
        Ok(checks)
    }

    /// The commands that a claim that tests pass is held against: in a group, those of the group. Outside of groups those of
    /// everything merged, and those of the session once no group is at work, nor `planned` with the claim.
    pub(super) fn checks_of_claim(
        &self,
        call: &AssignmentJob,
        planned: bool,
    ) -> Result<Vec<GateCommand>, CommandError> {
        if call.group.is_some() {
            return Ok(self.checks_of_call(call));
        }
        let mut checks = self.checks_of_merge(call)?;
        if call.whole && !planned {
            let gates = self.workflow.requirements().session_gates;
            let values = self.gate_session().values(None, None);
            add_commands(&mut checks, self.checks_of_gates(&gates, &[], None, values));
        }
        Ok(checks)
    }

    fn is_in(&self, neighbour: &OtherGroup, call: &AssignmentJob) -> Result<bool, CommandError> {
        Ok(self.site.is_in(&neighbour.group, &call.open, neighbour.done)?)
    }

    pub(super) fn gate_session(&self) -> GateSession<'_> {
        GateSession { id: &self.session, feature_directory: &self.feature_directory }
    }

    fn checks_of_call(&self, call: &AssignmentJob) -> Vec<GateCommand> {
        let group = call.group.as_ref();
        self.checks_of_plan(&call.checks, group, self.gate_session().values(group, call.domain.as_ref()))
    }

    fn checks_of_plan(&self, plan: &[Vec<Name>], group: Option<&Name>, values: GateValues<'_>) -> Vec<GateCommand> {
        let needed: Vec<Name> = self.workflow.requirements().gates.into_iter().map(|(name, _)| name).collect();
        self.checks_of_gates(&needed, plan, group, values)
    }

    fn checks_of_gates(
        &self,
        names: &[Name],
        plan: &[Vec<Name>],
        group: Option<&Name>,
        values: GateValues<'_>,
    ) -> Vec<GateCommand> {
        let gates = names.iter().filter_map(|name| self.workflow.gates.iter().find(|gate| gate.name == *name));
        gates.flat_map(|gate| commands_of_gate(gate, plan, group, values)).collect()
    }

    /// Runs the commands that prepare a workspace, once for each new workspace. Returns the command that failed, if
    /// one did: files of the workspace may be the cause, so their author has to know.
    pub(super) fn make_ready(
        &self,
        workspace: &Workspace,
        tree: &GitHash,
        control: &ProcessControl,
    ) -> Result<Option<CheckOutcome>, CommandError> {
        if self.team.prepare.run.is_empty() || workspace.ready().exists() {
            return Ok(None);
        }
        let failed = self.prepare(workspace, tree, control)?;
        if failed.is_none() && !control.is_stopped() {
            // An agent may have left a link there.
            let path = workspace.ready();
            let written = remove(&path).and_then(|()| fs::write(&path, tree.as_str()));
            written.map_err(crate::git::GitError::from)?;
        }
        Ok(failed)
    }

    fn prepare(
        &self,
        workspace: &Workspace,
        tree: &GitHash,
        control: &ProcessControl,
    ) -> Result<Option<CheckOutcome>, CommandError> {
        let mut failed = None;
        let (folder, variables) = (&workspace.folder, &self.team.checks.env);
        let manner = CommandSettings {
            folder,
            timeout: None,
            lock: Some(self.lock.clone()),
            mark: self.check_mark(),
            variables,
        };
        for command in &self.team.prepare.run {
            let words: Vec<Name> = command.iter().map(|word| Name::new(word)).collect();
            match check_command::run(&words, &manner, control)? {
                Some(result) if result.passed => continue,
                result => failed = result,
            }
            break;
        }
        // Changes of these commands to files that git does not ignore would count as the agent's work.
        workspace.put_back(tree)?;
        Ok(failed)
    }

    fn check_mark(&self) -> String {
        format!("{}/check", self.mark)
    }
}
