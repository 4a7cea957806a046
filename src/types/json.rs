//! Untrusted JSON, measured before it is parsed.

use serde::Deserialize;

/// Parses JSON as one of our own types, unless it needs more memory than the limit.
///
/// # Errors
///
/// Fails when it does or does not match the type; the reason is a sentence.
pub fn parse<'a, T: Deserialize<'a>>(json: &'a [u8], memory_max: u64) -> Result<T, String> {
    // Our own types take a fourth of the memory of a generic value.
    let wanted = memory_of(json) / 4;
    if memory_max < wanted {
        return Err(format!("it needs {wanted} bytes of memory; the limit is {memory_max} bytes"));
    }
    serde_json::from_slice(json).map_err(|it| it.to_string())
}

/// Returns an upper bound on the number of JSON values: each but the first follows a structural character.
pub fn count_values(json: &[u8]) -> usize {
    1 + signs(json).count()
}

/// Returns an upper bound on the bytes of memory that JSON takes while it is parsed as a
/// [`Value`](serde_json::Value), including its text.
///
/// That exceeds its length: the seven bytes of `{"a":1}` take 1,300.
pub fn memory_of(json: &[u8]) -> u64 {
    // Measured. Objects and lists allocate for several members at once, and serde buffers an enum in a form
    // of its own.
    let structure: u64 = signs(json)
        .map(|it| match it {
            b'{' => 1_024,
            b'[' => 512,
            _ => 192,
        })
        .sum();
    structure + 2 * json.len() as u64
}

/// The characters that a value follows: the start of an object or a list, and separators of members.
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
