//! The datasets as files at the provider: uploaded once, reused while unchanged.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use serde::Serialize;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use csv_agent_provider::hosted::store::Upload;
use csv_agent_session::Session;
use csv_agent_session::hosted::KeptUpload;
use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::limits::{
    UPLOAD_BYTES_MAX, UPLOAD_LIFE, UPLOAD_LIFE_TEMPORARY, UPLOAD_MARGIN, UPLOADS_MAX,
};
use csv_agent_types::status::{Failure, FailureKind};

use crate::hosted::{CancelOnDrop, Hosted, InUse};
use crate::progress::listener;
use crate::turn::TurnInterrupt;
use crate::{Agent, TurnContext};

/// A file for code at the provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedUpload {
    /// The dataset in it.
    pub dataset: String,
    /// Its name for code at the provider.
    pub filename: String,
    /// Rows of the dataset.
    pub rows: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// The provider's id for it, when it is already uploaded.
    pub file_id: Option<String>,
}

impl Agent {
    /// Returns the uploads of a turn over these datasets, with those that exist already. Sends nothing. For a
    /// provider that keeps nothing, returns none. Fails when a dataset cannot be uploaded, or there are too
    /// many.
    pub(super) fn plan_uploads(
        &mut self,
        session: &Session,
        catalog: &Catalog,
    ) -> anyhow::Result<Vec<PlannedUpload>> {
        if self.hosted.server.is_none() {
            return Ok(Vec::new());
        }
        check_number(catalog)?;
        let (mut planned, mut in_use) = (Vec::new(), Vec::new());
        for (name, dataset) in catalog.iter() {
            let known = self.hosted.upload_of(name, dataset);
            let known = known.map(|it| (it.file_id.clone(), it.bytes));
            let bytes = match &known {
                Some((_, bytes)) => *bytes,
                None => csv_bytes(&dataset.file_in(session.dir())?)
                    .map_err(|error| no_upload(name, error))?,
            };
            let file_id = known.map(|it| it.0);
            if file_id.is_none() {
                // The upload replaces the previous version.
                self.hosted.kept.uploads.retain(|it| it.dataset != name);
            }
            in_use.extend(file_id.clone().map(|it| InUse::of(name, dataset, it)));
            planned.push(PlannedUpload {
                dataset: name.to_owned(),
                filename: format!("{name}.csv"),
                rows: dataset.row_count,
                bytes,
                file_id,
            });
        }
        self.hosted.in_use = in_use;
        Ok(planned)
    }

    /// Uploads the datasets whose current version the provider lacks, and deletes files with older versions
    /// there.
    pub(super) async fn upload_datasets(
        &mut self,
        context: &mut TurnContext<'_, '_>,
    ) -> Result<(), TurnInterrupt> {
        let catalog = self.hosted.catalog.clone();
        check_number(&catalog).map_err(anyhow::Error::from)?;
        let mut in_use = Vec::new();
        for (name, dataset) in catalog.iter() {
            let file_id = match self.hosted.upload_of(name, dataset) {
                Some(upload) => upload.file_id.clone(),
                None => self.upload(context, name, dataset).await?,
            };
            in_use.push(InUse::of(name, dataset, file_id));
        }
        self.hosted.in_use = in_use;
        Ok(())
    }

    async fn upload(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        name: &str,
        dataset: &Dataset,
    ) -> Result<String, TurnInterrupt> {
        let path = dataset.file_in(context.session.dir())?;
        let beside = context.session.dir().to_owned();
        let (_end, is_over) = CancelOnDrop::of_waiting();
        let writing = tokio::task::spawn_blocking(move || write_csv(&path, &beside, &is_over));
        let csv = context.turn.wait(writing).await?.map_err(anyhow::Error::from)?;
        let csv = csv.map_err(|error| no_upload(name, error))?;
        let bytes = csv.as_file().metadata().map_err(anyhow::Error::from)?.len();
        let filename = format!("{name}.csv");
        let life = if self.hosted.is_temporary { UPLOAD_LIFE_TEMPORARY } else { UPLOAD_LIFE };
        let upload = Upload {
            path: csv.path(),
            filename: &filename,
            dataset: name,
            expires_after: life,
            n_turns: self.hosted.n_turns,
        };
        let mut on_progress = listener(context.turn);
        let uploading = self.provider.upload(&upload, &mut on_progress);
        let uploaded = context.turn.wait_sent(uploading).await?;
        let file_id = uploaded.map_err(anyhow::Error::from)?;
        let life = i64::try_from(life.as_secs()).unwrap_or(i64::MAX);
        // A recording must not delete earlier uploads that a session still relies on.
        let is_old = |it: &KeptUpload| it.dataset == name && !it.version.is_empty();
        let (old, kept): (Vec<_>, Vec<_>) = self.hosted.kept.uploads.drain(..).partition(is_old);
        self.hosted.kept.uploads = kept;
        self.hosted.kept.uploads.push(KeptUpload {
            file_id: file_id.clone(),
            dataset: name.to_owned(),
            version: version(dataset),
            bytes,
            expires: Timestamp::now().as_second().saturating_add(life),
        });
        self.hosted.save(context.session)?;
        for it in old {
            let mut on_progress = listener(context.turn);
            // It expires later.
            let _ = context
                .turn
                .wait(self.provider.delete_upload(&it.file_id, &mut on_progress))
                .await?;
        }
        Ok(file_id)
    }
}

