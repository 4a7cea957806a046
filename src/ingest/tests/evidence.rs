//! What is noted of a column: how it was read, and which values made it text.

use std::fmt::Write;

use csv_agent_types::catalog::DType;

use super::{Bench, check_refused};
use crate::{DateOrder, DecimalMark, RequestedType};

/// Ingests a column under the header `a`, beside one that keeps the delimiter, and compares its note.
#[track_caller]
fn check(values: &[&str], expected: Option<&str>) {
    let text = values.iter().fold("a;b\n".to_owned(), |text, it| format!("{text}{it};x\n"));
    for slice_bytes in [1, 20, 1 << 20] {
        let bench = Bench::new().with(|it| it.delimiter = Some(";".to_owned()));
        let dataset = bench.sliced(text.as_bytes(), slice_bytes).unwrap();
        let column = &dataset.columns[0];
        assert_eq!(column.note.as_deref(), expected, "{slice_bytes} bytes a slice");
    }
}

#[test]
fn the_first_value_that_makes_a_column_text_is_told_with_its_line() {
    check(
        &["1", "2", "3", "n. d.", "5", "?!", "7", "8"],
        Some("text: 2 values that are not numbers, the first `n. d.` on line 5"),
    );
    check(
        &["2024-01-01", "2024-02-30", "2024-03-01", "2024-04-01"],
        Some("text: 1 value that is not a day, `2024-02-30` on line 3"),
    );
    check(
        &["09:30", "24:00", "10:15", "11:00"],
        Some("text: 1 value that is not a time of day, `24:00` on line 3"),
    );
    check(
        &["true", "false", "false", "perhaps"],
        Some("text: 1 value that is not a truth value, `perhaps` on line 5"),
    );
    check(&["1", "2", "*"], Some("text: 1 value that is not a number, `*` on line 4"));
    check(
        &["1,000", "26,474", "*", "984", "*", "12,500"],
        Some("text: 2 values that are not numbers, the first `*` on line 4; e.g. `1,000`"),
    );
    check(
        &["12.5%", "7%", "n.s.", "40.2 %"],
        Some("text: 1 value that is not a percentage, `n.s.` on line 4; e.g. `12.5%`"),
    );
    check(
        &["$1,097", "15", "(on request)", "$20.50"],
        Some(
            "text: 1 value that is not an amount of money, `(on request)` on line 4; e.g. `$1,097`",
        ),
    );
    check(
        &["1.5", "(1.2)", "3", "x"],
        Some("text: 1 value that is not an amount, `x` on line 5; e.g. `(1.2)`"),
    );
    check(
        &["5", "7.25", "12,50", "9"],
        Some("text: numbers of different forms; e.g. `12,50` on line 4"),
    );
    check(&["1", "x", "*"], None);
    check(&["apple", "pear", "5", "plum"], None);
    check(&["1", "2", "3", "NA"], Some("1 `NA` read as missing"));
    check(
        &["1", "2", "3", "MISSING", "NA"],
        Some("text: 1 value that is not a number, `MISSING` on line 5; 1 `NA` kept as text"),
    );
}

#[test]
fn digits_that_a_number_would_lose_are_told() {
    check(
        &["10115", "01067", "80331", "04109"],
        Some("text: 2 values with leading zeros, the first `01067` on line 3"),
    );
    check(&["007", "008"], Some("text: 2 values with leading zeros, the first `007` on line 2"));
    check(
        &["1", "2", "3", "9223372036854775808"],
        Some("text: 1 value beyond int64, `9223372036854775808` on line 5"),
    );
    check(
        &["+491701234567", "+441632960961"],
        Some("text: 2 values with a leading `+`, the first `+491701234567` on line 2"),
    );
    let long = "x".repeat(50);
    let told = format!("text: 1 value that is not a number, `{}…` on line 5", "x".repeat(40));
    check(&["1", "2", "3", &long], Some(&told));
}

#[test]
fn values_of_several_types_are_told() {
    check(&["1", "2024-01-01"], Some("text: numbers and days"));
    check(
        &["2024-01-01T10:00:00Z", "2024-01-01T10:00:00"],
        Some("text: times with an offset and without"),
    );
    check(&["1E5", "12"], Some("text: exponents among whole numbers, which may be identifiers"));
    check(&["9007199254740993", "0.5"], Some("text: more digits than a float can hold"));
    check(&["2024-01-01T10:00:00Z"], None);
    check(&["2024-01-01T10:00:00+00:00"], None);
    check(&["2024-01-01T10:00:00+02:00"], Some("in UTC; the file has other offsets"));
}

#[test]
fn words_for_what_is_missing_are_told_whether_they_are_null_or_text() {
    check(&["1", "-", "", "NULL", "3", "-"], Some("2 `-`, 1 `NULL` read as missing"));
    check(&["true", "NA", "false"], Some("1 `NA` read as missing"));
    check(&["ann", "None", "bob", "None", "NA"], Some("2 `None`, 1 `NA` kept as text"));
    check(&["ann", "\\N", "bob"], Some("1 `\\N` read as missing"));
    check(&["ann", "Natalia", "no"], None);
}

