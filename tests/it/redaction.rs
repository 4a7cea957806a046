//! What the user keeps back is in no request, whatever the code of a model does.

use std::fmt::Write;
use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use csv_agent_provider::Api;

use crate::bench::{Bench, round};

/// The values of `people.csv` that must not leave.
const EMAILS: [&str; 6] = [
    "alice.adams@example.org",
    "bob.brown@example.org",
    "carla.cruz@example.org",
    "dora.diaz@example.org",
    "emil.evans@example.org",
    "fatima.faris@example.org",
];

/// People, each in two rows but the last, whose email is missing.
fn bench() -> Bench {
    let bench = Bench::with([]);
    let mut csv = "email,city,amount\n".to_owned();
    for (at, email) in EMAILS.iter().chain(&EMAILS).enumerate() {
        writeln!(csv, "{email},{},{}.5", ["Oslo", "Bergen"][at % 2], 7_001 + at).unwrap();
    }
    csv += ",Oslo,1.5\n";
    fs::write(bench.path("people.csv"), csv).unwrap();
    // Data that is not kept back, beside which nothing else may lie.
    fs::write(bench.path("other.csv"), "a,b\n1,2\n").unwrap();
    bench.run(["ingest", "people.csv", "other.csv"]).succeeds();
    bench
}

/// Demands that no request has one of these texts, in any form that is easily thought of.
#[track_caller]
fn none_of(bench: &Bench, secrets: &[&str]) {
    for at in 0..bench.n_requests() {
        let body = bench.request(at).body.to_string();
        for secret in secrets {
            let reversed: String = secret.chars().rev().collect();
            let encoded = STANDARD.encode(secret);
            let upper = secret.to_uppercase();
            for form in [(*secret).to_owned(), upper, reversed, encoded, secret[..9].to_owned()] {
                assert!(!body.contains(&form), "request {at} has `{form}`: {body}");
            }
        }
    }
}

/// Code that tries to tell values.
const TELLING: [&str; 8] = [
    "df = load('people')\nprint(df.to_string())\ndf",
    "df['email'].tolist()",
    "raise KeyError(df['email'].iloc[0])",
    "[it.upper()[::-1] for it in df['email'].dropna()]",
    "import base64\n[base64.b64encode(it.encode()) for it in df['email'].dropna()]",
    "pd.read_parquet(datasets['people'])['email'].str[:9].tolist()",
    "import glob, os\nfound = []\nfor root in [os.path.dirname(os.path.realpath(datasets['people'])), '..', '../..', '../../work']:\n    \
     for path in glob.glob(root + '/**/*', recursive=True):\n        \
     try:\n            found.append(open(path, 'rb').read())\n        \
     except OSError: pass\n    \
     for path in glob.glob(root + '/**/*.parquet', recursive=True):\n        \
     try:\n            found.append(pd.read_parquet(path).to_string())\n        \
     except Exception: pass\nprint(found)\nlen(found)",
    "df.groupby('email').amount.sum()",
];

#[test]
fn a_redacted_column_is_in_no_request_whatever_code_does() {
    let bench = bench();
    let calls = TELLING.iter().enumerate();
    bench.answers(calls.map(|(at, code)| round().runs(&format!("c{at}"), code)));
    let table = json!({"df_name": "df", "logical_name": "people"});
    bench.answers([round().calls("t", "send_data_to_ui_as_df", table), round().says("Done.")]);
    let ask = ["ask", "--redact", "email", "--max-rounds", "20", "--json", "Tell me."];
    let run = bench.run(ask).succeeds();
    none_of(&bench, &EMAILS);
    // Tokens count, group and join as the values do, and the user sees them as well.
    let groups = bench.request(8).output_of("c7").to_owned();
    let groups: Value = serde_json::from_str(&groups).unwrap();
    assert_eq!(groups["row_count"], 6);
    assert!(groups["head"][0]["email"].as_str().unwrap().starts_with("redacted_"), "{groups}");
    let found: Value = serde_json::from_str(run.stdout()).unwrap();
    let shown = &found["tables"][0]["rows"];
    assert!(shown[0]["email"].as_str().unwrap().starts_with("redacted_"), "{shown}");
    assert_eq!(shown[12]["email"], Value::Null);
    let instructions = bench.request(0).body["instructions"].as_str().unwrap().to_owned();
    assert!(instructions.contains("keeps back values of these columns: \"email\""));
    let left = bench.session().join("masked").read_dir().unwrap().count();
    assert_eq!(left, 0, "the copies go with the process");
    for again in [["rerun", "last"], ["export", "py"]] {
        let run = bench.run(again).fails_with(5);
        assert!(run.stderr().contains("turn 0001 was asked with columns kept back"), "{run}");
    }
}

