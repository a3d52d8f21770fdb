//! `interlock complete`

use clap::Args;
use interlock_core::command::{self, Command};
use interlock_core::decision::{CompletionJudgement, CompletionVerdict};
use interlock_core::id::Name;
use interlock_core::state::SessionStatus;
use serde_json::json;

use crate::commands::examples;
use interlock_app::context::{AppContext, person};
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::output::CommandOutput;
use interlock_app::session_view;
use interlock_engine::{Engine, Operation, Request};
use interlock_system::sanitise;
use interlock_system::text::{HEADING, NAME, TerminalText};

/// Ask for the end of a session, and see what stands against it
///
/// Nothing is completed by asking: a session ends when the role that may end it says so and nothing stands against it.
#[derive(Args)]
#[command(after_help = examples!("interlock complete add-login-4f2k --as ann"))]
pub(crate) struct CompleteCommand {
    #[arg(value_name = "SESSION")]
    session: String,
    /// Who asks
    #[arg(long = "as", value_name = "NAME")]
    by: Option<String>,
}

impl CompleteCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let mut engine = place.engine()?;
        let judgement = self.judgement(&mut engine)?;
        let (live, workflow) = engine.load_session(&self.session)?;
        let exceptions = live.state.completion_exceptions(&workflow);
        let changes = live.state.changes_statement();
        let CompletionJudgement { verdict, reasons } = &judgement;
        if output.json {
            output.document(&json!({
                "verdict": verdict, "reasons": reasons, "exceptions": exceptions, "changes": changes,
            }))?;
        } else {
            let mut text = TerminalText::default();
            text.paint(HEADING, if *verdict == CompletionVerdict::Accept { "ACCEPT" } else { "REJECT" });
            text.push("\n");
            for reason in reasons {
                text.push("  ");
                text.paint(NAME, &reason.code);
                text.line(format_args!("  {}", sanitise::line(&reason.text)));
            }
            if !exceptions.is_empty() {
                text.paint(HEADING, "exceptions");
                text.push("\n");
                exceptions.iter().for_each(|exception| session_view::exception_line(&mut text, exception));
            }
            for sentence in &changes {
                text.line(format_args!("  {}", sanitise::line(sentence)));
            }
            output.text(&text)?;
        }
        Ok(if *verdict == CompletionVerdict::Accept { CommandExit::Done } else { CommandExit::Refused })
    }

    /// A completed session is accepted already. In any other, the request is recorded with its judgement.
    fn judgement(&self, engine: &mut Engine) -> Result<CompletionJudgement, CommandError> {
        let (live, _) = engine.load_session(&self.session)?;
        if live.state.status == SessionStatus::Completed {
            return Ok(CompletionJudgement { verdict: CompletionVerdict::Accept, reasons: Vec::new() });
        }
        let complete = command::CompleteSession { by: person(self.by.as_deref()) };
        let order = Request { session: Name::new(&self.session), task: Operation::Simple(Command::Complete(complete)) };
        let done = engine.execute(&order)?;
        let judgement = done.event.decision.as_ref().and_then(|decision| decision.judgement.clone());
        judgement.ok_or_else(|| CommandError::from(interlock_engine::EngineError::internal_error()))
    }
}
