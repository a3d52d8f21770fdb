//! Tells people elsewhere that something waits for them. That it fails holds nothing up.

use std::env;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;

use interlock_core::id::{Name, QuestionId};
use interlock_core::state::Question;
use serde_json::json;

use crate::process::Helper;
use crate::team::Notify;

pub(super) fn send(notify: &Notify, session: &Name, id: QuestionId, question: &Question) {
    let message = json!({
        "kind": "question",
        "session": session,
        "question": format!("{session}.{id}"),
        "group": question.group,
        "text": question.text,
        "options": question.options,
    });
    let body = message.to_string();
    if let Some(command) = &notify.command {
        pipe(command.clone(), body.clone());
    }
    if notify.desktop {
        let title = format!("Interlock: {session} has a question");
        pipe(vec!["notify-send".to_owned(), "--".to_owned(), title, question.text.to_string()], String::new());
    }
    if let Some(address) = notify.webhook_env.as_ref().and_then(|name| env::var(name.as_str()).ok()) {
        webhook(&address, &body);
    }
}

/// The address may hold a secret, so it goes to curl on its standard input and not in an argument.
fn webhook(address: &str, body: &str) {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let settings = format!(
        "url = \"{}\"\nheader = \"Content-Type: application/json\"\ndata = \"{}\"\n",
        quoted(address),
        quoted(body)
    );
    let words = ["curl", "--silent", "--fail", "--max-time", "20", "--config", "-"];
    pipe(words.map(str::to_owned).to_vec(), settings);
}

/// Starts a program with something on its standard input, and does not wait for it.
fn pipe(command: Vec<String>, input: String) {
    thread::spawn(move || {
        let Some((program, arguments)) = command.split_first() else { return };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut child) = Helper::start(&mut command) else { return };
        if let Some(mut stdin) = child.stdin() {
            let _ = stdin.write_all(input.as_bytes());
        }
        let _ = child.output();
    });
}
