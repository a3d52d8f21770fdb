//! The only clock, and the only source of random secrets.

use std::time::{SystemTime, UNIX_EPOCH};

use interlock_core::id::Timestamp;

/// Letters and digits that are not mistaken for one another.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// 32 random bytes that cannot be guessed.
///
/// # Panics
/// If the operating system has no random numbers: nothing that follows would be safe.
pub fn secret() -> [u8; 32] {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).unwrap_or_else(|error| panic!("the system gives no random numbers: {error}"));
    bytes
}

/// The end of an id that people type: short, and not in use yet in all likelihood.
pub fn suffix(length: usize) -> String {
    secret().iter().take(length).map(|byte| char::from(ALPHABET[usize::from(byte & 31)])).collect()
}

/// RFC 3339, in UTC.
pub fn rfc3339(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.0).map_or_else(|_| at.0.to_string(), |at| at.to_string())
}
