//! Figures derived from others: differences, sums, ratios, shares and changes.
//!
//! A reader of a two-row table may state the difference. But among many numbers, some pair has almost any
//! difference. So the fewer digits a figure shows, the fewer numbers it may be derived from.

use csv_agent_types::limits::{DERIVED_FROM_MAX, DERIVED_TABLES_MAX};

/// Number of digits from which every table that counts at all counts.
const DIGITS_MAX: usize = 4;

/// A small table of numbers. Values in one row or column are related.
pub(super) type NumberGrid = Vec<Vec<Option<f64>>>;

/// Figures derived from small tables, by the number of digits that a claim needs.
#[derive(Debug, Default)]
pub(super) struct Derived {
    /// Differences, sums and means.
    amounts: [Vec<f64>; DIGITS_MAX],
    /// Ratios, shares and changes.
    ratios: [Vec<f64>; DIGITS_MAX],
}

impl Derived {
    /// Derives from each table alone, and together with the row counts of whole datasets.
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

    /// Derives from pairs of numbers in one row or column.
    fn add_pairs(&mut self, grid: &NumberGrid, at: usize) {
        let (amounts, ratios) = (&mut self.amounts[at], &mut self.ratios[at]);
        let columns = columns(grid);
        for column in &columns {
            let total: f64 = column.iter().sum();
            #[expect(clippy::cast_precision_loss, reason = "a column is short")]
            amounts.push(total / column.len() as f64);
            let mut sum = 0.0;
            for value in column {
                // The first values together, as in `the top three`.
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

    /// Derives from each number and the row count of a dataset that it may be part of.
    fn add_shares(&mut self, grid: &NumberGrid, row_counts: &[f64], at: usize) {
        for value in grid.iter().flatten().flatten() {
            for n_rows in row_counts {
                self.amounts[at].push(n_rows - value);
                self.ratios[at].extend([value / n_rows, 1.0 - value / n_rows]);
            }
        }
    }

    /// Returns whether a difference, sum or mean is within the bounds, for a figure of `n_digits` digits.
    pub(super) fn has_amount(&self, n_digits: usize, low: f64, high: f64) -> bool {
        has_any(&self.amounts, n_digits, low, high)
    }

    /// Returns whether a ratio, share or change is within the bounds, for a figure of `n_digits` digits.
    pub(super) fn has_ratio(&self, n_digits: usize, low: f64, high: f64) -> bool {
        has_any(&self.ratios, n_digits, low, high)
    }
}

/// Returns how many digits, less one, a number needs so that a match with one of `n` figures is not chance:
/// as many as 4 × `n` has, 4 at most.
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

/// Returns whether any of the sorted figures is within the bounds.
pub(super) fn has(sorted: &[f64], low: f64, high: f64) -> bool {
    let at = sorted.partition_point(|it| *it < low);
    sorted.get(at).is_some_and(|it| *it <= high)
}
