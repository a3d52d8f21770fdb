//! Paths that a command removes or changes recursively, and folders that it reads recursively.

use globset::GlobBuilder;

use crate::shell::read_only::is_looker;
use crate::shell::{OF_FIND, ShellCommand, ShellLine, ShellWord};

/// Names of protected files. A search that cannot match one of these is harmless.
const KEPT: &[&str] = &[
    ".interlock",
    "interlock.db",
    "interlock.db-wal",
    "interlock.db-shm",
    "sessions",
    "handoff.json",
    ".claude",
    ".codex",
    ".gemini",
    "settings.json",
    "settings.local.json",
    "hooks.json",
    "config.toml",
    ".mcp.json",
    "SKILL.md",
    "operator.key",
];
const HERE: &str = ".";

/// A path that everything goes with, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WholePath<'l> {
    pub(crate) path: &'l str,
    pub(crate) fits: bool,
    /// The alternative to suggest; empty if there is none.
    pub(crate) instead: &'static str,
}

const NO_CLEAN: &str = "Leave out -x and -X, or name the folders that are to be cleaned.";
const NO_STASH: &str = "Leave out -a: `git stash -u` keeps what git ignores where it is.";

impl ShellLine {
    /// Paths that are removed, moved elsewhere, or changed recursively.
    pub(crate) fn taken_away(&self) -> Vec<WholePath<'_>> {
        self.commands.iter().flat_map(ShellCommand::started).flat_map(|(name, words)| taken(name, words)).collect()
    }

    /// Folders that are read with all that is in them.
    pub(crate) fn read_whole(&self) -> Vec<WholePath<'_>> {
        self.commands.iter().flat_map(ShellCommand::started).flat_map(|(name, words)| read(name, words)).collect()
    }
}

fn taken<'l>(name: &str, words: &'l [ShellWord]) -> Vec<WholePath<'l>> {
    let recursive = || has(words, "R", "recursive");
    match name {
        "rm" | "rmdir" | "unlink" | "shred" => files(words),
        "mv" if has(words, "t", "target-directory") => files(words),
        "mv" => all_but_last(words),
        "chmod" | "chown" | "chgrp" if recursive() => files(words),
        "rsync" if words.iter().any(|word| word.text.starts_with("--del")) => last(words),
        "find" if finds_kept(words) => roots(words),
        "git" => by_git(words),
        _ => Vec::new(),
    }
}

fn read<'l>(name: &str, words: &'l [ShellWord]) -> Vec<WholePath<'l>> {
    let reads = match name {
        "grep" | "egrep" | "fgrep" | "zgrep" => {
            has(words, "rR", "recursive") || has(words, "", "dereference-recursive")
        }
        "cp" | "scp" => has(words, "rRa", "recursive") || has(words, "", "archive"),
        "diff" => has(words, "r", "recursive"),
        "rg" | "ag" | "ack" | "tar" | "zip" | "rsync" | "7z" | "bsdtar" | "cpio" => true,
        "find" => {
            return if words.iter().any(|word| OF_FIND.contains(&word.text.as_str())) {
                roots(words)
            } else {
                Vec::new()
            };
        }
        _ => false,
    };
    let mut named = if reads { files(words) } else { Vec::new() };
    // Without a folder it is this one.
    if reads && named.len() < 2 {
        named.push(WholePath { path: HERE, fits: false, instead: "" });
    }
    named
}

fn by_git(words: &[ShellWord]) -> Vec<WholePath<'_>> {
    let at = words.iter().position(|word| matches!(word.text.as_str(), "clean" | "stash" | "rm" | "mv"));
    let Some((command, rest)) = at.and_then(|at| words[at..].split_first()) else { return Vec::new() };
    let gone = words.windows(2).find(|pair| pair[0].text == "-C").map(|pair| whole(&pair[1]));
    let here = gone.unwrap_or(WholePath { path: HERE, fits: false, instead: "" });
    match command.text.as_str() {
        "clean" if has(rest, "xX", "") && !has(rest, "n", "dry-run") => {
            let named = files(rest);
            let all = if named.is_empty() { vec![here] } else { named };
            all.into_iter().map(|whole| WholePath { instead: NO_CLEAN, ..whole }).collect()
        }
        "stash" if has(rest, "a", "all") => vec![WholePath { instead: NO_STASH, ..here }],
        "rm" => files(rest),
        "mv" => all_but_last(rest),
        _ => Vec::new(),
    }
}

