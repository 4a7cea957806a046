//! Files of a folder that are ingested again after they have changed: every name keeps its meaning.

use std::fs::{self, File};
use std::io::Write;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::bench::Bench;
use crate::inputs::{plain, workbook};

fn write(bench: &Bench, path: &str, content: impl AsRef<[u8]>) {
    let path = bench.path(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Writes a file with two tables, the second of `n` rows.
fn two_tables(bench: &Bench, path: &str, n: usize) {
    let first: Vec<String> = (1..7).map(|it| format!("{it},a{it},{}\n", 2 * it)).collect();
    let second: Vec<String> = (1..=n).map(|it| format!("2024-01-0{it},{it},x\n")).collect();
    let (first, second) = (first.concat(), second.concat());
    write(bench, path, format!("id,name,n\n{first}\nday,qty,sort\n{second}"));
}

fn zip(bench: &Bench, path: &str, members: &[&str]) {
    fs::create_dir_all(bench.path(path).parent().unwrap()).unwrap();
    let mut zip = ZipWriter::new(File::create(bench.path(path)).unwrap());
    for name in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        write!(zip, "k,n\n{name},1\n").unwrap();
    }
    zip.finish().unwrap();
}

fn book(bench: &Bench, path: &str, sheets: &[&str]) {
    let sheets: Vec<_> =
        sheets.iter().map(|name| (*name, "visible", plain(&[&["k", "n"], &[name, "1"]]))).collect();
    write(bench, path, workbook(&sheets));
}

#[track_caller]
fn ingest(bench: &Bench, arguments: &[&str], expected: &str) -> String {
    let run = bench.run([&["ingest"], arguments].concat()).succeeds();
    let found: Vec<String> = run
        .stdout()
        .lines()
        .skip(1)
        .map(|it| it.split('\t').collect::<Vec<_>>())
        .map(|it| format!("{} {} {}", it[0], it[1], it[3]))
        .collect();
    assert_eq!(found.join(", "), expected, "{}", run.stderr());
    run.stderr().to_owned()
}

#[track_caller]
fn count(bench: &Bench, name: &str, expected: u64) -> String {
    let run = bench.run(["query", &format!("select count(*) as n from {name}"), "--format", "csv"]);
    let run = run.succeeds();
    assert_eq!(run.stdout(), format!("n\n{expected}\n"), "{name}");
    run.stderr().to_owned()
}

#[test]
fn a_name_keeps_meaning_its_sheet_or_member_when_others_come_and_go() {
    let bench = Bench::with([]);
    let first = |name: &str| {
        let run = bench.run(["datasets", name, "--head", "1", "--format", "csv"]).succeeds();
        run.stdout().lines().nth(1).unwrap().to_owned()
    };
    book(&bench, "k.xlsx", &["Q1"]);
    zip(&bench, "z.zip", &["a.csv"]);
    let both = ["k.xlsx", "z.zip"];
    ingest(&bench, &both, "k 1 added, z 1 added");
    book(&bench, "k.xlsx", &["Q2", "Q1"]);
    zip(&bench, "z.zip", &["a.csv", "b.csv"]);
    let told = ingest(&bench, &both, "k_Q2 1 added, k 1 updated, z 1 updated, b 1 added");
    assert!(!told.contains("earlier data"), "{told}");
    assert_eq!([first("k"), first("k_Q2"), first("z")], ["Q1,1", "Q2,1", "a.csv,1"]);
    book(&bench, "k.xlsx", &["Q2"]);
    zip(&bench, "z.zip", &["b.csv"]);
    let told = ingest(&bench, &both, "k_Q2 1 updated, b 1 updated");
    for (name, file, part) in [("k", "k.xlsx", "Q1"), ("z", "z.zip", "a.csv")] {
        let gone = format!(
            "warning: `{name}` has its earlier data: `{file}` no longer contains `{part}`; \
             `csv-agent datasets --rm {name}` removes it\n"
        );
        assert!(told.contains(&gone), "{told}");
        assert!(count(&bench, name, 1).contains(&gone), "{told}");
    }
    assert_eq!([first("k"), first("k_Q2"), first("z")], ["Q1,1", "Q2,1", "a.csv,1"]);
}

#[test]
fn a_file_with_another_only_sheet_keeps_its_name_and_says_so() {
    let bench = Bench::with([]);
    book(&bench, "k.xlsx", &["May"]);
    ingest(&bench, &["k.xlsx"], "k 1 added");
    book(&bench, "k.xlsx", &["June"]);
    let told = ingest(&bench, &["k.xlsx"], "k 1 updated");
    let renamed = "`k` is now `June`, the only part of `k.xlsx`, which no longer contains `May`";
    assert!(told.contains(renamed), "{told}");
}

#[test]
fn further_tables_are_read_again_with_their_file() {
    let bench = Bench::with([]);
    two_tables(&bench, "r.csv", 6);
    ingest(&bench, &["r.csv", "--tables", "all"], "r 6 added, r_2 6 added");
    two_tables(&bench, "r.csv", 7);
    let told = count(&bench, "r_2", 6);
    let advice =
        "`r.csv` has changed since it was ingested; `csv-agent ingest r.csv` reads it again";
    assert!(told.contains(advice), "{told}");
    ingest(&bench, &["r.csv"], "r 6 updated, r_2 7 updated");
    assert_eq!(count(&bench, "r_2", 7), "");
    write(&bench, "r.csv", "id,name,n\n1,a,2\n");
    let told = ingest(&bench, &["r.csv"], "r 1 updated");
    assert!(
        told.contains("`r_2` has its earlier data: `r.csv` no longer has this table"),
        "{told}"
    );
}

#[test]
fn the_tables_of_all_files_are_joined_by_their_position() {
    let bench = Bench::with([]);
    for (name, n) in [("a", 6), ("b", 7)] {
        two_tables(&bench, &format!("d/{name}.csv"), n);
    }
    write(&bench, "d/c.csv", "id,name,n\n9,z,0\n");
    let (all, pattern) = (["--tables", "all"], "all=d/*.csv");
    let told = ingest(&bench, &["first=d/*.csv"], "first 13 added");
    assert!(told.contains("; `--tables all` reads the other tables as well\n"), "{told}");
    ingest(&bench, &[&[pattern][..], &all].concat(), "all 13 added, all_2 13 added");
    ingest(&bench, &[&["--union", "d"][..], &all].concat(), "d 13 added, d_2 13 added");
    let rows = "select _file, count(*) as n from all_2 group by 1 order by 1";
    let run = bench.run(["query", rows, "--format", "csv"]).succeeds();
    assert_eq!(run.stdout(), "_file,n\nd/a.csv,6\nd/b.csv,7\n");
    // The flags are kept.
    two_tables(&bench, "d/a.csv", 8);
    ingest(&bench, &[pattern], "all 13 updated, all_2 15 updated");
    ingest(&bench, &[pattern], "all 13 unchanged, all_2 15 unchanged");
    // Other tables are not joined, and nothing is lost without a word.
    let rows = "1,a,2\n2,b,3\n3,c,4\n";
    let text = format!(
        "id,name,n\n{rows}\nday,other,sort\n2024-01-01,5,x\n2024-01-02,6,y\n2024-01-03,7,z\n"
    );
    write(&bench, "d/e.csv", text);
    for _ in 0..2 {
        let run = bench.run(["ingest", pattern]).fails_with(5);
        assert_eq!(run.stdout(), "");
        let told = "cannot join `d/e.csv` with `d/a.csv`: it has `other` and not `qty`";
        assert!(run.stderr().contains(told), "{}", run.stderr());
        assert!(
            run.stderr()
                .contains("`csv-agent ingest --tables all PATH…` makes a dataset of each table"),
            "{}",
            run.stderr()
        );
    }
}

#[test]
fn tables_with_the_same_names_are_apart_when_asked() {
    let bench = Bench::with([]);
    let rows = "month,sales\nJan,1\nFeb,2\nMar,3\n";
    write(&bench, "s.csv", format!("Region A\n{rows}\nRegion B\n{rows}Apr,4\n"));
    ingest(&bench, &["s.csv", "--tables", "all"], "s 3 added, s_2 4 added");
}

#[test]
fn a_joined_dataset_says_that_its_files_have_changed() {
    let bench = Bench::with([]);
    for name in ["a", "b", "c"] {
        write(&bench, &format!("d/{name}.csv"), format!("k,n\n{name},1\n"));
    }
    write(&bench, "d/broken.csv", [0, 1, 2, 3].repeat(100));
    bench.run(["ingest", "all=d/*.csv"]).fails_with(5);
    assert_eq!(count(&bench, "all", 3), "");
    write(&bench, "d/a.csv", "k,n\na,1\na,2\n");
    write(&bench, "d/new.csv", "k,n\nd,1\n");
    fs::remove_file(bench.path("d/c.csv")).unwrap();
    let told = count(&bench, "all", 3);
    let expected = "warning: the files of `all` have changed since they were joined (1 changed, 1 new, 1 gone); \
                    `csv-agent ingest \"all=d/*.csv\"` reads them again\n";
    assert_eq!(told, expected);
    assert_eq!(bench.run(["datasets"]).succeeds().stderr(), expected);
    fs::remove_file(bench.path("d/broken.csv")).unwrap();
    ingest(&bench, &["all=d/*.csv"], "all 4 updated");
    assert_eq!(count(&bench, "all", 4), "");
}

#[test]
fn files_are_joined_again_with_the_flags_that_joined_them() {
    let bench = Bench::with([]);
    for name in ["x", "y"] {
        book(&bench, &format!("d/{name}.xlsx"), &["Q1", "Q2"]);
    }
    write(&bench, "d/z.csv", "k;n\nz;1,5\n");
    ingest(&bench, &["--union-by-name", "mix=d", "--sheet", "Q2"], "mix 3 added");
    ingest(&bench, &["mix=d"], "mix 3 unchanged");
    write(&bench, "d/z.csv", "k,m\nz,1\n");
    ingest(&bench, &["mix=d"], "mix 3 updated");
}

#[test]
fn the_lock_file_of_a_workbook_is_passed_over() {
    let bench = Bench::with([]);
    book(&bench, "d/a.xlsx", &["Q1"]);
    write(&bench, "d/~$a.xlsx", "\u{5}Ann");
    let note = "skipped 1 hidden file";
    for paths in [&["d/*.xlsx"][..], &["d"], &["d/a.xlsx", "d/~$a.xlsx"]] {
        let run = bench.run([&["ingest", "-v"], paths].concat()).succeeds();
        assert!(run.stderr().contains(note), "{}", run.stderr());
        assert_eq!(run.stdout().lines().count(), 2, "{}", run.stdout());
    }
    let run = bench.run(["ingest", "d/~$a.xlsx"]).fails_with(5);
    assert!(run.stderr().contains("it marks a workbook as open"), "{}", run.stderr());
}

#[test]
fn json_around_a_list_is_read_and_other_json_is_named() {
    let bench = Bench::with([]);
    write(
        &bench,
        "d/a.json",
        "{\"n\": 2, \"result\": {\"rows\": [\n {\"a\": 1, \"b\": [{\"c\": 1}]},\n {\"a\": 2}]}}",
    );
    write(&bench, "d/b.json", "{\"name\": \"x\", \"version\": 1}");
    write(&bench, "d/c.json", "{\"a\": [{}], \"b\": [{}]}");
    write(&bench, "d/one.jsonl", "{\"a\": 1, \"b\": [{\"c\": 1}]}\n");
    let told = ingest(&bench, &["d"], "a 2 added, one 1 added");
    let skipped = "warning: `d`: skipped `b.json`, which has no list of objects, `c.json`, which has several lists of objects\n";
    assert!(told.contains(skipped), "{told}");
    let run = bench.run(["datasets", "a", "--head", "9", "--format", "csv"]).succeeds();
    assert_eq!(run.stdout(), "a,b\n1,\"[{\"\"c\"\":1}]\"\n2,\n");
    write(&bench, "d/b.json", "{\"data\": [{\"a\": 1},");
    let run = bench.run(["ingest", "d"]).fails_with(5);
    assert!(
        run.stderr().contains("cannot read `d/b.json` as JSON: it ends within a value"),
        "{}",
        run.stderr()
    );
}

#[test]
fn a_pattern_chooses_members_of_an_archive_and_its_parts_are_columns() {
    let bench = Bench::with([]);
    zip(&bench, "z.zip", &["2024/Kansas.csv", "2024/Ohio.csv", "2023/Ohio.csv", "2024/x.tsv"]);
    ingest(&bench, &["z.zip/2024/*.csv"], "Kansas 1 added, Ohio 1 added");
    ingest(&bench, &["all=z.zip/{year}/{state}.csv"], "all 3 added");
    let run =
        bench.run(["query", "select year, state, n from all order by 1, 2", "--format", "csv"]);
    assert_eq!(run.succeeds().stdout(), "year,state,n\n2023,Ohio,1\n2024,Kansas,1\n2024,Ohio,1\n");
    book(&bench, "b.xlsx", &["Q1", "Q2", "Sum"]);
    ingest(&bench, &["quarters=b.xlsx/Q{quarter}"], "quarters 2 added");
    zip(&bench, "z.zip", &["2024/Kansas.csv", "2024/Ohio.csv", "2025/Ohio.csv"]);
    let told = count(&bench, "all", 3);
    assert!(told.contains("(1 new, 1 gone)"), "{told}");
    ingest(&bench, &["all=z.zip/{year}/{state}.csv"], "all 3 updated");
    let run = bench.run(["ingest", "z.zip/*.txt"]).fails_with(5);
    assert!(run.stderr().contains("`z.zip` does not contain `*.txt`"), "{}", run.stderr());
}

#[test]
fn the_parts_of_a_table_below_a_directory_are_one_dataset() {
    let bench = Bench::with([]);
    write(&bench, "a.csv", "k,n\na,1\n");
    ingest(&bench, &["a.csv"], "a 1 added");
    for dir in ["data/sales/year=2023/month=01", "data/sales/year=2024/month=02", "data/old/sales"]
    {
        fs::create_dir_all(bench.path(dir)).unwrap();
        let file = bench.path(&format!("{dir}/part-0.parquet"));
        fs::copy(bench.session().join("datasets/a.parquet"), file).unwrap();
    }
    write(&bench, "data/x.csv", "x,y\n1,2\n");
    let all = "old_sales 1 added, data_sales 2 added, x 1 added";
    let run = bench.run(["ingest", "-v", "data"]).succeeds();
    assert!(
        run.stderr().contains("`data/sales`: its files were read as the parts of one table"),
        "{}",
        run.stderr()
    );
    let again = all.replace("added", "unchanged");
    ingest(&bench, &["data"], &again);
    let run =
        bench.run(["query", "select year, month, n from data_sales order by 1", "--format", "csv"]);
    assert_eq!(run.succeeds().stdout(), "year,month,n\n2023,01,1\n2024,02,1\n");
}

#[test]
fn the_command_that_joins_files_reads_their_further_tables_if_they_were_read() {
    let bench = Bench::with([]);
    for (name, n) in [("a", 6), ("b", 7), ("c", 8)] {
        two_tables(&bench, &format!("d/{name}.csv"), n);
    }
    let run = bench.run(["ingest", "-v", "d", "--tables", "all"]).succeeds();
    let hint = "`csv-agent ingest --tables all d='d/*.csv'` joins their files into one, and their further tables\n";
    assert_eq!(run.stderr().matches("joins their files").count(), 1, "{}", run.stderr());
    assert!(run.stderr().contains(hint), "{}", run.stderr());
    ingest(&bench, &["--tables", "all", "d=d/*.csv"], "d 18 added, d_2 21 added");
}
