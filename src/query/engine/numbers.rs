//! Arithmetic.

use polars::prelude::{ChunkApply, DataType, Expr, Int64Chunked, IntoSeries};

use super::elementwise::{call, floats, ints};

/// Powers of ten that a double holds exactly.
const EXACT_POWERS: i64 = 22;
/// Decimals that a double has at most.
const DECIMALS_MAX: i64 = 1074;
/// Doubles from here on are whole numbers.
const WHOLE_FROM: f64 = 4_503_599_627_370_496.0;

/// Returns the expression of the sign.
pub(super) fn sign(input: Expr) -> Expr {
    call(vec![input], DataType::Int64, move |arguments| {
        if arguments[0].dtype().is_float() {
            let sign = |it: f64| i64::from(0.0 < it) - i64::from(it < 0.0);
            let signs: Int64Chunked =
                floats(&arguments[0])?.iter().map(|it| it.map(sign)).collect();
            return Ok(signs.into_series());
        }
        Ok(ints(&arguments[0])?.apply_values(i64::signum).into_series())
    })
}

/// Rounds the exact value of a double to so many decimals, half away from zero, and returns the double
/// next to the result.
pub(super) fn round(value: f64, decimals: i64) -> f64 {
    if !value.is_finite() || DECIMALS_MAX <= decimals {
        return value;
    }
    if decimals < 0 {
        return round_to_power(value, decimals.unsigned_abs());
    }
    let power = power_of_ten(decimals);
    let scaled = value.abs() * power;
    if EXACT_POWERS < decimals || WHOLE_FROM <= scaled {
        // Such a value is no tie, so that the text, which rounds ties to even, is right.
        let decimals = usize::try_from(decimals).unwrap_or_default();
        return format!("{value:.decimals$}").parse().unwrap_or(value);
    }
    // The exact product is `scaled + error`.
    let error = value.abs().mul_add(power, -scaled);
    let whole = scaled.floor();
    let above_half = scaled - whole - 0.5;
    let is_up = 0.0 < above_half || (above_half == 0.0 && 0.0 <= error);
    (if is_up { whole + 1.0 } else { whole } / power).copysign(value)
}

/// Rounds to a multiple of ten to that power.
fn round_to_power(value: f64, exponent: u64) -> f64 {
    let exponent = i64::try_from(exponent).unwrap_or(i64::MAX);
    if 308 < exponent {
        return 0.0_f64.copysign(value);
    }
    let power = power_of_ten(exponent);
    let rest = value.abs() % power;
    let base = value.abs() - rest;
    let rounded = if power <= rest * 2.0 { base + power } else { base };
    rounded.copysign(value)
}

/// Rounds the shortest decimal text of a double to so many decimals, half away from zero, as databases
/// round decimals: 2.675 to 2.68, although the double is a little less.
pub(super) fn round_decimal(value: f64, decimals: i64) -> f64 {
    if !value.is_finite() || decimals < 0 {
        return round(value, decimals);
    }
    let text = value.abs().to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let decimals = usize::try_from(decimals).unwrap_or(usize::MAX);
    let Some(next) = fraction.as_bytes().get(decimals) else { return value };
    let kept: f64 = format!("{whole}.{}", &fraction[..decimals]).parse().unwrap_or(value);
    if *next < b'5' {
        return kept.copysign(value);
    }
    // One more in the last place that is kept, in digits.
    let mut digits: Vec<u8> = whole.bytes().chain(fraction[..decimals].bytes()).collect();
    let mut at = digits.len();
    loop {
        if at == 0 {
            digits.insert(0, b'1');
            break;
        }
        at -= 1;
        if digits[at] < b'9' {
            digits[at] += 1;
            break;
        }
        digits[at] = b'0';
    }
    let point = digits.len() - decimals;
    let text = String::from_utf8_lossy(&digits).into_owned();
    let rounded: f64 = format!("{}.{}", &text[..point], &text[point..]).parse().unwrap_or(value);
    rounded.copysign(value)
}

/// Returns a power of ten, exactly up to [`EXACT_POWERS`].
fn power_of_ten(exponent: i64) -> f64 {
    10.0_f64.powi(i32::try_from(exponent).unwrap_or(i32::MAX))
}
