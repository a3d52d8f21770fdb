//! Sessions: starting one, and how it stands.

use interlock_core::code::Code;
use interlock_core::id::Name;
use interlock_core::workflow::BUILTINS;
use serde_json::{Value as Json, json};

use crate::mcp::arguments::{SessionArguments, StartArguments};
use crate::mcp::next_steps;
use crate::mcp::tool_reply::{ToolReply, ToolResult};
use interlock_app::context::AppContext;
use interlock_app::decision;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::library;
use interlock_app::session_start::{LARGEST_MISSION, SessionStartRequest, workflow_name};
use interlock_app::session_view;
use interlock_app::setting::SettingArgument;
use interlock_store::Store as _;

pub(super) fn start(start: StartArguments, place: &AppContext) -> ToolResult {
    let bad = |message: &str| Err(CommandError::new(CommandExit::Usage, Code::BadArgument, message));
    if start.title.trim().is_empty() {
        return bad("a session needs a title");
    }
    if start.mission.as_ref().is_some_and(|mission| mission.len() as u64 > LARGEST_MISSION) {
        return bad("no agent reads a mission of more than 1 MiB to its end");
    }
    let workflow = permitted_workflow(start.workflow.as_deref(), place)?;
    let settings: Vec<SettingArgument> =
        start.settings.into_iter().map(|(name, value)| SettingArgument { name, value }).collect();
    let beginning = SessionStartRequest {
        title: &start.title,
        workflow: &workflow,
        settings: &settings,
        mission: start.mission,
        investigation: false,
        by: None,
        own: workflow_name(None, place).ok(),
        allow: None,
    };
    let mut engine = place.engine()?;
    let (done, workflow) = beginning.begin(&mut engine, |_| Ok(()))?;
    let next = done.event.decision.iter().flat_map(|decided| &decided.next);
    let next: Vec<Json> = next.map(|next| decision::next_json(next, &done.session)).collect();
    let (live, _) = engine.load_session(&done.session)?;
    let facts = json!({
        "session": done.session, "workflow": workflow.name, "workflow_hash": workflow.hash.to_string(), "next": next,
    });
    Ok(ToolReply::new(facts, next_steps::line(&live)))
}

/// The project's workflow or a built-in one. A model that could name any file could write its own rules first.
pub(super) fn permitted_workflow(named: Option<&str>, place: &AppContext) -> Result<String, CommandError> {
    let own = workflow_name(None, place);
    match named {
        None => own,
        Some(name) if BUILTINS.iter().any(|builtin| builtin.name == name) => match &own {
            Ok(own) => keeps_requirements(own, name).map(|()| name.to_owned()),
            Err(_) => Ok(name.to_owned()),
        },
        Some(name) if own.as_ref().is_ok_and(|own| own == name) || name == interlock_app::library::PROJECT_FILE => own,
        Some(name) => {
            let names = BUILTINS.iter().map(|builtin| builtin.name.to_owned());
            Err(CommandError::new(
                CommandExit::Refused,
                Code::UnknownWorkflow,
                format!("`{name}` is no workflow of this project"),
            )
            .help("leave it out for the project's own; with another file, a person starts the session")
            .allowed(own.is_ok().then(|| interlock_app::library::PROJECT_FILE.to_owned()).into_iter().chain(names)))
        }
    }
}

/// A built-in workflow in the place of the project's own, if it demands no less.
fn keeps_requirements(own: &str, named: &str) -> Result<(), CommandError> {
    let dropped = library::dropped_by_builtin(own, named)?;
    if dropped.is_empty() {
        return Ok(());
    }
    let list: Vec<&str> = dropped.iter().map(Name::as_str).collect();
    let message = format!("`{named}` demands less than the workflow of this project: {}", list.join("; "));
    Err(CommandError::new(CommandExit::Refused, Code::RequirementDropped, message)
        .help("leave it out for the project's own; with another workflow, a person starts the session"))
}

pub(super) fn whats_next(of: &SessionArguments, place: &AppContext) -> ToolResult {
    let session = resolve_session(of.session.as_deref(), place)?;
    let mut engine = place.engine()?;
    let (live, workflow) = engine.load_session(&session)?;
    let briefs = session_view::briefs(&mut engine, &live, &workflow)?;
    let facts = json!({
        "session": live.id,
        "status": live.state.status.name(),
        "assignments": session_view::assignments(&live),
        "questions": session_view::questions(&live, &briefs),
        "gates": session_view::gates(&live, &workflow, &engine.feature_directory(&session)),
    });
    Ok(ToolReply::new(facts, next_steps::line(&live)))
}

pub(super) fn status(of: &SessionArguments, place: &AppContext) -> ToolResult {
    let session = resolve_session(of.session.as_deref(), place)?;
    let mut engine = place.engine()?;
    let (live, workflow) = engine.load_session(&session)?;
    let briefs = session_view::briefs(&mut engine, &live, &workflow)?;
    let directory = engine.feature_directory(&session);
    let whole = session_view::session(
        &live,
        &workflow,
        &session_view::PinnedFileState { file_says: None },
        &briefs,
        &directory,
    );
    let groups: Vec<Json> = whole["groups"].as_array().into_iter().flatten().map(group).collect();
    let facts = json!({
        "session": live.id,
        "title": whole["title"],
        "status": whole["status"],
        "workflow": whole["workflow"],
        "groups": groups,
        "open": {
            "assignments": live.state.open.len(),
            "questions": live.state.open_questions.len(),
            "gates": live.state.gate_runs.len(),
        },
        "events": whole["events"],
    });
    Ok(ToolReply::new(facts, next_steps::line(&live)))
}

/// A group in a few words; the resource of the session has all of them.
fn group(whole: &Json) -> Json {
    let count = |name: &str| whole[name].as_array().map_or(0, Vec::len);
    json!({
        "id": whole["id"], "title": whole["title"], "status": whole["status"], "role": whole["role"],
        "attempt": whole["attempt"], "evidence": whole["evidence"], "ever_blocked": whole["ever_blocked"],
        "findings": count("findings"), "failing_tests": count("failing_tests"),
    })
}

/// The session that is named, or the only one that is not over: a model that has lost its memory finds it again.
pub(super) fn resolve_session(named: Option<&str>, place: &AppContext) -> Result<String, CommandError> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let open = place.store()?.view()?.sessions_under_way(20)?;
    let open: Vec<String> = open.into_iter().map(|session| session.id.to_string()).collect();
    match open.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(CommandError::new(CommandExit::Usage, Code::BadArgument, "no session is under way")
            .help("start_session starts one; name one that is over to look at it")),
        _ => Err(CommandError::new(CommandExit::Usage, Code::BadArgument, "several sessions are under way: name one")
            .allowed(open)),
    }
}
