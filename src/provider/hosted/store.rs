//! The provider's store: uploaded files, and containers with their files.
//!
//! Plain calls beside the Responses API. They are retried, recorded and replayed like requests, and
//! reported to the egress counter. Answers are untrusted: a name is validated before it becomes a part of a
//! path.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use csv_agent_types::limits::{
    CONTAINER_FILES_MAX, CONTAINER_FILES_PAGE, CONTAINER_PAGES_MAX, CONTAINER_PATH_BYTES_MAX,
    HOSTED_ID_BYTES_MAX, UPLOAD_BYTES_MAX, UPLOAD_LIFE_MAX, UPLOAD_LIFE_MIN,
};

use crate::error::{ProviderError, ProviderErrorKind};
use crate::retry::Tries;
use crate::transport::call::{Download, HttpCall, Method, Payload, Received, Reply, UploadForm};
use crate::wire::failure::{CONTAINER_EXPIRED_HINT, Complaint, Subject, one_line};
use crate::wire::unreadable;
use crate::{Progress, Provider, Remote, of_request, tell_unrecorded};

/// File name endings that hosted code accepts. Source: `OpenAI` guide, "Code interpreter", supported files.
const UPLOAD_TYPES: &[&str] = &[
    "csv", "xlsx", "json", "txt", "md", "xml", "zip", "tar", "pkl", "pdf", "png", "jpeg", "jpg",
    "gif", "py", "html",
];
/// Statuses of a usable container.
const ALIVE: [&str; 2] = ["running", "active"];

/// A file to upload.
#[derive(Debug, Clone, Copy)]
pub struct Upload<'a> {
    /// Its local path.
    pub path: &'a Path,
    /// Its name at the provider; the ending states its format.
    pub filename: &'a str,
    /// The dataset whose rows are in it.
    pub dataset: &'a str,
    /// Lifetime at the provider, within what it allows.
    pub expires_after: Duration,
    /// Number of earlier turns in the conversation. With it, a cassette distinguishes uploads of the same
    /// file.
    pub n_turns: usize,
}

/// A usable container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveContainer {
    /// The provider's id.
    pub id: String,
    /// `running` or `active`.
    pub status: String,
    /// Such as `4g`, where the provider reports it.
    pub memory_limit: Option<String>,
}

/// A file in a container, as the provider lists it. Only the id is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerFile {
    /// The provider's id.
    pub id: String,
    /// Its path in the container, such as `/mnt/data/plot.png`.
    pub path: String,
    /// Size of the file, where the provider reports it.
    pub bytes: Option<u64>,
    /// Who created it: `user` or `assistant`; empty where the provider does not report it.
    pub source: String,
}

/// Returns whether a text can be a provider's id for a file or a container, and so a part of a path.
pub fn is_id(text: &str) -> bool {
    (1..=HOSTED_ID_BYTES_MAX).contains(&text.len())
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'))
}

impl Provider {
    /// Uploads a file and returns the provider's id. Memory does not grow with the file.
    ///
    /// # Errors
    ///
    /// Fails before anything is sent when hosted code cannot read such a file, or the file is too large or
    /// unreadable. Fails when the provider does not accept it.
    pub async fn upload(
        &mut self,
        upload: &Upload<'_>,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<String, ProviderError> {
        let remote = self.store()?;
        let bytes = uploadable(upload)?;
        let compares = remote.transport.has_cassette();
        let sha256 = if compares { Some(digest(upload.path).await?) } else { None };
        let life = upload.expires_after.clamp(UPLOAD_LIFE_MIN, UPLOAD_LIFE_MAX).as_secs();
        let form = UploadForm {
            fields: vec![
                ("purpose", "user_data".to_owned()),
                ("expires_after[anchor]", "created_at".to_owned()),
                ("expires_after[seconds]", life.to_string()),
            ],
            path: upload.path,
            filename: upload.filename,
            dataset: upload.dataset,
            bytes,
            sha256,
            n_turns: upload.n_turns,
        };
        let call = call(Method::Post, "files".to_owned(), Payload::Form(form));
        let made = remote.ask(&call, Subject::Upload, on_progress).await?;
        id_in(&made)
    }

