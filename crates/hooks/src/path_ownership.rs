//! Ownership of paths: the project's, Interlock's own, another agent's.

use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};

use memchr::memmem;

use interlock_app::context::keyring;

/// Files of a project that configure the clients. A change to them could remove the hooks.
const SETTINGS: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/skills/interlock",
    ".codex/agents",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".gemini/agents",
    ".gemini/settings.json",
    ".mcp.json",
];
/// The same for the user: in the folder that a variable names, or else at home, in this folder.
const OF_USER: &[(&str, &str, &[&str])] = &[
    ("CLAUDE_CONFIG_DIR", ".claude", &["settings.json", "settings.local.json", "plugins"]),
    ("CODEX_HOME", ".codex", &["config.toml", "hooks.json"]),
    ("", ".gemini", &["settings.json", "trustedFolders.json", "acknowledgments"]),
    ("", ".claude.json", &[""]),
];
/// Links that are followed for one path, at most.
const LINKS: u32 = 16;

const OF_KEYS: &str = "the keys of the store are for people and for Interlock, and not even read by anybody else";
const OF_STORE: &str = "the store is Interlock's own, and so is what other agents have left there";
const OF_RUN: &str = "the workspaces of a run belong to its agents";
const OF_HOOKS: &str = "it sets up the hooks that watch this session: a person changes it, not an agent";

/// Folders by their real paths.
pub(super) struct PathOwnership {
    project: PathBuf,
    /// The folder of the store.
    store: PathBuf,
    /// Where the keys are, and what hooks hold.
    keys: Vec<PathBuf>,
    /// Where `interlock run` has its agents work.
    workspaces: Option<PathBuf>,
    /// Files that configure the clients.
    settings: Vec<PathBuf>,
}

/// The owner of a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PathOwner {
    /// Of the project, by its path in it.
    Project(PathBuf),
    /// No agent may change it. The text is the reason.
    Nobody(&'static str),
    /// No agent may read or change it. The text is the reason.
    Secret(&'static str),
    /// Outside of everything that a session is about.
    Elsewhere,
}

impl PathOwnership {
    pub(super) fn new(project: &Path, store: &Path, keys: &[PathBuf], workspaces: Option<&Path>) -> Self {
        let store = std::path::absolute(store).unwrap_or_else(|_| store.to_owned());
        let project = resolved(project);
        let of_project = SETTINGS.iter().map(|name| project.join(name));
        let mut settings: Vec<PathBuf> = of_project.chain(of_user()).collect();
        // A link of the user's is protected as well as what it points to.
        let real: Vec<PathBuf> = settings.iter().filter_map(|path| path.canonicalize().ok()).collect();
        settings.extend(real.into_iter().filter(|real| !settings.contains(real)).collect::<Vec<_>>());
        Self {
            store: resolved(&store),
            keys: keys.iter().map(|path| resolved(path)).collect(),
            workspaces: workspaces.map(resolved),
            project,
            settings,
        }
    }

    /// The owner of a path. `own` has the folders in which the requesting agent leaves its handoffs.
    pub(super) fn whose(&self, path: &Path, from: &Path, own: &[PathBuf]) -> PathOwner {
        let path = resolved(&from.join(path));
        if own.iter().any(|own| path.starts_with(resolved(own))) {
            return PathOwner::Elsewhere;
        }
        if self.keys.iter().any(|keys| path.starts_with(keys)) {
            return PathOwner::Secret(OF_KEYS);
        }
        if path.starts_with(&self.store) {
            return PathOwner::Nobody(OF_STORE);
        }
        if self.workspaces.as_ref().is_some_and(|folder| path.starts_with(folder)) {
            return PathOwner::Nobody(OF_RUN);
        }
        if self.settings.iter().any(|settings| path.starts_with(settings)) {
            return PathOwner::Nobody(OF_HOOKS);
        }
        match path.strip_prefix(&self.project) {
            Ok(inside) => PathOwner::Project(inside.to_owned()),
            Err(_) => PathOwner::Elsewhere,
        }
    }

    /// The reason why this path cannot be removed: it contains a path that no agent may change.
    pub(super) fn holds(&self, path: &Path, from: &Path) -> Option<&'static str> {
        let path = resolved(&from.join(path));
        if self.store.starts_with(&path) {
            return Some(OF_STORE);
        }
        if self.settings.iter().any(|settings| settings.starts_with(&path)) {
            return Some(OF_HOOKS);
        }
        self.keys.iter().any(|keys| keys.starts_with(&path)).then_some(OF_KEYS)
    }

    /// Why this path cannot be read with all that is in it.
    pub(super) fn holds_keys(&self, path: &Path, from: &Path) -> Option<&'static str> {
        let path = resolved(&from.join(path));
        self.keys.iter().any(|keys| keys.starts_with(&path)).then_some(OF_KEYS)
    }

    /// Finds a protected path that a text mentions, whatever comes before it in the path.
    pub(super) fn mentioned(&self, text: &str) -> Option<(PathBuf, &'static str)> {
        let named = |name: &str| {
            let after = |at: usize| text[at + name.len()..].chars().next();
            let ends = |at: usize| after(at).is_none_or(|next| !(next.is_alphanumeric() || "._-".contains(next)));
            !name.is_empty() && memmem::find_iter(text.as_bytes(), name).any(|at| text.is_char_boundary(at) && ends(at))
        };
        let folder = self.store.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let store = if folder.starts_with('.') { folder } else { self.store.display().to_string() };
        if named(&store) {
            return Some((PathBuf::from(store), OF_STORE));
        }
        let keys = self.keys.iter().map(|keys| keys.display().to_string()).find(|keys| named(keys));
        if let Some(keys) = keys.or_else(|| Some(".config/interlock".to_owned()).filter(|keys| named(keys))) {
            return Some((PathBuf::from(keys), OF_KEYS));
        }
        SETTINGS.iter().find(|name| named(name)).map(|name| (PathBuf::from(name), OF_HOOKS))
    }
}

