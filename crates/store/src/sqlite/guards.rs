//! The guards: triggers that hold for every writer, the `sqlite3` program included.
//!
//! Each row below is one rule. Whatever breaks it fails, and is written down in `attempts` first (`RAISE(FAIL)` keeps what
//! came before it). All rules of one table and verb are one trigger, because each trigger is a program that SQLite sets up
//! anew for every row; a second one notes. Two things are used throughout:
//!
//! - a row may change only together with a new event: its `seq` moves on to the last event of its session, so a row
//!   that has been written for an event cannot be written for it again;
//! - what matters must be said by that event, word for word: `said[word, value…]` looks for a line of it
//!   (`store/said.rs`), at `NEW.session` and `NEW.seq` unless another place is named (`said@SESSION@SEQ[…]`). Events take a seal that only the program with
//!   the key can make. `interlock_sealed` is a function of its connection, which no other program has; it compares and
//!   never tells a seal, because a trigger that somebody adds runs in that connection as well.
//!
//! Nothing here relies on `CHECK`, foreign keys or the conflict clause of a statement: a pragma or an `OR REPLACE`
//! switches those off.

/// One rule: when it is broken, and what is said then.
struct TriggerGuard {
    name: &'static str,
    /// `INSERT`, `UPDATE` or `DELETE`, and the table.
    on: (&'static str, &'static str),
    /// Broken if this holds.
    when: &'static str,
    message: &'static str,
}

const fn guard(
    name: &'static str,
    verb: &'static str,
    table: &'static str,
    when: &'static str,
    message: &'static str,
) -> TriggerGuard {
    TriggerGuard { name, on: (verb, table), when, message }
}

/// Stands for the last event of the row's session.
const LAST: &str = "(SELECT seq FROM sessions WHERE key = NEW.session)";
/// Holds in every connection but the program's own, which tells `a` from `A` ([`KNOWN`]). Whoever does the same is not noted,
/// and refused as everybody is.
const ELSEWHERE: &str = "'a' LIKE 'A'";
/// The setting of the program's own connections that says that they are.
pub(super) const KNOWN: &str = "case_sensitive_like";
/// Never holds, and cannot even be asked but in a connection of the program.
const UNSEALED: &str = "interlock_sealed('', 0, '', 0, NULL, '', '', NULL, zeroblob(32), zeroblob(32)) IS NULL";

/// The group does without some evidence on this tree.
const EXCUSED: &str = "EXISTS (SELECT 1 FROM evidence x WHERE x.session = NEW.session AND x.grp = NEW.id AND x.kind = 'excused' AND x.seq >= NEW.lapsed)";
/// The excuse `v` does not cover a failure, and the group was accepted after it.
const EXCUSE_COUNTS: &str = "NOT EXISTS (SELECT 1 FROM evidence x WHERE x.session = NEW.session AND x.grp = NEW.id AND x.kind = 'failed' AND x.name = v.name AND x.seq >= NEW.lapsed)
    AND EXISTS (SELECT 1 FROM evidence x WHERE x.session = NEW.session AND x.grp = NEW.id AND x.kind = 'confirmed' AND x.seq >= v.seq)";

