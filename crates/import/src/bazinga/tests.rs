use interlock_core::workflow::{self, Workflow, load_builtin};
use serde_json::{Value as Json, json};

use super::*;
use crate::bazinga::tables::LIMITS;

const ORIGINAL: &str = include_str!("../../../../tests/data/bazinga/transitions.json");

fn imported(text: &str) -> ImportedWorkflow {
    import("transitions.json", text).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn loaded(text: &str) -> Workflow {
    let yaml = imported(text).yaml;
    let loaded = workflow::load("imported.yaml", &yaml, &|_| None);
    assert!(loaded.problems.is_empty(), "{:#?}", loaded.problems);
    loaded.workflow.expect("it has no problems")
}

/// Every problem as `line:column length message`.
fn problems(text: &str) -> Vec<String> {
    let problems = import("transitions.json", text).err().unwrap_or_default();
    assert!(problems.iter().all(|problem| problem.code == Code::ImportFailed));
    let told = problems.iter().map(|problem| {
        let at = problem.at.as_ref().expect("every problem has a place");
        assert_eq!(&*at.file, "transitions.json");
        format!("{}:{} {} {}", at.line, at.column, at.length, problem.message)
    });
    told.collect()
}

fn row(next: &str, action: &str) -> Json {
    json!({ "next_agent": next, "action": action, "include_context": ["output"] })
}

fn edited(edit: impl FnOnce(&mut Json)) -> String {
    let mut document: Json = serde_json::from_str(ORIGINAL).unwrap();
    edit(&mut document);
    document.to_string()
}

#[test]
fn the_original_becomes_the_file_that_reviewers_have_read() {
    let imported = imported(ORIGINAL);
    assert_eq!(imported.yaml, include_str!("../../../../tests/data/bazinga/imported.yaml"));
    assert_eq!(imported.notes.join("\n") + "\n", include_str!("../../../../tests/data/bazinga/notes.txt"));
}

#[test]
fn limits_are_those_of_the_built_in_workflow() {
    let team = load_builtin("delivery-team").and_then(|loaded| loaded.workflow).unwrap();
    for (name, limit) in LIMITS.iter().filter(|(name, _)| !matches!(*name, "handover" | "rework")) {
        let own = team.loops.iter().find(|item| item.name == *name).map(|item| item.limit.iteration);
        assert_eq!(own, Some(*limit), "{name}");
    }
    let ours = loaded(ORIGINAL);
    for name in ["qa", "review"] {
        let of = |workflow: &Workflow| {
            let found = workflow.loops.iter().find(|item| item.name == name).unwrap();
            (found.limit, found.warn, found.measure)
        };
        assert_eq!(of(&ours), of(&team), "{name}");
    }
    assert_eq!(ours.blocked.unwrap().reasons, team.blocked.unwrap().reasons);
}

#[test]
fn numbers_of_the_file_are_taken_from_the_file() {
    let text = edited(|document| {
        document["_special_rules"]["escalation_after_failures"]["threshold"] = json!(7);
        document["_special_rules"]["research_tasks"]["max_parallel"] = json!(3);
        document["project_manager"]["PLANNING_COMPLETE"]["max_parallel"] = json!(9);
        document["project_manager"]["CONTINUE"]["max_parallel"] = json!(6);
    });
    let workflow = loaded(&text);
    let review = workflow.loops.iter().find(|item| item.name == "review").unwrap();
    assert_eq!(review.limit.no_progress, Some(7));
    assert_eq!(review.limit.iteration, 7, "a cap below the threshold would make it void");
    assert_eq!(workflow.groups_at_most, 6);
    let notes = imported(&text).notes;
    assert!(notes.iter().any(|note| note.starts_with("project_manager.PLANNING_COMPLETE.max_parallel: dropped")));
    let researcher = workflow.role_named("requirements_engineer").unwrap();
    assert_eq!(workflow.role(researcher).at_most, Some(3));
}

#[test]
fn agents_may_have_any_names() {
    let names = [
        ("senior_software_engineer", "guru"),
        ("developer", "builder"),
        ("tech_lead", "reviewer: chief"),
        ("project_manager", "#boss"),
        ("qa_expert", "null"),
        ("investigator", "Ermittler \\\"Ü\\\""),
        ("requirements_engineer", "{re}"),
    ];
    let quoted = |name: &str| format!("\"{name}\"");
    let text = names.iter().fold(ORIGINAL.to_owned(), |text, (old, new)| text.replace(&quoted(old), &quoted(new)));
    let plain = |workflow: &Workflow| workflow.rules.len();
    let (renamed, original) = (loaded(&text), loaded(ORIGINAL));
    assert_eq!(plain(&renamed), plain(&original));
    let rung = |workflow: &Workflow, name: &str| {
        let role = workflow.role(workflow.role_named(name).unwrap()).clone();
        role.escalates_to.map(|above| workflow.role(above).name.to_string())
    };
    assert_eq!(rung(&renamed, "builder").as_deref(), Some("guru"));
    assert_eq!(rung(&renamed, "null").as_deref(), Some("reviewer: chief"));
    assert_eq!(rung(&renamed, "Ermittler \"Ü\"").as_deref(), Some("reviewer: chief"));
    assert_eq!(rung(&renamed, "reviewer: chief").as_deref(), Some("#boss"));
    assert_eq!(rung(&renamed, "#boss"), None);
}

#[test]
fn unknown_agents_and_fields_are_taken_in_or_told() {
    let text = edited(|document| {
        document["auditor"] = json!({
            "AUDIT_PASSED": row("tech_lead", "spawn"),
            "AUDIT_FAILED": { "next_agent": "developer", "action": "respawn", "escalation_check": true, "colour": 5 },
            "RETEST": row("qa_expert", "respawn"),
            "NEEDS_SCOUT": { "next_agent": "scout", "action": "spawn", "fallback_agent": "tech_lead" },
        });
        document["qa_expert"]["NEEDS_AUDIT"] = row("auditor", "spawn");
        document["_mood"] = json!("fine");
    });
    let imported = imported(&text);
    for line in [
        "AUDIT_FAILED: { respawn: author, loop: failures }",
        "RETEST:       { spawn: qa_expert, loop: investigation, with: [output] }",
        "NEEDS_AUDIT:   { consult: auditor, loop: investigation, with: [output] }",
        "NEEDS_SCOUT:  { consult: scout, otherwise: { spawn: tech_lead } }",
        "failures: 2",
    ] {
        assert!(imported.yaml.contains(line), "{line}\n{}", imported.yaml);
    }
    for note in [
        "auditor.AUDIT_FAILED.colour: not known here; dropped",
        "_mood: not known here; dropped",
        "auditor.NEEDS_SCOUT.fallback_agent: works now: `tech_lead` helps where the first choice waits for help itself",
        "scout: named as a next agent, with no statuses of its own; whatever it reports goes to `tech_lead`",
    ] {
        assert!(imported.notes.iter().any(|own| own == note), "{note}\n{:#?}", imported.notes);
    }
}

#[test]
fn a_small_file_gets_what_a_workflow_needs() {
    let workflow = loaded(r#"{ "coder": { "DONE": { "next_agent": null, "action": "pause_for_user" } } }"#);
    for role in ["coder", "developer", "project_manager", "validator"] {
        assert!(workflow.role_named(role).is_some(), "{role}");
    }
    let pair = r#"{
        "coder": {
            "READY": { "next_agent": "reader", "action": "spawn" },
            "MERGE_CONFLICT": { "next_agent": "coder", "action": "respawn" }
        },
        "reader": {
            "OK": { "next_agent": "coder", "action": "spawn_merge" },
            "BAD": { "next_agent": "coder", "action": "respawn" }
        }
    }"#;
    let imported = imported(pair);
    assert!(imported.yaml.contains("OK:  { merge: author, passes: [review] }"), "{}", imported.yaml);
    assert!(imported.yaml.contains("BAD: { respawn: author, loop: rework }"), "{}", imported.yaml);
    assert!(
        imported.notes.iter().any(|note| note == "project_manager: not in the file; added, as a workflow needs it")
    );
    assert!(loaded(pair).role(loaded(pair).role_named("coder").unwrap()).author);
}

#[test]
fn every_mistake_is_told_at_once_with_its_place() {
    let text = r#"{
  "developer": {
    "READY": { "next_agent": "qa", "action": "spwan" },
    "DONE": { "action": "spawn" },
    "ODD": { "next_agent": "_somebody", "action": "spawn" },
    "LIST": [],
    "ready": { "next_agent": "qa", "action": "spawn", "include_context": ["a", 5], "max_parallel": 0 },
    "FINE": { "next_agent": "qa", "action": "spawn" },
    "F": { "next_agent": "qa", "action": "spawn" },
    "f": { "next_agent": "qa", "action": "respawn" }
  },
  "user": {},
  "developer": {},
  "_special_rules": { "escalation_after_failures": { "threshold": "two" } },
  "_status_aliases": { "A": 5 }
}"#;
    assert_eq!(
        problems(text),
        [
            "13:3 11 `developer` stands twice",
            "3:46 7 there is no action `spwan`",
            "4:5 6 `developer.DONE` starts an agent, but `next_agent` names none",
            "5:28 11 `_somebody` is no agent, and no target that is known here",
            "6:13 2 `developer.LIST` is an object, not a list",
            "7:80 1 `include_context` lists names, not a number",
            "7:100 1 `max_parallel` is a whole number from 1, not a number",
            "10:5 3 `F` and `f` are one status",
            "12:3 6 `user` cannot be an agent: it has a meaning of its own in a workflow",
            "14:67 5 `threshold` is a whole number from 1, not text",
            "14:23 27 `escalation_after_failures` needs `escalation_agent`",
            "15:29 1 alias `A` stands for a status, not a number",
        ]
    );
    let help = import("t.json", r#"{ "a": { "B": { "action": "spwan" } } }"#).unwrap_err().remove(0).help;
    assert_eq!(help.as_deref(), Some("did you mean `spawn`?"));
}

#[test]
fn the_validator_is_nobody_to_give_work_to() {
    let text = edited(|document| {
        document["_special_rules"]["security_sensitive"]["force_agent"] = json!("validator");
        document["_special_rules"]["research_tasks"]["agent"] = json!("validator");
        document["tech_lead"]["APPROVED"]["next_agent"] = json!("validator");
        document["developer"]["READY_FOR_REVIEW"]["next_agent"] = json!("validator");
    });
    let told: Vec<String> = problems(&text).iter().map(|told| told.splitn(3, ' ').last().unwrap().to_owned()).collect();
    assert_eq!(
        told,
        [
            "`tech_lead.APPROVED` gives work to `validator`",
            "no work can be given to `validator`, which Interlock plays itself",
            "no work can be given to `validator`, which Interlock plays itself",
        ]
    );
}

#[test]
fn the_lead_may_be_the_one_who_works() {
    let text = edited(|document| {
        for status in ["PLANNING_COMPLETE", "CONTINUE"] {
            document["project_manager"][status]["next_agent"] = json!("tech_lead");
        }
    });
    assert!(loaded(&text).role(loaded(&text).role_named("tech_lead").unwrap()).author);
}

#[test]
fn what_is_no_state_machine_is_refused() {
    assert_eq!(problems("[]"), ["1:1 2 the file is an object, not a list"]);
    assert_eq!(problems("{}"), ["1:1 2 there is no agent in this file"]);
    assert_eq!(problems("{ \"a\": \n"), ["1:8 1 this is not JSON: EOF while parsing a value"]);
    assert_eq!(problems(&" ".repeat(MAX_BYTES + 1)).len(), 1);
    let crowd: Vec<String> = (0..200).map(|n| format!("\"a{n}\":{{}}")).collect();
    assert_eq!(problems(&format!("{{{}}}", crowd.join(","))), ["1:1 1891 200 agents; at most 100 can be imported"]);
}

#[test]
fn aliases_that_mean_nothing_are_dropped_and_told() {
    let text = edited(|document| {
        let aliases =
            json!({ "ready-for-qa": "READY_FOR_QA", "GONE": "NOWHERE", "OK THEN": "APPROVED", "ok_then": "PASS" });
        document["_status_aliases"] = aliases;
    });
    let imported = imported(&text);
    assert!(imported.yaml.contains("aliases:\n  \"OK THEN\": APPROVED\n\n"), "{}", imported.yaml);
    let dropped =
        imported.notes.iter().filter(|note| note.starts_with("_status_aliases") && note.contains(": dropped"));
    assert_eq!(dropped.count(), 3, "{:#?}", imported.notes);
}

/// Every value of the file in turn, replaced by values of every other shape.
#[test]
fn whatever_the_file_says_it_is_imported_or_refused_with_a_place() {
    let odd = [json!(null), json!(5), json!("a: b\n#"), json!("validator"), json!("tech_lead"), json!({})];
    let document: Json = serde_json::from_str(ORIGINAL).unwrap();
    let (mut taken, mut refused) = (0, 0);
    for (index, path) in paths(&document, "").into_iter().enumerate() {
        // Not every value everywhere: each import is checked by loading what it made.
        for value in odd.iter().cycle().skip(index).take(2) {
            let mut changed = document.clone();
            *changed.pointer_mut(&path).unwrap() = value.clone();
            match import("t.json", &changed.to_string()) {
                Ok(_) => taken += 1,
                Err(problems) => {
                    refused += 1;
                    let told = |problem: &Problem| problem.at.is_some() && !problem.message.starts_with("no workflow");
                    assert!(problems.iter().all(told), "{path} {value}: {problems:?}");
                }
            }
        }
    }
    assert!(taken > 200 && refused > 200, "{taken} taken, {refused} refused");
    for length in (0..ORIGINAL.len()).step_by(3).filter(|length| ORIGINAL.is_char_boundary(*length)) {
        assert_eq!(import("t.json", &ORIGINAL[..length]).is_ok(), length + 1 == ORIGINAL.len(), "{length}");
    }
}

fn paths(value: &Json, path: &str) -> Vec<String> {
    let inner: Vec<(String, &Json)> = match value {
        Json::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Json::Array(items) => items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Vec::new(),
    };
    let below = inner.into_iter().flat_map(|(key, value)| paths(value, &format!("{path}/{key}")));
    std::iter::once(path.to_owned()).chain(below).collect()
}
