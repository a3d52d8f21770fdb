//! Phases: who works in them, when they apply, in which order, and what follows them.

use crate::id::Name;
use crate::workflow::model::*;
use crate::workflow::weaker::roles::{dropped_skills, lesser_than_all};
use crate::workflow::weaker::{compare_demands, conditions, conditions_imply, same_run};

pub(super) fn weaker_phases(old: &Workflow, new: &Workflow, dropped: &mut Vec<String>) {
    for phase in &old.phases {
        let Some(other) = new.phase_named(&phase.name).map(|ix| new.phase(ix)) else {
            dropped.push(format!("phase `{}` is gone", phase.name));
            continue;
        };
        compare_phase((old, phase), (new, other), dropped);
        compare_stage((old, phase), (new, other), dropped);
    }
}

fn compare_phase((old, phase): (&Workflow, &Phase), (new, other): (&Workflow, &Phase), dropped: &mut Vec<String>) {
    let Phase {
        name,
        performer,
        when,
        demands,
        skills,
        // Compared by `compare_stage`.
        stage: _,
        // Words, and what follows from the verb.
        called: _,
        plans: _,
        place: _,
    } = phase;
    let of = format!("phase `{name}`");
    compare_demands(&of, demands, &other.demands, dropped);
    dropped_skills(&of, skills, &other.skills, (old, new), dropped);
    if !conditions_imply(&conditions(old, when), &conditions(new, &other.when)) {
        dropped.push(format!("{of} is left out in more cases than before"));
    }
    match (performer, &other.performer) {
        (PhasePerformer::Gate(gate), PhasePerformer::Gate(now)) => {
            if !same_run(&old.gate(*gate).run, &new.gate(*now).run) {
                dropped.push(format!("{of} no longer runs the command of gate `{}`", old.gate(*gate).name));
            }
        }
        (PhasePerformer::Gate(gate), PhasePerformer::Role(_) | PhasePerformer::ByDomain(_) | PhasePerformer::Merge) => {
            dropped.push(format!("{of} no longer runs gate `{}`", old.gate(*gate).name));
        }
        (PhasePerformer::Role(_) | PhasePerformer::ByDomain(_), PhasePerformer::Gate(_) | PhasePerformer::Merge) => {
            dropped.push(format!("{of} is no longer the work of a role"));
        }
        (PhasePerformer::Merge, PhasePerformer::Role(_) | PhasePerformer::ByDomain(_) | PhasePerformer::Gate(_)) => {
            dropped.push(format!("{of} no longer merges"));
        }
        (PhasePerformer::Merge, PhasePerformer::Merge)
        | (
            PhasePerformer::Role(_) | PhasePerformer::ByDomain(_),
            PhasePerformer::Role(_) | PhasePerformer::ByDomain(_),
        ) => {}
    }
    let before = performing_roles(old, phase);
    for role in performing_roles(new, other) {
        if let Some(less) = lesser_than_all((old, &before), (new, role)) {
            dropped.push(format!("{of} is given to {}, {less}", role.name));
        }
    }
}

fn performing_roles<'w>(workflow: &'w Workflow, phase: &Phase) -> Vec<&'w Role> {
    match &phase.performer {
        PhasePerformer::Role(role) => vec![workflow.role(*role)],
        PhasePerformer::ByDomain(roles) => roles.iter().flatten().map(|role| workflow.role(*role)).collect(),
        PhasePerformer::Gate(_) | PhasePerformer::Merge => Vec::new(),
    }
}

fn compare_stage((old, phase): (&Workflow, &Phase), (new, other): (&Workflow, &Phase), dropped: &mut Vec<String>) {
    let (Some(before), Some(after)) = (old.stages.get(phase.stage), new.stages.get(other.stage)) else { return };
    let PipelineStage { phases: _, per_session, rework, checkpoints } = before;
    let name = &phase.name;
    if !per_session && after.per_session {
        dropped.push(format!("phase `{name}` is done once for the session, and no longer for each group"));
    }
    if let Some(ReworkRule { goto, counted }) = rework {
        let measure = old.loop_at(*counted).measure;
        let kept = after.rework.as_ref().filter(|kept| new.loop_at(kept.counted).measure == measure);
        let goto = &old.phase(*goto).name;
        let stage = |name: &Name| new.phase_named(name).map(|ix| new.phase(ix).stage);
        match kept {
            None => dropped.push(format!("phase `{name}` no longer sends work back for open findings or tests")),
            Some(kept) if stage(&new.phase(kept.goto).name) > stage(goto) => {
                dropped.push(format!("phase `{name}` no longer sends work back as far as `{goto}`"));
            }
            Some(_) => {}
        }
    }
    for Checkpoint { question, when } in checkpoints {
        let question = &old.question(*question).name;
        let is_kept = |kept: &Checkpoint| {
            new.question(kept.question).name == *question
                && conditions_imply(&conditions(old, when), &conditions(new, &kept.when))
        };
        if !after.checkpoints.iter().any(is_kept) {
            dropped.push(format!("a person is asked `{question}` after phase `{name}` in fewer cases"));
        }
    }
    for earlier in old.phases.iter().filter(|earlier| earlier.stage < phase.stage) {
        let now = new.phase_named(&earlier.name).map(|ix| new.phase(ix).stage);
        if now.is_some_and(|now| now >= other.stage) {
            dropped.push(format!("phase `{name}` no longer comes after phase `{}`", earlier.name));
        }
    }
}
