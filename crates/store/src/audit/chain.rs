//! Walks along a chain, and says where it is broken and how.

use interlock_core::event::{Event, EventCause};
use interlock_core::id::{Digest, Name, Timestamp};
use interlock_core::state::State;

use crate::ChainLink;
use crate::SessionHead;
use crate::Snapshot;
use crate::audit::{AuditProblem, AuditProblemKind, AuditReport, ChainHead, SessionProjection};
use crate::chain::{self, BEGINNING, ChainKey, Seal, SealedContent};
use crate::rows::{self, SessionRow};
use crate::table::ProjectedTables;

/// The verification state that one event of the chain passes on to the next.
pub(super) struct ChainVerifier<'a> {
    key: &'a ChainKey,
    session: Name,
    heads: Vec<&'a ChainHead>,
    /// As far as the log goes, or went.
    last: u64,
    /// How often an event was looked for elsewhere.
    searches: u32,
    /// The number and the seal of the event before.
    seq: u64,
    head: Seal,
    /// Its own seal did not fit: what follows tells whether it was changed or put in.
    doubtful: Option<BrokenSeal>,
    state: State,
    fold: ProjectedTables,
    lapsed: u64,
    row: Option<SessionRow>,
    /// Of the first event and of the last.
    times: (Timestamp, Timestamp),
    snapshot: Option<&'a Snapshot>,
    /// The event that pinned its workflow.
    pinned: u64,
    /// The seal of the event that the snapshot was taken at.
    taken_at: Option<Seal>,
    report: AuditReport,
}

/// An event whose seal does not fit.
struct BrokenSeal {
    seq: u64,
    kind: String,
    hash: Seal,
    /// The seal of the event before it.
    before: Seal,
}

