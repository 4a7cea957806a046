//! Totals among the rows, and averages and extremes below them.
//!
//! Pure. A subtotal contains the sums of the rows since the previous one. As with totals below the
//! table, the label of a row shows that it may be one, and only its numbers prove it: otherwise the row
//! is kept and reported. A short file is examined as a whole; a long one is not searched for subtotals.

use std::collections::HashSet;

use super::non_rows::Comment;
use super::records::{Cell, Tokeniser, texts_of};
use super::syntax::Syntax;
use super::totals::{
    Statistic, Sum, TotalPlace, TotalSign, amount, finding, is_total, statistic_of,
};
use crate::record_shapes::{RecordShape, records_within};

/// Maximum bytes of a label.
const LABEL_BYTES_MAX: usize = 60;
/// Minimum rows of a sum; a single row is its own sum.
const ROWS_MIN: u64 = 2;

/// A sum this large does not match by chance.
const LARGE: f64 = 100.0;

/// Labels of a total behind the first cell of a row, whatever their case.
const INNER: [&str; 8] = [
    "total", "totals", "subtotal", "sub-total", "sub total", "grand total", "zwischensumme",
    "summe",
];

/// The subtotals found among rows.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct FoundSubtotals {
    /// The records that are not rows: start and end of each.
    pub records: Vec<(usize, usize)>,
    /// Rows with such a label whose numbers do not prove it.
    pub kept: Option<KeptRows>,
    /// Rows whose numbers prove a label that is not in their first cell. They may be a category of the data.
    pub inner: Option<KeptRows>,
}

/// Rows that were kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptRows {
    /// How many.
    pub n: u64,
    /// The line of the first; the first line is 0.
    pub line: u32,
}

impl KeptRows {
    pub(crate) fn add(kept: &mut Option<KeptRows>, line: u32) {
        let kept = kept.get_or_insert(KeptRows { n: 0, line });
        kept.n += 1;
    }
}

/// The label of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    /// A total, unambiguously.
    Total,
    /// It begins like a total, but may be a name.
    LikeTotal,
    Statistic(Statistic),
}

impl Label {
    fn of(text: &str) -> Option<Label> {
        let text = text.trim_matches(['*', ':', '=', ' ', '.', '-', '_', '#']).to_lowercase();
        let is_total = |place| is_total(&text, place);
        if [TotalPlace::Whole, TotalPlace::End, TotalPlace::Begin].into_iter().any(is_total) {
            return Some(Label::Total);
        }
        let statistic = || statistic_of(&text).map(Label::Statistic);
        statistic().or_else(|| is_total(TotalPlace::MayBegin).then_some(Label::LikeTotal))
    }
}

/// The content of the rows so far.
#[derive(Clone)]
struct Held {
    n_rows: u64,
    sums: Vec<Sum>,
    extremes: Vec<(f64, f64)>,
    /// Their texts, in lower case.
    texts: HashSet<String>,
}

impl Held {
    fn new(width: usize) -> Held {
        let extremes = vec![(f64::INFINITY, f64::NEG_INFINITY); width];
        Held { n_rows: 0, sums: vec![Sum::default(); width], extremes, texts: HashSet::new() }
    }

    fn add(&mut self, cells: &[String]) {
        self.n_rows += 1;
        for ((sum, (least, most)), cell) in self.sums.iter_mut().zip(&mut self.extremes).zip(cells)
        {
            let mut one = Sum::default();
            one.add_text(cell);
            if 0 < one.n_others && cell.len() <= LABEL_BYTES_MAX {
                self.texts.insert(cell.trim().to_lowercase());
            }
            if 0 < one.n_values {
                (*least, *most) = (least.min(one.value()), most.max(one.value()));
            }
            sum.add(one);
        }
    }

