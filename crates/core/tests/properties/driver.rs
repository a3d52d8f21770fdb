//! Turns numbers into commands: mostly sensible ones, and every kind of wrong one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use interlock_core::checkout::GateCheckout;
use interlock_core::command::*;
use interlock_core::decide::{DecideOutcome, decide_on};
use interlock_core::event::Event;
use interlock_core::handoff::{
    self, FindingResponse, FindingSeverity, Handoff, PlannedGroup, ReviewIssue, ReviewTracking,
};
use interlock_core::id::{AssignmentId, Digest, GateRunId, Name, QuestionId, Timestamp};
use interlock_core::observed::{ChangedFile, FileChange, ObservedChanges};
use interlock_core::provenance::{Channel, HookSeen};
use interlock_core::rejection::Rejection;
use interlock_core::state::{Assignment, Group, State};
use interlock_core::workflow::{GuardSource, Workflow};

/// Statuses that lead on, so that sequences get somewhere.
const FORWARD: &[&str] = &[
    "READY_FOR_QA",
    "PASS",
    "APPROVED",
    "MERGE_SUCCESS",
    "PLANNING_COMPLETE",
    "complete",
    "MERGED",
    "OK",
    "DONE",
    "BAZINGA",
    "FINISHED",
    "PLAN",
];
const ENDS: &[&str] = &["INVESTIGATION_ONLY", "NOTHING", "ABRUPT", "stop"];

/// A stream of choices out of one number.
pub(crate) struct ChoiceStream(u64);

impl ChoiceStream {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// A number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % u64::try_from(sides.max(1)).unwrap()).unwrap()
    }

    pub(crate) fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.roll(list.len()))
    }
}

pub(crate) struct SessionDriver<'w> {
    pub(crate) workflow: &'w Workflow,
    pub(crate) other: &'w Workflow,
    pub(crate) state: State,
    pub(crate) history: Vec<Event>,
    pub(crate) now: i64,
    planned: u32,
    /// Counts the changes of the files, whatever role makes them: the present tree is `tree-N`.
    changes: u32,
}

/// The result of one step, for the laws to check.
pub(crate) struct DriverStep {
    pub(crate) command: Command,
    pub(crate) before: State,
    pub(crate) result: Result<DecideOutcome, Rejection>,
    /// The tree at this step.
    pub(crate) tree: Name,
}

fn sighting(dice: &mut ChoiceStream) -> HookSeen {
    let hooks = ["SessionStart", "PreToolUse", "SubagentStop"].map(Name::new);
    let hook = dice.pick(&hooks).unwrap().clone();
    HookSeen { client: Name::new("claude"), conversation: Name::new("c-1"), hook, expects: hooks.to_vec() }
}

/// Often none, now and then an empty diff, otherwise one file in one of a few trees. Only authors change the tree: other
/// roles see the one that is there.
fn observed(dice: &mut ChoiceStream, group: Option<&Group>, is_author: bool) -> Option<Arc<ObservedChanges>> {
    if dice.one_in(2) {
        return None;
    }
    if !is_author {
        let diff = group?.diff.as_ref()?;
        let file = ChangedFile {
            path: Name::new("src/a.rs"),
            change: FileChange::Modified,
            test: false,
            gate: false,
            instructions: false,
        };
        let (base, tree) = (Name::new("base"), diff.tree.clone());
        let files = if diff.is_empty() { Vec::new() } else { vec![file] };
        return Some(Arc::new(ObservedChanges {
            base,
            commit: tree.clone(),
            tree,
            files,
            omitted: 0,
            unclaimed: Vec::new(),
            outside: diff.outside.clone(),
            merge_is_empty: false,
        }));
    }
    let files = match dice.roll(4) {
        0 => Vec::new(),
        _ => vec![ChangedFile {
            path: Name::new("src/a.rs"),
            change: FileChange::Modified,
            test: dice.one_in(4),
            gate: false,
            instructions: false,
        }],
    };
    let fresh = Name::from(format!("tree{}", if files.is_empty() { 0 } else { dice.roll(4) + 1 }));
    // Authors that go back to a tree that failed are what the law on failed trees is about.
    let failed = group.map_or(&[][..], |group| group.failed_trees.as_slice());
    let back = dice.pick(failed).filter(|(_, tree)| dice.one_in(3) && tree != "tree0" && !files.is_empty());
    let tree = back.map_or(fresh, |(_, tree)| tree.clone());
    // A group that the plan calls research may still deliver code. The same tree always has the same files.
    let is_research = group.is_some_and(|group| group.flags.get("kind").is_some_and(|kind| kind == "research"));
    let outside =
        if is_research && (tree == "tree1" || tree == "tree2") { vec![Name::new("src/a.rs")] } else { Vec::new() };
    let (base, commit) = (Name::new("base"), tree.clone());
    Some(Arc::new(ObservedChanges {
        base,
        commit,
        tree,
        files,
        omitted: 0,
        unclaimed: Vec::new(),
        outside,
        merge_is_empty: false,
    }))
}

