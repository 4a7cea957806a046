//! The names of datasets: those of their files, and their short forms.

use std::fs;

use serde_json::json;

use crate::bench::{Bench, Run, round};

const STAFF: &str = "staff,age\na,30\nb,40\n";
const ORDERS: &str = "id,amount\n1,5\n2,7\n3,9\n";

/// A session with `066_IBM_HR`, `Order` and `orders-july`.
fn bench() -> Bench {
    let bench = Bench::with([]);
    fs::write(bench.path("066_IBM_HR.csv"), STAFF).unwrap();
    fs::write(bench.path("Order.csv"), ORDERS.replace("3,9\n", "")).unwrap();
    fs::write(bench.path("orders-july.csv"), ORDERS).unwrap();
    bench.run(["ingest", "-q", "066_IBM_HR.csv", "Order.csv", "orders-july.csv"]).succeeds();
    bench
}

fn names(bench: &Bench) -> String {
    bench.run(["datasets", "--names"]).succeeds().stdout().replace('\n', " ")
}

fn query(bench: &Bench, sql: &str) -> Run {
    bench.run(["query", "--format", "csv", sql])
}

#[test]
fn a_dataset_has_the_name_of_its_file() {
    let bench = bench();
    assert_eq!(names(&bench), "066_IBM_HR Order orders-july ");
    let head = bench.run(["datasets", "--head", "1", "--format", "csv", "066_ibm_hr"]).succeeds();
    assert_eq!(head.stdout(), "staff,age\na,30\n");
    assert!(bench.run(["describe", "orders-july"]).succeeds().stdout().contains("amount"));
    let run = bench.run(["datasets", "ibm_hr"]).fails_with(5);
    assert!(run.stderr().contains("did you mean `066_IBM_HR`?"), "{run}");
    bench.run(["datasets", "--yes", "--rm", "ORDERS-*"]).succeeds();
    assert_eq!(names(&bench), "066_IBM_HR Order ");
}

#[test]
fn a_statement_takes_short_forms_and_quotes_the_others() {
    let bench = bench();
    for (sql, expected) in [
        ("select max(age) as n from ibm_hr", "n\n40\n"),
        ("select max(age) as n from \"066_IBM_HR\"", "n\n40\n"),
        ("select max(ibm_hr.age) as n from IBM_HR", "n\n40\n"),
        ("select count(*) as n from orders_july", "n\n3\n"),
        ("select count(*) as n from july", "n\n3\n"),
        ("select count(*) as n from \"order\"", "n\n2\n"),
    ] {
        assert_eq!(query(&bench, sql).succeeds().stdout(), expected, "{sql}");
    }
    for (sql, expected) in [
        ("select * from 066_IBM_HR", "needs double quotes: FROM \"066_IBM_HR\""),
        ("select * from \"Order\" join orders-july using (id)", "quotes: FROM \"orders-july\""),
        ("select * from sales", "the tables are \"066_IBM_HR\", Order, \"orders-july\""),
    ] {
        let run = query(&bench, sql).fails_with(2);
        assert!(run.stderr().contains(expected), "{run}");
    }
    fs::write(bench.path("orders-june.csv"), ORDERS).unwrap();
    bench.run(["ingest", "-q", "orders-june.csv"]).succeeds();
    let run = query(&bench, "select * from orders").fails_with(2);
    assert!(run.stderr().contains("`orders` is the short form of several tables"), "{run}");
    assert!(run.stderr().contains("write one of \"orders-july\", \"orders-june\""), "{run}");
}

#[test]
fn the_analyst_knows_names_as_people_write_them() {
    let bench = bench();
    fs::write(bench.path("2024-06 Umsatz.csv"), "id,amount\n8,10\n9,20\n").unwrap();
    bench.run(["ingest", "-q", "2024-06 Umsatz.csv"]).succeeds();
    for (question, expected) in [
        ("average age in 066_IBM_HR", "**35**"),
        ("average age in ibm_hr", "**35**"),
        ("total amount in orders-july", "**21**"),
        ("total amount in orders_july", "**21**"),
        ("total amount in \"orders-july\"", "**21**"),
        ("total amount in Order", "**12**"),
        ("total amount in 2024-06_Umsatz", "**30**"),
        ("average amount in Umsatz", "**15**"),
    ] {
        let ask = ["ask", "--fresh", "--model", "builtin", "--format", "reply", question];
        let run = bench.run(ask).succeeds();
        assert!(run.stdout().contains(expected), "{question}: {run}");
    }
}

