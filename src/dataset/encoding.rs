//! Which encoding a file has, and the reason.
//!
//! Pure. A byte order mark decides, then the zeros of UTF-16, then whether all bytes are UTF-8. A
//! file that is none of these is surveyed as a whole: it is damaged UTF-8 when nearly all of it is
//! UTF-8, and otherwise of the encoding that its other letters make the most sense in.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    Encoding, ISO_8859_2, MACINTOSH, UTF_16BE, UTF_16LE, WINDOWS_1250, WINDOWS_1252, WINDOWS_1254,
    WINDOWS_1257, WINDOWS_1258,
};

use super::charset::{Charset, TextDecoder};
use super::letters::Letters;
use crate::catalog::Damage;
use crate::limits::ENCODING_SAMPLE_BYTES_MAX;

/// An encoding, and why it is that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The encoding.
    pub charset: Charset,
    /// Bytes of the byte order mark.
    pub mark_bytes: usize,
    /// What is no text of the encoding; `None` until the whole file was read for it.
    pub damage: Option<Damage>,
    /// As the user reads it.
    pub reason: String,
}

/// Reads a text from its beginning, and hands on part after part.
pub type Parts<'a> = dyn Fn(&mut dyn FnMut(&[u8])) -> anyhow::Result<()> + 'a;

