//! Next steps that the workflow allows, in the words of a client.

use interlock_core::state::{Assignment, Question};

use crate::policy::ActiveSession;
use interlock_system::sanitise;

/// More than these are counted, not listed.
const LISTED: usize = 12;
/// Most characters quoted of a text that an agent or a person wrote.
const QUOTED: usize = 160;

/// Everything that may be done now, in one sentence.
pub(super) fn next(courses: &[ActiveSession], prefix: &str) -> String {
    let mut steps: Vec<String> = courses.iter().flat_map(|course| of(course, prefix)).collect();
    let more = steps.len().saturating_sub(LISTED);
    steps.truncate(LISTED);
    if more > 0 {
        steps.push(format!("{more} more: see whats_next"));
    }
    match steps.as_slice() {
        [] => "Nothing is left to do.".to_owned(),
        [one] => format!("Next: {one}."),
        many => format!("Next, side by side: {}.", many.join("; ")),
    }
}

fn of(course: &ActiveSession, prefix: &str) -> Vec<String> {
    let (state, session) = (&course.live.state, &course.live.id);
    let open = state.open.iter().filter_map(|id| state.assignments.get(id).map(|given| (id, given)));
    let mut steps: Vec<String> = open.map(|(id, given)| start(&format!("{session}.{id}"), given, prefix)).collect();
    let asked = state.open_questions.iter().filter_map(|id| state.questions.get(id).map(|asked| (id, asked)));
    steps.extend(asked.map(|(id, asked)| question(&format!("{session}.{id}"), asked)));
    steps.extend(
        state
            .gate_runs
            .iter()
            .map(|(id, run)| format!("have gate `{}` run with `interlock gate {session}.{id}`", run.gate)),
    );
    steps
}

fn start(id: &str, given: &Assignment, prefix: &str) -> String {
    let group = given.group.as_ref().map_or(String::new(), |group| format!(" for group {group}"));
    let name = format!("sub-agent `{prefix}{}`{group} ({id})", given.role);
    match given.token.is_some() {
        false => format!("start {name}"),
        true => format!("wait for {name}, and start it again only if it is gone"),
    }
}

fn question(id: &str, asked: &Question) -> String {
    let options: Vec<&str> = asked.options.iter().map(|option| option.as_str()).collect();
    let options = if options.is_empty() { String::new() } else { format!(" [{}]", options.join(" | ")) };
    format!(
        "put question {id} to the person with ask_person (\"{}\"{options}); only a person can answer it",
        short(&asked.text)
    )
}

/// The sessions under way, for a conversation that does not know of them.
pub(super) fn restated(courses: &[ActiveSession], prefix: &str) -> String {
    let mut text = String::from(
        "Interlock decides what happens next in this team, and its hooks watch. You orchestrate: start the sub-agents \
         that are named here, one for each assignment, and put questions to the person. Do not edit files, write handoffs, \
         skip a role or call anything complete yourself: that is refused. How the sessions stand:\n",
    );
    for course in courses {
        let state = &course.live.state;
        let title = state.session.as_ref().map_or("", |session| session.title.as_str());
        text.push_str(&format!("\n{} ({}): {}\n", course.live.id, state.status.name(), short(title)));
        for group in state.groups.iter().filter(|group| !group.ended()).take(LISTED) {
            let blocked = group.lane.blocks.last().and_then(|block| block.reason.as_ref());
            let blocked = blocked.map_or(String::new(), |reason| format!(", blocked: {}", short(reason)));
            text.push_str(&format!("- group {}: {}{blocked}\n", group.id, group.status().name()));
        }
        let ended = state.groups.iter().filter(|group| group.ended()).count();
        if ended > 0 {
            text.push_str(&format!("- {ended} of {} groups have ended\n", state.groups.len()));
        }
    }
    text.push('\n');
    text.push_str(&next(courses, prefix));
    text
}

/// A text that an agent or a person wrote, shortened and sanitised.
pub(super) fn short(text: &str) -> String {
    let line = sanitise::line(text);
    let mut short: String = line.chars().take(QUOTED).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}
