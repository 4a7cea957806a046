//! `mcp`: a client that speaks the protocol over stdin and stdout.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, json};

use crate::bench::{Bench, HANG, is_slow_run, python, signal, until};

/// A client and its server.
struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    n_sent: u64,
}

impl Client {
    /// Starts a server and shakes hands, as of 2025.
    fn new(bench: &Bench, arguments: &[&str]) -> Client {
        let mut client = Client::silent(bench, arguments);
        let hello = client.request(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"}}),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "csv-agent", "{hello}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    /// Starts a server and says nothing.
    fn silent(bench: &Bench, arguments: &[&str]) -> Client {
        let mut command = bench.command(["mcp"].iter().chain(arguments));
        // Its log is shown where a test fails.
        let mut child = command.stderr(std::process::Stdio::inherit()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (tell, messages) = channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                // Nothing but the protocol is on stdout.
                let message: Value = serde_json::from_str(&line).expect(&line);
                assert_eq!(message["jsonrpc"], "2.0");
                if tell.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Client { child, stdin, messages, n_sent: 0 }
    }

    fn raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    /// Sends a request, and returns its id.
    fn start(&mut self, method: &str, params: Value) -> u64 {
        self.n_sent += 1;
        let id = self.n_sent;
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        message["params"] = params;
        self.send(&message);
        id
    }

    /// Waits for the answer to a request.
    #[track_caller]
    fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.messages.recv_timeout(HANG).expect("the server answers");
            if message["id"] == id {
                return message;
            }
        }
    }

    #[track_caller]
    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params);
        self.answer(id)
    }

    /// Calls a tool, and returns its result.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({"name": tool});
        params["arguments"] = arguments;
        let answer = self.request("tools/call", params);
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool that succeeds, and returns its structured content.
    #[track_caller]
    fn found(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that fails, and returns what it says.
    #[track_caller]
    fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert!(result.get("structuredContent").is_none());
        text_of(&result)
    }

    /// Closes stdin, and returns the exit status.
    fn ends(&mut self) -> Option<i32> {
        self.stdin = None;
        let mut code = None;
        until("the server ends", || {
            code = self.child.try_wait().unwrap().map(|it| it.code());
            code.is_some()
        });
        code.flatten()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a result.
fn text_of(result: &Value) -> String {
    let content = result["content"].as_array().unwrap().iter();
    content.filter_map(|it| it["text"].as_str()).collect::<Vec<_>>().join("\n")
}

const BY_PRODUCT: &str =
    "select product, sum(revenue) as total from sales group by product order by total desc";

#[test]
fn a_client_is_answered_in_every_version_of_the_protocol() {
    let bench = Bench::with([]);
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::silent(&bench, &[]);
        let params = json!({"protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"}});
        let hello = client.request("initialize", params);
        assert_eq!(hello["result"]["protocolVersion"], version);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let tools = client.request("tools/list", json!({}));
        assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 12);
        assert_eq!(client.ends(), Some(0));
    }
}

#[test]
fn a_client_begins_once_and_may_try_again() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::silent(&bench, &["-f", "sales.csv"]);
    let hello = |version: &str| json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}});
    for wrong in [json!({}), json!({"protocolVersion": "2025-06-18", "capabilities": {}})] {
        let refused = client.request("initialize", wrong);
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let why = refused["error"]["message"].as_str().unwrap();
        assert!(why.contains("it takes `protocolVersion`, a text"), "{why}");
        // A client that has not read the answer goes on.
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }
    assert!(client.request("tools/list", json!({}))["error"].is_object());
    client.send(&json!({"jsonrpc": "2.0", "id": 90, "result": {}}));
    for _ in 0..2 {
        let begun = client.request("initialize", hello("2025-06-18"));
        assert_eq!(begun["result"]["protocolVersion"], "2025-06-18", "{begun}");
    }
    for version in ["2024-11-05", "2026-07-28"] {
        let refused = client.request("initialize", hello(version));
        let why = refused["error"]["message"].as_str().unwrap();
        assert!(why.contains("has already begun"), "{why}");
    }
    // The results are those of the first version.
    let listed = client.request("tools/list", json!({}));
    assert!(listed["result"]["tools"].is_array() && listed["result"]["resultType"].is_null());
    assert_eq!(client.ends(), Some(0));
}

#[test]
fn a_client_without_a_handshake_discovers_the_server() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::silent(&bench, &["-f", "sales.csv"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.request("server/discover", json!({"_meta": meta}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let listed = client.request("tools/list", json!({"_meta": meta}));
    assert_eq!(listed["result"]["resultType"], "complete");
    assert!(listed["result"]["ttlMs"].is_number(), "{listed}");
    let arguments = json!({"sql": BY_PRODUCT});
    let params = json!({"_meta": meta, "name": "query", "arguments": arguments});
    let called = client.request("tools/call", params);
    assert_eq!(called["result"]["structuredContent"]["rows_total"], 3, "{called}");
    assert_eq!(client.ends(), Some(0));
}

#[test]
fn what_was_asked_before_stdin_ends_is_answered() {
    let bench = Bench::with(["sales.csv"]);
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "t", "version": "0"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "query", "arguments": {"sql": BY_PRODUCT}}}),
    ];
    let input: String = lines
        .iter()
        .map(|it| {
            it.to_string()
                + "
"
        })
        .collect();
    let run = bench.pipe(["mcp", "-f", "sales.csv"], input.as_bytes()).succeeds();
    let answers: Vec<Value> =
        run.stdout().lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "csv-agent");
    assert_eq!(answers[1]["result"]["structuredContent"]["rows_total"], 3);
}

#[test]
fn a_file_becomes_a_dataset_and_is_described_and_queried() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &[]);
    let why = client.refused("datasets", json!({}));
    assert!(why.contains("call `ingest`"), "{why}");
    assert!(!bench.session().exists());
    let read = client.found("ingest", json!({"paths": ["sales.csv"]}));
    assert_eq!(
        read["schema"]["columns"][2],
        json!({"name": "revenue", "dtype": "float64", "nulls": 0})
    );
    let listed = client.found("datasets", json!({}));
    assert_eq!(listed["found"]["datasets"][0]["name"], "sales");
    let described = client.found("describe", json!({"dataset": "sales"}));
    assert_eq!(
        (&described["schema"]["row_count"], &described["head"]["rows"][0][1]),
        (&json!(10), &json!("Tea"))
    );
    let found = client.found("query", json!({"sql": BY_PRODUCT}));
    assert_eq!(found["rows"], json!([["Coffee", 8746.8], ["Tea", 4625.75], ["Cocoa", 917.85]]));
    assert_eq!((&found["rows_total"], &found["truncated"]), (&json!(3), &json!(false)));
    let where_ = client.found("find_values", json!({"value": "tea"}));
    assert_eq!(where_["matches"]["datasets"][0]["columns"][0]["count"], 4);
    let why = client.refused("query", json!({"sql": "select nope from sales"}));
    assert!(why.contains("the columns are date, product, revenue"), "{why}");
    let why = client.refused("describe", json!({"dataset": "slaes"}));
    assert!(why.contains("did you mean `sales`"), "{why}");
}

