//! Plays a session on the real core, so that a scenario reads like its document.

use std::collections::BTreeMap;
use std::sync::Arc;

use interlock_core::command::*;
use interlock_core::decide::{DecideOutcome, decide};
use interlock_core::decision::{CompletionVerdict, Decision, JudgementReason};
use interlock_core::event::{Event, StateChange};
use interlock_core::handoff::{CheckedHandoff, ExpectedHandoff, Handoff, OrchestrationMode, check, extract};
use interlock_core::id::{AssignmentId, DecisionId, Digest, Name, Timestamp};
use interlock_core::problem::Problem;
use interlock_core::rejection::Rejection;
use interlock_core::state::{Assignment, Group, LoopCounter, State};
use interlock_core::workflow::{Workflow, load_shipped};
use serde_json::{Value as Json, json};

use crate::program::completed;

pub(crate) struct Play {
    workflow: Workflow,
    pub(crate) state: State,
    pub(crate) log: Vec<Event>,
}

impl Play {
    /// A session of a built-in workflow, started.
    pub(crate) fn start(workflow: &str) -> Self {
        Self::start_with(workflow, &[])
    }

    pub(crate) fn start_with(workflow: &str, settings: &[(&str, &str)]) -> Self {
        let workflow = load_shipped(workflow).and_then(|loaded| loaded.workflow).expect("a built-in workflow");
        let mut play = Self { workflow, state: State::default(), log: Vec::new() };
        let settings: BTreeMap<Name, Name> = settings.iter().map(|(k, v)| (Name::new(k), Name::new(v))).collect();
        play.done(&Command::Start(StartSession {
            session: Name::new("s1"),
            title: Name::new("A session"),
            settings,
            mission: None,
            investigation: false,
            by: Some(Name::new("ann")),
            dropped: Vec::new(),
            allow: None,
        }));
        play
    }

    /// `delivery-team`, with these groups planned and given to their developers.
    pub(crate) fn groups(groups: &[&str]) -> Self {
        let mut play = Self::start("delivery-team");
        let groups: Vec<Json> = groups.iter().map(|id| json!({ "id": id, "title": format!("Group {id}") })).collect();
        play.report("project_manager", json!({ "status": "PLANNING_COMPLETE", "groups": groups }));
        play
    }

    fn attempt(&mut self, command: &Command) -> Result<DecideOutcome, Box<Rejection>> {
        let inputs = DecisionInputs { now: Timestamp(i64::try_from(self.log.len()).unwrap() * 1_000) };
        let outcome = decide(&self.workflow, &self.state, command, &inputs).map_err(Box::new)?;
        if let DecideOutcome::Decided(event) = &outcome {
            self.state.apply(event);
            self.log.push((**event).clone());
        }
        Ok(outcome)
    }

    fn done(&mut self, command: &Command) -> Option<Decision> {
        match self.attempt(command).unwrap_or_else(|rejection| panic!("refused: {rejection:#?}")) {
            DecideOutcome::Decided(event) => event.decision,
            DecideOutcome::Repeated(decision) => panic!("{decision} was decided before"),
        }
    }

    /// The open assignment of a role; `role@group` where several are open.
    fn assignment(&self, whose: &str) -> (AssignmentId, Assignment) {
        let (role, group) = whose.split_once('@').map_or((whose, None), |(role, group)| (role, Some(group)));
        let fits = |assignment: &Assignment| {
            assignment.role == role && group.is_none_or(|group| assignment.group.as_deref() == Some(group))
        };
        let open = self.state.open.iter().map(|id| (*id, &self.state.assignments[id]));
        let found: Vec<_> = open.filter(|(_, assignment)| fits(assignment)).collect();
        match found[..] {
            [(id, assignment)] => (id, assignment.clone()),
            _ => panic!("{} open assignments of {whose}; open are {:?}", found.len(), self.open()),
        }
    }

