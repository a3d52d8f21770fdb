//! From the syntax of a command line to the commands in it, wherever they stand.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rable::{Node, NodeKind};

use crate::shell::word::{ShellWord, WordCertainty};
use crate::shell::{SHELLS, ShellCommand, ShellLine};

/// A longer text is not read.
const LONGEST: usize = 64 << 10;
/// Command lines in command lines are read this deep, and so many of them.
const DEEPEST: u32 = 8;
const MOST: u32 = 64;
/// The parser goes as deep as the text does.
const STACK: usize = 256 << 20;
/// Texts have been made that take a parser for ever.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads a text, with a bound on how deep, how long and for how long.
pub(super) fn line(text: &str) -> ShellLine {
    if text.len() > LONGEST {
        return unread();
    }
    let (give, take) = mpsc::channel();
    let text = text.to_owned();
    let started = thread::Builder::new().stack_size(STACK).spawn(move || {
        let mut reader = ShellReader { line: ShellLine::default(), depth: 0, lines: 0 };
        reader.inner(&text);
        let _ = give.send(reader.line);
    });
    match started {
        Ok(_) => take.recv_timeout(PATIENCE).unwrap_or_else(|_| unread()),
        Err(_) => unread(),
    }
}

fn unread() -> ShellLine {
    ShellLine { computed: true, unread: true, ..ShellLine::default() }
}

pub(super) struct ShellReader {
    line: ShellLine,
    depth: u32,
    lines: u32,
}

impl ShellReader {
    /// A command line in another.
    pub(super) fn inner(&mut self, text: &str) {
        self.lines += 1;
        if self.depth >= DEEPEST || self.lines > MOST {
            (self.line.computed, self.line.unread) = (true, true);
            return;
        }
        self.depth += 1;
        // Without the patterns that some shells run commands in: they are no bash, and cannot be read.
        match rable::parse(text, false) {
            Ok(nodes) => nodes.iter().for_each(|node| self.node(node)),
            Err(_) => (self.line.computed, self.line.unread) = (true, true),
        }
        self.depth -= 1;
    }

    /// A text of which only what would be run matters.
    pub(super) fn hidden(&mut self, text: &str) {
        if text.contains("$(") || text.contains('`') || text.contains("<(") {
            self.line.computed = true;
            self.inner(&format!(": \"{}\"", text.replace('"', "\\\"")));
        }
    }

