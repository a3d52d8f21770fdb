//! A program that parses a command line and does nothing: the floor for cold starts.

use clap::Parser;

#[derive(Parser)]
struct Empty {
    #[arg(long)]
    name: Option<String>,
}

fn main() {
    let Empty { name } = Empty::parse();
    std::hint::black_box(name);
}
