//! Command lines, read as far as a sensor has to: which programs, with which words, writing where.
//!
//! The syntax is read by a parser; nothing is run. It is no wall: a program can do anything, whatever its words are. It is
//! for a model that forgets itself.

mod read_only;
mod reader;
mod whole_paths;
mod word;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::path_ownership::{expanded, resolved};
pub(super) use read_only::{interlock_looks, starts_session};
pub(super) use word::{ShellWord, WordCertainty};

/// A command line in its parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ShellLine {
    /// Every command, wherever it stands.
    pub(super) commands: Vec<ShellCommand>,
    /// The variables of loops, each with the words that it runs over.
    loops: Vec<(String, Vec<ShellWord>)>,
    /// Something in it is only known when it is run.
    computed: bool,
    /// Something in it could not be read at all.
    pub(super) unread: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ShellCommand {
    /// `NAME=value` before it.
    settings: Vec<ShellWord>,
    pub(super) words: Vec<ShellWord>,
    /// Files that its input comes from, and that its output goes to.
    input: Vec<ShellWord>,
    output: Vec<ShellWord>,
    /// Input that the line itself contains, such as a here document.
    given: Vec<String>,
}

/// Programs that start another program, and the number of own words before its name.
const STARTERS: &[(&str, usize)] = &[
    ("builtin", 0),
    ("bunx", 0),
    ("chroot", 1),
    ("command", 0),
    ("doas", 0),
    ("env", 0),
    ("exec", 0),
    ("flock", 1),
    ("ionice", 0),
    ("nice", 0),
    ("nohup", 0),
    ("npx", 0),
    ("nsenter", 0),
    ("parallel", 0),
    ("setsid", 0),
    ("stdbuf", 0),
    ("strace", 0),
    ("sudo", 0),
    ("systemd-run", 0),
    ("taskset", 0),
    ("time", 0),
    ("timeout", 0),
    ("unshare", 0),
    ("watch", 0),
    ("xargs", 0),
];
const SHELLS: &[&str] = &["ash", "bash", "dash", "ksh", "sh", "zsh"];
/// After these, `find` names a program.
const OF_FIND: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];
/// Changes of the folder are followed this often.
const MOVES: usize = 16;

impl ShellLine {
    pub(super) fn read(text: &str) -> Self {
        reader::line(text)
    }

    /// The arguments of each `interlock` command.
    pub(super) fn of_interlock(&self) -> Vec<&[ShellWord]> {
        let started = self.commands.iter().flat_map(ShellCommand::started);
        started.filter(|(name, _)| *name == "interlock").map(|(_, words)| words).collect()
    }

    /// Every word that may name a file, once, and whether it stands for files that fit it.
    pub(super) fn named(&self) -> BTreeSet<(&str, bool)> {
        let moves = self.commands.iter().any(|command| command.moves_to().is_some());
        // A bare name is a plain file of the folder, unless it is one of ours.
        let named = |(part, fits): &(&str, bool)| {
            *fits || moves || part.contains('/') || part.starts_with(['.', '~', '$']) || part.contains("interlock")
        };
        self.parts().filter(named).collect()
    }

    /// Every word and part of a word that may be a path: `--file=path` names one as well.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&str, bool)> {
        let of_commands = self.commands.iter().flat_map(ShellCommand::all_words);
        let words = of_commands.chain(self.loops.iter().flat_map(|(_, words)| words));
        let parts = words.flat_map(|word| word.text.split(['=', ':']).map(|part| (part, word.fits)));
        parts.filter(|(part, _)| !part.is_empty())
    }

    /// The folders that its commands run in, as far as the line shows.
    pub(super) fn folders(&self, from: &Path) -> Vec<PathBuf> {
        let mut folders = vec![from.to_owned()];
        for folder in self.commands.iter().filter_map(ShellCommand::moves_to).take(MOVES) {
            let last = folders.last().map_or(from, PathBuf::as_path);
            folders.push(resolved(&last.join(expanded(folder))));
        }
        folders
    }
}

impl ShellCommand {
    fn all_words(&self) -> impl Iterator<Item = &ShellWord> {
        self.settings.iter().chain(&self.words).chain(&self.input).chain(&self.output)
    }

    /// The programs that it may start, each with its words. An option of a starter may take a value, so the word after
    /// the option may or may not be the program. Both readings are listed.
    fn started(&self) -> Vec<(&str, &[ShellWord])> {
        let mut found = Vec::new();
        let mut places = BTreeSet::from([0]);
        while let Some(at) = places.pop_first() {
            let Some((first, words)) = self.words.get(at..).and_then(<[ShellWord]>::split_first) else { continue };
            let name = program(&first.text);
            if name == "find" {
                let acts = words.iter().enumerate().filter(|(_, word)| OF_FIND.contains(&word.text.as_str()));
                places.extend(acts.map(|(index, _)| at + index + 2));
            }
            if let Some((_, own)) = STARTERS.iter().find(|(starter, _)| *starter == name) {
                places.extend(after_starter(words, *own).map(|index| at + 1 + index));
            }
            found.push((name, words));
        }
        found
    }

    /// The folder that it changes to.
    fn moves_to(&self) -> Option<&str> {
        let (_, words) = self.started().into_iter().find(|(name, _)| matches!(*name, "cd" | "pushd"))?;
        words.iter().find(|word| !word.text.starts_with('-')).map(|word| word.text.as_str())
    }
}

