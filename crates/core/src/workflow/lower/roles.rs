//! Domains, roles, classes, escalation paths, overrides.

use crate::code::Code;
use crate::id::Name;
use crate::problem::{Place, Problem};
use crate::workflow::doc::RoleDoc;
use crate::workflow::lower::{Lowering, RESERVED};
use crate::workflow::model::*;
use crate::workflow::record::PlacedValue;

impl Lowering<'_> {
    pub(super) fn domains(&mut self) {
        for (name, place, patterns) in self.doc.domains.iter() {
            if RESERVED.contains(&name.as_str()) || self.doc.roles.contains(name) {
                self.report(Code::TwoMeanings, place, format!("`{name}` cannot be a domain and a role"));
            }
            let mut prefixes = Vec::new();
            for pattern in patterns {
                match pattern.value.strip_suffix('*').filter(|prefix| !prefix.is_empty() && !prefix.contains('*')) {
                    Some(prefix) => prefixes.push(Name::new(prefix)),
                    None => self.report(Code::DomainConflict, &pattern.place, "a pattern is a beginning and `*`"),
                }
            }
            self.domains.push(Domain { name: name.clone(), prefixes });
        }
    }

    pub(super) fn roles(&mut self) {
        let doc = self.doc;
        let mut declared: Vec<(Name, &Place, &RoleDoc, Option<Name>)> = Vec::new();
        for (name, place, role) in doc.roles.iter() {
            if !name.contains("{domain}") {
                declared.push((name.clone(), place, role, None));
                continue;
            }
            for domain in doc.domains.keys() {
                let full = Name::from(name.replace("{domain}", domain));
                if !doc.roles.contains(&full) {
                    declared.push((full, place, role, Some(domain.clone())));
                }
            }
        }
        declared.sort_by(|a, b| a.0.cmp(&b.0));
        for (index, (name, place, _, _)) in declared.iter().enumerate() {
            if RESERVED.contains(&name.as_str()) {
                self.report(Code::TwoMeanings, place, format!("`{name}` has a meaning of its own"));
            }
            self.role_index.insert(name.clone(), RoleIx::new(index));
        }
        for (name, place, role, domain) in &declared {
            let role = self.role(name, place, role, domain.as_ref());
            self.roles.push(role);
        }
        self.classes(&declared);
        self.ladders(&declared);
    }

    fn role(&mut self, name: &Name, place: &Place, doc: &RoleDoc, template: Option<&Name>) -> Role {
        let by_interlock = match &doc.by {
            None => false,
            Some(at) => {
                if at.value != "interlock" {
                    self.report(Code::WrongType, &at.place, "`by` is `interlock` or absent");
                }
                true
            }
        };
        if let Some(at) = doc.at_most.as_ref().filter(|at| at.value == 0) {
            self.report(Code::WrongType, &at.place, "`at_most` is at least 1");
        }
        let escalates_to = match &doc.escalates_to {
            Some(at) if at.value != "user" => {
                let name = template.map_or(at.value.clone(), |domain| at.value.replace("{domain}", domain).into());
                self.find_role(&PlacedValue { value: name, place: at.place.clone() })
            }
            Some(_) | None => None,
        };
        let filled = |about: &String| template.map_or(about.clone(), |domain| about.replace("{domain}", domain));
        Role {
            name: name.clone(),
            about: doc.about.as_ref().map(filled).filter(|about| !about.trim().is_empty()),
            author: doc.is.iter().any(|class| class.value == "author"),
            classes: doc.is.iter().map(|class| class.value.clone()).collect(),
            domain: self.role_domain(name, place, doc),
            escalates_to,
            at_most: doc.at_most.as_ref().map(|at| at.value),
            skills: doc.skills.iter().map(|skill| skill.value.clone()).collect(),
            model: doc.model.clone(),
            deadline: doc.deadline,
            writes: self.writes(&doc.writes, doc.is.iter().any(|class| class.value == "author")),
            owns: doc.owns.iter().map(|at| at.value.clone()).collect(),
            by_interlock,
        }
    }

    /// Authors write unless the file says otherwise; no other role does.
    fn writes(&mut self, written: &[PlacedValue<Name>], author: bool) -> WritePermission {
        match written {
            [] if author => WritePermission::Everything,
            [] => WritePermission::Nothing,
            [only] if only.value == "all" => WritePermission::Everything,
            [only] if only.value == "none" => WritePermission::Nothing,
            patterns => {
                self.check_patterns(patterns);
                WritePermission::Only(patterns.iter().map(|pattern| pattern.value.clone()).collect())
            }
        }
    }

    fn check_patterns(&mut self, patterns: &[PlacedValue<Name>]) {
        for pattern in patterns {
            if let Some((message, help)) = wrong_pattern(&pattern.value) {
                let problem = Problem::new(Code::WrongType, message).help(help);
                self.problems.push(problem.at(pattern.place.clone()));
            }
        }
    }

    /// Patterns of `protected`, `test_files` and `owns`.
    pub(super) fn check_path_patterns(&mut self) {
        let doc = self.doc;
        self.check_patterns(&doc.protected);
        self.check_patterns(&doc.test_files);
        for (_, _, role) in doc.roles.iter() {
            self.check_patterns(&role.owns);
        }
    }

    /// The files that groups may change at most. Only flags may be tested: settings are chosen by the project or a
    /// person.
    pub(super) fn file_limits(&mut self) {
        let Some(groups) = &self.doc.groups else { return };
        for limit in &groups.writes {
            self.check_patterns(&limit.only);
            let when = self.tests(&limit.when, false);
            let is_flag =
                |test: &GuardTest| self.guards.get(test.guard.index()).is_some_and(|g| g.source == GuardSource::Flag);
            if !when.iter().all(is_flag) {
                let place = limit.when.iter().next().map(|(_, place, _)| place.clone());
                let place = place.unwrap_or_else(|| self.doc.workflow.place.clone());
                self.report(Code::GuardOutOfReach, &place, "`groups.writes` can only test flags of groups");
                continue;
            }
            let only = limit.only.iter().map(|pattern| pattern.value.clone()).collect();
            self.file_limits.push(FileLimit { when, only });
        }
    }

    pub(super) fn orchestrator(&mut self) {
        let doc = self.doc.orchestrator.as_ref();
        let watched = doc.and_then(|doc| doc.watched.as_ref());
        if let Some(at) = watched.filter(|at| at.value != "told" && at.value != "required") {
            self.report(Code::WrongType, &at.place, "`watched` is `told` or `required`");
        }
        self.orchestrator = OrchestratorRules {
            writes: self.writes(doc.map_or(&[], |doc| &doc.writes), false),
            watched: watched.is_some_and(|at| at.value == "required"),
        };
    }

    fn role_domain(&mut self, name: &Name, place: &Place, doc: &RoleDoc) -> Option<DomainIx> {
        if let Some(declared) = &doc.domain {
            let found = self.domains.iter().position(|domain| domain.name == declared.value);
            if found.is_none() {
                let known: Vec<Name> = self.domains.iter().map(|domain| domain.name.clone()).collect();
                self.unknown(Code::DomainConflict, "domain", declared, known.iter().map(Name::as_str));
            }
            return found.map(DomainIx::new);
        }
        let fits = |domain: &Domain| domain.prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()));
        let fitting: Vec<usize> =
            self.domains.iter().enumerate().filter(|(_, domain)| fits(domain)).map(|(index, _)| index).collect();
        if fitting.len() > 1 {
            let message = format!("`{name}` fits more than one domain; say which with `domain`");
            self.report(Code::DomainConflict, place, message);
        }
        fitting.first().copied().map(DomainIx::new)
    }

    fn classes(&mut self, declared: &[(Name, &Place, &RoleDoc, Option<Name>)]) {
        for (index, (_, _, role, _)) in declared.iter().enumerate() {
            for class in &role.is {
                let taken = self.role_index.contains_key(&class.value)
                    || (RESERVED.contains(&class.value.as_str()) && class.value != "author");
                if taken {
                    let message = format!("`{}` cannot be a class: it means something else", class.value);
                    self.report(Code::TwoMeanings, &class.place, message);
                }
                self.classes.entry(class.value.clone()).or_default().insert(index);
            }
        }
    }

    fn ladders(&mut self, declared: &[(Name, &Place, &RoleDoc, Option<Name>)]) {
        for (index, (name, place, doc, _)) in declared.iter().enumerate() {
            let mut rung = self.roles.get(index).and_then(|role| role.escalates_to);
            let mut steps = 0usize;
            while let Some(ix) = rung {
                steps = steps.saturating_add(1);
                if ix.index() == index || steps > self.roles.len() {
                    let place = doc.escalates_to.as_ref().map_or(*place, |at| &at.place).clone();
                    let message = format!("the ladder from `{name}` comes back to where it was: it must end at `user`");
                    self.report(Code::LadderCircle, &place, message);
                    break;
                }
                rung = self.roles.get(ix.index()).and_then(|role| role.escalates_to);
            }
        }
    }

    pub(super) fn find_role(&mut self, name: &PlacedValue<Name>) -> Option<RoleIx> {
        let found = self.role_index.get(&name.value).copied();
        if found.is_none() && !self.doc.roles.is_unread(&name.value) {
            let known: Vec<Name> = self.role_index.keys().cloned().collect();
            self.unknown(Code::UnknownRole, "role", name, known.iter().map(Name::as_str));
        }
        found
    }

    /// A role that an agent can hold.
    pub(super) fn find_holder(&mut self, name: &PlacedValue<Name>) -> Option<RoleIx> {
        let ix = self.find_role(name)?;
        if self.roles.get(ix.index()).is_some_and(|role| role.by_interlock) {
            let message = format!("`{}` is played by Interlock itself and cannot be assigned", name.value);
            self.report(Code::BadTarget, &name.place, message);
            return None;
        }
        Some(ix)
    }

    pub(super) fn overrides(&mut self) {
        for doc in &self.doc.overrides {
            let when = self.tests(&doc.when, false);
            let found = (self.find_holder(&doc.instead_of), self.find_holder(&doc.takes));
            if let (Some(instead_of), Some(takes)) = found {
                let because = doc.because.clone().unwrap_or_else(|| format!("{} stands in", doc.takes.value).into());
                self.overrides.push(RoleOverride { when, instead_of, takes, because });
            }
        }
    }
}

