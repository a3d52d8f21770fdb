//! How a session stands, for people and for scripts.

use std::collections::BTreeMap;

use interlock_core::id::{Digest, Name, QuestionId};
use interlock_core::naming::shown_person;
use interlock_core::state::{
    CompletionException, GateRun as Awaited, Group, GroupEnd, GroupProgress, GroupStatus, Session, State,
};
use interlock_core::workflow::{LoopMeasure, Workflow};
use serde_json::{Map, Value as Json, json};

use crate::gate_commands;
use interlock_engine::{Engine, EngineError, LoadedSession};
use interlock_prompt::QuestionBrief;
use interlock_store::rows::holder;
use interlock_system::sanitise;
use interlock_system::text::{HEADING, NAME, TerminalText};

/// The current file of a pinned workflow, if there is one.
pub struct PinnedFileState {
    pub file_says: Option<Digest>,
}

impl PinnedFileState {
    fn note(&self, workflow: &Workflow) -> &'static str {
        match self.file_says {
            None => "pinned",
            Some(today) if today == workflow.hash => "pinned; the file is the same",
            Some(_) => "pinned; the file has changed since, which does not change this session",
        }
    }
}

pub fn session(
    live: &LoadedSession,
    workflow: &Workflow,
    pinned: &PinnedFileState,
    briefs: &QuestionBriefs,
    feature_directory: &str,
) -> Json {
    let state = &live.state;
    let session = state.session.as_ref();
    let groups: Vec<Json> = state.groups.iter().map(|group| group_json(group, state, workflow)).collect();
    let settings: Map<String, Json> = session
        .iter()
        .flat_map(|session| &session.settings)
        .map(|(name, value)| (name.to_string(), json!(value)))
        .collect();
    json!({
        "session": live.id,
        "title": session.map(|session| session.title.clone()),
        "status": state.status.name(),
        "workflow": workflow.name,
        "workflow_hash": workflow.hash.to_string(),
        "upgrades": state.upgrades,
        "pinned": { "note": pinned.note(workflow), "file_hash": pinned.file_says.map(|hash| hash.to_string()) },
        "settings": settings,
        "dropped_requirements": session.map_or_else(Vec::new, |session| dropped(session, workflow)),
        "investigation": session.is_some_and(|session| session.investigation),
        "exceptions": state.completion_exceptions(workflow),
        "allowed_paths": session.map(|session| session.allowed.clone()).unwrap_or_default(),
        "changes": state.changes_statement(),
        "events": state.seq,
        "groups": groups,
        "loops": loops(&state.lane.counters, None, workflow),
        "assignments": assignments(live),
        "questions": questions(live, briefs),
        "gates": gates(live, workflow, feature_directory),
        "watch": watch(state, workflow),
    })
}

/// Requirements that the settings switch off, and who chose that.
fn dropped(session: &Session, workflow: &Workflow) -> Vec<Json> {
    let off = workflow.requirements_off(&session.settings).into_iter();
    let by_workflow = session.dropped.iter().map(|requirement| {
        json!({ "workflow": session.workflow, "requirement": requirement, "by_default": false, "by": session.settings_by })
    });
    off.map(|dropped| {
        let by = session.settings_by.as_ref().filter(|_| dropped.chosen);
        json!({
            "setting": dropped.setting, "value": dropped.value, "default": dropped.default,
            "requirement": dropped.requirement, "by_default": !dropped.chosen, "by": by,
        })
    })
    .chain(by_workflow)
    .collect()
}

/// The watched conversations, and the hooks that each has shown.
fn watch(state: &State, workflow: &Workflow) -> Json {
    let watch = &state.watch;
    let conversations: Vec<Json> = watch
        .conversations
        .iter()
        .map(|(id, known)| {
            let missing: Vec<&Name> = known.missing().collect();
            json!({ "client": known.client, "conversation": id, "seen": known.seen, "never_seen": missing })
        })
        .collect();
    json!({
        "required": workflow.orchestrator.watched,
        "watched": watch.watched,
        "unwatched": watch.unwatched(),
        "handoffs": watch.handoffs,
        "conversations": conversations,
    })
}