    fn nodes(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|node| self.node(node));
    }

    pub(super) fn node(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::Command { assignments, words, redirects } => {
                let settings = assignments.iter().map(|setting| self.word(setting)).collect();
                let words = words.iter().map(|word| self.word(word)).collect();
                self.command(settings, words, redirects);
            }
            NodeKind::Pipeline { commands, .. } => self.pipeline(commands),
            NodeKind::List { items } => items.iter().for_each(|item| self.node(&item.command)),
            NodeKind::If { condition, then_body, else_body, redirects } => {
                self.node(condition);
                self.node(then_body);
                else_body.iter().for_each(|body| self.node(body));
                self.around(redirects);
            }
            NodeKind::While { condition, body, redirects } | NodeKind::Until { condition, body, redirects } => {
                self.node(condition);
                self.node(body);
                self.around(redirects);
            }
            NodeKind::For { var, words, body, redirects } | NodeKind::Select { var, words, body, redirects } => {
                let words = words.iter().flatten().map(|word| self.word(word)).collect();
                self.line.loops.push((var.clone(), words));
                self.node(body);
                self.around(redirects);
            }
            NodeKind::Case { word, patterns, redirects } => {
                let word = self.word(word);
                self.line.loops.push((String::new(), vec![word]));
                for pattern in patterns {
                    let words = pattern.patterns.iter().map(|word| self.word(word)).collect();
                    self.line.loops.push((String::new(), words));
                    pattern.body.iter().for_each(|body| self.node(body));
                }
                self.around(redirects);
            }
            NodeKind::Subshell { body, redirects } | NodeKind::BraceGroup { body, redirects } => {
                self.node(body);
                self.around(redirects);
            }
            NodeKind::Negation { pipeline } | NodeKind::Time { pipeline, .. } => self.node(pipeline),
            NodeKind::ConditionalExpr { body, redirects } => {
                self.condition(body);
                self.around(redirects);
            }
            NodeKind::Empty | NodeKind::Comment { .. } => {}
            other => self.computed(other),
        }
    }

    /// Nodes that change the meaning of later commands, or compute a value.
    fn computed(&mut self, kind: &NodeKind) {
        self.line.computed = true;
        match kind {
            NodeKind::Function { body: inner, .. } | NodeKind::Coproc { command: inner, .. } => self.node(inner),
            NodeKind::ForArith { init, cond, incr, body, redirects } => {
                [init, cond, incr].into_iter().for_each(|text| self.hidden(text));
                self.node(body);
                self.around(redirects);
            }
            NodeKind::ArithmeticCommand { redirects, raw_content, .. } => {
                self.hidden(raw_content);
                self.around(redirects);
            }
            _ => self.line.unread = true,
        }
    }

    fn condition(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::CondAnd { left, right } | NodeKind::CondOr { left, right } => {
                self.condition(left);
                self.condition(right);
            }
            NodeKind::BinaryTest { op, left, right } => {
                // A shell that knows no `[[` writes a file by it.
                self.line.computed |= op.contains(['<', '>']);
                self.condition(left);
                self.condition(right);
            }
            NodeKind::CondNot { operand: inner }
            | NodeKind::CondParen { inner }
            | NodeKind::UnaryTest { operand: inner, .. } => self.condition(inner),
            NodeKind::CondTerm { value, .. } => self.hidden(value),
            _ => self.line.computed = true,
        }
    }

    /// Text that is piped into a shell is a command line.
    fn pipeline(&mut self, commands: &[Node]) {
        let first = self.line.commands.len();
        self.nodes(commands);
        let of_pipe = &self.line.commands[first..];
        if !of_pipe.iter().any(ShellCommand::takes_lines) {
            return;
        }
        let sent: Vec<String> = of_pipe.iter().flat_map(ShellCommand::said).collect();
        sent.iter().for_each(|text| self.inner(text));
    }

    /// Redirections of a compound are those of a command that does nothing.
    fn around(&mut self, redirects: &[Node]) {
        if !redirects.is_empty() {
            self.command(Vec::new(), Vec::new(), redirects);
        }
    }

    fn command(&mut self, settings: Vec<ShellWord>, words: Vec<ShellWord>, redirects: &[Node]) {
        let mut command = ShellCommand { settings, words, ..ShellCommand::default() };
        for redirect in redirects {
            self.redirect(redirect, &mut command);
        }
        self.line.computed |= command.words.first().is_some_and(|first| first.sure != WordCertainty::Plain);
        let inner = command.lines();
        self.line.commands.push(command);
        inner.iter().for_each(|text| self.inner(text));
    }

    fn redirect(&mut self, redirect: &Node, command: &mut ShellCommand) {
        match &redirect.kind {
            NodeKind::HereDoc { content, quoted, .. } => {
                if !quoted {
                    self.hidden(content);
                }
                command.given.push(content.clone());
            }
            NodeKind::Redirect { op, target, .. } => {
                let target = self.word(target);
                match op.as_str() {
                    "<" | "<&" => command.input.push(target),
                    "<<<" => command.given.push(target.text),
                    // To another stream, or closed.
                    ">&" if target.text.trim_end_matches('-').chars().all(|digit| digit.is_ascii_digit()) => {}
                    _ => command.output.push(target),
                }
            }
            _ => self.line.computed = true,
        }
    }
}

impl ShellCommand {
    /// A shell that reads what it runs from its input.
    fn takes_lines(&self) -> bool {
        self.started().iter().any(|(name, words)| {
            SHELLS.contains(name) && words.iter().all(|word| word.text.starts_with('-') && !word.text.contains('c'))
        })
    }

    /// The texts that a command may write to its output.
    fn said(&self) -> Vec<String> {
        let words: Vec<&str> = self.words.iter().skip(1).map(|word| word.text.as_str()).collect();
        self.given.iter().cloned().chain((!words.is_empty()).then(|| words.join(" "))).collect()
    }

    /// The command lines that it runs.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, words) in self.started() {
            let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            let takes_line = |word: &&str| word.starts_with('-') && !word.starts_with("--") && word.contains('c');
            match name {
                "eval" | "trap" => lines.push(texts.join(" ")),
                "su" | "script" | "runuser" => {
                    let at = texts.iter().position(|word| matches!(*word, "-c" | "--command"));
                    lines.extend(at.and_then(|at| texts.get(at + 1)).map(|line| (*line).to_owned()));
                }
                shell if SHELLS.contains(&shell) => match texts.iter().position(takes_line) {
                    Some(at) => lines.extend(
                        texts[at + 1..].iter().find(|word| !word.starts_with('-')).map(|line| (*line).to_owned()),
                    ),
                    None => lines.extend(self.given.iter().cloned()),
                },
                _ => {}
            }
        }
        lines
    }
}
