//! What must be known about a Parquet file before decoding: the depth of its schema, its declared row
//! count, and the declared size of its pages.
//!
//! Pure. The decoder recurses for each level of a schema and allocates what a page declares, so a file
//! of a few bytes could end the process. Only the necessary part of the Thrift compact protocol is
//! implemented. The decoder handles and reports malformed input.

use csv_agent_types::limits::CSV_COLUMNS_MAX;

/// Maximum nesting of structs in skipped values; the footer and the headers have fewer than ten levels.
const SKIPPED_LEVELS_MAX: usize = 32;

/// What a footer states about the whole file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline<'a> {
    /// Levels of the schema.
    pub n_levels: usize,
    /// The encoded name of each column without nested columns; at most one more than a dataset may
    /// have.
    pub leaves: Vec<&'a [u8]>,
    /// Rows of the file; `None` where the footer ends before it.
    pub n_rows: Option<i64>,
}

/// Returns the outline of a footer, as far as it can be read. Of a repeated field, the decoder takes
/// one.
pub(crate) fn outline(footer: &[u8]) -> Outline<'_> {
    const SCHEMA: i64 = 2;
    const ROWS: i64 = 3;
    let mut bytes = Bytes(footer);
    let mut outline = Outline::default();
    let mut field = 0;
    while let Some(Some(kind)) = bytes.field(&mut field) {
        let read = match (field, kind) {
            (SCHEMA, ValueKind::List) => schema(&mut bytes, &mut outline),
            (ROWS, ValueKind::Number) => {
                outline.n_rows = bytes.number();
                outline.n_rows.map(drop)
            }
            _ => bytes.skip(kind, SKIPPED_LEVELS_MAX),
        };
        if read.is_none() {
            break;
        }
    }
    outline
}

fn schema<'a>(bytes: &mut Bytes<'a>, outline: &mut Outline<'a>) -> Option<()> {
    const NAME: i64 = 4;
    const N_CHILDREN: i64 = 5;
    let (n_elements, _) = bytes.list()?;
    // For each open group, how many children remain.
    let mut open: Vec<i64> = Vec::new();
    for _ in 0..n_elements {
        let (mut n_children, mut name) = (0, &[][..]);
        let mut field = 0;
        while let Some(kind) = bytes.field(&mut field)? {
            match (field, kind) {
                (NAME, ValueKind::Binary) => {
                    let before = bytes.0;
                    bytes.skip(kind, SKIPPED_LEVELS_MAX)?;
                    let mut value = Bytes(&before[..before.len() - bytes.0.len()]);
                    value.unsigned()?;
                    name = value.0;
                }
                (N_CHILDREN, ValueKind::I32) => n_children = bytes.number()?,
                _ => bytes.skip(kind, SKIPPED_LEVELS_MAX)?,
            }
        }
        if n_children <= 0 && outline.leaves.len() <= CSV_COLUMNS_MAX {
            outline.leaves.push(name);
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        open.push(n_children);
        outline.n_levels = outline.n_levels.max(open.len());
        while open.last().is_some_and(|it| *it <= 0) {
            open.pop();
        }
    }
    Some(())
}

/// The contents of a page header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageHead {
    /// Bytes of the header itself.
    pub header_bytes: usize,
    /// Bytes of the page as stored.
    pub stored_bytes: u64,
    /// Bytes of the page once decompressed.
    pub bytes: u64,
    /// The number of the encoding of its values; `None` for a page without values.
    pub encoding: Option<i64>,
    /// The declared number of values, nulls included. It is unverified.
    pub n_values: i64,
    /// The declared number of nulls, where present.
    pub n_nulls: i64,
    /// Whether it is a dictionary rather than a page of rows.
    pub is_dictionary: bool,
}

