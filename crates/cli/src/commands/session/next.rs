//! `interlock session next`

use clap::Args;
use serde_json::json;

use crate::commands::examples;
use interlock_app::failure::Ending;
use interlock_app::failure::Exit;
use interlock_app::output::Output;
use interlock_app::place::Place;
use interlock_app::standing;

/// Show what may happen now: assignments to claim, questions to answer
///
/// Whatever is not listed here would be refused. An assignment that is claimed waits for its report.
#[derive(Args)]
#[command(after_help = examples!("interlock session next add-login-4f2k"))]
pub(crate) struct Next {
    #[arg(value_name = "SESSION")]
    session: String,
}

impl Next {
    pub(crate) fn run(&self, output: Output, place: &Place) -> Ending {
        let mut engine = place.engine()?;
        let (live, workflow) = engine.look(&self.session)?;
        let briefs = standing::briefs(&mut engine, &live, &workflow)?;
        if output.json {
            let (assignments, questions) = (standing::assignments(&live), standing::questions(&live, &briefs));
            let gates = standing::gates(&live, &workflow, &engine.feature_directory(&self.session));
            output.document(&json!({ "assignments": assignments, "questions": questions, "gates": gates }))?;
        } else {
            output.text(&standing::next(&live, &briefs))?;
        }
        Ok(Exit::Done)
    }
}
