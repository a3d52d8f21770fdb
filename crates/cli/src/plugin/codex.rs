//! Codex: hooks, server and roles in the project's `.codex`, a skill, and the user's own consent to the hooks.

use std::env;
use std::path::PathBuf;

use serde_json::{Value as Json, json};
use toml_edit::{DocumentMut, Item, Table, value};

use crate::plugin::client_pages::{self, MARK};
use crate::plugin::json::{JsonSettings, SERVER};
use crate::plugin::{ClientSetup, SetupFile, SetupPlan, TargetState, home, sha256, word};

const HOOKS: &str = ".codex/hooks.json";
/// Seconds.
const PATIENCE: u32 = 60;

const BEFORE: &str = "Bash|shell|local_shell|shell_command|exec_command|write_stdin|js_repl|apply_patch|.*spawn_agent|\
                      .*send_input|.*resume_agent|.*followup_task|.*send_message|mcp__.*";
const AFTER: &str = ".*spawn_agent|.*wait_agent|.*close_agent";

/// Codex passes hardly any variable to a server. These locate the keys and the store where they are not in the usual
/// place.
const HANDED_ON: [&str; 3] = ["XDG_CONFIG_HOME", "INTERLOCK_KEY_FILE", "INTERLOCK_STORE"];

/// Each event, as it is written in the file and as it is called where consent is kept.
const EVENTS: [(&str, &str, Option<&str>); 7] = [
    ("SessionStart", "session_start", None),
    ("UserPromptSubmit", "user_prompt_submit", None),
    ("PreToolUse", "pre_tool_use", Some(BEFORE)),
    ("PostToolUse", "post_tool_use", Some(AFTER)),
    ("SubagentStart", "subagent_start", None),
    ("SubagentStop", "subagent_stop", None),
    ("Stop", "stop", None),
];

/// How a hook calls this program, and for which project: this client names none.
pub(super) struct HookCaller {
    program: String,
    project: PathBuf,
}

impl HookCaller {
    pub(super) fn of(setup: &ClientSetup) -> Self {
        Self { program: setup.program.clone(), project: setup.project.clone() }
    }

    fn file(&self) -> PathBuf {
        self.project.join(HOOKS)
    }
}

pub(super) fn plan(setup: &ClientSetup) -> SetupPlan {
    let project = &setup.project;
    let mut parts = vec![
        SetupFile::merged(project.join(HOOKS), {
            let caller = HookCaller::of(setup);
            move |text, stand| hooks(text, stand, &caller)
        }),
        SetupFile::merged(project.join(".codex/config.toml"), {
            let program = setup.program.clone();
            move |text, stand| server(text, stand, &program)
        }),
        SetupFile::merged(user_config(), {
            let caller = HookCaller::of(setup);
            move |text, stand| consent(text, stand, &caller)
        }),
        SetupFile::whole(project.join(".agents/skills/interlock/SKILL.md"), skill(setup)),
    ];
    let agents = project.join(".codex/agents");
    parts.extend(client_pages::held(&setup.workflow).map(|role| {
        let mut page = DocumentMut::new();
        page["name"] = value(role.name.as_str());
        page["description"] = value(client_pages::about(role, &setup.workflow));
        page["developer_instructions"] = value(client_pages::page(role, &setup.workflow));
        SetupFile::whole(agents.join(format!("{}.toml", role.name)), format!("# {MARK}\n{page}"))
    }));
    SetupPlan { parts, owned: vec![agents] }
}

