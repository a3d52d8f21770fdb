//! Commands that cannot fail, and groups that nothing checks.
//!
//! A check that always passes is a claim, not evidence. Plans are written by agents, so this reads the usual ways to
//! write such a check. It runs nothing, and a command that it does not recognise counts as one that can fail.

use crate::id::Name;
use crate::state::Group;
use crate::workflow::model::{Gate, GateCommandSource, PhasePerformer, Workflow};

/// Programs that run another one: its name comes after their options and assignments.
const WRAPPERS: &[&str] = &["env", "nice", "time", "command", "exec", "nohup", "timeout", "stdbuf"];
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash"];
/// Programs that read a program from their arguments, with the option that does so.
const INLINE: &[(&str, &str)] =
    &[("python", "-c"), ("node", "-e"), ("ruby", "-e"), ("perl", "-e"), ("php", "-r"), ("bun", "-e")];
/// Arguments with which a program only says what it is.
const SELF_DESCRIPTIONS: &[&str] = &["--version", "--help", "-V", "-VV", "-version", "-help"];
/// Modules of Python that do nothing but print.
const PRINTING_MODULES: &[&str] = &["this", "antigravity", "__hello__"];
/// Programs that look at files and start nothing.
const LOOKERS: &[&str] = &[
    "ls",
    "cat",
    "test",
    "[",
    "stat",
    "file",
    "wc",
    "head",
    "tail",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "diff",
    "cmp",
    "touch",
    "mkdir",
    "cp",
    "mv",
    "rm",
    "ln",
    "chmod",
    "which",
    "date",
    "uname",
    "whoami",
    "id",
    "du",
    "df",
    "sort",
    "uniq",
    "tree",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "realpath",
    "readlink",
    "basename",
    "dirname",
    "jq",
    "yq",
    "cd",
];
/// Commands of git that run no hook, no alias and no program.
const LOOKING_GIT: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "grep",
    "branch",
    "tag",
    "describe",
    "cat-file",
    "blame",
];
/// Programs that succeed whatever they are given.
const ALWAYS_SUCCEED: &[&str] = &["true", ":", "echo", "printf", "sleep", "pwd"];

/// Whether a check can fail, as far as its words show.
pub fn can_fail(command: &[Name]) -> bool {
    let words: Vec<&str> = command.iter().map(Name::as_str).collect();
    !always_succeeds(&words)
}

fn always_succeeds(words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else { return true };
    let program = first.rsplit('/').next().unwrap_or(first);
    if first.contains('=') && !first.starts_with('=') {
        return always_succeeds(rest);
    }
    if WRAPPERS.contains(&program) {
        let is_option = |word: &&&str| word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit());
        let skipped = rest.iter().take_while(is_option).count();
        let wrapped = rest.get(skipped..).unwrap_or_default();
        return !wrapped.is_empty() && always_succeeds(wrapped);
    }
    if SHELLS.contains(&program) {
        let script = rest.iter().position(|word| word.starts_with('-') && word.ends_with('c'));
        let script = script.and_then(|index| rest.get(index.saturating_add(1)));
        return script.is_some_and(|script| script_always_succeeds(script));
    }
    let exits_well = program == "exit" && matches!(rest, [] | ["0"]);
    let of_project = first.contains('/') && !first.starts_with('/');
    let describes_itself =
        !of_project && (matches!(rest, [only] if SELF_DESCRIPTIONS.contains(only)) || is_version(program, rest));
    let is_test = matches!(program, "test" | "[" | "[[");
    ALWAYS_SUCCEED.contains(&program)
        || exits_well
        || describes_itself
        || is_test && test_always_holds(rest)
        || inline_does_nothing(program, rest)
}

fn is_version(program: &str, rest: &[&str]) -> bool {
    matches!((program, rest), ("git" | "go" | "cargo", ["version"]))
}

/// `test 1`, `[ x = x ]`: the words alone decide.
fn test_always_holds(words: &[&str]) -> bool {
    let words: Vec<&str> = words.iter().copied().filter(|word| !matches!(*word, "]" | "]]")).map(unquoted).collect();
    if words.iter().any(|word| word.contains(['$', '`'])) {
        return false;
    }
    match words.as_slice() {
        [word] | ["-n", word] => !word.is_empty() && !matches!(*word, "!" | "-n" | "-z"),
        ["-z", word] => word.is_empty(),
        [one, "=" | "==" | "-eq" | "-le" | "-ge", other] => one == other,
        _ => false,
    }
}

