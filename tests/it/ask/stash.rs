//! What is too long for the model, what a question may do only so often, and what is answered again.

use std::fs;

use serde_json::{Value, json};

use super::{ask, code, last_request};
use crate::bench::{Bench, round};

/// Returns an output that the model got as JSON.
#[track_caller]
fn output(bench: &Bench, call_id: &str) -> Value {
    serde_json::from_str(last_request(bench).output_of(call_id)).unwrap()
}

#[test]
fn a_wide_schema_is_whole_in_the_repl_also_for_the_next_process() {
    let bench = Bench::with([]);
    let row = |cell: &dyn Fn(usize) -> String| (0..5_000).map(cell).collect::<Vec<_>>().join(",");
    let csv = [row(&|it| format!("sensor_{it}")), row(&|it| it.to_string())].join("\n");
    fs::write(bench.path("wide.csv"), csv + "\n").unwrap();
    bench.run(["ingest", "wide.csv"]).succeeds();
    bench.answers([
        round().calls("c1", "get_dataset_info", json!({"name": "wide"})),
        code("c2", "info = list(data.values())[0]\ninfo.shape, info.name.iloc[-1]"),
        round().says("Wide."),
    ]);
    let turn = ask(&bench, [], "How wide?", 0);
    assert_eq!(turn.result_of("c1")["truncated"], true);
    let seen = output(&bench, "c1");
    assert_eq!((&seen["row_count"], &seen["shape"]), (&json!(1), &json!([5_000, 3])));
    assert_eq!(seen["head"][19], json!({"name": "sensor_19", "dtype": "int64", "nulls": 0}));
    let key = seen["data_key"].as_str().unwrap().to_owned();
    assert!(key.starts_with("get_dataset_info_"), "{key}");
    assert_eq!(last_request(&bench).output_of("c2"), "((5000, 3), 'sensor_4999')");

    bench.answers([code("c3", &format!("len(data['{key}'])")), round().says("5000.")]);
    ask(&bench, [], "Still?", 0);
    assert_eq!(last_request(&bench).output_of("c3"), "5000");
}

#[test]
fn a_long_list_of_datasets_is_whole_in_the_repl() {
    let bench = Bench::with([]);
    let names: Vec<String> = (0..160)
        .map(|it| format!("{}_{it:03}.csv", "quarterly_sales_by_region".repeat(3)))
        .collect();
    for name in &names {
        fs::write(bench.path(name), "a\n1\n").unwrap();
    }
    bench.run(["ingest"].into_iter().chain(names.iter().map(String::as_str))).succeeds();
    bench.answers([
        round().calls("c1", "list_datasets", json!({})),
        code("c2", "list(data.values())[0].name.str[-3:].max()"),
        round().says("Many."),
    ]);
    ask(&bench, [], "How many?", 0);
    assert_eq!(output(&bench, "c1")["shape"], json!([160, 3]));
    assert_eq!(last_request(&bench).output_of("c2"), "'159'");
}

#[test]
fn what_code_prints_or_returns_at_length_is_whole_in_the_repl() {
    let bench = Bench::with(["sales.csv"]).script([
        code("c1", "for n in range(20_000): print(n)"),
        code("c2", "[n * n for n in range(20_000)]"),
        code("c3", "[it[-1] for it in data.values()], list(data)"),
        // A variable of that name is the code's own.
        code("c4", "data = {'mine': 1}"),
        code("c5", "'x' * 50_000"),
        code("c6", "data, [len(it) for it in stored_data.values()]"),
        round().says("Done."),
    ]);
    let turn = ask(&bench, [], "q", 0);
    let key = |call_id: &str, store: &str| {
        let request = last_request(&bench);
        let output = request.output_of(call_id);
        let (_, place) = output.split_once(&format!(" cut; the full text is {store}[\"")).unwrap();
        place.split_once("\"] …").unwrap().0.to_owned()
    };
    let (printed, other) = (key("c1", "data"), key("c2", "data"));
    assert_eq!(turn.result_of("c2")["truncated"], true);
    let expected = format!(r"(['\n', 399960001], ['{printed}', '{other}'])");
    assert_eq!(last_request(&bench).output_of("c3"), expected);
    assert!(key("c5", "stored_data").starts_with("python_repl_"));
    assert_eq!(last_request(&bench).output_of("c6"), "({'mine': 1}, [50000])");
    let keys: Vec<_> = turn.all("tool_result").iter().map(|it| it["status"].clone()).collect();
    assert_eq!(keys, vec![json!("ok"); 6]);
}

#[test]
fn the_same_read_is_answered_from_memory_and_costly_calls_have_an_allowance() {
    let find = |id: &str| {
        round().calls(id, "find_value_columns", json!({"name": "sales", "value": "Tea"}))
    };
    let load = |at: usize| {
        let arguments = json!({"name": "sales", "df_name": format!("df{at}")});
        round().calls(&format!("l{at}"), "load_dataset_full", arguments)
    };
    let bench = Bench::with(["sales.csv"]).script([find("c1"), find("c2")]);
    bench.answers((1..=11).map(load));
    bench.answers([round().says("Done.")]);
    let turn = ask(&bench, ["--max-rounds", "20"], "q", 0);
    let request = last_request(&bench);
    let (first, again) = (request.output_of("c1"), request.output_of("c2"));
    let note = "\n\n(From memory: the same call was answered before in this question.)";
    assert_eq!(again, format!("{first}{note}"));
    assert!(!request.output_of("l9").contains("last of"));
    assert!(request.output_of("l10").contains("the last of 10 calls of `load_dataset_full`"));
    assert_eq!(turn.results().last().unwrap(), "l11 error: allowance");
}
