//! Facts that hold everywhere, in tables beside the diagram.

use std::collections::BTreeMap;

use super::blocked::BlockedRules;
use super::rules::is_everywhere;
use super::{GraphTable, label_text};
use crate::id::Name;
use crate::workflow::*;

/// Escalation paths and tables of large workflows are cut, or they would dwarf the diagram.
const MOST_ROWS: usize = 24;

pub(super) fn tables(workflow: &Workflow) -> Vec<GraphTable> {
    let all = [
        ("From anywhere".to_owned(), everywhere(workflow)),
        (blocked_title(workflow), blocked(workflow)),
        ("Loops escalate at".to_owned(), loops(workflow)),
        ("Escalates to".to_owned(), ladders(workflow)),
        ("Stands in".to_owned(), stand_ins(workflow)),
        ("A group completes with".to_owned(), completion(workflow)),
    ];
    let mut tables = Vec::new();
    for (title, mut rows) in all {
        let left = rows.len().saturating_sub(MOST_ROWS);
        if left > 0 {
            rows.truncate(MOST_ROWS);
            rows.push((String::new(), format!("+{left} more")));
        }
        if !rows.is_empty() {
            tables.push(GraphTable { title, rows });
        }
    }
    tables
}

fn everywhere(workflow: &Workflow) -> Vec<(String, String)> {
    let mut rows: Vec<(Vec<String>, String)> = Vec::new();
    for rule in workflow.rules.iter().filter(|rule| is_everywhere(workflow, rule)) {
        let structural = rule.phase.is_some_and(|phase| phase.index() > 0) || rule.verb == RuleVerb::Join;
        let derived = rule.id.contains("/rework") || rule.id.contains("/checkpoint") || rule.id.contains("/otherwise");
        if rule.climbs || structural || derived {
            continue;
        }
        let status =
            rule.status.map_or_else(|| "any other status".to_owned(), |ix| workflow.status_name(ix).to_string());
        let consulted = rule.id.ends_with("/consult");
        let status = if consulted { format!("{status}, when asked") } else { status };
        let outcome = label_text::describe_rule(workflow, rule);
        match rows.iter_mut().find(|(_, known)| *known == outcome) {
            Some((statuses, _)) if statuses.contains(&status) => {}
            Some((statuses, _)) => statuses.push(status),
            None => rows.push((vec![status], outcome)),
        }
    }
    rows.into_iter().map(|(statuses, outcome)| (statuses.join(", "), outcome)).collect()
}

fn blocked_title(workflow: &Workflow) -> String {
    let status = workflow.blocked.as_ref().map(|blocked| workflow.status_name(blocked.status).as_str());
    let counted =
        workflow.rules.iter().filter(|rule| rule.blocks).find_map(|rule| label_text::shown_loop(workflow, rule));
    let limit = counted.map(|counted| format!(" ({})", label_text::limit(workflow, counted)));
    format!("When {}, ask{}", status.unwrap_or("blocked"), limit.unwrap_or_default())
}

/// By reason if reasons route; else who goes where, as far as no arrow shows it.
fn blocked(workflow: &Workflow) -> Vec<(String, String)> {
    let Some(blocked) = &workflow.blocked else { return Vec::new() };
    if blocked.by_reason || workflow.has_phases() { by_reason(workflow) } else { by_role(workflow) }
}

fn by_role(workflow: &Workflow) -> Vec<(String, String)> {
    let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
    let ways = BlockedRules::new(workflow);
    for (index, role) in workflow.roles.iter().enumerate() {
        let Some(rule) = ways.rule(RoleIx::new(index)).filter(|rule| !ways.is_drawn(rule)) else { continue };
        let asked = asked(workflow, rule);
        match rows.iter_mut().find(|(known, _)| *known == asked) {
            Some((_, roles)) => roles.push(role.name.as_str()),
            None => rows.push((asked, vec![role.name.as_str()])),
        }
    }
    rows.into_iter().map(|(asked, roles)| (label_text::list(&roles, 4), asked)).collect()
}

/// The cells of each reason; reasons with the same cells in one row.
fn by_reason(workflow: &Workflow) -> Vec<(String, String)> {
    let mut reasons: Vec<Option<&Name>> = Vec::new();
    let mut cells: BTreeMap<Option<&Name>, Vec<&Rule>> = BTreeMap::new();
    for rule in workflow.rules.iter().filter(|rule| rule.blocks && !rule.climbs) {
        let reason = rule.reason.as_ref();
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
        cells.entry(reason).or_default().push(rule);
    }
    let mut alike: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
    for reason in reasons {
        let name = reason.map_or("anything else", Name::as_str);
        let folded = folded(workflow, cells.get(&reason).map_or(&[][..], Vec::as_slice));
        match alike.iter_mut().find(|(_, known)| *known == folded) {
            Some((names, _)) => names.push(name),
            None => alike.push((vec![name], folded)),
        }
    }
    let mut rows = Vec::new();
    for (names, folded) in alike {
        let mut what = names.join(", ");
        for line in folded {
            rows.push((std::mem::take(&mut what), line));
        }
    }
    rows
}

/// Whom a cell asks.
fn asked(workflow: &Workflow, rule: &Rule) -> String {
    match asked_role(workflow, rule) {
        Some(role) => role.to_string(),
        None => "a person".to_owned(),
    }
}

fn asked_role<'a>(workflow: &'a Workflow, rule: &Rule) -> Option<&'a Name> {
    if let RuleVerb::Consult(RoleTarget::Role(ix)) = rule.verb { Some(&workflow.role(ix).name) } else { None }
}

