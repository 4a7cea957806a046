//! Conditions as pandas: which rows of a frame count.

use super::{Writer, listed, number, quoted, sign};
use crate::lexicon::TimeUnit;
use crate::reading::{Filter, Op, Part, Scalar, Test, Within};
use crate::schema::Kind;

impl Writer<'_> {
    /// Returns the condition for rows to count.
    pub(super) fn mask(&mut self, filters: &[Filter]) -> String {
        let tests: Vec<String> = filters.iter().map(|it| self.test(it)).collect();
        match &tests[..] {
            [one] => unwrapped(one).to_owned(),
            tests => tests.join(" & "),
        }
    }

    fn test(&mut self, filter: &Filter) -> String {
        let place = filter.place;
        let series = self.series(place);
        let has_missing = 0 < self.tables[place.table].columns[place.column].n_missing;
        let not = filter.is_negated;
        let positive = match &filter.test {
            Test::Is(op, Scalar::Number(value)) => {
                let op = if not { opposite(*op) } else { *op };
                let known = if op == Op::Ne && has_missing {
                    format!(" & {series}.notna()")
                } else {
                    String::new()
                };
                return format!("({series} {} {}){known}", sign(op), number(*value));
            }
            Test::OneOf(values) => {
                let values: Vec<String> = values.iter().map(|it| number(*it)).collect();
                format!("{series}.isin([{}])", values.join(", "))
            }
            Test::Is(op, Scalar::Day(day)) => {
                let op = if not { opposite(*op) } else { *op };
                let time = self.time(place);
                return format!("({time} {} \"{day}\")", sign(op));
            }
            Test::Is(op, Scalar::Clock(clock)) => {
                let op = if not { opposite(*op) } else { *op };
                let time = self.time(place);
                return format!(
                    "({time} - {time}.dt.normalize() {} pd.Timedelta(\"{clock}\"))",
                    sign(op)
                );
            }
            Test::IsTo(op, other) => {
                let op = if not { opposite(*op) } else { *op };
                let is_time = self.kind(place).is_time() || self.kind(place) == Kind::Clock;
                let (left, right) = if is_time {
                    (self.time(place), self.time(*other))
                } else {
                    (series, self.series(*other))
                };
                return format!("({left} {} {right})", sign(op));
            }
            Test::True if let Some(yes) = &self.tables[place.table].columns[place.column].yes => {
                let op = if not { "!=" } else { "==" };
                let known = if not { format!(" & {series}.notna()") } else { String::new() };
                return format!("({series} {op} {}){known}", quoted(yes));
            }
            Test::True => {
                return format!("{series}.eq({})", if not { "False" } else { "True" });
            }
            Test::Missing => {
                return format!("{series}.{}()", if not { "notna" } else { "isna" });
            }
            Test::Absent(words) => {
                let words = words.join("|");
                let test = format!(
                    "{series}.str.match(r\"(?:{words})(?![a-z0-9]|[.,:/-]\\d)\", case=False, na="
                );
                return format!("{}{test}True)", if not { "~" } else { "" });
            }
            Test::In(values) => match (&values[..], not) {
                ([one], false) => return format!("({series} == {})", quoted(one)),
                ([one], true) => {
                    let known =
                        if has_missing { format!(" & {series}.notna()") } else { String::new() };
                    return format!("({series} != {}){known}", quoted(one));
                }
                (values, _) => format!("{series}.isin({})", listed(values)),
            },
            Test::Text(within, text) => text_test(&series, *within, text),
            Test::Part(part, values) => part_test(&self.time(place), *part, values),
            Test::Last(n, _) if self.kind(place) == Kind::Whole => {
                format!("({series} > {series}.max() - {n})")
            }
            Test::Last(n, unit) => {
                let time = self.time(place);
                let letter = match unit {
                    TimeUnit::Year => "Y",
                    TimeUnit::Quarter => "Q",
                    TimeUnit::Month => "M",
                    TimeUnit::Week => "W",
                    TimeUnit::Day => "D",
                    TimeUnit::Hour => "h",
                };
                let period = format!("{time}.dt.to_period(\"{letter}\")");
                format!("({period} > {period}.max() - {n})")
            }
        };
        match (not, has_missing) {
            (false, _) => positive,
            (true, false) => format!("~{positive}"),
            (true, true) => format!("~{positive} & {series}.notna()"),
        }
    }
}

/// Takes off the parentheses around a condition that stands alone.
fn unwrapped(test: &str) -> &str {
    let inner = test.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    inner.filter(|it| !it.contains(") & ")).unwrap_or(test)
}

/// Returns what holds when another does not.
pub(crate) fn opposite(op: Op) -> Op {
    match op {
        Op::Gt => Op::Le,
        Op::Ge => Op::Lt,
        Op::Lt => Op::Ge,
        Op::Le => Op::Gt,
        Op::Eq => Op::Ne,
        Op::Ne => Op::Eq,
    }
}

/// Writes the condition for text to hold another.
fn text_test(series: &str, within: Within, text: &str) -> String {
    let text = quoted(text);
    match within {
        Within::Contains => {
            format!("{series}.str.contains({text}, case=False, regex=False, na=False)")
        }
        Within::Starts => {
            format!("{series}.str.lower().str.startswith({text}.lower(), na=False)")
        }
        Within::Ends => {
            format!("{series}.str.lower().str.endswith({text}.lower(), na=False)")
        }
    }
}

/// Writes the condition for a part of a time to be one of some values.
fn part_test(time: &str, part: Part, values: &[i64]) -> String {
    let (of, shift) = match part {
        Part::Year => ("year", 0),
        Part::Quarter => ("quarter", 0),
        Part::Month => ("month", 0),
        Part::Day => ("day", 0),
        Part::Weekday => ("dayofweek", 1),
        Part::Hour => ("hour", 0),
    };
    match values {
        [one] => format!("({time}.dt.{of} == {})", one - shift),
        values => {
            let values: Vec<String> = values.iter().map(|it| (it - shift).to_string()).collect();
            format!("{time}.dt.{of}.isin([{}])", values.join(", "))
        }
    }
}
