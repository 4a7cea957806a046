//! From one slice of complete records to columns, evidence and repairs.
//!
//! Pure. Slices are parsed concurrently, so lines are counted from the beginning of the slice.

use csv_agent_types::catalog::DType;

use super::amount;
use super::builder::{ColumnBuilder, Guess};
use super::local_dates::Local;
use super::non_rows::{AsideRule, NonRows};
use super::null_markers::Markers;
use super::number::{self, NumberForm};
use super::outlier_values::OutlierValues;
use super::parse;
use super::records::{Block, Cell, Tokeniser};
use super::repairs::{Repair, has_room};
use super::requested_types::RequestedType;
use super::syntax::Syntax;
use super::totals::Sum;
use super::type_evidence::{Nulls, TypeEvidence};
use super::type_inference::{Hints, ValueForm};
use crate::records::swallowed::LineRule;

/// How to read every slice of a pass.
pub(crate) struct SlicePlan {
    /// How records are split into cells.
    pub syntax: Syntax,
    /// The guessed column types, without surplus cells.
    pub guesses: Vec<Guess>,
    /// Whether there is a column for surplus cells.
    pub has_extra: bool,
    /// The markers of missing values.
    pub nulls: Nulls,
    /// The rule for non-rows.
    pub rule: AsideRule,
    /// Bytes of an average row.
    pub row_bytes: usize,
    /// The rule that distinguishes the lines of a quoted cell from rows.
    pub lines: LineRule,
    /// Records with only delimiters are rows.
    pub keeps_hollow: bool,
    /// Whether column sums are requested.
    pub wants_sums: bool,
}

/// The result of one slice.
#[derive(Default)]
pub(crate) struct Parsed {
    /// Rows, built or not.
    pub n_rows: u64,
    /// Lines, including blank ones and those within quotes.
    pub n_lines: u64,
    /// The evidence of each column of the plan.
    pub evidence: Vec<TypeEvidence>,
    /// The sum of each column of the plan, if requested.
    pub sums: Vec<Sum>,
    /// The columns, with the one for surplus cells last; `None` once the guess has failed.
    pub columns: Option<Vec<ColumnBuilder>>,
    /// Padded rows.
    pub n_short: u64,
    /// Rows with surplus cells.
    pub n_surplus: u64,
    /// The first repairs; lines are counted from the beginning of the slice.
    pub repairs: Vec<Repair>,
    /// The non-rows, with the same line numbering.
    pub asides: NonRows,
    /// Rows of the slice that are more than one line after the previous row, and by how many extra
    /// lines; for row 0, its distance from the first line.
    pub skips: Vec<(u64, u64)>,
    /// Lines between the beginning of the last row and the end of the slice, less one.
    pub n_lines_behind: u64,
    /// Whether any cell was quoted.
    pub any_quoted: bool,
    /// Blank lines, which are not rows.
    pub n_blank: u64,
    /// Records with only delimiters, which are not rows either.
    pub n_hollow: u64,
    /// Unclosed quotes at the start of a cell.
    pub n_unclosed: u64,
    /// The line of the first such quote, in the same numbering.
    pub unclosed_line: Option<u32>,
    /// Records that a stray quote had joined and that were read line by line.
    pub n_split: u64,
    /// Of these, the ones that would be one row each if the file had many of them.
    pub n_likely: u64,
    /// Quoted cells that remained one cell although their lines could be rows.
    pub n_doubtful: u64,
    /// The line of the first such cell, in the same numbering.
    pub doubtful_line: Option<u32>,
    /// For each column of the plan, the values that are not of its usual kind, in the same numbering.
    pub odds: Vec<OutlierValues>,
    /// For each column of the plan, its markers of missing values.
    pub markers: Vec<Markers>,
    /// The first value that does not fit a requested type.
    pub misfit: Option<Misfit>,
}

/// A value that does not fit the type requested for its column.
pub(crate) struct Misfit {
    /// Index of the column.
    pub column: usize,
    pub wanted: RequestedType,
    /// How the other values are written.
    pub form: ValueForm,
    pub value: String,
    /// Its line, counted from the beginning of the slice.
    pub line: u64,
}

