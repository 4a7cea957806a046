//! Assembles tool calls from pieces: which piece belongs to which call.
//!
//! The index decides, where a server sends one. Other servers send each call whole, give all of them the
//! same index, or omit the id.

use serde_json::{Map, Value, json};

use csv_agent_types::limits::CALLS_READ_MAX;

use crate::wire::opaque;

/// A server's addition to a call, which it expects back: Gemini signs the reasoning behind the call.
/// Source: Gemini API, "Thought signatures".
pub(super) const EXTRA_CONTENT: &str = "extra_content";

/// The calls of one response received so far.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Call>);

#[derive(Debug)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    extra: Option<Value>,
}

/// A response with more calls than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMany;

impl Calls {
    /// Adds the entry at `position` of a `tool_calls` list: a call or a piece of one. Fails when it exceeds the
    /// limit on calls.
    pub(super) fn take(&mut self, position: usize, piece: &Value) -> Result<(), TooMany> {
        let piece = Call::of(piece);
        match self.find(position, &piece) {
            Some(at) => self.0[at].go_on(piece),
            None => self.begin(piece)?,
        }
        Ok(())
    }

    /// Adds a call of a complete message. Servers number its calls arbitrarily, even with duplicate ids.
    pub(super) fn take_whole(&mut self, call: &Value) -> Result<(), TooMany> {
        self.begin(Call::of(call))
    }

    /// Returns whether there are no calls.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether all calls have complete arguments.
    pub(super) fn are_whole(&self) -> bool {
        self.0.iter().all(|it| it.arguments.trim().is_empty() || it.is_whole())
    }

    fn begin(&mut self, call: Call) -> Result<(), TooMany> {
        if CALLS_READ_MAX <= self.0.len() {
            return Err(TooMany);
        }
        self.0.push(call);
        Ok(())
    }

    /// Returns the call that a piece continues; None when it starts another.
    fn find(&self, position: usize, piece: &Call) -> Option<usize> {
        let Call { index, id, name, .. } = piece;
        let is_other = |call: &Call| {
            let has_other_id = !id.is_empty() && !call.id.is_empty() && call.id != *id;
            // A complete call gets no more arguments.
            let is_over = call.is_whole() && !piece.arguments.trim().is_empty();
            !name.is_empty() && (has_other_id || is_over)
        };
        let unless_other = |at: usize| Some(at).filter(|it| !is_other(&self.0[*it]));
        if index.is_some() {
            // The last of them: a server that gives all calls index 0 sends one after the other.
            return self.0.iter().rposition(|it| it.index == *index).and_then(unless_other);
        }
        if !id.is_empty() {
            let found = self.0.iter().rposition(|it| it.id == *id);
            return match found {
                Some(at) => unless_other(at),
                None => self.last().filter(|_| name.is_empty()),
            };
        }
        if name.is_empty() {
            return self.last();
        }
        // A name without an index or id starts another call, unless the call at its position has only
        // begun.
        let call = self.0.get(position).filter(|it| it.name == *name && !it.is_whole());
        call.map(|_| position)
    }

    fn last(&self) -> Option<usize> {
        self.0.len().checked_sub(1)
    }

    /// Returns the calls as items. Those without an id are numbered; the loop makes ids unique within a
    /// conversation.
    pub(super) fn into_items(self) -> impl Iterator<Item = Value> {
        self.0.into_iter().enumerate().map(|(at, call)| {
            let call_id = if call.id.is_empty() { format!("call_{}", at + 1) } else { call.id };
            // A tool without parameters may be called with empty arguments.
            let no_arguments = call.arguments.trim().is_empty();
            let arguments = if no_arguments { "{}".to_owned() } else { call.arguments };
            let mut item = json!({
                "type": "function_call",
                "call_id": call_id,
                "name": call.name,
                "arguments": arguments,
            });
            let extra = call.extra.map(|it| (EXTRA_CONTENT.to_owned(), it));
            opaque::keep(&mut item, Map::from_iter(extra));
            item
        })
    }
}

