//! Gates: which commands have to pass, and how they are run in a clean checkout of one tree.
//!
//! The same for `interlock run` and `interlock gate`. A command that has passed on a tree, with the same `prepare`, is not
//! repeated: the log says so, and survives a crash.

mod check_room;
mod copy;
mod kept_folder;
mod lent_list;
mod plain_project;
mod scripts;
mod slot;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use interlock_core::checkout::GateCheckout;
use interlock_core::event::{Event, EventCause};
use interlock_core::id::Name;

pub use check_room::{CheckRoom, CheckSubject, ObjectsOf};
pub use interlock_app::gate_commands::{
    GateCommand, GateSession, add_commands, blamed_gate, commands_of_gate, commands_of_run,
};
pub use plain_project::PlainProject;
pub use scripts::GateFiles;

/// The outcome of the commands of a gate on one tree.
#[derive(Clone, Debug)]
pub struct GateOutcome {
    pub passed: bool,
    pub output: String,
    /// The command that failed, of a gate or of `prepare`, as people read it.
    pub(crate) failed_line: String,
    /// The command that failed. `None` where a command of `prepare` did.
    pub failed: Option<GateCommand>,
    /// The checkout as it is recorded.
    pub checkout: GateCheckout,
}

impl GateOutcome {
    pub(crate) fn nothing_yet(checkout: GateCheckout) -> Self {
        Self { passed: true, output: String::new(), failed_line: String::new(), failed: None, checkout }
    }

    /// The group whose plan has the command that failed, if that is another group than this.
    pub(crate) fn other_group(&self, own: Option<&Name>) -> Option<&Name> {
        self.failed.as_ref().and_then(|failed| failed.group.as_ref()).filter(|group| Some(*group) != own)
    }

    /// A command that is not repeated.
    fn add_known(&mut self, command: &GateCommand) {
        let _ = writeln!(self.output, "$ {}\npassed on this tree before, not repeated", command.line());
        self.checkout.passed.push(command.command.clone());
    }
}

/// A tree, a command, and the hash of `prepare`.
type PassedCommand = (String, Vec<Name>, Option<Name>);

/// Commands that are known to have passed. Failures are not kept: they may be the machine's.
#[derive(Default)]
pub struct PassedCommands(Mutex<BTreeSet<PassedCommand>>);

impl PassedCommands {
    /// Reads from the log what has passed.
    pub fn learn(&self, history: &[Event]) {
        for event in history {
            let EventCause::GateFinished { tree, checkout, .. } = &event.cause else { continue };
            for command in &checkout.passed {
                self.add(tree, command, checkout.prepare.as_ref());
            }
        }
    }

    fn add(&self, tree: &str, command: &[Name], prepare: Option<&Name>) {
        self.held().insert((tree.to_owned(), command.to_vec(), prepare.cloned()));
    }

    fn has(&self, tree: &str, command: &[Name], prepare: Option<&Name>) -> bool {
        self.held().contains(&(tree.to_owned(), command.to_vec(), prepare.cloned()))
    }

    fn held(&self) -> std::sync::MutexGuard<'_, BTreeSet<PassedCommand>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
