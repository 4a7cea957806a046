//! `check`: rules of a file, each a test with its name.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::bench::{Bench, Run, signal, until, wait};

const ORDERS: &str =
    "# exported\n\norder_id,customer,total\n1,ann,5\n2,\"bob\nb\",-1\n3,ann,900\n3,eve,-2\n";

/// A bench with orders, and with rules of this text below their data.
fn bench(rules: &str) -> Bench {
    let bench = Bench::with([]);
    fs::write(bench.path("my orders, 1.csv"), ORDERS).unwrap();
    fs::write(bench.path("checks.toml"), format!("[data]\norders = 'my orders, 1.csv'\n{rules}"))
        .unwrap();
    bench
}

fn rule(name: &str, sql: &str) -> String {
    format!("[[check]]\nname = '{name}'\nsql = \"\"\"{sql}\"\"\"\n")
}

fn check(bench: &Bench, flags: &str) -> Run {
    bench.shell(&format!("csv-agent check -q {flags}"), &[])
}

const KEPT: (&str, &str) = ("customers are known", "select * from orders where customer is null");
const BROKEN: (&str, &str) =
    ("no total below 0", "select order_id, total from orders where total < 0");

#[test]
fn each_rule_has_its_result_and_the_rows_that_break_it_at_their_lines() {
    let unique = rule(
        "ids are unique",
        "select order_id, count(*) as n from orders group by 1 having count(*) > 1",
    );
    let bench = bench(&(rule(KEPT.0, KEPT.1) + &rule(BROKEN.0, BROKEN.1) + &unique));
    let run = check(&bench, "").fails_with(11);
    assert_eq!(
        run.stdout(),
        "good       customers are known\n\
         bad        no total below 0: 2 rows\n\
         \x20            my orders, 1.csv:5: order_id=2, total=-1\n\
         \x20            my orders, 1.csv:8: order_id=3, total=-2\n\
         bad        ids are unique: 1 row\n\
         \x20            my orders, 1.csv:7: order_id=3, n=2\n\
         \n3 rules: 1 good, 2 bad\n"
    );
    assert!(!bench.session().exists());
}

#[test]
fn the_status_is_that_of_the_worst_rule() {
    let warning = rule("low totals", BROKEN.1) + "severity = 'warning'\n";
    let unknown = rule("typo", "select * from orders where totl < 0");
    for (rules, flags, status) in [
        (rule(KEPT.0, KEPT.1), "", 0),
        (warning.clone(), "", 10),
        (warning.clone(), "--fail-on bad", 0),
        (warning.clone() + &rule(BROKEN.0, BROKEN.1), "", 11),
        (warning.clone() + &rule(BROKEN.0, BROKEN.1), "--fail-on never", 0),
        (warning + &rule(BROKEN.0, BROKEN.1) + &unknown, "", 9),
        (unknown, "--fail-on never", 9),
    ] {
        let bench = bench(&rules);
        check(&bench, flags).fails_with(status);
    }
}

#[test]
fn a_rule_that_cannot_be_decided_hinders_no_other() {
    let rules = rule("typo", "select * from orders where totl < 0")
        + &rule("at a value", "select cast(customer as int) as n from orders")
        + &rule("changes", "delete from orders")
        + &rule(BROKEN.0, BROKEN.1);
    let bench = bench(&rules);
    let run = check(&bench, "--json --report junit=dq.xml --report sarif=dq.json").fails_with(9);
    let found: Value = serde_json::from_str(run.stdout()).unwrap();
    let results: Vec<&str> = (0..4).map(|at| found[at]["result"].as_str().unwrap()).collect();
    assert_eq!(results, ["undecided", "undecided", "undecided", "bad"], "{found}");
    assert!(found[0]["hint"].as_str().unwrap().starts_with("did you mean `total`?"), "{found}");
    assert_eq!(run.stderr().lines().last(), Some("error: 3 rules could not be decided"), "{run}");
    let junit = fs::read_to_string(bench.path("dq.xml")).unwrap();
    assert!(junit.contains("tests=\"4\" failures=\"1\" errors=\"3\""), "{junit}");
    let sarif: Value = serde_json::from_slice(&fs::read(bench.path("dq.json")).unwrap()).unwrap();
    let invocation = &sarif["runs"][0]["invocations"][0];
    assert_eq!(
        (&invocation["executionSuccessful"], &invocation["exitCode"]),
        (&json!(false), &json!(9))
    );
    assert_eq!(invocation["toolExecutionNotifications"][2]["associatedRule"]["id"], "changes");
}

