//! An input file: opened, examined through windows, and read as slices of complete records.
//!
//! Slices are UTF-8 whatever the file's encoding, and end where a record ends, so that they can be
//! parsed concurrently.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use csv_agent_types::limits::{
    RECORD_BYTES_MAX, SNIFF_HEAD_BYTES, SNIFF_WINDOW_BYTES, SNIFF_WINDOWS,
};

use super::charset::{Charset, TextDecoder};
use super::compression::{Compression, damaged};
use super::records::{Tokeniser, cut};
use super::sniff::Windows;
use super::syntax::Syntax;
use super::wrap::Wrapping;
use super::{Progress, Watch};
use crate::non_rows::LinesBelow;
use crate::refusal::{check_cancelled, refuse};

/// Names of a directory that are compared with that of a missing file.
const LISTED_MAX: usize = 10_000;
/// Wrong letters up to which a file may be meant.
const TYPOS_MAX: usize = 2;

/// The source of a table.
pub enum Source {
    /// A file. If it is not a regular file, it is first copied to one, like stdin.
    File(PathBuf),
    /// Standard input, read to its end.
    Stdin(Box<dyn Read + Send>),
}

/// A file that contains the text in another form.
#[derive(Clone)]
pub(crate) struct Archive {
    /// Its compression, if any.
    pub compression: Option<Compression>,
    /// Size of that file.
    pub bytes: u64,
    /// Hash of that file.
    pub sha256: String,
}

/// A source that can be read more than once.
pub(crate) struct Input {
    file: File,
    /// The name that the user gave, for messages.
    pub name: String,
    /// Bytes of the file that is read: decompressed, if it was compressed.
    pub bytes: u64,
    /// The file that the user named, if its extracted content is read instead.
    pub archive: Option<Archive>,
    changed: (i64, i64),
}

/// Opens any file for reading: without `O_NONBLOCK`, opening a pipe would wait for its writer.
fn open(path: &Path) -> std::io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// A file whose bytes may take long to arrive, such as a pipe without a writer. Reading it ends when
/// the flag is set.
pub struct Awaited<C> {
    file: File,
    cancelled: C,
}

impl<C: Deref<Target = AtomicBool>> Awaited<C> {
    /// Creates a reader of an open file, or of a copy of stdin.
    pub fn new(file: File, cancelled: C) -> Self {
        Awaited { file, cancelled }
    }
}

