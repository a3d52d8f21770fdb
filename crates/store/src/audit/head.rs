//! The signed head of a chain. It is kept where processes that can write the store cannot reach it.

use ed25519_dalek::{Signature, Signer as _, Verifier as _, VerifyingKey};
use interlock_core::code::Code;
use interlock_core::id::{Digest, Name};
use serde_json::{Value as Json, json};

use crate::SessionHead;
use crate::StoreError;
use crate::StoreResult;
use crate::audit::{AuditProblem, AuditProblemKind};
use crate::chain::{ChainKey, Seal};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChainHead {
    pub store: Name,
    pub session: Name,
    pub seq: u64,
    pub hash: Seal,
}

impl ChainHead {
    pub fn of(store: &Name, session: &SessionHead) -> Self {
        Self { store: store.clone(), session: session.id.clone(), seq: session.seq, hash: session.head }
    }

    /// The signed text: one line a field, so that anyone can reconstruct it.
    fn text(&self) -> String {
        format!("interlock head 1\n{}\n{}\n{}\n{}\n", self.store, self.session, self.seq, self.hash)
    }

    /// Signed, with the public key that the signature can be checked with.
    pub fn export(&self, key: &ChainKey) -> Json {
        let signing = key.signing_key();
        let signature = signing.sign(self.text().as_bytes());
        json!({
            "store": self.store,
            "session": self.session,
            "seq": self.seq,
            "head": self.hash.to_string(),
            "signed": self.text(),
            "public_key": hex(signing.verifying_key().as_bytes()),
            "signature": hex(&signature.to_bytes()),
        })
    }

    /// Reads what `export` wrote. `Err` inside: the signature is not this store's.
    pub fn read(text: &str, key: &ChainKey) -> StoreResult<Result<Self, AuditProblem>> {
        let document: Json = serde_json::from_str(text).map_err(|_| none("it is not JSON"))?;
        let field = |name: &str| document[name].as_str().ok_or_else(|| none(&format!("`{name}` is missing")));
        let head = Self {
            store: Name::new(field("store")?),
            session: Name::new(field("session")?),
            seq: document["seq"].as_u64().ok_or_else(|| none("`seq` is missing"))?,
            hash: Seal::from_hex(field("head")?).map_err(|_| none("`head` is no hash"))?,
        };
        let signature = unhex(field("signature")?).ok_or_else(|| none("`signature` is no signature"))?;
        let ours: VerifyingKey = key.signing_key().verifying_key();
        let signed = ours.verify(head.text().as_bytes(), &Signature::from_bytes(&signature));
        Ok(match signed {
            Ok(()) => Ok(head),
            Err(_) => {
                let text = "the signature of the head does not fit what it says, or another store made it".to_owned();
                Err(AuditProblem {
                    session: Some(head.session),
                    seq: Some(head.seq),
                    kind: AuditProblemKind::Signature,
                    text,
                })
            }
        })
    }

    /// The session of this head is not in the store.
    pub(super) fn gone(&self) -> AuditProblem {
        let text = format!("session {} is gone: its head was exported at event {}", self.session, self.seq);
        AuditProblem { session: Some(self.session.clone()), seq: Some(1), kind: AuditProblemKind::Truncated, text }
    }
}

fn none(why: &str) -> StoreError {
    StoreError::new(Code::BadHead, format!("this is not the head of a chain: {why}"))
        .help("`interlock audit export SESSION` writes one")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; 64]> {
    let (first, second) = text.split_at_checked(64)?;
    let (first, second) = (Digest::parse(first)?, Digest::parse(second)?);
    let mut bytes = [0; 64];
    bytes[..32].copy_from_slice(first.as_bytes());
    bytes[32..].copy_from_slice(second.as_bytes());
    Some(bytes)
}
