//! What is known about rows in addition to the text written from them.

use std::ops::Range;

use csv_agent_types::catalog::{Column, DType, Meaning, SheetPlace, SourceFormat};

use crate::cell_names::cell_name;
use crate::requested_types::Wants;
use crate::type_evidence::TypeEvidence;
use crate::type_inference::ColumnType;

/// What is known about rows in addition to the text written from them.
#[derive(Debug, Clone, Default)]
pub struct SpoolNotes {
    /// The format of the source.
    pub format: SourceFormat,
    /// The position of the rows, if the source is a sheet.
    pub sheet: Option<SheetPlace>,
    /// The first row contains the names, and every other one is a row of the table.
    pub is_table: bool,
    /// One sentence for each thing that a user might question.
    pub reasons: Vec<String>,
    pub(crate) columns: Vec<KnownColumn>,
}

impl SpoolNotes {
    /// Returns the columns that are text because cells in `rows` are text, although every value looks
    /// like another type.
    fn texts_in<'a>(&'a self, rows: &'a Range<u64>) -> impl Iterator<Item = usize> + 'a {
        let columns = self.columns.iter().enumerate();
        columns.filter(|it| it.1.has_text_in(rows)).map(|it| it.0)
    }

    /// Makes columns with text cells text, unless the user requests another type.
    pub(crate) fn decide(&self, readings: &mut [ColumnType], wants: &Wants, rows: &Range<u64>) {
        for at in self.texts_in(rows) {
            let Some(reading) = readings.get_mut(at) else { continue };
            if wants.of_column(at).is_some() || reading.dtype() == DType::String {
                continue;
            }
            let dtype = reading.dtype().name();
            let note = format!(
                "stored as text, so kept as text; `--dtype 'COLUMN={dtype}'` reads it as {dtype}"
            );
            *reading = ColumnType { note: Some(note), ..ColumnType::default() };
        }
    }

    /// Adds to the evidence that these columns are text.
    pub(crate) fn testify(&self, evidence: &mut [TypeEvidence], wants: &Wants, rows: &Range<u64>) {
        for at in self.texts_in(rows).filter(|at| wants.of_column(*at).is_none()) {
            evidence.get_mut(at).into_iter().for_each(|it| it.add(TypeEvidence::TEXT));
        }
    }

    /// Names the source position of a record of the text; the first record is 0.
    pub(crate) fn place(&self, column: usize, record: u64) -> String {
        match &self.sheet {
            Some(sheet) => cell_name(&sheet.name, record, sheet.first_column + column as u64),
            // The names are the first record.
            None if self.is_table => {
                format!("{} {record}", self.format.place().unwrap_or("row"))
            }
            None => format!("line {}", record + 1),
        }
    }

    /// Returns how many columns of the source precede the first.
    pub(crate) fn first_column(&self) -> u64 {
        self.sheet.as_ref().map_or(0, |it| it.first_column)
    }

    /// Returns what is known about a range of columns.
    pub(crate) fn of_columns(&self, columns: Range<usize>) -> SpoolNotes {
        let mut written = self.clone();
        written.columns.truncate(columns.end);
        written.columns.drain(..columns.start.min(written.columns.len()));
        if let Some(sheet) = &mut written.sheet {
            sheet.first_column += columns.start as u64;
        }
        written
    }

    /// Adds these notes to columns.
    pub(crate) fn describe(&self, columns: &mut [Column]) {
        for (column, known) in columns.iter_mut().zip(&self.columns) {
            let notes: Vec<String> =
                column.note.take().into_iter().chain(known.notes.clone()).collect();
            column.note = (!notes.is_empty()).then(|| notes.join("; "));
            if matches!(column.dtype, DType::Int64 | DType::Float64) {
                column.meaning = known.meaning.clone().or(column.meaning.take());
            }
        }
    }

    pub(crate) fn column(&mut self, at: usize) -> &mut KnownColumn {
        if self.columns.len() <= at {
            self.columns.resize_with(at + 1, KnownColumn::default);
        }
        &mut self.columns[at]
    }
}

/// What is known about a column.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownColumn {
    /// Rows whose cells are text that looks like a number, a date or a truth value: first and last, in
    /// order.
    pub(crate) texts: Vec<(u64, u64)>,
    pub(crate) notes: Vec<String>,
    pub(crate) meaning: Option<Meaning>,
}

impl KnownColumn {
    pub(crate) fn add_text(&mut self, row: u64) {
        match self.texts.last_mut() {
            Some(run) if run.1 + 1 == row => run.1 = row,
            _ => self.texts.push((row, row)),
        }
    }

    pub(crate) fn has_text_in(&self, rows: &Range<u64>) -> bool {
        let at = self.texts.partition_point(|it| it.1 < rows.start);
        self.texts.get(at).is_some_and(|it| it.0 < rows.end)
    }
}
