//! The compiled workflow: names resolved, one ordered list of rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::command::LossReason;
use crate::id::{Digest, Name};
use crate::problem::Place;
use crate::workflow::duration::Duration;
use crate::workflow::fact::FactExpression;

macro_rules! index {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub(crate) u16);

        impl $name {
            pub(crate) fn new(index: usize) -> Self {
                Self(u16::try_from(index).unwrap_or(u16::MAX))
            }

            pub(crate) fn index(self) -> usize {
                usize::from(self.0)
            }
        }
    )*};
}

index! {
    /// A role.
    RoleIx;
    /// A domain.
    DomainIx;
    /// A status, or an option of a question.
    StatusIx;
    /// A loop.
    LoopIx;
    /// A phase.
    PhaseIx;
    /// A question.
    QuestionIx;
    /// A gate.
    GateIx;
    /// A declared name that `when` can test.
    GuardIx;
    /// A rule.
    RuleIx;
    /// A name that can be passed as evidence.
    PassIx;
}

/// A set of small indices.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct IndexBitSet(Vec<u64>);

impl IndexBitSet {
    pub(crate) fn insert(&mut self, index: usize) {
        let word = index / 64;
        if self.0.len() <= word {
            self.0.resize(word.saturating_add(1), 0);
        }
        if let Some(bits) = self.0.get_mut(word) {
            *bits |= 1 << (index % 64);
        }
    }

    pub(crate) fn contains(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|bits| bits & (1 << (index % 64)) != 0)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len().saturating_mul(64)).filter(|index| self.contains(*index))
    }
}

impl FromIterator<usize> for IndexBitSet {
    fn from_iter<I: IntoIterator<Item = usize>>(indices: I) -> Self {
        let mut set = Self::default();
        indices.into_iter().for_each(|index| set.insert(index));
        set
    }
}

/// The files of its group that a role may change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WritePermission {
    Everything,
    Nothing,
    /// Paths that fit one of these patterns.
    Only(Vec<Name>),
}

/// The statuses of the merge table, by what they mean.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MergeStatuses {
    pub success: Option<Name>,
    pub conflict: Option<Name>,
    pub failure: Option<Name>,
    pub blocked: Option<Name>,
}

#[derive(Clone, Debug)]
pub struct Role {
    pub name: Name,
    /// The description of its work, for the agent that plays it.
    pub about: Option<String>,
    pub author: bool,
    pub classes: Vec<Name>,
    pub domain: Option<DomainIx>,
    /// The role that it escalates to; `None` is a person.
    pub escalates_to: Option<RoleIx>,
    pub at_most: Option<u32>,
    pub skills: Vec<Name>,
    pub model: Option<Name>,
    pub deadline: Option<Duration>,
    pub writes: WritePermission,
    /// Protected paths that it may change.
    pub owns: Vec<Name>,
    /// Played by Interlock itself: no agent can hold it.
    pub by_interlock: bool,
}

#[derive(Clone, Debug)]
pub struct Domain {
    pub name: Name,
    pub(crate) prefixes: Vec<Name>,
}

/// Where a guard's value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardSource {
    Setting,
    Flag,
    Fact,
}

