//! The repository of the session lies within the reach of agents: whatever they do to it, only what was reviewed and
//! merged comes into the result.

use std::fs;

use crate::people::until;
use crate::scene::Scene;

/// Commits a change that was not reviewed, and pushes it to where the workspace borrows its objects from.
const PUSH: &str = r"
def push(branch):
    with open('evil.txt', 'w') as file: file.write('never reviewed\n')
    vault = os.path.dirname(open('.git/objects/info/alternates').read().split()[-1])
    note('did', sh('git add -A; git -c user.name=x -c user.email=x commit -qm evil; git push --force %s HEAD:refs/heads/%s; git reset -q --hard HEAD~1' % (vault, branch)))
    with open(os.path.join(vault, 'refs/heads', branch)) as file: assert len(file.read()) == 41
";

#[test]
fn a_push_into_the_repository_of_the_session_moves_nothing() {
    let reviewer = format!("{PUSH}\npush('integration'); say('PASS', test_progression={{'still_failing': []}})");
    let scene = Scene::new("push").agent("qa_expert", &reviewer);
    scene.completes();
    assert!(scene.noted("did").contains("integration"), "{}", scene.noted("did"));
    assert_eq!(scene.result(), ["README.md", "tests/first.txt", "work/g.txt"]);
}

#[test]
fn what_git_would_obey_there_is_what_interlock_wrote() {
    let developer = r"
work()
if GROUP == 'a':
    os.makedirs('../../repository.git/info', exist_ok=True)
    open('../../repository.git/info/exclude', 'w').write('work/b.txt\n')
    open('../../repository.git/info/attributes', 'w').write('* text working-tree-encoding=UTF-16\n')
say('READY_FOR_QA')";
    let scene = Scene::new("obeyed").agent("developer", developer);
    scene.plan("[{ id: a, title: A }, { id: b, title: B, depends_on: [a] }]");
    scene.completes();
    assert_eq!(scene.result_of("work/b.txt"), "work");
}

/// The approving role sees what is merged.
#[test]
fn an_index_that_overlooks_a_file_is_made_anew() {
    let developer = r"
if ATTEMPT == 1: work('evil\n'); say('READY_FOR_QA')
else:
    vault = os.path.abspath('../../repository.git')
    line = 'GIT_DIR=%s GIT_WORK_TREE=. GIT_INDEX_FILE=%s/index-g git update-index --assume-unchanged work/g.txt; echo $?'
    note('did', sh(line % (vault, vault))); work('good\n'); say('READY_FOR_QA')";
    let tester = r"
seen = open('work/g.txt').read(); note('seen', seen)
failing = [] if seen == 'good\n' else ['x']
say('FAIL' if failing else 'PASS', test_progression={'still_failing': failing}, failing_tests=failing)";
    let scene = Scene::new("index").agent("developer", developer).agent("qa_expert", tester);
    scene.completes();
    assert_eq!((scene.noted("did").as_str(), scene.noted("seen").as_str()), ("0\n", "evil\ngood\n"));
    assert_eq!(scene.result_of("work/g.txt"), "good");
}

/// Interlock's own writes would go where the link leads.
#[test]
fn a_link_in_its_place_is_not_followed() {
    let developer = r"
work(); os.rename('../../repository.git', '../../elsewhere'); os.symlink(os.path.join(PROJECT, '.git'), '../../repository.git')
say('READY_FOR_QA')";
    let scene = Scene::new("linked").agent("developer", developer);
    let before = fs::read(scene.path("project/.git/config")).unwrap();
    let standing = scene.standing();
    let ran = scene.run();
    assert_eq!(ran.exit, 5, "{}", ran.text());
    assert!(ran.text().contains("something else is in its place"), "{}", ran.text());
    assert_eq!(fs::read(scene.path("project/.git/config")).unwrap(), before);
    assert_eq!(scene.standing(), standing);
}

/// The record of merges is sealed: between two runs as well, no other process can change it.
#[test]
fn a_register_that_was_changed_between_two_runs_is_known() {
    let developer = "work()\nif GROUP == 'b': note('began'); time.sleep(60)\nsay('READY_FOR_QA')";
    for (test, change) in [
        ("forged", (|text: &str| text.replacen(" base ", " merged ", 1)) as fn(&str) -> String),
        ("shortened", |text| format!("{}\n", text.lines().next().unwrap())),
        ("removed", |_| String::new()),
    ] {
        let scene = Scene::new(&format!("register-{test}")).agent("developer", developer);
        scene.plan("[{ id: a, title: A }, { id: b, title: B, depends_on: [a] }]");
        let mut run = scene.start();
        until("the second group is at work", || scene.noted("began") == "x");
        run.kill().unwrap();
        run.wait().unwrap();
        let register = scene.site().join("repository.git/register");
        let text = fs::read_to_string(&register).unwrap();
        assert!(text.contains(" merges/a"), "{text}");
        fs::write(&register, change(&text)).unwrap();
        let ran = scene.run();
        assert_eq!(ran.exit, 5, "{test}: {}", ran.text());
        assert!(ran.text().contains("E0608"), "{test}: {}", ran.text());
    }
}

