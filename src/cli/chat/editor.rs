//! The line editor: keys, history, completion, multi-line input.
//!
//! It reads and writes the terminal itself, `/dev/tty`, so that stdout contains only answers.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use rustix::process::{Signal, kill_current_process_group};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::{History, MemHistory};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Behavior, Cmd, ColorMode, CompletionType, ConditionalEventHandler, Config, Context, Event,
    EventContext, EventHandler, Helper, KeyCode, KeyEvent, Modifiers, RepeatCount,
};

use csv_agent_text::sanitize;
use csv_agent_types::limits::{COMPLETIONS_MAX, TYPED_LINES_MAX};
use csv_agent_types::status::FailureKind;

use super::commands::is_open;
use super::completion::Completions;

/// Time for a stop signal to take effect. It is sent to the process, and another thread may receive it.
const STOP: Duration = Duration::from_millis(100);

/// Enables bracketed paste.
const ENTER: &[u8] = b"\x1b[?2004h";
/// Disables bracketed paste, shows the cursor, and leaves the current line.
const LEAVE: &[u8] = b"\x1b[?2004l\x1b[?25h\r\n";

/// An editor on the process's terminal.
pub(super) struct Editor {
    inner: rustyline::Editor<Help, MemHistory>,
    is_empty: Arc<AtomicBool>,
}

impl Editor {
    /// Opens the terminal; None when the process has none.
    pub(super) fn open(colour: bool) -> anyhow::Result<Option<Editor>> {
        let Some(before) = Before::look() else { return Ok(None) };
        let doing = "cannot make a line editor";
        let config = Config::builder()
            .behavior(Behavior::PreferTerm)
            .color_mode(if colour { ColorMode::Forced } else { ColorMode::Disabled })
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            .completion_prompt_limit(COMPLETIONS_MAX)
            .bell_style(rustyline::config::BellStyle::None)
            .max_history_size(TYPED_LINES_MAX)
            .context(doing)?
            .build();
        let history = MemHistory::with_config(&config);
        let mut inner = rustyline::Editor::with_history(config, history).context(doing)?;
        let is_empty = Arc::new(AtomicBool::new(true));
        inner.set_helper(Some(Help {
            words: Completions::default(),
            is_empty: Arc::clone(&is_empty),
        }));
        inner.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
        let stop = EventHandler::Conditional(Box::new(Stop(before)));
        inner.bind_sequence(KeyEvent(KeyCode::Char('Z'), Modifiers::CTRL), stop);
        Ok(Some(Editor { inner, is_empty }))
    }

    /// Reads input until it is complete. Blocks, with the terminal in raw mode. Fails when the terminal cannot
    /// be read or written.
    pub(super) fn read(
        &mut self,
        prompt: &(String, String),
        words: Completions,
        typed: &[String],
    ) -> anyhow::Result<LineRead> {
        if let Some(help) = self.inner.helper_mut() {
            help.words = words;
        }
        let history = self.inner.history_mut();
        history.clear().context("cannot fill the editor")?;
        for line in typed {
            // It comes from a file, which is untrusted.
            history.add(&sanitize::for_terminal(line)).context("cannot fill the editor")?;
        }
        match self.inner.readline(prompt) {
            Ok(line) => Ok(LineRead::Line(line)),
            Err(ReadlineError::Interrupted) => {
                Ok(LineRead::Cancelled { was_empty: self.is_empty.load(Ordering::Relaxed) })
            }
            Err(ReadlineError::Eof) => Ok(LineRead::End),
            // The terminal is gone; a signal reports that at the same time.
            Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::UnexpectedEof => {
                Ok(LineRead::End)
            }
            Err(error) if terminal().is_ok_and(|it| tcgetattr(it).is_ok()) => {
                Err(error).context("cannot read what is typed")
            }
            Err(_) => Ok(LineRead::End),
        }
    }
}

/// The state of the terminal before an editor took it.
pub(super) struct Before {
    terminal: File,
    modes: Termios,
}

impl Before {
    /// Saves the terminal's state; None when there is no terminal.
    pub(super) fn look() -> Option<Before> {
        let terminal = terminal().ok()?;
        let modes = tcgetattr(&terminal).ok()?;
        Some(Before { terminal, modes })
    }

    /// Takes the terminal back from an editor that is still reading, and restores it.
    pub(super) fn restore(&self) {
        // After a hang-up there is no terminal to restore.
        let _ = (&self.terminal).write_all(LEAVE);
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.modes);
    }
}

/// Ctrl-Z: stops the job, with the terminal in the state that the shell expects. The editor's own
/// implementation assumes a single-threaded process and continues before it is stopped.
struct Stop(Before);

impl ConditionalEventHandler for Stop {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        let Stop(before) = self;
        let raw = tcgetattr(&before.terminal).ok()?;
        before.restore();
        // A job that no shell could resume is not stopped.
        let _ = kill_current_process_group(Signal::TSTP);
        thread::sleep(STOP);
        let _ = tcsetattr(&before.terminal, OptionalActions::Now, &raw);
        let _ = (&before.terminal).write_all(ENTER);
        Some(Cmd::Repaint)
    }
}

fn terminal() -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/tty")
}

/// Answers the editor's queries while the user types.
struct Help {
    words: Completions,
    /// Whether the line is empty, so that Ctrl-C has nothing to clear.
    is_empty: Arc<AtomicBool>,
}

impl Completer for Help {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, found) = self.words.complete(line, cursor);
        let pair =
            |it: super::completion::Completion| Pair { display: it.shown, replacement: it.text };
        Ok((start, found.into_iter().map(pair).collect()))
    }
}

impl Hinter for Help {
    type Hint = String;

    /// Returns no hint: it is called whenever the line has changed.
    fn hint(&self, line: &str, _: usize, _: &Context<'_>) -> Option<String> {
        self.is_empty.store(line.is_empty(), Ordering::Relaxed);
        None
    }
}

impl Validator for Help {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let is_open = is_open(context.input());
        Ok(if is_open { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Highlighter for Help {}

impl Helper for Help {}

/// What came from the terminal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineRead {
    /// Something was typed, which may be nothing.
    Line(String),
    /// Ctrl-C: what was typed is to be forgotten.
    Cancelled {
        /// Whether that was nothing, as far as it is known.
        was_empty: bool,
    },
    /// Ctrl-D, or the terminal is gone.
    End,
    /// A signal asks the process to end.
    Ended(FailureKind),
}
