//! Workflows as pictures: what is a box, what an arrow, what a table.

use interlock_core::graph::{
    EdgeKind, GraphEdge, GraphNode, MOST_LABELS, NodeKind, NodeLineMark, WorkflowGraph, graph,
};
use interlock_core::workflow::{BUILTINS, load, load_builtin};

fn built_in(name: &str) -> WorkflowGraph {
    graph(&load_builtin(name).expect("a built-in").workflow.expect("it loads"))
}

fn drawn(text: &str) -> WorkflowGraph {
    let loaded = load("test.yaml", text, &|_| None);
    let problems: Vec<String> = loaded.problems.iter().map(|problem| format!("{problem} {:?}", problem.at)).collect();
    graph(&loaded.workflow.unwrap_or_else(|| panic!("{problems:#?}")))
}

fn node<'a>(graph: &'a WorkflowGraph, title: &str) -> &'a GraphNode {
    graph.nodes.iter().find(|node| node.title == title).unwrap_or_else(|| panic!("no box `{title}`"))
}

fn edges<'a>(graph: &'a WorkflowGraph, from: &str, to: &str) -> Vec<&'a GraphEdge> {
    let title = |index: usize| graph.nodes[index].title.as_str();
    graph.edges.iter().filter(|edge| title(edge.from) == from && title(edge.to) == to).collect()
}

fn edge<'a>(graph: &'a WorkflowGraph, from: &str, to: &str, kind: EdgeKind) -> &'a GraphEdge {
    let found = edges(graph, from, to).into_iter().find(|edge| edge.kind == kind);
    found.unwrap_or_else(|| panic!("no {kind:?} from `{from}` to `{to}`"))
}

/// `STATUS detail` of each label.
fn labels(edge: &GraphEdge) -> Vec<String> {
    edge.labels.iter().map(|label| format!("{} {}", label.text, label.detail).trim().to_owned()).collect()
}

fn inside(node: &GraphNode, mark: NodeLineMark) -> Vec<String> {
    let own = node.lines.iter().filter(|line| line.mark == mark);
    own.map(|line| format!("{} {}", line.label.text, line.label.detail).trim().to_owned()).collect()
}

fn rows(graph: &WorkflowGraph, title: &str) -> Vec<(String, String)> {
    let table = graph.tables.iter().find(|table| table.title.starts_with(title));
    table.unwrap_or_else(|| panic!("no table `{title}`")).rows.clone()
}

fn has_row(graph: &WorkflowGraph, title: &str, what: &str, of_it: &str) -> bool {
    rows(graph, title).contains(&(what.to_owned(), of_it.to_owned()))
}

#[test]
fn every_built_in_has_a_picture_that_is_the_same_every_time() {
    for builtin in BUILTINS {
        assert_eq!(built_in(builtin.name), built_in(builtin.name), "{}", builtin.name);
    }
}

#[test]
fn ids_are_plain_words_and_differ() {
    for builtin in BUILTINS {
        let graph = built_in(builtin.name);
        let mut ids: Vec<&str> = graph.nodes.iter().map(|node| node.id.as_str()).collect();
        assert!(
            ids.iter().all(|id| id.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')),
            "{ids:?}"
        );
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), graph.nodes.len(), "{}", builtin.name);
    }
}

#[test]
fn an_arrow_never_leads_to_its_own_box_nor_stands_twice() {
    for builtin in BUILTINS {
        let graph = built_in(builtin.name);
        for edge in &graph.edges {
            assert_ne!(edge.from, edge.to, "{}: {edge:?}", builtin.name);
            let alike = graph
                .edges
                .iter()
                .filter(|other| (other.from, other.to, other.kind) == (edge.from, edge.to, edge.kind));
            assert_eq!(alike.count(), 1, "{}: {edge:?}", builtin.name);
        }
    }
}

#[test]
fn the_roles_that_can_be_author_are_one_box() {
    let graph = built_in("delivery-team");
    let author = node(&graph, "author");
    assert_eq!(author.kind, NodeKind::Authors);
    let members = ["developer", "requirements_engineer at most 2 at once", "senior_software_engineer"];
    assert_eq!(inside(author, NodeLineMark::Note), members);
    assert!(graph.nodes.iter().all(|node| node.title != "developer"));
}

