//! Reads a workflow file and everything it extends.

use crate::code::Code;
use crate::id::{Digest, Name};
use crate::problem::Problem;
use crate::suggest;
use crate::workflow::builtin::{BUILTINS, PRELUDE, builtin};
use crate::workflow::doc::WorkflowDoc;
use crate::workflow::example;
use crate::workflow::lower;
use crate::workflow::merge::{canonical, merge};
use crate::workflow::model::Workflow;
use crate::workflow::packed;
use crate::workflow::record::{Decode, Problems};
use crate::yaml::{self, Node, Value};

/// How deep `extends` may go.
const MAX_EXTENDS: usize = 8;

/// The result of loading: every problem, and the workflow if none is an error.
#[derive(Debug)]
pub struct LoadedWorkflow {
    pub workflow: Option<Workflow>,
    pub problems: Vec<Problem>,
    /// The texts that were read, by file, to underline places in.
    pub sources: Vec<(String, String)>,
    /// May be extended, not run.
    pub is_abstract: bool,
}

/// Whether the examples of a file are checked when it is loaded.
#[derive(Clone, Copy)]
enum ExampleCheck {
    Checked,
    /// They were checked when the program was built, or when the file was pinned.
    Trusted,
}

/// Loads a workflow. `extends` names a built-in, or whatever `library` finds.
pub fn load(file: &str, text: &str, library: &dyn Fn(&str) -> Option<(String, String)>) -> LoadedWorkflow {
    load_with(file, text, library, ExampleCheck::Checked)
}

fn load_with(
    file: &str,
    text: &str,
    library: &dyn Fn(&str) -> Option<(String, String)>,
    examples: ExampleCheck,
) -> LoadedWorkflow {
    load_over(PRELUDE.text, (file, text), library, examples)
}

fn load_over(
    prelude: &str,
    (file, text): (&str, &str),
    library: &dyn Fn(&str) -> Option<(String, String)>,
    examples: ExampleCheck,
) -> LoadedWorkflow {
    let mut problems = Vec::new();
    let mut sources = vec![(file.to_owned(), text.to_owned())];
    let merged = read(prelude, (file, text), library, &mut sources, &mut problems);
    let mut loaded = LoadedWorkflow { workflow: None, problems, sources, is_abstract: false };
    let Some(mut node) = merged else { return loaded };
    if let (Value::Map(entries), ExampleCheck::Trusted) = (&mut node.value, examples) {
        entries.retain(|(key, _)| key.text() != Some("examples"));
    }
    let Some(doc) = WorkflowDoc::decode(&node, &mut loaded.problems) else { return loaded };
    loaded.is_abstract = doc.is_abstract;
    let hash = Digest::of(canonical(&node).as_bytes());
    // Frees the memory of the tree before the workflow is built.
    drop(node);
    let reading = match examples {
        ExampleCheck::Checked => lower::LoweringMode::New,
        ExampleCheck::Trusted => lower::LoweringMode::Checked,
    };
    let workflow = lower::lower(&doc, hash, reading, &mut loaded.problems);
    if loaded.problems.iter().any(Problem::is_error) {
        return loaded;
    }
    if let Some(workflow) = &workflow {
        example::check(workflow, &doc.examples, &mut loaded.problems);
    }
    if !loaded.problems.iter().any(Problem::is_error) {
        loaded.workflow = workflow;
    }
    loaded
}

/// Loads a built-in by name.
pub fn load_builtin(name: &str) -> Option<LoadedWorkflow> {
    builtin(name).map(|builtin| load(builtin.file, builtin.text, &|_| None))
}

/// Loads a built-in without checking its examples again: for whatever must start fast.
pub fn load_shipped(name: &str) -> Option<LoadedWorkflow> {
    builtin(name).map(|builtin| load_with(builtin.file, builtin.text, &|_| None, ExampleCheck::Trusted))
}

/// Loads again what was loaded before: the file, what it extends in that order, and the prelude it was read with, as
/// [`Loaded::sources`] has them. Its examples were checked then.
pub fn load_pinned(sources: &[(String, String)]) -> LoadedWorkflow {
    let ([(file, text), bases @ ..], Some((_, prelude))) = (sources, sources.last()) else {
        return LoadedWorkflow { workflow: None, problems: Vec::new(), sources: Vec::new(), is_abstract: false };
    };
    let next = std::cell::Cell::new(0_usize);
    let base = |_: &str| {
        let index = next.get();
        next.set(index.saturating_add(1));
        bases.get(index).cloned()
    };
    load_over(prelude, (file, text), &base, ExampleCheck::Trusted)
}

fn read(
    prelude: &str,
    (file, text): (&str, &str),
    library: &dyn Fn(&str) -> Option<(String, String)>,
    sources: &mut Vec<(String, String)>,
    problems: &mut Problems,
) -> Option<Node> {
    let mut layers = vec![parse(file, text, problems)?];
    let mut seen: Vec<Name> = Vec::new();
    while let Some(node) = layers.last().and_then(|layer| layer.get("extends")).filter(|node| !node.is_null()) {
        let name = Name::decode(node, problems)?;
        if seen.contains(&name) || seen.len() >= MAX_EXTENDS {
            let message = format!("`{name}` extends itself, or too many others");
            problems.push(Problem::new(Code::UnknownWorkflow, message).at(node.place.clone()));
            return None;
        }
        let found =
            library(&name).or_else(|| builtin(&name).map(|builtin| (builtin.file.to_owned(), builtin.text.to_owned())));
        let Some((base_file, base_text)) = found else {
            let help = suggest::help(&name, BUILTINS.iter().map(|builtin| builtin.name));
            let problem = Problem::new(Code::UnknownWorkflow, format!("there is no workflow `{name}`"));
            problems.push(problem.maybe_help(help).at(node.place.clone()));
            return None;
        };
        seen.push(name);
        let base = parse(&base_file, &base_text, problems)?;
        sources.push((base_file, base_text));
        layers.push(base);
    }
    sources.push((PRELUDE.file.to_owned(), prelude.to_owned()));
    let prelude = parse(PRELUDE.file, prelude, problems)?;
    Some(layers.into_iter().rev().fold(prelude, merge))
}

/// Texts that ship with the program were parsed at build time.
fn parse(file: &str, text: &str, problems: &mut Problems) -> Option<Node> {
    packed::tree(file, text).or_else(|| yaml::parse(file, text, problems))
}
