//! Statements about failing tests, wherever a report makes them.
//!
//! Agents state failing tests in many fields, and not only in `test_progression`. A report that states them in any of
//! these fields is not one whose tests pass.

use serde_json::Value as Json;

use crate::id::Name;

/// Objects that hold results of tests. The empty path is the handoff itself.
const HOLDERS: [&str; 7] =
    ["", "test_results", "tests", "test_summary", "test_progression", "verification", "handoff.test_results"];

/// Counts or lists of failing tests, where their holder says that it is about tests.
const FAILED: [&str; 3] = ["failed", "failing", "failures"];

/// Counts or lists of failing tests, anywhere.
const TESTS_FAILED: [&str; 4] = ["failing_tests", "failed_tests", "tests_failed", "tests_failing"];

/// True where every test passes.
const TESTS_PASSED: [&str; 4] = ["tests_passed", "tests_pass", "tests_passing", "all_tests_pass"];

/// As many tests as a statement keeps.
const MOST_NAMED: usize = 1000;

/// The tests that fail by fields other than `test_progression.still_failing`: their names, or the field and its value.
pub(super) fn failures_stated<'a>(get: impl Fn(&str) -> Option<&'a Json>) -> Vec<Name> {
    fields()
        .filter_map(|(path, kind)| Some(failures_of(&path, kind, get(&path)?)))
        .find(|tests| !tests.is_empty())
        .unwrap_or_default()
}

/// A field other than `test_progression.still_failing` says that no test fails, and none says otherwise.
pub(super) fn passes_stated<'a>(get: impl Fn(&str) -> Option<&'a Json>) -> bool {
    let mut stated = false;
    for (path, kind) in fields() {
        let Some(value) = get(&path) else { continue };
        if !failures_of(&path, kind, value).is_empty() {
            return false;
        }
        stated |= match (kind, value) {
            (StatedTestOutcome::Passed, Json::Bool(true)) => true,
            (StatedTestOutcome::Failed, Json::Number(_) | Json::Array(_)) => true,
            (StatedTestOutcome::Passed | StatedTestOutcome::Failed, _) => false,
        };
    }
    stated
}

#[derive(Clone, Copy)]
enum StatedTestOutcome {
    Failed,
    Passed,
}

fn fields() -> impl Iterator<Item = (String, StatedTestOutcome)> {
    HOLDERS.into_iter().flat_map(|holder| {
        let about_tests = FAILED.into_iter().filter(move |_| !matches!(holder, "" | "verification"));
        let failed = about_tests.chain(TESTS_FAILED).map(|name| (name, StatedTestOutcome::Failed));
        let all = failed.chain(TESTS_PASSED.map(|name| (name, StatedTestOutcome::Passed)));
        all.map(move |(name, kind)| {
            (if holder.is_empty() { name.to_owned() } else { format!("{holder}.{name}") }, kind)
        })
    })
}

fn failures_of(path: &str, kind: StatedTestOutcome, value: &Json) -> Vec<Name> {
    match (kind, value) {
        (StatedTestOutcome::Failed, Json::Number(number)) if number.as_f64().is_some_and(|number| number > 0.0) => {
            vec![Name::from(format!("`{path}` is {number}"))]
        }
        (StatedTestOutcome::Failed, Json::Array(items)) => {
            let name = |item: &Json| Name::from(item.as_str().map_or_else(|| item.to_string(), ToOwned::to_owned));
            items.iter().take(MOST_NAMED).map(name).collect()
        }
        (StatedTestOutcome::Passed, Json::Bool(false)) => vec![Name::from(format!("`{path}` is false"))],
        (StatedTestOutcome::Failed | StatedTestOutcome::Passed, _) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stated(handoff: &Json) -> (Vec<String>, bool) {
        let get = |path: &str| path.split('.').try_fold(handoff, |value, key| value.get(key));
        let failing = failures_stated(get).iter().map(ToString::to_string).collect();
        (failing, passes_stated(get))
    }

    #[test]
    fn failing_tests_are_read_wherever_they_are_stated() {
        let cases = [
            (json!({ "test_results": { "passed": 1, "failed": 3 } }), "`test_results.failed` is 3"),
            (json!({ "tests_failed": 2 }), "`tests_failed` is 2"),
            (json!({ "tests_passed": false }), "`tests_passed` is false"),
            (json!({ "verification": { "tests_passed": false } }), "`verification.tests_passed` is false"),
            (json!({ "failing_tests": ["a"] }), "a"),
            (json!({ "tests_passed": true, "test_results": { "failed": 1 } }), "`test_results.failed` is 1"),
        ];
        for (handoff, test) in cases {
            assert_eq!(stated(&handoff), (vec![test.to_owned()], false), "{handoff}");
        }
    }

    #[test]
    fn tests_pass_only_where_a_field_says_so() {
        assert_eq!(stated(&json!({ "test_results": { "failed": 0 } })), (vec![], true));
        assert_eq!(stated(&json!({ "verification": { "tests_passed": true } })), (vec![], true));
        // `failed` alone may be about anything.
        assert_eq!(stated(&json!({ "failed": 3, "summary": "done" })), (vec![], false));
    }
}
