//! The file that says what a scripted agent does.

use interlock_core::code::Code;
use interlock_core::id::Name;
use interlock_core::problem::Problem;
use interlock_core::record;
use interlock_core::workflow::Duration;
use interlock_core::workflow::record::{Decode, PlacedValue, Problems, Schemas};
use interlock_core::yaml::{self, Node, Value};
use serde_json::{Map, Value as Json, json};

record! {
    /// What each role does.
    struct Script {
        /// The first that fits is played.
        steps: Vec<StepDoc>,
    }

    /// What one role does when it is called.
    struct StepDoc {
        /// The role; `any` is every role.
        role: Name,
        /// Only on this group; `session` outside of groups.
        group: Option<Name>,
        /// Only when the role is called for the n-th time there.
        attempt: Option<PlacedValue<u32>>,
        /// What it does, in this order.
        does: Vec<DeedDoc>,
        /// The fields of its handoff; what every handoff has is added.
        says: Option<PlacedValue<Document>>,
        /// It prints this instead of a handoff.
        prints: Option<String>,
    }

    /// One thing that it does.
    struct DeedDoc {
        /// Writes this file.
        write: Option<String>,
        /// Adds to this file.
        append: Option<String>,
        /// Removes this file.
        remove: Option<String>,
        /// What is written or added.
        text: Option<String>,
        /// Runs a program with its arguments; what it prints is printed.
        run: Vec<String>,
        /// It ends, as failed, unless the program ends like this: `pass` or `fail`.
        expect: Option<PlacedValue<Name>>,
        /// Waits.
        wait: Option<Duration>,
        /// Says something.
        say: Option<String>,
    }
}

/// Any document, as JSON.
#[derive(Clone, Debug)]
pub(crate) struct Document(pub(crate) Json);

impl Decode for Document {
    fn decode(node: &Node, _: &mut Problems) -> Option<Self> {
        Some(Self(json_of(node)))
    }

    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "object" })
    }
}

fn json_of(node: &Node) -> Json {
    match &node.value {
        Value::Null => Json::Null,
        Value::Scalar(text) => match &**text {
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            number if number.parse::<i64>().is_ok() => number.parse::<i64>().map_or(Json::Null, Json::from),
            text => Json::from(text),
        },
        Value::List(items) => items.iter().map(json_of).collect(),
        Value::Map(entries) => {
            let members =
                entries.iter().map(|(key, value)| (key.text().unwrap_or_default().to_owned(), json_of(value)));
            Json::Object(members.collect::<Map<_, _>>())
        }
    }
}

/// A script, or everything that is wrong with it.
pub(crate) fn read(file: &str, text: &str) -> Result<Script, Vec<Problem>> {
    let mut problems = Vec::new();
    let script = yaml::parse(file, text, &mut problems).and_then(|node| Script::decode(&node, &mut problems));
    for step in script.iter().flat_map(|script| &script.steps) {
        check(step, &mut problems);
    }
    match script {
        Some(script) if problems.is_empty() => Ok(script),
        _ => Err(problems),
    }
}

fn check(step: &StepDoc, problems: &mut Problems) {
    let mut wrong = |message: &str| {
        problems.push(Problem::new(Code::BadScript, message).at(step.place.clone()));
    };
    match (&step.says, &step.prints) {
        (Some(says), None) if !says.value.0.is_object() => wrong("`says` is a map: the fields of a handoff"),
        (Some(_), None) | (None, Some(_)) | (None, None) => {}
        (Some(_), Some(_)) => wrong("a step either `says` a handoff or `prints` something else"),
    }
    for deed in &step.does {
        let files = [&deed.write, &deed.append, &deed.remove].into_iter().flatten();
        let outside = |path: &&String| path.starts_with('/') || path.split('/').any(|part| part == "..");
        if files.clone().any(|path| outside(&path)) {
            wrong("a path stays inside the project");
        }
    }
}
