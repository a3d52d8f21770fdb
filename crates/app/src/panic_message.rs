//! The message of a panic, kept for the one line that people get to see.

use std::panic;
use std::sync::Mutex;

static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Keeps what a panic says and where, in place of printing it.
pub fn keep_panic_message() {
    panic::set_hook(Box::new(|fault| {
        let message = fault.payload_as_str().unwrap_or("no message");
        let place = fault.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = Some(format!("{message}{place}"));
        }
    }));
}

/// The message of the last panic. A second call has nothing.
pub fn last_panic_message() -> String {
    LAST_PANIC.lock().ok().and_then(|mut last| last.take()).unwrap_or_default()
}
