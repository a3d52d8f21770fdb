//! Merges that git cannot make alone, of every kind: no work is dropped without a decision.

use std::fs;

use crate::yard::{Yard, script};

/// An author in Python, for two groups. `a` is merged first: `b` waits until it is, and was given out before.
const AUTHOR: &str = r#"
import json, os, sys, subprocess, time
E = os.environ; PROMPT = sys.stdin.buffer.read().decode()
GROUP, ATTEMPT, HOME = E['INTERLOCK_GROUP'], int(E['INTERLOCK_ATTEMPT']), E['HOME']
def note(name, text='x', mode='a'): open(os.path.join(HOME, name), mode).write(text)
note('turns-' + GROUP); TURN = os.path.getsize(os.path.join(HOME, 'turns-' + GROUP))
note('prompt-%s-%d' % (GROUP, TURN), PROMPT)
def put(name, text):
    if os.path.dirname(name): os.makedirs(os.path.dirname(name), exist_ok=True)
    open(name, 'wb').write(text if isinstance(text, bytes) else text.encode())
def git(*words, **more): return subprocess.run(['git', *words], check=True, capture_output=True, **more).stdout
def say(status, **more):
    doc = dict(agent=E['INTERLOCK_ROLE'], output_type='r', timestamp='2026-01-01T00:00:00Z', feature_directory='.', skills_invoked=[],
               status=status, handoff=dict(next_agent=None, context='done'), **more)
    json.dump(doc, open(os.path.join(E['INTERLOCK_OUTPUT'], 'handoff.json'), 'w'))
def until(what):
    for _ in range(600):
        if what(): return
        time.sleep(0.05)
def merged(): return open('../../repository.git/register').read().count(' integration ')
if ATTEMPT == 1 and TURN == 1:
    before = merged(); note('began-' + GROUP)
    if GROUP == 'a': until(lambda: os.path.exists(os.path.join(HOME, 'began-b')))
    else: until(lambda: merged() != before)
# The commit of the other side, as the prompt has it.
THEIRS = PROMPT.split('`git show ')[1].split(':PATH`')[0] if '`git show ' in PROMPT else None
"#;

fn two_groups(test: &str, body: &str, prepare: impl FnOnce(&Yard)) -> Yard {
    let script = script("{ id: a, title: A }, { id: b, title: B }", "");
    let yard = Yard::new(test, &[("scripted.yaml", &script), ("m.md", "# Two\n")]);
    let program = yard.path("../author.py");
    fs::write(&program, format!("{AUTHOR}{body}")).expect("a program");
    let program = program.display();
    yard.write(
        "agents.yaml",
        &format!("agents: {{ s: {{ client: scripted }}, p: {{ client: command, command: [python3, \"{program}\"] }} }}\nroles: {{ any: s, developer: p }}\n"),
    );
    prepare(&yard);
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-q", "-m", "More"]);
    yard
}

/// The session, and what merges came to.
#[track_caller]
fn merges(yard: &Yard) -> (String, Vec<String>) {
    let ended = yard.run(&["m.md", "--no-wait"]);
    assert_eq!(ended["status"], "completed");
    let session = ended["session"].as_str().expect("a session").to_owned();
    let mut statuses = yard.statuses(&session);
    statuses.retain(|status| status.starts_with("MERGE"));
    (session, statuses)
}

fn noted(yard: &Yard, name: &str) -> String {
    fs::read_to_string(yard.path("../").join(name)).unwrap_or_default()
}

/// One group spreads a folder over two, the other adds to it: git lists no file for that.
#[test]
fn a_conflict_without_files_is_a_conflict() {
    let body = "
if GROUP == 'a':
    for n, d in zip('1234', 'xxyy'):
        os.makedirs(d, exist_ok=True); os.rename('z/f' + n, d + '/f' + n)
elif ATTEMPT == 1: put('z/new', 'new\\n')
else: os.renames('z/new', 'x/new')
say('READY_FOR_QA')
";
    let yard = two_groups("split", body, |yard| {
        for n in 1..5 {
            yard.write(&format!("z/f{n}"), &format!("the file {n}\nwith\nlines\n{}\n", n.to_string().repeat(20)));
        }
    });
    let (session, merges) = merges(&yard);
    assert_eq!(merges, ["MERGE_SUCCESS", "MERGE_CONFLICT", "MERGE_SUCCESS"]);
    assert!(noted(&yard, "prompt-b-2").contains("Unclear where to rename z to"), "{}", noted(&yard, "prompt-b-2"));
    assert_eq!(yard.result(&session, "x/new"), "new");
}

const PICTURES: &str = "
if ATTEMPT == 1 and GROUP == 'a': put('pic', b'AAAA' + bytes(range(256))); put('del.txt', 'changed by a\\n')
elif ATTEMPT == 1: put('pic', b'BBBB' + bytes(range(256))); os.remove('del.txt')
";

fn with_pictures(test: &str, body: &str) -> Yard {
    two_groups(test, &format!("{PICTURES}{body}"), |yard| {
        fs::write(yard.path("pic"), (0..=255).collect::<Vec<u8>>()).expect("a file");
        yard.write("del.txt", "a\nb\nc\n");
    })
}