/// The fault of a pattern of paths, and the pattern to write instead. It has to stay inside the project, and it has to
/// be able to match a file.
pub(crate) fn wrong_pattern(text: &str) -> Option<(&'static str, &'static str)> {
    const INSIDE: &str = "patterns fit paths inside the project";
    const PATHS: &str = "paths are written from the top of the project, such as `tests/**`";
    if text.is_empty() || matches!(text, "all" | "none") || text.starts_with(['/', '~']) {
        return Some((INSIDE, PATHS));
    }
    if text.starts_with('!') {
        let help = "name what may be written; nothing else may";
        return Some(("a pattern takes nothing away", help));
    }
    if text.ends_with('/') {
        return Some(("this fits no file: it ends as a folder does", "`tests/**` is everything in `tests`"));
    }
    if text.split('/').any(|part| part == "..") {
        return Some((INSIDE, PATHS));
    }
    if text.split('/').any(|part| matches!(part, "." | "")) {
        return Some(("this fits no file: no path has a part like that", PATHS));
    }
    is_unbalanced(text).then_some(("this pattern has no end", "close every `[` and `{`; `\\[` is the character itself"))
}

/// Does a class, a choice or an escape lack its other end?
fn is_unbalanced(text: &str) -> bool {
    let mut characters = text.chars();
    let mut open: u32 = 0;
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.next().is_none() => return true,
            '{' => open = open.saturating_add(1),
            '}' if open == 0 => return true,
            '}' => open = open.saturating_sub(1),
            // The first character of a class belongs to it, even if it is the closing bracket.
            '[' => {
                let first = characters.next();
                let first = if matches!(first, Some('!' | '^')) { characters.next() } else { first };
                if first.is_none() || !characters.any(|character| character == ']') {
                    return true;
                }
            }
            _ => {}
        }
    }
    open > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_can_fit_no_file_are_found() {
        for sound in [
            "tests/**",
            "**/*.md",
            "a/[a-z]*.rs",
            "{src,tests}/**",
            "[]a]",
            "[!]a]x",
            "\\[a",
            "\\!x",
            "a/.b/c.d",
            "..x",
        ] {
            assert_eq!(wrong_pattern(sound), None, "{sound}");
        }
        for wrong in [
            "",
            "all",
            "none",
            "/tests/**",
            "~/x",
            "!tests/**",
            "tests/",
            "./tests/**",
            "a/./b",
            "a//b",
            "../x",
            "a/..",
            "[a",
            "[]",
            "{a",
            "a}",
            "{a,{b}",
            "x\\",
            "[!]",
        ] {
            assert!(wrong_pattern(wrong).is_some(), "{wrong}");
        }
    }
}
