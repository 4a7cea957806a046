//! The bytes of a message, read so that no two readers of protobuf can see different things in them.
//!
//! The server reads the same bytes with another library. What the two could take differently is
//! refused here: a field twice, two members of a `oneof`, a number longer than it need be, a type that
//! is not the field's, a field that is not in the description.

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

/// One field of a message, as it came.
pub(super) struct Field<'a> {
    pub(super) is: FieldDescriptor,
    pub(super) value: Raw<'a>,
}

/// A value that was not looked into.
#[derive(Clone, Copy)]
pub(super) enum Raw<'a> {
    /// A number, a truth value or a member of an enumeration.
    Number(u64),
    /// Text, bytes, a message, or many numbers.
    Bytes(&'a [u8]),
}

impl<'a> Raw<'a> {
    /// Returns the number, or none of other values.
    pub(super) fn number(self) -> u64 {
        match self {
            Raw::Number(number) => number,
            Raw::Bytes(_) => u64::MAX,
        }
    }

    /// Returns the bytes, or none of a number.
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Raw::Number(_) => &[],
            Raw::Bytes(bytes) => bytes,
        }
    }

    /// Returns the text, which [`fields`] has seen to be UTF-8.
    pub(super) fn text(self) -> &'a str {
        std::str::from_utf8(self.bytes()).unwrap_or_default()
    }
}

/// Reads the fields of one message, in their order, without those of the messages in it. Fails with what is
/// wrong when two readers could read the bytes differently.
pub(super) fn fields<'a>(
    of: &MessageDescriptor,
    bytes: &'a [u8],
) -> Result<Vec<Field<'a>>, String> {
    let mut rest = bytes;
    let mut found: Vec<Field<'_>> = Vec::new();
    while !rest.is_empty() {
        let field = field(of, &mut rest)?;
        // Few fields are not repeated, and each of them is there once: this is no square of much.
        if !field.is.is_list() && !field.is.is_map() {
            let is_twin = |it: &Field<'_>| {
                it.is.number() == field.is.number()
                    || field
                        .is
                        .containing_oneof()
                        .is_some_and(|one| it.is.containing_oneof() == Some(one))
            };
            let n_single = found.iter().filter(|it| !it.is.is_list() && !it.is.is_map());
            if n_single.into_iter().any(is_twin) {
                return Err(format!("`{}` twice", field.is.full_name()));
            }
        }
        found.push(field);
    }
    Ok(found)
}

/// Reads the message that a field holds. Fails when it holds none, or one that cannot be read.
pub(super) fn nested<'a>(field: &Field<'a>) -> Result<Vec<Field<'a>>, String> {
    let kind = field.is.kind();
    let of = kind.as_message().ok_or("a message was wanted")?;
    fields(of, field.value.bytes())
}

/// Returns the value of the field of that name; one that is not set is empty.
pub(super) fn value_of<'a>(of: &[Field<'a>], name: &str) -> Raw<'a> {
    of.iter().find(|it| it.is.name() == name).map_or(Raw::Bytes(&[]), |it| it.value)
}

fn field<'a>(of: &MessageDescriptor, rest: &mut &'a [u8]) -> Result<Field<'a>, String> {
    let cut_short = || format!("`{}` ends too early", of.name());
    let tag = varint(rest).and_then(|it| u32::try_from(it).ok()).ok_or_else(cut_short)?;
    let (number, wire_type) = (tag >> 3, tag & 7);
    let is = of.get_field(number).ok_or_else(|| {
        format!("field {number} of `{}`, which Spark 4.2 does not have", of.name())
    })?;
    let value = match wire_type {
        0 => Raw::Number(varint(rest).ok_or_else(cut_short)?),
        1 => Raw::Number(u64::from_le_bytes(*taken(rest).ok_or_else(cut_short)?)),
        5 => Raw::Number(u32::from_le_bytes(*taken(rest).ok_or_else(cut_short)?).into()),
        2 => {
            let length =
                varint(rest).and_then(|it| usize::try_from(it).ok()).ok_or_else(cut_short)?;
            let (bytes, after) = rest.split_at_checked(length).ok_or_else(cut_short)?;
            *rest = after;
            Raw::Bytes(bytes)
        }
        _ => return Err(format!("wire type {wire_type} in `{}`", of.name())),
    };
    if !fits(&is, wire_type, value) {
        return Err(format!("a value of `{}` that is not of its type", is.full_name()));
    }
    Ok(Field { is, value })
}

fn fits(is: &FieldDescriptor, wire_type: u32, value: Raw<'_>) -> bool {
    let (is_wanted, is_number) = match is.kind() {
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => (wire_type == 1, true),
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => (wire_type == 5, true),
        Kind::Bool => (wire_type == 0 && value.number() <= 1, true),
        Kind::Enum(members) => {
            let member = i32::try_from(value.number()).ok();
            (wire_type == 0 && member.is_some_and(|it| members.get_value(it).is_some()), true)
        }
        Kind::String => (wire_type == 2 && std::str::from_utf8(value.bytes()).is_ok(), false),
        Kind::Bytes | Kind::Message(_) => (wire_type == 2, false),
        _ => (wire_type == 0, true),
    };
    is_wanted || (is.is_list() && is_number && wire_type == 2)
}

fn taken<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (first, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(first)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for at in 0..10 {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        if at == 9 && 1 < *byte {
            return None;
        }
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            // No longer than it need be: readers differ in what they make of more.
            return (at == 0 || *byte != 0).then_some(value);
        }
    }
    None
}
