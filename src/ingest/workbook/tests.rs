use calamine::{ExcelDateTime, ExcelDateTimeType};

use super::{
    DAY_MS, clock, compound, currency, iso_duration, iso_moment, milliseconds, moment, seconds,
};
use crate::cell_names::{cell_name, column_letters, row_name};

#[track_caller]
fn check_moment(serial: f64, is_1904: bool, expected: Option<&str>) {
    let value = ExcelDateTime::new(serial, ExcelDateTimeType::DateTime, is_1904);
    assert_eq!(moment(value, is_1904).as_deref(), expected, "{serial}");
}

#[test]
fn serial_numbers_are_days_as_spreadsheets_count_them() {
    check_moment(1.0, false, Some("1900-01-01"));
    check_moment(59.0, false, Some("1900-02-28"));
    check_moment(60.0, false, Some("1900-02-29"));
    check_moment(61.0, false, Some("1900-03-01"));
    check_moment(45_292.0, false, Some("2024-01-01"));
    check_moment(43_830.0, true, Some("2024-01-01"));
    check_moment(2_958_465.0, false, Some("9999-12-31"));
    check_moment(2_958_466.0, false, None);
    check_moment(-1.0, false, None);
}

#[test]
fn a_fraction_of_a_day_is_its_time_to_the_millisecond() {
    check_moment(45_292.5, false, Some("2024-01-01T12:00:00"));
    check_moment(45_292.0 + 1.0 / 3.0, false, Some("2024-01-01T08:00:00"));
    check_moment(45_292.999_999_999, false, Some("2024-01-02"));
    check_moment(0.25, false, Some("06:00:00"));
    check_moment(0.043_090_289_351_851_85, false, Some("01:02:03.001"));
}

#[test]
fn durations_are_seconds() {
    let check = |days: f64, expected: &str| {
        assert_eq!(milliseconds(days).map(seconds).as_deref(), Some(expected));
    };
    check(1.5, "129600");
    check(0.5 / 86_400.0, "0.5");
    check(-1.0, "-86400");
    assert_eq!(iso_duration("PT10H30M00S"), Some(37_800_000));
    assert_eq!(iso_duration("PT25H00M00.5S"), Some(DAY_MS + 3_600_500));
    assert_eq!(iso_duration("P1D"), None);
    assert_eq!(clock(37_800_000), "10:30:00");
}

#[test]
fn moments_of_open_document_lose_nothing_but_zeros() {
    assert_eq!(iso_moment("2024-01-05T00:00:00"), "2024-01-05");
    assert_eq!(iso_moment("2024-01-05T10:30:15.250000000"), "2024-01-05T10:30:15.25");
    assert_eq!(iso_moment("2024-01-05T10:30:15.000"), "2024-01-05T10:30:15");
}

#[test]
fn cells_are_called_as_spreadsheets_call_them() {
    assert_eq!(cell_name("Sheet1", 11, 1), "Sheet1!B12");
    assert_eq!(cell_name("It's 2024", 0, 0), "'It''s 2024'!A1");
    assert_eq!(row_name("Sheet1", 12), "Sheet1!12:12");
    assert_eq!(
        [0, 25, 26, 701, 702, 16_383].map(column_letters),
        ["A", "Z", "AA", "ZZ", "AAA", "XFD"]
    );
}

#[test]
fn number_formats_name_one_currency() {
    assert_eq!(currency("#,##0.00 \"€\""), Some("EUR"));
    assert_eq!(currency("[$£-809]#,##0"), Some("GBP"));
    assert_eq!(currency("$#,##0.00"), Some("USD"));
    assert_eq!(currency("[$-409]d-mmm-yy"), None);
    assert_eq!(currency("0.00"), None);
}

/// A workbook of one sheet, written by xlwt.
const OLD: &[u8] = include_bytes!("../../../fixtures/inputs/old.xls");

#[test]
fn an_old_workbook_is_looked_at_before_it_is_read() {
    compound::check(&mut &OLD[..], "old.xls").unwrap();
    let refused =
        |bytes: &[u8]| compound::check(&mut &bytes[..], "old.xls").unwrap_err().to_string();
    assert!(refused(&OLD[..600]).contains("its sectors are damaged"));
    // The record that says how far the sheet reaches.
    let at = OLD.windows(4).position(|it| it == [0x00, 0x02, 0x0e, 0x00]).unwrap() + 4;
    let mut far = OLD.to_vec();
    far[at..at + 8].copy_from_slice(&[9, 0, 0, 0, 1, 0, 0, 0]);
    assert!(refused(&far).contains("a sheet spans more than"));
}

#[test]
fn whatever_byte_of_an_old_workbook_is_wrong_nothing_panics() {
    for at in 0..OLD.len() {
        for byte in [0x00, 0x01, 0x80, 0xff] {
            let mut bytes = OLD.to_vec();
            bytes[at] = byte;
            // Whether it is refused is another matter.
            let _ = compound::check(&mut &bytes[..], "old.xls");
        }
    }
}
