//! Turns over a cluster afterwards: as scripts and notebooks that ask it themselves, and run again there.

use std::fs;

use serde_json::{Value, json};

use super::{EVENTS, bench_at};
use crate::ask::Turn;
use crate::bench::{Bench, Run, Spark, python, round};

const GOODS: &str = "product,kind\nTea,leaf\nCoffee,bean\nCocoa,bean\n";

/// Runs lines of a shell, in which `python` has Spark's client and knows nothing of csv-agent.
fn shell(bench: &Bench, script: &str) -> Run {
    bench.shell(&format!("set -eu\n{}\n{script}", python("python")), &[])
}

/// Asks with a model that runs this code, cell by cell, and sends these tables.
#[track_caller]
fn ask(bench: &Bench, question: &str, cells: &[&str], tables: &[&str]) {
    let code = cells.iter().enumerate().map(|(at, it)| round().runs(&format!("cell{at}"), it));
    let sent = tables.iter().map(|it| {
        let arguments = json!({"df_name": it, "logical_name": it});
        round().calls(&format!("sent_{it}"), "send_data_to_ui_as_df", arguments)
    });
    bench.answers(code.chain(sent).chain([round().says("Done.")]));
    let flags = EVENTS.into_iter().chain(["--max-rounds", "20"]);
    let turn = Turn::of(&bench.ask_with(flags, question).succeeds());
    assert!(turn.results().iter().all(|it| it.ends_with(" ok")), "{:?}", turn.results());
}

/// Makes a bench with `sales` on the cluster and `goods` on this machine, and two turns over both.
fn bench_with_turns(url: &str) -> Bench {
    let bench = bench_at(url);
    fs::write(bench.path("goods.csv"), GOODS).unwrap();
    bench.run(["ingest", "-q", "goods.csv"]).succeeds();
    let arguments = json!({"name": "sales", "df_name": "sales"});
    bench.answers([
        round().calls("full", "load_dataset_full", arguments),
        round().runs("import", "from pyspark.sql import functions as F"),
        round().says("Loaded."),
    ]);
    bench.ask("Load the sales.").succeeds();
    let cells = [
        "by = sales.groupBy('product').agg(F.sum('revenue').alias('total'), F.max('date').alias('day'))",
        "joined = by.toPandas().merge(load('goods')).sort_values('total')",
        "late = load('sales', columns=['date', 'revenue']).filter('revenue > 1000').orderBy(F.desc('date'))",
        "first = load('sales', n_rows=3)\nlist = str = zip = first.shape",
        "print('rows', sales.count(), spark.range(5).count())\nlate.first()",
    ];
    ask(&bench, "Which sales are the \"best\"?", &cells, &["by", "joined", "late", "first"]);
    bench
}

#[test]
fn a_script_asks_the_cluster_itself_and_fails_once_the_data_is_another() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench_with_turns(&spark.url_of("script"));
    // The second turn needs what the first one loaded.
    let run = shell(&bench, "csv-agent export py -o turn.py && python turn.py").succeeds();
    let told = "same as before: table `by`, table `joined`, table `late`, table `first`\n";
    assert!(run.stdout().ends_with(told), "{run}");
    let script = fs::read_to_string(bench.path("turn.py")).unwrap();
    assert!(script.contains(&spark.url()) && script.contains("SPARK_REMOTE"), "{script}");
    // Elsewhere, and in another time zone.
    let moved = "cp sales.csv moved.csv; TZ=Asia/Tokyo python turn.py sales=\"$PWD/moved.csv\"";
    shell(&bench, moved).succeeds();
    let other = "sed 's/,1200.50/,1200.51/' sales.csv > other.csv";
    let run = shell(&bench, &format!("{other}; python turn.py sales=\"$PWD/other.csv\""));
    assert!(run.fails_with(1).stderr().contains("AssertionError: table `by`: "), "the sum differs");
    let gone = "python turn.py sales=\"$PWD/nothing.csv\"";
    assert!(shell(&bench, gone).fails_with(1).stderr().contains("PATH_NOT_FOUND"));
}

