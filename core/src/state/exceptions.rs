//! What a session was completed without: for everyone who reads its result.

use serde::Serialize;

use crate::id::Name;
use crate::state::{Group, State};
use crate::workflow::Workflow;

/// A requirement that a session or a group does without, who said so, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CompletionException {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Name>,
    pub text: String,
}

impl State {
    /// Everything that this session does without, in the order of its groups.
    pub fn completion_exceptions(&self, workflow: &Workflow) -> Vec<CompletionException> {
        let of_session = |text: String| CompletionException { group: None, text };
        let mut all = Vec::new();
        if let Some(session) = &self.session {
            for dropped in workflow.requirements_off(&session.settings) {
                let who = match (&session.settings_by, dropped.chosen) {
                    (Some(by), true) => format!("chosen by {by}"),
                    (None, true) => "chosen when the session was started".to_owned(),
                    (_, false) => "the default of the workflow".to_owned(),
                };
                all.push(of_session(format!("{dropped}: {who}")));
            }
            if session.investigation {
                let by = session.settings_by.as_ref().map_or("a person", Name::as_str);
                all.push(of_session(format!("declared an investigation by {by}: it may end without groups")));
            }
        }
        all.extend(
            self.nothing_completed.iter().map(|by| of_session(format!("nothing was completed; {by} confirmed that"))),
        );
        all.extend(self.groups.iter().flat_map(excuses_of));
        all
    }
}

fn excuses_of(group: &Group) -> impl Iterator<Item = CompletionException> {
    let accepted = match (&group.accepted_by, group.confirmed) {
        (Some(by), true) => format!("accepted by {by}"),
        (None, true) => "accepted".to_owned(),
        (_, false) => "not accepted yet".to_owned(),
    };
    group
        .excused
        .iter()
        .map(move |excuse| CompletionException { group: Some(group.id.clone()), text: format!("{excuse}; {accepted}") })
}
