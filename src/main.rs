//! The `csv-agent` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    csv_agent::cli::run(std::env::args_os())
}
