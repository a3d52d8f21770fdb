//! The chain: each event is sealed with a keyed hash over its bytes and the seal of the one before it.
//!
//! The key lies outside of the repository and of the agents' environment. A process that edits the file without the key
//! can neither change an event nor add one so that its seal fits.

use ed25519_dalek::SigningKey;
use interlock_core::id::Timestamp;

/// Domain separation: a seal of one kind is not valid as a seal of another.
const EVENT: &[u8] = b"interlock event 1";
const SNAPSHOT: &[u8] = b"interlock snapshot 1";
const STORE: &[u8] = b"interlock store 1";
const REGISTER: &[u8] = b"interlock register 1";

/// A keyed BLAKE3 hash. Compared in constant time.
pub type Seal = blake3::Hash;

/// Of what an event was given, without a key: the event's own seal covers it.
pub fn hash_attachment(bytes: &[u8]) -> Seal {
    blake3::hash(bytes)
}

/// The seal that the first event of a session follows.
pub const BEGINNING: Seal = Seal::from_bytes([0; 32]);

/// The key of a store's chains.
#[derive(Clone)]
pub struct ChainKey([u8; 32]);

/// Everything of an event that its seal covers.
#[derive(Clone, Copy, Debug)]
pub struct SealedContent<'a> {
    pub session: &'a str,
    pub seq: u64,
    pub kind: &'a str,
    pub at: Timestamp,
    pub decision: Option<u32>,
    pub data: &'a str,
    /// The effects of the event, one a line.
    pub says: &'a str,
    /// The hash of what it was given.
    pub given: Option<Seal>,
}

impl ChainKey {
    pub const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    pub fn event(&self, event: &SealedContent<'_>, prev: &Seal) -> Seal {
        let mut seal = self.start(EVENT);
        field(&mut seal, event.session.as_bytes());
        field(&mut seal, &event.seq.to_le_bytes());
        field(&mut seal, event.kind.as_bytes());
        field(&mut seal, &event.at.0.to_le_bytes());
        field(&mut seal, &event.decision.map_or(0, |id| u64::from(id) + 1).to_le_bytes());
        field(&mut seal, event.data.as_bytes());
        field(&mut seal, event.says.as_bytes());
        field(&mut seal, event.given.as_ref().map_or(&[][..], |given| given.as_bytes()));
        field(&mut seal, prev.as_bytes());
        seal.finalize()
    }

    /// Of a state that was folded up to an event: bound to the seal of that event.
    pub fn snapshot(&self, session: &str, head: &Seal, data: &str) -> Seal {
        let mut seal = self.start(SNAPSHOT);
        field(&mut seal, session.as_bytes());
        field(&mut seal, head.as_bytes());
        field(&mut seal, data.as_bytes());
        seal.finalize()
    }

    /// Of what a store says of itself: its id and who may speak.
    pub fn store(&self, id: &str, operator: &[u8], spawner: &[u8]) -> Seal {
        let mut seal = self.start(STORE);
        field(&mut seal, id.as_bytes());
        field(&mut seal, operator);
        field(&mut seal, spawner);
        seal.finalize()
    }

    /// The key of what stands for what in the repository of a session. Made of the key, and not the key.
    pub fn register(&self, session: &str) -> [u8; 32] {
        let mut seal = self.start(REGISTER);
        field(&mut seal, session.as_bytes());
        *seal.finalize().as_bytes()
    }

    /// Signs heads of chains, so that others can hold them against the store. Made of the key, and not the key.
    pub fn signing_key(&self) -> SigningKey {
        SigningKey::from_bytes(&blake3::derive_key("interlock 2026 head signature 1", &self.0))
    }

    fn start(&self, what: &[u8]) -> blake3::Hasher {
        let mut seal = blake3::Hasher::new_keyed(&self.0);
        field(&mut seal, what);
        seal
    }
}

/// With its length first, so that no two lists of fields have the same bytes.
fn field(seal: &mut blake3::Hasher, bytes: &[u8]) {
    seal.update(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
    seal.update(bytes);
}
