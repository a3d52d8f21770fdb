//! Pipelines: stages in order, side by side where they run together.

use super::build::{GraphBuilder, NodeKey};
use super::describe::at_once;
use super::label::LabelDraft;
use super::rules::is_everywhere;
use super::{EdgeKind, label_text};
use crate::workflow::*;

impl GraphBuilder<'_> {
    pub(super) fn pipeline(&mut self) {
        let start = self.node(NodeKey::Start);
        for spot in self.entry(0) {
            self.arrow(start, spot, EdgeKind::Forward, LabelDraft::nothing());
        }
        // Boxes first, so that their order is the pipeline's whatever leads back.
        for (index, stage) in self.workflow.stages.iter().enumerate() {
            for phase in &stage.phases {
                self.node(NodeKey::Phase(*phase));
            }
            if stage.phases.len() > 1 {
                self.node(NodeKey::Join(index));
            }
            for which in 0..stage.checkpoints.len() {
                self.node(NodeKey::Checkpoint(index, which));
            }
        }
        for index in 0..self.workflow.stages.len() {
            self.stage(index);
        }
    }

    fn stage(&mut self, index: usize) {
        let Some(stage) = self.workflow.stages.get(index) else { return };
        let join = (stage.phases.len() > 1).then(|| self.node(NodeKey::Join(index)));
        for phase in &stage.phases {
            let node = self.node(NodeKey::Phase(*phase));
            for said in leaving(self.workflow, *phase) {
                match join {
                    Some(_) => self.arrow(node, NodeKey::Join(index), EdgeKind::Forward, said),
                    None => self.stage_done(node, index, &said),
                }
            }
        }
        let last = join.or_else(|| stage.phases.first().map(|phase| self.node(NodeKey::Phase(*phase))));
        let Some(last) = last else { return };
        if join.is_some() {
            self.stage_done(last, index, &LabelDraft::nothing());
        }
        if let Some(rework) = &stage.rework {
            let open = self.workflow.loop_at(rework.counted).measure.map(label_text::measure);
            let limit = label_text::limit(self.workflow, rework.counted);
            let details = open.map(str::to_owned).into_iter().chain([limit]).collect();
            let said = LabelDraft { details, ..LabelDraft::default() };
            self.arrow(last, NodeKey::Phase(rework.goto), EdgeKind::Rework, said);
        }
    }

    /// To the checkpoints of the stage, or past it.
    fn stage_done(&mut self, node: usize, index: usize, said: &LabelDraft) {
        let checkpoints = self.workflow.stages.get(index).map_or(&[][..], |stage| &stage.checkpoints);
        for (which, checkpoint) in checkpoints.iter().enumerate() {
            self.ask(node, NodeKey::Checkpoint(index, which), checkpoint.question, said.clone());
        }
        if checkpoints.is_empty() {
            self.go_on(node, index, said);
        }
    }

    /// Into the next stage, or to the end.
    pub(super) fn go_on(&mut self, node: usize, index: usize, said: &LabelDraft) {
        let next = index.saturating_add(1);
        let scope = |index: usize| self.workflow.stages.get(index).map(|stage| stage.per_session);
        let mut said = said.clone();
        match (scope(index), scope(next)) {
            (Some(true), Some(false)) => said.details.push("each group".to_owned()),
            (Some(false), Some(true)) => said.details.push("every group is there".to_owned()),
            (Some(true), Some(true) | None) | (Some(false), Some(false) | None) | (None, Some(_) | None) => {}
        }
        for spot in self.entry(next) {
            self.arrow(node, spot, EdgeKind::Forward, said.clone());
        }
    }

    fn entry(&self, index: usize) -> Vec<NodeKey> {
        match self.workflow.stages.get(index) {
            Some(stage) => stage.phases.iter().map(|phase| NodeKey::Phase(*phase)).collect(),
            None => vec![self.completing()],
        }
    }

    /// The stage that a box belongs to or asks for.
    pub(super) fn stage_of(&self, node: usize) -> Option<usize> {
        match self.spots.get(node)? {
            NodeKey::Phase(ix) => Some(self.workflow.phase(*ix).stage),
            NodeKey::Join(stage) | NodeKey::Checkpoint(stage, _) => Some(*stage),
            NodeKey::Asked(_, asker) => asker.filter(|asker| *asker < node).and_then(|asker| self.stage_of(asker)),
            NodeKey::Start
            | NodeKey::Role(_)
            | NodeKey::Authors
            | NodeKey::Gate(_)
            | NodeKey::Merge
            | NodeKey::Groups
            | NodeKey::Completed
            | NodeKey::Deferred
            | NodeKey::End => None,
        }
    }

    pub(super) fn way_to(&self, node: usize, phase: PhaseIx) -> EdgeKind {
        let target = self.workflow.phase(phase).stage;
        if self.stage_of(node).is_some_and(|stage| stage < target) { EdgeKind::Forward } else { EdgeKind::Rework }
    }
}