#[test]
fn a_report_has_one_test_a_rule_whatever_the_data_is() {
    let bench = bench(&(rule(KEPT.0, KEPT.1) + &rule(BROKEN.0, BROKEN.1)));
    let flags = "--report junit=dq.xml --report sarif=dq.json --report md=dq.md --report github";
    let names = || {
        let junit = fs::read_to_string(bench.path("dq.xml")).unwrap();
        let cases = junit.lines().filter_map(|it| it.trim().strip_prefix("<testcase "));
        cases.map(|it| it.split(" time=").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let run = check(&bench, flags).fails_with(11);
    let message = "no total below 0: 2 rows (also line 8)";
    let annotation = format!("::error file=my orders%2C 1.csv,line=5,title=csv-agent::{message}");
    assert!(run.stderr().lines().any(|it| it == annotation), "{run}");
    let junit = fs::read_to_string(bench.path("dq.xml")).unwrap();
    for part in [
        "tests=\"2\" failures=\"1\" errors=\"0\"",
        "<failure type=\"bad\" message=\"2 rows\">my orders, 1.csv:5: order_id=2, total=-1\n",
    ] {
        assert!(junit.contains(part), "{part} in {junit}");
    }
    let sarif: Value = serde_json::from_slice(&fs::read(bench.path("dq.json")).unwrap()).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["ruleIndex"]), (&json!(BROKEN.0), &json!(1)));
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 5);
    let md = fs::read_to_string(bench.path("dq.md")).unwrap();
    assert!(md.starts_with("## csv-agent: 2 rules: 1 good, 1 bad\n"), "{md}");
    let table = "**bad: no total below 0**\n\n| where | order_id | total |\n|---|---|---|\n\
                 | my orders, 1.csv:5 | 2 | -1 |\n| my orders, 1.csv:8 | 3 | -2 |\n";
    assert!(md.ends_with(table), "{md}");
    let before = names();
    fs::write(bench.path("my orders, 1.csv"), ORDERS.replace('-', "")).unwrap();
    check(&bench, flags).succeeds();
    assert_eq!(names(), before);
}

#[test]
fn data_that_cannot_be_read_passes_no_rule() {
    let bench = bench(&(rule(KEPT.0, KEPT.1) + &rule(BROKEN.0, BROKEN.1)));
    fs::remove_file(bench.path("my orders, 1.csv")).unwrap();
    fs::write(bench.path("dq.xml"), "yesterday").unwrap();
    let run = check(&bench, "--report junit=dq.xml").fails_with(5);
    assert_eq!((run.stdout(), run.stderr().matches("no such file").count()), ("", 1), "{run}");
    let junit = fs::read_to_string(bench.path("dq.xml")).unwrap();
    assert!(junit.contains("tests=\"2\" failures=\"0\" errors=\"2\""), "{junit}");
    assert!(junit.contains(&format!("name=\"{}\"", KEPT.0)), "{junit}");
    for (data, message) in [
        ("'orders-*.csv'", "no file matches `orders-*.csv`"),
        ("['a.csv', 'b.csv']", "cannot read `b.csv`: no such file"),
    ] {
        fs::write(bench.path("a.csv"), "order_id,customer,total\n1,ann,5\n").unwrap();
        let rules = format!("[data]\norders = {data}\n{}", rule(KEPT.0, KEPT.1));
        fs::write(bench.path("checks.toml"), rules).unwrap();
        let run = check(&bench, "").fails_with(5);
        assert!(run.stderr().contains(message), "{run}");
    }
}

#[test]
fn a_file_with_a_mistake_ends_with_5_and_its_line() {
    let bench = bench("[[check]]\nname = 'n'\nsqll = 'select 1'\n");
    fs::write(bench.path("dq.xml"), "yesterday").unwrap();
    let run = check(&bench, "--report junit=dq.xml").fails_with(5);
    let message = "checks.toml:5: unknown `sqll`";
    assert_eq!(run.stderr(), format!("error: {message}\n  hint: did you mean `sql`?\n"));
    assert!(fs::read_to_string(bench.path("dq.xml")).unwrap().contains(message));
    let run = check(&bench, "other.toml").fails_with(5);
    assert!(run.stderr().starts_with("error: cannot read `other.toml`: no such file\n"), "{run}");
}

#[test]
fn several_files_are_one_dataset_and_each_row_has_its_own() {
    let bench = Bench::with([]);
    fs::create_dir(bench.path("ci")).unwrap();
    for (name, rows) in [("o-1", "1,5\n2,-1\n"), ("o-2", "\n\n3,-2\n"), ("late", "4,\"7\"\n")] {
        fs::write(bench.path(&format!("ci/{name}.csv")), format!("id,total\n{rows}")).unwrap();
    }
    let rules = rule("no total below 0", "select id from orders where total < 0")
        + &rule("all are there", "select count(*) as n from orders having count(*) <> 4");
    let rules = format!("[data]\norders = ['o-*.csv', 'late.csv']\n{rules}");
    fs::write(bench.path("ci/checks.toml"), rules).unwrap();
    let run = check(&bench, "ci/checks.toml --json").fails_with(11);
    let found: Value = serde_json::from_str(run.stdout()).unwrap();
    let places = found[0]["rows"].as_array().unwrap().iter();
    let places: Vec<Value> =
        places.map(|it| json!([it["source_file"], it["source_line"]])).collect();
    assert_eq!(places, [json!(["ci/o-1.csv", 3]), json!(["ci/o-2.csv", 4])], "{found}");
    assert_eq!(found[1]["result"], "good");
    // A file that two of them name is read once.
    let rules = fs::read_to_string(bench.path("ci/checks.toml")).unwrap();
    let twice = rules.replace("'late.csv'", "'late.csv', 'o-1.csv', './late.csv'");
    fs::write(bench.path("ci/checks.toml"), twice).unwrap();
    let run = check(&bench, "ci/checks.toml --json").fails_with(11);
    let found: Value = serde_json::from_str(run.stdout()).unwrap();
    assert_eq!(found[1]["result"], "good", "{found}");
}

