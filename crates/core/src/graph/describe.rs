//! What each box says of itself.

use super::build::Spot;
use super::{Label, Line, Mark, Node, NodeKind, stages, words};
use crate::workflow::*;

/// More members than this are counted in the box and not listed.
const MOST_MEMBERS: usize = 8;

/// `others` are the boxes so far: a question stands where its asker does.
pub(super) fn describe(workflow: &Workflow, spot: Spot, others: &[Node]) -> Node {
    match spot {
        Spot::Start => node(NodeKind::Start, "start", Vec::new()),
        Spot::Role(ix) => role(workflow.role(ix)),
        Spot::Authors => node(NodeKind::Authors, "author", authors(workflow)),
        Spot::Phase(ix) => phase(workflow, workflow.phase(ix)),
        Spot::Join(stage) => {
            Node { lane: stages::lane(workflow, stage), ..node(NodeKind::Join, "all done", Vec::new()) }
        }
        Spot::Checkpoint(stage, which) => checkpoint(workflow, stage, which),
        Spot::Asked(ix, asker) => {
            let lane = asker.and_then(|asker| others.get(asker)).and_then(|node| node.lane);
            Node { lane, ..node(NodeKind::Question, &workflow.question(ix).name, vec![a_person()]) }
        }
        Spot::Gate(ix) => {
            let of_group = workflow.completion.gates.contains(&ix);
            let lane = stages::last_lane(workflow).filter(|_| of_group);
            let gate = workflow.gate(ix);
            Node { lane, ..node(NodeKind::Gate, &gate.name, vec![runs(gate)]) }
        }
        Spot::Merge => node(NodeKind::Merge, "merge", vec![Label::detail("by the author")]),
        Spot::Groups => node(NodeKind::Groups, "groups", vec![Label::detail(at_once(workflow))]),
        Spot::Completed => {
            Node { lane: stages::last_lane(workflow), ..node(NodeKind::GroupCompleted, "group completed", Vec::new()) }
        }
        Spot::Deferred => node(NodeKind::GroupDeferred, "group deferred", vec![Label::detail("not completed")]),
        Spot::End => node(NodeKind::SessionCompleted, "session completed", Vec::new()),
    }
}

fn node(kind: NodeKind, title: &str, notes: Vec<Label>) -> Node {
    Node {
        id: String::new(),
        kind,
        title: title.to_owned(),
        lines: notes.into_iter().map(|label| Line { mark: Mark::Note, label }).collect(),
        optional: false,
        lane: None,
    }
}

fn a_person() -> Label {
    Label::detail("a person")
}

fn named(role: &Role) -> Label {
    Label { text: role.name.to_string(), detail: limit(role).unwrap_or_default() }
}

fn limit(role: &Role) -> Option<String> {
    role.at_most.map(|most| format!("at most {most} at once"))
}

fn role(role: &Role) -> Node {
    let kind = if role.by_interlock { NodeKind::Validator } else { NodeKind::Role };
    let by = role.by_interlock.then(|| Label::detail("Interlock itself"));
    node(kind, &role.name, by.into_iter().chain(limit(role).map(Label::detail)).collect())
}

fn authors(workflow: &Workflow) -> Vec<Label> {
    let authors: Vec<&Role> = workflow.roles.iter().filter(|role| role.author).collect();
    let shown = if authors.len() > MOST_MEMBERS { MOST_MEMBERS.saturating_sub(1) } else { authors.len() };
    let left = authors.len().saturating_sub(shown);
    let more = (left > 0).then(|| Label::detail(format!("+{left} more")));
    authors.into_iter().take(shown).map(named).chain(more).collect()
}

fn phase(workflow: &Workflow, phase: &Phase) -> Node {
    let (kind, by) = match &phase.performer {
        Performer::Role(ix) => (NodeKind::Phase, named(workflow.role(*ix))),
        Performer::ByDomain(roles) => {
            (NodeKind::Phase, Label { text: words::performers(workflow, roles), detail: String::new() })
        }
        Performer::Gate(gate) => (NodeKind::Gate, runs(workflow.gate(*gate))),
        Performer::Merge => (NodeKind::Merge, Label::detail("by the author")),
    };
    let plans = phase.plans.then(|| Label::detail("plans the groups"));
    let when = words::when(workflow, &phase.when).map(Label::detail);
    Node {
        optional: when.is_some(),
        lane: stages::lane(workflow, phase.stage),
        ..node(kind, &phase.name, std::iter::once(by).chain(plans).chain(when).collect())
    }
}

fn checkpoint(workflow: &Workflow, stage: usize, which: usize) -> Node {
    let found = workflow.stages.get(stage).and_then(|stage| stage.checkpoints.get(which));
    let title = found.map(|checkpoint| workflow.question(checkpoint.question).name.to_string());
    let when = found.and_then(|checkpoint| words::when(workflow, &checkpoint.when)).map(Label::detail);
    Node {
        optional: when.is_some(),
        lane: stages::lane(workflow, stage),
        ..node(NodeKind::Question, &title.unwrap_or_default(), std::iter::once(a_person()).chain(when).collect())
    }
}

/// `Interlock runs cargo`, `Interlock runs the plan's checks`.
fn runs(gate: &Gate) -> Label {
    Label::detail(match &gate.run {
        GateRun::Plan => "Interlock runs the plan's checks".to_owned(),
        GateRun::Command(argv) => format!("Interlock runs {}", argv.first().map_or("nothing", |word| word.as_str())),
    })
}

pub(super) fn at_once(workflow: &Workflow) -> String {
    format!("{} at once", workflow.groups_at_most)
}
