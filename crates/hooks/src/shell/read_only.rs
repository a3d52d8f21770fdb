//! Which commands only look: by a list, each with the words that would make it do more.

use std::env;
use std::fs;

use crate::shell::word::{ShellWord, WordCertainty};
use crate::shell::{OF_FIND, ShellCommand, ShellLine, is_setting, plain_words};

/// A program that only looks.
struct ReadOnlyProgram {
    name: &'static str,
    /// Options of one letter with which it does more.
    short: &'static str,
    /// The same for long ones; a program may be given the beginning of one.
    long: &'static [&'static str],
}

const fn looker(name: &'static str) -> ReadOnlyProgram {
    ReadOnlyProgram { name, short: "", long: &[] }
}

const LOOKERS: &[ReadOnlyProgram] = &[
    looker(":"),
    looker("basename"),
    looker("cat"),
    looker("cd"),
    looker("cut"),
    ReadOnlyProgram { name: "date", short: "s", long: &["set"] },
    looker("diff"),
    looker("dirname"),
    looker("du"),
    looker("echo"),
    looker("false"),
    ReadOnlyProgram { name: "file", short: "C", long: &["compile"] },
    looker("grep"),
    looker("head"),
    looker("id"),
    looker("jq"),
    looker("ls"),
    looker("nl"),
    ReadOnlyProgram { name: "printf", short: "v", long: &[] },
    looker("pwd"),
    looker("realpath"),
    ReadOnlyProgram { name: "rg", short: "", long: &["pre", "hostname-bin"] },
    looker("sleep"),
    ReadOnlyProgram { name: "sort", short: "o", long: &["output", "compress-program"] },
    looker("stat"),
    looker("tail"),
    looker("tr"),
    ReadOnlyProgram { name: "tree", short: "oR", long: &["output"] },
    looker("true"),
    looker("type"),
    looker("uname"),
    looker("uniq"),
    looker("wc"),
    looker("which"),
    looker("whoami"),
];
/// Subcommands of `git` that change nothing, and the options with which they do.
const LOOKERS_GIT: &[ReadOnlyProgram] = &[
    of_git("blame"),
    of_git("describe"),
    of_git("diff"),
    ReadOnlyProgram { name: "grep", short: "O", long: &["open-files-in-pager", "textconv", "ext-grep"] },
    of_git("log"),
    of_git("ls-files"),
    of_git("rev-parse"),
    of_git("show"),
    of_git("status"),
];

const fn of_git(name: &'static str) -> ReadOnlyProgram {
    ReadOnlyProgram { name, short: "", long: &["output", "ext-diff", "textconv"] }
}

/// Subcommands of `interlock` that store nothing. Interlock itself runs gates, so `gate` is safe for every caller.
const LOOKERS_INTERLOCK: &[&str] = &[
    "audit verify",
    "check",
    "completions",
    "doctor",
    "explain",
    "gate",
    "handoff check",
    "handoff schema",
    "help",
    "log",
    "plugin doctor",
    "question list",
    "route",
    "session list",
    "session next",
    "session show",
    "watch",
    "why",
    "workflow graph",
    "workflow list",
    "workflow schema",
    "workflow show",
];
/// Variables that are safe before a command. Any other could make the command run something else.
const SETTINGS: &[&str] = &["COLUMNS", "FORCE_COLOR", "LANG", "LANGUAGE", "LINES", "NO_COLOR", "TZ"];
const NOWHERE: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr"];

impl ShellLine {
    /// The line changes no file, as far as it can be read.
    pub(crate) fn only_looks(&self) -> bool {
        let mut loops = self.loops.iter();
        !self.computed && loops.all(|(variable, words)| runs_over(variable, words)) && self.commands.iter().all(looks)
    }

    /// It does nothing but apply a patch, and look.
    pub(crate) fn only_patches(&self) -> bool {
        let patches = |command: &ShellCommand| {
            let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
            words == ["apply_patch"] && command.output.is_empty() && command.settings.is_empty()
        };
        !self.computed
            && self.loops.is_empty()
            && self.commands.iter().all(|command| patches(command) || looks(command))
    }
}

/// A loop only looks if its variable means nothing to any program.
fn runs_over(variable: &str, words: &[ShellWord]) -> bool {
    let harmless = variable.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
    let known = |word: &ShellWord| word.sure != WordCertainty::Computed && !runs_when_read(&word.text);
    harmless && !variable.ends_with("path") && words.iter().all(known)
}

/// A program that takes the text as an array subscript runs the commands in it, even if it is quoted.
fn runs_when_read(text: &str) -> bool {
    text.contains("$(") || text.contains('`')
}

