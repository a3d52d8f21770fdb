//! Changes that a role may make to the files of a project.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use interlock_core::id::Name;
use interlock_core::state::Group;
use interlock_core::workflow::{BUILTINS, FileLimit, Role, TEST_RUNNERS, Workflow, WritePermission};

/// The files that a role with this write permission may not change.
pub fn files_outside_of(files: &[String], writes: &WritePermission) -> Vec<String> {
    match writes {
        WritePermission::Everything => Vec::new(),
        WritePermission::Nothing => files.to_vec(),
        WritePermission::Only(patterns) => {
            let set = glob_set(patterns.iter().map(Name::as_str), false);
            files.iter().filter(|file| !set.is_match(file)).cloned().collect()
        }
    }
}

/// Paths that fit one of the patterns. A pattern that cannot be read fits nothing.
pub(crate) fn glob_set<'a>(patterns: impl IntoIterator<Item = &'a str>, any_case: bool) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(true).case_insensitive(any_case).build();
        if let Ok(glob) = glob {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}

/// Files that agents read as instructions. They are not protected, since people want them edited; changes are pointed out.
pub(crate) const INSTRUCTIONS: &[&str] = &[
    "**/{CLAUDE,CLAUDE.local,AGENTS,AGENTS.override,GEMINI,QWEN,AGENT,CONVENTIONS,WARP}.md",
    "**/.{cursorrules,windsurfrules,clinerules,roorules}",
    "**/.clinerules/**",
    ".github/{copilot-instructions.md,instructions/**,chatmodes/**,prompts/**,agents/**}",
];

/// Limits that the flags of its plan set on the changes of a group, whatever the role at work may write.
#[derive(Clone, Debug)]
pub(crate) struct GroupLimit {
    files: GlobSet,
    patterns: Vec<Name>,
    /// The flags with their values, such as `kind: research`.
    flags: String,
}

impl GroupLimit {
    pub(crate) fn of(workflow: &Workflow, group: &Group) -> Vec<Self> {
        let limit = |limit: &FileLimit| Self {
            files: glob_set(limit.only.iter().map(Name::as_str), true),
            patterns: limit.only.clone(),
            flags: workflow.flags_of(limit, group),
        };
        workflow.limits_of(group).map(limit).collect()
    }

    pub(crate) fn covers(&self, path: &Path) -> bool {
        self.files.is_match(path)
    }

    /// Those of the paths that the group may not change, and that no person has allowed.
    pub(crate) fn refused<'a>(&self, paths: impl IntoIterator<Item = &'a str>, allowed: &[Name]) -> Vec<RefusedPath> {
        let may = glob_set(allowed.iter().map(Name::as_str), true);
        let refused = paths.into_iter().filter(|path| !self.files.is_match(path) && !may.is_match(path));
        let protection = Protection::Plan { flags: self.flags.clone(), patterns: self.patterns.clone() };
        let of = |path: &str| RefusedPath { path: path.to_owned(), protection: protection.clone(), owners: Vec::new() };
        refused.map(of).collect()
    }
}

/// Why a path is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    /// It fits this pattern of the workflow.
    Pattern(String),
    /// The workflow or the agents file of this session.
    OfSession,
    /// A gate or `prepare` runs it.
    Script,
    /// The plan has these flags for the group, and by them it changes only these patterns.
    Plan { flags: String, patterns: Vec<Name> },
}

/// A protected path that a role may not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedPath {
    pub(crate) path: String,
    protection: Protection,
    /// Roles that own the path.
    owners: Vec<Name>,
}

impl RefusedPath {
    /// The pattern for `--allow` that lets this path be changed.
    pub fn allowing(&self) -> String {
        match &self.protection {
            Protection::Pattern(pattern) if glob_set([pattern.as_str()], true).is_match(&self.path) => pattern.clone(),
            Protection::Pattern(_) | Protection::OfSession | Protection::Script | Protection::Plan { .. } => {
                globset::escape(&self.path)
            }
        }
    }

