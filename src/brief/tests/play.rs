//! Plays a session on the real core, and asks for prompts on the way.

use std::collections::BTreeMap;
use std::sync::Arc;

use interlock_core::command::*;
use interlock_core::decide::{Outcome, decide, offers};
use interlock_core::event::{Cause, Change, Event};
use interlock_core::handoff::{Checked, Context, Expect, check, extract};
use interlock_core::id::{AssignmentId, Digest, Name, Timestamp};
use interlock_core::state::{Assignment, State};
use interlock_core::workflow::{Workflow, load_shipped};
use serde_json::{Value as Json, json};

use crate::brief::{BUDGET, Brief, Prompt, Said};

pub(super) struct Play {
    workflow: Workflow,
    state: State,
    log: Vec<Event>,
}

pub(super) fn issue(id: &str, title: &str, severity: &str, blocking: bool) -> Json {
    json!({ "id": id, "title": title, "location": "src/session.ts:41", "severity": severity, "blocking": blocking })
}

impl Play {
    pub(super) fn start(workflow: &str) -> Self {
        let workflow = load_shipped(workflow).and_then(|loaded| loaded.workflow).expect("a built-in workflow");
        let mut play = Self { workflow, state: State::default(), log: Vec::new() };
        let (session, title) = (Name::new("s1"), Name::new("Add login"));
        play.done(&Command::Start(Start {
            session,
            title,
            settings: BTreeMap::new(),
            mission: None,
            investigation: false,
            by: None,
            allow: None,
        }));
        play
    }

    /// `delivery-team`, with these groups given to their developers.
    pub(super) fn groups(groups: &[&str]) -> Self {
        let mut play = Self::start("delivery-team");
        let groups: Vec<Json> = groups.iter().map(|id| json!({ "id": id, "title": format!("Group {id}") })).collect();
        play.report("project_manager", json!({ "status": "PLANNING_COMPLETE", "groups": groups }));
        play
    }

    fn done(&mut self, command: &Command) {
        let inputs = Inputs { now: Timestamp(0) };
        let outcome = decide(&self.workflow, &self.state, command, &inputs);
        let Outcome::Decided(event) = outcome.unwrap_or_else(|refused| panic!("refused: {refused:#?}")) else {
            panic!("decided before");
        };
        self.state.apply(&event);
        self.log.push(*event);
    }

    /// The open assignment of a role; `role@group` where several are open.
    fn assignment(&self, whose: &str) -> (AssignmentId, Assignment) {
        let (role, group) = whose.split_once('@').map_or((whose, None), |(role, group)| (role, Some(group)));
        let fits = |had: &Assignment| had.role == role && group.is_none_or(|group| had.group.as_deref() == Some(group));
        let mut open = self.state.open.iter().map(|id| (*id, &self.state.assignments[id]));
        let (id, found) = open.find(|(_, had)| fits(had)).unwrap_or_else(|| panic!("{whose} holds nothing"));
        (id, found.clone())
    }

    pub(super) fn report(&mut self, whose: &str, handoff: Json) {
        let (id, assignment) = self.assignment(whose);
        let token = Digest::of(whose.as_bytes());
        self.done(&Command::Claim(Claim { assignment: id, token, prompt: None, lease_until: None, via: None }));
        let mut whole = json!({
            "agent": assignment.role, "output_type": "report", "timestamp": "2026-01-14T14:30:22Z",
            "feature_directory": ".features/login", "skills_invoked": [], "attempted": ["Looked for a way round it"],
            "handoff": { "next_agent": null, "context": "What the next one has to know." },
        });
        let more = handoff.as_object().expect("an object").clone();
        whole.as_object_mut().expect("an object").extend(more);
        let checked = self.check(&assignment, &whole);
        let handoff = checked.handoff.unwrap_or_else(|| panic!("{:#?}", checked.problems));
        self.done(&Command::Report(Report {
            assignment: id,
            token,
            handoff: Arc::new(handoff),
            observed: None,
            via: None,
        }));
    }

    fn check(&self, assignment: &Assignment, handoff: &Json) -> Checked {
        let extracted = extract("handoff.json", handoff.to_string().as_bytes()).expect("it is JSON");
        let expect = Expect {
            role: Some(&assignment.role),
            phase: assignment.phase.as_deref(),
            task: assignment.task,
            context: Context::Orchestrated,
            groups: &[],
        };
        check(Some(&self.workflow), &expect, &extracted)
    }