/// A declared name with finite values; the first is the default.
#[derive(Clone, Debug)]
pub struct Guard {
    pub name: Name,
    pub source: GuardSource,
    pub values: Vec<Name>,
    /// The plan must give it: there is no sensible default.
    pub required: bool,
    pub(crate) expression: Option<FactExpression>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopMeasure {
    BlockingFindings,
    FailingTests,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopLimits {
    pub iteration: u32,
    pub no_progress: Option<u32>,
}

#[derive(Clone, Debug)]
pub struct Loop {
    pub name: Name,
    pub limit: LoopLimits,
    pub warn: LoopLimits,
    pub measure: Option<LoopMeasure>,
    /// The name under which its escalations are counted, by the role that they reach.
    pub(crate) escalations: Name,
    /// The names of its counters among the facts of a decision.
    pub(crate) facts: LoopFacts,
}

#[derive(Clone, Debug)]
pub(crate) struct LoopFacts {
    pub(crate) iteration: Name,
    pub(crate) no_progress: Name,
    pub(crate) open: Name,
    pub(crate) escalated: Name,
}

impl LoopFacts {
    pub(crate) fn of(name: &Name) -> Self {
        let fact = |what: &str| Name::from(format!("loop.{name}.{what}"));
        Self {
            iteration: fact("iteration"),
            no_progress: fact("no_progress"),
            open: fact("open"),
            escalated: fact("escalated"),
        }
    }
}

#[derive(Clone, Debug)]
pub enum GateCommandSource {
    /// The `checks` of the group's plan.
    Plan,
    Command(Vec<Name>),
}

#[derive(Clone, Debug)]
pub struct Gate {
    pub name: Name,
    pub run: GateCommandSource,
    /// Every planned group must bring a check that can fail.
    pub required: bool,
    pub timeout: Option<Duration>,
}

#[derive(Clone, Debug)]
pub struct DeclaredQuestion {
    pub name: Name,
    pub text: Name,
    pub options: Vec<(Name, StatusIx)>,
    /// Free text, or an option of the handoff, is taken as well.
    pub free: Option<StatusIx>,
}

/// One name has one of the values (a bit each).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct GuardTest {
    pub(crate) guard: GuardIx,
    pub(crate) allowed: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum PhasePerformer {
    Role(RoleIx),
    /// One role for each domain, by the group's `domain` flag.
    ByDomain(Vec<Option<RoleIx>>),
    Gate(GateIx),
    Merge,
}

#[derive(Clone, Debug)]
pub struct Phase {
    pub name: Name,
    /// The name that handoffs use for it.
    pub called: Name,
    pub(crate) performer: PhasePerformer,
    pub(crate) when: Vec<GuardTest>,
    pub(crate) stage: usize,
    pub(crate) plans: bool,
    pub(crate) demands: HandoffDemands,
    pub(crate) skills: Vec<Name>,
    pub place: Place,
}

#[derive(Clone, Debug)]
pub(crate) struct PipelineStage {
    pub(crate) phases: Vec<PhaseIx>,
    pub(crate) per_session: bool,
    pub(crate) rework: Option<ReworkRule>,
    pub(crate) checkpoints: Vec<Checkpoint>,
}

#[derive(Clone, Debug)]
pub(crate) struct ReworkRule {
    pub(crate) goto: PhaseIx,
    pub(crate) counted: LoopIx,
}

#[derive(Clone, Debug)]
pub(crate) struct Checkpoint {
    pub(crate) question: QuestionIx,
    pub(crate) when: Vec<GuardTest>,
}

#[derive(Clone, Debug)]
pub(crate) struct RoleOverride {
    pub(crate) when: Vec<GuardTest>,
    pub(crate) instead_of: RoleIx,
    pub(crate) takes: RoleIx,
    pub(crate) because: Name,
}

/// The fields that a handoff must have to be accepted here.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HandoffDemands {
    pub require: Vec<Name>,
    pub verify: Vec<Name>,
    pub changes: ChangesDemand,
}

/// The demand on a report about the observed diff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChangesDemand {
    #[default]
    Any,
    /// The diff may not be empty.
    Required,
    /// The author states that nothing has to change: the diff must be empty.
    Nothing,
}

impl HandoffDemands {
    pub fn is_empty(&self) -> bool {
        self.require.is_empty() && self.verify.is_empty() && self.changes == ChangesDemand::Any
    }
}

