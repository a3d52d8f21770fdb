//! What the guides show is what the program does.
//!
//! In `README.md` and `docs/*.md`, a fence that begins with `yaml check` is a whole workflow
//! file that loads. One that begins with `json handoff` is a handoff that is valid; the words
//! after it (`role=…`, `workflow=…`, `phase=…`, `context=…`) are options of the command.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A fenced block, with the words behind its fence.
struct Block {
    place: String,
    words: Vec<String>,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == ending));
    files.sort();
    files
}

fn blocks_of(page: &Path) -> Vec<Block> {
    let text = fs::read_to_string(page).unwrap();
    let mut blocks = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let info = line.trim_start_matches('`');
        let fence = &line[..line.len() - info.len()];
        if fence.len() < 3 {
            continue;
        }
        let mut body = String::new();
        for (_, line) in lines.by_ref().take_while(|(_, line)| *line != fence) {
            body.push_str(line);
            body.push('\n');
        }
        let words = info.split_whitespace().map(str::to_owned).collect();
        blocks.push(Block { place: format!("{}:{}", page.display(), index + 1), words, text: body });
    }
    blocks
}

/// The blocks whose fence begins with these two words.
fn marked(language: &str, mark: &str) -> Vec<Block> {
    let mut pages = files("docs", "md");
    pages.push(root().join("README.md"));
    let found = pages.iter().filter(|page| page.is_file()).flat_map(|page| blocks_of(page));
    let wanted = [language, mark];
    found.filter(|block| block.words.iter().take(2).map(String::as_str).eq(wanted)).collect()
}

/// What the program says against this input, if it does not exit with 0.
fn refusal(arguments: &[String], input: &str) -> Option<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
    command.args(arguments).env_clear().current_dir(root());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that has refused its arguments does not read; its exit code says so.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code() != Some(0)).then(|| format!("{arguments:?}: {}\n{said}", output.status))
}

fn check_all(blocks: &[Block], arguments: impl Fn(&Block) -> Vec<String>) {
    assert!(!blocks.is_empty(), "no page has such a block");
    let failures: Vec<String> = blocks
        .iter()
        .filter_map(|block| Some(format!("{}\n{}", block.place, refusal(&arguments(block), &block.text)?)))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn workflows_in_the_guides_load() {
    check_all(&marked("yaml", "check"), |_| vec!["check".to_owned(), "-".to_owned()]);
}

#[test]
fn handoffs_in_the_guides_are_valid() {
    check_all(&marked("json", "handoff"), |block| {
        let mut arguments = vec!["handoff".to_owned(), "check".to_owned(), "-".to_owned()];
        arguments.extend(block.words.iter().skip(2).map(|word| format!("--{word}")));
        arguments
    });
}

#[test]
fn example_files_load_and_are_those_of_the_guide() {
    let guide = fs::read_to_string(root().join("docs/workflow-language.md")).unwrap();
    let examples = files("docs/examples", "yaml");
    assert!(!examples.is_empty(), "there are no examples");
    for path in examples {
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(refusal(&["check".to_owned(), path.display().to_string()], ""), None);
        assert!(guide.contains(&text), "{} is not in the guide as it is", path.display());
    }
}
