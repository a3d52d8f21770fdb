//! Entries for reports, gates and answers: what they demand, and what they allow.
//!
//! Entries are compared case by case, because their order counts: an entry without conditions allows nothing where one
//! before it decides.

use std::collections::BTreeSet;

use crate::id::Name;
use crate::workflow::model::*;
use crate::workflow::weaker::cases::{GuardKey, StatusEntries, cases};
use crate::workflow::weaker::{compare_demands, needed};

/// Something that an entry allows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum EntryPermission {
    Pass(Name),
    Excuse(Name),
    /// The session may end without groups.
    WithoutGroups,
    End,
    /// Work goes on to the next phase, or is complete.
    Proceed,
}

/// The role, gate or question that an entry belongs to.
#[derive(Clone, Copy)]
enum EntryOwner<'w> {
    Role(&'w Role),
    Gate(&'w Gate),
    Question(&'w DeclaredQuestion),
}

/// Entries of `new` that demand less or allow more than those of `old` do in the same case.
pub(super) fn weaker_entries(old: &Workflow, new: &Workflow, dropped: &mut Vec<String>) {
    for ((role, status), rules) in &new.by_report {
        let (role, status) = (new.role(*role), *status);
        let before = report_entries(old, &role.name, new.status_name(status)).or_else(|| {
            // Every author merges: another author has no other right.
            let merges = rules.iter().all(|ix| new.rule(*ix).tasks == [false, false, true]);
            let author = old.roles.iter().find(|known| known.author && merges && role.author)?;
            report_entries(old, &author.name, new.status_name(status))
        });
        let after = StatusEntries { workflow: new, rules, status: None, fixed: None };
        compare(EntryOwner::Role(role), new.status_name(status), before, after, old, dropped);
    }
    for (gate, rules) in &new.by_gate {
        let gate = new.gate(*gate);
        let before = old.gate_named(&gate.name).and_then(|ix| old.by_gate.get(&ix));
        for status in statuses(new, rules) {
            let name = new.status_name(status);
            let known = old.status_index.get(normalise_status(name).as_str());
            let before = before.zip(known);
            let before = before.map(|(rules, status)| entries(old, rules, Some(*status)));
            compare(EntryOwner::Gate(gate), name, before, entries(new, rules, Some(status)), old, dropped);
        }
    }
    for ((question, status), rules) in &new.by_answer {
        let (question, name) = (new.question(*question), new.status_name(*status));
        let known = old.question_named(&question.name).zip(old.status_index.get(normalise_status(name).as_str()));
        let before = known.and_then(|(question, status)| old.by_answer.get(&(question, *status)));
        // A person decides there. Only an answer that exists may not mean more than before.
        if let Some(before) = before {
            let (before, after) = (entries(old, before, None), entries(new, rules, None));
            compare(EntryOwner::Question(question), name, Some(before), after, old, dropped);
        }
    }
}

/// Whether a value of a name lets entries demand less, or allow more, than another value does.
pub(super) fn value_is_weaker(workflow: &Workflow, key: &GuardKey, was: &Name, is: &Name) -> bool {
    let mut found = Vec::new();
    for ((role, status), rules) in &workflow.by_report {
        let before = StatusEntries { workflow, rules, status: None, fixed: Some((key, was)) };
        let after = StatusEntries { fixed: Some((key, is)), ..before };
        let holder = EntryOwner::Role(workflow.role(*role));
        compare(holder, workflow.status_name(*status), Some(before), after, workflow, &mut found);
    }
    !found.is_empty()
}

fn entries<'w>(workflow: &'w Workflow, rules: &'w [RuleIx], status: Option<StatusIx>) -> StatusEntries<'w> {
    StatusEntries { workflow, rules, status, fixed: None }
}

fn statuses(workflow: &Workflow, rules: &[RuleIx]) -> BTreeSet<StatusIx> {
    rules.iter().filter_map(|ix| workflow.rule(*ix).status).collect()
}

/// The entries of a role's status, by their names.
pub(super) fn report_entries<'w>(workflow: &'w Workflow, role: &str, status: &Name) -> Option<StatusEntries<'w>> {
    let role = workflow.role_named(role)?;
    let status = workflow.status_index.get(normalise_status(status).as_str())?;
    workflow.by_report.get(&(role, *status)).map(|rules| entries(workflow, rules, None))
}

