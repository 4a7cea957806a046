//! Thresholds: which values of a column are good, worth a warning, or bad.

use std::fmt::{self, Write};

use super::datasets::quoted;
use crate::catalog::Catalog;

const HEAD: &str = "\
Thresholds that the user set. Where the question is about such a column, rate by them, and give each value
or group outside of the good range as a finding:
";

/// The ranges of one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The dataset; every one that has the column when none.
    pub dataset: Option<String>,
    /// The column.
    pub column: String,
    /// Values in it are good.
    pub good: Option<Range>,
    /// Values in it are worth a warning.
    pub warning: Option<Range>,
    /// Values in it are bad.
    pub bad: Option<Range>,
    /// What the values are measured in.
    pub unit: Option<String>,
}

/// Numbers from one bound to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The smallest, and whether it is in the range.
    pub low: Option<(f64, bool)>,
    /// The largest, and whether it is in the range.
    pub high: Option<(f64, bool)>,
}

impl Range {
    /// Reads `>= 10`, `> 10`, `<= 10`, `< 10`, `= 10`, or `5..10`, which holds 5 and not 10.
    ///
    /// # Errors
    ///
    /// Fails for anything else, and when there is nothing in the range.
    pub fn parse(text: &str) -> Result<Range, String> {
        let example = "write a range such as `>= 10`, `< 5` or `5..10`";
        let number = |it: &str| {
            let found = it.trim().parse::<f64>().ok().filter(|it| it.is_finite());
            found.ok_or_else(|| format!("{} is no number; {example}", quoted(it.trim())))
        };
        let range = |low, high| Ok(Range { low, high });
        let text = text.trim();
        if let Some((low, high)) = text.split_once("..") {
            let (low, high) = (number(low)?, number(high)?);
            return if low < high {
                range(Some((low, true)), Some((high, false)))
            } else {
                Err(format!("there is nothing from {low} to {high}"))
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

    /// Returns whether a number can be in both.
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

/// Writes the thresholds in at most `bytes_max` bytes and some hundred around them; nothing when there
/// are none. What is left out, or is about no column that there is, is added to `notes`.
pub fn thresholds(
    all: &[Threshold],
    catalog: &Catalog,
    bytes_max: usize,
    notes: &mut Vec<String>,
) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut text = HEAD.to_owned();
    for (at, threshold) in all.iter().enumerate() {
        let line = line(threshold);
        if HEAD.len() + bytes_max < text.len() + line.len() {
            let n = all.len() - at;
            let _ = writeln!(text, "({n} more are left out.)");
            notes.push(format!(
                "the model does not read the last {n} thresholds: there are too many"
            ));
            break;
        }
        text.push_str(&line);
    }
    notes.extend(all.iter().filter(|it| !is_known(it, catalog)).map(unknown));
    text
}

fn line(threshold: &Threshold) -> String {
    let column = quoted(&threshold.column);
    let mut line = match &threshold.dataset {
        Some(dataset) => format!("- {column} of {}", quoted(dataset)),
        None => format!("- {column}"),
    };
    let ranges = [("good", threshold.good), ("warning", threshold.warning), ("bad", threshold.bad)];
    let told = ranges.into_iter().filter_map(|(name, range)| Some(format!("{name} {}", range?)));
    let _ = write!(line, ": {}", told.collect::<Vec<_>>().join("; "));
    if let Some(unit) = &threshold.unit {
        let _ = write!(line, " (in {})", quoted(unit));
    }
    line + "\n"
}

fn is_known(threshold: &Threshold, catalog: &Catalog) -> bool {
    catalog.iter().any(|(name, dataset)| {
        threshold.dataset.as_ref().is_none_or(|it| it == name)
            && dataset.columns.iter().any(|it| it.name == threshold.column)
    })
}

fn unknown(threshold: &Threshold) -> String {
    let place = match &threshold.dataset {
        Some(dataset) => format!("`{dataset}`"),
        None => "any dataset".to_owned(),
    };
    format!("the thresholds of `{}` rate nothing: no such column in {place}", threshold.column)
}

#[cfg(test)]
mod tests {
    use super::Range;

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
        check("10..5", Err("there is nothing from 10 to 5"));
        let example = "write a range such as `>= 10`, `< 5` or `5..10`";
        check("10", Err(example));
        check("> ten", Err(&format!("\"ten\" is no number; {example}")));
        check("> NaN", Err(&format!("\"NaN\" is no number; {example}")));
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
