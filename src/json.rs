//! JSON that others have written, measured before it is built.

/// Returns how many values JSON has at most: each one but the first comes after one of these signs.
pub fn count_values(json: &[u8]) -> usize {
    let (mut n_values, mut in_text, mut is_escaped) = (1, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            b'[' | b'{' | b',' | b':' if !in_text => n_values += 1,
            _ => {}
        }
    }
    n_values
}

#[cfg(test)]
mod tests {
    use super::count_values;

    #[test]
    fn signs_within_a_text_are_none() {
        assert_eq!(count_values(br#"{"a":"\",[{\\"}"#), 3);
        assert_eq!(count_values(b"[[],1,{}]"), 6, "an empty list counts for one more");
    }
}
