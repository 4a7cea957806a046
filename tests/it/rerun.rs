//! The calls of a turn again, without a model: on the same data, on other data, and after other turns.

use std::fs;

use serde_json::json;

use crate::bench::{Bench, Run, round};

const SALES: &str = "region,product,revenue\nNorth,Anvil,120.5\nSouth,Rope,80\nSouth,Anvil,99.25\n\
                     North,Glue,\nEast,Glue,11.5\n";

/// A session with `sales.csv`, and a file `new.csv` with a change in it.
fn bench(from: &str, to: &str) -> Bench {
    let bench = Bench::with([]);
    fs::write(bench.path("sales.csv"), SALES).unwrap();
    fs::write(bench.path("new.csv"), SALES.replace(from, to)).unwrap();
    bench.run(["ingest", "sales.csv"]).succeeds();
    bench
}

fn builtin(bench: &Bench, question: &str) {
    bench.run(["ask", "--model", "builtin", question]).succeeds();
}

fn rerun(bench: &Bench, turn: &str) -> Run {
    bench.run(["rerun", turn, "--against", "sales=new.csv", "--check", "--format", "reply"])
}

#[test]
fn the_same_data_gives_the_same_and_needs_no_key() {
    let bench = bench("", "");
    builtin(&bench, "total revenue by region");
    let run = bench.shell("env -u OPENAI_API_KEY csv-agent rerun --check", &[]).succeeds();
    let told = "Turn 1 gives the same results: table `total_revenue_by_region`.\n";
    assert!(run.stdout().ends_with(told), "{}", run.stdout());
    assert!(run.stdout().starts_with("| region | total_revenue |\n"), "{}", run.stdout());
}

#[test]
fn only_what_other_data_changes_is_different() {
    let bench = bench("99.25", "100.25");
    builtin(&bench, "total revenue by region");
    builtin(&bench, "number of rows by product");
    let run = rerun(&bench, "1").fails_with(12);
    assert_eq!(
        run.stdout(),
        "Turn 1 gives different results:\n\n- table `total_revenue_by_region`: `region` `South`: \
         `total_revenue` was 179.25, is 180.25\n"
    );
    rerun(&bench, "2").succeeds();
    // Without `--check` it is data.
    bench.run(["rerun", "1", "--against", "sales=new.csv"]).succeeds();
    let csv = bench.run(["rerun", "1", "--against", "sales=new.csv", "--format", "csv"]);
    assert!(csv.succeeds().stdout().contains("South,180.25\n"));
}

#[test]
fn a_column_that_is_gone_is_the_reason_and_no_traceback() {
    let bench = bench("revenue", "amount");
    builtin(&bench, "total revenue by region");
    let run = rerun(&bench, "1").fails_with(12);
    let lines: Vec<&str> = run.stdout().lines().collect();
    let [.., failed, missing] = lines[..] else { panic!("{run}") };
    assert!(
        failed.starts_with("- `query_datasets` failed: no column `revenue` (line 1, "),
        "{run}"
    );
    assert!(failed.ends_with("; the columns are region, product, amount"), "{run}");
    assert_eq!(missing, "- table `total_revenue_by_region`: it is missing now");
}

#[test]
fn rows_in_another_order_are_the_same_table() {
    let lines: Vec<&str> = SALES.lines().collect();
    let turned: Vec<&str> = lines[..1].iter().chain(lines[1..].iter().rev()).copied().collect();
    let bench = bench("", "");
    fs::write(bench.path("new.csv"), turned.join("\n") + "\n").unwrap();
    builtin(&bench, "total revenue by region");
    builtin(&bench, "top 2 products by revenue, as a bar chart");
    rerun(&bench, "1").succeeds();
    rerun(&bench, "2").succeeds();
    // A chart that nobody is told of is not left behind.
    let left = fs::read_dir(bench.path("..")).unwrap().flatten();
    let left = left.filter(|it| it.file_name().to_string_lossy().starts_with("csv-agent-"));
    assert_eq!(left.count(), 0);
}

