//! Names that a file declares and nothing uses: warnings, for they decide nothing.

use crate::code::Code;
use crate::id::Name;
use crate::problem::{Place, Problem};
use crate::workflow::lower::Lowering;
use crate::workflow::model::*;

impl Lowering<'_> {
    /// Of this file only: what a base declares may be for others, and an abstract file declares for others.
    pub(super) fn unused_names(&mut self) {
        if self.doc.is_abstract {
            return;
        }
        self.unused_loops();
        self.unused_evidence();
    }

    fn unused_loops(&mut self) {
        for (name, place, _) in self.doc.loops.iter() {
            let Some(ix) = self.loop_ix(name) else { continue };
            let passed = self.passes.iter().any(|pass| pass.forgets == Some(ix));
            let of_language = matches!(name.as_str(), "retry" | "settled" | "missing_evidence" | "clarifying");
            if !passed && !of_language && !self.used_loops.contains(ix.index()) {
                let help = "name it in an entry (`loop: …`), in `blocked` or in a phase's `rework`, or take it out";
                self.unused(place, format!("nothing is counted in loop `{name}`"), help);
            }
        }
    }

    /// Evidence under the name of a loop has a use of its own: the loop's measure must be zero, and is forgotten.
    fn unused_evidence(&mut self) {
        let needed = |ix: &PassIx| {
            self.completion.once_blocked.contains(ix)
                || self.completion.needs.iter().any(|need| need.options.contains(ix))
        };
        let idle = |(index, pass): &(usize, &Pass)| pass.forgets.is_none() && !needed(&PassIx::new(*index));
        let found: Vec<(Name, Place)> = self
            .passes
            .iter()
            .enumerate()
            .filter(idle)
            .map(|(_, pass)| (pass.name.clone(), pass.place.clone()))
            .collect();
        for (name, place) in found {
            let help = format!("put `{name}` into `completion.group.needs`, or take it out here");
            self.unused(&place, format!("`{name}` is passed, and completion does not need it"), help);
        }
    }

    fn unused(&mut self, place: &Place, message: String, help: impl Into<String>) {
        if place.file == self.doc.workflow.place.file {
            self.problems.push(Problem::warning(Code::Unused, message).help(help).at(place.clone()));
        }
    }
}
