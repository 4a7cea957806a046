//! How to convert the values of a column from text, for another program.

use csv_agent_types::catalog::{Column, DType, SparkReading, ValueOfText};

use crate::IngestOptions;
use crate::builder::Guess;
use crate::local_dates::DateOrder;
use crate::number::{DecimalMark, DigitGrouping, NumberForm};
use crate::parse::YES_NO;
use crate::type_evidence::{TypeEvidence, USUAL};
use crate::type_inference::ValueForm;

/// Returns a column, and how to convert its values from text.
pub(super) fn column_of(
    column: Column,
    guess: &Guess,
    seen: TypeEvidence,
    options: &IngestOptions,
) -> (Column, SparkReading) {
    let told = options.nulls.clone();
    // An empty quoted cell is text, and missing in any other column.
    let usual = || USUAL.iter().map(ToString::to_string).collect();
    let nulls = || [vec![String::new()], told.clone().unwrap_or_else(usual)].concat();
    let (value, note) = value_of(guess, seen);
    let (dtype, nulls) = match value {
        // `\N` is never a real value.
        ValueOfText::String => (DType::String, told.unwrap_or_else(|| vec!["\\N".to_owned()])),
        _ => (column.dtype, nulls()),
    };
    let note = note.or(column.note);
    (Column { dtype, nulls: None, note, ..column }, SparkReading::Text { nulls, value })
}

fn value_of(guess: &Guess, seen: TypeEvidence) -> (ValueOfText, Option<String>) {
    let number = |decimal, thousands| ValueOfText::Number { decimal, thousands };
    let value = match (guess.dtype, guess.form) {
        (DType::String, _) => ValueOfText::String,
        (DType::Time, _) => {
            let note = "text: Spark has no time of day in all versions".to_owned();
            return (ValueOfText::String, Some(note));
        }
        (DType::Int64 | DType::Float64, ValueForm::Number(NumberForm { decimal, group })) => {
            let decimal = if decimal == DecimalMark::Comma { ',' } else { '.' };
            number(decimal, thousands(group))
        }
        (DType::Int64 | DType::Float64, _) => number('.', None),
        (DType::Bool, form) => {
            let words = if form == ValueForm::Words { &YES_NO[..] } else { &[] };
            let digits = (form == ValueForm::Words).then_some(["1", "0"]);
            let all = || words.iter().copied().chain(digits).chain([["true", "false"]]);
            let yes = all().map(|it| it[0].to_owned()).collect();
            ValueOfText::Bool { yes, no: all().map(|it| it[1].to_owned()).collect() }
        }
        (DType::Date | DType::Timestamp, ValueForm::Local(order)) => {
            ValueOfText::Moment { patterns: vec![pattern(order, guess.dtype, seen)] }
        }
        // In ISO 8601.
        (DType::Date | DType::Timestamp | DType::TimestampUtc, _) => {
            ValueOfText::Moment { patterns: Vec::new() }
        }
    };
    (value, None)
}

fn thousands(group: DigitGrouping) -> Option<char> {
    match group {
        DigitGrouping::None => None,
        DigitGrouping::Comma => Some(','),
        DigitGrouping::Point => Some('.'),
        DigitGrouping::Blank => Some(' '),
        DigitGrouping::Apostrophe => Some('\''),
    }
}