fn token(id: AssignmentId) -> Digest {
    Digest::of(format!("secret of {id}").as_bytes())
}

impl<'w> SessionDriver<'w> {
    pub(crate) fn new(workflow: &'w Workflow, other: &'w Workflow) -> Self {
        Self { workflow, other, state: State::default(), history: Vec::new(), now: 0, planned: 0, changes: 0 }
    }

    pub(crate) fn step(&mut self, seed: u64) -> DriverStep {
        let mut dice = ChoiceStream::new(seed);
        self.now += 1_000;
        self.changes += u32::from(dice.one_in(12));
        let tree = self.tree();
        // By hand the program looks at the files; agents that report cannot.
        let known = Some(&tree).filter(|_| dice.one_in(3));
        let command = self.command(&mut dice);
        let workflow = if dice.one_in(400) { self.other } else { self.workflow };
        let inputs = DecisionInputs { now: Timestamp(self.now) };
        let result = decide_on(workflow, &self.state, &command, &inputs, known);
        let again = decide_on(workflow, &self.state, &command, &inputs, known);
        assert_eq!(result, again, "the same inputs must give the same decision: {command:?}");
        let before = self.state.clone();
        if let Ok(DecideOutcome::Decided(event)) = &result {
            self.state.apply(event);
            self.history.push((**event).clone());
        }
        DriverStep { command, before, result, tree }
    }

    fn command(&mut self, dice: &mut ChoiceStream) -> Command {
        if self.state.session.is_none() && !dice.one_in(20) || dice.one_in(500) {
            return self.start(dice);
        }
        match dice.roll(100) {
            0..=62 => self.report(dice),
            63..=74 => self.answer(dice),
            75..=80 => self.gate(dice),
            81..=84 => self.claim(dice),
            85..=87 => Command::Lost(RecordLoss {
                assignment: self.assignment(dice),
                loss: LossReason::ALL[dice.roll(LossReason::ALL.len())],
                note: None,
            }),
            88..=89 => {
                let assignment = self.assignment(dice);
                let handoff = Arc::new(self.handoff(assignment, dice));
                Command::Merged(RecordMerge { assignment, handoff })
            }
            90..=91 => {
                Command::LeaseExpired(LeaseExpired { assignment: self.assignment(dice), holder_gone: dice.one_in(2) })
            }
            92 => Command::Plan(AddPlannedGroups { groups: self.plan(dice), by: Name::new("ada") }),
            93 => Command::Defer(DeferGroup { group: self.group(dice), why: Name::new("later"), by: Name::new("ada") }),
            94..=95 => Command::Acknowledge(AcknowledgeDeferral { group: self.group(dice), by: Name::new("ada") }),
            96..=97 => self.send_to_role(dice),
            98 if dice.one_in(8) => {
                Command::Allow(AllowPaths { paths: vec![Name::new(".github/**")], by: Name::new("ada") })
            }
            98 if dice.one_in(2) => Command::Complete(CompleteSession { by: Name::new("ada") }),
            98 => Command::Accept(AcceptGroup { group: self.group(dice), by: Name::new("ada") }),
            99 if dice.one_in(2) => Command::Waive(WaiveEvidence {
                group: self.group(dice),
                evidence: self.evidence(dice),
                why: Name::new("the lab is closed"),
                by: Name::new("ada"),
            }),
            _ if dice.one_in(8) => Command::Sight(sighting(dice)),
            _ if dice.one_in(20) => Command::Cancel(CancelSessionByPerson { by: Name::new("ada") }),
            _ => self.report(dice),
        }
    }

    fn start(&self, dice: &mut ChoiceStream) -> Command {
        let mut settings = BTreeMap::new();
        for guard in self.workflow.guards.iter().filter(|guard| guard.source == GuardSource::Setting) {
            if dice.one_in(2) {
                settings.insert(guard.name.clone(), dice.pick(&guard.values).unwrap().clone());
            }
        }
        if dice.one_in(30) {
            settings.insert(Name::new("weather"), Name::new("fine"));
        }
        Command::Start(StartSession {
            session: Name::new("s1"),
            title: Name::new("a session"),
            settings,
            mission: None,
            investigation: dice.one_in(10),
            by: (!dice.one_in(10)).then(|| Name::new("ada")),
            dropped: Vec::new(),
            allow: None,
        })
    }