fn looks(command: &ShellCommand) -> bool {
    let settings = command.settings.iter().all(|word| word.sure != WordCertainty::Computed && sets_nothing(&word.text));
    let nowhere = command.output.iter().all(|word| NOWHERE.contains(&word.text.as_str()));
    let known = command.all_words().all(|word| word.sure != WordCertainty::Computed);
    if !(settings && nowhere && known) {
        return false;
    }
    let Some((first, words)) = command.words.split_first() else { return true };
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    // The value of a variable may be an option.
    let sure = words.iter().all(|word| word.sure == WordCertainty::Plain);
    match first.text.as_str() {
        "git" => sure && git_looks(&texts),
        "find" => sure && !texts.iter().any(|word| OF_FIND.contains(word) || finds_and_acts(word)),
        "[" | "test" => !texts.iter().any(|word| runs_when_read(word)),
        "command" => matches!(texts.first(), Some(&("-v" | "-V"))),
        "date" => sure && date_looks(&texts),
        "sed" => sure && sed_looks(&texts),
        "uniq" => sure && texts.iter().filter(|word| !word.starts_with('-')).count() < 2,
        name if is_interlock(name) => interlock_looks(words) || starts_session(words),
        name => LOOKERS.iter().find(|looker| looker.name == name).is_some_and(|looker| looker.looks(&texts, sure)),
    }
}

impl ReadOnlyProgram {
    fn looks(&self, words: &[&str], sure: bool) -> bool {
        let acts = |word: &&str| match word.strip_prefix("--") {
            Some(long) => {
                let name = long.split('=').next().unwrap_or(long);
                !name.is_empty() && self.long.iter().any(|acts| acts.starts_with(name))
            }
            None => {
                word.strip_prefix('-').is_some_and(|letters| letters.contains(|letter| self.short.contains(letter)))
            }
        };
        let may_act = !(self.short.is_empty() && self.long.is_empty());
        (sure || !may_act) && !words.iter().any(acts)
    }
}

/// A program that looks, whatever its words are.
pub(super) fn is_looker(name: &str) -> bool {
    LOOKERS.iter().any(|looker| looker.name == name && looker.short.is_empty() && looker.long.is_empty())
}

fn sets_nothing(setting: &str) -> bool {
    let name = setting.split('=').next().unwrap_or_default();
    is_setting(setting) && (SETTINGS.contains(&name) || name.starts_with("LC_"))
}

fn finds_and_acts(word: &&str) -> bool {
    ["-delete", "-fprint", "-fls"].iter().any(|acts| word.starts_with(acts))
}

/// A date that is only digits is set, and not shown.
fn date_looks(words: &[&str]) -> bool {
    let sets = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    let of_date = LOOKERS.iter().find(|looker| looker.name == "date");
    of_date.is_some_and(|looker| looker.looks(words, true)) && !words.iter().any(sets)
}

/// Lines by their numbers are all that it is asked for: its other commands write and run.
fn sed_looks(words: &[&str]) -> bool {
    let numbers = |script: &str| script.chars().all(|letter| letter.is_ascii_digit() || "$,;p ".contains(letter));
    matches!(words, ["-n", script, files @ ..] if numbers(script) && files.iter().all(|file| !file.starts_with('-')))
}

/// Whether `git` only looks, with these words.
fn git_looks(words: &[&str]) -> bool {
    let mut rest = words;
    // Of what concerns every command, only where it is run, and that nothing pages it.
    rest = loop {
        rest = match rest {
            ["-C", _, rest @ ..] | ["-P" | "--no-pager", rest @ ..] => rest,
            _ => break rest,
        }
    };
    let only_shows = |word: &&&str| ["-a", "-r", "-v", "-vv", "--all", "--list", "--show-current"].contains(*word);
    match rest {
        ["remote", "show" | "get-url", rest @ ..] => rest.iter().all(|word| !word.starts_with('-')),
        ["branch" | "remote", rest @ ..] => rest.iter().all(|word| only_shows(&word)),
        [command, rest @ ..] => {
            LOOKERS_GIT.iter().find(|looker| looker.name == *command).is_some_and(|looker| looker.looks(rest, true))
        }
        [] => false,
    }
}

/// This program, by its name or by where it lies.
fn is_interlock(name: &str) -> bool {
    let this = || env::current_exe().and_then(fs::canonicalize).ok();
    name == "interlock"
        || (name.starts_with('/') && fs::canonicalize(name).ok().is_some_and(|path| Some(path) == this()))
}

