//! `interlock session show`

use clap::Args;

use crate::commands::examples;
use interlock_app::failure::Ending;
use interlock_app::failure::Exit;
use interlock_app::library;
use interlock_app::output::Output;
use interlock_app::place::Place;
use interlock_app::standing;

/// Show how a session stands: its groups, who works, what loops, what is asked
///
/// Also says which workflow it is pinned to, and whether the file has changed since.
#[derive(Args)]
#[command(after_help = examples!("interlock session show add-login-4f2k"))]
pub(crate) struct Show {
    #[arg(value_name = "SESSION")]
    session: String,
}

impl Show {
    pub(crate) fn run(&self, output: Output, place: &Place) -> Ending {
        let mut engine = place.engine()?;
        let (live, workflow) = engine.look(&self.session)?;
        let file = engine.store().view()?.workflow(workflow.hash)?.and_then(|pinned| pinned.sources.into_iter().next());
        let today = file.and_then(|(file, _)| library::hash_today(&file));
        let pinned = standing::Pinned { file_says: today };
        let briefs = standing::briefs(&mut engine, &live, &workflow)?;
        if output.json {
            let directory = engine.feature_directory(&self.session);
            output.document(&standing::session(&live, &workflow, &pinned, &briefs, &directory))?;
        } else {
            output.text(&standing::text(&live, &workflow, &pinned, &briefs))?;
        }
        Ok(Exit::Done)
    }
}
