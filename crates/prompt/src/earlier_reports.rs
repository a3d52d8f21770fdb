//! The texts that agents wrote about a group. They lie beside the events of their reports, and are looked up for the
//! roles that need them.

use std::collections::BTreeMap;
use std::sync::Arc;

use interlock_core::id::{DecisionId, Name};
use interlock_core::state::{Finding, FindingStatus, Group};
use serde_json::Value as Json;

/// A report, as it was submitted.
type SubmittedReport = Option<Arc<Json>>;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct EarlierReports {
    /// The plan that brought the group.
    plan: SubmittedReport,
    group: String,
    /// The reviewer's text on each open finding, by its place.
    findings: BTreeMap<usize, String>,
    /// For work on the session as a whole: the plan's description of each group.
    descriptions: BTreeMap<Name, String>,
}

impl EarlierReports {
    /// Asks for the reports that have words to the group.
    pub fn of<E>(group: &Group, mut report: impl FnMut(DecisionId) -> Result<SubmittedReport, E>) -> Result<Self, E> {
        let mut known: BTreeMap<DecisionId, SubmittedReport> = BTreeMap::new();
        let mut of = |decision: DecisionId| match known.get(&decision) {
            Some(report) => Ok(report.clone()),
            None => report(decision).map(|found| known.entry(decision).or_insert(found).clone()),
        };
        let mut said = Self { plan: of(group.words.plan)?, group: group.id.to_string(), ..Self::default() };
        for (index, finding) in group.findings.iter().enumerate() {
            if finding.status != FindingStatus::Open {
                continue;
            }
            let mut words = FindingDescription::default();
            for decision in group.words.of_finding(index, &finding.raised_by) {
                if let Some(report) = of(decision)? {
                    words.add_older(&report, finding);
                }
            }
            said.findings.extend(words.text().map(|text| (index, text)));
        }
        Ok(said)
    }

    /// Asks for the plans that brought these groups.
    pub fn of_session<E>(
        groups: &[(Name, DecisionId)],
        mut report: impl FnMut(DecisionId) -> Result<SubmittedReport, E>,
    ) -> Result<Self, E> {
        let mut said = Self::default();
        for (group, plan) in groups {
            let plan = report(*plan)?;
            let entry = plan.as_deref().and_then(|plan| entry_of(plan, group));
            let description = entry.and_then(|entry| entry.get("description")).and_then(Json::as_str);
            said.descriptions.extend(description.map(|words| (group.clone(), words.to_owned())));
        }
        Ok(said)
    }

    /// The entry of the plan for the group.
    pub(super) fn plan(&self) -> Option<&Json> {
        entry_of(self.plan.as_ref()?, &self.group)
    }

    pub(super) fn description_of(&self, group: &Name) -> Option<&str> {
        self.descriptions.get(group).map(String::as_str)
    }

    pub(super) fn of_finding(&self, index: usize) -> Option<&str> {
        self.findings.get(&index).map(String::as_str)
    }
}

fn entry_of<'a>(plan: &'a Json, group: &str) -> Option<&'a Json> {
    let own = |entry: &&Json| entry.get("id").and_then(Json::as_str).map(str::trim) == Some(group);
    plan.get("groups")?.as_array()?.iter().find(own)
}

/// Fields of a finding that the ledger has.
const LEDGER_FIELDS: &[&str] = &["id", "title", "location", "severity", "blocking"];

/// A reviewer's description of a finding: the latest text of each field that is not empty.
#[derive(Default)]
struct FindingDescription {
    fields: BTreeMap<String, String>,
}

impl FindingDescription {
    /// Fields that newer reviews left out.
    fn add_older(&mut self, report: &Json, finding: &Finding) {
        let word = |issue: &Json, key: &str| issue.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        let same = |issue: &&Json| finding.same_as(&word(issue, "location"), &word(issue, "title"));
        let issues = report.get("issues").and_then(Json::as_array).into_iter().flatten();
        for (key, value) in issues.filter(same).filter_map(Json::as_object).flatten() {
            let text = value.as_str().map(str::trim).filter(|text| !text.is_empty());
            if let Some(text) = text.filter(|_| !LEDGER_FIELDS.contains(&key.as_str())) {
                self.fields.entry(key.clone()).or_insert_with(|| text.to_owned());
            }
        }
    }

    /// The description, then the other fields with their names.
    fn text(mut self) -> Option<String> {
        let description = self.fields.remove("description");
        let others = self.fields.into_iter().map(|(key, text)| format!("{key}: {text}"));
        let lines: Vec<String> = description.into_iter().chain(others).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}
