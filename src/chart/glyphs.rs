//! From text to glyphs: the fonts that contain them, and their visual order.
//!
//! The fonts are Noto Sans for Latin, Greek, Cyrillic and symbols, for Hebrew and Arabic, and for seventeen scripts
//! whose letters combine ([`shaped`]), Noto Emoji, and Droid Sans Fallback for the common characters of Chinese,
//! Japanese and Korean: 3.7 MB in all.
//! Letters of other scripts are transliterated to Latin, and characters without a name become `�`: a box
//! would say nothing. This is for pixels; an SVG contains the original text of those, because its viewer
//! may have a font.

use std::borrow::Cow;
use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, GlyphId};
use icu_normalizer::ComposingNormalizerBorrowed;
use unicode_bidi::{BidiInfo, Level};

use super::shaping::{EMOJI, Set, shaped};

/// Replaces a character that no font contains and that has no name.
const UNKNOWN: char = '\u{fffd}';

static REGULAR: LazyLock<FontRef<'static>> =
    LazyLock::new(|| parse(include_bytes!("font/NotoSans-Regular.subset.ttf")));
static BOLD: LazyLock<FontRef<'static>> =
    LazyLock::new(|| parse(include_bytes!("font/NotoSans-Bold.subset.ttf")));
static HEBREW_ARABIC: LazyLock<FontRef<'static>> =
    LazyLock::new(|| parse(include_bytes!("font/NotoSans-HebrewArabic.subset.ttf")));
static CJK: LazyLock<FontRef<'static>> =
    LazyLock::new(|| parse(include_bytes!("font/DroidSansFallback.subset.ttf")));

fn parse(bytes: &'static [u8]) -> FontRef<'static> {
    FontRef::try_from_slice(bytes).expect("the embedded font is a font")
}

/// Returns the glyphs of a text from left to right.
pub(crate) fn set(text: &str, weight: Weight) -> Vec<Set> {
    let mut glyphs = Vec::with_capacity(text.len());
    let noto = match weight {
        Weight::Regular => &*REGULAR,
        Weight::Bold => &*BOLD,
    };
    if text.is_ascii() {
        glyphs.extend(text.chars().filter_map(|it| glyph(noto, it)));
        return glyphs;
    }
    let text = ComposingNormalizerBorrowed::new_nfc().normalize(text);
    let seen = in_visual_order(&joined(&text)).into_owned();
    let mut rest = seen.as_str();
    while let Some(char) = rest.chars().next() {
        if let Some((run, shaped)) = shaped(rest) {
            glyphs.extend(shaped);
            rest = &rest[run.len()..];
            continue;
        }
        rest = &rest[char.len_utf8()..];
        if is_left_out(char) {
            continue;
        }
        match fonts(noto).into_iter().find_map(|it| glyph(it, char)) {
            Some(glyph) if glyph.advance == 0.0 => {
                let letter = glyphs.last().map_or(0.0, |it: &Set| it.advance);
                let offset = -letter / 2.0 - middle(&glyph);
                glyphs.push(Set { offset, ..glyph });
            }
            Some(glyph) => glyphs.push(glyph),
            None => glyphs.extend(substitute(char).chars().filter_map(|it| glyph(noto, it))),
        }
    }
    glyphs
}

/// Returns the fonts whose letters need no shaping.
fn fonts(noto: &'static FontRef<'static>) -> [&'static FontRef<'static>; 4] {
    [noto, &HEBREW_ARABIC, &CJK, EMOJI.font()]
}

/// Returns whether a text has only the letters and signs of European languages, which each viewer of an SVG
/// has a font for.
pub(crate) fn in_common_fonts(text: &str) -> bool {
    text.chars().all(|it| it.is_ascii() || glyph(&REGULAR, it).is_some())
}

/// Returns the letters of a text that no font contains, which pixels show as Latin letters or names.
pub(crate) fn spelt(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|it| {
        let is_drawn = |font: &'static FontRef<'static>| glyph(font, *it).is_some();
        let is_known = it.is_ascii()
            || is_left_out(*it)
            || forms(*it).is_some()
            || fonts(&REGULAR).into_iter().any(is_drawn)
            || shaped(it.encode_utf8(&mut [0; 4])).is_some();
        !is_known
    })
}

