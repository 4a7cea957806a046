//! Deletes what the provider keeps for a session.

use std::future::Future;

use jiff::Timestamp;

use csv_agent_provider::error::{ProviderError, ProviderErrorKind};
use csv_agent_provider::hosted::store::is_id;
use csv_agent_provider::{Progress, Provider};
use csv_agent_session::hosted::ProviderState;
use csv_agent_text::digits;
use csv_agent_types::limits::HOSTED_DELETE;
use csv_agent_types::status::FailureKind;

use crate::Agent;

/// Deletes the session's uploads and container at the provider, until `stop` resolves. Returns what the
/// provider still keeps, and why.
pub async fn delete_kept(
    provider: &mut Provider,
    kept: &ProviderState,
    stop: impl Future<Output = FailureKind>,
) -> (ProviderState, Option<String>) {
    let mut left = nameable(kept.clone());
    let deleting = tokio::time::timeout(HOSTED_DELETE, delete_all(provider, &mut left));
    // The losing branch is dropped: everything not yet confirmed counts as left.
    let reason = tokio::select! {
        biased;
        deleted = deleting => match deleted {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some(format!("it took more than {} s", HOSTED_DELETE.as_secs())),
        },
        _ = stop => Some("interrupted".to_owned()),
    };
    (left, reason)
}

/// Drops names that no provider can have assigned: a session may come from an untrusted source.
pub(super) fn nameable(mut kept: ProviderState) -> ProviderState {
    kept.container = kept.container.filter(|it| is_id(&it.container_id));
    kept.uploads.retain(|it| is_id(&it.file_id));
    kept
}

/// Removes each deleted item from what is left at once, so that an interrupted run knows what remains. A
/// failed deletion does not stop the others, unless every deletion would fail.
async fn delete_all(
    provider: &mut Provider,
    left: &mut ProviderState,
) -> Result<(), ProviderError> {
    let mut quiet = |_: Progress<'_>| {};
    let mut failed = None;
    let container = left.container.clone().filter(|it| it.is_ours);
    let deleted = match &container {
        Some(it) => provider.delete_container(&it.container_id, &mut quiet).await,
        None => Ok(()),
    };
    match deleted {
        Ok(()) => left.container = None,
        Err(error) => note(error, &mut failed)?,
    }
    for upload in left.uploads.clone() {
        match provider.delete_upload(&upload.file_id, &mut quiet).await {
            Ok(()) => left.uploads.retain(|it| *it != upload),
            Err(error) => note(error, &mut failed)?,
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Keeps the first error. Fails with an error that would recur on the next call.
fn note(error: ProviderError, failed: &mut Option<ProviderError>) -> Result<(), ProviderError> {
    if error.http_status.is_none() || error.kind == ProviderErrorKind::Unauthorized {
        return Err(error);
    }
    failed.get_or_insert(error);
    Ok(())
}

/// Returns the warning for the user about what could not be deleted.
pub fn left_there(server: &str, left: &ProviderState, reason: &str) -> String {
    let container = left.container.iter().filter(|it| it.is_ours);
    let n_files = left.uploads.len() as u64;
    let files = (0 < n_files).then(|| digits::count(n_files, "upload"));
    let what: Vec<String> = container.map(|_| "the container".to_owned()).chain(files).collect();
    let last = left.uploads.iter().map(|it| it.expires).max();
    let last = last.and_then(|it| Timestamp::from_second(it).ok());
    let until = last.map_or_else(|| " soon".to_owned(), |it| format!(" by {it}"));
    format!(
        "{} of this session could not be deleted at {server}, which does so by itself{until}: {reason}",
        what.join(" and ")
    )
}

impl Agent {
    /// Deletes what the provider keeps for a session that ends with this process.
    pub(crate) async fn close_hosted(
        &mut self,
        stop: impl Future<Output = FailureKind>,
    ) -> Option<String> {
        if !self.hosted.is_temporary {
            return None;
        }
        let server = self.hosted.server.clone()?;
        if self.hosted.kept == ProviderState::default() {
            return None;
        }
        let (left, reason) = delete_kept(&mut self.provider, &self.hosted.kept, stop).await;
        reason.map(|it| left_there(&server, &left, &it))
    }
}
