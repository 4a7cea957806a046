//! Numbers in a text: their digits, separators and suffixes.
//!
//! A separator can be ambiguous (`1,234` is over a thousand or a bit over one), so a number may have
//! several readings.

/// The most digit groups of one number. More are a list, whatever separates them.
const PARTS_MAX: usize = 16;
/// Spaces that group digits and never separate words.
const NARROW_SPACES: [char; 3] = ['\u{a0}', '\u{202f}', '\u{2009}'];
/// Words and letters that multiply the number before them, after the power of ten.
const SCALES: [(i32, &[&str]); 6] = [
    (3, &["k", "K", "thousand", "Tausend", "mille", "mil"]),
    (5, &["lakh", "lakhs"]),
    (
        6,
        &[
            "M", "m", "mn", "mm", "Mio", "mio", "million", "millions", "Million", "Millionen",
            "millón", "millones",
        ],
    ),
    (7, &["crore", "crores"]),
    (
        9,
        &[
            "B", "b", "bn", "Bn", "Mrd", "mrd", "billion", "billions", "Milliarde", "Milliarden",
            "milliard", "milliards",
        ],
    ),
    (12, &["T", "tn", "trillion"]),
];
/// Suffixes of percentages.
const PERCENT: [&str; 8] =
    ["%", "percent", "per cent", "pct", "Prozent", "pour cent", "por ciento", "percentage"];
/// Suffixes of ratios.
const TIMES: [&str; 6] = ["x", "×", "times", "fold", "-fold", "mal"];
/// Suffixes of ordinals.
pub(super) const ORDINALS: [&str; 8] = ["st", "nd", "rd", "th", "er", "ère", "º", "ª"];

/// One way to read a number, without its sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NumberReading {
    /// Not negative; finite.
    pub value: f64,
    /// The exact number, if it is a whole one written out in full.
    pub whole: Option<u128>,
    /// The value of one unit in its last digit.
    pub step: f64,
    /// Number of written digits, without leading zeros.
    pub n_digits: usize,
    /// Number of trailing zeros of a whole number written out in full.
    pub n_zeros: usize,
}

/// A number as written in a text.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a mark of its own")]
pub(super) struct Number {
    /// All readings; at least one.
    pub readings: Vec<NumberReading>,
    /// The numbers that result if its separators separate numbers.
    pub parts: Vec<NumberReading>,
    /// Whether it has a minus sign.
    pub is_negative: bool,
    /// Whether it is a percentage.
    pub is_percent: bool,
    /// Whether it is a factor, such as `3x`.
    pub is_times: bool,
    /// Whether it is approximate.
    pub is_about: bool,
}

impl Number {
    pub(super) fn signed(&self, reading: &NumberReading) -> f64 {
        if self.is_negative { -reading.value } else { reading.value }
    }
}

impl NumberReading {
    /// Makes the reading of these digits times a power of ten. None when it exceeds a float.
    pub(super) fn new(whole: &str, fraction: &str, exponent: i32) -> Option<NumberReading> {
        let value: f64 = format!("{whole}.{fraction}0e{exponent}").parse().ok()?;
        let n_fraction = i32::try_from(fraction.len()).ok()?;
        let written = format!("{whole}{fraction}");
        let is_whole = fraction.is_empty() && exponent == 0;
        let without_zeros = whole.trim_end_matches('0');
        value.is_finite().then(|| NumberReading {
            value,
            whole: if is_whole { whole.parse().ok() } else { None },
            step: 10_f64.powi(exponent - n_fraction),
            n_digits: written.trim_start_matches('0').len().max(1),
            n_zeros: if is_whole && 0.0 < value { whole.len() - without_zeros.len() } else { 0 },
        })
    }
}

/// Digits with separators between them.
pub(super) struct Run<'a> {
    /// Bytes of the whole run.
    pub n_bytes: usize,
    /// Digits before and after the decimal sign, for each reading.
    pub readings: Vec<(String, &'a str)>,
    /// The digits between separators.
    pub parts: Vec<&'a str>,
    /// Whether it has more dots than a number can.
    pub is_version: bool,
}

