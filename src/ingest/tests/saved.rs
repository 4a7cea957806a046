//! Tables that programs have saved as CSV.

use std::fs;
use std::io::Write;
use std::sync::atomic::AtomicBool;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use tempfile::TempDir;

use csv_agent_testing::slow_cases;
use csv_agent_types::limits::{TABLE_CELLS_MAX, TABLE_ROWS_MAX};

use super::rows;
use crate::table_of_csv;

/// Nobody cancels.
static GOES_ON: AtomicBool = AtomicBool::new(false);

/// Reads what a program has saved; shows types and rows.
#[track_caller]
fn check_saved(csv: impl AsRef<[u8]>, expected: &str) {
    let dir = TempDir::new().unwrap();
    let (csv_path, parquet) = (dir.path().join("1"), dir.path().join("df.parquet"));
    fs::write(&csv_path, csv).unwrap();
    let (rows_max, cells_max) = (TABLE_ROWS_MAX, TABLE_CELLS_MAX);
    let frame =
        table_of_csv(&csv_path, "/mnt/data/df.csv", &parquet, rows_max, cells_max, &GOES_ON)
            .unwrap();
    let columns = frame.columns.iter().zip(&frame.dtypes).map(|it| format!("{}:{}", it.0, it.1));
    let rows = frame
        .rows
        .iter()
        .map(|row| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    let lines: Vec<String> =
        [columns.collect::<Vec<_>>().join(" ")].into_iter().chain(rows).collect();
    assert_eq!(lines.join("\n"), expected);
    assert_eq!(frame.row_count, frame.rows.len() as u64);
    let mut left: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["1", "df.parquet"]);
}

#[test]
fn a_table_that_pandas_saved_has_its_types() {
    check_saved(
        "week,product,n,share,ok,at\n2024-01-01,Tea,3,0.5,True,2024-01-01 09:30:00\n\
         2024-01-08,\"Coffee, black\",,1e-05,False,\n",
        "week:object product:str n:int64 share:float64 ok:bool at:datetime64[us]\n\
         \"2024-01-01\" \"Tea\" 3 0.5 true \"2024-01-01T09:30:00\"\n\
         \"2024-01-08\" \"Coffee, black\" null 0.00001 false null",
    );
}

#[test]
fn a_table_of_one_row_is_shown_as_one_of_many() {
    check_saved(
        "at,day,t\n2024-01-01 09:30:00,2024-01-01,09:30:00\n",
        "at:datetime64[us] day:object t:object\n\
         \"2024-01-01T09:30:00\" \"2024-01-01\" \"09:30:00\"",
    );
}

#[test]
fn what_a_program_formatted_for_people_stays_as_it_is() {
    check_saved(
        "share,price,sold,code,answer,day,country\n12 %,$1.50,\"1,200\",007,yes,01/02/2024,NA\n\
         3 %,$2.00,\"3,400\",012,no,13/02/2024,DE\n",
        "share:str price:str sold:str code:str answer:str day:str country:str\n\
         \"12 %\" \"$1.50\" \"1,200\" \"007\" \"yes\" \"01/02/2024\" \"NA\"\n\
         \"3 %\" \"$2.00\" \"3,400\" \"012\" \"no\" \"13/02/2024\" \"DE\"",
    );
}

#[test]
fn every_record_below_the_names_is_a_row() {
    check_saved("a\nx\ny\n", "a:str\n\"x\"\n\"y\"");
    check_saved("name\n\"a;b\"\n\"\"\n\"c;d\"\n", "name:str\n\"a;b\"\n\"\"\n\"c;d\"");
    check_saved("a,b\na,b\n", "a:str b:str\n\"a\" \"b\"");
    check_saved("1,2\n3,4\n", "1:int64 2:int64\n3 4");
    check_saved("a,b\n", "a:str b:str");
    check_saved("#,b\n# 1,2\n#,3\n", "#:str b:int64\n\"# 1\" 2\n\"#\" 3");
    check_saved(
        "city,n\nOslo,1\n,\n\nTotal: all,\nSource: me,\n",
        "city:str n:int64\n\"Oslo\" 1\nnull null\n\"Total: all\" null\n\"Source: me\" null",
    );
    check_saved("sep=;,n\nx,1\n", "sep=;:str n:int64\n\"x\" 1");
    check_saved("a,b\n,Unit\n,kg\nx,1\n", "a:str b:str\nnull \"Unit\"\nnull \"kg\"\n\"x\" \"1\"");
    check_saved("\"a,b\"\n\"1,2\"\n\"3,4\"\n\"5,6\"\n", "a,b:str\n\"1,2\"\n\"3,4\"\n\"5,6\"");
}