/// Whether `interlock` only looks, with these words.
pub(crate) fn interlock_looks(words: &[ShellWord]) -> bool {
    let asked = plain_words(words).join(" ");
    let is = |known: &&&str| asked.strip_prefix(**known).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    asked.is_empty() || LOOKERS_INTERLOCK.iter().any(|known| is(&known))
}

/// Whether `interlock` is to begin a session: no change of any file, and a model's to ask for.
pub(crate) fn starts_session(words: &[ShellWord]) -> bool {
    plain_words(words).starts_with(&["session", "start"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_looks_passes() {
        for line in [
            "ls -la && cat 'a b.txt' | grep -n \"x > y\" | wc -l",
            "git status --short; git -P log --oneline -5",
            "find . -name '*.rs' 2>/dev/null",
            "interlock session show s-1 --json 2>&1 | jq .groups",
            "LC_ALL=C sort a",
            "git -C sub diff -M && git log -m && git branch -a; git remote -v && git remote show origin",
            "find . -name '*.rs' -type f | sort -n",
            "if test -f a; then cat a; else echo none; fi",
            "for f in src/*.rs; do head -3 \"$f\"; done",
            "ls src/{a,b}.rs # what's here",
            "cat <<'EOF'\nit's\nEOF",
            "(cd src && ls) | head; time ls; ! grep x y",
            "echo \"$HOME\" $'it\\'s'",
            "uniq -c a; date +%F; command -v git",
            "sed -n '1,200p' src/a.rs; sed -n \"$ p\" a",
            "ls {a,b}",
            "[[ -f a && $x == b* ]] && cat a; [ -n \"$x\" ] || ls",
            "",
        ] {
            assert!(ShellLine::read(line).only_looks(), "{line}: {:?}", ShellLine::read(line));
        }
    }

    #[test]
    fn what_may_change_something_does_not() {
        for line in [
            "echo hello > a.txt",
            "cat a >> b",
            "echo x >& src/a.rs",
            "echo x >&src/a.rs",
            "echo x &> a",
            "cat a <> b",
            "{ ls; } > a",
            "> a",
            "sed -i s/a/b/ file",
            "sed -n 'w x' a",
            "sed -n 1p a -i",
            "sed -n '1e rm x' a",
            "sort {-o,f} x",
            "find . {-delete,-print}",
            "{rm,-rf,src}",
            "[ a > f ]",
            "[[ a > f ]]",
            "echo x >&2f",
            "git commit -am x",
            "git",
            "find . -delete",
            "find . -fprintf y %p",
            "find . -execdir rm {} +",
            "ls $(rm -rf x)",
            "echo \"`rm x`\"",
            "echo ${x:=$(rm y)}",
            "a[$(rm x)]=1",
            "ls\nrm x",
            "ls # what's here\nrm -rf src",
            "echo $'\\'' ; rm -rf src #'",
            "cat <<EOF\nit's\nEOF\nrm -rf src # '",
            "cat <<EOF\n$(rm x)\nEOF",
            "ls & rm x",
            "python3 -c 'open(\"a\",\"w\")'",
            "echo x >| a",
            "(cd a && touch b)",
            "if true; then rm x; fi",
            "for f in a; do rm $f; done",
            "for PATH in /tmp/x; do ls; done",
            "for path in /tmp/x; do ls; done",
            "cat<(rm -rf src)",
            "cat =(rm x)",
            "ls *(e:'rm x':)",
            "coproc rm x",
            "[[ -f $(rm x) ]]",
            "[ -v 'a[$(rm x)]' ]",
            "for v in 'a[$(rm x)]'; do [[ $v -eq 0 ]]; done",
            "f() { ls; }; f",
            "$cmd x",
            "eval ls",
            "echo 'unclosed",
            "git branch new",
            "git branch -D main",
            "git branch --edit-description",
            "git remote add o x",
            "git diff --output=x",
            "git log --ext-diff",
            "git grep -Orm fn",
            "git grep --open-files=rm fn",
            "git -c core.pager=rm log",
            "git --exec-path=/tmp/x status",
            "git log $x",
            "rg --pre ./x fn",
            "sort -o a a",
            "sort -uo a a",
            "sort --outp=a a",
            "uniq a b",
            "tree -o a",
            "date -s now",
            "date 01011200",
            "printf -v PATH /tmp/x",
            "file -C -m x",
            "GIT_EXTERNAL_DIFF=./x git diff",
            "PATH=/tmp/x:$PATH ls",
            "PATH=/tmp/x",
            "./ls",
            "/tmp/evil/cat x",
            "bash -c ls",
            "interlock answer q",
            "interlock backup src/a.rs",
            "/tmp/interlock session show",
            "export PATH=/x",
        ] {
            assert!(!ShellLine::read(line).only_looks(), "{line}");
        }
    }
}
