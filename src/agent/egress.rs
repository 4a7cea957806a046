//! What of the data a request takes off the machine.
//!
//! Pure: counted in the request itself, so that nothing can be sent that is not counted.

use serde::Serialize;
use serde_json::Value;

use crate::conversation::{Item, ItemKind};

/// What leaves the machine with one request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Egress {
    /// Names of columns that the instructions list, as `dataset.column`.
    pub columns: Vec<String>,
    /// Rows that outputs of earlier tool calls show.
    pub rows: u64,
    /// Bytes of the body.
    pub bytes: u64,
}

impl Egress {
    /// Counts what a request holds. `columns` are those that its instructions name.
    pub fn of(columns: &[(String, String)], items: &[Item], body: &Value) -> Egress {
        Egress {
            columns: columns.iter().map(|(name, column)| format!("{name}.{column}")).collect(),
            rows: items.iter().map(rows_shown).sum(),
            bytes: body.to_string().len() as u64,
        }
    }
}

/// Counts the rows in the output of a call: those of the head of a frame. What code printed is text.
fn rows_shown(item: &Item) -> u64 {
    if item.kind() != ItemKind::FunctionCallOutput {
        return 0;
    }
    let output = item.0.get("output").and_then(Value::as_str).unwrap_or_default();
    let output: Option<Value> = serde_json::from_str(output).ok();
    let head = output.as_ref().and_then(|it| it.get("head")?.as_array());
    head.map_or(0, |it| it.len() as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Egress;
    use crate::conversation::Item;

    #[test]
    fn rows_are_those_that_the_model_was_shown() {
        let frame = json!({"kind": "frame", "head": [{"a": 1}, {"a": 2}], "row_count": 9});
        let items = [
            Item::user("{\"head\": [1, 2, 3]}"),
            Item::output("c1", &frame.to_string()),
            Item::output("c2", "42"),
        ];
        let found = Egress::of(&[("a".into(), "b".into())], &items, &json!({}));
        assert_eq!(found, Egress { columns: vec!["a.b".into()], rows: 2, bytes: 2 });
    }
}
