CREATE TRIGGER store_insert BEFORE INSERT ON store BEGIN
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM store) THEN RAISE(FAIL, 'interlock: a store is made once (E0514, store_is_one)') END;
END;
CREATE TRIGGER store_update BEFORE UPDATE ON store BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: the keys of a store do not change (E0514, store_stays)') END;
END;
CREATE TRIGGER store_delete BEFORE DELETE ON store BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: the keys of a store do not change (E0514, store_remains)') END;
END;
CREATE TRIGGER workflows_insert BEFORE INSERT ON workflows BEGIN
  SELECT CASE
    WHEN interlock_sealed('', 0, '', 0, NULL, '', '', NULL, zeroblob(32), zeroblob(32)) IS NULL OR EXISTS (SELECT 1 FROM workflows WHERE hash = NEW.hash) THEN RAISE(FAIL, 'interlock: this workflow is pinned already (E0514, workflow_is_new)') END;
END;
CREATE TRIGGER workflows_update BEFORE UPDATE ON workflows BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: a pinned workflow does not change (E0514, workflow_stays)') END;
END;
CREATE TRIGGER workflows_delete BEFORE DELETE ON workflows BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: a pinned workflow does not change (E0514, workflow_remains)') END;
END;
CREATE TRIGGER needs_insert BEFORE INSERT ON needs BEGIN
  SELECT CASE
    WHEN interlock_sealed('', 0, '', 0, NULL, '', '', NULL, zeroblob(32), zeroblob(32)) IS NULL OR EXISTS (SELECT 1 FROM workflows WHERE hash = NEW.workflow) OR EXISTS (SELECT 1 FROM needs WHERE workflow = NEW.workflow AND clause = NEW.clause AND name = NEW.name) THEN RAISE(FAIL, 'interlock: what a pinned workflow needs does not change (E0514, needs_come_first)') END;
END;
CREATE TRIGGER needs_update BEFORE UPDATE ON needs BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: what a pinned workflow needs does not change (E0514, needs_stay)') END;
END;
CREATE TRIGGER needs_delete BEFORE DELETE ON needs BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: what a pinned workflow needs does not change (E0514, needs_remain)') END;
END;
CREATE TRIGGER events_insert BEFORE INSERT ON events BEGIN
  SELECT CASE
    WHEN interlock_sealed((SELECT id FROM sessions WHERE key = NEW.session), NEW.seq, NEW.kind, NEW.at, NEW.decision, NEW.data, NEW.says, NEW.given, NEW.prev, NEW.hash) IS NOT 1 THEN RAISE(FAIL, 'interlock: an event needs the seal of the chain (E0514, event_is_sealed)')
    WHEN NEW.id IS NOT -1 AND EXISTS (SELECT 1 FROM events WHERE id = NEW.id)
         OR NOT EXISTS (SELECT 1 FROM sessions s WHERE s.key = NEW.session AND s.seq + 1 = NEW.seq AND s.head IS NEW.prev) THEN RAISE(FAIL, 'interlock: an event follows the last one of its session, once (E0514, event_follows)') END;
END;
CREATE TRIGGER events_update BEFORE UPDATE ON events BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: an event never changes (E0514, event_stays)') END;
END;
CREATE TRIGGER events_delete BEFORE DELETE ON events BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: an event never goes (E0514, event_remains)') END;
END;
CREATE TRIGGER attachments_insert BEFORE INSERT ON attachments BEGIN
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM attachments WHERE event = NEW.event)
         OR NOT EXISTS (SELECT 1 FROM events e JOIN sessions s ON s.key = e.session AND s.seq = e.seq
                          WHERE e.id = NEW.event AND e.given IS NOT NULL) THEN RAISE(FAIL, 'interlock: what an event was given comes with the event (E0514, attachment_belongs)') END;
