//! What to return: a skeleton, the statuses that are accepted now with their meanings, and the fields that each one takes.

use interlock_core::decide::{Offer, offers};
use interlock_core::handoff::skills_of_task;
use interlock_core::id::Name;
use interlock_core::state::Progress;
use interlock_core::workflow::{GuardSource, Task};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::brief::{Brief, ReturnChannel, data};

/// Fields that every skeleton has, in one form or another.
const IN_SKELETON: &[&str] = &["summary", "phase", "skills_invoked"];

#[derive(Debug, Serialize)]
pub(super) struct ResponseSpec {
    skeleton: String,
    statuses: Vec<String>,
    /// Fields that several statuses take, or any of them.
    fields: Vec<String>,
    /// How the handoff reaches Interlock. Empty in a run, which adds its own words.
    how: String,
}

impl ResponseSpec {
    pub(super) fn of(brief: &Brief<'_>, reference: &str) -> Self {
        let offers: Vec<Offer> = offers(brief.workflow, brief.state, brief.assignment)
            .into_iter()
            .filter(|offer| brief.is_useful(offer))
            .collect();
        let shared = shared_requirements(&offers);
        Self {
            skeleton: brief.skeleton(&shared),
            statuses: brief.status_lines(&offers, &shared),
            fields: brief.response_fields().into_iter().collect(),
            how: brief.how_to_return(reference),
        }
    }
}

/// Fields that every status but the blocked one needs.
fn shared_requirements(offers: &[Offer]) -> Vec<Name> {
    let mut ways = offers.iter().filter(|offer| !offer.blocked);
    let Some(first) = ways.next() else { return Vec::new() };
    let rest: Vec<&Offer> = ways.collect();
    let is_shared = |field: &&Name| rest.iter().all(|offer| offer.demands.require.contains(field));
    first.demands.require.iter().filter(is_shared).cloned().collect()
}

