//! The main conversation is about to stop: not while there is work that it could see to.

use interlock_core::code::Code;
use interlock_core::provenance::Channel;

use crate::policy::{ActiveSession, HookDecision, HookPolicy};
use interlock_app::error::CommandError;

/// How often a conversation may be refused its stop without a new decision. After that, it may stop: the work stays
/// open in the store, and a conversation that loops makes no progress.
const HELD_BACK: u32 = 3;

impl HookPolicy {
    pub(super) fn handle_stop(&mut self, again: bool) -> Result<HookDecision, CommandError> {
        // Sub-agents that work inside of the conversation are gone when it stops.
        if !self.client.works_beside() {
            self.memory.mark_all_adrift();
        }
        let mine: Vec<&ActiveSession> = self.courses.iter().filter(|course| self.concerns(course)).collect();
        let work =
            mine.iter().any(|course| !course.live.state.open.is_empty() || !course.live.state.gate_runs.is_empty());
        let asked = mine.iter().any(|course| !course.live.state.open_questions.is_empty());
        let decisions = mine.iter().map(|course| course.live.state.last_decision.0).sum();
        // A question that only a person can answer is reported once. Then the conversation may stop, so that the person
        // can answer.
        if !work && (!asked || again) {
            return Ok(HookDecision::Pass);
        }
        let (at, times) = self.memory.notes.stops;
        let times = if at == decisions { times } else { 0 };
        if times >= HELD_BACK {
            return Ok(HookDecision::Pass);
        }
        self.memory.notes.stops = (decisions, times + 1);
        let what = if work { "there is open work" } else { "a question waits for the person" };
        Ok(HookDecision::refuse(Code::WorkLeftOpen, format!("{what}: it is too early to stop"), self.next()))
    }

    /// A session concerns this conversation if it takes part in the session, or if no other conversation does.
    fn concerns(&self, course: &ActiveSession) -> bool {
        let state = &course.live.state;
        let run = state.open.iter().any(|id| {
            state.assignments.get(id).is_some_and(|given| given.token.is_some() && given.via == Some(Channel::Run))
        });
        !run && (self.takes_part(course) || state.watch.conversations.is_empty())
    }
}
