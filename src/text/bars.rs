//! Bars of one character each, in a row.

/// Heights of a bar, in eighths.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Returns a bar for each value, the largest possible value being `largest`: a value above 0 has a bar, however low it
/// is, and 0 has `none`.
pub fn bars(values: impl Iterator<Item = f64>, largest: f64, none: char) -> String {
    let bar = |value: f64| {
        let mut heights = HEIGHTS.into_iter().zip(1_u8..);
        let is_high = |eighths: u8| value * 8.0 <= largest * f64::from(eighths);
        let height = heights.find(|it| is_high(it.1)).map_or(HEIGHTS[7], |it| it.0);
        if 0.0 < value { height } else { none }
    };
    values.map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::bars;

    #[test]
    fn a_bar_is_as_high_as_its_part_of_the_largest() {
        let of = |values: &[f64]| bars(values.iter().copied(), 800.0, '·');
        assert_eq!(of(&[0.0, 0.1, 100.0, 101.0, 400.0, 700.0, 800.0]), "·▁▁▂▄▇█");
        assert_eq!(of(&[]), "");
        assert_eq!(bars([0.0].into_iter(), 0.0, ' '), " ");
    }
}