fn group_json(group: &Group, state: &State, workflow: &Workflow) -> Json {
    let (role, attempt) = holder(&group.lane, state);
    let attempts: Map<String, Json> =
        group.lane.attempts.iter().map(|(role, count)| (role.to_string(), json!(count))).collect();
    json!({
        "id": group.id,
        "title": group.title,
        "status": group.status().name(),
        "role": role,
        "attempt": attempt,
        "attempts": attempts,
        "author": group.author,
        "depends_on": group.depends_on,
        "flags": group.flags,
        "evidence": group.passed,
        "excused": group.excused,
        "failed_evidence": group.failed,
        "accepted_by": group.accepted_by,
        "gates_passed": group.gates_passed,
        "diff": group.diff,
        "accepted_unchanged": group.accepted_unchanged,
        "blocks": group.lane.blocks,
        "ever_blocked": group.lane.ever_blocked,
        "findings": group.findings,
        "serious_findings": group.serious_remarks().collect::<Vec<_>>(),
        "checked": !workflow.checks_nothing(group),
        "failing_tests": group.failing_tests,
        "notes": group.notes,
        "deferred": deferral(group),
        "loops": loops(&group.lane.counters, Some(group), workflow),
    })
}

/// Each measured loop, and every other that was ever counted: as its author stands in it.
fn loops(counters: &[interlock_core::state::LoopCounter], group: Option<&Group>, workflow: &Workflow) -> Json {
    let mut all = Map::new();
    for declared in &workflow.loops {
        let measured = declared.measure.filter(|_| group.is_some());
        let counted = || counters.iter().filter(|counter| counter.counted == declared.name);
        let author = group.and_then(|group| group.author.as_ref());
        let counter = counted().find(|counter| Some(&counter.role) == author).or_else(|| counted().next_back());
        if counter.is_none() && measured.is_none() {
            continue;
        }
        let blocking = group.zip(measured).map(|(group, measure)| match measure {
            LoopMeasure::BlockingFindings => usize::try_from(group.blocking_findings()).unwrap_or(usize::MAX),
            LoopMeasure::FailingTests => group.failing_tests.len(),
        });
        let by_role: Map<String, Json> = counted()
            .map(|counter| {
                let at = json!({ "iteration": counter.iteration, "no_progress": counter.no_progress });
                (counter.role.to_string(), at)
            })
            .collect();
        let standing = json!({
            "iteration": counter.map_or(0, |counter| counter.iteration),
            "no_progress": counter.map_or(0, |counter| counter.no_progress),
            "blocking": blocking,
            "roles": by_role,
        });
        all.insert(declared.name.to_string(), standing);
    }
    Json::Object(all)
}

pub fn assignments(live: &LoadedSession) -> Vec<Json> {
    let open = live.state.open.iter().filter_map(|id| live.state.assignments.get(id).map(|given| (id, given)));
    open.map(|(id, given)| {
        json!({
            "assignment": format!("{}.{id}", live.id),
            "role": given.role,
            "group": given.group,
            "attempt": given.attempt,
            "claimed": given.token.is_some(),
            "task": given.task,
            "phase": given.phase,
        })
    })
    .collect()
}

/// The open questions of a session, each with the facts behind it and what its options do.
pub(crate) type QuestionBriefs = BTreeMap<QuestionId, QuestionBrief>;

pub fn briefs(engine: &mut Engine, live: &LoadedSession, workflow: &Workflow) -> Result<QuestionBriefs, EngineError> {
    let open: Vec<QuestionId> = live.state.open_questions.iter().copied().collect();
    open.into_iter().map(|id| Ok((id, engine.question_brief(live, workflow, id)?))).collect()
}

pub fn questions(live: &LoadedSession, briefs: &QuestionBriefs) -> Vec<Json> {
    let open = live.state.open_questions.iter();
    open.filter_map(|id| live.state.questions.get(id).map(|asked| (id, asked)))
        .map(|(id, asked)| {
            let brief = briefs.get(id);
            json!({
                "question": format!("{}.{id}", live.id),
                "name": asked.name,
                "group": asked.group,
                "text": asked.text,
                "options": asked.options,
                "facts": brief.map(|brief| brief.facts.clone()).unwrap_or_default(),
                "effects": brief.map_or_else(|| json!([]), QuestionBrief::effects_json),
            })
        })
        .collect()
}