    /// Deletes an upload. One that no longer exists is not an error.
    ///
    /// # Errors
    ///
    /// Fails when the provider does not confirm the deletion.
    pub async fn delete_upload(
        &mut self,
        file_id: &str,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), ProviderError> {
        let path = format!("files/{}", checked(file_id)?);
        self.delete(path, Subject::File, on_progress).await
    }

    /// Reads the state of a container, which also counts as using it.
    ///
    /// # Errors
    ///
    /// Fails with [`ProviderErrorKind::ContainerExpired`] when it is no longer usable.
    pub async fn container(
        &mut self,
        container_id: &str,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<LiveContainer, ProviderError> {
        let path = format!("containers/{}", checked(container_id)?);
        let call = call(Method::Get, path, Payload::Nothing);
        let found = self.store()?.ask(&call, Subject::Container, on_progress).await?;
        let id = id_in(&found)?;
        let status = text(&found, "status");
        if !ALIVE.contains(&status.as_str()) {
            let status = one_line(&status);
            let message = format!("the container `{id}` can no longer be used: it is `{status}`");
            let error = ProviderError::new(ProviderErrorKind::ContainerExpired, message);
            return Err(error.hint(CONTAINER_EXPIRED_HINT));
        }
        let memory_limit = found["memory_limit"].as_str().map(one_line);
        Ok(LiveContainer { id, status, memory_limit })
    }

    /// Adds an upload to a running container.
    ///
    /// # Errors
    ///
    /// Fails when the provider does not, for example because the container or the file no longer exists.
    pub async fn add_to_container(
        &mut self,
        container_id: &str,
        file_id: &str,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), ProviderError> {
        let path = format!("containers/{}/files", checked(container_id)?);
        let payload = Payload::Json(json!({"file_id": checked(file_id)?}));
        let call = call(Method::Post, path, payload);
        self.store()?.ask(&call, Subject::Container, on_progress).await?;
        Ok(())
    }

    /// Removes a file from a container. One that no longer exists is not an error.
    ///
    /// # Errors
    ///
    /// Fails when the provider does not confirm the removal.
    pub async fn remove_from_container(
        &mut self,
        container_id: &str,
        file_id: &str,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), ProviderError> {
        let path = format!("containers/{}/files/{}", checked(container_id)?, checked(file_id)?);
        self.delete(path, Subject::File, on_progress).await
    }

    /// Lists the files of a container, newest first. Lists at most [`CONTAINER_FILES_MAX`], with a warning
    /// when there are more.
    ///
    /// # Errors
    ///
    /// Fails when the provider does not list them.
    pub async fn container_files(
        &mut self,
        container_id: &str,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Vec<ContainerFile>, ProviderError> {
        let path = format!("containers/{}/files", checked(container_id)?);
        let remote = self.store()?;
        let mut files: Vec<ContainerFile> = Vec::new();
        let mut known: HashSet<String> = HashSet::new();
        let mut after: Option<String> = None;
        // A server may put fewer files on a page, or repeat pages.
        for _ in 0..CONTAINER_PAGES_MAX {
            let mut query =
                vec![("limit", CONTAINER_FILES_PAGE.to_string()), ("order", "desc".to_owned())];
            query.extend(after.clone().map(|it| ("after", it)));
            let call = HttpCall { query, ..call(Method::Get, path.clone(), Payload::Nothing) };
            let page = remote.ask(&call, Subject::Container, on_progress).await?;
            let n_before = files.len();
            let listed = page["data"].as_array().into_iter().flatten().filter_map(listed);
            files.extend(listed.filter(|it| known.insert(it.id.clone())));
            let has_more = page["has_more"] == true && n_before < files.len();
            if !has_more && files.len() <= CONTAINER_FILES_MAX {
                return Ok(files);
            }
            if CONTAINER_FILES_MAX <= files.len() {
                break;
            }
            after = files.last().map(|it| it.id.clone());
        }
        files.truncate(CONTAINER_FILES_MAX);
        let message = format!(
            "the container `{container_id}` has more than {} files: these are the newest",
            files.len()
        );
        on_progress(Progress::Warning { code: "files_unlisted", message });
        Ok(files)
    }

    /// Downloads a file of a container into a local file, replaces its content, and returns its bytes.
    /// Memory does not grow with the file.
    ///
    /// # Errors
    ///
    /// Fails when there is no such file, it has more than `bytes_max` bytes, or `into` cannot be written.
    /// `into` may then contain a part of it.
    pub async fn fetch_file(
        &mut self,
        container_id: &str,
        file_id: &str,
        into: &mut File,
        bytes_max: u64,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<u64, ProviderError> {
        let (container_id, file_id) = (checked(container_id)?, checked(file_id)?);
        let path = format!("containers/{container_id}/files/{file_id}/content");
        let call = call(Method::Get, path, Payload::Nothing);
        let mut download = Download::new(into, file_id, bytes_max);
        let remote = self.store()?;
        remote.call(&call, Subject::File, Some(&mut download), on_progress).await?;
        let bytes = download.bytes();
        if remote.transport.server().is_some() {
            on_progress(Progress::Fetched { bytes });
        }
        Ok(bytes)
    }

    /// Deletes a container with all its files. One that no longer exists is not an error.
    ///
    /// # Errors
    ///
    /// Fails when the provider does not confirm the deletion.
    pub async fn delete_container(
        &mut self,
        container_id: &str,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), ProviderError> {
        let path = format!("containers/{}", checked(container_id)?);
        self.delete(path, Subject::Container, on_progress).await
    }

    async fn delete(
        &mut self,
        path: String,
        subject: Subject,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), ProviderError> {
        let call = call(Method::Delete, path, Payload::Nothing);
        let is_gone = |error: &ProviderError| {
            let gone = [ProviderErrorKind::ContainerExpired, ProviderErrorKind::NoSuchFile];
            gone.contains(&error.kind)
        };
        match self.store()?.call(&call, subject, None, on_progress).await {
            Err(error) if !is_gone(&error) => Err(error),
            _ => Ok(()),
        }
    }

    fn store(&mut self) -> Result<&mut Remote, ProviderError> {
        match self {
            Provider::Remote(remote) => Ok(remote),
            Provider::Builtin | Provider::Client(_) => {
                let message = "the built-in analyst keeps no files and runs no containers";
                Err(ProviderError::new(ProviderErrorKind::Rejected, message)
                    .hint("leave out `--model builtin`, or use `--interpreter local`"))
            }
        }
    }
}

impl Remote {
    /// Makes a call with a JSON answer, and retries after transient failures.
    async fn ask(
        &mut self,
        call: &HttpCall<'_>,
        subject: Subject,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Value, ProviderError> {
        let reply = self.call(call, subject, None, on_progress).await?;
        let Received::Text(text) = &reply.body else { return Ok(Value::Null) };
        let mut value: Value = serde_json::from_str(text)
            .map_err(|_| self.without_key_in(of_request(unreadable(text), &reply.headers)))?;
        if let Some(key) = &self.key {
            key.mask_in(&mut value);
        }
        Ok(value)
    }

    /// Makes a call, retries after transient failures, and returns the successful reply.
    async fn call(
        &mut self,
        call: &HttpCall<'_>,
        subject: Subject,
        mut download: Option<&mut Download<'_>>,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Reply, ProviderError> {
        let mut tries = Tries::new(self.retries);
        loop {
            let called = self.call_once(call, subject, download.as_deref_mut(), on_progress).await;
            match called {
                Ok(reply) => return Ok(reply),
                Err(error) => tries.wait(self.without_key_in(error), on_progress).await?,
            }
        }
    }

    async fn call_once(
        &mut self,
        call: &HttpCall<'_>,
        subject: Subject,
        mut download: Option<&mut Download<'_>>,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Reply, ProviderError> {
        if let Some(to) = self.transport.server() {
            on_progress(leaving(&call.payload, &to));
        }
        let reply = match self.transport.call(call, download.as_deref_mut()).await {
            Ok(reply) => reply,
            Err(error) => {
                if error.is_unsent {
                    on_progress(Progress::Unsent);
                }
                return Err(error);
            }
        };
        let recorded = self.transport.settle_call(call, &reply, download.as_deref());
        tell_unrecorded(recorded, on_progress);
        match &reply.body {
            Received::Text(body) if !reply.is_success() => {
                Err(Complaint::of_body(body).judge_call(reply.status, &reply.headers, subject))
            }
            _ => Ok(reply),
        }
    }
}

fn call(method: Method, path: String, payload: Payload<'_>) -> HttpCall<'_> {
    HttpCall { method, path, query: Vec::new(), payload }
}

/// Returns the progress event of a call, emitted before it is sent.
fn leaving<'a>(payload: &'a Payload<'a>, to: &'a str) -> Progress<'a> {
    match payload {
        Payload::Nothing => Progress::Calling { bytes: 0, to },
        Payload::Json(value) => Progress::Calling { bytes: value.to_string().len() as u64, to },
        Payload::Form(form) => {
            let UploadForm { dataset, filename, bytes, .. } = *form;
            Progress::Uploading { dataset, filename, bytes, to }
        }
    }
}

/// Checks that a file can be uploaded, and returns its size in bytes.
fn uploadable(upload: &Upload<'_>) -> Result<u64, ProviderError> {
    let Upload { path, filename, .. } = *upload;
    let refuse = |found: String, hint: String| {
        let message = format!("cannot upload `{}`: {found}", one_line(filename));
        ProviderError::new(ProviderErrorKind::Rejected, message).hint(hint)
    };
    if filename.contains(|it: char| it.is_control() || it == '/') {
        let hint = "give the dataset another name, with `NAME=FILE`";
        return Err(refuse("an upload cannot have that name".to_owned(), hint.to_owned()));
    }
    let extension = Path::new(filename).extension().and_then(|it| it.to_str()).unwrap_or_default();
    if !UPLOAD_TYPES.contains(&extension.to_ascii_lowercase().as_str()) {
        let found = format!("files that end in `.{extension}` cannot be uploaded for hosted code");
        return Err(refuse(found, format!("upload one of {}", UPLOAD_TYPES.join(", "))));
    }
    let metadata = fs::metadata(path).map_err(|error| {
        let hint = "check that the file is there, and run the command again";
        refuse(format!("cannot read `{}`: {error}", path.display()), hint.to_owned())
    })?;
    let bytes = metadata.len();
    if UPLOAD_BYTES_MAX < bytes {
        let found = format!("it has {bytes} bytes; at most {UPLOAD_BYTES_MAX} are uploaded");
        let hint = "ask about a part of the data, or use `--interpreter local`";
        return Err(refuse(found, hint.to_owned()));
    }
    Ok(bytes)
}

/// Returns the SHA-256 of a file, lower-case hexadecimal.
async fn digest(path: &Path) -> Result<String, ProviderError> {
    let owned = path.to_owned();
    let hash = move || {
        let mut hasher = Sha256::new();
        io::copy(&mut File::open(owned)?, &mut hasher)?;
        Ok::<_, io::Error>(hasher.finalize())
    };
    let hashed = tokio::task::spawn_blocking(hash).await.expect("hashing does not panic");
    let digest = hashed.map_err(|error| {
        let message = format!("cannot read `{}` to upload it: {error}", path.display());
        ProviderError::new(ProviderErrorKind::Rejected, message)
    })?;
    Ok(format!("{digest:x}"))
}

/// Checks that an external id can be a part of a path.
fn checked(id: &str) -> Result<&str, ProviderError> {
    if is_id(id) {
        return Ok(id);
    }
    let message = format!(
        "`{}` is not a valid id of a file or container: an id has only letters, digits, `-` and `_`",
        one_line(id)
    );
    Err(ProviderError::new(ProviderErrorKind::Malformed, message))
}

/// Returns the id of what a call created or found.
fn id_in(value: &Value) -> Result<String, ProviderError> {
    match value["id"].as_str() {
        Some(id) => checked(id).map(str::to_owned),
        None => Err(unreadable(&value.to_string())),
    }
}

/// Reads an entry of a list of files; None when it is not usable.
fn listed(entry: &Value) -> Option<ContainerFile> {
    let id = entry["id"].as_str().filter(|it| is_id(it))?.to_owned();
    let path = entry["path"].as_str().filter(|it| it.len() <= CONTAINER_PATH_BYTES_MAX)?;
    let source = text(entry, "source");
    Some(ContainerFile { id, path: path.to_owned(), bytes: entry["bytes"].as_u64(), source })
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}
