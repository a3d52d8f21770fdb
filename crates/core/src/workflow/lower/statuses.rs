//! The meanings of statuses: texts for prompts and tools, which decide nothing.

use crate::code::Code;
use crate::id::Name;
use crate::problem::{Place, Problem};
use crate::workflow::doc::StatusDoc;
use crate::workflow::lower::Lowering;
use crate::workflow::model::*;
use crate::workflow::record::{NameTable, PlacedValue};

impl Lowering<'_> {
    /// A role's own line wins over that of its class, and that over the line of `any`.
    pub(super) fn status_notes(&mut self) {
        let doc = self.doc;
        let everyone: Vec<usize> = (0..self.roles.len()).collect();
        let (mut of_any, mut of_classes, mut of_roles) = (Vec::new(), Vec::new(), Vec::new());
        for (head, place, lines) in doc.statuses.iter() {
            if *head == "any" {
                of_any.push((everyone.clone(), lines));
            } else if let Some(ix) = self.role_index.get(head) {
                of_roles.push((vec![ix.index()], lines));
            } else if let Some(members) = self.classes.get(head) {
                of_classes.push((members.iter().collect(), lines));
            } else {
                let known: Vec<Name> = self.role_index.keys().chain(self.classes.keys()).cloned().collect();
                let head = PlacedValue { value: head.clone(), place: place.clone() };
                self.unknown(Code::UnknownRole, "role or class", &head, known.iter().map(Name::as_str));
            }
        }
        for (members, lines) in of_any.into_iter().chain(of_classes).chain(of_roles) {
            self.note_statuses(&members, lines);
        }
    }

    fn note_statuses(&mut self, members: &[usize], lines: &NameTable<StatusDoc>) {
        for (status, place, line) in lines.iter() {
            let known = self.status_index.get(normalise_status(status).as_str()).copied();
            let mut used = false;
            for member in members {
                let Some(ix) = known.filter(|ix| self.role_has(*member, *ix)) else { continue };
                used = true;
                let note = StatusMeaning { means: Name::new(line.means.trim()), usual: line.usual };
                self.status_notes.insert((RoleIx::new(*member), ix), note);
            }
            if !used {
                self.unused_note(status, place);
            }
        }
    }

    fn unused_note(&mut self, status: &Name, place: &Place) {
        // An abstract workflow names statuses of roles that come with whatever extends it.
        if self.doc.is_abstract || self.doc.unread.any_of(&["routes", "merge", "blocked"]) {
            return;
        }
        let message = format!("no role named here reports `{status}`, so its meaning is never shown");
        let known: Vec<Name> = self.statuses.iter().map(|status| status.name.clone()).collect();
        let help = crate::suggest::help(status, known.iter().map(Name::as_str));
        self.problems.push(Problem::warning(Code::Unused, message).maybe_help(help).at(place.clone()));
    }
}
