//! Dates and times on an axis: parsing, round steps, two-line labels.

use jiff::civil::{Date, DateTime};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};

/// The precision of an axis label: the coarsest that distinguishes neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// 2024.
    Year,
    /// Jan, with the year beneath where it changes.
    Month,
    /// 5 Jan, with the year beneath where it changes.
    Day,
    /// 14:30, with the day beneath where it changes.
    Minute,
    /// 14:30:05, with the day beneath where it changes.
    Second,
}

const DAY_S: i64 = 86_400;
/// Steps of less than a month, in seconds.
const STEPS_S: [i64; 16] = [
    1,
    5,
    15,
    30,
    60,
    300,
    900,
    1_800,
    3_600,
    3 * 3_600,
    6 * 3_600,
    12 * 3_600,
    DAY_S,
    2 * DAY_S,
    7 * DAY_S,
    14 * DAY_S,
];
/// Steps of a month and more, in months.
const STEPS_MONTHS: [i64; 12] = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1_200, 12_000];
/// Minimum number of month-end dates that are not a coincidence.
const PERIODS_MIN: usize = 3;
/// The last day that every month has.
const DAYS_IN_ALL_MONTHS: i8 = 28;
/// How much finer a step may be than requested.
const FINER_MAX: f64 = 1.25;
/// A Monday, so that weekly steps begin on one.
const MONDAY_S: i64 = 4 * DAY_S;

/// Parses an ISO 8601 date, month, date and time, or instant; an instant is converted to UTC.
pub fn parse(text: &str) -> Option<DateTime> {
    let bytes = text.as_bytes();
    if bytes.len() < 7 || bytes[4] != b'-' || !bytes[..4].iter().all(u8::is_ascii_digit) {
        return None;
    }
    if bytes.len() == 7 {
        return format!("{text}-01").parse::<Date>().ok().map(|it| it.at(0, 0, 0, 0));
    }
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(instant.to_zoned(TimeZone::UTC).datetime());
    }
    text.parse::<DateTime>().ok()
}

/// Returns seconds since 1970-01-01 00:00 of the same calendar.
pub fn seconds(time: DateTime) -> f64 {
    time.duration_since(epoch()).as_secs_f64()
}

fn epoch() -> DateTime {
    Date::constant(1970, 1, 1).at(0, 0, 0, 0)
}

fn at_seconds(seconds: i64) -> Option<DateTime> {
    epoch().checked_add(SignedDuration::from_secs(seconds)).ok()
}

/// Returns the coarsest unit that distinguishes these times.
pub fn unit_of<'a>(times: impl Iterator<Item = &'a DateTime>) -> Unit {
    let unit = |it: &DateTime| {
        if it.second() != 0 {
            Unit::Second
        } else if (it.hour(), it.minute()) != (0, 0) {
            Unit::Minute
        } else if it.day() != 1 {
            Unit::Day
        } else if it.month() != 1 {
            Unit::Month
        } else {
            Unit::Year
        }
    };
    times.map(unit).max().unwrap_or(Unit::Year)
}

/// Returns the two lines of a label; the second is empty where it would repeat that of `before`.
pub fn label(time: DateTime, before: Option<DateTime>, unit: Unit) -> (String, String) {
    let year = || {
        if before.is_none_or(|it| it.year() != time.year()) {
            time.year().to_string()
        } else {
            String::new()
        }
    };
    let day = || {
        if before.is_none_or(|it| it.date() != time.date()) {
            time.strftime("%-d %b %Y").to_string()
        } else {
            String::new()
        }
    };
    match unit {
        Unit::Year => (time.year().to_string(), String::new()),
        Unit::Month => (time.strftime("%b").to_string(), year()),
        Unit::Day => (time.strftime("%-d %b").to_string(), year()),
        Unit::Minute => (time.strftime("%H:%M").to_string(), day()),
        Unit::Second => (time.strftime("%H:%M:%S").to_string(), day()),
    }
}

/// Returns a one-line label that needs no context.
pub(crate) fn full_label(time: DateTime, unit: Unit) -> String {
    let format = match unit {
        Unit::Year => "%Y",
        Unit::Month => "%b %Y",
        Unit::Day => "%-d %b %Y",
        Unit::Minute => "%-d %b %Y %H:%M",
        Unit::Second => "%-d %b %Y %H:%M:%S",
    };
    time.strftime(format).to_string()
}

/// Returns the periods that times represent, as their first days. A month's figure is often dated 31
/// January and belongs under January; figures dated 1 July of each year are yearly. Other times are
/// unchanged.
pub fn periods(times: Vec<Option<DateTime>>) -> Vec<Option<DateTime>> {
    let mut known = times.iter().flatten();
    let is_end = |it: &DateTime| {
        it.date() == it.date().last_of_month() && it.time() == jiff::civil::Time::midnight()
    };
    let Some(first) = known.clone().next().filter(|_| PERIODS_MIN <= known.clone().count()) else {
        return times;
    };
    let is_midnight = |it: &DateTime| it.time() == jiff::civil::Time::midnight();
    let day = (first.month(), first.day());
    let is_year = known.clone().all(|it| (it.month(), it.day()) == day && is_midnight(it))
        && known.clone().any(|it| it.year() != first.year());
    if !is_year && !known.all(is_end) {
        return times;
    }
    let first = |it: DateTime| {
        let date = if is_year { it.date().first_of_year() } else { it.date().first_of_month() };
        date.at(0, 0, 0, 0)
    };
    times.into_iter().map(|it| it.map(first)).collect()
}

