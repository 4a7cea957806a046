//! Seconds as dates and times.

use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Unit};

use crate::plan::Type;

/// Returns the date or time at so many seconds since 1970, or since midnight; None outside the calendar.
///
/// A date is the day that the moment is in; others are rounded to the microsecond.
pub(super) fn moment(seconds: f64, dtype: Type) -> Option<String> {
    let since = SignedDuration::try_from_secs_f64(seconds).ok()?;
    let since = since.round(Unit::Microsecond).ok()?;
    if dtype == Type::Time {
        return Some(Time::midnight().checked_add(since).ok()?.to_string());
    }
    let epoch: DateTime = Date::constant(1970, 1, 1).to_datetime(Time::midnight());
    let moment = epoch.checked_add(since).ok()?;
    Some(match dtype {
        Type::Date => moment.date().to_string(),
        Type::Instant => format!("{moment}Z"),
        _ => moment.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::moment;
    use crate::plan::Type;

    #[test]
    fn seconds_are_written_as_the_type_is() {
        for (seconds, dtype, expected) in [
            (0.0, Type::Date, Some("1970-01-01")),
            (-1.0, Type::Date, Some("1969-12-31")),
            (129_600.0, Type::Date, Some("1970-01-02")),
            (0.25, Type::Timestamp, Some("1970-01-01T00:00:00.25")),
            (86_400.0, Type::Instant, Some("1970-01-02T00:00:00Z")),
            (3_661.0, Type::Time, Some("01:01:01")),
            (1e300, Type::Timestamp, None),
        ] {
            assert_eq!(moment(seconds, dtype).as_deref(), expected, "{seconds} {dtype:?}");
        }
    }
}
