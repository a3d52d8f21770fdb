//! The rules' terms in words that fit on an arrow.

use crate::id::Name;
use crate::workflow::*;

/// `testing: minimal or disabled`.
pub(super) fn test(workflow: &Workflow, test: &GuardTest) -> String {
    let guard = workflow.guard(test.guard);
    let allowed = guard.values.iter().enumerate().filter(|(bit, _)| allows(test, *bit));
    let values: Vec<&str> = allowed.map(|(_, value)| value.as_str()).collect();
    format!("{}: {}", guard.name, values.join(" or "))
}

fn allows(test: &GuardTest, bit: usize) -> bool {
    let bit = u32::try_from(bit).unwrap_or(u32::MAX);
    test.allowed.checked_shr(bit).unwrap_or(0) & 1 == 1
}

/// `when a: x, b: y`, or nothing.
pub(super) fn when(workflow: &Workflow, tests: &[GuardTest]) -> Option<String> {
    let words: Vec<String> = tests.iter().map(|one| test(workflow, one)).collect();
    (!words.is_empty()).then(|| format!("when {}", words.join(", ")))
}

/// `review ≤5`.
pub(super) fn limit(workflow: &Workflow, counted: LoopIx) -> String {
    let item = workflow.loop_at(counted);
    format!("{} ≤{}", item.name, item.limit.iteration)
}

/// The roles of a phase; one for each domain reads as `{domain}-lead`.
pub(super) fn performers(workflow: &Workflow, by_domain: &[Option<RoleIx>]) -> String {
    let pairs: Vec<(&Domain, &Name)> = workflow
        .domains
        .iter()
        .zip(by_domain)
        .filter_map(|(domain, role)| role.map(|ix| (domain, &workflow.role(ix).name)))
        .collect();
    pattern(&pairs).unwrap_or_else(|| {
        let mut names: Vec<&str> = pairs.iter().map(|(_, name)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        list(&names, 3)
    })
}

/// `{domain}-lead`, if every name is its domain and one same ending.
pub(super) fn pattern(pairs: &[(&Domain, &Name)]) -> Option<String> {
    let ending = |(domain, name): &(&Domain, &Name)| name.strip_prefix(domain.name.as_str()).map(str::to_owned);
    let first = pairs.first().and_then(ending)?;
    let alike = pairs.len() > 1 && pairs.iter().all(|pair| ending(pair).as_ref() == Some(&first));
    alike.then(|| format!("{{domain}}{first}"))
}

/// `a, b, +2 more`.
pub(super) fn list(names: &[&str], most: usize) -> String {
    let shown = if names.len() > most { most.saturating_sub(1) } else { names.len() };
    let mut words: Vec<String> = names.iter().take(shown).map(|name| (*name).to_owned()).collect();
    let left = names.len().saturating_sub(shown);
    if left > 0 {
        words.push(format!("+{left} more"));
    }
    words.join(", ")
}

/// The loop of a rule, but for the one that counts every round with people: it would stand on each question.
pub(super) fn shown_loop(workflow: &Workflow, rule: &Rule) -> Option<LoopIx> {
    rule.counted.filter(|counted| Some(*counted) != workflow.loop_named("clarifying"))
}

/// The effect of a rule, for a table.
pub(super) fn describe_rule(workflow: &Workflow, rule: &Rule) -> String {
    let does = verb(workflow, rule.verb);
    match shown_loop(workflow, rule) {
        Some(counted) => format!("{does}, {}", limit(workflow, counted)),
        None => does,
    }
}

fn verb(workflow: &Workflow, verb: RuleVerb) -> String {
    match verb {
        RuleVerb::Spawn(to) => target(workflow, to),
        RuleVerb::Respawn(to) => format!("{} again", target(workflow, to)),
        RuleVerb::Consult(to) => format!("asks {}", target(workflow, to)),
        RuleVerb::Return => "back to who asked".to_owned(),
        RuleVerb::Escalate(to) => format!("escalate from {}", target(workflow, to)),
        RuleVerb::Merge => "merge".to_owned(),
        RuleVerb::Goto(phase) | RuleVerb::Rework(phase) => format!("back to {}", workflow.phase(phase).name),
        RuleVerb::Start => "the groups start".to_owned(),
        RuleVerb::Ask(question) => describe_question(workflow.question(question)),
        RuleVerb::Complete => "the group completes".to_owned(),
        RuleVerb::Defer => "the group is deferred".to_owned(),
        RuleVerb::Validate(role) => workflow.role(role).name.to_string(),
        RuleVerb::End => "the session completes".to_owned(),
        RuleVerb::CancelGroup => "the group is cancelled".to_owned(),
        RuleVerb::CancelSession => "the session is cancelled".to_owned(),
        RuleVerb::Redo => "the same work again".to_owned(),
        RuleVerb::Acknowledge => "deferred groups are acknowledged".to_owned(),
        RuleVerb::Join => "waits for the phases beside it".to_owned(),
        RuleVerb::Leave => "the next phase".to_owned(),
    }
}

fn target(workflow: &Workflow, target: RoleTarget) -> String {
    match target {
        RoleTarget::Role(ix) => workflow.role(ix).name.to_string(),
        RoleTarget::Author => "the author".to_owned(),
        RoleTarget::Reporter => "the same role".to_owned(),
        RoleTarget::Waiting => "who asked".to_owned(),
        RoleTarget::Phase(ix) => workflow.phase(ix).name.to_string(),
    }
}

/// `a person: approval (approve, reject)`.
pub(super) fn describe_question(question: &DeclaredQuestion) -> String {
    let options: Vec<&str> = question.options.iter().map(|(name, _)| name.as_str()).collect();
    if options.is_empty() {
        format!("a person: {}", question.name)
    } else {
        format!("a person: {} ({})", question.name, list(&options, 6))
    }
}

pub(super) fn measure(measure: LoopMeasure) -> &'static str {
    match measure {
        LoopMeasure::BlockingFindings => "blocking findings",
        LoopMeasure::FailingTests => "failing tests",
    }
}