#[test]
fn what_was_said_and_kept_before_is_left_out_and_comes_back() {
    let bench = bench();
    let message = "alice.adams@example.org is there twice.";
    let finding = json!({"severity": "bad", "message": message, "dataset": null, "column": null, "rows": [], "table": null});
    let verdict = json!({"text": message, "findings": [finding], "assessment": "bad"});
    bench.answers([
        round().runs("a1", "df = load('people')\nprint(df.email.tolist())"),
        round().says(&verdict.to_string()),
    ]);
    bench.run(["ask", "--verdict", "Who is there?"]).succeeds();
    assert!(bench.request(1).body.to_string().contains("alice.adams"));
    let before = bench.n_requests();
    bench.answers([
        round().runs("b1", "df"),
        round().runs("b2", "x = load('people')"),
        round().says("None."),
    ]);
    let run = bench.run(["ask", "--redact", "people.email", "And now?"]).succeeds();
    assert!(
        run.stderr().contains(
            "the model does not see earlier questions, because they kept less \
                                   back"
        ),
        "{run}"
    );
    for at in before..bench.n_requests() {
        let body = bench.request(at).body.to_string();
        assert!(!body.contains("alice.adams") && !body.contains("Who is there?"), "{body}");
    }
    let gone = bench.request(before + 1).output_of("b1").to_owned();
    assert!(gone.contains("NameError"), "{gone}");
    // The variables of each kind are there for turns of that kind.
    let before = bench.n_requests();
    bench.answers([round().runs("c1", "len(x)"), round().says("Thirteen.")]);
    bench.run(["ask", "--redact", "people.email", "How many?"]).succeeds();
    assert_eq!(bench.request(before + 1).output_of("c1"), "13");
    assert!(bench.request(before).body.to_string().contains("And now?"));
    let before = bench.n_requests();
    bench.answers([round().runs("d1", "df.email[0]"), round().says("Alice.")]);
    bench.run(["ask", "Who?"]).succeeds();
    assert!(bench.request(before + 1).output_of("d1").contains("alice.adams"));
}

#[test]
fn a_search_finds_no_value_that_is_kept_back() {
    let bench = bench();
    let find = json!({"name": "people", "value": "alice.adams@example.org"});
    bench.answers([round().calls("f", "find_value_columns", find), round().says("No.")]);
    bench.run(["ask", "--redact", "email", "Is she there?"]).succeeds();
    let found: Value = serde_json::from_str(bench.request(1).output_of("f")).unwrap();
    assert_eq!(found["columns"], json!([]));
    let why = "not searched, because their values are kept back: `email`";
    assert_eq!(found["kept_back"], why);
}

#[test]
fn a_statement_that_compares_a_kept_back_column_with_a_constant_is_refused() {
    let bench = bench();
    let sql = |sql: &str, name: &str| json!({"sql": sql, "result_name": name});
    let by_email = "select email, count(*) as n from people group by email";
    bench.answers([
        round().calls(
            "a",
            "query_datasets",
            sql("select 1 from people where email like '%a%'", "a"),
        ),
        round().calls("b", "query_datasets", sql(by_email, "b")),
        round().calls("c", "query_datasets", sql("select n from b where email = 'x'", "c")),
        round().says("No."),
    ]);
    bench.run(["ask", "--redact", "email", "Is she there?"]).succeeds();
    let why = "the values of `email` are kept back, and tokens replace them";
    for (at, call) in [(1, "a"), (3, "c")] {
        assert!(bench.request(at).output_of(call).contains(why), "{call}");
    }
    assert!(bench.request(2).output_of("b").contains("redacted_"));
}