/// Evidence that completion needs: any one of the options, where the condition holds for the group.
#[derive(Clone, Debug)]
pub(crate) struct EvidenceNeed {
    pub(crate) options: Vec<PassIx>,
    /// Settings and flags. Both are fixed once a group is planned.
    pub(crate) when: Vec<GuardTest>,
    /// The role that is asked for it while it is missing; `None` where only a merge passes it.
    pub(crate) asks: Option<RoleIx>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CompletionRules {
    pub(crate) needs: Vec<EvidenceNeed>,
    pub(crate) once_blocked: Vec<PassIx>,
    pub(crate) gates: Vec<GateIx>,
    pub(crate) session_gates: Vec<GateIx>,
    pub(crate) changes: Option<RequiredChanges>,
}

impl CompletionRules {
    /// Evidence that accepts a group in which its author found nothing to do.
    pub(crate) fn accepting(&self) -> impl Iterator<Item = PassIx> {
        let unless = self.changes.iter().flat_map(|changes| &changes.unless);
        self.once_blocked.iter().chain(unless).copied()
    }
}

/// The files that a group may change at most, where its flags meet the condition.
#[derive(Clone, Debug)]
pub struct FileLimit {
    /// Flags only: the plan chooses them.
    pub(crate) when: Vec<GuardTest>,
    /// Patterns of paths.
    pub only: Vec<Name>,
}

/// Where a group must change files to be completed.
#[derive(Clone, Debug)]
pub(crate) struct RequiredChanges {
    pub(crate) when: Vec<GuardTest>,
    /// Evidence that accepts a group whose diff is empty.
    pub(crate) unless: Vec<PassIx>,
}

/// Something that can be passed as evidence.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    pub(crate) name: Name,
    /// A loop of this name with a measure: it must be at zero.
    pub(crate) measured: Option<LoopMeasure>,
    /// The loop whose last measure is forgotten.
    pub(crate) forgets: Option<LoopIx>,
    /// Replaces a review in completion: findings still open are settled by it.
    pub(crate) settles: bool,
    /// Roles that pass it by work or help, not by a merge.
    pub(crate) roles: IndexBitSet,
    /// An entry that merges passes it: it approves the merge.
    pub(crate) approves: bool,
    /// Where it is passed first.
    pub(crate) place: Place,
}

/// The purpose of an assignment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AssignmentTask {
    Work,
    Consult,
    Merge,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum RuleSource {
    /// Reports of these roles; `domains` answers for undeclared roles as well.
    Roles {
        roles: IndexBitSet,
        domains: IndexBitSet,
    },
    Gate(GateIx),
    Question(QuestionIx),
}

/// The role that a verb targets, before anything is known of the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RoleTarget {
    Role(RoleIx),
    Author,
    Reporter,
    /// The role that waits last.
    Waiting,
    /// The role of a phase.
    Phase(PhaseIx),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RuleVerb {
    Spawn(RoleTarget),
    Respawn(RoleTarget),
    Consult(RoleTarget),
    Return,
    Escalate(RoleTarget),
    Merge,
    Goto(PhaseIx),
    Start,
    Ask(QuestionIx),
    Complete,
    Defer,
    Validate(RoleIx),
    End,
    CancelGroup,
    CancelSession,
    Redo,
    Acknowledge,
    /// Another phase of the stage is unfinished: this part is done.
    Join,
    /// Back to an earlier phase of the pipeline.
    Rework(PhaseIx),
    /// Forward: the stage is done.
    Leave,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum RuleCondition {
    When(GuardTest),
    InGroup,
    InSession,
    HasAuthor,
    /// The target is neither the reporter nor waits.
    Free(RoleTarget),
    SomebodyWaits,
    /// The counter of the rule's loop has reached its limit.
    Limit,
    /// The measure of this loop is above zero.
    Open(LoopIx),
    Outstanding,
    /// Work has come as far as this phase: `goto` goes back, never forward.
    Reached(PhaseIx),
    Task(AssignmentTask),
    /// Nothing that this review calls blocking can block, and nothing else sends the work back.
    Settled,
    /// A finding of this review was settled before.
    RaisedAgain,
    /// With what this passes, the group's needs are met.
    Completes,
    /// This need of completion, by its index, applies to the group and is not met with what this passes.
    Lacks(u16),
    /// An approval of this tree is recorded, and with what this passes only the merge is missing.
    ApprovedAlready,
    /// No author has delivered work on the group yet.
    Undelivered,
    /// Its author states that nothing has to change, and neither the group nor the rule has that accepted.
    NothingToDo,
}

/// A rule: the first whose conditions hold decides.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its path in the file; decisions cite it.
    pub id: Name,
    pub place: Place,
    pub(crate) source: RuleSource,
    /// The tasks it speaks of: work, consult, merge.
    pub(crate) tasks: [bool; 3],
    pub(crate) phase: Option<PhaseIx>,
    /// `None`: any status (of `unknown_status`).
    pub(crate) status: Option<StatusIx>,
    pub(crate) reason: Option<Name>,
    pub(crate) conditions: Vec<RuleCondition>,
    pub(crate) verb: RuleVerb,
    /// Escalates from the verb's target instead: the limit is reached.
    pub(crate) climbs: bool,
    pub(crate) counted: Option<LoopIx>,
    pub(crate) passes: Vec<PassIx>,
    /// Evidence that the group is to be completed without, once it is accepted.
    pub(crate) excuses: Vec<PassIx>,
    pub(crate) with: Arc<[Name]>,
    pub(crate) demands: HandoffDemands,
    pub(crate) model: Option<Name>,
    pub(crate) because: Option<Name>,
    pub(crate) blocks: bool,
    /// Leaves the phase, or asks what can: the demands of the phase hold too.
    pub(crate) leaves: bool,
    pub(crate) without_groups: bool,
}

