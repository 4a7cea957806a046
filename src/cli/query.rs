//! `query`: SQL over datasets or files, without a model and without Python.

use std::collections::HashSet;
use std::io::{Read, stdin};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use jiff::Timestamp;
use serde_json::Value;

use csv_agent_ingest::{IngestOptions, name_of, rows};
use csv_agent_query::{
    SqlError, TableSchema, names_its_columns, prepare, prepare_with_empty_columns,
};
use csv_agent_render::table::{self, TableStyle};
use csv_agent_session::Session;
use csv_agent_sink::Format;
use csv_agent_text::{sanitize, sql};
use csv_agent_types::catalog::Catalog;
use csv_agent_types::chosen::chosen;

use csv_agent_types::frame::Frame;
use csv_agent_types::limits::{RESULT_CHUNK_ROWS, SQL_BYTES_MAX, TABLE_TTY_ROWS_MAX};
use csv_agent_types::status::Failure;
use csv_agent_worker::engine::{is_empty_column, table_of};

use crate::diagnostics;
use crate::engine;
use crate::errors::ExitStatus;
use crate::flags::EngineLimits;
use crate::ingest::changed_sources;
use crate::inputs::Inputs;
use crate::options::GlobalOptions;
use crate::options::settings::Settings;
use crate::stdout::{self, WholeFile, answer_to};
use crate::tips::quoted;

/// Flags of `query`.
#[derive(Debug, Clone, Args)]
pub(crate) struct QueryFlags {
    /// A SELECT statement. `-` reads it from stdin
    #[arg(value_name = "SQL")]
    pub sql: String,

    /// Query this file or directory. May be repeated
    ///
    /// Takes the same paths and patterns as `csv-agent ingest`, but adds nothing to the session.
    /// `-` reads the data from stdin.
    #[arg(short, long, value_name = "FILE")]
    pub file: Vec<PathBuf>,

    /// Query only this dataset. May be repeated
    ///
    /// A pattern such as 'fraud_*' selects several datasets.
    #[arg(short, long, value_name = "NAME")]
    pub dataset: Vec<String>,

    /// Write the result to a file instead of stdout
    ///
    /// The ending of its name sets the format: .csv, .tsv, .json, .jsonl, .md or .parquet. The file
    /// appears only when it is complete.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub limits: EngineLimits,
}

/// How the result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResultFormat {
    Rows(Format),
    Parquet,
}

/// Runs the statement and writes its result. Fails when there is no such data, the statement is refused, or the
/// result cannot be written.
pub(crate) fn run(
    flags: &QueryFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    let sql = statement(flags)?;
    run_statement(&sql, flags, settings, options).map_err(|error| {
        let Some(file) = file_in_from(&sql) else { return error };
        match error.downcast::<Failure>() {
            Ok(failure) => failure.hint(file_hint(file, &flags.file)).into(),
            Err(error) => error,
        }
    })
}

/// Returns the first word after FROM or JOIN that is the path of a file, which is no table.
fn file_in_from(sql: &str) -> Option<&Path> {
    let words: Vec<&str> = sql.split_whitespace().collect();
    let places = words
        .windows(2)
        .filter(|it| ["from", "join"].iter().any(|word| it[0].eq_ignore_ascii_case(word)));
    let paths = places.map(|it| it[1].trim_matches(['"', '\'', ';', ')', ',']));
    paths.map(Path::new).find(|it| it.extension().is_some() && it.is_file())
}

/// Returns how to query a file, which may be `added` already.
fn file_hint(file: &Path, added: &[PathBuf]) -> String {
    let table = sql::identifier(&name_of(file));
    if added.iter().any(|it| it == file) {
        return format!("the table of the file is `{table}`");
    }
    format!("add the file with `-f {}`, and write `from {table}`", quoted(&file.to_string_lossy()))
}

