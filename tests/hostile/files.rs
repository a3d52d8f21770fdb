//! What agents do to files: links that lead out, workspaces that are not there any more, files that are not theirs.

use std::fs;

use crate::scene::Scene;

const SECRET: &str = "-----BEGIN OPENSSH PRIVATE KEY-----";

fn with_secret(test: &str) -> Scene {
    let scene = Scene::new(test);
    scene.put("home/.ssh/id_ed25519", SECRET);
    scene
}

/// The secret is nowhere but where it was.
fn assert_kept(scene: &Scene, text: &str) {
    assert!(!text.contains(SECRET), "{text}");
    let store = fs::read(scene.path("project/.interlock/interlock.db")).unwrap();
    assert!(!store.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()), "the secret is in the store");
    let grep = scene.git(&["log", "--all", "--format=%H", "-S", SECRET]);
    assert_eq!(grep, "", "the secret is in the repository");
}

#[test]
fn a_link_out_of_the_project_is_not_taken_in() {
    let script = r"
work()
if TURN == 1: os.symlink(os.path.join(E['HOME'], '.ssh/id_ed25519'), 'key')
elif TURN == 2: os.symlink('../../../../../../../etc/passwd', 'work/passwd')
elif TURN == 3: os.symlink(E['HOME'], b'work/\xff\xfe')
elif TURN == 4:
    # Each step seems to stay inside; together they do not.
    os.makedirs('a/b/c'); os.symlink('../../..', 'a/b/c/up'); os.symlink('up/../secret', 'a/b/c/out')
else: os.symlink('g.txt', 'work/fine')
say('READY_FOR_QA')";
    let scene = with_secret("links").agent("developer", script).with("corrections: 9");
    let ran = scene.completes();
    assert_eq!(ran.text().matches("links must not lead out of the project").count(), 4, "{}", ran.text());
    // `a/b/c/up` leads to the root of the project, so only `a/b/c/out` was undone.
    assert_eq!(scene.result(), ["README.md", "a/b/c/up", "tests/first.txt", "work/fine", "work/g.txt"]);
    assert_kept(&scene, &ran.text());
}

#[test]
fn a_handoff_that_is_a_link_is_not_followed() {
    let script = r"
import shutil
key = os.path.join(E['HOME'], '.ssh/id_ed25519')
work()
if TURN == 1: os.symlink(key, os.path.join(OUT, 'handoff.json'))
elif TURN == 2:
    other = os.path.join(E['HOME'], 'elsewhere'); os.makedirs(other)
    os.rmdir(OUT); os.symlink(other, OUT); say('READY_FOR_QA')
elif TURN == 3: os.rmdir(OUT)
elif TURN == 4: os.rmdir(OUT); os.symlink(key, OUT)
else: say('READY_FOR_QA')";
    let scene = with_secret("handoff-link").agent("developer", script).with("corrections: 9");
    let ran = scene.completes();
    assert_kept(&scene, &ran.text());
    assert_eq!(scene.noted("turns-developer").len(), 5, "{}", ran.text());
    assert!(scene.path("home/elsewhere/handoff.json").exists(), "what the link led to was removed");
}

/// The folder that all output folders are in leads elsewhere.
#[test]
fn the_folder_of_all_outputs_replaced_by_a_link() {
    let script = r"
import shutil
all = os.path.dirname(os.path.dirname(OUT))
work()
if TURN == 1:
    mine = os.path.join(E['HOME'], 'mine'); os.makedirs(mine)
    inner = os.path.join(mine, os.path.basename(os.path.dirname(OUT)), os.path.basename(OUT)); os.makedirs(inner)
    open(os.path.join(inner, 'precious'), 'w').write('x')
    shutil.rmtree(all); os.symlink(mine, all)
    say('READY_FOR_QA')
else: say('READY_FOR_QA')";
    let scene = Scene::new("outputs").agent("developer", script).with("corrections: 9");
    scene.completes();
    let precious = scene.git(&["-C", scene.path("home/mine").to_str().unwrap(), "version"]);
    assert!(!precious.is_empty());
    let kept = walk(&scene.path("home/mine")).into_iter().any(|path| path.ends_with("precious"));
    assert!(kept, "what the link led to was removed");
}

