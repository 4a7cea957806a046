//! `NAME.lines`: the source line of each row, where blank lines or quoted line ends shift them.
//!
//! The file consists of the eight bytes `lines 1\n`, then pairs of LEB128 numbers: the rows since the
//! row of the previous pair (initially row 0), and how many lines beyond one separate the row from its
//! predecessor (for row 0: from line 1). Rows without a pair are one line after their predecessor. A
//! file without blank lines and quoted line ends has no `NAME.lines`: its row `r`, the first being 0,
//! is on line `r + 1`, or `r + 2` below a header.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Write};
use std::path::Path;

use anyhow::{Context, anyhow, ensure};

use csv_agent_types::catalog::{Dataset, SourceFormat};
use csv_agent_types::limits::LINE_MAP_BYTES_MAX;
use csv_agent_types::named_file::{self, NotRead};

use super::source::sha256_of;
use super::write::checksum;
use crate::cell_names::{cell_name, row_name};

const MAGIC: &[u8; 8] = b"lines 1\n";

/// Writes the pairs.
pub(crate) struct LineWriter<W> {
    out: W,
    row_before: u64,
    n_header: u64,
    is_needed: bool,
}

impl<W: Write> LineWriter<W> {
    /// Begins the file of a table whose header, if any, takes `n_header` lines in the plain case. Fails when
    /// the file cannot be written, as do the other methods.
    pub(crate) fn new(mut out: W, n_header: u64) -> std::io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(LineWriter { out, row_before: 0, n_header, is_needed: false })
    }

    /// Records that `row` is `n_more` lines further from its predecessor than one line.
    pub(crate) fn skip(&mut self, row: u64, n_more: u64) -> std::io::Result<()> {
        self.is_needed |= row != 0 || n_more != self.n_header;
        write_number(&mut self.out, row - self.row_before)?;
        write_number(&mut self.out, n_more)?;
        self.row_before = row;
        Ok(())
    }

    /// Returns the file, not yet flushed, and whether it contains more than the offset of a header.
    pub(crate) fn finish(self) -> (W, bool) {
        (self.out, self.is_needed)
    }
}

/// Returns the lines of the source, the first being 1, on which rows of a dataset begin. `None` when
/// the source has no lines.
///
/// # Errors
///
/// Fails when the dataset's line map cannot be read, or differs from what the ingest wrote.
pub fn source_lines(
    session_dir: &Path,
    dataset: &Dataset,
    rows: &[u64],
) -> anyhow::Result<Option<Vec<u64>>> {
    // An object of JSON may be anywhere on a line, or be several lines.
    let format = dataset.dialect.format;
    if format.place().is_none() || format == SourceFormat::Json {
        return Ok(None);
    }
    let path = dataset.file_in(session_dir)?.with_extension("lines");
    let Some(file) = map(&path, dataset)? else {
        let n_header = u64::from(dataset.dialect.header);
        return Ok(Some(rows.iter().map(|row| row + 1 + n_header).collect()));
    };
    let lines = lines_at(BufReader::new(file), rows);
    lines.map(Some).with_context(|| format!("cannot read `{}`", path.display()))
}

/// Opens the line map of a dataset, if it has one.
fn map(path: &Path, dataset: &Dataset) -> anyhow::Result<Option<File>> {
    open_map(path, dataset).map_err(|reason| anyhow!("the line map `{}` {reason}", path.display()))
}

/// Opens the line map of a dataset, if it has one. An error completes a sentence that begins with its
/// name.
fn open_map(path: &Path, dataset: &Dataset) -> Result<Option<File>, String> {
    let written = dataset.checksums.as_ref().map(|it| it.lines);
    if written == Some(None) {
        return Ok(None);
    }
    let file = match named_file::open(path) {
        Ok(file) => file,
        Err(NotRead::Failed(error)) if error.kind() == ErrorKind::NotFound => {
            return if written.is_none() { Ok(None) } else { Err("is missing".to_owned()) };
        }
        Err(error) => return Err(format!("cannot be opened: {error}")),
    };
    if written.is_some() && checksum(&file).ok() != written.flatten() {
        return Err("is damaged: its content is not what was written".to_owned());
    }
    Ok(Some(file))
}

/// Returns why the line map of a dataset is not the one that the ingest wrote, if so: `is missing`.
pub fn why_no_lines(session_dir: &Path, dataset: &Dataset) -> Option<String> {
    let path = dataset.file_in(session_dir).ok()?.with_extension("lines");
    open_map(&path, dataset).err()
}

