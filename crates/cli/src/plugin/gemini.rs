//! Gemini CLI: hooks and server in the project's settings, roles, commands and a skill beside them, and the user's own
//! consent to the roles.

use std::env;
use std::path::{Path, PathBuf};

use interlock_core::workflow::Workflow;
use serde_json::{Value as Json, json};
use toml_edit::{DocumentMut, value};

use crate::plugin::client_pages::{self, COMMANDS, MARK};
use crate::plugin::json::{JsonSettings, SERVER};
use crate::plugin::{ClientSetup, SetupFile, SetupPlan, TargetState, home, sha256, word};

/// Milliseconds, here.
const PATIENCE: u32 = 60_000;
const BEFORE: &str = "invoke_agent|complete_task|read_file|read_many_files|grep_search|write_file|replace|\
                      run_shell_command|mcp_.*";

/// Only the program's own no is one.
const OWN_NO: &str = " || exit $(( $? == 2 ? 2 : 1 ))";

const EVENTS: [(&str, Option<&str>); 5] = [
    ("SessionStart", None),
    ("BeforeAgent", None),
    ("BeforeTool", Some(BEFORE)),
    ("AfterTool", Some("invoke_agent")),
    ("AfterAgent", None),
];

pub(super) fn plan(setup: &ClientSetup) -> SetupPlan {
    let (project, workflow) = (&setup.project, &setup.workflow);
    let folder = project.join(".gemini");
    let pages: Vec<(String, String)> = client_pages::held(workflow).map(|role| page(role, workflow)).collect();
    let agreed: Vec<(String, String)> = pages.iter().map(|(name, text)| (name.clone(), sha256(text))).collect();
    let (program, at) = (setup.program.clone(), project.clone());
    let mut parts = vec![
        SetupFile::merged(folder.join("settings.json"), move |text, stand| settings(text, stand, &program)),
        SetupFile::merged(user_folder().join("acknowledgments/agents.json"), move |text, stand| {
            consent(text, stand, &at, &agreed)
        }),
        SetupFile::whole(folder.join("skills/interlock/SKILL.md"), skill(workflow)),
    ];
    parts.extend(COMMANDS.iter().map(|command| {
        let mut page = DocumentMut::new();
        page["description"] = value(command.about);
        page["prompt"] = value(command.told.replace("{}", "{{args}}"));
        SetupFile::whole(folder.join(format!("commands/interlock/{}.toml", command.name)), format!("# {MARK}\n{page}"))
    }));
    parts
        .extend(pages.into_iter().map(|(name, text)| SetupFile::whole(folder.join(format!("agents/{name}.md")), text)));
    SetupPlan { parts, owned: vec![folder.join("agents"), folder.join("commands/interlock")] }
}

/// Where the user's own settings are.
pub(super) fn user_folder() -> PathBuf {
    let home_of = env::var_os("GEMINI_CLI_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    home_of.unwrap_or_else(home).join(".gemini")
}

fn settings(text: Option<&str>, stand: TargetState, program: &str) -> Result<Option<String>, String> {
    let settings = JsonSettings::read(text)?;
    match stand {
        TargetState::Out => {
            settings.unhook();
            settings.unset(&["mcpServers"], SERVER);
        }
        TargetState::In => {
            for (event, matcher) in EVENTS {
                // A missing program counts as a refusal in this client. That is right before a tool. Elsewhere no later
                // hook could lift the refusal, and the turn would never end.
                let no = if event == "BeforeTool" { "" } else { OWN_NO };
                let project = "--project \"$GEMINI_PROJECT_DIR\"";
                let command = format!("{} hook gemini {event} --hold {project}{no}", word(program));
                let handler =
                    json!({ "type": "command", "name": "interlock", "command": command, "timeout": PATIENCE });
                let group = json!({ "matcher": matcher.unwrap_or("*"), "hooks": [handler] });
                settings.hook(event, &group)?;
            }
            let server = json!({ "command": program, "args": ["mcp"] });
            settings.set(&["mcpServers"], SERVER, &server)?;
        }
    }
    Ok(settings.text())
}

/// Gemini offers only roles of a project that its user has agreed to. An installation is consent to exactly these.
fn consent(
    text: Option<&str>,
    stand: TargetState,
    project: &Path,
    agreed: &[(String, String)],
) -> Result<Option<String>, String> {
    let settings = JsonSettings::read(text)?;
    let project = project.display().to_string();
    for (name, hash) in agreed {
        match stand {
            TargetState::In => settings.set(&[&project], name, &json!(hash))?,
            TargetState::Out => settings.unset(&[&project], name),
        }
    }
    Ok(settings.text())
}

fn page(role: &interlock_core::workflow::Role, workflow: &Workflow) -> (String, String) {
    let text = format!(
        "---\nname: {}\ndescription: {}\n---\n{}\nYou end by calling `complete_task`: its `result` is your last message, \
         with the handoff in it.\n\n<!-- {MARK} -->\n",
        role.name,
        client_pages::quoted(&client_pages::about(role, workflow)),
        client_pages::page(role, workflow)
    );
    (role.name.to_string(), text)
}

fn skill(workflow: &Workflow) -> String {
    let about = "How a session of Interlock is orchestrated: who is started when, and what is refused";
    let one = "In this client one sub-agent works at a time: start the next when it has come back.\n";
    let text = client_pages::orchestrating(workflow, "");
    format!("---\nname: interlock\ndescription: {}\n---\n{text}\n{one}\n<!-- {MARK} -->\n", client_pages::quoted(about))
}

/// Whether the client loads the settings of this project at all.
pub(super) fn trusts(project: &Path) -> bool {
    if env::var("GEMINI_CLI_TRUST_WORKSPACE").is_ok_and(|value| value == "true") {
        return true;
    }
    let text = std::fs::read_to_string(user_folder().join("trustedFolders.json")).unwrap_or_default();
    let folders: Json = serde_json::from_str(&text).unwrap_or_default();
    let level = |folder: &Path| folders[folder.display().to_string()].as_str().map(str::to_owned);
    let by_itself = level(project).is_some_and(|level| level == "TRUST_FOLDER");
    let by_parent =
        || project.ancestors().skip(1).any(|above| level(above).is_some_and(|level| level == "TRUST_FOLDER"));
    let by_parents = || level(project).is_some_and(|level| level == "TRUST_PARENT");
    by_itself || by_parents() || by_parent()
}