    /// Refused because of the flags of a group's plan, not by the workflow's `protected`.
    pub(crate) fn is_by_plan(&self) -> bool {
        matches!(self.protection, Protection::Plan { .. })
    }

    /// Why it is protected, and who owns it.
    pub fn why(&self) -> String {
        let why = match &self.protection {
            Protection::Pattern(pattern) => format!("protected by `{pattern}`"),
            Protection::OfSession => "the workflow or agents file of this session".to_owned(),
            Protection::Script => "a script that a gate or `prepare` runs".to_owned(),
            Protection::Plan { flags, patterns } => {
                let patterns: Vec<String> = patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
                return format!("the plan has `{flags}`, and such a group changes only {}", patterns.join(", "));
            }
        };
        match self.owners.as_slice() {
            [] => format!("{why}; no role owns it"),
            owners => {
                let owners: Vec<&str> = owners.iter().map(Name::as_str).collect();
                format!("{why}; owned by {}", owners.join(", "))
            }
        }
    }
}

/// The paths that judge or configure the work. Only roles that own them change them.
#[derive(Clone, Debug)]
pub struct ProtectedPaths {
    files: GlobSet,
    /// Folders that protected files lie in: a link in their place would lead to other files.
    folders: GlobSet,
    patterns: Vec<(String, Protection)>,
    owners: Vec<(Name, Vec<Name>)>,
}

impl ProtectedPaths {
    /// Those of a workflow, and single files by their paths in the project. Letter case does not matter: some file systems do
    /// not tell it apart. Scripts that are tests are left out: authors write those, and changes of them are pointed out.
    pub fn new(workflow: &Workflow, of_session: &[String], scripts: &[String]) -> Self {
        // A runner of tests judges by itself, where a gate runs it.
        let tests = workflow.test_files.iter().map(Name::as_str).filter(|pattern| *pattern != TEST_RUNNERS);
        let tests = glob_set(tests, true);
        let of_workflow = workflow.protected.iter().map(Name::to_string);
        let of_workflow = of_workflow.map(|pattern| (pattern.clone(), Protection::Pattern(pattern)));
        let of_session = of_session.iter().map(|path| (globset::escape(path), Protection::OfSession));
        let scripts = scripts.iter().filter(|path| !tests.is_match(path));
        let scripts = scripts.map(|path| (globset::escape(path), Protection::Script));
        let patterns: Vec<(String, Protection)> = of_workflow.chain(of_session).chain(scripts).collect();
        let texts = || patterns.iter().map(|(pattern, _)| pattern.as_str());
        let folders: Vec<String> = texts().flat_map(folders_of).collect();
        let owners = workflow.roles.iter().filter(|role| !role.owns.is_empty());
        Self {
            files: glob_set(texts(), true),
            folders: glob_set(folders.iter().map(String::as_str), true),
            owners: owners.map(|role| (role.name.clone(), role.owns.clone())).collect(),
            patterns,
        }
    }

    /// Those of the paths that are protected, and that neither the role owns nor a person has allowed. `leads_on`: a link or a
    /// repository, through which other paths lead.
    pub fn refused<'a>(
        &self,
        paths: impl IntoIterator<Item = (&'a str, bool)>,
        role: Option<&Role>,
        allowed: &[Name],
    ) -> Vec<RefusedPath> {
        let owned = role.map_or(&[][..], |role| &role.owns);
        let may = glob_set(owned.iter().chain(allowed).map(Name::as_str), true);
        let refused = paths.into_iter().filter(|(path, _)| !may.is_match(path));
        refused.filter_map(|(path, leads_on)| self.protected(path, leads_on)).collect()
    }

