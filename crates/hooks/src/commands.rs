//! Commands that are about to be run, and by whom.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use interlock_core::code::Code;
use interlock_core::id::Name;
use interlock_core::workflow::{WritePermission, builtin};

use crate::event::CommandRun;
use crate::globs::fitting;
use crate::next_steps::short;
use crate::path_ownership::{PathOwner, expanded, resolved};
use crate::policy::{HookDecision, HookPolicy};
use crate::shell::{ShellLine, ShellWord, WordCertainty, interlock_looks, plain_words, starts_session};
use interlock_app::library;

/// Commands that hooks run in place of the model.
const FOR_HOOKS: &[&str] = &["claim", "report", "hook", "run", "mcp"];
/// Tools that would give a model the token of an assignment, or take a handoff from it.
const TOOLS_FOR_HOOKS: &[&str] = &["claim_assignment", "report_handoff"];
/// Words of one command that are looked up, at most.
const LOOKED_UP: usize = 1024;

/// A path that a command would touch, the reason for the refusal, and the alternative.
type RefusedAccess = (PathBuf, &'static str, &'static str);

impl HookPolicy {
    pub(super) fn check_command(&self, run: &CommandRun) -> HookDecision {
        let from = match &run.folder {
            Some(folder) => resolved(&self.scene.folder.join(expanded(&folder.to_string_lossy()))),
            None => self.scene.folder.clone(),
        };
        let line = ShellLine::read(&run.command);
        if let Some((path, why, help)) = self.touches(&line, &run.command, &from) {
            return self.refuse_path(&path, why, help);
        }
        if let Some(refused) = self.runs_interlock(&line, &run.command) {
            return refused;
        }
        if let Some(refused) = self.changes_protected(&line, &from) {
            return refused;
        }
        if let Some(refused) = self.patches(&line, &run.patch, &from) {
            return refused;
        }
        self.runs_as_orchestrator(&line, run)
    }

    /// The first thing that a command would touch and is not to.
    fn touches(&self, line: &ShellLine, text: &str, from: &Path) -> Option<RefusedAccess> {
        let own = self.own_output();
        let looks = line.only_looks();
        for from in line.folders(from) {
            for path in line.named().into_iter().take(LOOKED_UP).flat_map(|(word, fits)| files(word, fits, &from)) {
                match self.ground.whose(&path, &from, &own) {
                    PathOwner::Secret(why) => return Some((path, why, "")),
                    PathOwner::Nobody(why) if !looks => return Some((path, why, "")),
                    PathOwner::Nobody(_) | PathOwner::Project(_) | PathOwner::Elsewhere => {}
                }
            }
            for whole in line.taken_away() {
                let held = |path: &PathBuf| self.ground.holds(path, &from);
                let mut files = files(whole.path, whole.fits, &from).into_iter();
                if let Some((path, why)) = files.find_map(|path| held(&path).map(|why| (path, why))) {
                    return Some((path, why, whole.instead));
                }
            }
            for whole in line.read_whole() {
                let held = |path: &PathBuf| self.ground.holds_keys(path, &from);
                let mut files = files(whole.path, whole.fits, &from).into_iter();
                if let Some((path, why)) = files.find_map(|path| held(&path).map(|why| (path, why))) {
                    return Some((path, why, "Name folders that the keys do not lie in."));
                }
            }
        }
        // A script may name it in its own way, and so may what is made while it runs.
        let (path, why) = self.ground.mentioned(&without(text, &own, &self.project)).filter(|_| !looks)?;
        Some((path, why, ""))
    }

    /// A command that does more than look names a protected path, or takes away a folder that one lies in.
    fn changes_protected(&self, line: &ShellLine, from: &Path) -> Option<HookDecision> {
        if self.courses.is_empty() || line.only_looks() {
            return None;
        }
        let inside = |path: &Path, from: &Path| match self.ground.whose(path, from, &[]) {
            PathOwner::Project(inside) => Some(inside),
            PathOwner::Nobody(_) | PathOwner::Secret(_) | PathOwner::Elsewhere => None,
        };
        for from in line.folders(from) {
            let named = line.parts().take(LOOKED_UP).map(|(word, fits)| (word, fits, false));
            let taken = line.taken_away().into_iter().map(|whole| (whole.path, whole.fits, true));
            for (word, fits, leads_on) in named.chain(taken) {
                let paths = files(word, fits, &from).into_iter().filter_map(|path| inside(&path, &from));
                if let Some(refused) = paths.into_iter().find_map(|path| self.refuse_protected(&path, leads_on)) {
                    return Some(refused);
                }
            }
        }
        None
    }

