//! The workflows that ship inside the program.

use interlock_core::workflow::{BUILTINS, load_builtin};

#[test]
fn every_builtin_loads_without_a_problem() {
    for builtin in BUILTINS {
        let loaded = load_builtin(builtin.name).expect("it is a built-in");
        let problems: Vec<String> =
            loaded.problems.iter().map(|problem| format!("{problem} {:?} {:?}", problem.at, problem.help)).collect();
        assert!(loaded.workflow.is_some(), "{}: {problems:#?}", builtin.name);
        assert!(problems.is_empty(), "{}: {problems:#?}", builtin.name);
    }
}
