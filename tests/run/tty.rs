//! A terminal of its own for a program, and what is to be seen on it.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Starts a program on a terminal; what comes in is typed there, but for lines that begin with a zero byte: `COLUMNS ROWS`.
const DRIVER: &str = r#"
import fcntl, os, pty, select, signal, struct, sys, termios
def size(columns, rows): fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
columns, rows = int(sys.argv[1]), int(sys.argv[2])
child, master = pty.fork()
if child == 0:
    import time; time.sleep(0.1)
    os.execvp(sys.argv[3], sys.argv[3:])
size(columns, rows)
sources = [master, 0]
while True:
    ready = select.select(sources, [], [])[0]
    if 0 in ready:
        typed = os.read(0, 4096)
        if not typed: sources.remove(0)
        elif typed[:1] == b"\0": size(*map(int, typed[1:].split()))
        else: os.write(master, typed)
    if master in ready:
        try: seen = os.read(master, 65536)
        except OSError: seen = b""
        if not seen: break
        os.write(1, seen)
status = os.waitpid(child, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status) & 255)
"#;

/// What is to be seen, and has been before it went off the top.
struct Screen {
    columns: usize,
    rows: usize,
    lines: Vec<Vec<char>>,
    /// The first line that is to be seen, and where the cursor is.
    top: usize,
    row: usize,
    column: usize,
    rest: Vec<u8>,
    /// All of it, as it came.
    stream: String,
}

impl Screen {
    fn take(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let text = String::from_utf8(self.rest.drain(..whole).collect()).expect("UTF-8");
        self.stream.push_str(&text);
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '\u{1b}' => self.escape(&mut characters),
                '\r' => self.column = 0,
                '\n' => self.down(),
                '\u{8}' => self.column = self.column.saturating_sub(1),
                character if character >= ' ' => self.print(character),
                _ => {}
            }
        }
    }

    fn escape(&mut self, characters: &mut std::str::Chars<'_>) {
        if characters.next() != Some('[') {
            return;
        }
        let mut number = String::new();
        let end = characters.find(|character| {
            number.push(*character);
            character.is_ascii_alphabetic()
        });
        self.obey(end, number.trim_end_matches(char::is_alphabetic).parse().unwrap_or(0));
    }

    fn print(&mut self, character: char) {
        if self.column == self.columns {
            self.column = 0;
            self.down();
        }
        let line = &mut self.lines[self.row];
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = character;
        self.column += 1;
    }

    fn down(&mut self) {
        self.row += 1;
        if self.row == self.lines.len() {
            self.lines.push(Vec::new());
        }
        self.top = self.top.max((self.row + 1).saturating_sub(self.rows));
    }

    fn obey(&mut self, command: Option<char>, number: usize) {
        match command {
            Some('A') => self.row = self.row.saturating_sub(number.max(1)).max(self.top),
            Some('K') => self.lines[self.row].truncate(self.column),
            Some('J') if number == 0 => {
                self.lines[self.row].truncate(self.column);
                self.lines.truncate(self.row + 1);
            }
            _ => {}
        }
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| line.iter().collect::<String>() + "\n").collect()
    }
}

pub(crate) struct Tty {
    driver: Child,
    keys: Option<ChildStdin>,
    screen: Arc<Mutex<Screen>>,
}

impl Tty {
    /// Starts a program on a terminal of this size.
    pub(crate) fn start(program: &[&str], (columns, rows): (usize, usize), set: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new("python3");
        command.args(["-c", DRIVER, &columns.to_string(), &rows.to_string()]).args(program);
        command
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .env_remove("CI")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        set(&mut command);
        let mut driver = command.spawn().expect("python3");
        let screen = Screen {
            columns,
            rows,
            lines: vec![Vec::new()],
            top: 0,
            row: 0,
            column: 0,
            rest: Vec::new(),
            stream: String::new(),
        };
        let screen = Arc::new(Mutex::new(screen));
        let (seen, mut output) = (Arc::clone(&screen), driver.stdout.take().expect("what it shows"));
        thread::spawn(move || {
            let mut bytes = [0; 65536];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                seen.lock().expect("a screen").take(&bytes[..count]);
            }
        });
        let keys = driver.stdin.take();
        Self { driver, keys, screen }
    }

    pub(crate) fn type_in(&mut self, keys: &str) {
        let stdin = self.keys.as_mut().expect("a keyboard");
        stdin.write_all(keys.as_bytes()).and_then(|()| stdin.flush()).expect("it is typed");
    }

    pub(crate) fn resize(&mut self, columns: usize, rows: usize) {
        {
            let mut screen = self.screen.lock().expect("a screen");
            (screen.columns, screen.rows) = (columns, rows);
        }
        self.type_in(&format!("\0{columns} {rows}"));
    }

    /// What is to be seen, and what went off the top before.
    pub(crate) fn text(&self) -> String {
        self.screen.lock().expect("a screen").text()
    }

    pub(crate) fn stream(&self) -> String {
        self.screen.lock().expect("a screen").stream.clone()
    }

    /// Waits until this is to be seen.
    #[track_caller]
    pub(crate) fn until(&self, what: &str) -> String {
        self.until_so(what, |text| text.contains(what))
    }

    #[track_caller]
    pub(crate) fn until_so(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let text = self.text();
            if is_so(&text) {
                return text;
            }
            assert!(Instant::now() < end, "waited in vain for {what}:\n{text}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the program has ended, and says how.
    #[track_caller]
    pub(crate) fn end(&mut self) -> Option<i32> {
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            if let Some(status) = self.driver.try_wait().expect("a process") {
                // What it said last may still be on its way.
                thread::sleep(Duration::from_millis(50));
                return status.code();
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("it does not end:\n{}", self.text());
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
