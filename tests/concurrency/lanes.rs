//! Lanes: each hands its group to and fro, and counts.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use interlock_core::handoff;
use interlock_core::id::{AssignmentId, Digest, Name};
use interlock_engine::{Engine, Operation, Request, SubmittedHandoff};
use interlock_store::keys::Keyring;
use interlock_store::sqlite::SqliteStore;
use rusqlite::Connection;
use serde_json::json;

use crate::project::{self, Project, run, text};

const LANES: usize = 16;
/// Lanes that have a session of their own; the others share one.
const ALONE: usize = 8;
/// Reports of each lane through the engine.
const REPORTS: u32 = 500;
/// Reports of each lane through the command line.
const COMMANDS: u32 = 20;

/// What a lane is told by its environment.
const LANE: &str = "INTERLOCK_TEST_LANE";

/// Where a lane begins.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) session: String,
    pub(crate) assignment: u32,
}

/// The lanes of a project: sessions planned, nothing made yet.
pub(crate) fn lanes(project: &Project, lanes: usize, alone: usize) -> Vec<Lane> {
    let mut found: Vec<Lane> = (0..alone).map(|_| Lane { session: project.planned(1), assignment: 2 }).collect();
    let shared = project.planned(lanes - alone);
    let groups = u32::try_from(lanes - alone).unwrap();
    found.extend((0..groups).map(|group| Lane { session: shared.clone(), assignment: 2 + group }));
    found
}

/// Starts this program again, to drive a lane with so many reports.
pub(crate) fn start(project: &Project, lane: &Lane, reports: u32) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["lanes::drives_a_lane", "--exact", "--ignored", "--nocapture"]).env_clear();
    let told = json!({
        "store": project.store(), "keys": project.home().join(".config/interlock"),
        "session": lane.session, "assignment": lane.assignment, "reports": reports,
    });
    command.env(LANE, told.to_string()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[track_caller]
pub(crate) fn ended(child: Child) {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
#[ignore = "what the processes of other tests run"]
fn drives_a_lane() {
    let Ok(told) = std::env::var(LANE) else { return };
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let store = SqliteStore::open(Path::new(&text(&told["store"]))).unwrap();
    let keyring = Keyring::new(text(&told["keys"]).into(), None);
    let mut engine = Engine::open(Box::new(store), keyring, "out".to_owned()).unwrap();
    let session = Name::new(&text(&told["session"]));
    let mut assignment = AssignmentId(u32::try_from(told["assignment"].as_u64().unwrap()).unwrap());
    for report in 0..told["reports"].as_u64().unwrap() {
        let claim = Request { session: session.clone(), task: Operation::Claim { assignment } };
        let claimed = engine.execute(&claim).unwrap_or_else(|error| panic!("{error}")).claimed.unwrap();
        let (role, status) = turn(report);
        assert_eq!(claimed.role, role, "somebody else moved this group");
        let body = project::handoff(role, status, &json!({})).to_string();
        let given = SubmittedHandoff {
            digest: Digest::of(body.as_bytes()),
            extracted: handoff::extract("handoff", body.as_bytes()).map(Arc::new),
        };
        let task = Operation::Report { assignment, token: Some(claimed.token), given, observed: None };
        let done =
            engine.execute(&Request { session: session.clone(), task }).unwrap_or_else(|error| panic!("{error}"));
        assert!(!done.repeated, "nobody else reported for {assignment}");
        assignment = done.event.decision.as_ref().unwrap().next[0].assignment;
    }
}

/// Who has the group at its n-th report, and what it says.
fn turn(report: u64) -> (&'static str, &'static str) {
    if report.is_multiple_of(2) { ("maker", "MADE") } else { ("checker", "AGAIN") }
}

/// What must be in the store when every lane has reported so many times.
fn is_exact(project: &Project, lanes: &[Lane], reports: u32) {
    let mut sessions: BTreeMap<&str, u32> = BTreeMap::new();
    lanes.iter().for_each(|lane| *sessions.entry(&lane.session).or_default() += 1);
    let connection = Connection::open(project.store()).unwrap();
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap();
    let lanes = u32::try_from(lanes.len()).unwrap();
    let opened = u32::try_from(sessions.len()).unwrap();
    // Each session: started, claimed, planned. Each report: a claim and the report.
    assert_eq!(project.verified(), u64::from(3 * opened + 2 * reports * lanes));
    assert_eq!(count("SELECT count(*) FROM events WHERE kind = 'refused'"), 0);
    assert_eq!(count("SELECT count(*) FROM decisions"), 2 * opened + reports * lanes);
    assert_eq!(
        count("SELECT count(DISTINCT session || '.' || decision) FROM events WHERE kind = 'reported'"),
        opened + reports * lanes
    );
    for (session, groups) in sessions {
        let key = count(&format!("SELECT key FROM sessions WHERE id = '{session}'"));
        let of = |table: &str, more: &str| count(&format!("SELECT count(*) FROM {table} WHERE session = {key} {more}"));
        assert_eq!(of("assignments", "AND status = 'reported'"), 1 + groups * reports);
        assert_eq!(of("assignments", "AND status = 'open'"), groups);
        assert_eq!(of("attachments a JOIN events e ON e.id = a.event", ""), 1 + groups * reports);
        let counted = format!("SELECT count(*) FROM counters WHERE session = {key} AND loop = 'rounds'");
        assert_eq!(count(&counted), 2 * groups, "one for each role of each group");
        let sum = format!("SELECT sum(iteration) FROM counters WHERE session = {key} AND loop = 'rounds'");
        assert_eq!(count(&sum), groups * reports, "every report counted once");
    }
}

#[test]
fn sixteen_processes_with_500_reports_each_lose_and_double_nothing() {
    let project = Project::new("lanes");
    let lanes = lanes(&project, LANES, ALONE);
    let children: Vec<_> = lanes.iter().map(|lane| start(&project, lane, REPORTS)).collect();
    // Concurrent readers see a valid log.
    project.verified();
    children.into_iter().for_each(ended);
    is_exact(&project, &lanes, REPORTS);
}

#[test]
fn sixteen_command_lines_at_once_lose_and_double_nothing() {
    let project = Project::on_disk("commands");
    let lanes = lanes(&project, LANES, ALONE);
    for (role, status) in [turn(0), turn(1)] {
        project.handoff(role, status, &json!({}));
    }
    std::thread::scope(|scope| {
        for lane in &lanes {
            scope.spawn(|| by_command(&project, lane));
        }
    });
    is_exact(&project, &lanes, COMMANDS);
}

fn by_command(project: &Project, lane: &Lane) {
    let mut assignment = format!("{}.a{}", lane.session, lane.assignment);
    for report in 0..u64::from(COMMANDS) {
        let token = project.claim(&assignment);
        let (role, status) = turn(report);
        let handoff = project.root().join(format!("{role}-{status}-0.json"));
        let done = run(&mut project.reporting(&assignment, &token, &handoff)).done();
        assert_eq!(done["repeated"], false);
        assignment = text(&done["next"][0]["assignment"]);
    }
}
