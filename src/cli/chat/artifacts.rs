//! Tables, charts and files of the last answers, to view again and to save.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;

use csv_agent_ingest::head;
use csv_agent_render::table::{self, TableStyle};
use csv_agent_session::directory::{Directory, EntryKind};
use csv_agent_session::turns;
use csv_agent_sink::rows::chosen;
use csv_agent_text::{digits, sanitize};
use csv_agent_types::event::{Body, ChartDrawn, DataFrame, Event, FetchedFile, ReplyBody};
use csv_agent_types::frame::Frame;
use csv_agent_types::limits::{SAVED_CELLS_MAX, WORKER_FILE_BYTES_MAX};
use csv_agent_types::status::Failure;

use crate::options::GlobalOptions;
use crate::stdout::WholeFile;
use crate::usage;

/// The supported file endings.
const ENDINGS: [&str; 7] = ["csv", "tsv", "json", "md", "parquet", "svg", "png"];

/// Names of the last answers' artifacts: the tables of the last answer with tables, and so on.
#[derive(Debug, Default)]
pub(super) struct ArtifactNames {
    pub tables: Vec<String>,
    pub charts: Vec<String>,
    pub files: Vec<String>,
}

/// Returns the names of the last answers' artifacts.
pub(super) fn names(session_dir: &Path) -> anyhow::Result<ArtifactNames> {
    let mut names = ArtifactNames::default();
    for (_, reply) in turns::replies(session_dir)? {
        if names.tables.is_empty() {
            names.tables = reply.tables;
        }
        if names.charts.is_empty() {
            names.charts = reply.charts;
        }
        if names.files.is_empty() {
            names.files = reply.files.into_iter().map(|it| it.name).collect();
        }
        if !(names.tables.is_empty() || names.charts.is_empty() || names.files.is_empty()) {
            break;
        }
    }
    Ok(names)
}

/// Finds a table of the last answer with tables, by number or name; its last table when None. Fails with
/// `FailureKind::Input` when there is none.
pub(super) fn table(session_dir: &Path, wanted: Option<&str>) -> anyhow::Result<DataFrame> {
    let events = last(session_dir, |it| !it.tables.is_empty())?;
    let tables = events.into_iter().filter_map(|it| match it.body {
        Body::DataFrame(table) => Some(table),
        _ => None,
    });
    pick("table", tables.collect(), |it| &it.logical_name, wanted)
}

/// Finds a chart of the last answer with charts, and the event that showed it.
pub(super) fn chart(
    session_dir: &Path,
    wanted: Option<&str>,
) -> anyhow::Result<(ChartDrawn, Event)> {
    let events = last(session_dir, |it| !it.charts.is_empty())?;
    let charts = events.into_iter().filter_map(|it| match &it.body {
        Body::Chart(chart) => Some((chart.as_ref().clone(), it)),
        _ => None,
    });
    pick("chart", charts.collect(), |it| &it.0.logical_name, wanted)
}

/// Reads the events of the last turn whose reply matches; None when there is no such turn.
fn last(session_dir: &Path, is_it: impl Fn(&ReplyBody) -> bool) -> anyhow::Result<Vec<Event>> {
    let found = turns::replies(session_dir)?.find(|it| is_it(&it.1));
    found.map_or(Ok(Vec::new()), |(dir, _)| Ok(turns::events(&dir)?.0))
}

fn pick<T>(
    what: &str,
    mut all: Vec<T>,
    name: impl Fn(&T) -> &String,
    wanted: Option<&str>,
) -> anyhow::Result<T> {
    let names: Vec<&String> = all.iter().map(name).collect();
    if let Some(at) = chosen(&names, wanted) {
        return Ok(all.swap_remove(at));
    }
    let Some(wanted) = wanted.filter(|_| !names.is_empty()) else {
        let hint = format!("ask for a {what} in a question");
        let message = format!("no answer has a {what}");
        return Err(Failure::input(message).hint(hint).into());
    };
    let known: Vec<String> = names.into_iter().cloned().collect();
    let hint = match usage::nearest(wanted, &known).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it has {}", known.join(", ")),
    };
    let message = format!("the last answer with a {what} has no `{wanted}`");
    Err(Failure::input(message).hint(hint).into())
}

/// Writes a table with all the rows in the turn's events.
pub(super) fn write(
    shown: &DataFrame,
    out: &mut dyn Write,
    options: &GlobalOptions,
) -> anyhow::Result<()> {
    let (frame, stdout) = (shown.frame(), options.terminal.stdout);
    if !stdout.is_tty {
        return Ok(out.write_all(table::markdown(&frame).as_bytes())?);
    }
    let style = TableStyle {
        width: stdout.width,
        colour: stdout.colour,
        rows_max: Some(usize::MAX),
        lines_max: None,
    };
    writeln!(out, "{}", table::text(&frame, &style).text)?;
    let (name, n_rows, n_all) =
        (sanitize::one_line(&shown.logical_name), shown.rows_emitted, shown.row_count);
    let rest = if shown.truncated { " · /save writes all" } else { "" };
    Ok(writeln!(out, " {name} · {n_rows} of {n_all} rows{rest}")?)
}

