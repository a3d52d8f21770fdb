//! Holds the pinned workflows against their hashes.

use std::collections::BTreeMap;

use interlock_core::workflow::load_pinned;

use crate::audit::{Kind, Problem};
use crate::store::{SessionHead, Stored, View};

/// The first event of a session commits to its workflow by hash; each is looked at once.
pub(super) fn compare(view: &mut dyn View, sessions: &[SessionHead]) -> Stored<Vec<Problem>> {
    let mut seen = BTreeMap::new();
    let mut problems = Vec::new();
    for session in sessions {
        let hash = session.workflow_hash.to_string();
        let found = match seen.get(&hash) {
            Some(found) => *found,
            None => wrong(view, session)?,
        };
        seen.insert(hash, found);
        if let Some((kind, text)) = found {
            let text = format!("the workflow {}, pinned by event 1: {text}", session.workflow);
            problems.push(Problem { session: Some(session.id.clone()), seq: Some(1), kind, text });
        }
    }
    Ok(problems)
}

fn wrong(view: &mut dyn View, session: &SessionHead) -> Stored<Option<(Kind, &'static str)>> {
    let Some(pinned) = view.workflow(session.workflow_hash)? else {
        return Ok(Some((Kind::Dropped, "it is gone")));
    };
    let loaded = load_pinned(&pinned.sources).workflow;
    let Some(workflow) = loaded.filter(|workflow| workflow.hash == session.workflow_hash) else {
        return Ok(Some((Kind::Changed, "its files have been changed")));
    };
    let same = view.needs_are(workflow.hash, &workflow.requirements())?;
    Ok((!same).then_some((Kind::Projection, "what it needs for completion has been changed")))
}
