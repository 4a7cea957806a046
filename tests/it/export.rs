//! Turns as scripts, notebooks and documents: they run without csv-agent and prove themselves.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::bench::{Bench, Run, is_slow_run, python, round};

/// Runs lines of a shell, in which `python` is a Python with pandas and no csv-agent.
fn shell(bench: &Bench, script: &str) -> Run {
    bench.shell(&format!("set -eu\n{}\n{script}", python("python")), &[])
}

fn builtin(bench: &Bench, file: &str, question: &str) {
    bench.run(["ask", "--model", "builtin", "-f", file, question]).succeeds();
}

/// Writes a file, asks about it, and runs the script of the turn. Returns what `export` said.
#[track_caller]
fn check(name: &str, content: &[u8], said: &str) {
    let bench = Bench::with([]);
    fs::write(bench.path(name), content).unwrap();
    builtin(&bench, name, "how many rows are there?");
    let run = shell(&bench, "csv-agent export py > turn.py && python turn.py").succeeds();
    assert!(run.stdout().contains("same as before: "), "{run}");
    assert_eq!(run.stderr().contains("warning: "), !said.is_empty(), "{run}");
    assert!(run.stderr().contains(said), "{run}");
    let script = fs::read_to_string(bench.path("turn.py")).unwrap();
    assert_eq!(script.contains("/datasets/"), !said.is_empty(), "{script}");
}

#[test]
fn a_script_reads_the_original_file_as_ingest_did() {
    check("german.csv", b"Datum;Betrag;ok\n31.12.2024;1.234,50;ja\n01.02.2025;7,25;nein\n", "");
    check("notes.csv", b"Report\n\n# x\nid,n\n1,2\n# y\n3,4\n\n5,6\nTotal,12\n", "");
    check("latin-1 data.csv", b"id,caf\xe9\n1,\xfcber\n2,na\xefve\n", "");
    if !is_slow_run() {
        return;
    }
    check("plain.csv", b"id,name,n\n1,a,2\n2,,3\n", "");
    check("lines.csv", b"id,text\n1,\"a\nb\"\n2,\"c, d\"\n", "");
    check("us.csv", b"d,t,n,b\n12/31/2024,\"Jan 3, 2024\",\"1,234.50\",yes\n1/2/2025,,,no\n", "");
    check(
        "codes.csv",
        b"zip,when\n01234,2024-01-01T00:00:00Z\n99999,2024-06-01T01:00:00+02:00\n",
        "",
    );
    check("short.csv", b"id,a,b\n1,x,y\n2,z\n3,q,r\n", "");
}

#[test]
fn where_plain_python_gives_something_else_the_copy_is_read_and_the_user_told() {
    check("both.csv", b"id,a\n1,\"\"\n2,\n3,x\n", "column `a` has cells that are empty text");
    check("wide.csv", b"a::b\n1::2\n3::4\n", "its delimiter has several characters");
}

#[test]
fn a_script_fails_where_the_data_is_another_and_says_where() {
    let bench = Bench::with(["sales.csv"]);
    builtin(&bench, "sales.csv", "top 3 products by revenue, as a bar chart");
    let run = shell(&bench, "csv-agent export py > a.py && python a.py").succeeds();
    assert!(run.stdout().contains("chart `"), "{run}");
    let other = "sed 's/Coffee/Cacao/' sales.csv > other.csv; python a.py sales=other.csv";
    let run = shell(&bench, other).fails_with(1);
    assert!(run.stderr().contains("AssertionError: table `"), "{run}");
    let run = shell(&bench, "rm sales.csv; python a.py").fails_with(1);
    assert!(run.stderr().contains("no file sales.csv; name its path: sales=PATH"), "{run}");
}