impl<C: Deref<Target = AtomicBool>> Read for Awaited<C> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        /// Interval between two checks of the flag.
        const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        loop {
            if self.cancelled.load(Ordering::Relaxed) {
                return Err(std::io::Error::other("interrupted"));
            }
            // A pipe that has never had a writer is not at its end: the writer may still arrive.
            match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&LOOK)) {
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
            match self.file.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

impl Input {
    /// Opens `source`, which the user named `name`. A source that cannot be read twice is copied to a file in
    /// `dir` that is removed with the process. Fails when the source is missing, not a file, unreadable, empty,
    /// or longer than `bytes_max`.
    pub(crate) fn open(
        source: Source,
        name: &str,
        dir: &Path,
        bytes_max: u64,
        watch: &Watch<'_>,
    ) -> anyhow::Result<Self> {
        let copy = |reader: &mut dyn Read| {
            let unreadable =
                |error| anyhow::Error::from(error).context(format!("cannot read `{name}`"));
            let go_on = || check_cancelled(watch.cancelled);
            spool(reader, name, dir, bytes_max, &go_on, &unreadable)
        };
        let file = match source {
            Source::Stdin(mut reader) => copy(&mut reader)?,
            Source::File(path) => {
                let file = open(&path).map_err(|error| cannot_open(name, &error))?;
                let metadata = file.metadata().with_context(|| format!("cannot read `{name}`"))?;
                if metadata.is_dir() {
                    let message = format!("cannot read `{name}`: it is a directory");
                    return Err(refuse(message, "name the files in it"));
                }
                if metadata.is_file() {
                    file
                } else {
                    copy(&mut Awaited::new(file, watch.cancelled))?
                }
            }
        };
        let metadata = file.metadata().with_context(|| format!("cannot read `{name}`"))?;
        let bytes = metadata.len();
        if bytes == 0 {
            let message = format!("cannot read `{name}`: it is empty (0 bytes)");
            return Err(refuse(message, "check how the file was made"));
        }
        if bytes_max < bytes {
            return Err(too_large(name, Some(bytes), bytes_max));
        }
        let changed = (metadata.mtime(), metadata.mtime_nsec());
        let input = Input { file, name: name.to_owned(), bytes, changed, archive: None };
        match Compression::of(&input.head(SNIFF_HEAD_BYTES)?) {
            None => Ok(input),
            Some(compression) => input.decompressed(compression, dir, bytes_max, watch),
        }
    }

    /// Returns the content of a compressed file, in a separate file.
    fn decompressed(
        self,
        compression: Compression,
        dir: &Path,
        bytes_max: u64,
        watch: &Watch<'_>,
    ) -> anyhow::Result<Self> {
        let name = &self.name;
        let sha256 = self.sha256(watch.cancelled)?;
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0)).with_context(|| format!("cannot read `{name}`"))?;
        let damaged = |error: std::io::Error| damaged(name, compression, &error);
        let file = compression.open(file, name, &mut |reader| {
            spool(reader, name, dir, bytes_max, &|| self.show_position(watch), &damaged)
        })?;
        self.check_unchanged()?;
        let metadata = file.metadata().with_context(|| format!("cannot read `{name}`"))?;
        if metadata.len() == 0 {
            let message = format!("cannot read `{name}`: it is empty once decompressed (0 bytes)");
            return Err(refuse(message, "check how the file was made"));
        }
        let archive = Archive { compression: Some(compression), bytes: self.bytes, sha256 };
        let changed = (metadata.mtime(), metadata.mtime_nsec());
        let (bytes, archive) = (metadata.len(), Some(archive));
        Ok(Input { file, name: self.name, bytes, archive, changed })
    }

    /// Returns an input for `file`, which was converted from this one and will be read instead. Fails when this
    /// file cannot be read or has changed, and when the user cancels.
    pub(crate) fn written_to(&self, file: File, cancelled: &AtomicBool) -> anyhow::Result<Self> {
        let archive = if let Some(archive) = &self.archive {
            archive.clone()
        } else {
            let sha256 = self.sha256(cancelled)?;
            Archive { compression: None, bytes: self.bytes, sha256 }
        };
        self.check_unchanged()?;
        let metadata = file.metadata().with_context(|| format!("cannot read `{}`", self.name))?;
        let changed = (metadata.mtime(), metadata.mtime_nsec());
        let (name, bytes) = (self.name.clone(), metadata.len());
        Ok(Input { file, name, bytes, archive: Some(archive), changed })
    }

    /// Returns the hash of the file. Fails when the file cannot be read, and when the user cancels.
    pub(crate) fn sha256(&self, cancelled: &AtomicBool) -> anyhow::Result<String> {
        let mut hash = Sha256::new();
        self.parts(0, self.bytes, cancelled, &mut |part| hash.update(part))?;
        Ok(format!("{:x}", hash.finalize()))
    }

    /// Returns the file, for reading at any position. Fails when the process has too many files open.
    pub(crate) fn file(&self) -> anyhow::Result<File> {
        self.file.try_clone().with_context(|| format!("cannot read `{}`", self.name))
    }

    /// Returns the sentence about decompression, if there was any.
    pub(crate) fn archive_reason(&self) -> Option<String> {
        let compression = self.archive.as_ref()?.compression?.name();
        Some(format!("{compression}-compressed, {} bytes decompressed", self.bytes))
    }

    /// Reports how much of the file has been read, unless the user cancels.
    fn show_position(&self, watch: &Watch<'_>) -> anyhow::Result<()> {
        check_cancelled(watch.cancelled)?;
        let mut file = &self.file;
        let bytes =
            file.stream_position().with_context(|| format!("cannot read `{}`", self.name))?;
        (watch.progress)(Progress { bytes, bytes_total: self.bytes, rows: 0 });
        Ok(())
    }

    /// Returns the end of the text in an encoding: NULs and `^Z` may follow it, with which old programs
    /// fill the last block of a file. A file with nothing else has no such end.
    pub(crate) fn text_end(&self, charset: Charset) -> anyhow::Result<u64> {
        const WINDOW_BYTES: u64 = 64 * 1024;
        let unit = charset.unit_bytes();
        if !self.bytes.is_multiple_of(unit as u64) {
            return Ok(self.bytes);
        }
        let is_padding = |it: &&[u8]| {
            let is_blank = it.iter().all(|byte| matches!(byte, 0 | 0x1a));
            is_blank && (unit == 1 || charset.window(it).len() == 1)
        };
        let mut end = self.bytes;
        while 0 < end {
            let start = end.saturating_sub(WINDOW_BYTES);
            let window = self.window(start, usize::try_from(end - start)?)?;
            let n_padding = window.rchunks_exact(unit).take_while(is_padding).count() * unit;
            end -= n_padding as u64;
            if n_padding < window.len() {
                return Ok(end);
            }
        }
        Ok(self.bytes)
    }

    /// Returns the first `n_bytes`, or fewer in a shorter file.
    pub(crate) fn head(&self, n_bytes: usize) -> anyhow::Result<Vec<u8>> {
        self.window(0, n_bytes)
    }

    /// Returns windows spread between the first `n_bytes` and `end`.
    pub(crate) fn others(&self, n_bytes: usize, end: u64) -> anyhow::Result<Vec<Vec<u8>>> {
        /// Total rounding of the steps between windows.
        const ROUNDED_BYTES: u64 = 16;
        let window = SNIFF_WINDOW_BYTES as u64;
        let rest = end.saturating_sub(n_bytes as u64);
        if rest < window * SNIFF_WINDOWS {
            return Ok(if rest == 0 {
                vec![]
            } else {
                vec![self.window(n_bytes as u64, usize::try_from(rest)?)?]
            });
        }
        let step = (rest - window) / (SNIFF_WINDOWS - 1);
        // Aligned offsets, so that no UTF-16 or UTF-32 unit is split.
        let starts = (0..SNIFF_WINDOWS).map(|it| (n_bytes as u64 + it * step) & !3);
        let n_bytes = |start: u64| usize::try_from((window + ROUNDED_BYTES).min(end - start));
        starts.map(|it| self.window(it, n_bytes(it)?)).collect()
    }

    fn window(&self, start: u64, n_bytes: usize) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut file = &self.file;
        file.seek(SeekFrom::Start(start))
            .and_then(|_| file.take(n_bytes as u64).read_to_end(&mut bytes))
            .with_context(|| format!("cannot read `{}`", self.name))?;
        Ok(bytes)
    }

    /// Passes the encoded text on in parts. Fails when the file cannot be read, and when the user cancels.
    pub(crate) fn parts(
        &self,
        start: usize,
        end: u64,
        cancelled: &AtomicBool,
        each: &mut dyn FnMut(&[u8]),
    ) -> anyhow::Result<()> {
        const PART_BYTES: u64 = 256 * 1024;
        let mut at = start as u64;
        while at < end {
            check_cancelled(cancelled)?;
            let part = self.window(at, usize::try_from(PART_BYTES.min(end - at))?)?;
            if part.is_empty() {
                return self.check_unchanged();
            }
            each(&part);
            at += part.len() as u64;
        }
        Ok(())
    }

    /// Returns the slices of the text after `lead` and before the text below the table, which ends the
    /// file.
    pub(crate) fn slices(
        &self,
        text: Text,
        lead: Lead,
        below: &LinesBelow,
    ) -> anyhow::Result<Slices<'_>> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0)).with_context(|| format!("cannot read `{}`", self.name))?;
        let Text { charset, mark_bytes, is_lossy, .. } = text;
        let is_checked = charset == Charset::UTF_8 && !is_lossy;
        Ok(Slices {
            input: self,
            decoder: (!is_checked).then(|| TextDecoder::new(charset, is_lossy)),
            text,
            encoded: Vec::new(),
            hash: Sha256::new(),
            mark_bytes,
            lead,
            wrapped: [Vec::new(), Vec::new()],
            below: below.clone(),
            offset: 0,
            is_end: false,
            rest: Vec::new(),
        })
    }

    /// Fails when the file has changed since it was opened.
    pub(crate) fn check_unchanged(&self) -> anyhow::Result<()> {
        let metadata =
            self.file.metadata().with_context(|| format!("cannot read `{}`", self.name))?;
        let changed = (metadata.mtime(), metadata.mtime_nsec());
        if (metadata.len(), changed) == (self.bytes, self.changed) {
            return Ok(());
        }
        let message = format!("`{}` was changed while it was read", self.name);
        Err(refuse(message, "run the command again when the file is complete"))
    }
}

