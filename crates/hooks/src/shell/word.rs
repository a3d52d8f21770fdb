//! Words of a command line: what they say once their quotes are off, and what is only known when they are used.

use rable::{Node, NodeKind};

use crate::shell::reader::ShellReader;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShellWord {
    /// Without quotes; a variable stands in it as `${NAME}`.
    pub(crate) text: String,
    pub(crate) sure: WordCertainty,
    /// It stands for files that fit it.
    pub(crate) fits: bool,
}

/// How much of a word is known before it is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WordCertainty {
    #[default]
    Plain,
    /// There are variables in it.
    Variable,
    /// Something has to be run, or cannot be read.
    Computed,
}

impl ShellWord {
    fn at_least(&mut self, sure: WordCertainty) {
        self.sure = self.sure.max(sure);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum QuoteState {
    Open,
    Single,
    Double,
}

impl ShellReader {
    /// The word that a node is; what is run to make it is read as well.
    pub(super) fn word(&mut self, node: &Node) -> ShellWord {
        let mut word = ShellWord::default();
        let NodeKind::Word { value, parts, .. } = &node.kind else {
            word.at_least(WordCertainty::Computed);
            return word;
        };
        let mut quote = QuoteState::Open;
        for part in parts {
            self.part(part, &mut word, &mut quote);
        }
        if parts.is_empty() {
            self.literal(value, &mut word, &mut quote);
        }
        if quote != QuoteState::Open {
            word.at_least(WordCertainty::Computed);
        }
        word
    }

    fn part(&mut self, part: &Node, word: &mut ShellWord, quote: &mut QuoteState) {
        match &part.kind {
            NodeKind::WordLiteral { value } => self.literal(value, word, quote),
            NodeKind::AnsiCQuote { decoded, .. } => word.text.push_str(decoded),
            NodeKind::LocaleString { inner, .. } => {
                let mut double = QuoteState::Double;
                self.literal(inner, word, &mut double);
            }
            NodeKind::ParamExpansion { param, op: None, .. } if is_name(param) => {
                word.text.push_str(&format!("${{{param}}}"));
                word.at_least(WordCertainty::Variable);
            }
            NodeKind::BraceExpansion { content } => {
                word.text.push_str(content);
                word.fits = true;
                // It becomes several words, and one of them may be an option.
                word.at_least(WordCertainty::Variable);
                if content.contains(['$', '`', '/', '\'', '"', '\\', '(']) {
                    word.at_least(WordCertainty::Computed);
                    self.hidden(content);
                }
            }
            NodeKind::CommandSubstitution { command, .. } | NodeKind::ProcessSubstitution { command, .. } => {
                word.at_least(WordCertainty::Computed);
                self.node(command);
            }
            NodeKind::ParamExpansion { param, arg, .. } | NodeKind::ParamIndirect { param, arg, .. } => {
                word.at_least(WordCertainty::Computed);
                self.hidden(param);
                self.hidden(arg.as_deref().unwrap_or_default());
            }
            // Arithmetic can run commands as well, and a length cannot.
            _ => word.at_least(WordCertainty::Computed),
        }
    }

    fn literal(&mut self, value: &str, word: &mut ShellWord, quote: &mut QuoteState) {
        // Substitutions that lie deep are left as they are.
        let deep = ["$(", "<(", ">("].iter().find_map(|open| value.strip_prefix(open)?.strip_suffix(')'));
        if let Some(inner) = deep.filter(|_| *quote != QuoteState::Single) {
            word.at_least(WordCertainty::Computed);
            return self.inner(inner);
        }
        // In backticks these begin and end others.
        if value.contains("\\`") {
            word.at_least(WordCertainty::Computed);
        }
        let mut characters = value.chars().peekable();
        while let Some(character) = characters.next() {
            match (*quote, character) {
                (QuoteState::Open, '\'') => *quote = QuoteState::Single,
                (QuoteState::Open, '"') => *quote = QuoteState::Double,
                (QuoteState::Single, '\'') | (QuoteState::Double, '"') => *quote = QuoteState::Open,
                (QuoteState::Open, '\\') => word.text.extend(characters.next()),
                (QuoteState::Double, '\\') => {
                    let escaped = characters.next_if(|next| matches!(next, '"' | '\\' | '$' | '`' | '\n'));
                    word.text.push(escaped.unwrap_or('\\'));
                }
                (QuoteState::Open, '*' | '?' | '[') => {
                    word.fits = true;
                    word.text.push(character);
                }
                // Another shell than the one that this line was parsed for would run this.
                (QuoteState::Open, '(' | ')') | (QuoteState::Open | QuoteState::Double, '`') => {
                    word.at_least(WordCertainty::Computed);
                    word.text.push(character);
                }
                (QuoteState::Open | QuoteState::Double, '$') if matches!(characters.peek(), Some('(' | '[' | '{')) => {
                    word.at_least(WordCertainty::Computed);
                    word.text.push(character);
                }
                (_, plain) => word.text.push(plain),
            }
        }
    }
}

/// Something that a variable can be called, and no more than that.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}
