//! From bytes to text: an encoding, and a decoder that counts what it cannot decode.
//!
//! Pure. `encoding_rs` supports every encoding of the WHATWG list; UTF-32 and the DOS code page of
//! Western Europe, which are not on it, are decoded here.

use encoding_rs::{
    Decoder, DecoderResult, Encoding, GB18030, MACINTOSH, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252,
};

use csv_agent_types::catalog::Damage;

/// An encoding of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charset {
    /// One of the WHATWG list.
    Listed(&'static Encoding),
    /// Four bytes per character, the least significant first.
    Utf32Le,
    /// Four bytes per character, the most significant first.
    Utf32Be,
    /// The DOS code page of Western Europe. Its letters are the same as in code page 437.
    Ibm850,
    /// UTF-8, and windows-1252 where the bytes are not UTF-8: concatenated files of both.
    Mixed,
}

/// The upper half of code page 850.
/// Source: Unicode, "`cp850_DOSLatin1` to Unicode table".
const IBM850: &str = "\
    ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒ\
    áíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
    └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀\
    ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";

/// The name for two encodings in one file.
const MIXED: &str = "utf-8+windows-1252";

impl Charset {
    /// The encoding of most files.
    pub(crate) const UTF_8: Charset = Charset::Listed(UTF_8);

    /// Returns the encoding with that name, in any of its spellings, those of Python included.
    pub(crate) fn for_label(label: &str) -> Option<Self> {
        let label = label.trim().to_ascii_lowercase();
        let plain = label.replace('_', "-");
        match plain.strip_suffix("-sig").unwrap_or(&plain) {
            "latin-1" => Some(Charset::Listed(WINDOWS_1252)),
            "mac-roman" => Some(Charset::Listed(MACINTOSH)),
            "utf-32" | "utf-32le" | "utf32" => Some(Charset::Utf32Le),
            "utf-32be" => Some(Charset::Utf32Be),
            MIXED => Some(Charset::Mixed),
            "ibm850" | "cp850" | "cp437" | "ibm437" => Some(Charset::Ibm850),
            plain => {
                let listed = Encoding::for_label(label.as_bytes());
                listed.or_else(|| Encoding::for_label(plain.as_bytes())).map(Charset::Listed)
            }
        }
    }

    /// Returns the encoding that a byte order mark declares, and the length of the mark.
    pub(crate) fn for_mark(head: &[u8]) -> Option<(Self, usize)> {
        // The first half is the mark of UTF-16, where a NUL would follow.
        if head.starts_with(b"\xff\xfe\0\0") {
            return Some((Charset::Utf32Le, 4));
        }
        if head.starts_with(b"\0\0\xfe\xff") {
            return Some((Charset::Utf32Be, 4));
        }
        if head.starts_with(b"\x84\x31\x95\x33") {
            return Some((Charset::Listed(GB18030), 4));
        }
        Encoding::for_bom(head).map(|(encoding, length)| (Charset::Listed(encoding), length))
    }

    /// Returns the name, in lower case.
    pub(crate) fn name(self) -> String {
        match self {
            Charset::Listed(encoding) => encoding.name().to_ascii_lowercase(),
            Charset::Utf32Le => "utf-32le".to_owned(),
            Charset::Utf32Be => "utf-32be".to_owned(),
            Charset::Ibm850 => "ibm850".to_owned(),
            Charset::Mixed => MIXED.to_owned(),
        }
    }

    /// Returns the number of bytes of an ASCII character.
    pub(crate) fn unit_bytes(self) -> usize {
        match self {
            Charset::Listed(encoding) if [UTF_16LE, UTF_16BE].contains(&encoding) => 2,
            Charset::Listed(_) | Charset::Ibm850 | Charset::Mixed => 1,
            Charset::Utf32Le | Charset::Utf32Be => 4,
        }
    }

    /// Returns the text of a window, which may begin and end within a character.
    pub(crate) fn window(self, bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        // A lossy decoder does not fail.
        let _ = TextDecoder::new(self, true).decode(bytes, &mut text, true);
        text
    }
}

/// Bytes that are invalid in the encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// Offset of the first such byte in the decoded input.
    pub offset: u64,
}

/// Decodes text that arrives in parts.
pub(crate) struct TextDecoder {
    inner: Inner,
    /// Whether U+FFFD replaces malformed bytes.
    is_lossy: bool,
    /// Bytes decoded.
    offset: u64,
    /// Line ends in the text so far; counted until the first damage.
    n_line_ends: u64,
    is_behind_cr: bool,
    damage: Option<Damage>,
}

enum Inner {
    Listed(Decoder),
    Utf32 {
        is_big: bool,
        rest: Vec<u8>,
    },
    Ibm850,
    /// With a character that the next part completes.
    Mixed {
        rest: Vec<u8>,
    },
}

/// The replacement for undecodable bytes.
const REPLACEMENT: &str = "\u{fffd}";