fn cannot_open(name: &str, error: &std::io::Error) -> anyhow::Error {
    let message = |reason: &str| format!("cannot read `{name}`: {reason}");
    let (reason, hint) = match error.kind() {
        ErrorKind::NotFound => return refuse(message("no such file"), &missing_hint(name)),
        ErrorKind::PermissionDenied => {
            ("permission denied".to_owned(), "make it readable for this user")
        }
        _ => (error.to_string(), "check the path"),
    };
    refuse(message(&reason), hint)
}

/// Returns what to do about a file that does not exist: a file beside it may have a similar name.
fn missing_hint(name: &str) -> String {
    if name.contains("://") {
        return "csv-agent reads files: download it first, such as with `curl -O URL`".to_owned();
    }
    let parts: Vec<&str> = name.split(',').collect();
    if 1 < parts.len() && parts.iter().all(|it| Path::new(it).is_file()) {
        return "name the files one by one, without commas".to_owned();
    }
    let path = Path::new(name);
    let Some(wanted) = path.file_name().and_then(|it| it.to_str()) else {
        return "check the path".to_owned();
    };
    let dir = path.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
    let names = std::fs::read_dir(dir).into_iter().flatten().flatten().take(LISTED_MAX);
    let names = names.filter(|it| it.file_type().is_ok_and(|it| it.is_file()));
    let names = names.filter_map(|it| it.file_name().into_string().ok());
    let lower = wanted.to_lowercase();
    let typos = |it: &String| {
        let stem = it.split('.').next().unwrap_or_default();
        let whole = strsim::osa_distance(&lower, &it.to_lowercase());
        if stem.eq_ignore_ascii_case(wanted) { 0 } else { whole }
    };
    let near =
        names.map(|it| (typos(&it), it)).filter(|it| it.0 <= TYPOS_MAX && it.0 < lower.len());
    match near.min() {
        Some((_, near)) => format!("did you mean `{}`?", path.with_file_name(near).display()),
        None => "check the path".to_owned(),
    }
}

