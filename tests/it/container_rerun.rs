//! Code that ran in a container of the provider's, again on this machine: as a script, and as a rerun.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{Bench, Run, round};

const SALES: &str = "region,product,revenue\nNorth,Anvil,120.5\nSouth,Rope,80\nSouth,Anvil,99.25\n\
                     North,Glue,\nEast,Glue,11.5\n";

/// What a turn called, each with the events of its call.
#[derive(Default)]
struct Calls {
    events: Vec<Value>,
    has_repl: bool,
}

impl Calls {
    /// The provider ran code, and told this of it.
    fn hosted(self, code: &str, logs: &str) -> Calls {
        self.hosted_in("cntr_a", code, logs)
    }

    fn hosted_in(self, container_id: &str, code: &str, logs: &str) -> Calls {
        let failed = logs.contains("Traceback (most recent call last)");
        let kind = if failed { "error" } else { "text" };
        let mut result = json!({"kind": kind, "text": logs, "container_id": container_id});
        if failed {
            result["error"] = json!({"type": "NameError", "message": "name 'x' is not defined"});
        }
        self.call("code_interpreter", &json!({"code": code}), &result, None)
    }

    /// The same, and these files were fetched.
    fn hosted_with_file(self, code: &str, file: &str) -> Calls {
        let file = json!({"name": file, "cited": true, "container_id": "cntr_a", "file_id": "cfile_1",
            "format": "png", "path": format!("turns/0001/artifacts/{file}"), "bytes": 3, "sha256": "00"});
        let result = json!({"kind": "text", "text": "", "container_id": "cntr_a", "files": [file]});
        self.call("code_interpreter", &json!({"code": code}), &result, None)
    }

    /// Code ran on this machine, and its value was this text.
    fn repl(self, code: &str, value: &str) -> Calls {
        let result = json!({"kind": "text", "text": value});
        let calls = Calls { has_repl: true, ..self };
        calls.call("python_repl", &json!({"code": code}), &result, None)
    }

    /// A table was sent: columns with their types, and rows.
    fn sends(self, df_name: &str, columns: &[(&str, &str)], rows: &[Value]) -> Calls {
        let names: Vec<&str> = columns.iter().map(|it| it.0).collect();
        let row = |it: &Value| -> Value {
            let cells = names.iter().zip(it.as_array().unwrap());
            cells.map(|(name, cell)| ((*name).to_owned(), cell.clone())).collect()
        };
        let rows: Vec<Value> = rows.iter().map(row).collect();
        let dtypes: Value = columns.iter().map(|it| (it.0.to_owned(), Value::from(it.1))).collect();
        let frame = json!({"type": "data_frame", "df_name": df_name, "logical_name": df_name,
            "columns": names, "dtypes": dtypes, "row_count": rows.len(), "rows": rows,
            "rows_emitted": rows.len(), "truncated": false, "encoding": "json", "artifact": null});
        let arguments = json!({"df_name": df_name, "logical_name": df_name});
        let result = json!({"kind": "table_sent"});
        self.call("send_data_to_ui_as_df", &arguments, &result, Some(frame))
    }

    fn call(
        mut self,
        name: &str,
        arguments: &Value,
        result: &Value,
        shown: Option<Value>,
    ) -> Calls {
        let call_id = format!("call_{}", self.events.len());
        let failed = result["kind"] == "error";
        let status = if failed { "error" } else { "ok" };
        let error = failed.then(|| json!({"code": "failed", "message": result["text"]}));
        self.events.push(json!({"type": "tool_call", "call_id": call_id, "round": 1, "name": name,
            "label": name, "arguments": arguments}));
        self.events.extend(shown.map(|mut it| {
            it["call_id"] = call_id.as_str().into();
            it
        }));
        self.events.push(json!({"type": "tool_result", "call_id": call_id, "name": name,
            "status": status, "duration_ms": 1, "result": result, "truncated": false,
            "bytes_to_model": 0, "error": error}));
        self
    }
}

