//! The workflow document as it is written, before it is given a meaning.

use serde_json::{Value as Json, json};

use crate::code::Code;
use crate::id::Name;
use crate::problem::Problem;
use crate::workflow::duration::Duration;
use crate::workflow::record::{Decode, NameTable, PlacedValue, Problems, Schemas, record, wrong_type};
use crate::yaml::{Node, Value};

/// A value in `when`, `settings`, `flags` and `facts`: compared as text.
pub(crate) type Literal = PlacedValue<Name>;

/// The target of a verb. An entry has one of its many verbs: the others take little room.
type Verb = Option<Box<PlacedValue<Name>>>;

record! {
    /// A workflow: the declared rules by which a team of agents works.
    struct WorkflowDoc like("{ workflow: NAME, language: 1 }") {
        /// The name of the workflow.
        workflow: PlacedValue<Name>,
        /// The version of this language: 1.
        language: PlacedValue<u32>,
        /// One sentence that says what the workflow is for.
        about: Option<String>,
        /// The workflow that this one is merged over.
        _extends = "extends": Option<PlacedValue<Name>>,
        /// May be extended, not run.
        is_abstract = "abstract": bool,
        /// Names with finite values, fixed when a session starts. The first value is the default.
        settings: NameTable<Vec<Literal>>,
        /// Fields of the handoff being decided, with their finite values.
        facts: NameTable<FactDoc>,
        /// Who can be assigned.
        roles: NameTable<RoleDoc>,
        /// Patterns that read a domain from the name of a role.
        domains: NameTable<Vec<PlacedValue<Name>>>,
        /// What follows a report, by role (or class, or `any`) and status.
        routes: NameTable<NameTable<Entries>>,
        /// What follows a report on a merge task.
        merge: NameTable<Entries>,
        /// Who helps when an agent is blocked.
        blocked: Option<BlockedDoc>,
        /// What follows a status that the role does not have.
        unknown_status: Option<EntryDoc>,
        /// When each status is reported, by role (or class, or `any`) and status: prompts and tools show it.
        statuses: NameTable<NameTable<StatusDoc>>,
        /// Other names of statuses.
        aliases: NameTable<Vec<PlacedValue<Name>>>,
        /// Roles that stand in for others, applied in order.
        overrides: Vec<OverrideDoc>,
        /// Counters, limits and progress.
        loops: NameTable<LoopDoc>,
        /// The stages that work passes, in order.
        phases: Vec<PhaseDoc>,
        /// Where a person is asked before work goes on.
        checkpoints: Vec<CheckpointDoc>,
        /// Commands that Interlock runs itself.
        gates: NameTable<GateDoc>,
        /// The first assignment of a session without phases.
        begin: Vec<EntryDoc>,
        /// The units of work that run side by side.
        groups: Option<GroupsDoc>,
        /// What people are asked.
        questions: NameTable<QuestionDoc>,
        /// The evidence that completion needs.
        completion: Option<CompletionDoc>,
        /// Paths that judge or configure the work, such as `.github/workflows/**`. Only roles that own them may change them.
        protected: Vec<PlacedValue<Name>>,
        /// Paths of tests. Changed and deleted ones are pointed out to reviewers.
        test_files: Vec<PlacedValue<Name>>,
        /// Whoever drives the session inside a client, and is no role.
        orchestrator: Option<OrchestratorDoc>,
        /// What every handoff must have.
        handoff: Option<HandoffDoc>,
        /// Decisions that must come out as written; checked when the file is loaded.
        examples: Vec<ExampleDoc>,
    }

    /// A fact: its values, and the CEL expression that derives it where it is not a plain field.
    struct FactDoc short(fact_from_list) like("[VALUE, VALUE]") {
        /// The values, the default first.
        values: Vec<Literal>,
        /// A CEL expression over `handoff` that yields one of the values.
        cel: Option<PlacedValue<Name>>,
    }

