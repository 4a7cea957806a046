//! Sinks: where events are written, and in which form.
//!
//! A sink changes the form of an event, never its content. stdout is the answer in one of the formats
//! of [`Format`]; the turn's `events.jsonl` is a [`jsonl::Jsonl`] next to it.

pub mod encryption;
pub mod artifacts;
pub mod hosted_files;
pub mod jsonl;
mod line;
pub mod rows;
pub mod document;
mod human;
mod paths;

use std::cell::OnceCell;
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;

use csv_agent_chart::screen::Screen;
use csv_agent_types::event::Event;

use encryption::Seal;
pub use line::line;

pub use csv_agent_text::sanitize;

/// A destination of events.
pub trait EventSink {
    /// Takes the next event of the turn.
    ///
    /// # Errors
    ///
    /// Fails when the event cannot be written: a closed pipe or a full disk is in the chain as
    /// [`std::io::Error`].
    fn emit(&mut self, event: &Event) -> anyhow::Result<()>;
}

/// The output format of the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// Tables, charts and the reply for people, formatted for a terminal or for a pipe.
    #[default]
    Text,
    /// The reply alone.
    Reply,
    /// One document, also on failure.
    Json,
    /// Every event as it happens.
    Jsonl,
    /// One table.
    Csv,
    /// One table, tab-separated.
    Tsv,
    /// Tables, charts and the reply as one Markdown text.
    Md,
}

/// The size of the answer's terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Cells of a line; `None` when the terminal does not determine it.
    pub columns: Option<u16>,
    /// Lines.
    pub rows: u16,
}

/// The settings of a sink for the answer.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct OutputOptions {
    /// The output format of the answer.
    pub format: Format,
    /// Whether the output is a terminal.
    pub is_tty: bool,
    /// Whether to use colour.
    pub colour: bool,
    /// Cells of a line of the terminal.
    pub width: Option<u16>,
    /// Reads the terminal's size, which may change; `None` where no line can be overwritten.
    pub size: Option<fn() -> Size>,
    /// The table for csv and tsv, by name or number from 1; `None` for the last.
    pub table: Option<String>,
    /// Whether to leave out what is not the answer, such as captions.
    pub quiet: bool,
    /// Whether text is shown as it arrives; on a terminal only.
    pub stream: bool,
    /// How rows and plotted data are written in json and jsonl.
    pub seal: Seal,
    /// The base directory of paths in events.
    pub session_dir: PathBuf,
    /// Whether the files of the session remain when the process ends.
    pub keeps_files: bool,
    /// The directory of the Markdown file that is written, whose links are relative to it.
    pub linked_from: Option<PathBuf>,
    /// Whether people see absolute paths, and programs get `abs_path` next to `path`.
    pub abs_paths: bool,
    /// The terminal that charts are drawn for. The caller that sends events fills it before the first
    /// chart; while it is empty, charts are shown by their paths.
    pub screen: Rc<OnceCell<Screen>>,
}

/// Creates the sink for the answer.
///
/// `out` receives the answer: stdout, or the file of `-o`. `warn` receives the one warning that csv and
/// tsv have no place for: that the table has more rows than were written. A failed turn writes nothing,
/// except in json and jsonl, and except what a terminal has already shown.
pub fn answer(
    options: OutputOptions,
    out: Box<dyn Write>,
    warn: Box<dyn Write>,
) -> Box<dyn EventSink> {
    match options.format {
        Format::Text | Format::Reply | Format::Md => Box::new(human::Human::new(options, out)),
        Format::Json => Box::new(document::Document::new(options, out)),
        Format::Jsonl => {
            let abs_dir = options.abs_paths.then(|| options.session_dir.clone());
            Box::new(jsonl::Jsonl::new(out, options.seal, abs_dir))
        }
        Format::Csv => Box::new(rows::RowsSink::new(options, b',', out, warn)),
        Format::Tsv => Box::new(rows::RowsSink::new(options, b'\t', out, warn)),
    }
}

/// Writes a piece of the answer and flushes it.
fn write(out: &mut dyn Write, text: &str) -> anyhow::Result<()> {
    use anyhow::Context;
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write the answer")
}

#[cfg(test)]
mod tests;
