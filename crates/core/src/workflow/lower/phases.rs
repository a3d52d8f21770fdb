//! Phases, stages, checkpoints.

use crate::code::Code;
use crate::id::Name;
use crate::problem::{Place, Problem};
use crate::workflow::doc::{PhaseDoc, ReworkDoc};
use crate::workflow::lower::Lowering;
use crate::workflow::model::*;
use crate::workflow::record::PlacedValue;

impl Lowering<'_> {
    /// Gives every phase its number, so that entries can name later ones too.
    pub(super) fn name_phases(&mut self) {
        for (stage, doc) in self.doc.phases.iter().enumerate() {
            let phases = if doc.together.is_empty() { std::slice::from_ref(doc) } else { doc.together.as_slice() };
            for phase in phases {
                let Some(name) = &phase.phase else {
                    if !phase.unread.any_of(&["phase"]) {
                        self.report(Code::BadPhase, &phase.place, "a phase needs a name: `phase: …`");
                    }
                    continue;
                };
                if self.phases.iter().any(|other| other.name == name.value) {
                    self.report(Code::TwoMeanings, &name.place, format!("phase `{}` stands twice", name.value));
                }
                self.phases.push(Phase {
                    name: name.value.clone(),
                    called: phase.called.as_ref().unwrap_or(name).value.clone(),
                    performer: PhasePerformer::Merge,
                    when: Vec::new(),
                    stage,
                    plans: false,
                    demands: HandoffDemands::default(),
                    skills: phase.skills.iter().map(|skill| skill.value.clone()).collect(),
                    place: phase.place.clone(),
                });
            }
        }
    }

    pub(super) fn phase_ix(&self, name: &str) -> Option<PhaseIx> {
        self.phases.iter().position(|phase| phase.name == name).map(PhaseIx::new)
    }

    pub(super) fn find_phase(&mut self, name: &PlacedValue<Name>) -> Option<PhaseIx> {
        let found = self.phase_ix(&name.value);
        if found.is_none() {
            let known: Vec<Name> = self.phases.iter().map(|phase| phase.name.clone()).collect();
            self.unknown(Code::UnknownPhase, "phase", name, known.iter().map(Name::as_str));
        }
        found
    }

    pub(super) fn stages(&mut self) {
        let doc = self.doc;
        for (index, stage) in doc.phases.iter().enumerate() {
            self.stage(index, stage);
        }
        for checkpoint in &doc.checkpoints {
            let question = self.find_question(&checkpoint.ask);
            let when = self.tests(&checkpoint.when, false);
            for after in &checkpoint.after {
                let phase = self.find_phase(after);
                let stage = phase.and_then(|ix| self.phases.get(ix.index())).map(|phase| phase.stage);
                if let (Some(stage), Some(question)) = (stage.and_then(|stage| self.stages.get_mut(stage)), question) {
                    stage.checkpoints.push(Checkpoint { question, when: when.clone() });
                }
            }
        }
        self.planning_comes_first();
        self.others_review();
    }

    /// A phase with `rework` judges the work of earlier phases, so no author of one of them holds it.
    fn others_review(&mut self) {
        let roles_of = |performer: &PhasePerformer| -> Vec<Option<RoleIx>> {
            match performer {
                PhasePerformer::Role(role) => vec![Some(*role); self.domains.len().max(1)],
                PhasePerformer::ByDomain(roles) => roles.clone(),
                PhasePerformer::Gate(_) | PhasePerformer::Merge => Vec::new(),
            }
        };
        let mut found = Vec::new();
        for (index, stage) in self.stages.iter().enumerate().filter(|(_, stage)| stage.rework.is_some()) {
            for review in stage.phases.iter().filter_map(|ix| self.phases.get(ix.index())) {
                let reviewers = roles_of(&review.performer);
                let earlier = self.phases.iter().filter(|phase| phase.stage < index);
                for author in earlier {
                    let authors = roles_of(&author.performer);
                    let mut pairs = reviewers
                        .iter()
                        .zip(&authors)
                        .filter_map(|(one, other)| one.filter(|one| Some(*one) == *other));
                    let same = pairs.find_map(|ix| self.roles.get(ix.index()).filter(|role| role.author));
                    found.extend(same.map(|role| {
                        (review.place.clone(), review.name.clone(), author.name.clone(), role.name.clone())
                    }));
                }
            }
        }
        for (place, review, phase, role) in found {
            let message =
                format!("`{role}` is the author of phase `{phase}` and would review its own work in `{review}`");
            let help = "give the phase with `rework` to another role, or leave `rework` out";
            self.problems.push(Problem::new(Code::BadPhase, message).help(help).at(place));
        }
    }

    fn stage(&mut self, index: usize, doc: &PhaseDoc) {
        let together = !doc.together.is_empty();
        let per_session = match &doc.per {
            None => false,
            Some(at) if at.value == "session" => true,
            Some(at) => {
                if at.value != "group" {
                    self.report(Code::BadPhase, &at.place, "`per` is `group` or `session`");
                }
                false
            }
        };
        let mut phases = Vec::new();
        if together {
            self.together_alone(doc);
            for phase in &doc.together {
                for (key, written) in [("per", phase.per.is_some()), ("rework", phase.rework.is_some())] {
                    if written {
                        let message = format!("`{key}` stands beside `together`, not in it");
                        self.report(Code::BadPhase, &phase.place, message);
                    }
                }
                phases.extend(self.phase(phase, per_session));
            }
        } else {
            phases.extend(self.phase(doc, per_session));
        }
        let rework = doc.rework.as_ref().and_then(|rework| self.rework(index, rework, per_session));
        self.stages.push(PipelineStage { phases, per_session, rework, checkpoints: Vec::new() });
    }

    fn together_alone(&mut self, doc: &PhaseDoc) {
        let extra = [doc.role.is_some(), doc.gate.is_some(), doc.merge.is_some(), doc.phase.is_some()];
        if extra.contains(&true) || !doc.when.is_empty() || doc.plans.is_some() {
            self.report(Code::BadPhase, &doc.place, "beside `together` only `per` and `rework` can stand");
        }
        if doc.together.len() < 2 {
            self.report(Code::BadPhase, &doc.place, "`together` needs two phases or more");
        }
    }

    fn phase(&mut self, doc: &PhaseDoc, per_session: bool) -> Option<PhaseIx> {
        let name = doc.phase.as_ref()?;
        let ix = self.phase_ix(&name.value)?;
        let when = self.tests(&doc.when, false);
        let performer = self.performer(doc, per_session, &when);
        let per_group_test = |test: &GuardTest| self.guards.get(test.guard.index()).map(|guard| guard.source);
        if per_session && when.iter().any(|test| per_group_test(test) == Some(GuardSource::Flag)) {
            self.report(Code::GuardOutOfReach, &doc.place, "a phase of the session cannot read a group's flag");
        }
        let plans = match &doc.plans {
            None => false,
            Some(at) => {
                if at.value != "groups" || !per_session {
                    self.report(Code::BadPhase, &at.place, "`plans: groups` belongs to a phase `per: session`");
                }
                true
            }
        };
        let changes = self.changes_demand(doc.changes.as_ref(), true);
        if let (true, Some(at)) = (per_session, &doc.changes) {
            self.report(
                Code::BadPhase,
                &at.place,
                "`changes` is about the diff of a group, and this phase is the session's",
            );
        }
        let demands = HandoffDemands { changes, ..demands(&doc.require, &doc.verify) };
        let phase = self.phases.get_mut(ix.index())?;
        phase.when = when;
        phase.plans = plans;
        phase.demands = demands;
        phase.performer = performer?;
        Some(ix)
    }

    /// `changes` of an entry or a phase. Only an author's report can state that there is nothing to change.
    pub(super) fn changes_demand(&mut self, written: Option<&PlacedValue<Name>>, of_phase: bool) -> ChangesDemand {
        let Some(at) = written else { return ChangesDemand::Any };
        match at.value.as_str() {
            "required" => ChangesDemand::Required,
            "none" if !of_phase => ChangesDemand::Nothing,
            _ => {
                let allowed = if of_phase { "`required`" } else { "`required` or `none`" };
                let problem = Problem::new(Code::WrongType, format!("`changes` is {allowed}"));
                let help = "write `changes: required`, or leave it out";
                self.problems.push(problem.help(help).at(at.place.clone()));
                ChangesDemand::Any
            }
        }
    }

    fn performer(&mut self, doc: &PhaseDoc, per_session: bool, when: &[GuardTest]) -> Option<PhasePerformer> {
        match (&doc.role, &doc.gate, &doc.merge) {
            (Some(role), None, None) if role.value.contains("{domain}") => {
                if per_session {
                    let message = "a phase of the session has no group, so no `{domain}`";
                    self.report(Code::BadPhase, &role.place, message);
                }
                Some(PhasePerformer::ByDomain(self.by_domain(role, when)))
            }
            (Some(role), None, None) => self.find_holder(role).map(PhasePerformer::Role),
            (None, Some(gate), None) => self.find_gate(gate).map(PhasePerformer::Gate),
            (None, None, Some(merge)) => {
                if merge.value != "author" || per_session {
                    self.report(Code::BadPhase, &merge.place, "it is a group's `author` that merges");
                }
                Some(PhasePerformer::Merge)
            }
            _ if doc.unread.any_of(&["role", "gate", "merge"]) => None,
            _ => {
                self.report(Code::BadPhase, &doc.place, "a phase has one of `role`, `gate` and `merge: author`");
                None
            }
        }
    }

    /// A role for each domain; those that `when` leaves out need none.
    fn by_domain(&mut self, role: &PlacedValue<Name>, when: &[GuardTest]) -> Vec<Option<RoleIx>> {
        let domains: Vec<Name> = self.domains.iter().map(|domain| domain.name.clone()).collect();
        let applies = |bit: usize| {
            when.iter()
                .filter(|test| Some(test.guard) == self.domain_guard)
                .all(|test| test.allowed.checked_shr(u32::try_from(bit).unwrap_or(u32::MAX)).unwrap_or(0) & 1 == 1)
        };
        let applying: Vec<bool> = (0..domains.len()).map(applies).collect();
        let mut picked = Vec::new();
        for (domain, applies) in domains.into_iter().zip(applying) {
            let name = Name::from(role.value.replace("{domain}", &domain));
            let found = self.role_index.get(&name).copied();
            if found.is_none() && applies {
                let message = format!("`{}` needs a role `{name}`, which is not declared", role.value);
                self.report(Code::DomainConflict, &role.place, message);
            }
            picked.push(found);
        }
        picked
    }

    fn rework(&mut self, stage: usize, doc: &ReworkDoc, per_session: bool) -> Option<ReworkRule> {
        let goto = self.find_phase(&doc.goto)?;
        let counted = self.find_loop(&doc.counted)?;
        if self.loops.get(counted.index()).is_some_and(|item| item.measure.is_none()) && !self.states_measure(doc) {
            let message = format!("rework needs to know when it is done: loop `{}` has no measure", doc.counted.value);
            let name = &doc.counted.value;
            let help = format!(
                "give loop `{name}` a measure: `{name}: {{ escalate_at: {{ iteration: 5 }}, measure: blocking_findings }}` for reviews, `failing_tests` for tests"
            );
            self.problems.push(Problem::new(Code::BadLoop, message).help(help).at(doc.counted.place.clone()));
        }
        let target = self.phases.get(goto.index()).map(|phase| phase.stage)?;
        if target >= stage {
            self.report(Code::BadPhase, &doc.goto.place, "rework goes back to an earlier phase");
            return None;
        }
        self.same_scope(target, per_session, &doc.goto.place);
        Some(ReworkRule { goto, counted })
    }

    /// A measure that is written and cannot be read is reported where it stands. So is a loop that cannot be read.
    fn states_measure(&self, doc: &ReworkDoc) -> bool {
        let name = &doc.counted.value;
        self.doc.loops.is_unread(name) || self.doc.loops.get(name).is_some_and(|item| item.measure.is_some())
    }

    pub(super) fn same_scope(&mut self, stage: usize, per_session: bool, place: &Place) {
        let other = self.stages.get(stage).map(|stage| stage.per_session);
        if other.is_some_and(|other| other != per_session) {
            self.report(
                Code::BadPhase,
                place,
                "work of a group cannot go back to a phase of the session, nor the reverse",
            );
        }
    }

    /// Groups exist once they are planned, and an author once it has worked.
    fn planning_comes_first(&mut self) {
        let stages = self.stages.clone();
        let mut author_seen = false;
        let mut group_stage_seen = false;
        let mut planned = false;
        for stage in &stages {
            for ix in &stage.phases {
                let Some(phase) = self.phases.get(ix.index()) else { continue };
                let (place, plans, performer) = (phase.place.clone(), phase.plans, phase.performer.clone());
                if plans && (group_stage_seen || planned) {
                    self.report(Code::BadPhase, &place, "groups are planned once, before the first phase of a group");
                }
                planned |= plans;
                if performer == PhasePerformer::Merge && !author_seen {
                    self.no_author_before(place);
                }
                author_seen |= self.is_author(&performer);
            }
            group_stage_seen |= !stage.per_session;
        }
        if !stages.is_empty() && self.domain_guard.is_some() && !planned {
            let place = self.doc.place.clone();
            self.report(Code::BadPhase, &place, "`{domain}` is told by the plan, and no phase `plans: groups`");
        }
        if !stages.is_empty() && !group_stage_seen {
            let place = self.doc.place.clone();
            self.report(Code::BadPhase, &place, "at least one phase works on groups");
        }
    }

    fn no_author_before(&mut self, place: Place) {
        let problem = if self.roles.iter().any(|role| role.author) {
            let help = "put the merge after a phase whose role has `is: [author]`, or declare an earlier role so";
            Problem::new(Code::BadPhase, "no author has worked before this merge").help(help)
        } else {
            Problem::new(Code::NoAuthorRole, "no role is an author, so no role can merge").help(self.author_help())
        };
        self.problems.push(problem.at(place));
    }

    fn is_author(&self, performer: &PhasePerformer) -> bool {
        let author = |ix: &RoleIx| self.roles.get(ix.index()).is_some_and(|role| role.author);
        match performer {
            PhasePerformer::Role(ix) => author(ix),
            PhasePerformer::ByDomain(roles) => roles.iter().flatten().any(author),
            PhasePerformer::Gate(_) | PhasePerformer::Merge => false,
        }
    }
}

pub(super) fn demands(require: &[PlacedValue<Name>], verify: &[PlacedValue<Name>]) -> HandoffDemands {
    HandoffDemands {
        require: require.iter().map(|at| at.value.clone()).collect(),
        verify: verify.iter().map(|at| at.value.clone()).collect(),
        changes: ChangesDemand::Any,
    }
}
