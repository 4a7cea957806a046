//! Workbooks: Excel's `.xlsx`, `.xlsb` and `.xls`, and OpenDocument's `.ods`.
//!
//! A workbook has sheets, and a sheet is read like CSV: it may have titles above its table, totals and
//! notes below, and a multi-row header. Cell types are known: text that looks like a number remains
//! text, dates are dates, and a whole number is an integer although spreadsheets have only floats.
//! Errors such as `#N/A` are missing, and counted.
//!
//! The bytes are untrusted: the required memory is determined before a file is read, and it is read on
//! a thread whose panic is an error of the file.

mod compound;
mod content;
mod pattern;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::atomic::AtomicBool;

use calamine::{
    CellErrorType, Data, DataRef, DataType as _, ExcelDateTime, Ods, Range, Reader, SheetType,
    SheetVisible, Xls, Xlsb, Xlsx, XlsxError,
};
use jiff::ToSpan;
use zip::ZipArchive;

use csv_agent_text::lists::all_names;
use csv_agent_types::catalog::{Meaning, SheetPlace};
use csv_agent_types::limits::SHEET_CELLS_MAX;

use self::pattern::Pattern;
use super::Watch;
use super::from_parquet::guard;
use super::sniff::binary_kind;
use super::source::Input;
use super::spool::{Spool, number};
use crate::cell_names::cell_name;
use crate::refusal::{check_cancelled, refuse};
use crate::spool::ForeignTable;

/// Limits on the rows and columns of a sheet, the same in every spreadsheet program.
const ROWS_MAX: u32 = 1_048_576;
const COLUMNS_MAX: u32 = 16_384;

/// The kind of a workbook file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkbookKind {
    /// `.xlsx` or `.xlsb`, and their variants.
    Office,
    /// `.xls`
    Old,
    /// `.ods`
    OpenDocument,
}

impl WorkbookKind {
    /// Returns the kind of workbook, from a file's first bytes.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match binary_kind(head)? {
            "an Excel workbook" => Some(WorkbookKind::Office),
            "an old Excel or Office file" => Some(WorkbookKind::Old),
            "an OpenDocument spreadsheet" => Some(WorkbookKind::OpenDocument),
            _ => None,
        }
    }
}

type WorkbookReader = BufReader<File>;

/// Receives a cell with its number format, where known; returns whether to continue.
type Each<'a> = dyn FnMut(CellPosition, DataRef<'_>, Option<&str>) -> anyhow::Result<bool> + 'a;

/// An open workbook.
enum Book {
    Xlsx(Box<Xlsx<WorkbookReader>>),
    Xlsb(Box<Xlsb<WorkbookReader>>),
    Xls(Box<Xls<WorkbookReader>>),
    Ods(Box<Ods<WorkbookReader>>),
}

impl Book {
    fn open(
        input: &Input,
        kind: WorkbookKind,
        bytes_max: u64,
        cancelled: &AtomicBool,
    ) -> anyhow::Result<Book> {
        let failed = |found: String| unreadable(&input.name, &found);
        let source = || -> anyhow::Result<WorkbookReader> {
            let mut file = input.file()?;
            file.seek(SeekFrom::Start(0))?;
            Ok(BufReader::new(file))
        };
        if kind == WorkbookKind::Old {
            compound::check(&mut source()?, &input.name)?;
            let book = Xls::new(source()?).map_err(|it| failed(it.to_string()))?;
            return Ok(Book::Xls(Box::new(book)));
        }
        let has_binary = check_parts(source()?, &input.name, bytes_max, cancelled)?;
        Ok(match kind {
            WorkbookKind::OpenDocument => {
                content::check(source()?, &input.name, cancelled)?;
                Book::Ods(Box::new(Ods::new(source()?).map_err(|it| failed(it.to_string()))?))
            }
            _ if has_binary => {
                Book::Xlsb(Box::new(Xlsb::new(source()?).map_err(|it| failed(it.to_string()))?))
            }
            _ => Book::Xlsx(Box::new(Xlsx::new(source()?).map_err(|it| failed(it.to_string()))?)),
        })
    }

