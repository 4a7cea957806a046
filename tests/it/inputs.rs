//! Sources that are no text: workbooks, JSON, databases, Arrow files.

use std::fs::{self, File};
use std::io::{Cursor, Write};
use std::sync::Arc;

use arrow_array::{
    Date64Array, Int64Array, RecordBatch, StringArray, Time32SecondArray, TimestampSecondArray,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::bench::Bench;

/// The styles of cells: 1 a day, 2 a duration, 3 a percentage, 4 euros, 5 dollars, 6 five digits.
const STYLES: &str = r##"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<numFmts count="5"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd"/><numFmt numFmtId="165" formatCode="[h]:mm:ss"/>
<numFmt numFmtId="166" formatCode="#,##0.00 &quot;€&quot;"/><numFmt numFmtId="167" formatCode="$#,##0.00"/>
<numFmt numFmtId="168" formatCode="00000"/></numFmts>
<cellXfs count="7"><xf numFmtId="0"/><xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/>
<xf numFmtId="10" applyNumberFormat="1"/><xf numFmtId="166" applyNumberFormat="1"/>
<xf numFmtId="167" applyNumberFormat="1"/><xf numFmtId="168" applyNumberFormat="1"/></cellXfs></styleSheet>"##;

/// A sheet: its name, its state, and its cells as XML.
pub type Sheet<'a> = (&'a str, &'a str, String);

/// Makes a workbook as programs write them, without shared strings.
pub fn workbook(sheets: &[Sheet<'_>]) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
    let numbered = || sheets.iter().enumerate().map(|(at, it)| (at + 1, it));
    let entries: Vec<String> = numbered()
        .map(|(n, (name, state, _))| {
            format!(r#"<sheet name="{name}" sheetId="{n}" state="{state}" r:id="rId{n}"/>"#)
        })
        .collect();
    let links: Vec<String> = numbered()
        .map(|(n, _)| {
            format!(r#"<Relationship Id="rId{n}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>"#)
        })
        .collect();
    let (entries, links) = (entries.concat(), links.concat());
    let mut parts = vec![
        ("[Content_Types].xml".to_owned(), format!(r#"<Types xmlns="{PACKAGE}/content-types"/>"#)),
        (
            "_rels/.rels".to_owned(),
            format!(
                r#"<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
            ),
        ),
        (
            "xl/workbook.xml".to_owned(),
            format!(
                r#"<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{entries}</sheets></workbook>"#
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels".to_owned(),
            format!(
                r#"<Relationships xmlns="{PACKAGE}/relationships">{links}<Relationship Id="rId0" Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>"#
            ),
        ),
        ("xl/styles.xml".to_owned(), STYLES.to_owned()),
    ];
    for (n, (_, _, rows)) in numbered() {
        let text =
            format!(r#"<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>"#);
        parts.push((format!("xl/worksheets/sheet{n}.xml"), text));
    }
    zip(&parts)
}

fn zip(parts: &[(String, String)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        zip.start_file(name.as_str(), SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Makes the XML of a row: numbers with their style as `5:1`, text as it is, a formula that has no value as `=A1`,
/// nothing of `-`.
fn row(number: u32, cells: &[&str]) -> String {
    let cells = ('A'..).zip(cells).map(|(column, cell)| {
        let place = format!("{column}{number}");
        let (value, style) = cell.split_once(':').unwrap_or((cell, "0"));
        match value.as_bytes() {
            b"-" => String::new(),
            [b'#', ..] => format!(r#"<c r="{place}" t="e"><v>{value}</v></c>"#),
            [b'=', ..] => format!(r#"<c r="{place}"><f>{}</f><v></v></c>"#, &value[1..]),
            [b'0'..=b'9', ..] => format!(r#"<c r="{place}" s="{style}"><v>{value}</v></c>"#),
            _ => {
                let text = cell.trim_start_matches('\'');
                format!(r#"<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>"#)
            }
        }
    });
    format!(r#"<row r="{number}">{}</row>"#, cells.collect::<String>())
}

fn report() -> String {
    let rows = [
        row(1, &["Sales of the agency"]),
        row(3, &["-", "id", "code", "day", "time spent", "share", "price", "note"]),
        row(4, &["-", "1", "'00123", "45292:1", "1.5:2", "0.25:3", "9.5:4", "a"]),
        row(5, &["-", "2", "'00124", "45293:1", "0.5:2", "0.5:3", "#N/A", "b"]),
        row(6, &["-", "3", "'00125", "45294:1", "0.25:2", "1:3", "12:4", "c"]),
        row(7, &["-", "4", "'00126", "45295:1", "1:2", "0.75:3", "13:4", "d"]),
        row(9, &["Source: the agency"]),
    ];
    rows.concat()
}

pub fn plain(cells: &[&[&str]]) -> String {
    (1..).zip(cells).map(|(number, cells)| row(number, cells)).collect()
}

/// Returns the columns of a dataset with their types, and its rows as CSV.
fn shown(bench: &Bench, name: &str) -> String {
    let run = bench.run(["datasets", "--json", name]).succeeds();
    let documents: Value = serde_json::from_str(run.stdout()).unwrap();
    let columns: Vec<String> = documents[0]["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| format!("{}:{}", it["name"].as_str().unwrap(), it["dtype"].as_str().unwrap()))
        .collect();
    let rows = bench.run(["datasets", name, "--head", "9", "--format", "csv"]).succeeds();
    let rows: Vec<&str> = rows.stdout().lines().skip(1).collect();
    format!("{}\n{}", columns.join(" "), rows.join("\n"))
}

#[test]
fn each_sheet_is_a_dataset_whose_cells_keep_their_types() {
    let bench = Bench::with([]);
    let book = workbook(&[
        ("Report", "visible", report()),
        ("Plain", "visible", plain(&[&["k", "v"], &["a", "1"], &["b", "2.5"]])),
        ("Secret", "hidden", plain(&[&["x"], &["1"]])),
        ("Blank", "visible", String::new()),
    ]);
    fs::write(bench.path("book.xlsx"), book).unwrap();
    let run = bench.run(["ingest", "-v", "book.xlsx"]).succeeds();
    insta::assert_snapshot!(run.stdout().replace('\t', " | "), @r##"
    name | rows | columns | status | source
    book_Report | 4 | 7 | added | book.xlsx/Report
    book_Plain | 2 | 2 | added | book.xlsx/Plain
    "##);
    insta::assert_snapshot!(run.stderr(), @r##"
    warning: `book_Report`: kept out of the table: 1 preamble line, 1 footer line; column `price`: 1 error cell (`#N/A`) is null, Report!G5
    note: `book.xlsx`: not read: sheets `Secret` (hidden), `Blank` (empty); `--sheet NAME` reads one of them anyway
    note: 2 tables: 2 added
    "##);
    insta::assert_snapshot!(shown(&bench, "book_Report"), @r##"
    id:int64 code:string day:date time spent:int64 share:float64 price:float64 note:string
    1,00123,2024-01-01,129600,0.25,9.5,a
    2,00124,2024-01-02,43200,0.5,,b
    3,00125,2024-01-03,21600,1.0,12.0,c
    4,00126,2024-01-04,86400,0.75,13.0,d
    "##);
    insta::assert_snapshot!(shown(&bench, "book_Plain"), @r##"
    k:string v:float64
    a,1.0
    b,2.5
    "##);
    // The same again is nothing new, and a hidden sheet is read when it is named.
    let run = bench.run(["ingest", "-v", "book.xlsx"]).succeeds();
    assert_eq!(run.stdout().matches("unchanged").count(), 2, "{}", run.stdout());
    bench.run(["ingest", "-v", "book.xlsx", "--sheet", "secret"]).succeeds();
    assert_eq!(shown(&bench, "book_Secret"), "x:int64\n1");
    let run = bench.run(["ingest", "-v", "book.xlsx", "--sheet", "Nope"]).fails_with(5);
    insta::assert_snapshot!(run.stderr(), @r##"
    error: `book.xlsx` has no sheet named `Nope`
      hint: it has `Report`, `Plain`, `Secret`, `Blank`
    "##);
    let script = "cat book.xlsx | csv-agent ingest --name piped --sheet Plain -";
    bench.shell(script, &[]).succeeds();
    assert_eq!(shown(&bench, "piped"), shown(&bench, "book_Plain"));
    let run = bench.run(["ingest", "-v", "book.xlsx", "--delimiter", ";"]).fails_with(2);
    assert!(run.stderr().contains("is a workbook and has its own cells"), "{}", run.stderr());
}

#[test]
fn a_workbook_of_one_sheet_is_called_as_its_file_and_read_wherever_a_file_is() {
    let bench = Bench::with([]);
    let book = workbook(&[("Sheet1", "visible", plain(&[&["k", "n"], &["a", "1"], &["b", "2"]]))]);
    fs::create_dir(bench.path("data")).unwrap();
    fs::write(bench.path("data/one.xlsx"), &book).unwrap();
    fs::write(bench.path("data/two.csv"), "k,n\nc,3\n").unwrap();
    fs::write(bench.path("data/rows.jsonl"), "{\"k\": \"d\", \"n\": 4}\n").unwrap();
    fs::write(bench.path("data/package.json"), "{\"name\": \"x\"}\n").unwrap();
    fs::write(bench.path("data/~$one.xlsx"), "lock").unwrap();
    let run = bench.run(["ingest", "-v", "data"]).succeeds();
    assert!(run.stderr().contains("skipped 1 .json file, 1 hidden file"), "{}", run.stderr());
    let run = bench.run(["datasets", "--names"]).succeeds();
    assert_eq!(run.stdout(), "one\nrows\ntwo\n");
    bench.run(["ingest", "-v", "all=data/[ort]*.*"]).succeeds();
    let script = "cat data/one.xlsx | csv-agent ingest --name piped -";
    bench.shell(script, &[]).succeeds();
    assert_eq!(shown(&bench, "piped"), "k:string n:int64\na,1\nb,2");
}

#[test]
fn a_path_may_continue_within_a_file() {
    let bench = Bench::with([]);
    for (name, rows) in [("a.xlsx", [["k", "v"], ["a", "1"]]), ("b.xlsx", [["k", "v"], ["a", "2"]])]
    {
        let rows = rows.each_ref().map(|it| &it[..]);
        let other = plain(&[&["day", "n"], &["Sun", "3"]]);
        let book = workbook(&[("One", "visible", plain(&rows)), ("Two", "visible", other)]);
        fs::write(bench.path(name), book).unwrap();
    }
    let script = "import zipfile\nwith zipfile.ZipFile('all.zip', 'w') as z:\n    z.write('a.xlsx', 'in/a.xlsx')\n    \
                  z.writestr('in/c.csv', 'x\\n7\\n')\n    z.writestr('d.csv', 'y\\n8\\n')";
    bench.shell(&format!("python3 -c \"{script}\""), &[]).succeeds();

    let run = bench.run(["diff", "a.xlsx/One", "b.xlsx/One", "--key", "k"]).fails_with(12);
    assert!(run.stdout().contains("b.xlsx, One!2:2: k=a, v=1 → 2"), "{run}");
    let run = bench.run(["diff", "a.xlsx", "b.xlsx"]).fails_with(5);
    assert!(run.stderr().contains("hint: name one of them, such as `a.xlsx/One`"), "{run}");
    for (path, sql, found) in [
        ("a.xlsx/two", "select n from a_Two", "n\n3\n"),
        ("all.zip/in/c.csv", "select x from c", "x\n7\n"),
        ("all.zip/in/a.xlsx/One", "select v from a_One", "v\n1\n"),
    ] {
        let run = bench.run(["query", "-f", path, "--format", "csv", sql]).succeeds();
        assert_eq!(run.stdout(), found, "{run}");
        assert_eq!(run.stderr(), "");
    }
    for (path, message) in [
        ("a.xlsx/Three", "`a.xlsx` has no sheet named `Three`\n  hint: it has `One`, `Two`"),
        (
            "all.zip/c.csv",
            "`all.zip` does not contain `c.csv`\n  hint: it contains `d.csv`, `in/a.xlsx`, `in/c.csv`",
        ),
        ("all.zip/d.csv/One", "`all.zip` does not contain `d.csv/One`"),
    ] {
        let run = bench.run(["query", "-f", path, "select 1"]).fails_with(5);
        assert!(run.stderr().contains(message), "{run}");
    }
}

#[test]
fn an_old_workbook_is_read_as_a_new_one() {
    let bench = Bench::with([]);
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/inputs/old.xls");
    fs::copy(old, bench.path("old.xls")).unwrap();
    bench.run(["ingest", "-v", "old.xls"]).succeeds();
    assert_eq!(
        shown(&bench, "old"),
        "id:int64 code:string day:date share:float64\n1,007,2024-01-05,0.0\n2,008,2024-01-06,0.25\n\
         3,009,2024-01-07,0.5"
    );
}

#[test]
fn columns_of_a_text_may_have_widths() {
    let bench = Bench::with([]);
    let text = "id   name  amount\n1    Zo\u{eb}   12.5\n2    Bo\u{d8}    7\n";
    fs::write(bench.path("t.txt"), text).unwrap();
    let run = bench.run(["ingest", "-v", "t.txt", "--widths", "5,6,6", "-v"]).succeeds();
    assert!(run.stderr().contains("columns of 5, 6, 6 letters: as specified"), "{}", run.stderr());
    assert_eq!(
        shown(&bench, "t"),
        "id:int64 name:string amount:float64\n1,Zo\u{eb},12.5\n2,Bo\u{d8},7.0"
    );
    let latin: Vec<u8> = text.chars().map(|it| u8::try_from(u32::from(it)).unwrap()).collect();
    fs::write(bench.path("l.txt"), latin).unwrap();
    bench.run(["ingest", "-v", "l.txt", "--widths", "5,6,6", "--encoding", "latin1"]).succeeds();
    assert_eq!(shown(&bench, "l"), shown(&bench, "t"));
    bench.run(["ingest", "-v", "t.txt", "--widths", "5,0"]).fails_with(2);
    bench.run(["ingest", "-v", "t.txt", "--widths", "5,6", "--delimiter", ","]).fails_with(2);
}

#[test]
fn blanks_that_every_line_has_cut_a_text_into_columns() {
    let bench = Bench::with([]);
    let rows = "Ann     Oslo    30\nZo\u{eb} Li          31\nCid     Bern\n";
    fs::write(bench.path("safe.txt"), format!("name    city   age\n{rows}")).unwrap();
    let run = bench.run(["ingest", "-v", "safe.txt", "-v"]).succeeds();
    let said = "columns of 8, 7, 3 letters: blanks align them in every line";
    assert!(run.stderr().contains(said), "{}", run.stderr());
    let expected = "name:string city:string age:int64\nAnn,Oslo,30\nZo\u{eb} Li,,31\nCid,Bern,";
    assert_eq!(shown(&bench, "safe"), expected);
    assert!(bench.run(["ingest", "-v", "safe.txt"]).succeeds().stdout().contains("unchanged"));

    let rows = "Ann    Oslo   30\nZo\u{eb} Li        31\nCid    Bern\n";
    fs::write(bench.path("open.txt"), format!("name   city  age\n{rows}")).unwrap();
    let run = bench.run(["ingest", "-v", "open.txt"]).succeeds();
    let hint = "blanks may align several columns: `--widths 7,6,3` reads them";
    assert!(run.stderr().contains(hint), "{}", run.stderr());
    bench.run(["ingest", "-v", "open.txt", "--widths", "7,6,3"]).succeeds();
    assert_eq!(shown(&bench, "open"), expected);
}

#[test]
fn the_parts_of_a_table_are_one_dataset() {
    let bench = Bench::with([]);
    fs::write(bench.path("a.csv"), "k,n\na,1\n").unwrap();
    fs::write(bench.path("b.csv"), "k,n\nb,2\n").unwrap();
    bench.run(["ingest", "-v", "a.csv", "b.csv"]).succeeds();
    fs::create_dir(bench.path("sales.parquet")).unwrap();
    fs::write(bench.path("sales.parquet/_SUCCESS"), "").unwrap();
    for (at, name) in ["a", "b"].into_iter().enumerate() {
        let part = bench.path(&format!("sales.parquet/part-0000{at}.parquet"));
        fs::copy(bench.session().join(format!("datasets/{name}.parquet")), part).unwrap();
    }
    let run = bench.run(["ingest", "-v", "sales.parquet"]).succeeds();
    assert!(run.stderr().contains("read as the parts of one table"), "{}", run.stderr());
    let rows = bench.run(["datasets", "sales", "--head", "9", "--format", "csv"]).succeeds();
    assert_eq!(
        rows.stdout(),
        "k,n,_file\na,1,sales.parquet/part-00000.parquet\nb,2,sales.parquet/part-00001.parquet\n"
    );
}

#[test]
fn directories_with_the_values_of_a_column_are_parts_of_one_table() {
    let bench = Bench::with([]);
    fs::write(bench.path("a.csv"), "k,n\na,1\n").unwrap();
    bench.run(["ingest", "a.csv"]).succeeds();
    for year in ["2023", "2024"] {
        let dir = bench.path(&format!("sales/year={year}/month=01"));
        fs::create_dir_all(&dir).unwrap();
        fs::copy(bench.session().join("datasets/a.parquet"), dir.join("0.parquet")).unwrap();
    }
    let run = bench.run(["ingest", "-v", "sales"]).succeeds();
    assert!(run.stderr().contains("read as the parts of one table"), "{}", run.stderr());
    let expected = "k:string n:int64 year:int64 month:string _file:string\n\
        a,1,2023,01,sales/year=2023/month=01/0.parquet\n\
        a,1,2024,01,sales/year=2024/month=01/0.parquet";
    assert_eq!(shown(&bench, "sales"), expected);
    // Files that the user may want apart stay so.
    fs::write(bench.path("sales/year=2023/month=01/1.csv"), "k\nb\n").unwrap();
    let run = bench.run(["ingest", "-S", "other", "-v", "sales"]).succeeds();
    assert!(run.stderr().contains("3 files: 3 added"), "{}", run.stderr());
}

#[test]
fn files_that_store_a_column_in_other_types_are_joined_without_a_change() {
    let bench = Bench::with([]);
    let rows = |name: &str, text: &str| fs::write(bench.path(name), text).unwrap();
    rows("a.csv", "k,day,n,x\na,2024-01-05,5,1\n");
    rows("b.csv", "k,day,n,x\nb,2024-01-06T10:00:00,A7,2.5\n");
    bench.run(["ingest", "a.csv", "b.csv"]).succeeds();
    fs::create_dir(bench.path("d")).unwrap();
    for name in ["a", "b"] {
        let stored = bench.session().join(format!("datasets/{name}.parquet"));
        fs::copy(stored, bench.path(&format!("d/{name}.parquet"))).unwrap();
    }
    rows("d/c.csv", "k,day,n,x\nc,2024-01-07,7.50,3\n");
    bench.run(["ingest", "--union", "d"]).succeeds();
    let expected = "k:string day:timestamp n:string x:float64 _file:string\n\
        a,2024-01-05T00:00:00,5,1.0,d/a.parquet\n\
        b,2024-01-06T10:00:00,A7,2.5,d/b.parquet\n\
        c,2024-01-07T00:00:00,7.50,3.0,d/c.csv";
    assert_eq!(shown(&bench, "d"), expected);
    let run = bench.run(["datasets", "d", "--schema"]).succeeds();
    let told = "different types: int64 in d/a.parquet, string in d/b.parquet, float64 in d/c.csv";
    assert!(run.stdout().contains(told), "{}", run.stdout());
}

#[test]
fn the_sheets_of_a_workbook_can_be_joined() {
    let bench = Bench::with([]);
    let sheet = |name, value| (name, "visible", plain(&[&["k", "n"], &[value, "1"]]));
    fs::write(bench.path("book.xlsx"), workbook(&[sheet("May", "a"), sheet("June", "b")])).unwrap();
    bench.run(["ingest", "-v", "all=book.xlsx"]).succeeds();
    let rows = bench.run(["datasets", "all", "--head", "9", "--format", "csv"]).succeeds();
    assert_eq!(rows.stdout(), "k,n,_file\na,1,book.xlsx/May\nb,1,book.xlsx/June\n");
    let three = workbook(&[sheet("May", "a"), sheet("June", "b"), sheet("July", "c")]);
    fs::write(bench.path("three.xlsx"), three).unwrap();
    let run = bench.run(["ingest", "-v", "three.xlsx"]).succeeds();
    let told = "have the same columns; `csv-agent ingest three='three.xlsx'` joins their files";
    assert!(run.stderr().contains(told), "{}", run.stderr());
}

#[test]
fn a_finding_names_the_cells_of_a_workbook() {
    let bench = Bench::with([]);
    let rows =
        plain(&[&["-", "id", "total"], &["-", "1", "5"], &["-", "2", "0"], &["-", "3", "9"]]);
    fs::write(bench.path("orders.xlsx"), workbook(&[("May 24", "visible", rows)])).unwrap();
    let script =
        "csv-agent ask --model builtin -f orders.xlsx --json --fail-on bad 'no total below 1'";
    let run = bench.shell(script, &[]).fails_with(11);
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    let finding = &document["findings"][0];
    assert_eq!(finding["source_file"], "orders.xlsx");
    assert_eq!(finding["source_lines"], json!([3]));
    assert_eq!(finding["source_cells"], json!(["'May 24'!C3"]));
    let run = bench.shell("csv-agent show last", &[]).succeeds();
    assert!(run.stdout().contains("(orders.xlsx, 'May 24'!C3)"), "{}", run.stdout());
}

#[test]
fn what_a_workbook_shows_of_its_numbers_is_not_lost_without_a_word() {
    let bench = Bench::with([]);
    let rows = plain(&[
        &["zip", "code", "paid", "some", "sum"],
        &["2001:6", "7:6", "1:4", "3:4", "=C2+D2"],
        &["99084:6", "8", "2:5", "4", "=C3+D3"],
    ]);
    fs::write(bench.path("book.xlsx"), workbook(&[("May 24", "visible", rows)])).unwrap();
    let run = bench.run(["ingest", "-v", "book.xlsx"]).succeeds();
    insta::assert_snapshot!(run.stderr(), @"
    note: `book`: 2 rows, 5 columns, sheet `May 24`, header in row 1
    note: `book`: header: the first record does not fit the types of the columns
    note: `book`: column `zip`: text: 1 value with leading zeros, `02001` in 'May 24'!A2; numbers that the workbook shows as `00000`
    note: `book`: column `code`: 1 of 2 numbers is shown in the format `00000`, the first is 'May 24'!B2; all are kept as numbers
    note: `book`: column `paid`: the workbook shows several currencies: 1 in EUR from 'May 24'!C2, 1 in USD from 'May 24'!C3
    note: `book`: column `some`: the workbook shows a currency for some: 1 in EUR from 'May 24'!D2, 1 in no currency
    note: `book`: column `sum`: 2 formulas have no stored value and are null, the first is 'May 24'!E2; open the workbook in a spreadsheet program, save it, and read it again
    ");
    insta::assert_snapshot!(shown(&bench, "book"), @"
    zip:string code:int64 paid:int64 some:int64 sum:string
    02001,7,1,3,
    99084,8,2,4,
    ");
    let schema = bench.run(["datasets", "--schema", "--format", "csv"]).succeeds();
    let said = [
        "1 of 2 numbers is shown in the format `00000`, the first is 'May 24'!B2",
        "the workbook shows a currency for some: 1 in EUR from 'May 24'!D2, 1 in no currency",
    ];
    for it in said {
        assert!(schema.stdout().contains(it), "{}", schema.stdout());
    }
    bench
        .run(["ingest", "-v", "--dtype", "zip=int", "--if-exists", "replace", "book.xlsx"])
        .succeeds();
    assert!(shown(&bench, "book").starts_with("zip:int64"));
}

#[test]
fn a_workbook_that_would_fill_the_memory_is_refused() {
    let bench = Bench::with([]);
    let check = |name: &str, bytes: &[u8], expected: &str| {
        fs::write(bench.path(name), bytes).unwrap();
        let run = bench.run(["ingest", "-v", "--max-bytes", "1MiB", name]).fails_with(5);
        assert!(run.stderr().contains(expected), "{}", run.stderr());
    };
    let long = "a".repeat(2 << 20);
    let bomb = workbook(&[("S", "visible", plain(&[&["k"], &[&long]]))]);
    check("bomb.xlsx", &bomb, "unpacked it has more than 1048576 bytes");
    let rows: String = (2..100).map(|it| row(it, &["1"])).collect();
    let far = r#"<row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>1</v></c></row>"#;
    let far = workbook(&[("S", "visible", format!("{far}{rows}"))]);
    check("far.xlsx", &far, "are more than 1048576 bytes of text");
    let beyond = workbook(&[(
        "S",
        "visible",
        r#"<row r="1"><c r="A99999999"><v>1</v></c></row>"#.to_owned(),
    )]);
    check("beyond.xlsx", &beyond, "a cell is outside the bounds of a sheet");
    check("cut.xlsx", &bomb[..bomb.len() / 2], "cannot read `cut.xlsx` as a workbook");
    let content = r#"<office:document-content><office:body><office:spreadsheet><table:table table:name="S">
<table:table-row table:number-rows-repeated="1000000"><table:table-cell office:value-type="float" office:value="1"
table:number-columns-repeated="10000"/></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>"#;
    let mimetype = "application/vnd.oasis.opendocument.spreadsheet".to_owned();
    let mut stored = ZipWriter::new(Cursor::new(Vec::new()));
    let method = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, text) in [("mimetype", &mimetype), ("content.xml", &content.to_owned())] {
        stored.start_file(name, method).unwrap();
        stored.write_all(text.as_bytes()).unwrap();
    }
    check("repeated.ods", &stored.finish().unwrap().into_inner(), "a sheet spans more than");
}

#[test]
fn an_archive_that_holds_a_workbook_or_a_name_like_its_parts_is_no_workbook() {
    let bench = Bench::with([]);
    let book = workbook(&[("Sheet1", "visible", plain(&[&["k", "n"], &["a", "1"]]))]);
    let archive = |name: &str, parts: &[(&str, &[u8])]| {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let method =
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        for (name, content) in parts {
            zip.start_file(*name, method).unwrap();
            zip.write_all(content).unwrap();
        }
        fs::write(bench.path(name), zip.finish().unwrap().into_inner()).unwrap();
    };
    archive("one.zip", &[("notes.csv", b"u,v\nhttps://x.org/xl/1,2\n")]);
    archive("two.zip", &[("shirts xl/k.csv", b"a,b\n1,2\n"), ("xl/l.csv", b"c,d\n1,2\n")]);
    archive("three.zip", &[("t.csv", b"e,f\n1,2\n"), ("book.xlsx", &book)]);
    bench.run(["ingest", "-v", "one.zip", "two.zip", "three.zip"]).succeeds();
    let run = bench.run(["datasets", "--names"]).succeeds();
    assert_eq!(run.stdout(), "book\nk\nl\none\nt\n");
}

#[test]
fn numbers_that_only_python_writes_in_json_are_missing() {
    let bench = Bench::with([]);
    let lines =
        "{\"a\": 1, \"b\": NaN, \"c\": \"NaN\"}\n{\"a\": Infinity, \"b\": 2.5, \"c\": \"x\"}\n";
    fs::write(bench.path("rows.jsonl"), lines).unwrap();
    bench.run(["ingest", "-v", "rows.jsonl"]).succeeds();
    assert_eq!(shown(&bench, "rows"), "a:int64 b:float64 c:string\n1,,NaN\n,2.5,x");
    let run = bench.run(["datasets", "--json", "rows"]).succeeds();
    let told = "2 values `NaN` or `Infinity`, which JSON does not have: read as missing";
    assert!(run.stdout().contains(told), "{}", run.stdout());
}

#[test]
fn cells_that_are_merged_with_the_one_above_are_counted() {
    let bench = Bench::with([]);
    let rows = [
        row(1, &["region", "n"]),
        row(2, &["North", "1"]),
        row(3, &["-", "2"]).replace(r#"<row r="3">"#, r#"<row r="3"><c r="A3" s="0"/>"#),
        row(4, &["South", "3"]),
        row(5, &["-", "4"]),
        row(6, &["-", "5"]),
    ];
    let merged = r#"</sheetData><mergeCells count="2"><mergeCell ref="A2:A3"/><mergeCell ref="A4:A6"/></mergeCells><sheetData>"#;
    let book = workbook(&[("S", "visible", rows.concat() + merged)]);
    fs::write(bench.path("book.xlsx"), book).unwrap();
    bench.run(["ingest", "-v", "book.xlsx"]).succeeds();
    let run = bench.run(["datasets", "--schema"]).succeeds();
    let told = "3 cells are merged with the one above and null, the first is S!A3";
    assert!(run.stdout().contains(told), "{}", run.stdout());
}

#[test]
fn json_objects_are_rows_and_no_value_is_changed() {
    let bench = Bench::with([]);
    let lines = concat!(
        "{\"id\": 1, \"big\": 12345678901234567890, \"price\": 1.10, \"code\": \"007\", \"day\": \"2024-01-05\"}\n",
        "\n",
        "{\"id\": 2, \"big\": 1, \"price\": 2, \"code\": \"8\", \"at\": {\"city\": \"Oslo\", \"tags\": [1, 2]}}\n",
        "{\"id\": 3, \"day\": null, \"mixed\": true, \"code\": \"a,\\\"b\\\"\\nc\"}\n",
        "{}\n",
    );
    fs::write(bench.path("rows.jsonl"), lines).unwrap();
    bench.run(["ingest", "-v", "rows.jsonl"]).succeeds();
    insta::assert_snapshot!(shown(&bench, "rows"), @r##"
    id:int64 big:string price:float64 code:string day:date at:string mixed:bool
    1,12345678901234567890,1.1,007,2024-01-05,,
    2,1,2.0,8,,"{""city"":""Oslo"",""tags"":[1,2]}",
    3,,,"a,""b""
    c",,,true
    ,,,,,,
    "##);
    bench.run(["ingest", "-v", "rows.jsonl", "--name", "flat", "--flatten"]).succeeds();
    insta::assert_snapshot!(shown(&bench, "flat"), @r##"
    id:int64 big:string price:float64 code:string day:date at.city:string at.tags:string mixed:bool
    1,12345678901234567890,1.1,007,2024-01-05,,,
    2,1,2.0,8,,Oslo,"[1,2]",
    3,,,"a,""b""
    c",,,,true
    ,,,,,,,
    "##);
    // A key with a point in it is not the way to a key within an object.
    let lines = "{\"a.b\": 1, \"a\": {\"b\": 2}}\n{\"a.b\": 3}\n";
    fs::write(bench.path("points.jsonl"), lines).unwrap();
    bench.run(["ingest", "-v", "points.jsonl", "--flatten"]).succeeds();
    insta::assert_snapshot!(shown(&bench, "points"), @r##"
    a.b:int64 a.b_2:int64
    1,2
    3,
    "##);
    let list = "[{\"a\": \"1\"},\n {\"a\": \"2\", \"b\": 1e3}]";
    fs::write(bench.path("list.json.zst"), zstd::encode_all(list.as_bytes(), 1).unwrap()).unwrap();
    bench.run(["ingest", "-v", "list.json.zst"]).succeeds();
    insta::assert_snapshot!(shown(&bench, "list"), @r##"
    a:string b:float64
    1,
    2,1000.0
    "##);
}

#[test]
fn json_of_another_form_is_refused_with_what_to_do() {
    let bench = Bench::with([]);
    let refused = |text: &str| {
        fs::write(bench.path("x.json"), text).unwrap();
        bench.run(["ingest", "-v", "x.json"]).fails_with(5).stderr().to_owned()
    };
    insta::assert_snapshot!(refused("{\"data\": [{\"a\": 1}], \"fields\": [{\"b\": 1}]}"), @r##"
    error: cannot read `x.json` as a table: it is one object with several lists of objects: `data`, `fields`
      hint: extract one list: `jq '.["data"]' FILE | csv-agent ingest --name NAME -`
    "##);
    insta::assert_snapshot!(refused("[{\"a\": 1}, [2]]"), @r##"
    error: cannot read `x.json` as a table: item 2 is a list, and each must be an object
      hint: write each row as an object: {"name": value, …}
    "##);
    insta::assert_snapshot!(refused("[{\"a\": 1}, {\"a\": ]"), @r##"
    error: cannot read `x.json` as JSON: not valid on line 1, at byte 18 of it
      hint: check how the file was made; each line, or each item of one list, must be an object
    "##);
    insta::assert_snapshot!(refused("{\"a\": 1}\n{\"a\": 2"), @r##"
    error: cannot read `x.json` as JSON: it ends within a value, on line 2
      hint: check how the file was made; each line, or each item of one list, must be an object
    "##);
    insta::assert_snapshot!(refused("[{}]"), @r##"
    error: cannot read `x.json` as a table: it has no values
      hint: check how the file was made
    "##);
}

#[test]
fn each_table_of_a_database_is_a_dataset() {
    let bench = Bench::with([]);
    let database = rusqlite::Connection::open(bench.path("shop.db")).unwrap();
    database
        .execute_batch(
            "create table orders (id integer primary key, price real, note text, day text, raw blob);
             insert into orders values (1, 5.0, '007', '2024-01-05', x'00ff'),
                                       (9007199254740993, 2.5, null, '2024-01-06', null);
             create table \"odd name\" (x); insert into \"odd name\" values (1), ('b'), (2.5);
             create view dear as select * from orders where price > 3;
             create table vacant (a);
             create view endless as with recursive n(i) as (select 1 union all select i + 1 from n) select i from n;",
        )
        .unwrap();
    drop(database);
    let before = fs::read(bench.path("shop.db")).unwrap();
    let tables = ["--table", "orders", "--table", "odd*", "--table", "dear"];
    let run = bench.run(["ingest", "-v", "shop.db"].into_iter().chain(tables)).succeeds();
    insta::assert_snapshot!(run.stdout().replace('\t', " | "), @r##"
    name | rows | columns | status | source
    shop_dear | 1 | 5 | added | shop.db/dear
    shop_odd_name | 3 | 1 | added | shop.db/odd name
    shop_orders | 2 | 5 | added | shop.db/orders
    "##);
    insta::assert_snapshot!(shown(&bench, "shop_orders"), @r##"
    id:int64 price:float64 note:string day:date raw:string
    1,5.0,007,2024-01-05,00ff
    9007199254740993,2.5,,2024-01-06,
    "##);
    insta::assert_snapshot!(shown(&bench, "shop_odd_name"), @r##"
    x:string
    1
    b
    2.5
    "##);
    assert_eq!(fs::read(bench.path("shop.db")).unwrap(), before);
    fs::write(bench.path("shop.db-wal"), "x").unwrap();
    let run = bench.run(["ingest", "-v", "shop.db"]).fails_with(5);
    assert!(run.stderr().contains("a program has it open"), "{}", run.stderr());
}

#[test]
fn an_arrow_file_keeps_its_types() {
    let bench = Bench::with([]);
    let schema = Arc::new(Schema::new(vec![
        Field::new("n", DataType::Int64, true),
        Field::new("s", DataType::Utf8, true),
        // Parquet has none of these types.
        Field::new("at", DataType::Timestamp(TimeUnit::Second, None), true),
        Field::new("day", DataType::Date64, true),
        Field::new("time", DataType::Time32(TimeUnit::Second), true),
    ]));
    let columns: Vec<arrow_array::ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![Some(1), None])),
        Arc::new(StringArray::from(vec!["007", "b"])),
        Arc::new(TimestampSecondArray::from(vec![Some(1_672_876_801), None])),
        Arc::new(Date64Array::from(vec![Some(86_400_000), None])),
        Arc::new(Time32SecondArray::from(vec![Some(3_661), None])),
    ];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    let file = File::create(bench.path("t.arrow")).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &schema).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bench.run(["ingest", "-v", "t.arrow"]).succeeds();
    assert_eq!(
        shown(&bench, "t"),
        "n:int64 s:string at:timestamp day:date time:time\n\
         1,007,2023-01-05T00:00:01,1970-01-02,01:01:01\n,b,,,"
    );
    let bytes = fs::read(bench.path("t.arrow")).unwrap();
    for n_bytes in [7, bytes.len() / 2, bytes.len() - 3] {
        fs::write(bench.path("cut.feather"), &bytes[..n_bytes]).unwrap();
        let run = bench.run(["ingest", "-v", "cut.feather"]).fails_with(5);
        assert!(run.stderr().contains("its Arrow data is damaged"), "{}", run.stderr());
    }
}