    fn runs_interlock(&self, line: &ShellLine, text: &str) -> Option<HookDecision> {
        for words in line.of_interlock() {
            let asked = plain_words(words).join(" ");
            if let Some(refused) = self.drops_requirement(words) {
                return Some(refused);
            }
            if starts_session(words) && self.scene.agent.is_none() {
                if let Some(refused) = self.brings_rules(words) {
                    return Some(refused);
                }
            } else if !self.courses.is_empty() && !interlock_looks(words) {
                let first = asked.split(' ').next().unwrap_or_default();
                let whose =
                    if FOR_HOOKS.contains(&first) { "is not for a model: its hooks do it" } else { "is for people" };
                let what = format!("`interlock {}` {whose}", short(&asked));
                return Some(HookDecision::refuse(Code::ForOthers, what, self.instead()));
            }
        }
        let hidden = line.unread && !self.courses.is_empty() && text.contains("interlock");
        let what = "a command that cannot be read, and that names `interlock`, is not run";
        hidden.then(|| HookDecision::refuse(Code::ForOthers, what, self.instead()))
    }

    /// A model that could name any file could write its own rules first.
    fn brings_rules(&self, words: &[ShellWord]) -> Option<HookDecision> {
        if words.iter().any(|word| word.text == "--allow" || word.text.starts_with("--allow=")) {
            let what = "`interlock session start --allow` is for people: no model allows protected paths";
            return Some(HookDecision::refuse(Code::ForOthers, what, "Leave `--allow` out."));
        }
        let at = words.iter().position(|word| word.text.starts_with("--workflow"))?;
        let named = match words[at].text.split_once('=') {
            Some((_, named)) => named,
            None => words.get(at + 1).map_or("", |word| word.text.as_str()),
        };
        let sure = words[at..].iter().take(2).all(|word| word.sure == WordCertainty::Plain);
        let file = self.project.join(library::PROJECT_FILE);
        if sure && resolved(&self.scene.folder.join(named)) == resolved(&file) {
            return None;
        }
        if sure && builtin(named).is_some() {
            return self.demands_less(&file, named);
        }
        let what = format!("`{}` is no workflow of this project", short(named));
        let instead = "Leave it out for the project's own; with another file, a person starts the session.";
        Some(HookDecision::refuse(Code::UnknownWorkflow, what, instead))
    }

    /// A built-in workflow in the place of the project's own, where it demands less.
    fn demands_less(&self, own: &Path, named: &str) -> Option<HookDecision> {
        if !own.exists() {
            return None;
        }
        let instead = "Leave it out for the project's own, or let a person start the session.";
        let what = match library::dropped_by_builtin(&own.display().to_string(), named) {
            Ok(dropped) if dropped.is_empty() => return None,
            Ok(dropped) => {
                let list: Vec<&str> = dropped.iter().map(Name::as_str).collect();
                format!("`{named}` demands less than the workflow of this project: {}", list.join("; "))
            }
            Err(_) => format!("`{named}` cannot be compared with the workflow of this project"),
        };
        Some(HookDecision::refuse(Code::RequirementDropped, what, instead))
    }

