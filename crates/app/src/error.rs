//! How a command ends when it does not do what was asked.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use interlock_core::code::Code;
use interlock_core::decision::JudgementReason;
use interlock_core::problem::{Place, Problem, ProblemGroup, group_problems};
use interlock_core::rejection::Rejection;
use serde_json::{Value as Json, json};

use crate::diagnostics;
use crate::output::{CommandOutput, print_diagnostics};
use interlock_engine::EngineError;
use interlock_store::StoreError;
use interlock_system::text::TerminalText;

/// The exit codes that scripts rely on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommandExit {
    Done = 0,
    /// Interlock itself is at fault.
    Bug = 1,
    /// The command line cannot be understood.
    Usage = 2,
    /// The workflow or a guard does not allow it.
    Refused = 3,
    /// A workflow, a handoff or an answer is not valid.
    Invalid = 4,
    /// The store or something else outside is not there.
    Unavailable = 5,
}

/// How a command ends: done, or a result that is itself a refusal, or a failure.
pub type CommandResult = Result<CommandExit, CommandError>;

impl From<CommandExit> for ExitCode {
    fn from(exit: CommandExit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// The texts that problems point into, by the name that their places carry.
#[derive(Default)]
pub struct SourceTexts(BTreeMap<String, String>);

impl FromIterator<(String, String)> for SourceTexts {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(texts: I) -> Self {
        Self(texts.into_iter().collect())
    }
}

impl SourceTexts {
    pub(crate) fn get(&self, file: &str) -> Option<&str> {
        self.0.get(file).map(String::as_str)
    }
}

/// Why a command did not do what was asked, for people and for scripts.
pub struct CommandError {
    exit: CommandExit,
    code: Code,
    message: String,
    /// Details that only some errors have. Boxed, because every result carries the room for them.
    more: Box<ErrorDetails>,
}

#[derive(Default)]
struct ErrorDetails {
    help: Option<String>,
    at: Option<Place>,
    allowed: Vec<String>,
    problems: Vec<Problem>,
    /// Why a session cannot complete.
    reasons: Vec<JudgementReason>,
    sources: SourceTexts,
    /// The text printed for people instead, for messages that clap has already formatted.
    printed: Option<TerminalText>,
    silent: bool,
}

impl CommandError {
    pub fn new(exit: CommandExit, code: Code, message: impl Into<String>) -> Self {
        Self { exit, code, message: message.into(), more: Box::default() }
    }

    /// Input with at least one error in it. The first error speaks for all of them.
    pub fn invalid(mut problems: Vec<Problem>, sources: SourceTexts) -> Self {
        diagnostics::sort(&mut problems);
        let Some(first) = problems.iter().find(|problem| problem.is_error()) else {
            return Self::new(CommandExit::Bug, Code::Bug, "input was refused without an error in it");
        };
        let grouped = group_problems(&problems);
        let message = grouped.iter().find(|group| group.first.is_error()).map(ProblemGroup::message);
        let mut failure = Self::new(CommandExit::Invalid, first.code, message.unwrap_or_else(|| first.message.clone()));
        let (help, at) = (Some(first.advice().to_owned()), first.at.clone());
        *failure.more = ErrorDetails { help, at, problems, sources, ..ErrorDetails::default() };
        failure
    }

    /// The reader of stdout has closed it. That is the reader's choice and not an error.
    pub(crate) fn reader_gone() -> Self {
        let mut failure = Self::new(CommandExit::Done, Code::OutputFailed, "");
        failure.more.silent = true;
        failure
    }

    #[must_use]
    /// A file or folder for an agent that could not be written.
    pub fn output(path: &Path, error: &io::Error) -> Self {
        Self::new(CommandExit::Unavailable, Code::OutputFailed, format!("{}: {error}", path.display()))
    }

    pub fn code(&self) -> Code {
        self.code
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    /// The problems of the input, one by one.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.more.problems.iter().filter(|problem| problem.is_error())
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.more.help = Some(help.into());
        self
    }

    #[must_use]
    pub fn maybe_help(self, help: Option<String>) -> Self {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }

    /// The values that would have been accepted.
    #[must_use]
    pub fn allowed(mut self, allowed: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.more.allowed = allowed.into_iter().map(Into::into).collect();
        self
    }

    /// The texts that its problems point into.
    #[must_use]
    pub fn sources(mut self, sources: SourceTexts) -> Self {
        self.more.sources = sources;
        self
    }

    #[must_use]
    pub fn printed(mut self, text: TerminalText) -> Self {
        self.more.printed = Some(text);
        self
    }

    /// Says it: on stderr for people, on stdout for scripts.
    pub fn print_error(&self, json: bool) -> CommandExit {
        if self.more.silent {
            return self.exit;
        }
        if json {
            // If stdout is closed, there is no reader for the reason.
            let _ = CommandOutput { json }.document(&self.json());
        } else {
            print_diagnostics(&self.text());
        }
        self.exit
    }

    /// The next step: the help of this error, or that of its code.
    fn advice(&self) -> &str {
        self.more.help.as_deref().unwrap_or(self.code.help())
    }

    pub fn json(&self) -> Json {
        let mut error = json!({ "code": self.code, "message": self.message, "help": self.advice() });
        if let Some(at) = &self.more.at {
            error["at"] = json!(at);
        }
        if !self.more.allowed.is_empty() {
            error["allowed"] = json!(self.more.allowed);
        }
        let (errors, warnings): (Vec<_>, Vec<_>) = self.more.problems.iter().partition(|problem| problem.is_error());
        if !errors.is_empty() {
            error["problems"] = json!(errors);
        }
        if !warnings.is_empty() {
            error["warnings"] = json!(warnings);
        }
        if !self.more.reasons.is_empty() {
            error["reasons"] = json!(self.more.reasons);
        }
        json!({ "error": error })
    }

    pub fn text(&self) -> TerminalText {
        let mut text = TerminalText::default();
        if let Some(printed) = &self.more.printed {
            text.push_rendered(printed.as_str());
            return text;
        }
        if self.more.problems.iter().any(|problem| problem.at.is_some()) {
            return diagnostics::problems(&self.more.problems, &self.more.sources);
        }
        let head = Problem::new(self.code, self.message.clone()).help(self.advice());
        diagnostics::problem(&mut text, &head, &self.notes());
        if self.exit != CommandExit::Bug {
            text.push("\n");
            text.line(format_args!("`interlock explain {}` says more", self.code));
        }
        text
    }

    /// The help is the same list already, or there is nothing to list.
    fn help_lists_allowed(&self) -> bool {
        let mut sorted: Vec<&str> = self.more.allowed.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        sorted.dedup();
        self.advice().ends_with(&sorted.join(", "))
    }

    /// The lines under the message: reasons and problems without a place by their codes, and the allowed values.
    fn notes(&self) -> Vec<(String, String)> {
        let problems = group_problems(&self.more.problems).into_iter().map(|group| (group.first.code, group.message()));
        let problems = problems.filter(|(_, message)| *message != self.message);
        let problems = problems.map(|(code, message)| (code.to_string(), message));
        let reasons = self.more.reasons.iter().map(|reason| (reason.code.to_string(), reason.text.to_string()));
        let allowed = Some(self.more.allowed.join(", ")).filter(|_| !self.help_lists_allowed());
        problems.chain(reasons).chain(allowed.map(|allowed| ("allowed".to_owned(), allowed))).collect()
    }
}

/// The store could not do it. Where its guards or its seals speak, it was refused.
impl From<StoreError> for CommandError {
    fn from(fault: StoreError) -> Self {
        let exit = match fault.code {
            Code::GuardFired | Code::ChainBroken | Code::PinnedChanged => CommandExit::Refused,
            Code::BackupExists | Code::BadHead => CommandExit::Invalid,
            Code::Bug => CommandExit::Bug,
            _ => CommandExit::Unavailable,
        };
        CommandError::new(exit, fault.code, fault.message).maybe_help(fault.help)
    }
}

impl From<EngineError> for CommandError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Refused(rejection) => CommandError::from(*rejection),
            EngineError::Fault(fault) => CommandError::from(fault),
        }
    }
}