#[rustfmt::skip]
const GUARDS: &[TriggerGuard] = &[
    guard("store_is_one", "INSERT", "store", "EXISTS (SELECT 1 FROM store)", "a store is made once"),
    guard("store_stays", "UPDATE", "store", "1", "the keys of a store do not change"),
    guard("store_remains", "DELETE", "store", "1", "the keys of a store do not change"),

    guard("workflow_is_new", "INSERT", "workflows", "{UNSEALED} OR EXISTS (SELECT 1 FROM workflows WHERE hash = NEW.hash)", "this workflow is pinned already"),
    guard("workflow_stays", "UPDATE", "workflows", "1", "a pinned workflow does not change"),
    guard("workflow_remains", "DELETE", "workflows", "1", "a pinned workflow does not change"),
    guard("needs_come_first", "INSERT", "needs", "{UNSEALED} OR EXISTS (SELECT 1 FROM workflows WHERE hash = NEW.workflow) OR EXISTS (SELECT 1 FROM needs WHERE workflow = NEW.workflow AND clause = NEW.clause AND name = NEW.name)", "what a pinned workflow needs does not change"),
    guard("needs_stay", "UPDATE", "needs", "1", "what a pinned workflow needs does not change"),
    guard("needs_remain", "DELETE", "needs", "1", "what a pinned workflow needs does not change"),

    guard("event_follows", "INSERT", "events",
        "NEW.id IS NOT -1 AND EXISTS (SELECT 1 FROM events WHERE id = NEW.id)
         OR NOT EXISTS (SELECT 1 FROM sessions s WHERE s.key = NEW.session AND s.seq + 1 = NEW.seq AND s.head IS NEW.prev)",
        "an event follows the last one of its session, once"),
    guard("event_is_sealed", "INSERT", "events",
        "interlock_sealed((SELECT id FROM sessions WHERE key = NEW.session), NEW.seq, NEW.kind, NEW.at, NEW.decision, NEW.data, NEW.says, NEW.given, NEW.prev, NEW.hash) IS NOT 1",
        "an event needs the seal of the chain"),
    guard("event_stays", "UPDATE", "events", "1", "an event never changes"),
    guard("event_remains", "DELETE", "events", "1", "an event never goes"),

    guard("attachment_belongs", "INSERT", "attachments",
        "EXISTS (SELECT 1 FROM attachments WHERE event = NEW.event)
         OR NOT EXISTS (SELECT 1 FROM events e JOIN sessions s ON s.key = e.session AND s.seq = e.seq
                          WHERE e.id = NEW.event AND e.given IS NOT NULL)",
        "what an event was given comes with the event"),
    guard("attachment_stays", "UPDATE", "attachments", "1", "what was given in never changes"),
    guard("attachment_remains", "DELETE", "attachments", "1", "what was given in never goes"),
    guard("prompt_belongs", "INSERT", "prompts",
        "EXISTS (SELECT 1 FROM prompts WHERE event = NEW.event)
         OR NOT EXISTS (SELECT 1 FROM events e JOIN sessions s ON s.key = e.session AND s.seq = e.seq
                          WHERE e.id = NEW.event AND said@e.session@e.seq[told])",
        "a prompt comes with its claim"),
    guard("prompt_stays", "UPDATE", "prompts", "1", "what an agent was told never changes"),
    guard("prompt_remains", "DELETE", "prompts", "1", "what an agent was told never goes"),

    guard("session_begins", "INSERT", "sessions",
        "{UNSEALED} OR NEW.seq <> 0 OR NEW.status <> 'active' OR NEW.lapsed <> 0 OR EXISTS (SELECT 1 FROM sessions WHERE id = NEW.id OR key = NEW.key)",
        "a session begins with its first event"),
    guard("session_remains", "DELETE", "sessions", "1", "a session never goes"),
    guard("session_moves_by_events", "UPDATE", "sessions",
        "NEW.key <> OLD.key OR NEW.id <> OLD.id OR NEW.started_at <> OLD.started_at OR NEW.updated_at <> OLD.updated_at AND NEW.seq = OLD.seq
         OR (NEW.seq <> OLD.seq OR NEW.head IS NOT OLD.head)
            AND NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.key AND seq = NEW.seq AND hash IS NEW.head AND NEW.seq = OLD.seq + 1)
         OR NEW.lapsed <> OLD.lapsed
            AND (NEW.lapsed <> NEW.seq OR NEW.lapsed < OLD.lapsed
                 OR NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.key AND seq = NEW.seq AND (instr(says, '\nassigned ') OR instr(says, '\nended '))))",
        "a session moves on only by its events"),
    guard("session_status_is_decided", "UPDATE", "sessions",
        "NEW.status <> OLD.status AND NOT said@NEW.key@NEW.seq[session, NEW.status]
         AND NOT (OLD.status = 'validating' AND NEW.status = 'active' AND EXISTS (SELECT 1 FROM assignments a WHERE a.session = NEW.key AND a.opened = NEW.seq))",
        "the status of a session is decided, not set"),
    guard("session_end_is_final", "UPDATE", "sessions",
        "OLD.status IN ('completed', 'cancelled') AND NEW.status <> OLD.status", "a session that has ended stays so"),
    guard("session_completes_something", "UPDATE", "sessions",
        "NEW.status = 'completed' AND OLD.status <> 'completed'
         AND NOT EXISTS (SELECT 1 FROM groups g WHERE g.session = NEW.key AND g.status = 'completed')
         AND NOT EXISTS (SELECT 1 FROM evidence v WHERE v.session = NEW.key AND v.grp = ''
                           AND (v.kind = 'acknowledged' AND v.seq >= NEW.lapsed
                                OR v.kind = 'investigation' AND NOT EXISTS (SELECT 1 FROM groups g WHERE g.session = NEW.key)))",
        "a session in which nothing was completed ends only when a person has acknowledged that"),
    guard("session_completes_with_evidence", "UPDATE", "sessions",
        "NEW.status = 'completed' AND OLD.status <> 'completed'
         AND (EXISTS (SELECT 1 FROM groups g WHERE g.session = NEW.key AND g.status NOT IN ('completed', 'cancelled')
                        AND NOT (g.status = 'deferred_external' AND g.acknowledged IS NOT NULL))
              OR EXISTS (SELECT 1 FROM assignments a WHERE a.session = NEW.key AND a.status IN ('open', 'claimed'))
              OR EXISTS (SELECT 1 FROM needs n WHERE n.workflow = NEW.workflow_hash AND n.kind = 'session_gate'
                           AND NOT EXISTS (SELECT 1 FROM evidence v WHERE v.session = NEW.key AND v.grp = '' AND v.kind = 'gate' AND v.name = n.name AND v.seq >= NEW.lapsed)))",
        "a session cannot be completed before each of its groups is, or is deferred and acknowledged"),
    guard("session_keeps_its_workflow", "UPDATE", "sessions",
        "(NEW.workflow_hash <> OLD.workflow_hash OR NEW.workflow <> OLD.workflow OR NEW.title <> OLD.title)
         AND NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.key AND seq = NEW.seq
                AND NEW.workflow_hash IN (data ->> '$.cause.started.workflow_hash', data ->> '$.cause.upgraded.workflow_hash')
                AND NEW.workflow IN (data ->> '$.cause.started.workflow', data ->> '$.cause.upgraded.workflow')
                AND (NEW.title = OLD.title OR NEW.title = data ->> '$.cause.started.title'))",
        "a session is pinned to its workflow"),

    guard("group_is_planned", "INSERT", "groups",
        "EXISTS (SELECT 1 FROM groups WHERE session = NEW.session AND id = NEW.id) OR NEW.status IN ('completed', 'awaiting_confirmation')
         OR NEW.seq IS NOT {LAST} OR NOT said[planned, NEW.id]",
        "a group comes from a plan"),
    guard("group_remains", "DELETE", "groups", "1", "a group never goes"),
    guard("group_moves_by_events", "UPDATE", "groups",
        "NEW.session <> OLD.session OR NEW.id <> OLD.id OR NEW.seq <= OLD.seq OR NEW.seq IS NOT {LAST}
         OR NEW.ever_blocked < OLD.ever_blocked OR NEW.checks <> OLD.checks
         OR NEW.lapsed NOT IN (OLD.lapsed, NEW.seq) OR NEW.lapsed < OLD.lapsed
         OR NOT said[group, NEW.id]",
        "a group moves on only by events that speak of it"),
    guard("group_end_is_final", "UPDATE", "groups",
        "OLD.status IN ('completed', 'cancelled') AND NEW.status <> OLD.status", "a group that has ended stays so"),
    guard("group_stays_blocked", "UPDATE", "groups",
        "OLD.status = 'blocked' AND NEW.status NOT IN ('blocked', 'awaiting_person', 'deferred_external', 'cancelled')
         AND EXISTS (SELECT 1 FROM blocks b WHERE b.session = NEW.session AND b.grp = NEW.id AND b.resolved IS NULL)",
        "a blocked group goes on only when its block is resolved"),
    guard("group_end_is_decided", "UPDATE", "groups",
        "NEW.status IN ('completed', 'cancelled', 'deferred_external') AND NEW.status <> OLD.status
         AND NOT said[ended, NEW.id, NEW.status]",
        "the end of a group is decided, not set"),
    guard("group_completes_with_evidence", "UPDATE", "groups",
        "NEW.status = 'completed' AND OLD.status <> 'completed'
         AND EXISTS (SELECT 1 FROM needs n WHERE n.workflow = (SELECT workflow_hash FROM sessions WHERE key = NEW.session)
                       AND (n.kind IN ('pass', 'gate') OR n.kind = 'checks' AND NEW.checks OR n.kind = 'confirmed' AND (NEW.ever_blocked OR {EXCUSED}))
                     GROUP BY n.clause
                     HAVING NOT max(EXISTS (SELECT 1 FROM evidence v WHERE v.session = NEW.session AND v.grp = NEW.id
                                              AND v.kind = iif(n.kind = 'checks', 'gate', n.kind)
                                              AND (v.name = n.name OR n.kind = 'confirmed') AND v.seq >= NEW.lapsed)
                                    OR n.kind = 'pass' AND EXISTS (SELECT 1 FROM evidence v WHERE v.session = NEW.session AND v.grp = NEW.id
                                              AND (v.kind = 'spared' AND v.name = n.workflow || ' ' || n.clause
                                                   OR v.kind = 'excused' AND v.name = n.name AND v.seq >= NEW.lapsed AND {EXCUSE_COUNTS}))))",
        "a group cannot be completed without its evidence"),
    guard("group_completes_clean", "UPDATE", "groups",
        "NEW.status = 'completed' AND OLD.status <> 'completed'
         AND (EXISTS (SELECT 1 FROM blocks b WHERE b.session = NEW.session AND b.grp = NEW.id AND b.resolved IS NULL)
              OR EXISTS (SELECT 1 FROM findings f WHERE f.session = NEW.session AND f.grp = NEW.id AND f.blocking AND f.status = 'open'))",
        "a group cannot be completed with a block or a blocking finding open"),
    guard("deferral_is_acknowledged_by_name", "UPDATE", "groups",
        "NEW.acknowledged IS NOT OLD.acknowledged
         AND NOT said[named, NEW.id, NEW.acknowledged]",
        "a deferral is acknowledged by name"),

    guard("assignment_is_given", "INSERT", "assignments",
        "EXISTS (SELECT 1 FROM assignments WHERE session = NEW.session AND n = NEW.n) OR NEW.status NOT IN ('open', 'void')
         OR NEW.seq IS NOT {LAST} OR NEW.opened <> NEW.seq
         OR NOT said[assigned, NEW.n, NEW.role, NEW.grp]",
        "an assignment is given by a decision"),
    guard("assignment_is_alone", "INSERT", "assignments",
        "NEW.status IN ('open', 'claimed') AND EXISTS (SELECT 1 FROM assignments WHERE session = NEW.session AND grp = NEW.grp AND part = NEW.part AND status IN ('open', 'claimed'))",
        "another assignment is open here"),
    guard("assignment_remains", "DELETE", "assignments", "1", "an assignment never goes"),
    guard("assignment_moves_by_events", "UPDATE", "assignments",
        "NEW.session <> OLD.session OR NEW.n <> OLD.n OR NEW.grp <> OLD.grp OR NEW.part <> OLD.part OR NEW.role <> OLD.role OR NEW.task <> OLD.task
         OR NEW.opened <> OLD.opened OR NEW.attempt < OLD.attempt OR NEW.seq <= OLD.seq OR NEW.seq IS NOT {LAST}
         OR OLD.status IN ('reported', 'void')
         OR NOT said[assignment, NEW.n, NEW.status]",
        "an assignment is claimed and closed by events, once"),

    guard("question_is_asked", "INSERT", "questions",
        "EXISTS (SELECT 1 FROM questions WHERE session = NEW.session AND n = NEW.n) OR NEW.seq IS NOT {LAST} OR NEW.status = 'answered'
         OR NOT said[asked, NEW.n]",
        "a question is asked by a decision"),
    guard("question_remains", "DELETE", "questions", "1", "a question and its answer never go"),
    guard("answer_stays", "UPDATE", "questions",
        "NEW.session <> OLD.session OR NEW.n <> OLD.n OR NEW.seq <= OLD.seq OR NEW.seq IS NOT {LAST} OR OLD.status <> 'open'
         OR NOT said[answered, NEW.n, NEW.by, NEW.answer]",
        "a question is answered once, by a person"),

    guard("evidence_is_decided", "INSERT", "evidence",
        "NEW.seq IS NOT {LAST} OR EXISTS (SELECT 1 FROM evidence WHERE session = NEW.session AND grp = NEW.grp AND kind = NEW.kind AND name = NEW.name AND seq = NEW.seq)
         OR NOT said[evidence, NEW.grp, NEW.kind, NEW.name]",
        "evidence is what a decision recorded"),
    guard("evidence_stays", "UPDATE", "evidence", "1", "evidence never changes"),
    guard("evidence_remains", "DELETE", "evidence", "1", "evidence never goes"),

    guard("block_is_reported", "INSERT", "blocks",
        "NEW.seq IS NOT {LAST} OR NEW.resolved IS NOT NULL
         OR EXISTS (SELECT 1 FROM blocks WHERE session = NEW.session AND grp = NEW.grp AND seq = NEW.seq AND part = NEW.part AND role = NEW.role)
         OR NOT said[blocked, NEW.grp, NEW.part, NEW.role]",
        "a block is what an agent reported"),
    guard("block_remains", "DELETE", "blocks", "1", "a block never goes"),
    guard("block_is_resolved_by_decision", "UPDATE", "blocks",
        "NEW.session <> OLD.session OR NEW.grp <> OLD.grp OR NEW.seq <> OLD.seq OR NEW.part <> OLD.part OR NEW.role <> OLD.role OR NEW.reason IS NOT OLD.reason
         OR OLD.resolved IS NOT NULL OR NEW.resolved IS NOT {LAST} OR NEW.resolved <= OLD.seq
         OR NOT said@NEW.session@NEW.resolved[unblocked, NEW.grp, NEW.part, NEW.role]",
        "a block is resolved by a decision that came after it"),

    guard("counter_is_counted", "INSERT", "counters",
        "NEW.seq IS NOT {LAST} OR EXISTS (SELECT 1 FROM counters WHERE session = NEW.session AND grp = NEW.grp AND loop = NEW.loop AND role = NEW.role)
         OR NOT said[counter, NEW.grp, NEW.loop, NEW.role, NEW.iteration, NEW.no_progress]",
        "a counter counts decisions"),
    guard("counter_remains", "DELETE", "counters", "1", "a counter never goes"),
    guard("counter_only_grows", "UPDATE", "counters",
        "NEW.session <> OLD.session OR NEW.grp <> OLD.grp OR NEW.loop <> OLD.loop OR NEW.role <> OLD.role OR NEW.seq <= OLD.seq OR NEW.seq IS NOT {LAST}
         OR NOT said[counter, NEW.grp, NEW.loop, NEW.role, NEW.iteration, NEW.no_progress]
         OR NEW.iteration < OLD.iteration AND NOT said[reset, NEW.grp, NEW.loop, NEW.role]",
        "a counter is lowered by no one"),

    guard("finding_is_raised", "INSERT", "findings",
        "NEW.seq IS NOT {LAST} OR EXISTS (SELECT 1 FROM findings WHERE session = NEW.session AND grp = NEW.grp AND n = NEW.n)
         OR NOT said[finding, NEW.grp, NEW.n, NEW.status, NEW.blocking]",
        "a finding is raised by a review"),
    guard("finding_remains", "DELETE", "findings", "1", "a finding never goes"),
    guard("finding_moves_by_reviews", "UPDATE", "findings",
        "NEW.session <> OLD.session OR NEW.grp <> OLD.grp OR NEW.n <> OLD.n OR NEW.seq <= OLD.seq OR NEW.seq IS NOT {LAST}
         OR NOT said[finding, NEW.grp, NEW.n, NEW.status, NEW.blocking]",
        "a finding is closed by its reviewer"),

    guard("attempt_is_new", "INSERT", "attempts", "NEW.id <> -1 AND EXISTS (SELECT 1 FROM attempts WHERE id = NEW.id)", "what was tried is not forgotten"),
    guard("attempt_stays", "UPDATE", "attempts", "1", "what was tried is not forgotten"),
    guard("attempt_remains", "DELETE", "attempts", "1", "what was tried is not forgotten"),
];

