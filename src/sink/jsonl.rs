//! Events as JSON Lines, for programs and for the turn's own record.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;

use csv_agent_types::event::Event;

use crate::encryption::{Seal, seal};
use crate::{EventSink, line, paths, write};

/// Writes every event as one line, in a single write.
pub struct Jsonl {
    out: Box<dyn Write>,
    seal: Seal,
    abs_dir: Option<PathBuf>,
}

impl Jsonl {
    /// Creates a sink. With `abs_dir`, the session directory, artifacts include an `abs_path`.
    pub fn new(out: Box<dyn Write>, seal: Seal, abs_dir: Option<PathBuf>) -> Jsonl {
        Jsonl { out, seal, abs_dir }
    }
}

impl EventSink for Jsonl {
    fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        let sealed = seal(event, &self.seal)?;
        let Some(session_dir) = &self.abs_dir else {
            return write(&mut *self.out, &line(&*sealed));
        };
        let mut value = serde_json::to_value(&*sealed).context("cannot write an event")?;
        paths::add_absolute(&mut value, session_dir);
        write(&mut *self.out, &line(&value))
    }
}
