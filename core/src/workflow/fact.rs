//! Facts that a CEL expression derives from a handoff.
//!
//! CEL turns an unbounded field into one of a few declared values, and nothing
//! else. What it may do is kept small, so that deriving is bounded and gives the
//! same value every time: one variable, no map literals, and comprehensions only
//! over lists of the handoff (maps of the interpreter iterate in hash order).

use std::fmt;
use std::sync::Arc;

use cel::common::ast::{Expr, IdedExpr};
use cel::{Context, Program, Value};
use serde_json::Value as Json;

use crate::id::Name;

const LONGEST: usize = 256;
const DEEPEST: usize = 16;
/// Steps that the comprehensions of one expression may take together.
const MOST_STEPS: usize = 100_000;

/// An expression that was parsed when the workflow was loaded.
#[derive(Clone)]
pub(crate) struct Expression {
    text: Name,
    program: Arc<Program>,
    /// The lists that comprehensions run over, innermost last: one entry a nest.
    ranges: Vec<Vec<String>>,
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl Expression {
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        bounded(text)?;
        let program = Program::compile(text).map_err(|error| one_line(&error.to_string()))?;
        let mut walk = Walk { ranges: Vec::new(), nest: Vec::new(), bound: Vec::new() };
        walk.expression(program.expression())?;
        Ok(Self { text: Name::new(text), program: Arc::new(program), ranges: walk.ranges })
    }

    /// The value, as text.
    pub(crate) fn evaluate(&self, handoff: &Json) -> Result<String, String> {
        self.lists_are_short(handoff)?;
        let mut context = Context::default();
        context.add_variable("handoff", handoff).map_err(|error| one_line(&error.to_string()))?;
        let value = self.program.execute(&context).map_err(|error| one_line(&error.to_string()))?;
        match value {
            Value::Bool(flag) => Ok(flag.to_string()),
            Value::Int(number) => Ok(number.to_string()),
            Value::UInt(number) => Ok(number.to_string()),
            Value::String(text) => Ok(text.to_string()),
            Value::List(_)
            | Value::Map(_)
            | Value::Function(..)
            | Value::Float(_)
            | Value::Bytes(_)
            | Value::Opaque(_)
            | Value::Struct(_)
            | Value::Null => Err("it does not come to true, false, a whole number or a text".to_owned()),
        }
    }

    fn lists_are_short(&self, handoff: &Json) -> Result<(), String> {
        let mut steps = 0usize;
        for nest in &self.ranges {
            let mut product = 1usize;
            for path in nest {
                let list = path.split('.').skip(1).try_fold(handoff, |value, key| value.get(key));
                match list {
                    Some(Json::Array(items)) => product = product.saturating_mul(items.len()),
                    Some(_) | None => return Err(format!("`{path}` is not a list")),
                }
            }
            steps = steps.saturating_add(product);
        }
        if steps > MOST_STEPS {
            return Err(format!("its lists are too long: {steps} steps, at most {MOST_STEPS}"));
        }
        Ok(())
    }
}

