//! From the document to the compiled workflow.
//!
//! Names first, then the tables that use them; every problem is collected, and a
//! workflow comes out only if there was none.

mod blocked;
mod entry;
mod guards;
mod index;
mod limits;
mod needs;
mod phases;
mod placeholders;
mod roles;
mod statuses;
mod tables;
mod unused;

pub(crate) use roles::wrong_pattern;

use std::collections::BTreeMap;

use crate::code::Code;
use crate::id::{Digest, Name};
use crate::problem::{Place, Problem};
use crate::suggest;
use crate::workflow::doc::{GroupsDoc, RunDoc, WorkflowDoc};
use crate::workflow::model::*;
use crate::workflow::record::{PlacedValue, Problems};

/// The version of the language that this program reads.
const LANGUAGE: u32 = 1;

/// Questions of the prelude that the language itself asks.
const ASKED_BY_INTERLOCK: &[&str] = &["clarify", "stuck", "unfinished"];

/// Names with a meaning of their own.
const RESERVED: &[&str] = &["user", "author", "self", "any", "blocked_agent"];

/// Whether a file is read for the first time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoweringMode {
    New,
    /// It was checked when it was pinned, or when the program was built.
    Checked,
}

pub(crate) fn lower(
    doc: &WorkflowDoc,
    hash: Digest,
    reading: LoweringMode,
    problems: &mut Problems,
) -> Option<Workflow> {
    let before = problems.len();
    let mut lowering = Lowering::new(doc, problems);
    if lowering.too_many() {
        return None;
    }
    lowering.header();
    lowering.guards();
    lowering.domains();
    lowering.roles();
    lowering.orchestrator();
    lowering.check_path_patterns();
    lowering.file_limits();
    lowering.loops();
    lowering.overrides();
    lowering.name_phases();
    lowering.name_gates_and_questions();
    lowering.stages();
    lowering.tables();
    // The omitted rules would be missed everywhere.
    if lowering.full {
        return None;
    }
    lowering.status_notes();
    lowering.completion();
    lowering.ask_for_needs();
    lowering.required_checks_are_planned();
    // Files that were pinned before these were asked for are read as they are.
    if reading == LoweringMode::New {
        lowering.gate_placeholders();
        lowering.question_placeholders();
        lowering.work_has_an_author();
        lowering.completion_needs_something(before);
    }
    lowering.findings_hold_completion_up();
    // An unreadable part may have used them.
    if before == 0 {
        lowering.unused_names();
    }
    let failed = lowering.problems.iter().skip(before).any(Problem::is_error);
    if failed { None } else { lowering.finish(hash) }
}

/// Everything that has a name by now.
pub(crate) struct Lowering<'a> {
    doc: &'a WorkflowDoc,
    problems: &'a mut Problems,
    guards: Vec<Guard>,
    domain_guard: Option<GuardIx>,
    domains: Vec<Domain>,
    roles: Vec<Role>,
    role_index: BTreeMap<Name, RoleIx>,
    orchestrator: OrchestratorRules,
    file_limits: Vec<FileLimit>,
    classes: BTreeMap<Name, IndexBitSet>,
    loops: Vec<Loop>,
    /// Loops that an entry, a row or a phase names.
    used_loops: IndexBitSet,
    overrides: Vec<RoleOverride>,
    phases: Vec<Phase>,
    stages: Vec<PipelineStage>,
    gates: Vec<Gate>,
    questions: Vec<DeclaredQuestion>,
    statuses: Vec<Status>,
    status_index: BTreeMap<Name, StatusIx>,
    passes: Vec<Pass>,
    rules: Vec<Rule>,
    /// The workflow has more rules than the limit allows.
    full: bool,
    aliases: BTreeMap<Name, Vec<StatusIx>>,
    blocked: Option<BlockedStatus>,
    begin: Vec<SpawnRule>,
    group_begin: Vec<SpawnRule>,
    groups_ended: Vec<SpawnRule>,
    completion: CompletionRules,
    status_notes: BTreeMap<(RoleIx, StatusIx), StatusMeaning>,
}

impl<'a> Lowering<'a> {
    fn new(doc: &'a WorkflowDoc, problems: &'a mut Problems) -> Self {
        Self {
            doc,
            problems,
            guards: Vec::new(),
            domain_guard: None,
            domains: Vec::new(),
            roles: Vec::new(),
            role_index: BTreeMap::new(),
            orchestrator: OrchestratorRules::default(),
            file_limits: Vec::new(),
            classes: BTreeMap::new(),
            loops: Vec::new(),
            used_loops: IndexBitSet::default(),
            overrides: Vec::new(),
            phases: Vec::new(),
            stages: Vec::new(),
            gates: Vec::new(),
            questions: Vec::new(),
            statuses: Vec::new(),
            status_index: BTreeMap::new(),
            passes: Vec::new(),
            rules: Vec::new(),
            full: false,
            aliases: BTreeMap::new(),
            blocked: None,
            begin: Vec::new(),
            group_begin: Vec::new(),
            groups_ended: Vec::new(),
            completion: CompletionRules::default(),
            status_notes: BTreeMap::new(),
        }
    }