impl Default for OrchestratorRules {
    /// It is no role, so it changes nothing.
    fn default() -> Self {
        Self { writes: WritePermission::Nothing, watched: false }
    }
}

impl Rule {
    pub(crate) fn speaks_of(&self, task: AssignmentTask) -> bool {
        let [work, consult, merge] = self.tasks;
        match task {
            AssignmentTask::Work => work,
            AssignmentTask::Consult => consult,
            AssignmentTask::Merge => merge,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Status {
    /// As declared.
    pub name: Name,
}

/// When a role reports a status, in the workflow's words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatusMeaning {
    pub means: Name,
    /// The status of work that went well.
    pub usual: bool,
}

/// How blocked handoffs look in this workflow.
#[derive(Clone, Debug)]
pub struct BlockedStatus {
    pub status: StatusIx,
    /// The enum of `blocked_reason`.
    pub reasons: Vec<Name>,
    /// The reason routes, so it must be given.
    pub by_reason: bool,
    pub(crate) demands: HandoffDemands,
}

/// The demands on every handoff.
#[derive(Clone, Debug, Default)]
pub struct HandoffRules {
    pub demands: HandoffDemands,
    pub skills: Vec<Name>,
    pub refuse_missing_skills: bool,
}

/// The rules for a model that orchestrates, and is itself no role.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrchestratorRules {
    pub writes: WritePermission,
    /// Unwatched work is not accepted.
    pub watched: bool,
}

/// A compiled workflow.
#[derive(Clone, Debug)]
pub struct Workflow {
    pub name: Name,
    pub about: Option<Name>,
    pub hash: Digest,
    pub roles: Vec<Role>,
    pub domains: Vec<Domain>,
    pub guards: Vec<Guard>,
    pub loops: Vec<Loop>,
    pub phases: Vec<Phase>,
    pub gates: Vec<Gate>,
    pub questions: Vec<DeclaredQuestion>,
    pub statuses: Vec<Status>,
    pub rules: Vec<Rule>,
    pub blocked: Option<BlockedStatus>,
    pub handoff: HandoffRules,
    pub orchestrator: OrchestratorRules,
    /// Patterns of paths that only their owners change.
    pub protected: Vec<Name>,
    /// Patterns of paths that are tests.
    pub test_files: Vec<Name>,
    /// Groups at work at once.
    pub groups_at_most: u32,
    /// The files that groups may change at most, by the flags of their plan.
    pub(crate) file_limits: Vec<FileLimit>,
    pub(crate) stages: Vec<PipelineStage>,
    pub(crate) overrides: Vec<RoleOverride>,
    pub(crate) completion: CompletionRules,
    pub(crate) passes: Vec<Pass>,
    pub(crate) aliases: BTreeMap<Name, Vec<StatusIx>>,
    pub(crate) begin: Vec<SpawnRule>,
    pub(crate) group_begin: Vec<SpawnRule>,
    pub(crate) groups_ended: Vec<SpawnRule>,
    pub(crate) role_index: BTreeMap<Name, RoleIx>,
    /// By normalised spelling.
    pub(crate) status_index: BTreeMap<Name, StatusIx>,
    /// The rules of a role's status, in order.
    pub(crate) by_report: BTreeMap<(RoleIx, StatusIx), Vec<RuleIx>>,
    pub(crate) by_gate: BTreeMap<GateIx, Vec<RuleIx>>,
    pub(crate) by_answer: BTreeMap<(QuestionIx, StatusIx), Vec<RuleIx>>,
    pub(crate) unknown: Vec<RuleIx>,
    pub(crate) rule_index: BTreeMap<Name, RuleIx>,
    pub(crate) stuck: QuestionIx,
    pub(crate) unfinished: QuestionIx,
    /// Asked before a session ends in which nothing was completed.
    pub(crate) nothing_completed: QuestionIx,
    /// The statuses that Interlock reports for lost assignments, in the order of `LossReason::ALL`.
    pub(crate) lost: [StatusIx; 4],
    pub(crate) domain_guard: Option<GuardIx>,
    pub(crate) status_notes: BTreeMap<(RoleIx, StatusIx), StatusMeaning>,
}

/// A `spawn` that is not an answer to a report: `begin`, `groups.begin`, `groups.ended`.
#[derive(Clone, Debug)]
pub(crate) struct SpawnRule {
    pub(crate) id: Name,
    pub(crate) place: Place,
    pub(crate) when: Vec<GuardTest>,
    pub(crate) role: RoleIx,
    pub(crate) with: Arc<[Name]>,
    pub(crate) model: Option<Name>,
    pub(crate) because: Option<Name>,
}

/// How statuses are compared: without regard to case, spaces and hyphens.
pub fn normalise_status(text: &str) -> String {
    let text = text.trim();
    let mut normal = String::with_capacity(text.len());
    normal.extend(text.chars().map(|character| match character {
        ' ' | '-' => '_',
        other => other.to_ascii_uppercase(),
    }));
    normal
}

/// The evidence that a completed group must have, in plain names: for code that enforces it outside of `decide`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletionRequirements {
    /// Of each of these, at least one must have been passed. Groups that a need does not apply to are recorded as spared.
    pub needs: Vec<Vec<Name>>,
    /// A group that was ever blocked must have been accepted by a role that may accept.
    pub confirm_once_blocked: bool,
    /// Gates of a group. Those that run the plan's checks hold only for groups that have some.
    pub gates: Vec<(Name, bool)>,
    /// Gates of the session.
    pub session_gates: Vec<Name>,
}

