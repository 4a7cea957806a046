//! Cells to Arrow columns, while the guessed types hold.
//!
//! Pure. A cell that does not fit the guess stops the building of its column; the rest of the slice is
//! then read only for evidence, and a second pass builds with the types that the evidence of the whole
//! file decides.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float64Type, Int64Type, Time64MicrosecondType,
    TimestampMicrosecondType,
};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray, StringArray};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, TimeUnit};

use csv_agent_types::catalog::DType;

use super::amount;
use super::local_dates::{DateOrder, Local};
use super::null_markers::Markers;
use super::number;
use super::outlier_values::{OutlierValues, Usual};
use super::parse;
use super::records::Cell;
use super::requested_types::RequestedType;
use super::totals::Sum;
use super::type_evidence::{self, Nulls, TypeEvidence, classify};
use super::type_inference::ValueForm;

/// The guessed type of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Guess {
    /// The type to build.
    pub dtype: DType,
    /// How the values are written.
    pub form: ValueForm,
    /// The user requested it: once it is settled, a value that does not fit is an error. Numbers may be
    /// rewritten.
    pub wanted: Option<RequestedType>,
    /// Nothing in the file can change it, so values need not be examined.
    pub is_settled: bool,
    /// For a text column, the kind of nearly all of its values.
    pub usual: Option<Usual>,
}

impl Guess {
    /// Returns the guess that cannot fail.
    pub(crate) fn settled_text() -> Self {
        Guess {
            dtype: DType::String,
            form: ValueForm::Plain,
            wanted: None,
            is_settled: true,
            usual: None,
        }
    }

    /// Returns whether no further value matters. Where a type is requested, the form of its values does,
    /// whatever the others are.
    fn is_examined(&self, seen: TypeEvidence) -> bool {
        self.is_settled || (seen.is_settled() && self.wanted.is_none())
    }
}

/// Returns the Arrow field of a column.
pub(crate) fn field(name: &str, dtype: DType) -> Field {
    let data_type = match dtype {
        DType::Bool => DataType::Boolean,
        DType::Int64 => DataType::Int64,
        DType::Float64 => DataType::Float64,
        DType::Date => DataType::Date32,
        DType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        DType::TimestampUtc => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        DType::Time => DataType::Time64(TimeUnit::Microsecond),
        DType::String => DataType::Utf8,
    };
    Field::new(name, data_type, true)
}

/// One column of a slice being built.
pub(crate) struct ColumnBuilder {
    guess: Guess,
    values: Values,
    nulls: NullBufferBuilder,
    evidence: TypeEvidence,
    /// Rows built. Once [`ColumnBuilder::misfit`] is set, the count no longer grows.
    n_rows: usize,
    misfit: Option<usize>,
    /// Rows of text, while most share a usual kind, and the exceptions.
    n_texts: u64,
    odds: OutlierValues,
    markers: Markers,
}

enum Values {
    Bool(BooleanBufferBuilder),
    Int(Vec<i64>),
    Float(Vec<f64>),
    Date(Vec<i32>),
    Text { offsets: Vec<i32>, bytes: Vec<u8> },
}

impl ColumnBuilder {
    /// Creates an empty column with capacity for `n_rows`.
    pub(crate) fn new(guess: Guess, n_rows: usize) -> Self {
        let values = match guess.dtype {
            DType::Bool => Values::Bool(BooleanBufferBuilder::new(n_rows)),
            DType::Float64 => Values::Float(Vec::with_capacity(n_rows)),
            DType::Date => Values::Date(Vec::with_capacity(n_rows)),
            DType::Int64 | DType::Timestamp | DType::TimestampUtc | DType::Time => {
                Values::Int(Vec::with_capacity(n_rows))
            }
            DType::String => {
                let mut offsets = Vec::with_capacity(n_rows + 1);
                offsets.push(0);
                Values::Text { offsets, bytes: Vec::new() }
            }
        };
        let nulls = NullBufferBuilder::new(n_rows);
        let evidence = TypeEvidence::default();
        ColumnBuilder {
            guess,
            values,
            nulls,
            evidence,
            n_rows: 0,
            misfit: None,
            n_texts: 0,
            odds: OutlierValues::default(),
            markers: Markers::default(),
        }
    }

    /// Creates a column that is only examined.
    pub(crate) fn looking(guess: Guess) -> Self {
        ColumnBuilder { misfit: Some(0), ..ColumnBuilder::new(guess, 0) }
    }

