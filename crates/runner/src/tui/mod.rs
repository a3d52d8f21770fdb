//! The view of a run: a line for each decision, and on a terminal the state of the groups below them.

mod model;
mod render;
mod status_line;

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use interlock_core::decision::Decision;
use interlock_core::event::EventCause;
use interlock_core::id::Name;
use interlock_core::naming::shown_person;
use interlock_core::state::State;

use crate::budget::BudgetScope;
use crate::questions::QuestionPrompt;
use crate::run_context::RunContext;
use crate::terminal::Terminal;
use interlock_agents::AgentProgress;
use interlock_app::output::CommandOutput;
use interlock_engine::Committed;
use interlock_system::sanitise;
use interlock_system::text::{HEADING, MARK, NAME, PAGE, TerminalText, wrap, wrap_long};
use model::ViewModel;
use status_line::padded;

pub(super) use render::ViewSnapshot;
pub(super) use status_line::clock_of;

/// Between two pictures: at most ten a second.
const REDRAW: Duration = Duration::from_millis(100);
/// The same, if there is nothing new but the time.
const TICK: Duration = Duration::from_secs(1);
const FAINT: Style = Style::new().dimmed();
const ALERT: Style = AnsiColor::Yellow.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();
/// Columns of the first line of a question, which stands beside the time and the group.
const FIRST_LINE_WIDTH: usize = PAGE - 26;
/// Where the text of a line begins, for those that follow it.
const MARGIN: &str = "\n                          ";

/// Work in progress.
#[derive(Debug)]
pub(super) struct ActiveWork {
    pub(super) group: Option<Name>,
    pub(super) what: String,
    attempt: u32,
    since: Instant,
    /// Whose spending is shown, if not the group's.
    account: Option<BudgetScope>,
    doing: String,
}

impl ActiveWork {
    pub(super) fn new(group: Option<Name>, what: String, attempt: u32) -> Self {
        Self { group, what, attempt, since: Instant::now(), account: None, doing: String::new() }
    }

    pub(super) fn on(self, account: BudgetScope) -> Self {
        Self { account: Some(account), ..self }
    }

    pub(super) fn progress(&mut self, progress: &AgentProgress) {
        match progress {
            AgentProgress::Says(text) => {
                self.doing = text.lines().next().unwrap_or_default().chars().take(200).collect();
            }
            AgentProgress::Uses(tool, on) => {
                self.doing = format!("{tool} {}", on.lines().next().unwrap_or_default()).chars().take(200).collect();
            }
            AgentProgress::Spent(_) => {}
        }
    }
}

pub(super) struct RunView {
    output: CommandOutput,
    /// The terminal that people watch. `None`: standard output is a pipe.
    terminal: Option<Arc<Terminal>>,
    began: Instant,
    /// When the picture was drawn, and for what size.
    drawn: Option<(Instant, (usize, usize))>,
    /// There is something new since.
    changed: bool,
    /// Lines that wait for the next picture: so that however much happens, little is drawn.
    waiting: String,
    board: ViewModel,
    session: Name,
}

impl RunView {
    pub(super) fn new(output: CommandOutput, session: &Name) -> Self {
        Self {
            output,
            terminal: Terminal::find().filter(|_| !output.json),
            began: Instant::now(),
            drawn: None,
            changed: true,
            waiting: String::new(),
            board: ViewModel::default(),
            session: session.clone(),
        }
    }

    pub(super) fn terminal(&self) -> Option<&Arc<Terminal>> {
        self.terminal.as_ref()
    }

    pub(super) fn began(&mut self, state: &State, crew: &RunContext) {
        let title = state.session.as_ref().map_or_else(|| Name::new(""), |session| session.title.clone());
        let mut text = TerminalText::default();
        text.paint(HEADING, sanitise::line(&title));
        text.put(format_args!("  {} · {} · ", self.session, crew.workflow.name));
        let agents: Vec<String> = crew.team.everybody().keys().map(ToString::to_string).collect();
        text.put(format_args!("{}", agents.join(", ")));
        if state.seq > 1 {
            text.put(format_args!(" · goes on after {} events", state.seq));
        }
        self.line(text);
    }