impl<'a> Run<'a> {
    /// Reads the digits at the start of a text.
    pub(super) fn of(text: &'a str) -> Run<'a> {
        let mut parts = vec![&text[..digits(text)]];
        let mut signs = Vec::new();
        let mut end = parts[0].len();
        while let Some(sign) = text[end..].chars().next().filter(|_| parts.len() < PARTS_MAX) {
            let next = &text[end + sign.len_utf8()..];
            let n = digits(next);
            let separates = match sign {
                '.' | ',' => 0 < n,
                '\'' | '’' | ' ' => n == 3,
                sign => NARROW_SPACES.contains(&sign) && n == 3,
            };
            // A space groups digits only from the start of a number.
            if !separates
                || sign == ' ' && (3 < parts[0].len() || signs.iter().any(|it| *it != ' '))
            {
                break;
            }
            signs.push(sign);
            parts.push(&next[..n]);
            end += sign.len_utf8() + n;
        }
        Run::read(&parts, &signs, end)
    }

    fn read(parts: &[&'a str], signs: &[char], n_bytes: usize) -> Run<'a> {
        let readings = |it| Run { n_bytes, readings: it, parts: parts.to_vec(), is_version: false };
        let all = || parts.concat();
        let [first, .., last] = *parts else {
            return readings(vec![(parts[0].to_owned(), "")]);
        };
        let is_one_sign = signs.iter().all(|it| *it == signs[0]);
        match signs {
            ['.'] if are_groups(parts) && first != "0" => {
                readings(vec![(first.to_owned(), last), (all(), "")])
            }
            [','] if are_groups(parts) => readings(vec![(all(), ""), (first.to_owned(), last)]),
            ['.' | ','] => readings(vec![(first.to_owned(), last)]),
            _ if is_one_sign && are_groups(parts) => readings(vec![(all(), "")]),
            ['.', ..] if is_one_sign => Run { is_version: true, ..readings(vec![(all(), "")]) },
            [grouping @ .., '.' | ','] if !grouping.contains(&signs[signs.len() - 1]) => {
                let whole = &parts[..parts.len() - 1];
                if grouping.iter().all(|it| *it == grouping[0]) && are_groups(whole) {
                    return readings(vec![(whole.concat(), last)]);
                }
                Run { n_bytes: first.len(), ..readings(vec![(first.to_owned(), "")]) }.alone()
            }
            // A list without spaces: reads its first number now, the rest later.
            _ => Run { n_bytes: first.len(), ..readings(vec![(first.to_owned(), "")]) }.alone(),
        }
    }

    fn alone(mut self) -> Run<'a> {
        self.parts.truncate(1);
        self
    }
}

/// Returns whether digits are grouped in thousands, or in lakhs and crores.
fn are_groups(parts: &[&str]) -> bool {
    let (Some((first, [middle @ .., last])), true) = (parts.split_first(), 1 < parts.len()) else {
        return parts.len() == 1;
    };
    let has_groups_of = |n: usize| middle.iter().all(|it| it.len() == n);
    last.len() == 3
        && (has_groups_of(3) && (1..=3).contains(&first.len())
            || has_groups_of(2) && (1..=2).contains(&first.len()))
}

/// The suffix of a number, which says what it is.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a mark of its own")]
pub(super) struct Suffix {
    /// Includes the space before it.
    pub n_bytes: usize,
    /// The power of ten that multiplies the number.
    pub scale: Option<i32>,
    /// Whether it may also be a unit.
    pub is_open: bool,
    /// Whether the number is a percentage.
    pub is_percent: bool,
    /// Whether the number is a factor.
    pub is_times: bool,
    /// Whether the number is an ordinal.
    pub is_ordinal: bool,
    /// Whether the number is the start of a name.
    pub is_identifier: bool,
}

impl Suffix {
    /// Reads the suffix at the start of a text.
    pub(super) fn of(text: &str) -> Suffix {
        let space = text.chars().next().filter(|it| *it == ' ' || NARROW_SPACES.contains(it));
        let n_space = space.map_or(0, char::len_utf8);
        let rest = &text[n_space..];
        let is = |it: &str| rest.strip_prefix(it).is_some_and(ends_word);
        if let Some(word) = PERCENT.iter().find(|it| **it == "%" && rest.starts_with('%') || is(it))
        {
            return Suffix { n_bytes: n_space + word.len(), is_percent: true, ..Suffix::default() };
        }
        if let Some(word) = TIMES.iter().find(|it| is(it)) {
            return Suffix { n_bytes: n_space + word.len(), is_times: true, ..Suffix::default() };
        }
        let mut scales =
            SCALES.iter().flat_map(|(scale, words)| words.iter().map(move |it| (it, scale)));
        if let Some((word, scale)) = scales.find(|(it, _)| is(it)) {
            let n_bytes = n_space + word.len();
            // Metres, bytes and tons are units as well.
            let is_open = word.len() == 1 || *word == "mm";
            return Suffix { n_bytes, scale: Some(*scale), is_open, ..Suffix::default() };
        }
        if 0 < n_space {
            return Suffix::default();
        }
        let n_letters = rest.find(|it: char| !is_of_word(it) || it == '_').unwrap_or(rest.len());
        if ORDINALS.contains(&&rest[..n_letters]) {
            return Suffix { n_bytes: n_letters, is_ordinal: true, ..Suffix::default() };
        }
        let goes_on = rest[n_letters..].starts_with(|it: char| it == '_' || it.is_ascii_digit());
        if goes_on && !rest.starts_with(|it: char| it.is_ascii_digit()) {
            let n = rest.find(|it: char| !is_of_word(it) && !it.is_ascii_digit() && it != '-');
            let n_bytes = n.unwrap_or(rest.len());
            return Suffix { n_bytes, is_identifier: true, ..Suffix::default() };
        }
        Suffix { n_bytes: n_letters, ..Suffix::default() }
    }
}

/// Returns the number of digits at the start of a text.
pub(super) fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Returns whether a letter can be in a word with digits. Scripts without spaces between words write
/// numbers right beside other words.
pub(super) fn is_of_word(letter: char) -> bool {
    let is_apart =
        matches!(letter, '\u{e00}'..='\u{eff}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}');
    letter == '_' || letter.is_alphabetic() && !is_apart
}

/// Returns whether a word may end before `rest`.
pub(super) fn ends_word(rest: &str) -> bool {
    !rest.starts_with(|it: char| is_of_word(it) || it.is_ascii_digit())
}

/// Reads an exponent such as `e-5`. Returns it and its length in bytes.
pub(super) fn exponent(text: &str) -> (i32, usize) {
    let Some(rest) = text.strip_prefix(['e', 'E']) else { return (0, 0) };
    let unsigned = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    let n = digits(unsigned);
    let n_bytes = text.len() - unsigned.len() + n;
    let is_exponent = (1..=3).contains(&n) && ends_word(&unsigned[n..]);
    match rest[..rest.len() - unsigned.len() + n].parse() {
        Ok(exponent) if is_exponent => (exponent, n_bytes),
        _ => (0, 0),
    }
}