/// Where, in the words of a starter, the program may stand.
fn after_starter(words: &[ShellWord], mut own: usize) -> impl Iterator<Item = usize> {
    let mut after_option = false;
    let mut over = false;
    words.iter().enumerate().filter_map(move |(index, word)| {
        let text = word.text.as_str();
        if over {
            return None;
        }
        if text.starts_with('-') {
            after_option = !text.contains('=');
            return None;
        }
        let value = std::mem::take(&mut after_option);
        if is_setting(text) || text.starts_with(|first: char| first.is_ascii_digit()) {
            return None;
        }
        if own > 0 {
            own -= usize::from(!value);
            return None;
        }
        over = !value;
        Some(index)
    })
}

/// `NAME=value` before a command.
fn is_setting(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| word::is_name(name))
}

/// The name of a program, without where it lies.
fn program(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The words of a command that are neither options nor what an option of the program itself takes.
pub(super) fn plain_words(words: &[ShellWord]) -> Vec<&str> {
    let mut plain = Vec::new();
    let mut skip = false;
    for text in words.iter().map(|word| word.text.as_str()) {
        if std::mem::take(&mut skip) {
            continue;
        }
        skip = text == "--store";
        if !text.starts_with('-') {
            plain.push(text);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interlock_is_found_wherever_it_lies() {
        let asked = |line: &str| -> Vec<String> {
            ShellLine::read(line).of_interlock().into_iter().map(|words| plain_words(words).join(" ")).collect()
        };
        assert_eq!(asked("cd x && /usr/bin/interlock --store y answer s.q1 --option yes"), ["answer s.q1 yes"]);
        assert_eq!(asked("env A=b 'interlock' defer g"), ["defer g"]);
        assert_eq!(asked("bash -lc \"cd x; interlock override g\""), ["override g"]);
        assert_eq!(asked("timeout -k 5 10 sh -c 'eval interlock cancel s'"), ["cancel s"]);
        assert_eq!(asked("echo hi"), Vec::<String>::new());
        assert_eq!(asked("grep -rn interlock answer.rs; cargo run -p interlock run"), Vec::<String>::new());
        for line in [
            "if true; then interlock answer q; fi",
            "! interlock answer q",
            "{ interlock answer q; }",
            "for i in 1; do interlock answer q; done",
            "echo \"$(interlock answer q)\"",
            "x=$(interlock answer q)",
            "echo `interlock answer q`",
            "echo $(a $(b $(c $(interlock answer q))))",
            "echo ${x:-$(interlock answer q)}",
            "[[ -n $(interlock answer q) ]]",
            "cat <(interlock answer q)",
            "cat <<EOF\n$(interlock answer q)\nEOF",
            "f() { interlock answer q; }; f",
            "case x in x) interlock answer q;; esac",
            "while interlock answer q; do sleep 1; done",
            "coproc interlock answer q",
            "ls # don't\ninterlock answer q",
            "env -u FOO interlock answer q",
            "sudo -u root interlock answer q",
            "timeout --signal=KILL 5s interlock answer q",
            "nice -n 5 interlock answer q",
            "flock x interlock answer q",
            "find . -exec interlock answer q",
            "exec -a foo interlock answer q",
            "npx interlock answer q",
            "su -c 'interlock answer q'",
            "bash -o pipefail -c 'interlock answer q'",
            "bash <<EOF\ninterlock answer q\nEOF",
            "echo 'interlock answer q' | sh",
            "sh <<< 'interlock answer q'",
            "time -p interlock answer q",
        ] {
            assert!(asked(line).iter().any(|words| words == "answer q"), "{line}: {:?}", asked(line));
        }
    }

    #[test]
    fn where_a_line_goes_and_what_it_names_is_told() {
        let from = Path::new("/nowhere");
        let line = ShellLine::read("cd a/b && cd ../c; rm -rf x");
        assert_eq!(line.folders(from), ["/nowhere", "/nowhere/a/b", "/nowhere/a/c"].map(PathBuf::from));
        let line = ShellLine::read("tool --db=.interlock/x -v=2 plain interlock.db ~/y *.rs");
        let named: Vec<&str> = line.named().into_iter().map(|(text, _)| text).collect();
        assert_eq!(named, ["*.rs", ".interlock/x", "interlock.db", "~/y"]);
    }

    /// Every line is read or rejected in bounded time, however deeply lines are nested.
    #[test]
    fn lines_in_lines_come_to_an_end() {
        for (before, middle, after, times) in [
            ("eval ", "ls", "", 10_000),
            ("( ", "ls", " )", 15_000),
            ("if ", "ls", "", 20_000),
            ("$(", "ls", ")", 10_000),
            ("<(", "ls", ")", 10_000),
            ("ls && ", "ls", "", 10_000),
            ("${x:-", "ls", "}", 10_000),
            ("bash -c ", "ls", "", 8_000),
            ("`", "", "", 50_000),
            ("{ ", "ls;", "};", 12_000),
            ("case x in x) ", "ls", "", 5_000),
            ("[[ ! ", "x ]]", "", 10_000),
            ("ls | ", "ls", "", 12_000),
            ("! ", "ls", "", 30_000),
            ("time ", "ls", "", 12_000),
            ("f() ", "ls", "", 15_000),
            ("coproc ", "ls", "", 9_000),
            ("a=(", "", "", 20_000),
        ] {
            let line = ShellLine::read(&format!("{}{middle}{}", before.repeat(times), after.repeat(times)));
            assert!(["ls && ", "ls | ", "! ", "time "].contains(&before) || !line.only_looks(), "{before}");
        }
        for (before, within, after) in
            [("[[ ", "! ", "x ]]"), ("[[ ", "( ", "x ]]"), ("((", "- ", "1))"), ("echo $((", "(", "1))")]
        {
            ShellLine::read(&format!("{before}{}{after}", within.repeat(30_000)));
        }
        assert!(ShellLine::read(&"x".repeat(1 << 20)).unread);
    }
}