/// A rejection by the core. Errors in the submitted data are invalid input; all others are refusals.
impl From<Rejection> for CommandError {
    fn from(rejection: Rejection) -> Self {
        // These list findings and requirements, which are no mistakes of the input.
        let lists_state = matches!(rejection.code, Code::StillOpen | Code::WeakerWorkflow);
        let about_input = rejection.code.number() < "E0300"
            || !rejection.problems.is_empty() && !lists_state
            || matches!(rejection.code, Code::NoRole | Code::BadSetting | Code::NoOption);
        let exit = if about_input { CommandExit::Invalid } else { CommandExit::Refused };
        let help = Some(rejection.advice().to_owned());
        let at = rejection.problems.first().and_then(|problem| problem.at.clone());
        let mut failure = Self::new(exit, rejection.code, rejection.message);
        let Rejection { allowed, problems, reasons, .. } = rejection;
        *failure.more = ErrorDetails { help, at, allowed, problems, reasons, ..ErrorDetails::default() };
        failure
    }
}

#[cfg(test)]
mod tests {
    use interlock_core::problem::Place;

    use super::*;

    fn place(line: u32) -> Place {
        Place { file: "w.yaml".into(), line, column: 1, length: 1 }
    }

    #[test]
    fn json_has_only_the_fields_that_apply_and_always_a_help() {
        let failure = CommandError::new(CommandExit::Invalid, Code::UnknownWorkflow, "no workflow is called `x`");
        let (message, help) = ("no workflow is called `x`", Code::UnknownWorkflow.help());
        assert_eq!(failure.json(), json!({ "error": { "code": "E0117", "message": message, "help": help } }));
        assert_eq!(failure.help("look").json()["error"]["help"], "look");
    }

