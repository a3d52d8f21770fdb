//! Values that several commands take.

use clap::ValueEnum;

/// How the agent was started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ContextArg {
    /// By an orchestrator, which decides who comes next
    Orchestrated,
    /// By hand: a blocked agent names who should help
    Direct,
}

/// What an assignment belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ScopeArg {
    /// A group of work
    Group,
    /// The session as a whole
    Session,
}
