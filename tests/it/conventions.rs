//! How the command line behaves, as lines that a shell runs in a fresh directory.
//!
//! Each test is a line or a few of them; `ask NAME …` asks over `sales.csv` with the cassette of that name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use csv_agent_agent::schema::AnswerSchema;

use crate::bench::{Bench, Run, python, round};

const SETUP: &str = r#"
set -u
ASK=(csv-agent ask --ephemeral -f "$FX/sales.csv" --replay)
ask() { local c=$1; shift; "${ASK[@]}" "$FX/$c.cass.jsonl" "$@"; }
# Waits until the turn of the last job asks for its answer, or has ended: events are in this file.
asks() { until grep -qs model_request "$1" || ! kill -0 $! 2>/dev/null; do sleep 0.02; done; }
# Runs a command that writes its events to a file, and sends it a signal when it asks for its answer.
signalled() {
    local signal=$1 events=$2; shift 2
    set -m; "$@" & set +m
    asks "$events"; kill -"$signal" $!; wait $!
}
"#;

/// A fresh directory. `$FX` holds the cassettes and links to the files they were recorded over.
struct Shell {
    bench: Bench,
}

struct Output {
    stdout: String,
    stderr: String,
    code: i32,
}

impl Shell {
    fn new() -> Shell {
        Shell { bench: Bench::with([]) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.bench.path(name)
    }

    /// Runs a script to its end, however it ends, but never with a panic.
    #[track_caller]
    fn run(&self, script: &str) -> Output {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cassettes");
        let variables = [("FX", fixtures), ("D", self.bench.path("."))];
        let run: Run = self.bench.shell(&format!("{SETUP}{script}"), &variables);
        assert!(!run.stderr().contains("panicked at"), "{run}");
        let code = run.code().unwrap();
        Output { stdout: run.stdout().to_owned(), stderr: run.stderr().to_owned(), code }
    }

    /// Runs a script that must end well.
    #[track_caller]
    fn ok(&self, script: &str) -> Output {
        self.ends_with(0, script)
    }

    #[track_caller]
    fn ends_with(&self, code: i32, script: &str) -> Output {
        let output = self.run(script);
        let Output { stdout, stderr, .. } = &output;
        assert_eq!(output.code, code, "{script}\nstdout: {stdout}\nstderr: {stderr}");
        output
    }
}

impl Output {
    #[track_caller]
    fn events(&self) -> Vec<Value> {
        self.stdout.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }

    #[track_caller]
    fn is_silent(&self) {
        assert_eq!(self.stdout, "");
    }
}

/// Runs a line in a shell of its own.
#[track_caller]
fn ok(script: &str) -> Output {
    Shell::new().ok(script)
}

#[track_caller]
fn ends_with(code: i32, script: &str) -> Output {
    Shell::new().ends_with(code, script)
}

fn widest_line(text: &str) -> usize {
    text.lines().map(|it| it.trim_end_matches('\r').chars().count()).max().unwrap_or(0)
}

#[test]
fn c01_help_is_on_stdout_with_examples_and_all_subcommands() {
    let help = ok("csv-agent --help");
    assert_eq!(help.stderr, "");
    assert!(help.stdout.lines().take(3).any(|it| it.starts_with("Usage:")), "{}", help.stdout);
    for name in [
        "ingest", "ask", "chat", "reset", "datasets", "show", "export", "rerun", "doctor",
        "decrypt",
    ] {
        assert!(help.stdout.contains(name), "{name}");
    }
    assert!(3 <= help.stdout.matches("csv-agent a").count());
}

#[test]
fn c02_help_fits_the_terminal() {
    assert!(widest_line(&ok("COLUMNS=300 csv-agent ask --help").stdout) <= 100);
    assert!(widest_line(&ok("COLUMNS=60 csv-agent ask --help").stdout) <= 60);
}

#[test]
fn c03_every_subcommand_has_help() {
    let names = "ingest ask chat reset datasets";
    let script = format!(
        "for c in {names}; do csv-agent $c --help >/dev/null || echo BAD; csv-agent help $c >/dev/null || \
         echo BAD; done"
    );
    ok(&script).is_silent();
}

#[test]
fn c04_the_version_is_one_line() {
    let long = ok("csv-agent --version").stdout;
    assert_eq!(long, ok("csv-agent -V").stdout);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let arguments = ["log", "-1", "--abbrev=9", "--format= (%h %cs)"];
    let git = || Command::new("git").current_dir(root).args(arguments).output().unwrap().stdout;
    // A package without a repository does not know its commit.
    let commit = root.join(".git").exists().then(|| String::from_utf8(git()).unwrap());
    let commit = commit.unwrap_or_default();
    assert_eq!(long, format!("csv-agent {}{}\n", env!("CARGO_PKG_VERSION"), commit.trim_end()));
}

#[test]
fn c05_to_c10_usage_errors_end_with_2_and_suggest() {
    let bare = ends_with(2, "csv-agent");
    bare.is_silent();
    assert!(bare.stderr.contains("Usage"), "{}", bare.stderr);
    for (script, hint) in [
        ("csv-agent ask ''", "question"),
        ("csv-agent ask '   '", "question"),
        ("csv-agent ask --frmat json q", "--format"),
        ("csv-agent dataset", "datasets"),
        ("csv-agent aks q", "ask"),
        ("csv-agent data", "datasets"),
        ("csv-agent in x", "--help"),
        ("csv-agent ask --format yml q", "jsonl"),
        ("csv-agent ask --max-rounds 0 q", "1"),
        ("csv-agent ask --timeout banana q", "30s"),
        ("csv-agent ask - </dev/null", "no question"),
        ("csv-agent completions tcsh", "fish"),
    ] {
        let shell = Shell::new();
        let found = shell.ends_with(2, script);
        found.is_silent();
        assert!(found.stderr.contains(hint), "{script}: {}", found.stderr);
        assert!(!shell.bench.session().exists(), "{script}");
    }
}

#[test]
fn c11_to_c13_options_end_repeat_and_stand_anywhere() {
    ok("ask hello -- --weird-question");
    let reply = ok("ask hello --format json q --format reply").stdout;
    assert_eq!(reply, "Hello. There are 10 rows of sales.\n");
    let after = ok("ask hello q --format json").json();
    let script = "csv-agent --format json ask --ephemeral -f \"$FX/sales.csv\" \
                  --replay \"$FX/hello.cass.jsonl\" q";
    let before = ok(script).json();
    assert_eq!(after["text"], before["text"]);
    assert_eq!(after["schema"], before["schema"]);
}

#[test]
fn c14_c77_codes_and_variables_are_listed_for_people_and_for_programs() {
    let shell = Shell::new();
    shell.ok("csv-agent help exit-codes && csv-agent help environment && csv-agent help events");
    let codes = shell.ok("csv-agent help exit-codes").stdout;
    let listed: Vec<u32> = codes
        .lines()
        .filter_map(|it| it.strip_prefix("  ")?.split_whitespace().next()?.parse().ok())
        .collect();
    for code in (0..=12).chain([130]) {
        assert!(listed.contains(&code), "{code}: {codes}");
    }
    // A unit test holds that these are all that is read.
    let told = shell.ok("csv-agent help environment").stdout;
    let surface = shell.ok("csv-agent help --json").json();
    let of = |list: &str, key: &str| {
        let list = surface[list].as_array().unwrap().iter();
        list.map(|it| it[key].clone()).collect::<Vec<_>>()
    };
    let names = of("environment", "name");
    assert!(names.contains(&json!("OPENAI_API_KEY")) && names.contains(&json!("DATA_ROOT")));
    for name in &names {
        let name = name.as_str().unwrap();
        assert!(told.lines().any(|it| it.split_whitespace().next() == Some(name)), "{name}");
    }
    let commands = of("commands", "name");
    for name in ["ingest", "ask", "chat", "reset", "datasets"] {
        assert!(commands.contains(&json!(name)), "{name}");
    }
    assert_eq!(of("exit_codes", "code"), listed.iter().map(|it| json!(it)).collect::<Vec<_>>());
    shell.ok(
        "csv-agent help --json | jq -e '([.commands[].name]|contains([\"ingest\",\"ask\",\"chat\",\"reset\",         \"datasets\"])) and (.exit_codes|length)>=13'",
    );
}

#[test]
fn c15_completions_are_valid() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(ok(&format!("csv-agent completions {shell}")).stdout.contains("csv-agent"));
    }
    ok("csv-agent completions bash | bash -n");
}

#[test]
fn c17_to_c19_stdin_is_read_only_when_asked_for() {
    let reply = "Hello. There are 10 rows of sales.\n";
    assert_eq!(ok("echo 'how many rows?' | ask hello --format reply -").stdout, reply);
    assert_eq!(ok("echo 'how many rows?' | ask hello --format reply").stdout, reply);
    // The writer stays open longer than any test may take.
    ok("exec 9< <(sleep 900); timeout 600 csv-agent ask --ephemeral -f \"$FX/sales.csv\" \
        --replay \"$FX/hello.cass.jsonl\" q <&9 && kill $! ");
    ok("ask hello q <&-");
    ok("csv-agent ask --ephemeral -f - --replay \"$FX/table.cass.jsonl\" q < \"$FX/sales.csv\"");
    ends_with(
        2,
        "csv-agent ask --ephemeral -f - --replay \"$FX/table.cass.jsonl\" - < \"$FX/sales.csv\"",
    );
}