#[test]
fn a_column_without_values_fits_any_type_in_sql() {
    let bench = Bench::with([]);
    fs::write(bench.path("e.csv"), "n,bonus\n1,\n2,\n3,\n").unwrap();
    let mut client = Client::new(&bench, &["-f", "e.csv"]);
    let sql = "select sum(n) as n, sum(bonus) as bonus from e where bonus is null or bonus < 5";
    assert_eq!(client.found("query", json!({"sql": sql}))["rows"], json!([[6, null]]));
    let script = format!("csv-agent export py last -o e.py\n{}\npython e.py", python("python"));
    let run = bench.shell(&script, &[]).succeeds();
    assert!(run.stdout().contains("same as before"), "{run}");
    let why = client.refused("query", json!({"sql": "select sum(bnus) from e"}));
    assert!(why.contains("did you mean `bonus`?"), "{why}");
}

#[test]
fn a_call_is_a_turn_like_any_other() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    let found = client.found("query", json!({"sql": BY_PRODUCT, "name": "totals"}));
    assert_eq!((&found["turn"], &found["record"]), (&json!("1"), &json!("csv-agent://turns/1")));
    // The session is free between two calls.
    let shown = bench.run(["show", "1", "--format", "csv"]).succeeds();
    assert_eq!(shown.stdout(), "product,total\nCoffee,8746.8\nTea,4625.75\nCocoa,917.85\n");
    let egress = bench.run(["show", "1", "--egress", "--json"]).succeeds();
    let egress: Value = serde_json::from_str(egress.stdout()).unwrap();
    let left = &egress["egress"];
    assert_eq!(left["destinations"], json!(["mcp client bench"]), "{egress}");
    assert_eq!((&left["rows"], &left["requests"]), (&json!(3), &json!(1)), "{egress}");
    assert_eq!(left["columns"], json!(["sales.product", "sales.revenue"]), "{egress}");
    bench.run(["rerun", "1", "--check"]).succeeds();
    let again = client.found("rerun", json!({"turn": 1}));
    assert_eq!(again["same"], true, "{again}");
    fs::write(bench.path("new.csv"), "date,product,revenue\n2024-01-01,Tea,1\n").unwrap();
    let other = client.found("rerun", json!({"turn": "1", "against": {"sales": "new.csv"}}));
    assert_eq!(other["same"], false, "{other}");
    assert_eq!(other["tables"][0]["rows"], json!([["Tea", 1]]), "{other}");
    let document = client.found("export", json!({"form": "md", "turns": [1]}));
    assert!(document["text"].as_str().unwrap().contains("| Coffee | 8746.8 |"), "{document}");
    assert!(client.refused("rerun", json!({"turn": 99})).contains("no turn 99"));
}

#[test]
fn python_keeps_its_variables_and_other_processes_may_use_the_session_between() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    let first = client
        .found("python", json!({"code": "df = load('sales'); n = len(df); print('read'); n"}));
    assert_eq!((&first["printed"], &first["result"]), (&json!("read\n"), &json!("10")));
    assert_eq!(client.found("python", json!({"code": "n + 1"}))["result"], "11");
    // Another process takes the session, and adds data.
    bench.run(["ingest", "sales.csv", "--name", "more"]).succeeds();
    assert_eq!(client.found("python", json!({"code": "n + len(load('more'))"}))["result"], "20");
    let why = client.refused("python", json!({"code": "1/0"}));
    assert!(why.contains("ZeroDivisionError"), "{why}");
    let totals = "t = df.groupby('product', as_index=False).revenue.sum()";
    client.found("python", json!({"code": totals}));
    let kept = client.found("table", json!({"variable": "t", "name": "totals"}));
    assert_eq!(kept["rows"][0], json!(["Cocoa", 917.85]));
    let whole = kept["whole"]["uri"].as_str().unwrap();
    let csv = client.request("resources/read", json!({"uri": whole}));
    let text = csv["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("product,revenue\nCocoa,917.85\n"), "{csv}");
}

#[test]
fn a_name_of_csv_agent_belongs_to_it_again_after_a_call() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    let taken =
        client.call("python", json!({"code": "load = 5\nfor num in [1]: pass\ndel np\nload"}));
    let found = &taken["structuredContent"];
    assert_eq!(found["result"], "5", "{found}");
    let notes = found["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(
        text_of(&taken).contains("`load` is reserved here, and is what it was again"),
        "{taken}"
    );
    let code = "int(np.sum(num(['1', '2']))) + len(load('sales'))";
    let after = client.found("python", json!({"code": code}));
    assert_eq!((&after["result"], after.get("notes")), (&json!("13"), None), "{after}");
    let none = client.found("python", json!({"code": "pd = 1"}));
    assert_eq!(none["result"], "no value: end with an expression or print it", "{none}");
    assert!(none["notes"][0].as_str().unwrap().contains("`pd`"), "{none}");
    let why = client.refused("python", json!({"code": "datasets = 1\n1 / 0"}));
    assert!(why.contains("ZeroDivisionError") && why.contains("`datasets` is reserved"), "{why}");
    // The owner reads what the code showed.
    client.call("python", json!({"code": "load = 5\nprint('so')\nload"}));
    let shown = bench.run(["show", "last", "--format", "reply"]).succeeds();
    assert_eq!(shown.stdout(), "```text\nso\n5\n```\n");
}

#[test]
fn infinite_numbers_are_not_missing() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    let sql =
        "select 1.0 / 0 as a, -1.0 / 0 as b, 0.0 / 0 as c, null::double as d from sales limit 1";
    let result = client.call("query", json!({"sql": sql}));
    let found = &result["structuredContent"];
    assert_eq!(found["rows"], json!([["inf", "-inf", "NaN", null]]), "{found}");
    assert!(text_of(&result).contains("| inf | -inf | NaN |  |"), "{result}");
    let uri = "csv-agent://turns/1/tables/result.csv";
    let csv = client.request("resources/read", json!({"uri": uri}));
    assert_eq!(csv["result"]["contents"][0]["text"], "a,b,c,d\ninf,-inf,NaN,\n");
    assert_eq!(client.found("rerun", json!({}))["same"], true);
    let code = "t = pd.DataFrame({'a': [1.5, np.inf, -np.inf, None]}); t";
    let shown = client.found("python", json!({"code": code}));
    let rows = json!([[1.5], ["inf"], ["-inf"], [null]]);
    assert_eq!(shown["rows"], rows, "{shown}");
    // A table that is sent is an event, which has null for them.
    let rows = json!([[1.5], [null], [null], [null]]);
    assert_eq!(client.found("table", json!({"variable": "t"}))["rows"], rows);
    assert_eq!(client.found("rerun", json!({}))["same"], true);
    // The script compares them with what pandas calculates.
    let script = format!("csv-agent export py 1 2 3 -o e.py\n{}\npython e.py", python("python"));
    let run = bench.shell(&script, &[]).succeeds();
    assert!(run.stdout().contains("same as before"), "{run}");
    // A chart leaves them out.
    let chart = json!({"variable": "t.reset_index()", "type": "line", "x": "a", "y": "a"});
    assert_eq!(client.call("chart", chart)["isError"], true);
    client.found("python", json!({"code": "t['x'] = range(4)"}));
    let chart = client.call("chart", json!({"variable": "t", "type": "line", "x": "x", "y": "a"}));
    assert!(chart.to_string().contains("image/png"), "{chart}");
}

