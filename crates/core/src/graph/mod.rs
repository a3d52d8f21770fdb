//! A workflow as a picture: what stands where, and what leads to what.
//!
//! The picture is for people, so it says less than the rules do. What holds
//! everywhere (lost handoffs, unknown statuses, the table of blocked work, limits
//! and ladders) stands in tables beside it and not in a hundred arrows; a passage
//! that comes back to where it began is a line in its own box. How it looks is
//! up to whoever draws it.

mod answers;
mod blocked;
mod build;
mod describe;
mod label;
mod rules;
mod stages;
mod tables;
mod words;

use crate::workflow::Workflow;

/// More lines than this on one arrow are counted and not shown.
pub const MOST_LABELS: usize = 5;

/// What the picture shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    pub name: String,
    pub about: Option<String>,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// Stretches of a pipeline, from first to last.
    pub lanes: Vec<String>,
    pub tables: Vec<Table>,
}

impl Graph {
    /// Stages in order, and not roles.
    pub fn is_pipeline(&self) -> bool {
        self.nodes.iter().any(|node| node.kind == NodeKind::Phase)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Letters, digits and underscores only, and no other node has it.
    pub id: String,
    pub kind: NodeKind,
    pub title: String,
    pub lines: Vec<Line>,
    /// Left out unless its condition holds.
    pub optional: bool,
    /// Which of the graph's lanes it stands in.
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
pub struct Line {
    pub mark: Mark,
    pub label: Label,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// About the box itself.
    Note,
    /// The same work once more.
    Again,
    /// Back to whoever asked.
    Back,
    /// One rung up, inside the box.
    Up,
    /// The end of the group or the session without completion.
    Stop,
}

impl Mark {
    /// A sign that every common font has.
    pub fn sign(self) -> &'static str {
        match self {
            Mark::Note => "",
            Mark::Again => "↻",
            Mark::Back => "←",
            Mark::Up => "↑",
            Mark::Stop => "×",
        }
    }

    /// What a legend says of it.
    pub fn meaning(self) -> &'static str {
        match self {
            Mark::Note => "about the box itself",
            Mark::Again => "the same work once more",
            Mark::Back => "back to whoever asked",
            Mark::Up => "escalates",
            Mark::Stop => "ends without completion",
        }
    }
}

/// A status or an option, and what goes with it: `FAIL`, `qa ≤5`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    /// As it stands in the file; empty where nobody reports anything.
    pub text: String,
    pub detail: String,
}

impl Label {
    fn detail(text: impl Into<String>) -> Self {
        Self { text: String::new(), detail: text.into() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub kind: EdgeKind,
    pub labels: Vec<Label>,
    /// Labels that are left out.
    pub more: usize,
    /// The answer comes back the same way.
    pub returns: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    Forward,
    /// Back to whoever did the work.
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

    /// What a legend says of it.
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

/// What holds everywhere, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub title: String,
    /// What, and what of it; the first may be empty.
    pub rows: Vec<(String, String)>,
}

/// The picture of a workflow: its pipeline, or else its roles.
pub fn graph(workflow: &Workflow) -> Graph {
    let mut builder = build::Builder::new(workflow);
    if workflow.has_phases() {
        builder.pipeline();
    } else {
        builder.roles();
    }
    builder.follow();
    let (nodes, edges) = builder.finish();
    Graph {
        name: workflow.name.to_string(),
        about: workflow.about.as_ref().map(ToString::to_string),
        nodes,
        edges,
        lanes: stages::lanes(workflow),
        tables: tables::tables(workflow),
    }
}