    fn sheets(&self) -> Vec<ForeignTable> {
        let sheets = match self {
            Book::Xlsx(book) => book.sheets_metadata(),
            Book::Xlsb(book) => book.sheets_metadata(),
            Book::Xls(book) => book.sheets_metadata(),
            Book::Ods(book) => book.sheets_metadata(),
        };
        let left_out = |sheet: &calamine::Sheet| match (sheet.typ, sheet.visible) {
            (SheetType::ChartSheet, _) => Some("a chart"),
            (SheetType::DialogSheet | SheetType::MacroSheet | SheetType::Vba, _) => Some("a macro"),
            (SheetType::WorkSheet, SheetVisible::Visible) => None,
            (SheetType::WorkSheet, _) => Some("hidden"),
        };
        let sheet =
            |it: &calamine::Sheet| ForeignTable { name: it.name.clone(), left_out: left_out(it) };
        sheets.iter().map(sheet).collect()
    }

    /// Passes every non-empty cell of a sheet to `each`, row by row, until it returns false.
    fn cells(&mut self, sheet: &str, name: &str, each: &mut Each<'_>) -> anyhow::Result<()> {
        let failed = |found: String| unreadable(name, &format!("sheet `{sheet}`: {found}"));
        match self {
            Book::Xlsx(book) => {
                let mut cells =
                    book.worksheet_cells_reader(sheet).map_err(|it| failed(it.to_string()))?;
                let styles = cells.styles().to_vec();
                let formats: Vec<Option<String>> = styles
                    .iter()
                    .map(|it| Some(it.number_format.as_ref()?.format_code.clone()))
                    .collect();
                while let Some((cell, style)) =
                    cells.next_cell_with_style_id().map_err(|it| failed(it.to_string()))?
                {
                    let format = formats.get(style).and_then(Option::as_deref);
                    let place = CellPosition::of(cell.get_position(), name)?;
                    if !each(place, cell.get_value().clone(), format)? {
                        break;
                    }
                }
            }
            Book::Xlsb(book) => {
                let mut cells =
                    book.worksheet_cells_reader(sheet).map_err(|it| failed(it.to_string()))?;
                while let Some(cell) = cells.next_cell().map_err(|it| failed(it.to_string()))? {
                    let place = CellPosition::of(cell.get_position(), name)?;
                    if !each(place, cell.get_value().clone(), None)? {
                        break;
                    }
                }
            }
            Book::Xls(book) => {
                let range = book.worksheet_range(sheet).map_err(|it| failed(it.to_string()))?;
                in_range(&range, name, each)?;
            }
            Book::Ods(book) => {
                let range = book.worksheet_range(sheet).map_err(|it| failed(it.to_string()))?;
                in_range(&range, name, each)?;
            }
        }
        Ok(())
    }

    /// Returns the columns with a duration of a day or more. OpenDocument does not distinguish
    /// durations from times of day, and no time of day is that long.
    fn long_durations(&mut self, sheet: &str, name: &str) -> anyhow::Result<HashSet<u32>> {
        let mut columns = HashSet::new();
        if matches!(self, Book::Ods(_)) {
            self.cells(sheet, name, &mut |place, value, _| {
                let is_long = |it: &String| iso_duration(it).is_some_and(|it| DAY_MS <= it);
                if matches!(&value, DataRef::DurationIso(text) if is_long(text)) {
                    columns.insert(place.column);
                }
                Ok(true)
            })?;
        }
        Ok(columns)
    }