fn glyph(font: &'static FontRef<'static>, char: char) -> Option<Set> {
    let id = font.glyph_id(char);
    let units = font.units_per_em().unwrap_or(1000.0);
    let advance = f64::from(font.h_advance_unscaled(id)) / f64::from(units);
    (id != GlyphId(0)).then_some(Set { font, id, advance, offset: 0.0, rise: 0.0 })
}

/// Returns the centre of a glyph's outline, in ems.
fn middle(glyph: &Set) -> f64 {
    let units = glyph.font.units_per_em().unwrap_or(1000.0);
    let bounds =
        glyph.font.outline(glyph.id).map_or((0.0, 0.0), |it| (it.bounds.min.x, it.bounds.max.x));
    f64::from(f32::midpoint(bounds.0, bounds.1) / units)
}

/// Returns whether a character only modifies others: vowel points, joiners, variation selectors,
/// direction marks and skin tones.
fn is_left_out(char: char) -> bool {
    matches!(char,
        '\u{591}'..='\u{5bd}' | '\u{5bf}'..='\u{5c7}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6ed}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0000}'..='\u{e0fff}')
}

fn substitute(char: char) -> Cow<'static, str> {
    match deunicode::deunicode_char(char).map(str::trim) {
        Some(latin) if char.is_alphabetic() => latin.into(),
        Some(name) if 2 < name.len() => format!(":{name}:").into(),
        Some(mark) if !mark.is_empty() => mark.into(),
        // A mark on the previous letter.
        _ if unicode_width::UnicodeWidthChar::width(char) == Some(0) => "".into(),
        _ => UNKNOWN.to_string().into(),
    }
}

/// Returns a text in visual order, from left to right.
fn in_visual_order(text: &str) -> Cow<'_, str> {
    if !has_rtl(text) {
        return text.into();
    }
    let bidi = BidiInfo::new(text, None);
    let Some(paragraph) = bidi.paragraphs.first() else { return text.into() };
    let (levels, runs) = bidi.visual_runs(paragraph, paragraph.range.clone());
    let mut seen = String::with_capacity(text.len());
    for run in runs {
        if levels.get(run.start).is_some_and(Level::is_rtl) {
            seen.extend(text[run].chars().rev().map(mirrored));
        } else {
            seen.push_str(&text[run]);
        }
    }
    seen.into()
}

/// Returns whether any letter of a text is right-to-left.
pub(crate) fn has_rtl(text: &str) -> bool {
    let is_rtl = |it| matches!(it, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}');
    text.chars().any(is_rtl)
}

/// Returns the mirrored form of a bracket in right-to-left text.
fn mirrored(char: char) -> char {
    match char {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '<' => '>',
        '>' => '<',
        '«' => '»',
        '»' => '«',
        other => other,
    }
}

