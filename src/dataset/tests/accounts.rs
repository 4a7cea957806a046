//! Every line of a source is accounted for: header, row, set aside, or blank.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::{
    Just, Strategy, TestCaseError, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::sample::Index;
use serde_json::Value;

use super::Bench;
use crate::cases::slow_cases;
use crate::dataset::lines::line_of;

/// Lines of a table with what people put around it; no cell holds a line end.
fn sources() -> impl Strategy<Value = Vec<String>> {
    let line = |text: &str| Just(text.to_owned());
    let lines = |it: prop::strategy::BoxedStrategy<String>, n| prop::collection::vec(it, 0..n);
    let preamble = prop_oneof![line("Sales of the year"), line("# made by hand"), line("")];
    let row = prop_oneof![
        8 => "[1-9][0-9]{0,3},[a-z]{1,5},[0-9]{1,2}\\.[0-9]",
        1 => "[1-9][0-9]{0,3},[a-z]{1,5}",
        1 => "[1-9][0-9]{0,3},[a-z]{1,5},[0-9]\\.[0-9],[a-z]{1,3}",
        1 => line(""),
        1 => line("id,name,value"),
        1 => line("# a remark"),
    ];
    let footer = prop_oneof![line(""), line("Source: the office"), line("Total")];
    let parts = (lines(preamble.boxed(), 4), lines(row.boxed(), 40), lines(footer.boxed(), 3));
    parts.prop_map(|(preamble, rows, footer)| {
        let header = vec!["id,name,value".to_owned(), "7,first,1.5".to_owned()];
        [preamble, header, rows, footer].concat()
    })
}

/// Compares what was found of each line with what stands there; no account for what is refused.
fn check(text: &str, slice_bytes: usize) -> Result<bool, TestCaseError> {
    let bench = Bench::new();
    let Ok(dataset) = bench.sliced(text.as_bytes(), slice_bytes) else { return Ok(false) };
    let mut found: BTreeMap<u64, &str> = BTreeMap::new();
    let mut count = |line: u64, what| match found.insert(line, what) {
        None => Ok(()),
        Some(before) => {
            Err(TestCaseError::fail(format!("line {line} is {before} and {what} of\n{text}")))
        }
    };
    let map = fs::read(bench.datasets().join("t.lines")).ok();
    let n_header = u64::from(dataset.dialect.header);
    for row in 0..dataset.row_count {
        let line = match &map {
            Some(map) => line_of(&map[..], row).unwrap(),
            None => row + 1 + n_header,
        };
        count(line, "a row")?;
    }
    let listed = fs::read_to_string(bench.datasets().join("t.rejects.jsonl")).unwrap_or_default();
    let listed = listed.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    let is_aside = |it: &Value| it["reason"].as_str().unwrap().ends_with("; no row");
    let aside: Vec<u64> = listed.filter(is_aside).map(|it| it["line"].as_u64().unwrap()).collect();
    prop_assert_eq!(aside.len() as u64, dataset.set_aside.sum(), "{}", text);
    for line in &aside {
        count(*line, "set aside")?;
    }
    if let Some(first) = dataset.dialect.header_line {
        let n_records =
            |it: &String| it.strip_prefix("header of ")?.split(' ').next()?.parse().ok();
        let n_records = dataset.dialect.reasons.iter().find_map(n_records).unwrap_or(1);
        let lines = (1..).zip(text.lines()).filter(|(line, it)| first <= *line && !it.is_empty());
        let lines = lines.map(|it| it.0).filter(|it| !aside.contains(it));
        for line in lines.take(n_records) {
            count(line, "the header")?;
        }
    }
    for (line, text_of_line) in (1..).zip(text.lines()) {
        let is_blank = text_of_line.is_empty();
        let is_found = found.contains_key(&line);
        prop_assert!(is_blank != is_found, "line {line}, {found:?} of\n{text}");
    }
    let n_lines = text.lines().count() as u64;
    prop_assert!(found.keys().all(|it| *it <= n_lines), "{found:?} of\n{text}");
    Ok(true)
}

#[test]
fn a_comment_between_the_records_of_a_header_is_set_aside() {
    let rows = "7,first,1.5\n1,a,0.0\n1,a,0.0\n1,a,0.0\n";
    let text = format!("Sales\nid,name,Sales\n# made by hand\nid,name,value\n{rows}");
    assert!(check(&text, 1 << 20).unwrap());
}

proptest! {
    #![proptest_config(slow_cases(100, 1_500))]

    #[test]
    fn every_line_is_a_row_or_the_header_or_set_aside_or_blank(
        lines in sources(),
        slice_bytes in prop_oneof![1_usize..100, Just(1 << 20)],
    ) {
        let text = lines.join("\n") + "\n";
        prop_assert!(check(&text, slice_bytes)?, "refused:\n{text}");
    }

    #[test]
    fn a_file_that_is_cut_or_runs_into_another_is_accounted_for_or_refused(
        (one, other) in (sources(), sources()),
        (cut, resumed) in (any::<Index>(), any::<Index>()),
        slice_bytes in prop_oneof![1_usize..100, Just(1 << 20)],
    ) {
        let (one, other) = (one.join("\n"), other.join("\n"));
        let text = [&one[..cut.index(one.len())], &other[resumed.index(other.len())..]].concat();
        check(&text, slice_bytes)?;
    }
}