fn too_large(name: &str, bytes: Option<u64>, bytes_max: u64) -> anyhow::Error {
    let found = bytes.map_or_else(|| "more".to_owned(), |it| format!("{it} bytes"));
    let message = format!("cannot read `{name}`: it has {found}, the limit is {bytes_max} bytes");
    refuse(message, "raise the limit with `--max-bytes`")
}

/// Copies a stream to an unnamed file while `go_on` succeeds; `unreadable` returns why the stream broke
/// off.
fn spool(
    reader: &mut dyn Read,
    name: &str,
    dir: &Path,
    bytes_max: u64,
    go_on: &dyn Fn() -> anyhow::Result<()>,
    unreadable: &dyn Fn(std::io::Error) -> anyhow::Error,
) -> anyhow::Result<File> {
    let doing = || format!("cannot copy `{name}` to {}", dir.display());
    let mut file = tempfile::tempfile_in(dir).with_context(doing)?;
    let mut buffer = vec![0; 256 * 1024];
    let mut bytes = 0;
    loop {
        go_on()?;
        let n = match reader.read(&mut buffer) {
            Ok(0) => return Ok(file),
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(error)),
        };
        bytes += n as u64;
        if bytes_max < bytes {
            return Err(too_large(name, None, bytes_max));
        }
        file.write_all(&buffer[..n]).with_context(doing)?;
    }
}

/// Which bytes of a file are its text, and how to decode them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text {
    /// The encoding.
    pub charset: Charset,
    /// Bytes of the byte order mark before the text.
    pub mark_bytes: usize,
    /// The end of the text.
    pub end: u64,
    /// Whether U+FFFD replaces malformed bytes.
    pub is_lossy: bool,
}

impl Text {
    /// Returns windows as UTF-8, without the byte order mark.
    pub(crate) fn windows(self, head: &[u8], others: Vec<Vec<u8>>) -> Windows {
        let is_whole = head.len() as u64 == self.end;
        let head = &head[self.mark_bytes.min(head.len())..];
        if self.charset == Charset::UTF_8 && !self.is_lossy {
            return Windows { head: head.to_vec(), others, is_whole };
        }
        let others = others.iter().map(|it| self.charset.window(it)).collect();
        Windows { head: self.charset.window(head), others, is_whole }
    }
}

