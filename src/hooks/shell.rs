//! Command lines, read as far as a sensor has to: which programs, with which words, writing where.
//!
//! This is no shell, and no wall: whoever wants to hide a command from it can. It is for a model that forgets itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::hooks::ground::{expanded, resolved};

/// A command line in its parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// Each command with its words, quotes taken off.
    pub(super) commands: Vec<Vec<String>>,
    /// Files that output goes to.
    pub(super) written: Vec<String>,
    /// Something in it is only known when it is run.
    pub(super) computed: bool,
}

/// What only looks, whatever its words are.
const LOOKING: &[&str] = &[
    "cat", "cd", "cut", "date", "diff", "dirname", "basename", "du", "echo", "false", "file", "grep", "head", "id",
    "jq", "less", "ls", "nl", "printf", "pwd", "realpath", "rg", "sleep", "sort", "stat", "tail", "test", "tr", "tree",
    "true", "type", "uname", "uniq", "wc", "which", "whoami", "[",
];
/// What `git` does without changing anything.
const LOOKING_GIT: &[&str] =
    &["blame", "branch", "describe", "diff", "grep", "log", "ls-files", "remote", "rev-parse", "show", "status"];

/// What starts another program, named after it.
const STARTERS: &[&str] =
    &["builtin", "command", "env", "exec", "nice", "nohup", "setsid", "stdbuf", "sudo", "time", "timeout", "xargs"];
const SHELLS: &[&str] = &["bash", "dash", "ksh", "sh", "zsh"];
/// Changes of the folder are followed this often.
const MOVES: usize = 16;
/// Command lines in command lines are read this deep.
const DEEPEST: u32 = 8;

impl Line {
    pub(super) fn read(text: &str) -> Self {
        Self::read_within(text, DEEPEST)
    }

    fn read_within(text: &str, depth: u32) -> Self {
        let mut line = Self::read_flat(text);
        if depth > 0 {
            let inner: Vec<String> = line.commands.iter().filter_map(|command| inner(command)).collect();
            for line_within in inner.iter().map(|text| Self::read_within(text, depth - 1)) {
                line.commands.extend(line_within.commands);
                line.written.extend(line_within.written);
                line.computed |= line_within.computed;
            }
        }
        line
    }

    fn read_flat(text: &str) -> Self {
        let mut reader = Reader { line: Line::default(), command: Vec::new(), word: None, redirected: false };
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\'' => reader.quoted(&mut characters, '\''),
                '"' => reader.quoted(&mut characters, '"'),
                '\\' => reader.put(characters.next().unwrap_or('\\')),
                '`' => reader.line.computed = true,
                '$' => {
                    reader.line.computed |= characters.peek() == Some(&'(');
                    reader.put('$');
                }
                '>' => reader.redirect(&mut characters),
                '<' => reader.end_word(),
                ';' | '|' | '&' | '\n' | '(' | ')' => reader.end_command(),
                blank if blank.is_whitespace() => reader.end_word(),
                other => reader.put(other),
            }
        }
        reader.end_command();
        reader.line
    }

    /// Nothing in it changes a file, as far as can be told.
    pub(super) fn only_looks(&self) -> bool {
        let nowhere = |target: &String| target == "/dev/null" || target.starts_with('&');
        !self.computed && self.written.iter().all(nowhere) && self.commands.iter().all(|command| looks(command))
    }

    /// What `interlock` is asked for: the first words of each of its commands.
    pub(super) fn of_interlock(&self) -> Vec<String> {
        let started = self.commands.iter().filter_map(|command| started(command));
        started.filter(|(name, _)| *name == "interlock").map(|(_, words)| plain_words(words).join(" ")).collect()
    }

    /// Every word that may name a file, once.
    pub(super) fn paths(&self) -> BTreeSet<&str> {
        let moves = self.commands.iter().any(|command| moved_to(command).is_some());
        let words = self.commands.iter().flatten().chain(&self.written);
        // `--file=path` names a path as well.
        let parts = words.flat_map(|word| word.split(['=', ':']));
        // A bare name is a plain file of the folder, unless it is one of ours.
        let named = |part: &&str| {
            moves || part.contains('/') || part.starts_with(['.', '~', '$']) || part.contains("interlock")
        };
        parts.filter(|part| !part.is_empty()).filter(named).collect()
    }

    /// What is removed, or moved elsewhere.
    pub(super) fn taken_away(&self) -> Vec<&str> {
        let mut taken = Vec::new();
        for (name, words) in self.commands.iter().filter_map(|command| started(command)) {
            let mut files: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
            if name == "mv" {
                files.pop();
            }
            if matches!(name, "mv" | "rm" | "rmdir") {
                taken.extend(files);
            }
        }
        taken
    }

    /// The folders that its commands are run in, as far as can be told.
    pub(super) fn folders(&self, from: &Path) -> Vec<PathBuf> {
        let mut folders = vec![from.to_owned()];
        for folder in self.commands.iter().filter_map(|command| moved_to(command)).take(MOVES) {
            let last = folders.last().map_or(from, PathBuf::as_path);
            folders.push(resolved(&last.join(expanded(folder))));
        }
        folders
    }
}

