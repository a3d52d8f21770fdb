//! The translation of each row of the original: one verb of the workflow language and its modifiers.

use interlock_core::workflow::normalise_status;

use crate::bazinga::machine::*;
use crate::bazinga::roles::BazingaRoles;

/// Statuses of a merge: in the workflow language they belong to the merge task.
pub(super) const MERGE_STATUSES: [&str; 4] = ["MERGE_SUCCESS", "MERGE_CONFLICT", "MERGE_TEST_FAILURE", "MERGE_BLOCKED"];

/// The status with which the manager accepts work that was blocked at any time, or that no role could review.
pub(super) const ACCEPTANCE: &str = "GROUP_ACCEPTED";

/// Words in a status by which an agent asks for help and goes on with its own task afterwards;
/// with any other status it hands its work over. The original knows no difference.
const ASKS: [&str; 8] = ["NEED", "SPAWN", "PARTIAL", "FLAKY", "HELP", "QUESTION", "UNSURE", "STUCK"];

/// An entry of a table.
#[derive(Default)]
pub(super) struct RouteEntry {
    pub(super) verb: &'static str,
    pub(super) target: String,
    pub(super) counted: Option<&'static str>,
    pub(super) passes: Option<&'static str>,
    pub(super) otherwise: Option<(&'static str, String)>,
    pub(super) require: Option<&'static str>,
    pub(super) with: Vec<String>,
    pub(super) model: Option<String>,
    pub(super) without_groups: bool,
    pub(super) because: Option<&'static str>,
    pub(super) when: Option<(&'static str, &'static str)>,
}

impl RouteEntry {
    fn of(verb: &'static str, target: &str) -> Self {
        RouteEntry { verb, target: target.to_owned(), ..RouteEntry::default() }
    }

    fn counted(mut self, name: &'static str) -> Self {
        self.counted = Some(name);
        self
    }
}

/// Where a row of the original went.
pub(super) enum RowTarget {
    /// A row in `routes`, of the same agent and status.
    Routes(Box<RouteEntry>),
    /// A column of the blocked table.
    Blocked,
    /// The merge table has its own row for it.
    Merge,
    /// The manager's acceptance has its own row.
    Acceptance,
}

pub(super) struct RowMapping<'a> {
    pub(super) machine: &'a BazingaMachine,
    pub(super) cast: &'a BazingaRoles,
    /// The agent whose failures are failing tests.
    pub(super) tester: Option<&'a str>,
}

impl<'a> RowMapping<'a> {
    pub(super) fn new(machine: &'a BazingaMachine, cast: &'a BazingaRoles) -> Self {
        RowMapping { machine, cast, tester: tester(machine, cast) }
    }

    pub(super) fn home(&self, agent: &BazingaAgent, row: &TransitionRow) -> RowTarget {
        let status = normalise_status(&row.status);
        if status == "BLOCKED" {
            RowTarget::Blocked
        } else if MERGE_STATUSES.contains(&status.as_str()) && self.cast.is_author(&agent.name) {
            RowTarget::Merge
        } else if status == ACCEPTANCE && agent.name == self.cast.manager {
            RowTarget::Acceptance
        } else {
            let mut entry = self.entry(agent, row);
            entry.with.clone_from(&row.with);
            entry.model.clone_from(&row.model);
            RowTarget::Routes(Box::new(entry))
        }
    }

    fn entry(&self, agent: &BazingaAgent, row: &TransitionRow) -> RouteEntry {
        let cast = self.cast;
        if agent.name == cast.validator {
            return self.verdict(row);
        }
        match (row.action, &row.next) {
            (TransitionAction::SpawnBatch, _) => {
                let require = self.is_plan(agent, row).then_some("groups");
                RouteEntry { require, ..RouteEntry::of("start", "groups").counted("managing") }
            }
            (TransitionAction::SpawnMerge, _) => {
                RouteEntry { passes: Some("review"), ..RouteEntry::of("merge", "author") }
            }
            (TransitionAction::ValidateThenEnd, _) => RouteEntry::of("validate", &cast.validator).counted("validation"),
            (TransitionAction::EndSession, _) => {
                let because = Some("every end is validated");
                let end = RouteEntry::of("validate", &cast.validator).counted("validation");
                RouteEntry { without_groups: true, because, ..end }
            }
            (TransitionAction::PauseForUser, _) => RouteEntry::of("ask", "clarify"),
            (TransitionAction::Spawn | TransitionAction::Respawn, TransitionTarget::Agent(next)) => {
                self.handover(agent, row, next)
            }
            (
                TransitionAction::Spawn | TransitionAction::Respawn,
                TransitionTarget::Blocked | TransitionTarget::Nobody,
            ) => {
                let otherwise = Some(("spawn", "author".to_owned()));
                RouteEntry { otherwise, ..RouteEntry::of("return", "blocked_agent").counted("guidance") }
            }
        }
    }

