//! Commands that cannot fail, and groups that nothing checks.
//!
//! A check that always passes is a claim, not evidence. Plans are written by agents, so this reads the usual ways to
//! write such a check. It runs nothing, and a command that it does not recognise counts as one that can fail.

use crate::id::Name;
use crate::state::Group;
use crate::workflow::model::{Gate, GateRun, Performer, Workflow};

/// Programs that run another one: its name comes after their options and assignments.
const WRAPPERS: &[&str] = &["env", "nice", "time", "command", "exec", "nohup", "timeout", "stdbuf"];
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash"];
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
    ALWAYS_SUCCEED.contains(&program) || exits_well
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
    /// No gate that this group passes on its way runs a command that can fail.
    pub fn checks_nothing(&self, group: &Group) -> bool {
        let of_phases = self.phases.iter().filter_map(|phase| match phase.performer {
            Performer::Gate(gate) => Some(gate),
            Performer::Role(_) | Performer::ByDomain(_) | Performer::Merge => None,
        });
        let gates = self.completion.gates.iter().chain(&self.completion.session_gates).copied().chain(of_phases);
        !gates.map(|gate| self.gate(gate)).any(|gate| gate.checks(group))
    }

    /// The gate that demands checks of every planned group, if there is one.
    pub(crate) fn gate_that_requires_checks(&self) -> Option<&Gate> {
        self.gates.iter().find(|gate| gate.required)
    }
}

impl Gate {
    fn checks(&self, group: &Group) -> bool {
        match &self.run {
            GateRun::Plan => group.has_real_checks(),
            GateRun::Command(command) => can_fail(command),
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
        ];
        for words in real {
            assert!(fails(words), "{words:?}");
        }
    }
}
