//! Archives with several files: their list of files, and access to one file at a time.
//!
//! A zip archive has a directory. A tar archive has none, so it is scanned once; a compressed one is
//! first decompressed to an unnamed file, which needs one pass however many files are wanted.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use zip::ZipArchive;

use csv_agent_types::limits::{ARCHIVE_BYTES_MAX, ARCHIVE_FILES_MAX, SNIFF_HEAD_BYTES};

use super::compression::{Compression, damaged};
use super::sniff::binary_kind;
use crate::refusal::{check_cancelled, refuse};

/// The name that [`binary_kind`] returns for a tar archive.
const TAR: &str = "a tar archive";
/// Bytes of a tar block; the first identifies the archive.
const TAR_BLOCK_BYTES: u64 = 512;

/// An open archive.
#[derive(Clone)]
pub struct Archive {
    name: String,
    kind: ArchiveKind,
}

#[derive(Clone)]
enum ArchiveKind {
    Zip(ZipArchive<FileSection>),
    Tar(FileSection),
}

/// A file in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Path within the archive: `2024/sales.csv`.
    pub path: String,
    /// Size of its content.
    pub bytes: u64,
    place: EntryPlace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryPlace {
    /// Its index in the directory of a zip archive.
    Number(usize),
    /// The offset of its content in a tar archive.
    Offset(u64),
}

impl fmt::Debug for Archive {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Archive").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Archive {
    /// Opens a zip or tar archive, the latter compressed or not; `name` is the user's name for it.
    /// Returns `None` for any other file, and for a damaged one: its reader reports the damage.
    ///
    /// # Errors
    ///
    /// Fails when the archive cannot be decompressed into a temporary file, or exceeds the limits; and
    /// once `cancelled` is set.
    pub fn open(
        path: &Path,
        name: &str,
        cancelled: &AtomicBool,
    ) -> anyhow::Result<Option<(Archive, Vec<Entry>)>> {
        // Opening a pipe would block, and reading would consume its bytes.
        if !path.metadata().is_ok_and(|it| it.is_file()) {
            return Ok(None);
        }
        let Ok(file) = File::open(path) else { return Ok(None) };
        let mut head = Vec::new();
        let n_head = SNIFF_HEAD_BYTES as u64;
        if (&file).take(n_head).read_to_end(&mut head).is_err() {
            return Ok(None);
        }
        let archive = |kind| Archive { name: name.to_owned(), kind };
        let tar = match Compression::of(&head) {
            Some(Compression::Zip) => {
                let Ok(zip) = ZipArchive::new(FileSection::whole(file)?) else { return Ok(None) };
                let Some(entries) = zip_entries(&zip, name)? else { return Ok(None) };
                return Ok(Some((archive(ArchiveKind::Zip(zip)), entries)));
            }
            Some(compression) => decompressed_tar(file, name, compression, cancelled)?,
            None if binary_kind(&head) == Some(TAR) => Some(FileSection::whole(file)?),
            None => None,
        };
        let Some(tar) = tar else { return Ok(None) };
        let entries = tar_entries(&tar, name)?;
        Ok(Some((archive(ArchiveKind::Tar(tar)), entries)))
    }

    /// Copies a file of the archive to `out`.
    ///
    /// # Errors
    ///
    /// Fails when that part of the archive is damaged, `out` cannot be written, and once `cancelled` is
    /// set.
    pub fn copy(
        &self,
        entry: &Entry,
        out: &mut File,
        cancelled: &AtomicBool,
    ) -> anyhow::Result<()> {
        let name = format!("{}/{}", self.name, entry.path);
        match (&self.kind, entry.place) {
            (ArchiveKind::Zip(zip), EntryPlace::Number(number)) => {
                let mut zip = zip.clone();
                let damaged = |error: io::Error| damaged(&name, Compression::Zip, &error);
                let mut file =
                    zip.by_index(number).map_err(|error| damaged(io::Error::other(error)))?;
                copy(&mut file, out, cancelled, &damaged)
            }
            (ArchiveKind::Tar(tar), EntryPlace::Offset(offset)) => {
                let unreadable = |error: io::Error| {
                    anyhow::Error::from(error).context(format!("cannot read `{name}`"))
                };
                copy(&mut tar.part(offset, entry.bytes), out, cancelled, &unreadable)
            }
            _ => unreachable!("an entry is looked for in its own archive"),
        }
    }
}