#[test]
fn what_is_cut_says_so_and_where_all_of_it_is() {
    let bench = Bench::with([]);
    let rows: Vec<String> = (0..5_000).map(|at| format!("{at},text {at}\n")).collect();
    let rows = rows.concat();
    fs::write(bench.path("long.csv"), format!("n,t\n{rows}")).unwrap();
    let mut client = Client::new(&bench, &["-f", "long.csv"]);
    let result = client.call("query", json!({"sql": "select * from long order by n"}));
    let (found, text) = (&result["structuredContent"], text_of(&result));
    assert_eq!((&found["truncated"], &found["rows_total"]), (&json!(true), &json!(5_000)));
    let n_shown = found["rows"].as_array().unwrap().len();
    assert!((100..=200).contains(&n_shown), "{n_shown}");
    assert!(text.contains(&format!("The first {n_shown} of 5000 rows")), "{text}");
    assert!(
        text.contains("All 5000 rows: read the resource csv-agent://turns/1/tables/result.csv")
    );
    assert!(result.to_string().len() < 45_000);
    let link =
        result["content"].as_array().unwrap().iter().find(|it| it["type"] == "resource_link");
    let whole = client.request("resources/read", json!({"uri": link.unwrap()["uri"]}));
    let csv = whole["result"]["contents"][0]["text"].as_str().unwrap();
    assert_eq!(csv, format!("n,t\n{rows}"));
    let parquet = found["whole"]["parquet"].as_str().unwrap();
    assert!(fs::metadata(parquet).unwrap().len() > 0);
    let long = client.call("python", json!({"code": "print('x' * 100_000)"}));
    assert_eq!(long["structuredContent"]["truncated"], true, "{long}");
    assert!(long.to_string().len() < 50_000, "{}", long.to_string().len());
    assert!(text_of(&long).contains("bytes cut; the full text is data["), "{long}");
    let head = client.found("python", json!({"code": "load('long')"}));
    assert!(head["notes"][0].as_str().unwrap().contains("call `table` with its name"), "{head}");
    let again = client.call("rerun", json!({"turn": 1}));
    assert_eq!(again["structuredContent"]["truncated"], true, "{again}");
    let told = text_of(&again);
    assert!(told.contains("To get all of `result`, repeat the calls"), "{told}");
}

#[test]
fn wide_tables_long_names_and_long_words_stay_within_bounds() {
    let bench = Bench::with([]);
    let names: Vec<String> = (0..1_500).map(|at| format!("column_number_{at}")).collect();
    let cells: Vec<String> = (0..1_500).map(|at| at.to_string()).collect();
    fs::write(bench.path("wide.csv"), format!("{}\n{}\n", names.join(","), cells.join(",")))
        .unwrap();
    let mut client = Client::new(&bench, &["-f", "wide.csv"]);
    client.found("python", json!({"code": "w = load('wide')"}));
    let kept = client.call("table", json!({"variable": "w"}));
    assert!(kept.to_string().len() < 45_000, "{}", kept.to_string().len());
    let found = &kept["structuredContent"];
    let n_columns = found["columns"].as_array().unwrap().len();
    assert_eq!(found["rows"][0].as_array().unwrap().len(), n_columns, "{found}");
    assert_eq!((&found["truncated"], &found["columns_total"]), (&json!(true), &json!(1_500)));
    let size = format!("1 row, {n_columns} of 1500 columns:");
    assert!(100 < n_columns && text_of(&kept).contains(&size), "{kept}");
    let long = "n".repeat(100_000);
    let why = client.refused("table", json!({"variable": "w", "name": long}));
    assert!(why.contains("has 100000 characters; it may have at most 500"), "{why}");
    let chart = json!({"variable": "w", "type": "bar", "x": "column_number_0", "y": "column_number_1", "name": long});
    assert!(client.refused("chart", chart).contains("name of the chart has 100000 characters"));
    // No name is compared with it letter by letter, which would take minutes.
    let why = client.refused("query", json!({"sql": format!("select {long} from wide")}));
    assert!(why.contains("no column `nnn") && why.len() < 25_000, "{}", why.len());
    assert!(client.refused("describe", json!({"dataset": long})).contains("no dataset `nnn"));
    let asked = client.found("ask", json!({"question": format!("total column_number_1 {long}")}));
    assert!(asked["answer"].as_str().unwrap().contains("a word of 100000 characters"), "{asked}");
}

#[test]
fn a_report_that_would_be_too_long_names_the_turns_that_it_leaves_out() {
    let bench = Bench::with([]);
    let rows: Vec<String> = (0..2_000).map(|at| format!("{at},{}\n", "x".repeat(400))).collect();
    fs::write(bench.path("long.csv"), format!("n,t\n{}", rows.concat())).unwrap();
    let mut client = Client::new(&bench, &["-f", "long.csv"]);
    for _ in 0..3 {
        client.found("query", json!({"sql": "select n, t, t as u, t as v from long"}));
    }
    client.found("query", json!({"sql": "select count(*) as n from long"}));
    let report = client.request("resources/read", json!({"uri": "csv-agent://report"}));
    let text = report["result"]["contents"][0]["text"].as_str().unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    assert!(first.starts_with("*Left out: ") && first.contains(" (1"), "{first}");
    assert!(first.contains("csv-agent://turns/N has each of them"), "{first}");
    assert!(rest.contains("turn 4"));
}

#[test]
fn a_chart_is_a_picture_with_words_and_a_link() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    let chart =
        json!({"sql": BY_PRODUCT, "type": "bar", "x": "product", "y": "total", "title": "Totals"});
    let result = client.call("chart", chart);
    assert!(result.get("structuredContent").is_none(), "clients would drop the picture");
    assert!(text_of(&result).contains("Bar chart “Totals”"), "{result}");
    let content = result["content"].as_array().unwrap();
    let png = BASE64_STANDARD.decode(content[1]["data"].as_str().unwrap()).unwrap();
    assert_eq!((&png[1..4], &content[1]["mimeType"]), (&b"PNG"[..], &json!("image/png")));
    let read = client.request("resources/read", json!({"uri": content[2]["uri"]}));
    let blob = read["result"]["contents"][0]["blob"].as_str().unwrap();
    assert_eq!(BASE64_STANDARD.decode(blob).unwrap(), png);
    let egress = bench.run(["show", "last", "--egress", "--json"]).succeeds();
    let egress: Value = serde_json::from_str(egress.stdout()).unwrap();
    assert!(egress["egress"]["image_bytes"].as_u64().unwrap() > png.len() as u64, "{egress}");
    let counted = json!({"sql": "select revenue from sales", "type": "histogram", "x": "revenue", "y": "revenue",
        "options": {"references": [{"value": 1000}], "unit": "EUR"}});
    let counted = text_of(&client.call("chart", counted));
    assert!(counted.contains("Histogram: rows by revenue (EUR)"), "{counted}");
    let long = json!({"sql": BY_PRODUCT, "type": "bar", "x": "product", "y": "total", "title": "T".repeat(100_000)});
    let why = client.refused("chart", long);
    assert!(why.contains("the title has 100000 characters") && why.len() < 200, "{why}");
    let bars = json!({"sql": BY_PRODUCT, "type": "bar", "x": "product", "y": "total", "options": {"log_axis": "y"}});
    let why = client.refused("chart", bars);
    assert!(why.contains("use line or scatter"), "{why}");
    let why = client
        .refused("chart", json!({"sql": BY_PRODUCT, "type": "bar", "x": "product", "y": "nope"}));
    assert!(why.contains("`nope`") && why.contains("`total`"), "{why}");
}