/// Where the user's own settings are.
pub(super) fn user_config() -> PathBuf {
    let folder = env::var_os("CODEX_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    folder.unwrap_or_else(|| home().join(".codex")).join("config.toml")
}

/// A hook before a tool that cannot run refuses by its exit code and the shell's error output. Other hooks must not
/// refuse: no later hook could lift the refusal, and the turn would never end.
fn handler(event: &str, caller: &HookCaller) -> Json {
    let no = if event == "PreToolUse" { " || exit 2" } else { "" };
    let (program, project) = (word(&caller.program), word(&caller.project.display().to_string()));
    let command = format!("{program} hook codex {event} --hold --project {project}{no}");
    json!({ "type": "command", "command": command, "timeout": PATIENCE })
}

fn hooks(text: Option<&str>, stand: TargetState, caller: &HookCaller) -> Result<Option<String>, String> {
    let settings = JsonSettings::read(text)?;
    match stand {
        TargetState::Out => settings.unhook(),
        TargetState::In => {
            for (event, _, matcher) in EVENTS {
                let mut group = json!({ "hooks": [handler(event, caller)] });
                if let Some(matcher) = matcher {
                    group["matcher"] = json!(matcher);
                }
                settings.hook(event, &group)?;
            }
        }
    }
    Ok(settings.text())
}

fn server(text: Option<&str>, stand: TargetState, program: &str) -> Result<Option<String>, String> {
    let mut config = parsed(text)?;
    let servers = config.entry("mcp_servers").or_insert(implicit()).as_table_mut();
    let servers = servers.ok_or("`mcp_servers` is not a table")?;
    match stand {
        TargetState::In => {
            let mut ours = Table::new();
            ours["command"] = value(program);
            ours["args"] = value(toml_edit::Array::from_iter(["mcp"]));
            ours["env_vars"] = value(toml_edit::Array::from_iter(HANDED_ON));
            if servers.get(SERVER).is_none_or(|known| known.to_string() != ours.to_string()) {
                servers.insert(SERVER, Item::Table(ours));
            }
        }
        TargetState::Out => {
            servers.remove(SERVER);
        }
    }
    if config["mcp_servers"].as_table().is_some_and(Table::is_empty) {
        config.remove("mcp_servers");
    }
    Ok(kept(&config))
}

/// Codex runs only hooks that its user has agreed to. An installation is consent to exactly these.
fn consent(text: Option<&str>, stand: TargetState, caller: &HookCaller) -> Result<Option<String>, String> {
    let mut config = parsed(text)?;
    let hooks = config.entry("hooks").or_insert(implicit()).as_table_mut().ok_or("`hooks` is not a table")?;
    let state = hooks.entry("state").or_insert(implicit()).as_table_mut().ok_or("`hooks.state` is not a table")?;
    let consents = consents(caller)?;
    let agreed = |known: &Item| known.get("trusted_hash").and_then(Item::as_str).map(str::to_owned);
    match stand {
        // Others may have hooks in the same file, and their user's consent to them.
        TargetState::Out => {
            let of_file = format!("{}:", caller.file().display());
            let ours = |key: &str, known: &Item| {
                let at_ours = consents.iter().any(|consent| consent.stands && consent.key == key);
                at_ours || agreed(known).is_some_and(|hash| consents.iter().any(|consent| consent.hash == hash))
            };
            state.retain(|key, known| !(key.starts_with(&of_file) && ours(key, known)));
        }
        TargetState::In => {
            for consent in consents {
                if state.get(&consent.key).and_then(agreed).as_ref() != Some(&consent.hash) {
                    let mut entry = Table::new();
                    entry["trusted_hash"] = value(consent.hash);
                    state.insert(&consent.key, Item::Table(entry));
                }
            }
        }
    }
    if state.is_empty() {
        hooks.remove("state");
    }
    if config["hooks"].as_table().is_some_and(Table::is_empty) {
        config.remove("hooks");
    }
    Ok(kept(&config))
}

/// The consent to one of our hooks, as the file will be.
pub(super) struct HookConsent {
    /// By what name it is kept.
    pub(super) key: String,
    pub(super) hash: String,
    /// A hook of ours is in this place already.
    stands: bool,
}

pub(super) fn consents(caller: &HookCaller) -> Result<Vec<HookConsent>, String> {
    let file = caller.file();
    let before = std::fs::read_to_string(&file).ok();
    let after = hooks(before.as_deref(), TargetState::In, caller)?.unwrap_or_default();
    let (before, after) = (JsonSettings::read(before.as_deref())?, JsonSettings::read(Some(&after))?.json());
    let mut all = Vec::new();
    for (event, name, matcher) in EVENTS {
        let ours = handler(event, caller);
        let groups = after["hooks"][event].as_array().map_or(&[][..], Vec::as_slice);
        let at = groups.iter().position(|group| group["hooks"][0] == ours).unwrap_or_default();
        all.push(HookConsent {
            key: format!("{}:{name}:{at}:0", file.display()),
            hash: hash(name, &ours, matcher),
            stands: before.is_hooked(event),
        });
    }
    Ok(all)
}

/// As Codex computes it: over the handler in canonical JSON.
fn hash(event: &str, handler: &Json, matcher: Option<&str>) -> String {
    let command = &handler["command"];
    let matcher = matcher.map_or(String::new(), |matcher| format!(",\"matcher\":{}", Json::from(matcher)));
    let canonical = format!(
        "{{\"event_name\":\"{event}\",\"hooks\":[{{\"async\":false,\"command\":{command},\"timeout\":{PATIENCE},\"type\":\"command\"}}]{matcher}}}"
    );
    format!("sha256:{}", sha256(&canonical))
}

fn skill(setup: &ClientSetup) -> String {
    let mut text = client_pages::orchestrating(&setup.workflow, "");
    text.push_str(
        "\nSub-agents work beside you: wait for them with wait_agent. Where there is close_agent, close each that has ended \
         before you start another; only a few may be there.\n",
    );
    text.push_str("\n## When the person asks for one of these\n\n");
    for command in &client_pages::COMMANDS {
        let told = command.told.replace("{}", "what the person says");
        text.push_str(&format!("- {}: {told}\n", command.about.to_lowercase()));
    }
    let about = "How a session of Interlock is orchestrated: start, status, next, answer, why";
    format!("---\nname: interlock\ndescription: {}\n---\n{text}\n<!-- {MARK} -->\n", client_pages::quoted(about))
}

fn parsed(text: Option<&str>) -> Result<DocumentMut, String> {
    text.unwrap_or_default().parse().map_err(|error: toml_edit::TomlError| error.to_string())
}

/// A table that is only there for what is in it.
fn implicit() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

fn kept(config: &DocumentMut) -> Option<String> {
    Some(config.to_string()).filter(|text| !text.trim().is_empty())
}
