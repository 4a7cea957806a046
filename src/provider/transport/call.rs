//! Calls: what is asked of a provider beside responses. Files go up and come down, containers are looked at.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::error::{ProviderError, ProviderErrorKind};
use crate::key::{Key, mask};
use crate::transport::Headers;

/// One call on its way.
#[derive(Debug)]
pub(crate) struct HttpCall<'a> {
    /// What is done there.
    pub method: Method,
    /// Where, below the base URL.
    pub path: String,
    /// What goes into the URL behind it.
    pub query: Vec<(&'static str, String)>,
    /// What is sent along.
    pub payload: Payload<'a>,
}

/// What a call does to what is at its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// Reads it.
    Get,
    /// Adds to it.
    Post,
    /// Takes it away.
    Delete,
}

/// What a call takes along.
#[derive(Debug)]
pub(crate) enum Payload<'a> {
    /// Nothing but its path.
    Nothing,
    /// A JSON object.
    Json(Value),
    /// A file with fields about it.
    Form(UploadForm<'a>),
}

/// A file on its way up.
#[derive(Debug)]
pub(crate) struct UploadForm<'a> {
    /// Beside the file.
    pub fields: Vec<(&'static str, String)>,
    /// Where the file is; it is read while it is sent.
    pub path: &'a Path,
    /// What the provider calls it.
    pub filename: &'a str,
    /// The dataset whose rows are in it. This is told to whoever listens, and not sent.
    pub dataset: &'a str,
    /// Of the file.
    pub bytes: u64,
    /// Of the file, lower-case hexadecimal, where a cassette compares it.
    pub sha256: Option<String>,
    /// Turns of the conversation before it: the same file goes up anew in each that is recorded.
    pub n_turns: usize,
}

/// The answer to a call.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// Of the head.
    pub headers: Headers,
    /// What followed it.
    pub body: Received,
}

/// What followed the head of a reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// JSON if all is well, an error page otherwise.
    Text(String),
    /// The bytes that were asked for. They are in the file of the [`Download`].
    File,
}

/// A file on its way down.
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
    /// Returns what a cassette holds of the call, secrets masked. Two calls are the same when this is.
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
    /// Returns whether the server did what it was asked to.
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl<'a> Download<'a> {
    /// Prepares to write a file of the provider's into one of ours. What that held is replaced.
    pub(crate) fn new(file: &'a mut File, file_id: &'a str, bytes_max: u64) -> Download<'a> {
        Download { file, file_id, bytes_max, bytes: 0 }
    }

    /// Returns the bytes that have come.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns what was written to.
    pub(crate) fn file(&self) -> &File {
        self.file
    }

    /// Begins anew: a try before this one may have left a part of the file. `announced` are the bytes
    /// that the server says will come, if it does.
    ///
    /// # Errors
    ///
    /// Fails when these are too many, or the file cannot be written.
    pub(crate) fn begin(&mut self, announced: Option<u64>) -> Result<(), ProviderError> {
        if announced.is_some_and(|it| self.bytes_max < it) {
            return Err(self.too_large());
        }
        self.bytes = 0;
        self.file.set_len(0).and_then(|()| self.file.rewind()).map_err(|it| self.unwritable(&it))
    }

    /// Takes the next piece.
    ///
    /// # Errors
    ///
    /// Fails when there is more than may be, or the file cannot be written.
    pub(crate) fn take(&mut self, piece: &[u8]) -> Result<(), ProviderError> {
        self.bytes = self.bytes.saturating_add(piece.len() as u64);
        if self.bytes_max < self.bytes {
            return Err(self.too_large());
        }
        self.file.write_all(piece).map_err(|it| self.unwritable(&it))
    }

    fn too_large(&self) -> ProviderError {
        let (file_id, bytes_max) = (self.file_id, self.bytes_max);
        let message =
            format!("the file `{file_id}` is larger than the {bytes_max} bytes that are fetched");
        ProviderError::new(ProviderErrorKind::Malformed, message)
            .hint("ask for a smaller file, or for less in it")
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
        assert_eq!(told, "the file `cfile_1` is larger than the 4 bytes that are fetched");
        assert!(download.begin(Some(5)).is_err(), "the server says that it is too large");
        let mut written = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut written).unwrap();
        assert_eq!(written, "new", "nothing is written beyond the bound");
    }
}