    pub(super) fn choose(&mut self, option: &str, text: Option<&str>) {
        let question = *self.state.open_questions.first().expect("an open question");
        let choice = Choice::Option { name: Name::new(option), text: text.map(Name::new) };
        self.done(&Command::Answer(Answer { question, choice, by: Name::new("ada"), allow: Vec::new() }));
    }

    /// The agent ended without a handoff.
    pub(super) fn lose(&mut self, whose: &str, note: Option<&str>) {
        let (assignment, _) = self.assignment(whose);
        self.done(&Command::Lost(Lost { assignment, loss: Loss::NoHandoff, note: note.map(Name::new) }));
    }

    pub(super) fn gate(&mut self, passed: bool, output: &str) {
        let run = *self.state.gate_runs.keys().next().expect("an open gate");
        let (tree, output) = (Name::new("tree"), Name::new(output));
        self.done(&Command::GateFinished(GateFinished { run, passed, tree, output, checkout: Default::default() }));
    }

    pub(super) fn prompt(&self, whose: &str, mission: Option<&str>) -> String {
        self.prompt_within(whose, mission, BUDGET)
    }

    /// The prompt, which is the same every time, and whose skeleton is a valid handoff once it is filled in.
    pub(super) fn prompt_within(&self, whose: &str, mission: Option<&str>, budget: usize) -> String {
        self.prompts(whose, mission, budget).0.text
    }

    /// The prompt of who gives it in itself, and that of a run.
    pub(super) fn prompts(&self, whose: &str, mission: Option<&str>, budget: usize) -> (Prompt, Prompt) {
        let (id, assignment) = self.assignment(whose);
        let (mut origin, mut lost) = (self.origin(id), None);
        while let Cause::Lost { assignment, .. } = origin.cause {
            lost = lost.or(Some(origin));
            origin = self.origin(assignment);
        }
        let brief = Brief {
            state: &self.state,
            workflow: &self.workflow,
            id,
            assignment: &assignment,
            origin: Some(origin),
            lost,
            handoff: origin.handoff.as_ref(),
            mission,
            said: &self.said(&assignment),
            in_a_run: false,
            output_directory: &format!(".interlock/output/s1/{id}.{}", assignment.attempt),
        };
        let prompt = brief.prompt_within(budget);
        assert_eq!(prompt, brief.prompt_within(budget));
        self.skeleton_is_valid(&assignment, &prompt.text);
        let of_run = Brief { in_a_run: true, ..brief }.prompt_within(budget);
        self.skeleton_is_valid(&assignment, &of_run.text);
        (prompt, of_run)
    }

    fn said(&self, assignment: &Assignment) -> Said {
        let Some(group) = assignment.group.as_ref().and_then(|group| self.state.group(group)) else {
            return Said::default();
        };
        let report = |id| {
            let decided = |event: &&Event| event.decision.as_ref().is_some_and(|decision| decision.id == id);
            Ok::<_, ()>(self.log.iter().find(decided).and_then(|event| event.handoff.clone()))
        };
        Said::of(group, report).expect("the log")
    }

    fn origin(&self, id: AssignmentId) -> &Event {
        let given = |change: &Change| matches!(change, Change::Assigned { assignment, .. } if *assignment == id);
        self.log.iter().find(|event| event.changes.iter().any(given)).expect("something gave it")
    }

    fn skeleton_is_valid(&self, assignment: &Assignment, prompt: &str) {
        let rules = &prompt[prompt.rfind("\n## What to return\n").expect("the rules of return")..];
        let skeleton = rules.split("```json\n").nth(1).and_then(|rest| rest.split("\n```").next()).expect("a skeleton");
        let mut handoff: Json = serde_json::from_str(skeleton).expect("JSON");
        handoff["timestamp"] = json!("2026-01-18T15:42:00Z");
        let offers = offers(&self.workflow, &self.state, assignment);
        assert!(!offers.is_empty());
        for offer in offers.iter().filter(|offer| !offer.blocked) {
            handoff["status"] = json!(offer.status);
            for field in &offer.demands.require {
                handoff.as_object_mut().expect("an object").entry(field.to_string()).or_insert(json!("given"));
            }
            handoff["groups"] = json!(null);
            if offer.plans {
                let domain = json!("backend");
                handoff["groups"] = json!([{ "id": "one", "title": "One", "domain": domain }]);
            }
            let checked = self.check(assignment, &handoff);
            assert!(checked.is_valid(), "{}: {:#?}", offer.status, checked.problems);
        }
    }
}
