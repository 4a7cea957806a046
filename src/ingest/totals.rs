//! Totals below a table: labelled last rows that contain the sums of their columns.
//!
//! Pure. The sum of a column that contains its own total is twice too large. The label of a row shows
//! that it may be a total, and only the sums prove it: the rows are read without it, and again with it
//! where the sums differ.

use super::amount::Amount;
use super::non_rows::Comment;
use super::records::texts_of;
use super::syntax::Syntax;
use crate::record_shapes::{RecordShape, records, records_within};

/// Maximum consecutive rows of totals and averages.
const ROWS_MAX: usize = 4;

/// Words that label a row with sums, and where in its label.
const TOTALS: [(&str, &[TotalPlace]); 72] = {
    use TotalPlace::{Begin, End, MayBegin, Whole};
    [
        ("total", &[Whole, End, MayBegin]),
        ("totals", &[Whole, End, MayBegin]),
        ("sum", &[Whole]),
        ("sums", &[Whole]),
        ("grand total", &[Whole, MayBegin]),
        ("grand totals", &[Whole]),
        ("overall total", &[Whole]),
        ("overall", &[Whole]),
        ("total sum", &[Whole]),
        ("column total", &[Whole]),
        ("total general", &[Whole]),
        ("total général", &[Whole]),
        ("totaux", &[Whole]),
        ("somme", &[Whole, MayBegin]),
        ("suma", &[Whole, MayBegin]),
        ("suma total", &[Whole]),
        ("totale", &[Whole]),
        ("totale generale", &[Whole]),
        ("totaal", &[Whole]),
        ("eindtotaal", &[Whole]),
        ("gesamt", &[Whole, MayBegin]),
        ("gesamtsumme", &[Whole]),
        ("summe", &[Whole, MayBegin]),
        ("insgesamt", &[Whole]),
        ("gesamtergebnis", &[Whole]),
        ("zusammen", &[Whole]),
        ("razem", &[Whole]),
        ("ogółem", &[Whole]),
        ("celkem", &[Whole]),
        ("итого", &[Whole]),
        ("всего", &[Whole]),
        ("合计", &[Whole]),
        ("合計", &[Whole]),
        ("总计", &[Whole]),
        ("總計", &[Whole]),
        ("小計", &[Whole]),
        ("小计", &[Whole]),
        ("합계", &[Whole]),
        ("총계", &[Whole]),
        ("σύνολο", &[Whole]),
        ("toplam", &[Whole]),
        ("genel toplam", &[Whole]),
        ("summa", &[Whole]),
        ("totalt", &[Whole]),
        ("i alt", &[Whole]),
        ("ialt", &[Whole]),
        ("yhteensä", &[Whole]),
        ("összesen", &[Whole]),
        ("skupaj", &[Whole]),
        ("ukupno", &[Whole]),
        ("spolu", &[Whole]),
        ("всичко", &[Whole]),
        ("общо", &[Whole]),
        ("общий итог", &[Whole]),
        ("jumlah", &[Whole]),
        ("totaal generaal", &[Whole]),
        ("المجموع", &[Whole]),
        ("סה\"כ", &[Whole]),
        ("subtotal", &[End, Begin, MayBegin]),
        ("sub-total", &[End, Begin]),
        ("sub total", &[End, Begin]),
        ("zwischensumme", &[End, Begin]),
        ("sous-total", &[End, Begin]),
        ("teilsumme", &[End]),
        ("subtotale", &[End]),
        ("subtotaal", &[End]),
        ("промежуточный итог", &[End]),
        ("total:", &[MayBegin]),
        ("gesamt:", &[MayBegin]),
        ("sum:", &[MayBegin]),
        ("sum of", &[MayBegin]),
        ("sum for", &[MayBegin]),
    ]
};
/// Labels of an adjacent row with other statistics of the columns.
const OTHERS: [(&str, Statistic); 18] = [
    ("average", Statistic::Mean),
    ("avg", Statistic::Mean),
    ("mean", Statistic::Mean),
    ("durchschnitt", Statistic::Mean),
    ("mittelwert", Statistic::Mean),
    ("moyenne", Statistic::Mean),
    ("promedio", Statistic::Mean),
    ("gemiddelde", Statistic::Mean),
    ("среднее", Statistic::Mean),
    ("min", Statistic::Least),
    ("minimum", Statistic::Least),
    ("max", Statistic::Most),
    ("maximum", Statistic::Most),
    ("median", Statistic::Other),
    ("count", Statistic::Other),
    ("std", Statistic::Other),
    ("std dev", Statistic::Other),
    ("standard deviation", Statistic::Other),
];

