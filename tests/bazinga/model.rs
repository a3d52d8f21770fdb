//! What must come out for a recorded decision of the original, worked out from the
//! original's own table and the list of its faults; nothing of Interlock takes part.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

/// What follows a report: an action and the role it is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Goes(&'static str, Option<String>),
    /// The workflow has no such role: exit code 4.
    UnknownRole,
    Refused,
    /// The original has no answer at all.
    Fails,
}

pub(crate) fn goes(action: &'static str, role: &str) -> Outcome {
    Outcome::Goes(action, Some(role.to_owned()))
}

/// The faults of the original, and what is done instead; each has its row in the table of
/// `docs/import-bazinga.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Deviation {
    /// A role that is not in the file is an error, not work for the tech lead.
    UnknownRole,
    /// Statuses are compared without regard to case, spaces and hyphens.
    SpellingRead,
    /// `_status_aliases` is read.
    AliasRead,
    /// Guidance returns to the agent that was blocked, where the original fails.
    GuidanceReturns,
    /// The author reports on its merge.
    MergeReported,
    /// The validator may ask back.
    ValidatorClarifies,
    /// The merge of the last group is not skipped.
    MergeFirst,
    /// Every route to the developer of security-sensitive work goes to the senior.
    SecurityToSenior,
    /// A batch with nothing to start says so: it waits.
    NothingToStart,
    /// INVESTIGATION_ONLY is validated, as any end.
    EndValidated,
    /// Nothing is routed for a group that is completed.
    CompletedRefused,
    /// The tech lead, blocked, is not sent to the tech lead.
    BlockedLeadToManager,
}

impl Deviation {
    pub(crate) const ALL: [Deviation; 12] = [
        Deviation::UnknownRole,
        Deviation::SpellingRead,
        Deviation::AliasRead,
        Deviation::GuidanceReturns,
        Deviation::MergeReported,
        Deviation::ValidatorClarifies,
        Deviation::MergeFirst,
        Deviation::SecurityToSenior,
        Deviation::NothingToStart,
        Deviation::EndValidated,
        Deviation::CompletedRefused,
        Deviation::BlockedLeadToManager,
    ];
}

#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) role: String,
    pub(crate) status: String,
    pub(crate) testing: String,
    pub(crate) group_status: String,
    pub(crate) security: bool,
    pub(crate) qa_attempts: u64,
    pub(crate) review_attempts: u64,
    pub(crate) pending: usize,
    pub(crate) in_progress: usize,
    pub(crate) original: Outcome,
    /// How many groups the original would start.
    pub(crate) started: Option<usize>,
    pub(crate) context: Vec<String>,
    pub(crate) model: Option<String>,
}

impl Line {
    pub(crate) fn read(text: &str) -> Self {
        let line: Json = serde_json::from_str(text).expect("a line is JSON");
        let (inputs, result) = (&line["inputs"], &line["outputs"]["result"]);
        let word = |value: &Json| value.as_str().expect("text").to_owned();
        let names = |value: &Json| {
            let items = value.as_array().into_iter().flatten();
            items.map(word).collect::<Vec<_>>()
        };
        let original = match (result["success"].as_bool(), result.get("fallback_action")) {
            (Some(true), _) => mapped(&result["action"], &result["next_agent"]),
            (_, Some(fallback)) => mapped(&fallback["action"], &fallback["next_agent"]),
            (_, None) => Outcome::Fails,
        };
        Line {
            role: word(&inputs["current_agent"]),
            status: word(&inputs["status"]),
            testing: word(&inputs["testing_mode"]),
            group_status: word(&inputs["group_status"]),
            security: inputs["security_sensitive"] == 1,
            qa_attempts: inputs["qa_attempts"].as_u64().expect("a number"),
            review_attempts: inputs["tl_review_attempts"].as_u64().expect("a number"),
            pending: names(&inputs["pending_groups"]).len(),
            in_progress: names(&inputs["in_progress_groups"]).len(),
            started: result.get("groups_to_spawn").map(|groups| names(groups).len()),
            context: names(&result["include_context"]),
            model: result["model"].as_str().map(str::to_owned),
            original,
        }
    }
}

/// An action of the original in our words.
fn mapped(action: &Json, next: &Json) -> Outcome {
    let action = match action.as_str().expect("text") {
        "spawn" => "spawn",
        "respawn" => "respawn",
        "spawn_batch" => "batch",
        "spawn_merge" => "merge",
        "validate_then_end" => "validate",
        "pause_for_user" => "ask",
        "end_session" => "end",
        other => panic!("an action that nobody has heard of: {other}"),
    };
    Outcome::Goes(action, next.as_str().map(str::to_owned))
}

pub(crate) struct Expected {
    pub(crate) outcome: Outcome,
    /// The faults that are repaired on the way, in the order in which they were met.
    pub(crate) deviations: Vec<Deviation>,
}

pub(crate) struct Model {
    table: BTreeMap<String, BTreeMap<String, Json>>,
    aliases: BTreeMap<String, String>,
    threshold: u64,
    at_most: usize,
}

const AUTHORS: [&str; 3] = ["developer", "senior_software_engineer", "requirements_engineer"];