#[test]
fn a_notebook_and_a_document_are_made_of_turns_over_a_cluster() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench_with_turns(&spark.url_of("notebook"));
    bench.run(["export", "ipynb", "all", "-o", "turns.ipynb"]).succeeds();
    let run = "import json\n\
               for cell in json.load(open('turns.ipynb'))['cells']:\n    \
                   if cell['cell_type'] == 'code': exec(''.join(cell['source']), globals())\n";
    fs::write(bench.path("run.py"), run).unwrap();
    let run = shell(&bench, "python run.py").succeeds();
    assert!(run.stdout().contains("same as before: table `by`"), "{run}");
    let run = bench.run(["export", "md"]).succeeds();
    assert!(run.stdout().contains("## joined") && run.stdout().contains("groupBy"), "{run}");
}

#[test]
fn what_code_shows_and_prints_of_a_cluster_is_proved() {
    let Some(spark) = Spark::shared() else { return };
    let url = spark.url_of("values");
    let bench = bench_at(&url);
    let rows = "at,n\n2024-01-01T00:30:00+02:00,1\n2024-06-01T12:00:00Z,\n";
    fs::write(bench.path("times.csv"), rows).unwrap();
    let times = format!("times={}", bench.path("times.csv").display());
    bench.run(["ingest", "-q", "--remote", url.as_str(), times.as_str()]).succeeds();
    let cells = [
        "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n\
         times = load('times')\ntimes",
        "try:\n    times.select('nothing').count()\nexcept Exception as error:\n    \
             print(type(error).__name__)\ntimes.show()\ntimes.toPandas()",
        "load('times', text=['n']).collect()",
        "times.selectExpr('date_trunc(\"day\", at) as day', 'n / 3 as part').toPandas().to_dict('list')",
    ];
    ask(&bench, "What is there?", &cells, &[]);
    let run = shell(&bench, "csv-agent export py -o turn.py && TZ=Asia/Tokyo python turn.py");
    let run = run.succeeds();
    let told = "same as before: the value of the code, what the code printed, the value of the \
                code, the value of the code\n";
    assert!(run.stdout().ends_with(told), "{run}");
    bench.run(["rerun", "--check", "--format", "reply"]).succeeds();
    shell(&bench, "sed -i s/00:30/01:30/ times.csv; ! python turn.py").succeeds();
    bench.run(["rerun", "--check", "--format", "reply"]).fails_with(12);
}

#[test]
fn rows_that_nothing_sorts_may_come_in_another_order_and_no_row_may_be_another() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench_at(&spark.url_of("order"));
    // More rows than an event has, and more than are collected.
    let cells = [
        "many = spark.range(3000).selectExpr('id', 'id / 7 as part')",
        "huge = spark.range(100_500).selectExpr('id % 10 as digit')",
        "fell = many.orderBy(many.id.desc()).select('id')",
    ];
    ask(&bench, "Which are the most?", &cells, &["many", "huge", "fell"]);
    shell(&bench, "csv-agent export py -o turn.py && python turn.py").succeeds();
    let check = |from: &str, to: &str, code: i32| {
        let text = fs::read_to_string(bench.path("turn.py")).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{text}");
        fs::write(bench.path("other.py"), text.replace(from, to)).unwrap();
        let run = shell(&bench, "python other.py");
        if code == 0 {
            run.succeeds()
        } else {
            run.fails_with(code)
        };
    };
    let many = "spark.range(3000).selectExpr('id', 'id / 7 as part')";
    check(many, "spark.range(3000).repartition(7).selectExpr('id', 'id / 7 as part')", 0);
    check(many, "spark.range(3000).selectExpr('id', 'id / 7 + 0.01 as part')", 1);
    check("spark.range(100_500)", "spark.range(100_501)", 1);
    check("many.id.desc()", "many.id.asc()", 1);
}