#[test]
fn a_script_has_what_earlier_turns_made_and_what_failed_only_where_it_counts() {
    let code = |id: &str, code: &str| round().calls(id, "python_repl", json!({"code": code}));
    let send = json!({"df_name": "by", "logical_name": "by product"});
    let bench = Bench::with(["sales.csv"]).script([
        code("a1", "df = load('sales')\nunused = 1"),
        code("a2", "df['more'] = df.revenue + 1\ndf.nothing"),
        code("a3", "df.head()"),
        round().says("Loaded."),
        code("b1", "1 / 0"),
        code("b2", "print('no text of its own')\nlong = 'x' * 20_000\nlong"),
        code("b3", "text = date = 'taken'\nby = df.groupby('product')[['more']].sum()"),
        round().calls("b4", "send_data_to_ui_as_df", send),
        round().says("Done."),
        code("c1", "print('rows', len(df)); round(df.more.mean(), 2)"),
        round().says("Mean."),
    ]);
    for question in ["Load.", "\"More\" \\ by product?", "Mean?"] {
        bench.ask(question).succeeds();
    }
    let run = shell(&bench, "csv-agent export py 2 > b.py && python b.py").succeeds();
    assert!(run.stdout().ends_with("same as before: table `by product`\n"), "{run}");
    let script = fs::read_to_string(bench.path("b.py")).unwrap();
    assert!(script.contains("_attempt(") && !script.contains("1 / 0"), "{script}");
    assert!(!script.contains("df.head()"), "{script}");
    let run = shell(&bench, "csv-agent export py last > c.py && python c.py").succeeds();
    let told = "same as before: the value of the code, what the code printed\n";
    assert!(run.stdout().ends_with(told), "{run}");
    shell(&bench, "csv-agent export py all > all.py && python all.py").succeeds();
}

/// Asks with a model that runs this code over `sales.csv`, turn by turn, each the code of one call after
/// another, and runs the script and the calls of the last turn; in a slow run over other data as well.
#[track_caller]
fn reproduces(turns: &[&[&str]]) -> Bench {
    let bench = Bench::with(["sales.csv"]);
    for (at, cells) in turns.iter().enumerate() {
        let id = |cell: usize| format!("call_{at}_{cell}");
        let calls = cells.iter().enumerate().map(|(cell, code)| round().runs(&id(cell), code));
        bench.answers(calls.chain([round().says("Done.")]));
        bench.ask("What is it?").succeeds();
    }
    let run = shell(&bench, "csv-agent export py > x.py && python x.py").succeeds();
    assert!(run.stdout().contains("same as before: "), "{run}");
    bench.run(["rerun", "--check", "--format", "reply"]).succeeds();
    if is_slow_run() {
        tells_other_data(&bench);
    }
    bench
}

/// Runs the script and the calls over other data: what is checked is what the code gave.
#[track_caller]
fn tells_other_data(bench: &Bench) {
    let other = "sed 's/[0-9]/7/g' sales.csv > other.csv";
    shell(bench, &format!("{other}; ! python x.py sales=other.csv")).succeeds();
    shell(bench, "! csv-agent rerun --against sales=other.csv --check").succeeds();
}

const LOAD: &str = "df = load('sales')";

#[test]
fn scripts_hold_whatever_models_write() {
    // Each cell that shows something counts, not only the last.
    tells_other_data(&reproduces(&[&[LOAD, "print(df.revenue.sum())", "df.shape"]]));
    // What a call does to what it is given.
    let adds = "def add(it):\n    it['more'] = it.revenue + 1\n    return it";
    reproduces(&[&[LOAD, adds, "kept = add(df)"], &["df.more.sum()"]]);
    // Names that others have.
    reproduces(&[&[LOAD, "sum = df.revenue.sum()\nlist = len = str = map = re = json = 1", "sum"]]);
    // Values that are no plain numbers.
    reproduces(&[&[
        LOAD,
        "{'all': set(df.revenue), 'days': [pd.Timedelta(days=int(it)) for it in df.revenue[:2]]}",
    ]]);
    if !is_slow_run() {
        return;
    }
    // Missing values, warnings and stderr in what is printed.
    let told = "import warnings, sys\nwarnings.warn('look')\nprint(df.revenue.shift().head(2), df.revenue.sum())";
    reproduces(&[&[LOAD, told]]);
    reproduces(&[&[LOAD, "import sys\nprint(df.revenue.max(), file=sys.stderr)"]]);
    reproduces(&[&["filter = load('sales')"], &["filter.revenue.sum()"]]);
    // An exit that the REPL does not take.
    reproduces(&[&[LOAD, "total = df.revenue.sum(); quit()"], &["total"]]);
    reproduces(&[&[LOAD, "df.groupby('product').revenue.sum().astype('float32')"]]);
    // Longer than the model sees.
    reproduces(&[&[LOAD, "for at in range(3000): print('row', at * df.revenue.iloc[0], end=' ')"]]);
}

