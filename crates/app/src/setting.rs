//! A value that a person gives by name.

/// `NAME=VALUE`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingArgument {
    pub name: String,
    pub value: String,
}

impl SettingArgument {
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
        let pair = |name: &str, value: &str| Ok(SettingArgument { name: name.to_owned(), value: value.to_owned() });
        assert_eq!(SettingArgument::parse("loop.review.open=2"), pair("loop.review.open", "2"));
        assert_eq!(SettingArgument::parse("a = b=c "), pair("a", "b=c"));
        assert_eq!(SettingArgument::parse("a="), pair("a", ""));
        assert!(SettingArgument::parse("a").is_err());
        assert!(SettingArgument::parse("=a").is_err());
    }
}
