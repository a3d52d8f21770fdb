//! The model of the main conversation: it tries what it was told to try, and then does what it was told is next.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::hands::Hands;
use crate::models::{Script, Step, Turn};
use crate::team::{Team, fields, whole};

/// How sessions of these tests are called.
pub(crate) const TITLE: &str = "Add login";
const SLUG: &str = "add-login-";
/// What the model says when it thinks that it is over.
pub(crate) const OVER: &str = "Everything is complete.";

/// When something is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// The session has just been started.
    First,
    /// The tester has found the group blocked.
    Blocked,
}

type Act = Box<dyn Fn(&Turn, &str) -> Step + Send + Sync>;

/// Something that is not allowed.
pub(crate) struct Attempt {
    when: When,
    what: &'static str,
    act: Act,
}

impl Attempt {
    /// `act` has the session's name.
    pub(crate) fn new(
        when: When,
        what: &'static str,
        act: impl Fn(&Turn, &str) -> Step + Send + Sync + 'static,
    ) -> Self {
        Self { when, what, act: Box::new(act) }
    }

    pub(crate) fn what(&self) -> &'static str {
        self.what
    }
}

/// What came back for an attempt.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) what: &'static str,
    pub(crate) answer: String,
}

/// How the model goes on when it has tried everything.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// It starts the sub-agents that are named to it.
    Obeys,
    /// It claims and reports by itself.
    Drives,
    /// It stops.
    Stops,
}

pub(crate) struct Orchestrator {
    hands: Hands,
    team: Team,
    then: Then,
    attempts: Mutex<VecDeque<Attempt>>,
    trying: Mutex<Option<&'static str>>,
    answers: Mutex<Vec<Answered>>,
    session: Mutex<Option<String>>,
    blocked: Mutex<bool>,
    roles: Mutex<Vec<String>>,
    /// Whom it has tried to start last: kind and assignment.
    last: Mutex<Option<(String, String)>>,
    /// Who works beside the conversation, or has done so.
    beside: Mutex<VecDeque<String>>,
}

impl Orchestrator {
    pub(crate) fn new(hands: Hands, then: Then, attempts: Vec<Attempt>) -> Arc<Self> {
        Arc::new(Self {
            hands,
            team: Team::new(hands),
            then,
            attempts: Mutex::new(attempts.into()),
            trying: Mutex::default(),
            answers: Mutex::default(),
            session: Mutex::default(),
            blocked: Mutex::default(),
            roles: Mutex::default(),
            last: Mutex::default(),
            beside: Mutex::default(),
        })
    }

    pub(crate) fn script(self: &Arc<Self>) -> Script {
        let this = Arc::clone(self);
        Script::new(move |turn| this.next(turn))
    }

    /// The session that was started.
    #[track_caller]
    pub(crate) fn session(&self) -> String {
        self.session.lock().expect("no turn panicked").clone().expect("a session was started")
    }

    /// There is a session already, and it has this name.
    pub(crate) fn goes_on_with(&self, session: &str) {
        *self.session.lock().expect("no turn panicked") = Some(session.to_owned());
    }

    /// What came back for this attempt.
    #[track_caller]
    pub(crate) fn answer(&self, what: &str) -> String {
        let answers = self.answers.lock().expect("no turn panicked");
        let found = answers.iter().find(|answered| answered.what == what);
        found.unwrap_or_else(|| panic!("nothing came back for {what}: {answers:#?}")).answer.clone()
    }

