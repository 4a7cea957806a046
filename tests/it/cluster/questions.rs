//! The same questions about the same data, here and on a cluster: equal answers.
//!
//! Three datasets are public tables, as CSV, as Parquet and as a table of the catalogue; the fourth is made
//! by `orders.py`. A fifth stays on this machine in both sessions, and is joined in.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::ingest;
use crate::ask::Turn;
use crate::bench::{Bench, Round, Spark, round};

/// The questions. What is in a file is explained at its head.
const QUESTIONS: &str = include_str!("questions.toml");

/// Questions of one turn: later turns find what the first one loaded.
const QUESTIONS_A_TURN: usize = 10;

/// How far floats may be apart: partial sums are added in another order there.
const TOLERANCE: f64 = 1e-9;

/// Where code runs: the name of its member in a question.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Local,
    Remote,
}

impl Place {
    fn code(self, of: &Value) -> Option<&str> {
        of[if self == Place::Local { "local" } else { "remote" }].as_str()
    }
}

/// Makes a bench whose working directory holds the tables.
fn bench() -> Bench {
    let bench = Bench::with([]);
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/analyst/tables");
    for name in ["flights.csv", "planes.csv", "airlines.csv", "superstore.csv"] {
        fs::copy(tables.join(name), bench.path(name)).unwrap();
    }
    crate::parquet::python(&bench, include_str!("orders.py"));
    bench
}

fn ingest_here(bench: &Bench) {
    bench.run(["ingest", "-q", "--null", "NA", "flights.csv", "planes.csv"]).succeeds();
    bench.run(["ingest", "-q", "airlines.csv", "superstore.csv", "orders.csv"]).succeeds();
}

/// Registers the same data on the cluster; `here` has it as Parquet files.
fn ingest_there(spark: &Spark, bench: &Bench, here: &Bench) {
    let file = |name: &str| bench.path(name).display().to_string();
    let parquet = |name: &str| {
        let files = fs::read_dir(here.session().join("datasets")).unwrap();
        let mut paths = files.map(|it| it.unwrap().path().display().to_string());
        let is_it = |it: &String| it.contains(&format!("/{name}")) && it.ends_with(".parquet");
        paths.find(is_it).unwrap_or_else(|| panic!("no Parquet file of `{name}`"))
    };
    let superstore = parquet("superstore");
    spark.python(&format!(
        "spark.read.parquet('{superstore}').write.mode('overwrite').saveAsTable('superstore_2017')"
    ));
    let flights = format!("flights={}", file("flights.csv"));
    ingest(spark, bench, &["--null", "NA", &flights]).succeeds();
    let orders = format!("orders={}", file("orders.csv"));
    let planes = format!("planes={}", parquet("planes"));
    ingest(spark, bench, &[&orders, &planes, "superstore=superstore_2017"]).succeeds();
    bench.run(["ingest", "-q", "airlines.csv"]).succeeds();
}

/// Returns the round that answers a question: the tool's call, the code, and what the user is shown.
fn answering(at: usize, question: &Value, place: Place) -> Round {
    let mut answer = round();
    if let Some(tool) = question["tool"].as_str() {
        answer = answer.calls(&format!("tool{at}"), tool, question["arguments"].clone());
    }
    let Some(code) = place.code(question) else { return answer };
    let name = format!("answer {at}");
    let answer = answer.runs(&format!("code{at}"), code);
    let chart = &question["chart"];
    if chart.is_null() {
        let arguments = json!({"df_name": "answer", "logical_name": name});
        return answer.calls(&format!("shown{at}"), "send_data_to_ui_as_df", arguments);
    }
    let spec = json!({"df_name": "answer", "logical_name": name, "chart_type": chart["type"],
        "x_field": chart["x"], "x_label": null, "y_label": null, "title": null, "note": null,
        "series": [{"name": "n", "y_field": chart["y"]}]});
    answer.calls(&format!("shown{at}"), "send_chart_to_ui", spec)
}

