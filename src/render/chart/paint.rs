//! Scenes as SVG and PNG, drawn by plotters' backends.

use std::io::Write as _;

use anyhow::Context;
use plotters::prelude::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, DrawingErrorKind};

use super::Raster;
use super::scene::{Colour, Label, Mark, Scene, Shape};
use super::text::{TextStyle, to_pixel};
use super::theme::Theme;

/// plotters counts whole pixels. Ten to one of the chart's, and a tenth of a pixel can be told.
const SVG_SCALE: f64 = 10.0;
/// plotters draws edges without blending: three rows and columns are averaged into one.
const PNG_SCALE: usize = 3;
/// Where plotters-svg puts the baseline of a text under its top, in ems.
const SVG_BASELINE: f64 = 0.76;

/// A backend and what it needs to know of coordinates.
struct Painter<B> {
    backend: B,
    theme: Theme,
    scale: f64,
    /// The baseline that the backend adds by itself, in ems.
    baseline: f64,
    /// Whether strokes are the backend's business. plotters' bitmap strokes have holes in corners.
    strokes: bool,
}

#[derive(Clone, Copy)]
struct Stroke {
    colour: BackendColor,
    width: u32,
}

impl BackendStyle for Stroke {
    fn color(&self) -> BackendColor {
        self.colour
    }

    fn stroke_width(&self) -> u32 {
        self.width
    }
}

/// Returns the scene as an SVG document whose accessible name and description are as given.
///
/// # Errors
///
/// Fails when the backend does.
pub fn svg(scene: &Scene, theme: Theme, title: &str, description: &str) -> anyhow::Result<String> {
    let mut document = String::new();
    let size = device_size(scene, SVG_SCALE)?;
    let backend = SVGBackend::with_string(&mut document, size);
    let mut painter =
        Painter { backend, theme, scale: SVG_SCALE, baseline: SVG_BASELINE, strokes: true };
    painter.scene(scene).map_err(|it| anyhow::anyhow!("{it}")).context("cannot draw the SVG")?;
    drop(painter);
    let body = document.split_once('\n').map_or("", |(_, body)| body);
    // Attributes that say what SVG assumes anyway. Quotes inside text are escaped, so none is text.
    let body = body.replace(" opacity=\"1\"", "").replace(" stroke=\"none\"", "");
    let head = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" \
         viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"title desc\" \
         stroke-linejoin=\"round\" stroke-linecap=\"round\">\n\
         <title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n",
        scene.width,
        scene.height,
        size.0,
        size.1,
        escape(title),
        escape(description),
    );
    Ok(head + &body)
}

/// Returns the scene as pixels, `scale` of them to a pixel of the scene.
///
/// # Errors
///
/// Fails when the backend does.
pub fn raster(scene: &Scene, theme: Theme, scale: f64) -> anyhow::Result<Raster> {
    let (width, height) = device_size(scene, scale)?;
    // A tall chart is large already; its bars have no slanting edges.
    let factor = if 1_200 < height { 2 } else { PNG_SCALE };
    let size = (width * u32::try_from(factor)?, height * u32::try_from(factor)?);
    let mut fine = vec![0xff; usize::try_from(size.0)? * usize::try_from(size.1)? * 3];
    let backend = BitMapBackend::with_buffer(&mut fine, size);
    let scale = scale * f64::from(u32::try_from(factor)?);
    let mut painter = Painter { backend, theme, scale, baseline: 0.0, strokes: false };
    painter.scene(scene).map_err(|it| anyhow::anyhow!("{it}")).context("cannot draw the PNG")?;
    drop(painter);
    Ok(Raster { width, height, rgb: average(&fine, usize::try_from(width)?, factor) })
}

/// Returns pixels as a PNG.
///
/// # Errors
///
/// Fails when the encoder does.
pub fn png(raster: &Raster) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, raster.width, raster.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    // Flat colours compress best as they are.
    encoder.set_filter(png::FilterType::NoFilter);
    encoder.set_compression(png::Compression::Best);
    let mut writer = encoder.write_header().context("cannot encode the PNG")?;
    writer.write_image_data(&raster.rgb).context("cannot encode the PNG")?;
    writer.finish().context("cannot encode the PNG")?;
    bytes.flush()?;
    Ok(bytes)
}

fn device_size(scene: &Scene, scale: f64) -> anyhow::Result<(u32, u32)> {
    let (width, height) = (to_pixel(scene.width * scale), to_pixel(scene.height * scale));
    Ok((u32::try_from(width)?, u32::try_from(height)?))
}

