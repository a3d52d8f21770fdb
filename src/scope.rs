//! What a role may change in the files of a project.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use interlock_core::id::Name;
use interlock_core::workflow::{BUILTINS, Role, Workflow, Writes};

/// Those of the files that may not be changed by whoever may write this much.
pub(crate) fn outside(files: &[String], writes: &Writes) -> Vec<String> {
    match writes {
        Writes::Everything => Vec::new(),
        Writes::Nothing => files.to_vec(),
        Writes::Only(patterns) => {
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

/// The paths that judge or configure the work. Only roles that own them change them.
#[derive(Clone, Debug)]
pub(crate) struct ProtectedPaths {
    files: GlobSet,
    /// Folders that protected files lie in: a link in their place would lead to other files.
    folders: GlobSet,
}

impl ProtectedPaths {
    /// Those of a workflow, and files of the session itself, by their paths in the project. Letter case does not matter: some
    /// file systems do not tell it apart.
    pub(crate) fn new(workflow: &Workflow, of_session: &[String]) -> Self {
        let own: Vec<String> = of_session.iter().map(|path| globset::escape(path)).collect();
        let patterns = || workflow.protected.iter().map(Name::as_str).chain(own.iter().map(String::as_str));
        let folders: Vec<String> = patterns().flat_map(folders_of).collect();
        Self { files: glob_set(patterns(), true), folders: glob_set(folders.iter().map(String::as_str), true) }
    }

    /// Those of the paths that are protected, and that neither the role owns nor a person has allowed. `leads_on`: a link or a
    /// repository, through which other paths lead.
    pub(crate) fn refused<'a>(
        &self,
        paths: impl IntoIterator<Item = (&'a str, bool)>,
        role: Option<&Role>,
        allowed: &[Name],
    ) -> Vec<String> {
        let owned = role.map_or(&[][..], |role| &role.owns);
        let may = glob_set(owned.iter().chain(allowed).map(Name::as_str), true);
        let is_protected =
            |path: &str, leads_on: bool| self.files.is_match(path) || leads_on && self.folders.is_match(path);
        let refused = paths.into_iter().filter(|(path, leads_on)| is_protected(path, *leads_on) && !may.is_match(path));
        refused.map(|(path, _)| path.to_owned()).collect()
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
pub(crate) fn files_in_project(sources: &[(String, String)], project: &Path) -> Vec<String> {
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
    use interlock_core::workflow::load_builtin;

    use super::*;

    fn protected() -> ProtectedPaths {
        let workflow = load_builtin("delivery-team").and_then(|loaded| loaded.workflow).expect("a workflow");
        ProtectedPaths::new(&workflow, &["team/[a].yaml".to_owned()])
    }

    #[test]
    fn default_patterns_cover_what_judges_the_work_and_not_instructions() {
        let protected = protected();
        for path in [
            "interlock.yaml",
            "agents.yaml",
            ".interlock/interlock.db",
            ".claude/settings.json",
            "apps/web/.claude/settings.local.json",
            ".claude/hooks/check.sh",
            ".mcp.json",
            ".github/workflows/ci.yml",
            ".GitHub/Workflows/ci.yml",
            ".gitlab-ci.yml",
            "Jenkinsfile",
            "azure-pipelines.yml",
            "team/[a].yaml",
        ] {
            assert_eq!(protected.refused([(path, false)], None, &[]), [path]);
        }
        for path in
            ["CLAUDE.md", "AGENTS.md", ".claude/commands/x.md", ".github/CODEOWNERS", "src/agents.yaml", "team/a.yaml"]
        {
            assert!(protected.refused([(path, false)], None, &[]).is_empty(), "{path}");
        }
    }

    #[test]
    fn link_in_the_place_of_a_protected_folder_is_refused() {
        for path in [".github", ".github/workflows", ".interlock", ".circleci", "a/.claude"] {
            assert_eq!(protected().refused([(path, true)], None, &[]), [path]);
            assert!(protected().refused([(path, false)], None, &[]).is_empty(), "{path}");
        }
        assert!(protected().refused([("docs", true)], None, &[]).is_empty());
    }

    #[test]
    fn allowed_pattern_lets_only_its_own_paths_through() {
        let allowed = [Name::new(".github/workflows/**")];
        let paths = [(".github/workflows/ci.yml", false), (".gitlab-ci.yml", false)];
        assert_eq!(protected().refused(paths, None, &allowed), [".gitlab-ci.yml"]);
    }
}
