//! Examples in a workflow file, checked when it is loaded.

use crate::problem::Problem;
use crate::workflow::doc::ExampleDoc;
use crate::workflow::model::Workflow;

pub(crate) fn check(_workflow: &Workflow, _examples: &[ExampleDoc], _problems: &mut Vec<Problem>) {}
