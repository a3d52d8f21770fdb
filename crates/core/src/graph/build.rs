//! Boxes and arrows, made on demand and merged.

use std::collections::{BTreeMap, BTreeSet};

use super::blocked::BlockedRules;
use super::describe::describe;
use super::label::{self, LabelDraft};
use super::{EdgeKind, GraphEdge, GraphLabel, GraphNode, NodeKind, NodeLine, NodeLineMark, label_text, stages};
use crate::workflow::*;

/// The identity of a box; each has one box.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum NodeKey {
    Start,
    Role(RoleIx),
    Authors,
    Phase(PhaseIx),
    /// After the phases of this stage.
    Join(usize),
    /// The stage, and which of its checkpoints.
    Checkpoint(usize, usize),
    /// In a pipeline also which box asks: where the answer leads depends on it.
    Asked(QuestionIx, Option<usize>),
    Gate(GateIx),
    Merge,
    Groups,
    Completed,
    Deferred,
    End,
}

#[derive(Default)]
struct EdgeDraft {
    said: Vec<LabelDraft>,
    returns: bool,
}

pub(super) struct GraphBuilder<'a> {
    pub(super) workflow: &'a Workflow,
    pub(super) blocked: BlockedRules<'a>,
    /// Authors as one box: work goes back to whichever of them did it.
    one_author_box: bool,
    nodes: Vec<GraphNode>,
    pub(super) spots: Vec<NodeKey>,
    index: BTreeMap<NodeKey, usize>,
    arrows: BTreeMap<(usize, usize, EdgeKind), EdgeDraft>,
    /// Arrows in the order in which they were first drawn.
    drawn: Vec<(usize, usize, EdgeKind)>,
    inside: BTreeMap<(usize, NodeLineMark), Vec<LabelDraft>>,
    ids: BTreeSet<String>,
}

impl<'a> GraphBuilder<'a> {
    pub(super) fn new(workflow: &'a Workflow) -> Self {
        let authors = workflow.roles.iter().filter(|role| role.author).count();
        Self {
            workflow,
            blocked: BlockedRules::new(workflow),
            one_author_box: authors > 1 && !workflow.has_phases(),
            nodes: Vec::new(),
            spots: Vec::new(),
            index: BTreeMap::new(),
            arrows: BTreeMap::new(),
            drawn: Vec::new(),
            inside: BTreeMap::new(),
            ids: BTreeSet::new(),
        }
    }

    /// Where a role that gets work or is asked stands.
    pub(super) fn spot_of(&self, role: RoleIx) -> NodeKey {
        if self.one_author_box && self.workflow.role(role).author { NodeKey::Authors } else { NodeKey::Role(role) }
    }

    /// The session's roles, from the first on. The rest is found by following what they report.
    pub(super) fn roles(&mut self) {
        for opening in &self.workflow.begin {
            let start = self.node(NodeKey::Start);
            let said = LabelDraft { details: self.when(&opening.when), ..LabelDraft::default() };
            self.arrow(start, self.spot_of(opening.role), EdgeKind::Forward, said);
        }
    }

    /// Looks into every box once, and into those that this brings; then adds roles that nothing leads to.
    pub(super) fn follow(&mut self) {
        let mut next = 0usize;
        loop {
            while let Some(spot) = self.spots.get(next).copied() {
                self.look_into(next, spot);
                next = next.saturating_add(1);
            }
            let roles = (0..self.workflow.roles.len()).map(RoleIx::new);
            let lost = roles.map(|ix| self.spot_of(ix)).find(|spot| !self.index.contains_key(spot));
            match lost {
                Some(spot) if !self.workflow.has_phases() => self.node(spot),
                Some(_) | None => return,
            };
        }
    }

    pub(super) fn when(&self, tests: &[GuardTest]) -> Vec<String> {
        label_text::when(self.workflow, tests).into_iter().collect()
    }

    pub(super) fn node(&mut self, spot: NodeKey) -> usize {
        if let Some(index) = self.index.get(&spot) {
            return *index;
        }
        let index = self.nodes.len();
        let mut node = describe(self.workflow, spot, &self.nodes);
        node.id = self.free_id(&node);
        self.nodes.push(node);
        self.spots.push(spot);
        self.index.insert(spot, index);
        index
    }

