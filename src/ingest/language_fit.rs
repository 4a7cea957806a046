//! How well a text fits the languages of an encoding: the letters of its words, and their positions.
//!
//! Pure. A detector weighs letter sequences, and a few words give it little to weigh. Two facts reveal
//! more: a word of a language has only letters of that language, and every character has its typical
//! positions. `Køge` is Danish and `kg/m³` is a unit; `M‡laga` and `Wroc³aw` are not words.

use std::collections::BTreeSet;

/// Valid anywhere, and counted: in an encoding where the byte is a letter, it would make more words.
const NO_BREAK_SPACE: char = '\u{a0}';

/// Languages of Western Europe: their non-ASCII letters.
pub(crate) const WESTERN: &[&str] = &[
    "àâæçéèêëîïôœùûüÿ",
    "äöüßé",
    "áéíóúüñç",
    "áâãàçéêíóôõú",
    "àçèéíïòóúü",
    "àèéìíîòóù",
    "ëïöüéèêóáç",
    "æøåéèôóöäü",
    "åäöéüàšž",
    "äöõüšžé",
    "áéíóúýþæöðø",
];
/// Languages of Central Europe.
pub(crate) const CENTRAL: &[&str] = &[
    "ąćęłńóśźż",
    "áčďéěíňóřšťúůýžöü",
    "áäčďéíĺľňóôŕšťúýž",
    "áéíóöőúüű",
    "ăâîşţ",
    "čćđšž",
    "äöüßé",
];
pub(crate) const TURKISH: &[&str] = &["çğıöşüâîû\u{307}"];
/// Languages of the Baltic.
pub(crate) const BALTIC: &[&str] = &["ąčęėįšųūž", "āčēģīķļņōšūž", "äöõüšžé"];
/// Vietnamese, with its combining marks after the letters.
pub(crate) const VIETNAMESE: &[&str] = &["ăâđêôơưàáãéèíóúùýõòì\u{300}\u{301}\u{303}\u{309}\u{323}"];

/// How well a text fits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LanguageFit {
    /// Distinct words with non-ASCII characters.
    pub n_words: usize,
    /// Words with a letter of none of the languages, or with a character in an impossible position.
    pub n_impossible: usize,
    /// Higher for more plausible words, and for more of them in one language; at most three per word.
    pub score: usize,
}

impl LanguageFit {
    /// Examines the words of a text, decoded with an encoding of `languages`.
    pub(crate) fn of(text: &str, languages: &[&str], is_western: bool) -> Self {
        let is_apart =
            |it: char| it == '\u{fffd}' || (it.is_ascii() && !it.is_ascii_alphanumeric());
        let words: BTreeSet<&str> = text.split(is_apart).filter(|it| !it.is_ascii()).collect();
        let mut fit = LanguageFit { n_words: words.len(), ..LanguageFit::default() };
        let mut scores = vec![0; languages.len()];
        for word in words {
            let chars: Vec<char> = word.chars().collect();
            let plausibility = plausibility(&chars, is_western);
            let letters: Vec<char> = letters(&chars).collect();
            let is_of = |language: &&str| letters.iter().all(|it| language.contains(*it));
            if plausibility == 0 || !(letters.is_empty() || languages.iter().any(is_of)) {
                fit.n_impossible += 1;
                continue;
            }
            fit.score += 1;
            let of_language = languages.iter().zip(&mut scores).filter(|it| is_of(it.0));
            of_language.for_each(|it| *it.1 += plausibility);
        }
        fit.score += scores.into_iter().max().unwrap_or(0);
        fit
    }

    /// Returns whether one language explains every word.
    pub(crate) fn is_full(self) -> bool {
        self.score == 3 * self.n_words
    }

    /// Returns whether one language explains all but a few words, such as foreign names.
    pub(crate) fn is_nearly_full(self) -> bool {
        3 * 31 * self.n_words <= 32 * self.score
    }
}

/// Returns the non-ASCII letters, in lower case.
fn letters(chars: &[char]) -> impl Iterator<Item = char> {
    let is_letter = |it: &&char| is_letter(**it) && !it.is_ascii();
    chars.iter().filter(is_letter).flat_map(|it| it.to_lowercase()).filter(|it| !it.is_ascii())
}

/// Some symbols count as letters in Unicode.
fn is_letter(char: char) -> bool {
    const MARKS: std::ops::RangeInclusive<char> = '\u{300}'..='\u{323}';
    (char.is_alphabetic() && !matches!(char, 'ª' | 'º' | 'µ' | 'ƒ')) || MARKS.contains(&char)
}

/// Returns 2 for a word whose characters are in plausible positions, 1 for an odd one, 0 for an
/// impossible one.
fn plausibility(chars: &[char], is_western: bool) -> usize {
    /// Maximum run of non-ASCII letters in a word.
    const RUN_MAX: usize = 3;
    let longest = |is_in: &dyn Fn(&char) -> bool| {
        chars.split(|it| !is_in(it)).map(<[char]>::len).max().unwrap_or(0)
    };
    let run = longest(&|it| !it.is_ascii() && *it != NO_BREAK_SPACE);
    let letter_run = longest(&|it| !it.is_ascii() && is_letter(*it));
    if RUN_MAX < run || (1 < letter_run && letter_run == chars.len()) {
        return 0;
    }
    let beyond_ascii = (0..chars.len()).filter(|it| !chars[*it].is_ascii());
    let of = |at: usize| {
        let (before, char, behind) = (&chars[..at], chars[at], &chars[at + 1..]);
        if is_letter(char) {
            letter(before.last().copied(), char, behind.first().copied(), is_western)
        } else {
            sign(before, char, behind.first().copied())
        }
    };
    beyond_ascii.map(of).min().unwrap_or(2).min(if run == RUN_MAX { 1 } else { 2 })
}