fn compare(
    holder: EntryOwner<'_>,
    status: &Name,
    before: Option<StatusEntries<'_>>,
    after: StatusEntries<'_>,
    old: &Workflow,
    dropped: &mut Vec<String>,
) {
    let none = entries(old, &[], None);
    let before_or_none = before.unwrap_or(none);
    let mut added = BTreeSet::new();
    for case in cases(before_or_none, after) {
        let (earlier, now) = (before_or_none.in_case(&case), after.in_case(&case));
        if now.is_empty() {
            continue;
        }
        let allowed = permissions(old, earlier.iter().copied());
        let now_allowed = permissions(after.workflow, now.iter().copied());
        // Where nothing was decided before, going on is no more than the new entry is for.
        let is_known = !earlier.is_empty() && case.is_in(old);
        let is_more = |permission: &&EntryPermission| **permission != EntryPermission::Proceed || is_known;
        added.extend(now_allowed.difference(&allowed).filter(is_more).cloned());
        if let (Some(common), Some(own)) = (common_demands(&earlier), common_demands(&now)) {
            compare_demands(&format!("`{status}` of {}", holder.name()), &common, &own, dropped);
        }
        if matches!(holder, EntryOwner::Role(_)) && asks(&earlier) && !asks(&now) {
            dropped.push(format!("a person is no longer asked after `{status}` of {}", holder.name()));
        }
    }
    for permission in added.into_iter().filter(|permission| matters(old, permission)) {
        dropped.extend(sentence(&permission, holder, status, before, old, after.workflow));
    }
}

/// Evidence that `old` does not need is no requirement of it. Needs are compared by themselves.
fn matters(old: &Workflow, permission: &EntryPermission) -> bool {
    match permission {
        EntryPermission::Pass(name) | EntryPermission::Excuse(name) => needed(old, name),
        EntryPermission::WithoutGroups | EntryPermission::End | EntryPermission::Proceed => true,
    }
}

/// The entry that decides where no special case holds asks a person. Checkpoints are compared by themselves.
fn asks(rules: &[&Rule]) -> bool {
    rules.last().is_some_and(|rule| matches!(rule.verb, RuleVerb::Ask(_)) || rule.id.ends_with("/checkpoint"))
}

fn common_demands(rules: &[&Rule]) -> Option<HandoffDemands> {
    rules.iter().map(|rule| rule.demands.clone()).reduce(|mut common, demands| {
        common.require.retain(|field| demands.require.contains(field));
        common.verify.retain(|claim| demands.verify.contains(claim));
        if common.changes != demands.changes {
            common.changes = ChangesDemand::Any;
        }
        common
    })
}

fn permissions<'r>(workflow: &Workflow, rules: impl Iterator<Item = &'r Rule>) -> BTreeSet<EntryPermission> {
    rules.flat_map(|rule| permissions_of(workflow, rule)).collect()
}

