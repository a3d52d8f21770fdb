-- What a store says of itself. Its seal covers the row: keys cannot be exchanged without the chain key.
CREATE TABLE store (
  one        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  operator   BLOB NOT NULL,
  spawner    BLOB NOT NULL,
  seal       BLOB NOT NULL
) STRICT;

-- Workflows as they were when a session was started with them: every file that was read, and the prelude.
CREATE TABLE workflows (
  hash    TEXT PRIMARY KEY,
  name    TEXT NOT NULL,
  sources TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What a completed group of a workflow must have: of each clause, at least one.
CREATE TABLE needs (
  workflow TEXT NOT NULL,
  clause   INTEGER NOT NULL,
  kind     TEXT NOT NULL,     -- pass, gate, checks (a gate that runs the plan's checks), confirmed, session_gate
  name     TEXT NOT NULL,
  PRIMARY KEY (workflow, clause, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  key           INTEGER PRIMARY KEY,
  id            TEXT NOT NULL UNIQUE,
  title         TEXT NOT NULL,
  workflow      TEXT NOT NULL,
  workflow_hash TEXT NOT NULL,
  status        TEXT NOT NULL,
  started_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  lapsed        INTEGER NOT NULL,   -- the event that last voided its gates
  seq           INTEGER NOT NULL,   -- of its last event
  head          BLOB NOT NULL       -- the seal of its last event
) STRICT;

CREATE TABLE events (
  id       INTEGER PRIMARY KEY,
  session  INTEGER NOT NULL,
  seq      INTEGER NOT NULL,
  kind     TEXT NOT NULL,
  at       INTEGER NOT NULL,
  decision INTEGER,
  data     TEXT NOT NULL,
  says     TEXT NOT NULL,     -- what it does, in lines that the guards look for
  given    BLOB,              -- the hash of what it was given
  prev     BLOB NOT NULL,
  hash     BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_by_seq ON events (session, seq);
CREATE UNIQUE INDEX events_by_decision ON events (session, decision) WHERE decision IS NOT NULL;

-- What an event was given, whole: the handoff, the mission.
CREATE TABLE attachments (
  event INTEGER PRIMARY KEY,
  body  TEXT NOT NULL
) STRICT;

-- What the holder of an assignment was told. The event of the claim commits to it by digest.
CREATE TABLE prompts (
  event INTEGER PRIMARY KEY,
  body  TEXT NOT NULL
) STRICT;

-- The state at some event, sealed, so that a session need not be folded from its beginning.
CREATE TABLE snapshots (
  session INTEGER PRIMARY KEY,
  seq     INTEGER NOT NULL,
  data    TEXT NOT NULL,
  seal    BLOB NOT NULL
) STRICT;

CREATE TABLE groups (
  session      INTEGER NOT NULL,
  id           TEXT NOT NULL,
  title        TEXT NOT NULL,
  status       TEXT NOT NULL,
  role         TEXT,
  attempt      INTEGER NOT NULL,
  ever_blocked INTEGER NOT NULL,
  checks       INTEGER NOT NULL,
  acknowledged TEXT,
  lapsed       INTEGER NOT NULL,    -- the event that last voided its evidence
  seq          INTEGER NOT NULL,
  PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE assignments (
  session     INTEGER NOT NULL,
  n           INTEGER NOT NULL,
  grp         TEXT NOT NULL,        -- '' is the session itself
  part        INTEGER NOT NULL,
  phase       TEXT,
  role        TEXT NOT NULL,
  task        TEXT NOT NULL,
  attempt     INTEGER NOT NULL,
  status      TEXT NOT NULL,        -- open, claimed, reported, void
  token       BLOB,                 -- the hash of the holder's secret
  lease_until INTEGER,
  digest      BLOB,                 -- of the handoff that was given in
  decision    INTEGER,
  opened      INTEGER NOT NULL,     -- the event that gave it
  seq         INTEGER NOT NULL,
  PRIMARY KEY (session, n)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX one_open_assignment ON assignments (session, grp, part) WHERE status IN ('open', 'claimed');

CREATE TABLE questions (
  session INTEGER NOT NULL,
  n       INTEGER NOT NULL,
  name    TEXT NOT NULL,
  grp     TEXT NOT NULL,
  part    INTEGER NOT NULL,
  text    TEXT NOT NULL,
  options TEXT NOT NULL,
  asker   TEXT,
  stopped TEXT,
  status  TEXT NOT NULL,            -- open, answered, void
  answer  TEXT,
  by      TEXT,
  seq     INTEGER NOT NULL,
  PRIMARY KEY (session, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX open_questions ON questions (session, n) WHERE status = 'open';

CREATE TABLE evidence (
  session INTEGER NOT NULL,
  grp     TEXT NOT NULL,
  kind    TEXT NOT NULL,            -- pass, gate, confirmed
  name    TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  PRIMARY KEY (session, grp, kind, name, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE blocks (
  session    INTEGER NOT NULL,
  grp        TEXT NOT NULL,
  seq        INTEGER NOT NULL,
  part       INTEGER NOT NULL,
  role       TEXT NOT NULL,
  reason     TEXT,
  resolved   INTEGER,               -- the event that resolved it
  resolution TEXT,
  PRIMARY KEY (session, grp, seq, part, role)
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
  session     INTEGER NOT NULL,
  grp         TEXT NOT NULL,
  loop        TEXT NOT NULL,
  role        TEXT NOT NULL,
  iteration   INTEGER NOT NULL,
  no_progress INTEGER NOT NULL,
  measure     INTEGER,
  seq         INTEGER NOT NULL,
  PRIMARY KEY (session, grp, loop, role)
) STRICT, WITHOUT ROWID;

CREATE TABLE findings (
  session   INTEGER NOT NULL,
  grp       TEXT NOT NULL,
  n         INTEGER NOT NULL,
  id        TEXT NOT NULL,
  title     TEXT NOT NULL,
  location  TEXT NOT NULL,
  severity  TEXT NOT NULL,
  blocking  INTEGER NOT NULL,
  raised_by TEXT NOT NULL,
  status    TEXT NOT NULL,          -- open, closed, accepted
  response  TEXT,
  seq       INTEGER NOT NULL,
  PRIMARY KEY (session, grp, n)
) STRICT, WITHOUT ROWID;

-- Writes that went round the program and were refused.
CREATE TABLE attempts (
  id      INTEGER PRIMARY KEY,
  at      TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  session INTEGER,
  guard   TEXT NOT NULL,
  what    TEXT NOT NULL
) STRICT;

CREATE VIEW decisions AS
  SELECT sessions.id AS session, events.decision AS n, events.seq, events.at,
         events.data ->> '$.decision.action' AS action, events.data ->> '$.decision.rule' AS rule,
         events.data -> '$.decision.next' AS next
    FROM events JOIN sessions ON sessions.key = events.session
   WHERE events.decision IS NOT NULL;

CREATE VIEW answers AS
  SELECT sessions.id AS session, events.seq, events.at,
         events.data ->> '$.cause.answered.question' AS question,
         coalesce(events.data ->> '$.cause.answered.option', events.data ->> '$.cause.answered.text') AS answer,
         events.data ->> '$.cause.answered.by' AS by
    FROM events JOIN sessions ON sessions.key = events.session
   WHERE events.kind = 'answered';

CREATE VIEW refusals AS
  SELECT sessions.id AS session, events.seq, events.at,
         events.data ->> '$.cause.refused.command' AS command, events.data ->> '$.cause.refused.code' AS code,
         events.data ->> '$.cause.refused.message' AS message
    FROM events JOIN sessions ON sessions.key = events.session
   WHERE events.kind = 'refused';