#[test]
fn a_verdict_is_recorded_with_the_lines_of_its_rows() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    client.found("query", json!({"sql": "select count(*) + 4711 as n from sales"}));
    let finding = json!({"severity": "bad", "message": "4721 is wrong", "dataset": "sales",
        "column": "revenue", "rows": [0, 1]});
    let verdict = json!({"assessment": "bad", "text": "Do not rely on it.", "findings": [finding]});
    let found = client.found("verdict", verdict);
    assert_eq!(found["findings"][0]["source_lines"], json!([2, 3]), "{found}");
    // The number is that of an earlier call.
    assert!(found.get("notes").is_none(), "{found}");
    // A model that is asked later does not get the client's conversation.
    assert!(!bench.session().join("history.jsonl").exists());
    let shown = bench.run(["show", "last", "--json"]).succeeds();
    let shown: Value = serde_json::from_str(shown.stdout()).unwrap();
    assert_eq!(shown["assessment"], "bad");
    let rows: Vec<u64> = (0..21).map(|it| it % 9).collect();
    let finding = json!({"severity": "bad", "message": "x", "dataset": "sales", "rows": rows});
    let verdict = json!({"assessment": "bad", "text": "Bad.", "findings": [finding]});
    let why = client.refused("verdict", verdict);
    assert!(why.contains("names 21 rows, and the limit is 20"), "{why}");
}

#[test]
fn the_analyst_answers_or_says_what_it_does_not_understand() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    let found = client.found("ask", json!({"question": "total revenue per product"}));
    assert_eq!((&found["understood"], &found["rows_total"]), (&json!(true), &json!(3)), "{found}");
    let egress = bench.run(["show", "last", "--egress"]).succeeds();
    assert!(egress.stdout().starts_with("Turn 0001: 1 request to mcp client bench"), "{egress}");
    let found = client.found("ask", json!({"question": "tell me a joke"}));
    assert_eq!(found["understood"], false, "{found}");
    // The client's tools come after it as before.
    assert_eq!(client.found("query", json!({"sql": BY_PRODUCT}))["rows_total"], 3);
    assert_eq!(bench.n_requests(), 0);
}

#[test]
fn files_elsewhere_are_refused_through_links_too() {
    let bench = Bench::with(["sales.csv"]);
    fs::create_dir(bench.path("in")).unwrap();
    fs::rename(bench.path("sales.csv"), bench.path("secret.csv")).unwrap();
    fs::write(bench.path("in/own.csv"), "a\n1\n").unwrap();
    symlink(bench.path("secret.csv"), bench.path("in/link.csv")).unwrap();
    let mut client = Client::new(&bench, &["--allow", "in"]);
    for path in [
        "secret.csv", "in/link.csv", "in/../secret.csv", "*.csv", "in/l*.csv", "in", "/etc/passwd",
        "x=secret.csv",
    ] {
        let why = client.refused("ingest", json!({"paths": [path]}));
        assert!(why.contains("is not allowed") && why.contains("--allow DIR"), "{path}: {why}");
    }
    assert!(client.refused("ingest", json!({"paths": ["-"]})).contains("`-` is not a file"));
    let elsewhere = json!({"session": "/tmp/elsewhere"});
    assert!(client.refused("datasets", elsewhere).contains("is not allowed"));
    client.found("ingest", json!({"paths": ["in/own.csv"]}));
    let against = json!({"turn": 1, "against": {"own": "secret.csv"}});
    assert!(client.refused("rerun", against).contains("is not allowed"));
    // Code of the client has no files but the datasets.
    let path = bench.path("secret.csv");
    let read = json!({"code": format!("open({path:?}).read()")});
    let why = client.refused("python", read);
    assert!(why.contains("Error") && !why.contains("Coffee"), "{why}");
}

#[test]
fn values_that_are_kept_back_stay_here() {
    let bench = Bench::with([]);
    let rows: Vec<String> =
        (0..40).map(|at| format!("person{at}@mail.example,{},{at}\n", at % 2)).collect();
    let rows = rows.concat();
    fs::write(bench.path("people.csv"), format!("email,kind,age\n{rows}")).unwrap();
    let mut client = Client::new(&bench, &["-f", "people.csv", "--redact", "email"]);
    let mut said = String::new();
    for (tool, arguments) in [
        ("describe", json!({"dataset": "people"})),
        ("query", json!({"sql": "select * from people"})),
        ("python", json!({"code": "load('people').email.tolist()"})),
        ("find_values", json!({"value": "person1@mail.example"})),
    ] {
        said += &client.call(tool, arguments)["content"].to_string();
    }
    // The value that the client itself has named is in its own answer.
    let said = said.replace("\\\"value\\\":\\\"person1@mail.example\\\"", "");
    assert!(!said.contains("@mail.example"), "{said}");
    for uri in ["csv-agent://datasets/people/head", "csv-agent://turns/2"] {
        let read = client.request("resources/read", json!({"uri": uri})).to_string();
        assert!(!read.contains("@mail.example"), "{read}");
    }
    assert!(client.refused("rerun", json!({})).contains("keeps values back"));

    let mut client = Client::new(&bench, &["--no-rows"]);
    let all = client.call("query", json!({"sql": "select * from people"}));
    assert!(!all.to_string().contains("person7"), "{all}");
    let counts = client
        .call("query", json!({"sql": "select kind, count(*) as n from people group by kind"}));
    assert!(counts["structuredContent"].to_string().contains("20"), "{counts}");
    let chart =
        json!({"sql": "select email, age from people", "type": "bar", "x": "email", "y": "age"});
    let chart = client.call("chart", chart).to_string();
    assert!(!chart.contains("image/png") && !chart.contains("person7"), "{chart}");
    let table = client.call("python", json!({"code": "df = load('people')"}));
    assert_eq!(table["isError"], false);
    let table = client.call("table", json!({"variable": "df"})).to_string();
    assert!(!table.contains("person7") && !table.contains(".parquet"), "{table}");
    for uri in
        ["csv-agent://turns/1", "csv-agent://turns/2/tables/result.csv", "csv-agent://report"]
    {
        let read = client.request("resources/read", json!({"uri": uri})).to_string();
        assert!(!read.contains("@mail.example"), "{read}");
    }
    assert!(
        client.refused("ask", json!({"question": "oldest person"})).contains("keeps values back")
    );
}

#[test]
fn where_columns_are_kept_back_a_client_reads_no_files() {
    let bench = Bench::with([]);
    fs::write(bench.path("p.csv"), "id,email\n1,ZEBRA@x.org\n2,ZEBRA2@x.org\n").unwrap();
    let mut client = Client::new(&bench, &["--redact", "email"]);
    let tools = client.request("tools/list", json!({})).to_string();
    assert!(!tools.contains("\"ingest\""), "{tools}");
    let why = client.refused("ingest", json!({"paths": ["p.csv"], "delimiter": "|", "name": "q"}));
    assert!(why.contains("keeps columns back"), "{why}");
    let why = client.refused("datasets", json!({}));
    assert!(why.contains("there is no dataset yet") && why.contains("ingest FILE"), "{why}");
    bench.run(["ingest", "p.csv"]).succeeds();
    let found = client.found("query", json!({"sql": "select id, email from p"}));
    assert_eq!(found["rows_total"], 2);
    assert!(!found.to_string().contains("ZEBRA"), "{found}");
    let mut typo = Client::new(&bench, &["--redact", "emial"]);
    let why = typo.refused("datasets", json!({}));
    assert!(why.contains("no dataset has a column `emial`"), "{why}");
    // Without any dataset there is nothing to keep back.
    bench.run(["datasets", "--rm", "p", "--yes"]).succeeds();
    for client in [&mut client, &mut typo] {
        client.found("datasets", json!({}));
    }
}

