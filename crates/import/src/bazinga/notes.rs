//! Notes on fields that had no effect in the original: they work now, or are dropped.

use interlock_core::workflow::normalise_status;

use crate::bazinga::machine::*;
use crate::bazinga::roles::is_blocked;
use crate::bazinga::rows::{RowMapping, RowTarget, replaced};
use crate::bazinga::tables::{LIMITS, live_aliases, threshold};
use crate::bazinga::write::at_most;
use crate::bazinga::yaml::one_line;

pub(super) fn notes(rows: &RowMapping<'_>) -> Vec<String> {
    let mut teller = ImportNotes { rows, notes: Vec::new() };
    for (path, aside) in &rows.machine.asides {
        teller.tell(
            path,
            match aside {
                UnroutedField::Comment => "a remark; kept, as `about`, `because` or a comment",
                UnroutedField::Remark => "a remark; dropped",
                UnroutedField::Unknown => "not known here; dropped",
            },
        );
    }
    for (agent, row) in rows.machine.rows() {
        let path = format!("{}.{}", agent.name, row.status);
        teller.claims(&path, row, &rows.home(agent, row));
        teller.groups(&path, row);
        teller.replaced(&path, agent, row);
    }
    teller.testing();
    teller.special_rules();
    teller.aliases();
    teller.roles();
    teller.notes
}

struct ImportNotes<'a> {
    rows: &'a RowMapping<'a>,
    notes: Vec<String>,
}

