//! The picture at the lower end of the terminal: how the session stands, who is at work, and what waits for a person.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use interlock_core::state::State;
use unicode_width::UnicodeWidthStr;

use crate::budget::{BudgetScope, SpendTotal};
use crate::questions::QuestionPrompt;
use crate::run_context::RunContext;
use crate::tui::model::{ActivityKind, ActivityLine, ViewModel};
use crate::tui::status_line::{TerminalLine, clock_of, tail};
use crate::tui::{ALERT, ActiveWork, FAINT, GOOD};
use interlock_system::sanitise;
use interlock_system::text::{HEADING, NAME, wrap};

const PLAIN: Style = Style::new();
const TYPED: Style = AnsiColor::Cyan.on_default().bold();
/// How long the bar is that shows how much is done.
const BAR: usize = 20;

/// The data of one picture.
pub(crate) struct ViewSnapshot<'a> {
    pub(crate) state: &'a State,
    pub(crate) crew: &'a RunContext,
    pub(crate) rows: Vec<&'a ActiveWork>,
    pub(crate) paused: bool,
    /// The question that a person is asked now.
    pub(crate) prompt: Option<QuestionPrompt<'a>>,
}

/// Lines, each with its columns.
type RenderedLines = Vec<(String, usize)>;

/// At most so many columns and lines; some of the terminal is left to what has happened.
pub(super) fn picture(
    board: &ViewModel,
    scene: &ViewSnapshot<'_>,
    time: Duration,
    (columns, height): (usize, usize),
    has_keys: bool,
) -> RenderedLines {
    let most = (height * 3 / 4).min(height.saturating_sub(1)).max(2);
    let asks = scene.prompt.as_ref().map(|prompt| question(prompt, columns, most.saturating_sub(3).max(2), has_keys));
    let asks = asks.unwrap_or_default();
    let space = most.saturating_sub(asks.len() + 2).max(1);
    let (entries, hidden) = board.lines((scene.state, scene.crew, scene.paused), &scene.rows, space);
    let mut lines = vec![summary(board, scene, time, columns)];
    let spent: Vec<String> = entries.iter().map(|entry| spent(entry, scene.crew)).collect();
    let width = ColumnWidths::of(&entries, &spent, columns);
    lines.extend(entries.iter().zip(&spent).map(|(entry, spent)| row(entry, spent, columns, &width)));
    let [working, waiting] = hidden;
    if working + waiting > 0 {
        let words = [(working, "at work"), (waiting, "waiting")];
        let words = words.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} more {word}"));
        let mut strip = TerminalLine::new(columns);
        strip.put(FAINT, &format!("  … {}", words.collect::<Vec<_>>().join(", ")));
        lines.push(strip.done());
    }
    lines.extend(asks);
    lines
}

fn summary(board: &ViewModel, scene: &ViewSnapshot<'_>, time: Duration, columns: usize) -> (String, usize) {
    let mut strip = TerminalLine::new(columns);
    let counts = &board.counts;
    if counts.all > 0 && columns >= 80 {
        let full = (counts.done + counts.deferred + counts.cancelled) * BAR / counts.all;
        strip.put(GOOD, &"━".repeat(full));
        strip.put(FAINT, &format!("{} ", "─".repeat(BAR.saturating_sub(full))));
    }
    strip.put(HEADING, &format!("{} of {} groups done", counts.done, counts.all));
    if scene.paused {
        strip.put(ALERT, " · paused");
    }
    let counted = [
        (counts.deferred, "deferred"),
        (counts.cancelled, "cancelled"),
        (counts.blocked, "blocked"),
        (counts.pending, "pending"),
    ];
    for (count, word) in counted.iter().filter(|(count, _)| *count > 0) {
        strip.put(PLAIN, &format!(" · {count} {word}"));
    }
    strip.put(PLAIN, &format!(" · {} at work", scene.rows.len()));
    match scene.state.open_questions.len() {
        0 => {}
        1 => strip.put(ALERT, " · 1 question"),
        many => strip.put(ALERT, &format!(" · {many} questions")),
    }
    strip.put(PLAIN, &format!(" · {}", clock_of(time)));
    let spent = scene.crew.purse.spent(&BudgetScope::Session);
    for word in [cost(&spent), tokens(&spent)].into_iter().flatten() {
        strip.put(PLAIN, &format!(" · {word}"));
    }
    strip.done()
}

/// How wide each column is: as it needs, but not so that nothing is left for the rest.
struct ColumnWidths {
    group: usize,
    what: usize,
    spent: usize,
}

impl ColumnWidths {
    fn of(entries: &[ActivityLine], spent: &[String], columns: usize) -> Self {
        let longest = |texts: &mut dyn Iterator<Item = &str>| texts.map(UnicodeWidthStr::width).max().unwrap_or(0);
        let group = longest(&mut entries.iter().map(|entry| entry.group.as_deref().unwrap_or("session")));
        let what = longest(&mut entries.iter().map(|entry| entry.what.as_str()));
        let spent = longest(&mut spent.iter().map(String::as_str));
        // Not narrower than this where there is room, so that little moves from one picture to the next.
        let fit = |longest: usize, usual: usize| longest.max(usual.min(columns / 6)).min((columns / 4).max(7));
        Self { group: fit(group, 16), what: fit(what, 16), spent }
    }
}

