//! Datasets whose part of a file is gone: a sheet, a table or a member that the file no longer has.

use std::path::Path;

use csv_agent_types::catalog::{Catalog, Dataset};

use super::job::Ingested;
use super::origin::origin;
use crate::ingest::input::Input;

/// Returns a sentence for each dataset of `before` that an ingest of its file could not read again. `opened` are the
/// files with the names of all their parts. If something `has_failed`, it may be a further table.
pub(super) fn gone_parts(
    before: &Catalog,
    opened: &[(Input, Vec<String>)],
    done: &[Ingested],
    has_failed: bool,
    session_dir: &Path,
) -> Vec<String> {
    let opened = opened.iter().filter_map(|(file, parts)| {
        let origin = origin(file, session_dir)?;
        Some(OpenedFile { origin: format!("{origin}/"), shown_name: file.shown_name(), parts })
    });
    let opened: Vec<OpenedFile> = opened.collect();
    let here = before.iter().filter(|it| it.1.remote().is_none());
    let sentence = |(name, dataset): (&str, &Dataset)| {
        let whole = dataset.whole_origin()?;
        let now = done.iter().find(|it| it.name == name);
        if dataset.table_number.is_some() {
            let is_first = |it: &&Ingested| {
                it.dataset.table_number.is_none()
                    && it.dataset.files.is_empty() == dataset.files.is_empty()
                    && it.dataset.whole_origin().as_ref() == Some(&whole)
            };
            let first = done.iter().find(is_first).filter(|_| now.is_none() && !has_failed)?;
            let source = &first.dataset.source;
            let is_gone = is_older(dataset, &first.dataset);
            return is_gone.then(|| earlier(name, &format!("`{source}` no longer has this table")));
        }
        if !dataset.files.is_empty() {
            return None;
        }
        let lost = |file: &OpenedFile| {
            let part = whole.strip_prefix(&file.origin)?.to_owned();
            (!file.has(&part)).then_some((file.shown_name.clone(), part))
        };
        let (file, part) = opened.iter().find_map(lost)?;
        match now.map(|it| it.dataset.only_part.as_deref()) {
            None => Some(earlier(name, &format!("`{file}` no longer contains `{part}`"))),
            Some(Some(only)) if only != part => Some(format!(
                "`{name}` is now `{only}`, the only part of `{file}`, which no longer contains `{part}`"
            )),
            Some(_) => None,
        }
    };
    here.filter_map(sentence).collect()
}

/// Returns whether a further table was read from other content than the first one.
fn is_older(further: &Dataset, first: &Dataset) -> bool {
    let is_known = |hash: &str| first.files.iter().any(|it| it.sha256 == hash);
    if first.files.is_empty() {
        return further.sha256 != first.sha256;
    }
    !further.files.iter().all(|it| is_known(&it.sha256))
}

/// Returns the sentence about a dataset that cannot be read again.
pub(super) fn earlier(name: &str, why: &str) -> String {
    format!("`{name}` has its earlier data: {why}; `csv-agent datasets --rm {name}` removes it")
}

struct OpenedFile<'a> {
    /// With a slash behind it.
    origin: String,
    shown_name: String,
    parts: &'a [String],
}

impl OpenedFile<'_> {
    /// Returns whether the file has a part, or a file with that part.
    fn has(&self, part: &str) -> bool {
        let has = |it: &String| {
            part.strip_prefix(it.as_str()).is_some_and(|it| it.is_empty() || it.starts_with('/'))
        };
        self.parts.iter().any(has)
    }
}