impl TextDecoder {
    /// Begins after the byte order mark.
    pub(crate) fn new(charset: Charset, is_lossy: bool) -> Self {
        let inner = match charset {
            Charset::Listed(encoding) => Inner::Listed(encoding.new_decoder_without_bom_handling()),
            Charset::Utf32Le => Inner::Utf32 { is_big: false, rest: Vec::new() },
            Charset::Utf32Be => Inner::Utf32 { is_big: true, rest: Vec::new() },
            Charset::Ibm850 => Inner::Ibm850,
            Charset::Mixed => Inner::Mixed { rest: Vec::new() },
        };
        let (offset, n_line_ends) = (0, 0);
        TextDecoder { inner, is_lossy, offset, n_line_ends, is_behind_cr: false, damage: None }
    }

    /// Returns the damage so far; offsets count from where the decoder began.
    pub(crate) fn damage(&self) -> Option<Damage> {
        self.damage
    }

    /// Appends the text of all of `bytes`, except for a character that the next part completes. Fails at the
    /// first malformed bytes, unless the decoder is lossy.
    pub(crate) fn decode(
        &mut self,
        bytes: &[u8],
        text: &mut Vec<u8>,
        is_end: bool,
    ) -> Result<(), Malformed> {
        match &mut self.inner {
            Inner::Listed(_) => self.decode_listed(bytes, text, is_end),
            Inner::Ibm850 => {
                self.decode_ibm850(bytes, text);
                Ok(())
            }
            Inner::Mixed { rest } => {
                let mut units = std::mem::take(rest);
                units.extend_from_slice(bytes);
                self.decode_mixed(&units, text, is_end);
                Ok(())
            }
            Inner::Utf32 { is_big, rest } => {
                let is_big = *is_big;
                let mut units = std::mem::take(rest);
                let n_before = units.len();
                units.extend_from_slice(bytes);
                self.offset -= n_before as u64;
                self.decode_utf32(&units, is_big, text, is_end)
            }
        }
    }

    fn decode_listed(
        &mut self,
        bytes: &[u8],
        text: &mut Vec<u8>,
        is_end: bool,
    ) -> Result<(), Malformed> {
        let mut chunk = [0; 16 * 1024];
        let mut rest = bytes;
        loop {
            let Inner::Listed(decoder) = &mut self.inner else { return Ok(()) };
            let (result, n_read, n_written) =
                decoder.decode_to_utf8_without_replacement(rest, &mut chunk, is_end);
            rest = &rest[n_read..];
            self.offset += n_read as u64;
            self.append(&chunk[..n_written], text);
            match result {
                DecoderResult::InputEmpty => return Ok(()),
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(n_bad, n_behind) => {
                    let n_back = u64::from(n_bad) + u64::from(n_behind);
                    self.replace(self.offset.saturating_sub(n_back), text)?;
                }
            }
        }
    }

    /// Every byte is a character.
    fn decode_ibm850(&mut self, bytes: &[u8], text: &mut Vec<u8>) {
        let upper: Vec<char> = IBM850.chars().collect();
        let mut char_bytes = [0; 4];
        for byte in bytes {
            let char = byte.checked_sub(0x80).and_then(|it| upper.get(usize::from(it)));
            match char {
                Some(char) => text.extend_from_slice(char.encode_utf8(&mut char_bytes).as_bytes()),
                None => text.push(*byte),
            }
        }
        self.offset += bytes.len() as u64;
    }

    /// Every byte that is not part of a UTF-8 character is windows-1252.
    fn decode_mixed(&mut self, units: &[u8], text: &mut Vec<u8>, is_end: bool) {
        let mut units = units;
        while !units.is_empty() {
            let (n_good, n_bad) = match simdutf8::compat::from_utf8(units) {
                Ok(_) => (units.len(), 0),
                Err(error) => (error.valid_up_to(), error.error_len().unwrap_or(0)),
            };
            let (good, behind) = units.split_at(n_good);
            text.extend_from_slice(good);
            let is_torn = n_bad == 0 && !behind.is_empty();
            if let (Inner::Mixed { rest }, true) = (&mut self.inner, is_torn && !is_end) {
                *rest = behind.to_vec();
                return;
            }
            let n_bad = if is_torn { behind.len() } else { n_bad };
            let western = WINDOWS_1252.decode_without_bom_handling(&behind[..n_bad]).0;
            text.extend_from_slice(western.as_bytes());
            units = &behind[n_bad..];
        }
    }

    fn decode_utf32(
        &mut self,
        units: &[u8],
        is_big: bool,
        text: &mut Vec<u8>,
        is_end: bool,
    ) -> Result<(), Malformed> {
        let (whole, torn) = units.as_chunks::<4>();
        for unit in whole {
            let code = if is_big { u32::from_be_bytes(*unit) } else { u32::from_le_bytes(*unit) };
            match char::from_u32(code) {
                Some(char) => self.append(char.encode_utf8(&mut [0; 4]).as_bytes(), text),
                None => self.replace(self.offset, text)?,
            }
            self.offset += 4;
        }
        if is_end && !torn.is_empty() {
            self.replace(self.offset, text)?;
        } else if let Inner::Utf32 { rest, .. } = &mut self.inner {
            *rest = torn.to_vec();
        }
        self.offset += torn.len() as u64;
        Ok(())
    }

