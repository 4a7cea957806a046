//! The worker as its caller sees it, on a real Python.
//!
//! It is the one that `CSV_AGENT_PYTHON` names, else the managed environment in its usual place; the
//! first run makes it.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use csv_agent_agent::replay::cell_dependencies::{Outline, outlines};
use csv_agent_agent::replay::stored_turn::{ExecutionPlace, PastCall};
use csv_agent_tools::ToolJob;
use csv_agent_types::conversation::ToolCall;
use csv_agent_types::event::CallStatus;
use csv_agent_types::limits::{
    REPL_TEXT_BYTES_MAX, TOOL_OUTPUT_BYTES_MAX, WORKER_MEMORY_BYTES_MIN,
};
use csv_agent_worker::environment::{Extras, Interpreter, PythonOptions, prepare};
use csv_agent_worker::protocol::{Command, Outcome, OutcomeStatus};
use csv_agent_worker::sandbox::{Demand, Layer, SandboxOptions};
use csv_agent_worker::trusted_script::Study;
use csv_agent_worker::{Cluster, Worker, WorkerError, WorkerOptions};

use crate::bench::{HANG, in_time_async};

#[expect(clippy::disallowed_methods, reason = "tests take the developer's environment")]
fn python_options() -> PythonOptions {
    let home = std::env::var_os("HOME").unwrap();
    let is_for_pip = |name: &str| {
        name.starts_with("PIP_")
            || name.starts_with("SSL_")
            || name.to_ascii_lowercase().ends_with("_proxy")
            || name == "HOME"
    };
    PythonOptions {
        python: std::env::var_os("CSV_AGENT_PYTHON").map(PathBuf::from),
        named_by: "CSV_AGENT_PYTHON".to_owned(),
        cache_dir: Path::new(&home).join(".cache/csv-agent"),
        path: std::env::var_os("PATH").unwrap(),
        pip_env: std::env::vars()
            .filter(|(name, _)| is_for_pip(name))
            .map(|(name, value)| (OsString::from(name), OsString::from(value)))
            .collect(),
        ..PythonOptions::default()
    }
}

pub async fn interpreter() -> Interpreter {
    prepare(&python_options(), Extras::default(), &mut |_| {}).await.unwrap()
}

/// One that has the Spark client as well.
pub async fn spark_interpreter() -> Interpreter {
    prepare(&python_options(), Extras { spark: true }, &mut |_| {}).await.unwrap()
}

/// csv-agent, where this user can run it.
pub fn program() -> PathBuf {
    let program = std::env::var_os("CSV_AGENT_TEST_PROGRAM");
    program.map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_csv-agent")), PathBuf::from)
}

fn sandbox() -> SandboxOptions {
    SandboxOptions {
        program: program(),
        without: Vec::new(),
        demand: Demand::Files,
        memory_bytes: WORKER_MEMORY_BYTES_MIN,
    }
}

/// A worker in a directory of its own.
struct Bench {
    worker: Worker,
    scratch: TempDir,
}

impl Bench {
    async fn new() -> Self {
        Bench::with(|_| {}).await
    }

    async fn with(change: impl FnOnce(&mut WorkerOptions)) -> Self {
        let scratch = TempDir::new().unwrap();
        let mut options = WorkerOptions {
            command_timeout: HANG,
            ..WorkerOptions::new(interpreter().await, scratch.path(), sandbox())
        };
        change(&mut options);
        Bench { worker: Worker::start(options).await.unwrap(), scratch }
    }

    async fn try_run(&mut self, code: &str) -> Result<Outcome, WorkerError> {
        self.worker.ask(Command::Run { code: code.to_owned() }).await
    }

    /// Runs code that ends well and returns the result.
    #[track_caller]
    fn run<'a>(&'a mut self, code: &'a str) -> impl Future<Output = Value> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let outcome = self.try_run(code).await.unwrap();
            assert_eq!(outcome.status, OutcomeStatus::Ok, "at {caller}: {}", outcome.text());
            outcome.result
        }
    }

    /// Runs code that raises and returns the result.
    async fn fails(&mut self, code: &str) -> Value {
        let outcome = self.try_run(code).await.unwrap();
        assert_eq!(outcome.status, OutcomeStatus::Error, "{}", outcome.result);
        outcome.result
    }

    async fn load(
        &mut self,
        dataset: &str,
        columns: Option<&[&str]>,
        n_rows: Option<u64>,
    ) -> Outcome {
        let columns = columns.map(|it| it.iter().map(|&it| it.to_owned()).collect());
        let (dataset, variable) = (dataset.to_owned(), "df".to_owned());
        self.worker.ask(Command::Load { dataset, variable, columns, n_rows }).await.unwrap()
    }

    async fn fetch(&mut self, variable: &str, columns: Option<&[&str]>, write: bool) -> Outcome {
        let columns = columns.map(|it| it.iter().map(|&it| it.to_owned()).collect());
        let variable = variable.to_owned();
        let command = Command::Fetch { variable, columns, rows_max: 3, cells_max: 12, write };
        self.worker.ask(command).await.unwrap()
    }
}

fn text(result: &Value) -> &str {
    result["text"].as_str().unwrap()
}

/// Writes a Parquet file of ten rows and returns its path.
async fn sales(directory: &TempDir) -> PathBuf {
    let path = directory.path().join("sales.parquet");
    let mut bench = Bench::new().await;
    let code = "pd.DataFrame({'id': range(10), 'name': list('abcdefghij'), 'price': [0.5] * 10})\
                .to_parquet('sales.parquet', index=False)";
    bench.run(code).await;
    fs::copy(bench.scratch.path().join("sales.parquet"), &path).unwrap();
    path
}