impl Workflow {
    pub fn requirements(&self) -> CompletionRequirements {
        let name = |ix: &PassIx| self.pass(*ix).name.clone();
        let runs_the_plan = |ix: &GateIx| matches!(self.gate(*ix).run, GateCommandSource::Plan);
        let needs = self.completion.needs.iter().map(|need| need.options.iter().map(name).collect());
        let gates = self.completion.gates.iter().map(|ix| (self.gate(*ix).name.clone(), runs_the_plan(ix)));
        let session = self.completion.session_gates.iter().filter(|ix| !runs_the_plan(ix));
        CompletionRequirements {
            needs: needs.collect(),
            confirm_once_blocked: !self.completion.once_blocked.is_empty(),
            gates: gates.collect(),
            session_gates: session.map(|ix| self.gate(*ix).name.clone()).collect(),
        }
    }

    pub(crate) fn find_loss_status(&self, loss: LossReason) -> StatusIx {
        let [no_handoff, bad_handoff, false_claim, halted] = self.lost;
        match loss {
            LossReason::NoHandoff => no_handoff,
            LossReason::BadHandoff => bad_handoff,
            LossReason::FalseClaim => false_claim,
            LossReason::Halted => halted,
        }
    }

    /// Is it a word that only Interlock says?
    pub(crate) fn is_loss(&self, status: StatusIx) -> bool {
        self.lost.contains(&status)
    }

