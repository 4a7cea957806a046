//! Tables written in any dialect and encoding, ingested and read back: equal.

use std::fmt::Write;

use proptest::prelude::{
    Just, Strategy, TestCaseError, any, prop, prop_assert, prop_assert_eq, prop_assume, prop_oneof,
    proptest,
};
use proptest::sample::select;

use csv_agent_testing::slow_cases;
use csv_agent_types::catalog::{DType, Dataset};

use super::{Bench, gzip};
use crate::Comments;
use crate::charset::Charset;
use crate::syntax::{Escape, Quote};

type WrittenRows = Vec<Vec<String>>;

/// Encodings, each with two letters that are not ASCII.
const ENCODINGS: [(&str, [&str; 2]); 19] = [
    ("utf-8", ["ß", "😀"]),
    ("utf-16le", ["ß", "😀"]),
    ("utf-16be", ["日", "😀"]),
    ("utf-32le", ["ß", "日"]),
    ("utf-32be", ["ß", "😀"]),
    ("windows-1252", ["ß", "€"]),
    ("windows-1251", ["ж", "я"]),
    ("iso-8859-2", ["ł", "ž"]),
    ("iso-8859-15", ["œ", "€"]),
    ("koi8-r", ["ж", "Я"]),
    ("macintosh", ["ß", "é"]),
    ("ibm850", ["ß", "é"]),
    ("shift_jis", ["表", "カ"]),
    ("euc-jp", ["日", "本"]),
    ("iso-2022-jp", ["日", "本"]),
    ("gbk", ["汉", "字"]),
    ("gb18030", ["汉", "😀"]),
    ("big5", ["漢", "功"]),
    ("euc-kr", ["한", "글"]),
];

/// Names of columns, which may have to be quoted.
const NAMES: [&str; 6] = ["id", "full name", "a, b", "c; \"d\"", "e|f", "g"];

/// A table of cells that are hard to quote or easy to take for something else.
fn tangles() -> impl Strategy<Value = WrittenRows> {
    let cell = prop_oneof![
        2 => "[ -~]{0,8}",
        2 => "[\",;\\r\\n\t äß'x]{0,5}",
        2 => "-?[0-9]{1,20}",
        1 => "[0-9]{1,18}\\.[0-9]{1,20}",
        1 => any::<f64>().prop_map(|it| it.to_string()),
        1 => any::<f64>().prop_map(|it| format!("{it:e}")),
        1 => "20[0-9]{2}-[01][0-9]-[0-3][0-9]( [0-2][0-9]:[0-5][0-9])?",
        1 => Just("NA".to_owned()),
        1 => Just("true".to_owned()),
    ];
    (1_usize..5, 1_usize..30).prop_flat_map(move |(n_columns, n_rows)| {
        let row = prop::collection::vec(cell.clone(), n_columns);
        prop::collection::vec(row, n_rows)
    })
}

/// A table as people have them: a first column of numbers or days, then columns of one kind each.
fn tables() -> impl Strategy<Value = WrittenRows> {
    (2_usize..6, 6_usize..25).prop_flat_map(|(n_columns, n_rows)| {
        let word = "[a-zäß]{2,8}";
        let sign =
            select(vec![" ", ", ", "; ", " | ", "\t", "\n", "\r\n", ": ", "'s ", "\"", "\" "]);
        let text = (word, prop::collection::vec((sign, word), 0..4)).prop_map(|(first, more)| {
            more.iter().fold(first, |text, (sign, word)| text + sign + word)
        });
        let column = select(vec![0, 1, 2, 3, 4, 4]).prop_flat_map(move |kind| {
            let cell = match kind {
                0 => "-?[1-9][0-9]{0,8}".boxed(),
                1 => "[1-9][0-9]{0,4}\\.[0-9]{1,3}".boxed(),
                2 => "20[0-9]{2}-0[1-9]-1[0-9]".boxed(),
                3 => word.boxed(),
                _ => text.clone().boxed(),
            };
            prop::collection::vec(prop_oneof![9 => cell, 1 => Just(String::new())], n_rows)
        });
        let keys = prop_oneof![
            prop::collection::vec("[1-9][0-9]{0,5}", n_rows),
            prop::collection::vec("20[0-9]{2}-0[1-9]-1[0-9]", n_rows),
        ];
        (keys, prop::collection::vec(column, n_columns - 1)).prop_map(|(keys, columns)| {
            let row = |(at, key): (usize, String)| {
                [key].into_iter().chain(columns.iter().map(|it| it[at].clone())).collect()
            };
            keys.into_iter().enumerate().map(row).collect()
        })
    })
}

/// Which cells are quoted that need not be.
#[derive(Debug, Clone, Copy)]
enum Quoting {
    None,
    Texts,
    All,
    Some(u64),
}

