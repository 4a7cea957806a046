//! The fields of a protobuf message, without knowing its type: for the few that the relay itself reads.

use bytes::Buf;
use prost::encoding::{WireType, decode_key, decode_varint, encode_key, encode_varint};

/// What stands in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    /// A number of variable length.
    Number(u64),
    /// Text, bytes, or a message.
    Bytes(&'a [u8]),
    /// Of a kind that is of no interest here.
    Other,
}

impl<'a> Field<'a> {
    /// Returns the text, if it is some.
    pub(crate) fn text(self) -> Option<&'a str> {
        match self {
            Field::Bytes(bytes) => str::from_utf8(bytes).ok(),
            Field::Number(_) | Field::Other => None,
        }
    }
}

/// What is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// The fields of a message by number, in their order. Nothing comes after a [`Malformed`].
pub(crate) struct Fields<'a>(&'a [u8]);

pub(crate) fn fields(message: &[u8]) -> Fields<'_> {
    Fields(message)
}

impl<'a> Fields<'a> {
    fn read(&mut self) -> Option<(u32, Field<'a>)> {
        let (number, kind) = decode_key(&mut self.0).ok()?;
        let field = match kind {
            WireType::Varint => Field::Number(decode_varint(&mut self.0).ok()?),
            WireType::LengthDelimited => {
                let n_bytes = usize::try_from(decode_varint(&mut self.0).ok()?).ok()?;
                Field::Bytes(self.0.split_off(..n_bytes)?)
            }
            WireType::SixtyFourBit => self.skip(8)?,
            WireType::ThirtyTwoBit => self.skip(4)?,
            // Spark Connect has no groups.
            WireType::StartGroup | WireType::EndGroup => return None,
        };
        Some((number, field))
    }

    fn skip(&mut self, n_bytes: usize) -> Option<Field<'a>> {
        self.0.split_off(..n_bytes).map(|_| Field::Other)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Field<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.0.has_remaining() {
            return None;
        }
        let field = self.read();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field.ok_or(Malformed))
    }
}

/// Adds text, bytes, or a message.
pub(crate) fn put_bytes(message: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    encode_key(number, WireType::LengthDelimited, message);
    encode_varint(bytes.len() as u64, message);
    message.extend_from_slice(bytes);
}

pub(crate) fn put_number(message: &mut Vec<u8>, number: u32, value: u64) {
    encode_key(number, WireType::Varint, message);
    encode_varint(value, message);
}

#[cfg(test)]
mod tests {
    use super::{Field, Malformed, fields, put_bytes, put_number};

    #[track_caller]
    fn check(message: &[u8], expected: &[Result<(u32, Field<'_>), Malformed>]) {
        assert_eq!(fields(message).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_was_put_is_read_again() {
        let mut message = Vec::new();
        put_bytes(&mut message, 1, b"session");
        put_number(&mut message, 4, 300);
        put_bytes(&mut message, 999, b"");
        check(
            &message,
            &[
                Ok((1, Field::Bytes(b"session"))),
                Ok((4, Field::Number(300))),
                Ok((999, Field::Bytes(b""))),
            ],
        );
    }

    #[test]
    fn numbers_of_fixed_length_are_passed_over() {
        check(
            b"\x09abcdefgh\x15abcd\x18\x07",
            &[Ok((1, Field::Other)), Ok((2, Field::Other)), Ok((3, Field::Number(7)))],
        );
    }

    #[test]
    fn nothing_is_read_beyond_what_is_no_message() {
        check(b"\x08\x01\x0a\x05abc", &[Ok((1, Field::Number(1))), Err(Malformed)]);
        check(b"\x0b\x08\x01", &[Err(Malformed)]);
        check(b"\x00\x08\x01", &[Err(Malformed)]);
        check(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", &[Err(Malformed)]);
    }
}
