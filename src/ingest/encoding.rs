//! The encoding of a file, and the reason for it.
//!
//! Pure. A byte order mark decides, then the zeros of UTF-16, then whether all bytes are UTF-8. A file
//! that is none of these is examined as a whole: it is damaged UTF-8 when nearly all of it is UTF-8,
//! concatenated from UTF-8 and windows-1252 when it has much of both, and otherwise in the encoding in
//! which its non-ASCII letters make the most sense. A few letters fit many encodings: the result is
//! then windows-1252 unless they exclude it, and the reason says that it was a guess.

use std::collections::BTreeSet;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    ISO_8859_2, ISO_8859_4, ISO_8859_15, MACINTOSH, UTF_16BE, UTF_16LE, WINDOWS_1250, WINDOWS_1252,
    WINDOWS_1254, WINDOWS_1257, WINDOWS_1258,
};

use csv_agent_types::catalog::Damage;
use csv_agent_types::limits::ENCODING_SAMPLE_BYTES_MAX;

use super::charset::{Charset, TextDecoder};
use super::language_fit::{BALTIC, CENTRAL, LanguageFit, TURKISH, VIETNAMESE, WESTERN};

/// An encoding, and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundEncoding {
    /// The encoding.
    pub charset: Charset,
    /// Bytes of the byte order mark.
    pub mark_bytes: usize,
    /// The bytes that are invalid in the encoding; `None` until the whole file has been read for it.
    pub damage: Option<Damage>,
    /// The reason, as shown to the user.
    pub reason: String,
    /// Whether the user should check the reason.
    pub is_doubtful: bool,
}

impl FoundEncoding {
    /// Returns the result for text that this program has written.
    pub(crate) fn utf8_as_written() -> Self {
        FoundEncoding {
            charset: Charset::UTF_8,
            mark_bytes: 0,
            damage: None,
            reason: "as written".to_owned(),
            is_doubtful: false,
        }
    }
}

/// Reads a text from its beginning, and passes it on in parts.
pub(crate) type Parts<'a> = dyn Fn(&mut dyn FnMut(&[u8])) -> anyhow::Result<()> + 'a;

/// Returns what the first bytes determine with certainty.
pub(crate) fn of_head(head: &[u8]) -> Option<FoundEncoding> {
    let found = |charset, mark_bytes, reason: &str| {
        let reason = reason.to_owned();
        Some(FoundEncoding { charset, mark_bytes, damage: None, reason, is_doubtful: false })
    };
    if let Some((charset, mut length)) = Charset::for_mark(head) {
        // Programs that prepend a mark do not check whether one exists.
        while charset == Charset::UTF_8 && head[length..].starts_with(b"\xef\xbb\xbf") {
            length += 3;
        }
        return found(charset, length, "the file begins with its byte order mark");
    }
    let zeros = |odd: usize| head.iter().skip(odd).step_by(2).filter(|it| **it == 0).count();
    let (even, odd, half) = (zeros(0), zeros(1), head.len() / 2);
    if 1 < half && half / 2 < odd && even * 10 < odd {
        return found(Charset::Listed(UTF_16LE), 0, "every other byte is zero");
    }
    if 1 < half && half / 2 < even && odd * 10 < even {
        return found(Charset::Listed(UTF_16BE), 0, "every other byte is zero");
    }
    None
}

/// Returns UTF-8 if all windows are UTF-8, so that only the text between them could prove otherwise.
pub(crate) fn utf8(head: &[u8], others: &[Vec<u8>]) -> Option<FoundEncoding> {
    let is_utf8 = is_utf8(head) && others.iter().all(|it| is_utf8(behind_torn(it)));
    let reason = "the whole file is valid UTF-8".to_owned();
    let charset = Charset::UTF_8;
    let found = FoundEncoding { charset, mark_bytes: 0, damage: None, reason, is_doubtful: false };
    is_utf8.then_some(found)
}

/// A window may begin within a character.
fn behind_torn(window: &[u8]) -> &[u8] {
    let n_rest = window.iter().take(3).take_while(|it| (0x80..0xc0).contains(*it)).count();
    &window[n_rest..]
}

/// A window may end within a character.
fn is_utf8(window: &[u8]) -> bool {
    match simdutf8::compat::from_utf8(window) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    }
}

