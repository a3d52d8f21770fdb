//! From rules to arrows.

use super::build::{GraphBuilder, NodeKey};
use super::label::LabelDraft;
use super::{EdgeKind, NodeLineMark, stages};
use crate::workflow::*;

impl GraphBuilder<'_> {
    /// Draws what leaves a box.
    pub(super) fn look_into(&mut self, node: usize, spot: NodeKey) {
        match spot {
            NodeKey::Role(ix) => self.reports(node, &std::iter::once(ix.index()).collect()),
            NodeKey::Authors => {
                let authors = self.workflow.roles.iter().enumerate().filter(|(_, role)| role.author);
                self.reports(node, &authors.map(|(index, _)| index).collect());
            }
            NodeKey::Phase(ix) => match &self.workflow.phase(ix).performer {
                PhasePerformer::Role(_) | PhasePerformer::ByDomain(_) => {
                    self.reports(node, &stages::roles_of(self.workflow, ix));
                }
                PhasePerformer::Gate(gate) => self.gate(node, *gate),
                PhasePerformer::Merge => self.merging(node),
            },
            NodeKey::Gate(ix) => {
                self.gate(node, ix);
                let next = self.after_gate(ix);
                self.arrow(
                    node,
                    next,
                    EdgeKind::Forward,
                    LabelDraft { text: "pass".to_owned(), ..LabelDraft::default() },
                );
            }
            NodeKey::Merge => self.merging(node),
            NodeKey::Asked(question, asker) => self.answers(node, question, self.asking_phase(asker)),
            NodeKey::Checkpoint(stage, which) => self.checkpoint_answers(node, stage, which),
            NodeKey::Groups => self.groups_begin(node),
            NodeKey::Completed => self.groups_ended(node),
            NodeKey::Start | NodeKey::Join(_) | NodeKey::Deferred | NodeKey::End => {}
        }
    }

    fn asking_phase(&self, asker: Option<usize>) -> Option<PhaseIx> {
        match asker.and_then(|asker| self.spots.get(asker)) {
            Some(NodeKey::Phase(ix)) => Some(*ix),
            Some(_) | None => None,
        }
    }

    fn reports(&mut self, node: usize, roles: &IndexBitSet) {
        let roles: Vec<usize> = roles.iter().collect();
        for rule in &self.workflow.rules {
            let RuleSource::Roles { roles: sources, .. } = &rule.source else { continue };
            let merging = !rule.speaks_of(AssignmentTask::Work) && !rule.speaks_of(AssignmentTask::Consult);
            if merging || !roles.iter().any(|role| sources.contains(*role)) || !is_drawn(self.workflow, rule) {
                continue;
            }
            let speakers = roles.iter().copied().filter(|role| sources.contains(*role)).collect();
            let said = LabelDraft::rule(self.workflow, rule, speakers);
            self.lead(node, rule, said);
        }
        for role in roles {
            self.when_blocked(node, RoleIx::new(role));
        }
    }

    fn when_blocked(&mut self, node: usize, role: RoleIx) {
        if let Some(rule) = self.blocked.rule(role).filter(|rule| self.blocked.is_drawn(rule)) {
            let said = LabelDraft::rule(self.workflow, rule, std::iter::once(role.index()).collect());
            self.lead(node, rule, said);
        }
    }

    fn merging(&mut self, node: usize) {
        for rule in &self.workflow.rules {
            let only_merge = !rule.speaks_of(AssignmentTask::Work) && !rule.speaks_of(AssignmentTask::Consult);
            if only_merge && matches!(rule.source, RuleSource::Roles { .. }) && is_drawn(self.workflow, rule) {
                self.lead(node, rule, LabelDraft::rule(self.workflow, rule, IndexBitSet::default()));
            }
        }
    }

    fn gate(&mut self, node: usize, gate: GateIx) {
        for rule in &self.workflow.rules {
            let passed = rule.verb == RuleVerb::Leave || rule.id.ends_with(".pass");
            if rule.source == RuleSource::Gate(gate) && !passed && is_drawn(self.workflow, rule) {
                // A role may spell its own status of this name differently.
                let said = LabelDraft::rule(self.workflow, rule, IndexBitSet::default());
                self.lead(node, rule, LabelDraft { text: "fail".to_owned(), ..said });
            }
        }
    }

    /// The arrow, or the line in the box, that a rule comes to.
    pub(super) fn lead(&mut self, node: usize, rule: &Rule, said: LabelDraft) {
        match rule.verb {
            RuleVerb::Spawn(target) => {
                let kind = if target == RoleTarget::Author { EdgeKind::Rework } else { EdgeKind::Forward };
                self.aim(node, target, kind, &said);
            }
            RuleVerb::Respawn(target) => self.aim(node, target, EdgeKind::Rework, &said),
            RuleVerb::Consult(target) => self.aim(node, target, EdgeKind::Consult, &said),
            RuleVerb::Escalate(target) => self.up(node, target, &said),
            RuleVerb::Return => self.inside(node, NodeLineMark::Back, said),
            RuleVerb::Merge => {
                for spot in self.merge_spots() {
                    self.arrow(node, spot, EdgeKind::Forward, said.clone());
                }
            }
            RuleVerb::Goto(phase) => {
                let kind = self.way_to(node, phase);
                self.arrow(node, NodeKey::Phase(phase), kind, said);
            }
            RuleVerb::Start => self.arrow(node, NodeKey::Groups, EdgeKind::Forward, said),
            RuleVerb::Ask(question) => {
                let asker = self.workflow.has_phases().then_some(node);
                self.ask(node, NodeKey::Asked(question, asker), question, said);
            }
            RuleVerb::Complete => {
                let spot = self.completing();
                self.arrow(node, spot, EdgeKind::Forward, said);
            }
            RuleVerb::Defer => self.arrow(node, NodeKey::Deferred, EdgeKind::Forward, said),
            RuleVerb::Validate(role) => {
                let spot = self.spot_of(role);
                self.arrow(node, spot, EdgeKind::Forward, said);
            }
            RuleVerb::End => {
                let spot = self.ending();
                self.arrow(node, spot, EdgeKind::Forward, said);
            }
            RuleVerb::CancelGroup | RuleVerb::CancelSession | RuleVerb::Redo | RuleVerb::Acknowledge => {}
            // The pipeline itself draws these.
            RuleVerb::Join | RuleVerb::Rework(_) | RuleVerb::Leave => {}
        }
    }

    fn aim(&mut self, node: usize, target: RoleTarget, kind: EdgeKind, said: &LabelDraft) {
        let spots = match target {
            RoleTarget::Role(ix) => vec![self.spot_of(ix)],
            RoleTarget::Author => self.author_spots(node),
            RoleTarget::Reporter => self.spots.get(node).copied().into_iter().collect(),
            RoleTarget::Phase(ix) => vec![NodeKey::Phase(ix)],
            RoleTarget::Waiting => {
                self.inside(node, NodeLineMark::Back, said.clone());
                Vec::new()
            }
        };
        for spot in spots {
            self.arrow(node, spot, kind, said.clone());
        }
    }

    /// Draws an arrow to the next role on the escalation path of each role that the rule can concern.
    fn up(&mut self, node: usize, target: RoleTarget, said: &LabelDraft) {
        let authors = self.workflow.roles.iter().enumerate().filter(|(_, role)| role.author).map(|(index, _)| index);
        let from: Vec<usize> = match target {
            RoleTarget::Author => authors.collect(),
            RoleTarget::Role(ix) => vec![ix.index()],
            RoleTarget::Reporter | RoleTarget::Waiting | RoleTarget::Phase(_) => said.roles.iter().collect(),
        };
        for role in from.iter().filter_map(|index| self.workflow.roles.get(*index)) {
            match role.escalates_to {
                Some(rung) => {
                    let mut said = said.clone();
                    let spot = self.spot_of(rung);
                    if self.spots.get(node) == Some(&spot) {
                        said.details.push(format!("{} to {}", role.name, self.workflow.role(rung).name));
                        said.roles = IndexBitSet::default();
                    }
                    self.arrow(node, spot, EdgeKind::Escalation, said);
                }
                None => {
                    let asker = self.workflow.has_phases().then_some(node);
                    let stuck = self.workflow.stuck;
                    self.ask(node, NodeKey::Asked(stuck, asker), stuck, said.clone());
                }
            }
        }
    }

    fn author_spots(&self, node: usize) -> Vec<NodeKey> {
        let workflow = self.workflow;
        if workflow.has_phases() {
            return stages::author_phases(workflow, self.stage_of(node));
        }
        let author = workflow.roles.iter().position(|role| role.author);
        author.map(|index| self.spot_of(RoleIx::new(index))).into_iter().collect()
    }

    fn merge_spots(&self) -> Vec<NodeKey> {
        let phases = self.workflow.phases.iter().enumerate();
        let merging: Vec<NodeKey> = phases
            .filter(|(_, phase)| phase.performer == PhasePerformer::Merge)
            .map(|(index, _)| NodeKey::Phase(PhaseIx::new(index)))
            .collect();
        if merging.is_empty() { vec![NodeKey::Merge] } else { merging }
    }

    /// Where a group that has all it needs goes.
    pub(super) fn completing(&self) -> NodeKey {
        self.workflow.completion.gates.first().map_or_else(|| self.completed(), |gate| NodeKey::Gate(*gate))
    }

    /// Where a session that has all it needs goes.
    pub(super) fn ending(&self) -> NodeKey {
        self.workflow.completion.session_gates.first().map_or(NodeKey::End, |gate| NodeKey::Gate(*gate))
    }

    /// A pipeline that plans no groups has only one: its end is the session's.
    fn completed(&self) -> NodeKey {
        let planned = self.workflow.phases.iter().any(|phase| phase.plans);
        if planned || !self.workflow.has_phases() { NodeKey::Completed } else { self.ending() }
    }

    fn after_gate(&self, gate: GateIx) -> NodeKey {
        let completion = &self.workflow.completion;
        let next = |gates: &[GateIx]| {
            let place = gates.iter().position(|one| *one == gate)?;
            Some(gates.get(place.saturating_add(1)).copied())
        };
        match (next(&completion.gates), next(&completion.session_gates)) {
            (Some(Some(following)), _) | (None, Some(Some(following))) => NodeKey::Gate(following),
            (Some(None), _) => self.completed(),
            (None, Some(None) | None) => NodeKey::End,
        }
    }

    fn groups_begin(&mut self, node: usize) {
        for opening in &self.workflow.group_begin {
            let name = self.workflow.role(opening.role).name.to_string();
            let said = LabelDraft { text: name, details: self.when(&opening.when), ..LabelDraft::default() };
            self.arrow(node, self.spot_of(opening.role), EdgeKind::Forward, said);
        }
    }

    fn groups_ended(&mut self, node: usize) {
        let every = "every group ended";
        for opening in &self.workflow.groups_ended {
            let mut said = LabelDraft::detail(every);
            said.details.extend(self.when(&opening.when));
            self.arrow(node, self.spot_of(opening.role), EdgeKind::Forward, said);
        }
        if self.workflow.has_phases() {
            let spot = self.ending();
            self.arrow(node, spot, EdgeKind::Forward, LabelDraft::detail(every));
        }
    }
}

/// Does the rule hold for every role, so that it belongs in a table?
pub(super) fn is_everywhere(workflow: &Workflow, rule: &Rule) -> bool {
    let lost = rule.status.is_some_and(|status| workflow.is_loss(status));
    let holders = workflow.roles.iter().filter(|role| !role.by_interlock).count();
    let reported = matches!(rule.source, RuleSource::Roles { .. });
    reported && !rule.blocks && (lost || rule.status.is_none() || (holders > 1 && rule.id.starts_with("routes.any.")))
}

/// Limits, settled findings and second choices say nothing that the tables do not.
pub(super) fn is_drawn(workflow: &Workflow, rule: &Rule) -> bool {
    let generated = rule.climbs
        || rule.counted == workflow.loop_named("settled")
        || rule.conditions.iter().any(|condition| {
            matches!(
                condition,
                RuleCondition::Settled
                    | RuleCondition::Completes
                    | RuleCondition::Lacks(_)
                    | RuleCondition::ApprovedAlready
                    | RuleCondition::NothingToDo
            )
        });
    let falls_to_person = rule.id.ends_with("/otherwise") && matches!(rule.verb, RuleVerb::Ask(_));
    !generated && !falls_to_person && !rule.blocks && !is_everywhere(workflow, rule)
}
