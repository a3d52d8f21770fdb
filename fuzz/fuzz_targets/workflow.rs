//! Any text as a workflow file: problems or a workflow, never a panic, twice the same. What
//! loads can be drawn, and asked about every status of every role.
#![no_main]

use std::collections::BTreeMap;

use interlock_core::graph::graph;
use interlock_core::route::{Query, Speaker, route};
use interlock_core::workflow::{Workflow, load};

/// Enough of a large file to see whether its rules hold together.
const ASKED: usize = 200;

fn ask(workflow: &Workflow) {
    let statuses = workflow.roles.iter().flat_map(|role| {
        let ix = workflow.role_named(&role.name).expect("a role is found by its name");
        workflow.statuses_of(ix).into_iter().map(|status| (role.name.clone(), status))
    });
    for (role, status) in statuses.take(ASKED) {
        let query = Query {
            source: Speaker::Role(role),
            status,
            reason: None,
            phase: None,
            given: BTreeMap::new(),
            scope: None,
            undeclared_roles: false,
        };
        assert_eq!(route(workflow, &query), route(workflow, &query));
    }
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    let loaded = load("fuzz.yaml", text, &|_| None);
    assert!(loaded.workflow.is_some() || !loaded.problems.is_empty());
    assert_eq!(loaded.problems, load("fuzz.yaml", text, &|_| None).problems);
    if let Some(workflow) = &loaded.workflow {
        let _ = graph(workflow);
        ask(workflow);
    }
});
