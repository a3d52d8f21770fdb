//! The requirements that a session was completed without, for every reader of its result.

use std::borrow::Cow;

use serde::Serialize;

use crate::handoff::ResponseKind;
use crate::id::Name;
use crate::naming::shown_person;
use crate::state::exceptions_of_plan::empty_merge_of;
use crate::state::{Finding, FindingStatus, Group, GroupEnd, GroupProgress, Session, State};
use crate::workflow::Workflow;

/// A requirement that a session or a group does without, with the actor that decided so and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CompletionException {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Name>,
    pub text: String,
}

impl State {
    /// Everything that this session does without, in the order of its groups.
    pub fn completion_exceptions(&self, workflow: &Workflow) -> Vec<CompletionException> {
        let of_session = |text: String| CompletionException { group: None, text };
        let mut all = Vec::new();
        if let Some(session) = &self.session {
            for dropped in workflow.requirements_off(&session.settings) {
                let who = match (&session.settings_by, dropped.chosen) {
                    (Some(by), true) => format!("chosen by {by}", by = shown_person(by)),
                    (None, true) => "chosen when the session was started".to_owned(),
                    (_, false) => "the default of the workflow".to_owned(),
                };
                all.push(of_session(format!("{dropped}: {who}")));
            }
            for requirement in &session.dropped {
                let by = chosen_by(session);
                all.push(of_session(format!("{requirement}: workflow chosen by {by}")));
            }
            if session.investigation {
                let by = chosen_by(session);
                all.push(of_session(format!("declared an investigation by {by}: it may end without groups")));
            }
        }
        if !self.has_result(workflow) {
            let what = self.without_result();
            let confirmed = |by: &Name| of_session(format!("{what}; {by} confirmed that", by = shown_person(by)));
            all.extend(self.nothing_completed.iter().map(confirmed));
        }
        all.extend(self.waived_gates.iter().map(|waived| CompletionException {
            group: waived.group.clone(),
            text: format!("gate `{}` failed, and {} let the work go on", waived.gate, waived.by),
        }));
        for group in &self.groups {
            all.extend(deferral_of(group));
            all.extend(self.dropped_by_plan_of(workflow, group));
            all.extend(empty_merge_of(group));
            all.extend(excuses_of(group));
            all.extend(findings_accepted_as_is(group));
            all.extend(group.stated_failures.iter().map(|statement| CompletionException {
                group: Some(group.id.clone()),
                text: format!("failing tests reported by {statement}; no later report states that they pass"),
            }));
        }
        all
    }
}

impl State {
    /// Everything that the completing decision states: the exceptions, what was left unchanged or confirmed, and findings
    /// without a fix.
    pub fn completion_record(&self, workflow: &Workflow) -> Vec<CompletionException> {
        let mut all = self.completion_exceptions(workflow);
        for group in &self.groups {
            let texts = end_of(group).into_iter().chain(findings_of(group));
            all.extend(texts.map(|text| CompletionException { group: Some(group.id.clone()), text }));
        }
        all
    }
}

fn chosen_by(session: &Session) -> Cow<'_, str> {
    session.settings_by.as_deref().map_or(Cow::Borrowed("a person"), shown_person)
}

/// How a group ended, where it did not simply pass all its evidence.
fn end_of(group: &Group) -> Vec<String> {
    match &group.progress {
        // A deferral is an exception already.
        GroupProgress::Ended(GroupEnd::Deferred { .. }) => Vec::new(),
        GroupProgress::Ended(GroupEnd::Cancelled { by }) => vec![format!("cancelled by {by}", by = shown_person(by))],
        GroupProgress::Ended(GroupEnd::Completed) => {
            let unchanged = match (&group.nothing_to_do, &group.accepted_unchanged) {
                (Some(author), Some(by)) => Some(format!(
                    "{author} reported that nothing has to change; accepted by {by}",
                    by = shown_person(by)
                )),
                (Some(author), None) => Some(format!("{author} reported that nothing has to change")),
                (None, Some(by)) => Some(format!("no file was changed; accepted by {by}", by = shown_person(by))),
                (None, None) => None,
            };
            let by = group.accepted_by.as_ref().map_or(String::new(), |by| format!(" by {by}", by = shown_person(by)));
            let confirmed = group.confirmed && group.excused.is_empty();
            unchanged.into_iter().chain(confirmed.then(|| format!("once blocked; accepted{by}"))).collect()
        }
        GroupProgress::Pending
        | GroupProgress::Working
        | GroupProgress::Arrived
        | GroupProgress::AwaitingConfirmation => Vec::new(),
    }
}

/// Findings that ended without a fix, and serious ones that are open.
fn findings_of(group: &Group) -> impl Iterator<Item = String> {
    let rejected =
        |finding: &&Finding| finding.status == FindingStatus::Accepted && finding.accepted_as_is_by.is_none();
    let rejected = group.findings.iter().filter(rejected).map(|finding| {
        let is_rejection = finding.response.as_ref().is_some_and(|answer| answer.response == ResponseKind::Rejected);
        let how = match is_rejection {
            true => format!("was rejected by the author, and {} accepted that", finding.raised_by),
            false => format!("was ended by {} although the author did not reject it", finding.raised_by),
        };
        format!("finding {} ({}) {how}", finding.id, finding.title)
    });
    let open = group.serious_remarks().map(|finding| {
        let severity = finding.severity.name();
        format!("{severity} finding {} ({}) of {} is open, not blocking", finding.id, finding.title, finding.raised_by)
    });
    rejected.chain(open)
}

fn deferral_of(group: &Group) -> Option<CompletionException> {
    let GroupProgress::Ended(GroupEnd::Deferred { why, by, acknowledged }) = &group.progress else { return None };
    let seen = match acknowledged {
        Some(person) => format!("acknowledged by {person}", person = shown_person(person)),
        None => "not acknowledged".to_owned(),
    };
    Some(CompletionException {
        group: Some(group.id.clone()),
        text: format!("deferred by {by} ({why}); {seen}", by = shown_person(by)),
    })
}

/// A group that was dropped does without everything, so its excuses say nothing more.
fn excuses_of(group: &Group) -> impl Iterator<Item = CompletionException> {
    let accepted = match (&group.accepted_by, group.confirmed) {
        (Some(by), true) => format!("accepted by {by}", by = shown_person(by)),
        (None, true) => "accepted".to_owned(),
        (_, false) => "not accepted yet".to_owned(),
    };
    let dropped =
        matches!(group.progress, GroupProgress::Ended(GroupEnd::Deferred { .. } | GroupEnd::Cancelled { .. }));
    let excused = group.excused.iter().filter(move |_| !dropped);
    excused
        .map(move |excuse| CompletionException { group: Some(group.id.clone()), text: format!("{excuse}; {accepted}") })
}

/// Findings that still blocked when the group was accepted: the acceptance settled them, and no reviewer did.
fn findings_accepted_as_is(group: &Group) -> Option<CompletionException> {
    let accepted = group.findings.iter().filter(|finding| finding.status == FindingStatus::Accepted);
    let named: Vec<String> = accepted
        .filter_map(|finding| {
            let by = finding.accepted_as_is_by.as_ref()?;
            let text = format!(
                "{} [{}] {}, by {by}",
                finding.id,
                finding.severity.name(),
                finding.title,
                by = shown_person(by)
            );
            // Line breaks in an id or title must not look like a line of their own.
            Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
        })
        .collect();
    let text = format!("blocking findings accepted as they are: {}", named.join("; "));
    (!named.is_empty()).then(|| CompletionException { group: Some(group.id.clone()), text })
}
