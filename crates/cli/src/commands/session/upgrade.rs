//! `interlock session upgrade`

use std::sync::Arc;

use clap::Args;
use interlock_core::id::Name;
use interlock_core::workflow::dropped_requirements;
use serde_json::json;
use similar::TextDiff;

use crate::commands::examples;
use interlock_app::context::{AppContext, person};
use interlock_app::error::CommandExit;
use interlock_app::error::CommandResult;
use interlock_app::library;
use interlock_app::output::CommandOutput;
use interlock_engine::{Operation, Request};
use interlock_store::PinnedSources;
use interlock_system::sanitise;
use interlock_system::text::{HEADING, NAME, TerminalText};

/// Move a session to another version of its workflow, and show the difference (takes the operator key)
///
/// Only if the new one has a place for everything that is under way; otherwise every reason is listed, and nothing
/// changes. A workflow that demands less is refused with each dropped requirement, unless `--weaker` asks for it.
#[derive(Args)]
#[command(after_help = examples!("interlock session upgrade add-login-4f2k --workflow interlock.yaml"))]
pub(crate) struct SessionUpgradeCommand {
    #[arg(value_name = "SESSION")]
    session: String,

    /// The new workflow: a file or a built-in name
    #[arg(long, value_name = "NAME or FILE")]
    workflow: String,

    /// Drop requirements that the new workflow does not have; each is recorded
    #[arg(long)]
    weaker: bool,

    /// Who moves it
    #[arg(long = "as", value_name = "NAME")]
    by: Option<String>,
}

impl SessionUpgradeCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let (workflow, pinned) = library::pinnable(&self.workflow)?;
        let mut engine = place.engine()?;
        let (_, old) = engine.load_session(&self.session)?;
        let before = engine.store().view()?.workflow(old.hash)?;
        let diff = before.map(|before| diff(&before, &pinned)).unwrap_or_default();
        let (from, to) = (old.hash.to_string(), workflow.hash.to_string());
        let name = workflow.name.clone();
        let dropped = dropped_requirements(&old, &workflow);
        let (pinned, workflow) = (Arc::new(pinned), Arc::new(workflow));
        let task = Operation::Upgrade { pinned, workflow, weaker: self.weaker, by: person(self.by.as_deref()) };
        let done = engine.execute(&Request { session: Name::new(&self.session), task })?;
        if output.json {
            output.document(&json!({
                "session": done.session, "workflow": name, "workflow_hash": to, "from": from, "seq": done.seq, "diff": diff,
                "dropped": dropped,
            }))?;
            return Ok(CommandExit::Done);
        }
        let mut text = TerminalText::default();
        text.push_document(&diff);
        text.paint(HEADING, "moved ");
        text.paint(NAME, &done.session);
        let short = |hash: &str| hash.get(..12).unwrap_or_default().to_owned();
        text.line(format_args!(" from {} {} to {name} {}", old.name, short(&from), short(&to)));
        for requirement in &dropped {
            text.line(format_args!("dropped: {}", sanitise::line(requirement)));
        }
        output.text(&text)?;
        Ok(CommandExit::Done)
    }
}

/// The differences, file by file in the order in which the files extend each other.
fn diff(before: &PinnedSources, after: &PinnedSources) -> String {
    let nothing = (String::new(), String::new());
    let count = before.sources.len().max(after.sources.len());
    let pairs = (0..count)
        .map(|index| (before.sources.get(index).unwrap_or(&nothing), after.sources.get(index).unwrap_or(&nothing)));
    let mut text = String::new();
    for (old, new) in pairs.filter(|(old, new)| old.1 != new.1) {
        let lines = TextDiff::from_lines(&old.1, &new.1);
        text.push_str(&lines.unified_diff().context_radius(1).header(&old.0, &new.0).to_string());
    }
    text
}
