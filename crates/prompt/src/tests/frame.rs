//! How much of a prompt is frame: everything that is not mission, plan, reports or findings.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::play::{PromptTestSession, issue};
use crate::BUDGET;

/// The largest share of a prompt, in percent of its words, that may be frame.
const LARGEST_SHARE: usize = 50;
/// The same in percent of its characters, as measured. Field names and paths are long words.
const LARGEST_SHARE_IN_CHARACTERS: usize = 60;
/// Words of each report. Short ones have nothing else.
const REPORT: usize = 60;
const SHORT_REPORT: usize = 20;
/// As long as the sections that `interlock run` adds.
const RUN_SECTIONS: &str = "\n## Your folder\n\nA private git copy; its files count, commits do not. `git diff \
    0123456789abcdef0123456789abcdef01234567` shows the changes of this group. You have 30 minutes in all.\n\nWrite it to \
    `/home/ada/shop/.interlock/sessions/add-login-36j8/a4.1/handoff.json`, then end. If you cannot write files, end with it \
    as your last message.\n";

/// Text of so many words, as people write missions and reports.
fn words(count: usize) -> String {
    let text = "The login form in src/login.ts must lock an account after five wrong passwords and tell its owner when it \
                opens again, so that customers need not call support while attackers cannot try a list of passwords. \
                Store the counter in the existing database (src/db/accounts.ts) and add no dependency. Write tests for \
                every rule, and a page for administrators in docs/accounts.md. ";
    text.split_whitespace().cycle().take(count).collect::<Vec<_>>().join(" ")
}