/// Returns the page header at the start of `bytes`, if it is complete.
pub(crate) fn page_head(header: &[u8]) -> Option<PageHead> {
    const TYPE: i64 = 1;
    const UNCOMPRESSED: i64 = 2;
    const COMPRESSED: i64 = 3;
    /// A page type.
    const DICTIONARY: i64 = 2;
    /// Values, a dictionary, and values in the newer format: page type, header field, and within it the
    /// members for the encoding and for the nulls.
    const ENCODED: [(i64, i64, i64, Option<i64>); 3] =
        [(0, 5, 2, None), (DICTIONARY, 7, 2, None), (3, 8, 4, Some(2))];
    const VALUES: i64 = 1;
    let mut bytes = Bytes(header);
    let (mut stored, mut uncompressed, mut page_type) = (None, None, None);
    // A page may also have the field of another type, which the decoder skips.
    let mut found = [(None, 0, 0); ENCODED.len()];
    let mut field = 0;
    while let Some(kind) = bytes.field(&mut field)? {
        match (field, kind) {
            (TYPE, ValueKind::I32) => page_type = Some(bytes.number()?),
            (UNCOMPRESSED, ValueKind::I32) => uncompressed = Some(bytes.number()?),
            (COMPRESSED, ValueKind::I32) => stored = Some(bytes.number()?),
            (field, ValueKind::Struct) => {
                let at = ENCODED.iter().position(|it| it.1 == field);
                let mut member = 0;
                while let Some(kind) = bytes.field(&mut member)? {
                    if let (Some(at), ValueKind::I32) = (at, kind) {
                        let (encoding, n_values, n_nulls) = &mut found[at];
                        let number = bytes.number()?;
                        match member {
                            VALUES => *n_values = number,
                            _ if member == ENCODED[at].2 => *encoding = Some(number),
                            _ if Some(member) == ENCODED[at].3 => *n_nulls = number,
                            _ => {}
                        }
                    } else {
                        bytes.skip(kind, SKIPPED_LEVELS_MAX)?;
                    }
                }
            }
            _ => bytes.skip(kind, SKIPPED_LEVELS_MAX)?,
        }
    }
    let at = ENCODED.iter().position(|it| Some(it.0) == page_type);
    let (encoding, n_values, n_nulls) = at.map(|it| found[it]).unwrap_or_default();
    Some(PageHead {
        encoding,
        n_values,
        n_nulls,
        is_dictionary: page_type == Some(DICTIONARY),
        header_bytes: header.len() - bytes.0.len(),
        stored_bytes: u64::try_from(stored?).ok()?,
        bytes: u64::try_from(uncompressed?).ok()?,
    })
}

/// How a value is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    Bool,
    Byte,
    I32,
    Number,
    Double,
    Binary,
    List,
    Map,
    Struct,
    Uuid,
}

impl ValueKind {
    fn of(code: u8) -> Option<Self> {
        Some(match code {
            1 | 2 => ValueKind::Bool,
            3 => ValueKind::Byte,
            5 => ValueKind::I32,
            4 | 6 => ValueKind::Number,
            7 => ValueKind::Double,
            8 => ValueKind::Binary,
            9 | 10 => ValueKind::List,
            11 => ValueKind::Map,
            12 => ValueKind::Struct,
            13 => ValueKind::Uuid,
            _ => return None,
        })
    }
}