#[test]
fn c21_to_c25_c78_events_keep_the_order_law_and_fit_their_schema() {
    const TYPES: [&str; 9] = [
        "chart", "chart_rejected", "data_frame", "error", "partial", "reply", "status",
        "tool_call", "tool_result",
    ];
    let schema = ok("csv-agent schema events").json();
    assert!(schema["$schema"].is_string() && schema["title"].is_string());
    let schema = AnswerSchema::compile(schema).unwrap();
    for cassette in
        ["table", "tables2", "chart", "chart_bad", "parallel", "py_error", "stream", "retry"]
    {
        let output = ok(&format!("ask {cassette} --format jsonl q 2>/dev/null"));
        assert!(!output.stdout.contains(['\u{1b}', '\r', '\u{feff}']), "{cassette}");
        let events = output.events();
        for (at, event) in events.iter().enumerate() {
            assert_eq!(event["seq"], at, "{cassette}");
            assert_eq!(schema.misfits(event), [], "{cassette}: {event}");
            assert_eq!(event["v"], 1);
            assert!(event["ts"].as_str().unwrap().ends_with('Z'));
            assert!(event["session_id"].is_string() && event["turn_id"].is_string());
            assert!(TYPES.contains(&event["type"].as_str().unwrap()));
        }
        assert_eq!(events[0]["phase"], "started");
        assert_eq!(events.last().unwrap()["type"], "reply", "{cassette}");
        let terminal = |it: &&Value| it["type"] == "reply" || it["fatal"] == true;
        assert_eq!(events.iter().filter(terminal).count(), 1);
        let ids = |kind: &str| {
            let of_kind = events.iter().filter(|it| it["type"] == kind);
            let mut ids: Vec<_> = of_kind.map(|it| it["call_id"].as_str().unwrap()).collect();
            ids.sort_unstable();
            ids.join(" ")
        };
        assert_eq!(ids("tool_call"), ids("tool_result"), "{cassette}");
    }
}

#[test]
fn c24_a_failing_call_does_not_stop_its_neighbours() {
    let events = ok("ask parallel --format jsonl q").events();
    let results = events.iter().filter(|it| it["type"] == "tool_result");
    let mut statuses: Vec<_> = results.map(|it| it["status"].as_str().unwrap()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, ["error", "ok", "ok"]);
}

#[test]
fn c26_json_is_one_document() {
    let found = ok("ask table --format json q").json();
    assert_eq!(found["schema"], "csv-agent.result/1");
    assert_eq!(found["exit_code"], 0);
    assert!(found["tables"][0]["rows"].is_array());
    assert_eq!(found["error"], Value::Null);
}

#[test]
fn c27_c28_csv_is_one_table_or_a_broken_contract() {
    let one = ok("ask table -q --format csv q");
    assert_eq!(one.stderr, "");
    assert_eq!(one.stdout, "product,revenue\nCoffee,8746.8\nTea,4625.75\nCocoa,917.85\n");
    let last = ok("ask tables2 --format csv q").stdout;
    let first = ok("ask tables2 --format csv --table first q").stdout;
    assert_ne!(last, first);
    let none = ends_with(9, "ask hello --format csv q");
    none.is_silent();
    assert!(none.stderr.contains("table"), "{}", none.stderr);
}

#[test]
fn c29_to_c33_streams_carry_what_they_should() {
    assert_eq!(ok("ask table --format reply q").stdout, "Coffee earned the most: 8746.8.\n");
    let quiet = ok("ask table -q q");
    assert_eq!(quiet.stderr, "");
    assert!(quiet.stdout.contains("| Coffee | 8746.8 |"), "{}", quiet.stdout);
    let piped = ok("ask table q");
    assert!(!format!("{}{}", piped.stdout, piped.stderr).contains('\u{1b}'));
    let shell = Shell::new();
    shell.ok("ask table -o r.json --format json q").is_silent();
    let written: Value = serde_json::from_slice(&fs::read(shell.path("r.json")).unwrap()).unwrap();
    assert_eq!(written["text"], "Coffee earned the most: 8746.8.");
    let both = shell.ok("ask table --events fd:3 q 3>ev.jsonl");
    assert!(both.stdout.contains('|'));
    let events = fs::read_to_string(shell.path("ev.jsonl")).unwrap();
    assert!(events.lines().last().unwrap().contains("\"reply\""));
}

#[test]
fn c34_to_c36_a_closed_pipe_and_a_full_disk_are_no_panic() {
    let shell = Shell::new();
    shell.ok("csv-agent ingest -q \"$FX/sales.csv\"");
    for line in ["csv-agent datasets", "csv-agent completions bash", "csv-agent schema events"] {
        let script = format!("{line} | true; exit ${{PIPESTATUS[0]}}");
        shell.ok(&script);
    }
    let events =
        shell.run("ask table --format jsonl q | head -1 >/dev/null; exit ${PIPESTATUS[0]}");
    assert!([0, 141].contains(&events.code), "{}: {}", events.code, events.stderr);
    shell.ok("csv-agent datasets");
    let full = shell.ends_with(1, "csv-agent datasets --json > /dev/full");
    assert!(full.stderr.to_lowercase().contains("no space"), "{}", full.stderr);
    assert_eq!(full.stderr.lines().count(), 1, "{}", full.stderr);
}

#[test]
fn c37_to_c39_an_interrupted_turn_is_closed_and_the_session_goes_on() {
    let shell = Shell::new();
    let script = "signalled INT told csv-agent ask --ephemeral -f \"$FX/sales.csv\" \
                  --replay \"$FX/slow.cass.jsonl\" --format jsonl q >told; code=$?; cat told; exit $code";
    let last = shell.ends_with(130, script).events().pop().unwrap();
    assert_eq!((&last["type"], &last["code"]), (&"error".into(), &"cancelled".into()));
    assert_eq!((&last["fatal"], &last["exit_code"]), (&true.into(), &130.into()));
    shell.ok("csv-agent ingest -q \"$FX/sales.csv\"");
    for (signal, code) in [("INT", 130), ("TERM", 143), ("KILL", 137)] {
        let script = format!(
            "signalled {signal} told csv-agent ask --replay \"$FX/slow.cass.jsonl\" --format jsonl q >told"
        );
        shell.ends_with(code, &script);
        assert_eq!(shell.ok("csv-agent datasets --json").json().as_array().unwrap().len(), 1);
    }
    let shown = shell.run("csv-agent show last");
    assert!(format!("{}{}", shown.stdout, shown.stderr).contains("interrupted"));
    // Processes that were killed may take a moment to go.
    let script = "csv-agent ask --replay \"$FX/hello.cass.jsonl\" q\n\
                  for i in $(seq 6000); do\n\
                  ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -qF \"$CSV_AGENT_SESSION_DIR\" || exit 0\n\
                  sleep 0.1; done; exit 1";
    shell.ok(script);
}

