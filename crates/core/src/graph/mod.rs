//! A workflow as a diagram: its boxes, and the arrows between them.
//!
//! The diagram is for people, so it shows less than the rules. Facts that hold everywhere (lost handoffs, unknown
//! statuses, the table of blocked work, limits and escalation paths) are in tables beside it and not in a hundred
//! arrows. A transition that leads back to its own box is a line in that box. The renderer decides how the diagram
//! looks.

mod answers;
mod blocked;
mod build;
mod describe;
mod label;
mod label_text;
mod rules;
mod stages;
mod tables;

use crate::workflow::Workflow;

/// More lines than this on one arrow are counted and not shown.
pub const MOST_LABELS: usize = 5;

/// The content of the diagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowGraph {
    pub name: String,
    pub about: Option<String>,
    pub nodes: Vec<GraphNode>,
    pub edges: Vec<GraphEdge>,
    /// Stretches of a pipeline, from first to last.
    pub lanes: Vec<String>,
    pub tables: Vec<GraphTable>,
}

impl WorkflowGraph {
    /// Stages in order, and not roles.
    pub fn is_pipeline(&self) -> bool {
        self.nodes.iter().any(|node| node.kind == NodeKind::Phase)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// Letters, digits and underscores only, and no other node has it.
    pub id: String,
    pub kind: NodeKind,
    pub title: String,
    pub lines: Vec<NodeLine>,
    /// Left out unless its condition holds.
    pub optional: bool,
    /// The graph's lane that the box belongs to.
    pub lane: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeKind {
    Start,
    /// One role that agents hold.
    Role,
    /// The roles that can be author, as one.
    Authors,
    /// A role that Interlock plays itself.
    Validator,
    Phase,
    /// A command that Interlock runs.
    Gate,
    Merge,
    /// Something a person is asked.
    Question,
    /// Where phases that run side by side meet.
    Join,
    /// Where the groups start.
    Groups,
    GroupCompleted,
    GroupDeferred,
    SessionCompleted,
}

/// One line inside a box.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeLine {
    pub mark: NodeLineMark,
    pub label: GraphLabel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeLineMark {
    /// About the box itself.
    Note,
    /// The same work once more.
    Again,
    /// Back to the role that asked.
    Back,
    /// The escalation, inside the box.
    Up,
    /// The end of the group or the session without completion.
    Stop,
}

impl NodeLineMark {
    /// A sign that every common font has.
    pub fn sign(self) -> &'static str {
        match self {
            NodeLineMark::Note => "",
            NodeLineMark::Again => "↻",
            NodeLineMark::Back => "←",
            NodeLineMark::Up => "↑",
            NodeLineMark::Stop => "×",
        }
    }

    /// The entry of this sign in a legend.
    pub fn meaning(self) -> &'static str {
        match self {
            NodeLineMark::Note => "about the box itself",
            NodeLineMark::Again => "the same work once more",
            NodeLineMark::Back => "back to whoever asked",
            NodeLineMark::Up => "escalates",
            NodeLineMark::Stop => "ends without completion",
        }
    }
}

/// A status or an option, and what goes with it: `FAIL`, `qa ≤5`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GraphLabel {
    /// As written in the file; empty where no report is needed.
    pub text: String,
    pub detail: String,
}

impl GraphLabel {
    fn detail(text: impl Into<String>) -> Self {
        Self { text: String::new(), detail: text.into() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphEdge {
    pub from: usize,
    pub to: usize,
    pub kind: EdgeKind,
    pub labels: Vec<GraphLabel>,
    /// Labels that are left out.
    pub more: usize,
    /// The answer comes back the same way.
    pub returns: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    Forward,
    /// Back to the role that did the work.
    Rework,
    /// Asks another role, and waits.
    Consult,
    Escalation,
    /// Asks a person.
    Question,
}

impl EdgeKind {
    pub const ALL: [EdgeKind; 5] =
        [EdgeKind::Forward, EdgeKind::Rework, EdgeKind::Consult, EdgeKind::Escalation, EdgeKind::Question];

    /// The entry of this kind of arrow in a legend.
    pub fn meaning(self) -> &'static str {
        match self {
            EdgeKind::Forward => "goes on to",
            EdgeKind::Rework => "goes back to",
            EdgeKind::Consult => "asks and waits for the answer",
            EdgeKind::Escalation => "escalates",
            EdgeKind::Question => "asks a person",
        }
    }
}

/// Facts that hold everywhere, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphTable {
    pub title: String,
    /// The subject and the fact about it; the subject may be empty.
    pub rows: Vec<(String, String)>,
}

/// The picture of a workflow: its pipeline, or else its roles.
pub fn graph(workflow: &Workflow) -> WorkflowGraph {
    let mut builder = build::GraphBuilder::new(workflow);
    if workflow.has_phases() {
        builder.pipeline();
    } else {
        builder.roles();
    }
    builder.follow();
    let (nodes, edges) = builder.finish();
    WorkflowGraph {
        name: workflow.name.to_string(),
        about: workflow.about.as_ref().map(ToString::to_string),
        nodes,
        edges,
        lanes: stages::lanes(workflow),
        tables: tables::tables(workflow),
    }
}
