//! The guide to checks in CI: every block of it runs, and ends as it says.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::bench::{Bench, round};

/// A block of the guide: its language, its text, and the status that it ends with.
fn blocks(guide: &str) -> Vec<(&str, &str, i32)> {
    let parts = guide.split("<!-- run: ").skip(1);
    parts
        .map(|part| {
            let (code, rest) = part.split_once(" -->\n```").unwrap();
            let (language, rest) = rest.split_once('\n').unwrap();
            (language, rest.split_once("\n```").unwrap().0, code.parse().unwrap())
        })
        .collect()
}

/// Returns what a job runs: the lines below `run: |` or `- |`.
fn script_of(job: &str) -> String {
    let mut lines = job.lines().skip_while(|it| !it.ends_with(" |"));
    let indent = |it: &str| it.len() - it.trim_start().len();
    let opening = indent(lines.next().unwrap());
    let script = lines.take_while(|it| opening < indent(it));
    script.map(|it| it.trim_start().to_owned() + "\n").collect()
}

#[test]
fn every_block_runs_and_ends_as_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = fs::read_to_string(root.join("docs/ci.md")).unwrap();
    let answer = json!({"text": "Nothing is odd.", "findings": [], "assessment": "good"});
    let bench = Bench::with([]).script([
        round().calls("c1", "python_repl", json!({"code": "load('mended').total.min()"})),
        round().says(&answer.to_string()),
    ]);
    fs::write(bench.path("prices.toml"), "[prices.\"gpt-5.1\"]\ninput = 1.25\noutput = 10\n")
        .unwrap();
    let python = "python3() { \"$(ls -d \"$XDG_CACHE_HOME\"/csv-agent/python-*/bin/python | tail -1)\" \"$@\"; }";
    let setup = format!(
        "{python}\nunset CSV_AGENT_SESSION_DIR\nexport CSV_AGENT_CONFIG=prices.toml\n{}",
        bench.server_settings()
    );
    let blocks = blocks(&guide);
    assert_eq!(blocks.len(), guide.matches("\n```").count() / 2, "a block that no test runs");
    bench.shell("git init -q . && git config user.email a@example.com", &[]).succeeds();
    for (language, text, code) in blocks {
        let script = if language == "yaml" { script_of(text) } else { text.to_owned() };
        bench.shell(&format!("{setup}\n{script}"), &[]).fails_with(code);
    }
    for report in ["dq.xml", "dq.sarif", "dq.md", "check_orders.py"] {
        assert!(bench.path(report).exists(), "{report}");
    }
}