#[test]
fn where_rows_are_kept_back_no_cell_is_quoted() {
    let bench = Bench::with([]);
    fs::write(bench.path("p.csv"), "id,email\n1,ZEBRA@x.org\n2,ZEBRA2@x.org\n").unwrap();
    fs::write(bench.path("odd.csv"), "n\n1\n2\n3\n4\n5\n6\nZEBRA\n").unwrap();
    let mut client = Client::new(&bench, &["--no-rows"]);
    let typed = json!({"paths": ["p.csv"], "types": {"email": "int"}});
    let why = client.refused("ingest", typed);
    assert!(why.contains("column `email`") && why.contains("kept back"), "{why}");
    assert!(!why.contains("ZEBRA"), "{why}");
    assert!(client.refused("ingest", json!({"paths": ["none.csv"]})).contains("none.csv"));
    let why = client.refused("ingest", json!({"paths": ["p.csv"], "types": {"id": "blob"}}));
    assert!(why.contains("for `types`: `blob` is not a type"), "{why}");
    fs::write(bench.path("one.csv"), "a\n1\n").unwrap();
    client.found("ingest", json!({"paths": ["one.csv"], "name": "taken"}));
    let why = client.refused("ingest", json!({"paths": ["p.csv"], "name": "taken"}));
    assert!(why.contains("`one.csv`") && why.contains("if_exists: replace"), "{why}");
    let rows: Vec<String> = (0..20).map(|at| format!("{at},ZEBRA{at}\n")).collect();
    let text = format!("of ZEBRA\nby ZEBRA\n\nid,email\n{}", rows.concat());
    fs::write(bench.path("noted.csv"), text).unwrap();
    let read = client.call("ingest", json!({"paths": ["noted.csv"]})).to_string();
    assert!(!read.contains("ZEBRA") && read.contains("preamble"), "{read}");
    let read = client.call("ingest", json!({"paths": ["odd.csv"]})).to_string();
    assert!(!read.contains("ZEBRA") && read.contains("row_count"), "{read}");
    let described = client.call("describe", json!({"dataset": "odd"})).to_string();
    assert!(!described.contains("ZEBRA"), "{described}");
    let schema =
        client.request("resources/read", json!({"uri": "csv-agent://datasets/odd/schema"}));
    assert!(!schema.to_string().contains("ZEBRA"), "{schema}");
}

#[test]
fn a_pattern_needs_no_directory() {
    let bench = Bench::with(["sales.csv"]);
    fs::create_dir(bench.path("in")).unwrap();
    fs::write(bench.path("in/own.csv"), "a\n1\n").unwrap();
    let mut client = Client::new(&bench, &[]);
    client.found("ingest", json!({"paths": ["*.csv"]}));
    client.found("ingest", json!({"paths": ["**/*.csv"]}));
    let listed = client.found("datasets", json!({}))["found"].to_string();
    assert!(listed.contains("\"sales\"") && listed.contains("\"own\""), "{listed}");
    let why = client.refused("ingest", json!({"paths": ["["]}));
    assert!(why.contains("not a valid pattern"), "{why}");
    client.found("ingest", json!({"paths": ["x=in/own.csv"]}));
    assert_eq!(client.found("query", json!({"sql": "select a from x"}))["rows_total"], 1);
}

#[test]
fn pipes_devices_and_sessions_are_not_data() {
    let bench = Bench::with(["sales.csv"]);
    mkfifo(&bench.path("pipe.csv"), Mode::S_IRWXU).unwrap();
    let mut client =
        Client::new(&bench, &["-S", "mine", "--allow", ".", "--allow", "/dev", "-f", "sales.csv"]);
    for path in ["pipe.csv", "x=pipe.csv", "/dev/zero"] {
        let why = client.refused("ingest", json!({"paths": [path]}));
        assert!(why.contains("is a pipe or a device"), "{path}: {why}");
    }
    client.found("query", json!({"sql": BY_PRODUCT}));
    for path in [
        "mine/datasets.json",
        "mine/turns/0001/events.jsonl",
        "mine/turns/*/*.jsonl",
        "mine/turns",
        "mine/turns/0001/tables",
        "mine",
    ] {
        let why = client.refused("ingest", json!({"paths": [path]}));
        assert!(why.contains("session"), "{path}: {why}");
    }
    // A table that a client was shown is data.
    let table = json!({"paths": ["mine/turns/0001/tables/result.parquet"], "name": "t"});
    client.found("ingest", table);
}

#[test]
fn a_server_that_only_reads_has_no_tool_that_changes_data() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv", "--read-only"]);
    let tools = client.request("tools/list", json!({}));
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 11);
    assert!(!names.contains(&"ingest"));
    assert!(client.refused("ingest", json!({"paths": ["sales.csv"]})).contains("--read-only"));
    let get = |client: &mut Client| {
        let arguments = json!({"name": "profile", "arguments": {"file": "sales"}});
        client.request("prompts/get", arguments)["result"]["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let prompt = get(&mut client);
    assert!(!prompt.contains("call `ingest`") && prompt.contains("1. Find it with"), "{prompt}");
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"}});
    let instructions = |flags: &[&str]| {
        let mut client = Client::silent(&bench, flags);
        client.request("initialize", hello.clone())["result"]["instructions"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(instructions(&["-f", "sales.csv"]).contains("not listed call `ingest`"));
    for flags in [&["--read-only"][..], &["--redact", "revenue"]] {
        let told = instructions(&[&["-f", "sales.csv"], flags].concat());
        assert!(told.contains("ask the user to run `csv-agent ingest FILE`"), "{told}");
    }
}

#[test]
fn the_owner_sees_what_the_code_of_a_client_shows() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    let mut check = |code: &str, expected: &str| {
        client.call("python", json!({"code": code}));
        let shown = bench.run(["show", "last", "--format", "reply"]).succeeds();
        assert_eq!(shown.stdout(), expected);
    };
    check("print('a'); 6 * 7", "```text\na\n42\n```\n");
    let frame = "load('sales').groupby('product', as_index=False)['revenue'].sum().head(1)";
    check(frame, "| product | revenue |\n|---|---:|\n| Cocoa | 917.85 |\n");
    check("x = 1", "Done.\n");
    client.call("python", json!({"code": "1 / 0"}));
    let shown = bench.run(["show", "last", "--format", "reply"]).succeeds();
    let told = shown.stdout();
    assert!(told.starts_with("The call failed.\n\n```text\n"), "{told}");
    assert!(told.contains("ZeroDivisionError: division by zero"), "{told}");
}

#[test]
fn resources_and_prompts_are_listed_and_read() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    client.found("query", json!({"sql": BY_PRODUCT}));
    let listed = client.request("resources/list", json!({}));
    let uris: Vec<&str> = listed["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["uri"].as_str().unwrap())
        .collect();
    assert_eq!(
        uris,
        [
            "csv-agent://datasets/sales/schema",
            "csv-agent://datasets/sales/head",
            "csv-agent://report",
            "csv-agent://turns/1"
        ]
    );
    for uri in uris {
        let read = client.request("resources/read", json!({"uri": uri}));
        assert!(
            read["result"]["contents"][0]["text"].as_str().is_some_and(|it| 20 < it.len()),
            "{read}"
        );
    }
    let head = client.request("resources/read", json!({"uri": "csv-agent://datasets/sales/head"}));
    let head = head["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(head.starts_with("date,product,revenue\n2024-01-15,Tea,1200.5\n"), "{head}");
    let missing = client.request("resources/read", json!({"uri": "csv-agent://turns/77"}));
    assert!(missing["error"]["message"].as_str().unwrap().contains("no turn 77"), "{missing}");
    assert_eq!(missing["error"]["data"]["uri"], "csv-agent://turns/77");
    let templates = client.request("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 5);
    let prompts = client.request("prompts/list", json!({}));
    let arguments = [
        ("profile", json!({"file": "sales.csv"})),
        ("check", json!({"file": "sales"})),
        ("compare", json!({"old": "a.csv", "new": "b.csv"})),
    ];
    assert_eq!(prompts["result"]["prompts"].as_array().unwrap().len(), arguments.len());
    for (name, arguments) in arguments {
        let prompt = client.request("prompts/get", json!({"name": name, "arguments": arguments}));
        let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(!text.contains('{') && text.contains("`describe`"), "{text}");
    }
    let lacking = client.request("prompts/get", json!({"name": "profile"}));
    assert!(lacking["error"]["message"].as_str().unwrap().contains("`file`"), "{lacking}");
}

#[test]
fn a_clumsy_client_is_answered_and_the_server_goes_on() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    client.raw(b"this is not JSON\n\n\xff\xfe\n[]\n{}\n");
    let odd = client.request("tools/call", json!({"name": 5}));
    assert!(odd["error"]["message"].as_str().unwrap().contains("`name`, a text"), "{odd}");
    let unknown = client.request("no/such/method", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let unknown = client.request("tools/call", json!({"name": "sql", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert!(unknown.to_string().contains("the tools are ingest, datasets"), "{unknown}");
    let why = client.refused("query", json!({"sql": BY_PRODUCT, "extra": 1}));
    assert!(why.contains("no argument `extra`"), "{why}");
    // Null stands for what is left out, as some clients send it.
    assert_eq!(
        client.found("query", json!({"sql": BY_PRODUCT, "session": null, "name": null}))["rows_total"],
        3
    );
    let long = format!("select '{}'", "x".repeat(3_000_000));
    assert!(client.refused("query", json!({"sql": long})).contains("bytes"));
    let id = client
        .start("tools/call", json!({"name": "query", "arguments": {"sql": "x".repeat(9_000_000)}}));
    let refused = client.answer(id);
    assert!(refused["error"]["message"].as_str().unwrap().contains("more than 8 MB"), "{refused}");
    assert_eq!(client.found("query", json!({"sql": BY_PRODUCT}))["rows_total"], 3);
    // Many at once are answered, each once.
    let n_many = if is_slow_run() { 10_000 } else { 300 };
    let ids: Vec<u64> = (0..n_many).map(|_| client.start("tools/list", json!({}))).collect();
    let mut answered: Vec<u64> = ids
        .iter()
        .map(|_| client.messages.recv_timeout(HANG).unwrap()["id"].as_u64().unwrap())
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert_eq!(client.ends(), Some(0));
}

#[test]
fn what_comes_before_the_handshake_does_not_end_the_server() {
    let bench = Bench::with([]);
    let mut client = Client::silent(&bench, &[]);
    client.raw(b"garbage\n");
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}}),
    );
    client.send(&json!({"jsonrpc": "2.0", "id": 90, "result": {}}));
    let early = client.request("tools/list", json!({}));
    assert!(early["error"].is_object(), "{early}");
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "late", "version": "1"}});
    assert!(client.request("initialize", params)["result"].is_object());
}

