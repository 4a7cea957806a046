//! The straight line through the points of a scatter plot, by least squares.

use csv_agent_types::chart::ChartType;

use super::numbers::{self, Measure};
use super::plot::{Plot, Trend, X};
use super::sheet::count;

impl Trend {
    /// Fits a line to points: x and value. There is none through fewer than three, or if all have the
    /// same x.
    fn of(points: &[(f64, f64)]) -> Option<Trend> {
        let n = count(points.len());
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(|it| of(it) / n).sum::<f64>();
        let (x_mean, y_mean) = (mean(|it| it.0), mean(|it| it.1));
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for (x, y) in points {
            let (x, y) = (x - x_mean, y - y_mean);
            (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
        }
        let slope = xy / xx;
        let start = y_mean - slope * x_mean;
        let r2 = if 0.0 < yy { slope * xy / yy } else { 1.0 };
        let x = || points.iter().map(|it| it.0);
        let range = (x().fold(f64::MAX, f64::min), x().fold(f64::MIN, f64::max));
        let is_known = [slope, start, r2].iter().all(|it| it.is_finite());
        (2 < points.len() && is_known).then_some(Trend { start, slope, r2, range })
    }

    /// Returns the equation and how well it fits.
    fn equation(&self, n_points: usize) -> String {
        let amount = |it: f64| numbers::amount(it, Measure::Plain);
        let sign = if self.start < 0.0 { "−" } else { "+" };
        let (slope, start) = (amount(self.slope), amount(self.start.abs()));
        let r2 = if 0.995 < self.r2 && self.r2 < 1.0 { 0.99 } else { self.r2 };
        let n_points = csv_agent_text::digits::count(n_points as u64, "point");
        format!("Trend: y = {slope} x {sign} {start}, r² = {r2:.2}, {n_points}.")
    }
}

impl Plot {
    /// Fits a line to all points, and notes its equation.
    pub(crate) fn fit_trend(&mut self) {
        let X::Numbers(x) = &self.x else {
            self.notes.insert(0, "Only numbers along x have a trend line.".to_owned());
            return;
        };
        if self.chart_type != ChartType::Scatter || self.is_log != (false, false) {
            self.notes.insert(0, "Logarithmic axes have no straight trend line.".to_owned());
            return;
        }
        let pair = |(x, value): (&Option<f64>, &Option<f64>)| (*x).zip(*value);
        let series = self.series.iter();
        let points: Vec<_> =
            series.flat_map(|it| x.iter().zip(&it.values).filter_map(pair)).collect();
        self.trend = Trend::of(&points);
        let note = self.trend.map_or_else(
            || "The points have no trend line.".to_owned(),
            |it| it.equation(points.len()),
        );
        self.notes.insert(0, note);
    }
}

#[cfg(test)]
mod tests {
    use super::Trend;

    #[test]
    fn the_line_and_its_fit_are_those_of_least_squares() {
        let trend = Trend::of(&[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 5.0)]).unwrap();
        assert_eq!(trend.equation(4), "Trend: y = 1.6 x − 0.4, r² = 0.91, 4 points.");
        assert!((trend.at(2.0) - 2.8).abs() < 1e-12);
        let exact = Trend::of(&[(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]).unwrap();
        assert!((exact.r2 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn there_is_no_line_through_too_few_points_or_one_place() {
        assert_eq!(Trend::of(&[(1.0, 2.0), (2.0, 4.0)]), None);
        assert_eq!(Trend::of(&[(1.0, 2.0), (1.0, 4.0), (1.0, 5.0)]), None);
        assert_eq!(Trend::of(&[(1e300, 1e300), (-1e300, 2.0), (0.0, 1.0)]), None);
    }
}
