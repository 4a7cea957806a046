//! The data of a question: the files and datasets that are named, and nothing else; and files that have changed.

use std::fs;

use crate::bench::{Bench, Run};

const ORDERS: &str = "customer,total\na,1\nb,2\nc,3\n";

/// A session with `sales`, and a file beside it.
fn bench() -> Bench {
    let bench = Bench::with(["sales.csv"]);
    fs::write(bench.path("orders.csv"), ORDERS).unwrap();
    bench.run(["ingest", "sales.csv"]).succeeds();
    bench
}

fn ask(bench: &Bench, flags: &[&str]) -> Run {
    let mut arguments = vec!["ask", "--model", "builtin", "--format", "reply", "how many rows"];
    arguments.extend(flags);
    bench.run(arguments)
}

#[test]
fn a_question_about_a_file_sees_no_other_dataset() {
    let bench = bench();
    for flags in [&["-f", "orders.csv"][..], &["-f", "orders.csv", "--ephemeral"]] {
        let run = ask(&bench, flags).succeeds();
        assert!(run.stdout().contains("**3**"), "{run}");
        // In a pipe there are warnings and errors only.
        assert_eq!(run.stderr(), "");
    }
    let datasets = |flags: &[&str]| {
        let mut arguments =
            vec!["ask", "--model", "builtin", "--format", "jsonl", "how many rows in orders"];
        arguments.extend(flags);
        bench.run(arguments).events()[0]["datasets"].clone()
    };
    assert_eq!(datasets(&["-f", "orders.csv"]), serde_json::json!(["orders"]));
    assert_eq!(
        datasets(&["-f", "orders.csv", "-d", "sales"]),
        serde_json::json!(["orders", "sales"])
    );
    let dry = bench.run(["ask", "--dry-run", "--fresh", "-f", "orders.csv", "how many"]).succeeds();
    assert!(dry.stdout().contains("orders") && !dry.stdout().contains("sales"), "{dry}");
}

#[test]
fn a_temporary_session_sees_what_is_named() {
    let bench = bench();
    let in_session = |flags: &str| {
        let script = format!(
            "unset CSV_AGENT_SESSION_DIR; csv-agent ingest -q sales.csv >/dev/null; \
             csv-agent ask --ephemeral --model builtin --format reply 'how many rows' {flags}"
        );
        bench.shell(&script, &[])
    };
    for flags in ["-d sales", "-d 's*'", "-S .csv-agent"] {
        assert!(in_session(flags).succeeds().stdout().contains("**10**"), "{flags}");
    }
    let run = in_session("").fails_with(2);
    assert!(run.stderr().contains("so there is no data"), "{run}");
    assert!(in_session("-f orders.csv").succeeds().stdout().contains("**3**"));
    let both = in_session("-f orders.csv -d sales");
    for name in ["orders", "sales"] {
        assert!(both.stdout().contains(&format!(". number of rows in `{name}`\n")), "{both}");
    }
}

#[test]
fn a_statement_over_files_sees_them_and_what_is_named() {
    let bench = bench();
    let query = |flags: &[&str]| {
        let sql = "select count(*) as n from sales";
        let mut arguments = vec!["query", "--format", "csv", "-f", "orders.csv", sql];
        arguments.extend(flags);
        bench.run(arguments)
    };
    query(&[]).fails_with(2);
    assert_eq!(query(&["-d", "sales"]).succeeds().stdout(), "n\n10\n");
}

#[test]
fn a_file_that_has_changed_is_read_again_and_earlier_answers_say_so() {
    let bench = bench();
    assert!(ask(&bench, &["-f", "orders.csv"]).succeeds().stdout().contains("**3**"));
    // The catalog has seconds.
    bench.shell("sleep 1.1", &[]).succeeds();
    fs::write(bench.path("orders.csv"), format!("{ORDERS}d,4\n")).unwrap();
    let run = ask(&bench, &["-f", "orders.csv"]).succeeds();
    assert!(run.stdout().contains("**4**"), "{run}");
    let told = "warning: `orders.csv` has changed since it was ingested (3 → 4 rows); csv-agent has read it again\n";
    assert_eq!(run.stderr(), told);
    assert_eq!(ask(&bench, &["-f", "orders.csv"]).succeeds().stderr(), "");
    let old = bench.run(["show", "1"]).succeeds();
    let told = "warning: the answer was computed from earlier data: `orders` was ingested again \
                since then\n";
    assert_eq!(old.stderr(), told);
    assert_eq!(bench.run(["show", "2"]).succeeds().stderr(), "");
    bench.run(["show", "all", "--html", "page.html"]).succeeds();
    let page = fs::read_to_string(bench.path("page.html")).unwrap();
    assert_eq!(page.matches("Ingested again since then: orders").count(), 1);
}

