//! The JSON Schema of a handoff, for agents and clients that take one.
//!
//! It is never narrower than `check`: what is refused by it is refused there as well.
//! It stays with what clients understand, so what would need look-ahead (paths inside
//! the repository) or more than one field (an id used twice) is left to the check.

use serde_json::{Map, Value as Json, json};

use crate::handoff::fill::FILLED;
use crate::id::Name;
use crate::workflow::{GuardSource, HandoffDemands, RoleIx, Workflow};

/// The schema of what all handoffs have in common, or of a workflow's.
pub fn schema(workflow: Option<&Workflow>) -> Json {
    let mut properties = common();
    let mut put = |key: &str, schema: Json| properties.insert(key.to_owned(), schema);
    put("issues", issues());
    put("issue_responses", responses());
    put("iteration_tracking", tracking());
    put("blocking_summary", summary());
    put("test_progression", tests());
    put("questions", questions());
    put("groups", groups(workflow));
    let mut all = vec![blocked(workflow)];
    if let Some(workflow) = workflow {
        let roles = workflow.roles.iter().filter(|role| !role.by_interlock).map(|role| &role.name);
        put("agent", json!({ "enum": roles.collect::<Vec<_>>() }));
        put("status", statuses(workflow));
        if workflow.has_phases() {
            let mut phases: Vec<Json> = workflow.phases.iter().map(|phase| json!(phase.called)).collect();
            for name in workflow.phases.iter().map(|phase| json!(phase.name)).chain([Json::Null]) {
                if !phases.contains(&name) {
                    phases.push(name);
                }
            }
            phases.dedup();
            put("phase", json!({ "enum": phases }));
        }
        for guard in workflow.guards.iter().filter(|guard| guard.source == GuardSource::Fact) {
            if guard.expression.is_none() {
                put(&guard.name, json!({ "enum": literals(&guard.values) }));
            }
        }
        all.extend(demanded(&workflow.handoff.demands));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Interlock handoff",
        "description": "The structured result that an agent gives at the end.",
        "type": "object",
        "required": ["agent", "output_type", "timestamp", "feature_directory", "skills_invoked", "status", "handoff"],
        "properties": properties,
        "additionalProperties": true,
        "allOf": all,
    })
}

/// The schema for an agent that holds an assignment: fields that Interlock fills in may be absent or `null`.
pub fn schema_for_assignment(workflow: &Workflow) -> Json {
    let mut schema = schema(Some(workflow));
    // Every handoff must state its skills where some are mandatory for all.
    let is_stated = |field: &str| field == "skills_invoked" && !workflow.handoff.skills.is_empty();
    let is_filled = |field: &str| FILLED.contains(&field) && !is_stated(field);
    if let Some(required) = schema.get_mut("required").and_then(Json::as_array_mut) {
        required.retain(|field| field.as_str().is_none_or(|field| !is_filled(field)));
    }
    for field in FILLED.into_iter().filter(|field| is_filled(field)) {
        if let Some(own) = schema.get_mut("properties").and_then(|properties| properties.get_mut(field)) {
            *own = json!({ "anyOf": [own.take(), { "type": "null" }] });
        }
    }
    // The workflow's demands on every handoff are checked after the fields were filled in.
    let demands = HandoffDemands {
        require: workflow.handoff.demands.require.iter().filter(|field| !is_filled(field)).cloned().collect(),
        verify: workflow.handoff.demands.verify.clone(),
        ..HandoffDemands::default()
    };
    let mut all = vec![blocked(Some(workflow))];
    all.extend(demanded(&demands));
    if let Some(members) = schema.as_object_mut() {
        members.insert("allOf".to_owned(), Json::Array(all));
    }
    schema
}

/// A text that says something.
fn text() -> Json {
    json!({ "type": "string", "pattern": "\\S" })
}

fn texts() -> Json {
    json!({ "type": "array", "items": text() })
}

/// Absent, `null`, or as the schema says.
fn optional(mut schema: Json) -> Json {
    let kind = schema.get("type").cloned();
    if let (Some(members), Some(kind)) = (schema.as_object_mut(), kind) {
        members.insert("type".to_owned(), json!([kind, "null"]));
    }
    schema
}