/// Returns what the first bytes say for certain.
pub fn of_head(head: &[u8]) -> Option<Found> {
    let found = |charset, mark_bytes, reason: &str| {
        Some(Found { charset, mark_bytes, damage: None, reason: reason.to_owned() })
    };
    if let Some((charset, mut length)) = Charset::for_mark(head) {
        // Programs that put one in front do not look whether there is one.
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

/// Returns UTF-8 if the windows are, so that only what lies between them could tell otherwise.
pub fn utf8(head: &[u8], others: &[Vec<u8>]) -> Option<Found> {
    let is_utf8 = is_utf8(head) && others.iter().all(|it| is_utf8(it));
    let reason = "the whole file is valid UTF-8".to_owned();
    let found = Found { charset: Charset::UTF_8, mark_bytes: 0, damage: None, reason };
    is_utf8.then_some(found)
}

/// A window may begin and end within a character.
fn is_utf8(window: &[u8]) -> bool {
    let n_rest = window.iter().take(3).take_while(|it| (0x80..0xc0).contains(*it)).count();
    match simdutf8::compat::from_utf8(&window[n_rest..]) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    }
}

/// Finds the damage in a file whose encoding is certain.
///
/// # Errors
///
/// Fails when the file cannot be read.
pub fn with_damage(known: Found, parts: &Parts<'_>) -> anyhow::Result<Found> {
    let damage = damage_in(known.charset, parts)?;
    Ok(damaged(known, damage))
}

/// Finds the encoding of a file that is not UTF-8 throughout.
///
/// # Errors
///
/// Fails when the file cannot be read.
pub fn survey(parts: &Parts<'_>) -> anyhow::Result<Found> {
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

    let found =
        |charset: Charset, reason: String| Found { charset, mark_bytes: 0, damage: None, reason };
    let damage = decoder.damage();
    let n_bad = damage.map_or(0, |it| it.n_replaced);
    if is_mostly(n_wide - n_bad, n_bad) {
        let utf8 = found(Charset::UTF_8, "nearly the whole file is valid UTF-8".to_owned());
        return Ok(damaged(utf8, damage));
    }
    let guess = sample.guess();
    let damage = damage_in(guess, parts)?;
    let n_bad = damage.map_or(0, |it| it.n_replaced);
    if n_bad != 0 && !is_mostly(n_high, n_bad) {
        let reason = "the file is no valid UTF-8 and of no other encoding throughout".to_owned();
        return Ok(found(sample.doubted(WINDOWS_1252), reason));
    }
    let reason = "the file is no valid UTF-8, and its letters fit this encoding best".to_owned();
    Ok(damaged(found(guess, reason), damage))
}

/// Returns whether so much is well-formed that the rest must be damage and not another encoding.
fn is_mostly(n_good: u64, n_bad: u64) -> bool {
    /// In a short file a few are no proof of another encoding: two letters of another encoding are
    /// hardly ever a character of UTF-8 by chance.
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

fn damaged(found: Found, damage: Option<Damage>) -> Found {
    let Some(damage) = damage else { return found };
    let offset = damage.offset + found.mark_bytes as u64;
    let damage = Damage { offset, ..damage };
    let Damage { n_replaced, line, .. } = damage;
    let reason = format!(
        "{}; U+FFFD replaces what is not, {n_replaced} in all, the first on line {line} at byte \
         offset {offset}",
        found.reason
    );
    Found { damage: Some(damage), reason, ..found }
}

/// Gives the lines that hold more than ASCII to the detector: in the others it would only see that
/// most of a table is digits.
struct LetterSample {
    detector: EncodingDetector,
    n_bytes: usize,
    /// The first of the lines.
    lines: Vec<u8>,
    /// The beginning of a line whose end is still to come.
    rest: Vec<u8>,
}

impl LetterSample {
    fn new() -> Self {
        let detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        LetterSample { detector, n_bytes: 0, lines: Vec::new(), rest: Vec::new() }
    }

    /// Returns the encoding in which the lines read best.
    fn guess(&self) -> Charset {
        const LATIN: [&Encoding; 6] =
            [WINDOWS_1252, WINDOWS_1250, ISO_8859_2, WINDOWS_1254, WINDOWS_1257, WINDOWS_1258];
        let guess = self.detector.guess(None, Utf8Detection::Deny);
        if LATIN.contains(&guess) { self.doubted(guess) } else { Charset::Listed(guess) }
    }

    /// Returns the encoding of Latin letters in which these stand where letters do: that of the
    /// guess, if they do in it.
    ///
    /// The detector knows the letters of languages, and neither Macintosh nor DOS.
    fn doubted(&self, guess: &'static Encoding) -> Charset {
        let letters =
            |charset: Charset| Letters::of(&String::from_utf8_lossy(&charset.window(&self.lines)));
        let [guess, western] = [guess, WINDOWS_1252].map(Charset::Listed);
        let (of_guess, of_western) = (letters(guess), letters(western));
        if 0 < of_guess.n_rare && of_western.n_misplaced == 0 {
            return western;
        }
        if of_guess.n_misplaced * 4 < of_guess.n {
            return guess;
        }
        let others = [Charset::Listed(MACINTOSH), Charset::Ibm850];
        let fits = |it: &Charset| {
            let found = letters(*it);
            found.n_misplaced * 10 <= found.n && found.n_misplaced < of_guess.n_misplaced
        };
        others.into_iter().filter(fits).min_by_key(|it| letters(*it).n_misplaced).unwrap_or(guess)
    }

    fn add(&mut self, part: &[u8], is_end: bool) {
        /// More would not change the picture.
        const LINES_BYTES_MAX: usize = 64 * 1024;
        if ENCODING_SAMPLE_BYTES_MAX <= self.n_bytes {
            return;
        }
        self.rest.extend_from_slice(part);
        let is_long = ENCODING_SAMPLE_BYTES_MAX <= self.rest.len();
        let last_end = memchr::memrchr2(b'\n', b'\r', &self.rest).map_or(0, |it| it + 1);
        let n_whole = if is_end || is_long { self.rest.len() } else { last_end };
        for line in self.rest[..n_whole].split(|it| matches!(it, b'\n' | b'\r')) {
            if !line.is_ascii() && self.n_bytes < ENCODING_SAMPLE_BYTES_MAX {
                if self.lines.len() < LINES_BYTES_MAX {
                    self.lines.extend_from_slice(line);
                    self.lines.push(b'\n');
                }
                self.detector.feed(line, false);
                self.detector.feed(b"\n", false);
                self.n_bytes += line.len();
            }
        }
        self.rest.drain(..n_whole);
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::Encoding;
    use proptest::prelude::{any, prop, proptest};

    use super::{of_head, survey, utf8, with_damage};
    use crate::cases::cases;
    use crate::catalog::Damage;

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
        check(b"a\0,\0b\0\n\0", Some(("utf-16le", 0)));
        check(b"\0a\0,\0b\0\n", Some(("utf-16be", 0)));
        assert!(utf8("ä,b\n".as_bytes(), &["€".as_bytes()[1..].to_vec()]).is_some());
        assert!(utf8(b"caf\xe9,b\n", &[]).is_none());
    }

    fn surveyed(bytes: &[u8]) -> (String, Option<Damage>) {
        let parts = |each: &mut dyn FnMut(&[u8])| {
            bytes.chunks(7).for_each(each);
            Ok(())
        };
        let found = survey(&parts).unwrap();
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
        check("latin1", "Région,Densité (hab./km²),Mise à jour\nBretagne,5,6\nRhône,7,8\n");
        check("macintosh", "name,city\nJürgen,Málaga\nZoë,Köln\nFrançois,Orléans\n");
        check("windows-1250", "jméno,město\nTomáš,Plzeň\nŽofie,Třebíč\nJiří,Děčín\n");
        check("windows-1251", "имя,город\nАнна,Москва\nИван,Новосибирск\n");
        // The detector tells no KOI8-R: KOI8-U has its letters and some more.
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
        // As many of one as of the other is no damage, and every byte is kept.
        let (name, damage) = surveyed(&b"M\xc3\xbcller,Jos\xe9\n".repeat(50));
        assert_eq!((name.as_str(), damage), ("windows-1250", None));
    }

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
            "the file begins with its byte order mark; U+FFFD replaces what is not, 1 in all, the \
             first on line 2 at byte offset 7"
        );
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn whatever_bytes_arrive_there_is_an_encoding(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            of_head(&bytes);
            surveyed(&bytes);
        }
    }
}
