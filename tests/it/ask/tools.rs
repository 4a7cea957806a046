//! The nine tools through the wire: what the model reads, and what the user gets.

use std::fmt::Write;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;

use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{ask, code, last_request};
use crate::bench::{Bench, Round, round};

fn bench() -> Bench {
    Bench::with(["sales.csv"])
}

fn chart(call_id: &str, changes: Value) -> Round {
    round().calls(call_id, "send_chart_to_ui", chart_of(changes))
}

/// Returns a spec that can be drawn of `top`, with some of its members changed.
#[expect(clippy::needless_pass_by_value, reason = "`json!({…})` reads better without a `&`")]
fn chart_of(changes: Value) -> Value {
    let mut spec = json!({"df_name": "top", "logical_name": "revenue", "chart_type": "column",
        "x_field": "product", "x_label": null, "y_label": "Revenue",
        "series": [{"name": "Revenue", "y_field": "revenue"}], "title": "By product", "note": null});
    spec.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    spec
}

/// Demands that an artifact is a private file of the session with this size and hash.
#[track_caller]
fn check_file(bench: &Bench, artifact: &Value) -> Vec<u8> {
    let path = bench.session().join(artifact["path"].as_str().unwrap());
    let bytes = fs::read(&path).unwrap();
    let hash: Vec<String> = Sha256::digest(&bytes).iter().map(|it| format!("{it:02x}")).collect();
    assert_eq!(artifact["sha256"], hash.concat(), "{artifact}");
    assert_eq!(artifact["bytes"], bytes.len(), "{artifact}");
    let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "{artifact}");
    bytes
}

/// Calls every tool.
fn one_of_each() -> [Round; 4] {
    let of_sales = |members: Value| {
        let mut arguments = json!({"name": "sales"});
        arguments.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        arguments
    };
    let columns = of_sales(json!({"columns": ["revenue"], "df_name": "r"}));
    let table = json!({"df_name": "top", "logical_name": "by product"});
    let sum = "top = df.groupby('product', as_index=False)['revenue'].sum()\ntop";
    [
        round()
            .calls("list", "list_datasets", json!({}))
            .calls("info", "get_dataset_info", of_sales(json!({})))
            .calls("find", "find_value_columns", of_sales(json!({"value": "coffee"})))
            .calls("none", "find_value_columns", of_sales(json!({"value": "Wine"})))
            .calls("full", "load_dataset_full", of_sales(json!({"df_name": "df"})))
            .calls("some", "load_dataset_sample", of_sales(json!({"df_name": "few", "nrows": 2})))
            .calls("cols", "load_dataset_columns", columns)
            .runs("code", sum),
        round().calls("table", "send_data_to_ui_as_df", table),
        chart("chart", json!({})),
        round().says("Done."),
    ]
}