/// The words of a command that are neither options nor what an option of the program itself takes.
fn plain_words(words: &[String]) -> Vec<&str> {
    let mut plain = Vec::new();
    let mut skip = false;
    for word in words {
        if std::mem::take(&mut skip) {
            continue;
        }
        skip = word == "--store";
        if !word.starts_with('-') {
            plain.push(word.as_str());
        }
    }
    plain
}

/// The program that a command comes to, and its words.
fn started(command: &[String]) -> Option<(&str, &[String])> {
    let mut by_another = false;
    for (at, word) in command.iter().enumerate() {
        let name = program(word);
        let of_starter = by_another && word.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        if STARTERS.contains(&name) {
            by_another = true;
        } else if !(of_starter || is_setting(word)) {
            return Some((name, &command[at + 1..]));
        }
    }
    None
}

/// The command line that a command runs.
fn inner(command: &[String]) -> Option<String> {
    let (name, words) = started(command)?;
    if name == "eval" {
        return Some(words.join(" "));
    }
    let is_line = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('c');
    let at = words.iter().position(is_line).filter(|_| SHELLS.contains(&name))?;
    words.get(at + 1).cloned()
}

/// The folder that a command changes to.
fn moved_to(command: &[String]) -> Option<&str> {
    let (name, words) = started(command)?;
    let folder = words.iter().find(|word| !word.starts_with('-'));
    folder.filter(|_| matches!(name, "cd" | "pushd")).map(String::as_str)
}

/// Whether `git` only looks, with these words.
fn git_looks(words: &[&str]) -> bool {
    let only_shows = |word: &&&str| ["-a", "-r", "-v", "-vv", "--all", "--list", "--show-current"].contains(*word);
    let options = words.iter().filter(|word| word.starts_with('-') && !only_shows(word)).count();
    let mut plain = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if *word == "-C" {
            words.next();
        } else if word.starts_with("--output") {
            return false;
        } else if !word.starts_with('-') {
            plain.push(*word);
        }
    }
    match plain.as_slice() {
        [] => false,
        ["remote", "show" | "get-url", ..] => true,
        ["branch"] | ["remote"] => options == 0,
        ["branch" | "remote", ..] => false,
        [command, ..] => LOOKING_GIT.contains(command),
    }
}

fn looks(command: &[String]) -> bool {
    let mut words = command.iter().skip_while(|word| is_setting(word)).map(String::as_str);
    let Some(first) = words.next() else { return true };
    let rest: Vec<&str> = words.collect();
    match program(first) {
        "git" => git_looks(&rest),
        "find" => !rest
            .iter()
            .any(|word| ["-exec", "-delete", "-ok", "-fprint", "-fls"].iter().any(|acts| word.starts_with(acts))),
        "sort" => !rest.iter().any(|word| word.starts_with("-o") || word.starts_with("--output")),
        "interlock" => true,
        name => LOOKING.contains(&name),
    }
}

/// `NAME=value` before a command.
fn is_setting(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    })
}

