//! The return format: a skeleton, the statuses that are accepted now with their meanings, and the fields of each one.
//!
//! The page of a role shows the same skeleton and the same status lines. See [`RoleReturnFormat`].

use interlock_core::decide::{AcceptedStatus, ReplacedRole, list_accepted_statuses};
use interlock_core::handoff::{mandatory_skills, skills_of_task};
use interlock_core::id::Name;
use interlock_core::state::GroupProgress;
use interlock_core::workflow::{AssignmentTask, GuardSource, LoopMeasure, Role, Workflow};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::PromptContext;
use crate::ReturnChannel;
use crate::data;
use crate::open_groups::FACTS_HEADING;

/// Fields that the skeleton has where they are needed.
const IN_SKELETON: &[&str] = &["summary", "skills_invoked"];
/// Required fields that Interlock fills in for the holder of an assignment.
const FILLED_IN: &[&str] = &["agent", "output_type", "timestamp", "feature_directory", "phase", "handoff.next_agent"];

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
    pub(super) fn of(brief: &PromptContext<'_>, reference: &str) -> Self {
        let offers = list_accepted_statuses(brief.workflow, brief.state, brief.assignment);
        // There is nothing to judge yet while an author waits for help.
        let helps_author = brief.helps_author() && offers.iter().any(|offer| offer.returns);
        let judges = |offer: &AcceptedStatus| helps_author && offer.findings && !offer.returns;
        let is_shown = |offer: &AcceptedStatus| brief.is_useful(offer) && !judges(offer);
        let offers: Vec<AcceptedStatus> = offers.into_iter().filter(is_shown).collect();
        let shared = shared_requirements(&offers);
        Self {
            skeleton: skeleton(&shared, !brief.skills().is_empty()),
            statuses: brief.status_lines(&offers, &shared),
            fields: brief.response_fields().into_iter().collect(),
            how: brief.how_to_return(reference),
        }
    }
}

/// The return format of a role without an assignment: only what holds for all of its assignments.
#[derive(Debug)]
pub struct RoleReturnFormat {
    pub skeleton: String,
    pub statuses: Vec<String>,
}

impl RoleReturnFormat {
    pub fn of(workflow: &Workflow, role: &Role) -> Self {
        let has_skills = !mandatory_skills(workflow, &role.name, None).is_empty();
        let meanings = workflow.role_named(&role.name).map(|ix| workflow.status_meanings(ix)).unwrap_or_default();
        Self {
            skeleton: skeleton(&workflow.handoff.demands.require, has_skills),
            statuses: meanings.iter().map(|(status, means)| status_head(status, means.as_deref())).collect(),
        }
    }
}

/// A status with the words that follow it.
fn status_head(status: &str, words: Option<&str>) -> String {
    let words = words.map(|words| format!(": {}", data::line(words))).unwrap_or_default();
    format!("- `{status}`{words}")
}

/// The smallest handoff that has these required fields.
fn skeleton(required: &[Name], has_skills: bool) -> String {
    let mut skeleton = Map::new();
    let mut put = |key: &str, value: Json| skeleton.insert(key.to_owned(), value);
    put("status", json!("…"));
    if required.iter().any(|field| *field == "summary") {
        put("summary", json!("<what, how much, result>"));
    }
    if has_skills {
        put("skills_invoked", json!(["…"]));
    }
    let is_extra = |field: &&Name| ![IN_SKELETON, FILLED_IN].iter().any(|known| known.contains(&field.as_str()));
    // `verification` stands with the status that makes its claims.
    let fields = required.iter().filter(is_extra).filter(|field| in_verification(field).is_none());
    fields.for_each(|field| put_field(&mut skeleton, field));
    // Last, as long as it is: its text is what the agent writes at length.
    let mut handoff = Map::new();
    handoff.insert("context".to_owned(), json!("<what the next role needs>"));
    if let Some(Json::Object(mut parts)) = skeleton.remove("handoff") {
        parts.remove("context");
        handoff.append(&mut parts);
    }
    skeleton.insert("handoff".to_owned(), Json::Object(handoff));
    data::text(&Json::Object(skeleton).to_string())
}

