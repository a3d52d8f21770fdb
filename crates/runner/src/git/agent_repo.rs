//! The repository that an agent finds in its folder, for its own use: `git status`, `git diff` and `git log` work,
//! and a push leads nowhere. Changes that an agent makes to it have no effect.
//!
//! It has only the files that git requires of a repository, and they are rewritten only if they were touched.
//! Creating files is the largest cost of preparing an assignment if many were removed shortly before: ext4 passes
//! over each of those when it creates a new one.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::git::repo_guard::config;
use crate::git::{GitHash, GitResult, ProjectRepo};
use interlock_system::files;
use interlock_system::files::remove;

const INDEX: &str = "index";
/// The branch that the agent is on, in the form that needs no folder.
const BRANCH: &str = "packed-refs";

pub(super) struct AgentRepo {
    folder: PathBuf,
    folders: Vec<&'static str>,
    /// Those that are the same each time.
    files: Vec<(&'static str, Vec<u8>)>,
}

impl AgentRepo {
    /// In this folder. `borrowed`: where objects are that it does not have itself.
    pub(super) fn of(folder: &Path, project: &ProjectRepo, borrowed: &Path) -> Self {
        let borrowed = [&project.repository, borrowed].map(|path| path.join("objects").display().to_string());
        let mut files = vec![
            ("HEAD", b"ref: refs/heads/work\n".to_vec()),
            ("config", config(project, "bare = false").into_bytes()),
            ("objects/info/alternates", format!("{}\n", borrowed.join("\n")).into_bytes()),
        ];
        let more = [("shallow", project.shallow())].into_iter().chain(project.customs.info());
        files.extend(more.filter_map(|(name, text)| Some((name, text?))));
        let mut folders = vec!["objects", "objects/info", "refs"];
        if files.iter().any(|(name, _)| name.starts_with("info/")) {
            folders.push("info");
        }
        Self { folder: folder.join(".git"), folders, files }
    }

    /// Puts the agent on a commit, with the index of its files.
    pub(super) fn show(&self, commit: &GitHash, index: &Path) -> GitResult<()> {
        let branch = format!("# pack-refs with: peeled fully-peeled sorted \n{commit} refs/heads/work\n");
        let index = files::read_plain(index)?;
        if !self.is_as_made() || self.renew(branch.as_bytes(), &index).is_err() {
            // This removes everything that an earlier agent did to it, including links that lead elsewhere.
            remove(&self.folder)?;
            self.make()?;
            fs::write(self.folder.join(BRANCH), branch)?;
            fs::write(self.folder.join(INDEX), index)?;
        }
        Ok(())
    }

    fn make(&self) -> GitResult<()> {
        fs::create_dir(&self.folder)?;
        for folder in &self.folders {
            fs::create_dir(self.folder.join(folder))?;
        }
        for (name, text) in &self.files {
            fs::write(self.folder.join(name), text)?;
        }
        Ok(())
    }

    fn renew(&self, branch: &[u8], index: &[u8]) -> GitResult<()> {
        for (name, bytes) in [(BRANCH, branch), (INDEX, index)] {
            let path = self.folder.join(name);
            if !files::is_same(&path, bytes) {
                let flags = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
                OpenOptions::new().write(true).truncate(true).custom_flags(flags).open(&path)?.write_all(bytes)?;
            }
        }
        Ok(())
    }

    /// Is everything there that was made, as it was made, and nothing else?
    fn is_as_made(&self) -> bool {
        let same = |(name, text): &(&str, Vec<u8>)| files::is_same(&self.folder.join(name), text);
        let is_folder = fs::symlink_metadata(&self.folder).is_ok_and(|found| found.is_dir());
        is_folder && self.entries() == Some(self.folders.len() + self.files.len() + 2) && self.files.iter().all(same)
    }

    /// How many entries there are, if each is one that was made.
    fn entries(&self) -> Option<usize> {
        let mut count = 0;
        for folder in [""].iter().chain(&self.folders) {
            for entry in fs::read_dir(self.folder.join(folder)).ok()? {
                let path = entry.ok()?.path();
                let name = path.strip_prefix(&self.folder).ok()?.to_str()?;
                let found = fs::symlink_metadata(&path).ok()?;
                let is_made =
                    if found.is_dir() { self.folders.contains(&name) } else { self.is_file(name) && is_plain(&found) };
                count += usize::from(is_made.then_some(true)?);
            }
        }
        Some(count)
    }

    fn is_file(&self, name: &str) -> bool {
        name == INDEX || name == BRANCH || self.files.iter().any(|(file, _)| *file == name)
    }
}

/// A file with a second hard link may also be a file outside of this repository.
fn is_plain(found: &fs::Metadata) -> bool {
    found.is_file() && found.nlink() == 1
}
