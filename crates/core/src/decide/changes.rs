//! The observed diff: required before work goes on, and stated when the session completes.

use std::borrow::Cow;

use crate::code::Code;
use crate::command::AllowPaths;
use crate::decide::draft::DecisionDraft;
use crate::decide::rule_context::{RuleContext, applies};
use crate::decide::{DecideOutcome, DecisionContext};
use crate::decision::Warning;
use crate::event::{EventCause, StateChange};
use crate::id::Name;
use crate::observed::{GroupDiff, ObservedChanges, changes_tree};
use crate::rejection::Rejection;
use crate::state::{Group, GroupEnd, GroupProgress, SessionStatus, changes_statement};
use crate::workflow::{AssignmentTask, ChangesDemand, Rule, wrong_pattern};

/// Names of files in one message.
const MOST_NAMED: usize = 10;

/// A person allows paths that the workflow protects.
pub(super) fn allow(cx: &DecisionContext<'_>, allow: &AllowPaths) -> Result<DecideOutcome, Rejection> {
    let mut draft = DecisionDraft::new(*cx, Name::new("allow"));
    draft.allow_paths(&allow.paths, &allow.by)?;
    Ok(draft.record(EventCause::Allowed { paths: allow.paths.clone(), by: allow.by.clone() }))
}

/// An entry or a phase with `changes: required` takes no report whose observed diff is empty. In a phase, the phase itself
/// must have changed something: the diff of an earlier phase is not its work.
pub(super) fn require_changes(
    situation: &RuleContext<'_>,
    rule: &Rule,
    observed: Option<&ObservedChanges>,
) -> Result<(), Rejection> {
    let (Some(group), Some(observed)) = (situation.group, observed) else { return Ok(()) };
    let phase = situation.phase.filter(|_| rule.leaves && situation.task != AssignmentTask::Consult);
    let phase =
        phase.map(|ix| situation.workflow().phase(ix)).filter(|phase| phase.demands.changes == ChangesDemand::Required);
    if !observed.is_empty() && rule.demands.changes == ChangesDemand::Nothing {
        return Err(not_unchanged(situation, group, observed));
    }
    if observed.is_empty() && (rule.demands.changes == ChangesDemand::Required || phase.is_some()) {
        return Err(nothing_changed(situation, group, None));
    }
    let is_idle = |name: &Name| {
        let earlier = group.diff.as_ref();
        !changes_tree(earlier, observed) && !earlier.is_some_and(|earlier| earlier.changed_in.contains(name))
    };
    match phase {
        Some(phase) if is_idle(&phase.name) => Err(nothing_changed(situation, group, Some(&phase.name))),
        Some(_) | None => Ok(()),
    }
}

fn nothing_changed(situation: &RuleContext<'_>, group: &Group, phase: Option<&Name>) -> Rejection {
    let message = match phase {
        Some(phase) => format!("phase `{phase}` must change files, and it changed none in group `{}`", group.id),
        None => format!("the diff of group `{}` is empty, and this report requires changes", group.id),
    };
    let workflow = situation.workflow();
    let without = |status: &String| {
        let status = situation.reporter.and_then(|role| Some((role, workflow.status_of(role, status)?)));
        status.is_some_and(|(role, status)| {
            workflow.rules_of(role, status).all(|rule| rule.demands.changes != ChangesDemand::Required)
        })
    };
    let allowed: Vec<String> = if phase.is_some() || situation.phase.is_some() {
        Vec::new()
    } else {
        crate::decide::choose::list_possible_statuses(situation).into_iter().filter(without).collect()
    };
    let help = match allowed.iter().find(|status| states_nothing_to_do(situation, status)) {
        Some(status) => format!("do the work, or report {status} with the reason in `handoff.context`"),
        None => "do the work; if nothing has to change, report a status that requires no changes, with the reason"
            .to_owned(),
    };
    Rejection::new(Code::NothingChanged, message).help(help).allowed(allowed)
}

/// The workflow has this status for an author that finds nothing to change.
fn states_nothing_to_do(situation: &RuleContext<'_>, status: &str) -> bool {
    let workflow = situation.workflow();
    let status = situation.reporter.and_then(|role| Some((role, workflow.status_of(role, status)?)));
    let states = |rule: &Rule| rule.demands.changes == ChangesDemand::Nothing;
    status.is_some_and(|(role, status)| workflow.rules_of(role, status).any(states))
}

