//! The JSON Schemas that the binary prints, against what it writes and reads.

use std::fs;

use boon::{Compiler, Schemas};
use serde_json::Value;

use crate::bench::Bench;

/// Compiles what `schema` prints, and returns what tells why a value does not fit.
fn misfit_of(what: &str) -> impl Fn(&Value) -> Option<String> {
    let printed = Bench::with([]).shell(&format!("csv-agent schema {what}"), &[]).succeeds();
    let schema: Value = serde_json::from_str(printed.stdout()).unwrap();
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("schema.json", schema).unwrap();
    let index = compiler.compile("schema.json", &mut schemas).unwrap();
    move |value| schemas.validate(value, index).err().map(|it| format!("{it:#}"))
}

#[test]
fn every_document_fits_its_schema_and_has_nothing_that_is_not_in_it() {
    let misfit = misfit_of("result");
    let printed = Bench::with([]).shell("csv-agent schema result", &[]).succeeds();
    let schema: Value = serde_json::from_str(printed.stdout()).unwrap();
    let builtin = "csv-agent ask --json --model builtin -f sales.csv";
    for (asks, code) in [
        (format!("{builtin} 'total revenue by product'"), 0),
        (format!("{builtin} 'bar chart of total revenue by product'"), 0),
        (format!("{builtin} --fail-on bad 'no revenue below 500'"), 11),
        (format!("{builtin} 'is the frobnication in order?'"), 9),
        ("csv-agent ask --json -f sales.csv q".to_owned(), 4),
        (
            "csv-agent ask --json -f sales.csv --base-url http://127.0.0.1:9/v1 --retries 0 q"
                .to_owned(),
            6,
        ),
    ] {
        let run = Bench::with(["sales.csv"]).shell(&asks, &[]);
        let run = if code == 0 { run.succeeds() } else { run.fails_with(code) };
        let document: Value = serde_json::from_str(run.stdout()).unwrap();
        assert_eq!(misfit(&document), None, "{asks}: {document}");
        for name in document.as_object().unwrap().keys() {
            assert!(!schema["properties"][name].is_null(), "{name}");
        }
    }
    assert!(misfit(&serde_json::json!({"schema": "csv-agent.result/2"})).is_some());
}

#[test]
fn every_result_of_rules_fits_its_schema() {
    let misfit = misfit_of("checks");
    let bench = Bench::with(["sales.csv"]);
    let rules = "[data]\nsales = 'sales.csv'\n[[check]]\nname = 'a'\nsql = 'select * from sales'\n[[check]]\n\
                 name = 'b'\nsql = 'select 1 where false'\n[[check]]\nname = 'c'\nsql = 'selec'\n";
    fs::write(bench.path("checks.toml"), rules).unwrap();
    let run = bench.run(["check", "--json"]).fails_with(9);
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    assert_eq!(document.as_array().unwrap().len(), 3);
    assert_eq!(misfit(&document), None, "{document}");
    assert!(misfit(&serde_json::json!([{"name": "a"}])).is_some());
}

#[test]
fn every_description_fits_its_schema() {
    let misfit = misfit_of("description");
    let sales = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sql/data");
    let run = Bench::with([]).run(["describe", "--json", sales]).succeeds();
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    assert!(5 < document.as_array().unwrap().len());
    assert_eq!(misfit(&document), None, "{document}");
    assert!(misfit(&serde_json::json!([{"name": "t", "columns": []}])).is_some());
}

#[test]
fn every_line_fits_the_schema_of_events() {
    let misfit = misfit_of("events");
    let asks = "csv-agent ask --format jsonl --model builtin -f sales.csv --verdict \
                'column chart of total revenue by product'; true";
    let run = Bench::with(["sales.csv"]).shell(asks, &[]).succeeds();
    assert!(5 < run.events().len());
    for event in run.events() {
        assert_eq!(misfit(&event), None, "{event}");
    }
}

#[test]
fn a_configuration_is_read_when_it_fits_the_schema() {
    let misfit = misfit_of("config");
    for (text, fits) in [
        ("", true),
        ("model = 'm'\nstream = false\ntimeout = '90s'\nmax_cost = 0.5\nmax_rounds = 7", true),
        ("[profiles.work]\napi = 'chat'\nbase_url = 'http://a/v1'\nretries = 0", true),
        ("profile = 'work'\n[profiles.work]\napi_key_cmd = ['pass', 'show']", true),
        ("[prices.m]\ninput = 1.25\ncached_input = 0.1\noutput = 10", true),
        ("reasoning = 'high'\nformat = 'csv'\ncolor = 'never'\nmax_cost = 2", true),
        ("modell = 'm'", false),
        ("stream = 'yes'", false),
        ("api = 'soap'", false),
        ("max_rounds = '7'", false),
        ("[profiles.work]\nprofile = 'other'", false),
        ("[prices.m]\ncosts = 1", false),
    ] {
        let bench = Bench::with([]);
        fs::write(bench.path("c.toml"), text).unwrap();
        let run = bench.shell("csv-agent --config c.toml config show > /dev/null", &[]);
        if fits {
            run.succeeds()
        } else {
            run.fails_with(3)
        };
        let value: Value = toml::from_str(text).unwrap();
        assert_eq!(misfit(&value).is_none(), fits, "{text}: {:?}", misfit(&value));
    }
}
