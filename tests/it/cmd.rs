//! The command line itself: what it says, what it refuses, and what is generated from it.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::bench::until_caught;

/// A command line in a directory of its own, with nothing in the environment but the session.
struct Shell {
    dir: tempfile::TempDir,
}

impl Shell {
    fn new() -> Shell {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("sales.csv"), "product,revenue\nAnvil,1\nRope,2\n").unwrap();
        Shell { dir }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_csv-agent"));
        command.args(args).current_dir(self.dir.path()).env_clear();
        command.env("HOME", self.dir.path()).env("CSV_AGENT_SESSION_DIR", "s");
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    #[track_caller]
    fn succeeds(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn fails(&self, args: &[&str], code: i32) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "{args:?}");
        stderr
    }
}

#[test]
fn help_and_errors_read_as_they_are_written_down() {
    trycmd::TestCases::new().case("tests/cmd/*.toml");
}

#[track_caller]
fn check_generated(kind: &str) {
    let shell = Shell::new();
    shell.succeeds(&["generate", kind, "new"]);
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join(kind);
    let names = |dir: &Path| {
        let entries = fs::read_dir(dir).unwrap().map(|it| it.unwrap().file_name());
        let mut names: Vec<_> = entries.collect();
        names.sort();
        names
    };
    assert_eq!(names(&kept), names(&shell.path("new")));
    for name in names(&kept) {
        let (old, new) = (fs::read(kept.join(&name)), fs::read(shell.path("new").join(&name)));
        let advice = format!("run `cargo run -- generate {kind} {kind}`");
        let name = name.display();
        assert!(old.unwrap() == new.unwrap(), "{name} is out of date; {advice}");
    }
}

#[test]
fn the_man_pages_are_those_of_this_version() {
    check_generated("man");
}

#[test]
fn the_completions_are_those_of_this_version() {
    check_generated("completions");
}