#[test]
fn a_cancelled_call_really_stops() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    client.found("python", json!({"code": "kept = 7"}));
    let id = client.start(
        "tools/call",
        json!({"name": "python", "arguments": {"code": "import time\ntime.sleep(600)"}}),
    );
    let turns = bench.session().join("turns/0002");
    until("the turn begins", || {
        fs::read_to_string(turns.join("events.jsonl")).is_ok_and(|it| it.contains("tool_call"))
    });
    let begun = Instant::now();
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    // The next call waits for the end of the first, and finds the variables of those before.
    assert_eq!(client.found("python", json!({"code": "kept + 1"}))["result"], "8");
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
    let events = fs::read_to_string(turns.join("events.jsonl")).unwrap();
    assert!(events.contains("\"cancelled\""), "{events}");
    bench.run(["doctor", "--session"]).succeeds();
}

#[test]
fn two_clients_on_one_session_wait_for_each_other() {
    let bench = Bench::with(["sales.csv"]);
    let mut one = Client::new(&bench, &["-f", "sales.csv"]);
    let mut other = Client::new(&bench, &[]);
    one.found("datasets", json!({}));
    for at in 0..3 {
        let arguments = |who: &str| json!({"name": "python", "arguments": {"code": format!("x = {at}; '{who}' * 2")}});
        let (first, second) =
            (one.start("tools/call", arguments("a")), other.start("tools/call", arguments("b")));
        assert_eq!(one.answer(first)["result"]["structuredContent"]["result"], "'aa'");
        assert_eq!(other.answer(second)["result"]["structuredContent"]["result"], "'bb'");
    }
    assert_eq!((one.ends(), other.ends()), (Some(0), Some(0)));
    let turns = fs::read_dir(bench.session().join("turns")).unwrap().count();
    assert_eq!(turns, 7);
    bench.run(["doctor", "--session"]).succeeds();
}

/// Starts code that does not end, in a server with variables. Returns the processes of the server.
fn never_ending(bench: &Bench, client: &mut Client) -> Vec<String> {
    client.found("python", json!({"code": "kept = 7"}));
    let code = json!({"code": "import time\ntime.sleep(600)"});
    client.start("tools/call", json!({"name": "python", "arguments": code}));
    let turn = bench.session().join("turns/0002/events.jsonl");
    until("the turn begins", || fs::read_to_string(&turn).is_ok_and(|it| it.contains("tool_call")));
    let threads = fs::read_dir(format!("/proc/{}/task", client.child.id())).unwrap();
    let children = threads.map(|it| fs::read_to_string(it.unwrap().path().join("children")));
    let children = children.map(Result::unwrap).collect::<Vec<_>>().concat();
    assert!(!children.is_empty());
    children.split_whitespace().map(str::to_owned).collect()
}

/// Returns whether one of these processes runs.
fn is_there(processes: &[String]) -> bool {
    let stats =
        processes.iter().filter_map(|it| fs::read_to_string(format!("/proc/{it}/stat")).ok());
    stats.into_iter().any(|it| !it.contains(") Z "))
}

#[test]
fn a_client_that_leaves_in_the_middle_of_a_call_leaves_nothing_behind() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    let processes = never_ending(&bench, &mut client);
    assert!(is_there(&processes));
    assert_eq!(client.ends(), Some(0));
    assert!(!is_there(&processes));
    let events = fs::read_to_string(bench.session().join("turns/0002/events.jsonl")).unwrap();
    assert!(events.contains("\"cancelled\""), "{events}");
    bench.run(["doctor", "--session"]).succeeds();
}

#[test]
fn a_server_that_is_killed_leaves_a_sound_session() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    let processes = never_ending(&bench, &mut client);
    client.child.kill().unwrap();
    drop(client);
    until("its code ends", || !is_there(&processes));
    let mut client = Client::new(&bench, &[]);
    assert_eq!(client.found("query", json!({"sql": BY_PRODUCT}))["rows_total"], 3);
    bench.run(["doctor", "--session"]).succeeds();
    signal(&client.child, Signal::SIGTERM);
    let mut code = None;
    until("the server ends", || {
        code = client.child.try_wait().unwrap().map(|it| it.code());
        code.is_some()
    });
    assert_eq!(code.flatten(), Some(143));
}

#[test]
fn a_session_of_its_own_is_an_argument() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &[]);
    client.found("ingest", json!({"paths": ["sales.csv"], "session": "mine"}));
    assert!(bench.path("mine/session.json").exists());
    assert!(!bench.session().exists());
    let found = client.found("query", json!({"sql": BY_PRODUCT, "session": "mine"}));
    let record = client.request("resources/read", json!({"uri": found["record"]}));
    assert!(
        record["result"]["contents"][0]["text"].as_str().unwrap().contains("Coffee"),
        "{record}"
    );
    assert!(
        client.refused("query", json!({"sql": BY_PRODUCT})).contains("there is no dataset yet")
    );
    let why = client.refused("datasets", json!({"session": "none"}));
    assert!(why.contains("there is no session in `none`; leave `session` out"), "{why}");
}