/// A session with `sales.csv`, and a file `new.csv` with other numbers.
fn bench() -> Bench {
    let bench = Bench::with([]);
    fs::write(bench.path("sales.csv"), SALES).unwrap();
    fs::write(bench.path("new.csv"), SALES.replace("80", "81")).unwrap();
    bench.run(["ingest", "sales.csv"]).succeeds();
    bench
}

/// Writes a turn down as one that has ended.
fn turn(bench: &Bench, id: &str, calls: Calls, text: &str) {
    let dir = bench.session().join("turns").join(id);
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("question.txt"), "What is it?\n").unwrap();
    let interpreter = if calls.has_repl { "both" } else { "hosted" };
    let started = json!({"type": "status", "phase": "started", "message": "", "version": "0",
        "model": "m", "provider": "responses", "api": "responses", "datasets": [], "limits": {},
        "question": "What is it?", "interpreter": interpreter});
    let reply = json!({"type": "reply", "text": text, "blocks": [], "assessment": null,
        "findings": [], "stop_reason": "complete", "tables": [], "charts": [], "rounds": 1,
        "tool_calls": 1, "usage": {"requests": 1, "input_tokens": 1, "cached_input_tokens": 0,
            "output_tokens": 1, "reasoning_tokens": 0, "total_tokens": 2,
            "session_total_tokens": 2, "cost_usd": null},
        "duration_ms": 5, "code_path": null, "exit_code": 0});
    let mut lines = String::new();
    for (seq, event) in [started].into_iter().chain(calls.events).chain([reply]).enumerate() {
        let mut line = json!({"v": 1, "seq": seq, "ts": "2026-01-01T00:00:00.000Z",
            "session_id": "s", "turn_id": id});
        line.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        lines.extend([line.to_string().as_str(), "\n"]);
    }
    fs::write(dir.join("events.jsonl"), lines).unwrap();
}

/// Exports a turn and runs the script, in which `python` has pandas and no csv-agent.
fn script(bench: &Bench, id: &str, arguments: &str) -> Run {
    let python = "\"$(ls -d \"$XDG_CACHE_HOME\"/csv-agent/python-*/bin/python | tail -1)\"";
    bench.shell(&format!("csv-agent export py {id} > x.py && {python} x.py {arguments}"), &[])
}

fn rerun(bench: &Bench, id: &str) -> Run {
    bench.run(["rerun", id, "--check", "--format", "reply"])
}

/// Demands that a turn gives the same as a script and as a rerun, and says so.
#[track_caller]
fn gives_the_same(bench: &Bench, id: &str, told: &str) {
    let run = script(bench, id, "").succeeds();
    assert!(run.stdout().ends_with(&format!("same as before: {told}\n")), "{run}");
    let run = rerun(bench, id).succeeds();
    assert!(run.stdout().ends_with(&format!("gives the same results: {told}.\n")), "{run}");
}

const BY_REGION: &str = "import os\nimport pandas as pd\n\
    df = pd.read_csv('/mnt/data/sales.csv')\n\
    by = df.groupby('region', as_index=False)['revenue'].sum()\n\
    by.to_csv(f\"/mnt/data/{'by_region'}.csv\", index=False)\n\
    print(len(df), 'rows in', os.getcwd(), sorted(os.listdir('.')))\nby";

const BY_REGION_LOGS: &str = "5 rows in /mnt/data ['by_region.csv', 'sales.csv']\n  region  revenue\n\
    0   East    11.50\n1  North   120.50\n2  South   179.25";

fn by_region() -> Calls {
    let columns = [("region", "object"), ("revenue", "float64")];
    let rows = [json!(["East", 11.5]), json!(["North", 120.5]), json!(["South", 179.25])];
    Calls::default().hosted(BY_REGION, BY_REGION_LOGS).sends("by_region", &columns, &rows)
}

