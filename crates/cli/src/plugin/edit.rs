//! Changes to files of the user: shown first, then written whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use interlock_system::files;

/// One file, before and after; `None` is no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileEdit {
    pub(crate) path: PathBuf,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

impl FileEdit {
    pub(super) fn changes(&self) -> bool {
        self.before != self.after
    }

    /// The difference as a patch.
    pub(crate) fn diff(&self, from: &Path) -> String {
        let named = self.path.strip_prefix(from).unwrap_or(&self.path).display().to_string();
        let of = |text: &Option<String>, name: &str| match text {
            Some(_) => format!("{name}/{named}"),
            None => "/dev/null".to_owned(),
        };
        let (before, after) = (self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default());
        let names = (of(&self.before, "a"), of(&self.after, "b"));
        TextDiff::from_lines(before, after).unified_diff().context_radius(2).header(&names.0, &names.1).to_string()
    }

    pub(crate) fn write(&self) -> io::Result<()> {
        // A link of the user's stays one: what it points to is written.
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let Some(after) = &self.after else {
            fs::remove_file(&path)?;
            return clear_above(&path);
        };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let partial = files::partial(&path);
        fs::write(&partial, after)?;
        if let Ok(found) = fs::metadata(&path) {
            fs::set_permissions(&partial, found.permissions())?;
        }
        fs::rename(&partial, &path)
    }
}

/// Folders that only held what was removed.
fn clear_above(path: &Path) -> io::Result<()> {
    let mut folder = path.parent();
    while let Some(empty) = folder.filter(|folder| fs::read_dir(folder).is_ok_and(|mut rest| rest.next().is_none())) {
        fs::remove_dir(empty)?;
        folder = empty.parent();
    }
    Ok(())
}