    /// How the outcomes of a merge are called here.
    pub fn find_merge_statuses(&self) -> MergeStatuses {
        let statuses: Vec<(&Name, &Rule)> = self
            .rules
            .iter()
            .filter(|rule| rule.tasks == [false, false, true])
            .filter_map(|rule| rule.status.map(|status| (self.status_name(status), rule)))
            .collect();
        let succeeds = |rule: &Rule| matches!(rule.verb, RuleVerb::Complete | RuleVerb::Leave | RuleVerb::Join);
        let success = statuses.iter().find(|(_, rule)| succeeds(rule)).map(|(name, _)| (*name).clone());
        let others = || statuses.iter().map(|(name, _)| *name).filter(|name| Some(*name) != success.as_ref());
        let called = |word: &str| others().find(|name| name.to_ascii_uppercase().contains(word)).cloned();
        let conflict = called("CONFLICT").or_else(|| others().next().cloned());
        let failure = called("TEST").or_else(|| called("FAIL")).or_else(|| conflict.clone());
        let blocked = called("BLOCK").or_else(|| conflict.clone());
        MergeStatuses { success, conflict, failure, blocked }
    }

    pub fn role(&self, ix: RoleIx) -> &Role {
        get(&self.roles, ix.index())
    }

    pub fn role_named(&self, name: &str) -> Option<RoleIx> {
        self.role_index.get(name).copied()
    }

    pub fn status_name(&self, ix: StatusIx) -> &Name {
        &get(&self.statuses, ix.index()).name
    }

    pub(crate) fn phase(&self, ix: PhaseIx) -> &Phase {
        get(&self.phases, ix.index())
    }

    pub fn phase_named(&self, name: &str) -> Option<PhaseIx> {
        self.phases.iter().position(|phase| phase.name == name).map(PhaseIx::new)
    }

    pub fn has_phases(&self) -> bool {
        !self.stages.is_empty()
    }

    pub(crate) fn rule(&self, ix: RuleIx) -> &Rule {
        get(&self.rules, ix.index())
    }

    pub(crate) fn loop_at(&self, ix: LoopIx) -> &Loop {
        get(&self.loops, ix.index())
    }

    pub(crate) fn gate(&self, ix: GateIx) -> &Gate {
        get(&self.gates, ix.index())
    }

    pub(crate) fn question(&self, ix: QuestionIx) -> &DeclaredQuestion {
        get(&self.questions, ix.index())
    }

    pub(crate) fn guard(&self, ix: GuardIx) -> &Guard {
        get(&self.guards, ix.index())
    }

    pub(crate) fn pass(&self, ix: PassIx) -> &Pass {
        get(&self.passes, ix.index())
    }

    pub fn guard_named(&self, name: &str) -> Option<&Guard> {
        self.guards.iter().find(|guard| guard.name == name)
    }

    pub fn loop_named(&self, name: &str) -> Option<LoopIx> {
        self.loops.iter().position(|item| item.name == name).map(LoopIx::new)
    }

    pub fn question_named(&self, name: &str) -> Option<QuestionIx> {
        self.questions.iter().position(|question| question.name == name).map(QuestionIx::new)
    }

    pub fn gate_named(&self, name: &str) -> Option<GateIx> {
        self.gates.iter().position(|gate| gate.name == name).map(GateIx::new)
    }

    /// The domain that a role's name tells, also of a role that is not declared.
    pub fn domain_of(&self, role: &str) -> Option<DomainIx> {
        if let Some(ix) = self.role_named(role) {
            return self.role(ix).domain;
        }
        self.domains
            .iter()
            .position(|domain| domain.prefixes.iter().any(|prefix| role.starts_with(prefix.as_str())))
            .map(DomainIx::new)
    }

    /// Does the role have this status in any table?
    pub(crate) fn has_status(&self, role: RoleIx, status: StatusIx) -> bool {
        self.by_report.contains_key(&(role, status))
    }

    /// The status that a role means by a word, through aliases.
    pub fn status_of(&self, role: RoleIx, text: &str) -> Option<StatusIx> {
        let direct = self.status_index.get(text).copied().filter(|status| self.has_status(role, *status));
        if direct.is_some() {
            return direct;
        }
        let normal = normalise_status(text);
        let direct = self.status_index.get(normal.as_str()).copied().filter(|status| self.has_status(role, *status));
        direct.or_else(|| {
            let meant = self.aliases.get(normal.as_str())?;
            meant.iter().copied().find(|status| self.has_status(role, *status))
        })
    }