    /// A role.
    struct RoleDoc like("{ is: author, escalates_to: ROLE }") {
        /// What the role does, for whoever plays it: a few sentences in its prompt. `{domain}` is filled in.
        about: Option<String>,
        /// Classes of the role; `author` is known to the language.
        is: Vec<PlacedValue<Name>>,
        /// The role that stuck work of this role escalates to; a person if absent.
        escalates_to: Option<PlacedValue<Name>>,
        /// The domain, where the name does not tell it.
        domain: Option<PlacedValue<Name>>,
        /// How many assignments of this role may be open at once.
        at_most: Option<PlacedValue<u32>>,
        /// Skills that this role must invoke.
        skills: Vec<PlacedValue<Name>>,
        /// The model to use; for the adapter.
        model: Option<Name>,
        /// How long an assignment may take, such as `30m`; for the adapter.
        deadline: Option<Duration>,
        /// What the role may change in the files of its group: `all`, `none`, or patterns such as `tests/**`.
        writes: Vec<PlacedValue<Name>>,
        /// Protected paths that the role may change all the same, such as `.github/workflows/**`.
        owns: Vec<PlacedValue<Name>>,
        /// `interlock`: a role that Interlock plays itself.
        by: Option<PlacedValue<Name>>,
    }

    /// When a status is reported. A text alone is `means`.
    struct StatusDoc short(status_from_text) like("a few words") {
        /// When a role reports it, in a few words.
        means: String,
        /// The status of work that went well: prompts list it first.
        usual: bool,
    }

    /// What follows: one verb and its modifiers.
    struct EntryDoc like("{ spawn: ROLE }") {
        /// Taken only if each name has one of the values.
        when: NameTable<Vec<Literal>>,
        /// Verb: an assignment for a role, or `author`.
        spawn: Verb,
        /// Verb: the same work once more, by `self` or `author`.
        respawn: Verb,
        /// Verb: the reporter waits while a role is consulted.
        consult: Verb,
        /// Verb: `blocked_agent`, the last that waits, resumes.
        back = "return": Verb,
        /// Verb: escalates above `self` or `author`.
        escalate: Verb,
        /// Verb: a merge task for `author`.
        merge: Verb,
        /// Verb: this part of the `phase` is done.
        advance: Verb,
        /// Verb: back to a phase.
        goto: Verb,
        /// Verb: takes in and starts `groups`.
        start: Verb,
        /// Verb: a question to a person.
        ask: Verb,
        /// Verb: ends the `group` as completed, if the evidence is there.
        complete: Verb,
        /// Verb: ends the `group` as deferred_external.
        defer: Verb,
        /// Verb: the validator, a role played by Interlock, judges the session.
        validate: Verb,
        /// Verb: completes the `session`.
        end: Verb,
        /// Verb, in options of questions only: cancels the `group` or the `session`.
        cancel: Verb,
        /// Verb, in options of questions only: starts the question's subject (`work`) again.
        redo: Verb,
        /// Verb, in options of questions only: acknowledges every `deferred` group and asks for the end again.
        acknowledge: Verb,
        /// The loop in which this passage is counted.
        counted = "loop": Option<PlacedValue<Name>>,
        /// Evidence that this records.
        passes: Vec<PlacedValue<Name>>,
        /// Evidence that the group is to be completed without: counts once the group is accepted.
        excuses: Vec<PlacedValue<Name>>,
        /// Taken instead where a `consult` or `return` cannot be.
        otherwise: Option<Box<EntryDoc>>,
        /// Fields of the handoff to pass on.
        with: Vec<PlacedValue<Name>>,
        /// Fields that the handoff must have.
        require: Vec<PlacedValue<Name>>,
        /// Claims under `verification` that must be true.
        verify: Vec<PlacedValue<Name>>,
        /// `required`: a report whose observed diff is empty is refused. `none`: the report states that nothing has to change.
        changes: Option<PlacedValue<Name>>,
        /// The model to use; for the adapter.
        model: Option<Name>,
        /// For `validate`: a session in which no group was ever planned may end too.
        without_groups: bool,
        /// Why; for the explanation.
        because: Option<Name>,
    }

    /// Who helps when an agent is blocked: reason by role or domain.
    struct BlockedDoc {
        /// The status that means blocked.
        status: PlacedValue<Name>,
        /// The loop in which each block is counted.
        counted = "loop": Option<PlacedValue<Name>>,
        /// Reasons beside those of the table's rows.
        reasons: Vec<PlacedValue<Name>>,
        /// Reason (or `any`) to role, domain or `any` to the role that helps, or `user`.
        table: NameTable<RowDoc>,
        /// Who helps where no cell does.
        otherwise: Option<PlacedValue<Name>>,
        /// Fields of the handoff to pass on.
        with: Vec<PlacedValue<Name>>,
        /// Fields that a blocked handoff must have.
        require: Vec<PlacedValue<Name>>,
        /// Claims under `verification` that must be true.
        verify: Vec<PlacedValue<Name>>,
    }

