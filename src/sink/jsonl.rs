//! Events as JSON Lines, for programs and for the turn's own record.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use serde_json::Value;

use crate::event::Event;
use crate::sink::seal::{Seal, seal};
use crate::sink::{EventSink, paths, write};

/// Writes every event as a line, whole and at once.
pub struct Jsonl {
    out: Box<dyn Write>,
    seal: Seal,
    abs_dir: Option<PathBuf>,
}

impl Jsonl {
    /// Makes a sink. With `abs_dir`, the session directory, artifacts get an `abs_path`.
    pub fn new(out: Box<dyn Write>, seal: Seal, abs_dir: Option<PathBuf>) -> Jsonl {
        Jsonl { out, seal, abs_dir }
    }
}

impl EventSink for Jsonl {
    fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        let sealed = seal(event, &self.seal)?;
        let mut value = serde_json::to_value(&sealed).context("cannot write an event")?;
        if let Some(session_dir) = &self.abs_dir {
            paths::add_absolute(&mut value, session_dir);
        }
        write(&mut *self.out, &line(&value))
    }
}

/// Returns JSON as one line with a line feed.
///
/// Beyond what JSON asks for, characters that steer a terminal or turn text around are escaped, so
/// that a line is safe to look at and still the same value.
pub fn line(value: &Value) -> String {
    let json = value.to_string();
    let is_escaped = |it: char| {
        matches!(it, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if json.is_ascii() && !json.contains('\u{7f}') || !json.contains(is_escaped) {
        return json + "\n";
    }
    // Outside strings JSON is ASCII without controls, so each of these stands in a string.
    let mut line = String::with_capacity(json.len() + 32);
    for char in json.chars() {
        if is_escaped(char) {
            write!(line, "\\u{:04x}", u32::from(char)).expect("a String takes any text");
        } else {
            line.push(char);
        }
    }
    line + "\n"
}
