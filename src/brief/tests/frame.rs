//! How much of a prompt is frame: everything that is not mission, plan, reports or findings.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::play::Play;
use crate::brief::BUDGET;

/// The largest share of a prompt, in percent, that may be frame.
const LARGEST_SHARE: usize = 50;

/// Text of so many words, as people write missions and reports.
fn words(count: usize) -> String {
    let text = "The login form must lock an account after five wrong passwords and say when it opens again so that people \
                do not call support while attackers cannot try every password of a list against one account ";
    text.split_whitespace().cycle().take(count).collect::<Vec<_>>().join(" ")
}

/// Words outside and inside of fences that hold words of others.
fn measure(prompt: &str) -> (usize, usize) {
    let (mut frame, mut content) = (0, 0);
    let mut fence: Option<&str> = None;
    for line in prompt.lines() {
        let size = line.split_whitespace().count();
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

struct Walk {
    play: Play,
    shares: BTreeMap<String, usize>,
    /// Statuses that a role reports first, instead of the usual one.
    first: Vec<(&'static str, &'static str)>,
    groups: Json,
}

impl Walk {
    fn new(workflow: &str, groups: Json, first: &[(&'static str, &'static str)]) -> Self {
        Self { play: Play::start(workflow), shares: BTreeMap::new(), first: first.to_vec(), groups }
    }

    /// Plays the session to its end, and measures every prompt on the way.
    fn walk(mut self) -> BTreeMap<String, usize> {
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
        for prompt in [by_command.text, of_run.text] {
            let (frame, content) = measure(&prompt);
            let share = frame * 100 / (frame + content);
            let worst = self.shares.entry(role.clone()).or_default();
            if share > LARGEST_SHARE {
                println!("{prompt}");
            }
            *worst = share.max(*worst);
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
        let handoff = self.play.fill_offer(whose, offer, &words(60), groups);
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
    let walks = [
        ("delivery-team", Walk::new("delivery-team", team.clone(), &[])),
        ("delivery-team", Walk::new("delivery-team", team, &[("developer", "SPAWN_INVESTIGATOR")])),
        ("feature", Walk::new("feature", json!(feature), &[])),
        ("integration", Walk::new("integration", json!(null), &[])),
        ("mcp-wrapper", Walk::new("mcp-wrapper", tools, &[])),
    ];
    let mut shares: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for (workflow, walk) in walks {
        for (role, share) in walk.walk() {
            let worst = shares.entry((workflow, role)).or_default();
            *worst = share.max(*worst);
        }
    }
    for ((workflow, role), share) in &shares {
        println!("{workflow:14} {role:26} {share:3} % frame");
    }
    let roles: BTreeSet<&str> = shares.keys().map(|(_, role)| role.as_str()).collect();
    for role in
        ["project_manager", "investigator", "senior_software_engineer", "python-developer", "claude", "test-lead"]
    {
        assert!(roles.contains(role), "{role} is not measured: {roles:?}");
    }
    let over: Vec<_> = shares.iter().filter(|(_, share)| **share > LARGEST_SHARE).collect();
    assert!(over.is_empty(), "{over:?}");
}