    /// Claims the role's assignment and gives the handoff in, with the fewest fields added.
    pub(crate) fn report(&mut self, whose: &str, handoff: Json) -> Decision {
        let command = self.report_of(whose, handoff);
        self.done(&command).expect("every report has a decision")
    }

    /// The same, where it must be refused; nothing has changed then.
    pub(crate) fn refused(&mut self, whose: &str, handoff: Json) -> Rejection {
        let command = self.report_of(whose, handoff);
        self.refuses(&command)
    }

    fn report_of(&mut self, whose: &str, handoff: Json) -> Command {
        let (id, assignment) = self.assignment(whose);
        let token = Digest::of(format!("secret of {id}").as_bytes());
        self.done(&Command::Claim(ClaimAssignment {
            assignment: id,
            token,
            prompt: None,
            lease_until: None,
            via: None,
        }));
        let handoff = Arc::new(self.checked(&assignment, &completed(&assignment.role, handoff)));
        Command::Report(SubmitReport { assignment: id, token, handoff, observed: None, via: None })
    }

    fn refuses(&mut self, command: &Command) -> Rejection {
        let before = self.state.clone();
        match self.attempt(command) {
            Err(rejection) => {
                assert_eq!(self.state, before, "a refusal changes nothing");
                *rejection
            }
            Ok(outcome) => panic!("not refused: {outcome:#?}"),
        }
    }

    /// A person answers the open question with one of its options.
    pub(crate) fn choose(&mut self, option: &str) -> Decision {
        self.answer(AnswerChoice::Option { name: Name::new(option), text: None })
    }

    /// A person answers in their own words.
    pub(crate) fn say(&mut self, text: &str) -> Decision {
        self.answer(AnswerChoice::Text(Name::new(text)))
    }

    fn answer(&mut self, choice: AnswerChoice) -> Decision {
        let question = *self.state.open_questions.first().expect("an open question");
        self.done(&Command::Answer(AnswerQuestion { question, choice, by: Name::new("ada"), allow: Vec::new() }))
            .expect("a decision")
    }

    /// Interlock has run the open gate.
    pub(crate) fn gate(&mut self, passed: bool, output: &str) -> Decision {
        let run = *self.state.gate_runs.keys().next().expect("an open gate");
        let (tree, output) = (Name::new("tree"), Name::new(output));
        self.done(&Command::GateFinished(GateFinished { run, passed, tree, output, checkout: Default::default() }))
            .expect("a decision")
    }

    /// A role that may not do so asks for the end: the verdict is REJECT, and the state is unchanged.
    pub(crate) fn completion_refused(&mut self) -> Vec<JudgementReason> {
        let (groups, open) = (self.state.groups.clone(), self.open());
        let decision =
            self.done(&Command::Complete(CompleteSession { by: Name::new("orchestrator") })).expect("a decision");
        assert_eq!((&self.state.groups, self.open()), (&groups, open));
        let judgement = decision.judgement.expect("a verdict");
        assert_eq!(judgement.verdict, CompletionVerdict::Reject);
        judgement.reasons
    }

    /// The last role of this name, which has reported already, reports something else now.
    pub(crate) fn late(&mut self, role: &str, handoff: Json) -> Rejection {
        let command = self.late_report(role, handoff);
        self.refuses(&command)
    }

    /// The same, where it says the same again: what was decided then is told, and nothing changes.
    pub(crate) fn repeated(&mut self, role: &str, handoff: Json) -> DecisionId {
        let (command, before) = (self.late_report(role, handoff), self.state.clone());
        match self.attempt(&command) {
            Ok(DecideOutcome::Repeated(decision)) => {
                assert_eq!(self.state, before);
                decision
            }
            other => panic!("not told again: {other:#?}"),
        }
    }

    fn late_report(&self, role: &str, handoff: Json) -> Command {
        let mut closed = self.state.assignments.iter().filter(|(_, had)| had.role == role && had.closed.is_some());
        let (id, assignment) = closed.next_back().map(|(id, had)| (*id, had.clone())).expect("a closed assignment");
        let token = assignment.token.expect("it was claimed");
        let handoff = Arc::new(self.checked(&assignment, &completed(role, handoff)));
        Command::Report(SubmitReport { assignment: id, token, handoff, observed: None, via: None })
    }

