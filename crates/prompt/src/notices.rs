//! Notices about a group that a person or the manager needs before it is called done.

use interlock_core::state::Group;
use interlock_core::workflow::Workflow;
use interlock_system::sanitise;

/// Interlock runs no command that could fail before the group completes.
pub const NOTHING_CHECKED: &str = "nothing is checked: no gate runs a command that can fail";

/// The notices of a group, for a person or the manager.
pub fn notices(group: &Group, workflow: &Workflow) -> Vec<String> {
    serious_findings(group).chain(check_notice(group, workflow)).collect()
}

/// The limits of the checks that Interlock runs for the group.
pub fn check_notice(group: &Group, workflow: &Workflow) -> Option<String> {
    if workflow.checks_nothing(group) {
        return Some(NOTHING_CHECKED.to_owned());
    }
    let looking = workflow.checks_without_project_code(group);
    let looking: Vec<String> = looking.iter().map(|command| format!("`{}`", sanitise::line(command))).collect();
    (!looking.is_empty())
        .then(|| format!("no check runs code of the project: {} cannot show that it works", looking.join(", ")))
}

pub fn serious_findings(group: &Group) -> impl Iterator<Item = String> {
    group.serious_remarks().map(|finding| {
        let text = format!("{} {} ({}), by {}", finding.id, finding.title, finding.location, finding.raised_by);
        format!("{}, not blocking: {}", finding.severity.name(), sanitise::line(&text))
    })
}
