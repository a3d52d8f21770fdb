use serde_json::json;

use crate::harness::interlock;

#[test]
fn a_code_is_explained() {
    insta::assert_snapshot!(interlock(&["explain", "E0104"]));
    for same in ["e0104", "0104", "104", "E104"] {
        assert_eq!(interlock(&["explain", same]).stdout, interlock(&["explain", "E0104"]).stdout);
    }
}

#[test]
fn json_has_the_page_as_it_is_written() {
    let run = interlock(&["explain", "104", "--json"]);
    let page = include_str!("../../docs/errors/E0104.md");
    assert_eq!(run.exit, 0);
    assert_eq!(
        run.json(),
        json!({ "code": "E0104", "title": "the workflow language has no such key here", "text": page })
    );
}

#[test]
fn all_codes_are_listed() {
    let text = interlock(&["explain"]).stdout;
    assert!(text.starts_with("E0101  the workflow file is not well-formed YAML\nE0102  "), "{text}");
    let listed = interlock(&["explain", "--json"]).json();
    let codes = listed["codes"].as_array().unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with('E')).count(), codes.len());
    for code in codes {
        let run = interlock(&["explain", code["code"].as_str().unwrap()]);
        assert_eq!(run.exit, 0);
        assert!(run.stdout.starts_with(&format!("{}: {}\n\n", code["code"], code["title"]).replace('"', "")), "{code}");
    }
}

#[test]
fn an_unknown_code_gets_a_suggestion() {
    insta::assert_snapshot!(interlock(&["explain", "E0140"]));
    insta::assert_snapshot!(interlock(&["explain", "9999"]));
    insta::assert_snapshot!(interlock(&["explain", "loop"]));
    insta::assert_snapshot!(interlock(&["explain", "zebra"]));
    let error = &interlock(&["explain", "E0140", "--json"]).json()["error"];
    assert_eq!(error["code"], "E0403");
    assert_eq!(error["help"], "did you mean E0104 (the workflow language has no such key here)?");
}
