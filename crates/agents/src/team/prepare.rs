//! `prepare` of the agents file: what makes a fresh checkout ready.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use interlock_core::code::Code;
use interlock_core::id::Name;
use interlock_core::problem::Problem;
use interlock_core::workflow::record::PlacedValue;

use crate::team::doc::PrepareDoc;
use interlock_system::files::is_inside;

/// Inputs where none are declared: files that say which dependencies a project has, anywhere in it.
const KNOWN_INPUTS: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "package.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "yarn.lock",
    "bun.lock",
    ".npmrc",
    "poetry.lock",
    "uv.lock",
    "pyproject.toml",
    "Pipfile",
    "Pipfile.lock",
    "requirements*.txt",
    "go.mod",
    "go.sum",
    "Gemfile",
    "Gemfile.lock",
    "composer.json",
    "composer.lock",
    "mix.exs",
    "mix.lock",
    "gradle.lockfile",
    "pom.xml",
    "packages.lock.json",
    ".gitmodules",
];

#[derive(Clone, Debug, Default)]
pub struct PrepareSettings {
    pub run: Vec<Vec<String>>,
    /// Folders of the project that are kept and copied into clean checkouts.
    pub keeps: Vec<PathBuf>,
    pub caches: Vec<PathBuf>,
    inputs: GlobSet,
}

impl PrepareSettings {
    pub(super) fn read(doc: Option<&PrepareDoc>, problems: &mut Vec<Problem>) -> Self {
        let Some(doc) = doc else { return Self::default() };
        if let Some(made) = doc.keeps.first().or(doc.caches.first()).filter(|_| doc.run.is_empty()) {
            let message = format!("`prepare` has no command in `run` that makes `{}`", made.value);
            let help =
                "Interlock fills `keeps` and `caches` with what the commands of `run` make, and with nothing else";
            problems.push(Problem::new(Code::BadAgent, message).help(help).at(made.place.clone()));
        }
        let declared = doc.inputs.iter().map(String::clone);
        let known = KNOWN_INPUTS.iter().flat_map(|name| [(*name).to_owned(), format!("**/{name}")]);
        let patterns: Vec<String> = if doc.inputs.is_empty() { known.collect() } else { declared.collect() };
        let mut inputs = GlobSetBuilder::new();
        for pattern in &patterns {
            match GlobBuilder::new(pattern).literal_separator(true).build() {
                Ok(glob) => drop(inputs.add(glob)),
                Err(error) => {
                    let message = format!("`inputs` of `prepare`: `{pattern}` is not a pattern: {}", error.kind());
                    problems.push(Problem::new(Code::BadAgent, message).at(doc.place.clone()));
                }
            }
        }
        Self {
            run: doc.run.iter().map(|line| line.0.clone()).collect(),
            keeps: folders("keeps", &doc.keeps, problems),
            caches: folders("caches", &doc.caches, problems),
            inputs: inputs.build().unwrap_or_default(),
        }
    }

    /// Whether a file of the project is a declared input.
    pub fn reads(&self, path: &Path) -> bool {
        self.inputs.is_match(path)
    }
}

fn folders(setting: &str, names: &[PlacedValue<Name>], problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    for name in names.iter().filter(|name| !is_inside(Path::new(name.value.as_str()))) {
        let message = format!("`{setting}` of `prepare`: `{}` is not a folder inside of the project", name.value);
        let problem = Problem::new(Code::BadAgent, message).help("name it from the project folder, without `..`");
        problems.push(problem.at(name.place.clone()));
    }
    names.iter().map(|name| PathBuf::from(name.value.as_str())).collect()
}