#[test]
fn a_label_says_whose_it_is_unless_it_is_everybodys() {
    let graph = built_in("delivery-team");
    let review = edge(&graph, "author", "tech_lead", EdgeKind::Forward);
    let secure = "NOTHING_TO_DO security_sensitive: true";
    assert_eq!(labels(review), [secure, "READY_FOR_REVIEW", "ROOT_CAUSE_FOUND senior_software_engineer"]);
    assert_eq!(labels(edge(&graph, "author", "qa_expert", EdgeKind::Forward)), ["READY_FOR_QA engineer"]);
}

#[test]
fn rework_shows_its_loop_and_limit() {
    let graph = built_in("delivery-team");
    assert_eq!(labels(edge(&graph, "qa_expert", "author", EdgeKind::Rework)), ["FAIL qa ≤5"]);
    let merging = edge(&graph, "merge", "author", EdgeKind::Rework);
    assert_eq!(labels(merging), ["MERGE_CONFLICT", "MERGE_TEST_FAILURE", "merging ≤4"], "what they share is said once");
}

#[test]
fn work_that_comes_back_to_the_same_box_is_a_line_in_it() {
    let graph = built_in("delivery-team");
    assert_eq!(inside(node(&graph, "author"), NodeLineMark::Again), ["PARTIAL partial ≤4"]);
    assert_eq!(
        inside(node(&graph, "author"), NodeLineMark::Up),
        ["ESCALATE_SENIOR developer to senior_software_engineer"]
    );
    assert_eq!(inside(node(&graph, "tech_lead"), NodeLineMark::Back), ["UNBLOCKING_GUIDANCE guidance ≤4"]);
}

#[test]
fn a_consultation_returns_and_an_order_does_not() {
    let graph = built_in("delivery-team");
    assert!(edge(&graph, "project_manager", "investigator", EdgeKind::Consult).returns);
    assert!(!edge(&graph, "tech_lead", "investigator", EdgeKind::Forward).returns);
}

#[test]
fn an_escalation_of_the_author_leads_to_every_next_rung() {
    let graph = built_in("delivery-team");
    assert_eq!(labels(edge(&graph, "qa_expert", "author", EdgeKind::Escalation)), ["FAIL_ESCALATE"]);
    assert_eq!(labels(edge(&graph, "qa_expert", "project_manager", EdgeKind::Escalation)), ["FAIL_ESCALATE"]);
    assert!(has_row(&graph, "Escalates to", "qa_expert", "tech_lead → project_manager → a person: stuck"));
}

#[test]
fn blocked_work_that_goes_one_way_whatever_the_reason_is_drawn() {
    let graph = built_in("delivery-team");
    let asks = edge(&graph, "author", "investigator", EdgeKind::Consult);
    assert!(
        labels(asks).contains(&"BLOCKED unblocking ≤8, developer, requirements_engineer".to_owned()),
        "{:?}",
        labels(asks)
    );
    assert_eq!(labels(edge(&graph, "tech_lead", "project_manager", EdgeKind::Consult)), ["BLOCKED unblocking ≤8"]);
    assert!(labels(edge(&graph, "project_manager", "clarify", EdgeKind::Question)).contains(&"BLOCKED".to_owned()));
    assert!(graph.tables.iter().all(|table| !table.title.starts_with("When BLOCKED")), "nothing is left for a table");
}

#[test]
fn blocked_work_that_goes_by_reason_is_a_table() {
    let graph = built_in("integration");
    assert!(graph.edges.iter().flat_map(|edge| &edge.labels).all(|label| label.text != "blocked"));
    let title = "When blocked, ask (unblocking ≤4)";
    assert!(has_row(&graph, title, "architecture_decision", "integration-developer → integration-lead"));
    assert!(has_row(&graph, title, "", "{domain}-lead"), "a role for each domain is one row");
    assert!(has_row(&graph, title, "missing_requirements, out_of_scope, unknown, anything else", "a person"));
}