    /// The rules of a role's status, in order.
    pub(crate) fn rules_of(&self, role: RoleIx, status: StatusIx) -> impl Iterator<Item = &Rule> {
        self.by_report.get(&(role, status)).into_iter().flatten().map(|ix| self.rule(*ix))
    }

    /// The task that a report of this status is for: a merge, where only the merge table has the status.
    pub fn task_of(&self, role: &str, status: &str) -> AssignmentTask {
        let role = self.role_named(role);
        let status = role.and_then(|role| self.status_of(role, status));
        let rules = role.zip(status).and_then(|key| self.by_report.get(&key));
        let merge_only = |ix: &RuleIx| self.rule(*ix).tasks == [false, false, true];
        if rules.is_some_and(|rules| rules.iter().all(merge_only)) {
            AssignmentTask::Merge
        } else {
            AssignmentTask::Work
        }
    }

    /// Every claim under `verification` that some row or phase asks for.
    pub fn claims(&self) -> Vec<&str> {
        let rules = self.rules.iter().map(|rule| &rule.demands);
        let phases = self.phases.iter().map(|phase| &phase.demands);
        let every = rules.chain(phases).chain([&self.handoff.demands]);
        every.flat_map(|demands| &demands.verify).map(Name::as_str).collect()
    }

    /// The id of a rule, as decisions cite it.
    pub fn is_rule_id(&self, text: &str) -> bool {
        self.rule_index.contains_key(text)
    }

    /// When a role reports a status, if the workflow says so.
    pub fn status_note(&self, role: RoleIx, status: StatusIx) -> Option<&StatusMeaning> {
        self.status_notes.get(&(role, status))
    }

    /// Where the workflow file declares a rule that a decision cites.
    pub fn place_of_rule(&self, id: &str) -> Option<&Place> {
        let openings = self.begin.iter().chain(&self.group_begin).chain(&self.groups_ended);
        let opening = || openings.clone().find(|opening| opening.id == id).map(|opening| &opening.place);
        self.rules.iter().find(|rule| rule.id == id).map(|rule| &rule.place).or_else(opening)
    }

    /// Statuses that agents of this role may report with their meanings: those of work that went well first.
    pub fn status_meanings(&self, role: RoleIx) -> Vec<(Name, Option<Name>)> {
        let own = self.by_report.range((role, StatusIx(0))..=(role, StatusIx(u16::MAX)));
        let own = own.map(|((_, status), _)| *status).filter(|status| !self.is_loss(*status));
        let mut noted: Vec<_> = own.map(|status| (status, self.status_note(role, status))).collect();
        noted.sort_by_key(|(_, note)| !note.is_some_and(|note| note.usual));
        let line = |(status, note): (StatusIx, Option<&StatusMeaning>)| {
            (self.status_name(status).clone(), note.map(|note| note.means.clone()))
        };
        noted.into_iter().map(line).collect()
    }

    /// Those that some rule takes for this task.
    pub(crate) fn status_meanings_for(&self, role: RoleIx, task: AssignmentTask) -> Vec<(Name, Option<Name>)> {
        let mut meanings = self.status_meanings(role);
        let takes = |status: StatusIx| self.rules_of(role, status).any(|rule| rule.speaks_of(task));
        meanings.retain(|(name, _)| self.status_of(role, name).is_some_and(takes));
        meanings
    }

    /// Statuses that agents of this role may report, by their declared names.
    pub fn statuses_of(&self, role: RoleIx) -> Vec<Name> {
        let own = self.by_report.range((role, StatusIx(0))..=(role, StatusIx(u16::MAX)));
        own.map(|((_, status), _)| *status)
            .filter(|status| !self.is_loss(*status))
            .map(|status| self.status_name(status).clone())
            .collect()
    }
}

/// Indices are made with the lists they point into, in one place, and never outlive them.
fn get<T>(list: &[T], index: usize) -> &T {
    #[expect(clippy::indexing_slicing, reason = "indices are only made by lowering, for this very list")]
    &list[index]
}