/// Fields that every status but the blocked one needs.
fn shared_requirements(offers: &[AcceptedStatus]) -> Vec<Name> {
    let mut ways = offers.iter().filter(|offer| !offer.blocked);
    let Some(first) = ways.next() else { return Vec::new() };
    let rest: Vec<&AcceptedStatus> = ways.collect();
    let is_shared = |field: &&Name| rest.iter().all(|offer| offer.demands.require.contains(field));
    // `verification` stands with the status that makes its claims.
    let fits_skeleton = |field: &&Name| in_verification(field).is_none();
    first.demands.require.iter().filter(is_shared).filter(fits_skeleton).cloned().collect()
}

impl PromptContext<'_> {
    /// Statuses that would be accepted and then lead nowhere are not shown.
    fn is_useful(&self, offer: &AcceptedStatus) -> bool {
        let has_changes = || self.group().and_then(|group| group.diff.as_ref()).is_some_and(|diff| !diff.is_empty());
        if offer.lacks_waiting_role || offer.needs_empty_diff && has_changes() {
            return false;
        }
        if self.workflow.has_phases() {
            return true;
        }
        let plans_first = offer.plans && requires(offer, "groups");
        match self.state.groups.is_empty() {
            true => (!offer.ends || offer.without_groups) && (!offer.plans || plans_first),
            false => !plans_first && !offer.without_groups,
        }
    }

    /// Directly, or by helping a role that helps the author.
    fn helps_author(&self) -> bool {
        let mut waiting = self.lane().part(self.assignment.part).into_iter().flat_map(|part| &part.waiting);
        let is_author = |role: &str| self.workflow.role_named(role).is_some_and(|ix| self.workflow.role(ix).author);
        self.assignment.task == AssignmentTask::Consult && waiting.any(|seat| is_author(&seat.role))
    }

    /// The skills of the role, and of the phase where the role does the phase's own work.
    pub(super) fn skills(&self) -> Vec<&Name> {
        let phase = self.assignment.phase.as_deref();
        skills_of_task(self.workflow, &self.assignment.role, phase, self.assignment.task)
    }

    /// `earlier` are the statuses above it.
    fn status_line(
        &self,
        offer: &AcceptedStatus,
        earlier: &[AcceptedStatus],
        shared: &[Name],
        manages_group: bool,
    ) -> String {
        // The meaning of a status for the plan is irrelevant to work on one group.
        let means = offer.means.as_deref().filter(|_| !(manages_group && offer.plans)).map(str::to_owned);
        let leads_to = offer.leads_to.as_deref().filter(|_| manages_group && !offer.blocked).map(str::to_owned);
        let words: Vec<String> = match &offer.replaced {
            _ if offer.accepts_nothing_to_do => vec!["you accept that nothing has to change".to_owned()],
            // The meaning may promise the role that does not get it.
            Some(replaced) => vec![replacement(replaced)],
            None => means.into_iter().chain(leads_to).collect(),
        };
        let mut line = status_head(&offer.status, (!words.is_empty()).then(|| words.join("; ")).as_deref());
        let mut notes = Vec::new();
        let needs = self.own_needs(offer, shared);
        let same = earlier.iter().find(|other| !needs.is_empty() && self.own_needs(other, shared) == needs);
        match same {
            Some(same) => notes.push(format!("same needs as `{}`", same.status)),
            None => notes.extend(needs),
        }
        for outcome in &offer.facts {
            let default = if outcome.is_default { ", also if absent" } else { "" };
            let fields = if outcome.is_default || outcome.fields.is_empty() {
                String::new()
            } else {
                format!(", add {}", quoted(&outcome.fields))
            };
            let leads_to = data::line(&outcome.leads_to);
            notes.push(format!("`{}: {}`{default}: {leads_to}{fields}", outcome.fact, outcome.value));
        }
        if let Some((measure, phase)) = offer.rework.as_ref().filter(|_| !offer.blocked) {
            let open = match measure {
                LoopMeasure::BlockingFindings => "a blocking finding",
                LoopMeasure::FailingTests => "a failing test",
            };
            notes.push(format!("{open} sends the work back to phase `{phase}`"));
        }
        if !notes.is_empty() {
            line.push_str(&format!(" ({})", notes.join("; ")));
        }
        line
    }

    /// The requirements of a status beside the skeleton and the fields that have a line of their own.
    fn own_needs(&self, offer: &AcceptedStatus, shared: &[Name]) -> Vec<String> {
        let mut needs = Vec::new();
        let own = offer.demands.require.iter().filter(|field| !shared.contains(field));
        let own = own.filter(|field| !self.is_explained(offer, field) && in_verification(field).is_none());
        let (parts, own): (Vec<Name>, Vec<Name>) = own.cloned().partition(|field| field.contains('.'));
        let mut objects = Map::new();
        parts.iter().for_each(|field| put_field(&mut objects, field));
        let mut forms: Vec<String> = own.iter().map(|field| format!("`{field}`")).collect();
        forms.extend(objects.iter().map(|(key, value)| format!("`{}:{value}`", Json::from(key.as_str()))));
        if !forms.is_empty() {
            needs.push(format!("needs {}", forms.join(", ")));
        }
        let claims = verification(offer);
        if !claims.is_empty() {
            needs.push(format!("needs `\"verification\": {}`, each true only if it is so", Json::Object(claims)));
        }
        let values = offer.demands.require.iter().filter(|field| in_verification(field).is_some());
        let values: Vec<Name> = values.filter(|field| !shared.contains(field)).cloned().collect();
        if !values.is_empty() {
            needs.push(format!("needs the value of {}", quoted(&values)));
        }
        needs
    }

    /// Each status with its meaning. Fields follow the first status that takes them, which is the usual one if it takes them.
    /// The others refer back to it.
    fn status_lines(&self, offers: &[AcceptedStatus], shared: &[Name]) -> Vec<String> {
        let manages_group = self.assignment.group.is_some() && offers.iter().any(|offer| offer.plans);
        let line = |(index, offer): (usize, &AcceptedStatus)| {
            self.status_line(offer, offers.get(..index).unwrap_or_default(), shared, manages_group)
        };
        let mut lines: Vec<String> = offers.iter().enumerate().map(line).collect();
        let mut add = |takes: fn(&AcceptedStatus) -> bool, text: String| {
            let mut takers = offers.iter().zip(&mut lines).filter(|(offer, _)| takes(offer));
            let Some((_, line)) = takers.next().filter(|_| !text.is_empty()) else { return };
            line.push_str(&format!("\n  Add {text}"));
            let field = text.trim_start_matches('`').split('"').nth(1).unwrap_or_default();
            for (_, line) in takers {
                line.push_str(&format!("\n  Add `{field}` as above."));
            }
        };
        if self.assignment.group.is_none() {
            add(|offer| offer.plans, self.plan_fields());
        }
        add(|offer| offer.findings, self.finding_fields());
        add(
            |offer| offer.tests,
            r#"`"test_progression":{"still_failing":["<test>"],"fixed":[],"new":[]}`."#.to_owned(),
        );
        add(|offer| offer.asks, r#"`"questions":[{"text":"…","options":["…"]}]`."#.to_owned());
        add(|offer| offer.ends, self.ending_fields());
        add(|offer| offer.blocked, self.blocked_fields(offers));
        lines
    }

    fn plan_fields(&self) -> String {
        let mut group = vec![
            r#""id":"<A-Za-z0-9._->""#.to_owned(),
            r#""title":"…""#.to_owned(),
            r#""description":"<what, done when>""#.to_owned(),
        ];
        for guard in self.workflow.guards.iter().filter(|guard| guard.source == GuardSource::Flag) {
            let values: Vec<&str> = guard.values.iter().map(Name::as_str).collect();
            group.push(format!("\"{}\":\"{}\"", guard.name, values.join("|")));
        }
        group.push(r#""depends_on":["<id>"]"#.to_owned());
        group.push(r#""checks":[["npm","test"]]"#.to_owned());
        format!(
            "`\"groups\":[{{{}}}]`. Up to {} run at once; no two may touch the same files. `checks` run without a shell.",
            group.join(","),
            self.workflow.groups_at_most
        )
    }

    fn finding_fields(&self) -> String {
        let issue = r#"`"issues":[{"id":"…","title":"…","location":"<file:line>","severity":"CRITICAL|HIGH|MEDIUM|LOW","blocking":true,"description":"<why, and how to fix it>"}]`: every finding that is open now."#;
        match self.has_own_findings() {
            true => format!(
                "{issue} Settle each earlier finding of yours by id: `\"iteration_tracking\":{{\"iteration\":{},\"fixes_confirmed\":[],\
                 \"rejections_accepted\":[],\"rejections_overruled\":[],\"findings_dropped\":[{{\"id\":\"…\",\"reason\":\"…\"}}]}}`.",
                self.review_iteration()
            ),
            false => issue.to_owned(),
        }
    }

    fn ending_fields(&self) -> String {
        let named = |fits: fn(&GroupProgress) -> bool| -> Vec<&str> {
            let groups = self.state.groups.iter().filter(|group| fits(&group.progress));
            groups.map(|group| group.id.as_str()).collect()
        };
        let awaiting = named(|progress| *progress == GroupProgress::AwaitingConfirmation);
        let deferred = named(|progress| {
            matches!(progress, GroupProgress::Ended(interlock_core::state::GroupEnd::Deferred { .. }))
        });
        let mut parts = Vec::new();
        if !awaiting.is_empty() {
            parts.push(format!(
                "`\"accept\": {}` to confirm these groups (left out: those under \"{FACTS_HEADING}\")",
                json!(awaiting)
            ));
        }
        if !deferred.is_empty() {
            parts.push(format!("`\"acknowledge\": {}` to name the deferred groups that stay undone", json!(deferred)));
        }
        if parts.is_empty() { String::new() } else { format!("{}.", parts.join("; ")) }
    }

    fn blocked_fields(&self, offers: &[AcceptedStatus]) -> String {
        let mut fields = vec![r#""attempted":["…"]"#.to_owned()];
        let Some(offer) = offers.iter().find(|offer| offer.blocked) else { return String::new() };
        if !offer.reasons.is_empty() {
            let reasons: Vec<&str> = offer.reasons.iter().map(Name::as_str).collect();
            fields.push(format!("\"blocked_reason\":\"{}\"", reasons.join("|")));
        }
        let mut in_handoff = vec![r#""blockers":[{"type":"…","description":"…","resolution":"…"}]"#];
        if offer.reaches_person {
            in_handoff.push(r#""options":["<for a person>"]"#);
        }
        fields.push(format!("\"handoff\":{{{}}}", in_handoff.join(",")));
        format!("`{}`.", fields.join(","))
    }

    /// Required fields that stand in every skeleton, or that a line of their own explains.
    fn is_explained(&self, offer: &AcceptedStatus, field: &Name) -> bool {
        match field.as_str() {
            "handoff.context" | "skills_invoked" => true,
            filled_in if FILLED_IN.contains(&filled_in) => true,
            "groups" => offer.plans && self.assignment.group.is_none(),
            "handoff.blockers" | "attempted" | "blocked_reason" => offer.blocked,
            _ => false,
        }
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
        match self.channel {
            ReturnChannel::Run => String::new(),
            ReturnChannel::LastMessage => {
                "End with it as the last JSON block of your message. If it is refused, correct it and end again."
                    .to_owned()
            }
            ReturnChannel::Command => format!(
                "Save it as `handoff.json` in OUTPUT_DIRECTORY. With `INTERLOCK_TOKEN` set, run `interlock report --assignment {} \
                 handoff.json` there until accepted.",
                data::shell(reference),
            ),
        }
    }
}

/// The next role, where an override replaces the role that the workflow names.
fn replacement(replaced: &ReplacedRole) -> String {
    let because = replaced.because.as_ref().map(|because| format!(" ({because})")).unwrap_or_default();
    format!("{} is next, not {}{because}", replaced.takes, replaced.instead_of)
}

fn requires(offer: &AcceptedStatus, field: &str) -> bool {
    offer.demands.require.iter().any(|required| *required == field)
}

/// The claims that a status needs.
fn verification(offer: &AcceptedStatus) -> Map<String, Json> {
    offer.demands.verify.iter().map(|claim| (claim.to_string(), json!(true))).collect()
}

fn in_verification(field: &Name) -> Option<&str> {
    field.strip_prefix("verification.").filter(|part| !part.contains('.'))
}

/// Puts the form of a required field where its dotted path says. Fields that hold paths are lists.
fn put_field(object: &mut Map<String, Json>, field: &str) {
    match field.split_once('.') {
        Some((key, rest)) => {
            let inner = object.entry(key).or_insert_with(|| json!({}));
            if let Some(inner) = inner.as_object_mut() {
                put_field(inner, rest);
            }
        }
        None => {
            let is_list = matches!(field, "files_modified" | "artifacts" | "source_files_verified" | "blockers");
            object.entry(field).or_insert_with(|| if is_list { json!(["…"]) } else { json!("…") });
        }
    }
}

fn quoted(names: &[Name]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
