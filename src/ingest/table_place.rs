//! The position of a table in a file with several.

use csv_agent_types::catalog::{ColumnSpan, Dataset};

use crate::IngestOptions;

/// The position of a table in a file with several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TablePlace {
    /// Lines before it, which belong to other tables.
    n_lines: Option<u64>,
    /// Its columns, if other tables are next to it.
    columns: Option<ColumnSpan>,
}

impl TablePlace {
    /// Returns the positions of the tables next to and below the table here, which was read as `dataset`.
    pub fn others(self, dataset: &Dataset) -> Vec<TablePlace> {
        let columns = |it: &ColumnSpan| TablePlace { columns: Some(*it), ..self };
        let beside = dataset.side_by_side.iter().skip(1).map(columns);
        let columns = dataset.side_by_side.first().copied().or(self.columns);
        let n_lines = dataset.set_aside.next_table.checked_sub(1);
        let below = n_lines.map(|it| TablePlace { n_lines: Some(it), columns });
        beside.chain(below).collect()
    }

    /// Returns the options that read the table here.
    #[must_use]
    pub fn read(self, options: &IngestOptions) -> IngestOptions {
        IngestOptions {
            skip_lines: self.n_lines.or(options.skip_lines),
            columns: self.columns.or(options.columns),
            is_further: self.n_lines.is_some(),
            ..options.clone()
        }
    }
}
