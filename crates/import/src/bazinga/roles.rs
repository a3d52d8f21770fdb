//! The special roles that the original's router had built in, derived from the actions of the agents.
//!
//! A rule or an action in the file identifies a role before its name does. The two names that the router had built in
//! (`tech_lead` for unknown statuses, `project_manager` when all groups are done) come second.

use std::collections::{BTreeMap, BTreeSet};

use interlock_core::code::Code;
use interlock_core::problem::Problem;
use interlock_core::workflow::normalise_status;

use crate::bazinga::machine::*;

const MANAGER: &str = "project_manager";
const LEAD: &str = "tech_lead";
const VALIDATOR: &str = "validator";
const DEVELOPER: &str = "developer";

pub(super) struct BazingaRoles {
    /// Every role: those of the file in its order, then those that are only named, then the added.
    pub(super) roles: Vec<String>,
    /// Agents without a table of their own.
    pub(super) only_named: BTreeSet<String>,
    /// Roles that the file lacks and a workflow needs.
    pub(super) added: BTreeSet<String>,
    /// Plans the groups, and ends the session.
    pub(super) manager: String,
    /// Unclear and blocked work goes here.
    pub(super) lead: String,
    /// Agents whose approval merges.
    pub(super) approvers: BTreeSet<String>,
    /// Played by Interlock.
    pub(super) validator: String,
    /// Gets the work of a new group.
    pub(super) starter: String,
    pub(super) authors: BTreeSet<String>,
    /// Authors of ordinary work: neither an escalation level nor a specialist of a rule.
    pub(super) plain: BTreeSet<String>,
    pub(super) ladder: BTreeMap<String, String>,
    /// Roles on a circle of handovers: every way to them is counted.
    pub(super) counted: BTreeSet<String>,
}

impl BazingaRoles {
    pub(super) fn of(machine: &BazingaMachine) -> Self {
        let validator = validator(machine);
        let manager = manager(machine, &validator);
        let merging = with_action(machine, TransitionAction::SpawnMerge);
        let approvers: BTreeSet<String> = merging.map(str::to_owned).filter(|name| *name != validator).collect();
        let lead = lead(machine, &manager, &validator, &approvers);
        let starter = starter(machine);
        let staff = [&manager, &lead, &validator];
        let mut authors = authors(machine, &starter);
        authors.retain(|name| *name == starter || (!staff.contains(&name) && !approvers.contains(name)));
        let mut plain = authors.clone();
        plain.retain(|name| !is_special(machine, name));
        let (roles, only_named, added) = roles(machine, &[&manager, &lead, &starter, &validator]);
        let mut cast = BazingaRoles {
            roles,
            only_named,
            added,
            manager,
            lead,
            approvers,
            validator,
            starter,
            authors,
            plain,
            ladder: BTreeMap::new(),
            counted: BTreeSet::new(),
        };
        cast.ladder = cast.climb(machine);
        cast.counted = cast.circles(machine);
        cast
    }

    /// The role that each role escalates to. The manager has none: above it there is only a person.
    fn climb(&self, machine: &BazingaMachine) -> BTreeMap<String, String> {
        let senior = machine.escalation.as_ref().map(|rule| rule.agent.as_str());
        let mut ladder = BTreeMap::new();
        for role in self.roles.iter().filter(|role| **role != self.manager && **role != self.validator) {
            let above = if self.plain.contains(role) {
                senior.filter(|senior| senior != role).unwrap_or(&self.manager)
            } else if self.authors.contains(role) || *role == self.lead || self.approvers.contains(role) {
                &self.manager
            } else {
                &self.lead
            };
            ladder.insert(role.clone(), above.to_owned());
        }
        ladder
    }

    /// Work that is handed round between roles that are not authors needs a bound. It is put on the
    /// ways to every role of such a circle but the lead, so that no circle is left without one.
    fn circles(&self, machine: &BazingaMachine) -> BTreeSet<String> {
        let mut ways: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (agent, row) in machine.rows().filter(|(_, row)| !is_blocked(&row.status)) {
            if let (TransitionAction::Spawn | TransitionAction::Respawn, TransitionTarget::Agent(next)) =
                (row.action, &row.next)
                && agent.name != *next
                && ![&agent.name, next].iter().any(|name| self.authors.contains(*name) || **name == self.validator)
            {
                ways.entry(&agent.name).or_default().insert(next);
            }
        }
        let on_circle = |role: &&str| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![*role]);
            while let Some(here) = open.pop() {
                open.extend(ways.get(here).into_iter().flatten().copied().filter(|next| seen.insert(*next)));
            }
            seen.contains(role)
        };
        ways.keys().copied().filter(on_circle).filter(|role| *role != self.lead).map(str::to_owned).collect()
    }

    pub(super) fn is_author(&self, role: &str) -> bool {
        self.authors.contains(role)
    }
}

pub(super) fn is_blocked(status: &str) -> bool {
    normalise_status(status) == "BLOCKED"
}

/// The escalation role, or a specialist that a special rule names.
fn is_special(machine: &BazingaMachine, name: &str) -> bool {
    machine.escalation.as_ref().is_some_and(|rule| rule.agent == name)
        || machine.security.as_ref().is_some_and(|rule| rule.agent == name)
        || machine.research.as_ref().is_some_and(|rule| rule.agent == name)
}

