//! Calls to a provider other than requests for responses: they upload and download files, and manage
//! containers.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::error::{ProviderError, ProviderErrorKind};
use crate::key::{Key, mask};
use crate::transport::Headers;

#[derive(Debug)]
pub(crate) struct HttpCall<'a> {
    /// The HTTP method.
    pub method: Method,
    /// The path below the base URL.
    pub path: String,
    /// The query of the URL.
    pub query: Vec<(&'static str, String)>,
    /// The body.
    pub payload: Payload<'a>,
}

/// HTTP methods that calls use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// Reads the resource.
    Get,
    /// Creates a resource below it.
    Post,
    /// Deletes the resource.
    Delete,
}

/// The body of a call.
#[derive(Debug)]
pub(crate) enum Payload<'a> {
    /// No body.
    Nothing,
    /// A JSON object.
    Json(Value),
    /// A file with form fields.
    Form(UploadForm<'a>),
}

/// A file to upload.
#[derive(Debug)]
pub(crate) struct UploadForm<'a> {
    /// Fields next to the file.
    pub fields: Vec<(&'static str, String)>,
    /// The file's path; it is read while it is sent.
    pub path: &'a Path,
    /// Its name at the provider.
    pub filename: &'a str,
    /// The dataset whose rows it contains. This is reported locally, and not sent.
    pub dataset: &'a str,
    /// Size of the file.
    pub bytes: u64,
    /// Hash of the file, lower-case hexadecimal, where a cassette compares it.
    pub sha256: Option<String>,
    /// Number of earlier turns in the conversation: each recorded turn uploads the same file anew.
    pub n_turns: usize,
}

/// The answer to a call.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// Of the head.
    pub headers: Headers,
    /// What followed the headers.
    pub body: Received,
}

/// The body of a reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// JSON on success, an error page otherwise.
    Text(String),
    /// The requested bytes, stored in the file of the [`Download`].
    File,
}

/// A file to download.
#[derive(Debug)]
pub(crate) struct Download<'a> {
    file: &'a mut File,
    file_id: &'a str,
    bytes_max: u64,
    bytes: u64,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Delete => "DELETE",
        }
    }
}

impl HttpCall<'_> {
    /// Returns a cassette's form of the call, secrets masked. Calls with equal forms are the same.
    pub(crate) fn told(&self, key: Option<&Key>) -> Value {
        let object = |pairs: &[(&'static str, String)]| {
            pairs.iter().map(|(name, it)| ((*name).to_owned(), json!(it))).collect::<Value>()
        };
        let mut told = Map::new();
        told.insert("method".to_owned(), self.method.name().into());
        told.insert("path".to_owned(), self.path.clone().into());
        if !self.query.is_empty() {
            told.insert("query".to_owned(), object(&self.query));
        }
        match &self.payload {
            Payload::Nothing => {}
            Payload::Json(value) => {
                told.insert("json".to_owned(), value.clone());
            }
            Payload::Form(form) => {
                let UploadForm { filename, bytes, sha256, n_turns, .. } = form;
                let mut file = json!({"filename": filename, "bytes": bytes, "sha256": sha256});
                if 0 < *n_turns {
                    file["turns"] = json!(n_turns);
                }
                told.insert("file".to_owned(), file);
                told.insert("fields".to_owned(), object(&form.fields));
            }
        }
        let told = Value::Object(told);
        serde_json::from_str(&mask(&told.to_string(), key)).unwrap_or(told)
    }
}

impl Reply {
    /// Returns whether the server succeeded.
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl<'a> Download<'a> {
    /// Prepares to download a provider's file into a local one, and replaces its content.
    pub(crate) fn new(file: &'a mut File, file_id: &'a str, bytes_max: u64) -> Download<'a> {
        Download { file, file_id, bytes_max, bytes: 0 }
    }

    /// Returns the number of bytes received.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the local file.
    pub(crate) fn file(&self) -> &File {
        self.file
    }

    /// Starts over, since a failed attempt may have left a part of the file. `announced` is the size that the
    /// server states, if any. Fails when that is too large, or the file cannot be written.
    pub(crate) fn begin(&mut self, announced: Option<u64>) -> Result<(), ProviderError> {
        if announced.is_some_and(|it| self.bytes_max < it) {
            return Err(self.too_large());
        }
        self.bytes = 0;
        self.file.set_len(0).and_then(|()| self.file.rewind()).map_err(|it| self.unwritable(&it))
    }

    /// Writes the next piece. Fails when the total exceeds the limit, or the file cannot be written.
    pub(crate) fn take(&mut self, piece: &[u8]) -> Result<(), ProviderError> {
        self.bytes = self.bytes.saturating_add(piece.len() as u64);
        if self.bytes_max < self.bytes {
            return Err(self.too_large());
        }
        self.file.write_all(piece).map_err(|it| self.unwritable(&it))
    }

    fn too_large(&self) -> ProviderError {
        let (file_id, bytes_max) = (self.file_id, self.bytes_max);
        let message = format!("the file `{file_id}` is larger than {bytes_max} bytes, the limit");
        ProviderError::new(ProviderErrorKind::Malformed, message).hint("ask for a smaller file")
    }

    fn unwritable(&self, error: &io::Error) -> ProviderError {
        let message = format!("cannot write the file `{}` that was fetched: {error}", self.file_id);
        ProviderError::new(ProviderErrorKind::Rejected, message)
            .hint("check that the disk has room, and run the command again")
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};
    use std::path::Path;

    use serde_json::json;

    use super::{Download, HttpCall, Method, Payload, UploadForm};
    use crate::key::Key;

    #[test]
    fn a_call_tells_what_it_sends_and_never_the_key() {
        let key = Key::new("k3y-k3y-k3y");
        let call = |payload| HttpCall {
            method: Method::Post,
            path: "files".to_owned(),
            query: vec![("after", "k3y-k3y-k3y".to_owned())],
            payload,
        };
        let form = UploadForm {
            fields: vec![("purpose", "user_data".to_owned())],
            path: Path::new("/tmp/x"),
            filename: "a.csv",
            dataset: "a",
            bytes: 3,
            sha256: Some("00".to_owned()),
            n_turns: 2,
        };
        let told = call(Payload::Form(form)).told(Some(&key));
        let expected = json!({"method": "POST", "path": "files", "query": {"after": "***"},
            "file": {"filename": "a.csv", "bytes": 3, "sha256": "00", "turns": 2},
            "fields": {"purpose": "user_data"}});
        assert_eq!(told.to_string(), expected.to_string());
        let told = call(Payload::Json(json!({"file_id": "f"}))).told(None);
        assert_eq!(told["json"], json!({"file_id": "f"}));
    }

    #[test]
    fn a_download_replaces_what_was_there_and_has_a_bound() {
        let mut file = tempfile::tempfile().unwrap();
        let mut download = Download::new(&mut file, "cfile_1", 4);
        download.begin(None).unwrap();
        download.take(b"half").unwrap();
        download.begin(Some(4)).unwrap();
        download.take(b"new").unwrap();
        assert_eq!(download.bytes(), 3);
        let told = download.take(b"er").unwrap_err().to_string();
        assert_eq!(told, "the file `cfile_1` is larger than 4 bytes, the limit");
        assert!(download.begin(Some(5)).is_err(), "the server says that it is too large");
        let mut written = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut written).unwrap();
        assert_eq!(written, "new", "nothing is written beyond the bound");
    }
}
