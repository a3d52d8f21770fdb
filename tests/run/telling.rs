//! What agents are told: everything that they need to know, and nothing that contradicts itself.

use std::fs;

use crate::yard::Yard;

/// Agents that keep what they were told, and look around in their folder.
const AGENT: &str = r"
import json, os, subprocess, sys
E = os.environ
ROLE, GROUP, OUT = E['INTERLOCK_ROLE'], E.get('INTERLOCK_GROUP', 'session'), E['INTERLOCK_OUTPUT']
PROMPT = sys.stdin.read()
NOTES = os.path.join(E['NOTES'], ROLE)
TURN = 1
while os.path.exists('%s-%d' % (NOTES, TURN)): TURN += 1
with open('%s-%d' % (NOTES, TURN), 'w') as file: file.write(PROMPT)
whole = os.path.join(OUT, 'whole', 'mission.md')
with open('%s-%d.mission' % (NOTES, TURN), 'w') as file: file.write(open(whole).read() if os.path.exists(whole) else '')
for path in PROMPT.split():
    if path.endswith('/design.md'):
        with open('%s-%d.design' % (NOTES, TURN), 'w') as file: file.write(path + '\n' + open(path).read())
if 'git diff ' in PROMPT:
    base = PROMPT.split('git diff ')[1].split('`')[0]
    with open('%s-%d.diff' % (NOTES, TURN), 'w') as file:
        file.write(subprocess.run(['git', 'diff', base], capture_output=True, text=True).stdout)
def say(status, **more):
    said = { 'agent': ROLE, 'output_type': 'r', 'timestamp': '2026-01-18T15:42:00Z', 'feature_directory': '.',
             'skills_invoked': [], 'status': status, 'handoff': { 'next_agent': None, 'context': 'c' } }
    said.update(more)
    with open(os.path.join(OUT, 'handoff.json'), 'w') as file: json.dump(said, file)
    sys.exit(0)
if ROLE == 'project_manager' and TURN == 1: say('no such status')
if ROLE == 'project_manager' and TURN == 2:
    say('PLANNING_COMPLETE', groups=[{ 'id': 'g', 'title': 'T', 'description': 'MAKE FOO DO BAR' }])
if ROLE == 'project_manager': say('BAZINGA')
if ROLE == 'developer':
    with open('work.txt', 'a') as file: file.write('by the developer\n')
    with open(os.path.join(OUT, 'design.md'), 'w') as file: file.write('DESIGN OF FOO')
    answers = [{ 'id': 'R1', 'response': 'fixed' }] if TURN > 1 else []
    say('READY_FOR_QA', artifacts=['design.md'], issue_responses=answers)
if ROLE == 'qa_expert': say('PASS', test_progression={ 'still_failing': [] })
if ROLE == 'tech_lead' and TURN == 1:
    say('CHANGES_REQUESTED', issues=[{ 'id': 'R1', 'title': 'Bad', 'location': 'work.txt:1', 'severity': 'HIGH',
        'blocking': True, 'description': 'IT SAYS TOO LITTLE' }])
say('APPROVED', issues=[])
";

const WORKFLOW: &str = "workflow: ours\nlanguage: 1\nextends: delivery-team\nunknown_status: null\nroles:\n  \
     qa_expert: { writes: [\"tests/**\", \"spec/**\"], deadline: 90m, about: You are the one who breaks things. }\n";

fn yard(test: &str, mission: &str) -> Yard {
    let agents = "agents: { a: { client: command, command: [python3, agent.py], env: [NOTES] } }\nroles: { any: a }\n";
    let files = [("agent.py", AGENT), ("agents.yaml", agents), ("interlock.yaml", WORKFLOW), ("m.md", mission)];
    let yard = Yard::new(test, &files);
    fs::create_dir_all(yard.path("../notes")).expect("a folder");
    yard
}