#[test]
fn a_column_that_is_not_there_is_refused_and_in_a_file_told() {
    let bench = bench();
    let run = bench.run(["ask", "--redact", "emial", "q"]).fails_with(5);
    assert!(run.stderr().contains("no dataset has a column `emial` to keep back"), "{run}");
    assert_eq!(bench.n_requests(), 0);
    let dry = bench.run(["ask", "--dry-run", "--redact", "emial", "q"]).fails_with(5);
    assert_eq!(dry.stdout(), "");
    fs::write(bench.path("c.toml"), "redact = [\"email\", \"phone\"]\n").unwrap();
    bench.answers([round().runs("c", "load('people')"), round().says("Done.")]);
    let run = bench.run(["--config", "c.toml", "ask", "--redact", "city", "q"]).succeeds();
    assert!(run.stderr().contains("no dataset has a column `phone`"), "{run}");
    none_of(&bench, &EMAILS);
    assert!(!bench.request(1).body.to_string().contains("Bergen"), "a flag adds to a file");
}

#[test]
fn without_confinement_nothing_is_redacted_and_nothing_sent() {
    let bench = bench().variable("CSV_AGENT_SANDBOX_WITHOUT", "namespaces,landlock,seccomp");
    let run = bench.run(["ask", "--allow-unconfined", "--redact", "email", "q"]).fails_with(8);
    assert!(
        run.stderr().contains("columns cannot be kept back: code could read their values in other"),
        "{run}"
    );
    fs::write(bench.path("c.toml"), "redact = [\"email\"]\n").unwrap();
    let run = bench.run(["--config", "c.toml", "ask", "--allow-unconfined", "q"]).fails_with(8);
    assert!(!run.stderr().contains("`--redact`"), "a file said it: {run}");
    assert_eq!(bench.n_requests(), 0);
    bench
        .run([
            "ask",
            "--allow-unconfined",
            "-d",
            "people",
            "--redact",
            "email",
            "--model",
            "builtin",
            "How many rows are there?",
        ])
        .succeeds();
}

#[test]
fn the_analyst_inside_answers_with_tokens() {
    let bench = bench();
    let ask = [
        "ask",
        "--model",
        "builtin",
        "-d",
        "people",
        "--redact",
        "email",
        "How many different email values are there?",
    ];
    let run = bench.run(ask).succeeds();
    assert!(run.stdout().contains('6'), "{run}");
}

#[test]
fn a_model_without_tools_reads_a_profile_of_tokens() {
    let bench = bench().speaking(Api::Chat);
    let none = r#"{"error": {"message": "this model does not support tools"}}"#;
    let said = json!({"summary": "People.", "assessment": "good", "explanation": "", "potential_issues": [], "recommendations": []});
    bench.answers([round().answers(400, none), round().says(&said.to_string())]);
    bench.run(["ask", "--api", "chat", "--redact", "email", "Who is there?"]).succeeds();
    let body = bench.request(1).body.to_string();
    assert!(body.contains("redacted_") && body.contains("Oslo"), "{body}");
    none_of(&bench, &EMAILS);
}

