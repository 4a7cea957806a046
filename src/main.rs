//! The `csv-agent` command.

fn main() {}
