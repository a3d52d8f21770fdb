//! A line that a person types, key by key.

/// No answer is longer.
const LONGEST: usize = 4000;

/// How far the bytes of a key are read.
#[derive(Default, PartialEq)]
enum EscapeState {
    #[default]
    Text,
    /// After an escape: nothing that is typed so is part of an answer.
    Escape,
    /// In a sequence with parameters, up to its last byte.
    Sequence,
}

#[derive(Default)]
pub(super) struct LineEditor {
    text: String,
    /// A character of which not all bytes have come.
    part: Vec<u8>,
    within: EscapeState,
}

impl LineEditor {
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// One byte more. The line, if it ends with it.
    pub(super) fn take(&mut self, byte: u8) -> Option<String> {
        match (&self.within, byte) {
            (_, b'\n' | b'\r') => {
                self.within = EscapeState::Text;
                return Some(std::mem::take(&mut self.text));
            }
            (EscapeState::Escape, b'[' | b'O') => self.within = EscapeState::Sequence,
            (EscapeState::Escape, _) | (EscapeState::Sequence, 0x40..=0x7e) => self.within = EscapeState::Text,
            (EscapeState::Sequence, _) => {}
            (EscapeState::Text, byte) => self.key(byte),
        }
        None
    }

    fn key(&mut self, byte: u8) {
        match byte {
            0x1b => self.within = EscapeState::Escape,
            0x08 | 0x7f => drop(self.text.pop()),
            // Ctrl-U and Ctrl-W, as in any terminal.
            0x15 => self.text.clear(),
            0x17 => {
                let kept = self.text.trim_end().rfind(' ').map_or(0, |at| at + 1);
                self.text.truncate(kept);
            }
            b'\t' => self.push(' '),
            0x00..=0x1f => {}
            _ => self.letter(byte),
        }
    }

    fn letter(&mut self, byte: u8) {
        if byte.is_ascii() || byte >= 0xc0 {
            self.part.clear();
        }
        self.part.push(byte);
        if let Ok(text) = std::str::from_utf8(&self.part) {
            let letter = text.chars().next();
            self.part.clear();
            letter.into_iter().for_each(|letter| self.push(letter));
        } else if self.part.len() >= 4 {
            self.part.clear();
        }
    }

    fn push(&mut self, letter: char) {
        if self.text.len() < LONGEST {
            self.text.push(letter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LineEditor;

    fn typed(keys: &[u8]) -> (Vec<String>, String) {
        let mut line = LineEditor::default();
        let lines = keys.iter().filter_map(|key| line.take(*key)).collect();
        (lines, line.as_str().to_owned())
    }

    #[test]
    fn keys_make_a_line() {
        assert_eq!(typed("réd\n漢x".as_bytes()), (vec!["réd".to_owned()], "漢x".to_owned()));
        assert_eq!(typed("ré\u{7f}\u{7f}ab".as_bytes()).1, "ab", "backspace takes a character, not a byte");
        assert_eq!(typed(b"one two \x17x").1, "one x");
        assert_eq!(typed(b"one two\x15x").1, "x");
        assert_eq!(typed(b"a\x1b[A\x1b[1;5Cb\x1bOPc\x1bqd\x04").1, "abcd", "arrows and the like are no text");
        assert_eq!(typed(b"a\xff\xffb\xe6\x9fc").1, "abc", "nor is what is not UTF-8");
    }
}