#[test]
fn data_without_rows_keeps_rules_and_is_reported() {
    let bench = bench(&rule(KEPT.0, KEPT.1));
    fs::write(bench.path("my orders, 1.csv"), "order_id,customer,total\n").unwrap();
    let run = check(&bench, "").succeeds();
    let warning = "warning: `orders` has no rows, so no row can break a rule\n";
    assert_eq!(run.stderr(), warning, "{run}");
    let reports = "--report junit=dq.xml --report sarif=dq.sarif --report md=dq.md";
    check(&bench, &format!("{reports} --report github")).succeeds();
    for file in ["dq.xml", "dq.sarif", "dq.md"] {
        let report = fs::read_to_string(bench.path(file)).unwrap();
        assert!(report.contains("`orders` has no rows"), "{report}");
    }
    let sarif: Value = serde_json::from_slice(&fs::read(bench.path("dq.sarif")).unwrap()).unwrap();
    assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], true, "{sarif}");
    let run = check(&bench, "--strict").fails_with(5);
    assert!(run.stderr().contains("hint: leave out `--strict`"), "{run}");
}

#[test]
fn rows_that_do_not_fit_are_in_the_reports_and_fail_a_strict_check() {
    let bench = bench(&rule(KEPT.0, KEPT.1));
    let rows = "order_id,customer,total\n1,ann,5\n2,bob\n3,eve,7,8\n4,joe,9\n5,kim,2\n";
    fs::write(bench.path("my orders, 1.csv"), rows).unwrap();
    let run = check(&bench, "--report md=dq.md --report github").succeeds();
    let warning = run.stderr().lines().find_map(|it| it.strip_prefix("warning: ")).unwrap();
    let report = fs::read_to_string(bench.path("dq.md")).unwrap();
    assert!(report.contains("\n**warning**: "), "{warning}: {report}");
    assert!(run.stderr().contains("::warning title=csv-agent::"), "{run}");
    check(&bench, "--strict").fails_with(5);
    fs::write(bench.path("my orders, 1.csv"), ORDERS).unwrap();
    check(&bench, "--strict").succeeds();
}

#[test]
fn only_the_first_rows_are_shown() {
    let bench = Bench::with([]);
    let rows: Vec<String> = (0..1_234).map(|it| it.to_string()).collect();
    fs::write(bench.path("t.csv"), format!("n\n{}\n", rows.join("\n"))).unwrap();
    fs::write(
        bench.path("checks.toml"),
        format!("[data]\nt = 't.csv'\n{}", rule("none", "select n from t")),
    )
    .unwrap();
    let run = check(&bench, "").fails_with(11);
    assert_eq!(run.stdout().lines().count(), 1 + 20 + 1 + 2, "{run}");
    assert!(run.stdout().contains("             and 1,214 more rows\n"), "{run}");
}

#[test]
fn rows_that_come_from_no_row_have_no_line() {
    let bench =
        bench(&rule("sum", "select sum(total) as sum from orders having sum(total) < 1000"));
    let run = check(&bench, "--report github --report junit=dq.xml").fails_with(11);
    assert!(run.stdout().contains("bad        sum: 1 row\n             sum=902\n"), "{run}");
    assert!(run.stderr().contains("::error title=csv-agent::sum: 1 row: sum=902\n"), "{run}");
}

#[test]
fn two_checks_at_once_do_not_meet() {
    let bench = bench(&rule(BROKEN.0, BROKEN.1));
    let script = "csv-agent check -q > a & csv-agent check -q > b; echo $?; wait $!; echo $?; cmp a b && echo same";
    let run = bench.shell(script, &[]).succeeds();
    assert_eq!(run.stdout(), "11\n11\nsame\n", "{run}");
}

fn claim(name: &str, claim: &str) -> String {
    format!("[[check]]\nname = '{name}'\nclaim = '{claim}'\n")
}

#[test]
fn a_claim_is_compiled_once_and_then_runs_without_being_read() {
    let rules = claim("ids", "every order_id is unique")
        + &claim("totals", "no total is below 0")
        + &claim("other", "the frobnication is in order");
    let bench = bench(&rules);
    let run = check(&bench, "").fails_with(9);
    let first = "undecided  ids: `checks.lock` has no statement for this claim\n\
                 \x20            hint: `csv-agent check --update` compiles the claim, or says why it cannot\n";
    assert!(run.stdout().starts_with(first), "{run}");
    let run = check(&bench, "--update").fails_with(9);
    assert!(run.stdout().contains("read as: "), "{run}");
    assert!(run.stdout().contains("| where total < 0\n"), "{run}");
    assert!(
        run.stdout().contains("my orders, 1.csv:8: order_id=3, customer=eve, total=-2\n"),
        "{run}"
    );
    let lock = fs::read_to_string(bench.path("checks.lock")).unwrap();
    assert!(lock.contains("claim = \"every order_id is unique\"\n"), "{lock}");
    assert!(lock.contains("columns = [\"orders.total\"]\n") && !lock.contains("frob"), "{lock}");
    // What is compiled stays as it is.
    check(&bench, "--update").fails_with(9);
    assert_eq!(fs::read_to_string(bench.path("checks.lock")).unwrap(), lock);
    let run = bench.shell("PATH=/nonexistent $(command -v csv-agent) check -q", &[]).fails_with(9);
    assert!(run.stdout().contains("bad        totals: 2 rows\n"), "{run}");
    for flags in ["", "--locked", "--update"] {
        let edited = lock.replace("total < 0", "total < -100");
        fs::write(bench.path("checks.lock"), edited).unwrap();
        let run = check(&bench, flags).fails_with(5);
        let message = "cannot read `checks.lock`: the entry of `no total is below 0` was edited\n";
        assert!(run.stderr().contains(message), "{run}");
    }
}

