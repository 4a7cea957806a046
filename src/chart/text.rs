//! The type of a chart: embedded fonts, measured and set identically on every machine.
//!
//! `font/NotoSans-{Regular,Bold}.subset.ttf` are Noto Sans 2.004 with arrows and signs of Noto Sans
//! Math and Noto Sans Symbols 2, from Debian's fonts-noto-core 20201225: cut with `pyftsubset` to Latin,
//! Greek, Cyrillic, punctuation, currency and common signs, without hinting and layout tables, and
//! joined with `pyftmerge`. `font/NotoSans-HebrewArabic.subset.ttf` are the letters of Noto Sans Hebrew
//! and the presentation forms of Noto Sans Arabic from there. `font/NotoSans-{Devanagari,Bengali,Tamil,
//! Thai}.subset.ttf` have the letters of their script, with layout tables. `font/NotoEmoji.subset.ttf` is Noto
//! Emoji 3.006 of the npm package @expo-google-fonts/noto-emoji 0.4.7, without hinting. Licence: `font/OFL.txt`.
//! `font/DroidSansFallback.subset.ttf` is Droid Sans Fallback of Debian's fonts-droid-fallback 6.0.1r16,
//! cut to GB 2312 and Big5 level 1, JIS X 0208 level 1, KS X 1001, kana and their punctuation. Licence:
//! Apache-2.0, `font/APACHE.txt`.

use std::convert::Infallible;

use ab_glyph::{Font, Glyph, PxScale, point};
use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendTextStyle, FontFamily, FontStyle, FontTransform,
};

use super::glyphs::set;
use super::raster::UNITS;
use super::shaping::Set;
use super::theme::Colour;

use crate::glyphs::Weight;

/// Returns the width of a text in pixels.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    set(text, weight).iter().map(|it| it.advance).sum::<f64>() * size
}

/// A label for a plotters backend: its anchor on the baseline is at the given point.
pub(crate) struct TextStyle<'a> {
    pub label: &'a TextLabel,
    /// The colour of the type.
    pub colour: BackendColor,
    /// Backend units per pixel of the chart.
    pub units: f64,
}

impl BackendTextStyle for TextStyle<'_> {
    type FontError = Infallible;

    fn color(&self) -> BackendColor {
        self.colour
    }

    fn size(&self) -> f64 {
        self.label.size * self.units
    }

    fn transform(&self) -> FontTransform {
        if self.label.is_turned { FontTransform::Rotate270 } else { FontTransform::None }
    }

    fn style(&self) -> FontStyle {
        match self.label.weight {
            Weight::Regular => FontStyle::Normal,
            Weight::Bold => FontStyle::Bold,
        }
    }

    fn anchor(&self) -> Pos {
        let h_pos = match self.label.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        Pos::new(h_pos, VPos::Bottom)
    }

    fn family(&self) -> FontFamily<'_> {
        FontFamily::SansSerif
    }

    fn layout_box(&self, text: &str) -> Result<(BackendCoord, BackendCoord), Infallible> {
        let width = width(text, self.label.size, self.label.weight) * self.units;
        Ok(((0, 0), (to_pixel(width), to_pixel(self.size()))))
    }

    /// Passes on the covered pixels of the type, for a backend with [`UNITS`] per pixel.
    fn draw<E, Draw: FnMut(i32, i32, BackendColor) -> Result<(), E>>(
        &self,
        text: &str,
        (x, y): BackendCoord,
        mut draw: Draw,
    ) -> Result<Result<(), E>, Infallible> {
        let pixel = f64::from(UNITS);
        let size = self.size() / pixel;
        // Along the line, glyphs are at their exact positions; across it, on whole pixels, which keeps
        // them sharp.
        let (along, across) = if self.label.is_turned {
            (f64::from(-y) / pixel, to_pixel(f64::from(x) / pixel))
        } else {
            (f64::from(x) / pixel, to_pixel(f64::from(y) / pixel))
        };
        let glyphs = set(text, self.label.weight);
        let width = glyphs.iter().map(|it| it.advance).sum::<f64>() * size;
        let mut pen = match self.label.anchor {
            Anchor::Start => along,
            Anchor::Middle => along - width / 2.0,
            Anchor::End => along - width,
        };
        for Set { font, id, advance, offset, rise } in glyphs {
            // ab_glyph measures the size from the top of the font to its bottom; the usual measure is
            // the em.
            let ems = font.height_unscaled() / font.units_per_em().unwrap_or(1000.0);
            let position = point(to_f32(pen + offset * size), to_f32(-rise * size));
            let scale = PxScale::from(to_f32(size) * ems);
            pen += advance * size;
            let Some(outlined) = font.outline_glyph(Glyph { id, scale, position }) else {
                continue;
            };
            let corner = outlined.px_bounds().min;
            let (left, top) = (to_pixel(f64::from(corner.x)), to_pixel(f64::from(corner.y)));
            let mut result = Ok(());
            outlined.draw(|x, y, coverage| {
                let (Ok(x), Ok(y)) = (i32::try_from(x), i32::try_from(y)) else { return };
                if result.is_ok() && 0.0 < coverage {
                    let colour = self.colour.mix(f64::from(coverage.min(1.0)));
                    let (x, y) = (left + x, across + top + y);
                    result = if self.label.is_turned {
                        draw(y, -x - 1, colour)
                    } else {
                        draw(x, y, colour)
                    };
                }
            });
            if result.is_err() {
                return Ok(result);
            }
        }
        Ok(Ok(()))
    }
}