/// Arabic letters and their forms: isolated, final, and for letters that join the next one, initial and
/// medial. Ranges of letters have ranges of forms.
const FORMS: [(char, char, u32, u32); 29] = [
    ('\u{621}', '\u{621}', 0xfe80, 1),
    ('\u{622}', '\u{625}', 0xfe81, 2),
    ('\u{626}', '\u{626}', 0xfe89, 4),
    ('\u{627}', '\u{627}', 0xfe8d, 2),
    ('\u{628}', '\u{628}', 0xfe8f, 4),
    ('\u{629}', '\u{629}', 0xfe93, 2),
    ('\u{62a}', '\u{62e}', 0xfe95, 4),
    ('\u{62f}', '\u{632}', 0xfea9, 2),
    ('\u{633}', '\u{63a}', 0xfeb1, 4),
    ('\u{641}', '\u{647}', 0xfed1, 4),
    ('\u{648}', '\u{649}', 0xfeed, 2),
    ('\u{64a}', '\u{64a}', 0xfef1, 4),
    ('\u{679}', '\u{679}', 0xfb66, 4),
    ('\u{67e}', '\u{67e}', 0xfb56, 4),
    ('\u{686}', '\u{686}', 0xfb7a, 4),
    ('\u{688}', '\u{688}', 0xfb88, 2),
    ('\u{691}', '\u{691}', 0xfb8c, 2),
    ('\u{698}', '\u{698}', 0xfb8a, 2),
    ('\u{6a9}', '\u{6a9}', 0xfb8e, 4),
    ('\u{6af}', '\u{6af}', 0xfb92, 4),
    ('\u{6ba}', '\u{6ba}', 0xfb9e, 2),
    ('\u{6be}', '\u{6be}', 0xfbaa, 4),
    ('\u{6c1}', '\u{6c1}', 0xfba6, 4),
    ('\u{6cc}', '\u{6cc}', 0xfbfc, 4),
    ('\u{6d2}', '\u{6d2}', 0xfbae, 2),
    // Lam and an alef are one letter; these represent the pairs until they are joined.
    ('\u{fef5}', '\u{fef5}', 0xfef5, 2),
    ('\u{fef7}', '\u{fef7}', 0xfef7, 2),
    ('\u{fef9}', '\u{fef9}', 0xfef9, 2),
    (LAM_ALEF, LAM_ALEF, 0xfefb, 2),
];
const LAM_ALEF: char = '\u{fefb}';
/// A connecting line between letters, of any length.
const TATWEEL: char = '\u{640}';

/// Returns the first of a letter's forms and their number.
fn forms(char: char) -> Option<(u32, u32)> {
    let (first, _, forms, n) = FORMS.iter().find(|it| it.0 <= char && char <= it.1)?;
    Some((forms + (u32::from(char) - u32::from(*first)) * n, *n))
}

/// Returns a text in which Arabic letters have the forms that their neighbours require.
fn joined(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|it| ('\u{620}'..='\u{6ff}').contains(&it)) {
        return text.into();
    }
    let mut letters: Vec<char> = Vec::new();
    for char in text.chars().filter(|it| !is_left_out(*it) || matches!(it, '\u{200c}' | '\u{200d}'))
    {
        let pair = match (letters.last(), char) {
            (Some('\u{644}'), '\u{622}') => Some('\u{fef5}'),
            (Some('\u{644}'), '\u{623}') => Some('\u{fef7}'),
            (Some('\u{644}'), '\u{625}') => Some('\u{fef9}'),
            (Some('\u{644}'), '\u{627}') => Some(LAM_ALEF),
            _ => None,
        };
        if pair.is_some() {
            letters.pop();
        }
        letters.push(pair.unwrap_or(char));
    }
    let joins_next = |it: char| it == TATWEEL || forms(it).is_some_and(|(_, n)| n == 4);
    let joins_last = |it: char| it == TATWEEL || forms(it).is_some_and(|(_, n)| 2 <= n);
    let form = |at: usize| {
        let char = letters[at];
        let Some((first, n)) = forms(char) else { return char };
        let after_one = 0 < at && joins_next(letters[at - 1]) && 2 <= n;
        let before_one = n == 4 && letters.get(at + 1).is_some_and(|it| joins_last(*it));
        let form = u32::from(after_one) + 2 * u32::from(before_one);
        char::from_u32(first + form).unwrap_or(char)
    };
    (0..letters.len()).map(form).collect::<String>().into()
}

/// The weight of type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// For everything but titles.
    Regular,
    /// For titles.
    Bold,
}

#[cfg(test)]
mod tests {

    use super::{Weight, in_visual_order, joined, set, substitute};

    #[track_caller]
    fn check_seen(text: &str, seen: &str) {
        assert_eq!(in_visual_order(&joined(text)), seen);
    }

