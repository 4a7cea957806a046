//! What a provider keeps for a session: uploaded files, and the container that ran code.
//!
//! It is written as soon as it is known, so that the next question can reuse it and a reset can delete it
//! at the provider. Each server has an entry of its own.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::directory::Directory;
use crate::{read_json, write_json};

/// The file within a session.
pub const FILE: &str = "hosted.json";

/// What one provider keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderState {
    /// Uploaded files, including expired ones.
    pub uploads: Vec<KeptUpload>,
    /// The container of the last run.
    pub container: Option<KeptContainer>,
}

/// An uploaded file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptUpload {
    /// The provider's id.
    pub file_id: String,
    /// The dataset in it.
    pub dataset: String,
    /// Changes with the dataset. Empty for a file that is not reused.
    pub version: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// When the provider deletes it, in seconds since 1970.
    pub expires: i64,
}

/// A container.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptContainer {
    /// The provider's id.
    pub container_id: String,
    /// Its memory limit, if known.
    pub memory_limit: Option<String>,
    /// Whether the provider created it for this session, as opposed to one that the user manages.
    pub is_ours: bool,
    /// The datasets whose files it contains, with the version of each.
    pub datasets: BTreeMap<String, String>,
    /// Files in it that need not be fetched, because they were fetched before or existed before this
    /// session: the provider's id and the size.
    pub fetched: Vec<(String, u64)>,
}

impl ProviderState {
    /// Returns the upload of a dataset's current version, if it stays for so many more seconds.
    pub fn upload_of(&self, dataset: &str, version: &str, seconds: i64) -> Option<&KeptUpload> {
        let until = Timestamp::now().as_second().saturating_add(seconds);
        let mut same = self.uploads.iter().filter(|it| it.dataset == dataset);
        same.find(|it| it.version == version && until < it.expires)
    }

    /// Removes uploads that have expired at the provider.
    fn forget_expired(&mut self) {
        let now = Timestamp::now().as_second();
        self.uploads.retain(|it| now < it.expires);
    }
}

/// What each server keeps for a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HostedState(BTreeMap<String, ProviderState>);

impl HostedState {
    /// Reads the state of a session; empty where no code ran at a provider.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read.
    pub fn read(session_dir: &Path) -> anyhow::Result<HostedState> {
        let session = Directory::open(session_dir)?;
        Ok(session.map(|it| read_json(&it, FILE)).transpose()?.flatten().unwrap_or_default())
    }

    /// Returns what a server keeps.
    pub fn of(&self, server: &str) -> ProviderState {
        self.0.get(server).cloned().unwrap_or_default()
    }

    /// Returns the servers that keep something, with their state.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ProviderState)> {
        self.0.iter().map(|(server, kept)| (server.as_str(), kept))
    }

    /// Writes what a server keeps now. Removes the file when no server keeps anything.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be written.
    pub fn write(session_dir: &Path, server: &str, kept: &ProviderState) -> anyhow::Result<()> {
        let mut state = HostedState::read(session_dir)?;
        state.0.insert(server.to_owned(), kept.clone());
        state.0.values_mut().for_each(ProviderState::forget_expired);
        state.0.retain(|_, it| *it != ProviderState::default());
        let session = Directory::at(session_dir)?;
        if state.0.is_empty() { session.remove(FILE) } else { write_json(&session, FILE, &state) }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{FILE, HostedState, KeptUpload, ProviderState};

    fn upload(file_id: &str, seconds: i64) -> KeptUpload {
        KeptUpload {
            file_id: file_id.into(),
            dataset: "orders".into(),
            version: "v1".into(),
            bytes: 1,
            expires: Timestamp::now().as_second() + seconds,
        }
    }

    #[test]
    fn an_upload_is_used_again_while_it_is_the_same_and_lasts() {
        let kept = ProviderState { uploads: vec![upload("file-1", 600)], container: None };
        assert!(kept.upload_of("orders", "v1", 300).is_some());
        assert_eq!(kept.upload_of("orders", "v1", 900), None, "it would go while code runs");
        assert_eq!(kept.upload_of("orders", "v2", 300), None, "the dataset has changed");
        assert_eq!(kept.upload_of("sales", "v1", 300), None);
    }

    #[test]
    fn each_server_has_its_own_and_what_has_expired_is_forgotten() {
        let session = tempfile::tempdir().unwrap();
        let of = |server: &str| HostedState::read(session.path()).unwrap().of(server);
        let kept = ProviderState {
            uploads: vec![upload("file-1", 600), upload("file-2", -1)],
            container: None,
        };
        HostedState::write(session.path(), "a", &kept).unwrap();
        assert_eq!(of("a").uploads.len(), 1);
        assert_eq!(of("b"), ProviderState::default());
        HostedState::write(session.path(), "a", &ProviderState::default()).unwrap();
        assert!(!session.path().join(FILE).exists());
    }
}
