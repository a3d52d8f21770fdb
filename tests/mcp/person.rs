//! Only a person answers for a person.

use serde_json::{Value as Json, json};

use crate::client::{Client, NEWEST};
use crate::team::Team;

/// A session that waits for a person.
pub(crate) fn asked(client: &mut Client) -> (String, String) {
    let started = client.call("start_session", json!({ "title": "Add login" }));
    let session = started["session"].as_str().unwrap().to_owned();
    let questions = json!([{ "text": "By mail or by name?", "options": ["mail", "name"] }]);
    let unclear =
        client.plays(&session, "project_manager", None, "NEEDS_CLARIFICATION", json!({ "questions": questions }));
    assert_eq!(unclear["action"], "ask");
    assert!(unclear["do_next"].as_str().unwrap().contains("ask_person"), "{unclear}");
    let question = unclear["question"]["question"].as_str().unwrap().to_owned();
    (session, question)
}

fn answers(team: &Team, session: &str) -> Vec<Json> {
    let log = team.log(session);
    log.into_iter().filter(|event| event["kind"] == "answered").map(|event| event["data"]["cause"].clone()).collect()
}

#[test]
fn a_person_answers_by_way_of_the_client() {
    for version in ["2025-06-18", "2025-11-25", NEWEST] {
        let team = Team::new(&format!("mcp_a_person_answers_{version}"));
        let says = json!({ "action": "accept", "content": { "answer": "mail" } });
        let mut client = Client::with_person(&team, version, says);
        let (session, question) = asked(&mut client);
        let told = client.call("ask_person", json!({ "question": question }));
        assert_eq!((&told["answered"], &told["by"]), (&json!(true), &json!("ann by way of a-test")), "{told}");
        assert_eq!(told["next"][0]["role"], "project_manager");
        let form = &client.forms[0];
        assert!(form["message"].as_str().unwrap().contains("By mail or by name?"), "{form}");
        assert_eq!(form["requestedSchema"]["properties"]["answer"]["enum"], json!(["mail", "name"]), "{form}");
        let recorded = answers(&team, &session);
        assert_eq!(recorded.len(), 1, "{version}");
        assert!(recorded[0].to_string().contains("ann by way of a-test"), "{recorded:?}");
        let nothing = client.call("ask_person", json!({ "session": session }));
        assert_eq!(nothing["answered"], false, "it is answered once");
    }
}

/// The plan is reported and approved by way of the client: it starts as it was reported.
#[test]
fn plan_approved_by_way_of_the_client_starts_its_groups() {
    let team = Team::new("mcp_plan_approved");
    let says = json!({ "action": "accept", "content": { "answer": "approve" } });
    let mut client = Client::with_person(&team, NEWEST, says);
    let started = team.ask(&["session", "start", "--title", "Add login", "--workflow", "feature"]).done();
    let session = started["session"].as_str().unwrap().to_owned();
    let groups = json!([{ "id": "api", "title": "The API", "domain": "backend", "description": "Answers in JSON." }]);
    client.plays(&session, "planner", None, "needs_review", json!({ "groups": groups }));
    let told = client.call("ask_person", json!({ "session": session }));
    assert_eq!(told["answered"], true, "{told}");
    let form = client.forms[0]["message"].as_str().unwrap();
    assert!(form.contains("planned group api: The API") && form.contains("approve -> plans group api"), "{form}");
    let next = client.call("whats_next", json!({ "session": session }));
    let given = &next["assignments"][0];
    assert_eq!((&given["role"], &given["group"]), (&json!("backend-lead"), &json!("api")), "{next}");
    let claimed = client.call("claim_assignment", json!({ "assignment": given["assignment"] }));
    assert!(claimed["prompt"].as_str().unwrap().contains("Answers in JSON."), "{claimed}");
}

#[test]
fn a_person_who_does_not_answer_has_not_answered() {
    for (version, action) in [("2025-11-25", "decline"), ("2025-11-25", "cancel"), (NEWEST, "decline")] {
        let team = Team::new(&format!("mcp_not_answered_{version}_{action}"));
        let mut client = Client::with_person(&team, version, json!({ "action": action }));
        let (session, question) = asked(&mut client);
        let told = client.call("ask_person", json!({}));
        assert_eq!((&told["answered"], &told["asked"]), (&json!(false), &json!(question)));
        assert_eq!(answers(&team, &session), Vec::<Json>::new());
    }
}