fn copy(
    reader: &mut dyn Read,
    out: &mut File,
    cancelled: &AtomicBool,
    unreadable: &dyn Fn(io::Error) -> anyhow::Error,
) -> anyhow::Result<()> {
    let mut buffer = vec![0; 256 * 1024];
    loop {
        check_cancelled(cancelled)?;
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => out.write_all(&buffer[..n]).context("cannot copy a file of an archive")?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
}

/// Returns the path of the only file in a zip archive, which then serves as mere compression; `None` for any
/// other file.
pub fn only_member(path: &Path) -> Option<String> {
    const ZIP: &[u8] = b"PK\x03\x04";
    // Opening a pipe waits for its writer.
    path.metadata().ok().filter(Metadata::is_file)?;
    let file = File::open(path).ok()?;
    let mut head = Vec::new();
    (&file).take(ZIP.len() as u64).read_to_end(&mut head).ok()?;
    if head != ZIP {
        return None;
    }
    (&file).take(SNIFF_HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
    let is_zip = Compression::of(&head) == Some(Compression::Zip);
    let mut zip = ZipArchive::new(FileSection::whole(file).ok().filter(|_| is_zip)?).ok()?;
    let mut entries = zip_files(&mut zip, "").ok()??.into_keys();
    entries.next().filter(|_| entries.next().is_none())
}

/// Returns the files of a zip archive; `None` when it contains only one and thus serves as mere
/// compression.
fn zip_entries(zip: &ZipArchive<FileSection>, name: &str) -> anyhow::Result<Option<Vec<Entry>>> {
    let entries = zip_files(&mut zip.clone(), name)?.filter(|it| 1 < it.len());
    Ok(entries.map(|it| it.into_values().collect()))
}

/// Returns the files of a zip archive by their paths; `None` when it is damaged.
fn zip_files(
    zip: &mut ZipArchive<FileSection>,
    name: &str,
) -> anyhow::Result<Option<BTreeMap<String, Entry>>> {
    let mut entries = BTreeMap::new();
    for number in 0..zip.len() {
        let Ok(file) = zip.by_index_raw(number) else { return Ok(None) };
        let Ok(path) = file.name().map(Cow::into_owned) else { continue };
        if file.is_file() {
            add(&mut entries, &path, file.size(), EntryPlace::Number(number), name)?;
        }
    }
    Ok(Some(entries))
}

fn tar_entries(tar: &FileSection, name: &str) -> anyhow::Result<Vec<Entry>> {
    let damaged = |error: io::Error| {
        let message =
            format!("cannot read `{name}`: its tar data is damaged or cut short ({error})");
        refuse(message, "get the file again, or repair it")
    };
    // Zero blocks end an archive: without them, it is unknown what is missing.
    let mut end = Vec::new();
    let mut last = FileSection { at: tar.bytes.saturating_sub(TAR_BLOCK_BYTES), ..tar.clone() };
    last.read_to_end(&mut end).map_err(damaged)?;
    if end.iter().any(|it| *it != 0) {
        return Err(damaged(io::ErrorKind::UnexpectedEof.into()));
    }
    let mut archive = tar::Archive::new(tar.clone());
    let mut entries = BTreeMap::new();
    for entry in archive.entries_with_seek().map_err(damaged)? {
        let entry = entry.map_err(damaged)?;
        if entry.header().entry_type().is_file() {
            let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let place = EntryPlace::Offset(entry.raw_file_position());
            add(&mut entries, &path, entry.size(), place, name)?;
        }
    }
    Ok(entries.into_values().collect())
}

/// Adds a file by its path. Where a path is repeated, the last entry wins, as when unpacking.
fn add(
    entries: &mut BTreeMap<String, Entry>,
    path: &str,
    bytes: u64,
    place: EntryPlace,
    name: &str,
) -> anyhow::Result<()> {
    let path = within(path);
    if is_of_system(&path) {
        return Ok(());
    }
    entries.insert(path.clone(), Entry { path, bytes, place });
    if ARCHIVE_FILES_MAX < entries.len() {
        let message =
            format!("cannot read `{name}`: it contains more than {ARCHIVE_FILES_MAX} files");
        return Err(refuse(message, "unpack it, and name the directories one by one"));
    }
    Ok(())
}

/// Returns a path relative to the archive: neither a leading `/` nor `..` can escape from it.
fn within(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// macOS adds its own files.
fn is_of_system(path: &str) -> bool {
    path.starts_with("__MACOSX/") || path.rsplit('/').next().is_none_or(|it| it.starts_with("._"))
}

/// Returns the tar archive in a compressed file; `None` when it contains something else.
fn decompressed_tar(
    file: File,
    name: &str,
    compression: Compression,
    cancelled: &AtomicBool,
) -> anyhow::Result<Option<FileSection>> {
    let mut file = file;
    file.seek(SeekFrom::Start(0)).with_context(|| format!("cannot read `{name}`"))?;
    let mut is_tar = false;
    let unpacked = compression.open(&file, name, &mut |reader| {
        let mut reader = reader;
        let mut head = Vec::new();
        let read = (&mut reader).take(TAR_BLOCK_BYTES).read_to_end(&mut head);
        is_tar = read.is_ok() && binary_kind(&head) == Some(TAR);
        if !is_tar {
            return Ok(file.try_clone()?);
        }
        let doing = || format!("cannot decompress `{name}` to {}", std::env::temp_dir().display());
        let mut out = tempfile::tempfile().with_context(doing)?;
        let mut all = head.chain(reader).take(ARCHIVE_BYTES_MAX + 1);
        let damaged = |error: io::Error| damaged(name, compression, &error);
        copy(&mut all, &mut out, cancelled, &damaged)?;
        if all.limit() == 0 {
            let message = format!(
                "cannot read `{name}`: it has more than {ARCHIVE_BYTES_MAX} bytes decompressed"
            );
            return Err(refuse(message, "unpack it, and name the directory"));
        }
        Ok(out)
    });
    match unpacked {
        Ok(file) if is_tar => Ok(Some(FileSection::whole(file)?)),
        // The reader of the file reports what is wrong with it.
        Ok(_) => Ok(None),
        Err(_) if !is_tar => Ok(None),
        Err(error) => Err(error),
    }
}

/// A section of a file, for concurrent readers: each has its own position.
#[derive(Debug, Clone)]
struct FileSection {
    file: Arc<File>,
    start: u64,
    bytes: u64,
    at: u64,
}

impl FileSection {
    fn whole(file: File) -> anyhow::Result<FileSection> {
        let bytes = file.metadata()?.len();
        Ok(FileSection { file: Arc::new(file), start: 0, bytes, at: 0 })
    }

    fn part(&self, start: u64, bytes: u64) -> BufReader<FileSection> {
        BufReader::new(FileSection { file: Arc::clone(&self.file), start, bytes, at: 0 })
    }
}

impl Read for FileSection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.bytes.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let n = left.min(buffer.len());
        let n = self.file.read_at(&mut buffer[..n], self.start + self.at)?;
        if n == 0 && 0 < left && !buffer.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for FileSection {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.bytes.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Seek, Write};
    use std::path::{Path, PathBuf};
    use std::sync::atomic::AtomicBool;

    use flate2::write::GzEncoder;
    use tempfile::TempDir;

    use super::Archive;

    const FILES: [(&str, &str); 3] =
        [("a/x.csv", "n\n1\n"), ("./b/x.csv", "n\n2\n"), ("__MACOSX/._x.csv", "\0")];

    fn tar() -> Vec<u8> {
        let mut tar = tar::Builder::new(Vec::new());
        for (path, text) in FILES {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            tar.append_data(&mut header, path, text.as_bytes()).unwrap();
        }
        tar.into_inner().unwrap()
    }

    fn zip(files: &[(&str, &str)]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (path, text) in files {
            zip.start_file(*path, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn written(dir: &TempDir, bytes: &[u8]) -> PathBuf {
        let path = dir.path().join("some.archive");
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn open(path: &Path) -> anyhow::Result<Option<Vec<(String, String)>>> {
        let cancelled = AtomicBool::new(false);
        let Some((archive, entries)) = Archive::open(path, "s", &cancelled)? else {
            return Ok(None);
        };
        // The last first: each is read where it is.
        let texts = entries.iter().rev().map(|entry| {
            let mut file = tempfile::tempfile()?;
            archive.copy(entry, &mut file, &cancelled)?;
            assert_eq!(file.metadata()?.len(), entry.bytes);
            file.rewind()?;
            let mut text = String::new();
            File::read_to_string(&mut file, &mut text)?;
            Ok((entry.path.clone(), text))
        });
        texts.collect::<anyhow::Result<_>>().map(Some)
    }

    #[test]
    fn the_files_of_an_archive_are_read_in_any_order() {
        let dir = TempDir::new().unwrap();
        let expected = [("b/x.csv", "n\n2\n"), ("a/x.csv", "n\n1\n")];
        let expected = expected.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&tar()).unwrap();
        let zstd = zstd::encode_all(&tar()[..], 1).unwrap();
        for bytes in [tar(), gzip.finish().unwrap(), zstd, zip(&FILES)] {
            let found = open(&written(&dir, &bytes)).unwrap().unwrap();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn no_path_leads_out_of_an_archive_and_the_last_of_a_path_is_meant() {
        let dir = TempDir::new().unwrap();
        let paths = ["/srv/a.csv", "../../b.csv", "c//./d/../d.csv", "b.csv"];
        let texts = ["n\n1\n", "n\n2\n", "n\n3\n", "n\n4\n"];
        let files: Vec<_> = paths.into_iter().zip(texts).collect();
        let found = open(&written(&dir, &zip(&files))).unwrap().unwrap();
        let expected = [("srv/a.csv", "n\n1\n"), ("c/d.csv", "n\n3\n"), ("b.csv", "n\n4\n")];
        assert_eq!(found, expected.map(|(path, text)| (path.to_owned(), text.to_owned())));
    }

    #[test]
    fn a_file_that_is_no_archive_of_several_is_left_to_who_reads_it() {
        let dir = TempDir::new().unwrap();
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"n\n1\n").unwrap();
        let gzip = gzip.finish().unwrap();
        let one = zip(&FILES[..1]);
        for bytes in [&b"n\n1\n"[..], &gzip, &gzip[..9], &one, &one[..40], b""] {
            assert_eq!(open(&written(&dir, bytes)).unwrap(), None);
        }
    }

    #[test]
    fn a_tar_archive_that_is_cut_short_is_damaged() {
        let dir = TempDir::new().unwrap();
        let tar = tar();
        for n_bytes in [515, 700, 1024, 2048] {
            let cut = open(&written(&dir, &tar[..n_bytes])).unwrap_err().to_string();
            assert!(cut.contains("its tar data is damaged or cut short"), "{n_bytes}: {cut}");
        }
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&tar).unwrap();
        let gzip = gzip.finish().unwrap();
        let cut = open(&written(&dir, &gzip[..gzip.len() - 9])).unwrap_err().to_string();
        assert!(cut.contains("its gzip data is damaged"), "{cut}");
    }
}