#[test]
fn another_file_of_the_same_name_replaces_nothing_unasked() {
    let bench = bench();
    fs::create_dir(bench.path("june")).unwrap();
    fs::write(bench.path("june/sales.csv"), "a\n1\n").unwrap();
    // A question finds it under another name.
    let run = ask(&bench, &["-f", "june/sales.csv"]).succeeds();
    assert!(run.stdout().contains("number of rows in `june_sales`"), "{run}");
    let ingest = ["ingest", "sales=june/sales.csv"];
    let run = bench.run(ingest).fails_with(5);
    for part in [
        "comes from another source, `sales.csv`",
        "`csv-agent ingest --if-exists replace sales=june/sales.csv`",
        "`--name`",
    ] {
        assert!(run.stderr().contains(part), "{run}");
    }
    let on_terminal = |answer: &str, code: i32| {
        let screen = bench.on_terminal(ingest, 100);
        screen.shows("This will replace the dataset `sales`").press(answer).ends_with(code);
    };
    on_terminal("n\r", 5);
    assert!(bench.run(["datasets"]).stdout().contains("sales\t10\t3"));
    on_terminal("\x03", 130);
    on_terminal("y\r", 0);
    assert!(bench.run(["datasets"]).stdout().contains("sales\t1\t1"));
}

#[test]
fn a_chat_about_a_file_sees_what_is_ingested_in_it() {
    let bench = bench();
    fs::write(bench.path("items.csv"), "a\n1\n2\n").unwrap();
    let chat = bench.on_terminal(["chat", "-f", "orders.csv", "--model", "builtin"], 80);
    let enter = "\r";
    chat.is_ready()
        .press("how many rows?")
        .press(enter)
        .shows("There are 3 rows in orders.")
        .is_ready();
    chat.press("/ingest items.csv").press(enter).shows("added").is_ready();
    chat.press("how many rows in items?")
        .press(enter)
        .shows("There are 2 rows in items.")
        .is_ready();
    chat.press("/datasets --rm items --yes").press(enter).shows("removed").is_ready();
    chat.press("/datasets --rm orders --yes").press(enter).shows("removed").is_ready();
    fs::write(bench.path("new.csv"), "a\n1\n2\n3\n4\n").unwrap();
    chat.press("/ingest new.csv").press(enter).shows("new.csv").is_ready();
    chat.press("how many rows?").press(enter).shows("There are 4 rows in new.").is_ready();
    chat.press("thanks").press(enter).shows("You are welcome.").is_ready();
    chat.press("help").press(enter).shows("/save").is_ready();
    chat.press("exit").press(enter).ends_with(0);
}

