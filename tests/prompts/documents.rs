//! The examples of documents 3 and 5 as whole sessions: every artifact and context that a later role needs reaches it.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::scene::{Scene, with_context};

/// A handoff of the documents, as it stands there, without what routes it.
pub(crate) fn example(path: &str) -> Json {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/seeds").join(format!("{path}.json"));
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut example: Json = serde_json::from_str(&text).expect("JSON");
    example["handoff"]["next_agent"] = json!(null);
    example["handoff"].as_object_mut().expect("an object").remove("next_phase");
    example
}

fn context_of(example: &Json) -> &str {
    example["handoff"]["context"].as_str().expect("a context")
}

/// The parts of a text that survive being set in a prompt: its lines.
fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.trim().is_empty()).collect()
}

/// Document 3: architecture, a security block, its help, the P0 gate, review, test planning, tests.
#[test]
fn integration_session_hands_every_context_to_later_roles() {
    let scene = Scene::start("prompts-integration", "integration");
    let design = example("integration-agent-handoffs/phase-3-to-4");
    let lead = scene.desk("integration-lead", "main");
    lead.leave("architecture.md", "# Shodan");
    let mut more = design.clone();
    more["summary"] = json!("Designed the Shodan integration in 6 sections");
    more["artifacts"] = json!(["architecture.md"]);
    scene.report(&lead, "complete", more);
    let architecture = lead.output.join("architecture.md").display().to_string();
    let designed = [context_of(&design), "Designed the Shodan integration in 6 sections", architecture.as_str()];

    let block = example("integration-agent-handoffs/blocked-security-concern");
    let developer = scene.desk("integration-developer", "main");
    developer.must_have(&designed);
    let mut more = block.clone();
    more["files_modified"] = json!(["pkg/shodan/oauth.go"]);
    scene.report(&developer, "blocked", more);
    let attempts: Vec<&str> = block["attempted"].as_array().expect("a list").iter().filter_map(Json::as_str).collect();

    let security = scene.desk("backend-security", "main");
    security.must_have(&designed);
    security.must_have(&[context_of(&block), "security_concern", "pkg/shodan/oauth.go"]);
    security.must_have(&attempts);
    assert!(security.prompt.contains("using-skills") && security.prompt.contains("persisting-agent-outputs"));
    assert!(
        !security.prompt.contains("developing-with-tdd"),
        "a helper has the skills of its own role: {}",
        security.prompt
    );
    let advice = "Job.Secret is fine for refresh tokens if they are encrypted at rest.";
    let skills = json!({ "skills_invoked": ["using-skills", "persisting-agent-outputs"] });
    let decided = scene.report(&security, "complete", with_context(advice, skills));
    assert!(!decided.to_string().contains("E0220"), "no skill is missing: {decided}");

    let again = scene.desk("integration-developer", "main");
    again.must_have(&designed);
    again.must_have(&[context_of(&block), advice, "You reported `blocked`"]);
    again.must_have(&attempts);
    let built = example("integration-agent-handoffs/phase-4-to-4.5");
    scene.report(&again, "complete", built.clone());
    let gate = format!("{}.g1", scene.session);
    scene.team.ask(&["gate", &gate]).done();
    // The project has no such script: the gate fails, and a person waives it.
    let asked = scene.team.ask(&["question", "list"]).done()["questions"][0].clone();
    assert!(asked["facts"].to_string().contains("Gate p0 failed"), "{asked:#}");
    let effects = asked["effects"].to_string();
    for effect in [
        "integration-developer works on main, attempt 3",
        "cancels the session",
        "gate p0 stays failed; the work goes on; backend-reviewer works on main",
    ] {
        assert!(effects.contains(effect), "{effects}");
    }
    let question = asked["question"].as_str().expect("an id");
    scene.team.ask(&["answer", question, "--option", "waive", "--text", "The script comes next week."]).done();
    let exceptions = scene.team.ask(&["session", "show", &scene.session]).json()["exceptions"].to_string();
    assert!(exceptions.contains("gate `p0` failed, and"), "{exceptions}");

    let reviewer = scene.desk("backend-reviewer", "main");
    reviewer.must_have(&designed);
    reviewer.must_have(&[context_of(&built), advice, "Gate `p0` failed", "The script comes next week."]);
    let reviewed = example("integration-agent-handoffs/phase-5-to-6");
    scene.report(&reviewer, "complete", reviewed.clone());

    let planned = "Test pagination with total_count 0, 1 and 1001.";
    let planner = scene.plays("test-lead", "main", "complete", planned, json!({}));
    planner.must_have(&[context_of(&reviewed), context_of(&built), advice]);
    let tester = scene.desk("backend-tester", "main");
    tester.must_have(&designed);
    tester.must_have(&[planned, context_of(&reviewed), context_of(&built), advice, "The script comes next week."]);
}

