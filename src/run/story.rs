//! What a run came to: what was done, each decision and why, and what it cost.

use std::fmt::Write as _;

use interlock_core::event::Cause;
use interlock_core::id::Name;
use interlock_core::state::{GroupStatus, State};
use serde_json::{Value as Json, json};

use crate::engine::{Engine, Error};
use crate::git::Hash;
use crate::output::{HEADING, NAME, Text};
use crate::run::crew::Crew;
use crate::run::purse::{self, Spent};
use crate::run::view::{clock_of, said};
use crate::sanitise;

/// One decision.
struct Line {
    decision: String,
    group: Option<Name>,
    what: String,
    follows: String,
    rule: Name,
    because: Vec<Name>,
}

struct Part {
    id: Name,
    title: Name,
    status: GroupStatus,
    spent: Spent,
    merged: Option<Hash>,
}

pub(crate) struct Story {
    session: Name,
    title: Name,
    status: &'static str,
    groups: Vec<Part>,
    lines: Vec<Line>,
    refusals: usize,
    spent: Spent,
    branch: String,
    result: Hash,
    files: usize,
    base: Hash,
}

impl Story {
    pub(super) fn of(
        engine: &mut Engine,
        state: &State,
        crew: &Crew,
        (branch, result): (&str, &Hash),
    ) -> Result<Self, crate::failure::Failure> {
        let (lines, refusals) = decisions(engine, &crew.session)?;
        let groups = state.groups.iter().map(|group| Part {
            id: group.id.clone(),
            title: group.title.clone(),
            status: group.status(),
            spent: crew.purse.spent(&purse::group(&group.id)),
            merged: crew.site.vault.merged(&group.id).ok().flatten(),
        });
        let base = crew.site.vault.base()?;
        Ok(Self {
            session: crew.session.clone(),
            title: state.session.as_ref().map_or_else(|| Name::new(""), |session| session.title.clone()),
            status: state.status.name(),
            groups: groups.collect(),
            lines,
            refusals,
            spent: crew.purse.spent(purse::SESSION),
            branch: branch.to_owned(),
            result: result.clone(),
            files: crew.site.vault.changed(&base, result)?.len(),
            base,
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
                    "merged": group.merged.as_ref().map(Hash::as_str), "spent": spent_json(&group.spent),
                })
            })
            .collect();
        let decisions: Vec<Json> = self
            .lines
            .iter()
            .map(|line| {
                json!({
                    "decision": line.decision, "group": line.group, "what": line.what, "follows": line.follows,
                    "rule": line.rule, "because": line.because,
                })
            })
            .collect();
        json!({
            "session": self.session, "title": self.title, "status": self.status, "groups": groups,
            "decisions": decisions, "refusals": self.refusals, "spent": spent_json(&self.spent),
            "branch": self.branch, "commit": self.result.as_str(), "base": self.base.as_str(), "files_changed": self.files,
        })
    }

    /// For the end of a run.
    pub(crate) fn text(&self) -> Text {
        let mut text = Text::default();
        text.push("\n");
        text.paint(HEADING, format!("{}: {}", self.title, self.status));
        text.push("\n");
        for group in &self.groups {
            text.push("  ");
            text.paint(NAME, format!("{:<16}", sanitise::line(&group.id)));
            let merged =
                group.merged.as_ref().map_or(String::new(), |commit| format!("  merged as {}", commit.short()));
            let _ = writeln!(text, " {:<22} {}{merged}  {}", group.status.name(), cost(&group.spent), group.title);
        }
        let _ = writeln!(text, "  {} decisions, {} refusals, {}", self.lines.len(), self.refusals, cost(&self.spent));
        let _ = writeln!(
            text,
            "\n  result   branch {} ({}, {} files changed)",
            self.branch,
            self.result.short(),
            self.files
        );
        let _ = writeln!(text, "  see      git diff {}...{}", self.base.short(), self.branch);
        let _ = writeln!(text, "  take     git merge {}", self.branch);
        let _ = writeln!(text, "  why      interlock log {}; interlock why {}.d1", self.session, self.session);
        text
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
        let _ = write!(
            text,
            "\nAltogether {}. The result is on branch `{}` ({}), {} files against {}.\n\n## Decisions\n\n",
            cost(&self.spent),
            self.branch,
            self.result.short(),
            self.files,
            self.base.short()
        );
        text.push_str(
            "| decision | group | what happened | what followed | rule | because |\n|---|---|---|---|---|---|\n",
        );
        for line in &self.lines {
            let because: Vec<String> = line.because.iter().map(|because| plain(because)).collect();
            let group = line.group.as_ref().map_or_else(|| "–".to_owned(), |group| plain(group));
            let (what, follows, rule) = (plain(&line.what), plain(&line.follows), plain(&line.rule));
            let _ = writeln!(
                text,
                "| {} | {group} | {what} | {follows} | `{rule}` | {} |",
                line.decision,
                because.join("; ")
            );
        }
        text
    }
}

/// Every decision of the session, from its log.
fn decisions(engine: &mut Engine, session: &Name) -> Result<(Vec<Line>, usize), Error> {
    let (mut lines, mut refusals) = (Vec::new(), 0);
    for event in engine.history(session)? {
        if matches!(event.cause, Cause::Refused(_)) {
            refusals += 1;
        }
        let Some(decision) = &event.decision else { continue };
        let mut follows = decision.action.name().to_owned();
        for next in &decision.next {
            follows.push_str(&format!(" {}", next.role));
        }
        if let Some(put) = &decision.question {
            follows.push_str(&format!(" {}", put.name));
        }
        let group = decision.next.iter().find_map(|next| next.group.clone());
        lines.push(Line {
            decision: format!("{session}.{}", decision.id),
            group,
            what: said("", &event.cause).trim().to_owned(),
            follows,
            rule: decision.rule.clone(),
            because: decision.because.clone(),
        });
    }
    Ok((lines, refusals))
}

fn cost(spent: &Spent) -> String {
    let mut text = format!("{} turns, {}", spent.turns, clock_of(spent.time));
    let tokens = spent.usage.input_tokens.saturating_add(spent.usage.output_tokens);
    if tokens > 0 {
        text.push_str(&format!(", {tokens} tokens"));
    }
    if let Some(cost) = spent.usage.cost {
        text.push_str(&format!(", ${cost:.2}"));
    }
    text
}

fn spent_json(spent: &Spent) -> Json {
    json!({
        "turns": spent.turns, "seconds": spent.time.as_secs_f64(), "input_tokens": spent.usage.input_tokens,
        "output_tokens": spent.usage.output_tokens, "cost_usd": spent.usage.cost,
    })
}

/// For a cell of a table: one line, nothing that Markdown obeys.
fn plain(text: &str) -> String {
    let text = sanitise::line(text);
    text.chars()
        .flat_map(|character| match character {
            '|' | '<' | '>' | '`' | '*' | '_' | '[' | ']' => vec!['\\', character],
            other => vec![other],
        })
        .collect()
}
