//! Conflicts that an agent has to settle: their description for the agent, and the check that they are settled.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::git::{GitHash, MergeConflict};
use interlock_system::files;
use interlock_system::sanitise;

/// Where a handoff names what is right as it lies there.
pub(super) const SETTLED: &str = "conflicts_settled";
/// How many conflicts are described, and the length of git's words on each.
const SHOWN: usize = 60;
const WORDS: usize = 400;

pub(super) struct PendingConflicts {
    /// The agent's own work.
    pub(super) yours: GitHash,
    /// The commit with the work that others merged.
    pub(super) theirs: GitHash,
    all: Vec<LaidOutConflict>,
}

struct LaidOutConflict {
    conflict: MergeConflict,
    /// Not everything can be marked: what is not text, what was removed or renamed. Then one side lies there, as if nothing
    /// were the matter.
    marked: bool,
}

impl PendingConflicts {
    /// Those of two sides that were just laid out in a folder. `None`: they go together.
    pub(super) fn of(folder: &Path, yours: GitHash, theirs: GitHash, conflicts: Vec<MergeConflict>) -> Option<Self> {
        let mut all = Self { yours, theirs, all: Vec::new() };
        let marked = |conflict: &MergeConflict| conflict.paths.iter().any(|path| all.has_marks(&folder.join(path)));
        let clashes =
            conflicts.into_iter().map(|conflict| LaidOutConflict { marked: marked(&conflict), conflict }).collect();
        all.all = clashes;
        (!all.all.is_empty()).then_some(all)
    }

    /// Is there something that has no marks?
    pub(super) fn hides(&self) -> bool {
        self.all.iter().any(|clash| !clash.marked)
    }

    /// A description of each conflict.
    pub(super) fn describe_all(&self) -> Vec<String> {
        let told = self.all.iter().take(SHOWN).map(|clash| match clash.marked {
            true => format!("{} holds the marks of a conflict", names(&clash.conflict)),
            false => format!("{} has no marks: {}", names(&clash.conflict), self.words(&clash.conflict)),
        });
        let more = self.all.len().saturating_sub(SHOWN);
        told.chain((more > 0).then(|| format!("and {more} more"))).collect()
    }

    /// Conflicts that are still unsettled. Conflict marks must be removed. A conflict without marks must be changed,
    /// or named as right in the handoff.
    pub(super) fn unsettled(&self, folder: &Path, changed: &[PathBuf], handoff: &Json) -> Vec<String> {
        let mut problems = Vec::new();
        for clash in &self.all {
            let conflict = &clash.conflict;
            let touched = || changed.iter().any(|file| conflict.is_about(file));
            if conflict.paths.iter().any(|path| self.has_marks(&folder.join(path))) {
                problems.push(format!("the marks of a merge conflict are still in {}", names(conflict)));
            } else if !clash.marked && !touched() && !is_named(conflict, handoff) {
                problems.push(format!(
                    "nothing was decided about {}, which has no marks: {}. Make of it what both sides wanted (`git show {}:PATH` \
                     shows what others have); if it is right as it lies there, name it in the list `{SETTLED}` of your handoff",
                    names(conflict),
                    self.words(conflict),
                    self.theirs
                ));
            }
        }
        let is_known = |file: &Path| self.all.iter().any(|clash| clash.conflict.is_about(file));
        for file in changed.iter().filter(|file| !is_known(file) && self.has_marks(&folder.join(file))) {
            // A file that was given another name is not settled by that.
            problems
                .push(format!("the marks of a merge conflict are in `{}`", sanitise::line(&file.to_string_lossy())));
        }
        let more = problems.len().saturating_sub(SHOWN);
        problems.truncate(SHOWN);
        problems.extend((more > 0).then(|| format!("and {more} more conflicts")));
        problems
    }

    /// Marks name the commits that they part, which nothing else in a file does.
    fn has_marks(&self, file: &Path) -> bool {
        let text = files::read_plain(file).unwrap_or_default();
        let is_mark = |line: &[u8]| {
            let line = line.trim_ascii_start();
            let side = match line.first() {
                Some(b'<') => &self.yours,
                Some(b'>') => &self.theirs,
                _ => return false,
            };
            let label = line.iter().position(|byte| *byte == b' ').and_then(|space| line.get(space + 1..));
            label.is_some_and(|label| label.starts_with(side.as_str().as_bytes()))
        };
        text.split(|byte| matches!(byte, b'\n' | b'\r')).any(is_mark)
    }

    /// As git says it, with words for the two commits. Names of files that have a commit in them stay what they are.
    fn words(&self, conflict: &MergeConflict) -> String {
        let mut words = conflict.words.clone();
        for (side, word) in [(&self.yours, "yours"), (&self.theirs, "theirs")] {
            for before in [" ", "("] {
                words = words.replace(&format!("{before}{side}"), &format!("{before}{word}"));
            }
        }
        let words = if words.is_empty() { "the two sides do not go together".to_owned() } else { words };
        let words: String = sanitise::line(&words).chars().take(WORDS).collect();
        format!("`{}`", words.replace('`', "'").trim_end_matches('.'))
    }
}

fn names(conflict: &MergeConflict) -> String {
    let names: Vec<String> = conflict.names().take(6).map(|name| format!("`{}`", shown(&name))).collect();
    if names.is_empty() { "the project".to_owned() } else { names.join(", ") }
}

fn shown(name: &str) -> String {
    sanitise::line(name).replace('`', "'")
}

/// Does the handoff say that it is right as it is?
fn is_named(conflict: &MergeConflict, handoff: &Json) -> bool {
    let named = handoff.get(SETTLED).and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let named: Vec<&str> = named.map(|name| name.trim_start_matches("./").trim_end_matches('/')).collect();
    conflict.names().any(|name| named.contains(&name.as_str()) || named.contains(&shown(&name).as_str()))
}
