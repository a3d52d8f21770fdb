//! The output and handoffs of agents: too much, without an end, not text, not for a terminal.

use crate::scene::{Ran, Scene};

/// A megabyte of output is enough; who prints more is ended, and the next attempt goes on.
fn flooded(test: &str, flood: &str) -> (Scene, Ran) {
    let script = format!("if TURN == 1:\n{flood}\nwork(); say('READY_FOR_QA')");
    let scene = Scene::new(test).agent("developer", &script).with("limits: { time: 60s, grace: 1s, output: 20 }");
    let ran = scene.completes();
    assert!(ran.peak > 1 && ran.peak < 150, "{} MB", ran.peak);
    assert_eq!(
        scene.said()[..3],
        ["project_manager PLANNING_COMPLETE", "developer no_handoff", "developer READY_FOR_QA"]
    );
    assert!(scene.notes_of_losses()[0].contains("printed too much"), "{:?}", scene.notes_of_losses());
    (scene, ran)
}

#[test]
fn ten_gigabytes() {
    flooded("gigabytes", "    block = b'0123456789abcde\\n' * 65536\n    for _ in range(10240): os.write(1, block)");
}

/// Every line wakes the scheduler.
#[test]
fn a_flood_of_short_lines() {
    flooded("lines", "    block = b'x\\n' * 524288\n    for _ in range(10240): os.write(1, block)");
}

#[test]
fn never_a_newline() {
    flooded(
        "newline",
        "    block = b'0123456789abcdef' * 65536\n    while True: os.write(1, block); os.write(2, block)",
    );
}

#[test]
fn text_that_is_none() {
    let script = r"
if TURN == 1:
    os.write(1, b'\xff\xfe\x80{\xc3\x28' * 100000); os.write(2, b'\xf0\x28\x8c\x28\n' * 1000)
elif TURN == 2:
    open(os.path.join(OUT, 'handoff.json'), 'wb').write(b'\xff\xfe{\x00\x80' * 1000)
else: work(); say('READY_FOR_QA')";
    let scene = Scene::new("utf8").agent("developer", script).with("corrections: 3");
    let ran = scene.completes();
    assert!(String::from_utf8(ran.stdout).is_ok() && String::from_utf8(ran.stderr).is_ok());
}

/// Titles, clipboards, cursors, reversed text: in what is printed and in every field of the handoff.
#[test]
fn nothing_that_a_terminal_obeys_gets_through() {
    let script = r"
evil = '\x1b]0;owned\x07\x1b[2J\x1b]52;c;ZXZpbA==\x07\x9b31m\u202eevil\r\x08'
print(evil, flush=True); print(evil, file=sys.stderr, flush=True)
if TURN == 1: sys.exit(3)
if TURN == 2: say(evil, agent=evil, output_type=evil, **{evil: evil})
elif TURN == 3: work(); say('READY_FOR_QA' + evil)
else:
    work(); open('work/a\x1b[31mb', 'w').write(evil)
    say('READY_FOR_QA', output_type=evil, feature_directory=evil, skills_invoked=[evil], files_changed=[evil],
        summary=evil, dev_output=evil, handoff={'next_agent': evil, 'next_phase': evil, 'context': evil + ' | `x` <b>'})";
    let reviewer = r"
evil = '\x1b]0;owned\x07\x1b[2J\u202e'
issue = lambda n: {'id': 'I%d' % n + evil, 'title': evil, 'location': evil, 'severity': 'LOW', 'blocking': False}
say('APPROVED', issues=[issue(1)], approval_notes=evil)";
    let scene = Scene::new("escapes").agent("developer", script).agent("tech_lead", reviewer).with("corrections: 5");
    scene.plan(r#"[{ id: g, title: "The \e[31m\x1b]0;owned\a work" }]"#);
    let ran = scene.run();
    let report = std::fs::read(scene.site().join("report.md")).unwrap();
    let why = scene.ask(&["why", &format!("{}.d3", scene.session())]);
    let log = scene.ask(&["log", &scene.session()]);
    for (what, bytes) in [
        ("stdout", &ran.stdout),
        ("stderr", &ran.stderr),
        ("report", &report),
        ("why", &why.stdout),
        ("log", &log.stdout),
    ] {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let raw = text.chars().find(|c| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c));
        assert_eq!(raw, None, "{what}: {text:?}");
    }
    assert_eq!(ran.exit, 0, "{}", ran.text());
}

#[test]
fn a_handoff_of_a_hundred_megabytes_and_one_as_deep_as_the_sea() {
    let script = r#"
path = os.path.join(OUT, 'handoff.json')
if TURN == 1:
    with open(path, 'w') as file: file.write('{"agent": "' + 'x' * 100_000_000 + '"}')
elif TURN == 2:
    with open(path, 'w') as file: file.write('{"agent": "developer", "status": ' + '[' * 2_000_000 + ']' * 2_000_000 + '}')
elif TURN == 3:
    with open(path, 'w') as file: file.write('{"agent": "developer", "status": ' + '{"a":' * 1_000_000)
elif TURN == 4:
    with open(path, 'w') as file: file.write('```json\n{"agent": "developer", "status": "x"}\n```\n' * 1_400_000)
elif TURN == 5:
    os.mkfifo(path)
else: work(); say('READY_FOR_QA')"#;
    let scene = Scene::new("huge").agent("developer", script).with("corrections: 9");
    let ran = scene.completes();
    assert!(ran.peak < 400, "{} MB", ran.peak);
    let back = ran.text().matches("the handoff goes back").count();
    assert_eq!(back, 5, "{}", ran.text());
    assert_eq!(scene.noted("turns-developer").len(), 6);
}
