//! Folders that outlive a checkout: results of `prepare`, by the hash of their inputs, and caches.
//!
//! They lie within the reach of agents, which are processes of the same user. Each has a seal over the state of all its
//! files. One whose seal does not fit is removed and made again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files;
use crate::gates::copy::{copy_tree, fingerprint, free_place, move_tree};
use crate::git::{beside, remove};
use crate::handin;

/// A folder with one entry for each path that is kept.
pub(super) struct KeptFolder {
    folder: PathBuf,
    /// Of the session: seals are made with it.
    key: [u8; 32],
}

impl KeptFolder {
    pub(super) fn new(above: &Path, name: &str, key: [u8; 32]) -> Self {
        Self { folder: above.join(name), key }
    }

    /// Is it there, as it was kept?
    pub(super) fn is_sound(&self) -> bool {
        let sealed = files::read_plain(&self.seal()).ok();
        sealed.is_some_and(|sealed| self.seal_now().is_ok_and(|now| now.as_slice() == sealed))
    }

    /// Copies everything into a checkout.
    pub(super) fn copy_into(&self, checkout: &Path, paths: &[PathBuf]) -> io::Result<()> {
        self.put_into(checkout, paths, copy_tree)
    }

    /// Moves everything into a checkout. Nothing is kept any more.
    pub(super) fn move_into(&self, checkout: &Path, paths: &[PathBuf]) -> io::Result<()> {
        remove(&self.seal())?;
        self.put_into(checkout, paths, move_tree)
    }

    fn put_into(
        &self,
        checkout: &Path,
        paths: &[PathBuf],
        put: impl Fn(&Path, &Path) -> io::Result<()>,
    ) -> io::Result<()> {
        for (index, path) in paths.iter().enumerate() {
            let kept = self.entry(index);
            if fs::symlink_metadata(&kept).is_ok() {
                put(&kept, &free_place(checkout, path)?)?;
            }
        }
        Ok(())
    }

    /// Moves these paths of a checkout here, in place of whatever was kept. A path that is not there is left out; a link
    /// is not kept, because it leads to files that are not.
    pub(super) fn take(&self, checkout: &Path, paths: &[PathBuf]) -> io::Result<()> {
        self.fill(checkout, paths, move_tree)
    }

    /// The same, and the checkout keeps its own.
    pub(super) fn take_copy(&self, checkout: &Path, paths: &[PathBuf]) -> io::Result<()> {
        self.fill(checkout, paths, copy_tree)
    }

    fn fill(&self, checkout: &Path, paths: &[PathBuf], put: impl Fn(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
        self.discard()?;
        handin::real_folder(&self.folder)?;
        for (index, path) in paths.iter().enumerate() {
            let made = checkout.join(path);
            let is_real =
                made.canonicalize().is_ok_and(|real| checkout.canonicalize().is_ok_and(|of| real == of.join(path)));
            if !is_real {
                continue;
            }
            put(&made, &self.entry(index))?;
        }
        fs::write(self.seal(), self.seal_now()?)
    }

    pub(super) fn discard(&self) -> io::Result<()> {
        remove(&self.seal())?;
        remove(&self.folder)
    }

    fn entry(&self, index: usize) -> PathBuf {
        self.folder.join(index.to_string())
    }

    fn seal(&self) -> PathBuf {
        beside(&self.folder, "seal")
    }

    fn seal_now(&self) -> io::Result<[u8; 32]> {
        Ok(*blake3::keyed_hash(&self.key, &fingerprint(&self.folder)?).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(name: &str) -> (PathBuf, KeptFolder) {
        let root = std::env::temp_dir().join(format!("interlock-kept-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("made/deps/sub")).unwrap();
        fs::write(root.join("made/deps/sub/lib"), "sound").unwrap();
        let kept = KeptFolder::new(&root, "kept", [7; 32]);
        kept.take(&root.join("made"), &[PathBuf::from("deps")]).unwrap();
        (root, kept)
    }

    #[test]
    fn copy_of_kept_folder_when_written_leaves_the_original() {
        let (root, kept) = scene("copy");
        assert!(kept.is_sound());
        fs::create_dir(root.join("out")).unwrap();
        kept.copy_into(&root.join("out"), &[PathBuf::from("deps")]).unwrap();
        fs::write(root.join("out/deps/sub/lib"), "poison").unwrap();
        assert!(kept.is_sound());
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn kept_folder_with_changed_file_is_not_sound() {
        let (root, kept) = scene("changed");
        let lib = root.join("kept/0/sub/lib");
        let modified = fs::metadata(&lib).unwrap().modified().unwrap();
        fs::write(&lib, "pwned").unwrap();
        fs::File::options().write(true).open(&lib).unwrap().set_modified(modified).unwrap();
        assert!(!kept.is_sound());
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn kept_folder_is_not_copied_through_a_link() {
        let (root, kept) = scene("link");
        fs::create_dir_all(root.join("elsewhere")).unwrap();
        fs::create_dir(root.join("out")).unwrap();
        std::os::unix::fs::symlink(root.join("elsewhere"), root.join("out/deps")).unwrap();
        assert!(kept.copy_into(&root.join("out"), &[PathBuf::from("deps")]).is_err());
        assert_eq!(fs::read_dir(root.join("elsewhere")).unwrap().count(), 0);
        fs::remove_dir_all(&root).unwrap();
    }
}
