//! The Gregorian calendar as arithmetic on days and microseconds since 1970-01-01, for any year.

use csv_agent_text::calendar::days_from_civil;

use crate::plan::{DatePart, DateUnit};

/// Microseconds of a second.
pub(super) const SECOND: i64 = 1_000_000;
/// Microseconds of a minute.
const MINUTE: i64 = 60 * SECOND;
/// Microseconds of an hour.
const HOUR: i64 = 60 * MINUTE;
/// Microseconds of a day.
pub(super) const DAY: i64 = 24 * HOUR;

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Civil {
    pub(super) year: i64,
    /// From 1.
    pub(super) month: i64,
    /// From 1.
    pub(super) day: i64,
}

impl Civil {
    /// Returns the day so many days after 1970-01-01.
    ///
    /// Source: as for [`days_from_civil`], whose inverse it is.
    pub(super) fn from_days(days: i64) -> Civil {
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        Civil { year: year_of_era + era * 400 + i64::from(month <= 2), month, day }
    }

    /// Returns the days since 1970-01-01.
    pub(super) fn days(self) -> i64 {
        days_from_civil(self.year, self.month, self.day)
    }

    /// Returns the day when there is such a day in the calendar.
    pub(super) fn checked(year: i64, month: i64, day: i64) -> Option<Civil> {
        let is_valid = year.abs() <= 1_000_000
            && (1..=12).contains(&month)
            && (1..=days_of_month(year, month)).contains(&day);
        is_valid.then_some(Civil { year, month, day })
    }
}

pub(super) fn days_of_month(year: i64, month: i64) -> i64 {
    let is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 31,
    }
}

/// Returns 0 for Monday to 6 for Sunday.
pub(super) fn weekday(days: i64) -> i64 {
    // 1970-01-01 was a Thursday.
    (days + 3).rem_euclid(7)
}

/// Returns the day of the year, from 1.
pub(super) fn day_of_year(days: i64) -> i64 {
    let year = Civil::from_days(days).year;
    days - Civil { year, month: 1, day: 1 }.days() + 1
}

/// Returns year and number of the ISO 8601 week: the one that its Thursday is in.
pub(super) fn iso_week(days: i64) -> (i64, i64) {
    let thursday = days - weekday(days) + 3;
    (Civil::from_days(thursday).year, (day_of_year(thursday) - 1) / 7 + 1)
}

/// Returns a part of a time, but not [`DatePart::Epoch`], for which it is the whole seconds.
pub(super) fn part(micros: i64, part: DatePart) -> i64 {
    let days = micros.div_euclid(DAY);
    let of_day = micros.rem_euclid(DAY);
    let civil = Civil::from_days(days);
    match part {
        DatePart::Year => civil.year,
        DatePart::Quarter => (civil.month - 1) / 3 + 1,
        DatePart::Month => civil.month,
        DatePart::Week => iso_week(days).1,
        DatePart::Day => civil.day,
        DatePart::DayOfWeek => (weekday(days) + 1) % 7,
        DatePart::IsoDayOfWeek => weekday(days) + 1,
        DatePart::DayOfYear => day_of_year(days),
        DatePart::IsoYear => iso_week(days).0,
        DatePart::Hour => of_day / HOUR,
        DatePart::Minute => of_day / MINUTE % 60,
        DatePart::Second => of_day / SECOND % 60,
        DatePart::Millisecond => of_day % MINUTE / 1000,
        DatePart::Microsecond => of_day % MINUTE,
        DatePart::Epoch => micros.div_euclid(SECOND),
    }
}

/// Returns the number of the unit that a time is in; consecutive units have consecutive numbers.
pub(super) fn unit_number(micros: i64, unit: DateUnit) -> i64 {
    let days = micros.div_euclid(DAY);
    let civil = Civil::from_days(days);
    match unit {
        DateUnit::Decade => civil.year.div_euclid(10),
        DateUnit::Year => civil.year,
        DateUnit::Quarter => civil.year * 4 + (civil.month - 1) / 3,
        DateUnit::Month => civil.year * 12 + civil.month - 1,
        DateUnit::Week => (days + 3).div_euclid(7),
        DateUnit::Day => days,
        DateUnit::Hour => micros.div_euclid(HOUR),
        DateUnit::Minute => micros.div_euclid(MINUTE),
        DateUnit::Second => micros.div_euclid(SECOND),
        DateUnit::Millisecond => micros.div_euclid(1000),
        DateUnit::Microsecond => micros,
    }
}

/// Returns the beginning of the unit that a time is in. It saturates at the first time there is.
pub(super) fn truncate(micros: i64, unit: DateUnit) -> i64 {
    let number = unit_number(micros, unit);
    let first = |year, month| Civil { year, month, day: 1 }.days().saturating_mul(DAY);
    match unit {
        DateUnit::Decade => first(number * 10, 1),
        DateUnit::Year => first(number, 1),
        DateUnit::Quarter => first(number.div_euclid(4), number.rem_euclid(4) * 3 + 1),
        DateUnit::Month => first(number.div_euclid(12), number.rem_euclid(12) + 1),
        DateUnit::Week => (number * 7 - 3).saturating_mul(DAY),
        DateUnit::Day => number.saturating_mul(DAY),
        DateUnit::Hour => number.saturating_mul(HOUR),
        DateUnit::Minute => number.saturating_mul(MINUTE),
        DateUnit::Second => number.saturating_mul(SECOND),
        DateUnit::Millisecond => number.saturating_mul(1000),
        DateUnit::Microsecond => number,
    }
}

/// Returns the same day so many months later, or the last day of that month. `None` beyond a million
/// years.
pub(super) fn add_months(days: i64, months: i64) -> Option<i64> {
    let civil = Civil::from_days(days);
    let number = (civil.year * 12 + civil.month - 1).checked_add(months)?;
    let (year, month) = (number.div_euclid(12), number.rem_euclid(12) + 1);
    let day = civil.day.min(days_of_month(year, month));
    Civil::checked(year, month, day).map(Civil::days)
}

/// Returns the last day of the month of a day.
pub(super) fn last_day(days: i64) -> i64 {
    let civil = Civil::from_days(days);
    days - civil.day + days_of_month(civil.year, civil.month)
}