/// Paths that no agent may read: the folder with the keys of every store of this user, and a key file that is named.
pub(super) fn secrets() -> Vec<PathBuf> {
    let Ok(keyring) = keyring() else { return Vec::new() };
    keyring.places().into_iter().filter(|path| path.is_absolute()).collect()
}

/// Files that configure the clients for this user, in every project.
fn of_user() -> Vec<PathBuf> {
    let home = env::var_os("HOME").map(PathBuf::from);
    let home_of_gemini = env::var_os("GEMINI_CLI_HOME").map(PathBuf::from);
    let mut all = Vec::new();
    for (variable, folder, names) in OF_USER {
        let named = env::var_os(variable).map(PathBuf::from);
        let at_home = [&home, &home_of_gemini].into_iter().flatten().map(|home| home.join(folder));
        for folder in at_home.chain(named).filter(|folder| folder.is_absolute()) {
            all.extend(names.iter().map(|name| if name.is_empty() { folder.clone() } else { folder.join(name) }));
        }
    }
    all
}

/// A path as a shell would read it: with the home of the user, and with variables.
pub(super) fn expanded(word: &str) -> PathBuf {
    let variable = |name: &str| env::var(name).ok();
    let mut text = match word.strip_prefix('~') {
        Some(rest) => match rest.split_at(rest.find('/').unwrap_or(rest.len())) {
            (name, rest) if name.is_empty() || variable("USER").is_some_and(|user| user == name) => {
                variable("HOME").unwrap_or_default() + rest
            }
            _ => word.to_owned(),
        },
        None => word.to_owned(),
    };
    // `PWD` is the folder of the command. The variable of this process may differ.
    let known = |name: &str| if name == "PWD" { Some(".".to_owned()) } else { variable(name) };
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "PWD"] {
        if let Some(value) = known(name).filter(|_| text.contains('$')) {
            text = text.replace(&format!("${{{name}}}"), &value).replace(&format!("${name}"), &value);
        }
    }
    PathBuf::from(text)
}

/// The path without `.`, `..` and links, as far as it exists: what is not there yet cannot be a link.
pub(super) fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| followed(path, LINKS))
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
            // A write through a dangling link creates the link's target.
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

    fn ground() -> PathOwnership {
        let path = Path::new;
        let (project, store) = (path("/nowhere/project"), path("/nowhere/project/.interlock"));
        PathOwnership::new(
            project,
            store,
            &[PathBuf::from("/nowhere/config/interlock")],
            Some(path("/nowhere/state/interlock")),
        )
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
            assert!(matches!(ground().whose(Path::new(path), from, &[]), PathOwner::Nobody(_)), "{path}");
        }
        let key = Path::new("/nowhere/config/interlock/*/operator.key");
        assert!(matches!(ground().whose(key, from, &[]), PathOwner::Secret(_)));
        assert_eq!(ground().whose(Path::new("a.rs"), from, &[]), PathOwner::Project("src/a.rs".into()));
        assert_eq!(ground().whose(Path::new("/tmp/x"), from, &[]), PathOwner::Elsewhere);
    }

    #[test]
    fn an_agent_writes_where_it_leaves_its_handoff_and_not_where_another_does() {
        let own = PathBuf::from("/nowhere/project/.interlock/sessions/s/a1.1");
        let own = std::slice::from_ref(&own);
        let from = Path::new("/nowhere/project");
        assert_eq!(ground().whose(&own[0].join("handoff.md"), from, own), PathOwner::Elsewhere);
        let other = Path::new("/nowhere/project/.interlock/sessions/s/a2.1/handoff.md");
        assert!(matches!(ground().whose(other, from, own), PathOwner::Nobody(_)));
    }

    #[test]
    fn what_lies_in_a_folder_goes_with_it() {
        let from = Path::new("/nowhere/project");
        for path in [".interlock", ".claude", ".gemini/", ".", "..", "/nowhere/config", ".claude/skills"] {
            assert!(ground().holds(Path::new(path), from).is_some(), "{path}");
        }
        for path in ["src", ".claude/agents", ".github", "/nowhere/else", "a/b/.claude"] {
            assert_eq!(ground().holds(Path::new(path), from), None, "{path}");
        }
    }

    #[test]
    fn what_a_text_names_is_found_in_it() {
        let mentions = |text: &str| ground().mentioned(text).is_some();
        for text in [
            "python3 -c \"open('.interlock/interlock.db','w')\"",
            "rm -rf $(pwd)/.interlock",
            "tar -C.interlock -xf a",
            "cat ~/.config/interlock/x",
            "git checkout -- .codex/hooks.json",
        ] {
            assert!(mentions(text), "{text}");
        }
        for text in ["cat interlock.yaml", "curl https://x.interlock.dev", "vi .interlockrc", "ls .claude/agents"] {
            assert!(!mentions(text), "{text}");
        }
    }

    #[test]
    fn a_long_way_to_nowhere_is_short() {
        let path = PathBuf::from("/nowhere").join("x/".repeat(1 << 20)).join("../".repeat(1 << 20)).join("a");
        assert_eq!(resolved(&path), Path::new("/nowhere/a"));
    }
}
