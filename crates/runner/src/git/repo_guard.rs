//! Conditions that Interlock's own repositories must meet before git is started on them. Agents can reach these
//! repositories, and git obeys the files that it finds there.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::git::{GitError, GitResult, ProjectRepo};
use interlock_system::files::real_folder;
use interlock_system::files::remove;
use interlock_system::files::sweep;

#[derive(Debug)]
pub(super) struct RepoGuard {
    path: PathBuf,
    /// The device and number of the folder: another one in its place, or a link, is not it.
    identity: (u64, u64),
    /// Files that git obeys, and what Interlock wrote there; `None`: there is no such file.
    files: Vec<(&'static str, Option<Vec<u8>>)>,
    mending: Mutex<()>,
}

impl RepoGuard {
    /// The folder as it is now, which has to stay the same one, made what it has to be like.
    pub(super) fn of(path: &Path, project: &ProjectRepo) -> GitResult<Self> {
        let borrowed = format!("{}\n", project.repository.join("objects").display());
        let mut files = vec![
            ("HEAD", Some(b"ref: refs/heads/integration\n".to_vec())),
            ("config", Some(config(project, "bare = true").into_bytes())),
            ("objects/info/alternates", Some(borrowed.into_bytes())),
            ("shallow", project.shallow()),
            // They would name another repository, rules of their own, or what is to be overlooked.
            ("commondir", None),
            ("config.worktree", None),
            ("hooks", None),
            ("packed-refs", None),
            ("objects/info/commit-graph", None),
            ("objects/info/commit-graphs", None),
            ("objects/info/http-alternates", None),
            ("objects/pack/multi-pack-index", None),
            ("info/grafts", None),
            ("info/sparse-checkout", None),
        ];
        files.extend(project.customs.info());
        let ground = Self { path: path.to_owned(), identity: identity(path)?, files, mending: Mutex::default() };
        ground.settle()?;
        Ok(ground)
    }

    /// Makes sure of it.
    pub(super) fn settle(&self) -> GitResult<()> {
        if identity(&self.path).ok() != Some(self.identity) {
            let message = format!("{} is gone, or something else is in its place", self.path.display());
            return Err(GitError::odd(message)
                .help("what agents have done lies there: restore the folder, or start a new session"));
        }
        // Several gits are started at once.
        let _held = self.mending.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, text) in &self.files {
            self.within_folders(name)?;
            let path = self.path.join(name);
            match text {
                None => remove(&path)?,
                Some(text) => keep(&path, text)?,
            }
        }
        // A pipe there would be waited for.
        sweep(&self.path.join("objects/pack"));
        Ok(())
    }

    /// Makes sure that the parents of a file are real folders, and no links.
    fn within_folders(&self, name: &str) -> GitResult<()> {
        let mut above = self.path.clone();
        for part in Path::new(name).parent().into_iter().flat_map(Path::components) {
            above.push(part);
            if !fs::symlink_metadata(&above).is_ok_and(|found| found.is_dir()) {
                real_folder(&above)?;
            }
        }
        Ok(())
    }
}

fn identity(path: &Path) -> GitResult<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() {
        return Err(GitError::odd(format!("{} is not a folder", path.display())));
    }
    Ok((found.dev(), found.ino()))
}

/// Writes a plain file with this text. A link, or a file with a second hard link, would lead to a file elsewhere.
fn keep(path: &Path, text: &[u8]) -> GitResult<()> {
    let is_plain = fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.nlink() == 1);
    if is_plain && interlock_system::files::is_same(path, text) {
        return Ok(());
    }
    if !is_plain {
        remove(path)?;
    }
    let partial = interlock_system::files::partial(path);
    remove(&partial)?;
    Ok(fs::write(&partial, text).and_then(|()| fs::rename(&partial, path))?)
}

/// The settings of a repository of Interlock's own: those that are about files are the user's.
pub(super) fn config(project: &ProjectRepo, kind: &str) -> String {
    let (version, extension) = match project.format.as_str() {
        "sha1" => (0, String::new()),
        format => (1, format!("[extensions]\n\tobjectFormat = {format}\n")),
    };
    // Data that is derived from objects adds nothing to them, and can be forged.
    let derived = "\tcommitGraph = false\n\tmultiPackIndex = false\n";
    let core = format!("[core]\n\trepositoryFormatVersion = {version}\n\t{kind}\n\thooksPath = /dev/null\n{derived}");
    // Merged commits are requested by their hash, because there are no refs.
    let asked = "[uploadpack]\n\tallowAnySHA1InWant = true\n";
    format!("{core}[gc]\n\tauto = 0\n{asked}{extension}{}", project.customs.config)
}
