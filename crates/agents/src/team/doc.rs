//! `agents.yaml`, as it is written.

use interlock_core::id::Name;
use interlock_core::record;
use interlock_core::workflow::Duration;
use interlock_core::workflow::record::{Decode, NameTable, PlacedValue, Problems, Schemas};
use interlock_core::yaml::{Node, Value};
use serde_json::{Value as Json, json};

record! {
    /// Who plays the roles of a workflow, and with what.
    struct TeamDoc {
        /// The agents: a client, set up in some way.
        agents: NameTable<AgentDoc>,
        /// Which agent plays a role; `any` is for roles that are not named.
        roles: NameTable<PartDoc>,
        /// How many agents are at work at once.
        parallel: Option<PlacedValue<u32>>,
        /// How often a handoff that cannot be taken is sent back to its agent.
        corrections: Option<PlacedValue<u32>>,
        /// How rate limits and network faults are waited out.
        retry: Option<RetryDoc>,
        /// What any agent is held to.
        limits: Option<LimitsDoc>,
        /// What may be spent before a person is asked.
        budget: Option<BudgetDoc>,
        /// `interlock` merges, or the author's `agent` does.
        merge: Option<PlacedValue<Name>>,
        /// What makes a fresh checkout ready: a list of commands, such as `[[npm, ci]]`, or more.
        prepare: Option<PrepareDoc>,
        /// How the commands of plans, gates and `prepare` are run.
        checks: Option<ChecksDoc>,
        /// Workspaces that are kept at the end: `never`, `failed` (the default) or `always`.
        keep: Option<PlacedValue<Name>>,
        /// How people hear that something waits for them.
        notify: Option<NotifyDoc>,
        /// Questions that answer themselves when nobody does.
        defaults: NameTable<DefaultDoc>,
        /// Where workspaces are made: outside of the project.
        folder: Option<PlacedValue<Name>>,
    }

    /// A client, set up in some way.
    struct AgentDoc {
        /// `claude`, `codex`, `gemini`, `acp`, `command` or `scripted`.
        client: PlacedValue<Name>,
        /// The program, where it does not have the client's usual name.
        program: Option<String>,
        /// The model to ask for.
        model: Option<String>,
        /// Flags that are added to the client's command line.
        flags: Vec<String>,
        /// Names of variables that the agent gets from the environment; `NAME_*` for all that begin so.
        env: Vec<String>,
        /// Variables with values of their own. Secrets belong in the environment.
        set: NameTable<String>,
        /// For `claude` and `codex`: the client holds its model to the schema of a handoff, where it takes that schema. The
        /// handoff is then what it says last.
        structured: Option<PlacedValue<bool>>,
        /// It may hand off with a `tool` of MCP, where the client can be given one (the default), or only by `file` and word.
        handoff: Option<PlacedValue<Name>>,
        /// For `command` and `acp`: the whole command line.
        command: Option<CommandLine>,
        /// For `scripted`: the file that says what it does.
        script: Option<PlacedValue<Name>>,
    }

    /// Which agent plays a role.
    struct PartDoc short(part_from_name) {
        /// The agent's name.
        agent: PlacedValue<Name>,
        /// Another model for this role.
        model: Option<String>,
        /// How long one attempt may take.
        deadline: Option<Duration>,
        /// What may be spent by this role, all its assignments together.
        budget: Option<AllowanceDoc>,
        /// What may be spent by this role in one assignment.
        each: Option<AllowanceDoc>,
        /// How many of the role are at work at once.
        parallel: Option<PlacedValue<u32>>,
    }

    /// How rate limits and network faults are waited out.
    struct RetryDoc {
        /// How often, before a person is asked.
        tries: Option<PlacedValue<u32>>,
        /// The first wait; each is twice the one before.
        first: Option<Duration>,
        /// The longest wait.
        longest: Option<Duration>,
    }

    /// What any agent is held to.
    struct LimitsDoc {
        /// How long one assignment may take.
        time: Option<Duration>,
        /// How long it may say nothing.
        silence: Option<Duration>,
        /// Megabytes that it may print.
        output: Option<PlacedValue<u32>>,
        /// Between being asked to end and being ended.
        grace: Option<Duration>,
    }