    /// Returns the evidence of the values. A settled column yields none.
    pub(crate) fn evidence(&self) -> TypeEvidence {
        self.evidence
    }

    /// Returns the first row of the slice whose cell does not fit the guess.
    pub(crate) fn misfit(&self) -> Option<usize> {
        self.misfit
    }

    /// Removes and returns the values that are not of the usual kind, by row of the slice.
    pub(crate) fn take_odds(&mut self) -> OutlierValues {
        std::mem::take(&mut self.odds)
    }

    /// Removes and returns the markers of missing values.
    pub(crate) fn take_markers(&mut self) -> Markers {
        std::mem::take(&mut self.markers)
    }

    /// Returns the sum of the values.
    pub(crate) fn sum(&self) -> Sum {
        let mut sum = Sum::default();
        match &self.values {
            Values::Int(values) if self.guess.dtype == DType::Int64 => {
                sum.whole = values.iter().map(|it| i128::from(*it)).sum();
                sum.n_values = values.len() as u64;
            }
            Values::Float(values) => {
                sum.real = values.iter().sum();
                sum.n_values = values.len() as u64;
            }
            Values::Text { offsets, bytes } => {
                for it in offsets.windows(2) {
                    let span = usize::try_from(it[0]).ok().zip(usize::try_from(it[1]).ok());
                    let text = span.and_then(|(start, end)| bytes.get(start..end));
                    sum.add_text(&String::from_utf8_lossy(text.unwrap_or_default()));
                }
            }
            Values::Int(_) | Values::Date(_) | Values::Bool(_) => {}
        }
        sum
    }

    /// Appends `cells`, which are positions in `slice`.
    pub(crate) fn extend(
        &mut self,
        slice: &[u8],
        cells: impl ExactSizeIterator<Item = Cell> + Clone,
        nulls: &Nulls,
    ) {
        let n_cells = cells.len();
        if self.misfit.is_some() {
            return self.look(slice, cells, nulls);
        }
        let seen = &mut self.evidence;
        let is_told = self.guess.wanted.is_some();
        let (validity, form) = (&mut self.nulls, self.guess.form);
        let missing = Missing { nulls, markers: &mut self.markers };
        let n_fit = match (&mut self.values, self.guess.dtype) {
            (Values::Int(values), DType::Int64) if let ValueForm::Number(form) = form => {
                fill(slice, cells.clone(), values, validity, missing, |it| {
                    seen.add(type_evidence::number(it)?);
                    number::int(it, form)
                })
            }
            (Values::Float(values), _) if let ValueForm::Number(form) = form => {
                fill(slice, cells.clone(), values, validity, missing, |it| {
                    seen.add(type_evidence::number(it)?);
                    number::float(it, form)
                })
            }
            (Values::Int(values), _) if let ValueForm::Amount(sign, form) = form => {
                fill(slice, cells.clone(), values, validity, missing, |it| {
                    noted(amount::read(it, sign, form, number::int), seen)
                })
            }
            (Values::Float(values), _) if let ValueForm::Amount(sign, form) = form => {
                fill(slice, cells.clone(), values, validity, missing, |it| {
                    noted(amount::read(it, sign, form, number::float), seen)
                })
            }
            (Values::Date(values), _) if form != ValueForm::Plain => {
                fill(slice, cells.clone(), values, validity, missing, |it| {
                    let (local, order) = local(it, form, seen)?;
                    local.day(order).filter(|_| !local.has_time())
                })
            }
            (Values::Int(values), DType::Timestamp) if form != ValueForm::Plain => {
                fill(slice, cells.clone(), values, validity, missing, |it| {
                    let (local, order) = local(it, form, seen)?;
                    local.timestamp(order)
                })
            }
            (Values::Text { .. }, _) => return self.extend_text(slice, cells, nulls),
            (Values::Bool(values), _) => {
                flags(slice, cells.clone(), values, validity, missing, |it| {
                    noted(flag(it, form), seen)
                })
            }
            (Values::Float(values), _) => {
                fill(slice, cells.clone(), values, validity, missing, |it| {
                    if let Some((value, written)) = parse::float(it) {
                        seen.add(written.into());
                        return Some(value);
                    }
                    if is_told { told(it) } else { None }
                })
            }
            (Values::Date(values), _) => {
                fill(slice, cells.clone(), values, validity, missing, |it| {
                    parse::date(it).inspect(|_| seen.add(TypeEvidence::DATE))
                })
            }
            (Values::Int(values), DType::Int64) => {
                fill(slice, cells.clone(), values, validity, missing, |it| {
                    if let Some(value) = parse::int(it) {
                        seen.add(TypeEvidence::int(value));
                        return Some(value);
                    }
                    if is_told { told(it) } else { None }
                })
            }
            (Values::Int(values), DType::Time) => {
                fill(slice, cells.clone(), values, validity, missing, |it| {
                    parse::time(it).inspect(|_| seen.add(TypeEvidence::TIME))
                })
            }
            (Values::Int(values), dtype) => {
                let wants_instant = dtype == DType::TimestampUtc;
                fill(slice, cells.clone(), values, validity, missing, |it| {
                    if let Some((value, is_instant)) = parse::timestamp(it) {
                        seen.add(if is_instant {
                            TypeEvidence::instant(it)
                        } else {
                            TypeEvidence::TIMESTAMP
                        });
                        return (is_instant == wants_instant).then_some(value);
                    }
                    // A date among timestamps is its midnight.
                    let midnight = i64::from(parse::date(it)?) * parse::DAY_US;
                    seen.add(TypeEvidence::DATE);
                    (!wants_instant).then_some(midnight)
                })
            }
        };
        if n_fit < n_cells {
            self.misfit = Some(self.n_rows + n_fit);
            self.look(slice, cells.skip(n_fit), nulls);
        }
        self.n_rows += n_fit;
    }

