//! Datasets whose files have changed since they were ingested.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;

use csv_agent_text::lists::names;
use csv_agent_types::catalog::{DType, Dataset};
use csv_agent_types::limits::EXPORT_SOURCE_BYTES_MAX;
use csv_agent_types::named_file;

use super::origin::{absolute, origin_of};
use crate::tips;

/// Number of datasets that the sentence names.
const NAMED_MAX: usize = 3;

/// Returns the sentence about those of these datasets of a session whose files have changed, if any has.
///
/// The size of a file decides, and if it is the same, its content where it was written after the ingest. What was
/// joined or comes from an archive is not compared.
pub(crate) fn changed_sources<'a>(
    datasets: impl Iterator<Item = (&'a str, &'a Dataset)>,
    session_dir: &Path,
) -> Option<String> {
    let changed: Vec<(&str, &Dataset)> =
        datasets.filter(|it| has_changed(it.1, session_dir)).collect();
    let n_more = changed.len().saturating_sub(NAMED_MAX);
    let files = |it: &(&str, &Dataset)| tips::quoted(&shown(it.1, session_dir));
    let files: Vec<String> = changed.iter().take(NAMED_MAX).map(files).collect();
    let again =
        format!("csv-agent ingest {}{}", files.join(" "), if n_more == 0 { "" } else { " …" });
    match &changed[..] {
        [] => None,
        [(_, dataset)] => Some(format!(
            "`{}` has changed since it was ingested; `{again}` reads it again",
            shown(dataset, session_dir)
        )),
        _ => {
            let names = names(changed.iter().map(|it| it.0), NAMED_MAX);
            Some(format!(
                "the files of {names} have changed since they were ingested; `{again}` reads them again"
            ))
        }
    }
}

/// Returns the paths of the files that a dataset was read from. Those of a union are as the user named them.
pub(crate) fn sources_of(dataset: &Dataset, session_dir: &Path) -> Vec<PathBuf> {
    let joined = dataset.files.iter().map(|it| PathBuf::from(&it.source));
    place_of(dataset, session_dir).into_iter().chain(joined).collect()
}

/// Returns a sentence for each column of a dataset that is text now and was not before.
pub(crate) fn became_text<'a>(
    name: &str,
    before: &'a Dataset,
    now: &'a Dataset,
) -> impl Iterator<Item = String> {
    let source = now.source.clone();
    let is_text = |name: &str| {
        let column = now.columns.iter().find(|it| it.name == name);
        column.is_some_and(|it| it.dtype == DType::String)
    };
    let typed = before.columns.iter().filter(|it| it.dtype != DType::String);
    typed.filter(move |it| is_text(&it.name)).map(move |it| {
        format!(
            "column `{}` of `{name}` is text in `{source}`; in the original it is {}",
            it.name,
            it.dtype.name()
        )
    })
}

fn has_changed(dataset: &Dataset, session_dir: &Path) -> bool {
    let Some(path) = place_of(dataset, session_dir) else { return false };
    // A file without a length, as in `/proc`, is not read.
    let Ok(found) = path.metadata().map(|it: Metadata| (it.is_file(), it.len(), it.modified()))
    else {
        return false;
    };
    match found {
        (false, ..) | (_, 0, _) => false,
        (_, bytes, _) if bytes != dataset.bytes => true,
        (_, bytes, Ok(modified)) if bytes <= EXPORT_SOURCE_BYTES_MAX => {
            is_after(modified, &dataset.ingested_at)
                && named_file::open(&path).is_ok_and(|file| {
                    !csv_agent_ingest::is_same_file(&file, dataset.bytes, &dataset.sha256)
                })
        }
        _ => false,
    }
}

/// Returns the path as the user named it, where that leads to the file from here.
fn shown(dataset: &Dataset, session_dir: &Path) -> String {
    match place_of(dataset, session_dir) {
        Some(place) if origin_of(Path::new(&dataset.source), session_dir) != dataset.origin => {
            place.display().to_string()
        }
        _ => dataset.source.clone(),
    }
}

/// Returns the absolute path of the one file of a dataset.
fn place_of(dataset: &Dataset, session_dir: &Path) -> Option<PathBuf> {
    let is_one_file = dataset.remote().is_none() && dataset.files.is_empty();
    let origin = dataset.origin.as_deref().filter(|_| is_one_file)?;
    let base = absolute(session_dir);
    Some(absolute(&base.canonicalize().unwrap_or(base).join(origin)))
}

/// Returns whether a time is in the second of a moment in RFC 3339, or later.
fn is_after(time: SystemTime, moment: &str) -> bool {
    let (Ok(time), Ok(moment)) = (Timestamp::try_from(time), moment.parse::<Timestamp>()) else {
        return true;
    };
    moment.as_second() <= time.as_second()
}