fn run_statement(
    sql: &str,
    flags: &QueryFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    let output = stdout::file_of(flags.output.as_deref());
    let format = format_of(output, options)?;
    let mut session;
    let mut wanted = flags.dataset.clone();
    let inputs =
        Inputs { files: &flags.file, datasets: &flags.dataset, needs_all: false, statement: None };
    // Of files that nothing else reads, only what the statement reads is stored.
    let is_read_once =
        !flags.file.is_empty() && !inputs.sees_session(options) && names_its_columns(sql);
    let (dir, catalog) = if flags.file.is_empty() {
        let dir = options.session.dir.clone();
        let catalog = match options.session.existing() {
            Err(_) if needs_no_data(flags, sql) && !options.session.is_named() => {
                Catalog::default()
            }
            existing => {
                existing?;
                Session::read_catalog(&dir)?
            }
        };
        (dir, catalog)
    } else {
        let statement = is_read_once.then_some(sql);
        (session, wanted) = Inputs { statement, ..inputs }.temporary(options)?;
        diagnostics::warnings(session.take_warnings(), options.terminal.stderr.colour);
        (session.dir().to_owned(), session.catalog().clone())
    };
    let catalog = only(catalog, &wanted)?;
    let tables: Vec<TableSchema> = catalog.iter().map(|(name, it)| table_of(name, it)).collect();
    let is_empty = |dataset: &str, column: &str| is_empty_column(&catalog, dataset, column);
    let now = Timestamp::now().as_microsecond();
    let prepare_over = |tables: &[TableSchema]| {
        prepare_with_empty_columns(sql, tables, is_empty, now).map_err(|error| refusal(&error))
    };
    // Errors name all columns.
    let mut prepared = prepare_over(&tables)?;
    if is_read_once {
        prepared = prepare_over(&stored(tables, sql))?;
    }
    if flags.file.is_empty() {
        let used = catalog.iter().filter(|it| prepared.tables.iter().any(|name| name == it.0));
        diagnostics::warnings(changed_sources(used, &dir), options.terminal.stderr.colour);
    }
    let used = catalog.filtered(|name| prepared.tables.iter().any(|it| it == name));
    let tables = if is_read_once {
        engine::paths_of(&dir, &used, "query")?
    } else {
        engine::files_of(&dir, &used, "query")?
    };
    let results = engine::run([prepared.query.clone()], tables, settings)?;
    write(&results.paths[0], format, output, options)?;
    Ok(ExitStatus::Ok)
}

/// Returns the tables with the columns that are stored for a statement.
fn stored(mut tables: Vec<TableSchema>, sql: &str) -> Vec<TableSchema> {
    let options = IngestOptions { statement: Some(sql.into()), ..IngestOptions::default() };
    for table in &mut tables {
        let stored = options.stored(table.columns.iter().map(|it| it.0.as_str()));
        let mut is_stored = stored.into_iter();
        table.columns.retain(|_| is_stored.next().unwrap_or(true));
    }
    tables
}

/// Returns whether a statement names no data: `select 1 + 1`.
fn needs_no_data(flags: &QueryFlags, sql: &str) -> bool {
    flags.dataset.is_empty() && prepare(sql, &[], Timestamp::now().as_microsecond()).is_ok()
}

/// Returns the statement, from stdin if it is `-`.
fn statement(flags: &QueryFlags) -> anyhow::Result<String> {
    if flags.sql != "-" {
        return Ok(flags.sql.clone());
    }
    if flags.file.iter().any(|it| it == Path::new("-")) {
        let message = "cannot read both data and the statement from stdin";
        let hint = "give the statement as an argument";
        return Err(Failure::usage(message).hint(hint).into());
    }
    let mut text = String::new();
    stdin()
        .take(SQL_BYTES_MAX as u64 + 1)
        .read_to_string(&mut text)
        .context("cannot read the statement from stdin")?;
    if SQL_BYTES_MAX < text.len() {
        let message = format!("the statement has more than {SQL_BYTES_MAX} bytes, the limit");
        return Err(Failure::usage(message).into());
    }
    Ok(text)
}

