//! The program `stiction`.

use std::process::ExitCode;

fn main() -> ExitCode {
    stiction_cli::main()
}
