//! Runs every `console` block of the error pages and compares what it prints.
//!
//! `console in=SCENE` starts in a fresh copy of a scene of `scenes.rs`. A later `console` block of the
//! same page goes on in the same folder. Blocks with `file=NAME` are written into the folder first.
//! `console unrun=REASON` is shown and not run; the test lists these and allows ten.
//!
//! `INTERLOCK_PAGES=E03` restricts the test to pages whose code starts with `E03`.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::{fs, thread};

use super::examples::agent_output;
use super::fence::{ErrorPage, FencedBlock, read_error_pages};
use super::print::{real_command, shown_output};
use super::scene::Scene;
use super::scenes::enter_scene;

/// How many blocks may say that no test can run them.
const MAX_UNRUN: usize = 10;

/// The commands of a block: lines after `$ `, continued after a backslash.
fn commands_of(block: &FencedBlock) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut continues = false;
    for line in block.text.lines() {
        if continues {
            let command = commands.last_mut().expect("a command that continues");
            let _ = write!(command, "\n{line}");
            continues = line.ends_with('\\');
        } else if let Some(command) = line.strip_prefix("$ ") {
            commands.push(command.to_owned());
            continues = command.ends_with('\\');
        }
    }
    commands
}

/// The block as it should be: each command with what it prints now. `outputs` grows by the prints alone.
fn run_block(block: &FencedBlock, scene: &mut Scene, outputs: &mut String) -> String {
    let mut printed = String::new();
    for command in commands_of(block) {
        let script = real_command(&command, scene);
        let output = scene.run(&script);
        let shown = shown_output(&output, scene);
        let _ = writeln!(printed, "$ {command}");
        printed.push_str(&shown);
        outputs.push_str(&shown);
    }
    printed
}

/// The outcome of a page: its text with the outputs of this run, and what is wrong with it.
struct PageOutcome {
    text: String,
    problem: Option<String>,
}

fn run_page(page: &ErrorPage) -> PageOutcome {
    let mut scene: Option<Scene> = None;
    let mut lines: Vec<String> = page.text.lines().map(str::to_owned).collect();
    let mut shift = 0isize;
    let mut outputs = String::new();
    for (index, block) in page.blocks.iter().enumerate() {
        if let (Some(file), Some(scene)) = (block.option("file"), &scene) {
            scene.write(file, &agent_output(&page.code, block));
        }
        if block.language != "console" || block.option("unrun").is_some() {
            continue;
        }
        if block.option("in").is_some() || scene.is_none() {
            // Not the code itself: a path with it would look like the code in an output.
            let folder = format!("{}-{index}", page.code.to_lowercase());
            let entered = enter_scene(block.option("in").unwrap_or("empty"), &folder);
            for earlier in &page.blocks[..index] {
                if let Some(file) = earlier.option("file") {
                    entered.write(file, &agent_output(&page.code, earlier));
                }
            }
            scene = Some(entered);
        }
        let printed = run_block(block, scene.as_mut().expect("a scene"), &mut outputs);
        let new: Vec<String> = printed.lines().map(str::to_owned).collect();
        let first = block.first_line.checked_add_signed(shift).expect("a line of the page");
        shift += isize::try_from(new.len()).unwrap() - isize::try_from(block.line_count).unwrap();
        lines.splice(first..first + block.line_count, new);
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let problem = page_problem(page, &text, &outputs);
    PageOutcome { text, problem }
}

fn page_problem(page: &ErrorPage, text: &str, outputs: &str) -> Option<String> {
    let is_marked = |block: &FencedBlock| block.has_mark("wrong") || block.option("unrun").is_some();
    if !page.blocks.iter().any(is_marked) && !outputs.contains(&page.code) {
        return Some(format!("{}: no example shows the code of the page\n{outputs}", page.code));
    }
    if text == page.text {
        return None;
    }
    let shown = page.text.lines().zip(text.lines()).find(|(old, new)| old != new);
    let (old, new) = shown.unwrap_or(("(the page ends)", "(more lines)"));
    Some(format!("{}: the page shows\n  {old}\nand the program prints\n  {new}", page.code))
}

#[test]
fn console_blocks_on_error_pages_show_what_the_program_prints() {
    let pages = read_error_pages();
    let bless = std::env::var_os("INTERLOCK_BLESS").is_some();
    let problems = Mutex::new(Vec::new());
    let only = std::env::var("INTERLOCK_PAGES").unwrap_or_default();
    let has_console = |page: &&ErrorPage| page.blocks.iter().any(|block| block.language == "console");
    let queue = Mutex::new(pages.iter().filter(has_console).filter(|page| page.code.starts_with(&only)));
    let work = || {
        loop {
            let Some(page) = queue.lock().unwrap().next() else { break };
            let outcome = run_page(page);
            if bless && outcome.text != page.text {
                fs::write(&page.path, &outcome.text).unwrap();
            }
            let missing_code = outcome.problem.filter(|problem| !bless || problem.contains("no example"));
            problems.lock().unwrap().extend(missing_code);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from).min(4) {
            scope.spawn(work);
        }
    });
    let mut problems = problems.into_inner().unwrap();
    problems.sort();
    let help = "`INTERLOCK_BLESS=1 cargo test --test cli pages` writes today's output into the pages";
    assert!(problems.is_empty(), "{}\n{help}", problems.join("\n"));
}

#[test]
fn console_blocks_that_no_test_runs_are_few_and_have_a_reason() {
    let mut unrun = Vec::new();
    for page in read_error_pages() {
        for block in page.blocks.iter().filter(|block| block.language == "console") {
            let Some(reason) = block.option("unrun") else { continue };
            assert!(reason.split('-').count() >= 3, "{}: `{reason}` is not a reason", page.code);
            unrun.push(format!("{}: {}", page.code, reason.replace('-', " ")));
        }
    }
    println!("not run:\n{}", unrun.join("\n"));
    assert!(unrun.len() <= MAX_UNRUN, "{} blocks are not run:\n{}", unrun.len(), unrun.join("\n"));
}
