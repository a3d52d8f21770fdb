//! The tables that the original has not, or only in part: merges, blocks, aliases, loops, completion.

use std::collections::BTreeSet;

use interlock_core::workflow::normalise_status;

use crate::bazinga::machine::*;
use crate::bazinga::rows::{MERGE_STATUSES, RowTarget};
use crate::bazinga::write::{WorkflowWriter, has_kinds, modes};
use crate::bazinga::yaml::{list, map, name};

/// Passages after which work goes up instead of round; those of `delivery-team`.
/// `handover` and `rework` are for rows that it does not have.
pub(super) const LIMITS: [(&str, u32); 12] = [
    ("managing", 10),
    ("hypotheses", 5),
    ("rework", 5),
    ("guidance", 4),
    ("merging", 4),
    ("partial", 4),
    ("validation", 4),
    ("diagnostics", 3),
    ("handover", 3),
    ("investigation", 3),
    ("second_opinion", 2),
    ("unclear", 2),
];

/// Failures before work goes up, where the file does not say; the original's own default.
const THRESHOLD: u32 = 2;
/// The hard cap of a loop that sees progress.
const CAP: u32 = 5;

/// Why an agent may be blocked; `delivery-team`'s.
const REASONS: [&str; 8] = [
    "security_concern",
    "architecture_decision",
    "missing_requirements",
    "test_failures",
    "out_of_scope",
    "environment",
    "external_dependency",
    "unknown",
];

pub(super) fn threshold(machine: &BazingaMachine) -> u32 {
    machine.escalation.as_ref().and_then(|rule| rule.threshold).unwrap_or(THRESHOLD)
}

/// Aliases that mean a status, and do not only spell it differently.
pub(super) fn live_aliases(machine: &BazingaMachine) -> Vec<&ImportedAlias> {
    let known: BTreeSet<String> = machine.rows().map(|(_, row)| normalise_status(&row.status)).collect();
    let mut seen = BTreeSet::new();
    let lives = |alias: &&ImportedAlias| {
        let (own, meant) = (normalise_status(&alias.alias), normalise_status(&alias.meant));
        known.contains(&meant) && own != meant && seen.insert(own)
    };
    machine.aliases.iter().filter(lives).collect()
}

