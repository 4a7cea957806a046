//! `chat`: one question after another, with one agent and one session.

mod commands;
mod editor;
mod execute;
mod prompt;
mod artifacts;
mod stdin;
mod completion;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::PathBuf;

use tokio::runtime::Runtime;

use csv_agent_agent::Agent;
use csv_agent_session::{Session, turns};
use csv_agent_text::{digits, sanitize};
use csv_agent_types::catalog::Dataset;
use csv_agent_types::chosen::is_named;
use csv_agent_types::conversation::Question;
use csv_agent_types::status::{BUILTIN, FailureKind};

use crate::ask::{open, settle};
use crate::chat::editor::LineRead;
use crate::errors::{self, ExitStatus};
use crate::flags::InputForm;
use crate::options::config::prices;
use crate::options::session::SessionOrigin;
use crate::options::settings::Settings;
use crate::options::{ChatOptions, GlobalOptions, SessionChoice, TurnOptions};
use crate::signals::{self, Signals};
use crate::turn_sinks::TurnSinks;
use crate::{diagnostics, stdout};
use commands::{InputLine, leaves, misplaced};
use completion::Completions;
use prompt::Prompt;
use stdin::Stdin;

/// Number of datasets that the greeting names.
const GREETED_MAX: usize = 5;

/// Answers questions until the input ends, from the terminal or from a pipe.
///
/// Returns the worst status of all turns. On a terminal, where the user has seen each status, returns that of
/// the chat itself. Fails when the chat, or a turn from a pipe, could not begin.
pub(crate) fn run(options: ChatOptions, settings: &Settings) -> anyhow::Result<ExitStatus> {
    let ChatOptions { question, input, home, turn: mut options } = options;
    let is_live = options.global.terminal.stdin_is_tty;
    let dir = options.global.session.dir.clone();
    let is_new = !options.ephemeral && !dir.join("session.json").exists();
    let before = Session::names_in(&dir);
    let first = question.clone().unwrap_or_default();
    let (agent, session) = match open(&mut options, "chat", &first, is_live)? {
        ControlFlow::Continue(opened) => opened,
        ControlFlow::Break(status) => return Ok(status),
    };
    let runtime = signals::runtime()?;
    let signals = runtime.block_on(async { Signals::listen() })?;
    let spent_before = (session.total_tokens(), session.total_cost_usd());
    let mut models = vec![BUILTIN.to_owned(), options.agent.model.clone()];
    models.extend(prices::all(settings)?.into_iter().map(|it| it.0));
    let mut chat =
        Chat { options, settings, home, agent, session, runtime, signals, spent_before, models };
    let ended = if is_live { chat.talk(question) } else { chat.answer_all(question, input) };
    chat.close(is_new, before.as_ref())?;
    ended
}

/// A running chat.
struct Chat<'a> {
    options: TurnOptions,
    settings: &'a Settings<'a>,
    /// The home directory, for `~`.
    home: Option<PathBuf>,
    agent: Agent,
    session: Session,
    runtime: Runtime,
    signals: Signals,
    /// Tokens and USD of the session when the chat began.
    spent_before: (u64, Option<f64>),
    /// Models that the user has named.
    models: Vec<String>,
}