#[test]
fn each_tool_answers_in_its_shape() {
    let bench = bench().script(one_of_each());
    let turn = ask(&bench, [], "q", 0);
    let request = last_request(&bench);
    let mut told = String::new();
    for result in turn.all("tool_result") {
        let call_id = result["call_id"].as_str().unwrap();
        let output = request.output_of(call_id);
        // The user's program sees what the model sees.
        assert_eq!(serde_json::from_str::<Value>(output).unwrap(), result["result"], "{call_id}");
        // pandas 2 and 3 have different names for text.
        writeln!(told, "{call_id} {}", output.replace(r#":"str""#, r#":"object""#)).unwrap();
    }
    insta::assert_snapshot!(told, @r#"
    list {"kind":"datasets","datasets":[{"name":"sales","row_count":10,"column_count":3}]}
    info {"kind":"schema","name":"sales","row_count":10,"columns":[{"name":"date","dtype":"date","nulls":0},{"name":"product","dtype":"string","nulls":0},{"name":"revenue","dtype":"float64","nulls":0}]}
    find {"kind":"matches","name":"sales","value":"coffee","columns":[{"column":"product","dtype":"string","count":4}]}
    none {"kind":"matches","name":"sales","value":"Wine","columns":[],"note":"no cell equals the value; for a part of a cell use str.contains in Python"}
    full {"kind":"dataframe","head":[{"date":"2024-01-15","product":"Tea","revenue":1200.5},{"date":"2024-01-22","product":"Coffee","revenue":2310.0},{"date":"2024-02-03","product":"Tea","revenue":980.25},{"date":"2024-02-17","product":"Cocoa","revenue":415.75},{"date":"2024-02-28","product":"Coffee","revenue":2105.4}],"columns":["date","product","revenue"],"row_count":10,"dtypes":{"date":"object","product":"object","revenue":"float64"},"variable":"df"}
    some {"kind":"dataframe","head":[{"date":"2024-01-15","product":"Tea","revenue":1200.5},{"date":"2024-01-22","product":"Coffee","revenue":2310.0}],"columns":["date","product","revenue"],"row_count":2,"dtypes":{"date":"object","product":"object","revenue":"float64"},"variable":"few","rows_in_dataset":10,"note":"2 of 10 rows: load the dataset before computing an answer"}
    cols {"kind":"dataframe","head":[{"revenue":1200.5},{"revenue":2310.0},{"revenue":980.25},{"revenue":415.75},{"revenue":2105.4}],"columns":["revenue"],"row_count":10,"dtypes":{"revenue":"float64"},"variable":"r"}
    code {"kind":"dataframe","head":[{"product":"Cocoa","revenue":917.85},{"product":"Coffee","revenue":8746.8},{"product":"Tea","revenue":4625.75}],"columns":["product","revenue"],"row_count":3,"dtypes":{"product":"object","revenue":"float64"}}
    table {"kind":"table_sent","logical_name":"by product","row_count":3,"rows_shown":3,"columns":["product","revenue"]}
    chart {"kind":"chart_sent","logical_name":"revenue","chart_type":"column","row_count":3,"series":1}
    "#);
    let reply = turn.end();
    assert_eq!((&reply["tables"], &reply["charts"]), (&json!(["by product"]), &json!(["revenue"])));
    assert_eq!((&reply["rounds"], &reply["tool_calls"]), (&json!(4), &json!(10)));
}

#[test]
fn a_long_table_is_cut_for_the_event_and_whole_in_its_file() {
    let make = "df = pd.DataFrame({'x': range(5000), 'y': 0.5})\n\
                wide = pd.DataFrame({f'c{i}': range(1000) for i in range(400)})";
    let send = |call_id: &str, df_name: &str| {
        let arguments = json!({"df_name": df_name, "logical_name": format!("../{df_name} é")});
        round().calls(call_id, "send_data_to_ui_as_df", arguments)
    };
    let bench = bench().script([
        code("c1", make),
        send("c2", "df"),
        send("c3", "wide"),
        send("c4", "missing"),
        round().says("Done."),
    ]);
    let turn = ask(&bench, [], "q", 0);
    assert_eq!(turn.results(), ["c1 ok", "c2 ok", "c3 ok", "c4 error: failed"]);
    let tables = turn.all("data_frame");
    for (table, n_rows, n_shown, n_columns) in
        [(tables[0], 5000, 2000, 2), (tables[1], 1000, 500, 400)]
    {
        assert_eq!(table["row_count"], n_rows);
        assert_eq!(table["rows_emitted"], n_shown);
        assert_eq!(table["rows"].as_array().unwrap().len(), n_shown);
        assert_eq!(table["truncated"], true);
        assert_eq!(table["columns"].as_array().unwrap().len(), n_columns);
        check_file(&bench, &table["artifact"]);
        let path = table["artifact"]["path"].as_str().unwrap();
        assert!(path.starts_with("turns/0001/tables/") && !path.contains(".."), "{path}");
        let file = File::open(bench.session().join(path)).unwrap();
        let metadata = SerializedFileReader::new(file).unwrap().metadata().file_metadata().clone();
        assert_eq!(metadata.num_rows(), n_rows);
        assert_eq!(metadata.schema_descr().num_columns(), n_columns);
    }
    let output: Value = serde_json::from_str(last_request(&bench).output_of("c2")).unwrap();
    assert_eq!(output["note"], "the user sees the first 2000 of 5000 rows");
}

#[test]
fn a_chart_is_drawn_as_private_files() {
    let top = "top = pd.DataFrame({'product': ['Tea', 'Cocoa'], 'revenue': [2.5, 1]})";
    let mut rounds = vec![code("c0", top)];
    let types = ["bar", "column", "stacked_column", "line"];
    rounds.extend(types.map(|it| chart(it, json!({"chart_type": it}))));
    rounds.push(chart("scatter", json!({"chart_type": "scatter", "x_field": "revenue"})));
    rounds.push(round().says("Drawn."));
    let bench = bench().script(rounds);
    let turn = ask(&bench, [], "q", 0);
    let charts = turn.all("chart");
    assert_eq!(charts.len(), 5, "{:?}", turn.results());
    for chart in charts {
        assert_eq!(chart["row_count"], 2);
        assert!(chart["alt"].as_str().is_some_and(|it| !it.is_empty()));
        for artifact in chart["files"].as_array().unwrap() {
            let bytes = check_file(&bench, artifact);
            let begin: &[u8] = match artifact["format"].as_str().unwrap() {
                "svg" => b"<svg",
                "png" => b"\x89PNG",
                "vl.json" => b"{\"$schema\":\"https://vega.github.io/schema/vega-lite/",
                format => panic!("{format}"),
            };
            assert!(bytes.starts_with(begin), "{artifact}");
        }
        assert!(chart["vega_lite"]["mark"].is_object(), "{chart}");
    }
}

#[test]
fn raw_rows_are_counted_and_summarised_and_long_data_has_series() {
    let rows = "raw = pd.DataFrame({'day': ['Tue', 'Mon', 'Tue', 'Mon'] * 3000, 'delay': [1.5, 2, 40, 7] * 3000})\n\
                long = raw.assign(late=raw.delay > 5).groupby(['day', 'late']).size().reset_index(name='n')";
    let raw = |kind: &str, x: &str, series: Value| {
        chart_of(json!({"df_name": "raw", "chart_type": kind, "x_field": x, "series": series}))
    };
    let delay = json!([{"name": "Delay", "y_field": "delay"}]);
    let options = json!({"color_by": "late", "order": null, "log_axis": null,
        "references": [{"value": 4000, "to": null, "label": "Usual"}], "trend_line": null,
        "number_format": null, "unit": "flights"});
    let long = json!({"df_name": "long", "chart_type": "stacked_bar", "x_field": "day",
        "series": [{"name": "Flights", "y_field": "n"}], "options": options});
    let calls = round()
        .calls("c1", "send_chart_to_ui", raw("histogram", "delay", json!([])))
        .calls("c2", "send_chart_to_ui", raw("box", "day", delay.clone()))
        .calls("c3", "send_chart_to_ui", chart_of(long))
        .calls("c4", "send_chart_to_ui", raw("histogram", "day", json!([])));
    let bench = bench().script([code("c0", rows), calls, round().says("Drawn.")]);
    let turn = ask(&bench, [], "q", 0);
    let charts = turn.all("chart");
    assert_eq!(charts.len(), 3, "{:?}", turn.results());
    let counted =
        charts[0]["data"].as_array().unwrap().iter().map(|it| it["rows"].as_u64().unwrap());
    assert_eq!(counted.sum::<u64>(), 12_000);
    assert_eq!(charts[1]["data"][0]["day"], "Tue");
    assert_eq!(charts[1]["data"][0]["rows"], 6_000);
    assert_eq!(charts[2]["options"]["color_by"], "late");
    let alt = charts[2]["alt"].as_str().unwrap();
    assert!(alt.starts_with("Stacked bar chart") && alt.contains("(false, Mon)"), "{alt}");
    let refused = turn.one("chart_rejected");
    assert_eq!(refused["reason"], "no numeric column `day`; convert it first");
}

#[test]
fn panels_are_drawn_and_the_thresholds_of_a_column_are_lines() {
    let rows = "long = pd.DataFrame({'shop': ['A', 'A', 'B', 'B'], 'day': ['Mon', 'Tue'] * 2, 'revenue': [5, 8, 3, 9]})";
    let options = json!({"color_by": null, "order": null, "log_axis": null, "references": null,
        "trend_line": null, "number_format": null, "unit": null, "facet_by": "shop",
        "error_bars": null, "highlight": null, "annotations": null, "size_by": null,
        "line_series": null, "value_labels": null, "bin_width": null});
    let spec = json!({"df_name": "long", "x_field": "day", "options": options});
    let bench = bench().script([code("c0", rows), chart("c1", spec), round().says("Drawn.")]);
    let thresholds = bench.path("t.toml");
    fs::write(&thresholds, "[revenue]\nbad = \"< 4\"\n").unwrap();
    let turn = ask(&bench, ["--thresholds", thresholds.to_str().unwrap()], "q", 0);
    let drawn = &turn.all("chart")[0];
    let line = &drawn["options"]["references"][0];
    assert_eq!((&line["value"], &line["label"]), (&json!(4.0), &json!("bad below 4")));
    assert_eq!(drawn["vega_lite"]["facet"]["field"], "panel");
    let svg = String::from_utf8(check_file(&bench, &drawn["files"][0])).unwrap();
    for text in [">A</text>", ">B</text>", ">Dashed line: bad below 4.</text>"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}

#[test]
fn a_chart_is_painted_as_flags_or_the_configuration_ask() {
    let top = "top = pd.DataFrame({'product': ['Tea', 'Cocoa'], 'revenue': [2.5, 1]})";
    let rounds = || [code("c0", top), chart("c1", json!({})), round().says("Drawn.")];
    let bench = bench();
    let look = |flags: [&str; 4]| {
        bench.answers(rounds());
        let turn = ask(&bench, flags, "q", 0);
        let files = turn.all("chart")[0]["files"].as_array().unwrap().clone();
        let svg = String::from_utf8(check_file(&bench, &files[0])).unwrap();
        let paper = svg.lines().find(|it| it.starts_with("<rect")).unwrap().to_owned();
        let png = check_file(&bench, &files[1]);
        // Where a PNG has its width.
        assert_eq!(files[1]["width"], u32::from_be_bytes(png[16..20].try_into().unwrap()));
        (paper, files[0]["width"].clone(), files[1]["width"].clone())
    };
    let (white, svg_width, png_width) = look(["--chart-theme", "light", "--chart-scale", "1"]);
    assert!(white.contains(" fill=\"#fff\""), "{white}");
    assert_eq!(svg_width, png_width);
    let asked = look(["--chart-theme", "dark", "--chart-scale", "2"]);
    assert!(asked.0.contains(" fill=\"#171a21\""), "{}", asked.0);
    assert_eq!(asked.1, svg_width);
    assert_eq!(asked.2, json!(2 * png_width.as_u64().unwrap()));
    let config = bench.path("config.toml");
    fs::write(&config, "chart_theme = \"dark\"\n").unwrap();
    assert_eq!(look(["--config", config.to_str().unwrap(), "--chart-scale", "2"]), asked);
}

#[test]
fn a_chart_that_cannot_be_drawn_is_refused_with_the_reason() {
    let make = "top = pd.DataFrame({'product': ['Tea'], 'revenue': [1.0], 'name': ['x']})\n\
                long = pd.DataFrame({'product': range(201), 'revenue': range(201)})\n\
                empty = top.head(0)\nnumber = 1";
    let series = |n: usize| json!(vec![json!({"name": "s", "y_field": "revenue"}); n]);
    let cases = [
        ("too_many_rows", json!({"df_name": "long"}), Some((200, 201))),
        ("too_many_series", json!({"series": series(11)}), Some((10, 11))),
        ("empty", json!({"series": []}), None),
        ("empty", json!({"df_name": "empty"}), None),
        ("non_numeric_y", json!({"series": [{"name": "s", "y_field": "name"}]}), None),
        ("unknown_field", json!({"x_field": "nothing"}), None),
        ("unknown_df", json!({"df_name": "nothing"}), None),
        ("unknown_df", json!({"df_name": "number"}), None),
    ];
    let mut calls = code("c", make);
    for (at, (_, changes, _)) in cases.iter().enumerate() {
        calls = calls.calls(&format!("c{at}"), "send_chart_to_ui", chart_of(changes.clone()));
    }
    // A type that is not in the schema is a wrong argument, not a chart.
    calls = calls.calls("pie", "send_chart_to_ui", chart_of(json!({"chart_type": "pie"})));
    let bench = bench().script([calls, round().says("None.")]);
    let turn = ask(&bench, [], "q", 0);
    assert_eq!(turn.result_of("pie")["error"]["code"], "bad_arguments");
    let rejected = turn.all("chart_rejected");
    assert_eq!(rejected.len(), cases.len());
    for (at, (code, changes, bound)) in cases.iter().enumerate() {
        let found = rejected[at];
        assert_eq!(found["code"], *code, "{changes}: {found}");
        let reason = found["reason"].as_str().unwrap();
        let request = last_request(&bench);
        let told = request.output_of(&format!("c{at}"));
        let told: Value = serde_json::from_str(told).unwrap();
        assert_eq!(told["text"], format!("the chart was not drawn: {reason}"));
        let limits = bound.map(|(limit, actual)| (json!(limit), json!(actual)));
        let limits = limits.unwrap_or_default();
        assert_eq!((&found["limit"], &found["actual"]), (&limits.0, &limits.1), "{changes}");
    }
    assert_eq!(turn.end()["charts"], json!([]));
    assert!(!bench.session().join("turns/0001/charts").join("revenue.svg").exists());
}
