//! Copies of datasets in which tokens replace the values of some columns.
//!
//! The model's code receives the copies and cannot access the originals, so no value of such a column
//! can leave the machine, whatever the code does with it. A token is a keyed hash of the value as text:
//! equal values have equal tokens in every dataset and turn of a session, and without the key, values
//! cannot be tested by trial. Missing values remain missing.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, bail};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float64Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::DataType;
use sha2::{Digest, Sha256};

use csv_agent_types::catalog::{Catalog, Column, DType, Dataset};
use csv_agent_types::limits::MASK_BATCH_ROWS_MAX;
use csv_agent_types::redaction::Redaction;

use super::from_parquet::guard;
use super::refusal::check_cancelled;
use super::stored::Stored;
use super::write::{BuiltColumn, ParquetFile, Purpose};

/// The prefix of each token, which makes it recognisable.
pub const TOKEN: &str = "redacted_";
/// Digits of the hash in a token: among ten million values, a collision is very unlikely.
const HASH_DIGITS: usize = 20;
/// Rows of a row group of a copy.
const GROUP_ROWS: u64 = 256 * 1024;

/// Returns the datasets as they appear with values withheld: such columns are text. The files are
/// unchanged.
pub fn masked_schema(catalog: &Catalog, withheld: &Redaction) -> Catalog {
    let mut masked = Catalog::default();
    for (name, dataset) in catalog.iter() {
        let mut dataset = dataset.clone();
        if dataset.columns.iter().any(|it| withheld.has(name, &it.name)) {
            // They concern the file, and it is unknown which columns they mention.
            dataset.notes.clear();
            dataset.doubts.clear();
        }
        for column in dataset.columns.iter_mut().filter(|it| withheld.has(name, &it.name)) {
            column.dtype = DType::String;
            // A note may quote values.
            column.note = None;
            column.description = None;
            column.is_ambiguous = false;
            column.meaning = None;
        }
        masked.insert(name.to_owned(), dataset);
    }
    masked
}

/// Returns the datasets without the values quoted in column notes and the texts around tables, for sessions that
/// withhold rows.
#[must_use]
pub fn without_quotations(catalog: &Catalog) -> Catalog {
    let mut unquoted = Catalog::default();
    for (name, dataset) in catalog.iter() {
        let mut dataset = dataset.clone();
        for column in &mut dataset.columns {
            // A quoted value is followed by its line.
            column.note.take_if(|it| it.contains("` on line "));
        }
        // Read with another delimiter, rows may be among these lines.
        dataset.notes.clear();
        unquoted.insert(name.to_owned(), dataset);
    }
    unquoted
}

/// Copies all datasets into a directory, with tokens in place of withheld values. Datasets without such
/// values are linked or copied as well: the directory is all that code can access.
///
/// # Errors
///
/// Fails when a dataset cannot be read, or a copy cannot be written, which includes an existing file.
/// Stops once `cancelled` is set.
pub fn masked(
    catalog: &Catalog,
    session_dir: &Path,
    withheld: &Redaction,
    key: &str,
    into: &Path,
    cancelled: &AtomicBool,
) -> anyhow::Result<Catalog> {
    let mut masked = masked_schema(catalog, withheld);
    for (at, (name, dataset)) in catalog.iter().enumerate() {
        let from = dataset.file_in(session_dir)?;
        let is_masked: Vec<bool> =
            dataset.columns.iter().map(|it| withheld.has(name, &it.name)).collect();
        // Dataset names are not file names.
        let path = into.join(format!("{at}.parquet"));
        let doing = || format!("cannot keep back values of `{name}`");
        if is_masked.contains(&true) {
            let (columns, is_masked) = (&dataset.columns, &is_masked);
            let copy = Copy { columns, is_masked, key, cancelled };
            guard::run(|| copy.write(&from, into, &path)).with_context(doing)?;
        } else {
            link(&from, &path).with_context(doing)?;
        }
        masked.insert(name.to_owned(), with_path(&masked, name, dataset, path));
    }
    Ok(masked)
}

fn with_path(masked: &Catalog, name: &str, dataset: &Dataset, path: PathBuf) -> Dataset {
    let copied = masked.get(name).unwrap_or(dataset).with_file(path);
    // They belong to the original file.
    Dataset { checksums: None, ..copied }
}

/// Hard-links a file, or copies it where that fails. An existing target may be the file itself, which
/// opening for writing would empty, so nothing is overwritten.
fn link(from: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(from, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            io::copy(&mut File::open(from)?, &mut File::create_new(path)?).map(drop)
        }
        linked => linked,
    }
}

/// The copy of one dataset.
struct Copy<'a> {
    columns: &'a [Column],
    is_masked: &'a [bool],
    key: &'a str,
    cancelled: &'a AtomicBool,
}

impl Copy<'_> {
    fn write(&self, from: &Path, dir: &Path, path: &Path) -> anyhow::Result<()> {
        let built = self.columns.iter().zip(self.is_masked).map(|(it, is_masked)| BuiltColumn {
            name: it.name.clone(),
            dtype: if *is_masked { DType::String } else { it.dtype },
            repeats: it.dtype == DType::String,
        });
        let (mut file, encoder) =
            ParquetFile::create(dir, "masked", &built.collect::<Vec<_>>(), Purpose::Dataset)?;
        let table = Stored::open(from)?;
        let mut batches = table.batches(None, MASK_BATCH_ROWS_MAX);
        loop {
            let (mut group, mut n_rows) = (encoder.row_group()?, 0);
            while n_rows < GROUP_ROWS
                && let Some(batch) = batches.next()
            {
                check_cancelled(self.cancelled)?;
                let batch = batch?;
                let columns = batch.columns().iter().zip(self.is_masked).map(|(values, masked)| {
                    if *masked { self.tokens(values) } else { Ok(plain(values)) }
                });
                group.write(&columns.collect::<anyhow::Result<Vec<_>>>()?)?;
                n_rows += batch.num_rows() as u64;
            }
            if n_rows == 0 {
                break;
            }
            file.append(n_rows, group.close()?)?;
        }
        let doing = || format!("cannot write {}", path.display());
        file.finish()?.0.into_temp_path().persist_noclobber(path).with_context(doing)
    }

    fn tokens(&self, values: &ArrayRef) -> anyhow::Result<ArrayRef> {
        let text = text_at(values)?;
        let token = |row: usize| (!values.is_null(row)).then(|| token(self.key, &text(row)));
        let tokens: StringArray = (0..values.len()).map(token).collect();
        Ok(Arc::new(tokens))
    }
}