/// Unread bytes. Numbers are encoded as in pages, seven bits per byte.
pub(crate) struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn pass(&mut self, n: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(n).ok()?..)?;
        Some(())
    }

    /// Reads a number; `None` where it does not end, or overflows.
    pub(crate) fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn number(&mut self) -> Option<i64> {
        let zigzag = self.unsigned()?;
        Some((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed())
    }

    /// Reads the head of the next field of a struct: its number goes to `field`, its kind is
    /// returned; `Some(None)` where the struct ends.
    #[expect(clippy::option_option, reason = "damage is one thing, the end of a struct another")]
    fn field(&mut self, field: &mut i64) -> Option<Option<ValueKind>> {
        let head = self.byte()?;
        if head == 0 {
            return Some(None);
        }
        *field = match head >> 4 {
            0 => self.number()?,
            delta => field.checked_add(i64::from(delta))?,
        };
        ValueKind::of(head & 0xf).map(Some)
    }

    fn list(&mut self) -> Option<(u64, ValueKind)> {
        let head = self.byte()?;
        let n = match head >> 4 {
            15 => self.unsigned()?,
            n => u64::from(n),
        };
        // Some writers omit the element type of an empty list.
        let kind = if n == 0 { ValueKind::Byte } else { ValueKind::of(head & 0xf)? };
        Some((n, kind))
    }

    /// Skips a value of a struct.
    fn skip(&mut self, kind: ValueKind, levels: usize) -> Option<()> {
        let levels = levels.checked_sub(1)?;
        match kind {
            // The field header contains the value.
            ValueKind::Bool => Some(()),
            ValueKind::Struct => {
                let mut field = 0;
                while let Some(kind) = self.field(&mut field)? {
                    self.skip(kind, levels)?;
                }
                Some(())
            }
            other => self.skip_item(other, levels),
        }
    }

    /// Skips a value without its own header.
    fn skip_item(&mut self, kind: ValueKind, levels: usize) -> Option<()> {
        match kind {
            ValueKind::Bool | ValueKind::Byte => self.pass(1),
            ValueKind::I32 | ValueKind::Number => self.unsigned().map(|_| ()),
            ValueKind::Double => self.pass(8),
            ValueKind::Uuid => self.pass(16),
            ValueKind::Binary => {
                let n = self.unsigned()?;
                self.pass(n)
            }
            ValueKind::List => {
                let (n, kind) = self.list()?;
                (0..n).try_for_each(|_| self.skip_item(kind, levels.checked_sub(1)?))
            }
            ValueKind::Map => {
                let n = self.unsigned()?;
                let kinds = if n == 0 { 0 } else { self.byte()? };
                (0..n).try_for_each(|_| {
                    self.skip_item(ValueKind::of(kinds >> 4)?, levels.checked_sub(1)?)?;
                    self.skip_item(ValueKind::of(kinds & 0xf)?, levels.checked_sub(1)?)
                })
            }
            ValueKind::Struct => self.skip(ValueKind::Struct, levels),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};

    use super::{Outline, PageHead, outline, page_head};
    use csv_agent_testing::cases;

    #[test]
    fn the_outline_of_a_footer_is_read() {
        // Version 1, then three elements: each a name `a`, the first two with one child.
        let group = [0x48, 1, b'a', 0x15, 2, 0];
        let leaf = [0x48, 1, b'b', 0];
        // Then seven rows.
        let footer = [&[0x15, 2, 0x19, 0x3c][..], &group, &group, &leaf, &[0x16, 14]].concat();
        let expected = |n_rows| Outline { n_levels: 3, leaves: vec![b"b"], n_rows };
        assert_eq!(outline(&footer), expected(Some(7)));
        assert_eq!(outline(&footer[..footer.len() - 1]), expected(None));
        assert_eq!(outline(&footer[..10]).n_levels, 1);
    }

    #[test]
    fn the_head_of_a_page_is_read() {
        let header = [0x15, 0, 0x15, 20, 0x15, 10, 0, b'x'];
        let expected = PageHead {
            header_bytes: 7,
            stored_bytes: 5,
            bytes: 10,
            encoding: None,
            n_values: 0,
            n_nulls: 0,
            is_dictionary: false,
        };
        assert_eq!(page_head(&header), Some(expected));
        assert_eq!(page_head(&header[..6]), None);
        // The members of a page of values: how many there are, and how they are encoded.
        let sizes = [0x15, 20, 0x15, 10];
        let values = [0x2c, 0x15, 1, 0x15, 14, 0];
        let header = [&[0x15, 0][..], &sizes, &values, &[0]].concat();
        let expected = PageHead { header_bytes: 13, encoding: Some(7), n_values: -1, ..expected };
        assert_eq!(page_head(&header), Some(expected));
        // The same in a page of the newer kind, which counts for that one only.
        let newer = [0x3c, 0x15, 6, 0x15, 4, 0x15, 6, 0x15, 16, 0];
        let header = [&[0x15, 6][..], &sizes, &values, &newer, &[0]].concat();
        let (header_bytes, encoding) = (23, Some(8));
        let expected = PageHead { header_bytes, encoding, n_values: 3, n_nulls: 2, ..expected };
        assert_eq!(page_head(&header), Some(expected));
        let dictionary = [0x2c, 0x15, 4, 0x15, 0, 0];
        let header = [&[0x15, 4][..], &sizes, &values, &dictionary, &[0]].concat();
        assert!(page_head(&header).is_some_and(|it| it.is_dictionary && it.n_values == 2));
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn whatever_bytes_arrive_nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            outline(&bytes);
            page_head(&bytes);
        }
    }
}
