//! `interlock answer`

use clap::Args;
use interlock_core::code::Code;
use interlock_core::command::{self, AnswerChoice, Command};
use interlock_core::id::Name;

use crate::commands::examples;
use interlock_app::context::{AppContext, person};
use interlock_app::decision;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::output::CommandOutput;
use interlock_engine::{Engine, Operation, QuestionRef, Request};
use interlock_system::sanitise;

/// Answer a question (takes the operator key)
///
/// The answer is recorded with who gave it, and decides what follows. Only people have the key: no agent can answer in
/// their place.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock answer add-login-4f2k.q1 --option retry --as ann"
    "interlock answer add-login-4f2k.q2 --option reject --text \"the second button is missing\""
    "interlock answer add-login-4f2k.q3 --text \"Use the staging server\""
))]
pub(crate) struct AnswerCommand {
    #[arg(value_name = "QUESTION", value_parser = QuestionRef::parse)]
    question: QuestionRef,

    /// One of the options, by its name or its number
    #[arg(long, value_name = "NAME or NUMBER")]
    option: Option<String>,

    /// Words of your own; with an option, what goes with it
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,

    /// Allow agents to change protected paths that fit this pattern, such as ".github/workflows/**"; may be repeated
    #[arg(long, value_name = "GLOB")]
    allow: Vec<String>,

    /// Who answers
    #[arg(long = "as", value_name = "NAME")]
    by: Option<String>,
}

impl AnswerCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let mut engine = place.engine()?;
        let text = self.text.as_deref().map(Name::new);
        let choice = match (&self.option, text) {
            (Some(option), text) => AnswerChoice::Option { name: self.named(&mut engine, option)?, text },
            (None, Some(text)) => AnswerChoice::Text(text),
            (None, None) => {
                let message = "an answer takes --option, --text or both";
                return Err(
                    CommandError::new(CommandExit::Usage, Code::BadArgument, message).help(self.asked(&mut engine)?)
                );
            }
        };
        let QuestionRef { session, id } = &self.question;
        let allow = self.allow.iter().map(|pattern| Name::new(pattern)).collect();
        let answer = command::AnswerQuestion { question: *id, choice, by: person(self.by.as_deref()), allow };
        let order = Request { session: session.clone(), task: Operation::Simple(Command::Answer(answer)) };
        decision::print_committed(output, &engine.execute(&order)?)
    }

    /// The text of the question, for a caller that has not passed an answer.
    fn asked(&self, engine: &mut Engine) -> Result<String, CommandError> {
        let mut view = engine.store().view()?;
        let asked = match view.session(&self.question.session)? {
            Some(session) => view.question(session.key, self.question.id)?.filter(|asked| asked.open),
            None => None,
        };
        let Some(asked) = asked else { return Ok("`interlock question list` shows what is asked".to_owned()) };
        // The options follow, so lines of the question must not look like one.
        let lines = asked.text.lines().map(|line| format!("| {}", sanitise::line(line)));
        let mut help = if asked.text.lines().count() > 1 {
            format!("the question is:\n{}", lines.collect::<Vec<_>>().join("\n"))
        } else {
            sanitise::line(&asked.text).into_owned()
        };
        for (number, option) in asked.options.iter().enumerate() {
            help.push_str(&format!("\n  {}. {}", number + 1, sanitise::line(option)));
        }
        Ok(help)
    }

    /// An option by its number, unless one is called that.
    fn named(&self, engine: &mut Engine, option: &str) -> Result<Name, CommandError> {
        let mut view = engine.store().view()?;
        let Some(session) = view.session(&self.question.session)? else { return Ok(Name::new(option)) };
        let asked = view.question(session.key, self.question.id)?;
        let options = asked.map(|asked| asked.options).unwrap_or_default();
        if options.iter().any(|known| *known == option) {
            return Ok(Name::new(option));
        }
        let numbered = option.parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?).cloned());
        Ok(numbered.unwrap_or_else(|| Name::new(option)))
    }
}
