//! Sessions that say what takes for ever or more memory than there is, or have lost what a turn did: each command
//! ends, within bounds, and says what is true.

use std::fs;

use serde_json::{Value, json};

use nix::sys::signal::Signal;

use crate::bench::{Bench, is_slow_run, signal, until};

#[test]
fn a_source_that_is_no_file_with_an_end_is_not_read_by_export() {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ingest", "sales.csv"]).succeeds();
    bench.run(["ask", "--model", "builtin", "how many rows are there"]).succeeds();
    let catalog = bench.session().join("datasets.json");
    let mut entries: Value = serde_json::from_slice(&fs::read(&catalog).unwrap()).unwrap();
    // Whoever reads the first, as root, waits for messages of the kernel.
    for (source, why) in [
        ("/proc/kmsg", "its source has changed since it was ingested"),
        ("/dev/zero", "`/dev/zero` is not a file"),
    ] {
        entries["sales"]["source"] = source.into();
        fs::write(&catalog, entries.to_string()).unwrap();
        let run = bench.run(["export", "py"]).succeeds();
        let is_said = run.stderr().contains(why) || run.stderr().contains("cannot be opened");
        assert!(is_said && run.stdout().contains("/datasets/sales.parquet"), "{run}");
    }
}

/// Returns a Parquet file of one column of whole numbers, all null: row groups of so many rows, which have one page
/// together that says how many values it has.
fn forged(n_values: i64, n_rows: i64, n_groups: u32) -> Vec<u8> {
    let unsigned = |mut number: u64| {
        let mut bytes = Vec::new();
        while 0x7f < number {
            bytes.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
            number >>= 7;
        }
        bytes.push(u8::try_from(number).unwrap());
        bytes
    };
    let number = |it: i64| unsigned(((it << 1) ^ (it >> 63)).cast_unsigned());
    let length = |bytes: &[u8]| number(bytes.len().try_into().unwrap());
    // The heads of fields, and of lists of one: how far each is from the one before, and its kind.
    let parts = |parts: &[(u8, Vec<u8>)]| {
        let bytes = parts.iter().flat_map(|(head, value)| std::iter::once(head).chain(value));
        [bytes.copied().collect::<Vec<u8>>(), vec![0]].concat()
    };
    let levels = [unsigned(n_rows.cast_unsigned() << 1), vec![0]].concat();
    let body = [&u32::try_from(levels.len()).unwrap().to_le_bytes()[..], &levels].concat();
    let size = length(&body);
    let values = [n_values, 0, 3, 3].map(|it| (0x15, number(it)));
    let page =
        [(0x15, number(0)), (0x15, size.clone()), (0x15, size.clone()), (0x2c, parts(&values))];
    let pages = [parts(&page), body].concat();
    let name = [1, b'a'].to_vec();
    let list = |bytes: &[&[u8]]| bytes.concat();
    let root = parts(&[(0x48, [1, b'r'].to_vec()), (0x15, number(1))]);
    let leaf = parts(&[(0x15, number(2)), (0x25, number(1)), (0x18, name.clone())]);
    let n_bytes = length(&pages);
    let column = parts(&[
        (0x15, number(2)),
        (0x19, list(&[&[0x25], &number(0), &number(3)])),
        (0x19, list(&[&[0x18], &name])),
        (0x15, number(0)),
        (0x16, number(n_rows)),
        (0x16, n_bytes.clone()),
        (0x16, n_bytes.clone()),
        (0x26, number(4)),
    ]);
    let chunk = parts(&[(0x26, number(4)), (0x1c, column)]);
    let group = parts(&[(0x19, list(&[&[0x1c], &chunk])), (0x16, n_bytes), (0x16, number(n_rows))]);
    let footer = parts(&[
        (0x15, number(2)),
        (0x19, list(&[&[0x2c], &root, &leaf])),
        (0x16, number(n_rows * i64::from(n_groups))),
        (0x19, list(&[&[0xfc], &unsigned(n_groups.into()), &group.repeat(n_groups as usize)])),
    ]);
    let n_footer = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [b"PAR1", &pages[..], &footer, &n_footer, b"PAR1"].concat()
}

