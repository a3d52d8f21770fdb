//! The report of a run: the work done, each decision with its reason, and the cost.

mod decision_line;
mod group_narrative;
mod handoff_summary;
mod markdown_text;
mod subject_index;
mod waiting_question;

use std::fmt::Write as _;

use interlock_core::id::Name;
use interlock_core::state::{CompletionException, Finding, GroupStatus, State};
use serde_json::{Value as Json, json};

use crate::budget::{BudgetScope, SpendTotal};
use crate::git::GitHash;
use crate::run_context::RunContext;
use crate::tui::clock_of;
use decision_line::{DecisionHistory, DecisionLine};
use group_narrative::{GroupNarrative, GroupNarratives};
use interlock_app::session_view::exception_line;
use interlock_engine::Engine;
use interlock_system::sanitise;
use interlock_system::text::{HEADING, NAME, TerminalText, counted};
use markdown_text::{code, plain};
use waiting_question::WaitingQuestion;

/// Of a branch that the result is not on.
const REFUSED: &str = "is checked out, or was changed by somebody else: it was left as it is";

struct GroupReport {
    id: Name,
    title: Name,
    status: GroupStatus,
    spent: SpendTotal,
    merged: Option<GitHash>,
    findings: Vec<Finding>,
    /// Notices that a person should read before the group counts as done.
    notices: Vec<String>,
    tale: GroupNarrative,
}

pub(crate) struct RunReport {
    session: Name,
    title: Name,
    status: &'static str,
    groups: Vec<GroupReport>,
    /// Questions that wait for a person.
    questions: Vec<WaitingQuestion>,
    /// Of what belongs to no group.
    tale: GroupNarrative,
    lines: Vec<DecisionLine>,
    refusals: usize,
    spent: SpendTotal,
    /// The usage of each role, and the client that plays it.
    by_role: Vec<(Name, SpendTotal, Option<&'static str>)>,
    /// The branch in the user's repository. `None`: the session has no result.
    branch: Option<String>,
    /// The branch that it should have been on, if that one could not have it.
    refused: Option<String>,
    result: GitHash,
    files: usize,
    base: GitHash,
    /// Refs and settings of the user's that moved.
    moved: Vec<String>,
    /// Requirements that the session does without.
    exceptions: Vec<CompletionException>,
    /// Known facts about the changes of each merged group.
    changes: Vec<String>,
}

impl RunReport {
    pub(super) fn of(
        engine: &mut Engine,
        state: &State,
        crew: &RunContext,
        (branch, result): (Option<String>, &GitHash),
    ) -> Result<Self, interlock_app::error::CommandError> {
        let (mut lines, mut tales) = (DecisionHistory::default(), GroupNarratives::default());
        engine.for_each_event(&crew.session, &mut |event, report| {
            lines.hear(event, report, &crew.session);
            tales.hear(event, report, &crew.workflow);
        })?;
        let groups = state.groups.iter().map(|group| GroupReport {
            id: group.id.clone(),
            title: group.title.clone(),
            status: group.status(),
            spent: crew.purse.spent(&BudgetScope::Group(group.id.clone())),
            merged: crew.site.vault.merged(&group.id).ok().flatten(),
            findings: group.findings.clone(),
            notices: interlock_prompt::notices::notices(group, &crew.workflow),
            tale: tales.take(Some(&group.id)),
        });
        let client = |role: &Name| crew.team.part(role).map(|part| part.client.name());
        let by_role = crew.purse.by_role().into_iter().map(|(role, spent)| (role.clone(), spent, client(&role)));
        let base = crew.site.vault.base()?;
        let own = Some(crew.site.branch());
        let refused = own.filter(|own| branch.as_ref().is_some_and(|branch| branch != own));
        Ok(Self {
            session: crew.session.clone(),
            title: state.session.as_ref().map_or_else(|| Name::new(""), |session| session.title.clone()),
            status: state.status.name(),
            groups: groups.collect(),
            questions: WaitingQuestion::all(state),
            tale: tales.take(None),
            lines: lines.all,
            refusals: lines.refusals,
            spent: crew.purse.spent(&BudgetScope::Session),
            by_role: by_role.collect(),
            branch,
            refused,
            result: result.clone(),
            files: crew.site.vault.changed(&base, result)?.len(),
            base,
            moved: crew.site.moved(),
            exceptions: state.completion_exceptions(&crew.workflow),
            changes: state.changes_statement(),
        })
    }