#[test]
fn what_earlier_turns_made_is_made_again_and_no_more() {
    let bench = bench("80", "81");
    let code = |id: &str, code: &str| round().calls(id, "python_repl", json!({"code": code}));
    let bench = bench.script([
        code("a1", "df = load('sales')\nimport time"),
        code("a2", "other = 1 / 0"),
        code("a3", "df['twice'] = df['revenue'] * 2"),
        round().says("Done."),
        code("b1", "print(df.shape)\ntotal = df['twice'].sum()\ntotal"),
        round().says("It is 622.5."),
        code("c1", "raise SystemError('never again')"),
        code("c2", "len(load('sales'))"),
        round().says("5 rows."),
    ]);
    for question in ["Load it.", "Twice the revenue?", "How many rows?"] {
        bench.ask(question).succeeds();
    }
    let same = bench.run(["rerun", "2", "--check", "--format", "reply"]).succeeds();
    assert_eq!(same.stdout(), "Turn 2 gives the same results: the value of the code.\n");
    let run = rerun(&bench, "2").fails_with(12);
    assert!(run.stdout().contains("- the value of the code: was `622.5`"), "{run}");
    rerun(&bench, "3").succeeds();
    // Only the turn's own calls are told.
    let tools =
        |it: &str| bench.run(["rerun", "-v", it]).stderr().matches("tool python_repl").count();
    assert_eq!((tools("1"), tools("2")), (3, 1));
}

#[test]
fn a_number_that_the_answer_quotes_is_a_part_of_it_and_a_look_on_the_way_is_not() {
    let bench = bench("East,Glue,11.5\n", "East,Glue,11.5\nEast,Glue,11.5\n");
    let send = json!({"df_name": "names", "logical_name": "products"});
    let script = |text: &str| {
        let names = "names = df[['product']].drop_duplicates()";
        let looks = round().runs("a1", "df = load('sales')\ndf.tail(1)").runs("a2", "len(df)");
        let sends = round().runs("a3", names).calls("a4", "send_data_to_ui_as_df", send.clone());
        [looks, sends, round().says(text)]
    };
    let bench =
        bench.script(script("There are 5 rows.").into_iter().chain(script("See the table.")));
    bench.ask("Which products?").succeeds();
    bench.ask("Again?").succeeds();
    let run = rerun(&bench, "1").fails_with(12);
    assert_eq!(
        run.stdout(),
        "Turn 1 gives different results:\n\n- the value of the code: was `5`, is `6`\n"
    );
    rerun(&bench, "2").succeeds();
}

#[test]
fn every_row_of_a_large_table_is_compared() {
    const N_ROWS: u32 = 100_000;
    let bench = Bench::with([]);
    let line = |at: u32| format!("{at},{},r{}\n", f64::from(at) / 3.0, at % 7);
    let lines: Vec<String> = (0..N_ROWS).map(line).collect();
    let write = |lines: &[String]| {
        fs::write(bench.path("new.csv"), format!("id,share,kind\n{}", lines.concat())).unwrap();
    };
    write(&lines);
    fs::copy(bench.path("new.csv"), bench.path("sales.csv")).unwrap();
    bench.run(["ingest", "sales.csv"]).succeeds();
    let asks = |name: &str, code: &str, question: &str| {
        let (runs, sends) = (format!("{name}1"), format!("{name}2"));
        let send = json!({"df_name": "df", "logical_name": "all"});
        bench.answers([
            round().runs(&runs, code).calls(&sends, "send_data_to_ui_as_df", send),
            round().says("See the table."),
        ]);
        bench.ask(question).succeeds();
    };
    asks("a", "df = load('sales')", "All rows?");
    let code = "df = load('sales').sort_values('share')[['kind', 'id']]";
    asks("b", code, "All kinds, sorted by share?");
    let check = |turn: &str| rerun(&bench, turn).stdout().to_owned();

    assert_eq!(check("1"), "Turn 1 gives the same results: table `all`.\n");
    let mut changed = lines.clone();
    changed[50_000] = "50000,0.5,r6\n".to_owned();
    // As far as floats are compared, this is the same.
    changed[70_000] = format!("70000,{},r0\n", 70_000.0 / 3.0 * (1.0 + 1e-12));
    write(&changed);
    assert_eq!(
        check("1"),
        "Turn 1 gives different results:\n\n- table `all`: 1 of 100000 rows differs\n- table `all`: `id` 50000: \
         `share` was 16666.666666666668, is 0.5\n"
    );
    // There it is the first of the rows that have moved.
    let moved = check("2");
    assert!(moved.contains("- table `all`: the rows are in a different order\n"), "{moved}");
    let mut turned = lines.clone();
    turned.swap(60_000, 90_000);
    write(&turned);
    assert_eq!(check("1"), "Turn 1 gives the same results: table `all`.\n");
    rerun(&bench, "1").succeeds();

    // Without its file, a table has the rows of its event.
    fs::remove_dir_all(bench.session().join("turns/0001/tables")).unwrap();
    let part = "Turn 1 gives the same results: table `all` (the first 2000 of 100000 rows).\n";
    assert_eq!(check("1"), part);
}

