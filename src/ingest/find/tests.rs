//! Tables in, values searched, compared with a plain look at every cell.

use std::fmt::Write;
use std::fs::{self, File};
use std::io::Cursor;
use std::sync::atomic::AtomicBool;

use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::bloom_filter::Sbbf;
use proptest::prelude::{prop, prop_assert_eq, proptest};
use tempfile::TempDir;

use csv_agent_testing::cases;
use csv_agent_types::catalog::{Facts, Query};

use crate::{DatasetFiles, IngestOptions, Source, answer, ingest};

struct Bench(TempDir);

impl Bench {
    fn with(csv: &str) -> Self {
        let dir = TempDir::new().unwrap();
        let source = Source::Stdin(Box::new(Cursor::new(csv.as_bytes().to_vec())));
        let (options, cancelled) = (IngestOptions::default(), AtomicBool::new(false));
        let (_, files) =
            ingest(source, "-", "t", dir.path(), &options, &|_| {}, &cancelled).unwrap();
        DatasetFiles::keep_all(vec![files]).remove(0).unwrap();
        Bench(dir)
    }

    fn ask(&self, value: &str) -> anyhow::Result<Vec<(String, u64)>> {
        let query = Query::FindValue { path: "t.parquet".into(), value: value.to_owned() };
        let Facts::Matches(found) = answer(&query, self.0.path())? else {
            unreachable!("a search was asked for")
        };
        Ok(found.into_iter().map(|it| (it.column, it.count)).collect())
    }

    #[track_caller]
    fn check(&self, value: &str, expected: &[(&str, u64)]) {
        let expected: Vec<_> = expected.iter().map(|(it, n)| ((*it).to_owned(), *n)).collect();
        assert_eq!(self.ask(value).unwrap(), expected, "{value:.60}");
    }

    fn check_whole(&self) -> Result<(), String> {
        let query = Query::Check { path: "t.parquet".into() };
        answer(&query, self.0.path()).map(drop).map_err(|error| error.root_cause().to_string())
    }
}

/// A long text of its own for each row.
fn long(row: usize) -> String {
    format!("Row {row} of ") + &"the Same Words again and again ".repeat(20) + &row.to_string()
}

#[test]
fn long_text_has_a_filter_that_knows_each_text_in_both_forms() {
    let rows: Vec<String> = (0..500).map(|it| format!("{it},\" {} \"", long(it))).collect();
    let bench = Bench::with(&format!("id,body\n{}\n", rows.join("\n")));
    let file = File::open(bench.0.path().join("t.parquet")).unwrap();
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).unwrap();
    let column = |at| metadata.metadata().row_group(0).column(at);
    assert_eq!(column(0).bloom_filter_offset(), None);
    let filter = Sbbf::read_from_column_chunk(column(1), &file).unwrap().unwrap();
    for row in 0..500 {
        assert!(filter.check(format!(" {} ", long(row)).as_str()), "for other readers");
        assert!(filter.check(long(row).to_lowercase().as_str()), "for ourselves");
    }
    let n_wrong = (500..1500).filter(|it| filter.check(long(*it).as_str())).count();
    assert!(n_wrong < 150, "{n_wrong}");

    bench.check(&long(499).to_uppercase(), &[("body", 1)]);
    bench.check(&format!("\t{}\n", long(0)), &[("body", 1)]);
    bench.check(&long(500), &[]);
    bench.check("499", &[("id", 1)]);
}

#[test]
fn surplus_cells_are_searched_too() {
    let bench = Bench::with("a,b\n1,2\n3,4,anvil\n5,6\n");
    bench.check("Anvil", &[("_extra", 1)]);
    bench.check("6", &[("b", 1)]);
}

#[test]
fn a_value_longer_than_a_page_is_found() {
    let huge = "Xy ".repeat(1_000_000) + "z";
    let bench = Bench::with(&format!("id,text\n1,{huge}\n2,short\n"));
    bench.check(&huge, &[("text", 1)]);
    bench.check(&huge[1..], &[]);
    bench.check("short", &[("text", 1)]);
}

#[test]
fn thousands_of_columns_are_searched() {
    let mut csv = String::new();
    for name in 0..5_000 {
        write!(csv, "{}c{name}", if name == 0 { "" } else { "," }).unwrap();
    }
    for row in 0..3 {
        for name in 0..5_000 {
            let separator = if name == 0 { '\n' } else { ',' };
            match name % 3 {
                0 => write!(csv, "{separator}{}", name * 10 + row).unwrap(),
                1 => write!(csv, "{separator}{name}.5").unwrap(),
                _ => write!(csv, "{separator}w{name}").unwrap(),
            }
        }
    }
    let bench = Bench::with(&csv);
    bench.check("49_989", &[]);
    bench.check("49982", &[("c4998", 1)]);
    bench.check("4999.50", &[("c4999", 3)]);
    bench.check("W4997", &[("c4997", 3)]);
}

#[test]
fn a_damaged_file_is_told_and_never_a_panic() {
    let rows: Vec<_> = (0..400).map(|it| format!("{it},{}.5,w{}\n", it * 7, it % 3)).collect();
    let bench = Bench::with(&format!("id,x,word\n{}", rows.concat()));
    let path = bench.0.path().join("t.parquet");
    assert_eq!(bench.check_whole(), Ok(()));
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(3) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        fs::write(&path, &damaged).unwrap();
        for value in ["w1", "7", "7.5"] {
            if let Err(error) = bench.ask(value) {
                assert!(error.to_string().starts_with("cannot search "), "{error:#}");
            }
        }
    }
    let damaged = Err("the file is damaged; ingest its source again".to_owned());
    for n_kept in [0, 3, 11, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..n_kept]).unwrap();
        assert!(bench.ask("7").is_err());
        assert_eq!(bench.check_whole(), damaged, "{n_kept} bytes");
    }
    fs::remove_file(&path).unwrap();
    assert!(bench.ask("7").unwrap_err().to_string().starts_with("cannot search "));
    assert!(bench.check_whole().unwrap_err().contains("No such file"));
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_search_counts_what_a_look_at_every_cell_does(
        cells in prop::collection::vec("[ \u{a0}\t]{0,1}[aAäÄkK\u{212a}İß]{1,3}[ \u{3000}]{0,1}", 1..40),
        value in "[ ]{0,1}[aAäÄkKß]{1,3}[ ]{0,1}",
    ) {
        let rows: Vec<_> = cells.iter().map(|it| format!("x,\"{it}\"\n")).collect();
        let bench = Bench::with(&format!("first,second column\n{}", rows.concat()));
        let wanted = value.trim().to_lowercase();
        let is_match = |it: &&String| {
            let cell = it.trim();
            cell.is_ascii() == wanted.is_ascii() && cell.to_lowercase() == wanted
        };
        let n = cells.iter().filter(is_match).count() as u64;
        let expected =
            if n == 0 { vec![] } else { vec![("second column".to_owned(), n)] };
        prop_assert_eq!(bench.ask(&value).unwrap(), expected);
    }
}
