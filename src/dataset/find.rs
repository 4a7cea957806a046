//! Which columns hold a value, and how often, without reading more of a Parquet file than needed.
//!
//! For each column and row group, cheapest first: can the type hold the value; do minimum and
//! maximum allow it; where all pages are dictionary-encoded, does the dictionary have it. Only then
//! are the values read. Row groups and columns are spread over threads.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, available_parallelism};

use anyhow::bail;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float64Type, Int32Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::file::statistics::Statistics;

use super::parse::{self, DAY_US};
use super::scan::dtype_of;
use crate::catalog::ValueMatch;
use crate::limits::INGEST_WORKERS_MAX;

/// Returns the columns of the Parquet file at `path` in which some cell equals `value`.
///
/// Equal values count as equal however they are written, in columns whose type can hold them:
/// - numbers by amount: `7`, `7.0` and `7e0` are one, in whole and in other numbers;
/// - days and times by the moment: `2024-01-01` is also its midnight in a column of timestamps; in a
///   column of instants a time without an offset is taken as UTC;
/// - `true` and `false` in any case, and the words that stand for them, such as `yes` and `no`;
/// - text ignoring case and blanks around it. A number in a text column is text: `7` does not find
///   `007`.
///
/// # Errors
///
/// Fails when the file is missing or cannot be read.
pub fn find(path: &Path, value: &str) -> anyhow::Result<Vec<ValueMatch>> {
    let needle = Needle::new(value);
    let metadata = ArrowReaderMetadata::load(&File::open(path)?, ArrowReaderOptions::new())?;
    let n_row_groups = metadata.metadata().num_row_groups();
    let fields = metadata.schema().fields();
    // Row group by row group, so that neighbours in the file are read one after the other.
    let tasks: Vec<Task> = (0..n_row_groups)
        .flat_map(|row_group| (0..fields.len()).map(move |column| Task { row_group, column }))
        .filter(|it| {
            let chunk = metadata.metadata().row_group(it.row_group).column(it.column);
            needle.may_be_in(chunk, fields[it.column].data_type())
        })
        .collect();

    let next = AtomicUsize::new(0);
    let n_threads = available_parallelism().map_or(1, usize::from).min(INGEST_WORKERS_MAX);
    let search = || -> anyhow::Result<Vec<u64>> {
        // Each thread has its own file: they share no position in it.
        let file = Arc::new(File::open(path)?);
        let mut counts = vec![0; fields.len()];
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            counts[task.column] += task.count(&file, &metadata, &needle)?;
        }
        Ok(counts)
    };
    let counts = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..n_threads.min(tasks.len())).map(|_| scope.spawn(search)).collect();
        let mut counts = vec![0; fields.len()];
        for thread in threads {
            let found = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            counts.iter_mut().zip(found).for_each(|(all, it)| *all += it);
        }
        anyhow::Ok(counts)
    })?;
    let matches = fields.iter().zip(counts).filter(|(_, count)| 0 < *count);
    let matches = matches.map(|(field, count)| ValueMatch {
        column: field.name().clone(),
        dtype: dtype_of(field.data_type()),
        count,
    });
    Ok(matches.collect())
}

/// A value as each type would have it.
struct Needle {
    int: Option<i64>,
    float: Option<f64>,
    bool: Option<bool>,
    day: Option<i32>,
    /// Microseconds since 1970 without a zone, and as an instant.
    local: Option<i64>,
    instant: Option<i64>,
    time: Option<i64>,
    /// Trimmed, in lower case.
    text: String,
}

impl Needle {
    fn new(value: &str) -> Self {
        let value = value.trim();
        let bytes = value.as_bytes();
        let (int, float) = amounts(value);
        let timestamp = parse::timestamp(bytes);
        let midnight = parse::date(bytes).map(|it| i64::from(it) * DAY_US);
        let local = timestamp.filter(|it| !it.1).map(|it| it.0).or(midnight);
        let day = local.filter(|it| it.rem_euclid(DAY_US) == 0).map(|it| it.div_euclid(DAY_US));
        Needle {
            int,
            float,
            bool: parse::bool(bytes).or_else(|| parse::yes_no(bytes).map(|it| it.1)),
            day: day.and_then(|it| i32::try_from(it).ok()),
            local,
            instant: timestamp.map(|it| it.0).or(midnight),
            time: parse::time(bytes),
            text: value.to_lowercase(),
        }
    }

