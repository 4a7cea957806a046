//! Finds out how plain Python reads a dataset's source: it reads the source in several ways and compares
//! with the dataset. Where none matches, the program reads the dataset's own Parquet file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::task::spawn_blocking;

use csv_agent_session::directory::mendable;
use csv_agent_types::catalog::{Catalog, Dataset, SourceFormat};
use csv_agent_types::limits::EXPORT_SOURCE_BYTES_MAX;
use csv_agent_worker::trusted_script::Study;

use super::{blocks, literal};

/// The function that reads a Parquet file.
pub(super) const PARQUET: &str = "_parquet_table";

const FIT: &str = include_str!("fit.py");

pub(super) struct DatasetReader {
    /// The dataset's name.
    pub name: String,
    /// The file, as the user named it, or the session's own.
    pub path: String,
    /// A short description.
    pub about: String,
    /// The name of a function that takes the file's path.
    pub function: String,
    /// The code that defines it; empty for a built-in block.
    pub code: String,
    /// Why the program does not read the original.
    pub why: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReaderFit {
    why: Option<String>,
    opener: String,
    codec: String,
    options: Map<String, Value>,
    columns: Vec<(String, Map<String, Value>)>,
}

/// Why the sources of some datasets cannot be read again, by dataset name.
pub(super) type Troubles = BTreeMap<String, String>;

/// Looks at the source of each dataset, on another thread: a file may take its time.
pub(super) async fn troubles(catalog: Catalog) -> Troubles {
    let trouble = |it: &Dataset| csv_agent_ingest::source_trouble(it, EXPORT_SOURCE_BYTES_MAX);
    let look = move || {
        let found = catalog.iter().filter_map(|(name, it)| Some((name.to_owned(), trouble(it)?)));
        found.collect()
    };
    spawn_blocking(look).await.expect("looking at sources does not panic")
}

/// Returns the files to compare: the datasets, and the sources that can be read.
pub(super) fn files(
    session_dir: &Path,
    catalog: &Catalog,
    troubles: &Troubles,
) -> Vec<(String, PathBuf)> {
    let path = |it: &Path| std::path::absolute(it).unwrap_or_else(|_| it.to_owned());
    let datasets = catalog
        .iter()
        .filter_map(|(name, it)| Some((name.to_owned(), path(&session_dir.join(it.path()?)))));
    let sources = catalog.iter().filter(|it| !troubles.contains_key(it.0));
    let sources = sources.map(|(name, it)| (link(name), path(Path::new(&it.source))));
    datasets.chain(sources).collect()
}

/// Returns a name that no dataset has.
fn link(name: &str) -> String {
    format!("{name} source")
}

/// Returns how to read each of the datasets.
pub(super) async fn readers(
    study: &mut Study,
    session_dir: &Path,
    catalog: &Catalog,
    troubles: &Troubles,
    names: &[&str],
) -> anyhow::Result<Vec<DatasetReader>> {
    let mut readers = Vec::new();
    let mut taken = BTreeSet::new();
    for (name, dataset) in catalog.iter().filter(|it| names.contains(&it.0)) {
        let fit = match troubles.get(name) {
            Some(why) => ReaderFit { why: Some(why.clone()), ..ReaderFit::default() },
            None => fit(study, session_dir, name, dataset).await?,
        };
        let function = function_name(name, &mut taken);
        readers.push(reader(session_dir, (name, function), dataset, fit)?);
    }
    Ok(readers)
}

async fn fit(
    study: &mut Study,
    session_dir: &Path,
    name: &str,
    dataset: &Dataset,
) -> anyhow::Result<ReaderFit> {
    let dialect = &dataset.dialect;
    let lines = csv_agent_ingest::line_runs(session_dir, dataset);
    let lines = lines.map_err(|it| mendable(session_dir, format!("{it:#}")))?;
    let source = json!([{
        "name": name,
        "link": link(name),
        "is_parquet": dialect.format == SourceFormat::Parquet,
        "encoding": dialect.encoding,
        "delimiter": dialect.delimiter,
        "quote": dialect.quote,
        "escape": dialect.escape,
        "has_header": dialect.header,
        "has_extra": 0 < dataset.surplus_rows,
        "dtypes": dataset.columns.iter().map(|it| it.dtype.name()).collect::<Vec<_>>(),
        "lines": lines,
    }]);
    // Functions of a script include a `load` of their own.
    let imports = "import bz2, csv, datetime, gzip, hashlib, io, json, os, re, sys, tempfile, zipfile\n\
                   import pyarrow.parquet\n\
                   load_dataset = globals().get('load_dataset', load)";
    let code = format!("{imports}\n{}\n{FIT}", blocks::READER);
    let found = study.ask(&code, &source).await?;
    let mut fits: Vec<ReaderFit> = serde_json::from_value(found)
        .with_context(|| format!("cannot find out how plain Python reads `{name}`"))?;
    fits.pop().with_context(|| format!("found nothing about `{name}`"))
}

/// Returns the name of the function that reads a dataset, which no other function has: names of datasets may have
/// characters that those of Python have not.
fn function_name(dataset: &str, taken: &mut BTreeSet<String>) -> String {
    let usable = |it: char| if it.is_ascii_alphanumeric() { it } else { '_' };
    let base = format!("_read_{}", dataset.chars().map(usable).collect::<String>());
    let mut name = base.clone();
    let mut n = 2;
    while !taken.insert(name.clone()) {
        name = format!("{base}_{n}");
        n += 1;
    }
    name
}

fn reader(
    session_dir: &Path,
    (name, function): (&str, String),
    dataset: &Dataset,
    fit: ReaderFit,
) -> anyhow::Result<DatasetReader> {
    let Dataset { row_count, sha256, source, .. } = dataset;
    let about = format!("{row_count} rows, sha256 {}", sha256.get(..16).unwrap_or(sha256));
    let (name_shown, path) = (name.to_owned(), source.clone());
    if fit.why.is_some() {
        let path = dataset.file_in(session_dir)?.display().to_string();
        let function = PARQUET.to_owned();
        let (code, why) = (String::new(), fit.why);
        return Ok(DatasetReader { name: name_shown, path, about, function, code, why });
    }
    if fit.opener == PARQUET {
        let function = fit.opener;
        let (code, why) = (String::new(), None);
        return Ok(DatasetReader { name: name_shown, path, about, function, code, why });
    }
    let options = |it: &Map<String, Value>| -> String {
        let option = |(name, value): (&String, &Value)| {
            format!(", {name}={}", value.as_str().unwrap_or_default())
        };
        it.iter().map(option).collect()
    };
    let column = |(at, (name, (function, given))): (usize, (&String, &(String, _)))| {
        format!("        {}: {function}(cells[{at}]{}),\n", literal::string(name), options(given))
    };
    let names = dataset.columns.iter().map(|it| &it.name);
    let columns: String = names.zip(&fit.columns).enumerate().map(column).collect();
    let has_notes = fit.options.contains_key("skip");
    let must = has_notes.then(|| format!("    _must_be(path, {})\n", literal::string(sha256)));
    let must = must.unwrap_or_default();
    let code = format!(
        "def {function}(path):\n{must}    lines = {}(path, {})\n    cells = _columns_of(lines{})\n    \
         return pd.DataFrame({{\n{columns}    }})",
        fit.opener,
        literal::string(&fit.codec),
        options(&fit.options)
    );
    Ok(DatasetReader { name: name_shown, path, about, function, code, why: None })
}

impl DatasetReader {
    /// Returns the warning for the user, if any.
    pub(super) fn warning(&self) -> Option<String> {
        let why = self.why.as_ref()?;
        Some(format!(
            "`{}` is read from the session's copy, `{}`, not from its source: {why}",
            self.name, self.path
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::function_name;

    #[test]
    fn each_dataset_has_a_function_with_a_name_of_python() {
        let mut taken = BTreeSet::new();
        let names = ["orders", "orders-july", "orders_july", "2024 sales", "Umsätze.neu", "-", "."];
        let functions = names.map(|it| function_name(it, &mut taken));
        let expected = [
            "_read_orders",
            "_read_orders_july",
            "_read_orders_july_2",
            "_read_2024_sales",
            "_read_Ums_tze_neu",
            "_read__",
            "_read___2",
        ];
        assert_eq!(functions, expected);
    }
}