/// A number below one stands for none before a row is there; so none has it.
const NUMBERED: &str = "CREATE TRIGGER attempt_is_numbered AFTER INSERT ON attempts WHEN NEW.id < 1 BEGIN
  SELECT RAISE(ROLLBACK, 'interlock: what was tried is not forgotten (E0514, attempt_is_numbered)');
END";

/// After an event its session's head is that event.
const HEAD: &str = "CREATE TRIGGER session_head AFTER INSERT ON events BEGIN
  UPDATE sessions SET seq = NEW.seq, head = NEW.hash, updated_at = NEW.at WHERE key = NEW.session;
END";

/// The statements that make the guards. Of two triggers SQLite runs the one that was made last first.
pub(super) fn statements() -> Vec<String> {
    let rules =
        || GUARDS.chunk_by(|one, next| one.on == next.on).filter_map(|guards| Some((guards.first()?.on, guards)));
    let refusing = rules().map(|(on, guards)| refuses(on, guards));
    // What is noted is not noted.
    let noting = rules().map(|(on, _)| on).filter(|on| *on != ("INSERT", "attempts")).map(notes);
    refusing.chain(noting).chain([NUMBERED.to_owned(), HEAD.to_owned()]).collect()
}

/// The trigger that holds these rules, all of one table and verb. It writes nothing, so that nothing can be done from within
/// it: SQLite runs no trigger inside of itself, and a trigger of somebody's own, on a table that this one wrote to, could
/// break here what is refused everywhere else.
fn refuses(on: (&str, &str), guards: &[TriggerGuard]) -> String {
    // Of several that are broken the last one is named, so that what matters most may stand last.
    let case = |guard: &TriggerGuard| format!("\n    WHEN {} THEN {}", guard.broken(), guard.refusal());
    let cases: String = guards.iter().rev().map(case).collect();
    format!("CREATE TRIGGER {} BEFORE {} ON {} BEGIN\n  SELECT CASE{cases} END;\nEND", name(on), on.0, on.1)
}