#[test]
fn what_holds_everywhere_is_said_once() {
    let graph = built_in("feature");
    assert!(has_row(&graph, "From anywhere", "bad_handoff, false_claim, no_handoff", "the same role again, retry ≤3"));
    assert!(has_row(&graph, "From anywhere", "complete", "the next phase"));
    assert!(has_row(&graph, "From anywhere", "needs_review", "a person: approval (approve, reject)"));
    assert!(graph.edges.iter().flat_map(|edge| &edge.labels).all(|label| label.text != "complete"));
    let team = built_in("delivery-team");
    assert!(has_row(&team, "From anywhere", "any other status", "asks tech_lead, unclear ≤2"));
}

#[test]
fn the_tables_say_limits_stand_ins_and_completion() {
    let graph = built_in("delivery-team");
    let loops = "Loops escalate at";
    assert!(has_row(&graph, loops, "review", "iteration 5, or 2 without fewer blocking findings"));
    assert!(has_row(&graph, loops, "merging", "iteration 4"));
    assert!(rows(&graph, loops).iter().all(|(name, _)| name != "settled"), "nobody wrote it, nobody can change it");
    assert!(has_row(&graph, "Stands in", "tech_lead", "for qa_expert, when testing: minimal or disabled"));
    let completes = "A group completes with";
    assert!(has_row(&graph, completes, "passed", "review or acceptance"));
    assert!(has_row(&graph, completes, "once blocked", "acceptance passed too"));
    assert!(has_row(&graph, completes, "gate", "checks on the exact tree"));
}

#[test]
fn completion_goes_through_its_gates() {
    let graph = built_in("delivery-team");
    assert_eq!(labels(edge(&graph, "merge", "checks", EdgeKind::Forward)), ["MERGE_SUCCESS"]);
    assert_eq!(labels(edge(&graph, "checks", "group completed", EdgeKind::Forward)), ["pass"]);
    assert_eq!(labels(edge(&graph, "checks", "author", EdgeKind::Rework)), ["fail merging ≤4"]);
    assert_eq!(labels(edge(&graph, "group completed", "project_manager", EdgeKind::Forward)), ["every group ended"]);
    assert_eq!(labels(edge(&graph, "validator", "session completed", EdgeKind::Forward)), ["ACCEPT"]);
}

#[test]
fn the_stages_of_a_pipeline_stand_in_their_order() {
    let graph = built_in("mcp-wrapper");
    let phases: Vec<&str> =
        graph.nodes.iter().filter(|node| node.kind == NodeKind::Phase).map(|node| node.title.as_str()).collect();
    let order = [
        "tool_selection",
        "schema_discovery",
        "shared_architecture",
        "tool_architecture",
        "testing",
        "implementation",
        "review",
    ];
    assert_eq!(phases, order);
    assert_eq!(
        labels(edge(&graph, "schema_discovery", "shared_architecture", EdgeKind::Forward)),
        ["every group is there"]
    );
    let lanes: Vec<Option<usize>> = order.iter().map(|title| node(&graph, title).lane).collect();
    assert_eq!(lanes, [Some(0), Some(1), Some(2), Some(3), Some(3), Some(3), Some(3)]);
    assert_eq!(
        graph.lanes,
        ["once in the session", "each group, 4 at once", "once in the session", "each group, 4 at once"]
    );
}

#[test]
fn phases_that_run_together_meet_before_rework_or_the_next() {
    let graph = built_in("feature");
    for phase in ["review", "security_review"] {
        edge(&graph, "implementation", phase, EdgeKind::Forward);
        edge(&graph, phase, "all done", EdgeKind::Forward);
    }
    edge(&graph, "all done", "test_planning", EdgeKind::Forward);
    let rework = edge(&graph, "all done", "implementation", EdgeKind::Rework);
    assert_eq!(labels(rework), ["blocking findings, review ≤5"]);
    let security = node(&graph, "security_review");
    assert!(security.optional);
    assert_eq!(inside(security, NodeLineMark::Note), ["{domain}-security", "when domain: backend or frontend"]);
}