impl ImportNotes<'_> {
    fn tell(&mut self, field: &str, what: impl AsRef<str>) {
        self.notes.push(one_line(&format!("{field}: {}", what.as_ref())));
    }

    /// Fields by which a row claims something that the original never looked at.
    fn claims(&mut self, path: &str, row: &TransitionRow, home: &RowTarget) {
        if let Some(fallback) = &row.fallback {
            let used = match home {
                RowTarget::Blocked => *fallback == self.rows.cast.lead,
                RowTarget::Routes(entry) => entry.otherwise.as_ref().is_some_and(|(_, role)| role == fallback),
                RowTarget::Merge | RowTarget::Acceptance => false,
            };
            let what = match used {
                true => format!("works now: `{fallback}` helps where the first choice waits for help itself"),
                false => "dropped: the workflow has another answer where the first choice cannot help".to_owned(),
            };
            self.tell(&format!("{path}.fallback_agent"), what);
        }
        if let Some(claimed) = row.mandatory_review {
            let what = match claimed {
                true => "works now: no group completes without a review or the manager's acceptance",
                false => "dropped: every group needs a review or the manager's acceptance",
            };
            self.tell(&format!("{path}.mandatory_review"), what);
        }
        if row.iteration_budget_check.is_some() {
            let counted = match home {
                RowTarget::Routes(entry) => entry.counted.and_then(|name| LIMITS.iter().find(|(own, _)| *own == name)),
                RowTarget::Blocked | RowTarget::Merge | RowTarget::Acceptance => None,
            };
            let what = match counted {
                Some((name, limit)) => format!("works now: loop `{name}` escalates at iteration {limit}"),
                None => "dropped: this way is not counted, or by a loop of its own".to_owned(),
            };
            self.tell(&format!("{path}.iteration_budget_check"), what);
        }
        if row.bypass_qa.is_some() {
            let what =
                "dropped: the route itself says who is next; completion asks for QA of every group of `kind: code`";
            self.tell(&format!("{path}.bypass_qa"), what);
        }
    }

    fn groups(&mut self, path: &str, row: &TransitionRow) {
        if let Some(then) = &row.then {
            let what = match then.as_str() {
                "check_phase" => "works now, in the right order: the groups are looked at when the merge is done",
                _ => "not known here; dropped",
            };
            self.tell(&format!("{path}.then"), what);
        }
        let limit = at_most(self.rows.machine);
        match row.max_parallel {
            Some(_) if row.action != TransitionAction::SpawnBatch => {
                self.tell(&format!("{path}.max_parallel"), "dropped: this row starts no groups");
            }
            Some(count) if count != limit => {
                let what = format!("dropped: one limit holds for all groups, the smallest in the file, {limit}");
                self.tell(&format!("{path}.max_parallel"), what);
            }
            Some(_) | None => {}
        }
    }

    /// Rows that a workflow must answer in its own way.
    fn replaced(&mut self, path: &str, agent: &BazingaAgent, row: &TransitionRow) {
        match self.rows.home(agent, row) {
            RowTarget::Merge | RowTarget::Acceptance => {
                self.tell(path, "replaced: the workflow has its own row for this status");
            }
            RowTarget::Blocked | RowTarget::Routes(_) => {}
        }
        let helped = self.rows.blocked_cells().iter().any(|(own, _)| *own == agent.name);
        if is_blocked(&row.status) && !helped {
            self.tell(path, "dropped: it leads nowhere else; the general answer to a block holds");
        }
        let judge = agent.name == self.rows.cast.validator;
        if judge && (row.action == TransitionAction::EndSession) != (normalise_status(&row.status) == "ACCEPT") {
            self.tell(path, "replaced: ACCEPT ends the session, and no other verdict does");
        }
    }

    fn testing(&mut self) {
        let machine = self.rows.machine;
        for mode in &machine.testing {
            let path = format!("_special_rules.testing_mode_{}", mode.mode);
            let gone = replaced(machine, mode).join(", ");
            let what = match gone.as_str() {
                "" => "dropped: no row with one of these statuses leads to anyone else".to_owned(),
                _ => format!("works now: it is read from here that {gone} is left out, and was built in before"),
            };
            self.tell(&format!("{path}.affected_statuses"), what);
            let what =
                format!("works now: it is read from here that `{}` stands in, and was built in before", mode.takes);
            self.tell(&format!("{path}.override_next_agent"), what);
        }
    }

    fn special_rules(&mut self) {
        let machine = self.rows.machine;
        if let Some(rule) = &machine.escalation {
            let what =
                format!("works now: `{}` is the role above, read from here, and was built in before", rule.agent);
            self.tell("_special_rules.escalation_after_failures.escalation_agent", what);
            if rule.threshold.is_none() {
                let what = format!("not there; {} is taken, as the original did", threshold(machine));
                self.tell("_special_rules.escalation_after_failures.threshold", what);
            }
        }
        if let Some(rule) = &machine.security {
            let what = format!("works now: every route to the author of such a group goes to `{}`", rule.agent);
            self.tell("_special_rules.security_sensitive.force_agent", what);
            if let Some(claimed) = rule.mandatory_review {
                let what = match claimed {
                    true => "works now: for such a group the manager's acceptance does not replace the review",
                    false => "works now: the manager may accept such a group without a review",
                };
                self.tell("_special_rules.security_sensitive.mandatory_review", what);
            }
        }
        if let Some(rule) = &machine.research {
            let what = format!("works now: a group with `kind: research` in the plan begins with `{}`", rule.agent);
            self.tell("_special_rules.research_tasks.agent", what);
            if let Some(count) = rule.max_parallel {
                let what = format!("works now: at most {count} of `{}` at once", rule.agent);
                self.tell("_special_rules.research_tasks.max_parallel", what);
            }
        }
    }

    fn aliases(&mut self) {
        let machine = self.rows.machine;
        let live = live_aliases(machine);
        for alias in &machine.aliases {
            let works = live.iter().any(|live| live.alias == alias.alias && live.meant == alias.meant);
            let what = match works {
                true => {
                    format!("works now: it means `{}`, for a role that has that status and not this one", alias.meant)
                }
                false if normalise_status(&alias.alias) == normalise_status(&alias.meant) => {
                    "dropped: case, spaces and hyphens make no difference".to_owned()
                }
                false => format!("dropped: no role has a status `{}`, or the alias is there already", alias.meant),
            };
            self.tell(&format!("_status_aliases.{}", alias.alias), what);
        }
    }

    fn roles(&mut self) {
        let cast = self.rows.cast;
        for role in &cast.only_named {
            let what = "named as a next agent, with no statuses of its own";
            self.tell(role, format!("{what}; whatever it reports goes to `{}`", cast.lead));
        }
        for role in &cast.added {
            self.tell(role, "not in the file; added, as a workflow needs it");
        }
    }
}