    /// Often a role that has passed the tree looks at it again: its latest report is the one that counts.
    fn send_to_role(&self, dice: &mut ChoiceStream) -> Command {
        let tested = self.state.groups.iter().find(|group| group.passed.contains("qa") && !group.ended());
        let tested = tested.filter(|_| dice.one_in(2));
        let (group, to) = match tested {
            Some(group) => (group.id.clone(), Name::new("qa_expert")),
            None => (self.group(dice), self.role(dice)),
        };
        Command::Override(OverrideAssignment {
            group,
            to,
            why: Name::new("a person knows better"),
            by: Name::new("ada"),
        })
    }

    /// Mostly one that the workflow knows.
    fn evidence(&self, dice: &mut ChoiceStream) -> Name {
        let known = ["qa", "review", "merge", "acceptance", "tests"];
        Name::new(known[dice.roll(known.len())])
    }

    /// Mostly an open one, sometimes a closed or unknown one.
    fn assignment(&self, dice: &mut ChoiceStream) -> AssignmentId {
        let open: Vec<AssignmentId> = self.state.open.iter().copied().collect();
        match dice.roll(20) {
            0 => AssignmentId(u32::try_from(dice.roll(60)).unwrap()),
            _ => dice.pick(&open).copied().unwrap_or(AssignmentId(1)),
        }
    }

    fn claim(&self, dice: &mut ChoiceStream) -> Command {
        let assignment = self.assignment(dice);
        let lease_until = dice.one_in(8).then(|| Timestamp(self.now + 1_500));
        Command::Claim(ClaimAssignment {
            assignment,
            token: token(assignment),
            prompt: None,
            lease_until,
            via: self.via(dice),
        })
    }

    /// Where it is asked for, mostly with a watcher.
    fn via(&self, dice: &mut ChoiceStream) -> Option<Channel> {
        let ways = [Channel::Run, Channel::Hook(Name::new("claude")), Channel::Mcp(Name::new("claude-code"))];
        match self.workflow.orchestrator.watched {
            true if dice.one_in(12) => None,
            true => Some(Channel::Run),
            false => dice.pick(&ways).cloned().filter(|_| dice.one_in(2)),
        }
    }

    fn report(&mut self, dice: &mut ChoiceStream) -> Command {
        let assignment = self.assignment(dice);
        let unclaimed = self.state.assignments.get(&assignment).is_some_and(|open| open.token.is_none());
        if unclaimed && !dice.one_in(15) {
            return self.claim(&mut ChoiceStream::new(u64::from(assignment.0) << 40));
        }
        let id = if dice.one_in(40) { AssignmentId(assignment.0 + 1) } else { assignment };
        let handoff = Arc::new(self.handoff(assignment, dice));
        let seat = self.state.assignments.get(&assignment);
        let group = seat.and_then(|seat| seat.group.as_ref()).and_then(|group| self.state.group(group));
        let role = seat.and_then(|seat| self.workflow.role_named(&seat.role));
        let observed = observed(dice, group, role.is_some_and(|role| self.workflow.role(role).author));
        Command::Report(SubmitReport { assignment, token: token(id), handoff, observed, via: self.via(dice) })
    }

    fn handoff(&mut self, id: AssignmentId, dice: &mut ChoiceStream) -> Handoff {
        let Some(assignment) = self.state.assignments.get(&id).cloned() else {
            return self.blank(&Name::new("nobody"), None, Name::new("DONE"));
        };
        let role = if dice.one_in(50) { self.role(dice) } else { assignment.role.clone() };
        let said = self.status(&assignment, dice);
        let mut handoff = self.blank(&role, assignment.phase.clone(), said);
        self.fill(&mut handoff, &assignment, dice);
        // The same report again must be recognised, another one not.
        let text = format!("{:?}{:?}{:?}{:?}", handoff.said, handoff.issues, handoff.groups, handoff.json);
        handoff.digest = Digest::of(text.as_bytes());
        handoff
    }

