//! Compressed files: detected by their first bytes, whatever their name, and opened for reading.

use csv_agent_text::lists::all_names;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Read};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use zip::ZipArchive;
use zip::result::ZipError;

use super::sniff::binary_kind;
use crate::refusal::refuse;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    /// One or more concatenated members.
    Gzip,
    /// One or more frames.
    Zstd,
    /// One or more streams.
    Bzip2,
    /// An archive, which may contain one table.
    Zip,
}

/// Receives the decompressed stream.
type Take<'a> = dyn FnMut(&mut dyn Read) -> anyhow::Result<File> + 'a;

impl Compression {
    /// Returns the compression of a file, from its first bytes; an Excel workbook does not count.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match binary_kind(head)? {
            "gzip-compressed" => Some(Compression::Gzip),
            "zstd-compressed" => Some(Compression::Zstd),
            "bzip2-compressed" => Some(Compression::Bzip2),
            "zip-compressed" => Some(Compression::Zip),
            _ => None,
        }
    }

    /// Returns the name shown to users.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
            Compression::Zip => "zip",
        }
    }

    /// Passes the decompressed content of `file` to `take`; `name` is for messages. Fails when the file is
    /// damaged, when an archive does not contain exactly one table, and when `take` fails.
    pub(crate) fn open(self, file: &File, name: &str, take: &mut Take<'_>) -> anyhow::Result<File> {
        let buffered = BufReader::new(file);
        match self {
            Compression::Gzip => take(&mut MultiGzDecoder::new(buffered)),
            Compression::Bzip2 => take(&mut MultiBzDecoder::new(buffered)),
            Compression::Zstd => {
                let decoder = zstd::stream::read::Decoder::with_buffer(buffered);
                take(&mut decoder.map_err(|error| damaged(name, self, &error))?)
            }
            Compression::Zip => {
                let damaged = |error: ZipError| match error {
                    ZipError::UnsupportedArchive(what) => {
                        let message = format!("cannot read `{name}`: {what}");
                        refuse(message, "decompress it first")
                    }
                    error => damaged(name, self, &io::Error::other(error)),
                };
                let mut archive = ZipArchive::new(buffered).map_err(damaged)?;
                let entries = archive.file_names().map(|it| it.map(Cow::into_owned));
                let entries = entries.collect::<Result<Vec<_>, _>>().map_err(damaged)?;
                let entry = only_entry(&entries, name)?;
                take(&mut archive.by_name(entry).map_err(damaged)?)
            }
        }
    }
}

/// Returns the name of the only entry that can be a table.
fn only_entry<'a>(entries: &'a [String], name: &str) -> anyhow::Result<&'a str> {
    /// Maximum number of names in a message.
    const SHOWN_MAX: usize = 10;
    let is_data = |path: &&String| {
        let file_name = path.rsplit('/').next().unwrap_or_default();
        // Directories end with a slash; macOS adds its own files.
        !file_name.is_empty() && !file_name.starts_with('.') && !path.starts_with("__MACOSX/")
    };
    let entries: Vec<&String> = entries.iter().filter(is_data).collect();
    match entries[..] {
        [entry] => Ok(entry),
        [] => {
            let message = format!("cannot read `{name}`: the zip archive contains no file");
            Err(refuse(message, "check how the archive was made"))
        }
        _ => {
            let shown = all_names(entries.iter().take(SHOWN_MAX).map(|it| it.escape_debug()));
            let more = if SHOWN_MAX < entries.len() { ", …" } else { "" };
            let n = entries.len();
            let message =
                format!("cannot read `{name}`: the zip archive contains {n} files: {shown}{more}");
            Err(refuse(message, "unpack it and name the files"))
        }
    }
}

/// Returns the error for compressed data that cannot be decompressed.
pub(crate) fn damaged(name: &str, compression: Compression, error: &io::Error) -> anyhow::Error {
    let compression = compression.name();
    // The library's wording for the end of the file adds nothing.
    let why = match error.get_ref().and_then(|it| it.downcast_ref::<ZipError>()) {
        Some(ZipError::InvalidArchive(_)) => String::new(),
        _ => format!(" ({error})"),
    };
    let message =
        format!("cannot read `{name}`: its {compression} data is damaged or cut short{why}");
    refuse(message, "get the file again, or repair it")
}