impl Chat<'_> {
    /// Answers questions from a pipe. Ctrl-C ends it, as for any non-interactive command.
    fn answer_all(&mut self, first: Option<String>, form: InputForm) -> anyhow::Result<ExitStatus> {
        let mut stdin = Stdin::default();
        let mut next = first;
        let mut worst = ExitStatus::Ok;
        loop {
            let question = match next.take() {
                Some(question) => ControlFlow::Continue(question),
                None => self.next_question(&mut stdin, form, worst)?,
            };
            let status = match question {
                // Nobody wants to pay a model for the answer to `exit`.
                ControlFlow::Continue(it) if form == InputForm::Lines && leaves(&it) => {
                    return Ok(worst);
                }
                ControlFlow::Continue(question) => {
                    match misplaced(&question).filter(|_| form == InputForm::Lines) {
                        Some(failure) => {
                            let colour = self.options.global.terminal.stderr.colour;
                            diagnostics::error(&failure.into(), colour);
                            ExitStatus::Failed(FailureKind::Usage)
                        }
                        None => self.turn(question)?,
                    }
                }
                ControlFlow::Break(status) => return Ok(status),
            };
            worst = worst.max(status);
            if ends_all(status) || status == ExitStatus::Failed(FailureKind::Interrupted) {
                return Ok(status);
            }
        }
    }

    /// Waits for a question from a pipe. Breaks with `worst` at the end, or with a signal's status.
    fn next_question(
        &mut self,
        stdin: &mut Stdin,
        form: InputForm,
        worst: ExitStatus,
    ) -> anyhow::Result<ControlFlow<ExitStatus, String>> {
        let Chat { runtime, signals, .. } = self;
        runtime.block_on(async {
            // A read that loses ends with the process.
            tokio::select! {
                biased;
                kind = signals.next() => Ok(ControlFlow::Break(ExitStatus::Failed(kind))),
                question = stdin.question(form) => Ok(match question? {
                    Some(question) => ControlFlow::Continue(question),
                    None => ControlFlow::Break(worst),
                }),
            }
        })
    }

    /// Runs an interactive chat. The user has seen how each turn ended.
    fn talk(&mut self, first: Option<String>) -> anyhow::Result<ExitStatus> {
        let kept_in = self.session.is_kept().then(|| self.session.dir());
        let mut prompt = Prompt::open(&self.options.global, kept_in)?;
        self.greet();
        let mut line = first.map(|it| Ok(InputLine::Question(it)));
        let mut has_pressed = false;
        loop {
            if let Some(line) = line.take() {
                match line.and_then(|it| self.answer(it, &mut prompt)) {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(status)) => return Ok(status),
                    Err(error) if stdout::is_stdout_closed(&error) => return Ok(ExitStatus::Ok),
                    Err(error) if ends_all(errors::status_of(&error)) => return Err(error),
                    Err(error) => {
                        diagnostics::error(&error, self.options.global.terminal.stderr.colour);
                    }
                }
            }
            // Ctrl-C was meant for work that has ended by now, even if it came too late for it.
            self.forget_interrupt()?;
            let words = self.words();
            let read = self.runtime.block_on(prompt.ask(words, &mut self.signals))?;
            self.forget_interrupt()?;
            match read {
                LineRead::Line(text) => {
                    line = Some(commands::read(&text, self.width()));
                    has_pressed = false;
                }
                LineRead::Cancelled { was_empty: true } if has_pressed => {
                    return Ok(ExitStatus::Ok);
                }
                LineRead::Cancelled { was_empty } => {
                    has_pressed = was_empty;
                    if was_empty && !self.options.global.quiet {
                        diagnostics::note("press Ctrl-C again, or Ctrl-D, to leave");
                    }
                }
                LineRead::End => return Ok(ExitStatus::Ok),
                LineRead::Ended(kind) => return Ok(ExitStatus::Failed(kind)),
            }
        }
    }

    /// Executes one line. Breaks with the status of the chat when the line ends it.
    fn answer(
        &mut self,
        line: InputLine,
        prompt: &mut Prompt,
    ) -> anyhow::Result<ControlFlow<ExitStatus>> {
        let ended = match line {
            InputLine::Blank => None,
            InputLine::Question(question) => Some(self.turn(question)?).filter(|it| ends_all(*it)),
            InputLine::Help(text) => {
                diagnostics::tell(&text);
                None
            }
            InputLine::Command(command) => return self.perform(*command, prompt),
        };
        Ok(ended.map_or(ControlFlow::Continue(()), ControlFlow::Break))
    }

    fn forget_interrupt(&mut self) -> anyhow::Result<()> {
        let _in_runtime = self.runtime.enter();
        self.signals.forget_interrupt()
    }

    fn turn(&mut self, text: String) -> anyhow::Result<ExitStatus> {
        let global = self.global();
        let verdict = self.options.agent.gates.verdict;
        let question = Question { text, images: Vec::new(), verdict, pick: None };
        let Chat { options, agent, session, runtime, signals, .. } = self;
        runtime.block_on(async {
            let mut output = TurnSinks::open(&options.answer, &global, session.dir())?;
            let end = agent.turn(session, &mut output, question, signals.next()).await?;
            settle(end, output, &global)
        })
    }

    fn greet(&self) {
        if self.options.global.quiet {
            return;
        }
        let visible: Vec<_> = self.visible().collect();
        let named = visible.iter().take(GREETED_MAX).map(|(name, it)| {
            let about = if it.is_estimate() { "about " } else { "" };
            let rows = digits::count(it.row_count, "row");
            format!("{} ({about}{rows})", sanitize::one_line(name))
        });
        let mut named = named.collect::<Vec<_>>().join(", ");
        if GREETED_MAX < visible.len() {
            named += " and more";
        }
        let model = sanitize::one_line(self.agent.model());
        let about = if visible.is_empty() {
            format!("csv-agent with {model}. There is no data yet: add some with /ingest FILE")
        } else {
            format!("csv-agent with {model} on {named}")
        };
        let about = format!("{about}. /help lists the commands. Ctrl-D ends the chat.");
        let width = self.width().map_or(usize::MAX, usize::from);
        let mut text = String::new();
        commands::wrap(&about, 0, width, &mut text);
        diagnostics::tell(&format!("{text}\n"));
    }

    /// Returns the datasets that the model may see.
    fn visible(&self) -> impl Iterator<Item = (&str, &Dataset)> {
        let wanted = self.agent.datasets();
        self.session.catalog().iter().filter(move |(name, _)| {
            wanted.is_empty() || wanted.iter().any(|it| is_named(it, name))
        })
    }

    /// Returns the current candidates for Tab completion.
    fn words(&self) -> Completions {
        let dir = self.session.dir();
        // Names that cannot be listed cannot be completed; the command itself reports why.
        let numbered = |names: Vec<String>| {
            let numbers = (1..=names.len()).map(|it| it.to_string()).collect::<Vec<_>>();
            names.into_iter().chain(numbers).collect()
        };
        let names = artifacts::names(dir).unwrap_or_default();
        let turn = |it: PathBuf| Some(it.file_name()?.to_str()?.trim_start_matches('0').to_owned());
        let columns = self.visible().flat_map(|it| it.1.columns.iter().map(|it| it.name.clone()));
        Completions {
            commands: commands::names().collect(),
            datasets: self.visible().map(|it| it.0.to_owned()).collect(),
            columns: columns.collect(),
            tables: numbered(names.tables),
            charts: numbered(names.charts),
            files: names.files,
            turns: turns::dirs(dir).unwrap_or_default().into_iter().filter_map(turn).collect(),
            models: self.models.clone(),
            home: self.home.clone(),
        }
    }

    /// Returns the options for commands: the session of the chat, and the current state of the terminal.
    fn global(&self) -> GlobalOptions {
        let global = &self.options.global;
        let (width, environment) = (self.settings.width(), self.settings.environment());
        GlobalOptions {
            session: SessionChoice {
                dir: self.session.dir().to_owned(),
                origin: SessionOrigin::Flag,
            },
            terminal: global.terminal.measured_again(width, environment),
            ..global.clone()
        }
    }

    fn width(&self) -> Option<u16> {
        self.global().terminal.stderr.width
    }

    /// Stops what the chat started. Removes a session that it created and that stayed empty.
    fn close(mut self, is_new: bool, before: Option<&BTreeSet<OsString>>) -> anyhow::Result<()> {
        let colour = self.global().terminal.stderr.colour;
        let closing = self.agent.close(self.signals.next());
        if let Some(warning) = self.runtime.block_on(closing) {
            diagnostics::warning(&warning, colour);
        }
        // The thread that waits for a line ends with the process.
        self.runtime.shutdown_background();
        if self.options.answer.charts.is_some() {
            self.session.drop_charts();
        }
        let is_empty = self.session.catalog().iter().next().is_none();
        if is_new && is_empty && turns::dirs(self.session.dir())?.is_empty() {
            self.session.unmake(before)?;
        }
        Ok(())
    }
}

/// Returns whether a status ends the whole process, even with questions left.
fn ends_all(status: ExitStatus) -> bool {
    matches!(status, ExitStatus::Failed(FailureKind::BrokenPipe | FailureKind::Terminated))
}
