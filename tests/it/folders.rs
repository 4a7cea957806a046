//! Many files at once: directories, patterns, archives, and what they are called.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{lchown, symlink};
use std::path::Path;

use flate2::write::GzEncoder;

use crate::bench::{Bench, round};

/// Writes files below the working directory.
fn write(bench: &Bench, files: &[(&str, &[u8])]) {
    for (name, content) in files {
        let path = bench.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

/// Files of an agency: a title and a note in each, the same names in two directories, one that is no data.
fn agency(bench: &Bench) {
    for kind in ["fraud", "theft"] {
        for state in ["Kansas", "Ohio", "Utah"] {
            let text =
                format!("{kind} in {state}\n\nKind,Reports\na,10\nb,20\nc,30\n\nSource: us\n");
            write(bench, &[(&format!("data/{kind}/{state}.csv"), text.as_bytes())]);
        }
    }
    write(bench, &[("data/README.txt", b"hi\n"), ("data/.old.csv", b"a\n1\n")]);
    write(bench, &[("data/broken.csv", &[0, 1, 2, 3].repeat(100))]);
}

fn names(bench: &Bench) -> Vec<String> {
    let run = bench.run(["datasets", "--names"]).succeeds();
    run.stdout().lines().map(str::to_owned).collect()
}

#[test]
fn a_directory_is_one_dataset_a_file_and_a_failure_undoes_no_other() {
    let bench = Bench::with([]);
    agency(&bench);
    let run = bench.run(["ingest", "-v", "data"]).fails_with(5);
    insta::assert_snapshot!(run.stdout().replace('\t', " | "), @r"
    name | rows | columns | status | source
    fraud_Kansas | 3 | 2 | added | data/fraud/Kansas.csv
    fraud_Ohio | 3 | 2 | added | data/fraud/Ohio.csv
    fraud_Utah | 3 | 2 | added | data/fraud/Utah.csv
    theft_Kansas | 3 | 2 | added | data/theft/Kansas.csv
    theft_Ohio | 3 | 2 | added | data/theft/Ohio.csv
    theft_Utah | 3 | 2 | added | data/theft/Utah.csv
    ");
    insta::assert_snapshot!(run.stderr(), @r"
    error: cannot read `data/broken.csv` as CSV: it is binary (byte 0x00 at offset 0)
      hint: export the table as CSV, or name another file
    warning: all 6 datasets: kept out of the table: 1 preamble line, 1 footer line
    note: `data`: skipped 1 .txt file, 1 hidden file
    note: 6 datasets (`fraud_Kansas`, `fraud_Ohio`, …) have the same columns; `csv-agent ingest data='data/*/*.csv'` joins their files into one
    note: 7 files: 6 added, 1 failed
    ");
}

#[test]
fn what_a_session_writes_is_not_data() {
    let bench = Bench::with([]);
    write(&bench, &[("a.csv", b"a\n1\n")]);
    bench.run(["-S", "mine", "ingest", "a.csv"]).succeeds();
    bench.run(["-S", "mine", "query", "select * from a"]).succeeds();
    let run = bench.run(["ingest", "-v", "."]).succeeds();
    assert_eq!(names(&bench), ["a"]);
    assert!(run.stderr().contains("parts of a session"), "{}", run.stderr());
    for path in ["mine", "mine/datasets"] {
        let run = bench.run(["ingest", path]).fails_with(5);
        assert!(run.stderr().contains("session"), "{}", run.stderr());
    }
    // Its directory may have data besides.
    write(&bench, &[("mine/b.csv", b"b\n1\n")]);
    bench.run(["-S", "mine", "ingest", "mine"]).succeeds();
}

#[test]
fn names_stay_when_files_are_added() {
    let bench = Bench::with([]);
    write(&bench, &[("data/fraud/Kansas.csv", b"a\n1\n")]);
    bench.run(["ingest", "-v", "data"]).succeeds();
    assert_eq!(names(&bench), ["Kansas"]);
    write(&bench, &[("data/theft/Kansas.csv", b"a\n2\n"), ("data/Ohio.csv", b"a\n3\n")]);
    let run = bench.run(["ingest", "-v", "./data/"]).succeeds();
    assert!(run.stderr().ends_with("note: 3 files: 2 added, 1 unchanged\n"), "{}", run.stderr());
    assert_eq!(names(&bench), ["Kansas", "Ohio", "theft_Kansas"]);
    let again = bench.run(["ingest", "-v", "data/theft/Kansas.csv"]).succeeds();
    assert!(again.stdout().contains("theft_Kansas\t1\t1\tunchanged"), "{}", again.stdout());
    // A directory that was moved has the same files.
    fs::create_dir(bench.path("2024")).unwrap();
    fs::rename(bench.path("data"), bench.path("2024/reports")).unwrap();
    let run = bench.run(["ingest", "-v", "2024"]).succeeds();
    assert!(run.stderr().ends_with("note: 3 files: 3 unchanged\n"), "{}", run.stderr());
    assert_eq!(names(&bench), ["Kansas", "Ohio", "theft_Kansas"]);
}

#[test]
fn patterns_are_expanded_and_names_made_of_paths() {
    let bench = Bench::with([]);
    agency(&bench);
    let pattern = "data/**/[KO]*.csv";
    bench.run(["ingest", "-v", pattern, "data/fraud", "--name-from", "{stem}_{parent}"]).succeeds();
    let expected = ["Kansas_fraud", "Kansas_theft", "Ohio_fraud", "Ohio_theft", "Utah_fraud"];
    assert_eq!(names(&bench), expected);
    let run = bench.run(["ingest", "-v", "data", "--name-from", "{stem}"]).fails_with(2);
    assert!(run.stderr().contains("the same name, `Kansas`"), "{}", run.stderr());
    let run = bench.run(["ingest", "-v", "data/*.tsv", "--no-recursive"]).fails_with(5);
    assert!(run.stderr().starts_with("error: no file matches `data/*.tsv`\n"), "{}", run.stderr());
    let run = bench.run(["ingest", "-v", "data", "--name", "all"]).fails_with(2);
    assert!(run.stderr().contains("several files"), "{}", run.stderr());
}

#[test]
fn a_directory_without_data_says_what_it_has() {
    let bench = Bench::with([]);
    write(&bench, &[("notes/a.txt", b"x\n1\n"), ("notes/b.txt", b"x\n2\n")]);
    let run = bench.run(["ingest", "-v", "notes"]).fails_with(5);
    insta::assert_snapshot!(run.stderr(), @r##"
    error: no data in `notes`: it contains 2 .txt files
      hint: data files end with `.csv`, `.tsv`, `.tab`, `.psv`, `.parquet`, `.pq`, `.xlsx`, `.xlsm`, `.xlsb`, `.xls`, `.ods`, `.jsonl`, `.ndjson`, `.db`, `.sqlite`, `.sqlite3`, `.arrow`, `.feather`, or `.json` with a list of objects; name other files yourself, as in `'notes/*.txt'`
    "##);
    bench.run(["ingest", "-v", "notes/*.txt"]).succeeds();
    assert_eq!(names(&bench), ["a", "b"]);
}

#[test]
fn each_file_of_an_archive_is_a_dataset() {
    let bench = Bench::with([]);
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (path, text) in [
        ("x/one.csv", "n\n1\n"),
        ("x/two.csv", "n\n1\n2\n"),
        ("x/a.pdf", "%PDF"),
        ("x/list.json", "[{\"k\": 1}]"),
        ("x/package.json", "{\"name\": \"x\"}"),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        tar.append_data(&mut header, path, text.as_bytes()).unwrap();
    }
    let tar = tar.into_inner().unwrap().finish().unwrap();
    let mut zip = zip::ZipWriter::new(fs::File::create(bench.path("b.zip")).unwrap());
    for (path, text) in
        [("one.csv", "n\n1\n"), ("__MACOSX/._one.csv", "\0"), ("three.csv", "n\n7\n")]
    {
        zip.start_file(path, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
    write(&bench, &[("a.tar.gz", &tar)]);
    let run = bench.run(["ingest", "-v", "a.tar.gz", "b.zip"]).succeeds();
    let skipped = "note: `a.tar.gz`: skipped 1 .json file, 1 .pdf file\n";
    assert!(run.stderr().contains(skipped), "{run}");
    insta::assert_snapshot!(run.stdout().replace('\t', " | "), @r"
    name | rows | columns | status | source
    list | 1 | 1 | added | a.tar.gz/x/list.json
    x_one | 1 | 1 | added | a.tar.gz/x/one.csv
    two | 2 | 1 | added | a.tar.gz/x/two.csv
    b_one | 1 | 1 | added | b.zip/one.csv
    three | 1 | 1 | added | b.zip/three.csv
    ");
    let run = bench.run(["ingest", "-v", "a.tar.gz", "b.zip"]).succeeds();
    assert!(run.stderr().contains("note: 5 files: 5 unchanged\n"), "{}", run.stderr());
    let left = fs::read_dir(bench.session().join("datasets")).unwrap();
    let is_temp = |it: &Path| it.extension().is_some_and(|it| it == "tmp");
    assert!(!left.map(|it| it.unwrap().path()).any(|it| is_temp(&it)));
}

#[test]
fn a_link_to_a_directory_is_not_followed() {
    let bench = Bench::with([]);
    write(&bench, &[("data/a.csv", b"n\n1\n")]);
    symlink(bench.path("data"), bench.path("data/again")).unwrap();
    let run = bench.run(["ingest", "-v", "data"]).succeeds();
    assert!(run.stderr().contains("skipped 1 link to a directory"), "{}", run.stderr());
    assert_eq!(names(&bench), ["a"]);
}

#[test]
fn a_link_out_of_a_directory_is_told_and_root_reads_none_of_another_user() {
    let bench = Bench::with([]);
    write(&bench, &[("data/a.csv", b"n\n1\n"), ("out/b.csv", b"n\n2\n"), ("out/c.csv", b"n\n3\n")]);
    let link = |from: &str, to: &str| {
        symlink(bench.path(to), bench.path(from)).unwrap();
    };
    link("data/again.csv", "data/a.csv");
    link("data/b.csv", "out/b.csv");
    link("data/c.csv", "out/c.csv");
    let told = |links: &str| {
        let target = bench.path("out/b.csv").canonicalize().unwrap();
        format!("{links} `data/b.csv` to `{}`", target.display())
    };
    let run = bench.run(["ingest", "-v", "data"]).succeeds();
    let away = told("note: `data`: read 2 links that point outside, the first");
    assert!(run.stderr().contains(&away), "{run}");
    assert_eq!(names(&bench), ["a", "b", "c"]);
    let nobody = Some(65_534);
    if lchown(bench.path("data/b.csv"), nobody, nobody).is_err() {
        return;
    }
    bench.run(["reset", "--all", "--yes"]).succeeds();
    let run = bench.run(["ingest", "-q", "data"]).succeeds();
    let foreign = told("warning: `data`: skipped a link of another user that points outside:");
    assert!(run.stderr().contains(&foreign) && !run.stderr().contains("note: "), "{run}");
    assert_eq!(names(&bench), ["a", "c"]);
    fs::remove_file(bench.path("data/a.csv")).unwrap();
    fs::remove_file(bench.path("data/c.csv")).unwrap();
    let run = bench.run(["ask", "--ephemeral", "-f", "data", "how many?"]).fails_with(5);
    assert!(run.stderr().contains(&foreign), "{run}");
    assert!(run.stderr().contains("1 link of another user"), "{run}");
}

#[test]
fn a_question_may_be_about_a_directory() {
    let bench = Bench::with([]).script([round().says("Six.")]);
    agency(&bench);
    let run = bench.run(["ask", "-f", "data", "how many?"]).succeeds();
    assert_eq!(run.stdout(), "Six.\n");
    assert!(
        run.stderr().starts_with("warning: cannot read `data/broken.csv` as CSV"),
        "{}",
        run.stderr()
    );
    let instructions = bench.request(0).body["instructions"].as_str().unwrap().to_owned();
    assert!(instructions.contains("theft_Utah"), "{instructions}");
    let run = bench.run(["ask", "-f", "data/broken.csv", "-f", "data", "how many?"]).fails_with(5);
    assert!(run.stderr().starts_with("error: cannot read `data/broken.csv`"), "{}", run.stderr());
}

#[test]
fn no_file_of_a_directory_hides_its_other_files() {
    let bench = Bench::with([]);
    let database = [b"SQLite format 3\0", &[1; 100][..]].concat();
    let workbook = [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", &[1; 600][..]].concat();
    let mut tar = [1; 512];
    tar[257..262].copy_from_slice(b"ustar");
    write(
        &bench,
        &[
            ("d/a.csv", b"n\n1\n"),
            ("d/cut.db", &database),
            ("d/cut.tar", &tar),
            ("d/cut.xls", &workbook),
            ("d/three.csv", b"\0\x01\x02"),
        ],
    );
    let run = bench.run(["query", "-f", "d", "--format", "csv", "select n from a"]).succeeds();
    assert_eq!(run.stdout(), "n\n1\n");
    let told = |it: &str| run.stderr().matches(&format!("warning: cannot read `d/{it}`")).count();
    assert_eq!(["cut.db", "cut.tar", "cut.xls", "three.csv"].map(told), [1, 1, 1, 1], "{run}");
    let run = bench.run(["query", "-f", "d/cut.db", "-f", "d", "select n from a"]).fails_with(5);
    assert!(run.stderr().starts_with("error: cannot read `d/cut.db`"), "{run}");
    let run = bench.run(["ingest", "-v", "d"]).fails_with(5);
    assert!(run.stderr().ends_with("note: 5 files: 1 added, 4 failed\n"), "{run}");
    fs::remove_file(bench.path("d/cut.tar")).unwrap();
    bench.run(["ingest", "--union", "d"]).fails_with(5);
    assert_eq!(head(&bench, "d"), "n,_file\n1,d/a.csv\n");
}

#[test]
fn the_command_that_joins_a_family_names_no_file_of_another() {
    let bench = Bench::with([]);
    for month in 1..=3 {
        let path = |kind| format!("d/{kind}-{month}.csv");
        write(&bench, &[(&path("in"), b"a,b\n1,2\n"), (&path("out"), b"c\n3\n")]);
    }
    let run = bench.run(["ingest", "-v", "d"]).succeeds();
    for joining in ["in='d/in-*.csv'", "out='d/out-*.csv'"] {
        let told = format!("have the same columns; `csv-agent ingest {joining}` joins their files");
        assert!(run.stderr().contains(&told), "{run}");
    }
    let run = bench.shell("csv-agent ingest in='d/in-*.csv'", &[]).succeeds();
    assert!(run.stdout().ends_with("in\t3\t3\tadded\td/in-*.csv\n"), "{run}");
}

/// Sales of three years, each written in another way.
fn years(bench: &Bench) {
    let latin1 = b"price;id;day;caf\xe9\n2,5;A5;02.01.2021;\xe9\n3,5;007;31.01.2021;x\n";
    write(
        bench,
        &[
            ("d/year=2020/a.csv", b"id,price,day\n1,2,2020-01-02\n2,3,2020-01-03\n"),
            ("d/year=2020/b.csv", b"id,price,day\n3,2.25,2020-02-02\n"),
            ("d/year=2021/a.csv", latin1),
            ("d/year=2022/a.tsv", b"day\tid\n2022-01-01\t12\n"),
        ],
    );
}

fn head(bench: &Bench, name: &str) -> String {
    bench.run(["datasets", name, "--head", "99", "--format", "csv"]).succeeds().stdout().to_owned()
}

#[test]
fn files_that_drift_are_one_dataset_by_name() {
    let bench = Bench::with([]);
    years(&bench);
    let join = || bench.run(["ingest", "-v", "--union-by-name", "sales=d/**/*.?sv"]).succeeds();
    let run = join();
    assert!(run.stdout().ends_with("sales\t6\t6\tadded\td/**/*.?sv\n"), "{}", run.stdout());
    insta::assert_snapshot!(head(&bench, "sales"), @r"
    id,price,day,café,year,_file
    1,2.0,2020-01-02,,2020,d/year=2020/a.csv
    2,3.0,2020-01-03,,2020,d/year=2020/a.csv
    3,2.25,2020-02-02,,2020,d/year=2020/b.csv
    A5,2.5,2021-01-02,é,2021,d/year=2021/a.csv
    007,3.5,2021-01-31,x,2021,d/year=2021/a.csv
    12,,2022-01-01,,2022,d/year=2022/a.tsv
    ");
    assert!(join().stdout().contains("\tunchanged\t"));
    write(&bench, &[("d/year=2022/b.csv", b"id\n13\n")]);
    let run = join();
    assert!(run.stdout().contains("sales\t7\t6\tupdated"), "{}", run.stdout());
    let left = fs::read_dir(bench.session().join("datasets")).unwrap();
    let mut left: Vec<_> = left.map(|it| it.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["sales.parquet"]);
}

#[test]
fn no_value_of_a_union_is_changed() {
    let bench = Bench::with([]);
    let long = b"n,when,flag\n9007199254740993,01/02/2024,yes\n";
    write(
        &bench,
        &[
            ("u/a.csv", b"n,when,flag\n1,13/02/2024,true\n"),
            ("u/b.csv", long),
            ("u/c.csv", b"n,when,flag\n0.5,01/03/2024,false\n"),
            ("u/d.csv", b"n,when,flag\n,,\n"),
        ],
    );
    bench.run(["ingest", "-v", "--union", "u"]).succeeds();
    insta::assert_snapshot!(head(&bench, "u"), @r"
    n,when,flag,_file
    1,2024-02-13,true,u/a.csv
    9007199254740993,2024-02-01,yes,u/b.csv
    0.5,2024-03-01,false,u/c.csv
    ,,,u/d.csv
    ");
    let schema = bench.run(["datasets", "u", "--schema", "--format", "csv"]).succeeds();
    assert!(schema.stdout().contains("u,n,string,1"), "{}", schema.stdout());
    assert!(schema.stdout().contains("u,when,date,1"), "{}", schema.stdout());
}

#[test]
fn parts_of_paths_are_columns_and_other_columns_are_refused() {
    let bench = Bench::with([]);
    agency(&bench);
    bench.run(["ingest", "-v", "all=data/{kind}/{state}.csv"]).succeeds();
    let head = head(&bench, "all");
    assert!(head.starts_with("Kind,Reports,kind,state,_file\n"), "{head}");
    assert!(head.contains("\nc,30,theft,Utah,data/theft/Utah.csv\n"), "{head}");
    assert_eq!(head.lines().count(), 19);
    write(&bench, &[("data/theft/Iowa.csv", b"Kind,Total\na,1\n")]);
    let run =
        bench.run(["ingest", "-v", "--if-exists", "replace", "all=data/*/*.csv"]).fails_with(5);
    insta::assert_snapshot!(run.stderr(), @r"
    error: cannot join `data/theft/Iowa.csv` with `data/fraud/Kansas.csv`: it has `Total` and not `Reports`
      hint: `csv-agent ingest --union-by-name` joins files with other columns: what a file lacks is null
    ");
    let again = self::head(&bench, "all");
    assert_eq!(again, head);
}

#[test]
fn a_file_that_cannot_be_read_is_left_out_of_a_union_and_named() {
    let bench = Bench::with([]);
    write(
        &bench,
        &[("u/a.csv", b"id,n\n1,2\n"), ("u/b.csv", &[0; 64]), ("u/c.csv", b"id,n\n3,4\n")],
    );
    let run = bench.run(["ingest", "-v", "--union", "u"]).fails_with(5);
    insta::assert_snapshot!(run.stderr(), @r"
    error: cannot read `u/b.csv` as CSV: it is binary (byte 0x00 at offset 0)
      hint: export the table as CSV, or name another file
    note: `u`: 2 rows, 3 columns, 2 files
    note: `u`: 2 files joined
    note: `u`: column `_file`: the file of the row; left out, since it cannot be read: u/b.csv
    ");
    assert_eq!(head(&bench, "u"), "id,n,_file\n1,2,u/a.csv\n3,4,u/c.csv\n");
    let schema = bench.run(["datasets", "u", "--schema"]).succeeds();
    let told = "the file of the row; left out, since it cannot be read: u/b.csv";
    assert!(schema.stdout().contains(told), "{}", schema.stdout());
    let run =
        bench.run(["ingest", "-v", "--strict", "--union", "u", "--name", "all"]).fails_with(5);
    assert!(
        run.stderr().contains("cannot join 3 files, since one of them cannot be read"),
        "{run}"
    );
    assert_eq!(names(&bench), ["u"]);
    // Once it can be read, it is there.
    write(&bench, &[("u/b.csv", b"id,n\n5,6\n")]);
    bench.run(["ingest", "-v", "--union", "u"]).succeeds();
    assert_eq!(head(&bench, "u"), "id,n,_file\n1,2,u/a.csv\n5,6,u/b.csv\n3,4,u/c.csv\n");
}

#[test]
fn names_that_differ_in_case_and_blanks_are_one_column_but_where_a_file_has_both() {
    let bench = Bench::with([]);
    write(
        &bench,
        &[
            ("u/a.csv", b"Id,Total Sales\n1,2\n"),
            ("u/b.csv", b"total  sales,ID \n4,3\n"),
            ("u/c.csv", b"id,TOTAL SALES\n5,x\n"),
            ("v/a.csv", b"a b,a  b\n1,2\n"),
            ("v/b.csv", b"a  b\n3\n"),
        ],
    );
    bench.run(["ingest", "-v", "--union", "u"]).succeeds();
    let joined = "Id,Total Sales,_file\n1,2,u/a.csv\n3,4,u/b.csv\n5,x,u/c.csv\n";
    assert_eq!(head(&bench, "u"), joined);
    let schema = bench.run(["datasets", "u", "--schema"]).succeeds();
    assert!(schema.stdout().contains("spelled `ID`, `id` in other files"), "{}", schema.stdout());
    bench.run(["ingest", "-v", "--union-by-name", "v"]).succeeds();
    assert_eq!(head(&bench, "v"), "a b,a  b,_file\n1,2,v/a.csv\n,3,v/b.csv\n");
    // Rows without names of columns are no rows of columns that have one.
    write(&bench, &[("w/a.csv", b"id,n\n1,2\n"), ("w/b.csv", b"3,4\n5,6\n")]);
    let run = bench.run(["ingest", "-v", "--union-by-name", "w"]).fails_with(5);
    insta::assert_snapshot!(run.stderr(), @r"
    error: cannot join `w/b.csv` by name: its columns have no names
      hint: write the names above its rows, or leave it out
    note: `w`: 1 row, 3 columns, 1 file
    note: `w`: 1 file joined
    note: `w`: column `_file`: the file of the row; left out, since it cannot be read: w/b.csv
    ");
    assert_eq!(head(&bench, "w"), "id,n,_file\n1,2,w/a.csv\n");
}

#[test]
fn what_files_say_of_a_column_stays_known_when_they_are_joined_or_are_a_family() {
    let bench = Bench::with([]).script([round().says("None.")]);
    write(
        &bench,
        &[
            ("u/a.csv", b"id,paid,part\n1,$5,1%\n2,$7,2%\n"),
            ("u/b.csv", b"id,paid,part\n1,\xe2\x82\xac5,1%\n2,\xe2\x82\xac7,2%\n"),
            ("u/c.csv", b"id,paid,part\n1,$5,1%\n2,9,2%\nTotal,4,3%\n"),
        ],
    );
    bench.run(["ingest", "-v", "u"]).succeeds();
    bench.run(["ingest", "-v", "--union", "u", "--name", "all"]).succeeds();
    bench.ask("How much?").succeeds();
    let instructions = bench.request(0).body["instructions"].as_str().unwrap().to_owned();
    let from = instructions.find("- 3 datasets").unwrap();
    insta::assert_snapshot!(&instructions[from..], @r#"
    - 3 datasets with the same columns, together 6 rows, 3 columns
      they are a, b, c
      to join them: pd.concat([load(it).assign(dataset=it) for it in ["a", "b", "c"]], ignore_index=True)
      left out of 1 of the files, as 1 total of the first
      - "id" int64
      - "paid" string, money in EUR in 1 of them, money in USD in 1 of them, note in c alone "text: amounts of money, some without a currency; `--dtype 'paid=money'` makes them numbers"
      - "part" string, percent
    - all: 6 rows, 4 columns
      left out of its file: 1 total
      - "id" int64
      - "paid" string, note "money in USD in 1, money in EUR in 1 of 3 files; in u/c.csv: text: amounts of money, some without a currency; `--dtype 'paid=money'` makes them numbers"
      - "part" string, percent
      - "_file" string, note "the file of the row"
    "#);
}

#[test]
fn many_datasets_are_shown_as_a_tree_or_by_a_pattern() {
    let bench = Bench::with([]);
    agency(&bench);
    bench.run(["ingest", "-q", "data"]).fails_with(5);
    let run = bench.run(["datasets", "--tree", "fraud_*", "theft_Utah"]).succeeds();
    insta::assert_snapshot!(run.stdout(), @r"
    data/
      fraud/
        Kansas.csv  fraud_Kansas, 3 × 2
        Ohio.csv  fraud_Ohio, 3 × 2
        Utah.csv  fraud_Utah, 3 × 2
      theft/
        Utah.csv  theft_Utah, 3 × 2
    ");
    let run = bench.run(["datasets", "arson_*"]).fails_with(5);
    assert!(run.stderr().starts_with("error: no dataset matches `arson_*`\n"), "{}", run.stderr());
}

#[test]
fn the_model_is_told_a_family_once_and_can_ask_for_its_members() {
    let rounds = [
        round().calls("c1", "list_datasets", serde_json::json!({"pattern": "*_ohio"})),
        round().says("Two."),
    ];
    let bench = Bench::with([]).script(rounds);
    agency(&bench);
    bench.run(["ask", "-f", "data/fraud", "-f", "data/theft", "how many?"]).succeeds();
    let instructions = bench.request(0).body["instructions"].as_str().unwrap().to_owned();
    let told =
        "- 6 datasets with the same columns, together 18 rows, 2 columns\n  they are fraud_Kansas";
    assert!(instructions.contains(told), "{instructions}");
    assert_eq!(instructions.matches("\"Reports\" int64").count(), 1);
    let output = bench.request(1).output_of("c1").to_owned();
    assert!(output.contains("fraud_Ohio") && output.contains("theft_Ohio"), "{output}");
    assert!(!output.contains("utah"), "{output}");
}

#[test]
fn numbers_as_people_write_them_are_read_and_what_is_none_is_told() {
    let code = "print(num(pd.Series(['1,234', '$584M', '32%', '(1.2)', '1.5 million', None, '*', '*'])).tolist())\n\
                [None if it is pd.NA else int(it) for it in num(['3t', '5m', '12k', '3T', '5M', '2K', '£5m', '1.5bn', '3t USD'])]";
    let rounds = [round().runs("c1", code), round().says("Done.")];
    let bench = Bench::with(["sales.csv"]).script(rounds);
    bench.ask("What are they?").succeeds();
    let output = bench.request(1).output_of("c1").to_owned();
    assert!(
        output.contains("2 of 8 values are not numbers and are missing now: '*' (2)"),
        "{output}"
    );
    assert!(
        output.contains("1234.0, 584000000.0, 32.0, -1.2, 1500000.0, nan, nan, nan"),
        "{output}"
    );
    assert!(
        output.contains(
            "[None, None, None, None, 5000000, 2000, 5000000, 1500000000, 3000000000000]"
        ),
        "{output}"
    );
    let script = bench.run(["export", "py"]).succeeds();
    assert!(script.stdout().contains("def num(values"), "{}", script.stdout());
}

#[test]
fn members_of_an_archive_are_known_again_whatever_their_paths_are() {
    let bench = Bench::with([]);
    let mut tar = tar::Builder::new(fs::File::create(bench.path("a.tar")).unwrap());
    for (path, text) in [("/srv/Kansas.csv", "n\n1\n"), ("../x//Ohio.csv", "n\n2\n")] {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_size(text.len() as u64);
        header.set_cksum();
        tar.append(&header, text.as_bytes()).unwrap();
    }
    tar.finish().unwrap();
    let first = bench.run(["ingest", "-v", "a.tar"]).succeeds();
    insta::assert_snapshot!(first.stdout().replace('\t', " | "), @r"
    name | rows | columns | status | source
    Kansas | 1 | 1 | added | a.tar/srv/Kansas.csv
    Ohio | 1 | 1 | added | a.tar/x/Ohio.csv
    ");
    let again = bench.run(["ingest", "-v", "a.tar"]).succeeds();
    assert!(again.stderr().ends_with("2 files: 2 unchanged\n"), "{}", again.stderr());
}

#[test]
fn a_file_that_has_changed_is_read_anew_as_it_was_told_to_be() {
    let bench = Bench::with([]);
    write(&bench, &[("d/a.csv", b"id;n\n01;1\n"), ("d/b.csv", b"id;n\n02;2\n")]);
    bench.run(["ingest", "-v", "--delimiter", ";", "--dtype", "id=int", "d"]).succeeds();
    write(&bench, &[("d/a.csv", b"id;n\n07;1\n08;x\n"), ("d/c.csv", b"n\n1\n")]);
    let run = bench.run(["ingest", "-v", "d"]).succeeds();
    insta::assert_snapshot!(run.stdout().replace('\t', " | "), @r"
    name | rows | columns | status | source
    a | 2 | 2 | updated | d/a.csv
    b | 1 | 2 | unchanged | d/b.csv
    c | 1 | 1 | added | d/c.csv
    ");
    assert_eq!(head(&bench, "a"), "id,n\n7,1\n8,x\n");
    write(&bench, &[("d/a.csv", b"id;n\n09;1\n")]);
    let run = bench.run(["ingest", "-v", "d/../d/a.csv"]).succeeds();
    let said = "note: `a`: `d/../d/a.csv` has changed since it was ingested (2 → 1 row); csv-agent has read it again\n";
    assert!(run.stderr().starts_with(said), "{}", run.stderr());
    assert_eq!(head(&bench, "a"), "id,n\n9,1\n");
    let skip = bench.run(["ingest", "-v", "--if-exists", "skip", "d"]).succeeds();
    assert!(skip.stderr().ends_with("3 files: 3 unchanged\n"), "{}", skip.stderr());
}

#[test]
fn a_file_that_is_called_like_another_has_a_name_of_its_own() {
    let bench = Bench::with([]);
    write(&bench, &[("a/Kansas.csv", b"n\n1\n"), ("b/Kansas.csv", b"n\n2\n")]);
    bench.run(["ingest", "-v", "a/Kansas.csv"]).succeeds();
    bench.run(["ingest", "-v", "b/Kansas.csv"]).succeeds();
    assert_eq!(names(&bench), ["Kansas", "b_Kansas"]);
    let again = bench.run(["ingest", "-v", "a", "b"]).succeeds();
    assert!(again.stderr().contains("2 files: 2 unchanged\n"), "{}", again.stderr());
    // A file elsewhere that is called so from there is another file.
    write(&bench, &[("c/a/Kansas.csv", b"n\n3\n")]);
    let run = bench.shell("cd c && csv-agent ingest a/Kansas.csv", &[]).succeeds();
    assert!(run.stdout().contains("a_Kansas\t1\t1\tadded"), "{}", run.stdout());
}

#[test]
fn a_type_is_wanted_of_the_files_that_have_the_column() {
    let bench = Bench::with([]);
    write(&bench, &[("d/a.csv", b"zip,n\n1,1\n"), ("d/b.csv", b"n\n2\n")]);
    let run = bench.run(["ingest", "-v", "d", "--dtype", "zop=text"]).fails_with(2);
    insta::assert_snapshot!(run.stderr(), @r"
    error: none of 2 files has a column `zop`
      hint: did you mean `zip`? Nothing was ingested
    ");
    assert!(!bench.session().join("datasets.json").exists());
    let run = bench.run(["ingest", "-v", "d", "--dtype", "ZIP=text"]).succeeds();
    assert!(run.stderr().ends_with("2 files: 2 added\n"), "{}", run.stderr());
    let schema = bench.run(["datasets", "a", "--schema", "--format", "csv"]).succeeds();
    assert!(schema.stdout().contains("a,zip,string,0"), "{}", schema.stdout());
    let again = bench.run(["ingest", "-v", "d", "--dtype", "ZIP=text"]).succeeds();
    assert!(again.stderr().ends_with("2 files: 2 unchanged\n"), "{}", again.stderr());
}

#[test]
fn no_dataset_takes_the_place_of_another_of_the_same_command() {
    let bench = Bench::with([]);
    write(&bench, &[("d/a.csv", b"n\n1\n"), ("d/b.csv", b"n\n2\n"), ("e/c.csv", b"n\n3\n")]);
    for (arguments, told) in [
        (["x=d/a.csv", "x=d/b.csv"], "`d/a.csv` and `d/b.csv` would both have the name `x`"),
        (["b=d/a.csv", "d/b.csv"], "`d/a.csv` and `d/b.csv` would both have the name `b`"),
        (["x=d/*.csv", "x=e/c.csv"], "`d/*.csv` and `e/c.csv` would both have the name `x`"),
    ] {
        let run = bench.run(["ingest"].into_iter().chain(arguments)).fails_with(2);
        assert!(run.stderr().contains(told), "{run}");
    }
    assert!(names(&bench).is_empty());
}

#[test]
fn a_file_that_is_named_twice_is_read_once() {
    let bench = Bench::with([]);
    write(&bench, &[("d/a.csv", b"n\n1\n"), ("d/b.csv", b"n\n2\n")]);
    let run =
        bench.run(["ingest", "-v", "--union", "--name", "u", "d/a.csv", "d/a.csv", "d/*.csv"]);
    let run = run.succeeds();
    assert!(
        run.stderr().contains("note: 2 files are named more than once, but were read only once\n"),
        "{run}"
    );
    assert_eq!(head(&bench, "u"), "n,_file\n1,d/a.csv\n2,d/b.csv\n");
    let run = bench.run(["ingest", "-v", "d/a.csv", "./d/a.csv"]).succeeds();
    assert!(
        run.stderr().contains("note: 1 file is named more than once, but was read only once\n"),
        "{run}"
    );
}

#[test]
fn each_table_of_a_file_is_a_dataset_when_asked() {
    let bench = Bench::with([]);
    let rows = |row: &dyn Fn(usize) -> String| (1..9).map(row).collect::<String>();
    let first = rows(&|at| format!("{at},a{at},{}\n", 2 * at));
    let second = rows(&|at| format!("2024-01-0{at},{at},x\n"));
    let third = rows(&|at| format!("ann,{at},x,y\n"));
    let text =
        format!("id,name,n\n{first}\nLater\nday,qty,sort\n{second}\nwho,age,why,how\n{third}");
    let text = text.as_bytes();
    write(&bench, &[("t.csv", text)]);
    let run = bench.run(["ingest", "-v", "t.csv"]).succeeds();
    let hint = "another table begins on line 12, which `--tables all` reads as well";
    assert!(run.stderr().contains(hint), "{}", run.stderr());
    let run = bench.run(["ingest", "-v", "t.csv", "--tables", "all"]).succeeds();
    insta::assert_snapshot!(run.stdout().replace('\t', " | "), @r"
    name | rows | columns | status | source
    t | 8 | 3 | replaced | t.csv
    t_2 | 8 | 3 | added | t.csv
    t_3 | 8 | 4 | added | t.csv
    ");
    assert!(run.stderr().ends_with("note: 3 tables: 2 added, 1 replaced\n"), "{}", run.stderr());
    assert_eq!(head(&bench, "t_2"), format!("day,qty,sort\n{second}"));
    assert_eq!(head(&bench, "t_3"), format!("who,age,why,how\n{third}"));
    let again = bench.run(["ingest", "-v", "t.csv", "--tables", "all"]).succeeds();
    assert!(again.stderr().ends_with("3 unchanged\n"), "{}", again.stderr());
}

#[test]
fn each_table_beside_and_below_another_is_a_dataset_when_asked() {
    let bench = Bench::with([]);
    let text = "region,sales,,name,age\nNorth,10,,Ann,30\nSouth,20,,Bob,31\nEast,30,,Cid,32\n,,,Dan,33\n,,,,\n\
                product,price,,town,people\nchair,1.5,,Oslo,100\nlamp,2.5,,Rome,200\nsofa,3.5,,Bern,300\n";
    write(&bench, &[("t.csv", text.as_bytes())]);
    let run = bench.run(["ingest", "-v", "t.csv"]).succeeds();
    let doubt = "columns 1-2 and 4-5 are tables side by side but were read as one table; `--tables all` \
                 makes a dataset of each";
    assert!(run.stderr().contains(&format!("warning: `t`: {doubt}\n")), "{}", run.stderr());
    let run = bench.run(["ingest", "-v", "t.csv", "--tables", "all"]).succeeds();
    insta::assert_snapshot!(run.stdout().replace('\t', " | "), @r"
    name | rows | columns | status | source
    t | 3 | 2 | replaced | t.csv
    t_2 | 4 | 2 | added | t.csv
    t_3 | 3 | 2 | added | t.csv
    t_4 | 3 | 2 | added | t.csv
    ");
    assert_eq!(head(&bench, "t"), "region,sales\nNorth,10\nSouth,20\nEast,30\n");
    assert_eq!(head(&bench, "t_2"), "name,age\nAnn,30\nBob,31\nCid,32\nDan,33\n");
    assert_eq!(head(&bench, "t_3"), "product,price\nchair,1.5\nlamp,2.5\nsofa,3.5\n");
    assert_eq!(head(&bench, "t_4"), "town,people\nOslo,100\nRome,200\nBern,300\n");
    let again = bench.run(["ingest", "-v", "t.csv", "--tables", "all"]).succeeds();
    assert!(again.stderr().ends_with("4 unchanged\n"), "{}", again.stderr());
    let whole = bench.run(["ingest", "-v", "t.csv", "--if-exists", "replace"]).succeeds();
    assert!(whole.stderr().contains(doubt), "{}", whole.stderr());
}

#[test]
fn lines_that_may_be_a_table_of_their_own_are_told_and_one_when_asked() {
    let bench = Bench::with([]);
    let (first, second) =
        ("name,city\nann,oslo\nbob,rome\n", "product,colour\nchair,red\nlamp,blue\n");
    write(&bench, &[("t.csv", format!("{first},\n{second}").as_bytes())]);
    let run = bench.run(["ingest", "-v", "t.csv"]).succeeds();
    let doubt = "lines 5 to 7 may be a separate table: they were kept as rows; `--tables all` makes a \
                 dataset of them";
    assert!(run.stderr().contains(&format!("warning: `t`: {doubt}\n")), "{}", run.stderr());
    let schema = bench.run(["datasets", "--schema"]).succeeds();
    assert!(schema.stderr().contains(doubt), "{}", schema.stderr());
    let run = bench.run(["ingest", "-v", "t.csv", "--tables", "all"]).succeeds();
    insta::assert_snapshot!(run.stdout().replace('\t', " | "), @r"
    name | rows | columns | status | source
    t | 2 | 2 | replaced | t.csv
    t_2 | 2 | 2 | added | t.csv
    ");
    assert_eq!((head(&bench, "t"), head(&bench, "t_2")), (first.to_owned(), second.to_owned()));
    for flags in [&[][..], &["--tables", "all"]] {
        let again = bench.run([&["ingest", "-v", "t.csv"], flags].concat()).succeeds();
        assert!(!again.stdout().contains("replaced"), "{}", again.stdout());
    }
}

#[test]
fn a_value_is_looked_for_in_all_datasets_and_shared_columns_are_told() {
    let find = |id: &str, name: &str| {
        let arguments = serde_json::json!({"name": name, "value": "oslo"});
        round().calls(id, "find_value_columns", arguments)
    };
    let info = |id: &str, name: &str| {
        round().calls(id, "get_dataset_info", serde_json::json!({"name": name}))
    };
    let rounds = [
        find("c1", "*"),
        find("c2", "x*"),
        info("c3", "people"),
        info("c4", "orders"),
        round().says("Two."),
    ];
    let bench = Bench::with([]).script(rounds);
    write(
        &bench,
        &[
            ("d/people.csv", b"who,City\nann,Oslo\nbob,Rome\n"),
            ("d/cities.csv", b"city,n\nOslo,1\nOslo,2\n"),
            ("d/other.csv", b"a,b\n1,2\n"),
            ("d/customers.csv", b"id,since\n1,2020\n2,2021\n3,2022\n"),
            ("d/orders.csv", b"order,customer_id\n10,1\n11,1\n12,9\n"),
        ],
    );
    bench.ask_with(["-f", "d"], "Where is Oslo?").succeeds();
    let found = bench.request(1).output_of("c1").to_owned();
    let expected = r#""datasets":[{"name":"cities","columns":[{"column":"city","dtype":"string","count":2}]},{"name":"people","columns":[{"column":"City","dtype":"string","count":1}]}],"n_searched":5"#;
    assert!(found.contains(expected), "{found}");
    let none = bench.request(2).output_of("c2").to_owned();
    assert!(none.contains("no dataset on this machine matches `x*`"), "{none}");
    let info = bench.request(3).output_of("c3").to_owned();
    let shared = r#""columns_of_other_datasets":[{"column":"City","others":[{"dataset":"cities","column":"city","values_here":2,"values_there":1,"values_in_both":1}]}]"#;
    assert!(info.contains(shared), "{info}");
    let info = bench.request(4).output_of("c4").to_owned();
    let shared = r#"[{"column":"customer_id","others":[{"dataset":"customers","column":"id","values_here":2,"values_there":3,"values_in_both":1}]}]"#;
    assert!(info.contains(shared), "{info}");
}

#[test]
fn patterns_choose_what_the_model_sees_and_what_is_removed() {
    let bench = Bench::with([]).script([round().says("Six.")]);
    agency(&bench);
    bench.run(["ingest", "-q", "data/fraud", "data/theft"]).succeeds();
    bench.run(["ingest", "-q", "--union", "--name", "joined", "data/fraud"]).succeeds();
    let tree = bench.run(["datasets", "--tree", "joined", "fraud_Utah"]).succeeds();
    insta::assert_snapshot!(tree.stdout(), @r"
    data/
      fraud/
        3 files  joined, 9 × 3
        Utah.csv  fraud_Utah, 3 × 2
    ");
    bench.run(["ask", "-d", "fraud_*", "-d", "joined", "how many?"]).succeeds();
    let instructions = bench.request(0).body["instructions"].as_str().unwrap().to_owned();
    assert!(instructions.contains("fraud_Ohio") && !instructions.contains("theft_Ohio"));
    let none = bench.run(["ask", "-d", "froud_*", "how many?"]).fails_with(5);
    insta::assert_snapshot!(none.stderr(), @r"
    error: no dataset matches `froud_*`
      hint: the nearest names are `fraud_Kansas`, `fraud_Ohio`, `fraud_Utah`, `theft_Kansas`, `theft_Ohio`; `csv-agent datasets --names` lists 2 more
    ");
    let asked = bench.run(["datasets", "--rm", "*_ohio"]).fails_with(2);
    assert!(
        asked.stderr().contains("remove `fraud_Ohio`, `theft_Ohio` from the session"),
        "{asked}"
    );
    bench.run(["datasets", "--rm", "*_ohio", "--yes"]).succeeds();
    let left = ["fraud_Kansas", "fraud_Utah", "joined", "theft_Kansas", "theft_Utah"];
    assert_eq!(names(&bench), left);
}

#[test]
fn one_file_that_makes_a_column_text_is_named() {
    let bench = Bench::with([]);
    for month in 1..=5 {
        let unit = if month == 4 { " mm" } else { "" };
        let text = format!("day,rain\n2024-0{month}-01,0.5\n2024-0{month}-02,5.6{unit}\n");
        fs::write(bench.path(&format!("{month}.csv")), text).unwrap();
    }
    let run = bench.run(["ingest", "weather=*.csv", "--union-by-name"]).succeeds();
    let doubt =
        "column `rain` is text, because its types differ: float64 in 4 files, string in 4.csv";
    assert!(run.stderr().contains(doubt), "{run}");

    // A column that can be read in two ways is one warning as well.
    write(
        &bench,
        &[
            ("d/1.csv", b"day\n13/02/2024\n"),
            ("d/2.csv", b"day\n02/13/2024\n"),
            ("d/3.csv", b"day\n01/05/2024\n"),
        ],
    );
    let run = bench.run(["ingest", "--union", "d"]).succeeds();
    assert_eq!(run.stderr().matches("warning: ").count(), 1, "{run}");
}