/// Returns the times from the first to the last at their own step, if they are regular: ascending, and
/// at least half of them one step after the previous one. Times between them are gaps in the data.
pub fn filled(times: &[DateTime], n_max: usize) -> Option<Vec<DateTime>> {
    let first = *times.first()?;
    let is_monthly = |it: &DateTime| {
        (it.day(), it.time()) == (first.day(), first.time()) && it.day() <= DAYS_IN_ALL_MONTHS
    };
    let is_monthly = times.iter().all(is_monthly);
    let key = |it: &DateTime| if is_monthly { month_of(*it) } else { whole(seconds(*it)) };
    let keys = regular(&times.iter().map(key).collect::<Vec<_>>(), n_max)?;
    let in_month = |it: DateTime| it.with().day(first.day()).time(first.time()).build().ok();
    let time = |it: i64| if is_monthly { at_month(it).and_then(in_month) } else { at_seconds(it) };
    keys.into_iter().map(time).collect()
}

/// Returns every number from the first to the last at their own step, if they are regular.
pub fn regular(keys: &[i64], n_max: usize) -> Option<Vec<i64>> {
    let steps = keys.windows(2).map(|it| it[1].checked_sub(it[0]));
    let steps: Vec<_> = steps.collect::<Option<Vec<_>>>()?;
    if steps.is_empty() || steps.iter().any(|it| *it <= 0) {
        return None;
    }
    let step = steps.iter().copied().fold(0, divisor);
    let n_single = steps.iter().filter(|it| **it == step).count();
    let (first, last) = (*keys.first()?, *keys.last()?);
    let n_steps = usize::try_from(last.checked_sub(first)? / step).ok()?;
    let is_regular = steps.len() <= 2 * n_single && n_steps < n_max;
    is_regular.then(|| (0..).map(|it| first + it * step).take(n_steps + 1).collect())
}

fn divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Returns round times within a range, in about `n_steps` steps no finer than `finest`, and the unit of
/// their labels.
pub fn ticks(first: DateTime, last: DateTime, n_steps: u32, finest: Unit) -> (Vec<DateTime>, Unit) {
    let (low, high) = (seconds(first), seconds(last));
    let wanted = (high - low) / f64::from(n_steps);
    let step_min = match finest {
        Unit::Second => 1,
        Unit::Minute => 60,
        Unit::Day => DAY_S,
        Unit::Month | Unit::Year => i64::MAX,
    };
    let fits = |it: &&i64| wanted <= seconds_of(**it) * FINER_MAX && step_min <= **it;
    if let Some(step) = STEPS_S.iter().find(fits) {
        return (
            ticks_of_seconds(low, high, *step),
            match *step {
                it if DAY_S <= it => Unit::Day,
                it if 60 <= it => Unit::Minute,
                _ => Unit::Second,
            },
        );
    }
    let months = wanted / (30.44 * seconds_of(DAY_S));
    let months_min = if finest == Unit::Year { 12 } else { 1 };
    let fits = |it: &&i64| months <= seconds_of(**it) * FINER_MAX && months_min <= **it;
    let step = STEPS_MONTHS.iter().find(fits).unwrap_or(&12_000);
    let unit = if *step < 12 { Unit::Month } else { Unit::Year };
    (ticks_of_months(first, last, *step), unit)
}

fn ticks_of_seconds(low: f64, high: f64, step: i64) -> Vec<DateTime> {
    let origin = if 7 * DAY_S <= step { MONDAY_S } else { 0 };
    let start = whole(((low - seconds_of(origin)) / seconds_of(step)).ceil());
    let times = (start..).map(|it| it * step + origin).take_while(|it| seconds_of(*it) <= high);
    times.take(100).filter_map(at_seconds).collect()
}

fn ticks_of_months(first: DateTime, last: DateTime, step: i64) -> Vec<DateTime> {
    let start = month_of(first) / step * step;
    let times = (0..100).filter_map(|it| at_month(start + it * step));
    times.filter(|it| first <= *it && *it <= last).collect()
}

/// Returns the number of the month, counted from year 0.
fn month_of(time: DateTime) -> i64 {
    i64::from(time.year()) * 12 + i64::from(time.month()) - 1
}

/// Returns the beginning of a month.
fn at_month(month: i64) -> Option<DateTime> {
    let year = i16::try_from(month.div_euclid(12)).ok()?;
    let date = Date::new(year, i8::try_from(month.rem_euclid(12) + 1).ok()?, 1).ok()?;
    Some(date.at(0, 0, 0, 0))
}

