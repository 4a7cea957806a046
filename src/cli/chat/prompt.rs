//! Interactive input, line by line: with an editor, or without where the terminal lacks the features.

use std::path::{Path, PathBuf};

use anyhow::Context;
use tokio::task::spawn_blocking;

use csv_agent_session::input_history::Typed;
use csv_agent_types::status::FailureKind;

use super::commands::{is_open, joined};
use super::completion::Completions;
use super::editor::{Before, Editor};
use super::stdin::Stdin;
use crate::chat::editor::LineRead;
use crate::diagnostics;
use crate::options::GlobalOptions;
use crate::signals::Signals;

const PROMPT: &str = "> ";
/// The continuation prompt, without an editor.
const MORE: &str = ". ";

/// Asks for one line after another.
pub(super) struct Prompt {
    /// None without an editor, and while it is reading.
    editor: Option<Box<Editor>>,
    stdin: Stdin,
    typed: Typed,
    /// The session that stores the input history; None when nothing should be stored.
    kept_in: Option<PathBuf>,
    colour: bool,
}

impl Prompt {
    /// Opens the terminal. `kept_in` is the directory of the session that stores the input history.
    pub(super) fn open(global: &GlobalOptions, kept_in: Option<&Path>) -> anyhow::Result<Prompt> {
        let colour = global.terminal.stderr.colour;
        let editor = if global.terminal.can_redraw { Editor::open(colour)? } else { None };
        let typed = kept_in.map(Typed::read).transpose()?.unwrap_or_default();
        let kept_in = kept_in.map(Path::to_owned);
        Ok(Prompt { editor: editor.map(Box::new), stdin: Stdin::default(), typed, kept_in, colour })
    }

    /// Reads a question or a command.
    pub(super) async fn ask(
        &mut self,
        words: Completions,
        signals: &mut Signals,
    ) -> anyhow::Result<LineRead> {
        let read = self.read(PROMPT, words, true, signals).await?;
        let LineRead::Line(line) = read else { return Ok(read) };
        if !line.trim().is_empty() {
            self.remember(&line);
        }
        Ok(LineRead::Line(joined(&line)))
    }

    /// Asks the user a yes-or-no question.
    pub(super) async fn confirm(
        &mut self,
        question: &str,
        signals: &mut Signals,
    ) -> anyhow::Result<LineRead> {
        self.read(&format!("{question} [y/N] "), Completions::default(), false, signals).await
    }

    /// Clears the input history, as the session has.
    pub(super) fn forget(&mut self) {
        self.typed = Typed::default();
    }

    fn remember(&mut self, line: &str) {
        let Some(dir) = &self.kept_in else { return self.typed.push(line) };
        if let Err(error) = self.typed.keep(dir, line) {
            // The chat continues without it.
            diagnostics::warning(
                &format!("cannot store the lines that you type: {error:#}"),
                self.colour,
            );
            self.kept_in = None;
        }
    }

    async fn read(
        &mut self,
        prompt: &str,
        words: Completions,
        has_history: bool,
        signals: &mut Signals,
    ) -> anyhow::Result<LineRead> {
        let Some(mut editor) = self.editor.take() else {
            return self.read_plain(prompt, signals).await;
        };
        let styled =
            if self.colour { format!("\x1b[1;36m{prompt}\x1b[0m") } else { prompt.to_owned() };
        let prompt = (prompt.to_owned(), styled);
        let typed = if has_history { self.typed.lines().to_vec() } else { Vec::new() };
        let before = Before::look();
        let reading = spawn_blocking(move || {
            let read = editor.read(&prompt, words, &typed);
            (editor, read)
        });
        // A signal ends the chat. The editor that is still reading ends with the process, so the terminal
        // is restored here. Ctrl-C is a key to the editor; as a signal it was meant for earlier work and
        // came a moment too late.
        let (editor, read) = tokio::select! {
            biased;
            status = signals.end() => {
                if let Some(before) = before {
                    before.restore();
                }
                return Ok(LineRead::Ended(status));
            }
            done = reading => done.context("the line editor failed")?,
        };
        self.editor = Some(editor);
        // A closed terminal sends a signal, which may arrive shortly after the end of input.
        if matches!(read, Ok(LineRead::End)) && before.is_some() && Before::look().is_none() {
            return Ok(LineRead::Ended(FailureKind::Terminated));
        }
        read
    }

    /// Reads lines with the terminal's own editing.
    async fn read_plain(
        &mut self,
        prompt: &str,
        signals: &mut Signals,
    ) -> anyhow::Result<LineRead> {
        diagnostics::tell(prompt);
        let mut text = String::new();
        loop {
            // The read that loses continues, and the next call waits for it.
            let line = tokio::select! {
                biased;
                status = signals.next() => {
                    diagnostics::tell("\n");
                    return Ok(match status {
                        FailureKind::Interrupted => LineRead::Cancelled { was_empty: text.is_empty() },
                        status => LineRead::Ended(status),
                    });
                }
                line = self.stdin.next(b'\n') => line?,
            };
            let Some(line) = line else {
                diagnostics::tell("\n");
                return Ok(if text.is_empty() { LineRead::End } else { LineRead::Line(text) });
            };
            text.push_str(line.trim_end_matches(['\n', '\r']));
            if !is_open(&text) {
                return Ok(LineRead::Line(text));
            }
            text.push('\n');
            diagnostics::tell(MORE);
        }
    }
}
