//! What only the user of a client knows about a file: the order of day and month.
//!
//! A client that can ask its user is asked: by a request of ours in versions with a handshake, by a result that
//! requires input in later ones. For any other client, the note of the column says what to do.

use rmcp::model::ElicitRequest;
use serde_json::{Value, json};

use crate::answer::ToolAnswer;
use crate::work::Work;

/// The name of the input.
pub(crate) const DATE_ORDER: &str = "date_order";
/// What the note of a column says whose dates can be read in two ways.
const AMBIGUOUS: &str = "the order of day and month is ambiguous";
/// Columns that a question names.
const COLUMNS_MAX: usize = 5;

/// Returns the question about what was ingested; None where nothing is in doubt, or the client has said it.
pub(crate) fn question(work: &Work, answer: &ToolAnswer) -> Option<ElicitRequest> {
    let Work::Ingest(files) = work else { return None };
    if files.date_order.is_some() {
        return None;
    }
    let found = answer.structured.as_ref()?;
    let schemas = [&found["schema"], &found["further_schema"]];
    let columns = schemas.into_iter().filter_map(|it| it["columns"].as_array()).flatten();
    let doubtful =
        columns.filter(|it| it["note"].as_str().is_some_and(|it| it.contains(AMBIGUOUS)));
    let names: Vec<&str> =
        doubtful.filter_map(|it| it["name"].as_str()).take(COLUMNS_MAX).collect();
    if names.is_empty() {
        return None;
    }
    let message = format!(
        "The dates in {} can be read in two ways, such as 03/04/2024. Which comes first?",
        names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
    );
    let order = json!({
        "type": "string", "title": "Order of dates", "enum": ["dmy", "mdy"],
        "enumNames": ["day, month, year", "month, day, year"],
    });
    let schema =
        json!({"type": "object", "properties": {DATE_ORDER: order}, "required": [DATE_ORDER]});
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    serde_json::from_value(json!({"method": "elicitation/create", "params": params})).ok()
}

/// Returns the work with what the user has said; None if that is nothing.
pub(crate) fn decided(work: &Work, said: &Value) -> Option<Work> {
    let Work::Ingest(files) = work else { return None };
    let order = said["content"][DATE_ORDER].as_str().filter(|_| said["action"] == "accept")?;
    if !["dmy", "mdy"].contains(&order) {
        return None;
    }
    let mut files = files.clone();
    files.date_order = Some(order.to_owned());
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

    fn answer(note: &str) -> ToolAnswer {
        let schema = json!({"columns": [{"name": "day", "note": note}]});
        ToolAnswer { structured: Some(json!({"schema": schema})), ..ToolAnswer::default() }
    }

    #[test]
    fn a_user_is_asked_about_dates_that_can_be_read_in_two_ways() {
        let doubtful =
            answer("text: the order of day and month is ambiguous; `date_order` decides");
        let asked = question(&ingest(None), &doubtful).map(|it| serde_json::to_value(it).unwrap());
        let asked = asked.unwrap();
        assert_eq!(asked["method"], "elicitation/create");
        assert!(
            asked["params"]["message"].as_str().is_some_and(|it| it.contains("`day`")),
            "{asked}"
        );
        assert!(question(&ingest(Some("dmy")), &doubtful).is_none());
        assert!(
            question(&ingest(None), &answer("day, month, year: no other order fits")).is_none()
        );
    }

    #[test]
    fn only_what_was_accepted_decides() {
        let check = |said: &Value, expected: Option<&str>| {
            let found = decided(&ingest(None), said);
            let found = found.map(|it| match it {
                Work::Ingest(files) => files.date_order.unwrap(),
                other => panic!("{other:?}"),
            });
            assert_eq!(found.as_deref(), expected, "{said}");
        };
        check(&json!({"action": "accept", "content": {"date_order": "dmy"}}), Some("dmy"));
        check(&json!({"action": "accept", "content": {"date_order": "--x"}}), None);
        check(&json!({"action": "decline", "content": {"date_order": "dmy"}}), None);
        check(&json!({"action": "cancel"}), None);
        check(&json!(null), None);
    }
}