#[expect(clippy::cast_possible_truncation, reason = "years 0 to 9999 in seconds fit")]
fn whole(value: f64) -> i64 {
    value as i64
}

#[expect(clippy::cast_precision_loss, reason = "years 0 to 9999 in seconds are exact in f64")]
fn seconds_of(value: i64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::{Unit, filled, full_label, label, parse, periods, ticks, unit_of};

    #[track_caller]
    fn check(first: &str, last: &str, unit: Unit, labels: &[&str]) {
        let (times, found) = ticks(parse(first).unwrap(), parse(last).unwrap(), 6, Unit::Second);
        let mut before = None;
        let lines = times.into_iter().map(|time| {
            let (upper, lower) = label(time, before.replace(time), found);
            if lower.is_empty() { upper } else { format!("{upper}/{lower}") }
        });
        assert_eq!(
            (found, lines.collect::<Vec<_>>()),
            (unit, labels.iter().map(|it| (*it).to_owned()).collect())
        );
    }

    #[test]
    fn steps_follow_the_calendar() {
        let quarters = ["Jan/2023", "Apr", "Jul", "Oct", "Jan/2024", "Apr"];
        check("2023-01-01", "2024-06-30", Unit::Month, &quarters);
        check("1984-01-01", "2024-01-01", Unit::Year, &["1990", "2000", "2010", "2020"]);
        check(
            "2024-02-26",
            "2024-03-08",
            Unit::Day,
            &["27 Feb/2024", "29 Feb", "2 Mar", "4 Mar", "6 Mar", "8 Mar"],
        );
        let night = ["21:00/5 Jan 2024", "00:00/6 Jan 2024", "03:00", "06:00"];
        check("2024-01-05T20:00:00", "2024-01-06T07:30:00", Unit::Minute, &night);
    }

    #[test]
    fn only_iso_dates_are_dates() {
        for text in [
            "2024-01-05",
            "2024-01",
            "2024-01-05T10:00:00",
            "2024-01-05 10:00:00",
            "2024-01-05T10:00:00.5+02:00",
        ] {
            assert!(parse(text).is_some(), "{text}");
        }
        for text in ["2024", "20240105", "1234-56", "12345-6", "Q1-2024", "2024-W01", "2024-01-05x"]
        {
            assert!(parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_unit_is_the_coarsest_that_tells_them_apart() {
        let months = ["2024-01-01", "2024-02-01"].map(|it| parse(it).unwrap());
        assert_eq!(unit_of(months.iter()), Unit::Month);
        assert_eq!(full_label(months[1], Unit::Month), "Feb 2024");
    }

    #[test]
    fn ticks_are_no_finer_than_the_data() {
        let (first, last) = (parse("2023-01").unwrap(), parse("2023-04").unwrap());
        assert_eq!(ticks(first, last, 8, Unit::Month).0.len(), 4);
        assert_eq!(ticks(first, last, 8, Unit::Year), (vec![first], Unit::Year));
    }

    #[track_caller]
    fn check_filled(times: &[&str], n: Option<usize>) {
        let times: Vec<_> = times.iter().map(|it| parse(it).unwrap()).collect();
        assert_eq!(filled(&times, 300).map(|it| it.len()), n, "{times:?}");
    }

    #[test]
    fn a_missing_step_among_regular_ones_is_a_gap() {
        check_filled(&["2023-01", "2023-02", "2023-04", "2023-05"], Some(5));
        check_filled(&["1990-01-01", "2000-01-01", "2020-01-01"], Some(4));
        check_filled(&["2024-01-05", "2024-01-08", "2024-01-09"], Some(5));
        check_filled(&["2024-01-15", "2024-03-15", "2024-04-15"], Some(4));
        check_filled(&["2024-01-05", "2024-01-09", "2024-02-11"], None);
        check_filled(&["2024-03-01", "2024-01-01"], None);
        check_filled(&["2024-03-01"], None);
        check_filled(&["1000-01-01", "1000-01-02", "2024-01-02"], None);
    }

    #[test]
    fn dates_that_stand_for_months_and_years_are_told_as_such() {
        let read = |it: [&str; 3]| periods(it.iter().map(|it| parse(it)).collect());
        let unit = |it: &[Option<_>]| unit_of(it.iter().flatten());
        assert_eq!(unit(&read(["2023-01-31", "2023-02-28", "2023-03-31"])), Unit::Month);
        assert_eq!(unit(&read(["2021-12-31", "2022-12-31", "2023-12-31"])), Unit::Year);
        assert_eq!(unit(&read(["2021-07-15", "2022-07-15", "2024-07-15"])), Unit::Year);
        assert_eq!(unit(&read(["2023-01-31", "2023-02-28", "2023-03-30"])), Unit::Day);
        assert_eq!(unit(&read(["2023-07-15", "2023-07-15", "2023-07-15"])), Unit::Day);
    }
}