/// Percent of a prompt that is outside of fences that hold words of others: in words and in characters.
fn measure(prompt: &str) -> SectionShare {
    let share = |size: fn(&str) -> usize| {
        let (frame, content) = sizes(prompt, size);
        frame * 100 / (frame + content)
    };
    SectionShare {
        words: share(|line| line.split_whitespace().count()),
        characters: share(|line| line.chars().count() + 1),
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct SectionShare {
    words: usize,
    characters: usize,
}

impl SectionShare {
    fn worst(self, other: Self) -> Self {
        Self { words: self.words.max(other.words), characters: self.characters.max(other.characters) }
    }

    fn is_over(self) -> bool {
        self.words > LARGEST_SHARE || self.characters > LARGEST_SHARE_IN_CHARACTERS
    }
}

fn sizes(prompt: &str, size: fn(&str) -> usize) -> (usize, usize) {
    let (mut frame, mut content) = (0, 0);
    let mut fence: Option<&str> = None;
    for line in prompt.lines() {
        let size = size(line);
        match fence {
            Some(closing) if line == closing => fence = None,
            Some(_) => content += size,
            None => {
                frame += size;
                fence = line.strip_suffix("text").filter(|fence| fence.starts_with("```"));
            }
        }
    }
    (frame, content)
}

struct FrameMeasurement {
    play: PromptTestSession,
    shares: BTreeMap<String, SectionShare>,
    /// Statuses that a role reports first, instead of the usual one.
    first: Vec<(&'static str, &'static str)>,
    groups: Json,
    /// Reports have a context and the required fields, and nothing else.
    is_short: bool,
}

impl FrameMeasurement {
    fn new(workflow: &str, groups: Json, first: &[(&'static str, &'static str)]) -> Self {
        Self {
            play: PromptTestSession::start(workflow),
            shares: BTreeMap::new(),
            first: first.to_vec(),
            groups,
            is_short: false,
        }
    }

    fn short(self) -> Self {
        Self { is_short: true, ..self }
    }

    /// Plays the session to its end, and measures every prompt on the way.
    fn walk(mut self) -> BTreeMap<String, SectionShare> {
        for _ in 0..200 {
            if self.play.has_open_gate() {
                self.play.gate(true, "ok");
            }
            let Some(whose) = self.play.open().into_iter().next() else { return self.shares };
            self.turn(&whose);
        }
        panic!("the session does not end: {:?}", self.play.open());
    }

    fn turn(&mut self, whose: &str) {
        let mission = words(200);
        let (by_command, of_run) = self.play.prompts(whose, Some(&mission), BUDGET);
        let role = whose.split('@').next().unwrap_or_default().to_owned();
        for prompt in [by_command.text, format!("{}{RUN_SECTIONS}", of_run.text)] {
            let share = measure(&prompt);
            let worst = self.shares.entry(role.clone()).or_default();
            if share.is_over() {
                println!("{prompt}");
            }
            *worst = share.worst(*worst);
        }
        let offers = self.play.offered(whose);
        let wanted = self.first.iter().position(|(of, _)| *of == role).map(|index| self.first.remove(index).1);
        let offer = match wanted {
            Some(status) => offers.iter().find(|offer| offer.status == status).expect("an offered status"),
            None if self.play.open().len() == 1
                && role == "project_manager"
                && offers.iter().any(|o| o.status == "BAZINGA") =>
            {
                let planned = offers.iter().any(|offer| offer.status == "CONTINUE") && self.shares.len() > 1;
                let status = if planned { "BAZINGA" } else { "PLANNING_COMPLETE" };
                offers.iter().find(|offer| offer.status == status).expect("an offered status")
            }
            None => offers.first().expect("a status"),
        };
        let groups = if offer.plans { std::mem::take(&mut self.groups) } else { json!(null) };
        let mut handoff =
            self.play.fill_offer(whose, offer, &words(if self.is_short { SHORT_REPORT } else { REPORT }), groups);
        if self.is_short && !offer.blocked {
            handoff["attempted"] = json!([]);
        }
        if self.is_short && !offer.demands.require.iter().any(|field| *field == "summary") {
            handoff.as_object_mut().expect("an object").remove("summary");
        }
        if offer.status == "CHANGES_REQUESTED" {
            handoff["issues"] = json!([issue("R1", "Token is logged", "HIGH", true)]);
        }
        if self.play.offered(whose).iter().all(|offer| !offer.findings) {
            handoff["issue_responses"] = json!([{ "id": "R1", "response": "fixed" }]);
        }
        self.play.report(whose, handoff);
    }
}

fn group(id: &str, more: Json) -> Json {
    let mut group = json!({ "id": id, "title": format!("Group {id}"), "description": words(40) });
    group.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    group
}

/// Prints the share of frame for each role of each built-in workflow.
#[test]
fn frame_of_every_role_is_at_most_half_of_its_prompt() {
    let team = json!([
        group("login", json!({})),
        group("study", json!({ "kind": "research" })),
        group("keys", json!({ "security_sensitive": "true" }))
    ]);
    let domains = ["frontend", "backend", "capability", "tool"];
    let mut feature: Vec<Json> = domains.iter().map(|domain| group(domain, json!({ "domain": domain }))).collect();
    feature.push(group("script", json!({ "domain": "backend", "stack": "python" })));
    let tools = json!([group("get-issue", json!({})), group("list-issues", json!({}))]);
    let bare = |ids: &[&str]| -> Vec<Json> { ids.iter().map(|id| json!({ "id": id, "title": "Lock out" })).collect() };
    let walks = [
        ("delivery-team", FrameMeasurement::new("delivery-team", json!(bare(&["login"])), &[]).short()),
        (
            "delivery-team",
            FrameMeasurement::new("delivery-team", json!(bare(&["login"])), &[("developer", "READY_FOR_REVIEW")])
                .short(),
        ),
        (
            "delivery-team",
            FrameMeasurement::new("delivery-team", json!(bare(&["login"])), &[("tech_lead", "CHANGES_REQUESTED")])
                .short(),
        ),
        (
            "delivery-team",
            FrameMeasurement::new("delivery-team", json!(bare(&["login"])), &[("qa_expert", "BLOCKED")]).short(),
        ),
        ("integration", FrameMeasurement::new("integration", json!(null), &[]).short()),
        ("mcp-wrapper", FrameMeasurement::new("mcp-wrapper", json!(bare(&["get-issue"])), &[]).short()),
        ("delivery-team", FrameMeasurement::new("delivery-team", team.clone(), &[])),
        ("delivery-team", FrameMeasurement::new("delivery-team", team, &[("developer", "SPAWN_INVESTIGATOR")])),
        ("feature", FrameMeasurement::new("feature", json!(feature), &[])),
        ("integration", FrameMeasurement::new("integration", json!(null), &[])),
        ("mcp-wrapper", FrameMeasurement::new("mcp-wrapper", tools, &[])),
    ];
    let mut shares: BTreeMap<(&str, String), SectionShare> = BTreeMap::new();
    for (workflow, walk) in walks {
        for (role, share) in walk.walk() {
            let worst = shares.entry((workflow, role)).or_default();
            *worst = share.worst(*worst);
        }
    }
    for ((workflow, role), share) in &shares {
        println!("{workflow:14} {role:26} {:3} % of words, {:3} % of characters", share.words, share.characters);
    }
    let roles: BTreeSet<&str> = shares.keys().map(|(_, role)| role.as_str()).collect();
    for role in
        ["project_manager", "investigator", "senior_software_engineer", "python-developer", "claude", "test-lead"]
    {
        assert!(roles.contains(role), "{role} is not measured: {roles:?}");
    }
    let over: Vec<_> = shares.iter().filter(|(_, share)| share.is_over()).collect();
    assert!(over.is_empty(), "{over:?}");
}

/// Prompts whose readers get short reports only.
#[test]
fn frame_of_short_handoffs_after_a_block_or_a_lost_attempt_is_at_most_half() {
    let mission = words(200);
    let share = |play: &PromptTestSession, whose: &str| {
        let prompt = play.prompt(whose, Some(&mission));
        let share = measure(&prompt).words;
        assert!(share <= LARGEST_SHARE, "{share} % of words for {whose}: {prompt}");
    };
    share(&PromptTestSession::start("delivery-team"), "project_manager");
    let mut play = PromptTestSession::groups(&["login"]);
    play.lose("developer", Some("the agent ended with exit code 1"));
    share(&play, "developer");
    play.report("developer", json!({ "status": "READY_FOR_QA" }));
    let blocked = json!({
        "status": "BLOCKED", "blocked_reason": "environment", "attempted": ["Restarted it"],
        "handoff": { "next_agent": null, "context": "No environment" },
    });
    play.report("qa_expert", blocked.clone());
    share(&play, "tech_lead");
    play.report("tech_lead", blocked);
    share(&play, "project_manager");
}
