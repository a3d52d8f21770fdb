//! Rules that ask for missing evidence instead of merging without it.
//!
//! Completion would refuse the merge of a group that lacks evidence. By then the role that could have given it is
//! no longer asked, so each entry that merges gets a rule before it that asks for what is missing.

use std::collections::BTreeSet;

use crate::code::Code;
use crate::id::Name;
use crate::problem::Problem;
use crate::workflow::BUILTINS;
use crate::workflow::lower::Lowering;
use crate::workflow::lower::entry::suffixed;
use crate::workflow::model::*;

/// The loop of the prelude in which requests for missing evidence are counted.
const MISSING_EVIDENCE: &str = "missing_evidence";

const MERGE_TASK: [bool; 3] = [false, false, true];

impl Lowering<'_> {
    pub(super) fn ask_for_needs(&mut self) {
        self.note_who_passes();
        self.excuses_need_acceptance();
        let passes = &self.passes;
        for need in &mut self.completion.needs {
            let mut roles = need.options.iter().filter_map(|ix| passes.get(ix.index())?.roles.iter().next());
            need.asks = roles.next().map(RoleIx::new);
        }
        // Workflows that were pinned with an older prelude keep the rules that they had.
        let Some(counted) = self.loop_ix(MISSING_EVIDENCE).filter(|_| self.phases.is_empty()) else { return };
        let mut expanded: BTreeSet<Name> = BTreeSet::new();
        for rule in std::mem::take(&mut self.rules) {
            let own = Name::new(rule.id.strip_suffix("/limit").unwrap_or(&rule.id));
            if expanded.insert(own.clone()) {
                let mut base = Rule { id: own, climbs: false, ..rule.clone() };
                base.conditions.retain(|condition| *condition != RuleCondition::Limit);
                self.needs_rules(&base, counted);
                self.merge_rule(&base);
            }
            self.add(rule);
        }
    }

    /// Which roles pass a name by their work, and which names approve a merge.
    fn note_who_passes(&mut self) {
        for rule in &self.rules {
            let RuleSource::Roles { roles, .. } = &rule.source else { continue };
            for ix in rule.passes.iter().filter(|_| rule.tasks != MERGE_TASK) {
                let Some(pass) = self.passes.get_mut(ix.index()) else { continue };
                let holders = roles.iter().filter(|role| self.roles.get(*role).is_some_and(|role| !role.by_interlock));
                holders.for_each(|role| pass.roles.insert(role));
                pass.approves |= rule.verb == RuleVerb::Merge;
            }
        }
    }

    /// Where nothing is ever accepted, an excuse could never be confirmed. Built-in entries then excuse nothing, so that a
    /// file that extends them may leave acceptance out.
    fn excuses_need_acceptance(&mut self) {
        if !self.completion.once_blocked.is_empty() || self.doc.unread.any_of(&["completion"]) {
            return;
        }
        let is_shipped = |rule: &Rule| BUILTINS.iter().any(|builtin| *rule.place.file == *builtin.file);
        self.rules.iter_mut().filter(|rule| is_shipped(rule)).for_each(|rule| rule.excuses.clear());
        let Some(rule) = self.rules.iter().find(|rule| !rule.excuses.is_empty()) else { return };
        let problem = Problem::new(Code::ExcuseUnconfirmed, format!("`{}` excuses evidence", rule.id))
            .help("name what accepts such a group in `completion.group.once_blocked`, or remove `excuses`");
        self.problems.push(problem.at(rule.place.clone()));
    }

    /// Before an entry that merges: one rule for each need that it does not meet by itself.
    fn needs_rules(&mut self, base: &Rule, counted: LoopIx) {
        if base.verb != RuleVerb::Merge || !matches!(base.source, RuleSource::Roles { .. }) {
            return;
        }
        for (index, need) in self.completion.needs.clone().iter().enumerate() {
            let met = need.options.iter().any(|ix| base.passes.contains(ix));
            let Some(role) = need.asks.filter(|_| !met) else { continue };
            let names: Vec<&str> =
                need.options.iter().filter_map(|ix| Some(self.passes.get(ix.index())?.name.as_str())).collect();
            let mut ask = suffixed(base, &format!("/needs.{}", names.join("_or_")));
            let because = format!("completion needs `{}`, and this tree has not passed it", names.join("` or `"));
            ask.because = Some(Name::from(because));
            ask.conditions.push(RuleCondition::Lacks(u16::try_from(index).unwrap_or(u16::MAX)));
            ask.verb = RuleVerb::Spawn(RoleTarget::Role(role));
            ask.counted = Some(counted);
            self.limited(&ask);
            self.add(ask);
        }
        self.acceptance_rule(base, counted);
    }

    /// An approval is no acceptance. Without this rule, an approved group with nothing to do could not be completed.
    fn acceptance_rule(&mut self, base: &Rule, counted: LoopIx) {
        let accepting: Vec<PassIx> = self.completion.accepting().collect();
        let mut passers = accepting.iter().filter_map(|ix| {
            let pass = self.passes.get(ix.index())?;
            Some((pass.name.clone(), RoleIx::new(pass.roles.iter().next()?)))
        });
        let Some((name, role)) = passers.next() else { return };
        if accepting.iter().any(|ix| base.passes.contains(ix)) {
            return;
        }
        let mut ask = suffixed(base, "/accept");
        let because = format!("the author reports that there is nothing to do, and completion needs `{name}` of that");
        ask.because = Some(Name::from(because));
        ask.conditions.push(RuleCondition::NothingToDo);
        ask.verb = RuleVerb::Spawn(RoleTarget::Role(role));
        ask.counted = Some(counted);
        self.limited(&ask);
        self.add(ask);
    }

    /// Before an entry that passes the last missing evidence: the merge that was approved earlier for this tree.
    fn merge_rule(&mut self, base: &Rule) {
        let approval = |ix: &PassIx| self.passes.get(ix.index()).is_some_and(|pass| pass.approves);
        let merges_anyway = matches!(base.verb, RuleVerb::Merge | RuleVerb::Complete);
        let needed = |ix: &PassIx| self.completion.needs.iter().any(|need| need.options.contains(ix));
        let passes_need = base.passes.iter().any(needed);
        let reported = matches!(base.source, RuleSource::Roles { .. }) && base.tasks != MERGE_TASK;
        let approvals = (0..self.passes.len()).map(PassIx::new).any(|ix| approval(&ix));
        let generated = base.id.contains('/');
        if merges_anyway || !passes_need || !reported || !approvals || generated {
            return;
        }
        let mut merge = suffixed(base, "/merge");
        merge.because = Some(Name::new("this tree is approved already, and nothing but the merge is missing"));
        merge.conditions.extend([RuleCondition::InGroup, RuleCondition::HasAuthor, RuleCondition::ApprovedAlready]);
        merge.verb = RuleVerb::Merge;
        merge.counted = None;
        self.add(merge);
    }
}