impl<'a> ChainVerifier<'a> {
    pub(super) fn new(
        key: &'a ChainKey,
        session: &SessionHead,
        heads: &[&'a ChainHead],
        snapshot: Option<&'a Snapshot>,
    ) -> Self {
        Self {
            key,
            session: session.id.clone(),
            heads: heads.to_vec(),
            last: heads.iter().map(|head| head.seq).chain([session.seq]).max().unwrap_or(0).saturating_add(1),
            searches: 0,
            seq: 0,
            head: BEGINNING,
            doubtful: None,
            state: State::default(),
            fold: ProjectedTables::default(),
            lapsed: 0,
            row: None,
            times: (Timestamp(0), Timestamp(0)),
            snapshot,
            pinned: 1,
            taken_at: None,
            report: AuditReport::default(),
        }
    }

    pub(super) fn take(&mut self, link: &ChainLink<'_>) {
        self.report.events += 1;
        self.report.kept.attachments += u64::from(link.attachment.is_some());
        self.report.kept.prompts += u64::from(link.prompt.is_some());
        self.times = (if self.seq == 0 { link.at } else { self.times.0 }, link.at);
        self.settle_doubt(Some(link));
        if link.seq <= self.seq {
            // Possible only if the unique index on the sequence number was dropped.
            let text = format!("there is a second event {} ({})", link.seq, link.kind);
            return self.problem(Some(link.seq), AuditProblemKind::Added, text);
        }
        if link.seq != self.seq + 1 {
            let text = match link.seq - self.seq - 1 {
                1 => format!("event {} is gone", self.seq + 1),
                _ => format!("events {} to {} are gone", self.seq + 1, link.seq - 1),
            };
            self.problem(Some(self.seq + 1), AuditProblemKind::Dropped, text);
            self.head = link.prev;
        }
        if !self.fits(link, link.seq) {
            self.doubt(link);
        } else if link.prev != self.head {
            let text = format!("event {} does not follow the one before it", link.seq);
            self.problem(Some(link.seq), AuditProblemKind::Reordered, text);
        } else {
            self.look_inside(link);
        }
        self.pinned(link);
        if self.snapshot.is_some_and(|snapshot| snapshot.seq == link.seq) {
            self.taken_at = Some(link.hash);
        }
        (self.seq, self.head) = (link.seq, link.hash);
    }

    fn fits(&self, link: &ChainLink<'_>, seq: u64) -> bool {
        let sealed = SealedContent {
            session: &self.session,
            seq,
            kind: link.kind,
            at: link.at,
            decision: link.decision,
            data: link.data,
            says: link.says,
            given: link.given,
        };
        self.key.event(&sealed, &link.prev) == link.hash
    }

    /// The seal does not fit. If it fits another number, the event stood elsewhere.
    fn doubt(&mut self, link: &ChainLink<'_>) {
        // Limits the search, so that a log that is corrupted throughout cannot keep the audit busy for ever.
        const FARTHEST: u64 = 10_000;
        const SEARCHES: u32 = 64;
        self.searches = self.searches.saturating_add(1);
        let last = self.last.min(link.seq.saturating_add(FARTHEST));
        let mut near = link.seq.saturating_sub(FARTHEST).max(1)..=last;
        if let Some(place) = near.find(|seq| self.searches <= SEARCHES && self.fits(link, *seq)) {
            let text = format!("event {} stood at {place} before", link.seq);
            self.problem(Some(link.seq), AuditProblemKind::Reordered, text);
            return;
        }
        let kind = link.kind.to_owned();
        self.doubtful = Some(BrokenSeal { seq: link.seq, kind, hash: link.hash, before: self.head });
    }

    /// Classifies a doubtful event by the event that follows it.
    fn settle_doubt(&mut self, next: Option<&ChainLink<'_>>) {
        let Some(BrokenSeal { seq, kind, hash, before }) = self.doubtful.take() else { return };
        match next {
            Some(next) if next.prev == before && next.prev != hash => {
                let text = format!("event {seq} ({kind}) was put in: the next one does not know it");
                self.problem(Some(seq), AuditProblemKind::Added, text);
            }
            Some(_) | None => {
                let text = format!("event {seq} ({kind}) has been changed: its seal does not fit");
                self.problem(Some(seq), AuditProblemKind::Changed, text);
            }
        }
    }

    /// The seal fits: what the event says, what it was given, and what follows from it.
    fn look_inside(&mut self, link: &ChainLink<'_>) {
        let Ok(event) = serde_json::from_str::<Event>(link.data) else {
            return self.problem(
                Some(link.seq),
                AuditProblemKind::Changed,
                format!("event {} cannot be read", link.seq),
            );
        };
        let given = link.attachment.map(|body| chain::hash_attachment(body.as_bytes()));
        self.given(link.seq, "what event", given, link.given);
        let told = match &event.cause {
            EventCause::Claimed { prompt, .. } => *prompt,
            _ => None,
        };
        let prompt = link.prompt.map(|body| Digest::of(body.as_bytes()));
        self.given(link.seq, "the prompt of event", prompt, told);
        if let EventCause::Upgraded { .. } = event.cause {
            self.pinned = link.seq;
        }
        self.state.apply(&event);
        let written = rows::project_event(&event, &self.state);
        self.state.drop_closed(&event);
        if written.says != link.says {
            let text = format!("what event {} says for the guards is not what it does", link.seq);
            self.problem(Some(link.seq), AuditProblemKind::Changed, text);
        }
        self.lapsed = self.lapsed.max(written.session.lapsed);
        written.rows.into_iter().for_each(|write| self.fold.apply_write(write));
        self.row = Some(written.session);
    }

    fn given<T: PartialEq>(&mut self, seq: u64, what: &str, found: Option<T>, said: Option<T>) {
        if found == said {
            return;
        }
        let (kind, how) = match (found, said) {
            (None, Some(_)) => (AuditProblemKind::Dropped, "is gone"),
            (Some(_), None) => (AuditProblemKind::Added, "was put in"),
            (Some(_) | None, _) => (AuditProblemKind::Changed, "has been changed"),
        };
        let was_given = if what.starts_with("what") { " was given" } else { "" };
        self.problem(Some(seq), kind, format!("{what} {seq}{was_given} {how}"));
    }

    /// Holds the event against heads that were kept elsewhere.
    fn pinned(&mut self, link: &ChainLink<'_>) {
        let differs = self.heads.iter().any(|head| head.seq == link.seq && head.hash != link.hash);
        if differs {
            let text = format!("event {} is not the one whose head was exported", link.seq);
            self.problem(Some(link.seq), AuditProblemKind::Changed, text);
        }
    }

    pub(super) fn end(mut self, session: &SessionHead) -> SessionProjection {
        if let Some(doubt) = &self.doubtful
            && session.seq + 1 == doubt.seq
            && session.head == doubt.before
        {
            let text = format!("event {} ({}) was put in after the end", doubt.seq, doubt.kind);
            let seq = Some(doubt.seq);
            self.doubtful = None;
            self.problem(seq, AuditProblemKind::Added, text);
        }
        self.settle_doubt(None);
        let exported = self.heads.iter().map(|head| head.seq).max().unwrap_or(0);
        let kept = self.snapshot.map_or(0, |snapshot| snapshot.seq);
        let longest = session.seq.max(exported).max(kept);
        if longest > self.seq {
            let first = self.seq + 1;
            let how = if session.seq > self.seq {
                "the session was there"
            } else if exported > self.seq {
                "its head was exported there"
            } else {
                "a snapshot was taken there"
            };
            let text = format!("the log ends at event {}, and went on to {longest}: {how}", self.seq);
            self.problem(Some(first), AuditProblemKind::Truncated, text);
        } else if self.seq == 0 {
            self.problem(Some(1), AuditProblemKind::Truncated, "no event of the session is left".to_owned());
        } else if self.report.is_valid() && (session.seq, session.head) != (self.seq, self.head) {
            let text = format!("the session says that its last event is {}, and there are {}", session.seq, self.seq);
            self.problem(Some(session.seq), AuditProblemKind::Projection, text);
        } else if self.report.is_valid() && (session.started_at, session.updated_at) != self.times {
            let text = "the times of the session are not those of its first and last event".to_owned();
            self.problem(None, AuditProblemKind::Projection, text);
        }
        let snapshot = self.snapshot_problem();
        let row = self.row.unwrap_or_else(|| rows::project_event(&nothing(), &State::default()).session);
        let row = SessionRow { lapsed: self.lapsed, ..row };
        SessionProjection {
            session: session.clone(),
            fold: self.fold,
            row,
            pinned: self.pinned,
            snapshot,
            report: self.report,
        }
    }

    /// A snapshot that was not sealed at its event is never used, so its presence means tampering.
    fn snapshot_problem(&self) -> Option<AuditProblem> {
        let (snapshot, head) = (self.snapshot?, self.taken_at?);
        if self.key.snapshot(&self.session, &head, &snapshot.data) == snapshot.seal {
            return None;
        }
        let text = format!("the snapshot at event {} has been changed: its seal does not fit", snapshot.seq);
        Some(AuditProblem {
            session: Some(self.session.clone()),
            seq: Some(snapshot.seq),
            kind: AuditProblemKind::Projection,
            text,
        })
    }

    fn problem(&mut self, seq: Option<u64>, kind: AuditProblemKind, text: String) {
        self.report.problems.push(AuditProblem { session: Some(self.session.clone()), seq, kind, text });
    }
}

/// For a session of which no event is left.
fn nothing() -> Event {
    let (at, changes) = (Timestamp(0), Vec::new());
    Event { at, cause: EventCause::Cancelled { by: Name::new("") }, decision: None, changes, handoff: None }
}
