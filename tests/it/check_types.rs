//! The check types of other tools: which of them are a claim, a statement, or an error in reading.
//!
//! docs/internals/check-types.md is made from this list: `CSV_AGENT_RECORD=1 CSV_AGENT_SLOW_TESTS=1 cargo test --test it
//! -- check_types` writes it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::bench::{Bench, is_slow_run};
use crate::broken_data::Cells;

/// How csv-agent checks the same.
enum Means {
    /// A rule in words.
    Claim(&'static str),
    /// A rule as a statement.
    Sql(&'static str),
    /// A file like this is refused with `--strict`, with these words.
    Reading(&'static str, &'static str),
    /// Another part of csv-agent.
    Other(&'static str),
    /// Not at all.
    Nothing(&'static str),
}

use Means::{Claim, Nothing, Other, Reading, Sql};

const GREAT_EXPECTATIONS: [(&str, Means); 49] = [
    ("column_distinct_values_to_be_in_set", Claim("status is open, paid or shipped")),
    (
        "column_distinct_values_to_contain_set",
        Sql(
            "select v from (values ('open'), ('paid')) as s(v) where v not in (select status from orders)",
        ),
    ),
    (
        "column_distinct_values_to_equal_set",
        Sql(
            "select status, v from orders full join (values ('open'), ('paid'), ('shipped')) as s(v) on status = v where status is null or v is null",
        ),
    ),
    ("column_kl_divergence_to_be_less_than", Other("a baseline: `check --accept`")),
    ("column_max_to_be_between", Claim("price is at most 50")),
    ("column_mean_to_be_between", Claim("the average price is at least 2")),
    ("column_median_to_be_between", Claim("the median price is at most 50")),
    ("column_min_to_be_between", Claim("price is at least 1")),
    (
        "column_most_common_value_to_be_in_set",
        Sql(
            "select m from (select mode(status) as m from orders) where m not in ('open', 'paid', 'shipped')",
        ),
    ),
    ("column_pair_values_a_to_be_greater_than_b", Claim("total is at least price")),
    (
        "column_pair_values_to_be_equal",
        Sql("select * from orders where sku is distinct from upper(sku)"),
    ),
    (
        "column_pair_values_to_be_in_set",
        Sql(
            "select * from customers where country || '/' || coalesce(state, '') not in ('US/CA', 'US/NY', 'NO/', 'DE/')",
        ),
    ),
    (
        "column_proportion_of_unique_values_to_be_between",
        Sql("select p from (select count(distinct sku) / count(*) as p from orders) where p < 0.9"),
    ),
    (
        "column_quantile_values_to_be_between",
        Sql("select q from (select quantile_cont(price, 0.9) as q from orders) where q > 50"),
    ),
    (
        "column_stdev_to_be_between",
        Sql("select s from (select stddev(price) as s from orders) where s > 50"),
    ),
    (
        "column_sum_to_be_between",
        Sql("select s from (select sum(total) as s from orders) where s not between 1 and 100000"),
    ),
    ("column_to_exist", Sql("select sku from orders limit 0")),
    (
        "column_unique_value_count_to_be_between",
        Sql(
            "select n from (select count(distinct status) as n from orders) where n not between 2 and 5",
        ),
    ),
    ("column_value_lengths_to_be_between", Claim("sku has between 5 and 9 characters")),
    ("column_value_lengths_to_equal", Claim("sku has 7 characters")),
    (
        "column_value_z_scores_to_be_less_than",
        Sql(
            "select * from orders qualify abs(price - avg(price) over ()) > 3 * stddev(price) over ()",
        ),
    ),
    ("column_values_to_be_between", Claim("discount is between 0 and 1")),
    (
        "column_values_to_be_dateutil_parseable",
        Sql("select * from orders where try_cast(ordered as date) is null"),
    ),
    ("column_values_to_be_in_set", Claim("plan is free or pro")),
    ("column_values_to_be_in_type_list", Other("a baseline: `check --accept`")),
    ("column_values_to_be_json_parseable", Nothing("no function of SQL reads JSON")),
    (
        "column_values_to_be_null",
        Sql("select * from orders where status = 'open' and shipped is not null"),
    ),
    ("column_values_to_be_of_type", Other("a baseline: `check --accept`; `dtype` in `[data]`")),
    ("column_values_to_be_unique", Claim("order_id is unique")),
    ("column_values_to_match_json_schema", Nothing("no function of SQL reads JSON")),
    ("column_values_to_match_like_pattern", Sql("select * from orders where sku not like 'AB-%'")),
    (
        "column_values_to_match_like_pattern_list",
        Sql("select * from orders where not (sku like 'AB-%' or sku like 'CD-%')"),
    ),
    ("column_values_to_match_regex", Claim("sku matches 'AB-[0-9]{4}'")),
    (
        "column_values_to_match_regex_list",
        Sql("select * from orders where not (sku ~ '^AB' or sku ~ '^CD')"),
    ),
    (
        "column_values_to_match_strftime_format",
        Sql("select * from orders where try_strptime(cast(ordered as text), '%Y-%m-%d') is null"),
    ),
    ("column_values_to_not_be_in_set", Claim("status is never 'lost'")),
    ("column_values_to_not_be_null", Claim("no order_id is missing")),
    ("column_values_to_not_match_like_pattern", Sql("select * from orders where sku like 'XY%'")),
    ("column_values_to_not_match_regex", Sql("select * from orders where sku ~ '[a-z]'")),
    ("compound_columns_to_be_unique", Claim("the combination of order_id and sku is unique")),
    ("multicolumn_sum_to_equal", Claim("total = quantity * price within 0.01")),
    (
        "select_column_values_to_be_unique_within_record",
        Sql("select * from orders where order_id = customer_id"),
    ),
    ("table_column_count_to_be_between", Other("a baseline: `check --accept`")),
    ("table_columns_to_match_ordered_list", Nothing("the order of columns makes no difference")),
    ("table_columns_to_match_set", Other("a baseline: `check --accept`")),
    ("table_row_count_to_be_between", Claim("orders has between 50 and 80 rows")),
    (
        "table_row_count_to_equal",
        Sql("select n from (select count(*) as n from customers) where n <> 20"),
    ),
    (
        "table_row_count_to_equal_other_table",
        Sql(
            "select 1 as differs where (select count(*) from orders) <> 3 * (select count(*) from customers)",
        ),
    ),
    ("unexpected_rows_expectation", Sql("select * from orders where total < 0")),
];

const SODA: [(&str, Means); 28] = [
    ("row_count", Claim("there are at least 50 orders")),
    ("missing_count", Claim("no missing values in order_id, sku and status")),
    ("missing_percent", Claim("at most 10% of emails are missing")),
    ("duplicate_count", Claim("no sku is used twice")),
    (
        "duplicate_percent",
        Sql(
            "select p from (select 100 * (1 - count(distinct sku) / count(sku)) as p from orders) where p > 5",
        ),
    ),
    ("invalid_count: valid values", Claim("country is US, NO or DE")),
    ("invalid_count: valid format", Claim("email contains @")),
    ("invalid_count: valid regex", Claim("sku matches '[A-Z]{2}-[0-9]+'")),
    ("invalid_count: valid length", Claim("country has 2 letters")),
    ("invalid_count: valid min, valid max", Claim("age is between 18 and 120")),
    ("invalid_percent", Claim("less than 1% of totals are negative")),
    ("min", Claim("quantity is at least 1")),
    ("max", Claim("quantity is at most 100")),
    ("avg", Claim("the average quantity is at least 1")),
    ("sum", Sql("select s from (select sum(quantity) as s from orders) where s < 60")),
    (
        "stddev, variance",
        Sql("select s from (select variance(quantity) as s from orders) where s > 100"),
    ),
    (
        "percentile",
        Sql("select q from (select quantile_cont(quantity, 0.95) as q from orders) where q > 9"),
    ),
    (
        "avg_length, min_length, max_length",
        Sql("select n from (select max(length(sku)) as n from orders) where n > 7"),
    ),
    (
        "freshness",
        Sql(
            "select latest from (select max(ordered) as latest from orders) where latest < date '2020-01-01'",
        ),
    ),
    ("schema: required and forbidden columns, types", Other("a baseline: `check --accept`")),
    ("reference: values must exist in", Claim("every customer_id in orders is in customers")),
    ("failed rows", Claim("if status is shipped then shipped is not null")),
    (
        "cross check: row_count same as",
        Sql(
            "select 1 as differs where 3 * (select count(*) from customers) <> (select count(*) from orders)",
        ),
    ),
    ("distribution", Other("a baseline: `check --accept`")),
    ("anomaly detection", Nothing("a check keeps no history; a baseline is one state")),
    ("group by", Sql("select status, count(*) as n from orders group by 1 having count(*) < 5")),
    ("group evolution", Other("a baseline: `check --accept`")),
    ("reconciliation", Other("`csv-agent diff`")),
];

const FRICTIONLESS: [(&str, Means); 32] = [
    ("source-error", Other("status 5, without `--strict`")),
    ("encoding-error", Other("a warning, or status 5 with `--strict`")),
    ("hash-count, byte-count", Nothing("`sha256sum -c` compares files")),
    ("blank-header, blank-label", Other("a warning; the column gets a name")),
    ("duplicate-label", Other("a note; the second column gets another name")),
    ("extra-label, missing-label, incorrect-label", Other("a baseline: `check --accept`")),
    ("extra-cell", Reading("a,b\n1,2\n3,4\n5,6,7\n8,9\n", "more than 2 cells")),
    ("missing-cell", Reading("a,b,c\n1,2,3\n4,5,6\n7,8\n1,1,1\n", "fewer than 3 cells")),
    ("blank-row", Other("left out, as in most readers")),
    ("type-error", Other("a baseline: `check --accept`; `dtype` in `[data]`")),
    ("primary-key", Claim("order_id is unique and not null")),
    ("foreign-key", Claim("orders.customer_id exists in customers.customer_id")),
    ("unique-error", Claim("no sku is used twice")),
    ("constraint: required", Claim("no sku is missing")),
    ("constraint: minimum, maximum", Claim("quantity is at least 1 and at most 100")),
    ("constraint: minLength, maxLength", Claim("sku has at most 9 characters")),
    ("constraint: pattern", Claim("sku matches 'AB-[0-9]{4}'")),
    ("constraint: enum", Claim("status is one of open, paid, shipped")),
    ("field-count, row-count", Claim("orders has between 50 and 80 rows")),
    ("duplicate-row", Sql("select * from orders group by all having count(*) > 1")),
    (
        "deviated-value",
        Sql(
            "select * from orders qualify abs(total - avg(total) over ()) > 6 * stddev(total) over ()",
        ),
    ),
    ("truncated-value", Sql("select * from orders where length(sku) >= 255")),
    ("forbidden-value", Claim("status is never 'test'")),
    (
        "sequential-value",
        Sql("select * from orders qualify order_id <> lag(order_id) over (order by order_id) + 1"),
    ),
    ("row-constraint", Claim("total = quantity * price within 0.01")),
    ("table-dimensions", Claim("there are at least 20 customers")),
    ("ascii-value", Sql("select * from orders where not regexp_full_match(sku, '[ -~]*')")),
    ("deviated-cell", Sql("select * from orders where length(email) > 100")),
    ("required-value", Sql("select 'US' as v where 'US' not in (select country from customers)")),
    ("stats: sum, mean", Claim("the average total is at least 1")),
    ("baseline: hash of a version", Other("`csv-agent diff`")),
    ("conditional: if a then b", Claim("shipped is only set when status is shipped")),
];

/// Returns the suites, each with its checks.
fn suites() -> [(&'static str, &'static [(&'static str, Means)]); 3] {
    [
        ("Great Expectations (`expect_…`)", &GREAT_EXPECTATIONS),
        ("Soda", &SODA),
        ("Frictionless", &FRICTIONLESS),
    ]
}

fn page() -> String {
    let mut text = "# Check types of other tools\n\nMade by `tests/it/check_types.rs`, which compiles each claim and runs \
                    each statement. Do not edit it.\n"
        .to_owned();
    for (suite, checks) in suites() {
        let n_of = |is_it: fn(&Means) -> bool| checks.iter().filter(|it| is_it(&it.1)).count();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n## {suite}\n\n{} check types: {} as a claim, {} as SQL, {} elsewhere, {} not.\n\n| check | with | how |\n|---|---|---|\n",
            checks.len(),
            n_of(|it| matches!(it, Claim(_))),
            n_of(|it| matches!(it, Sql(_))),
            n_of(|it| matches!(it, Reading(..) | Other(_))),
            n_of(|it| matches!(it, Nothing(_))),
        );
        for (check, means) in checks {
            let (with, how) = match means {
                Claim(claim) => ("claim", format!("`{}`", claim.replace('|', "\\|"))),
                Sql(sql) => ("SQL", format!("`{}`", sql.replace('|', "\\|"))),
                Reading(..) => ("reading", "`check --strict` refuses the file".to_owned()),
                Other(how) => ("csv-agent", (*how).to_owned()),
                Nothing(why) => ("–", (*why).to_owned()),
            };
            let _ = writeln!(text, "| {check} | {with} | {how} |");
        }
    }
    text
}

#[test]
fn the_page_is_that_of_the_list_and_all_rules_in_it_notice_broken_data() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/internals/check-types.md");
    if std::env::var_os("CSV_AGENT_RECORD").is_some() {
        fs::write(&path, page()).unwrap();
    }
    assert_eq!(fs::read_to_string(path).unwrap(), page());
    if !is_slow_run() {
        return;
    }
    let bench = Bench::with([]);
    Cells::good().write(&bench);
    let mut rules = "[data]\norders = 'orders.csv'\ncustomers = 'customers.csv'\n".to_owned();
    for (suite, checks) in suites() {
        for (at, (check, means)) in checks.iter().enumerate() {
            let body = match means {
                Claim(claim) => format!("claim = \"{claim}\""),
                Sql(sql) => format!("sql = \"{sql}\""),
                Reading(text, words) => {
                    fs::write(bench.path("odd.csv"), text).unwrap();
                    let odd = "[data]\nodd = 'odd.csv'\n[[check]]\nname = 'n'\nsql = 'select * from odd limit 0'\n";
                    fs::write(bench.path("odd.toml"), odd).unwrap();
                    let run =
                        bench.shell("csv-agent check -q odd.toml --strict", &[]).fails_with(5);
                    assert!(run.stderr().contains(words), "{check}: {run}");
                    continue;
                }
                Other(_) | Nothing(_) => continue,
            };
            let _ = writeln!(rules, "[[check]]\nname = \"{suite} {at} {check}\"\n{body}");
        }
    }
    fs::write(bench.path("checks.toml"), rules).unwrap();
    let run = bench.shell("csv-agent check -q --update --json", &[]);
    let found: Vec<Value> = serde_json::from_str(run.stdout()).unwrap();
    let other = found.iter().filter(|it| it["result"] != "good");
    let other: Vec<String> =
        other.map(|it| format!("{}: {} {}", it["name"], it["reason"], it["sql"])).collect();
    assert!(other.is_empty(), "{other:#?}");
    let sku = "XYé".repeat(99);
    let email = "e".repeat(101);
    let orders = [
        ("order_id", "5"),
        ("customer_id", "5"),
        ("status", "test"),
        ("ordered", "1999-01-01"),
        ("quantity", "0"),
        ("price", "60"),
        ("total", "0"),
        ("sku", &*sku),
        ("email", &*email),
    ];
    let high = Cells::all_with(&orders, &[]);
    let orders = [("ordered", "soon"), ("quantity", "99"), ("price", "0"), ("sku", "")];
    let low = Cells::all_with(&orders, &[("country", "NO")]);
    let mut never_broken = found;
    for cells in Cells::broken().chain([high, low]) {
        cells.write(&bench);
        let run = bench.shell("csv-agent check -q --locked --json", &[]);
        let found: Vec<Value> = serde_json::from_str(run.stdout()).unwrap();
        let is_broken =
            |name: &Value| found.iter().any(|it| it["name"] == *name && it["result"] == "bad");
        never_broken.retain(|it| !is_broken(&it["name"]));
    }
    // Without its column, a rule is undecided.
    let names: Vec<&str> = never_broken.iter().map(|it| it["name"].as_str().unwrap()).collect();
    let [name] = names[..] else { panic!("{names:#?}") };
    assert!(name.ends_with(" column_to_exist"), "{name}");
    let text = fs::read_to_string(bench.path("orders.csv")).unwrap();
    fs::write(bench.path("orders.csv"), text.replace(",sku,", ",code,")).unwrap();
    let run = bench.shell("csv-agent check -q --locked --json", &[]).fails_with(9);
    let found: Vec<Value> = serde_json::from_str(run.stdout()).unwrap();
    let rule = found.iter().find(|it| it["name"] == name).unwrap();
    assert_eq!(rule["result"], "undecided", "{rule}");
}