END;
CREATE TRIGGER attachments_update BEFORE UPDATE ON attachments BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: what was given in never changes (E0514, attachment_stays)') END;
END;
CREATE TRIGGER attachments_delete BEFORE DELETE ON attachments BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: what was given in never goes (E0514, attachment_remains)') END;
END;
CREATE TRIGGER prompts_insert BEFORE INSERT ON prompts BEGIN
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM prompts WHERE event = NEW.event)
         OR NOT EXISTS (SELECT 1 FROM events e JOIN sessions s ON s.key = e.session AND s.seq = e.seq
                          WHERE e.id = NEW.event AND EXISTS (SELECT 1 FROM events WHERE session = e.session AND seq = e.seq AND instr(says, '
told
'))) THEN RAISE(FAIL, 'interlock: a prompt comes with its claim (E0514, prompt_belongs)') END;
END;
CREATE TRIGGER prompts_update BEFORE UPDATE ON prompts BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: what an agent was told never changes (E0514, prompt_stays)') END;
END;
CREATE TRIGGER prompts_delete BEFORE DELETE ON prompts BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: what an agent was told never goes (E0514, prompt_remains)') END;
END;
CREATE TRIGGER sessions_insert BEFORE INSERT ON sessions BEGIN
  SELECT CASE
    WHEN interlock_sealed('', 0, '', 0, NULL, '', '', NULL, zeroblob(32), zeroblob(32)) IS NULL OR NEW.seq <> 0 OR NEW.status <> 'active' OR NEW.lapsed <> 0 OR EXISTS (SELECT 1 FROM sessions WHERE id = NEW.id OR key = NEW.key) THEN RAISE(FAIL, 'interlock: a session begins with its first event (E0514, session_begins)') END;
END;
CREATE TRIGGER sessions_delete BEFORE DELETE ON sessions BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: a session never goes (E0514, session_remains)') END;
END;
CREATE TRIGGER sessions_update BEFORE UPDATE ON sessions BEGIN
  SELECT CASE
    WHEN (NEW.workflow_hash <> OLD.workflow_hash OR NEW.workflow <> OLD.workflow OR NEW.title <> OLD.title)
         AND NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.key AND seq = NEW.seq
                AND NEW.workflow_hash IN (data ->> '$.cause.started.workflow_hash', data ->> '$.cause.upgraded.workflow_hash')
                AND NEW.workflow IN (data ->> '$.cause.started.workflow', data ->> '$.cause.upgraded.workflow')
                AND (NEW.title = OLD.title OR NEW.title = data ->> '$.cause.started.title')) THEN RAISE(FAIL, 'interlock: a session is pinned to its workflow (E0514, session_keeps_its_workflow)')
    WHEN NEW.status = 'completed' AND OLD.status <> 'completed'
         AND (EXISTS (SELECT 1 FROM groups g WHERE g.session = NEW.key AND g.status NOT IN ('completed', 'cancelled')
                        AND NOT (g.status = 'deferred_external' AND g.acknowledged IS NOT NULL))
              OR EXISTS (SELECT 1 FROM assignments a WHERE a.session = NEW.key AND a.status IN ('open', 'claimed'))
              OR EXISTS (SELECT 1 FROM needs n WHERE n.workflow = NEW.workflow_hash AND n.kind = 'session_gate'
                           AND NOT EXISTS (SELECT 1 FROM evidence v WHERE v.session = NEW.key AND v.grp = '' AND v.kind = 'gate' AND v.name = n.name AND v.seq >= NEW.lapsed))) THEN RAISE(FAIL, 'interlock: a session cannot be completed before each of its groups is, or is deferred and acknowledged (E0514, session_completes_with_evidence)')
    WHEN OLD.status IN ('completed', 'cancelled') AND NEW.status <> OLD.status THEN RAISE(FAIL, 'interlock: a session that has ended stays so (E0514, session_end_is_final)')
    WHEN NEW.status <> OLD.status AND NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.key AND seq = NEW.seq AND instr(says, '
session ' || json_quote(NEW.status) || '
'))
         AND NOT (OLD.status = 'validating' AND NEW.status = 'active' AND EXISTS (SELECT 1 FROM assignments a WHERE a.session = NEW.key AND a.opened = NEW.seq)) THEN RAISE(FAIL, 'interlock: the status of a session is decided, not set (E0514, session_status_is_decided)')
    WHEN NEW.key <> OLD.key OR NEW.id <> OLD.id OR NEW.started_at <> OLD.started_at OR NEW.updated_at <> OLD.updated_at AND NEW.seq = OLD.seq
         OR (NEW.seq <> OLD.seq OR NEW.head IS NOT OLD.head)
            AND NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.key AND seq = NEW.seq AND hash IS NEW.head AND NEW.seq = OLD.seq + 1)
         OR NEW.lapsed <> OLD.lapsed
            AND (NEW.lapsed <> NEW.seq OR NEW.lapsed < OLD.lapsed
                 OR NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.key AND seq = NEW.seq AND (instr(says, '
assigned ') OR instr(says, '
ended ')))) THEN RAISE(FAIL, 'interlock: a session moves on only by its events (E0514, session_moves_by_events)') END;
END;
CREATE TRIGGER groups_insert BEFORE INSERT ON groups BEGIN
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM groups WHERE session = NEW.session AND id = NEW.id) OR NEW.status IN ('completed', 'awaiting_confirmation')
         OR NEW.seq IS NOT (SELECT seq FROM sessions WHERE key = NEW.session) OR NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.seq AND instr(says, '
planned ' || json_quote(NEW.id) || '
')) THEN RAISE(FAIL, 'interlock: a group comes from a plan (E0514, group_is_planned)') END;
END;
CREATE TRIGGER groups_delete BEFORE DELETE ON groups BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: a group never goes (E0514, group_remains)') END;
END;
CREATE TRIGGER groups_update BEFORE UPDATE ON groups BEGIN
  SELECT CASE
    WHEN NEW.acknowledged IS NOT OLD.acknowledged
         AND NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.seq AND instr(says, '
named ' || json_quote(NEW.id) || ' ' || json_quote(NEW.acknowledged) || '
')) THEN RAISE(FAIL, 'interlock: a deferral is acknowledged by name (E0514, deferral_is_acknowledged_by_name)')
    WHEN NEW.status = 'completed' AND OLD.status <> 'completed'
         AND (EXISTS (SELECT 1 FROM blocks b WHERE b.session = NEW.session AND b.grp = NEW.id AND b.resolved IS NULL)
              OR EXISTS (SELECT 1 FROM findings f WHERE f.session = NEW.session AND f.grp = NEW.id AND f.blocking AND f.status = 'open')) THEN RAISE(FAIL, 'interlock: a group cannot be completed with a block or a blocking finding open (E0514, group_completes_clean)')
    WHEN NEW.status = 'completed' AND OLD.status <> 'completed'
         AND EXISTS (SELECT 1 FROM needs n WHERE n.workflow = (SELECT workflow_hash FROM sessions WHERE key = NEW.session)
                       AND (n.kind IN ('pass', 'gate') OR n.kind = 'checks' AND NEW.checks OR n.kind = 'confirmed' AND NEW.ever_blocked)
                     GROUP BY n.clause
                     HAVING NOT max(EXISTS (SELECT 1 FROM evidence v WHERE v.session = NEW.session AND v.grp = NEW.id
                                              AND v.kind = iif(n.kind = 'checks', 'gate', n.kind)
                                              AND (v.name = n.name OR n.kind = 'confirmed') AND v.seq >= NEW.lapsed))) THEN RAISE(FAIL, 'interlock: a group cannot be completed without its evidence (E0514, group_completes_with_evidence)')
    WHEN NEW.status IN ('completed', 'cancelled', 'deferred_external') AND NEW.status <> OLD.status
         AND NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.seq AND instr(says, '
ended ' || json_quote(NEW.id) || ' ' || json_quote(NEW.status) || '
')) THEN RAISE(FAIL, 'interlock: the end of a group is decided, not set (E0514, group_end_is_decided)')
    WHEN OLD.status = 'blocked' AND NEW.status NOT IN ('blocked', 'awaiting_person', 'deferred_external', 'cancelled')
         AND EXISTS (SELECT 1 FROM blocks b WHERE b.session = NEW.session AND b.grp = NEW.id AND b.resolved IS NULL) THEN RAISE(FAIL, 'interlock: a blocked group goes on only when its block is resolved (E0514, group_stays_blocked)')
    WHEN OLD.status IN ('completed', 'cancelled') AND NEW.status <> OLD.status THEN RAISE(FAIL, 'interlock: a group that has ended stays so (E0514, group_end_is_final)')
    WHEN NEW.session <> OLD.session OR NEW.id <> OLD.id OR NEW.seq <= OLD.seq OR NEW.seq IS NOT (SELECT seq FROM sessions WHERE key = NEW.session)
         OR NEW.ever_blocked < OLD.ever_blocked OR NEW.checks <> OLD.checks
         OR NEW.lapsed NOT IN (OLD.lapsed, NEW.seq) OR NEW.lapsed < OLD.lapsed
         OR NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.seq AND instr(says, '
group ' || json_quote(NEW.id) || '
')) THEN RAISE(FAIL, 'interlock: a group moves on only by events that speak of it (E0514, group_moves_by_events)') END;
END;
CREATE TRIGGER assignments_insert BEFORE INSERT ON assignments BEGIN
  SELECT CASE
    WHEN NEW.status IN ('open', 'claimed') AND EXISTS (SELECT 1 FROM assignments WHERE session = NEW.session AND grp = NEW.grp AND part = NEW.part AND status IN ('open', 'claimed')) THEN RAISE(FAIL, 'interlock: another assignment is open here (E0514, assignment_is_alone)')
    WHEN EXISTS (SELECT 1 FROM assignments WHERE session = NEW.session AND n = NEW.n) OR NEW.status NOT IN ('open', 'void')
         OR NEW.seq IS NOT (SELECT seq FROM sessions WHERE key = NEW.session) OR NEW.opened <> NEW.seq
         OR NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.seq AND instr(says, '
assigned ' || json_quote(NEW.n) || ' ' || json_quote(NEW.role) || ' ' || json_quote(NEW.grp) || '
')) THEN RAISE(FAIL, 'interlock: an assignment is given by a decision (E0514, assignment_is_given)') END;
END;
CREATE TRIGGER assignments_delete BEFORE DELETE ON assignments BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: an assignment never goes (E0514, assignment_remains)') END;
END;
CREATE TRIGGER assignments_update BEFORE UPDATE ON assignments BEGIN
  SELECT CASE
    WHEN NEW.session <> OLD.session OR NEW.n <> OLD.n OR NEW.grp <> OLD.grp OR NEW.part <> OLD.part OR NEW.role <> OLD.role OR NEW.task <> OLD.task
         OR NEW.opened <> OLD.opened OR NEW.attempt < OLD.attempt OR NEW.seq <= OLD.seq OR NEW.seq IS NOT (SELECT seq FROM sessions WHERE key = NEW.session)
         OR OLD.status IN ('reported', 'void')
         OR NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.seq AND instr(says, '
assignment ' || json_quote(NEW.n) || ' ' || json_quote(NEW.status) || '
')) THEN RAISE(FAIL, 'interlock: an assignment is claimed and closed by events, once (E0514, assignment_moves_by_events)') END;
END;
CREATE TRIGGER questions_insert BEFORE INSERT ON questions BEGIN
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM questions WHERE session = NEW.session AND n = NEW.n) OR NEW.seq IS NOT (SELECT seq FROM sessions WHERE key = NEW.session) OR NEW.status = 'answered'
         OR NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.seq AND instr(says, '
asked ' || json_quote(NEW.n) || '
')) THEN RAISE(FAIL, 'interlock: a question is asked by a decision (E0514, question_is_asked)') END;
END;
CREATE TRIGGER questions_delete BEFORE DELETE ON questions BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: a question and its answer never go (E0514, question_remains)') END;
END;
CREATE TRIGGER questions_update BEFORE UPDATE ON questions BEGIN
  SELECT CASE
    WHEN NEW.session <> OLD.session OR NEW.n <> OLD.n OR NEW.seq <= OLD.seq OR NEW.seq IS NOT (SELECT seq FROM sessions WHERE key = NEW.session) OR OLD.status <> 'open'
         OR NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.seq AND instr(says, '
answered ' || json_quote(NEW.n) || ' ' || json_quote(NEW.by) || ' ' || json_quote(NEW.answer) || '
')) THEN RAISE(FAIL, 'interlock: a question is answered once, by a person (E0514, answer_stays)') END;
END;
CREATE TRIGGER evidence_insert BEFORE INSERT ON evidence BEGIN
  SELECT CASE
    WHEN NEW.seq IS NOT (SELECT seq FROM sessions WHERE key = NEW.session) OR EXISTS (SELECT 1 FROM evidence WHERE session = NEW.session AND grp = NEW.grp AND kind = NEW.kind AND name = NEW.name AND seq = NEW.seq)
         OR NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.seq AND instr(says, '
evidence ' || json_quote(NEW.grp) || ' ' || json_quote(NEW.kind) || ' ' || json_quote(NEW.name) || '
')) THEN RAISE(FAIL, 'interlock: evidence is what a decision recorded (E0514, evidence_is_decided)') END;
END;
CREATE TRIGGER evidence_update BEFORE UPDATE ON evidence BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: evidence never changes (E0514, evidence_stays)') END;
END;
CREATE TRIGGER evidence_delete BEFORE DELETE ON evidence BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: evidence never goes (E0514, evidence_remains)') END;
END;
CREATE TRIGGER blocks_insert BEFORE INSERT ON blocks BEGIN
  SELECT CASE
    WHEN NEW.seq IS NOT (SELECT seq FROM sessions WHERE key = NEW.session) OR NEW.resolved IS NOT NULL
         OR EXISTS (SELECT 1 FROM blocks WHERE session = NEW.session AND grp = NEW.grp AND seq = NEW.seq AND part = NEW.part AND role = NEW.role)
         OR NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.seq AND instr(says, '
blocked ' || json_quote(NEW.grp) || ' ' || json_quote(NEW.part) || ' ' || json_quote(NEW.role) || '
')) THEN RAISE(FAIL, 'interlock: a block is what an agent reported (E0514, block_is_reported)') END;
END;
CREATE TRIGGER blocks_delete BEFORE DELETE ON blocks BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: a block never goes (E0514, block_remains)') END;
END;
CREATE TRIGGER blocks_update BEFORE UPDATE ON blocks BEGIN
  SELECT CASE
    WHEN NEW.session <> OLD.session OR NEW.grp <> OLD.grp OR NEW.seq <> OLD.seq OR NEW.part <> OLD.part OR NEW.role <> OLD.role OR NEW.reason IS NOT OLD.reason
         OR OLD.resolved IS NOT NULL OR NEW.resolved IS NOT (SELECT seq FROM sessions WHERE key = NEW.session) OR NEW.resolved <= OLD.seq
         OR NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.resolved AND instr(says, '
unblocked ' || json_quote(NEW.grp) || ' ' || json_quote(NEW.part) || ' ' || json_quote(NEW.role) || '
')) THEN RAISE(FAIL, 'interlock: a block is resolved by a decision that came after it (E0514, block_is_resolved_by_decision)') END;
END;
CREATE TRIGGER counters_insert BEFORE INSERT ON counters BEGIN
  SELECT CASE
    WHEN NEW.seq IS NOT (SELECT seq FROM sessions WHERE key = NEW.session) OR EXISTS (SELECT 1 FROM counters WHERE session = NEW.session AND grp = NEW.grp AND loop = NEW.loop AND role = NEW.role)
         OR NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.seq AND instr(says, '
counter ' || json_quote(NEW.grp) || ' ' || json_quote(NEW.loop) || ' ' || json_quote(NEW.role) || ' ' || json_quote(NEW.iteration) || ' ' || json_quote(NEW.no_progress) || '
')) THEN RAISE(FAIL, 'interlock: a counter counts decisions (E0514, counter_is_counted)') END;
END;
CREATE TRIGGER counters_delete BEFORE DELETE ON counters BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: a counter never goes (E0514, counter_remains)') END;
END;
CREATE TRIGGER counters_update BEFORE UPDATE ON counters BEGIN
  SELECT CASE
    WHEN NEW.session <> OLD.session OR NEW.grp <> OLD.grp OR NEW.loop <> OLD.loop OR NEW.role <> OLD.role OR NEW.seq <= OLD.seq OR NEW.seq IS NOT (SELECT seq FROM sessions WHERE key = NEW.session)
         OR NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.seq AND instr(says, '
counter ' || json_quote(NEW.grp) || ' ' || json_quote(NEW.loop) || ' ' || json_quote(NEW.role) || ' ' || json_quote(NEW.iteration) || ' ' || json_quote(NEW.no_progress) || '
'))
         OR NEW.iteration < OLD.iteration AND NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.seq AND instr(says, '
reset ' || json_quote(NEW.grp) || ' ' || json_quote(NEW.loop) || ' ' || json_quote(NEW.role) || '
')) THEN RAISE(FAIL, 'interlock: a counter is lowered by no one (E0514, counter_only_grows)') END;
END;
CREATE TRIGGER findings_insert BEFORE INSERT ON findings BEGIN
  SELECT CASE
    WHEN NEW.seq IS NOT (SELECT seq FROM sessions WHERE key = NEW.session) OR EXISTS (SELECT 1 FROM findings WHERE session = NEW.session AND grp = NEW.grp AND n = NEW.n)
         OR NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.seq AND instr(says, '
finding ' || json_quote(NEW.grp) || ' ' || json_quote(NEW.n) || ' ' || json_quote(NEW.status) || ' ' || json_quote(NEW.blocking) || '
')) THEN RAISE(FAIL, 'interlock: a finding is raised by a review (E0514, finding_is_raised)') END;
END;
CREATE TRIGGER findings_delete BEFORE DELETE ON findings BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: a finding never goes (E0514, finding_remains)') END;
END;
CREATE TRIGGER findings_update BEFORE UPDATE ON findings BEGIN
  SELECT CASE
    WHEN NEW.session <> OLD.session OR NEW.grp <> OLD.grp OR NEW.n <> OLD.n OR NEW.seq <= OLD.seq OR NEW.seq IS NOT (SELECT seq FROM sessions WHERE key = NEW.session)
         OR NOT EXISTS (SELECT 1 FROM events WHERE session = NEW.session AND seq = NEW.seq AND instr(says, '
finding ' || json_quote(NEW.grp) || ' ' || json_quote(NEW.n) || ' ' || json_quote(NEW.status) || ' ' || json_quote(NEW.blocking) || '
')) THEN RAISE(FAIL, 'interlock: a finding is closed by its reviewer (E0514, finding_moves_by_reviews)') END;
END;
CREATE TRIGGER attempts_insert BEFORE INSERT ON attempts BEGIN
  SELECT CASE
    WHEN NEW.id <> -1 AND EXISTS (SELECT 1 FROM attempts WHERE id = NEW.id) THEN RAISE(FAIL, 'interlock: what was tried is not forgotten (E0514, attempt_is_new)') END;
END;
CREATE TRIGGER attempts_update BEFORE UPDATE ON attempts BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: what was tried is not forgotten (E0514, attempt_stays)') END;
END;
CREATE TRIGGER attempts_delete BEFORE DELETE ON attempts BEGIN
  SELECT CASE
    WHEN 1 THEN RAISE(FAIL, 'interlock: what was tried is not forgotten (E0514, attempt_remains)') END;
END;
CREATE TRIGGER store_insert_noted BEFORE INSERT ON store WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'store_insert', 'INSERT store');
END;
CREATE TRIGGER store_update_noted BEFORE UPDATE ON store WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'store_update', 'UPDATE store');
END;
CREATE TRIGGER store_delete_noted BEFORE DELETE ON store WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'store_delete', 'DELETE store');
END;
CREATE TRIGGER workflows_insert_noted BEFORE INSERT ON workflows WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'workflows_insert', 'INSERT workflows');
END;
CREATE TRIGGER workflows_update_noted BEFORE UPDATE ON workflows WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'workflows_update', 'UPDATE workflows');
END;
CREATE TRIGGER workflows_delete_noted BEFORE DELETE ON workflows WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'workflows_delete', 'DELETE workflows');
END;
CREATE TRIGGER needs_insert_noted BEFORE INSERT ON needs WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'needs_insert', 'INSERT needs');
END;
CREATE TRIGGER needs_update_noted BEFORE UPDATE ON needs WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'needs_update', 'UPDATE needs');
END;
CREATE TRIGGER needs_delete_noted BEFORE DELETE ON needs WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'needs_delete', 'DELETE needs');
END;
CREATE TRIGGER events_insert_noted BEFORE INSERT ON events WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'events_insert', 'INSERT events');
END;
CREATE TRIGGER events_update_noted BEFORE UPDATE ON events WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'events_update', 'UPDATE events');
END;
CREATE TRIGGER events_delete_noted BEFORE DELETE ON events WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (OLD.session, 'events_delete', 'DELETE events');
END;
CREATE TRIGGER attachments_insert_noted BEFORE INSERT ON attachments WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'attachments_insert', 'INSERT attachments');
END;
CREATE TRIGGER attachments_update_noted BEFORE UPDATE ON attachments WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'attachments_update', 'UPDATE attachments');
END;
CREATE TRIGGER attachments_delete_noted BEFORE DELETE ON attachments WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'attachments_delete', 'DELETE attachments');
END;
CREATE TRIGGER prompts_insert_noted BEFORE INSERT ON prompts WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'prompts_insert', 'INSERT prompts');
END;
CREATE TRIGGER prompts_update_noted BEFORE UPDATE ON prompts WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'prompts_update', 'UPDATE prompts');
END;
CREATE TRIGGER prompts_delete_noted BEFORE DELETE ON prompts WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'prompts_delete', 'DELETE prompts');
END;
CREATE TRIGGER sessions_insert_noted BEFORE INSERT ON sessions WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.key, 'sessions_insert', 'INSERT sessions');
END;
CREATE TRIGGER sessions_delete_noted BEFORE DELETE ON sessions WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (OLD.key, 'sessions_delete', 'DELETE sessions');
END;
CREATE TRIGGER sessions_update_noted BEFORE UPDATE ON sessions WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.key, 'sessions_update', 'UPDATE sessions');
END;
CREATE TRIGGER groups_insert_noted BEFORE INSERT ON groups WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'groups_insert', 'INSERT groups');
END;
CREATE TRIGGER groups_delete_noted BEFORE DELETE ON groups WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (OLD.session, 'groups_delete', 'DELETE groups');
END;
CREATE TRIGGER groups_update_noted BEFORE UPDATE ON groups WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'groups_update', 'UPDATE groups');
END;
CREATE TRIGGER assignments_insert_noted BEFORE INSERT ON assignments WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'assignments_insert', 'INSERT assignments');
END;
CREATE TRIGGER assignments_delete_noted BEFORE DELETE ON assignments WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (OLD.session, 'assignments_delete', 'DELETE assignments');
END;
CREATE TRIGGER assignments_update_noted BEFORE UPDATE ON assignments WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'assignments_update', 'UPDATE assignments');
END;
CREATE TRIGGER questions_insert_noted BEFORE INSERT ON questions WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'questions_insert', 'INSERT questions');
END;
CREATE TRIGGER questions_delete_noted BEFORE DELETE ON questions WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (OLD.session, 'questions_delete', 'DELETE questions');
END;
CREATE TRIGGER questions_update_noted BEFORE UPDATE ON questions WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'questions_update', 'UPDATE questions');
END;
CREATE TRIGGER evidence_insert_noted BEFORE INSERT ON evidence WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'evidence_insert', 'INSERT evidence');
END;
CREATE TRIGGER evidence_update_noted BEFORE UPDATE ON evidence WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'evidence_update', 'UPDATE evidence');
END;
CREATE TRIGGER evidence_delete_noted BEFORE DELETE ON evidence WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (OLD.session, 'evidence_delete', 'DELETE evidence');
END;
CREATE TRIGGER blocks_insert_noted BEFORE INSERT ON blocks WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'blocks_insert', 'INSERT blocks');
END;
CREATE TRIGGER blocks_delete_noted BEFORE DELETE ON blocks WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (OLD.session, 'blocks_delete', 'DELETE blocks');
END;
CREATE TRIGGER blocks_update_noted BEFORE UPDATE ON blocks WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'blocks_update', 'UPDATE blocks');
END;
CREATE TRIGGER counters_insert_noted BEFORE INSERT ON counters WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'counters_insert', 'INSERT counters');
END;
CREATE TRIGGER counters_delete_noted BEFORE DELETE ON counters WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (OLD.session, 'counters_delete', 'DELETE counters');
END;
CREATE TRIGGER counters_update_noted BEFORE UPDATE ON counters WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'counters_update', 'UPDATE counters');
END;
CREATE TRIGGER findings_insert_noted BEFORE INSERT ON findings WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'findings_insert', 'INSERT findings');
END;
CREATE TRIGGER findings_delete_noted BEFORE DELETE ON findings WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (OLD.session, 'findings_delete', 'DELETE findings');
END;
CREATE TRIGGER findings_update_noted BEFORE UPDATE ON findings WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NEW.session, 'findings_update', 'UPDATE findings');
END;
CREATE TRIGGER attempts_update_noted BEFORE UPDATE ON attempts WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'attempts_update', 'UPDATE attempts');
END;
CREATE TRIGGER attempts_delete_noted BEFORE DELETE ON attempts WHEN 'a' LIKE 'A' BEGIN
  INSERT INTO attempts (session, guard, what) VALUES (NULL, 'attempts_delete', 'DELETE attempts');
END;
CREATE TRIGGER attempt_is_numbered AFTER INSERT ON attempts WHEN NEW.id < 1 BEGIN
  SELECT RAISE(ROLLBACK, 'interlock: what was tried is not forgotten (E0514, attempt_is_numbered)');
END;
CREATE TRIGGER session_head AFTER INSERT ON events BEGIN
  UPDATE sessions SET seq = NEW.seq, head = NEW.hash, updated_at = NEW.at WHERE key = NEW.session;
END;
