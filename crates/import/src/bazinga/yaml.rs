//! Writing YAML: names that need quotes get them, whatever they are made of.

use std::fmt::Write as _;

/// Words that would be read as something other than themselves by some reader of YAML.
const WORDS: &[&str] = &["null", "true", "false", "yes", "no", "on", "off", "y", "n"];

/// A name as a scalar: as it is where that is safe, else in double quotes.
pub(super) fn name(text: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let word = WORDS.iter().any(|word| word.eq_ignore_ascii_case(text));
    if begins && text.chars().all(safe) && !word { text.to_owned() } else { quoted(text) }
}

/// A sentence as a scalar: plain prose stays readable.
pub(super) fn sentence(text: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | '_' | '-' | '(' | ')' | ';' | '/' | '+');
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let plain = begins && text.chars().all(safe) && text.contains(' ') && text.trim() == text;
    if plain { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            c if c.is_alphanumeric() => out.push(c),
            c => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}

/// Text that stays on its line as a comment.
pub(super) fn comment(text: &str) -> String {
    format!("# {}", one_line(text))
}

/// Text without line breaks, or anything else that would show as another text than it is.
pub(super) fn one_line(text: &str) -> String {
    let flat: String = text.chars().map(|c| if is_shown(c) { c } else { ' ' }).collect();
    flat.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Controls and line breaks would end the comment; marks of direction would show it as something else.
fn is_shown(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{200e}' | '\u{200f}')
}

/// `[a, b]`
pub(super) fn list<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| name(item.as_ref())).collect();
    format!("[{}]", items.join(", "))
}

/// `{ a: b, c: d }`, of values that are YAML already.
pub(super) fn map<K: AsRef<str>>(entries: impl IntoIterator<Item = (K, String)>) -> String {
    let entries: Vec<String> =
        entries.into_iter().map(|(key, value)| format!("{}: {value}", name(key.as_ref()))).collect();
    if entries.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", entries.join(", ")) }
}

#[cfg(test)]
mod tests {
    use interlock_core::yaml;

    use super::*;

    const ODD: &str = "developer|qa-expert|null|~|True|no|1.0|| |a: b|a #b|- a|{a}|[a]|&a|*a|!a|%a|@a|`a`|'a'|\"a\"|\
        a\\b|a\nb|a\tb|a\r\nb|ünï|名前|a\0b|\u{7f}|\u{85}|\u{2028}|\u{feff}a|🦀|a,b|a: |?|? a|>|...|---|=";

    fn read(written: &str) -> yaml::Node {
        let mut problems = Vec::new();
        let root = yaml::parse("t.yaml", written, &mut problems);
        assert!(problems.is_empty(), "{written}: {problems:?}");
        root.expect("it has no problems")
    }

    #[test]
    fn every_name_comes_back_as_it_was() {
        for text in ODD.split('|') {
            let root = read(&format!("k: {}\nl: {}\n", name(text), list([text, "x"])));
            assert_eq!(root.get("k").and_then(|node| node.text()), Some(text));
            let root = read(&format!("{}: v {}\n", name(text), comment(text)));
            assert_eq!(root.get(text).and_then(|node| node.text()), Some("v"));
            let prose = format!("word {text}");
            let root = read(&format!("k: {{ because: {} }}\n", sentence(&prose)));
            assert_eq!(root.get("k").and_then(|node| node.get("because")).and_then(|node| node.text()), Some(&*prose));
        }
    }
}
