//! Examples: one for every row of the original, and one for each workflow rule made from its rules.
//!
//! They are checked whenever the workflow is loaded, so an edit that changes a decision of the original is reported at
//! once.

use interlock_core::workflow::normalise_status;

use crate::bazinga::machine::*;
use crate::bazinga::rows::{RouteEntry, RowMapping, RowTarget, replaced};
use crate::bazinga::tables::{live_aliases, threshold};
use crate::bazinga::yaml::{map, name};

pub(super) fn examples(rows: &RowMapping<'_>) -> Vec<String> {
    let maker = ExampleBuilder { rows };
    let mut examples = Vec::new();
    for (agent, row) in rows.machine.rows() {
        match rows.home(agent, row) {
            RowTarget::Routes(entry) => examples.extend(maker.of_entry(&agent.name, &row.status, &entry)),
            RowTarget::Blocked => examples.extend(maker.of_block(&agent.name, &row.status)),
            RowTarget::Merge | RowTarget::Acceptance => {}
        }
    }
    for role in &rows.cast.roles {
        for (status, _, entry) in rows.added(role) {
            examples.extend(maker.of_entry(role, status, &entry));
        }
    }
    examples.extend(maker.of_rules());
    examples.extend(maker.of_merge());
    examples
}

struct ExampleBuilder<'a> {
    rows: &'a RowMapping<'a>,
}

impl ExampleBuilder<'_> {
    /// The outcome of an entry in a plain group whose author is the starter.
    fn of_entry(&self, role: &str, status: &str, entry: &RouteEntry) -> Vec<String> {
        let cast = self.rows.cast;
        let author = cast.starter.as_str();
        let target = match entry.target.as_str() {
            "author" => author,
            "self" => role,
            other => other,
        };
        let mut given = Vec::new();
        let (action, object) = match entry.verb {
            "consult" => ("spawn", target),
            "escalate" => match cast.ladder.get(target) {
                Some(above) => ("spawn", above.as_str()),
                None => ("ask", "stuck"),
            },
            "start" => {
                given.push(("groups.pending", "1".to_owned()));
                ("batch", author)
            }
            "return" => {
                given.push(("blocked_agent", name(author)));
                ("return", author)
            }
            verb => (verb, target),
        };
        let mut examples = vec![example(role, status, given, action, object)];
        if let Some(counter @ ("qa" | "review")) = entry.counted {
            let limit = threshold(self.rows.machine).to_string();
            let given = vec![(if counter == "qa" { "loop.qa.no_progress" } else { "loop.review.no_progress" }, limit)];
            let (action, object) = self.climbs(role);
            examples.push(example(role, status, given, action, object));
        }
        examples
    }

    /// The role that gets the work in place of the starter: one level up, and always above the role that sends the work
    /// back.
    fn climbs(&self, reporter: &str) -> (&'static str, &str) {
        let cast = self.rows.cast;
        let mut rung = cast.ladder.get(&cast.starter);
        let mut above = rung;
        while let Some(role) = rung {
            rung = cast.ladder.get(role);
            if role == reporter {
                above = rung;
            }
        }
        above.map_or(("ask", "stuck"), |role| ("spawn", role.as_str()))
    }

    fn of_block(&self, role: &str, status: &str) -> Option<String> {
        let cells = self.rows.blocked_cells();
        let (_, helps) = cells.iter().find(|(own, _)| own == role)?;
        let (action, object) = if helps == "user" { ("ask", "clarify") } else { ("spawn", helps.as_str()) };
        Some(example(role, status, Vec::new(), action, object))
    }

    fn of_rules(&self) -> Vec<String> {
        let (machine, cast) = (self.rows.machine, self.rows.cast);
        let mut examples = Vec::new();
        for mode in &machine.testing {
            let given = || vec![("testing", name(&mode.mode))];
            let gone = replaced(machine, mode);
            for (agent, row) in machine.rows() {
                if let RowTarget::Routes(entry) = self.rows.home(agent, row)
                    && entry.verb == "spawn"
                    && gone.contains(&entry.target.as_str())
                {
                    examples.push(example(&agent.name, &row.status, given(), "spawn", &mode.takes));
                }
            }
        }
        if let Some(rule) = machine.security.as_ref().filter(|_| cast.plain.contains(&cast.starter)) {
            for (agent, row) in machine.rows() {
                if let RowTarget::Routes(entry) = self.rows.home(agent, row)
                    && entry.target == "author"
                    && matches!(entry.verb, "respawn" | "merge")
                {
                    let given = vec![("security_sensitive", "true".to_owned())];
                    examples.push(example(&agent.name, &row.status, given, entry.verb, &rule.agent));
                }
            }
        }
        for alias in live_aliases(machine) {
            let meant = |row: &TransitionRow| normalise_status(&row.status) == normalise_status(&alias.meant);
            let direct = |agent: &BazingaAgent| {
                agent.rows.iter().any(|row| normalise_status(&row.status) == normalise_status(&alias.alias))
            };
            let first = machine.rows().find(|(agent, row)| meant(row) && !direct(agent));
            if let Some((agent, row)) = first
                && let RowTarget::Routes(entry) = self.rows.home(agent, row)
            {
                examples.extend(self.of_entry(&agent.name, &alias.alias, &entry).into_iter().take(1));
            }
        }
        examples
    }

    fn of_merge(&self) -> Vec<String> {
        let cast = self.rows.cast;
        let starter = cast.starter.as_str();
        // A role cannot consult itself.
        let helped = if cast.lead == cast.starter { ("ask", "clarify") } else { ("spawn", cast.lead.as_str()) };
        let running = vec![("groups.in_progress", "2".to_owned())];
        vec![
            example(starter, "MERGE_SUCCESS", running, "wait", "groups"),
            example(starter, "MERGE_SUCCESS", Vec::new(), "spawn", &cast.manager),
            example(starter, "MERGE_CONFLICT", Vec::new(), "respawn", starter),
            example(starter, "MERGE_TEST_FAILURE", Vec::new(), "respawn", starter),
            example(starter, "MERGE_BLOCKED", Vec::new(), helped.0, helped.1),
        ]
    }
}

fn example(role: &str, status: &str, given: Vec<(&str, String)>, action: &str, object: &str) -> String {
    let mut keys = vec![("role", name(role)), ("status", name(status))];
    if !given.is_empty() {
        keys.push(("given", map(given)));
    }
    keys.push(("expect", map([(action, name(object))])));
    map(keys)
}
