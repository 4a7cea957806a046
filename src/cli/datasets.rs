//! `datasets`: the datasets of the session.

use std::fmt::Write as _;
use std::path::Path;

use clap::Args;
use serde_json::{Value, json};

use csv_agent_ingest::families::families_of;
use csv_agent_ingest::head;
use csv_agent_session::directory::mendable;
use csv_agent_session::egress_store;
use csv_agent_session::{Access, Session};
use csv_agent_sink::Format;
use csv_agent_text::{digits, sanitize};
use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::chosen::{chosen, is_named};
use csv_agent_types::frame::Frame;
use csv_agent_types::status::Failure;

use super::confirm::confirm;
use super::listing::{self, Listing};
use super::options::settings::Settings;
use super::options::{GlobalOptions, cluster_options};
use super::{diagnostics, ingest, stdout, tips, value_parsers};
use crate::dataset_listing::{document, rows_shown, schema_frame};
use crate::errors::ExitStatus;

/// Number of datasets from which a terminal shows each family as one row.
const FOLDED_FROM: usize = 20;

/// Number of datasets that a confirmation names.
const NAMED_MAX: usize = 10;

/// Flags of `datasets`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct DatasetsFlags {
    /// Datasets to show, or patterns such as 'fraud_*' [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// Show the directories of the files, with their datasets
    #[arg(long, conflicts_with_all = ["only_names", "schema", "head", "rm"])]
    pub tree: bool,

    /// Print only the names, one per line
    #[arg(long = "names", conflicts_with_all = ["schema", "head", "rm"])]
    pub only_names: bool,

    /// End each name with a NUL byte, for `xargs -0`
    #[arg(short = '0', long = "null", requires = "only_names")]
    pub null: bool,

    /// Show the columns, their types and their missing values
    #[arg(long, conflicts_with_all = ["head", "rm"])]
    pub schema: bool,

    /// Show the first N rows of each dataset
    #[arg(long, value_name = "N", value_parser = value_parsers::shown_rows, conflicts_with = "rm")]
    pub head: Option<usize>,

    /// Remove a dataset, or all that match a pattern. May be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "names")]
    pub rm: Vec<String>,

    /// Do not ask for confirmation
    #[arg(short, long, requires = "rm")]
    pub yes: bool,
}

/// Prints the requested information, or removes datasets. Fails when there is no session, no dataset of a name,
/// or stdout cannot be written.
pub(crate) fn run(
    flags: &DatasetsFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    let is_there = options.session.existing()?;
    let catalog =
        if is_there { Session::read_catalog(&options.session.dir)? } else { Catalog::default() };
    if flags.rm.is_empty() {
        return print(flags, &catalog, settings, options);
    }
    if !may_remove(flags, &catalog, |it| confirm(it, flags.yes, options))? {
        return Ok(ExitStatus::Ok);
    }
    let lock = options.lock("datasets");
    let mut session = Session::open(&options.session.dir, Access::Existing, lock)?;
    remove(flags, &mut session, options)
}

/// Does the same in an open session.
///
/// `confirm` returns whether to perform the given action.
pub(crate) fn run_in(
    flags: &DatasetsFlags,
    session: &mut Session,
    settings: &Settings,
    options: &GlobalOptions,
    confirm: impl FnOnce(&str) -> anyhow::Result<bool>,
) -> anyhow::Result<ExitStatus> {
    if flags.rm.is_empty() {
        return print(flags, session.catalog(), settings, options);
    }
    if !may_remove(flags, session.catalog(), |it| if flags.yes { Ok(true) } else { confirm(it) })? {
        return Ok(ExitStatus::Ok);
    }
    remove(flags, session, options)
}