#[test]
fn the_whole_surface_is_there_for_programs() {
    let surface: Value = serde_json::from_str(&Shell::new().succeeds(&["help", "--json"])).unwrap();
    let commands = surface["commands"].as_array().unwrap().iter();
    let names: Vec<&str> = commands.map(|it| it["name"].as_str().unwrap()).collect();
    let expected = [
        "ingest", "ask", "chat", "query", "describe", "check", "diff", "datasets", "show",
        "export", "report", "rerun", "mcp", "reset", "setup", "doctor", "config", "decrypt",
        "completions", "schema", "help",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_width_bounds_the_help_and_100_columns_are_enough() {
    let widest = |columns: &str| {
        let output = Shell::new().command(&["ask", "--help"]).env("COLUMNS", columns).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        text.lines().map(|it| it.chars().count()).max().unwrap()
    };
    assert!(widest("300") <= 100);
    assert!(widest("60") < widest("300"));
}

#[test]
fn the_same_file_again_changes_nothing() {
    let shell = Shell::new();
    assert!(shell.succeeds(&["ingest", "sales.csv"]).contains("added"));
    assert!(shell.succeeds(&["ingest", "sales.csv"]).contains("unchanged"));
    assert!(shell.succeeds(&["ingest", "sales.csv", "--delimiter", ";"]).contains("replaced"));
}

#[test]
fn days_that_can_be_read_in_two_ways_are_told_until_the_user_decides() {
    let shell = Shell::new();
    fs::write(shell.path("days.csv"), "n,day\n1,01/02/2024\n2,03/04/2024\n").unwrap();
    let output = shell.run(&["ingest", "days.csv"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("column `day`") && stderr.contains("--date-order"), "{stderr}");
    let told = shell.succeeds(&["ingest", "days.csv", "--date-order", "dmy", "--json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told[0]["columns"][1]["dtype"], "date");
    assert_eq!(told[0]["columns"][1]["note"], "day, month, year: as specified");
    let head = shell.succeeds(&["datasets", "days", "--head", "1"]);
    assert_eq!(head, "n\tday\n1\t2024-02-01\n");
}

#[test]
fn numbers_that_can_be_read_in_two_ways_are_told_until_the_user_decides() {
    let shell = Shell::new();
    fs::write(shell.path("prices.csv"), "name,price\nx,\"1,234\"\ny,\"5,678\"\n").unwrap();
    let output = shell.run(&["ingest", "-v", "prices.csv"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("column `price`") && stderr.contains("--decimal"), "{stderr}");
    shell.succeeds(&["ingest", "prices.csv", "--decimal", ","]);
    let head = shell.succeeds(&["datasets", "prices", "--head", "1"]);
    assert_eq!(head, "name\tprice\nx\t1.234\n");
    shell.fails(&["ingest", "prices.csv", "--decimal", ";"], 2);
}

#[test]
fn a_schema_comes_with_the_guesses_of_its_file() {
    let shell = Shell::new();
    std::fs::write(shell.path("e.csv"), b"name,n\nJos\xe9,1\n").unwrap();
    let told = |args: &[&str]| String::from_utf8(shell.run(args).stderr).unwrap();
    let guess = told(&["ingest", "e.csv"]);
    assert!(guess.starts_with("warning: `e`: encoding windows-1252: a guess"), "{guess}");
    assert_eq!(told(&["datasets", "--schema", "e"]), guess);
}

#[test]
fn amounts_are_text_until_the_user_wants_numbers_and_the_schema_says_what_they_are() {
    let shell = Shell::new();
    let text =
        "Report 2024,,,\n\nItem,Price,Ok,\na,\"$1,200.50\",Yes,1\nb,($3.00),No,NA\nc,$7,No,2\n";
    fs::write(shell.path("m.csv"), text).unwrap();
    let told = String::from_utf8(shell.run(&["ingest", "-v", "m.csv"]).stderr).unwrap();
    let line = "note: `m`: kept as text: column `Price` (money in USD); `--dtype 'Price=money'` \
                reads such text as numbers\n";
    assert!(told.contains(line), "{told}");
    let unnamed = "m\tcolumn_4\tint64\t1\tno name in the file; 1 `NA` read as missing\n";
    let output = shell.run(&["datasets", "m", "--schema", "-v"]);
    let schema = String::from_utf8(output.stdout).unwrap();
    let expected = "dataset\tcolumn\tdtype\tnulls\tnote\nm\tItem\tstring\t0\t\n\
                    m\tPrice\tstring\t0\tmoney in USD\nm\tOk\tstring\t0\tyes or no\n";
    assert_eq!(schema, expected.to_owned() + unnamed);
    let left_out = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = left_out.lines().collect();
    assert_eq!(
        lines[0],
        "note: `m`: 3 rows, 4 columns, utf-8, `,`, header on line 3, 1 preamble line"
    );
    assert!(lines[1].starts_with(
        "warning: `m`: kept out of the table: 1 preamble line; the first on line 1; all are listed in"
    ));
    assert_eq!(lines[2..], ["note: `m`: the file says: Report 2024"]);
    shell.succeeds(&["ingest", "m.csv", "--dtype", "PRICE=money", "--dtype", "*=bool"]);
    let schema = shell.succeeds(&["datasets", "m", "--schema"]);
    let expected = "dataset\tcolumn\tdtype\tnulls\tnote\nm\tItem\tstring\t0\t\n\
                    m\tPrice\tfloat64\t0\tmoney in USD; `,` between thousands\n\
                    m\tOk\tbool\t0\twords for yes and no, as specified\n";
    assert_eq!(schema, expected.to_owned() + unnamed);
    let head = shell.succeeds(&["datasets", "m", "--head", "2"]);
    assert_eq!(head, "Item\tPrice\tOk\tcolumn_4\na\t1200.5\ttrue\t1\nb\t-3.0\tfalse\t\n");
    let stderr = shell.fails(&["ingest", "m.csv", "--dtype", "item=money"], 5);
    assert!(
        stderr.contains("cannot read column `Item` of `m.csv` as money: line 4 has `a`"),
        "{stderr}"
    );
    let stderr = shell.fails(&["ingest", "m.csv", "--dtype", "*=int"], 2);
    assert!(stderr.contains("`*` cannot be read as int64"), "{stderr}");
}

#[test]
fn further_header_rows_are_descriptions_and_the_ingest_says_so() {
    let shell = Shell::new();
    let text = "StartDate,Q1\nStart Date,How old are you?\n2024-01-01,33\n2024-01-02,44\n";
    fs::write(shell.path("survey.csv"), text).unwrap();
    let stderr = String::from_utf8(shell.run(&["ingest", "-v", "survey.csv"]).stderr).unwrap();
    let line = "header on line 1, further header rows kept as descriptions\n";
    assert!(stderr.contains(line), "{stderr}");
    let schema = shell.succeeds(&["datasets", "survey", "--schema"]);
    assert_eq!(
        schema,
        "dataset\tcolumn\tdtype\tnulls\tdescription\nsurvey\tStartDate\tdate\t0\tStart Date\n\
         survey\tQ1\tint64\t0\tHow old are you?\n"
    );
}

#[test]
fn other_data_under_a_name_is_refused_unless_told_otherwise() {
    let shell = Shell::new();
    shell.succeeds(&["ingest", "sales.csv"]);
    fs::create_dir(shell.path("other")).unwrap();
    fs::write(shell.path("other/sales.csv"), "a,b\n1,2\n").unwrap();
    let stderr = shell.fails(&["ingest", "--name", "sales", "other/sales.csv"], 5);
    assert!(stderr.contains("--if-exists") && stderr.contains("--name"), "{stderr}");
    let skip = ["ingest", "other/sales.csv", "--if-exists", "skip"];
    assert!(shell.succeeds(&skip).contains("skipped"));
    let replace = ["ingest", "other/sales.csv", "--if-exists", "replace"];
    assert!(shell.succeeds(&replace).contains("replaced"));
    assert_eq!(shell.succeeds(&["datasets", "sales", "--head", "5"]), "a\tb\n1\t2\n");
}

#[test]
fn a_file_that_fails_does_not_undo_the_others() {
    let shell = Shell::new();
    let output = shell.run(&["ingest", "nope.csv", "sales.csv"]);
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(shell.succeeds(&["datasets", "--names"]), "sales\n");
}

#[test]
fn a_session_is_not_made_for_nothing() {
    let shell = Shell::new();
    shell.fails(&["ingest", "nope.csv"], 5);
    shell.succeeds(&["ingest", "--dry-run", "sales.csv"]);
    assert!(!shell.path("s").exists());
}

#[test]
fn data_comes_from_stdin_when_told_so() {
    let shell = Shell::new();
    let mut child = shell.command(&["ingest", "-", "--json"]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a,b\n1,2\n").unwrap();
    let rows: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(rows[0]["name"], "stdin");
    assert_eq!(rows[0]["row_count"], 1);
}

#[test]
fn an_interrupted_ingest_leaves_nothing() {
    let shell = Shell::new();
    shell.succeeds(&["ingest", "sales.csv"]);
    let mut child = shell.command(&["ingest", "-"]);
    let mut child = child.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Held open: the process waits for data that does not come.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"a,b\n1,2\n").unwrap();
    until_caught(&child, Signal::SIGINT);
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(stdin);
    let files = fs::read_dir(shell.path("s/datasets")).unwrap().map(|it| it.unwrap().file_name());
    assert_eq!(files.filter(|it| it != "sales.lines").collect::<Vec<_>>(), ["sales.parquet"]);
    assert_eq!(shell.succeeds(&["datasets", "--names"]), "sales\n");
}

#[test]
fn a_reader_that_goes_away_is_no_failure_and_a_full_disk_is_one() {
    let shell = Shell::new();
    shell.succeeds(&["ingest", "sales.csv"]);
    for args in [&["datasets", "--json"][..], &["completions", "bash"], &["schema", "events"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = shell.command(args).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args:?}");
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = shell.command(args).stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[test]
fn the_nearest_session_upward_is_found() {
    let shell = Shell::new();
    let run = |args: &[&str], dir: &str| {
        let mut command = shell.command(args);
        let output =
            command.env_remove("CSV_AGENT_SESSION_DIR").current_dir(shell.path(dir)).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    fs::create_dir_all(shell.path("a/b")).unwrap();
    run(&["ingest", "sales.csv"], ".");
    assert_eq!(run(&["datasets", "--names"], "a/b"), "sales\n");
    assert!(shell.path(".csv-agent/session.json").exists());
}

#[test]
fn reset_keeps_the_datasets_unless_they_are_named() {
    let shell = Shell::new();
    shell.succeeds(&["ingest", "sales.csv"]);
    shell.succeeds(&["reset", "--yes"]);
    assert_eq!(shell.succeeds(&["datasets", "--names"]), "sales\n");
    shell.fails(&["reset", "--datasets"], 2);
    assert_eq!(shell.succeeds(&["datasets", "--names"]), "sales\n");
    assert!(shell.succeeds(&["reset", "--datasets", "--yes"]).contains("datasets.json\tremoved"));
    assert_eq!(shell.succeeds(&["datasets", "--names"]), "");
    shell.succeeds(&["reset", "--all", "--yes"]);
    assert!(!shell.path("s").exists());
}

#[test]
fn a_blank_question_is_one_json_object_for_programs() {
    let stderr = Shell::new().fails(&["ask", "--json", " "], 2);
    let error: Value = serde_json::from_str(&stderr).unwrap();
    assert_eq!(error["error"]["code"], "usage");
    assert_eq!(error["error"]["message"], "no question");
}

/// Writes a turn as it is found after a process has ended, well or not.
fn turn(shell: &Shell, id: &str, events: &[Value]) {
    let dir = shell.path("s/turns").join(id);
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("question.txt"), "how many?\n").unwrap();
    let mut lines = String::new();
    for (seq, event) in events.iter().enumerate() {
        let mut line = json!({"v": 1, "seq": seq, "ts": "2026-01-01T00:00:00.000Z",
            "session_id": "s", "turn_id": id});
        line.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        lines += &line.to_string();
        lines.push('\n');
    }
    fs::write(dir.join("events.jsonl"), lines).unwrap();
}

fn table() -> Value {
    json!({"type": "data_frame", "call_id": "c1", "df_name": "df", "logical_name": "counts",
        "columns": ["product", "n"], "dtypes": {"product": "object", "n": "int64"},
        "row_count": 1, "rows": [{"product": "Anvil", "n": 2}], "rows_emitted": 1,
        "truncated": false, "encoding": "json", "artifact": null})
}

fn reply(tables: &[&str]) -> Value {
    json!({"type": "reply", "text": "Two rows.", "blocks": [], "assessment": null, "findings": [],
        "stop_reason": "complete", "tables": tables, "charts": [], "rounds": 1, "tool_calls": 1,
        "usage": {"requests": 1, "input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1,
            "reasoning_tokens": 0, "total_tokens": 2, "session_total_tokens": 2, "cost_usd": null},
        "duration_ms": 5, "code_path": null, "exit_code": 0})
}

#[test]
fn a_turn_of_the_past_is_shown_in_any_format() {
    let shell = Shell::new();
    turn(&shell, "0001", &[table(), reply(&["counts"])]);
    turn(&shell, "0002", &[reply(&[])]);
    assert_eq!(shell.succeeds(&["show", "--format", "reply"]), "Two rows.\n");
    assert_eq!(shell.succeeds(&["show", "1", "--format", "csv"]), "product,n\nAnvil,2\n");
    let text = "| product | n |\n|---|---:|\n| Anvil | 2 |\n\nTwo rows.\n";
    assert_eq!(shell.succeeds(&["show", "0001"]), text);
    assert_eq!(shell.succeeds(&["show", "1", "-o", "answer.md"]), "");
    assert_eq!(fs::read_to_string(shell.path("answer.md")).unwrap(), text);
    let stderr = shell.fails(&["show", "last", "--format", "csv"], 9);
    assert!(stderr.contains("table"), "{stderr}");
    assert!(shell.fails(&["show", "3"], 5).contains("turns 1 to 2"));
}

#[test]
fn a_turn_that_was_killed_is_shown_as_interrupted() {
    let shell = Shell::new();
    turn(&shell, "0001", &[table()]);
    let output = shell.run(&["show", "last"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stderr).unwrap().contains("interrupted"));
    let document: Value = serde_json::from_str(&shell.succeeds(&["show", "--json"])).unwrap();
    assert_eq!(document["error"]["code"], "interrupted");
}

#[test]
fn what_was_encrypted_is_decrypted_with_the_key_and_never_without() {
    let shell = Shell::new();
    turn(&shell, "0001", &[table(), reply(&["counts"])]);
    let show = ["show", "--format", "jsonl"];
    let plain = shell.succeeds(&show);
    let key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    let mut command = shell.command(&show);
    let sealed = command.env("DATA_EVENT_ENCRYPT", "1").env("DATA_EVENT_KEY", key).output();
    let sealed = sealed.unwrap().stdout;
    assert!(!String::from_utf8_lossy(&sealed).contains("Anvil"));
    let decrypt = |key: &str| {
        let mut command = shell.command(&["decrypt"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.env("DATA_EVENT_KEY", key).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&sealed).unwrap();
        child.wait_with_output().unwrap()
    };
    assert_eq!(String::from_utf8(decrypt(key).stdout).unwrap(), plain);
    assert_eq!(decrypt("").status.code(), Some(3));
}
