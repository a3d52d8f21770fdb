//! Cuts what a program prints into lines, in memory that does not grow with what it prints.

/// Room that is kept from one line to the next.
const KEPT: usize = 1 << 20;

/// The lines of one stream.
pub(super) struct LineSplitter {
    /// The start of a line whose end has not come yet.
    held: Vec<u8>,
    /// This line was handed on already, cut: the rest of it is dropped.
    dropping: bool,
    limit: usize,
}

impl LineSplitter {
    pub(super) fn new(limit: usize) -> Self {
        Self { held: Vec::new(), dropping: false, limit }
    }

    /// Hands on every line that `bytes` complete: without its end, and whether it was cut.
    pub(super) fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(&[u8], bool)) {
        while let Some(at) = memchr::memchr(b'\n', bytes) {
            self.complete(&bytes[..at], &mut each);
            bytes = &bytes[at + 1..];
        }
        if !bytes.is_empty() {
            self.hold(bytes, &mut each);
        }
    }

    /// The last line, if it has no end.
    pub(super) fn finish(&mut self, mut each: impl FnMut(&[u8], bool)) {
        if !self.held.is_empty() {
            each(&self.held, false);
        }
        self.held = Vec::new();
        self.dropping = false;
    }

    fn complete(&mut self, rest: &[u8], each: &mut impl FnMut(&[u8], bool)) {
        if self.dropping {
            self.dropping = false;
            return;
        }
        if self.held.is_empty() && rest.len() <= self.limit {
            each(without_return(rest), false);
            return;
        }
        self.hold(rest, each);
        if !std::mem::take(&mut self.dropping) {
            each(without_return(&self.held), false);
        }
        self.clear();
    }

    /// Keeps the start of a line; hands it on as soon as it is too long.
    fn hold(&mut self, bytes: &[u8], each: &mut impl FnMut(&[u8], bool)) {
        if self.dropping {
            return;
        }
        let room = self.limit - self.held.len();
        let taken = &bytes[..bytes.len().min(room)];
        self.make_room(taken.len());
        self.held.extend_from_slice(taken);
        if bytes.len() > room {
            each(&self.held, true);
            self.dropping = true;
            self.clear();
        }
    }

    /// Twice as much each time, but never more than a line may have.
    fn make_room(&mut self, more: usize) {
        let needed = self.held.len() + more;
        if needed > self.held.capacity() {
            let wanted = (self.held.capacity() * 2).clamp(needed, self.limit.max(needed));
            self.held.reserve_exact(wanted - self.held.len());
        }
    }

    fn clear(&mut self) {
        self.held.clear();
        self.held.shrink_to(KEPT);
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(limit: usize, pieces: &[&[u8]]) -> Vec<(Vec<u8>, bool)> {
        let mut lines = LineSplitter::new(limit);
        let mut found = Vec::new();
        for piece in pieces {
            lines.feed(piece, |line, cut| found.push((line.to_vec(), cut)));
        }
        lines.finish(|line, cut| found.push((line.to_vec(), cut)));
        found
    }

    #[test]
    fn lines_are_the_same_however_they_come() {
        let text = b"one\n\ntwo\r\nlast";
        let whole = cut(8, &[text]);
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(whole, cut(8, &bytes));
        let words: Vec<&[u8]> = whole.iter().map(|(line, _)| line.as_slice()).collect();
        assert_eq!(words, [&b"one"[..], b"", b"two", b"last"]);
        assert!(whole.iter().all(|(_, cut)| !cut));
    }

    #[test]
    fn a_long_line_is_handed_on_once_and_the_next_is_whole() {
        let expected = [(b"abcd".to_vec(), true), (b"next".to_vec(), false)];
        assert_eq!(cut(4, &[b"abcdefgh\nnext\n"]), expected);
        assert_eq!(cut(4, &[b"ab", b"cd", b"ef", b"gh\nne", b"xt"]), expected);
        assert_eq!(cut(4, &[b"abcd", b"\n"]), [(b"abcd".to_vec(), false)]);
        assert_eq!(cut(4, &[b"abcd", b"e"]), [(b"abcd".to_vec(), true)]);
    }

    #[test]
    fn memory_is_bounded_by_the_limit_of_a_line() {
        let mut lines = LineSplitter::new(3 << 20);
        let chunk = vec![b'x'; 64 << 10];
        for _ in 0..47 {
            lines.feed(&chunk, |_, _| panic!("not cut yet"));
            assert!(lines.held.capacity() <= 3 << 20);
        }
        let mut handed = 0;
        for _ in 0..1000 {
            lines.feed(&chunk, |line, cut| {
                assert!(cut && line.len() == 3 << 20);
                handed += 1;
            });
        }
        assert_eq!(handed, 1);
        assert!(lines.held.capacity() <= KEPT);
    }
}