    /// Returns whether the cells from `first` on are the sums of these rows, at least one of them
    /// certainly.
    fn adds_up_to(&self, cells: &[String], first: usize, is_clear: bool) -> bool {
        let pairs = cells.iter().zip(&self.sums).skip(first);
        let found: Vec<TotalSign> = pairs.filter_map(|(cell, sum)| finding(cell, *sum)).collect();
        let n_of = |wanted: TotalSign| found.iter().filter(|it| **it == wanted).count();
        let (n_sums, n_open) = (n_of(TotalSign::Sum), n_of(TotalSign::Open));
        // Few or small numbers may match by chance.
        let is_large = |it: &String| amount(it.trim()).is_some_and(|it| LARGE <= it.0.abs());
        let is_by_chance = || n_sums < 2 && !cells[first..].iter().any(is_large);
        0 < n_sums && n_of(TotalSign::Other) == 0 && (is_clear || (n_open == 0 && !is_by_chance()))
    }

    /// Returns whether the label of a total ends with a text of these rows: `Total North`.
    fn has_name_of(&self, label: &str) -> bool {
        let label = label.trim().trim_end_matches(':').to_lowercase();
        label.split_once(' ').is_some_and(|it| self.texts.contains(it.1.trim()))
    }

    /// Returns how many numbers follow `first`, if all match the label. An average may be rounded.
    fn n_of(&self, statistic: Statistic, cells: &[String], first: usize) -> Option<usize> {
        let columns = self.sums.iter().zip(&self.extremes).zip(cells).skip(first + 1);
        let mut n_found = 0;
        for ((sum, (least, most)), cell) in columns {
            let Some((value, n_decimals)) = amount(cell.trim()) else { continue };
            if sum.n_values < ROWS_MIN || 0 < sum.n_others {
                return None;
            }
            #[expect(clippy::cast_precision_loss, reason = "a count of rows")]
            let mean = sum.value() / sum.n_values as f64;
            let (wanted, step) = match statistic {
                Statistic::Mean => (mean, 0.500_001 * 10_f64.powi(-n_decimals)),
                Statistic::Least => (*least, 0.0),
                Statistic::Most => (*most, 0.0),
                Statistic::Other => return None,
            };
            if (value - wanted).abs() > step + 1e-9 * wanted.abs() {
                return None;
            }
            n_found += 1;
        }
        Some(n_found).filter(|it| 0 < *it)
    }
}

/// Finds the totals among the records of `text`, which are the rows of a table of `width` columns and
/// what is directly below them. Cells beyond `width_max` are empty.
pub(crate) fn find(
    text: &[u8],
    syntax: Syntax,
    (width, width_max): (usize, usize),
    comment: Option<&Comment>,
) -> FoundSubtotals {
    if width < 2 {
        return FoundSubtotals::default();
    }
    let is_comment =
        |it: &RecordShape| comment.is_some_and(|comment| comment.marks(&text[it.start..it.end]));
    let mut shapes = records_within(text, syntax, usize::MAX, width_max);
    shapes.retain(|it| 0 < it.n_filled && !is_comment(it));
    if !has_label(text, syntax) {
        return unlabelled_total(text, syntax, width, &shapes);
    }
    // Sums by chance do not come twice.
    let (found, n_like) = found_in(text, syntax, width, &shapes, true);
    if n_like == 1 { found_in(text, syntax, width, &shapes, false).0 } else { found }
}