/// Returns the Spark pattern of dates in a local form.
fn pattern(order: DateOrder, dtype: DType, seen: TypeEvidence) -> String {
    let separators = [
        (TypeEvidence::SLASH, "/"),
        (TypeEvidence::DASH, "-"),
        (TypeEvidence::DOT, "."),
        (TypeEvidence::BLANK, " "),
        (TypeEvidence::JOINED, ""),
    ];
    let separator = separators.iter().find(|it| seen.has(it.0)).map_or("-", |it| it.1);
    let year = if seen.has(TypeEvidence::YEAR2) { "yy" } else { "yyyy" };
    let is_named = seen.has(TypeEvidence::NAMED_MONTH);
    let month = if is_named { "MMM" } else { "M" };
    let day = match order {
        DateOrder::Dmy => format!("d{separator}{month}{separator}{year}"),
        DateOrder::Mdy if is_named => format!("MMM d[,] {year}"),
        DateOrder::Mdy => format!("{month}{separator}d{separator}{year}"),
        DateOrder::Ymd => format!("{year}{separator}{month}{separator}d"),
    };
    if dtype == DType::Date {
        return day;
    }
    let clock =
        if seen.has(TypeEvidence::CLOCK12) { "h:mm[:ss[.SSSSSS]]a" } else { "H:mm[:ss[.SSSSSS]]" };
    // A date among timestamps is its midnight.
    format!("{day}[[,][ ]['T']{clock}]")
}

#[cfg(test)]
mod tests {
    use crate::{HeadOfFile, IngestOptions, Instructions, instructions};
    use csv_agent_types::catalog::{DType, SparkReading, ValueOfText};

    fn of(text: &str) -> Instructions {
        let bytes = text.as_bytes().to_vec();
        let head = HeadOfFile { name: "a.csv".to_owned(), bytes, is_whole: false };
        instructions(&[head], "a.csv", &IngestOptions::default()).unwrap()
    }

    #[track_caller]
    fn check_value(values: &[&str], dtype: DType, expected: &ValueOfText) {
        let text = format!("id;v\n1;{}\n", values.join("\n1;"));
        let found = of(&text);
        let SparkReading::Text { value, .. } = &found.readings[1] else { panic!("{found:?}") };
        assert_eq!((found.columns[1].dtype, value), (dtype, expected), "{values:?}");
    }

    #[test]
    fn a_type_comes_with_how_its_values_are_written() {
        let number = |decimal, thousands| ValueOfText::Number { decimal, thousands };
        let moment = |it: &str| ValueOfText::Moment { patterns: vec![it.to_owned()] };
        check_value(&["1", "22"], DType::Int64, &number('.', None));
        check_value(&["1.234,5", "2,25"], DType::Float64, &number(',', Some('.')));
        check_value(&["12%", "5%"], DType::String, &ValueOfText::String);
        check_value(&["31/12/2024", "1/2/2024"], DType::Date, &moment("d/M/yyyy"));
        check_value(&["31.12.24", "01.02.24"], DType::Date, &moment("d.M.yy"));
        check_value(&["03JAN2024", "14MAY2024"], DType::Date, &moment("dMMMyyyy"));
        check_value(&["Jan 3, 2024", "May 14, 2024"], DType::Date, &moment("MMM d[,] yyyy"));
        let clock = moment("d/M/yyyy[[,][ ]['T']h:mm[:ss[.SSSSSS]]a]");
        check_value(&["31/12/2024 9:30 PM", "1/2/2024 1:05 AM"], DType::Timestamp, &clock);
        check_value(
            &["2024-01-02", "2024-01-03"],
            DType::Date,
            &ValueOfText::Moment { patterns: vec![] },
        );
        check_value(&["09:30", "10:15"], DType::String, &ValueOfText::String);
        let truth =
            ValueOfText::Bool { yes: vec!["true".to_owned()], no: vec!["false".to_owned()] };
        check_value(&["true", "False"], DType::Bool, &truth);
        check_value(&["yes", "No"], DType::String, &ValueOfText::String);
    }

    #[test]
    fn markers_of_nothing_are_missing_only_where_values_are_no_text() {
        let found = of("a,b\n1,x\nNA,NA\n");
        let nulls = |at: usize| match &found.readings[at] {
            SparkReading::Text { nulls, .. } => nulls.contains(&"NA".to_owned()),
            SparkReading::Same => false,
        };
        assert_eq!((nulls(0), nulls(1)), (true, false));
    }
}
