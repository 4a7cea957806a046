//! `export`: earlier turns as a script, a notebook or a document.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use csv_agent_agent::export::{Sources, document, notebook, program, script};
use csv_agent_agent::replay::stored_turn::PastTurn;
use csv_agent_session::Session;
use csv_agent_session::turns::events;
use csv_agent_text::sanitize;
use csv_agent_types::status::Failure;

use super::options::settings::Settings;
use super::options::{GlobalOptions, demand, python_options, sandbox_options};
use super::stdout;
use super::{diagnostics, signals, stored_turns};
use crate::errors::ExitStatus;

/// Flags of `export`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportFlags {
    /// What to write
    #[arg(value_name = "FORM", value_enum)]
    pub form: ExportFormat,

    /// Numbers of the turns, `last` or `all`
    #[arg(value_name = "TURN", default_value = "last")]
    pub turns: Vec<String>,

    /// Write to a file instead of stdout
    ///
    /// The file appears only when it is complete.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What turns become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A Python script that reads the original files and fails if the results differ
    Py,
    /// The same as a Jupyter notebook
    Ipynb,
    /// A document with the questions, answers, tables, charts and code
    Md,
}

/// Exports turns in another format. Fails when there is no such turn, it ran no code, or the file cannot be
/// written.
pub(crate) fn run(
    flags: &ExportFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    if flags.form == ExportFormat::Md {
        write_document(flags, options)?;
        return Ok(ExitStatus::Ok);
    }
    let turns = stored_turns::select(&flags.turns, options)?;
    let session_dir = &options.session.dir;
    for (turn, _) in turns.iter().filter(|it| it.1) {
        stored_turns::demand_whole(turn)?;
    }
    let catalog = Session::read_catalog(session_dir)?;
    let sources = Sources {
        python: python_options(settings)?,
        sandbox: sandbox_options(demand(settings)?, settings)?,
        session_dir,
        catalog: &catalog,
        turns,
    };
    let runtime = signals::runtime()?;
    let program = runtime.block_on(async {
        let mut signals = signals::Signals::listen()?;
        tokio::select! {
            // What was started is killed with the future.
            status = signals.next() => Err(Failure::new(status, "interrupted").into()),
            program = Box::pin(program(sources)) => program,
        }
    });
    // A file that keeps its reader waiting keeps nobody else.
    runtime.shutdown_background();
    let program = program?;
    for warning in &program.warnings {
        diagnostics::warning(warning, options.terminal.stderr.colour);
    }
    let text = if flags.form == ExportFormat::Py { script(&program) } else { notebook(&program)? };
    // A program is written word for word, also what the model wrote to steer a terminal.
    let text = match flags.form {
        _ if !is_seen(flags, options) => text,
        ExportFormat::Ipynb => sanitize::json_for_terminal(&text).into_owned(),
        ExportFormat::Py | ExportFormat::Md => sanitize::for_terminal(&text),
    };
    stdout::answer_to(flags.output.as_deref(), |out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(ExitStatus::Ok)
}

/// Writes turns as a document, one after the other: of many, only one is in memory.
fn write_document(flags: &ExportFlags, options: &GlobalOptions) -> anyhow::Result<()> {
    let turns = stored_turns::choose(&flags.turns, options)?;
    stdout::answer_to(flags.output.as_deref(), |out| {
        for (at, turn) in turns.iter().enumerate() {
            let past = PastTurn::of(&turn.id, events(&turn.dir)?.0);
            let text = document(&past, &options.session.dir);
            let text = if is_seen(flags, options) { sanitize::for_terminal(&text) } else { text };
            let gap = if at == 0 { "" } else { "\n\n" };
            out.write_all(format!("{gap}{text}").as_bytes())?;
        }
        Ok(())
    })
}

/// Returns whether a terminal shows what is written.
fn is_seen(flags: &ExportFlags, options: &GlobalOptions) -> bool {
    options.terminal.stdout.is_tty && flags.output.is_none()
}
