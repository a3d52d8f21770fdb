//! The report of a doctor: each checked item, and its problems.

use serde_json::{Value as Json, json};

use crate::error::CommandExit;
use crate::error::CommandResult;
use crate::output::CommandOutput;
use interlock_system::text::{HEADING, TerminalText};

/// Where what was found begins on its line.
const INDENT: &str = "\n                         ";

/// One thing that was looked at.
pub struct DoctorCheck {
    pub what: String,
    pub found: Result<String, DoctorProblem>,
}

pub struct DoctorProblem {
    pub message: String,
    pub help: Option<String>,
}

impl DoctorCheck {
    fn json(&self) -> Json {
        match &self.found {
            Ok(found) => json!({ "what": self.what, "ok": true, "found": found }),
            Err(problem) => json!({ "what": self.what, "ok": false, "problem": problem.message, "help": problem.help }),
        }
    }
}

/// Tells all of it; that something is missing is how the command ends. `about` is what it is all about, for scripts.
pub fn print_report(findings: &[DoctorCheck], about: Json, output: CommandOutput) -> CommandResult {
    let sound = findings.iter().all(|finding| finding.found.is_ok());
    if output.json {
        let mut document = about;
        document["ok"] = json!(sound);
        document["findings"] = findings.iter().map(DoctorCheck::json).collect();
        output.document(&document)?;
    } else {
        output.text(&text(findings))?;
    }
    Ok(if sound { CommandExit::Done } else { CommandExit::Unavailable })
}

fn text(findings: &[DoctorCheck]) -> TerminalText {
    let mut text = TerminalText::default();
    for finding in findings {
        let mark = if finding.found.is_ok() { "ok      " } else { "missing " };
        text.paint(HEADING, mark);
        text.put(format_args!("{:<16} ", finding.what));
        match &finding.found {
            Ok(found) => text.put(found),
            Err(problem) => {
                for (index, line) in problem.message.lines().chain(problem.help.as_deref()).enumerate() {
                    text.push(if index == 0 { "" } else { INDENT });
                    text.put(line);
                }
            }
        }
        text.push("\n");
    }
    text
}