/// What precedes the table's first row, and what is wrapped around the rows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lead {
    /// Original bytes before the table, as UTF-8: skipped lines, a `sep=` line.
    pub n_raw: usize,
    /// What is wrapped around the rows after that, outermost first.
    pub wrappings: [Option<Wrapping>; 2],
    /// Bytes before the first row after unwrapping: blank lines, preamble, the header.
    pub n_text: usize,
}

/// The bytes are invalid in the encoding. The caller may know another one.
#[derive(Debug)]
pub(crate) struct Undecodable {
    /// The encoding that was tried.
    pub charset: Charset,
    /// The approximate offset of the first such byte in the file.
    pub offset: u64,
}

impl std::fmt::Display for Undecodable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the bytes at about offset {} are not valid {}", self.offset, self.charset.name())
    }
}

impl std::error::Error for Undecodable {}

/// Reads the file from its first to its last byte.
pub(crate) struct Slices<'a> {
    input: &'a Input,
    text: Text,
    /// `None` for undamaged UTF-8, which is only validated.
    decoder: Option<TextDecoder>,
    encoded: Vec<u8>,
    hash: Sha256,
    /// Bytes of the byte order mark still to skip.
    mark_bytes: usize,
    /// What remains to be skipped before the table.
    lead: Lead,
    /// For each wrapping, text of the last record, which may continue.
    wrapped: [Vec<u8>; 2],
    /// The end of the file; empty once it has turned out to be rows.
    below: LinesBelow,
    /// Bytes of the file read so far.
    offset: u64,
    is_end: bool,
    /// Bytes read beyond the last slice.
    rest: Vec<u8>,
}

