//! `interlock question …`

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use interlock_core::code::Code;
use interlock_core::rejection::Rejection;
use serde_json::json;

use crate::commands::examples;
use interlock_app::context::AppContext;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::output::CommandOutput;
use interlock_prompt::QuestionBrief;
use interlock_store::{OpenQuestion, Store as _};
use interlock_system::text::{NAME, TerminalText};

/// See what only a person can settle
///
/// A question waits until somebody answers it; the work it holds up waits with it.
#[derive(Subcommand)]
#[command(after_help = examples!("interlock question list"))]
pub(crate) enum QuestionCommand {
    List(QuestionListCommand),
}

/// List the open questions, of one session or of all
///
/// Each with its options, which `interlock answer` takes by name or by number.
#[derive(Args)]
#[command(after_help = examples!("interlock question list" "interlock question list add-login-4f2k"))]
pub(crate) struct QuestionListCommand {
    #[arg(value_name = "SESSION")]
    session: Option<String>,
}

impl QuestionCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let QuestionCommand::List(list) = self;
        list.run(output, place)
    }
}

impl QuestionListCommand {
    fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let mut store = place.store()?;
        let mut view = store.view()?;
        let session = match &self.session {
            None => None,
            Some(id) => match view.session(id)? {
                Some(session) => Some(session.key),
                None => return Err(Rejection::new(Code::NoSession, format!("there is no session `{id}`")).into()),
            },
        };
        let questions = view.open_questions(session)?;
        drop(view);
        let briefs = briefs(&questions, place)?;
        let questions: Vec<(OpenQuestion, QuestionBrief)> = questions.into_iter().zip(briefs).collect();
        if output.json {
            let questions: Vec<_> = questions
                .iter()
                .map(|(asked, brief)| {
                    json!({
                        "question": format!("{}.{}", asked.session, asked.id), "session": asked.session,
                        "group": asked.group, "text": asked.text, "options": asked.options,
                        "facts": brief.facts, "effects": brief.effects_json(),
                    })
                })
                .collect();
            output.document(&json!({ "questions": questions }))?;
            return Ok(CommandExit::Done);
        }
        let mut text = TerminalText::default();
        if questions.is_empty() {
            text.push("Nobody waits for an answer.\n");
        }
        for (asked, brief) in &questions {
            text.paint(NAME, format!("{}.{}", asked.session, asked.id));
            let group = asked.group.as_ref().map_or(String::new(), |group| format!(" ({group})"));
            text.put(group);
            text.question(&asked.text);
            brief.print_facts_and_options(&asked.options, &mut text);
        }
        output.text(&text)?;
        Ok(CommandExit::Done)
    }
}

/// The brief of each question, every session loaded once.
fn briefs(questions: &[OpenQuestion], place: &AppContext) -> Result<Vec<QuestionBrief>, CommandError> {
    let mut engine = place.engine()?;
    let mut sessions = BTreeMap::new();
    let mut briefs = Vec::new();
    for asked in questions {
        let (live, workflow) = match sessions.get(&asked.session) {
            Some(known) => known,
            None => sessions.entry(asked.session.clone()).or_insert(engine.load_session(&asked.session)?),
        };
        briefs.push(engine.question_brief(live, workflow, asked.id)?);
    }
    Ok(briefs)
}
