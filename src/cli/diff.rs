//! `diff`: the columns, rows and cells in which two versions of a table differ.

mod report;
mod statements;

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use serde_json::Value;

use csv_agent_ingest::{DateOrder, FILE_COLUMN, rows};
use csv_agent_query::{Prepared, RowOrigin};
use csv_agent_session::Session;
use csv_agent_types::catalog::{Column, DType, Dataset};
use csv_agent_types::frame::Frame;
use csv_agent_types::limits::{DIFF_ROWS_MAX, FINDING_ROWS_MAX};
use csv_agent_types::status::{Failure, FailureKind};

use crate::check::is_key_name;
use crate::diagnostics;
use crate::engine::{self, Results};
use crate::errors::ExitStatus;
use crate::flags::{EngineLimits, one_of};
use crate::ingest::{ReadFlagsOf, TurnInputs, WarningSubject, ingest_for_turn, named_argument};
use crate::options::GlobalOptions;
use crate::options::settings::Settings;
use crate::row_places::RowPlaces;
use crate::stdout;
use crate::tips::quoted;
use crate::usage::nearest;

use report::{DiffReport, RowsOf, is_for_people};
use statements::{DiffPlan, NEW, OLD, Pair, counts_of, key_counts, of_equal_key};

/// Columns of which a key is looked for.
const KEY_CANDIDATES_MAX: usize = 32;

/// Flags of `diff`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DiffFlags {
    /// The earlier version: a file, or a pattern of files that form one table
    #[arg(value_name = "OLD")]
    pub old: PathBuf,

    /// The later version
    #[arg(value_name = "NEW")]
    pub new: PathBuf,

    /// A column that identifies the rows. May be repeated [default: the first one that does]
    ///
    /// Rows with the same key are the same row, wherever they are in the files. Without any such
    /// column, csv-agent compares whole rows.
    #[arg(short, long, value_name = "COL")]
    pub key: Vec<String>,

    /// Do not compare this column. May be repeated
    #[arg(long, value_name = "COL")]
    pub ignore: Vec<String>,

    /// Order of ambiguous dates such as 01/02/2024 [default: detected]
    #[arg(long, value_name = "ORDER", value_parser = one_of::<DateOrder>())]
    pub date_order: Option<DateOrder>,

    #[command(flatten)]
    pub limits: EngineLimits,
}

/// Compares the two versions and prints where they differ. Fails when a version cannot be read, has no such
/// column, or has rows with the same key.
pub(crate) fn run(
    flags: &DiffFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    let mut session = Session::ephemeral(None)?;
    let files = [named_argument(OLD, &flags.old), named_argument(NEW, &flags.new)];
    let (needs_all, joins_names) = (true, true);
    let date_order = flags.date_order;
    let how = TurnInputs {
        needs_all,
        joins_names,
        date_order,
        warned_of: WarningSubject::File,
        read_flags: ReadFlagsOf::Diff,
        ..TurnInputs::default()
    };
    ingest_for_turn(&mut session, &files, how, options)?;
    diagnostics::warnings(session.take_warnings(), options.terminal.stderr.colour);
    let report = compared(flags, &mut session, settings, options)?;
    stdout::answer(|out| report.write(out, options))?;
    if let Some(warning) = report.cut(options) {
        diagnostics::warning(&warning, options.terminal.stderr.colour);
    }
    Ok(if report.is_same() { ExitStatus::Ok } else { ExitStatus::Failed(FailureKind::Replay) })
}

