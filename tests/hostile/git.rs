//! Git as a weapon: hooks, filters, watchers and refs. What counts is the files; whatever an agent does to a `.git`
//! has no effect on the user's repository, and makes Interlock's git run nothing.
//!
//! An agent is a process of the same user. It can find the user's repository by its path, and write there like any other
//! program: that is not prevented here (docs/security.md). What these tests say is that nothing of a workspace leads there.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::scene::Scene;

/// A program that leaves a trace.
const TRAP: &str = r#"
trap = os.path.join(NOTES, 'trap.sh')
if not os.path.exists(trap):
    with open(trap, 'w') as file: file.write('#!/bin/sh\necho "$0 $*" >> "%s/sprung"\ncat\n' % NOTES)
    os.chmod(trap, 0o755)
config = '''
[core]
    repositoryformatversion = 0
    bare = false
    fsmonitor = %(t)s
    hooksPath = %(t)s.hooks
    pager = %(t)s
    sshCommand = %(t)s
    editor = %(t)s
    attributesFile = %(t)s.attributes
[filter "x"]
    clean = %(t)s
    smudge = %(t)s
    process = %(t)s
    required = true
[merge "x"]
    driver = %(t)s
[diff "x"]
    textconv = %(t)s
    command = %(t)s
[diff]
    external = %(t)s
[uploadpack]
    packObjectsHook = %(t)s
[alias]
    add = !%(t)s
    read-tree = !%(t)s
    write-tree = !%(t)s
    clean = !%(t)s
    diff-tree = !%(t)s
''' % {'t': trap}
hooks = ['pre-commit', 'post-checkout', 'post-index-change', 'reference-transaction', 'post-merge', 'pre-push', 'update']
def set_traps(git):
    with open(os.path.join(git, 'config'), 'w') as file: file.write(config)
    for folder in (os.path.join(git, 'hooks'), trap + '.hooks'):
        os.makedirs(folder, exist_ok=True)
        for hook in hooks:
            path = os.path.join(folder, hook)
            if not os.path.exists(path): os.symlink(trap, path)
def attributes(where='.'):
    with open(os.path.join(where, '.gitattributes'), 'w') as file: file.write('* filter=x diff=x merge=x\n')
"#;

#[test]
fn hooks_filters_and_watchers_of_a_workspace_do_not_run() {
    let script = format!("{TRAP}\nset_traps('.git'); attributes(); work(); say('READY_FOR_QA')");
    let next = format!("{TRAP}\nset_traps('.git')\nsay('PASS', test_progression={{'still_failing': []}})");
    let scene = Scene::new("hooks").agent("developer", &script).agent("qa_expert", &next);
    scene.plan("[{ id: g, title: One }, { id: h, title: Two }]");
    scene.completes();
    assert_eq!(scene.noted("sprung"), "");
    assert_eq!(scene.result(), [".gitattributes", "README.md", "tests/first.txt", "work/g.txt", "work/h.txt"]);
}

/// A repository within the project has a configuration of its own, which git obeys when it looks at it.
#[test]
fn a_repository_within_the_project_does_not_run_anything() {
    let script = format!(
        "{TRAP}
work()
if TURN <= 3:
    sh('git init -q sub && cd sub && echo x > x && git add x && git -c user.name=x -c user.email=x commit -qm x')
    attributes('sub'); set_traps('sub/.git')
    time.sleep(1.1); open('sub/x', 'a').write('changed')
say('READY_FOR_QA')"
    );
    let scene = Scene::new("nested").agent("developer", &script).with("corrections: 5");
    scene.completes();
    assert_eq!(scene.noted("sprung"), "");
    assert_eq!(scene.result(), ["README.md", "tests/first.txt", "work/g.txt"]);
}

