//! Next steps that the workflow allows, as tool calls for a model.

use interlock_core::provenance::Channel;
use interlock_core::state::SessionStatus;

use interlock_app::context::AppContext;
use interlock_app::error::CommandError;
use interlock_engine::LoadedSession;

/// More than these are counted, not listed.
const LISTED: usize = 12;

/// The steps of a session as it is now.
pub(super) fn of(place: &AppContext, session: &str) -> Result<Vec<String>, CommandError> {
    let (live, _) = place.engine()?.load_session(session)?;
    Ok(steps(&live))
}

pub(super) fn steps(live: &LoadedSession) -> Vec<String> {
    let (state, session) = (&live.state, &live.id);
    let mut steps = Vec::new();
    for (id, given) in state.open.iter().filter_map(|id| state.assignments.get(id).map(|given| (id, given))) {
        let group = given.group.as_ref().map_or(String::new(), |group| format!(" on {group}"));
        let (id, who) = (format!("{session}.{id}"), format!("{}{group}", given.role));
        let by_hook = matches!(given.via, Some(Channel::Hook(_)));
        let watched = !state.watch.conversations.is_empty();
        // If hooks claim and submit, they refuse a model that does so itself.
        steps.push(match given.token.is_some() {
            true if by_hook => format!("wait for {who} ({id}), whose handoff a hook submits"),
            true => format!("report_handoff {id} when {who} is done"),
            false if watched => format!(
                "start sub-agent `{}`{group} ({id}): hooks claim it and submit its handoff; where none watch you, \
                 claim_assignment",
                given.role
            ),
            false => format!("claim_assignment {id} for {who}"),
        });
    }
    for id in &state.open_questions {
        steps.push(format!("ask_person {session}.{id}: only a person can answer it"));
    }
    for (id, run) in &state.gate_runs {
        steps.push(format!(
            "have gate `{}` run: Interlock does it itself, by `interlock gate {session}.{id}` or `interlock run`",
            run.gate
        ));
    }
    if steps.len() > LISTED {
        let more = steps.len() - LISTED;
        steps.truncate(LISTED);
        steps.push(format!("{more} more: see whats_next"));
    }
    steps
}

/// The steps as one line.
pub(super) fn line(live: &LoadedSession) -> String {
    let steps = steps(live);
    match (steps.as_slice(), live.state.status) {
        ([], SessionStatus::Completed) => "The session is completed: nothing is left to do.".to_owned(),
        ([], SessionStatus::Cancelled) => "The session is cancelled: nothing is left to do.".to_owned(),
        ([], status) => format!("Nothing can be done now: the session is {}.", status.name()),
        (steps, _) => sentence(steps),
    }
}

pub(super) fn sentence(steps: &[String]) -> String {
    match steps {
        [one] => format!("Next: {one}."),
        many => format!("Next, side by side: {}.", many.join("; ")),
    }
}
