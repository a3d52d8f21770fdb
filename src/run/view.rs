//! What people see of a run: a line for each decision, and on a terminal below them who is at work.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use interlock_core::decision::Decision;
use interlock_core::event::Cause;
use interlock_core::id::{Name, QuestionId};
use interlock_core::state::{GroupStatus, Question, State};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::agents::Progress;
use crate::engine::Done;
use crate::output::{HEADING, NAME, Output, Text, columns};
use crate::run::crew::Crew;
use crate::run::purse::Account;
use crate::sanitise;

/// Between two pictures: at most ten a second.
const REDRAW: Duration = Duration::from_millis(100);
const FAINT: Style = Style::new().dimmed();
const ALERT: Style = AnsiColor::Yellow.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();
/// The widest that a line gets.
const WIDEST: usize = 160;

/// Somebody at work.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) group: Option<Name>,
    pub(super) what: String,
    attempt: u32,
    since: Instant,
    doing: String,
}

impl Row {
    pub(super) fn new(group: Option<Name>, what: String, attempt: u32) -> Self {
        Self { group, what, attempt, since: Instant::now(), doing: String::new() }
    }

    pub(super) fn progress(&mut self, progress: &Progress) {
        match progress {
            Progress::Says(text) => self.doing = text.lines().next().unwrap_or_default().chars().take(200).collect(),
            Progress::Uses(tool, on) => {
                self.doing = format!("{tool} {}", on.lines().next().unwrap_or_default()).chars().take(200).collect();
            }
            Progress::Spent(_) => {}
        }
    }
}

pub(super) struct View {
    output: Output,
    live: bool,
    began: Instant,
    /// When the picture was drawn, and how many lines it has.
    drawn: Option<Instant>,
    height: usize,
    /// Lines that wait for the next picture, on a terminal: so that however much happens, little is drawn.
    waiting: String,
    session: Name,
}

impl View {
    pub(super) fn new(output: Output, session: &Name) -> Self {
        let live = !output.json && io::stdout().is_terminal();
        Self {
            output,
            live,
            began: Instant::now(),
            drawn: None,
            height: 0,
            waiting: String::new(),
            session: session.clone(),
        }
    }

    pub(super) fn is_live(&self) -> bool {
        self.live
    }

    pub(super) fn began(&mut self, state: &State, crew: &Crew) {
        let title = state.session.as_ref().map_or_else(|| Name::new(""), |session| session.title.clone());
        let mut text = Text::default();
        text.paint(HEADING, sanitise::line(&title));
        let _ = write!(text, "  {} · {} · ", self.session, crew.workflow.name);
        let agents: Vec<String> = crew.team.everybody().keys().map(ToString::to_string).collect();
        let _ = write!(text, "{}", agents.join(", "));
        if state.seq > 1 {
            let _ = write!(text, " · goes on after {} events", state.seq);
        }
        self.line(text);
    }

    /// A decision: who said what, what follows, and by which rule.
    pub(super) fn decided(&mut self, done: &Done, row: Option<&Row>) {
        let mut text = Text::default();
        let group = done.group.as_ref().or_else(|| row.and_then(|row| row.group.as_ref()));
        self.stamp(&mut text, group);
        let who = row.map_or("", |row| row.what.as_str());
        let _ = write!(text, "{:<26} ", sanitise::line(&said(who, &done.event.cause)));
        if let Some(decision) = &done.event.decision {
            text.push("→ ");
            follows(&mut text, decision);
            text.paint(FAINT, format!("  {}", decision.rule));
        }
        self.line(text);
    }

    pub(super) fn note(&mut self, group: Option<&Name>, words: &str) {
        let mut text = Text::default();
        self.stamp(&mut text, group);
        for (index, line) in words.lines().take(12).enumerate() {
            if index > 0 {
                text.push("\n                          ");
            }
            text.paint(ALERT, sanitise::line(line));
        }
        self.line(text);
    }

    pub(super) fn asked(&mut self, session: &Name, id: QuestionId, question: &Question) {
        let mut text = Text::default();
        self.stamp(&mut text, question.group.as_ref());
        for (index, line) in question.text.lines().enumerate() {
            text.push(if index == 0 { "" } else { "\n                          " });
            text.paint(ALERT, format!("{} {}", if index == 0 { "?" } else { " " }, sanitise::line(line)));
        }
        for (index, option) in question.options.iter().enumerate() {
            let _ = write!(text, "\n                            {}  {}", index + 1, sanitise::line(option));
        }
        let example = question.options.first().map_or("--text \"…\"".to_owned(), |_| "--option N".to_owned());
        text.push("\n                            ");
        text.paint(FAINT, format!("interlock answer {session}.{id} {example}"));
        self.line(text);
    }

    /// Draws who is at work, if it is time to.
    pub(super) fn draw(&mut self, state: &State, rows: &[Row], crew: &Crew) {
        if !self.live || self.drawn.is_some_and(|drawn| drawn.elapsed() < REDRAW) {
            return;
        }
        let width = columns(&io::stdout(), WIDEST);
        let mut lines = vec![self.summary(state, crew, width)];
        let space =
            terminal_size::terminal_size().map_or(20, |(_, height)| usize::from(height.0).saturating_sub(4).max(3));
        let (shown, hidden) = (rows.len().min(space), rows.len().saturating_sub(space));
        lines.extend(rows.iter().take(shown).map(|row| picture(row, width)));
        if hidden > 0 {
            lines.push(format!("  … and {hidden} more"));
        }
        let mut text = self.wipe();
        text.push_str(&std::mem::take(&mut self.waiting));
        for line in &lines {
            text.push_str(line);
            text.push('\n');
        }
        self.height = lines.len();
        self.drawn = Some(Instant::now());
        put(&text);
    }

