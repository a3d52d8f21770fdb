//! Claude Code: a plugin in the project's own `.claude`, which the client loads by itself once the project is trusted.

use interlock_core::workflow::Workflow;
use serde_json::{Value as Json, json};

use crate::plugin::client_pages::{self, COMMANDS, MARK};
use crate::plugin::{ClientSetup, SetupFile, SetupPlan, word};

/// Everything is in here, and nothing else is.
pub(super) const FOLDER: &str = ".claude/skills/interlock";
const PREFIX: &str = "interlock:";
/// Seconds.
const PATIENCE: u32 = 60;

/// Tools with a hook before the call, and tools with one after it.
const BEFORE: &str = "Agent|Task|SendMessage|Workflow|TeamCreate|RemoteTrigger|Read|Grep|Glob|Write|Edit|MultiEdit|\
                      NotebookEdit|Bash|PowerShell|Monitor|REPL|mcp__.*";
const AFTER: &str = "Agent|Task";

pub(super) fn plan(setup: &ClientSetup) -> SetupPlan {
    let workflow = &setup.workflow;
    let mut files = vec![
        (".claude-plugin/plugin.json".to_owned(), pretty(&manifest())),
        ("hooks/hooks.json".to_owned(), pretty(&json!({ "hooks": hooks(&setup.program) }))),
        (".mcp.json".to_owned(), pretty(&servers(&setup.program))),
        ("skills/orchestrate/SKILL.md".to_owned(), skill(workflow)),
        ("README.md".to_owned(), readme()),
    ];
    files.extend(COMMANDS.iter().map(|command| {
        let told = command.told.replace("{}", "$ARGUMENTS");
        let page = format!(
            "---\ndescription: {}\nargument-hint: {}\n---\n{told}\n\n<!-- {MARK} -->\n",
            client_pages::quoted(command.about),
            client_pages::quoted(command.takes)
        );
        (format!("commands/{}.md", command.name), page)
    }));
    files.extend(client_pages::held(workflow).map(|role| {
        let page = format!(
            "---\nname: {}\ndescription: {}\n---\n{}\n<!-- {MARK} -->\n",
            role.name,
            client_pages::quoted(&client_pages::about(role, workflow)),
            client_pages::page(role, workflow)
        );
        (format!("agents/{}.md", role.name), page)
    }));
    let folder = setup.project.join(FOLDER);
    let parts = files.into_iter().map(|(name, text)| SetupFile::whole(folder.join(name), text)).collect();
    SetupPlan { parts, owned: vec![folder] }
}

pub(super) fn hooks(program: &str) -> Json {
    // Where the client was started: the files can be shared, and a model that goes elsewhere is still watched.
    let command =
        |event: &str| format!("{} hook claude {event} --hold --project \"$CLAUDE_PROJECT_DIR\"", word(program));
    // A hook before a tool is set to fail closed. Other hooks that can refuse do so by exit code if they cannot run.
    let before = |event: &str, matcher: &str| {
        let handler =
            json!({ "type": "command", "command": command(event), "timeout": PATIENCE, "onFailure": "block" });
        json!([{ "matcher": matcher, "hooks": [handler] }])
    };
    let holds = |event: &str| {
        let command = format!("{} || exit 2", command(event));
        json!([{ "hooks": [{ "type": "command", "command": command, "timeout": PATIENCE }] }])
    };
    let tells = |event: &str, matcher: Option<&str>| {
        let mut group = json!({ "hooks": [{ "type": "command", "command": command(event), "timeout": PATIENCE }] });
        if let Some(matcher) = matcher {
            group["matcher"] = json!(matcher);
        }
        json!([group])
    };
    json!({
        "SessionStart": tells("SessionStart", None),
        "UserPromptSubmit": tells("UserPromptSubmit", None),
        "PreToolUse": before("PreToolUse", BEFORE),
        "PostToolUse": tells("PostToolUse", Some(AFTER)),
        "PostToolUseFailure": tells("PostToolUseFailure", Some(AFTER)),
        "SubagentStart": tells("SubagentStart", None),
        "SubagentStop": holds("SubagentStop"),
        "Stop": holds("Stop"),
    })
}

fn manifest() -> Json {
    json!({
        "name": "interlock",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Keeps this project's team of agents on the rails: Interlock decides what happens next",
        "license": "MIT OR Apache-2.0",
    })
}

fn servers(program: &str) -> Json {
    json!({ "mcpServers": { "interlock": { "type": "stdio", "command": program, "args": ["mcp"] } } })
}

fn skill(workflow: &Workflow) -> String {
    format!(
        "---\nname: orchestrate\ndescription: {}\n---\n{}\n<!-- {MARK} -->\n",
        client_pages::quoted("How a session of Interlock is orchestrated: who is started when, and what is refused"),
        client_pages::orchestrating(workflow, PREFIX)
    )
}

fn readme() -> String {
    format!(
        "# Interlock for Claude Code\n\n{MARK}: the hooks, the MCP server, the commands and the roles of this project's \
         workflow. `interlock plugin install claude` writes it again after the workflow has changed, `interlock plugin doctor \
         claude` checks it, `interlock plugin uninstall claude` removes it.\n"
    )
}

fn pretty(json: &Json) -> String {
    format!("{json:#}\n")
}
