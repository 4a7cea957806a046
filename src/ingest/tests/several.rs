//! Several tables in one file, one below the other, and one table with gaps, which is no several.

use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};
use proptest::sample::{select, subsequence};

use csv_agent_testing::slow_cases;
use csv_agent_types::catalog::Dataset;

use super::{Bench, table};

/// What a column is called, and what it holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Text,
    Whole,
    Real,
    Day,
}

impl Kind {
    fn dtype(self) -> &'static str {
        match self {
            Kind::Text => "string",
            Kind::Whole => "int64",
            Kind::Real => "float64",
            Kind::Day => "date",
        }
    }

    fn cell(self, n: usize) -> String {
        match self {
            Kind::Text => {
                let letter = |it: usize| char::from(b'a' + u8::try_from(it % 26).unwrap());
                format!("{}{}{}x", letter(n), letter(n / 26), letter(n / 7))
            }
            Kind::Whole => (n % 9_999).to_string(),
            Kind::Real => format!("{}.5", n % 999),
            Kind::Day => format!("2024-{:02}-{:02}", n % 12 + 1, n % 28 + 1),
        }
    }
}

/// A table: its names, and its rows.
#[derive(Debug, Clone)]
pub(super) struct Table {
    kinds: Vec<Kind>,
    pub names: Vec<&'static str>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn width(&self) -> usize {
        self.names.len()
    }

    /// Writes it as [`table`] shows it.
    pub(super) fn shown(&self) -> String {
        let columns = self.names.iter().zip(&self.kinds);
        let names: Vec<String> =
            columns.map(|(name, kind)| format!("{name}:{}", kind.dtype())).collect();
        let cell = |it: &String| if it.is_empty() { "~".to_owned() } else { it.clone() };
        let row = |row: &Vec<String>| row.iter().map(cell).collect::<Vec<_>>().join(" | ");
        [names.join(" | ")]
            .into_iter()
            .chain(self.rows.iter().map(row))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Writes its records, each with as many delimiters as one of `width` cells has.
    fn written(&self, width: usize) -> Vec<String> {
        let padding = ",".repeat(width - self.width());
        let names = self.names.iter().map(ToString::to_string).collect();
        let records = [names].into_iter().chain(self.rows.clone());
        records.map(|it: Vec<String>| format!("{}{padding}\n", it.join(","))).collect()
    }
}

const NAMES: [&[&str]; 3] = [
    &["Region", "Sales", "Since", "Share", "Kind", "Owner"],
    &["Product", "Price", "Stock", "Colour", "Weight", "Maker"],
    &["Town", "People", "Founded", "River", "Height", "Mayor"],
];

/// Tables whose first column is text, and the second numbers.
pub(super) fn typed(names: usize, n_rows: std::ops::Range<usize>) -> impl Strategy<Value = Table> {
    let kinds =
        prop::collection::vec(select(vec![Kind::Text, Kind::Whole, Kind::Real, Kind::Day]), 0..5);
    (kinds, any::<u16>(), n_rows).prop_map(move |(more, seed, n_rows)| {
        let kinds = [vec![Kind::Text, Kind::Whole], more].concat();
        made(names, &kinds[..kinds.len().min(6)], usize::from(seed), n_rows)
    })
}

fn made(names: usize, kinds: &[Kind], seed: usize, n_rows: usize) -> Table {
    let cell = |at: usize, row: usize| kinds[at].cell(seed + 31 * row + 7 * at);
    let rows = (0..n_rows).map(|row| (0..kinds.len()).map(|at| cell(at, row)).collect()).collect();
    Table { kinds: kinds.to_vec(), names: NAMES[names][..kinds.len()].to_vec(), rows }
}

/// Ingests text from a line on, as the table that begins there.
fn further(text: &str, line: u64) -> (Bench, Dataset) {
    let bench = Bench::new().with(|it| {
        it.all_tables = true;
        it.is_further = true;
        it.skip_lines = Some(line - 1);
    });
    let dataset = bench.bytes(text).unwrap();
    (bench, dataset)
}