    /// The last picture goes.
    pub(super) fn close(&mut self) {
        if self.live {
            let text = self.wipe();
            put(&format!("{text}{}", std::mem::take(&mut self.waiting)));
        }
    }

    fn summary(&self, state: &State, crew: &Crew, width: usize) -> String {
        let count =
            |wanted: &[GroupStatus]| state.groups.iter().filter(|group| wanted.contains(&group.status())).count();
        let done = count(&[GroupStatus::Completed]);
        let blocked = count(&[GroupStatus::Blocked]);
        let spent = crew.purse.spent(&Account::Session);
        let mut text = format!("{} of {} groups done", done, state.groups.len());
        if blocked > 0 {
            text.push_str(&format!(" · {blocked} blocked"));
        }
        if !state.open_questions.is_empty() {
            text.push_str(&format!(" · {} waiting for you", state.open_questions.len()));
        }
        text.push_str(&format!(" · {}", clock_of(self.began.elapsed())));
        if let Some(cost) = spent.usage.cost {
            text.push_str(&format!(" · ${cost:.2}"));
        }
        let tokens = spent.usage.input_tokens.saturating_add(spent.usage.output_tokens);
        if tokens > 0 {
            text.push_str(&format!(" · {} k tokens", tokens / 1000));
        }
        format!("{HEADING}{}{HEADING:#}", cut(&text, width.saturating_sub(1)))
    }

    /// Time and place, in front of every line.
    fn stamp(&self, text: &mut Text, group: Option<&Name>) {
        text.paint(FAINT, format!("{:>6} ", clock_of(self.began.elapsed())));
        let group = group.map_or("session", |group| group.as_str());
        text.paint(NAME, format!("{} ", padded(group, 16)));
    }

    fn line(&mut self, mut text: Text) {
        text.push("\n");
        if self.output.json {
            // Standard output is for the one document, and a script has no use for more.
            if io::stderr().is_terminal() {
                crate::output::complain(&text);
            }
            return;
        }
        if self.live {
            self.waiting.push_str(text.as_str());
        } else {
            put(text.as_str());
        }
    }

    /// Takes the picture away, so that lines go above it.
    fn wipe(&mut self) -> String {
        let height = std::mem::take(&mut self.height);
        if height == 0 { String::new() } else { format!("\u{1b}[{height}A\u{1b}[J") }
    }
}

/// Nobody reads any more: the run goes on.
fn put(text: &str) {
    let mut stdout = anstream::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

fn picture(row: &Row, width: usize) -> String {
    let (group, what) = (padded(row.group.as_deref().unwrap_or("session"), 16), padded(&row.what, 26));
    let head = format!("  {group} {what} {:>2} {:>6}  ", row.attempt, clock_of(row.since.elapsed()));
    let left = width.saturating_sub(head.width() + 1);
    format!("{head}{FAINT}{}{FAINT:#}", cut(&sanitise::line(&row.doing), left))
}

/// As much of a text as so many columns hold: some characters take two, some none.
fn cut(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, character)| {
        used += character.width().unwrap_or(0);
        used > columns
    });
    text.get(..end.map_or(text.len(), |(at, _)| at)).unwrap_or_default()
}

/// Exactly so many columns of it.
fn padded(text: &str, columns: usize) -> String {
    let text = sanitise::line(text);
    let shown = cut(&text, columns);
    format!("{shown}{}", " ".repeat(columns.saturating_sub(shown.width())))
}

/// `1:05`, `1:02:03`
pub(super) fn clock_of(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// What happened, in a few words.
pub(super) fn said(who: &str, cause: &Cause) -> String {
    match cause {
        Cause::Reported { status, .. } | Cause::Lost { status, .. } => format!("{who} {status}"),
        Cause::Merged { status, .. } => status.to_string(),
        Cause::GateFinished { gate, passed, .. } => {
            format!("gate {gate} {}", if *passed { "passed" } else { "failed" })
        }
        Cause::Answered { option, text, by, .. } => {
            format!("{by}: {}", option.as_ref().or(text.as_ref()).map_or("", |answer| answer.as_str()))
        }
        other => other.kind().replace('_', " "),
    }
}

/// What follows, in a few words.
pub(super) fn follows(text: &mut Text, decision: &Decision) {
    let style = if decision.question.is_some() || decision.escalated { ALERT } else { GOOD };
    text.paint(style, decision.action.name());
    let roles: Vec<&str> = decision.next.iter().map(|next| next.role.as_str()).collect();
    if !roles.is_empty() {
        let _ = write!(text, " {}", roles.join(", "));
    }
    if let Some(gate) = &decision.gate {
        let _ = write!(text, " {}", gate.gate);
    }
    if let Some(judgement) = &decision.judgement {
        let verdict = format!("{:?}", judgement.verdict).to_uppercase();
        let _ = write!(text, " {verdict}");
    }
    if decision.escalated {
        text.push(" (escalated)");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!((cut("漢字漢字", 5), cut("abc", 5), cut("", 5)), ("漢字", "abc", ""));
        assert_eq!([padded("漢字", 5), padded("abcdef", 5)], ["漢字 ", "abcde"]);
        let mut row = Row::new(Some(Name::new("漢".repeat(20).as_str())), "developer".to_owned(), 1);
        row.progress(&Progress::Says("漢".repeat(100)));
        let shown =
            picture(&row, 80).replace(&FAINT.render().to_string(), "").replace(&FAINT.render_reset().to_string(), "");
        assert!(shown.width() < 80, "{} columns: {shown}", shown.width());
    }
}
