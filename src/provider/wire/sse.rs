//! Server-sent events: bytes in, JSON events out.
//!
//! Pure and incremental: chunk boundaries do not matter. Source: WHATWG HTML, "Server-sent events", and
//! deviations of real servers.

use serde_json::Value;

use csv_agent_types::limits::RESPONSE_BYTES_MAX;

/// The end marker of Chat Completions servers, which is not JSON.
pub(crate) const DONE: &str = "[DONE]";

/// A line or an event of more than [`RESPONSE_BYTES_MAX`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// An event that has not ended yet.
#[derive(Debug)]
pub(crate) struct Decoder {
    bytes_max: usize,
    line: Vec<u8>,
    /// The last byte ended a line as CR, so an LF right after it belongs to the same line end.
    after_cr: bool,
    /// No line has ended yet, so a byte order mark may precede the first.
    at_start: bool,
    name: String,
    data: Option<Vec<u8>>,
    done: bool,
}

impl Decoder {
    /// Makes a decoder for a new stream.
    pub(crate) fn new() -> Decoder {
        Decoder::with_bytes_max(RESPONSE_BYTES_MAX)
    }

    fn with_bytes_max(bytes_max: usize) -> Decoder {
        Decoder {
            bytes_max,
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            name: String::new(),
            data: None,
            done: false,
        }
    }

    /// Decodes more bytes and appends the events that they complete.
    ///
    /// An event is a JSON object; its `type` is the event's name where the object has none. Data that is not a
    /// JSON object is appended as a JSON string, so that its loss can be detected. Nothing is appended after
    /// [`DONE`]. Fails when a line or an event is too long to buffer; nothing useful can follow.
    pub(crate) fn push(&mut self, bytes: &[u8], events: &mut Vec<Value>) -> Result<(), TooLong> {
        let mut rest = bytes;
        while let Some((&first, tail)) = rest.split_first() {
            if self.after_cr && first == b'\n' {
                rest = tail;
            }
            self.after_cr = false;
            let Some(end) = rest.iter().position(|it| matches!(it, b'\n' | b'\r')) else {
                return self.extend_line(rest);
            };
            self.extend_line(&rest[..end])?;
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            self.end_line(events)?;
        }
        Ok(())
    }

    /// Ends the stream: appends the last event if only the blank line after it is missing. Fails when that
    /// event is too long.
    pub(crate) fn finish(&mut self, events: &mut Vec<Value>) -> Result<(), TooLong> {
        if !self.line.is_empty() {
            self.end_line(events)?;
        }
        let mut last = Vec::new();
        self.end_event(&mut last);
        // An event that was cut in the middle does not count, as the standard says.
        events.extend(last.into_iter().filter(Value::is_object));
        Ok(())
    }

