//! The workflow language: from a YAML file to one ordered list of rules.

mod builtin;
mod doc;
mod dropped;
mod duration;
mod example;
pub(crate) mod fact;
mod file_limit;
mod load;
mod lower;
mod merge;
mod model;
mod packed;
mod phase_names;
pub(crate) mod placeholder;
pub mod record;
mod trivial_checks;
mod weaker;

pub use builtin::{BUILTINS, Builtin, TEST_RUNNERS, builtin};
pub use doc::schema;
pub use dropped::DroppedRequirement;
pub use duration::Duration;
pub use load::{LoadedWorkflow, load, load_builtin, load_pinned, load_shipped};
pub(crate) use lower::wrong_pattern;
pub use model::*;
pub use placeholder::GateValues;
pub use trivial_checks::{can_fail, runs_no_project_code};
pub use weaker::dropped_requirements;
