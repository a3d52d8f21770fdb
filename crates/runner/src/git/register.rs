//! The commit of each name of a session's repository: where it began, what was merged, what each assignment left.
//!
//! These names are not refs of git. Agents can reach the repository, and a `git push --force` into it would move
//! refs. The names are held in memory and in an append-only file. Each line is sealed with the one before it, by a
//! key that agents do not get. Agents therefore cannot move a name during a run, and a change of the file between
//! runs is detected.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::git::{GitError, GitHash, GitResult};

/// The value of a name that was removed.
const NOTHING: &str = "-";

/// The key of one session's register. Made of the key of the chains, and not that key.
#[derive(Clone)]
pub(crate) struct RegisterKey([u8; 32]);

impl RegisterKey {
    pub(crate) const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    fn seal(&self, before: &blake3::Hash, line: &str) -> blake3::Hash {
        let mut seal = blake3::Hasher::new_keyed(&self.0);
        seal.update(before.as_bytes()).update(line.as_bytes());
        seal.finalize()
    }
}

impl std::fmt::Debug for RegisterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RegisterKey")
    }
}

#[derive(Debug)]
pub(super) struct RefRegister {
    path: PathBuf,
    file: File,
    key: RegisterKey,
    last: blake3::Hash,
    names: BTreeMap<String, GitHash>,
}

impl RefRegister {
    /// Reads the file. An incomplete last line, cut short by a crash, was never reported, so it is removed.
    pub(super) fn open(path: &Path, key: RegisterKey) -> GitResult<Self> {
        if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(changed(path));
        }
        let mut options = OpenOptions::new();
        let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or(0);
        let mut file = options.create(true).read(true).append(true).mode(0o600).custom_flags(flags).open(path)?;
        let mut text = String::new();
        if file.read_to_string(&mut text).is_err() {
            return Err(changed(path));
        }
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            file.set_len(whole as u64)?;
        }
        let last = blake3::Hash::from_bytes([0; 32]);
        let mut register = Self { path: path.to_owned(), file, key, last, names: BTreeMap::new() };
        for line in text.get(..whole).unwrap_or_default().lines() {
            register.read(line).ok_or_else(|| changed(path))?;
        }
        Ok(register)
    }

    /// One line: its seal, then names and what they stand for from now on.
    fn read(&mut self, line: &str) -> Option<()> {
        let (seal, said) = line.split_once(' ')?;
        let expected = self.key.seal(&self.last, said);
        // Compared in constant time.
        if blake3::Hash::from_hex(seal).ok()? != expected {
            return None;
        }
        let mut words = said.split(' ');
        while let (Some(name), Some(to)) = (words.next(), words.next()) {
            match to {
                NOTHING => drop(self.names.remove(name)),
                hash => drop(self.names.insert(name.to_owned(), GitHash::parse(hash).ok()?)),
            }
        }
        self.last = expected;
        Some(())
    }

    pub(super) fn get(&self, name: &str) -> Option<&GitHash> {
        self.names.get(name)
    }

    /// The names below a name, without its prefix, and their commits.
    pub(super) fn below<'r>(&'r self, folder: &'r str) -> impl Iterator<Item = (&'r str, &'r GitHash)> {
        let from = self.names.range(folder.to_owned()..);
        from.map_while(move |(name, hash)| Some((name.strip_prefix(folder)?, hash)))
    }

    /// All of it or nothing, and on the disk.
    pub(super) fn set(&mut self, entries: &[(&str, Option<&GitHash>)]) -> GitResult<()> {
        let words: Vec<String> =
            entries.iter().map(|(name, to)| format!("{name} {}", to.map_or(NOTHING, GitHash::as_str))).collect();
        let said = words.join(" ");
        let seal = self.key.seal(&self.last, &said);
        let line = format!("{} {said}\n", seal.to_hex());
        let length = self.file.metadata()?.len();
        if let Err(error) = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data()) {
            // Half a line would be read together with the next.
            let _ = self.file.set_len(length);
            return Err(GitError::odd(format!("{}: {error}", self.path.display())));
        }
        self.last = seal;
        for (name, to) in entries {
            match to {
                Some(hash) => drop(self.names.insert((*name).to_owned(), (*hash).clone())),
                None => drop(self.names.remove(*name)),
            }
        }
        Ok(())
    }
}

fn changed(path: &Path) -> GitError {
    let message = format!("{} was changed, and not by Interlock", path.display());
    GitError::odd(message)
        .help("what agents have left cannot be told from what was put there: cancel the session, and start a new one")
}

/// Is there a register, or was there one?
pub(super) fn exists(path: &Path) -> GitResult<bool> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(found.len() > 0),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(test: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("interlock-register-{}-{test}", std::process::id()));
        let _ = fs::remove_file(&path);
        path
    }

    fn open(path: &Path) -> GitResult<RefRegister> {
        RefRegister::open(path, RegisterKey::new([7; 32]))
    }

    fn hash(digit: char) -> GitHash {
        GitHash::parse(&digit.to_string().repeat(40)).expect("a hash")
    }

    fn filled(test: &str) -> PathBuf {
        let path = place(test);
        let mut register = open(&path).expect("a register");
        register.set(&[("integration", Some(&hash('a')))]).expect("written");
        register.set(&[("groups/g/merged", Some(&hash('b'))), ("integration", Some(&hash('b')))]).expect("written");
        register.set(&[("pending/a3", Some(&hash('c')))]).expect("written");
        register.set(&[("pending/a3", None)]).expect("written");
        path
    }

    #[test]
    fn what_was_set_is_there_again() {
        let path = filled("again");
        let register = open(&path).expect("it opens");
        assert_eq!(register.get("integration"), Some(&hash('b')));
        assert_eq!(register.get("pending/a3"), None);
        assert_eq!(register.below("groups/g/").collect::<Vec<_>>(), [("merged", &hash('b'))]);
        fs::remove_file(path).expect("it goes");
    }

    #[test]
    fn a_line_that_a_crash_cut_short_never_was() {
        let path = filled("cut");
        let text = fs::read_to_string(&path).expect("lines");
        for length in text.trim_end().rfind('\n').map_or(0, |end| end + 2)..text.len() {
            fs::write(&path, &text[..length]).expect("cut");
            let mut register = open(&path).expect("it opens");
            assert_eq!(register.get("pending/a3"), Some(&hash('c')), "{length}");
            register.set(&[("pending/a3", None)]).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("lines"), text, "and is written whole the next time");
        }
        fs::remove_file(path).expect("it goes");
    }

    #[test]
    fn lines_of_somebody_elses_are_known() {
        let path = filled("forged");
        let text = fs::read_to_string(&path).expect("lines");
        let lines: Vec<&str> = text.lines().collect();
        let other = RegisterKey::new([8; 32]).seal(&blake3::Hash::from_bytes([0; 32]), "integration -");
        let forged = [
            text.replacen(&"a".repeat(40), &"d".repeat(40), 1),
            format!("{}\n{}\n", lines[1], lines[2]),
            format!("{}\n{}\n{}\n", lines[0], lines[2], lines[1]),
            format!("{text}{}\n", lines[3]),
            format!("{text}\n"),
            format!("{} integration -\n", other.to_hex()),
        ];
        for forged in forged {
            fs::write(&path, &forged).expect("forged");
            assert!(open(&path).is_err(), "{forged}");
        }
        fs::remove_file(&path).expect("it goes");
        std::os::unix::fs::symlink("/dev/null", &path).expect("a link");
        assert!(open(&path).is_err_and(|error| error.message.contains("was changed")), "a link is not followed");
        fs::remove_file(path).expect("it goes");
    }
}
