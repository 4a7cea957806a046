//! JSON that others have written, measured before it is built.

use serde::Deserialize;

/// Reads JSON of a type of our own, unless it takes more than so many bytes of memory.
///
/// # Errors
///
/// Fails when it does or is not of that type; the reason is a sentence.
pub fn parse<'a, T: Deserialize<'a>>(json: &'a [u8], memory_max: u64) -> Result<T, String> {
    // A type of our own takes a fourth of what any value does.
    let wanted = memory_of(json) / 4;
    if memory_max < wanted {
        return Err(format!(
            "it takes {wanted} bytes of memory, and at most {memory_max} are given"
        ));
    }
    serde_json::from_slice(json).map_err(|it| it.to_string())
}

/// Returns how many values JSON has at most: each one but the first comes after a sign.
pub fn count_values(json: &[u8]) -> usize {
    1 + signs(json).count()
}

/// Returns how many bytes of memory JSON takes at most while it is built as a
/// [`Value`](serde_json::Value), its text included.
///
/// That is more than its bytes: seven of them, `{"a":1}`, take 1,300.
pub fn memory_of(json: &[u8]) -> u64 {
    // Measured. The room for an object and a list is made for several members at once, and serde keeps what
    // it reads of an enum in a form of its own first.
    let structure: u64 = signs(json)
        .map(|it| match it {
            b'{' => 1_024,
            b'[' => 512,
            _ => 192,
        })
        .sum();
    structure + 2 * json.len() as u64
}

/// The signs after which a value comes: what begins an object or a list, what comes between its members.
fn signs(json: &[u8]) -> impl Iterator<Item = u8> {
    let (mut in_text, mut is_escaped) = (false, false);
    json.iter().copied().filter(move |byte| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            b'[' | b'{' | b',' | b':' => return !in_text,
            _ => {}
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::{count_values, memory_of};

    #[test]
    fn signs_within_a_text_are_none() {
        assert_eq!(count_values(br#"{"a":"\",[{\\"}"#), 3);
        assert_eq!(count_values(b"[[],1,{}]"), 6, "an empty list counts for one more");
    }

    #[test]
    fn what_is_small_as_text_may_be_large_in_memory() {
        let text = format!("\"{}\"", "[{,".repeat(1_000));
        assert_eq!(memory_of(text.as_bytes()), 6_004);
        assert_eq!(memory_of(br#"[{"a":1},2]"#), 512 + 1_024 + 2 * 192 + 2 * 11);
    }
}
