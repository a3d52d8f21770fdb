//! The program `interlock`.

use std::process::ExitCode;

fn main() -> ExitCode {
    interlock_cli::main()
}