    /// A role that overrides another.
    struct OverrideDoc {
        /// Applied only if each name has one of the values.
        when: NameTable<Vec<Literal>>,
        /// The role that a route arrived at.
        instead_of: PlacedValue<Name>,
        /// The role that takes its place.
        takes = "use": PlacedValue<Name>,
        /// Why; for the explanation.
        because: Option<Name>,
    }

    /// A loop: a bounded passage.
    struct LoopDoc short(loop_from_number) like("{ escalate_at: { iteration: 5, no_progress: 2 }, measure: blocking_findings }") {
        /// When work no longer goes back but up.
        escalate_at: LimitDoc,
        /// What shows progress: `blocking_findings` or `failing_tests`.
        measure: Option<PlacedValue<Name>>,
        /// When respawn prompts begin to warn; one before each limit if absent.
        warn_at: Option<LimitDoc>,
    }

    /// Limits of a loop.
    struct LimitDoc like("{ iteration: 5, no_progress: 2 }") {
        /// The passage that no longer goes through.
        iteration: Option<PlacedValue<u32>>,
        /// Passages in a row without progress.
        no_progress: Option<PlacedValue<u32>>,
    }

    /// A phase, or several side by side.
    struct PhaseDoc like("{ phase: NAME, role: ROLE }") {
        /// The name of the phase.
        phase: Option<PlacedValue<Name>>,
        /// Phases that run side by side and are joined.
        together: Vec<PhaseDoc>,
        /// The role that does it.
        role: Option<PlacedValue<Name>>,
        /// The gate that is run.
        gate: Option<PlacedValue<Name>>,
        /// `author`: the author merges.
        merge: Option<PlacedValue<Name>>,
        /// `group` (default) or `session`.
        per: Option<PlacedValue<Name>>,
        /// `groups`: the handoff of this phase brings the groups.
        plans: Option<PlacedValue<Name>>,
        /// Left out unless each name has one of the values.
        when: NameTable<Vec<Literal>>,
        /// Back to an earlier phase while something measured is open.
        rework: Option<ReworkDoc>,
        /// The name that handoffs use in `phase`.
        called = "as": Option<PlacedValue<Name>>,
        /// Fields that a handoff must have to leave the phase.
        require: Vec<PlacedValue<Name>>,
        /// Claims under `verification` that must be true to leave the phase.
        verify: Vec<PlacedValue<Name>>,
        /// Skills that must be invoked in this phase.
        skills: Vec<PlacedValue<Name>>,
        /// `required`: a report that leaves the phase without a change of its files is refused.
        changes: Option<PlacedValue<Name>>,
    }

    /// Where rework goes, and the loop that counts and measures it.
    struct ReworkDoc like("{ goto: PHASE, loop: LOOP }") {
        /// The earlier phase.
        goto: PlacedValue<Name>,
        /// The loop; it needs a measure.
        counted = "loop": PlacedValue<Name>,
    }

    /// Where a person is asked before work goes on.
    struct CheckpointDoc like("{ after: PHASE, ask: QUESTION }") {
        /// The phases after which it is asked.
        after: Vec<PlacedValue<Name>>,
        /// The question.
        ask: PlacedValue<Name>,
        /// Asked only if each name has one of the values.
        when: NameTable<Vec<Literal>>,
    }

    /// A command that Interlock runs itself, on the exact tree.
    struct GateDoc like("{ run: [\"npm\", \"test\"], fail: { respawn: author } }") {
        /// The program and its arguments, or `plan`: the `checks` of the group's plan. `{feature_directory}`, `{session}`,
        /// `{group}` and `{domain}` are filled in.
        run: RunDoc,
        /// What follows when it does not exit with 0.
        fail: Vec<EntryDoc>,
        /// For `run: plan`: a plan is refused if a group brings no check that can fail.
        required: bool,
        /// How long it may take, such as `10m`.
        timeout: Option<Duration>,
    }

    /// The units of work that run side by side.
    struct GroupsDoc like("{ begin: { spawn: ROLE }, ended: { spawn: ROLE } }") {
        /// How many may be at work at once.
        at_most: Option<PlacedValue<u32>>,
        /// Fields of a group in the plan, with their finite values.
        flags: NameTable<Vec<Literal>>,
        /// What groups may change at most, by their flags.
        writes: Vec<GroupWritesDoc>,
        /// The first assignment of a group.
        begin: Vec<EntryDoc>,
        /// What follows when no group is left to start or running.
        ended: Vec<EntryDoc>,
    }