impl WorkflowWriter<'_> {
    /// The remarks on rows of this status, wherever they went.
    fn remarks_on(&mut self, status: &str) {
        let machine = self.rows.machine;
        for (agent, row) in machine.rows().filter(|(_, row)| normalise_status(&row.status) == status) {
            if !matches!(self.rows.home(agent, row), RowTarget::Routes(_)) {
                self.remark("  ", row.note.as_deref());
            }
        }
    }

    pub(super) fn merge(&mut self) {
        let lead = name(&self.rows.cast.lead);
        self.section("merge", &["What the author may report on a merge; the original had no such rows."]);
        let with = |status: &str, default: &str| {
            let rows = self.rows.machine.rows().filter(|(agent, _)| self.rows.cast.is_author(&agent.name));
            let mut own = rows.filter(|(_, row)| normalise_status(&row.status) == status);
            match own.find(|(_, row)| !row.with.is_empty()) {
                Some((_, row)) => list(&row.with),
                None => format!("[{default}]"),
            }
        };
        let conflict = with("MERGE_CONFLICT", "conflicting_files");
        let failure = with("MERGE_TEST_FAILURE", "failing_tests");
        let stopped = with("MERGE_BLOCKED", "blocker_details");
        for status in MERGE_STATUSES {
            self.remarks_on(status);
        }
        self.line("  MERGE_SUCCESS:      { complete: group, passes: [merge] }");
        self.line(&format!("  MERGE_CONFLICT:     {{ respawn: author, loop: merging, with: {conflict} }}"));
        self.line(&format!("  MERGE_TEST_FAILURE: {{ respawn: author, loop: merging, with: {failure} }}"));
        self.line(&format!("  MERGE_BLOCKED:      {{ consult: {lead}, loop: merging, with: {stopped} }}"));
    }

    pub(super) fn blocked(&mut self) {
        let cast = self.rows.cast;
        let mut columns: Vec<(String, String)> = self.rows.blocked_cells();
        let has = |columns: &[(String, String)], role: &str| columns.iter().any(|(own, _)| own == role);
        if !has(&columns, &cast.lead) && cast.lead != cast.manager {
            columns.push((cast.lead.clone(), cast.manager.clone()));
        }
        if !has(&columns, &cast.manager) {
            columns.push((cast.manager.clone(), "user".to_owned()));
        }
        columns.push(("any".to_owned(), cast.lead.clone()));
        let mut with: Vec<&str> = Vec::new();
        for (_, row) in self.rows.machine.rows().filter(|(_, row)| normalise_status(&row.status) == "BLOCKED") {
            for field in &row.with {
                if !with.contains(&field.as_str()) {
                    with.push(field);
                }
            }
        }
        if with.is_empty() {
            with.push("blocker_details");
        }
        self.section(
            "blocked",
            &[
                "The agent that is blocked waits; who helps returns to it. Those without a row in the original:",
                "the lead's go to the manager, the manager's to a person, all others to the lead.",
            ],
        );
        self.remarks_on("BLOCKED");
        self.line("  status: BLOCKED");
        self.line(&format!("  reasons: {}", list(REASONS)));
        self.line("  table:");
        let columns: Vec<(String, String)> = columns.into_iter().map(|(own, helps)| (own, name(&helps))).collect();
        self.line(&format!("    any: {}", map(columns)));
        self.line(&format!("  with: {}", list(with)));
        let lead = name(&cast.lead);
        self.line("");
        self.line(&format!("unknown_status: {{ consult: {lead}, otherwise: {{ spawn: {lead} }}, loop: unclear }}"));
    }

    pub(super) fn aliases(&mut self) {
        let aliases = live_aliases(self.rows.machine);
        if aliases.is_empty() {
            return;
        }
        self.section("aliases", &["A status that a role has itself is not read as an alias."]);
        for alias in aliases {
            self.line(&format!("  {}: {}", name(&alias.alias), name(&alias.meant)));
        }
    }

    pub(super) fn loops(&mut self) {
        let threshold = threshold(self.rows.machine);
        self.section(
            "loops",
            &[
                "At the limit work goes up the ladder. Progress is fewer open findings, or fewer failing tests;",
                "the threshold is the original's, the rest is as in `delivery-team`.",
            ],
        );
        let about = self.rows.machine.escalation.as_ref().and_then(|rule| rule.about.as_deref());
        self.remark("  ", about);
        let cap = CAP.max(threshold);
        for (loop_name, measure) in [("review", "blocking_findings"), ("qa", "failing_tests")] {
            if self.used.contains(loop_name) {
                let limits = format!("{{ iteration: {cap}, no_progress: {threshold} }}");
                let warn = "warn_at: { iteration: 3 }";
                self.line(&format!("  {loop_name}: {{ measure: {measure}, escalate_at: {limits}, {warn} }}"));
            }
        }
        if self.used.contains("failures") {
            self.line(&format!("  failures: {threshold}"));
        }
        for (loop_name, limit) in LIMITS.iter().filter(|(name, _)| self.used.contains(name)) {
            self.out.push_str(&format!("  {loop_name}: {limit}\n"));
        }
    }

    pub(super) fn completion(&mut self) {
        self.section("gates", &[]);
        self.line("  checks: { run: plan, fail: { respawn: author, loop: merging, with: [gate_output] } }");
        let approval = if self.rows.reviews() { "{ any_of: [review, acceptance] }" } else { "acceptance" };
        let tests = self.need_of_tests().map_or_else(String::new, |need| format!(", {need}"));
        let needs = format!("[merge, {approval}{tests}]");
        self.section("completion", &[]);
        self.line(&format!("  group: {{ needs: {needs}, once_blocked: [acceptance], gates: [checks] }}"));
    }

    /// The tester's PASS, in the testing modes that do not leave the tester out.
    fn need_of_tests(&self) -> Option<String> {
        let machine = self.rows.machine;
        let tested = |mode: &&str| machine.testing.iter().all(|rule| rule.mode != **mode);
        let tested: Vec<&str> = modes(machine).into_iter().filter(tested).collect();
        if !self.rows.passes("qa") || tested.is_empty() {
            return None;
        }
        let mut when = vec![("testing", list(tested))];
        if has_kinds(machine, self.rows.cast) {
            when.push(("kind", "code".to_owned()));
        }
        Some(format!("{{ need: qa, when: {} }}", map(when)))
    }
}