fn permissions_of(workflow: &Workflow, rule: &Rule) -> BTreeSet<EntryPermission> {
    let Rule {
        source,
        verb,
        passes,
        excuses,
        without_groups,
        // Compared by `common_demands`.
        demands: _,
        // Parts of the case in which the entry applies.
        status: _,
        tasks: _,
        phase: _,
        reason: _,
        conditions: _,
        // Patience: loading bounds every cycle.
        climbs: _,
        counted: _,
        // Words for agents, and where the entry stands.
        id: _,
        place: _,
        with: _,
        model: _,
        because: _,
        // Follow from the table and the verb.
        blocks: _,
        leaves: _,
    } = rule;
    let name = |ix: &PassIx| workflow.pass(*ix).name.clone();
    let mut permissions: BTreeSet<EntryPermission> = passes.iter().map(|ix| EntryPermission::Pass(name(ix))).collect();
    permissions.extend(excuses.iter().map(|ix| EntryPermission::Excuse(name(ix))));
    if *without_groups {
        permissions.insert(EntryPermission::WithoutGroups);
    }
    match (verb, source) {
        (RuleVerb::End, RuleSource::Roles { .. }) => permissions.insert(EntryPermission::End),
        (RuleVerb::Leave | RuleVerb::Join | RuleVerb::Complete, _)
        | (RuleVerb::End, RuleSource::Gate(_) | RuleSource::Question(_)) => {
            permissions.insert(EntryPermission::Proceed)
        }
        (
            // A merge is asked for with all evidence that completion needs; the other verbs go back, wait or ask.
            RuleVerb::Merge
            | RuleVerb::Spawn(_)
            | RuleVerb::Respawn(_)
            | RuleVerb::Consult(_)
            | RuleVerb::Return
            | RuleVerb::Escalate(_)
            | RuleVerb::Goto(_)
            | RuleVerb::Start
            | RuleVerb::Ask(_)
            | RuleVerb::Defer
            | RuleVerb::Validate(_)
            | RuleVerb::CancelGroup
            | RuleVerb::CancelSession
            | RuleVerb::Redo
            | RuleVerb::Acknowledge
            | RuleVerb::Rework(_),
            _,
        ) => false,
    };
    permissions
}

impl EntryOwner<'_> {
    fn name(self) -> String {
        match self {
            EntryOwner::Role(role) => role.name.to_string(),
            EntryOwner::Gate(gate) => format!("gate `{}`", gate.name),
            EntryOwner::Question(question) => format!("question `{}`", question.name),
        }
    }
}

/// `None` where a status was merely renamed.
fn sentence(
    permission: &EntryPermission,
    holder: EntryOwner<'_>,
    status: &Name,
    before: Option<StatusEntries<'_>>,
    old: &Workflow,
    new: &Workflow,
) -> Option<String> {
    let grants = |workflow: &Workflow, rule: &Rule| permissions_of(workflow, rule).contains(permission);
    let same_status = before.is_some_and(|before| before.all().any(|rule| grants(old, rule)));
    let statuses = match holder {
        EntryOwner::Role(role) => statuses_that(old, &role.name, |rule| grants(old, rule)),
        EntryOwner::Gate(_) | EntryOwner::Question(_) => Vec::new(),
    };
    let is_kept = |name: &Name| match holder {
        EntryOwner::Role(role) => report_entries(new, &role.name, name).is_some(),
        EntryOwner::Gate(_) | EntryOwner::Question(_) => true,
    };
    if before.is_none() && statuses.iter().any(|name| !is_kept(name)) {
        return None;
    }
    let who = holder.name();
    let how = if same_status { " in more cases than before" } else { "" };
    Some(match permission {
        EntryPermission::Pass(name) if statuses.is_empty() && !same_status => {
            format!("`{name}` can also be passed by {who}")
        }
        EntryPermission::Pass(name) if same_status => format!("`{name}` can be passed by {who} with `{status}`{how}"),
        EntryPermission::Pass(name) => format!("`{name}` can be passed by {who} with `{status}` as well"),
        EntryPermission::Excuse(name) => format!("`{status}` of {who} excuses evidence `{name}`{how}"),
        EntryPermission::WithoutGroups => format!("`{status}` of {who} can end the session without groups{how}"),
        EntryPermission::End => format!("`{status}` of {who} ends the session{how}"),
        EntryPermission::Proceed => format!("work goes on after `{status}` of {who}{how}"),
    })
}

/// Statuses of a role with an entry of this kind.
fn statuses_that(workflow: &Workflow, role: &str, has: impl Fn(&Rule) -> bool) -> Vec<Name> {
    let Some(role) = workflow.role_named(role) else { return Vec::new() };
    let own = workflow.by_report.range((role, StatusIx(0))..=(role, StatusIx(u16::MAX)));
    own.filter(|(_, rules)| rules.iter().any(|ix| has(workflow.rule(*ix))))
        .map(|((_, status), _)| workflow.status_name(*status).clone())
        .collect()
}

/// Demands that every entry of a role's status has.
pub(super) fn demands_of_status(entries: StatusEntries<'_>) -> HandoffDemands {
    let rules: Vec<&Rule> = entries.all().collect();
    common_demands(&rules).unwrap_or_default()
}
