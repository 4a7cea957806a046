//! JSON as Python writes it: `NaN` and `Infinity`, which JSON does not have, become null.

use std::cell::Cell;
use std::io::{BufRead, Read};

/// Reads JSON, with null for each number that is not finite.
pub(crate) struct FiniteNumbers<'a, R> {
    inner: R,
    /// How many there were.
    n_replaced: &'a Cell<u64>,
    is_text: bool,
    is_escaped: bool,
    /// A word that has begun outside of text.
    word: Vec<u8>,
    /// Bytes to return, and how many of them were returned.
    ready: Vec<u8>,
    n_returned: usize,
}

const WORDS: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];
/// Bytes of the longest of them.
const WORD_BYTES_MAX: usize = 9;

impl<'a, R: BufRead> FiniteNumbers<'a, R> {
    /// Reads `inner`, and counts in `n_replaced`.
    pub(crate) fn new(inner: R, n_replaced: &'a Cell<u64>) -> Self {
        FiniteNumbers {
            inner,
            n_replaced,
            is_text: false,
            is_escaped: false,
            word: Vec::new(),
            ready: Vec::new(),
            n_returned: 0,
        }
    }

    fn take(&mut self, byte: u8) {
        let is_word = !self.is_text && (byte.is_ascii_alphabetic() || byte == b'-');
        if is_word && self.word.len() <= WORD_BYTES_MAX {
            return self.word.push(byte);
        }
        self.end_word();
        self.ready.push(byte);
        self.is_text ^= byte == b'"' && !self.is_escaped;
        self.is_escaped = self.is_text && byte == b'\\' && !self.is_escaped;
    }

    fn end_word(&mut self) {
        if WORDS.contains(&self.word.as_slice()) {
            self.n_replaced.set(self.n_replaced.get() + 1);
            self.ready.extend_from_slice(b"null");
        } else {
            self.ready.extend_from_slice(&self.word);
        }
        self.word.clear();
    }
}

impl<R: BufRead> Read for FiniteNumbers<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while self.n_returned == self.ready.len() {
            self.ready.clear();
            self.n_returned = 0;
            let part = self.inner.fill_buf()?.to_vec();
            for byte in &part {
                self.take(*byte);
            }
            self.inner.consume(part.len());
            if part.is_empty() {
                self.end_word();
                if self.ready.is_empty() {
                    return Ok(0);
                }
            }
        }
        let rest = &self.ready[self.n_returned..];
        let n_bytes = rest.len().min(into.len());
        into[..n_bytes].copy_from_slice(&rest[..n_bytes]);
        self.n_returned += n_bytes;
        Ok(n_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::{BufReader, Read};

    use proptest::prelude::{prop_assert_eq, proptest};

    use super::FiniteNumbers;
    use csv_agent_testing::cases;

    fn read(text: &str, buffer_bytes: usize) -> (String, u64) {
        let n_replaced = Cell::new(0);
        let inner = BufReader::with_capacity(buffer_bytes, text.as_bytes());
        let mut all = String::new();
        FiniteNumbers::new(inner, &n_replaced).read_to_string(&mut all).unwrap();
        (all, n_replaced.get())
    }

    #[test]
    fn a_number_that_is_not_finite_becomes_null() {
        let check = |text: &str, expected: &str, n_replaced: u64| {
            for buffer_bytes in [1, 2, 7, 100] {
                assert_eq!(read(text, buffer_bytes), (expected.to_owned(), n_replaced), "{text}");
            }
        };
        check(r#"{"a": NaN, "b":-Infinity}"#, r#"{"a": null, "b":null}"#, 2);
        check("[Infinity,NaN", "[null,null", 2);
        check(
            r#"{"NaN": "NaN \" NaN, \\", "b": NaN}"#,
            r#"{"NaN": "NaN \" NaN, \\", "b": null}"#,
            1,
        );
        check(
            "[-1, 1e-5, true, NaNa, Infinityandmore]",
            "[-1, 1e-5, true, NaNa, Infinityandmore]",
            0,
        );
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn other_text_is_unchanged(text in r#"[a-zé"\\,:{} 0-9.-]{0,40}"#, buffer_bytes in 1_usize..50) {
            prop_assert_eq!(read(&text, buffer_bytes), (text, 0));
        }
    }
}
