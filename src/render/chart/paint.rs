//! Scenes as SVG and PNG: what a scene says in pixels is told to a plotters backend in its own units.

use std::convert::Infallible;

use anyhow::Context;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, DrawingBackend, DrawingErrorKind,
};

use super::Raster;
use super::canvas::{self, Canvas};
use super::scene::{Colour, Mark, Scene, Shape};
use super::svg::{self, Document};
use super::text::{TextStyle, to_pixel};
use super::theme::Theme;

/// A backend and what it needs to know of a scene.
struct Painter<B> {
    backend: B,
    theme: Theme,
    /// Units of the backend to a pixel of the scene.
    units: f64,
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
    let (width, height) = size(scene, 1.0)?;
    let backend = Document::new(width, height, backend_colour(theme, Colour::INK));
    let mut painter = Painter { backend, theme, units: svg::UNITS };
    painter.scene(scene).context("cannot draw the SVG")?;
    Ok(painter.backend.finish(title, description))
}

/// Returns the scene as pixels, `scale` of them to a pixel of the scene.
///
/// # Errors
///
/// Fails when the backend does.
pub fn raster(scene: &Scene, theme: Theme, scale: f64) -> anyhow::Result<Raster> {
    let (width, height) = size(scene, scale)?;
    let backend = Canvas::new(usize::try_from(width)?, usize::try_from(height)?);
    let mut painter = Painter { backend, theme, units: f64::from(canvas::UNITS) * scale };
    painter.scene(scene).context("cannot draw the PNG")?;
    Ok(Raster { width, height, rgb: painter.backend.into_rgb() })
}

/// Returns the width and the height of a scene in whole pixels.
///
/// # Errors
///
/// Fails when it has none.
pub fn size(scene: &Scene, scale: f64) -> anyhow::Result<(u32, u32)> {
    let pixels = |it: f64| u32::try_from(to_pixel(it * scale)).context("the chart has no size");
    Ok((pixels(scene.width)?, pixels(scene.height)?))
}

fn backend_colour(theme: Theme, colour: Colour) -> BackendColor {
    let [red, green, blue] = theme.rgb(colour);
    BackendColor { alpha: 1.0, rgb: (red, green, blue) }
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl<B: DrawingBackend<ErrorType = Infallible>> Painter<B> {
    fn scene(&mut self, scene: &Scene) -> Drawn {
        self.rect((0.0, 0.0), (scene.width, scene.height), Colour::WHITE)?;
        for mark in &scene.marks {
            match mark {
                Mark::Rect { x, y, width, height, colour } => {
                    self.rect((*x, *y), (x + width, y + height), *colour)?;
                }
                Mark::Line { points, width, colour } => {
                    let path: Vec<_> = points.iter().map(|it| self.at(*it)).collect();
                    let width = self.length(*width).max(1);
                    let stroke = Stroke { colour: self.colour(*colour), width };
                    self.backend.draw_path(path, &stroke)?;
                }
                Mark::Dot { x, y, radius, shape, colour } => {
                    self.dot((*x, *y), radius + 1.0, *shape, Colour::WHITE)?;
                    self.dot((*x, *y), *radius, *shape, *colour)?;
                }
                Mark::Text(label) => {
                    let at = self.at((label.x, label.y));
                    let colour = self.colour(label.colour);
                    let style = TextStyle { label, colour, units: self.units };
                    self.backend.draw_text(&label.text, &style, at)?;
                }
            }
        }
        self.backend.present()
    }

    fn colour(&self, colour: Colour) -> BackendColor {
        backend_colour(self.theme, colour)
    }

    fn at(&self, (x, y): (f64, f64)) -> BackendCoord {
        (to_pixel(x * self.units), to_pixel(y * self.units))
    }

    fn length(&self, length: f64) -> u32 {
        u32::try_from(to_pixel(length * self.units)).unwrap_or(0)
    }

    fn rect(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour) -> Drawn {
        let (from, to) = (self.at(from), self.at(to));
        self.backend.draw_rect(from, to, &self.colour(colour), true)
    }

    fn dot(&mut self, (x, y): (f64, f64), radius: f64, shape: Shape, colour: Colour) -> Drawn {
        let fill = self.colour(colour);
        let corners: &[(f64, f64)] = match shape {
            Shape::Circle => {
                let radius = self.length(radius);
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
}
