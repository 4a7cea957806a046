//! What only the user of a client knows about a file: the order of day and month, and the decimal mark.
//!
//! A client that can ask its user is asked: by a request of ours in versions with a handshake, by a result that
//! requires input in later ones. For any other client, the note of the column says what to do.

use rmcp::model::ElicitRequest;
use serde_json::{Map, Value, json};

use crate::answer::ToolAnswer;
use crate::work::Work;

/// The name of the input.
pub(crate) const READING: &str = "reading";
/// Columns that a question names.
const COLUMNS_MAX: usize = 5;

/// Something in doubt.
struct OpenReading {
    /// The argument that decides it.
    argument: &'static str,
    /// What the note of such a column says.
    note: &'static str,
    /// The question about columns of these names.
    question: fn(&str) -> String,
    title: &'static str,
    values: [&'static str; 2],
    labels: [&'static str; 2],
}

const OPEN_READINGS: [OpenReading; 2] = [
    OpenReading {
        argument: "date_order",
        note: "the order of day and month is ambiguous",
        question: |names| {
            format!(
                "The dates in {names} can be read in two ways, as in 03/04/2024. Which comes first?"
            )
        },
        title: "Order of dates",
        values: ["dmy", "mdy"],
        labels: ["day, month, year", "month, day, year"],
    },
    OpenReading {
        argument: "decimal",
        note: "may be a decimal mark or a thousands separator",
        question: |names| {
            format!(
                "The numbers in {names} can be read in two ways, as in 1.234 or 1,234. Which is the decimal mark?"
            )
        },
        title: "Decimal mark",
        values: [".", ","],
        labels: ["point: 1,234.5", "comma: 1.234,5"],
    },
];

/// Returns the question about what was ingested; None where nothing is in doubt, or the client has said it.
pub(crate) fn question(work: &Work, answer: &ToolAnswer) -> Option<ElicitRequest> {
    let Work::Ingest(files) = work else { return None };
    let found = answer.structured.as_ref()?;
    let (mut messages, mut properties) = (Vec::new(), Map::new());
    let is_said = [files.date_order.is_some(), files.decimal.is_some()];
    for (doubt, _) in OPEN_READINGS.iter().zip(is_said).filter(|it| !it.1) {
        let schemas = [&found["schema"], &found["further_schema"]];
        let columns = schemas.into_iter().filter_map(|it| it["columns"].as_array()).flatten();
        let is_doubtful =
            |it: &&Value| it["note"].as_str().is_some_and(|it| it.contains(doubt.note));
        let names = columns.filter(is_doubtful).filter_map(|it| it["name"].as_str());
        let names: Vec<String> = names.take(COLUMNS_MAX).map(|it| format!("`{it}`")).collect();
        if !names.is_empty() {
            messages.push((doubt.question)(&names.join(", ")));
            let property = json!({"type": "string", "title": doubt.title, "enum": doubt.values,
                "enumNames": doubt.labels});
            properties.insert(doubt.argument.to_owned(), property);
        }
    }
    if messages.is_empty() {
        return None;
    }
    let required: Vec<&String> = properties.keys().collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let params = json!({"mode": "form", "message": messages.join(" "), "requestedSchema": schema});
    serde_json::from_value(json!({"method": "elicitation/create", "params": params})).ok()
}

/// Returns the work with what the user has said; None if that is nothing.
pub(crate) fn decided(work: &Work, said: &Value) -> Option<Work> {
    let Work::Ingest(files) = work else { return None };
    if said["action"] != "accept" {
        return None;
    }
    let [date_order, decimal] = OPEN_READINGS.map(|it| {
        let value = said["content"][it.argument].as_str();
        value.filter(|value| it.values.contains(value)).map(str::to_owned)
    });
    if date_order.is_none() && decimal.is_none() {
        return None;
    }
    let mut files = files.clone();
    files.date_order = date_order.or(files.date_order);
    files.decimal = decimal.or(files.decimal);
    // The dataset has been read without it.
    files.if_exists = Some("replace".to_owned());
    Some(Work::Ingest(files))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{decided, question};
    use crate::answer::ToolAnswer;
    use crate::work::{IngestWork, Work};

    fn ingest(date_order: Option<&str>) -> Work {
        let date_order = date_order.map(str::to_owned);
        Work::Ingest(Box::new(IngestWork { date_order, ..IngestWork::default() }))
    }

    #[track_caller]
    fn check(work: &Work, notes: [&str; 2], asked: &[&str]) {
        let schema = json!({"columns": [{"name": "day", "note": notes[0]}, {"name": "n", "note": notes[1]}]});
        let structured = Some(json!({"schema": schema}));
        let answer = ToolAnswer { structured, ..ToolAnswer::default() };
        let found = question(work, &answer).map(|it| serde_json::to_value(it).unwrap());
        let found = found.unwrap_or_default();
        let members = found["params"]["requestedSchema"]["properties"].as_object();
        let members: Vec<&String> = members.into_iter().flat_map(|it| it.keys()).collect();
        assert_eq!(members, asked, "{found}");
    }

    #[test]
    fn a_user_is_asked_what_can_be_read_in_two_ways() {
        let dates = "text: the order of day and month is ambiguous; `date_order` decides";
        let numbers = "text: `,` may be a decimal mark or a thousands separator; `decimal` decides";
        let clear = "day, month, year: no other order fits every value";
        check(&ingest(None), [dates, numbers], &["date_order", "decimal"]);
        check(&ingest(None), [dates, ""], &["date_order"]);
        check(&ingest(Some("dmy")), [dates, numbers], &["decimal"]);
        check(&ingest(None), [clear, ""], &[]);
        check(&Work::Ask { question: String::new() }, [dates, numbers], &[]);
    }

    #[test]
    fn only_what_was_accepted_decides() {
        let check = |said: &Value, expected: Option<(Option<&str>, Option<&str>)>| {
            let found = decided(&ingest(None), said).map(|it| match it {
                Work::Ingest(files) => (files.date_order, files.decimal),
                other => panic!("{other:?}"),
            });
            let found = found.as_ref().map(|it| (it.0.as_deref(), it.1.as_deref()));
            assert_eq!(found, expected, "{said}");
        };
        let both = json!({"date_order": "dmy", "decimal": ","});
        check(&json!({"action": "accept", "content": both}), Some((Some("dmy"), Some(","))));
        check(&json!({"action": "accept", "content": {"decimal": "."}}), Some((None, Some("."))));
        check(&json!({"action": "accept", "content": {"date_order": "--x"}}), None);
        check(&json!({"action": "decline", "content": both}), None);
        check(&json!({"action": "cancel"}), None);
        check(&json!(null), None);
    }
}
