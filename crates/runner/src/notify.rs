//! Notifies people elsewhere that something waits for them. A failed notification is reported, and delays nothing.

use std::collections::BTreeSet;
use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use interlock_core::id::{Name, QuestionId};
use interlock_core::state::Question;
use serde_json::json;

use crate::run_context::SchedulerMessage;
use interlock_agents::team::{DESKTOP, NotificationSettings, WEBHOOK};
use interlock_prompt::QuestionBrief;
use interlock_system::files;
use interlock_system::process::HelperProcess;
use interlock_system::sanitise;

/// How long the end of a run waits for messages that are on their way.
const PATIENCE: Duration = Duration::from_secs(5);
/// More of a question than a desktop shows.
const LONGEST: usize = 1000;

pub(super) struct Notifier {
    notify: NotificationSettings,
    session: Name,
    /// Questions that people were notified of, by earlier runs too.
    told: BTreeSet<QuestionId>,
    /// Where that is remembered.
    file: PathBuf,
    news: Sender<SchedulerMessage>,
    on_their_way: Vec<JoinHandle<()>>,
}

/// A message, and the program that takes it.
struct Notification {
    way: &'static str,
    command: Vec<String>,
    input: String,
}

impl Notifier {
    pub(super) fn new(
        notify: &NotificationSettings,
        session: &Name,
        root: &Path,
        news: Sender<SchedulerMessage>,
    ) -> Self {
        let file = root.join("told.jsonl");
        let bytes = files::read_plain(&file).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let told = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Self { notify: notify.clone(), session: session.clone(), told, file, news, on_their_way: Vec::new() }
    }

    /// Notifies of a question, once.
    pub(super) fn tell(&mut self, id: QuestionId, question: &Question, brief: &QuestionBrief) {
        if !self.told.insert(id) {
            return;
        }
        self.on_their_way.retain(|message| !message.is_finished());
        for message in self.messages(id, question, brief) {
            let (file, news) = (self.file.clone(), self.news.clone());
            self.on_their_way.push(thread::spawn(move || {
                let way = message.way;
                match message.send() {
                    Ok(()) => remember(&file, id),
                    Err(why) => {
                        let words = format!("notify: {way} was not told of {id}: {}", sanitise::line(&why));
                        let _ = news.send(SchedulerMessage::Note(None, words));
                    }
                }
            }));
        }
    }

    /// Waits for what is on its way, though not for long.
    pub(super) fn settle(&mut self) {
        let until = Instant::now() + PATIENCE;
        while self.on_their_way.iter().any(|way| !way.is_finished()) && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn messages(&self, id: QuestionId, question: &Question, brief: &QuestionBrief) -> Vec<Notification> {
        let (session, text) = (&self.session, brief.text(&question.text));
        let body = json!({
            "kind": "question",
            "session": session,
            "question": format!("{session}.{id}"),
            "group": question.group,
            "text": text,
            "options": question.options,
            "facts": brief.facts,
            "effects": brief.effects_json(),
        })
        .to_string();
        let mut all = Vec::new();
        if let Some(command) = &self.notify.command {
            all.push(Notification { way: "the command", command: command.clone(), input: body.clone() });
        }
        if self.notify.desktop {
            let title = format!("Interlock: {session} has a question");
            let command = [DESKTOP.to_owned(), "--".to_owned(), title, for_desktop(&text)];
            all.push(Notification { way: "the desktop", command: command.to_vec(), input: String::new() });
        }
        let address = self.notify.webhook_env.as_ref().and_then(|name| env::var(name.as_str()).ok());
        all.extend(address.filter(|address| !address.is_empty()).map(|address| webhook(&address, &body)));
        all
    }
}

/// Desktops read markup, and what agents ask may hold anything.
fn for_desktop(text: &str) -> String {
    let short: String = text.chars().take(LONGEST).collect();
    sanitise::text(&short).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The address may hold a secret, so it goes to curl on its standard input and not in an argument.
fn webhook(address: &str, body: &str) -> Notification {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let input = format!(
        "url = \"{}\"\nheader = \"Content-Type: application/json\"\ndata = \"{}\"\n",
        quoted(address),
        quoted(body)
    );
    let words = [WEBHOOK, "--silent", "--fail", "--max-time", "20", "--config", "-"];
    Notification { way: "the webhook", command: words.map(str::to_owned).to_vec(), input }
}

impl Notification {
    /// Starts its program and waits until it has ended; what that prints may hold the address, and is not repeated.
    fn send(&self) -> Result<(), String> {
        let Some((program, arguments)) = self.command.split_first() else { return Ok(()) };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = HelperProcess::start(&mut command).map_err(|error| format!("`{program}`: {error}"))?;
        if let Some(mut stdin) = child.stdin() {
            // One that does not want to know ends without reading.
            let _ = stdin.write_all(self.input.as_bytes());
        }
        let ended = child.output().map_err(|error| format!("`{program}`: {error}"))?;
        if ended.status.success() { Ok(()) } else { Err(format!("`{program}` failed ({})", ended.status)) }
    }
}

/// A question counts as notified when one way succeeded. If that cannot be stored, the next run notifies again.
fn remember(file: &Path, id: QuestionId) {
    let Ok(line) = serde_json::to_string(&id) else { return };
    let _ = files::add_plain(file, format!("{line}\n").as_bytes());
}