    /// Returns whether a chunk of values may hold the value, from the footer alone.
    fn may_be_in(&self, chunk: &ColumnChunkMetaData, data_type: &DataType) -> bool {
        let statistics = chunk.statistics();
        let n_nulls = statistics.and_then(Statistics::null_count_opt);
        if n_nulls.is_some_and(|it| i64::try_from(it) == Ok(chunk.num_values())) {
            return false;
        }
        match data_type {
            DataType::Boolean => self.bool.is_some(),
            DataType::Float64 => self.float.is_some_and(|it| match statistics {
                Some(Statistics::Double(range)) => is_within(range.min_opt(), &it, range.max_opt()),
                _ => true,
            }),
            DataType::Date32 => self.day.is_some_and(|it| match statistics {
                Some(Statistics::Int32(range)) => is_within(range.min_opt(), &it, range.max_opt()),
                _ => true,
            }),
            DataType::Utf8 => true,
            _ => self.whole(data_type).is_some_and(|it| match statistics {
                Some(Statistics::Int64(range)) => is_within(range.min_opt(), &it, range.max_opt()),
                _ => true,
            }),
        }
    }

    /// Returns the value as the 64-bit number that a type is stored as.
    fn whole(&self, data_type: &DataType) -> Option<i64> {
        match data_type {
            DataType::Int64 => self.int,
            DataType::Timestamp(TimeUnit::Microsecond, None) => self.local,
            DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => self.instant,
            DataType::Time64(TimeUnit::Microsecond) => self.time,
            _ => None,
        }
    }

    fn is_text(&self, cell: &str) -> bool {
        let cell = cell.trim();
        if self.text.is_ascii() {
            return cell.eq_ignore_ascii_case(&self.text);
        }
        !cell.is_ascii() && cell.to_lowercase() == self.text
    }

    /// Returns whether a page of dictionary values has the value.
    fn is_in_dictionary(&self, bytes: &[u8], data_type: &DataType) -> bool {
        match data_type {
            DataType::Utf8 => texts(bytes).any(|it| self.is_text(&String::from_utf8_lossy(it))),
            DataType::Date32 => {
                let (days, _) = bytes.as_chunks::<4>();
                self.day.is_some_and(|day| days.iter().any(|it| i32::from_le_bytes(*it) == day))
            }
            DataType::Float64 => {
                let (values, _) = bytes.as_chunks::<8>();
                let equals = |float, it: &[u8; 8]| is_equal(f64::from_le_bytes(*it), float);
                self.float.is_some_and(|float| values.iter().any(|it| equals(float, it)))
            }
            _ => {
                let (values, _) = bytes.as_chunks::<8>();
                let whole = self.whole(data_type);
                whole.is_some_and(|whole| values.iter().any(|it| i64::from_le_bytes(*it) == whole))
            }
        }
    }

    /// Returns how many values of a column equal the value.
    fn count(&self, column: &ArrayRef) -> anyhow::Result<usize> {
        let n = match column.data_type() {
            DataType::Boolean => {
                column.as_boolean().iter().filter(|it| it.is_some() && *it == self.bool).count()
            }
            DataType::Float64 => {
                let equals = |it: f64| self.float.is_some_and(|float| is_equal(it, float));
                column
                    .as_primitive::<Float64Type>()
                    .iter()
                    .flatten()
                    .filter(|it| equals(*it))
                    .count()
            }
            DataType::Date32 => {
                let days = column.as_primitive::<Date32Type>().iter().flatten();
                days.filter(|it| Some(*it) == self.day).count()
            }
            DataType::Int64 => {
                let values = column.as_primitive::<Int64Type>().iter().flatten();
                values.filter(|it| Some(*it) == self.int).count()
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                let wanted = self.whole(column.data_type());
                let values = column.as_primitive::<TimestampMicrosecondType>().iter().flatten();
                values.filter(|it| Some(*it) == wanted).count()
            }
            DataType::Time64(TimeUnit::Microsecond) => {
                let values = column.as_primitive::<Time64MicrosecondType>().iter().flatten();
                values.filter(|it| Some(*it) == self.time).count()
            }
            DataType::Utf8 => {
                let texts = column.as_string::<i32>().iter().flatten();
                texts.filter(|it| self.is_text(it)).count()
            }
            DataType::Dictionary(..) => {
                let column = column.as_dictionary::<Int32Type>();
                let texts = column.values().as_string::<i32>().iter();
                let is_match: Vec<bool> =
                    texts.map(|it| it.is_some_and(|it| self.is_text(it))).collect();
                let is_key = |it: &i32| usize::try_from(*it).is_ok_and(|it| is_match[it]);
                column.keys().iter().flatten().filter(is_key).count()
            }
            other => bail!("no search in a column of type {other}"),
        };
        Ok(n)
    }
}

/// Returns the value as a whole number and as any number, where it is exactly that.
fn amounts(value: &str) -> (Option<i64>, Option<f64>) {
    if let Ok(int) = value.parse::<i64>() {
        #[expect(clippy::cast_precision_loss, reason = "compared back right here")]
        let float = int as f64;
        #[expect(clippy::cast_possible_truncation, reason = "saturates, and is then unequal")]
        let is_exact = float as i128 == i128::from(int);
        return (Some(int), is_exact.then_some(float));
    }
    let float: Option<f64> = value.parse().ok().filter(|it: &f64| !it.is_nan());
    // Whole, and below 2^63: a cast loses nothing.
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and in range")]
    let int = float
        .filter(|it| is_equal(it.fract(), 0.0) && it.abs() < 9_223_372_036_854_775_808.0)
        .map(|it| it as i64);
    (int, float)
}

