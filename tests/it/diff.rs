//! `diff`: two versions of a table, and what differs.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{Bench, Run};

const OLD: &str = "id,name,total\n1,ann,5\n2,\"b\no\",7\n3,eve,9\n4,joe,1\n";
const NEW: &str = "total,id,name\n8,2,\"b\no\"\n5,1,ann\n9,3,Eve\n2,5,kim\n";

fn bench(old: &str, new: &str) -> Bench {
    let bench = Bench::with([]);
    fs::write(bench.path("old.csv"), old).unwrap();
    fs::write(bench.path("new.csv"), new).unwrap();
    bench
}

fn diff(bench: &Bench, flags: &str) -> Run {
    bench.shell(&format!("csv-agent diff -q old.csv new.csv {flags}"), &[])
}

fn documents(run: &Run) -> Vec<Value> {
    serde_json::from_str(run.stdout()).unwrap()
}

#[test]
fn rows_and_cells_that_differ_are_shown_with_their_lines() {
    let bench = bench(OLD, NEW);
    let run = diff(&bench, "").fails_with(12);
    assert_eq!(
        run.stdout(),
        "changed  new.csv:2: id=2, total=7 → 8\n\
         changed  new.csv:5: id=3, name=eve → Eve\n\
         removed  old.csv:6: id=4, name=joe, total=1\n\
         added    new.csv:6: id=5, name=kim, total=2\n\
         \n4 rows: 2 changed (2 cells), 1 removed, 1 added. Rows are matched by `id`.\n\
         Changed cells: `name` 1, `total` 1.\n"
    );
    let run = diff(&bench, "--json").fails_with(12);
    let found = documents(&run);
    assert_eq!(found.len(), 4);
    assert_eq!(found[0]["key"], json!({"id": 2}));
    assert_eq!(found[0]["cells"], json!({"total": {"old": 7, "new": 8}}));
    assert_eq!(found[3]["values"], json!({"id": 5, "name": "kim", "total": 2}));
    let run = diff(&bench, "--format csv").fails_with(12);
    let rows = "change,file,line,key,column,old,new\nchanged,new.csv,2,id=2,total,7,8\n";
    assert!(run.stdout().starts_with(rows), "{run}");
    let rows = "removed,old.csv,6,id=4,name,joe,\nremoved,old.csv,6,id=4,total,1,\n\
                added,new.csv,6,id=5,name,,kim\nadded,new.csv,6,id=5,total,,2\n";
    assert!(run.stdout().ends_with(rows), "{run}");
    assert!(!bench.session().exists());
}

#[test]
fn versions_that_are_the_same_end_with_0() {
    for (old, new) in [
        (OLD, OLD),
        // The order of rows and columns makes no difference, nor how a value is written.
        ("a,b\n1,x\n2,y\n", "b;a\ny;2\n\"x\";1\n"),
        ("a\nx\nx\ny\n", "a\ny\nx\nx\n"),
        ("a,b\n", "b,a\n"),
        ("a,b\n1,\n2,x\n", "a,b\n2,x\n1,\n"),
    ] {
        let run = diff(&bench(old, new), "").succeeds();
        assert!(run.stdout().contains("no row differs"), "{run}");
        assert_eq!(diff(&bench(old, new), "--json").succeeds().stdout(), "[]\n");
    }
}

