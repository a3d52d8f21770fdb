//! Protected paths: only their owners change them, and only people allow more.

use crate::changes::{project, prompt, run};

/// Changes everything that judges the work, and then only what it was asked for.
const MEDDLER: &str = "
put('real.txt')
if TURN == 1:
    for name in ['interlock.yaml', 'agents.yaml', '.github/workflows/ci.yml', '.claude/settings.json', '.GitLab-CI.yml', 'AGENTS.md']: put(name)
say('READY_FOR_QA')
";
const WORKFLOW: &str = "workflow: ours\nlanguage: 1\nextends: delivery-team\n";

#[test]
fn protected_paths_that_an_author_changes_are_undone_and_sent_back() {
    let files = [("interlock.yaml", WORKFLOW), (".github/workflows/ci.yml", "true\n")];
    let yard = project("protected", &["developer"], MEDDLER, &files);
    let (text, code, session) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    let back = prompt(&yard, "developer", 2);
    assert!(back.contains("E0620") && back.contains("developer does not own them"), "{back}");
    for path in ["interlock.yaml", "agents.yaml", ".github/workflows/ci.yml", ".claude/settings.json", ".GitLab-CI.yml"]
    {
        assert!(back.contains(&format!("`{path}`")), "{path}: {back}");
    }
    assert!(!back.contains("`AGENTS.md`"), "instructions are not protected: {back}");
    assert_eq!(yard.result(&session, ".github/workflows/ci.yml"), "true");
    let files = yard.git(&["ls-tree", "-r", "--name-only", &format!("interlock/{session}")]);
    assert!(files.contains("real.txt") && !files.contains(".claude"), "{files}");
}

/// An author that touches a protected path keeps the rest of its work.
#[test]
fn work_beside_a_protected_path_is_not_undone() {
    let body = "
if TURN == 1:
    put('src/kept.txt'); put('.github/workflows/ci.yml'); os.remove('ci/old.yml') if os.path.exists('ci/old.yml') else None
elif not os.path.exists('src/kept.txt') or open('.github/workflows/ci.yml').read() != 'true\\n':
    sys.exit('the work is gone')
say('READY_FOR_QA')
";
    let files = [("interlock.yaml", WORKFLOW), (".github/workflows/ci.yml", "true\n"), ("ci/old.yml", "old\n")];
    let yard = project("beside_protected", &["developer"], body, &files);
    let (text, code, session) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    let back = prompt(&yard, "developer", 2);
    let undone = "these changes were undone, and your other changes are still there: `.github/workflows/ci.yml`";
    assert!(back.contains(undone), "{back}");
    assert_eq!(yard.result(&session, ".github/workflows/ci.yml"), "true");
    let files = yard.git(&["ls-tree", "-r", "--name-only", &format!("interlock/{session}")]);
    assert!(files.contains("src/kept.txt"), "{files}");
}

/// The files of this very session are protected wherever they lie in the project; a link in the place of a folder is refused.
#[test]
fn files_of_the_session_and_links_in_place_of_folders_are_protected() {
    let body = "
put('real.txt')
if TURN == 1: put('team/roles.yaml'); put('team/flow.yaml')
if TURN == 2: os.makedirs('mine/workflows'); put('mine/workflows/ci.yml'); os.symlink('mine', '.github')
say('READY_FOR_QA')
";
    let yard = project("of_session", &["developer"], body, &[("team/flow.yaml", WORKFLOW)]);
    std::fs::rename(yard.path("agents.yaml"), yard.path("team/roles.yaml")).expect("a file");
    std::fs::copy(yard.path("scripted.yaml"), yard.path("team/scripted.yaml")).expect("a file");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-q", "-m", "The team"]);
    let (text, code, _) = run(&yard, &["--agents", "team/roles.yaml", "--workflow", "team/flow.yaml"]);
    assert_eq!(code, Some(0), "{text}");
    let (second, third) = (prompt(&yard, "developer", 2), prompt(&yard, "developer", 3));
    assert!(second.contains("E0620"), "{second}");
    for path in ["team/flow.yaml", "team/roles.yaml"] {
        let named = format!("`{path}` (the workflow or agents file of this session; no role owns it)");
        assert!(second.contains(&named) && second.contains(&format!("--allow '{path}'")), "{second}");
    }
    assert!(third.contains("E0620") && third.contains("`.github`"), "{third}");
}

/// A developer that needs a protected path, and a plan that tries to allow it.
const NEEDS_CI: &str = "
if ROLE == 'project_manager' and TURN == 1:
    say('PLANNING_COMPLETE', allow=['**'], protected=[], groups=[dict(id='one', title='One', allow=['.github/**'], owns=['.github/**'])])
elif ROLE == 'project_manager' and 'INTERLOCK_GROUP' in E: say('NEEDS_CLARIFICATION', clarification_question='May the group change CI?')
elif ROLE == 'project_manager': say('BAZINGA')
else: put('.github/workflows/ci.yml', 'new\\n'); say('READY_FOR_QA')
";
const PLAYED: &[&str] = &["developer", "senior_software_engineer", "project_manager"];

