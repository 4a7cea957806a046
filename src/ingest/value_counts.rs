//! How many rows contain values that are about to be shown, so that values of only a few rows can be
//! withheld.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

use csv_agent_types::limits::CENSUS_BATCH_ROWS_MAX;

use super::from_parquet::guard;
use super::stored::Stored;

/// Microseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// Minimum digits of a number that counts within words. Shorter ones look like row counts.
const RUN_DIGITS_MIN: usize = 4;

/// The values to search for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Needles {
    /// Whole text cells.
    pub texts: BTreeSet<String>,
    /// Numbers, by [`number_key`].
    pub numbers: BTreeSet<u64>,
    /// Dates and times, in microseconds since 1970.
    pub moments: BTreeSet<i64>,
    /// Whether to count the cells of boolean columns.
    pub booleans: bool,
}

/// How many rows contain the searched values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ValueCounts {
    /// Text → rows of the column in which it is most frequent.
    pub texts: HashMap<String, u64>,
    /// Number → the columns that contain it, also within text, each with its number of rows.
    pub numbers: HashMap<u64, Vec<(String, u64)>>,
    /// Timestamp → rows of the column in which it is least frequent.
    pub moments: HashMap<i64, u64>,
    /// Column → rows with false and with true, in the dataset with the fewest.
    pub booleans: HashMap<String, [u64; 2]>,
}

impl ValueCounts {
    /// Adds the values of datasets that must not be shown. This only restricts the result: their text
    /// counts as that of few rows, however many contain it.
    pub fn narrow(&mut self, unseen: ValueCounts) {
        for text in unseen.texts.into_keys() {
            self.texts.entry(text).or_insert(1);
        }
        for (number, holders) in unseen.numbers {
            self.numbers.entry(number).or_default().extend(holders);
        }
        for (moment, n_rows) in unseen.moments {
            let least = self.moments.entry(moment).or_insert(n_rows);
            *least = n_rows.min(*least);
        }
    }
}

/// Returns the search key of a number: 7 and 7.0 have the same.
pub fn number_key(number: f64) -> u64 {
    // Zero has two signs.
    if number == 0.0 { 0.0_f64.to_bits() } else { number.to_bits() }
}

/// Returns a text parsed as a date or time, in microseconds since 1970.
pub fn moment(text: &str) -> Option<i64> {
    let instant = |it: DateTime| it.to_zoned(TimeZone::UTC).ok().map(|it| it.timestamp());
    let day = || text.parse::<Date>().ok().filter(|_| text.len() == 10);
    let timestamp = text.parse::<Timestamp>().ok();
    let timestamp = timestamp.or_else(|| instant(text.parse::<DateTime>().ok()?));
    let timestamp = timestamp.or_else(|| instant(day()?.to_datetime(Time::midnight())));
    Some(timestamp?.as_microsecond())
}

/// Returns the numbers, by [`number_key`], that code may extract from a text cell: `+47 900-11-222` is
/// 4790011222 and `1.234,5` is 1234.5. Next to letters, numbers of fewer than 4 digits do not count.
fn numbers_in(text: &str) -> BTreeSet<u64> {
    let is_digit = |it: char| it.is_ascii_digit();
    if !text.contains(is_digit) {
        return BTreeSet::new();
    }
    let has_letters = text.contains(char::is_alphabetic);
    let joined: String =
        text.chars().filter(|it| !it.is_whitespace() && !"'_’".contains(*it)).collect();
    let mut readings = vec![text.trim().to_owned()];
    if !has_letters {
        readings.push(text.chars().filter(|it| is_digit(*it)).collect());
    }
    for text in [text, &joined] {
        for run in text.split(|it| !is_digit(it) && it != '.' && it != ',') {
            if has_letters && run.chars().filter(|it| is_digit(*it)).count() < RUN_DIGITS_MIN {
                continue;
            }
            let run = run.trim_end_matches(['.', ',']);
            readings.push(run.replace(',', ""));
            readings.push(run.replace('.', "").replace(',', "."));
        }
    }
    let numbers = readings.iter().filter_map(|it| it.parse::<f64>().ok());
    numbers.flat_map(|it| [number_key(it), number_key(-it)]).collect()
}

/// Adds the counts of the columns of the Parquet file at `path`.
///
/// # Errors
///
/// Fails when the file is missing, cannot be read or is damaged.
pub fn add_to_census(
    path: &Path,
    needles: &Needles,
    census: &mut ValueCounts,
) -> anyhow::Result<()> {
    let found = guard::run(|| count(path, needles))?;
    for (column, counts) in found {
        for (text, n_rows) in counts.texts {
            let most = census.texts.entry(text).or_default();
            *most = n_rows.max(*most);
        }
        for (number, n_rows) in counts.numbers {
            census.numbers.entry(number).or_default().push((column.clone(), n_rows));
        }
        for (moment, n_rows) in counts.moments {
            let least = census.moments.entry(moment).or_insert(n_rows);
            *least = n_rows.min(*least);
        }
        if let Some(counts) = counts.booleans {
            let least = census.booleans.entry(column).or_insert(counts);
            *least = [counts[0].min(least[0]), counts[1].min(least[1])];
        }
    }
    Ok(())
}

