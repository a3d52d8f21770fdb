//! Client hooks: what a client tells of before and after it does something, and what it is answered.
//!
//! Hooks are sensors. They keep a model that forgets itself on the rails and show what was watched; nothing rests on them
//! alone, for a client lets through what a hook did not see. Formats of clients are in their files, and the rules are the
//! workflow's: there is no policy here.

mod claude;
mod client;
mod codex;
mod commands;
mod event;
mod file_access;
mod gemini;
mod globs;
mod memory;
mod next_steps;
mod path_ownership;
mod policy;
mod shell;
mod spawn;
mod stop;
mod sub_agent_end;
mod tool;

use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::{env, iter};

use interlock_core::code::Code;
use interlock_core::id::Digest;
use serde_json::Value as Json;

use event::{HookEvent, SubAgentEnd};
use globs::fitting;
use interlock_app::context::AppContext;
use interlock_app::error::CommandError;
use interlock_system::process;
use path_ownership::{resolved, secrets};
use policy::HookPolicy;

pub use client::{HookClient, HookOutput};

/// Variables in which clients name the project that they were started in.
const PROJECTS: &[&str] = &["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"];
/// A conversation with a longer name goes by the digest of it.
const LONGEST: usize = 128;

/// One call of a hook.
pub struct HookCall<'a> {
    pub client: HookClient,
    /// As the client names it.
    pub event: &'a str,
    pub payload: &'a [u8],
    pub place: &'a AppContext,
    /// The project that the hook was written for.
    pub project: Option<&'a Path>,
    /// Refuse events that cannot be judged, even if there is no store.
    pub hold: bool,
}

/// Answers a hook. Every call gets an answer. If no decision is possible, the answer is a refusal.
pub fn answer(call: &HookCall<'_>) -> HookOutput {
    guarded(|| judged(call))
}

/// A fault of the program itself is no yes either; clients let pass what ends like one.
fn guarded(judge: impl FnOnce() -> HookOutput) -> HookOutput {
    panic::catch_unwind(AssertUnwindSafe(judge)).unwrap_or_else(|_| {
        let number = Code::Bug.number();
        let fault = interlock_app::panic_message::last_panic_message();
        HookOutput::blocked(&format!(
            "Interlock ({number}): a fault in Interlock itself, so it is held back: {fault}. Please report it."
        ))
    })
}

fn judged(call: &HookCall<'_>) -> HookOutput {
    // An agent of `interlock run`: the run watches it, and has no model to be watched.
    if env::var_os(process::MARK).is_some() {
        return HookOutput::silent();
    }
    let payload: Json = match serde_json::from_slice(call.payload) {
        Ok(payload @ Json::Object(_)) => payload,
        Ok(_) | Err(_) => return unreadable(call),
    };
    let happening = call.client.happening(call.event, &payload);
    if let HookEvent::Unclear(tool) = &happening {
        return unclear(call, tool);
    }
    if matches!(&happening, HookEvent::Other) {
        return HookOutput::silent();
    }
    let from_plugin = env::var_os("CLAUDE_PLUGIN_ROOT").is_some();
    let mut scene = call.client.scene(call.event, &payload, from_plugin);
    if scene.conversation.len() > LONGEST {
        scene.conversation = Digest::of(scene.conversation.as_bytes()).to_string();
    }
    if !scene.folder.is_absolute() {
        scene.folder = env::current_dir().unwrap_or_default();
    }
    if is_harmless(&happening, &scene.folder) {
        return HookOutput::silent();
    }
    let place = found(call, &scene.folder);
    let claims = matches!(happening, HookEvent::Spawns(_));
    let judged = HookPolicy::open(call.client, scene, &place, claims).and_then(|judge| judge.judge(&happening));
    match judged {
        Ok(verdict) => call.client.reply(call.event, &payload, &verdict),
        Err(failure) if failure.code() == Code::NoStore && !call.hold => HookOutput::silent(),
        Err(failure) => unreachable(&happening, &failure),
    }
}