    /// What may be spent before a person is asked.
    struct BudgetDoc {
        /// By the whole session.
        session: Option<AllowanceDoc>,
        /// By one role, all its assignments together; `budget` of a role says otherwise for that one.
        role: Option<AllowanceDoc>,
        /// By one group.
        group: Option<AllowanceDoc>,
        /// By one assignment; `each` of a role says otherwise for that one.
        assignment: Option<AllowanceDoc>,
    }

    /// An amount.
    struct AllowanceDoc {
        /// US dollars.
        cost: Option<PlacedValue<Name>>,
        /// Tokens in and out.
        tokens: Option<PlacedValue<u32>>,
        /// Time that agents work.
        time: Option<Duration>,
    }

    /// What makes a fresh checkout ready.
    struct PrepareDoc short(prepare_from_list) {
        /// Commands, such as `[npm, ci]`.
        run: Vec<CommandLine>,
        /// Patterns of the files that the commands read. If nothing is said: lock files and manifests that are known.
        inputs: Vec<String>,
        /// Folders that the commands make, such as `node_modules`. They are kept for each content of the inputs, and copied
        /// into every clean checkout.
        keeps: Vec<PlacedValue<Name>>,
        /// Folders that the commands make faster the next time, such as `target`. They are kept from one run of the commands
        /// on a merged tree to the next; neither a check nor an agent's folder is their source.
        caches: Vec<PlacedValue<Name>>,
    }

    /// How the commands of plans, gates and `prepare` are run.
    struct ChecksDoc {
        /// Names of variables that they get from the environment beside the usual ones; `NAME_*` for all that begin so and
        /// do not look like a secret.
        env: Vec<String>,
        /// Whether a plan may bring commands; if nothing is said, it may.
        plan: Option<bool>,
    }

    /// How people hear that something waits for them.
    struct NotifyDoc {
        /// By the desktop's own messages.
        desktop: bool,
        /// By a command: the message is on its standard input, as JSON.
        command: Option<CommandLine>,
        /// By a POST of JSON to the address that this variable of the environment holds.
        webhook_env: Option<PlacedValue<Name>>,
    }

    /// The answer that a question gets when nobody gives one.
    struct DefaultDoc {
        /// After how long.
        after: Duration,
        /// The option to take.
        option: Option<PlacedValue<Name>>,
        /// Words, where the question takes them.
        text: Option<PlacedValue<Name>>,
    }
}

/// A program and its arguments. Nothing of it goes through a shell.
#[derive(Clone, Debug)]
pub(crate) struct CommandLine(pub(crate) Vec<String>);

impl Decode for CommandLine {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let words = Vec::<String>::decode(node, problems)?;
        if words.is_empty() || words.first().is_some_and(|word| word.trim().is_empty()) {
            interlock_core::workflow::record::wrong_type(
                node,
                "a program and its arguments",
                &Self::sample(),
                problems,
            );
            return None;
        }
        Some(Self(words))
    }

    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 })
    }

    fn sample() -> String {
        r#"["npm", "ci"]"#.to_owned()
    }
}

/// `prepare: [[npm, ci]]` stands for `prepare: { run: [[npm, ci]] }`.
fn prepare_from_list(node: &Node) -> Option<Node> {
    if !matches!(node.value, Value::List(_)) {
        return None;
    }
    let place = node.place.clone();
    let key = Node { place: place.clone(), value: Value::Scalar("run".into()) };
    Some(Node { place, value: Value::Map(vec![(key, node.clone())]) })
}

/// `developer: claude` stands for `developer: { agent: claude }`.
fn part_from_name(node: &Node) -> Option<Node> {
    if !matches!(node.value, Value::Scalar(_)) {
        return None;
    }
    let place = node.place.clone();
    let key = Node { place: place.clone(), value: Value::Scalar("agent".into()) };
    Some(Node { place, value: Value::Map(vec![(key, node.clone())]) })
}
