//! The workflow language: from a YAML file to one ordered list of rules.

mod doc;
pub(crate) mod fact;
mod merge;
mod model;
mod record;

pub use doc::schema;
pub use model::*;
