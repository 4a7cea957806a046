//! What must be known of a Parquet file before it is decoded: how deep its schema goes, how many rows it
//! promises, and how large its pages want to be.
//!
//! Pure. The decoder calls itself for each level of a schema and sets aside what a page asks for, so
//! a file of a few bytes could end the process. Only as much of the Thrift compact protocol is read as
//! these questions take. What is malformed is left to the decoder, which says so.

use csv_agent_types::limits::CSV_COLUMNS_MAX;

/// Levels of structs within what is skipped; the footer and the headers have less than ten.
const SKIPPED_LEVELS_MAX: usize = 32;

/// What a footer says of all of its file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline<'a> {
    /// Levels of the schema.
    pub n_levels: usize,
    /// The name of each column that has no columns within, as it is encoded; one more than a dataset has, at
    /// most.
    pub leaves: Vec<&'a [u8]>,
    /// Rows of the file; none where the footer does not come to them.
    pub n_rows: Option<i64>,
}

/// Returns the outline of a footer, as far as that can be read. Of what is there twice, the decoder takes one.
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
    // Of each group that is open, how many children are to come.
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

/// What the header of a page says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageHead {
    /// Of the header itself.
    pub header_bytes: usize,
    /// As it is stored.
    pub stored_bytes: u64,
    /// As it is once decompressed.
    pub bytes: u64,
    /// The number of how its values are encoded; none for a page without values.
    pub encoding: Option<i64>,
    /// How many values it says to have, nulls included. Nobody has counted them.
    pub n_values: i64,
    /// The same of nulls, where it says so.
    pub n_nulls: i64,
    /// Whether it is a dictionary and not a page of rows.
    pub is_dictionary: bool,
}

/// Returns what the header of a page says, which begins `bytes`, if it ends there too.
pub(crate) fn page_head(header: &[u8]) -> Option<PageHead> {
    const TYPE: i64 = 1;
    const UNCOMPRESSED: i64 = 2;
    const COMPRESSED: i64 = 3;
    /// Of the types of pages.
    const DICTIONARY: i64 = 2;
    /// Values, a dictionary, and values as newer versions have them: type, field, and within it the member for the
    /// encoding and that for the nulls.
    const ENCODED: [(i64, i64, i64, Option<i64>); 3] =
        [(0, 5, 2, None), (DICTIONARY, 7, 2, None), (3, 8, 4, Some(2))];
    const VALUES: i64 = 1;
    let mut bytes = Bytes(header);
    let (mut stored, mut uncompressed, mut page_type) = (None, None, None);
    // A page may have the field of another type as well, which the decoder passes over.
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

/// Bytes still to be read. Numbers in them are written as in pages, seven bits to a byte.
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

    /// Reads a number; none where it does not end, or has no room.
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
        // Some write nothing for what an empty list would hold.
        let kind = if n == 0 { ValueKind::Byte } else { ValueKind::of(head & 0xf)? };
        Some((n, kind))
    }

    /// Passes over a value of a struct.
    fn skip(&mut self, kind: ValueKind, levels: usize) -> Option<()> {
        let levels = levels.checked_sub(1)?;
        match kind {
            // The head of the field has said it.
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

    /// Passes over a value that has no head of its own.
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
