//! Sums, means and deviations of floats, as parts that can be joined.

use super::layout::float;

/// A sum with the error of its additions.
#[derive(Clone, Copy)]
pub(super) struct Total {
    n_values: usize,
    sum: f64,
    error: f64,
}

impl Total {
    pub(super) fn of(value: f64) -> Self {
        Self { n_values: 1, sum: value, error: 0.0 }
    }

    /// Adds with Knuth's exact error of a sum of two floats.
    pub(super) fn join(self, other: Self) -> Self {
        let sum = self.sum + other.sum;
        let added = sum - self.sum;
        let error = (self.sum - (sum - added)) + (other.sum - added);
        let error = self.error + other.error + error;
        Self { n_values: self.n_values + other.n_values, sum, error }
    }

    pub(super) fn value(self) -> f64 {
        // The error of an infinite sum is not a number.
        if self.sum.is_finite() { self.sum + self.error } else { self.sum }
    }

    pub(super) fn mean(self) -> f64 {
        self.value() / float(self.n_values)
    }
}

/// Number, mean and sum of squared differences from the mean.
#[derive(Clone, Copy)]
pub(super) struct Moments {
    n_values: usize,
    mean: f64,
    squares: f64,
}

impl Moments {
    pub(super) fn of(value: f64) -> Self {
        // 0, but NaN for what is not finite.
        Self { n_values: 1, mean: value, squares: value * 0.0 }
    }

    /// Joins by the formula of Chan, Golub and `LeVeque`.
    pub(super) fn join(self, other: Self) -> Self {
        let n_values = self.n_values + other.n_values;
        let share = float(other.n_values) / float(n_values);
        let difference = other.mean - self.mean;
        Self {
            n_values,
            mean: self.mean + difference * share,
            squares: self.squares
                + other.squares
                + difference * difference * float(self.n_values) * share,
        }
    }

    /// Returns the variance with the divisor `n - n_lost`; `None` when that is 0.
    pub(super) fn variance(self, n_lost: usize) -> Option<f64> {
        let divisor = self.n_values - n_lost;
        (divisor != 0).then(|| self.squares / float(divisor))
    }
}

/// [`Moments`] of two variables and their products.
#[derive(Clone, Copy)]
pub(super) struct Pairs {
    x: Moments,
    y: Moments,
    products: f64,
}

impl Pairs {
    pub(super) fn of(x: f64, y: f64) -> Self {
        Self { x: Moments::of(x), y: Moments::of(y), products: x * 0.0 + y * 0.0 }
    }

    pub(super) fn join(self, other: Self) -> Self {
        let (x, y) = (self.x.join(other.x), self.y.join(other.y));
        let share = float(other.x.n_values) / float(x.n_values);
        let difference = (other.x.mean - self.x.mean) * (other.y.mean - self.y.mean);
        let between = difference * float(self.x.n_values) * share;
        Self { x, y, products: self.products + other.products + between }
    }

    /// Returns the covariance with the divisor `n - n_lost`; `None` when that is 0.
    pub(super) fn covariance(self, n_lost: usize) -> Option<f64> {
        let divisor = self.x.n_values - n_lost;
        (divisor != 0).then(|| self.products / float(divisor))
    }

    /// Returns the correlation; NaN when a variable is constant.
    pub(super) fn correlation(self) -> f64 {
        self.products / (self.x.squares.sqrt() * self.y.squares.sqrt())
    }
}
