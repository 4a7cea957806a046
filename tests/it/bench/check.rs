//! What must hold of every request, whichever test sends it.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Returns everything that is wrong with a request. `responses` are the outputs that the server has
/// sent so far, as far as they count.
pub fn check(body: &Value, responses: &[Vec<Value>]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut demand = |holds: bool, fault: &str| {
        if !holds {
            faults.push(fault.to_owned());
        }
    };
    demand(body["model"].as_str().is_some_and(|it| !it.is_empty()), "no `model`");
    let instructions = body["instructions"].as_str();
    demand(instructions.is_some_and(|it| !it.trim().is_empty()), "no `instructions`");
    let goes_on = body.get("previous_response_id").is_some();
    demand(body["store"].is_boolean(), "`store` is not said");
    demand(!goes_on || body["store"] == true, "a response that is not kept is to be gone on from");
    demand(body["stream"].is_boolean(), "`stream` is not said");
    for tool in body["tools"].as_array().into_iter().flatten() {
        let name = tool["name"].as_str().unwrap_or_default();
        demand(tool["strict"] == true, &format!("the tool `{name}` is not strict"));
        let is_object = tool["parameters"]["type"] == "object";
        demand(is_object, &format!("the parameters of `{name}` are no object"));
        check_schema(&tool["parameters"], name, &mut demand);
    }
    if let Some(format) = body.pointer("/text/format") {
        demand(format["strict"].is_boolean(), "whether the answer's format is strict is not said");
        demand(format["schema"]["type"] == "object", "the answer's format is no object");
        if format["strict"] == true {
            check_schema(&format["schema"], "text.format", &mut demand);
        }
    }
    let Some(input) = body["input"].as_array() else {
        demand(false, "`input` is no list");
        return faults;
    };
    demand(!input.is_empty(), "`input` is empty");
    // The server has the calls of the outputs, and what it answered before.
    if goes_on {
        return faults;
    }
    check_pairing(input, &mut demand);
    for response in responses {
        check_echo(input, response, &mut demand);
    }
    faults
}

/// Notes a fault unless something holds.
pub type Demand<'a> = dyn FnMut(bool, &str) + 'a;

/// At every level: all properties are required, and no others are allowed.
pub fn check_schema(schema: &Value, path: &str, demand: &mut Demand) {
    match schema {
        Value::Object(members) => {
            let is_object = has_type(members, "object");
            if is_object || members.get("properties").is_some_and(Value::is_object) {
                let properties = members.get("properties").and_then(Value::as_object);
                let names: HashSet<&str> =
                    properties.into_iter().flatten().map(|it| it.0.as_str()).collect();
                let required = members.get("required").and_then(Value::as_array);
                let required: HashSet<&str> =
                    required.into_iter().flatten().filter_map(Value::as_str).collect();
                demand(names == required, &format!("`{path}` does not require all its properties"));
                let closed = members.get("additionalProperties") == Some(&Value::Bool(false));
                demand(closed, &format!("`{path}` allows additional properties"));
            }
            if has_type(members, "array") {
                demand(members.contains_key("items"), &format!("`{path}` is an array of anything"));
            }
            for (name, value) in members {
                check_schema(value, &format!("{path}.{name}"), demand);
            }
        }
        Value::Array(values) => {
            for value in values {
                check_schema(value, path, demand);
            }
        }
        _ => {}
    }
}

fn has_type(schema: &Map<String, Value>, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == name,
        Some(Value::Array(kinds)) => kinds.iter().any(|it| it == name),
        _ => false,
    }
}

/// Every call has one output after it, every output one call before it.
fn check_pairing(input: &[Value], demand: &mut Demand) {
    let mut called = HashSet::new();
    let mut open = HashSet::new();
    for item in input {
        let call_id = item["call_id"].as_str().unwrap_or_default();
        match item["type"].as_str() {
            Some("function_call") => {
                demand(called.insert(call_id), &format!("two calls are `{call_id}`"));
                open.insert(call_id);
                demand(item["arguments"].is_string(), &format!("`{call_id}` has no arguments"));
            }
            Some("function_call_output") => {
                let message = format!("the output of `{call_id}` has no call, or not its own");
                demand(open.remove(call_id), &message);
                demand(
                    item["output"].is_string(),
                    &format!("the output of `{call_id}` is no text"),
                );
            }
            _ => {}
        }
    }
    demand(open.is_empty(), &format!("calls without output: {open:?}"));
}