/// Makes a file that of the dataset `t`. Whoever made the file made the catalog.
fn put(bench: &Bench, file: &[u8], n_rows: i64) {
    let catalog = bench.session().join("datasets.json");
    let mut entries: Value = serde_json::from_slice(&fs::read(&catalog).unwrap()).unwrap();
    entries["t"]["row_count"] = n_rows.into();
    entries["t"].as_object_mut().unwrap().remove("checksums");
    entries["t"]["columns"] = json!([{"name": "a", "dtype": "int64", "nulls": n_rows}]);
    fs::write(&catalog, entries.to_string()).unwrap();
    fs::write(bench.session().join("datasets/t.parquet"), file).unwrap();
}

#[test]
fn a_signal_ends_a_copy_of_more_rows_than_anybody_waits_for() {
    let bench = Bench::with([]);
    fs::write(bench.path("t.csv"), "a\n1\n2\n").unwrap();
    bench.run(["ingest", "t.csv"]).succeeds();
    let (n_rows, n_groups) = (64 << 20, 10_000);
    put(&bench, &forged(n_rows, n_rows, n_groups), n_rows * i64::from(n_groups));
    let question = "how many rows are there";
    let command = ["ask", "--model", "builtin", "--redact", "a", question];
    let mut child = bench.command(command).spawn().unwrap();
    let copies = bench.session().join("masked");
    let is_begun = || fs::read_dir(&copies).is_ok_and(|mut it| it.next().is_some());
    until("values are kept back", is_begun);
    signal(&child, Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(fs::read_dir(&copies).unwrap().count(), 0);
}

#[test]
fn a_page_is_decoded_only_when_it_has_as_many_values_as_there_are_rows() {
    let bench = Bench::with([]);
    fs::write(bench.path("t.csv"), "a\n1\n2\n").unwrap();
    bench.run(["ingest", "t.csv"]).succeeds();
    let most = i64::from(i32::MAX);
    for (n_values, n_rows, is_read) in
        [(2, 2, true), (-1, 2, false), (most, 2, false), (most, most, false), (2, -1, false)]
    {
        put(&bench, &forged(n_values, n_rows, 1), n_rows.max(0));
        for command in [
            &["datasets", "t", "--head", "5"][..],
            &["ask", "--model", "builtin", "--fresh", "--redact", "a", "how many rows are there"],
        ] {
            let run = bench.run(command);
            let why = format!("{n_values} values, {n_rows} rows: {} MB: {run}", run.peak_mb());
            assert_eq!(run.code() == Some(3), !is_read, "{why}");
            assert!(run.peak_mb() < 300 && !run.stderr().contains("panicked"), "{why}");
            assert!(is_read || run.stderr().contains("doctor --session --repair"), "{why}");
        }
    }
}

/// Returns the events of a turn, one a line.
fn events(bench: &Bench, turn: &str) -> Vec<Value> {
    let text = fs::read_to_string(bench.session().join(format!("turns/{turn}/events.jsonl")));
    text.unwrap().lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

/// Writes the events of a turn.
fn write_events(bench: &Bench, turn: &str, events: &[Value]) {
    let dir = bench.session().join(format!("turns/{turn}"));
    fs::create_dir_all(&dir).unwrap();
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    fs::write(dir.join("events.jsonl"), lines.join("\n") + "\n").unwrap();
}

/// The slow run has an answer of 59 MB.
#[test]
fn of_a_very_long_answer_the_beginning_is_laid_out_and_json_has_all_of_it() {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ask", "-f", "sales.csv", "--model", "builtin", "how many rows are there"]);
    let unit = "[![a](http://e/?q=1)](x) *a_b* `c` | ";
    let text = unit.repeat(if is_slow_run() { 800_000 } else { 200_000 });
    let mut events = events(&bench, "0001");
    // Longer than any that is taken.
    events[0]["question"] = "q".repeat(5 << 20).into();
    let reply = events.last_mut().unwrap();
    reply["text"] = text.clone().into();
    reply["blocks"] = json!([{"type": "text", "content": text, "chart": null}]);
    write_events(&bench, "0001", &events);
    // The program itself takes some, more without optimisation.
    let own_mb = bench.run(["--version"]).succeeds().peak_mb();
    let left_out = "more bytes of the answer are left out here; ";
    for command in
        [&["show"][..], &["show", "--format", "md"], &["show", "--html", "-"], &["export", "md"]]
    {
        let run = bench.run(command).succeeds();
        assert!(run.peak_mb() < own_mb + 270, "{command:?}: {} MB", run.peak_mb());
        assert!(run.stdout().len() < 5 << 20, "{command:?}: {} bytes", run.stdout().len());
        let (_, whole) = run.stdout().split_once(left_out).expect("it says what is left out");
        assert!(whole[..200.min(whole.len())].contains("turns/0001/reply.md"), "{command:?}");
    }
    for (format, member) in [("json", "text"), ("jsonl", "text"), ("reply", "")] {
        let run = bench.run(["show", "--format", format]).succeeds();
        assert!(run.peak_mb() < own_mb + 270, "{format}: {} MB", run.peak_mb());
        let last = run.stdout().lines().last().unwrap();
        match member {
            "" => assert_eq!(last, text.trim_end()),
            _ => assert!(serde_json::from_str::<Value>(last).unwrap()[member] == text, "{format}"),
        }
    }
}

#[test]
fn of_thousands_of_turns_one_is_in_memory() {
    let bench = Bench::with(["sales.csv"]);
    let question = "total revenue by product, as a bar chart";
    bench.run(["ask", "-f", "sales.csv", "--model", "builtin", question]).succeeds();
    let mut events = events(&bench, "0001");
    // A larger answer of a call, so that fewer turns are as much.
    let result = events.iter_mut().find(|it| it["type"] == "tool_result").unwrap();
    result["result"]["more"] = json!(vec![json!({}); 20_000]);
    for turn in 2..=120 {
        write_events(&bench, &format!("{turn:04}"), &events);
    }
    let run = bench.run(["export", "md", "all"]).succeeds();
    let n_turns = run.stdout().matches(&format!("# {question}\n")).count();
    assert_eq!(n_turns, 120, "{} bytes", run.stdout().len());
    assert!(run.peak_mb() < 150, "{} MB", run.peak_mb());
    bench.run(["export", "py", "last"]).succeeds();
    bench.run(["rerun", "last"]).succeeds();
    for command in [&["export", "py"][..], &["show", "--html", "-"]] {
        let run = bench.run([command, &["all"]].concat()).fails_with(5);
        assert!(run.stderr().contains(" turns need more memory than the limit"), "{run}");
        assert!(!run.stderr().contains("doctor"), "{run}");
        let hint = run.stderr().split("such as `").nth(1).unwrap();
        let turn = hint.split('`').next().unwrap();
        bench.run([command, &[turn]].concat()).succeeds();
    }
}

#[test]
fn a_turn_whose_events_are_gone_is_not_said_to_have_run_no_code() {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ingest", "sales.csv"]).succeeds();
    for question in ["how many rows are there", "total revenue by product"] {
        bench.run(["ask", "--model", "builtin", question]).succeeds();
    }
    let path = bench.session().join("turns/0002/events.jsonl");
    for why in ["is empty", "is missing"] {
        match why {
            "is empty" => fs::write(&path, "").unwrap(),
            _ => fs::remove_file(&path).unwrap(),
        }
        for command in [
            "export py 2", "export ipynb last", "export md all", "rerun 2", "show 2",
            "show --html -",
        ] {
            let run = bench.run(command.split(' ')).fails_with(3);
            let told = format!("turns/0002/events.jsonl` {why}\n");
            assert!(run.stderr().contains(&told), "{command}: {run}");
            assert!(run.stderr().contains("doctor --session --repair"), "{command}: {run}");
        }
        let found = bench.run(["doctor", "--session"]).fails_with(3);
        assert!(found.stdout().contains(&format!("its `events.jsonl` {why}")), "{found}");
    }
    bench.run(["export", "py", "1"]).succeeds();
    let mended = bench.run(["doctor", "--session", "--repair"]).succeeds();
    assert!(mended.stdout().contains("kept as `"), "{mended}");
    bench.run(["doctor", "--session"]).succeeds();
    bench.run(["export", "py", "all"]).succeeds();
    let gone = bench.run(["export", "py", "2"]).fails_with(5);
    assert!(gone.stderr().contains("no turn 2"), "{gone}");
    // One that was killed before its first event is what it was.
    let killed = bench.session().join("turns/0003");
    fs::create_dir(&killed).unwrap();
    fs::write(killed.join("question.txt"), "q\n").unwrap();
    let run = bench.run(["show", "3"]).succeeds();
    assert!(run.stderr().contains("turn 0003 was interrupted"), "{run}");
    bench.run(["doctor", "--session"]).succeeds();
}