/// How a table is written.
#[derive(Debug, Clone, Copy)]
struct Dialect {
    delimiter: &'static str,
    quote: char,
    escape: Escape,
    quoting: Quoting,
    line_end: &'static str,
    has_last_end: bool,
    has_header: bool,
    /// Whether a delimiter ends each line.
    trails: bool,
}

fn dialects(delimiters: &'static [&'static str]) -> impl Strategy<Value = Dialect> {
    let quoting = prop_oneof![
        Just(Quoting::None),
        Just(Quoting::Texts),
        Just(Quoting::All),
        any::<u64>().prop_map(Quoting::Some),
    ];
    let signs = (
        select(delimiters),
        select(vec!['"', '"', '\'']),
        select(vec![Escape::Doubled, Escape::Doubled, Escape::Char(b'\\')]),
    );
    let ends = (select(vec!["\n", "\r\n", "\r"]), any::<bool>());
    let edges = (any::<bool>(), prop::bool::weighted(0.1));
    (signs, quoting, ends, edges).prop_map(|(signs, quoting, ends, edges)| Dialect {
        delimiter: signs.0,
        quote: signs.1,
        escape: signs.2,
        quoting,
        line_end: ends.0,
        has_last_end: ends.1,
        has_header: edges.0,
        trails: edges.1,
    })
}

/// A table as text, with what has to be known of it.
struct Text {
    text: String,
    /// Of each row and column, whether the cell is quoted.
    is_quoted: Vec<Vec<bool>>,
}

impl Dialect {
    fn write(&self, table: &WrittenRows) -> Text {
        let n_columns = table[0].len();
        let header: Vec<String> = NAMES[..n_columns].iter().map(ToString::to_string).collect();
        let (mut text, mut is_quoted) = (String::new(), Vec::new());
        let mut n = 0;
        for row in self.has_header.then_some(&header).into_iter().chain(table) {
            let mut cells = Vec::new();
            is_quoted.push(Vec::new());
            // A row of nothing would be none.
            let is_blank = row.iter().all(|it| it.trim().is_empty());
            for (at, cell) in row.iter().enumerate() {
                n += 1;
                let quotes = self.quotes(cell, n) || (is_blank && at == 0);
                cells.push(if quotes { self.quoted(cell) } else { cell.clone() });
                is_quoted.last_mut().unwrap().push(quotes);
            }
            let end = if self.trails { self.delimiter } else { "" };
            text.extend([&cells.join(self.delimiter), end, self.line_end]);
        }
        if !self.has_last_end {
            text.truncate(text.len() - self.line_end.len());
        }
        is_quoted.drain(..usize::from(self.has_header));
        Text { text, is_quoted }
    }

    fn quotes(&self, cell: &str, n: usize) -> bool {
        let is_syntax = |it: char| {
            it == self.quote
                || self.delimiter.contains(it)
                || ['\r', '\n'].contains(&it)
                || self.escape.char().is_some_and(|escape| it == char::from(escape))
        };
        cell.contains(is_syntax)
            || match self.quoting {
                Quoting::None => false,
                Quoting::Texts => cell.parse::<f64>().is_err(),
                Quoting::All => true,
                Quoting::Some(bits) => bits >> (n % 64) & 1 == 1,
            }
    }

    fn quoted(&self, cell: &str) -> String {
        let quote = self.quote.to_string();
        let escape = self.escape.char().map(|it| char::from(it).to_string());
        let cell = match &escape {
            Some(escape) => cell.replace(escape, &escape.repeat(2)),
            None => cell.to_owned(),
        };
        let within = cell.replace(&quote, &(escape.unwrap_or_else(|| quote.clone()) + &quote));
        format!("{quote}{within}{quote}")
    }

    /// Returns whether the text shows its quote and its escape often enough.
    fn is_shown_in(&self, table: &WrittenRows, text: &Text) -> bool {
        let n_quoted = text.is_quoted.iter().flatten().filter(|it| **it).count();
        let n_escaped = table.iter().flatten().filter(|it| it.contains(self.quote)).count();
        (self.quote == '"' || 4 <= n_quoted)
            && (self.escape == Escape::Doubled || n_escaped == 0 || 4 <= n_escaped)
    }
}

/// Writes the letters of an encoding in place of those of the generators.
fn in_letters(table: &WrittenRows, letters: [&str; 2]) -> WrittenRows {
    let cell = |it: &String| it.replace('ä', letters[0]).replace('ß', letters[1]);
    table.iter().map(|row| row.iter().map(cell).collect()).collect()
}

