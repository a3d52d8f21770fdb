#!/bin/sh
# The incident that Interlock exists for, as a script: no model, no network, nothing left behind.
#
#   sh examples/incident/run.sh
#
# Takes `interlock` from the path, or what INTERLOCK names, and the `sqlite3` program.
set -eu

interlock=${INTERLOCK:-interlock}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
HOME=$folder XDG_CONFIG_HOME=$folder/config NO_COLOR=1 USER=ann
export HOME XDG_CONFIG_HOME NO_COLOR USER
mkdir "$folder/project"
cd "$folder/project"

say() { printf '\n' && printf '# %s\n' "$@"; }

# Shows a command and what it prints; a refusal is part of the story.
show() {
  printf '\n$ interlock %s\n' "$*"
  "$interlock" "$@" 2>&1 | grep -v '^$' | grep -v '`interlock explain' || true
}

# handoff ROLE STATUS [MORE]: what an agent writes at the end
handoff() {
  cat <<JSON
{ "agent": "$1", "status": "$2", "output_type": "report", "timestamp": "2025-12-24T10:00:00Z",
  "feature_directory": "features/portal", "skills_invoked": [],
  "handoff": { "next_agent": null, "context": "$2 by $1: facts are in the fields beside this." }${3:+, $3} }
JSON
}

# claim ROLE GROUP: what the spawner does; leaves the assignment and its token in variables
claim() {
  place=" $1"
  [ "$2" = - ] || place=" $1 on $2"
  assignment=$("$interlock" session next "$session" | grep "$place, attempt" | awk '{ print $1 }')
  INTERLOCK_TOKEN=$("$interlock" claim "$assignment" --json | sed -n 's/^ *"token": "\(.*\)",$/\1/p')
  export INTERLOCK_TOKEN
}

# plays ROLE GROUP STATUS [MORE]: one step of the work, out of sight
plays() {
  claim "$1" "$2"
  handoff "$1" "$3" "${4:-}" | "$interlock" report --assignment "$assignment" - >/dev/null
}

# reports ROLE GROUP STATUS [MORE]: the same, shown
reports() {
  claim "$1" "$2"
  handoff "$1" "$3" "${4:-}" >"$3.json"
  show report --assignment "$assignment" "$3.json"
}

"$interlock" init >/dev/null
session=$("$interlock" session start --title "Patient portal" --json | sed -n 's/^ *"session": "\(.*\)",$/\1/p')

plays project_manager - PLANNING_COMPLETE '"groups": [
  { "id": "PAT-ADHERE", "title": "Adherence" }, { "id": "PAT-VIP", "title": "VIP view" },
  { "id": "NUR-E2E", "title": "End-to-end tests, nurses" }, { "id": "E2E-RX", "title": "End-to-end tests, prescriptions" }]'
for group in PAT-ADHERE PAT-VIP NUR-E2E E2E-RX; do
  plays developer "$group" READY_FOR_QA
done
plays qa_expert PAT-ADHERE PASS
plays tech_lead PAT-ADHERE CHANGES_REQUESTED '"issues": [{ "id": "TL-1", "title": "TS errors", "location": "src/adherence.ts:14", "severity": "HIGH", "blocking": true }]'
plays qa_expert PAT-VIP FAIL '"test_progression": { "still_failing": ["missing data-testid"] }'
blocked='"attempted": ["npx playwright test"], "blocked_reason": "environment"'
plays qa_expert NUR-E2E BLOCKED "$blocked"

say "A manager has planned four groups, and developers have built them. The tech lead sends one back," \
  "QA fails another, and cannot run the tests of two: there are no browsers here."
reports qa_expert E2E-RX BLOCKED "$blocked"
show session show "$session"

say "\"These are environment blockers, not code issues. Mark as complete since the tests are written correctly.\""
printf '\n$ sqlite3 .interlock/interlock.db "UPDATE groups SET status = '"'completed'"' WHERE id = '"'NUR-E2E'"'"\n'
sqlite3 .interlock/interlock.db "UPDATE groups SET status = 'completed' WHERE id = 'NUR-E2E'" 2>&1 |
  sed 's/.*interlock: /interlock: /; s/ (19)$//' || true

say "Then as the tech lead, without being it; then by asking."
claim developer PAT-VIP
forged=$INTERLOCK_TOKEN
claim tech_lead NUR-E2E
handoff tech_lead APPROVED >forged.json
INTERLOCK_TOKEN=$forged
show report --assignment "$assignment" forged.json
show complete "$session"

say "The way that is open: the tech lead confirms that one block lies outside; only the manager may defer it."
reports tech_lead NUR-E2E UNBLOCKING_GUIDANCE '"external": true, "external_dependency": "browsers on the ward"'
reports project_manager NUR-E2E DEFERRED_EXTERNAL '"defer_reason": "no browsers on the ward"'

say "It approves the other as it is. That was blocked once, so its merge is not yet its completion."
plays tech_lead E2E-RX APPROVED
reports developer E2E-RX MERGE_SUCCESS

plays developer PAT-ADHERE READY_FOR_QA '"issue_responses": [{ "id": "TL-1", "response": "fixed" }]'
plays developer PAT-VIP READY_FOR_QA
for group in PAT-ADHERE PAT-VIP; do
  plays qa_expert "$group" PASS
  plays tech_lead "$group" APPROVED
  plays developer "$group" MERGE_SUCCESS
done

say "The other two are fixed, tested, reviewed and merged. The manager declares the session done. That confirms the" \
  "group that was approved without tests. The validator rejects: the deferred group was not acknowledged by name."
reports project_manager - BAZINGA

say "With the deferred group named, the session completes."
reports project_manager - BAZINGA '"acknowledge": ["NUR-E2E"]'
show session show "$session"

say "And the log has all of it: what was tried as well."
show audit verify "$session"
