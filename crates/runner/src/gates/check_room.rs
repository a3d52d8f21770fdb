//! Runs commands in a clean checkout of one tree.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use interlock_core::checkout::GateCheckout;
use interlock_core::code::Code;
use interlock_core::id::Name;

use crate::check_command::{self, CheckOutcome, CommandSettings};
use crate::gates::kept_folder::KeptFolder;
use crate::gates::slot::CheckoutSlot;
use crate::gates::{GateCommand, GateOutcome, PassedCommands};
use crate::git::{CleanCheckout, GitHash, Leftovers, ProjectRepo, SessionRepo};
use interlock_agents::team::PrepareSettings;
use interlock_app::error::{CommandError, CommandExit};
use interlock_system::process::ProcessControl;

/// Where checkouts are made, and what all of them share.
pub struct CheckRoom<'a> {
    /// A folder of the session that no agent is given.
    pub root: PathBuf,
    pub prepare: &'a PrepareSettings,
    /// Variables of the environment that commands get beside the usual ones.
    pub variables: &'a [String],
    pub lock: Option<PathBuf>,
    pub mark: String,
    /// Seals the folders that are kept between checkouts.
    pub key: [u8; 32],
    pub passed: &'a PassedCommands,
}

/// The tree that commands run on.
pub struct CheckSubject<'a> {
    pub tree: &'a GitHash,
    /// The commit that commands see when they ask git.
    pub commit: Option<&'a GitHash>,
    pub project: &'a ProjectRepo,
    pub objects: ObjectsOf<'a>,
    /// Whether caches are kept: only from trees that are part of the result, or are to be.
    pub keeps_caches: bool,
}

/// Where the objects of a tree are.
#[derive(Clone, Copy)]
pub enum ObjectsOf<'a> {
    Session(&'a SessionRepo),
    /// The user's repository, and a folder with those that it does not have.
    Project(&'a Path),
}

/// How a part of the work ended.
enum PreparationOutcome {
    Done,
    Failed(CheckOutcome),
    Stopped,
}

impl CheckRoom<'_> {
    /// Runs the commands that are not known to have passed on this tree; the first that fails ends it. `None`: it was
    /// stopped. `begins` is called before each command.
    pub fn check(
        &self,
        subject: &CheckSubject<'_>,
        commands: &[GateCommand],
        control: &ProcessControl,
        begins: &dyn Fn(&str),
    ) -> Result<Option<GateOutcome>, CommandError> {
        let slot = CheckoutSlot::take(&self.root).map_err(|error| unusable(&self.root, &error))?;
        let checkout = match subject.objects {
            ObjectsOf::Session(vault) => CleanCheckout::of_vault(vault, &slot.folder),
            ObjectsOf::Project(objects) => CleanCheckout::of_project(subject.project, objects, &slot.folder),
        };
        checkout.make_folder()?;
        let prepare = self.prepare_hash(&checkout, subject.tree)?;
        let used_caches = Cell::new(false);
        CheckWork { room: self, subject, checkout, slot, prepare, used_caches, control, begins }.run(commands)
    }

    /// The hash of the commands of `prepare` and of the files that they are declared to read.
    fn prepare_hash(&self, checkout: &CleanCheckout, tree: &GitHash) -> Result<Option<Name>, CommandError> {
        if self.prepare.run.is_empty() {
            return Ok(None);
        }
        let mut hasher = blake3::Hasher::new();
        let mut add = |text: &[u8]| {
            hasher.update(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(text);
        };
        let words = self.prepare.run.iter().flat_map(|line| line.iter().map(String::as_str).chain([""]));
        words.for_each(|word| add(word.as_bytes()));
        for path in &self.prepare.keeps {
            add(path.as_os_str().as_encoded_bytes());
        }
        for entry in checkout.files_of(tree)?.iter().filter(|entry| self.prepare.reads(&entry.path)) {
            add(entry.path.as_os_str().as_encoded_bytes());
            add(entry.mode.as_bytes());
            add(entry.object.as_bytes());
        }
        Ok(Some(Name::from(hasher.finalize().to_hex().get(..32).unwrap_or_default().to_owned())))
    }
}

struct CheckWork<'a> {
    room: &'a CheckRoom<'a>,
    subject: &'a CheckSubject<'a>,
    checkout: CleanCheckout,
    slot: CheckoutSlot,
    prepare: Option<Name>,
    /// Caches are in the checkout.
    used_caches: Cell<bool>,
    control: &'a ProcessControl,
    begins: &'a dyn Fn(&str),
}