    /// The validator judges a session, so what follows is for who answers for the session.
    fn verdict(&self, row: &TransitionRow) -> RouteEntry {
        let cast = self.cast;
        if normalise_status(&row.status) == "ACCEPT" {
            return RouteEntry::of("end", "session");
        }
        let next = row.next.agent().filter(|next| !cast.is_author(next) && *next != cast.validator);
        RouteEntry::of("spawn", next.unwrap_or(&cast.manager))
    }

    fn handover(&self, agent: &BazingaAgent, row: &TransitionRow, next: &str) -> RouteEntry {
        let (cast, own) = (self.cast, agent.name.as_str());
        let rung = self.machine.escalation.as_ref().is_some_and(|rule| rule.agent == next);
        if next == cast.validator {
            return RouteEntry::of("validate", next).counted("validation");
        }
        if next == own {
            return RouteEntry::of("respawn", "self").counted(self.self_loop(agent, row));
        }
        if cast.is_author(own) && cast.is_author(next) {
            let up = cast.ladder.get(own).is_some_and(|above| above == next);
            return if up {
                RouteEntry::of("escalate", "self")
            } else {
                RouteEntry::of("spawn", next).counted("handover")
            };
        }
        if own == cast.manager && cast.plain.contains(next) {
            return RouteEntry::of("start", "groups").counted("managing");
        }
        if cast.plain.contains(next) || (cast.is_author(next) && row.action == TransitionAction::Respawn) {
            let verb = if row.action == TransitionAction::Respawn { "respawn" } else { "spawn" };
            return RouteEntry::of(verb, "author").counted(self.back_loop(agent, row));
        }
        if cast.is_author(next) {
            return if rung {
                RouteEntry::of("escalate", "author")
            } else {
                RouteEntry::of("spawn", next).counted("handover")
            };
        }
        self.to_colleague(agent, row, next)
    }

    /// From anyone to a role that is not an author: asked for help, or handed over.
    fn to_colleague(&self, agent: &BazingaAgent, row: &TransitionRow, next: &str) -> RouteEntry {
        let cast = self.cast;
        let status = normalise_status(&row.status);
        let decides = agent.name == cast.lead || cast.approvers.contains(&agent.name);
        let asks = !decides && ASKS.iter().any(|word| status.contains(word));
        let mut entry = RouteEntry::of(if asks { "consult" } else { "spawn" }, next);
        if cast.counted.contains(next) {
            entry.counted = Some("investigation");
        }
        if asks {
            entry.otherwise = self.fallback(row).map(|role| ("spawn", role.to_owned()));
        }
        if self.tester == Some(agent.name.as_str()) && status.contains("PASS") {
            entry.passes = Some("qa");
        }
        entry
    }