#[test]
fn c40_two_processes_wait_for_each_other() {
    let shell = Shell::new();
    shell.ok("ask hello q & a=$!; ask hello q & b=$!; wait $a && wait $b");
    shell.ok("csv-agent ingest -q \"$FX/sales.csv\"");
    let refused = shell.ends_with(
        3,
        "csv-agent ask --replay \"$FX/slow.cass.jsonl\" --format jsonl q >told & holder=$!; asks told\n\
         csv-agent ask --lock-wait 1s --replay \"$FX/hello.cass.jsonl\" q; code=$?\n\
         echo $holder; kill $holder; wait; exit $code",
    );
    assert!(refused.stderr.contains(refused.stdout.trim()), "{}", refused.stderr);
}

#[test]
fn c41_documents_do_not_interleave() {
    let shell = Shell::new();
    shell.ok("csv-agent ingest -q \"$FX/sales.csv\" \"$FX/semi.csv\" \"$FX/nan.csv\"");
    let script = "csv-agent datasets --names -0 | xargs -0 -I{} -P4 csv-agent ask --ephemeral -d {} \
                  --replay \"$FX/hello.cass.jsonl\" --format json q";
    let documents = shell.ok(script).stdout;
    let documents = serde_json::Deserializer::from_str(&documents).into_iter::<Value>();
    assert_eq!(documents.filter(|it| it.as_ref().unwrap()["exit_code"] == 0).count(), 3);
}

#[test]
fn c42_to_c45_each_failure_has_its_status() {
    let missing = ends_with(5, "csv-agent ingest nope.csv");
    missing.is_silent();
    assert!(missing.stderr.contains("nope.csv"));
    let shell = Shell::new();
    let noise = shell.ends_with(5, "csv-agent ingest \"$FX/noise.bin\"").stderr;
    let empty = shell.ends_with(5, "csv-agent ingest \"$FX/empty.csv\"").stderr;
    assert_ne!(noise.replace("noise.bin", ""), empty.replace("empty.csv", ""));
    assert!(ends_with(3, "csv-agent ask q").stderr.contains("csv-agent ingest"));
    let no_key = "csv-agent ask --ephemeral -f \"$FX/sales.csv\" q";
    assert!(ends_with(4, no_key).stderr.contains("OPENAI_API_KEY"));
    let last = ends_with(4, &format!("{no_key} --format jsonl")).events().pop().unwrap();
    assert_eq!((&last["type"], &last["code"]), (&"error".into(), &"auth_missing".into()));
    let refused = ends_with(
        6,
        "OPENAI_API_KEY=sk-x OPENAI_BASE_URL=http://127.0.0.1:1/v1 csv-agent ask --ephemeral \
         -f \"$FX/sales.csv\" --retries 1 q",
    );
    assert!(refused.stderr.contains("refused"), "{}", refused.stderr);
}

#[test]
fn c46_the_last_round_answers() {
    let last = ends_with(7, "ask loop --max-rounds 3 --format jsonl q").events().pop().unwrap();
    assert_eq!((&last["stop_reason"], &last["exit_code"]), (&"max_rounds".into(), &7.into()));
    assert_eq!(last["usage"]["requests"], 3);
    assert_ne!(last["text"], "");
}

#[test]
fn c47_to_c50_a_verdict_is_data_until_there_is_a_gate() {
    for (verdict, plain, on_bad, on_warning) in
        [("good", 0, 0, 0), ("warning", 0, 0, 10), ("bad", 0, 11, 11)]
    {
        ends_with(plain, &format!("ask {verdict} q -q"));
        ends_with(on_bad, &format!("ask {verdict} --fail-on bad q -q"));
        ends_with(on_warning, &format!("ask {verdict} --fail-on warning q -q"));
    }
    let reply = ends_with(11, "ask bad --fail-on bad --format jsonl q").events().pop().unwrap();
    assert_eq!(reply["assessment"], "bad");
    ends_with(9, "ask noverdict --fail-on bad q");
    ends_with(0, "ask py_error q");
}