#[test]
fn a_report_does_not_replace_what_the_check_reads() {
    let bench = bench(&(rule(KEPT.0, KEPT.1) + &claim("totals", "no total is below 0")));
    check(&bench, "--update").fails_with(11);
    let files = ["checks.toml", "checks.lock", "my orders, 1.csv"].map(|it| bench.path(it));
    let before = files.clone().map(|it| fs::read(it).unwrap());
    fs::create_dir(bench.path("d")).unwrap();
    for file in ["checks.toml", "./checks.lock", "d/../my orders, 1.csv"] {
        let run = check(&bench, &format!("--report 'md={file}'")).fails_with(2);
        let message = format!("error: a report would replace `{file}`, which the check reads\n");
        assert!(run.stderr().starts_with(&message), "{run}");
    }
    // Also where the rules cannot be read.
    fs::write(&files[0], "[dat").unwrap();
    check(&bench, "--report md=checks.toml").fails_with(2);
    fs::write(&files[0], &before[0]).unwrap();
    assert_eq!(files.map(|it| fs::read(it).unwrap()), before);
}

#[test]
fn a_claim_that_changed_or_lost_its_column_is_not_decided() {
    let bench = bench(&claim("totals", "no total is below 0"));
    check(&bench, "--update").fails_with(11);
    check(&bench, "--locked").fails_with(11);
    fs::write(bench.path("my orders, 1.csv"), ORDERS.replace("total", "sum")).unwrap();
    let run = check(&bench, "").fails_with(9);
    let reason = "the column `orders.total`, which the claim is about, no longer exists";
    assert!(run.stdout().starts_with(&format!("undecided  totals: {reason}\n")), "{run}");
    let rules =
        format!("[data]\norders = 'my orders, 1.csv'\n{}", claim("totals", "no sum is below 0"));
    fs::write(bench.path("checks.toml"), rules).unwrap();
    check(&bench, "").fails_with(9);
    let run = check(&bench, "--locked").fails_with(9);
    let message = "error: `checks.lock` has no statement for `no sum is below 0`, and one for `no total is below 0`, which \
                   no rule makes\n  hint: `csv-agent check --update` compiles the one and removes the other\n";
    assert!(run.stderr().contains(message), "{run}");
    check(&bench, "--update").fails_with(11);
    check(&bench, "--locked").fails_with(11);
}

#[test]
fn a_lock_that_cannot_be_read_passes_no_rule() {
    let bench = bench(&claim("totals", "no total is below 0"));
    fs::write(bench.path("checks.lock"), "version = 2\n").unwrap();
    let run = check(&bench, "").fails_with(5);
    let message = "error: cannot read `checks.lock`: its version is 2, not 1\n";
    assert!(run.stderr().starts_with(message), "{run}");
}

#[test]
fn rules_are_proposed_that_the_data_keeps() {
    let bench = Bench::with(["sales.csv"]);
    let row = |it: usize| format!("{it},{},{}", ["a", "b"][it % 2], it * 3);
    let rows: Vec<String> = (0..40).map(row).collect();
    fs::write(bench.path("items.csv"), format!("item_id,kind,price\n{}\n", rows.join("\n")))
        .unwrap();
    fs::write(bench.path("lines.csv"), "line,item_id\n1,5\n2,5\n3,39\n").unwrap();
    let place =
        |it: usize| format!("{},{},{}\n", ["oslo", "bergen"][it % 2].repeat(it + 1), it, it + 1);
    let places: Vec<String> = (0..12).map(place).collect();
    fs::write(bench.path("places.csv"), format!("place,lat,temp\n{}", places.concat())).unwrap();
    let day = |it: usize| format!("{}-{:02}-{:02}", 2000 + it / 336, it / 28 % 12 + 1, it % 28 + 1);
    let rows: Vec<String> = (0..1_000).map(|it| format!("{},{}\n", day(it), it % 7)).collect();
    fs::write(bench.path("days.csv"), format!("day,n\n{}", rows.concat())).unwrap();
    let script = "csv-agent check --init sales.csv items.csv lines.csv days.csv places.csv > checks.toml && \
                  csv-agent check --locked -q";
    let run = bench.shell(script, &[]).succeeds();
    for rule in [
        "days: day is unique",
        "items: item_id is unique",
        "items: price is not below 0",
        "items: kind is one of 2 values",
        "lines: item_id is in items",
        "places: place is unique",
        "places: lat is from -90 to 90",
    ] {
        assert!(run.stdout().contains(&format!("good       {rule}\n")), "{run}");
    }
    assert!(!run.stdout().contains("lines: item_id is unique"), "{run}");
    assert!(!run.stdout().contains("temp is not below 0"), "{run}");
    fs::write(bench.path("lines.csv"), "line,item_id\n1,5\n2,40\n").unwrap();
    let run = check(&bench, "").fails_with(11);
    assert!(run.stdout().contains("bad        lines: item_id is in items: 1 row\n"), "{run}");
    assert!(run.stdout().contains("lines.csv:3: line=2, item_id=40\n"), "{run}");
    let run = check(&bench, "--init missing.csv").fails_with(5);
    assert_eq!(run.stdout(), "", "{run}");
    check(&bench, "--init").fails_with(2);
    let run = check(&bench, "checks.toml items.csv").fails_with(2);
    assert!(run.stderr().contains("but several files were named"), "{run}");
}

