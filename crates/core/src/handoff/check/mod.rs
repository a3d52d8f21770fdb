//! Holds a metadata block against a workflow. Every problem is listed, each with its place.

mod blocked;
mod common;
mod demand;
mod fact;
mod paths;
mod phase;
mod plan;
mod question;
mod reader;
mod review;
mod status;

use std::collections::BTreeSet;

use crate::code::Code;
use crate::handoff::{ExtractedHandoff, Handoff};
use crate::id::Name;
use crate::problem::Problem;
use crate::suggest;
use crate::workflow::{AssignmentTask, RoleIx, Workflow};

pub use common::{mandatory_skills, skills_of_task};
pub(crate) use plan::circle;
use reader::HandoffReader;

/// How the agent was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrchestrationMode {
    /// By an orchestrator, which decides who comes next.
    Orchestrated,
    /// By hand: a blocked agent names who should help.
    Direct,
}

/// An agent is orchestrated if its prompt gives it an output directory or names an orchestrator.
pub fn context_of_prompt(prompt: &str) -> OrchestrationMode {
    let orchestrated = prompt.contains("OUTPUT_DIRECTORY") || prompt.contains("orchestrating-");
    if orchestrated { OrchestrationMode::Orchestrated } else { OrchestrationMode::Direct }
}

/// The expectations that the handoff must meet.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedHandoff<'a> {
    /// The role of the assignment; as `agent` says if absent.
    pub role: Option<&'a str>,
    pub phase: Option<&'a str>,
    pub task: AssignmentTask,
    pub context: OrchestrationMode,
    /// Groups that a plan may depend on beside its own.
    pub groups: &'a [Name],
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct CheckedHandoff {
    /// There, if there is a workflow and no problem.
    pub handoff: Option<Handoff>,
    /// The status it means, by its declared name.
    pub status: Option<Name>,
    pub problems: Vec<Problem>,
    pub warnings: Vec<Problem>,
}

impl CheckedHandoff {
    pub fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Checks a block. Without a workflow only what all handoffs have in common is checked.
pub fn check(
    workflow: Option<&Workflow>,
    expect: &ExpectedHandoff<'_>,
    extracted: &ExtractedHandoff,
) -> CheckedHandoff {
    check_report_by(ReportOrigin::Agent, workflow, expect, extracted)
}

/// Checks a report that Interlock made itself, such as that of a merge. A workflow asks fields, claims and skills of
/// agents: only the role and the status of such a report can be wrong.
pub fn check_own_report(
    workflow: &Workflow,
    expect: &ExpectedHandoff<'_>,
    extracted: &ExtractedHandoff,
) -> CheckedHandoff {
    check_report_by(ReportOrigin::Interlock, Some(workflow), expect, extracted)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportOrigin {
    Agent,
    Interlock,
}

fn check_report_by(
    reporter: ReportOrigin,
    workflow: Option<&Workflow>,
    expect: &ExpectedHandoff<'_>,
    extracted: &ExtractedHandoff,
) -> CheckedHandoff {
    let mut reader = HandoffReader::new(extracted);
    let role = reader.role(workflow, expect);
    reader.common();
    let status = reader.status(workflow, role.as_ref(), expect.task);
    reader.blocked(workflow, expect, role.as_ref(), &status);
    reader.context_present(workflow, expect, role.as_ref());
    reader.paths();
    let phase = reader.phase(workflow, expect);
    let asked = reader.questions(status.asks(workflow, role.as_ref()));
    let review = reader.review();
    let failing_tests = reader.failing_tests();
    let groups = reader.plan(workflow, expect);
    let (acknowledge, accept) = (reader.names("acknowledge"), reader.names("accept"));
    let (acknowledge, accept) = (acknowledge.map(without_repeats), accept.map(without_repeats));
    let facts = reader.facts(workflow);
    reader.demands(workflow, expect, role.as_ref(), &status);
    reader.skills(workflow, expect, role.as_ref());
    let (mut problems, mut warnings) = reader.into_problems();
    let is_own_report = reporter == ReportOrigin::Interlock;
    if is_own_report {
        problems.retain(|problem| problem.field.as_deref().is_some_and(|field| OWN_REPORT_FIELDS.contains(&field)));
        warnings.clear();
    }
    let handoff = match (&role, workflow, problems.is_empty()) {
        (Some(ReportingRole { name, ix: Some(_) }), Some(_), true) => Some(Handoff {
            role: name.clone(),
            phase,
            said: status.said.clone(),
            status: status.ix,
            reason: status.reason.clone(),
            facts,
            issues: review.issues,
            tracking: review.tracking,
            responses: review.responses,
            blocking_summary: review.summary,
            failing_tests,
            groups,
            questions: asked,
            acknowledge: acknowledge.unwrap_or_default(),
            accept: accept.unwrap_or_default(),
            digest: extracted.digest,
            json: extracted.json.clone(),
            submitted: extracted.submitted.clone(),
            filled_in: extracted.filled_in.clone(),
            is_own_report,
        }),
        (Some(_) | None, _, _) => None,
    };
    CheckedHandoff { handoff, status: status.meant, problems, warnings }
}

/// Fields in which a report that Interlock made can be wrong.
const OWN_REPORT_FIELDS: [&str; 2] = ["agent", "status"];

/// The role that hands off. A role that is not declared can still be blocked, outside of a session.
#[derive(Clone, Debug)]
struct ReportingRole {
    name: Name,
    ix: Option<RoleIx>,
}

impl HandoffReader<'_> {
    /// The role that hands off: `agent` must be the one that was asked.
    fn role(&mut self, workflow: Option<&Workflow>, expect: &ExpectedHandoff<'_>) -> Option<ReportingRole> {
        let agent = self.required_text("agent").map(Name::new);
        let name = expect.role.map(Name::new).or_else(|| agent.clone())?;
        let ix = workflow.and_then(|workflow| held(workflow, &name));
        let outside =
            expect.context == OrchestrationMode::Direct && workflow.is_some_and(|it| it.domain_of(&name).is_some());
        if let Some(workflow) = workflow.filter(|_| ix.is_none() && !outside) {
            let help = suggest::help(&name, workflow.roles.iter().map(|role| role.name.as_str()).collect::<Vec<_>>());
            let message = format!("`{}` has no role `{name}`", workflow.name);
            self.problem(Problem::new(Code::WrongAgent, message).maybe_help(help), "agent");
            return None;
        }
        if let Some(agent) = agent.filter(|agent| *agent != name) {
            let message = format!("`agent` is `{agent}`, and the assignment is {name}'s");
            self.wrong(Code::WrongAgent, "agent", message);
        }
        Some(ReportingRole { name, ix })
    }
}

/// A role that an agent can hold.
fn held(workflow: &Workflow, name: &Name) -> Option<RoleIx> {
    workflow.role_named(name).filter(|ix| !workflow.role(*ix).by_interlock)
}

/// Each name once, where it stands first.
fn without_repeats(names: Vec<Name>) -> Vec<Name> {
    let mut known = BTreeSet::new();
    names.into_iter().filter(|name| known.insert(name.clone())).collect()
}
