//! What to return, and how: the statuses that are accepted now, a skeleton, and what each status adds to it.

use interlock_core::decide::{Offer, offers};
use interlock_core::id::Name;
use interlock_core::workflow::{GuardSource, Measure, Workflow};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::brief::{Brief, data};

#[derive(Debug, Serialize)]
pub(super) struct Back {
    /// The file to write.
    file: String,
    command: String,
    skeleton: Block,
    statuses: Vec<Status>,
    additions: Vec<Addition>,
    /// One of the statuses says that the holder cannot go on.
    can_block: bool,
}

#[derive(Debug, Serialize)]
struct Status {
    name: Name,
    asks: Vec<String>,
}

/// Fields that some statuses bring.
#[derive(Debug, Serialize)]
struct Addition {
    title: String,
    block: Block,
}

#[derive(Debug, Serialize)]
struct Block {
    fence: String,
    text: String,
}

impl Block {
    /// One line for each field.
    fn of(json: &Json) -> Self {
        let members = json.as_object().into_iter().flatten();
        let lines: Vec<String> =
            members.map(|(key, value)| format!("  {}: {value}", Json::from(key.as_str()))).collect();
        let text = data::text(&format!("{{\n{}\n}}", lines.join(",\n")));
        Self { fence: data::fence(&text), text }
    }
}

impl Back {
    pub(super) fn of(brief: &Brief<'_>, reference: &str) -> Self {
        let offers = offers(brief.workflow, brief.state, brief.assignment);
        let directory = data::line(brief.output_directory);
        let file = format!("{}/handoff.json", directory.trim_end_matches('/'));
        let command = format!("interlock report --assignment {} {}", data::shell(reference), data::shell(&file));
        Self {
            command,
            file,
            skeleton: Block::of(&brief.skeleton(&directory)),
            statuses: offers
                .iter()
                .map(|offer| Status { name: offer.status.clone(), asks: asks(brief.workflow, offer) })
                .collect(),
            additions: brief.additions(&offers),
            can_block: offers.iter().any(|offer| offer.blocked),
        }
    }
}

/// What a status asks of its handoff.
fn asks(workflow: &Workflow, offer: &Offer) -> Vec<String> {
    let mut asks = Vec::new();
    if let Some(blocked) = workflow.blocked.as_ref().filter(|_| offer.blocked) {
        let needed = if blocked.by_reason { "must be" } else { "may be given, as" };
        let reasons = quoted(&blocked.reasons);
        asks.push("you cannot go on".to_owned());
        asks.push("`attempted` must list what you tried, at least one thing".to_owned());
        if !blocked.reasons.is_empty() {
            asks.push(format!("`blocked_reason` {needed} one of {reasons}"));
        }
        asks.push("`handoff.next_agent` must be null: the workflow decides who helps".to_owned());
    }
    if !offer.demands.require.is_empty() {
        asks.push(format!("needs {}", quoted(&offer.demands.require)));
    }
    if !offer.demands.verify.is_empty() {
        let claims: Vec<String> = offer.demands.verify.iter().map(|claim| format!("`verification.{claim}`")).collect();
        asks.push(format!("needs {} to be true", claims.join(", ")));
    }
    if offer.findings {
        asks.push("`issues` says every finding that is open now".to_owned());
    }
    if offer.tests {
        asks.push("`test_progression` says every test that fails now".to_owned());
    }
    if offer.plans && !offer.demands.require.iter().any(|field| *field == "groups") {
        asks.push("may bring `groups`".to_owned());
    }
    if !offer.hands_on.is_empty() {
        asks.push(format!("hands on {}", quoted(&offer.hands_on)));
    }
    if offer.asks {
        asks.push("a person answers, and the work comes back".to_owned());
    }
    if offer.ends {
        asks.push("asks for the end of the session; the validator judges".to_owned());
    }
    for guard in offer.facts.iter().filter_map(|fact| workflow.guard_named(fact)) {
        asks.push(format!("`{}` may be {}", guard.name, quoted(&guard.values)));
    }
    asks
}