/// Orders of which `n_east` in a hundred are from the east, and `n_empty` in a hundred have no total.
fn accepted(n_rows: usize, n_east: usize, n_empty: usize, total: usize) -> String {
    let row = |at: usize| {
        let region = if at * 37 % 100 < n_east { "east" } else { "west" };
        let total = if at * 53 % 100 < n_empty {
            String::new()
        } else {
            (total + at * 7 % 100).to_string()
        };
        format!("{at},{region},{total}\n")
    };
    format!("id,region,total\n{}", (0..n_rows).map(row).collect::<String>())
}

#[test]
fn what_changed_since_the_data_was_accepted_is_found_and_nothing_else() {
    let bench = Bench::with([]);
    let put = |text: &str| fs::write(bench.path("t.csv"), text).unwrap();
    let rules = format!("[data]\nt = 't.csv'\n{}", rule("ids", "select * from t where id is null"));
    fs::write(bench.path("checks.toml"), rules).unwrap();
    put(&accepted(400, 50, 2, 10));
    check(&bench, "").succeeds();
    check(&bench, "--against checks.baseline.json").fails_with(5);
    check(&bench, "--accept").succeeds();
    let baseline = fs::read(bench.path("checks.baseline.json")).unwrap();
    for (text, broken, status) in [
        (accepted(400, 50, 2, 10), "", 0),
        (accepted(500, 55, 4, 11), "", 0),
        (accepted(900, 50, 2, 10), "number of rows", 10),
        (accepted(400, 50, 30, 10), "missing values", 10),
        (accepted(400, 90, 2, 10), "distributions", 10),
        (accepted(400, 50, 2, 60), "distributions", 10),
        // Without rows, columns have no types.
        ("id,region,total\n".to_owned(), "number of rows", 10),
        (accepted(400, 50, 2, 10).replace("region", "area"), "columns", 11),
        (accepted(400, 50, 2, 10).replace(",17\n", ",n/a!\n"), "columns", 11),
    ] {
        put(&text);
        let run = check(&bench, "--json");
        assert_eq!(run.code(), Some(status), "{broken}: {run}");
        let found: Vec<Value> = serde_json::from_str(run.stdout()).unwrap();
        let names: Vec<&str> = found.iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names[1], "t: columns as accepted", "{names:?}");
        assert_eq!(names.len(), 5);
        for it in found.iter().filter(|it| it["result"] != "good") {
            assert_eq!(it["name"], format!("t: {broken} as accepted"), "{it}");
        }
    }
    assert_eq!(fs::read(bench.path("checks.baseline.json")).unwrap(), baseline);
    put(&accepted(400, 90, 2, 10));
    let run = check(&bench, "--report md=dq.md --report github").fails_with(10);
    let line = "column=region, psi=0.872, was=▅▅, is=█▁, most=west: 50.0 % → 10.0 %\n";
    assert!(run.stdout().contains(line), "{run}");
    let escaped = line.replace('%', "%25");
    let annotation =
        format!("::warning title=csv-agent::t: distributions as accepted: 1 difference: {escaped}");
    assert!(run.stderr().contains(&annotation), "{run}");
    let table = "| column | psi | was | is | most |\n|---|---|---|---|---|\n\
                 | region | 0.872 | ▅▅ | █▁ | west: 50.0 % → 10.0 % |\n";
    let report = fs::read_to_string(bench.path("dq.md")).unwrap();
    assert!(report.ends_with(table), "{report}");
    check(&bench, "--accept").succeeds();
    check(&bench, "").succeeds();
    let text = fs::read_to_string(bench.path("checks.baseline.json")).unwrap();
    // Values above all that were there are a part of their own.
    let of_one = |total: u32| {
        let rows = (0..400).flat_map(|it| [format!("{it},east,{total}\n")]);
        format!("id,region,total\n{}", rows.collect::<String>())
    };
    put(&of_one(7));
    check(&bench, "--accept").succeeds();
    put(&of_one(777));
    let run = check(&bench, "").fails_with(10);
    assert!(run.stdout().contains("most=above 7: 0.0 % → 100.0 %"), "{run}");
    for (from, to) in [
        ("\"missing\": 0", "\"missing\": 18446744073709551615"),
        ("\"counts\": [", "\"counts\": [5, "),
    ] {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text);
        fs::write(bench.path("checks.baseline.json"), damaged).unwrap();
        check(&bench, "").fails_with(5);
    }
    fs::write(bench.path("checks.baseline.json"), "{}").unwrap();
    check(&bench, "").fails_with(5);
    check(&bench, "--report md=checks.baseline.json").fails_with(2);
}