impl Brief<'_> {
    /// Statuses that would be accepted and then lead nowhere are not shown.
    fn is_useful(&self, offer: &Offer) -> bool {
        if self.workflow.has_phases() || self.assignment.task != Task::Work {
            return true;
        }
        let plans_first = offer.plans && requires(offer, "groups");
        match self.state.groups.is_empty() {
            true => (!offer.ends || offer.without_groups) && (!offer.plans || plans_first),
            false => !plans_first && !offer.without_groups,
        }
    }

    fn skeleton(&self, shared: &[Name]) -> String {
        let mut skeleton = Map::new();
        let mut put = |key: &str, value: Json| skeleton.insert(key.to_owned(), value);
        put("status", json!("<one of these>"));
        let phase = self.assignment.phase.as_ref();
        let phase = phase.and_then(|name| self.workflow.phases.iter().find(|phase| phase.name == *name));
        if let Some(phase) = phase.filter(|_| shared.iter().any(|field| *field == "phase")) {
            put("phase", json!(phase.called));
        }
        if shared.iter().any(|field| *field == "summary") {
            put("summary", json!("<what, how much, with what result>"));
        }
        if !self.skills().is_empty() {
            put("skills_invoked", json!(["…"]));
        }
        for field in shared.iter().filter(|field| !IN_SKELETON.contains(&field.as_str()) && !field.contains('.')) {
            // The fields of handoffs that hold paths are lists.
            let is_list = matches!(field.as_str(), "files_modified" | "artifacts" | "source_files_verified");
            put(field, if is_list { json!(["…"]) } else { json!("…") });
        }
        put("handoff", json!({ "context": "<all that the next role must know>" }));
        let members: Vec<String> =
            skeleton.iter().map(|(key, value)| format!("{}: {value}", Json::from(key.as_str()))).collect();
        data::text(&format!("{{{}}}", members.join(", ")))
    }

    /// The skills of the role, and of the phase where the role does the phase's own work.
    pub(super) fn skills(&self) -> Vec<&Name> {
        let phase = self.assignment.phase.as_deref();
        skills_of_task(self.workflow, &self.assignment.role, phase, self.assignment.task)
    }

    fn status_line(&self, offer: &Offer, shared: &[Name]) -> String {
        let mut line = format!("- `{}`", offer.status);
        if let Some(means) = &offer.means {
            line.push_str(&format!(": {}", data::line(means)));
        }
        let mut notes = Vec::new();
        let own = offer.demands.require.iter().filter(|field| !shared.contains(field));
        let own: Vec<Name> = own.filter(|field| !is_explained(field)).cloned().collect();
        if !own.is_empty() {
            notes.push(format!("needs {}", quoted(&own)));
        }
        if !offer.demands.verify.is_empty() {
            let claims: Map<String, Json> =
                offer.demands.verify.iter().map(|claim| (claim.to_string(), json!(true))).collect();
            notes.push(format!("needs `\"verification\": {}`, each true only if it is so", Json::Object(claims)));
        }
        for outcome in &offer.facts {
            let default = if outcome.is_default { ", also if absent" } else { "" };
            notes.push(format!("`{}: {}`{default}: {}", outcome.fact, outcome.value, data::line(&outcome.leads_to)));
        }
        if !notes.is_empty() {
            line.push_str(&format!(" ({})", notes.join("; ")));
        }
        line
    }

    /// Each status with its meaning. Fields follow the last status that takes them, and name the others.
    fn status_lines(&self, offers: &[Offer], shared: &[Name]) -> Vec<String> {
        let mut lines: Vec<String> = offers.iter().map(|offer| self.status_line(offer, shared)).collect();
        let mut add = |takes: fn(&Offer) -> bool, text: String| {
            let takers: Vec<usize> = (0..offers.len()).filter(|index| offers.get(*index).is_some_and(takes)).collect();
            let Some((last, others)) = takers.split_last().filter(|_| !text.is_empty()) else { return };
            let others: Vec<Name> =
                others.iter().filter_map(|index| offers.get(*index)).map(|offer| offer.status.clone()).collect();
            let also = if others.is_empty() { String::new() } else { format!(" (also with {})", quoted(&others)) };
            if let Some(line) = lines.get_mut(*last) {
                line.push_str(&format!("\n  Add{also} {text}"));
            }
        };
        add(|offer| offer.plans, self.plan_fields());
        add(|offer| offer.findings, self.finding_fields());
        add(
            |offer| offer.tests,
            r#"`"test_progression":{"still_failing":["<test>"],"fixed":[],"new":[]}`."#.to_owned(),
        );
        add(|offer| offer.asks, r#"`"questions":[{"text":"…","options":["…","…"]}]` (options optional)."#.to_owned());
        add(|offer| offer.ends, self.ending_fields());
        add(|offer| offer.blocked, self.blocked_fields(offers));
        lines
    }

    fn plan_fields(&self) -> String {
        let mut group = vec![
            r#""id":"<A-Za-z0-9._->""#.to_owned(),
            r#""title":"…""#.to_owned(),
            r#""description":"<what to do, when it is done>""#.to_owned(),
        ];
        for guard in self.workflow.guards.iter().filter(|guard| guard.source == GuardSource::Flag) {
            let values: Vec<&str> = guard.values.iter().map(Name::as_str).collect();
            group.push(format!("\"{}\":\"{}\"", guard.name, values.join("|")));
        }
        group.push(r#""depends_on":["<id>"]"#.to_owned());
        group.push(r#""checks":[["npm","test"]]"#.to_owned());
        format!(
            "`\"groups\":[{{{}}}]`. Up to {} run at once; no two may touch the same files. `checks` must pass, run without a \
             shell.",
            group.join(","),
            self.workflow.groups_at_most
        )
    }

    fn finding_fields(&self) -> String {
        let issue = r#"`"issues":[{"id":"…","title":"…","location":"<file:line>","severity":"CRITICAL|HIGH|MEDIUM|LOW","blocking":true,"description":"<why, and how to fix it>"}]`: every finding that is open now."#;
        let reviewed = self.group().is_some_and(|group| group.reviewers.contains(&self.assignment.role));
        match reviewed {
            true => format!(
                "{issue} Settle each earlier finding of yours by id: `\"iteration_tracking\":{{\"iteration\":{},\"fixes_confirmed\":[],\
                 \"rejections_accepted\":[],\"rejections_overruled\":[],\"findings_dropped\":[{{\"id\":\"…\",\"reason\":\"…\"}}]}}`.",
                self.review_iteration()
            ),
            false => issue.to_owned(),
        }
    }

    fn ending_fields(&self) -> String {
        let named = |fits: fn(&Progress) -> bool| -> Vec<&str> {
            let groups = self.state.groups.iter().filter(|group| fits(&group.progress));
            groups.map(|group| group.id.as_str()).collect()
        };
        let awaiting = named(|progress| *progress == Progress::AwaitingConfirmation);
        let deferred =
            named(|progress| matches!(progress, Progress::Ended(interlock_core::state::End::Deferred { .. })));
        let mut parts = Vec::new();
        if !awaiting.is_empty() {
            parts.push(format!(
                "`\"accept\": {}` to confirm these groups (left out, all are confirmed)",
                json!(awaiting)
            ));
        }
        if !deferred.is_empty() {
            parts.push(format!("`\"acknowledge\": {}` to name the deferred groups that stay undone", json!(deferred)));
        }
        if parts.is_empty() { String::new() } else { format!("{}.", parts.join("; ")) }
    }

    fn blocked_fields(&self, offers: &[Offer]) -> String {
        let mut fields = vec![r#""attempted":["<what you tried>"]"#.to_owned()];
        let blocked = self.workflow.blocked.as_ref();
        if let Some(blocked) = blocked.filter(|blocked| blocked.by_reason) {
            let reasons: Vec<&str> = blocked.reasons.iter().map(Name::as_str).collect();
            fields.push(format!("\"blocked_reason\":\"{}\"", reasons.join("|")));
        }
        let offer = offers.iter().find(|offer| offer.blocked);
        let mut text = format!("`{}`", fields.join(", "));
        if offer.is_some_and(|offer| requires(offer, "handoff.blockers")) {
            text.push_str(r#", in `handoff`: `"blockers":[{"type":"…","description":"…","resolution":"…"}]`"#);
        }
        if offer.is_some_and(|offer| offer.reaches_person) {
            text.push_str("; `handoff.options` if a person must choose");
        }
        format!("{text}.")
    }

    fn response_fields(&self) -> Option<String> {
        let group = self.group().filter(|_| self.answers_findings())?;
        Some(format!(
            "With any status, answer each open finding by its id: `\"issue_responses\":[{{\"id\":\"…\",\"response\":\
             \"fixed|rejected|deferred\",\"reason\":\"<unless fixed>\"}}],\"blocking_summary\":{{\"total_blocking\":{},\"fixed\":0,\
             \"rejected_with_reason\":0,\"unaddressed\":0}}`.",
            group.blocking_findings()
        ))
    }

    fn how_to_return(&self, reference: &str) -> String {
        let directory = data::line(self.output_directory);
        let file = format!("{}/handoff.json", directory.trim_end_matches('/'));
        match self.channel {
            ReturnChannel::Run => String::new(),
            ReturnChannel::LastMessage => {
                "End with it as the last JSON block of your message. If it is refused, correct it and end again."
                    .to_owned()
            }
            ReturnChannel::Command => format!(
                "Save it as `handoff.json` in OUTPUT_DIRECTORY and run `interlock report --assignment {} {}` if \
                 `INTERLOCK_TOKEN` is set. If it is refused, correct it and repeat.",
                data::shell(reference),
                data::shell(&file)
            ),
        }
    }
}

fn requires(offer: &Offer, field: &str) -> bool {
    offer.demands.require.iter().any(|required| *required == field)
}

/// Required fields that a line of their own explains.
fn is_explained(field: &Name) -> bool {
    matches!(field.as_str(), "groups" | "handoff.blockers" | "attempted" | "blocked_reason" | "summary" | "phase")
}

fn quoted(names: &[Name]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
