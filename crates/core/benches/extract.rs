//! How long it takes, and how much memory, to find the metadata in a large output.
//!
//! `cargo bench -p interlock-core --bench extract [-- MEGABYTES [CASE]]`. The goal for 50 MB is
//! at most a second and at most twice the size of the output, the output itself not counted.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a benchmark measures and prints"
)]

use std::time::Instant;

const METADATA: &str = r#"

```json
{
  "agent": "developer", "output_type": "implementation", "timestamp": "2026-01-18T15:42:00Z",
  "feature_directory": "out", "skills_invoked": [], "status": "complete",
  "handoff": { "next_agent": null, "context": "done" }
}
```
"#;

const STEP: &str = r#"## Step

I looked at `src/lib.rs` and **changed** the parser so that it keeps the place of every key; see [the notes](notes.md).

- first point, with a word or two more than that
  - nested, with {braces}
- second point

1. one
2. two

> quoted

```rust
fn answer() -> u32 {
    42
}
```

```json
{ "status": "ok", "rows": [1, 2, 3] }
```

"#;

const LOG_LINE: &str = "2026-01-18T15:42:00Z INFO request {\"status\":200,\"agent\":\"curl\",\"ms\":12} at server.rs:87\n    at frame one\n";

/// Made in one piece, so that no copy of it adds to the peak.
fn output(begin: &str, unit: &str, end: &str, size: usize) -> String {
    let mut text = String::with_capacity(size + unit.len() + 1_000);
    text.push_str(begin);
    while text.len() < size {
        text.push_str(unit);
    }
    text.push_str(end);
    text.push_str(METADATA);
    text
}

/// The most memory the process has had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// Forgets the peak, where the system lets a process do so.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let megabytes: usize = arguments.first().and_then(|argument| argument.parse().ok()).unwrap_or(50);
    let cases: [(&str, &str, &str, &str); 8] = [
        ("log in one fence", "# Log\n\n```\n", LOG_LINE, "```\n"),
        ("report", "", STEP, ""),
        ("log without a fence", "", LOG_LINE, ""),
        ("JSON lines without a fence", "", "{\"status\":200,\"agent\":\"curl\",\"message\":\"text\"}\n", ""),
        ("one line", "", "no line break at all, ", ""),
        ("short paragraphs", "", "word\n\n", ""),
        ("open braces", "", "{\n", "\n"),
        ("open objects", "", "{\"a\":\n", "\n"),
    ];
    for (name, begin, unit, end) in cases {
        if arguments.get(1).is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let text = output(begin, unit, end, megabytes * 1_000_000);
        forget_peak();
        let before = peak();
        let mut times: Vec<u128> = (0..5)
            .map(|_| {
                let start = Instant::now();
                assert!(interlock_core::handoff::extract("out.md", text.as_bytes()).is_ok());
                start.elapsed().as_millis()
            })
            .collect();
        times.sort_unstable();
        let more = peak().saturating_sub(before);
        println!("{name}: median {} ms of {times:?}, {more} KiB on top of {megabytes} MB", times[2]);
    }
}
