//! Whether one pattern of paths covers another.

use crate::id::Name;

/// Alternatives in braces are written out up to this many. A pattern with more is compared as a whole.
const MOST_ALTERNATIVES: usize = 64;

/// Every path that fits `narrow` fits one of these patterns. `false` where that is not plain.
pub(super) fn covered(narrow: &Name, by: &[Name]) -> bool {
    by.contains(narrow) || {
        let wide: Vec<String> = by.iter().flat_map(|pattern| alternatives(pattern)).collect();
        alternatives(narrow).iter().all(|narrow| wide.iter().any(|wide| covers(wide, narrow)))
    }
}

fn covers(wide: &str, narrow: &str) -> bool {
    let wide: Vec<&str> = wide.split('/').collect();
    let narrow: Vec<&str> = narrow.split('/').collect();
    covers_parts(&wide, &narrow)
}

fn covers_parts(wide: &[&str], narrow: &[&str]) -> bool {
    match (wide, narrow) {
        ([], []) => true,
        // At the end it stands for at least one part.
        (["**"], rest) => !rest.is_empty(),
        (["**", wide @ ..], narrow) => {
            covers_parts(wide, narrow)
                || narrow.split_first().is_some_and(|(_, narrow)| covers_parts(&[&["**"], wide].concat(), narrow))
        }
        ([first, wide @ ..], [part, narrow @ ..]) => covers_part(first, part) && covers_parts(wide, narrow),
        ([], [_, ..]) | ([_, ..], []) => false,
    }
}

/// One part of a path. Other patterns than `*` and `?` in the narrow one are compared by their text.
fn covers_part(wide: &str, narrow: &str) -> bool {
    if narrow == "**" {
        return false;
    }
    let (wide, narrow): (Vec<char>, Vec<char>) = (wide.chars().collect(), narrow.chars().collect());
    wide == narrow || (!wide.contains(&'[') && !wide.contains(&'\\') && fits(&wide, &narrow))
}

fn fits(wide: &[char], narrow: &[char]) -> bool {
    match (wide, narrow) {
        ([], []) => true,
        (['*', rest @ ..], narrow) => {
            fits(rest, narrow) || narrow.split_first().is_some_and(|(_, narrow)| fits(wide, narrow))
        }
        (['?', rest @ ..], [letter, narrow @ ..]) => *letter != '*' && fits(rest, narrow),
        ([first, rest @ ..], [letter, narrow @ ..]) => first == letter && fits(rest, narrow),
        ([], [_, ..]) | ([_, ..], []) => false,
    }
}

/// A pattern without braces for each of its alternatives.
fn alternatives(pattern: &str) -> Vec<String> {
    let mut open = vec![pattern.to_owned()];
    let mut plain = Vec::new();
    while let Some(next) = open.pop() {
        let Some((before, choices, after)) = braces(&next) else {
            plain.push(next);
            continue;
        };
        open.extend(choices.iter().map(|choice| format!("{before}{choice}{after}")));
        if open.len().saturating_add(plain.len()) > MOST_ALTERNATIVES {
            return vec![pattern.to_owned()];
        }
    }
    plain
}

/// The first innermost braces, with what is before and after them.
fn braces(pattern: &str) -> Option<(&str, Vec<&str>, &str)> {
    let end = pattern.find('}')?;
    let (head, after) = (pattern.get(..end)?, pattern.get(end.saturating_add(1)..)?);
    let start = head.rfind('{')?;
    let choices = head.get(start.saturating_add(1)..)?.split(',').collect();
    Some((head.get(..start)?, choices, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_pattern_covers_narrower_one() {
        for (wide, narrow) in [
            ("**", "a/b.rs"),
            ("**/.claude/**", "**/.claude/settings*.json"),
            ("**/.claude/**", ".claude/hooks/**"),
            (".github/**", ".github/workflows/**"),
            ("{interlock,agents}.{yml,yaml}", "interlock.yaml"),
            ("**/test_*.*", "**/test_*.*"),
            ("src/*.rs", "src/lib.rs"),
        ] {
            assert!(covered(&Name::new(narrow), &[Name::new(wide)]), "{wide} {narrow}");
        }
    }

    #[test]
    fn narrower_pattern_does_not_cover_wider_one() {
        for (wide, narrow) in [
            ("a/b.rs", "**"),
            (".claude/**", "**/.claude/**"),
            ("src/*.rs", "src/**"),
            ("src/*.rs", "src/deep/lib.rs"),
            ("interlock.yaml", "{interlock,agents}.yaml"),
            ("a?", "a*"),
            (".github/**", ".github"),
        ] {
            assert!(!covered(&Name::new(narrow), &[Name::new(wide)]), "{wide} {narrow}");
        }
    }
}
