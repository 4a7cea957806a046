//! The datasets, as files at the provider: uploaded once, used while they are the same.

use std::fmt::Write;
use std::io::{Seek, SeekFrom};
use std::path::Path;

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::agent::Agent;

use crate::agent::news::listener;
use crate::agent::turn::{Ended, Turn};
use crate::catalog::Dataset;
use crate::dataset;
use crate::limits::{UPLOAD_BYTES_MAX, UPLOAD_LIFE, UPLOAD_MARGIN, UPLOADS_MAX};
use crate::provider::hosted::store::Upload;
use crate::session::Session;
use crate::session::hosted::KeptUpload;
use crate::status::{ExitStatus, Failure};

impl Agent {
    /// Uploads the datasets that the provider does not have as they are now. Files that hold what a
    /// dataset was before are deleted there.
    pub(super) async fn upload_datasets(
        &mut self,
        session: &Session,
        turn: &mut Turn<'_>,
    ) -> Result<(), Ended> {
        let catalog = self.hosted.catalog.clone();
        if UPLOADS_MAX < catalog.len() {
            let message = format!(
                "{} datasets: at most {UPLOADS_MAX} are uploaded to the provider",
                catalog.len()
            );
            let hint = "name those that the question is about with `-d NAME`";
            let failure = Failure::new(ExitStatus::Limit, message).hint(hint);
            return Err(Ended::Failed(failure.into()));
        }
        let mut file_ids = Vec::new();
        for (name, dataset) in catalog.iter() {
            let version = version(dataset);
            let margin = i64::try_from(UPLOAD_MARGIN.as_secs()).unwrap_or(i64::MAX);
            let file_id = match self.hosted.kept.upload_of(name, &version, margin) {
                Some(upload) => upload.file_id.clone(),
                None => self.upload(session, name, dataset, version, turn).await?,
            };
            file_ids.push(file_id);
        }
        self.hosted.file_ids = file_ids;
        Ok(())
    }

    async fn upload(
        &mut self,
        session: &Session,
        name: &str,
        dataset: &Dataset,
        version: String,
        turn: &mut Turn<'_>,
    ) -> Result<String, Ended> {
        let path = session.dir().join(&dataset.path);
        let beside = session.dir().to_owned();
        let writing = tokio::task::spawn_blocking(move || write_csv(&path, &beside));
        let csv = turn.wait(writing).await?.map_err(anyhow::Error::from)?;
        let csv = csv.map_err(|error| {
            let message = format!("cannot upload `{name}`: {error:#}");
            let hint = "ask about other datasets with `-d NAME`, or run code on this machine with \
                        `--interpreter local`";
            Failure::new(ExitStatus::Limit, message).hint(hint)
        });
        let csv = csv.map_err(anyhow::Error::from)?;
        let bytes = csv.as_file().metadata().map_err(anyhow::Error::from)?.len();
        let filename = format!("{name}.csv");
        let upload = Upload {
            path: csv.path(),
            filename: &filename,
            dataset: name,
            expires_after: UPLOAD_LIFE,
        };
        let mut on_progress = listener(turn);
        let uploading = self.provider.upload(&upload, &mut on_progress);
        let uploaded = turn.wait_sent(uploading).await?;
        let file_id = uploaded.map_err(anyhow::Error::from)?;
        let life = i64::try_from(UPLOAD_LIFE.as_secs()).unwrap_or(i64::MAX);
        let (mut old, kept): (Vec<_>, Vec<_>) =
            self.hosted.kept.uploads.drain(..).partition(|it| it.dataset == name);
        self.hosted.kept.uploads = kept;
        self.hosted.kept.uploads.push(KeptUpload {
            file_id: file_id.clone(),
            dataset: name.to_owned(),
            version,
            bytes,
            expires: Timestamp::now().as_second().saturating_add(life),
        });
        self.hosted.save(session)?;
        // What was recorded before is not ours to take away from a session that still counts on it.
        old.retain(|it| !it.version.is_empty());
        for it in old {
            let mut on_progress = listener(turn);
            // It goes by itself later.
            let _ = turn.wait(self.provider.delete_upload(&it.file_id, &mut on_progress)).await?;
        }
        Ok(file_id)
    }
}

/// Writes a dataset as CSV into a file that goes when it is dropped.
fn write_csv(parquet: &Path, beside: &Path) -> anyhow::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    let mut csv = builder.prefix(".").suffix(".tmp").tempfile_in(beside)?;
    dataset::csv_of(parquet, csv.as_file_mut(), UPLOAD_BYTES_MAX)?;
    csv.as_file_mut().seek(SeekFrom::Start(0))?;
    Ok(csv)
}

/// Returns what differs when a dataset does: it is ingested anew then.
fn version(dataset: &Dataset) -> String {
    let told = serde_json::to_string(&(
        &dataset.sha256,
        &dataset.ingested_at,
        dataset.row_count,
        &dataset.columns,
    ));
    let digest = Sha256::digest(told.unwrap_or_default());
    digest[..16].iter().fold(String::new(), |mut version, byte| {
        // Writing to a string cannot fail.
        let _ = write!(version, "{byte:02x}");
        version
    })
}