// --- Showing --------------------------------------------------------------------------------------

#[tokio::test]
async fn the_last_expression_is_shown_as_in_a_notebook() {
    let mut bench = Bench::new().await;
    for (code, expected) in [
        ("1 + 1", json!({"kind": "text", "text": "2"})),
        ("x = 1", json!({"kind": "none"})),
        ("'a\\n'", json!({"kind": "text", "text": "'a\\n'"})),
        ("x = 2\nx * 21", json!({"kind": "text", "text": "42"})),
        ("x;", json!({"kind": "none"})),
        ("", json!({"kind": "none"})),
        ("# nothing", json!({"kind": "none"})),
        ("None", json!({"kind": "none"})),
        ("object()", json!({"kind": "text", "text": "<object object>"})),
        (
            "{'b', 'a', 'c'} == set('abc'), __name__",
            json!({"kind": "text", "text": "(True, '__main__')"}),
        ),
    ] {
        assert_eq!(bench.run(code).await, expected, "{code}");
    }
}

#[tokio::test]
async fn a_frame_is_shown_by_its_shape_its_types_and_its_head() {
    let mut bench = Bench::new().await;
    let result = bench.run("pd.DataFrame({'n': range(30), 's': ['x'] * 30})").await;
    assert_eq!(result["kind"], "dataframe");
    assert_eq!(result["row_count"], 30);
    assert_eq!(result["columns"], json!(["n", "s"]));
    assert_eq!(result["dtypes"]["n"], "int64");
    assert_eq!(result["head"].as_array().unwrap().len(), 20);
    assert_eq!(result["head"][1], json!({"n": 1, "s": "x"}));

    let result = bench.run("pd.Series([1.5, 2.5], index=pd.Index(['a', 'b'], name='k'))").await;
    assert_eq!(result["kind"], "series");
    assert_eq!(result["head"], json!([{"k": "a", "value": 1.5}, {"k": "b", "value": 2.5}]));
}

#[tokio::test]
async fn values_become_json_by_the_rules_of_a_frame() {
    let mut bench = Bench::new().await;
    let setup = "
import datetime as dt, decimal
def shown(values, dtype=None):
    return pd.DataFrame({'v': pd.Series(values, dtype=dtype)})";
    bench.run(setup).await;
    for (code, expected) in [
        ("shown([1.5, float('nan'), float('inf')])", json!([1.5, null, "inf"])),
        ("shown([decimal.Decimal('-Infinity'), decimal.Decimal('NaN')])", json!(["-inf", null])),
        (
            "shown([2**53 - 1, 2**53, -2**53])",
            json!([9_007_199_254_740_991_i64, "9007199254740992", "-9007199254740992"]),
        ),
        ("shown([0.1], 'float32')", json!([0.1])),
        ("shown([1, None], 'Int64')", json!([1, null])),
        ("shown([True, False])", json!([true, false])),
        ("shown(['a', None])", json!(["a", null])),
        ("shown(pd.to_datetime(['2024-02-29 12:30', None]))", json!(["2024-02-29T12:30:00", null])),
        ("shown(pd.to_datetime(['2024-02-29'], utc=True))", json!(["2024-02-29T00:00:00+00:00"])),
        ("shown([dt.date(2024, 2, 29), dt.time(9, 5)], object)", json!(["2024-02-29", "09:05:00"])),
        ("shown(pd.to_timedelta(['1 day 02:00:00']))", json!(["P1DT2H0M0S"])),
        (
            "shown([b'ab', decimal.Decimal('1.10'), [1, 2]], object)",
            json!(["YWI=", "1.10", "[1,2]"]),
        ),
        ("shown(['x', 'y'], 'category')", json!(["x", "y"])),
        ("shown([object(), 1, None], object)", json!(["<object object>", 1, null])),
        ("shown(['x' * 2000])", json!([format!("{}…", "x".repeat(1023))])),
    ] {
        let result = bench.run(code).await;
        let values: Vec<_> =
            result["head"].as_array().unwrap().iter().map(|row| &row["v"]).collect();
        assert_eq!(json!(values), expected, "{code}");
    }
}

#[tokio::test]
async fn columns_are_unique_text_whatever_the_frame_has() {
    let mut bench = Bench::new().await;
    for (code, expected) in [
        ("pd.DataFrame([[1, 2, 3]], columns=['a', 'a', 'a_2'])", json!(["a", "a_3", "a_2"])),
        ("pd.DataFrame([[1, 2]])", json!(["0", "1"])),
        (
            "pd.DataFrame({'g': [1], 'v': [2]}).groupby('g').agg({'v': ['sum', 'mean']})",
            json!(["g", "v_sum", "v_mean"]),
        ),
        ("pd.DataFrame({'v': [3, 1, 2]}).sort_values('v')", json!(["index", "v"])),
        ("pd.DataFrame({'v': [1]}, index=['x'])", json!(["index", "v"])),
        ("pd.DataFrame()", json!([])),
    ] {
        assert_eq!(bench.run(code).await["columns"], expected, "{code}");
    }
}

#[tokio::test]
async fn what_is_printed_comes_beside_the_result() {
    let mut bench = Bench::new().await;
    let code = "
import os, subprocess, sys, warnings
print('one')
os.write(1, b'three\\n') if print('two', flush=True) is None else 0
subprocess.run(['echo', 'four'])
print(object(), file=sys.stderr)
warnings.warn('careful')
7";
    let result = bench.run(code).await;
    let stdout = "one\ntwo\nthree\nfour\n<object object>\nUserWarning: careful\n";
    assert_eq!(result, json!({"kind": "text", "text": "7", "stdout": stdout}));
    assert_eq!(bench.run("8").await, json!({"kind": "text", "text": "8"}));
}

