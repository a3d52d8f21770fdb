//! A law of generated sessions: every prompt has the contexts of all earlier phases of its group and of the session, also
//! where it is trimmed and where later reports superseded them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::play::PromptTestSession;
use crate::AssignmentPrompt;
use crate::BUDGET;

/// Reports of one role in one phase that every prompt has: the latest, and those that it superseded.
const KEPT: usize = 9;

/// The role, the phase and the group of a report, and whether its status is a blocked one.
type ReporterKey = (String, Option<String>, Option<String>, bool);

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn prompt_of_a_generated_session_has_the_contexts_of_every_phase(
        workflow in prop::sample::select(vec!["delivery-team", "feature", "integration", "mcp-wrapper"]),
        length in prop::sample::select(vec![0_usize, 200, 4_000]),
        picks in prop::collection::vec((any::<u8>(), any::<u8>()), 1..40),
    ) {
        let mut play = PromptTestSession::start(workflow);
        let mut reported: BTreeMap<ReporterKey, Vec<String>> = BTreeMap::new();
        for (step, (whose, status)) in picks.into_iter().enumerate() {
            if play.has_open_gate() {
                play.gate(status % 4 != 0, "output of the gate");
            }
            if play.answer_first() {
                continue;
            }
            let open = play.open();
            if open.is_empty() {
                break;
            }
            let whose = open[usize::from(whose) % open.len()].clone();
            let group = whose.split_once('@').map(|(_, group)| group.to_owned());
            let (prompt, _) = play.prompts(&whose, Some("The mission."), BUDGET);
            for ((role, phase, on, _), contexts) in &reported {
                let is_own = on.is_none() || *on == group || group.is_none();
                for context in contexts.iter().rev().take(KEPT).filter(|_| is_own) {
                    let reaches = reaches_reader(&prompt, context);
                    prop_assert!(reaches, "{whose} misses {context} of {role} in {phase:?}:\n{}", prompt.text);
                }
            }
            let offers = play.offered(&whose);
            let offer = offers[usize::from(status) % offers.len()].clone();
            let context = format!("context number {step} of this session.");
            let place = (whose.split('@').next().unwrap_or_default().to_owned(), play.phase_name(&whose), group, offer.blocked);
            let groups = ["one", "two"].map(|id| json!({ "id": id, "title": id, "domain": "backend" }));
            let whole = format!("{context} {}", "details ".repeat(length / 8));
            let handoff = play.fill_offer(&whose, &offer, &whole, json!(groups));
            if play.try_report(&whose, handoff) {
                reported.entry(place).or_default().push(context);
            }
        }
    }
}

/// In the prompt, or in a file that the prompt names.
fn reaches_reader(prompt: &AssignmentPrompt, text: &str) -> bool {
    let in_file = |(name, whole): &(String, String)| whole.contains(text) && prompt.text.contains(&format!("/{name}`"));
    prompt.text.contains(text) || prompt.whole.iter().any(in_file)
}
