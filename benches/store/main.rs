//! The store beside its raw limit: `cargo bench --bench store [-- SECTION…]`.
//!
//! Sections: `single`, `group`, `growth`, `session`, `audit`, `cli`, `size`. Each compares in the same run, interleaved,
//! and prints the median of five.

mod raw;
mod world;

use std::process::Command;
use std::time::{Duration, Instant};

use interlock_store::Store;
use interlock_store::audit;
use interlock_store::sqlite::SqliteStore;

use world::{Ready, World};

const ROUNDS: usize = 5;
/// Callers that share a process.
const CALLERS: usize = 64;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let wants = |section: &str| wanted.is_empty() || wanted.iter().any(|name| name == section);
    if wants("single") {
        single();
    }
    if wants("group") {
        group();
    }
    if wants("size") {
        size();
    }
    if wants("cli") {
        cli();
    }
    if wants("session") {
        session();
    }
    if wants("growth") {
        growth();
    }
    if wants("audit") {
        let world = World::new();
        world.fill(100_000);
        verified(&world);
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn rate(count: usize, time: Duration) -> f64 {
    f64::from(u32::try_from(count).unwrap()) / time.as_secs_f64()
}

/// One caller, one durable commit a decision.
fn single() {
    const DECISIONS: usize = 1_000;
    let (mut ours, mut raws) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let world = World::new();
        let ready = world.ready(DECISIONS);
        let before = world.copy();
        let mut engine = world.engine();
        let begun = Instant::now();
        for report in &ready {
            engine.execute(&report.order()).expect("it is decided");
        }
        ours.push(begun.elapsed());
        drop(engine);
        let appends = raw::recorded(&world, &before);
        raws.push(raw::replay(&before, &appends, 1));
    }
    let (ours, raw) = (median(ours), median(raws));
    println!("one caller, a commit each:    {:>9.0} decisions/s", rate(DECISIONS, ours));
    println!("  bare SQLite, same rows:     {:>9.0} /s", rate(DECISIONS, raw));
    println!("  share of the raw limit:     {:>9.2}", raw.as_secs_f64() / ours.as_secs_f64());
}

/// Many callers, one commit for as many as wait.
fn group() {
    const DECISIONS: usize = 3_200;
    let (mut ours, mut raws) = (Vec::new(), Vec::new());
    let (mut busy, mut raw_busy) = ([Vec::new(), Vec::new()], Vec::new());
    for _ in 0..ROUNDS {
        let world = World::new();
        let ready = world.ready_in(CALLERS, DECISIONS);
        let before = world.copy();
        let (time, threads) = together(&world, &ready);
        ours.push(time);
        busy.iter_mut().zip(threads).for_each(|(all, spent)| all.push(spent));
        let appends = raw::recorded(&world, &before);
        let spent = processor_time("thread-self");
        raws.push(raw::replay(&before, &appends, CALLERS));
        raw_busy.push(processor_time("thread-self") - spent);
    }
    let each = |times: Vec<Duration>| median(times).as_secs_f64() * 1e6 / f64::from(u32::try_from(DECISIONS).unwrap());
    let (ours, raw) = (median(ours), median(raws));
    println!("{CALLERS} callers, group commit:     {:>9.0} durable decisions/s", rate(DECISIONS, ours));
    println!("  bare SQLite, {CALLERS} a commit:    {:>9.0} /s", rate(DECISIONS, raw));
    println!("  share of the raw limit:     {:>9.2}", raw.as_secs_f64() / ours.as_secs_f64());
    let [writing, deciding] = busy.map(each);
    println!("  processor time, each:       {writing:>9.1} µs writing, {deciding:.1} µs deciding");
    println!("  of bare SQLite, each:       {:>9.1} µs", each(raw_busy));
}

/// The processor time of a thread so far.
fn processor_time(thread: &str) -> Duration {
    let spent = std::fs::read_to_string(format!("/proc/{thread}/schedstat")).unwrap_or_default();
    Duration::from_nanos(spent.split(' ').next().and_then(|spent| spent.parse().ok()).unwrap_or(0))
}

/// The processor times of the other threads of this process, the busiest first.
fn other_threads() -> Vec<Duration> {
    let main = std::process::id().to_string();
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let others = threads.map(|thread| thread.file_name().to_string_lossy().into_owned()).filter(|id| *id != main);
    let mut spent: Vec<Duration> = others.map(|id| processor_time(&format!("self/task/{id}"))).collect();
    spent.sort_by(|one, other| other.cmp(one));
    spent
}

