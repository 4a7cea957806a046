//! `rerun`: repeats the calls of an earlier turn, without a model.

use std::path::{Path, PathBuf};

use clap::Args;

use csv_agent_agent::replay::{RerunOptions, rerun};
use csv_agent_session::Session;
use csv_agent_sink::Format;
use csv_agent_sink::encryption::Seal;
use csv_agent_types::status::FailureKind;

use super::ask::settle;
use super::ingest::{became_text, changed_sources, ingest_in_place, take_places};
use super::options::ask::AnswerOptions;
use super::options::demand_table_format;
use super::options::settings::{Settings, TOOL_TIMEOUT};
use super::options::{GlobalOptions, cluster_options};
use super::terminal_graphics::Images;
use super::turn_sinks::{TurnSinks, missing_table};
use super::{diagnostics, signals, stdout, stored_turns, value_parsers};
use crate::errors::{self, ExitStatus};

/// Flags of `rerun`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RerunFlags {
    /// Number of the turn, or `last`
    #[arg(value_name = "TURN", default_value = "last")]
    pub turn: String,

    /// Use this file in place of a dataset. May be repeated
    ///
    /// csv-agent reads the file in the same way as the original. If the dataset is on a cluster,
    /// give another path or table of that cluster.
    #[arg(long, value_name = "NAME=FILE", value_parser = value_parsers::named_file)]
    pub against: Vec<(String, PathBuf)>,

    /// Exit with status 12 if a result differs
    #[arg(long)]
    pub check: bool,

    /// Write the answer to a file instead of stdout
    ///
    /// Without --format, the ending of its name sets the format: .csv, .tsv, .json, .jsonl or .md. The file
    /// appears only when it is complete.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Table to write with `--format csv` or `tsv` [default: the last]
    #[arg(long, value_name = "NAME")]
    pub table: Option<String>,
}

/// Reruns the calls of a turn, shows their results, and reports the differences. Fails when there is no such
/// turn, a file cannot be read, or Python is not available.
pub(crate) fn run(
    flags: &RerunFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    let output_file = stdout::file_of(flags.output.as_deref());
    let options = &options.clone().for_file(output_file, &["txt"])?;
    demand_table_format(options.format, flags.table.as_deref())?;
    let environment = settings.environment();
    let (turn, earlier) = stored_turns::read(&flags.turn, options)?;
    stored_turns::demand_whole(&turn)?;
    let tables = turn.reply.as_ref().map_or(&[][..], |it| &it.tables);
    if let Some(failure) = missing_table(options.format, flags.table.as_deref(), tables) {
        return Err(failure.into());
    }
    let cluster = cluster_options(settings)?;
    let rerun_options = RerunOptions {
        python: cluster.python.clone(),
        sandbox: cluster.sandbox.clone(),
        cluster: cluster.access.clone(),
        tool_timeout: settings.get(&TOOL_TIMEOUT)?,
        past_dir: options.session.dir.clone(),
        check: flags.check,
        exit_codes: errors::exit_code,
    };
    let mut session = Session::ephemeral(Some(&options.session.dir))?;
    let is_there = |name: &str| session.catalog().get(name).is_some_and(|it| it.remote().is_some());
    let (there, here): (Vec<_>, Vec<_>) =
        flags.against.iter().map(|(name, file)| (&**name, &**file)).partition(|it| is_there(it.0));
    let before = session.catalog().clone();
    let is_used = |name: &str| turn.calls.iter().any(|it| it.call.arguments.contains(name));
    let used = before.iter().filter(|it| is_used(it.0));
    let mut warnings: Vec<String> = Vec::new();
    let mut is_text_now = false;
    let as_ingested = used.filter(|it| flags.against.iter().all(|named| named.0 != it.0));
    warnings.extend(
        changed_sources(as_ingested, &options.session.dir)
            .into_iter()
            .map(|it| it + "; this run uses the stored data; `--against NAME=FILE` uses a file"),
    );
    for (name, file) in here {
        ingest_in_place(&mut session, name, file, options)?;
        if let (Some(before), Some(now)) = (before.get(name), session.catalog().get(name)) {
            let became: Vec<String> = became_text(name, before, now).collect();
            is_text_now |= !became.is_empty();
            warnings.extend(became);
        }
    }
    diagnostics::warnings(warnings, options.terminal.stderr.colour);
    take_places(&mut session, &there, options, &cluster)?;
    let answer = AnswerOptions {
        output: output_file.map(Path::to_owned),
        table: flags.table.clone(),
        // The path of a temporary session is not known to the user.
        abs_paths: true,
        images: Images::of(settings)?,
        seal: Seal::from_settings(environment.event_encrypt, environment.event_key.as_deref())?,
        ..AnswerOptions::default()
    };
    signals::runtime()?.block_on(async {
        let mut signals = signals::Signals::listen()?;
        let mut output = TurnSinks::open(&answer, options, session.dir())?;
        let stop = signals.next();
        let rerun = rerun(&rerun_options, &session, &mut output, &turn, &earlier, stop).await?;
        if matches!(options.format, Format::Reply | Format::Csv | Format::Tsv) {
            // This answer does not refer to its charts.
            session.drop_turns();
        }
        let status = settle(rerun.end, output, options)?;
        // Sums of text, for example, may look like results.
        Ok(if flags.check && is_text_now {
            status.max(ExitStatus::Failed(FailureKind::Replay))
        } else {
            status
        })
    })
}
