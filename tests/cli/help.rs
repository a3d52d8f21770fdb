use crate::harness::interlock;

/// Every command, found by reading the help of the one above it.
fn commands(path: &[String]) -> Vec<Vec<String>> {
    let help = help(path, "--help");
    let mut all = vec![path.to_vec()];
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for line in listed {
        let name = line.split_whitespace().next().expect("a command");
        if name != "help" && line.starts_with("  ") && !line.starts_with("   ") {
            let mut below = path.to_vec();
            below.push(name.to_owned());
            all.extend(commands(&below));
        }
    }
    all
}

fn help(path: &[String], flag: &str) -> String {
    let mut arguments: Vec<&str> = path.iter().map(String::as_str).collect();
    arguments.push(flag);
    let run = interlock(&arguments);
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{arguments:?}");
    run.stdout
}

#[test]
fn every_command_teaches() {
    let all = commands(&[]);
    assert!(all.len() >= 8, "{all:?}");
    for path in all {
        let long = help(&path, "--help");
        let name = if path.is_empty() { "interlock".to_owned() } else { path.join("_") };
        let paragraphs: Vec<&str> = long.split("\n\n").collect();
        assert!(!paragraphs[0].contains("Usage:"), "{name} has no purpose");
        assert!(!paragraphs[1].contains("Usage:"), "{name} has no paragraph that explains it");
        assert!(long.contains("\nExamples:\n  interlock "), "{name} has no examples");
        insta::assert_snapshot!(format!("help_{name}"), long);
    }
}

#[test]
fn the_short_help_of_the_program() {
    insta::assert_snapshot!(help(&[], "-h"));
}

#[test]
fn help_is_the_same_however_it_is_asked_for() {
    let asked = interlock(&["help", "explain"]);
    assert_eq!(asked.stdout, help(&["explain".to_owned()], "--help"));
    let with_json = interlock(&["explain", "--json", "--help"]);
    assert_eq!((with_json.exit, with_json.stdout), (0, asked.stdout));
}

#[test]
fn the_version_is_the_crates() {
    assert_eq!(interlock(&["--version"]).stdout, format!("interlock {}\n", env!("CARGO_PKG_VERSION")));
}
