//! Paths: what was read, changed and written.

use crate::code::Code;
use crate::handoff::check::reader::{HandoffReader, at};

impl HandoffReader<'_> {
    pub(super) fn paths(&mut self) {
        for (index, text) in self.texts("source_files_verified").unwrap_or_default().into_iter().enumerate() {
            if !is_reference(text) {
                let message = format!("`{text}` is not `path`, `path:line` or `path:first-last`");
                self.wrong(Code::BadSourceReference, &at("source_files_verified", index), message);
            }
        }
        for (index, text) in self.texts("files_modified").unwrap_or_default().into_iter().enumerate() {
            if !stays_inside(text) {
                let message = format!("`{text}` is not a path relative to the root of the repository");
                self.wrong(Code::PathNotRelative, &at("files_modified", index), message);
            }
        }
        for (index, text) in self.texts("artifacts").unwrap_or_default().into_iter().enumerate() {
            if text.chars().any(char::is_control) || climbs(text) {
                let message = format!("`{}` is not a path that can be used", text.escape_debug());
                self.wrong(Code::PathNotRelative, &at("artifacts", index), message);
            }
        }
    }
}

/// `path`, `path:line`, `path:first-last`.
fn is_reference(text: &str) -> bool {
    let (path, lines) = match text.rsplit_once(':') {
        Some((path, lines)) if lines.starts_with(|c: char| c.is_ascii_digit()) => (path, Some(lines)),
        Some(_) | None => (text, None),
    };
    let number = |text: &str| text.parse::<u32>().ok().filter(|line| *line >= 1);
    let fits = match lines {
        None => true,
        Some(lines) => match lines.split_once('-') {
            None => number(lines).is_some(),
            Some((first, last)) => matches!((number(first), number(last)), (Some(a), Some(b)) if a <= b),
        },
    };
    fits && !path.trim().is_empty() && !path.ends_with(':') && !path.chars().any(char::is_control)
}

fn stays_inside(path: &str) -> bool {
    // A shell would read `~/x` and `~user/x` as a home directory.
    let home = path.starts_with('~') && (path.len() == 1 || path.contains('/'));
    let absolute = home || path.starts_with('/') || path.starts_with('\\') || path.get(1..2) == Some(":");
    !absolute && !climbs(path) && !path.chars().any(char::is_control)
}

fn climbs(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_have_a_path_and_perhaps_lines() {
        for good in ["src/a.rs", "src/a.rs:87", "src/a.rs:1-50", ".claude/x.md", "C:/x/a.rs:3", "a b/c.rs:1-1"] {
            assert!(is_reference(good), "{good}");
        }
        for bad in ["", " ", "src/a.rs:", ":12", "src/a.rs:0", "src/a.rs:9-3", "src/a.rs:1-x", "src/a.rs:4-", "a\nb"] {
            assert!(!is_reference(bad), "{bad}");
        }
    }

    #[test]
    fn changed_files_stay_inside_the_repository() {
        for good in ["src/a.rs", ".claude/tools/x.ts", "a..b/c", "~draft.md", "src/~/x"] {
            assert!(stays_inside(good), "{good}");
        }
        for bad in
            ["/etc/passwd", "../x", "a/../../b", "\\\\host\\x", "C:\\x", "a\u{0}b", "é/../x", "~/x", "~", "~root/x"]
        {
            assert!(!stays_inside(bad), "{bad}");
        }
    }
}
