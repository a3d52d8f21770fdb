//! The incident: four groups, and at one moment one is sent back by the review, one fails its tests and two are blocked
//! by the environment. The orchestrator called the blocked ones complete.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::{Value as Json, json};

use super::{Holder, Team};

pub(crate) const GROUPS: [&str; 4] = ["PAT-ADHERE", "PAT-VIP", "NUR-E2E", "E2E-RX"];
pub(crate) const MISSION: &str = "# Patient portal\n\nAdherence, VIP view, and the end-to-end tests of both wards.\n";

/// The moment of the incident.
pub(crate) struct Incident {
    pub(crate) team: Team,
    pub(crate) session: String,
    /// Who holds which group.
    pub(crate) holders: BTreeMap<&'static str, Holder>,
    /// Of an assignment that has been reported for.
    pub(crate) spent: Holder,
}

impl Incident {
    /// A copy of the moment, for one test to spoil.
    pub(crate) fn new(test: &str) -> Self {
        static FIRST: OnceLock<Incident> = OnceLock::new();
        let first = FIRST.get_or_init(|| Incident::play(&format!("incident-{}", std::process::id())));
        let (session, holders, spent) = (first.session.clone(), first.holders.clone(), first.spent.clone());
        Self { team: first.team.copy(test), session, holders, spent }
    }

    pub(crate) fn play(test: &str) -> Self {
        let team = Team::new(test);
        let mission = team.file("mission.md", MISSION).display().to_string();
        let started = team.ask(&["session", "start", "--title", "Patient portal", "--mission", &mission]).done();
        let session = started["session"].as_str().expect("a session").to_owned();
        let s = session.as_str();
        team.plays(s, "project_manager", "-", "NEEDS_CLARIFICATION", clarification());
        team.ask(&["answer", &format!("{s}.q1"), "--option", "all", "--as", "ann"]).done();
        team.plays(s, "project_manager", "-", "PLANNING_COMPLETE", plan(&GROUPS));
        for group in GROUPS {
            team.plays(s, "developer", group, "READY_FOR_QA", json!({}));
        }
        team.plays(s, "qa_expert", "PAT-ADHERE", "PASS", json!({}));
        team.plays(s, "tech_lead", "PAT-ADHERE", "CHANGES_REQUESTED", type_errors());
        team.plays(
            s,
            "qa_expert",
            "PAT-VIP",
            "FAIL",
            json!({ "test_progression": { "still_failing": ["vip badge", "vip list"] } }),
        );
        team.plays(s, "qa_expert", "NUR-E2E", "BLOCKED", no_environment());
        let spent = team.claim(s, "qa_expert", "E2E-RX");
        team.report(&spent, "BLOCKED", no_environment()).done();
        let holds = |role: &str, group: &'static str| (group, team.claim(s, role, group));
        let holders = BTreeMap::from([
            holds("developer", "PAT-ADHERE"),
            holds("developer", "PAT-VIP"),
            holds("tech_lead", "NUR-E2E"),
            holds("tech_lead", "E2E-RX"),
        ]);
        Self { team, session, holders, spent }
    }

    pub(crate) fn holder(&self, group: &str) -> &Holder {
        &self.holders[group]
    }

    pub(crate) fn group_status(&self, group: &str) -> String {
        self.team.group_status(&self.session, group)
    }
}

pub(crate) fn clarification() -> Json {
    json!({ "clarification_question": "Which browsers?", "questions": [{ "text": "Which browsers?", "options": ["all", "chrome"] }] })
}

pub(crate) fn plan(groups: &[&str]) -> Json {
    let groups: Vec<Json> = groups.iter().map(|id| json!({ "id": id, "title": format!("The work of {id}") })).collect();
    json!({ "groups": groups })
}

pub(crate) fn type_errors() -> Json {
    let issue = |id: &str, title: &str, location: &str| json!({ "id": id, "title": title, "location": location, "severity": "HIGH", "blocking": true });
    json!({ "issues": [
        issue("TL-1", "type error in the adherence form", "src/adherence/form.ts:14"),
        issue("TL-2", "type error in the chart", "src/adherence/chart.ts:3"),
    ] })
}

pub(crate) fn no_environment() -> Json {
    json!({
        "attempted": ["npx playwright test: no browser can be installed here"],
        "blocked_reason": "environment",
    })
}
