//! Text of others, made harmless for a terminal.
//!
//! Agents write what they like into files that Interlock quotes. A terminal obeys
//! some of it: escape sequences move the cursor, change the title or fill the
//! clipboard, bidirectional controls show text in another order than it has, and
//! invisible characters hide. Every such character is replaced by one visible
//! character, so that columns and underlines stay where they were.

use std::borrow::Cow;

/// Text of several lines: line breaks and tabs stay.
pub fn text(text: &str) -> Cow<'_, str> {
    replace(text, |character| match character {
        '\n' | '\t' => None,
        other => visible(other),
    })
}

/// Text of others within a line: line breaks are shown, and every run of blanks is one space.
///
/// A longer run could fill the rest of a terminal's line, so that the text after it looks like a line of the program.
pub fn line(text: &str) -> Cow<'_, str> {
    let shown = line_with_columns(text);
    if !shown.contains("  ") {
        return shown;
    }
    let mut single = String::with_capacity(shown.len());
    for character in shown.chars() {
        if character != ' ' || !single.ends_with(' ') {
            single.push(character);
        }
    }
    Cow::Owned(single)
}

/// A line that the program has laid out: as [`line`], but runs of spaces stay, because columns are made of them.
pub fn line_with_columns(text: &str) -> Cow<'_, str> {
    replace(text, |character| match character {
        '\t' => Some(' '),
        other if is_blank(other) => Some(' '),
        other => visible(other),
    })
}

/// A character other than the space that shows nothing but takes room.
fn is_blank(character: char) -> bool {
    matches!(
        character,
        '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}'
                | '\u{202f}'
                | '\u{205f}'
                | '\u{2800}'
                | '\u{3000}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{3164}'
                | '\u{ffa0}'
    )
}

/// A line of source text: as [`line`], but tabs stay, because the renderer aligns them.
pub fn source_line(text: &str) -> Cow<'_, str> {
    replace(text, |character| match character {
        '\t' => None,
        other => visible(other),
    })
}

/// JSON with the same characters as escapes. They can only stand inside strings, so the value stays what it was.
pub fn json(document: &str) -> Cow<'_, str> {
    let unsafe_for_terminals = |character: char| character != '\n' && visible(character).is_some();
    if !document.contains(unsafe_for_terminals) {
        return Cow::Borrowed(document);
    }
    let mut escaped = String::with_capacity(document.len() + 64);
    for character in document.chars() {
        if unsafe_for_terminals(character) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

fn replace(text: &str, replacement: impl Fn(char) -> Option<char>) -> Cow<'_, str> {
    if text.chars().all(|character| replacement(character).is_none()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|character| replacement(character).unwrap_or(character)).collect())
}

/// The replacement of a character that a terminal would obey or hide.
fn visible(character: char) -> Option<char> {
    match character {
        // The pictures of the control characters stand in the same order.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)),
        '\u{7f}' => Some('\u{2421}'),
        '\u{80}'..='\u{9f}' => Some(char::REPLACEMENT_CHARACTER),
        // Line and paragraph separators, marks and overrides of direction.
        '\u{2028}'
        | '\u{2029}'
        | '\u{061c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => Some(char::REPLACEMENT_CHARACTER),
        // Characters without a width, except the joiners that scripts and emoji need.
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{feff}' => {
            Some(char::REPLACEMENT_CHARACTER)
        }
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => Some(char::REPLACEMENT_CHARACTER),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_text_is_not_touched() {
        for harmless in ["", "plain", "naïve 日本語 👩‍💻", "कार्य"] {
            assert!(matches!(line(harmless), Cow::Borrowed(same) if same == harmless));
        }
    }

    #[test]
    fn escape_sequences_become_visible() {
        assert_eq!(line("\u{1b}[2J\u{1b}]0;title\u{7}"), "␛[2J␛]0;title␇");
        assert_eq!(line("\u{9b}31mred"), "\u{fffd}31mred");
        assert_eq!(line("over\rwritten\u{8}\u{7f}"), "over␍written␈␡");
    }

    #[test]
    fn direction_and_invisible_characters_become_visible() {
        assert_eq!(
            line("a\u{202e}b\u{2066}c\u{200b}d\u{feff}e\u{e0041}"),
            "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}"
        );
    }

    #[test]
    fn line_breaks_stay_only_where_lines_may_break() {
        assert_eq!(text("a\n\tb\r\n"), "a\n\tb␍\n");
        assert_eq!(line("a\n\tb"), "a␊ b");
        assert_eq!(source_line("\ta\n"), "\ta␊");
        assert_eq!(line("a\u{2028}b"), "a\u{fffd}b");
    }

    #[test]
    fn no_control_character_passes_and_columns_stay() {
        let every: String = (0..=0x11_0000).filter_map(char::from_u32).collect();
        let shown = line_with_columns(&every);
        assert_eq!(shown.chars().count(), every.chars().count());
        assert!(!shown.chars().any(char::is_control));
    }

    #[test]
    fn run_of_blanks_becomes_one_space() {
        assert_eq!(line("Login      H  completed"), "Login H completed");
        assert_eq!(line("a\u{a0}\u{2003}\t \u{3000}\u{2800}\u{3164}b"), "a b");
        assert_eq!(line_with_columns("a   \u{a0}b"), "a    b");
    }

    #[test]
    fn no_character_can_be_repeated_into_a_run_of_blanks() {
        for character in (0..=0x11_0000).filter_map(char::from_u32).filter(|own| own.is_whitespace() || is_blank(*own))
        {
            let text = format!("a{}b", String::from(character).repeat(40));
            let shown = line(&text);
            assert!(!shown.contains("  ") && !shown.contains(is_blank), "{character:?} is shown as {shown:?}");
        }
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({ "said": "\u{1b}[31m \u{9b}2J \u{202e} \u{e0041} ü" });
        let document = serde_json::to_string_pretty(&value).unwrap();
        let escaped = json(&document);
        assert!(escaped.chars().all(|character| character == '\n' || visible(character).is_none()));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }
}
