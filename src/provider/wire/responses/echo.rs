//! The conversation as sent back to a server: unchanged, except for what this server would refuse.

use std::collections::HashSet;

use serde_json::{Map, Value};

use csv_agent_types::conversation::{Item, ItemKind};

use crate::hosted::HOSTED;
use crate::wire::opaque::{OPAQUE, is_from, is_sealed};
use crate::wire::{Profile, SEALED_REASONING, Storage, Terms};

/// Returns the `input` member for these items.
pub(super) fn input(items: &[Item], terms: &Terms) -> Vec<Value> {
    if matches!(terms.storage, Storage::None | Storage::Kept) {
        let unpaired = unpaired(items);
        debug_assert_eq!(unpaired, None, "every call has one output and every output one call");
    }
    let mut input = Vec::with_capacity(items.len());
    // The API looks up items with an id together with the reasoning before them. When that is left out,
    // items of the same response are sent without ids.
    let mut reasoning_lost = false;
    for (index, item) in items.iter().enumerate() {
        let kind = item.kind();
        match kind {
            ItemKind::Reasoning => {
                reasoning_lost = !is_usable(item, terms) || !is_followed(&items[index + 1..]);
                if reasoning_lost {
                    continue;
                }
            }
            ItemKind::UserMessage | ItemKind::FunctionCallOutput => reasoning_lost = false,
            ItemKind::AssistantMessage | ItemKind::FunctionCall | ItemKind::Other => {}
        }
        // Other servers refuse a request with an unknown item.
        if kind == ItemKind::Other && terms.profile == Profile::Tolerant {
            continue;
        }
        let mut value = item.0.clone();
        if let Some(members) = value.as_object_mut() {
            members.shift_remove(OPAQUE);
        }
        // The API refuses items of hosted runs unless they are complete.
        if HOSTED.iter().any(|it| item.type_name() == Some(it.item)) {
            input.push(value);
            continue;
        }
        drop_nulls(&mut value);
        if let Value::Object(members) = &mut value {
            match terms.profile {
                Profile::OpenAi => {
                    let ids_refused = terms.omitted.contains(SEALED_REASONING);
                    if reasoning_lost || ids_refused || !has_own_id(members, kind) {
                        members.shift_remove("id");
                    }
                }
                Profile::Tolerant if kind == ItemKind::Reasoning && is_sealed(item) => {}
                Profile::Tolerant => make_plain(members, kind),
            }
        }
        input.push(value);
    }
    input
}

/// Returns whether the server can use a reasoning item.
fn is_usable(item: &Item, terms: &Terms) -> bool {
    if terms.omitted.contains(SEALED_REASONING) {
        return false;
    }
    match terms.profile {
        Profile::OpenAi => is_sealed(item),
        // Reasoning or seals of another server do not concern it, and llama.cpp refuses an item without
        // text.
        Profile::Tolerant => {
            let text = item.0.pointer("/content/0/text").and_then(Value::as_str);
            let has_text = text.is_some_and(|it| !it.is_empty());
            match item.0.get(OPAQUE) {
                Some(_) => is_from(item, &terms.origin) && (has_text || is_sealed(item)),
                None => has_text,
            }
        }
    }
}

/// Returns whether reasoning is followed by its result; the API refuses it alone.
fn is_followed(rest: &[Item]) -> bool {
    let next = rest.iter().map(Item::kind).find(|it| *it != ItemKind::Reasoning);
    match next {
        Some(ItemKind::AssistantMessage | ItemKind::FunctionCall | ItemKind::Other) => true,
        Some(ItemKind::UserMessage | ItemKind::FunctionCallOutput | ItemKind::Reasoning) | None => {
            false
        }
    }
}

/// Returns whether the id has the prefix that `OpenAI` requires; others come from other servers.
fn has_own_id(members: &Map<String, Value>, kind: ItemKind) -> bool {
    let prefix = match kind {
        ItemKind::FunctionCall => "fc",
        ItemKind::AssistantMessage | ItemKind::UserMessage => "msg",
        ItemKind::Reasoning => "rs",
        ItemKind::FunctionCallOutput | ItemKind::Other => "",
    };
    let id = members.get("id").and_then(Value::as_str);
    id.is_none_or(|it| it.starts_with(prefix))
}

