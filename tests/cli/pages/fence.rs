//! Fenced blocks of the error pages.

use std::fs;
use std::path::{Path, PathBuf};

/// A page of `docs/errors/` with its blocks in order.
pub(super) struct ErrorPage {
    /// The code that the page explains, such as `E0104`.
    pub(super) code: String,
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) blocks: Vec<FencedBlock>,
}

/// A fenced block. The first word after the fence is the language; words with `=` are options.
pub(super) struct FencedBlock {
    pub(super) language: String,
    /// Words after the language that are not options, such as `wrong`.
    pub(super) marks: Vec<String>,
    /// `name=value`, in the order of the page.
    pub(super) options: Vec<String>,
    pub(super) text: String,
    /// Index of the first line inside the fence.
    pub(super) first_line: usize,
    pub(super) line_count: usize,
}

impl FencedBlock {
    pub(super) fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }

    pub(super) fn has_mark(&self, mark: &str) -> bool {
        self.marks.iter().any(|found| found == mark)
    }
}

/// All error pages, ordered by code.
pub(super) fn read_error_pages() -> Vec<ErrorPage> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/errors");
    let mut pages: Vec<ErrorPage> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_stem().is_some_and(|stem| stem != "README"))
        .map(read_page)
        .collect();
    pages.sort_by(|a, b| a.code.cmp(&b.code));
    pages
}

fn read_page(path: PathBuf) -> ErrorPage {
    let text = fs::read_to_string(&path).unwrap();
    let code = path.file_stem().unwrap().to_str().unwrap().to_owned();
    ErrorPage { code, blocks: parse_blocks(&text), path, text }
}

pub(super) fn parse_blocks(text: &str) -> Vec<FencedBlock> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let info = line.trim_start_matches('`');
        let fence = &line[..line.len() - info.len()];
        if fence.len() < 3 {
            continue;
        }
        let body: Vec<&str> = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != fence).collect();
        let mut words = info.split(' ').map(str::to_owned);
        let language = words.next().unwrap_or_default();
        let (options, marks) = words.partition(|word| word.contains('='));
        blocks.push(FencedBlock {
            language,
            marks,
            options,
            text: body.iter().map(|line| format!("{line}\n")).collect(),
            first_line: index + 1,
            line_count: body.len(),
        });
    }
    blocks
}
