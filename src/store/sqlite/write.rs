//! What is written, one statement a table.

use interlock_core::code::Code;
use interlock_core::id::{Digest, Name, Timestamp};
use interlock_core::state::{Assignment, Finding, FindingStatus, Question};
use interlock_core::workflow::{Requirements, Task};
use rusqlite::{Params, named_params, params};
use serde_json::json;

use crate::store::rows::{
    AssignmentRow, BlockRow, CounterRow, EvidenceRow, FindingRow, GroupRow, QuestionRow, ResolvedRow, Row, SESSION,
    SessionRow, milliseconds,
};
use crate::store::sqlite::{Tx, corrupt, signed};
use crate::store::{Append, Fault, Pinned, Snapshot, Stored, Transaction};

/// A row's place: its session, and the event that writes it.
#[derive(Clone, Copy)]
struct At {
    session: i64,
    seq: i64,
}

impl Transaction for Tx<'_> {
    fn pin_workflow(&mut self, hash: Digest, pinned: &Pinned, needs: &Requirements) -> Stored<()> {
        let hash = hash.to_string();
        let known = self.count("SELECT count(*) FROM workflows WHERE hash = ?1", [&hash])?;
        if known > 0 {
            return self.needs_as_pinned(&hash, needs);
        }
        for (clause, kind, name) in clauses(needs) {
            let row = params![hash, clause, kind, name.as_str()];
            self.run("INSERT INTO needs (workflow, clause, kind, name) VALUES (?1, ?2, ?3, ?4)", row)?;
        }
        let sources = json!(pinned.sources).to_string();
        let row = params![hash, pinned.name.as_str(), sources];
        self.run("INSERT INTO workflows (hash, name, sources) VALUES (?1, ?2, ?3)", row)?;
        Ok(())
    }

    fn begin_session(&mut self, id: &str, at: Timestamp) -> Stored<i64> {
        let head = crate::store::chain::BEGINNING;
        self.run(
            "INSERT INTO sessions (id, title, workflow, workflow_hash, status, started_at, updated_at, lapsed, seq, head)
             VALUES (?1, '', '', '', 'active', ?2, ?2, 0, 0, ?3)",
            params![id, at.0, head.as_bytes()],
        )?;
        Ok(self.tx.last_insert_rowid())
    }

    fn append(&mut self, append: &Append<'_>) -> Stored<()> {
        let at = At { session: append.session, seq: signed(append.seq) };
        let written = self.run(
            "INSERT INTO events (session, seq, kind, at, decision, data, prev, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                at.session,
                at.seq,
                append.kind,
                append.at.0,
                append.decision,
                append.data,
                append.prev.as_bytes(),
                append.hash.as_bytes()
            ],
        )?;
        if written != 1 {
            // A trigger that somebody added may have it passed over in silence.
            return Err(corrupt("an event was not taken in"));
        }
        let event = self.tx.last_insert_rowid();
        if let Some(body) = append.attachment {
            self.run("INSERT INTO attachments (event, body) VALUES (?1, ?2)", params![event, body])?;
        }
        if let Some(body) = append.prompt {
            self.run("INSERT INTO prompts (event, body) VALUES (?1, ?2)", params![event, body])?;
        }
        for row in &append.rows.rows {
            self.row(at, row)?;
        }
        self.session_row(at, &append.rows.session)
    }

    fn put_snapshot(&mut self, session: i64, snapshot: &Snapshot) -> Stored<()> {
        let row = params![session, signed(snapshot.seq), snapshot.data, snapshot.seal.as_bytes()];
        self.run("INSERT OR REPLACE INTO snapshots (session, seq, data, seal) VALUES (?1, ?2, ?3, ?4)", row)?;
        Ok(())
    }

    fn mark(&mut self) -> Stored<()> {
        self.run("SAVEPOINT one", []).map(drop)
    }

    fn keep(&mut self) -> Stored<()> {
        self.run("RELEASE one", []).map(drop)
    }

    fn undo(&mut self) -> Stored<()> {
        self.run("ROLLBACK TO one", [])?;
        self.run("RELEASE one", []).map(drop)
    }

    fn commit(self: Box<Self>) -> Stored<()> {
        let Self { tx, path } = *self;
        tx.commit().map_err(|error| super::trouble(path, &error))
    }
}