/// Averages squares of `factor` × `factor` pixels of three bytes; `width` is the result's.
fn average(fine: &[u8], width: usize, factor: usize) -> Vec<u8> {
    let fine_row = width * factor * 3;
    let n_pixels = u32::try_from(factor * factor).unwrap_or(u32::MAX);
    let mut pixels = Vec::with_capacity(fine.len() / (factor * factor));
    let mut sums = vec![0_u32; width * 3];
    for rows in fine.chunks_exact(fine_row * factor) {
        sums.fill(0);
        for row in rows.chunks_exact(fine_row) {
            for (square, sum) in row.chunks_exact(3 * factor).zip(sums.chunks_exact_mut(3)) {
                for pixel in square.chunks_exact(3) {
                    sum[0] += u32::from(pixel[0]);
                    sum[1] += u32::from(pixel[1]);
                    sum[2] += u32::from(pixel[2]);
                }
            }
        }
        let means = sums.iter().map(|it| u8::try_from((it + n_pixels / 2) / n_pixels));
        pixels.extend(means.map(|it| it.unwrap_or(u8::MAX)));
    }
    pixels
}

type Drawn<B> = Result<(), DrawingErrorKind<<B as DrawingBackend>::ErrorType>>;

impl<B: DrawingBackend> Painter<B> {
    fn scene(&mut self, scene: &Scene) -> Drawn<B> {
        self.rect((0.0, 0.0), (scene.width, scene.height), Colour::WHITE)?;
        for mark in &scene.marks {
            match mark {
                Mark::Rect { x, y, width, height, colour } => {
                    self.rect((*x, *y), (x + width, y + height), *colour)?;
                }
                Mark::Line { points, width, colour } => self.line(points, *width, *colour)?,
                Mark::Dot { x, y, radius, shape, colour } => {
                    self.dot((*x, *y), radius + 1.0, *shape, Colour::WHITE)?;
                    self.dot((*x, *y), *radius, *shape, *colour)?;
                }
                Mark::Text(label) => self.text(label)?,
            }
        }
        self.backend.present()
    }

    fn colour(&self, colour: Colour) -> BackendColor {
        let [red, green, blue] = self.theme.rgb(colour);
        BackendColor { alpha: 1.0, rgb: (red, green, blue) }
    }

    fn at(&self, (x, y): (f64, f64)) -> BackendCoord {
        (to_pixel(x * self.scale), to_pixel(y * self.scale))
    }

    fn rect(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour) -> Drawn<B> {
        let (from, mut to) = (self.at(from), self.at(to));
        if !self.strokes {
            // The bitmap backend fills the last row and column too.
            to = (to.0 - 1, to.1 - 1);
            if to.0 < from.0 || to.1 < from.1 {
                return Ok(());
            }
        }
        self.backend.draw_rect(from, to, &self.colour(colour), true)
    }

    fn line(&mut self, points: &[(f64, f64)], width: f64, colour: Colour) -> Drawn<B> {
        if self.strokes {
            let width = u32::try_from(to_pixel(width * self.scale)).unwrap_or(1);
            let path: Vec<_> = points.iter().map(|it| self.at(*it)).collect();
            return self.backend.draw_path(path, &Stroke { colour: self.colour(colour), width });
        }
        let radius = width / 2.0;
        for pair in points.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let (dx, dy) = (to.0 - from.0, to.1 - from.1);
            let length = (dx * dx + dy * dy).sqrt();
            if length == 0.0 {
                continue;
            }
            let (nx, ny) = (-dy / length * radius, dx / length * radius);
            let corners = [
                (from.0 + nx, from.1 + ny),
                (to.0 + nx, to.1 + ny),
                (to.0 - nx, to.1 - ny),
                (from.0 - nx, from.1 - ny),
            ];
            let corners = corners.map(|it| self.at(it));
            self.backend.fill_polygon(corners, &self.colour(colour))?;
        }
        // Joints are round; hairlines have none.
        if 1.5 < width {
            for point in points {
                self.dot(*point, radius, Shape::Circle, colour)?;
            }
        }
        Ok(())
    }

    fn dot(&mut self, (x, y): (f64, f64), radius: f64, shape: Shape, colour: Colour) -> Drawn<B> {
        let fill = self.colour(colour);
        let corners: &[(f64, f64)] = match shape {
            Shape::Circle => {
                let radius = u32::try_from(to_pixel(radius * self.scale)).unwrap_or(0);
                return self.backend.draw_circle(self.at((x, y)), radius, &fill, true);
            }
            Shape::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Shape::Triangle => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
            Shape::Diamond => &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
        };
        let corners: Vec<_> =
            corners.iter().map(|(dx, dy)| self.at((x + dx * radius, y + dy * radius))).collect();
        self.backend.fill_polygon(corners, &fill)
    }

    fn text(&mut self, label: &Label) -> Drawn<B> {
        let up = self.baseline * label.size;
        let (x, y) = (label.x, label.y);
        let at = self.at(if label.is_turned { (x - up, y) } else { (x, y - up) });
        self.backend.draw_text(
            &label.text,
            &TextStyle { label, colour: self.colour(label.colour), scale: self.scale },
            at,
        )
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