fn common() -> Map<String, Json> {
    let word = optional(json!({ "type": "string" }));
    let list = optional(texts());
    let blocker = json!({ "type": "object", "required": ["type", "description", "resolution"],
        "properties": { "type": text(), "description": text(), "resolution": text() } });
    let fields = json!({
        "agent": { "type": "string", "pattern": "\\S", "description": "The role of the assignment." },
        "output_type": text(),
        "timestamp": { "type": "string", "format": "date-time", "description": "RFC 3339, with its offset." },
        "feature_directory": text(),
        "skills_invoked": texts(),
        "library_skills_read": list,
        "source_files_verified": list,
        "files_modified": list,
        "artifacts": list,
        "attempted": list,
        "status": text(),
        "blocked_reason": word,
        "phase": word,
        "summary": word,
        "verification": { "type": ["object", "null"] },
        "acknowledge": list,
        "accept": list,
        "handoff": {
            "type": "object",
            "properties": {
                "next_agent": word,
                "next_phase": word,
                "context": word,
                "options": optional(choice()),
                "blockers": { "type": ["array", "null"], "items": blocker },
            },
            "if": { "not": { "properties": { "next_phase": { "const": "complete" } }, "required": ["next_phase"] } },
            "then": { "required": ["context"], "properties": { "context": text() } },
        },
    });
    fields.as_object().cloned().unwrap_or_default()
}

fn issues() -> Json {
    json!({ "type": ["array", "null"], "items": {
        "type": "object", "required": ["id", "title", "location", "severity", "blocking"],
        "properties": {
            "id": text(), "title": text(), "location": text(), "blocking": { "type": "boolean" },
            "severity": spelled(["CRITICAL", "HIGH", "MEDIUM", "LOW"]),
            "description": optional(json!({ "type": "string" })) } } })
}

fn responses() -> Json {
    json!({ "type": ["array", "null"], "items": {
        "type": "object", "required": ["id", "response"],
        "properties": {
            "id": text(), "response": spelled(["fixed", "rejected", "deferred"]),
            "reason": optional(json!({ "type": "string" })) },
        "if": { "properties": { "response": spelled(["rejected"]) }, "required": ["response"] },
        "then": { "required": ["reason"], "properties": { "reason": text() } } } })
}

fn tracking() -> Json {
    json!({ "type": ["object", "null"], "properties": {
        "iteration": { "type": ["integer", "null"], "minimum": 1 },
        "rejections_accepted": optional(texts()), "rejections_overruled": optional(texts()),
        "fixes_confirmed": optional(texts()), "findings_dropped": dropped() } })
}

fn dropped() -> Json {
    json!({ "type": ["array", "null"], "items": {
        "type": "object", "required": ["id", "reason"], "properties": { "id": text(), "reason": text() } } })
}

fn summary() -> Json {
    let count = json!({ "type": ["integer", "null"], "minimum": 0 });
    json!({ "type": ["object", "null"], "properties": {
        "total_blocking": count, "fixed": count, "rejected_with_reason": count, "unaddressed": count } })
}

fn tests() -> Json {
    json!({ "type": ["object", "null"], "required": ["still_failing"],
        "properties": { "still_failing": texts(), "fixed": optional(texts()), "new": optional(texts()) } })
}

/// The options of a question: none, or a real choice.
fn choice() -> Json {
    json!({ "type": "array", "items": text(), "uniqueItems": true, "maxItems": 10,
        "anyOf": [{ "maxItems": 0 }, { "minItems": 2 }, { "type": "null" }] })
}

fn questions() -> Json {
    let word = optional(json!({ "type": "string" }));
    json!({ "type": ["array", "null"], "maxItems": 10, "items": {
        "type": "object", "required": ["text"],
        "properties": { "text": text(), "category": word, "impact": word, "options": optional(choice()) } } })
}

fn groups(workflow: Option<&Workflow>) -> Json {
    let mut required = vec!["id".to_owned(), "title".to_owned()];
    let mut fields = Map::new();
    let command = json!({ "anyOf": [text(), { "type": "array", "minItems": 1, "items": { "type": "string" } }] });
    fields
        .insert("id".to_owned(), json!({ "type": "string", "pattern": "^\\s*[A-Za-z0-9_][A-Za-z0-9._-]{0,63}\\s*$" }));
    fields.insert("title".to_owned(), text());
    fields.insert("depends_on".to_owned(), optional(json!({ "type": "array", "items": { "type": "string" } })));
    fields.insert("checks".to_owned(), json!({ "type": ["array", "null"], "items": command }));
    let guards = workflow.map_or(&[][..], |workflow| workflow.guards.as_slice());
    for guard in guards.iter().filter(|guard| guard.source == GuardSource::Flag) {
        let mut values = literals(&guard.values);
        if guard.required {
            required.push(guard.name.to_string());
            values.retain(|value| !value.is_null());
        }
        fields.insert(guard.name.to_string(), json!({ "enum": values }));
    }
    json!({ "type": ["array", "null"], "items": { "type": "object", "required": required, "properties": fields } })
}

