//! Single-file databases: the tables and views of SQLite.
//!
//! The file is opened so that nothing is written to it or next to it, and its schema is untrusted. Each
//! value has its own type; the values decide the column's type, whatever its declaration.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use anyhow::Context;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use tempfile::NamedTempFile;

use csv_agent_types::dataset_names::quoted;
use csv_agent_types::limits::{CSV_COLUMNS_MAX, VIEW_SECONDS_MAX};

use super::Watch;
use super::source::{Input, hex};
use super::spool::Spool;
use crate::refusal::{check_cancelled, refuse};
use crate::spool::ForeignTable;

/// Returns whether a file is a database, from its first bytes.
pub(crate) fn is_of(head: &[u8]) -> bool {
    head.starts_with(b"SQLite format 3\0")
}

/// An open database.
struct Database {
    connection: Connection,
    /// When the last row arrived, in milliseconds since the database was opened.
    last_row_ms: Arc<AtomicU64>,
    start: Instant,
    /// Removed when the database is closed, if it is a copy.
    _copy: Option<NamedTempFile>,
}

impl Database {
    fn open(input: &Input, dir: &Path, cancelled: &AtomicBool) -> anyhow::Result<Database> {
        /// Virtual machine steps between two checks for cancellation.
        const STEPS: i32 = 100_000;
        /// Heap limit in bytes.
        const HEAP_BYTES_MAX: i64 = 256 * 1024 * 1024;
        check_cancelled(cancelled)?;
        let (path, copy) = match path_of(&input.file()?) {
            Some(path) if input.archive.is_none() => (path, None),
            _ => {
                let mut copy = NamedTempFile::new_in(dir)?;
                let mut file = input.file()?;
                file.seek(SeekFrom::Start(0))?;
                io::copy(&mut file, &mut copy)
                    .with_context(|| format!("cannot copy `{}`", input.name))?;
                (copy.path().to_owned(), Some(copy))
            }
        };
        check_complete(&path, &input.name)?;
        let failed = |error: rusqlite::Error| unreadable(&input.name, &error);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let mut connection = Connection::open_with_flags(uri(&path), flags).map_err(failed)?;
        for (pragma, value) in
            [("trusted_schema", 0), ("cell_size_check", 1), ("hard_heap_limit", HEAP_BYTES_MAX)]
        {
            connection.pragma_update(None, pragma, value).map_err(failed)?;
        }
        let (start, last_row_ms) = (Instant::now(), Arc::new(AtomicU64::new(0)));
        let last = Arc::clone(&last_row_ms);
        let has_waited = move || {
            let waited_ms = elapsed_ms(start).saturating_sub(last.load(Ordering::Relaxed));
            VIEW_SECONDS_MAX * 1_000 < waited_ms
        };
        connection.progress_handler(STEPS, Some(has_waited)).map_err(failed)?;
        Ok(Database { connection, last_row_ms, start, _copy: copy })
    }

    fn note_row(&self) {
        self.last_row_ms.store(elapsed_ms(self.start), Ordering::Relaxed);
    }
}

fn elapsed_ms(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Returns the path of an open file, if it still has one.
fn path_of(file: &File) -> Option<PathBuf> {
    let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    let (open, there) = (file.metadata().ok()?, path.metadata().ok()?);
    ((open.dev(), open.ino()) == (there.dev(), there.ino())).then_some(path)
}

/// Returns the SQLite URI for opening a file that no one writes to meanwhile, so that nothing is
/// created next to it.
fn uri(path: &Path) -> String {
    let mut text = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            text.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02x}");
        }
    }
    text.push_str("?mode=ro&immutable=1");
    text
}

/// Fails when a file next to the database contains pending changes.
fn check_complete(path: &Path, name: &str) -> anyhow::Result<()> {
    for ending in ["-wal", "-journal"] {
        let beside = [path.as_os_str().as_bytes(), ending.as_bytes()].concat();
        let beside = PathBuf::from(std::ffi::OsString::from_vec(beside));
        if beside.metadata().is_ok_and(|it| 0 < it.len()) {
            let message = format!(
                "cannot read `{name}`: a program has it open, or was stopped; `{}` has changes that are \
                 not in it",
                beside.display()
            );
            let hint = "close the program, or make a copy: `sqlite3 FILE '.backup COPY.db'`";
            return Err(refuse(message, hint));
        }
    }
    Ok(())
}

