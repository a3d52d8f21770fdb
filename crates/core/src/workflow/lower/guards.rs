//! Settings, flags, facts; loops; and the tests that read them.

use crate::code::Code;
use crate::id::Name;
use crate::problem::{Place, Problem};
use crate::suggest;
use crate::workflow::doc::{LimitDoc, Literal, LoopDoc};
use crate::workflow::fact::FactExpression;
use crate::workflow::lower::Lowering;
use crate::workflow::model::*;
use crate::workflow::record::{NameTable, PlacedValue};

/// A bit for each value in a test.
const MAX_VALUES: usize = 64;

/// Names that `given` and `--fact` use for the rest of the state.
const STATE_NAMES: &[&str] =
    &["author", "blocked_agent", "asker", "reason", "outstanding", "status", "role", "phase", "handoff", "scope"];

impl Lowering<'_> {
    pub(super) fn guards(&mut self) {
        let doc = self.doc;
        for (name, place, values) in doc.settings.iter() {
            self.guard(GuardSource::Setting, name, place, values, None);
        }
        if let Some(groups) = &doc.groups {
            for (name, place, values) in groups.flags.iter() {
                self.guard(GuardSource::Flag, name, place, values, None);
            }
        }
        for (name, place, fact) in doc.facts.iter() {
            self.guard(GuardSource::Fact, name, place, &fact.values, fact.cel.as_ref());
        }
        let by_domain = doc
            .phases
            .iter()
            .flat_map(|stage| std::iter::once(stage).chain(&stage.together))
            .find(|phase| phase.role.as_ref().is_some_and(|role| role.value.contains("{domain}")));
        if let Some(phase) = by_domain {
            let values: Vec<Name> = doc.domains.keys().cloned().collect();
            if self.guards.iter().any(|guard| guard.name == "domain") {
                let message = "`domain` is the group's flag where a phase's role has `{domain}`; rename yours";
                self.report(Code::TwoMeanings, &phase.place, message);
            }
            self.domain_guard = Some(GuardIx::new(self.guards.len()));
            self.guards.push(Guard {
                name: Name::new("domain"),
                source: GuardSource::Flag,
                values,
                required: true,
                expression: None,
            });
        }
    }

    fn guard(
        &mut self,
        source: GuardSource,
        name: &Name,
        place: &Place,
        values: &[Literal],
        cel: Option<&PlacedValue<Name>>,
    ) {
        if STATE_NAMES.contains(&name.as_str()) || name.contains('.') {
            self.report(Code::BadName, place, format!("`{name}` has a meaning of its own; choose another name"));
        }
        if self.guards.iter().any(|guard| guard.name == *name) {
            self.report(Code::TwoMeanings, place, format!("`{name}` is declared as a setting, flag or fact already"));
        }
        if values.len() < 2 || values.len() > MAX_VALUES {
            let message = format!("`{name}` needs two to {MAX_VALUES} values, the default first");
            self.report(Code::WrongType, place, message);
        }
        let mut known: Vec<Name> = Vec::new();
        for value in values {
            if known.contains(&value.value) {
                self.report(Code::TwoMeanings, &value.place, format!("`{}` stands twice", value.value));
            }
            known.push(value.value.clone());
        }
        let expression = cel.and_then(|text| match FactExpression::compile(&text.value) {
            Ok(expression) => Some(expression),
            Err(message) => {
                self.report(Code::BadExpression, &text.place, message);
                None
            }
        });
        self.guards.push(Guard { name: name.clone(), source, values: known, required: false, expression });
    }

    /// `when`, as tests; facts only where a handoff is at hand.
    pub(super) fn tests(&mut self, when: &NameTable<Vec<Literal>>, facts: bool) -> Vec<GuardTest> {
        let mut tests = Vec::new();
        for (name, place, values) in when.iter() {
            let Some(index) = self.guards.iter().position(|guard| guard.name == *name) else {
                let known: Vec<Name> = self.guards.iter().map(|guard| guard.name.clone()).collect();
                let name = PlacedValue { value: name.clone(), place: place.clone() };
                self.unknown(Code::UnknownGuard, "setting, flag or fact", &name, known.iter().map(Name::as_str));
                continue;
            };
            let Some(guard) = self.guards.get(index) else { continue };
            let known = guard.values.clone();
            if guard.source == GuardSource::Fact && !facts {
                let message = format!("`{name}` is a fact of a handoff, and there is none here");
                self.report(Code::GuardOutOfReach, place, message);
            }
            let mut allowed = 0u64;
            for value in values {
                match known.iter().position(|known| *known == value.value) {
                    Some(bit) => allowed |= 1u64.checked_shl(u32::try_from(bit).unwrap_or(u32::MAX)).unwrap_or(0),
                    None => {
                        let help = suggest::help(&value.value, known.iter().map(Name::as_str));
                        let message = format!("`{name}` is never `{}`", value.value);
                        let problem = Problem::new(Code::UnknownValue, message).maybe_help(help);
                        self.problems.push(problem.at(value.place.clone()));
                    }
                }
            }
            tests.push(GuardTest { guard: GuardIx::new(index), allowed });
        }
        tests
    }

    pub(super) fn loops(&mut self) {
        for (name, place, item) in self.doc.loops.iter() {
            if let Some(item) = self.one_loop(name, place, item) {
                self.loops.push(item);
            }
        }
    }

    fn one_loop(&mut self, name: &Name, place: &Place, doc: &LoopDoc) -> Option<Loop> {
        let measure = match &doc.measure {
            None => None,
            Some(at) => match at.value.as_str() {
                "blocking_findings" => Some(LoopMeasure::BlockingFindings),
                "failing_tests" => Some(LoopMeasure::FailingTests),
                _ => {
                    self.unknown(Code::BadLoop, "measure", at, ["blocking_findings", "failing_tests"]);
                    None
                }
            },
        };
        let limit = self.limits(name, place, &doc.escalate_at, None)?;
        if limit.no_progress.is_some() && doc.measure.is_none() && !doc.unread.any_of(&["measure"]) {
            let message = format!("loop `{name}` cannot see progress without a `measure`");
            self.report(Code::BadLoop, &doc.escalate_at.place, message);
        }
        let early = LoopLimits {
            iteration: limit.iteration.saturating_sub(1).max(1),
            no_progress: limit.no_progress.map(|count| count.saturating_sub(1).max(1)),
        };
        let warn = match &doc.warn_at {
            None => early,
            Some(at) => self.limits(name, place, at, Some(early))?,
        };
        let escalations = Name::from(format!("{name}/escalated"));
        Some(Loop { name: name.clone(), limit, warn, measure, escalations, facts: LoopFacts::of(name) })
    }

    fn limits(
        &mut self,
        name: &Name,
        place: &Place,
        doc: &LimitDoc,
        fallback: Option<LoopLimits>,
    ) -> Option<LoopLimits> {
        for number in [&doc.iteration, &doc.no_progress].into_iter().flatten() {
            if number.value == 0 {
                self.report(Code::BadLoop, &number.place, "a limit is at least 1");
            }
        }
        let no_progress =
            doc.no_progress.as_ref().map(|at| at.value).or(fallback.and_then(|limits| limits.no_progress));
        match (&doc.iteration, fallback) {
            (Some(at), _) => Some(LoopLimits { iteration: at.value.max(1), no_progress }),
            (None, Some(limits)) => Some(LoopLimits { iteration: limits.iteration, no_progress }),
            (None, None) => {
                if !doc.unread.any_of(&["iteration"]) {
                    let message = format!("loop `{name}` needs `iteration`: without it, it has no end");
                    self.report(Code::BadLoop, place, message);
                }
                // The loop is known by its name all the same.
                Some(LoopLimits { iteration: 1, no_progress })
            }
        }
    }
}
