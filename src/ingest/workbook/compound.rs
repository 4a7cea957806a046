//! The memory that an old workbook would take, determined before it is read.
//!
//! The reader allocates every cell between the first and the last of a sheet, including empty ones, and
//! follows a chain of sectors wherever it leads. The chains must therefore end, and the sheets must be
//! within the limits of real programs. Sources: [MS-CFB], [MS-XLS].

use std::io::Read;

use csv_agent_types::limits::SHEET_CELLS_MAX;

use super::{too_many_cells, unreadable};

const END_OF_CHAIN: u32 = 0xffff_fffe;
const HEADER_BYTES: usize = 512;
const ENTRY_BYTES: usize = 128;
const MINI_BYTES: usize = 64;
/// A shorter stream is in the mini stream.
const MINI_STREAM_BYTES_MAX: usize = 4096;

/// Fails when reading a workbook would exceed the memory limit.
pub(super) fn check(source: &mut impl Read, name: &str) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes)?;
    let damaged = || unreadable(name, "its sectors are damaged");
    let stream = match Compound::of(&bytes).ok_or_else(damaged)? {
        Found::Stream(stream) => stream,
        Found::Encrypted => return Err(unreadable(name, "password")),
        Found::Nothing => return Err(unreadable(name, "it contains no workbook")),
    };
    let n_cells = cells(&stream).ok_or_else(|| unreadable(name, "its records are damaged"))?;
    if SHEET_CELLS_MAX < n_cells { Err(too_many_cells(name)) } else { Ok(()) }
}

enum Found {
    Stream(Vec<u8>),
    Encrypted,
    Nothing,
}

/// The sectors of a file.
struct Compound<'a> {
    bytes: &'a [u8],
    sector_bytes: usize,
    next: Vec<u32>,
}

impl<'a> Compound<'a> {
    /// Returns the stream of the workbook; `None` if a chain does not end within the file.
    fn of(bytes: &'a [u8]) -> Option<Found> {
        let sector_bytes = match u16_at(bytes, 30)? {
            9 => 512,
            12 => 4096,
            _ => return None,
        };
        let mut file = Compound { bytes, sector_bytes, next: Vec::new() };
        let mut tables = words(bytes.get(76..HEADER_BYTES)?);
        let mut at = u32_at(bytes, 68)?;
        let mut n_sectors = 0;
        while at < 0xffff_fffa {
            n_sectors += 1;
            if file.n_sectors_max() < n_sectors {
                return None;
            }
            tables.extend(words(file.sector(at)?));
            at = tables.pop()?;
        }
        tables.retain(|it| *it < 0xffff_fffc);
        if file.n_sectors_max() < tables.len() {
            return None;
        }
        for table in tables {
            let next = words(file.sector(table)?);
            file.next.extend(next);
        }
        let entries = file.chain(u32_at(bytes, 48)?, usize::MAX)?;
        let entries: Vec<&[u8]> = entries.chunks_exact(ENTRY_BYTES).collect();
        let root = entries.first()?;
        let root_bytes = file.stream_bytes(root)?;
        let n_mini = u32_at(bytes, 64)? as usize;
        let (mini, mini_next) = if n_mini == 0 {
            (Vec::new(), Vec::new())
        } else {
            let mini = file.chain(u32_at(root, 116)?, root_bytes)?;
            let n_next = n_mini.checked_mul(sector_bytes)?;
            let next = file.chain(u32_at(bytes, 60)?, n_next.min(bytes.len()))?;
            (mini, words(&next))
        };
        let entry =
            |name: &str| entries.iter().find(|it| entry_name(it).eq_ignore_ascii_case(name));
        let Some(entry) = entry("Workbook").or_else(|| entry("Book")) else {
            return Some(match entry("EncryptedPackage") {
                Some(_) => Found::Encrypted,
                None => Found::Nothing,
            });
        };
        let (start, n_bytes) = (u32_at(entry, 116)?, file.stream_bytes(entry)?);
        let stream = if n_bytes < MINI_STREAM_BYTES_MAX {
            chain(&mini, MINI_BYTES, 0, &mini_next, start, n_bytes)?
        } else {
            file.chain(start, n_bytes)?
        };
        Some(Found::Stream(stream))
    }

    fn n_sectors_max(&self) -> usize {
        self.bytes.len() / self.sector_bytes + 1
    }

    fn sector(&self, at: u32) -> Option<&'a [u8]> {
        // The header takes one sector, whatever its length.
        let start = (at as usize + 1).checked_mul(self.sector_bytes)?;
        let end = (start + self.sector_bytes).min(self.bytes.len());
        self.bytes.get(start..end)
    }

    fn chain(&self, start: u32, n_bytes: usize) -> Option<Vec<u8>> {
        chain(self.bytes, self.sector_bytes, self.sector_bytes, &self.next, start, n_bytes)
    }

    /// Returns the length of a stream, which cannot exceed that of the file.
    fn stream_bytes(&self, entry: &[u8]) -> Option<usize> {
        let low = u64::from(u32_at(entry, 120)?);
        let high = if self.sector_bytes == 512 { 0 } else { u64::from(u32_at(entry, 124)?) };
        let n_bytes = usize::try_from(high << 32 | low).ok()?;
        (n_bytes <= self.bytes.len()).then_some(n_bytes)
    }
}

