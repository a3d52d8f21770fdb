//! Ids as people and scripts write them: the session, a dot, and what is numbered within it.

use std::fmt;

use interlock_core::id::{AssignmentId, DecisionId, GateRunId, Name, QuestionId};

macro_rules! references {
    ($($(#[doc = $doc:literal])* $name:ident, $id:ident, $example:literal;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub struct $name {
            pub session: Name,
            pub id: $id,
        }

        impl $name {
            pub fn parse(text: &str) -> Result<Self, String> {
                let parsed = text.rsplit_once('.').and_then(|(session, id)| Some((session, $id::parse(id)?)));
                match parsed {
                    Some((session, id)) if !session.is_empty() => Ok(Self { session: Name::new(session), id }),
                    _ => Err(concat!("such an id reads SESSION.", $example).to_owned()),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}.{}", self.session, self.id)
            }
        }
    )*};
}

references! {
    /// `add-login-4f2k.a3`
    AssignmentRef, AssignmentId, "a3";
    /// `add-login-4f2k.q1`
    QuestionRef, QuestionId, "q1";
    /// `add-login-4f2k.d12`
    DecisionRef, DecisionId, "d12";
    /// `add-login-4f2k.g1`
    GateRef, GateRunId, "g1";
}

/// An id for a new session that people can read, type and tell apart: of its title, and a few letters more.
pub fn new_session_id(title: &str, suffix: &str) -> Name {
    let mut slug = String::new();
    for character in title.chars().map(|character| character.to_ascii_lowercase()) {
        if character.is_ascii_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= 24 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    Name::from(format!("{}-{suffix}", if slug.is_empty() { "session" } else { slug }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_its_session() {
        let id = AssignmentRef::parse("add-login-4f2k.a3").unwrap();
        assert_eq!((id.session.as_str(), id.id), ("add-login-4f2k", AssignmentId(3)));
        assert_eq!(id.to_string(), "add-login-4f2k.a3");
        for wrong in ["", "a3", ".a3", "s.q3", "s.a", "s.a03", "s.a-3", "s.a3 "] {
            assert!(AssignmentRef::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_session_is_named_after_its_title() {
        assert_eq!(new_session_id("Add login & logout!", "4f2k"), "add-login-logout-4f2k");
        assert_eq!(new_session_id("¿?", "4f2k"), "session-4f2k");
        assert_eq!(new_session_id("A very long title that goes on and on", "4f2k"), "a-very-long-title-that-g-4f2k");
    }
}
