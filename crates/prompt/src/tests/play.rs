//! Plays a session on the real core, and asks for prompts on the way.

use std::sync::Arc;

use interlock_core::command::*;
use interlock_core::decide::{AcceptedStatus, DecideOutcome, decide, list_accepted_statuses};
use interlock_core::event::{Event, EventCause, StateChange};
use interlock_core::handoff::{CheckedHandoff, ExpectedHandoff, OrchestrationMode, check, extract, mandatory_skills};
use interlock_core::id::{AssignmentId, Digest, Name, Timestamp};
use interlock_core::observed::ObservedChanges;
use interlock_core::state::{Assignment, State};
use interlock_core::workflow::{Workflow, load_shipped};
use serde_json::{Value as Json, json};

use crate::{
    ArtifactPlace, AssignmentPrompt, BUDGET, ClaimedArtifact, Dossier, DossierScope, EarlierReports, LoggedRecord,
    PromptContext, ReturnChannel, claimed_artifacts,
};

pub(super) struct PromptTestSession {
    workflow: Workflow,
    state: State,
    log: Vec<Event>,
    /// Characters of the prompts that assignments are claimed with.
    pub(super) budget: usize,
    /// The diff that Interlock observes with every report.
    pub(super) observed: Option<Arc<ObservedChanges>>,
}

/// Every claimed artifact, as in a project that has it.
fn found_artifacts(handoff: &Json) -> Vec<ClaimedArtifact> {
    let found = |path| ClaimedArtifact { path, found: ArtifactPlace::Elsewhere };
    claimed_artifacts(handoff).into_iter().map(found).collect()
}

pub(super) fn issue(id: &str, title: &str, severity: &str, blocking: bool) -> Json {
    json!({ "id": id, "title": title, "location": "src/session.ts:41", "severity": severity, "blocking": blocking })
}

impl PromptTestSession {
    pub(super) fn start(workflow: &str) -> Self {
        Self::start_with(workflow, &[])
    }

