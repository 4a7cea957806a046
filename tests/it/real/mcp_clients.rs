//! `csv-agent mcp` with clients that are none of ours: the protocol's conformance suite and its Python client.

use std::fs;
use std::path::PathBuf;

use super::installed;
use crate::bench::{Bench, is_slow_run};

/// Runs a script on a machine with the clients, whose directory is `$clients`. Nothing happens where they are not.
fn run(bench: &Bench, script: &str) {
    let place = "mcp-clients/version";
    let Some(mark) = installed("CSV_AGENT_MCP_CLIENTS", place, "install-mcp-clients") else {
        return;
    };
    let clients = mark.parent().unwrap().to_owned();
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_csv-agent"));
    let variables = [("clients", clients), ("repository", repository), ("binary", binary)];
    bench.shell(&format!("set -e\n{script}"), &variables).succeeds();
}

#[test]
fn the_conformance_suite_passes_but_for_what_its_list_explains() {
    if !is_slow_run() {
        return;
    }
    let bench = Bench::with(["sales.csv"]);
    fs::write(bench.path("open.csv"), "day,n\n01/02/2024,1\n03/04/2024,2\n").unwrap();
    // The data and the turn that its stand-ins show.
    let script = r#"
        csv-agent ingest -q --name data123 sales.csv
        csv-agent ask --model builtin "bar chart of total revenue by product"
        for revision in 2025-11-25 2026-07-28; do
            "$clients/bin/python" "$repository/tests/servers/conformance.py" csv-agent mcp -- \
                "$clients/bin/node" "$clients/node_modules/.bin/conformance" server --requirements $revision \
                --expected-failures "$repository/tests/servers/conformance.yml" --url
        done"#;
    run(&bench, script);
}

#[test]
fn the_python_client_uses_every_tool_resource_and_prompt_in_both_eras() {
    if is_slow_run() {
        let bench = Bench::with([]);
        run(&bench, r#""$clients/bin/python" "$repository/benches/mcp_client.py" "$binary" 0"#);
    }
}