fn print(
    flags: &DatasetsFlags,
    catalog: &Catalog,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    if let Some(tip) = tips::of_dataset(&flags.names)
        && catalog.get(&flags.names[0]).is_none()
    {
        let message = format!("no dataset `{}`", flags.names[0]);
        return Err(Failure::input(message).hint(tip).into());
    }
    let chosen = choose(catalog, &flags.names)?;
    let wanted = catalog.filtered(|name| chosen.iter().any(|it| it.0 == name));
    let changed = ingest::changed_sources(wanted.iter(), &options.session.dir);
    diagnostics::warnings(changed, options.terminal.stderr.colour);
    let mut hurt = Session::hurt_datasets(&options.session.dir, &wanted)?;
    if flags.head.is_some()
        && let Some((_, failure)) = hurt.pop_first()
    {
        return Err(failure.into());
    }
    for failure in hurt.values() {
        let hint = failure.hint.as_deref().map(|it| format!("; {it}")).unwrap_or_default();
        diagnostics::warning(&format!("{}{hint}", failure.message), options.terminal.stderr.colour);
    }
    if flags.only_names {
        let end = if flags.null { '\0' } else { '\n' };
        stdout::answer(|out| {
            chosen.iter().try_for_each(|(name, _)| Ok(write!(out, "{name}{end}")?))
        })?;
    } else if let Some(n_rows) = flags.head {
        print_heads(&chosen, n_rows, settings, options)?;
    } else if flags.schema {
        let frame = schema_frame(chosen.iter().copied());
        let listing = Listing { documents: frame.objects(), frame };
        stdout::answer(|out| listing.write(out, options))?;
        for (name, dataset) in &chosen {
            if options.has_notes() {
                diagnostics::note(&ingest::read_as(name, dataset));
            }
            ingest::tell_reading(name, dataset, options);
        }
        tell_notes(&chosen, options);
    } else if flags.tree {
        let documents = documents(&chosen, &options.session.dir, options.format)?;
        let is_for_programs = !matches!(options.format, Format::Text | Format::Reply);
        let listing = Listing { frame: summary_frame(&chosen), documents };
        stdout::answer(|out| {
            if is_for_programs {
                return listing.write(out, options);
            }
            Ok(out.write_all(tree(&chosen).as_bytes())?)
        })?;
    } else {
        // A pipe gets every dataset; a terminal shows the first hundred.
        let is_for_eyes = options.terminal.stdout.is_tty && options.format == Format::Text;
        let frame = if is_for_eyes && flags.names.is_empty() && FOLDED_FROM < chosen.len() {
            folded_frame(&chosen)
        } else {
            summary_frame(&chosen)
        };
        let listing =
            Listing { frame, documents: documents(&chosen, &options.session.dir, options.format)? };
        stdout::answer(|out| listing.write(out, options))?;
    }
    Ok(ExitStatus::Ok)
}

/// Returns the datasets as objects, each with its egress, which only JSON shows.
fn documents(
    chosen: &[(&str, &Dataset)],
    session_dir: &Path,
    format: Format,
) -> anyhow::Result<Vec<Value>> {
    if !matches!(format, Format::Json | Format::Jsonl) {
        return Ok(Vec::new());
    }
    let mut sent = egress_store::total(session_dir)?.datasets;
    let documents = chosen.iter().map(|(name, dataset)| {
        let mut document = document(name, dataset);
        document["egress"] = json!(sent.remove(*name).unwrap_or_default());
        document
    });
    Ok(documents.collect())
}

/// Prints on stderr what the files say above and below their tables.
fn tell_notes(datasets: &[(&str, &Dataset)], options: &GlobalOptions) {
    if !options.has_notes() {
        return;
    }
    for (name, dataset) in datasets {
        for note in &dataset.notes {
            diagnostics::note(&format!("`{name}`: the file says: {note}"));
        }
    }
}

fn summary_frame(chosen: &[(&str, &Dataset)]) -> Frame {
    let row = |(name, dataset): &(&str, &Dataset)| {
        vec![
            json!(name),
            rows_shown(dataset),
            json!(dataset.columns.len()),
            json!(dataset.source),
            json!(dataset.remote().map_or("here", |it| it.endpoint.as_str())),
        ]
    };
    let mut rows: Vec<Vec<Value>> = chosen.iter().map(row).collect();
    let mut columns = vec!["name", "rows", "columns", "source", "location"];
    if chosen.iter().all(|it| it.1.remote().is_none()) {
        columns.pop();
        for row in &mut rows {
            row.pop();
        }
    }
    listing::frame(&columns, &["rows", "columns"], rows)
}

/// Returns the datasets with each family as one row, named by its pattern.
fn folded_frame(chosen: &[(&str, &Dataset)]) -> Frame {
    let (families, alone) = families_of(chosen.iter().copied());
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for family in &families {
        let files = family.joining();
        rows.push(vec![
            json!(family.name()),
            json!(family.members.len()),
            json!(family.row_count()),
            json!(family.columns().len()),
            json!(files.split_once('=').map_or("", |it| it.1.trim_matches('\''))),
        ]);
    }
    for (name, dataset) in alone {
        let (rows_shown, n_columns) = (rows_shown(dataset), dataset.columns.len());
        rows.push(vec![json!(name), json!(1), rows_shown, json!(n_columns), json!(dataset.source)]);
    }
    let columns = ["name", "datasets", "rows", "columns", "source"];
    listing::frame(&columns, &["datasets", "rows", "columns"], rows)
}

/// Draws the directories of the sources. A joined dataset is shown in its files' common directory.
fn tree(chosen: &[(&str, &Dataset)]) -> String {
    let mut by_source: Vec<(Vec<&str>, String, &str, &Dataset)> = chosen
        .iter()
        .map(|(name, it)| {
            let (dirs, leaf) = leaf_of(it);
            (dirs, leaf, *name, *it)
        })
        .collect();
    by_source.sort_by(|a, b| (&a.0, &a.1, a.2).cmp(&(&b.0, &b.1, b.2)));
    let mut text = String::new();
    let mut before: &[&str] = &[];
    for (dirs, leaf, name, dataset) in &by_source {
        let n_shared = dirs.iter().zip(before).take_while(|(a, b)| a == b).count();
        for (level, dir) in dirs.iter().enumerate().skip(n_shared) {
            let indent = "  ".repeat(level);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{indent}{}/", sanitize::one_line(dir));
        }
        before = dirs;
        let (indent, leaf) = ("  ".repeat(dirs.len()), sanitize::one_line(leaf));
        let about = if dataset.is_estimate() { "~" } else { "" };
        let (rows, columns) = (dataset.row_count, dataset.columns.len());
        let _ = writeln!(text, "{indent}{leaf}  {name}, {about}{rows} × {columns}");
    }
    text
}

