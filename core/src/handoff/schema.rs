//! The JSON Schema of a handoff, for agents and clients that take one.

use serde_json::{Map, Value as Json, json};

use crate::id::Name;
use crate::workflow::{GuardSource, Workflow};

/// The schema of what all handoffs have in common, or of a workflow's.
pub fn schema(workflow: Option<&Workflow>) -> Json {
    let mut properties = common();
    let mut required: Vec<String> =
        ["agent", "output_type", "timestamp", "feature_directory", "skills_invoked", "status", "handoff"]
            .map(str::to_owned)
            .to_vec();
    let mut put = |key: &str, schema: Json| properties.insert(key.to_owned(), schema);
    put("issues", issues());
    put("issue_responses", responses());
    put("iteration_tracking", tracking());
    put("blocking_summary", summary());
    put("test_progression", tests());
    put("questions", questions());
    put("groups", groups(workflow));
    if let Some(workflow) = workflow {
        let roles = workflow.roles.iter().filter(|role| !role.by_interlock).map(|role| &role.name);
        put("agent", json!({ "enum": roles.collect::<Vec<_>>() }));
        put("status", statuses(workflow));
        if let Some(blocked) = &workflow.blocked {
            put("blocked_reason", json!({ "enum": blocked.reasons }));
        }
        if workflow.has_phases() {
            let mut phases: Vec<&Name> = workflow.phases.iter().map(|phase| &phase.called).collect();
            phases.extend(workflow.phases.iter().map(|phase| &phase.name));
            phases.sort();
            phases.dedup();
            put("phase", json!({ "enum": phases }));
        }
        for guard in workflow.guards.iter().filter(|guard| guard.source == GuardSource::Fact) {
            if guard.expression.is_none() {
                put(&guard.name, json!({ "enum": literals(&guard.values) }));
            }
        }
        let demanded = workflow.handoff.demands.require.iter().filter(|field| !field.contains('.'));
        required.extend(demanded.map(ToString::to_string));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Interlock handoff",
        "description": "The structured result that an agent gives at the end.",
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": true,
        "allOf": [blocked(workflow)],
    })
}

fn text() -> Json {
    json!({ "type": "string", "minLength": 1 })
}

fn texts() -> Json {
    json!({ "type": "array", "items": text() })
}

fn common() -> Map<String, Json> {
    let fields = json!({
        "agent": { "type": "string", "minLength": 1, "description": "The role of the assignment." },
        "output_type": text(),
        "timestamp": { "type": "string", "format": "date-time", "description": "RFC 3339, with its offset." },
        "feature_directory": text(),
        "skills_invoked": texts(),
        "library_skills_read": texts(),
        "source_files_verified": texts(),
        "files_modified": texts(),
        "artifacts": texts(),
        "attempted": texts(),
        "status": text(),
        "blocked_reason": { "type": ["string", "null"] },
        "phase": { "type": ["string", "null"] },
        "summary": { "type": "string" },
        "verification": { "type": "object" },
        "acknowledge": texts(),
        "accept": texts(),
        "handoff": {
            "type": "object",
            "properties": {
                "next_agent": { "type": ["string", "null"] },
                "next_phase": { "type": ["string", "null"] },
                "context": { "type": "string" },
                "options": texts(),
                "blockers": { "type": "array", "items": {
                    "type": "object", "required": ["type", "description", "resolution"],
                    "properties": { "type": text(), "description": text(), "resolution": text() } } },
            },
            "if": { "not": { "properties": { "next_phase": { "const": "complete" } }, "required": ["next_phase"] } },
            "then": { "required": ["context"], "properties": { "context": { "minLength": 1 } } },
        },
    });
    fields.as_object().cloned().unwrap_or_default()
}

fn issues() -> Json {
    json!({ "type": "array", "items": {
        "type": "object", "required": ["id", "title", "location", "severity", "blocking"],
        "properties": {
            "id": text(), "title": text(), "location": text(), "blocking": { "type": "boolean" },
            "severity": { "type": "string", "pattern": "^(?:[Cc][Rr][Ii][Tt][Ii][Cc][Aa][Ll]|[Hh][Ii][Gg][Hh]|[Mm][Ee][Dd][Ii][Uu][Mm]|[Ll][Oo][Ww])$" },
            "description": { "type": "string" } } } })
}