/// The parser is recursive: what it is given must not be deep.
fn bounded(text: &str) -> Result<(), String> {
    if text.chars().count() > LONGEST {
        return Err(format!("an expression has at most {LONGEST} characters"));
    }
    let mut depth = 0usize;
    let mut prefixes = 0usize;
    for character in text.chars() {
        match character {
            '(' | '[' | '{' | '?' => depth = depth.saturating_add(1),
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        prefixes = match character {
            '!' | '-' => prefixes.saturating_add(1),
            ' ' => prefixes,
            _ => 0,
        };
        if depth > DEEPEST || prefixes > DEEPEST {
            return Err(format!("an expression is nested at most {DEEPEST} deep"));
        }
    }
    Ok(())
}

struct Walk {
    ranges: Vec<Vec<String>>,
    nest: Vec<String>,
    /// Names that comprehensions bind.
    bound: Vec<String>,
}

impl Walk {
    fn expression(&mut self, node: &IdedExpr) -> Result<(), String> {
        match &node.expr {
            Expr::Unspecified | Expr::Literal(_) => Ok(()),
            Expr::Ident(name) => {
                let known = name == "handoff" || self.bound.contains(name);
                if known { Ok(()) } else { Err(format!("there is no `{name}`: an expression sees `handoff` only")) }
            }
            Expr::Select(select) => self.expression(&select.operand),
            Expr::List(list) => list.elements.iter().try_for_each(|element| self.expression(element)),
            Expr::Call(call) => {
                call.target.iter().try_for_each(|target| self.expression(target))?;
                call.args.iter().try_for_each(|argument| self.expression(argument))
            }
            Expr::Map(_) | Expr::Struct(_) => Err("map and message literals are not part of facts".to_owned()),
            Expr::Comprehension(comprehension) => {
                let Some(path) = path(&comprehension.iter_range) else {
                    return Err("`all`, `exists`, `map` and `filter` run over lists of the handoff only".to_owned());
                };
                self.nest.push(path);
                if self.nest.len() > 2 {
                    return Err("comprehensions are nested at most twice".to_owned());
                }
                self.ranges.push(self.nest.clone());
                let before = self.bound.len();
                self.bound.push(comprehension.iter_var.clone());
                self.bound.extend(comprehension.iter_var2.clone());
                self.bound.push(comprehension.accu_var.clone());
                let parts = [
                    &comprehension.accu_init,
                    &comprehension.loop_cond,
                    &comprehension.loop_step,
                    &comprehension.result,
                ];
                parts.into_iter().try_for_each(|part| self.expression(part))?;
                self.bound.truncate(before);
                self.nest.pop();
                Ok(())
            }
        }
    }
}

/// `handoff.a.b`, and nothing else.
fn path(node: &IdedExpr) -> Option<String> {
    if let Expr::Ident(name) = &node.expr {
        return (name == "handoff").then(|| name.clone());
    }
    let Expr::Select(select) = &node.expr else { return None };
    let operand = path(&select.operand)?;
    (!select.test).then(|| format!("{operand}.{}", select.field))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn derive(text: &str, handoff: &Json) -> Result<String, String> {
        Expression::compile(text)?.evaluate(handoff)
    }

    #[test]
    fn a_number_becomes_one_of_two_values() {
        let thin = "handoff.verification.coverage_percent < 80";
        assert_eq!(derive(thin, &json!({ "verification": { "coverage_percent": 79 } })).as_deref(), Ok("true"));
        assert_eq!(derive(thin, &json!({ "verification": { "coverage_percent": 80 } })).as_deref(), Ok("false"));
        assert_eq!(derive(thin, &json!({ "verification": { "coverage_percent": 79.5 } })).as_deref(), Ok("true"));
        assert_eq!(derive(thin, &json!({ "verification": { "coverage_percent": -1 } })).as_deref(), Ok("true"));
        assert!(derive(thin, &json!({})).is_err());
    }

    #[test]
    fn texts_and_lists_can_be_looked_at() {
        let handoff = json!({ "files_modified": ["src/a.rs", "migrations/1.sql"], "kind": "x" });
        let risky = "handoff.files_modified.exists(f, f.startsWith('migrations/')) ? 'yes' : 'no'";
        assert_eq!(derive(risky, &handoff).as_deref(), Ok("yes"));
        assert_eq!(derive("size(handoff.files_modified) > 1", &handoff).as_deref(), Ok("true"));
        assert_eq!(derive("has(handoff.missing)", &handoff).as_deref(), Ok("false"));
    }

    #[test]
    fn what_could_differ_from_run_to_run_is_refused() {
        for text in
            ["{'a': 1}.a == 1", "handoff.exists(k, k == 'a')", "now() == 1", "other == 1", "[1, 2].exists(x, x == 1)"]
        {
            let handoff = json!({ "a": 1, "b": 2 });
            assert!(derive(text, &handoff).is_err(), "{text}");
        }
    }

    #[test]
    fn hostile_expressions_end_with_an_error() {
        for text in [
            "!".repeat(200),
            "-".repeat(200),
            format!("{}1{}", "(".repeat(100), ")".repeat(100)),
            "true ? 1 : ".repeat(40),
            "9223372036854775807 + 1 == 0".to_owned(),
            "1 / 0 == 1".to_owned(),
            "handoff.list[99] == 1".to_owned(),
            "a".repeat(1000),
            String::new(),
            "handoff.".to_owned(),
        ] {
            assert!(derive(&text, &json!({ "list": [] })).is_err(), "{text}");
        }
        let long: Vec<u32> = (0..2000).collect();
        let nested = "handoff.l.all(a, handoff.l.all(b, a == b))";
        assert!(derive(nested, &json!({ "l": long })).unwrap_err().contains("too long"));
    }
}
