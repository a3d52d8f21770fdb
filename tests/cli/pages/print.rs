//! Replaces what differs between machines and runs by fixed values, in outputs and back in commands.

use super::scene::{SHOWN_ADDRESS, Scene};

/// The session that pages show.
pub(super) const SHOWN_SESSION: &str = "add-login-4f2k";
const SHOWN_TIME: &str = "2026-01-18T15:42:00Z";
const SHOWN_STORE: &str = "7f3a9c";
/// The widest line of a page.
const MAX_WIDTH: usize = 118;

/// The command of a page with the session and the address of this run.
pub(super) fn real_command(command: &str, scene: &mut Scene) -> String {
    let mut text = command.to_owned();
    if scene.session.is_none() && text.contains(SHOWN_SESSION) {
        scene.find_session();
    }
    if let Some(session) = &scene.session {
        text = text.replace(SHOWN_SESSION, session);
    }
    if let Some(address) = &scene.address {
        text = text.replace(SHOWN_ADDRESS, address);
    }
    text
}

/// The output of a command as pages show it.
pub(super) fn shown_output(output: &str, scene: &mut Scene) -> String {
    if scene.session.is_none() && output.contains("add-login-") {
        scene.find_session();
    }
    let mut text = output.to_owned();
    for folder in [scene.home().canonicalize().unwrap_or_else(|_| scene.home()), scene.home()] {
        text = text.replace(&folder.display().to_string(), "/home/ann");
    }
    if let Some(session) = &scene.session {
        text = text.replace(session.as_str(), SHOWN_SESSION);
    }
    if let Some(address) = &scene.address {
        text = text.replace(address.as_str(), SHOWN_ADDRESS);
    }
    let mut shown: Vec<String> = Vec::new();
    for line in text.lines().map(shown_line) {
        // The pointer to the page that the reader is on.
        if line.ends_with("` says more") {
            if shown.last().is_some_and(String::is_empty) {
                shown.pop();
            }
        } else {
            shown.extend(wrap_line(&line));
        }
    }
    shown.iter().map(|line| format!("{line}\n")).collect()
}

/// Breaks a line that is too wide for a page between words. Lines without a space there are cut off.
fn wrap_line(line: &str) -> Vec<String> {
    let indent = line.len() - line.trim_start().len();
    let mut wrapped = Vec::new();
    let mut rest = line.to_owned();
    while rest.chars().count() > MAX_WIDTH {
        let end = rest.char_indices().nth(MAX_WIDTH).map_or(rest.len(), |(index, _)| index);
        let Some(space) = rest[..end].rfind(' ').filter(|space| *space > end / 2) else {
            let cut: String = rest.chars().take(MAX_WIDTH - 1).collect();
            wrapped.push(format!("{cut}…"));
            return wrapped;
        };
        wrapped.push(rest[..space].trim_end().to_owned());
        rest = format!("{:1$}{2}", "", indent + 4, rest[space..].trim_start());
    }
    wrapped.push(rest);
    wrapped
}

fn shown_line(line: &str) -> String {
    let line = replace_store_id(line.trim_end());
    let mut shown = String::new();
    let mut word = String::new();
    for character in line.chars() {
        if character.is_ascii_alphanumeric() || matches!(character, '-' | ':' | '.' | '_') {
            word.push(character);
        } else {
            shown.push_str(&shown_word(&word));
            word.clear();
            shown.push(character);
        }
    }
    shown.push_str(&shown_word(&word));
    replace_process_id(&shown)
}

/// `/home/ann/.config/interlock/ID/…`: the id of the store is random.
fn replace_store_id(line: &str) -> String {
    for folder in [".config/interlock/", ".local/state/interlock/"] {
        if let Some((before, rest)) = line.split_once(folder) {
            let end = rest.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(rest.len());
            return format!("{before}{folder}{SHOWN_STORE}{}", &rest[end..]);
        }
    }
    line.to_owned()
}

fn replace_process_id(line: &str) -> String {
    let Some((before, rest)) = line.split_once("process ") else { return line.to_owned() };
    let end = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    if end == 0 { line.to_owned() } else { format!("{before}process 4711{}", &rest[end..]) }
}

fn shown_word(word: &str) -> String {
    let bytes = word.as_bytes();
    let is_time = bytes.len() >= 19 && word.starts_with("20") && bytes[4] == b'-' && bytes[10] == b'T';
    if is_time {
        return SHOWN_TIME.to_owned();
    }
    if word
        .split_once(':')
        .is_some_and(|(minutes, seconds)| is_number(minutes) && seconds.len() == 2 && is_number(seconds))
    {
        return "0:00".to_owned();
    }
    let is_hash = bytes.len() >= 12 && bytes.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_hash && bytes.iter().any(u8::is_ascii_digit) {
        return "5c0f2e955f02"[..12].to_owned();
    }
    word.to_owned()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
