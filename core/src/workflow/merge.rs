//! `extends`: one document merged over another, before anything is decoded.

use std::collections::{BTreeMap, BTreeSet};

use crate::workflow::doc::{loop_from_number, wrap};
use crate::yaml::{Node, Value};

/// The rows that every workflow has.
pub(crate) const PRELUDE: &str = r#"
workflow: prelude
language: 1
abstract: true
loops:
  retry: 3
  settled: 2
routes:
  any:
    no_handoff:  { respawn: self, loop: retry, because: the agent ended without a handoff }
    bad_handoff: { respawn: self, loop: retry, because: the handoff stayed invalid }
    false_claim: { respawn: self, loop: retry, because: the handoff claims tests that failed when Interlock ran them }
    halted:      { ask: stuck, because: this cannot go on without a person }
questions:
  clarify: { text: "{handoff.context}", answer: { redo: work, with: [answer] } }
  stuck:
    text: "{because}"
    options:
      retry: { redo: work }
      defer: { defer: group }
      drop:  { cancel: group }
      stop:  { cancel: session }
  unfinished:
    text: "{because}"
    options:
      acknowledge: { acknowledge: deferred }
      stop:        { cancel: session }
groups: { at_most: 4 }
"#;

/// Merges `over` onto `base`: maps key by key, `null` removes, all else is replaced whole.
pub(crate) fn merge(base: &Node, over: &Node) -> Node {
    merge_at(&expand(base), &expand(over), &mut Vec::new())
}

fn merge_at(base: &Node, over: &Node, path: &mut Vec<String>) -> Node {
    let (Value::Map(below), Value::Map(above)) = (&base.value, &over.value) else { return over.clone() };
    if is_entry(path) {
        return over.clone();
    }
    let over_by_name: BTreeMap<Option<&str>, &(Node, Node)> =
        above.iter().map(|entry| (entry.0.text(), entry)).collect();
    let mut merged: Vec<(Node, Node)> = Vec::new();
    for (key, value) in below {
        let name = key.text().unwrap_or_default();
        if path.is_empty() && matches!(name, "examples" | "abstract" | "about" | "extends" | "workflow" | "language") {
            continue;
        }
        match over_by_name.get(&Some(name)) {
            None => merged.push((key.clone(), value.clone())),
            Some((_, new)) if new.is_null() => {}
            Some((new_key, new)) => {
                path.push(name.to_owned());
                merged.push((new_key.clone(), merge_at(value, new, path)));
                path.pop();
            }
        }
    }
    let known: BTreeSet<Option<&str>> = merged.iter().map(|(key, _)| key.text()).collect();
    let added = above.iter().filter(|(key, value)| !known.contains(&key.text()) && !value.is_null());
    let added: Vec<(Node, Node)> = added.cloned().collect();
    merged.extend(added);
    Node { place: over.place.clone(), value: Value::Map(merged) }
}

/// An entry is one thought; a key of it must not survive from the base.
fn is_entry(path: &[String]) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    matches!(
        path.as_slice(),
        ["routes", _, _]
            | ["merge", _]
            | ["unknown_status" | "begin"]
            | ["gates", _, "fail"]
            | ["questions", _, "answer"]
            | ["questions", _, "options", _]
            | ["groups", "begin" | "ended"]
    )
}

/// Writes out the short forms that merging looks into.
fn expand(root: &Node) -> Node {
    let mut root = root.clone();
    edit(&mut root, "loops", loop_from_number);
    let row = |value: &Node| value.text().map(|_| wrap(value, "any"));
    if let Value::Map(entries) = &mut root.value {
        for (key, value) in entries {
            if key.text() == Some("blocked") {
                edit(value, "table", row);
            }
        }
    }
    root
}

fn edit(node: &mut Node, key: &str, change: impl Fn(&Node) -> Option<Node>) {
    let Value::Map(entries) = &mut node.value else { return };
    for (name, table) in entries {
        if name.text() != Some(key) {
            continue;
        }
        let Value::Map(rows) = &mut table.value else { continue };
        for (_, value) in rows {
            if let Some(changed) = change(value) {
                *value = changed;
            }
        }
    }
}

/// The merged document as canonical JSON: sorted keys, nothing that does not decide.
pub(crate) fn canonical(root: &Node) -> String {
    let mut out = String::new();
    let decides = |key: &str| !matches!(key, "about" | "examples" | "extends");
    write_node(root, &decides, &mut out);
    out
}

fn write_node(node: &Node, wanted: &dyn Fn(&str) -> bool, out: &mut String) {
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Scalar(text) => write_text(text, out),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write_node(item, &|_| true, out);
            }
            out.push(']');
        }
        Value::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| (key.text().unwrap_or_default(), value));
            let mut entries: Vec<(&str, &Node)> = entries.filter(|(key, _)| wanted(key)).collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write_text(key, out);
                out.push(':');
                write_node(value, &|_| true, out);
            }
            out.push('}');
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    if text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        out.push_str(&serde_json::Value::from(text).to_string());
        return;
    }
    out.push('"');
    out.push_str(text);
    out.push('"');
}
