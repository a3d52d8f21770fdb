//! Folders that outlive a checkout: results of `prepare`, by the hash of their inputs, and caches.
//!
//! They lie within the reach of agents, which are processes of the same user. Each has a seal over the state of all its
//! files. One whose seal does not fit is removed and made again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::gates::copy::{copy_tree, fingerprint, free_place, move_tree};
use crate::gates::lent_list::{LentList, is_real};
use interlock_system::files;
use interlock_system::files::{beside, remove};

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

    /// Puts everything into a checkout that commands of gates run in.
    pub(super) fn lend_to(&self, checkout: &Path, paths: &[PathBuf]) -> io::Result<()> {
        match self.is_left_alone() {
            true => self.move_into(checkout, paths)?,
            false => self.copy_into(checkout, paths)?,
        }
        LentList::of(checkout, paths)?.write(&self.list(), &self.key)
    }

    /// Keeps what a checkout has made, before commands of gates run in it: they are agents' choice.
    pub(super) fn keep_made(&self, checkout: &Path, paths: &[PathBuf]) -> io::Result<()> {
        self.discard()?;
        if !self.is_left_alone() {
            self.take_copy(checkout, paths)?;
        }
        LentList::of(checkout, paths)?.write(&self.list(), &self.key)
    }

    /// Takes back what a checkout has had, if commands have left it as it was. Where the checkout had a copy, it only learns
    /// whether the next one needs a copy too.
    pub(super) fn collect(&self, checkout: &Path, paths: &[PathBuf]) -> io::Result<()> {
        if fs::symlink_metadata(self.list()).is_err() {
            return Ok(());
        }
        let list = LentList::read(&self.list(), &self.key);
        remove(&self.list())?;
        if !list.map_or(Ok(false), |list| list.restore(checkout, paths))? {
            return remove(&self.left_alone());
        }
        fs::write(self.left_alone(), "")?;
        match fs::symlink_metadata(self.seal()) {
            Ok(_) => Ok(()),
            Err(_) => self.take(checkout, paths),
        }
    }

    /// Whether commands left it as it was the last time. Otherwise each checkout needs a copy.
    fn is_left_alone(&self) -> bool {
        fs::symlink_metadata(self.left_alone()).is_ok()
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
    fn take_copy(&self, checkout: &Path, paths: &[PathBuf]) -> io::Result<()> {
        self.fill(checkout, paths, copy_tree)
    }

    fn fill(&self, checkout: &Path, paths: &[PathBuf], put: impl Fn(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
        self.discard()?;
        interlock_system::files::real_folder(&self.folder)?;
        for (index, path) in paths.iter().enumerate() {
            if is_real(checkout, path) {
                put(&checkout.join(path), &self.entry(index))?;
            }
        }
        fs::write(self.seal(), self.seal_now()?)
    }

    pub(super) fn discard(&self) -> io::Result<()> {
        remove(&self.list())?;
        remove(&self.seal())?;
        remove(&self.folder)
    }

    fn entry(&self, index: usize) -> PathBuf {
        self.folder.join(index.to_string())
    }

    fn seal(&self) -> PathBuf {
        beside(&self.folder, "seal")
    }

    /// How its files were when a checkout got them.
    fn list(&self) -> PathBuf {
        beside(&self.folder, "lent")
    }

    /// An empty file. One that a program makes or removes costs time only.
    fn left_alone(&self) -> PathBuf {
        beside(&self.folder, "alone")
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

    /// A kept folder that is lent for the second time, so that it is moved.
    fn lend(name: &str) -> (PathBuf, KeptFolder, [PathBuf; 1]) {
        let (root, kept) = scene(name);
        let paths = [PathBuf::from("deps")];
        let out = root.join("out");
        for _ in 0..2 {
            kept.collect(&out, &paths).unwrap();
            let _ = fs::remove_dir_all(&out);
            fs::create_dir(&out).unwrap();
            kept.lend_to(&out, &paths).unwrap();
        }
        assert!(!root.join("kept/0").exists());
        (root, kept, paths)
    }

    #[test]
    fn lent_folder_with_added_files_comes_back_without_them() {
        let (root, kept, paths) = lend("added");
        fs::write(root.join("out/deps/sub/planted"), "poison").unwrap();
        fs::create_dir_all(root.join("out/deps/more/below")).unwrap();
        kept.collect(&root.join("out"), &paths).unwrap();
        assert!(kept.is_sound());
        assert!(root.join("kept/0/sub/lib").exists());
        assert!(!root.join("kept/0/sub/planted").exists() && !root.join("kept/0/more").exists());
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn folder_lent_for_the_first_time_survives_every_change() {
        let (root, kept) = scene("first");
        let (out, paths) = (root.join("out"), [PathBuf::from("deps")]);
        fs::create_dir(&out).unwrap();
        kept.lend_to(&out, &paths).unwrap();
        fs::write(out.join("deps/sub/lib"), "pwned").unwrap();
        kept.collect(&out, &paths).unwrap();
        assert!(kept.is_sound() && !kept.is_left_alone());
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn lent_folder_with_changed_file_is_not_kept_and_copied_from_then_on() {
        type FolderTampering = fn(&Path);
        let write: FolderTampering = |lib| {
            let modified = fs::metadata(lib).unwrap().modified().unwrap();
            fs::write(lib, "pwned").unwrap();
            fs::File::options().write(true).open(lib).unwrap().set_modified(modified).unwrap();
        };
        let replace: FolderTampering = |lib| {
            fs::copy(lib, lib.with_extension("new")).unwrap();
            fs::rename(lib.with_extension("new"), lib).unwrap();
        };
        let hide: FolderTampering = |lib| {
            let folder = lib.parent().unwrap();
            fs::rename(folder, folder.with_extension("real")).unwrap();
            std::os::unix::fs::symlink(folder.with_extension("real"), folder).unwrap();
        };
        for (name, change) in [("write", write), ("replace", replace), ("hide", hide)] {
            let (root, kept, paths) = lend(name);
            change(&root.join("out/deps/sub/lib"));
            kept.collect(&root.join("out"), &paths).unwrap();
            assert!(!kept.is_sound(), "{name}");
            assert!(!kept.is_left_alone(), "{name}");
            fs::remove_dir_all(&root).unwrap();
        }
    }

    #[test]
    fn list_of_lent_files_with_another_key_is_not_used() {
        let (root, kept, paths) = lend("forged");
        fs::write(root.join("out/deps/sub/lib"), "pwned").unwrap();
        LentList::of(&root.join("out"), &paths).unwrap().write(&kept.list(), &[8; 32]).unwrap();
        kept.collect(&root.join("out"), &paths).unwrap();
        assert!(!kept.is_sound());
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