/// Gates that wait for their result, with what they run.
pub fn gates(live: &LoadedSession, workflow: &Workflow, feature_directory: &str) -> Vec<Json> {
    let waiting = live.state.gate_runs.iter();
    waiting
        .map(|(id, run)| {
            let commands = gate_commands(run, live, workflow, feature_directory);
            json!({ "gate": run.gate, "run": format!("{}.{id}", live.id), "group": run.group, "commands": commands })
        })
        .collect()
}

/// The commands of a waiting gate run.
fn gate_commands(run: &Awaited, live: &LoadedSession, workflow: &Workflow, feature_directory: &str) -> Vec<Vec<Name>> {
    let session = gate_commands::GateSession { id: &live.id, feature_directory };
    gate_commands::commands_of_run(run, &live.state, workflow, session)
        .into_iter()
        .map(|command| command.command)
        .collect()
}

pub fn text(
    live: &LoadedSession,
    workflow: &Workflow,
    pinned: &PinnedFileState,
    briefs: &QuestionBriefs,
) -> TerminalText {
    let state = &live.state;
    let mut text = TerminalText::default();
    text.paint(NAME, &live.id);
    let title = state.session.as_ref().map_or("", |session| session.title.as_str());
    text.line(format_args!("  {}  {}", state.status.name(), sanitise::line(title)));
    let hash = workflow.hash.to_string();
    let short = hash.get(..12).unwrap_or(&hash);
    text.line(format_args!("workflow {} {short}  ({})", workflow.name, pinned.note(workflow)));
    if let Some(session) = state.session.as_ref().filter(|session| !session.settings.is_empty()) {
        let settings: Vec<String> = session.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        text.line(format_args!("settings {}", sanitise::line(&settings.join(" "))));
    }
    for allowed in state.session.iter().flat_map(|session| &session.allowed) {
        let allowed = format!("protected paths allowed by {}: {}", shown_person(&allowed.by), allowed.pattern);
        text.line(sanitise::line(&allowed));
    }
    for upgrade in &state.upgrades {
        let (from, to) = (upgrade.from.to_string(), upgrade.to.to_string());
        let (from, to) = (from.get(..12).unwrap_or(&from), to.get(..12).unwrap_or(&to));
        text.line(format_args!("  moved by {} from {from} to {to}", sanitise::line(&shown_person(&upgrade.by))));
        for requirement in &upgrade.dropped {
            text.line(format_args!("    dropped: {}", sanitise::line(requirement)));
        }
    }
    if !state.groups.is_empty() {
        text.push("\n");
        text.paint(HEADING, "groups");
        text.push("\n");
        let width = state.groups.iter().map(|group| group.id.chars().count()).max().unwrap_or(0);
        for group in &state.groups {
            group_line(&mut text, group, state, workflow, width);
        }
        unchecked_line(&mut text, state, workflow);
    }
    let exceptions = state.completion_exceptions(workflow);
    if !exceptions.is_empty() {
        text.push("\n");
        text.paint(HEADING, "exceptions");
        text.push("\n");
        exceptions.iter().for_each(|exception| exception_line(&mut text, exception));
    }
    text.push("\n");
    text.append(&next(live, briefs));
    if let Some(statement) = state.watch.statement() {
        text.push("\n");
        text.line(sanitise::line(&statement));
    }
    for sentence in state.changes_statement() {
        text.push("\n");
        text.line(sanitise::line(&sentence));
    }
    text
}

/// A requirement that the session or a group does without.
pub fn exception_line(text: &mut TerminalText, exception: &CompletionException) {
    text.push("  ");
    if let Some(group) = &exception.group {
        text.paint(NAME, group);
        text.push(": ");
    }
    text.line(sanitise::line(&exception.text));
}

fn group_line(text: &mut TerminalText, group: &Group, state: &State, workflow: &Workflow, width: usize) {
    let (role, attempt) = holder(&group.lane, state);
    text.push("  ");
    text.paint(NAME, format!("{:<width$}", group.id.as_str()));
    text.put(format_args!("  {:<21}", group.status().name()));
    if let Some(role) = role {
        text.put(format_args!("  {role} (attempt {attempt})"));
    }
    if let Json::Object(loops) = loops(&group.lane.counters, Some(group), workflow) {
        for (name, at) in loops.iter().filter(|(_, at)| at["iteration"] != 0) {
            text.put(format_args!("  {name} {} (no progress {})", at["iteration"], at["no_progress"]));
        }
    }
    if group.status() == GroupStatus::Blocked
        && let Some(block) = group.lane.blocks.last()
    {
        let reason = block.reason.as_ref().map_or("no reason given", Name::as_str);
        text.put(format_args!("  blocked: {}", sanitise::line(reason)));
    }
    text.line(format_args!("  {}", sanitise::line(&group.title)));
    if let Some(line) = deferral_line(group) {
        text.wrapped("    ", BELOW_FACT, line);
    }
    for notice in interlock_prompt::notices::serious_findings(group) {
        text.line(format_args!("  {:<width$}  {notice}", ""));
    }
}

