//! Colours and fonts, for light and dark.
//!
//! Plain classes and no variables: viewers that know little CSS show the light one.

pub(super) const SHEET: &str = r#".page { fill: #ffffff; }
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; font-size: 11px; fill: #1f2328; }
.heading { font-size: 20px; font-weight: 700; }
.about { font-size: 13px; fill: #59636e; }
.title { font-size: 13px; font-weight: 600; }
.table-title { font-size: 12px; font-weight: 600; }
.note, .detail { fill: #59636e; }
.code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.light-text { fill: #ffffff; }
.box { fill: #ffffff; stroke: #818b98; stroke-width: 1.2; }
.behind { fill: #f6f8fa; stroke: #818b98; stroke-width: 1; }
.role .box, .phase .box { fill: #f6f8fa; }
.authors .box { fill: #eef4ff; stroke: #4f7bd0; }
.authors .behind { fill: #dce8ff; stroke: #4f7bd0; }
.gate .box, .validator .box { fill: #e6f6f4; stroke: #1b7c83; }
.merge .box { fill: #eef4ff; stroke: #4f7bd0; }
.question .box { fill: #fbefff; stroke: #8250df; }
.person { fill: #8250df; }
.start .box, .join .box { fill: #59636e; stroke: #59636e; }
.end .box { fill: #dafbe1; stroke: #1a7f37; }
.deferred .box { fill: #f6f8fa; stroke: #818b98; stroke-dasharray: 4 3; }
.optional .box { stroke-dasharray: 5 3; }
.lane { fill: #f6f8fa; stroke: #d1d9e0; stroke-width: 1; }
.lane-name { font-size: 11px; fill: #59636e; font-weight: 600; }
.lane .box { fill: #ffffff; }
.halo { fill: none; stroke: #ffffff; stroke-width: 6; }
.line { fill: none; stroke-width: 1.5; }
.forward .line { stroke: #59636e; }
.rework .line { stroke: #bc4c00; }
.consult .line { stroke: #0969da; stroke-dasharray: 6 3; }
.escalation .line { stroke: #cf222e; stroke-width: 2.6; }
.question-line .line { stroke: #8250df; stroke-dasharray: 2 3; }
.forward .head { fill: #59636e; }
.rework .head, .rework-ink { fill: #bc4c00; }
.consult .head, .consult-ink { fill: #0969da; }
.escalation .head, .escalation-ink { fill: #cf222e; }
.question-line .head { fill: #8250df; }
.stop-ink { fill: #cf222e; }
.sign { font-weight: 700; }
.label { fill: #ffffff; stroke-width: 1; }
.forward .label { stroke: #d1d9e0; }
.rework .label { fill: #fff8f0; stroke: #e5b083; }
.consult .label { fill: #f1f8ff; stroke: #9cc7f5; }
.escalation .label { fill: #fff2f1; stroke: #f0a8a3; }
.question-line .label { fill: #fbefff; stroke: #cdb0f3; }
.card { fill: #ffffff; stroke: #d1d9e0; stroke-width: 1; }
.rule { stroke: #d1d9e0; stroke-width: 1; }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117; }
text { fill: #e6edf3; }
.about, .note, .detail, .lane-name { fill: #9198a1; }
.box { fill: #0d1117; stroke: #6e7681; }
.behind { fill: #161b22; stroke: #6e7681; }
.role .box, .phase .box { fill: #161b22; }
.authors .box { fill: #0f1d33; stroke: #4f7bd0; }
.authors .behind { fill: #152a4a; stroke: #4f7bd0; }
.gate .box, .validator .box { fill: #0c2427; stroke: #2f9aa3; }
.merge .box { fill: #0f1d33; stroke: #4f7bd0; }
.question .box { fill: #221533; stroke: #ab7df8; }
.person { fill: #ab7df8; }
.start .box, .join .box { fill: #9198a1; stroke: #9198a1; }
.light-text { fill: #0d1117; }
.end .box { fill: #0f2a17; stroke: #3fb950; }
.deferred .box { fill: #161b22; stroke: #6e7681; }
.lane { fill: #11161d; stroke: #30363d; }
.halo { stroke: #0d1117; }
.forward .line { stroke: #9198a1; }
.rework .line { stroke: #f0883e; }
.consult .line { stroke: #58a6ff; }
.escalation .line { stroke: #ff7b72; }
.question-line .line { stroke: #bc8cff; }
.forward .head { fill: #9198a1; }
.rework .head, .rework-ink { fill: #f0883e; }
.consult .head, .consult-ink { fill: #58a6ff; }
.escalation .head, .escalation-ink { fill: #ff7b72; }
.question-line .head { fill: #bc8cff; }
.stop-ink { fill: #ff7b72; }
.label { fill: #0d1117; }
.forward .label { stroke: #30363d; }
.rework .label { fill: #24160a; stroke: #7a4a1f; }
.consult .label { fill: #0c1d31; stroke: #2c5a8f; }
.escalation .label { fill: #2a1312; stroke: #8a3b36; }
.question-line .label { fill: #1d142b; stroke: #5f4391; }
.card { fill: #0d1117; stroke: #30363d; }
.rule { stroke: #30363d; }
}
"#;