/// Finds the total below all rows whose label is not a known one: it is the exact sum of several columns.
fn unlabelled_total(
    text: &[u8],
    syntax: Syntax,
    width: usize,
    shapes: &[RecordShape],
) -> FoundSubtotals {
    const ROWS_MIN: u64 = 3;
    const SUMS_MIN: usize = 2;
    let mut found = FoundSubtotals::default();
    let Some((last, rows)) = shapes.split_last() else { return found };
    let cells = texts_of(&text[last.start..last.end], syntax);
    let n_amounts = cells.iter().filter(|it| amount(it.trim()).is_some()).count();
    let first = cells.iter().position(|it| !it.trim().is_empty()).unwrap_or(0);
    if amount(cells[first].trim()).is_some()
        || n_amounts < SUMS_MIN
        || last.n_filled != n_amounts + 1
    {
        return found;
    }
    let mut all = Held::new(width);
    for row in rows {
        all.add(&texts_of(&text[row.start..row.end], syntax));
    }
    let pairs = cells.iter().zip(&all.sums).skip(first + 1);
    let n_sums = pairs.filter(|(cell, sum)| finding(cell, **sum) == Some(TotalSign::Sum)).count();
    if ROWS_MIN <= all.n_rows && n_sums == n_amounts && all.adds_up_to(&cells, first + 1, false) {
        found.records.push((last.start, last.end));
    }
    found
}

/// Finds those with a label, and how many of them have one that may be a name. `trusts_names` takes these as well.
fn found_in(
    text: &[u8],
    syntax: Syntax,
    width: usize,
    shapes: &[RecordShape],
    trusts_names: bool,
) -> (FoundSubtotals, usize) {
    let mut found = FoundSubtotals::default();
    let mut n_like = 0;
    let (mut all, mut block) = (Held::new(width), Held::new(width));
    let (mut is_sure, mut of_one_row) = (false, Vec::new());
    let mut statistics: Vec<(&RecordShape, Statistic, String)> = Vec::new();
    for (at, shape) in shapes.iter().enumerate() {
        let cells = texts_of(&text[shape.start..shape.end], syntax);
        let first = cells.iter().position(|it| !it.trim().is_empty()).unwrap_or(0);
        let label = Label::of(&cells[first]).filter(|_| 1 < shape.n_filled);
        match label {
            Some(Label::Total | Label::LikeTotal) => {
                let is_plain = label == Some(Label::Total)
                    || block.has_name_of(&cells[first]) && ROWS_MIN <= block.n_rows;
                let adds_up = [&block, &all].map(|it| {
                    it.adds_up_to(
                        &cells,
                        first + 1,
                        is_plain || trusts_names && ROWS_MIN <= it.n_rows,
                    )
                });
                if adds_up != [false, false] {
                    n_like += usize::from(!is_plain && !all.adds_up_to(&cells, first + 1, false));
                    let span = (shape.start, shape.end);
                    // The sum of one row cannot be distinguished from an equal row.
                    let is_of_many = if adds_up[0] { block.n_rows } else { all.n_rows } >= ROWS_MIN;
                    is_sure |= is_of_many;
                    (if is_of_many { &mut found.records } else { &mut of_one_row }).push(span);
                    block = Held::new(width);
                    continue;
                }
                // What is below the last row is judged separately.
                if is_plain && at + 1 < shapes.len() {
                    KeptRows::add(&mut found.kept, shape.line);
                }
            }
            Some(Label::Statistic(statistic)) => {
                statistics.push((shape, statistic, cells[first].trim().to_owned()));
                continue;
            }
            None => {
                let is_inner = cells.iter().skip(first + 1).any(|it| is_inner(it.as_bytes()));
                if is_inner && ROWS_MIN <= block.n_rows && block.adds_up_to(&cells, 0, true) {
                    KeptRows::add(&mut found.inner, shape.line);
                    block = Held::new(width);
                    continue;
                }
            }
        }
        // A row below an average shows that the average was a row too.
        for (shape, ..) in statistics.drain(..) {
            let cells = texts_of(&text[shape.start..shape.end], syntax);
            all.add(&cells);
            block.add(&cells);
        }
        all.add(&cells);
        block.add(&cells);
    }
    if is_sure {
        found.records.append(&mut of_one_row);
    }
    for (shape, statistic, label) in statistics {
        let cells = texts_of(&text[shape.start..shape.end], syntax);
        let first = cells.iter().position(|it| !it.trim().is_empty()).unwrap_or(0);
        let n_found = all.n_of(statistic, &cells, first);
        // A single extreme is also the value of a row.
        let n_min = if statistic == Statistic::Mean { 1 } else { 2 };
        match n_found {
            Some(n) if n_min <= n => found.records.push((shape.start, shape.end)),
            None if statistic != Statistic::Mean && is_name(&label) => {}
            _ => KeptRows::add(&mut found.kept, shape.line),
        }
    }
    found.records.sort_unstable();
    (found, n_like)
}