/// Returns up to `n_bytes` of the sectors of a chain, which start at `offset`; `None` if it does not
/// end.
fn chain(
    bytes: &[u8],
    sector_bytes: usize,
    offset: usize,
    next: &[u32],
    start: u32,
    n_bytes: usize,
) -> Option<Vec<u8>> {
    let mut found = Vec::new();
    let mut at = start;
    let mut n_sectors = 0;
    while at != END_OF_CHAIN {
        n_sectors += 1;
        if bytes.len() / sector_bytes + 1 < n_sectors {
            return None;
        }
        let from = (at as usize).checked_mul(sector_bytes)?.checked_add(offset)?;
        let to = (from + sector_bytes).min(bytes.len());
        let sector = bytes.get(from..to)?;
        found.extend_from_slice(&sector[..sector.len().min(n_bytes - found.len())]);
        if n_bytes <= found.len() {
            break;
        }
        at = *next.get(at as usize)?;
    }
    Some(found)
}

fn entry_name(entry: &[u8]) -> String {
    let units = entry[..64].chunks_exact(2).map(|it| u16::from_le_bytes([it[0], it[1]]));
    let units: Vec<u16> = units.take_while(|it| *it != 0).collect();
    String::from_utf16_lossy(&units)
}

/// Returns how many cells the sheets span, including empty ones.
fn cells(stream: &[u8]) -> Option<u64> {
    /// More than any workbook has.
    const SHEETS_MAX: usize = 4_096;
    /// Cells of the largest possible sheet.
    const DECLARED_MAX: u64 = 65_536 * 256;
    const SHEET: u16 = 0x85;
    const END: u16 = 0x0a;
    const DIMENSIONS: u16 = 0x200;
    const CELLS: [u16; 9] = [0x203, 0x204, 0xd6, 0x205, 0x207, 0x27e, 0xfd, 0xbd, 0x06];
    let mut starts = Vec::new();
    for (kind, data) in records(stream) {
        match kind {
            SHEET => starts.push(u32_at(data, 0)? as usize),
            END => break,
            _ => {}
        }
    }
    if SHEETS_MAX < starts.len() {
        return None;
    }
    let mut n_cells = 0_u64;
    for start in starts {
        let mut span: Option<[u64; 4]> = None;
        for (kind, data) in records(stream.get(start..)?) {
            match kind {
                // Charts within a sheet end with the same record, so continue to the end of the stream.
                DIMENSIONS => {
                    let (rows, columns) = match data.len() {
                        10 => ([u16_at(data, 0)?.into(), u16_at(data, 2)?.into()], [4, 6]),
                        _ => ([u32_at(data, 0)?, u32_at(data, 4)?], [8, 10]),
                    };
                    let columns = [u16_at(data, columns[0])?, u16_at(data, columns[1])?];
                    // The reader allocates these cells in advance; it treats a range with a negative
                    // length as a long one.
                    let n_rows = u64::from(rows[1].wrapping_sub(rows[0]));
                    let is_odd = 0xff < columns[0] || columns[1] < columns[0];
                    let first = if is_odd { 0 } else { columns[0] };
                    let n_columns = u64::from(columns[1] - first);
                    if rows[1] != 0 && columns[1] != 0 && DECLARED_MAX < n_rows * n_columns {
                        return Some(u64::MAX);
                    }
                }
                _ if CELLS.contains(&kind) && 4 <= data.len() => {
                    let (row, first) = (u16_at(data, 0)?.into(), u16_at(data, 2)?.into());
                    // The last column is at the end of a record of several cells.
                    let last = match kind {
                        0xbd => u16_at(data, data.len() - 2)?.into(),
                        _ => first,
                    };
                    let it = span.get_or_insert([row, row, first, last]);
                    *it = [it[0].min(row), it[1].max(row), it[2].min(first), it[3].max(last)];
                }
                _ => {}
            }
            if kind == END && span.is_some() {
                break;
            }
        }
        let reached = span.map_or(0, |it| (it[1] - it[0] + 1) * (it[3].max(it[2]) - it[2] + 1));
        n_cells = n_cells.saturating_add(reached);
    }
    Some(n_cells)
}

/// Returns the complete records of a stream.
fn records(stream: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = stream;
    std::iter::from_fn(move || {
        let (kind, n_bytes) = (u16_at(rest, 0)?, usize::from(u16_at(rest, 2)?));
        let data = rest.get(4..4 + n_bytes)?;
        rest = &rest[4 + n_bytes..];
        Some((kind, data))
    })
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|it| u32::from_le_bytes([it[0], it[1], it[2], it[3]])).collect()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_le_bytes([bytes[0], bytes[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}
