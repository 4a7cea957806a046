//! The pairing rule of a request's input: each call has one output and each output one call, directly after
//! the calls; reasoning precedes the item that it led to.
//!
//! Source: OpenAI API, 400 "No tool output found for function call", 400 "No tool call found for function
//! call output", 400 "Item of type 'reasoning' was provided without its required following item".

use std::collections::HashSet;

use serde_json::Value;

use csv_agent_types::conversation::{Item, ItemKind};

/// Bytes of a call id. Source: OpenAI API reference, `call_id`, 1 to 64 characters.
const CALL_ID_BYTES_MAX: usize = 64;

/// The output of a call whose turn was cut short before it ran.
const ABORTED: &str = "aborted: the call was not run";

/// Returns the items with every violation of the rule repaired. Valid items are unchanged, and so is a
/// conversation that was repaired before: a request's prefix keeps the same bytes.
pub(crate) fn repair(items: Vec<Item>) -> Vec<Item> {
    let mut repaired: Vec<Item> = Vec::with_capacity(items.len());
    let mut called = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    for item in items {
        match item.kind() {
            ItemKind::FunctionCall => {
                let Some(call) = item.tool_call() else { continue };
                if !called.insert(call.call_id.clone()) {
                    continue;
                }
                open.push(call.call_id);
            }
            ItemKind::FunctionCallOutput => {
                let Some(at) = open.iter().position(|it| Some(it.as_str()) == item.call_id())
                else {
                    continue;
                };
                drop_trailing_reasoning(&mut repaired);
                open.remove(at);
            }
            ItemKind::UserMessage => {
                drop_trailing_reasoning(&mut repaired);
                close(&mut repaired, &mut open);
            }
            ItemKind::AssistantMessage | ItemKind::Reasoning | ItemKind::Other => {}
        }
        repaired.push(item);
    }
    drop_trailing_reasoning(&mut repaired);
    close(&mut repaired, &mut open);
    debug_assert_eq!(violation(&repaired), None);
    repaired
}

/// Makes the call ids of a response unique within the conversation. Small servers restart at one in every
/// response; a provider refuses two calls with the same id. `is_taken` says which ids are in use elsewhere.
pub(crate) fn make_call_ids_unique(
    conversation: &[Item],
    response: &mut [Item],
    is_taken: impl Fn(&str) -> bool,
) {
    let calls = conversation.iter().filter(|it| it.kind() == ItemKind::FunctionCall);
    let mut taken: HashSet<String> =
        calls.filter_map(Item::tool_call).map(|it| it.call_id).collect();
    for item in response.iter_mut() {
        let Some(call) = item.tool_call() else { continue };
        let is_valid = (1..=CALL_ID_BYTES_MAX).contains(&call.call_id.len());
        let base = if is_valid { &call.call_id } else { "call" };
        let head = &base[..base.floor_char_boundary(CALL_ID_BYTES_MAX - 6)];
        let mut call_id = base.to_owned();
        let mut n = 2;
        while is_taken(&call_id) || !taken.insert(call_id.clone()) {
            call_id = format!("{head}_{n}");
            n += 1;
        }
        if item.call_id() != Some(&call_id) {
            item.0["call_id"] = Value::String(call_id);
        }
    }
}

/// Returns how the items violate the rule, if they do.
pub(crate) fn violation(items: &[Item]) -> Option<String> {
    let mut called = HashSet::new();
    let mut open = HashSet::new();
    for (at, item) in items.iter().enumerate() {
        match item.kind() {
            ItemKind::FunctionCall => {
                let call_id = item.call_id().unwrap_or_default();
                if !called.insert(call_id) {
                    return Some(format!("item {at}: a second call `{call_id}`"));
                }
                open.insert(call_id);
            }
            ItemKind::FunctionCallOutput => {
                let call_id = item.call_id().unwrap_or_default();
                if !open.remove(call_id) {
                    return Some(format!("item {at}: an output for no open call `{call_id}`"));
                }
            }
            ItemKind::UserMessage if !open.is_empty() => {
                return Some(format!("item {at}: a question before the outputs of {open:?}"));
            }
            _ => {}
        }
    }
    (!open.is_empty()).then(|| format!("no outputs for {open:?}"))
}

fn close(items: &mut Vec<Item>, open: &mut Vec<String>) {
    items.extend(open.drain(..).map(|call_id| Item::output(&call_id, ABORTED)));
}

fn drop_trailing_reasoning(items: &mut Vec<Item>) {
    while items.last().is_some_and(|it| it.kind() == ItemKind::Reasoning) {
        items.pop();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, prop_oneof, proptest};
    use serde_json::json;

    use super::{ABORTED, make_call_ids_unique, repair, violation};
    use csv_agent_testing::cases;
    use csv_agent_types::conversation::Item;

    fn call(id: &str) -> Item {
        Item(json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"}))
    }

    fn reasoning() -> Item {
        Item(json!({"type": "reasoning", "summary": [], "encrypted_content": "x"}))
    }

    #[track_caller]
    fn check(items: &[Item], repaired: &[Item]) {
        assert_eq!(repair(items.to_vec()), repaired);
    }

    #[test]
    fn items_that_keep_the_law_are_unchanged() {
        let items = [
            Item::user("q"),
            reasoning(),
            call("a"),
            call("b"),
            Item::output("b", "2"),
            Item::output("a", "1"),
            Item::assistant("done"),
        ];
        check(&items, &items);
    }

    #[test]
    fn a_call_without_an_output_is_answered() {
        check(
            &[Item::user("q"), call("a"), Item::user("r")],
            &[Item::user("q"), call("a"), Item::output("a", ABORTED), Item::user("r")],
        );
    }

    #[test]
    fn what_has_no_partner_goes() {
        check(&[Item::output("a", "1"), Item::user("q")], &[Item::user("q")]);
        check(
            &[Item::user("q"), reasoning(), Item::user("r")],
            &[Item::user("q"), Item::user("r")],
        );
        let twice = [call("a"), Item::output("a", "1"), Item::output("a", "2")];
        check(&twice, &twice[..2]);
    }

    #[test]
    fn a_call_id_that_comes_again_is_renamed() {
        let mut response = [call("a"), call("a"), call("b")];
        make_call_ids_unique(&[call("a"), Item::output("a", "1")], &mut response, |it| it == "b");
        let ids: Vec<_> = response.iter().map(|it| it.call_id().unwrap()).collect();
        assert_eq!(ids, ["a_2", "a_3", "b_2"]);
        let long = "x".repeat(64);
        let mut response = [call(""), call(&long), call(&long), call(&"y".repeat(65))];
        make_call_ids_unique(&[], &mut response, |_| false);
        let ids: Vec<_> = response.iter().map(|it| it.call_id().unwrap()).collect();
        assert_eq!(ids, ["call", &long, &format!("{}_2", "x".repeat(58)), "call_2"]);
    }

    fn item() -> impl Strategy<Value = Item> {
        prop_oneof![
            Just(Item::user("q")),
            Just(Item::assistant("a")),
            Just(reasoning()),
            "[abc]".prop_map(|it| call(&it)),
            "[abc]".prop_map(|it| Item::output(&it, "x")),
        ]
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn whatever_was_stored_is_repaired_once(items in proptest::collection::vec(item(), 0..20)) {
            let repaired = repair(items);
            assert_eq!(violation(&repaired), None);
            assert_eq!(repair(repaired.clone()), repaired);
        }
    }
}
