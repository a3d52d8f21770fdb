//! Real outputs of agents, case by case.

use proptest::prelude::*;
use serde_json::json;

use crate::code::Code;
use crate::handoff::extract::extract_in_parts;
use crate::handoff::{ExtractedHandoff, extract};
use crate::problem::Problem;

const GOOD: &str = r#"{ "agent": "developer", "status": "complete", "handoff": { "context": "x" } }"#;
const OTHER: &str = r#"{ "agent": "developer", "status": "blocked", "handoff": { "context": "y" } }"#;

fn found(output: &str) -> ExtractedHandoff {
    extract("out.md", output.as_bytes()).unwrap_or_else(|problems| panic!("{problems:#?}\nin\n{output}"))
}

fn status(output: &str) -> String {
    found(output).json["status"].as_str().unwrap().to_owned()
}

fn refused(output: &str) -> Vec<Problem> {
    match extract("out.md", output.as_bytes()) {
        Ok(extracted) => panic!("taken: {}", extracted.json),
        Err(problems) => problems,
    }
}

fn code(output: &str) -> Code {
    refused(output)[0].code
}

fn line_and_column(problem: &Problem) -> (u32, u32) {
    let place = problem.at.as_ref().unwrap();
    (place.line, place.column)
}

fn fenced(json: &str) -> String {
    format!("```json\n{json}\n```\n")
}

#[test]
fn every_form_of_a_block_is_found() {
    let forms = [
        fenced(GOOD),
        GOOD.to_owned(),
        format!("\u{feff}{GOOD}"),
        format!("\u{feff}# Report\n\n{}", fenced(GOOD)),
        format!("# Report\n\ndone\n\n{}", fenced(GOOD)),
        format!("done\n```JSON title=\"metadata\"\n{GOOD}\n```"),
        format!("done\n```\n{GOOD}\n```"),
        format!("done\n~~~json\n{GOOD}\n~~~\n"),
        format!("done\n````json\n{GOOD}\n````\n"),
        format!("- item\n\n  ```json\n  {GOOD}\n  ```\n"),
        format!("1. one\n   - two\n     ```json\n     {GOOD}\n     ```\n"),
        format!("> ```json\n> {GOOD}\n> ```\n"),
        format!("> - quoted\n>   ```json\n>   {GOOD}\n>   ```\n"),
        format!("<details>\n<summary>metadata</summary>\n```json\n{GOOD}\n```\n</details>\n"),
        format!("done, here it is:\n{GOOD}\n"),
        format!("done, here it is: {GOOD}"),
        format!("done:\n\n    {GOOD}\n"),
        format!("done\n```json\n{GOOD}"),
        format!("{}\nThat is all. Ask me {{anything}}.\n", fenced(GOOD)),
        format!("{GOOD}\nThat is all.\n"),
        format!("a\r\n\r\n```json\r\n{GOOD}\r\n```\r\n"),
        format!("a\r\r```json\r{GOOD}\r```\r"),
    ];
    for form in forms {
        assert_eq!(status(&form), "complete", "{form}");
    }
}

