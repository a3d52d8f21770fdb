//! The table of blocked work: reason by role, domain or `any`.

use crate::code::Code;
use crate::id::Name;
use crate::problem::Place;
use crate::suggest;
use crate::workflow::doc::BlockedDoc;
use crate::workflow::lower::Lowering;
use crate::workflow::lower::entry::names;
use crate::workflow::lower::phases::demands;
use crate::workflow::model::*;
use crate::workflow::record::{NameTable, PlacedValue};

/// Which column of a row: roles beat domains, domains beat `any`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BlockedColumnIndex {
    Role(RoleIx),
    Domain(DomainIx),
    Any,
}

impl Lowering<'_> {
    pub(super) fn blocked_table(&mut self) {
        let Some(doc) = &self.doc.blocked else { return };
        let status = self.status(&doc.status.value);
        let mut reasons: Vec<Name> = doc.reasons.iter().map(|reason| reason.value.clone()).collect();
        reasons.extend(doc.table.keys().filter(|reason| **reason != "any").cloned());
        reasons.sort();
        reasons.dedup();
        let by_reason = doc.table.keys().any(|reason| *reason != "any");
        let demands = demands(&doc.require, &doc.verify);
        self.blocked = Some(BlockedStatus { status, reasons, by_reason, demands });
        for (reason, _, row) in doc.table.iter().filter(|(reason, _, _)| **reason != "any") {
            self.row(doc, status, Some(reason), &row.0);
        }
        if let Some(row) = doc.table.get("any") {
            self.row(doc, status, None, &row.0);
        }
        let target = doc
            .otherwise
            .clone()
            .unwrap_or_else(|| PlacedValue { value: Name::new("user"), place: doc.status.place.clone() });
        let place = target.place.clone();
        self.cell(doc, (status, None), BlockedColumnIndex::Any, ("blocked.otherwise", &place), &target);
    }

    fn row(&mut self, doc: &BlockedDoc, status: StatusIx, reason: Option<&Name>, row: &NameTable<PlacedValue<Name>>) {
        let mut cells = Vec::new();
        for (name, place, target) in row.iter() {
            let column = if *name == "any" {
                Some(BlockedColumnIndex::Any)
            } else if let Some(ix) = self.role_index.get(name) {
                Some(BlockedColumnIndex::Role(*ix))
            } else {
                let domain = self.domains.iter().position(|domain| domain.name == *name);
                domain.map(|index| BlockedColumnIndex::Domain(DomainIx::new(index)))
            };
            match column {
                Some(column) => cells.push((column, name, place, target)),
                None => {
                    let known: Vec<Name> = self.role_index.keys().cloned().chain(self.domain_names()).collect();
                    let help = suggest::help(name, known.iter().map(Name::as_str));
                    let message = format!("column `{name}` is neither a role nor a domain");
                    let problem = crate::problem::Problem::new(Code::UnknownRole, message).maybe_help(help);
                    self.problems.push(problem.at(place.clone()));
                }
            }
        }
        cells.sort_by_key(|(column, ..)| *column);
        for (column, name, place, target) in cells {
            let id = format!("blocked.{}.{name}", reason.map_or("any", Name::as_str));
            self.cell(doc, (status, reason), column, (&id, place), target);
        }
    }

    fn domain_names(&self) -> Vec<Name> {
        self.domains.iter().map(|domain| domain.name.clone()).collect()
    }

    fn cell(
        &mut self,
        doc: &BlockedDoc,
        (status, reason): (StatusIx, Option<&Name>),
        column: BlockedColumnIndex,
        (id, place): (&str, &Place),
        target: &PlacedValue<Name>,
    ) {
        let base = Rule {
            id: Name::new(id),
            place: place.clone(),
            source: self.column_source(column, None),
            tasks: [true; 3],
            phase: None,
            status: Some(status),
            reason: reason.cloned(),
            conditions: Vec::new(),
            verb: RuleVerb::Leave,
            climbs: false,
            counted: doc.counted.as_ref().and_then(|name| self.find_loop(name)),
            passes: Vec::new(),
            excuses: Vec::new(),
            with: names(&doc.with),
            demands: HandoffDemands::default(),
            model: None,
            because: None,
            blocks: true,
            leaves: false,
            without_groups: false,
        };
        if target.value == "user" {
            self.ask_clarify(&base, "");
        } else if target.value.contains("{domain}") {
            self.domain_cells(&base, column, target);
        } else if let Some(role) = self.find_holder(target) {
            self.consult_cell(base, role);
        }
    }

    fn consult_cell(&mut self, mut rule: Rule, role: RoleIx) {
        rule.verb = RuleVerb::Consult(RoleTarget::Role(role));
        rule.conditions.push(RuleCondition::Free(RoleTarget::Role(role)));
        self.limited(&rule);
        self.add(rule);
    }

    /// `{domain}-…` is another role for each domain of the blocked role.
    fn domain_cells(&mut self, base: &Rule, column: BlockedColumnIndex, target: &PlacedValue<Name>) {
        for (index, domain) in self.domain_names().into_iter().enumerate() {
            let ix = DomainIx::new(index);
            let concerned = match column {
                BlockedColumnIndex::Any => true,
                BlockedColumnIndex::Domain(own) => own == ix,
                BlockedColumnIndex::Role(role) => self.roles.get(role.index()).and_then(|role| role.domain) == Some(ix),
            };
            if !concerned {
                continue;
            }
            let name = Name::from(target.value.replace("{domain}", &domain));
            let Some(role) = self.role_index.get(&name).copied() else {
                let message = format!("`{}` needs a role `{name}`, which is not declared", target.value);
                self.report(Code::DomainConflict, &target.place, message);
                continue;
            };
            let mut rule = base.clone();
            if column == BlockedColumnIndex::Any {
                rule.id = Name::from(format!("{}@{domain}", base.id));
                rule.source = self.column_source(column, Some(ix));
            }
            self.consult_cell(rule, role);
        }
    }

    fn column_source(&self, column: BlockedColumnIndex, only: Option<DomainIx>) -> RuleSource {
        let holders = || self.roles.iter().enumerate().filter(|(_, role)| !role.by_interlock);
        let of_domain = |ix: DomainIx| {
            let roles = holders().filter(|(_, role)| role.domain == Some(ix)).map(|(index, _)| index).collect();
            RuleSource::Roles { roles, domains: std::iter::once(ix.index()).collect() }
        };
        match (column, only) {
            (BlockedColumnIndex::Role(role), _) => {
                RuleSource::Roles { roles: std::iter::once(role.index()).collect(), domains: IndexBitSet::default() }
            }
            (BlockedColumnIndex::Domain(ix), _) | (BlockedColumnIndex::Any, Some(ix)) => of_domain(ix),
            (BlockedColumnIndex::Any, None) => RuleSource::Roles {
                roles: holders().map(|(index, _)| index).collect(),
                domains: (0..self.domains.len()).collect(),
            },
        }
    }
}