    /// What a group may change at most, whatever its roles may write.
    struct GroupWritesDoc {
        /// Flags of the plan, each with the values for which this holds.
        when: NameTable<Vec<Literal>>,
        /// Patterns of paths.
        only: Vec<PlacedValue<Name>>,
    }

    /// What a person is asked.
    struct QuestionDoc like("{ text: \"Go on?\", options: { yes: { redo: work } } }") {
        /// The text. Fields of the handoff and `{because}`, `{role}`, `{phase}`, `{gate_output}` are filled in.
        text: PlacedValue<Name>,
        /// What follows each option.
        options: NameTable<Entries>,
        /// What follows free text, or an option that the handoff offered.
        answer: Vec<EntryDoc>,
    }

    /// The evidence that completion needs.
    struct CompletionDoc like("{ group: { needs: [NAME] } }") {
        /// Of a group.
        group: Option<GroupNeedsDoc>,
        /// Of the session.
        session: Option<SessionNeedsDoc>,
    }

    /// The evidence that a group needs to be completed.
    struct GroupNeedsDoc like("{ needs: [NAME], gates: [GATE] }") {
        /// Names that must have been passed, `{ need: NAME, when: … }`, or `{ any_of: […], when: … }`.
        needs: Vec<NeedDoc>,
        /// Needed as well by a group that was ever blocked.
        once_blocked: Vec<PlacedValue<Name>>,
        /// Gates that must have passed on the tree being completed.
        gates: Vec<PlacedValue<Name>>,
        /// `required`, or when and unless what: an observed diff that is not empty.
        changes: Option<ChangesDoc>,
    }

    /// Where a group must change files to be completed.
    struct ChangesDoc short(changes_from_word) like("required") {
        /// Required only if each name has one of the values.
        when: NameTable<Vec<Literal>>,
        /// Evidence that accepts a group whose diff is empty.
        unless: Vec<PlacedValue<Name>>,
    }

    /// The evidence that a session needs to be completed.
    struct SessionNeedsDoc like("{ gates: [GATE] }") {
        /// Gates that must have passed on the tree being completed.
        gates: Vec<PlacedValue<Name>>,
    }

    /// What holds for a model that orchestrates, and is itself no role.
    struct OrchestratorDoc like("{ writes: none, watched: told }") {
        /// What it may change by itself: `none` (default), `all`, or patterns such as `notes/**`.
        writes: Vec<PlacedValue<Name>>,
        /// `told` (default): completion says what was watched; `required`: work that nobody watched is not taken.
        watched: Option<PlacedValue<Name>>,
    }

    /// What every handoff must have.
    struct HandoffDoc like("{ require: [FIELD] }") {
        /// Fields that every handoff must have.
        require: Vec<PlacedValue<Name>>,
        /// Claims under `verification` that must be true.
        verify: Vec<PlacedValue<Name>>,
        /// Skills that every role must invoke.
        skills: Vec<PlacedValue<Name>>,
        /// `warn` (default) or `refuse`.
        missing_skills: Option<PlacedValue<Name>>,
    }

    /// A decision that must come out as written.
    struct ExampleDoc like("{ role: ROLE, status: STATUS, expect: { spawn: ROLE } }") {
        /// The role that reports.
        role: Option<PlacedValue<Name>>,
        /// The gate that has run.
        gate: Option<PlacedValue<Name>>,
        /// The question that is answered.
        question: Option<PlacedValue<Name>>,
        /// The option that was chosen.
        option: Option<PlacedValue<Name>>,
        /// The status reported, or `pass` and `fail` of a gate.
        status: Option<PlacedValue<Name>>,
        /// The phase of the assignment.
        phase: Option<PlacedValue<Name>>,
        /// Settings, flags, facts and the rest of the state.
        given: NameTable<Literal>,
        /// One action and its object.
        expect: NameTable<Vec<Literal>>,
    }
}

fn status_from_text(node: &Node) -> Option<Node> {
    node.text()?;
    Some(wrap(node, "means"))
}

fn fact_from_list(node: &Node) -> Option<Node> {
    match &node.value {
        Value::List(_) => Some(wrap(node, "values")),
        Value::Null | Value::Scalar(_) | Value::Map(_) => None,
    }
}

/// `changes: required` requires them of every group.
fn changes_from_word(node: &Node) -> Option<Node> {
    (node.text() == Some("required")).then(|| Node { place: node.place.clone(), value: Value::Map(Vec::new()) })
}