#[tokio::test]
async fn no_result_is_larger_than_a_tool_output() {
    let mut bench = Bench::new().await;
    for code in [
        "print('y\"' * 5_000_000)\n'é\"' * 100_000_000",
        "pd.DataFrame(np.zeros((50, 5000)))",
        "pd.DataFrame({f'c{i}': ['\"' * 3000] * 50 for i in range(100)})",
        "print('x' * 50_000)",
        "raise ValueError('é' * 1_000_000)",
        "list(range(1_000_000))",
        "pd.DataFrame({'x' * 100_000: [1]})",
    ] {
        let outcome = bench.try_run(code).await.unwrap();
        let n_bytes = outcome.result.to_string().len();
        assert!(n_bytes <= TOOL_OUTPUT_BYTES_MAX, "{code}: {n_bytes}");
        assert!(1_000 < n_bytes, "{code}: {}", outcome.result);
    }
    let stdout = bench.run("print('x' * 50_000)").await["stdout"].as_str().unwrap().to_owned();
    assert!(stdout.contains(" bytes cut; the full text is data[\"python_repl_"), "{stdout}");
    let text = bench.run("'x' * 50_000").await["text"].as_str().unwrap().to_owned();
    assert!(text.contains(" characters cut; the full text is data[\"python_repl_"), "{text}");
    assert!(text.len() <= REPL_TEXT_BYTES_MAX && stdout.len() <= REPL_TEXT_BYTES_MAX);
}

// --- Errors ---------------------------------------------------------------------------------------

