//! The integration tests: one binary, one module a feature.

#![expect(
    clippy::disallowed_methods,
    reason = "tests pass the developer's environment on to what they run"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails the test, and says where"
)]
#![expect(unreachable_pub, reason = "one binary, whose modules are for each other")]

mod ingest_twice;
mod analyst;
mod ask;
mod bench;
mod broken_data;
mod bytes;
mod dataset_csv;
mod dataset_names;
mod cassettes;
mod chat;
mod check_model;
mod check_types;
mod checks;
mod claims;
mod chaos;
mod cluster;
mod cmd;
mod config;
mod conventions;
mod describe;
mod mistakes;
mod named_data;
mod export;
mod failures;
mod files;
mod findings;
mod folders;
mod folders_again;
mod grounding;
mod guide;
mod help;
mod sandbox_allows;
mod hosted;
mod diff;
mod doctor;
mod dry_run;
mod egress;
mod container_rerun;
mod hostile;
mod images;
mod inputs;
mod kill;
mod launchers;
mod lazy;
mod live;
mod mcp;
mod page;
mod parquet;
mod provider;
mod queries;
mod readme;
mod reads;
mod real;
mod remote;
mod report;
mod reports;
mod rerun;
mod schema;
mod schemas;
mod session;
mod session_bounds;
mod setup;
mod terminal;
mod tidy;
mod no_tools;
mod wheel;
mod wires;
mod redaction;
mod worker;
mod worker_program;