/// Rounds to a device pixel.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast saturates, and what is far out is not seen"
)]
pub(crate) fn to_pixel(value: f64) -> i32 {
    value.round() as i32
}

#[expect(clippy::cast_possible_truncation, reason = "a font needs no more than f32")]
fn to_f32(value: f64) -> f32 {
    value as f32
}

/// Which end of a text is at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The left end; the lower one when rotated.
    Start,
    /// The centre.
    Middle,
    /// The right end; the upper one when rotated.
    End,
}

/// A line of text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextLabel {
    /// Sanitised, and valid in XML.
    pub text: String,
    /// The x of the anchor.
    pub x: f64,
    /// The y of the baseline.
    pub y: f64,
    /// Pixels per em.
    pub size: f64,
    /// The weight of the type.
    pub weight: Weight,
    /// The colour of the type.
    pub colour: Colour,
    /// Which end is at the point.
    pub anchor: Anchor,
    /// Whether it is rotated to read upwards.
    pub is_turned: bool,
}

impl TextLabel {
    /// Creates a label in regular weight and ink that starts at a point.
    pub(crate) fn new(text: impl Into<String>, x: f64, y: f64, size: f64) -> TextLabel {
        TextLabel {
            text: text.into(),
            x,
            y,
            size,
            weight: Weight::Regular,
            colour: Colour::INK,
            anchor: Anchor::Start,
            is_turned: false,
        }
    }

    /// Sets the anchor.
    #[must_use]
    pub(crate) fn anchored(mut self, anchor: Anchor) -> TextLabel {
        self.anchor = anchor;
        self
    }

    /// Sets the colour.
    #[must_use]
    pub(crate) fn coloured(mut self, colour: Colour) -> TextLabel {
        self.colour = colour;
        self
    }
}

impl TextLabel {
    /// Returns the left, top, right and bottom of the type.
    pub(crate) fn bounds(&self) -> (f64, f64, f64, f64) {
        let width = super::text::width(&self.text, self.size, self.weight);
        let before = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let (up, down) = (self.size * 0.75, self.size * 0.22);
        if self.is_turned {
            let top = self.y + before - width;
            (self.x - up, top, self.x + down, top + width)
        } else {
            let left = self.x - before;
            (left, self.y - up, left + width, self.y + down)
        }
    }
}