/// Returns values in plain encoding: texts stored consecutively.
fn plain(values: &ArrayRef) -> ArrayRef {
    match values.as_string_view_opt() {
        Some(texts) => Arc::new(texts.iter().collect::<StringArray>()),
        None => Arc::clone(values),
    }
}

/// Returns a function that formats the value of a row as text. Datasets have few types.
fn text_at<'a>(values: &'a ArrayRef) -> anyhow::Result<Box<dyn Fn(usize) -> String + 'a>> {
    Ok(match values.data_type() {
        DataType::Utf8View => {
            let values = values.as_string_view();
            Box::new(move |row| values.value(row).to_owned())
        }
        DataType::Boolean => {
            let values = values.as_boolean();
            Box::new(move |row| values.value(row).to_string())
        }
        DataType::Int64 => {
            let values = values.as_primitive::<Int64Type>();
            Box::new(move |row| values.value(row).to_string())
        }
        DataType::Float64 => {
            let values = values.as_primitive::<Float64Type>();
            Box::new(move |row| values.value(row).to_string())
        }
        DataType::Date32 => {
            let values = values.as_primitive::<Date32Type>();
            Box::new(move |row| values.value(row).to_string())
        }
        DataType::Timestamp(..) => {
            let values = values.as_primitive::<TimestampMicrosecondType>();
            Box::new(move |row| values.value(row).to_string())
        }
        DataType::Time64(_) => {
            let values = values.as_primitive::<Time64MicrosecondType>();
            Box::new(move |row| values.value(row).to_string())
        }
        other => bail!("a token cannot replace a {other}; ingest its source again"),
    })
}

fn token(key: &str, text: &str) -> String {
    let hash = Sha256::new().chain_update(key).chain_update([0]).chain_update(text).finalize();
    format!("{TOKEN}{hash:.HASH_DIGITS$x}")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::AtomicBool;

    use serde_json::json;

    use super::{TOKEN, masked, token, without_quotations};
    use csv_agent_types::catalog::Catalog;
    use csv_agent_types::redaction::Redaction;

    #[test]
    fn a_copy_that_is_there_already_is_refused_and_the_dataset_stays() {
        let dir = tempfile::tempdir().unwrap();
        let into = dir.path().join("masked");
        fs::create_dir(&into).unwrap();
        let dialect = json!({"encoding": "utf-8", "delimiter": ",", "quote": null, "header": true, "reasons": []});
        let dataset = json!({"path": "sales.parquet", "source": "s", "sha256": "", "bytes": 1, "row_count": 1,
            "columns": [], "dialect": dialect, "padded_rows": 0, "surplus_rows": 0, "ingested_at": ""});
        let mut catalog = Catalog::default();
        catalog.insert("sales".to_owned(), serde_json::from_value(dataset).unwrap());
        fs::write(dir.path().join("sales.parquet"), "rows").unwrap();
        let copy = || {
            masked(
                &catalog,
                dir.path(),
                &Redaction::default(),
                "key",
                &into,
                &AtomicBool::new(false),
            )
        };
        copy().unwrap();
        let error = format!("{:#}", copy().unwrap_err());
        assert!(error.starts_with("cannot keep back values of `sales`: "), "{error}");
        assert_eq!(fs::read_to_string(dir.path().join("sales.parquet")).unwrap(), "rows");
    }

    #[test]
    fn notes_that_quote_a_value_are_kept_back_with_the_rows() {
        let column = |note: &str| json!({"name": "a", "dtype": "string", "nulls": 0, "note": note});
        let dialect = json!({"encoding": "utf-8", "delimiter": ",", "quote": null, "header": true, "reasons": []});
        let columns = json!([
            column("text: 1 value that is not a number, `bob` on line 3"),
            column("decimal comma")
        ]);
        let dataset = json!({"path": "sales.parquet", "source": "s", "sha256": "", "bytes": 1, "row_count": 1,
            "columns": columns, "dialect": dialect, "padded_rows": 0, "surplus_rows": 0, "ingested_at": ""});
        let catalog: Catalog = serde_json::from_value(json!({"sales": dataset})).unwrap();
        let unquoted = without_quotations(&catalog);
        let notes: Vec<_> =
            unquoted.get("sales").unwrap().columns.iter().map(|it| it.note.as_deref()).collect();
        assert_eq!(notes, [None, Some("decimal comma")]);
    }

    #[test]
    fn a_token_is_the_same_for_a_value_and_another_with_another_key() {
        let found = token("key", "alice@x");
        assert_eq!(found, token("key", "alice@x"));
        assert!(found.starts_with(TOKEN) && found.len() == TOKEN.len() + 20, "{found}");
        assert_ne!(found, token("key", "bob@x"));
        assert_ne!(found, token("other", "alice@x"));
    }
}