/// The same, where the project has a submodule at that place.
#[test]
fn a_submodule_that_an_agent_fills_does_not_run_anything() {
    let script = format!(
        "{TRAP}
import shutil
work()
if TURN == 1:
    os.makedirs('sub', exist_ok=True)
    sh('git init -q sub && cd sub && echo x > x && git add x && git -c user.name=x -c user.email=x commit -qm x')
    attributes('sub'); set_traps('sub/.git')
    time.sleep(1.1); open('sub/x', 'a').write('changed')
else: shutil.rmtree('sub')
say('READY_FOR_QA')"
    );
    let scene = Scene::new("submodule").agent("developer", &script);
    let commit = scene.git(&["rev-parse", "HEAD"]);
    scene.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},sub")]);
    scene.git(&["commit", "--quiet", "--message", "With a submodule"]);
    let ran = scene.completes();
    assert_eq!(scene.noted("sprung"), "");
    assert_eq!(ran.text().matches("files written into submodules cannot be accepted").count(), 1, "{}", ran.text());
    let entry = scene.git(&["ls-tree", &format!("interlock/{}", scene.session()), "sub"]);
    assert!(entry.contains(&commit), "the submodule was moved: {entry}");
}

/// The session's own repository lies within reach, too.
#[test]
fn traps_in_the_repository_of_the_session_do_not_spring() {
    let script = format!(
        "{TRAP}\nset_traps('../../repository.git'); attributes(); work()
open('../../repository.git/commondir', 'w').write(os.getcwd() + '/.git\\n')
say('READY_FOR_QA')"
    );
    let scene = Scene::new("vault").agent("developer", &script);
    scene.completes();
    assert_eq!(scene.noted("sprung"), "");
}

#[test]
fn whatever_becomes_of_its_git_folder_the_files_count() {
    let script = r"
import shutil
work('%s\n' % GROUP)
shutil.rmtree('.git')
if GROUP == 'link': os.symlink(os.path.join(PROJECT, '.git'), '.git')
if GROUP == 'file': open('.git', 'w').write('gitdir: %s/.git\n' % PROJECT)
if GROUP == 'empty': os.makedirs('.git')
if GROUP == 'other': sh('git init -q . && git commit --allow-empty -qm x')
say('READY_FOR_QA')";
    let scene = Scene::new("dotgit").agent("developer", script);
    scene.plan("[{ id: link, title: T }, { id: file, title: T }, { id: empty, title: T }, { id: other, title: T }, { id: none, title: T }]");
    let before = scene.standing();
    scene.completes();
    assert_eq!(scene.standing(), before);
    for group in ["link", "file", "empty", "other", "none"] {
        assert_eq!(scene.result_of(&format!("work/{group}.txt")), group);
    }
}

