//! Storage settings of the user's repository: filters, line ends, merge drivers, attributes and excluded files. They
//! are kept in places that do not travel with commits, so the repository of a session needs them as well. Files that
//! the user's repository would encrypt must not be committed in plain.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::git::{Git, GitResult};

/// Those of the user's settings that have to do with files, beside filters and merge drivers. No more than these: addresses
/// and what goes with them are no agent's business.
const PLAIN: &[&str] = &[
    "core.eol",
    "core.autocrlf",
    "core.attributesfile",
    "core.excludesfile",
    "core.checkroundtripencoding",
    "lfs.storage",
    "lfs.fetchinclude",
    "lfs.fetchexclude",
];
/// And those that name a file.
const PATHS: &[&str] = &["core.attributesfile", "core.excludesfile", "lfs.storage"];
/// And those that name a program.
const PROGRAMS: &[&str] = &["clean", "smudge", "process", "driver"];
/// System-wide attribute files of git.
const FOR_ALL: &[&str] = &["/etc/gitattributes", "/usr/local/etc/gitattributes"];

#[derive(Clone, Debug, Default)]
pub(super) struct StorageConfig {
    /// The settings, as a file of git's has them.
    pub(super) config: String,
    /// `info/attributes` and `info/exclude` of the user's repository.
    pub(super) attributes: Option<Vec<u8>>,
    pub(super) exclude: Option<Vec<u8>>,
    /// May files be stored otherwise than they lie there, whatever the attributes in the project say?
    pub(super) converts: bool,
    /// Objects may be missing, which a remote has.
    pub(super) partial: bool,
    /// Where large files are kept beside the repository.
    pub(super) large: PathBuf,
}

impl StorageConfig {
    pub(super) fn of(root: &Path, repository: &Path) -> GitResult<Self> {
        let info = |name: &str| fs::read(repository.join("info").join(name)).ok().filter(|text| says_anything(text));
        let mut customs = Self {
            attributes: info("attributes"),
            exclude: info("exclude"),
            large: repository.join("lfs"),
            ..Self::default()
        };
        customs.converts = customs.attributes.is_some() || has_attributes();
        let said = Git::within(root).run_for_list(&["config", "--list", "--includes", "--null", "--show-scope"])?;
        let mut parts = said.iter().map(|part| String::from_utf8_lossy(part));
        while let (Some(scope), Some(line)) = (parts.next(), parts.next()) {
            // System-wide settings count too: they may be limited to the path of the user's repository.
            if scope != "command" {
                let (key, value) = line.split_once('\n').map_or((&*line, None), |(key, value)| (key, Some(value)));
                customs.heed(key, value, root, repository);
            }
        }
        Ok(customs)
    }

    /// The files that say so in a repository.
    pub(super) fn info(&self) -> [(&'static str, Option<Vec<u8>>); 2] {
        [("info/attributes", self.attributes.clone()), ("info/exclude", self.exclude.clone())]
    }

    fn heed(&mut self, key: &str, value: Option<&str>, root: &Path, repository: &Path) {
        let Some((section, rest)) = key.split_once('.') else { return };
        let (inner, name) = rest.rsplit_once('.').map_or((None, rest), |(inner, name)| (Some(inner), name));
        let off = value.is_some_and(|value| ["", "0", "no", "off", "false"].contains(&value.to_lowercase().as_str()));
        self.partial |= key == "extensions.partialclone" || (section == "remote" && name == "promisor" && !off);
        let about_files = match section {
            "filter" => true,
            "merge" => inner.is_some(),
            _ => PLAIN.contains(&key),
        };
        if !about_files {
            return;
        }
        match key {
            "core.autocrlf" => self.converts |= !off,
            "core.attributesfile" => self.converts = true,
            _ => {}
        }
        let from = if section == "lfs" { repository } else { root };
        let value = match value {
            Some(value) if PATHS.contains(&key) => Some(absolute(from, value)),
            Some(value) if PROGRAMS.contains(&name) => Some(at_home(root, value)),
            value => value.map(str::to_owned),
        };
        if let ("lfs.storage", Some(folder)) = (key, &value) {
            self.large = PathBuf::from(folder);
        }
        self.config.push_str(&setting(section, inner, name, value.as_deref()));
    }
}

/// Git makes a file with nothing but comments in it.
fn says_anything(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').any(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"))
}

/// A path of the user's settings means the same wherever git is called.
fn absolute(from: &Path, path: &str) -> String {
    if path.is_empty() || path.starts_with(['/', '~', '%']) {
        path.to_owned()
    } else {
        from.join(path).display().to_string()
    }
}

/// A command that names files of the project means those of the user's checkout: git calls it among the files of an agent,
/// who would else decide what runs.
fn at_home(root: &Path, command: &str) -> String {
    let plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._/-+@".contains(&byte));
    let words = command.split(' ').enumerate().map(|(index, word)| {
        // The first is looked for among the system's programs if it has no folder.
        let is_file = plain(word) && !word.starts_with(['/', '-']) && (index > 0 || word.contains('/'));
        let path = root.join(word);
        let path = path.to_str().filter(|path| is_file && !path.contains('\'') && Path::new(path).is_file());
        path.map_or_else(|| word.to_owned(), |path| format!("'{path}'"))
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Attributes of the user's, or of the machine's, for all projects.
fn has_attributes() -> bool {
    let folder = env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = folder.or_else(|| env::home_dir().map(|home| home.join(".config")));
    let own = folder.map(|folder| folder.join("git/attributes"));
    own.into_iter().chain(FOR_ALL.iter().map(PathBuf::from)).any(|path| path.exists())
}

/// One setting, as git reads it back.
fn setting(section: &str, inner: Option<&str>, name: &str, value: Option<&str>) -> String {
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let head = inner.map_or_else(|| format!("[{section}]"), |inner| format!("[{section} \"{}\"]", escaped(inner)));
    match value {
        Some(value) => {
            let value = escaped(value).replace('\n', "\\n").replace('\t', "\\t").replace('\u{8}', "\\b");
            format!("{head}\n\t{name} = \"{value}\"\n")
        }
        None => format!("{head}\n\t{name}\n"),
    }
}
