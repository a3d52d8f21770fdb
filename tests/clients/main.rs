//! The real clients do what Interlock's adapters rely on, against a scripted model on loopback.
//!
//! One file for each client: it works and submits a handoff, it can be resumed, and its output when its
//! provider refuses.
//! The command lines here are those that work: as root, in a container, without a terminal, with the prompt on stdin.
//!
//! `install.sh` installs the clients; these tests run it. Without npm they prove nothing, and report that.

#[path = "../models/mod.rs"]
mod models;

mod client;
mod scene;

mod acp;
mod claude;
mod codex;
mod gemini;
mod together;

use models::{Script, Step, Turn};

/// The head of a prompt as Interlock writes it.
fn prompt(assignment: &str, role: &str, what: &str) -> String {
    format!("# Assignment {assignment}: you are {role}\n\nWork on group `login`.\n\n{what}\n")
}

/// An agent that appends its assignment to `work.txt`, then submits its handoff.
fn work(turn: &Turn) -> Step {
    let assignment = turn.assignment().expect("the prompt says which assignment it is");
    match turn.fresh_results {
        0 => turn.run(&format!("echo {assignment} >> work.txt")),
        _ => Step::say(handoff(assignment, turn.role().expect("the prompt says which role it is"), turn.said.len())),
    }
}

/// The last words of such an agent. `said` is how often it had spoken before in the conversation.
fn handoff(assignment: &str, role: &str, said: usize) -> String {
    format!("All is done.\n\n```json\n{{\"assignment\":\"{assignment}\",\"role\":\"{role}\",\"said\":{said}}}\n```\n")
}

fn worker() -> Script {
    Script::new(work)
}

/// A provider that always answers with this.
fn refuses(step: Step) -> Script {
    Script::new(move |_| step.clone())
}