    fn protected(&self, path: &str, leads_on: bool) -> Option<RefusedPath> {
        if !(self.files.is_match(path) || leads_on && self.folders.is_match(path)) {
            return None;
        }
        // Which pattern it is matters only to a message.
        let fits = |pattern: &str| {
            let folders = folders_of(pattern);
            glob_set([pattern], true).is_match(path)
                || leads_on && glob_set(folders.iter().map(String::as_str), true).is_match(path)
        };
        let protection = self.patterns.iter().find(|(pattern, _)| fits(pattern))?.1.clone();
        let owns = |owned: &[Name]| glob_set(owned.iter().map(Name::as_str), true).is_match(path);
        let owners = self.owners.iter().filter(|(_, owned)| owns(owned)).map(|(role, _)| role.clone());
        Some(RefusedPath { path: path.to_owned(), protection, owners: owners.collect() })
    }
}

/// `.github/workflows/**` lies in `.github` and in `.github/workflows`.
fn folders_of(pattern: &str) -> Vec<String> {
    let ends = pattern.match_indices('/').map(|(end, _)| &pattern[..end]);
    // A choice that a slash divides is no pattern by itself, and is left out.
    let whole = |folder: &&str| folder.matches('{').count() == folder.matches('}').count();
    ends.filter(whole).filter(|folder| !folder.ends_with("**")).map(str::to_owned).collect()
}

/// The paths from the top of the project of those files that lie in it. Built-in workflows are skipped: a file of the project
/// may have the same name.
pub fn files_in_project(sources: &[(String, String)], project: &Path) -> Vec<String> {
    let is_builtin = |text: &str| BUILTINS.iter().any(|builtin| builtin.text == text);
    let real = project.canonicalize().unwrap_or_else(|_| project.to_owned());
    let inside = |name: &str| {
        let path = std::path::absolute(name).ok()?.canonicalize().ok()?;
        path.strip_prefix(&real).ok().and_then(Path::to_str).map(str::to_owned)
    };
    sources.iter().filter(|(_, text)| !is_builtin(text)).filter_map(|(name, _)| inside(name)).collect()
}

#[cfg(test)]
mod tests {
    use interlock_core::handoff::PlannedGroup;
    use interlock_core::workflow::load_builtin;

    use super::*;

    fn protected() -> ProtectedPaths {
        let workflow = load_builtin("delivery-team").and_then(|loaded| loaded.workflow).expect("a workflow");
        ProtectedPaths::new(
            &workflow,
            &["team/[a].yaml".to_owned()],
            &["check.sh".to_owned(), "tests/all.sh".to_owned()],
        )
    }

    fn refused(path: &str, leads_on: bool) -> Vec<String> {
        protected().refused([(path, leads_on)], None, &[]).into_iter().map(|refused| refused.path).collect()
    }

    #[test]
    fn default_patterns_cover_what_judges_the_work_and_not_instructions() {
        for path in [
            "interlock.yaml",
            "agents.yaml",
            ".interlock/interlock.db",
            ".claude/settings.json",
            "apps/web/.claude/settings.local.json",
            ".claude/hooks/check.sh",
            ".claude/agents/reviewer.md",
            ".codex/prompts/x.md",
            "web/.gemini/commands/x.toml",
            ".interlock.toml",
            "interlock.yml",
            ".husky/pre-commit",
            ".pre-commit-config.yaml",
            ".forgejo/workflows/ci.yml",
            "check.sh",
            ".mcp.json",
            ".github/workflows/ci.yml",
            ".GitHub/Workflows/ci.yml",
            ".gitlab-ci.yml",
            "Jenkinsfile",
            "azure-pipelines.yml",
            "team/[a].yaml",
            ".drone.star",
            ".semaphore/semaphore.yml",
            ".build.yml",
            ".builds/alpine.yml",
            ".teamcity/settings.kts",
            ".tekton/push.yaml",
            "bamboo-specs/bamboo.yml",
            ".azure-pipelines/ci.yml",
            ".gitlab-ci.yaml",
            ".cursor/mcp.json",
            "web/.vscode/settings.json",
            ".vscode/tasks.json",
            ".vscode/mcp.json",
            ".devcontainer/devcontainer.json",
            "opencode.jsonc",
            ".opencode/agent/a.md",
            ".qwen/settings.json",
            ".amp/settings.json",
            ".aider.conf.yml",
            ".continue/config.yaml",
            ".goosehints",
        ] {
            assert_eq!(refused(path, false), [path]);
        }
        for path in [
            "CLAUDE.md",
            "AGENTS.md",
            "GEMINI.md",
            ".github/CODEOWNERS",
            "src/agents.yaml",
            "team/a.yaml",
            "tests/all.sh",
            "package.json",
            ".vscode/extensions.json",
            "src/continue/a.rs",
        ] {
            assert!(refused(path, false).is_empty(), "{path}");
        }
    }

