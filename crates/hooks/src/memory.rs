//! State that hooks keep of a conversation between calls: a file of the user's, beside the keys.
//!
//! It holds the tokens of the assignments that were claimed for sub-agents, so that no model ever sees one. Hooks of
//! one conversation run concurrently, so each locks the file while it works.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use interlock_core::id::{AssignmentId, Digest, Name};
use serde::{Deserialize, Serialize};

/// A conversation of which nothing was heard for as long is over.
const QUIET: Duration = Duration::from_secs(10 * 60);
/// Files of conversations that ended long ago are cleared away.
const OLD: Duration = Duration::from_secs(30 * 24 * 3600);

/// How often, and how long each time, a hook waits for others of its kind.
const TRIES: u32 = 5_000;
const PAUSE: Duration = Duration::from_millis(1);

/// An assignment that was claimed for a sub-agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ClaimedAssignment {
    pub(super) session: Name,
    pub(super) assignment: AssignmentId,
    pub(super) role: Name,
    /// The token to submit its handoff with.
    pub(super) token: String,
    /// The call that started the sub-agent.
    pub(super) call: Option<String>,
    /// The sub-agent, once it has a name.
    pub(super) agent: Option<String>,
    /// The client has reported the start, of the call or of the sub-agent.
    #[serde(default)]
    pub(super) begun: bool,
    /// How often its handoff went back.
    pub(super) returned: u32,
    /// The sub-agent is gone without a word.
    pub(super) adrift: bool,
    /// The prompt of the sub-agent. The same call again gets the same answer.
    pub(super) prompt: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ConversationNotes {
    pub(super) held: Vec<ClaimedAssignment>,
    /// The hooks that have come.
    pub(super) seen: BTreeSet<Name>,
    /// Decisions by call. The model receives each when its call returns.
    pub(super) decided: Vec<(String, String)>,
    /// How often it was held back from stopping since anything was last decided: at that decision, so often.
    pub(super) stops: (u32, u32),
}

pub(super) struct ConversationMemory {
    file: File,
    before: Vec<u8>,
    folder: PathBuf,
    path: PathBuf,
    pub(super) notes: ConversationNotes,
}

/// Waits until no other conversation is about to claim something, and keeps them from it until it is dropped.
pub(super) fn claims_alone(folder: &Path) -> io::Result<File> {
    let file = open(folder, &folder.join("claims"))?;
    lock(&file)?;
    Ok(file)
}

/// Waits for its turn, and not for ever: a client lets pass what it has waited too long for.
fn lock(file: &File) -> io::Result<()> {
    for _ in 0..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
            Ok(()) => return Ok(()),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "other hooks hold it for too long"))
}

fn open(folder: &Path, path: &Path) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

impl ConversationMemory {
    /// Opens the notes of a conversation, and waits until no other hook has locked them.
    pub(super) fn open(folder: PathBuf, conversation: &str) -> io::Result<Self> {
        let path = folder.join(file_name(conversation));
        let new = !path.exists();
        let mut file = open(&folder, &path)?;
        lock(&file)?;
        let mut before = Vec::new();
        file.read_to_end(&mut before)?;
        let notes = serde_json::from_slice(&before).unwrap_or_default();
        if new {
            clear(&folder);
        }
        Ok(Self { file, before, folder, path, notes })
    }

    /// Keeps it, and shows by the time of the file that the conversation lives.
    pub(super) fn keep(mut self) -> io::Result<()> {
        let after = serde_json::to_vec(&self.notes)?;
        if after == self.before {
            return self.file.set_modified(SystemTime::now());
        }
        self.file.rewind()?;
        self.file.write_all(&after)?;
        self.file.set_len(after.len() as u64)
    }

    /// Whether another conversation that still lives holds this assignment.
    pub(super) fn held_elsewhere(&self, session: &Name, id: AssignmentId) -> bool {
        let Ok(entries) = fs::read_dir(&self.folder) else { return false };
        let others = entries.flatten().map(|entry| entry.path()).filter(|path| *path != self.path);
        others.filter(|path| lives(path)).filter_map(|path| fs::read(path).ok()).any(|bytes| {
            let mine = |held: &ClaimedAssignment| held.session == *session && held.assignment == id && !held.adrift;
            // An unreadable file is being written, and may hold any assignment.
            serde_json::from_slice::<ConversationNotes>(&bytes)
                .map_or(!bytes.is_empty(), |notes| notes.held.iter().any(mine))
        })
    }

    /// The first that is at work in this conversation.
    pub(super) fn at_work(&self) -> Option<&ClaimedAssignment> {
        self.notes.held.iter().find(|held| !held.adrift)
    }

    /// Marks the sub-agents of all held assignments as gone.
    pub(super) fn mark_all_adrift(&mut self) {
        self.notes.held.iter_mut().for_each(|held| held.adrift = true);
    }
}

/// Names come from outside; a file name is made of what they are, not of what they say.
fn file_name(conversation: &str) -> String {
    let digest = Digest::of(conversation.as_bytes()).to_string();
    format!("{}.json", digest.get(..32).unwrap_or(&digest))
}

fn age(path: &Path) -> Duration {
    let modified = fs::metadata(path).and_then(|meta| meta.modified());
    modified.ok().and_then(|at| SystemTime::now().duration_since(at).ok()).unwrap_or_default()
}

fn lives(path: &Path) -> bool {
    age(path) < QUIET
}

fn clear(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let notes = entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some());
    for path in notes.filter(|path| age(path) > OLD) {
        let _ = fs::remove_file(path);
    }
}
