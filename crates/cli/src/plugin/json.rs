//! Settings in JSON, with or without comments: what is ours is put in and taken out, and everything else stays as it is.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value as Json;

use interlock_hooks::HookClient;

/// The name that our server has among those of a client.
pub(super) const SERVER: &str = "interlock";

pub(super) struct JsonSettings {
    root: CstRootNode,
    object: CstObject,
    /// The file is written in one line, and stays so, with this after a comma.
    one_line: Option<&'static str>,
    /// It ends with its last line.
    ended: bool,
}

impl JsonSettings {
    /// Reads a file, or nothing.
    pub(super) fn read(text: Option<&str>) -> Result<Self, String> {
        let text = text.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n");
        let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())?;
        let object = root.object_value().ok_or("it does not hold an object")?;
        let one_line = !text.trim().contains('\n') && !text.contains("//") && !object.properties().is_empty();
        let spaced = if text.contains(", \"") || text.contains(", {") { " " } else { "" };
        Ok(Self { root, object, one_line: one_line.then_some(spaced), ended: text.ends_with('\n') })
    }

    /// The file as it is now; none if nothing is left in it.
    pub(super) fn text(&self) -> Option<String> {
        let text = self.root.to_string();
        let kept = !self.object.properties().is_empty() || text.contains("//");
        let text = match self.one_line {
            Some(spaced) => in_one_line(&text, spaced),
            None => text.trim_end().to_owned(),
        };
        kept.then(|| if self.ended { format!("{text}\n") } else { text })
    }

    pub(super) fn json(&self) -> Json {
        self.root.to_serde_value().unwrap_or_default()
    }

    /// A member of an object, by the names that lead to it; objects on the way are made.
    pub(super) fn set(&self, path: &[&str], name: &str, value: &Json) -> Result<(), String> {
        let Some(object) = self.object_at(path) else { return Err(format!("`{}` is not an object", path.join("."))) };
        match object.get(name) {
            Some(known) if known.value().and_then(|known| known.to_serde_value()).as_ref() == Some(value) => {}
            Some(known) => known.set_value(input(value)),
            None => {
                object.append(name, input(value));
            }
        }
        Ok(())
    }

    /// Takes a member out, and the objects on the way that it leaves empty.
    pub(super) fn unset(&self, path: &[&str], name: &str) {
        let mut object = Some(self.object.clone());
        for step in path {
            object = object.and_then(|object| object.object_value(step));
        }
        if let Some(known) = object.as_ref().and_then(|object| object.get(name)) {
            known.remove();
        }
        let empty = object.is_some_and(|object| object.properties().is_empty());
        if let (true, Some((last, above))) = (empty, path.split_last()) {
            self.unset(above, last);
        }
    }

    fn object_at(&self, path: &[&str]) -> Option<CstObject> {
        path.iter().try_fold(self.object.clone(), |object, step| object.object_value_or_create(step))
    }

    /// Puts our hooks in, after those that are there. Each event has one group of ours, with one handler.
    pub(super) fn hook(&self, event: &str, group: &Json) -> Result<(), String> {
        let hooks = self.object_at(&["hooks"]).ok_or("`hooks` is not an object")?;
        let groups = hooks.array_value_or_create(event).ok_or_else(|| format!("`hooks.{event}` is not a list"))?;
        let mut ours = groups.elements().into_iter().filter(is_ours);
        match ours.next() {
            Some(known) if known.to_serde_value().as_ref() == Some(group) => {}
            Some(known) => {
                let index = known.element_index().unwrap_or_default();
                known.remove();
                groups.insert(index, input(group));
            }
            None => {
                groups.append(input(group));
            }
        }
        ours.for_each(CstNode::remove);
        Ok(())
    }

    /// Whether a hook of ours is in for this event.
    pub(super) fn is_hooked(&self, event: &str) -> bool {
        let groups = self.object.object_value("hooks").and_then(|hooks| hooks.array_value(event));
        groups.is_some_and(|groups| groups.elements().iter().any(is_ours))
    }

    /// Takes out every hook of ours, and what that leaves empty.
    pub(super) fn unhook(&self) {
        let Some(hooks) = self.object.object_value("hooks") else { return };
        for event in hooks.properties() {
            if let Some(groups) = event.array_value() {
                unhook_event(&groups);
                if groups.elements().is_empty() {
                    event.remove();
                }
            }
        }
        if hooks.properties().is_empty() {
            self.unset(&[], "hooks");
        }
    }
}

/// No text of JSON goes over the end of a line.
fn in_one_line(text: &str, after_comma: &str) -> String {
    let mut line = String::new();
    for part in text.trim_end().lines().map(str::trim_start) {
        if line.ends_with(',') {
            line.push_str(after_comma);
        }
        line.push_str(part);
    }
    line
}

