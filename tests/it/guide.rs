//! The guides to checks in CI and to code at the provider: every block of them runs, and ends as it says.

use std::fs;

use serde_json::json;

use crate::bench::{Bench, Run, python, round};
use crate::readme::{Block, blocks, copy_examples, read};

/// Code that really gives the table of the guide.
const TOTALS: &str = "import pandas as pd\norders = pd.read_csv('/mnt/data/orders.csv')\n\
totals = orders.groupby('customer', as_index=False).total.sum()\n\
totals.to_csv('/mnt/data/totals.csv', index=False)";

/// What is said of a block: that a container expires before it.
const EXPIRED: &str = ", after 20 minutes";

/// Returns the status that a block ends with, and whether a container has expired before it.
fn expected(mark: &str) -> (i32, bool) {
    let how = mark.strip_prefix("run: ").unwrap();
    let (code, is_late) = how.strip_suffix(EXPIRED).map_or((how, false), |it| (it, true));
    (code.parse().unwrap(), is_late)
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
    let guide = read("docs/ci.md");
    let answer = json!({"text": "Nothing is odd.", "findings": [], "assessment": "good"});
    let bench = Bench::with([]).script([
        round().calls("c1", "python_repl", json!({"code": "load('fixed').total.min()"})),
        round().says(&answer.to_string()),
    ]);
    fs::write(bench.path("prices.toml"), "[prices.\"gpt-6.2-sol\"]\ninput = 1.25\noutput = 10\n")
        .unwrap();
    let setup = format!(
        "{}\nunset CSV_AGENT_SESSION_DIR\nexport CSV_AGENT_CONFIG=prices.toml\n{}",
        python("python3"),
        bench.server_settings()
    );
    bench.shell("git init -q . && git config user.email a@example.com", &[]).succeeds();
    for Block { mark, language, text } in blocks(&guide) {
        let script = if language == "yaml" { script_of(text) } else { text.to_owned() };
        bench.shell(&format!("{setup}\n{script}"), &[]).fails_with(expected(mark).0);
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
    let setup =
        format!("{}\nunset CSV_AGENT_SESSION_DIR\n{}", python("python3"), bench.server_settings());
    let mut outputs = Vec::new();
    for Block { mark, text, .. } in blocks(&read("docs/hosted.md")) {
        let (code, is_late) = expected(mark);
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
        "questions run no code on this machine",
        "1 file uploaded (118 bytes)",
        "`--no-rows` forbids uploads",
        "plot.png 4 turns/0003/artifacts/plot.png",
        "has expired: code runs in a new one",
        "Turn 1 gives the same results: table `totals`, chart `totals`.",
        "same as before: table `totals`, chart `totals`",
        "continue in a new container; `--on-expired new` does so at once",
    ] {
        assert!(outputs.contains(told), "{told}\n{outputs}");
    }
    assert_eq!(outputs.matches("It is Ann's.").count(), 2, "recorded and replayed");
}

/// Runs an example in a copy of the directory of examples.
fn run_example(command: &str) -> (Bench, Run) {
    let bench = Bench::with([]);
    copy_examples(&bench.path("."));
    let run = bench.shell(command, &[]);
    (bench, run)
}

#[test]
fn the_examples_for_ci_fail_for_bad_data_and_mark_its_line() {
    let workflow = read("examples/data-check.yml");
    let (_, step) = workflow.split_once("- name: Check the orders\n").unwrap();
    let job = read("examples/data-check.gitlab-ci.yml");
    let hook = read("examples/pre-commit-config.yaml");
    let (_, hook) = hook.split_once("entry: ").unwrap();
    for (script, reports) in [
        (script_of(step), true),
        (script_of(&job), true),
        (hook.lines().next().unwrap().to_owned(), false),
    ] {
        run_example(&script).1.succeeds();
        let (bench, run) = run_example(&format!("cp orders-july.csv orders.csv\n{script}"));
        let run = run.fails_with(11);
        assert!(run.stdout().contains("orders.csv:8: "), "{run}");
        let report = fs::read_to_string(bench.path("orders.xml")).unwrap_or_default();
        assert_eq!(report.contains("name=\"no amount below 0\""), reports, "{script}: {report}");
        // A check that breaks looks like no bad data.
        run_example(&format!("rm orders.csv\n{script}")).1.fails_with(5);
        run_example(&format!(
            "sed -i 's/no amount below 0/no amount below 1/' checks.toml\n{script}"
        ))
        .1
        .fails_with(9);
    }
}

#[test]
fn the_example_of_a_makefile_makes_all_once_and_checks_the_data() {
    let (bench, run) = run_example("make -s && make && make -s check");
    let run = run.succeeds();
    assert!(run.stdout().contains("Nothing to be done for 'all'."), "{run}");
    let months = fs::read_to_string(bench.path("out/by_month.csv")).unwrap();
    insta::assert_snapshot!(months, @r"
    month,amount
    2026-01,4323.5
    2026-02,1992.0
    2026-03,5467.2
    2026-04,3046.0
    2026-05,4939.1
    2026-06,4942.1
    ");
    let regions = fs::read_to_string(bench.path("out/by_region.csv")).unwrap();
    assert!(regions.starts_with("region,total_amount\neast,5988.1\n"), "{regions}");
    // Status 2 is make's, for a recipe that failed.
    run_example("make -s ORDERS=orders-july.csv check").1.fails_with(2);
}

#[test]
fn the_example_of_a_report_writes_a_page_with_its_charts() {
    let (bench, run) = run_example("./monthly-report.sh");
    run.succeeds();
    let page = fs::read_to_string(bench.path("report.html")).unwrap();
    assert!(page.contains("top 3 customers by amount") && page.contains("<svg"), "{}", page.len());
}

#[test]
fn the_example_that_reads_events_prints_tables_and_the_reply() {
    let (_, run) = run_example("./read_events.py");
    let run = run.succeeds();
    insta::assert_snapshot!(run.stdout(), @r"
    table total_amount_by_region ['region', 'total_amount']
       {'region': 'east', 'total_amount': 5988.1}
       {'region': 'north', 'total_amount': 5009.4}
       {'region': 'south', 'total_amount': 6584.2}
       {'region': 'west', 'total_amount': 7128.2}
    reply: **west** has the highest total amount, 7,128.2; north the lowest, 5,009.4.

    I read this as: total `amount` by `region` in `orders`. The question does not say how to combine the values of `amount`. I took the total, not the average.
    ");
}