#[test]
fn the_last_one_counts_and_what_is_no_metadata_does_not() {
    let example = fenced(r#"{ "name": "an example", "status": "ok" }"#);
    let output = format!("{example}\n{}\nresponse of the server:\n{example}", fenced(GOOD));
    assert_eq!(status(&output), "complete");
    let output = format!("before I said\n{}\nbut then\n{}", fenced(OTHER), fenced(GOOD));
    let extracted = found(&output);
    assert_eq!(extracted.json["status"], "complete");
    let [warning] = extracted.warnings.as_slice() else { panic!("{:?}", extracted.warnings) };
    assert_eq!((warning.code, line_and_column(warning)), (Code::TwoHandoffs, (2, 1)));
}

#[test]
fn saying_the_same_twice_is_fine_and_two_things_at_once_is_not() {
    let same = r#"{"handoff":{"context":"x"},"status":"complete","agent":"developer"}"#;
    assert!(found(&format!("{}{}", fenced(GOOD), fenced(same))).warnings.is_empty());
    assert!(found(&format!("{}\nagain:\n\n{same}\n", fenced(GOOD))).warnings.is_empty());
    let problems = refused(&format!("text\n{}\n{}", fenced(OTHER), fenced(GOOD)));
    assert_eq!((problems[0].code, line_and_column(&problems[0])), (Code::TwoHandoffs, (6, 1)));
    // Another agent's metadata, quoted just before, is no contradiction.
    let quoted = fenced(&OTHER.replace("developer", "qa_expert"));
    assert_eq!(status(&format!("{quoted}\n{}", fenced(GOOD))), "complete");
}

#[test]
fn a_fence_inside_a_longer_one_is_an_example() {
    let example = format!("````markdown\n# How to\n{}````\n", fenced(OTHER));
    assert_eq!(status(&format!("{example}\n{}", fenced(GOOD))), "complete");
    assert_eq!(status(&format!("{}\n{example}", fenced(GOOD))), "complete", "also when it comes last");
    let tildes = format!("~~~\n{}~~~\n", fenced(OTHER));
    assert_eq!(status(&format!("{}\n{tildes}", fenced(GOOD))), "complete");
    // Models like to wrap all they say in a fence: then it is all there is.
    let extracted = found(&example);
    assert_eq!(extracted.json["status"], "blocked");
    assert_eq!(extracted.warnings[0].code, Code::NoHandoff);
    assert_eq!(line_and_column(&extracted.warnings[0]), (3, 1));
}

#[test]
fn a_forgotten_longer_fence_does_not_turn_the_rest_inside_out() {
    let muddle = format!("```markdown\nan example:\n{}```\nprose\n\n{}", fenced(OTHER), fenced(GOOD));
    assert_eq!(status(&muddle), "complete");
    let unnamed = format!("```markdown\nan example:\n{}```\nprose\n\n```\n{GOOD}\n```\n", fenced(OTHER));
    assert_eq!(status(&unnamed), "complete");
    let wrapped = format!("```markdown\n# Report\n\n{}\n```\n", fenced(GOOD));
    assert_eq!(status(&wrapped), "complete");
    let twice_begun = format!("```json\n{{ \"agent\": \"developer\",\n{}", fenced(GOOD));
    assert_eq!(status(&twice_begun), "complete");
    assert_eq!(status(&format!("{}{}", "```json\n".repeat(1000), fenced(GOOD))), "complete");
    let never_closed = format!("```\nsome log\n\n{}", fenced(GOOD));
    assert_eq!(status(&never_closed), "complete");
}

#[test]
fn a_broken_last_block_is_reported_not_passed_over() {
    let output = format!("{}\ntext\n\n```json\n{{ \"agent\": \"developer\", \"status\": \n```\n", fenced(GOOD));
    let problems = refused(&output);
    assert_eq!(problems[0].code, Code::HandoffSyntax);
    assert!(problems[0].help.as_ref().unwrap().contains("line 1"), "{:?}", problems[0].help);
    let bare = format!("{}\ntext\n\n{{\n  \"agent\": \"developer\"\n  \"status\": \"complete\"\n}}\n", fenced(OTHER));
    assert_eq!((code(&bare), line_and_column(&refused(&bare)[0])), (Code::HandoffSyntax, (8, 22)));
    // A snippet that was never JSON, before the real one, is none of our business.
    let snippet = "```json\n\"summary\": \"…\" // good\n```\n```json\n{ \"status\": ... }\n```\n";
    assert_eq!(status(&format!("{snippet}{}", fenced(GOOD))), "complete");
    assert_eq!(status(&format!("{}\n```js\n{{ status: agent, handoff: 1 }}\n```\n", fenced(GOOD))), "complete");
}

#[test]
fn slips_are_named_with_their_place_all_at_once() {
    let output = "# Report\n\n```json\n{\n  \"agent\": \"developer\", // me\n  \"status\": \"complete\",\n  \"handoff\": { \"context\": \"é\", },\n}\n```\n";
    let extracted = found(output);
    let said: Vec<_> =
        extracted.problems.iter().map(|problem| (problem.message.as_str(), line_and_column(problem))).collect();
    assert_eq!(
        said,
        [
            ("JSON has no comments", (5, 25)),
            ("nothing follows this comma", (7, 30)),
            ("nothing follows this comma", (7, 33))
        ]
    );
    assert_eq!(extracted.problems[1].help.as_deref(), Some("remove the comma"));
    assert_eq!(extracted.json["handoff"], json!({"context": "é"}), "and the rest is still read");
}

#[test]
fn a_key_said_twice_is_a_problem() {
    let output = r#"{ "agent": "developer", "status": "complete", "status": "blocked", "handoff": {} }"#;
    let extracted = found(output);
    let [problem] = extracted.problems.as_slice() else { panic!("{:?}", extracted.problems) };
    assert_eq!((problem.code, problem.field.as_deref()), (Code::DuplicateKey, Some("status")));
    assert_eq!(line_and_column(problem), (1, 47));
}

#[test]
fn nothing_to_find_is_said_as_what_it_is() {
    assert_eq!(code(""), Code::NoHandoff);
    assert_eq!(code("I am done. {nothing}\n"), Code::NoHandoff);
    assert_eq!(code(&fenced(r#"{ "name": 1 }"#)), Code::NoHandoff);
    assert_eq!(code(&fenced("[1, 2]")), Code::NotAnObject);
    assert_eq!(code("[1, 2]"), Code::NotAnObject);
    assert_eq!(code("\"done\""), Code::NotAnObject);
    assert_eq!(code("{ \"name\": tru }"), Code::HandoffSyntax);
    assert_eq!(code("{ \"agent\": \"developer\", \"status\": \"comp"), Code::HandoffSyntax);
    // One field is enough to be checked, so that what is missing can be named.
    assert_eq!(found(&fenced(r#"{ "status": "complete" }"#)).json["status"], "complete");
    assert_eq!(found("{}").json, json!({}).into());
}

#[test]
fn bytes_that_are_no_text_hurt_only_inside_the_block() {
    let mut output = b"a log\nwith \xff\xfe in it\n\n".to_vec();
    output.extend_from_slice(fenced(GOOD).as_bytes());
    let extracted = extract("out.md", &output).unwrap();
    assert_eq!((extracted.warnings[0].code, line_and_column(&extracted.warnings[0])), (Code::NotText, (2, 6)));
    let block = fenced(GOOD).replace("\"x\"", "\"\u{1}\"").into_bytes();
    let block: Vec<u8> = block.into_iter().map(|byte| if byte == 1 { 0xff } else { byte }).collect();
    let problems = extract("out.md", &[b"text\n".as_slice(), &block].concat()).unwrap_err();
    assert_eq!((problems[0].code, line_and_column(&problems[0])), (Code::NotText, (3, 72)));
    assert_eq!(extract("out.md", b"\xff\xfe{\0}\0").unwrap_err()[0].code, Code::NotText);
}

#[test]
fn size_and_depth_are_bounded() {
    let big = GOOD.replace("\"x\"", &format!("\"{}\"", "x".repeat(5 << 20)));
    assert_eq!(code(&big), Code::HandoffTooLarge);
    assert_eq!(code(&fenced(&big)), Code::HandoffTooLarge);
    assert_eq!(code(&format!("text\n\n{big}\n")), Code::HandoffTooLarge);
    let data = fenced(&format!("{{ \"rows\": \"{}\" }}", "x".repeat(5 << 20)));
    assert_eq!(status(&format!("{data}{}", fenced(GOOD))), "complete", "other large JSON does not matter");
    let deep = GOOD.replace("\"x\"", &format!("{}{}", "[".repeat(500), "]".repeat(500)));
    assert_eq!(code(&fenced(&deep)), Code::HandoffTooLarge);
    assert_eq!(code(&fenced(&GOOD.replace("\"x\"", "1e999"))), Code::HandoffSyntax);
}

#[test]
fn a_field_is_found_by_its_path() {
    let json = "{\n  \"agent\": \"developer\",\n  \"handoff\": {\n    \"blockers\": [\n      {},\n      { \"type\": 1, \"é\": 2, \"b\": [[3, 4]] }\n    ]\n  },\n  \"status\": 1\n}";
    let extracted = found(&format!("# Report\n\n> text\n\n{}", fenced(json)));
    let at = |path: &str| {
        let place = extracted.place(path);
        (place.line, place.column, place.length)
    };
    assert_eq!(at("agent"), (7, 12, 11));
    assert_eq!(at("handoff.blockers[1].type"), (11, 17, 1));
    assert_eq!(at("handoff.blockers[1].b[0][1]"), (11, 38, 1));
    assert_eq!(at("handoff.blockers"), (9, 5, 10));
    assert_eq!(at("handoff.blockers[1]"), (11, 7, 1));
    assert_eq!(at("handoff.context"), (8, 3, 9), "what is not there has the place of what it should be in");
    assert_eq!(at("timestamp"), (6, 1, 1));
    let quoted = found(&format!("> ```json\n> {}\n> ```\n", json.replace('\n', "\n> ")));
    assert_eq!((quoted.place("agent").line, quoted.place("agent").column), (3, 14));
}

/// Judged by how often a byte can be looked at, which shows as time only when it is not bounded:
/// each of these would take minutes or the stack if it were not linear.
#[test]
fn hostile_outputs_end() {
    let size = 60_000;
    let hostile: Vec<String> = [
        "`",
        "~",
        ">",
        "> ",
        "[",
        "{",
        "{\"",
        "{\"a\":",
        "{\"status\":",
        "- ",
        "* ",
        "1. ",
        "\t",
        "\r",
        "\n",
        "x\n",
        "x\n\n",
        "```\n",
        "```json\n",
        "~~~\n```\n",
        "> ```\n",
        "- ```\n",
        "-\n",
        "=\n",
        "{\n",
        "{\"status\":{\"agent\":\n",
        "{\"agent\":1,\"status\":2}\n",
        "{\"agent\":1,\"status\":2} ",
        "```\n{\"agent\":1,\"status\":2}\n```\n",
        "<",
        "<!--",
        "\\",
        "|a|\n",
        "![](",
        "[a]: b\n",
        "\u{0}",
        "é",
        "{ \n",
        "{//",
        "/*",
        "1",
        "# ",
        "---\n",
        "  - a\n\n",
        "{\"agent\":1,\n\"status\":\n",
    ]
    .iter()
    .map(|unit| unit.repeat(size / unit.len()))
    .collect();
    for text in &hostile {
        let _ = extract("out.md", text.as_bytes());
        let _ = extract("out.md", format!("{text}\n\n{}", fenced(GOOD)).as_bytes());
        let _ = extract("out.md", format!("{}\n\n{text}", fenced(GOOD)).as_bytes());
    }
    let nested: String = (0..500).map(|depth| format!("{}- a\n", " ".repeat(depth))).collect();
    let _ = extract("out.md", format!("{nested}{}", "\n".repeat(size)).as_bytes());
}

fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z {}\\[\\]\":,/#'`~>\\n-]{0,12}",
        Just("\n".to_owned()),
        Just("```json\n".to_owned()),
        Just("\n```\n".to_owned()),
        Just("\n````\n".to_owned()),
        Just("\n~~~\n".to_owned()),
        Just("> ".to_owned()),
        Just("- ".to_owned()),
        Just(GOOD.to_owned()),
        Just(OTHER.replace(' ', "\n")),
        Just("{ \"agent\": ".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn whatever_comes_before_a_clear_end_does_not_matter(tokens in prop::collection::vec(token(), 0..20)) {
        // A fence of its own kind that no line before can have opened or be longer than.
        let output = format!("{}\n\nThis is what I hand off:\n\n{}", tokens.concat().replace(['`', '~'], ""), fenced(GOOD));
        prop_assert_eq!(status(&output), "complete");
    }

    #[test]
    fn places_are_inside_the_output(tokens in prop::collection::vec(token(), 0..20), part in 8..200_usize) {
        let output = tokens.concat();
        let lines = output.split(['\n', '\r']).count().max(1);
        let problems = match extract_in_parts("out.md", output.as_bytes(), part) {
            Ok(extracted) => [extracted.problems, extracted.warnings].concat(),
            Err(problems) => problems,
        };
        for problem in problems {
            let place = problem.at.unwrap();
            prop_assert!(place.line >= 1 && place.line as usize <= lines, "{:?} of {}", place, lines);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = extract("out.md", &bytes);
    }
}
