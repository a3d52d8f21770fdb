//! Verifies the event log: every seal, every number, what events were given, the tables and the schema.

mod chain;
mod head;
mod pinned;
mod tables;

use std::fmt;
use std::thread;

use interlock_core::id::Name;
use serde::Serialize;

use crate::AttachmentCounts;
use crate::SessionHead;
use crate::Store;
use crate::StoreResult;
use crate::StoreView;
use crate::chain::ChainKey;
use crate::rows::SessionRow;
use crate::table::ProjectedTables;

pub use head::ChainHead;

/// The kind of change that was made to the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditProblemKind {
    Changed,
    Added,
    Dropped,
    Reordered,
    Truncated,
    Signature,
    Schema,
    Projection,
}

impl fmt::Display for AuditProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AuditProblem {
    /// `None`: the store as a whole.
    pub session: Option<Name>,
    pub seq: Option<u64>,
    pub kind: AuditProblemKind,
    pub text: String,
}

/// The result of an audit.
#[derive(Clone, Debug, Default)]
pub struct AuditReport {
    pub events: u64,
    /// The attachments and prompts of these events.
    kept: AttachmentCounts,
    pub problems: Vec<AuditProblem>,
}

impl AuditReport {
    pub fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    fn merge(&mut self, other: AuditReport) {
        self.events += other.events;
        self.kept.attachments += other.kept.attachments;
        self.kept.prompts += other.kept.prompts;
        self.problems.extend(other.problems);
    }
}

/// A session whose chain holds, folded.
pub struct SessionProjection {
    pub session: SessionHead,
    pub fold: ProjectedTables,
    pub row: SessionRow,
    /// The event that pinned its workflow.
    pinned: u64,
    /// The problem of the session's snapshot.
    snapshot: Option<AuditProblem>,
    pub report: AuditReport,
}

/// Opens the store once more, for another thread to read.
pub type StoreOpener<'a> = &'a (dyn Fn() -> StoreResult<Box<dyn Store>> + Sync);

/// Looks at these sessions with as many threads as there are processors, and at the schema.
pub fn verify(
    open: StoreOpener<'_>,
    key: &ChainKey,
    sessions: &[SessionHead],
    heads: &[ChainHead],
) -> StoreResult<AuditReport> {
    let mut report = AuditReport::default();
    let mut store = open()?;
    let (schema, folded) = thread::scope(|scope| {
        // SQLite looks at every page for this: beside it, not before it.
        let schema = scope.spawn(|| store.view()?.schema());
        let folded = each_session(open, sessions, |view, session| {
            fold(view, key, session, heads).map(|folded| (folded.report, folded.pinned))
        });
        (joined(schema), folded)
    });
    let (schema, folded) = (schema?, folded?);
    let of_schema = |text| AuditProblem { session: None, seq: None, kind: AuditProblemKind::Schema, text };
    report.problems.extend(schema.into_iter().map(of_schema));
    let mut pinned = Vec::new();
    for (found, by) in folded {
        report.merge(found);
        pinned.push(by);
    }
    report.problems.extend(pinned::compare(&mut *store.view()?, sessions, &pinned)?);
    report.problems.extend(strays(&mut *store.view()?, sessions, report.kept)?);
    // A head of a session that was not asked about says nothing, as long as that session is there.
    let unasked = heads.iter().filter(|head| sessions.iter().all(|session| session.id != head.session));
    for head in unasked {
        if store.view()?.session(&head.session)?.is_none() {
            report.problems.push(head.gone());
        }
    }
    Ok(report)
}

/// Rows that belong to no session, or to no event.
fn strays(
    view: &mut dyn StoreView,
    looked_at: &[SessionHead],
    seen: AttachmentCounts,
) -> StoreResult<Vec<AuditProblem>> {
    let lost = view.lost_sessions()?.into_iter();
    let lost = lost.map(|(table, count)| format!("sessions that are gone, with rows in {table} still there: {count}"));
    let mut texts: Vec<(AuditProblemKind, String)> = lost.map(|text| (AuditProblemKind::Dropped, text)).collect();
    // An audit of selected sessions cannot check the totals. Where other processes write, more may have come since.
    let kept = view.count_attachments()?;
    let all = view.sessions()?;
    let still = all.len() == looked_at.len() && all.iter().zip(looked_at).all(|(now, then)| now.seq == then.seq);
    if still && kept != seen {
        let text = format!(
            "what lies beside events belongs to none: {} of {} attachments, {} of {} prompts are theirs",
            seen.attachments, kept.attachments, seen.prompts, kept.prompts
        );
        texts.push((AuditProblemKind::Added, text));
    }
    Ok(texts.into_iter().map(|(kind, text)| AuditProblem { session: None, seq: None, kind, text }).collect())
}

/// Holds one session against its events, and folds them.
pub fn fold(
    view: &mut dyn StoreView,
    key: &ChainKey,
    session: &SessionHead,
    heads: &[ChainHead],
) -> StoreResult<SessionProjection> {
    let heads: Vec<&ChainHead> = heads.iter().filter(|head| head.session == session.id).collect();
    let snapshot = view.snapshot(session.key)?;
    let mut walk = chain::ChainVerifier::new(key, session, &heads, snapshot.as_ref());
    view.chain(session.key, &mut |link| walk.take(link))?;
    let mut folded = walk.end(session);
    // Where the chain is broken the tables cannot be right, and say nothing new.
    if folded.report.is_valid() {
        folded.report.problems.extend(tables::compare(view, session, &folded.fold, &folded.row)?);
    }
    folded.report.problems.extend(folded.snapshot.take());
    Ok(folded)
}

/// Does the same for every session, the work shared out.
fn each_session<T: Send>(
    open: StoreOpener<'_>,
    sessions: &[SessionHead],
    work: impl Fn(&mut dyn StoreView, &SessionHead) -> StoreResult<T> + Sync,
) -> StoreResult<Vec<T>> {
    let hands = thread::available_parallelism().map_or(1, usize::from).min(sessions.len()).max(1);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let one = || -> StoreResult<Vec<(usize, T)>> {
        let mut store = open()?;
        let mut view = store.view()?;
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(session) = sessions.get(index) else { return Ok(done) };
            // It may have moved on since.
            let now = view.session(&session.id)?;
            done.push((index, work(&mut *view, now.as_ref().unwrap_or(session))?));
        }
    };
    let mut done = thread::scope(|scope| {
        let hands: Vec<_> = (0..hands).map(|_| scope.spawn(one)).collect();
        let done: StoreResult<Vec<_>> = hands.into_iter().map(joined).collect();
        done.map(|done| done.into_iter().flatten().collect::<Vec<_>>())
    })?;
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, done)| done).collect())
}

fn joined<T>(hand: thread::ScopedJoinHandle<'_, T>) -> T {
    hand.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
