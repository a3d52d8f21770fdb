//! Workflows of other systems, read into our language.

pub mod bazinga;
mod json;

/// A workflow file, and what there is to say about the file it came from.
#[derive(Debug)]
pub struct ImportedWorkflow {
    pub yaml: String,
    /// One line for every field that had no effect in the original: it works now, or is dropped.
    pub notes: Vec<String>,
}