#[test]
fn a_temporary_session_leaves_charts_where_they_are_wanted_and_nothing_else() {
    let bench = bench();
    let temporary = bench.path("tmp");
    fs::create_dir(&temporary).unwrap();
    let ask = |flags: &str| {
        let script = format!(
            "export TMPDIR=$PWD/tmp; csv-agent ask --ephemeral -f sales.csv --model builtin --json {flags} \
             'revenue by product as a bar chart'"
        );
        let run = bench.shell(&script, &[]).succeeds();
        let answer: serde_json::Value = serde_json::from_str(run.stdout()).unwrap();
        let files = answer["charts"][0]["files"].as_array().unwrap().clone();
        assert_eq!(files.len(), 2);
        for file in &files {
            assert!(fs::metadata(file["abs_path"].as_str().unwrap()).is_ok(), "{file}");
        }
        files.iter().map(|it| it["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let left = || {
        let listed = bench.shell("cd tmp && find . -type f -printf '%f\\n' | sort", &[]).succeeds();
        listed.stdout().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let paths = ask("--charts out/charts");
    let expected = ["svg", "png"]
        .map(|it| bench.path("out/charts").join(format!("total_revenue_by_product.{it}")));
    assert_eq!(paths, expected.map(|it| it.to_string_lossy().into_owned()));
    assert_eq!(left(), [] as [&str; 0]);
    ask("");
    let expected =
        ["json", "png", "svg", "vl.json"].map(|it| format!("total_revenue_by_product.{it}"));
    assert_eq!(left(), expected);
    fs::write(bench.path("taken"), "").unwrap();
    let script = "csv-agent ask --ephemeral -f sales.csv --model builtin --charts taken 'revenue by product as a bar chart'";
    let run = bench.shell(script, &[]).fails_with(5);
    assert!(run.stderr().contains("cannot write charts to `taken`"), "{run}");
}

#[test]
fn a_file_keeps_the_name_of_its_dataset_and_a_named_dataset_stays_visible() {
    let bench = bench();
    fs::create_dir(bench.path("june")).unwrap();
    fs::write(bench.path("june/sales.csv"), "a\n1\n").unwrap();
    let run = bench.run([
        "query",
        "-f",
        "june/sales.csv",
        "-d",
        "sales",
        "--format",
        "csv",
        "select count(*) as n from sales",
    ]);
    assert_eq!(run.succeeds().stdout(), "n\n10\n");
    let dry = bench.run(["ask", "--dry-run", "-f", "june/sales.csv", "how many"]).succeeds();
    assert!(dry.stdout().contains("june_sales: 1 row"), "{dry}");
}

#[test]
fn data_from_a_pipe_replaces_what_came_before() {
    let bench = bench();
    for (text, answer) in [("a\\n1\\n2\\n", "**2**"), ("b\\n1\\n2\\n3\\n", "**3**")] {
        let script =
            format!("printf '{text}' | csv-agent ask --model builtin -f - 'how many rows'");
        assert!(bench.shell(&script, &[]).succeeds().stdout().contains(answer));
    }
}

#[test]
fn a_file_with_an_answer_is_not_replaced_by_a_refusal() {
    let bench = bench();
    for (flags, question, code) in [
        ("--format csv", "what is the weather", 9),
        ("", "what is the weather", 9),
        ("--format csv", "how many rows", 0),
        ("--format json", "what is the weather", 9),
        ("", "how many rows", 0),
    ] {
        fs::write(bench.path("kept.txt"), "precious").unwrap();
        let script =
            format!("csv-agent ask --model builtin -f orders.csv -o kept.txt {flags} '{question}'");
        bench.shell(&script, &[]).fails_with(code);
        let is_kept = fs::read_to_string(bench.path("kept.txt")).unwrap() == "precious";
        assert_eq!(is_kept, code == 9 && !flags.contains("json"), "{flags} {question}");
    }
}

#[test]
fn a_rerun_on_data_without_the_columns_fails_in_every_format() {
    let bench = bench();
    bench.run(["ask", "--model", "builtin", "-f", "sales.csv", "revenue by product"]).succeeds();
    for format in ["text", "csv", "reply"] {
        let rerun = ["rerun", "--against", "sales=orders.csv", "--format", format, "-o", "out.csv"];
        let run = bench.run(rerun).fails_with(12);
        assert!(run.stderr().contains("cannot be repeated: `query_datasets` failed"), "{run}");
    }
}

#[test]
fn data_from_a_pipe_replaces_no_dataset_of_a_file() {
    let bench = bench();
    let script = "printf 'a\\n1\\n' | csv-agent ask --model builtin -f sales=- 'how many rows'";
    let run = bench.shell(script, &[]).fails_with(5);
    assert!(run.stderr().contains("the dataset `sales`"), "{run}");
}

#[test]
fn many_tables_of_the_same_columns_are_no_endless_search() {
    let bench = Bench::with([]);
    fs::create_dir(bench.path("data")).unwrap();
    for at in 0..7 {
        let text = format!("region,amount\neast,{at}\nwest,2\n");
        fs::write(bench.path(&format!("data/o{at}.csv")), text).unwrap();
    }
    let question =
        ["ask", "--model", "builtin", "-f", "data", "--format", "jsonl", "amount by region"];
    let run = bench.run(question).fails_with(9);
    assert!(run.stdout().contains("may mean"), "{run}");
    // What each table has, and which of the words, not each word in each table.
    let looks = run.events().into_iter().filter(|it| it["type"] == "tool_call");
    assert!(looks.count() <= 14, "{run}");
}

#[test]
fn a_question_over_a_session_says_that_a_file_has_changed() {
    let bench = bench();
    bench.run(["ingest", "-q", "orders.csv"]).succeeds();
    let told = |run: &Run| run.stderr().to_owned();
    let in_orders = ["ask", "--model", "builtin", "--format", "reply", "how many rows in orders"];
    // The content decides, not the time.
    bench.shell("sleep 1.1; touch orders.csv", &[]).succeeds();
    assert_eq!(told(&bench.run(in_orders).succeeds()), "");
    fs::write(bench.path("orders.csv"), ORDERS.replace("c,3", "c,4")).unwrap();
    let warning = "`orders.csv` has changed since it was ingested; `csv-agent ingest orders.csv` reads it again";
    let expected = format!("warning: {warning}\n");
    assert_eq!(told(&bench.run(in_orders).succeeds()), expected);
    assert_eq!(told(&bench.run(["describe", "orders"]).succeeds()), expected);
    assert_eq!(told(&bench.run(["query", "select * from orders"]).succeeds()), expected);
    // What does not read the dataset does not speak of it.
    assert_eq!(told(&bench.run(["query", "select * from sales"]).succeeds()), "");
    assert_eq!(told(&ask(&bench, &["-d", "sales"]).succeeds()), "");
    let run = bench.run(["ask", "--model", "builtin", "--json", "how many rows in orders"]);
    let document: serde_json::Value = serde_json::from_str(run.succeeds().stdout()).unwrap();
    assert_eq!(document["warnings"][0]["message"], warning);
    fs::create_dir(bench.path("below")).unwrap();
    let below = "cd below && csv-agent query -S ../../session 'select * from orders'";
    let run = bench.shell(below, &[]).succeeds();
    assert!(run.stderr().contains("/work/orders.csv` reads it again"), "{run}");
    fs::write(bench.path("sales.csv"), "a\n1\n").unwrap();
    let both = bench.run(["describe"]).succeeds();
    let names = "the files of `orders`, `sales` have changed since they were ingested";
    assert!(both.stderr().contains(names), "{both}");
    bench.run(["ingest", "-q", "orders.csv", "sales.csv"]).succeeds();
    assert_eq!(told(&bench.run(in_orders).succeeds()), "");
}

#[test]
fn programs_learn_that_data_has_changed() {
    let bench = bench();
    bench.run(["ingest", "-q", "orders.csv"]).succeeds();
    fs::write(bench.path("orders.csv"), format!("{ORDERS}d,4\n")).unwrap();
    let run = ask(&bench, &["-f", "orders.csv", "--json"]).succeeds();
    let document: serde_json::Value = serde_json::from_str(run.stdout()).unwrap();
    let told =
        "`orders.csv` has changed since it was ingested (3 → 4 rows); csv-agent has read it again";
    assert_eq!(document["warnings"][0]["message"], told);
    fs::write(bench.path("orders.csv"), ORDERS).unwrap();
    let events = ask(&bench, &["-f", "orders.csv", "--format", "jsonl"]).events();
    assert!(
        events.iter().any(|it| it["phase"] == "warning"
            && it["message"].as_str().unwrap().contains("(4 → 3 rows)"))
    );
}

#[test]
fn a_delimiter_that_separates_nothing_is_reported() {
    let bench = bench();
    let run = bench.run(["ingest", "--delimiter", ";", "orders.csv"]).succeeds();
    assert_eq!(
        run.stderr(),
        "warning: `orders`: `--delimiter ;` separates nothing, so the file has only one column, but its header \
         contains `,`; `--if-exists replace` without `--delimiter` reads it again\n"
    );
    let run = bench.run(["ingest", "--if-exists", "replace", "orders.csv"]).succeeds();
    assert!(run.stdout().contains("orders\t3\t2\treplaced") && run.stderr().is_empty(), "{run}");
}

#[test]
fn the_ending_of_the_file_sets_the_format() {
    let bench = bench();
    let write = |file: &str, question: &str| {
        let arguments =
            ["ask", "--fresh", "--model", "builtin", "-d", "sales", "-o", file, question];
        bench.run(arguments)
    };
    let read = |file: &str| fs::read_to_string(bench.path(file)).unwrap();
    write("a.csv", "total revenue by product").succeeds();
    assert!(read("a.csv").starts_with("product,"), "{}", read("a.csv"));
    write("a.json", "total revenue by product").succeeds();
    assert!(read("a.json").starts_with("{\"schema\""));
    bench.run(["show", "1", "-o", "b.tsv"]).succeeds();
    assert_eq!(read("b.tsv"), read("a.csv").replace(',', "\t"));
    for (file, hint) in [
        ("a.parquet", "`csv-agent query -o FILE.parquet"),
        ("a.HTML", "`csv-agent report last -o FILE.html`"),
        ("a.xlsx", "use `--format csv -o FILE.csv`"),
    ] {
        let run = write(file, "total revenue").fails_with(2);
        assert!(run.stderr().contains("cannot write an answer as"), "{run}");
        assert!(run.stderr().contains(hint), "{run}");
        assert!(!bench.path(file).exists());
    }
}

#[test]
fn a_check_that_passes_has_an_empty_table_of_findings() {
    let bench = bench();
    let check = |flags: &[&str], question: &str| {
        let mut arguments = vec!["ask", "--fresh", "--model", "builtin", "-d", "sales", "--format"];
        arguments.extend(["csv", question]);
        arguments.extend(flags);
        bench.run(arguments)
    };
    let empty = "severity,message,dataset,column,file,line\n";
    for flags in [&["--fail-on", "bad"][..], &["--verdict"], &["--report", "github=out"]] {
        assert_eq!(check(flags, "revenue is never negative").succeeds().stdout(), empty);
    }
    assert_eq!(bench.run(["show", "--format", "csv"]).succeeds().stdout(), empty);
    let bad = check(&["--fail-on", "bad"], "revenue is never above 2400").fails_with(11);
    assert_eq!(bad.stdout(), "date,product,revenue\n2024-04-25,Coffee,2440.8\n");
    let required = check(&["--verdict", "--require", "table"], "revenue is never negative");
    required.fails_with(9);
}

#[test]
fn a_refusal_offers_questions_that_have_an_answer() {
    let bench = bench();
    fs::write(bench.path("invoices.csv"), ORDERS).unwrap();
    bench.run(["ingest", "-q", "orders.csv", "invoices.csv"]).succeeds();
    let ask = |question: &str| {
        let flags = ["ask", "--fresh", "--model", "builtin", "--format", "reply", question];
        bench.run(flags)
    };
    // What fits both tables alike is answered from neither.
    for question in ["average total by customer", "how many rows?"] {
        let refused = ask(question).fails_with(9);
        for name in ["invoices", "orders"] {
            assert!(refused.stdout().contains(&format!(" in `{name}`\n")), "{refused}");
        }
    }
    let refused = ask("what is love").fails_with(9);
    let offered: Vec<&str> =
        refused.stdout().lines().filter_map(|it| it.strip_prefix("- ")).collect();
    assert_eq!(offered[0], "average total by customer in invoices, top 5", "{refused}");
    for question in offered {
        ask(question).succeeds();
    }
}

#[test]
fn an_answer_says_that_its_data_was_removed() {
    let bench = bench();
    ask(&bench, &[]).succeeds();
    assert_eq!(bench.run(["show"]).succeeds().stderr(), "");
    bench.run(["datasets", "--yes", "--rm", "sales"]).succeeds();
    let told = "warning: the session no longer has all data of the answer: `sales` was removed\n";
    assert_eq!(bench.run(["show"]).succeeds().stderr(), told);
}

#[test]
fn events_need_a_directory() {
    let bench = bench();
    let run = ask(&bench, &["--events", "no/events.jsonl"]).fails_with(5);
    assert!(run.stderr().contains("there is no directory `no`"), "{run}");
    assert!(run.stderr().contains("`mkdir -p no`"), "{run}");
    ask(&bench, &["--events", "."]).fails_with(5);
}

#[test]
fn exit_ends_a_chat_from_a_pipe() {
    let bench = bench();
    let script = "printf 'how many rows\\nexit\\nhow many rows\\n' | csv-agent chat --model builtin --format reply";
    let run = bench.shell(script, &[]).succeeds();
    assert_eq!(run.stdout().matches("**10**").count(), 1, "{run}");
}

#[test]
fn what_was_not_read_as_it_is_in_the_file_is_said_wherever_it_is_read() {
    let bench = Bench::with([]);
    fs::write(bench.path("cut.csv"), "id,region,amount\n1,N,10.5\n2,S,20\n3,N,5\n4,S\n").unwrap();
    let warning = "`cut`: 1 row too short, padded with null";
    let ask =
        ["ask", "--ephemeral", "--model", "builtin", "--json", "-f", "cut.csv", "how many rows"];
    let run = bench.run(ask).succeeds();
    let result: serde_json::Value = serde_json::from_str(run.stdout()).unwrap();
    assert!(result["warnings"][0]["message"].as_str().unwrap().starts_with(warning), "{result}");
    assert!(run.stderr().contains(warning), "{run}");
    for command in [&["query", "-f", "cut.csv", "select 1"][..], &["describe", "cut.csv"]] {
        let run = bench.run(command.iter().copied()).succeeds();
        assert!(run.stderr().contains(warning), "{run}");
    }
    // Several files have one line for what they share.
    fs::copy(bench.path("cut.csv"), bench.path("cut2.csv")).unwrap();
    let run = bench.run(["describe", "cut.csv", "cut2.csv"]).succeeds();
    assert_eq!(run.stderr(), "warning: `cut`, `cut2`: 1 short row padded\n");
}

#[test]
fn no_gate_passes_without_a_file_that_cannot_be_read() {
    let bench = Bench::with([]);
    fs::create_dir(bench.path("days")).unwrap();
    fs::write(bench.path("days/a.csv"), "id,amount\n1,5\n").unwrap();
    fs::write(bench.path("days/b.csv"), "").unwrap();
    let ask = |flags: &[&str]| {
        let ask =
            ["ask", "--ephemeral", "--model", "builtin", "-f", "days", "--json", "how many rows"];
        bench.run(ask.iter().chain(flags).copied())
    };
    let run = ask(&["--fail-on", "bad"]).fails_with(5);
    assert!(run.stderr().contains("cannot read `days/b.csv`: it is empty"), "{run}");
    let run = ask(&[]).succeeds();
    assert!(run.stdout().contains("cannot read `days/b.csv`: it is empty"), "{run}");
}

#[test]
fn a_result_replaces_no_file_that_has_the_data() {
    let bench = bench();
    let run = |command: &[&str]| {
        let run = bench.run(command.iter().copied()).fails_with(2);
        assert!(run.stderr().contains("the output would replace `"), "{run}");
    };
    let builtin = ["ask", "--model", "builtin", "--format", "csv", "revenue by product"];
    bench.run(builtin).succeeds();
    run(&[&builtin[..], &["--ephemeral", "-f", "orders.csv", "-o", "./orders.csv"]].concat());
    run(&[&builtin[..], &["-f", "orders.csv", "-o", "sales.csv"]].concat());
    run(&["query", "-f", "orders.csv", "-o", "orders.csv", "select 1"]);
    run(&["query", "-o", "sales.csv", "select 1"]);
    run(&["export", "py", "-o", "sales.csv"]);
    run(&["rerun", "-o", "sales.csv", "--format", "csv"]);
    run(&["show", "-o", "sales.csv"]);
    run(&["show", "--html", "sales.csv"]);
    run(&["report", "--format", "md", "-o", "sales.csv"]);
    run(&[&builtin[..], &["--events", "sales.csv"]].concat());
    run(&[&builtin[..], &["--report", "md=sales.csv"]].concat());
    run(&[&builtin[..], &["--dry-run", "-o", "sales.csv"]].concat());
    // A failure has a report too.
    run(&["ask", "--model", "nope", "-f", "orders.csv", "--report", "md=orders.csv", "?"]);
    run(&["ask", "--model", "builtin", "-f", ".", "--report", "junit=orders.csv", "?"]);
    assert_eq!(fs::read_to_string(bench.path("orders.csv")).unwrap(), ORDERS);
}

#[test]
fn a_markdown_file_links_to_its_charts_from_where_it_is() {
    let bench = Bench::with(["sales.csv"]);
    fs::create_dir_all(bench.path("reports/2025")).unwrap();
    let question = "'revenue by product as a chart'";
    for file in ["answer.md", "reports/answer.md", "reports/2025/answer.md"] {
        let script = format!("csv-agent ask -q --model builtin -f sales.csv -o {file} {question}");
        bench.shell(&script, &[]).succeeds();
        let text = fs::read_to_string(bench.path(file)).unwrap();
        let link = text.lines().find(|it| it.starts_with("![")).unwrap();
        let (_, path) = link.trim_end_matches(')').rsplit_once("](").unwrap();
        assert!(path.contains("/charts/") && !path.starts_with('/'), "{path}");
        assert!(bench.path(file).parent().unwrap().join(path).is_file(), "{file}: {path}");
    }
}

#[test]
fn a_refusal_that_no_file_has_is_on_stderr() {
    let bench = Bench::with(["sales.csv"]);
    for output in ["-o answer.md", "-o answer.txt", "--format csv"] {
        let script = format!("csv-agent ask --model builtin -f sales.csv {output} 'what is love'");
        let refused = bench.shell(&script, &[]).fails_with(9);
        assert_eq!(refused.stdout(), "");
        assert!(refused.stderr().contains("I can answer, for example:"), "{refused}");
    }
    let script = "csv-agent ask --model builtin -f sales.csv -o answer.json 'what is love'";
    let refused = bench.shell(script, &[]).fails_with(9);
    assert!(!refused.stderr().contains("I can answer"), "{refused}");
}

#[test]
fn a_renamed_column_is_noted() {
    let bench = Bench::with([]);
    fs::write(bench.path("twice.csv"), "a,b,A,a,b\n1,2,3,4,5\n").unwrap();
    let run = bench.shell("csv-agent ingest twice.csv -v", &[]).succeeds();
    let note = "renamed, because an earlier column has the same name";
    for column in ["A_2", "a_3", "b_2"] {
        assert!(run.stderr().contains(&format!("column `{column}`: {note}\n")), "{run}");
    }
    let schema = bench.shell("csv-agent datasets --schema --json", &[]).succeeds();
    assert_eq!(schema.stdout().matches(note).count(), 3, "{schema}");
}

#[test]
fn a_file_in_from_leads_to_its_table() {
    let bench = bench();
    let check = |arguments: &[&str], hint: &str| {
        let run = bench.run(["--session-dir", "none"].iter().chain(arguments));
        assert!(run.stderr().contains(hint), "{run}");
    };
    let statement = "select count(*) from orders.csv";
    let hint = "hint: add the file with `-f orders.csv`, and write `from orders`\n";
    check(&["query", statement], hint);
    check(&["query", "-f", "sales.csv", statement], hint);
    check(&["query", "-f", "orders.csv", statement], "hint: the table of the file is `orders`\n");
    check(&["query", "orders.csv", "select 1"], "csv-agent query -f FILE");
}

#[test]
fn describe_reads_a_pipe() {
    let script = "printf 'a,b\\n1,x\\n' | csv-agent describe -";
    let run = bench().shell(script, &[]).succeeds();
    assert!(run.stdout().contains("stdin\ta\tint64\t"), "{run}");
}

#[test]
fn a_misspelt_analyst_is_no_model_of_a_server() {
    let bench = bench();
    for name in ["buildin", "built-in", "Builtin"] {
        let run = bench.shell(&format!("csv-agent ask -m {name} -f sales.csv q"), &[]);
        let run = run.fails_with(2);
        assert!(run.stderr().contains("did you mean `builtin`"), "{run}");
    }
}