fn compared(
    flags: &DiffFlags,
    session: &mut Session,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<DiffReport> {
    let of = |name: &str| {
        let dataset = session.catalog().get(name).cloned();
        dataset.ok_or_else(|| anyhow!("the dataset `{name}` is not in the temporary session"))
    };
    let (old, new) = (of(OLD)?, of(NEW)?);
    let of_old = [(&old, &flags.old)];
    let of_any = [(&old, &flags.old), (&new, &flags.new)];
    let mut given: Vec<String> = Vec::new();
    for name in &flags.key {
        let name = column_named("--key", name, &of_old)?;
        column_named("--key", &name, &[(&new, &flags.new)])?;
        given.push(name);
    }
    let ignored = flags.ignore.iter().map(|it| column_named("--ignore", it, &of_any));
    let ignored: Vec<String> = ignored.collect::<anyhow::Result<_>>()?;
    if let Some(name) = given.iter().find(|it| ignored.contains(it)) {
        let message = format!("`{name}` is both a `--key` and ignored");
        return Err(Failure::usage(message).hint("leave out one of the two").into());
    }
    // Which file a row comes from is no value of the row.
    let is_compared = |it: &&Column| !ignored.contains(&it.name) && it.name != FILE_COLUMN;
    let column = |of: &Dataset, name: &str| of.columns.iter().find(|it| it.name == name).cloned();
    let pair = |it: &Column| Some(Pair::of(it, &column(&new, &it.name)?));
    let pairs: Vec<Pair> = old.columns.iter().filter(is_compared).filter_map(pair).collect();
    if pairs.is_empty() {
        let message = "the two versions have no column in common";
        let hint = "name two versions of one table; names of columns have to be equal";
        return Err(Failure::input(message).hint(hint).into());
    }
    let engine = DiffEngine { session, settings };
    let key = if given.is_empty() {
        engine.found_key(&pairs, [old.row_count, new.row_count])?
    } else {
        engine.demand_unique(&given, OLD, &flags.old)?;
        engine.demand_unique(&given, NEW, &flags.new)?;
        given
    };
    let plan = DiffPlan::of(pairs, &key);
    let mut statements = vec![plan.removed(), plan.added()];
    statements.extend(plan.changed());
    statements.extend(plan.counts());
    let (results, origins) = engine.run(&statements)?;
    let limit = if is_for_people(options) { FINDING_ROWS_MAX } else { DIFF_ROWS_MAX };
    let mut places = RowPlaces::new(session, options);
    let mut read = |at: usize| -> anyhow::Result<RowsOf> {
        let Some(path) = results.paths.get(at) else { return Ok(RowsOf::default()) };
        let found = rows(path, 0, limit)?;
        let n_rows = found.row_count;
        Ok(RowsOf { n_rows, rows: places.located(found, origins[at].as_ref())? })
    };
    let (removed, added, changed) = (read(0)?, read(1)?, read(2)?);
    let counts = results.paths.get(3).map(|it| rows(it, 0, 1)).transpose()?;
    let only_in = |of: &Dataset, other: &Dataset| -> Vec<String> {
        let only = of.columns.iter().filter(is_compared);
        only.filter(|it| column(other, &it.name).is_none()).map(|it| it.name.clone()).collect()
    };
    Ok(DiffReport {
        n_rows: [old.row_count, new.row_count],
        columns_removed: only_in(&old, &new),
        columns_added: only_in(&new, &old),
        // Without rows, a version has no types to compare.
        retyped: if [&old, &new].iter().all(|it| 0 < it.row_count) {
            plan.retyped()
        } else {
            Vec::new()
        },
        changed_cells: plan.changed_cells(counts),
        n_changed: changed.n_rows,
        changed: plan.changes(changed.rows),
        key,
        removed,
        added,
    })
}

/// Returns the name of a column that one of the versions has, which may be written in other case after a flag.
fn column_named(
    flag: &str,
    name: &str,
    versions: &[(&Dataset, &PathBuf)],
) -> anyhow::Result<String> {
    let columns = versions.iter().flat_map(|it| &it.0.columns);
    let columns: Vec<String> = columns.map(|it| it.name.clone()).collect();
    let is_named = |it: &&String| it.to_lowercase() == name.to_lowercase();
    if let Some(found) =
        columns.iter().find(|it| *it == name).or_else(|| columns.iter().find(is_named))
    {
        return Ok(found.clone());
    }
    let paths: Vec<String> = versions.iter().map(|it| format!("`{}`", it.1.display())).collect();
    let message = format!("no column `{name}` in {}", paths.join(" or "));
    let several: Vec<&str> = name.split(',').map(str::trim).collect();
    let are_columns = several.iter().all(|it| columns.iter().any(|column| column == it));
    let hint = match nearest(name, &columns).first() {
        _ if are_columns => {
            let flags: Vec<String> =
                several.iter().map(|it| format!("{flag} {}", quoted(it))).collect();
            format!("name one column per flag: `{}`", flags.join(" "))
        }
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("`csv-agent describe {}` lists the columns", versions[0].1.display()),
    };
    Err(Failure::usage(message).hint(hint).into())
}

/// Runs statements on the two versions.
struct DiffEngine<'a> {
    session: &'a Session,
    settings: &'a Settings<'a>,
}

impl DiffEngine<'_> {
    /// Returns the results, and where the rows of each come from.
    fn run(&self, statements: &[String]) -> anyhow::Result<(Results, Vec<Option<RowOrigin>>)> {
        let mut prepared = engine::prepared(statements, self.session)?;
        let origins = prepared.iter_mut().map(Prepared::with_row_origin).collect();
        let queries = prepared.into_iter().map(|it| it.query);
        let files = engine::files_of(self.session.dir(), self.session.catalog(), "diff")?;
        Ok((engine::run(queries, files, self.settings)?, origins))
    }

    fn first_rows(&self, statements: &[String]) -> anyhow::Result<Vec<Frame>> {
        engine::first_rows(statements, self.session, "diff", self.settings, 1)
    }

    /// Returns the first column of which every row of both versions has another value: by name a key, if there is one.
    fn found_key(&self, pairs: &[Pair], n_rows: [u64; 2]) -> anyhow::Result<Vec<String>> {
        let is_candidate = |it: &&Pair| {
            ![it.old, it.new].iter().any(|it| matches!(it, DType::Float64 | DType::Bool))
        };
        let mut pairs: Vec<&Pair> = pairs.iter().filter(is_candidate).collect();
        pairs.sort_by_key(|it| (!is_key_name(&it.name), it.is_retyped()));
        pairs.truncate(KEY_CANDIDATES_MAX);
        let names: Vec<&str> = pairs.iter().map(|it| it.name.as_str()).collect();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let statements = [key_counts(&names, OLD), key_counts(&names, NEW)];
        let found = self.first_rows(&statements)?.into_iter().map(counts_of);
        let [old, new] = &found.collect::<Vec<_>>()[..] else { return Ok(Vec::new()) };
        let mut keys = names.iter().zip(old.iter().zip(new));
        let key = keys.find(|(_, (old, new))| [**old, **new] == n_rows);
        Ok(key.map(|it| vec![(*it.0).to_owned()]).unwrap_or_default())
    }

    /// Demands that no two rows of a version have the same key.
    fn demand_unique(&self, key: &[String], version: &str, path: &Path) -> anyhow::Result<()> {
        let found = self.first_rows(&[of_equal_key(key, version)])?;
        let Some(row) = found.first().and_then(|it| it.rows.first()) else { return Ok(()) };
        let value = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        let values = key.iter().zip(row).map(|(name, it)| format!("{name}={}", value(it)));
        let values: Vec<String> = values.collect();
        let (n_rows, path) = (&row[key.len()], path.display());
        let names = key.join("`, `");
        let message = format!(
            "`{names}` does not identify the rows of `{path}`: {n_rows} rows have {}",
            values.join(", ")
        );
        let hint = "add another column with `--key`, or leave `--key` out";
        Err(Failure::input(message).hint(hint).into())
    }
}
