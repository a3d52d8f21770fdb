//! The user's branches and tags: nothing of a run moves them, and if one has moved all the same, people are told.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::git::{Project, Result, remove};

pub(super) struct Refs {
    before: BTreeMap<String, String>,
    /// Where they are noted while the run is under way: one that was killed is looked at with the next.
    file: PathBuf,
}

impl Refs {
    pub(super) fn open(root: &Path, project: &Project) -> Result<Self> {
        let file = root.join("refs.json");
        let noted = fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let before = match noted {
            Some(before) => before,
            None => {
                let refs = project.refs()?;
                // That it cannot be noted is seen only by a run that is killed.
                let _ = remove(&file).and_then(|()| fs::write(&file, serde_json::to_vec(&refs).unwrap_or_default()));
                refs
            }
        };
        Ok(Self { before, file })
    }

    /// Those that are not where they were, in words.
    pub(super) fn moved(&self, project: &Project) -> Vec<String> {
        let _ = remove(&self.file);
        let Ok(after) = project.refs() else { return Vec::new() };
        let place = |hash: Option<&String>| hash.map_or("nothing", |hash| hash.get(..10).unwrap_or(hash)).to_owned();
        let names: std::collections::BTreeSet<&String> = self.before.keys().chain(after.keys()).collect();
        let moved = names.into_iter().filter(|name| self.before.get(*name) != after.get(*name));
        moved.map(|name| format!("{name}: {} → {}", place(self.before.get(name)), place(after.get(name)))).collect()
    }
}
