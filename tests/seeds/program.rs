//! `route` and `handoff check`, as scripts call them.

use std::fs;
use std::path::Path;
use std::thread;

use serde_json::{Value as Json, json};

use crate::harness::{Folder, Run, interlock};

/// An example of a document, as it stands there.
pub(crate) fn example(path: &str) -> Json {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/seeds").join(format!("{path}.json"));
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The same, with the fewest fields added that make it a handoff of this role.
pub(crate) fn completed_example(path: &str, role: &str) -> Json {
    completed(role, example(path))
}

/// A fragment with the fewest fields added that make it a handoff of this role.
pub(crate) fn completed(role: &str, fragment: Json) -> Json {
    let least = json!({
        "agent": role,
        "output_type": "report",
        "timestamp": "2026-01-14T14:30:22Z",
        "feature_directory": ".claude/.output/features/example",
        "skills_invoked": [],
        "handoff": { "next_agent": null, "context": "What the next one has to know." },
    });
    let blocked = fragment["status"].as_str().is_some_and(|status| status.eq_ignore_ascii_case("blocked"));
    let mut whole = merged(least, fragment);
    if blocked && whole.get("attempted").is_none() {
        whole["attempted"] = json!(["Looked for a way round it"]);
    }
    whole
}

/// `over` wins, key by key; an explicit null stays.
pub(crate) fn merged(mut base: Json, over: Json) -> Json {
    match (&mut base, over) {
        (Json::Object(base), Json::Object(over)) => {
            for (key, value) in over {
                let old = base.remove(&key).unwrap_or(Json::Null);
                base.insert(key, if value.is_object() { merged(old, value) } else { value });
            }
        }
        (base, over) => *base = over,
    }
    base
}

/// A handoff without one of its fields.
pub(crate) fn without(mut handoff: Json, path: &str) -> Json {
    let (parent, field) = path.rsplit_once('.').unwrap_or(("", path));
    let place = if parent.is_empty() { &mut handoff } else { &mut handoff[parent] };
    place.as_object_mut().expect("an object").remove(field).unwrap_or_else(|| panic!("there is no {path}"));
    handoff
}

/// What `route` answers, and with which exit code.
pub(crate) struct Routed(pub(crate) Run);

/// `route --json` with these words after it.
pub(crate) fn route(workflow: &str, role: &str, status: &str, more: &[&str]) -> Routed {
    let mut arguments = vec!["route", "--workflow", workflow, "--role", role, "--status", status, "--json"];
    arguments.extend_from_slice(more);
    Routed(interlock(&arguments))
}

pub(crate) fn route_blocked(workflow: &str, role: &str, reason: &str, context: &str) -> Routed {
    route(workflow, role, "blocked", &["--reason", reason, "--context", context])
}

impl Routed {
    pub(crate) fn json(&self) -> Json {
        assert_eq!(self.0.exit, 0, "{}", self.0);
        self.0.json()
    }

    /// The action, and the roles that come next.
    pub(crate) fn goes(&self, action: &str, roles: &[&str]) -> Json {
        let decision = self.json();
        assert_eq!(decision["action"], action, "{decision:#}");
        let next: Vec<&Json> = decision["next"].as_array().expect("a list").iter().map(|next| &next["role"]).collect();
        assert_eq!(next, roles, "{decision:#}");
        decision
    }

    /// A person is asked, and no role is started.
    pub(crate) fn asks(&self) -> Json {
        let decision = self.goes("ask", &[]);
        assert!(decision["question"]["text"].is_string(), "{decision:#}");
        decision
    }

    pub(crate) fn refused(&self, exit: i32, code: &str) -> Json {
        assert_eq!(self.0.exit, exit, "{}", self.0);
        let error = self.0.json()["error"].clone();
        assert_eq!(error["code"], code, "{error:#}");
        error
    }
}

/// What `handoff check` says of a file.
pub(crate) struct Checked(Run);

/// How a handoff is checked.
#[derive(Clone, Copy)]
pub(crate) struct For<'a> {
    pub(crate) workflow: &'a str,
    pub(crate) role: &'a str,
    pub(crate) phase: Option<&'a str>,
    pub(crate) context: Told<'a>,
}