/// Also above a file that is to be there, or not to be there.
#[test]
fn links_within_it_are_not_followed() {
    let developer = r"
import shutil
work(); vault = '../../repository.git'
shutil.rmtree(vault + '/info', ignore_errors=True); os.symlink(os.path.join(PROJECT, '.git/info'), vault + '/info')
os.rename(vault + '/objects/info', vault + '/objects/was'); os.symlink(NOTES, vault + '/objects/info')
say('READY_FOR_QA')";
    let scene = Scene::new("links").agent("developer", developer);
    for name in ["sparse-checkout", "grafts"] {
        scene.put(&format!("project/.git/info/{name}"), "");
    }
    scene.completes();
    assert!(["sparse-checkout", "grafts"].iter().all(|name| scene.path("project/.git/info").join(name).exists()));
    assert!(!scene.path("notes/alternates").exists());
    assert_eq!(scene.result_of("work/g.txt"), "work");
}

/// Files below a link belong to others, the locks too.
#[test]
fn a_link_in_its_place_between_two_runs_is_not_followed() {
    let developer = "work()\nif TURN == 1: note('began'); time.sleep(60)\nsay('READY_FOR_QA')";
    let scene = Scene::new("linked-between").agent("developer", developer);
    let mut run = scene.start();
    until("it is at work", || scene.noted("began") == "x");
    run.kill().unwrap();
    run.wait().unwrap();
    let (vault, elsewhere) = (scene.site().join("repository.git"), scene.path("elsewhere"));
    fs::rename(&vault, &elsewhere).unwrap();
    fs::write(elsewhere.join("yarn.lock"), "kept").unwrap();
    std::os::unix::fs::symlink(&elsewhere, &vault).unwrap();
    let ran = scene.run();
    assert_eq!(ran.exit, 5, "{}", ran.text());
    assert!(elsewhere.join("yarn.lock").exists());
}

/// A register whose last line is gone has seals that fit. What was reported is known from the log.
#[test]
fn a_register_that_forgets_what_was_handed_in_is_known() {
    let tester = "if TURN == 1: note('began'); time.sleep(60)\nsay('PASS', test_progression={'still_failing': []})";
    let scene = Scene::new("register-forgets").agent("qa_expert", tester);
    let mut run = scene.start();
    until("the tester is at work", || scene.noted("began") == "x");
    run.kill().unwrap();
    run.wait().unwrap();
    let register = scene.site().join("repository.git/register");
    let text = fs::read_to_string(&register).unwrap();
    let (before, last) = text.trim_end().rsplit_once('\n').unwrap();
    assert!(last.contains(" groups/g/a"), "{text}");
    fs::write(&register, format!("{before}\n")).unwrap();
    let ran = scene.run();
    assert!(ran.exit == 5 && ran.text().contains("does not know any more"), "{}", ran.text());
    fs::write(&register, &text).unwrap();
    scene.completes();
}

/// Git opens these wherever it looks, and would wait for ever.
#[test]
fn pipes_keep_nobody_waiting() {
    let script = r"
if ROLE == 'developer': work()
for name in ['.gitignore', 'deep/.gitattributes', 'sub/.git/HEAD']:
    os.makedirs(os.path.dirname(name) or '.', exist_ok=True); os.mkfifo(name)
os.makedirs('sub/.git/refs'); os.makedirs('sub/.git/objects')
vault = '../../repository.git/'
for name in ['index-g', 'packed-refs', 'objects/info/commit-graph', 'objects/pack/multi-pack-index', 'config']:
    if os.path.exists(vault + name): os.remove(vault + name)
    os.mkfifo(vault + name)
for name in ['spent.jsonl', 'told.jsonl', 'refs.json', 'kept']:
    if os.path.lexists('../../' + name): os.remove('../../' + name)
    os.mkfifo('../../' + name)
say('READY_FOR_QA') if ROLE == 'developer' else say('PASS', test_progression={'still_failing': []})";
    let scene = Scene::new("pipes").agent("developer", script).agent("qa_expert", script).with("keep: always");
    scene.completes();
    assert_eq!(scene.result_of("work/g.txt"), "work");
}