    fn append(&mut self, decoded: &[u8], text: &mut Vec<u8>) {
        if self.is_lossy && self.damage.is_none() {
            for byte in decoded {
                self.n_line_ends +=
                    u64::from(*byte == b'\r' || (*byte == b'\n' && !self.is_behind_cr));
                self.is_behind_cr = *byte == b'\r';
            }
        }
        text.extend_from_slice(decoded);
    }

    fn replace(&mut self, offset: u64, text: &mut Vec<u8>) -> Result<(), Malformed> {
        if !self.is_lossy {
            return Err(Malformed { offset });
        }
        text.extend_from_slice(REPLACEMENT.as_bytes());
        let first = Damage { n_replaced: 0, line: self.n_line_ends + 1, offset };
        self.damage.get_or_insert(first).n_replaced += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};

    use super::{Charset, Malformed, TextDecoder};
    use csv_agent_testing::cases;
    use csv_agent_types::catalog::Damage;

    fn decode(charset: Charset, bytes: &[u8], part_bytes: usize) -> (String, Option<Damage>) {
        let mut decoder = TextDecoder::new(charset, true);
        let mut text = Vec::new();
        for part in bytes.chunks(part_bytes.max(1)) {
            decoder.decode(part, &mut text, false).unwrap();
        }
        decoder.decode(&[], &mut text, true).unwrap();
        (String::from_utf8(text).unwrap(), decoder.damage())
    }

    #[test]
    fn damage_is_counted_and_its_first_place_told() {
        let check = |label, bytes: &[u8], text: &str, damage| {
            let charset = Charset::for_label(label).unwrap();
            for part_bytes in [1, 3, 100] {
                let expected = (text.to_owned(), damage);
                assert_eq!(decode(charset, bytes, part_bytes), expected, "{label} {part_bytes}");
            }
        };
        let damage = |n_replaced, line, offset| Some(Damage { n_replaced, line, offset });
        check("utf-8", "ä\n€".as_bytes(), "ä\n€", None);
        check("utf-8", b"a\r\nb\n\xc3(\xff", "a\r\nb\n\u{fffd}(\u{fffd}", damage(2, 3, 5));
        check("utf-8", b"\xe2\x82", "\u{fffd}", damage(1, 1, 0));
        for label in ["latin1", "latin-1", "Latin_1", "iso_8859-1", "iso8859_1", "cp1252"] {
            check(label, b"caf\xe9 \x93x\x94", "café “x”", None);
        }
        for label in ["utf8", "UTF_8", "utf-8-sig", "utf_8_sig"] {
            check(label, "café".as_bytes(), "café", None);
        }
        check("mac_roman", b"caf\x8e", "café", None);
        check("utf-32le", b"a\0\0\0\xac\x20\0\0", "a€", None);
        check(
            "utf-8+windows-1252",
            b"M\xc3\xbcller,Jos\xe9,5 \x80\xe2\x82",
            "Müller,José,5 €â‚",
            None,
        );
        check("cp850", b"M\x81ller,\xe1\xff", "Müller,ß\u{a0}", None);
        check("utf-32be", b"\0\0\0\n\0\x11\0\0\0\0", "\n\u{fffd}\u{fffd}", damage(2, 2, 4));
    }

    #[test]
    fn a_strict_decoder_stops_at_the_first_malformed_byte() {
        let mut decoder = TextDecoder::new(Charset::UTF_8, false);
        let mut text = Vec::new();
        assert_eq!(decoder.decode(b"ab\n", &mut text, false), Ok(()));
        assert_eq!(decoder.decode(b"c\xe9,", &mut text, false), Err(Malformed { offset: 4 }));
    }

    #[test]
    fn a_mark_declares_the_encoding() {
        let check = |head: &[u8], expected: Option<(&str, usize)>| {
            let found = Charset::for_mark(head).map(|(charset, n)| (charset.name(), n));
            assert_eq!(found, expected.map(|(name, n)| (name.to_owned(), n)), "{head:?}");
        };
        check(b"\xef\xbb\xbfa", Some(("utf-8", 3)));
        check(b"\xff\xfea\0", Some(("utf-16le", 2)));
        check(b"\xff\xfe\0\0a\0\0\0", Some(("utf-32le", 4)));
        check(b"\0\0\xfe\xff\0\0\0a", Some(("utf-32be", 4)));
        check(b"a,b", None);
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn the_parts_change_nothing(
            bytes in prop::collection::vec(any::<u8>(), 0..60),
            part_bytes in 1_usize..20,
        ) {
            for label in ["utf-8", "utf-16le", "utf-32be", "gbk", "windows-1253", "ibm850", "utf-8+windows-1252"] {
                let charset = Charset::for_label(label).unwrap();
                prop_assert_eq!(decode(charset, &bytes, part_bytes), decode(charset, &bytes, 100));
            }
        }
    }
}