fn noted(yard: &Yard, name: &str) -> String {
    fs::read_to_string(yard.path("../notes").join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn everything_that_agents_need_to_know_is_in_their_prompts() {
    let mission = format!("# A long mission\n\n{}\n\nLAST WORD\n", "word ".repeat(8_000));
    let yard = yard("telling", &mission);
    let output = yard.command(&["run", "m.md"]).env("NOTES", yard.path("../notes")).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    // People are told once that the mission is too long; agents get all of it, after a correction too.
    assert_eq!(text.matches("longer than a prompt").count(), 1, "{text}");
    for name in ["project_manager-1", "project_manager-2", "developer-1", "qa_expert-1", "tech_lead-2"] {
        let prompt = noted(&yard, name);
        assert!(prompt.contains("left out: mission; all of it is in `") && !prompt.contains("LAST WORD"), "{prompt}");
        assert_eq!(noted(&yard, &format!("{name}.mission")).trim(), mission.trim(), "{name}");
        for contradiction in ["interlock report", "INTERLOCK_TOKEN", "hand_off", "How it ends"] {
            assert!(!prompt.contains(contradiction), "{name}: {contradiction}: {prompt}");
        }
        let (folder, returned) = (prompt.find("## Your folder"), prompt.find("\n## Return\n"));
        assert!(folder.is_some() && folder < returned, "the return format comes last: {prompt}");
        assert_eq!(prompt.matches("handoff.json`, then end.").count(), 1, "{prompt}");
    }
    // What the plan says of the group reaches everybody, and what the reviewer found its author.
    for name in ["developer-1", "qa_expert-1", "tech_lead-1", "developer-2", "qa_expert-2", "tech_lead-2"] {
        assert!(noted(&yard, name).contains("MAKE FOO DO BAR"), "{name}");
    }
    assert!(noted(&yard, "developer-2").contains("| IT SAYS TOO LITTLE\n"), "{}", noted(&yard, "developer-2"));
    // The tester knows what it is, what it may change, and for how long.
    let tester = noted(&yard, "qa_expert-1");
    for told in [
        "\nYou are the one who breaks things.\n",
        "Change only files that match `tests/**`, `spec/**`.",
        "You have 1 hour 30 minutes in all.",
    ] {
        assert!(tester.contains(told), "{told}: {tester}");
    }
    assert!(noted(&yard, "tech_lead-1").contains("Change no project files."));
    // A document of the developer is there for later roles, in a folder that they can read.
    for name in ["qa_expert-1", "tech_lead-1", "developer-2"] {
        let design = noted(&yard, &format!("{name}.design"));
        assert!(design.contains("/earlier/") && design.ends_with("DESIGN OF FOO"), "{name}: {design}");
    }
    // What it is told to compare with is there.
    for name in ["qa_expert-1.diff", "tech_lead-1.diff"] {
        assert!(noted(&yard, name).contains("+by the developer"), "{name}: {}", noted(&yard, name));
    }
    assert_eq!(noted(&yard, "developer-1.diff"), "");
}

/// A caller that claims by hand finds the cut texts in the output directory. A link that was laid there is not
/// followed.
#[test]
fn what_does_not_fit_is_laid_out_for_a_claim_by_hand() {
    let mission = format!("# A long mission\n\n{}\n\nLAST WORD\n", "word ".repeat(8_000));
    let yard = yard("claimed", &mission);
    yard.json(&["init"]);
    let started = yard.json(&["session", "start", "--title", "Long", "--mission", "m.md"]);
    let session = started["session"].as_str().expect("a session");
    let folder = yard.path(&format!(".interlock/sessions/{session}/a1.1/whole"));
    fs::create_dir_all(&folder).expect("a folder");
    std::os::unix::fs::symlink(yard.path("README"), folder.join("mission.md")).expect("a link");
    let claimed = yard.json(&["claim", &format!("{session}.a1")]);
    let (prompt, file) = (claimed["prompt"].as_str().expect("a prompt"), folder.join("mission.md"));
    assert!(prompt.contains(&format!(".interlock/sessions/{session}/a1.1/whole/mission.md`]")), "{prompt}");
    assert_eq!(fs::read_to_string(&file).expect("it is there").trim(), mission.trim());
    assert!(fs::symlink_metadata(&file).expect("it is there").is_file() && !yard.path("README").exists());
}
