//! Sums of floats that do not depend on the order of the rows.
//!
//! The threads of the engine add the rows of a group in an order that differs from run to run, and an addition of
//! floats rounds. So each value is split into two whole numbers, which add up exactly in any order, and only the sum
//! is rounded. Groups with values that are too large or too small for this are added as floats.

use polars::prelude::{
    DataType, Expr, Field, Float64Chunked, Int128Chunked, IntoColumn, IntoSeries, map_multiple,
    when,
};

/// Values below 2 to this power, in size, can be split.
const SIZE_BITS: i32 = 70;
/// The weight of the high part, as a power of 2.
const HIGH: i32 = -24;
/// The weight of the low part. Values have no bits below it.
const LOW: i32 = -118;
/// Bits of a part. A column has fewer than 2^32 rows, so a sum of parts fits in 128 bits.
const PART_BITS: i32 = HIGH - LOW;

/// Returns the sum of floats in a group, 0 for none.
pub(super) fn sum(values: &Expr) -> Expr {
    let part = |of: fn((i128, i128)) -> i128| {
        values.clone().map(
            move |it| {
                let parts = it.f64()?.iter().map(|it| it.and_then(split).map(of));
                let parts: Int128Chunked = parts.collect();
                Ok(parts.into_series().with_name(it.name().clone()).into_column())
            },
            |_, field| Ok(Field::new(field.name().clone(), DataType::Int128)),
        )
    };
    let (high, low) = (part(|it| it.0), part(|it| it.1));
    let are_all_split = high.clone().count().eq(values.clone().count());
    let exact = map_multiple(
        |sums| {
            let (high, low) = (sums[0].i128()?, sums[1].i128()?);
            let pairs = high.iter().zip(low.iter());
            let found: Float64Chunked =
                pairs.map(|(high, low)| Some(joined(high?, low?))).collect();
            Ok(found.into_series().with_name(sums[0].name().clone()).into_column())
        },
        [high.sum(), low.sum()],
        |_, fields| Ok(Field::new(fields[0].name().clone(), DataType::Float64)),
    );
    when(are_all_split).then(exact).otherwise(values.clone().sum())
}

/// Returns the parts of a value, each below 2^94 in size; None when it has others.
fn split(value: f64) -> Option<(i128, i128)> {
    /// Bits of a float after those of its sign and exponent.
    const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
    if !value.is_finite() {
        return None;
    }
    let bits = value.to_bits();
    let fraction = bits & ((1 << FRACTION_BITS) - 1);
    let exponent = i32::try_from((bits >> FRACTION_BITS) & 0x7ff).ok()?;
    let (digits, power) = match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << FRACTION_BITS, exponent - 1075),
    };
    if digits == 0 {
        return Some((0, 0));
    }
    let n_zeros = digits.trailing_zeros().cast_signed();
    let (digits, power) = (i128::from(digits >> n_zeros), power + n_zeros);
    let n_digits = 128 - digits.leading_zeros().cast_signed();
    if power < LOW || SIZE_BITS < power + n_digits {
        return None;
    }
    let (high, low) = match HIGH - power {
        below if below <= 0 => (digits << -below, 0),
        // All digits are below the high part.
        below if n_digits <= below => (0, digits << (power - LOW)),
        below => (digits >> below, (digits & ((1 << below) - 1)) << (power - LOW)),
    };
    Some(if value < 0.0 { (-high, -low) } else { (high, low) })
}

/// Returns the float that is nearest to a sum of parts.
#[expect(clippy::cast_precision_loss, reason = "this is where the sum is rounded")]
fn joined(high: i128, low: i128) -> f64 {
    let mask = (1 << PART_BITS) - 1;
    let (high, low) = (high + (low >> PART_BITS), low & mask);
    let is_negative = high < 0;
    let (high, low) = match (is_negative, low) {
        (false, _) => (high, low),
        (true, 0) => (-high, 0),
        (true, _) => (-high - 1, (1 << PART_BITS) - low),
    };
    let (high, low) = (high.cast_unsigned(), low.cast_unsigned());
    // As many digits of the low part as there is room for. One more says whether the others are 0.
    let n_more = high.leading_zeros().cast_signed().min(PART_BITS);
    let n_less = PART_BITS - n_more;
    let rest = low & ((1 << n_less) - 1);
    let digits = if n_more == 0 { high } else { high << n_more | low >> n_less };
    let digits = digits | u128::from(rest != 0);
    let size = digits as f64 * power_of_two(HIGH - n_more);
    if is_negative { -size } else { size }
}

/// Returns a power of 2 that is a normal float.
fn power_of_two(power: i32) -> f64 {
    f64::from_bits(u64::from((1023 + power).cast_unsigned()) << (f64::MANTISSA_DIGITS - 1))
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::{Strategy, any, prop, prop_assert_eq, proptest};

    use super::{joined, split};

    fn sum(values: &[f64]) -> Option<f64> {
        let parts: Option<Vec<_>> = values.iter().map(|it| split(*it)).collect();
        let parts = parts?;
        Some(joined(parts.iter().map(|it| it.0).sum(), parts.iter().map(|it| it.1).sum()))
    }

    #[test]
    fn a_sum_is_the_float_that_is_nearest_to_the_exact_one() {
        assert_eq!(sum(&[0.1; 10]), Some(1.0));
        assert_eq!(sum(&[1e16, 1.0, -1e16]), Some(1.0));
        assert_eq!(sum(&[0.1, 0.2, -0.3]), Some(2.775_557_561_562_891_4e-17));
        assert_eq!(sum(&[9_007_199_254_740_992.0, 1.0, 1e-15]), Some(9_007_199_254_740_994.0));
        assert_eq!(sum(&[-9_007_199_254_740_992.0, -1.0, -1e-15]), Some(-9_007_199_254_740_994.0));
        assert_eq!(sum(&[]), Some(0.0));
        assert_eq!(sum(&[-0.0]), Some(0.0));
    }

    #[test]
    fn what_has_no_parts_is_said() {
        for value in [f64::NAN, f64::INFINITY, 1e22, -1e300, 1e-30, 5e-324] {
            assert_eq!(split(value), None, "{value}");
        }
    }

    proptest! {
        #[test]
        fn one_value_is_its_own_sum(value in any::<f64>()) {
            if let Some(found) = sum(&[value]) {
                prop_assert_eq!(found.total_cmp(&(value + 0.0)), Ordering::Equal);
            }
        }

        #[test]
        fn the_order_does_not_matter(
            mut values in prop::collection::vec(
                (-1e9..1e9_f64, -18..12_i32).prop_map(|(it, power)| it * 10_f64.powi(power)), 0..50,
            ),
        ) {
            let found = sum(&values);
            values.sort_by(f64::total_cmp);
            prop_assert_eq!(found, sum(&values));
        }
    }
}
