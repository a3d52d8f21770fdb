//! The identity of a handoff: a hash of its content.

use serde_json::Value as Json;

use crate::id::Digest;

/// Of the content, whatever the order of its keys.
pub(super) fn digest(json: &Json) -> Digest {
    let mut bytes = Vec::new();
    canonical(json, &mut bytes);
    Digest::of(&bytes)
}

/// The same content in the same bytes, whatever the order of its keys.
fn canonical(value: &Json, out: &mut Vec<u8>) {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => plain(value, out),
        Json::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                out.extend_from_slice(if index == 0 { b"" } else { b"," });
                canonical(item, out);
            }
            out.push(b']');
        }
        Json::Object(members) => {
            let mut sorted: Vec<(&String, &Json)> = members.iter().collect();
            sorted.sort_unstable_by_key(|(key, _)| *key);
            out.push(b'{');
            for (index, (key, value)) in sorted.into_iter().enumerate() {
                out.extend_from_slice(if index == 0 { b"" } else { b"," });
                plain(key, out);
                out.push(b':');
                canonical(value, out);
            }
            out.push(b'}');
        }
    }
}

fn plain(value: &impl serde::Serialize, out: &mut Vec<u8>) {
    // Memory takes whatever JSON there is.
    let _ = serde_json::to_writer(out, value);
}
