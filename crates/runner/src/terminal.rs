//! The terminal that a run is watched on: whether it is ours, how it is set, what is typed there, and the picture at its
//! lower end.

use std::env;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anstream::ColorChoice;
use anstream::adapter::strip_str;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{getpgrp, getsid};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::run_context::SchedulerMessage;
use interlock_system::process;

/// How often it is looked whether the terminal has become ours.
const LOOK: Duration = Duration::from_millis(200);
/// The size of a terminal that does not report its size.
const USUAL: (usize, usize) = (80, 24);

pub(super) struct Terminal {
    /// It obeys escapes, so a picture can be drawn again in its place.
    pub(super) is_live: bool,
    /// People can type.
    pub(super) has_keys: bool,
    colours: bool,
    held: Mutex<TerminalState>,
}

/// Changes that this process made to the terminal.
#[derive(Default)]
struct TerminalState {
    /// How it was set before.
    before: Option<Termios>,
    /// It is set so that keys come one by one, and are not shown by themselves.
    is_set: bool,
    /// The columns of each line of the picture.
    lines: Vec<usize>,
    /// The cursor is at the end of the last line, not below it.
    is_open: bool,
    /// It was stopped and goes on, and knows it.
    has_resumed: bool,
    /// Nothing is drawn or read any more.
    is_closed: bool,
}

impl Terminal {
    /// Standard output, if people see it.
    pub(super) fn find() -> Option<Arc<Self>> {
        let stdout = io::stdout();
        let escapes = env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
        stdout.is_terminal().then(|| {
            Arc::new(Self {
                is_live: escapes,
                has_keys: io::stdin().is_terminal(),
                colours: anstream::AutoStream::choice(&stdout) != ColorChoice::Never,
                held: Mutex::default(),
            })
        })
    }

    /// Whether pictures may be drawn now. In the background, another process has the terminal.
    pub(super) fn is_ours(&self) -> bool {
        self.is_live && is_ours(&io::stdout()) && !self.held().is_closed
    }

    /// Columns and lines.
    pub(super) fn size() -> (usize, usize) {
        terminal_size::terminal_size().map_or(USUAL, |(width, height)| (width.0.into(), height.0.into()))
    }

    /// Lines that stay, and below them the picture, in the place of the one before. None of its lines is longer than the
    /// terminal is wide; each comes with its columns.
    pub(super) fn show(&self, above: &str, lines: &[(String, usize)], is_open: bool) {
        let mut held = self.held();
        if self.has_keys {
            held.set();
        }
        let mut text = held.way_up();
        if !above.is_empty() {
            text.push_str("\u{1b}[J");
            text.push_str(&self.painted(above));
        }
        for (index, (line, _)) in lines.iter().enumerate() {
            text.push_str("\u{1b}[K");
            text.push_str(&self.painted(line));
            if index + 1 < lines.len() || !is_open {
                text.push('\n');
            }
        }
        text.push_str("\u{1b}[J");
        held.lines = lines.iter().map(|(_, columns)| *columns).collect();
        held.is_open = is_open;
        put(&text);
    }

    /// The picture goes, and the terminal is as it was.
    pub(super) fn close(&self) {
        let mut held = self.held();
        held.let_go();
        held.is_closed = true;
    }

    /// Colours may be unwanted where the cursor can be moved all the same.
    fn painted(&self, text: &str) -> String {
        if self.colours { text.to_owned() } else { strip_str(text).to_string() }
    }