fn unhook_event(groups: &CstArray) {
    for group in groups.elements().into_iter().filter(is_ours) {
        let handlers = group.as_object().and_then(|group| group.array_value("hooks"));
        let others = handlers.iter().flat_map(CstArray::elements).filter(|handler| !is_handler(handler)).count();
        if others == 0 {
            group.remove();
            continue;
        }
        handlers.iter().flat_map(CstArray::elements).filter(is_handler).for_each(CstNode::remove);
    }
}

fn is_ours(group: &CstNode) -> bool {
    let handlers = group.as_object().and_then(|group| group.array_value("hooks"));
    handlers.is_some_and(|handlers| handlers.elements().iter().any(is_handler))
}

fn is_handler(handler: &CstNode) -> bool {
    let command = handler.to_serde_value().and_then(|handler| handler["command"].as_str().map(str::to_owned));
    command.is_some_and(|command| is_ours_to_call(&command))
}

/// A command that calls our hooks, wherever the program lies.
fn is_ours_to_call(command: &str) -> bool {
    let calls = |client: &HookClient| command.contains(&format!(" hook {} ", client.name()));
    command.contains("interlock") && HookClient::ALL.iter().any(calls)
}

fn input(value: &Json) -> CstInputValue {
    match value {
        Json::Null => CstInputValue::Null,
        Json::Bool(value) => CstInputValue::Bool(*value),
        Json::Number(number) => CstInputValue::Number(number.to_string()),
        Json::String(text) => CstInputValue::String(text.clone()),
        Json::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Json::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn group(command: &str) -> Json {
        json!({ "matcher": "*", "hooks": [{ "type": "command", "command": command }] })
    }

    #[test]
    fn what_is_put_in_and_taken_out_leaves_the_rest_as_it_was() {
        let before = "{\n  // mine\n  \"theme\": \"dark\",\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"beep\" }] }\n    ]\n  }\n}\n";
        let settings = JsonSettings::read(Some(before)).unwrap();
        settings.hook("Stop", &group("interlock hook codex Stop --hold")).unwrap();
        settings.hook("PreToolUse", &group("interlock hook codex PreToolUse --hold")).unwrap();
        settings.set(&["mcpServers"], SERVER, &json!({ "command": "interlock" })).unwrap();
        let with = settings.text().unwrap();
        assert!(with.contains("// mine") && with.contains("beep"), "{with}");
        assert_eq!(settings.json()["hooks"]["Stop"].as_array().unwrap().len(), 2);
        let settings = JsonSettings::read(Some(&with)).unwrap();
        settings.hook("Stop", &group("interlock hook codex Stop --hold")).unwrap();
        assert_eq!(settings.text().unwrap(), with, "installing twice changes nothing");
        settings.unhook();
        settings.unset(&["mcpServers"], SERVER);
        assert_eq!(settings.text().unwrap(), before);
    }

    #[test]
    fn a_file_in_one_line_comes_back_as_it_was() {
        for before in [
            "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"beep\"}]}]}}\n",
            "{\"hooks\": {\"Stop\": [{\"hooks\": []}]}, \"a\": 1}",
            "{\"a\":1}",
        ] {
            let settings = JsonSettings::read(Some(before)).unwrap();
            settings.hook("Stop", &group("interlock hook codex Stop --hold")).unwrap();
            settings.hook("PreToolUse", &group("interlock hook codex PreToolUse --hold")).unwrap();
            settings.set(&["mcpServers"], SERVER, &json!({ "command": "interlock" })).unwrap();
            let settings = JsonSettings::read(settings.text().as_deref()).unwrap();
            settings.unhook();
            settings.unset(&["mcpServers"], SERVER);
            assert_eq!(settings.text().unwrap(), before);
        }
    }

    #[test]
    fn a_file_that_held_nothing_else_is_gone() {
        let settings = JsonSettings::read(None).unwrap();
        settings.hook("Stop", &group("interlock hook codex Stop --hold")).unwrap();
        let settings = JsonSettings::read(settings.text().as_deref()).unwrap();
        settings.unhook();
        assert_eq!(settings.text(), None);
    }

    #[test]
    fn a_hook_of_another_is_never_taken_for_ours() {
        let settings =
            JsonSettings::read(Some("{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"my-interlock\"}]}]}}")).unwrap();
        settings.unhook();
        assert!(settings.text().unwrap().contains("my-interlock"));
    }

    #[test]
    fn what_has_another_shape_is_left_alone() {
        assert!(JsonSettings::read(Some("[1]")).is_err());
        assert!(JsonSettings::read(Some("{\"a\": }")).is_err());
        let settings = JsonSettings::read(Some("{\"hooks\": 3}")).unwrap();
        assert!(settings.hook("Stop", &group("interlock hook codex Stop --hold")).is_err());
    }
}