/// Roles before domains, as they are looked up; the same role for each domain is a pattern.
fn folded(workflow: &Workflow, rules: &[&Rule]) -> Vec<String> {
    let mut roles: Vec<String> = Vec::new();
    let mut pairs: Vec<(&Domain, &Name)> = Vec::new();
    let mut domains: Vec<String> = Vec::new();
    let mut everyone: Vec<String> = Vec::new();
    for rule in rules {
        let asked = asked(workflow, rule);
        match column(workflow, rule) {
            BlockedColumn::Role(role) => roles.push(format!("{} → {asked}", role.name)),
            BlockedColumn::Domain(domain) => {
                domains.push(format!("{} → {asked}", domain.name));
                pairs.extend(asked_role(workflow, rule).map(|role| (domain, role)));
            }
            BlockedColumn::Everyone => everyone.push(asked),
        }
    }
    let pattern = label_text::pattern(&pairs).filter(|_| pairs.len() == domains.len());
    match pattern {
        Some(pattern) => everyone.insert(0, pattern),
        None => roles.extend(domains),
    }
    roles.extend(everyone);
    roles
}

enum BlockedColumn<'a> {
    Role(&'a Role),
    Domain(&'a Domain),
    Everyone,
}

fn column<'a>(workflow: &'a Workflow, rule: &Rule) -> BlockedColumn<'a> {
    let RuleSource::Roles { roles, domains } = &rule.source else { return BlockedColumn::Everyone };
    let mut named = domains.iter();
    match (named.next().and_then(|index| workflow.domains.get(index)), named.next()) {
        (Some(domain), None) => return BlockedColumn::Domain(domain),
        (Some(_), Some(_)) => return BlockedColumn::Everyone,
        (None, _) => {}
    }
    let mut holders = roles.iter();
    match (holders.next().and_then(|index| workflow.roles.get(index)), holders.next()) {
        (Some(role), None) => BlockedColumn::Role(role),
        (Some(_) | None, _) => BlockedColumn::Everyone,
    }
}

fn loops(workflow: &Workflow) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for (index, item) in workflow.loops.iter().enumerate() {
        let ix = LoopIx::new(index);
        if Some(ix) == workflow.loop_named("settled") || !workflow.rules.iter().any(|rule| rule.counted == Some(ix)) {
            continue;
        }
        let measured = item.measure.map(label_text::measure).zip(item.limit.no_progress);
        let progress = measured.map(|(what, times)| format!(", or {times} without fewer {what}"));
        rows.push((
            item.name.to_string(),
            format!("iteration {}{}", item.limit.iteration, progress.unwrap_or_default()),
        ));
    }
    rows
}

/// `developer → senior → manager → a person`, from every role that no other role escalates to.
fn ladders(workflow: &Workflow) -> Vec<(String, String)> {
    let holders = || workflow.roles.iter().enumerate().filter(|(_, role)| !role.by_interlock);
    let person = "a person: stuck".to_owned();
    if holders().all(|(_, role)| role.escalates_to.is_none()) {
        let options = label_text::describe_question(workflow.question(workflow.stuck));
        return if workflow.roles.is_empty() { Vec::new() } else { vec![("everyone".to_owned(), options)] };
    }
    let mut rows = Vec::new();
    for (index, role) in holders() {
        let is_rung = workflow.roles.iter().any(|other| other.escalates_to == Some(RoleIx::new(index)));
        if is_rung {
            continue;
        }
        let mut rungs: Vec<String> = Vec::new();
        let mut rung = role.escalates_to;
        // The escalation path of a loaded workflow ends. The bound prevents an endless loop even if it does not.
        while let Some(ix) = rung.filter(|_| rungs.len() < workflow.roles.len()) {
            rungs.push(workflow.role(ix).name.to_string());
            rung = workflow.role(ix).escalates_to;
        }
        rungs.push(person.clone());
        rows.push((role.name.to_string(), rungs.join(" → ")));
    }
    rows
}

fn stand_ins(workflow: &Workflow) -> Vec<(String, String)> {
    let row = |one: &RoleOverride| {
        let when = label_text::when(workflow, &one.when).map(|when| format!(", {when}"));
        let name = |ix| workflow.role(ix).name.as_str();
        (name(one.takes).to_owned(), format!("for {}{}", name(one.instead_of), when.unwrap_or_default()))
    };
    workflow.overrides.iter().map(row).collect()
}

fn completion(workflow: &Workflow) -> Vec<(String, String)> {
    let name = |ix: &PassIx| workflow.pass(*ix).name.to_string();
    let joined = |passes: &[PassIx], word: &str| passes.iter().map(name).collect::<Vec<_>>().join(word);
    let completion = &workflow.completion;
    let mut rows = Vec::new();
    if workflow.has_phases() {
        rows.push(("phases".to_owned(), "every one that applies to it".to_owned()));
    }
    for need in &completion.needs {
        let when = label_text::when(workflow, &need.when).map(|when| format!(", {when}"));
        rows.push(("passed".to_owned(), joined(&need.options, " or ") + &when.unwrap_or_default()));
    }
    if !completion.once_blocked.is_empty() {
        let passes = joined(&completion.once_blocked, " and ");
        rows.push(("once blocked".to_owned(), format!("{passes} passed too")));
    }
    for gate in &completion.gates {
        rows.push(("gate".to_owned(), format!("{} on the exact tree", workflow.gate(*gate).name)));
    }
    rows
}
