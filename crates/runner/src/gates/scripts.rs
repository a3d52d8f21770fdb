//! The files of a project that the commands of gates and of `prepare` run.
//!
//! An author that changes such a script decides by itself whether its work passes.

use std::path::Path;

use interlock_core::workflow::{GateCommandSource, Workflow};

use crate::git::files_at_head;

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash"];
/// Programs that run the script that they are given. Versions such as `python3.12` count too.
const INTERPRETERS: &[&str] =
    &["python", "node", "ruby", "perl", "php", "deno", "bun", "tsx", "lua", "pwsh", "source", "."];
/// Programs that run another one, with their options before it.
const WRAPPERS: &[&str] = &["env", "nice", "time", "command", "exec", "nohup", "timeout", "stdbuf", "xvfb-run", "!"];
/// Programs that read their commands from a file of the project.
const RUNNERS: &[(&str, &[&str])] = &[
    ("make", &["Makefile", "makefile", "GNUmakefile"]),
    ("just", &["justfile", "Justfile"]),
    ("npm", &["package.json"]),
    ("pnpm", &["package.json"]),
    ("yarn", &["package.json"]),
    ("tox", &["tox.ini"]),
    ("nox", &["noxfile.py"]),
    ("rake", &["Rakefile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
];

/// Files that exist in the last commit. A script that the work is to write is its author's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateFiles {
    /// Scripts that a command runs: protected.
    pub scripts: Vec<String>,
    /// Files from which a program reads its commands. Authors have to edit them, so changes are only pointed out.
    pub(crate) configuration: Vec<String>,
}

impl GateFiles {
    pub fn of(workflow: &Workflow, prepare: &[Vec<String>], project: &Path) -> Self {
        let mut files = Self::default();
        for gate in &workflow.gates {
            match &gate.run {
                GateCommandSource::Plan => {}
                GateCommandSource::Command(words) => {
                    files.read_command(&words.iter().map(|word| word.as_str()).collect::<Vec<_>>());
                }
            }
        }
        prepare.iter().for_each(|words| files.read_command(&words.iter().map(String::as_str).collect::<Vec<_>>()));
        for list in [&mut files.scripts, &mut files.configuration] {
            list.sort();
            list.dedup();
            *list = existing(list, project);
        }
        files
    }

    fn read_command(&mut self, words: &[&str]) {
        let Some((first, rest)) = words.split_first() else { return };
        let program = first.rsplit('/').next().unwrap_or(first);
        let base = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let is_option = |word: &&&str| word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit());
        if first.contains('=') || WRAPPERS.contains(&program) {
            return self.read_command(rest.get(rest.iter().take_while(is_option).count()..).unwrap_or_default());
        }
        self.script(first);
        if SHELLS.contains(&program) {
            let inline =
                rest.iter().position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'));
            if let Some(text) = inline.and_then(|at| rest.get(at + 1)) {
                return self.read_script_text(text);
            }
        }
        if SHELLS.contains(&program) || INTERPRETERS.contains(&program) || INTERPRETERS.contains(&base) {
            let runs_module = rest.first().is_some_and(|word| matches!(*word, "-m" | "-c" | "-e"));
            let script = rest.iter().find(|word| !word.starts_with('-') && !runs_module && **word != "run");
            script.iter().for_each(|script| self.path(script));
        }
        let known = RUNNERS.iter().filter(|(name, _)| *name == program).flat_map(|(_, files)| *files);
        self.configuration.extend(known.map(|file| (*file).to_owned()));
        let reads = program == "make" || program == "just";
        let file = rest.iter().position(|word| *word == "-f").filter(|_| reads).and_then(|at| rest.get(at + 1));
        self.configuration.extend(file.map(|file| normal(file)));
    }

    /// A word in the place of a program is a file of the project only with a folder before it.
    fn script(&mut self, word: &str) {
        if word.contains('/') {
            self.path(word);
        }
    }

    fn path(&mut self, word: &str) {
        if !word.is_empty() && !word.starts_with('/') && !word.contains("..") {
            self.scripts.push(normal(word));
        }
    }

    /// The commands of a line for the shell, as far as they can be read without one.
    fn read_script_text(&mut self, text: &str) {
        for command in text.split([';', '&', '|', '\n', '(', ')', '{', '}']) {
            let words: Vec<String> =
                command.split_whitespace().map(|word| word.trim_matches(['"', '\'', '`']).to_owned()).collect();
            let keyword = |word: &&String| ["if", "then", "else", "do", "while", "until"].contains(&word.as_str());
            let skipped = words.iter().take_while(keyword).count();
            self.read_command(&words.iter().skip(skipped).map(String::as_str).collect::<Vec<_>>());
        }
    }
}

fn normal(path: &str) -> String {
    path.trim_start_matches("./").to_owned()
}

/// Without a commit to look at, files that are there now.
fn existing(paths: &[String], project: &Path) -> Vec<String> {
    if paths.is_empty() {
        return Vec::new();
    }
    files_at_head(project, paths)
        .unwrap_or_else(|_| paths.iter().filter(|path| project.join(path).is_file()).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> GateFiles {
        let mut files = GateFiles::default();
        files.read_command(words);
        files
    }

    #[test]
    fn scripts_are_read_from_the_usual_ways_to_run_them() {
        for words in [
            &["./ci/check.sh"][..],
            &["ci/check.sh", "--all"],
            &["sh", "ci/check.sh"],
            &["bash", "-eu", "./ci/check.sh", "x"],
            &["env", "A=1", "sh", "ci/check.sh"],
            &["timeout", "60", "sh", "ci/check.sh"],
            &["sh", "-c", "cd . && CI=1 ./ci/check.sh || exit 1"],
            &["bash", "-ec", "if ! sh 'ci/check.sh'; then exit 1; fi"],
            &["python3.12", "ci/check.sh"],
            &["node", "--test", "ci/check.sh"],
        ] {
            assert_eq!(read(words).scripts, ["ci/check.sh"], "{words:?}");
        }
    }

    #[test]
    fn commands_that_run_no_script_of_the_project_name_none() {
        for words in [
            &["cargo", "test"][..],
            &["/usr/bin/true"],
            &["python3", "-m", "pytest", "tests"],
            &["test", "-f", "a.txt"],
        ] {
            assert_eq!(read(words), GateFiles::default(), "{words:?}");
        }
        assert_eq!(read(&["npm", "test"]).configuration, ["package.json"]);
        assert!(read(&["make", "check"]).configuration.contains(&"Makefile".to_owned()));
    }
}