    /// The fallback of a row, if it is a role that can get work.
    pub(super) fn fallback<'r>(&self, row: &'r TransitionRow) -> Option<&'r str> {
        let role = row.fallback.as_deref()?;
        (self.cast.roles.iter().any(|known| known == role) && role != self.cast.validator).then_some(role)
    }

    fn self_loop(&self, agent: &BazingaAgent, row: &TransitionRow) -> &'static str {
        if row.model.is_some() {
            "second_opinion"
        } else if row.iteration_budget_check == Some(true) && !self.cast.is_author(&agent.name) {
            "hypotheses"
        } else {
            "partial"
        }
    }

    /// Which loop counts work that goes back to its author.
    fn back_loop(&self, agent: &BazingaAgent, row: &TransitionRow) -> &'static str {
        let name = agent.name.as_str();
        let reviews = name == self.cast.lead || self.cast.approvers.contains(name);
        match (row.escalation_check, row.action) {
            (true, _) if reviews => "review",
            (true, _) if self.tester == Some(name) => "qa",
            (true, _) => "failures",
            (false, TransitionAction::Respawn) => "rework",
            (false, _) if reviews => "guidance",
            (false, _) => "diagnostics",
        }
    }

    /// The helper of each blocked agent, where the original has a row for it.
    pub(super) fn blocked_cells(&self) -> Vec<(String, String)> {
        let rows = self.machine.rows().filter(|(agent, row)| matches!(self.home(agent, row), RowTarget::Blocked));
        let helper = |(agent, row): (&BazingaAgent, &TransitionRow)| {
            let helps = match (&row.next, row.action) {
                (TransitionTarget::Agent(next), TransitionAction::Spawn | TransitionAction::Respawn) => next.clone(),
                (_, TransitionAction::PauseForUser) => "user".to_owned(),
                _ => return None,
            };
            let judge = &self.cast.validator;
            (helps != agent.name && helps != *judge && agent.name != *judge).then(|| (agent.name.clone(), helps))
        };
        rows.filter_map(helper).collect()
    }

    /// Rows that the original lacks and a workflow needs, with the reason why.
    pub(super) fn added(&self, role: &str) -> Vec<(&'static str, &'static str, RouteEntry)> {
        let cast = self.cast;
        let own = self.machine.rows().filter(|(agent, _)| agent.name == role);
        let statuses: Vec<String> = own.map(|(_, row)| normalise_status(&row.status)).collect();
        let mut added = Vec::new();
        let with = |fields: &[&str], entry| RouteEntry {
            with: fields.iter().map(|field| (*field).to_owned()).collect(),
            ..entry
        };
        if role == cast.manager {
            if !self.any_row("start") {
                let plan =
                    RouteEntry { require: Some("groups"), ..RouteEntry::of("start", "groups").counted("managing") };
                added.push((
                    "PLANNING_COMPLETE",
                    "Not in the original: somebody has to start the groups.",
                    with(&["task_groups"], plan),
                ));
            }
            if !self.any_row("validate") {
                let end = RouteEntry::of("validate", &cast.validator).counted("validation");
                added.push((
                    "BAZINGA",
                    "Not in the original: somebody has to end the session.",
                    with(&["completion_summary"], end),
                ));
            }
            let strict = self.machine.security.as_ref().is_some_and(|rule| rule.mandatory_review == Some(true));
            let when = strict.then_some(("security_sensitive", "false"));
            let accept = RouteEntry {
                passes: Some("acceptance"),
                when,
                ..RouteEntry::of("merge", "author").counted("managing")
            };
            let why = "Not in the original: work that was ever blocked waits for this, merged or not.";
            added.push((ACCEPTANCE, why, with(&["acceptance_reason"], accept)));
        }
        if role == cast.validator {
            let back = || RouteEntry::of("spawn", &cast.manager);
            let why = "Not in the original.";
            added.push((
                "ACCEPT",
                why,
                with(&["validator_verdict", "completion_summary"], RouteEntry::of("end", "session")),
            ));
            added.push(("REJECT", why, with(&["validator_verdict", "failed_checks", "remediation_guidance"], back())));
            added.push(("CLARIFY", why, with(&["validator_verdict", "clarification_question"], back())));
        }
        added.retain(|(status, _, _)| *status == ACCEPTANCE || !statuses.iter().any(|own| own == status));
        added
    }

    /// Does any row of the file count as a review?
    pub(super) fn reviews(&self) -> bool {
        self.passes("review")
    }

    /// Does any row of the file pass this evidence?
    pub(super) fn passes(&self, evidence: &str) -> bool {
        self.machine.rows().any(
            |(agent, row)| matches!(self.home(agent, row), RowTarget::Routes(entry) if entry.passes == Some(evidence)),
        )
    }

    /// Does any row of the file come to this verb?
    fn any_row(&self, verb: &str) -> bool {
        self.machine
            .rows()
            .any(|(agent, row)| matches!(self.home(agent, row), RowTarget::Routes(entry) if entry.verb == verb))
    }

    /// The plan brings the groups; later starts do not have to.
    fn is_plan(&self, agent: &BazingaAgent, row: &TransitionRow) -> bool {
        let starts = || agent.rows.iter().filter(|row| row.action == TransitionAction::SpawnBatch);
        let plan = starts().find(|row| normalise_status(&row.status).contains("PLAN")).or_else(|| starts().next());
        plan.is_some_and(|plan| plan.status == row.status)
    }
}

/// The role that the testing modes leave out; else the first that fails work without being a reviewer.
fn tester<'a>(machine: &'a BazingaMachine, cast: &BazingaRoles) -> Option<&'a str> {
    let fails = |name: &str| {
        let agent = machine.agent(name)?;
        let reviews = agent.name == cast.lead || cast.approvers.contains(&agent.name);
        (!reviews && agent.rows.iter().any(|row| row.escalation_check)).then_some(agent.name.as_str())
    };
    let left_out = left_out(machine).into_iter().find_map(fails);
    left_out.or_else(|| machine.agents.iter().find_map(|agent| fails(&agent.name)))
}

/// The roles that the testing modes leave out.
pub(super) fn left_out(machine: &BazingaMachine) -> Vec<&str> {
    let mut roles = Vec::new();
    for mode in &machine.testing {
        roles.extend(replaced(machine, mode));
    }
    roles
}

/// The roles that one testing mode puts another in the place of.
pub(super) fn replaced<'a>(machine: &'a BazingaMachine, mode: &TestingMode) -> Vec<&'a str> {
    let mut roles: Vec<&str> = Vec::new();
    for (_, row) in machine.rows() {
        let affected = mode.affected.iter().any(|status| normalise_status(status) == normalise_status(&row.status));
        if let Some(next) = row.next.agent().filter(|next| affected && *next != mode.takes)
            && !roles.contains(&next)
        {
            roles.push(next);
        }
    }
    roles
}