/// Finds the damage in a file whose encoding is certain.
pub(crate) fn with_damage(
    known: FoundEncoding,
    parts: &Parts<'_>,
) -> anyhow::Result<FoundEncoding> {
    let damage = damage_in(known.charset, parts)?;
    Ok(damaged(known, damage))
}

/// Finds the encoding of a file that is not UTF-8 throughout.
pub(crate) fn survey(parts: &Parts<'_>) -> anyhow::Result<FoundEncoding> {
    let mut decoder = TextDecoder::new(Charset::UTF_8, true);
    let mut sample = LetterSample::new();
    let (mut text, mut n_wide, mut n_high) = (Vec::new(), 0, 0);
    let mut look = |part: &[u8], is_end| {
        text.clear();
        // A lossy decoder does not fail.
        let _ = decoder.decode(part, &mut text, is_end);
        // The first byte of each character that takes several.
        n_wide += count(&text, 0xc0);
        n_high += count(part, 0x80);
        sample.add(part, is_end);
    };
    parts(&mut |part| look(part, false))?;
    look(&[], true);

    let found = |charset: Charset, reason: String| FoundEncoding {
        charset,
        mark_bytes: 0,
        damage: None,
        reason,
        is_doubtful: false,
    };
    let damage = decoder.damage();
    let n_bad = damage.map_or(0, |it| it.n_replaced);
    let n_good = n_wide - n_bad;
    if let Some(Damage { n_replaced, line, offset }) = damage
        && is_mixed(n_good, n_bad)
        && sample.is_western_in_utf8()
    {
        let reason = format!(
            "it mixes UTF-8 and windows-1252: {n_replaced} bytes are windows-1252, the first on line \
             {line} at byte offset {offset}"
        );
        return Ok(FoundEncoding { is_doubtful: true, ..found(Charset::Mixed, reason) });
    }
    if is_mostly(n_good, n_bad) {
        let utf8 = found(Charset::UTF_8, "nearly the whole file is valid UTF-8".to_owned());
        return Ok(damaged(utf8, damage));
    }
    let guess = sample.guess();
    let damage = damage_in(guess.charset, parts)?;
    let n_bad = damage.map_or(0, |it| it.n_replaced);
    if n_bad != 0 && !is_mostly(n_high, n_bad) {
        let reason = "the file is not valid UTF-8, and not valid in any other encoding throughout"
            .to_owned();
        return Ok(found(sample.latin(WESTERN_EUROPE).0, reason));
    }
    let mut guessed = found(guess.charset, sample.reason(guess));
    guessed.is_doubtful = guess.is_doubtful;
    Ok(damaged(guessed, damage))
}

/// Returns whether there is enough of both for a concatenation of UTF-8 and another encoding.
fn is_mixed(n_good: u64, n_bad: u64) -> bool {
    1 < n_bad && n_bad <= 4 * n_good && n_good <= 20 * n_bad
}

/// Returns whether so much is well-formed that the rest must be damage rather than another encoding.
fn is_mostly(n_good: u64, n_bad: u64) -> bool {
    /// In a short file a few malformed bytes do not prove another encoding: two letters of another
    /// encoding are hardly ever a UTF-8 character by chance.
    const A_FEW: u64 = 16;
    n_bad * 1_000 < n_good || (n_bad <= A_FEW && n_bad * 2 <= n_good)
}

fn count(bytes: &[u8], from: u8) -> u64 {
    bytes.iter().filter(|it| from <= **it).count() as u64
}

fn damage_in(charset: Charset, parts: &Parts<'_>) -> anyhow::Result<Option<Damage>> {
    let mut decoder = TextDecoder::new(charset, true);
    let mut text = Vec::new();
    let mut decode = |part: &[u8], is_end| {
        text.clear();
        // A lossy decoder does not fail.
        let _ = decoder.decode(part, &mut text, is_end);
    };
    parts(&mut |part| decode(part, false))?;
    decode(&[], true);
    Ok(decoder.damage())
}