/// Interlock cleans workspaces: it must not clean what a link leads to.
#[test]
fn a_workspace_replaced_by_a_link_to_the_users_checkout() {
    let script = r"
import shutil
if TURN <= 2:
    here = os.getcwd()
    os.chdir('/'); shutil.rmtree(here); os.symlink(PROJECT, here)
    if TURN == 1: say('READY_FOR_QA')
else: work(); say('READY_FOR_QA')";
    let scene = Scene::new("replaced").agent("developer", script).with("corrections: 1");
    scene.put("project/uncommitted.txt", "precious\n");
    scene.put("project/README.md", "# Changed by Ann\n");
    let before = scene.standing();
    scene.completes();
    assert_eq!(scene.standing(), before);
    assert_eq!(scene.result(), ["README.md", "tests/first.txt", "work/g.txt"]);
    assert_eq!(scene.result_of("README.md"), "# A project");
}

#[test]
fn a_workspace_that_is_gone() {
    let script = r"
import shutil
if TURN <= 2:
    here = os.getcwd(); os.chdir('/'); shutil.rmtree(here)
    if TURN == 2: open(here, 'w').write('a file')
    say('READY_FOR_QA')
elif TURN == 3:
    here = os.getcwd(); os.chdir('/'); shutil.rmtree(here); shutil.rmtree(OUT)
else: work(); say('READY_FOR_QA')";
    let scene = Scene::new("gone").agent("developer", script).with("corrections: 2");
    scene.completes();
    assert_eq!(scene.result(), ["README.md", "tests/first.txt", "work/g.txt"]);
}

/// Names and things that git refuses hold up only the agent.
#[test]
fn what_cannot_be_taken_in_goes_back() {
    let script = r"
work()
if TURN == 1: os.makedirs('work/git~1'); open('work/git~1/x', 'w').write('x')
elif TURN == 2: os.makedirs('nested'); sh('git init -q nested'); open('nested/x', 'w').write('x')
elif TURN == 3: sh('git init -q nested && cd nested && echo x > x && git add x && git -c user.name=x -c user.email=x commit -qm x')
elif TURN == 4: os.mkfifo('work/fifo'); os.makedirs('work/' + '/'.join(['d' * 200] * 15))
say('READY_FOR_QA')";
    let scene = Scene::new("refused").agent("developer", script).with("corrections: 9");
    let ran = scene.completes();
    assert!(ran.text().matches("the handoff goes back").count() >= 3, "{}", ran.text());
    assert_eq!(scene.result(), ["README.md", "tests/first.txt", "work/g.txt"]);
}

#[test]
fn a_reviewer_that_edits_is_sent_back_and_its_edit_is_undone() {
    let script = r"
note('seen', repr(sorted(os.listdir('.'))) + '\n')
if TURN == 1:
    open('README.md', 'a').write('approved by nobody\n'); open('new.txt', 'w').write('x'); os.remove('tests/first.txt')
    sh('git add -A && git -c user.name=x -c user.email=x commit -qm x')
say('APPROVED', issues=[])";
    let scene = Scene::new("reviewer").agent("tech_lead", script);
    let ran = scene.completes();
    assert!(ran.text().contains("tech_lead may change no file"), "{}", ran.text());
    assert_eq!(scene.noted("turns-tech_lead").len(), 2);
    let seen = scene.noted("seen");
    assert_eq!(seen.lines().next(), seen.lines().nth(1));
    assert_eq!(scene.result(), ["README.md", "tests/first.txt", "work/g.txt"]);
    assert_eq!(scene.result_of("README.md"), "# A project");
}

/// It may write tests, and nothing else.
#[test]
fn a_tester_writes_tests_only() {
    let script = r"
open('tests/second.txt', 'w').write('another test\n')
if TURN == 1: open('work/g.txt', 'a').write('as the test wants it\n')
if TURN == 2: os.rename('README.md', 'tests/README.md')
if TURN == 3: os.symlink('../work', 'tests/work'); open('tests/work/more.txt', 'w').write('through a link\n')
say('PASS', test_progression={'still_failing': []})";
    let workflow =
        "workflow: with-tester\nlanguage: 1\nextends: delivery-team\nroles:\n  qa_expert: { writes: [\"tests/**\"] }\n";
    let scene = Scene::new("tester").agent("qa_expert", script).workflow(workflow).with("corrections: 5");
    let ran = scene.completes();
    assert_eq!(ran.text().matches("qa_expert may change `tests/**`").count(), 3, "{}", ran.text());
    // Only the changes outside of `tests` were undone: the copy and the link within `tests` stay.
    let kept = ["tests/README.md", "tests/first.txt", "tests/second.txt", "tests/work"];
    assert_eq!(scene.result(), [&["README.md"], &kept[..], &["work/g.txt"]].concat());
    assert_eq!(scene.result_of("work/g.txt"), "by developer");
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.extend(walk(&entry.path()));
        }
        found.push(entry.path());
    }
    found
}
