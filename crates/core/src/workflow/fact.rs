//! Facts that a CEL expression derives from a handoff.
//!
//! CEL turns an unbounded field into one of a few declared values, and nothing
//! else. What it may do is kept small, so that deriving is bounded and gives the
//! same value every time: one variable, no map literals, and comprehensions only
//! over lists of the handoff (maps of the interpreter iterate in hash order, and
//! so do its messages about them: they are not passed on).

use std::fmt;
use std::sync::Arc;

use cel::common::ast::{Expr, IdedExpr, operators};
use cel::{Context, ExecutionError, Program, Value};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value as Json;

use crate::id::Name;

const LONGEST: usize = 256;
const DEEPEST: usize = 16;
/// Steps that the comprehensions of one expression may take together.
const MOST_STEPS: usize = 100_000;
/// Bytes of the handoff that one expression may look at, all looks counted. Under a second's worth.
const MOST_WORK: usize = 256 << 20;

/// An expression that was parsed when the workflow was loaded.
#[derive(Clone)]
pub(crate) struct FactExpression {
    text: Name,
    program: Arc<Program>,
    nests: Vec<ComprehensionNest>,
    /// How many `+` there are: each may copy all that came before it.
    sums: usize,
}

/// Comprehensions inside each other.
#[derive(Clone)]
struct ComprehensionNest {
    /// The lists they run over, outermost first.
    lists: Vec<String>,
    /// The innermost looks at the handoff in every step, beyond the element it is at.
    looks_around: bool,
}

impl fmt::Debug for FactExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl FactExpression {
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        bounded(text)?;
        let program = Program::compile(text).map_err(|error| one_line(&error.to_string()))?;
        let mut walk = ExpressionScan::default();
        walk.expression(program.expression())?;
        Ok(Self { text: Name::new(text), program: Arc::new(program), nests: walk.nests, sums: walk.sums })
    }

    pub(crate) fn text(&self) -> &Name {
        &self.text
    }

    /// The value, as text.
    pub(crate) fn evaluate(&self, handoff: &Json) -> Result<String, String> {
        self.is_little_work(handoff)?;
        let mut context = Context::default();
        context.add_variable("handoff", IntegerJson(handoff)).map_err(|error| one_line(&error.to_string()))?;
        let value = self.program.execute(&context).map_err(|error| why(&error))?;
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

    fn is_little_work(&self, handoff: &Json) -> Result<(), String> {
        let mut steps = 0usize;
        let mut looks = 1usize;
        for nest in &self.nests {
            let mut product = 1usize;
            for path in &nest.lists {
                let list = path.split('.').skip(1).try_fold(handoff, |value, key| value.get(key));
                product = match list {
                    Some(Json::Array(items)) => product.saturating_mul(items.len()),
                    // It would be iterated in no order.
                    Some(Json::Object(_)) => return Err(format!("`{path}` is not a list")),
                    // `has(…) &&` may stand before it; if not, evaluating it fails.
                    Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_)) | None => 0,
                };
            }
            steps = steps.saturating_add(product);
            if nest.looks_around {
                looks = looks.saturating_add(product);
            }
        }
        if steps > MOST_STEPS {
            return Err(format!("its lists are too long: {steps} steps, at most {MOST_STEPS}"));
        }
        let copies = self.sums.saturating_mul(self.sums).saturating_add(1);
        let work = size(handoff).saturating_mul(looks).saturating_mul(copies);
        if work > MOST_WORK {
            return Err("the handoff is too large for it".to_owned());
        }
        Ok(())
    }
}

/// How much there is to look at: texts by their bytes, all else by its count.
fn size(value: &Json) -> usize {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => 8,
        Json::String(text) => text.len().saturating_add(8),
        Json::Array(items) => items.iter().fold(8, |sum, item| sum.saturating_add(size(item))),
        Json::Object(members) => {
            members.iter().fold(8, |sum, (key, item)| sum.saturating_add(key.len()).saturating_add(size(item)))
        }
    }
}

/// The handoff with whole numbers as CEL's `int`: left to itself, the interpreter takes positive
/// ones as `uint`, which do not add up with the numbers that an expression has.
struct IntegerJson<'a>(&'a Json);

