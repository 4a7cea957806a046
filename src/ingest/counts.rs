//! Ratios, and most frequent values.

/// Returns the most frequent value, the larger one on a tie, and its count.
pub(crate) fn mode(values: &mut [usize]) -> (usize, usize) {
    values.sort_unstable();
    let runs = values.chunk_by(|a, b| a == b).map(|it| (it[0], it.len()));
    runs.max_by_key(|(_, n)| *n).unwrap_or((0, 0))
}

/// Returns the share of `n`; 0 of 0 is 0.
pub(crate) fn ratio(n: usize, of: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts in a few windows")]
    let ratio = n as f64 / of.max(1) as f64;
    ratio
}