fn responses() -> Json {
    json!({ "type": "array", "items": {
        "type": "object", "required": ["id", "response"],
        "properties": { "id": text(), "response": { "type": "string" }, "reason": { "type": "string" } } } })
}

fn tracking() -> Json {
    json!({ "type": "object", "properties": {
        "iteration": { "type": "integer", "minimum": 1 },
        "rejections_accepted": texts(), "rejections_overruled": texts() } })
}

fn summary() -> Json {
    let count = json!({ "type": "integer", "minimum": 0 });
    json!({ "type": "object", "properties": {
        "total_blocking": count, "fixed": count, "rejected_with_reason": count, "unaddressed": count } })
}

fn tests() -> Json {
    json!({ "type": "object", "required": ["still_failing"],
        "properties": { "still_failing": texts(), "fixed": texts(), "new": texts() } })
}

fn questions() -> Json {
    json!({ "type": "array", "minItems": 1, "maxItems": 10, "items": {
        "type": "object", "required": ["text"],
        "properties": {
            "text": text(), "category": { "type": "string" }, "impact": { "type": "string" },
            "options": { "type": "array", "maxItems": 10, "uniqueItems": true, "items": text() } } } })
}

fn groups(workflow: Option<&Workflow>) -> Json {
    let mut required = vec!["id".to_owned(), "title".to_owned()];
    let mut fields = Map::new();
    fields.insert("id".to_owned(), json!({ "type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$" }));
    fields.insert("title".to_owned(), text());
    fields.insert("depends_on".to_owned(), texts());
    fields.insert("checks".to_owned(), json!({ "type": "array", "items": { "anyOf": [text(), texts()] } }));
    let guards = workflow.map_or(&[][..], |workflow| workflow.guards.as_slice());
    for guard in guards.iter().filter(|guard| guard.source == GuardSource::Flag) {
        fields.insert(guard.name.to_string(), json!({ "enum": literals(&guard.values) }));
        if guard.required {
            required.push(guard.name.to_string());
        }
    }
    json!({ "type": "array", "minItems": 1, "items": { "type": "object", "required": required, "properties": fields } })
}

/// Statuses, where the workflow takes no others. Spelling is free, so a pattern would say too little.
fn statuses(workflow: &Workflow) -> Json {
    let mut names: Vec<Name> = Vec::new();
    for (index, _) in workflow.roles.iter().enumerate() {
        names.extend(workflow.statuses_of(crate::workflow::RoleIx::new(index)));
    }
    names.sort();
    names.dedup();
    json!({ "type": "string", "minLength": 1, "examples": names })
}

fn blocked(workflow: Option<&Workflow>) -> Json {
    let status = workflow
        .and_then(|workflow| workflow.blocked.as_ref().map(|blocked| workflow.status_name(blocked.status).clone()));
    let status = status.unwrap_or_else(|| Name::new("blocked"));
    let by_reason = workflow.is_none_or(|workflow| workflow.blocked.as_ref().is_some_and(|b| b.by_reason));
    let mut required = vec!["attempted"];
    if by_reason {
        required.push("blocked_reason");
    }
    json!({
        "if": { "properties": { "status": { "const": status } }, "required": ["status"] },
        "then": { "required": required, "properties": { "attempted": { "minItems": 1 } } },
    })
}

/// Declared values as JSON has them: `true` is not `"true"`.
fn literals(values: &[Name]) -> Vec<Json> {
    let typed = |value: &Name| match value.as_str() {
        "true" => Json::Bool(true),
        "false" => Json::Bool(false),
        text => text.parse::<i64>().map_or_else(|_| Json::String(text.to_owned()), Json::from),
    };
    let texts = values.iter().map(|value| Json::String(value.to_string()));
    let mut all: Vec<Json> = values.iter().map(typed).chain(texts).collect();
    all.dedup();
    all
}