    #[test]
    fn a_rejection_speaks_through_its_first_problem() {
        let problems = vec![
            Problem::new(Code::FieldMissing, "`x` is missing").at(place(3)),
            Problem::new(Code::FieldMissing, "`y` is missing").help("look"),
        ];
        let error =
            &CommandError::from(Rejection::new(Code::FieldMissing, "more is asked for").problems(problems)).json();
        assert_eq!(error["error"]["at"]["line"], 3);
        assert_eq!(error["error"]["help"], Code::FieldMissing.help());
        assert_eq!(error["error"]["problems"][0]["help"], Code::FieldMissing.help());
        assert_eq!(error["error"]["problems"][1]["help"], "look");
    }

    #[test]
    fn a_rejection_is_refused_and_lists_its_reasons() {
        let mut rejection = Rejection::new(Code::CompletionRejected, "the session cannot complete yet");
        let reason = |code: Code, group: Option<&str>, text: &str| JudgementReason {
            code: code.number().into(),
            group: group.map(Into::into),
            text: text.into(),
        };
        rejection.reasons = vec![
            reason(Code::GroupUnfinished, Some("LOGIN"), "LOGIN is in_progress"),
            reason(Code::NothingPlanned, None, "no group was ever planned"),
        ];
        let failure = CommandError::from(rejection.allowed(vec!["A".to_owned(), "B".to_owned()]));
        assert_eq!(failure.exit, CommandExit::Refused);
        assert_eq!(failure.json()["error"]["reasons"][0]["group"], "LOGIN");
        let plain = anstream::adapter::strip_str(failure.text().as_str()).to_string();
        assert_eq!(
            plain,
            "error[E0323]: the session cannot complete yet\n  = E0340: LOGIN is in_progress\n  \
             = E0347: no group was ever planned\n  = allowed: A, B\n  = help: see to every reason that is listed, \
             then ask again\n\n`interlock explain E0323` says more\n"
        );
    }

    #[test]
    fn what_was_given_in_wrongly_is_invalid_input() {
        let exit = |code| CommandError::from(Rejection::new(code, "no")).exit;
        assert_eq!(exit(Code::FieldMissing), CommandExit::Invalid);
        assert_eq!(exit(Code::NoRole), CommandExit::Invalid);
        assert_eq!(exit(Code::NotNow), CommandExit::Refused);
        assert_eq!(exit(Code::WrongToken), CommandExit::Refused);
    }

    #[test]
    fn the_first_error_in_the_file_speaks_for_all() {
        let problems = vec![
            Problem::new(Code::UnknownRole, "third").at(place(9)),
            Problem::warning(Code::NeverReached, "first, but a warning").at(place(1)),
            Problem::new(Code::UnknownKey, "second").help("look").at(place(2)),
        ];
        let error = &CommandError::invalid(problems, SourceTexts::default()).json()["error"];
        assert_eq!(error["code"], "E0104");
        assert_eq!(error["message"], "second");
        assert_eq!(error["help"], "look");
        assert_eq!(error["at"], json!({ "file": "w.yaml", "line": 2, "column": 1 }));
        assert_eq!(error["problems"].as_array().unwrap().len(), 2);
        assert_eq!(error["warnings"][0]["code"], "E0137");
    }
}