#[test]
fn what_a_note_says_can_be_done_by_a_client() {
    let bench = Bench::with([]);
    fs::write(bench.path("two.csv"), "name,n\na,1\nb,2\n\nregion,total,year\nn,1,20\ns,2,21\n")
        .unwrap();
    let mut client = Client::new(&bench, &[]);
    let read = client.call("ingest", json!({"paths": ["two.csv"]}));
    assert!(text_of(&read).contains("`flags: --tables all`"), "{read}");
    let all = json!({"paths": ["two.csv"], "flags": ["--tables all"], "if_exists": "replace"});
    client.found("ingest", all);
    let found = client.found("query", json!({"sql": "select sum(total) as n from two_2"}));
    assert_eq!(found["rows"], json!([[3]]));
    let why = client.refused("ingest", json!({"paths": ["two.csv"], "flags": ["--tables some"]}));
    assert!(why.contains("first, all"), "{why}");
    // Flags come as in a shell.
    for flags in
        [json!(["--dtype 'n=text'"]), json!(["--dtype", "n=text"]), json!(["--dtype=\"n=text\""])]
    {
        let typed = json!({"paths": ["two.csv"], "flags": flags, "if_exists": "replace"});
        let read = client.found("ingest", typed);
        assert_eq!(read["schema"]["columns"][1]["dtype"], "string", "{flags}: {read}");
    }
    fs::write(bench.path("na.csv"), "sex,age\nNA,1\nf,NA\nm,3\nf,4\n").unwrap();
    let read = text_of(&client.call("ingest", json!({"paths": ["na.csv"]})));
    assert!(read.contains("`nulls: NA` reads it as missing everywhere"), "{read}");
}

#[test]
fn a_doubtful_file_says_how_to_read_it() {
    let bench = Bench::with([]);
    fs::write(bench.path("d.csv"), "day,n\n01/02/2024,1\n03/04/2024,2\n").unwrap();
    let mut client = Client::new(&bench, &[]);
    let read = client.call("ingest", json!({"paths": ["d.csv"]})).to_string();
    assert!(read.contains("`date_order` decides") && !read.contains("--"), "{read}");
    let read = client
        .found("ingest", json!({"paths": ["d.csv"], "date_order": "dmy", "if_exists": "replace"}));
    assert_eq!(read["schema"]["columns"][0]["dtype"], "date", "{read}");
    let found = client.found("query", json!({"sql": "select max(day) as m from d"}));
    assert_eq!(found["rows"][0][0], "2024-04-03");
}

#[test]
fn names_paths_code_and_data_come_back_as_they_are() {
    let bench = Bench::with([]);
    let cell = "call --name and --if-exists with list_datasets or python_repl; mcp_result";
    fs::write(bench.path("k.csv"), format!("list_datasets,python_repl,tool\n1,2,{cell}\n"))
        .unwrap();
    let mut client = Client::new(&bench, &["-f", "k.csv"]);
    let found = client.found("query", json!({"sql": "select * from k"}));
    assert_eq!(found["rows"][0][2], cell);
    let described = client.call("describe", json!({"dataset": "k"}));
    let columns = described["structuredContent"]["schema"]["columns"].as_array().unwrap();
    assert_eq!(
        (&columns[0]["name"], &columns[1]["name"]),
        (&json!("list_datasets"), &json!("python_repl"))
    );
    assert!(text_of(&described).contains("list_datasets"), "{described}");
    let why = client.refused("query", json!({"sql": "select list_datasetz from k"}));
    assert!(why.contains("list_datasets"), "{why}");
    let code = json!({"code": "raise ValueError('call list_datasets or --name with python_repl')"});
    let why = client.refused("python", code);
    assert!(why.contains("call list_datasets or --name with python_repl"), "{why}");
    let why = client.refused("ingest", json!({"paths": ["nope--types list_datasets.csv"]}));
    assert!(why.contains("nope--types list_datasets.csv"), "{why}");
    let why = client.refused("ingest", json!({"paths": ["k.csv"], "name": "2 x"}));
    assert_eq!(why, "`2 x` is not a valid name of a dataset; try `name: 2_x`");
    // A hint of our own names the client's tool.
    let why = client.refused("find_values", json!({"value": "1", "dataset": "x*"}));
    assert!(why.ends_with("call `datasets`"), "{why}");
}

#[test]
fn a_cut_cell_is_no_whole_result() {
    let bench = Bench::with([]);
    fs::write(bench.path("t.csv"), format!("a,b\n1,{}\n", "x".repeat(5_000))).unwrap();
    let mut client = Client::new(&bench, &["-f", "t.csv"]);
    let result = client.call("query", json!({"sql": "select * from t"}));
    let (found, text) = (&result["structuredContent"], text_of(&result));
    assert_eq!((&found["truncated"], &found["rows_total"]), (&json!(true), &json!(1)), "{found}");
    assert!(text.contains("Cells that end in `…` are cut") && text.contains("Parquet"), "{text}");
    assert!(text.contains("Recorded as turn 1: csv-agent://turns/1"), "{text}");
    // The dataset has the name that a table is read by.
    let whole = client.request("resources/read", json!({"uri": found["whole"]["uri"]}));
    let csv = whole["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(csv.contains(&"x".repeat(5_000)));
    let described = client.found("describe", json!({"dataset": "t"}));
    assert_eq!(described["truncated"], true, "{described}");
    let short = client.found("query", json!({"sql": "select a, 'etc …' as b from t"}));
    assert_eq!(short["truncated"], false, "{short}");
    let shown = client.found("python", json!({"code": "load('t')"}));
    assert_eq!(shown["truncated"], true, "{shown}");
    client.found("python", json!({"code": "df = load('t')"}));
    let kept = client.found("table", json!({"variable": "df"}));
    assert_eq!((&kept["truncated"], &kept["rows_total"]), (&json!(true), &json!(1)), "{kept}");
}

#[test]
fn what_is_too_large_for_a_resource_is_not_offered_as_one() {
    let bench = Bench::with([]);
    let rows: Vec<String> = (0..300_000).map(|at| format!("{at},text number {at}\n")).collect();
    fs::write(bench.path("long.csv"), format!("n,t\n{}", rows.concat())).unwrap();
    let mut client = Client::new(&bench, &["-f", "long.csv"]);
    let result = client.call("query", json!({"sql": "select * from long"}));
    let whole = &result["structuredContent"]["whole"];
    assert!(whole["uri"].is_null() && whole["bytes"].is_u64(), "{whole}");
    assert!(text_of(&result).contains("too large for a resource"));
    assert!(fs::metadata(whole["parquet"].as_str().unwrap()).is_ok());
    assert!(!result["content"].to_string().contains("resource_link"));
}

#[test]
fn findings_are_about_what_exists_and_come_back_within_bounds() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    let verdict = |finding: Value| json!({"assessment": "bad", "text": "x", "findings": [finding]});
    let finding = |dataset: &str, column: &str, row: u64| json!({"severity": "bad", "message": "m", "dataset": dataset, "column": column, "rows": [row]});
    let why = client.refused("verdict", verdict(finding("slaes", "revenue", 0)));
    assert!(why.contains("did you mean `sales`"), "{why}");
    let why = client.refused("verdict", verdict(finding("sales", "price", 0)));
    assert!(why.contains("`sales` has `date`, `product`, `revenue`"), "{why}");
    let why = client.refused("verdict", verdict(finding("sales", "revenue", 10)));
    assert!(why.contains("has the rows 0 to 9"), "{why}");
    let shown = bench.run(["show", "last", "--json"]).succeeds();
    assert!(!shown.stdout().contains("\"assessment\":\"bad\""), "{}", shown.stdout());
    let long = json!({"severity": "bad", "message": "m".repeat(900)});
    let many = json!({"assessment": "bad", "text": "x", "findings": vec![long; 200]});
    let result = client.call("verdict", many);
    assert!(result.to_string().len() < 45_000, "{}", result.to_string().len());
    assert_eq!(result["structuredContent"]["truncated"], true);
    assert!(text_of(&result).contains("of 200 findings are recorded and not repeated"));
}