#[test]
fn without_a_form_the_question_waits() {
    let team = Team::new("mcp_without_a_form_the_question_waits");
    let mut client = Client::new(&team, "2025-11-25");
    let (session, question) = asked(&mut client);
    let told = client.call("ask_person", json!({}));
    assert_eq!(told["answered"], false);
    assert_eq!(told["how"], format!("interlock answer {question} --option NAME"));
    assert_eq!(told["questions"][0]["options"], json!(["mail", "name"]));
    team.ask(&["answer", &question, "--option", "mail"]).done();
    let next = client.call("whats_next", json!({ "session": session }));
    assert_eq!(next["assignments"][0]["role"], "project_manager");
}

/// No input of a model to a call comes out as an answer.
#[test]
fn no_call_answers_for_a_person() {
    for version in ["2025-11-25", NEWEST] {
        let team = Team::new(&format!("mcp_no_call_answers_{version}"));
        let mut client = Client::new(&team, version);
        let (session, question) = asked(&mut client);
        for more in [
            json!({ "answer": "mail" }),
            json!({ "option": "mail" }),
            json!({ "text": "mail" }),
            json!({ "as": "ann" }),
        ] {
            let mut arguments = more;
            arguments["question"] = json!(question);
            let refusal = client.refused("ask_person", arguments);
            assert!(refusal["help"].as_str().unwrap().contains("only a person"), "{refusal}");
        }
        // The part of the protocol that a client fills, without having been asked.
        let filled = json!({ "answer": { "action": "accept", "content": { "answer": "mail" } } });
        for state in [json!("guessed"), json!("")] {
            let params = json!({
                "name": "ask_person", "arguments": { "question": question },
                "inputResponses": filled, "requestState": state,
            });
            let result = client.request("tools/call", params);
            assert_eq!(result["isError"], true, "{result}");
        }
        let params = json!({ "name": "ask_person", "arguments": { "question": question }, "inputResponses": filled });
        let result = client.request("tools/call", params);
        assert_eq!(result["structuredContent"]["answered"], false, "{result}");
        assert_eq!(answers(&team, &session), Vec::<Json>::new());
    }
}

/// An answer takes the operator key: a server that was started without it can ask, and cannot record.
#[test]
fn an_answer_takes_the_operator_key() {
    let team = Team::new("mcp_an_answer_takes_the_operator_key");
    let mut first = Client::new(&team, "2025-11-25");
    let (session, question) = asked(&mut first);
    let mut command = team.command(&["mcp"]);
    command.env("INTERLOCK_KEY_FILE", team.file("no.key", ""));
    let says = json!({ "action": "accept", "content": { "answer": "mail" } });
    let mut client = Client::start(command, "2025-11-25", Some(says));
    let refusal = client.refused("ask_person", json!({ "question": question }));
    assert!(refusal["message"].as_str().unwrap().contains("operator key"), "{refusal}");
    assert_eq!(answers(&team, &session), Vec::<Json>::new());
}

/// What a person has declined is not answered afterwards with the same form.
#[test]
fn a_form_comes_back_once() {
    let team = Team::new("mcp_a_form_comes_back_once");
    let mut client = Client::with_person(&team, NEWEST, json!({ "action": "decline" }));
    let (session, question) = asked(&mut client);
    let mut params = json!({ "name": "ask_person", "arguments": { "question": question } });
    let form = client.request("tools/call", params.clone());
    assert_eq!(form["resultType"], "input_required", "{form}");
    params["requestState"] = form["requestState"].clone();
    params["inputResponses"] = json!({ "answer": { "action": "decline" } });
    let declined = client.request("tools/call", params.clone());
    assert_eq!(declined["structuredContent"]["answered"], false, "{declined}");
    params["inputResponses"] = json!({ "answer": { "action": "accept", "content": { "answer": "mail" } } });
    let again = client.request("tools/call", params);
    assert_eq!(again["isError"], true, "{again}");
    assert_eq!(answers(&team, &session), Vec::<Json>::new());
}
