//! Scripts of Asia and Africa, whose letters combine as their fonts' own tables say, and emoji.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use ab_glyph::{FontRef, GlyphId};
use rustybuzz::{Direction, Face, UnicodeBuffer};

/// A glyph of a text.
#[derive(Debug, Clone)]
pub(crate) struct Set {
    pub font: &'static FontRef<'static>,
    /// Its id in the font.
    pub id: GlyphId,
    /// How far it advances the pen, in ems.
    pub advance: f64,
    /// Its offset from the pen to the right, in ems: marks are centred over the previous letter.
    pub offset: f64,
    /// Its offset from the baseline upwards, in ems.
    pub rise: f64,
}

/// The fonts, each with the letters it is for.
static SCRIPTS: LazyLock<[Script; 17]> = LazyLock::new(|| {
    [
        Script::of('\u{530}'..='\u{58f}', include_bytes!("font/NotoSans-Armenian.subset.ttf")),
        Script::of('\u{900}'..='\u{97f}', include_bytes!("font/NotoSans-Devanagari.subset.ttf")),
        Script::of('\u{980}'..='\u{9ff}', include_bytes!("font/NotoSans-Bengali.subset.ttf")),
        Script::of('\u{a00}'..='\u{a7f}', include_bytes!("font/NotoSans-Gurmukhi.subset.ttf")),
        Script::of('\u{a80}'..='\u{aff}', include_bytes!("font/NotoSans-Gujarati.subset.ttf")),
        Script::of('\u{b00}'..='\u{b7f}', include_bytes!("font/NotoSans-Oriya.subset.ttf")),
        Script::of('\u{b80}'..='\u{bff}', include_bytes!("font/NotoSans-Tamil.subset.ttf")),
        Script::of('\u{c00}'..='\u{c7f}', include_bytes!("font/NotoSans-Telugu.subset.ttf")),
        Script::of('\u{c80}'..='\u{cff}', include_bytes!("font/NotoSans-Kannada.subset.ttf")),
        Script::of('\u{d00}'..='\u{d7f}', include_bytes!("font/NotoSans-Malayalam.subset.ttf")),
        Script::of('\u{d80}'..='\u{dff}', include_bytes!("font/NotoSans-Sinhala.subset.ttf")),
        Script::of('\u{e00}'..='\u{e7f}', include_bytes!("font/NotoSans-Thai.subset.ttf")),
        Script::of('\u{e80}'..='\u{eff}', include_bytes!("font/NotoSans-Lao.subset.ttf")),
        Script::of('\u{1000}'..='\u{109f}', include_bytes!("font/NotoSans-Myanmar.subset.ttf")),
        Script::of('\u{10a0}'..='\u{10ff}', include_bytes!("font/NotoSans-Georgian.subset.ttf")),
        Script::of('\u{1200}'..='\u{137f}', include_bytes!("font/NotoSans-Ethiopic.subset.ttf")),
        Script::of('\u{1780}'..='\u{17ff}', include_bytes!("font/NotoSans-Khmer.subset.ttf")),
    ]
});

/// The font of emoji. Some are several characters: a flag, a family, a hand with a colour of skin.
pub(crate) static EMOJI: LazyLock<Script> = LazyLock::new(|| {
    Script::of('\u{1f000}'..='\u{1faff}', include_bytes!("font/NotoEmoji.subset.ttf"))
});

/// A script with its font.
pub(crate) struct Script {
    letters: RangeInclusive<char>,
    /// What draws the glyphs.
    font: FontRef<'static>,
    /// What chooses and places them.
    face: Face<'static>,
}

impl Script {
    fn of(letters: RangeInclusive<char>, bytes: &'static [u8]) -> Script {
        let font = FontRef::try_from_slice(bytes).expect("the embedded font is a font");
        let face = Face::from_slice(bytes, 0).expect("the embedded font is a font");
        Script { letters, font, face }
    }

    pub(crate) fn font(&'static self) -> &'static FontRef<'static> {
        &self.font
    }
}

