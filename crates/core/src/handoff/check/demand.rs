//! The demands of the workflow beyond the fields that all handoffs have.

use crate::code::Code;
use crate::handoff::check::reader::HandoffReader;
use crate::handoff::check::status::ReportedStatus;
use crate::handoff::check::{ExpectedHandoff, ReportingRole};
use crate::id::Name;
use crate::problem::Problem;
use crate::workflow::{AssignmentTask, ChangesDemand, GuardSource, HandoffDemands, Rule, RuleCondition, Workflow};

impl HandoffReader<'_> {
    pub(super) fn demands(
        &mut self,
        workflow: Option<&Workflow>,
        expect: &ExpectedHandoff<'_>,
        holder: Option<&ReportingRole>,
        status: &ReportedStatus,
    ) {
        let Some(workflow) = workflow else { return };
        self.demand(&workflow.handoff.demands);
        if let Some(blocked) = workflow.blocked.as_ref().filter(|_| status.blocked) {
            self.demand(&blocked.demands);
        }
        let (Some(role), Some(status)) = (holder.and_then(|holder| holder.ix), status.ix) else { return };
        let phase = expect.phase.and_then(|name| workflow.phase_named(name));
        let mut rules: Vec<&Rule> = workflow.rules_of(role, status).collect();
        rules.retain(|rule| {
            let of_task =
                |condition: &RuleCondition| !matches!(condition, RuleCondition::Task(task) if *task != expect.task);
            let of_phase = rule.phase.is_none_or(|own| phase == Some(own));
            rule.speaks_of(expect.task) && of_phase && rule.conditions.iter().all(of_task)
        });
        // Only what every way on asks for: the decision itself checks the rest.
        let Some(first) = rules.first() else { return };
        let every = |pick: fn(&HandoffDemands) -> &Vec<crate::id::Name>| {
            let own = pick(&first.demands).iter();
            own.filter(|name| rules.iter().all(|rule| pick(&rule.demands).contains(name))).cloned().collect()
        };
        let shared = HandoffDemands {
            require: every(|demands| &demands.require),
            verify: every(|demands| &demands.verify),
            changes: ChangesDemand::Any,
        };
        self.demand(&shared);
        self.unstated_facts(workflow, &rules);
        if let Some(phase) =
            phase.filter(|_| expect.task != AssignmentTask::Consult && rules.iter().all(|rule| rule.leaves))
        {
            self.demand(&workflow.phase(phase).demands);
        }
    }

    /// A field that only one value of a fact passes on, in a handoff that does not state the fact. The default would route the
    /// report and drop the field.
    fn unstated_facts(&mut self, workflow: &Workflow, rules: &[&Rule]) {
        for rule in rules {
            for condition in &rule.conditions {
                let RuleCondition::When(test) = condition else { continue };
                let guard = workflow.guard(test.guard);
                let is_field = guard.source == GuardSource::Fact && guard.expression.is_none();
                let takes_default = test.allowed & 1 == 1;
                if !is_field || takes_default || self.get(&guard.name).is_some() {
                    continue;
                }
                let is_other = |other: &&&Rule| !other.conditions.contains(condition);
                let passed_elsewhere =
                    |field: &Name| rules.iter().filter(is_other).any(|other| other.with.contains(field));
                let Some(field) = rule.with.iter().find(|field| self.has(field) && !passed_elsewhere(field)) else {
                    continue;
                };
                let values: Vec<String> =
                    guard.values.iter().map(|value| format!("`{}: {value}`", guard.name)).collect();
                let why = rule.because.as_ref().map(|because| format!(" ({because})")).unwrap_or_default();
                let message = format!(
                    "`{field}` is set, but `{}` is not: say which applies, {}{why}",
                    guard.name,
                    values.join(" or ")
                );
                self.wrong(Code::UnstatedFact, &guard.name, message);
                return;
            }
        }
    }

    fn demand(&mut self, demands: &HandoffDemands) {
        for field in &demands.require {
            let known = self.problems.iter().any(|problem| problem.field.as_deref() == Some(field.as_str()));
            if !self.has(field) && !known {
                let code = if *field == "handoff.blockers" { Code::NoBlockers } else { Code::FieldMissing };
                let how = if self.get(field).is_some() { "empty" } else { "missing" };
                self.problem(Problem::of_field(code, field, how), field);
            }
        }
        for claim in &demands.verify {
            let path = format!("verification.{claim}");
            if self.get(&path) != Some(&serde_json::Value::Bool(true)) {
                self.problem(Problem::of_field(Code::ClaimNotMade, &path, "not true, and must be here"), &path);
            }
        }
    }
}