/// Through the workspace, nothing of the user's repository can be changed, or seen that was not committed.
#[test]
fn nothing_leads_from_a_workspace_to_the_users_refs() {
    let script = r"
note('saw', sh('git stash list; git for-each-ref; git remote -v; ls .git/hooks; git branch -a; git log --oneline | wc -l'))
commit = 'git add -A && git -c user.name=x -c user.email=x commit -qm evil'
work()
note('did', sh(commit + '; git push --force origin HEAD:main; git push --force . HEAD:refs/heads/main; git update-ref refs/heads/main HEAD; '
   'git push -f --mirror; git stash; git stash drop; git tag -f v1; git gc --prune=now -q; git reflog expire --expire=now --all; git checkout -q -f main'))
work()
say('READY_FOR_QA')";
    let scene = Scene::new("refs").agent("developer", script);
    scene.git(&["branch", "other"]);
    scene.git(&["tag", "v1"]);
    scene.put("project/stashed.txt", "stashed\n");
    scene.git(&["stash", "--include-untracked"]);
    for hook in ["post-checkout", "reference-transaction", "post-index-change", "post-merge", "pre-commit"] {
        let path = scene.path(&format!("project/.git/hooks/{hook}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\necho {hook} >> {}\n", scene.path("notes/sprung").display())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    scene.put("project/staged.txt", "staged\n");
    scene.git(&["add", "staged.txt"]);
    scene.put("project/README.md", "# Changed by Ann\n");
    scene.put("project/untracked.txt", "untracked\n");
    let before = scene.standing();
    let index = fs::read(scene.path("project/.git/index")).unwrap();
    let _ = fs::remove_file(scene.path("notes/sprung"));
    scene.completes();
    assert_eq!(scene.noted("sprung"), "", "hooks of the user ran");
    assert_eq!(fs::read(scene.path("project/.git/index")).unwrap(), index, "the user's index was written");
    assert_eq!(scene.standing(), before);
    let saw = scene.noted("saw");
    assert!(
        !saw.contains("stash@") && !saw.contains("other") && !saw.contains("v1") && !saw.contains("post-"),
        "{saw}"
    );
    assert_eq!(scene.result(), ["README.md", "tests/first.txt", "work/g.txt"]);
    assert_eq!(scene.result_of("README.md"), "# A project");
}

/// By paths that it looks for, an agent reaches what its user reaches: it is not prevented. What moved in the user's own
/// repository is said; what moved in a remote is for the remote to refuse (docs/security.md).
#[test]
fn a_branch_that_an_agent_moves_by_its_path_is_told_of() {
    let script = r"
config = os.path.join(PROJECT, '.git', 'config')
remote = [line.split('=')[1].strip() for line in open(config) if 'url' in line][0]
work()
note('did', sh('git add -A && git -c user.name=x -c user.email=x commit -qm evil; git push --force %s HEAD:main; git push --force %s HEAD:release' % (remote, PROJECT)))
note('remote', remote, 'w')
say('READY_FOR_QA')";
    let scene = Scene::new("push").agent("developer", script);
    let remote = scene.path("remote.git");
    scene.git(&["init", "--quiet", "--bare", &remote.display().to_string()]);
    scene.git(&["remote", "add", "origin", &remote.display().to_string()]);
    scene.git(&["push", "--quiet", "origin", "main"]);
    scene.git(&["branch", "release"]);
    let main = scene.git(&["rev-parse", "main"]);
    let ran = scene.completes();
    assert_eq!(scene.git(&["rev-parse", "main"]), main, "the checkout's branch cannot be pushed to");
    assert_ne!(scene.git(&["ls-remote", "origin", "refs/heads/main"]).split('\t').next(), Some(main.as_str()));
    let report = fs::read_to_string(scene.site().join("report.md")).unwrap();
    for text in [ran.text(), report] {
        let said: Vec<&str> = text.lines().filter(|line| line.contains("refs/heads/release: ")).collect();
        assert_eq!(said.len(), 1, "{text}");
        assert!(!text.contains("refs/heads/main: "), "{text}");
    }
}

/// The same holds for the parts of the user's repository that commits do not carry: the stash, the checkout,
/// git's settings.
#[test]
fn what_else_an_agent_changes_by_its_path_is_told_of() {
    let script = r"
work()
for line in ('stash drop -q stash@{1}', 'symbolic-ref HEAD refs/heads/unborn', 'config core.pager evil', 'update-ref refs/heads/interlock/older main~1',
             'update-ref refs/heads/interlock/grown main', 'update-ref refs/heads/interlock/new main'):
    note('did', sh('git -C %s %s' % (PROJECT, line)))
open(os.path.join(PROJECT, '.git/hooks/pre-commit'), 'w').write('evil')
say('READY_FOR_QA')";
    let scene = Scene::new("standing").agent("developer", script);
    scene.put("project/more.txt", "more\n");
    scene.commit();
    fs::create_dir_all(scene.path("project/.git/hooks")).unwrap();
    for text in ["one\n", "two\n"] {
        scene.put("project/README.md", text);
        scene.git(&["stash"]);
    }
    scene.git(&["branch", "other"]);
    scene.git(&["branch", "interlock/older"]);
    scene.git(&["branch", "interlock/grown", "main~1"]);
    let ran = scene.completes();
    assert_eq!(scene.noted("did"), "");
    let report = fs::read_to_string(scene.site().join("report.md")).unwrap();
    for what in [
        "HEAD: refs/heads/main → refs/heads/unborn",
        ".git/config changed",
        ".git/hooks changed",
        ".git/logs/refs/stash changed",
        "refs/heads/interlock/older: ",
    ] {
        assert!(ran.text().contains(what) && report.contains(what), "{what} in {}", ran.text());
    }
    assert_eq!(ran.text().matches("and not by Interlock").count(), 5, "{}", ran.text());
}
