//! `extends`: one document merged over another, before anything is decoded.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::workflow::doc::{loop_from_number, wrap};
use crate::yaml::{Node, Value};

/// Merges `over` onto `base`: maps key by key, `null` removes, all else is replaced whole.
pub(crate) fn merge(mut base: Node, mut over: Node) -> Node {
    expand(&mut base);
    expand(&mut over);
    merge_at(base, over, &mut Vec::new())
}

fn merge_at(base: Node, over: Node, path: &mut Vec<Arc<str>>) -> Node {
    let (below, above) = match (base.value, over.value) {
        (Value::Map(below), Value::Map(above)) if !is_entry(path) => (below, above),
        (_, value) => return Node { place: over.place, value },
    };
    let name = |key: &Node| key.scalar().cloned().unwrap_or_default();
    let by_name: BTreeMap<Arc<str>, usize> = above.iter().map(|(key, _)| name(key)).zip(0..).collect();
    let mut above: Vec<Option<(Node, Node)>> = above.into_iter().map(Some).collect();
    let mut merged: Vec<(Node, Node)> = Vec::with_capacity(below.len().max(above.len()));
    for (key, value) in below {
        let name = name(&key);
        if path.is_empty() && matches!(&*name, "examples" | "abstract" | "about" | "extends" | "workflow" | "language")
        {
            continue;
        }
        match by_name.get(&name).and_then(|index| above.get_mut(*index)).and_then(Option::take) {
            None => merged.push((key, value)),
            Some((_, new)) if new.is_null() => {}
            Some((new_key, new)) => {
                path.push(name);
                merged.push((new_key, merge_at(value, new, path)));
                path.pop();
            }
        }
    }
    merged.extend(above.into_iter().flatten().filter(|(_, value)| !value.is_null()));
    Node { place: over.place, value: Value::Map(merged) }
}

/// An entry is one thought; a key of it must not survive from the base.
fn is_entry(path: &[Arc<str>]) -> bool {
    let path: Vec<&str> = path.iter().map(|name| &**name).collect();
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
fn expand(root: &mut Node) {
    edit(root, "loops", loop_from_number);
    let row = |value: &Node| value.text().map(|_| wrap(value, "any"));
    if let Value::Map(entries) = &mut root.value {
        for (key, value) in entries {
            if key.text() == Some("blocked") {
                edit(value, "table", row);
            }
        }
    }
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
    let decides = |key: &str| !matches!(key, "about" | "statuses" | "examples" | "extends");
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
