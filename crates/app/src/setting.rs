//! A value that a person gives by name.

/// `NAME=VALUE`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    pub name: String,
    pub value: String,
}

impl Pair {
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                Ok(Self { name: name.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => Err("a name, `=` and a value belong here, such as testing=minimal".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_split_at_the_first_equals_sign() {
        let pair = |name: &str, value: &str| Ok(Pair { name: name.to_owned(), value: value.to_owned() });
        assert_eq!(Pair::parse("loop.review.open=2"), pair("loop.review.open", "2"));
        assert_eq!(Pair::parse("a = b=c "), pair("a", "b=c"));
        assert_eq!(Pair::parse("a="), pair("a", ""));
        assert!(Pair::parse("a").is_err());
        assert!(Pair::parse("=a").is_err());
    }
}