#[tokio::test]
async fn an_error_shows_the_frames_of_the_code_and_keeps_what_ran_before_it() {
    let mut bench = Bench::new().await;
    bench.run("def half(x):\n    return x / 0").await;
    let result = bench.fails("kept = 5\nhalf(kept)").await;
    assert_eq!(
        result["error"],
        json!({"type": "ZeroDivisionError", "message": "division by zero"})
    );
    insta::assert_snapshot!(text(&result), @r#"
    Traceback (most recent call last):
      File "<cell>", line 2, in <module>
        half(kept)
      File "<earlier cell>", line 2, in half
        return x / 0
    ZeroDivisionError: division by zero
    Variables that were set before this line are kept.
    "#);
    assert_eq!(text(&bench.run("kept").await), "5");

    let result = bench.fails("pd.DataFrame({'a': [1]})['b']").await;
    insta::assert_snapshot!(text(&result), @r#"
    Traceback (most recent call last):
      File "<cell>", line 1, in <module>
        pd.DataFrame({'a': [1]})['b']
    KeyError: 'b'
    There is no column `b`; the columns are: `a`
    Variables that were set before this line are kept.
    "#);

    let result = bench.fails("x = (1,\ny = 2").await;
    assert!(text(&result).contains(r#"File "<cell>", line 1"#), "{}", text(&result));
    assert!(text(&result).contains("SyntaxError"), "{}", text(&result));
}

#[tokio::test]
async fn code_cannot_leave_by_an_exception() {
    let mut bench = Bench::new().await;
    for (code, name) in [
        ("import sys; sys.exit(3)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("class E(Exception):\n    def __str__(self): raise E\nraise E", "E"),
        ("class R:\n    def __repr__(self): raise SystemExit\nR()", "SystemExit"),
        ("def f(): f()\nf()", "RecursionError"),
        ("'\\ud800'.encode()", "UnicodeEncodeError"),
    ] {
        assert_eq!(bench.fails(code).await["error"]["type"], name, "{code}");
    }
    assert_eq!(text(&bench.run("print('\\ud800')\n'\\ud800'").await), r"'\ud800'");
}

#[tokio::test]
async fn memory_that_runs_out_is_an_error_and_the_variables_stay() {
    let mut bench = Bench::with(|it| it.sandbox.memory_bytes = 1 << 30).await;
    bench.run("kept = pd.DataFrame({'a': range(10)})").await;
    for code in [
        "np.ones(10**10)",
        "x = []\nwhile True: x.append(' ' * 10**6 + str(len(x)))",
        "pd.concat([pd.DataFrame(np.ones((10**6, 10)))] * 100)",
    ] {
        let result = bench.fails(code).await;
        assert_eq!(result["error"]["type"], "MemoryError", "{code}: {result}");
        assert!(text(&result).contains("load only some columns"), "{}", text(&result));
        bench.run("x = None").await;
    }
    assert_eq!(text(&bench.run("kept.a.sum()").await), "45");
}

// --- Datasets and frames --------------------------------------------------------------------------

#[tokio::test]
async fn a_dataset_is_loaded_whole_or_in_part() {
    let directory = TempDir::new().unwrap();
    let path = sales(&directory).await;
    let mut bench = Bench::with(|it| it.datasets = vec![("sales".to_owned(), path)]).await;

    let result = bench.load("sales", None, None).await.result;
    assert_eq!(result["row_count"], 10);
    assert_eq!(result["variable"], "df");
    assert_eq!(result["columns"], json!(["id", "name", "price"]));
    assert_eq!(result["head"].as_array().unwrap().len(), 5);

    let result = bench.load("sales", Some(&["price", "id"]), Some(3)).await.result;
    assert_eq!(result["row_count"], 3);
    assert_eq!(result["columns"], json!(["price", "id"]));
    assert_eq!(text(&bench.run("df.shape").await), "(3, 2)");

    assert_eq!(text(&bench.run("len(load('sales', columns=['id']))").await), "10");
    assert_eq!(text(&bench.run("datasets").await), "{'sales': 'datasets/sales.parquet'}");
    assert_eq!(text(&bench.run("len(pd.read_parquet(datasets['sales']))").await), "10");

    for (dataset, columns, expected) in [
        ("sale", None, "no dataset `sale` (did you mean `sales`?); the session has: `sales`"),
        (
            "sales",
            Some(&["ID"][..]),
            "`sales` has no column `ID` (did you mean `id`?); the columns are: `id`, `name`, `price`",
        ),
        ("sales", Some(&[][..]), "`columns` is empty; name at least one column"),
    ] {
        let outcome = bench.load(dataset, columns, None).await;
        assert_eq!(outcome.status, OutcomeStatus::Error);
        assert_eq!(outcome.text(), expected);
    }
    for variable in ["1a", "class", "pd", "__name__", "a b"] {
        let (dataset, variable) = ("sales".to_owned(), variable.to_owned());
        let command = Command::Load { dataset, variable, columns: None, n_rows: None };
        assert_eq!(bench.worker.ask(command).await.unwrap().status, OutcomeStatus::Error);
    }
}

#[tokio::test]
async fn a_fetch_sends_what_was_asked_for_and_counts_the_rest() {
    let mut bench = Bench::new().await;
    let code = "df = pd.DataFrame({'a': range(9), 'b': list('zxyuvwtsr')}).sort_values('b')\n\
                s = df.set_index('b').a\nmixed = pd.DataFrame({'m': [1, 'x', None]})\nn = 1";
    bench.run(code).await;

    let frame = bench.fetch("df", None, false).await.frame.unwrap();
    assert_eq!(frame.columns, ["a", "b"]);
    assert_eq!(
        frame.rows,
        [[json!(8), json!("r")], [json!(7), json!("s")], [json!(6), json!("t")]]
    );
    assert_eq!(frame.row_count, 9);
    assert!(frame.is_numeric("a") && !frame.is_numeric("b"));

    let frame = bench.fetch("df", Some(&["b", "none", "index"]), false).await.frame.unwrap();
    assert_eq!(frame.columns, ["b", "index"]);
    let frame = bench.fetch("s", None, false).await.frame.unwrap();
    assert_eq!(frame.columns, ["b", "a"]);

    for (variable, expected) in [("df", "(9, 2)"), ("mixed", "(3, 1)")] {
        let file = bench.fetch(variable, None, true).await.file.unwrap();
        assert!(bench.scratch.path().join(&file).is_file());
        assert_eq!(text(&bench.run(&format!("pd.read_parquet('{file}').shape")).await), expected);
    }

    for (variable, expected) in [
        ("n", "`n` is a int, not a DataFrame; the DataFrames are: `df`, `s`, `mixed`"),
        ("dd", "no variable `dd`; the DataFrames are: `df`, `s`, `mixed`"),
    ] {
        assert_eq!(bench.fetch(variable, None, false).await.text(), expected);
    }
}

#[tokio::test]
async fn the_frame_not_used_for_longest_goes_when_all_are_too_large() {
    let mut bench = Bench::new().await;
    for name in ["a", "b", "c"] {
        let result = bench.run(&format!("{name} = pd.DataFrame(np.zeros((8_000_000, 3)))")).await;
        assert_eq!(result.get("notes").is_some(), name == "c", "{result}");
        if name == "b" {
            bench.run("a.shape").await;
        }
    }
    let result = bench.run("'a' in globals(), 'b' in globals(), 'c' in globals()").await;
    assert_eq!(text(&result), "(True, False, True)");
}

// --- Deadlines and ends ---------------------------------------------------------------------------

#[tokio::test]
async fn code_past_its_deadline_is_interrupted_and_the_variables_stay() {
    in_time_async(Duration::from_millis(500), async |limit| {
        let mut bench = Bench::with(|it| it.command_timeout = limit).await;
        for code in [
            "kept = 1\nwhile True: pass",
            "import time\ntime.sleep(600)",
            "import subprocess\nsubprocess.run(['sleep', '600'])",
            "import time\nwhile True:\n    try: time.sleep(600)\n    except Exception: pass",
        ] {
            let outcome = bench.try_run(code).await.map_err(|error| format!("{code}: {error}"))?;
            assert_eq!(outcome.status, OutcomeStatus::Timeout, "{code}: {}", outcome.result);
            assert_eq!(outcome.result["error"]["type"], "TimeoutError");
        }
        let kept = bench.try_run("kept").await.map_err(|error| error.to_string())?;
        if kept.text() == "1" { Ok(()) } else { Err(kept.text().to_owned()) }
    })
    .await;
}

#[tokio::test]
async fn code_that_ignores_the_interrupt_is_killed_with_its_children() {
    let code = "import subprocess\nsubprocess.Popen(['sleep', '600'])\n\
                subprocess.Popen(['sleep', '600'], start_new_session=True)\nsum(range(10**13))";
    let mut bench = in_time_async(Duration::from_millis(300), async |limit| {
        let mut bench = Bench::with(|it| (it.command_timeout, it.grace) = (limit, limit)).await;
        // On a busy machine it is interrupted before it ignores that.
        let gone = match bench.try_run(code).await {
            Err(WorkerError::Gone { reason }) => reason,
            other => return Err(format!("{other:?}")),
        };
        assert!(gone.starts_with("was killed at its deadline"), "{gone}");
        Ok(bench)
    })
    .await;
    until(|| processes_of(bench.scratch.path()).is_empty()).await;
    assert!(bench.try_run("1").await.is_err());
    assert_eq!(text(&Bench::new().await.run("1").await), "1");
}

#[tokio::test]
async fn a_caller_that_stops_waiting_leaves_a_usable_worker() {
    let mut bench = Bench::new().await;
    bench.run("kept = 1").await;
    let code = "open('begun', 'w').close()\nprint('late')\nwhile True: pass";
    let scratch = bench.scratch.path().to_owned();
    tokio::select! {
        _ = bench.try_run(code) => panic!("it ended"),
        () = until(|| scratch.join("begun").exists()) => {}
    }
    assert_eq!(bench.run("kept").await, json!({"kind": "text", "text": "1"}));
}

#[tokio::test]
async fn the_end_of_the_process_says_how_it_ended() {
    for (code, expected) in [
        (
            "import os\nprint('bye', flush=True)\nos._exit(3)",
            "exited with status 3; its last output: bye",
        ),
        ("import os\nos.abort()", "crashed (abort)"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)", "was ended by signal 15"),
    ] {
        let mut bench = Bench::new().await;
        let gone = WorkerError::Gone { reason: expected.to_owned() };
        assert_eq!(bench.try_run(code).await, Err(gone), "{code}");
    }
}

#[tokio::test]
async fn a_python_that_cannot_import_says_so() {
    let scratch = TempDir::new().unwrap();
    let mut interpreter = interpreter().await;
    interpreter.executable = PathBuf::from("/bin/false");
    let options = WorkerOptions {
        command_timeout: HANG,
        ..WorkerOptions::new(interpreter, scratch.path(), sandbox())
    };
    let error = Worker::start(options).await.unwrap_err();
    assert_eq!(error, WorkerError::Start("exited with status 1".to_owned()));
}

// --- The way to a cluster -------------------------------------------------------------------------

#[tokio::test]
async fn the_way_to_a_cluster_is_the_only_one_and_ends_with_the_worker() {
    const CODE: &str = "import os, socket, stat\n\
        def is_socket(number):\n\
        \x20   try: return stat.S_ISSOCK(os.fstat(number).st_mode)\n\
        \x20   except OSError: return False\n\
        [number] = filter(is_socket, range(256))\n\
        way = socket.socket(fileno=os.dup(number))\n\
        way.sendall(b'asked')\n\
        try:\n    socket.socket()\n\
        except OSError as error:\n    print('no other:', error)";
    for without in [Vec::new(), vec![Layer::Namespaces]] {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(HANG)).unwrap();
        let mut bench = Bench::with(|options| {
            options.sandbox.without = without;
            let (datasets, user) = (Vec::new(), "me".to_owned());
            options.cluster = Some(Cluster { relay: Arc::new(theirs.into()), datasets, user });
        })
        .await;
        let rule = "network: none but the relay to the cluster";
        assert!(bench.worker.confinement().enforced.iter().any(|it| it == rule));
        let result = bench.run(CODE).await;
        assert!(result["stdout"].as_str().unwrap().contains("no other:"), "{result}");
        let mut asked = [0; 5];
        ours.read_exact(&mut asked).unwrap();
        assert_eq!(&asked, b"asked");
        bench.worker.stop().await;
        assert_eq!(ours.read(&mut asked).unwrap(), 0, "someone else holds the worker's end");
    }
}

#[tokio::test]
async fn a_worker_without_a_cluster_inherits_nothing() {
    let mut bench = Bench::new().await;
    let result = bench.fails("import os\nos.fstat(3)").await;
    assert!(text(&result).contains("Bad file descriptor"), "{result}");
}

// --- Tampering ------------------------------------------------------------------------------------

#[tokio::test]
async fn what_code_does_to_its_process_ends_with_the_call() {
    let mut bench = Bench::new().await;
    for code in [
        "import os\nfor fd in range(10): os.close(fd)",
        "import os\nfor fd in range(10): os.dup2(os.open('/dev/null', os.O_RDWR), fd)",
        "import sys\nsys.stdout = sys.stderr = None\nsys.stdin = None",
        "import sys\nsys.stdout.close()",
        "import json, json.encoder\njson.dumps = json.loads = None\njson.encoder.c_make_encoder = None",
        "import builtins\nfor it in ('len', 'print', 'isinstance', 'open', 'repr', 'str'): setattr(builtins, it, None)",
        "import sys\nsys.modules.clear()",
        "import sys\nsys.modules = None",
        "import os\nos.write = os.read = os.dup2 = None",
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)",
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))",
        "import sys\nsys.setrecursionlimit(10**6)\nsys.settrace(lambda *_: None)",
        "import os, tempfile\nos.chdir('/')",
        "import traceback, linecache\ntraceback.TracebackException = None\nlinecache.cache = None",
        "import os\nif os.fork() == 0: 1",
        "del __builtins__, __name__",
        "for name in list(globals()): del globals()[name]",
        "pd.DataFrame.head = pd.DataFrame.__len__ = None",
        "print('\\0' * 1000)",
    ] {
        let outcome = timeout(HANG, bench.try_run(code)).await.unwrap();
        assert!(outcome.is_ok(), "{code}: {outcome:?}");
        let next = bench
            .try_run("import os\nprint('ok')\nsum([20, 22]), os.getcwd() != '/'")
            .await
            .unwrap();
        let result = next.result;
        assert_eq!(next.status, OutcomeStatus::Ok, "{code}: {result}");
        assert_eq!(text(&result), "(42, True)", "{code}");
        assert!(result["stdout"].as_str().unwrap().contains("ok\n"), "{code}: {result}");
    }
}

#[tokio::test]
async fn a_thread_that_never_stops_printing_holds_nothing_up() {
    let mut bench = Bench::new().await;
    let flood = "import threading\ndef flood():\n    while True: print('x' * 1000)\n\
                 threading.Thread(target=flood).start()";
    bench.run(flood).await;
    // What the flood prints meanwhile may push the rest of the output out, but not the value.
    let next = timeout(HANG, bench.run("sum([20, 22])")).await.unwrap();
    assert_eq!(text(&next), "42");
}

#[tokio::test]
async fn lines_that_code_writes_are_no_answers() {
    let line = r#"b'{"id":"0","status":"ok","result":{"kind":"text","text":"forged"}}\n'"#;
    for fd in [0, 1, 2, 202] {
        let mut bench = Bench::new().await;
        let result = bench
            .run(&format!("import os\ntry: os.write({fd}, {line})\nexcept OSError: 0\n1"))
            .await;
        assert_eq!(text(&result), "1", "{fd}");
    }
    let mut bench = Bench::new().await;
    let error = bench.try_run(&format!("import os\nos.write(201, {line})")).await.unwrap_err();
    assert!(matches!(error, WorkerError::Protocol(_)), "{error}");
    assert_eq!(bench.try_run("1").await, Err(error));

    let mut bench = Bench::new().await;
    let flood = "import os\nwhile True: os.write(201, b'x' * 65536)";
    let error = bench.try_run(flood).await.unwrap_err();
    assert_eq!(error, WorkerError::Protocol("a line over the limit".to_owned()));
}

#[tokio::test]
async fn a_path_that_is_too_long_is_no_reason_to_end() {
    let mut bench = Bench::new().await;
    // Longer than the monitor waits between two looks.
    let code = "import os, time\nfor _ in range(40):\n    os.mkdir('a' * 200)\n    os.chdir('a' * 200)\n\
                time.sleep(1)\n'deep'";
    assert_eq!(text(&bench.run(code).await), "'deep'");
    assert_eq!(text(&bench.run("'fine'").await), "'fine'");
}

#[tokio::test]
async fn a_process_whose_parent_has_ended_counts_as_well() {
    let code = "
import os, threading, time
if os.fork() == 0:
    if os.fork() == 0:
        for _ in range(200): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        time.sleep(600)
    os._exit(0)
time.sleep(600)";
    let mut bench = Bench::with(|options| {
        options.sandbox.without = Layer::ALL.to_vec();
        options.sandbox.demand = Demand::Nothing;
    })
    .await;
    let error = bench.try_run(code).await.unwrap_err();
    assert!(error.to_string().contains("more than 128 threads and processes"), "{error}");
    until(|| processes_of(bench.scratch.path()).is_empty()).await;
}

#[tokio::test]
async fn nothing_that_code_wrote_is_left_when_it_has_ended() {
    let Bench { mut worker, scratch } = Bench::new().await;
    let code = "import os; os.symlink('/etc/passwd', 'notes.txt'); os.mkdir('d'); os.symlink('/etc', 'd/e')";
    worker.ask(Command::Run { code: code.to_owned() }).await.unwrap();
    assert!(scratch.path().join("notes.txt").is_symlink());
    worker.stop().await;
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    assert!(Path::new("/etc/passwd").exists());
}

#[tokio::test]
async fn the_environment_is_built_from_nothing() {
    let mut bench = Bench::new().await;
    let result = bench.run("import os\n' '.join(sorted(os.environ))").await;
    insta::assert_snapshot!(text(&result), @"'ARROW_DEFAULT_MEMORY_POOL ARROW_IO_THREADS HOME JOBLIB_MULTIPROCESSING LC_ALL MALLOC_ARENA_MAX MKL_NUM_THREADS NUMEXPR_NUM_THREADS OMP_NUM_THREADS OPENBLAS_NUM_THREADS PATH PYTHONHASHSEED PYTHONSAFEPATH TMPDIR TZ'");
    let result = bench
        .run("from resource import *\n[getrlimit(it) for it in (RLIMIT_AS, RLIMIT_CORE)]")
        .await;
    assert_eq!(text(&result), "[(2147483648, 2147483648), (0, 0)]");
    let code = "def is_open(fd):\n    try: return os.fstat(fd) is not None\n    \
                except OSError: return False\n[it for it in range(256) if is_open(it)]";
    assert_eq!(text(&bench.run(code).await), "[0, 1, 2, 200, 201, 202, 203]");
}

/// Not a test: the process that the next one kills.
#[tokio::test]
#[ignore = "runs as a part of another test"]
async fn a_process_with_a_busy_worker() {
    let Some(report) = std::env::var_os("CSV_AGENT_TEST_REPORT") else { return };
    let mut bench = Bench::new().await;
    bench.run("import subprocess\nsubprocess.Popen(['sleep', '600'])\nNone").await;
    let scratch = bench.scratch.path().to_str().unwrap();
    fs::write(Path::new(&report).with_extension("new"), scratch).unwrap();
    fs::rename(Path::new(&report).with_extension("new"), &report).unwrap();
    let _ = bench.try_run("sum(range(10**13))").await;
}

#[tokio::test]
async fn a_kill_of_csv_agent_leaves_no_process_behind() {
    interpreter().await;
    let directory = TempDir::new().unwrap();
    let report = directory.path().join("report");
    let mut parent = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "worker::a_process_with_a_busy_worker", "--ignored"])
        .env("CSV_AGENT_TEST_REPORT", &report)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until(|| report.exists()).await;
    let scratch = PathBuf::from(fs::read_to_string(&report).unwrap());
    assert!(4 <= processes_of(&scratch).len(), "the monitor, the init, Python and its child");
    parent.kill().unwrap();
    parent.wait().unwrap();
    until(|| processes_of(&scratch).is_empty()).await;
    fs::remove_dir_all(scratch).unwrap();
}

