//! Words of a command line: what they say once their quotes are off, and what is only known when they are used.

use rable::{Node, NodeKind};

use crate::shell::read::Reader;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    /// Without quotes; a variable stands in it as `${NAME}`.
    pub(crate) text: String,
    pub(crate) sure: Sure,
    /// It stands for files that fit it.
    pub(crate) fits: bool,
}

/// How much of a word is known before it is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sure {
    #[default]
    Plain,
    /// There are variables in it.
    Variable,
    /// Something has to be run, or cannot be read.
    Computed,
}

impl Word {
    fn at_least(&mut self, sure: Sure) {
        self.sure = self.sure.max(sure);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    Open,
    Single,
    Double,
}

impl Reader {
    /// The word that a node is; what is run to make it is read as well.
    pub(super) fn word(&mut self, node: &Node) -> Word {
        let mut word = Word::default();
        let NodeKind::Word { value, parts, .. } = &node.kind else {
            word.at_least(Sure::Computed);
            return word;
        };
        let mut quote = Quote::Open;
        for part in parts {
            self.part(part, &mut word, &mut quote);
        }
        if parts.is_empty() {
            self.literal(value, &mut word, &mut quote);
        }
        if quote != Quote::Open {
            word.at_least(Sure::Computed);
        }
        word
    }

    fn part(&mut self, part: &Node, word: &mut Word, quote: &mut Quote) {
        match &part.kind {
            NodeKind::WordLiteral { value } => self.literal(value, word, quote),
            NodeKind::AnsiCQuote { decoded, .. } => word.text.push_str(decoded),
            NodeKind::LocaleString { inner, .. } => {
                let mut double = Quote::Double;
                self.literal(inner, word, &mut double);
            }
            NodeKind::ParamExpansion { param, op: None, .. } if is_name(param) => {
                word.text.push_str(&format!("${{{param}}}"));
                word.at_least(Sure::Variable);
            }
            NodeKind::BraceExpansion { content } => {
                word.text.push_str(content);
                word.fits = true;
                // It becomes several words, and one of them may be an option.
                word.at_least(Sure::Variable);
                if content.contains(['$', '`', '/', '\'', '"', '\\', '(']) {
                    word.at_least(Sure::Computed);
                    self.hidden(content);
                }
            }
            NodeKind::CommandSubstitution { command, .. } | NodeKind::ProcessSubstitution { command, .. } => {
                word.at_least(Sure::Computed);
                self.node(command);
            }
            NodeKind::ParamExpansion { param, arg, .. } | NodeKind::ParamIndirect { param, arg, .. } => {
                word.at_least(Sure::Computed);
                self.hidden(param);
                self.hidden(arg.as_deref().unwrap_or_default());
            }
            // Arithmetic can run commands as well, and a length cannot.
            _ => word.at_least(Sure::Computed),
        }
    }

    fn literal(&mut self, value: &str, word: &mut Word, quote: &mut Quote) {
        // Substitutions that lie deep are left as they are.
        let deep = ["$(", "<(", ">("].iter().find_map(|open| value.strip_prefix(open)?.strip_suffix(')'));
        if let Some(inner) = deep.filter(|_| *quote != Quote::Single) {
            word.at_least(Sure::Computed);
            return self.inner(inner);
        }
        // In backticks these begin and end others.
        if value.contains("\\`") {
            word.at_least(Sure::Computed);
        }
        let mut characters = value.chars().peekable();
        while let Some(character) = characters.next() {
            match (*quote, character) {
                (Quote::Open, '\'') => *quote = Quote::Single,
                (Quote::Open, '"') => *quote = Quote::Double,
                (Quote::Single, '\'') | (Quote::Double, '"') => *quote = Quote::Open,
                (Quote::Open, '\\') => word.text.extend(characters.next()),
                (Quote::Double, '\\') => {
                    let escaped = characters.next_if(|next| matches!(next, '"' | '\\' | '$' | '`' | '\n'));
                    word.text.push(escaped.unwrap_or('\\'));
                }
                (Quote::Open, '*' | '?' | '[') => {
                    word.fits = true;
                    word.text.push(character);
                }
                // What a shell other than the one that this was read for would run.
                (Quote::Open, '(' | ')') | (Quote::Open | Quote::Double, '`') => {
                    word.at_least(Sure::Computed);
                    word.text.push(character);
                }
                (Quote::Open | Quote::Double, '$') if matches!(characters.peek(), Some('(' | '[' | '{')) => {
                    word.at_least(Sure::Computed);
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
