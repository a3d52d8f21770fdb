//! Features of the project that the files of a folder do not show: submodules, and whether a setting says how files
//! are stored or merged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::git::submodules::SubmoduleSnapshot;
use crate::git::{GitHash, GitResult, SessionRepo, path_of};

/// Files of a project that say how others are stored and merged.
pub(super) const ATTRIBUTES: &str = ".gitattributes";

#[derive(Debug)]
pub(super) struct RepoFeatures {
    /// Computed once, because submodules cannot be added.
    submodules: Mutex<Option<Arc<Vec<TreeFile>>>>,
    /// May files be stored otherwise than they lie there?
    converts: AtomicBool,
    /// The content of submodules, by the workspace folder that they are in.
    within: Mutex<BTreeMap<PathBuf, SubmoduleSnapshot>>,
    /// Held while attributes are laid out for a merge.
    pub(super) laid_out: Mutex<()>,
}

/// A file as a tree has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TreeFile {
    pub(super) mode: String,
    pub(super) hash: String,
    pub(super) path: PathBuf,
}

impl RepoFeatures {
    pub(super) fn new(converts: bool) -> Self {
        let converts = AtomicBool::new(converts);
        Self { submodules: Mutex::default(), converts, within: Mutex::default(), laid_out: Mutex::default() }
    }

    pub(super) fn noted(&self) -> MutexGuard<'_, BTreeMap<PathBuf, SubmoduleSnapshot>> {
        self.within.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionRepo {
    /// Where the project has submodules, and at which commits.
    pub(super) fn submodules(&self) -> GitResult<Arc<Vec<TreeFile>>> {
        let mut held = self.outline.submodules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*held {
            return Ok(Arc::clone(known));
        }
        let files = self.files_of(&self.integration()?)?;
        if files.iter().any(|file| file.path.ends_with(ATTRIBUTES)) {
            self.convert();
        }
        let submodules = files.into_iter().filter(|file| file.mode == "160000");
        Ok(Arc::clone(held.insert(Arc::new(submodules.collect()))))
    }

    /// Does anything say how files are stored or merged?
    pub(super) fn has_attributes(&self) -> GitResult<bool> {
        self.submodules()?;
        Ok(self.outline.converts.load(Ordering::Relaxed))
    }

    /// May files of this folder be stored otherwise than they lie there?
    pub(super) fn converts(&self, folder: &Path) -> GitResult<bool> {
        Ok(folder.join(ATTRIBUTES).exists() || self.has_attributes()?)
    }

    /// Records that a setting for storing files has changed.
    pub(super) fn convert(&self) {
        self.outline.converts.store(true, Ordering::Relaxed);
    }

    /// All files of a commit.
    pub(super) fn files_of(&self, commit: &GitHash) -> GitResult<Vec<TreeFile>> {
        let entries = self.git().run_for_list(&["ls-tree", "-r", "-z", commit.as_str()])?;
        Ok(entries.iter().filter_map(|entry| kept(entry)).collect())
    }
}

fn kept(entry: &[u8]) -> Option<TreeFile> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    let about = String::from_utf8_lossy(entry.get(..tab)?).into_owned();
    let mut words = about.split(' ').map(str::to_owned);
    let (mode, hash) = (words.next()?, words.nth(1)?);
    Some(TreeFile { mode, hash, path: path_of(entry.get(tab + 1..)?) })
}