#[test]
fn with_rows_kept_back_no_value_of_a_row_is_in_a_request() {
    let bench = bench();
    bench.answers(
        TELLING.iter().enumerate().map(|(at, code)| round().runs(&format!("c{at}"), code)),
    );
    let load = json!({"name": "people", "df_name": "df"});
    let sample = json!({"name": "people", "df_name": "df", "nrows": 3});
    bench.answers([
        round().calls("l1", "load_dataset_full", load),
        round().calls("l2", "load_dataset_sample", sample),
        round().runs("n1", "df = load('people')\ndf.sort_values('amount').head(3)"),
        round().runs("n2", "df.rename(columns={'amount': 'x'}).x.tolist()"),
        round().runs("n3", "df.pivot_table(columns='email', values='amount')"),
        round().runs("n4", "type(df.email[0], (Exception,), {})"),
        round().runs("n5", "raise type(df.email[0], (Exception,), {})(df.email[1])"),
        round().runs("n6", "undefined_name"),
        round().runs("a1", "df.groupby('city', as_index=False).amount.agg(['sum', 'count'])"),
        round().runs("a2", "(len(df), df.amount.mean())"),
        round().runs("a3", "df.describe()"),
        round().says("Done."),
    ]);
    let ask = ["ask", "-d", "people", "--no-rows", "--max-rounds", "40", "--json", "Tell me."];
    bench.run(ask).succeeds();
    none_of(&bench, &EMAILS);
    let last = bench.request(bench.n_requests() - 1);
    // The values of amount are those of one row each, however they are called.
    let body = last.body.to_string();
    for at in 0..12 {
        assert!(!body.contains(&format!("{}.5", 7_001 + at)), "{body}");
    }
    let told = |id: &str| serde_json::from_str::<Value>(last.output_of(id)).unwrap();
    assert_eq!(
        told("a1")["head"],
        json!([{"city": "Bergen", "sum": 42_045.0, "count": 6}, {"city": "Oslo", "sum": 42_040.5, "count": 7}])
    );
    assert_eq!(last.output_of("a2"), "(13, 6468.115384615385)");
    assert_eq!(told("n1")["head"][1]["amount"], "(kept back)");
    assert_eq!(told("n6")["text"], "NameError in line 1: name 'undefined_name' is not defined");
    assert!(last.body["instructions"].as_str().unwrap().contains("The user keeps back rows"));
}

#[test]
fn with_rows_kept_back_a_call_that_was_not_run_is_told_why() {
    let bench = bench();
    let columns = json!({"name": "people", "df_name": "df", "columns": ["emial"]});
    bench.answers([
        round().calls("d", "load_dataset_full", json!({"name": "peple", "df_name": "df"})),
        round().calls("c", "load_dataset_columns", columns),
        round().calls("f", "find_value_columns", json!({"name": "peple", "value": "Oslo"})),
        round().says("Done."),
    ]);
    bench.run(["ask", "-d", "people", "--no-rows", "Tell me."]).succeeds();
    let told = |at: usize, id: &str| bench.request(at).output_of(id).to_owned();
    let told_of = "no dataset `peple` (did you mean `people`?); the datasets are people";
    assert!(told(1, "d").contains(told_of), "{}", told(1, "d"));
    assert!(told(2, "c").contains("`emial`"), "{}", told(2, "c"));
    assert!(told(3, "f").contains("no dataset `peple`"), "{}", told(3, "f"));
}

#[test]
fn a_variable_tells_no_row_of_a_dataset_that_is_not_seen() {
    let bench = bench();
    bench.answers([
        round().runs("a", "people = load('people')\nlen(people)"),
        round().says("Loaded."),
        round().runs("b", "float(people.amount.max())"),
        round().runs("c", "people.city.iloc[0]"),
        round().says("Done."),
    ]);
    bench.run(["ask", "--no-rows", "Load it."]).succeeds();
    bench.run(["ask", "-d", "other", "--no-rows", "Tell me."]).succeeds();
    assert_eq!(bench.request(3).output_of("b"), "(kept back)");
    assert_eq!(bench.request(4).output_of("c"), "(kept back)");
}

