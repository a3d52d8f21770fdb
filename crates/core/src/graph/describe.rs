//! The text inside each box.

use super::build::NodeKey;
use super::{GraphLabel, GraphNode, NodeKind, NodeLine, NodeLineMark, label_text, stages};
use crate::workflow::*;

/// More members than this are counted in the box and not listed.
const MOST_MEMBERS: usize = 8;

/// `others` are the boxes so far: a question stands where its asker does.
pub(super) fn describe(workflow: &Workflow, spot: NodeKey, others: &[GraphNode]) -> GraphNode {
    match spot {
        NodeKey::Start => node(NodeKind::Start, "start", Vec::new()),
        NodeKey::Role(ix) => role(workflow.role(ix)),
        NodeKey::Authors => node(NodeKind::Authors, "author", authors(workflow)),
        NodeKey::Phase(ix) => phase(workflow, workflow.phase(ix)),
        NodeKey::Join(stage) => {
            GraphNode { lane: stages::lane(workflow, stage), ..node(NodeKind::Join, "all done", Vec::new()) }
        }
        NodeKey::Checkpoint(stage, which) => checkpoint(workflow, stage, which),
        NodeKey::Asked(ix, asker) => {
            let lane = asker.and_then(|asker| others.get(asker)).and_then(|node| node.lane);
            GraphNode { lane, ..node(NodeKind::Question, &workflow.question(ix).name, vec![a_person()]) }
        }
        NodeKey::Gate(ix) => {
            let of_group = workflow.completion.gates.contains(&ix);
            let lane = stages::last_lane(workflow).filter(|_| of_group);
            let gate = workflow.gate(ix);
            GraphNode { lane, ..node(NodeKind::Gate, &gate.name, vec![runs(gate)]) }
        }
        NodeKey::Merge => node(NodeKind::Merge, "merge", vec![GraphLabel::detail("by the author")]),
        NodeKey::Groups => node(NodeKind::Groups, "groups", vec![GraphLabel::detail(at_once(workflow))]),
        NodeKey::Completed => GraphNode {
            lane: stages::last_lane(workflow),
            ..node(NodeKind::GroupCompleted, "group completed", Vec::new())
        },
        NodeKey::Deferred => node(NodeKind::GroupDeferred, "group deferred", vec![GraphLabel::detail("not completed")]),
        NodeKey::End => node(NodeKind::SessionCompleted, "session completed", Vec::new()),
    }
}

fn node(kind: NodeKind, title: &str, notes: Vec<GraphLabel>) -> GraphNode {
    GraphNode {
        id: String::new(),
        kind,
        title: title.to_owned(),
        lines: notes.into_iter().map(|label| NodeLine { mark: NodeLineMark::Note, label }).collect(),
        optional: false,
        lane: None,
    }
}

fn a_person() -> GraphLabel {
    GraphLabel::detail("a person")
}

fn named(role: &Role) -> GraphLabel {
    GraphLabel { text: role.name.to_string(), detail: limit(role).unwrap_or_default() }
}

fn limit(role: &Role) -> Option<String> {
    role.at_most.map(|most| format!("at most {most} at once"))
}

fn role(role: &Role) -> GraphNode {
    let kind = if role.by_interlock { NodeKind::Validator } else { NodeKind::Role };
    let by = role.by_interlock.then(|| GraphLabel::detail("Interlock itself"));
    node(kind, &role.name, by.into_iter().chain(limit(role).map(GraphLabel::detail)).collect())
}

fn authors(workflow: &Workflow) -> Vec<GraphLabel> {
    let authors: Vec<&Role> = workflow.roles.iter().filter(|role| role.author).collect();
    let shown = if authors.len() > MOST_MEMBERS { MOST_MEMBERS.saturating_sub(1) } else { authors.len() };
    let left = authors.len().saturating_sub(shown);
    let more = (left > 0).then(|| GraphLabel::detail(format!("+{left} more")));
    authors.into_iter().take(shown).map(named).chain(more).collect()
}

fn phase(workflow: &Workflow, phase: &Phase) -> GraphNode {
    let (kind, by) = match &phase.performer {
        PhasePerformer::Role(ix) => (NodeKind::Phase, named(workflow.role(*ix))),
        PhasePerformer::ByDomain(roles) => {
            (NodeKind::Phase, GraphLabel { text: label_text::performers(workflow, roles), detail: String::new() })
        }
        PhasePerformer::Gate(gate) => (NodeKind::Gate, runs(workflow.gate(*gate))),
        PhasePerformer::Merge => (NodeKind::Merge, GraphLabel::detail("by the author")),
    };
    let plans = phase.plans.then(|| GraphLabel::detail("plans the groups"));
    let when = label_text::when(workflow, &phase.when).map(GraphLabel::detail);
    GraphNode {
        optional: when.is_some(),
        lane: stages::lane(workflow, phase.stage),
        ..node(kind, &phase.name, std::iter::once(by).chain(plans).chain(when).collect())
    }
}

fn checkpoint(workflow: &Workflow, stage: usize, which: usize) -> GraphNode {
    let found = workflow.stages.get(stage).and_then(|stage| stage.checkpoints.get(which));
    let title = found.map(|checkpoint| workflow.question(checkpoint.question).name.to_string());
    let when = found.and_then(|checkpoint| label_text::when(workflow, &checkpoint.when)).map(GraphLabel::detail);
    GraphNode {
        optional: when.is_some(),
        lane: stages::lane(workflow, stage),
        ..node(NodeKind::Question, &title.unwrap_or_default(), std::iter::once(a_person()).chain(when).collect())
    }
}

/// `Interlock runs cargo`, `Interlock runs the plan's checks`.
fn runs(gate: &Gate) -> GraphLabel {
    GraphLabel::detail(match &gate.run {
        GateCommandSource::Plan => "Interlock runs the plan's checks".to_owned(),
        GateCommandSource::Command(argv) => {
            format!("Interlock runs {}", argv.first().map_or("nothing", |word| word.as_str()))
        }
    })
}

pub(super) fn at_once(workflow: &Workflow) -> String {
    format!("{} at once", workflow.groups_at_most)
}