fn quoted(names: &[Name]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl Brief<'_> {
    /// What every handoff has. Placeholders stand in angle brackets.
    fn skeleton(&self, directory: &str) -> Json {
        let mut skeleton = Map::new();
        let mut put = |key: &str, value: Json| skeleton.insert(key.to_owned(), value);
        put("agent", json!(self.assignment.role));
        put("output_type", json!("<a word for the kind of output>"));
        put("timestamp", json!("<now, as in 2026-01-18T15:42:00Z>"));
        put("feature_directory", json!(directory));
        let phase = self.assignment.phase.as_ref();
        let phase = phase.and_then(|name| self.workflow.phases.iter().find(|phase| phase.name == *name));
        if let Some(phase) = phase {
            put("phase", json!(phase.called));
        }
        put("skills_invoked", json!(["<every skill that you invoked>"]));
        if self.is_author() {
            put("files_modified", json!(["<every file that you changed>"]));
        }
        put("summary", json!("<what was done, how much of it, with what result>"));
        put("status", json!("<one of the statuses below>"));
        let context = "<what the next one has to know to go on>";
        put("handoff", json!({ "next_agent": null, "context": context }));
        Json::Object(skeleton)
    }

    fn additions(&self, offers: &[Offer]) -> Vec<Addition> {
        let mut additions = Vec::new();
        let mut add = |of: fn(&Offer) -> bool, json: Json| {
            let names: Vec<Name> = offers.iter().filter(|offer| of(offer)).map(|offer| offer.status.clone()).collect();
            if !names.is_empty() {
                additions.push(Addition { title: format!("With {}", quoted(&names)), block: Block::of(&json) });
            }
        };
        add(|offer| offer.plans, json!({ "groups": [planned(self.workflow)] }));
        add(|offer| offer.findings, self.review());
        let tests = json!({ "still_failing": ["<test>"], "fixed": [], "new": [] });
        add(|offer| offer.tests, json!({ "test_progression": tests }));
        let question =
            json!({ "text": "<question>", "options": ["<one>", "<other>"], "impact": "<what waits for it>" });
        add(|offer| offer.asks, json!({ "questions": [question] }));
        let (accept, acknowledge) = (["<group awaiting confirmation>"], ["<deferred group>"]);
        add(|offer| offer.ends, json!({ "accept": accept, "acknowledge": acknowledge }));
        add(|offer| offer.blocked, blocked());
        if let Some(group) = self.group().filter(|_| self.answers_findings()) {
            let title = "With any status, in answer to the open findings".to_owned();
            let response = json!({ "id": "<id>", "response": "<fixed, rejected or deferred>", "reason": "<needed where rejected>" });
            let summary = json!({ "total_blocking": group.blocking_findings(), "fixed": 0, "rejected_with_reason": 0, "unaddressed": 0 });
            let json = json!({ "issue_responses": [response], "blocking_summary": summary });
            additions.push(Addition { title, block: Block::of(&json) });
        }
        additions
    }

    fn review(&self) -> Json {
        let of_findings = |name: &Name| {
            let item = self.workflow.loops.iter().find(|item| item.name == *name);
            item.is_some_and(|item| item.measure == Some(Measure::BlockingFindings))
        };
        let passages = self.lane().counters.iter().filter(|counter| of_findings(&counter.counted));
        let iteration = passages.map(|counter| counter.iteration).max().unwrap_or(0).saturating_add(1);
        let issue = json!({ "id": "<id>", "title": "<what is wrong>", "location": "<file:line>",
            "severity": "<CRITICAL, HIGH, MEDIUM or LOW>", "blocking": true,
            "description": "<why it is wrong, and how to mend it>" });
        let tracking = json!({ "iteration": iteration, "fixes_confirmed": [], "rejections_accepted": [],
            "rejections_overruled": [], "findings_dropped": [] });
        json!({ "issues": [issue], "iteration_tracking": tracking })
    }
}

fn blocked() -> Json {
    let blocker = json!({ "type": "<kind>", "description": "<what is in the way>", "resolution": "<what would help>" });
    json!({
        "blocked_reason": "<one of the reasons above>",
        "attempted": ["<what you tried, and what came of it>"],
        "handoff": { "next_agent": null, "context": "<the blocker, so that somebody else can settle it>", "blockers": [blocker] },
    })
}

fn planned(workflow: &Workflow) -> Json {
    let mut group = Map::new();
    group.insert("id".to_owned(), json!("<id>"));
    group.insert("title".to_owned(), json!("<title>"));
    group.insert("description".to_owned(), json!("<what is to be done, and how one sees that it is>"));
    for guard in workflow.guards.iter().filter(|guard| guard.source == GuardSource::Flag) {
        let values: Vec<&str> = guard.values.iter().map(Name::as_str).collect();
        group.insert(guard.name.to_string(), json!(format!("<{}>", values.join(", "))));
    }
    group.insert("depends_on".to_owned(), json!([]));
    group.insert("checks".to_owned(), json!(["<command that must pass>"]));
    Json::Object(group)
}
