//! Examples in a workflow file, checked when it is loaded.

use crate::code::Code;
use crate::decision::{Decision, DecisionAction, WaitsFor};
use crate::id::Name;
use crate::problem::Problem;
use crate::route::{RouteError, RouteQuery, RouteSource, route};
use crate::workflow::doc::ExampleDoc;
use crate::workflow::model::Workflow;

pub(crate) fn check(workflow: &Workflow, examples: &[ExampleDoc], problems: &mut Vec<Problem>) {
    for example in examples {
        if let Err(problem) = one(workflow, example) {
            problems.push(problem.at(example.place.clone()));
        }
    }
}

fn one(workflow: &Workflow, example: &ExampleDoc) -> Result<(), Problem> {
    let query = query(example)?;
    let mut expected = example.expect.iter();
    let (Some((verb, _, objects)), None) = (expected.next(), expected.next()) else {
        return Err(Problem::new(Code::WrongExample, "`expect` has exactly one action"));
    };
    let objects: Vec<&str> = objects.iter().map(|object| object.value.as_str()).collect();
    let (came, what) = match route(workflow, &query) {
        Ok(decision) => {
            let what = object_of(workflow, &decision);
            (decision.action.name().to_owned(), what)
        }
        Err(RouteError::Workflow(rejection)) => ("refuse".to_owned(), vec![word_of(rejection.code)]),
        Err(RouteError::Query(found)) => {
            let texts: Vec<&str> = found.iter().map(|problem| problem.message.as_str()).collect();
            let help = found.iter().find_map(|problem| problem.help.clone());
            let problem = Problem::new(Code::WrongExample, "");
            return Err(Problem { message: texts.join("; "), ..problem }.maybe_help(help));
        }
    };
    let gate = came == "gate" && *verb == "validate";
    if (came == verb.as_str() || gate) && objects == what.iter().map(String::as_str).collect::<Vec<_>>() {
        return Ok(());
    }
    let message = format!(
        "this says {{ {verb}: {} }}, and the workflow says {{ {came}: {} }}",
        objects.join(", "),
        what.join(", ")
    );
    Err(Problem::new(Code::WrongExample, message))
}

fn query(example: &ExampleDoc) -> Result<RouteQuery, Problem> {
    let missing = |what: &str| Problem::new(Code::WrongExample, format!("the example needs {what}"));
    let word = |at: &crate::workflow::record::PlacedValue<Name>| at.value.clone();
    let (source, status) = match (&example.role, &example.gate, &example.question) {
        (Some(role), None, None) => (RouteSource::Role(word(role)), &example.status),
        (None, Some(gate), None) => (RouteSource::Gate(word(gate)), &example.status),
        (None, None, Some(question)) => (RouteSource::Question(word(question)), &example.option),
        _ => return Err(missing("one of `role`, `gate` and `question`")),
    };
    Ok(RouteQuery {
        source,
        status: status.as_ref().map(word).ok_or_else(|| missing("a `status`, or an `option` of the question"))?,
        reason: None,
        phase: example.phase.as_ref().map(word),
        given: example.given.iter().map(|(name, _, value)| (name.clone(), value.value.clone())).collect(),
        scope: None,
        undeclared_roles: true,
    })
}

/// The subject of an action, in the words of `expect`.
fn object_of(workflow: &Workflow, decision: &Decision) -> Vec<String> {
    match decision.action {
        DecisionAction::Spawn | DecisionAction::Respawn | DecisionAction::Return | DecisionAction::Merge => {
            decision.next.iter().map(|next| next.role.to_string()).collect()
        }
        DecisionAction::Batch => {
            let mut roles: Vec<String> = decision.next.iter().map(|next| next.role.to_string()).collect();
            roles.dedup();
            roles
        }
        DecisionAction::Gate => decision.gate.iter().map(|run| run.gate.to_string()).collect(),
        DecisionAction::Ask => decision.question.iter().map(|put| put.name.to_string()).collect(),
        DecisionAction::Validate => {
            let validators = workflow.roles.iter().filter(|role| role.by_interlock);
            validators.map(|role| role.name.to_string()).collect()
        }
        DecisionAction::End => vec!["session".to_owned()],
        DecisionAction::Wait => match decision.waits_for {
            Some(WaitsFor::Phase) => vec!["phase".to_owned()],
            Some(WaitsFor::Groups) | None => vec!["groups".to_owned()],
        },
    }
}

/// Refusals have words in examples, so that they can be read.
fn word_of(code: Code) -> String {
    if code == Code::NotNow {
        "not_now".to_owned()
    } else if code == Code::NoSuchStatus {
        "unknown_status".to_owned()
    } else {
        code.number().to_owned()
    }
}