pub(crate) fn loop_from_number(node: &Node) -> Option<Node> {
    node.text()?;
    Some(wrap(&wrap(node, "iteration"), "escalate_at"))
}

/// `{ key: node }`, at the same place.
pub(crate) fn wrap(node: &Node, key: &str) -> Node {
    let key = Node { place: node.place.clone(), value: Value::Scalar(key.into()) };
    Node { place: node.place.clone(), value: Value::Map(vec![(key, node.clone())]) }
}

/// A row of the blocked table: a map of columns; a single target stands for `{ any: target }`.
#[derive(Clone, Debug)]
pub(crate) struct RowDoc(pub(crate) NameTable<PlacedValue<Name>>);

impl Decode for RowDoc {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let row = if node.text().is_some() { &wrap(node, "any") } else { node };
        NameTable::decode(row, problems).map(Self)
    }

    fn schema(schemas: &mut Schemas) -> Json {
        let columns = NameTable::<PlacedValue<Name>>::schema(schemas);
        json!({ "anyOf": [{ "type": "string" }, columns] })
    }

    fn sample() -> String {
        "{ any: ROLE }".to_owned()
    }
}

/// What follows a status or an option: alternatives, at least one.
#[derive(Clone, Debug)]
pub(crate) struct Entries(Vec<EntryDoc>);

impl std::ops::Deref for Entries {
    type Target = [EntryDoc];

    fn deref(&self) -> &[EntryDoc] {
        &self.0
    }
}

impl Decode for Entries {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        if matches!(&node.value, Value::List(items) if items.is_empty()) {
            let problem = Problem::new(Code::OneVerb, "nothing follows this: the list has no entry")
                .help("write an entry such as `{ spawn: ROLE }`, or `null` to take an inherited one away");
            problems.push(problem.at(node.place.clone()));
        }
        Vec::decode(node, problems).map(Self)
    }

    fn schema(schemas: &mut Schemas) -> Json {
        let one = EntryDoc::schema(schemas);
        json!({ "anyOf": [one.clone(), { "type": "array", "minItems": 1, "items": one }] })
    }

    fn sample() -> String {
        EntryDoc::sample()
    }
}

/// A whole command where a program is expected. Paths may have blanks.
fn is_command_line(program: &str) -> bool {
    program.trim().contains(char::is_whitespace) && !program.contains('/')
}

/// What was written as one text, as the list that it has to be.
fn wrong_run(message: String, text: &str) -> Problem {
    let needs_shell = text.contains(['&', '|', ';', '>', '<', '$', '`', '"', '\'', '*']);
    let words = match needs_shell {
        true => format!("\"sh\", \"-c\", {}", json!(text)),
        false => text.split_whitespace().map(|word| json!(word).to_string()).collect::<Vec<_>>().join(", "),
    };
    // Nothing was written that could be turned into a list: any list shows the form.
    let list = if words.is_empty() { SAMPLE_COMMAND.to_owned() } else { format!("[{words}]") };
    let help = format!(
        "write it as a list: `run: {list}`; Interlock starts no shell. For several commands, declare a gate for each"
    );
    Problem::new(Code::WrongType, message).help(help)
}

const SAMPLE_COMMAND: &str = r#"["npm", "test"]"#;

#[derive(Clone, Debug)]
pub(crate) enum RunDoc {
    Plan,
    Command(Vec<PlacedValue<Name>>),
}

impl Decode for RunDoc {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::Scalar(text) if &**text == "plan" => Some(Self::Plan),
            Value::List(items) if !items.is_empty() => match &items.first().map(|first| &first.value) {
                Some(Value::Scalar(program)) if is_command_line(program) => {
                    let message = format!("`{program}` is not a program: `run` is one command, word by word");
                    problems.push(wrong_run(message, program).at(node.place.clone()));
                    None
                }
                Some(Value::List(_)) => {
                    let message = "`run` is one command: a list of the program and its arguments, not a list of lists";
                    let help = "declare a gate for each command, and list the gates in `completion.group.gates`";
                    problems.push(Problem::new(Code::WrongType, message).help(help).at(node.place.clone()));
                    None
                }
                _ => Vec::decode(node, problems).map(Self::Command),
            },
            Value::Scalar(text) => {
                let message = "`run` is `plan`, or a list of the program and its arguments".to_owned();
                problems.push(wrong_run(message, text).at(node.place.clone()));
                None
            }
            Value::Null | Value::List(_) | Value::Map(_) => {
                wrong_type(node, "`plan`, or a list of the program and its arguments,", &Self::sample(), problems);
                None
            }
        }
    }

    fn schema(_: &mut Schemas) -> Json {
        json!({ "anyOf": [{ "const": "plan" }, { "type": "array", "minItems": 1, "items": { "type": "string" } }] })
    }

    fn sample() -> String {
        SAMPLE_COMMAND.to_owned()
    }
}