#[test]
fn a_file_is_read_as_the_dataset_was_told_to_be() {
    let bench = Bench::with([]);
    fs::write(bench.path("old.txt"), "zip\tweight\n01234\t-\n99999\t2\n").unwrap();
    let flags = ["--name", "codes", "--delimiter", "tab", "--null", "-", "--dtype", "zip=string"];
    bench.run(["ingest", "old.txt"].into_iter().chain(flags)).succeeds();
    builtin(&bench, "how many rows have no weight?");
    let check =
        || bench.run(["rerun", "--against", "codes=new.txt", "--check", "--format", "reply"]);
    fs::write(bench.path("new.txt"), "zip\tweight\n1\t-\n2\t2\n").unwrap();
    check().succeeds();
    fs::write(bench.path("new.txt"), "zip\tweight\n1\t-\n2\t-\n").unwrap();
    check().fails_with(12);
}

#[test]
fn what_cannot_be_run_again_is_refused_with_the_reason() {
    let bench = bench("", "");
    bench.run(["rerun"]).fails_with(5);
    builtin(&bench, "number of rows by product");
    let run = bench.run(["rerun", "7"]).fails_with(5);
    assert!(run.stderr().contains("no turn 7"), "{run}");
    bench.run(["rerun", "--against", "sales"]).fails_with(2);
    let run = bench.run(["rerun", "--against", "slaes=new.csv"]).fails_with(5);
    assert!(run.stderr().contains("no dataset `slaes`"), "{run}");
    bench.run(["rerun", "--against", "sales=none.csv"]).fails_with(5);
    bench.run(["rerun", "--format", "csv", "--table", "x"]).fails_with(9);
}

#[test]
fn a_dataset_whose_file_is_torn_is_told_unless_another_file_takes_its_place() {
    let bench = bench("", "");
    builtin(&bench, "total revenue by region");
    let file = bench.session().join("datasets/sales.parquet");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let run = bench.run(["rerun"]).fails_with(3);
    assert!(run.stderr().contains("sales.parquet` is damaged"), "{run}");
    assert!(run.stderr().contains("csv-agent doctor --session --repair"), "{run}");
    rerun(&bench, "1").succeeds();
    bench.run(["doctor", "--session", "--repair"]).succeeds();
    bench.run(["rerun", "--check"]).succeeds();
}

#[test]
fn a_file_that_changed_or_has_text_for_numbers_is_said() {
    let bench = Bench::with([]);
    let orders = "id;region;amount\n1;N;10,50\n2;N;7,25\n3;W;100,00\n";
    fs::write(bench.path("orders.csv"), orders).unwrap();
    fs::write(bench.path("next.csv"), orders.replace("7,25", "n.a.")).unwrap();
    bench.run(["ingest", "orders.csv"]).succeeds();
    builtin(&bench, "total amount by region");
    let against = bench.run(["rerun", "--against", "orders=next.csv"]);
    let text = "column `amount` of `orders` is text in `next.csv`; in the original it is float64";
    assert!(against.stderr().contains(text), "{against}");
    bench.run(["rerun", "--check", "--against", "orders=next.csv"]).fails_with(12);
    assert_eq!(bench.run(["rerun"]).succeeds().stderr(), "");
    fs::write(bench.path("orders.csv"), orders.replace("100,00", "-9,00")).unwrap();
    let run = bench.run(["rerun", "last", "--check"]).succeeds();
    assert!(run.stderr().contains("`orders.csv` has changed since it was ingested"), "{run}");
}

#[test]
fn answers_in_sql_are_run_again_without_python() {
    let bench = bench("North", "North").variable("CSV_AGENT_PYTHON", "/nonexistent");
    builtin(&bench, "total revenue by region");
    builtin(&bench, "average revenue by product");
    let run = bench.run(["rerun", "last", "--check", "--format", "reply"]).succeeds();
    assert!(run.stdout().contains("gives the same results"), "{run}");
    // Where the statement fails, its result is not looked for in Python.
    fs::write(bench.path("new.csv"), SALES.replace("product", "item")).unwrap();
    let run = rerun(&bench, "last").fails_with(12);
    assert!(run.stdout().contains("no column `product`"), "{run}");
}
