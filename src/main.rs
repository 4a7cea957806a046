//! The `csv-agent` command.

use std::process::ExitCode;

use csv_agent_query::engine;
use csv_agent_worker::sandbox::{STAGE, close_to_others, stage};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    // Before anything starts a thread.
    if arguments.nth(1).is_some_and(|it| it == STAGE) {
        let policy_bytes = arguments.next().unwrap_or_default();
        return stage::run(&policy_bytes.to_string_lossy(), engine::serve);
    }
    close_to_others();
    csv_agent_cli::run(std::env::args_os(), env!("CSV_AGENT_VERSION"))
}