fn format_of(output: Option<&Path>, options: &GlobalOptions) -> anyhow::Result<ResultFormat> {
    if output.and_then(Path::extension).is_some_and(|it| it.eq_ignore_ascii_case("parquet")) {
        return Ok(ResultFormat::Parquet);
    }
    Ok(ResultFormat::Rows(options.clone().for_file(output, &[])?.format))
}

/// Returns the datasets that match one of the selectors; all without any.
fn only(catalog: Catalog, wanted: &[String]) -> anyhow::Result<Catalog> {
    if wanted.is_empty() {
        return Ok(catalog);
    }
    let chosen: HashSet<&str> = chosen(&catalog, wanted)?.into_iter().map(|it| it.0).collect();
    Ok(catalog.filtered(|name| chosen.contains(name)))
}

/// Returns the failure of a statement, with its place.
fn refusal(error: &SqlError) -> anyhow::Error {
    let mut failure = Failure::usage(error.to_string());
    if let Some(hint) = &error.hint {
        failure = failure.hint(hint.clone());
    }
    failure.into()
}

fn write(
    result: &Path,
    format: ResultFormat,
    output: Option<&Path>,
    options: &GlobalOptions,
) -> anyhow::Result<()> {
    let format = match format {
        ResultFormat::Rows(format) => format,
        ResultFormat::Parquet => {
            let Some(output) = output else { unreachable!("the format comes from its name") };
            let file = WholeFile::create(output)?;
            std::io::copy(&mut std::fs::File::open(result)?, &mut file.writer()?)
                .with_context(|| format!("cannot write `{}`", output.display()))?;
            return file.finish();
        }
    };
    let stdout = options.terminal.stdout;
    let is_tty = stdout.is_tty && output.is_none();
    answer_to(output, |out| {
        if is_tty && matches!(format, Format::Text | Format::Reply) {
            let frame = rows(result, 0, TABLE_TTY_ROWS_MAX)?;
            let style = TableStyle {
                width: stdout.width,
                colour: stdout.colour,
                rows_max: None,
                lines_max: None,
            };
            let shown = table::text(&frame, &style);
            writeln!(out, "{}", shown.text)?;
            if (shown.n_rows as u64) < frame.row_count {
                let note = table::caption(
                    "result", shown.n_rows as u64, frame.row_count, None, stdout.colour,
                );
                out.write_all(note.as_bytes())?;
            }
            return Ok(());
        }
        let mut first = 0;
        loop {
            let frame = rows(result, first, RESULT_CHUNK_ROWS)?;
            let is_last = frame.row_count <= (first + frame.rows.len()) as u64;
            let text = chunk(&frame, format, first == 0, is_last);
            // Output for programs is exact; output for a terminal cannot control it.
            let text = if is_tty { sanitize::for_terminal(&text) } else { text };
            out.write_all(text.as_bytes())?;
            first += frame.rows.len();
            if is_last {
                return Ok(());
            }
        }
    })
}

/// Returns the text of some rows of the result.
fn chunk(frame: &Frame, format: Format, is_first: bool, is_last: bool) -> String {
    let below_head = |written: fn(&Frame) -> String| {
        let text = written(frame);
        if is_first {
            return text;
        }
        let head = written(&Frame { rows: Vec::new(), ..frame.clone() });
        text.strip_prefix(&head).unwrap_or(&text).to_owned()
    };
    match format {
        Format::Csv => below_head(|it| table::delimited(it, b',')),
        Format::Tsv => below_head(|it| table::delimited(it, b'\t')),
        Format::Text | Format::Reply | Format::Md => below_head(table::markdown),
        Format::Jsonl => {
            frame.objects().iter().flat_map(|it| [it.to_string(), "\n".to_owned()]).collect()
        }
        Format::Json => {
            let rows: Vec<String> = frame.objects().iter().map(Value::to_string).collect();
            let open = if is_first { "[" } else { ",\n" };
            let close = if is_last { "]\n" } else { "" };
            format!("{open}{}{close}", rows.join(",\n"))
        }
    }
}
