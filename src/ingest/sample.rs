//! What the windows over a file show about its columns before it is read.

use std::collections::HashSet;

use memchr::memchr2;

use super::non_rows::{AsideRule, NonRows};
use super::outlier_values::Usual;
use super::records::{Block, Cell, Tokeniser};
use super::sniff::Windows;
use super::syntax::Syntax;
use super::type_evidence::{Nulls, TypeEvidence, classify};
use super::type_inference::is_typed;
use crate::records::swallowed::Class;

/// The evidence of the windows.
pub(crate) struct Sample {
    /// From all windows: a guess, since a window may begin within quotes.
    pub all: Vec<TypeEvidence>,
    /// From the head alone, which is certain.
    pub head: Vec<TypeEvidence>,
    /// Whether any row with more cells than columns was seen.
    pub has_surplus: bool,
    /// Bytes of an average row.
    pub row_bytes: usize,
}

impl Sample {
    /// Examines the head after `start`, and the other windows.
    pub(crate) fn of(
        windows: &Windows,
        syntax: Syntax,
        width: usize,
        start: usize,
        nulls: &Nulls,
        rule: &AsideRule,
    ) -> Self {
        let mut sample = Sample {
            all: vec![TypeEvidence::default(); width],
            head: vec![TypeEvidence::default(); width],
            has_surplus: false,
            row_bytes: 1,
        };
        if width == 0 {
            return sample;
        }
        let body = &windows.head(syntax)[start..];
        let n_rows = look(body, syntax, &mut sample.head, &mut sample.has_surplus, nulls, rule);
        sample.row_bytes = (body.len() / n_rows.max(1)).max(1);
        sample.all.copy_from_slice(&sample.head);
        for window in windows.rows_of_others(syntax, width) {
            look(window, syntax, &mut sample.all, &mut sample.has_surplus, nulls, rule);
        }
        sample
    }

    /// Returns whether a column has no value.
    pub(crate) fn is_empty(&self, column: usize) -> bool {
        self.all.get(column).is_none_or(|it| *it == TypeEvidence::default())
    }

    /// Returns whether any column has a type other than text.
    pub(crate) fn is_typed(&self) -> bool {
        self.all.iter().any(|it| is_typed(*it))
    }
}

/// The first rows of a table.
pub(crate) struct First<'a> {
    body: &'a [u8],
    block: Block,
    width: usize,
}

impl<'a> First<'a> {
    /// Takes what `body` begins with.
    pub(crate) fn of(body: &'a [u8], syntax: Syntax, width: usize) -> Self {
        /// Cells that are compared; more would not change the picture.
        const CELLS_MAX: usize = 200_000;
        const ROWS_MAX: usize = 2_000;
        let mut block = Block::default();
        let n_rows = (CELLS_MAX / width.max(1)).clamp(1, ROWS_MAX);
        Tokeniser::new(body, syntax).block(&mut block, width, n_rows);
        First { body, block, width }
    }

    fn values(&self, column: usize) -> impl Iterator<Item = &'a [u8]> {
        let cells = self.block.cells.iter().skip(column).step_by(self.width);
        cells.map(|it| it.raw(self.body))
    }

    /// Returns for each column whether at most half of its values are distinct.
    pub(crate) fn repeats(&self) -> Vec<bool> {
        let is_repeated = |column: usize| {
            let distinct: HashSet<&[u8]> = self.values(column).collect();
            distinct.len() * 2 <= self.block.n_rows()
        };
        (0..if self.block.n_rows() == 0 { 0 } else { self.width }).map(is_repeated).collect()
    }

    /// Returns what each column holds, by the rows of one line.
    pub(crate) fn classes(&self, quote: Option<u8>) -> Vec<Class> {
        let mut classes = vec![Class::Unknown; self.width];
        let rows = self.block.cells.chunks_exact(self.width.max(1)).zip(&self.block.records);
        let is_line = |it: &Cell| memchr2(b'\n', b'\r', it.raw(self.body)).is_none();
        for (cells, _) in rows.filter(|(_, record)| is_line(record)) {
            for (class, cell) in classes.iter_mut().zip(cells) {
                class.add(cell.raw(self.body), quote);
            }
        }
        classes
    }

    /// Returns for each column that is text by its evidence what nearly all of its values are.
    pub(crate) fn usual(&self, evidence: &[TypeEvidence], nulls: &Nulls) -> Vec<Option<Usual>> {
        let usual = |(column, seen): (usize, &TypeEvidence)| {
            seen.is_settled().then(|| Usual::among(self.values(column), nulls))?
        };
        evidence.iter().enumerate().map(usual).collect()
    }
}

fn look(
    window: &[u8],
    syntax: Syntax,
    evidence: &mut [TypeEvidence],
    has_surplus: &mut bool,
    nulls: &Nulls,
    rule: &AsideRule,
) -> usize {
    let width = evidence.len();
    let mut tokeniser = Tokeniser::new(window, syntax);
    let mut block = Block::default();
    tokeniser.block(&mut block, width, usize::MAX);
    rule.set_aside(window, &mut block, width, &mut NonRows::default());
    for row in block.cells.chunks_exact(width) {
        for (seen, cell) in evidence.iter_mut().zip(row) {
            if !seen.is_settled() {
                seen.add(classify(cell.raw(window), nulls));
            }
        }
    }
    *has_surplus |= !block.surplus.is_empty();
    block.n_rows()
}
