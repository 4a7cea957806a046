//! Executes the commands of a chat: each like the program's command, in the current session.

use std::ops::ControlFlow;

use csv_agent_session::{ResetScope, turns};
use csv_agent_sink::{EventSink, Format};
use csv_agent_text::{digits, sanitize};
use csv_agent_types::catalog::Location;
use csv_agent_types::status::{Failure, FailureKind};

use super::commands::Command;
use super::completion::expanded;
use super::prompt::Prompt;
use super::{Chat, artifacts, commands};
use crate::ask::{key, provider};
use crate::chat::editor::LineRead;
use crate::delete_remote::forget;
use crate::errors::ExitStatus;
use crate::ingest::IngestFlags;
use crate::options::GlobalOptions;
use crate::turn_sinks::TurnSinks;
use crate::{confirm, datasets, diagnostics, ingest, reset, stdout, stored_turns};

impl Chat<'_> {
    /// Executes a command. Breaks with the status of the chat when the command ends it. Fails when the command
    /// does; the chat is unchanged.
    pub(super) fn perform(
        &mut self,
        command: Command,
        prompt: &mut Prompt,
    ) -> anyhow::Result<ControlFlow<ExitStatus>> {
        let global = self.global();
        let dir = global.session.dir.clone();
        match command {
            Command::Datasets(flags) => self.datasets(&flags, &global, prompt)?,
            Command::Ingest(flags) => self.ingest(*flags, &global)?,
            Command::Table { which } => {
                let table = artifacts::table(&dir, which.as_deref())?;
                stdout::answer(|out| artifacts::write(&table, out, &global))?;
            }
            Command::Chart { which } => self.chart(which.as_deref(), &global)?,
            Command::Code { turn } => code(&turn, &global)?,
            Command::Save { which, file } => {
                let file = expanded(&file, self.home.as_deref());
                let name = sanitize::one_line(&file.to_string_lossy());
                let may_replace = || self.confirm(&format!("replace `{name}`"), prompt);
                match artifacts::save(&dir, which.as_deref(), &file, may_replace)? {
                    Some(what) => diagnostics::note(&format!("{what} → {name}")),
                    None => diagnostics::note("nothing was saved"),
                }
            }
            Command::Cost => diagnostics::tell(&self.cost()),
            Command::Model { name: None } => {
                diagnostics::tell(&format!("{}\n", sanitize::one_line(self.agent.model())));
            }
            Command::Model { name: Some(name) } => self.ask_another(&name)?,
            Command::Undo => self.undo()?,
            Command::Reset => self.reset(&global, prompt)?,
            Command::Help { command } => {
                diagnostics::tell(&commands::help(
                    command.as_deref(),
                    global.terminal.stderr.width,
                )?);
            }
            Command::Quit => return Ok(ControlFlow::Break(ExitStatus::Ok)),
        }
        Ok(ControlFlow::Continue(()))
    }

    fn datasets(
        &mut self,
        flags: &datasets::DatasetsFlags,
        global: &GlobalOptions,
        prompt: &mut Prompt,
    ) -> anyhow::Result<()> {
        let Chat { session, settings, runtime, signals, .. } = self;
        let confirm = |what: &str| {
            agreed(runtime.block_on(prompt.confirm(&confirm::question(what), signals))?)
        };
        datasets::run_in(flags, session, settings, global, confirm)?;
        if !flags.rm.is_empty() {
            self.agent.follow([], self.session.catalog());
            self.runtime.block_on(self.agent.renew_worker());
        }
        Ok(())
    }

    fn ingest(&mut self, mut flags: IngestFlags, global: &GlobalOptions) -> anyhow::Result<()> {
        if flags.paths.iter().any(|it| it.as_os_str() == "-") {
            let message = "cannot read data from stdin: in a chat, stdin is what you type";
            return Err(Failure::usage(message).hint("name a file").into());
        }
        for path in &mut flags.paths {
            // A path on a cluster is not local.
            if let (Some(text), None) = (path.to_str(), &flags.remote) {
                *path = expanded(text, self.home.as_deref());
            }
        }
        let before: Vec<(String, Location, String)> = self.ingested();
        let done = ingest::run_in(&flags, &mut self.session, self.settings, global);
        // The running worker knows only the earlier files; the session keeps the variables.
        let after = self.ingested();
        if before != after {
            let new = after.into_iter().filter(|it| !before.contains(it)).map(|it| it.0);
            self.agent.follow(new, self.session.catalog());
            self.runtime.block_on(self.agent.renew_worker());
        }
        done.map(|_| ())
    }

    fn ingested(&self) -> Vec<(String, Location, String)> {
        let datasets = self.session.catalog().iter();
        datasets
            .map(|(name, it)| (name.to_owned(), it.location.clone(), it.ingested_at.clone()))
            .collect()
    }

    /// Shows a chart as when it was drawn; a pipe gets the paths of its files.
    fn chart(&self, which: Option<&str>, global: &GlobalOptions) -> anyhow::Result<()> {
        let (chart, event) = artifacts::chart(&global.session.dir, which)?;
        let options = GlobalOptions { format: Format::Text, ..global.clone() };
        if !options.terminal.stdout.is_tty {
            let paths = chart.files.iter().map(|it| global.session.dir.join(&it.path));
            return stdout::answer(|out| {
                paths.into_iter().try_for_each(|it| {
                    let path = sanitize::one_line(&it.to_string_lossy());
                    Ok(writeln!(out, "chart: {path}")?)
                })
            });
        }
        let mut output =
            TurnSinks::open_quietly(&self.options.answer, &options, &global.session.dir)?;
        output.emit(&event)?;
        output.finish(true)
    }

    fn cost(&self) -> String {
        let (tokens, usd) = (self.session.total_tokens(), self.session.total_cost_usd());
        let line = |what: &str, tokens: u64, usd: Option<f64>| {
            let usd = match usd {
                Some(usd) => format!(", {}", digits::usd(usd)),
                None if tokens == 0 => String::new(),
                None => ", price not known".to_owned(),
            };
            format!("{what}: {}{usd}\n", digits::count(tokens, "token"))
        };
        let (tokens_before, usd_before) = self.spent_before;
        let usd_here = usd.map(|it| it - usd_before.unwrap_or(0.0));
        let here = line("this chat", tokens.saturating_sub(tokens_before), usd_here);
        here + &line("session", tokens, usd)
    }

    fn ask_another(&mut self, name: &str) -> anyhow::Result<()> {
        let choice = self.options.choose_model(name, self.settings)?;
        let before = self.options.put_model(choice);
        match key(&self.options).and_then(|it| provider(&self.options, it)) {
            Ok(provider) => {
                let model = self.options.agent.model.clone();
                self.agent.ask_another(model.clone(), self.options.agent.price, provider);
                diagnostics::note(&format!("from now on, {model} answers"));
                self.models.push(model);
                Ok(())
            }
            Err(error) => {
                self.options.put_model(before);
                Err(in_chat(error))
            }
        }
    }

    fn undo(&mut self) -> anyhow::Result<()> {
        let after = self.agent.forgotten(&mut self.session)?;
        let Some(turn) = self.session.undo(after)? else {
            let message = "there is no turn to undo";
            return Err(Failure::input(message).into());
        };
        diagnostics::note(&format!(
            "turn {turn} is undone and deleted, with its files. Python variables that it set remain"
        ));
        Ok(())
    }

    fn reset(&mut self, global: &GlobalOptions, prompt: &mut Prompt) -> anyhow::Result<()> {
        if !self.confirm("forget all questions and answers of the session", prompt)? {
            diagnostics::note("nothing was removed");
            return Ok(());
        }
        self.runtime.block_on(self.agent.forget());
        let mut gone = forget(&self.session, self.settings, global, false)?;
        gone.extend(self.session.reset(ResetScope::Conversation, false)?);
        prompt.forget();
        reset::print(&gone, false, global)?;
        Ok(())
    }

    fn confirm(&mut self, what: &str, prompt: &mut Prompt) -> anyhow::Result<bool> {
        let Chat { runtime, signals, .. } = self;
        agreed(runtime.block_on(prompt.confirm(&confirm::question(what), signals))?)
    }
}

/// Returns an error about a key with what helps in a chat, which has commands instead of flags.
fn in_chat(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<Failure>() {
        Ok(it) if it.kind == FailureKind::Auth => {
            let hint = "set a key before you start the chat: see `csv-agent help config`\nor type `/model builtin`, \
                        which needs no key";
            Failure::new(it.kind, it.message).hint(hint).into()
        }
        Ok(it) => it.into(),
        Err(error) => error,
    }
}

/// Returns whether the user said yes.
fn agreed(read: LineRead) -> anyhow::Result<bool> {
    match read {
        LineRead::Line(line) => Ok(confirm::is_yes(&line)),
        LineRead::Cancelled { .. } | LineRead::End => Ok(false),
        LineRead::Ended(kind) => Err(Failure::new(kind, "interrupted").into()),
    }
}

fn code(turn: &str, global: &GlobalOptions) -> anyhow::Result<()> {
    let turn = stored_turns::find(turn, global)?;
    let Some(code) = turns::text(&turn.dir, "code.py")? else {
        let message = format!("turn {} ran no code", turn.id);
        return Err(Failure::input(message).into());
    };
    let code = sanitize::for_terminal(&code);
    stdout::answer(|out| Ok(writeln!(out, "{}", code.trim_end())?))
}