#[expect(clippy::float_cmp, reason = "the question is whether two values are the same")]
fn is_equal(a: f64, b: f64) -> bool {
    a == b
}

fn is_within<T: PartialOrd>(min: Option<&T>, value: &T, max: Option<&T>) -> bool {
    min.is_none_or(|it| it <= value) && max.is_none_or(|it| value <= it)
}

/// Splits a page of plain texts: each is four bytes of length, then the bytes.
fn texts(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = bytes.split_first_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (text, rest) = rest.split_at_checked(length)?;
        bytes = rest;
        Some(text)
    })
}

/// One column of one row group.
struct Task {
    row_group: usize,
    column: usize,
}

impl Task {
    fn count(
        &self,
        file: &Arc<File>,
        metadata: &ArrowReaderMetadata,
        needle: &Needle,
    ) -> anyhow::Result<u64> {
        let row_group = metadata.metadata().row_group(self.row_group);
        let chunk = row_group.column(self.column);
        let n_rows = usize::try_from(row_group.num_rows())?;
        let field = metadata.schema().field(self.column);
        let is_dictionary = is_all_dictionary(chunk);
        if is_dictionary {
            let mut pages = SerializedPageReader::new(Arc::clone(file), chunk, n_rows, None)?;
            if let Some(Page::DictionaryPage { buf, .. }) = pages.get_next_page()?
                && !needle.is_in_dictionary(&buf, field.data_type())
            {
                return Ok(0);
            }
        }
        let metadata = if is_dictionary && *field.data_type() == DataType::Utf8 {
            &with_keys(metadata, self.column)?
        } else {
            metadata
        };
        let mask = ProjectionMask::roots(metadata.parquet_schema(), [self.column]);
        let file = file.try_clone()?;
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
            .with_row_groups(vec![self.row_group])
            .with_projection(mask)
            .with_batch_size(n_rows.clamp(1, 64 * 1024))
            .build()?;
        let mut count = 0;
        for batch in reader {
            count += needle.count(batch?.column(0))? as u64;
        }
        Ok(count)
    }
}

/// Returns whether every value of a chunk is a key into its dictionary.
fn is_all_dictionary(chunk: &ColumnChunkMetaData) -> bool {
    let is_key =
        |it: &Encoding| matches!(it, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
    chunk.dictionary_page_offset().is_some()
        && chunk.page_encoding_stats_mask().is_some_and(|mask| {
            let mut encodings = mask.encodings();
            encodings.all(|it| is_key(&it))
        })
}

/// Returns the metadata with one text column read as keys, so that each text is compared once.
fn with_keys(metadata: &ArrowReaderMetadata, column: usize) -> anyhow::Result<ArrowReaderMetadata> {
    let keyed = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let fields = metadata.schema().fields().iter().enumerate().map(|(at, field)| {
        if at == column {
            Arc::new(Field::new(field.name(), keyed.clone(), field.is_nullable()))
        } else {
            Arc::clone(field)
        }
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = ArrowReaderOptions::new().with_schema(schema);
    Ok(ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)?)
}

#[cfg(test)]
mod tests {
    use super::{Needle, amounts};

    #[test]
    fn amounts_are_equal_however_they_are_written() {
        assert_eq!(amounts("7"), (Some(7), Some(7.0)));
        assert_eq!(amounts("7.0"), (Some(7), Some(7.0)));
        assert_eq!(amounts("7e0"), (Some(7), Some(7.0)));
        assert_eq!(amounts("7.5"), (None, Some(7.5)));
        assert_eq!(amounts("9007199254740993"), (Some(9_007_199_254_740_993), None));
        assert_eq!(amounts("1e300"), (None, Some(1e300)));
        assert_eq!(amounts("seven"), (None, None));
    }

    #[test]
    fn a_day_is_its_midnight() {
        let day = Needle::new("1970-01-02");
        assert_eq!((day.day, day.local, day.instant), (Some(1), Some(86_400_000_000), day.local));
        let midnight = Needle::new("1970-01-02 00:00:00");
        assert_eq!(midnight.day, Some(1));
        assert_eq!(Needle::new("1970-01-02 00:00:01").day, None);
    }

    #[test]
    fn text_is_compared_without_case_and_blanks() {
        let needle = Needle::new(" Äpfel ");
        assert!(needle.is_text("äPFEL"));
        assert!(!needle.is_text("apfel"));
        assert!(Needle::new("NA").is_text(" na"));
    }
}