/// Returns the tables and views of a database. Fails when it is damaged, encrypted, or in use.
pub(crate) fn tables(
    input: &Input,
    dir: &Path,
    cancelled: &AtomicBool,
) -> anyhow::Result<Vec<ForeignTable>> {
    let failed = |error: rusqlite::Error| unreadable(&input.name, &error);
    let database = Database::open(input, dir, cancelled)?;
    let connection = &database.connection;
    let query = "select name, type from pragma_table_list where schema = 'main' and name not like 'sqlite\\_%' \
                 escape '\\' order by name";
    let mut statement = connection.prepare(query).map_err(failed)?;
    let found =
        statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)));
    let found = found.and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(failed)?;
    let mut tables = Vec::new();
    for (name, kind) in found {
        check_cancelled(cancelled)?;
        database.note_row();
        let left_out = match kind.as_str() {
            "shadow" => Some("of an index"),
            "virtual" => Some("virtual"),
            _ => {
                let query = format!("select 1 from {} limit 1", quoted(&name));
                let has_row = connection.prepare(&query).and_then(|mut it| it.exists([]));
                match has_row {
                    Ok(false) => Some("empty"),
                    Err(error) if is_interrupted(&error) => Some("returns no row"),
                    // The reader reports what is wrong, if anything is.
                    Ok(true) | Err(_) => None,
                }
            }
        };
        tables.push(ForeignTable { name, left_out });
    }
    Ok(tables)
}

/// Writes the rows of a table or view. Returns the names of its columns. Fails when no table has that name, and
/// when its rows cannot be read.
pub(crate) fn write(
    spool: &mut Spool<'_>,
    input: &Input,
    table: &str,
    dir: &Path,
    watch: &Watch<'_>,
) -> anyhow::Result<Vec<String>> {
    let database = Database::open(input, dir, watch.cancelled)?;
    let failed = |error: rusqlite::Error| {
        if is_interrupted(&error) {
            let message = format!(
                "cannot read `{}`: `{table}` returned no row for {VIEW_SECONDS_MAX} s",
                input.name
            );
            return refuse(message, "make a table of the view: `create table … as select …`");
        }
        unreadable(&input.name, &error)
    };
    let query = format!("select * from {}", quoted(table));
    let mut statement = database.connection.prepare(&query).map_err(failed)?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    if CSV_COLUMNS_MAX < names.len() {
        let message =
            format!("cannot read `{}`: `{table}` has {} columns", input.name, names.len());
        return Err(refuse(message, "make a view of the columns that you need"));
    }
    let mut n_bytes = vec![0_u64; names.len()];
    let mut n_damaged = vec![0_u64; names.len()];
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        check_cancelled(watch.cancelled)?;
        database.note_row();
        for at in 0..names.len() {
            match row.get_ref(at).map_err(failed)? {
                ValueRef::Null => spool.nothing(at),
                ValueRef::Integer(value) => spool.value(at, &value.to_string()),
                // With its point, so that the column becomes one of floats.
                ValueRef::Real(value) => spool.value(at, &fraction(value)),
                ValueRef::Text(text) => {
                    let text = String::from_utf8_lossy(text);
                    n_damaged[at] += u64::from(matches!(text, std::borrow::Cow::Owned(_)));
                    spool.text(at, &text);
                }
                ValueRef::Blob(bytes) => {
                    n_bytes[at] += 1;
                    spool.text(at, &hex(bytes));
                }
            }
        }
        spool.end_row()?;
    }
    for (at, n) in n_bytes.into_iter().enumerate().filter(|it| 0 < it.1) {
        let values = if n == 1 { "1 value is" } else { &format!("{n} values are") };
        spool.note(at, format!("{values} bytes, in hexadecimal"));
    }
    for (at, n) in n_damaged.into_iter().enumerate().filter(|it| 0 < it.1) {
        let values = if n == 1 { "1 value is" } else { &format!("{n} values are") };
        spool.note(at, format!("{values} not valid UTF-8; U+FFFD replaces the invalid bytes"));
    }
    Ok(names)
}

fn fraction(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

fn is_interrupted(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted)
}

fn unreadable(name: &str, error: &rusqlite::Error) -> anyhow::Error {
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) {
        let message =
            format!("cannot read `{name}` as an SQLite database: it is encrypted or damaged");
        return refuse(message, "decrypt it, or get the file again");
    }
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt) {
        let message = format!("cannot read `{name}`: the database is damaged or cut short");
        return refuse(
            message,
            "get the file again; `sqlite3 FILE .recover` prints what can be recovered",
        );
    }
    let message = format!("cannot read `{name}`: {error}");
    refuse(message, "name the tables to read with `--table NAME`, once for each")
}
