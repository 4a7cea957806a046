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
    let is_hosted = |it: &&Value| it["type"] == "code_interpreter";
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let runs_code = tools.iter().any(|it| is_hosted(&it));
    for tool in tools.iter().filter(|it| !is_hosted(it)) {
        let name = tool["name"].as_str().unwrap_or_default();
        demand(tool["type"] == "function", &format!("the tool `{name}` is no function"));
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
    for item in input.iter().filter(|it| it["type"] == "code_interpreter_call") {
        check_interpretation(item, &mut demand);
    }
    // The server has the calls of the outputs, and what it answered before.
    if goes_on {
        return faults;
    }
    check_pairing(input, &mut demand);
    for response in responses {
        if runs_code {
            check_echo_with_code(input, response, &mut demand);
        } else {
            check_echo(input, response, &mut demand);
        }
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

/// A call that the provider ran has all its members: the API refuses one that lacks any.
fn check_interpretation(item: &Value, demand: &mut Demand) {
    let id = item["id"].as_str().unwrap_or_default();
    demand(id.starts_with("ci_"), &format!("`{id}` is no id of code that ran"));
    let status = item["status"].as_str();
    let has_ended = matches!(status, Some("completed" | "failed" | "incomplete"));
    demand(has_ended, &format!("`{id}` has not ended: {status:?}"));
    demand(item["container_id"].is_string(), &format!("`{id}` ran nowhere"));
    for name in ["code", "outputs"] {
        demand(item.get(name).is_some(), &format!("`{id}` has no `{name}`"));
    }
}

/// Bytes of the outputs of code, as JSON, up to which they go back as they came.
const OUTPUTS_BYTES_MAX: usize = 16 * 1024;

/// When a call of this response is there, the whole response is, in its order and as it came.
///
/// Calls that ran in a container that is gone may stay behind, and so may reasoning; what followed
/// it then goes without ids. What code gave may go back shorter where it is long.
fn check_echo_with_code(input: &[Value], response: &[Value], demand: &mut Demand) {
    let is_code = |it: &Value| it["type"] == "code_interpreter_call";
    let is_there = |call: &Value| input.iter().any(|it| is_code(it) && it["id"] == call["id"]);
    let (there, gone): (Vec<_>, Vec<_>) =
        response.iter().filter(|it| is_code(it)).partition(|it| is_there(it));
    let call_ids: Vec<&Value> = response.iter().filter_map(|it| it.get("call_id")).collect();
    let is_answered =
        |it: &Value| it["type"] == "function_call_output" && call_ids.contains(&&it["call_id"]);
    if there.is_empty() && !input.iter().any(is_answered) {
        return;
    }
    let is_sealed = |it: &Value| it["encrypted_content"].as_str().is_some_and(|it| !it.is_empty());
    let is_thought = |it: &Value| it["type"] == "reasoning";
    let is_loose = !gone.is_empty() || response.iter().any(|it| is_thought(it) && !is_sealed(it));
    let is_long = |it: &&Value| OUTPUTS_BYTES_MAX < it["outputs"].to_string().len();
    let long: Vec<&Value> = there.into_iter().filter(is_long).map(|it| &it["id"]).collect();
    let form = |item: &Value| {
        let mut item = item.clone();
        let is_long = long.contains(&&item["id"]);
        let members = item.as_object_mut()?;
        members.retain(|name, value| {
            let is_left = is_loose && name == "id" || is_long && name == "outputs";
            !(value.is_null() || is_left)
        });
        (!is_loose || !is_thought(&item)).then_some(item)
    };
    let expected = response.iter().filter(|it| !gone.contains(it));
    let expected: Vec<Value> = expected.filter_map(form).collect();
    let input: Vec<Value> = input.iter().filter_map(form).collect();
    let is_echoed = input.windows(expected.len()).any(|it| it == expected);
    demand(is_echoed, &format!("a response did not go back as it came: {expected:?}"));
}

/// Returns an item as a server that is not `OpenAI`'s must get it back, if it must.
fn echoed(item: &Value) -> Option<Value> {
    let mut members = item.as_object()?.clone();
    members.retain(|name, value| {
        !value.is_null() && !matches!(name.as_str(), "id" | "status" | "phase")
    });
    if members["type"] == "code_interpreter_call" {
        return None;
    }
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

    fn code(container_id: &str) -> Value {
        json!({"type": "code_interpreter_call", "id": format!("ci_{container_id}"), "code": "1",
            "status": "completed", "container_id": container_id, "outputs": null})
    }

    fn thought(seal: &str) -> Value {
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": seal})
    }

    /// Sends this back of a response with code, a call and a word.
    #[track_caller]
    fn check_code(input: &[Value], fault: Option<&str>) {
        let mut said = json!({"type": "message", "id": "msg_1", "role": "assistant", "phase": null,
            "content": [{"type": "output_text", "text": "t"}]});
        let responses = [vec![thought("g"), code("cntr_1"), call(), said.clone()]];
        said.as_object_mut().unwrap().shift_remove("phase");
        let input = input.iter().map(|it| if it == "said" { said.clone() } else { it.clone() });
        let body = json!({"model": "m", "instructions": "i", "store": false, "stream": true,
            "input": input.collect::<Vec<_>>(), "tools": [{"type": "code_interpreter"}]});
        let faults = check(&body, &responses);
        match fault {
            None => assert_eq!(faults, [""; 0]),
            Some(words) => assert!(faults.iter().any(|it| it.contains(words)), "{faults:?}"),
        }
    }

    #[test]
    fn code_that_ran_goes_back_as_it_came() {
        let (thought, code, said) = (thought("g"), code("cntr_1"), Value::from("said"));
        let whole = [thought, code, call(), said, output()];
        let with = |at: usize, name: &str, value: Value| {
            let mut items = whole.clone();
            items[at][name] = value;
            items
        };
        check_code(&whole, None);
        check_code(&[whole[2].clone(), whole[3].clone(), output()], None);
        let other = "did not go back as it came";
        check_code(&whole[1..], Some(other));
        check_code(&[whole[0].clone(), whole[1].clone(), "said".into()], Some(other));
        check_code(&with(1, "code", "2".into()), Some(other));
        check_code(&with(1, "outputs", json!([])), Some(other));
        check_code(&with(0, "id", Value::Null), Some(other));
        check_code(&with(1, "id", "c1".into()), Some("`c1` is no id of code"));
        check_code(&with(1, "status", "interpreting".into()), Some("has not ended"));
        check_code(&with(1, "container_id", Value::Null), Some("ran nowhere"));
        let mut short = whole.clone();
        short[1].as_object_mut().unwrap().shift_remove("outputs");
        check_code(&short, Some("`ci_cntr_1` has no `outputs`"));
    }
}
