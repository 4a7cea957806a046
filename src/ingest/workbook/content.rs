//! The memory that an OpenDocument sheet would take, determined before it is read.
//!
//! One cell or row in the file may represent many. The reader stores each of them.

use std::io::{BufRead, BufReader, Read, Seek};
use std::sync::atomic::AtomicBool;

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use zip::ZipArchive;

use csv_agent_types::limits::SHEET_CELLS_MAX;

use super::{COLUMNS_MAX, ROWS_MAX, too_many_cells, unreadable};
use crate::refusal::check_cancelled;

/// Fails when reading a workbook would exceed the memory limit.
pub(super) fn check(
    source: impl Read + Seek,
    name: &str,
    cancelled: &AtomicBool,
) -> anyhow::Result<()> {
    let failed = |it: &dyn std::fmt::Display| unreadable(name, &it.to_string());
    let mut zip = ZipArchive::new(source).map_err(|it| failed(&it))?;
    if let Ok(manifest) = zip.by_name("META-INF/manifest.xml") {
        let mut text = Vec::new();
        // Its size has been checked.
        BufReader::new(manifest).read_to_end(&mut text).map_err(|it| failed(&it))?;
        if memchr::memmem::find(&text, b"encryption-data").is_some() {
            return Err(unreadable(name, "password"));
        }
    }
    let content = zip.by_name("content.xml").map_err(|it| failed(&it))?;
    let n_cells = cells(BufReader::new(content), cancelled, &|it| failed(it))?;
    if SHEET_CELLS_MAX < n_cells { Err(too_many_cells(name)) } else { Ok(()) }
}

/// Returns how many cells the reader would store, including empty ones between others.
fn cells(
    content: impl BufRead,
    cancelled: &AtomicBool,
    failed: &dyn Fn(&dyn std::fmt::Display) -> anyhow::Error,
) -> anyhow::Result<u64> {
    let mut reader = Reader::from_reader(content);
    let mut buffer = Vec::new();
    let mut sheets = Cells::default();
    loop {
        buffer.clear();
        let (element, is_empty) =
            match reader.read_event_into(&mut buffer).map_err(|it| failed(&it))? {
                Event::Start(element) => (element, false),
                Event::Empty(element) => (element, true),
                Event::End(element) => {
                    match element.name().as_ref() {
                        "table:table-row" => sheets.end_row(),
                        "table:table" => sheets.end_table(),
                        _ => {}
                    }
                    continue;
                }
                Event::Eof => break,
                _ => continue,
            };
        match element.name().as_ref() {
            "table:table-row" => {
                check_cancelled(cancelled)?;
                sheets.row_repeats = repeats(&element, "table:number-rows-repeated", ROWS_MAX);
            }
            "table:table-cell" | "table:covered-table-cell" => {
                let n = repeats(&element, "table:number-columns-repeated", COLUMNS_MAX);
                // An empty cell may still have a note.
                sheets.add(
                    n,
                    is_empty
                        && element.try_get_attribute("office:value-type").ok().flatten().is_none(),
                );
            }
            _ => {}
        }
        if SHEET_CELLS_MAX < sheets.n_all {
            break;
        }
    }
    sheets.end_table();
    Ok(sheets.n_all)
}

#[derive(Default)]
struct Cells {
    n_all: u64,
    /// For the current table.
    n_rows: u64,
    width: u64,
    /// Empty rows since the last non-empty one.
    n_empty_rows: u64,
    row_repeats: u64,
    /// For the current row: filled cells, and the empty ones after them.
    n_filled: u64,
    n_behind: u64,
}

impl Cells {
    fn add(&mut self, n: u64, is_empty: bool) {
        if is_empty {
            self.n_behind += n;
        } else {
            let n = std::mem::take(&mut self.n_behind) + n;
            self.n_filled += n;
            // Each is stored once on its own, and once more in the table.
            self.n_all += n;
        }
    }

    fn end_row(&mut self) {
        if self.n_filled == 0 {
            self.n_empty_rows += self.row_repeats;
        } else {
            self.n_rows += std::mem::take(&mut self.n_empty_rows) + self.row_repeats;
            self.width = self.width.max(self.n_filled.min(u64::from(COLUMNS_MAX)));
        }
        (self.n_filled, self.n_behind, self.row_repeats) = (0, 0, 0);
    }

    fn end_table(&mut self) {
        let n_rows = self.n_rows.min(u64::from(ROWS_MAX));
        self.n_all = self.n_all.saturating_add(n_rows.saturating_mul(self.width));
        (self.n_rows, self.width, self.n_empty_rows) = (0, 0, 0);
    }
}

fn repeats(element: &BytesStart<'_>, attribute: &str, most: u32) -> u64 {
    let value = element.try_get_attribute(attribute).ok().flatten();
    let n = value.and_then(|it| it.value.parse::<u64>().ok()).unwrap_or(1);
    n.min(u64::from(most))
}