    fn is_test(path: &str) -> bool {
        let workflow = load_builtin("delivery-team").and_then(|loaded| loaded.workflow).expect("a workflow");
        glob_set(workflow.test_files.iter().map(Name::as_str), true).is_match(path)
    }

    #[test]
    fn default_test_files_cover_runners_configuration_and_stored_results() {
        for path in [
            "test.sh",
            "ci/run_tests.sh",
            "pytest.ini",
            "tox.ini",
            "noxfile.py",
            "jest.config.js",
            "web/vitest.config.ts",
            "playwright.config.ts",
            "cypress/support/index.js",
            "t/basic.t",
            "src/__snapshots__/a.js.snap",
            "a.snap",
            "pkg/testdata/in.txt",
            "features/login.feature",
        ] {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/main.rs", "latest.sh", "features/login.rs", "src/contest.py", "Makefile"] {
            assert!(!is_test(path), "{path}");
        }
    }

    #[test]
    fn runner_of_tests_that_a_gate_runs_is_protected() {
        let workflow = load_builtin("delivery-team").and_then(|loaded| loaded.workflow).expect("a workflow");
        assert!(workflow.test_files.iter().any(|pattern| pattern == TEST_RUNNERS));
        let paths = ProtectedPaths::new(&workflow, &[], &["run_tests.sh".to_owned()]);
        assert_eq!(paths.refused([("run_tests.sh", false)], None, &[]).len(), 1);
    }

    #[test]
    fn group_of_documents_may_not_change_code() {
        let workflow = load_builtin("delivery-team").and_then(|loaded| loaded.workflow).expect("a workflow");
        let plan = |kind: &str| PlannedGroup {
            id: Name::new("R"),
            title: Name::new("Find it out"),
            flags: [(Name::new("kind"), Name::new(kind))].into(),
            depends_on: Vec::new(),
            checks: Vec::new(),
        };
        let refused = |kind: &str, path: &str| {
            let limits = GroupLimit::of(&workflow, &Group::planned(&plan(kind)));
            limits.iter().flat_map(|limit| limit.refused([path], &[])).count()
        };
        for path in ["docs/answer.md", "README.md", "docs/data/sizes.csv", "research/plot.png"] {
            assert_eq!(refused("research", path), 0, "{path}");
        }
        for path in
            ["src/b.py", "docs/conf.py", "CMakeLists.txt", "requirements.txt", "Makefile", "docs/run", "a.ipynb"]
        {
            assert_eq!((refused("research", path), refused("code", path)), (1, 0), "{path}");
        }
    }

    #[test]
    fn link_in_the_place_of_a_protected_folder_is_refused() {
        for path in [".github", ".github/workflows", ".interlock", ".circleci", "a/.claude"] {
            assert_eq!(refused(path, true), [path]);
            assert!(refused(path, false).is_empty(), "{path}");
        }
        assert!(refused("docs", true).is_empty());
    }

    #[test]
    fn allowed_pattern_lets_only_its_own_paths_through() {
        let allowed = [Name::new(".github/workflows/**")];
        let paths = [(".github/workflows/ci.yml", false), (".gitlab-ci.yml", false)];
        let refused = protected().refused(paths, None, &allowed);
        let names: Vec<&str> = refused.iter().map(|refused| refused.path.as_str()).collect();
        assert_eq!(names, [".gitlab-ci.yml"]);
        assert_eq!(refused[0].why(), "protected by `.gitlab-ci.yml`; no role owns it");
    }
}
