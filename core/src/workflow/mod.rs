//! The workflow language: from a YAML file to one ordered list of rules.

mod doc;
mod duration;
mod example;
pub(crate) mod fact;
mod load;
mod lower;
mod merge;
mod model;
pub mod record;

pub use doc::schema;
pub use duration::Duration;
pub use load::{BUILTINS, Builtin, Loaded, builtin, load, load_builtin, load_pinned, load_shipped};
pub use model::*;