    pub(super) fn start_with(workflow: &str, settings: &[(&str, &str)]) -> Self {
        let drops = !settings.is_empty();
        let settings = settings.iter().map(|(name, value)| (Name::new(name), Name::new(value)));
        let workflow = load_shipped(workflow).and_then(|loaded| loaded.workflow).expect("a built-in workflow");
        let mut play = Self { workflow, state: State::default(), log: Vec::new(), budget: BUDGET, observed: None };
        let (session, title) = (Name::new("s1"), Name::new("Add login"));
        play.done(&Command::Start(StartSession {
            session,
            title,
            settings: settings.collect(),
            mission: None,
            investigation: false,
            by: drops.then(|| Name::new("ada")),
            dropped: Vec::new(),
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
        let inputs = DecisionInputs { now: Timestamp(0) };
        let outcome = decide(&self.workflow, &self.state, command, &inputs);
        let DecideOutcome::Decided(event) = outcome.unwrap_or_else(|refused| panic!("refused: {refused:#?}")) else {
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

    /// Reports if the handoff is accepted. Says whether it was.
    pub(super) fn try_report(&mut self, whose: &str, handoff: Json) -> bool {
        let (state, log) = (self.state.clone(), self.log.len());
        let accepted = self.reported(whose, handoff).is_ok();
        if !accepted {
            self.state = state;
            self.log.truncate(log);
        }
        accepted
    }

    /// Answers the first open question with its first option, or in free words.
    pub(super) fn answer_first(&mut self) -> bool {
        let Some(id) = self.state.open_questions.first().copied() else { return false };
        let option = self.state.questions[&id].options.first().cloned();
        let choice =
            option.map_or(AnswerChoice::Text(Name::new("Go on.")), |name| AnswerChoice::Option { name, text: None });
        self.done(&Command::Answer(AnswerQuestion { question: id, choice, by: Name::new("ada"), allow: Vec::new() }));
        true
    }

    pub(super) fn status_of(&self, group: &str) -> &'static str {
        self.state.group(group).expect("a planned group").status().name()
    }

    /// The phase by its own name, and whether it is helped with or merged.
    pub(super) fn phase_name(&self, whose: &str) -> Option<String> {
        let (_, assignment) = self.assignment(whose);
        Some(format!("{:?} {:?}", assignment.phase, assignment.task))
    }

    /// A handoff with everything that an offered status needs.
    pub(super) fn fill_offer(&self, whose: &str, offer: &AcceptedStatus, context: &str, groups: Json) -> Json {
        let mut handoff = json!({
            "status": offer.status, "summary": "Locked accounts after 5 wrong passwords in login.ts",
            "skills_invoked": self.skills(whose), "handoff": { "next_agent": null, "context": context },
        });
        for field in &offer.demands.require {
            let is_list = ["files_modified", "artifacts", "source_files_verified"].contains(&field.as_str());
            match field.as_str() {
                "summary" | "phase" | "groups" | "attempted" | "handoff.context" => {}
                "verification.coverage_percent" => handoff["verification"]["coverage_percent"] = json!(90),
                "handoff.blockers" => {
                    handoff["handoff"]["blockers"] = json!([{ "type": "a", "description": "b", "resolution": "c" }]);
                }
                name => handoff[name] = if is_list { json!(["src/login.ts"]) } else { json!("given") },
            }
        }
        for claim in &offer.demands.verify {
            handoff["verification"][claim.as_str()] = json!(true);
        }
        if offer.plans && !groups.is_null() {
            handoff["groups"] = groups;
        }
        if let Some(phase) = self.phase(whose) {
            handoff["phase"] = json!(phase);
        }
        if offer.findings {
            handoff["issues"] = json!([]);
        }
        if offer.tests {
            handoff["test_progression"] = json!({ "still_failing": [] });
        }
        if offer.asks {
            handoff["questions"] = json!([{ "text": "Which one?" }]);
        }
        if offer.blocked {
            let reasons = self.workflow.blocked.as_ref().map(|blocked| blocked.reasons.clone()).unwrap_or_default();
            handoff["blocked_reason"] = json!(reasons.first());
        }
        handoff
    }

    pub(super) fn report(&mut self, whose: &str, handoff: Json) {
        self.reported(whose, handoff).unwrap_or_else(|refused| panic!("{refused}"));
    }

    fn reported(&mut self, whose: &str, handoff: Json) -> Result<(), String> {
        let (id, assignment) = self.assignment(whose);
        let token = Digest::of(whose.as_bytes());
        let prompt = assignment.group.is_none().then(|| self.prompts(whose, None, self.budget).0);
        let prompt = prompt.map(|prompt| ClaimedPrompt {
            digest: Digest::of(prompt.text.as_bytes()),
            confirmable: prompt.confirmable,
        });
        self.done(&Command::Claim(ClaimAssignment { assignment: id, token, prompt, lease_until: None, via: None }));
        let mut whole = json!({
            "agent": assignment.role, "output_type": "report", "timestamp": "2026-01-14T14:30:22Z",
            "feature_directory": ".features/login", "skills_invoked": [], "attempted": ["Looked for a way round it"],
            "handoff": { "next_agent": null, "context": "What the next one has to know." },
        });
        let more = handoff.as_object().expect("an object").clone();
        whole.as_object_mut().expect("an object").extend(more);
        let checked = self.check(&assignment, &whole);
        let handoff = Arc::new(checked.handoff.ok_or_else(|| format!("{:#?}", checked.problems))?);
        let report = SubmitReport { assignment: id, token, handoff, observed: self.observed.clone(), via: None };
        let outcome =
            decide(&self.workflow, &self.state, &Command::Report(report), &DecisionInputs { now: Timestamp(0) });
        let DecideOutcome::Decided(event) = outcome.map_err(|refused| format!("refused: {refused:#?}"))? else {
            return Err("decided before".to_owned());
        };
        self.state.apply(&event);
        self.log.push(*event);
        Ok(())
    }

    fn check(&self, assignment: &Assignment, handoff: &Json) -> CheckedHandoff {
        let extracted = extract("handoff.json", handoff.to_string().as_bytes()).expect("it is JSON");
        let expect = ExpectedHandoff {
            role: Some(&assignment.role),
            phase: assignment.phase.as_deref(),
            task: assignment.task,
            context: OrchestrationMode::Orchestrated,
            groups: &[],
        };
        check(Some(&self.workflow), &expect, &extracted)
    }

    /// The roles that hold an open assignment, with their groups: `role@group`.
    pub(super) fn open(&self) -> Vec<String> {
        let name = |id: &AssignmentId| {
            let open = &self.state.assignments[id];
            open.group.as_ref().map_or(open.role.to_string(), |group| format!("{}@{group}", open.role))
        };
        self.state.open.iter().map(name).collect()
    }

    /// The phase as handoffs call it.
    pub(super) fn phase(&self, whose: &str) -> Option<Name> {
        let phase = self.assignment(whose).1.phase?;
        self.workflow.phases.iter().find(|own| own.name == phase).map(|own| own.called.clone())
    }

    pub(super) fn has_open_gate(&self) -> bool {
        !self.state.gate_runs.is_empty()
    }

    /// The statuses that the prompt offers, the usual one first.
    pub(super) fn offered(&self, whose: &str) -> Vec<AcceptedStatus> {
        list_accepted_statuses(&self.workflow, &self.state, &self.assignment(whose).1)
    }

    pub(super) fn skills(&self, whose: &str) -> Vec<Name> {
        let assignment = self.assignment(whose).1;
        let phase = assignment.phase.as_deref();
        mandatory_skills(&self.workflow, &assignment.role, phase).into_iter().cloned().collect()
    }

    pub(super) fn choose(&mut self, option: &str, text: Option<&str>) {
        let question = *self.state.open_questions.first().expect("an open question");
        let choice = AnswerChoice::Option { name: Name::new(option), text: text.map(Name::new) };
        self.done(&Command::Answer(AnswerQuestion { question, choice, by: Name::new("ada"), allow: Vec::new() }));
    }

    /// The agent ended without a handoff.
    pub(super) fn lose(&mut self, whose: &str, note: Option<&str>) {
        let (assignment, _) = self.assignment(whose);
        self.done(&Command::Lost(RecordLoss { assignment, loss: LossReason::NoHandoff, note: note.map(Name::new) }));
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
    pub(super) fn prompts(
        &self,
        whose: &str,
        mission: Option<&str>,
        budget: usize,
    ) -> (AssignmentPrompt, AssignmentPrompt) {
        let (id, assignment) = self.assignment(whose);
        let (mut origin, mut lost) = (self.origin(id), None);
        while let EventCause::Lost { assignment, .. } = origin.cause {
            lost = lost.or(Some(origin));
            origin = self.origin(assignment);
        }
        let brief = PromptContext {
            lost_attempts: &[],
            state: &self.state,
            workflow: &self.workflow,
            id,
            assignment: &assignment,
            origin: Some(origin),
            lost,
            mission,
            said: &self.said(&assignment),
            dossier: &self.dossier(assignment.group.as_ref()),
            channel: ReturnChannel::Command,
            output_directory: &format!(".interlock/output/s1/{id}.{}", assignment.attempt),
        };
        let prompt = brief.prompt_within(budget);
        assert_eq!(prompt, brief.prompt_within(budget));
        self.skeleton_is_valid(&assignment, &prompt.text);
        let of_run = PromptContext { channel: ReturnChannel::Run, ..brief }.prompt_within(budget);
        self.skeleton_is_valid(&assignment, &of_run.text);
        (prompt, of_run)
    }

    fn dossier(&self, group: Option<&Name>) -> Dossier {
        let index = Dossier::index(&self.state, group.map_or(DossierScope::WholeSession, DossierScope::Group));
        let read = |record: &interlock_core::state::IndexedRecord| {
            let decided =
                |event: &&Event| event.decision.as_ref().is_some_and(|decision| decision.id == record.decision);
            let event = self.log.iter().find(decided).cloned().map(Arc::new);
            Ok::<_, ()>(event.map(|event| LoggedRecord {
                handoff: event.handoff.clone(),
                question: match &event.cause {
                    EventCause::Answered { question, .. } => self.state.questions.get(question).cloned(),
                    _ => None,
                },
                output_files: Vec::new(),
                artifacts: event.handoff.as_deref().map(found_artifacts).unwrap_or_default(),
                event,
            }))
        };
        let needed = group.map(|group| Dossier::dependency_index(&self.state, group)).unwrap_or_default();
        let mut dossier = Dossier::assemble(index, read).expect("the log");
        dossier.add_dependencies(needed, read).expect("the log");
        dossier
    }

    fn said(&self, assignment: &Assignment) -> EarlierReports {
        let report = |id| {
            let decided = |event: &&Event| event.decision.as_ref().is_some_and(|decision| decision.id == id);
            Ok::<_, ()>(self.log.iter().find(decided).and_then(|event| event.handoff.clone()))
        };
        let Some(group) = assignment.group.as_ref().and_then(|group| self.state.group(group)) else {
            let plans: Vec<_> = self.state.groups.iter().map(|group| (group.id.clone(), group.words.plan)).collect();
            return EarlierReports::of_session(&plans, report).expect("the log");
        };
        EarlierReports::of(group, report).expect("the log")
    }

    fn origin(&self, id: AssignmentId) -> &Event {
        let given =
            |change: &StateChange| matches!(change, StateChange::Assigned { assignment, .. } if *assignment == id);
        self.log.iter().find(|event| event.changes.iter().any(given)).expect("something gave it")
    }

    /// The engine fills in what an agent that Interlock started need not state: here the test does.
    fn skeleton_is_valid(&self, assignment: &Assignment, prompt: &str) {
        let rules = &prompt[prompt.rfind("\n## Return\n").expect("the return format")..];
        let skeleton = rules.split("```json\n").nth(1).and_then(|rest| rest.split("\n```").next()).expect("a skeleton");
        let shown: Json = serde_json::from_str(skeleton).expect("JSON");
        let mut handoff = json!({
            "agent": assignment.role, "output_type": "report", "timestamp": "2026-01-18T15:42:00Z",
            "feature_directory": ".features/login", "skills_invoked": [],
        });
        handoff.as_object_mut().expect("an object").extend(shown.as_object().expect("an object").clone());
        handoff["handoff"]["next_agent"] = json!(null);
        let phase = assignment.phase.as_ref().and_then(|name| self.workflow.phases.iter().find(|p| p.name == *name));
        handoff["phase"] = json!(phase.map(|phase| &phase.called));
        let offers = list_accepted_statuses(&self.workflow, &self.state, assignment);
        assert!(!offers.is_empty());
        let shown = |offer: &&AcceptedStatus| rules.contains(&format!("\n- `{}`", offer.status));
        for offer in offers.iter().filter(shown) {
            let fields = offer.demands.require.iter().chain(&offer.demands.verify);
            let absent: Vec<&Name> = fields
                .filter(|field| **field != "phase")
                .filter(|field| {
                    let last = field.rsplit('.').next().unwrap_or_default();
                    !rules.contains(&format!("\"{last}\":")) && !rules.contains(&format!("`{field}`"))
                })
                .collect();
            assert!(
                absent.is_empty(),
                "{} of {}: {absent:?} is required and not shown: {rules}",
                offer.status,
                assignment.role
            );
        }
        for offer in offers.iter().filter(|offer| !offer.blocked) {
            handoff["status"] = json!(offer.status);
            for field in &offer.demands.require {
                let is_list = ["files_modified", "artifacts", "source_files_verified"].contains(&field.as_str());
                let given = if is_list { json!(["src/login.ts"]) } else { json!("given") };
                handoff.as_object_mut().expect("an object").entry(field.to_string()).or_insert(given);
            }
            for claim in &offer.demands.verify {
                handoff["verification"][claim.as_str()] = json!(true);
            }
            handoff["verification"]["coverage_percent"] = json!(90);
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