/// The statistic in a row next to the sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statistic {
    /// Their averages.
    Mean,
    /// Their least values.
    Least,
    /// Their greatest values.
    Most,
    /// Another statistic, which is not verified.
    Other,
}

/// Where a word means a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TotalPlace {
    /// It is the label.
    Whole,
    /// It is the label or its last word: `North Subtotal`.
    End,
    /// It is in front of a name: `Subtotal North`.
    Begin,
    /// It may be in front of a name, or a part of one: `total fees`, `Total War`.
    MayBegin,
}

/// Returns whether this label, in lower case, has a word for a total in this place.
pub(crate) fn is_total(label: &str, place: TotalPlace) -> bool {
    let is_there = |word: &str| match place {
        TotalPlace::Whole => label == word,
        TotalPlace::End => {
            label.strip_suffix(word).is_some_and(|it| it.is_empty() || it.ends_with(' '))
        }
        TotalPlace::Begin | TotalPlace::MayBegin => {
            label.strip_prefix(word).is_some_and(|it| it.starts_with(' '))
        }
    };
    TOTALS.iter().any(|(word, places)| places.contains(&place) && is_there(word))
}

/// Returns the statistic that this label, in lower case, means.
pub(crate) fn statistic_of(label: &str) -> Option<Statistic> {
    OTHERS.iter().find(|it| it.0 == label).map(|it| it.1)
}

/// The sum of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sum {
    /// The sum of whole numbers.
    pub whole: i128,
    /// The sum of floats.
    pub real: f64,
    /// Number of values.
    pub n_values: u64,
    /// Number of values that are not numbers.
    pub n_others: u64,
}

impl Sum {
    /// Adds the sum of more rows.
    pub(crate) fn add(&mut self, other: Sum) {
        self.whole += other.whole;
        self.real += other.real;
        self.n_values += other.n_values;
        self.n_others += other.n_others;
    }

    /// Adds a value in a local form of amounts.
    pub(crate) fn add_text(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        match amount(text) {
            Some((value, _)) => {
                self.real += value;
                self.n_values += 1;
            }
            None => self.n_others += 1,
        }
    }

    /// Returns the sum.
    pub(crate) fn value(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "compared within what is shown of it")]
        let whole = self.whole as f64;
        whole + self.real
    }
}

/// What a cell of a total shows about its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TotalSign {
    Sum,
    /// It may be an average, a count, or a sum of rounded values.
    Open,
    /// It cannot be any of these.
    Other,
}

/// Returns how many bytes at the end of `tail`, which is the end of a file, are rows that may be
/// totals.
pub(crate) fn candidate(
    tail: &[u8],
    syntax: Syntax,
    (width, width_max): (usize, usize),
    comment: Option<&Comment>,
) -> Option<usize> {
    if width < 2 {
        return None;
    }
    let shapes = records_within(tail, syntax, usize::MAX, width_max);
    let cells = |it: &RecordShape| texts_of(&tail[it.start..it.end], syntax);
    let label = |it: &RecordShape| label_of(&cells(it));
    // A workbook that no program has calculated has no sums, but the label of their row.
    let is_lone = |it: &RecordShape| {
        it.n_filled == 1 && it.width == width && plain_label(&cells(it)).is_some()
    };
    let n_lone = shapes.iter().filter(|it| it.n_filled == 1).count();
    let is_comment =
        |it: &RecordShape| comment.is_some_and(|comment| comment.marks(&tail[it.start..it.end]));
    let is_of = |it: &RecordShape| {
        let is_called = match label(it) {
            Some(Label::Total | Label::Other) => 1 < it.n_filled || n_lone == 1 && is_lone(it),
            Some(Label::Unnamed) => true,
            None => false,
        };
        it.width <= width + 1 && !is_comment(it) && is_called
    };
    let is_candidate = |it: &&RecordShape| it.n_filled == 0 || is_of(it);
    let rows: Vec<&RecordShape> =
        shapes.iter().rev().take(ROWS_MAX).take_while(is_candidate).collect();
    let first = rows.iter().rev().find(|it| 0 < it.n_filled)?;
    let has_total = rows.iter().any(|it| label(it) == Some(Label::Total));
    let above = || shapes.iter().take_while(|it| it.start < first.start);
    // An unlabelled row is not a total where rows have no labels either.
    let is_single = rows.iter().filter(|it| 0 < it.n_filled).count() == 1;
    let is_unnamed = is_single
        && label(first) == Some(Label::Unnamed)
        && above().all(|it| it.is_first_filled || it.n_filled == 0);
    // A table with no other rows is not a table.
    ((has_total || is_unnamed) && 2 <= above().count()).then(|| tail.len() - first.start)
}

