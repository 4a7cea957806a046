//! Where rows of a result come from: the file of the user, and the line there.

use std::collections::HashMap;
use std::path::Path;

use csv_agent_ingest::{source_cells, source_file, source_lines};
use csv_agent_query::RowOrigin;
use csv_agent_render::report::checks::PlacedRow;
use csv_agent_session::Session;
use csv_agent_types::catalog::{Dataset, SourceFile};
use csv_agent_types::frame::Frame;

use crate::ingest::{TurnInputs, ingest_for_turn, named_argument, options_of};
use crate::options::GlobalOptions;

/// The places of rows, looked up in the datasets of a session.
pub(crate) struct RowPlaces<'a> {
    session: &'a mut Session,
    options: &'a GlobalOptions,
    /// Files of joined datasets, by their paths: a dataset of each alone, if there can be one.
    parts: HashMap<String, Option<Dataset>>,
}

impl<'a> RowPlaces<'a> {
    /// Makes them for a temporary session.
    pub(crate) fn new(session: &'a mut Session, options: &'a GlobalOptions) -> RowPlaces<'a> {
        RowPlaces { session, options, parts: HashMap::new() }
    }

    /// Returns the rows of a result with their places, and without the column that has them.
    pub(crate) fn located(
        &mut self,
        mut found: Frame,
        origin: Option<&RowOrigin>,
    ) -> anyhow::Result<Vec<PlacedRow>> {
        let mut places: Vec<Option<u64>> = vec![None; found.rows.len()];
        if origin.is_some() {
            found.columns.pop();
            places = found.rows.iter_mut().map(|it| it.pop()?.as_u64()).collect();
        }
        let dataset = origin.and_then(|it| self.session.catalog().get(&it.table)).cloned();
        let mut rows = Vec::new();
        for (values, place) in found.rows.into_iter().zip(places) {
            let mut row = match (&dataset, place) {
                (Some(dataset), Some(place)) => self.row(dataset, place)?,
                _ => PlacedRow::default(),
            };
            row.dataset = origin.filter(|_| row.file.is_some()).map(|it| it.table.clone());
            row.values = found.columns.iter().cloned().zip(values).collect();
            rows.push(row);
        }
        Ok(rows)
    }

    /// Returns the place of a row of a dataset, which may be joined from files.
    fn row(&mut self, dataset: &Dataset, place: u64) -> anyhow::Result<PlacedRow> {
        if dataset.files.is_empty() {
            return self.row_of_file(dataset, place);
        }
        let mut first = 0;
        let part = dataset.files.iter().find(|it| {
            let is_there = place < first + it.row_count;
            first += if is_there { 0 } else { it.row_count };
            is_there
        });
        let Some(part) = part else { return Ok(PlacedRow::default()) };
        match self.part(dataset, part) {
            Some(alone) => self.row_of_file(&alone, place - first),
            None => Ok(PlacedRow { file: Some(part.source.clone()), ..PlacedRow::default() }),
        }
    }

    fn row_of_file(&self, dataset: &Dataset, place: u64) -> anyhow::Result<PlacedRow> {
        let lines = source_lines(self.session.dir(), dataset, &[place])?.unwrap_or_default();
        Ok(PlacedRow {
            file: Some(source_file(dataset)),
            cell: source_cells(dataset, None, &lines).pop(),
            line: lines.first().copied(),
            ..PlacedRow::default()
        })
    }

    /// Reads a file of a joined dataset again, since the lines of files are lost when they are joined.
    fn part(&mut self, whole: &Dataset, part: &SourceFile) -> Option<Dataset> {
        if let Some(known) = self.parts.get(&part.source) {
            return known.clone();
        }
        let found = self.alone(whole, part);
        self.parts.insert(part.source.clone(), found.clone());
        found
    }

    fn alone(&mut self, whole: &Dataset, part: &SourceFile) -> Option<Dataset> {
        let taken: Vec<String> = self.session.catalog().names().map(str::to_owned).collect();
        let mut names = (1..).map(|number| format!("part_{number}"));
        let name = names.find(|it| !taken.contains(it))?;
        let argument = named_argument(&name, Path::new(&part.source));
        if whole.table_number.is_some() {
            return None;
        }
        let read = options_of(whole).ok();
        let how = TurnInputs { needs_all: true, read: read.as_ref(), ..TurnInputs::default() };
        // The whole had all warnings.
        let read = ingest_for_turn(self.session, &[argument], how, self.options);
        self.session.take_warnings();
        read.ok()?;
        let alone = self.session.catalog().get(&name)?;
        // Alone, a file may be read in another way.
        let is_same = alone.sha256 == part.sha256 && alone.row_count == part.row_count;
        is_same.then(|| alone.clone())
    }
}
