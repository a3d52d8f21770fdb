//! Lengths of time in a workflow file: `30s`, `15m`, `1h30m`.

use std::fmt;

use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::code::Code;
use crate::problem::Problem;
use crate::workflow::record::{Decode, Problems, Schemas};
use crate::yaml::Node;

/// From the longest to the shortest, as they must stand.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// Callers may add this to any time of this century.
const LONGEST: u64 = 365 * 86_400_000;

/// A length of time: at least a millisecond, at most 365 days.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(transparent)]
pub struct Duration(u64);

impl Duration {
    pub const fn milliseconds(self) -> u64 {
        self.0
    }

    /// Numbers with units, each unit once, the longer before the shorter.
    pub fn parse(text: &str) -> Option<Self> {
        let mut units = UNITS.iter();
        let (mut rest, mut total) = (text, 0u64);
        while !rest.is_empty() {
            let (number, after) = split(rest, |byte| byte.is_ascii_digit());
            let (unit, after) = split(after, |byte| byte.is_ascii_lowercase());
            let (_, each) = units.find(|(name, _)| *name == unit)?;
            total = number.parse::<u64>().ok()?.checked_mul(*each)?.checked_add(total)?;
            rest = after;
        }
        (1..=LONGEST).contains(&total).then_some(Self(total))
    }
}

/// The longest beginning whose bytes are all like this, and the rest.
fn split(text: &str, like: impl Fn(u8) -> bool) -> (&str, &str) {
    let end = text.bytes().position(|byte| !like(byte)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// The shortest way to write it, which reads as the same.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        for (name, each) in UNITS {
            let count = rest.checked_div(each).unwrap_or(0);
            rest = rest.checked_rem(each).unwrap_or(0);
            if count > 0 {
                write!(f, "{count}{name}")?;
            }
        }
        Ok(())
    }
}

impl Decode for Duration {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let read = node.text().and_then(Self::parse);
        if read.is_none() {
            let written = node.text().map_or_else(|| node.kind().to_owned(), |text| format!("`{text}`"));
            let help = "write numbers with units, the longest first: `30s`, `15m`, `1h30m`, `2d`; at most 365 days";
            let problem = Problem::new(Code::BadDuration, format!("{written} is not a length of time")).help(help);
            problems.push(problem.at(node.place.clone()));
        }
        read
    }

    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "string", "pattern": "^([0-9]+(d|h|m|s|ms))+$" })
    }

    fn sample() -> String {
        "15m".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_are_read() {
        for (text, milliseconds, shortest) in [
            ("250ms", 250, "250ms"),
            ("30s", 30_000, "30s"),
            ("15m", 900_000, "15m"),
            ("90m", 5_400_000, "1h30m"),
            ("2h", 7_200_000, "2h"),
            ("1h30m", 5_400_000, "1h30m"),
            ("1d", 86_400_000, "1d"),
            ("1d2h3m4s5ms", 93_784_005, "1d2h3m4s5ms"),
            ("0h5m", 300_000, "5m"),
            ("365d", LONGEST, "365d"),
        ] {
            let read = Duration::parse(text).unwrap();
            assert_eq!(read.milliseconds(), milliseconds, "{text}");
            assert_eq!(read.to_string(), shortest);
            assert_eq!(Duration::parse(shortest), Some(read), "{shortest}");
        }
    }

    #[test]
    fn anything_else_is_not() {
        for text in [
            "",
            "0",
            "0s",
            "30",
            "s",
            "m30",
            "30 s",
            " 30s",
            "1.5h",
            "-5m",
            "+5m",
            "5M",
            "5min",
            "30m1h",
            "5m5m",
            "1w",
            "366d",
            "365d1ms",
            "99999999999999999999d",
            "18446744073709551615h",
            "5m\u{301}",
            "５m",
        ] {
            assert_eq!(Duration::parse(text), None, "{text:?}");
        }
    }
}
