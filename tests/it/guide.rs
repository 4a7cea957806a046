//! The guides to checks in CI and to code at the provider: every block of them runs, and ends as it says.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::bench::{Bench, Run, round};

/// Has scripts run the Python that csv-agent made.
const PYTHON: &str = "python3() { \"$(ls -d \"$XDG_CACHE_HOME\"/csv-agent/python-*/bin/python | tail -1)\" \"$@\"; }";

/// Code that really gives the table of the guide.
const TOTALS: &str = "import pandas as pd\norders = pd.read_csv('/mnt/data/orders.csv')\n\
totals = orders.groupby('customer', as_index=False).total.sum()\n\
totals.to_csv('/mnt/data/totals.csv', index=False)";

/// What is said of a block: that a container expires before it.
const EXPIRED: &str = ", after 20 minutes";

/// A block of a guide.
struct Block<'a> {
    language: &'a str,
    text: &'a str,
    /// The status that it ends with.
    code: i32,
    /// Whether a container has expired before it.
    is_late: bool,
}

fn blocks(guide: &str) -> Vec<Block<'_>> {
    let parts = guide.split("<!-- run: ").skip(1);
    let blocks: Vec<Block> = parts
        .map(|part| {
            let (how, rest) = part.split_once(" -->\n```").unwrap();
            let (language, rest) = rest.split_once('\n').unwrap();
            let (code, is_late) = how.strip_suffix(EXPIRED).map_or((how, false), |it| (it, true));
            let text = rest.split_once("\n```").unwrap().0;
            Block { language, text, code: code.parse().unwrap(), is_late }
        })
        .collect();
    assert_eq!(blocks.len(), guide.matches("\n```").count() / 2, "a block that no test runs");
    blocks
}

