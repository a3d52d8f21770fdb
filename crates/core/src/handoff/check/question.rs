//! Questions that an agent has for a person.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::code::Code;
use crate::handoff::AgentQuestion;
use crate::handoff::check::reader::HandoffReader;
use crate::id::Name;

/// More than a person can be asked at once.
const MOST: usize = 10;

impl HandoffReader<'_> {
    /// A status that asks a person needs a question; any other may say that it has none.
    pub(super) fn questions(&mut self, needed: bool) -> Vec<AgentQuestion> {
        let offered = self.options("handoff.options");
        let Some(objects) = self.objects("questions") else {
            let context = self.get("handoff.context").and_then(Json::as_str).unwrap_or_default();
            return match offered {
                Some(options) if !options.is_empty() => {
                    vec![AgentQuestion { text: Name::new(context), category: None, options, impact: None }]
                }
                Some(_) | None => Vec::new(),
            };
        };
        if objects.is_empty() && needed || objects.len() > MOST {
            let message = format!("a handoff asks one to {MOST} questions, this {}", objects.len());
            self.wrong(Code::BadQuestion, "questions", message);
        }
        let mut asked = Vec::new();
        for (path, object) in objects {
            let text = self.member(Code::BadQuestion, object, &path, "text");
            let options = self.own_options(object, &path);
            let category = self.maybe_member(object, &path, "category").map(Name::new);
            let impact = self.maybe_member(object, &path, "impact").map(Name::new);
            if let Some(text) = text {
                asked.push(AgentQuestion {
                    text: Name::new(text),
                    category,
                    options: options.unwrap_or_default(),
                    impact,
                });
            }
        }
        asked
    }

    /// The options of one question: none, or a real choice.
    fn own_options(&mut self, object: &Json, path: &str) -> Option<Vec<Name>> {
        let value = object.get("options").filter(|value| !value.is_null())?;
        let path = format!("{path}.options");
        let Some(items) = value.as_array() else {
            self.wrong_type(&path, "a list", value);
            return None;
        };
        let texts: Vec<&str> = items.iter().filter_map(Json::as_str).filter(|text| !text.trim().is_empty()).collect();
        if texts.len() != items.len() {
            self.wrong(Code::BadQuestion, &path, "every option is a text that says something");
        }
        self.choice(&texts, &path);
        Some(texts.into_iter().map(Name::new).collect())
    }

    fn options(&mut self, path: &str) -> Option<Vec<Name>> {
        let texts = self.texts(path)?;
        self.choice(&texts, path);
        Some(texts.into_iter().map(Name::new).collect())
    }

    fn choice(&mut self, texts: &[&str], path: &str) {
        if texts.len() == 1 || texts.len() > MOST {
            let message = format!("a question has no options, or two to {MOST}; this has {}", texts.len());
            self.wrong(Code::BadQuestion, path, message);
        }
        let mut seen = BTreeSet::new();
        if let Some(text) = texts.iter().find(|text| !seen.insert(text.trim())) {
            self.wrong(Code::BadQuestion, path, format!("the option \"{text}\" stands twice"));
        }
    }
}