/// Encodes text; `None` where the encoding has no such character.
pub(super) fn encoded(text: &str, label: &str, has_mark: bool) -> Option<Vec<u8>> {
    let text = if has_mark { format!("\u{feff}{text}") } else { text.to_owned() };
    Some(match label {
        "utf-8" => text.into_bytes(),
        "utf-16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        "utf-16be" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        "utf-32le" => text.chars().flat_map(|it| u32::from(it).to_le_bytes()).collect(),
        "utf-32be" => text.chars().flat_map(|it| u32::from(it).to_be_bytes()).collect(),
        "ibm850" => {
            let read = |byte| String::from_utf8(Charset::Ibm850.window(&[byte])).unwrap();
            let all: Vec<String> = (0..=255).map(read).collect();
            let byte = |it: char| all.iter().position(|text| *text == it.to_string());
            text.chars().map(|it| u8::try_from(byte(it)?).ok()).collect::<Option<_>>()?
        }
        label => {
            let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
            let (bytes, _, is_lossy) = encoding.encode(&text);
            (!is_lossy).then(|| bytes.into_owned())?
        }
    })
}

fn packed(bytes: Vec<u8>, how: u8) -> Vec<u8> {
    match how {
        0 => gzip(&bytes),
        1 => zstd::encode_all(&bytes[..], 1).unwrap(),
        _ => bytes,
    }
}

/// Compares a table with what was read of it.
fn check(
    table: &WrittenRows,
    dialect: &Dialect,
    written: &Text,
    dataset: &Dataset,
    rows: &[Vec<Option<String>>],
) -> Result<(), TestCaseError> {
    let shown = || format!("{:?}\n{:#?}", written.text, dataset.dialect);
    let n_columns = table[0].len();
    let mut names = (1..=n_columns).map(|it| format!("column_{it}")).collect::<Vec<_>>();
    if dialect.has_header {
        names = NAMES[..n_columns].iter().map(ToString::to_string).collect();
    }
    names.extend(dialect.trails.then(|| format!("column_{}", n_columns + 1)));
    let found: Vec<&String> = dataset.columns.iter().map(|it| &it.name).collect();
    prop_assert_eq!(found, names.iter().collect::<Vec<_>>(), "{}", shown());
    prop_assert_eq!(rows.len(), table.len(), "{}", shown());
    prop_assert_eq!((dataset.padded_rows, dataset.surplus_rows), (0, 0));
    for ((read, row), is_quoted) in rows.iter().zip(table).zip(&written.is_quoted) {
        for (at, cell) in row.iter().enumerate() {
            let dtype = dataset.columns[at].dtype;
            let (read, is_missing) = (read[at].as_deref(), cell.is_empty() && !is_quoted[at]);
            let is_same = if is_missing { read.is_none() } else { is_same(cell, read, dtype) };
            prop_assert!(is_same, "{cell:?} came back as {read:?}, {dtype:?}\n{}", shown());
        }
        prop_assert!(!dialect.trails || read[n_columns].is_none());
    }
    for (at, column) in dataset.columns.iter().enumerate() {
        let nulls = rows.iter().filter(|it| it[at].is_none()).count() as u64;
        prop_assert_eq!(Some(nulls), column.nulls);
    }
    Ok(())
}

/// Returns whether a value that came back is the one that was written, exactly.
fn is_same(written: &str, read: Option<&str>, dtype: DType) -> bool {
    let trimmed = written.trim_ascii();
    match (dtype, read) {
        (DType::String, read) => read == Some(written),
        // Among typed values, these say that there is none.
        (_, None) => {
            const MARKERS: [&str; 16] = [
                "", "NA", "N/A", "#N/A", "n/a", "NULL", "null", "NaN", "NAN", "nan", "None", "nil",
                "-", ".", "?", "\\N",
            ];
            MARKERS.contains(&trimmed)
        }
        (DType::Bool, Some(read)) => trimmed.eq_ignore_ascii_case(read),
        (DType::Int64, Some(read)) => {
            let number = trimmed.strip_prefix('+').unwrap_or(trimmed);
            number == read || (number == "-0" && read == "0")
        }
        (DType::Float64, Some(read)) => {
            trimmed.parse::<f64>().unwrap().to_bits() == read.parse::<f64>().unwrap().to_bits()
        }
        // `2024-01-01 10:00` comes back with seconds, a day among them with its midnight.
        (_, Some(read)) => read.starts_with(trimmed),
    }
}

/// Writes columns that blanks align.
fn aligned(table: &WrittenRows, gap: usize, is_right: bool) -> String {
    let width = |column: usize| table.iter().map(|it| it[column].chars().count()).max();
    let widths: Vec<usize> = (0..table[0].len()).map(|it| width(it).unwrap()).collect();
    let mut text = String::new();
    for row in table {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let blanks = if line.is_empty() { "" } else { &"    "[..gap] };
            if is_right {
                write!(line, "{blanks}{cell:>width$}").unwrap();
            } else {
                write!(line, "{blanks}{cell:<width$}").unwrap();
            }
        }
        text.extend([line.trim_end(), "\n"]);
    }
    text
}

