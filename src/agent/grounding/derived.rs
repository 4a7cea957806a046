//! Figures that follow from others: differences, sums, ratios, shares and changes.
//!
//! Who reads a table of two rows may say by how much they differ. But of many numbers some two have nearly
//! any difference, so that the fewer digits a figure shows, the fewer numbers it may come from.

use csv_agent_types::limits::{DERIVED_FROM_MAX, DERIVED_TABLES_MAX};

/// Digits from which all tables count that count at all.
const DIGITS_MAX: usize = 4;

/// A small table: rows of numbers, of which those in a row or in a column have something in common.
pub(super) type NumberGrid = Vec<Vec<Option<f64>>>;

/// What follows from small tables, each figure after the digits that it takes to claim it.
#[derive(Debug, Default)]
pub(super) struct Derived {
    /// Differences, sums and means.
    amounts: [Vec<f64>; DIGITS_MAX],
    /// Ratios, shares and changes.
    ratios: [Vec<f64>; DIGITS_MAX],
}

impl Derived {
    /// Derives from each table by itself, and with the numbers of rows of whole datasets.
    pub(super) fn of(grids: &[NumberGrid], row_counts: &[f64]) -> Derived {
        let mut derived = Derived::default();
        for grid in grids.iter().take(DERIVED_TABLES_MAX) {
            let n = grid.iter().flatten().flatten().count();
            if DERIVED_FROM_MAX < n {
                continue;
            }
            derived.add_pairs(grid, class(n * n));
            derived.add_shares(grid, row_counts, class(n * row_counts.len()));
        }
        for figures in derived.amounts.iter_mut().chain(&mut derived.ratios) {
            figures.retain(|it| it.is_finite());
            figures.sort_unstable_by(f64::total_cmp);
        }
        derived
    }

    /// Derives from the numbers of a row, or of a column, among each other.
    fn add_pairs(&mut self, grid: &NumberGrid, at: usize) {
        let (amounts, ratios) = (&mut self.amounts[at], &mut self.ratios[at]);
        let columns = columns(grid);
        for column in &columns {
            let total: f64 = column.iter().sum();
            #[expect(clippy::cast_precision_loss, reason = "a column is short")]
            amounts.push(total / column.len() as f64);
            let mut sum = 0.0;
            for value in column {
                // The first ones together, as in `the top three`.
                sum += value;
                amounts.push(sum);
                ratios.extend([value / total, sum / total, 1.0 - value, 1.0 - value / 100.0]);
            }
        }
        let rows = grid.iter().map(|row| row.iter().flatten().copied().collect());
        for line in columns.iter().cloned().chain(rows) {
            for (at, one) in line.iter().enumerate() {
                for other in &line[at + 1..] {
                    amounts.extend([one - other, other - one, one + other]);
                    let of = |a: f64, b: f64| [(a / b).abs(), ((a - b) / b).abs()];
                    ratios.extend(of(*one, *other).into_iter().chain(of(*other, *one)));
                }
            }
        }
    }

    /// Derives from each number and the rows of a dataset, of which it may be a part.
    fn add_shares(&mut self, grid: &NumberGrid, row_counts: &[f64], at: usize) {
        for value in grid.iter().flatten().flatten() {
            for n_rows in row_counts {
                self.amounts[at].push(n_rows - value);
                self.ratios[at].extend([value / n_rows, 1.0 - value / n_rows]);
            }
        }
    }

    /// Returns whether a difference, sum or mean is between these, for a figure of so many digits.
    pub(super) fn has_amount(&self, n_digits: usize, low: f64, high: f64) -> bool {
        has_any(&self.amounts, n_digits, low, high)
    }

    /// Returns whether a ratio, share or change is between these, for a figure of so many digits.
    pub(super) fn has_ratio(&self, n_digits: usize, low: f64, high: f64) -> bool {
        has_any(&self.ratios, n_digits, low, high)
    }
}

/// Returns the class of figures of which there are some four times as many: so many digits, less one, does a
/// number need that one of them is not just by chance.
fn class(n: usize) -> usize {
    [10, 100, 1_000].into_iter().take_while(|it| *it < 4 * n).count()
}

fn columns(grid: &NumberGrid) -> Vec<Vec<f64>> {
    let n_columns = grid.iter().map(Vec::len).max().unwrap_or_default();
    let column = |at: usize| grid.iter().filter_map(|row| *row.get(at)?).collect();
    (0..n_columns).map(column).collect()
}

fn has_any(figures: &[Vec<f64>; DIGITS_MAX], n_digits: usize, low: f64, high: f64) -> bool {
    figures.iter().take(n_digits).any(|it| has(it, low, high))
}

/// Returns whether any of the sorted figures is between these.
pub(super) fn has(sorted: &[f64], low: f64, high: f64) -> bool {
    let at = sorted.partition_point(|it| *it < low);
    sorted.get(at).is_some_and(|it| *it <= high)
}
