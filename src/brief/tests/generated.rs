//! A law of generated sessions: every prompt has the latest context of each earlier phase of its group and of the session.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::play::Play;

/// Who reported what, where.
type Place = (String, Option<String>, Option<String>, bool);

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn prompt_of_a_generated_session_has_the_latest_context_of_every_phase(
        workflow in prop::sample::select(vec!["delivery-team", "feature", "integration", "mcp-wrapper"]),
        picks in prop::collection::vec((any::<u8>(), any::<u8>()), 1..40),
    ) {
        let mut play = Play::start(workflow);
        let mut latest: BTreeMap<Place, String> = BTreeMap::new();
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
            let prompt = play.prompt_within(&whose, Some("The mission."), usize::MAX);
            for ((role, phase, on, _), context) in &latest {
                if on.is_none() || *on == group || group.is_none() {
                    prop_assert!(prompt.contains(context), "{whose} misses {context} of {role} in {phase:?}:\n{prompt}");
                }
            }
            let offers = play.offered(&whose);
            let offer = offers[usize::from(status) % offers.len()].clone();
            let context = format!("context number {step} of this session.");
            let place = (whose.split('@').next().unwrap_or_default().to_owned(), play.phase_name(&whose), group, offer.blocked);
            let groups = ["one", "two"].map(|id| json!({ "id": id, "title": id, "domain": "backend" }));
            let handoff = play.fill_offer(&whose, &offer, &context, json!(groups));
            if play.try_report(&whose, handoff) {
                latest.insert(place, context);
            }
        }
    }
}
