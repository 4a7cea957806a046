//! Dates and times of a column as a terminal shows them: as short as the column allows.

use serde_json::Value;

/// The format of a column's dates and times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MomentFormat {
    /// `2024-02-29`: all are midnight.
    Day,
    /// `2024-02-29 09:30`: all seconds are zero.
    Minute,
    /// `2024-02-29 09:30:00`, with its fraction.
    Exact,
}

/// The parts of an ISO 8601 timestamp.
struct Moment<'a> {
    date: &'a str,
    minute: &'a str,
    /// `:00`, with its fraction.
    second: &'a str,
    /// `Z`, `+01:00`, or empty.
    zone: &'a str,
}

impl<'a> Moment<'a> {
    fn parse(text: &'a str) -> Option<Moment<'a>> {
        let (date, time) = text.split_once('T')?;
        let is_date = date.len() == 10 && date.bytes().all(|it| it.is_ascii_digit() || it == b'-');
        let at = time.find(['Z', '+', '-']).unwrap_or(time.len());
        let (time, zone) = time.split_at(at);
        let is_time = 8 <= time.len() && time.bytes().all(|it| matches!(it, b'0'..=b':' | b'.'));
        (is_date && is_time).then(|| Moment { date, minute: &time[..5], second: &time[5..], zone })
    }
}

impl MomentFormat {
    /// Chooses for all cells of a column; `None` when one of them is not a timestamp, or the column has
    /// none.
    ///
    /// Midnight with a time zone is a point in time and not a day, so it keeps its time.
    pub(crate) fn of<'a>(cells: impl Iterator<Item = &'a Value>) -> Option<MomentFormat> {
        let mut format = None;
        for cell in cells.filter(|it| !it.is_null()) {
            let moment = Moment::parse(cell.as_str()?)?;
            let is_minute = moment.second.bytes().all(|it| matches!(it, b':' | b'0' | b'.'));
            let needs = match moment {
                _ if !is_minute => MomentFormat::Exact,
                Moment { minute: "00:00", zone: "", .. } => MomentFormat::Day,
                _ => MomentFormat::Minute,
            };
            format = Some(format.map_or(needs, |it: MomentFormat| it.finer(needs)));
        }
        format
    }

    fn finer(self, other: MomentFormat) -> MomentFormat {
        match (self, other) {
            (MomentFormat::Exact, _) | (_, MomentFormat::Exact) => MomentFormat::Exact,
            (MomentFormat::Minute, _) | (_, MomentFormat::Minute) => MomentFormat::Minute,
            _ => MomentFormat::Day,
        }
    }

    /// Returns the timestamp as text.
    pub(crate) fn write(self, text: &str) -> String {
        match (self, Moment::parse(text)) {
            (MomentFormat::Day, Some(it)) => it.date.to_owned(),
            (MomentFormat::Minute, Some(it)) => format!("{} {}{}", it.date, it.minute, it.zone),
            (MomentFormat::Exact, Some(it)) => {
                format!("{} {}{}{}", it.date, it.minute, it.second, it.zone)
            }
            (_, None) => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::MomentFormat;

    #[track_caller]
    fn check(cells: &Value, expected: Option<&[&str]>) {
        let cells = cells.as_array().unwrap();
        let format = MomentFormat::of(cells.iter());
        let shown = format.map(|format| {
            cells.iter().filter_map(Value::as_str).map(|it| format.write(it)).collect::<Vec<_>>()
        });
        assert_eq!(
            shown.as_deref(),
            expected.map(|it| it.iter().map(ToString::to_string).collect::<Vec<_>>()).as_deref()
        );
    }

    #[test]
    fn a_column_of_midnights_is_one_of_days() {
        check(&json!(["2024-02-29T00:00:00", null]), Some(&["2024-02-29"]));
        check(
            &json!(["2024-02-29T00:00:00", "2024-03-01T09:30:00"]),
            Some(&["2024-02-29 00:00", "2024-03-01 09:30"]),
        );
        check(&json!(["2024-02-29T00:00:00Z"]), Some(&["2024-02-29 00:00Z"]));
    }

    #[test]
    fn seconds_stay_where_one_is_not_zero() {
        check(
            &json!(["2024-02-29T09:30:00", "2024-02-29T09:30:00.250000+01:00"]),
            Some(&["2024-02-29 09:30:00", "2024-02-29 09:30:00.250000+01:00"]),
        );
    }

    #[test]
    fn other_text_stays_as_it_is() {
        check(&json!(["2024-02-29T09:30:00", "soon"]), None);
        check(&json!(["2024-02-29T09:30"]), None);
        check(&json!([null]), None);
        check(&json!(["2024-02-29Tétéété"]), None);
    }
}
