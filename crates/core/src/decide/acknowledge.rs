//! A person acknowledges a deferred group, by name.

use crate::code::Code;
use crate::command::AcknowledgeDeferral;
use crate::decide::draft::DecisionDraft;
use crate::decide::validate::only_nothing_completed;
use crate::decide::{DecideOutcome, DecisionContext};
use crate::event::{EventCause, StateChange};
use crate::id::{Name, QuestionId};
use crate::naming::shown_person;
use crate::rejection::Rejection;
use crate::state::{GroupEnd, GroupProgress};

pub(super) fn acknowledge(
    cx: &DecisionContext<'_>,
    acknowledge: &AcknowledgeDeferral,
) -> Result<DecideOutcome, Rejection> {
    let group = cx.known_group(&acknowledge.group)?;
    match &group.progress {
        GroupProgress::Ended(GroupEnd::Deferred { acknowledged: None, .. }) => {}
        GroupProgress::Ended(GroupEnd::Deferred { acknowledged: Some(by), .. }) => {
            let message = format!("{by} has acknowledged `{}` already", group.id, by = shown_person(by));
            return Err(Rejection::new(Code::AlreadyAcknowledged, message));
        }
        GroupProgress::Pending
        | GroupProgress::Working
        | GroupProgress::Arrived
        | GroupProgress::AwaitingConfirmation
        | GroupProgress::Ended(GroupEnd::Completed | GroupEnd::Cancelled { .. }) => {
            let message = format!("group `{}` is {}, not deferred", group.id, group.status().name());
            return Err(Rejection::new(Code::NotDeferred, message));
        }
    }
    let mut draft = DecisionDraft::new(*cx, Name::new("acknowledge"));
    draft.push(StateChange::DeferralNamed { group: group.id.clone(), by: acknowledge.by.clone() });
    let (group, by) = (acknowledge.group.clone(), acknowledge.by.clone());
    let cause = EventCause::Acknowledged { group, by };
    // The question about unfinished work answers itself once nothing is left of it.
    match cx.asked_unfinished() {
        Some(question) if draft.ends_after(&acknowledge.by) => {
            draft.push(StateChange::QuestionClosed { question });
            draft.finish_session()?;
            Ok(draft.finish(cause))
        }
        Some(_) | None => Ok(draft.record(cause)),
    }
}

impl DecisionContext<'_> {
    /// The open question about unfinished work.
    pub(super) fn asked_unfinished(&self) -> Option<QuestionId> {
        let unfinished = &self.workflow.question(self.workflow.unfinished).name;
        let is_it = |id: &QuestionId| self.state.questions.get(id).is_some_and(|asked| asked.name == *unfinished);
        self.state.open_questions.iter().copied().rfind(is_it)
    }
}

impl DecisionDraft<'_> {
    /// Nothing is left of what a person was asked. The person who acknowledges the last group has read that none was completed.
    pub(super) fn ends_after(&mut self, by: &Name) -> bool {
        let reasons = self.judge_end(true);
        if only_nothing_completed(&reasons) {
            self.push(StateChange::NothingCompletedAcknowledged { by: by.clone() });
            return true;
        }
        reasons.is_empty()
    }
}