/// An interpreter with a program in its arguments that does nothing: `python3 -c pass`.
fn inline_does_nothing(program: &str, rest: &[&str]) -> bool {
    let base = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if let ("python", ["-m", module]) = (base, rest) {
        return PRINTING_MODULES.contains(module);
    }
    let option = INLINE.iter().find(|(name, _)| *name == base).map(|(_, option)| *option);
    let text = option.and_then(|option| rest.iter().position(|word| *word == option));
    let Some(text) = text.and_then(|at| rest.get(at.saturating_add(1)..)) else { return false };
    let text = text.join(" ");
    let text = unquoted(&text).trim().trim_end_matches(';').trim();
    let is_comment = (text.starts_with('#') || text.starts_with("//")) && !text.contains('\n');
    let prints = ["print(", "console.log("].iter().any(|call| {
        let within = text.strip_prefix(call).and_then(|rest| rest.strip_suffix(')'));
        within.is_some_and(|within| !within.contains(['(', ')', ';', '\n']))
    });
    let is_literal = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let nothing =
        ["pass", "None", "True", "true", "exit(0)", "exit()", "process.exit(0)", "process.exit()", "import this"];
    is_literal || is_comment || prints || nothing.contains(&text)
}

fn unquoted(word: &str) -> &str {
    let within = |quote: char| word.strip_prefix(quote).and_then(|word| word.strip_suffix(quote));
    within('"').or_else(|| within('\'')).unwrap_or(word)
}

/// Whether a check runs no code of the project, as far as its words show for certain: it looks at files, or cannot fail.
pub fn runs_no_project_code(command: &[Name]) -> bool {
    let words: Vec<&str> = command.iter().map(Name::as_str).collect();
    only_looks(&words)
}

fn only_looks(words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else { return true };
    if always_succeeds(words) && !SHELLS.contains(first) {
        return true;
    }
    let program = first.rsplit('/').next().unwrap_or(first);
    if first.contains('=') && !first.starts_with('=') {
        return only_looks(rest);
    }
    if first.contains('/') && !first.starts_with('/') {
        return false;
    }
    if WRAPPERS.contains(&program) {
        let is_option = |word: &&&str| word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit());
        return only_looks(rest.get(rest.iter().take_while(is_option).count()..).unwrap_or_default());
    }
    if SHELLS.contains(&program) {
        let script = rest.iter().position(|word| word.starts_with('-') && word.ends_with('c'));
        let script = script.and_then(|index| rest.get(index.saturating_add(1)));
        return script.is_some_and(|script| script_only_looks(script));
    }
    match program {
        "git" => rest.first().is_some_and(|command| LOOKING_GIT.contains(command)),
        "find" => !rest.iter().any(|word| word.starts_with("-exec") || word.starts_with("-ok")),
        _ => LOOKERS.contains(&program),
    }
}

/// Every command of the script only looks. A script that calls others in its words is not certain.
fn script_only_looks(script: &str) -> bool {
    if script.contains("$(") || script.contains('`') || script.contains("<(") {
        return false;
    }
    script.split([';', '\n', '&', '|']).map(str::trim).filter(|part| !part.is_empty()).all(|part| {
        let words: Vec<&str> =
            part.split_whitespace().filter(|word| !matches!(*word, "(" | ")" | "{" | "}" | "!")).collect();
        part.starts_with("set ") || only_looks(&words)
    })
}

/// The last command of a script decides, unless `set -e` lets each of them fail.
fn script_always_succeeds(script: &str) -> bool {
    let stops_early = script.contains("set -e") || script.contains("errexit");
    let mut commands = script.split([';', '\n']).map(str::trim).filter(|part| !part.is_empty());
    if stops_early {
        return commands.all(list_always_succeeds);
    }
    commands.next_back().is_none_or(list_always_succeeds)
}

/// `a || b` succeeds if `b` always does; `a && b` only if both do; a pipe ends as its last command does.
fn list_always_succeeds(list: &str) -> bool {
    if let Some((_, last)) = list.rsplit_once("||") {
        return chain_always_succeeds(last);
    }
    chain_always_succeeds(list)
}

fn chain_always_succeeds(chain: &str) -> bool {
    chain.split("&&").all(|part| {
        let last = part.rsplit('|').next().unwrap_or(part);
        let words: Vec<&str> = last.split_whitespace().filter(|word| !matches!(*word, "(" | ")" | "{" | "}")).collect();
        always_succeeds(&words) || last.trim().starts_with("set ")
    })
}

impl Group {
    /// Its plan has a check that can fail.
    pub fn has_real_checks(&self) -> bool {
        self.checks.iter().any(|check| can_fail(check))
    }
}

impl Workflow {
    /// Commands run for the group, and none of them runs code of the project: they pass whatever its tests would say.
    pub fn checks_without_project_code(&self, group: &Group) -> Vec<String> {
        if self.checks_nothing(group) {
            return Vec::new();
        }
        let commands = self.gates_of_groups().flat_map(|gate| match &gate.run {
            GateCommandSource::Plan => group.checks.iter().collect::<Vec<_>>(),
            GateCommandSource::Command(command) => vec![command],
        });
        let mut shown = Vec::new();
        for command in commands {
            if !runs_no_project_code(command) {
                return Vec::new();
            }
            shown.push(command.iter().map(Name::as_str).collect::<Vec<_>>().join(" "));
        }
        shown
    }