fn with_action(machine: &BazingaMachine, action: TransitionAction) -> impl Iterator<Item = &str> {
    machine.rows().filter(move |(_, row)| row.action == action).map(|(agent, _)| agent.name.as_str())
}

/// The role that accepts and rejects. There is only one.
fn validator(machine: &BazingaMachine) -> String {
    let judges = |agent: &&BazingaAgent| {
        let has = |verdict| agent.rows.iter().any(|row| normalise_status(&row.status) == verdict);
        has("ACCEPT") && has("REJECT")
    };
    let judge = machine.agents.iter().filter(judges).min_by_key(|agent| agent.name != VALIDATOR);
    match judge {
        Some(agent) => agent.name.clone(),
        None if machine.agent(VALIDATOR).is_some() => "session_validator".to_owned(),
        None => VALIDATOR.to_owned(),
    }
}

fn manager(machine: &BazingaMachine, validator: &str) -> String {
    let batch = with_action(machine, TransitionAction::SpawnBatch);
    let ends = with_action(machine, TransitionAction::ValidateThenEnd);
    batch.chain(ends).find(|name| *name != validator).unwrap_or(MANAGER).to_owned()
}

fn lead(machine: &BazingaMachine, manager: &str, validator: &str, approvers: &BTreeSet<String>) -> String {
    let built_in = machine.agent(LEAD).map(|agent| &agent.name);
    let known = built_in.into_iter().chain(approvers).find(|name| *name != manager && *name != validator);
    known.cloned().unwrap_or_else(|| manager.to_owned())
}

fn starter(machine: &BazingaMachine) -> String {
    let by_action = |action| {
        let mut rows = machine.rows().filter(move |(_, row)| row.action == action);
        rows.find_map(|(_, row)| row.next.agent())
    };
    by_action(TransitionAction::SpawnBatch)
        .or_else(|| by_action(TransitionAction::SpawnMerge))
        .unwrap_or(DEVELOPER)
        .to_owned()
}

/// Those to whom work goes back, and who merge it.
fn authors(machine: &BazingaMachine, starter: &str) -> BTreeSet<String> {
    let special = [
        machine.escalation.as_ref().map(|rule| &rule.agent),
        machine.security.as_ref().map(|rule| &rule.agent),
        machine.research.as_ref().map(|rule| &rule.agent),
    ];
    let gets_back = |row: &TransitionRow| {
        matches!(row.action, TransitionAction::SpawnBatch | TransitionAction::SpawnMerge)
            || (row.escalation_check && row.action == TransitionAction::Respawn)
    };
    let rows = machine.rows().filter(|(_, row)| gets_back(row)).filter_map(|(_, row)| row.next.agent());
    let special = special.into_iter().flatten().map(String::as_str);
    rows.chain(special).chain(std::iter::once(starter)).map(str::to_owned).collect()
}

type RoleSets = (Vec<String>, BTreeSet<String>, BTreeSet<String>);

fn roles(machine: &BazingaMachine, needed: &[&String]) -> RoleSets {
    let mut all: Vec<String> = machine.agents.iter().map(|agent| agent.name.clone()).collect();
    let in_rules = [
        machine.escalation.as_ref().map(|rule| rule.agent.as_str()),
        machine.security.as_ref().map(|rule| rule.agent.as_str()),
        machine.research.as_ref().map(|rule| rule.agent.as_str()),
    ];
    let in_rows = machine.rows().filter_map(|(_, row)| row.next.agent());
    let in_modes = machine.testing.iter().map(|mode| mode.takes.as_str());
    let mut only_named = BTreeSet::new();
    for name in in_rows.chain(in_modes).chain(in_rules.into_iter().flatten()) {
        if !all.iter().any(|known| known == name) {
            only_named.insert(name.to_owned());
            all.push(name.to_owned());
        }
    }
    let mut added = BTreeSet::new();
    for name in needed {
        if !all.contains(name) {
            added.insert((*name).clone());
            all.push((*name).clone());
        }
    }
    (all, only_named, added)
}

/// Reports the parts of the file that no workflow can express.
pub(super) fn refuse(machine: &BazingaMachine, cast: &BazingaRoles, problems: &mut Vec<Problem>) {
    for (agent, row) in machine.rows() {
        let to_judge = row.next.agent() == Some(cast.validator.as_str());
        if to_judge
            && matches!(
                row.action,
                TransitionAction::Respawn | TransitionAction::SpawnBatch | TransitionAction::SpawnMerge
            )
        {
            let message = format!("`{}.{}` gives work to `{}`", agent.name, row.status, cast.validator);
            let help = "the validator is played by Interlock: use `validate_then_end`";
            problems.push(Problem::new(Code::ImportFailed, message).help(help).at(row.place.clone()));
        }
        let elsewhere = matches!(
            row.action,
            TransitionAction::SpawnBatch | TransitionAction::ValidateThenEnd | TransitionAction::SpawnMerge
        );
        if is_blocked(&row.status) && elsewhere {
            let message = format!("`{}.{}` does not say who helps", agent.name, row.status);
            let help = "a blocked agent is helped by another agent (`spawn`) or a person (`pause_for_user`)";
            problems.push(Problem::new(Code::ImportFailed, message).help(help).at(row.place.clone()));
        }
    }
    for (agent, place) in machine.named.iter().filter(|(agent, _)| *agent == cast.validator) {
        let message = format!("no work can be given to `{agent}`, which Interlock plays itself");
        problems.push(Problem::new(Code::ImportFailed, message).at(place.clone()));
    }
}