#[test]
fn a_checkpoint_stands_between_two_stages() {
    let graph = built_in("integration");
    let checkpoint = node(&graph, "approval");
    assert_eq!(checkpoint.kind, NodeKind::Question);
    assert!(checkpoint.optional);
    assert_eq!(inside(checkpoint, NodeLineMark::Back), ["reject the same work again"]);
    assert!(edge(&graph, "architecture", "approval", EdgeKind::Question).returns);
    assert_eq!(labels(edge(&graph, "approval", "implementation", EdgeKind::Forward)), ["approve"]);
    assert!(edges(&graph, "architecture", "implementation").is_empty(), "not past the checkpoint");
}

#[test]
fn a_gate_that_fails_asks_and_the_answers_lead_on() {
    let graph = built_in("integration");
    assert_eq!(node(&graph, "p0_validation").kind, NodeKind::Gate);
    assert_eq!(labels(edge(&graph, "p0_validation", "p0_violations", EdgeKind::Question)), ["fail"]);
    assert_eq!(labels(edge(&graph, "p0_violations", "implementation", EdgeKind::Rework)), ["fix"]);
    assert_eq!(labels(edge(&graph, "p0_violations", "review", EdgeKind::Forward)), ["waive"]);
    assert_eq!(inside(node(&graph, "p0_violations"), NodeLineMark::Stop), ["stop cancels the session"]);
    assert!(graph.lanes.is_empty(), "all of it is the one group's");
}

const MANY: &str = "
workflow: many
language: 1
roles:
  lead: {}
  worker: { is: [author] }
  lonely: {}
begin: { spawn: lead }
groups: { begin: { spawn: worker }, ended: { spawn: lead } }
routes:
  lead: { GO: { start: groups }, FIN: { end: session } }
  worker:
    A: { spawn: lead }
    B: { spawn: lead }
    C: { spawn: lead }
    D: { spawn: lead }
    E: { spawn: lead }
    F: { spawn: lead }
    G: { spawn: lead }
    OK: { complete: group }
";

#[test]
fn labels_beyond_the_cap_are_counted() {
    let graph = drawn(MANY);
    let edge = edge(&graph, "worker", "lead", EdgeKind::Forward);
    assert_eq!(labels(edge), ["A", "B", "C", "D"]);
    assert_eq!(edge.more, 3);
    assert!(edge.labels.len() < MOST_LABELS);
}

#[test]
fn a_role_that_nothing_leads_to_is_there_all_the_same() {
    let graph = drawn(MANY);
    let lonely = graph.nodes.iter().position(|node| node.title == "lonely").expect("a box of its own");
    assert!(graph.edges.iter().all(|edge| edge.from != lonely && edge.to != lonely));
}

#[test]
fn the_last_stage_of_a_session_ends_outside_the_groups() {
    let graph = drawn(
        "
workflow: closing
language: 1
roles: { planner: {}, worker: { is: [author] }, closer: {} }
routes: { any: { done: { advance: phase } } }
phases:
  - { phase: plan, per: session, role: planner, plans: groups }
  - { phase: work, role: worker }
  - { phase: close, per: session, role: closer }
",
    );
    edge(&graph, "close", "group completed", EdgeKind::Forward);
    assert_eq!(node(&graph, "group completed").lane, None);
    edge(&graph, "group completed", "session completed", EdgeKind::Forward);
}

#[test]
fn a_status_of_one_phase_alone_is_drawn_from_it() {
    let graph = drawn(
        "
workflow: special
language: 1
roles: { designer: {}, worker: { is: [author] }, expert: {} }
loops: { tries: 3 }
routes:
  any: { done: { advance: phase } }
  worker:
    UNSURE: { consult: expert, loop: tries }
    REDESIGN: { goto: design, loop: tries }
    FINISHED: { advance: phase }
  expert: { ADVICE: { return: blocked_agent } }
phases:
  - { phase: design, role: designer }
  - { phase: work, role: worker }
",
    );
    assert_eq!(labels(edge(&graph, "work", "expert", EdgeKind::Consult)), ["UNSURE tries ≤3"]);
    assert_eq!(labels(edge(&graph, "work", "design", EdgeKind::Rework)), ["REDESIGN tries ≤3"]);
    assert_eq!(labels(edge(&graph, "work", "session completed", EdgeKind::Forward)), ["FINISHED"]);
    assert_eq!(inside(node(&graph, "expert"), NodeLineMark::Back), ["ADVICE"]);
}