impl CheckWork<'_> {
    fn run(&self, commands: &[GateCommand]) -> Result<Option<GateOutcome>, CommandError> {
        let mut result =
            GateOutcome::nothing_yet(GateCheckout { prepare: self.prepare.clone(), ..GateCheckout::default() });
        // A file that the command of one group leaves must not help the command of another.
        for batch in commands.chunk_by(|one, next| one.group == next.group && one.gate == next.gate) {
            if batch.iter().all(|command| self.has_passed(command)) {
                batch.iter().for_each(|command| result.add_known(command));
                continue;
            }
            let mut tried = self.run_batch(batch, true)?;
            if self.used_caches.get() && matches!(&tried, Some(GateBatch { failed: Some(_), .. })) {
                // A cache that does not fit this tree would fail it.
                self.caches().discard().map_err(|error| unusable(&self.room.root, &error))?;
                tried = self.run_batch(batch, false)?;
            }
            let Some(tried) = tried else { return Ok(None) };
            result.output.push_str(&tried.output);
            result.checkout.passed.extend(tried.passed);
            if let Some(failed) = tried.failed {
                let (failed_line, failed) = (failed.line, failed.command);
                return Ok(Some(GateOutcome { passed: false, failed_line, failed, ..result }));
            }
        }
        Ok(Some(result))
    }

    /// Runs commands one after the other in one checkout, each on exactly the tree.
    fn run_batch(&self, batch: &[GateCommand], with_caches: bool) -> Result<Option<GateBatch>, CommandError> {
        let mut result = GateBatch { output: String::new(), passed: Vec::new(), failed: None };
        match self.make_ready(with_caches)? {
            PreparationOutcome::Done => {}
            PreparationOutcome::Stopped => return Ok(None),
            PreparationOutcome::Failed(outcome) => {
                let failed = FailedCommand { line: outcome.failed.unwrap_or_default(), command: None };
                return Ok(Some(GateBatch { output: outcome.output, failed: Some(failed), ..result }));
            }
        }
        for (index, command) in batch.iter().enumerate() {
            if index > 0 {
                self.checkout.put_back(self.subject.tree, Leftovers::IgnoredStay)?;
                self.show_repository()?;
            }
            (self.begins)(&command.line());
            let manner = self.manner(command.timeout);
            let Some(outcome) = check_command::run(&command.command, &manner, self.control)? else { return Ok(None) };
            result.output.push_str(&outcome.output);
            if !outcome.passed {
                result.failed = Some(FailedCommand { line: command.line(), command: Some(command.clone()) });
                break;
            }
            self.room.passed.add(self.subject.tree.as_str(), &command.command, self.prepare.as_ref());
            result.passed.push(command.command.clone());
        }
        Ok(Some(result))
    }

    /// Lays the tree out, with nothing else but what `prepare` makes.
    fn make_ready(&self, with_caches: bool) -> Result<PreparationOutcome, CommandError> {
        let prepare = self.room.prepare;
        if prepare.run.is_empty() {
            return self.lay_out(self.subject.tree).map(|()| PreparationOutcome::Done);
        }
        if prepare.keeps.is_empty() {
            return self.prepare_tree(self.subject.tree, with_caches);
        }
        let kept = self.kept();
        if !kept.is_sound() && !self.keep_prepared(&kept, with_caches)? {
            // It reads more than is declared, so its results are for this tree alone.
            return self.prepare_tree(self.subject.tree, with_caches);
        }
        if self.control.is_stopped() {
            return Ok(PreparationOutcome::Stopped);
        }
        self.lay_out(self.subject.tree)?;
        Ok(match kept.lend_to(&self.checkout.folder, &prepare.keeps) {
            Ok(()) => PreparationOutcome::Done,
            Err(error) => refused("keeps", &error),
        })
    }

    /// Runs `prepare` on nothing but its declared inputs, so that what is kept depends on nothing else. Whether that went
    /// well.
    fn keep_prepared(&self, kept: &KeptFolder, with_caches: bool) -> Result<bool, CommandError> {
        let entries = self.checkout.files_of(self.subject.tree)?;
        let inputs: Vec<_> = entries.into_iter().filter(|entry| self.room.prepare.reads(&entry.path)).collect();
        if inputs.is_empty() {
            return Ok(false);
        }
        let inputs = self.checkout.tree_with(&inputs)?;
        if !matches!(self.run_prepare(&inputs, with_caches)?, PreparationOutcome::Done) {
            return Ok(false);
        }
        self.keep_caches();
        kept.take(&self.checkout.folder, &self.room.prepare.keeps)
            .map_err(|error| unusable(&self.room.root, &error))?;
        Ok(true)
    }

    /// Runs `prepare` on the whole tree, and puts files of the tree back that it has changed.
    fn prepare_tree(&self, tree: &GitHash, with_caches: bool) -> Result<PreparationOutcome, CommandError> {
        match self.run_prepare(tree, with_caches)? {
            PreparationOutcome::Done => {}
            step @ (PreparationOutcome::Failed(_) | PreparationOutcome::Stopped) => return Ok(step),
        }
        self.checkout.put_back(tree, Leftovers::IgnoredStay)?;
        self.show_repository()?;
        self.keep_caches();
        Ok(PreparationOutcome::Done)
    }

    /// Keeps what `prepare` has made for its next run, before any command of a gate runs: those are agents' choice. That
    /// caches cannot be kept only costs time.
    fn keep_caches(&self) {
        if self.subject.keeps_caches && self.has_caches() {
            let _ = self.caches().keep_made(&self.checkout.folder, &self.room.prepare.caches);
        }
    }

    /// Lays a tree out and runs the commands of `prepare` on it.
    fn run_prepare(&self, tree: &GitHash, with_caches: bool) -> Result<PreparationOutcome, CommandError> {
        self.lay_out(tree)?;
        if with_caches && let Err(error) = self.place_caches() {
            return Ok(refused("caches", &error));
        }
        for line in &self.room.prepare.run {
            let words: Vec<Name> = line.iter().map(|word| Name::new(word)).collect();
            match check_command::run(&words, &self.manner(None), self.control)? {
                None => return Ok(PreparationOutcome::Stopped),
                Some(outcome) if !outcome.passed => return Ok(PreparationOutcome::Failed(outcome)),
                Some(_) => {}
            }
        }
        Ok(PreparationOutcome::Done)
    }

    fn lay_out(&self, tree: &GitHash) -> Result<(), CommandError> {
        self.collect_lent();
        self.checkout.lay_out(tree, Leftovers::Removed)?;
        self.used_caches.set(false);
        self.show_repository()
    }

    /// Lent files that are not collected are removed with everything else that is not in the tree.
    fn collect_lent(&self) {
        let (folder, prepare) = (&self.checkout.folder, self.room.prepare);
        for (kept, paths) in [(self.kept(), &prepare.keeps), (self.caches(), &prepare.caches)] {
            if kept.collect(folder, paths).is_err() {
                let _ = kept.discard();
            }
        }
    }

    /// Puts the caches into the checkout. They may be large, so they are moved where they are kept again afterwards.
    fn place_caches(&self) -> std::io::Result<()> {
        let (caches, paths) = (self.caches(), &self.room.prepare.caches);
        if paths.is_empty() || !caches.is_sound() {
            return Ok(());
        }
        self.used_caches.set(true);
        match self.subject.keeps_caches {
            true => caches.move_into(&self.checkout.folder, paths),
            false => caches.copy_into(&self.checkout.folder, paths),
        }
    }

    fn show_repository(&self) -> Result<(), CommandError> {
        match self.subject.commit {
            Some(commit) => self.checkout.add_repository(commit, self.subject.project)?,
            None => self.checkout.remove_repository()?,
        }
        Ok(())
    }

    fn has_caches(&self) -> bool {
        !self.room.prepare.caches.is_empty()
    }

    /// Build tools note the folder that they ran in, so that each slot has results of its own.
    fn kept(&self) -> KeptFolder {
        let hash = self.prepare.as_deref().unwrap_or_default();
        self.kept_folder(&format!("prepared-{}-{hash}", self.slot.number))
    }

    fn caches(&self) -> KeptFolder {
        self.kept_folder(&format!("caches-{}", self.slot.number))
    }

    fn kept_folder(&self, name: &str) -> KeptFolder {
        KeptFolder::new(&self.room.root, name, self.room.key)
    }

    fn has_passed(&self, command: &GateCommand) -> bool {
        self.room.passed.has(self.subject.tree.as_str(), &command.command, self.prepare.as_ref())
    }

    fn manner(&self, timeout: Option<std::time::Duration>) -> CommandSettings<'_> {
        CommandSettings {
            folder: &self.checkout.folder,
            timeout,
            lock: self.room.lock.clone(),
            mark: self.room.mark.clone(),
            variables: self.room.variables,
        }
    }
}

/// The commands of one gate of one group.
struct GateBatch {
    output: String,
    passed: Vec<Vec<Name>>,
    failed: Option<FailedCommand>,
}

struct FailedCommand {
    line: String,
    /// `None`: a command of `prepare`.
    command: Option<GateCommand>,
}

/// The tree itself has what was to be put into it: its author has to know.
fn refused(setting: &str, error: &std::io::Error) -> PreparationOutcome {
    let output = format!("`{setting}` of `prepare` in the agents file: {error}\n");
    let failed = Some(format!("prepare ({setting})"));
    PreparationOutcome::Failed(CheckOutcome { passed: false, output, failed })
}

pub(super) fn unusable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::new(CommandExit::Unavailable, Code::OutputFailed, format!("{}: {error}", path.display()))
}