/// The trigger that writes down what the one above is about to refuse: whatever another program writes. Connections of this
/// one are passed over: they do not go round it, and are many.
fn notes(on: (&str, &str)) -> String {
    let (name, session) = (name(on), session(on));
    format!(
        "CREATE TRIGGER {name}_noted BEFORE {} ON {} WHEN {ELSEWHERE} BEGIN\n  \
         INSERT INTO attempts (session, guard, what) VALUES ({session}, '{name}', '{} {}');\nEND",
        on.0, on.1, on.0, on.1
    )
}

fn name((verb, table): (&str, &str)) -> String {
    format!("{table}_{}", verb.to_lowercase())
}

/// The session that a row belongs to.
fn session((verb, table): (&str, &str)) -> String {
    let row = if verb == "DELETE" { "OLD" } else { "NEW" };
    match table {
        "sessions" => format!("{row}.key"),
        "store" | "workflows" | "needs" | "attachments" | "prompts" | "attempts" => "NULL".to_owned(),
        _ => format!("{row}.session"),
    }
}

impl TriggerGuard {
    fn broken(&self) -> String {
        let when = self.when.replace("{LAST}", LAST).replace("{UNSEALED}", UNSEALED);
        said(&when.replace("{EXCUSED}", EXCUSED).replace("{EXCUSE_COUNTS}", EXCUSE_COUNTS))
    }