    /// Returns the columns whose numbers all have a format of zeros such as `00000`, with at least one
    /// shown differently from its value.
    fn patterned(&mut self, sheet: &str, name: &str) -> anyhow::Result<HashSet<u32>> {
        let mut columns: HashMap<u32, (bool, bool)> = HashMap::new();
        if let Book::Xlsx(book) = self {
            let failed = |it: XlsxError| unreadable(name, &format!("sheet `{sheet}`: {it}"));
            let cells = book.worksheet_cells_reader(sheet).map_err(failed)?;
            let mut formats = cells.styles().iter().filter_map(|it| it.number_format.as_ref());
            // Few workbooks have one, and only these are read twice.
            if formats.any(|it| Pattern::of(&it.format_code).is_some()) {
                drop(cells);
                self.cells(sheet, name, &mut |place, value, format| {
                    if let DataRef::Int(_) | DataRef::Float(_) = value {
                        let shown = format.and_then(Pattern::of).and_then(|it| it.show(&value));
                        let is_other = shown != plain(&value);
                        let (are_all, is_any) =
                            columns.entry(place.column).or_insert((true, false));
                        *are_all &= shown.is_some();
                        *is_any |= is_other;
                    }
                    Ok(true)
                })?;
            }
        }
        Ok(columns.into_iter().filter(|it| it.1 == (true, true)).map(|it| it.0).collect())
    }

    /// Returns the columns with formulas without a stored value: how many, and the first.
    fn without_values(
        &mut self,
        sheet: &str,
        name: &str,
    ) -> anyhow::Result<BTreeMap<u32, (u64, CellPosition)>> {
        let mut columns = BTreeMap::new();
        // The other kinds always store values.
        if let Book::Xlsx(book) = self {
            let failed = |it: XlsxError| unreadable(name, &format!("sheet `{sheet}`: {it}"));
            let mut cells = book.worksheet_cells_reader(sheet).map_err(failed)?;
            while let Some(cell) = cells.next_cell_with_formula_metadata().map_err(failed)? {
                if cell.formula.is_some() && cell.value == DataRef::Empty {
                    let place = CellPosition::of(cell.pos, name)?;
                    columns.entry(place.column).or_insert((0, place)).0 += 1;
                }
            }
        }
        Ok(columns)
    }

    /// Returns the columns with cells that are merged with the one above: how many, and the first. A
    /// header has at most one such group in a column.
    fn merged(
        &mut self,
        sheet: &str,
        name: &str,
    ) -> anyhow::Result<BTreeMap<u32, (u64, CellPosition)>> {
        const GROUPS_MIN: u64 = 2;
        let Book::Xlsx(book) = self else { return Ok(BTreeMap::new()) };
        let failed = |it: XlsxError| unreadable(name, &format!("sheet `{sheet}`: {it}"));
        let regions = book.merge_cells_by_sheet_name(sheet).map_err(failed)?;
        let mut columns: BTreeMap<u32, (u64, u64, CellPosition)> = BTreeMap::new();
        for region in regions {
            let ((first, column), (last, _)) = (region.start, region.end);
            let n_below = u64::from(last.saturating_sub(first));
            if n_below == 0 {
                continue;
            }
            let place = CellPosition::of((first + 1, column), name)?;
            let found = columns.entry(column).or_insert((0, 0, place));
            *found = (found.0 + 1, found.1 + n_below, found.2);
        }
        let groups = columns.into_iter().filter(|(_, it)| GROUPS_MIN <= it.0);
        Ok(groups.map(|(column, (_, n, first))| (column, (n, first))).collect())
    }

    fn is_1904(&self) -> bool {
        match self {
            Book::Xlsx(book) => book.has_1904_epoch(),
            Book::Xlsb(book) => book.has_1904_epoch(),
            Book::Xls(book) => book.has_1904_epoch(),
            Book::Ods(_) => false,
        }
    }
}