/// The processes that have a scratch directory in their arguments or their environment: the worker,
/// what it started, and those who watch it.
pub fn processes_of(scratch: &Path) -> Vec<String> {
    let scratch = scratch.to_str().unwrap().as_bytes();
    let names = |file: PathBuf| {
        let content = fs::read(file).unwrap_or_default();
        content.windows(scratch.len()).any(|it| it == scratch)
    };
    let processes = fs::read_dir("/proc").unwrap().map(|it| it.unwrap().path());
    let found = processes.filter(|it| names(it.join("cmdline")) || names(it.join("environ")));
    found.map(|it| it.display().to_string()).collect()
}

pub async fn until(is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(HANG, wait).await.unwrap();
}

// --- Variables between processes ------------------------------------------------------------------

#[tokio::test]
async fn variables_outlive_the_process() {
    let repl = TempDir::new().unwrap();
    let mut first = Bench::new().await;
    let code = "
import math as m
from collections import Counter
df = pd.DataFrame({'a': [1, 2], 'c': pd.Categorical(['x', 'y'], ['y', 'z', 'x']), 't': pd.to_datetime(['2024-01-01', None], utc=True)}, index=['p', 'q'])
mixed = pd.DataFrame([[1, 'x'], [None, 2.5]], columns=[0, 'b'])
s = pd.Series([1, 2], name='n')
config = {'k': [1, 2.5, None, 'é']}
pair = (1, {2})
array = np.arange(4).reshape(2, 2)
limit = 10
def scale(x, factor=limit):
    return m.sqrt(x) * factor
class Point:
    def __init__(self, x): self.x = x
point = Point(3)
double = lambda x: x * 2
generator = (i for i in range(3))
handle = open('file', 'w')";
    first.run(code).await;
    let saved = first.worker.save(repl.path()).await.unwrap();
    assert_eq!(saved.lost.keys().collect::<Vec<_>>(), ["generator", "handle"]);
    assert!(saved.kept.contains(&"df".to_owned()));
    first.run("df.loc['p', 'a'] = 7").await;
    first.worker.save(repl.path()).await.unwrap();
    let n_frames = fs::read_dir(repl.path())
        .unwrap()
        .filter(|it| it.as_ref().unwrap().path().extension().is_some_and(|it| it == "parquet"));
    assert_eq!(n_frames.count(), 2, "`df` and `s`; the old `df` is gone");
    first.worker.stop().await;

    let saved = Some(repl.path().to_owned());
    let mut second = Bench::with(|it| it.saved.clone_from(&saved)).await;
    let result = second
        .run("df.a.tolist(), df.index.tolist(), df.c.cat.categories.tolist(), df.t.dtype.name[:10]")
        .await;
    assert_eq!(text(&result), "([7, 2], ['p', 'q'], ['y', 'z', 'x'], 'datetime64')");
    let notes = result["notes"].to_string();
    assert!(notes.contains("`generator` of an earlier run was not kept: a generator"), "{notes}");
    for (code, expected) in [
        ("scale(4)", "20.0"),
        ("point.x, Point(1).x", "(3, 1)"),
        ("double(4)", "8"),
        ("config, pair", "({'k': [1, 2.5, None, 'é']}, (1, {2}))"),
        ("array.tolist(), s.name, s.tolist()", "([[0, 1], [2, 3]], 'n', [1, 2])"),
        ("mixed.columns.tolist(), mixed.iloc[0, 1], Counter('aa')['a']", "([0, 'b'], 'x', 2)"),
    ] {
        assert_eq!(second.run(code).await, json!({"kind": "text", "text": expected}), "{code}");
    }
    let again = second.worker.save(repl.path()).await.unwrap();
    assert_eq!(again.lost.len(), 0);
    assert!(again.kept.contains(&"scale".to_owned()));
}

