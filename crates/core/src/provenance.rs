//! Provenance of agents' work: the hooks of its clients that a session has seen.
//!
//! Hooks are sensors, and a removed sensor reports nothing. So each handoff is counted by its channel. For each
//! conversation, the hooks that were seen are compared with those that its client should have sent.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::Name;

/// The key for handoffs that no channel watched: submitted by a command, or by any holder of the token.
const COMMAND: &str = "command";

/// The channel by which an assignment was claimed, or its handoff submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// `interlock run` started the agent, and saw it end.
    Run,
    /// A hook of this client saw the sub-agent start, or end.
    Hook(Name),
    /// A model reported it, in this client.
    Mcp(Name),
}

impl Channel {
    /// The model had no part in it.
    pub fn watches(&self) -> bool {
        match self {
            Channel::Run | Channel::Hook(_) => true,
            Channel::Mcp(_) => false,
        }
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Channel::Run => f.write_str("run"),
            Channel::Hook(client) => write!(f, "hook:{client}"),
            Channel::Mcp(client) => write!(f, "mcp:{client}"),
        }
    }
}

/// A hook that a client sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookSeen {
    pub client: Name,
    /// As the client names it.
    pub conversation: Name,
    pub hook: Name,
    /// The hooks that the client should send in the course of a conversation.
    pub expects: Vec<Name>,
}

/// A conversation of a client that took part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientConversation {
    pub client: Name,
    pub expects: BTreeSet<Name>,
    pub seen: BTreeSet<Name>,
}

impl ClientConversation {
    /// The hooks that should have been seen, and were not.
    pub fn missing(&self) -> impl Iterator<Item = &Name> {
        self.expects.difference(&self.seen)
    }
}

/// The hooks and handoffs of a session that were watched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionProvenance {
    pub conversations: BTreeMap<Name, ClientConversation>,
    /// Handoffs that were taken, by the way they came.
    pub handoffs: BTreeMap<Name, u32>,
    /// Those of them that were watched from claim to handoff.
    pub watched: u32,
}

impl SessionProvenance {
    pub fn is_empty(&self) -> bool {
        self.conversations.is_empty() && self.handoffs.is_empty()
    }

    pub fn total(&self) -> u32 {
        self.handoffs.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    pub fn unwatched(&self) -> u32 {
        self.total().saturating_sub(self.watched)
    }

    /// A client has taken part, by its hooks or by its model.
    pub fn has_client(&self) -> bool {
        let by_client = |way: &Name| way.starts_with("hook:") || way.starts_with("mcp:");
        !self.conversations.is_empty() || self.handoffs.keys().any(by_client)
    }

    pub(crate) fn record_hook(&mut self, sighting: &HookSeen) {
        let HookSeen { client, conversation, hook, expects } = sighting;
        let known = self.conversations.entry(conversation.clone()).or_insert_with(|| ClientConversation {
            client: client.clone(),
            expects: BTreeSet::new(),
            seen: BTreeSet::new(),
        });
        known.expects.extend(expects.iter().cloned());
        known.seen.insert(hook.clone());
    }

    /// A handoff was taken. Only what one and the same watcher saw begin and end was watched.
    pub(crate) fn count_handoff(&mut self, claimed: Option<&Channel>, given_in: Option<&Channel>) {
        let watched = given_in.is_some_and(Channel::watches) && claimed == given_in;
        let way = [given_in, claimed].into_iter().find(|way| watched || !way.is_some_and(Channel::watches)).flatten();
        let way = way.map_or_else(|| Name::new(COMMAND), |way| Name::from(way.to_string()));
        let count = self.handoffs.entry(way).or_default();
        *count = count.saturating_add(1);
        self.watched = self.watched.saturating_add(u32::from(watched));
    }

    /// The statement in the result of completion, where a client took part.
    pub fn statement(&self) -> Option<String> {
        if !self.has_client() {
            return None;
        }
        let total = self.total();
        let mut told = format!("watched: {} of {total} handoffs, from the start of the agent to its end", self.watched);
        let others = self.handoffs.iter().filter(|(way, _)| !way.starts_with("hook:") && way.as_str() != "run");
        let others: Vec<String> = others.map(|(way, count)| format!("{count} by {way}")).collect();
        if !others.is_empty() {
            told.push_str(&format!("; not watched: {}", others.join(", ")));
        }
        if self.conversations.is_empty() {
            told.push_str("; no hook of a client was ever seen");
        }
        for (name, conversation) in &self.conversations {
            let missing: Vec<&str> = conversation.missing().map(Name::as_str).collect();
            if !missing.is_empty() {
                told.push_str(&format!("; never seen of {} {name}: {}", conversation.client, missing.join(", ")));
            }
        }
        Some(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook() -> Channel {
        Channel::Hook(Name::new("claude"))
    }

    #[test]
    fn only_what_one_watcher_saw_from_claim_to_handoff_was_watched() {
        let mut watch = SessionProvenance::default();
        let model = Channel::Mcp(Name::new("claude-code"));
        watch.count_handoff(Some(&hook()), Some(&hook()));
        watch.count_handoff(Some(&Channel::Run), Some(&Channel::Run));
        watch.count_handoff(Some(&hook()), Some(&model));
        watch.count_handoff(Some(&model), Some(&model));
        watch.count_handoff(Some(&hook()), None);
        watch.count_handoff(None, None);
        assert_eq!((watch.watched, watch.unwatched()), (2, 4));
        let counted: Vec<(&str, u32)> = watch.handoffs.iter().map(|(way, count)| (way.as_str(), *count)).collect();
        assert_eq!(counted, [("command", 2), ("hook:claude", 1), ("mcp:claude-code", 2), ("run", 1)]);
    }

    #[test]
    fn hooks_that_should_have_come_are_named() {
        let mut watch = SessionProvenance::default();
        watch.record_hook(&HookSeen {
            client: Name::new("claude"),
            conversation: Name::new("c-1"),
            hook: Name::new("PreToolUse"),
            expects: vec![Name::new("PreToolUse"), Name::new("SubagentStop")],
        });
        watch.count_handoff(Some(&hook()), None);
        let told = watch.statement().unwrap_or_default();
        assert!(told.contains("0 of 1 handoffs"), "{told}");
        assert!(told.contains("never seen of claude c-1: SubagentStop"), "{told}");
    }

    #[test]
    fn a_session_without_a_client_has_nothing_to_state() {
        let mut watch = SessionProvenance::default();
        watch.count_handoff(None, None);
        watch.count_handoff(Some(&Channel::Run), Some(&Channel::Run));
        assert_eq!(watch.statement(), None);
    }
}
