//! What a person or the manager should know of a group before it is called done.

use interlock_core::state::Group;
use interlock_core::workflow::Workflow;
use interlock_system::sanitise;

/// Interlock runs no command that could fail before the group completes.
pub const NOTHING_CHECKED: &str = "nothing is checked: no gate runs a command that can fail";

/// What a person or the manager should know of a group before it is called done.
pub fn notices(group: &Group, workflow: &Workflow) -> Vec<String> {
    let unchecked = workflow.checks_nothing(group).then(|| NOTHING_CHECKED.to_owned());
    serious_findings(group).chain(unchecked).collect()
}

pub fn serious_findings(group: &Group) -> impl Iterator<Item = String> {
    group.serious_remarks().map(|finding| {
        let text = format!("{} {} ({}), by {}", finding.id, finding.title, finding.location, finding.raised_by);
        format!("{}, not blocking: {}", finding.severity.name(), sanitise::line(&text))
    })
}