    pub(crate) fn left(&self) -> Vec<&'static str> {
        self.attempts.lock().expect("no turn panicked").iter().map(|attempt| attempt.what).collect()
    }

    fn next(&self, turn: &Turn) -> Step {
        if let (Some(role), Some(assignment)) = (turn.role(), turn.assignment()) {
            return self.team.next(turn, role, assignment);
        }
        if let Some(what) = self.trying.lock().expect("no turn panicked").take() {
            let answer = Answered { what, answer: turn.newest.clone() };
            self.answers.lock().expect("no turn panicked").push(answer);
        }
        let Some(session) = self.known(turn) else {
            if !turn.tool_results.is_empty() {
                return Step::say("There is no session.");
            }
            return self.hands.call("start_session", json!({ "title": TITLE, "mission": "People log in with a key." }));
        };
        if let Some(attempt) = self.due(turn) {
            *self.trying.lock().expect("no turn panicked") = Some(attempt.what);
            return (attempt.act)(turn, &session);
        }
        match self.then {
            Then::Obeys => self.obeys(turn),
            Then::Drives => self.drives(turn, &session),
            Then::Stops => Step::say(OVER),
        }
    }

    /// The name of the session, once it is known.
    fn known(&self, turn: &Turn) -> Option<String> {
        let mut known = self.session.lock().expect("no turn panicked");
        if known.is_none() {
            *known = named(&turn.newest);
        }
        known.clone()
    }

    /// The next attempt, if it is time for it.
    fn due(&self, turn: &Turn) -> Option<Attempt> {
        let mut blocked = self.blocked.lock().expect("no turn panicked");
        *blocked |= turn.newest.contains("`qa_expert` has handed off");
        let now = if *blocked { When::Blocked } else { When::First };
        let mut attempts = self.attempts.lock().expect("no turn panicked");
        let due = attempts.front().is_some_and(|attempt| attempt.when == now);
        if due { attempts.pop_front() } else { None }
    }

    fn obeys(&self, turn: &Turn) -> Step {
        if turn.newest.contains("agent thread limit reached") {
            return self.closes();
        }
        let again =
            turn.newest.contains("previous_status").then(|| self.last.lock().expect("no turn panicked").clone());
        if let Some((kind, id)) = to_start(&turn.newest).map(owned).or(again.flatten()) {
            let told = format!("Do assignment {id}.");
            let spawn = self.hands.spawn(&kind, &told);
            *self.last.lock().expect("no turn panicked") = Some((kind, id));
            return spawn;
        }
        // Where sub-agents work beside the conversation, it waits for them.
        if let Some(agent) = after(&turn.newest, "agent_id").and_then(uuid) {
            self.beside.lock().expect("no turn panicked").push_back(agent.to_owned());
            return self.hands.wait(agent);
        }
        if turn.newest.contains("Nothing is left to do") {
            return Step::say(OVER);
        }
        if turn.newest.contains("/root/task_") || turn.newest.contains("timed_out") {
            return self.hands.wait("");
        }
        Step::say(OVER)
    }

    /// Agents that have ended count until they are closed; a model that forgets that finds out.
    fn closes(&self) -> Step {
        let oldest = self.beside.lock().expect("no turn panicked").pop_front();
        let input = json!({ "target": oldest.expect("somebody was started") });
        Step::Tool { name: "multi_agent_v1::close_agent".to_owned(), input }
    }

    /// Plays every role itself, with the tokens that it gets: without hooks this is not noticed.
    fn drives(&self, turn: &Turn, session: &str) -> Step {
        let text = &turn.newest;
        if let (Some(role), Some(token)) = (after(text, ": you are ").map(word), token(text)) {
            let id = after(text, "# Assignment ").map(word).unwrap_or_default().to_owned();
            let mut roles = self.roles.lock().expect("no turn panicked");
            let time = roles.iter().filter(|known| *known == role).count();
            roles.push(role.to_owned());
            let handoff = whole(role, &fields(role, time));
            return self.hands.call("report_handoff", json!({ "assignment": id, "token": token, "handoff": handoff }));
        }
        match after(text, "claim_assignment ").map(word) {
            Some(id) if id.starts_with(session) => self.hands.call("claim_assignment", json!({ "assignment": id })),
            _ if text.contains("nothing is left to do") => Step::say(OVER),
            _ => self.hands.call("whats_next", json!({ "session": session })),
        }
    }
}

/// The first sub-agent that is to be started, and its assignment.
pub(crate) fn to_start(text: &str) -> Option<(&str, &str)> {
    let rest = after(text, "start sub-agent `")?;
    let (kind, rest) = rest.split_once('`')?;
    let (_, rest) = rest.split_once('(')?;
    Some((kind, rest.split_once(')')?.0))
}

pub(crate) fn named(text: &str) -> Option<String> {
    let rest = after(text, SLUG)?;
    let end = rest.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(rest.len());
    Some(format!("{SLUG}{}", &rest[..end]))
}

fn owned((kind, id): (&str, &str)) -> (String, String) {
    (kind.to_owned(), id.to_owned())
}

fn after<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    text.split_once(mark).map(|(_, rest)| rest)
}

/// Up to where a word of ours ends, however the client has quoted it.
fn word(text: &str) -> &str {
    let end = text.find(|character: char| !(character.is_ascii_alphanumeric() || "-_.".contains(character)));
    text[..end.unwrap_or(text.len())].trim_end_matches('.')
}

fn token(text: &str) -> Option<&str> {
    secrets(text).next()
}

/// Everything that could be a token.
pub(crate) fn secrets(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_ascii_hexdigit()).filter(|run| run.len() == 64)
}

fn uuid(text: &str) -> Option<&str> {
    text.split(|character: char| !(character.is_ascii_hexdigit() || character == '-')).find(|run| run.len() == 36)
}