#[tokio::test]
async fn a_variable_that_was_not_needed_stays_saved() {
    let repl = TempDir::new().unwrap();
    let mut first = Bench::new().await;
    first.run("df = pd.DataFrame({'a': [1]})\nx = 1").await;
    first.worker.save(repl.path()).await.unwrap();
    let saved = Some(repl.path().to_owned());
    for _ in 0..2 {
        let mut next = Bench::with(|it| it.saved.clone_from(&saved)).await;
        next.run("x").await;
        next.worker.save(repl.path()).await.unwrap();
    }
    let mut last = Bench::with(|it| it.saved.clone_from(&saved)).await;
    assert_eq!(last.fetch("df", None, false).await.frame.unwrap().row_count, 1);
}

#[tokio::test]
async fn a_damaged_snapshot_loses_no_more_than_what_is_damaged() {
    let repl = TempDir::new().unwrap();
    let mut first = Bench::new().await;
    first.run("a = pd.DataFrame({'x': [1]})\nb = pd.DataFrame({'y': [2]})\nn = 5").await;
    first.worker.save(repl.path()).await.unwrap();
    let manifest: Value =
        serde_json::from_slice(&fs::read(repl.path().join("manifest.json")).unwrap()).unwrap();
    let file = |name: &str| repl.path().join(manifest["variables"][name]["file"].as_str().unwrap());
    let n_bytes = fs::metadata(file("a")).unwrap().len();
    fs::write(file("a"), vec![7; usize::try_from(n_bytes).unwrap()]).unwrap();
    fs::write(file("b"), "short").unwrap();

    let saved = Some(repl.path().to_owned());
    let mut second = Bench::with(|it| it.saved.clone_from(&saved)).await;
    let result = second.run("n").await;
    assert_eq!(text(&result), "5");
    assert!(result["notes"].to_string().contains("`b` of an earlier run was lost"), "{result}");
    let result = second.fails("a").await;
    assert_eq!(result["error"]["type"], "NameError");
    assert!(result["notes"].to_string().contains("`a` of an earlier run was lost"), "{result}");

    fs::write(repl.path().join("manifest.json"), "{\"version\": 1, \"vari").unwrap();
    let mut third = Bench::with(|it| it.saved.clone_from(&saved)).await;
    assert!(third.run("1").await["notes"].to_string().contains("manifest is damaged"));
    let nowhere = Some(repl.path().join("nowhere"));
    let mut fourth = Bench::with(|it| it.saved = nowhere).await;
    assert_eq!(fourth.run("1").await, json!({"kind": "text", "text": "1"}));
}

