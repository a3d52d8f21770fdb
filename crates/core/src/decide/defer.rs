//! A person defers a group.

use crate::code::Code;
use crate::command::DeferGroup;
use crate::decide::draft::DecisionDraft;
use crate::decide::{DecideOutcome, DecisionContext};
use crate::event::EventCause;
use crate::id::Name;
use crate::rejection::Rejection;
use crate::state::{Group, GroupEnd};
use crate::workflow::{RuleSource, RuleVerb};

pub(super) fn defer(cx: &DecisionContext<'_>, defer: &DeferGroup) -> Result<DecideOutcome, Rejection> {
    let group = cx.open_group(&defer.group)?;
    // A person may do what some question lets a person do.
    let allowed = cx
        .workflow
        .rules
        .iter()
        .any(|rule| matches!(rule.source, RuleSource::Question(_)) && rule.verb == RuleVerb::Defer);
    if !allowed {
        let message = "no question of this workflow lets a person defer a group";
        return Err(Rejection::new(Code::NotForPeople, message));
    }
    let mut draft = DecisionDraft::new(*cx, Name::new("defer"));
    let end = GroupEnd::Deferred { why: defer.why.clone(), by: defer.by.clone(), acknowledged: None };
    draft.drop_group(group, None, end)?;
    let (group, why, by) = (defer.group.clone(), defer.why.clone(), defer.by.clone());
    Ok(draft.finish(EventCause::Deferred { group, why, by }))
}

impl<'a> DecisionContext<'a> {
    pub(crate) fn known_group(&self, name: &Name) -> Result<&'a Group, Rejection> {
        self.state.group(name).ok_or_else(|| {
            let known = self.state.groups.iter().map(|group| group.id.to_string()).collect();
            Rejection::new(Code::NoGroup, format!("there is no group `{name}`")).allowed(known)
        })
    }

    pub(crate) fn open_group(&self, name: &Name) -> Result<&'a Group, Rejection> {
        let group = self.known_group(name)?;
        if group.ended() {
            let message = format!("group `{name}` is {}", group.status().name());
            return Err(Rejection::new(Code::GroupEnded, message));
        }
        Ok(group)
    }
}
