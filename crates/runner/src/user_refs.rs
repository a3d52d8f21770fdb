//! The user's refs and settings in the repository. A run moves none of them. If one has moved all the same, the
//! report lists it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::git::{GitResult, ProjectRepo};
use interlock_system::files;
use interlock_system::files::remove;

/// Results of sessions. Others that run at the same time make theirs grow.
const RESULTS: &str = "refs/heads/interlock/";

pub(super) struct UserRefs {
    before: BTreeMap<String, String>,
    /// The branch of this session, which is Interlock's to move.
    result: String,
    /// Where it is noted while the run is under way: one that was killed is looked at with the next.
    file: PathBuf,
}

impl UserRefs {
    pub(super) fn open(root: &Path, project: &ProjectRepo, result: String) -> GitResult<Self> {
        let file = root.join("refs.json");
        let noted = files::read_plain(&file).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let before = match noted {
            Some(before) => before,
            None => {
                let refs = project.standing(&result)?;
                // That it cannot be noted is seen only by a run that is killed.
                let _ = remove(&file).and_then(|()| fs::write(&file, serde_json::to_vec(&refs).unwrap_or_default()));
                refs
            }
        };
        Ok(Self { before, result, file })
    }

    /// Descriptions of everything that has moved.
    pub(super) fn moved(&self, project: &ProjectRepo) -> Vec<String> {
        let _ = remove(&self.file);
        let after = match project.standing(&self.result) {
            Ok(after) => after,
            Err(error) => return vec![format!("your repository, which cannot be looked at any more ({error}),")],
        };
        let names: BTreeSet<&String> = self.before.keys().chain(after.keys()).collect();
        let moved = names.into_iter().filter_map(|name| {
            let (from, to) = (self.before.get(name), after.get(name));
            (from != to && !is_usual(project, name, from, to)).then(|| told(name, from, to))
        });
        moved.collect()
    }
}

/// Other sessions begin, and their results grow.
fn is_usual(project: &ProjectRepo, name: &str, from: Option<&String>, to: Option<&String>) -> bool {
    name.starts_with(RESULTS)
        && match (from, to) {
            (Some(from), Some(to)) => project.grew(from, to).unwrap_or(false),
            (from, _) => from.is_none(),
        }
}

fn told(name: &str, from: Option<&String>, to: Option<&String>) -> String {
    if name.starts_with(".git/") {
        return format!("{name} changed");
    }
    let is_hash = |place: &String| place.bytes().all(|byte| byte.is_ascii_hexdigit());
    let place = |place: Option<&String>| match place {
        Some(place) if is_hash(place) => place.get(..10).unwrap_or(place).to_owned(),
        Some(place) => place.clone(),
        None => "nothing".to_owned(),
    };
    format!("{name}: {} → {}", place(from), place(to))
}
