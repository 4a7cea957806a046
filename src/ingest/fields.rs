//! Column names in the `#Fields:` line of a log in the W3C extended log file format, as IIS writes it,
//! and in the `#fields` line of a Zeek log, whose cells are tab-separated.
//!
//! Pure. Other lines that begin with `#` are comments, including those after a server restart.

use super::records::Tokeniser;
use super::syntax::{Delimiter, Syntax};

/// The beginning of the line, before a colon or a tab.
const BEGINNING: &[u8] = b"#fields";
/// Rows to examine.
const ROWS_MAX: usize = 100;

/// Returns the names in a record, if it is such a line.
pub(crate) fn names(record: &[u8]) -> Option<Vec<String>> {
    let begins = record.get(..BEGINNING.len())?.eq_ignore_ascii_case(BEGINNING);
    let rest = begins.then(|| String::from_utf8_lossy(&record[BEGINNING.len()..]))?;
    let names: Vec<String> = match rest.split_at_checked(1)? {
        (":", names) => names.split_whitespace().map(str::to_owned).collect(),
        ("\t", names) => names.trim_end().split('\t').map(str::to_owned).collect(),
        _ => return None,
    };
    (1 < names.len()).then_some(names)
}

/// Returns the delimiter of the rows in `below`, if a line of `lead` names as many columns.
pub(crate) fn delimiter(lead: &[u8], below: &[u8]) -> Option<Delimiter> {
    let n_names = lead.split(|it| *it == b'\n').rev().find_map(names)?.len();
    ["\t", " "].into_iter().filter_map(Delimiter::new).find(|delimiter| {
        let mut tokeniser = Tokeniser::new(below, Syntax::usual(*delimiter));
        let (mut cells, mut n_rows, mut n_even) = (Vec::new(), 0, 0);
        while n_rows < ROWS_MAX
            && let Some((start, _)) = tokeniser.record(&mut cells)
        {
            if !below[start..].starts_with(b"#") {
                n_rows += 1;
                n_even += usize::from(cells.len() == n_names);
            }
        }
        0 < n_rows && n_rows * 4 <= n_even * 5
    })
}
