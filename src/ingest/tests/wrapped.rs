//! Rows with something around them, which is no part of their cells.

use std::fs;

use csv_agent_types::catalog::SkippedLines;

use super::{Bench, check, table};
use crate::line_map::lines_at;

/// Ingests slices of several sizes and compares the table and the line of each row.
#[track_caller]
fn check_lines(text: &str, expected: &str, lines: &[u64]) {
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    for slice_bytes in [1, 17, 1 << 20] {
        let bench = Bench::new();
        let dataset = bench.sliced(text.as_bytes(), slice_bytes).unwrap();
        assert_eq!(table(&bench, &dataset), expected.join("\n"), "{slice_bytes} bytes a slice");
        let map = fs::read(bench.datasets().join("t.lines")).ok();
        let line = |row| map.as_ref().map_or(row + 2, |it| lines_at(&it[..], &[row]).unwrap()[0]);
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
        "rows are quoted as a whole: 2 of 3 sampled lines are one quoted cell that contains 3"
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

/// The rows `1 | a`, `2 | b c` and `3 | ~` of a drawn table, and how many of its lines are no rows.
#[track_caller]
fn check_drawn(text: &str, lines: &[u64], n_lines_of_drawing: u64, n_notes: u64) {
    check_lines(text, "id:int64 | name:string\n 1 | a\n 2 | b c\n 3 | ~", lines);
    let dataset = Bench::new().bytes(text).unwrap();
    let SkippedLines { preamble, rules, footer, .. } = dataset.set_aside;
    assert_eq!((rules, preamble + footer), (n_lines_of_drawing, n_notes), "{text}");
    assert_eq!((dataset.padded_rows, dataset.surplus_rows), (0, 0), "{text}");
}

#[test]
fn a_table_that_psql_draws_is_a_table() {
    let rows = " id | name \n----+------\n  1 | a\n  2 | b c\n  3 | \n";
    check_drawn(rows, &[3, 4, 5], 1, 0);
    check_drawn(&format!("{rows}(3 rows)\n\n"), &[3, 4, 5], 1, 1);
    let framed = "+----+------+\n| id | name |\n+----+------+\n|  1 | a    |\n|  2 | b c  |\n|  3 |      |\n+----+------+\n(3 rows)\n";
    check_drawn(framed, &[4, 5, 6], 2, 2);
}

#[test]
fn a_table_that_mysql_draws_is_a_table() {
    let rows = "+----+------+\r\n| id | name |\r\n+----+------+\r\n|  1 | a    |\r\n|  2 | b c  |\r\n|  3 |      |\r\n";
    check_drawn(&format!("mysql> select * from t;\r\n{rows}"), &[5, 6, 7], 2, 1);
    check_drawn(&format!("{rows}+----+------+\r\n3 rows in set (0.00 sec)\r\n"), &[4, 5, 6], 2, 2);
}

#[test]
fn a_table_of_markdown_is_a_table() {
    check_drawn(
        "| id | name |\n|---:|:-----|\n| 1 | a |\n| 2 | b c |\n| 3 | |\n",
        &[3, 4, 5],
        1,
        0,
    );
    check_drawn("# People\n\nid | name\n---|---\n1 | a\n2 | b c\n3 |\n", &[5, 6, 7], 1, 1);
    check(
        "| a | b |\n|---|---|\n| x \\| y | 1 |\n| z | 2 |\n",
        "a:string | b:int64\n x | y | 1\n z | 2",
    );
}

#[test]
fn a_table_of_box_drawing_characters_is_a_table() {
    check_drawn(
        "┌───────┬─────────┐\n│  id   │  name   │\n│ int32 │ varchar │\n├───────┼─────────┤\n│     1 │ a       │\n│     2 │ b c     │\n│     3 │         │\n└───────┴─────────┘\n",
        &[5, 6, 7],
        4,
        0,
    );
    check_drawn(
        "╭────┬──────╮\n│ id │ name │\n├────┼──────┤\n│  1 │ a    │\n│  2 │ b c  │\n│  3 │      │\n╰────┴──────╯\n",
        &[4, 5, 6],
        3,
        0,
    );
}

#[test]
fn a_drawn_table_may_have_names_in_several_lines_and_quotes_in_its_cells() {
    check(
        "| day | n |\n| | kg |\n|---|---|\n| \"x\" | 1 |\n| y | 2 |\n",
        "day:string | n kg:int64\n \"x\" | 1\n y | 2",
    );
}

#[test]
fn a_long_drawn_table_is_read_whatever_its_length() {
    let row = |it| format!("| {it:>6} | a b     |\n");
    let rows: Vec<String> = (0..60_000).map(row).collect();
    let rule = "+--------+---------+\n";
    let text =
        format!("{rule}| id     | name    |\n{rule}{}{rule}60000 rows in set\n", rows.concat());
    let bench = Bench::new();
    let dataset = bench.sliced(text.as_bytes(), 100_000).unwrap();
    assert_eq!((dataset.row_count, dataset.padded_rows), (60_000, 0));
    assert_eq!(bench.rows().pop(), Some(vec![Some("59999".into()), Some("a b".into())]));
}

#[test]
fn a_row_of_strokes_below_the_names_is_no_row() {
    let rows = "id,name\n--,----\n1,a\n2,b c\n3,\n";
    check_drawn(rows, &[3, 4, 5], 1, 0);
    check_drawn(&format!("{rows}\n(3 rows affected)\n"), &[3, 4, 5], 1, 1);
}
