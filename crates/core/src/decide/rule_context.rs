//! The context that rules may read, all of it finite.

use crate::decide::DecisionContext;
use crate::decide::findings_ledger::FindingsLedger;
use crate::decide::report::RouteAssumptions;
use crate::handoff::Handoff;
use crate::id::Name;
use crate::state::{Group, Lane, PartHolder, RoleTask};
use crate::workflow::*;

/// The reporter, the group and the state that a rule is matched against.
pub(crate) struct RuleContext<'a> {
    pub(crate) cx: DecisionContext<'a>,
    pub(crate) group: Option<&'a Group>,
    pub(crate) lane: &'a Lane,
    pub(crate) part: u8,
    /// The role that reports or asked; `None` for a gate.
    pub(crate) reporter: Option<RoleIx>,
    pub(crate) task: AssignmentTask,
    pub(crate) phase: Option<PhaseIx>,
    pub(crate) handoff: Option<&'a Handoff>,
    pub(crate) reason: Option<&'a Name>,
    pub(crate) ledger: FindingsLedger,
    /// The counters that were passed to `route`, with the report counted already.
    pub(crate) given: Option<&'a RouteAssumptions>,
    /// The report comes with another tree than the one that the group's evidence speaks for.
    pub(crate) is_stale: bool,
    /// Groups that awaited confirmation when the assignment was claimed.
    pub(crate) awaiting: &'a [Name],
}

/// An iteration of a loop, counted and not yet recorded.
#[derive(Clone, Copy)]
pub(crate) struct LoopIteration<'a> {
    pub(crate) counted: &'a Name,
    pub(crate) role: &'a Name,
    pub(crate) iteration: u32,
    pub(crate) no_progress: u32,
    pub(crate) measure: Option<u32>,
}

impl<'a> RuleContext<'a> {
    pub(crate) fn workflow(&self) -> &'a Workflow {
        self.cx.workflow
    }

    pub(crate) fn waiting(&self) -> &'a [RoleTask] {
        self.lane.part(self.part).map_or(&[], |part| part.waiting.as_slice())
    }

    pub(crate) fn author(&self) -> Option<RoleIx> {
        self.group?.author.as_ref().and_then(|name| self.workflow().role_named(name))
    }

    pub(crate) fn group_name(&self) -> Option<Name> {
        self.group.map(|group| group.id.clone())
    }

    /// The index of a guard's value.
    pub(crate) fn value(&self, ix: GuardIx) -> usize {
        if self.workflow().guard(ix).source == GuardSource::Fact {
            let fact = self.handoff.and_then(|handoff| handoff.facts.get(ix.index()));
            return fact.copied().map_or(0, usize::from);
        }
        guard_value(&self.cx, self.group, ix)
    }

    pub(crate) fn holds(&self, test: GuardTest) -> bool {
        test_holds(test, self.value(test.guard))
    }

    /// Another phase of this stage is unfinished.
    pub(crate) fn outstanding(&self) -> bool {
        self.lane
            .parts
            .iter()
            .enumerate()
            .any(|(index, part)| index != usize::from(self.part) && part.holder != PartHolder::Done)
    }

    pub(crate) fn open(&self, ix: LoopIx) -> u32 {
        if let Some(open) = self.given.and_then(|given| given.of(ix)).and_then(|given| given.open) {
            return open;
        }
        match self.workflow().loop_at(ix).measure {
            None => 0,
            Some(measure) => self.ledger.count_open(measure),
        }
    }

    /// The role that a target means, before overrides.
    pub(crate) fn resolve(&self, target: RoleTarget) -> Option<RoleIx> {
        match target {
            RoleTarget::Role(ix) => Some(ix),
            RoleTarget::Author => self.author(),
            RoleTarget::Reporter => self.reporter,
            RoleTarget::Waiting => self.waiting().last().and_then(|seat| self.workflow().role_named(&seat.role)),
            RoleTarget::Phase(phase) => phase_role(&self.cx, self.group, phase).or_else(|| self.author()),
        }
    }

    pub(crate) fn passage(&self, ix: LoopIx, role: &'a Name) -> LoopIteration<'a> {
        let item = self.workflow().loop_at(ix);
        if let Some(given) = self.given.and_then(|given| given.of(ix)) {
            return LoopIteration {
                counted: &item.name,
                role,
                iteration: given.iteration,
                no_progress: given.no_progress,
                measure: given.open,
            };
        }
        let old = self.lane.counter(&item.name, role);
        let iteration = old.map_or(0, |old| old.iteration).saturating_add(1);
        let last = old.and_then(|old| old.measure);
        let (no_progress, measure) = match item.measure {
            None => (0, None),
            Some(kind) => {
                let now = self.ledger.find_stated_measure(kind);
                let first = old.is_none() || last.is_none();
                let progress = first || now == Some(0) || now < last && now.is_some();
                let stuck = old.map_or(0, |old| old.no_progress).saturating_add(1);
                (if progress { 0 } else { stuck }, now.or(last).or(Some(self.ledger.count_open(kind).max(1))))
            }
        };
        LoopIteration { counted: &item.name, role, iteration, no_progress, measure }
    }
}

/// The value of a setting or flag; the default where there is none.
pub(crate) fn guard_value(cx: &DecisionContext<'_>, group: Option<&Group>, ix: GuardIx) -> usize {
    let guard = cx.workflow.guard(ix);
    let text = match guard.source {
        GuardSource::Setting => cx.state.session.as_ref().and_then(|session| session.settings.get(&guard.name)),
        GuardSource::Flag => group.and_then(|group| cx.workflow.flag_value(group, ix)),
        GuardSource::Fact => None,
    };
    text.and_then(|text| guard.values.iter().position(|value| value == text)).unwrap_or(0)
}

pub(crate) fn test_holds(test: GuardTest, value: usize) -> bool {
    let bit = u32::try_from(value).unwrap_or(u32::MAX);
    test.allowed.checked_shr(bit).is_some_and(|bits| bits & 1 == 1)
}

/// Do settings and flags let this through? For what has no handoff to read.
pub(crate) fn applies(cx: &DecisionContext<'_>, group: Option<&Group>, when: &[GuardTest]) -> bool {
    when.iter().all(|test| test_holds(*test, guard_value(cx, group, test.guard)))
}

/// The role of a phase that a role does.
pub(crate) fn phase_role(cx: &DecisionContext<'_>, group: Option<&Group>, phase: PhaseIx) -> Option<RoleIx> {
    match &cx.workflow.phase(phase).performer {
        PhasePerformer::Role(ix) => Some(*ix),
        PhasePerformer::ByDomain(roles) => {
            let domain = cx.workflow.domain_guard.map_or(0, |guard| guard_value(cx, group, guard));
            roles.get(domain).copied().flatten()
        }
        PhasePerformer::Gate(_) | PhasePerformer::Merge => None,
    }
}
