//! The API key, and masking it and similar secrets in everything that is written.

use std::fmt;

use serde_json::Value;

/// Minimum token characters for `sk-…` or `Bearer …` to look like a secret rather than a word.
const TOKEN_CHARS_MIN: usize = 8;

/// Minimum characters of a real key. A shorter one is a dummy for a local server, such as `test`, and may
/// occur anywhere in code.
const KEY_CHARS_MIN: usize = 8;

/// Start and end of the first line of a private key in PEM, around its type.
const PEM_BEGIN: &str = "-----BEGIN ";
const PEM_KEY: &str = "PRIVATE KEY-----";
/// Maximum bytes of a PEM key type.
const PEM_LABEL_BYTES_MAX: usize = 32;

/// The API key. It is sent in the `Authorization` header and nowhere else.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Makes a key from the content of a variable or a file, without surrounding white space.
    pub fn new(text: impl AsRef<str>) -> Key {
        Key(text.as_ref().trim().to_owned())
    }

    /// Returns whether it is empty, which is equivalent to no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether it is long enough to be a secret.
    fn is_secret(&self) -> bool {
        KEY_CHARS_MIN <= self.0.chars().count()
    }

    /// Replaces the key everywhere in a value, unless it is a dummy.
    pub(super) fn mask_in(&self, value: &mut Value) {
        match value {
            Value::String(text) if self.is_secret() && text.contains(&self.0) => {
                *text = text.replace(&self.0, "***");
            }
            Value::Array(values) => values.iter_mut().for_each(|it| self.mask_in(it)),
            Value::Object(members) => members.values_mut().for_each(|it| self.mask_in(it)),
            _ => {}
        }
    }

    /// Returns the key itself, for the one header that contains it.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Returns `text` with the key, and everything that looks like one, replaced. A dummy key stays.
///
/// `text` may be JSON: a replacement never extends beyond the end of a string.
pub fn mask(text: &str, key: Option<&Key>) -> String {
    let mut text = text.to_owned();
    if let Some(key) = key.filter(|key| key.is_secret()) {
        let in_json = key.0.replace('\\', r"\\").replace('"', r#"\""#);
        text = text.replace(&key.0, "***").replace(&in_json, "***");
    }
    let text = mask_private_keys(&text);
    ["sk-", "Bearer ", "AKIA"].into_iter().fold(text, |it, prefix| mask_tokens(&it, prefix))
}

/// Replaces the content of a PEM private key, up to the end of its string.
fn mask_private_keys(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(PEM_BEGIN) {
        let (before, label) = rest.split_at(at + PEM_BEGIN.len());
        masked.push_str(before);
        rest = label;
        if let Some(at) = label.find(PEM_KEY).filter(|at| *at < PEM_LABEL_BYTES_MAX) {
            let (label, block) = label.split_at(at + PEM_KEY.len());
            let end = ["-----END", "\""].into_iter().filter_map(|it| block.find(it)).min();
            masked.push_str(label);
            masked.push_str("***");
            rest = &block[end.unwrap_or(block.len())..];
        }
    }
    masked + rest
}

/// Replaces the token after each `prefix` that starts a word.
fn mask_tokens(text: &str, prefix: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(prefix) {
        let (before, token) = rest.split_at(at + prefix.len());
        // `risk-adjusted` holds `sk-` too, but not at the start of a word.
        let word_goes_on = rest[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let token_end = token.find(|c| !is_token_char(c)).unwrap_or(token.len());
        masked.push_str(before);
        rest = token;
        if !word_goes_on && TOKEN_CHARS_MIN <= token_end {
            masked.push_str("***");
            rest = &token[token_end..];
        }
    }
    masked + rest
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '+' | '/' | '=')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Key, mask};

    #[track_caller]
    fn check(text: &str, masked: &str) {
        let key = Key::new(" s3cr\"et9 ");
        assert_eq!(mask(text, Some(&key)), masked);
        assert_eq!(mask(masked, Some(&key)), masked, "masking twice changes nothing");
    }

    #[test]
    fn the_key_and_its_like_are_replaced_and_words_are_not() {
        check("got s3cr\"et9.", "got ***.");
        check(r#"{"a":"s3cr\"et9"}"#, r#"{"a":"***"}"#);
        check("Incorrect API key: sk-proj-abc_DEF-123.", "Incorrect API key: sk-***");
        check(r#""Authorization":"Bearer eyJhbGciOi.x""#, r#""Authorization":"Bearer ***""#);
        check("id AKIAIOSFODNN7EXAMPLE, AKIA", "id AKIA***, AKIA");
        check(
            r#"{"a":"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n","b":1}"#,
            r#"{"a":"-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\n","b":1}"#,
        );
        check(
            "risk-adjusted-returns, a sk-short, Bearer of news",
            "risk-adjusted-returns, a sk-short, Bearer of news",
        );
    }

    #[test]
    fn a_key_is_masked_within_a_value() {
        let mut value =
            json!({"name": "f", "content": [{"text": "it is k3y-k3y-, or k3"}], "n": 3});
        Key::new("k3y-k3y-").mask_in(&mut value);
        assert_eq!(value["content"][0]["text"], "it is ***, or k3");
        Key::new("").mask_in(&mut value);
        assert_eq!(value["name"], "f");
    }

    #[test]
    fn a_key_of_a_few_letters_is_a_dummy_and_stays() {
        let mut value = json!("test=1; tests = 2");
        for dummy in ["test", "not-set", "x"] {
            Key::new(dummy).mask_in(&mut value);
            assert_eq!(mask("not-set: test=1", Some(&Key::new(dummy))), "not-set: test=1");
        }
        assert_eq!(value, "test=1; tests = 2");
        let key = Key::new("test-key");
        key.mask_in(&mut value);
        assert_eq!(mask("test-key=1", Some(&key)), "***=1");
    }

    #[test]
    fn a_key_never_prints_itself() {
        let key = Key::new("sk-abcdefghijkl");
        assert_eq!(format!("{key} {key:?} {:?}", Some(&key)), "*** *** Some(***)");
    }
}
