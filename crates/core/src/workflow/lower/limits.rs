//! How much a workflow may have. A file of a megabyte can ask for millions of rules (every status in every phase)
//! and billions of look-ups (every status of every role); no workflow has to.

use crate::code::Code;
use crate::problem::Problem;
use crate::workflow::lower::Lowering;
use crate::workflow::model::Rule;

/// Roles, also those that `{domain}` makes.
const MAX_ROLES: usize = 250;
/// Of everything else that has a name.
const MAX_NAMES: usize = 1000;
/// Well below what an index of a rule can count.
const MAX_RULES: usize = 10_000;

impl Lowering<'_> {
    /// Says so, and nothing of such a file is looked at any further.
    pub(super) fn too_many(&mut self) -> bool {
        let doc = self.doc;
        let each = |name: &str| if name.contains("{domain}") { doc.domains.keys().count() } else { 1 };
        let flags = doc.groups.as_ref().map_or(0, |groups| groups.flags.keys().count());
        let counts = [
            ("roles", doc.roles.keys().map(|name| each(name)).sum(), MAX_ROLES),
            ("domains", doc.domains.keys().count(), MAX_NAMES),
            ("settings", doc.settings.keys().count(), MAX_NAMES),
            ("flags", flags, MAX_NAMES),
            ("facts", doc.facts.keys().count(), MAX_NAMES),
            ("loops", doc.loops.keys().count(), MAX_NAMES),
            ("gates", doc.gates.keys().count(), MAX_NAMES),
            ("questions", doc.questions.keys().count(), MAX_NAMES),
            ("aliases", doc.aliases.keys().count(), MAX_NAMES),
            ("overrides", doc.overrides.len(), MAX_NAMES),
            ("phases", doc.phases.iter().map(|stage| stage.together.len().max(1)).sum(), MAX_NAMES),
            ("checkpoints", doc.checkpoints.iter().map(|checkpoint| checkpoint.after.len()).sum(), MAX_NAMES),
        ];
        let over = counts.into_iter().find(|(_, count, most)| count > most);
        if let Some((what, count, most)) = over {
            self.too_large(format!("this workflow has {count} {what}; at most {most} are read"));
        }
        over.is_some()
    }

    /// Adds a rule. Rules beyond the limit are reported once and left out.
    pub(super) fn add(&mut self, rule: Rule) {
        if self.rules.len() < MAX_RULES {
            self.rules.push(rule);
        } else if !self.full {
            self.full = true;
            self.too_large(format!("this workflow comes to more than {MAX_RULES} rules"));
        }
    }

    fn too_large(&mut self, message: String) {
        let help = "each status of `any` is a rule for every role, and `advance` one for every phase";
        let problem = Problem::new(Code::TooLarge, message).help(help);
        self.problems.push(problem.at(self.doc.workflow.place.clone()));
    }
}