#[test]
fn a_finding_without_a_row_of_the_data_is_in_the_file_of_rules() {
    let bench =
        bench(&rule("all are there", "select count(*) as n from orders having count(*) <> 99"));
    check(&bench, "--report sarif=dq.json").fails_with(11);
    let sarif: Value = serde_json::from_slice(&fs::read(bench.path("dq.json")).unwrap()).unwrap();
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "checks.toml");
    assert_eq!(place["region"]["startLine"], 3);
    // What the baseline finds is in no line.
    check(&bench, "--accept").fails_with(11);
    fs::write(bench.path("my orders, 1.csv"), ORDERS.replace("customer,", "client,")).unwrap();
    check(&bench, "--report sarif=dq.json").fails_with(11);
    let sarif: Value = serde_json::from_slice(&fs::read(bench.path("dq.json")).unwrap()).unwrap();
    let place = &sarif["runs"][0]["results"][1]["locations"][0]["physicalLocation"];
    assert_eq!(*place, json!({"artifactLocation": {"uri": "checks.toml"}}));
}

#[test]
fn tests_of_the_baseline_are_in_the_reports_of_a_check_that_fails() {
    let bench = bench(&rule(KEPT.0, KEPT.1));
    check(&bench, "--accept").succeeds();
    let names = || {
        let junit = fs::read_to_string(bench.path("dq.xml")).unwrap();
        let names =
            junit.split(" name=\"").skip(1).map(|it| it.split('"').next().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    check(&bench, "--report junit=dq.xml").succeeds();
    let before = names();
    assert_eq!(before.len(), 6, "{before:?}");
    fs::remove_file(bench.path("my orders, 1.csv")).unwrap();
    check(&bench, "--report junit=dq.xml").fails_with(5);
    assert_eq!(names(), before);
}

#[test]
fn data_is_read_as_the_file_says() {
    let bench = Bench::with([]);
    for (name, rows) in [("o-1", "1;1,5\n2;-1,5\n"), ("o-2", "03;-2,25\n")] {
        fs::write(bench.path(&format!("{name}.csv")), format!("exported\nid;total\n{rows}"))
            .unwrap();
    }
    let rules = rule("no total below 0", "select id, total from orders where total < 0");
    let read = "{ path = 'o-*.csv', delimiter = ';', decimal = ',', skip_rows = 1, dtype = { id = 'text' } }";
    fs::write(bench.path("checks.toml"), format!("[data]\norders = {read}\n{rules}")).unwrap();
    let run = check(&bench, "").fails_with(11);
    let rows =
        "             o-1.csv:4: id=2, total=-1.5\n             o-2.csv:3: id=03, total=-2.25\n";
    assert!(run.stdout().contains(rows), "{run}");
    // As it was before, where nothing is said.
    fs::write(bench.path("items.csv"), "id,total\n1,-5\n").unwrap();
    let both = format!("[data]\nitems = 'items.csv'\norders = {read}\n{rules}");
    fs::write(
        bench.path("checks.toml"),
        both + &rule("items", "select * from items where total < 0"),
    )
    .unwrap();
    let run = check(&bench, "").fails_with(11);
    assert!(run.stdout().contains("items.csv:2: id=1, total=-5\n"), "{run}");
    let wrong = format!("[data]\norders = {{ path = 'o-1.csv', decimal = 'x' }}\n{rules}");
    fs::write(bench.path("checks.toml"), wrong).unwrap();
    let run = check(&bench, "").fails_with(5);
    let message =
        "error: checks.toml:2: invalid value 'x' for '--decimal <CHAR>': write `,` or `.`\n";
    assert!(run.stderr().starts_with(message), "{run}");
}

#[test]
fn claims_of_a_fixed_form_are_compiled_and_those_that_nothing_breaks_are_not() {
    let claims = [
        "total is null or positive",
        "if customer is ann then total is at least 5",
        "at most 5% of customers are missing",
        "total is at least 0 if customer is nobody",
        "customer is ann or 'bob' or 'eve'",
        "orders has fewer than 1,000,000 rows",
    ];
    let named = claims.iter().enumerate();
    let named = named.map(|(at, it)| format!("[[check]]\nname = '{at}'\nclaim = \"{it}\"\n"));
    let rules = named.collect::<Vec<_>>().concat();
    let bench = bench(&rules);
    let run = check(&bench, "--update").fails_with(9);
    insta::assert_snapshot!(run.stdout());
}

#[test]
fn claims_count_rows_and_whole_days() {
    let claims = [
        ("at most 3 orders are open", "bad"),
        ("at most 4 orders are open", "good"),
        ("no more than 3 orders are open", "bad"),
        ("fewer than 5 orders are open", "good"),
        ("exactly 1 order is paid", "good"),
        ("one or more orders are paid", "good"),
        ("at least 2 orders are paid", "bad"),
        ("there are paid orders", "good"),
        ("there are no paid orders", "bad"),
        ("only 1 order is open", "undecided"),
        ("2 orders are open", "undecided"),
        ("email ends with '.com' or '.org'", "good"),
        ("email ends with '.com' or '.net'", "bad"),
        ("total is over 4 for open orders", "good"),
        ("total is over 5 for open orders", "bad"),
        ("sent_at is on or before 2024-11-28", "good"),
        ("sent_at is not after 2024-11-28", "good"),
        ("sent_at is between 2024-11-01 and 2024-11-28", "good"),
        ("sent_at is after 2024-11-27", "bad"),
        ("sent_at is after 2024-11-28", "bad"),
        ("sent_at is before 2024-11-28", "bad"),
    ];
    let rule = |it: &str| format!("[[check]]\nname = \"{it}\"\nclaim = \"{it}\"\n");
    let rules = claims.map(|it| rule(it.0)).concat();
    let bench = Bench::with([]);
    let orders = "order_id,state,total,email,sent_at\n\
                  1,open,5,a@x.com,2024-11-27T10:00:00\n2,open,6,b@x.org,2024-11-28T00:00:00\n\
                  3,open,7,c@x.com,2024-11-28T15:00:00\n4,open,8,d@x.org,2024-11-28T23:59:59\n\
                  5,paid,1,e@x.com,2024-11-27T12:00:00\n";
    fs::write(bench.path("orders.csv"), orders).unwrap();
    let file = format!("[data]\norders = 'orders.csv'\n{rules}");
    fs::write(bench.path("checks.toml"), file).unwrap();
    let run = check(&bench, "--update --json").fails_with(9);
    let found: Value = serde_json::from_str(run.stdout()).unwrap();
    for ((claim, expected), rule) in claims.iter().zip(found.as_array().unwrap()) {
        assert_eq!(rule["result"], *expected, "{claim}: {rule}");
    }
}

#[test]
fn rules_about_several_columns_and_codes_are_proposed() {
    let bench = Bench::with([]);
    let row = |at: usize| {
        let (quantity, price) = (at % 7 + 2, at % 5 * 3 + 4);
        let day = |from: usize| format!("2024-{:02}-{:02}", from / 28 + 1, from % 28 + 1);
        let sent = if at.is_multiple_of(6) { String::new() } else { day(at + at % 4) };
        format!(
            "{at},{},{},{sent},{quantity},{price},{},AB-{:04},name {at}\n",
            at % 9,
            day(at),
            quantity * price,
            at * 37
        )
    };
    let rows: String = (1..60).map(row).collect();
    let head = "order_id,customer_id,ordered,sent,quantity,price,total,sku,note\n";
    fs::write(bench.path("orders.csv"), format!("{head}{rows}")).unwrap();
    let customers: Vec<String> = (0..9).map(|it| format!("{it},Customer {it}\n")).collect();
    fs::write(bench.path("customers.csv"), format!("id,name\n{}", customers.concat())).unwrap();
    let script = "csv-agent check --init orders.csv customers.csv > checks.toml && csv-agent check --locked -q";
    bench.shell(script, &[]).succeeds();
    let proposed = fs::read_to_string(bench.path("checks.toml")).unwrap();
    for rule in [
        "# 9 different values of `customer_id` are among the 9 values of `id` in `customers`\n[[check]]\n\
         name = \"orders: customer_id is in customers\"\n",
        "name = \"orders: total is quantity * price\"\n",
        "name = \"orders: sent is not before ordered\"\n",
        "# 59 values, which is 100 % of them\n[[check]]\nname = \"orders: sku looks like [A-Z]{2}-[0-9]{4,}\"\n",
        "# 59 rows today\n[[check]]\nname = \"orders: from 29 to 118 rows\"\n",
    ] {
        assert!(proposed.contains(rule), "{rule} in {proposed}");
    }
    assert_eq!(proposed.matches("severity = \"warning\"").count(), 2, "{proposed}");
    let at = |what: &str| {
        proposed.find(&format!("\"orders: {what}")).unwrap_or_else(|| panic!("{what}"))
    };
    let order = [
        "order_id is unique",
        "customer_id is in customers",
        "total is quantity",
        "sent is not before",
        "sku looks like",
        "sku is not missing",
        "from 29 to 118",
    ];
    assert!(order.map(at).is_sorted(), "{proposed}");
}

#[test]
fn a_baseline_needs_no_rule_and_each_file_of_rules_has_a_lock_and_a_baseline_of_its_own() {
    let bench = bench("");
    let run = check(&bench, "").fails_with(5);
    assert!(run.stderr().starts_with("error: checks.toml:1: the file has no rules\n"), "{run}");
    let run = check(&bench, "--accept").succeeds();
    assert_eq!(run.stdout(), "\n0 rules\n", "{run}");
    let run = check(&bench, "").succeeds();
    assert!(run.stdout().ends_with("\n4 rules: 4 good\n"), "{run}");
    for name in ["f.toml", "f.rules"] {
        let rules =
            format!("[data]\norders = 'my orders, 1.csv'\n{}", claim(name, "no total is below 0"));
        fs::write(bench.path(name), rules).unwrap();
        check(&bench, &format!("{name} --update --accept")).fails_with(11);
    }
    for name in ["f.lock", "f.rules.lock", "f.baseline.json", "f.rules.baseline.json"] {
        assert!(bench.path(name).exists(), "{name}");
    }
}

#[test]
fn a_signal_leaves_the_rules_that_were_decided_as_they_are() {
    let slow = "select count(*) as n from generate_series(1, 100000) as a cross join generate_series(1, 100000) as b \
                having count(*) < 0";
    let rules = rule(KEPT.0, KEPT.1)
        + &rule(BROKEN.0, BROKEN.1)
        + &rule("third", KEPT.1)
        + &rule("slow", slow);
    let bench = bench(&rules);
    fs::create_dir(bench.path("tmp")).unwrap();
    let mut command = bench.command(["check", "-q", "--report", "junit=dq.xml"]);
    let child = command.env("TMPDIR", bench.path("tmp")).spawn().unwrap();
    let has_third = || {
        let dirs = fs::read_dir(bench.path("tmp")).unwrap().flatten();
        dirs.into_iter().any(|it| it.path().join("2.parquet").exists())
    };
    until("the third rule is decided", has_third);
    signal(&child, Signal::SIGINT);
    wait(child, "check".to_owned(), b"").fails_with(130);
    let junit = fs::read_to_string(bench.path("dq.xml")).unwrap();
    assert!(junit.contains("tests=\"4\" failures=\"1\" "), "{junit}");
    let slow = junit.split("name=\"slow\"").nth(1).unwrap();
    assert!(slow.contains("message=\"interrupted\""), "{junit}");
}

#[test]
fn lines_are_wrapped_where_the_terminal_is_narrow() {
    let bench = bench(&rule(BROKEN.0, "select * from orders where total < 0"));
    let run = check(&bench, "--width 44").fails_with(11);
    assert_eq!(
        run.stdout(),
        "bad        no total below 0: 2 rows\n\
         \x20            my orders, 1.csv:5:\n\
         \x20            order_id=2, customer=bob b,\n\
         \x20            total=-1\n\
         \x20            my orders, 1.csv:8:\n\
         \x20            order_id=3, customer=eve,\n\
         \x20            total=-2\n\
         \n1 rule: 1 bad\n"
    );
}

#[test]
fn a_value_that_makes_a_column_text_is_the_reason() {
    let rules = rule(BROKEN.0, BROKEN.1)
        + &rule("sum", "select * from orders\nqualify sum(total) over () < 0")
        + &rule("typo", "select order_id from orders wher total < 0")
        + &claim("limit", "total is at most 1000");
    let bench = bench(&rules);
    check(&bench, "--update").fails_with(9);
    let hint =
        "             hint: correct the data, or read the column in another way under `[data]`\n";
    for (value, note) in [
        ("9oo", "1 value that is not a number, `9oo` on line 7"),
        ("\"9,50\"", "numbers of different forms; e.g. `9,50` on line 7"),
        (
            "€900",
            "amounts of money, some without a currency; `--dtype 'total=money'` makes them numbers",
        ),
    ] {
        let orders = ORDERS.replace("900", value).replace(",-1", ",-1.5");
        fs::write(bench.path("my orders, 1.csv"), orders).unwrap();
        let cause = format!("column `total` of `orders` is text: {note}");
        for flags in ["", "--update"] {
            let run = check(&bench, flags).fails_with(9);
            for (name, reason) in [
                (BROKEN.0, "text and bigint cannot be combined (line 1, column 42)"),
                ("sum", "`sum` takes numbers, not text (line 2, column 9)"),
                ("limit", "text and bigint cannot be combined (line 3, column 12)"),
            ] {
                let line = format!("undecided  {name}: {cause} ({reason})\n");
                assert!(run.stdout().contains(&line), "{line}{run}");
            }
            assert_eq!(run.stdout().matches(hint).count(), 3, "{run}");
        }
        // Where it is compiled, the reading is refused for the same reason.
        fs::remove_file(bench.path("checks.lock")).unwrap();
        let run = check(&bench, "--update").fails_with(9);
        assert!(run.stdout().contains(&format!(" ({cause})\n{hint}")), "{run}");
        fs::write(bench.path("my orders, 1.csv"), ORDERS).unwrap();
        check(&bench, "--update").fails_with(9);
    }
}

#[test]
fn rows_come_in_the_order_of_the_file_whatever_the_engine_does() {
    let unknown = rule("customers are known", "select * from a where c not in (select c from b)");
    let bench = Bench::with([]);
    let rows: Vec<String> = (0..60).map(|at| format!("c{at},{}\n", 60 - at)).collect();
    fs::write(bench.path("a.csv"), format!("c,n\n{}", rows.concat())).unwrap();
    fs::write(bench.path("b.csv"), "c,n\nx,1\ny,2\n").unwrap();
    let text = format!("[data]\na = 'a.csv'\nb = 'b.csv'\n{unknown}");
    fs::write(bench.path("checks.toml"), text).unwrap();
    let run = check(&bench, "--format json").fails_with(11);
    let found: Value = serde_json::from_str(run.stdout()).unwrap();
    let lines = found.to_string();
    let lines: Vec<u64> = lines
        .split("\"source_line\":")
        .skip(1)
        .map(|it| it.split([',', '}']).next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(lines, (2..22).collect::<Vec<u64>>(), "{found}");
}

#[test]
fn a_file_without_rows_breaks_no_rule_about_numbers() {
    let bench = Bench::with([]);
    fs::write(bench.path("e.csv"), "total\n").unwrap();
    let below = rule("no total below 0", "select * from e where total < 0");
    let text = format!("[data]\ne = 'e.csv'\n{below}");
    fs::write(bench.path("checks.toml"), &text).unwrap();
    let run = check(&bench, "").succeeds();
    assert!(run.stdout().contains("good       no total below 0"), "{run}");
    // With rows, another column is still refused.
    fs::write(bench.path("e.csv"), "total\nx\n").unwrap();
    check(&bench, "").fails_with(9);
}

#[test]
fn the_command_that_makes_a_baseline_names_the_file_of_rules() {
    let bench = bench(&rule(KEPT.0, KEPT.1));
    fs::rename(bench.path("checks.toml"), bench.path("my rules.toml")).unwrap();
    let run = check(&bench, "'my rules.toml' --against nope.json").fails_with(5);
    assert!(run.stderr().contains("`csv-agent check \"my rules.toml\" --accept`"), "{run}");
}
