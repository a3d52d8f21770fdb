//! Why a decision was made.

use crate::cli::{Place, why};
use crate::engine::DecisionRef;
use crate::server::mcp::arguments::{Explain, bad_id};
use crate::server::mcp::told::{Outcome, Told};

pub(super) fn explain(explain: &Explain, place: &Place) -> Outcome {
    let reference = DecisionRef::parse(&explain.decision).map_err(|how| bad_id(&explain.decision, &how))?;
    let (facts, _) = why::explained(place, &reference)?;
    let rule = facts["rule"].as_str().unwrap_or_default().to_owned();
    let next = format!("Rule `{rule}` decided it, and it stands: go on with whats_next {}.", reference.session);
    Ok(Told::new(facts, next))
}
