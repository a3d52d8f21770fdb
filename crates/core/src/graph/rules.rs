//! From rules to arrows.

use super::build::{Builder, Spot};
use super::label::Said;
use super::{EdgeKind, Mark, stages};
use crate::workflow::*;

impl Builder<'_> {
    /// Draws what leaves a box.
    pub(super) fn look_into(&mut self, node: usize, spot: Spot) {
        match spot {
            Spot::Role(ix) => self.reports(node, &std::iter::once(ix.index()).collect()),
            Spot::Authors => {
                let authors = self.workflow.roles.iter().enumerate().filter(|(_, role)| role.author);
                self.reports(node, &authors.map(|(index, _)| index).collect());
            }
            Spot::Phase(ix) => match &self.workflow.phase(ix).performer {
                Performer::Role(_) | Performer::ByDomain(_) => {
                    self.reports(node, &stages::roles_of(self.workflow, ix));
                }
                Performer::Gate(gate) => self.gate(node, *gate),
                Performer::Merge => self.merging(node),
            },
            Spot::Gate(ix) => {
                self.gate(node, ix);
                let next = self.after_gate(ix);
                self.arrow(node, next, EdgeKind::Forward, Said { text: "pass".to_owned(), ..Said::default() });
            }
            Spot::Merge => self.merging(node),
            Spot::Asked(question, asker) => self.answers(node, question, self.asking_phase(asker)),
            Spot::Checkpoint(stage, which) => self.checkpoint_answers(node, stage, which),
            Spot::Groups => self.groups_begin(node),
            Spot::Completed => self.groups_ended(node),
            Spot::Start | Spot::Join(_) | Spot::Deferred | Spot::End => {}
        }
    }

    fn asking_phase(&self, asker: Option<usize>) -> Option<PhaseIx> {
        match asker.and_then(|asker| self.spots.get(asker)) {
            Some(Spot::Phase(ix)) => Some(*ix),
            Some(_) | None => None,
        }
    }

    fn reports(&mut self, node: usize, roles: &IxSet) {
        let roles: Vec<usize> = roles.iter().collect();
        for rule in &self.workflow.rules {
            let Source::Roles { roles: sources, .. } = &rule.source else { continue };
            let merging = !rule.speaks_of(Task::Work) && !rule.speaks_of(Task::Consult);
            if merging || !roles.iter().any(|role| sources.contains(*role)) || !is_drawn(self.workflow, rule) {
                continue;
            }
            let speakers = roles.iter().copied().filter(|role| sources.contains(*role)).collect();
            let said = Said::rule(self.workflow, rule, speakers);
            self.lead(node, rule, said);
        }
        for role in roles {
            self.when_blocked(node, RoleIx::new(role));
        }
    }

    fn when_blocked(&mut self, node: usize, role: RoleIx) {
        if let Some(rule) = self.blocked.rule(role).filter(|rule| self.blocked.is_drawn(rule)) {
            let said = Said::rule(self.workflow, rule, std::iter::once(role.index()).collect());
            self.lead(node, rule, said);
        }
    }

    fn merging(&mut self, node: usize) {
        for rule in &self.workflow.rules {
            let only_merge = !rule.speaks_of(Task::Work) && !rule.speaks_of(Task::Consult);
            if only_merge && matches!(rule.source, Source::Roles { .. }) && is_drawn(self.workflow, rule) {
                self.lead(node, rule, Said::rule(self.workflow, rule, IxSet::default()));
            }
        }
    }

    fn gate(&mut self, node: usize, gate: GateIx) {
        for rule in &self.workflow.rules {
            let passed = rule.verb == Verb::Leave || rule.id.ends_with(".pass");
            if rule.source == Source::Gate(gate) && !passed && is_drawn(self.workflow, rule) {
                // A role may spell its own status of this name differently.
                let said = Said::rule(self.workflow, rule, IxSet::default());
                self.lead(node, rule, Said { text: "fail".to_owned(), ..said });
            }
        }
    }

    /// The arrow, or the line in the box, that a rule comes to.
    pub(super) fn lead(&mut self, node: usize, rule: &Rule, said: Said) {
        match rule.verb {
            Verb::Spawn(target) => {
                let kind = if target == Target::Author { EdgeKind::Rework } else { EdgeKind::Forward };
                self.aim(node, target, kind, &said);
            }
            Verb::Respawn(target) => self.aim(node, target, EdgeKind::Rework, &said),
            Verb::Consult(target) => self.aim(node, target, EdgeKind::Consult, &said),
            Verb::Escalate(target) => self.up(node, target, &said),
            Verb::Return => self.inside(node, Mark::Back, said),
            Verb::Merge => {
                for spot in self.merge_spots() {
                    self.arrow(node, spot, EdgeKind::Forward, said.clone());
                }
            }
            Verb::Goto(phase) => {
                let kind = self.way_to(node, phase);
                self.arrow(node, Spot::Phase(phase), kind, said);
            }
            Verb::Start => self.arrow(node, Spot::Groups, EdgeKind::Forward, said),
            Verb::Ask(question) => {
                let asker = self.workflow.has_phases().then_some(node);
                self.ask(node, Spot::Asked(question, asker), question, said);
            }
            Verb::Complete => {
                let spot = self.completing();
                self.arrow(node, spot, EdgeKind::Forward, said);
            }
            Verb::Defer => self.arrow(node, Spot::Deferred, EdgeKind::Forward, said),
            Verb::Validate(role) => {
                let spot = self.spot_of(role);
                self.arrow(node, spot, EdgeKind::Forward, said);
            }
            Verb::End => {
                let spot = self.ending();
                self.arrow(node, spot, EdgeKind::Forward, said);
            }
            Verb::CancelGroup | Verb::CancelSession | Verb::Redo | Verb::Acknowledge => {}
            // The pipeline itself draws these.
            Verb::Join | Verb::Rework(_) | Verb::Leave => {}
        }
    }

    fn aim(&mut self, node: usize, target: Target, kind: EdgeKind, said: &Said) {
        let spots = match target {
            Target::Role(ix) => vec![self.spot_of(ix)],
            Target::Author => self.author_spots(node),
            Target::Reporter => self.spots.get(node).copied().into_iter().collect(),
            Target::Phase(ix) => vec![Spot::Phase(ix)],
            Target::Waiting => {
                self.inside(node, Mark::Back, said.clone());
                Vec::new()
            }
        };
        for spot in spots {
            self.arrow(node, spot, kind, said.clone());
        }
    }

    /// To the next rung of each role that it can concern.
    fn up(&mut self, node: usize, target: Target, said: &Said) {
        let authors = self.workflow.roles.iter().enumerate().filter(|(_, role)| role.author).map(|(index, _)| index);
        let from: Vec<usize> = match target {
            Target::Author => authors.collect(),
            Target::Role(ix) => vec![ix.index()],
            Target::Reporter | Target::Waiting | Target::Phase(_) => said.roles.iter().collect(),
        };
        for role in from.iter().filter_map(|index| self.workflow.roles.get(*index)) {
            match role.escalates_to {
                Some(rung) => {
                    let mut said = said.clone();
                    let spot = self.spot_of(rung);
                    if self.spots.get(node) == Some(&spot) {
                        said.details.push(format!("{} to {}", role.name, self.workflow.role(rung).name));
                        said.roles = IxSet::default();
                    }
                    self.arrow(node, spot, EdgeKind::Escalation, said);
                }
                None => {
                    let asker = self.workflow.has_phases().then_some(node);
                    let stuck = self.workflow.stuck;
                    self.ask(node, Spot::Asked(stuck, asker), stuck, said.clone());
                }
            }
        }
    }

    fn author_spots(&self, node: usize) -> Vec<Spot> {
        let workflow = self.workflow;
        if workflow.has_phases() {
            return stages::author_phases(workflow, self.stage_of(node));
        }
        let author = workflow.roles.iter().position(|role| role.author);
        author.map(|index| self.spot_of(RoleIx::new(index))).into_iter().collect()
    }

    fn merge_spots(&self) -> Vec<Spot> {
        let phases = self.workflow.phases.iter().enumerate();
        let merging: Vec<Spot> = phases
            .filter(|(_, phase)| phase.performer == Performer::Merge)
            .map(|(index, _)| Spot::Phase(PhaseIx::new(index)))
            .collect();
        if merging.is_empty() { vec![Spot::Merge] } else { merging }
    }

    /// Where a group that has all it needs goes.
    pub(super) fn completing(&self) -> Spot {
        self.workflow.completion.gates.first().map_or_else(|| self.completed(), |gate| Spot::Gate(*gate))
    }

    /// Where a session that has all it needs goes.
    pub(super) fn ending(&self) -> Spot {
        self.workflow.completion.session_gates.first().map_or(Spot::End, |gate| Spot::Gate(*gate))
    }

    /// A pipeline that plans no groups has only one: its end is the session's.
    fn completed(&self) -> Spot {
        let planned = self.workflow.phases.iter().any(|phase| phase.plans);
        if planned || !self.workflow.has_phases() { Spot::Completed } else { self.ending() }
    }

    fn after_gate(&self, gate: GateIx) -> Spot {
        let completion = &self.workflow.completion;
        let next = |gates: &[GateIx]| {
            let place = gates.iter().position(|one| *one == gate)?;
            Some(gates.get(place.saturating_add(1)).copied())
        };
        match (next(&completion.gates), next(&completion.session_gates)) {
            (Some(Some(following)), _) | (None, Some(Some(following))) => Spot::Gate(following),
            (Some(None), _) => self.completed(),
            (None, Some(None) | None) => Spot::End,
        }
    }

    fn groups_begin(&mut self, node: usize) {
        for opening in &self.workflow.group_begin {
            let name = self.workflow.role(opening.role).name.to_string();
            let said = Said { text: name, details: self.when(&opening.when), ..Said::default() };
            self.arrow(node, self.spot_of(opening.role), EdgeKind::Forward, said);
        }
    }

    fn groups_ended(&mut self, node: usize) {
        let every = "every group ended";
        for opening in &self.workflow.groups_ended {
            let mut said = Said::detail(every);
            said.details.extend(self.when(&opening.when));
            self.arrow(node, self.spot_of(opening.role), EdgeKind::Forward, said);
        }
        if self.workflow.has_phases() {
            let spot = self.ending();
            self.arrow(node, spot, EdgeKind::Forward, Said::detail(every));
        }
    }
}

/// Is it said of every role, and so in a table?
pub(super) fn is_everywhere(workflow: &Workflow, rule: &Rule) -> bool {
    let lost = rule.status.is_some_and(|status| workflow.is_loss(status));
    let holders = workflow.roles.iter().filter(|role| !role.by_interlock).count();
    let reported = matches!(rule.source, Source::Roles { .. });
    reported && !rule.blocks && (lost || rule.status.is_none() || (holders > 1 && rule.id.starts_with("routes.any.")))
}

/// Limits, settled findings and second choices say nothing that the tables do not.
pub(super) fn is_drawn(workflow: &Workflow, rule: &Rule) -> bool {
    let generated = rule.climbs
        || rule.counted == workflow.loop_named("settled")
        || rule.conditions.iter().any(|condition| {
            matches!(
                condition,
                Condition::Settled
                    | Condition::Completes
                    | Condition::Lacks(_)
                    | Condition::ApprovedAlready
                    | Condition::NothingToDo
            )
        });
    let falls_to_person = rule.id.ends_with("/otherwise") && matches!(rule.verb, Verb::Ask(_));
    !generated && !falls_to_person && !rule.blocks && !is_everywhere(workflow, rule)
}
