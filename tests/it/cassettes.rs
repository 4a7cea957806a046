//! The cassettes in `fixtures/cassettes/`: each is what the bench's server said when it was recorded.
//!
//! `CSV_AGENT_RECORD=1 cargo test cassettes` writes them anew. Without the variable the test records them
//! beside and compares, so a request that changes shows here.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::bench::{Bench, Round, round};

/// A cassette and how it is recorded.
struct Tape {
    name: &'static str,
    takes: Vec<Take>,
}

/// One `ask` of a recording.
struct Take {
    file: &'static str,
    arguments: Vec<&'static str>,
    question: &'static str,
    rounds: Vec<Round>,
    /// Whether the takes share a session. Otherwise each has a temporary one.
    keeps_session: bool,
    code: i32,
}

fn take(question: &'static str, rounds: impl IntoIterator<Item = Round>) -> Take {
    let rounds = rounds.into_iter().collect();
    Take {
        file: "sales.csv",
        arguments: Vec::new(),
        question,
        rounds,
        keeps_session: false,
        code: 0,
    }
}

impl Take {
    fn over(self, file: &'static str) -> Take {
        Take { file, ..self }
    }

    fn with(self, arguments: &[&'static str]) -> Take {
        Take { arguments: arguments.to_vec(), ..self }
    }

    fn in_session(self) -> Take {
        Take { keeps_session: true, ..self }
    }

    fn ends_with(self, code: i32) -> Take {
        Take { code, ..self }
    }
}

fn code(call_id: &str, source: &str) -> Round {
    round().calls(call_id, "python_repl", json!({"code": source}))
}

fn table(call_id: &str, df_name: &str, logical_name: &str) -> Round {
    let arguments = json!({"df_name": df_name, "logical_name": logical_name});
    round().calls(call_id, "send_data_to_ui_as_df", arguments)
}

fn chart(df_name: &str, x_field: &str, y_fields: &[&str]) -> Value {
    let series = y_fields.iter().map(|it| json!({"name": it, "y_field": it})).collect::<Vec<_>>();
    json!({
        "df_name": df_name, "logical_name": "revenue_by_product", "chart_type": "column",
        "x_field": x_field, "x_label": null, "y_label": "Revenue", "series": series,
        "title": "Revenue by product", "note": null,
    })
}

const LOAD: &str = "df = pd.read_parquet(next(iter(datasets.values())))\ndf.head(3)";
const TOP: &str = "top = df.groupby(\"product\", as_index=False)[\"revenue\"].sum()\n\
                   top = top.sort_values(\"revenue\", ascending=False, ignore_index=True)\ntop";

fn verdict(assessment: &str, message: &str) -> String {
    let findings = match assessment {
        "good" => json!([]),
        severity => json!([{"severity": severity, "message": message, "dataset": "sales",
            "column": "revenue", "rows": [3, 7], "table": null}]),
    };
    json!({"text": message, "findings": findings, "assessment": assessment}).to_string()
}

fn judged(name: &'static str, message: &'static str) -> Tape {
    let asked = take("q", [round().says(&verdict(name, message))]).with(&["--verdict"]);
    Tape { name, takes: vec![take("q", [round().says(message)]), asked] }
}

const COUNT: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}"#;

/// Answers with JSON of a schema, or with other JSON twice.
fn counted(name: &'static str, answers: [&'static str; 2], code: i32) -> Tape {
    let answers = answers.into_iter().filter(|it| !it.is_empty());
    let rounds = [self::code("c1", "10")].into_iter().chain(answers.map(|it| round().says(it)));
    Tape { name, takes: vec![take("q", rounds).with(&["--schema", COUNT]).ends_with(code)] }
}

const ANSWER: &str = "Coffee earned the most: 8746.8.";
const LONG_AND_WIDE: &str = "df = pd.DataFrame({\"x\": range(300), \"y\": range(300)})\n\
    wide = pd.DataFrame({f\"y{i}\": [1, 2] for i in range(12)}).assign(x=[1, 2])";