    fn extend_text(
        &mut self,
        slice: &[u8],
        cells: impl ExactSizeIterator<Item = Cell>,
        nulls: &Nulls,
    ) {
        let ColumnBuilder {
            guess, values, nulls: validity, evidence, n_texts, odds, markers, ..
        } = self;
        let Values::Text { offsets, bytes } = values else { return };
        let mut look = |it: &[u8]| {
            if !guess.is_examined(*evidence) {
                evidence.add(classify(it, nulls));
            }
        };
        let missing = Missing { nulls, markers };
        let n_before = *n_texts;
        *n_texts += cells.len() as u64;
        match guess.usual {
            None => text(slice, cells, offsets, bytes, validity, missing, |_, it| look(it)),
            Some(usual) => text(slice, cells, offsets, bytes, validity, missing, |row, it| {
                look(it);
                odds.look(usual, n_before + row, it, nulls);
            }),
        }
    }

    /// Reads cells for evidence only.
    fn look(&mut self, slice: &[u8], cells: impl Iterator<Item = Cell>, nulls: &Nulls) {
        for cell in cells {
            if self.guess.is_examined(self.evidence) {
                return;
            }
            self.evidence.add(classify(cell.raw(slice), nulls));
        }
    }

    /// Returns the column, if all of its cells fit. Fails when text is not UTF-8, which has been checked for
    /// the slice.
    pub(crate) fn finish(mut self) -> anyhow::Result<ArrayRef> {
        let nulls = self.nulls.finish();
        Ok(match self.values {
            Values::Bool(mut values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Values::Float(values) => primitive::<Float64Type>(values, nulls),
            Values::Date(values) => primitive::<Date32Type>(values, nulls),
            Values::Text { offsets, bytes } => {
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                Arc::new(StringArray::try_new(offsets, Buffer::from_vec(bytes), nulls)?)
            }
            Values::Int(values) => match self.guess.dtype {
                DType::Time => primitive::<Time64MicrosecondType>(values, nulls),
                DType::Timestamp => primitive::<TimestampMicrosecondType>(values, nulls),
                DType::TimestampUtc => {
                    let values = ScalarBuffer::from(values);
                    let array = PrimitiveArray::<TimestampMicrosecondType>::new(values, nulls);
                    Arc::new(array.with_timezone("UTC"))
                }
                _ => primitive::<Int64Type>(values, nulls),
            },
        })
    }
}

fn primitive<T: ArrowPrimitiveType>(
    values: Vec<T::Native>,
    nulls: Option<arrow_buffer::NullBuffer>,
) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), nulls))
}

/// Records the evidence of a value.
#[inline]
fn noted<T>(found: Option<(T, TypeEvidence)>, seen: &mut TypeEvidence) -> Option<T> {
    let (value, evidence) = found?;
    seen.add(evidence);
    Some(value)
}