impl InUse {
    fn of(name: &str, dataset: &Dataset, file_id: String) -> InUse {
        InUse { dataset: name.to_owned(), version: version(dataset), file_id }
    }
}

impl Hosted {
    /// Returns the upload of a dataset's current version, if the provider keeps it for long enough.
    fn upload_of(&self, name: &str, dataset: &Dataset) -> Option<&KeptUpload> {
        let margin = i64::try_from(UPLOAD_MARGIN.as_secs()).unwrap_or(i64::MAX);
        self.kept.upload_of(name, &version(dataset), margin)
    }
}

/// Checks that the uploaded datasets do not exceed a container's limit.
fn check_number(catalog: &Catalog) -> Result<(), Failure> {
    if catalog.len() <= UPLOADS_MAX {
        return Ok(());
    }
    let message =
        format!("{} datasets: at most {UPLOADS_MAX} are uploaded to the provider", catalog.len());
    let hint = "name those that the question is about with `-d NAME`";
    Err(Failure::limit(message).hint(hint))
}

/// Reports that a dataset cannot become a file. Only its size counts as a limit.
fn no_upload(name: &str, error: anyhow::Error) -> anyhow::Error {
    let message = format!("cannot upload `{name}`");
    match error.downcast_ref::<Failure>() {
        Some(failure) if failure.kind == FailureKind::Input => {
            let hint = "ask about other datasets with `-d NAME`, or run code on this machine with \
                        `--interpreter local`";
            Failure::limit(format!("{message}: {error:#}")).hint(hint).into()
        }
        _ => error.context(message),
    }
}

/// A file whose writing can be cancelled.
struct CancellableFile<'a> {
    file: &'a mut File,
    is_over: &'a AtomicBool,
}

impl io::Write for CancellableFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_over.load(Ordering::Relaxed) {
            return Err(io::Error::other("nobody waits for it"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a dataset as CSV into a temporary file, deleted on drop.
fn write_csv(parquet: &Path, beside: &Path, is_over: &AtomicBool) -> anyhow::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    let mut csv = builder.prefix(".").suffix(".tmp").tempfile_in(beside)?;
    let mut wanted = CancellableFile { file: csv.as_file_mut(), is_over };
    csv_agent_ingest::csv_of(parquet, &mut wanted, UPLOAD_BYTES_MAX)?;
    csv.as_file_mut().seek(SeekFrom::Start(0))?;
    Ok(csv)
}

/// Returns the size of a dataset as CSV, in bytes.
fn csv_bytes(parquet: &Path) -> anyhow::Result<u64> {
    csv_agent_ingest::csv_of(parquet, &mut io::sink(), UPLOAD_BYTES_MAX)
}

/// Returns a value that changes whenever a dataset is ingested anew.
pub(super) fn version(dataset: &Dataset) -> String {
    let told = serde_json::to_string(&(
        &dataset.sha256, &dataset.ingested_at, dataset.row_count, &dataset.columns,
    ));
    let mut version = format!("{:x}", Sha256::digest(told.unwrap_or_default()));
    version.truncate(32);
    version
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::{CancellableFile, no_upload};
    use csv_agent_types::status::{Failure, FailureKind};

    #[test]
    fn only_a_dataset_that_is_too_large_is_a_matter_of_limits() {
        let large = Failure::input("as CSV it has more than 5 bytes, the limit");
        let told = no_upload("orders", large.into());
        let told = told.downcast_ref::<Failure>().unwrap();
        assert_eq!(told.kind, FailureKind::Limit);
        let expected = "cannot upload `orders`: as CSV it has more than 5 bytes, the limit";
        assert_eq!(told.message, expected);
        let other = no_upload("orders", anyhow::anyhow!("no space left on device"));
        assert_eq!(format!("{other:#}"), "cannot upload `orders`: no space left on device");
        assert!(other.downcast_ref::<Failure>().is_none());
    }

    #[test]
    fn what_nobody_waits_for_is_not_written() {
        use std::io::Write;
        let mut file = tempfile::tempfile().unwrap();
        for (is_over, n_bytes) in [(false, 1), (true, 1)] {
            let mut wanted =
                CancellableFile { file: &mut file, is_over: &AtomicBool::new(is_over) };
            assert_eq!(wanted.write_all(b"x").is_err(), is_over);
            assert_eq!(file.metadata().unwrap().len(), n_bytes);
        }
    }
}
