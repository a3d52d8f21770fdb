//! `interlock session next`

use clap::Args;
use serde_json::json;

use crate::commands::examples;
use interlock_app::context::AppContext;
use interlock_app::error::CommandExit;
use interlock_app::error::CommandResult;
use interlock_app::output::CommandOutput;
use interlock_app::session_view;

/// Show what may happen now: assignments to claim, questions to answer
///
/// Whatever is not listed here would be refused. An assignment that is claimed waits for its report.
#[derive(Args)]
#[command(after_help = examples!("interlock session next add-login-4f2k"))]
pub(crate) struct SessionNextCommand {
    #[arg(value_name = "SESSION")]
    session: String,
}

impl SessionNextCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let mut engine = place.engine()?;
        let (live, workflow) = engine.load_session(&self.session)?;
        let briefs = session_view::briefs(&mut engine, &live, &workflow)?;
        if output.json {
            let (assignments, questions) = (session_view::assignments(&live), session_view::questions(&live, &briefs));
            let gates = session_view::gates(&live, &workflow, &engine.feature_directory(&self.session));
            output.document(&json!({ "assignments": assignments, "questions": questions, "gates": gates }))?;
        } else {
            output.text(&session_view::next(&live, &briefs))?;
        }
        Ok(CommandExit::Done)
    }
}