fn damaged(found: FoundEncoding, damage: Option<Damage>) -> FoundEncoding {
    let Some(damage) = damage else { return found };
    let offset = damage.offset + found.mark_bytes as u64;
    let damage = Damage { offset, ..damage };
    let Damage { n_replaced, line, .. } = damage;
    let reason = format!(
        "{}; U+FFFD replaces the invalid bytes, {n_replaced} in all, the first on line {line} at byte \
         offset {offset}",
        found.reason
    );
    FoundEncoding { damage: Some(damage), reason, ..found }
}

/// Fewer words fit some language by chance.
const WORDS_MIN: usize = 3;
/// With fewer words, or fewer distinct non-ASCII bytes, the encoding is a guess.
const SURE_WORDS_MIN: usize = 5;
const SURE_BYTES_MIN: usize = 3;
const WESTERN_EUROPE: Charset = Charset::Listed(WINDOWS_1252);

/// Encodings of Latin letters, and the languages written in them.
const LATIN: &[(&[Charset], &[&str])] = &[
    (&[WESTERN_EUROPE], WESTERN),
    (&[Charset::Listed(WINDOWS_1250), Charset::Listed(ISO_8859_2)], CENTRAL),
    (&[Charset::Listed(WINDOWS_1254)], TURKISH),
    (&[Charset::Listed(WINDOWS_1257), Charset::Listed(ISO_8859_4)], BALTIC),
    (&[Charset::Listed(WINDOWS_1258)], VIETNAMESE),
    (&[Charset::Listed(MACINTOSH), Charset::Ibm850], WESTERN),
];

/// Returns by how much another encoding must fit better than the Western European one.
fn doubt(western: LanguageFit, other: LanguageFit, is_agreed: bool) -> usize {
    let few = if western.n_impossible == 0 && !is_agreed { WORDS_MIN } else { 0 };
    let mixed =
        if other.is_nearly_full() { 0 } else { western.score / if is_agreed { 16 } else { 8 } };
    few + mixed
}

/// Returns whether windows-1252 has a character for a byte.
fn is_western(byte: u8) -> bool {
    !matches!(byte, 0x81 | 0x8d | 0x8f | 0x90 | 0x9d)
}

/// An encoding guessed from its letters.
#[derive(Debug, Clone, Copy)]
struct Guess {
    charset: Charset,
    /// Whether another encoding would fit as well.
    is_doubtful: bool,
}

/// Passes only lines with non-ASCII bytes to the detector: the other lines would only show it that most
/// of a table is digits.
struct LetterSample {
    detector: EncodingDetector,
    n_bytes: usize,
    /// The first such lines.
    lines: Vec<u8>,
    /// The first of those that are not UTF-8.
    not_utf8: Vec<u8>,
    /// The beginning of an incomplete line.
    rest: Vec<u8>,
}

impl LetterSample {
    fn new() -> Self {
        let detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        let (lines, not_utf8, rest) = (Vec::new(), Vec::new(), Vec::new());
        LetterSample { detector, n_bytes: 0, lines, not_utf8, rest }
    }

    /// Returns the encoding in which the lines read best.
    ///
    /// The detector uses letter sequences, and supports neither Macintosh nor DOS encodings.
    fn guess(&self) -> Guess {
        let high_bytes = self.high_bytes();
        let guess = Charset::Listed(self.detector.guess(None, Utf8Detection::Deny));
        let (latin, fit) = self.latin(guess);
        let is_latin = LATIN.iter().any(|it| it.0.contains(&guess));
        let is_sure = fit.is_full() && (latin == WESTERN_EUROPE || WORDS_MIN <= fit.n_words);
        // A text in another script never has only one distinct letter.
        let is_one = high_bytes.len() == 1 && high_bytes.iter().all(|it| is_western(*it));
        let charset = match (is_latin || is_sure, is_one) {
            (true, _) => latin,
            (false, true) => WESTERN_EUROPE,
            (false, false) => guess,
        };
        // Nobody writes `¤`, the sign of any currency, which is `€` in the later standard. That has no signs in
        // 0x80 to 0x9F, where windows-1252 has its own `€`.
        let is_later = charset == WESTERN_EUROPE
            && high_bytes.contains(&0xa4)
            && !high_bytes.iter().any(|it| (0x80..=0x9f).contains(it));
        let charset = if is_later { Charset::Listed(ISO_8859_15) } else { charset };
        let is_doubtful = fit.n_words < SURE_WORDS_MIN || high_bytes.len() < SURE_BYTES_MIN;
        Guess { charset, is_doubtful }
    }

