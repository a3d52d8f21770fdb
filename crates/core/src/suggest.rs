//! "did you mean …?"

/// The candidate that `word` was most likely meant to be, if one is close enough to say so.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&word, &candidate.to_lowercase()), candidate))
        .filter(|(score, _)| *score >= 0.82)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, candidate)| candidate)
}

/// A help line for what was most likely meant.
pub fn format_suggestion(near: &str) -> String {
    format!("did you mean `{near}`?")
}

/// A help line for a name that nothing has: the nearest one, or all there are.
pub fn help<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(near) = closest(word, candidates.clone()) {
        return Some(format_suggestion(near));
    }
    let mut all: Vec<&str> = candidates.into_iter().collect();
    all.sort_unstable();
    all.dedup();
    match all.len() {
        0 => None,
        1..=24 => Some(format!("there is: {}", all.join(", "))),
        more => {
            // Those most like the word come first: the one that was meant is hardly the first by its name.
            let word = word.to_lowercase();
            let likeness = |name: &str| strsim::jaro_winkler(&word, &name.to_lowercase());
            all.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
            Some(format!("there are {more}, among them: {}", all.get(..12).unwrap_or_default().join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_recognised() {
        assert_eq!(closest("qa_exprt", ["tech_lead", "qa_expert", "developer"]), Some("qa_expert"));
        assert_eq!(closest("zebra", ["tech_lead", "qa_expert"]), None);
    }

    #[test]
    fn help_falls_back_to_the_list() {
        assert_eq!(help("zebra", ["b", "a"]).as_deref(), Some("there is: a, b"));
        assert_eq!(help("zebra", []), None);
    }
}