    fn report(&mut self, code: Code, place: &Place, message: impl Into<String>) {
        self.problems.push(Problem::new(code, message).at(place.clone()));
    }

    /// Reports a name that nothing has, with the nearest that there is.
    fn unknown<'n>(
        &mut self,
        code: Code,
        kind: &str,
        name: &PlacedValue<Name>,
        known: impl IntoIterator<Item = &'n str> + Clone,
    ) {
        let help = suggest::help(&name.value, known);
        let problem = Problem::new(code, format!("there is no {kind} `{}`", name.value));
        self.problems.push(problem.maybe_help(help).at(name.place.clone()));
    }

    fn header(&mut self) {
        if self.doc.language.value != LANGUAGE {
            let message = format!("this program reads version {LANGUAGE} of the language");
            self.report(Code::LanguageVersion, &self.doc.language.place.clone(), message);
        }
        let phased = !self.doc.phases.is_empty();
        let groups = self.doc.groups.as_ref();
        if phased {
            self.without_phases_only(groups);
        } else if !self.doc.is_abstract && !self.doc.unread.any_of(&["phases"]) {
            let whole = &self.doc.place.clone();
            if self.doc.begin.is_empty() && !self.doc.unread.any_of(&["begin"]) {
                self.report(Code::PhasesOrTables, whole, "a workflow without `phases` needs `begin`");
            }
            let unread = |key: &str| {
                self.doc.unread.any_of(&["groups"]) && groups.is_none_or(|groups| groups.unread.any_of(&[key]))
            };
            let (no_begin, no_end) = (!unread("begin"), !unread("ended"));
            if groups.is_none_or(|groups| groups.begin.is_empty()) && no_begin {
                self.report(Code::PhasesOrTables, whole, "a workflow without `phases` needs `groups.begin`");
            }
            if groups.is_none_or(|groups| groups.ended.is_empty()) && no_end {
                self.report(Code::PhasesOrTables, whole, "a workflow without `phases` needs `groups.ended`");
            }
        }
    }

    fn without_phases_only(&mut self, groups: Option<&GroupsDoc>) {
        let written = [
            ("begin", self.doc.begin.first()),
            ("groups.begin", groups.and_then(|groups| groups.begin.first())),
            ("groups.ended", groups.and_then(|groups| groups.ended.first())),
        ];
        for (key, entry) in written {
            if let Some(entry) = entry {
                let message = format!("with `phases` there is no `{key}`: the phases say what begins");
                self.report(Code::PhasesOrTables, &entry.place.clone(), message);
            }
        }
    }

    fn status(&mut self, name: &str) -> StatusIx {
        let normal = Name::from(normalise_status(name));
        if let Some(ix) = self.status_index.get(&normal) {
            return *ix;
        }
        let ix = StatusIx::new(self.statuses.len());
        self.statuses.push(Status { name: Name::new(name) });
        self.status_index.insert(normal, ix);
        ix
    }

    fn pass(&mut self, at: &PlacedValue<Name>) -> PassIx {
        let name = &at.value;
        if let Some(index) = self.passes.iter().position(|pass| pass.name == *name) {
            return PassIx::new(index);
        }
        let forgets = self.loop_ix(name);
        let measured = forgets.and_then(|ix| self.loops.get(ix.index())).and_then(|item| item.measure);
        let place = at.place.clone();
        let roles = IndexBitSet::default();
        self.passes.push(Pass { name: name.clone(), measured, forgets, settles: false, roles, approves: false, place });
        PassIx::new(self.passes.len().saturating_sub(1))
    }

    fn loop_ix(&self, name: &str) -> Option<LoopIx> {
        self.loops.iter().position(|item| item.name == name).map(LoopIx::new)
    }

    fn find_loop(&mut self, name: &PlacedValue<Name>) -> Option<LoopIx> {
        let found = self.loop_ix(&name.value);
        if let Some(ix) = found {
            self.used_loops.insert(ix.index());
        } else if !self.doc.loops.is_unread(&name.value) {
            let known: Vec<Name> = self.loops.iter().map(|item| item.name.clone()).collect();
            self.unknown(Code::UnknownLoop, "loop", name, known.iter().map(Name::as_str));
        }
        found
    }

    fn name_gates_and_questions(&mut self) {
        for (name, _, gate) in self.doc.gates.iter() {
            let run = match &gate.run {
                RunDoc::Plan => GateCommandSource::Plan,
                RunDoc::Command(argv) => {
                    GateCommandSource::Command(argv.iter().map(|word| word.value.clone()).collect())
                }
            };
            self.gates.push(Gate { name: name.clone(), run, required: gate.required, timeout: gate.timeout });
        }
        for (name, place, question) in self.doc.questions.iter() {
            let mut options = Vec::new();
            for (option, place, _) in question.options.iter() {
                if normalise_status(option) == "ANSWER" {
                    self.report(Code::TwoMeanings, place, "`answer` is free text; an option needs another name");
                }
                options.push((option.clone(), self.status(option)));
            }
            let free = if question.answer.is_empty() { None } else { Some(self.status("answer")) };
            if options.is_empty() && free.is_none() {
                let message = format!("question `{name}` needs `options` or `answer`");
                self.report(Code::MissingKey, place, message);
            }
            let text = question.text.value.clone();
            self.questions.push(DeclaredQuestion { name: name.clone(), text, options, free });
        }
        self.prelude_questions_stay();
    }

    /// They can be reworded, but without them there would be no question to ask.
    fn prelude_questions_stay(&mut self) {
        for name in ASKED_BY_INTERLOCK {
            if !self.doc.unread.any_of(&["questions"]) && !self.doc.questions.contains(name) {
                let problem = Problem::new(Code::MissingKey, format!("question `{name}` cannot be taken away"))
                    .help("Interlock asks it where nobody else can help; give it other words or options instead");
                self.problems.push(problem.at(self.doc.workflow.place.clone()));
            }
        }
    }

    fn find_question(&mut self, name: &PlacedValue<Name>) -> Option<QuestionIx> {
        let found = self.questions.iter().position(|question| question.name == name.value);
        if found.is_none() && !self.doc.questions.is_unread(&name.value) {
            let known: Vec<Name> = self.questions.iter().map(|question| question.name.clone()).collect();
            self.unknown(Code::UnknownQuestion, "question", name, known.iter().map(Name::as_str));
        }
        found.map(QuestionIx::new)
    }

    fn find_gate(&mut self, name: &PlacedValue<Name>) -> Option<GateIx> {
        let found = self.gates.iter().position(|gate| gate.name == name.value);
        if found.is_none() && !self.doc.gates.is_unread(&name.value) {
            let known: Vec<Name> = self.gates.iter().map(|gate| gate.name.clone()).collect();
            self.unknown(Code::UnknownGate, "gate", name, known.iter().map(Name::as_str));
        }
        found.map(GateIx::new)
    }

    fn completion(&mut self) {
        let Some(doc) = &self.doc.completion else { return };
        if let Some(group) = &doc.group {
            for need in &group.needs {
                let options: Vec<PassIx> = need.names.iter().filter_map(|name| self.needed(name)).collect();
                let when = self.tests(&need.when, false);
                if !options.is_empty() {
                    self.completion.needs.push(EvidenceNeed { options, when, asks: None });
                }
            }
            self.stand_ins();
            if let Some(changes) = &group.changes {
                let when = self.tests(&changes.when, false);
                let unless = changes.unless.iter().filter_map(|name| self.needed(name)).collect();
                self.completion.changes = Some(RequiredChanges { when, unless });
            }
            self.completion.once_blocked = group.once_blocked.iter().filter_map(|name| self.needed(name)).collect();
        }
        // Gates were found, and their rules made, with the tables.
    }

    /// A review that completion does not ask for could be left open for ever.
    fn findings_hold_completion_up(&mut self) {
        // It may be asked for in what could not be read.
        if self.doc.unread.any_of(&["completion", "loops"]) {
            return;
        }
        let counted: Vec<LoopIx> = self.rules.iter().filter_map(|rule| rule.counted).collect();
        for (index, item) in self.loops.iter().enumerate() {
            let measured = item.measure == Some(LoopMeasure::BlockingFindings) && counted.contains(&LoopIx::new(index));
            let named = |ix: &PassIx| self.passes.get(ix.index()).is_some_and(|pass| pass.name == item.name);
            let needed = self.completion.needs.iter().any(|need| need.options.iter().any(named));
            if measured && !needed && self.phases.is_empty() && !self.doc.is_abstract {
                let message = format!("findings of `{}` would not hold completion up", item.name);
                let help = format!("put `{}` into `completion.group.needs`, and let the reviewer pass it", item.name);
                let place = self.doc.completion.as_ref().map_or(&self.doc.place, |doc| &doc.place).clone();
                self.problems.push(Problem::new(Code::NeedsNothingPasses, message).help(help).at(place));
            }
        }
    }

    /// `any_of: [review, acceptance]`: an acceptance in place of the review settles open findings.
    fn stand_ins(&mut self) {
        for need in &self.completion.needs {
            let options = &need.options;
            let reviewed = |ix: &PassIx| self.passes.get(ix.index()).and_then(|pass| pass.measured);
            if !options.iter().any(|ix| reviewed(ix) == Some(LoopMeasure::BlockingFindings)) {
                continue;
            }
            for ix in options {
                if let Some(pass) = self.passes.get_mut(ix.index()) {
                    pass.settles = pass.measured.is_none();
                }
            }
        }
    }

    fn needed(&mut self, name: &PlacedValue<Name>) -> Option<PassIx> {
        let found = self.passes.iter().position(|pass| pass.name == name.value);
        if found.is_none() {
            let known: Vec<Name> = self.passes.iter().map(|pass| pass.name.clone()).collect();
            let help = suggest::help(&name.value, known.iter().map(Name::as_str));
            let problem = Problem::new(Code::NeedsNothingPasses, format!("no entry passes `{}`", name.value));
            self.problems.push(problem.maybe_help(help).at(name.place.clone()));
        }
        found.map(PassIx::new)
    }
}