fn not_unchanged(situation: &RuleContext<'_>, group: &Group, observed: &ObservedChanges) -> Rejection {
    let names: Vec<String> = observed.files.iter().take(MOST_NAMED).map(|file| format!("`{}`", file.path)).collect();
    let more = observed.files.len().saturating_sub(names.len()).saturating_add(observed.omitted as usize);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let names = names.join(", ");
    let message =
        format!("the report states that nothing has to change, and group `{}` changes {names}{more}", group.id);
    let allowed = crate::decide::choose::list_possible_statuses(situation).into_iter();
    let allowed = allowed.filter(|status| !states_nothing_to_do(situation, status)).collect();
    Rejection::new(Code::ChangesPresent, message)
        .help("undo the changes, or report the work with the status that it has")
        .allowed(allowed)
}

impl DecisionDraft<'_> {
    pub(super) fn allow_paths(&mut self, paths: &[Name], by: &Name) -> Result<(), Rejection> {
        for path in paths {
            if let Some((message, help)) = wrong_pattern(path) {
                return Err(Rejection::new(Code::BadPathPattern, format!("`{path}`: {message}")).help(help));
            }
        }
        if !paths.is_empty() {
            self.push(StateChange::PathsAllowed { paths: paths.to_vec(), by: by.clone() });
        }
        Ok(())
    }

    /// A role that changes files while it judges, helps, merges or is blocked leaves a tree that no other role has tested or
    /// approved. Where that tree failed before, the failure holds again.
    pub(super) fn void_changed_work(&mut self, situation: &RuleContext<'_>, observed: Option<&ObservedChanges>) {
        let (Some(group), Some(observed)) = (situation.group, observed) else { return };
        if !changes_tree(group.diff.as_ref(), observed) {
            return;
        }
        let known = self.failures_now(group);
        let back: Vec<Name> =
            group.failures_of_tree(&observed.tree).filter(|name| !known.contains(name)).cloned().collect();
        if group.has_evidence() || !back.is_empty() {
            self.lapse_passes(group);
        }
        for name in back {
            self.push(StateChange::EvidenceFailed { group: group.id.clone(), name });
        }
    }

    /// New work of an author is a new tree, of which earlier failures say nothing. Where the diff shows that nothing
    /// changed, or that a tree that failed is back, the failure stays.
    pub(super) fn void_failures(&mut self, group: &Group, observed: Option<&ObservedChanges>) {
        let is_new = observed.is_none_or(|observed| changes_tree(group.diff.as_ref(), observed));
        let failed_before: Vec<Name> =
            observed.into_iter().flat_map(|observed| group.failures_of_tree(&observed.tree)).cloned().collect();
        if !is_new || group.failed.is_empty() && failed_before.is_empty() {
            return;
        }
        self.push(StateChange::PassesLapsed { group: group.id.clone() });
        for name in failed_before {
            self.push(StateChange::EvidenceFailed { group: group.id.clone(), name });
        }
    }

    /// Changed files that the handoff does not name are pointed out, and stop nothing.
    pub(super) fn note_unclaimed(&mut self, observed: Option<&ObservedChanges>) {
        let Some(observed) = observed.filter(|observed| !observed.unclaimed.is_empty()) else { return };
        let names: Vec<String> = observed.unclaimed.iter().map(|path| format!("`{path}`")).collect();
        let text = format!("changed, and not named in the handoff: {}", names.join(", "));
        self.warnings.push(Warning::coded(Code::FilesNotClaimed, text));
    }

    /// Completion requires changes here, Interlock saw that there are none, and the role that may has not accepted that.
    pub(crate) fn lacks_changes(&self, group: &Group) -> bool {
        !self.preview && self.is_empty_where_required(group) && !self.is_accepted_unchanged(group)
    }

    pub(crate) fn refuse_unchanged(&self, group: &Group) -> Result<(), Rejection> {
        if !self.lacks_changes(group) {
            return Ok(());
        }
        // The report may be a reviewer's: the author is the role that left no changes.
        let author = group.author.as_ref().map_or("its author", Name::as_str);
        let message = format!(
            "group `{}` changes no file, and its completion requires changes: {author}, its author, delivered none",
            group.id
        );
        let unless: Vec<&str> = self.accepting().map(Name::as_str).collect();
        let help = match unless.as_slice() {
            [] => format!("send the work back to {author}"),
            names => format!(
                "send the work back to {author}; once {author} reports that there is nothing to do, that can be accepted ({})",
                names.join(", ")
            ),
        };
        Err(Rejection::new(Code::NothingChanged, message).help(help))
    }

    /// A merge of nothing is recorded as one.
    pub(super) fn note_empty_merge(&mut self, group: Option<&Group>) {
        if let Some(group) = group.filter(|group| self.is_unchanged(group)) {
            self.because.push(Name::from(format!("the merge is empty: group `{}` changes no file", group.id)));
        }
    }

    /// The group changes files, and others merged the same changes before.
    pub(super) fn note_merge_of_nothing_new(&mut self, empty: bool, group: Option<&Name>) {
        let group = group.and_then(|group| self.cx.state.group(group)).filter(|_| empty);
        if let Some(group) = group.filter(|group| !self.is_unchanged(group)) {
            let text =
                format!("the merge of group `{}` changed nothing: the same changes were merged before", group.id);
            self.because.push(Name::from(text));
        }
    }

    /// An author states that nothing has to change.
    pub(super) fn note_nothing_to_do(&mut self, group: Option<&Group>, rule: &Rule, by: &Name) {
        if let (Some(group), ChangesDemand::Nothing) = (group, rule.demands.changes) {
            self.push(StateChange::NothingToDo { group: group.id.clone(), by: by.clone() });
        }
    }

    /// Records who accepts a group whose diff is empty, so that the end of the session can name them. Only what its author
    /// stated can be accepted: an author that claims work it has not done leaves nothing to accept.
    pub(crate) fn accept_unchanged(&mut self, group: &Group, passes: &[Name], by: &Name) {
        let accepts = passes.iter().any(|pass| self.accepting().any(|name| name == pass));
        if accepts && group.nothing_to_do.is_some() && self.is_empty_where_required(group) {
            self.push(StateChange::AcceptedUnchanged { group: group.id.clone(), by: by.clone() });
        }
    }

    fn accepting(&self) -> impl Iterator<Item = &Name> {
        let workflow = self.cx.workflow;
        let unless = workflow.completion.changes.iter().flat_map(|changes| &changes.unless);
        unless.map(|ix| &workflow.pass(*ix).name)
    }

    fn is_empty_where_required(&self, group: &Group) -> bool {
        let required = self.cx.workflow.completion.changes.as_ref();
        required.is_some_and(|changes| applies(&self.cx, Some(group), &changes.when)) && self.is_unchanged(group)
    }

    /// As this report leaves it, or as the last one did. Where nothing was observed, nothing is known to be missing.
    fn is_unchanged(&self, group: &Group) -> bool {
        match self.observed.filter(|_| self.about.as_ref() == Some(&group.id)) {
            Some(observed) => observed.is_empty(),
            None => group.diff.as_ref().is_some_and(|diff| diff.is_empty()),
        }
    }

    fn is_accepted_unchanged(&self, group: &Group) -> bool {
        let lapses = |change: &StateChange| matches!(change, StateChange::PassesLapsed { group: g } if *g == group.id);
        let accepts =
            |change: &StateChange| matches!(change, StateChange::AcceptedUnchanged { group: g, .. } if *g == group.id);
        let lapsed = self.changes.iter().rposition(lapses);
        match self.changes.iter().rposition(accepts) {
            Some(accepted) => lapsed.is_none_or(|lapsed| lapsed < accepted),
            None => lapsed.is_none() && group.accepted_unchanged.is_some(),
        }
    }

    /// A session that completes states what is known of its changes.
    pub(super) fn state_changes(&mut self) {
        let completes =
            |change: &StateChange| matches!(change, StateChange::Session { status: SessionStatus::Completed });
        if self.preview || !self.changes.iter().any(completes) {
            return;
        }
        let kept: Vec<Group> = self.cx.state.groups.iter().filter_map(|group| self.kept_group(group)).collect();
        self.because.extend(changes_statement(&kept).into_iter().map(Name::from));
    }

    /// The group with the diff of this report: a plan's flags count by the files that it shows.
    pub(crate) fn as_observed<'g>(&self, group: &'g Group) -> Cow<'g, Group> {
        match self.observed.filter(|_| self.about.as_ref() == Some(&group.id)) {
            Some(observed) if !observed.outside.is_empty() => {
                let diff = Some(GroupDiff::after(group.diff.as_ref(), observed, None));
                Cow::Owned(Group { diff, ..group.clone() })
            }
            Some(_) | None => Cow::Borrowed(group),
        }
    }

    /// A group as this decision leaves it, unless it was deferred or cancelled.
    fn kept_group(&self, group: &Group) -> Option<Group> {
        let now = self.changes.iter().rev().find_map(|change| {
            let StateChange::GroupEnded { group: ended, end } = change else { return None };
            (*ended == group.id).then_some(end)
        });
        let before = match &group.progress {
            GroupProgress::Ended(end) => Some(end),
            GroupProgress::Pending
            | GroupProgress::Working
            | GroupProgress::Arrived
            | GroupProgress::AwaitingConfirmation => None,
        };
        if matches!(now.or(before), Some(GroupEnd::Deferred { .. } | GroupEnd::Cancelled { .. })) {
            return None;
        }
        let mut group = group.clone();
        if let Some(observed) = self.observed.filter(|_| self.about.as_ref() == Some(&group.id)) {
            group.diff = Some(GroupDiff::after(group.diff.as_ref(), observed, None));
        }
        Some(group)
    }
}
