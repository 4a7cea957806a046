//! Every line of a source is accounted for: header, row, set aside, or blank.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::{
    Just, Strategy, TestCaseError, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::sample::{Index, select};
use serde_json::Value;

use csv_agent_testing::slow_cases;
use csv_agent_types::catalog::Dataset;

use super::Bench;
use crate::line_map::lines_at;

/// Letters that occur in no value but text, so that they come back as often as they were written.
const LETTERS: [char; 3] = ['k', 'q', 'w'];

/// Lines of a table with what people put around it; some cells hold line ends.
fn sources() -> impl Strategy<Value = Vec<String>> {
    let line = |text: &str| Just(text.to_owned());
    let lines = |it: prop::strategy::BoxedStrategy<String>, n| prop::collection::vec(it, 0..n);
    let preamble = prop_oneof![line("Sales of the year"), line("# made by hand"), line("")];
    let row = prop_oneof![
        8 => "[1-9][0-9]{0,3},[a-z]{0,4}[kqw],[0-9]{1,2}\\.[0-9]",
        1 => "[1-9][0-9]{0,3},[a-z]{0,4}[kqw]",
        1 => "[1-9][0-9]{0,3},[a-z]{0,4}[kqw],[0-9]\\.[0-9],[a-z]{0,2}[kqw]",
        2 => "[1-9][0-9]{0,3},\"[kqw](\n|\r\n|,|\"\"|[a-z]){0,6}[kqw]\",[0-9]{1,2}\\.[0-9]",
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

/// Splits text at any line end.
fn lines_of(text: &str) -> Vec<String> {
    let text = text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace('\r', "\n");
    text.lines().map(str::to_owned).collect()
}

fn n_lines(text: &str) -> usize {
    lines_of(text).len() + usize::from(text.ends_with(['\r', '\n']) || text.is_empty())
}

fn n_letters(text: &str) -> usize {
    text.matches(LETTERS).count()
}

/// What was found of a file, by line.
#[derive(Debug, Default)]
struct Account(BTreeMap<usize, (&'static str, usize)>);

impl Account {
    /// Adds what begins on a line and goes on for as many as `n`.
    fn add(&mut self, line: usize, what: &'static str, n: usize) -> Result<(), TestCaseError> {
        match self.0.insert(line, (what, n)) {
            None => Ok(()),
            Some((before, _)) => Err(fail(format!("line {line} is {before} and {what}"))),
        }
    }

    fn next_behind(&self, line: usize) -> Option<usize> {
        self.0.range(line + 1..).next().map(|it| *it.0)
    }
}

fn fail(reason: String) -> TestCaseError {
    TestCaseError::fail(reason)
}

/// Compares what was found of each line with what stands there; no account for what is refused.
fn check(text: &str, slice_bytes: usize) -> Result<bool, TestCaseError> {
    let bench = Bench::new();
    let Ok(dataset) = bench.sliced(text.as_bytes(), slice_bytes) else {
        prop_assert_eq!(bench.files(), Vec::<String>::new());
        return Ok(false);
    };
    let account = account(text, &bench, &dataset);
    account.map_err(|it| fail(format!("{it} in\n{text:?}\n{:#?}", dataset.dialect)))?;
    Ok(true)
}

fn account(text: &str, bench: &Bench, dataset: &Dataset) -> Result<(), TestCaseError> {
    let lines = lines_of(text);
    let mut account = Account::default();
    let map = fs::read(bench.datasets().join("t.lines")).ok();
    for (at, row) in (0..).zip(bench.rows()) {
        let line = match &map {
            Some(map) => lines_at(&map[..], &[at]).unwrap()[0],
            None => at + 1 + u64::from(dataset.dialect.header),
        };
        let cells: Vec<String> = row.into_iter().flatten().collect();
        let n = 1 + cells.iter().map(|it| n_lines(it) - 1).sum::<usize>();
        let line = usize::try_from(line).unwrap();
        account.add(line, "a row", n)?;
        let source = lines.iter().skip(line - 1).take(n).map(|it| n_letters(it)).sum::<usize>();
        let read = cells.iter().map(|it| n_letters(it)).sum::<usize>();
        prop_assert_eq!(source, read, "letters on line {}", line);
    }
    let listed = fs::read_to_string(bench.datasets().join("t.rejects.jsonl")).unwrap_or_default();
    let listed = listed.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    let is_aside = |it: &Value| it["reason"].as_str().unwrap().ends_with("; no row");
    let asides: Vec<Value> = listed.filter(is_aside).collect();
    prop_assert_eq!(asides.len() as u64, dataset.set_aside.sum());
    for aside in asides {
        let line = usize::try_from(aside["line"].as_u64().unwrap()).unwrap();
        account.add(line, "set aside", n_lines(aside["text"].as_str().unwrap()))?;
    }
    if let Some(first) = dataset.dialect.header_line {
        let n_records =
            |it: &String| it.strip_prefix("header of ")?.split(' ').next()?.parse().ok();
        let n_records = dataset.dialect.reasons.iter().find_map(n_records).unwrap_or(1);
        let mut line = usize::try_from(first).unwrap();
        for _ in 0..n_records {
            while account.0.contains_key(&line) || lines[line - 1].is_empty() {
                line += 1;
            }
            // A name may hold line ends in quotes or behind escapes, and does not keep them.
            let next = account.next_behind(line).unwrap_or(lines.len() + 1);
            let may_go_on = lines[line - 1].contains('"') || dataset.dialect.escape.is_some();
            let n = if may_go_on { next - line } else { 1 };
            account.add(line, "the header", n)?;
            line += n;
        }
    }
    let mut end = 1;
    for (line, (what, n)) in &account.0 {
        prop_assert!(end <= *line, "line {line} is {what} and within what is before it");
        let between = &lines[end - 1..line - 1];
        let delimiter = dataset.dialect.delimiter.clone().unwrap_or_default();
        let is_blank =
            |it: &String| it.trim_matches([' ', '\t']).replace(&delimiter, "").trim().is_empty();
        prop_assert!(between.iter().all(is_blank), "{between:?} is nothing before line {line}");
        prop_assert!(!lines[line - 1].is_empty(), "blank line {line} is {what}");
        end = line + n;
    }
    prop_assert!(end <= lines.len() + 1, "there is something behind the end");
    let rest = &lines[end - 1..];
    prop_assert!(rest.iter().all(|it| it.trim().is_empty()), "{rest:?} is nothing at the end");
    Ok(())
}

#[test]
fn a_comment_between_the_records_of_a_header_is_set_aside() {
    let rows = "7,first,1.5\n1,a,0.0\n1,a,0.0\n1,a,0.0\n";
    let text = format!("Sales\nid,name,Sales\n# made by hand\nid,name,value\n{rows}");
    assert!(check(&text, 1 << 20).unwrap());
}

proptest! {
    #![proptest_config(slow_cases(100, 800))]

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

    #[test]
    fn a_file_with_other_bytes_is_accounted_for_or_refused(
        lines in sources(),
        others in prop::collection::vec(
            (any::<Index>(), prop_oneof![select(b"\"'\n\r,; \t#\\".to_vec()), 1_u8..127]), 1..6),
        slice_bytes in prop_oneof![1_usize..100, Just(1 << 20)],
    ) {
        let mut bytes = lines.join("\n").into_bytes();
        for (at, byte) in others {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check(&String::from_utf8(bytes).unwrap(), slice_bytes)?;
    }
}