    fn high_bytes(&self) -> BTreeSet<u8> {
        self.lines.iter().copied().filter(|it| !it.is_ascii()).collect()
    }

    fn reason(&self, guess: Guess) -> String {
        /// Maximum number of bytes shown in a message.
        const SHOWN_MAX: usize = 4;
        const WORD_BYTES_MAX: usize = 40;
        if !guess.is_doubtful {
            return "the file is not valid UTF-8, and its letters fit this encoding best"
                .to_owned();
        }
        let bytes = self.high_bytes();
        let shown: Vec<_> = bytes.iter().take(SHOWN_MAX).map(|it| format!("0x{it:02X}")).collect();
        let more = if SHOWN_MAX < bytes.len() { ", …" } else { "" };
        let mut words = self.lines.split(|it| it.is_ascii() && !it.is_ascii_alphanumeric());
        let word = words.find(|it| !it.is_ascii()).unwrap_or_default();
        let word = guess.charset.window(&word[..word.len().min(WORD_BYTES_MAX)]);
        let word = String::from_utf8_lossy(&word);
        format!(
            "a guess from few bytes outside ASCII ({}{more}), read as in `{word}`; if that is wrong, name \
             the encoding with `--encoding`",
            shown.join(", ")
        )
    }

    /// Returns whether bytes that are not UTF-8 are windows-1252 characters: each between ASCII
    /// characters, and none the beginning of a truncated character.
    fn is_western_in_utf8(&self) -> bool {
        let (mut n_bad, mut n_western) = (0, 0);
        let mut chunks = self.not_utf8.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            let [byte] = chunk.invalid() else {
                n_bad += usize::from(!chunk.invalid().is_empty());
                continue;
            };
            let next = chunks.peek().and_then(|it| it.valid().chars().next());
            let is_between = chunk.valid().chars().next_back().is_none_or(|it| it.is_ascii())
                && next.is_some_and(|it| it.is_ascii());
            let is_cut = matches!(byte, 0xc2 | 0xc3 | 0xe2)
                && !next.is_some_and(|it| it.is_ascii_alphabetic());
            n_bad += 1;
            n_western += usize::from(is_between && is_western(*byte) && !is_cut);
        }
        4 * n_bad <= 5 * n_western
    }

    /// Returns the encoding of Latin letters in which most words are plausible: the Western European
    /// one, unless another fits better.
    fn latin(&self, guess: Charset) -> (Charset, LanguageFit) {
        let fit = |charset: Charset, languages: &[&str]| {
            let text = charset.window(&self.lines);
            LanguageFit::of(&String::from_utf8_lossy(&text), languages, languages == WESTERN)
        };
        let western = fit(WESTERN_EUROPE, WESTERN);
        let mut best = (WESTERN_EUROPE, western, western.score);
        for (charsets, languages) in LATIN {
            for charset in *charsets {
                let found = fit(*charset, languages);
                let is_agreed = charsets.contains(&guess) && WORDS_MIN <= western.n_words;
                let margin = doubt(western, found, is_agreed);
                let score = found.score.saturating_sub(margin);
                if best.2 < score {
                    best = (*charset, found, score);
                }
            }
        }
        (best.0, best.1)
    }

    fn add(&mut self, part: &[u8], is_end: bool) {
        /// More would not change the result.
        const LINES_BYTES_MAX: usize = 64 * 1024;
        let is_full = ENCODING_SAMPLE_BYTES_MAX <= self.n_bytes;
        if is_full && LINES_BYTES_MAX <= self.not_utf8.len() {
            return;
        }
        self.rest.extend_from_slice(part);
        let is_long = ENCODING_SAMPLE_BYTES_MAX <= self.rest.len();
        let last_end = memchr::memrchr2(b'\n', b'\r', &self.rest).map_or(0, |it| it + 1);
        let n_whole = if is_end || is_long { self.rest.len() } else { last_end };
        let keep = |lines: &mut Vec<u8>, line: &[u8]| {
            if lines.len() < LINES_BYTES_MAX {
                lines.extend_from_slice(line);
                lines.push(b'\n');
            }
        };
        let lines = self.rest[..n_whole].split(|it| matches!(it, b'\n' | b'\r'));
        for line in lines.filter(|it| !it.is_ascii()) {
            if self.n_bytes < ENCODING_SAMPLE_BYTES_MAX {
                keep(&mut self.lines, line);
                self.detector.feed(line, false);
                self.detector.feed(b"\n", false);
                self.n_bytes += line.len();
            }
            if simdutf8::basic::from_utf8(line).is_err() {
                keep(&mut self.not_utf8, line);
            }
        }
        self.rest.drain(..n_whole);
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{Encoding, WINDOWS_1252};
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};

    use super::{FoundEncoding, of_head, survey, utf8, with_damage};
    use csv_agent_testing::cases;
    use csv_agent_types::catalog::Damage;

    #[test]
    fn an_encoding_is_known_by_its_mark_or_its_zeros() {
        let check = |bytes: &[u8], expected| {
            let found = of_head(bytes).map(|it| (it.charset.name(), it.mark_bytes));
            assert_eq!(found.as_ref().map(|it| (it.0.as_str(), it.1)), expected, "{bytes:?}");
        };
        check(b"a,b\n", None);
        check("ä,b\n".as_bytes(), None);
        check(b"\xef\xbb\xbfa,b\n", Some(("utf-8", 3)));
        check(b"\xef\xbb\xbf\xef\xbb\xbfa,b\n", Some(("utf-8", 6)));
        check(b"\xff\xfea\0,\0", Some(("utf-16le", 2)));
        check(b"\x84\x31\x95\x33a,b\n", Some(("gb18030", 4)));
        check(b"a\0,\0b\0\n\0", Some(("utf-16le", 0)));
        check(b"\0a\0,\0b\0\n", Some(("utf-16be", 0)));
        assert!(utf8("ä,b\n".as_bytes(), &["€".as_bytes()[1..].to_vec()]).is_some());
        assert!(utf8(b"caf\xe9,b\n", &[]).is_none());
        assert!(utf8(b"\xa3bn,b\n", &[]).is_none());
    }

    fn found(bytes: &[u8]) -> FoundEncoding {
        let parts = |each: &mut dyn FnMut(&[u8])| {
            let part_bytes = if bytes.len() < 1_000 { 7 } else { 10_000 };
            bytes.chunks(part_bytes).for_each(each);
            Ok(())
        };
        survey(&parts).unwrap()
    }

    fn surveyed(bytes: &[u8]) -> (String, Option<Damage>) {
        let found = found(bytes);
        (found.charset.name(), found.damage)
    }

    #[test]
    fn the_letters_tell_the_encoding() {
        let check = |label: &str, text: &str| {
            let encoding = Encoding::for_label(label.as_bytes()).unwrap();
            let (bytes, _, has_unmappable) = encoding.encode(text);
            assert!(!has_unmappable, "{label}");
            assert_eq!(surveyed(&bytes), (encoding.name().to_ascii_lowercase(), None));
        };
        check("latin1", "name,city\nJosé,Málaga\nZoë,Köln\nFrançois,Orléans\n");
        check("latin1", "item,price\ntea,5 €\n“cocoa”,7 €\n");
        check("latin1", "name,word\nvalid,ÿÿ\nvalid,ÿÿ\n");
        check("latin1", "Bank\u{a0},City\u{a0},State\u{a0},Cert\u{a0}\nA – B,x,y,1\n");
        check("latin1", "Région,Densité (hab./km²),Mise à jour\nBretagne,5,6\nRhône,7,8\n");
        check("macintosh", "name,city\nJürgen,Málaga\nZoë,Köln\nFrançois,Orléans\n");
        check("windows-1250", "jméno,město\nTomáš,Plzeň\nŽofie,Třebíč\nJiří,Děčín\n");
        check("windows-1251", "имя,город\nАнна,Москва\nИван,Новосибирск\n");
        // The detector does not report KOI8-R: KOI8-U has its letters and some more.
        check("koi8-u", "имя,город\nАнна,Москва\nИван,Новосибирск\n");
        check("windows-1253", "όνομα,πόλη\nΜαρία,Θεσσαλονίκη\nΝίκος,Αθήνα\n");
        check("shift_jis", "名前,都市\n田中さくら,東京\n鈴木けんじ,大阪のまち\n");
        check("euc-jp", "名前,都市\n田中さくら,東京\n鈴木けんじ,大阪のまち\n");
        check("gbk", "姓名,城市\n王小明,北京\n李红,上海的天气很好\n");
        check("big5", "姓名,城市\n王小明,臺北\n李紅,高雄的天氣很好\n");
        check("euc-kr", "이름,도시\n김철수,서울\n이영희,부산에서 살아요\n");
    }

    #[test]
    fn letters_of_dos_are_told_by_their_places() {
        let text = b"name,city\nJ\x81rgen,M\xa0laga\nZo\x89,K\x94ln\nFran\x87ois,Orl\x82ans\n";
        assert_eq!(surveyed(text), ("ibm850".to_owned(), None));
        assert_eq!(surveyed(b"Stra\xe1e\nBj\x94rk\n"), ("ibm850".to_owned(), None));
    }

    #[test]
    fn a_few_bad_bytes_are_damage_and_no_other_encoding() {
        let damage = |n_replaced, line, offset| Some(Damage { n_replaced, line, offset });
        let utf8 = |damage| ("utf-8".to_owned(), damage);
        assert_eq!(surveyed("ä,ö\nü,\u{e9}\n".as_bytes()), utf8(None));
        assert_eq!(surveyed(b"\xc3\xa4,\xc3\xb6\nx,\xe9\n"), utf8(damage(1, 2, 8)));
        let long = ["é,ñ\n".repeat(9_000).into_bytes(), b"\xff,\xe9\n".repeat(8)].concat();
        assert_eq!(surveyed(&long), utf8(damage(16, 9_001, 54_000)));
    }

    #[test]
    fn a_file_joined_from_utf8_and_another_encoding_keeps_both() {
        let (name, damage) = surveyed(&b"M\xc3\xbcller,Jos\xe9\n".repeat(50));
        assert_eq!((name.as_str(), damage), ("utf-8+windows-1252", None));
        // Characters that were cut off are damage and no letters.
        let cut = ["é,ñ\n".repeat(20).into_bytes(), b"caf\xc3,1\n".repeat(4)].concat();
        assert_eq!(surveyed(&cut).0, "utf-8");
        // Far behind the beginning as well.
        let utf8 = "é,ñ\n".repeat(20_000).into_bytes();
        let behind = |lines: &[u8]| surveyed(&[&utf8[..], &lines.repeat(9_000)].concat()).0;
        assert_eq!(behind(b"Jos\xe9,1\n"), "utf-8+windows-1252");
        assert_ne!(behind(b"\xcc\xee\xf1\xea\xe2\xe0,1\n"), "utf-8+windows-1252");
        let found = found(b"a\nM\xc3\xbcller\nJos\xe9\n5 \x80\n");
        assert_eq!(
            (found.reason.as_str(), found.is_doubtful),
            (
                "it mixes UTF-8 and windows-1252: 2 bytes are windows-1252, the first on line 3 at byte \
                 offset 13",
                true
            )
        );
    }

    #[test]
    fn few_bytes_are_western_unless_that_cannot_be_and_the_reason_says_so() {
        let check = |label: &str, text: &str| {
            let (bytes, _, has_unmappable) =
                Encoding::for_label(label.as_bytes()).unwrap().encode(text);
            assert!(!has_unmappable, "{text}");
            let found = found(&bytes);
            let read = String::from_utf8(found.charset.window(&bytes)).unwrap();
            assert_eq!((read.as_str(), found.is_doubtful), (text, true), "{found:?}");
            assert!(found.reason.contains("`--encoding`"), "{found:?}");
        };
        for text in WESTERN_TEXTS {
            check("windows-1252", text);
        }
        check("windows-1250", "miasto\nŁódź\n");
        check("windows-1250", "miasto\nWrocław\n");
        check("windows-1251", "имя\nАнна\n");
        check("shift_jis", "名前\n田中さくら\n");
        assert_eq!(
            found(b"item,Amount (\xa3)\ntea,5\n").reason,
            "a guess from few bytes outside ASCII (0xA3), read as in `£`; if that is wrong, name the \
             encoding with `--encoding`"
        );
    }

    /// What files have that are ASCII but for a sign or a name.
    const WESTERN_TEXTS: &[&str] = &[
        "£5", "Amount (£)", "price_£", "£m", "£1,000", "5 €", "€5", "EUR (€)", "¥100", "5¢", "µg",
        "PM2.5 (µg/m³)", "m³", "km²", "kg/m³", "ft²", "CO²", "±5", "±", "20°C", "20 °C", "°F",
        "45°30'", "½", "2½", "¼ mile", "§ 5", "‰", "×", "3×4", "©2020", "Lego™", "®", "nº 5", "1ª",
        "N°", "“x”", "‘a’", "don’t", "rock ’n’ roll", "a – b", "2019–2020", "a—b", "…", "• item",
        "«oui»", "¿qué?", "¡hola!", "Køge", "Ærø", "Århus", "Sjælland", "Rømø", "Tromsø", "Søren",
        "Ångström", "Malmö", "Göteborg", "Växjö", "Hämeenlinna", "Zürich", "Müller", "Köln",
        "Straße", "Gießen", "Größe", "weiß", "Österreich", "Übergröße", "São Paulo", "João",
        "Maranhão", "Não", "Situação", "Descrição", "Conceição", "naïve", "café", "garçon", "Noël",
        "crème brûlée", "Hôtel", "œuvre", "Été", "Besançon", "à la carte", "Date d’arrivée",
        "L’Oréal", "Citroën", "Zoë", "José", "Málaga", "Núñez", "Año", "Logroño", "Código",
        "piñata", "lunedì", "più", "città", "perché", "Reykjavík", "Þór", "Ísafjörður", "Curaçao",
        "é", "ø", "ß", "ñ", "ç", "Å", "Ü", "Häagen-Dazs", "Beyoncé",
    ];

    #[test]
    fn a_mark_is_believed_and_the_rest_is_damage() {
        let text: &[u8] = b"\xef\xbb\xbfa,b\n\xe9,1\n";
        let parts = |each: &mut dyn FnMut(&[u8])| {
            each(&text[3..]);
            Ok(())
        };
        let found = with_damage(of_head(text).unwrap(), &parts).unwrap();
        assert_eq!(found.damage, Some(Damage { n_replaced: 1, line: 2, offset: 7 }));
        assert_eq!(
            found.reason,
            "the file begins with its byte order mark; U+FFFD replaces the invalid bytes, 1 in all, the \
             first on line 2 at byte offset 7"
        );
    }

    const WORDS: &[&str] =
        &["Müller", "José", "São Paulo", "Zoë", "Køge", "Ångström", "5 €", "20 °C", "m²", "Ñandú"];

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn one_western_text_among_ascii_is_read_as_it_was_written(
            text in prop::sample::select(WESTERN_TEXTS),
            before in "([a-z]{1,9}[,;\t\n \"(]){0,4}",
            behind in "([,;\t\n \")][a-z0-9]{1,9}){0,4}",
            n_times in 1_usize..20,
        ) {
            let line = format!("{before}{text}{behind}\n").repeat(n_times);
            let bytes = WINDOWS_1252.encode(&line).0;
            let read = String::from_utf8(found(&bytes).charset.window(&bytes)).unwrap();
            prop_assert_eq!(read, line);
        }

        #[test]
        fn lines_of_utf8_and_of_latin1_keep_their_letters(
            lines in prop::collection::vec((prop::sample::select(WORDS), any::<bool>()), 4..60),
            (one, other) in (prop::sample::select(WORDS), prop::sample::select(WORDS)),
        ) {
            // Some of both.
            let lines = lines.into_iter().chain([(one, true), (other, false)].repeat(10));
            let (mut text, mut bytes) = (String::new(), Vec::new());
            for (word, is_utf8) in lines {
                let line = format!("1,{word},x\n");
                let western = WINDOWS_1252.encode(&line).0;
                bytes.extend_from_slice(if is_utf8 { line.as_bytes() } else { &western });
                text += &line;
            }
            let read = String::from_utf8(found(&bytes).charset.window(&bytes)).unwrap();
            prop_assert_eq!(read, text);
        }

        #[test]
        fn whatever_bytes_arrive_there_is_an_encoding(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            of_head(&bytes);
            surveyed(&bytes);
        }
    }
}