    /// Something is not as it should be: worth keeping the workspaces.
    pub(super) fn has_trouble(&self) -> bool {
        self.groups.iter().any(|group| group.status != GroupStatus::Completed)
    }

    pub(crate) fn json(&self) -> Json {
        let groups: Vec<Json> = self
            .groups
            .iter()
            .map(|group| {
                json!({
                    "id": group.id, "title": group.title, "status": group.status.name(),
                    "merged": group.merged.as_ref().map(GitHash::as_str), "spent": spent_json(&group.spent),
                    "notices": group.notices, "story": group.tale.json(&group.findings),
                })
            })
            .collect();
        let questions: Vec<Json> = self.questions.iter().map(|open| open.json(&self.session)).collect();
        let decisions: Vec<Json> = self.lines.iter().map(DecisionLine::json).collect();
        let roles: serde_json::Map<String, Json> =
            self.by_role.iter().map(|(role, spent, _)| (role.to_string(), spent_json(spent))).collect();
        json!({
            "session": self.session, "title": self.title, "status": self.status, "groups": groups,
            "questions": questions, "decisions": decisions, "refusals": self.refusals, "spent": spent_json(&self.spent), "spent_by_role": roles,
            "branch": self.branch, "commit": self.result.as_str(), "base": self.base.as_str(), "files_changed": self.files,
            "moved": self.moved, "exceptions": self.exceptions, "changes": self.changes, "story": self.tale.json(&[]),
        })
    }

    /// For the end of a run.
    pub(crate) fn text(&self) -> TerminalText {
        let mut text = TerminalText::default();
        text.push("\n");
        text.paint(HEADING, format!("{}: {}", sanitise::line(&self.title), self.status));
        text.push("\n");
        for group in &self.groups {
            text.push("  ");
            text.paint(NAME, format!("{:<16}", sanitise::line(&group.id)));
            let merged =
                group.merged.as_ref().map_or(String::new(), |commit| format!("  merged as {}", commit.short()));
            let title = sanitise::line(&group.title);
            text.line(format_args!(" {:<22} {}{merged}  {title}", group.status.name(), used(&group.spent)));
            for notice in &group.notices {
                text.line(format_args!("  {:<16} {notice}", ""));
            }
        }
        let (decisions, refusals) =
            (counted(self.lines.len() as u64, "decision"), counted(self.refusals as u64, "refusal"));
        text.line(format_args!("  {decisions}, {refusals}, {}", cost(&self.spent)));
        if !self.exceptions.is_empty() {
            text.push("\n");
            text.paint(HEADING, "Exceptions");
            text.push("\n");
            self.exceptions.iter().for_each(|exception| exception_line(&mut text, exception));
        }
        if !self.questions.is_empty() {
            text.push("\n");
            self.questions.iter().for_each(|open| open.text(&self.session, &mut text));
        }
        match &self.branch {
            Some(branch) if self.files > 0 => {
                let (result, files) = (self.result.short(), counted(self.files as u64, "file"));
                text.push("\n");
                text.line(format_args!("  result   branch {branch} ({result}, {files} changed)"));
                if let Some(refused) = &self.refused {
                    text.line(format_args!("  note     {refused} {REFUSED}"));
                }
                text.line(format_args!("  see      git diff {}...{branch}", self.base.short()));
                text.line(format_args!("  take     git merge {branch}"));
            }
            Some(branch) => {
                text.push("\n");
                text.line(format_args!("  result   branch {branch}: {}", self.nothing_merged()));
            }
            None => {
                text.push("\n");
                text.line(format_args!("  result   none: {}", self.nothing_merged()));
            }
        }
        for sentence in &self.changes {
            text.line(format_args!("  changes  {}", sanitise::line(sentence)));
        }
        for moved in &self.moved {
            text.line(format_args!("  moved    {} while this ran, and not by Interlock", sanitise::line(moved)));
        }
        text.line(format_args!("  why      interlock log {}; interlock why {}.d1", self.session, self.session));
        text
    }

    /// Why the result is the base. A session that has ended merges nothing later.
    fn nothing_merged(&self) -> &'static str {
        match self.status {
            "completed" => "no file was changed",
            "cancelled" => "nothing was merged",
            _ => "nothing is merged yet",
        }
    }

