//! `chat`: one question after another, with one agent and one session.

use std::io::{BufRead, Read, Write};
use std::ops::ControlFlow;
use std::thread;

use tokio::sync::mpsc::{Receiver, channel};

use crate::cli::ask::{open, settle};
use crate::cli::graphics;
use crate::cli::options::ChatOptions;
use crate::cli::output::Output;
use crate::cli::report;
use crate::cli::signals::{self, Signals};
use crate::conversation::Question;
use crate::limits::QUESTION_BYTES_MAX;
use crate::status::{ExitStatus, Failure};

const PROMPT: &str = "> ";

/// Answers questions until there are no more: from the terminal, or one a line from a pipe.
///
/// Returns the worst status of all turns; on a terminal, where the user has seen each, that of the
/// chat itself.
///
/// # Errors
///
/// Fails when the chat could not begin, or a turn could not.
pub fn run(options: ChatOptions) -> anyhow::Result<ExitStatus> {
    let ChatOptions { question, turn: options } = options;
    let first = question.clone().unwrap_or_default();
    let (mut agent, mut session) = match open(&options, "chat", &first)? {
        ControlFlow::Continue(opened) => opened,
        ControlFlow::Break(status) => return Ok(status),
    };
    let is_live = options.global.terminal.stdin_is_tty;
    let mut worst = ExitStatus::Ok;
    let runtime = signals::runtime()?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        // From here on whoever reads lines would read the terminal's answer as well.
        graphics::ask_ahead(&options.answer.images, &options.global.terminal);
        let mut lines = Lines::read(is_live);
        let mut next = question;
        loop {
            let question = if let Some(question) = next.take() {
                question
            } else {
                // A signal at the prompt ends the chat; the line that was being typed is lost.
                tokio::select! {
                    status = signals.next() => return Ok(Some(status)),
                    line = lines.next() => match line? {
                        Some(line) => line,
                        None => return Ok(None),
                    },
                }
            };
            if question.trim().is_empty() {
                continue;
            }
            let question = Question {
                text: question.trim().to_owned(),
                images: Vec::new(),
                verdict: options.verdict,
            };
            let mut output = Output::open(&options.answer, &options.global, session.dir())?;
            let end = agent.turn(&mut session, &mut output, question, signals.next()).await?;
            let status = settle(end, output, &options.global)?;
            worst = worst.worst(status);
            if status == ExitStatus::BrokenPipe || status == ExitStatus::Terminated {
                return Ok(Some(status));
            }
        }
    });
    runtime.block_on(agent.close());
    // The thread that waits for a line ends with the process.
    runtime.shutdown_background();
    let signal: anyhow::Result<Option<ExitStatus>> = ended;
    match signal? {
        Some(status) => Ok(status),
        None if is_live => Ok(ExitStatus::Ok),
        None => Ok(worst),
    }
}

/// Lines of stdin, read one at a time when they are asked for.
struct Lines {
    is_live: bool,
    // A thread of its own sends each line and ends with stdin; a read of stdin cannot be cancelled.
    // It holds one line at most, so it never reads far ahead.
    lines: Receiver<std::io::Result<Vec<u8>>>,
}

impl Lines {
    fn read(is_live: bool) -> Lines {
        let (sender, lines) = channel(1);
        thread::spawn(move || {
            let mut stdin = std::io::stdin().lock();
            loop {
                let mut line = Vec::new();
                let read =
                    (&mut stdin).take(QUESTION_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line);
                match read {
                    Ok(0) => return,
                    read => {
                        if sender.blocking_send(read.map(|_| line)).is_err() {
                            return;
                        }
                    }
                }
            }
        });
        Lines { is_live, lines }
    }

    /// Returns the next line; none when stdin has ended.
    async fn next(&mut self) -> anyhow::Result<Option<String>> {
        if self.is_live {
            report::tell(PROMPT);
        }
        let Some(line) = self.lines.recv().await else {
            if self.is_live {
                let _ = std::io::stderr().write_all(b"\n");
            }
            return Ok(None);
        };
        let line = line?;
        if QUESTION_BYTES_MAX < line.len() {
            let message = format!("a question is longer than {QUESTION_BYTES_MAX} bytes");
            return Err(Failure::new(ExitStatus::Usage, message).into());
        }
        let line = String::from_utf8(line)
            .map_err(|_| Failure::new(ExitStatus::Usage, "cannot read a question as UTF-8"))?;
        Ok(Some(line))
    }
}
