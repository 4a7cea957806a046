//! Bloom filters over long text: built when a column is written, queried when a value is searched.
//!
//! They are stored in the standard Parquet location, so other readers can use them. In addition to each
//! text, a filter contains the text in the form that a search compares. That only adds entries, so a
//! filter remains correct for a lookup of the exact text.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use parquet::bloom_filter::Sbbf;

/// Probability that a filter reports a possible match for an absent text.
const FALSE_POSITIVES: f64 = 0.05;
/// Minimum bytes of text per byte of filter. For shorter texts a filter would add more than a few
/// percent to the file and save less reading.
const BYTES_PER_FILTER_BYTE: usize = 64;

/// Returns a text in the form that a search compares: in lower case and trimmed.
pub(crate) fn fold(text: &str) -> String {
    text.trim().to_lowercase()
}

/// Returns whether folding leaves a text unchanged, as far as a quick check shows.
fn is_folded(text: &str) -> bool {
    // No early exit, so that it compiles to vector code.
    let is_other = text.bytes().fold(false, |is, it| is | !it.is_ascii() | it.is_ascii_uppercase());
    !is_other && text.trim().len() == text.len()
}

/// Builds the filter of a column, if its texts are long enough for one. Does not fail unless the constants of
/// this module are wrong.
pub(crate) fn of_column(column: &ArrayRef) -> anyhow::Result<Option<Sbbf>> {
    /// Bits of a filter per text, which follow from `FALSE_POSITIVES`.
    const BITS_PER_TEXT: usize = 7;
    if *column.data_type() != DataType::Utf8 {
        return Ok(None);
    }
    let texts = column.as_string::<i32>();
    let n_texts = texts.len() - texts.null_count();
    let filter_bytes = (n_texts * BITS_PER_TEXT).div_ceil(8);
    if n_texts == 0 || texts.values().len() < filter_bytes * BYTES_PER_FILTER_BYTE {
        return Ok(None);
    }
    // Capacity for both forms of each; unused capacity is folded away.
    let mut filter = Sbbf::new_with_ndv_fpp(2 * n_texts as u64, FALSE_POSITIVES)?;
    for text in texts.iter().flatten() {
        filter.insert(text);
        if !is_folded(text) {
            filter.insert(fold(text).as_str());
        }
    }
    filter.fold_to_target_fpp(FALSE_POSITIVES);
    Ok(Some(filter))
}

/// Returns whether a filter may contain a text that folds to `folded`.
pub(crate) fn may_hold(filter: &Sbbf, folded: &str) -> bool {
    filter.check(folded)
}