#[test]
fn columns_that_came_went_or_have_another_type_are_differences() {
    let bench = bench("id,a,b\n1,2,x\n2,3,y\n", "id,a,c\n1,2,x\n2,n/a!,y\n");
    let run = diff(&bench, "").fails_with(12);
    let text = "removed  column `b`\nadded    column `c`\nchanged  column `a`: int64 → string\n\
                changed  new.csv:3: id=2, a=3 → n/a!\n";
    assert!(run.stdout().starts_with(text), "{run}");
    let changes: Vec<String> = documents(&diff(&bench, "--json").fails_with(12))
        .iter()
        .map(|it| it["change"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(changes, ["column_removed", "column_added", "column_type", "changed"]);
    diff(&bench, "--ignore a --ignore b --ignore c").succeeds();
}

#[test]
fn a_warning_names_the_file() {
    let bench = bench("id,a\n1,2\n3\n", "id,a\n1,2\n3,4\n");
    let run = diff(&bench, "").fails_with(12);
    assert_eq!(run.stderr(), "warning: `old.csv`: 1 short row padded\n");
}

#[test]
fn without_a_key_whole_rows_are_compared_and_each_copy_counts() {
    let run = diff(&bench("a,b\n1,x\n1,x\n1,x\n2,y\n", "a,b\n2,y\n1,x\n"), "").fails_with(12);
    assert_eq!(
        run.stdout(),
        "removed  old.csv:3: a=1, b=x\nremoved  old.csv:4: a=1, b=x\n\
         \n4 → 2 rows: 2 removed. Whole rows are compared, since no column identifies them.\n"
    );
}

#[test]
fn a_key_has_to_identify_the_rows() {
    let bench = bench("a,b,n\n1,x,5\n1,y,6\n", "a,b,n\n1,x,5\n1,y,7\n");
    let run = diff(&bench, "--key a").fails_with(5);
    let message = "error: `a` does not identify the rows of `old.csv`: 2 rows have a=1\n";
    assert!(run.stderr().starts_with(message), "{run}");
    let run = diff(&bench, "--key a --key b").fails_with(12);
    assert!(run.stdout().starts_with("changed  new.csv:3: a=1, b=y, n=6 → 7\n"), "{run}");
    let run = diff(&bench, "--key aa").fails_with(2);
    assert!(run.stderr().contains("no column `aa` in `old.csv`\n"), "{run}");
    diff(&bench, "--key A --key B").fails_with(12);
    diff(&bench, "--key a --key b --ignore a").fails_with(2);
    // A key that is missing is a key as well.
    fs::write(bench.path("old.csv"), "a,n\n,1\n2,2\n").unwrap();
    fs::write(bench.path("new.csv"), "a,n\n2,2\n,3\n").unwrap();
    let run = diff(&bench, "--key a").fails_with(12);
    assert!(run.stdout().starts_with("changed  new.csv:3: a=null, n=1 → 3\n"), "{run}");
}

#[test]
fn programs_get_all_and_people_the_first() {
    let rows = |n: i64| (0..n).flat_map(|it| [format!("{it},{it}\n")]).collect::<String>();
    let bench = bench(&format!("id,n\n{}", rows(1)), &format!("id,n\n{}", rows(1_234)));
    let run = diff(&bench, "").fails_with(12);
    assert!(run.stdout().contains("         and 1,213 more added rows\n"), "{run}");
    assert_eq!(documents(&diff(&bench, "--json").fails_with(12)).len(), 1_233);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let bench = bench("a\n1\n", "b\n1\n");
    let run = diff(&bench, "").fails_with(5);
    assert!(run.stderr().contains("no column in common"), "{run}");
    bench.shell("csv-agent diff -q old.csv none.csv", &[]).fails_with(5);
    bench.shell("csv-agent diff -q old.csv", &[]).fails_with(2);
}

#[test]
fn many_rows_are_joined_at_once() {
    let row = |it: usize| [format!("{it},{}\n", it % 7)];
    let rows = format!("id,n\n{}", (0..60_000).flat_map(row).collect::<String>());
    let same = bench(&rows, &rows);
    diff(&same, "--timeout 60s").succeeds();
    let other = bench(&rows, &rows.replace("\n59999,2\n", "\n59999,3\n"));
    let run = diff(&other, "--timeout 60s --ignore id").fails_with(12);
    assert!(run.stdout().contains("Whole rows are compared"), "{run}");
}

#[test]
fn a_text_among_decimals_changes_no_other_cell_and_folders_may_have_other_names() {
    let bench = bench("id,v\n1,1.50\n2,2.00\n3,1e5\n", "id,v\n1,1.50\n2,2.00\n3,1e5\n4,x\n");
    let run = diff(&bench, "").fails_with(12);
    assert!(run.stdout().contains("\n3 → 4 rows: 1 added. Rows are matched by `id`.\n"), "{run}");
    for dir in ["june", "july"] {
        fs::create_dir(bench.path(dir)).unwrap();
        for part in [1, 2] {
            fs::write(bench.path(&format!("{dir}/{part}.csv")), format!("id,v\n{part},5\n"))
                .unwrap();
        }
    }
    bench.shell("csv-agent diff -q 'june/*.csv' 'july/*.csv'", &[]).succeeds();
}

#[test]
fn numbers_are_compared_exactly_whatever_their_type() {
    let big = "9007199254740993";
    let run =
        diff(&bench(&format!("id,v\n1,{big}\n2,1\n"), "id,v\n1,9007199254740992\n2,1.5\n"), "");
    let run = run.fails_with(12);
    assert!(run.stdout().contains(&format!("id=1, v={big} → 9007199254740992.0\n")), "{run}");
    assert!(run.stdout().contains("2 changed (2 cells)"), "{run}");
    // A key as well.
    let (old, new) =
        (format!("id,v\n{big},1\n5,2\n"), "id,v\n9007199254740992.0,1\n5.0,3\n1.5,2\n");
    let run = diff(&bench(&old, new), "--key id").fails_with(12);
    assert!(run.stdout().contains("1 changed (1 cell), 1 removed, 2 added"), "{run}");
    let run = diff(&bench("id,v\n1,1.5\n2,inf\n3,2.5\n", "id,v\n1,inf\n2,-inf\n3,\n"), "--json");
    let found = documents(&run.fails_with(12));
    let cells = |at: usize| &found[at]["cells"]["v"];
    assert_eq!(cells(0), &json!({"old": 1.5, "new": "inf"}));
    assert_eq!(cells(1), &json!({"old": "inf", "new": "-inf"}));
    assert_eq!(cells(2), &json!({"old": 2.5, "new": null}));
}

#[test]
fn the_order_of_ambiguous_dates_can_be_said() {
    let old = "id,day\n1,01/02/2024\n2,03/04/2024\n";
    let bench = bench(old, &old.replace("03/04", "13/04"));
    let run = diff(&bench, "--date-order dmy").fails_with(12);
    assert!(run.stdout().contains("id=2, day=2024-04-03 → 2024-04-13\n"), "{run}");
    assert!(run.stdout().contains("1 changed (1 cell)"), "{run}");
    let rules = "[data]\nt = 'old.csv'\n[[check]]\nname = 'n'\nsql = \"select * from t where day > date '2024-04-01'\"\n";
    fs::write(bench.path("checks.toml"), rules).unwrap();
    bench.shell("csv-agent check -q --date-order dmy", &[]).fails_with(11);
    bench.shell("csv-agent check -q --date-order mdy", &[]).succeeds();
}

#[test]
fn a_version_without_rows_has_no_other_types_and_a_key_may_have_another_type() {
    let bench = bench("id,total\n1,5\n2,7\n", "id,total\n");
    let run = diff(&bench, "").fails_with(12);
    assert!(!run.stdout().contains("column `"), "{run}");
    assert!(run.stdout().contains("2 → 0 rows: 2 removed."), "{run}");
    fs::write(bench.path("new.csv"), "id,total\n1,5\n2,8\nA3,9\n").unwrap();
    let run = diff(&bench, "").fails_with(12);
    assert_eq!(
        run.stdout(),
        "changed  column `id`: int64 → string\n\
         changed  new.csv:3: id=2, total=7 → 8\n\
         added    new.csv:4: id=A3, total=9\n\
         \n2 → 3 rows: 1 changed (1 cell), 1 added. Rows are matched by `id`.\nChanged cells: `total` 1.\n"
    );
}

#[test]
fn a_day_is_its_midnight() {
    let bench = bench(
        "id,day,n\n1,2024-01-01,5\n2,2024-01-02,6\n3,,7\n",
        "id,day,n\n1,2024-01-01T00:00:00,5\n2,2024-01-02T06:00:00,6\n3,,7\n",
    );
    let run = diff(&bench, "").fails_with(12);
    assert_eq!(
        run.stdout(),
        "changed  column `day`: date → timestamp\n\
         changed  new.csv:3: id=2, day=2024-01-02T00:00:00 → 2024-01-02T06:00:00\n\
         \n3 rows: 1 changed (1 cell). Rows are matched by `id`.\n\
         Changed cells: `day` 1.\n"
    );
    let run = diff(&bench, "--key day").fails_with(12);
    assert!(run.stdout().contains("3 rows: 1 removed, 1 added"), "{run}");
}