#[test]
fn c51_an_answer_holds_to_its_schema_or_says_where_it_does_not() {
    let schema = r#"--schema '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}'"#;
    let found = ok(&format!("ask schema_ok {schema} --format json q")).json();
    assert!(found["output"]["n"].is_number(), "{found}");
    let wrong = ends_with(9, &format!("ask schema_bad {schema} --format json q"));
    assert!(wrong.stderr.contains("`$.n` has type number, not integer"), "{}", wrong.stderr);
    assert_eq!(wrong.json()["output"], Value::Null);
    let shell = Shell::new();
    let refused = shell.ends_with(2, "csv-agent ask -f \"$FX/sales.csv\" --schema '{' q");
    refused.is_silent();
    assert!(refused.stderr.contains("line 1 column 1"), "{}", refused.stderr);
    assert!(!shell.bench.session().exists());
}

#[test]
fn c52_reports_are_well_formed_and_name_lines_of_the_source() {
    let shell = Shell::new();
    let line = "ask bad --report junit=j.xml --report sarif=s.json --report github q 2>err";
    shell.ok(line);
    let junit = "import xml.etree.ElementTree as e; e.parse('j.xml')";
    shell.ok(&format!("python3 -c \"{junit}\" && jq -e '.version==\"2.1.0\"' s.json"));
    shell.ok("grep -Eq '^::(error|warning) file=[^,]+,line=[0-9]+' err");
}

#[test]
fn c53_c55_c57_a_terminal_gets_colour_width_and_progress() {
    let shell = Shell::new();
    shell.ok("csv-agent ingest -q \"$FX/sales.csv\"");
    let pty = |line: &str| shell.ok(&format!("TERM=xterm script -qec '{line}' /dev/null")).stdout;
    assert!(pty("csv-agent datasets").contains("\u{1b}["));
    for line in [
        "NO_COLOR=1 csv-agent datasets",
        "csv-agent datasets --color never",
        "TERM=dumb csv-agent datasets",
    ] {
        assert!(!pty(line).contains("\u{1b}["), "{line}");
    }
    let narrow = pty("stty cols 40; NO_COLOR=1 csv-agent datasets");
    assert!(widest_line(&narrow) <= 40, "{narrow}");
    let slow = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cassettes/slow.cass.jsonl");
    let ask = shell.bench.on_terminal(["ask", "--replay", slow.to_str().unwrap(), "q"], 80);
    ask.shows("asking").press("\x03").ends_with(130);
    let events = shell.bench.session().join("turns/0002/events.jsonl");
    let script =
        "signalled INT \"$EVENTS\" csv-agent ask --replay \"$FX/slow.cass.jsonl\" q 2>story";
    let plain = shell.ends_with(130, &format!("EVENTS='{}'; {script}", events.display()));
    assert_eq!(plain.stdout, "");
    assert!(!fs::read_to_string(shell.path("story")).unwrap().contains('\r'));
}

#[test]
fn c55_a_table_fits_every_terminal_and_says_what_it_hides() {
    let shell = Shell::new();
    let header = (0..30).map(|it| format!("column {it}")).collect::<Vec<_>>().join(",");
    let row = (0..30).map(|it| format!("東京 {it}")).collect::<Vec<_>>().join(",");
    fs::write(shell.path("wide.csv"), format!("{header}\n{row}\n{row}\n{row}\n")).unwrap();
    shell.ok("csv-agent ingest -q wide.csv $FX/../csv/evil.csv");
    for columns in [20, 40, 80, 200] {
        let line = format!("stty cols {columns}; NO_COLOR=1 csv-agent datasets wide --head 3");
        let shown = shell.ok(&format!("TERM=xterm script -qec '{line}' /dev/null")).stdout;
        let cells =
            |it: &str| it.chars().map(|it| if it < '\u{2e80}' { 1 } else { 2 }).sum::<u32>();
        let widest = shown.lines().map(|it| cells(it.trim_end_matches('\r'))).max().unwrap();
        assert!(widest <= columns, "{widest} of {columns}\n{shown}");
        let is_whole = shown.contains("東京 29") && shown.contains("東京 15");
        assert!(is_whole || shown.contains(" more columns:"), "{shown}");
    }
    for format in ["text", "csv", "tsv", "md"] {
        let line = format!("csv-agent datasets evil --head 9 --color never --format {format}");
        let shown = shell.ok(&format!("TERM=xterm script -qec '{line}' /dev/null")).stdout;
        assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown:?}");
    }
}

#[test]
fn c54_colour_can_be_forced() {
    assert!(ok("CLICOLOR_FORCE=1 ask table q 2>/dev/null").stdout.contains("\u{1b}["));
    assert!(
        !ok("CLICOLOR_FORCE=1 ask table q --color never 2>/dev/null").stdout.contains("\u{1b}[")
    );
}

#[test]
fn c56_text_of_a_model_or_a_cell_cannot_drive_the_terminal() {
    assert!(!ok("ask ansi q").stdout.contains('\u{1b}'));
    let shell = Shell::new();
    let script = "TERM=xterm script -qec 'csv-agent ask --ephemeral -f $FX/evil.csv \
                  --replay $FX/ansi.cass.jsonl q' /dev/null";
    let seen = shell.ok(script).stdout;
    for sequence in ["\u{1b}]", "\u{1b}[2J", "\u{7}"] {
        assert!(!seen.contains(sequence), "{seen:?}");
    }
}