#[test]
fn what_was_printed_and_saved_in_a_container_is_made_again_here() {
    let bench = bench();
    turn(&bench, "0001", by_region(), "There are 5 rows.");
    gives_the_same(&bench, "1", "what the code printed, table `by_region`");
    let run = script(&bench, "1", "sales=new.csv").fails_with(1);
    let told = "AssertionError: what the code printed: 179.25 then, 180.25 now";
    assert!(run.stdout().contains(told), "{run}");
    let run = bench.run(["rerun", "--against", "sales=new.csv", "--check", "--format", "reply"]);
    assert_eq!(
        run.fails_with(12).stdout(),
        "Turn 1 gives different results:\n\n- what the code printed: was `2  South   179.25`, is \
         `2  South   180.25`\n- table `by_region`: `region` `South`: `revenue` was 179.25, is 180.25\n"
    );
    // The directories of the scripts are gone.
    let left = fs::read_dir(bench.path("..")).unwrap().flatten();
    let left: Vec<_> = left
        .map(|it| it.file_name())
        .filter(|it| it.to_string_lossy().starts_with("tmp"))
        .collect();
    assert_eq!(left, [] as [&str; 0]);
}

#[test]
fn the_repl_and_a_container_do_not_see_each_other() {
    let bench = bench();
    let calls = Calls::default()
        .repl("df = load('sales').head(2)\nlen(df)", "2")
        .hosted("import pandas as pd\ndf = pd.read_csv('sales.csv')\n'load' in globals()", "False")
        .hosted("only_here = 1\nlen(df)", "5")
        .repl("len(df), 'only_here' in globals()", "(2, False)")
        .hosted_in(
            "cntr_b",
            "import os\n'df' in globals(), os.listdir('/mnt/data')",
            "(False, ['sales.csv'])",
        );
    turn(&bench, "0001", calls, "Done.");
    let (value, printed) = ("the value of the code", "what the code printed");
    gives_the_same(&bench, "1", &[value, printed, printed, value, printed].join(", "));
}

#[test]
fn earlier_turns_give_their_variables_and_their_files_and_no_more() {
    let bench = bench();
    turn(&bench, "0001", by_region().hosted("print('a look')", "a look"), "Done.");
    let saved = "import pandas as pd\nprint(pd.read_csv('/mnt/data/by_region.csv').revenue.max())";
    turn(&bench, "0002", Calls::default().hosted(saved, "179.25"), "Done.");
    turn(&bench, "0003", Calls::default().hosted("df.shape", "(5, 3)"), "Done.");
    for id in ["2", "3"] {
        gives_the_same(&bench, id, "what the code printed");
        let script = fs::read_to_string(bench.path("x.py")).unwrap();
        assert!(script.contains("by.to_csv(") && !script.contains("a look"), "{script}");
    }
}

#[test]
fn datasets_have_the_text_that_was_uploaded() {
    let bench = Bench::with([]);
    let odd = "id,text,n,ok,day,at,x\n007,\"a, \"\"b\"\"\",1,true,2024-02-29,2024-02-29 12:00:00,0.1\n\
               NA,\"two\nlines\",,false,2024-03-01,2024-03-01 00:00:00.5,2\n\
               x,é,-3,,,,1e22\n";
    fs::write(bench.path("odd.csv"), odd).unwrap();
    bench.run(["ingest", "odd.csv", "--name", "odd"]).succeeds();
    let uploaded = "id,text,n,ok,day,at,x\n\
                    007,\"a, \"\"b\"\"\",1,true,2024-02-29,2024-02-29T12:00:00.000,0.1\n\
                    NA,\"two\nlines\",,false,2024-03-01,2024-03-01T00:00:00.500,2.0\n\
                    x,é,-3,,,,1.0e+22\n";
    let code = format!("open('/mnt/data/odd.csv').read() == {}", Value::from(uploaded));
    turn(&bench, "0001", Calls::default().hosted(&code, "True"), "Done.");
    gives_the_same(&bench, "1", "what the code printed");
}