    /// Requirements belong to the project: a model may not choose how its own work is judged.
    fn drops_requirement(&self, words: &[ShellWord]) -> Option<HookDecision> {
        let instead = "Leave it out, or let a person start the session.";
        let refuse = |what: String| Some(HookDecision::refuse(Code::RequirementDropped, what, instead));
        if words.iter().any(|word| word.text.starts_with("--investigation")) {
            return refuse("only a person declares an investigation".to_owned());
        }
        if let Some(word) = computed_option(words).filter(|_| starts_session(words)) {
            return refuse(format!("`{}` cannot be read, and may drop a requirement", short(&word.text)));
        }
        let mut settings = BTreeMap::new();
        for (at, word) in words.iter().enumerate().filter(|(_, word)| word.text.starts_with("--set")) {
            let next = words.get(at + 1);
            let (setting, sure) = match word.text.split_once('=') {
                Some((_, setting)) => (setting, word.sure == WordCertainty::Plain),
                None => (
                    next.map_or("", |word| word.text.as_str()),
                    next.is_some_and(|word| word.sure == WordCertainty::Plain),
                ),
            };
            let Some((name, value)) = setting.split_once('=').filter(|_| sure) else {
                return refuse(format!("the setting `{}` cannot be read", short(setting)));
            };
            settings.insert(Name::new(name), Name::new(value));
        }
        let named = words.iter().position(|word| word.text.starts_with("--workflow")).and_then(|at| {
            words[at]
                .text
                .split_once('=')
                .map(|(_, named)| named)
                .or_else(|| words.get(at + 1).map(|word| word.text.as_str()))
        });
        if settings.is_empty() {
            return None;
        }
        let file = match named {
            Some(named) if builtin(named).is_some() => named.to_owned(),
            Some(named) => self.scene.folder.join(named).display().to_string(),
            None => self.project.join(library::PROJECT_FILE).display().to_string(),
        };
        let Ok((workflow, _)) = library::pinnable(&file) else {
            return refuse(format!("the settings of `{}` cannot be checked", short(&file)));
        };
        let dropped = workflow.dropped_requirements(&settings);
        let list: Vec<String> = dropped.iter().map(ToString::to_string).collect();
        if list.is_empty() { None } else { refuse(format!("only a person may choose this: {}", list.join("; "))) }
    }

    /// The files of a patch, from wherever the command has gone.
    fn patches(&self, line: &ShellLine, patch: &[PathBuf], from: &Path) -> Option<HookDecision> {
        let mut folders = line.folders(from);
        if folders.len() > 1 {
            folders.remove(0);
        }
        let judged = folders.iter().map(|from| self.check_edit(patch, from));
        judged.into_iter().find(|finding| !matches!(finding, HookDecision::Pass))
    }

    fn runs_as_orchestrator(&self, line: &ShellLine, run: &CommandRun) -> HookDecision {
        let all = self.orchestrators().all(|writes| *writes == WritePermission::Everything);
        // The files of the patch were checked already, and a command that only applies a patch does nothing else.
        let patches = !run.patch.is_empty() && line.only_patches();
        if self.scene.agent.is_some() || all || line.only_looks() || patches {
            return HookDecision::Pass;
        }
        let what = "only roles change things, and the orchestrator is none: commands that look are all it may run";
        HookDecision::refuse(Code::NotYoursToWrite, what, self.next())
    }

    pub(super) fn check_tool_call(&self, tool: &str) -> HookDecision {
        if self.courses.is_empty() || !TOOLS_FOR_HOOKS.contains(&tool) {
            return HookDecision::Pass;
        }
        let what =
            format!("`{tool}` is not needed here: the hooks claim when a sub-agent starts, and submit when it ends");
        HookDecision::refuse(Code::ForOthers, what, self.instead())
    }

    fn instead(&self) -> String {
        match self.scene.agent {
            Some(_) => "End with your handoff.".to_owned(),
            None => self.next(),
        }
    }
}

/// The files that a word names.
fn files(word: &str, fits: bool, from: &Path) -> Vec<PathBuf> {
    if fits { fitting(word, from) } else { vec![expanded(word)] }
}

/// A text without where an agent leaves its handoff, by whatever way it is named.
fn without(text: &str, own: &[PathBuf], project: &Path) -> String {
    let mut text = text.to_owned();
    for own in own {
        text = text.replace(&own.display().to_string(), "");
        if let Ok(inside) = own.strip_prefix(project) {
            text = text.replace(&inside.display().to_string(), "");
        }
    }
    text
}

/// A word that the shell makes while it runs, where an option could stand.
fn computed_option(words: &[ShellWord]) -> Option<&ShellWord> {
    let takes_text = |word: &ShellWord| ["--title", "--mission", "--workflow", "--set"].contains(&word.text.as_str());
    let after_option = |at: usize| at.checked_sub(1).and_then(|before| words.get(before)).is_some_and(takes_text);
    let named = |word: &ShellWord| word.text.starts_with("--") && word.text.contains('=');
    let found = words
        .iter()
        .enumerate()
        .find(|(at, word)| word.sure != WordCertainty::Plain && !after_option(*at) && !named(word));
    found.map(|(_, word)| word)
}