#[test]
fn names_that_differ_only_in_case_are_one_name() {
    let bench = bench();
    fs::create_dir(bench.path("new")).unwrap();
    fs::write(bench.path("new/ORDER.csv"), ORDERS).unwrap();
    let run = bench.run(["ingest", "--name", "order", "new/ORDER.csv"]).fails_with(5);
    assert!(run.stderr().contains("the dataset `Order` comes from another source"), "{run}");
    bench.run(["ingest", "-q", "new/ORDER.csv"]).succeeds();
    assert_eq!(names(&bench), "066_IBM_HR Order new_ORDER orders-july ");
    bench
        .run(["ingest", "-q", "--name", "order", "--if-exists", "replace", "new/ORDER.csv"])
        .succeeds();
    assert_eq!(names(&bench), "066_IBM_HR Order new_ORDER orders-july ");
    assert_eq!(query(&bench, "select count(*) as n from \"order\"").succeeds().stdout(), "n\n3\n");
    let both = bench.run(["ingest", "a=new/ORDER.csv", "A=Order.csv"]).fails_with(2);
    assert!(both.stderr().contains("would both have the name `A`"), "{both}");
}

#[test]
fn a_dataset_of_an_older_version_keeps_its_name() {
    let bench = bench();
    bench.run(["datasets", "--yes", "--rm", "066_IBM_HR"]).succeeds();
    // The name that older versions gave.
    bench.run(["ingest", "-q", "--name", "t_066_ibm_hr", "066_IBM_HR.csv"]).succeeds();
    bench.run(["ingest", "-q", "066_IBM_HR.csv"]).succeeds();
    assert_eq!(names(&bench), "Order orders-july t_066_ibm_hr ");
    let sql = "select max(age) as n from ibm_hr";
    assert_eq!(query(&bench, sql).succeeds().stdout(), "n\n40\n");
}

#[test]
fn an_exported_statement_knows_short_forms() {
    let sql = "SELECT max(age) AS n FROM ibm_hr";
    let bench = bench().script([
        round().calls("q", "query_datasets", json!({"sql": sql, "result_name": "top"})),
        round().says("Done."),
    ]);
    bench.run(["ask", "--fresh", "oldest?"]).succeeds();
    let script = bench.run(["export", "py"]).succeeds();
    assert!(script.stdout().contains(", {\"ibm_hr\": \"066_IBM_HR\"})"), "{script}");
}

#[test]
fn thresholds_and_withheld_columns_know_names_of_older_versions() {
    let bench = bench();
    let thresholds = "[t_066_ibm_hr.age]\nbad = \"> 35\"\n[orders_july.amount]\nbad = \"> 8\"\n";
    fs::write(bench.path("limits.toml"), thresholds).unwrap();
    let ask = ["ask", "--fresh", "--model", "builtin", "--json", "--thresholds", "limits.toml"];
    let run = bench.run(ask.into_iter().chain(["--verdict", "is id unique in orders-july?"]));
    let document: serde_json::Value = serde_json::from_str(run.stdout()).unwrap();
    let found = document["findings"].as_array().unwrap();
    let of: Vec<_> = found.iter().filter_map(|it| it["dataset"].as_str()).collect();
    assert_eq!(of, ["066_IBM_HR", "orders-july"], "{run}");
    assert_eq!(document["warnings"], json!([]), "{run}");
    let dry = ["ask", "--fresh", "--dry-run", "--redact", "ibm_hr.age", "oldest?"];
    bench.run(dry).succeeds();
    let wrong = ["ask", "--fresh", "--model", "builtin", "--redact", "hr.amount", "oldest?"];
    bench.run(wrong).fails_with(5);
}
