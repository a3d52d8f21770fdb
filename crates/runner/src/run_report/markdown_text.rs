//! Words of others in Markdown: one line, cut to a length, and nothing in it that Markdown obeys.

use interlock_system::sanitise;

/// Maximum length of quoted words in a line.
const SHOWN: usize = 400;

/// Within a line or a cell of a table.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::new();
    for character in sanitise::line(&short(text)).chars() {
        if matches!(character, '\\' | '|' | '<' | '>' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '&') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// The same as code, in which nothing but a backtick means anything, and in a table a bar.
pub(super) fn code(text: &str) -> String {
    format!("`{}`", sanitise::line(text).replace('`', "'").replace('|', "\\|"))
}

/// On one line, and no longer than one reads.
pub(super) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{} …", line.get(..at).unwrap_or_default().trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_cell_is_obeyed() {
        assert_eq!(plain("a \\| b\n# c <b> \u{1b}[2J"), "a \\\\\\| b \\# c \\<b\\> ␛\\[2J");
        assert_eq!(code("a`b|c"), "`a'b\\|c`");
        assert!(plain(&"word ".repeat(1000)).chars().count() <= SHOWN + 2);
    }
}
