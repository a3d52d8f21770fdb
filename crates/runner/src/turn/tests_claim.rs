//! Whether a handoff claims that tests pass, in any spelling. Only clear claims count: ambiguous words are no
//! accusation.

use serde_json::{Map, Value as Json};

/// How deep a claim is looked for.
const DEPTH: u8 = 3;
const CLAIMS: &[&str] =
    &["testspassed", "testspassing", "testspass", "alltestspassed", "alltestspassing", "alltestspass"];
/// Fields whose content is about tests.
const RESULTS: &[&str] = &["tests", "testresult", "testresults", "teststatus", "testing", "testsuite"];
/// Fields that hold an outcome, where the content is about tests.
const OUTCOMES: &[&str] =
    &["passed", "passing", "pass", "allpassed", "allpassing", "allpass", "success", "status", "result", "outcome"];
/// Fields in which an agent describes its own work.
pub(super) const PLACES: &[&str] =
    &["verification", "validation", "devoutput", "qareport", "handoff", "summary", "results", "evidence", "output"];
const YES: &[&str] = &[
    "true",
    "yes",
    "all",
    "ok",
    "green",
    "success",
    "pass",
    "passed",
    "passing",
    "allpass",
    "allpassed",
    "allpassing",
];
const FAILURES: &[&str] =
    &["failed", "failing", "failures", "testsfailed", "testsfailing", "failedtests", "failingtests"];
const TOTALS: &[&str] = &["total", "totaltests", "teststotal"];

pub(super) fn claims_tests(json: &Json) -> bool {
    json.as_object().is_some_and(|said| claims(said, false, DEPTH))
}

fn claims(said: &Map<String, Json>, about_tests: bool, depth: u8) -> bool {
    said.iter().any(|(key, value)| {
        let key = plain(key);
        let is = |words: &[&str]| words.contains(&key.as_str());
        if is(CLAIMS) || about_tests && is(OUTCOMES) {
            return is_yes(value, said);
        }
        match value {
            Json::Object(within) if depth > 1 && (is(RESULTS) || is(PLACES)) => {
                claims(within, about_tests || is(RESULTS), depth - 1)
            }
            Json::String(_) => is(RESULTS) && is_yes(value, said),
            _ => false,
        }
    })
}

/// Whether a value claims success. Reported failures beside it contradict that.
fn is_yes(value: &Json, beside: &Map<String, Json>) -> bool {
    let failures = count(beside, FAILURES);
    if failures.is_some_and(|failures| failures > 0) {
        return false;
    }
    match value {
        Json::Bool(yes) => *yes,
        Json::String(word) => YES.contains(&plain(word).as_str()),
        // So many have passed: all of them?
        Json::Number(passed) => {
            let passed = passed.as_u64().filter(|passed| *passed > 0);
            passed.is_some() && (failures == Some(0) || passed == count(beside, TOTALS))
        }
        Json::Null | Json::Array(_) | Json::Object(_) => false,
    }
}

fn count(said: &Map<String, Json>, names: &[&str]) -> Option<u64> {
    let found = said.iter().filter(|(key, _)| names.contains(&plain(key).as_str()));
    let counts = found.filter_map(|(_, value)| match value {
        Json::Number(number) => number.as_u64(),
        Json::Array(list) => u64::try_from(list.len()).ok(),
        Json::Null | Json::Bool(_) | Json::String(_) | Json::Object(_) => None,
    });
    counts.max()
}

/// `testsPassed`, `Tests_Passed` and `tests-passed` are one word.
pub(super) fn plain(word: &str) -> String {
    word.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::claims_tests;

    #[test]
    fn whoever_claims_that_tests_pass_is_understood() {
        for said in [
            json!({ "tests_passed": true }),
            json!({ "tests_passed": "true" }),
            json!({ "testsPassed": true }),
            json!({ "Tests_Passed": "Yes" }),
            json!({ "all_tests_passing": true }),
            json!({ "tests": "all pass" }),
            json!({ "tests": { "status": "passed" } }),
            json!({ "tests_passed": 12, "tests_failed": 0 }),
            json!({ "test_results": { "passed": true } }),
            json!({ "test_results": { "passed": 12, "failed": [] } }),
            json!({ "test_results": { "passed": 12, "total": 12 } }),
            json!({ "test_results": { "summary": { "passed": 3, "failed": 0 } } }),
            json!({ "dev_output": { "tests_passed": true } }),
            json!({ "dev_output": { "test_results": { "passed": true } } }),
            json!({ "handoff": { "next_agent": null, "context": "x", "tests_passed": true } }),
            json!({ "validation": { "tests_passed": true } }),
            json!({ "verification": { "tests-pass": true } }),
        ] {
            assert!(claims_tests(&said), "{said}");
        }
    }

    #[test]
    fn whoever_claims_nothing_clear_is_not_accused() {
        for said in [
            json!({ "status": "PASS", "summary": "tests_passed: true" }),
            json!({ "tests_passed": false }),
            json!({ "tests_passed": null }),
            json!({ "tests_passed": 12 }),
            json!({ "tests_passed": 0, "tests_failed": 0 }),
            json!({ "tests_passed": true, "tests_failed": 2 }),
            json!({ "test_results": { "passed": 12, "failed": 1 } }),
            json!({ "test_results": { "passed": 11, "total": 12 } }),
            json!({ "test_results": { "passed": true, "failures": ["login"] } }),
            json!({ "tests": "see below" }),
            json!({ "tests": ["passed"] }),
            json!({ "summary": { "status": "passed" } }),
            json!({ "groups": [{ "tests_passed": true }] }),
            json!({ "plan": { "tests_passed": true } }),
            json!(["tests_passed"]),
        ] {
            assert!(!claims_tests(&said), "{said}");
        }
    }
}
