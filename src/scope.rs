//! What a role may change in the files of a project.

use globset::{GlobBuilder, GlobSetBuilder};
use interlock_core::workflow::Writes;

/// Those of the files that may not be changed by whoever may write this much.
pub(crate) fn outside(files: &[String], writes: &Writes) -> Vec<String> {
    match writes {
        Writes::Everything => Vec::new(),
        Writes::Nothing => files.to_vec(),
        Writes::Only(patterns) => {
            let mut set = GlobSetBuilder::new();
            for pattern in patterns {
                // A pattern that cannot be read allows nothing.
                if let Ok(glob) = GlobBuilder::new(pattern).literal_separator(true).build() {
                    set.add(glob);
                }
            }
            let set = set.build().unwrap_or_default();
            files.iter().filter(|file| !set.is_match(file)).cloned().collect()
        }
    }
}
