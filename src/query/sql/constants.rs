//! Constants: dates, times and intervals as people write them.

use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Span};

/// A length of time as calendars count it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Interval {
    pub months: i64,
    pub days: i64,
    /// Microseconds.
    pub micros: i64,
}

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// Microseconds of a day.
pub(crate) const DAY_MICROS: i64 = 86_400_000_000;

/// Reads `2024-02-29`: days since 1970-01-01.
pub(crate) fn date(text: &str) -> Option<i32> {
    let text = text.trim();
    let mut parts = text.splitn(3, ['-', '/']);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let date = Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()?;
    Some(days_of(date))
}

fn days_of(date: Date) -> i32 {
    let span = EPOCH.date().until(date).unwrap_or_default();
    span.get_days()
}

/// Reads `2024-02-29 09:30:00.5`, with a `T` as well, or a date alone: microseconds since 1970.
pub(crate) fn timestamp(text: &str) -> Option<i64> {
    let text = text.trim().trim_end_matches('Z');
    let (day, clock) = text.split_once([' ', 'T']).unwrap_or((text, "00:00"));
    i64::from(date(day)?).checked_mul(DAY_MICROS)?.checked_add(time(clock)?)
}

/// Reads `09:30[:00[.5]]`: microseconds since midnight.
pub(crate) fn time(text: &str) -> Option<i64> {
    let text = text.trim();
    let text = if text.matches(':').count() == 1 { format!("{text}:00") } else { text.to_owned() };
    let time: Time = text.parse().ok()?;
    let since = time.duration_since(Time::midnight());
    i64::try_from(since.as_micros()).ok()
}

/// Returns the date and the time of microseconds since 1970.
pub(crate) fn split_micros(micros: i64) -> (i32, i64) {
    let days = i32::try_from(micros.div_euclid(DAY_MICROS)).unwrap_or(i32::MAX);
    (days, micros.rem_euclid(DAY_MICROS))
}

/// Adds months to a day; the last day of the month where there is no such day.
pub(crate) fn add_months(days: i32, months: i32) -> Option<i32> {
    let moment = EPOCH.checked_add(SignedDuration::from_hours(24 * i64::from(days))).ok()?;
    let date = moment.date().checked_add(Span::new().try_months(months).ok()?).ok()?;
    Some(days_of(date))
}

pub(crate) fn date_text(days: i32) -> Option<String> {
    let moment = EPOCH.checked_add(SignedDuration::from_hours(24 * i64::from(days))).ok()?;
    Some(moment.date().to_string())
}

/// Reads `1 month`, `1 year 2 days`, `02:30:00`, or a number with the unit beside it.
pub(crate) fn interval(text: &str, unit: Option<&str>) -> Option<Interval> {
    let mut found = Interval::default();
    let words: Vec<&str> = text.split_whitespace().collect();
    if let (Some(unit), [number]) = (unit, &words[..]) {
        return found.add(number.parse().ok()?, unit).then_some(found);
    }
    if unit.is_some() || words.is_empty() {
        return None;
    }
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word.contains(':') {
            let is_negative = word.starts_with('-');
            let micros = time(word.trim_start_matches('-'))?;
            found.micros += if is_negative { -micros } else { micros };
            continue;
        }
        let n_digits = word.find(|it: char| it.is_alphabetic()).unwrap_or(word.len());
        let (number, attached) = word.split_at(n_digits);
        let unit = if attached.is_empty() { words.next()? } else { attached };
        if !found.add(number.parse().ok()?, unit) {
            return None;
        }
    }
    Some(found)
}

impl Interval {
    /// Adds a number of units; false when there is no such unit, or the number does not fit.
    pub(crate) fn add(&mut self, number: f64, unit: &str) -> bool {
        /// Whole numbers beyond this are not exact in a float.
        const EXACT: f64 = 9e15;
        let unit = unit.to_lowercase();
        let unit = unit.strip_suffix('s').filter(|it| 1 < it.len()).unwrap_or(&unit);
        let whole = |factor: f64| {
            let value = number * factor;
            #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
            (value.fract() == 0.0 && value.abs() < EXACT).then_some(value as i64)
        };
        let (field, factor): (&mut i64, f64) = match unit {
            "millennium" | "millennia" => (&mut self.months, 12_000.0),
            "century" | "centurie" => (&mut self.months, 1_200.0),
            "decade" => (&mut self.months, 120.0),
            "year" | "yr" | "y" => (&mut self.months, 12.0),
            "quarter" => (&mut self.months, 3.0),
            "month" | "mon" => (&mut self.months, 1.0),
            "week" | "w" => (&mut self.days, 7.0),
            "day" | "d" => (&mut self.days, 1.0),
            "hour" | "hr" | "h" => (&mut self.micros, 3.6e9),
            "minute" | "min" | "m" => (&mut self.micros, 6e7),
            "second" | "sec" | "" => (&mut self.micros, 1e6),
            "millisecond" | "m s" => (&mut self.micros, 1e3),
            "microsecond" | "u" => (&mut self.micros, 1.0),
            _ => return false,
        };
        match whole(factor).and_then(|it| field.checked_add(it)) {
            Some(sum) => {
                *field = sum;
                true
            }
            None => false,
        }
    }

    /// Returns the opposite.
    pub(crate) fn negated(self) -> Interval {
        Interval { months: -self.months, days: -self.days, micros: -self.micros }
    }
}

#[cfg(test)]
mod tests {
    use super::{Interval, date, date_text, interval, split_micros, time, timestamp};

    #[test]
    fn dates_and_times_are_read_as_people_write_them() {
        assert_eq!(date("1970-01-02"), Some(1));
        assert_eq!(date("1969-12-31"), Some(-1));
        assert_eq!(date("2024-2-29"), Some(19_782));
        assert_eq!(date("2023-02-29"), None);
        assert_eq!(time("09:30"), Some(34_200_000_000));
        assert_eq!(time("09:30:00.5"), Some(34_200_500_000));
        assert_eq!(timestamp("1970-01-02T00:00:01"), Some(86_401_000_000));
        assert_eq!(timestamp("1970-01-02"), Some(86_400_000_000));
        assert_eq!(timestamp("1970-01-02 25:00"), None);
        assert_eq!(date_text(19_782).as_deref(), Some("2024-02-29"));
        assert_eq!(split_micros(-1), (-1, 86_399_999_999));
    }

    #[test]
    fn intervals_add_up_what_they_name() {
        let of = |months, days, micros| Some(Interval { months, days, micros });
        assert_eq!(interval("1 year 2 days", None), of(12, 2, 0));
        assert_eq!(interval("3", Some("MONTH")), of(3, 0, 0));
        assert_eq!(interval("1.5 hours", None), of(0, 0, 5_400_000_000));
        assert_eq!(interval("02:30:00", None), of(0, 0, 9_000_000_000));
        assert_eq!(interval("7d", None), of(0, 7, 0));
        assert_eq!(interval("soon", None), None);
        assert_eq!(interval("1.5 months", None), None);
    }
}