impl Serialize for IntegerJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Json::Number(number) => match number.as_i64() {
                Some(whole) => serializer.serialize_i64(whole),
                None => number.serialize(serializer),
            },
            Json::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(&IntegerJson(item)))?;
                list.end()
            }
            Json::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(key, value)| map.serialize_entry(key, &IntegerJson(value)))?;
                map.end()
            }
            Json::Null | Json::Bool(_) | Json::String(_) => self.0.serialize(serializer),
        }
    }
}

/// Without the values: they can be long, and maps among them are in no order.
fn why(error: &ExecutionError) -> String {
    if let ExecutionError::NoSuchKey(key) = error {
        format!("there is no `{key}`")
    } else if let ExecutionError::IndexOutOfBounds(_) = error {
        "an index is out of bounds".to_owned()
    } else if let ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) = error {
        "something is divided by zero".to_owned()
    } else if let ExecutionError::Overflow(..) = error {
        "a number becomes too large".to_owned()
    } else if let ExecutionError::NoSuchOverload(overload) = error {
        one_line(&overload.to_string())
    } else if let ExecutionError::UndeclaredReference(name) = error {
        format!("there is no `{name}`")
    } else if let ExecutionError::FunctionError { function, .. } = error {
        format!("`{function}` cannot take this value")
    } else {
        "its values do not fit together".to_owned()
    }
}

/// The parser is recursive, so its input must not be deep.
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

#[derive(Default)]
struct ExpressionScan {
    nests: Vec<ComprehensionNest>,
    /// The comprehensions around: their lists, and which of `nests` they are.
    around: Vec<(String, usize)>,
    /// Names that comprehensions bind.
    bound: Vec<String>,
    sums: usize,
}