impl Slices<'_> {
    /// Returns how many bytes of the file have been read.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the hash of the file, whose text has been read to its end, and the text below the table.
    pub(crate) fn finish(mut self) -> anyhow::Result<(String, LinesBelow)> {
        let mut file = &self.input.file;
        std::io::copy(&mut file, &mut self.hash)
            .with_context(|| format!("cannot read `{}`", self.input.name))?;
        Ok((format!("{:x}", self.hash.finalize()), self.below))
    }

    /// Fills `slice` with complete records of about `n_bytes`; returns false when there are no more. Fails with
    /// [`Undecodable`] when bytes are invalid in the encoding, and when one record is longer than
    /// [`RECORD_BYTES_MAX`].
    pub(crate) fn next(
        &mut self,
        slice: &mut Vec<u8>,
        syntax: Syntax,
        n_bytes: usize,
    ) -> anyhow::Result<bool> {
        slice.clear();
        slice.append(&mut self.rest);
        let mut wanted = n_bytes;
        loop {
            while slice.len() < wanted && !self.is_end && self.n_wrapped() < RECORD_BYTES_MAX {
                self.fill(slice, wanted.max(slice.len() + self.n_wrapped()))?;
            }
            let end = self.end_of_table(slice, syntax);
            if end == 0 && self.is_end {
                return Ok(false);
            }
            let length = cut(&slice[..end], syntax, self.is_end);
            if 0 < length {
                self.rest.extend_from_slice(&slice[length..]);
                slice.truncate(length);
                self.check(slice)?;
                return Ok(true);
            }
            if RECORD_BYTES_MAX <= slice.len().max(self.n_wrapped()) {
                let name = &self.input.name;
                let message =
                    format!("a record of `{name}` has more than {RECORD_BYTES_MAX} bytes");
                return Err(refuse(message, "a quote may be open that is never closed"));
            }
            wanted = (slice.len() * 2).clamp(n_bytes, RECORD_BYTES_MAX);
        }
    }

    fn n_wrapped(&self) -> usize {
        self.wrapped.iter().map(Vec::len).max().unwrap_or_default()
    }

    /// Returns how much of `slice` certainly belongs to the table.
    fn end_of_table(&mut self, slice: &[u8], syntax: Syntax) -> usize {
        let end = slice.len().saturating_sub(self.below.text.len());
        if !self.is_end || self.below.text.is_empty() {
            return end;
        }
        // A window has shown what is below the table. That holds only if a record begins there when the
        // file is read from its beginning: a quote may be open.
        let is_below = slice.ends_with(&self.below.text) && {
            let border = cut(&slice[..end], syntax, false);
            let mut tokeniser = Tokeniser::new(&slice[border..], syntax);
            let mut cells = Vec::new();
            let mut starts =
                std::iter::from_fn(|| tokeniser.record(&mut cells)).map(|it| border + it.0);
            starts.find(|it| end <= *it) == Some(end)
        };
        if is_below {
            return end;
        }
        self.below = LinesBelow::default();
        slice.len()
    }

    /// Appends bytes of the file to `slice`, as text, until it contains `wanted` bytes or the file
    /// ends.
    fn fill(&mut self, slice: &mut Vec<u8>, wanted: usize) -> anyhow::Result<()> {
        const ENCODED_BYTES: usize = 256 * 1024;
        let text_start = slice.len();
        let Slices { decoder, encoded, .. } = self;
        let buffer = if decoder.is_some() { encoded } else { &mut *slice };
        let start = buffer.len();
        let n_left = usize::try_from(self.text.end - self.offset).unwrap_or(usize::MAX);
        let n_wanted = n_left.min(if decoder.is_some() { ENCODED_BYTES } else { wanted - start });
        buffer.reserve(n_wanted);
        let n_read = (&self.input.file)
            .take(n_wanted as u64)
            .read_to_end(buffer)
            .with_context(|| format!("cannot read `{}`", self.input.name))?;
        self.hash.update(&buffer[start..]);
        self.is_end = n_read < n_wanted || n_read == n_left;
        self.offset += n_read as u64;
        let n_mark = self.mark_bytes.min(n_read);
        self.mark_bytes -= n_mark;
        buffer.drain(start..start + n_mark);
        if let Some(decoder) = &mut self.decoder {
            let decoded = decoder.decode(&self.encoded, slice, self.is_end);
            self.encoded.clear();
            decoded.map_err(|malformed| Undecodable {
                charset: self.text.charset,
                offset: malformed.offset + self.text.mark_bytes as u64,
            })?;
        }
        skip(&mut self.lead.n_raw, slice, text_start);
        for (wrapping, wrapped) in self.lead.wrappings.into_iter().flatten().zip(&mut self.wrapped)
        {
            wrapped.extend(slice.drain(text_start..));
            let n_whole = wrapping.cut(wrapped, self.is_end);
            wrapping.strip(&wrapped[..n_whole], slice);
            wrapped.drain(..n_whole);
        }
        skip(&mut self.lead.n_text, slice, text_start);
        Ok(())
    }

    /// A slice ends where a record ends, so no character is split.
    fn check(&self, slice: &[u8]) -> anyhow::Result<()> {
        if self.decoder.is_some() || simdutf8::basic::from_utf8(slice).is_ok() {
            return Ok(());
        }
        let at = simdutf8::compat::from_utf8(slice).err().map_or(0, |it| it.valid_up_to());
        let behind = (slice.len() - at + self.rest.len()) as u64;
        let offset = self.offset.saturating_sub(behind);
        Err(Undecodable { charset: self.text.charset, offset }.into())
    }
}

/// Removes up to `n` bytes of `text` from `start` on, and subtracts them from `n`.
fn skip(n: &mut usize, text: &mut Vec<u8>, start: usize) {
    let n_skipped = (*n).min(text.len() - start);
    *n -= n_skipped;
    text.drain(start..start + n_skipped);
}

/// Returns the first bytes of a file.
///
/// # Errors
///
/// Fails when the file cannot be read.
pub fn head_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    open(path)?.take(SNIFF_HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Returns the hash of a file's bytes, lower-case hexadecimal.
///
/// # Errors
///
/// Fails when the file cannot be read.
pub fn sha256_file(path: &Path) -> anyhow::Result<String> {
    open(path).and_then(sha256_of).with_context(|| format!("cannot read {}", path.display()))
}

/// Returns the hash of a reader's bytes, lower-case hexadecimal.
pub(crate) fn sha256_of(mut reader: impl Read) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(format!("{:x}", hash.finalize())),
            Ok(n) => hash.update(&buffer[..n]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Formats bytes in lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, it| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{it:02x}");
        text
    })
}