/// The deferral of the group: by whom, why, and who acknowledged it.
fn deferral(group: &Group) -> Option<Json> {
    match &group.progress {
        GroupProgress::Ended(GroupEnd::Deferred { why, by, acknowledged }) => {
            Some(json!({ "by": by, "reason": why, "acknowledged_by": acknowledged }))
        }
        GroupProgress::Ended(GroupEnd::Completed | GroupEnd::Cancelled { .. })
        | GroupProgress::Pending
        | GroupProgress::Working
        | GroupProgress::Arrived
        | GroupProgress::AwaitingConfirmation => None,
    }
}

fn deferral_line(group: &Group) -> Option<String> {
    let GroupProgress::Ended(GroupEnd::Deferred { why, by, acknowledged }) = &group.progress else { return None };
    let state = acknowledged
        .as_ref()
        .map_or("not acknowledged".to_owned(), |name| format!("acknowledged by {}", shown_person(name)));
    Some(format!("deferred by {by}, {state}: {why}", by = shown_person(by)))
}

/// The groups that no command of Interlock checks, on one line: most plans that forget checks forget all of them.
fn unchecked_line(text: &mut TerminalText, state: &State, workflow: &Workflow) {
    let concerned = |group: &&Group| {
        let dropped = matches!(group.status(), GroupStatus::DeferredExternal | GroupStatus::Cancelled);
        !dropped && workflow.checks_nothing(group)
    };
    let unchecked: Vec<&str> = state.groups.iter().filter(concerned).map(|group| group.id.as_str()).collect();
    if !unchecked.is_empty() {
        text.line(format_args!("  groups without a check: {}", unchecked.join(", ")));
    }
}

/// Starts the further lines of a fact or an effect.
const BELOW_FACT: &str = "      | ";

/// The possible next steps.
pub fn next(live: &LoadedSession, briefs: &QuestionBriefs) -> TerminalText {
    let state = &live.state;
    let mut text = TerminalText::default();
    text.paint(HEADING, "next");
    text.push("\n");
    for id in &state.open {
        let Some(given) = state.assignments.get(id) else { continue };
        let group = given.group.as_ref().map_or(String::new(), |group| format!(" on {group}"));
        let claimed = if given.token.is_some() { "  (claimed)" } else { "" };
        text.push("  ");
        text.paint(NAME, format!("{}.{id}", live.id));
        text.line(format_args!("  {}{group}, attempt {}{claimed}", given.role, given.attempt));
    }
    for id in &state.open_questions {
        let Some(asked) = state.questions.get(id) else { continue };
        text.push("  ");
        text.paint(NAME, format!("{}.{id}", live.id));
        let options: Vec<&str> = asked.options.iter().map(Name::as_str).collect();
        let options = if options.is_empty() { String::new() } else { format!(" ({})", options.join(" | ")) };
        text.put(format_args!("  a person is asked{}:", sanitise::line(&options)));
        text.question(&asked.text);
        for fact in briefs.get(id).iter().flat_map(|brief| &brief.facts) {
            text.wrapped("    - ", BELOW_FACT, fact);
        }
        for effect in briefs.get(id).iter().flat_map(|brief| &brief.effects) {
            let option = effect.option.as_deref().unwrap_or("own words");
            text.wrapped("    ", BELOW_FACT, format_args!("{option} -> {}", effect.effect));
        }
    }
    for (id, run) in &state.gate_runs {
        text.push("  ");
        text.paint(NAME, format!("{}.{id}", live.id));
        text.line(format_args!("  gate {} waits to be run", run.gate));
    }
    if state.open.is_empty() && state.open_questions.is_empty() && state.gate_runs.is_empty() {
        text.line(format_args!("  nothing: the session is {}", state.status.name()));
    }
    text
}