impl ExpressionScan {
    fn expression(&mut self, node: &IdedExpr) -> Result<(), String> {
        match &node.expr {
            Expr::Unspecified | Expr::Literal(_) => Ok(()),
            Expr::Ident(name) if self.bound.contains(name) => Ok(()),
            Expr::Ident(name) if name == "handoff" => {
                let innermost = self.around.last().and_then(|(_, nest)| self.nests.get_mut(*nest));
                innermost.into_iter().for_each(|nest| nest.looks_around = true);
                Ok(())
            }
            Expr::Ident(name) => Err(format!("there is no `{name}`: an expression sees `handoff` only")),
            Expr::Select(select) => self.expression(&select.operand),
            Expr::List(list) => list.elements.iter().try_for_each(|element| self.expression(element)),
            Expr::Call(call) => {
                self.sums = self.sums.saturating_add(usize::from(call.func_name == operators::ADD));
                call.target.iter().try_for_each(|target| self.expression(target))?;
                call.args.iter().try_for_each(|argument| self.expression(argument))
            }
            Expr::Map(_) | Expr::Struct(_) => Err("map and message literals are not part of facts".to_owned()),
            Expr::Comprehension(comprehension) => {
                let Some(path) = path(&comprehension.iter_range) else {
                    return Err("`all`, `exists`, `map` and `filter` run over lists of the handoff only".to_owned());
                };
                self.around.push((path, self.nests.len()));
                if self.around.len() > 2 {
                    return Err("comprehensions are nested at most twice".to_owned());
                }
                let lists = self.around.iter().map(|(path, _)| path.clone()).collect();
                self.nests.push(ComprehensionNest { lists, looks_around: false });
                let before = self.bound.len();
                self.bound.push(comprehension.iter_var.clone());
                self.bound.extend(comprehension.iter_var2.clone());
                self.bound.push(comprehension.accu_var.clone());
                if self.bound.iter().any(|name| name == "handoff") {
                    // The known facts about the handoff's lists would be applied to another value's lists.
                    return Err("an element cannot be called `handoff`".to_owned());
                }
                let parts = [
                    &comprehension.accu_init,
                    &comprehension.loop_cond,
                    &comprehension.loop_step,
                    &comprehension.result,
                ];
                parts.into_iter().try_for_each(|part| self.expression(part))?;
                self.bound.truncate(before);
                self.around.pop();
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
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn derive(text: &str, handoff: &Json) -> Result<String, String> {
        FactExpression::compile(text)?.evaluate(handoff)
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
        let guarded = "has(handoff.missing) && handoff.missing.exists(x, x == 1)";
        assert_eq!(derive(guarded, &handoff).as_deref(), Ok("false"));
        assert!(derive("handoff.missing.exists(x, x == 1)", &handoff).is_err());
        assert!(derive("handoff.kind.exists(x, x == 1)", &handoff).is_err());
    }

    #[test]
    fn whole_numbers_add_up_with_those_of_the_expression() {
        let handoff = json!({ "fixed": 8, "total": 10, "back": -1, "huge": u64::MAX });
        assert_eq!(derive("handoff.fixed * 100 / handoff.total >= 80", &handoff).as_deref(), Ok("true"));
        assert_eq!(derive("handoff.total + handoff.back - 9", &handoff).as_deref(), Ok("0"));
        assert_eq!(derive("handoff.huge > 1", &handoff).as_deref(), Ok("true"));
    }

    #[test]
    fn what_is_wrong_is_said_the_same_way_every_time() {
        let handoff = json!({ "m": { "a": 1, "b": 2, "c": 3, "d": 4 }, "l": [1] });
        for (text, said) in [
            ("handoff.m + 3 == 4", "its values do not fit together"),
            ("handoff.x == 1", "there is no `x`"),
            ("handoff.l[7] == 1", "an index is out of bounds"),
            ("1 / (handoff.l[0] - 1) == 1", "something is divided by zero"),
            ("handoff.m < 3", "found no matching overload for '_<_' applied to '(map, int)'"),
            ("handoff.m", "it does not come to true, false, a whole number or a text"),
        ] {
            assert_eq!(derive(text, &handoff).unwrap_err(), said, "{text}");
        }
    }

    #[test]
    fn a_large_handoff_does_not_make_it_slow() {
        let (long, text): (Vec<u32>, String) = ((0..2000).collect(), "x".repeat(1_000_000));
        let handoff = json!({ "l": long, "s": text });
        for heavy in [
            "handoff.l.all(x, handoff.s.size() > 0)",
            "handoff.l.map(x, handoff.s + 'a').size() > 0",
            "handoff.l.all(a, handoff.l.all(b, a == b))",
        ] {
            assert!(derive(heavy, &handoff).is_err(), "{heavy}");
        }
        let sums = format!("size({}) > 0", ["handoff.s"; 20].join("+"));
        assert!(derive(&sums, &handoff).is_err());
        for light in
            ["handoff.l.exists(x, x == 1999)", "handoff.s.size() == 1000000", "handoff.s.contains('y') == false"]
        {
            assert_eq!(derive(light, &handoff).as_deref(), Ok("true"), "{light}");
        }
        let many: Vec<u32> = (0..90_000).collect();
        assert_eq!(derive("handoff.l.exists(x, x == 89999)", &json!({ "l": many })).as_deref(), Ok("true"));
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
        assert!(derive("handoff.l.all(handoff, handoff.l.all(x, true))", &json!({ "l": [{ "l": [1] }] })).is_err());
        let long: Vec<u32> = (0..2000).collect();
        let nested = "handoff.l.all(a, handoff.l.all(b, a == b))";
        assert!(derive(nested, &json!({ "l": long })).unwrap_err().contains("too long"));
    }

    fn token() -> impl Strategy<Value = String> {
        prop_oneof![
            prop::sample::select(vec![
                "handoff",
                ".l",
                ".s",
                ".n",
                "[0]",
                "[",
                "]",
                "(",
                ")",
                "{",
                "}",
                "!",
                "-",
                "+",
                "*",
                "/",
                "%",
                "?",
                ":",
                "&&",
                "||",
                "==",
                "<",
                ">=",
                " in ",
                ",",
                "x",
                "1",
                "1u",
                "0.5",
                "9223372036854775807",
                "'a'",
                "b'a'",
                "true",
                "null",
                ".all(x,",
                ".exists(x,",
                ".map(x,",
                ".filter(x,",
                "has(",
                "size(",
                "string(",
                "int(",
                "uint(",
                "double(",
                "type(",
                ".startsWith(",
                ".contains(",
                "r'",
                "\"\"\"",
                "//",
                "\n",
            ])
            .prop_map(str::to_owned),
            "[ -~é]{0,6}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        /// Any expression is refused, fails, or gives the same value every time.
        #[test]
        fn any_expression_ends(tokens in prop::collection::vec(token(), 0..24), after in "[.a-z(), x1+!-]{0,60}") {
            let handoff = json!({ "l": [1, "a", -5, { "s": 1 }, []], "s": "text", "n": i64::MAX, "m": { "a": 1, "b": 2 } });
            let text = format!("{}{after}", tokens.concat());
            if let Ok(expression) = FactExpression::compile(&text) {
                prop_assert_eq!(expression.evaluate(&handoff), expression.evaluate(&handoff));
            }
        }
    }
}