impl Call {
    fn of(piece: &Value) -> Call {
        let text = |value: &Value, name: &str| {
            value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let function = piece.get("function").unwrap_or(&Value::Null);
        Call {
            index: piece.get("index").and_then(Value::as_u64),
            id: text(piece, "id"),
            name: text(function, "name"),
            arguments: match function.get("arguments") {
                Some(object @ Value::Object(_)) => object.to_string(),
                _ => text(function, "arguments"),
            },
            extra: piece.get(EXTRA_CONTENT).filter(|it| !it.is_null()).cloned(),
        }
    }

    fn go_on(&mut self, piece: Call) {
        if self.id.is_empty() {
            self.id = piece.id;
        }
        if self.name.is_empty() {
            self.name = piece.name;
        }
        self.arguments.push_str(&piece.arguments);
        self.extra = self.extra.take().or(piece.extra);
    }

    fn is_whole(&self) -> bool {
        serde_json::from_str::<Value>(&self.arguments).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Calls, TooMany};
    use csv_agent_types::limits::CALLS_READ_MAX;

    /// Each element is the `tool_calls` list of one chunk.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "`json!([…])` reads better without a `&`")]
    fn check(chunks: Value, expected: &[&str]) {
        let mut calls = Calls::default();
        for chunk in chunks.as_array().unwrap() {
            for (position, piece) in chunk.as_array().unwrap().iter().enumerate() {
                calls.take(position, piece).unwrap();
            }
        }
        let shown = calls.into_items().map(|it| {
            let text = |name: &str| it[name].as_str().unwrap().to_owned();
            format!("{}={}({})", text("call_id"), text("name"), text("arguments"))
        });
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    fn begin(index: u64, id: &str, name: &str) -> Value {
        json!({"index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": ""}})
    }

    fn more(index: u64, arguments: &str) -> Value {
        json!({"index": index, "function": {"arguments": arguments}})
    }

    fn whole(name: &str, arguments: &str) -> Value {
        json!({"function": {"name": name, "arguments": arguments}})
    }

    #[test]
    fn pieces_are_joined_by_their_index() {
        check(
            json!([
                [begin(0, "a", "f")],
                [more(0, "{\"x\"")],
                [begin(1, "b", "g"), more(0, ":1}")],
                [more(1, "{}")],
            ]),
            &["a=f({\"x\":1})", "b=g({})"],
        );
    }

    #[test]
    fn a_name_or_id_that_is_repeated_is_the_same_call() {
        let again = json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "}"}});
        check(json!([[begin(0, "a", "f")], [more(0, "{")], [again]]), &["a=f({})"]);
        let late = json!({"index": 0, "id": "b", "function": {"arguments": "}"}});
        check(json!([[begin(0, "a", "f")], [more(0, "{")], [late]]), &["a=f({})"]);
    }

    #[test]
    fn calls_may_all_have_the_same_index_or_none() {
        let call =
            |id: &str| json!({"index": 0, "id": id, "function": {"name": "f", "arguments": "{}"}});
        check(json!([[call("a")], [call("b")]]), &["a=f({})", "b=f({})"]);
        let call = |id: &str| json!({"id": id, "function": {"name": "f", "arguments": "{}"}});
        check(json!([[call("a"), call("b")]]), &["a=f({})", "b=f({})"]);
        check(json!([[call("a")], [call("b")]]), &["a=f({})", "b=f({})"]);
    }

    #[test]
    fn one_id_may_stand_for_two_calls() {
        let call = |x: u32| {
            let arguments = format!("{{\"x\":{x}}}");
            json!({"id": "a", "function": {"name": "f", "arguments": arguments}})
        };
        check(json!([[call(1), call(2)]]), &["a=f({\"x\":1})", "a=f({\"x\":2})"]);
        check(json!([[call(1)], [call(2)]]), &["a=f({\"x\":1})", "a=f({\"x\":2})"]);
        let mut calls = Calls::default();
        // In a complete message, even two incomplete calls are separate.
        for _ in 0..2 {
            let cut = json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}});
            calls.take_whole(&cut).unwrap();
        }
        assert!(!calls.are_whole());
        assert_eq!(calls.into_items().count(), 2);
    }

    #[test]
    fn calls_without_id_are_numbered() {
        check(json!([[whole("f", "{}"), whole("g", "{}")]]), &["call_1=f({})", "call_2=g({})"]);
        check(json!([[whole("f", "{}")], [whole("f", "{}")]]), &["call_1=f({})", "call_2=f({})"]);
        check(json!([[whole("f", "{")], [whole("f", "}")]]), &["call_1=f({})"]);
        let rest = json!({"function": {"arguments": "}"}});
        check(json!([[whole("f", "{")], [rest]]), &["call_1=f({})"]);
    }

    #[test]
    fn arguments_may_be_an_object_or_missing() {
        let object = json!({"id": "a", "function": {"name": "f", "arguments": {"x": 1}}});
        let none = json!({"id": "b", "function": {"name": "g"}});
        check(json!([[object, none]]), &["a=f({\"x\":1})", "b=g({})"]);
        check(json!([[7, null]]), &["call_1=({})"]);
    }

    #[test]
    fn calls_without_end_are_refused() {
        let mut calls = Calls::default();
        for index in 0..CALLS_READ_MAX {
            assert_eq!(calls.take(0, &json!({"index": index})), Ok(()));
        }
        assert_eq!(calls.take(0, &json!({"index": CALLS_READ_MAX})), Err(TooMany));
    }
}