/// The label of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Total,
    Other,
    /// No label: its first cell is empty, and all others are numbers.
    Unnamed,
}

/// Returns whether the first filled cell labels a record as a total or as an adjacent statistic, or
/// leaves that open.
fn label_of(cells: &[String]) -> Option<Label> {
    let mut filled = cells.iter().map(|it| it.trim()).filter(|it| !it.is_empty());
    let first = filled.next()?;
    let is_first_empty = cells.first().is_some_and(|it| it.trim().is_empty());
    let is_clock = |it: &str| it.bytes().all(|it| it.is_ascii_digit() || it == b':');
    if is_first_empty
        && amount(first).is_some()
        && filled.all(|it| amount(it).is_some() || is_clock(it))
    {
        return Some(Label::Unnamed);
    }
    let label = first.trim_matches(['*', ':', '=', ' ', '.', '-', '_', '#']).to_lowercase();
    if is_total(&label, TotalPlace::Whole) || is_total(&label, TotalPlace::MayBegin) {
        return Some(Label::Total);
    }
    statistic_of(&label).map(|_| Label::Other)
}

/// Returns the label of a row if it can only mean a total.
pub(crate) fn plain_label(cells: &[String]) -> Option<&str> {
    let first = cells.iter().map(|it| it.trim()).find(|it| !it.is_empty())?;
    let label = first.trim_matches(['*', ':', '=', ' ', '.']).to_lowercase();
    is_total(&label, TotalPlace::Whole).then_some(first)
}

/// Returns whether the rows in `text` are totals of columns with these `sums`.
pub(crate) fn are_totals(text: &[u8], syntax: Syntax, sums: &[Sum]) -> bool {
    let rows = records(text, syntax, usize::MAX);
    rows.iter().filter(|it| 0 < it.n_filled).all(|it| {
        let cells = texts_of(&text[it.start..it.end], syntax);
        let label = label_of(&cells);
        let is_plain = plain_label(&cells).is_some();
        let first = cells.iter().position(|it| !it.trim().is_empty()).unwrap_or(0);
        let behind = if label == Some(Label::Unnamed) { first } else { first + 1 };
        let pairs = cells.iter().zip(sums).skip(behind);
        let found: Vec<TotalSign> = pairs.filter_map(|(cell, sum)| finding(cell, *sum)).collect();
        let n_sums = found.iter().filter(|it| **it == TotalSign::Sum).count();
        let n_open = found.iter().filter(|it| **it == TotalSign::Open).count();
        if it.n_filled == 1 && label == Some(Label::Total) {
            return sums.iter().any(|it| 0 < it.n_values);
        }
        let is_clear = match label {
            // Few or small numbers may match by chance.
            Some(Label::Unnamed) => {
                (n_open == 0 || 2 <= n_sums) && is_surely_sum(&cells, sums, n_sums)
            }
            _ => n_open <= n_sums || is_plain,
        };
        !found.contains(&TotalSign::Other)
            && (label == Some(Label::Other) || (0 < n_sums && is_clear))
    })
}

/// Returns whether matching sums cannot be a coincidence.
fn is_surely_sum(cells: &[String], sums: &[Sum], n_sums: usize) -> bool {
    const ROWS_MIN: u64 = 3;
    const LARGE: f64 = 100.0;
    let is_large = |it: &String| amount(it.trim()).is_some_and(|it| LARGE <= it.0.abs());
    sums.iter().any(|it| ROWS_MIN <= it.n_values) && (2 <= n_sums || cells.iter().any(is_large))
}

/// Compares a cell with the sum of its column; `None` where either is not a number.
pub(crate) fn finding(cell: &str, sum: Sum) -> Option<TotalSign> {
    let (value, n_decimals) = amount(cell.trim())?;
    // Years and codes in a column of words prove nothing.
    if sum.n_values <= 4 * sum.n_others {
        return None;
    }
    let wanted = sum.value();
    let distance = (value - wanted).abs();
    let step = 0.5 * 10_f64.powi(-n_decimals);
    #[expect(clippy::cast_precision_loss, reason = "a count of rows, for a tolerance")]
    let n_values = sum.n_values as f64;
    let is_same = distance <= 1e-9 * wanted.abs().max(1.0)
        || (0 < n_decimals && distance <= step * 1.000_001);
    let is_rounded = distance <= step * (n_values + 1.0) && distance <= 0.01 * wanted.abs();
    let is_within = wanted.min(0.0) <= value && value <= wanted.max(0.0);
    Some(match () {
        () if is_same && value != 0.0 && sum.n_others == 0 => TotalSign::Sum,
        () if is_same || is_rounded || is_within => TotalSign::Open,
        () => TotalSign::Other,
    })
}