/// When an output of a call of this response is there, the whole response is, in its order.
fn check_echo(input: &[Value], response: &[Value], demand: &mut Demand) {
    let calls = response.iter().filter(|it| it["type"] == "function_call");
    let call_ids: Vec<&Value> = calls.map(|it| &it["call_id"]).collect();
    let is_answered =
        |it: &Value| it["type"] == "function_call_output" && call_ids.contains(&&it["call_id"]);
    if !input.iter().any(is_answered) {
        return;
    }
    let expected: Vec<Value> = response.iter().filter_map(echoed).collect();
    let is_there = input.windows(expected.len()).any(|it| it == expected);
    demand(is_there, &format!("a response did not go back as it came: {expected:?}"));
}

/// Returns an item as a server that is not `OpenAI`'s must get it back, if it must.
fn echoed(item: &Value) -> Option<Value> {
    let mut members = item.as_object()?.clone();
    members.retain(|name, value| {
        !value.is_null() && !matches!(name.as_str(), "id" | "status" | "phase")
    });
    if members["type"] == "reasoning" {
        let text = item.pointer("/content/0/text")?.as_str()?;
        return (!text.is_empty()).then_some(members.into());
    }
    if let Some(Value::String(arguments)) = members.get("arguments")
        && !matches!(serde_json::from_str(arguments), Ok(Value::Object(_)))
    {
        members["arguments"] = "{}".into();
    }
    for part in members.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
        if part["type"] == "refusal" {
            *part = serde_json::json!({"type": "output_text", "text": part["refusal"]});
        }
    }
    Some(members.into())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;

    fn call() -> Value {
        json!({"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"})
    }

    fn output() -> Value {
        json!({"type": "function_call_output", "call_id": "c1", "output": "x"})
    }

    /// Changes a good request and demands that this is noticed with these words.
    #[track_caller]
    fn check_fault(pointer: &str, value: Value, words: &str) {
        let parameters = json!({"type": "object", "required": ["a"], "additionalProperties": false,
            "properties": {"a": {"type": ["array", "null"], "items": {"type": "string"}}}});
        let mut body = json!({
            "model": "m",
            "instructions": "i",
            "input": [{"type": "message", "role": "user", "content": "q"}, call(), output()],
            "tools": [{"type": "function", "name": "f", "parameters": parameters, "strict": true}],
            "store": false,
            "stream": true,
        });
        let mut sent = call();
        sent["id"] = "fc_1".into();
        let responses = [vec![sent]];
        assert_eq!(check(&body, &responses), [""; 0]);
        *body.pointer_mut(pointer).unwrap() = value;
        let faults = check(&body, &responses);
        assert!(faults.iter().any(|it| it.contains(words)), "{faults:?}");
    }

    #[test]
    fn a_wrong_request_is_noticed() {
        check_fault("/model", "".into(), "no `model`");
        check_fault("/instructions", " ".into(), "no `instructions`");
        check_fault("/store", Value::Null, "`store` is not said");
        check_fault("/stream", Value::Null, "`stream` is not said");
        check_fault("/input", json!([]), "`input` is empty");
        check_fault("/input", "q".into(), "`input` is no list");
        check_fault("/tools/0/strict", false.into(), "is not strict");
        check_fault("/tools/0/parameters/required", json!([]), "does not require all");
        check_fault("/tools/0/parameters/additionalProperties", true.into(), "allows additional");
        check_fault("/tools/0/parameters/properties/a", json!({"type": "array"}), "of anything");
        let open = json!({"anyOf": [{"type": "object", "properties": {"b": {}}}]});
        check_fault("/tools/0/parameters/properties/a", open, "a.anyOf` does not require all");
    }

    #[test]
    fn wrong_items_are_noticed() {
        check_fault("/input", json!([call()]), "calls without output");
        check_fault("/input", json!([output()]), "has no call, or not its own");
        check_fault("/input", json!([output(), call()]), "has no call, or not its own");
        check_fault("/input", json!([call(), call(), output()]), "two calls are `c1`");
        check_fault("/input", json!([call(), output(), output()]), "has no call, or not its own");
        check_fault("/input/2/output", json!({}), "is no text");
        check_fault("/input/1/name", "g".into(), "did not go back as it came");
    }
}