#[test]
fn a_script_finds_columns_by_name_and_files_by_what_it_was_told() {
    let bench = Bench::with([]);
    fs::write(bench.path("all.csv"), "id,total,city\n1,5,a\n2,7,b\n").unwrap();
    builtin(&bench, "all.csv", "total of total by city");
    let run = |file: &str, content: &str| {
        fs::write(bench.path(file), content).unwrap();
        shell(&bench, &format!("csv-agent export py > x.py; python x.py all={file}"))
    };
    run("moved.csv", "city,new,total,id\na,x,5,1\nb,x,7,2\n").succeeds();
    let renamed = run("renamed.csv", "id,gross,city\n1,5,a\n2,7,b\n").fails_with(1);
    assert!(renamed.stderr().contains("total; the columns are id, gross, city"), "{renamed}");
    let unknown = shell(&bench, "python x.py ALL=moved.csv").fails_with(1);
    assert!(unknown.stderr().contains("cannot take ALL=moved.csv"), "{unknown}");
    // Nothing that Python leaves out is a check.
    let other =
        shell(&bench, "sed 's/7/8/' all.csv > o.csv; PYTHONOPTIMIZE=1 python x.py all=o.csv");
    other.fails_with(1);
}

#[test]
fn which_lines_are_notes_is_known_of_one_file_only() {
    let bench = Bench::with([]);
    let notes = "id,n,city\n1,5,a\n# a note\n2,7,b\nTotal,12,\n";
    fs::write(bench.path("notes.csv"), notes).unwrap();
    builtin(&bench, "notes.csv", "total n by city");
    shell(&bench, "csv-agent export py > x.py && python x.py").succeeds();
    let run = shell(&bench, "head -4 notes.csv > o.csv; python x.py notes=o.csv").fails_with(1);
    assert!(run.stderr().contains("o.csv is not the original file"), "{run}");
    // A source that has changed is not read as if it had not.
    let run = shell(&bench, "echo 4,4,c >> notes.csv; csv-agent export py > x.py").succeeds();
    assert!(run.stderr().contains("its source has changed since it was ingested"), "{run}");
}

#[test]
fn datasets_are_at_hand_as_files_as_well() {
    let files =
        "import pyarrow.parquet as pq\nsum(pq.read_table(it).num_rows for it in datasets.values())";
    let named =
        "df = pd.read_parquet(datasets['gaps'])\n(str(df.n.dtype), df.n.sum(), df.ok.tolist())";
    let bench = Bench::with([]).script([
        round().runs("a1", named),
        round().says("Named."),
        round().runs("b1", files),
        round().says("Files."),
    ]);
    fs::write(bench.path("gaps.csv"), "n,ok\n1,true\n,false\n3,\n").unwrap();
    bench.run(["ingest", "gaps.csv"]).succeeds();
    bench.ask("Named?").succeeds();
    bench.ask("Files?").succeeds();
    let run = shell(&bench, "csv-agent export py 1 > a.py && python a.py").succeeds();
    assert!(run.stdout().starts_with("('float64', "), "{run}");
    shell(&bench, "csv-agent export py 2 > b.py && python b.py").succeeds();
}

