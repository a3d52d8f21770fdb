//! Reads the YAML that ships inside the program, so that the program need not do so whenever it starts.
//! `src/workflow/packed.rs` says what the bytes mean.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::enum_variant_names,
    reason = "modules of the crate, of which this needs a part"
)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "it is the core that does no I/O, not its build"
)]

#[path = "src/advice.rs"]
mod advice;
#[path = "src/workflow/builtin.rs"]
mod builtin;
#[path = "src/code.rs"]
mod code;
#[path = "src/problem.rs"]
mod problem;
#[path = "src/yaml.rs"]
mod yaml;

use std::path::PathBuf;
use std::sync::Arc;

use yaml::{Node, Value};

fn main() {
    let mut trees = Vec::new();
    for builtin in builtin::shipped() {
        let mut problems = Vec::new();
        let node = yaml::parse(builtin.file, builtin.text, &mut problems).filter(|_| problems.is_empty());
        let tree = pack(&node.unwrap_or_else(|| panic!("{}: {problems:?}", builtin.file)));
        number(tree.len(), &mut trees);
        trees.extend(tree);
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where to"));
    std::fs::write(out.join("trees"), trees).expect("the trees are written");
    println!("cargo::rerun-if-changed=build.rs");
}

fn pack(root: &Node) -> Vec<u8> {
    let (mut strings, mut nodes, mut tree) = (Vec::new(), Vec::new(), Vec::new());
    pack_node(root, &mut strings, &mut nodes);
    number(strings.len(), &mut tree);
    for string in strings {
        number(string.len(), &mut tree);
        tree.extend(string.as_bytes());
    }
    tree.extend(nodes);
    tree
}

fn pack_node(node: &Node, strings: &mut Vec<Arc<str>>, out: &mut Vec<u8>) {
    let kind = match &node.value {
        Value::Null => 0,
        Value::Scalar(_) => 1,
        Value::List(_) => 2,
        Value::Map(_) => 3,
    };
    number(kind, out);
    for part in [node.place.line, node.place.column, node.place.length] {
        number(part as usize, out);
    }
    match &node.value {
        Value::Null => {}
        Value::Scalar(text) => {
            let known = strings.iter().position(|string| string == text);
            number(known.unwrap_or(strings.len()), out);
            if known.is_none() {
                strings.push(text.clone());
            }
        }
        Value::List(items) => {
            number(items.len(), out);
            items.iter().for_each(|item| pack_node(item, strings, out));
        }
        Value::Map(entries) => {
            number(entries.len(), out);
            for (key, value) in entries {
                pack_node(key, strings, out);
                pack_node(value, strings, out);
            }
        }
    }
}

fn number(mut number: usize, out: &mut Vec<u8>) {
    while number > 0x7f {
        out.push(0x80 | (number & 0x7f) as u8);
        number >>= 7;
    }
    out.push(number as u8);
}