/// Reads a truth value and its evidence.
#[inline]
fn flag(text: &[u8], form: ValueForm) -> Option<(bool, TypeEvidence)> {
    if let Some(value) = parse::bool(text) {
        return Some((value, TypeEvidence::BOOL));
    }
    if form != ValueForm::Words {
        return None;
    }
    if let [digit @ (b'0' | b'1')] = text {
        return Some((*digit == b'1', TypeEvidence::INT));
    }
    parse::yes_no(text).map(|(pair, value)| (value, TypeEvidence::word(pair, value)))
}

/// The missing values in a column that is not text, and their markers.
struct Missing<'a> {
    nulls: &'a Nulls,
    markers: &'a mut Markers,
}

impl Missing<'_> {
    #[inline]
    fn is_told(&self, text: &[u8]) -> bool {
        self.nulls.is_told(text)
    }

    /// Returns whether a text means a missing value; counts it if so.
    fn takes(&mut self, text: &[u8]) -> bool {
        let is_null = self.nulls.is_null(text);
        if is_null {
            self.markers.take(text);
        }
        is_null
    }
}

/// Parses a local date and records its evidence.
#[inline]
fn local(text: &[u8], form: ValueForm, seen: &mut TypeEvidence) -> Option<(Local, DateOrder)> {
    let ValueForm::Local(order) = form else { return None };
    let local = Local::scan(text)?;
    seen.add(local.evidence());
    Some((local, order))
}

/// Reads a number as leniently as Rust does: `007` is 7 if the user requests a number.
fn told<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Appends parsed cells; returns how many fit before the first that did not.
#[inline]
fn fill<T: Default>(
    slice: &[u8],
    cells: impl Iterator<Item = Cell>,
    values: &mut Vec<T>,
    validity: &mut NullBufferBuilder,
    mut missing: Missing<'_>,
    mut parse: impl FnMut(&[u8]) -> Option<T>,
) -> usize {
    let mut n_fit = 0;
    for cell in cells {
        let raw = cell.raw(slice);
        if raw.is_empty() {
            values.push(T::default());
            validity.append_null();
        } else if let Some(value) = parse(raw.trim_ascii()).filter(|_| !missing.is_told(raw)) {
            values.push(value);
            validity.append_non_null();
        } else if missing.takes(raw) {
            values.push(T::default());
            validity.append_null();
        } else {
            return n_fit;
        }
        n_fit += 1;
    }
    n_fit
}

/// Appends truth values; returns how many fit before the first that did not.
#[inline]
fn flags(
    slice: &[u8],
    cells: impl Iterator<Item = Cell>,
    values: &mut BooleanBufferBuilder,
    validity: &mut NullBufferBuilder,
    mut missing: Missing<'_>,
    mut parse: impl FnMut(&[u8]) -> Option<bool>,
) -> usize {
    let mut n_fit = 0;
    for cell in cells {
        let raw = cell.raw(slice);
        if let Some(value) = parse(raw.trim_ascii()).filter(|_| !missing.is_told(raw)) {
            values.append(value);
            validity.append_non_null();
        } else if missing.takes(raw) {
            values.append(false);
            validity.append_null();
        } else {
            break;
        }
        n_fit += 1;
    }
    n_fit
}

/// Appends text. An empty cell is null; an empty quoted cell is empty text.
#[inline]
fn text(
    slice: &[u8],
    cells: impl Iterator<Item = Cell>,
    offsets: &mut Vec<i32>,
    bytes: &mut Vec<u8>,
    validity: &mut NullBufferBuilder,
    missing: Missing<'_>,
    mut look: impl FnMut(u64, &[u8]),
) {
    let Missing { nulls, markers } = missing;
    for (row, cell) in (0..).zip(cells) {
        let raw = cell.raw(slice);
        if raw.is_empty() && !cell.is_quoted() {
            validity.append_null();
        } else if nulls.is_null_text(raw) {
            markers.take(raw);
            validity.append_null();
        } else {
            look(row, raw);
            markers.keep(raw);
            if cell.is_escaped() {
                cell.unescape(slice, bytes);
            } else {
                bytes.extend_from_slice(raw);
            }
            validity.append_non_null();
        }
        // A slice is shorter than 2^30 bytes.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_possible_wrap,
            reason = "bounded by RECORD_BYTES_MAX"
        )]
        offsets.push(bytes.len() as i32);
    }
}
