//! Files that are larger than what is looked at before they are read, as many programs write them.

use std::fmt::Write;

use csv_agent_types::catalog::DType;
use csv_agent_types::limits::{QUOTED_BYTES_MAX, SNIFF_HEAD_BYTES};

use super::Bench;
use super::written::encoded;

/// Which cells a program quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Habit {
    All,
    NonNumeric,
    WhereNeeded,
    Never,
    First,
    Last,
}

/// How a file is written.
#[derive(Debug, Clone, Copy)]
struct Written {
    habit: Habit,
    delimiter: char,
    end: &'static str,
    encoding: &'static str,
    /// Letters that each text has beside what tells the row.
    n_letters: usize,
}

impl Written {
    fn row(self, cells: [&str; 4], out: &mut String) {
        for (at, cell) in cells.into_iter().enumerate() {
            out.extend((0 < at).then_some(self.delimiter));
            let needs = cell.contains(['"', '\n', self.delimiter]);
            let is_quoted = match self.habit {
                Habit::All => true,
                Habit::NonNumeric => at < 2,
                Habit::WhereNeeded => needs,
                Habit::Never => false,
                Habit::First => at == 0,
                Habit::Last => at == 3,
            };
            if is_quoted {
                write!(out, "\"{}\"", cell.replace('"', "\"\"")).unwrap();
            } else {
                out.push_str(cell);
            }
        }
        out.push_str(self.end);
    }

    /// The cells of a row, of which those of text are hard to read where they are quoted.
    fn cells(self, row: usize) -> [String; 4] {
        let can_hold_all = self.habit != Habit::Never;
        let quoted = match row % 5 {
            0 if can_hold_all => format!("line {row}\n"),
            1 if can_hold_all => format!("\"{row}\" said{}\n\"so\"", self.delimiter),
            _ => format!("word {row} é"),
        };
        let letters = "x".repeat(self.n_letters);
        let (plain, quoted) = (format!("plain {row}{letters}"), letters + &quoted);
        let texts = match self.habit {
            Habit::First => [quoted, plain],
            Habit::Last => [plain.clone(), plain],
            _ => [plain, quoted],
        };
        let [first, second] = texts;
        [first, second, row.to_string(), format!("{}.5", row % 1_000)]
    }
}

/// Writes more than `n_bytes`, ingests them, and compares every cell.
fn check(written: Written, n_bytes: usize) {
    let mut text = String::with_capacity(n_bytes + 1024);
    written.row(["first", "second", "n", "x"], &mut text);
    let mut n_rows = 0;
    while text.len() <= n_bytes {
        let cells = written.cells(n_rows);
        written.row([&cells[0], &cells[1], &cells[2], &cells[3]], &mut text);
        n_rows += 1;
    }
    let bytes = encoded(&text, written.encoding, written.encoding == "utf-16le")
        .expect("every encoding has all letters");
    let bench = Bench::new();
    let dataset = bench.bytes(bytes).unwrap_or_else(|error| panic!("{written:?}: {error:#}"));
    let dtypes: Vec<_> = dataset.columns.iter().map(|it| it.dtype).collect();
    let expected = [DType::String, DType::String, DType::Int64, DType::Float64];
    assert_eq!(dtypes, expected, "{written:?}: {:?}", dataset.dialect.reasons);
    let rows = bench.rows();
    assert_eq!(rows.len(), n_rows, "{written:?}: {:?}", dataset.dialect.reasons);
    for (at, row) in rows.into_iter().enumerate() {
        let expected = written.cells(at).map(Some).to_vec();
        assert_eq!(row, expected, "{written:?}: row {at}");
    }
}

const HABITS: [Habit; 6] =
    [Habit::All, Habit::NonNumeric, Habit::WhereNeeded, Habit::Never, Habit::First, Habit::Last];
const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];
const ENDS: [&str; 3] = ["\n", "\r\n", "\r"];
const ENCODINGS: [&str; 3] = ["utf-8", "utf-16le", "windows-1252"];

#[test]
fn every_habit_of_quoting_is_read_beyond_the_head() {
    for habit in HABITS {
        for (at, delimiter) in DELIMITERS.into_iter().enumerate() {
            let (end, encoding) = (ENDS[at % 3], ENCODINGS[(at + habit as usize) % 3]);
            let written = Written { habit, delimiter, end, encoding, n_letters: 300 };
            check(written, 2 * SNIFF_HEAD_BYTES);
        }
    }
}

/// A quoted cell may be as long as this. What is longer is looked at in another way.
#[test]
#[expect(clippy::disallowed_methods, reason = "no setting of the program; `.ci/run` sets it")]
fn every_habit_of_quoting_is_read_beyond_the_longest_cell() {
    if std::env::var_os("CSV_AGENT_SLOW_TESTS").is_none() {
        return;
    }
    for (at, habit) in HABITS.into_iter().enumerate() {
        for step in 0..2 {
            let delimiter = DELIMITERS[(at + step) % 4];
            let (end, encoding) = (ENDS[(at + step) % 3], ENCODINGS[(at + 2 * step) % 3]);
            // Long cells take less time than many.
            let written = Written { habit, delimiter, end, encoding, n_letters: 4_000 };
            check(written, QUOTED_BYTES_MAX + SNIFF_HEAD_BYTES);
        }
    }
}