/// Reduces an item to the members that every server accepts.
fn make_plain(members: &mut Map<String, Value>, kind: ItemKind) {
    for name in ["id", "phase", "status"] {
        members.shift_remove(name);
    }
    match kind {
        ItemKind::FunctionCall => {
            let arguments = members.get("arguments").and_then(Value::as_str).unwrap_or_default();
            // One call with invalid JSON makes Ollama refuse the whole request. The output that follows
            // states the error.
            if serde_json::from_str::<Map<String, Value>>(arguments).is_err() {
                members.insert("arguments".into(), "{}".into());
            }
        }
        ItemKind::AssistantMessage => {
            let parts = members.get_mut("content").and_then(Value::as_array_mut);
            for part in parts.into_iter().flatten() {
                if let Some(refusal) = part.get("refusal").and_then(Value::as_str) {
                    *part = serde_json::json!({"type": "output_text", "text": refusal});
                }
            }
        }
        _ => {}
    }
}

/// Removes null members: the API sends them but does not accept them.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, it| !it.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        Value::Array(values) => values.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Returns the id of a call that lacks its single output, or of an output that lacks its single call.
fn unpaired(items: &[Item]) -> Option<&str> {
    let mut open = HashSet::new();
    let mut seen = HashSet::new();
    for item in items {
        let call_id = item.call_id().unwrap_or_default();
        let is_wrong = match item.kind() {
            ItemKind::FunctionCall => !seen.insert(call_id) || !open.insert(call_id),
            ItemKind::FunctionCallOutput => !open.remove(call_id),
            _ => false,
        };
        if is_wrong {
            return Some(call_id);
        }
    }
    open.into_iter().next()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::{input, unpaired};
    use crate::wire::{Profile, SEALED_REASONING, Terms};
    use csv_agent_types::conversation::Item;

    fn check_with(profile: Profile, omitted: &[&str], items: &Value, expected: &Value) {
        let omitted: BTreeSet<String> = omitted.iter().map(|it| (*it).to_owned()).collect();
        let items: Vec<Item> = serde_json::from_value(items.clone()).unwrap();
        let input = Value::from(input(
            &items,
            &Terms { profile, stream: true, omitted, ..Terms::default() },
        ));
        assert_eq!(input.to_string(), expected.to_string());
    }

    fn call(id: &str) -> Value {
        json!({"id": id, "type": "function_call", "status": "completed", "call_id": "c1",
            "name": "f", "arguments": "{}"})
    }

    fn call_without_id() -> Value {
        json!({"type": "function_call", "status": "completed", "call_id": "c1", "name": "f",
            "arguments": "{}"})
    }

    fn output() -> Value {
        json!({"type": "function_call_output", "call_id": "c1", "output": "x"})
    }

    fn reasoning(sealed: &str) -> Value {
        json!({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": sealed})
    }

    #[test]
    fn openai_gets_back_what_it_sent() {
        let message = json!({"id": "msg_1", "type": "message", "role": "assistant",
            "phase": "commentary", "content": [{"type": "output_text", "text": "so",
            "annotations": [], "logprobs": []}]});
        let unknown = json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "g"});
        let items = json!([reasoning("gA"), message, call("fc_1"), output(), unknown]);
        check_with(Profile::OpenAi, &[], &items, &items);
    }

    #[test]
    fn what_the_provider_ran_keeps_every_member() {
        let run = json!({"type": "code_interpreter_call", "id": "ci_1", "status": "incomplete",
            "container_id": "cntr_1", "code": null, "outputs": null});
        check_with(Profile::OpenAi, &[], &json!([run]), &json!([run]));
        check_with(Profile::OpenAi, &[], &json!([reasoning(""), run]), &json!([run]));
        check_with(Profile::Tolerant, &[], &json!([run]), &json!([]));
    }

    #[test]
    fn null_members_stay_behind_and_empty_arrays_do_not() {
        let items = json!([
            {"type": "reasoning", "summary": [], "content": null, "encrypted_content": "g"},
            {"type": "message", "role": "assistant", "status": null,
             "content": [{"type": "output_text", "text": "t", "logprobs": null}]},
        ]);
        let expected = json!([
            {"type": "reasoning", "summary": [], "encrypted_content": "g"},
            {"type": "message", "role": "assistant",
             "content": [{"type": "output_text", "text": "t"}]},
        ]);
        check_with(Profile::OpenAi, &[], &items, &expected);
    }

    #[test]
    fn reasoning_that_was_not_sealed_takes_the_ids_after_it_along() {
        let items = json!([reasoning(""), call("fc_1"), output()]);
        let expected = json!([call_without_id(), output()]);
        check_with(Profile::OpenAi, &[], &items, &expected);
    }

    #[test]
    fn reasoning_that_led_to_nothing_stays_behind() {
        let user = json!({"type": "message", "role": "user", "content": "q"});
        let items = json!([reasoning("g"), user, reasoning("g"), reasoning("g")]);
        check_with(Profile::OpenAi, &[], &items, &json!([user]));
    }

    #[test]
    fn reasoning_that_was_refused_stays_behind_with_all_ids() {
        let items = json!([reasoning("g"), call("fc_1"), output()]);
        let expected = json!([call_without_id(), output()]);
        check_with(Profile::OpenAi, &[SEALED_REASONING], &items, &expected);
    }

    #[test]
    fn ids_of_another_server_do_not_go_to_openai() {
        check_with(
            Profile::OpenAi,
            &[],
            &json!([call("call_7"), output()]),
            &json!([call_without_id(), output()]),
        );
    }

    #[test]
    fn what_another_server_has_thought_stays_behind() {
        let thought = |server: &str| {
            json!({"type": "reasoning", "summary": [],
                "content": [{"type": "reasoning_text", "text": "hm"}],
                "opaque": {"members": {"reasoning_content": "hm"}, "server": server, "model": ""}})
        };
        let mut own = thought("");
        own.as_object_mut().unwrap().remove("opaque");
        let call =
            json!({"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"});
        let items = |server: &str| json!([thought(server), call, output()]);
        let expected = json!([own, call, output()]);
        check_with(Profile::Tolerant, &[], &items(""), &expected);
        let expected = json!([call, output()]);
        check_with(Profile::Tolerant, &[], &items("https://b.example/v1"), &expected);
    }

    #[test]
    fn other_servers_get_plain_items() {
        let thought = json!({"id": "rs_2", "type": "reasoning", "summary": [],
            "content": [{"type": "reasoning_text", "text": "hm"}], "encrypted_content": ""});
        let broken = json!({"id": "fc_1", "type": "function_call", "status": "completed",
            "call_id": "c1", "name": "f", "arguments": "{\"code\":"});
        let refusal = json!({"id": "msg_1", "type": "message", "role": "assistant",
            "phase": "final_answer", "content": [{"type": "refusal", "refusal": "no"}]});
        let search = json!({"type": "web_search_call", "status": "completed"});
        let items = json!([reasoning("gA"), thought, broken, output(), search, refusal]);
        let expected = json!([
            {"type": "reasoning", "summary": [],
             "content": [{"type": "reasoning_text", "text": "hm"}], "encrypted_content": ""},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
            output(),
            {"type": "message", "role": "assistant",
             "content": [{"type": "output_text", "text": "no"}]},
        ]);
        check_with(Profile::Tolerant, &[], &items, &expected);
    }

    #[track_caller]
    fn check_unpaired(items: &Value, call_id: Option<&str>) {
        let items: Vec<Item> = serde_json::from_value(items.clone()).unwrap();
        assert_eq!(unpaired(&items), call_id);
    }

    #[test]
    fn a_lonely_call_or_output_is_noticed() {
        check_unpaired(&json!([call("fc_1"), output()]), None);
        check_unpaired(&json!([call("fc_1")]), Some("c1"));
        check_unpaired(&json!([output()]), Some("c1"));
        check_unpaired(&json!([output(), call("fc_1")]), Some("c1"));
        check_unpaired(&json!([call("fc_1"), output(), output()]), Some("c1"));
        check_unpaired(&json!([call("fc_1"), output(), call("fc_2"), output()]), Some("c1"));
    }
}
