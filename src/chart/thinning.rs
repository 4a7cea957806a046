//! Lines of more points than a picture can show: each column of pixels keeps what is visible.

use csv_agent_types::chart::ChartType;

use super::plot::Plot;
use super::sheet::WIDTH;
use super::text::to_pixel;

/// Points of a line that are all drawn; with more, there are several in a column of pixels.
const ALL_MAX: usize = 2_000;

/// Returns the points of a line that are visible: in each column of pixels the first, the lowest, the
/// highest and the last, in their order. The line looks the same.
pub(crate) fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= ALL_MAX {
        return points;
    }
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for column in points.chunk_by(|a, b| to_pixel(a.0) == to_pixel(b.0)) {
        let by_y = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (low, high) = (column.iter().min_by(by_y), column.iter().max_by(by_y));
        let wanted = [column.first(), low, high, column.last()];
        let is_wanted = |it: &&(f64, f64)| wanted.contains(&Some(*it));
        let mut column: Vec<_> = column.iter().filter(is_wanted).copied().collect();
        column.dedup();
        kept.extend(column);
    }
    kept
}

/// Returns the note on thinned lines.
pub(crate) fn note(plot: &Plot) -> Option<String> {
    let n_rows = plot.x.len();
    let is_thin = plot.chart_type == ChartType::Line && ALL_MAX < n_rows;
    let pixels = to_pixel(WIDTH);
    is_thin.then(|| {
        let n_rows = csv_agent_text::digits::count(n_rows as u64, "row");
        format!(
            "{n_rows} on {pixels} pixels: each column of pixels shows its lowest and highest value."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::thinned;

    #[test]
    fn a_column_of_pixels_keeps_its_ends_and_extremes() {
        let points: Vec<_> =
            (0..3_000).map(|it| (f64::from(it) / 1_000.0, f64::from(it * 7 % 11))).collect();
        let kept = thinned(points.clone());
        assert!(kept.len() <= 16, "{}", kept.len());
        assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
        let extremes = |it: &[(f64, f64)]| {
            it.iter().fold((f64::MAX, f64::MIN), |(low, high), it| (low.min(it.1), high.max(it.1)))
        };
        assert_eq!(extremes(&kept), extremes(&points));
        assert!(kept.is_sorted_by(|a, b| a.0 <= b.0));
        assert_eq!(thinned(points[..2_000].to_vec()).len(), 2_000);
    }
}