fn read(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(root.join("docs").join(name)).unwrap()
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
fn every_block_about_ci_runs_and_ends_as_it_says() {
    let guide = read("ci.md");
    let answer = json!({"text": "Nothing is odd.", "findings": [], "assessment": "good"});
    let bench = Bench::with([]).script([
        round().calls("c1", "python_repl", json!({"code": "load('mended').total.min()"})),
        round().says(&answer.to_string()),
    ]);
    fs::write(bench.path("prices.toml"), "[prices.\"gpt-6.2-sol\"]\ninput = 1.25\noutput = 10\n")
        .unwrap();
    let setup = format!(
        "{PYTHON}\nunset CSV_AGENT_SESSION_DIR\nexport CSV_AGENT_CONFIG=prices.toml\n{}",
        bench.server_settings()
    );
    bench.shell("git init -q . && git config user.email a@example.com", &[]).succeeds();
    for Block { language, text, code, .. } in blocks(&guide) {
        let script = if language == "yaml" { script_of(text) } else { text.to_owned() };
        bench.shell(&format!("{setup}\n{script}"), &[]).fails_with(code);
    }
    for report in ["dq.xml", "dq.sarif", "dq.md", "check_orders.py"] {
        assert!(bench.path(report).exists(), "{report}");
    }
}

#[test]
fn every_block_about_the_container_of_the_provider_runs_and_ends_as_it_says() {
    let totals = "customer,total\nann,134.5\nbob,80.0\neve,99.25\n";
    let table = json!({"df_name": "totals", "logical_name": "totals"});
    let chart = json!({"df_name": "totals", "logical_name": "totals", "chart_type": "bar",
        "x_field": "customer", "x_label": null, "y_label": null, "title": null, "note": null,
        "series": [{"name": "total", "y_field": "total"}]});
    let runs = |code: &str| round().interprets(code, "");
    let bench = Bench::with([]).script([
        runs(TOTALS)
            .makes_file("totals.csv", totals)
            .calls("c1", "send_data_to_ui_as_df", table)
            .calls("c2", "send_chart_to_ui", chart),
        round().says("Ann has the largest total."),
        runs("totals.to_excel('/mnt/data/by_customer.xlsx')")
            .makes_file("by_customer.xlsx", "cells")
            .cites("Here it is.", "by_customer.xlsx"),
        runs("plt.savefig('/mnt/data/plot.png')").makes_file("plot.png", "dots").says("Plotted."),
        runs("df.groupby('month')").says("January, then February."),
        runs("totals.total.max()").says("It is Ann's."),
    ]);
    let setup = format!("{PYTHON}\nunset CSV_AGENT_SESSION_DIR\n{}", bench.server_settings());
    let mut outputs = Vec::new();
    for Block { text, code, is_late, .. } in blocks(&read("hosted.md")) {
        if is_late {
            bench.server().expire_containers();
        }
        let script = format!("{setup}\nset -o pipefail\n{text}");
        let run = bench.shell(&script, &[]).fails_with(code);
        outputs.extend([run.stdout().to_owned(), run.stderr().to_owned()]);
    }
    let outputs = outputs.join("\n");
    for told in [
        "- orders.csv: 4 rows, 118 bytes, to be uploaded",
        "| ann | 134.5 |",
        "file: .csv-agent/turns/0002/artifacts/by_customer.xlsx",
        "interpreter\thosted\tuser file",
        "no code of a question runs on this machine",
        "1 file uploaded (118 bytes)",
        "`--no-rows` forbids uploads",
        "plot.png 4 turns/0003/artifacts/plot.png",
        "has expired: code runs in a new one",
        "Turn 1 gives the same again: table `totals`, chart `totals`.",
        "the same as then: table `totals`, chart `totals`",
        "goes on in a new container, as `--on-expired new` does at once",
    ] {
        assert!(outputs.contains(told), "{told}\n{outputs}");
    }
    assert_eq!(outputs.matches("It is Ann's.").count(), 2, "recorded and replayed");
}

/// Runs an example in a directory that holds nothing but `orders.csv`, if that is given.
fn run_example(name: &str, orders: Option<&str>) -> (Bench, Run) {
    let bench = Bench::with([]);
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
    let mut script = example.display().to_string();
    if let Some(orders) = orders {
        fs::write(bench.path("orders.csv"), orders).unwrap();
        script += " orders.csv";
    }
    let run = bench.shell(&script, &[]);
    (bench, run)
}

#[test]
fn the_example_of_a_check_tells_good_data_from_bad_and_from_a_check_that_broke() {
    let (bench, run) = run_example("check-orders.sh", None);
    run.succeeds();
    let report = fs::read_to_string(bench.path("orders-3.xml")).unwrap();
    assert!(report.contains("no customer is missing"), "{report}");

    let twice = "order_id,customer,amount\n1,ann,5\n1,bob,6\n";
    run_example("check-orders.sh", Some(twice)).1.fails_with(1);
    run_example("check-orders.sh", Some("")).1.fails_with(2);
}

#[test]
fn the_example_of_a_report_writes_a_page_with_its_charts() {
    let (bench, run) = run_example("monthly-report.sh", None);
    run.succeeds();
    let page = fs::read_to_string(bench.path("report.html")).unwrap();
    assert!(page.contains("top 3 customers by amount") && page.contains("<svg"), "{}", page.len());
}

#[test]
fn the_example_that_reads_events_prints_tables_and_the_reply() {
    let (_, run) = run_example("read_events.py", None);
    let run = run.succeeds();
    insta::assert_snapshot!(run.stdout(), @r"
    table total_amount_by_region ['region', 'total_amount']
       {'region': 'north', 'total_amount': 134.5}
       {'region': 'south', 'total_amount': 125.1}
       {'region': 'west', 'total_amount': 409.25}
    reply: **west** has the largest total amount, 409.25; south has the smallest, 125.1. The table has all 3.

    I read this as: total `amount` by `region` in `orders`. The question does not say what to make of `amount`; I took the total, not the average.
    ");
}
