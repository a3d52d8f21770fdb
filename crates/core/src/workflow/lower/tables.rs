//! The tables: routes, merge, gates, questions, unknown statuses, aliases, openings.

use std::collections::BTreeMap;

use crate::code::Code;
use crate::id::Name;
use crate::problem::Place;
use crate::workflow::doc::{Entries, EntryDoc};
use crate::workflow::lower::Lowering;
use crate::workflow::lower::entry::{EntryFrame, EntryPosition};
use crate::workflow::model::*;
use crate::workflow::record::{NameTable, PlacedValue};

/// The tasks that an ordinary row applies to.
const WORK_AND_CONSULT: [bool; 3] = [true, true, false];
const MERGE_ONLY: [bool; 3] = [false, false, true];
const ALL_TASKS: [bool; 3] = [true; 3];

impl Lowering<'_> {
    pub(super) fn tables(&mut self) {
        let doc = self.doc;
        self.routes();
        self.blocked_table();
        self.merge_table();
        self.gate_tables();
        self.question_tables();
        if let Some(entry) = &doc.unknown_status {
            let frame = EntryFrame {
                id: "unknown_status".to_owned(),
                spot: EntryPosition::Report,
                source: self.everyone(),
                tasks: ALL_TASKS,
                status: None,
                reason: None,
                blocks: false,
            };
            self.check_fallback(entry);
            self.entry(&frame, entry);
        }
        self.begin = self.openings("begin", &doc.begin, false);
        if let Some(groups) = &doc.groups {
            if let Some(at) = groups.at_most.as_ref().filter(|at| at.value == 0) {
                self.report(Code::WrongType, &at.place, "`at_most` is at least 1");
            }
            self.group_begin = self.openings("groups.begin", &groups.begin, true);
            self.groups_ended = self.openings("groups.ended", &groups.ended, false);
        }
        self.alias_table();
    }

    /// A status that a role does not have says nothing about the work. So its route gives no evidence and ends nothing.
    fn check_fallback(&mut self, entry: &EntryDoc) {
        let work = [&entry.advance, &entry.back, &entry.start, &entry.merge, &entry.complete, &entry.defer];
        let session = [&entry.validate, &entry.end, &entry.cancel, &entry.acknowledge];
        let ending = work.into_iter().chain(session).flatten().map(|target| &target.place).next();
        let place = entry.passes.first().map(|name| &name.place).or(ending).cloned();
        if let Some(place) = place {
            let message =
                "`unknown_status` may only route the work to a role or a person; it may not pass or end anything";
            self.report(Code::FallbackPasses, &place, message);
        }
        if let Some(otherwise) = &entry.otherwise {
            self.check_fallback(otherwise);
        }
    }

    /// Every role that an agent can hold.
    pub(super) fn everyone(&self) -> RuleSource {
        let holders = self.roles.iter().enumerate().filter(|(_, role)| !role.by_interlock);
        RuleSource::Roles { roles: holders.map(|(index, _)| index).collect(), domains: IndexBitSet::default() }
    }

    fn routes(&mut self) {
        let doc = self.doc;
        let (mut of_roles, mut of_classes, mut of_any) = (Vec::new(), Vec::new(), Vec::new());
        for (head, place, rows) in doc.routes.iter() {
            if *head == "any" {
                of_any.push((head, IndexBitSet::default(), rows));
            } else if let Some(ix) = self.role_index.get(head) {
                of_roles.push((head, std::iter::once(ix.index()).collect(), rows));
            } else if let Some(members) = self.classes.get(head) {
                of_classes.push((head, members.clone(), rows));
            } else {
                let known: Vec<Name> = self.role_index.keys().chain(self.classes.keys()).cloned().collect();
                let head = PlacedValue { value: head.clone(), place: place.clone() };
                self.unknown(Code::UnknownRole, "role or class", &head, known.iter().map(Name::as_str));
            }
        }
        let mut own: BTreeMap<StatusIx, IndexBitSet> = BTreeMap::new();
        for (head, members, rows) in &of_roles {
            self.rows(head, members, rows, &BTreeMap::new());
            self.claim(&mut own, members, rows);
        }
        let mut by_class = own.clone();
        for (head, members, rows) in &of_classes {
            self.no_two_classes(head, members, rows, &own, &by_class);
            self.rows(head, members, rows, &own);
            self.claim(&mut by_class, members, rows);
        }
        for (head, _, rows) in &of_any {
            let RuleSource::Roles { roles, .. } = self.everyone() else { continue };
            self.rows(head, &roles, rows, &by_class);
        }
    }

    fn claim(
        &mut self,
        claimed: &mut BTreeMap<StatusIx, IndexBitSet>,
        members: &IndexBitSet,
        rows: &NameTable<Entries>,
    ) {
        for (status, _, _) in rows.iter() {
            let set = claimed.entry(self.status(status)).or_default();
            members.iter().for_each(|member| set.insert(member));
        }
    }

    fn no_two_classes(
        &mut self,
        head: &Name,
        members: &IndexBitSet,
        rows: &NameTable<Entries>,
        own: &BTreeMap<StatusIx, IndexBitSet>,
        by_class: &BTreeMap<StatusIx, IndexBitSet>,
    ) {
        for (status, place, _) in rows.iter() {
            let ix = self.status(status);
            let has = |claimed: &BTreeMap<StatusIx, IndexBitSet>, member| {
                claimed.get(&ix).is_some_and(|roles| roles.contains(member))
            };
            let clash = members.iter().find(|member| has(by_class, *member) && !has(own, *member));
            if let Some(role) = clash.and_then(|member| self.roles.get(member)) {
                let message = format!(
                    "`{}` is in `{head}` and in another class that has `{status}`; give the role a row of its own",
                    role.name
                );
                self.report(Code::StatusConflict, place, message);
            }
        }
    }

    /// The rows of one head, for the members that nothing nearer has claimed.
    fn rows(
        &mut self,
        head: &Name,
        members: &IndexBitSet,
        rows: &NameTable<Entries>,
        hidden: &BTreeMap<StatusIx, IndexBitSet>,
    ) {
        for (status, place, entries) in rows.iter() {
            let ix = self.status(status);
            if self.doc.blocked.as_ref().is_some_and(|blocked| same_status(&blocked.status.value, status)) {
                let message = format!("`{status}` is the status of `blocked`; it is routed there");
                self.report(Code::StatusConflict, place, message);
            }
            let claimed = hidden.get(&ix);
            let roles = members.iter().filter(|member| claimed.is_none_or(|set| !set.contains(*member))).collect();
            let said_by_interlock = matches!(normalise_status(status).as_str(), "NO_HANDOFF" | "BAD_HANDOFF");
            let frame = EntryFrame {
                id: format!("routes.{head}.{status}"),
                spot: EntryPosition::Report,
                source: RuleSource::Roles { roles, domains: IndexBitSet::default() },
                tasks: if said_by_interlock { ALL_TASKS } else { WORK_AND_CONSULT },
                status: Some(ix),
                reason: None,
                blocks: false,
            };
            self.alternatives(&frame, entries);
        }
    }

    fn merge_table(&mut self) {
        let authors: IndexBitSet =
            self.roles.iter().enumerate().filter(|(_, role)| role.author).map(|(index, _)| index).collect();
        let ordinary: Vec<StatusIx> = self
            .rules
            .iter()
            .filter(|rule| matches!(&rule.source, RuleSource::Roles { roles, .. } if authors.iter().any(|author| roles.contains(author))))
            .filter_map(|rule| rule.status)
            .collect();
        for (status, place, entries) in self.doc.merge.iter() {
            let ix = self.status(status);
            if ordinary.contains(&ix) {
                let message = format!("`{status}` is an ordinary status of an author; a merge needs its own");
                self.report(Code::StatusConflict, place, message);
            }
            let frame = EntryFrame {
                id: format!("merge.{status}"),
                spot: EntryPosition::Merge,
                source: RuleSource::Roles { roles: authors.clone(), domains: IndexBitSet::default() },
                tasks: MERGE_ONLY,
                status: Some(ix),
                reason: None,
                blocks: false,
            };
            self.alternatives(&frame, entries);
        }
    }

    fn gate_tables(&mut self) {
        let doc = self.doc;
        let pass = self.status("pass");
        let fail = self.status("fail");
        let group_gates = doc.completion.as_ref().and_then(|doc| doc.group.as_ref()).map(|doc| doc.gates.as_slice());
        let session_gates =
            doc.completion.as_ref().and_then(|doc| doc.session.as_ref()).map(|doc| doc.gates.as_slice());
        let of_group: Vec<GateIx> =
            group_gates.unwrap_or_default().iter().filter_map(|gate| self.find_gate(gate)).collect();
        let of_session: Vec<GateIx> =
            session_gates.unwrap_or_default().iter().filter_map(|gate| self.find_gate(gate)).collect();
        for gate in session_gates.unwrap_or_default() {
            let planned =
                self.gates.iter().any(|own| own.name == gate.value && matches!(own.run, GateCommandSource::Plan));
            if planned {
                let message =
                    format!("`{}` runs the checks of a group's plan, and the session has no group", gate.value);
                self.report(Code::BadTarget, &gate.place, message);
            }
        }
        for (index, (name, place, gate)) in doc.gates.iter().enumerate() {
            let ix = GateIx::new(index);
            let frame = |id: String, status| EntryFrame {
                id,
                spot: EntryPosition::Gate,
                source: RuleSource::Gate(ix),
                tasks: ALL_TASKS,
                status: Some(status),
                reason: None,
                blocks: false,
            };
            let passed = self.gate_rule(&frame(format!("gates.{name}.pass"), pass), place);
            if self.phases.iter().any(|phase| phase.performer == PhasePerformer::Gate(ix)) {
                self.advance(&passed, EntryPosition::Gate);
            }
            if of_group.contains(&ix) {
                let conditions = vec![RuleCondition::InGroup];
                self.add(Rule { verb: RuleVerb::Complete, conditions, ..passed.clone() });
            }
            if of_session.contains(&ix) {
                let conditions = vec![RuleCondition::InSession];
                self.add(Rule { verb: RuleVerb::End, conditions, ..passed });
            }
            if gate.fail.is_empty() {
                self.report(Code::MissingKey, place, format!("gate `{name}` needs `fail`: what follows"));
            }
            self.alternatives(&frame(format!("gates.{name}.fail"), fail), &gate.fail);
        }
        self.completion.gates = of_group;
        self.completion.session_gates = of_session;
    }

    fn gate_rule(&self, frame: &EntryFrame, place: &Place) -> Rule {
        Rule {
            id: Name::from(frame.id.clone()),
            place: place.clone(),
            source: frame.source.clone(),
            tasks: frame.tasks,
            phase: None,
            status: frame.status,
            reason: None,
            conditions: Vec::new(),
            verb: RuleVerb::Leave,
            climbs: false,
            counted: None,
            passes: Vec::new(),
            excuses: Vec::new(),
            with: [].into(),
            demands: HandoffDemands::default(),
            model: None,
            because: None,
            blocks: false,
            leaves: false,
            without_groups: false,
        }
    }

    fn question_tables(&mut self) {
        for (index, (name, _, question)) in self.doc.questions.iter().enumerate() {
            let frame = |id: String, status| EntryFrame {
                id,
                spot: EntryPosition::Option,
                source: RuleSource::Question(QuestionIx::new(index)),
                tasks: ALL_TASKS,
                status: Some(status),
                reason: None,
                blocks: false,
            };
            for (option, _, entries) in question.options.iter() {
                let status = self.status(option);
                self.alternatives(&frame(format!("questions.{name}.{option}"), status), entries);
            }
            if !question.answer.is_empty() {
                let status = self.status("answer");
                self.alternatives(&frame(format!("questions.{name}.answer"), status), &question.answer);
            }
        }
    }

    fn alias_table(&mut self) {
        for (alias, place, meant) in self.doc.aliases.iter() {
            let normal = Name::from(normalise_status(alias));
            let mut targets = Vec::new();
            for target in meant {
                match self.status_index.get(normalise_status(&target.value).as_str()) {
                    Some(ix) => targets.push(*ix),
                    None => {
                        let known: Vec<Name> = self.statuses.iter().map(|status| status.name.clone()).collect();
                        self.unknown(Code::AliasToNothing, "status", target, known.iter().map(Name::as_str));
                    }
                }
            }
            self.one_meaning(alias, place, &targets);
            self.aliases.insert(normal, targets);
        }
    }

    /// For no role may an alias mean two things: two of the statuses it stands for, or one of them and a status of
    /// its very name, which would hide it. A status of that name which only other roles have is no hindrance.
    fn one_meaning(&mut self, alias: &Name, place: &Place, targets: &[StatusIx]) {
        let own = self.status_index.get(normalise_status(alias).as_str()).copied();
        for index in 0..self.roles.len() {
            let meant = targets.iter().filter(|status| self.role_has(index, **status)).count();
            let hidden = meant > 0 && own.is_some_and(|status| self.role_has(index, status));
            let Some(role) = self.roles.get(index).filter(|_| hidden || meant > 1) else { continue };
            let message = if hidden {
                format!("`{alias}` is a status of `{}` itself, so it cannot be an alias for another", role.name)
            } else {
                format!("`{alias}` could mean two statuses of `{}`", role.name)
            };
            return self.report(Code::TwoMeanings, place, message);
        }
    }

    pub(super) fn role_has(&self, role: usize, status: StatusIx) -> bool {
        let speaks = |rule: &Rule| matches!(&rule.source, RuleSource::Roles { roles, .. } if roles.contains(role));
        self.rules.iter().any(|rule| rule.status == Some(status) && speaks(rule))
    }
}

fn same_status(a: &str, b: &str) -> bool {
    normalise_status(a) == normalise_status(b)
}