fn row(entry: &ActivityLine, spent: &str, columns: usize, width: &ColumnWidths) -> (String, usize) {
    let mut strip = TerminalLine::new(columns);
    let (glyph, style) = match entry.mark {
        ActivityKind::Asks => ("?", ALERT),
        ActivityKind::Works => ("●", GOOD),
        ActivityKind::Waits => ("○", FAINT),
    };
    strip.cell(style, glyph, 1);
    strip.cell(NAME, entry.group.as_deref().unwrap_or("session"), width.group);
    strip.cell(if entry.mark == ActivityKind::Asks { ALERT } else { PLAIN }, &entry.what, width.what);
    let attempt = entry.attempt.map_or(String::new(), |attempt| format!("#{attempt}"));
    strip.cell(FAINT, &format!("{attempt:>3}"), 3);
    let time = if entry.time.is_zero() { String::new() } else { clock_of(entry.time) };
    strip.cell(PLAIN, &format!("{time:>6}"), 6);
    if width.spent > 0 {
        strip.cell(PLAIN, &format!("{spent:>most$}", most = width.spent), width.spent);
    }
    strip.put(FAINT, &format!(" {}", entry.doing));
    strip.done()
}

/// The spending on it, as far as it was reported.
fn spent(entry: &ActivityLine, crew: &RunContext) -> String {
    let spent = entry.account.as_ref().map(|account| crew.purse.spent(account));
    spent.and_then(|spent| cost(&spent).or_else(|| tokens(&spent))).unwrap_or_default()
}

/// The question that is being answered, with the possible answers and the typed text.
fn question(prompt: &QuestionPrompt<'_>, columns: usize, most: usize, has_keys: bool) -> RenderedLines {
    let of = if prompt.open > 1 { format!(" ({} of {})", prompt.place, prompt.open) } else { String::new() };
    let group = prompt.question.group.as_ref().map_or(String::new(), |group| format!(" {group}"));
    let head = format!("{}{group}{of}: ", prompt.id);
    let text = sanitise::text(&prompt.question.text).into_owned();
    let width = columns.saturating_sub(4).max(10);
    let words = format!("{head}{text}");
    let words = words.lines().flat_map(|line| wrap(&sanitise::line(line), width)).enumerate();
    // Lines of the question have a mark, so that none of them can look like a fact.
    let mut words: Vec<(&str, Style, String)> =
        words.map(|(row, line)| (if row == 0 { "? " } else { "| " }, ALERT, line)).collect();
    for fact in &prompt.brief.facts {
        let rows = wrap(&sanitise::line(fact), width.saturating_sub(2)).into_iter().enumerate();
        words.extend(rows.map(|(row, line)| (if row == 0 { "  - " } else { "    | " }, PLAIN, line)));
    }
    let options = &prompt.question.options;
    // A hint, perhaps why the last answer was none, and the line that is typed.
    let fixed = 1 + usize::from(prompt.reply.is_some()) + usize::from(has_keys);
    let space = most.saturating_sub(fixed).max(2);
    let shown = options.len().min(space.saturating_sub(1));
    let room = space.saturating_sub(shown).max(1);
    let (mut lines, all) = (RenderedLines::new(), words.len());
    let mut add = |lead: &str, style: Style, text: &str| {
        let mut strip = TerminalLine::new(columns);
        strip.put(style, lead);
        strip.put(style, text);
        lines.push(strip.done());
    };
    for (index, (lead, style, words)) in words.iter().take(room).enumerate() {
        let more = if index + 1 == room && all > room { " …" } else { "" };
        add(lead, *style, &format!("{words}{more}"));
    }
    for (index, option) in options.iter().take(shown).enumerate() {
        add(&format!("  {:>3}  ", index + 1), PLAIN, &prompt.option(option));
    }
    if let Some(reply) = &prompt.reply {
        add("  ", ALERT, reply);
    }
    let whole = if all > room || shown < options.len() {
        format!(" · whole: interlock question list {}", prompt.session)
    } else {
        String::new()
    };
    add("  ", FAINT, &format!("{}{whole}", hint(prompt, has_keys)));
    if has_keys {
        let mut strip = TerminalLine::new(columns);
        strip.put(TYPED, "> ");
        let left = strip.left();
        strip.put(TYPED, tail(&sanitise::line_with_columns(prompt.typed), left));
        lines.push(strip.done());
    }
    lines
}

fn hint(prompt: &QuestionPrompt<'_>, has_keys: bool) -> String {
    let elsewhere = prompt.command();
    if !has_keys {
        return elsewhere;
    }
    let other = prompt.other.map_or(String::new(), |id| format!("; `{id}` shows another, `{id} …` answers it"));
    format!("{}, then Enter{other} · elsewhere: {elsewhere}", prompt.possible())
}

fn cost(spent: &SpendTotal) -> Option<String> {
    spent.usage.cost.map(|cost| format!("${cost:.2}"))
}

fn tokens(spent: &SpendTotal) -> Option<String> {
    let tokens = spent.usage.input_tokens.saturating_add(spent.usage.output_tokens);
    match tokens {
        0 => None,
        1..=9_999 => Some(format!("{tokens} tok")),
        10_000..=9_999_999 => Some(format!("{}k tok", tokens / 1000)),
        _ => Some(format!("{}M tok", tokens / 1_000_000)),
    }
}
