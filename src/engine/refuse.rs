//! Every refusal goes into the log of its session: what was tried is a fact as well.

use interlock_core::code::Code;
use interlock_core::event::{Change, Event, Refusal};
use interlock_core::id::Name;
use interlock_core::rejection::Rejection;

use crate::clock;
use crate::engine::record::With;
use crate::engine::{Order, Result, Task, Work};

impl Work<'_> {
    pub(super) fn record_refusal(&mut self, order: &Order, rejection: &Rejection) -> Result<()> {
        let started = !matches!(order.task, Task::Start { .. });
        if !started || rejection.code == Code::NoSession {
            return Ok(());
        }
        let digest = match &order.task {
            Task::Report { given, .. } | Task::Merge { given, .. } => Some(given.digest),
            Task::Start { .. } | Task::Claim { .. } | Task::Upgrade { .. } | Task::Deny(_) | Task::Simple(_) => None,
        };
        let refusal = Refusal {
            command: Name::new(order.task.name()),
            code: Name::new(rejection.code.number()),
            message: Name::new(&rejection.message),
            by: order.task.by(),
            about: order.task.about(),
            digest,
        };
        let mut event = Event::refused(clock::now(), refusal);
        if let (Code::StatusReturned, Task::Report { assignment, .. }) = (rejection.code, &order.task) {
            // The count belongs to the log: after a crash the agent gets no more chances than before it.
            event.changes.push(Change::StatusReturned { assignment: *assignment });
        }
        self.record(order, Box::new(event), With::default()).map(drop)
    }
}
