//! The program `interlock`.

mod import;

use std::collections::BTreeMap;
use std::process::ExitCode;

use interlock_core::id::Name;
use interlock_core::route::{Query, Refused, Speaker, route};
use interlock_core::workflow;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let read = |file: &str| std::fs::read_to_string(file).expect("the file can be read");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["import", "bazinga", file] => match import::bazinga::import(file, &read(file)) {
            Ok(imported) => {
                print!("{}", imported.yaml);
                imported.notes.iter().for_each(|note| eprintln!("{note}"));
                ExitCode::SUCCESS
            }
            Err(problems) => {
                problems.iter().for_each(|problem| eprintln!("{problem} {:?} {:?}", problem.at, problem.help));
                ExitCode::from(4)
            }
        },
        ["route", "--json", "--workflow", file, "--role", role, "--status", status, facts @ ..] => {
            let workflow = workflow::load(file, &read(file), &|_| None).workflow.expect("the workflow loads");
            let pairs = facts.chunks(2).filter_map(|pair| pair.last()?.split_once('='));
            let given: BTreeMap<Name, Name> = pairs.map(|(name, value)| (name.into(), value.into())).collect();
            let (source, status) = (Speaker::Role(Name::new(role)), Name::new(status));
            let query = Query { source, status, reason: None, phase: None, given, scope: None, undeclared_roles: true };
            let (code, answer) = match route(&workflow, &query) {
                Ok(decision) => (0, serde_json::json!(decision)),
                Err(Refused::Query(problems)) => (4, serde_json::json!({ "error": problems })),
                Err(Refused::Workflow(rejection)) => (3, serde_json::json!({ "error": rejection })),
            };
            println!("{answer}");
            ExitCode::from(code)
        }
        _ => ExitCode::from(2),
    }
}
