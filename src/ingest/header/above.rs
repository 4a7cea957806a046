//! Titles, notes, and names with values above the header, one or two cells per record.
//!
//! People and programs write them directly above the names, before blank lines or rows of delimiters,
//! and with as many delimiters as a row has. What follows shows that they are not rows: a record of
//! names that fills every column, or rows that do.

use super::super::multi_row_header::are_years;
use super::super::shape::is_value;
use super::super::short_rows::are_names;
use super::super::type_evidence::{TypeEvidence, classify};
use super::super::type_inference::is_typed;
use super::Search;
use crate::record_shapes::RecordShape;

/// Records above a table to examine.
const RECORDS_MAX: usize = 50;
/// Minimum number of rows that show a pattern.
const ROWS_MIN: usize = 2;

impl Search<'_> {
    /// Returns the index of the first record of the table below such records, which start at the first
    /// record of the file.
    pub(super) fn below_titles(&self, shapes: &[&RecordShape]) -> Option<usize> {
        let n = shapes.iter().take(RECORDS_MAX).take_while(|it| self.is_above(it)).count();
        let (above, rest) = shapes.split_at(n);
        let (first, rows) = rest.split_first()?;
        let last = above.last()?;
        if self.width < 2 || first.width != self.width || rows.is_empty() {
            return None;
        }
        let is_title = |it: &&&RecordShape| it.n_filled <= 1 || it.is_prose;
        let are_titles = above.iter().all(|it| is_title(&it));
        let labels = self.labels(first);
        if are_labels(&labels) {
            // A group above the names leaves its first cell, or the one below it, empty.
            let body = self.body_below(first, rows);
            let is_named = first.is_first_filled || are_titles;
            let is_typed = || body.is_typed() && !self.is_row(first, &body);
            let is_header = is_named && (is_typed() || self.have_amounts(rows, &labels));
            if is_header {
                return Some(n);
            }
        }
        if !are_titles {
            return None;
        }
        let is_apart = last.n_filled == 0 || first.is_behind_blank;
        let n_filled = rows.iter().filter(|it| 1 < it.n_filled).count();
        let is_filled = 1 < first.n_filled && rows.len() <= n_filled * 2;
        let n_words = |it: &&RecordShape| self.labels(it).concat().split_whitespace().count();
        let n_words_max = above.iter().map(n_words).max().unwrap_or_default();
        // They differ only in that every row has a value where they have none.
        let rows: Vec<&&RecordShape> = rows.iter().take_while(|it| 1 < it.n_filled).collect();
        let is_whole = ROWS_MIN <= rows.len() && rows.iter().all(|it| it.n_filled == self.width);
        // One word may be the name of the first column, unless there are better names below.
        let is_title = 2 <= n_words_max || (first.n_filled == self.width && are_labels(&labels));
        let is_above = (is_apart && is_filled && is_title)
            || (3 <= n_words_max && is_whole && are_labels(&labels));
        is_above.then_some(n)
    }

    /// Returns the index of the header below sentences, which may have as many commas as it has.
    pub(super) fn below_sentences(&self, shapes: &[&RecordShape]) -> Option<usize> {
        // In a single-column file they may be rows.
        let is_table = |n: &usize| 0 < *n && 1 < self.width;
        let n = shapes.iter().take_while(|it| it.start < self.n_lead).count();
        let n = Some(n).filter(is_table)?;
        let rest = &shapes[n..];
        let at = n + self.first(rest);
        let header = shapes.get(at).filter(|it| it.width == self.width && !it.is_prose)?;
        let labels = self.labels(header);
        let body = self.sample(self.width, header.after.0, Vec::new());
        let is_header = if body.is_typed() {
            !self.is_row(header, &body)
        } else {
            1 < n || header.is_behind_blank
        };
        // One may be missing.
        let filled: Vec<String> =
            labels.iter().filter(|it| !it.trim().is_empty()).cloned().collect();
        let are_labels =
            are_labels(&labels) || labels.len() <= filled.len() + 1 && are_names(&filled);
        (are_labels && is_header).then_some(at)
    }

    /// Returns the index of the first record of a table with typed columns, below a list of names and
    /// values of which none fits those types. The table may lack names.
    pub(super) fn below_misfits(&self, shapes: &[&RecordShape]) -> Option<usize> {
        /// Fewer may be a multi-record header.
        const ABOVE_MIN: usize = 4;
        const ROWS_MIN: usize = 3;
        let is_text = |it: &String| classify(it.as_bytes(), self.nulls).is_name();
        let is_named = |it: &&&RecordShape| self.labels(it).first().is_some_and(is_text);
        let n = shapes.iter().take(RECORDS_MAX).take_while(is_named).count();
        let (above, rows) = shapes.split_at(n);
        let are_even = shapes.iter().all(|it| it.width == self.width);
        if self.width < 2 || n < ABOVE_MIN || rows.len() < ROWS_MIN || !are_even {
            return None;
        }
        let body = self.sample(self.width, rows[0].start, Vec::new());
        let is_misfit = |(seen, label): (&TypeEvidence, &String)| {
            let label = classify(label.as_bytes(), self.nulls);
            label == TypeEvidence::default() || !is_typed(seen.and(label))
        };
        let are_misfits = |it: &&RecordShape| body.all.iter().zip(&self.labels(it)).all(is_misfit);
        let is_table = body.all.iter().all(|it| is_typed(*it)) && above.iter().all(are_misfits);
        let are_names = are_names(&self.labels(above.last()?));
        is_table.then_some(n - usize::from(are_names))
    }

    /// Returns whether rows have numbers in a column with a name that is not a number.
    fn have_amounts(&self, rows: &[&RecordShape], labels: &[String]) -> bool {
        const ROWS_MAX: usize = 5;
        let rows: Vec<Vec<String>> = rows.iter().take(ROWS_MAX).map(|it| self.labels(it)).collect();
        let is_value = |it: &String| is_value(it.as_bytes());
        let has_values = |column: &usize| {
            let mut cells = rows.iter().map_while(|it| it.get(*column));
            cells.clone().count() == rows.len() && cells.all(is_value)
        };
        ROWS_MIN <= rows.len()
            && (1..labels.len()).any(|it| !is_value(&labels[it]) && has_values(&it))
    }

    /// Returns whether a record may be a title, a note, or a name with its value.
    fn is_above(&self, shape: &RecordShape) -> bool {
        if shape.n_filled <= 1 {
            return shape.n_filled == 0 || shape.is_first_filled;
        }
        let is_pair = || {
            let labels = self.labels(shape);
            labels.iter().take(2).all(|it| !it.trim().is_empty())
        };
        shape.width != self.width && shape.is_prose
            || shape.n_filled == 2 && 2 < self.width && is_pair()
    }
}

/// Returns whether labels are column names, possibly followed by years, all distinct. Where each record
/// ends with a delimiter, the last label is empty.
pub(crate) fn are_labels(labels: &[String]) -> bool {
    let n_labels = labels.len() - usize::from(labels.last().is_some_and(|it| it.trim().is_empty()));
    let labels = &labels[..n_labels];
    let Some((first, others)) = labels.split_first() else { return false };
    if first.trim().is_empty() {
        return are_names(others) || are_years(others.iter());
    }
    let is_year = |it: &String| are_years([it, it].into_iter());
    let (names, years) = labels.split_at(labels.iter().position(is_year).unwrap_or(n_labels));
    !names.is_empty() && are_names(names) && (years.is_empty() || are_years(years.iter()))
}