impl Misfit {
    /// Returns the flag that may make the value fit the type, if there is one.
    pub(crate) fn way_out(&self, hints: Hints) -> Option<&'static str> {
        const DECIMAL: &str =
            "name the decimal mark of its numbers with `--decimal ,` or `--decimal .`";
        let text = self.value.trim().as_bytes();
        // Three digits after a mark may be thousands.
        let is_fraction = || {
            let digits = self.value.trim().rsplit_once('.').map_or(0, |it| it.1.len());
            match self.form {
                ValueForm::Number(form) if form != NumberForm::PLAIN => {
                    number::float(text, form).is_some()
                }
                _ => digits != 3 && parse::int(text).is_none() && parse::float(text).is_some(),
            }
        };
        let has_decimal = hints.decimal.is_some();
        let is_negative =
            || amount::evidence(text).is_some_and(|it| it.has(TypeEvidence::ACCOUNTING));
        match self.wanted {
            RequestedType::Decimal | RequestedType::Type(DType::Int64 | DType::Float64)
                if is_negative() =>
            {
                Some("use `money`, which reads `(5)`, `5-` and `−5` as negative numbers")
            }
            RequestedType::Type(DType::Int64) if is_fraction() => {
                Some("use `float` or `decimal`: not all of its values are whole numbers")
            }
            RequestedType::Type(DType::Date | DType::Timestamp) => Local::scan(text)
                .filter(|_| hints.date_order.is_none())
                .map(|_| "name the order of its days with `--date-order dmy`, or `mdy` or `ymd`"),
            RequestedType::Type(DType::Int64 | DType::Float64) if !has_decimal => {
                number::evidence(text).map(|_| DECIMAL)
            }
            RequestedType::Decimal if !has_decimal && parse::float(text).is_none() => {
                number::evidence(text).map(|_| DECIMAL)
            }
            _ => None,
        }
    }
}

/// Reads all records of `slice`. With `is_broken`, nothing is built and values only yield evidence.
pub(crate) fn read(slice: &[u8], plan: &SlicePlan, is_broken: bool) -> Parsed {
    /// Cells per block: their positions stay in the nearest cache while each column is built.
    const BLOCK_CELLS: usize = 8 * 1024;
    let width = plan.guesses.len();
    let n_rows = slice.len() / plan.row_bytes + 1;
    let builder = |guess: &Guess| {
        if is_broken {
            ColumnBuilder::looking(guess.clone())
        } else {
            ColumnBuilder::new(guess.clone(), n_rows + n_rows / 8)
        }
    };
    let mut columns: Vec<_> = plan.guesses.iter().map(builder).collect();
    let mut extra = Extra::new(plan.has_extra && !is_broken);
    let mut parsed = Parsed::default();

    let mut tokeniser = Tokeniser::new(slice, plan.syntax).with_lines(&plan.lines);
    if plan.keeps_hollow {
        tokeniser.keep_hollow();
    }
    let mut block = Block::default();
    let mut line_before = None;
    loop {
        tokeniser.block(&mut block, width, (BLOCK_CELLS / width).max(1));
        if block.n_rows() == 0 {
            break;
        }
        plan.rule.set_aside(slice, &mut block, width, &mut parsed.asides);
        if block.n_rows() == 0 {
            continue;
        }
        for (at, column) in columns.iter_mut().enumerate() {
            let had_misfit = column.misfit().is_some();
            let cells = block.cells[at..].iter().step_by(width).copied();
            column.extend(slice, cells.clone(), &plan.nulls);
            let guess = &plan.guesses[at];
            let wanted = guess.wanted.filter(|_| guess.is_settled && !had_misfit);
            if let (Some(row), Some(wanted)) = (column.misfit(), wanted) {
                let row = row - usize::try_from(parsed.n_rows).unwrap_or_default();
                let line = u64::from(block.lines[row]);
                if parsed.misfit.as_ref().is_none_or(|it| line < it.line) {
                    let value = block.cells[row * width + at].text(slice);
                    let form = guess.form;
                    parsed.misfit = Some(Misfit { column: at, wanted, form, value, line });
                }
            }
        }
        extra.extend(slice, &block);
        account(slice, &block, width, &mut line_before, &mut parsed);
    }

    parsed.n_blank = tokeniser.n_blank();
    parsed.n_hollow = tokeniser.n_hollow();
    parsed.n_unclosed = tokeniser.n_unclosed();
    parsed.unclosed_line = tokeniser.unclosed_line();
    parsed.asides.add_marks(&tokeniser);
    parsed.odds = columns.iter_mut().map(ColumnBuilder::take_odds).collect();
    parsed.odds.iter_mut().for_each(|it| it.locate(|row| line_of(&parsed.skips, row)));
    parsed.markers = columns.iter_mut().map(ColumnBuilder::take_markers).collect();
    parsed.n_lines = u64::from(tokeniser.n_lines());
    parsed.n_lines_behind =
        parsed.n_lines.saturating_sub(line_before.map_or(0, |it: u32| u64::from(it) + 1));
    parsed.evidence = columns.iter().map(ColumnBuilder::evidence).collect();
    if !is_broken && columns.iter().all(|it| it.misfit().is_none()) {
        if plan.wants_sums {
            parsed.sums = columns.iter().map(ColumnBuilder::sum).collect();
        }
        columns.extend(extra.0);
        parsed.columns = Some(columns);
    }
    parsed
}