/// Returns the number in an amount of a local form, and its number of decimals: `$1,234.50`, `1.234,50
/// €`, `(12)`, `45 %`.
pub(crate) fn amount(text: &str) -> Option<(f64, i32)> {
    let amount = Amount::strip(text.as_bytes())?;
    let text = str::from_utf8(amount.number).ok()?.trim_start_matches('+');
    let is_part = |it: char| it.is_ascii_digit() || ".,' \u{a0}\u{202f}".contains(it);
    if !text.contains(|it: char| it.is_ascii_digit()) || !text.chars().all(is_part) {
        return None;
    }
    let (last, n_marks) = (text.rfind(['.', ',']), text.matches(['.', ',']).count());
    let decimal = last.filter(|at| {
        let mark = &text[*at..=*at];
        let n_behind = text.len() - at - 1;
        let is_only = text.matches(mark).count() == 1;
        // Three digits after a single comma are thousands; `1.234` is what programs write.
        is_only && (n_behind != 3 || mark == "." || 1 < n_marks)
    });
    let (whole, fraction) = decimal.map_or((text, ""), |at| (&text[..at], &text[at + 1..]));
    let digits: String = whole.chars().filter(char::is_ascii_digit).collect();
    let value: f64 = format!("{digits}.{fraction}0").parse().ok()?;
    let n_decimals = i32::try_from(fraction.len()).ok()?;
    Some((if amount.is_negative { -value } else { value }, n_decimals))
}

#[cfg(test)]
mod tests {
    use super::{Sum, amount, are_totals, candidate, label_of};
    use crate::syntax::{Delimiter, Syntax};

    #[test]
    fn amounts_are_numbers_however_they_are_written() {
        for (text, value) in [
            ("6.00", 6.0),
            ("$1,200.50", 1200.5),
            ("1.234,50 €", 1234.5),
            ("24,559", 24559.0),
            ("1,234,567", 1_234_567.0),
            ("(12)", -12.0),
            ("-3.5", -3.5),
            ("45 %", 45.0),
            ("1.234", 1.234),
        ] {
            assert_eq!(amount(text).map(|it| it.0), Some(value), "{text}");
        }
        for text in ["", "-", "n/a", "2024-01-01x", "abc"] {
            assert_eq!(amount(text), None, "{text}");
        }
    }

    #[test]
    fn rows_are_totals_where_their_numbers_are_sums() {
        let comma = Syntax::usual(Delimiter::new(",").unwrap());
        let whole = |whole, n_values| Sum { whole, n_values, ..Sum::default() };
        let text = Sum { n_others: 3, ..Sum::default() };
        let check = |row: &str, is_total| {
            let sums = [text, whole(6, 3), whole(60, 3)];
            assert_eq!(are_totals(row.as_bytes(), comma, &sums), is_total, "{row}");
        };
        check("Total,6,60\n", true);
        check("Total,6,20\n", true);
        check("Total,6,\nAverage,2,20\n", true);
        check("Total,7,61\n", false);
        check("Total,6,61\n", false);
        check("Total War,3,60\n", true);
        check("Total,,\n", true);
        check("Average,,\n", true);
        check(",6,60\n", true);
        check(",6,20\n", false);
        check(",6,\n", false);
    }

    #[test]
    fn what_may_be_a_total_is_called_so() {
        let comma = Syntax::usual(Delimiter::new(",").unwrap());
        let found = |text: &str| candidate(text.as_bytes(), comma, (2, usize::MAX), None);
        assert_eq!(found("a,n\nx,1\ny,2\nTotal,3\n"), Some("Total,3\n".len()));
        assert_eq!(
            found("a,n\nx,1\ny,2\n\nGrand Total:,3\n,\n"),
            Some("Grand Total:,3\n,\n".len())
        );
        assert_eq!(found("a,n\nx,1\ny,2\n"), None);
        assert_eq!(found("a,n\nx,1\ny,2\nTotal,\n"), Some("Total,\n".len()));
        // Rows of a name alone are usual here.
        assert_eq!(found("a,n\nx,1\ny,\nTotal,\n"), None);
        assert_eq!(found("a,n\nx,1\ny,2\nTotal\n"), None);
        assert_eq!(found("a,n\nx,1\ny,2\n,3\n"), Some(",3\n".len()));
        assert_eq!(found("a,n\nx,1\ny,2\n,\n,3\n"), Some(",3\n".len()));
        assert_eq!(found("a,n\nx,1\n,2\n,3\n"), None);
        assert!(label_of(&["Totally".to_owned()]).is_none());
    }
}