/// Returns the directories of a dataset's source, and its name in the last of them.
fn leaf_of(dataset: &Dataset) -> (Vec<&str>, String) {
    let dirs_of = |source| -> Vec<&str> {
        let mut parts: Vec<&str> = str::split(source, '/').collect();
        parts.pop();
        parts
    };
    let [first, rest @ ..] = &dataset.files[..] else {
        let file = dataset.source.rsplit('/').next().unwrap_or_default().to_owned();
        return (dirs_of(&dataset.source), file);
    };
    let mut dirs = dirs_of(&first.source);
    for file in rest {
        let n = dirs.iter().zip(dirs_of(&file.source)).take_while(|(a, b)| **a == *b).count();
        dirs.truncate(n);
    }
    let leaf = match dataset.files.len() {
        1 => "1 file".to_owned(),
        n => format!("{n} files"),
    };
    (dirs, leaf)
}

/// Returns the datasets that are named, in that order; all when nothing is.
fn choose<'a>(
    catalog: &'a Catalog,
    names: &[String],
) -> anyhow::Result<Vec<(&'a str, &'a Dataset)>> {
    if names.is_empty() { Ok(catalog.iter().collect()) } else { chosen(catalog, names) }
}

fn print_heads(
    chosen: &[(&str, &Dataset)],
    n_rows: usize,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<()> {
    let remote: Vec<_> = chosen.iter().copied().filter(|it| it.1.remote().is_some()).collect();
    let mut remote = if remote.is_empty() {
        Vec::new().into_iter()
    } else {
        ingest::heads(&remote, n_rows, options, &cluster_options(settings)?)?.into_iter()
    };
    let mut heads = Vec::new();
    for (name, dataset) in chosen {
        let frame = match dataset.remote().and_then(|_| remote.next()) {
            Some(frame) => frame,
            None => head(&dataset.file_in(&options.session.dir)?, n_rows).map_err(|error| {
                if error.is::<Failure>() {
                    return error;
                }
                let message = format!("dataset `{name}`: {error:#}");
                mendable(&options.session.dir, message).into()
            })?,
        };
        heads.push((*name, frame));
    }
    stdout::answer(|out| {
        if matches!(options.format, Format::Json | Format::Jsonl) {
            let documents = heads.iter().map(|(name, frame)| head_document(name, frame)).collect();
            return Listing { frame: Frame::default(), documents }.write(out, options);
        }
        for (at, (name, frame)) in heads.iter().enumerate() {
            // A single table has no heading, so that it can be piped on.
            if 1 < heads.len() {
                let gap = if at == 0 { "" } else { "\n" };
                writeln!(out, "{gap}{name}:")?;
            }
            Listing { frame: frame.clone(), documents: Vec::new() }.write(out, options)?;
        }
        Ok(())
    })
}

fn head_document(name: &str, frame: &Frame) -> Value {
    let rows = frame.objects();
    json!({"name": name, "columns": frame.columns, "row_count": frame.row_count, "rows": rows})
}

fn may_remove(
    flags: &DatasetsFlags,
    catalog: &Catalog,
    confirm: impl FnOnce(&str) -> anyhow::Result<bool>,
) -> anyhow::Result<bool> {
    let names: Vec<&str> = chosen(catalog, &flags.rm)?.into_iter().map(|it| it.0).collect();
    let shown =
        names.iter().take(NAMED_MAX).map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    let what = match names.len().saturating_sub(NAMED_MAX) {
        0 => shown,
        n => format!("{shown} and {}", digits::count(n as u64, "more dataset")),
    };
    let may = confirm(&format!("remove {what} from the session"))?;
    if !may {
        diagnostics::note("nothing was removed");
    }
    Ok(may)
}

fn remove(
    flags: &DatasetsFlags,
    session: &mut Session,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    let catalog = session.catalog();
    let is_other = |it: &str, name: &str| catalog.get(it).is_none() && is_named(it, name);
    let is_meant = |name: &str| flags.rm.iter().any(|it| it == name || is_other(it, name));
    // Another process may have removed some during the wait for the lock.
    let names: Vec<String> = catalog.names().filter(|it| is_meant(it)).map(str::to_owned).collect();
    let mut removed = Vec::new();
    for name in &names {
        if session.remove_dataset(name)? {
            removed.push(vec![json!(name), json!("removed")]);
        }
    }
    let documents = removed.iter().map(|it| json!({"name": it[0], "status": it[1]})).collect();
    let listing = Listing { frame: listing::frame(&["name", "status"], &[], removed), documents };
    stdout::answer(|out| listing.write(out, options))?;
    Ok(ExitStatus::Ok)
}