#[test]
fn c59_c60_charts_are_files_with_a_sentence_or_a_reason() {
    let shell = Shell::new();
    let found = shell.ok("ask chart --format json q").json();
    assert_ne!(found["charts"][0]["alt"], "");
    let files = found["charts"][0]["files"].as_array().unwrap();
    let mut formats: Vec<_> = files.iter().map(|it| it["format"].as_str().unwrap()).collect();
    formats.sort_unstable();
    assert_eq!(formats, ["png", "svg"]);
    for file in files {
        let path = Path::new(file["abs_path"].as_str().unwrap());
        assert_eq!(fs::metadata(path).unwrap().len(), file["bytes"].as_u64().unwrap());
    }
    let hashes = |it: &Value| it["charts"][0]["files"].as_array().unwrap().clone();
    let again = ok("FONTCONFIG_FILE=/dev/null ask chart --format json q").json();
    for (one, other) in hashes(&found).iter().zip(hashes(&again)) {
        assert_eq!(one["sha256"], other["sha256"]);
    }
    let rejected = ok("ask chart_bad --format jsonl q").events();
    let rejected = rejected.iter().filter(|it| it["type"] == "chart_rejected");
    let codes: Vec<_> = rejected.map(|it| it["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["too_many_rows", "too_many_series"]);
}

#[test]
fn c58_a_chat_in_a_pipe_is_one_conversation() {
    let shell = Shell::new();
    shell.ok("csv-agent ingest -q \"$FX/sales.csv\"");
    let chat = "printf 'load it as df\\nrows in df?\\n' | csv-agent chat --format jsonl \
                --replay \"$FX/two_turn.cass.jsonl\"";
    let replies = |output: Output| {
        let events = output.events();
        let replies = events.iter().filter(|it| it["type"] == "reply");
        replies.map(|it| it["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(replies(shell.ok(chat)), ["It is in df.", "10 rows."]);
    // Afresh: without what was said before the chat, with what is said in it.
    assert_eq!(replies(shell.ok(&format!("{chat} --fresh"))), ["It is in df.", "10 rows."]);
}

#[test]
fn c61_variables_survive_between_processes() {
    let shell = Shell::new();
    shell.ok("csv-agent ingest -q \"$FX/sales.csv\"");
    shell.ok("csv-agent ask -q --replay \"$FX/two_turn.cass.jsonl\" 'load it as df' >/dev/null");
    let script =
        "csv-agent ask -q --replay \"$FX/two_turn.cass.jsonl\" --format jsonl 'rows in df?'";
    let events = shell.ok(script).events();
    let result = events.iter().find(|it| it["type"] == "tool_result").unwrap();
    assert_eq!(result["result"]["text"], "10", "{result}");
}

#[test]
fn c62_c63_c74_ingest_says_what_it_did() {
    let shell = Shell::new();
    assert_eq!(shell.ok("csv-agent datasets --json").json(), serde_json::json!([]));
    shell.ok("csv-agent ingest \"$FX/sales.csv\"");
    let again = shell.ok("csv-agent ingest \"$FX/sales.csv\"");
    assert!(format!("{}{}", again.stdout, again.stderr).contains("unchanged"));
    let taken = shell.ends_with(5, "csv-agent ingest --name sales \"$FX/semi.csv\"").stderr;
    assert!(taken.contains("--if-exists") && taken.contains("--name"), "{taken}");
    let listed = shell.ok("csv-agent datasets --json").json();
    for key in ["name", "row_count", "columns", "sha256"] {
        assert!(!listed[0][key].is_null(), "{key}");
    }
    assert_eq!(shell.ok("csv-agent datasets --names").stdout, "sales\n");
    let found = shell.ok("csv-agent ingest \"$FX/semi.csv\" \"$FX/latin1.csv\" --json").json();
    for dataset in found.as_array().unwrap() {
        assert!(1 < dataset["columns"].as_array().unwrap().len(), "{dataset}");
    }
}

#[test]
fn c64_c65_reset_keeps_datasets_and_files_are_private() {
    let shell = Shell::new();
    shell.ok("csv-agent ingest -q \"$FX/sales.csv\"");
    shell.ok("csv-agent ask -q --replay \"$FX/table.cass.jsonl\" q");
    let modes =
        "stat -c %a \"$CSV_AGENT_SESSION_DIR\"; find \"$CSV_AGENT_SESSION_DIR\" -type f -perm /077";
    assert_eq!(shell.ok(modes).stdout, "700\n");
    let gone = shell.ok("csv-agent reset --yes");
    assert!(gone.stdout.contains("turns"), "{}", gone.stdout);
    assert_eq!(shell.ok("csv-agent datasets --names").stdout, "sales\n");
    shell.ok("csv-agent reset --yes");
    shell.ends_with(2, "csv-agent reset --all </dev/null");
    assert_eq!(shell.ok("csv-agent datasets --names").stdout, "sales\n");
}

#[test]
fn c66_an_unknown_setting_is_told_with_file_line_and_what_was_meant() {
    let shell = Shell::new();
    let script = "export XDG_CONFIG_HOME=$D/cfg; mkdir -p \"$XDG_CONFIG_HOME/csv-agent\"; \
                  echo 'modle=\"x\"' > \"$XDG_CONFIG_HOME/csv-agent/config.toml\"; csv-agent datasets";
    let found = shell.ends_with(3, script);
    found.is_silent();
    assert!(found.stderr.contains("cfg/csv-agent/config.toml:1: unknown setting `modle`"));
    assert!(found.stderr.contains("did you mean `model`?"), "{}", found.stderr);
    shell.ok(&format!("{script} --no-config"));
}

#[test]
fn c67_config_show_tells_who_decides() {
    let shell = Shell::new();
    shell.ok("mkdir -p cfg/csv-agent; echo 'model=\"from-file\"' > cfg/csv-agent/config.toml");
    let model = |script: &str| {
        let found = shell.ok(&format!("export XDG_CONFIG_HOME=$D/cfg; {script}")).json();
        let text = |it: &str| found["model"][it].as_str().unwrap().to_owned();
        (text("value"), text("origin"))
    };
    let (value, origin) =
        model("CSV_AGENT_MODEL=from-env csv-agent config show --json -m from-flag");
    assert_eq!((value.as_str(), origin.as_str()), ("from-flag", "flag --model"));
    let (value, origin) = model("CSV_AGENT_MODEL=from-env csv-agent config show --json");
    assert_eq!(
        (value.as_str(), origin.as_str()),
        ("from-env", "environment variable CSV_AGENT_MODEL")
    );
    let (value, origin) = model("csv-agent config show --json");
    assert_eq!(value, "from-file");
    assert!(origin.starts_with("user file /") && origin.ends_with("config.toml:1"), "{origin}");
}

#[test]
fn c68_a_project_cannot_redirect_the_key() {
    let script = "printf 'base_url=\"http://evil.invalid\"\\n' > csv-agent.toml; \
                  csv-agent config show --json";
    let found = ok(script);
    assert_eq!(found.json()["base_url"]["origin"], "default");
    let warning = "csv-agent.toml:1: `base_url` is ignored:";
    assert!(found.stderr.contains(warning), "{}", found.stderr);
}

#[test]
fn c69_the_key_reaches_nothing_but_the_provider() {
    let shell = Shell::new();
    let output = shell.ok("OPENAI_API_KEY=sk-test-SECRET ask secret --format jsonl -vv q");
    assert!(!format!("{}{}", output.stdout, output.stderr).contains("SECRET"));
    shell.ends_with(1, "grep -rq SECRET \"$D\" \"$HOME\"");
    assert!(!ok("csv-agent ask --help").stdout.contains("--api-key"));
}

#[test]
fn c70_a_dry_run_shows_the_request_and_sends_nothing() {
    let found = ok("ask table --dry-run --format json q").json();
    assert!(found["request"]["model"].is_string());
    assert_eq!(found["request"]["tools"].as_array().unwrap().len(), 10);
    assert_eq!(found["egress"]["rows"], 0);
    let columns = ["sales.date", "sales.product", "sales.revenue"];
    assert_eq!(found["egress"]["columns"], serde_json::json!(columns));
    let shell = Shell::new();
    let text = shell.ok("csv-agent ask -f \"$FX/sales.csv\" --dry-run 'is sk-abcdefghijkl a key?'");
    assert!(text.stdout.starts_with("POST https://api.openai.com/v1/responses\n"));
    assert!(text.stdout.contains("authorization: Bearer ***\n"), "{}", text.stdout);
    assert!(!text.stdout.contains("abcdefghijkl"), "{}", text.stdout);
    assert!(!shell.bench.session().exists());
}

#[test]
fn c71_a_replay_is_strict() {
    let differs = ends_with(12, "ask hello --replay \"$FX/table.cass.jsonl\" 'another question'");
    assert!(differs.stderr.contains("items[0]"), "{}", differs.stderr);
}

#[test]
fn c72_a_turn_is_a_script_and_runs_again_without_a_model() {
    let shell = Shell::new();
    shell.ok(&format!(
        "{}; csv-agent ask --replay \"$FX/table.cass.jsonl\" -f \"$FX/sales.csv\" q && \
         csv-agent export py last > a.py && python3 a.py",
        python("python3")
    ));
    shell.ok("csv-agent rerun last --check");
    let line = "csv-agent rerun last --against sales=\"$FX/semi.csv\" --check --format reply";
    let found = shell.ends_with(12, line);
    assert!(found.stdout.contains("\n- "), "{}", found.stdout);
    assert!(!found.stdout.contains("Traceback") && !found.stderr.contains("Traceback"));
}

#[test]
fn c73_numbers_are_exact() {
    let script = "csv-agent ask --ephemeral -f \"$FX/big_ints.csv\" --replay \"$FX/table.cass.jsonl\" \
                  --format json q";
    let rows = ok(script).json()["tables"][0]["rows"].to_string();
    assert!(rows.contains("\"9007199254740993\""), "{rows}");
    let script = script.replace("big_ints", "nan");
    let rows = ok(&script).json()["tables"][0]["rows"].to_string();
    assert!(rows.contains("null") && !rows.contains("NaN"), "{rows}");
}

#[test]
fn c75_c76_usage_is_counted_and_usage_errors_are_json() {
    let usage = ok("ask table --format jsonl q").events().pop().unwrap()["usage"].clone();
    let number = |key: &str| usage[key].as_u64().unwrap();
    assert_eq!(number("total_tokens"), number("input_tokens") + number("output_tokens"));
    assert!(usage.as_object().unwrap().contains_key("cost_usd"));
    assert!(0.0 < usage["cost_usd"].as_f64().unwrap());
    let unknown = ends_with(2, "ask table --max-cost 1 -m new q");
    assert!(unknown.stderr.contains("[prices.\"new\"]"), "{}", unknown.stderr);
    let retried = ok("ask retry --format jsonl q").events();
    assert!(retried.iter().any(|it| it["phase"] == "retrying"));
    let error = ends_with(2, "csv-agent --format json ask --frmat x q");
    let error: Value = serde_json::from_str(&error.stderr).unwrap();
    assert_eq!(
        (&error["error"]["code"], &error["error"]["token"]),
        (&"usage".into(), &"--frmat".into())
    );
}

/// A session with orders, and what a script needs to ask the analyst inside the binary.
fn orders() -> Shell {
    let shell = Shell::new();
    let orders = "order_id,day,product,revenue,email\n1,2024-01-03,Tea,120.5,a@x.org\n\
                  2,2024-01-20,Coffee,80,\n3,2024-02-02,Tea,99.25,b@x.org\n";
    fs::write(shell.path("orders.csv"), orders).unwrap();
    fs::write(shell.path("data.csv"), orders).unwrap();
    fs::write(shell.path("new.csv"), orders.replace("99.25", "99.5")).unwrap();
    shell.ok("csv-agent ingest -q orders.csv");
    shell
}

#[test]
fn one_liners_with_tables_run_as_printed() {
    let shell = orders();
    let line = |script: &str| {
        let script = format!("export CSV_AGENT_MODEL=builtin; set -o pipefail; {script}");
        shell.ok(&script).stdout
    };
    line("echo \"which column has most nulls?\" | csv-agent ask -");
    let text = line(
        r#"csv-agent ask --format jsonl "top 5 products" | jq -r 'select(.type=="reply").text'"#,
    );
    assert!(text.contains("Tea"), "{text}");
    let rows = line(
        r#"csv-agent ask --format jsonl "monthly revenue" | jq -c 'select(.type=="data_frame")|.rows[]'"#,
    );
    assert_eq!(rows.lines().count(), 2, "{rows}");
    line(r#"csv-agent ask --format csv "revenue per month" > monthly.csv"#);
    let monthly = fs::read_to_string(shell.path("monthly.csv")).unwrap();
    assert_eq!(monthly.lines().nth(1), Some("2024-01,200.5"), "{monthly}");
    let text = line(
        "export CSV_AGENT_SESSION_DIR=$D/none; cat data.csv | csv-agent ask --ephemeral -f - \"how many rows \
         have no email?\" --format reply",
    );
    assert!(text.contains("**1**"), "{text}");
    let checked = line(
        "csv-agent datasets --names -0 | xargs -0 -I{} -P4 csv-agent ask --ephemeral -d {} --format json \
         \"duplicate keys?\" | jq -s 'map({d:.datasets,v:.assessment})'",
    );
    assert!(checked.contains("orders"), "{checked}");
    let path = line(
        r#"csv-agent ask "plot revenue by month" --json | jq -r '.charts[].files[]|select(.format=="svg").path'"#,
    );
    assert!(shell.bench.session().join(path.trim()).exists(), "{path}");
    let cost = "jq -s '[.[]|select(.type==\"reply\").usage.cost_usd]|add' \"$D\"/../session/turns/*/events.jsonl";
    assert_eq!(line(cost), "null\n");
    let turn = "export py 3 > check.py && csv-agent rerun 3 --against orders=new.csv --check";
    shell.ends_with(12, &format!("csv-agent {turn}"));
}

#[test]
fn one_liners_with_a_verdict_run_as_printed() {
    let shell = orders();
    let finding = json!({"severity": "bad", "message": "m", "dataset": "orders", "column": null,
        "rows": [1], "table": null});
    let answer = json!({"text": "Bad.", "assessment": "bad", "findings": [finding]}).to_string();
    let verdict = || [round().runs("c1", "1 + 1"), round().says(&answer)];
    shell.bench.answers(verdict().into_iter().chain(verdict()));
    shell.bench.answers([round().says("q"), round().says("q")]);
    let line = |script: &str| format!("{}; {script}", shell.bench.server_settings());
    shell.ends_with(
        11,
        &line(
            "set -euo pipefail; csv-agent ask -f orders.csv --ephemeral --fail-on bad --report \
             junit=dq.xml --report github \"Do order totals match line items?\"",
        ),
    );
    shell.ends_with(
        1,
        &line(
            "rc=0; csv-agent ask --fail-on warning \"Is anything off?\" || rc=$?; case $rc in 0) ;; \
             10|11) echo \"data problem\"; exit 1;; *) echo \"checker broke: $rc\"; exit 2;; esac",
        ),
    );
    shell.ok(&line(
        "csv-agent ask \"q\" --events fd:3 3>events.jsonl && grep -q reply events.jsonl",
    ));
    shell.ok(&line(
        "csv-agent ask --fresh --record q.cass.jsonl \"q\" && env -u OPENAI_API_KEY csv-agent ask --fresh \
         --replay q.cass.jsonl \"q\"",
    ));
}
