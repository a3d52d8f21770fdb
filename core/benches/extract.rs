//! How long it takes, and how much memory, to find the metadata in a large output.
//!
//! `cargo bench -p interlock-core --bench extract [-- MEGABYTES]`. The goal for 50 MB is at
//! most a second and at most twice the size of the output, the output itself not counted.

use std::time::Instant;

const METADATA: &str = r#"```json
{
  "agent": "developer", "output_type": "implementation", "timestamp": "2026-01-18T15:42:00Z",
  "feature_directory": "out", "skills_invoked": [], "status": "complete",
  "handoff": { "next_agent": null, "context": "done" }
}
```
"#;

fn repeated(unit: &str, size: usize) -> String {
    unit.repeat(size / unit.len())
}

fn report(size: usize) -> String {
    let prose = "## Step\n\nI looked at `src/lib.rs` and **changed** the parser, see [the notes](notes.md).\n\n- first point\n  - nested, with {braces}\n- second point\n\n1. one\n2. two\n\n> quoted\n\n";
    let code = "```rust\nfn main() {\n    println!(\"{}\", 1);\n}\n```\n\n```json\n{ \"status\": \"ok\", \"rows\": [1, 2, 3] }\n```\n\n";
    repeated(&format!("{prose}{code}"), size)
}

fn log(size: usize) -> String {
    let line = "2026-01-18T15:42:00Z INFO request {\"status\":200,\"agent\":\"curl\",\"ms\":12} at server.rs:87\n    at frame one\n";
    format!("# Log\n\n```\n{}```\n\n", repeated(line, size))
}

/// The most memory the process has had so far, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or_default()
}

fn main() {
    let megabytes: usize = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(50);
    let size = megabytes * 1_000_000;
    let jsonl = "{\"status\":200,\"agent\":\"curl\",\"message\":\"a line of a log without a fence\"}\n";
    let cases: [(&str, fn(usize) -> String); 5] = [
        ("a log in one fence", log),
        ("a report", report),
        ("a log without a fence", |size| repeated("2026-01-18 INFO one line\n    and its frame\n", size)),
        ("one line", |size| repeated("no line break at all, ", size)),
        ("short paragraphs", |size| repeated("word\n\n", size)),
    ];
    let jsonl_case: (&str, String) = ("JSON lines without a fence", repeated(jsonl, size));
    let texts = cases.iter().map(|(name, make)| (*name, make(size))).chain([jsonl_case]);
    for (name, text) in texts {
        let output = format!("{text}\n\n{METADATA}");
        drop(text);
        let before = peak();
        let mut times: Vec<u128> = (0..5)
            .map(|_| {
                let start = Instant::now();
                assert!(interlock_core::handoff::extract("out.md", output.as_bytes()).is_ok());
                start.elapsed().as_millis()
            })
            .collect();
        times.sort_unstable();
        let more = peak().saturating_sub(before) / 1024;
        println!("{name}: median {} ms of {times:?}, {more} MiB on top of {} MB", times[2], output.len() / 1_000_000);
    }
}