impl Tx<'_> {
    fn run(&self, sql: &str, values: impl Params) -> Stored<usize> {
        let mut statement = self.tx.prepare_cached(sql).map_err(|error| self.trouble(&error))?;
        statement.execute(values).map_err(|error| self.trouble(&error))
    }

    fn count(&self, sql: &str, values: impl Params) -> Stored<i64> {
        let mut statement = self.tx.prepare_cached(sql).map_err(|error| self.trouble(&error))?;
        statement.query_row(values, |row| row.get(0)).map_err(|error| self.trouble(&error))
    }

    /// Somebody may have written them, or left some out, before the workflow was pinned.
    fn needs_as_pinned(&self, hash: &str, needs: &Requirements) -> Stored<()> {
        let sql = "SELECT count(*) FROM needs WHERE workflow = ?1 AND clause = ?2 AND kind = ?3 AND name = ?4";
        let clauses = clauses(needs);
        let mut known = 0;
        for (clause, kind, name) in &clauses {
            known += self.count(sql, params![hash, clause, kind, name.as_str()])?;
        }
        let all = self.count("SELECT count(*) FROM needs WHERE workflow = ?1", [hash])?;
        if known == all && usize::try_from(all) == Ok(clauses.len()) {
            return Ok(());
        }
        let message = format!("what workflow {hash} needs is not in the store as it was pinned");
        Err(Fault::new(Code::PinnedChanged, message).help("nothing is started with it; restore a backup"))
    }

    fn session_row(&self, at: At, row: &SessionRow) -> Stored<()> {
        let SessionRow { status, workflow, workflow_hash, title, lapses } = row;
        let sql = "UPDATE sessions SET status = :status, title = :title, workflow = :workflow, workflow_hash = :hash,
                          lapsed = iif(:lapses, :seq, lapsed)
                    WHERE key = :key AND (status <> :status OR workflow_hash <> :hash OR :lapses)";
        let hash = workflow_hash.to_string();
        let values = named_params! {
            ":key": at.session, ":status": status, ":title": title.as_str(), ":workflow": workflow.as_str(),
            ":hash": hash, ":lapses": lapses, ":seq": at.seq,
        };
        self.run(sql, values).map(drop)
    }

    fn row(&self, at: At, row: &Row) -> Stored<()> {
        match row {
            Row::Group(row) => self.group(at, row),
            Row::Assignment(row) => self.assignment(at, row),
            Row::Question(row) => self.question(at, row),
            Row::Evidence(EvidenceRow { group, kind, name }) => {
                let sql = "INSERT INTO evidence (session, grp, kind, name, seq) VALUES (?1, ?2, ?3, ?4, ?5)";
                self.run(sql, params![at.session, group.as_str(), kind, name.as_str(), at.seq]).map(drop)
            }
            Row::Block(BlockRow { group, part, role, reason }) => {
                let sql = "INSERT INTO blocks (session, grp, seq, part, role, reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
                let reason = reason.as_deref();
                self.run(sql, params![at.session, group.as_str(), at.seq, part, role.as_str(), reason]).map(drop)
            }
            Row::Resolved(ResolvedRow { group, part, role, by }) => {
                let sql = "UPDATE blocks SET resolved = ?5, resolution = ?6
                            WHERE session = ?1 AND grp = ?2 AND part = ?3 AND role = ?4 AND resolved IS NULL AND seq < ?5";
                self.run(sql, params![at.session, group.as_str(), part, role.as_str(), at.seq, by]).map(drop)
            }
            Row::Counter(row) => self.counter(at, row),
            Row::Finding(row) => self.finding(at, row),
        }
    }

    fn group(&self, at: At, row: &GroupRow) -> Stored<()> {
        let sql = if row.new {
            "INSERT INTO groups (session, id, title, status, role, attempt, ever_blocked, checks, acknowledged, lapsed, seq)
             VALUES (:session, :id, :title, :status, :role, :attempt, :ever_blocked, :checks, :acknowledged,
                     iif(:lapses, :seq, 0), :seq)"
        } else {
            "UPDATE groups SET title = :title, status = :status, role = coalesce(:role, role),
                    attempt = iif(:role IS NULL, attempt, :attempt), ever_blocked = :ever_blocked, checks = :checks,
                    acknowledged = :acknowledged, lapsed = iif(:lapses, :seq, lapsed), seq = :seq
              WHERE session = :session AND id = :id"
        };
        let values = named_params! {
            ":session": at.session, ":id": row.id.as_str(), ":title": row.title.as_str(), ":status": row.status,
            ":role": row.role.as_deref(), ":attempt": row.attempt, ":ever_blocked": row.ever_blocked,
            ":checks": row.checks, ":acknowledged": row.acknowledged.as_deref(), ":lapses": row.lapses, ":seq": at.seq,
        };
        self.run(sql, values).map(drop)
    }

    fn assignment(&self, at: At, row: &AssignmentRow) -> Stored<()> {
        let Assignment { group, part, phase, role, task, attempt, token, lease_until, closed } = &row.assignment;
        let digest = closed.and_then(|closed| closed.digest);
        let decision = closed.map(|closed| closed.decision.0);
        if !row.new {
            let sql = "UPDATE assignments SET attempt = ?3, status = ?4, token = ?5, lease_until = ?6, digest = ?7,
                              decision = ?8, seq = ?9
                        WHERE session = ?1 AND n = ?2";
            let values = params![
                at.session,
                row.id.0,
                attempt,
                row.status(),
                token.as_ref().map(Digest::as_bytes),
                milliseconds(*lease_until),
                digest.as_ref().map(Digest::as_bytes),
                decision,
                at.seq
            ];
            return self.run(sql, values).map(drop);
        }
        let sql =
            "INSERT INTO assignments (session, n, grp, part, phase, role, task, attempt, status, decision, opened, seq)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11)";
        let group = group.as_deref().unwrap_or(SESSION);
        let values = params![
            at.session,
            row.id.0,
            group,
            part,
            phase.as_deref(),
            role.as_str(),
            task_name(*task),
            attempt,
            row.status(),
            decision,
            at.seq
        ];
        self.run(sql, values).map(drop)
    }

    fn question(&self, at: At, row: &QuestionRow) -> Stored<()> {
        if !row.new {
            let sql = "UPDATE questions SET status = ?3, answer = ?4, by = ?5, seq = ?6 WHERE session = ?1 AND n = ?2";
            let (answer, by) = (row.answer.as_deref(), row.by.as_deref());
            return self.run(sql, params![at.session, row.id.0, row.status(), answer, by, at.seq]).map(drop);
        }
        let Question { name, group, part, text, options, asker, stopped, .. } = &row.question;
        let sql = "INSERT INTO questions (session, n, name, grp, part, text, options, asker, stopped, status, seq)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        let values = params![
            at.session,
            row.id.0,
            name.as_str(),
            group.as_deref().unwrap_or(SESSION),
            part,
            text.as_str(),
            json!(options).to_string(),
            asker.as_ref().map(|asker| json!(asker).to_string()),
            stopped.as_ref().map(|stopped| json!(stopped).to_string()),
            row.status(),
            at.seq
        ];
        self.run(sql, values).map(drop)
    }

    fn counter(&self, at: At, row: &CounterRow) -> Stored<()> {
        let CounterRow { group, counted, role, iteration, no_progress, measure } = row;
        let sql = "UPDATE counters SET iteration = ?5, no_progress = ?6, measure = ?7, seq = ?8
                    WHERE session = ?1 AND grp = ?2 AND loop = ?3 AND role = ?4";
        let key = (at.session, group.as_str(), counted.as_str(), role.as_str());
        let values = params![key.0, key.1, key.2, key.3, iteration, no_progress, measure, at.seq];
        if self.run(sql, values)? > 0 {
            return Ok(());
        }
        let sql = "INSERT INTO counters (session, grp, loop, role, iteration, no_progress, measure, seq)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.run(sql, params![key.0, key.1, key.2, key.3, iteration, no_progress, measure, at.seq]).map(drop)
    }

    fn finding(&self, at: At, row: &FindingRow) -> Stored<()> {
        let Finding { id, location, title, severity, blocking, raised_by, status, response } = &row.finding;
        let response = response.as_ref().map(|response| json!(response).to_string());
        let severity = json!(severity);
        let values = named_params! {
            ":session": at.session, ":grp": row.group.as_str(), ":n": row.number, ":id": id.as_str(),
            ":title": title.as_str(), ":location": location.as_str(), ":severity": severity.as_str(),
            ":blocking": blocking, ":raised_by": raised_by.as_str(), ":status": finding_status(*status),
            ":response": response, ":seq": at.seq,
        };
        let update = "UPDATE findings SET id = :id, title = :title, location = :location, severity = :severity,
                             blocking = :blocking, raised_by = :raised_by, status = :status, response = :response,
                             seq = :seq
                       WHERE session = :session AND grp = :grp AND n = :n";
        if self.run(update, values)? > 0 {
            return Ok(());
        }
        let insert =
            "INSERT INTO findings (session, grp, n, id, title, location, severity, blocking, raised_by, status,
                                            response, seq)
                      VALUES (:session, :grp, :n, :id, :title, :location, :severity, :blocking, :raised_by, :status,
                              :response, :seq)";
        self.run(insert, values).map(drop)
    }
}

/// Each clause of the needs, numbered, with the names that satisfy it.
fn clauses(needs: &Requirements) -> Vec<(u32, &'static str, Name)> {
    let mut rows = Vec::new();
    let mut clause = 0;
    let mut next = || {
        clause += 1;
        clause
    };
    for options in &needs.needs {
        let clause = next();
        rows.extend(options.iter().map(|name| (clause, "pass", name.clone())));
    }
    for (gate, runs_the_plan) in &needs.gates {
        rows.push((next(), if *runs_the_plan { "checks" } else { "gate" }, gate.clone()));
    }
    if needs.confirm_once_blocked {
        rows.push((next(), "confirmed", Name::new("confirmed")));
    }
    rows.extend(needs.session_gates.iter().map(|gate| (next(), "session_gate", gate.clone())));
    rows
}

pub(super) fn task_name(task: Task) -> &'static str {
    match task {
        Task::Work => "work",
        Task::Consult => "consult",
        Task::Merge => "merge",
    }
}

fn finding_status(status: FindingStatus) -> &'static str {
    match status {
        FindingStatus::Open => "open",
        FindingStatus::Closed => "closed",
        FindingStatus::Accepted => "accepted",
    }
}