#[tokio::test]
async fn what_code_reads_and_makes_is_found_without_running_it() {
    // Code, what it reads, what it makes whatever happens, what it may make or change.
    let cases = [
        ("for x in y:\n  z = x\nz", "y", "x z", ""),
        ("if a:\n  b = 1\nelse:\n  b = 2\nb", "a", "b", ""),
        ("if a:\n  b = 1\nb", "a b", "", "b"),
        ("def f(q):\n  return q + g\nf(1)", "g", "f", ""),
        ("[i for i in df if i > k]", "df k", "", ""),
        ("df['x'] = 1", "df", "", "df"),
        ("df.drop(columns='a', inplace=True)", "df", "", "df"),
        ("clean(df)", "clean df", "", "df"),
        ("import numpy as np, os.path\nnp.x", "", "np os", ""),
        ("try:\n  a = 1\nexcept E as e:\n  raise", "E", "a e", ""),
        ("acc.bump(3)\nkept = tidy(df)", "acc df tidy", "kept", "acc df"),
        ("filter.head()", "filter", "", ""),
        ("exec('z = 3')", "exec", "", "*"),
        ("a, *b = c\nx += 1", "c x", "a b x", "x"),
        ("match p:\n  case {'k': v}: q = v", "p", "", "q v"),
        ("df = df.assign(y=lambda d: d.x * m)", "df m", "df", ""),
        ("this is no Python", "", "", ""),
    ];
    outlined("python_repl", &cases).await;
    // In a container, files count too; those that were uploaded only where they are written.
    let cases = [
        ("pd.read_csv('/mnt/data/sales.csv')", "pd", "", ""),
        ("df.to_csv('sales.csv')", "df file:? file:sales.csv", "", "file:* file:sales.csv"),
        ("open('/mnt/data/a/b.txt')", "open file:? file:a/b.txt", "", "file:* file:a/b.txt"),
        ("f'/mnt/data/{x}'", "x file:? file:*", "", "file:? file:*"),
        ("os.listdir('/mnt/data')", "os file:? file:*", "", "file:? file:*"),
    ];
    outlined("code_interpreter", &cases).await;
}