    pub(super) fn arrow(&mut self, from: usize, to: NodeKey, kind: EdgeKind, said: LabelDraft) {
        let to = self.node(to);
        if from == to {
            let mark = if kind == EdgeKind::Escalation { NodeLineMark::Up } else { NodeLineMark::Again };
            self.inside(from, mark, said);
            return;
        }
        let key = (from, to, kind);
        if !self.arrows.contains_key(&key) {
            self.drawn.push(key);
        }
        let arrow = self.arrows.entry(key).or_default();
        arrow.returns |= kind == EdgeKind::Consult;
        label::add(&mut arrow.said, said);
    }

    /// The answer to a question along this arrow comes back the same way.
    pub(super) fn returns(&mut self, from: usize, to: NodeKey, kind: EdgeKind) {
        let to = self.node(to);
        if let Some(arrow) = self.arrows.get_mut(&(from, to, kind)) {
            arrow.returns = true;
        }
    }

    pub(super) fn inside(&mut self, node: usize, mark: NodeLineMark, said: LabelDraft) {
        label::add(self.inside.entry((node, mark)).or_default(), said);
    }

    fn free_id(&mut self, node: &GraphNode) -> String {
        let letters = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
        let name: String = node.title.chars().take(40).map(letters).collect();
        let id = format!("{}_{name}", prefix(node.kind));
        let mut count = 1usize;
        let mut free = id.clone();
        while !self.ids.insert(free.clone()) {
            count = count.saturating_add(1);
            free = format!("{id}_{count}");
        }
        free
    }

    fn members(&self, node: usize) -> IndexBitSet {
        let workflow = self.workflow;
        match self.spots.get(node) {
            Some(NodeKey::Authors) => {
                workflow.roles.iter().enumerate().filter(|(_, role)| role.author).map(|(index, _)| index).collect()
            }
            Some(NodeKey::Phase(ix)) => stages::roles_of(workflow, *ix),
            Some(
                NodeKey::Start
                | NodeKey::Role(_)
                | NodeKey::Join(_)
                | NodeKey::Checkpoint(..)
                | NodeKey::Asked(..)
                | NodeKey::Gate(_)
                | NodeKey::Merge
                | NodeKey::Groups
                | NodeKey::Completed
                | NodeKey::Deferred
                | NodeKey::End,
            )
            | None => IndexBitSet::default(),
        }
    }

    pub(super) fn finish(mut self) -> (Vec<GraphNode>, Vec<GraphEdge>) {
        for ((index, mark), said) in std::mem::take(&mut self.inside) {
            let (labels, more) = label::finish(self.workflow, &self.members(index), said);
            let Some(node) = self.nodes.get_mut(index) else { continue };
            // A label without text is about all of them at once, so it is a note and no transition of its own.
            let mark_of = |label: &GraphLabel| if label.text.is_empty() { NodeLineMark::Note } else { mark };
            node.lines.extend(labels.into_iter().map(|label| NodeLine { mark: mark_of(&label), label }));
            if more > 0 {
                node.lines
                    .push(NodeLine { mark: NodeLineMark::Note, label: GraphLabel::detail(format!("+{more} more")) });
            }
        }
        let mut edges = Vec::new();
        for key in std::mem::take(&mut self.drawn) {
            let (from, to, kind) = key;
            let Some(arrow) = self.arrows.remove(&key) else { continue };
            let (labels, more) = label::finish(self.workflow, &self.members(from), arrow.said);
            edges.push(GraphEdge { from, to, kind, labels, more, returns: arrow.returns });
        }
        (self.nodes, edges)
    }
}

/// Keeps ids apart from each other and from the words of drawing languages.
fn prefix(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Start => "begin",
        NodeKind::Role => "role",
        NodeKind::Authors => "roles",
        NodeKind::Validator => "validator",
        NodeKind::Phase => "phase",
        NodeKind::Gate => "gate",
        NodeKind::Merge => "merge",
        NodeKind::Question => "ask",
        NodeKind::Join => "join",
        NodeKind::Groups => "fan",
        NodeKind::GroupCompleted | NodeKind::GroupDeferred | NodeKind::SessionCompleted => "done",
    }
}