    fn status(&self, assignment: &Assignment, dice: &mut ChoiceStream) -> Name {
        let role = self.workflow.role_named(&assignment.role);
        let statuses = role.map(|role| self.workflow.statuses_of(role)).unwrap_or_default();
        let forward: Vec<Name> = statuses.iter().filter(|status| FORWARD.contains(&status.as_str())).cloned().collect();
        let picked = match dice.roll(25) {
            0 => Some(Name::new("LOOKS_FINE")),
            1..=14 if !forward.is_empty() => dice.pick(&forward).cloned(),
            _ => dice.pick(&statuses).cloned(),
        };
        // Ends come last, or the sequences would be short.
        match picked {
            Some(status) if ENDS.contains(&status.as_str()) && !dice.one_in(8) => {
                dice.pick(&statuses).cloned().unwrap_or(status)
            }
            Some(status) => status,
            None => Name::new("DONE"),
        }
    }

    fn blank(&self, role: &Name, phase: Option<Name>, said: Name) -> Handoff {
        let status = self.workflow.role_named(role).and_then(|role| self.workflow.status_of(role, &said));
        Handoff {
            role: role.clone(),
            phase,
            said,
            status,
            reason: None,
            facts: vec![0; self.workflow.guards.len()],
            issues: None,
            tracking: ReviewTracking::default(),
            responses: Vec::new(),
            blocking_summary: None,
            failing_tests: None,
            groups: None,
            questions: Vec::new(),
            acknowledge: Vec::new(),
            accept: Vec::new(),
            digest: Digest::of(b""),
            submitted: Arc::default(),
            filled_in: interlock_core::handoff::FilledFields::new(),
            is_own_report: false,
            json: Arc::new(serde_json::json!({})),
        }
    }

    fn fill(&mut self, handoff: &mut Handoff, assignment: &Assignment, dice: &mut ChoiceStream) {
        let workflow = self.workflow;
        let reasons = workflow.blocked.as_ref().map_or(&[][..], |blocked| blocked.reasons.as_slice());
        handoff.reason = dice.pick(reasons).cloned();
        for (index, guard) in workflow.guards.iter().enumerate() {
            if guard.source == GuardSource::Fact {
                handoff.facts[index] = u8::try_from(dice.roll(guard.values.len())).unwrap();
            }
        }
        if !dice.one_in(12) {
            // Every field that a phase or row could demand.
            handoff.json = Arc::new(serde_json::json!({
                "groups": [1], "defer_reason": "external", "files_modified": ["a"], "artifacts": ["b"],
                "source_files_verified": ["c"], "number": dice.roll(1000),
                "handoff": { "context": "go on", "next_agent": dice.one_in(4).then_some("tech_lead") },
                "verification": every_claim(workflow),
            }));
        }
        if dice.one_in(2) {
            // The report names what it confirms, below.
            Arc::make_mut(&mut handoff.json)["accept"] = serde_json::json!([]);
        }
        if assignment.group.is_none() && dice.one_in(2) {
            handoff.groups = Some(self.plan(dice));
        }
        if assignment.group.is_some() && dice.one_in(2) {
            self.review(handoff, assignment, dice);
        }
        if dice.one_in(4) {
            let tests = (0..dice.roll(4)).map(|n| Name::from(format!("test-{n}"))).collect();
            handoff.failing_tests = Some(tests);
        }
        for group in &self.state.groups {
            if dice.one_in(2) {
                handoff.accept.push(group.id.clone());
            }
            if dice.one_in(2) {
                handoff.acknowledge.push(group.id.clone());
            }
        }
        if dice.one_in(60) {
            handoff.accept.push(Name::new("nowhere"));
        }
    }

    fn review(&self, handoff: &mut Handoff, assignment: &Assignment, dice: &mut ChoiceStream) {
        let mut issues = Vec::new();
        for n in 0..dice.roll(4) {
            issues.push(ReviewIssue {
                id: Name::from(format!("F{}-{n}", dice.roll(5))),
                title: Name::from(format!("title {}", dice.roll(4))),
                location: Name::from(format!("src/{}.rs", dice.roll(2))),
                severity: [
                    FindingSeverity::Critical,
                    FindingSeverity::High,
                    FindingSeverity::Medium,
                    FindingSeverity::Low,
                ][dice.roll(4)],
                blocking: !dice.one_in(3),
            });
        }
        handoff.issues = Some(issues);
        let group = assignment.group.as_ref().and_then(|name| self.state.group(name));
        for finding in group.map_or(&[][..], |group| group.findings.as_slice()) {
            let (id, reason) = (finding.id.clone(), Name::new("not so"));
            let answers =
                [handoff::ResponseKind::Fixed, handoff::ResponseKind::Rejected, handoff::ResponseKind::Deferred];
            let rejected = finding.response.as_ref().is_some_and(|r| r.response == handoff::ResponseKind::Rejected);
            match dice.roll(8) {
                0 if !rejected && !dice.one_in(8) => handoff.tracking.fixes_confirmed.push(id),
                0 => handoff.tracking.rejections_accepted.push(id),
                1 => handoff.tracking.rejections_overruled.push(id),
                2 => handoff.tracking.fixes_confirmed.push(id),
                3 => handoff.tracking.findings_dropped.push(handoff::DroppedFinding { id, reason }),
                4..=6 => {
                    let response = answers[dice.roll(answers.len())];
                    handoff.responses.push(FindingResponse { id, response, reason: Some(reason) });
                }
                _ => {}
            }
        }
    }