/// The statuses of all roles. They are listed as declared, and accepted in any spelling.
fn statuses(workflow: &Workflow) -> Json {
    let mut names: Vec<Name> = Vec::new();
    for (index, _) in workflow.roles.iter().enumerate() {
        names.extend(workflow.statuses_of(RoleIx::new(index)));
    }
    names.sort();
    names.dedup();
    let any = if workflow.unknown.is_empty() {
        let aliases = workflow.aliases.keys().map(Name::as_str);
        spelled(names.iter().map(Name::as_str).chain(aliases))
    } else {
        text()
    };
    json!({ "anyOf": [{ "enum": names }, any] })
}

/// These words in any case, with spaces or hyphens for their underscores.
fn spelled<'a>(words: impl IntoIterator<Item = &'a str>) -> Json {
    let letter = |letter: char| match letter {
        ' ' | '-' | '_' => "[ _-]".to_owned(),
        letter if letter.is_ascii_alphabetic() => {
            format!("[{}{}]", letter.to_ascii_uppercase(), letter.to_ascii_lowercase())
        }
        letter if letter.is_ascii_punctuation() => format!("\\{letter}"),
        letter => letter.to_string(),
    };
    let words: Vec<String> = words.into_iter().map(|word| word.chars().map(letter).collect()).collect();
    json!({ "type": "string", "pattern": format!("^\\s*(?:{})\\s*$", words.join("|")) })
}

fn blocked(workflow: Option<&Workflow>) -> Json {
    let declared = workflow.and_then(|workflow| workflow.blocked.as_ref().map(|blocked| (workflow, blocked)));
    let Some((workflow, blocked)) = declared else {
        let status = workflow.is_none().then(|| spelled(["blocked"]));
        let status = status.unwrap_or(Json::Bool(false));
        return if_status(&status, &[tried(), reason(&text())]);
    };
    let aliases =
        workflow.aliases.iter().filter(|(_, meant)| **meant == [blocked.status]).map(|(name, _)| name.as_str());
    let status = spelled([workflow.status_name(blocked.status).as_str()].into_iter().chain(aliases));
    let mut then = vec![tried()];
    let reasons = json!({ "enum": blocked.reasons });
    if blocked.by_reason {
        then.push(reason(&reasons));
    } else {
        let reasons: Vec<Json> = blocked.reasons.iter().map(|name| json!(name)).chain([Json::Null]).collect();
        then.push(json!({ "properties": { "blocked_reason": { "enum": reasons } } }));
    }
    then.extend(demanded(&blocked.demands));
    if_status(&status, &then)
}

fn if_status(status: &Json, then: &[Json]) -> Json {
    json!({ "if": { "properties": { "status": status }, "required": ["status"] }, "then": { "allOf": then } })
}

fn tried() -> Json {
    json!({ "required": ["attempted"], "properties": { "attempted": { "type": "array", "minItems": 1 } } })
}

fn reason(schema: &Json) -> Json {
    json!({ "required": ["blocked_reason"], "properties": { "blocked_reason": schema } })
}

/// Fields that must say something, and claims that must be made.
fn demanded(demands: &HandoffDemands) -> Vec<Json> {
    let something = json!({ "not": { "anyOf": [
        { "type": "null" }, { "type": "string", "pattern": "^\\s*$" },
        { "type": "array", "maxItems": 0 }, { "type": "object", "maxProperties": 0 }] } });
    let required = demands.require.iter().map(|path| nested(path, something.clone()));
    let claimed = demands.verify.iter().map(|name| nested(&format!("verification.{name}"), json!({ "const": true })));
    required.chain(claimed).collect()
}

fn nested(path: &str, schema: Json) -> Json {
    path.rsplit('.')
        .fold(schema, |inside, key| json!({ "type": "object", "required": [key], "properties": { key: inside } }))
}

/// Declared values as JSON has them, where `true` is not `"true"`, or none.
fn literals(values: &[Name]) -> Vec<Json> {
    let typed = |value: &Name| match value.as_str() {
        "true" => Json::Bool(true),
        "false" => Json::Bool(false),
        text => serde_json::from_str::<serde_json::Number>(text).map_or_else(|_| Json::from(text), Json::Number),
    };
    let mut all: Vec<Json> = Vec::new();
    for value in values.iter().flat_map(|value| [typed(value), Json::from(value.as_str())]).chain([Json::Null]) {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}
