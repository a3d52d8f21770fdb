#[cfg_attr(not(test), expect(dead_code, reason = "called once `workflow graph` is a command"))]
mod graph;

fn main() {}
