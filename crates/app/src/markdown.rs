//! Markdown as plain text for a terminal.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use interlock_system::text::{HEADING, NAME, TerminalText, wrap};

/// Stands for a space inside code, where a line must not break.
const NO_BREAK: char = '\u{a0}';

/// Headings, paragraphs, lists and code, wrapped at `width`; code stays as it is.
pub fn render(markdown: &str, width: usize) -> TerminalText {
    let mut page = MarkdownRenderer {
        text: TerminalText::default(),
        width,
        inline: String::new(),
        lists: 0,
        bullet: false,
        code: false,
    };
    for event in Parser::new(markdown) {
        page.take(event);
    }
    page.text
}

struct MarkdownRenderer {
    text: TerminalText,
    width: usize,
    /// The paragraph that is being collected; code in it keeps its backticks.
    inline: String,
    lists: usize,
    bullet: bool,
    code: bool,
}

impl MarkdownRenderer {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::Heading { .. } | Tag::Paragraph) => self.begin_block(),
            Event::Start(Tag::CodeBlock(_)) => {
                self.begin_block();
                self.code = true;
            }
            Event::Start(Tag::List(_)) => {
                self.flush();
                if self.lists == 0 {
                    self.begin_block();
                }
                self.lists += 1;
            }
            Event::Start(Tag::Item) => self.bullet = true,
            Event::End(TagEnd::Heading(_)) => {
                let heading = std::mem::take(&mut self.inline);
                self.text.paint(HEADING, heading);
                self.text.push("\n");
            }
            Event::End(TagEnd::Paragraph | TagEnd::Item) => self.flush(),
            Event::End(TagEnd::CodeBlock) => self.code = false,
            Event::End(TagEnd::List(_)) => self.lists -= 1,
            Event::Text(text) if self.code => {
                for line in text.lines() {
                    self.text.line(format!("    {line}").trim_end().replace('\t', "    "));
                }
            }
            Event::Text(text) | Event::InlineHtml(text) => self.inline.push_str(&text),
            Event::Code(text) => self.inline.push_str(&format!("`{text}`").replace(' ', &NO_BREAK.to_string())),
            Event::SoftBreak | Event::HardBreak => self.inline.push(' '),
            _ => {}
        }
    }

    fn begin_block(&mut self) {
        if !self.text.as_str().is_empty() && self.lists == 0 {
            self.text.push("\n");
        }
    }

    /// Writes the collected paragraph or list item.
    fn flush(&mut self) {
        let paragraph = std::mem::take(&mut self.inline);
        if paragraph.is_empty() {
            return;
        }
        let indent = "  ".repeat(self.lists);
        for line in wrap(&paragraph, self.width.saturating_sub(indent.len())) {
            let first = std::mem::take(&mut self.bullet);
            self.text.put(if first { format!("{}- ", "  ".repeat(self.lists - 1)) } else { indent.clone() });
            self.paint_code(&line.replace(NO_BREAK, " "));
            self.text.push("\n");
        }
    }

    /// Backticks stay, because what stands between them can be copied; it is coloured as well.
    fn paint_code(&mut self, line: &str) {
        for (index, part) in line.split('`').enumerate() {
            if index > 0 {
                self.text.push("`");
            }
            match part {
                "" => {}
                code if index % 2 == 1 => self.text.paint(NAME, code),
                plain => self.text.put(plain),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(markdown: &str, width: usize) -> String {
        anstream::adapter::strip_str(render(markdown, width).as_str()).to_string()
    }

    #[test]
    fn blocks_stand_apart_and_code_is_kept() {
        let page = "# E0104: no such *key*\n\nOne `two three` four.\nFive.\n\n```yaml wrong\na:\n\n  b: 1\n```\n\n## Fix it\n\n- one\n- two `x`\n  and three\n";
        assert_eq!(
            plain(page, 20),
            "E0104: no such key\n\nOne `two three`\nfour. Five.\n\n    a:\n\n      b: 1\n\nFix it\n\n- one\n- two `x` and three\n"
        );
    }

    #[test]
    fn long_items_are_wrapped_under_themselves() {
        assert_eq!(plain("Text\n\n- aaa bbb ccc\n- d\n", 9), "Text\n\n- aaa bbb\n  ccc\n- d\n");
    }

    #[test]
    fn a_line_does_not_break_inside_code() {
        let text = render("aaa `b c` d", 8);
        assert_eq!(text.as_str(), "aaa\n`\u{1b}[36mb c\u{1b}[0m` d\n");
    }
}