fn in_range(range: &Range<Data>, name: &str, each: &mut Each<'_>) -> anyhow::Result<()> {
    let (first_row, first_column) = range.start().unwrap_or_default();
    for (row, cells) in (first_row..).zip(range.rows()) {
        for (column, cell) in (first_column..).zip(cells) {
            let value = match cell {
                Data::Empty => continue,
                Data::Int(it) => DataRef::Int(*it),
                Data::Float(it) => DataRef::Float(*it),
                Data::String(it) => DataRef::SharedString(it),
                Data::Bool(it) => DataRef::Bool(*it),
                Data::DateTime(it) => DataRef::DateTime(*it),
                Data::DateTimeIso(it) => DataRef::DateTimeIso(it.clone()),
                Data::DurationIso(it) => DataRef::DurationIso(it.clone()),
                Data::Error(it) => DataRef::Error(it.clone()),
            };
            if !each(CellPosition::of((row, column), name)?, value, None)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The position of a cell; the first row and the first column are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CellPosition {
    row: u32,
    column: u32,
}

impl CellPosition {
    fn of((row, column): (u32, u32), name: &str) -> anyhow::Result<CellPosition> {
        if row < ROWS_MAX && column < COLUMNS_MAX {
            return Ok(CellPosition { row, column });
        }
        Err(unreadable(name, "a cell is outside the bounds of a sheet"))
    }
}

/// Returns the sheets of a workbook, in order. Fails when the file is damaged, encrypted, or exceeds the memory
/// limit.
pub(crate) fn sheets(
    input: &Input,
    kind: WorkbookKind,
    bytes_max: u64,
    cancelled: &AtomicBool,
) -> anyhow::Result<Vec<ForeignTable>> {
    guarded(input, || {
        let mut book = Book::open(input, kind, bytes_max, cancelled)?;
        let mut sheets = book.sheets();
        for sheet in sheets.iter_mut().filter(|it| it.left_out.is_none()) {
            check_cancelled(cancelled)?;
            let mut is_empty = true;
            book.cells(&sheet.name, &input.name, &mut |_, value, _| {
                is_empty = is_nothing(&value) || matches!(value, DataRef::Error(_));
                Ok(is_empty)
            })?;
            sheet.left_out = is_empty.then_some("empty");
        }
        Ok(sheets)
    })
}

fn is_nothing(value: &DataRef<'_>) -> bool {
    match value {
        DataRef::Empty => true,
        DataRef::String(text) => text.trim().is_empty(),
        DataRef::SharedString(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// Writes the rows of a sheet.
pub(crate) fn write(
    spool: &mut Spool<'_>,
    input: &Input,
    kind: WorkbookKind,
    sheet: &str,
    bytes_max: u64,
    watch: &Watch<'_>,
) -> anyhow::Result<()> {
    let cancelled = watch.cancelled;
    guarded(input, || {
        let mut book = Book::open(input, kind, bytes_max, cancelled)?;
        let place = SheetPlace { name: sheet.to_owned(), first_column: 0 };
        spool.written.sheet = Some(place);
        let long = book.long_durations(sheet, &input.name)?;
        let patterned = book.patterned(sheet, &input.name)?;
        let (is_1904, columns, row) = (book.is_1904(), Vec::new(), Vec::new());
        let mut rows = Rows { spool, is_1904, long, patterned, columns, row };
        let mut has_empty = false;
        book.cells(sheet, &input.name, &mut |place, value, format| {
            has_empty |= matches!(value, DataRef::Empty);
            // The empty result of a formula is missing; blanks are text.
            if !matches!(value, DataRef::Empty) && value.get_string() != Some("") {
                rows.add(place, value, format, input, cancelled)?;
            }
            Ok(true)
        })?;
        rows.end_row()?;
        if has_empty {
            for (column, found) in book.without_values(sheet, &input.name)? {
                rows.seen(column).without_values = Some(found);
            }
            // The cells below the first of a merged group are empty.
            for (column, found) in book.merged(sheet, &input.name)? {
                rows.seen(column).merged = Some(found);
            }
        }
        rows.finish(sheet);
        Ok(())
    })
}

/// The contents of a column's cells.
#[derive(Debug, Clone, Default)]
struct ColumnSeen {
    n_numbers: u64,
    n_durations: u64,
    n_percents: u64,
    /// The count of each currency, and its first cell.
    money: Vec<(&'static str, u64, CellPosition)>,
    /// How many have a format of zeros, the first, and its format.
    pattern: Option<(u64, CellPosition, String)>,
    /// Formulas without a value: how many, and the first.
    without_values: Option<(u64, CellPosition)>,
    /// Cells that are merged with the one above: how many, and the first.
    merged: Option<(u64, CellPosition)>,
    n_errors: u64,
    first_error: Option<CellPosition>,
    /// The names of the errors.
    errors: Vec<String>,
}

struct Rows<'a, 'b> {
    spool: &'a mut Spool<'b>,
    is_1904: bool,
    /// Columns of durations, which would otherwise be times of day.
    long: HashSet<u32>,
    /// Columns of numbers that become text as shown.
    patterned: HashSet<u32>,
    columns: Vec<ColumnSeen>,
    /// The cells of the current row, by column.
    row: Vec<(u32, Cell)>,
}

enum Cell {
    Text(String),
    Value(String),
    Nothing,
}

impl Rows<'_, '_> {
    fn add(
        &mut self,
        place: CellPosition,
        value: DataRef<'_>,
        format: Option<&str>,
        input: &Input,
        cancelled: &AtomicBool,
    ) -> anyhow::Result<()> {
        let row = u64::from(place.row);
        if row < self.spool.n_rows() {
            return Err(unreadable(&input.name, "its rows are out of order"));
        }
        if self.spool.n_rows() < row {
            self.end_row()?;
            check_cancelled(cancelled)?;
        }
        while self.spool.n_rows() < row {
            self.spool.end_row()?;
        }
        let cell = self.cell(place, value, format);
        self.row.push((place.column, cell));
        Ok(())
    }

    fn cell(&mut self, place: CellPosition, value: DataRef<'_>, format: Option<&str>) -> Cell {
        let is_1904 = self.is_1904;
        let is_patterned = self.patterned.contains(&place.column);
        let is_long = self.long.contains(&place.column);
        let seen = self.seen(place.column);
        match value {
            DataRef::Empty => Cell::Nothing,
            DataRef::Int(_) | DataRef::Float(_) => {
                seen.add_number(place, format);
                let shown = || format.and_then(Pattern::of)?.show(&value);
                match is_patterned.then(shown).flatten() {
                    Some(shown) => Cell::Text(shown),
                    None => plain(&value).map_or(Cell::Nothing, Cell::Value),
                }
            }
            DataRef::String(text) => Cell::Text(text),
            DataRef::SharedString(text) => Cell::Text(text.to_owned()),
            DataRef::Bool(value) => Cell::Value(value.to_string()),
            DataRef::DateTime(value) if value.is_duration() => {
                let Some(ms) = milliseconds(value.as_f64()) else {
                    return number(value.as_f64()).map_or(Cell::Nothing, Cell::Value);
                };
                seen.n_durations += 1;
                Cell::Value(seconds(ms))
            }
            DataRef::DateTime(value) => moment(value, is_1904)
                .or_else(|| number(value.as_f64()))
                .map_or(Cell::Nothing, Cell::Value),
            DataRef::DateTimeIso(text) => Cell::Value(iso_moment(&text)),
            DataRef::DurationIso(text) => match iso_duration(&text) {
                Some(ms) if is_long || DAY_MS <= ms => {
                    seen.n_durations += 1;
                    Cell::Value(seconds(ms))
                }
                Some(ms) => Cell::Value(clock(ms)),
                None => Cell::Text(text),
            },
            DataRef::Error(error) => {
                seen.add_error(place, &error);
                Cell::Nothing
            }
        }
    }

    fn seen(&mut self, column: u32) -> &mut ColumnSeen {
        let at = column as usize;
        if self.columns.len() <= at {
            self.columns.resize_with(at + 1, ColumnSeen::default);
        }
        &mut self.columns[at]
    }

    fn end_row(&mut self) -> anyhow::Result<()> {
        if self.row.is_empty() {
            return Ok(());
        }
        // Some programs write the cells of a row out of order, or repeatedly.
        self.row.sort_by_key(|it| it.0);
        self.row.reverse();
        self.row.dedup_by_key(|it| it.0);
        while let Some((column, cell)) = self.row.pop() {
            let column = column as usize;
            match cell {
                Cell::Text(text) => self.spool.text(column, &text),
                Cell::Value(text) => self.spool.value(column, &text),
                Cell::Nothing => self.spool.nothing(column),
            }
        }
        self.spool.end_row()
    }

    /// Records the notes on the columns.
    fn finish(self, sheet: &str) {
        for (at, seen) in self.columns.iter().enumerate() {
            let spool = &mut *self.spool;
            if let (Some(place), n) = (seen.first_error, seen.n_errors) {
                let cell = cell_name(sheet, u64::from(place.row), at as u64);
                let names = all_names(&seen.errors);
                spool.note(
                    at,
                    match n {
                        1 => format!("1 error cell ({names}) is null, {cell}"),
                        n => format!("{n} error cells ({names}) are null, the first is {cell}"),
                    },
                );
            }
            let cell = |place: CellPosition| cell_name(sheet, u64::from(place.row), at as u64);
            if let Some((n, first)) = seen.without_values {
                let what = match n {
                    1 => format!("1 formula has no stored value and is null, {}", cell(first)),
                    n => format!(
                        "{n} formulas have no stored value and are null, the first is {}",
                        cell(first)
                    ),
                };
                let how = "open the workbook in a spreadsheet program, save it, and read it again";
                spool.note(at, format!("{what}; {how}"));
            }
            if let Some((n, first)) = seen.merged {
                let first = cell(first);
                spool.note(
                    at,
                    format!(
                        "{n} cells are merged with the one above and null, the first is {first}"
                    ),
                );
            }
            if let Some((n, first, pattern)) = &seen.pattern {
                if u32::try_from(at).is_ok_and(|it| self.patterned.contains(&it)) {
                    spool.note(at, format!("numbers that the workbook shows as `{pattern}`"));
                } else if *n < seen.n_numbers {
                    let (all, cell) = (seen.n_numbers, cell(*first));
                    let are = if *n == 1 { "is" } else { "are" };
                    spool.note(at, format!("{n} of {all} numbers {are} shown in the format `{pattern}`, the first is {cell}; all are kept as numbers"));
                }
            }
            if 0 < seen.n_durations && seen.n_numbers == 0 {
                spool.note(at, "durations, in seconds".to_owned());
            }
            if seen.n_numbers == 0 {
                continue;
            }
            if seen.n_percents == seen.n_numbers {
                spool.note(at, "shown as percentages in the workbook: 0.25 is 25 %".to_owned());
                continue;
            }
            match &seen.money[..] {
                [] => {}
                [(currency, n, _)] if *n == seen.n_numbers => {
                    spool.mean(at, Meaning::Money { currency: Some((*currency).to_owned()) });
                }
                money => {
                    let n_money: u64 = money.iter().map(|it| it.1).sum();
                    let counted = |it: &(&str, u64, CellPosition)| {
                        format!("{} in {} from {}", it.1, it.0, cell(it.2))
                    };
                    let mut parts: Vec<String> = money.iter().map(counted).collect();
                    if n_money < seen.n_numbers {
                        parts.push(format!("{} in no currency", seen.n_numbers - n_money));
                    }
                    let what =
                        if 1 < money.len() { "several currencies" } else { "a currency for some" };
                    spool.note(at, format!("the workbook shows {what}: {}", parts.join(", ")));
                }
            }
        }
    }
}

impl ColumnSeen {
    fn add_number(&mut self, place: CellPosition, format: Option<&str>) {
        self.n_numbers += 1;
        let Some(format) = format else { return };
        // Quoted text is shown literally.
        let is_percent = format.split('"').step_by(2).any(|it| it.contains('%'));
        self.n_percents += u64::from(is_percent);
        if let Some(currency) = currency(format) {
            match self.money.iter_mut().find(|it| it.0 == currency) {
                Some(money) => money.1 += 1,
                None => self.money.push((currency, 1, place)),
            }
        }
        if Pattern::of(format).is_some() {
            self.pattern.get_or_insert_with(|| (0, place, format.to_owned())).0 += 1;
        }
    }

    fn add_error(&mut self, place: CellPosition, error: &CellErrorType) {
        /// There are hardly more kinds.
        const ERRORS_MAX: usize = 8;
        self.n_errors += 1;
        self.first_error.get_or_insert(place);
        let name = error.to_string();
        if self.errors.len() < ERRORS_MAX && !self.errors.contains(&name) {
            self.errors.push(name);
        }
    }
}

/// Returns a number without its format.
fn plain(value: &DataRef<'_>) -> Option<String> {
    match value {
        DataRef::Int(value) => Some(value.to_string()),
        DataRef::Float(value) => number(*value),
        _ => None,
    }
}

/// Returns the currency code of a number format.
fn currency(format: &str) -> Option<&'static str> {
    const SIGNS: [(&str, &str); 6] =
        [("€", "EUR"), ("£", "GBP"), ("₹", "INR"), ("₽", "RUB"), ("₩", "KRW"), ("₺", "TRY")];
    const CODES: [&str; 10] =
        ["USD", "EUR", "GBP", "JPY", "CHF", "CNY", "INR", "CAD", "AUD", "SEK"];
    let code = CODES.into_iter().find(|it| format.contains(it));
    let sign = || SIGNS.into_iter().find(|it| format.contains(it.0)).map(|it| it.1);
    // `[$-409]` names a language, and a bare `$` usually means US dollars; other currencies have a
    // code.
    let is_dollar = || {
        format.contains("[$$-409]")
            || format.contains("\"$\"")
            || format.contains("\\$")
            || format.starts_with('$')
    };
    code.or_else(sign).or_else(|| is_dollar().then_some("USD"))
}

const DAY_MS: i64 = 86_400_000;

/// Converts days to milliseconds, the precision kept for timestamps.
#[expect(clippy::cast_possible_truncation, reason = "it is bounded before")]
fn milliseconds(days: f64) -> Option<i64> {
    /// The day after 9999-12-31.
    const DAYS_MAX: f64 = 2_958_466.0;
    let is_held = days.is_finite() && days.abs() < DAYS_MAX;
    is_held.then(|| (days * 86_400_000.0).round() as i64)
}

/// Returns a date, a time of day, or both, in ISO 8601.
fn moment(value: ExcelDateTime, is_1904: bool) -> Option<String> {
    let ms = milliseconds(value.as_f64()).filter(|it| 0 <= *it)?;
    let (days, rest) = (ms / DAY_MS, ms % DAY_MS);
    let clock = clock(rest);
    if days == 0 {
        return Some(clock);
    }
    let (year, month, day) = match (is_1904, days) {
        (true, _) => (1904, 1, 1),
        (false, ..60) => (1899, 12, 31),
        (false, _) => (1899, 12, 30),
    };
    let day = if (is_1904, days) == (false, 60) {
        // Lotus 1-2-3 treated 1900 as a leap year, and every spreadsheet has done so since.
        "1900-02-29".to_owned()
    } else {
        jiff::civil::date(year, month, day).checked_add(days.days()).ok()?.to_string()
    };
    Some(if rest == 0 { day } else { format!("{day}T{clock}") })
}

fn clock(ms: i64) -> String {
    let (seconds, ms) = (ms / 1_000, ms % 1_000);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let fraction = if ms == 0 { String::new() } else { format!(".{ms:03}") };
    format!("{hours:02}:{minutes:02}:{seconds:02}{fraction}")
}

/// Returns a duration in seconds.
fn seconds(ms: i64) -> String {
    let sign = if ms < 0 { "-" } else { "" };
    let (seconds, ms) = (ms.abs() / 1_000, ms.abs() % 1_000);
    if ms == 0 {
        return format!("{sign}{seconds}");
    }
    format!("{sign}{seconds}.{ms:03}").trim_end_matches('0').to_owned()
}

/// Returns an ISO 8601 timestamp without trailing zeros.
fn iso_moment(text: &str) -> String {
    let text = match text.split_once('.') {
        Some((before, fraction)) => {
            let fraction = fraction.trim_end_matches('0');
            if fraction.is_empty() { before.to_owned() } else { format!("{before}.{fraction}") }
        }
        None => text.to_owned(),
    };
    text.strip_suffix("T00:00:00").unwrap_or(&text).to_owned()
}

/// Parses a duration such as `PT10H30M00.5S`, in milliseconds.
fn iso_duration(text: &str) -> Option<i64> {
    let (hours, rest) = text.strip_prefix("PT")?.split_once('H')?;
    let (minutes, rest) = rest.split_once('M')?;
    let seconds = rest.strip_suffix('S')?.replace(',', ".");
    let number = |it: &str| it.parse::<u32>().ok();
    let hours = f64::from(number(hours)?) + f64::from(number(minutes)?) / 60.0;
    milliseconds((hours + seconds.parse::<f64>().ok()? / 3_600.0) / 24.0)
}

/// Checks the unpacked size of a workbook's parts. Returns whether it is a binary workbook.
fn check_parts(
    source: WorkbookReader,
    name: &str,
    bytes_max: u64,
    cancelled: &AtomicBool,
) -> anyhow::Result<bool> {
    let failed = |it: &dyn std::fmt::Display| unreadable(name, &it.to_string());
    let too_large = || {
        let message = format!("cannot read `{name}`: unpacked it has more than {bytes_max} bytes");
        refuse(message, "raise the limit with `--max-bytes`")
    };
    let mut zip = ZipArchive::new(source).map_err(|it| failed(&it))?;
    let mut n_left = bytes_max;
    let mut has_binary = false;
    for at in 0..zip.len() {
        let mut part = zip.by_index(at).map_err(|it| failed(&it))?;
        let part_name = part.name().map_err(|it| failed(&it))?.to_lowercase();
        has_binary |= part_name.ends_with("workbook.bin");
        // Pictures are not read.
        if ![".xml", ".rels", ".bin"].iter().any(|it| part_name.ends_with(it)) {
            continue;
        }
        if n_left < part.size() {
            return Err(too_large());
        }
        // The declared size may be wrong.
        let mut buffer = vec![0; 64 * 1024];
        loop {
            check_cancelled(cancelled)?;
            let n = match part.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(failed(&error)),
            };
            n_left = n_left.checked_sub(n).ok_or_else(too_large)?;
        }
    }
    Ok(has_binary)
}

/// Returns the error for a sheet that exceeds the memory limit.
fn too_many_cells(name: &str) -> anyhow::Error {
    let message = format!(
        "cannot read `{name}`: a sheet spans more than {SHEET_CELLS_MAX} cells, empty ones included"
    );
    refuse(message, "save it as .xlsx or CSV")
}

fn unreadable(name: &str, found: &str) -> anyhow::Error {
    if found.to_lowercase().contains("password") {
        let message = format!("cannot read `{name}`: it is encrypted");
        return refuse(message, "save it without a password");
    }
    let message = format!("cannot read `{name}` as a workbook: {found}");
    refuse(message, "open it in a spreadsheet program and save it again, or save the sheet as CSV")
}

fn guarded<T: Send>(
    input: &Input,
    work: impl FnOnce() -> anyhow::Result<T> + Send,
) -> anyhow::Result<T> {
    let done = std::thread::scope(|scope| anyhow::Ok(guard::spawn(scope, work)?.join()))?;
    done.unwrap_or_else(|_| Err(unreadable(&input.name, "its data is damaged")))
}

#[cfg(test)]
mod tests;