proptest! {
    #![proptest_config(slow_cases(100, 1000))]

    #[test]
    fn two_tables_are_two_however_their_records_are_padded(
        (first, second) in (typed(0, 3..7), typed(1, 3..7)),
        (title, gap) in (select(vec!["", "Staff of the year"]), select(vec!["", ",", ",,"])),
        is_padded in any::<bool>(),
    ) {
        let width = first.width().max(second.width());
        let [one, other] = [&first, &second].map(|it| it.written(if is_padded { width } else { it.width() }));
        // A blank line, or one of delimiters alone.
        let gap = if is_padded && !gap.is_empty() { ",".repeat(width - 1) } else { String::new() };
        let padding = if is_padded { ",".repeat(width - 1) } else { String::new() };
        let title = if title.is_empty() { String::new() } else { format!("{title}{padding}\n") };
        let text = format!("{}{gap}\n{title}{}", one.concat(), other.concat());
        let bench = Bench::new();
        let dataset = bench.bytes(&text).unwrap();
        let line = one.len() + 2 + usize::from(!title.is_empty());
        prop_assert_eq!(dataset.set_aside.next_table, line as u64, "{}", text);
        prop_assert_eq!(table(&bench, &dataset), first.shown(), "{}", text);
        let (bench, dataset) = further(&text, line as u64);
        prop_assert_eq!(table(&bench, &dataset), second.shown(), "{}", text);
    }

    #[test]
    fn a_table_of_text_below_a_gap_is_none_of_a_wider_one(
        first in typed(0, 3..7).prop_filter("wider", |it| 2 < it.width()),
        (seed, n_rows, n_more) in (any::<u16>(), 2_usize..6, 3_usize..6),
    ) {
        let second = made(1, &[Kind::Text, Kind::Text], usize::from(seed), n_rows);
        let third = made(1, &[Kind::Text, Kind::Whole, Kind::Real], usize::from(seed), n_more);
        let width = first.width();
        let [one, two, three] = [&first, &second, &third].map(|it| it.written(width));
        let gap = format!("{}\n", ",".repeat(width - 1));
        let text = format!("{}{gap}{}{gap}{}", one.concat(), two.concat(), three.concat());
        let bench = Bench::new();
        let dataset = bench.bytes(&text).unwrap();
        prop_assert_eq!(table(&bench, &dataset), first.shown(), "{}", text);
        prop_assert_eq!(dataset.set_aside.next_table, one.len() as u64 + 2, "{}", text);
        let (bench, dataset) = further(&text, dataset.set_aside.next_table);
        prop_assert_eq!(table(&bench, &dataset), second.shown(), "{}", text);
        let (bench, dataset) = further(&text, dataset.set_aside.next_table);
        prop_assert_eq!(table(&bench, &dataset), third.shown(), "{}", text);
    }

    #[test]
    fn two_tables_of_text_are_one_until_all_are_asked_for_and_the_lines_are_told(
        (n_columns, seed) in (2_usize..7, any::<u16>()),
        (n_first, n_second) in (2_usize..7, 2_usize..7),
        is_padded in any::<bool>(),
    ) {
        let kinds = vec![Kind::Text; n_columns];
        let (first, second) = (made(0, &kinds, seed.into(), n_first), made(1, &kinds, usize::from(seed) + 5_003, n_second));
        let gap = if is_padded { ",".repeat(n_columns - 1) } else { String::new() };
        let (one, other) = (first.written(n_columns), second.written(n_columns));
        let text = format!("{}{gap}\n{}", one.concat(), other.concat());
        let bench = Bench::new();
        let dataset = bench.bytes(&text).unwrap();
        let is_short = 2 * one.len() < other.len();
        let (begin, end) = (one.len() + 2, one.len() + 1 + other.len());
        prop_assert_eq!(bench.rows().len(), n_first + n_second + 1, "{}", text);
        let doubt = format!("lines {begin} to {end} may be a separate table: they were kept as rows");
        prop_assert!(is_short || dataset.doubts[0].starts_with(&doubt), "{}{:?}", text, dataset.doubts);
        let bench = Bench::new().with(|it| it.all_tables = true);
        let dataset = bench.bytes(&text).unwrap();
        prop_assert_eq!(table(&bench, &dataset), first.shown(), "{}", text);
        let (bench, dataset) = further(&text, dataset.set_aside.next_table);
        prop_assert_eq!(table(&bench, &dataset), second.shown(), "{}", text);
    }

    #[test]
    fn a_table_with_gaps_and_empty_cells_is_one(
        whole in typed(0, 6..30),
        (empty, at_gaps) in (prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..20), subsequence(vec![1_usize, 2, 3, 4, 5], 0..4)),
        (gap, group) in (select(vec!["\n", "hollow"]), select(vec!["", "Group"])),
    ) {
        let mut whole = whole;
        let (n_rows, width) = (whole.rows.len(), whole.width());
        // The first rows show each type, and the last ones that no note begins.
        for (row, column) in empty {
            let row = 1 + row.index(n_rows - 2);
            if n_rows - 1 != row {
                whole.rows[row][1 + column.index(width - 1)] = String::new();
            }
        }
        let hollow = ",".repeat(width - 1) + "\n";
        let gap = if gap == "hollow" { &hollow } else { gap };
        let mut records = whole.written(width);
        for at in at_gaps.iter().rev() {
            let row = (1 + n_rows * at / 6).max(2);
            if !group.is_empty() {
                let cells = [vec![format!("{group} {at}")], vec![String::new(); width - 1]].concat();
                records.insert(row, cells.join(",") + "\n");
                whole.rows.insert(row - 1, cells);
            }
            records.insert(row, gap.to_owned());
        }
        let text = records.concat();
        let bench = Bench::new();
        let dataset = bench.bytes(&text).unwrap();
        prop_assert_eq!(table(&bench, &dataset), whole.shown(), "{}", text);
        prop_assert_eq!(dataset.set_aside.sum(), 0, "{}", text);
    }
}

