//! What the provider keeps for a session, deleted there.

use jiff::Timestamp;

use crate::agent::Agent;
use crate::limits::HOSTED_DELETE;
use crate::provider::error::ProviderError;
use crate::provider::{Progress, Provider};
use crate::render::digits;
use crate::session::hosted::Kept;

/// Has the provider delete uploads and the container that it made. Returns what it keeps still, and why.
pub async fn delete_kept(provider: &mut Provider, kept: &Kept) -> (Kept, Option<String>) {
    let mut left = kept.clone();
    match tokio::time::timeout(HOSTED_DELETE, delete_all(provider, &mut left)).await {
        Ok(Ok(())) => (left, None),
        Ok(Err(error)) => (left, Some(error.to_string())),
        Err(_) => (left, Some(format!("it took more than {} s", HOSTED_DELETE.as_secs()))),
    }
}

/// What is deleted is taken out of what is left at once, so that an end half way knows what remains.
async fn delete_all(provider: &mut Provider, left: &mut Kept) -> Result<(), ProviderError> {
    let mut quiet = |_: Progress<'_>| {};
    if let Some(container) = &left.container
        && container.is_ours
    {
        provider.delete_container(&container.container_id, &mut quiet).await?;
    }
    left.container = None;
    while let Some(upload) = left.uploads.last() {
        provider.delete_upload(&upload.file_id, &mut quiet).await?;
        left.uploads.pop();
    }
    Ok(())
}

/// Returns what the user should know of files that could not be deleted.
pub fn left_there(server: &str, left: &Kept, reason: &str) -> String {
    let n_files = left.uploads.len();
    let files = digits::count(n_files as u64, "upload");
    let last = left.uploads.iter().map(|it| it.expires).max().unwrap_or_default();
    let until = Timestamp::from_second(last).map_or(String::new(), |it| format!(" at {it}"));
    format!(
        "{files} of this session could not be deleted at {server}, which deletes them by itself{until}: \
         {reason}"
    )
}

impl Agent {
    /// Has the provider delete what it keeps for a session that goes with this process.
    pub(in crate::agent) async fn close_hosted(&mut self) -> Option<String> {
        if !self.hosted.is_temporary {
            return None;
        }
        let server = self.hosted.server.clone()?;
        if self.hosted.kept == Kept::default() {
            return None;
        }
        let (left, reason) = delete_kept(&mut self.provider, &self.hosted.kept).await;
        reason.map(|it| left_there(&server, &left, &it))
    }
}