#[test]
fn saved_tables_are_read_as_they_were_then() {
    let bench = bench();
    let code = "import pandas as pd\npd.DataFrame({'id': ['007', 'NA', None], 'n': [1, 2, 3], \
                'share': [0.5, None, 1], 'ok': [True, False, True], 'at': pd.to_datetime(['2024-01-01', \
                '2024-01-02', None])}).to_csv('/mnt/data/odd.csv', index=False)";
    let columns =
        [("id", "object"), ("n", "int64"), ("share", "float64"), ("ok", "bool"), ("at", "object")];
    let rows = [
        json!(["007", 1, 0.5, true, "2024-01-01"]),
        json!(["NA", 2, null, false, "2024-01-02"]),
        json!([null, 3, 1.0, true, null]),
    ];
    turn(&bench, "0001", Calls::default().hosted(code, "").sends("odd", &columns, &rows), "See.");
    gives_the_same(&bench, "1", "table `odd`");
}

#[test]
fn what_cannot_be_made_again_is_told_call_by_call() {
    let bench = bench();
    let calls = Calls::default()
        .hosted_with_file("open('/mnt/data/plot.png', 'wb').write(b'png');", "plot.png")
        .hosted("print(open('/mnt/data/theirs.txt').read())", "secret")
        .hosted("!ls", "sales.csv");
    turn(&bench, "0001", calls, "Done.");
    let run = bench.run(["export", "py"]).succeeds();
    let told = [
        "warning: `code_interpreter` is left out, because its code is not plain Python",
        "warning: `theirs.txt` is only in the container; the code that reads it will fail",
    ];
    assert!(told.iter().all(|it| run.stderr().contains(it)), "{run}");
    let run = bench.run(["rerun", "--check"]).fails_with(12);
    let told = "`plot.png` of `code_interpreter`: files are made again, but not compared";
    assert!(run.stderr().contains(told), "{run}");
    let told = "- `code_interpreter` failed: FileNotFoundError: [Errno 2] No such file or directory: \
                '/mnt/data/theirs.txt'\n";
    assert!(run.stdout().contains(told), "{run}");
}

#[test]
fn a_run_that_failed_may_fail_again() {
    let bench = bench();
    let failed = "NameError                 Traceback (most recent call last)\nNameError: name 'x' is not defined";
    let calls = Calls::default()
        .hosted("kept = 41\nx", failed)
        .hosted("print(kept + 1)", "/tmp/1.py:1: FutureWarning: later\n  print(1)\n42");
    turn(&bench, "0001", calls, "It is 42.");
    gives_the_same(&bench, "1", "what the code printed");
}

#[test]
fn a_notebook_and_a_document_have_hosted_code_too() {
    let bench = bench();
    turn(&bench, "0001", by_region(), "There are 5 rows.");
    bench.run(["export", "ipynb", "-o", "turn.ipynb"]).succeeds();
    let run = "import json\n\
               for cell in json.load(open('turn.ipynb'))['cells']:\n    \
                   if cell['cell_type'] == 'code': exec(''.join(cell['source']), globals())\n";
    fs::write(bench.path("run.py"), run).unwrap();
    let python = "\"$(ls -d \"$XDG_CACHE_HOME\"/csv-agent/python-*/bin/python | tail -1)\"";
    let run = bench.shell(&format!("PYTHONHASHSEED=0 {python} run.py"), &[]).succeeds();
    assert!(run.stdout().contains("same as before: what the code printed, table"), "{run}");
    let run = bench.run(["export", "md"]).succeeds();
    assert!(run.stdout().contains("pd.read_csv('/mnt/data/sales.csv')"), "{run}");
}

#[test]
fn a_turn_with_code_at_the_provider_needs_none_of_it_afterwards() {
    let send = json!({"df_name": "by_region", "logical_name": "by_region"});
    let saved = "region,revenue\nEast,11.5\nNorth,120.5\nSouth,179.25\n";
    let bench = bench().script([
        round()
            .interprets(BY_REGION, BY_REGION_LOGS)
            .makes_file("/mnt/data/by_region.csv", saved)
            .calls("c1", "send_data_to_ui_as_df", send),
        round().says("There are 5 rows."),
    ]);
    bench.ask_with(["--interpreter", "hosted"], "What is it?").succeeds();
    let n_requests = bench.n_requests();
    gives_the_same(&bench, "1", "what the code printed, table `by_region`");
    assert_eq!(bench.n_requests(), n_requests);
}