/// Saves the file requested by name, unchanged, or else a table or chart as the ending selects. Returns
/// what it saved.
///
/// `may_replace` is called when the file exists. Fails when there is no such table, chart or file, it is too
/// large for text, or the file cannot be written.
pub(super) fn save(
    session_dir: &Path,
    wanted: Option<&str>,
    file: &Path,
    may_replace: impl FnOnce() -> anyhow::Result<bool>,
) -> anyhow::Result<Option<String>> {
    let ending = file.extension().map(|it| it.to_string_lossy().to_lowercase()).unwrap_or_default();
    let saved = match (Saved::fetched(session_dir, wanted, &ending)?, ending.as_str()) {
        (Some(fetched), _) => fetched,
        (None, "svg" | "png") => Saved::chart(session_dir, wanted, &ending)?,
        (None, ending) if ENDINGS.contains(&ending) => Saved::table(session_dir, wanted, ending)?,
        (None, _) => {
            let message = format!("cannot tell from the name `{}` what to save", file.display());
            let hint = format!("end the name with one of {}", ENDINGS.join(", "));
            return Err(Failure::usage(message).hint(hint).into());
        }
    };
    if file.exists() && !may_replace()? {
        return Ok(None);
    }
    let target = WholeFile::create(file)?;
    target.writer()?.write_all(&saved.content)?;
    target.finish()?;
    Ok(Some(saved.what))
}

/// The content to save.
struct Saved {
    what: String,
    content: Vec<u8>,
}

impl Saved {
    /// Reads a file of the last answer with files: one of this name, or one that the ending alone
    /// determines.
    fn fetched(
        session_dir: &Path,
        wanted: Option<&str>,
        ending: &str,
    ) -> anyhow::Result<Option<Saved>> {
        let reply = turns::replies(session_dir)?.map(|it| it.1).find(|it| !it.files.is_empty());
        let files = reply.map(|it| it.files).unwrap_or_default();
        let is_wanted = |it: &FetchedFile| match wanted {
            Some(name) => it.name == name,
            None => it.artifact.format == ending && !ENDINGS.contains(&ending),
        };
        // Of several with this name, the last one is the latest.
        let Some(found) = files.iter().rfind(|it| is_wanted(it)) else { return Ok(None) };
        let (name, format) = (sanitize::one_line(&found.name), &found.artifact.format);
        if format != ending && format != "bin" {
            let message = format!("cannot save `{name}` as `{ending}`: its format is `{format}`");
            let hint = format!("end the name of the file with `.{format}`");
            return Err(Failure::usage(message).hint(hint).into());
        }
        let content = read(session_dir, &found.artifact.path)?;
        Ok(Some(Saved { what: format!("file {name}"), content }))
    }

    fn chart(session_dir: &Path, wanted: Option<&str>, format: &str) -> anyhow::Result<Saved> {
        let (chart, _) = chart(session_dir, wanted)?;
        let file = chart.files.iter().find(|it| it.format == format);
        let file = file.with_context(|| format!("the chart was not drawn as {format}"))?;
        let what = format!("chart {}", sanitize::one_line(&chart.logical_name));
        Ok(Saved { what, content: read(session_dir, &file.path)? })
    }

    fn table(session_dir: &Path, wanted: Option<&str>, format: &str) -> anyhow::Result<Saved> {
        let shown = table(session_dir, wanted)?;
        let name = sanitize::one_line(&shown.logical_name);
        let what = format!("table {name}, {}", digits::count(shown.row_count, "row"));
        let artifact = shown.artifact.as_ref().map(|it| &it.path);
        if format == "parquet" {
            let path =
                artifact.with_context(|| format!("`{name}` was not stored as a Parquet file"))?;
            return Ok(Saved { what, content: read(session_dir, path)? });
        }
        let n_cells = shown.row_count.saturating_mul(shown.columns.len() as u64);
        if SAVED_CELLS_MAX < n_cells {
            let message = format!(
                "`{name}` has {n_cells} cells; the limit for text is {SAVED_CELLS_MAX} cells"
            );
            let hint = "save it with the ending `.parquet`";
            return Err(Failure::limit(message).hint(hint).into());
        }
        let frame = match artifact.filter(|_| shown.truncated) {
            Some(path) => head(&there(session_dir, path)?, usize::MAX)?,
            None => shown.frame(),
        };
        Ok(Saved { what, content: text(&frame, format)?.into_bytes() })
    }
}

fn text(frame: &Frame, format: &str) -> anyhow::Result<String> {
    Ok(match format {
        "csv" => table::delimited(frame, b','),
        "tsv" => table::delimited(frame, b'\t'),
        "md" => table::markdown(frame),
        _ => serde_json::to_string_pretty(&Value::Array(frame.objects()))? + "\n",
    })
}

/// Reads a file that an event names; the event is untrusted.
fn read(session_dir: &Path, name: &str) -> anyhow::Result<Vec<u8>> {
    let content = Directory::at(session_dir)?.read(name, WORKER_FILE_BYTES_MAX)?;
    content.with_context(|| gone(name))
}

/// Returns the path of such a file.
fn there(session_dir: &Path, name: &str) -> anyhow::Result<PathBuf> {
    Directory::at(session_dir)?.path_of(name, EntryKind::File)?.with_context(|| gone(name))
}

fn gone(name: &str) -> String {
    format!("there is no `{name}` in the session")
}