async fn outlined(tool: &str, cases: &[(&str, &str, &str, &str)]) {
    let call = PastCall {
        call: ToolCall { call_id: "c".into(), name: tool.into(), arguments: String::new() },
        place: ExecutionPlace::Repl,
        status: CallStatus::Ok,
        result: json!({"kind": "text"}),
        shown: Vec::new(),
    };
    let commands =
        cases.iter().map(|it| (ToolJob::Python(Command::Run { code: it.0.to_owned() }), &call));
    let commands: Vec<_> = commands.collect();
    let mut study = Study::start(&python_options(), &sandbox(), Vec::new()).await.unwrap();
    let uploaded = ["sales.csv".to_owned()];
    let found = outlines(Some(&mut study), &commands, &uploaded).await.unwrap();
    let names = |it: &str| it.split_whitespace().map(str::to_owned).collect();
    for ((code, reads, binds, others), found) in cases.iter().zip(found) {
        let Outline { may_bind, touches, .. } = &found;
        assert_eq!(found.reads, names(reads), "{code}");
        assert_eq!(found.binds, names(binds), "{code}");
        assert_eq!(may_bind | touches, names(others), "{code}");
    }
}

// --- Packages -------------------------------------------------------------------------------------

#[tokio::test]
async fn statistics_and_learning_run_within_the_confinement() {
    let mut bench = Bench::new().await;
    let setup = "
from scipy import stats
import statsmodels.formula.api as smf
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score, train_test_split
rng = np.random.default_rng(7)
df = pd.DataFrame({'x': rng.normal(size=200), 'g': np.repeat(['a', 'b'], 100)})
df['y'] = 2 * df.x + rng.normal(size=200)";
    bench.run(setup).await;
    for (code, expected) in [
        ("round(stats.pearsonr([1, 2, 3, 4], [2, 1, 4, 3]).pvalue, 6)", "0.4"),
        ("round(stats.shapiro([1, 2, 3, 4, 5, 6, 7, 9.5]).statistic, 4)", "0.9801"),
        ("round(stats.f_oneway([1, 2, 3], [2, 3, 4], [5, 6, 7]).pvalue, 6)", "0.006592"),
        ("round(float(smf.ols('y ~ x', df).fit().rsquared), 2)", "0.77"),
        ("[len(it) for it in train_test_split(df, test_size=0.3, random_state=42)]", "[140, 60]"),
        (
            "model = RandomForestClassifier(20, random_state=0, n_jobs=2)\n\
             cross_val_score(model, df[['x', 'y']], df.g, n_jobs=2).shape",
            "(5,)",
        ),
    ] {
        assert_eq!(text(&bench.run(code).await), expected, "{code}");
    }
}