/// Returns the beginning of a text that is in one of the scripts, with its glyphs from left to right.
pub(crate) fn shaped(text: &str) -> Option<(&str, Vec<Set>)> {
    let script = match text.chars().next()? {
        it @ ('\u{530}'..='\u{58f}' | '\u{900}'..='\u{17ff}') => {
            SCRIPTS.iter().find(|script| script.letters.contains(&it))?
        }
        '\u{1f000}'..='\u{1faff}' => &*EMOJI,
        _ => return None,
    };
    // Joiners choose between forms of the letters around them.
    let belongs = |it: char| {
        let is_sign =
            || matches!(it, '\u{fe0f}' | '\u{2600}'..='\u{27bf}' | '\u{e0020}'..='\u{e007f}');
        script.letters.contains(&it)
            || matches!(it, '\u{200c}' | '\u{200d}')
            || (script.letters.contains(&'\u{1f000}') && is_sign())
    };
    let end = text.find(|it| !belongs(it)).unwrap_or(text.len());
    let run = &text[..end];
    let mut buffer = UnicodeBuffer::new();
    // The font has the form of emoji only, so nothing chooses it.
    buffer.push_str(&run.replace('\u{fe0f}', ""));
    buffer.guess_segment_properties();
    buffer.set_direction(Direction::LeftToRight);
    let glyphs = rustybuzz::shape(&script.face, &[], buffer);
    let ems = |units: i32| f64::from(units) / f64::from(script.face.units_per_em());
    let places = glyphs.glyph_positions().iter();
    if glyphs.glyph_infos().iter().any(|it| it.glyph_id == 0) {
        return None;
    }
    let set = glyphs.glyph_infos().iter().zip(places).map(|(glyph, place)| Set {
        font: &script.font,
        // A font has at most 65,535 glyphs.
        id: GlyphId(u16::try_from(glyph.glyph_id).unwrap_or(0)),
        advance: ems(place.x_advance),
        offset: ems(place.x_offset),
        rise: ems(place.y_offset),
    });
    Some((run, set.collect()))
}

#[cfg(test)]
mod tests {
    use super::shaped;

    /// Returns the beginning, the number of its glyphs and their width.
    #[track_caller]
    fn check(text: &str, run: &str, n_glyphs: usize) {
        let (found, glyphs) = shaped(text).unwrap();
        assert_eq!((found, glyphs.len()), (run, n_glyphs), "{text}");
        assert!(glyphs.iter().all(|it| it.id.0 != 0), "{text}: {glyphs:?}");
    }

    #[test]
    fn letters_combine_as_their_script_requires() {
        // Ka, virama and ssa are one letter; the sign of i is before the letter that it follows.
        check("\u{915}\u{94d}\u{937} 12", "\u{915}\u{94d}\u{937}", 1);
        let (_, glyphs) = shaped("\u{915}\u{93f}").unwrap();
        let (_, alone) = shaped("\u{915}").unwrap();
        assert_eq!((glyphs.len(), glyphs[1].id), (2, alone[0].id));
        // A tone over a vowel over a letter takes no room.
        let (_, glyphs) = shaped("\u{e01}\u{e34}\u{e48}").unwrap();
        assert!(glyphs.len() == 3 && glyphs[1].advance == 0.0 && glyphs[2].advance == 0.0);
        check("\u{995}\u{9cd}\u{9b7}", "\u{995}\u{9cd}\u{9b7}", 1);
        check("\u{c15}\u{c4d}\u{c37} 1", "\u{c15}\u{c4d}\u{c37}", 1);
        // The sign of e is before the letter that it follows.
        let (_, glyphs) = shaped("\u{1780}\u{17c1}").unwrap();
        assert_eq!(glyphs[1].id, shaped("\u{1780}").unwrap().1[0].id);
        check("\u{ba4}\u{bae}\u{bbf}\u{bb4}\u{bcd}", "\u{ba4}\u{bae}\u{bbf}\u{bb4}\u{bcd}", 4);
    }

    #[test]
    fn other_letters_are_not_shaped() {
        for text in ["", "abc", "\u{5d0}", "\u{13a0}", "\u{6771}"] {
            assert!(shaped(text).is_none(), "{text}");
        }
    }
}