    pub(crate) fn group(&self, id: &str) -> &Group {
        self.state.group(id).unwrap_or_else(|| panic!("there is no group {id}"))
    }

    /// The status of a group, as it is shown.
    pub(crate) fn status(&self, id: &str) -> &'static str {
        self.group(id).status().name()
    }

    pub(crate) fn counter(&self, group: &str, counted: &str, role: &str) -> &LoopCounter {
        self.group(group).lane.counter(counted, role).expect("a counter")
    }

    /// `role` or `role@group` of everything that is open.
    pub(crate) fn open(&self) -> Vec<String> {
        let open = self.state.open.iter().map(|id| &self.state.assignments[id]);
        open.map(|open| match &open.group {
            Some(group) => format!("{}@{group}", open.role),
            None => open.role.to_string(),
        })
        .collect()
    }

    /// The changes of the last event.
    pub(crate) fn changes(&self) -> &[StateChange] {
        &self.log.last().expect("an event").changes
    }

    /// What is wrong with a handoff, before anything is decided: `CODE field`.
    pub(crate) fn handoff_problems(&self, whose: &str, handoff: Json) -> Vec<String> {
        let (_, assignment) = self.assignment(whose);
        let checked = self.check(&assignment, &completed(&assignment.role, handoff));
        let named = |problem: &Problem| format!("{} {}", problem.code, problem.field.as_deref().unwrap_or_default());
        checked.problems.iter().map(named).collect()
    }

    /// The check of a handoff for the open assignment of a role; nothing is reported.
    pub(crate) fn examine(&self, whose: &str, handoff: Json) -> CheckedHandoff {
        let (_, assignment) = self.assignment(whose);
        self.check(&assignment, &completed(&assignment.role, handoff))
    }

    fn checked(&self, assignment: &Assignment, json: &Json) -> Handoff {
        let checked = self.check(assignment, json);
        checked.handoff.unwrap_or_else(|| panic!("not a valid handoff: {:#?}", checked.problems))
    }

    fn check(&self, assignment: &Assignment, json: &Json) -> CheckedHandoff {
        let extracted = extract("handoff.json", json.to_string().as_bytes()).expect("a JSON object is found");
        let expect = ExpectedHandoff {
            role: Some(&assignment.role),
            phase: assignment.phase.as_deref(),
            task: assignment.task,
            context: OrchestrationMode::Orchestrated,
            groups: &[],
        };
        check(Some(&self.workflow), &expect, &extracted)
    }
}

/// The action, and the roles that come next.
pub(crate) fn follows(decision: &Decision, action: &str, roles: &[&str]) {
    let next: Vec<&str> = decision.next.iter().map(|next| next.role.as_str()).collect();
    assert_eq!((decision.action.name(), next.as_slice()), (action, roles), "{decision:#?}");
}

/// The validator's verdict, and the codes of its reasons.
pub(crate) fn judged(decision: &Decision, verdict: CompletionVerdict, codes: &[&str]) {
    let judgement = decision.judgement.as_ref().expect("a verdict");
    let reasons: Vec<&str> = judgement.reasons.iter().map(|reason| reason.code.as_str()).collect();
    assert_eq!((judgement.verdict, reasons.as_slice()), (verdict, codes), "{judgement:#?}");
}

/// One of the warnings has this in it.
pub(crate) fn warns(decision: &Decision, text: &str) {
    assert!(decision.warnings.iter().any(|warning| warning.text.contains(text)), "{:#?}", decision.warnings);
}

/// A number that the decision names among the facts it read.
pub(crate) fn fact(decision: &Decision, name: &str) -> Json {
    let found = decision.facts.iter().find(|(fact, _)| *fact == name);
    found.map(|(_, value)| json!(value)).unwrap_or_else(|| panic!("no {name} in {:?}", decision.facts))
}
