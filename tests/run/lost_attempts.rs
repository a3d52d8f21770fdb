//! An agent that comes back after a lost attempt finds its earlier work.

use std::fs;

use crate::yard::Yard;

/// An agent that plays one step of `plan.py` for each time that it is called, and keeps its prompts.
const AGENT: &str = r#"import json, os, sys
base = os.path.dirname(os.path.abspath(__file__))
role, group, out = os.environ["INTERLOCK_ROLE"], os.environ.get("INTERLOCK_GROUP", ""), os.environ["INTERLOCK_OUTPUT"]
prompt = sys.stdin.read()
kept = os.path.join(base, "kept")
os.makedirs(kept, exist_ok=True)
number = len([name for name in os.listdir(kept) if name.startswith(role + "-" + group + "-")]) + 1
open(os.path.join(kept, f"{role}-{group}-{number}"), "w").write(prompt)
sys.path.insert(0, base)
from plan import PLAN
steps = PLAN[role + (":" + group if group else "")]
step = dict(steps[min(number, len(steps)) - 1])
for path, text in step.pop("write", {}).items():
    open(path, "w").write(text)
for path, text in step.pop("docs", {}).items():
    open(os.path.join(out, path), "w").write(text)
print(step.pop("say", ""), flush=True)
if step.pop("hang", False):
    import time
    open(os.path.join(kept, "hangs"), "w").write("x")
    time.sleep(60)
if "exit" in step:
    sys.exit(step["exit"])
open(os.path.join(out, "handoff.json"), "w").write(json.dumps(step))
"#;

const OTHERS: &str = r#"
PLAN["project_manager"] = [
    {"status": "PLANNING_COMPLETE", "handoff": {"context": "one group"}, "groups": [{"id": "one", "title": "One"}]},
    {"status": "BAZINGA", "handoff": {"context": "all is done and merged"}}]
PLAN["qa_expert:one"] = [{"status": "PASS", "handoff": {"context": "3 tests pass"}}]
PLAN["tech_lead:one"] = [{"status": "APPROVED", "handoff": {"context": "all is good"}}]
READY = {"status": "READY_FOR_QA", "handoff": {"context": "built a with 3 tests"}, "write": {"a.txt": "a"}}
"#;

/// A project whose developer does these steps, each a Python expression.
fn yard(name: &str, steps: &[&str], limits: &str) -> Yard {
    let yard = Yard::new(name, &[("m.md", "# One\n")]);
    let base = yard.project().parent().expect("a folder").join("agent");
    fs::create_dir_all(&base).expect("a folder");
    fs::write(base.join("agent.py"), AGENT).expect("the agent");
    let plan = format!("PLAN = {{}}{OTHERS}PLAN['developer:one'] = [{}]\n", steps.join(", "));
    fs::write(base.join("plan.py"), plan).expect("the plan");
    let agents = format!(
        "agents: {{ p: {{ client: command, command: [python3, \"{}\"] }} }}\nroles: {{ any: p }}\n{limits}",
        base.join("agent.py").display()
    );
    fs::write(base.join("agents.yaml"), agents).expect("the team");
    yard
}

fn agents(yard: &Yard) -> String {
    yard.project().parent().expect("a folder").join("agent/agents.yaml").display().to_string()
}

