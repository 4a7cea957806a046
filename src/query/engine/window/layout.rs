//! The rows in the order of a window: partitions, and in them peers.

use std::iter::repeat_n;
use std::ops::Range;

use polars::prelude::{Column, IdxCa, IdxSize, NamedFrom as _, PolarsResult, Series};

use super::codes::Codes;
use crate::plan::SortKey;

/// Rows that are equal in all keys of the order.
pub(super) struct Peers {
    /// Positions of the partition that they are in.
    pub(super) partition: Range<usize>,
    /// Their positions.
    pub(super) rows: Range<usize>,
    /// From 1, in the partition.
    pub(super) number: usize,
}

/// The rows, sorted by partition and order. Equal rows stay in order.
pub(super) struct SortedRows {
    /// Position → row.
    pub(super) rows: Vec<usize>,
    /// In order, without gaps.
    pub(super) peers: Vec<Peers>,
}

impl SortedRows {
    /// Sorts rows by the columns of the partition, then by those of the order.
    pub(super) fn new(n_rows: usize, partition: &[Codes], order: &[(SortKey, Codes)]) -> Self {
        let mut rows: Vec<usize> = (0..n_rows).collect();
        for (key, codes) in order.iter().rev() {
            sort(&mut rows, codes, key.descending, key.nulls_first);
        }
        for codes in partition.iter().rev() {
            sort(&mut rows, codes, false, false);
        }
        let partitions = runs(0..n_rows, &rows, &partition.iter());
        let mut peers = Vec::new();
        for partition in partitions {
            let groups = runs(partition.clone(), &rows, &order.iter().map(|(_, codes)| codes));
            peers.extend(groups.into_iter().enumerate().map(|(before, rows)| Peers {
                partition: partition.clone(),
                rows,
                number: before + 1,
            }));
        }
        Self { rows, peers }
    }

    /// Positions of each partition, in order.
    pub(super) fn partitions(&self) -> impl Iterator<Item = Range<usize>> {
        self.peers.iter().filter(|it| it.number == 1).map(|it| it.partition.clone())
    }

    /// Gives all peers the same value. Yields one for each position.
    pub(super) fn each_peer<T: Clone>(
        &self,
        value: impl Fn(&Peers) -> T,
    ) -> impl Iterator<Item = T> {
        self.peers.iter().flat_map(move |peers| repeat_n(value(peers), peers.rows.len()))
    }

    /// Brings values from the order of positions to that of rows.
    pub(super) fn by_row<T: Clone + Default>(&self, values: impl Iterator<Item = T>) -> Vec<T> {
        let mut by_row = vec![T::default(); self.rows.len()];
        for (row, value) in self.rows.iter().zip(values) {
            by_row[*row] = value;
        }
        by_row
    }

    /// Makes a column of whole numbers, one for each position.
    pub(super) fn ints(&self, name: &str, values: impl Iterator<Item = Option<i64>>) -> Column {
        Series::new(name.into(), self.by_row(values)).into()
    }

    /// Makes a column of floats, one for each position.
    pub(super) fn floats(&self, name: &str, values: impl Iterator<Item = Option<f64>>) -> Column {
        Series::new(name.into(), self.by_row(values)).into()
    }

    /// Makes a column of truth values, one for each position.
    pub(super) fn bools(&self, name: &str, values: impl Iterator<Item = Option<bool>>) -> Column {
        Series::new(name.into(), self.by_row(values)).into()
    }

    /// Makes a column whose values come from these positions of another one; null without one.
    pub(super) fn gather(
        &self,
        name: &str,
        source: &Column,
        positions: impl Iterator<Item = Option<usize>>,
    ) -> PolarsResult<Column> {
        let rows = positions.map(|position| position.map(|it| self.rows[it]));
        take(name, source, self.by_row(rows))
    }
}

/// Makes a column of values in these rows of another one; null without one.
pub(super) fn take(name: &str, source: &Column, rows: Vec<Option<usize>>) -> PolarsResult<Column> {
    let index = |row| IdxSize::try_from(row).expect("polars numbers rows with this type");
    let indices: IdxCa = rows.into_iter().map(|row| row.map(index)).collect();
    Ok(source.take(&indices)?.with_name(name.into()))
}

fn sort(rows: &mut [usize], codes: &Codes, descending: bool, nulls_first: bool) {
    let flip = if descending { u64::MAX } else { 0 };
    let mut nulls = Vec::new();
    let mut values = Vec::with_capacity(rows.len());
    for row in rows.iter() {
        match codes.get(*row) {
            Some(code) => values.push((code ^ flip, *row)),
            None => nulls.push(*row),
        }
    }
    values.sort_by_key(|(code, _)| *code);
    let (n_nulls, n_values) = (nulls.len(), values.len());
    let first_null = if nulls_first { 0 } else { n_values };
    rows[first_null..first_null + n_nulls].copy_from_slice(&nulls);
    let first_value = if nulls_first { n_nulls } else { 0 };
    for (place, (_, row)) in rows[first_value..].iter_mut().zip(values) {
        *place = row;
    }
}

/// Divides sorted positions into runs with equal values.
fn runs<'a>(
    positions: Range<usize>,
    rows: &[usize],
    keys: &(impl Iterator<Item = &'a Codes> + Clone),
) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = positions.start;
    for position in positions.clone().skip(1) {
        let differs = |codes: &Codes| codes.get(rows[position - 1]) != codes.get(rows[position]);
        if keys.clone().any(differs) {
            found.push(start..position);
            start = position;
        }
    }
    if !positions.is_empty() {
        found.push(start..positions.end);
    }
    found
}

/// A number of rows as a value.
pub(super) fn whole(n_rows: usize) -> i64 {
    i64::try_from(n_rows).expect("polars numbers rows with 32 bits")
}

#[expect(clippy::cast_precision_loss, reason = "rows are numbered with 32 bits")]
pub(super) fn float(n_rows: usize) -> f64 {
    n_rows as f64
}

/// The quotient of numbers of rows.
pub(super) fn ratio(n_rows: usize, of_rows: usize) -> f64 {
    float(n_rows) / float(of_rows)
}
