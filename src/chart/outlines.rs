//! Text as shapes, for an SVG whose viewer may lack the font.

use std::fmt::{Arguments, Write};

use ab_glyph::{Font, OutlineCurve, Point};

use super::glyphs::{Weight, in_common_fonts, set, spelt};
use super::shaping::Set;
use super::text::to_pixel;

/// Units per em of the shapes.
pub(crate) const EM: f64 = 1000.0;

/// The shapes of a text.
pub(crate) struct Outlines {
    /// The data of an SVG path that begins at the origin, on the baseline.
    pub path: String,
    /// The width of the text.
    pub width: f64,
}

/// Returns the shapes of a text with letters or signs that a viewer's fonts may lack; `None` if they have
/// them all, or if the embedded fonts lack some.
pub(crate) fn outlines(text: &str, weight: Weight) -> Option<Outlines> {
    if in_common_fonts(text) || spelt(text).next().is_some() {
        return None;
    }
    let (mut path, mut pen) = (String::new(), 0.0);
    for glyph in set(text, weight) {
        add(&mut path, &glyph, pen);
        pen += glyph.advance;
    }
    Some(Outlines { path, width: pen * EM })
}

/// Adds to a text.
pub(crate) fn put(text: &mut String, more: Arguments<'_>) {
    text.write_fmt(more).expect("a string takes everything");
}

/// Adds the shape of a glyph at a pen, in ems. Steps are relative, from rounded place to rounded place.
fn add(path: &mut String, glyph: &Set, pen: f64) {
    let Some(outline) = glyph.font.outline(glyph.id) else { return };
    let scale = EM / f64::from(glyph.font.units_per_em().unwrap_or(1000.0));
    let (right, up) = ((pen + glyph.offset) * EM, glyph.rise * EM);
    let place = |it: Point| {
        (to_pixel(f64::from(it.x) * scale + right), -to_pixel(f64::from(it.y) * scale + up))
    };
    let mut at = None;
    for curve in outline.curves {
        let (command, points) = match curve {
            OutlineCurve::Line(from, to) => ('l', vec![from, to]),
            OutlineCurve::Quad(from, bend, to) => ('q', vec![from, bend, to]),
            OutlineCurve::Cubic(from, first, second, to) => ('c', vec![from, first, second, to]),
        };
        let points: Vec<_> = points.into_iter().map(place).collect();
        let (from, to) = (points[0], points[points.len() - 1]);
        if at != Some(from) {
            put(path, format_args!("M{} {}", from.0, from.1));
        }
        path.push(command);
        for (n, it) in points[1..].iter().enumerate() {
            let (x, y) = (it.0 - from.0, it.1 - from.1);
            // A minus sign also separates numbers.
            let before = if 0 < n && 0 <= x { " " } else { "" };
            let between = if 0 <= y { " " } else { "" };
            put(path, format_args!("{before}{x}{between}{y}"));
        }
        at = Some(to);
    }
}

#[cfg(test)]
mod tests {
    use super::{EM, Weight, outlines};
    use crate::text::width;

    #[test]
    fn letters_that_a_viewer_may_lack_are_shapes_of_their_width() {
        for text in [
            "हिन्दी",
            "ภาคเหนือ",
            "العربية",
            "עברית",
            "東京 2024",
            "North 🎉",
            "ગુજરાતી",
            "తెలుగు",
            "ಕನ್ನಡ",
            "മലയാളം",
            "ਪੰਜਾਬੀ",
            "සිංහල",
            "ລາວ",
            "မြန်မာ",
            "ქართული",
            "Հայերեն",
            "አማርኛ",
            "ខ្មែរ",
            "ଓଡ଼ିଆ",
        ] {
            let shapes = outlines(text, Weight::Regular).unwrap();
            assert!((shapes.width - width(text, EM, Weight::Regular)).abs() < 1e-6, "{text}");
            assert!(shapes.path.starts_with('M'), "{text}: {}", shapes.path);
        }
    }

    #[test]
    fn common_letters_and_those_of_no_font_are_text() {
        for text in ["", "Größe − 5 €", "Выручка", "Πωλήσεις", "हिन्दी \u{13a0}"]
        {
            assert!(outlines(text, Weight::Bold).is_none(), "{text}");
        }
    }
}
