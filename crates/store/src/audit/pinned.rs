//! Holds the pinned workflows against their hashes.

use std::collections::BTreeMap;

use interlock_core::workflow::load_pinned;

use crate::SessionHead;
use crate::StoreResult;
use crate::View;
use crate::audit::{Kind, Problem};

/// An event of each session commits to its workflow by hash; each workflow is looked at once.
pub(super) fn compare(view: &mut dyn View, sessions: &[SessionHead], events: &[u64]) -> StoreResult<Vec<Problem>> {
    let mut seen = BTreeMap::new();
    let mut problems = Vec::new();
    for (session, seq) in sessions.iter().zip(events) {
        let hash = session.workflow_hash.to_string();
        let found = match seen.get(&hash) {
            Some(found) => *found,
            None => wrong(view, session)?,
        };
        seen.insert(hash, found);
        if let Some((kind, text)) = found {
            let text = format!("the workflow {}, pinned by event {seq}: {text}", session.workflow);
            problems.push(Problem { session: Some(session.id.clone()), seq: Some(*seq), kind, text });
        }
    }
    Ok(problems)
}

fn wrong(view: &mut dyn View, session: &SessionHead) -> StoreResult<Option<(Kind, &'static str)>> {
    let Some(pinned) = view.workflow(session.workflow_hash)? else {
        return Ok(Some((Kind::Dropped, "it is gone")));
    };
    let loaded = load_pinned(&pinned.sources).workflow;
    let Some(workflow) = loaded.filter(|workflow| workflow.hash == session.workflow_hash) else {
        return Ok(Some((Kind::Changed, "its files have been changed")));
    };
    if pinned.name != workflow.name {
        return Ok(Some((Kind::Projection, "its name has been changed")));
    }
    let same = view.needs_are(workflow.hash, &workflow.requirements())?;
    Ok((!same).then_some((Kind::Projection, "what it needs for completion has been changed")))
}
