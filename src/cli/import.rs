use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use crate::cli::examples;

/// Make a workflow from the rules of another program
///
/// The workflow is written to stdout. A note on stderr names every field that had no effect in the original.
#[derive(Subcommand)]
#[command(after_help = examples!(
    "interlock import bazinga transitions.json > interlock.yaml"
))]
pub(crate) enum Import {
    Bazinga(Bazinga),
}

/// Make a workflow from the transitions of BAZINGA
///
/// The file is the `transitions.json` that its workflow router reads. The workflow is written to stdout, ready to be
/// checked with `interlock check`; a note on stderr names every field that had no effect in the original.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock import bazinga transitions.json > interlock.yaml"
    "interlock check interlock.yaml"
))]
pub(crate) struct Bazinga {
    /// The file with the transitions; `-` reads stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}