/// The column of surplus cells, if there is one.
struct Extra(Option<ColumnBuilder>);

impl Extra {
    fn new(is_present: bool) -> Self {
        let guess = Guess::settled_text();
        Extra(is_present.then(|| ColumnBuilder::new(guess, 0)))
    }

    fn extend(&mut self, slice: &[u8], block: &Block) {
        let Some(builder) = &mut self.0 else { return };
        let mut cells = vec![Cell::MISSING; block.n_rows()];
        for surplus in &block.surplus {
            cells[surplus.row] = Cell::raw_span(surplus.start, surplus.end);
        }
        builder.extend(slice, cells.iter().copied(), &Nulls::new(Some(&[])));
    }
}

/// Returns the line of a row, given the rows that are more than one line after the previous one.
fn line_of(skips: &[(u64, u64)], row: u64) -> u64 {
    row + skips.iter().take_while(|it| it.0 <= row).map(|it| it.1).sum::<u64>()
}

/// Counts rows, repairs and lines of a block.
fn account(
    slice: &[u8],
    block: &Block,
    width: usize,
    line_before: &mut Option<u32>,
    parsed: &mut Parsed,
) {
    for (row, &line) in (parsed.n_rows..).zip(&block.lines) {
        let n_more = line - line_before.map_or(0, |it| it + 1);
        if n_more != 0 {
            parsed.skips.push((row, u64::from(n_more)));
        }
        *line_before = Some(line);
    }
    parsed.any_quoted |= block.any_quoted;
    parsed.n_rows += block.n_rows() as u64;
    parsed.n_short += block.short.len() as u64;
    parsed.n_surplus += block.surplus.len() as u64;
    parsed.n_split += block.split.len() as u64;
    parsed.n_likely += block.n_likely;
    parsed.n_doubtful += block.doubtful.len() as u64;
    let doubtful_line = block.doubtful.first().map(|row| block.lines[*row]);
    parsed.doubtful_line = parsed.doubtful_line.or(doubtful_line);

    let mut repair = |row: usize, reason: String| {
        if has_room(parsed.repairs.len() as u64) {
            let record = block.records[row].raw(slice);
            parsed.repairs.push(Repair::new(u64::from(block.lines[row]), reason, record));
        }
    };
    let split = block.split.iter().map(|row| {
        (*row, "a quote opens a cell and would swallow the rows below; read as rows".to_owned())
    });
    let short =
        block.short.iter().map(|row| (*row, format!("fewer than {width} cells; padded with null")));
    let surplus = block
        .surplus
        .iter()
        .map(|it| (it.row, format!("more than {width} cells; the surplus is in `_extra`")));
    let mut repairs: Vec<_> = split.chain(short).chain(surplus).collect();
    repairs.sort_by_key(|it| it.0);
    for (row, reason) in repairs {
        repair(row, reason);
    }
}