    /// Sends typed bytes to the scheduler until the terminal is closed. Reading from the background would stop the
    /// whole process, so it waits until the terminal is ours.
    pub(super) fn listen(&self, news: &Sender<SchedulerMessage>) {
        let stdin = io::stdin();
        while !self.held().is_closed {
            if !is_ours(&stdin) {
                thread::sleep(LOOK);
                continue;
            }
            let timeout = Timespec { tv_sec: 0, tv_nsec: LOOK.subsec_nanos().into() };
            let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&timeout));
            if !ready.is_ok_and(|ready| ready > 0) || !is_ours(&stdin) || self.held().is_closed {
                continue;
            }
            let mut bytes = [0; 4096];
            match rustix::io::read(&stdin, &mut bytes) {
                Ok(count) if count > 0 => {
                    let typed = bytes.get(..count).unwrap_or_default().to_vec();
                    if news.send(SchedulerMessage::Typed(typed)).is_err() {
                        return;
                    }
                }
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Ok(_) | Err(_) => return,
            }
        }
    }

    /// Handles Ctrl-Z: the terminal is left as it was, and set up again when the run goes on.
    fn suspend(&self) {
        if getsid(None).is_ok_and(|session| session == getpgrp()) {
            // Without a shell above, the process could not be resumed.
            return;
        }
        let mut held = self.held();
        held.let_go();
        process::wake_children();
        let _ = emulate_default_handler(SIGTSTP);
        held.has_resumed = true;
    }

    /// It goes on, wherever it was stopped: whatever is on the terminal now is not ours.
    fn resume(&self) {
        let mut held = self.held();
        if !std::mem::take(&mut held.has_resumed) {
            held.lines.clear();
            held.is_set = false;
        }
    }

    fn held(&self) -> MutexGuard<'_, TerminalState> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TerminalState {
    /// To where the picture begins. A terminal that became narrower has broken its lines.
    fn way_up(&mut self) -> String {
        let (columns, _) = Terminal::size();
        let rows = |width: &usize| width.div_ceil(columns.max(1)).max(1);
        let rows = self.lines.iter().map(rows).sum::<usize>();
        let up = if self.is_open { rows.saturating_sub(1) } else { rows };
        self.lines.clear();
        if up == 0 { "\r".to_owned() } else { format!("\r\u{1b}[{up}A") }
    }

    /// Keys come one by one from now on, and are shown in the picture only.
    fn set(&mut self) {
        if self.is_set || self.is_closed || !is_ours(&io::stdin()) {
            return;
        }
        let Ok(now) = tcgetattr(io::stdin()) else { return };
        // The first is how the user has it; what comes later may be a shell's notion of us.
        let mut ours = self.before.get_or_insert(now).clone();
        ours.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
        ours.special_codes[SpecialCodeIndex::VMIN] = 1;
        ours.special_codes[SpecialCodeIndex::VTIME] = 0;
        self.is_set = tcsetattr(io::stdin(), OptionalActions::Now, &ours).is_ok();
    }

    fn let_go(&mut self) {
        if !self.lines.is_empty() && is_ours(&io::stdout()) {
            put(&format!("{}\u{1b}[J", self.way_up()));
        }
        let before = self.before.as_ref().filter(|_| self.is_set && is_ours(&io::stdin()));
        if let Some(before) = before {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
        self.is_set = false;
    }
}

/// Passes requests of the system, or of a person, to the scheduler.
pub(super) fn watch(terminal: Option<Arc<Terminal>>, news: Sender<SchedulerMessage>) {
    let terminal = terminal.filter(|terminal| terminal.is_live);
    let of_terminals: &[i32] = if terminal.is_some() { &[SIGTSTP, SIGCONT, SIGQUIT] } else { &[] };
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP].iter().chain(of_terminals)) else { return };
    thread::spawn(move || {
        for signal in signals.forever() {
            let told = match (signal, &terminal) {
                (SIGTSTP, Some(terminal)) => {
                    terminal.suspend();
                    news.send(SchedulerMessage::Resumed)
                }
                (SIGCONT, Some(terminal)) => {
                    terminal.resume();
                    news.send(SchedulerMessage::Resumed)
                }
                (SIGQUIT, Some(terminal)) => {
                    terminal.close();
                    let _ = emulate_default_handler(SIGQUIT);
                    Ok(())
                }
                _ => news.send(SchedulerMessage::Stop),
            };
            if told.is_err() {
                return;
            }
        }
    });
}

/// Whether this process is in the foreground of a terminal; where nothing is, everything is.
fn is_ours(terminal: &impl AsFd) -> bool {
    tcgetpgrp(terminal).map_or(true, |group| group == getpgrp())
}

/// Without a reader, output is dropped and the run goes on.
fn put(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
