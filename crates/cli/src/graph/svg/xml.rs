//! Elements of an SVG file. Nothing reaches the file but through here.

use std::fmt::Write;

use super::text::{SPAN_GAP, TextRow};

/// The part of a text row that is at its position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TextAnchor {
    Start,
    Middle,
}

#[derive(Default)]
pub(super) struct XmlWriter {
    out: String,
}

impl XmlWriter {
    pub(super) fn finish(self) -> String {
        self.out
    }

    /// `attributes` are names and values; values are escaped.
    pub(super) fn open(&mut self, name: &str, attributes: &[(&str, String)]) {
        self.tag(name, attributes, ">\n");
    }

    pub(super) fn close(&mut self, name: &str) {
        let _ = writeln!(self.out, "</{name}>");
    }

    pub(super) fn empty(&mut self, name: &str, attributes: &[(&str, String)]) {
        self.tag(name, attributes, "/>\n");
    }

    pub(super) fn element(&mut self, name: &str, attributes: &[(&str, String)], text: &str) {
        self.tag(name, attributes, ">");
        self.out.push_str(&escape(text));
        self.close(name);
    }

    /// A style sheet of our own: no character of it needs escaping.
    pub(super) fn style(&mut self, sheet: &str) {
        let _ = writeln!(self.out, "<style>\n{sheet}</style>");
    }

    /// A row of text that stands on `y` and starts at `x`, or has its middle there.
    ///
    /// The viewer does the centring: it knows its fonts, and here they are only guessed.
    pub(super) fn row(&mut self, row: &TextRow, x: f64, y: f64, anchor: TextAnchor) {
        let mut attributes = vec![("x", number(x)), ("y", number(y))];
        if anchor == TextAnchor::Middle {
            attributes.push(("text-anchor", "middle".to_owned()));
        }
        match row.spans.as_slice() {
            [only] => {
                attributes.insert(0, ("class", only.face.class().to_owned()));
                self.element("text", &attributes, &only.text);
            }
            spans => {
                self.tag("text", &attributes, ">");
                for (index, span) in spans.iter().enumerate() {
                    let mut own = vec![("class", span.face.class().to_owned())];
                    if index > 0 {
                        own.push(("dx", number(SPAN_GAP)));
                    }
                    self.tag("tspan", &own, ">");
                    self.out.push_str(&escape(&span.text));
                    self.out.push_str("</tspan>");
                }
                self.close("text");
            }
        }
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, String)], end: &str) {
        let _ = write!(self.out, "<{name}");
        for (key, value) in attributes {
            let _ = write!(self.out, " {key}=\"{}\"", escape(value));
        }
        self.out.push_str(end);
    }
}

/// Tenths of a pixel are enough, and the same on every machine.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// Characters that XML gives a meaning, and those that it does not allow at all.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{FFFE}' | '\u{FFFF}' => out.push('\u{FFFD}'),
            control if control.is_control() => out.push('\u{FFFD}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_does_not_allow_does_not_get_out() {
        assert_eq!(escape("<a b=\"c\">&'\u{1b}\u{FFFF}\n"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;\u{FFFD}\u{FFFD} ");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!((number(1.0), number(-0.01), number(2.25)), ("1".to_owned(), "0".to_owned(), "2.2".to_owned()));
    }
}