    #[test]
    fn hebrew_runs_to_the_left_and_numbers_in_it_to_the_right() {
        check_seen("abc", "abc");
        check_seen("\u{5d0}\u{5d1} 12 (\u{5d2})", "(\u{5d2}) 12 \u{5d1}\u{5d0}");
        check_seen("total \u{5d0}\u{5d1}", "total \u{5d1}\u{5d0}");
    }

    #[test]
    fn arabic_letters_join() {
        // Beh alone; beh, teh, beh; dal joins nothing after it; lam and alef are one.
        check_seen("\u{628}", "\u{fe8f}");
        check_seen("\u{628}\u{62a}\u{628}", "\u{fe90}\u{fe98}\u{fe91}");
        check_seen("\u{62f}\u{628}", "\u{fe8f}\u{fea9}");
        check_seen("\u{633}\u{644}\u{627}\u{645}", "\u{fee1}\u{fefc}\u{feb3}");
    }

    #[test]
    fn letters_and_their_marks_are_one_however_they_are_coded() {
        let ids = |text| set(text, Weight::Regular).iter().map(|it| it.id).collect::<Vec<_>>();
        assert_eq!(ids("Gro\u{308}\u{df}e"), ids("Gr\u{f6}\u{df}e"));
        assert_eq!(ids("\u{ac00}"), ids("\u{1100}\u{1161}"));
    }

    #[test]
    fn a_mark_without_a_letter_of_its_own_stands_over_the_one_before() {
        let [x, mark] = set("x\u{302}", Weight::Regular).try_into().unwrap();
        let pen = x.advance + mark.offset + super::middle(&mark);
        assert!((pen - x.advance / 2.0).abs() < 1e-9 && mark.advance == 0.0, "{x:?} {mark:?}");
    }

    #[test]
    fn common_scripts_have_glyphs_in_both_weights() {
        for weight in [Weight::Regular, Weight::Bold] {
            let unknown = set("\u{fffd}", weight)[0].id;
            for text in [
                "Größe łódź",
                "Выручка",
                "Πωλήσεις",
                "€ £ → ≤ − … ° ² ✓ ■",
                "東京都の売上高",
                "销售额",
                "銷售額",
                "매출",
                "שלום עולם",
                "مبيعات لا ١٢٣",
                "فروش گچپژ",
                "बिक्री क्षेत्र",
                "বিক্রয়",
                "விற்பனை",
                "ยอดขายที่กรุงเทพฯ",
            ] {
                let glyphs = set(text, weight);
                assert!(glyphs.iter().all(|it| it.id != unknown), "{text}");
                // Nothing was spelt out.
                assert!(glyphs.len() <= text.chars().count(), "{text}");
            }
        }
    }

    #[test]
    fn what_no_font_has_is_spelt_and_never_a_box() {
        for (char, spelt) in
            [('\u{0a85}', "a"), ('\u{10d0}', "a"), ('\u{10ffff}', "\u{fffd}"), ('\u{20dd}', "")]
        {
            assert_eq!(substitute(char), spelt, "{char:?}");
        }
        let spelt = set("\u{10ffff}\u{fe0f} \u{13a0}", Weight::Bold).len();
        assert_eq!(spelt, "\u{fffd} a".chars().count());
    }

    #[test]
    fn an_emoji_is_one_sign_however_many_characters_it_has() {
        for (text, n_glyphs) in [
            ("\u{1f680}", 1),
            ("\u{2b50}\u{fe0f}", 1),
            ("\u{1f44d}\u{1f3fd}", 1),
            ("\u{1f469}\u{200d}\u{1f467}", 1),
            ("\u{1f1e9}\u{1f1ea}", 1),
            ("A \u{1f389}\u{1f389}", 4),
        ] {
            let glyphs = set(text, Weight::Regular);
            assert_eq!(glyphs.iter().filter(|it| 0.0 < it.advance).count(), n_glyphs, "{text}");
            assert!(glyphs.iter().all(|it| it.id.0 != 0), "{text}");
        }
    }
}