/// The statuses that end a phase. Statuses that every role reports for it are not repeated.
fn leaving(workflow: &Workflow, phase: PhaseIx) -> Vec<LabelDraft> {
    let roles = roles_of(workflow, phase);
    let performer = &workflow.phase(phase).performer;
    let mut said = Vec::new();
    for rule in &workflow.rules {
        let leaves = rule.phase == Some(phase) && rule.verb == RuleVerb::Leave && !rule.climbs;
        let own = match (&rule.source, performer) {
            (RuleSource::Roles { roles: sources, .. }, PhasePerformer::Role(_) | PhasePerformer::ByDomain(_)) => {
                roles.iter().any(|role| sources.contains(role))
            }
            (RuleSource::Roles { .. }, PhasePerformer::Merge) => true,
            (RuleSource::Gate(ix), PhasePerformer::Gate(gate)) => ix == gate,
            (RuleSource::Roles { .. }, PhasePerformer::Gate(_))
            | (RuleSource::Gate(_), PhasePerformer::Role(_) | PhasePerformer::ByDomain(_) | PhasePerformer::Merge)
            | (RuleSource::Question(_), _) => false,
        };
        if leaves && own && !is_everywhere(workflow, rule) {
            said.push(LabelDraft::rule(workflow, rule, IndexBitSet::default()));
        }
    }
    if said.is_empty() {
        said.push(LabelDraft::nothing());
    }
    said
}

pub(super) fn roles_of(workflow: &Workflow, phase: PhaseIx) -> IndexBitSet {
    match &workflow.phase(phase).performer {
        PhasePerformer::Role(ix) => std::iter::once(ix.index()).collect(),
        PhasePerformer::ByDomain(roles) => roles.iter().flatten().map(|ix| ix.index()).collect(),
        PhasePerformer::Gate(_) | PhasePerformer::Merge => IndexBitSet::default(),
    }
}

/// The last phase of an author before a stage, or the first there is.
pub(super) fn author_phases(workflow: &Workflow, before: Option<usize>) -> Vec<NodeKey> {
    let is_author = |ix: usize| workflow.roles.get(ix).is_some_and(|role| role.author);
    let phases = (0..workflow.phases.len()).map(PhaseIx::new);
    let authors: Vec<PhaseIx> = phases.filter(|ix| roles_of(workflow, *ix).iter().any(is_author)).collect();
    let earlier = authors.iter().rev().find(|ix| before.is_none_or(|stage| workflow.phase(**ix).stage <= stage));
    earlier.or(authors.first()).map(|ix| NodeKey::Phase(*ix)).into_iter().collect()
}

/// Neighbouring stages of one scope. A pipeline without a stage of the session needs none.
pub(super) fn lanes(workflow: &Workflow) -> Vec<String> {
    let scopes = runs(workflow);
    if !scopes.contains(&true) {
        return Vec::new();
    }
    let each_group = format!("each group, {}", at_once(workflow));
    scopes
        .iter()
        .map(|per_session| if *per_session { "once in the session".to_owned() } else { each_group.clone() })
        .collect()
}

fn runs(workflow: &Workflow) -> Vec<bool> {
    let mut scopes: Vec<bool> = workflow.stages.iter().map(|stage| stage.per_session).collect();
    scopes.dedup();
    scopes
}

pub(super) fn lane(workflow: &Workflow, stage: usize) -> Option<usize> {
    if !runs(workflow).contains(&true) {
        return None;
    }
    let mut scopes: Vec<bool> =
        workflow.stages.iter().take(stage.saturating_add(1)).map(|stage| stage.per_session).collect();
    scopes.dedup();
    scopes.len().checked_sub(1)
}

/// The lane of the ends of groups; `None` if the last stage is one of the session.
pub(super) fn last_lane(workflow: &Workflow) -> Option<usize> {
    let last = workflow.stages.len().checked_sub(1)?;
    let per_group = workflow.stages.get(last).is_some_and(|stage| !stage.per_session);
    lane(workflow, last).filter(|_| per_group)
}
