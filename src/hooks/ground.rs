//! Which files are whose: the project's, Interlock's own, another agent's.

use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Files that set the clients up: whoever changes them can take the hooks out.
const SETTINGS: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/skills/interlock",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".gemini/agents",
    ".mcp.json",
];
/// Links that are followed for one path, at most.
const LINKS: u32 = 16;

const OF_KEYS: &str = "the keys of the store are for people and for Interlock, and not even read by anybody else";
const OF_STORE: &str = "the store is Interlock's own, and so is what other agents have left there";
const OF_RUN: &str = "the workspaces of a run belong to its agents";
const OF_HOOKS: &str = "it sets up the hooks that watch this session: a person changes it, not an agent";

/// Folders by their real paths.
pub(super) struct Ground {
    project: PathBuf,
    /// The folder of the store.
    store: PathBuf,
    /// Where the keys are, and what hooks hold.
    keys: PathBuf,
    /// Where `interlock run` has its agents work.
    workspaces: Option<PathBuf>,
}

/// Whose a path is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// Of the project, by its path in it.
    Project(PathBuf),
    /// Nobody changes it, and why.
    Nobody(&'static str),
    /// Nobody reads it either, and why.
    Secret(&'static str),
    /// Outside of everything that a session is about.
    Elsewhere,
}

impl Ground {
    pub(super) fn new(project: &Path, store: &Path, keys: &Path, workspaces: Option<&Path>) -> Self {
        let store = std::path::absolute(store).unwrap_or_else(|_| store.to_owned());
        Self {
            project: resolved(project),
            store: resolved(&store),
            keys: resolved(keys),
            workspaces: workspaces.map(resolved),
        }
    }

    /// Whose this path is. `own` is where the agent that asks leaves its handoff.
    pub(super) fn whose(&self, path: &Path, from: &Path, own: &[PathBuf]) -> Whose {
        let path = resolved(&from.join(path));
        if own.iter().any(|own| path.starts_with(resolved(own))) {
            return Whose::Elsewhere;
        }
        if path.starts_with(&self.keys) {
            return Whose::Secret(OF_KEYS);
        }
        if path.starts_with(&self.store) {
            return Whose::Nobody(OF_STORE);
        }
        if self.workspaces.as_ref().is_some_and(|folder| path.starts_with(folder)) {
            return Whose::Nobody(OF_RUN);
        }
        let Ok(inside) = path.strip_prefix(&self.project) else { return Whose::Elsewhere };
        if SETTINGS.iter().any(|settings| inside.starts_with(settings)) {
            return Whose::Nobody(OF_HOOKS);
        }
        Whose::Project(inside.to_owned())
    }

    /// Why this path cannot be taken away: something that nobody changes lies in it.
    pub(super) fn holds(&self, path: &Path, from: &Path) -> Option<&'static str> {
        let path = resolved(&from.join(path));
        if self.keys.starts_with(&path) {
            return Some(OF_KEYS);
        }
        if self.store.starts_with(&path) {
            return Some(OF_STORE);
        }
        let inside = path.strip_prefix(&self.project).ok()?;
        SETTINGS.iter().any(|settings| Path::new(settings).starts_with(inside)).then_some(OF_HOOKS)
    }
}

/// A path as a shell would read it: with the home of the user, and with variables.
pub(super) fn expanded(word: &str) -> PathBuf {
    let variable = |name: &str| env::var(name).ok();
    let mut text = match word.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => variable("HOME").unwrap_or_default() + rest,
        Some(_) | None => word.to_owned(),
    };
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "PWD"] {
        if let Some(value) = variable(name).filter(|_| text.contains('$')) {
            text = text.replace(&format!("${{{name}}}"), &value).replace(&format!("${name}"), &value);
        }
    }
    PathBuf::from(text)
}

/// The path without `.`, `..` and links, as far as it exists: what is not there yet cannot be a link.
pub(super) fn resolved(path: &Path) -> PathBuf {
    followed(path, LINKS)
}

fn followed(path: &Path, links: u32) -> PathBuf {
    let mut plain = PathBuf::new();
    // How many parts at the end are not there: nothing below them is, either.
    let mut missing = 0usize;
    for part in path.components() {
        match part {
            Component::CurDir => continue,
            Component::ParentDir => {
                plain.pop();
                missing = missing.saturating_sub(1);
                continue;
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
        if missing > 0 {
            missing += 1;
        } else if let Ok(real) = plain.canonicalize() {
            plain = real;
        } else {
            missing = 1;
            // A link to what is not there yet: whoever writes it writes that.
            if let Some(target) = fs::read_link(&plain).ok().filter(|_| links > 0) {
                let target = plain.parent().unwrap_or(Path::new("/")).join(target);
                plain = followed(&target, links - 1);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ground() -> Ground {
        let path = Path::new;
        let (project, store) = (path("/nowhere/project"), path("/nowhere/project/.interlock"));
        Ground::new(project, store, path("/nowhere/config/interlock"), Some(path("/nowhere/state/interlock")))
    }

    #[test]
    fn what_is_interlocks_own_is_nobodys_by_whatever_way() {
        let from = Path::new("/nowhere/project/src");
        for path in [
            "/nowhere/project/.interlock/interlock.db",
            "../.interlock/interlock.db",
            "/nowhere/state/interlock/x/group/file",
            "../.claude/settings.json",
            "../.claude/skills/interlock/hooks/hooks.json",
        ] {
            assert!(matches!(ground().whose(Path::new(path), from, &[]), Whose::Nobody(_)), "{path}");
        }
        let key = Path::new("/nowhere/config/interlock/*/operator.key");
        assert!(matches!(ground().whose(key, from, &[]), Whose::Secret(_)));
        assert_eq!(ground().whose(Path::new("a.rs"), from, &[]), Whose::Project("src/a.rs".into()));
        assert_eq!(ground().whose(Path::new("/tmp/x"), from, &[]), Whose::Elsewhere);
    }

    #[test]
    fn an_agent_writes_where_it_leaves_its_handoff_and_not_where_another_does() {
        let own = PathBuf::from("/nowhere/project/.interlock/sessions/s/a1.1");
        let own = std::slice::from_ref(&own);
        let from = Path::new("/nowhere/project");
        assert_eq!(ground().whose(&own[0].join("handoff.md"), from, own), Whose::Elsewhere);
        let other = Path::new("/nowhere/project/.interlock/sessions/s/a2.1/handoff.md");
        assert!(matches!(ground().whose(other, from, own), Whose::Nobody(_)));
    }

    #[test]
    fn what_lies_in_a_folder_goes_with_it() {
        let from = Path::new("/nowhere/project");
        for path in [".interlock", ".claude", ".gemini/", ".", "..", "/nowhere/config", ".claude/skills"] {
            assert!(ground().holds(Path::new(path), from).is_some(), "{path}");
        }
        for path in ["src", ".claude/agents", ".github", "/tmp", "a/b/.claude"] {
            assert_eq!(ground().holds(Path::new(path), from), None, "{path}");
        }
    }

    #[test]
    fn a_long_way_to_nowhere_is_short() {
        let path = PathBuf::from("/nowhere").join("x/".repeat(1 << 20)).join("../".repeat(1 << 20)).join("a");
        assert_eq!(resolved(&path), Path::new("/nowhere/a"));
    }
}
