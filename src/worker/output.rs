//! The output of executed code: read in full, with the beginning and the end kept.

use std::collections::VecDeque;

use memchr::memmem;

use csv_agent_types::limits::WORKER_PRINTED_BYTES_MAX;

/// Bytes kept of each end.
const END_BYTES_MAX: usize = WORKER_PRINTED_BYTES_MAX / 2;

/// The output of one command, as it arrives.
///
/// The worker ends a command's output with a mark that contains the command's id. Bytes after the mark
/// come from threads and subprocesses that are still running; they belong to the next command.
#[derive(Debug, Default)]
pub(super) struct Printed {
    unsorted: Vec<u8>,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    n_bytes: usize,
}

impl Printed {
    /// Takes bytes as they are read. Returns whether the mark has arrived.
    pub(crate) fn push(&mut self, bytes: &[u8], mark: &[u8]) -> bool {
        self.unsorted.extend_from_slice(bytes);
        if let Some(at) = memmem::find(&self.unsorted, mark) {
            let rest = self.unsorted.split_off(at + mark.len());
            self.unsorted.truncate(at);
            self.sort(at);
            self.unsorted = rest;
            return true;
        }
        // The last bytes may be the beginning of the mark.
        self.sort(self.unsorted.len().saturating_sub(mark.len() - 1));
        false
    }

    /// Returns the text and resets. The text takes at most `json_bytes_max` bytes as a JSON string; a
    /// note in place of the cut part counts the missing bytes and says where the whole output is. Empty
    /// when nothing was printed.
    pub(crate) fn take(&mut self, json_bytes_max: usize, whole_at: Option<&str>) -> String {
        let head = std::mem::take(&mut self.head);
        let tail: Vec<u8> = std::mem::take(&mut self.tail).into();
        let n_lost = std::mem::take(&mut self.n_bytes) - head.len() - tail.len();
        if n_lost == 0 {
            let whole = String::from_utf8_lossy(&[head, tail].concat()).into_owned();
            return cut_middle(&without_addresses(&whole), "", 0, json_bytes_max, whole_at);
        }
        let head = without_addresses(&String::from_utf8_lossy(&head));
        let tail = without_addresses(&String::from_utf8_lossy(&tail));
        cut_middle(&head, &tail, n_lost, json_bytes_max, whole_at)
    }

    /// Returns the last line printed, for a process that ended before its mark.
    pub(crate) fn last_line(&mut self) -> Option<String> {
        self.sort(self.unsorted.len());
        let text = self.take(WORKER_PRINTED_BYTES_MAX, None);
        text.lines()
            .rfind(|line| !line.trim().is_empty() && !line.contains('\0'))
            .map(|line| line.trim().to_owned())
    }

    fn sort(&mut self, n_bytes: usize) {
        self.n_bytes += n_bytes;
        let to_head = n_bytes.min(END_BYTES_MAX - self.head.len());
        self.head.extend(self.unsorted.drain(..to_head));
        self.tail.extend(self.unsorted.drain(..n_bytes - to_head));
        let surplus = self.tail.len().saturating_sub(END_BYTES_MAX);
        self.tail.drain(..surplus);
    }
}

/// Joins `head` and `tail`, between which `n_lost` bytes are already missing, into one text.
fn cut_middle(
    head: &str,
    tail: &str,
    n_lost: usize,
    json_bytes_max: usize,
    whole_at: Option<&str>,
) -> String {
    let place = whole_at.map_or_else(String::new, |it| format!("; the full text is {it}"));
    let whole = [head, tail].concat();
    if n_lost == 0 && json_bytes(&whole) <= json_bytes_max {
        return whole;
    }
    let seam =
        if n_lost == 0 { whole.floor_char_boundary(whole.len() * 2 / 3) } else { head.len() };
    let (head, tail) = whole.split_at(seam);
    // Escaping makes JSON longer than the text by an amount that depends on the text, so try and
    // shorten.
    let mut n_kept = json_bytes_max.min(whole.len());
    loop {
        let front = &head[..head.floor_char_boundary(n_kept * 2 / 3)];
        let back = &tail[tail.ceil_char_boundary(tail.len().saturating_sub(n_kept / 3))..];
        let n_cut = n_lost + whole.len() - front.len() - back.len();
        let text = format!("{front}\n… {n_cut} bytes cut{place} …\n{back}");
        if json_bytes(&text) <= json_bytes_max || n_kept == 0 {
            return text;
        }
        n_kept = n_kept * 4 / 5;
    }
}

/// Returns the length of a text as a JSON string, without the quotes.
fn json_bytes(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 2,
        0..32 => 6,
        _ => 1,
    };
    text.bytes().map(escaped).sum()
}

/// Returns the text without memory addresses (`<object at 0x7f…>`), so that a replay sees the same as
/// the recording.
fn without_addresses(text: &str) -> String {
    const AT: &str = " at 0x";
    let mut parts = text.split(AT);
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|it: char| it.is_ascii_hexdigit());
        clean.push_str(if rest.len() == part.len() { AT } else { "" });
        clean.push_str(rest);
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::{Printed, cut_middle, json_bytes, without_addresses};

    #[test]
    fn a_mark_is_found_across_reads_and_ends_the_output() {
        let mut printed = Printed::default();
        assert!(!printed.push(b"one\n\0a", b"\0abc\0"));
        assert!(printed.push(b"bc\0two", b"\0abc\0"));
        assert_eq!(printed.take(100, None), "one\n");
        assert!(printed.push(b"\0d\0", b"\0d\0"));
        assert_eq!(printed.take(100, None), "two");
    }

    #[test]
    fn a_flood_keeps_both_ends_and_counts_the_rest() {
        let mut printed = Printed::default();
        printed.push(b"start ", b"\0x\0");
        for _ in 0..1_000 {
            printed.push(&[b'.'; 1_000], b"\0x\0");
        }
        assert!(printed.push(b" end\0x\0", b"\0x\0"));
        let text = printed.take(300, None);
        assert!(text.starts_with("start ..."), "{text}");
        assert!(text.ends_with("... end"), "{text}");
        let kept = text.replace("\n… ", "").split(" bytes cut …\n").map(str::len).sum::<usize>();
        assert!(text.contains(&format!("{} bytes cut", 1_000_010 - (kept - 6))), "{text}");
        assert!(json_bytes(&text) <= 300);
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let text = cut_middle(&"é".repeat(500), "", 0, 101, None);
        assert!(
            text.chars().all(|it| it == 'é' || "\n… 0123456789bytescut".contains(it)),
            "{text}"
        );
    }

    #[test]
    fn addresses_are_left_out_and_nothing_else() {
        assert_eq!(without_addresses("<f at 0x7f3a> at 0xyz at 1"), "<f> at 0xyz at 1");
    }
}
