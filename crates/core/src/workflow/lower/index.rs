//! The finished workflow, with its rules found by what they answer.

use std::collections::BTreeMap;

use crate::command::LossReason;
use crate::id::{Digest, Name};
use crate::workflow::lower::Lowering;
use crate::workflow::lower::phases::demands;
use crate::workflow::model::*;

#[derive(Default)]
struct RuleIndex {
    by_report: BTreeMap<(RoleIx, StatusIx), Vec<RuleIx>>,
    by_gate: BTreeMap<GateIx, Vec<RuleIx>>,
    by_answer: BTreeMap<(QuestionIx, StatusIx), Vec<RuleIx>>,
    unknown: Vec<RuleIx>,
    rule_index: BTreeMap<Name, RuleIx>,
}

impl RuleIndex {
    fn of(rules: &[Rule]) -> Self {
        let mut found = Self::default();
        for (index, rule) in rules.iter().enumerate() {
            let ix = RuleIx::new(index);
            found.rule_index.insert(rule.id.clone(), ix);
            match (&rule.source, rule.status) {
                (RuleSource::Roles { roles, .. }, Some(status)) => {
                    for role in roles.iter() {
                        found.by_report.entry((RoleIx::new(role), status)).or_default().push(ix);
                    }
                }
                (RuleSource::Roles { .. }, None) => found.unknown.push(ix),
                (RuleSource::Gate(gate), _) => found.by_gate.entry(*gate).or_default().push(ix),
                (RuleSource::Question(question), Some(status)) => {
                    found.by_answer.entry((*question, status)).or_default().push(ix);
                }
                (RuleSource::Question(_), None) => {}
            }
        }
        found
    }
}

impl Lowering<'_> {
    pub(super) fn finish(mut self, hash: Digest) -> Option<Workflow> {
        let doc = self.doc;
        let found = RuleIndex::of(&self.rules);
        let question = |name: &str| self.questions.iter().position(|question| question.name == name);
        let (stuck, unfinished) = (question("stuck")?, question("unfinished")?);
        // Workflows that were pinned before this question existed ask the older one.
        let nothing_completed = question("nothing_completed").unwrap_or(unfinished);
        let lost = LossReason::ALL.map(|loss| self.status(loss.status()));
        let groups_at_most = doc.groups.as_ref().and_then(|groups| groups.at_most.as_ref()).map_or(4, |at| at.value);
        let handoff = doc.handoff.as_ref().map_or_else(HandoffRules::default, |handoff| HandoffRules {
            demands: demands(&handoff.require, &handoff.verify),
            skills: handoff.skills.iter().map(|skill| skill.value.clone()).collect(),
            refuse_missing_skills: handoff.missing_skills.as_ref().is_some_and(|at| at.value == "refuse"),
        });
        Some(Workflow {
            name: doc.workflow.value.clone(),
            about: doc.about.as_deref().map(Name::new),
            hash,
            roles: self.roles,
            domains: self.domains,
            guards: self.guards,
            loops: self.loops,
            phases: self.phases,
            gates: self.gates,
            questions: self.questions,
            statuses: self.statuses,
            rules: self.rules,
            blocked: self.blocked,
            handoff,
            orchestrator: self.orchestrator,
            protected: doc.protected.iter().map(|at| at.value.clone()).collect(),
            test_files: doc.test_files.iter().map(|at| at.value.clone()).collect(),
            groups_at_most,
            file_limits: self.file_limits,
            stages: self.stages,
            overrides: self.overrides,
            completion: self.completion,
            passes: self.passes,
            aliases: self.aliases,
            begin: self.begin,
            group_begin: self.group_begin,
            groups_ended: self.groups_ended,
            role_index: self.role_index,
            status_index: self.status_index,
            by_report: found.by_report,
            by_gate: found.by_gate,
            by_answer: found.by_answer,
            unknown: found.unknown,
            rule_index: found.rule_index,
            stuck: QuestionIx::new(stuck),
            unfinished: QuestionIx::new(unfinished),
            nothing_completed: QuestionIx::new(nothing_completed),
            lost,
            domain_guard: self.domain_guard,
            status_notes: self.status_notes,
        })
    }
}
