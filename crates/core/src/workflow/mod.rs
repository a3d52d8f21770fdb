//! The workflow language: from a YAML file to one ordered list of rules.

mod builtin;
mod called;
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
pub(crate) mod placeholder;
pub mod record;
mod vacuous;
mod weaker;

pub use builtin::{BUILTINS, Builtin, TEST_RUNNERS, builtin};
pub use doc::schema;
pub use dropped::DroppedRequirement;
pub use duration::Duration;
pub use load::{Loaded, load, load_builtin, load_pinned, load_shipped};
pub(crate) use lower::wrong_pattern;
pub use model::*;
pub use placeholder::GateValues;
pub use vacuous::{can_fail, runs_no_project_code};
pub use weaker::dropped_requirements;
