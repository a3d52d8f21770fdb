//! Holds the pinned workflows against their hashes.

use std::collections::BTreeMap;

use interlock_core::workflow::load_pinned;

use crate::SessionHead;
use crate::StoreResult;
use crate::StoreView;
use crate::audit::{AuditProblem, AuditProblemKind};

/// An event of each session commits to its workflow by hash; each workflow is looked at once.
pub(super) fn compare(
    view: &mut dyn StoreView,
    sessions: &[SessionHead],
    events: &[u64],
) -> StoreResult<Vec<AuditProblem>> {
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
            problems.push(AuditProblem { session: Some(session.id.clone()), seq: Some(*seq), kind, text });
        }
    }
    Ok(problems)
}

fn wrong(view: &mut dyn StoreView, session: &SessionHead) -> StoreResult<Option<(AuditProblemKind, &'static str)>> {
    let Some(pinned) = view.workflow(session.workflow_hash)? else {
        return Ok(Some((AuditProblemKind::Dropped, "it is gone")));
    };
    let loaded = load_pinned(&pinned.sources).workflow;
    let Some(workflow) = loaded.filter(|workflow| workflow.hash == session.workflow_hash) else {
        return Ok(Some((AuditProblemKind::Changed, "its files have been changed")));
    };
    if pinned.name != workflow.name {
        return Ok(Some((AuditProblemKind::Projection, "its name has been changed")));
    }
    let same = view.needs_are(workflow.hash, &workflow.requirements())?;
    Ok((!same).then_some((AuditProblemKind::Projection, "what it needs for completion has been changed")))
}