const ENVIRON: &str = "import os\nprint(sorted(os.environ))\n\
    [it for it in os.environ.values() if it.startswith(\"sk-\")]";
const ESCAPES: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}All is \u{1b}[31mred\u{1b}[0m.";

fn hello() -> Round {
    round().says("Hello. There are 10 rows of sales.")
}

/// Sends all rows of a file and says something.
fn rows_of(file: &'static str, says: &str) -> Take {
    take("q", [code("c1", LOAD), table("c2", "df", "rows"), round().says(says)]).over(file)
}

/// Answers with tables and charts.
fn shown() -> Vec<Tape> {
    let first = "Which product earned the most? Show a table and a chart.";
    let wide: Vec<String> = (0..12).map(|it| format!("y{it}")).collect();
    let wide: Vec<&str> = wide.iter().map(String::as_str).collect();
    vec![
        Tape {
            name: "first",
            takes: vec![take(first, [
                round().calls("c7", "get_dataset_info", json!({"name": "sales"})).calls(
                    "c8",
                    "load_dataset_columns",
                    json!({"name": "sales", "columns": ["product", "revenue"], "df_name": "df"}),
                ),
                code("c1", TOP),
                table("c2", "top", "revenue_by_product").calls(
                    "c3",
                    "send_chart_to_ui",
                    chart("top", "product", &["revenue"]),
                ),
                round().says(
                    "**Coffee** earned the most: 8,746.80, which is 61% of all revenue (14,290.40). \
                     Tea follows with 4,625.75, Cocoa with 917.85. The table has all three, and the \
                     chart compares them.",
                ),
            ])],
        },
        Tape {
            name: "hello",
            takes: ["q", "how many rows?", "--weird-question"].map(|it| take(it, [hello()])).into(),
        },
        Tape {
            name: "table",
            takes: vec![
                take("q", [code("c1", LOAD), code("c2", TOP), table("c3", "top", "top"), round().says(ANSWER)]),
                rows_of("big_ints.csv", "These are the rows."),
                rows_of("nan.csv", "These are the rows."),
            ],
        },
        Tape {
            name: "tables2",
            takes: vec![take("q", [
                code("c1", LOAD),
                table("c2", "df", "first"),
                code("c3", TOP),
                table("c4", "top", "second"),
                round().says(ANSWER),
            ])],
        },
        Tape {
            name: "chart",
            takes: vec![take("q", [
                code("c1", LOAD),
                code("c2", TOP),
                round().calls("c9", "send_chart_to_ui", chart("top", "product", &["revenue"])),
                round().says(ANSWER),
            ])],
        },
        Tape {
            name: "chart_bad",
            takes: vec![take("q", [
                code("c1", LONG_AND_WIDE),
                round().calls("c2", "send_chart_to_ui", chart("df", "x", &["y"])),
                round().calls("c3", "send_chart_to_ui", chart("wide", "x", &wide)),
                round().says("It cannot be drawn."),
            ])],
        },
    ]
}

/// Answers that test the gates, the loop, and what must not get through.
fn told() -> Vec<Tape> {
    vec![
        judged("good", "Nothing is wrong."),
        judged("warning", "Some days are missing."),
        judged("bad", "Revenue is negative on some days."),
        Tape {
            name: "noverdict",
            takes: vec![
                take("q", [round().says("Who can say.")]).with(&["--verdict"]).ends_with(9),
            ],
        },
        counted("schema_ok", ["{\"n\": 10}", ""], 0),
        counted("schema_bad", ["{\"n\": \"ten\"}", "{\"n\": 10.5}"], 9),
        Tape {
            name: "loop",
            takes: vec![
                take(
                    "q",
                    [
                        code("c1", "1 + 1"),
                        code("c2", "1 + 1"),
                        round().says("There was no time to finish; so far it is 2."),
                    ],
                )
                .with(&["--max-rounds", "3"])
                .ends_with(7),
            ],
        },
        Tape { name: "slow", takes: vec![take("q", [hello()])] },
        Tape {
            name: "parallel",
            takes: vec![take(
                "q",
                [
                    round()
                        .calls("c1", "list_datasets", json!({}))
                        .calls("c2", "python_repl", json!({"code": "1 / 0"}))
                        .calls("c3", "get_dataset_info", json!({"name": "sales"})),
                    round().says("Two of three calls worked."),
                ],
            )],
        },
        Tape {
            name: "ansi",
            takes: vec![rows_of("sales.csv", ESCAPES), rows_of("evil.csv", ESCAPES)],
        },
        Tape {
            name: "py_error",
            takes: vec![take(
                "q",
                [code("c1", "1 / 0"), code("c2", "1 / 2"), round().says("It is 0.5.")],
            )],
        },
        Tape {
            name: "secret",
            takes: vec![take("q", [code("c1", ENVIRON), round().says("No key there.")])],
        },
        Tape {
            name: "two_turn",
            takes: vec![
                take(
                    "load it as df",
                    [
                        round().calls(
                            "c1",
                            "load_dataset_full",
                            json!({"name": "sales", "df_name": "df"}),
                        ),
                        round().says("It is in df."),
                    ],
                )
                .in_session(),
                take("rows in df?", [code("c2", "len(df)"), round().says("10 rows.")]).in_session(),
            ],
        },
        Tape {
            name: "stream",
            takes: vec![take("q", [round().says("One word after the other.")])],
        },
        Tape {
            name: "retry",
            takes: vec![take(
                "q",
                [
                    round().answers(
                        429,
                        r#"{"error": {"message": "Rate limit reached. Please try again in 20ms.",
                        "type": "requests", "param": null, "code": "rate_limit_exceeded"}}"#,
                    ),
                    hello(),
                ],
            )],
        },
    ]
}

