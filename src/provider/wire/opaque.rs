//! Opaque members that a server sent with an item and expects back unchanged, such as signatures of
//! reasoning.
//!
//! They are stored in one member of the item, with the server and model that sent them, and are sent back
//! to no other: another would refuse them, and must not see them.

use serde_json::{Map, Value};

use csv_agent_types::conversation::{Item, ItemKind};
use csv_agent_types::limits::OPAQUE_BYTES_MAX;

/// The member of an item that stores them. No wire sends this member itself.
pub(crate) const OPAQUE: &str = "opaque";

/// A server and one of its models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelOrigin {
    /// The server's name without secrets; empty for a cassette.
    pub server: String,
    /// The requested model.
    pub model: String,
}

/// Stores these members of a server with an item, unless they are empty or too long.
pub(crate) fn keep(item: &mut Value, members: Map<String, Value>) {
    let n_bytes: usize = members.values().map(|it| it.to_string().len()).sum();
    if !members.is_empty() && n_bytes <= OPAQUE_BYTES_MAX {
        let members = ("members".to_owned(), members.into());
        item[OPAQUE] = Map::from_iter([members]).into();
    }
}

/// Records an item's sender, if it contains members that only the sender may get back.
pub(crate) fn sign(item: &mut Item, origin: &ModelOrigin) {
    if is_sealed(item) && item.0.get(OPAQUE).is_none() {
        item.0[OPAQUE] = Map::new().into();
    }
    if let Some(opaque) = item.0.get_mut(OPAQUE).and_then(Value::as_object_mut) {
        opaque.insert("server".into(), origin.server.as_str().into());
        opaque.insert("model".into(), origin.model.as_str().into());
    }
}

/// Returns a stored member of an item, if this is its sender.
pub(crate) fn kept<'a>(item: &'a Item, name: &str, origin: &ModelOrigin) -> Option<&'a Value> {
    item.0.get(OPAQUE)?.get("members").filter(|_| is_from(item, origin))?.get(name)
}

/// Returns whether an item contains members that only its sender may get back, and this is the sender.
pub(crate) fn is_from(item: &Item, origin: &ModelOrigin) -> bool {
    let opaque = item.0.get(OPAQUE);
    opaque.is_some_and(|it| it["server"] == origin.server && it["model"] == origin.model)
}

/// Returns whether an item is sealed reasoning.
pub(crate) fn is_sealed(item: &Item) -> bool {
    let sealed = item.0.get("encrypted_content").and_then(Value::as_str);
    item.kind() == ItemKind::Reasoning && sealed.is_some_and(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{ModelOrigin, OPAQUE, keep, kept, sign};
    use csv_agent_types::conversation::Item;
    use csv_agent_types::limits::OPAQUE_BYTES_MAX;

    fn members(value: Value) -> Map<String, Value> {
        Map::from_iter([("extra_content".to_owned(), value)])
    }

    #[test]
    fn only_the_sender_gets_back_what_was_kept() {
        let origin =
            |server: &str, model: &str| ModelOrigin { server: server.into(), model: model.into() };
        let sender = origin("https://a.example/v1", "m");
        let extra = json!({"google": {"thought_signature": "s"}, "n": 1.0});
        let mut item = Item(json!({"type": "function_call", "call_id": "c1"}));
        keep(&mut item.0, members(extra.clone()));
        assert_eq!(kept(&item, "extra_content", &sender), None, "nobody has signed it");
        sign(&mut item, &sender);
        assert_eq!(kept(&item, "extra_content", &sender), Some(&extra));
        assert_eq!(kept(&item, "reasoning_content", &sender), None);
        for other in [origin("https://a.example/v1", "n"), origin("https://b.example/v1", "m")] {
            assert_eq!(kept(&item, "extra_content", &other), None, "{other:?}");
        }
    }

    #[test]
    fn what_is_nothing_or_too_long_is_not_kept() {
        let long = json!("x".repeat(OPAQUE_BYTES_MAX));
        for members in [Map::new(), members(long)] {
            let mut item = json!({"type": "reasoning"});
            keep(&mut item, members);
            let mut item = Item(item);
            sign(&mut item, &ModelOrigin::default());
            assert_eq!(item.0.get(OPAQUE), None);
        }
    }
}