/// Judges the position of a letter. Western letters are judged more strictly: every other encoding has
/// its own letters at their code points.
fn letter(before: Option<char>, char: char, behind: Option<char>, is_western: bool) -> usize {
    let is_digit = |it: Option<char>| it.is_some_and(|it| it.is_ascii_digit());
    if char.is_uppercase() && before.is_some_and(char::is_lowercase) {
        return 0;
    }
    if is_digit(before) || is_digit(behind) {
        return 1;
    }
    if !is_western {
        return 2;
    }
    let is_any = |it: Option<char>, chars: &str| {
        it.and_then(|it| it.to_lowercase().next()).is_some_and(|it| chars.contains(it))
    };
    let is_vowel = |it| is_any(it, "aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýœ");
    let ends = !behind.is_some_and(is_letter);
    let begins = !before.is_some_and(is_letter);
    let lower = char.to_lowercase().next().unwrap_or(char);
    let is_alone = begins && ends;
    let is_placed = match lower {
        'ñ' => is_vowel(behind) || is_alone,
        'ã' => ends || is_any(behind, "oeinms"),
        'ï' => is_vowel(before) || is_vowel(behind) || is_alone,
        'œ' => ends || is_any(behind, "uisdntcl"),
        'õ' => !ends || is_alone,
        'þ' => is_vowel(behind) || is_any(behind, "rvj") || is_alone,
        'ð' => !begins || ends,
        _ => true,
    };
    let is_usual = match lower {
        'ã' => is_any(behind, "oei") || is_alone,
        'þ' => begins,
        'ç' => is_vowel(behind) || ends,
        'ì' | 'ù' => ends,
        'è' => !is_any(before, "ae") && (!begins || ends),
        'ø' => !ends || !is_any(before, "ij") || is_alone,
        'õ' => is_any(behind, "e") || is_alone,
        _ => true,
    };
    if is_placed { 1 + usize::from(is_usual) } else { 0 }
}

/// Judges the position of a non-letter.
fn sign(before: &[char], char: char, next: Option<char>) -> usize {
    /// Characters that only begin a word, or are separate from it.
    const LEADING: &str = "‚„†‡ˆ‰‹•˜¡¿“‘¤¢¥£§¶¼½¾÷×¸¨´";
    /// Characters that occur in hardly any table.
    const RARE: &str = "¤¦¨¬¯¸´¶ˆ˜†‡ƒ˛˘˝ˇ˙";
    let last = before.last().copied();
    let is_word = |it: Option<char>| it.is_some_and(is_letter);
    let n_letters = before.iter().rev().take_while(|it| is_letter(**it)).count();
    let is_within = is_word(last) && is_word(next);
    let is_catalan = char == '·' && last == Some('l');
    match char {
        '\u{80}'..='\u{9f}' => 0,
        // `l’eau`; a range may contain a dash.
        '’' | '\u{ad}' | '–' | '—' | '…' | NO_BREAK_SPACE => 2,
        _ if is_within && !is_catalan => 0,
        'µ' => 2 * usize::from(!is_word(last)),
        'ª' | 'º' => 2 * usize::from(n_letters < 3 && !is_word(next)),
        '¡' | '¿' => 2 * usize::from(last.is_none() && next.is_some()),
        // A unit is short.
        '¹' | '²' | '³' => 1 + usize::from(n_letters < 4 && !is_word(next)),
        _ if is_word(last) && LEADING.contains(char) => 0,
        _ => 2 - usize::from(RARE.contains(char)),
    }
}

#[cfg(test)]
mod tests {
    use super::{CENTRAL, LanguageFit, WESTERN};

    #[test]
    fn letters_and_signs_have_their_places() {
        let check = |text: &str, n_words, n_impossible| {
            let fit = LanguageFit::of(text, WESTERN, true);
            assert_eq!((fit.n_words, fit.n_impossible), (n_words, n_impossible), "{text}");
        };
        check("Crème brûlée, Straße, Müller, ÉTÉ, 5 €, 20 °C, l’eau, “x”", 9, 0);
        check("Paris–Lyon, Lego™, ½, µg/m³, 1ª, nº 5, ¿qué?", 8, 0);
        check("M‡laga, OrlŽans, Bj”rk, caf‚, M\u{81}ller, Stra§e", 6, 6);
        check("Wroc³aw, Gdañsk, rze\u{bf}ba, Ðuro, d\u{153}wig, Jihlavì", 6, 5);
        check("idõ, nõ, Tõnu, põem", 4, 2);
    }

    #[test]
    fn words_of_one_language_fit_best() {
        let score = |text: &str, languages: &[&str]| {
            let fit = LanguageFit::of(text, languages, languages == WESTERN);
            (fit.score, fit.is_full())
        };
        assert_eq!(score("Søren, Åse, Sjælland", WESTERN), (9, true));
        assert_eq!(score("Søren, Zürich, Peña, São", WESTERN), (8, false));
        assert_eq!(score("Łódź, Wrocław, Gdańsk", CENTRAL), (9, true));
        assert_eq!(score("Łódź, Plzeň", CENTRAL), (4, false));
        assert_eq!(score("Total¹, m³", WESTERN), (5, false));
        assert_eq!(score("", WESTERN), (0, true));
    }
}