#[test]
fn the_calls_of_a_turn_run_again_on_the_cluster_and_changed_data_is_told() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench_with_turns(&spark.url_of("again"));
    let url = spark.url();
    let check = |arguments: &[&str], code: i32, said: &str| {
        let arguments = [&["rerun", "--check", "--format", "reply"], arguments].concat();
        let run = bench.run(arguments).fails_with(code);
        assert!(format!("{}{}", run.stdout(), run.stderr()).contains(said), "{run}");
    };
    check(&[], 0, "gives the same results: table `by`");
    let other = "sed 's/,1200.50/,1200.51/' sales.csv > other.csv; cp sales.csv moved.csv";
    shell(&bench, other).succeeds();
    let against = |name: &str| format!("sales={}", bench.path(name).display());
    check(&["--against", &against("moved.csv")], 0, "gives the same results");
    check(&["--against", &against("other.csv")], 12, "`total` was");
    check(&["--against", &against("nothing.csv")], 5, "nothing.csv");
    check(&["--against", "sales=no_such_table"], 5, "no_such_table");
    spark.python(&format!(
        "spark.read.csv('{}', header=True, inferSchema=True).write.mode('overwrite')\
         .saveAsTable('sales_again')",
        bench.path("moved.csv").display()
    ));
    check(&["--against", "sales=sales_again"], 0, "gives the same results");
    // A file of this machine takes the place of one, as ever.
    shell(&bench, "sed s/leaf/herb/ goods.csv > herbs.csv").succeeds();
    check(&["--against", "goods=herbs.csv"], 12, "`kind` `herb`: new");
    // The session has what it had; what has changed is the file that the cluster reads.
    check(&[], 0, "gives the same results");
    shell(&bench, "mv other.csv sales.csv").succeeds();
    check(&[], 12, "`total` was");
    assert!(bench.run(["datasets", "--json"]).succeeds().stdout().contains(&url));
}

#[test]
fn verdicts_gates_and_schemas_hold_over_a_cluster() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench_at(&spark.url_of("gates"));
    fs::write(bench.path("rules.toml"), "[revenue]\ngood = '>= 500'\nbad = '< 450'\n").unwrap();
    let finding = json!({"severity": "bad", "message": "one sale is small", "dataset": "sales",
        "column": "revenue", "rows": [3], "table": "small"});
    let answer = json!({"text": "One of 10 sales is below 500.", "findings": [finding],
        "assessment": "bad", "output": {"n": 1}});
    bench.answers([
        round().runs("c1", "df = load('sales')\nsmall = df.filter('revenue < 500')\ndf.count()"),
        round().calls(
            "c2",
            "send_data_to_ui_as_df",
            json!({"df_name": "small", "logical_name": "small"}),
        ),
        round().says(&answer.to_string()),
    ]);
    let schema = r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
        "additionalProperties": false}"#;
    let flags = ["--fail-on", "bad", "--schema", schema, "--thresholds", "rules.toml", "--json"];
    let run = bench.ask_with(flags, "Is any sale small?").fails_with(11);
    let found: Value = serde_json::from_str(run.stdout()).unwrap();
    assert_eq!(
        (&found["assessment"], &found["output"]),
        (&json!("bad"), &json!({"n": 1})),
        "{run}"
    );
    let findings = found["findings"].as_array().unwrap();
    let of_model = findings.iter().find(|it| it["message"] == "one sale is small").unwrap();
    // Rows have no numbers there, and no lines here.
    assert_eq!((&of_model["rows"], &of_model["source_lines"]), (&json!([]), &json!([])), "{run}");
    assert_eq!(of_model["call_id"], "c2", "{run}");
    let counted = findings.iter().filter(|it| it["message"] != "one sale is small");
    let counted: Vec<&Value> = counted.collect();
    assert_eq!(counted.len(), 1, "{run}");
    assert_eq!(
        (&counted[0]["column"], &counted[0]["severity"]),
        (&json!("revenue"), &json!("bad"))
    );
}
