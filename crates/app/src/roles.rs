//! How a role works and what it returns, for the agent that plays it. General: an assignment has a prompt of its own.

use std::fmt::Write as _;

use interlock_core::handoff::mandatory_skills;
use interlock_core::id::Name;
use interlock_core::workflow::{Role, Workflow, WritePermission};

use interlock_prompt::RoleReturnFormat;

/// The roles that agents can hold: Interlock plays the others itself.
pub fn held(workflow: &Workflow) -> impl Iterator<Item = &Role> {
    workflow.roles.iter().filter(|role| !role.by_interlock)
}

pub fn text(workflow: &Workflow, role: &Role) -> String {
    let name = &role.name;
    let mut text = format!("# You are `{name}` in a team that works by the workflow `{}`\n\n", workflow.name);
    if let Some(about) = &workflow.about {
        let _ = writeln!(text, "{about}\n");
    }
    if let Some(about) = &role.about {
        let _ = writeln!(text, "{}\n", about.trim());
    }
    let classes: Vec<&str> = role.classes.iter().map(Name::as_str).collect();
    if !classes.is_empty() {
        let _ = writeln!(text, "- In this workflow `{name}` is: {}.", classes.join(", "));
    }
    let _ = writeln!(text, "- {}", may_change(role));
    let above = role.escalates_to.map_or("a person", |rung| workflow.role(rung).name.as_str());
    let _ = writeln!(text, "- Work of yours that is stuck goes up to {above}; that is decided for you, by counters.");
    let skills: Vec<String> = mandatory_skills(workflow, name, None).iter().map(|skill| format!("`{skill}`")).collect();
    if !skills.is_empty() {
        let _ = writeln!(text, "- Invoke these skills, and list them in `skills_invoked`: {}.", skills.join(", "));
    }
    text.push_str(
        "- Do the work of this role and of no other. Who comes next is not yours to say: Interlock decides.\n",
    );
    text.push_str("- What you claim is held against the record; what you cannot show, do not claim.\n");
    returned(&mut text, workflow, role);
    text
}

fn may_change(role: &Role) -> String {
    match &role.writes {
        WritePermission::Everything => "You may change the files of your group.".to_owned(),
        WritePermission::Nothing => "You change no files: you look, judge and report.".to_owned(),
        WritePermission::Only(patterns) => {
            let patterns: Vec<String> = patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
            format!("You may change only files that fit {}.", patterns.join(", "))
        }
    }
}

fn returned(text: &mut String, workflow: &Workflow, role: &Role) {
    let format = RoleReturnFormat::of(workflow, role);
    let _ = writeln!(text, "\n## What you return\n\nOne JSON block, as the last one of your last message:\n");
    let _ = writeln!(text, "```json\n{}\n```\n", format.skeleton);
    text.push_str(
        "The prompt of your assignment lists the statuses that it accepts, and the fields that a status needs besides. These \
         are all statuses of your role:\n\n",
    );
    for line in &format.statuses {
        let _ = writeln!(text, "{line}");
    }
    if let Some(blocked) = &workflow.blocked {
        let status = workflow.status_name(blocked.status);
        let _ = writeln!(text, "\n`{status}` never completes the work: report it only when you cannot go on.");
    }
}