    /// Prints a decision: who reported which status, what follows, and by which rule.
    pub(super) fn decided(&mut self, done: &Committed, row: Option<&ActiveWork>) {
        let mut text = TerminalText::default();
        let group = done.group.as_ref().or_else(|| row.and_then(|row| row.group.as_ref()));
        self.stamp(&mut text, group);
        let who = row.map_or("", |row| row.what.as_str());
        text.put(format_args!("{:<26} ", sanitise::line(&said(who, &done.event.cause))));
        if let Some(decision) = &done.event.decision {
            text.push("→ ");
            follows(&mut text, decision);
            text.paint(FAINT, format!("  {}", decision.rule));
        }
        self.line(text);
    }

    pub(super) fn note(&mut self, group: Option<&Name>, words: &str) {
        let mut text = TerminalText::default();
        self.stamp(&mut text, group);
        for (index, line) in words.lines().take(12).enumerate() {
            if index > 0 {
                text.push(MARGIN);
                text.push("| ");
            }
            text.paint(ALERT, sanitise::line(line));
        }
        self.line(text);
    }

    pub(super) fn asked(&mut self, prompt: &QuestionPrompt<'_>) {
        let mut text = TerminalText::default();
        self.stamp(&mut text, prompt.question.group.as_ref());
        for (row, line) in question_lines(&prompt.question.text).iter().enumerate() {
            if row > 0 {
                text.push(MARK);
            }
            text.paint(ALERT, if row == 0 { format!("? {line}") } else { line.clone() });
            text.push("\n");
        }
        prompt.brief.print_facts_and_options(&prompt.question.options, &mut text);
        text.push("  ");
        let has_keys = self.terminal.as_ref().is_some_and(|terminal| terminal.has_keys && !terminal.is_live);
        let here = if has_keys { format!("{}, then Enter; or ", prompt.possible()) } else { String::new() };
        text.paint(FAINT, format!("{here}{}", prompt.command()));
        self.line(text);
    }

    /// Something is new that the picture shows.
    pub(super) fn touch(&mut self) {
        self.changed = true;
    }

    /// How long nothing is to be drawn, whatever happens.
    pub(super) fn rest(&self) -> Option<Duration> {
        let (drawn, _) = self.drawn.filter(|_| self.changed)?;
        // In the background nothing is drawn: there is nothing to wake up for.
        self.terminal.as_ref().filter(|terminal| terminal.is_ours())?;
        Some(REDRAW.saturating_sub(drawn.elapsed()))
    }

    /// Whether it is time to draw.
    pub(super) fn is_due(&self) -> bool {
        let Some(terminal) = self.terminal.as_ref().filter(|terminal| terminal.is_live) else { return false };
        let Some((drawn, size)) = self.drawn else { return true };
        let passed = drawn.elapsed();
        let is_due = passed >= TICK || (passed >= REDRAW && (self.changed || Terminal::size() != size));
        is_due && (terminal.is_ours() || !self.waiting.is_empty())
    }

    /// Draws how everything stands.
    pub(super) fn draw(&mut self, scene: &ViewSnapshot<'_>) {
        let Some(terminal) = &self.terminal else { return };
        let (size, waiting) = (Terminal::size(), std::mem::take(&mut self.waiting));
        (self.drawn, self.changed) = (Some((Instant::now(), size)), false);
        if !terminal.is_ours() {
            put(&waiting);
            return;
        }
        self.board.look(scene.state);
        let has_keys = terminal.has_keys;
        let lines = render::picture(&self.board, scene, self.began.elapsed(), size, has_keys);
        terminal.show(&waiting, &lines, scene.prompt.is_some() && has_keys);
    }

    /// The last picture goes.
    pub(super) fn close(&mut self) {
        if let Some(terminal) = &self.terminal {
            terminal.close();
            put(&std::mem::take(&mut self.waiting));
        }
    }