#[test]
fn plan_allows_no_protected_path_and_the_answer_of_a_person_does() {
    let yard = project("allowed_by_answer", PLAYED, NEEDS_CI, &[("interlock.yaml", WORKFLOW)]);
    let (text, code, session) = run(&yard, &[]);
    assert_ne!(code, Some(0), "{text}");
    assert!(text.contains("E0620"), "a plan allows nothing: {text}");

    let question = yard.json(&["question", "list", &session])["questions"][0]["question"].clone();
    let question = question.as_str().expect("a question");
    let bad = yard.ask(&["answer", question, "--text", "Yes.", "--allow", "/etc/**"]);
    let said = String::from_utf8_lossy(&bad.stderr).into_owned();
    assert!(said.contains("E0366") && said.contains("`/etc/**`"), "{said}");
    yard.json(&["answer", question, "--text", "Yes, start over.", "--allow", ".github/workflows/**"]);
    let shown = yard.json(&["session", "show", &session]);
    assert_eq!(shown["allowed_paths"], serde_json::json!([{ "pattern": ".github/workflows/**", "by": "ann" }]));
    let by_override = ["override", &session, "one", "--to", "developer", "--why", "CI may be changed"];
    yard.json(&by_override);
    let (text, code, _) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(yard.result(&session, ".github/workflows/ci.yml"), "new");
}

#[test]
fn person_allows_protected_paths_when_the_run_starts() {
    let yard = project("allowed_by_person", PLAYED, NEEDS_CI, &[("interlock.yaml", WORKFLOW)]);
    let (text, code, session) = run(&yard, &["--allow", ".github/workflows/**"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(yard.result(&session, ".github/workflows/ci.yml"), "new");
    let text = yard.ask(&["session", "show", &session]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("protected paths allowed by ann: .github/workflows/**"), "{text}");
}

/// A role that owns the paths changes them, and no other role does.
#[test]
fn role_that_owns_protected_paths_changes_them() {
    let workflow = format!("{WORKFLOW}protected: [\"deploy/**\"]\nroles:\n  developer: {{ owns: [\"deploy/**\"] }}\n");
    let body = "
if ROLE == 'developer' and ATTEMPT == 1: put('real.txt'); say('ESCALATE_SENIOR')
elif ROLE == 'senior_software_engineer' and TURN == 1: put('deploy/a'); say('READY_FOR_QA')
elif ROLE == 'senior_software_engineer': put('real.txt'); say('READY_FOR_QA')
";
    let yard = project("owners", &["developer", "senior_software_engineer"], body, &[("interlock.yaml", &workflow)]);
    let (text, code, _) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    let back = prompt(&yard, "senior_software_engineer", 2);
    assert!(back.contains("E0620"), "{back}");
    assert!(back.contains("`deploy/a` (protected by `deploy/**`; owned by developer)"), "{back}");
    assert!(back.contains("`interlock run --allow 'deploy/**'`"), "{back}");

    let body = "put('deploy/a'); say('READY_FOR_QA')\n";
    let yard = project("owner", &["developer"], body, &[("interlock.yaml", &workflow)]);
    let (text, code, session) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(yard.result(&session, "deploy/a"), "x");
}

/// An author that edits the script of a gate would decide by itself whether its work passes.
#[test]
fn script_that_a_gate_runs_is_protected_and_a_new_one_is_not() {
    let workflow = format!(
        "{WORKFLOW}gates:\n  lint: {{ run: [sh, ci/lint.sh], fail: {{ respawn: author, loop: merging }} }}\n  \
         fresh: {{ run: [sh, -c, \"sh new.sh\"], fail: {{ respawn: author, loop: merging }} }}\n\
         completion: {{ group: {{ gates: [checks, lint, fresh] }} }}\n"
    );
    let body = "
put('real.txt'); put('new.sh', 'true\\n')
if TURN == 1: put('ci/lint.sh', 'true\\n')
say('READY_FOR_QA')
";
    let files = [("interlock.yaml", workflow.as_str()), ("ci/lint.sh", "test -f real.txt\n")];
    let yard = project("gate_script", &["developer"], body, &files);
    let (text, code, session) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    let back = prompt(&yard, "developer", 2);
    let named = "`ci/lint.sh` (a script that a gate or `prepare` runs; no role owns it)";
    assert!(back.contains("E0620") && back.contains(named) && !back.contains("`new.sh`"), "{back}");
    assert_eq!(yard.result(&session, "ci/lint.sh"), "test -f real.txt");
    assert_eq!(yard.result(&session, "new.sh"), "true");
}

/// Authors have to edit such files, so the reviewer hears of it.
#[test]
fn changed_configuration_of_a_gate_is_pointed_out_to_the_reviewer() {
    let workflow = format!(
        "{WORKFLOW}gates:\n  built: {{ run: [sh, -c, \"test -f Makefile || make check\"], fail: {{ respawn: author, loop: merging }} }}\n\
         completion: {{ group: {{ gates: [checks, built] }} }}\n"
    );
    let body = "
if ROLE == 'developer': put('real.txt'); put('Makefile', 'check:\\n'); say('READY_FOR_QA')
else: say('APPROVED', issues=[])
";
    let files = [("interlock.yaml", workflow.as_str()), ("Makefile", "check:\n\tfalse\n")];
    let yard = project("gate_config", &["developer", "tech_lead"], body, &files);
    let (text, code, _) = run(&yard, &[]);
    assert_eq!(code, Some(0), "{text}");
    let lead = prompt(&yard, "tech_lead", 1);
    assert!(lead.contains("group one: file of a gate Makefile was modified"), "{lead}");
    assert!(text.contains("existing files of gates were changed: Makefile (modified)"), "{text}");
}