fn prompt(yard: &Yard, number: u32) -> String {
    let path = yard.project().parent().expect("a folder").join(format!("agent/kept/developer-one-{number}"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The path that a prompt names and that ends like this.
fn named(prompt: &str, ending: &str) -> String {
    let line = prompt.lines().find(|line| line.starts_with("- ") && line.ends_with(ending));
    line.unwrap_or_else(|| panic!("no {ending} in {prompt}"))[2..].to_owned()
}

const HALF: &str = "{'say': 'SAID I was at half', 'write': {'half.txt': 'half'}, 'docs': {'notes.md': 'NOTES', 'more.md': 'x'}, 'exit': 1}";

#[test]
fn attempt_after_a_crash_finds_output_documents_and_patch() {
    let yard = yard("lost_crash", &[HALF, "READY"], "keep: always\n");
    let ended = yard.run(&["m.md", "--agents", &agents(&yard), "--no-wait"]);
    assert_eq!(ended["status"], "completed", "{ended}");
    let prompt = prompt(&yard, 2);
    assert!(prompt.contains("## Your last attempt ended without a handoff that was accepted"), "{prompt}");
    assert!(prompt.contains("exit code 1"), "{prompt}");
    assert!(prompt.contains("## What your last attempt left"), "{prompt}");
    assert!(prompt.contains("its output:\nSAID I was at half\n"), "{prompt}");
    assert_eq!(fs::read_to_string(named(&prompt, "/notes.md")).expect("the document"), "NOTES");
    let patch = fs::read_to_string(named(&prompt, "/lost/changes.patch")).expect("the patch");
    assert!(patch.contains("+half"), "{patch}");
    let session = ended["session"].as_str().expect("a session");
    assert!(!yard.git(&["ls-tree", "--name-only", &format!("interlock/{session}")]).contains("half.txt"));
}

#[test]
fn attempt_after_a_single_markdown_document_finds_it() {
    let step = "{'say': 'SAID I forgot', 'docs': {'notes.md': 'NOTES'}, 'exit': 0}";
    let yard = yard("lost_document", &[step, "READY"], "keep: always\n");
    assert_eq!(yard.run(&["m.md", "--agents", &agents(&yard), "--no-wait"])["status"], "completed");
    let prompt = prompt(&yard, 2);
    assert_eq!(fs::read_to_string(named(&prompt, "/notes.md")).expect("the document"), "NOTES");
    assert!(prompt.contains("SAID I forgot"), "{prompt}");
}

#[test]
fn attempt_after_refused_handoffs_finds_their_context() {
    let bad = "{'status': 'READY_FOR_QA', 'handoff': {'context': 'REFUSED I built a with 3 tests'}, 'files_modified': ['ghost.txt'], 'write': {'b.txt': 'b'}}";
    let yard = yard("lost_refused", &[bad, bad, bad, bad, "READY"], "keep: always\n");
    assert_eq!(yard.run(&["m.md", "--agents", &agents(&yard), "--no-wait"])["status"], "completed");
    let prompt =
        (2..6).map(|number| prompt(&yard, number)).find(|prompt| prompt.contains("## What your last attempt left"));
    let prompt = prompt.expect("a second attempt");
    assert!(
        prompt.contains("handoff that was not accepted:\nstatus: READY_FOR_QA\ncontext: REFUSED I built"),
        "{prompt}"
    );
    assert!(prompt.contains("ghost.txt"), "{prompt}");
    // The work was accepted before its handoff was refused, and stays.
    assert!(!prompt.contains("lost/changes.patch"), "{prompt}");
}

#[test]
fn attempt_after_a_time_limit_finds_its_output() {
    let hang = "{'say': 'SAID b is to do', 'write': {'half.txt': 'half'}, 'hang': True}";
    let yard = yard("lost_slow", &[hang, "READY"], "keep: always\nlimits: { time: 3s, grace: 1s }\n");
    assert_eq!(yard.run(&["m.md", "--agents", &agents(&yard), "--no-wait"])["status"], "completed");
    let prompt = prompt(&yard, 2);
    assert!(prompt.contains("took too long"), "{prompt}");
    assert!(prompt.contains("SAID b is to do"), "{prompt}");
    named(&prompt, "/lost/changes.patch");
}

#[test]
fn attempt_after_a_killed_run_finds_output_documents_and_patch() {
    let hang = "{'say': 'SAID b is to do', 'write': {'half.txt': 'half'}, 'docs': {'notes.md': 'NOTES'}, 'hang': True}";
    let yard = yard("lost_killed", &[hang, "READY"], "keep: always\n");
    let team = agents(&yard);
    let mut run = yard.start(&["m.md", "--agents", &team, "--no-wait"]);
    let hangs = yard.project().parent().expect("a folder").join("agent/kept/hangs");
    yard.until("the agent hangs", || hangs.exists().then_some(()));
    run.kill().expect("the run is killed");
    run.wait().expect("it ended");
    assert_eq!(yard.run(&["--agents", &team, "--no-wait"])["status"], "completed");
    let prompt = prompt(&yard, 2);
    assert!(prompt.contains("It ended before it reported"), "{prompt}");
    assert!(prompt.contains("SAID b is to do"), "{prompt}");
    assert_eq!(fs::read_to_string(named(&prompt, "/notes.md")).expect("the document"), "NOTES");
    let patch = fs::read_to_string(named(&prompt, "/lost/changes.patch")).expect("the patch");
    assert!(patch.contains("+half"), "{patch}");
}

#[test]
fn next_prompt_marks_missing_artifacts_and_shows_a_helpers_changes() {
    let blocked = "{'status': 'NEEDS_TECH_LEAD_VALIDATION', 'handoff': {'context': 'CTX is the design right'}, 'validation_request': 'the design', 'artifacts': ['real.md', 'ghost.md', 'm.md', 'a.txt'], 'docs': {'real.md': 'x', 'more.md': 'y'}, 'write': {'a.txt': 'a'}}";
    let yard = yard("helpers_changes", &[blocked, "READY"], "keep: always\n");
    let base = yard.project().parent().expect("a folder").join("agent/plan.py");
    let plan = fs::read_to_string(&base).expect("the plan")
        + "PLAN['tech_lead:one'] = [{'status': 'UNBLOCKING_GUIDANCE', 'handoff': {'context': 'use b'}, 'guidance': 'use b', 'write': {'b.txt': 'b'}}, {'status': 'APPROVED', 'handoff': {'context': 'all is good'}}]\n";
    fs::write(&base, plan).expect("the plan");
    // A reviewer that may write, so that its help can change files.
    yard.write(
        "w.yaml",
        "workflow: w\nextends: delivery-team\nlanguage: 1\nroles:\n  tech_lead: { writes: [\"**\"] }\n",
    );
    let ended = yard.run(&["m.md", "--workflow", "w.yaml", "--agents", &agents(&yard), "--no-wait"]);
    assert_eq!(ended["status"], "completed", "{ended}");
    let prompt = prompt(&yard, 2);
    let artifacts: Vec<&str> = prompt.lines().filter(|line| line.ends_with("(claimed, but not found)")).collect();
    assert_eq!(artifacts, ["- ghost.md (claimed, but not found)"], "{prompt}");
    let helped = &prompt[prompt.find("to help you").expect("the helper's report")..];
    assert!(helped.contains("- a.txt (added)\n- b.txt (added)"), "{prompt}");
    assert_eq!(prompt.matches("files changed (").count(), 1, "{prompt}");
    assert!(helped.contains("` shows what it changed to help."), "{prompt}");
}