    /// Time and place, in front of every line.
    fn stamp(&self, text: &mut TerminalText, group: Option<&Name>) {
        text.paint(FAINT, format!("{:>6} ", clock_of(self.began.elapsed())));
        let group = group.map_or("session", |group| group.as_str());
        text.paint(NAME, format!("{} ", padded(group, 16)));
    }

    fn line(&mut self, mut text: TerminalText) {
        text.push("\n");
        if self.output.json {
            // Standard output is for the one document, and a script has no use for more.
            if io::stderr().is_terminal() {
                interlock_app::output::print_diagnostics(&text);
            }
            return;
        }
        if self.terminal.as_ref().is_some_and(|terminal| terminal.is_ours()) {
            self.waiting.push_str(&text.fit_columns(Terminal::size().0));
            self.changed = true;
        } else {
            let shown = match &self.terminal {
                Some(_) => text.fit_columns(Terminal::size().0),
                None => Cow::Borrowed(text.as_str()),
            };
            put(&format!("{}{shown}", std::mem::take(&mut self.waiting)));
        }
    }
}

/// However the run ends, the terminal is as it was.
impl Drop for RunView {
    fn drop(&mut self) {
        self.close();
    }
}

/// The lines of a question. The first one is beside the stamp; the others have a mark and the rest of the width.
fn question_lines(question: &str) -> Vec<String> {
    let mut paragraphs = question.trim_end().lines();
    let first = sanitise::line(paragraphs.next().unwrap_or_default()).into_owned();
    let head = wrap_long(&first, FIRST_LINE_WIDTH).into_iter().next().unwrap_or_default();
    // Wrapping drops blanks between words, so the rest is what follows as many words.
    let rest: Vec<&str> = first.split_whitespace().skip(head.split_whitespace().count()).collect();
    let room = PAGE.saturating_sub(MARK.chars().count());
    let mut lines = vec![head];
    lines.extend(wrap(&rest.join(" "), room));
    lines.extend(paragraphs.flat_map(|line| wrap_long(&sanitise::line(line), room)));
    lines
}

/// Without a reader, output is dropped and the run goes on.
fn put(text: &str) {
    let mut stdout = anstream::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// The event, in a few words.
pub(super) fn said(who: &str, cause: &EventCause) -> String {
    match cause {
        EventCause::Reported { status, .. } | EventCause::Lost { status, .. } => format!("{who} {status}"),
        EventCause::Merged { status, .. } => status.to_string(),
        EventCause::GateFinished { gate, passed, .. } => {
            format!("gate {gate} {}", if *passed { "passed" } else { "failed" })
        }
        EventCause::Answered { option, text, by, .. } => {
            format!(
                "{by}: {}",
                option.as_ref().or(text.as_ref()).map_or("", |answer| answer.as_str()),
                by = shown_person(by)
            )
        }
        other => other.kind().replace('_', " "),
    }
}

/// The consequence of a decision, in a few words.
pub(super) fn follows(text: &mut TerminalText, decision: &Decision) {
    let style = if decision.question.is_some() || decision.escalated { ALERT } else { GOOD };
    text.paint(style, decision.action.name());
    let same = decision.next.chunk_by(|one, other| one.role == other.role);
    let roles: Vec<String> =
        same.flat_map(|same| several(&same.iter().map(|next| &next.role).collect::<Vec<_>>())).collect();
    if !roles.is_empty() {
        text.put(format_args!(" {}", roles.join(", ")));
    }
    if let Some(gate) = &decision.gate {
        text.put(format_args!(" {}", gate.gate));
    }
    if let Some(judgement) = &decision.judgement {
        let verdict = format!("{:?}", judgement.verdict).to_uppercase();
        text.put(format_args!(" {verdict}"));
    }
    if decision.escalated {
        text.push(" (escalated)");
    }
}

/// The same role again and again: each by itself, or how many they are.
fn several(same: &[&Name]) -> Vec<String> {
    match same {
        [role, _, _, _, ..] => vec![format!("{role} ×{}", same.len())],
        few => few.iter().map(ToString::to_string).collect(),
    }
}
