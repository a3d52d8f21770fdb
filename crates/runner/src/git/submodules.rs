//! Folders of submodules. The project has only a commit for each, so files that an agent writes there cannot be
//! accepted. They must not be lost silently: their state is noted when an agent begins, and compared when it hands
//! off.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::git::{Git, GitResult, Workspace, path_of};
use interlock_system::files::remove;

/// The metadata of a file that a change alters.
type FileStamp = (u64, u64, i64, i64);

/// Files in submodules when an agent began, and the changes that were reported to it since.
#[derive(Debug, Default)]
pub(super) struct SubmoduleSnapshot {
    before: BTreeMap<PathBuf, FileStamp>,
    told: BTreeMap<PathBuf, Option<FileStamp>>,
}

impl Workspace {
    /// Notes what lies in submodules now.
    pub(crate) fn note_submodules(&self) -> GitResult<()> {
        let before = self.within_submodules()?;
        self.vault.outline.noted().insert(self.folder.clone(), SubmoduleSnapshot { before, told: BTreeMap::new() });
        Ok(())
    }

    /// Files in submodules that were added, changed or removed since they were noted. Each change is reported once.
    pub(super) fn strays(&self) -> GitResult<Vec<PathBuf>> {
        let now = self.within_submodules()?;
        let mut all = self.vault.outline.noted();
        let noted = all.entry(self.folder.clone()).or_default();
        let paths: BTreeSet<&PathBuf> = noted.before.keys().chain(now.keys()).collect();
        let changed = paths.into_iter().filter(|path| noted.before.get(*path) != now.get(*path));
        let changed: BTreeMap<PathBuf, Option<FileStamp>> =
            changed.map(|path| (path.clone(), now.get(path).copied())).collect();
        let strays = changed.iter().filter(|(path, sign)| noted.told.get(*path) != Some(sign));
        let strays = strays.map(|(path, _)| path.clone()).collect();
        noted.told = changed;
        Ok(strays)
    }

    fn within_submodules(&self) -> GitResult<BTreeMap<PathBuf, FileStamp>> {
        let mut seen = BTreeMap::new();
        for submodule in self.vault.submodules()?.iter() {
            self.look_into(&submodule.path, &mut seen)?;
        }
        Ok(seen)
    }

    /// The files in the folder of a submodule, except those that git ignores there: build output is not the agent's
    /// work.
    fn look_into(&self, submodule: &Path, seen: &mut BTreeMap<PathBuf, FileStamp>) -> GitResult<()> {
        let folder = self.folder.join(submodule);
        let Ok(found) = fs::symlink_metadata(&folder) else { return Ok(()) };
        if !found.is_dir() {
            see(seen, submodule.to_owned(), &found);
            return Ok(());
        }
        let Ok(mut inside) = fs::read_dir(&folder) else {
            // An agent has closed it: that much can be seen.
            see(seen, submodule.to_owned(), &found);
            return Ok(());
        };
        if inside.next().is_none() {
            return Ok(());
        }
        // An index that is not there: nothing of it is known to git, and no repository in it is asked.
        let nothing = self.vault.path().join("index-of-nothing");
        remove(&nothing)?;
        let git = self.vault.grounded(Git::on(self.vault.path(), &folder, &nothing));
        for name in git.run_for_list(&["ls-files", "--others", "--exclude-standard", "-z"])? {
            let path = path_of(&name);
            if let Ok(found) = fs::symlink_metadata(folder.join(&path)) {
                see(seen, submodule.join(path), &found);
            }
        }
        Ok(())
    }
}

fn see(seen: &mut BTreeMap<PathBuf, FileStamp>, path: PathBuf, found: &fs::Metadata) {
    seen.insert(path, (found.ino(), found.len(), found.ctime(), found.ctime_nsec()));
}