/// Records a cassette with the real binary.
fn record(tape: &Tape, path: &Path) {
    let mut bench: Option<Bench> = None;
    for take in &tape.takes {
        if bench.is_none() || !take.keeps_session {
            bench = Some(Bench::with([take.file]));
        }
        let bench = bench.as_ref().unwrap();
        bench.answers(take.rounds.iter().cloned());
        let mut arguments = vec!["ask", "--record", path.to_str().unwrap(), "-f", take.file];
        if !take.keeps_session {
            arguments.push("--ephemeral");
        }
        arguments.extend(&take.arguments);
        arguments.extend(["--", take.question]);
        bench.run(arguments).fails_with(take.code);
    }
    if tape.name == "slow" {
        let line = fs::read_to_string(path).unwrap();
        let mut exchange: Value = serde_json::from_str(&line).unwrap();
        exchange["delay_ms"] = json!(3_600_000);
        fs::write(path, format!("{exchange}\n")).unwrap();
    }
}

#[test]
fn cassettes_are_what_is_recorded_today() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cassettes");
    let is_recording = std::env::var_os("CSV_AGENT_RECORD").is_some();
    let dir = tempfile::tempdir().unwrap();
    for tape in shown().into_iter().chain(told()) {
        let name = format!("{}.cass.jsonl", tape.name);
        let path: PathBuf = dir.path().join(&name);
        record(&tape, &path);
        if is_recording {
            fs::copy(&path, fixtures.join(&name)).unwrap();
        }
        let [now, kept] = [path, fixtures.join(&name)].map(|it| exchanges(&it));
        assert_eq!(now, kept, "{name} is out of date: record it again");
    }
}

fn exchanges(path: &Path) -> Vec<Value> {
    let lines = fs::read_to_string(path).unwrap_or_default();
    let parse = |line: &str| {
        let mut exchange: Value = serde_json::from_str(line).unwrap();
        // The server's own headers have its clock in them.
        exchange.as_object_mut().unwrap().remove("headers");
        exchange
    };
    lines.lines().map(parse).collect()
}