/// Evidence that a group needs: one name, or any of several, perhaps only where settings and flags say so.
#[derive(Clone, Debug)]
pub(crate) struct NeedDoc {
    pub(crate) names: Vec<PlacedValue<Name>>,
    pub(crate) when: NameTable<Vec<Literal>>,
}

impl Decode for NeedDoc {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        if node.text().is_some() {
            let name = PlacedValue::decode(node, problems)?;
            return Some(Self { names: vec![name], when: NameTable::default() });
        }
        crate::workflow::record::check_keys(node, &["need", "any_of", "when"], Self::sample, problems)?;
        let has = |wanted: &str| {
            let Value::Map(entries) = &node.value else { return false };
            entries.iter().any(|(key, _)| key.text() == Some(wanted))
        };
        if has("need") == has("any_of") {
            let problem = Problem::new(Code::WrongType, "a need has either `need: NAME` or `any_of: [NAME]`")
                .help("write `NAME`, `{ need: NAME, when: … }` or `{ any_of: [NAME], when: … }`");
            problems.push(problem.at(node.place.clone()));
            return None;
        }
        let names = if has("need") {
            vec![crate::workflow::record::decode_key(node, "need", problems)?]
        } else {
            crate::workflow::record::decode_key(node, "any_of", problems)?
        };
        let when = if has("when") {
            crate::workflow::record::decode_key(node, "when", problems)?
        } else {
            NameTable::default()
        };
        Some(Self { names, when })
    }

    fn schema(schemas: &mut Schemas) -> Json {
        let names = Vec::<PlacedValue<Name>>::schema(schemas);
        let when = NameTable::<Vec<Literal>>::schema(schemas);
        let object = |key: &str, value: Json| {
            let mut properties = serde_json::Map::new();
            properties.insert(key.to_owned(), value);
            properties.insert("when".to_owned(), when.clone());
            json!({ "type": "object", "required": [key], "additionalProperties": false, "properties": properties })
        };
        json!({ "anyOf": [{ "type": "string" }, object("need", json!({ "type": "string" })), object("any_of", names)] })
    }

    fn sample() -> String {
        "{ need: NAME, when: { NAME: VALUE } }".to_owned()
    }
}

/// The JSON Schema of a workflow file, for editors.
pub fn schema() -> Json {
    let mut schemas = Schemas::default();
    let root = WorkflowDoc::schema(&mut schemas);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Interlock workflow",
        "$ref": root.get("$ref"),
        "$defs": schemas.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads<T: Decode>() {
        let (mut problems, sample) = (Vec::new(), T::sample());
        let node = crate::yaml::parse("t.yaml", &sample, &mut problems).expect("YAML");
        let read = T::decode(&node, &mut problems);
        assert!(read.is_some() && problems.is_empty(), "{}: {sample}: {problems:?}", std::any::type_name::<T>());
    }

    /// A help that shows a shape that is refused sends its reader in circles.
    #[test]
    fn every_shape_that_a_help_shows_can_be_read() {
        reads::<WorkflowDoc>();
        reads::<FactDoc>();
        reads::<RoleDoc>();
        reads::<StatusDoc>();
        reads::<EntryDoc>();
        reads::<BlockedDoc>();
        reads::<OverrideDoc>();
        reads::<LoopDoc>();
        reads::<LimitDoc>();
        reads::<PhaseDoc>();
        reads::<ReworkDoc>();
        reads::<CheckpointDoc>();
        reads::<GateDoc>();
        reads::<GroupsDoc>();
        reads::<QuestionDoc>();
        reads::<CompletionDoc>();
        reads::<GroupNeedsDoc>();
        reads::<ChangesDoc>();
        reads::<SessionNeedsDoc>();
        reads::<OrchestratorDoc>();
        reads::<HandoffDoc>();
        reads::<ExampleDoc>();
        reads::<RowDoc>();
        reads::<Entries>();
        reads::<RunDoc>();
        reads::<NeedDoc>();
        reads::<Duration>();
        reads::<NameTable<Vec<Literal>>>();
    }
}