/// Neither a file that is not text nor one that one side removed can hold marks: left as it was laid out, one side would be
/// gone without a word.
#[test]
fn what_cannot_hold_marks_has_to_be_decided() {
    let body = "
elif TURN == 2: pass
elif TURN == 3: put('pic', git('show', THEIRS + ':pic') + b'and B'); os.remove('del.txt')
say('READY_FOR_QA')
";
    let yard = with_pictures("unmarked", body);
    let (session, merges) = merges(&yard);
    assert_eq!(merges, ["MERGE_SUCCESS", "MERGE_CONFLICT", "MERGE_SUCCESS"]);
    assert_eq!(noted(&yard, "turns-b"), "xxx", "it goes back once");
    let log =
        String::from_utf8_lossy(&yard.ask(&["log", &session]).stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(log.contains("merge of b (work of developer): MERGE_CONFLICT, in | del.txt, pic"), "{log}");
    let (told, back) = (noted(&yard, "prompt-b-2"), noted(&yard, "prompt-b-3"));
    for text in [&told, &back] {
        assert!(text.contains("Cannot merge binary files: pic (yours vs. theirs)"), "{text}");
        assert!(text.contains("del.txt deleted in yours and modified in theirs"), "{text}");
    }
    assert!(!told.contains("holds the marks"), "{told}");
    assert!(back.contains("nothing was decided about `pic`") && back.contains("about `del.txt`"), "{back}");
    let files = yard.git(&["ls-tree", "--name-only", &format!("interlock/{session}")]);
    assert!(!files.contains("del.txt"), "{files}");
    let size = yard.git(&["cat-file", "-s", &format!("interlock/{session}:pic")]);
    assert_eq!(size, "265", "both have their part in it");
}

#[test]
fn what_is_right_as_it_lies_there_is_named() {
    let body = "
if TURN == 2: say('READY_FOR_QA', conflicts_settled=['./pic'])
elif TURN == 3: say('READY_FOR_QA', conflicts_settled=['pic', 'del.txt'])
else: say('READY_FOR_QA')
";
    let yard = with_pictures("named", body);
    let (session, _) = merges(&yard);
    let back = noted(&yard, "prompt-b-3");
    assert!(back.contains("decided about `del.txt`") && !back.contains("decided about `pic`"), "{back}");
    assert_eq!(yard.result(&session, "del.txt"), "changed by a");
    let branch = format!("interlock/{session}:pic");
    assert_eq!(yard.git(&["cat-file", "-s", &branch]), "260");
}

/// What an agent has settled so far is not undone because it has forgotten a file.
#[test]
fn marks_that_are_left_go_back_and_what_is_settled_stays() {
    let body = "
if ATTEMPT == 1: put('one', GROUP + '\\n'); put('two', GROUP + '\\n')
elif TURN == 2: put('one', 'both\\n')
else: assert open('one').read() == 'both\\n'; put('two', 'both\\n')
say('READY_FOR_QA')
";
    let yard = two_groups("half", body, |yard| {
        yard.write("one", "x\n");
        yard.write("two", "x\n");
    });
    let (session, merges) = merges(&yard);
    assert_eq!(merges, ["MERGE_SUCCESS", "MERGE_CONFLICT", "MERGE_SUCCESS"]);
    assert!(noted(&yard, "prompt-b-2").contains("`one` holds the marks"), "{}", noted(&yard, "prompt-b-2"));
    assert!(noted(&yard, "prompt-b-3").contains("still in `two`"), "{}", noted(&yard, "prompt-b-3"));
    assert_eq!((yard.result(&session, "one"), yard.result(&session, "two")), ("both".into(), "both".into()));
}

/// Names are bytes. What is opened is the file, and not what its name looks like.
#[test]
fn marks_in_files_whose_names_are_not_text_are_found() {
    let body = "
name = b'odd/\\xffsame'
if ATTEMPT == 1: os.makedirs('odd', exist_ok=True); put(name, GROUP + '\\n')
elif TURN == 3: put(name, 'both\\n')
say('READY_FOR_QA')
";
    let yard = two_groups("odd_names", body, |_| {});
    let (session, _) = merges(&yard);
    assert!(
        noted(&yard, "prompt-b-3").contains("marks of a merge conflict are still in"),
        "it was merged with its marks"
    );
    let entry = yard.git(&["ls-tree", "-r", &format!("interlock/{session}"), "odd"]);
    let blob = entry.split([' ', '\t']).nth(2).expect("a blob");
    assert_eq!(yard.git(&["cat-file", "blob", blob]), "both");
}

/// How files are merged is the project's to say, in attributes, and the user's, in the configuration of the repository.
#[test]
fn files_are_merged_as_the_attributes_say() {
    let body = "
for name in ['CHANGES', 'sub/CHANGES', 'sub/log']:
    put(name, open(name).read() + 'by ' + GROUP + '\\n')
say('READY_FOR_QA')
";
    let yard = two_groups("union", body, |yard| {
        yard.write(".gitattributes", "CHANGES merge=union\n");
        yard.write("sub/.gitattributes", "log merge=own\n");
        for file in ["CHANGES", "sub/CHANGES", "sub/log"] {
            yard.write(file, "top\n");
        }
        yard.git(&["config", "merge.own.driver", "cat %B >> %A"]);
    });
    let (session, merges) = merges(&yard);
    assert_eq!(merges, ["MERGE_SUCCESS", "MERGE_SUCCESS"]);
    for file in ["CHANGES", "sub/CHANGES"] {
        assert_eq!(yard.result(&session, file), "top\nby a\nby b");
    }
    assert_eq!(yard.result(&session, "sub/log"), "top\nby a\ntop\nby b");
}