    /// The whole of it, to keep.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("# {}\n\nSession `{}`: **{}**.\n\n", plain(&self.title), self.session, self.status);
        text.push_str("## Groups\n\n| group | status | merged as | spent | title |\n|---|---|---|---|---|\n");
        for group in &self.groups {
            let merged = group.merged.as_ref().map_or("–", |commit| commit.short());
            let (id, title) = (plain(&group.id), plain(&group.title));
            let _ = writeln!(text, "| {id} | {} | {merged} | {} | {title} |", group.status.name(), cost(&group.spent));
        }
        text.push_str("\n## Roles\n\n| role | client | spent |\n|---|---|---|\n");
        for (role, spent, client) in &self.by_role {
            let _ = writeln!(text, "| {} | {} | {} |", plain(role), client.unwrap_or("–"), cost(spent));
        }
        let _ = write!(
            text,
            "\nAltogether {}. {} ({}), {} against {}.\n\n",
            cost(&self.spent),
            match &self.branch {
                Some(branch) => format!("The result is on branch `{branch}`"),
                None => "Nothing was merged, so there is no branch".to_owned(),
            },
            self.result.short(),
            counted(self.files as u64, "file"),
            self.base.short()
        );
        if let Some(refused) = &self.refused {
            let _ = write!(text, "`{refused}` {REFUSED}.\n\n");
        }
        if !self.exceptions.is_empty() {
            text.push_str("## Exceptions\n\n");
            for exception in &self.exceptions {
                let group = exception.group.as_ref().map_or_else(String::new, |group| format!("{}: ", plain(group)));
                let _ = writeln!(text, "- {group}{}", plain(&exception.text));
            }
            text.push('\n');
        }
        if !self.changes.is_empty() {
            text.push_str("## Changes\n\n");
            self.changes.iter().for_each(|sentence| text.push_str(&format!("- {}\n", plain(sentence))));
            text.push('\n');
        }
        if !self.moved.is_empty() {
            text.push_str("## What of yours moved while this ran, and not by Interlock\n\n");
            self.moved.iter().for_each(|moved| text.push_str(&format!("- {}\n", code(moved))));
            text.push('\n');
        }
        if !self.questions.is_empty() {
            text.push_str("## Open questions\n\n");
            self.questions.iter().for_each(|open| text.push_str(&open.markdown(&self.session, plain)));
            text.push('\n');
        }
        if !self.tale.is_empty() {
            let _ = write!(text, "## The session itself\n\n{}\n", self.tale.markdown(&[]));
        }
        for group in &self.groups {
            let (id, title, status) = (plain(&group.id), plain(&group.title), group.status.name());
            let notices: String = group.notices.iter().map(|notice| format!("- {}\n", plain(notice))).collect();
            let notices = if notices.is_empty() { notices } else { format!("{notices}\n") };
            let tale = group.tale.markdown(&group.findings);
            let _ = write!(text, "## {id}: {title}\n\n**{status}**\n\n{notices}{tale}\n");
        }
        self.decisions(&mut text);
        text
    }

    fn decisions(&self, text: &mut String) {
        text.push_str("## Decisions\n\n");
        text.push_str("| decision | who | group | what happened | what followed | rule | because |\n");
        text.push_str("|---|---|---|---|---|---|---|\n");
        for line in &self.lines {
            let or_none = |text: Option<&str>| text.map_or_else(|| "–".to_owned(), plain);
            let (who, group) = (or_none(line.who.as_deref()), or_none(line.group.as_deref()));
            let (what, follows, rule) = (plain(&line.what), plain(&line.follows), code(&line.rule));
            let why = plain(&line.why());
            let _ = writeln!(text, "| {} | {who} | {group} | {what} | {follows} | {rule} | {why} |", line.decision);
        }
    }
}

/// The same, but a cost that no client reported is marked as unknown: it is not zero.
fn cost(spent: &SpendTotal) -> String {
    let told = spent.turns == 0 || spent.usage.cost.is_some();
    format!("{}{}", used(spent), if told { "" } else { ", cost not told" })
}

/// The usage, as far as it was reported.
fn used(spent: &SpendTotal) -> String {
    let mut text = format!("{}, {}", counted(u64::from(spent.turns), "turn"), clock_of(spent.time));
    let tokens = spent.usage.input_tokens.saturating_add(spent.usage.output_tokens);
    if tokens > 0 {
        text.push_str(&format!(", {}", counted(tokens, "token")));
    }
    if let Some(cost) = spent.usage.cost {
        text.push_str(&format!(", ${cost:.2}"));
    }
    text
}

fn spent_json(spent: &SpendTotal) -> Json {
    json!({
        "turns": spent.turns, "seconds": spent.time.as_secs_f64(), "input_tokens": spent.usage.input_tokens,
        "output_tokens": spent.usage.output_tokens, "cost_usd": spent.usage.cost,
    })
}