/// How the program learns how the agent was started.
#[derive(Clone, Copy)]
pub(crate) enum Told<'a> {
    Context(&'a str),
    Prompt(&'a str),
}

pub(crate) fn orchestrated<'a>(workflow: &'a str, role: &'a str) -> For<'a> {
    For { workflow, role, phase: None, context: Told::Context("orchestrated") }
}

pub(crate) fn direct<'a>(workflow: &'a str, role: &'a str) -> For<'a> {
    For { context: Told::Context("direct"), ..orchestrated(workflow, role) }
}

/// The context is read from the prompt that the agent was given.
pub(crate) fn prompted<'a>(workflow: &'a str, role: &'a str, prompt: &'a str) -> For<'a> {
    For { context: Told::Prompt(prompt), ..orchestrated(workflow, role) }
}

impl<'a> For<'a> {
    pub(crate) fn phase(self, phase: &'a str) -> Self {
        Self { phase: Some(phase), ..self }
    }

    pub(crate) fn check(self, handoff: &Json) -> Checked {
        self.check_text(&handoff.to_string())
    }

    /// The whole output of an agent.
    pub(crate) fn check_text(self, output: &str) -> Checked {
        let test = thread::current().name().expect("tests have names").replace("::", "-");
        let mut folder = Folder::new(&format!("seeds-{test}")).with("output.md", output);
        let mut arguments = vec!["handoff", "check", "output.md", "--json", "--workflow", self.workflow];
        arguments.extend(["--role", self.role]);
        match self.context {
            Told::Context(context) => arguments.extend(["--context", context]),
            Told::Prompt(prompt) => {
                folder = folder.with("prompt.md", prompt);
                arguments.extend(["--prompt", "prompt.md"]);
            }
        }
        arguments.extend(self.phase.into_iter().flat_map(|phase| ["--phase", phase]));
        Checked(folder.interlock(&arguments))
    }
}

/// A workflow of the test's own: where it lies.
pub(crate) fn workflow_file(text: &str) -> String {
    let test = thread::current().name().expect("tests have names").replace("::", "-");
    let folder = format!("seeds-workflow-{test}");
    let _ = Folder::new(&folder).with("mine.yaml", text);
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder).join("mine.yaml").to_str().expect("UTF-8").to_owned()
}

impl Checked {
    fn json(&self, exit: i32) -> Json {
        assert_eq!(self.0.exit, exit, "{}", self.0);
        self.0.json()
    }

    pub(crate) fn valid(&self) -> Json {
        let checked = self.json(0);
        assert_eq!(checked["valid"], true, "{checked:#}");
        assert_eq!(checked["problems"], json!([]));
        checked
    }

    /// Not valid, for exactly this: the code, and the field that it is about.
    pub(crate) fn invalid(&self, code: &str, field: &str) -> Json {
        let checked = self.json(4);
        assert_eq!(checked["valid"], false);
        let problems = checked["problems"].as_array().expect("a list");
        let found: Vec<(&str, &str)> = problems
            .iter()
            .map(|problem| (text(&problem["code"]), problem["field"].as_str().unwrap_or_default()))
            .collect();
        assert_eq!(found, [(code, field)], "{checked:#}");
        assert!(problems[0]["message"].as_str().is_some_and(|message| !message.is_empty()));
        checked
    }

    /// Not valid, for exactly this code, at any field.
    pub(crate) fn invalid_with(&self, code: &str) {
        let checked = self.json(4);
        assert_eq!(checked["valid"], false);
        let codes: Vec<&Json> =
            checked["problems"].as_array().expect("a list").iter().map(|found| &found["code"]).collect();
        assert_eq!(codes, [code], "{checked:#}");
    }

    /// The result, whatever it is.
    pub(crate) fn any(&self) -> Json {
        self.0.json()
    }

    /// Valid, with a warning of this code.
    pub(crate) fn warned(&self, code: &str) -> Json {
        let checked = self.valid();
        assert!(has_code(&checked["warnings"], code), "{checked:#}");
        checked
    }

    /// Valid, and no warning of this code.
    pub(crate) fn not_warned(&self, code: &str) -> Json {
        let checked = self.valid();
        assert!(!has_code(&checked["warnings"], code), "{checked:#}");
        checked
    }
}

fn has_code(list: &Json, code: &str) -> bool {
    list.as_array().expect("a list").iter().any(|item| item["code"] == code)
}

fn text(value: &Json) -> &str {
    value.as_str().unwrap_or_default()
}
