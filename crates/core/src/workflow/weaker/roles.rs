//! The files that roles may write and own, and roles that replace others.

use crate::id::Name;
use crate::workflow::model::*;
use crate::workflow::weaker::patterns::covered;
use crate::workflow::weaker::reports::{demands_of_status, report_entries};
use crate::workflow::weaker::{compare_demands, conditions, conditions_imply};

pub(super) fn weaker_roles(old: &Workflow, new: &Workflow, dropped: &mut Vec<String>) {
    for after in &new.roles {
        let Role {
            name,
            author,
            writes,
            owns,
            by_interlock,
            skills,
            // Words for agents, and classes that tables refer to: entries are compared role by role.
            about: _,
            classes: _,
            domain: _,
            // Patience and cost.
            escalates_to: _,
            at_most: _,
            model: _,
            deadline: _,
        } = after;
        let before = old.role_named(name).map(|ix| old.role(ix));
        let owned = before.map_or(&[][..], |role| role.owns.as_slice());
        for pattern in owns.iter().filter(|pattern| !covered(pattern, owned) && !is_newly_protected(old, new, pattern))
        {
            dropped.push(format!("{name} owns protected paths `{pattern}`"));
        }
        let Some(before) = before else { continue };
        if *author && !before.author {
            dropped.push(format!("{name} becomes an author, and may judge its own work"));
        }
        if before.by_interlock && !by_interlock {
            dropped.push(format!("{name} is no longer played by Interlock"));
        }
        if !writes_within(writes, &before.writes) {
            dropped.push(format!("{name} may write more files"));
        }
        dropped_skills(name, &before.skills, skills, (old, new), dropped);
    }
}

/// A workflow that protects more paths may name their owner.
fn is_newly_protected(old: &Workflow, new: &Workflow, owned: &Name) -> bool {
    let added = new.protected.iter().filter(|pattern| !covered(pattern, &old.protected));
    let own = std::slice::from_ref(owned);
    added.cloned().any(|pattern| covered(owned, &[pattern])) && !old.protected.iter().any(|known| covered(known, own))
}

/// Skills without which a handoff is refused.
pub(super) fn dropped_skills(
    of: &str,
    before: &[Name],
    after: &[Name],
    (old, new): (&Workflow, &Workflow),
    dropped: &mut Vec<String>,
) {
    let is_kept = |skill: &Name| after.contains(skill) || new.handoff.skills.contains(skill);
    for skill in before.iter().filter(|skill| old.handoff.refuse_missing_skills && !is_kept(skill)) {
        dropped.push(format!("{of} no longer requires skill `{skill}`"));
    }
}

pub(super) fn writes_within(new: &WritePermission, old: &WritePermission) -> bool {
    match (new, old) {
        (_, WritePermission::Everything) | (WritePermission::Nothing, _) => true,
        (WritePermission::Everything, WritePermission::Nothing | WritePermission::Only(_))
        | (WritePermission::Only(_), WritePermission::Nothing) => false,
        (WritePermission::Only(new), WritePermission::Only(old)) => new.iter().all(|pattern| covered(pattern, old)),
    }
}

/// The requirements that a role lacks in comparison with the role that it now replaces.
pub(super) fn lesser_role((old, before): (&Workflow, &Role), (new, after): (&Workflow, &Role)) -> Option<String> {
    if after.author && !before.author {
        return Some("an author".to_owned());
    }
    if before.by_interlock && !after.by_interlock {
        return Some("which Interlock does not play".to_owned());
    }
    if !writes_within(&after.writes, &before.writes) {
        return Some("which may write more files".to_owned());
    }
    let mut less = Vec::new();
    dropped_skills("it", &before.skills, &after.skills, (old, new), &mut less);
    for (role, status) in old.by_report.keys() {
        let name = old.status_name(*status);
        let both = report_entries(old, &before.name, name).zip(report_entries(new, &after.name, name));
        if let Some((earlier, now)) = both.filter(|_| old.role(*role).name == before.name) {
            compare_demands(&format!("`{name}`"), &demands_of_status(earlier), &demands_of_status(now), &mut less);
        }
    }
    less.into_iter().next().map(|first| format!("where {first}"))
}

/// Roles that take the place of others, and roles that begin the session or a group.
pub(super) fn weaker_places(old: &Workflow, new: &Workflow, dropped: &mut Vec<String>) {
    for RoleOverride { when, instead_of, takes, because: _ } in &new.overrides {
        let (instead, takes) = (new.role(*instead_of), new.role(*takes));
        let is_known = |known: &RoleOverride| {
            old.role(known.instead_of).name == instead.name
                && old.role(known.takes).name == takes.name
                && conditions_imply(&conditions(new, when), &conditions(old, &known.when))
        };
        let less = lesser_role((new, instead), (new, takes)).filter(|_| !old.overrides.iter().any(is_known));
        if let Some(less) = less {
            dropped.push(format!("work of {} is given to {}, {less}", instead.name, takes.name));
        }
    }
    for RoleOverride { when, instead_of, takes, because: _ } in &old.overrides {
        let (instead, takes) = (old.role(*instead_of), old.role(*takes));
        let is_kept = |kept: &RoleOverride| {
            new.role(kept.instead_of).name == instead.name
                && new.role(kept.takes).name == takes.name
                && conditions_imply(&conditions(old, when), &conditions(new, &kept.when))
        };
        if is_above(old, takes, instead) && !new.overrides.iter().any(is_kept) {
            dropped.push(format!("work of {} is given to {} in fewer cases", instead.name, takes.name));
        }
    }
    for (what, before, after) in [
        ("the session begins", &old.begin, &new.begin),
        ("a group begins", &old.group_begin, &new.group_begin),
        ("ended groups go on", &old.groups_ended, &new.groups_ended),
    ] {
        let earlier: Vec<&Role> = before.iter().map(|opening| opening_role(old, opening)).collect();
        for role in after.iter().map(|opening| opening_role(new, opening)) {
            if let Some(less) = lesser_than_all((old, &earlier), (new, role)) {
                dropped.push(format!("{what} with {}, {less}", role.name));
            }
        }
    }
}

fn opening_role<'w>(workflow: &'w Workflow, opening: &SpawnRule) -> &'w Role {
    // The rest says when, with which words and where; the plan's needs hold for every group.
    let SpawnRule { role, id: _, place: _, when: _, with: _, model: _, because: _ } = opening;
    workflow.role(*role)
}

/// The requirements that a role lacks in comparison with each of the roles that it replaces.
pub(super) fn lesser_than_all(
    (old, before): (&Workflow, &[&Role]),
    (new, after): (&Workflow, &Role),
) -> Option<String> {
    if before.iter().any(|role| role.name == after.name) {
        return None;
    }
    let mut less = before.iter().map(|role| lesser_role((old, role), (new, after)));
    less.next().flatten().filter(|_| less.all(|less| less.is_some()))
}

/// An author to whom the other one escalates.
fn is_above(workflow: &Workflow, above: &Role, below: &Role) -> bool {
    let mut role = below;
    for _ in 0..workflow.roles.len() {
        match role.escalates_to {
            Some(next) => role = workflow.role(next),
            None => return false,
        }
        if role.name == above.name {
            return above.author && below.author;
        }
    }
    false
}
