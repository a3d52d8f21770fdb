//! A program in a folder of its own, with a mark that everything of it can be found by.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use interlock_system::process::{
    self, OutputListener, OutputStream, ProcessControl, ProcessEnd, ProcessHandle, ProcessLimits, ProcessSpec,
    StdinMode,
};

pub(crate) struct Scene {
    pub(crate) folder: PathBuf,
    /// In the environment of the program, and in its arguments: it has to get rid of both to be missed.
    pub(crate) mark: String,
    pub(crate) spec: ProcessSpec,
}

impl Scene {
    pub(crate) fn shell(script: &str) -> Self {
        Self::new("sh", &["-c", script])
    }

    pub(crate) fn python(script: &str) -> Self {
        Self::new("python3", &["-c", &format!("import os, signal, sys, time\n{script}")])
    }

    pub(crate) fn new(program: &str, arguments: &[&str]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        process::set_supervisor(PathBuf::from(env!("CARGO_BIN_EXE_interlock")));
        let mark = format!("test-{}/{}.", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!("interlock-process-{}", mark.replace('/', "-")));
        fs::create_dir_all(&folder).unwrap();
        Self::at(folder, mark, program, arguments)
    }

    /// As a process that was started again knows it.
    pub(crate) fn at(folder: PathBuf, mark: String, program: &str, arguments: &[&str]) -> Self {
        process::set_supervisor(PathBuf::from(env!("CARGO_BIN_EXE_interlock")));
        let spec = ProcessSpec {
            program: program.into(),
            arguments: arguments.iter().map(|word| (*word).into()).chain([mark.clone().into()]).collect(),
            // The system's own programs come first: others' are often scripts that start them.
            environment: BTreeMap::from([("PATH".into(), format!("/usr/bin:/bin:{}", env("PATH")).into())]),
            folder: folder.clone(),
            stdin: StdinMode::Nothing,
            limits: ProcessLimits { time: Some(Duration::from_secs(60)), ..ProcessLimits::default() },
            transcript: None,
            lock: None,
            mark: mark.clone(),
        };
        Self { folder, mark, spec }
    }

    pub(crate) fn limits(mut self, change: impl FnOnce(&mut ProcessLimits)) -> Self {
        change(&mut self.spec.limits);
        self
    }

    pub(crate) fn stdin(mut self, stdin: StdinMode) -> Self {
        self.spec.stdin = stdin;
        self
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Runs it; nothing may be left.
    #[track_caller]
    pub(crate) fn run(&self) -> (ProcessEnd, Heard) {
        self.run_with(&ProcessControl::new())
    }

    #[track_caller]
    pub(crate) fn run_with(&self, control: &ProcessControl) -> (ProcessEnd, Heard) {
        let mut heard = Heard::default();
        let end = process::run(&self.spec, control, &mut heard).unwrap();
        assert_eq!(left(&self.mark), Vec::<String>::new());
        (end, heard)
    }

    #[track_caller]
    pub(crate) fn error(&self) -> io::Error {
        process::run(&self.spec, &ProcessControl::new(), &mut Heard::default()).unwrap_err()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What was printed.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) lines: Vec<(OutputStream, Vec<u8>, bool)>,
}

impl Heard {
    pub(crate) fn out(&self) -> Vec<String> {
        self.of(OutputStream::Out)
    }

    pub(crate) fn err(&self) -> Vec<String> {
        self.of(OutputStream::Err)
    }

    fn of(&self, stream: OutputStream) -> Vec<String> {
        let lines = self.lines.iter().filter(|(from, _, _)| *from == stream);
        lines.map(|(_, line, _)| String::from_utf8_lossy(line).into_owned()).collect()
    }
}

impl OutputListener for Heard {
    fn line(&mut self, from: OutputStream, line: &[u8], cut: bool, _talk: &mut ProcessHandle<'_>) {
        self.lines.push((from, line.to_vec(), cut));
    }
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Every process that has the mark in its environment or its arguments.
pub(crate) fn left(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.parse::<u32>().is_ok() && name != std::process::id().to_string() {
            let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            if has(&arguments, mark) || has(&environment, mark) {
                found.push(format!("{name}: {}", String::from_utf8_lossy(&arguments).replace('\0', " ")));
            }
        }
    }
    found
}

fn has(bytes: &[u8], mark: &str) -> bool {
    bytes.windows(mark.len()).any(|window| window == mark.as_bytes())
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(longest: Duration, what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < longest, "{what}: not within {longest:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn is_there(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.len() > 0)
}
