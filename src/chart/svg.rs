//! A plotters backend that writes SVG.
//!
//! Coordinates are tenths of a pixel, so that all numbers are whole. Attributes common to most text are
//! on the root element; nothing refers to anything outside the document.

use std::convert::Infallible;
use std::fmt::Arguments;

use plotters_backend::text_anchor::HPos;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, FontStyle,
    FontTransform,
};
use sha2::{Digest, Sha256};

use super::glyphs::{Weight, has_rtl, spelt};
use super::outlines::{EM, Outlines, outlines, put};
use super::raster::Drawn;
use super::sheet::SIZE;
use super::text::to_pixel;

/// Units per pixel.
pub(crate) const UNITS: f64 = 10.0;
/// The embedded font where the viewer has it, else similar ones. The default of many Linux desktops is
/// too wide; its condensed variant is not.
const FAMILY: &str = "'Noto Sans','Open Sans','Segoe UI',Helvetica,Arial,'DejaVu Sans Condensed',\
                      sans-serif";

/// Edges on pixel boundaries are drawn there, as in a PNG: bars and axes are not blurred.
const SHARP: &str = " shape-rendering=\"crispEdges\"";

/// A document being written.
pub(crate) struct SvgDocument {
    width: u32,
    height: u32,
    /// The default colour of text.
    ink: BackendColor,
    body: String,
}

impl SvgDocument {
    /// Starts a document of a size in pixels.
    pub(crate) fn new(width: u32, height: u32, ink: BackendColor) -> SvgDocument {
        SvgDocument { width, height, ink, body: String::new() }
    }

    /// Finishes the document. `title` is its accessible name, `description` its accessible description.
    pub(crate) fn finish(self, title: &str, description: &str) -> String {
        let SvgDocument { width, height, ink, body } = self;
        // Unique ids, for pages with several documents.
        let id = format!("c{:.8x}", Sha256::digest(format!("{title}\n{description}\n{body}")));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {}0 {}0\" role=\"img\" aria-labelledby=\"{id}t {id}d\" \
             font-family=\"{FAMILY}\" font-size=\"{}\" fill=\"{}\" direction=\"ltr\" \
             stroke-linejoin=\"round\" stroke-linecap=\"round\">\n\
             <title id=\"{id}t\">{}</title>\n<desc id=\"{id}d\">{}</desc>\n{body}</svg>\n",
            width,
            height,
            to_pixel(SIZE * UNITS),
            hex(ink),
            escape(title),
            escape(description),
        )
    }

    fn add(&mut self, element: Arguments<'_>) {
        put(&mut self.body, element);
        self.body.push('\n');
    }

    /// Adds a text as shapes.
    fn draw_shapes(
        &mut self,
        shapes: &Outlines,
        style: &impl BackendTextStyle,
        (x, y): BackendCoord,
    ) {
        let turn = match style.transform() {
            FontTransform::Rotate270 => "rotate(-90)",
            _ => "",
        };
        let (scale, fill) = (style.size() / EM, hex(style.color()));
        let start = to_pixel(match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => -shapes.width / 2.0,
            HPos::Right => -shapes.width,
        });
        self.add(format_args!(
            "<path transform=\"translate({x} {y}){turn}scale({scale})translate({start})\" d=\"{}\" fill=\"{fill}\"/>",
            shapes.path,
        ));
    }
}

impl DrawingBackend for SvgDocument {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, colour: BackendColor) -> Drawn {
        self.draw_rect(at, (at.0 + 1, at.1 + 1), &colour, true)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        _: bool,
    ) -> Drawn {
        let (width, height, fill) = (right - left, bottom - top, hex(style.color()));
        self.add(format_args!(
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"{SHARP}/>"
        ));
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        let (stroke, width) = (hex(style.color()), style.stroke_width());
        let path: Vec<_> = path.into_iter().collect();
        let is_upright = |it: &[BackendCoord]| it[0].0 == it[1].0 || it[0].1 == it[1].1;
        let sharp = if path.len() == 2 && is_upright(&path) { SHARP } else { "" };
        let path = steps(path);
        self.add(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\"{sharp}/>"
        ));
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        is_filled: bool,
    ) -> Drawn {
        let (colour, width) = (hex(style.color()), style.stroke_width());
        let circle = format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"");
        if is_filled {
            self.add(format_args!("{circle} fill=\"{colour}\"/>"));
        } else {
            self.add(format_args!(
                "{circle} fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
            ));
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Drawn {
        let (path, fill) = (steps(corners), hex(style.color()));
        self.add(format_args!("<path d=\"{path}z\" fill=\"{fill}\"/>"));
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &T,
        (x, y): BackendCoord,
    ) -> Drawn {
        let is_bold = matches!(style.style(), FontStyle::Bold);
        let weight = if is_bold { Weight::Bold } else { Weight::Regular };
        if let Some(shapes) = outlines(text, weight) {
            self.draw_shapes(&shapes, style, (x, y));
            return Ok(());
        }
        let mut attributes = match style.transform() {
            FontTransform::Rotate270 => format!(" transform=\"translate({x} {y})rotate(-90)\""),
            _ => format!(" x=\"{x}\" y=\"{y}\""),
        };
        match style.anchor().h_pos {
            HPos::Left => {}
            HPos::Center => attributes += " text-anchor=\"middle\"",
            HPos::Right => attributes += " text-anchor=\"end\"",
        }
        let size = to_pixel(style.size());
        if size != to_pixel(SIZE * UNITS) {
            put(&mut attributes, format_args!(" font-size=\"{size}\""));
        }
        if weight == Weight::Bold {
            attributes += " font-weight=\"700\"";
        }
        if style.color().rgb != self.ink.rgb {
            put(&mut attributes, format_args!(" fill=\"{}\"", hex(style.color())));
        }
        // The document is left-to-right, so that anchors are where they are specified; each text has
        // the direction of its first letter.
        // Whatever fonts the viewer has, the text takes the room that was left for it. Letters that only
        // the viewer has a font for have a width that is not known.
        if 1 < text.chars().count()
            && spelt(text).next().is_none()
            && let Ok((_, (width, _))) = style.layout_box(text)
        {
            put(
                &mut attributes,
                format_args!(" textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\""),
            );
        }
        let (open, close) = if has_rtl(text) { ("\u{2068}", "\u{2069}") } else { ("", "") };
        let text = escape(text);
        self.add(format_args!("<text{attributes}>{open}{text}{close}</text>"));
        Ok(())
    }
}

/// Writes a path: its first point, then relative steps.
fn steps(path: impl IntoIterator<Item = BackendCoord>) -> String {
    let mut steps = String::new();
    let mut before = None;
    for (x, y) in path {
        match before {
            None => put(&mut steps, format_args!("M{x} {y}")),
            Some((x0, y0)) if y == y0 => put(&mut steps, format_args!("h{}", x - x0)),
            Some((x0, y0)) if x == x0 => put(&mut steps, format_args!("v{}", y - y0)),
            // A minus sign also separates numbers.
            Some((x0, y0)) if y < y0 => put(&mut steps, format_args!("l{}{}", x - x0, y - y0)),
            Some((x0, y0)) => put(&mut steps, format_args!("l{} {}", x - x0, y - y0)),
        }
        before = Some((x, y));
    }
    steps
}

fn hex(colour: BackendColor) -> String {
    let (red, green, blue) = colour.rgb;
    if [red, green, blue].iter().all(|it| it >> 4 == it & 0xf) {
        return format!("#{:x}{:x}{:x}", red & 0xf, green & 0xf, blue & 0xf);
    }
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
