//! Where workflows come from: built-in names and files.

use std::path::{Path, PathBuf};

use interlock_core::bounds::{dead_ends, unbounded_cycles};
use interlock_core::code::Code;
use interlock_core::id::{Digest, Name};
use interlock_core::suggest;
use interlock_core::workflow::{
    BUILTINS, LoadedWorkflow, Workflow, builtin, dropped_requirements, load, load_builtin, load_shipped,
};

use crate::error::{CommandError, CommandExit};
use crate::input;
use interlock_store::PinnedSources;

/// The file that a project keeps its workflow in.
pub const PROJECT_FILE: &str = "interlock.yaml";
/// Just above what the language allows, so that its own message is the one people see.
const LARGEST_FILE: u64 = 2 << 20;

/// Loads the workflow that `wanted` names: a built-in, or else a file. What is wrong with it is in the result.
pub fn open(wanted: &str) -> Result<LoadedWorkflow, CommandError> {
    let mut loaded = read(wanted)?;
    check_bounds(&mut loaded);
    Ok(loaded)
}

/// Cycles without a bound and states without a way on are errors wherever a workflow is checked or pinned. Built-ins are checked by a test.
fn check_bounds(loaded: &mut LoadedWorkflow) {
    let Some(workflow) = loaded.workflow.as_ref().filter(|_| !loaded.is_abstract) else { return };
    let mut problems = unbounded_cycles(workflow);
    problems.extend(dead_ends(workflow));
    if !problems.is_empty() {
        loaded.problems.extend(problems);
        loaded.workflow = None;
    }
}

/// Without the check for cycles, which costs more than the load itself.
fn read(wanted: &str) -> Result<LoadedWorkflow, CommandError> {
    if let Some(loaded) = load_builtin(wanted) {
        return Ok(loaded);
    }
    let path = Path::new(wanted);
    if !looks_like_a_path(wanted) && !path.exists() {
        return Err(unknown(wanted));
    }
    let text = input::text(path, LARGEST_FILE)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(load(wanted, &text, &|name| beside(folder, name)))
}

/// The same, or the workflow of the project if none is named.
pub fn open_or_project(wanted: Option<&str>) -> Result<LoadedWorkflow, CommandError> {
    match wanted {
        Some(wanted) => open(wanted),
        None if Path::new(PROJECT_FILE).exists() => open(PROJECT_FILE),
        None => Err(CommandError::new(
            CommandExit::Usage,
            Code::BadArgument,
            format!("no workflow is named, and there is no {PROJECT_FILE} in this folder"),
        )
        .help("name a file or a built-in workflow; `interlock workflow list` shows these")),
    }
}

/// A workflow that can answer a single question, such as `route`: without errors, and not abstract.
pub fn runnable(wanted: &str) -> Result<Workflow, CommandError> {
    let loaded = load_shipped(wanted).map_or_else(|| read(wanted), Ok)?;
    usable(loaded).map(|(workflow, _)| workflow)
}

/// A workflow that a session can be pinned to, with everything that it was read from.
pub fn pinnable(wanted: &str) -> Result<(Workflow, PinnedSources), CommandError> {
    pinnable_unless(wanted, |_| Ok(false))
}

/// The same. A workflow that the store has pinned under this hash was checked for cycles then.
pub(crate) fn pinnable_unless(
    wanted: &str,
    is_pinned: impl FnOnce(Digest) -> Result<bool, CommandError>,
) -> Result<(Workflow, PinnedSources), CommandError> {
    if let Some(shipped) = load_shipped(wanted) {
        return usable(shipped);
    }
    let mut loaded = read(wanted)?;
    let hash = loaded.workflow.as_ref().map(|workflow| workflow.hash);
    let is_checked = hash.map(is_pinned).transpose()?.unwrap_or_default();
    if !is_checked {
        check_bounds(&mut loaded);
    }
    usable(loaded)
}

/// The requirements of the project's own workflow that a built-in one lacks: a model may not choose it instead.
pub fn dropped_by_builtin(own: &str, named: &str) -> Result<Vec<Name>, CommandError> {
    Ok(dropped_by_workflow(own, &runnable(named)?))
}

/// The requirements of the project's own workflow that a chosen one lacks. An unreadable workflow of the project counts
/// as dropped: otherwise breaking that file would let anyone choose the rules.
pub(crate) fn dropped_by_workflow(own: &str, chosen: &Workflow) -> Vec<Name> {
    match runnable(own) {
        Ok(own) if own.hash == chosen.hash => Vec::new(),
        Ok(own) => dropped_requirements(&own, chosen),
        Err(_) => vec![Name::from(format!("the workflow of this project, {own}, cannot be read and compared"))],
    }
}

fn usable(loaded: LoadedWorkflow) -> Result<(Workflow, PinnedSources), CommandError> {
    let LoadedWorkflow { workflow, problems, sources, is_abstract } = loaded;
    match workflow {
        None => Err(CommandError::invalid(problems, sources.into_iter().collect())),
        Some(workflow) if is_abstract => {
            let message = format!("`{}` is abstract: it can be extended, not run", workflow.name);
            Err(CommandError::new(CommandExit::Invalid, Code::AbstractWorkflow, message))
        }
        Some(workflow) => {
            let name = workflow.name.clone();
            Ok((workflow, PinnedSources { name, sources }))
        }
    }
}

/// The current hash of a pinned file, if it exists and can be read.
pub fn hash_today(file: &str) -> Option<Digest> {
    let shipped = BUILTINS.iter().find(|builtin| builtin.file == file).and_then(|builtin| load_shipped(builtin.name));
    let loaded = match shipped {
        Some(loaded) => loaded,
        None => read(file).ok()?,
    };
    loaded.workflow.map(|workflow| workflow.hash)
}

fn looks_like_a_path(wanted: &str) -> bool {
    wanted == "-" || wanted.contains(['/', '\\', '.'])
}

fn unknown(wanted: &str) -> CommandError {
    let names: Vec<&str> = BUILTINS.iter().map(|builtin| builtin.name).collect();
    CommandError::new(
        CommandExit::Invalid,
        Code::UnknownWorkflow,
        format!("there is no workflow `{wanted}`, and no such file"),
    )
    .maybe_help(suggest::closest(wanted, names.iter().copied()).map(|near| format!("did you mean `{near}`?")))
    .allowed(names)
}

/// A base for `extends` in the folder of the file that extends it. Built-in names keep their meaning everywhere.
fn beside(folder: &Path, name: &str) -> Option<(String, String)> {
    if builtin(name).is_some() {
        return None;
    }
    let candidates: [PathBuf; 3] = ["", ".yaml", ".yml"].map(|ending| folder.join(format!("{name}{ending}")));
    let path = candidates.into_iter().find(|path| path.is_file())?;
    let text = input::text(&path, LARGEST_FILE).ok()?;
    Some((path.display().to_string(), text))
}