/// Whether an option is among these words: one of these letters, or this whole word or its beginning.
fn has(words: &[ShellWord], letters: &str, long: &str) -> bool {
    words.iter().any(|word| match word.text.strip_prefix("--") {
        Some(given) => {
            let name = given.split('=').next().unwrap_or(given);
            name.len() > 2 && long.starts_with(name)
        }
        None => word.text.strip_prefix('-').is_some_and(|given| given.contains(|letter| letters.contains(letter))),
    })
}

fn whole(word: &ShellWord) -> WholePath<'_> {
    WholePath { path: &word.text, fits: word.fits, instead: "" }
}

fn files(words: &[ShellWord]) -> Vec<WholePath<'_>> {
    words.iter().filter(|word| !word.text.starts_with('-')).map(whole).collect()
}

fn all_but_last(words: &[ShellWord]) -> Vec<WholePath<'_>> {
    let mut files = files(words);
    files.pop();
    files
}

fn last(words: &[ShellWord]) -> Vec<WholePath<'_>> {
    files(words).pop().into_iter().collect()
}

/// Where `find` begins.
fn roots(words: &[ShellWord]) -> Vec<WholePath<'_>> {
    let roots: Vec<WholePath<'_>> =
        words.iter().take_while(|word| !word.text.starts_with(['-', '(', '!'])).map(whole).collect();
    if roots.is_empty() { vec![WholePath { path: HERE, fits: false, instead: "" }] } else { roots }
}

/// Whether a search that acts on its results can match a protected file.
fn finds_kept(words: &[ShellWord]) -> bool {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let starts = |pair: &[&str]| OF_FIND.contains(&pair[0]) && !is_looker(pair[1]);
    let acts = texts.contains(&"-delete") || texts.windows(2).any(starts);
    let loose = texts.iter().any(|word| matches!(*word, "!" | "-not" | "-o" | "-or" | ","));
    let mut patterns = texts.windows(2).filter(|pair| matches!(pair[0], "-name" | "-iname")).map(|pair| pair[1]);
    let fits = |pattern: &str| {
        let glob = GlobBuilder::new(pattern).case_insensitive(true).build();
        glob.map_or(true, |glob| KEPT.iter().any(|name| glob.compile_matcher().is_match(name)))
    };
    acts && (loose || patterns.all(fits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(line: &str) -> Vec<String> {
        ShellLine::read(line).taken_away().iter().map(|whole| whole.path.to_owned()).collect()
    }

    #[test]
    fn what_is_taken_away_is_named() {
        assert_eq!(taken("rm -rf x .y; mv p q .; sudo rmdir z"), ["x", ".y", "p", "q", "z"]);
        assert_eq!(taken("mv -t /tmp .claude"), ["/tmp", ".claude"]);
        assert_eq!(taken("rsync -a --delete /tmp/e/ ./; rsync -a a b"), ["./"]);
        assert_eq!(taken("git clean -fdx; git clean -fdX target; git clean -fd; git clean -ndx"), [".", "target"]);
        assert_eq!(taken("git stash -a; git -C x stash push --all; git stash -u"), [".", "x"]);
        assert_eq!(taken("git rm -r .claude; chmod -R 000 .; chmod +x a"), [".claude", "000", "."]);
        assert_eq!(taken("find -delete; find a b -exec rm {} +"), [".", "a", "b", "{}", "+"]);
        assert_eq!(taken("find . -name '*.pyc' -delete; find . -name '*.db' -delete"), ["."]);
        assert_eq!(taken("find . -name '*.pyc' -o -type f -delete"), ["."]);
        assert_eq!(taken("find . -type f -exec grep -l x {} +"), Vec::<String>::new());
    }

    #[test]
    fn what_is_read_with_all_that_is_in_it_is_named() {
        let read = |line: &str| -> Vec<String> {
            ShellLine::read(line).read_whole().iter().map(|whole| whole.path.to_owned()).collect()
        };
        assert_eq!(
            read("grep -rn x a; grep x b; rg y c; tar c d; cp -a e f"),
            ["x", "a", "y", "c", "c", "d", "e", "f"]
        );
        assert_eq!(read("find a -name x; find b -exec cat {} \\;"), ["b"]);
        assert_eq!(read("cd ~ && rg token"), ["token", "."]);
    }
}