/// Returns the file that a dataset came from, without the name of its sheet.
pub fn source_file(dataset: &Dataset) -> String {
    let Dataset { source, dialect, .. } = dataset;
    let sheet = dialect.sheet.as_ref().and_then(|it| source.strip_suffix(&it.name));
    sheet.and_then(|it| it.strip_suffix('/')).unwrap_or(source).to_owned()
}

/// Returns the workbook cells, such as `Sheet1!B12`, of a column in rows of its sheet, the first row
/// being 1; whole rows when no column is given.
pub fn source_cells(dataset: &Dataset, column: Option<&str>, rows: &[u64]) -> Vec<String> {
    let Some(sheet) = &dataset.dialect.sheet else { return Vec::new() };
    let column = column.and_then(|name| dataset.columns.iter().position(|it| it.name == name));
    let cell = |row: &u64| match column {
        Some(at) => cell_name(&sheet.name, row.saturating_sub(1), sheet.first_column + at as u64),
        None => row_name(&sheet.name, *row),
    };
    rows.iter().map(cell).collect()
}

/// Returns the line, the first being 1, of each of some rows, the first being 0. Fails when `lines` is not such
/// a file.
pub(crate) fn lines_at(mut lines: impl Read, rows: &[u64]) -> anyhow::Result<Vec<u64>> {
    check_magic(&mut lines)?;
    let last = rows.iter().copied().max().unwrap_or_default();
    let mut found: Vec<u64> = rows.iter().map(|row| row + 1).collect();
    let mut at = 0_u64;
    while let Some(n_rows) = read_number(&mut lines)? {
        let n_more = read_number(&mut lines)?.context("the line map ends early")?;
        at = at.checked_add(n_rows).context("the line map is damaged")?;
        if last < at {
            break;
        }
        let behind = found.iter_mut().zip(rows).filter(|(_, row)| at <= **row);
        behind.for_each(|(line, _)| *line = line.saturating_add(n_more));
    }
    Ok(found)
}

/// Returns where the rows of a dataset are not on consecutive lines of its source: each entry has a
/// number of rows, and how many extra lines precede the next row. `None` where each row is one line.
///
/// # Errors
///
/// Fails when the dataset's line map cannot be read, or differs from what the ingest wrote.
pub fn line_runs(session_dir: &Path, dataset: &Dataset) -> anyhow::Result<Option<Vec<(u64, u64)>>> {
    let path = dataset.file_in(session_dir)?.with_extension("lines");
    let Some(file) = map(&path, dataset)? else { return Ok(None) };
    let mut lines = BufReader::new(file);
    let n_bytes = lines.get_ref().metadata()?.len();
    ensure!(
        n_bytes <= LINE_MAP_BYTES_MAX,
        "`{}` has {n_bytes} bytes; the limit is {LINE_MAP_BYTES_MAX} bytes",
        path.display()
    );
    check_magic(&mut lines)?;
    let mut runs = Vec::new();
    while let Some(n_rows) = read_number(&mut lines)? {
        runs.push((n_rows, read_number(&mut lines)?.context("the line map ends early")?));
    }
    Ok(Some(runs))
}

/// Returns why the source of a dataset cannot be read again, if it cannot. `bytes_max` limits its size.
///
/// The creator of the session chose the source: it may be anything, and is read only if its length is
/// unchanged.
pub fn source_trouble(dataset: &Dataset, bytes_max: u64) -> Option<String> {
    let source = &dataset.source;
    if source == "-" {
        return Some("it came from stdin".to_owned());
    }
    if !dataset.files.is_empty() {
        return Some(format!("it was joined from {} files", dataset.files.len()));
    }
    if !matches!(dataset.dialect.format, SourceFormat::Text | SourceFormat::Parquet) {
        return Some("plain Python cannot read its text the way csv-agent did".to_owned());
    }
    let has_columns = dataset.dialect.told.iter().any(|it| it.starts_with("--columns"));
    if has_columns || !dataset.side_by_side.is_empty() {
        return Some("it comes from only some columns of its file".to_owned());
    }
    if dataset.dialect.told.iter().any(|it| it.starts_with("--widths")) {
        return Some("its columns have widths instead of delimiters".to_owned());
    }
    match std::fs::metadata(source) {
        Ok(found) if !found.is_file() => Some(format!("`{source}` is not a file")),
        Ok(found) if bytes_max < found.len() => {
            Some(format!("it is larger than the {} MiB that csv-agent examines", bytes_max >> 20))
        }
        Ok(_) => match named_file::open(Path::new(source)) {
            Ok(file) if is_same_file(&file, dataset.bytes, &dataset.sha256) => None,
            Ok(_) => Some("its source has changed since it was ingested".to_owned()),
            Err(reason) => Some(format!("`{source}` cannot be opened: {reason}")),
        },
        Err(_) => Some(format!("there is no file `{source}` here")),
    }
}

