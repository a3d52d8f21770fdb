//! `interlock session show`

use clap::Args;

use crate::commands::examples;
use interlock_app::context::AppContext;
use interlock_app::error::CommandExit;
use interlock_app::error::CommandResult;
use interlock_app::library;
use interlock_app::output::CommandOutput;
use interlock_app::session_view;

/// Show how a session stands: its groups, who works, what loops, what is asked
///
/// Also says which workflow it is pinned to, and whether the file has changed since.
#[derive(Args)]
#[command(after_help = examples!("interlock session show add-login-4f2k"))]
pub(crate) struct SessionShowCommand {
    #[arg(value_name = "SESSION")]
    session: String,
}

impl SessionShowCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let mut engine = place.engine()?;
        let (live, workflow) = engine.load_session(&self.session)?;
        let file = engine.store().view()?.workflow(workflow.hash)?.and_then(|pinned| pinned.sources.into_iter().next());
        let today = file.and_then(|(file, _)| library::hash_today(&file));
        let pinned = session_view::PinnedFileState { file_says: today };
        let briefs = session_view::briefs(&mut engine, &live, &workflow)?;
        if output.json {
            let directory = engine.feature_directory(&self.session);
            output.document(&session_view::session(&live, &workflow, &pinned, &briefs, &directory))?;
        } else {
            output.text(&session_view::text(&live, &workflow, &pinned, &briefs))?;
        }
        Ok(CommandExit::Done)
    }
}
