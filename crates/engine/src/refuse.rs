//! Every refusal goes into the log of its session: what was tried is a fact as well.

use interlock_core::code::Code;
use interlock_core::event::{Event, RefusedCommand, RefusedProblem, StateChange};
use interlock_core::id::Name;
use interlock_core::naming::check_person_in;
use interlock_core::problem::group_problems;
use interlock_core::rejection::Rejection;

use crate::EngineResult;
use crate::Operation;
use crate::Request;
use crate::TxContext;
use crate::record::RecordExtras;
use interlock_system::clock;

/// A handoff can have thousands of problems, and they quote it. The log keeps this many, each up to this length.
const MOST_PROBLEMS: usize = 40;
const LONGEST_PROBLEM: usize = 400;
const LONGEST_STATUS: usize = 80;

impl TxContext<'_> {
    /// The person that gave the command. A name that no person can have is left out: the record would blame
    /// another person.
    fn person_of(&mut self, order: &Request) -> Option<Name> {
        let by = order.task.by()?;
        let hash = self.cached_session(&order.session).ok()?.workflow_hash();
        let workflow = self.load_workflow(hash).ok()?;
        check_person_in(&workflow, &by).is_none().then_some(by)
    }

    pub(super) fn record_refusal(&mut self, order: &Request, rejection: &Rejection) -> EngineResult<()> {
        let started = !matches!(order.task, Operation::Start { .. });
        if !started || rejection.code == Code::NoSession {
            return Ok(());
        }
        let digest = match &order.task {
            Operation::Report { given, .. } | Operation::Merge { given, .. } => Some(given.digest),
            Operation::Start { .. }
            | Operation::Claim { .. }
            | Operation::Upgrade { .. }
            | Operation::Deny(_)
            | Operation::Simple(_) => None,
        };
        let refusal = RefusedCommand {
            command: Name::new(order.task.name()),
            code: Name::new(rejection.code.number()),
            message: Name::new(&rejection.message),
            by: self.person_of(order),
            about: order.task.about(),
            digest,
            status: reported_status(&order.task),
            problems: refused_problems(rejection),
        };
        let mut event = Event::refused(clock::now(), refusal);
        if let (Code::StatusReturned, Operation::Report { assignment, .. }) = (rejection.code, &order.task) {
            // The count belongs to the log: after a crash the agent gets no more chances than before it.
            event.changes.push(StateChange::StatusReturned { assignment: *assignment });
        }
        self.record(order, Box::new(event), RecordExtras::default()).map(drop)
    }
}

fn reported_status(task: &Operation) -> Option<Name> {
    let (Operation::Report { given, .. } | Operation::Merge { given, .. }) = task else { return None };
    let extracted = given.extracted.as_ref().ok()?;
    super::report::reported_status(extracted).map(|status| shorten(status, LONGEST_STATUS))
}

/// Every problem and every reason, each mistake once.
fn refused_problems(rejection: &Rejection) -> Vec<RefusedProblem> {
    let groups = group_problems(&rejection.problems);
    let problems = groups.iter().map(|group| (group.first.code.number().to_owned(), group.message()));
    let reasons = rejection.reasons.iter().map(|reason| (reason.code.to_string(), reason.text.to_string()));
    let all: Vec<(String, String)> = problems.chain(reasons).collect();
    let more = all.len().saturating_sub(MOST_PROBLEMS);
    let omitted = (more > 0).then(|| (rejection.code.number().to_owned(), format!("and {more} more")));
    let listed = all.into_iter().take(MOST_PROBLEMS).chain(omitted);
    listed
        .map(|(code, message)| RefusedProblem { code: Name::from(code), message: shorten(&message, LONGEST_PROBLEM) })
        .collect()
}

fn shorten(text: &str, longest: usize) -> Name {
    match text.char_indices().nth(longest) {
        Some((end, _)) => Name::from(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Name::new(text),
    }
}