#[test]
fn a_number_that_is_none_is_missing() {
    check_saved("x,y\nnan,1\n2.5,NaN\ninf,3\n", "x:float64 y:int64\nnull 1\n2.5 null\n\"inf\" 3");
}

#[test]
fn only_the_first_rows_are_in_the_frame_and_all_in_the_file() {
    let dir = TempDir::new().unwrap();
    let (csv, parquet) = (dir.path().join("x.csv"), dir.path().join("x.parquet"));
    fs::write(&csv, format!("a,b\n{}", "1,2\n".repeat(1_000))).unwrap();
    for (rows_max, cells_max, n_rows) in [(10, 1_000, 10), (100, 30, 15), (2_000, 10_000, 1_000)] {
        let frame = table_of_csv(&csv, "x.csv", &parquet, rows_max, cells_max, &GOES_ON).unwrap();
        assert_eq!((frame.rows.len(), frame.row_count), (n_rows, 1_000));
        assert_eq!(rows(&parquet).len(), 1_000);
    }
}

#[test]
fn a_file_that_is_no_table_is_refused_in_words_for_a_model() {
    let refusal = |bytes: Option<&[u8]>| {
        let dir = TempDir::new().unwrap();
        let (csv, parquet) = (dir.path().join("x"), dir.path().join("df.parquet"));
        bytes.inspect(|it| fs::write(&csv, it).unwrap());
        let error = table_of_csv(&csv, "/mnt/data/df.csv", &parquet, 10, 10, &GOES_ON).unwrap_err();
        assert!(!parquet.exists());
        let message = error.to_string();
        let how = "; save a DataFrame with `df.to_csv(\"/mnt/data/df.csv\", index=False)`";
        message.strip_suffix(how).unwrap_or_else(|| panic!("{message}")).to_owned()
    };
    assert_eq!(refusal(Some(b"")), "cannot read `/mnt/data/df.csv`: it is empty (0 bytes)");
    let is = |what: &str| format!("cannot read `/mnt/data/df.csv` as CSV: it {what}");
    assert_eq!(refusal(Some(b"\n")), is("has only blank lines"));
    assert_eq!(refusal(Some(b"[{\"a\": 1}, {\"a\": 2}]")), is("is JSON"));
    assert_eq!(refusal(Some(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")), is("is a PNG image"));
    assert_eq!(refusal(None), "cannot read `/mnt/data/df.csv`: no such file");
}

#[test]
fn a_file_holds_no_more_than_may_be_fetched_and_reading_ends_when_nobody_waits() {
    let dir = TempDir::new().unwrap();
    let (csv, parquet) = (dir.path().join("x"), dir.path().join("df.parquet"));
    let mut packed = GzEncoder::new(fs::File::create(&csv).unwrap(), Compression::fast());
    let lines = "a,b\n".repeat(1024 * 1024);
    (0..=25).for_each(|_| packed.write_all(lines.as_bytes()).unwrap());
    packed.finish().unwrap();
    let error = |cancelled| {
        let cancelled = AtomicBool::new(cancelled);
        table_of_csv(&csv, "df.csv", &parquet, 1, 2, &cancelled).unwrap_err().to_string()
    };
    assert!(error(false).contains("the limit is 104857600 bytes"), "{}", error(false));
    assert!(!error(true).contains("the limit"), "{}", error(true));
    assert!(!parquet.exists());
}

proptest! {
    #![proptest_config(slow_cases(200, 1_000))]

    #[test]
    fn whatever_was_saved_it_is_a_table_or_refused(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            "[a-c1,;\"'\\r\\n\t #=\u{feff}]{0,60}".prop_map(String::into_bytes),
        ]
    ) {
        let dir = TempDir::new().unwrap();
        let (csv, parquet) = (dir.path().join("1"), dir.path().join("df.parquet"));
        fs::write(&csv, bytes).unwrap();
        let frame = table_of_csv(&csv, "df.csv", &parquet, 5, 20, &GOES_ON);
        prop_assert_eq!(parquet.exists(), frame.is_ok());
        prop_assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1 + usize::from(frame.is_ok()));
        if let Ok(frame) = frame {
            prop_assert!(frame.rows.len() <= 5 && frame.rows.len() * frame.columns.len() <= 20);
        }
    }
}
