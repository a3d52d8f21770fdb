//! One entry of a table: its verb and modifiers, as rules.

use std::sync::Arc;

use crate::code::Code;
use crate::id::Name;
use crate::problem::{Place, Problem};
use crate::workflow::doc::{EntryDoc, Literal};
use crate::workflow::lower::Lowering;
use crate::workflow::lower::phases::demands;
use crate::workflow::model::*;
use crate::workflow::record::{NameTable, PlacedValue};

/// Where an entry stands, which says what it may do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryPosition {
    Report,
    Merge,
    Gate,
    Option,
}

/// The frame that an entry's rules share.
#[derive(Clone)]
pub(super) struct EntryFrame {
    pub(super) id: String,
    pub(super) spot: EntryPosition,
    pub(super) source: RuleSource,
    pub(super) tasks: [bool; 3],
    pub(super) status: Option<StatusIx>,
    pub(super) reason: Option<Name>,
    pub(super) blocks: bool,
}

/// A verb before phases are worked in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryVerb {
    Verb(RuleVerb),
    Advance,
}

impl Lowering<'_> {
    /// The rules of a list of alternatives.
    pub(super) fn alternatives(&mut self, frame: &EntryFrame, entries: &[EntryDoc]) {
        let first = self.rules.len();
        for (index, entry) in entries.iter().enumerate() {
            if self.full {
                return;
            }
            let mut own = frame.clone();
            if entries.len() > 1 {
                own.id = format!("{}.{}", frame.id, index.saturating_add(1));
            }
            self.entry(&own, entry);
        }
        self.never_reached(first, &frame.id);
    }

    pub(super) fn entry(&mut self, frame: &EntryFrame, entry: &EntryDoc) {
        // Completion needs the names of this evidence, even if the verb is rejected.
        let passes = entry.passes.iter().map(|name| self.pass(name)).collect();
        let excuses: Vec<PassIx> = entry.excuses.iter().map(|name| self.pass(name)).collect();
        let Some(written) = self.verb(frame, entry) else { return };
        let mut rule = self.blank(frame, entry);
        let tests = self.tests(&entry.when, matches!(frame.spot, EntryPosition::Report | EntryPosition::Merge));
        rule.conditions = tests.into_iter().map(RuleCondition::When).collect();
        rule.counted = entry.counted.as_ref().and_then(|name| self.find_loop(name));
        rule.passes = passes;
        if !excuses.is_empty() {
            let delivers =
                matches!(frame.spot, EntryPosition::Report) && matches!(written, EntryVerb::Verb(RuleVerb::Spawn(_)));
            if !delivers {
                let message = "`excuses` belongs to a report that spawns the role which accepts the group";
                self.report(Code::VerbNotHere, &entry.place, message);
            }
            rule.conditions.extend([RuleCondition::InGroup, RuleCondition::Undelivered]);
        }
        rule.excuses = excuses;
        if entry.without_groups && !matches!(written, EntryVerb::Verb(RuleVerb::Validate(_))) {
            self.report(Code::VerbNotHere, &entry.place, "`without_groups` belongs to `validate`");
        }
        match written {
            EntryVerb::Advance => self.advance(&rule, frame.spot),
            EntryVerb::Verb(verb) => {
                rule.verb = verb;
                self.scope_conditions(&mut rule);
                self.with_loop_and_otherwise(frame, entry, rule);
            }
        }
    }

    fn blank(&mut self, frame: &EntryFrame, entry: &EntryDoc) -> Rule {
        let changes = self.changes_demand(entry.changes.as_ref(), false);
        Rule {
            id: Name::from(frame.id.clone()),
            place: entry.place.clone(),
            source: frame.source.clone(),
            tasks: frame.tasks,
            phase: None,
            status: frame.status,
            reason: frame.reason.clone(),
            conditions: Vec::new(),
            verb: RuleVerb::Leave,
            climbs: false,
            counted: None,
            passes: Vec::new(),
            excuses: Vec::new(),
            with: names(&entry.with),
            demands: HandoffDemands { changes, ..demands(&entry.require, &entry.verify) },
            model: entry.model.clone(),
            because: entry.because.clone(),
            blocks: frame.blocks,
            leaves: false,
            without_groups: entry.without_groups,
        }
    }

    /// Exactly one verb, with a target that it takes, where it may stand.
    fn verb(&mut self, frame: &EntryFrame, entry: &EntryDoc) -> Option<EntryVerb> {
        let written = [
            ("spawn", &entry.spawn),
            ("respawn", &entry.respawn),
            ("consult", &entry.consult),
            ("return", &entry.back),
            ("escalate", &entry.escalate),
            ("merge", &entry.merge),
            ("advance", &entry.advance),
            ("goto", &entry.goto),
            ("start", &entry.start),
            ("ask", &entry.ask),
            ("complete", &entry.complete),
            ("defer", &entry.defer),
            ("validate", &entry.validate),
            ("end", &entry.end),
            ("cancel", &entry.cancel),
            ("redo", &entry.redo),
            ("acknowledge", &entry.acknowledge),
        ];
        let verbs: Vec<(&str, &PlacedValue<Name>)> =
            written.iter().filter_map(|(verb, target)| target.as_deref().map(|target| (*verb, target))).collect();
        match verbs.as_slice() {
            [(verb, target)] => {
                self.verb_stands_here(frame.spot, verb, &target.place);
                let written = self.target(verb, target);
                let of_reporter = matches!(
                    written,
                    Some(EntryVerb::Verb(
                        RuleVerb::Respawn(RoleTarget::Reporter) | RuleVerb::Escalate(RoleTarget::Reporter)
                    ))
                );
                if of_reporter && matches!(frame.spot, EntryPosition::Gate | EntryPosition::Option) {
                    let message = format!("`{verb}: self` needs somebody who reported, and nobody did here");
                    let problem =
                        Problem::new(Code::VerbNotHere, message).help("an option of a question says `redo: work`");
                    self.problems.push(problem.at(target.place.clone()));
                }
                written
            }
            [] if entry.unread.any_of(&written.map(|(verb, _)| verb)) => None,
            [] => {
                let help = "such as `spawn: ROLE`, `respawn: author`, `ask: QUESTION`";
                let problem = Problem::new(Code::OneVerb, "this entry has no verb").help(help);
                self.problems.push(problem.at(entry.place.clone()));
                None
            }
            [_, second, ..] => {
                let list: Vec<String> = verbs.iter().map(|(verb, _)| format!("`{verb}`")).collect();
                let message = format!("an entry has one verb, this has {}", list.join(" and "));
                self.report(Code::OneVerb, &second.1.place.clone(), message);
                None
            }
        }
    }

    fn verb_stands_here(&mut self, spot: EntryPosition, verb: &str, place: &Place) {
        let only_in_options = matches!(verb, "cancel" | "redo" | "acknowledge");
        let needs_reporter = matches!(verb, "consult" | "return" | "escalate" | "respawn");
        let wrong = match spot {
            EntryPosition::Report | EntryPosition::Merge => only_in_options,
            EntryPosition::Gate => only_in_options || matches!(verb, "consult" | "return"),
            EntryPosition::Option => needs_reporter && verb != "respawn",
        };
        if wrong {
            let message = if only_in_options {
                format!("only a person can `{verb}`: it stands in the options of questions")
            } else {
                format!("`{verb}` needs a report, and there is none here")
            };
            self.report(Code::VerbNotHere, place, message);
        }
        let phased = !self.phases.is_empty() || self.doc.is_abstract;
        if verb == "complete" && !self.phases.is_empty() {
            self.report(Code::VerbNotHere, place, "with `phases` a group is completed by leaving the last of them");
        }
        if matches!(verb, "advance" | "goto") && !phased {
            self.report(Code::VerbNotHere, place, format!("`{verb}` needs `phases`"));
        }
    }

    fn target(&mut self, verb: &str, target: &PlacedValue<Name>) -> Option<EntryVerb> {
        let word = target.value.clone();
        let done = match (verb, word.as_str()) {
            ("spawn", "author") => RuleVerb::Spawn(RoleTarget::Author),
            ("spawn", _) => RuleVerb::Spawn(RoleTarget::Role(self.find_holder(target)?)),
            ("consult", "author") => RuleVerb::Consult(RoleTarget::Author),
            ("consult", _) => RuleVerb::Consult(RoleTarget::Role(self.find_holder(target)?)),
            ("respawn", "self") => RuleVerb::Respawn(RoleTarget::Reporter),
            ("respawn", "author") => RuleVerb::Respawn(RoleTarget::Author),
            ("escalate", "self") => RuleVerb::Escalate(RoleTarget::Reporter),
            ("escalate", "author") => RuleVerb::Escalate(RoleTarget::Author),
            ("return", "blocked_agent") => RuleVerb::Return,
            ("merge", "author") => RuleVerb::Merge,
            ("advance", "phase") => return Some(EntryVerb::Advance),
            ("goto", _) if self.phases.is_empty() && self.doc.is_abstract => return None,
            ("goto", _) => RuleVerb::Goto(self.find_phase(target)?),
            ("start", "groups") => RuleVerb::Start,
            ("ask", _) => RuleVerb::Ask(self.find_question(target)?),
            ("complete", "group") => RuleVerb::Complete,
            ("defer", "group") => RuleVerb::Defer,
            ("validate", _) => RuleVerb::Validate(self.find_validator(target)?),
            ("end", "session") => RuleVerb::End,
            ("cancel", "group") => RuleVerb::CancelGroup,
            ("cancel", "session") => RuleVerb::CancelSession,
            ("redo", "work") => RuleVerb::Redo,
            ("acknowledge", "deferred") => RuleVerb::Acknowledge,
            _ => {
                let problem = Problem::new(Code::BadTarget, format!("`{verb}` does not take `{word}`"));
                self.problems.push(problem.help(takes(verb)).at(target.place.clone()));
                return None;
            }
        };
        Some(EntryVerb::Verb(done))
    }

    fn find_validator(&mut self, target: &PlacedValue<Name>) -> Option<RoleIx> {
        let ix = self.find_role(target)?;
        if !self.roles.get(ix.index())?.by_interlock {
            let message = format!("`{}` must be `by: interlock`: the validator is code, not an agent", target.value);
            self.report(Code::BadTarget, &target.place, message);
            return None;
        }
        for verdict in ["ACCEPT", "REJECT"] {
            let rows = self.doc.routes.get(&target.value);
            let has = rows.is_some_and(|rows| rows.keys().any(|status| normalise_status(status) == verdict));
            if !has {
                let message = format!("`{}` judges, so it needs a row `{verdict}`", target.value);
                self.report(Code::MissingKey, &target.place, message);
            }
        }
        Some(ix)
    }

    fn scope_conditions(&mut self, rule: &mut Rule) {
        let author = |target: RoleTarget| target == RoleTarget::Author;
        match rule.verb {
            RuleVerb::Spawn(target)
            | RuleVerb::Respawn(target)
            | RuleVerb::Consult(target)
            | RuleVerb::Escalate(target) => {
                if author(target) {
                    rule.conditions.push(RuleCondition::HasAuthor);
                }
            }
            RuleVerb::Merge => rule.conditions.extend([RuleCondition::InGroup, RuleCondition::HasAuthor]),
            RuleVerb::Complete | RuleVerb::Defer | RuleVerb::CancelGroup => {
                rule.conditions.push(RuleCondition::InGroup);
            }
            RuleVerb::Validate(_) | RuleVerb::End | RuleVerb::Acknowledge => {
                rule.conditions.push(RuleCondition::InSession);
            }
            RuleVerb::Goto(phase) => {
                let stage = self.phases.get(phase.index()).map(|phase| phase.stage);
                let in_session = stage.and_then(|stage| self.stages.get(stage)).is_some_and(|stage| stage.per_session);
                rule.conditions.push(if in_session { RuleCondition::InSession } else { RuleCondition::InGroup });
                rule.conditions.push(RuleCondition::Reached(phase));
            }
            RuleVerb::Return => rule.conditions.push(RuleCondition::SomebodyWaits),
            RuleVerb::Ask(question) => rule.leaves = self.can_advance(question),
            RuleVerb::Start
            | RuleVerb::CancelSession
            | RuleVerb::Redo
            | RuleVerb::Join
            | RuleVerb::Rework(_)
            | RuleVerb::Leave => {}
        }
    }

    fn can_advance(&self, question: QuestionIx) -> bool {
        let doc = self.questions.get(question.index()).and_then(|question| self.doc.questions.get(&question.name));
        let advances = |entries: &[EntryDoc]| entries.iter().any(|entry| entry.advance.is_some());
        doc.is_some_and(|doc| advances(&doc.answer) || doc.options.iter().any(|(_, _, entries)| advances(entries)))
    }

    /// In order: completion, settled, limit, the entry itself, otherwise.
    fn with_loop_and_otherwise(&mut self, frame: &EntryFrame, entry: &EntryDoc, rule: Rule) {
        if rule.verb == RuleVerb::Merge && !rule.passes.is_empty() {
            let mut done = suffixed(&rule, "/complete");
            done.conditions.push(RuleCondition::Completes);
            done.verb = RuleVerb::Complete;
            self.limited(&done);
            self.add(done);
        }
        self.settled_rules(&rule);
        if matches!(rule.verb, RuleVerb::Ask(_)) {
            self.no_otherwise(entry);
            return self.add_ask(rule);
        }
        let mut plain = rule;
        if let RuleVerb::Consult(target) = plain.verb {
            plain.conditions.push(RuleCondition::Free(target));
        }
        self.limited(&plain);
        let takes_otherwise = matches!(plain.verb, RuleVerb::Consult(_) | RuleVerb::Return);
        let verb = plain.verb;
        self.add(plain.clone());
        match (&entry.otherwise, takes_otherwise) {
            (Some(other), true) => {
                let mut other = (**other).clone();
                other.counted = other.counted.or_else(|| entry.counted.clone());
                if other.with.is_empty() {
                    other.with.clone_from(&entry.with);
                }
                other.when = entry.when.clone();
                let frame = EntryFrame { id: format!("{}/otherwise", frame.id), ..frame.clone() };
                self.entry(&frame, &other);
            }
            (Some(_), false) => self.no_otherwise(entry),
            (None, _) if matches!(verb, RuleVerb::Consult(_)) => self.ask_clarify(&plain, "/otherwise"),
            (None, _) => {}
        }
    }

    fn no_otherwise(&mut self, entry: &EntryDoc) {
        if let Some(other) = &entry.otherwise {
            self.report(Code::VerbNotHere, &other.place, "`otherwise` belongs to `consult` and `return`");
        }
    }

    /// A rule that asks `clarify` under the same circumstances.
    pub(super) fn ask_clarify(&mut self, rule: &Rule, suffix: &str) {
        let clarify = self.questions.iter().position(|question| question.name == "clarify").map(QuestionIx::new);
        let Some(question) = clarify else { return };
        let mut ask = suffixed(rule, suffix);
        ask.conditions.retain(|condition| !matches!(condition, RuleCondition::Free(_)));
        ask.verb = RuleVerb::Ask(question);
        ask.counted = None;
        self.add_ask(ask);
    }

    /// A question to a person. Rounds with people are counted as well, or a team could ask without end.
    fn add_ask(&mut self, mut ask: Rule) {
        ask.counted = ask.counted.or_else(|| self.loop_ix("clarifying"));
        self.limited(&ask);
        self.add(ask);
    }

    pub(super) fn limited(&mut self, rule: &Rule) {
        if rule.counted.is_some() {
            let mut limit = suffixed(rule, "/limit");
            limit.conditions.push(RuleCondition::Limit);
            limit.climbs = true;
            self.add(limit);
        }
    }

    /// A review that would send work back for nothing that can block goes back to the reviewer once, then up.
    fn settled_rules(&mut self, rule: &Rule) {
        if matches!(rule.verb, RuleVerb::Respawn(RoleTarget::Author) | RuleVerb::Spawn(RoleTarget::Author)) {
            self.back_to_reviewer(rule, rule.counted, &[RuleCondition::Settled]);
        }
    }

    /// The rules `/settled`, where the loop is one of reviews.
    fn back_to_reviewer(&mut self, rule: &Rule, counted: Option<LoopIx>, conditions: &[RuleCondition]) {
        let measured = counted.and_then(|ix| self.loops.get(ix.index())).and_then(|item| item.measure);
        let settled = self.loop_ix("settled");
        if measured != Some(LoopMeasure::BlockingFindings) || settled.is_none() {
            return;
        }
        let mut again = suffixed(rule, "/settled");
        again.conditions.extend_from_slice(conditions);
        again.verb = RuleVerb::Respawn(RoleTarget::Reporter);
        again.counted = settled;
        again.passes = Vec::new();
        again.because =
            Some(Name::new("nothing that this review calls blocking can block: it was settled, or is minor and late"));
        self.limited(&again);
        self.add(again);
    }

    /// `advance: phase`: back to who waits, or on through join, rework and checkpoint.
    pub(super) fn advance(&mut self, rule: &Rule, spot: EntryPosition) {
        let by_person = spot == EntryPosition::Option;
        if matches!(spot, EntryPosition::Report | EntryPosition::Option) {
            let mut back = suffixed(rule, "/consult");
            back.conditions.extend([RuleCondition::Task(AssignmentTask::Consult), RuleCondition::SomebodyWaits]);
            back.verb = RuleVerb::Return;
            self.add(back);
        }
        for index in 0..self.phases.len() {
            let Some(phase) = self.phases.get(index).filter(|_| !self.full) else { return };
            let fits = match (&phase.performer, spot) {
                (PhasePerformer::Role(_) | PhasePerformer::ByDomain(_), EntryPosition::Report)
                | (PhasePerformer::Merge, EntryPosition::Merge)
                | (PhasePerformer::Gate(_), EntryPosition::Gate) => true,
                (_, EntryPosition::Option) => true,
                (_, EntryPosition::Report | EntryPosition::Merge | EntryPosition::Gate) => false,
            };
            if fits {
                self.advance_phase(rule, PhaseIx::new(index), by_person);
            }
        }
    }

    fn advance_phase(&mut self, rule: &Rule, ix: PhaseIx, by_person: bool) {
        let Some(phase) = self.phases.get(ix.index()) else { return };
        let Some(stage) = self.stages.get(phase.stage).cloned() else { return };
        let mut base = suffixed(rule, &format!("@{}", phase.name));
        base.phase = Some(ix);
        base.leaves = true;
        if !by_person && rule.speaks_of(AssignmentTask::Work) && rule.speaks_of(AssignmentTask::Consult) {
            base.conditions.push(RuleCondition::Task(AssignmentTask::Work));
        }
        // Before the join: a review without anything new is no review, even while other phases are still at work.
        let rework = stage.rework.as_ref().filter(|_| !by_person);
        let conditions = [RuleCondition::Settled, RuleCondition::RaisedAgain];
        self.back_to_reviewer(&base, rework.map(|rework| rework.counted), &conditions);
        if stage.phases.len() > 1 {
            let mut join = suffixed(&base, "/join");
            join.conditions.push(RuleCondition::Outstanding);
            join.verb = RuleVerb::Join;
            self.add(join);
        }
        if !by_person {
            if let Some(rework) = &stage.rework {
                let mut again = suffixed(&base, "/rework");
                again.conditions.push(RuleCondition::Open(rework.counted));
                again.verb = RuleVerb::Rework(rework.goto);
                again.counted = Some(rework.counted);
                self.limited(&again);
                self.add(again);
            }
            for checkpoint in &stage.checkpoints {
                let mut ask = suffixed(&base, "/checkpoint");
                ask.conditions.extend(checkpoint.when.iter().copied().map(RuleCondition::When));
                ask.verb = RuleVerb::Ask(checkpoint.question);
                ask.counted = None;
                self.add_ask(ask);
            }
        }
        base.verb = RuleVerb::Leave;
        self.limited(&base);
        self.add(base);
    }

    /// An alternative whose conditions include all those of an earlier one is dead.
    fn never_reached(&mut self, first: usize, id: &str) {
        let mut dead: Vec<(Name, Place)> = Vec::new();
        let rules = self.rules.get(first..).unwrap_or_default();
        for (index, later) in rules.iter().enumerate() {
            let own = !later.id.contains('/') && !later.id.contains('@') && *later.id != *id;
            let covered = rules.iter().take(index).any(|earlier| {
                let same_frame = earlier.phase == later.phase && earlier.tasks == later.tasks;
                same_frame && earlier.conditions.iter().all(|condition| later.conditions.contains(condition))
            });
            if own && covered {
                dead.push((later.id.clone(), later.place.clone()));
            }
        }
        for (name, place) in dead {
            let message = format!("`{name}` comes after an alternative that always holds where it does");
            self.report(Code::NeverReached, &place, message);
        }
    }

    /// `begin`, `groups.begin`, `groups.ended`: entries with `spawn` only.
    pub(super) fn openings(&mut self, id: &str, entries: &[EntryDoc], flags: bool) -> Vec<SpawnRule> {
        let mut openings = Vec::new();
        // Work would stand still where none of them holds.
        if let Some(last) = entries.last().filter(|last| !last.when.is_empty()) {
            let message = format!("the last entry of `{id}` must always hold: leave its `when` out");
            self.report(Code::MissingKey, &last.place, message);
        }
        for (index, entry) in entries.iter().enumerate() {
            let id = if entries.len() > 1 { format!("{id}.{}", index.saturating_add(1)) } else { id.to_owned() };
            let frame = EntryFrame {
                id: id.clone(),
                spot: EntryPosition::Report,
                source: RuleSource::Roles { roles: IndexBitSet::default(), domains: IndexBitSet::default() },
                tasks: [true; 3],
                status: None,
                reason: None,
                blocks: false,
            };
            let Some(EntryVerb::Verb(RuleVerb::Spawn(RoleTarget::Role(role)))) = self.verb(&frame, entry) else {
                if !entry.unread.any_of(&["spawn"]) {
                    self.report(Code::VerbNotHere, &entry.place, format!("`{id}` takes `spawn: ROLE`"));
                }
                continue;
            };
            if let Some(extra) = entry.counted.as_ref().or_else(|| entry.passes.first()) {
                self.report(Code::VerbNotHere, &extra.place, format!("`{id}` counts and passes nothing"));
            }
            let when = self.opening_tests(&entry.when, flags);
            let (with, model, because) = (names(&entry.with), entry.model.clone(), entry.because.clone());
            let place = entry.place.clone();
            openings.push(SpawnRule { id: id.into(), place, when, role, with, model, because });
        }
        openings
    }

    fn opening_tests(&mut self, when: &NameTable<Vec<Literal>>, flags: bool) -> Vec<GuardTest> {
        let tests = self.tests(when, false);
        for (name, place, _) in when.iter() {
            let flag = self.guards.iter().any(|guard| guard.name == *name && guard.source == GuardSource::Flag);
            if flag && !flags {
                self.report(
                    Code::GuardOutOfReach,
                    place,
                    format!("`{name}` is a flag of a group, and there is none here"),
                );
            }
        }
        tests
    }
}

fn takes(verb: &str) -> &'static str {
    match verb {
        "respawn" | "escalate" => "it takes `self` or `author`",
        "return" => "it takes `blocked_agent`",
        "merge" => "it takes `author`",
        "advance" => "it takes `phase`",
        "start" => "it takes `groups`",
        "complete" | "defer" => "it takes `group`",
        "end" => "it takes `session`",
        "cancel" => "it takes `group` or `session`",
        "redo" => "it takes `work`",
        "acknowledge" => "it takes `deferred`",
        _ => "it takes a role or `author`",
    }
}

pub(super) fn suffixed(rule: &Rule, suffix: &str) -> Rule {
    Rule { id: Name::from(format!("{}{suffix}", rule.id)), ..rule.clone() }
}

pub(super) fn names(list: &[PlacedValue<Name>]) -> Arc<[Name]> {
    list.iter().map(|at| at.value.clone()).collect()
}