/// Most of what is read is far from anything secret, and needs no store to be judged.
fn is_harmless(happening: &HookEvent, from: &Path) -> bool {
    let HookEvent::Reads { paths, .. } = happening else { return false };
    let secrets: Vec<PathBuf> = secrets().iter().map(|path| resolved(path)).collect();
    let near = |path: &PathBuf| secrets.iter().any(|secret| path.starts_with(secret) || secret.starts_with(path));
    let read = paths.iter().flat_map(|path| fitting(&path.to_string_lossy(), from));
    !read.map(|path| resolved(&path)).any(|path| near(&path))
}

/// The store: of the project that the hook was written for, or that the client names, or else as seen from where the client
/// is at work. A model can go to another project; what it was started in it cannot change.
fn found(call: &HookCall<'_>, folder: &Path) -> AppContext {
    if let Some(project) = call.project.and_then(|project| std::path::absolute(project).ok()) {
        return call.place.with_folder(&project);
    }
    let named = PROJECTS.iter().filter_map(|name| env::var_os(name).map(PathBuf::from));
    let folders = named.chain(iter::once(folder.to_owned())).chain(env::current_dir().ok());
    let places: Vec<AppContext> =
        folders.filter(|folder| folder.is_absolute()).map(|folder| call.place.with_folder(&folder)).collect();
    let with_store = places.iter().find(|place| place.file().is_ok()).or(places.first());
    with_store.cloned().unwrap_or_else(|| call.place.clone())
}

fn unreadable(call: &HookCall<'_>) -> HookOutput {
    let reason = format!(
        "Interlock ({}): what {} sent with {} is not a JSON object, so it cannot be judged.",
        Code::BadHook.number(),
        call.client.title(),
        call.event
    );
    HookOutput::blocked(&reason)
}

/// A tool that acts but has no known field to judge comes from an unknown version of the client.
fn unclear(call: &HookCall<'_>, tool: &str) -> HookOutput {
    let reason = format!(
        "Interlock ({}): {} sent {} of `{}` without a field that says what it is about, so it cannot be judged, and is held \
         back.",
        Code::BadHook.number(),
        call.client.title(),
        next_steps::short(call.event),
        next_steps::short(tool)
    );
    HookOutput::blocked(&reason)
}

/// Refuses events that cannot be judged, in the way that every client understands. If the event cannot be refused, the
/// problem is only reported. A model that was refused its end once is let go, because it cannot fix the problem and
/// some clients would loop for ever.
fn unreachable(happening: &HookEvent, failure: &CommandError) -> HookOutput {
    let reason = format!(
        "Interlock ({}): this cannot be judged, so it is held back: {} ({}). A person has to see to it: `interlock plugin \
         doctor` says what is wrong.",
        Code::HookUnreachable.number(),
        failure.message(),
        failure.code().number()
    );
    match happening {
        HookEvent::Begins { .. }
        | HookEvent::Prompted
        | HookEvent::Started
        | HookEvent::Returned { .. }
        | HookEvent::Linked { .. }
        | HookEvent::Waited { .. }
        | HookEvent::Ends(SubAgentEnd { again: true, .. })
        | HookEvent::Stops { again: true }
        | HookEvent::Other => HookOutput { err: format!("{reason}\n"), ..HookOutput::silent() },
        HookEvent::Spawns(_)
        | HookEvent::Recalls
        | HookEvent::Ends(SubAgentEnd { again: false, .. })
        | HookEvent::Reads { .. }
        | HookEvent::Edits(_)
        | HookEvent::Runs(_)
        | HookEvent::Calls(_)
        | HookEvent::Touches(_)
        | HookEvent::Unclear(_)
        | HookEvent::Stops { again: false } => HookOutput::blocked(&reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_the_program_is_a_no() {
        let reply = guarded(|| panic!("a panic that this test wants"));
        assert_eq!((reply.code, reply.out.as_str()), (2, ""));
        assert!(reply.err.starts_with("Interlock (E0406): a fault in Interlock itself"), "{}", reply.err);
        assert_eq!(guarded(HookOutput::silent), HookOutput::silent());
    }
}
