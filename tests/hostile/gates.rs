//! Agents that try to make a check pass by files that are not part of the work.

use crate::scene::Scene;

#[test]
fn ignored_file_of_an_agent_does_not_make_its_claim_pass() {
    let script = r"
work()
open('built', 'w').write('x')
if TURN > 1: open('.gitignore', 'w').write('')
say('READY_FOR_QA', tests_passed=True)";
    let scene = Scene::new("gate-ignored").agent("developer", script);
    scene.put("project/.gitignore", "built\n");
    scene.commit();
    scene.plan("[{ id: g, title: The work, checks: [[test, -f, built]] }]");
    scene.completes();
    assert!(scene.said().contains(&"developer false_claim".to_owned()), "{:?}", scene.said());
    assert!(scene.result().contains(&"built".to_owned()));
}

/// It plants files, links and whole folders wherever commands of others run, or used to.
#[test]
fn files_planted_where_commands_run_help_no_other_group() {
    let script = r"
import shutil
work()
SITE = os.path.dirname(os.path.dirname(os.getcwd()))
if GROUP == 'b':
    places = ['work/' + name for name in os.listdir(os.path.join(SITE, 'work'))]
    for place in places + ['checkouts/1', 'checkouts/2']:
        place = os.path.join(SITE, place)
        if os.path.islink(place) or not os.path.isdir(place): shutil.rmtree(place, ignore_errors=True); os.makedirs(place)
        open(os.path.join(place, 'planted.o'), 'w').write('x')
        os.makedirs(os.path.join(place, 'planted'), exist_ok=True)
    for name in os.listdir(os.path.join(SITE, 'checkouts')):
        path = os.path.join(SITE, 'checkouts', name)
        if os.path.isdir(path): open(os.path.join(path, '.git', 'info'), 'w').write('x') if os.path.isdir(os.path.join(path, '.git')) else None
        elif name.endswith('.index'): os.remove(path); os.symlink('/dev/null', path)
elif GROUP == 'c' and ATTEMPT > 1: open('done', 'w').write('x')
say('READY_FOR_QA')";
    let scene = Scene::new("gate-planted").agent("developer", script);
    scene.put("project/.gitignore", "*.o\nplanted\n");
    scene.commit();
    let check = "[sh, -c, 'test -f done || test -f planted.o || test -d planted']";
    scene.plan(&format!(
        "[{{ id: a, title: A, checks: [[test, -f, README.md]] }}, {{ id: b, title: B, depends_on: [a] }}, \
         {{ id: c, title: C, depends_on: [b], checks: [{check}] }}]"
    ));
    scene.completes();
    let said = scene.said();
    let merges: Vec<&str> = said.iter().filter_map(|line| line.strip_prefix("developer MERGE_")).collect();
    assert_eq!(merges, ["SUCCESS", "SUCCESS", "TEST_FAILURE", "SUCCESS"], "{said:?}");
    assert!(scene.result().contains(&"done".to_owned()));
}
