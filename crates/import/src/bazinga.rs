//! BAZINGA's `transitions.json`, as a workflow file.
//!
//! The original's router answers from this table and from what it knows by heart. The
//! import reads both out of the file and writes them as rules that can be read, with
//! what the original lacks taken from the built-in `delivery-team`: what a merge may
//! come to, a limit for every loop, what completion needs.

mod examples;
mod machine;
mod notes;
mod read;
mod roles;
mod rows;
mod tables;
mod write;
mod yaml;

use interlock_core::code::Code;
use interlock_core::problem::{Place, Problem};
use interlock_core::workflow;

use crate::bazinga::roles::BazingaRoles;
use crate::bazinga::rows::RowMapping;
use crate::{ImportedWorkflow, json};

/// The original has 10 kB; more than this is not a state machine that people wrote.
const MAX_BYTES: usize = 1 << 18;

pub fn import(file_name: &str, json_text: &str) -> Result<ImportedWorkflow, Vec<Problem>> {
    if json_text.len() > MAX_BYTES {
        let place = Place { file: file_name.into(), line: 1, column: 1, length: 1 };
        let message = format!("the file has {} bytes; at most {MAX_BYTES} can be imported", json_text.len());
        return Err(vec![Problem::new(Code::ImportFailed, message).at(place)]);
    }
    let root = json::parse(file_name, json_text).map_err(|problem| vec![problem])?;
    let mut problems = Vec::new();
    let machine = read::read(&root, &mut problems);
    let cast = BazingaRoles::of(&machine);
    roles::refuse(&machine, &cast, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let rows = RowMapping::new(&machine, &cast);
    let yaml = write::workflow(&rows);
    self_check(file_name, &yaml)?;
    Ok(ImportedWorkflow { yaml, notes: notes::notes(&rows) })
}

/// The written file must load: a file that does not load is useless.
fn self_check(file_name: &str, yaml: &str) -> Result<(), Vec<Problem>> {
    let loaded = workflow::load("imported.yaml", yaml, &|_| None);
    if loaded.problems.is_empty() {
        return Ok(());
    }
    let place = Place { file: file_name.into(), line: 1, column: 1, length: 1 };
    let told = loaded.problems.iter().map(|problem| {
        let line = problem.at.as_ref().and_then(|at| yaml.lines().nth(at.line.saturating_sub(1) as usize));
        let message = format!("no workflow can be made of this: {}", problem.message);
        let help = line.map(|line| format!("it would have to say: {}", line.trim()));
        Problem::new(Code::ImportFailed, message).maybe_help(help).at(place.clone())
    });
    Err(told.collect())
}

#[cfg(test)]
mod tests;
