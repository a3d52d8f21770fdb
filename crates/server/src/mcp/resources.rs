//! Resources: workflows, sessions and their logs.

use interlock_core::code::Code;
use interlock_core::rejection::Rejection;
use interlock_core::workflow::BUILTINS;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value as Json, json};

use interlock_app::context::AppContext;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::library;
use interlock_app::narrative;
use interlock_app::session_start::workflow_name;
use interlock_app::session_view;
use interlock_store::{EventRow, Store as _};
use interlock_system::clock::rfc3339;

const SCHEME: &str = "interlock://";
/// The name under which the workflow of the project is read.
const PROJECT: &str = "project";
/// Sessions that are listed; older ones can still be read.
const LISTED: usize = 50;
/// Events on one page of a log.
const PAGE: usize = 100;

/// All resources. Without a store, only the workflows.
pub(super) fn list(place: &AppContext) -> Vec<Resource> {
    let workflow = |name: &str, about: &str| {
        Resource::new(format!("{SCHEME}workflow/{name}"), format!("workflow {name}"))
            .with_description(about)
            .with_mime_type("application/yaml")
    };
    let mut listed = Vec::new();
    if workflow_name(None, place).is_ok() {
        listed.push(workflow(PROJECT, "The workflow of this project, as the file says today"));
    }
    listed.extend(BUILTINS.iter().map(|builtin| workflow(builtin.name, "A workflow that Interlock ships with")));
    let sessions = place.store().and_then(|mut store| Ok(store.view()?.sessions()?)).unwrap_or_default();
    for session in sessions.iter().take(LISTED) {
        let uri = format!("{SCHEME}session/{}", session.id);
        let about = format!("{} ({})", session.title, session.status);
        let log = Resource::new(format!("{uri}/log"), format!("log of {}", session.id))
            .with_description(format!("Every event of it, {PAGE} at a time"))
            .with_mime_type("application/json");
        listed.push(
            Resource::new(uri, format!("session {}", session.id))
                .with_description(about)
                .with_mime_type("application/json"),
        );
        listed.push(log);
    }
    listed
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |rest: &str, name: &str, about: &str, kind: &str| {
        ResourceTemplate::new(format!("{SCHEME}{rest}"), name).with_description(about).with_mime_type(kind)
    };
    let json = "application/json";
    vec![
        template("workflow/{name}", "workflow", "A workflow, as its file is written", "application/yaml"),
        template("session/{id}", "session", "How a session stands: groups, findings, loops, what is open", json),
        template(
            "session/{id}/log{?after}",
            "log",
            "The log of a session, page by page: `next` is the page after",
            json,
        ),
    ]
}

pub(super) fn read(place: &AppContext, uri: &str) -> Result<ReadResourceResult, CommandError> {
    let unknown = || {
        CommandError::new(CommandExit::Usage, Code::BadArgument, format!("there is no resource `{uri}`"))
            .help("resources/templates/list says how they are named")
    };
    let rest = uri.strip_prefix(SCHEME).ok_or_else(unknown)?;
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (kind, text) = match *path.split('/').collect::<Vec<_>>() {
        ["workflow", name] if query.is_empty() => ("application/yaml", workflow(place, name)?),
        ["session", id] if query.is_empty() => ("application/json", session(place, id)?),
        ["session", id, "log"] => ("application/json", page(place, id, after(query).ok_or_else(unknown)?)?),
        _ => return Err(unknown()),
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)]))
}

/// The cursor of a log: the number of the last event that was seen.
fn after(query: &str) -> Option<u64> {
    match query.split_once('=') {
        None if query.is_empty() => Some(0),
        Some(("after", number)) => number.parse().ok(),
        _ => None,
    }
}

/// Built-in ones, and the project's; no path reaches any other file.
fn workflow(place: &AppContext, name: &str) -> Result<String, CommandError> {
    if name == PROJECT {
        return source(&workflow_name(None, place)?);
    }
    let names = BUILTINS.iter().map(|builtin| builtin.name);
    match BUILTINS.iter().find(|builtin| builtin.name == name) {
        Some(builtin) => source(builtin.name),
        None => Err(CommandError::new(
            CommandExit::Invalid,
            Code::UnknownWorkflow,
            format!("there is no workflow `{name}`"),
        )
        .allowed(names.chain([PROJECT]))),
    }
}

fn source(wanted: &str) -> Result<String, CommandError> {
    Ok(library::open(wanted)?.sources.into_iter().next().map(|(_, text)| text).unwrap_or_default())
}

fn session(place: &AppContext, id: &str) -> Result<String, CommandError> {
    let mut engine = place.engine()?;
    let (live, workflow) = engine.load_session(id)?;
    let briefs = session_view::briefs(&mut engine, &live, &workflow)?;
    let directory = engine.feature_directory(id);
    let whole = session_view::session(
        &live,
        &workflow,
        &session_view::PinnedFileState { file_says: None },
        &briefs,
        &directory,
    );
    Ok(format!("{whole:#}"))
}

fn page(place: &AppContext, id: &str, after: u64) -> Result<String, CommandError> {
    let mut store = place.store()?;
    let mut view = store.view()?;
    let Some(session) = view.session(id)? else {
        return Err(Rejection::new(Code::NoSession, format!("there is no session `{id}`")).into());
    };
    let rows = view.events(session.key, after, PAGE)?;
    let last = rows.last().map_or(after, |row| row.seq);
    let next = (last < session.seq).then(|| format!("{SCHEME}session/{id}/log?after={last}"));
    let events: Vec<Json> = rows.iter().map(event).collect();
    let page = json!({ "session": id, "status": session.status, "events": events, "of": session.seq, "next": next });
    Ok(format!("{page:#}"))
}

/// An event in a line; `interlock log` has it whole.
fn event(row: &EventRow) -> Json {
    let data: Json = serde_json::from_str(&row.data).unwrap_or_default();
    json!({ "seq": row.seq, "kind": row.kind, "at": rfc3339(row.at), "what": narrative::summary(&data), "hash": row.hash.to_string() })
}
