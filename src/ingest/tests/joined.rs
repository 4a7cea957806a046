//! Files that were joined: each began with a byte order mark, and with the header.

use super::{Bench, table};

const MARK: &str = "\u{feff}";

/// Ingests slices of several sizes; compares the table, and what is told of marks and headers.
#[track_caller]
fn check(text: &str, expected: &str, told: &[&str]) {
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    for slice_bytes in [1, 9, 1 << 20] {
        let bench = Bench::new();
        let dataset = bench.sliced(text.as_bytes(), slice_bytes).unwrap();
        assert_eq!(table(&bench, &dataset), expected.join("\n"), "{slice_bytes} bytes a slice");
        let reasons = dataset.dialect.reasons.iter();
        let found: Vec<&String> =
            reasons.filter(|it| it.contains("marks") || it.contains("is repeated")).collect();
        assert_eq!(found, told, "{slice_bytes} bytes a slice");
    }
}

#[test]
fn a_mark_that_begins_a_line_is_no_text() {
    let one = "1 byte order marks within the file left out, the first on line 3";
    check(
        &format!("{MARK}id,name\n1,a\n{MARK}2,b\n"),
        "id:int64 | name:string\n 1 | a\n 2 | b",
        &[one],
    );
    check(
        &format!("id,name\n1,a\n{MARK}\"2\",\"b\nc\"\n3,d\n"),
        "id:int64 | name:string\n 1 | a\n 2 | b⏎c\n 3 | d",
        &[one],
    );
    check(
        &format!("id;name\n1;'a;b'\n{MARK}'2';'c'\n3;'d'\n"),
        "id:int64 | name:string\n 1 | a;b\n 2 | c\n 3 | d",
        &[one],
    );
}

#[test]
fn the_header_behind_a_mark_is_no_row() {
    let text = format!("{MARK}id,name\n1,a\n{MARK}id,name\n2,b\n{MARK}id,name\n3,c\n");
    check(
        &text,
        "id:int64 | name:string\n 1 | a\n 2 | b\n 3 | c",
        &[
            "the header is repeated 2 times",
            "2 byte order marks within the file left out, the first on line 3",
        ],
    );
}

#[test]
fn a_mark_above_the_first_row_is_told_as_well() {
    check(
        &format!("All people\n\n{MARK}id,name\n1,a\n2,b\n"),
        "id:int64 | name:string\n 1 | a\n 2 | b",
        &["1 byte order marks within the file left out, the first on line 3"],
    );
}

#[test]
fn a_mark_within_a_cell_is_text() {
    check(
        &format!("id,name\n1,{MARK}a\n2,\"b\n{MARK}c\"\n"),
        &format!("id:int64 | name:string\n 1 | {MARK}a\n 2 | b⏎{MARK}c"),
        &[],
    );
}