proptest! {
    #![proptest_config(slow_cases(100, 800))]

    #[test]
    fn what_is_written_is_read_whatever_the_slices(
        table in tangles(),
        (line_end, bits) in (select(vec!["\n", "\r\n", "\r"]), any::<u64>()),
        slice_bytes in prop_oneof![1_usize..200, Just(1 << 20)],
    ) {
        let dialect = Dialect {
            delimiter: ",",
            quote: '"',
            escape: Escape::Doubled,
            quoting: Quoting::Some(bits),
            line_end,
            has_last_end: true,
            has_header: true,
            trails: false,
        };
        let written = dialect.write(&table);
        let bench = Bench::new().with(|it| {
            it.delimiter = Some(",".to_owned());
            it.header = Some(true);
        });
        let dataset = bench.sliced(written.text.as_bytes(), slice_bytes).unwrap();
        check(&table, &dialect, &written, &dataset, &bench.rows())?;
    }

    #[test]
    fn what_is_written_in_a_dialect_that_is_told_is_read(
        table in prop_oneof![tangles(), tables()],
        dialect in dialects(&[",", ";", "\t", "|", ":", " ", "||", "::", ", ", "§"]),
        (label, letters) in select(&ENCODINGS),
        (has_mark, pack) in (any::<bool>(), 0_u8..6),
        slice_bytes in prop_oneof![1_usize..200, Just(1 << 20)],
    ) {
        let table = in_letters(&table, letters);
        let written = dialect.write(&table);
        let has_mark = has_mark && label.starts_with("utf-");
        let bytes = encoded(&written.text, label, has_mark);
        prop_assume!(bytes.is_some());
        // Nothing but blanks is refused.
        let has_value = table.iter().flatten().any(|it| !it.trim().is_empty());
        prop_assume!(dialect.has_header || has_value);
        let bench = Bench::new().with(|it| {
            it.delimiter = Some(dialect.delimiter.to_owned());
            it.quote = Some(Quote::Char(u8::try_from(dialect.quote).unwrap()));
            it.escape = Some(dialect.escape);
            it.encoding = Some(label.to_owned());
            it.header = Some(dialect.has_header);
            it.skip_lines = Some(0);
            it.comments = Comments::None;
        });
        let dataset = bench.sliced(&packed(bytes.unwrap(), pack), slice_bytes).unwrap();
        check(&table, &dialect, &written, &dataset, &bench.rows())?;
    }

    #[test]
    fn what_is_written_is_read_wherever_the_file_shows_how(
        table in tables(),
        dialect in dialects(&[",", ";", "\t", "|", "||"]),
        (label, letters) in select(&ENCODINGS[..5]),
        (has_mark, pack) in (any::<bool>(), 0_u8..6),
    ) {
        let table = in_letters(&table, letters);
        let written = dialect.write(&table);
        prop_assume!(dialect.is_shown_in(&table, &written));
        let bytes = encoded(&written.text, label, has_mark || label != "utf-8").unwrap();
        let bench = Bench::new();
        let dataset = bench.bytes(packed(bytes, pack)).unwrap();
        check(&table, &dialect, &written, &dataset, &bench.rows())?;
    }

    #[test]
    fn columns_that_blanks_align_are_read(
        columns in prop::collection::vec(
            prop_oneof![
                prop::collection::vec("[1-9][0-9]{0,6}", 5),
                prop::collection::vec("[0-9]{1,4}\\.[0-9]{2}", 5),
                prop::collection::vec("[a-zä]{1,9}", 5),
                prop::collection::vec("20[0-9]{2}-0[1-9]-1[0-9]", 5),
            ],
            1..5,
        ),
        (gap, is_right) in (1_usize..4, any::<bool>()),
    ) {
        let names = ["number", "b", "size", "name", "e"].map(str::to_owned);
        let keys = ["1", "20", "300", "4", "5000"].map(str::to_owned).to_vec();
        let columns = [vec![keys], columns].concat();
        let rows: WrittenRows =
            (0..5).map(|row| columns.iter().map(|it| it[row].clone()).collect()).collect();
        let text = aligned(&[vec![names[..columns.len()].to_vec()], rows.clone()].concat(), gap, is_right);
        let bench = Bench::new();
        let dataset = bench.bytes(&text).unwrap();
        let found: Vec<&str> = dataset.columns.iter().map(|it| it.name.as_str()).collect();
        prop_assert_eq!(&found, &names[..columns.len()], "{}", text);
        let read = bench.rows();
        prop_assert_eq!(read.len(), rows.len(), "{}", text);
        for (read, row) in read.iter().zip(&rows) {
            for ((read, cell), column) in read.iter().zip(row).zip(&dataset.columns) {
                prop_assert!(is_same(cell, read.as_deref(), column.dtype), "{cell:?} {read:?}\n{text}");
            }
        }
    }
}