/// Returns whether a file has `bytes` bytes with this hash.
///
/// It reads no more than these. A file without a length, as in `/proc`, is not read: reading it may
/// block.
pub fn is_same_file(file: &File, bytes: u64, sha256: &str) -> bool {
    let is_as_long = 0 < bytes && file.metadata().is_ok_and(|it| it.len() == bytes);
    is_as_long && sha256_of(file.take(bytes)).is_ok_and(|it| it == sha256)
}

fn check_magic(lines: &mut impl Read) -> anyhow::Result<()> {
    let mut magic = [0; MAGIC.len()];
    lines.read_exact(&mut magic).context("cannot read the line map")?;
    ensure!(&magic == MAGIC, "the line map has another version; ingest the file again");
    Ok(())
}

fn write_number(out: &mut impl Write, mut number: u64) -> std::io::Result<()> {
    loop {
        let low = u8::try_from(number & 0x7f).unwrap_or_default();
        number >>= 7;
        if number == 0 {
            return out.write_all(&[low]);
        }
        out.write_all(&[low | 0x80])?;
    }
}

fn read_number(lines: &mut impl Read) -> anyhow::Result<Option<u64>> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let mut byte = [0];
        if lines.read(&mut byte)? == 0 {
            ensure!(shift == 0, "the line map ends early");
            return Ok(None);
        }
        ensure!(shift < 64, "the line map has a number of more than 64 bits");
        number |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] < 0x80 {
            return Ok(Some(number));
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Seek, Write};

    use super::{LineWriter, is_same_file, lines_at};
    use crate::source::sha256_of;

    #[test]
    fn a_row_is_found_behind_blank_lines_and_quoted_line_ends() {
        let mut writer = LineWriter::new(Vec::new(), 1).unwrap();
        // A header on line 1, a blank line before row 2, a record of 300 lines before row 1000.
        writer.skip(0, 1).unwrap();
        writer.skip(2, 1).unwrap();
        writer.skip(1_000, 299).unwrap();
        let lines = writer.finish().0;
        let rows = [0, 5_000, 1, 2, 1_000, 999];
        assert_eq!(lines_at(&lines[..], &rows).unwrap(), [2, 5_302, 3, 5, 1_302, 1_002]);
        assert!(lines_at(&lines[..], &[]).unwrap().is_empty());
    }

    #[test]
    fn a_plain_file_needs_no_map() {
        let mut writer = LineWriter::new(Vec::new(), 1).unwrap();
        writer.skip(0, 1).unwrap();
        assert!(!writer.finish().1);
    }

    #[test]
    fn a_torn_map_is_an_error() {
        assert!(lines_at(&b"lines 1\n\x80"[..], &[5]).is_err());
        assert!(lines_at(&b"lines 2\n"[..], &[5]).is_err());
        let past = [&b"lines 1\n\x01\x00"[..], &[0xff; 9], b"\x01\x00"].concat();
        assert!(lines_at(&past[..], &[5]).is_err());
    }

    #[test]
    fn a_file_is_compared_only_when_it_is_as_long() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"a\n1\n").unwrap();
        let sha256 = sha256_of(&b"a\n1\n"[..]).unwrap();
        for (bytes, expected) in [(4, true), (3, false), (5, false), (0, false)] {
            file.rewind().unwrap();
            assert_eq!(is_same_file(&file, bytes, &sha256), expected, "{bytes}");
        }
        // The system makes it up for whoever reads it, and it has no length.
        let made_up = || File::open("/proc/version").unwrap();
        let sha256 = sha256_of(made_up()).unwrap();
        assert!([0, 1, 200].iter().all(|it| !is_same_file(&made_up(), *it, &sha256)));
    }
}