const TOOLS: usize = 15;

fn tool(number: usize) -> String {
    format!("tool-{number:02}")
}

/// Document 5: 15 tools, one shared architecture, tests first, a blocked implementation, its help, and the review.
#[test]
fn wrapper_session_hands_fifteen_schemas_to_the_shared_architecture() {
    let scene = Scene::start("prompts-wrapper", "mcp-wrapper");
    let groups: Vec<Json> =
        (0..TOOLS).map(|number| json!({ "id": tool(number), "title": format!("Wrap {}", tool(number)) })).collect();
    let selected = "15 of 31 tools are worth wrapping; the others are never called.";
    let plan = json!({ "phase": "tool_selection", "summary": "Selected 15 of 31 Linear tools", "groups": groups });
    scene.plays("claude", "-", "complete", selected, plan);

    let discovery = example("mcp-wrapper-agent-handoffs/schema-discovery");
    let mut schemas = Vec::new();
    for number in 0..TOOLS {
        let context = format!("{}: {}", tool(number), context_of(&discovery));
        let desk = scene.desk("claude", &tool(number));
        desk.must_have(&[selected, "Selected 15 of 31 Linear tools"]);
        desk.leave("schema-discovery.md", &format!("# Schema of {}", tool(number)));
        let mut more = discovery.clone();
        more["summary"] = json!(format!("Discovered the schema of {}: 5 inputs, 850 tokens", tool(number)));
        scene.report(&desk, "complete", with_context(&context, more));
        schemas.push((context, desk.output.join("schema-discovery.md").display().to_string()));
    }

    let shared = scene.desk("tool-lead", "-");
    shared.must_have(&[selected]);
    for (context, schema) in &schemas {
        shared.must_have(&[context, schema]);
    }
    let common = example("mcp-wrapper-agent-handoffs/shared-architecture");
    scene.report(&shared, "complete", common.clone());

    let own = example("mcp-wrapper-agent-handoffs/tool-architecture");
    let lead = scene.desk("tool-lead", &tool(0));
    lead.must_have(&[selected, &schemas[0].0, &schemas[0].1, context_of(&common)]);
    assert!(!lead.has(&schemas[1].0), "another tool's schema is not this group's");
    scene.report(&lead, "complete", own.clone());

    let tests = "18 tests in 6 categories; all fail until the wrapper exists.";
    let more = json!({ "phase": "testing", "summary": "Wrote 18 tests for tool-00", "files_modified": ["tool-00.unit.test.ts"] });
    let tester = scene.plays("tool-tester", &tool(0), "complete", tests, more);
    tester.must_have(&[selected, &schemas[0].0, context_of(&common), context_of(&own)]);

    let blocked = example("mcp-wrapper-agent-handoffs/blocked-test-failures");
    let developer = scene.desk("tool-developer", &tool(0));
    developer.must_have(&[selected, &schemas[0].0, &schemas[0].1, context_of(&common), context_of(&own), tests]);
    assert!(
        developer.prompt.contains("needs the value of `verification.coverage_percent`"),
        "required: {}",
        developer.prompt
    );
    scene.report(&developer, "blocked", blocked.clone());

    let helper = scene.desk("tool-tester", &tool(0));
    let output = blocked["verification"]["command_output"].as_str().expect("output");
    helper.must_have(&lines(output));
    helper.must_have(&[
        context_of(&blocked),
        ".claude/tools/linear/get-issue.ts",
        context_of(&own),
        "Zod refine() error format",
    ]);
    for attempt in blocked["attempted"].as_array().expect("a list") {
        helper.must_have(&[attempt.as_str().expect("a text")]);
    }
    assert!(!helper.prompt.contains("gateway-typescript"), "a helper has its own skills: {}", helper.prompt);
    let help = "Map ZodError to Result.err in one adapter; the tests are right.";
    scene.report(
        &helper,
        "complete",
        with_context(
            help,
            json!({ "phase": "implementation", "summary": "Found the cause of 3 failing tests in get-issue" }),
        ),
    );

    let again = scene.desk("tool-developer", &tool(0));
    again.must_have(&[help, context_of(&blocked), context_of(&own), tests, "You reported `blocked`"]);
    let built = example("mcp-wrapper-agent-handoffs/implementation");
    scene.report(&again, "complete", built.clone());

    let reviewer = scene.desk("tool-reviewer", &tool(0));
    let needed = [selected, &schemas[0].0, context_of(&common), context_of(&own), tests, help, context_of(&built)];
    reviewer.must_have(&needed);
    reviewer.must_have(&[built["summary"].as_str().expect("a summary"), ".claude/tools/linear/get-issue.ts"]);
}