/// Asks all questions, and returns the events of all turns.
fn ask_all(bench: &Bench, questions: &Value, place: Place) -> Vec<Value> {
    let mut events = Vec::new();
    let all: Vec<(usize, &Value)> =
        questions["question"].as_array().unwrap().iter().enumerate().collect();
    for (turn, part) in all.chunks(QUESTIONS_A_TURN).enumerate() {
        let begin = place.code(&questions["begin"]).filter(|_| turn == 0);
        let begin = begin.map(|code| round().runs("begin", code));
        bench.answers(begin);
        bench.answers(part.iter().map(|(at, question)| answering(*at, question, place)));
        bench.answers([round().says("Done.")]);
        let arguments = ["--format", "jsonl", "--max-rounds", "20"];
        let turn = Turn::of(&bench.ask_with(arguments, "q").succeeds());
        for result in turn.all("tool_result") {
            let call = result["call_id"].as_str().unwrap();
            let at = call.trim_start_matches(char::is_alphabetic).parse::<usize>();
            let asks = at.map_or(&Value::Null, |at| &questions["question"][at]["asks"]);
            assert_eq!(result["status"], "ok", "{asks}: {result:#}");
        }
        events.extend(turn.events);
    }
    events
}

/// Returns what a question gave: members of the tool's result, and what the user was shown.
fn answer_to(at: usize, question: &Value, events: &[Value]) -> Map<String, Value> {
    let mut answer = Map::new();
    let of_call = |call_id: String, kinds: &'static [&'static str]| {
        let is_it = move |it: &&Value| {
            it["call_id"] == call_id && kinds.iter().any(|kind| it["type"] == *kind)
        };
        events.iter().find(is_it)
    };
    for member in question["same"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let result = &of_call(format!("tool{at}"), &["tool_result"]).unwrap()["result"];
        answer.insert(member.to_owned(), member_of(result, member));
    }
    if question["local"].is_string() {
        let shown = of_call(format!("shown{at}"), &["data_frame", "chart"]).expect("it was shown");
        let members: &[&str] = match shown["type"].as_str() {
            Some("chart") => &["data", "row_count", "series", "alt"],
            _ => &["columns", "rows", "row_count", "truncated"],
        };
        answer.extend(members.iter().map(|it| ((*it).to_owned(), shown[it].clone())));
        assert_ne!(shown["row_count"], 0, "{}", question["asks"]);
    }
    assert!(!answer.is_empty(), "{} compares nothing", question["asks"]);
    answer
}

/// Returns a member by its path; `*` is each element of a list.
fn member_of(value: &Value, path: &str) -> Value {
    match path.split_once('/') {
        None => value[path].clone(),
        Some(("*", rest)) => {
            value.as_array().unwrap().iter().map(|it| member_of(it, rest)).collect()
        }
        Some((first, rest)) => member_of(&value[first], rest),
    }
}

fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) if a.is_i64() && b.is_i64() => a == b,
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= TOLERANCE * a.abs().max(b.abs())
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let is_member =
                |(name, it): (&String, &Value)| b.get(name).is_some_and(|b| is_same(it, b));
            a.len() == b.len() && a.iter().all(is_member)
        }
        _ => left == right,
    }
}

#[test]
fn questions_have_the_same_answers_here_and_on_a_cluster() {
    let Some(spark) = Spark::shared() else { return };
    let questions: Value = toml::from_str(QUESTIONS).unwrap();
    let (here, there) = (bench(), bench());
    ingest_here(&here);
    ingest_there(&spark, &there, &here);
    let ours = ask_all(&here, &questions, Place::Local);
    let theirs = ask_all(&there, &questions, Place::Remote);
    let mut wrong = Vec::new();
    let all = questions["question"].as_array().unwrap();
    for (at, question) in all.iter().enumerate() {
        let answers = [&ours, &theirs].map(|it| Value::Object(answer_to(at, question, it)));
        if !is_same(&answers[0], &answers[1]) {
            wrong.push(format!("{}\nhere  {}\nthere {}", question["asks"], answers[0], answers[1]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n\n"));
    assert!(40 <= all.len());
}

#[test]
fn answers_are_compared_by_value_and_floats_with_some_tolerance() {
    let cases = [
        (json!(1), json!(1), true),
        (json!(1), json!(1.0), true),
        (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992_i64), false),
        (json!(0.1), json!(0.1 + 1e-17), true),
        (json!(1e9), json!(1e9 + 10.0), false),
        (json!({"a": [1.0, null]}), json!({"a": [1.0, null]}), true),
        (json!({"a": [1.0]}), json!({"a": [1.0, null]}), false),
        (json!(null), json!(0), false),
        (json!("1"), json!(1), false),
    ];
    for (left, right, expected) in cases {
        assert_eq!(is_same(&left, &right), expected, "{left} {right}");
    }
}