/// The counts of one column.
#[derive(Default)]
struct Counts {
    texts: HashMap<String, u64>,
    numbers: HashMap<u64, u64>,
    moments: HashMap<i64, u64>,
    booleans: Option<[u64; 2]>,
}

fn count(path: &Path, needles: &Needles) -> anyhow::Result<Vec<(String, Counts)>> {
    let table = Stored::open(path)?;
    let names = table.metadata.schema().fields().iter().map(|it| it.name().clone());
    let mut found: Vec<(String, Counts)> = names.map(|it| (it, Counts::default())).collect();
    for batch in table.batches(None, CENSUS_BATCH_ROWS_MAX) {
        let batch = batch?;
        for (values, (_, counts)) in batch.columns().iter().zip(&mut found) {
            counts.add(values, needles);
        }
    }
    Ok(found)
}

impl Counts {
    fn add(&mut self, values: &ArrayRef, needles: &Needles) {
        match values.data_type() {
            DataType::Utf8View => {
                for text in values.as_string_view().iter().flatten() {
                    if needles.texts.contains(text) {
                        *self.texts.entry(text.to_owned()).or_default() += 1;
                    }
                    if !needles.numbers.is_empty() {
                        for key in numbers_in(text).intersection(&needles.numbers) {
                            *self.numbers.entry(*key).or_default() += 1;
                        }
                    }
                    if !needles.moments.is_empty()
                        && let Some(moment) = moment(text.trim())
                    {
                        self.add_moment(moment, needles);
                    }
                }
            }
            DataType::Int64 => {
                for number in values.as_primitive::<Int64Type>().iter().flatten() {
                    #[expect(
                        clippy::cast_precision_loss,
                        reason = "JSON has no more of it either"
                    )]
                    self.add_number(number as f64, needles);
                }
            }
            DataType::Float64 => {
                for number in values.as_primitive::<Float64Type>().iter().flatten() {
                    self.add_number(number, needles);
                }
            }
            DataType::Date32 => {
                for days in values.as_primitive::<Date32Type>().iter().flatten() {
                    self.add_moment(i64::from(days) * DAY, needles);
                }
            }
            DataType::Timestamp(..) => {
                for moment in values.as_primitive::<TimestampMicrosecondType>().iter().flatten() {
                    self.add_moment(moment, needles);
                }
            }
            DataType::Boolean if needles.booleans => {
                let counts = self.booleans.get_or_insert_default();
                for value in values.as_boolean().iter().flatten() {
                    counts[usize::from(value)] += 1;
                }
            }
            // Such a value shows nothing by itself, or is shown as text, which no such column contains.
            _ => {}
        }
    }

    fn add_number(&mut self, number: f64, needles: &Needles) {
        let key = number_key(number);
        if needles.numbers.contains(&key) {
            *self.numbers.entry(key).or_default() += 1;
        }
    }

    fn add_moment(&mut self, moment: i64, needles: &Needles) {
        if needles.moments.contains(&moment) {
            *self.moments.entry(moment).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BooleanArray, StringViewArray};

    use super::{Counts, Needles, moment, number_key, numbers_in};

    #[test]
    fn a_cell_of_text_holds_the_numbers_that_code_may_read_out_of_it() {
        let check = |text: &str, number: f64, expected: bool| {
            assert_eq!(numbers_in(text).contains(&number_key(number)), expected, "{text}");
        };
        check("+47 900-11-222", 4_790_011_222.0, true);
        check("007", 7.0, true);
        check(" 12.50 ", 12.5, true);
        check("1.234,5", 1234.5, true);
        check("1,234.5", 1234.5, true);
        check("$ -12.5", -12.5, true);
        check("1e3", 1000.0, true);
        check("No 4711 b", 4711.0, true);
        check("user6@x", 6.0, false);
        check("Oslo", 0.0, false);
    }

    #[test]
    fn cells_of_text_are_counted_as_numbers_and_moments_too() {
        let needles = Needles {
            numbers: [number_key(12_345.0)].into(),
            moments: [moment("2024-12-24").unwrap()].into(),
            booleans: true,
            ..Needles::default()
        };
        let mut counts = Counts::default();
        let texts: ArrayRef =
            Arc::new(StringViewArray::from(vec!["012345", "123-45", "2024-12-24"]));
        counts.add(&texts, &needles);
        counts.add(&(Arc::new(BooleanArray::from(vec![true, false, true])) as ArrayRef), &needles);
        assert_eq!(counts.numbers, [(number_key(12_345.0), 2)].into());
        assert_eq!(counts.moments.values().sum::<u64>(), 1);
        assert_eq!(counts.booleans, Some([1, 2]));
    }
}
