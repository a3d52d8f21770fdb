//! `interlock why`

use clap::Args;

use crate::commands::examples;
use interlock_app::explain::{Subject, explained};
use interlock_app::failure::{Ending, Exit};
use interlock_app::output::Output;
use interlock_app::place::Place;

/// Explain a decision: who reported what, the rule that decided, the facts that it read
///
/// Names the rule with its line in the workflow that the session is pinned to, what was overridden, every reason of a
/// verdict with its code, and the fields that Interlock filled in. `interlock decisions` lists the decisions. An event
/// of `interlock log` is explained by its number: for a refusal, who was refused, every problem and what to do.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock why add-login-4f2k.d12"
    "interlock why add-login-4f2k.e5      # event 5 of the log"
))]
pub(crate) struct Why {
    #[arg(value_name = "DECISION or EVENT", value_parser = Subject::parse)]
    subject: Subject,
}

impl Why {
    pub(crate) fn run(&self, output: Output, place: &Place) -> Ending {
        let (document, text) = explained(place, &self.subject)?;
        if output.json {
            output.document(&document)?;
        } else {
            output.text(&text)?;
        }
        Ok(Exit::Done)
    }
}