#[test]
fn with_rows_kept_back_neither_dates_nor_numbers_in_text_nor_last_words_pass() {
    let bench = Bench::with([]);
    let mut csv = "name,phone,code,day,active,note\n".to_owned();
    for at in 0..12 {
        let active = at % 4 == 0;
        let (phone, code, day) = (90_011_222 + at, 7_001 + at, 11 + at);
        writeln!(csv, "Xaver{at},+47 {phone},00{code}x,2024-12-{day} 10:59:{day},{active},N")
            .unwrap();
    }
    fs::write(bench.path("people.csv"), csv).unwrap();
    bench.run(["ingest", "people.csv"]).succeeds();
    let calls = [
        ("w1", "import os\nos.write(2, b'Xaver3 90011223\\n')\nos._exit(47)"),
        ("d1", "df = load('people')\nday = pd.to_datetime(df.day)\n[it.date() for it in day[:3]]"),
        ("d2", "day.iloc[4].time()"),
        ("d3", "day.iloc[4]"),
        ("p1", "pd.to_numeric(df.phone.astype(str).str.replace('[+ ]', '', regex=True)).head(3)"),
        ("p2", "df.code.str[2:6].tolist()"),
        ("p3", "df.code.str[2:6].astype(int).head(3)"),
        ("s1", "kinds = ['X', 'a', 'v', 'e', 'r']\nlist(df.name.iloc[0])"),
        ("b1", "(df.phone != df.phone.iloc[2]).head(4)"),
        ("b2", "df.active.head(5)"),
        ("b3", "bool(df.active.any())"),
        (
            "n1",
            "class Zero:\n    def __repr__(self): return '0.10000000000000000000059842'\nZero()",
        ),
        ("c1", "df.groupby('active').size()"),
    ];
    bench.answers(calls.map(|(id, code)| round().runs(id, code)));
    bench.answers([round().says("Done.")]);
    bench.run(["ask", "--no-rows", "--max-rounds", "40", "--json", "Tell me."]).succeeds();
    let last = bench.request(bench.n_requests() - 1);
    let told = |id: &str| last.output_of(id).to_owned();
    let gone = told("w1");
    assert!(gone.contains("which of these is kept back"), "{gone}");
    for (id, secret) in [
        ("w1", "Xaver3"),
        ("w1", "90011223"),
        ("w1", "47"),
        ("d1", "12"),
        ("d2", "59"),
        ("d3", "2024"),
        ("p1", "90011"),
        ("p2", "700"),
        ("p3", "700"),
        ("s1", "\"X\""),
        ("s1", "\"a\""),
        ("b1", "false"),
        ("b1", "true"),
        ("b2", "true"),
        ("n1", "59842"),
    ] {
        assert!(!told(id).contains(secret), "`{id}` tells {secret}: {}", told(id));
    }
    for id in ["d1", "d2", "d3", "p1", "p2", "p3", "s1", "b1", "b2"] {
        assert!(told(id).contains("(kept back)"), "`{id}`: {}", told(id));
    }
    assert_eq!(told("n1"), "0.1");
    assert_eq!(told("b3"), "True");
    // Nine rows are not active, three are.
    assert!(told("b2").contains("false"), "{}", told("b2"));
    assert!(told("c1").contains('9') && told("c1").contains('3'), "{}", told("c1"));
}

#[test]
fn rows_stay_back_in_a_profile_and_where_nothing_is_sent_the_answer_is_whole() {
    let bench = bench().speaking(Api::Chat);
    let none = r#"{"error": {"message": "this model does not support tools"}}"#;
    let said = json!({"summary": "People.", "assessment": "good", "explanation": "", "potential_issues": [], "recommendations": []});
    bench.answers([round().answers(400, none), round().says(&said.to_string())]);
    bench.run(["ask", "--api", "chat", "--no-rows", "Who is there?"]).succeeds();
    let body = bench.request(1).body.to_string();
    assert!(body.contains("Oslo") && !body.contains("7001.5") && !body.contains("row:"), "{body}");
    none_of(&bench, &EMAILS);
    let ask = [
        "ask",
        "-d",
        "people",
        "--model",
        "builtin",
        "--no-rows",
        "Which email has the highest amount?",
    ];
    let run = bench.run(ask).succeeds();
    assert!(run.stdout().contains("fatima.faris"), "{run}");
    // That answer is not told to a server that must not see rows.
    let before = bench.n_requests();
    bench.answers([round().says(&said.to_string())]);
    bench.run(["ask", "--api", "chat", "--no-rows", "And now?"]).succeeds();
    for at in before..bench.n_requests() {
        assert!(!bench.request(at).body.to_string().contains("fatima"));
    }
}