/// The time it took, and the processor time of the threads of group commit.
fn together(world: &World, ready: &[Ready]) -> (Duration, Vec<Duration>) {
    let desk = interlock_engine::CommandQueue::open(world.engine()).expect("a desk");
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for mine in ready.chunks(ready.len().div_ceil(CALLERS)) {
            let caller = desk.caller().expect("the desk is open");
            scope.spawn(move || {
                for report in mine {
                    caller.execute(report.order()).expect("it is decided");
                }
            });
        }
    });
    let (time, threads) = (begun.elapsed(), other_threads());
    desk.close();
    (time, threads)
}

/// Bytes stored for a decision beyond its handoff.
fn size() {
    let world = World::new();
    let ready = world.ready(4_000);
    let before = world.bytes();
    let mut engine = world.engine();
    for report in &ready {
        engine.execute(&report.order()).expect("it is decided");
    }
    drop(engine);
    let after = world.bytes();
    let given: usize = ready.iter().map(|report| report.bytes.len()).sum();
    let each = (after.saturating_sub(before)).saturating_sub(u64::try_from(given).unwrap()) / 4_000;
    println!("stored for a decision:        {each:>9} bytes beyond its handoff");
}

/// The program itself, from its start to its end.
fn cli() {
    const RUNS: usize = 200;
    let world = World::new();
    let ready = world.ready(RUNS);
    let program = env!("CARGO_BIN_EXE_interlock");
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for report in &ready {
        let file = world.folder.join("handoff.json");
        std::fs::write(&file, &report.bytes).expect("it is written");
        let mut command = Command::new(program);
        command.args(["report", "--json", "--assignment", &report.reference(), "--store"]);
        command.arg(world.store()).arg(&file).env("HOME", &world.folder).env_remove("XDG_CONFIG_HOME");
        command.env("INTERLOCK_TOKEN", report.token.reveal());
        let begun = Instant::now();
        let output = command.output().expect("it runs");
        ours.push(begun.elapsed());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let begun = Instant::now();
        Command::new(program).arg("--version").output().expect("it runs");
        floor.push(begun.elapsed());
    }
    println!("`interlock report`, median:   {:>9.2} ms", median(ours).as_secs_f64() * 1e3);
    println!("  `interlock --version`:      {:>9.2} ms", median(floor).as_secs_f64() * 1e3);
}

/// Time for a decision in a session that has little behind it, and much.
fn session() {
    const BEHIND: usize = 100_000;
    const DECISIONS: usize = 1_000;
    let (short, long) = (world::long_session(100), world::long_session(BEHIND));
    let (mut few, mut many) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        few.push(short.go_on(DECISIONS));
        many.push(long.go_on(DECISIONS));
    }
    grown(&format!("in a session of {BEHIND} decisions"), median(few), median(many), DECISIONS);
}

/// Time for a decision with few stored beside it, and with very many; and how fast those are checked.
fn growth() {
    const STORED: usize = 1_000_000;
    const DECISIONS: usize = 1_000;
    let (small, large) = (World::new(), World::new());
    small.fill(100);
    let begun = Instant::now();
    large.fill(STORED);
    eprintln!("  (filled with {STORED} decisions in {:.0} s)", begun.elapsed().as_secs_f64());
    let (mut few, mut many) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for (world, times) in [(&small, &mut few), (&large, &mut many)] {
            let ready = world.ready(DECISIONS);
            let mut engine = world.engine();
            let begun = Instant::now();
            for report in &ready {
                engine.execute(&report.order()).expect("it is decided");
            }
            times.push(begun.elapsed());
        }
    }
    grown(&format!("beside {STORED} stored decisions"), median(few), median(many), DECISIONS);
    verified(&large);
}

/// How fast what is stored is checked.
fn verified(world: &World) {
    let path = world.store();
    let open = || Ok(Box::new(SqliteStore::open(&path)?) as Box<dyn Store>);
    let sessions = open().and_then(|mut store| store.view()?.sessions()).expect("they are read");
    let begun = Instant::now();
    let report = audit::verify(&open, &world::key(world), &sessions, &[]).expect("it is checked");
    let time = begun.elapsed();
    assert!(report.is_valid(), "{:?}", report.problems.first());
    let events = usize::try_from(report.events).unwrap();
    println!("`audit verify`:               {:>9.0} events/s ({events} events)", rate(events, time));
}

fn grown(what: &str, few: Duration, many: Duration, count: usize) {
    println!("a decision {what}: {:.3} ms", many.as_secs_f64() * 1e3 / f64::from(u32::try_from(count).unwrap()));
    println!("  against one of 100:         {:>9.2}", many.as_secs_f64() / few.as_secs_f64());
}
