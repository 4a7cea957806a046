//! Rows with something around them, which is no part of their cells.

use std::fs;

use super::{Bench, check, table};
use crate::dataset::lines::line_of;

/// Ingests slices of several sizes and compares the table and the line of each row.
#[track_caller]
fn check_lines(text: &str, expected: &str, lines: &[u64]) {
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    for slice_bytes in [1, 17, 1 << 20] {
        let bench = Bench::new();
        let dataset = bench.sliced(text.as_bytes(), slice_bytes).unwrap();
        assert_eq!(table(&bench, &dataset), expected.join("\n"), "{slice_bytes} bytes a slice");
        let map = fs::read(bench.datasets().join("t.lines")).ok();
        let line = |row| map.as_ref().map_or(row + 2, |it| line_of(&it[..], row).unwrap());
        let found: Vec<u64> = (0..dataset.row_count).map(line).collect();
        assert_eq!(found, lines, "{slice_bytes} bytes a slice");
    }
}

#[test]
fn rows_that_are_each_quoted_as_a_whole_are_a_table() {
    check_lines(
        "\"id,name,paid\"\n\"1,\"\"x, y\"\",2.5\"\n\n\"2,\"\"say \"\"\"\"ho\"\"\"\"\"\",3\"\n\"3,\"\"u\nv\"\",\"\n\"4,w,1\"\n",
        "id:int64 | name:string | paid:float64
         1 | x, y | 2.5
         2 | say \"ho\" | 3
         3 | u⏎v | ~
         4 | w | 1",
        &[2, 4, 5, 7],
    );
}

#[test]
fn the_reason_tells_how_many_rows_were_quoted_as_a_whole() {
    let dataset = Bench::new().bytes("id,name,paid\n\"1,x,2\"\n\"2,y,3\"\n").unwrap();
    assert_eq!(
        dataset.dialect.reasons[1],
        "rows are quoted as a whole: 2 of 3 sampled lines are one quoted cell that holds 3"
    );
}

#[test]
fn a_file_of_rows_quoted_as_a_whole_is_read_whatever_its_length() {
    let row = |it| format!("\"{it},\"\"a, {it}\"\",x\"\r\n");
    let rows: Vec<String> = (0..60_000).map(row).collect();
    let text = format!("\"id,name,kind\"\r\n{}", rows.concat());
    let bench = Bench::new();
    let dataset = bench.sliced(text.as_bytes(), 100_000).unwrap();
    let last = Some(vec![Some("59999".into()), Some("a, 59999".into()), Some("x".into())]);
    assert_eq!((dataset.row_count, dataset.padded_rows), (60_000, 0));
    assert_eq!(bench.rows().pop(), last);
}

#[test]
fn sentences_in_quotes_are_one_column() {
    check("say\n\"one, two\"\n\"three, four\"\n", "say:string\n one, two\n three, four");
}