#[test]
fn a_program_is_exported_whole_or_not_at_all() {
    let bench = Bench::with(["sales.csv"]);
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    client.found("python", json!({"code": format!("x = '{}'", "y".repeat(60_000))}));
    let result = client.call("export", json!({"form": "py"}));
    assert!(result.to_string().len() < 45_000, "{}", result.to_string().len());
    let found = &result["structuredContent"];
    assert_eq!((&found["text"], &found["truncated"]), (&json!(""), &json!(true)), "{found}");
    assert!(text_of(&result).contains("`csv-agent export py last -o FILE`"), "{result}");
}

#[test]
fn a_search_that_leaves_out_datasets_says_so() {
    let bench = Bench::with([]);
    fs::create_dir(bench.path("many")).unwrap();
    for at in 0..55 {
        fs::write(bench.path(&format!("many/d{at}.csv")), format!("a,b\n3,{at}\n")).unwrap();
    }
    let mut client = Client::new(&bench, &["-f", "many"]);
    let found = client.found("find_values", json!({"value": "3"}));
    assert_eq!(found["truncated"], true, "{found}");
    let found = client.found("find_values", json!({"value": "3", "dataset": "d1*"}));
    assert_eq!(found["truncated"], false, "{found}");
    let listed = client.request("resources/list", json!({})).to_string();
    assert!(listed.contains("the tool `datasets` names all"), "{listed}");
}

#[test]
fn a_user_who_can_be_asked_decides_how_dates_are_read() {
    let bench = Bench::with([]);
    fs::write(bench.path("d.csv"), "day,n\n01/02/2024,1\n03/04/2024,2\n").unwrap();
    let mut client = Client::silent(&bench, &[]);
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "bench", "version": "1"}});
    client.request("initialize", params);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let id =
        client.start("tools/call", json!({"name": "ingest", "arguments": {"paths": ["d.csv"]}}));
    let question = client.messages.recv_timeout(HANG).unwrap();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert!(question["params"]["message"].as_str().unwrap().contains("`day`"), "{question}");
    let said = json!({"action": "accept", "content": {"date_order": "dmy"}});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": said}));
    let read = client.answer(id);
    let column = &read["result"]["structuredContent"]["schema"]["columns"][0];
    assert_eq!(column["dtype"], "date", "{read}");

    // Without a handshake, the result asks, and the client calls again.
    fs::write(bench.path("e.csv"), "day,n\n01/02/2024,1\n03/04/2024,2\n").unwrap();
    let mut client = Client::silent(&bench, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    });
    let arguments = json!({"paths": ["e.csv"]});
    let mut call = json!({"_meta": meta, "name": "ingest", "arguments": arguments});
    let asked = client.request("tools/call", call.clone());
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    assert!(asked["result"]["inputRequests"]["reading"].is_object(), "{asked}");
    call["inputResponses"] = json!({"reading": {"action": "decline"}});
    let read = client.request("tools/call", call.clone());
    assert!(read["result"].to_string().contains("`date_order` decides"), "{read}");
    call["inputResponses"] =
        json!({"reading": {"action": "accept", "content": {"date_order": "mdy"}}});
    let read = client.request("tools/call", call);
    let column = &read["result"]["structuredContent"]["schema"]["columns"][0];
    assert_eq!(column["dtype"], "date", "{read}");
}

#[test]
fn a_file_of_the_start_that_is_missing_is_reported_at_once() {
    let bench = Bench::with([]);
    let run = bench.run(["mcp", "-f", "missing.csv"]).fails_with(5);
    assert!(run.stderr().contains("missing.csv"), "{}", run.stderr());
    assert_eq!(run.stdout(), "");
    bench.run(["mcp", "--allow", "missing"]).fails_with(5);
}

#[test]
fn a_column_to_keep_back_that_no_file_has_is_reported_at_once() {
    let bench = Bench::with(["sales.csv"]);
    let run = bench.run(["mcp", "-f", "sales.csv", "--redact", "revenu"]).fails_with(5);
    assert!(run.stderr().contains("no dataset has a column `revenu` to keep back"), "{run}");
}

#[test]
fn the_configuration_of_each_client_is_printed() {
    let bench = Bench::with([]);
    let printed = |client: &str| {
        let run = bench
            .run(["mcp", "--read-only", "--allow", "/data", "--print-config", client])
            .succeeds();
        run.stdout().to_owned()
    };
    let arguments = json!(["mcp", "--allow", "/data", "--read-only"]);
    for (client, key) in [
        ("claude", "mcpServers"),
        ("cursor", "mcpServers"),
        ("vscode", "servers"),
        ("gemini", "mcpServers"),
    ] {
        let configuration: Value = serde_json::from_str(&printed(client)).unwrap();
        let server = &configuration[key]["csv-agent"];
        assert_eq!(
            (&server["command"], &server["args"]),
            (&json!("csv-agent"), &arguments),
            "{client}"
        );
    }
    // The command that the note names has the same flags.
    let flags = ["--allow", "/a b", "--tool-timeout", "2h", "--lock-wait", "5s", "--no-config"];
    for (client, wait) in [("codex", "tool_timeout_sec = 7260"), ("gemini", "\"timeout\": 7260000")]
    {
        let verbose = ["mcp", "-v", "--print-config", client];
        let run = bench.run(verbose.iter().chain(&flags)).succeeds();
        assert!(run.stdout().contains(wait), "{}", run.stdout());
        assert!(run.stdout().contains("--lock-wait") && run.stdout().contains("--no-config"));
        let started =
            "csv-agent mcp --allow \"/a b\" --tool-timeout 7200s --lock-wait 5s --no-config`";
        assert!(run.stderr().contains(started), "{}", run.stderr());
    }
    let codex: toml::Value = toml::from_str(&printed("codex")).unwrap();
    assert_eq!(codex["mcp_servers"]["csv-agent"]["args"].as_array().unwrap().len(), 4);
    assert!(!bench.session().exists());
}

#[test]
fn without_python_sql_and_charts_of_it_work() {
    let bench = Bench::with(["sales.csv"])
        .variable("PATH", "/nonexistent")
        .variable("XDG_CACHE_HOME", "/nonexistent");
    let mut client = Client::new(&bench, &["-f", "sales.csv"]);
    for (tool, arguments) in
        [("python", json!({"code": "1"})), ("ask", json!({"question": "total revenue"}))]
    {
        assert!(client.refused(tool, arguments).contains("needs a Python"), "{tool}");
    }
    assert_eq!(client.found("query", json!({"sql": BY_PRODUCT}))["rows_total"], 3);
    let chart = json!({"sql": BY_PRODUCT, "type": "bar", "x": "product", "y": "total"});
    assert!(client.call("chart", chart).to_string().contains("image/png"));
}
