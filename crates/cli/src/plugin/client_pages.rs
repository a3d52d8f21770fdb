//! Pages about Interlock for a client's model: one for each role, commands for people, and how to orchestrate.

use std::fmt::Write as _;

use interlock_core::id::Name;
use interlock_core::workflow::{Role, Workflow};

use interlock_app::roles;

/// Marks every file that Interlock writes, so that a file of another author is never taken for one.
pub(super) const MARK: &str = "Written by `interlock plugin install`";

/// A command that people type.
pub(super) struct SlashCommand {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) takes: &'static str,
    /// The prompt for the model. `{}` is replaced by the text after the command.
    pub(super) told: &'static str,
}

pub(super) const COMMANDS: [SlashCommand; 5] = [
    SlashCommand {
        name: "start",
        about: "Start a session of this project's workflow",
        takes: "what is to be done",
        told: "Start an Interlock session with the tool start_session. Its title, in a few words, and its mission, in full, \
               are what the person asks for here:\n\n{}\n\nThen start the sub-agents that it names, and go on as Interlock \
               says until the session is completed.",
    },
    SlashCommand {
        name: "status",
        about: "Show how the session stands",
        takes: "[session]",
        told: "Call the Interlock tool session_status (session: {}, or none if that is empty) and show the person how each \
               group stands, what is at work, what is asked, and what has been refused. Start nothing.",
    },
    SlashCommand {
        name: "next",
        about: "Do what is next in the session",
        takes: "[session]",
        told: "Call the Interlock tool whats_next (session: {}, or none if that is empty). Start one sub-agent for each open \
               assignment, with the role as its kind and the id of the assignment in what you tell it; put open questions to \
               the person with ask_person. Go on until nothing is open.",
    },
    SlashCommand {
        name: "answer",
        about: "Answer what the session asks",
        takes: "[question]",
        told: "Call the Interlock tool ask_person (question: {}, or none if that is empty): it puts the question to the \
               person. Do not answer it yourself, and do not suggest that it is settled. Where this client cannot ask, show \
               the person the command that the tool names.",
    },
    SlashCommand {
        name: "why",
        about: "Explain a decision",
        takes: "[decision or event]",
        told: "Call the Interlock tool explain_decision (decision: {}; the last one of the session if that is empty) and \
               tell the person which rule decided, with its place in the workflow, and the facts that it read; for a \
               refusal, every problem.",
    },
];

/// A role in one line.
pub(super) fn about(role: &Role, workflow: &Workflow) -> String {
    let does = if role.author { "does the work of" } else { "works on" };
    format!("{} of the workflow {}: {does} an assignment of Interlock's, and hands off", role.name, workflow.name)
}

/// The page that the agent of a role reads first.
pub(super) fn page(role: &Role, workflow: &Workflow) -> String {
    let mut text = roles::text(workflow, role);
    text.push_str(
        "\nThe prompt of your assignment takes precedence over this page. If your handoff is refused, correct it and end \
         again.\n",
    );
    text
}

pub(super) fn held(workflow: &Workflow) -> impl Iterator<Item = &Role> {
    roles::held(workflow)
}

/// How a model orchestrates, for the skill of a client.
pub(super) fn orchestrating(workflow: &Workflow, prefix: &str) -> String {
    let mut text = format!("# Orchestrating a session of `{}`\n\n", workflow.name);
    if let Some(about) = &workflow.about {
        let _ = writeln!(text, "{about}\n");
    }
    text.push_str(
        "Interlock decides what happens next; you carry it out, and its hooks watch.\n\n\
         1. `start_session` starts one; `whats_next` says what may happen now, at any time.\n\
         2. For each open assignment start one sub-agent of its role, with the id of the assignment in what you tell it. Its \
         prompt is filled in, it is claimed for you, and its handoff is submitted when it ends: you neither claim nor report.\n\
         3. What was decided comes back with the sub-agent. Do that next. Assignments that are open together may be started \
         together.\n\
         4. A question is for the person: `ask_person` puts it to them. Never answer one.\n\
         5. You are done when the session is completed, and not before.\n\n\
         What is refused, whatever the reason: starting a role whose turn it is not, editing files yourself, writing a \
         handoff, skipping a review or a test, calling blocked work done, stopping while work is open. The refusal names the \
         next step.\n\n## The roles\n\n",
    );
    for role in held(workflow) {
        let above = role.escalates_to.map_or("a person", |rung| workflow.role(rung).name.as_str());
        let kind = if role.author { "author; " } else { "" };
        let classes: Vec<&str> = role.classes.iter().map(Name::as_str).filter(|class| *class != "author").collect();
        let classes = if classes.is_empty() { String::new() } else { format!("{}; ", classes.join(", ")) };
        let _ = writeln!(text, "- `{prefix}{}`: {kind}{classes}stuck work goes up to {above}", role.name);
    }
    text
}

/// A text for the front matter of a page: in quotes, on one line.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text.replace('\n', " ")).to_string()
}
