//! What the worker sends up besides plans: the rows of local frames, as `createDataFrame` makes them.
//!
//! Such a blob is named by its SHA-256, and a plan names it so. The policy hashes what passes by, so it
//! knows what is behind the name: a plan may take for a schema only what was seen to be one.

use std::collections::HashMap;

use prost_reflect::MessageDescriptor;
use sha2::{Digest, Sha256};

use csv_agent_types::limits::{CLUSTER_BLOBS_MAX, CLUSTER_SCHEMA_BYTES_MAX};

use super::schema;
use super::wire::{Field, fields, nested, value_of};

/// The blobs that were sent, by name, and whether each is a schema.
#[derive(Debug, Default)]
pub(super) struct Blobs(HashMap<String, bool>);

impl Blobs {
    /// Returns whether the blob was sent.
    pub(super) fn has(&self, hash: &str) -> bool {
        self.0.contains_key(hash)
    }

    /// Returns whether the blob was sent and is a schema.
    pub(super) fn has_schema(&self, hash: &str) -> bool {
        self.0.get(hash) == Some(&true)
    }
}

/// A blob of which more is to come.
#[derive(Debug)]
pub(super) struct Upload {
    hash: String,
    bytes_left: u64,
    chunks_left: u64,
    so_far: Sha256,
    /// The text, as long as it can be a schema.
    text: Option<Vec<u8>>,
}

impl Upload {
    fn new(name: &str, bytes: u64, chunks: u64) -> Result<Upload, String> {
        let hash = hash_in(name)?.to_owned();
        Ok(Upload {
            hash,
            bytes_left: bytes,
            chunks_left: chunks,
            so_far: Sha256::new(),
            text: Some(Vec::new()),
        })
    }

    /// Takes the next piece. Returns whether it was the last.
    fn take(&mut self, chunk: &[u8]) -> Result<bool, String> {
        let wrong = || "a blob that is longer than it says".to_owned();
        self.bytes_left = self.bytes_left.checked_sub(chunk.len() as u64).ok_or_else(wrong)?;
        self.chunks_left = self.chunks_left.checked_sub(1).ok_or_else(wrong)?;
        self.so_far.update(chunk);
        if let Some(text) = &mut self.text {
            text.extend_from_slice(chunk);
            if CLUSTER_SCHEMA_BYTES_MAX < text.len() {
                self.text = None;
            }
        }
        match (self.bytes_left, self.chunks_left) {
            (0, 0) => Ok(true),
            (_, 0) => Err("a blob that is shorter than it says".to_owned()),
            _ => Ok(false),
        }
    }

    fn finish(self, blobs: &mut Blobs) -> Result<(), String> {
        if format!("{:x}", self.so_far.finalize()) != self.hash {
            return Err("a blob whose name is not its SHA-256".to_owned());
        }
        if CLUSTER_BLOBS_MAX <= blobs.0.len() {
            return Err(format!(
                "more than {CLUSTER_BLOBS_MAX} local frames in one session of the cluster"
            ));
        }
        let text = self.text.and_then(|it| String::from_utf8(it).ok());
        blobs.0.insert(self.hash, text.is_some_and(|it| schema::check(&it).is_ok()));
        Ok(())
    }
}

/// Returns the hash in the name of a blob. Fails with a sentence when the name is of something else: a jar, a
/// module, a file.
pub(super) fn hash_in(name: &str) -> Result<&str, String> {
    let hash = name.strip_prefix("cache/").filter(|it| is_hash(it));
    hash.ok_or_else(|| {
        "files and modules are not sent to the cluster; send rows with `spark.createDataFrame(frame)`".to_owned()
    })
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

/// Lets pass one message of `AddArtifacts`, whose form was checked before. Fails with what is wrong with a
/// blob.
pub(super) fn check(
    of: &MessageDescriptor,
    message: &[u8],
    upload: &mut Option<Upload>,
    blobs: &mut Blobs,
) -> Result<(), String> {
    for field in fields(of, message)? {
        let is_chunk = field.is.name() == "chunk";
        if upload.is_some() != is_chunk
            && ["batch", "begin_chunk", "chunk"].contains(&field.is.name())
        {
            return Err("pieces of blobs out of their order".to_owned());
        }
        match field.is.name() {
            "batch" => {
                for single in nested(&field)? {
                    let single = nested(&single)?;
                    let data = data_of(&single, "data")?;
                    let mut whole =
                        Upload::new(value_of(&single, "name").text(), data.len() as u64, 1)?;
                    whole.take(data)?;
                    whole.finish(blobs)?;
                }
            }
            "begin_chunk" => {
                let begin = nested(&field)?;
                let (bytes, chunks) = (
                    value_of(&begin, "total_bytes").number(),
                    value_of(&begin, "num_chunks").number(),
                );
                let started = Upload::new(value_of(&begin, "name").text(), bytes, chunks)?;
                go_on(started, data_of(&begin, "initial_chunk")?, upload, blobs)?;
            }
            "chunk" => {
                let chunk = nested(&field)?;
                if let Some(begun) = upload.take() {
                    go_on(begun, value_of(&chunk, "data").bytes(), upload, blobs)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn go_on(
    mut begun: Upload,
    chunk: &[u8],
    upload: &mut Option<Upload>,
    blobs: &mut Blobs,
) -> Result<(), String> {
    if begun.take(chunk)? {
        return begun.finish(blobs);
    }
    *upload = Some(begun);
    Ok(())
}

fn data_of<'a>(of: &[Field<'a>], name: &str) -> Result<&'a [u8], String> {
    let chunk = of.iter().find(|it| it.is.name() == name).ok_or("a blob without its bytes")?;
    Ok(value_of(&nested(chunk)?, "data").bytes())
}