    fn gates_of_groups(&self) -> impl Iterator<Item = &Gate> {
        let of_phases = self.phases.iter().filter_map(|phase| match phase.performer {
            PhasePerformer::Gate(gate) => Some(gate),
            PhasePerformer::Role(_) | PhasePerformer::ByDomain(_) | PhasePerformer::Merge => None,
        });
        let gates = self.completion.gates.iter().chain(&self.completion.session_gates).copied().chain(of_phases);
        gates.map(|gate| self.gate(gate))
    }

    /// No gate that this group passes on its way runs a command that can fail.
    pub fn checks_nothing(&self, group: &Group) -> bool {
        !self.gates_of_groups().any(|gate| gate.checks(group))
    }

    /// The gate that demands checks of every planned group, if there is one.
    pub(crate) fn gate_that_requires_checks(&self) -> Option<&Gate> {
        self.gates.iter().find(|gate| gate.required)
    }
}

impl Gate {
    fn checks(&self, group: &Group) -> bool {
        match &self.run {
            GateCommandSource::Plan => group.has_real_checks(),
            GateCommandSource::Command(command) => can_fail(command),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(words: &[&str]) -> bool {
        can_fail(&words.iter().map(|word| Name::new(word)).collect::<Vec<_>>())
    }

    #[test]
    fn command_that_always_succeeds_cannot_fail() {
        let vacuous: &[&[&str]] = &[
            &["true"],
            &["/bin/true"],
            &[":"],
            &["exit", "0"],
            &["echo", "all", "tests", "passed"],
            &["env", "CI=1", "true"],
            &["timeout", "5", "true"],
            &["sh", "-c", "true"],
            &["bash", "-lc", "cargo test || true"],
            &["sh", "-c", "npm test; exit 0"],
            &["sh", "-c", "npm test; echo done"],
            &["sh", "-c", "npm test | echo ok"],
            &["sh", "-c", "echo a && echo b"],
            &["sh", "-c", ""],
            &["python3", "-c", ""],
            &["python3.12", "-c", "pass"],
            &["python3", "-m", "this"],
            &["python3", "-c", "print('ok')"],
            &["node", "-e", ""],
            &["node", "-e", "process.exit(0)"],
            &["cargo", "--version"],
            &["node", "-V"],
            &["npm", "--help"],
            &["git", "version"],
            &["test", "1"],
            &["[", "1", "]"],
            &["test", "a", "=", "a"],
            &["sh", "-c", "[ 1 ]"],
            &["sh", "-c", "python3 -c \"\""],
            &[],
        ];
        for words in vacuous {
            assert!(!fails(words), "{words:?}");
        }
    }

    #[test]
    fn command_that_tests_something_can_fail() {
        let real: &[&[&str]] = &[
            &["cargo", "test"],
            &["test", "-f", "a"],
            &["false"],
            &["exit", "1"],
            &["sh", "-c", "cargo test"],
            &["sh", "-c", "cd app && npm test"],
            &["sh", "-c", "set -e; npm test; echo done"],
            &["sh", "-c", "true || false; npm test"],
            &["sh", "-c", "cat log | grep ok"],
            &["bash", "tests.sh"],
            &["make", "true"],
            &["./app", "--version"],
            &["python3", "-c", "import app"],
            &["python3", "-c", "print(app.run())"],
            &["python3", "-m", "pytest"],
            &["node", "-e", "require('./app')"],
            &["sh", "-c", "test -n \"$RESULT\""],
            &["test", "a", "=", "b"],
            &["git", "status"],
        ];
        for words in real {
            assert!(fails(words), "{words:?}");
        }
    }

    #[test]
    fn command_that_only_looks_at_files_runs_no_project_code() {
        let names = |words: &[&str]| words.iter().map(|word| Name::new(word)).collect::<Vec<_>>();
        let looking: &[&[&str]] = &[
            &["git", "status"],
            &["ls"],
            &["cat", "a.txt"],
            &["test", "-f", "a"],
            &["env", "A=1", "grep", "x", "a"],
            &["sh", "-c", "ls && cat a | grep x"],
            &["find", ".", "-name", "a"],
            &["true"],
        ];
        for words in looking {
            assert!(runs_no_project_code(&names(words)), "{words:?}");
        }
        let running: &[&[&str]] = &[
            &["cargo", "test"],
            &["./ls"],
            &["git", "bisect", "run", "x"],
            &["find", ".", "-exec", "sh", "{}", ";"],
            &["sh", "-c", "cd app && npm test"],
            &["sh", "-c", "test \"$(npm test)\" = ok"],
            &["sh", "tests.sh"],
            &["python3", "-c", "import app"],
        ];
        for words in running {
            assert!(!runs_no_project_code(&names(words)), "{words:?}");
        }
    }
}