impl Model {
    pub(crate) fn read(text: &str) -> Self {
        let file: Json = serde_json::from_str(text).expect("the file is JSON");
        let visible = |value: &Json| {
            let fields = value.as_object().expect("an object").iter();
            fields.filter(|(key, _)| !key.starts_with('_')).map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        let agents: BTreeMap<String, Json> = visible(&file);
        let aliases: BTreeMap<String, Json> = visible(&file["_status_aliases"]);
        let text = |value: Json| value.as_str().expect("text").to_owned();
        Model {
            table: agents.into_iter().map(|(agent, rows)| (agent, visible(&rows))).collect(),
            aliases: aliases.into_iter().map(|(alias, meant)| (alias, text(meant))).collect(),
            threshold: file["_special_rules"]["escalation_after_failures"]["threshold"].as_u64().expect("a number"),
            at_most: file["project_manager"]["CONTINUE"]["max_parallel"].as_u64().expect("a number") as usize,
        }
    }

    /// Every transition of the file, to be sure that the lines cover it.
    pub(crate) fn pairs(&self) -> BTreeSet<(String, String)> {
        let all = self.table.iter().flat_map(|(agent, rows)| rows.keys().map(move |status| (agent, status)));
        all.map(|(agent, status)| (agent.clone(), status.clone())).collect()
    }

    pub(crate) fn expect(&self, line: &Line, blocked_agent: Option<&str>) -> Expected {
        let mut deviations = Vec::new();
        let outcome = self.outcome(line, blocked_agent, &mut deviations);
        Expected { outcome, deviations }
    }

    fn outcome(&self, line: &Line, blocked_agent: Option<&str>, met: &mut Vec<Deviation>) -> Outcome {
        let Some(rows) = self.table.get(&line.role) else {
            met.push(Deviation::UnknownRole);
            return Outcome::UnknownRole;
        };
        if line.group_status == "completed" {
            met.push(Deviation::CompletedRefused);
            return Outcome::Refused;
        }
        let spelt = line.status.trim().to_uppercase().replace([' ', '-'], "_");
        let alias = self.aliases.get(&spelt).filter(|meant| !rows.contains_key(&spelt) && rows.contains_key(*meant));
        let status = alias.unwrap_or(&spelt);
        if AUTHORS.contains(&line.role.as_str()) && status.starts_with("MERGE_") {
            met.push(Deviation::MergeReported);
            return self.merged(line, status, met);
        }
        if line.role == "validator" && status == "CLARIFY" {
            met.push(Deviation::ValidatorClarifies);
            return goes("spawn", "project_manager");
        }
        let Some(row) = rows.get(status) else {
            if status == "BLOCKED" && line.role == "tech_lead" {
                met.push(Deviation::BlockedLeadToManager);
                return goes("spawn", "project_manager");
            }
            return goes("spawn", "tech_lead");
        };
        if alias.is_some() {
            met.push(Deviation::AliasRead);
        } else if spelt != line.status {
            met.push(Deviation::SpellingRead);
        }
        self.by_row(line, row, blocked_agent, met)
    }

    fn by_row(&self, line: &Line, row: &Json, blocked_agent: Option<&str>, met: &mut Vec<Deviation>) -> Outcome {
        let attempts = if line.role == "qa_expert" { line.qa_attempts } else { line.review_attempts };
        let escalates = row["escalation_check"] == true && attempts >= self.threshold;
        let next = row["next_agent"].as_str().unwrap_or_default();
        match (row["action"].as_str().unwrap_or_default(), next) {
            ("spawn", "_return_to_blocked") => {
                met.push(Deviation::GuidanceReturns);
                match blocked_agent {
                    Some(agent) => goes("return", agent),
                    None => goes("spawn", developer(line, met)),
                }
            }
            ("respawn", _) if escalates => goes("spawn", "senior_software_engineer"),
            ("spawn", "qa_expert") if line.testing != "full" => goes("spawn", "tech_lead"),
            ("spawn", "developer") => goes("spawn", developer(line, met)),
            ("respawn", "developer") => goes("respawn", developer(line, met)),
            ("spawn", next) => goes("spawn", next),
            ("respawn", next) => goes("respawn", next),
            ("spawn_merge", _) => {
                if line.pending == 0 && line.in_progress == 0 && line.group_status != "pending" {
                    met.push(Deviation::MergeFirst);
                }
                goes("merge", developer(line, met))
            }
            ("spawn_batch", _) => self.batch(line, met),
            ("validate_then_end", _) => Outcome::Goes("validate", None),
            ("pause_for_user", _) => Outcome::Goes("ask", None),
            ("end_session", _) if line.role == "validator" => Outcome::Goes("end", None),
            ("end_session", _) => {
                met.push(Deviation::EndValidated);
                Outcome::Goes("validate", None)
            }
            (action, next) => panic!("a row that nobody has thought of: {action} {next}"),
        }
    }

    /// How many groups may start: the limit counts running work.
    pub(crate) fn slots(&self, line: &Line) -> usize {
        self.at_most.saturating_sub(line.in_progress)
    }

    /// Nothing to start is a decision of its own.
    fn batch(&self, line: &Line, met: &mut Vec<Deviation>) -> Outcome {
        if line.pending > 0 && self.slots(line) > 0 {
            return goes("batch", developer(line, met));
        }
        met.push(Deviation::NothingToStart);
        Outcome::Goes("wait", None)
    }

    fn merged(&self, line: &Line, status: &str, met: &mut Vec<Deviation>) -> Outcome {
        match status {
            "MERGE_SUCCESS" => match (line.pending, line.in_progress) {
                (0, 0) => goes("spawn", "project_manager"),
                (0, _) => Outcome::Goes("wait", None),
                (_, _) => goes("batch", developer(line, met)),
            },
            "MERGE_BLOCKED" => goes("spawn", "tech_lead"),
            _ if line.role == "developer" => goes("respawn", developer(line, met)),
            _ => goes("respawn", &line.role),
        }
    }
}

/// Who a route to the developer arrives at.
fn developer(line: &Line, met: &mut Vec<Deviation>) -> &'static str {
    if !line.security {
        return "developer";
    }
    // The original does it too, but only for what the developer itself reports.
    if line.role != "developer" {
        met.push(Deviation::SecurityToSenior);
    }
    "senior_software_engineer"
}