#[test]
fn what_was_too_long_for_the_model_is_at_hand_in_a_script() {
    let code = |id: &str, code: &str| round().calls(id, "python_repl", json!({"code": code}));
    let bench = Bench::with(["sales.csv"]);
    let bench = bench.script([code("a1", "list(range(20_000))"), round().says("Long.")]);
    bench.ask("List.").succeeds();
    let shown = bench.run(["show", "--json"]).succeeds();
    let events = fs::read_to_string(bench.session().join("turns/0001/events.jsonl")).unwrap();
    let key = events.split("\"data_key\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(shown.stdout().starts_with('{'));
    bench.answers([code("b1", &format!("sum(data['{key}'])")), round().says("Sum.")]);
    bench.ask("Sum?").succeeds();
    // The key is made by the turn before, which the code does not say.
    let run = shell(&bench, "csv-agent export py 1 2 > b.py && python b.py").succeeds();
    assert!(run.stdout().contains("199990000"), "{run}");
}

#[test]
fn a_notebook_is_of_its_format_and_its_cells_run_in_order() {
    let bench = Bench::with(["sales.csv"]);
    builtin(&bench, "sales.csv", "total revenue by product");
    builtin(&bench, "sales.csv", "how many rows per product?");
    bench.run(["export", "ipynb", "all", "-o", "turns.ipynb"]).succeeds();
    let notebook = fs::read_to_string(bench.path("turns.ipynb")).unwrap();
    let notebook: Value = serde_json::from_str(&notebook).unwrap();
    assert_eq!((&notebook["nbformat"], &notebook["nbformat_minor"]), (&json!(4), &json!(5)));
    let cells = notebook["cells"].as_array().unwrap();
    assert!(cells.iter().all(|it| it["id"].is_string() && it["source"].is_array()));
    assert!(
        cells.iter().any(|it| it["cell_type"] == "markdown"
            && it["source"][0] == "## total revenue by product\n")
    );
    let run = "import json, sys\n\
               for cell in json.load(open('turns.ipynb'))['cells']:\n    \
                   if cell['cell_type'] == 'code': exec(''.join(cell['source']), globals())\n";
    fs::write(bench.path("run.py"), run).unwrap();
    let run = shell(&bench, "python run.py").succeeds();
    assert!(run.stdout().contains("same as before: table"), "{run}");
}

#[test]
fn a_document_has_question_answer_table_chart_and_code() {
    let bench = Bench::with(["sales.csv"]);
    builtin(&bench, "sales.csv", "total revenue by product as a bar chart");
    let run = bench.run(["export", "md"]).succeeds();
    let lines = [
        "# total revenue by product",
        "## total_revenue_by_product",
        "| product |",
        "![",
        "## Code",
    ];
    let places: Vec<Option<usize>> = lines.iter().map(|it| run.stdout().find(it)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} {run}");
}

#[test]
fn nothing_that_a_viewer_opens_asks_a_server_for_a_picture() {
    let said =
        "![x](http://x.example/?q=1) <img src=http://x.example>\n\n```\n![code](http://x.example)";
    let bench = Bench::with(["sales.csv"]).script([round().runs("c1", "1"), round().says(said)]);
    // The report asks for a verdict, which this answer does not have.
    let asked = bench.ask_with(["--report", "md=report.md"], said).fails_with(9);
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    let show = |arguments: &[&str]| bench.run(arguments).succeeds().stdout().to_owned();
    let notebook: Value = serde_json::from_str(&show(&["export", "ipynb"])).unwrap();
    let cells = notebook["cells"].as_array().unwrap().iter();
    let texts = cells.filter(|it| it["cell_type"] == "markdown");
    let texts = texts.flat_map(|it| it["source"].as_array().unwrap());
    let notebook: String = texts.map(|it| it.as_str().unwrap()).collect();
    for (name, text) in [
        ("a pipe", asked.stdout().to_owned()),
        ("reply.md", read(&bench.session().join("turns/0001/reply.md"))),
        ("--report md", read(&bench.path("report.md"))),
        ("show --format md", show(&["show", "--format", "md"])),
        ("export md", show(&["export", "md"])),
        ("export ipynb", notebook),
    ] {
        let without = text.replace("\\![x](http", "").replace("\\<img", "");
        assert_ne!(text, without, "{name} has the answer");
        assert!(!without.contains("![x](http") && !without.contains("<img"), "{name}: {text}");
        assert!(text.contains("\n![code](http") && text.contains("\n```\n"), "{name}: {text}");
    }
    assert_eq!(show(&["show", "--format", "reply"]), format!("{said}\n"), "word for word");
}

#[test]
fn what_ran_no_code_is_refused_with_the_reason() {
    let bench = Bench::with(["sales.csv"]).script([round().says("Hello.")]);
    bench.ask("Hello?").succeeds();
    let run = bench.run(["export", "py"]).fails_with(5);
    assert!(run.stderr().contains("turn 1 ran no code"), "{run}");
    bench.run(["export", "md"]).succeeds();
    bench.run(["export", "doc"]).fails_with(2);
    bench.run(["export", "py", "9"]).fails_with(5);
}
