//! `describe`: what each column of datasets or files contains, without a model and without Python.

mod described;
mod document;
mod inputs;
mod tables;

use std::path::PathBuf;

use clap::Args;

use csv_agent_ingest::rows;
use csv_agent_query::describe::{Description, Step};
use csv_agent_session::Session;
use csv_agent_sink::Format;
use csv_agent_types::limits::RESULT_CHUNK_ROWS;
use csv_agent_worker::engine::table_of;

use crate::diagnostics;
use crate::engine;
use crate::errors::ExitStatus;
use crate::flags::EngineLimits;
use crate::listing::Listing;
use crate::options::GlobalOptions;
use crate::options::settings::Settings;
use crate::stdout;
use crate::value_parsers;

pub(crate) use described::Described;
use inputs::InputDataset;

/// Flags of `describe`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DescribeFlags {
    /// Files, or datasets of the session [default: all its datasets]
    ///
    /// csv-agent reads files, directories and patterns without adding them to the session. `-`
    /// reads stdin. A pattern such as 'fraud_*' selects several datasets.
    #[arg(value_name = "FILE|NAME")]
    pub inputs: Vec<PathBuf>,

    /// Number of frequent values to show per column, at most 100
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = value_parsers::top_values)]
    pub top: u64,

    #[command(flatten)]
    pub limits: EngineLimits,
}

/// Describes the inputs on stdout. Fails when an input is neither a file nor a dataset or cannot be read, and
/// when stdout cannot be written.
pub(crate) fn run(
    flags: &DescribeFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    let mut inputs = InputDataset::all(&flags.inputs, options)?;
    let failure = inputs.failures.pop();
    inputs.failures.iter().for_each(|it| diagnostics::error(it, options.terminal.stderr.colour));
    if let Some(failure) = failure {
        if !inputs.datasets.is_empty() {
            show(&inputs.datasets, flags, settings, options)?;
        }
        return Err(failure);
    }
    show(&inputs.datasets, flags, settings, options)?;
    Ok(ExitStatus::Ok)
}

fn show(
    inputs: &[InputDataset],
    flags: &DescribeFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<()> {
    let described = describe(inputs, flags.top, settings)?;
    let is_for_eyes =
        options.terminal.stdout.is_tty && matches!(options.format, Format::Text | Format::Reply);
    if is_for_eyes {
        return stdout::answer(|out| {
            Ok(out.write_all(tables::for_terminal(&described, options).as_bytes())?)
        });
    }
    let documents = described.iter().map(document::document).collect();
    let listing = Listing { frame: tables::columns(&described), documents };
    stdout::answer(|out| listing.write(out, options))
}

/// Describes the datasets of a session, with so many frequent values of each column.
pub(crate) fn datasets_of(
    session: &Session,
    top_max: u64,
    settings: &Settings,
) -> anyhow::Result<Vec<Described>> {
    let catalog = session.catalog();
    let inputs = inputs::with_files(session.dir(), catalog, catalog.iter())?;
    describe(&inputs, top_max, settings)
}

fn describe(
    inputs: &[InputDataset],
    top_max: u64,
    settings: &Settings,
) -> anyhow::Result<Vec<Described>> {
    // Two inputs may have one name, so that the engine knows them by their numbers.
    let files = inputs.iter().enumerate().map(|(at, it)| (at.to_string(), it.file.clone()));
    let files: Vec<(String, PathBuf)> = files.collect();
    let begin = |(at, input): (usize, &InputDataset)| {
        let table = table_of(&at.to_string(), &input.dataset);
        Described {
            name: input.name.clone(),
            dataset: input.dataset.clone(),
            description: Description::new(table, input.dataset.row_count, top_max),
        }
    };
    let mut described: Vec<Described> = inputs.iter().enumerate().map(begin).collect();
    for round in [Description::first_round, Description::second_round] {
        let steps: Vec<(usize, Step)> = described
            .iter()
            .enumerate()
            .flat_map(|(at, it)| round(&it.description).into_iter().map(move |it| (at, it)))
            .collect();
        if steps.is_empty() {
            continue;
        }
        let queries = steps.iter().map(|it| it.1.query.clone());
        let results = engine::run(queries, files.clone(), settings)?;
        for ((at, step), path) in steps.iter().zip(&results.paths) {
            let frame = rows(path, 0, RESULT_CHUNK_ROWS)?;
            described[*at].description.add(step, &frame.rows);
        }
    }
    Ok(described)
}
