//! The files of a dataset before they get their final names.

use std::io::{BufWriter, IntoInnerError};
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::{NamedTempFile, TempPath};

use csv_agent_types::catalog::{Checksums, Dataset};

use crate::line_map::LineWriter;
use crate::pass::PassOutput;
use crate::write::{
    BuiltColumn, LateFile, ParquetFile, Purpose, Summed, keep, modified, sync_files,
};

/// The complete files of a dataset, under temporary names that are removed unless they are kept.
#[derive(Debug, Default)]
#[must_use = "without `keep`, the files vanish"]
pub struct DatasetFiles {
    /// Each with its final name; None where there is nothing to write.
    files: Vec<(Option<TempPath>, PathBuf)>,
    /// Whether they must survive a power cut.
    is_synced: bool,
}

impl DatasetFiles {
    /// Renames the Parquet file to this name, replacing any existing file, and removes the others. Fails when
    /// it cannot be renamed.
    pub(crate) fn keep_table(self, path: &Path) -> anyhow::Result<()> {
        let table = self.files.into_iter().next_back().and_then(|it| it.0);
        let table = table.context("no pass has built the table")?;
        sync_files(&[&table]).into_iter().collect::<anyhow::Result<()>>()?;
        keep(table, path)
    }

    /// Returns the table and the list of repairs, if any, under their temporary names. Fails when no pass has
    /// built the table.
    pub(crate) fn into_temporaries(self) -> anyhow::Result<(TempPath, Option<TempPath>)> {
        let (mut table, mut rejects) = (None, None);
        for (temp, path) in self.files {
            match path.extension().and_then(std::ffi::OsStr::to_str) {
                Some("parquet") => table = temp,
                Some("jsonl") => rejects = temp,
                _ => {}
            }
        }
        Ok((table.context("no pass has built the table")?, rejects))
    }

    /// Takes the table and the list of repairs of several files, which have no common line numbering.
    pub(crate) fn of_union(
        target: Target<'_>,
        table: ParquetFile,
        rejects: Option<NamedTempFile>,
        about: &mut Dataset,
    ) -> anyhow::Result<Self> {
        let files = TempFiles { parquet: Some(table), lines: None, rejects };
        files.complete(target, true, Some(about))
    }

    /// Keeps the files of datasets, and returns for each whether it was kept, in order.
    ///
    /// Those of a session are synced to disk before the first gets its name;
    /// [`sync_dir`](super::sync_dir) makes the names survive a power cut.
    pub fn keep_all(all: Vec<Self>) -> Vec<anyhow::Result<()>> {
        let there = || all.iter().map(Self::to_sync);
        let paths: Vec<&Path> = there().flatten().collect();
        let counts: Vec<usize> = there().map(Iterator::count).collect();
        let mut synced = sync_files(&paths).into_iter();
        let keep = |(files, n): (Self, usize)| {
            let synced = synced.by_ref().take(n).collect::<Vec<_>>();
            synced.into_iter().collect::<anyhow::Result<()>>()?;
            files.rename()
        };
        all.into_iter().zip(counts).map(keep).collect()
    }

    fn to_sync(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().filter(|_| self.is_synced).filter_map(|it| it.0.as_deref())
    }

    /// Renames the files, the Parquet file last.
    fn rename(self) -> anyhow::Result<()> {
        for (temp, path) in self.files {
            match temp {
                Some(temp) => keep(temp, &path)?,
                // From a dataset that had this name before.
                None if path.exists() => {
                    let doing = || format!("cannot remove {}", path.display());
                    std::fs::remove_file(&path).with_context(doing)?;
                }
                None => {}
            }
        }
        Ok(())
    }
}

/// The three files of a dataset before they get their final names.
pub(crate) struct TempFiles {
    parquet: Option<ParquetFile>,
    lines: Option<Summed>,
    rejects: Option<NamedTempFile>,
}

impl TempFiles {
    /// Takes a Parquet file whose rows do not come from lines.
    pub(crate) fn of_parquet(parquet: ParquetFile) -> Self {
        TempFiles { parquet: Some(parquet), lines: None, rejects: None }
    }

    pub(crate) fn create(
        target: Target<'_>,
        columns: &[BuiltColumn],
        n_header: u64,
    ) -> anyhow::Result<(Self, PassOutput)> {
        let Target { dir, name, purpose } = target;
        let (parquet, encoder) =
            ParquetFile::create(dir, &format!("{name}.parquet"), columns, purpose)?;
        let late = |ending: &str| BufWriter::new(LateFile::new(dir, format!("{name}.{ending}")));
        let output = PassOutput {
            parquet,
            encoder,
            lines: LineWriter::new(late("lines"), n_header)?,
            rejects: late("rejects.jsonl"),
        };
        Ok((TempFiles { parquet: None, lines: None, rejects: None }, output))
    }

    /// Completes the output of a pass, unless another pass follows.
    pub(crate) fn finish(&mut self, output: PassOutput, is_built: bool) -> anyhow::Result<()> {
        let rejects = output.rejects.into_inner().map_err(IntoInnerError::into_error)?;
        self.rejects = rejects.into_temporary().map(|it| it.finish().0);
        let (lines, is_needed) = output.lines.finish();
        if is_needed {
            self.lines = lines.into_inner().map_err(IntoInnerError::into_error)?.into_temporary();
        } else {
            // Dropping the writer would first flush it.
            drop(lines.into_parts());
        }
        if is_built {
            self.parquet = Some(output.parquet);
        }
        Ok(())
    }

    /// Writes the dataset's description into the Parquet file, for a reader without a catalog, and
    /// completes the file. Sets the checksums of the dataset.
    pub(crate) fn complete(
        self,
        target: Target<'_>,
        has_rejects: bool,
        about: Option<&mut Dataset>,
    ) -> anyhow::Result<DatasetFiles> {
        let Target { dir, name, purpose } = target;
        let path = |ending: &str| dir.join(format!("{name}.{ending}"));
        let rejects = self.rejects.filter(|_| has_rejects);
        let mut files =
            DatasetFiles { is_synced: purpose == Purpose::Dataset, ..DatasetFiles::default() };
        let (map, lines) = self.lines.map(Summed::finish).unzip();
        for (temp, path) in [(rejects, path("rejects.jsonl")), (map, path("lines"))] {
            files.files.push((temp.map(NamedTempFile::into_temp_path), path));
        }
        let mut parquet = self.parquet.context("no pass has built the table")?;
        about.as_ref().map(|it| parquet.describe(it)).transpose()?;
        let (temp, table) = parquet.finish()?;
        if let Some(dataset) = about {
            let modified = modified(temp.as_file())?;
            dataset.checksums = Some(Checksums { table, modified, lines });
        }
        files.files.push((Some(temp.into_temp_path()), path("parquet")));
        Ok(files)
    }
}

/// The destination of the files.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    /// The session's directory of datasets.
    pub dir: &'a Path,
    /// The dataset's name.
    pub name: &'a str,
    /// What they are written for.
    pub purpose: Purpose,
}