#[test]
fn a_column_without_a_name_is_marked() {
    let bench = Bench::new();
    let dataset = bench.bytes("id,,x\n1,2,a\n3,4,b\n").unwrap();
    let unnamed: Vec<bool> = dataset.columns.iter().map(|it| it.is_unnamed).collect();
    assert_eq!(unnamed, [false, true, false]);
    let bench = Bench::new().with(|it| it.header = Some(false));
    let dataset = bench.bytes("1,a\n3,b\n").unwrap();
    assert!(dataset.columns.iter().all(|it| it.is_unnamed));
}

#[test]
fn a_late_value_is_told_however_far_down_it_is() {
    let mut text = "id,name\n".to_owned();
    for row in 0..3_000 {
        write!(text, "{row},\"x\ny\"\n").unwrap();
    }
    text.push_str("late,z\nlater,z\n");
    let bench = Bench::new();
    let dataset = bench.sliced(text.as_bytes(), 10_000).unwrap();
    let told = "text: 2 values that are not numbers, the first `late` on line 6002";
    assert_eq!(dataset.columns[0].note.as_deref(), Some(told));
    assert_eq!(dataset.columns[1].note, None);
}

#[test]
fn a_quote_that_is_never_closed_is_told_with_its_line() {
    let bench = Bench::new().with(|it| it.delimiter = Some(",".to_owned()));
    let dataset = bench.bytes("a,b\n1,\"x\ny\"\n2,\"open\n3,z\n").unwrap();
    let told =
        "1 quote opens a cell and is never closed, so it is read as text; the first is on line 4";
    let reasons = &dataset.dialect.reasons;
    assert!(reasons.iter().any(|it| it == told), "{reasons:?}");
}

#[test]
fn the_value_at_fault_is_the_one_that_is_not_written_like_the_others() {
    let numbers = |it: RequestedType| (it, Some(DecimalMark::Comma), None);
    let days = |it: DType, order| (RequestedType::Type(it), None, order);
    let float = RequestedType::Type(DType::Float64);
    let rows = "1;1.234,50\n2;3,50\n";
    for (rows, bad, (wanted, decimal, date_order)) in [
        (rows, "abc", numbers(float)),
        (rows, "abc", (float, None, None)),
        (rows, "1,234.5", numbers(float)),
        (rows, "abc", numbers(RequestedType::Decimal)),
        (rows, "abc", numbers(RequestedType::Money)),
        (rows, "abc", (RequestedType::Money, None, None)),
        ("1;1,5 %\n2;2,25 %\n", "abc", (RequestedType::Percent, None, None)),
        ("1;13/01/2023\n2;02/03/2023\n", "abc", days(DType::Date, Some(DateOrder::Dmy))),
        ("1;13/01/2023\n2;02/03/2023\n", "03/13/2023", days(DType::Date, Some(DateOrder::Dmy))),
        ("1;13/01/2023\n2;02/03/2023\n", "abc", days(DType::Date, None)),
        ("1;13/01/2023 10:00\n2;02/03/2023\n", "abc", days(DType::Timestamp, None)),
    ] {
        // Wherever it is.
        for text in [format!("a;b\n{rows}3;{bad}\n"), format!("a;b\n3;{bad}\n{rows}")] {
            let bench = Bench::new().with(|it| {
                it.dtypes = vec![("b".to_owned(), wanted)];
                it.decimal = decimal;
                it.date_order = date_order;
            });
            let name = wanted.name();
            let line = text.lines().position(|it| it.ends_with(bad)).unwrap() + 1;
            let expected = format!(
                "cannot read column `b` of `-` as {name}: line {line} has `{bad}` / leave out `--dtype \
                 b={name}`, or name the value in `--null`"
            );
            check_refused(&bench, bench.bytes(text.as_str()), &expected);
        }
    }
}

#[test]
fn a_wanted_type_that_waits_for_an_order_names_its_flag() {
    let wanted = |dtype| {
        Bench::new().with(|it| it.dtypes = vec![("a".to_owned(), RequestedType::Type(dtype))])
    };
    let bench = wanted(DType::Date);
    check_refused(
        &bench,
        bench.bytes("a,b\n01/02/2024,x\n"),
        "cannot read column `a` of `-` as date: line 2 has `01/02/2024` / name the order of its days with \
         `--date-order dmy`, or `mdy` or `ymd`",
    );
    let bench = wanted(DType::Float64);
    check_refused(
        &bench,
        bench.bytes("a;b\n1,234;x\n"),
        "cannot read column `a` of `-` as float64: line 2 has `1,234` / name the decimal mark of its numbers \
         with `--decimal ,` or `--decimal .`",
    );
    let bench = wanted(DType::Int64);
    check_refused(
        &bench,
        bench.bytes("a,b\nx,x\n"),
        "cannot read column `a` of `-` as int64: line 2 has `x` / leave out `--dtype a=int64`, or name the \
         value in `--null`",
    );
}
