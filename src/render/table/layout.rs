//! Which columns of a table a terminal shows, and their widths.

use super::column::ColumnLayout;

/// Cells of a line that a column takes in addition to its content: a bar and a space on each side.
const FRAME: usize = 3;
/// Minimum widths of a narrowed text column: the first at which all columns fit is used.
const TEXT_MINS: [usize; 4] = [16, 12, 8, 6];
/// Minimum width of a text column when columns are hidden anyway.
const TEXT_MIN: usize = 10;

/// Returns the maximum number of columns that could fit, each one cell wide.
pub(super) fn columns_max(width: usize) -> usize {
    (width / (FRAME + 1)).max(1)
}

/// The columns that fit: some from the left, and possibly the last.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FittingColumns {
    /// Columns from the left.
    pub n_left: usize,
    /// Whether the last column follows, after a mark for those between.
    pub has_last: bool,
    /// Width of each of them.
    pub widths: Vec<usize>,
}

impl FittingColumns {
    /// Returns how many columns are shown.
    pub(super) fn n_shown(&self) -> usize {
        self.n_left + usize::from(self.has_last)
    }

    /// Narrows the one column that is wider than the line.
    pub(super) fn within(mut self, width: usize) -> FittingColumns {
        let room = width.saturating_sub(FRAME + 1).max(1);
        self.widths.iter_mut().for_each(|it| *it = (*it).min(room));
        self
    }
}

/// Fits columns into a line.
///
/// `columns` are the first of `n_columns` and then the last; some are missing only when they cannot
/// fit.
pub(super) fn fit(columns: &[ColumnLayout], n_columns: usize, width: usize) -> FittingColumns {
    let floors = |text_min| columns.iter().map(|it| it.floor(text_min)).collect::<Vec<_>>();
    if columns.len() == n_columns {
        let needs = |floors: &Vec<usize>| line_width(floors) <= width;
        if let Some(floors) = TEXT_MINS.into_iter().map(floors).find(needs) {
            let widths = widen(columns, &floors, width);
            return FittingColumns { n_left: n_columns, has_last: false, widths };
        }
    }
    let floors = floors(TEXT_MIN);
    let last = floors.last().copied().unwrap_or(1);
    // The answer is often in the last column. A mark one cell wide represents those between.
    let reserved = last + 1 + 2 * FRAME;
    let n_left = left(&floors[..floors.len() - 1], width.saturating_sub(reserved));
    let (n_left, has_last) =
        if 0 < n_left { (n_left, true) } else { (left(&floors, width).max(1), false) };
    let chosen: Vec<&ColumnLayout> =
        columns[..n_left].iter().chain(columns.last().filter(|_| has_last)).collect();
    let mut widths: Vec<usize> = floors[..n_left].to_vec();
    let room = if has_last { width.saturating_sub(1 + FRAME) } else { width };
    widths.extend(has_last.then_some(last));
    let widths = widen_chosen(&chosen, &widths, room);
    FittingColumns { n_left, has_last, widths }
}

/// Returns how many columns from the left fit.
fn left(widths: &[usize], width: usize) -> usize {
    let mut used = 1;
    let fits = widths.iter().take_while(|it| {
        used += **it + FRAME;
        used <= width
    });
    fits.count()
}

/// Returns the width of a table whose columns have these widths.
pub(super) fn line_width(widths: &[usize]) -> usize {
    widths.iter().map(|it| it + FRAME).sum::<usize>() + 1
}

fn widen(columns: &[ColumnLayout], floors: &[usize], width: usize) -> Vec<usize> {
    widen_chosen(&columns.iter().collect::<Vec<_>>(), floors, width)
}

/// Distributes the remaining width: first to the content of the columns, narrow ones first, then to
/// headers that it completes.
fn widen_chosen(columns: &[&ColumnLayout], floors: &[usize], width: usize) -> Vec<usize> {
    let contents = columns.iter().map(|it| it.content_width());
    let content: Vec<usize> = contents.zip(floors).map(|(it, floor)| it.max(*floor)).collect();
    let widths = raise(floors, &content, width);
    let mut room = width.saturating_sub(line_width(&widths));
    let mut widened = Vec::with_capacity(widths.len());
    for (column, width) in columns.iter().zip(widths) {
        let more = csv_agent_text::fit::width(&column.header).saturating_sub(width);
        let given = if more <= room { more } else { 0 };
        room -= given;
        widened.push(if more == given { width + given } else { column.tight(width) });
    }
    widened
}

/// Raises each width towards the wanted one, all to one level, while the line has room.
fn raise(widths: &[usize], wanted: &[usize], width: usize) -> Vec<usize> {
    let at = |level: usize| -> Vec<usize> {
        let raised = widths.iter().zip(wanted).map(|(it, wanted)| (*wanted).min(level).max(*it));
        raised.collect()
    };
    let (mut low, mut high) = (0, wanted.iter().copied().max().unwrap_or(0));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if line_width(&at(middle)) <= width {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    let mut raised = at(low);
    // A remainder too small for another level goes to the first columns.
    let mut rest = width.saturating_sub(line_width(&raised));
    for (it, wanted) in raised.iter_mut().zip(wanted) {
        if 0 < rest && *it < *wanted {
            *it += 1;
            rest -= 1;
        }
    }
    raised
}

#[cfg(test)]
mod tests {
    use super::{left, line_width, raise};

    #[test]
    fn the_wide_give_way_first() {
        assert_eq!(raise(&[3, 3, 3], &[3, 20, 40], 200), [3, 20, 40]);
        assert_eq!(raise(&[3, 3, 3], &[3, 20, 40], 50), [3, 19, 18]);
        assert_eq!(line_width(&[3, 19, 18]), 50);
    }

    #[test]
    fn columns_are_counted_with_their_bars() {
        assert_eq!(left(&[4, 4, 4], 15), 2);
        assert_eq!(left(&[4, 4, 4], 14), 1);
    }
}