#[test]
fn a_short_table_above_a_long_one_is_told() {
    let rows: Vec<String> = (0..30).map(|it| format!("p{it},{it},{it}.5")).collect();
    let rows = rows.join("\n");
    let text =
        format!("Region,Sales,\nNorth,10,\nSouth,20,\nEast,30,\n,,\nProduct,Price,Stock\n{rows}\n");
    let bench = Bench::new();
    let dataset = bench.bytes(&text).unwrap();
    assert_eq!((dataset.row_count, dataset.set_aside.preamble), (30, 5));
    let doubt = "lines 1 to 4 may be a separate table: they were left out; `--tables all` makes a \
                 dataset of them";
    assert_eq!(dataset.doubts, [doubt]);
    let dataset = Bench::new().with(|it| it.all_tables = true).bytes(&text).unwrap();
    assert_eq!((dataset.row_count, dataset.set_aside.next_table), (3, 6));
}

#[test]
fn a_column_of_nothing_between_others_is_told() {
    let doubts = |text: &str| Bench::new().bytes(text).unwrap().doubts;
    let found =
        doubts("Region,Sales,,Name,Age\nNorth,10,,Ann,30\nSouth,20,,Bob,31\nEast,30,,Cid,32\n");
    assert!(found[0].starts_with("column 3 has no name and no value: "), "{found:?}");
    assert_eq!(found.len(), 1);
    for one in [
        "Region,Sales,,Name,Age\nNorth,10,x,Ann,30\nSouth,20,,Bob,31\n",
        "Region,Sales,Note,Name,Age\nNorth,10,,Ann,30\nSouth,20,,Bob,31\n",
        "Region,,Name,Age\nNorth,,Ann,30\nSouth,,Bob,31\n",
        "Region,Sales,\nNorth,10,\nSouth,20,\n",
    ] {
        assert_eq!(doubts(one), [""; 0], "{one}");
    }
}

#[test]
fn names_with_values_above_a_table_are_no_table() {
    let table = "Name,City,Age,Height\nAnn,Oslo,30,170\nBob,Rome,31,171\nCid,Bern,32,172\n";
    for (above, doubts) in [
        ("Report,Sales,,\nAuthor,Ann,,\nRegion,North,,\n", 0),
        ("Sums,,,\nin,5.00,,\nout,7.00,,\n", 0),
        ("Report,Sales,,\nRows,10,,\nColumns,20,,\n", 1),
    ] {
        let dataset = Bench::new().bytes(format!("{above},,,\n{table}")).unwrap();
        assert_eq!((dataset.row_count, dataset.set_aside.next_table), (3, 0), "{above}");
        assert_eq!(dataset.doubts.len(), doubts, "{above}");
    }
}
