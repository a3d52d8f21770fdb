//! How long `interlock route` takes from nothing, beside an empty clap program in the same run.
//!
//! `cargo bench --bench cold_start`. Interleaved, 200 runs each, medians. The goal: at most
//! 5 ms, and at most three times the empty program.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

const RUNS: usize = 200;

fn main() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let built = Command::new(cargo).args(["build", "--release", "--quiet", "--example", "empty_clap"]).status();
    assert!(built.is_ok_and(|status| status.success()), "the empty program must build");
    let interlock = PathBuf::from(env!("CARGO_BIN_EXE_interlock"));
    let empty = interlock.with_file_name("examples").join("empty_clap");
    let route = ["route", "--workflow", "delivery-team", "--role", "developer", "--status", "READY_FOR_QA", "--json"];
    let check = ["check", "delivery-team"];
    let mut times: [Vec<f64>; 3] = Default::default();
    for _ in 0..RUNS {
        times[0].push(run(Command::new(&empty).args(["--name", "x"])));
        times[1].push(run(Command::new(&interlock).args(route)));
        times[2].push(run(Command::new(&interlock).args(check)));
    }
    let [empty, route, check] = times.map(median);
    println!("an empty clap program: {empty:>6.2} ms");
    println!("interlock route:       {route:>6.2} ms, {:.2} times the empty one", route / empty);
    println!("interlock check:       {check:>6.2} ms, {:.2} times the empty one", check / empty);
}

fn run(command: &mut Command) -> f64 {
    let start = Instant::now();
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "{command:?} must succeed");
    start.elapsed().as_secs_f64() * 1000.0
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
