//! Ratings: which values of a column are good, worth a warning or bad, and which rows contain the others.

use std::fmt;

use crate::limits::FINDING_ROWS_MAX;

/// A range of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The lower bound, and whether it is in the range.
    pub low: Option<(f64, bool)>,
    /// The upper bound, and whether it is in the range.
    pub high: Option<(f64, bool)>,
}

impl Range {
    /// Parses `>= 10`, `> 10`, `<= 10`, `< 10`, `= 10`, or `5..10`, which includes 5 and excludes 10.
    ///
    /// # Errors
    ///
    /// Fails for anything else, and for an empty range.
    pub fn parse(text: &str) -> Result<Range, String> {
        let example = "write a range such as `>= 10`, `< 5` or `5..10`";
        let number = |it: &str| {
            let found = it.trim().parse::<f64>().ok().filter(|it| it.is_finite());
            found.ok_or_else(|| format!("`{}` is not a number; {example}", it.trim()))
        };
        let range = |low, high| Ok(Range { low, high });
        let text = text.trim();
        if let Some((low, high)) = text.split_once("..") {
            let (low, high) = (number(low)?, number(high)?);
            return if low < high {
                range(Some((low, true)), Some((high, false)))
            } else {
                Err(format!("the range from {low} to {high} is empty"))
            };
        }
        let signs = [">=", "<=", ">", "<", "="];
        let found = signs.into_iter().find_map(|sign| Some((sign, text.strip_prefix(sign)?)));
        let Some((sign, rest)) = found else { return Err(example.to_owned()) };
        let at = number(rest)?;
        match sign {
            ">=" => range(Some((at, true)), None),
            ">" => range(Some((at, false)), None),
            "<=" => range(None, Some((at, true))),
            "<" => range(None, Some((at, false))),
            _ => range(Some((at, true)), Some((at, true))),
        }
    }

    /// Returns whether a number is in the range.
    pub fn has(&self, number: f64) -> bool {
        self.low.is_none_or(|(low, has)| low < number || has && low <= number)
            && self.high.is_none_or(|(high, has)| number < high || has && number <= high)
    }

    /// Returns whether some number is in both ranges.
    pub fn overlaps(&self, other: &Range) -> bool {
        let reaches = |high: Option<(f64, bool)>, low: Option<(f64, bool)>| match (high, low) {
            (Some((high, has_high)), Some((low, has_low))) => {
                low < high || (has_high && has_low && low <= high)
            }
            _ => true,
        };
        reaches(self.high, other.low) && reaches(other.high, self.low)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let low = |(it, has): (f64, bool)| format!("{} {it}", if has { ">=" } else { ">" });
        let high = |(it, has): (f64, bool)| format!("{} {it}", if has { "<=" } else { "<" });
        match (self.low, self.high) {
            (Some((one, true)), Some((other, true))) if other <= one => write!(f, "= {one}"),
            (Some(one), Some(other)) => write!(f, "{} and {}", low(one), high(other)),
            (Some(one), None) => f.write_str(&low(one)),
            (None, Some(other)) => f.write_str(&high(other)),
            (None, None) => f.write_str("any"),
        }
    }
}

/// Which values of a column are good, worth a warning, or bad.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ratings {
    /// Good values. Values in no range are then worth a warning.
    pub good: Option<Range>,
    /// Values worth a warning.
    pub warning: Option<Range>,
    /// Bad values.
    pub bad: Option<Range>,
}

/// The values of a column that are not good.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rated {
    /// Those in the bad range.
    pub bad: Hits,
    /// Those in the warning range.
    pub warning: Hits,
    /// Those in no range, if a good range exists.
    pub outside: Hits,
}

/// The rows that match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hits {
    /// Their number.
    pub count: u64,
    /// The first of them; the first row is 0.
    pub rows: Vec<u64>,
}

impl Hits {
    /// Adds a row after the previous ones.
    pub fn add(&mut self, row: u64) {
        self.count += 1;
        if self.rows.len() < FINDING_ROWS_MAX {
            self.rows.push(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Hits, Range};

    #[track_caller]
    fn check(text: &str, shown: Result<&str, &str>) {
        let found = Range::parse(text).map(|it| it.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), shown, "{text}");
    }

    #[test]
    fn a_range_is_a_comparison_or_two_ends() {
        check(">= 10", Ok(">= 10"));
        check("<0.5", Ok("< 0.5"));
        check("= 3", Ok("= 3"));
        check("-5 .. 1e3", Ok(">= -5 and < 1000"));
        check("10..5", Err("the range from 10 to 5 is empty"));
        let example = "write a range such as `>= 10`, `< 5` or `5..10`";
        check("10", Err(example));
        check("> ten", Err(&format!("`ten` is not a number; {example}")));
        check("> NaN", Err(&format!("`NaN` is not a number; {example}")));
    }

    #[test]
    fn a_range_has_the_ends_that_it_says() {
        let has = |text: &str, numbers: [f64; 3]| {
            let range = Range::parse(text).unwrap();
            numbers.map(|it| range.has(it))
        };
        assert_eq!(has("5..10", [4.9, 5.0, 10.0]), [false, true, false]);
        assert_eq!(has("> 5", [5.0, 5.1, f64::INFINITY]), [false, true, true]);
        assert_eq!(has("= 5", [5.0, 5.1, f64::NAN]), [true, false, false]);
    }

    #[test]
    fn only_the_first_rows_are_kept() {
        let mut hits = Hits::default();
        (0..100).for_each(|it| hits.add(it));
        assert_eq!((hits.count, hits.rows.len(), hits.rows[19]), (100, 20, 19));
    }

    #[track_caller]
    fn check_overlap(one: &str, other: &str, expected: bool) {
        let [one, other] = [one, other].map(|it| Range::parse(it).unwrap());
        assert_eq!((one.overlaps(&other), other.overlaps(&one)), (expected, expected));
    }

    #[test]
    fn ranges_that_touch_do_not_overlap_unless_both_have_the_end() {
        check_overlap("< 5", "5..10", false);
        check_overlap("<= 5", "5..10", true);
        check_overlap("5..10", ">= 10", false);
        check_overlap("> 1", "< 9", true);
        check_overlap("= 5", "5..6", true);
    }
}