/// Returns whether the label of a row may also be a person's name: `Max`.
fn is_name(label: &str) -> bool {
    3 == label.trim_matches(['*', ':', '=', ' ', '.']).chars().count()
}

/// Returns whether a cell behind the first has the label of a total.
fn is_inner(cell: &[u8]) -> bool {
    let is_around = |it: &u8| b"\"*:= ".contains(it);
    let start = cell.iter().position(|it| !is_around(it)).unwrap_or(cell.len());
    let end = cell.iter().rposition(|it| !is_around(it)).map_or(start, |it| it + 1);
    INNER.iter().any(|it| cell[start..end].eq_ignore_ascii_case(it.as_bytes()))
}

/// Returns whether any record has a label of totals.
fn has_label(text: &[u8], syntax: Syntax) -> bool {
    let mut tokeniser = Tokeniser::new(text, syntax);
    let mut cells: Vec<Cell> = Vec::new();
    while tokeniser.record(&mut cells).is_some() {
        let mut cells = cells.iter().map(|it| it.raw(text));
        let filled = cells.find(|it| !it.trim_ascii().is_empty());
        let label = filled.filter(|it| it.len() <= LABEL_BYTES_MAX);
        let is_label = |it| Label::of(String::from_utf8_lossy(it).trim_matches('"')).is_some();
        if label.is_some_and(is_label) || cells.any(is_inner) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::syntax::{Delimiter, Syntax};

    /// Checks the records that are not rows, and the number of kept ones with the line of the first.
    #[track_caller]
    fn check(text: &str, records: &[&str], kept: Option<(u64, u32)>) {
        let comma = Syntax::usual(Delimiter::new(",").unwrap());
        let width = text.lines().map(|it| it.matches(',').count() + 1).max().unwrap();
        let found = find(text.as_bytes(), comma, (width, usize::MAX), None);
        let shown: Vec<&str> = found.records.iter().map(|it| &text[it.0..it.1]).collect();
        assert_eq!(shown, records, "{text}");
        assert_eq!(found.kept.map(|it| (it.n, it.line)), kept, "{text}");
    }

    #[test]
    fn subtotals_are_the_sums_of_their_rows() {
        let rows = ["a,1,10\nb,2,20\n", "c,3,30\nd,4,40\n"];
        let text = format!("{}Subtotal,3,30\n{}Subtotal,7,70\n", rows[0], rows[1]);
        check(&text, &["Subtotal,3,30", "Subtotal,7,70"], None);
        let all = ["Subtotal,3,30", "Subtotal,7,70", "Total,10,100"];
        check(&format!("{text}Total,10,100\n"), &all, None);
        let text = "N,a,1\nN,b,2\nN Total,,3\nS,c,3\nS Total,,3\nGrand Total,,6\n";
        check(text, &["N Total,,3", "S Total,,3", "Grand Total,,6"], None);
        let text = "A,x,1\nA,y,2\nSubtotal A,,3\nB,x,4\nB,z,5\nSubtotal B,,9\nTotal,,12\n";
        check(text, &["Subtotal A,,3", "Subtotal B,,9", "Total,,12"], None);
        let text = "a,1,10\nb,2,20\nTotal fees,3,30\nc,3,30\n";
        check(text, &["Total fees,3,30"], None);
    }

    #[test]
    fn a_total_may_be_called_as_its_rows_are() {
        let text = "North,5\nNorth,6\nTotal North,11\nSouth,7\nSouth,8\nTotal South,15\nTotal,26\n";
        check(text, &["Total North,11", "Total South,15", "Total,26"], None);
        let text = "Checking,\na,5\nb,6\nTotal Checking,11\nSavings,\nc,7\nd,2\nTotal Savings,9\nTOTAL,20\n";
        check(text, &["Total Checking,11", "Total Savings,9", "TOTAL,20"], None);
        let text = "a,5\nb,6\nSumme Aktiva,11\nc,7\nd,2\nSumme Passiva,9\n";
        check(text, &["Summe Aktiva,11", "Summe Passiva,9"], None);
    }

    #[test]
    fn exact_sums_of_several_columns_are_a_total_whatever_its_label() {
        let rows = "A,1,10.5\nB,2,20.25\nC,3,31\nD,4,41\n";
        for label in ["Alles", "Uma soma", "Σύνολο"] {
            check(&format!("{rows}{label},10,102.75\n"), &[&*format!("{label},10,102.75")], None);
        }
        for other in ["Alles,10,102.5", "Alles,10,", "E,5,102.75", "10,10,102.75"] {
            check(&format!("{rows}{other}\n"), &[], None);
        }
    }

    #[test]
    fn sums_with_a_label_behind_the_first_cell_are_kept_and_reported() {
        let inner = |text: &str| {
            let comma = Syntax::usual(Delimiter::new(",").unwrap());
            let found = find(text.as_bytes(), comma, (3, usize::MAX), None);
            (found.records.len(), found.inner.map(|it| (it.n, it.line)))
        };
        let rows = ["N,a,1\nN,b,2\n", "S,c,3\nS,d,4\n"];
        let text = format!("{}N,Subtotal,3\n{}S,\"Subtotal:\",7\n", rows[0], rows[1]);
        assert_eq!(inner(&text), (0, Some((2, 2))));
        assert_eq!(inner(&format!("{text}Total,,10\n")), (1, Some((2, 2))));
        // The whole before its parts, other numbers, and a single row.
        assert_eq!(inner("N,total,3\nN,m,1\nN,f,2\n"), (0, None));
        assert_eq!(inner(&format!("{}N,Subtotal,9\n", rows[0])), (0, None));
        assert_eq!(inner("N,a,1\nN,total,1\n"), (0, None));
    }

    #[test]
    fn a_row_that_is_called_a_total_and_holds_something_else_is_kept() {
        check("Total,10\nMale,4\nFemale,6\n", &[], Some((1, 0)));
        check("a,1\nTotal,1\nb,2\n", &[], None);
        check("Total War,3\nTotal Recall,4\nUp,7\n", &[], None);
        check("Up,1\nJaws,2\nTotal War,3\nJava,4\n", &[], None);
        check("a,1\nb,2\nTotal,9\n", &[], None);
        check("a,1\nb,2\nTotal,9\nc,2\nTotal,8\nd,1\n", &[], Some((2, 2)));
        check("a,x\nb,y\nTotal,z\nc,x\n", &[], Some((1, 2)));
    }

    #[test]
    fn averages_and_extremes_below_the_table_are_none_of_it() {
        check("a,1,10\nb,2,20\nc,3,30\nAverage,2,20\n", &["Average,2,20"], None);
        check("a,1,10\nb,2,20\nc,2,30\nMean,1.67,20\n", &["Mean,1.67,20"], None);
        check("a,1,10\nb,2,20\nMin,1,10\nMax,2,20\n", &["Min,1,10", "Max,2,20"], None);
        check("a,1,10\nb,2,20\nAvg,4,20\n", &[], Some((1, 2)));
        check("a,1,10\nb,2,20\nMedian,1,20\n", &[], Some((1, 2)));
        // People and films are called so as well.
        check("Max,31\nAnn,3\nMax,30\n", &[], None);
        check("a,1\nb,2\nMax,2\n", &[], Some((1, 2)));
        check("a,1,10\nb,3,30\nAverage,2,20\nc,4,40\n", &[], None);
    }
}