    fn plan(&mut self, dice: &mut ChoiceStream) -> Vec<PlannedGroup> {
        let mut groups: Vec<PlannedGroup> = Vec::new();
        for _ in 0..=dice.roll(3) {
            self.planned += 1;
            let mut flags = BTreeMap::new();
            for guard in self.workflow.guards.iter().filter(|guard| guard.source == GuardSource::Flag) {
                if guard.required && !dice.one_in(40) || dice.one_in(3) {
                    flags.insert(guard.name.clone(), dice.pick(&guard.values).unwrap().clone());
                }
            }
            let depends_on = groups.last().filter(|_| dice.one_in(3)).map(|group| group.id.clone());
            groups.push(PlannedGroup {
                id: if dice.one_in(40) { Name::new("G1") } else { Name::from(format!("G{}", self.planned)) },
                title: Name::new("a group"),
                flags,
                depends_on: depends_on.into_iter().collect(),
                checks: if dice.one_in(3) { vec![vec![Name::new("true")]] } else { Vec::new() },
            });
        }
        groups
    }

    fn answer(&self, dice: &mut ChoiceStream) -> Command {
        let open: Vec<QuestionId> = self.state.open_questions.iter().copied().collect();
        if open.is_empty() && !dice.one_in(10) {
            return self.claim(dice);
        }
        let question = match dice.roll(30) {
            0 => QuestionId(u32::try_from(dice.roll(20)).unwrap()),
            _ => dice.pick(&open).copied().unwrap_or(QuestionId(1)),
        };
        let options = self.state.questions.get(&question).map_or(&[][..], |question| question.options.as_slice());
        let choice = match dice.roll(10) {
            0 => AnswerChoice::Option { name: Name::new("maybe"), text: None },
            1 => AnswerChoice::Text(Name::new("do it like this")),
            _ => {
                let mut picked = dice.pick(options);
                if picked.is_some_and(|option| ENDS.contains(&option.as_str())) && !dice.one_in(10) {
                    picked = options.first();
                }
                picked.map_or(AnswerChoice::Text(Name::new("go")), |option| AnswerChoice::Option {
                    name: option.clone(),
                    text: None,
                })
            }
        };
        Command::Answer(AnswerQuestion { question, choice, by: Name::new("ada"), allow: Vec::new() })
    }

    fn tree(&self) -> Name {
        Name::from(format!("tree-{}", self.changes))
    }

    fn gate(&self, dice: &mut ChoiceStream) -> Command {
        let open: Vec<GateRunId> = self.state.gate_runs.keys().copied().collect();
        if open.is_empty() && !dice.one_in(20) {
            return self.claim(dice);
        }
        let run = dice.pick(&open).copied().unwrap_or(GateRunId(99));
        let tree = if dice.one_in(40) { Name::new("") } else { self.tree() };
        let output = Name::new("output");
        let checkout = GateCheckout::default();
        Command::GateFinished(GateFinished { run, passed: !dice.one_in(3), tree, output, checkout })
    }

    fn group(&self, dice: &mut ChoiceStream) -> Name {
        let names: Vec<Name> = self.state.groups.iter().map(|group| group.id.clone()).collect();
        match dice.roll(20) {
            0 => Name::new("nowhere"),
            _ => dice.pick(&names).cloned().unwrap_or_else(|| Name::new("nowhere")),
        }
    }

    fn role(&self, dice: &mut ChoiceStream) -> Name {
        let names: Vec<Name> = self.workflow.roles.iter().map(|role| role.name.clone()).collect();
        match dice.roll(20) {
            0 => Name::new("wizard"),
            _ => dice.pick(&names).unwrap().clone(),
        }
    }
}

fn every_claim(workflow: &Workflow) -> serde_json::Value {
    let names: BTreeSet<&str> = workflow.claims().into_iter().collect();
    let mut claims: serde_json::Map<String, serde_json::Value> =
        names.into_iter().map(|name| (name.to_owned(), serde_json::Value::Bool(true))).collect();
    claims.insert("coverage_percent".to_owned(), 90.into());
    serde_json::Value::Object(claims)
}