    fn refusal(&self) -> String {
        format!("RAISE(FAIL, 'interlock: {} (E0514, {})')", self.message, self.name)
    }
}

/// Puts the look for a line in the place of each `said[word, value…]`.
fn said(when: &str) -> String {
    let Some((before, rest)) = when.split_once("said") else { return when.to_owned() };
    let Some((place, rest)) = rest.split_once('[') else { return when.to_owned() };
    let Some((line, after)) = rest.split_once(']') else { return when.to_owned() };
    let mut place = place.split('@').skip(1);
    let (session, seq) = (place.next().unwrap_or("NEW.session"), place.next().unwrap_or("NEW.seq"));
    let mut words = line.split(", ");
    let word = words.next().unwrap_or_default();
    let values: Vec<String> = words.map(|value| format!(" ' || json_quote({value}) || '")).collect();
    let line = format!("'\n{word}{}\n'", values.concat());
    format!(
        "{before}EXISTS (SELECT 1 FROM events WHERE session = {session} AND seq = {seq} AND instr(says, {line})){}",
        said(after)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SQLite would run a second trigger of a table and verb before the first, and keep both.
    #[test]
    fn a_table_and_verb_have_one_trigger() {
        let mut places: Vec<_> = GUARDS.chunk_by(|one, next| one.on == next.on).map(|guards| guards[0].on).collect();
        let count = places.len();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), count);
    }
}
