//! Bloom filters over long text: made when a column is written, asked when a value is searched.
//!
//! They stand where Parquet has them, so other readers may use them. Beside each text itself they
//! have it as a search compares it. That adds to what a filter may hold and takes nothing away, so
//! it is still right for whoever asks for the exact text.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use parquet::bloom_filter::Sbbf;

/// Chance that a filter says of a text that is not there that it may be.
const FALSE_POSITIVES: f64 = 0.05;
/// Bytes of text for each byte of filter, at least. Of shorter texts a filter would add more than
/// a few percent to the file and save less reading.
const BYTES_PER_FILTER_BYTE: usize = 64;

/// Returns a text as a search compares it: without case and blanks around it.
pub(crate) fn fold(text: &str) -> String {
    text.trim().to_lowercase()
}

/// Returns whether folding leaves a text as it is, as far as that is to be seen at once.
fn is_folded(text: &str) -> bool {
    // All bytes, so that it becomes vector code.
    let is_other = text.bytes().fold(false, |is, it| is | !it.is_ascii() | it.is_ascii_uppercase());
    !is_other && text.trim().len() == text.len()
}

/// Makes the filter of a column, if its texts are long enough for one.
///
/// # Errors
///
/// Fails never, unless the constants of this module are wrong.
pub(crate) fn of_column(column: &ArrayRef) -> anyhow::Result<Option<Sbbf>> {
    /// Of a filter, for each text: what `FALSE_POSITIVES` comes to.
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
    // Room for both forms of each; what is not needed is folded away.
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

/// Returns whether a text that folds to `folded` may be among those of a filter.
pub(crate) fn may_hold(filter: &Sbbf, folded: &str) -> bool {
    filter.check(folded)
}