    /// Returns whether `[DONE]` has arrived.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.bytes_max < self.line.len() + bytes.len() {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<Value>) -> Result<(), TooLong> {
        let line = std::mem::take(&mut self.line);
        let mut text = line.as_slice();
        if std::mem::take(&mut self.at_start) {
            text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
        }
        if text.is_empty() {
            self.end_event(events);
            return Ok(());
        }
        let colon = text.iter().position(|it| *it == b':').unwrap_or(text.len());
        let value = text.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &text[..colon] {
            b"data" => self.extend_data(value)?,
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            // A comment (an empty name), `id`, `retry`, or an unknown field.
            _ => {}
        }
        Ok(())
    }

    fn extend_data(&mut self, value: &[u8]) -> Result<(), TooLong> {
        match &mut self.data {
            None => self.data = Some(value.to_vec()),
            Some(data) if self.bytes_max <= data.len() + value.len() => return Err(TooLong),
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
        }
        Ok(())
    }

    fn end_event(&mut self, events: &mut Vec<Value>) {
        let name = std::mem::take(&mut self.name);
        let Some(data) = self.data.take().filter(|_| !self.done) else { return };
        match data.trim_ascii() {
            b"" => return,
            data => self.done = data == DONE.as_bytes(),
        }
        events.push(match serde_json::from_slice(&data) {
            Ok(Value::Object(mut object)) => {
                if !name.is_empty() && !object.contains_key("type") {
                    object.insert("type".into(), name.into());
                }
                Value::Object(object)
            }
            _ => Value::String(String::from_utf8_lossy(&data).into_owned()),
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};
    use serde_json::{Value, json};

    use super::{Decoder, TooLong};
    use csv_agent_testing::cases;

    fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Value>, TooLong> {
        let mut decoder = Decoder::with_bytes_max(64);
        let mut events = Vec::new();
        for chunk in chunks {
            decoder.push(chunk, &mut events)?;
        }
        decoder.finish(&mut events)?;
        Ok(events)
    }

    #[track_caller]
    fn check(stream: &str, events: &[Value]) {
        assert_eq!(decode([stream.as_bytes()]).unwrap(), events, "whole");
        let bytes = stream.as_bytes().chunks(1);
        assert_eq!(decode(bytes).unwrap(), events, "byte by byte");
    }

    #[test]
    fn lines_end_in_each_of_the_three_ways() {
        let events = [json!({"type": "a"}), json!({"type": "b"})];
        check("data: {\"type\":\"a\"}\n\ndata: {\"type\":\"b\"}\n\n", &events);
        check("data: {\"type\":\"a\"}\r\n\r\ndata: {\"type\":\"b\"}\r\n\r\n", &events);
        check("data: {\"type\":\"a\"}\r\rdata: {\"type\":\"b\"}\r\r", &events);
    }

    #[test]
    fn what_is_no_event_is_passed_over() {
        check("\u{feff}: hello\nid: 7\nretry: 5\n\n\ndata:{}\n\n:\n\n", &[json!({})]);
        check("event: ping\ndata:\n\ndata\n\n", &[]);
    }

    #[test]
    fn data_lines_are_joined_and_cut_anywhere() {
        check("data: {\"a\":\ndata: \"häß€\"}\n\n", &[json!({"a": "häß€"})]);
    }

    #[test]
    fn the_type_in_the_data_is_trusted_before_the_name() {
        check("event: b\ndata: {\"type\":\"a\"}\n\n", &[json!({"type": "a"})]);
        check("event: error\ndata: {}\n\ndata: {}\n\n", &[json!({"type": "error"}), json!({})]);
    }

    #[test]
    fn nothing_comes_after_done() {
        check("data: {}\n\ndata: [DONE]\n\ndata: {}\n\n", &[json!({}), json!("[DONE]")]);
    }

    #[test]
    fn data_that_cannot_be_read_leave_a_trace() {
        check("data: {oops\n\ndata: 7\n\n", &[json!("{oops"), json!("7")]);
    }

    #[test]
    fn the_last_blank_line_may_be_missing_but_a_cut_event_is_none() {
        check("data: {\"a\":1}", &[json!({"a": 1})]);
        check("data: {\"a\":1}\n", &[json!({"a": 1})]);
        check("data: {\"a\":", &[]);
    }

    #[test]
    fn an_endless_line_or_event_is_refused() {
        let long = "x".repeat(65);
        assert_eq!(decode([long.as_bytes()]), Err(TooLong));
        assert_eq!(decode(long.as_bytes().chunks(1)), Err(TooLong));
        let line = format!("data: {}\n", "x".repeat(40));
        assert_eq!(decode([line.as_bytes(), line.as_bytes()]), Err(TooLong));
    }

    proptest! {
        #![proptest_config(cases(256))]

        /// Characters of real streams, so that the cases are not all noise.
        #[test]
        fn chunking_never_changes_the_result(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    &b"data:"[..], b" ", b"{\"a\":1}", b"{", b"\n", b"\r", b"\r\n", b":", b"[DONE]",
                    b"event: e\n", b"\xef\xbb\xbf", b"\xc3", b"\xa4", b"\xff",
                ]),
                0..40,
            ),
            cuts in prop::collection::vec(1usize..7, 1..40),
        ) {
            let stream = pieces.concat();
            let mut chunks = Vec::new();
            let mut rest = stream.as_slice();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break; }
                let (chunk, tail) = rest.split_at((*cut).min(rest.len()));
                chunks.push(chunk);
                rest = tail;
            }
            assert_eq!(decode(chunks), decode([stream.as_slice()]));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let whole = decode([bytes.as_slice()]);
            assert_eq!(decode(bytes.chunks(1)), whole);
        }
    }
}
