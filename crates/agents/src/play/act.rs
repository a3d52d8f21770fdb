//! Does what a step of the script says.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};

use crate::play::script::{DeedDoc, Script, StepDoc};
use interlock_system::clock;

/// The assignment as the agent sees it.
struct ScriptedCall {
    role: String,
    group: Option<String>,
    attempt: u32,
    output: PathBuf,
}

impl ScriptedCall {
    fn from_environment() -> Result<Self, String> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let needed =
            |name: &str| variable(name).ok_or_else(|| format!("{name} is not set: Interlock starts this program"));
        Ok(Self {
            role: needed("INTERLOCK_ROLE")?,
            group: variable("INTERLOCK_GROUP"),
            attempt: needed("INTERLOCK_ROUND")?.parse().map_err(|_| "INTERLOCK_ROUND is no number".to_owned())?,
            output: PathBuf::from(needed("INTERLOCK_OUTPUT")?),
        })
    }

    fn fits(&self, step: &StepDoc) -> bool {
        let role = step.role == "any" || step.role == self.role.as_str();
        let here = self.group.as_deref().unwrap_or("session");
        let group = step.group.as_ref().is_none_or(|group| *group == *here);
        role && group && step.attempt.as_ref().is_none_or(|attempt| attempt.value == self.attempt)
    }

    /// Replaces the placeholders for the group and the role in texts and paths.
    fn filled(&self, text: &str) -> String {
        text.replace("{group}", self.group.as_deref().unwrap_or("session")).replace("{role}", &self.role)
    }
}

pub(super) fn play(script: &Script) -> Result<(), String> {
    let call = ScriptedCall::from_environment()?;
    let mut prompt = Vec::new();
    // The prompt is for models. It is read so that the sender does not block.
    let _ = io::stdin().read_to_end(&mut prompt);
    let step = script.steps.iter().find(|step| call.fits(step));
    let step = step.ok_or_else(|| {
        let group = call.group.as_deref().unwrap_or("session");
        format!("the script has no step for {} on {group}, attempt {}", call.role, call.attempt)
    })?;
    for deed in &step.does {
        act(&call, deed)?;
    }
    if let Some(text) = &step.prints {
        println!("{}", call.filled(text));
        return Ok(());
    }
    let says = step.says.as_ref().map_or_else(|| json!({}), |says| says.value.0.clone());
    hand_off(&call, &says)
}

fn act(call: &ScriptedCall, deed: &DeedDoc) -> Result<(), String> {
    let text = || call.filled(deed.text.as_deref().unwrap_or_default());
    if let Some(words) = &deed.say {
        println!("{}", call.filled(words));
    }
    if let Some(wait) = deed.wait {
        thread::sleep(Duration::from_millis(wait.milliseconds()));
    }
    if let Some(path) = &deed.write {
        let path = call.filled(path);
        println!("writes {path}");
        written(&path, &text(), false)?;
    }
    if let Some(path) = &deed.append {
        let path = call.filled(path);
        println!("adds to {path}");
        written(&path, &text(), true)?;
    }
    if let Some(path) = &deed.remove {
        fs::remove_file(call.filled(path)).map_err(|error| format!("{path}: {error}"))?;
    }
    if deed.run.is_empty() { Ok(()) } else { run(call, deed) }
}

fn written(path: &str, text: &str, more: bool) -> Result<(), String> {
    let path = Path::new(path);
    let folder = path.parent().unwrap_or(Path::new(""));
    let done = fs::create_dir_all(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }).and_then(|()| {
        let mut file = OpenOptions::new().create(true).write(true).append(more).truncate(!more).open(path)?;
        file.write_all(text.as_bytes())
    });
    done.map_err(|error| format!("{}: {error}", path.display()))
}

fn run(call: &ScriptedCall, deed: &DeedDoc) -> Result<(), String> {
    let words: Vec<String> = deed.run.iter().map(|word| call.filled(word)).collect();
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    println!("runs {}", words.join(" "));
    let status = Command::new(program).args(arguments).status().map_err(|error| format!("{program}: {error}"))?;
    match deed.expect.as_ref().map(|expect| expect.value.as_str()) {
        Some("pass") if !status.success() => Err(format!("{} failed", words.join(" "))),
        Some("fail") if status.success() => Err(format!("{} passed, and was to fail", words.join(" "))),
        _ => Ok(()),
    }
}

/// Leaves the handoff: what the script says, over what every handoff has.
fn hand_off(call: &ScriptedCall, says: &Json) -> Result<(), String> {
    let mut handoff = Map::new();
    let mut put = |key: &str, value: Json| handoff.insert(key.to_owned(), value);
    put("agent", json!(call.role));
    put("output_type", json!("report"));
    put("timestamp", json!(clock::rfc3339(clock::now())));
    put("feature_directory", json!("."));
    put("skills_invoked", json!([]));
    put("handoff", json!({ "next_agent": null, "context": format!("{} is done here", call.role) }));
    for (key, value) in says.as_object().into_iter().flatten() {
        handoff.insert(key.clone(), value.clone());
    }
    let text = serde_json::to_string_pretty(&Json::Object(handoff)).map_err(|error| error.to_string())?;
    fs::create_dir_all(&call.output).map_err(|error| format!("{}: {error}", call.output.display()))?;
    let path = call.output.join("handoff.json");
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}