/// The name of a program, without where it lies.
fn program(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

struct Reader {
    line: Line,
    command: Vec<String>,
    word: Option<String>,
    /// The next word is a file that is written.
    redirected: bool,
}

impl Reader {
    fn put(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn quoted(&mut self, characters: &mut std::iter::Peekable<std::str::Chars<'_>>, end: char) {
        self.word.get_or_insert_default();
        while let Some(character) = characters.next() {
            match character {
                character if character == end => return,
                '\\' if end == '"' => self.put(characters.next().unwrap_or('\\')),
                '`' if end == '"' => self.line.computed = true,
                '$' if end == '"' && characters.peek() == Some(&'(') => {
                    self.line.computed = true;
                    self.put('$');
                }
                other => self.put(other),
            }
        }
    }

    fn redirect(&mut self, characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        // `2>`: the number belongs to the redirection.
        if self.word.as_ref().is_some_and(|word| word.chars().all(|digit| digit.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        self.redirected = true;
        while characters.next_if(|next| matches!(next, '>' | '|')).is_some() {}
        if characters.next_if_eq(&'&').is_some() {
            self.put('&');
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.redirected) {
            self.line.written.push(word);
        } else {
            self.command.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirected = false;
        if !self.command.is_empty() {
            self.line.commands.push(std::mem::take(&mut self.command));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_looks_is_told_from_what_may_change_something() {
        let looking = [
            "ls -la && cat 'a b.txt' | grep -n \"x > y\" | wc -l",
            "git status --short; git -P log --oneline -5",
            "find . -name '*.rs' 2>/dev/null",
            "interlock session show s-1 --json 2>&1 | jq .groups",
            "FOO=bar pwd",
            "git -C sub diff -M && git log -m && git branch -a; git remote -v && git remote show origin",
            "find . -name '*.rs' -type f | sort -n",
            "",
        ];
        for line in looking {
            assert!(Line::read(line).only_looks(), "{line}");
        }
        let changing = [
            "echo hello > a.txt",
            "cat a >> b",
            "sed -i s/a/b/ file",
            "git commit -am x",
            "git",
            "find . -delete",
            "ls $(rm -rf x)",
            "echo \"`rm x`\"",
            "ls\nrm x",
            "ls & rm x",
            "python3 -c 'open(\"a\",\"w\")'",
            "echo x >| a",
            "(cd a && touch b)",
            "git branch new",
            "git branch -D main",
            "git remote add o x",
            "git diff --output=x",
            "sort -o a a",
            "find . -fprint x",
            "bash -c ls",
        ];
        for line in changing {
            assert!(!Line::read(line).only_looks(), "{line}");
        }
    }

    #[test]
    fn interlock_is_found_wherever_it_lies() {
        let asked = |line: &str| Line::read(line).of_interlock();
        assert_eq!(asked("cd x && /usr/bin/interlock --store y answer s.q1 --option yes"), ["answer s.q1 yes"]);
        assert_eq!(asked("env A=b 'interlock' defer g"), ["defer g"]);
        assert_eq!(asked("bash -lc \"cd x; interlock override g\""), ["override g"]);
        assert_eq!(asked("timeout -k 5 10 sh -c 'eval interlock cancel s'"), ["cancel s"]);
        assert_eq!(asked("echo hi"), Vec::<String>::new());
        assert_eq!(asked("grep -rn interlock answer.rs; cargo run -p interlock run"), Vec::<String>::new());
    }

    #[test]
    fn a_file_that_is_written_is_named() {
        assert_eq!(Line::read("echo x 2>err.log >out.log").written, ["err.log", "out.log"]);
        assert_eq!(Line::read("echo 'a > b'").written, Vec::<String>::new());
    }

    #[test]
    fn what_is_taken_away_and_from_where_is_named() {
        let line = Line::read("cd a/b && cd ../c; rm -rf x .y; mv p q .; sudo rmdir z");
        assert_eq!(line.taken_away(), ["x", ".y", "p", "q", "z"]);
        let from = Path::new("/nowhere");
        assert_eq!(line.folders(from), ["/nowhere", "/nowhere/a/b", "/nowhere/a/c"].map(PathBuf::from));
        let line = Line::read("tool --db=.interlock/x -v=2 plain interlock.db ~/y");
        assert_eq!(line.paths().into_iter().collect::<Vec<_>>(), [".interlock/x", "interlock.db", "~/y"]);
    }

    #[test]
    fn lines_in_lines_come_to_an_end() {
        Line::read(&"eval ".repeat(100_000));
    }
}
